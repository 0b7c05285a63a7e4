//! Cables that fail, come back and damage frames; routes that change.

use crate::kit::*;
use fabric::graph::{NodeId, Role};
use fabric::routing::Routes;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::{self, FlowSpec, Gaps, Pattern};
use fabric::{Outcome, StallCause, StallRoot};
use units::{Bytes, Rate, Span, Stream, Time};

#[test]
fn a_cable_that_fails_loses_what_is_on_it_and_comes_back() {
    for control in [pfc(), slots(Span::from_nanos(20))] {
        let graph = topology::single_switch(2, link(10, Span::from_micros(2))).unwrap();
        let buffer = match control {
            FlowControl::Credits(_) => ClassBuffer::drop_tail(Bytes::new(40)),
            _ => ClassBuffer::lossless(Bytes::new(200_000), Bytes::new(50_000), Bytes::new(40_000)),
        };
        let mut spec = network(graph, switch(buffer, control), lossless());
        spec.flows = vec![greedy(0, 1, 1000)].into();
        // The cable of host 0 is the first.
        let (down, up) = (at(Span::from_micros(1_000)), at(Span::from_micros(2_000)));
        spec.faults = vec![Fault { cable: 0, down, up: Some(up) }];
        let (simulation, report) = run(&spec, Span::from_micros(3_000));
        assert_eq!(report.outcome, Outcome::Finished, "{control:?}");
        // 2 us of cable and a frame in transmission, at 816 ns a frame.
        assert!((2..=4).contains(&report.totals.lost_frames), "{control:?}: {:?}", report.totals);
        let carried = simulation.totals().delivered_bytes as f64 * 8.0 * 1.02 / 10e9;
        assert!((carried - 0.002).abs() < 0.00003, "{control:?}: two of three milliseconds, got {carried}");
    }
}

#[test]
fn traffic_waits_at_a_failed_cable_and_goes_round_it_when_routes_change() {
    let graph = topology::leaf_spine(2, 2, 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let trunk = |spine: &str| {
        let ends = |cable: &fabric::graph::Cable| [cable.a, cable.b].map(|n| graph.nodes[n.0 as usize].name.clone());
        let leaf0 = |names: &[String; 2]| names.iter().any(|n| n == "leaf0") && names.iter().any(|n| n == spine);
        graph.cables.iter().position(|cable| leaf0(&ends(cable))).unwrap() as u32
    };
    let mut spec = network(graph.clone(), pfc_switch(), lossless());
    let (left, right) =
        (Routes::without_links(&graph, &[trunk("spine1")]), Routes::without_links(&graph, &[trunk("spine0")]));
    spec.routes = left;
    spec.flows = vec![greedy(0, 1, 1000)].into();
    spec.faults = vec![Fault { cable: trunk("spine0"), down: at(Span::from_millis(1)), up: None }];
    let (stuck, report) = run(&spec, Span::from_millis(3));
    let Outcome::Stalled(stall) = report.outcome else { panic!("a failed cable is a stall: {:?}", report.outcome) };
    let root = StallRoot { node: "leaf0".into(), output: 1, peer: "spine0".into(), cause: StallCause::FailedCable };
    assert_eq!(stall.roots, [root]);
    let carried = |bytes: u64| bytes as f64 * 8.0 * 1.02 / 10e9;
    assert!(carried(stuck.totals().delivered_bytes) < 0.00101);
    spec.route_changes = vec![RouteChange::everywhere(at(Span::from_millis(2)), right)];
    let (round, _) = run(&spec, Span::from_millis(3));
    // What had been queued for the failed cable stays there, and keeps its buffer; the rest goes on after 2 ms.
    let share = carried(round.totals().delivered_bytes);
    assert!(share > 0.0019 && share < 0.00201, "{share}");
}

#[test]
fn bit_errors_lose_the_expected_share() {
    let mut graph = topology::single_switch(2, link(10, Span::from_nanos(500))).unwrap();
    graph.cables[1].link.bit_error_rate = 1e-6;
    let mut spec = network(graph, switch(ClassBuffer::UNLIMITED, FlowControl::None), lossy());
    spec.flows = vec![greedy(0, 1, 1250)].into();
    let (simulation, report) = run(&spec, Span::from_millis(100));
    let lost = report.totals.lost_frames as f64 / simulation.flows()[0].made_frames as f64;
    // 10000 bits a frame: 1 - (1 - 1e-6)^10000 = 0.00995; about 98000 frames, deviation 0.0003.
    assert!((lost - 0.00995).abs() < 0.0012, "{lost}");
}

#[test]
fn an_unreachable_destination_is_dropped_and_counted() {
    let graph = topology::chain(2, 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    let far = spec.graph.find("sw1").unwrap();
    spec.routes.set(far, fabric::graph::HostId(1), &[]).unwrap();
    spec.flows = vec![FlowSpec { size: Some(Bytes::new(100_000)), ..greedy(0, 1, 1000) }].into();
    let (simulation, report) = run(&spec, Span::from_millis(1));
    assert_eq!(report.totals.dropped_frames, 100);
    assert_eq!(simulation.census().frames, 0);
}

/// Switches a, b, c, d in a ring, a host on each; a and b go round one way, then the other, each in its own time.
fn ring_that_differs(class: ClassSpec, gigabits: u64, [first, second]: [u64; 2]) -> NetworkSpec {
    let graph = topology::ring(4, 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let kind = if class.lossless { pfc_switch() } else { switch(ClassBuffer::UNLIMITED, FlowControl::None) };
    let mut spec = network(graph, kind, class);
    let at_switch = |number: u32| spec.graph.find(&format!("sw{number}")).unwrap();
    let cable = |a: u32, b: u32| {
        let ends = [at_switch(a), at_switch(b)];
        let joins = |cable: &fabric::graph::Cable| ends.contains(&cable.a) && ends.contains(&cable.b);
        spec.graph.cables.iter().position(joins).unwrap() as u32
    };
    // From 0 by 1 to 2; when 1-2 fails, 1 learns it first and sends back to 0, which still sends to 1.
    let (by_one, by_three) = (cable(0, 3), cable(1, 2));
    spec.routes = Routes::without_links(&spec.graph, &[by_one]);
    let routes = Routes::without_links(&spec.graph, &[by_three]);
    let times = [(1, first), (0, second)].map(|(number, micros)| (at_switch(number), at(Span::from_micros(micros))));
    spec.route_changes = vec![RouteChange { at: times[0].1, routes, switches: times.into() }];
    spec.faults = vec![Fault { cable: by_three, down: at(Span::from_micros(first)), up: None }];
    let pattern = Pattern::Paced { rate: Rate::from_gigabits(gigabits), gaps: Gaps::Constant, backlog: None };
    // And one that none of it touches.
    let other = Pattern::Paced { rate: Rate::from_gigabits(6), gaps: Gaps::Constant, backlog: None };
    spec.flows = vec![
        greedy(0, 2, 1000).with(|it| {
            it.pattern = pattern;
        }),
        greedy(3, 2, 1000).with(|it| {
            it.pattern = other;
        }),
    ]
    .into();
    spec
}

#[test]
fn frames_run_in_circles_while_switches_differ_and_come_out_when_they_agree() {
    let together = ring_that_differs(lossy(), 2, [200, 200]);
    let apart = ring_that_differs(lossy(), 2, [200, 230]);
    let (_, straight) = run(&together, Span::from_micros(600));
    let (simulation, circled) = run(&apart, Span::from_micros(600));
    assert_eq!(circled.outcome, Outcome::Finished);
    // 30 us at 2 Gb/s are 7 frames; a circle takes 2.6 us.
    let more = circled.totals.hops - straight.totals.hops;
    assert!((40..400).contains(&more), "{more} more hops: {:?}", circled.totals);
    // Nothing is lost but what was on the cable when it failed, and all is out again.
    assert_eq!(circled.totals.lost_frames, straight.totals.lost_frames);
    let flow = &simulation.flows()[0];
    let under_way = flow.made_frames - flow.received_bytes / 1000 - circled.totals.lost_frames;
    assert!(under_way < 8, "{under_way} of {} frames are still under way", flow.made_frames);
    crate::determinism::same_everywhere(&apart);
}

#[test]
fn a_circle_of_lossless_frames_can_deadlock_and_is_found_out() {
    let briefly = ring_that_differs(lossless(), 2, [200, 230]);
    assert_eq!(run(&briefly, Span::from_micros(600)).1.outcome, Outcome::Finished);
    let long = ring_that_differs(lossless(), 4, [200, 900]);
    let outcome = run(&long, Span::from_millis(2)).1.outcome;
    assert!(matches!(outcome, Outcome::Deadlock(_)), "{outcome:?}");
    crate::determinism::same_everywhere(&long);
}

#[test]
fn only_switches_have_tables() {
    let mut spec = ring_that_differs(lossy(), 2, [200, 230]);
    spec.route_changes[0].switches.push((spec.graph.find("h0").unwrap(), at(Span::ZERO)));
    let refused = fabric::Simulation::build(&spec, &fabric::BuildOptions::default()).err().expect("a host");
    assert!(refused.iter().any(|error| error.to_string().contains("is not a switch")), "{refused:?}");
}

/// Every switch of a leaf and spine turns in its own time, some of them twice.
#[test]
fn whoever_turns_when_the_run_is_the_same_everywhere() {
    for seed in 0..2_u64 {
        let graph = topology::leaf_spine(3, 2, 2, Links::same(link(10, Span::from_nanos(400)))).unwrap();
        let (kind, class) = match seed % 2 {
            0 => (pfc_switch(), lossless()),
            _ => (switch(ClassBuffer::drop_tail(Bytes::new(30_000)), FlowControl::None), lossy()),
        };
        let mut spec = network(graph, kind, class);
        let is_switch = |node: NodeId| spec.graph.nodes[node.0 as usize].role == Role::Switch;
        let trunks = (0_u32..).zip(&spec.graph.cables).filter(|(_, it)| is_switch(it.a) && is_switch(it.b));
        let trunks: Vec<u32> = trunks.map(|(number, _)| number).collect();
        let mut random = Stream::new(seed, 0, "turns");
        let mut below = |most: u64| random.below(most);
        let (one, other) = (trunks[below(3) as usize], trunks[3 + below(3) as usize]);
        let micros = |micros: u64| at(Span::from_micros(micros));
        spec.faults = vec![
            Fault { cable: one, down: micros(100), up: Some(micros(400)) },
            Fault { cable: other, down: micros(150), up: None },
        ];
        let switches = spec.graph.switches();
        for (moment, down) in [(100, vec![one]), (150, vec![one, other]), (400, vec![other])] {
            let mut own = |&node: &NodeId| (node, at(Span::from_nanos(moment * 1000 + below(60_000))));
            let switches: Vec<(NodeId, Time)> = switches.iter().map(&mut own).collect();
            let first = switches.iter().map(|it| it.1).min().unwrap();
            let routes = Routes::without_links(&spec.graph, &down);
            spec.route_changes.push(RouteChange { at: first, routes, switches });
        }
        let pattern = Pattern::Paced { rate: Rate::from_gigabits(1), gaps: Gaps::Exponential, backlog: None };
        spec.flows = workload::all_to_all(
            &hosts(&spec),
            &greedy(0, 1, 1000).with(|it| {
                it.pattern = pattern;
            }),
        )
        .into();
        crate::determinism::same_everywhere(&spec);
    }
}

/// Reliable delivery across a cable that fails for a moment: the copies of the frames that were lost on it, or whose
/// receipts were, stay where they are, and nothing goes on.
#[test]
fn copies_whose_receipts_are_lost_are_a_stall() {
    let cable = link(10, Span::from_micros(20));
    let graph = topology::dumbbell(1, 1, cable, cable).unwrap();
    let between = |cable: &fabric::graph::Cable| {
        [cable.a, cable.b].iter().all(|node| graph.nodes[node.0 as usize].role == fabric::graph::Role::Switch)
    };
    let trunk = graph.cables.iter().position(between).unwrap() as u32;
    let buffer = ClassBuffer::lossless(Bytes::new(300_000), Bytes::new(20_000), Bytes::new(10_000));
    let mut spec = network(graph, switch(buffer, pfc()), lossless());
    spec.switches[0].congestion_point = Some(CongestionPointSpec { reliable: true, ..CongestionPointSpec::default() });
    spec.flows = vec![greedy(0, 1, 1000)].into();
    let (_, report) = run(&spec, Span::from_millis(3));
    assert_eq!(report.outcome, Outcome::Finished);
    let (down, up) = (at(Span::from_micros(1_000)), at(Span::from_micros(1_100)));
    spec.faults = vec![Fault { cable: trunk, down, up: Some(up) }];
    let (_, report) = run(&spec, Span::from_millis(3));
    let Outcome::Stalled(stall) = report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(stall.roots.iter().map(|root| root.cause.clone()).collect::<Vec<_>>(), [StallCause::LostReceipts]);
    assert!(stall.frames > 10 && stall.to_string().contains("whose receipts were lost"), "{stall}");
}
