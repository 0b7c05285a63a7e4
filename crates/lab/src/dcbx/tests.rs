//! Fabrics that are configured at their core alone.

use super::{DcbPlan, Exchange, exchange};
use crate::scenario::{FileReader, Limits, NoFiles, Plan, load_str};
use control::{Origin, Settings, Timers};
use fabric::graph::{Graph, LinkSpec, NodeId, Role};
use units::{Rate, Span, Stream};

fn plan(network: &str, rest: &str) -> Plan {
    let text = format!(
        "schema_version = 1\n[network]\n{network}\nlink = {{ rate = \"10Gb/s\", latency = \"1us\" }}\n\
         [[switches]]\nbuffers = {{ capacity = \"200KB\" }}\n[run]\nduration = \"1ms\"\n{rest}"
    );
    let files: &dyn FileReader = &NoFiles;
    load_str("test.toml", &text, &[], files, Limits::default())
        .unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

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
        assert_eq!(port.findings, []);
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
        let plan = DcbPlan { settings, timers: Timers::default(), spread, apply: false };
        let exchange = exchange(&graph, &plan, seed);
        assert!(exchange.settled, "seed {seed}");
        for port in exchange.ports() {
            assert_eq!((port.operating.pfc.value, &port.findings[..]), (1 << 5, &[][..]), "seed {seed}: {port:?}");
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
    let wrong: Vec<_> = exchange.ports().filter(|port| !port.findings.is_empty()).collect();
    assert_eq!(wrong.len(), 2, "both ends of one cable: {wrong:?}");
    assert!(wrong.iter().all(|port| port.findings.iter().any(|finding| finding.name() == "pfc-differs")));
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
