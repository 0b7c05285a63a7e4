//! A run that is spread over ranks is the run of one process: the same fingerprint, outcome, flows, marks and rows.
//!
//! The ranks are threads here, which exchange the same bytes as processes do.

use crate::dependencies::relay;
use crate::determinism::{arbitrated, fat_tree, incast, mixed, ring};
use crate::kit::*;
use fabric::engine::{Alone, Ranks, in_memory};
use fabric::record::{Ending, Recorder, RecorderSpec, Rows, Selection, drain_among, drain_before_among, finish_among};
use fabric::spec::*;
use fabric::topology;
use fabric::workload::FlowSpec;
use fabric::{
    BuildOptions, Census, FlowSummary, Limit, Outcome, Partition, RankOf, RunLimits, RunSummary, Simulation, Totals,
};
use std::ops::ControlFlow;
use units::{Bytes, Rate, Span, Time};

/// How a run is spread.
#[derive(Clone, Debug)]
struct Cut {
    ranks: usize,
    partition: Partition,
    shards: usize,
    threads: usize,
}

/// All that is known of a run.
#[derive(Debug, Default, PartialEq)]
struct Told {
    flows: Vec<FlowSummary>,
    rows: Vec<Rows>,
    ending: Ending,
    marks: Vec<(Time, Vec<FlowSummary>, Totals)>,
    progress: Vec<(Time, u64, u64)>,
}

fn limits(threads: usize) -> RunLimits<'static> {
    RunLimits { threads, inspect_every: Span::from_micros(50), ..RunLimits::until(at(Span::from_micros(450))) }
}

/// One rank's part of a run.
fn part(spec: &NetworkSpec, cut: &Cut, ranks: &mut dyn Ranks) -> (RunSummary, Told, Census) {
    let recorder = RecorderSpec { waits: true, frames: Selection::only([0, 7, 9]), ..RecorderSpec::default() };
    let options = BuildOptions { partition: cut.partition.clone(), shards: cut.shards, shuffle: None };
    let rank = RankOf { rank: ranks.rank(), count: ranks.count() };
    let mut simulation =
        Simulation::build_part(spec, &options, rank, |_| Recorder::new(recorder.clone()).holding(3_000)).unwrap();
    let mut told = Told::default();
    let mut rows = Rows::default();
    let marks = [at(Span::from_nanos(33_333)), at(Span::from_micros(200))];
    let summary = simulation.run_among(
        ranks,
        &limits(cut.threads),
        &marks,
        |seen, probes, ranks| {
            let drained = match seen.inspection {
                true => drain_among(ranks, probes),
                false => drain_before_among(ranks, probes, seen.now),
            };
            rows = Rows::merge([std::mem::take(&mut rows), drained]);
            if seen.inspection {
                told.rows.push(std::mem::take(&mut rows));
                told.progress.push((seen.now, seen.events, seen.hops));
            }
            ControlFlow::Continue(())
        },
        |mark, _| told.marks.push((mark.now, mark.flows.iter().collect(), mark.totals)),
    );
    told.flows = simulation.flows_among(ranks).iter().collect();
    let census = simulation.census();
    let mut probes: Vec<&mut Recorder> = simulation.probes_mut().collect();
    told.ending = finish_among(ranks, &mut probes, summary.now);
    (summary, told, census)
}

fn on_ranks(spec: &NetworkSpec, cut: &Cut) -> Vec<(RunSummary, Told, Census)> {
    std::thread::scope(|scope| {
        let ranks: Vec<_> =
            in_memory(cut.ranks).into_iter().map(|mut rank| scope.spawn(move || part(spec, cut, &mut rank))).collect();
        ranks.into_iter().map(|rank| rank.join().expect("no rank panics")).collect()
    })
}

fn facts(summary: &RunSummary) -> (&Outcome, Time, u64, &Totals, u64) {
    let RunSummary { outcome, now, fingerprint, totals, events, windows: _ } = summary;
    (outcome, *now, *fingerprint, totals, *events)
}

fn same_on_ranks(spec: &NetworkSpec) -> Outcome {
    let one = Cut { ranks: 1, partition: Partition::One, shards: 1, threads: 1 };
    let (expected, told, census) = part(spec, &one, &mut Alone);
    let cut = |ranks, partition, shards, threads| Cut { ranks, partition, shards, threads };
    for cut in [
        cut(1, Partition::Natural, 3, 2),
        cut(2, Partition::Natural, 2, 1),
        cut(3, Partition::Random { seed: 5 }, 5, 2),
        cut(4, Partition::PerNode, 1, 1),
        // Some have nothing to do.
        cut(5, Partition::Natural, 3, 1),
    ] {
        let parts = on_ranks(spec, &cut);
        let mut sum = Census::default();
        for (rank, (summary, part, census)) in parts.iter().enumerate() {
            assert_eq!(facts(summary), facts(&expected), "rank {rank} of {cut:?}");
            let Census { frames, bytes, in_switches, oldest, control, deferred, places, extended, extensions } = census;
            sum.frames += frames;
            sum.bytes += bytes;
            sum.in_switches += in_switches;
            sum.oldest = sum.oldest.into_iter().chain(*oldest).min();
            sum.control += control;
            sum.deferred += deferred;
            sum.places += places;
            sum.extended += extended;
            sum.extensions += extensions;
            assert_eq!(part.progress, told.progress, "rank {rank} of {cut:?}");
            assert_eq!(part.ending.end, told.ending.end);
            if rank > 0 {
                assert!(part.flows.is_empty() && part.ending.rows.is_empty(), "the first rank has the results");
            }
        }
        assert_eq!(sum, census, "{cut:?}");
        assert!(parts[0].1 == told, "what {cut:?} tells differs");
    }
    expected.outcome
}

#[test]
fn networks_of_every_kind_are_the_same_on_ranks() {
    for spec in [incast(), fat_tree(), ring(), mixed(), arbitrated(), relay()] {
        same_on_ranks(&spec);
    }
}

#[test]
fn a_deadlock_is_found_across_ranks() {
    let buffer = ClassBuffer::lossless(Bytes::new(60_000), Bytes::new(20_000), Bytes::new(10_000));
    let spec = clockwise_ring(5, Span::from_nanos(500), pfc(), buffer);
    assert!(matches!(same_on_ranks(&spec), Outcome::Deadlock(_)));
    let credits =
        clockwise_ring(5, Span::from_nanos(500), slots(Span::from_nanos(40)), ClassBuffer::drop_tail(Bytes::new(8)));
    assert!(matches!(same_on_ranks(&credits), Outcome::Deadlock(_)));
}

#[test]
fn a_stall_and_a_loss_are_found_across_ranks() {
    let graph = topology::chain(3, 2, topology::Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows = (1..6).map(|from| greedy(from, 0, 1000)).collect();
    let last = spec.graph.hosts().len() as u32 - 1;
    spec.flows.push(FlowSpec { size: Some(Bytes::new(30_000)), ..greedy(last, 1, 1000) });
    let mut stalled = spec.clone();
    stalled.adapters.push(AdapterSpec {
        flow_control: pfc(),
        buffer: vec![ClassBuffer::lossless(Bytes::new(100_000), Bytes::new(6_000), Bytes::new(3_000))],
        service: Some(Rate::ZERO),
        ..AdapterSpec::default()
    });
    let host = stalled.graph.hosts()[0].0 as usize;
    stalled.kind_of[host] = 1;
    assert!(matches!(same_on_ranks(&stalled), Outcome::Stalled(_)));
    let thin = ClassBuffer::lossless(Bytes::new(11_000), Bytes::new(10_000), Bytes::new(5_000));
    spec.switches[0].buffer = Buffer::Static(vec![thin]);
    assert!(matches!(same_on_ranks(&spec), Outcome::LossInLosslessClass(_)));
}

#[test]
fn frames_dropped_on_one_rank_are_sent_again_by_a_source_on_another() {
    let graph = topology::dumbbell(3, 3, link(10, Span::from_nanos(500)), link(5, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, switch(ClassBuffer::drop_tail(Bytes::new(9_000)), FlowControl::None), lossy());
    spec.flows = (0..3)
        .map(|from| {
            FlowSpec { size: Some(Bytes::new(50_000)), ..greedy(from, from + 3, 1000) }.with(|it| {
                it.requeue_oracle = Some(Span::from_micros(3));
            })
        })
        .collect();
    assert_eq!(same_on_ranks(&spec), Outcome::Finished);
}

/// Lossy classes with trimming or early drops, every recovery, telemetry, and paths by queue or by flowlets: what sources,
/// switches and destinations on different ranks tell each other.
#[test]
fn recovery_trimming_telemetry_and_adaptive_paths_are_the_same_on_ranks() {
    use congestion::parameter::{Value, Values};
    use congestion::{ByClass, POINTS, PROTOCOLS, Point};
    use fabric::transport::RECOVERIES;
    use fabric::workload::{Acknowledge, Notify, TelemetrySpec};
    let point = |name: &str| {
        let info = POINTS.iter().find(|info| info.name == name).unwrap();
        (info.build)(&Values::defaults(info.parameters)).unwrap()
    };
    let recovery = |name: &str, timeouts: &[&'static str]| {
        let info = RECOVERIES.iter().find(|info| info.name == name).unwrap();
        let mut values = Values::defaults(info.parameters);
        timeouts.iter().for_each(|key| values.set(key, Value::Time(Span::from_micros(60))));
        Some(std::sync::Arc::new((info.build)(&values).unwrap()))
    };
    let protocol = |name: &str| {
        let info = PROTOCOLS.iter().find(|info| info.name == name).unwrap();
        (info.build)(&Values::defaults(info.parameters)).unwrap()
    };
    let flowlets = FlowletSpec { gap: Span::from_micros(3), entries: 64, choice: FlowletChoice::Shortest };
    let cases = [
        ("trim", Multipath::Adaptive, "go-back-n", &["timeout"][..], "dcqcn"),
        ("red", Multipath::Flowlet(flowlets), "selective-repeat", &["timeout_low", "timeout_high"], "hpcc"),
        ("trim", Multipath::Spray, "sack", &["initial_timeout", "min_timeout"], "dctcp"),
    ];
    for (watch, multipath, recovers, timeouts, control) in cases {
        let graph = topology::leaf_spine(3, 2, 3, topology::Links::same(link(10, Span::from_nanos(500)))).unwrap();
        let buffer = ClassBuffer::drop_tail(Bytes::new(12_000));
        let mut spec = network(graph, switch(buffer, FlowControl::None), lossy());
        spec.classes.push(ClassSpec { name: "headers".into(), lossless: false });
        spec.switches[0].buffer = Buffer::Static(vec![buffer; 2]);
        let only_data = Point::ByClass(ByClass::new(vec![(1, point(watch))]));
        spec.switches[0].congestion_point =
            Some(CongestionPointSpec { trim_class: 1, ..CongestionPointSpec::point(only_data) });
        spec.multipath = multipath;
        // A window that starts with one frame needs an acknowledgement of each.
        let every = if control == "dcqcn" { 2 } else { 1 };
        let back = Acknowledge { class: 1, every, delay: Some(Span::from_micros(4)), ..Acknowledge::default() };
        let flow = |from: u32| {
            FlowSpec { size: Some(Bytes::new(60_000)), ..greedy(from, (from + 1) % 3, 1000) }.with(|it| {
                it.acknowledge = Some(back);
                it.notify = Some(Notify { class: 1, interval: Span::from_micros(5), ..Notify::default() });
                it.telemetry = Some(TelemetrySpec::default());
                it.recovery = recovery(recovers, timeouts);
                it.reaction = protocol(control);
            })
        };
        spec.flows = (0..9).map(flow).collect();
        same_on_ranks(&spec);
        let (_, report) = run(&spec, Span::from_micros(450));
        let totals = report.totals;
        assert!(totals.retransmitted_frames > 0, "{watch}, {recovers}: {totals:?}");
        assert_eq!(totals.trimmed_frames > 0, watch == "trim", "{totals:?}");
    }
}

#[test]
fn the_first_rank_decides_when_a_caller_ends_the_run() {
    let spec = fat_tree();
    let ends = std::thread::scope(|scope| {
        let ranks: Vec<_> = in_memory(3)
            .into_iter()
            .map(|mut ranks| {
                let spec = &spec;
                scope.spawn(move || {
                    let rank = RankOf { rank: ranks.rank(), count: ranks.count() };
                    let options = BuildOptions { shards: 6, ..BuildOptions::default() };
                    let mut part = Simulation::build_part(spec, &options, rank, |_| fabric::NoProbe).unwrap();
                    let mut looks = 0;
                    let progress = |_, _: &mut [&mut fabric::NoProbe], ranks: &mut dyn Ranks| {
                        looks += 1;
                        match ranks.rank() {
                            0 if looks == 3 => ControlFlow::Break(Limit::Rows(7)),
                            // Nobody asks the others.
                            1 => ControlFlow::Break(Limit::WallClock),
                            _ => ControlFlow::Continue(()),
                        }
                    };
                    let summary = part.run_among(&mut ranks, &limits(1), &[], progress, |_, _| {});
                    (summary.outcome, summary.now)
                })
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().expect("no rank panics")).collect::<Vec<_>>()
    });
    assert_eq!(ends, vec![(Outcome::LimitReached(Limit::Rows(7)), at(Span::from_micros(150))); 3]);
}
