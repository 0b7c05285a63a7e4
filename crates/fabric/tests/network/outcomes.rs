//! How runs end, and who is named for it.

use crate::kit::*;
use congestion::parameter::{Value, Values};
use fabric::graph::HostId;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::transport::RECOVERIES;
use fabric::workload::{self, Acknowledge, FlowSpec};
use fabric::{BuildOptions, Limit, Outcome, RunLimits, Simulation, StallCause};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::{Bytes, Rate, Span, Time};

#[test]
fn a_ring_under_pfc_deadlocks_and_the_circle_is_named() {
    let buffer = ClassBuffer::lossless(Bytes::new(100_000), Bytes::new(20_000), Bytes::new(10_000));
    for control in [pfc(), FlowControl::Pause(PauseSpec::default())] {
        let (_, report) = run(&clockwise_ring(5, Span::from_nanos(500), control, buffer), Span::from_millis(20));
        let Outcome::Deadlock(deadlock) = report.outcome else { panic!("{control:?}: {:?}", report.outcome) };
        assert_eq!(deadlock.cycle.len(), 5, "{deadlock}");
        assert!(deadlock.at < at(Span::from_millis(2)), "found late: {}", deadlock.at);
        assert!(deadlock.cycle.iter().all(|waiting| !waiting.flows.is_empty()));
        let mut names: Vec<_> = deadlock.cycle.iter().map(|waiting| waiting.node.clone()).collect();
        names.sort();
        assert_eq!(names, ["sw0", "sw1", "sw2", "sw3", "sw4"]);
    }
}

/// A judgement looks at the whole network, which a step of a run must not cost.
#[test]
fn a_run_that_goes_on_is_not_judged() {
    let buffer = ClassBuffer::lossless(Bytes::new(100_000), Bytes::new(20_000), Bytes::new(10_000));
    let spec = clockwise_ring(5, Span::from_nanos(500), pfc(), buffer);
    let mut simulation = Simulation::build(&spec, &BuildOptions::default()).unwrap();
    let limits = |millis: u64, goes_on: bool| {
        let until = RunLimits::until(at(Span::from_millis(millis)));
        RunLimits { inspect_every: Span::from_secs(1), goes_on, ..until }
    };
    assert_eq!(simulation.run(&limits(5, true)).outcome, Outcome::Interrupted);
    assert!(matches!(simulation.run(&limits(6, false)).outcome, Outcome::Deadlock(_)));
}

#[test]
fn a_ring_under_credits_deadlocks_with_nothing_left_to_happen() {
    let spec =
        clockwise_ring(4, Span::from_nanos(500), slots(Span::from_nanos(20)), ClassBuffer::drop_tail(Bytes::new(4)));
    let (_, report) = run(&spec, Span::from_millis(20));
    let Outcome::Deadlock(deadlock) = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(deadlock.cycle.len(), 4);
}

#[test]
fn shortest_ways_round_a_small_ring_do_not_deadlock() {
    let mut spec = clockwise_ring(
        3,
        Span::from_nanos(500),
        pfc(),
        ClassBuffer::lossless(Bytes::new(100_000), Bytes::new(20_000), Bytes::new(10_000)),
    );
    spec.routes = fabric::routing::Routes::shortest_paths(&spec.graph);
    assert_eq!(run(&spec, Span::from_millis(20)).1.outcome, Outcome::Finished);
}

/// A receiver that takes nothing stops the network behind it; that is a stall, not a deadlock.
#[test]
fn a_dead_receiver_is_not_a_deadlock() {
    let graph = topology::chain(3, 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.adapters.push(AdapterSpec {
        flow_control: pfc(),
        buffer: vec![ClassBuffer::lossless(Bytes::new(100_000), Bytes::new(10_000), Bytes::new(5_000))],
        service: Some(Rate::ZERO),
        ..AdapterSpec::default()
    });
    let last = spec.graph.hosts()[2];
    spec.kind_of[last.0 as usize] = 1;
    spec.flows = vec![greedy(0, 2, 1000), greedy(1, 2, 1000), greedy(0, 1, 1000)].into();
    let (simulation, report) = run(&spec, Span::from_millis(10));
    let Outcome::Stalled(stall) = report.outcome else { panic!("{:?}", report.outcome) };
    let causes: Vec<_> = stall.roots.iter().map(|root| (root.peer.as_str(), root.cause.clone())).collect();
    assert_eq!(causes, [("h2", StallCause::DeadReceiver)]);
    assert!(stall.frames > 0 && simulation.census().in_switches >= stall.frames, "{stall:?}");
    assert!(simulation.congestion_tree().iter().all(|held| held.depth.is_none()));
}

/// Two flows in opposite directions, each of which keeps the acknowledgements of the other from a turn: they retransmit for
/// ever, and a third one starves behind them. On several ranks, too.
#[test]
fn flows_that_starve_each_others_acknowledgements_are_a_livelock() {
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.classes = vec![lossless(); 2];
    let Buffer::Static(buffers) = &mut spec.switches[0].buffer else { panic!("a buffer for each class") };
    buffers.push(buffers[0]);
    let info = RECOVERIES.iter().find(|info| info.name == "go-back-n").unwrap();
    let mut values = Values::defaults(info.parameters);
    values.set("timeout", Value::Time(Span::from_micros(200)));
    let recovery = Some(Arc::new((info.build)(&values).unwrap()));
    let busy = |from: u32, to: u32, class: u8| {
        let mut flow = FlowSpec { class: 1, size: Some(Bytes::new(300_000)), ..greedy(from, to, 1000) };
        flow.recovery = recovery.clone();
        flow.acknowledge = Some(Acknowledge { class, ..Acknowledge::default() });
        flow
    };
    let behind = FlowSpec { start: at(Span::from_micros(20)), size: Some(Bytes::new(30_000)), ..greedy(2, 1, 1000) };
    spec.flows = vec![busy(0, 1, 0), busy(1, 0, 0), behind.clone()].into();
    let (simulation, report) = run(&spec, Span::from_millis(5));
    let Outcome::Livelock(livelock) = &report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!((livelock.frames, livelock.futile), (simulation.census().in_switches, 2), "{livelock}");
    assert!(livelock.since < at(Span::from_micros(300)), "what both sent at first has arrived: {livelock}");
    assert!(report.totals.delivered_bytes < 630_000, "nothing of the third arrives");
    let limits = RunLimits::until(at(Span::from_millis(5)));
    for summary in on_ranks(&spec, 2, &BuildOptions::default(), &limits) {
        assert_eq!(summary.outcome, report.outcome);
    }
    // Acknowledgements in the class of the data have their turns.
    spec.flows = vec![busy(0, 1, 1), busy(1, 0, 1), behind].into();
    assert_eq!(run(&spec, Span::from_millis(5)).1.outcome, Outcome::Finished);
}

/// The tree of congestion grows outwards from the link that is really short.
#[test]
fn the_tree_of_congestion_starts_at_its_root() {
    let graph = topology::chain(3, 2, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    // Hosts 0 and 1 on sw0, 2 and 3 on sw1, 4 and 5 on sw2: all but host 5 send to host 5.
    spec.flows = (0..5).map(|host| greedy(host, 5, 1000)).collect();
    let mut simulation = Simulation::build(&spec, &BuildOptions::default()).unwrap();
    // Pauses come and go; look often, and judge the fullest tree.
    let mut fullest = Vec::new();
    for step in 1..200 {
        simulation.run(&RunLimits::until(at(Span::from_micros(10 * step))));
        let tree = simulation.congestion_tree();
        if tree.len() > fullest.len() {
            fullest = tree;
        }
    }
    let name = |port: u32| spec.graph.nodes[simulation.port(port).0.0 as usize].name.clone();
    let depth = |holder: &str, sender: &str| {
        let held = fullest.iter().find(|held| name(held.holder) == holder && name(held.sender) == sender);
        held.and_then(|held| held.depth)
    };
    assert_eq!(depth("sw2", "h4"), Some(0), "{fullest:?}");
    assert_eq!(depth("sw2", "sw1"), Some(0), "{fullest:?}");
    assert_eq!(depth("sw1", "sw0"), Some(1), "{fullest:?}");
    assert_eq!(depth("sw0", "h0"), Some(2), "{fullest:?}");
}

#[test]
fn limits_and_interrupts_end_a_run_with_their_name() {
    let graph = topology::single_switch(4, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows = workload::incast(&hosts(&spec), HostId(0), &greedy(1, 0, 1000), Span::ZERO, 1).into();
    let build = || Simulation::build(&spec, &BuildOptions::default()).unwrap();
    let limits = RunLimits { events: Some(5_000), ..RunLimits::until(at(Span::from_secs(1))) };
    let report = build().run(&limits);
    assert!(matches!(report.outcome, Outcome::LimitReached(Limit::Events(n)) if (5_000..9_000).contains(&n)));
    let report = build().run_supervised(&RunLimits::until(at(Span::from_secs(1))), |progress, _| {
        if progress.now > at(Span::from_millis(1)) {
            ControlFlow::Break(Limit::WallClock)
        } else {
            ControlFlow::Continue(())
        }
    });
    assert_eq!(report.outcome, Outcome::LimitReached(Limit::WallClock));
    let set = AtomicBool::new(true);
    let report = build().run(&RunLimits { interrupt: Some(&set), ..RunLimits::until(at(Span::from_secs(1))) });
    assert_eq!(report.outcome, Outcome::Interrupted);
}

#[test]
fn a_finite_network_comes_to_rest() {
    let graph = topology::fat_tree(4, Links::same(link(10, Span::from_micros(1)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    let template = FlowSpec { size: Some(Bytes::new(123_456)), ..greedy(0, 1, 1000) };
    spec.flows = workload::all_to_all(&hosts(&spec), &template).into();
    let (simulation, report) = run(&spec, Span::from_secs(10));
    assert_eq!(report.outcome, Outcome::Finished);
    assert!(report.now < at(Span::from_millis(100)), "it stops when nothing is left: {}", report.now);
    assert!(simulation.flows().iter().all(|flow| flow.received_bytes == 123_456 && flow.completed.is_some()));
    assert_eq!(simulation.census(), fabric::Census::default());
    let last = simulation.flows().iter().filter_map(|flow| flow.completed).max().unwrap();
    assert!(last > Time::ZERO && last <= report.now);
}
