//! Tests of fabrics that are configured only at their core.

use super::plan;
use crate::Plan;
use control::{Origin, Settings, Timers};
use discovery::dcbx::{DcbPlan, Exchange, LinkDown, Port, exchange, history};
use fabric::graph::{Graph, LinkSpec, NodeId, Role};
use units::{Rate, Span, Stream};

const CORE: &str = "pfc = [3]\nets = [{ priorities = [0], share = 60 }, { priorities = [3], share = 40 }]\n\
                    applications = [{ priority = 3, kind = \"ether-type\", protocol = 35078 }]\n";

fn exchanged(plan: &Plan) -> Exchange {
    let dcb: &DcbPlan = plan.dcb.as_ref().expect("it has [[dcb]]");
    exchange(&plan.spec.graph, dcb, plan.run.seed)
}

/// Every port pauses priority 3, shares as the core does, and nothing is found.
fn all_as_the_core(exchange: &Exchange) {
    assert!(exchange.settled);
    for port in exchange.ports() {
        let operating = &port.operating;
        assert_eq!(operating.pfc.value, 8, "{port:?}");
        assert_eq!(operating.ets.value.shares[..2], [60, 40]);
        assert_eq!(operating.apps.value.priority(1, 35078), Some(3));
        assert_eq!(port.mismatches, []);
    }
}

#[test]
fn a_leaf_spine_learns_from_its_spines() {
    let network = "topology = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 3";
    let exchange = exchanged(&plan(network, &format!("[[dcb]]\nmatch = \"spine*\"\n{CORE}")));
    all_as_the_core(&exchange);
    let learned = exchange.ports().filter(|port| port.operating.pfc.from == Origin::Peer).count();
    // A source for each leaf and host; the second spine is not followed but agreed with.
    assert_eq!((learned, exchange.ports().filter(|port| port.source).count()), (4 + 12, 4 + 12));
    // Two cables of 1 us and the frames on them, no waiting for any timer.
    let (shortest, longest) = (Span::from_micros(2), Span::from_micros(3));
    assert!(exchange.converged > shortest && exchange.converged < longest, "{}", exchange.converged);
}

#[test]
fn a_fat_tree_learns_from_its_core() {
    let exchange = exchanged(&plan("topology = \"fat-tree\"\nk = 4", &format!("[[dcb]]\nmatch = \"core*\"\n{CORE}")));
    all_as_the_core(&exchange);
    let (shortest, longest) = (Span::from_micros(3), Span::from_micros(5));
    assert!(exchange.converged > shortest && exchange.converged < longest, "{}", exchange.converged);
}

/// Whoever starts first: the end is the same. What is said before a neighbour listens is said again when it speaks.
#[test]
fn the_order_of_starting_does_not_matter() {
    for seed in 1..6 {
        let spread = format!("seed = {seed}\n[dcbx]\nspread = \"20s\"\n[[dcb]]\nmatch = \"core*\"\n{CORE}");
        let exchange = exchanged(&plan("topology = \"fat-tree\"\nk = 4", &spread));
        all_as_the_core(&exchange);
        assert!(exchange.last_change <= Span::from_secs(25), "{}", exchange.last_change);
    }
}

/// One switch of any graph configures all others, over whatever paths and in whatever order they start.
#[test]
fn one_node_configures_any_graph() {
    let link = LinkSpec { rate: Rate::from_gigabits(10), latency: Span::from_micros(1), bit_error_rate: 0.0 };
    for seed in 0..60 {
        let mut chance = Stream::new(seed, 0, "graph");
        let count = chance.between(2, 14);
        let mut graph = Graph::default();
        let nodes: Vec<NodeId> = (0..count).map(|n| graph.node(format!("sw{n}"), Role::Switch, 1)).collect();
        for n in 1..count {
            graph.cable(nodes[n as usize], nodes[chance.below(n) as usize], link);
        }
        for _ in 0..chance.below(2 * count) {
            let (a, b) = (chance.below(count), chance.below(count));
            if a != b {
                graph.cable(nodes[a as usize], nodes[b as usize], link);
            }
        }
        let core = chance.below(count) as usize;
        let mut settings = vec![Settings::default(); nodes.len()];
        (settings[core].pfc.willing, settings[core].pfc.priorities) = (false, 1 << 5);
        settings[core].ets.willing = false;
        settings[core].ets.table.classes[5] = Some(1);
        settings[core].ets.recommendation = Some(settings[core].ets.table);
        let spread = Span::from_secs(seed % 3 * 20);
        let (timers, changes, link_down) = (Timers::default(), Vec::new(), LinkDown::Forget);
        let plan = DcbPlan { settings, timers, spread, apply: false, changes, link_down };
        let exchange = exchange(&graph, &plan, seed);
        assert!(exchange.settled, "seed {seed}");
        for port in exchange.ports() {
            assert_eq!((port.operating.pfc.value, &port.mismatches[..]), (1 << 5, &[][..]), "seed {seed}: {port:?}");
        }
        let sources = exchange.ports().filter(|port| port.source).count();
        assert_eq!(sources, nodes.len() - 1, "seed {seed}: a tree with the core as its root");
    }
}

#[test]
fn an_edge_that_does_not_yield_is_named() {
    let rest = format!("[[dcb]]\nmatch = \"spine*\"\n{CORE}\n[[dcb]]\nmatch = \"h0\"\npfc = [4]\n");
    let network = "topology = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2";
    let exchange = exchanged(&plan(network, &rest));
    let wrong: Vec<_> = exchange.ports().filter(|port| !port.mismatches.is_empty()).collect();
    assert_eq!(wrong.len(), 2, "both ends of one cable: {wrong:?}");
    assert!(wrong.iter().all(|port| port.mismatches.iter().any(|finding| finding.name() == "pfc-differs")));
}

#[test]
fn a_run_takes_what_the_exchange_comes_to() {
    let rest = "[dcbx]\napply = true\n[[dcb]]\nmatch = \"sw*\"\npfc = [1]\n\
         ets = [{ priorities = [0], share = 75 }, { priorities = [1], share = 25 }]\n\
         [[classes]]\nname = \"lan\"\n[[classes]]\nname = \"storage\"\n";
    let plan = plan("topology = \"single-switch\"\nhosts = 3", rest);
    let lossless: Vec<bool> = plan.spec.classes.iter().map(|class| class.lossless).collect();
    assert_eq!(lossless, [false, true]);
    for egress in [&plan.spec.switches[0].egress, &plan.spec.adapters[0].egress] {
        let fabric::spec::Egress::Groups(groups) = egress else { panic!("{egress:?}") };
        let quantum = |group: &fabric::spec::EgressGroup| match group.share {
            fabric::spec::Share::Weighted { quantum } => quantum.get(),
            fabric::spec::Share::Strict => 0,
        };
        assert_eq!(groups.iter().map(|group| group.classes).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(quantum(&groups[0]), 3 * quantum(&groups[1]));
    }
}

const LEAF_SPINE: &str = "topology = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2";

fn later(plan: &Plan) -> Vec<Exchange> {
    let dcb = plan.dcb.as_ref().expect("it has [[dcb]]");
    history(&plan.spec.graph, dcb, &plan.spec.faults, plan.run.seed)
}

fn port<'a>(plan: &Plan, exchange: &'a Exchange, node: &str, peer: &str) -> &'a Port {
    let name = |node: NodeId| plan.spec.graph.nodes[node.0 as usize].name.as_str();
    exchange.ports().find(|port| (name(port.node), name(port.peer)) == (node, peer)).expect("a port")
}

/// The leaf's cable to the spine that it learned from fails. It falls back, and so do its hosts, learns from nobody for
/// five seconds, and then from the other spine. When the cable is back, nothing but the cable's own ends changes.
#[test]
fn a_leaf_that_loses_its_source_takes_the_other_spine() {
    let rest = format!(
        "[[dcb]]\nmatch = \"spine*\"\n{CORE}\n[[faults]]\nbetween = [\"leaf0\", \"spine0\"]\ndown = \"100us\"\nup = \"200s\"\n"
    );
    let plan = plan(LEAF_SPINE, &rest);
    let steps = later(&plan);
    assert_eq!(steps.len(), 3);
    assert!(steps.iter().all(|step| step.settled));
    let [start, down, up] = &steps[..] else { panic!("three") };
    assert!(port(&plan, start, "leaf0", "spine0").source);
    // The failed cable's ends, leaf0's others, and its hosts: not the other leaf.
    assert!(port(&plan, down, "leaf0", "spine1").source && port(&plan, down, "h0", "leaf0").operating.pfc.value == 8);
    assert_eq!(port(&plan, down, "leaf0", "spine0").operating.pfc.value, 8, "its own by now, learned from spine1");
    assert!(down.converged > control::HOLD_DOWN && down.converged < control::HOLD_DOWN + Span::from_millis(1));
    assert_eq!(down.changed, 6, "four ports of leaf0, two hosts");
    assert!(up.converged < Span::from_micros(3), "{}", up.converged);
    all_as_the_core(up);
}

/// As 802.1AB's receive machine has it, what was heard lasts for its time to live when the link is down.
#[test]
fn a_leaf_that_keeps_what_it_heard_has_it_for_its_time_to_live() {
    let rest = format!(
        "[dcbx]\nlink_down = \"keep\"\n[[dcb]]\nmatch = \"spine*\"\n{CORE}\n\
         [[faults]]\nbetween = [\"leaf0\", \"spine0\"]\ndown = \"100us\"\n"
    );
    let plan = plan(LEAF_SPINE, &rest);
    let steps = later(&plan);
    // Said again every 30 s, believed for 120 s: 89 s at least from any failure; then five seconds without.
    let (shortest, longest) = (Span::from_secs(90), Span::from_secs(126));
    assert!(
        steps[1].settled && steps[1].converged > shortest && steps[1].converged < longest,
        "{}",
        steps[1].converged
    );
    assert!(port(&plan, &steps[1], "leaf0", "spine1").source);
}

/// The core is configured anew while everything runs: it takes two cables' time until the last host has followed.
#[test]
fn the_core_changes_its_mind() {
    let rest = format!(
        "[[dcb]]\nmatch = \"spine*\"\n{CORE}\n[[dcb]]\nmatch = \"spine*\"\nat = \"2ms\"\npfc = [3, 4]\n\
         ets = [{{ priorities = [0], share = 50 }}, {{ priorities = [3, 4], share = 50 }}]\n"
    );
    let plan = plan(LEAF_SPINE, &rest);
    let steps = later(&plan);
    assert_eq!(steps[1].at, Some(units::Time::ZERO + Span::from_millis(2)));
    assert!(steps[1].settled && steps[1].ports().all(|port| port.operating.pfc.value == 0x18));
    assert!(
        steps[1].ports().all(|port| port.operating.ets.value.shares[..2] == [50, 50] && port.mismatches.is_empty())
    );
    assert!(steps[1].converged > Span::from_micros(2) && steps[1].converged < Span::from_micros(4));
    assert_eq!(steps[1].changed, steps[1].ports().count());
}

#[test]
fn what_happens_at_once_is_one_step_and_what_comes_too_soon_is_said_so() {
    let rest = format!(
        "[[dcb]]\nmatch = \"spine*\"\n{CORE}\n[[faults]]\nbetween = [\"leaf0\", \"spine0\"]\ndown = \"1ms\"\nup = \"2ms\"\n\
         [[faults]]\nbetween = [\"leaf1\", \"spine0\"]\ndown = \"1ms\"\n"
    );
    let plan = plan(LEAF_SPINE, &rest);
    let steps = later(&plan);
    assert_eq!(
        steps.iter().map(|step| (step.events.len(), step.settled)).collect::<Vec<_>>(),
        [(0, true), (2, false), (1, true)]
    );
}

/// Ports that came to different results run together, each by its own.
#[test]
fn a_run_takes_each_ports_own_result() {
    let classes = "[[classes]]\nname = \"lan\"\n[[classes]]\nname = \"storage\"\n";
    let core = "pfc = [1]\nets = [{ priorities = [0], share = 60 }, { priorities = [1], share = 40 }]\n";
    let rest = format!(
        "[dcbx]\napply = true\n[[dcb]]\nmatch = \"sw*\"\n{core}[[dcb]]\nmatch = \"h0\"\n\
         ets = [{{ priorities = [0], share = 25 }}, {{ priorities = [1], share = 75 }}]\n{classes}"
    );
    let plan = plan("topology = \"single-switch\"\nhosts = 3", &rest);
    assert!(plan.spec.classes[1].lossless && !plan.spec.classes[0].lossless);
    let h0 = plan.spec.graph.find("h0").expect("a host");
    // The kind has its first port's shares, h0's; the other hosts differ from it.
    let apart: Vec<(u32, u8, bool)> =
        plan.spec.ports.iter().map(|port| (port.node.0, port.pfc, port.egress.is_some())).collect();
    let hosts = plan.spec.graph.hosts();
    assert_eq!(apart, [(h0.0, 0, false), (hosts[1].0, 2, true), (hosts[2].0, 2, true)]);
}
