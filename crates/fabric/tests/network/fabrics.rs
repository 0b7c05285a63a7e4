//! Fabrics of several switches that work as one: destinations that share an output, copies kept until a receipt comes,
//! and draws from a buffer by the room that flows hold.

use crate::kit::*;
use congestion::Point;
use congestion::parameter::{Value, Values};
use fabric::graph::{Graph, NodeId, Role};
use fabric::spec::*;
use fabric::workload::FlowSpec;
use fabric::{BuildOptions, Frame, Outcome, Partition, Probe, RunLimits, Simulation, Wish};
use std::sync::atomic::AtomicBool;
use units::{Bytes, Rate, Span, Time};

fn qcn(set: &[(&'static str, Value)]) -> Point {
    let info = congestion::POINTS.iter().find(|info| info.name == "qcn").unwrap();
    let mut values = Values::defaults(info.parameters);
    set.iter().for_each(|(name, value)| values.set(name, value.clone()));
    (info.build)(&values).unwrap()
}

/// Host 0 on switch `in`, which leads to `mid` with host 1, which leads by a slow cable to `far` with host 2. The input
/// switch counts bytes and pauses; inside there are credits of one frame each.
fn fabric(inside: Span, order: Order, watch: Option<WatchSpec>) -> NetworkSpec {
    let mut graph = Graph::default();
    let switches = ["in", "mid", "far"].map(|name| graph.node(name, Role::Switch, 0));
    let hosts = ["a", "near", "away"].map(|name| graph.node(name, Role::Host, 0));
    let mut cable = |a: NodeId, b: NodeId, gigabits: u64, latency: Span| graph.cable(a, b, link(gigabits, latency));
    cable(hosts[0], switches[0], 10, Span::from_nanos(50));
    cable(switches[0], switches[1], 20, inside);
    cable(switches[1], switches[2], 2, inside);
    cable(hosts[1], switches[1], 10, Span::from_nanos(50));
    cable(hosts[2], switches[2], 10, Span::from_nanos(50));
    let input = SwitchSpec {
        order,
        watch: watch.clone(),
        ..switch(ClassBuffer::lossless(Bytes::new(150_000), Bytes::new(110_000), Bytes::new(44_000)), pfc())
    };
    let inner = SwitchSpec {
        queueing: Queueing::Combined { output_buffer: Bytes::new(32_000) },
        crossbar: Some(Crossbar { speedup: (2, 1), ..Crossbar::default() }),
        watch: watch.map(|watch| WatchSpec { point: None, ..watch }),
        ..switch(ClassBuffer::drop_tail(Bytes::new(20)), slots(Span::from_nanos(20)))
    };
    let mut spec = network(graph, input, lossless());
    spec.switches.push(inner);
    spec.kind_of = vec![0, 1, 1, 0, 0, 0];
    spec.flows = vec![greedy(0, 1, 1500), greedy(0, 2, 1500)];
    spec
}

/// The room that flows hold in the input switch, as it was last sampled.
#[derive(Default)]
struct Room {
    most: u32,
    last: Vec<(u32, u32)>,
}

impl Probe for Room {
    fn sample_every(&self) -> Option<Span> {
        Some(Span::from_micros(10))
    }

    fn on_occupancy(&mut self, _now: Time, port: u32, _class: u8, held: &[(u32, u32)]) {
        if port == 0 {
            self.most = self.most.max(held.iter().map(|it| it.1).sum());
            held.clone_into(&mut self.last);
        }
    }
}

#[test]
fn copies_hold_their_room_until_the_far_side_has_the_frame() {
    let watch = WatchSpec { occupancy: true, reliable: true, ..WatchSpec::default() };
    let spec = fabric(Span::from_micros(20), Order::Arrival, Some(watch));
    // One frame, alone: it leaves at once, and its room is free when the receipt is back.
    let mut alone = spec.clone();
    alone.flows = vec![FlowSpec { size: Some(Bytes::new(1500)), ..greedy(0, 2, 1500) }];
    let (simulation, report) = run(&alone, Span::from_millis(1));
    assert_eq!((report.outcome, report.totals.receipts), (Outcome::Finished, 1));
    assert_eq!(simulation.census().places, 0);
    // 40 us there and 40 us back: a receipt needs at least that, so with 10 Gb/s offered the copies fill the buffer.
    let (mut simulation, report) = run_with(&spec, Span::from_millis(5), |_| Room::default());
    assert_eq!(report.outcome, Outcome::Finished);
    assert!(report.totals.pause_frames > 0);
    let room = simulation.probes_mut().next().unwrap();
    assert!(room.most > 100_000, "{}", room.most);
    let census = simulation.census();
    assert_eq!(census.places, census.frames + census.control);
    // Every frame that reached a host was acknowledged on its way, and none twice.
    let delivered = simulation.totals().delivered_frames;
    assert!((delivered..delivered + 60).contains(&report.totals.receipts), "{:?}", report.totals);
}

#[test]
fn without_copies_the_room_is_free_when_a_frame_has_left() {
    let watch = WatchSpec { occupancy: true, ..WatchSpec::default() };
    let mut spec = fabric(Span::from_micros(20), Order::Arrival, Some(watch));
    spec.flows.truncate(1);
    let (mut simulation, report) = run_with(&spec, Span::from_millis(2), |_| Room::default());
    assert_eq!((report.outcome, report.totals.receipts), (Outcome::Finished, 0));
    // One flow that nothing holds back but 20 credits and 40 us: what waits is what the credits leave.
    assert!(simulation.probes_mut().next().unwrap().last.iter().all(|it| it.0 == 0));
}

/// Frames of each flow that left the input switch, in order.
#[derive(Default)]
struct Departures(Vec<u32>);

impl Probe for Departures {
    fn on_transmit(&mut self, _now: Time, port: u32, frame: &Frame, _waited: Span, _busy: Span) {
        if port == 1 && frame.kind == fabric::Kind::Data {
            self.0.push(frame.flow);
        }
    }
}

#[test]
fn the_longest_queue_goes_first_and_turns_alternate() {
    let departures = |order: Order| {
        let mut spec = fabric(Span::ZERO, order, None);
        spec.graph.cables[1].link.rate = Rate::from_gigabits(1);
        // Eight frames for one destination, then four for the other; a frame takes 12 us to leave and 1.2 us to come.
        let burst = |to: u32, frames: u64, start: u64| FlowSpec {
            size: Some(Bytes::new(1500 * frames)),
            start: Time::ZERO + Span::from_micros(start),
            ..greedy(0, to, 1500)
        };
        spec.flows = vec![burst(1, 8, 0), burst(2, 4, 10)];
        let (mut simulation, _) = run_with(&spec, Span::from_millis(1), |_| Departures::default());
        let left = std::mem::take(&mut simulation.probes_mut().next().unwrap().0);
        left.iter().map(u32::to_string).collect::<String>()
    };
    assert_eq!(departures(Order::Arrival), "000000001111");
    assert_eq!(departures(Order::RoundRobin), "010101010000");
    assert_eq!(departures(Order::Longest), "000001010101");
}

/// Notices by flow.
#[derive(Default)]
struct Notices([u64; 2]);

impl Probe for Notices {
    fn on_notice(&mut self, _now: Time, frame: &Frame) {
        if let Some(count) = self.0.get_mut(frame.flow as usize) {
            *count += 1;
        }
    }
}

/// Whom the congestion point of an input tells: flow 0 sends 3 Gb/s to an output of its own, flow 1 wants 6 Gb/s of one
/// that gives it 5. Nobody listens, so that the rates stay as they are.
fn notices(culprit: &str) -> [u64; 2] {
    let set = [
        ("placed", Value::Choice("inputs".into())),
        ("culprit", Value::Choice(culprit.into())),
        ("sampling", Value::Choice("constant".into())),
        ("sample_base", Value::Size(Bytes::new(15_000))),
        ("set_point", Value::Size(Bytes::new(10_000))),
    ];
    let graph = fabric::topology::single_switch(4, link(10, Span::from_nanos(50))).unwrap();
    let control = Crossbar { speedup: (2, 1), arbitration: Arbitration::RoundRobin, read_ports: 1 };
    let switch = SwitchSpec {
        queueing: Queueing::Combined { output_buffer: Bytes::new(20_000) },
        crossbar: Some(control),
        watch: Some(WatchSpec::point(qcn(&set))),
        ..switch(ClassBuffer::lossless(Bytes::new(150_000), Bytes::new(60_000), Bytes::new(50_000)), pfc())
    };
    let mut spec = network(graph, switch, lossless());
    let paced = |from: u32, to: u32, megabits: u64| FlowSpec {
        pattern: fabric::workload::Pattern::Paced {
            rate: Rate::from_megabits(megabits),
            gaps: fabric::workload::Gaps::Exponential,
            backlog: Some(fabric::workload::Backlog { frames: 16, overflow: fabric::workload::Overflow::Stall }),
        },
        ..greedy(from, to, 1500)
    };
    spec.flows = vec![paced(0, 2, 3_000), paced(0, 3, 6_000), greedy(1, 3, 1500)];
    let mut simulation = Simulation::build_with(&spec, &BuildOptions::default(), |_| Notices::default()).unwrap();
    let quiet = AtomicBool::new(false);
    simulation.run(&RunLimits::until(Time::ZERO + Span::from_millis(100), &quiet), |_, _| Wish::GoOn);
    simulation.probes_mut().next().unwrap().0
}

#[test]
fn the_culprit_holds_the_buffer_and_the_victim_only_arrives() {
    let [victim, culprit] = notices("occupancy");
    assert!(culprit > 1000 && culprit > 20 * victim, "{culprit} and {victim}");
    // By arrival, the share of notices is the share of what arrives: about a third.
    let [victim, culprit] = notices("arrival");
    let share = victim as f64 / (victim + culprit) as f64;
    assert!(victim + culprit > 1000 && (0.28..0.45).contains(&share), "{victim} and {culprit}");
}

#[test]
fn fabrics_are_the_same_on_any_number_of_threads() {
    let set = [("placed", Value::Choice("inputs".into())), ("culprit", Value::Choice("occupancy".into()))];
    let watch = WatchSpec { reliable: true, ..WatchSpec::point(qcn(&set)) };
    let spec = fabric(Span::from_micros(1), Order::Longest, Some(watch));
    let fingerprint = |shards: usize, shuffle: Option<u64>| {
        let options = BuildOptions { partition: Partition::Natural, shards, shuffle };
        let mut simulation = Simulation::build(&spec, &options).unwrap();
        let quiet = AtomicBool::new(false);
        let limits = RunLimits { threads: shards, ..RunLimits::until(Time::ZERO + Span::from_millis(3), &quiet) };
        let report = simulation.run(&limits, |_, _| Wish::GoOn);
        assert!(report.totals.notices > 0 && report.totals.receipts > 0);
        (report.fingerprint, report.totals)
    };
    let one = fingerprint(1, None);
    assert_eq!(one, fingerprint(2, None));
    assert_eq!(one, fingerprint(3, Some(9)));
}
