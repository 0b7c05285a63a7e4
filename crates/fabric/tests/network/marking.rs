//! Marking and source response: two switches with input buffers, ten local and ten remote flows to one host, and a
//! victim that shares their cable (HPL-2002-224, figure 1 and table I).

use crate::kit::*;
use crate::observed::{AnyProbe, Observed};
use congestion::parameter::{Value, Values};
use congestion::{POINTS, PROTOCOLS, Point, Reaction};
use fabric::graph::{Graph, LinkSpec, Role};
use fabric::routing::Routes;
use fabric::spec::*;
use fabric::topology;
use fabric::workload::{Acknowledge, FlowSpec};
use fabric::{BuildOptions, Frame, Kind, Outcome, Partition, Probe, RunLimits, RunSummary, Simulation};
use std::collections::BTreeSet;
use units::{Bytes, Rate, Span, Time};

const FRAME: u64 = 2068;
const LOCAL: std::ops::Range<usize> = 0..10;
const REMOTE: std::ops::Range<usize> = 10..20;
const VICTIM: usize = 20;
const MARKINGS: [&str; 3] = ["naive", "input-triggered", "input-output-triggered"];

fn point(name: &str, given: &[(&'static str, Value)]) -> Point {
    let info = POINTS.iter().find(|info| info.name == name).unwrap();
    let values = Values::defaults(info.parameters);
    (info.build)(&given.iter().fold(values, |values, (name, value)| values.with(name, value.clone()))).unwrap()
}

fn protocol(name: &str, given: &[(&'static str, Value)]) -> Reaction {
    let info = PROTOCOLS.iter().find(|info| info.name == name).unwrap();
    let values = Values::defaults(info.parameters);
    (info.build)(&given.iter().fold(values, |values, (name, value)| values.with(name, value.clone()))).unwrap()
}

/// One packet on its way at a time, and no reaction.
fn uncontrolled() -> Reaction {
    protocol("none", &[("window", Value::Size(Bytes::new(FRAME)))])
}

/// Input buffers of four packets and cut-through, as in table I; acknowledgements have room of their own.
fn input_buffered(congestion: Option<Point>) -> SwitchSpec {
    let slots_of = |frames| ClassBuffer::drop_tail(Bytes::new(frames));
    SwitchSpec {
        queueing: Queueing::InputFifo { bypass: 4, reading: BypassReading::Lookahead },
        buffer: Buffer::Static(vec![slots_of(4), slots_of(64)]),
        crossbar: Some(Crossbar { arbitration: Arbitration::ArrivalOrder, read_ports: 0, speedup: (1, 1) }),
        forwarding: Forwarding::CutThrough { header_delay: Span::from_nanos(40) },
        congestion_point: congestion.map(CongestionPointSpec::point),
        ..switch(slots_of(4), slots(Span::from_nanos(20)))
    }
}

/// The network of figure 1. Flows start 20 us apart, so that a few milliseconds are enough.
fn two_switches(latency: Span, reaction: &Reaction, congestion: Option<Point>) -> NetworkSpec {
    let mut graph = Graph::default();
    let (a, b) = (graph.node("a", Role::Switch, 1), graph.node("b", Role::Switch, 1));
    let cable = LinkSpec { rate: Rate::from_gigabits(8), latency, bit_error_rate: 0.0 };
    graph.cable(a, b, cable);
    let mut host = |name: String, switch| {
        let id = graph.node(name, Role::Host, 0);
        graph.cable(id, switch, cable);
    };
    (1..=10).for_each(|n| host(format!("a{n}"), a));
    (1..=10).for_each(|n| host(format!("b{n}"), b));
    host("av".into(), a);
    host("bv".into(), b);
    host("bc".into(), b);
    let mut spec = network(graph, input_buffered(congestion), lossless());
    spec.classes = vec![lossless(), lossless()];
    (spec.overhead, spec.smallest_frame) = (Bytes::ZERO, Bytes::new(20));
    let flow = |from, to, order: u64| {
        FlowSpec {
            // Some tens of nanoseconds keep the flows from running in step.
            start: at(Span::from_micros(20) * order + Span::from_nanos(order * order * 37 % 100)),
            ..greedy(from, to, FRAME)
        }
        .with(|it| {
            it.acknowledge = Some(Acknowledge { size: Bytes::new(20), class: 1, every: 1, delay: None });
            it.reaction = reaction.clone();
        })
    };
    spec.flows.extend((0..10).map(|n| flow(10 + n, 22, u64::from(n))));
    spec.flows.extend((0..10).map(|n| flow(n, 22, 10 + u64::from(n))));
    spec.flows.push(flow(20, 21, 20));
    spec
}

fn one_by_default(spec: &NetworkSpec) -> Observed<Echoes> {
    Observed::build(spec, &BuildOptions::default(), |_| Echoes::default()).expect("a sound network")
}

/// Parts of a link: local flows together, remote flows together, the victim.
fn shares(simulation: &mut Simulation<AnyProbe>, from: Span, until: Span) -> [f64; 3] {
    let mut received = |until| {
        let report = simulation.run(&RunLimits::until(at(until)));
        assert_eq!(report.outcome, Outcome::Finished);
        simulation.flows().iter().map(|flow| flow.received_bytes).collect::<Vec<_>>()
    };
    let (before, after) = (received(from), received(until));
    let bytes = (until - from).as_secs_f64() * 1e9;
    [LOCAL, REMOTE, VICTIM..VICTIM + 1].map(|flows| flows.map(|n| after[n] - before[n]).sum::<u64>() as f64 / bytes)
}

/// Which frames came marked, and whether their acknowledgements say so all the way back.
#[derive(Default)]
struct Echoes {
    marked: BTreeSet<(u32, u32)>,
    /// Transmissions of acknowledgements, at any hop.
    seen: u64,
    wrong: u64,
}

impl Probe for Echoes {
    fn on_deliver(&mut self, _now: Time, _host: u32, frame: &Frame) {
        if frame.is_marked() {
            self.marked.insert((frame.flow, frame.seq()));
        }
    }

    fn on_transmit(&mut self, _now: Time, _port: u32, frame: &Frame, _waited: Span, _busy: Span) {
        if frame.kind == Kind::Acknowledgement {
            let expected = self.marked.contains(&(frame.flow, frame.seq()));
            self.seen += 1;
            self.wrong += u64::from(frame.is_marked() != expected);
        }
    }
}

/// Nothing is made or lost in secret.
fn nothing_is_missing(simulation: &Simulation<impl Probe>) {
    let (totals, census) = (simulation.totals(), simulation.census());
    let gone = totals.delivered_frames
        + totals.dropped_frames
        + totals.trimmed_frames
        + totals.lost_frames
        + totals.discarded_frames;
    assert_eq!(totals.made_frames, gone + census.frames);
    assert_eq!(census.places, census.frames + census.control, "a frame was forgotten");
}

#[test]
fn without_control_congestion_spreads_as_the_paper_has_it() {
    let mut simulation = one_by_default(&two_switches(Span::ZERO, &uncontrolled(), None));
    let [local, remote, victim] = shares(&mut simulation, Span::from_millis(2), Span::from_millis(12));
    assert!((victim - 0.04).abs() < 0.003, "victim {victim}");
    assert!((remote + victim - 0.325).abs() < 0.01, "the cable between the switches: {}", remote + victim);
    assert!(local + remote > 0.99, "the root link: {}", local + remote);
    assert_eq!(simulation.totals().marked_frames, 0);
    nothing_is_missing(&simulation);
}

#[test]
fn marking_frees_the_victim() {
    for name in MARKINGS {
        let spec = two_switches(Span::ZERO, &protocol("lipd", &[]), Some(point(name, &[])));
        let mut simulation = one_by_default(&spec);
        let [local, remote, victim] = shares(&mut simulation, Span::from_millis(4), Span::from_millis(14));
        assert!(victim > 0.3, "{name}: victim {victim}");
        if name == "naive" {
            assert!(local / (local + remote) >= 0.85, "local flows are hardly marked: {local} and {remote}");
        }
        nothing_is_missing(&simulation);
    }
}

#[test]
fn all_laws_and_fecn_free_the_victim() {
    // Nearly four packets, each marked, and a table of coarse steps: what is fast in this network.
    let queue = || ("queue", Value::Size(Bytes::new(7755)));
    let eager = || vec![queue(), ("marking_rate", Value::Count(0))];
    let coarse = || {
        let table = ("table", Value::Choice("linear".into()));
        vec![("slope", Value::Number(1.0)), table, ("timer", Value::Count(150))]
    };
    // The defaults take longer to bring twenty flows down.
    let (early, late) = ((10, 40), (60, 90));
    for (law, of_law, name, of_point, (from, until)) in [
        ("fimd", vec![], "input-triggered", vec![], early),
        ("aimd", vec![], "input-triggered", vec![], early),
        ("infiniband-cc", coarse(), "infiniband-fecn", eager(), early),
        ("lipd", vec![], "infiniband-fecn", eager(), early),
        ("infiniband-cc", vec![], "infiniband-fecn", vec![], late),
    ] {
        let spec = two_switches(Span::ZERO, &protocol(law, &of_law), Some(point(name, &of_point)));
        let mut simulation = one_by_default(&spec);
        let [_, _, victim] = shares(&mut simulation, Span::from_millis(from), Span::from_millis(until));
        assert!(victim > 0.3, "{law} with {name}: victim {victim}");
        nothing_is_missing(&simulation);
    }
}

#[test]
fn only_data_is_marked_and_every_mark_is_echoed() {
    for name in MARKINGS {
        let spec = two_switches(Span::ZERO, &protocol("lipd", &[]), Some(point(name, &[])));
        let mut simulation = one_by_default(&spec);
        shares(&mut simulation, Span::from_millis(1), Span::from_millis(5));
        let received: u64 = simulation.flows().iter().map(|flow| flow.marked_frames).sum();
        let put = simulation.totals().marked_frames;
        assert!(received > 100, "{name}: {received}");
        // A frame may be marked twice, and a few are on their way.
        assert!(put >= received, "{name}: {put} put, {received} received");
        let echoes = simulation.probes_mut().next().unwrap();
        assert_eq!(echoes.marked.len() as u64, received);
        assert!(echoes.seen > 1000);
        assert_eq!(echoes.wrong, 0, "{name}: an acknowledgement is marked if and only if its frame was");
    }
}

/// With acknowledgements far apart, only marked frames are answered: BECN in packets of their own.
#[test]
fn becn_may_come_in_its_own_packets() {
    let reaction = protocol("infiniband-cc", &[]);
    let mut spec = two_switches(Span::ZERO, &reaction, Some(point("infiniband-fecn", &[])));
    for flow in &mut spec.flows {
        flow.acknowledge = Some(Acknowledge { size: Bytes::new(20), class: 1, every: u32::MAX, delay: None });
    }
    let (simulation, report) = run(&spec, Span::from_millis(5));
    let marked: u64 = simulation.flows().iter().map(|flow| flow.marked_frames).sum();
    assert!(marked > 20, "{marked}");
    assert_eq!(report.totals.acknowledgements, marked);
    assert!(marked < report.totals.delivered_frames);
}

fn report(spec: &NetworkSpec, options: (Partition, usize, Option<u64>), threads: usize) -> (usize, RunSummary) {
    let (partition, shards, shuffle) = options;
    let options = BuildOptions { partition, shards, shuffle };
    let mut simulation = Simulation::build(spec, &options).unwrap();
    let limits = RunLimits { threads, ..RunLimits::until(at(Span::from_micros(800))) };
    let report = simulation.run(&limits);
    (simulation.shards(), report)
}

#[test]
fn marking_is_the_same_everywhere() {
    let schemes = MARKINGS.map(|name| ("lipd", name)).into_iter().chain([("infiniband-cc", "infiniband-fecn")]);
    for (law, name) in schemes {
        // Cables of no length are never cut.
        for (latency, cut) in [(Span::from_nanos(10), true), (Span::ZERO, false)] {
            // A lane's every packet, so that there are enough in so short a time.
            let given = if name == "infiniband-fecn" { vec![("marking_rate", Value::Count(0))] } else { vec![] };
            let spec = two_switches(latency, &protocol(law, &[]), Some(point(name, &given)));
            let (_, expected) = report(&spec, (Partition::One, 1, None), 1);
            assert!(expected.totals.marked_frames > 50, "{name}: {:?}", expected.totals);
            let variants = [
                ((Partition::One, 1, Some(1)), 1),
                ((Partition::Natural, 2, None), 2),
                ((Partition::Natural, 3, None), 1),
                ((Partition::Random { seed: 5 }, 2, Some(2)), 1),
                ((Partition::Random { seed: 6 }, 3, Some(3)), 1),
            ];
            for (options, threads) in variants {
                let what = format!("{name}, {options:?}");
                let shards = options.1;
                let (count, found) = report(&spec, options, threads);
                assert_eq!(count > 1, cut && shards > 1, "{what}");
                assert_eq!((found.fingerprint, found.totals), (expected.fingerprint, expected.totals), "{what}");
            }
        }
    }
}

/// The last sample of every flow's rate.
#[derive(Default)]
struct Rates(Vec<Option<u64>>);

impl Probe for Rates {
    fn sample_every(&self) -> Option<Span> {
        Some(Span::from_micros(10))
    }

    fn on_rate(&mut self, _now: Time, flow: u32, rate: Option<u64>, _window: Option<u64>) {
        self.0.resize(self.0.len().max(flow as usize + 1), None);
        self.0[flow as usize] = rate;
    }
}

/// Two flows of one host, one of them to a congested host: the index may be each one's own or that of all.
#[test]
fn an_index_belongs_to_a_flow_or_to_a_class() {
    for scope in ["qp", "sl"] {
        let graph = topology::single_switch(5, link(10, Span::from_nanos(100))).unwrap();
        let mut spec = network(graph, pfc_switch(), lossless());
        spec.switches[0].congestion_point = Some(CongestionPointSpec::point(point("infiniband-fecn", &[])));
        let reaction = protocol("infiniband-cc", &[("scope", Value::Choice(scope.into()))]);
        let acknowledge = Some(Acknowledge { size: Bytes::new(64), class: 0, every: 1, delay: None });
        let flow = |from, to| {
            greedy(from, to, 1000).with(|it| {
                it.reaction = reaction.clone();
                it.acknowledge = acknowledge;
            })
        };
        // Only host 2 has two senders; host 4 is another adapter, whose index is its own in any scope.
        spec.flows = vec![flow(0, 2), flow(0, 3), greedy(1, 2, 1000), flow(4, 1)].into();
        let (mut simulation, _) = run_with(&spec, Span::from_millis(1), |_| Rates::default());
        let marked: Vec<u64> = simulation.flows().iter().map(|flow| flow.marked_frames).collect();
        assert!(marked[0] > 5 && marked[1] == 0, "{scope}: {marked:?}");
        let rates = &simulation.probes_mut().next().unwrap().0;
        assert!(rates[0].is_some(), "the marked flow is slowed");
        assert_eq!(rates[1], if scope == "sl" { rates[0] } else { None }, "{scope}");
        assert_eq!(rates[3], None, "{scope}: another host");
    }
}

/// The frames that wait for a cable that fails find another: what is counted for the congestion point follows them.
#[test]
fn counts_survive_a_change_of_routes() {
    for queueing in [
        Queueing::InputFifo { bypass: 4, reading: BypassReading::Lookahead },
        Queueing::InputFifo { bypass: 2, reading: BypassReading::PerPacket },
        Queueing::VirtualOutput,
    ] {
        for name in MARKINGS.into_iter().chain(["infiniband-fecn"]) {
            let mut graph = Graph::default();
            let (a, b) = (graph.node("a", Role::Switch, 1), graph.node("b", Role::Switch, 1));
            let cable = link(8, Span::from_nanos(10));
            (0..2).for_each(|_| graph.cable(a, b, cable));
            for n in 0..8 {
                let id = graph.node(format!("h{n}"), Role::Host, 0);
                graph.cable(id, if n < 4 { a } else { b }, cable);
            }
            // The frame on the wire counts: a packet alone is not above one.
            let given = if name == MARKINGS[2] { vec![("threshold", Value::Count(1))] } else { vec![] };
            let kind = SwitchSpec { queueing, ..input_buffered(Some(point(name, &given))) };
            let [first, second] = [1, 0].map(|other| Routes::without_links(&graph, &[other]));
            let mut spec = network(graph, kind, lossless());
            spec.classes = vec![lossless(), lossless()];
            spec.routes = first.clone();
            let us = Span::from_micros;
            spec.faults = vec![
                Fault { cable: 0, down: at(us(100)), up: Some(at(us(250))) },
                Fault { cable: 1, down: at(us(300)), up: Some(at(us(500))) },
                Fault { cable: 0, down: at(us(450)), up: Some(at(us(2_000))) },
            ];
            let changes = [(150, &second), (350, &first), (520, &second), (2_500, &first)];
            spec.route_changes =
                changes.map(|(micros, routes)| RouteChange::everywhere(at(us(micros)), routes.clone())).into();
            let bulk = |from, to| FlowSpec { size: Some(Bytes::new(60 * FRAME)), ..greedy(from, to, FRAME) };
            spec.flows = (0..4).flat_map(|from| [bulk(from, 4 + from % 2), bulk(from, 4)]).collect();
            // When all is over, one packet at a time: it meets nobody, so nothing is owed to it.
            spec.flows.push(FlowSpec { start: at(Span::from_millis(3)), ..bulk(1, 7) }.with(|it| {
                it.reaction = uncontrolled();
                it.acknowledge = Some(Acknowledge { size: Bytes::new(64), class: 1, every: 1, delay: None });
            }));
            let (simulation, report) = run(&spec, Span::from_millis(10));
            assert_eq!(report.outcome, Outcome::Finished, "{name}, {queueing:?}");
            nothing_is_missing(&simulation);
            assert_eq!(simulation.census(), fabric::Census::default(), "{name}, {queueing:?}");
            let flows = simulation.flows();
            assert!(report.totals.marked_frames > 20, "{name}, {queueing:?}: {:?}", report.totals);
            let last = flows.last().unwrap();
            assert_eq!((last.received_frames, last.marked_frames), (60, 0), "{name}, {queueing:?}");
        }
    }
}

/// Behind a slow receiver a switch that has no credits sends one packet at a time. It is never the root, not even while
/// that packet is on the wire.
#[test]
fn an_output_that_has_spent_its_credits_is_blocked() {
    let graph = topology::chain(2, 2, topology::Links::same(link(8, Span::from_nanos(10)))).unwrap();
    let one = ClassBuffer::drop_tail(Bytes::new(1));
    let victims = [("victims", Value::Choice("none".into())), ("queue", Value::Size(Bytes::new(3 * FRAME)))];
    let mut spec = network(graph, input_buffered(Some(point("infiniband-fecn", &victims))), lossless());
    spec.switches[0].buffer = Buffer::Static(vec![ClassBuffer::drop_tail(Bytes::new(1000))]);
    spec.switches.push(SwitchSpec { buffer: Buffer::Static(vec![one]), ..input_buffered(None) });
    let control = slots(Span::from_nanos(20));
    let slow = Some(Rate::from_gigabits(4));
    spec.adapters.push(AdapterSpec { flow_control: control, buffer: vec![one], service: slow, ..Default::default() });
    for (place, node) in spec.graph.nodes.iter().enumerate() {
        let ends = spec.graph.ports();
        let second = spec.graph.find("sw1").unwrap();
        let far = node.role == Role::Host && ends[place][0].peer == second;
        spec.kind_of[place] = u32::from(far || node.name == "sw1");
    }
    let rate = Rate::from_megabits(2500);
    let pattern = fabric::workload::Pattern::Paced { rate, gaps: fabric::workload::Gaps::Exponential, backlog: None };
    spec.flows = vec![0, 1]
        .into_iter()
        .map(|from| {
            greedy(from, 2, FRAME).with(|it| {
                it.pattern = pattern;
            })
        })
        .collect();
    let (simulation, report) = run(&spec, Span::from_millis(3));
    assert!(report.totals.delivered_frames > 400 && simulation.census().frames > 100, "{:?}", report.totals);
    assert_eq!(report.totals.marked_frames, 0);
}

/// In a class that may drop, a buffer is full when it has no room for a frame, not when its last byte is used.
#[test]
fn lossy_buffers_fill_too() {
    let graph = topology::single_switch(4, link(10, Span::from_nanos(100))).unwrap();
    let mut spec = network(graph, input_buffered(Some(point("naive", &[]))), lossy());
    spec.switches[0].buffer = Buffer::Static(vec![ClassBuffer::drop_tail(Bytes::new(10_000))]);
    spec.switches[0].flow_control = FlowControl::None;
    spec.flows = (1..4).map(|from| greedy(from, 0, 1500)).collect();
    let (_, report) = run(&spec, Span::from_millis(1));
    assert!(report.totals.dropped_frames > 100, "{:?}", report.totals);
    assert!(report.totals.marked_frames > 100, "{:?}", report.totals);
}

#[test]
fn input_buffers_are_watched_where_frames_join_them_at_once() {
    let mut spec = two_switches(Span::ZERO, &uncontrolled(), Some(point("naive", &[])));
    spec.switches[0].pipeline = Span::from_nanos(100);
    let Err(errors) = Simulation::build(&spec, &BuildOptions::default()) else { panic!("it was built") };
    assert!(errors.iter().any(|error| error.to_string().contains("pipeline")), "{errors:?}");
    // What only looks at outputs may have one.
    spec.switches[0].congestion_point = Some(CongestionPointSpec::point(point("infiniband-fecn", &[])));
    assert!(Simulation::build(&spec, &BuildOptions::default()).is_ok());
}
