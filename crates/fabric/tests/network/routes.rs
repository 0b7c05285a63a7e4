//! Routings at work: who deadlocks, who does not, and whether the static check knew.

use crate::kit::*;
use fabric::graph::{Graph, HostId, NodeId, Role};
use fabric::lanes::spread;
use fabric::routing::{Bridges, Routes, Routing, centre, dependency_cycle};
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::{Acknowledge, FlowSpec};
use fabric::{Outcome, RunSummary};
use proptest::prelude::*;
use units::{Bytes, Span};

fn buffer() -> ClassBuffer {
    ClassBuffer::lossless(Bytes::new(100_000), Bytes::new(20_000), Bytes::new(10_000))
}

/// A network of one lossless class under that routing, its class in as many lanes as that needs.
fn routed(graph: Graph, control: FlowControl, routing: &Routing, flows: Vec<FlowSpec>) -> NetworkSpec {
    let mut spec = network(graph, switch(buffer(), control), lossless());
    spec.routes = routing.compute(&spec.graph, &[]).unwrap();
    spec.flows = flows.into();
    spread(spec, &[true]).unwrap()
}

/// Every host to the one two switches on.
fn round(switches: u32) -> Vec<FlowSpec> {
    (0..switches).map(|from| greedy(from, (from + 2) % switches, 1500)).collect()
}

fn blocks() -> FlowControl {
    let give_back = CreditReturn::Signal { delay: Span::from_nanos(500) };
    FlowControl::Credits(CreditSpec { unit: CreditUnit::Block(Bytes::new(64)), give_back })
}

fn ended(spec: &NetworkSpec) -> RunSummary {
    run(spec, Span::from_millis(5)).1
}

#[test]
fn a_ring_deadlocks_by_shortest_paths_and_lives_by_each_of_the_others() {
    let graph = topology::ring(5, 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let root = centre(&graph).unwrap();
    let bridges = Bridges::plain(&graph);
    let trees = |roots| Routing::SpanningTrees { roots, bridges: bridges.clone() };
    for control in [pfc(), blocks()] {
        let dead = [Routing::Shortest, Routing::Spb { bridges: bridges.clone(), trees: 16 }];
        for routing in dead {
            let spec = routed(graph.clone(), control, &routing, round(5));
            assert!(dependency_cycle(&graph, &spec.routes).is_some());
            let outcome = ended(&spec).outcome;
            let Outcome::Deadlock(deadlock) = outcome else { panic!("{routing:?}, {control:?}: {outcome:?}") };
            // The circle, and of each of its waits the flow that makes it.
            let mut circle: Vec<(&str, &[u32])> =
                deadlock.cycle.iter().map(|waiting| (waiting.node.as_str(), waiting.flows.as_slice())).collect();
            circle.sort_unstable();
            let flows: [(&str, &[u32]); 5] =
                [("sw0", &[4]), ("sw1", &[0]), ("sw2", &[1]), ("sw3", &[2]), ("sw4", &[3])];
            assert_eq!(circle, flows);
        }
        let alive = [Routing::UpDown { roots: vec![root] }, Routing::Lash, Routing::Dfsssp, trees(vec![root])];
        for routing in alive {
            let spec = routed(graph.clone(), control, &routing, round(5));
            assert_eq!(dependency_cycle(&graph, &spec.routes), None);
            let report = ended(&spec);
            assert_eq!(report.outcome, Outcome::Finished, "{routing:?}, {control:?}");
            assert!(report.totals.delivered_bytes > 5_000_000, "{routing:?}: {:?}", report.totals);
        }
    }
}

#[test]
fn lanes_do_not_help_where_pause_stops_all_of_them() {
    let graph = topology::ring(5, 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let spec = routed(graph, FlowControl::Pause(PauseSpec::default()), &Routing::Lash, round(5));
    assert_eq!(spec.classes.len(), 2);
    assert!(matches!(ended(&spec).outcome, Outcome::Deadlock(_)));
}

#[test]
fn a_tree_can_be_asked_for_and_answers_come_back_by_it() {
    let graph = topology::leaf_spine(2, 4, 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let bridges = Bridges::plain(&graph);
    let routes = Routing::Spb { bridges, trees: 16 }.compute(&graph, &[]).unwrap();
    let spines: Vec<NodeId> = (0..4).map(|n| graph.find(&format!("spine{n}")).unwrap()).collect();
    for tree in 0..16 {
        let mut spec = network(graph.clone(), pfc_switch(), lossless());
        spec.routes = routes.clone();
        let acknowledge = Some(Acknowledge { size: Bytes::new(64), class: 0, every: 1, delay: None });
        let size = Some(Bytes::new(150_000));
        spec.flows = vec![FlowSpec { tree: Some(tree), size, ..greedy(0, 1, 1500) }.with(|it| {
            it.acknowledge = acknowledge;
        })]
        .into();
        let out = spec.routes.path(&graph, HostId(0), HostId(1), spec.entropy(0)).unwrap()[2].0;
        let back = spec.routes.path(&graph, HostId(1), HostId(0), spec.entropy(0)).unwrap()[2].0;
        assert_eq!(out, back);
        // Nothing crosses the other spines in the running network either: with their cables down it still finishes.
        for (number, cable) in (0..).zip(&graph.cables) {
            let other = |end: NodeId| spines.contains(&end) && end != out;
            if other(cable.a) || other(cable.b) {
                spec.faults.push(Fault { cable: number, down: at(Span::from_picos(1)), up: None });
            }
        }
        let report = ended(&spec);
        assert_eq!(report.totals.delivered_bytes, 150_000, "tree {tree}");
        assert_eq!(report.totals.lost_frames, 0, "tree {tree}");
    }
}

#[test]
fn a_tree_that_is_not_there_is_refused() {
    let graph = topology::leaf_spine(2, 2, 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows = vec![FlowSpec { tree: Some(0), ..greedy(0, 1, 1500) }].into();
    let errors = fabric::validate(&spec);
    assert!(
        errors.iter().any(|error| error.to_string().contains("there is no tree 0: the routing does not use trees")),
        "{errors:?}"
    );
    spec.routes = Routing::Spb { bridges: Bridges::plain(&spec.graph), trees: 4 }.compute(&spec.graph, &[]).unwrap();
    assert_eq!(fabric::validate(&spec), vec![]);
    spec.multipath = Multipath::Spray;
    let errors = fabric::validate(&spec);
    assert!(errors.iter().any(|error| error.to_string().contains("sprayed")), "{errors:?}");
    spec.flows.clear();
    spec.route_changes = vec![RouteChange::everywhere(at(Span::from_micros(1)), Routes::shortest_paths(&spec.graph))];
    let errors = fabric::validate(&spec);
    assert!(errors.iter().any(|error| error.to_string().contains("other trees")), "{errors:?}");
}

#[test]
fn lanes_are_the_same_everywhere() {
    let graph = topology::torus(&[4, 3], 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let flows = (0..12).map(|from| greedy(from, (from + 5) % 12, 1500)).collect();
    let spec = routed(graph, pfc(), &Routing::Dfsssp, flows);
    assert!(spec.classes.len() > 1);
    crate::determinism::same_everywhere(&spec);
}

/// Six switches joined by some trunks, a host on each.
fn random() -> impl Strategy<Value = Graph> {
    prop::collection::vec((0_u32..6, 0_u32..6), 5..12).prop_map(|trunks| {
        let mut graph = Graph::default();
        let cable = link(10, Span::from_nanos(500));
        for number in 0..6 {
            graph.node(format!("sw{number}"), Role::Switch, 1);
        }
        for number in 0..6 {
            let host = graph.node(format!("h{number}"), Role::Host, 0);
            graph.cable(host, NodeId(number), cable);
        }
        for (a, b) in trunks.into_iter().filter(|(a, b)| a != b) {
            graph.cable(NodeId(a), NodeId(b), cable);
        }
        graph
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nobody_deadlocks_whom_the_check_has_cleared(graph in random(), shift in 1_u32..6) {
        let apart = graph.unreachable_pairs(usize::MAX);
        let meet = |from: u32, to: u32| !apart.contains(&(HostId(from.min(to)), HostId(from.max(to))));
        let flows: Vec<FlowSpec> = (0..6)
            .map(|from| (from, (from + shift) % 6))
            .filter(|&(from, to)| meet(from, to))
            .map(|(from, to)| greedy(from, to, 1500))
            .collect();
        let root = NodeId(0);
        let bridges = Bridges::plain(&graph);
        for routing in [
            Routing::Shortest,
            Routing::UpDown { roots: vec![root] },
            Routing::Lash,
            Routing::Dfsssp,
            Routing::SpanningTrees { roots: vec![root], bridges: bridges.clone() },
            Routing::Spb { bridges, trees: 16 },
        ] {
            let spec = routed(graph.clone(), pfc(), &routing, flows.clone());
            let cleared = dependency_cycle(&graph, &spec.routes).is_none();
            let (_, report) = run(&spec, Span::from_millis(2));
            match report.outcome {
                Outcome::Finished => {}
                Outcome::Deadlock(_) => prop_assert!(!cleared, "{routing:?}"),
                other => prop_assert!(false, "{routing:?}: {other:?}"),
            }
        }
    }
}
