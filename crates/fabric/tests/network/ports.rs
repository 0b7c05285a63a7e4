//! Ports of one kind that are set otherwise: PFC on or off, other shares.

use crate::kit::*;
use fabric::graph::NodeId;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::{Outcome, RunSummary};
use units::{Bytes, Span};

/// The number of a node's port towards another.
fn port_towards(spec: &NetworkSpec, node: &str, peer: &str) -> (NodeId, u16) {
    let (node, peer) = (spec.graph.find(node).unwrap(), spec.graph.find(peer).unwrap());
    let port = spec.graph.ports()[node.0 as usize].iter().position(|end| end.peer == peer).unwrap();
    (node, port as u16)
}

fn set(spec: &mut NetworkSpec, node: &str, peer: &str, pfc: u8, egress: Option<Egress>) {
    let (node, port) = port_towards(spec, node, peer);
    spec.ports.push(PortSpec { pfc, egress, ..PortSpec::plain(node, port) });
}

/// Two hosts behind sw0 and one behind sw1 send to the other host of sw1: sw1 holds back sw0, and sw0 its hosts.
fn two_to_one() -> NetworkSpec {
    let graph = topology::chain(2, 2, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows = vec![greedy(0, 3, 1000), greedy(1, 3, 1000), greedy(2, 3, 1000)].into();
    spec
}

fn loss(report: RunSummary) -> fabric::LossDetails {
    let Outcome::LossInLosslessClass(loss) = report.outcome else { panic!("{:?}", report.outcome) };
    loss
}

#[test]
fn agreeing_ports_change_nothing() {
    let plain = run(&two_to_one(), Span::from_millis(5));
    let mut spec = two_to_one();
    for (node, peer) in [("sw0", "sw1"), ("sw1", "sw0"), ("sw0", "h0"), ("h0", "sw0")] {
        set(&mut spec, node, peer, 1, Some(Egress::Strict));
    }
    let same = run(&spec, Span::from_millis(5));
    assert_eq!(same.1.outcome, Outcome::Finished);
    assert_eq!(same.0.fingerprint(), plain.0.fingerprint());
}

/// Off at the receiver: nobody is told to stop. Off at the sender: it is told and goes on. Both end in a loss at the same
/// port, and the end that has it off is named.
#[test]
fn pfc_off_at_one_end_loses_and_the_end_is_named() {
    let mut receiver = two_to_one();
    set(&mut receiver, "sw1", "sw0", 0, None);
    let lost = loss(run(&receiver, Span::from_millis(5)).1);
    assert_eq!((lost.node.as_str(), lost.sender.as_str(), lost.pauses, lost.obeyed), ("sw1", "sw0", false, true));
    assert!(!lost.loss.stopped);
    assert!(lost.to_string().contains("PFC for class 0 is off at sw1 port"), "{lost}");
    let mut sender = two_to_one();
    set(&mut sender, "sw0", "sw1", 0, None);
    let (simulation, report) = run(&sender, Span::from_millis(5));
    let pauses = simulation.totals().pause_frames;
    let lost = loss(report);
    assert_eq!((lost.node.as_str(), lost.sender.as_str(), lost.pauses, lost.obeyed), ("sw1", "sw0", true, false));
    assert!(lost.loss.stopped && pauses > 0);
    assert!(lost.to_string().contains("PFC for class 0 is off at sw0"), "{lost}");
    // h2 obeys and holds about its XOFF, h = 50 kB, of sw1's output queue, so h/(h + x) of the link leaves to it, and x,
    // what came from sw0, grows by as much: (h x + x^2/2) / (h rate) until the 200 kB are full.
    let (held, full, rate) = (50e3, 200e3, 10e9 / 8.0);
    let fills = (held * full + full * full / 2.0) / (held * rate);
    let at = lost.loss.at.as_secs_f64();
    assert!((at / fills - 1.0).abs() < 0.1, "{at} against {fills}");
}

/// Where nothing comes that could fill a buffer, PFC that is off costs nothing.
#[test]
fn a_port_without_pfc_that_is_not_congested_loses_nothing() {
    let mut spec = two_to_one();
    set(&mut spec, "sw1", "h3", 0, None);
    set(&mut spec, "h3", "sw1", 0, None);
    assert_eq!(run(&spec, Span::from_millis(5)).1.outcome, Outcome::Finished);
}

/// The same with a shared buffer and with queues at the inputs.
#[test]
fn other_switches_lose_likewise() {
    let mut shared = two_to_one();
    let classes = vec![ClassBuffer {
        capacity: Bytes::new(2_000),
        xoff: Bytes::ZERO,
        xon: Bytes::new(2_000),
        headroom: Bytes::new(30_000),
        ..ClassBuffer::UNLIMITED
    }];
    shared.switches[0].buffer = Buffer::Shared { total: Bytes::new(300_000), alpha: (1, 2), classes };
    let mut inputs = two_to_one();
    inputs.switches[0].queueing = Queueing::VirtualOutput;
    inputs.switches[0].crossbar = Some(Crossbar::default());
    for mut spec in [shared, inputs] {
        assert_eq!(run(&spec, Span::from_millis(5)).1.outcome, Outcome::Finished);
        set(&mut spec, "sw1", "sw0", 0, None);
        let lost = loss(run(&spec, Span::from_millis(5)).1);
        assert_eq!((lost.node.as_str(), lost.pauses), ("sw1", false));
    }
}

/// PAUSE of a whole link is not PFC: no port can switch it off.
#[test]
fn pause_of_the_link_is_obeyed_all_the_same() {
    let mut spec = two_to_one();
    spec.switches[0].flow_control = FlowControl::Pause(PauseSpec::default());
    for (node, peer) in [("sw0", "sw1"), ("h0", "sw0"), ("h1", "sw0")] {
        set(&mut spec, node, peer, 0, None);
    }
    assert_eq!(run(&spec, Span::from_millis(5)).1.outcome, Outcome::Finished);
}

/// One class is switched off at a cable: it is lost there, the other is held back as before.
#[test]
fn each_class_has_its_own_switch() {
    let mut spec = two_to_one();
    spec.classes.push(lossless());
    let Buffer::Static(buffers) = &mut spec.switches[0].buffer else { panic!("static") };
    buffers.push(buffers[0]);
    spec.flows[0].class = 1;
    spec.switches[0].egress = Egress::weighted(&[Bytes::new(3_000); 2]);
    assert_eq!(run(&spec, Span::from_millis(5)).1.outcome, Outcome::Finished);
    set(&mut spec, "sw1", "sw0", 0b10, None);
    assert_eq!(loss(run(&spec, Span::from_millis(5)).1).loss.class, 0);
    spec.ports[0].pfc = 0b01;
    assert_eq!(loss(run(&spec, Span::from_millis(5)).1).loss.class, 1);
}

/// Two outputs of one switch with shares of their own, at once.
#[test]
fn outputs_of_a_switch_share_each_in_its_own_way() {
    let graph = topology::single_switch(6, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.classes.push(lossless());
    let Buffer::Static(buffers) = &mut spec.switches[0].buffer else { panic!("static") };
    buffers.push(buffers[0]);
    spec.flows = vec![greedy(0, 4, 1000), greedy(1, 4, 1000), greedy(2, 5, 1000), greedy(3, 5, 1000)].into();
    (spec.flows[1].class, spec.flows[3].class) = (1, 1);
    let shares = |first, second| Some(Egress::weighted(&[Bytes::new(first), Bytes::new(second)]));
    set(&mut spec, "sw0", "h4", 0b11, shares(3_060, 1_020));
    set(&mut spec, "sw0", "h5", 0b11, shares(1_020, 4_080));
    let (simulation, report) = run(&spec, Span::from_millis(10));
    assert_eq!(report.outcome, Outcome::Finished);
    let bytes: Vec<f64> = simulation.flows().iter().map(|flow| flow.received_bytes as f64).collect();
    assert!((bytes[0] / bytes[1] - 3.0).abs() < 0.02, "{bytes:?}");
    assert!((bytes[3] / bytes[2] - 4.0).abs() < 0.02, "{bytes:?}");
}

/// The network of `two_to_one` with a shared memory, and the buffer of its one class.
fn two_to_one_shared() -> (NetworkSpec, ClassBuffer) {
    let mut spec = two_to_one();
    let class = ClassBuffer {
        capacity: Bytes::new(2_000),
        xon: Bytes::new(2_000),
        headroom: Bytes::new(30_000),
        ..ClassBuffer::UNLIMITED
    };
    spec.switches[0].buffer = Buffer::Shared { total: Bytes::new(300_000), alpha: (1, 2), classes: vec![class] };
    (spec, class)
}

fn set_buffers(spec: &mut NetworkSpec, node: &str, peer: &str, buffers: Vec<ClassBuffer>) {
    set(spec, node, peer, u8::MAX, None);
    spec.ports.last_mut().unwrap().buffers = Some(buffers);
}

/// A port with too little headroom loses; the same buffer as that of its switch changes nothing, and more headroom neither,
/// because what is not needed is not used.
#[test]
fn a_port_has_headroom_of_its_own() {
    let (plain, class) = two_to_one_shared();
    let fingerprint = run(&plain, Span::from_millis(5)).0.fingerprint();
    for headroom in [30_000, 60_000] {
        let mut spec = plain.clone();
        let own = ClassBuffer { headroom: Bytes::new(headroom), ..class };
        set_buffers(&mut spec, "sw1", "sw0", vec![own]);
        let (simulation, report) = run(&spec, Span::from_millis(5));
        assert_eq!((report.outcome, simulation.fingerprint()), (Outcome::Finished, fingerprint));
    }
    let mut spec = plain;
    set_buffers(&mut spec, "sw1", "sw0", vec![ClassBuffer { headroom: Bytes::new(1_500), ..class }]);
    let lost = loss(run(&spec, Span::from_millis(5)).1);
    assert_eq!((lost.node.as_str(), lost.sender.as_str(), lost.pauses), ("sw1", "sw0", true));
}

#[test]
fn buffers_of_ports_are_refused_where_they_have_no_place() {
    let (plain, class) = two_to_one_shared();
    let refused = |node: &str, peer: &str, buffers: Vec<ClassBuffer>, words: &str| {
        let mut spec = plain.clone();
        set_buffers(&mut spec, node, peer, buffers);
        let errors = fabric::Simulation::build(&spec, &fabric::BuildOptions::default()).map(drop).unwrap_err();
        assert!(errors.to_string().contains(words), "{errors}");
    };
    refused("h0", "sw0", vec![class], "h0 is not a switch");
    refused("sw0", "h0", vec![class, class], "give one buffer per class");
    refused("sw0", "h0", vec![ClassBuffer { alpha: Some((0, 1)), ..class }], "an alpha of zero");
}

/// Ten frames at once for one output of a shared memory of 40 kB: alpha of the class and its static limit decide how many
/// find room. With alpha 1/4 a queue of q fits if q <= (40 - q) / 4, so q <= 8; with 1 all fit.
#[test]
fn a_class_has_an_alpha_and_a_limit_of_its_own() {
    let none = ClassBuffer::UNLIMITED.limit;
    for (alpha, limit, fit) in
        [(None, none, 10), (Some((1, 4)), none, 8), (None, Bytes::new(3_000), 3), (Some((1, 4)), Bytes::new(9_000), 8)]
    {
        let graph = topology::single_switch(11, link(10, Span::from_nanos(10))).unwrap();
        let class = ClassBuffer { alpha, limit, ..ClassBuffer::drop_tail(Bytes::ZERO) };
        let mut spec = network(graph, switch(class, FlowControl::None), lossy());
        spec.switches[0].buffer = Buffer::Shared { total: Bytes::new(40_000), alpha: (1, 1), classes: vec![class] };
        let frame = |from| fabric::workload::FlowSpec { size: Some(Bytes::new(1000)), ..greedy(from, 0, 1000) };
        spec.flows = (1..11).map(frame).collect();
        let totals = run(&spec, Span::from_micros(100)).0.totals();
        assert_eq!((totals.delivered_frames, totals.dropped_frames), (fit, 10 - fit), "{alpha:?}, {limit}");
    }
}
