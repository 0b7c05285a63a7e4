//! Bugs that were, each kept from coming back.

use crate::kit::*;
use crate::observed::Observed;
use congestion::{Allowance, NoControl, Reaction};
use fabric::graph::{Graph, HostId, NodeId, Role};
use fabric::routing::Routes;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::*;
use fabric::{BuildOptions, Outcome, Partition, RunLimits, RunSummary, Simulation};
use std::sync::atomic::AtomicBool;
use units::{Bytes, Rate, Span, Time};

fn b(n: u64) -> Bytes {
    Bytes::new(n)
}
fn us(n: u64) -> Span {
    Span::from_micros(n)
}
fn part(spec: &NetworkSpec, partition: Partition, until: Span) -> (Simulation, RunSummary) {
    let mut s = Simulation::build(spec, &BuildOptions { partition, shards: 3, shuffle: None }).unwrap();
    let r = s.run(&RunLimits::until(at(until)));
    (s, r)
}
fn blocks_frame(refresh: Option<Span>) -> FlowControl {
    FlowControl::Credits(CreditSpec {
        unit: CreditUnit::Block(b(64)),
        give_back: CreditReturn::Frame { size: b(64), refresh },
    })
}

#[test]
fn credits_start_anew_after_a_failure() {
    let mut graph = topology::single_switch(2, link(10, us(1))).unwrap();
    graph.cables[1].link.rate = Rate::from_gigabits(2);
    let mut spec = network(graph, switch(ClassBuffer::drop_tail(b(40)), slots(Span::from_nanos(20))), lossless());
    spec.flows = vec![greedy(0, 1, 1000)].into();
    spec.faults = vec![Fault { cable: 0, down: at(us(500)), up: Some(at(us(600))) }];
    let (_, r) = run(&spec, Span::from_millis(3));
    assert_eq!(r.outcome, Outcome::Finished);
}

#[test]
fn damaged_frames_give_their_credits_back() {
    for control in [slots(Span::from_nanos(20)), blocks_frame(Some(us(20)))] {
        let mut graph = topology::single_switch(2, link(10, us(1))).unwrap();
        graph.cables[0].link.bit_error_rate = 1e-6;
        let cap = if control == slots(Span::from_nanos(20)) { 40 } else { 64_000 };
        let mut spec = network(graph, switch(ClassBuffer::drop_tail(b(cap)), control), lossless());
        spec.flows = vec![greedy(0, 1, 1000)].into();
        let (s, _) = run(&spec, Span::from_millis(100));
        let (early, _) = run(&spec, Span::from_millis(50));
        assert!(s.totals().delivered_bytes > early.totals().delivered_bytes * 3 / 2);
    }
}

#[test]
fn rest_comes_at_the_same_instant_everywhere() {
    let graph = topology::single_switch(4, link(10, us(1))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows = vec![FlowSpec { size: Some(b(10_000)), ..greedy(0, 1, 1000) }].into();
    let a = part(&spec, Partition::One, Span::from_millis(500)).1;
    let c = part(&spec, Partition::PerNode, Span::from_millis(500)).1;
    assert_eq!((a.fingerprint, a.now), (c.fingerprint, c.now));
}

#[test]
fn weights_charge_the_frame_that_leaves() {
    let graph = topology::single_switch(5, link(10, Span::from_nanos(500))).unwrap();
    let buffer = ClassBuffer::lossless(b(200_000), b(50_000), b(40_000));
    let mut spec = network(graph, switch(buffer, pfc()), lossless());
    spec.classes = vec![lossless(); 2];
    spec.switches[0].buffer = Buffer::Static(vec![buffer; 2]);
    spec.switches[0].queueing = Queueing::InputFifo { bypass: 0, reading: BypassReading::Lookahead };
    spec.switches[0].crossbar = Some(Crossbar { arbitration: Arbitration::RoundRobin, read_ports: 0, speedup: (1, 1) });
    spec.switches[0].egress = Egress::weighted(&[b(9_000), b(9_000)]);
    // 1 and 2 to 0 in class 0 and 1, alike; 0 and 4 to 3 in the other direction, big frames in class 0 and small in 1.
    spec.flows = vec![
        greedy(1, 0, 1000),
        FlowSpec { class: 1, ..greedy(2, 0, 1000) },
        greedy(0, 3, 9000),
        FlowSpec { class: 1, ..greedy(0, 3, 100) },
        greedy(4, 3, 9000),
        FlowSpec { class: 1, ..greedy(4, 3, 100) },
    ]
    .into();
    let (s, _) = run(&spec, Span::from_millis(20));
    let f = s.flows();
    let ratio = f[0].received_bytes as f64 / f[1].received_bytes as f64;
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

#[test]
fn a_fifo_goes_on_when_its_head_is_taken_away() {
    let graph = topology::single_switch(4, link(10, Span::from_nanos(500))).unwrap();
    let buffer = ClassBuffer::lossless(b(20_000), b(4_000), b(2_000));
    let mut spec = network(graph.clone(), switch(buffer, pfc()), lossless());
    spec.switches[0].queueing = Queueing::InputFifo { bypass: 0, reading: BypassReading::Lookahead };
    spec.switches[0].crossbar = Some(Crossbar::default());
    let sw = (0..).zip(&graph.nodes).find(|(_, n)| n.role == Role::Switch).unwrap().0;
    let mut routes = Routes::shortest_paths(&graph);
    routes.set(NodeId(sw), HostId(1), &[]).unwrap();
    spec.flows = vec![
        FlowSpec { size: Some(b(3_000)), ..greedy(0, 1, 1000) },
        FlowSpec { size: Some(b(30_000)), start: at(us(51)), ..greedy(0, 2, 1000) },
    ]
    .into();
    spec.faults = vec![Fault { cable: 1, down: at(us(1)), up: None }];
    spec.route_changes = vec![RouteChange::everywhere(at(us(200)), routes)];
    let (s, r) = run(&spec, Span::from_millis(50));
    assert_eq!(s.flows()[1].received_bytes, 30_000, "{:?}", r.outcome);
}

#[test]
fn nothing_piles_up_behind_a_failed_cable() {
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let buffer = ClassBuffer::lossless(b(200_000), b(20_000), b(10_000));
    let pause = PauseSpec { quanta: 400, refresh_before: 300, ..PauseSpec::default() };
    let mut spec = network(graph, switch(buffer, FlowControl::Pfc(pause)), lossless());
    spec.adapters.push(AdapterSpec {
        flow_control: FlowControl::Pfc(pause),
        buffer: vec![buffer],
        service: Some(Rate::ZERO),
        ..AdapterSpec::default()
    });
    spec.kind_of[1] = 1;
    spec.flows = vec![greedy(0, 1, 1000)].into();
    spec.faults = vec![Fault { cable: 0, down: at(Span::from_millis(1)), up: None }];
    let (s, _) = run(&spec, Span::from_millis(100));
    assert!(s.census().control < 10, "{:?}", s.census());
}

#[test]
fn a_lossy_class_has_its_guaranteed_part() {
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, switch(ClassBuffer::UNLIMITED, FlowControl::None), lossy());
    spec.switches[0].buffer =
        Buffer::Shared { total: b(1), alpha: (1, 1), classes: vec![ClassBuffer::drop_tail(b(30_000))] };
    spec.flows = vec![greedy(0, 1, 1000)].into();
    let (s, r) = run(&spec, Span::from_millis(1));
    assert!(s.totals().delivered_frames > 0, "{:?}", r.totals);
}

#[test]
fn large_buffers_and_alphas_do_not_overflow() {
    let mut spec = network(topology::single_switch(3, link(100, us(1))).unwrap(), pfc_switch(), lossless());
    let c = ClassBuffer { capacity: b(0), xoff: b(0), xon: b(0), headroom: b(100_000), ..ClassBuffer::UNLIMITED };
    spec.switches[0].buffer = Buffer::Shared { total: b(1 << 34), alpha: (1 << 31, 1), classes: vec![c] };
    spec.flows = vec![greedy(0, 1, 1000)].into();
    run(&spec, us(100));
}

#[test]
fn of_simultaneous_losses_the_same_is_reported() {
    let mut graph = Graph::default();
    for s in 0..4u32 {
        let sw = graph.node(format!("s{s}"), Role::Switch, 1);
        for h in 0..4u32 {
            let host = graph.node(format!("h{s}{h}"), Role::Host, 0);
            graph.cable(host, sw, link(10, us(1)));
        }
    }
    let thin = ClassBuffer::lossless(b(11_000), b(10_000), b(5_000));
    let mut spec = network(graph, switch(thin, pfc()), lossless());
    for s in 0..4 {
        for h in 1..4 {
            spec.flows.push(greedy(4 * s + h, 4 * s, 1500));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    for shuffle in [None, Some(1), Some(2), Some(3), Some(4)] {
        let mut s = Simulation::build(&spec, &BuildOptions { shuffle, ..BuildOptions::default() }).unwrap();
        let r = s.run(&RunLimits::until(at(Span::from_millis(1))));
        let Outcome::LossInLosslessClass(l) = r.outcome else { panic!() };
        seen.insert((l.node, l.port));
    }
    assert_eq!(seen.len(), 1, "{seen:?}");
}

#[test]
fn a_stored_frame_is_checked_where_it_is_stored() {
    struct D(u32);
    impl fabric::Probe for D {
        fn on_drop(&mut self, _n: Time, port: u32, _f: &fabric::Frame, _c: fabric::DropCause) {
            self.0 = port;
        }
    }
    let mut graph = topology::single_switch(2, link(10, us(1))).unwrap();
    graph.cables[0].link.rate = Rate::from_gigabits(1);
    graph.cables[0].link.bit_error_rate = 1e-4;
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.switches[0].forwarding = Forwarding::CutThrough { header_delay: Span::from_nanos(40) };
    spec.flows = vec![greedy(0, 1, 1000)].into();
    let (mut s, _) = run_with(&spec, Span::from_millis(1), |_| D(9));
    let port = s.probes_mut().next().unwrap().0;
    let node = s.port(port).0.0;
    assert_eq!(spec.graph.nodes[node as usize].role, Role::Switch, "{port}");
}

#[test]
fn strict_groups_go_by_their_highest_class() {
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let buffer = ClassBuffer::lossless(b(200_000), b(50_000), b(40_000));
    let mut spec = network(graph, switch(buffer, pfc()), lossless());
    spec.classes = vec![lossless(); 2];
    spec.switches[0].buffer = Buffer::Static(vec![buffer; 2]);
    spec.switches[0].egress =
        Egress::Groups(vec![EgressGroup::turns(2, Share::Strict), EgressGroup::turns(1, Share::Strict)]);
    spec.flows = vec![greedy(1, 0, 1000), FlowSpec { class: 1, ..greedy(2, 0, 1000) }].into();
    let (s, _) = run(&spec, Span::from_millis(5));
    assert!(s.flows()[1].received_bytes > s.flows()[0].received_bytes, "{:?}", s.flows());
}

#[test]
fn a_deadlock_is_found_at_the_same_instant_everywhere() {
    let graph = topology::ring(4, 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let mut spec = network(graph, switch(ClassBuffer::drop_tail(b(4)), slots(Span::from_nanos(20))), lossless());
    let ends = spec.graph.ports();
    let hosts = spec.graph.hosts();
    let sw: Vec<NodeId> = hosts.iter().map(|h| ends[h.0 as usize][0].peer).collect();
    for (i, &here) in sw.iter().enumerate() {
        let port = ends[here.0 as usize].iter().position(|e| e.peer == sw[(i + 1) % 4]).unwrap() as u16;
        for t in 0..4u32 {
            if t as usize != i {
                spec.routes.set(here, HostId(t), &[port]).unwrap();
            }
        }
    }
    spec.flows = (0..4).map(|h| greedy(h, (h + 2) % 4, 1000)).collect();
    let a = part(&spec, Partition::One, Span::from_millis(20)).1;
    let c = part(&spec, Partition::PerNode, Span::from_millis(20)).1;
    assert_eq!(a.outcome, c.outcome);
}

#[test]
fn the_arithmetic_of_a_loss_counts_the_overhead() {
    let graph = topology::single_switch(3, link(10, us(1))).unwrap();
    let thin = ClassBuffer::lossless(b(11_000), b(10_000), b(5_000));
    let mut needed = vec![];
    for overhead in [0, 20, 1000] {
        let mut spec = network(graph.clone(), switch(thin, pfc()), lossless());
        spec.overhead = b(overhead);
        spec.flows = vec![greedy(1, 0, 1000), greedy(2, 0, 1000)].into();
        let Outcome::LossInLosslessClass(l) = run(&spec, Span::from_millis(1)).1.outcome else { panic!() };
        needed.push(l.needed);
    }
    assert!(needed[0] != needed[1] || needed[1] != needed[2], "{needed:?}");
}

#[test]
fn an_interrupted_run_knows_how_far_it_got() {
    let mut spec = network(topology::single_switch(2, link(100, us(1))).unwrap(), pfc_switch(), lossless());
    spec.flows = vec![greedy(0, 1, 64)].into();
    struct P(std::sync::Arc<AtomicBool>, Time);
    impl fabric::Probe for P {
        fn on_deliver(&mut self, now: Time, _h: u32, _f: &fabric::Frame) {
            self.1 = now;
            if now > Time::ZERO + us(100) {
                self.0.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        }
    }
    let flag = std::sync::Arc::new(AtomicBool::new(false));
    let mut s = Observed::build(&spec, &BuildOptions::default(), |_| P(flag.clone(), Time::ZERO)).unwrap();
    let limits = RunLimits {
        inspect_every: Span::from_secs(10),
        interrupt: Some(&flag),
        ..RunLimits::until(at(Span::from_secs(10)))
    };
    let r = s.run(&limits);
    let last = s.probes_mut().next().unwrap().1;
    assert!(
        r.now < last + Span::from_millis(1),
        "{:?} says {} but the last thing happened at {last}",
        r.outcome,
        r.now
    );
}

#[test]
fn a_window_survives_lost_frames_and_acknowledgements() {
    let graph = topology::single_switch(2, link(10, us(1))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    let allowance = Allowance { rate: None, window: Some(b(5_000)) };
    spec.flows = vec![greedy(0, 1, 1000).with(|it| {
        it.acknowledge = Some(Acknowledge { size: b(64), class: 0, every: 1, delay: None });
        it.reaction = Reaction::None(NoControl { allowance });
    })]
    .into();
    spec.faults = vec![Fault { cable: 0, down: at(us(100)), up: Some(at(us(120))) }];
    spec.faults.extend((3..40).map(|n| Fault { cable: 0, down: at(us(53 * n)), up: Some(at(us(53 * n + 20))) }));
    let (s, r) = run(&spec, Span::from_millis(10));
    // Five frames a round trip of about 6 us, less the outages.
    assert!(r.totals.lost_frames > 50 && r.totals.lost_control > 20, "{:?}", r.totals);
    assert!(s.flows()[0].received_frames > 7_000, "{:?}", s.flows());
}
