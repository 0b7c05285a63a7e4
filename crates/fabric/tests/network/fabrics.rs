//! Fabrics of several switches that work as one: destinations that share an output, copies kept until a receipt comes,
//! and draws from a buffer by the room that flows hold.

use crate::kit::*;
use crate::observed::Observed;
use congestion::Point;
use congestion::parameter::{Value, Values};
use fabric::graph::{Graph, NodeId, Role};
use fabric::spec::*;
use fabric::workload::FlowSpec;
use fabric::{BuildOptions, Frame, Notice, Outcome, Partition, Probe, RunLimits, Simulation};
use units::{Bytes, Rate, Span, Time};

fn qcn(set: &[(&'static str, Value)]) -> Point {
    let info = congestion::POINTS.iter().find(|info| info.name == "qcn").unwrap();
    let mut values = Values::defaults(info.parameters);
    set.iter().for_each(|(name, value)| values.set(name, value.clone()));
    (info.build)(&values).unwrap()
}

/// Host 0 on switch `in`, which leads to `mid` with host 1, which leads by a slow cable to `far` with host 2. The input
/// switch counts bytes and pauses; inside there are credits of one frame each.
fn fabric(inside: Span, order: Order, watch: Option<CongestionPointSpec>) -> NetworkSpec {
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
        congestion_point: watch.clone(),
        ..switch(ClassBuffer::lossless(Bytes::new(150_000), Bytes::new(110_000), Bytes::new(44_000)), pfc())
    };
    let inner = SwitchSpec {
        queueing: Queueing::Combined { output_buffer: Bytes::new(32_000) },
        crossbar: Some(Crossbar { speedup: (2, 1), ..Crossbar::default() }),
        congestion_point: watch.map(|watch| CongestionPointSpec { point: None, ..watch }),
        ..switch(ClassBuffer::drop_tail(Bytes::new(20)), slots(Span::from_nanos(20)))
    };
    let mut spec = network(graph, input, lossless());
    spec.switches.push(inner);
    spec.kind_of = vec![0, 1, 1, 0, 0, 0];
    spec.flows = vec![greedy(0, 1, 1500), greedy(0, 2, 1500)].into();
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
    let watch = CongestionPointSpec { occupancy: true, reliable: true, ..CongestionPointSpec::default() };
    let spec = fabric(Span::from_micros(20), Order::Arrival, Some(watch));
    // One frame, alone: it leaves at once, and its room is free when the receipt is back.
    let mut alone = spec.clone();
    alone.flows = vec![FlowSpec { size: Some(Bytes::new(1500)), ..greedy(0, 2, 1500) }].into();
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

/// The most and the last that was held of what came in by the host of the input switch.
#[derive(Default)]
struct Held(u32, u32);

impl Probe for Held {
    fn sample_every(&self) -> Option<Span> {
        Some(Span::from_nanos(500))
    }

    fn on_queue(&mut self, _now: Time, sample: fabric::QueueSample) {
        if sample.port == 0 {
            *self = Held(self.0.max(sample.input_held), sample.input_held);
        }
    }
}

#[test]
fn a_receipt_may_be_there_before_the_frame_has_left() {
    // At 1 Gb/s a frame takes 12 us to leave; the far side knows it by its header, and its receipt is back after 2 us.
    let watch = CongestionPointSpec { occupancy: true, reliable: true, ..CongestionPointSpec::default() };
    let mut spec = fabric(Span::from_nanos(300), Order::Arrival, Some(watch));
    spec.graph.cables.iter_mut().for_each(|cable| cable.link.rate = Rate::from_gigabits(1));
    for kind in &mut spec.switches {
        kind.forwarding = Forwarding::CutThrough { header_delay: Span::from_nanos(100) };
        kind.crossbar = kind.crossbar.map(|crossbar| Crossbar { speedup: (1, 1), ..crossbar });
    }
    spec.flows = vec![FlowSpec { size: Some(Bytes::new(7_600)), ..greedy(0, 1, 1500) }].into();
    let (mut simulation, report) = run_with(&spec, Span::from_millis(1), |_| Held::default());
    assert_eq!((report.outcome, report.totals.receipts), (Outcome::Finished, 6));
    let Held(most, last) = *simulation.probes_mut().next().unwrap();
    assert!(most >= 1500 && last == 0, "{most} {last}");
}

#[test]
fn without_copies_the_room_is_free_when_a_frame_has_left() {
    let watch = CongestionPointSpec { occupancy: true, ..CongestionPointSpec::default() };
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
        spec.flows = vec![burst(1, 8, 0), burst(2, 4, 10)].into();
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
    fn on_notice(&mut self, _now: Time, flow: u32, _notice: &Notice) {
        if let Some(count) = self.0.get_mut(flow as usize) {
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
        congestion_point: Some(CongestionPointSpec::point(qcn(&set))),
        ..switch(ClassBuffer::lossless(Bytes::new(150_000), Bytes::new(60_000), Bytes::new(50_000)), pfc())
    };
    let mut spec = network(graph, switch, lossless());
    let paced = |from: u32, to: u32, megabits: u64| {
        greedy(from, to, 1500).with(|it| {
            it.pattern = fabric::workload::Pattern::Paced {
                rate: Rate::from_megabits(megabits),
                gaps: fabric::workload::Gaps::Exponential,
                backlog: Some(fabric::workload::Backlog { frames: 16, overflow: fabric::workload::Overflow::Stall }),
            };
        })
    };
    spec.flows = vec![paced(0, 2, 3_000), paced(0, 3, 6_000), greedy(1, 3, 1500)].into();
    let mut simulation = Observed::build(&spec, &BuildOptions::default(), |_| Notices::default()).unwrap();
    simulation.run(&RunLimits::until(Time::ZERO + Span::from_millis(100)));
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
    let watch = CongestionPointSpec { reliable: true, ..CongestionPointSpec::point(qcn(&set)) };
    let spec = fabric(Span::from_micros(1), Order::Longest, Some(watch));
    let fingerprint = |shards: usize, shuffle: Option<u64>| {
        let options = BuildOptions { partition: Partition::Natural, shards, shuffle };
        let mut simulation = Simulation::build(&spec, &options).unwrap();
        let limits = RunLimits { threads: shards, ..RunLimits::until(Time::ZERO + Span::from_millis(3)) };
        let report = simulation.run(&limits);
        assert!(report.totals.notices > 0 && report.totals.receipts > 0);
        (report.fingerprint, report.totals)
    };
    let one = fingerprint(1, None);
    assert_eq!(one, fingerprint(2, None));
    assert_eq!(one, fingerprint(3, Some(9)));
}

#[test]
fn a_look_at_the_next_switch_is_the_same_however_nodes_are_numbered() {
    // Host `a` fills the buffer of `in`, host `b` the two queues of `mid`; their frames come at the same instants. A
    // draw in `in` compares the queues of `mid`.
    let mut graph = Graph::default();
    let switches = ["in", "mid"].map(|name| graph.node(name, Role::Switch, 0));
    let hosts = ["a", "b", "x", "y"].map(|name| graph.node(name, Role::Host, 0));
    graph.cable(switches[0], switches[1], link(5, Span::ZERO));
    graph.cable(hosts[0], switches[0], link(10, Span::from_nanos(50)));
    graph.cable(hosts[1], switches[1], link(10, Span::from_nanos(50)));
    graph.cable(hosts[2], switches[1], link(1, Span::from_nanos(50)));
    graph.cable(hosts[3], switches[1], link(1, Span::from_nanos(50)));
    let set = [
        ("placed", Value::Choice("inputs".into())),
        ("culprit", Value::Choice("two-samples".into())),
        ("sample_base", Value::Size(Bytes::new(1))),
        ("set_point", Value::Size(Bytes::new(100))),
    ];
    let input_queued = |queueing: Queueing| SwitchSpec {
        queueing,
        crossbar: (queueing != Queueing::Output).then(Crossbar::default),
        congestion_point: Some(CongestionPointSpec::point(qcn(&set))),
        ..switch(ClassBuffer::drop_tail(Bytes::new(10_000_000)), FlowControl::None)
    };
    let fifo = Queueing::InputFifo { bypass: 4, reading: BypassReading::Lookahead };
    for queueing in [Queueing::Output, Queueing::VirtualOutput, fifo] {
        let mut spec = network(graph.clone(), input_queued(queueing), lossy());
        spec.flows = vec![greedy(0, 2, 1500), greedy(0, 3, 1500), greedy(1, 2, 1500), greedy(1, 3, 1500)].into();
        let run = |shuffle: Option<u64>| {
            let options = BuildOptions { partition: Partition::One, shards: 1, shuffle };
            let mut simulation = Simulation::build(&spec, &options).unwrap();
            let report = simulation.run(&RunLimits::until(at(Span::from_micros(300))));
            assert!(report.totals.notices > 200, "{:?}", report.totals);
            (report.fingerprint, report.totals, simulation.flows())
        };
        let one = run(None);
        (0..6).for_each(|seed| assert_eq!(one, run(Some(seed)), "{queueing:?}"));
    }
}

#[test]
fn classes_share_by_the_frames_that_go_not_by_the_oldest() {
    // Class 0 has a long queue for one destination and a single short frame for another, which is always the oldest and
    // never the one that goes.
    let cable = link(10, Span::from_nanos(50));
    let graph = fabric::topology::dumbbell(3, 3, cable, cable).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.classes.push(lossless());
    spec.switches[0].buffer =
        Buffer::Static(vec![ClassBuffer::lossless(Bytes::new(200_000), Bytes::new(50_000), Bytes::new(40_000)); 2]);
    spec.switches[0].order = Order::Longest;
    spec.switches[0].egress = Egress::weighted(&[Bytes::new(3_000); 2]);
    let short = FlowSpec { size: Some(Bytes::new(64)), start: at(Span::from_micros(100)), ..greedy(2, 5, 64) };
    spec.flows = vec![greedy(0, 3, 1500), FlowSpec { class: 1, ..greedy(1, 4, 1500) }, short].into();
    let (simulation, report) = run(&spec, Span::from_millis(5));
    assert_eq!(report.outcome, Outcome::Finished);
    let flows = simulation.flows();
    assert_eq!(flows[2].received_frames, 0);
    let share = flows[0].received_bytes as f64 / (flows[0].received_bytes + flows[1].received_bytes) as f64;
    assert!((0.49..0.51).contains(&share), "{share}");
}

#[test]
fn notices_find_another_way_when_routes_change() {
    let mut waited = 0;
    for spine in 0..2 {
        let graph =
            fabric::topology::leaf_spine(2, 2, 2, fabric::topology::Links::same(link(10, Span::from_nanos(500))));
        let set = [("set_point", Value::Size(Bytes::new(100))), ("sample_base", Value::Size(Bytes::new(3_000)))];
        let watched = SwitchSpec { congestion_point: Some(CongestionPointSpec::point(qcn(&set))), ..pfc_switch() };
        let mut spec = network(graph.unwrap(), watched, lossless());
        let names: Vec<&str> = spec.graph.nodes.iter().map(|node| node.name.as_str()).collect();
        let (leaf, spine) = ("leaf1", format!("spine{spine}"));
        let joins = |a: &str, b: &str| a == leaf && b == spine || a == spine && b == leaf;
        let ends = |cable: &fabric::graph::Cable| [cable.a, cable.b].map(|end| names[end.0 as usize]);
        let cut = spec.graph.cables.iter().position(|cable| joins(ends(cable)[0], ends(cable)[1])).unwrap() as u32;
        spec.faults = vec![Fault { cable: cut, down: at(Span::from_micros(50)), up: None }];
        let routes = fabric::routing::Routes::without_links(&spec.graph, &[cut]);
        spec.route_changes = vec![RouteChange::everywhere(at(Span::from_micros(150)), routes)];
        // Two hosts of the other leaf and one of this one send to one host of this leaf.
        let flow = |from: u32| {
            greedy(from, 2, 1500).with(|it| {
                it.stop = Some(at(Span::from_micros(300)));
            })
        };
        spec.flows = [0, 1, 3].map(flow).to_vec().into();
        let mut simulation = Simulation::build(&spec, &BuildOptions::default()).unwrap();
        simulation.run(&RunLimits::until(at(Span::from_micros(149))));
        waited += simulation.census().control;
        let report = simulation.run(&RunLimits::until(at(Span::from_millis(5))));
        assert_eq!(report.outcome, Outcome::Finished);
        assert_eq!(simulation.census().places, 0);
        let told: u64 = simulation.flows().iter().map(|flow| flow.notices).sum();
        assert_eq!(told + report.totals.lost_control, report.totals.notices);
    }
    assert!(waited > 5, "{waited}");
}
