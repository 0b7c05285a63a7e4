//! Receiver-driven flows: what can be computed by hand, that every byte arrives once whatever is trimmed or lost, and
//! that nothing depends on threads.

use crate::kit::*;
use crate::observed::Observed;
use crate::recovery::{Once, all_arrived, conserved};
use congestion::parameter::{Value, Values};
use congestion::{ByClass, Demand, POINTS, PROTOCOLS, Point, Reaction, ReactionPoint};
use fabric::graph::{Graph, HostId};
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::{Acknowledge, FlowSpec, PullSpec, permutation};
use fabric::{BuildOptions, Frame, Kind, Outcome, Probe, RunLimits, Simulation};
use units::{Bytes, Span, Time};

/// The payload and header of a frame of csg-htsim, and the link that its programs simulate by default.
const FRAME: u64 = 9064;
const GIGABITS: u64 = 100;
/// Time of a frame and of a minimum frame on the wire.
const FRAME_TIME: Span = Span::from_picos(FRAME * 80);

/// A lossy class of data, and one above it for headers, acknowledgements and pulls. Queues hold that many frames beside
/// the one on the wire.
fn trimming(graph: Graph, frames: u64) -> NetworkSpec {
    trimming_with(graph, frames, false)
}

fn trimming_with(graph: Graph, frames: u64, returns: bool) -> NetworkSpec {
    let info = POINTS.iter().find(|info| info.name == "trim").unwrap();
    let values = Values::defaults(info.parameters).with("frames", Value::Count(frames));
    let values = values.with("return_to_sender", Value::Flag(returns));
    let values = values.with("kmin", Value::Size(Bytes::new(FRAME * frames / 5)));
    let values = values.with("kmax", Value::Size(Bytes::new(FRAME * frames * 4 / 5)));
    let only_data = Point::ByClass(ByClass::new(vec![(1, (info.build)(&values).unwrap())]));
    let buffer = ClassBuffer::drop_tail(Bytes::new(2_000_000));
    let mut spec = network(graph, switch(buffer, FlowControl::None), lossy());
    spec.classes.push(ClassSpec { name: "control".into(), lossless: false });
    spec.switches[0].buffer = Buffer::Static(vec![buffer; 2]);
    spec.switches[0].congestion_point =
        Some(CongestionPointSpec { trim_class: 1, ..CongestionPointSpec::point(only_data) });
    spec.overhead = Bytes::ZERO;
    spec
}

fn control(name: &str, set: &[(&'static str, Value)]) -> Reaction {
    let info = PROTOCOLS.iter().find(|info| info.name == name).unwrap();
    let mut values = Values::defaults(info.parameters);
    if name == "rccc" {
        // As the others; its timeout is too short for the queues here.
        values.set("pull_rate", Value::Number(1.0));
        values.set("timeout", Value::Time(Span::from_millis(1)));
    }
    set.iter().for_each(|(name, value)| values.set(name, value.clone()));
    (info.build)(&values).unwrap()
}

fn pulled(from: u32, to: u32, size: u64, reaction: Reaction) -> FlowSpec {
    let pulls = reaction.pulling().is_some_and(|pulling| pulling.demand != Demand::Nothing);
    FlowSpec { size: Some(Bytes::new(size)), ..greedy(from, to, FRAME) }.with(|it| {
        it.acknowledge = Some(Acknowledge { class: 1, ..Acknowledge::default() });
        it.pull = pulls.then(|| PullSpec { class: 1, ..PullSpec::default() });
        it.reaction = reaction;
    })
}

fn star(hosts: u32) -> Graph {
    topology::single_switch(hosts, link(GIGABITS, Span::from_micros(1))).unwrap()
}

/// Runs to the end, checks that every frame was delivered once, and returns the simulation and its totals.
fn complete(spec: &NetworkSpec) -> (Observed<Once>, fabric::Totals) {
    let (mut simulation, report) = run_with(spec, Span::from_millis(100), |_| Once::default());
    assert_eq!(report.outcome, Outcome::Finished);
    all_arrived(spec, &mut simulation);
    conserved(&report.totals, &simulation.census());
    (simulation, report.totals)
}

fn latest<P: Probe>(simulation: &Simulation<P>) -> Span {
    simulation.flows().iter().map(|flow| flow.completed.unwrap() - Time::ZERO).max().unwrap()
}

const CONTROLS: [&str; 3] = ["ndp", "eqds", "rccc"];

/// Frames back to back from the first to the last, which then takes two links.
#[test]
fn a_flow_alone_has_the_whole_link() {
    for name in CONTROLS {
        let mut spec = trimming(star(2), 8);
        spec.flows = vec![pulled(0, 1, 200 * FRAME, control(name, &[]))].into();
        let (simulation, totals) = complete(&spec);
        assert_eq!(latest(&simulation), FRAME_TIME * 201 + Span::from_micros(2), "{name}");
        assert_eq!((totals.trimmed_frames, totals.retransmitted_frames), (0, 0));
    }
}

/// The receiver's link is busy from the first arrival to the last: N flows of equal size take N times as long as one.
#[test]
fn an_incast_fills_the_receivers_link() {
    for name in CONTROLS {
        for (senders, frames) in [(2, 100), (20, 50), (63, 30)] {
            let mut spec = trimming(star(senders + 1), 8);
            spec.flows = (1..=senders).map(|from| pulled(from, 0, frames * FRAME, control(name, &[]))).collect();
            let (simulation, totals) = complete(&spec);
            let ideal = FRAME_TIME * (u64::from(senders) * frames + 1) + Span::from_micros(2);
            let share = latest(&simulation).as_secs_f64() / ideal.as_secs_f64();
            assert!((1.0..1.03).contains(&share), "{name} {senders}: {share}");
            assert!(totals.trimmed_frames > 0 && totals.timeouts == 0 && totals.dropped_frames == 0, "{totals:?}");
            // Fair between senders: all end at almost the same time.
            let first = simulation.flows().iter().map(|flow| flow.completed.unwrap() - Time::ZERO).min().unwrap();
            assert!(first.as_secs_f64() > 0.8 * ideal.as_secs_f64(), "{name} {senders}: {first}");
        }
    }
}

#[test]
fn flows_without_end_get_equal_shares_of_the_receivers_link() {
    for name in CONTROLS {
        let mut spec = trimming(star(6), 8);
        spec.flows = (1..6).map(|from| pulled(from, 0, 1, control(name, &[]))).collect();
        spec.flows.iter_mut().for_each(|flow| flow.size = None);
        // The last comes later than the others.
        spec.flows[4].start = at(Span::from_micros(200));
        let received = |until: u64| {
            let (simulation, report) = run(&spec, Span::from_micros(until));
            assert_eq!(report.totals.timeouts, 0);
            simulation.flows().iter().map(|flow| flow.received_bytes).collect::<Vec<u64>>()
        };
        let shares: Vec<u64> = received(2_000).iter().zip(received(500)).map(|(late, early)| late - early).collect();
        let link = GIGABITS * 1500 * 1000 / 8;
        let sum: u64 = shares.iter().sum();
        assert!((0.97..=1.01).contains(&(sum as f64 / link as f64)), "{name}: {sum} of {link}");
        assert!(shares.iter().all(|&share| (0.95..1.05).contains(&(share as f64 * 5.0 / sum as f64))), "{shares:?}");
    }
}

fn tree(k: u32) -> NetworkSpec {
    let graph = topology::fat_tree(k, Links::same(link(GIGABITS, Span::from_micros(1)))).unwrap();
    trimming(graph, 13)
}

fn permuted(name: &str, frames: u64) -> NetworkSpec {
    let mut spec = tree(4);
    let hosts: Vec<HostId> = hosts(&spec);
    spec.flows = permutation(&hosts, &pulled(0, 1, frames * FRAME, control(name, &[])), 7).into();
    spec
}

/// Each frame takes a path of its own, so all links carry the same load: exactly, if sources count their paths.
#[test]
fn a_permutation_of_a_fat_tree_is_near_line_rate() {
    for (name, multipath, most) in
        CONTROLS.into_iter().flat_map(|name| [(name, Multipath::Numbered, 1.05), (name, Multipath::FlowHash, 1.15)])
    {
        let mut spec = permuted(name, 200);
        spec.multipath = multipath;
        let (simulation, totals) = complete(&spec);
        let mean =
            simulation.flows().iter().map(|flow| (flow.completed.unwrap() - Time::ZERO).as_secs_f64()).sum::<f64>()
                / spec.flows.len() as f64;
        // The last frame takes six links, which are one microsecond long.
        let ideal = (FRAME_TIME * 205 + Span::from_micros(6)).as_secs_f64();
        assert!(mean < most * ideal, "{name} {multipath:?}: {}", mean / ideal);
        assert_eq!(totals.timeouts, 0);
        assert!(totals.out_of_order_frames > 0);
    }
}

/// A fat-tree with the defaults of csg-htsim's programs: links of 100 Gb/s and 1 us, packets of 9064 B and 15 in the first
/// window for NDP, 4150 B and 50 for EQDS.
#[test]
fn the_defaults_of_csg_htsim_complete_as_computed_by_hand() {
    for (name, frame, queue, rate) in [("ndp", 9064, 13, 0.99), ("eqds", 4150, 34, 0.9856)] {
        let info = PROTOCOLS.iter().find(|info| info.name == name).unwrap();
        let reaction = (info.build)(&Values::preset(info.parameters, &info.presets[0])).unwrap();
        let graph = topology::fat_tree(4, Links::same(link(GIGABITS, Span::from_micros(1)))).unwrap();
        let mut spec = trimming(graph, queue);
        spec.multipath = Multipath::Numbered;
        let flow = |from: u32, frames: u64| {
            pulled(from, 0, frames * frame, reaction.clone()).with(|it| {
                it.frame = Bytes::new(frame);
            })
        };
        let frame_time = frame as f64 * 80e-12;
        let one_way = 6.0 * (1e-6 + frame_time);
        // An incast from other pods: the host pulls at a little less than the rate of its link.
        spec.flows = (8..16).map(|from| flow(from, 150)).collect();
        let ideal = one_way + 1200.0 * frame_time / rate;
        let share = latest(&complete(&spec).0).as_secs_f64() / ideal;
        assert!((0.97..1.03).contains(&share), "{name}: {share}");
        // A flow alone: fifteen packets of 9064 B are less than a round trip, fifty of 4150 B are more.
        spec.flows = vec![flow(8, 300)].into();
        let round_trip = one_way + 6.0 * (1e-6 + 64.0 * 80e-12) + 64.0 * 80e-12;
        let ideal = match name {
            "ndp" => 19.0 * round_trip + 14.0 * frame_time / rate + one_way,
            _ => one_way + 300.0 * frame_time / rate,
        };
        let share = latest(&complete(&spec).0).as_secs_f64() / ideal;
        assert!((0.97..1.03).contains(&share), "{name} alone: {share}");
    }
}

/// NSCC has no pulls: windows by marks and trimmed frames. Queues are a bandwidth-delay product, as its authors have it.
#[test]
fn a_window_by_marks_and_trimmed_frames_fills_links_over_all_paths() {
    for (senders, frames) in [(1, 200), (2, 200), (16, 100), (40, 50)] {
        let mut spec = trimming(star(senders + 1), 8);
        spec.flows = (1..=senders).map(|from| pulled(from, 0, frames * FRAME, control("nscc", &[]))).collect();
        let (simulation, totals) = complete(&spec);
        let ideal = FRAME_TIME * (u64::from(senders) * frames + 1) + Span::from_micros(2);
        let share = latest(&simulation).as_secs_f64() / ideal.as_secs_f64();
        assert!((1.0..1.1).contains(&share), "{senders}: {share} {totals:?}");
        assert!(totals.dropped_frames == 0 && totals.pulls == 0, "{totals:?}");
    }
    let mut spec = permuted("nscc", 200);
    spec.multipath = Multipath::Numbered;
    let (simulation, totals) = complete(&spec);
    let sum: f64 = simulation.flows().iter().map(|flow| (flow.completed.unwrap() - Time::ZERO).as_secs_f64()).sum();
    let share = sum / spec.flows.len() as f64 / (FRAME_TIME * 205 + Span::from_micros(6)).as_secs_f64();
    assert!(share < 1.1, "{share} {totals:?}");
    // Equal flows that never end have equal shares.
    let mut spec = trimming(star(5), 13);
    spec.flows = (1..5).map(|from| pulled(from, 0, 1, control("nscc", &[]))).collect();
    spec.flows.iter_mut().for_each(|flow| flow.size = None);
    let (simulation, _) = run(&spec, Span::from_millis(3));
    let bytes: Vec<u64> = simulation.flows().iter().map(|flow| flow.received_bytes).collect();
    let (least, most) = (*bytes.iter().min().unwrap() as f64, *bytes.iter().max().unwrap() as f64);
    // Windows of a few frames, in 3 ms.
    assert!(most / least < 1.5, "{bytes:?}");
}

#[test]
fn threads_shards_and_ranks_change_nothing() {
    for name in CONTROLS.into_iter().chain(["nscc"]) {
        let mut spec = permuted(name, 40);
        spec.multipath = if name == "ndp" { Multipath::FlowHash } else { Multipath::Numbered };
        spec.flows.extend((1..9).map(|from| pulled(from, 0, 30 * FRAME, control(name, &[]))));
        let run = |shards: usize, threads: usize, shuffle: Option<u64>| {
            let options = BuildOptions { shards, shuffle, ..BuildOptions::default() };
            let mut simulation = Simulation::build(&spec, &options).unwrap();
            let report = simulation.run(&RunLimits { threads, ..RunLimits::until(at(Span::from_millis(20))) });
            assert_eq!(report.outcome, Outcome::Finished);
            (report.fingerprint, report.totals, report.now)
        };
        let one = run(1, 1, None);
        for (shards, threads, shuffle) in [(2, 1, None), (5, 2, Some(3)), (12, 3, Some(4)), (20, 3, None)] {
            assert_eq!(run(shards, threads, shuffle), one, "{name}: {shards} shards on {threads} threads");
        }
        let options = BuildOptions { shards: 6, ..BuildOptions::default() };
        for report in on_ranks(&spec, 3, &options, &RunLimits::until(at(Span::from_millis(20)))) {
            assert_eq!(report.fingerprint, one.0, "{name}");
        }
    }
}

/// Corrupted frames, headers without room and a cable that fails: a timer retransmits what nobody reports.
#[test]
fn what_is_lost_without_a_header_is_sent_again_by_a_timer() {
    for name in CONTROLS.into_iter().chain(["nscc"]) {
        let mut spec = permuted(name, 60);
        spec.graph.cables.iter_mut().for_each(|cable| cable.link.bit_error_rate = 1e-7);
        let down = at(Span::from_micros(20));
        spec.faults = vec![Fault { cable: 0, down, up: Some(down + Span::from_micros(30)) }];
        spec.flows.extend((1..9).map(|from| pulled(from, 0, 30 * FRAME, control(name, &[]))));
        let short = ClassBuffer::drop_tail(Bytes::new(512));
        let data = ClassBuffer::drop_tail(Bytes::new(2_000_000));
        spec.switches[0].buffer = Buffer::Static(vec![data, short]);
        let (_, totals) = complete(&spec);
        assert!(totals.lost_frames > 10 && totals.lost_control > 10 && totals.timeouts > 0, "{name}: {totals:?}");
    }
}

/// Room for four headers: most of the first windows of an incast come back, and nobody waits for a timer.
#[test]
fn headers_without_room_return_to_their_sources() {
    for name in CONTROLS.into_iter().chain(["nscc"]) {
        let run = |returns: bool| {
            let mut spec = trimming_with(star(41), 8, returns);
            spec.flows = (1..41).map(|from| pulled(from, 0, 30 * FRAME, control(name, &[]))).collect();
            let short = ClassBuffer::drop_tail(Bytes::new(256));
            let data = ClassBuffer::drop_tail(Bytes::new(2_000_000));
            spec.switches[0].buffer = Buffer::Static(vec![data, short]);
            let (simulation, totals) = complete(&spec);
            (latest(&simulation).as_secs_f64() / (FRAME_TIME * 1201).as_secs_f64(), totals)
        };
        let (share, totals) = run(true);
        assert!(totals.returned_frames > 100, "{name}: {totals:?}");
        let (longer, without) = run(false);
        assert!(without.returned_frames == 0 && without.timeouts > 0, "{name}: {without:?}");
        if name != "nscc" {
            assert!(totals.timeouts == 0 && share < 1.1, "{name}: {share} {totals:?}");
            assert!(share <= longer, "{name}: {share} {longer}");
        }
    }
}

/// When pulls start, and what they permit.
#[derive(Default)]
struct Pulls(Vec<(Time, u32, u64)>);

impl Probe for Pulls {
    fn on_transmit(&mut self, now: Time, _port: u32, frame: &Frame, waited: Span, _busy: Span) {
        if let (Kind::Pull, fabric::Content::Pull(total)) = (frame.kind, frame.content()) {
            assert_eq!((frame.class, frame.len), (1, 64));
            self.0.push((now - waited, frame.flow, total));
        }
    }
}

/// A host's pulls are one frame time apart, whatever arrives, and go to its flows in turn.
#[test]
fn a_host_paces_its_pulls_at_the_rate_of_its_link() {
    let mut spec = trimming(star(5), 8);
    spec.flows = (1..5).map(|from| pulled(from, 0, 30 * FRAME, control("ndp", &[]))).collect();
    let (mut simulation, report) = run_with(&spec, Span::from_millis(10), |_| Pulls::default());
    let pulls: Vec<(Time, u32, u64)> = simulation.probes_mut().flat_map(|probe| std::mem::take(&mut probe.0)).collect();
    // Each is on two links.
    assert_eq!(pulls.len() as u64, 2 * report.totals.pulls);
    let mut times: Vec<(Time, u32, u64)> = pulls;
    times.sort_unstable_by_key(|&(at, flow, total)| (flow, total, at));
    times.dedup_by_key(|&mut (_, flow, total)| (flow, total));
    times.sort_unstable();
    assert!(times.len() > 100, "{}", times.len());
    for pair in times.windows(2) {
        assert!(pair[1].0 - pair[0].0 >= FRAME_TIME, "{pair:?}");
    }
    let busy = times.windows(2).filter(|pair| pair[1].0 - pair[0].0 == FRAME_TIME).count();
    assert!(busy > 90, "{busy}");
    for flow in 0..4 {
        let pulls = times[..80].iter().filter(|&&(_, other, _)| other == flow).count();
        assert!((17..=23).contains(&pulls), "{flow}: {pulls}");
    }
}

#[test]
fn what_receiver_driven_flows_need_is_said() {
    let refused = |change: fn(&mut NetworkSpec)| {
        let mut spec = trimming(star(3), 8);
        spec.flows = vec![pulled(0, 1, FRAME, control("ndp", &[]))].into();
        change(&mut spec);
        let errors = Simulation::build(&spec, &BuildOptions::default()).err().expect("it is refused");
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let text = refused(|spec| spec.switches[0].congestion_point = None);
    assert!(text.contains("add the congestion point `trim`"), "{text}");
    assert!(refused(|spec| spec.flows[0].pull = None).contains("needs pulls"));
    assert!(refused(|spec| spec.flows[0].acknowledge = None).contains("needs acknowledgements"));
    assert!(refused(|spec| spec.flows[0].reaction = control("none", &[])).contains("not receiver-driven"));
    assert!(refused(|spec| spec.flows[0].pull = Some(PullSpec { class: 7, ..PullSpec::default() })).contains("class"));
}
