//! Tests that the bridges of whole networks learn the topology of the graph.

use super::plan;
use crate::Plan;
use control::isis::Timers;
use discovery::spb::{Discovery, discover, follow};
use fabric::graph::Role;
use fabric::routing::Bridges;
use units::{Span, Stream};

fn found(plan: &Plan) -> Discovery {
    let graph = &plan.spec.graph;
    discover(graph, &Bridges::plain(graph), &plan.spec.faults, Timers::default()).expect("every host has one link")
}

#[test]
fn hosts_with_several_links_are_refused() {
    let plan = plan(&format!("{LEAF_SPINE}\nhost_links = 2"), "");
    let graph = &plan.spec.graph;
    let refused = discover(graph, &Bridges::plain(graph), &plan.spec.faults, Timers::default());
    assert!(refused.is_err_and(|error| error.to_string().contains("host \"h0\" has several links")));
}

const LEAF_SPINE: &str = "topology = \"leaf-spine\"\nleaves = 4\nspines = 3\nhosts_per_leaf = 2";

#[test]
fn a_leaf_spine_is_learned_and_its_failures_too() {
    let faults = "[[faults]]\nbetween = [\"leaf0\", \"spine1\"]\ndown = \"100us\"\nup = \"500us\"\n\
                  [[faults]]\nbetween = [\"leaf2\", \"spine0\"]\ndown = \"300us\"\n";
    let found = found(&plan(LEAF_SPINE, faults));
    let [start, first, second, back] = &found.steps[..] else { panic!("{:?}", found.steps) };
    assert!(found.steps.iter().all(|step| step.settled && step.wrong.is_empty()), "{:?}", found.steps);
    let up = found.steps.iter().map(|step| step.adjacencies.len());
    assert_eq!(up.collect::<Vec<_>>(), [12, 11, 10, 11]);
    assert_eq!([&start.down, &first.down, &second.down, &back.down].map(Vec::len), [0, 1, 2, 1]);
    // A failure travels as fast as frames do; what waits is only the next version of a link state just made.
    let [failed, again] = [first.converged, second.converged];
    assert!(failed > Span::from_micros(3) && failed < Span::from_micros(20), "{failed:?}");
    assert!(again > Span::from_micros(3) && again < Span::from_micros(20), "{again:?}");
    assert!(start.converged < Span::from_secs(3), "{:?}", start.converged);
    assert!(found.trees.len() == 16 && found.trunks == 12, "{:?}", found.trees);
    // A tree goes through one spine: four cables, and down each of them to two hosts from three leaves.
    assert!(found.trees.iter().all(|tree| (tree.cables, tree.busiest) == (4, 6)), "{:?}", found.trees);
}

/// Failures in a run come when they come, not to a network at rest: the second of the same switch waits until it may say
/// anything new.
#[test]
fn who_learns_what_and_when_in_a_run() {
    let faults = "[[faults]]\nbetween = [\"leaf0\", \"spine1\"]\ndown = \"100us\"\nup = \"500us\"\n\
                  [[faults]]\nbetween = [\"leaf2\", \"spine0\"]\ndown = \"300us\"\n";
    let plan = plan(LEAF_SPINE, faults);
    let graph = &plan.spec.graph;
    let detection = Span::from_micros(7);
    let news = follow(graph, &Bridges::plain(graph), &plan.spec.faults, Timers::default(), detection).expect("rest");
    let cable = |a: &str, b: &str| {
        let ends = [graph.find(a), graph.find(b)];
        graph.cables.iter().position(|it| ends.contains(&Some(it.a)) && ends.contains(&Some(it.b))).unwrap() as u32
    };
    let (first, second) = (cable("leaf0", "spine1"), cable("leaf2", "spine0"));
    let of = |name: &str| {
        let switch = graph.find(name).unwrap();
        let own = news.iter().filter(move |it| it.switch == switch);
        own.map(|it| (it.at.as_picos() / 1_000_000, it.down.clone())).collect::<Vec<_>>()
    };
    // The ends know when they see it; the others some microseconds later, by the frames that tell them.
    let mut both = vec![first, second];
    both.sort_unstable();
    assert_eq!(of("leaf0")[..1], [(107, vec![first])]);
    assert_eq!(of("spine1")[..1], [(107, vec![first])]);
    assert_eq!(of("leaf2")[..2], [(108, vec![first]), (307, both.clone())]);
    for name in ["leaf1", "leaf3", "spine0", "spine2"] {
        let known = of(name);
        assert!((108..120).contains(&known[0].0) && known[0].1 == [first], "{name}: {known:?}");
        assert!((307..320).contains(&known[1].0) && known[1].1 == both, "{name}: {known:?}");
    }
    // Its return is told a second after the failure was: until then a new version must wait.
    let second_later = 1_000_107..1_000_130;
    for (switch, _) in (0..).zip(&graph.nodes).filter(|(_, node)| node.role == fabric::graph::Role::Switch) {
        let last = news.iter().rfind(|it| it.switch.0 == switch).expect("news");
        assert!(second_later.contains(&(last.at.as_picos() / 1_000_000)) && last.down == [second], "{last:?}");
    }
}

/// What comes back before anybody has seen that it was gone is no news.
#[test]
fn a_flap_that_nobody_sees_is_no_news() {
    let plan = plan(LEAF_SPINE, "[[faults]]\nbetween = [\"leaf0\", \"spine1\"]\ndown = \"100us\"\nup = \"110us\"\n");
    let graph = &plan.spec.graph;
    let follow = |micros| {
        let detection = Span::from_micros(micros);
        follow(graph, &Bridges::plain(graph), &plan.spec.faults, Timers::default(), detection).expect("rest")
    };
    assert_eq!(follow(20), []);
    assert_eq!(follow(5).iter().filter(|it| it.down.len() == 1).count(), 7);
}

/// After an hour of rest the news are those of a failure after a millisecond.
#[test]
fn an_hour_of_rest_changes_no_news() {
    let news = |down: &str, detection: u64| {
        let faults = format!("[[faults]]\nbetween = [\"leaf0\", \"spine1\"]\ndown = \"{down}\"\n");
        let plan = plan(LEAF_SPINE, &faults);
        let (graph, detection) = (&plan.spec.graph, Span::from_micros(detection));
        let down = plan.spec.faults[0].down;
        let news =
            follow(graph, &Bridges::plain(graph), &plan.spec.faults, Timers::default(), detection).expect("rest");
        news.into_iter().map(|it| (it.at.saturating_since(down), it.switch, it.down)).collect::<Vec<_>>()
    };
    assert_eq!(news("1ms", 7).len(), 7);
    assert_eq!(news("3599s", 7), news("1ms", 7));
    // A silent neighbour is missed after its holding time, however long the port takes.
    let missed = news("3000s", 500_000_000);
    assert!(missed.len() == 7 && missed.iter().all(|it| it.0 < Span::from_secs(40)), "{missed:?}");
}

/// A switch that is cut off keeps believing in what it cannot reach; its tables reach nobody all the same.
#[test]
fn a_network_in_two_halves_has_the_right_tables_in_both() {
    let network = "topology = \"leaf-spine\"\nleaves = 3\nspines = 1\nhosts_per_leaf = 2";
    let found = found(&plan(network, "[[faults]]\nbetween = [\"leaf0\", \"spine0\"]\ndown = \"1us\"\n"));
    assert!(found.steps.iter().all(|step| step.settled && step.wrong.is_empty()), "{:?}", found.steps);
    assert_eq!(found.steps[1].adjacencies.len(), 2);
}

#[test]
fn a_fat_tree_is_learned() {
    let found = found(&plan("topology = \"fat-tree\"\nk = 4", ""));
    let start = &found.steps[0];
    assert!(start.settled && start.wrong.is_empty() && start.adjacencies.len() == 32, "{start:?}");
}

/// No bridge speaks of a host's cable, and no table is to change because it fails.
#[test]
fn a_host_whose_cable_fails_is_nobodys_news() {
    let faults = "[[faults]]\nbetween = [\"h0\", \"leaf0\"]\ndown = \"0s\"\nup = \"200us\"\n\
                  [[faults]]\nbetween = [\"leaf2\", \"spine0\"]\ndown = \"100us\"\n";
    let found = found(&plan(LEAF_SPINE, faults));
    assert!(found.steps.iter().all(|step| step.settled && step.wrong.is_empty()), "{:?}", found.steps);
    assert_eq!(found.steps.iter().map(|step| step.down.len()).collect::<Vec<_>>(), [0, 1, 2, 1]);
    assert_eq!(found.steps.iter().map(|step| step.adjacencies.len()).collect::<Vec<_>>(), [12, 12, 11, 11]);
}

/// Any cables of any network fail and come back, hosts' and parallel ones too, some at once, some twice at a time, from the
/// start on and after the end of the run: every switch learns what it can, and its tables are those of the graph.
#[test]
fn whatever_fails_tables_are_those_of_the_graph() {
    const NETWORKS: [&str; 8] = [
        "topology = \"single-switch\"\nhosts = 3",
        "topology = \"two-switches\"\nleft = 2\nright = 1\ntrunks = 3",
        "topology = \"chain\"\nswitches = 4",
        "topology = \"ring\"\nswitches = 5\nhosts_per_switch = 2",
        "topology = \"tree\"\ndepth = 2\nfanout = 3",
        "topology = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2",
        "topology = \"mesh\"\ndims = [3, 2]",
        // Parallel cables in a circle, and two hosts on one switch.
        "nodes = [{ names = \"s{0..2}\", role = \"switch\" }, { names = \"h{0..3}\", role = \"host\" }]\n\
         links = [{ between = [\"s0\", \"s1\"] }, { between = [\"s0\", \"s1\"] }, { between = [\"s1\", \"s2\"] }, \
         { between = [\"s2\", \"s0\"] }, { between = [\"h0\", \"s0\"] }, { between = [\"h1\", \"s0\"] }, \
         { between = [\"h2\", \"s1\"] }, { between = [\"h3\", \"s2\"] }]",
    ];
    let (mut with_hosts, mut with_trunks) = (0, 0);
    for case in 0..40u64 {
        let mut random = Stream::new(case, 0, "spb");
        let mut draw = |below: u64| random.next_u64() % below;
        let mut plan = plan(NETWORKS[(case % 8) as usize], "");
        let graph = plan.spec.graph.clone();
        for _ in 0..=draw(5) {
            let cable = draw(graph.cables.len() as u64) as u32;
            // The run ends after 1 ms.
            let down = units::Time::ZERO + Span::from_micros([0, 10, 10, 400, 2000][draw(5) as usize]);
            let up = (draw(3) > 0).then(|| down + Span::from_micros(1 + draw(500)));
            plan.spec.faults.push(fabric::spec::Fault { cable, down, up });
            let ends = [graph.cables[cable as usize].a, graph.cables[cable as usize].b];
            let at_host = ends.iter().any(|end| graph.nodes[end.0 as usize].role == Role::Host);
            *(if at_host { &mut with_hosts } else { &mut with_trunks }) += 1;
        }
        let found = found(&plan);
        let sound = found.steps.iter().all(|step| step.settled && step.wrong.is_empty());
        assert!(sound, "case {case}: {:?}\n{:?}", plan.spec.faults, found.steps);
    }
    assert!(with_hosts > 20 && with_trunks > 20, "{with_hosts} {with_trunks}");
}
