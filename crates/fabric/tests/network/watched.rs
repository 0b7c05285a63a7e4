//! The random networks of [`crate::stress`] with everything that watches and reacts: congestion points of every kind,
//! accounts of who holds a buffer, copies, destinations in turn, notices, frames queued again, and sources of every kind.
//! One result on any cut and in any order of the nodes, nothing forgotten, every buffer and account empty in the end.
//!
//! `SEEDS=1000 cargo test -p tailback-fabric --test network watched` looks longer; `FROM` says where to begin.

use crate::kit::*;
use crate::observed::Observed;
use crate::stress;
use congestion::parameter::{ParameterKind, Value, Values};
use congestion::{CongestionPoint, POINTS, PROTOCOLS, PathProbeClass, Point, ReactionPoint};
use fabric::spec::*;
use fabric::workload::*;
use fabric::{BuildOptions, FlowSummary, Outcome, Partition, Probe, QueueSample, RunLimits, RunSummary, Simulation};
use std::collections::BTreeMap;
use units::{Bytes, Rate, Span, Stream, Time};

struct Lot(Stream);

impl Lot {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }
    fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
    fn of<T: Clone>(&mut self, things: &[T]) -> T {
        things[self.below(things.len() as u64) as usize].clone()
    }
}

/// Parameters that make things happen within some hundred microseconds; choices and flags by lot.
fn values(lot: &mut Lot, parameters: &'static [congestion::parameter::Parameter]) -> Values {
    let mut values = Values::defaults(parameters);
    for parameter in parameters {
        let quick = match parameter.name {
            "set_point" => Some(Value::Size(Bytes::new(lot.of(&[100, 3_000, 20_000])))),
            "sample_base" => Some(Value::Size(Bytes::new(lot.of(&[1, 2_000, 15_000])))),
            "severe_at" => Some(Value::Size(Bytes::new(lot.of(&[20_001, 40_000])))),
            "severest_at" => Some(Value::Size(Bytes::new(50_000))),
            "probability" | "base_probability" => Some(Value::Number(lot.of(&[0.05, 0.5, 1.0]))),
            "byte_reset" | "probe_interval" => Some(Value::Size(Bytes::new(lot.of(&[1, 10_000])))),
            "stop_first" => Some(Value::Time(Span::from_nanos(lot.of(&[1, 9_000])))),
            "stop_most" => Some(Value::Time(Span::from_micros(20))),
            "tag_size" => Some(Value::Size(Bytes::new(lot.of(&[0, 16, 500])))),
            "flow_set_point" => Some(Value::Size(Bytes::new(lot.of(&[0, 15_000])))),
            "queue" | "hysteresis" if lot.percent(50) => Some(Value::Size(Bytes::new(lot.of(&[1, 5_000])))),
            "kmin" => Some(Value::Size(Bytes::new(lot.of(&[0, 2_000])))),
            "kmax" => Some(Value::Size(Bytes::new(lot.of(&[2_000, 10_000])))),
            "pmax" | "weight" => Some(Value::Number(lot.of(&[0.3, 1.0]))),
            "frames" => Some(Value::Count(lot.of(&[1, 3]))),
            "threshold" => match parameter.kind {
                ParameterKind::Size(..) => Some(Value::Size(Bytes::new(lot.of(&[0, 3_000])))),
                ParameterKind::Count(least, most) => Some(Value::Count(lot.of(&[least, (least + 3).min(most)]))),
                _ => None,
            },
            "window_packets" => Some(Value::Count(lot.of(&[1, 5]))),
            "timer" => Some(Value::Count(lot.of(&[1, 20]))),
            "start_rate" if lot.percent(50) => Some(Value::Rate(Rate::from_megabits(500))),
            "keep_alive" | "time_reset" | "drift_period" | "si_period" | "offered_over" | "recent" | "period"
            | "fail_safe" | "guidance_period" => (parameter.name != "keep_alive" || lot.percent(50))
                .then(|| Value::Time(Span::from_nanos(lot.of(&[700, 10_000])))),
            "recently_blocked" if lot.percent(50) => Some(Value::Time(Span::from_micros(1))),
            _ => match parameter.kind {
                ParameterKind::Choice(names) => Some(Value::Choice(lot.of(names).0.to_owned())),
                ParameterKind::Flag => Some(Value::Flag(lot.percent(50))),
                _ => None,
            },
        };
        quick.into_iter().for_each(|value| values.set(parameter.name, value));
    }
    values
}

/// A congestion point, if what was drawn makes one that fits.
fn point(lot: &mut Lot) -> Option<Point> {
    let info = lot.of(POINTS);
    (0..20).find_map(|_| (info.build)(&values(lot, info.parameters)).ok())
}

fn watch(lot: &mut Lot, spec: &NetworkSpec, reliable: bool) -> CongestionPointSpec {
    CongestionPointSpec {
        point: if lot.percent(85) { point(lot) } else { None },
        occupancy: lot.percent(60),
        unit: Bytes::new(lot.of(&[1, 64, 65_000])),
        reliable,
        sample_dropped: lot.percent(50),
        notice_class: lot.below(spec.classes.len() as u64) as u8,
        notice_size: Bytes::new(lot.of(&[64, 64, 400])),
        ..CongestionPointSpec::default()
    }
}

/// Leaves a point that drops or trims frames the lossy classes but the first, which takes the headers; none at all where
/// it has no place.
fn restrict(watch: &mut CongestionPointSpec, spec: &NetworkSpec, kind: usize) {
    let Some(point) = watch.point.take_if(|point| point.discards() != 0) else { return };
    let SwitchSpec { queueing, order, .. } = &spec.switches[kind];
    let lossy = (0..spec.classes.len()).filter(|&class| !spec.classes[class].lossless);
    let classes = lossy.skip(usize::from(point.trims())).fold(0, |mask, class| mask | 1 << class);
    if *queueing == Queueing::Output && *order == Order::Arrival && classes != 0 && !watch.reliable {
        watch.trim_class = spec.classes.iter().position(|class| !class.lossless).unwrap_or(0) as u8;
        watch.point = Some(Point::ByClass(congestion::ByClass::new(vec![(classes, point)])));
    }
}

/// A network of [`stress::spec`], watched.
fn spec(seed: u64) -> NetworkSpec {
    let (mut spec, noisy) = stress::spec(seed, true);
    let mut lot = Lot(Stream::new(seed, 1, "watched"));
    let (switches, classes) = (spec.switches.len(), spec.classes.len() as u64);
    // Copies of frames that come to nothing are kept for ever.
    let safe =
        !noisy && spec.faults.is_empty() && spec.route_changes.is_empty() && spec.classes.iter().all(|c| c.lossless);
    let shared = spec.switches.iter().any(|switch| matches!(switch.buffer, Buffer::Shared { .. }));
    let reliable = safe && !shared && lot.percent(60);
    for kind in 0..switches {
        if spec.switches[kind].queueing == Queueing::Output && lot.percent(50) {
            spec.switches[kind].order = lot.of(&[Order::RoundRobin, Order::Longest]);
        }
        if reliable || lot.percent(80) {
            let mut watch = watch(&mut lot, &spec, reliable);
            let direct = matches!(spec.switches[kind].queueing, Queueing::InputFifo { .. } | Queueing::VirtualOutput);
            if watch.point.as_ref().is_some_and(CongestionPoint::judges_joining) {
                spec.switches[kind].pipeline = Span::ZERO;
                watch.point = watch.point.filter(|_| direct);
            }
            restrict(&mut watch, &spec, kind);
            spec.switches[kind].congestion_point = Some(watch);
        }
    }
    if spec.routes.trees() == 0 && lot.percent(40) {
        let choice = lot.of(&[FlowletChoice::Random, FlowletChoice::Shortest]);
        let flowlets = FlowletSpec { gap: Span::from_nanos(lot.of(&[0, 2_000])), entries: lot.of(&[1, 64]), choice };
        spec.multipath = lot.of(&[Multipath::Adaptive, Multipath::Numbered, Multipath::Flowlet(flowlets)]);
    }
    for flow in &mut spec.flows {
        if lot.percent(80) {
            let info = lot.of(PROTOCOLS);
            let Some(reaction) = (0..20).find_map(|_| (info.build)(&values(&mut lot, info.parameters)).ok()) else {
                continue;
            };
            // Those retransmit what is lost, which `recovery` and `pulls` look at.
            if reaction.pulling().is_some() {
                continue;
            }
            let lossless = spec.classes[usize::from(flow.class)].lossless;
            let every = if matches!(flow.destination, Destination::Host(_)) { 1 + lot.below(2) as u32 } else { 1 };
            let mut acknowledge =
                Acknowledge { size: Bytes::new(64), class: lot.below(classes) as u8, every, delay: None };
            if info.acknowledged || lot.percent(30) {
                if reaction.allowance().window.is_some() || info.parameters.iter().any(|it| it.name == "window_packets")
                {
                    if !lossless {
                        continue;
                    }
                    acknowledge.every = 1;
                }
                flow.acknowledge = Some(acknowledge);
            }
            if let Some(lane) = reaction.path_probes() {
                // Probes go to one destination.
                if matches!(flow.destination, Destination::Uniform) {
                    continue;
                }
                let size = Bytes::new(64);
                let class = if lane == PathProbeClass::Urgent { classes as u8 - 1 } else { flow.class };
                flow.path_probe = Some(PathProbeSpec { size, class, answer_class: lot.below(classes) as u8 });
            }
            flow.reaction = reaction;
        }
        if lot.percent(60) {
            flow.requeue_oracle = Some(Span::from_nanos(lot.of(&[100, 800, 20_000])));
        }
        if lot.percent(30) {
            flow.size = Some(Bytes::new(20_001));
        }
    }
    spec
}

/// What was sampled last, and how much was sampled in all.
#[derive(Clone, Default)]
struct Last {
    queues: BTreeMap<(u32, u8), (Time, u32, u32)>,
    held: BTreeMap<(u32, u8), Vec<(u32, u32)>>,
    sum: u64,
}

impl Probe for Last {
    fn sample_every(&self) -> Option<Span> {
        Some(Span::from_micros(7))
    }
    fn on_queue(&mut self, now: Time, sample: QueueSample) {
        self.sum = self.sum.wrapping_add(u64::from(sample.output_bytes) * 3 + u64::from(sample.input_held));
        self.queues.insert((sample.port, sample.class), (now, sample.output_bytes, sample.input_held));
    }
    fn on_occupancy(&mut self, _now: Time, port: u32, class: u8, held: &[(u32, u32)]) {
        self.sum =
            self.sum.wrapping_add(held.iter().map(|&(flow, bytes)| u64::from(flow + 1) * u64::from(bytes)).sum());
        self.held.insert((port, class), held.to_vec());
    }
    fn on_rate(&mut self, _now: Time, _flow: u32, rate: Option<u64>, window: Option<u64>) {
        self.sum = self.sum.wrapping_add(rate.unwrap_or(7)).wrapping_add(window.unwrap_or(5));
    }
}

/// Everything that must be the same on any cut.
fn seen(simulation: &mut Observed<Last>) -> (u64, Vec<FlowSummary>, Last) {
    let mut all = Last::default();
    for probe in simulation.probes_mut() {
        all.queues.extend(probe.queues.clone());
        all.held.extend(probe.held.clone());
        all.sum = all.sum.wrapping_add(probe.sum);
    }
    (all.sum, simulation.flows(), all)
}

fn go(spec: &NetworkSpec, options: &BuildOptions, threads: usize) -> (Observed<Last>, RunSummary) {
    let mut simulation = Observed::build(spec, options, |_| Last::default()).unwrap();
    let limits = RunLimits { threads, ..RunLimits::until(at(Span::from_micros(350))) };
    let report = simulation.run(&limits);
    (simulation, report)
}

fn conserved(totals: fabric::Totals, simulation: &Observed<Last>) -> bool {
    let census = simulation.census();
    let gone = totals.delivered_bytes + totals.discarded_bytes + totals.lost_bytes + totals.dropped_bytes;
    let gone = gone + totals.trimmed_bytes;
    totals.made_bytes == gone + census.bytes && census.places == census.frames + census.control
}

/// What is wrong with one network. `did` counts marks, notices, receipts, frames queued again and frames delivered.
fn wrong(seed: u64, spec: &NetworkSpec, did: &mut [u64; 5]) -> Vec<String> {
    let mut wrong = Vec::new();
    let (mut simulation, report) = go(spec, &BuildOptions { partition: Partition::One, shards: 1, shuffle: None }, 1);
    let (sum, flows, _) = seen(&mut simulation);
    let totals = &report.totals;
    let happened =
        [totals.marked_frames, totals.notices, totals.receipts, totals.requeued_frames, totals.delivered_frames];
    did.iter_mut().zip(happened).for_each(|(sum, count)| *sum += count);
    for (partition, shards, shuffle, threads) in [
        // Many shards, on one thread or on two.
        (Partition::PerNode, 1, None, 1 + (seed % 2) as usize),
        (Partition::Random { seed }, 3, Some(seed), 2),
        (Partition::One, 1, Some(seed + 1), 1),
        (Partition::One, 1, Some(seed + 2), 1),
    ] {
        let name = format!("{seed}: {partition:?} {shuffle:?}");
        let (mut other, again) = go(spec, &BuildOptions { partition, shards, shuffle }, threads);
        let (sum_again, flows_again, _) = seen(&mut other);
        if (report.fingerprint, report.totals, report.events) != (again.fingerprint, again.totals, again.events) {
            let short = |report: &RunSummary| (report.fingerprint, report.events, report.totals);
            wrong.push(format!("{name}: {:?} {:?}", short(&report), short(&again)));
        } else if (sum, &flows) != (sum_again, &flows_again) {
            wrong.push(format!("{name}: samples or flows differ"));
        } else if std::mem::discriminant(&report.outcome) != std::mem::discriminant(&again.outcome) {
            wrong.push(format!("{name}: {:?} {:?}", report.outcome, again.outcome));
        }
    }
    if !conserved(report.totals, &simulation) {
        wrong.push(format!("{seed}: not conserved {:?} {:?}", report.totals, simulation.census()));
    }
    if report.outcome != Outcome::Finished {
        wrong.push(format!("{seed}: {:?}", report.outcome).chars().take(300).collect());
        return wrong;
    }
    let until = at(Span::from_millis(20));
    let limits = RunLimits { inspect_every: Span::from_secs(1), ..RunLimits::until(until) };
    let report = simulation.run(&limits);
    if !conserved(report.totals, &simulation) {
        wrong.push(format!("{seed}: not conserved at the end"));
    }
    let census = simulation.census();
    let watch =
        spec.switches.iter().map(|switch| switch.congestion_point.as_ref().map(|it| (it.reliable, it.occupancy)));
    if census.frames != 0 || census.control > 200 {
        let watch: Vec<_> = watch.clone().collect();
        wrong.push(format!("{seed}: not drained {census:?} {:?} {watch:?}", report.outcome));
        return wrong;
    }
    let (_, _, last) = seen(&mut simulation);
    for ((port, class), (time, waiting, held)) in &last.queues {
        if (*waiting, *held) != (0, 0) {
            let watch: Vec<_> = watch.clone().collect();
            wrong.push(format!("{seed}: port {port} class {class} at {time}: {waiting} wait, {held} held {watch:?}"));
        }
    }
    for ((port, class), held) in &last.held {
        if !held.is_empty() {
            wrong.push(format!("{seed}: port {port} class {class}: account {held:?}"));
        }
    }
    wrong
}

#[test]
fn watched_networks_are_the_same_on_any_cut_and_empty_in_the_end() {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (seeds, from) = (number("SEEDS", 100), number("FROM", 300));
    let (mut bad, mut built) = (Vec::new(), 0);
    let mut did = [0; 5];
    for seed in from..from + seeds {
        let spec = spec(seed);
        // A few are refused, for a reason of their own.
        if Simulation::build(&spec, &BuildOptions::default()).is_err() {
            continue;
        }
        built += 1;
        match std::panic::catch_unwind(|| {
            let mut did = [0; 5];
            (wrong(seed, &spec, &mut did), did)
        }) {
            Ok((found, happened)) => {
                bad.extend(found);
                did.iter_mut().zip(happened).for_each(|(sum, count)| *sum += count);
            }
            Err(error) => {
                let text = error.downcast_ref::<String>().cloned();
                bad.push(format!("{seed}: panic {:?}", text.or(error.downcast_ref::<&str>().map(|it| it.to_string()))));
            }
        }
    }
    assert!(built * 10 >= seeds * 8, "{built} of {seeds} were built: too few");
    assert!(seeds < 100 || did.iter().all(|&count| count > 0), "too little happens: {did:?}");
    assert!(bad.is_empty(), "{}\n{}", bad.len(), bad.iter().take(40).cloned().collect::<Vec<_>>().join("\n"));
}
