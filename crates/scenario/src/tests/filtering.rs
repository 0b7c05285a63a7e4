//! Tests of filtering databases of shortest path bridging against RFC 6329.

use crate::{Limits, NoFiles, Plan, load_str};
use discovery::spb::{Databases, Group, Input, Service, spbm, spbv};
use fabric::graph::Graph;
use fabric::routing::Bridges;
use fabric::routing::Routing;

/// RFC 6329's network of seven bridges (figures 2 and 5): the n-th cable of a bridge is its interface n.
const SEVEN: &str = include_str!("../../../../scenarios/spb-seven.toml");

fn plan(overrides: &[&str]) -> Plan {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    load_str("spb-seven.toml", SEVEN, &overrides, &NoFiles, Limits::default())
        .unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

type Maker = fn(&Graph, &Bridges, u8, &[Service]) -> Result<Databases, String>;

/// The rows of a bridge, each as input, address, VLAN and outputs; an input of 0 is the bridge itself.
fn rows(plan: &Plan, maker: Maker, name: &str, group: bool) -> Vec<(Option<u16>, String, u16, Vec<u16>)> {
    rows_of_tree(plan, maker, 0, name, group)
}

fn rows_of_tree(
    plan: &Plan,
    maker: Maker,
    tree: u8,
    name: &str,
    group: bool,
) -> Vec<(Option<u16>, String, u16, Vec<u16>)> {
    let Some(Routing::Spb { bridges, .. }) = &plan.routing else { panic!("shortest path bridging") };
    let graph = &plan.spec.graph;
    let databases = maker(graph, bridges, tree, &plan.services).expect("databases");
    let rows = databases[&graph.find(name).expect("a bridge")].iter().filter(|row| row.group == group);
    rows.map(|row| {
        let input = match row.input {
            Input::Any => None,
            Input::Own => Some(0),
            Input::Port(port) => Some(port),
        };
        let address = row.address.map_or("*".to_owned(), |address| address.to_string().replace(':', ""));
        (input, address, row.vlan, row.outputs.clone())
    })
    .collect()
}

fn unicast(plan: &Plan, name: &str, tree: u8) -> Vec<(String, Vec<u16>)> {
    let rows = rows_of_tree(plan, spbm, tree, name, false).into_iter();
    rows.inspect(|row| assert_eq!((row.0, row.2), (None, 100 + u16::from(tree)))).map(|row| (row.1, row.3)).collect()
}

fn expected(rows: &[(u32, u16)]) -> Vec<(String, Vec<u16>)> {
    rows.iter().map(|(to, port)| (format!("4455667700{to:02}"), vec![*port])).collect()
}

fn row(input: u16, address: &str, vlan: u16, outputs: &[u16]) -> (Option<u16>, String, u16, Vec<u16>) {
    (Some(input), address.to_owned(), vlan, outputs.to_vec())
}

#[test]
fn figures_3_and_4_of_rfc_6329() {
    let plan = plan(&[]);
    assert_eq!(unicast(&plan, "b1", 0), expected(&[(2, 2), (3, 2), (4, 1), (5, 2), (6, 3), (7, 2)]));
    assert_eq!(rows(&plan, spbm, "b1", true), [row(0, "730001000001", 100, &[2])]);
    assert_eq!(unicast(&plan, "b2", 0), expected(&[(1, 1), (3, 2), (4, 4), (5, 3), (6, 6), (7, 5)]));
    let groups = [
        row(1, "730001000001", 100, &[2, 3, 5]),
        row(2, "730003000001", 100, &[1]),
        row(3, "730005000001", 100, &[1, 5]),
        row(5, "730007000001", 100, &[1, 3]),
    ];
    assert_eq!(rows(&plan, spbm, "b2", true), groups);
}

/// The two-hop paths that section 5 lists for the first algorithm, and those that the second chooses instead: of
/// two bridges between always the higher.
#[test]
fn paths_of_two_hops_go_by_the_lowest_and_by_the_highest() {
    let plan = plan(&["network.trees=2", "network.services=[]"]);
    let graph = &plan.spec.graph;
    let ends = graph.ports();
    let middle = |tree: u8, from: u32, to: u32| {
        let at = graph.find(&format!("b{from}")).expect("a bridge");
        let row = unicast(&plan, &format!("b{from}"), tree).into_iter();
        let (_, ports) = row.into_iter().find(|(address, _)| *address == format!("4455667700{to:02}")).expect("a row");
        let peer = ends[at.0 as usize][usize::from(ports[0]) - 1].peer;
        graph.nodes[peer.0 as usize].name.clone()
    };
    let first = [(1, 2, 3), (1, 2, 5), (1, 2, 7), (6, 2, 5), (4, 2, 7), (4, 1, 6), (5, 2, 7), (6, 2, 3), (4, 2, 3)];
    let second = [(1, 2, 3), (1, 4, 5), (1, 6, 7), (6, 2, 5), (4, 2, 7), (4, 2, 6), (5, 3, 7), (6, 7, 3), (4, 5, 3)];
    for (tree, paths) in [(0, first), (1, second)] {
        for (from, by, to) in paths {
            assert_eq!((middle(tree, from, to), middle(tree, to, from)), (format!("b{by}"), format!("b{by}")));
        }
    }
}

/// Section 11: raising the priority number of :2 above that of :6 makes :1 choose the way by :6.
#[test]
fn a_priority_goes_before_the_address() {
    let raised = plan(&[
        "network.bridges=[{ names = \"b*\", address = \"44:55:66:77:00:01\" }, { names = \"b2\", priority = 1 }]",
    ]);
    let to_seven = |plan: &Plan| unicast(plan, "b1", 0)[5].clone();
    assert_eq!(to_seven(&plan(&[])), ("445566770007".to_owned(), vec![2]));
    assert_eq!(to_seven(&raised), ("445566770007".to_owned(), vec![3]));
}

#[test]
fn figures_6_and_7_of_rfc_6329() {
    let plan = plan(&[]);
    let all = [
        row(1, "*", 101, &[2, 3, 5]),
        row(2, "*", 103, &[1, 4, 6]),
        row(4, "*", 104, &[2, 5]),
        row(3, "*", 105, &[1, 5, 6]),
        row(6, "*", 106, &[2, 3]),
        row(5, "*", 107, &[1, 3, 4]),
    ];
    assert_eq!(rows(&plan, spbv, "b2", false), all);
    let group = "03000000000f";
    let groups = [
        row(1, group, 101, &[2, 3, 5]),
        row(2, group, 103, &[1]),
        row(3, group, 105, &[1, 5]),
        row(5, group, 107, &[1, 3]),
    ];
    assert_eq!(rows(&plan, spbv, "b2", true), groups);
}

/// Who does not send makes no rows elsewhere; to who does not receive nothing is forwarded.
#[test]
fn senders_and_receivers_are_apart() {
    let service = "network.services=[{ isid = 7, transmit = \"b1\", receive = [\"b1\", \"b7\"] }]";
    let plan = plan(&[service]);
    assert_eq!(rows(&plan, spbm, "b1", true), [row(0, "730001000007", 100, &[2])]);
    assert_eq!(rows(&plan, spbm, "b2", true), [row(1, "730001000007", 100, &[5])]);
    assert_eq!(rows(&plan, spbm, "b7", true), []);
    assert_eq!(rows(&plan, spbv, "b2", true), []);
}

#[test]
fn what_cannot_be_told_apart_is_refused() {
    let graph = plan(&[]).spec.graph;
    let mut bridges = Bridges::plain(&graph);
    let nodes = graph.switches();
    let services = [Service { group: Group::Service(1), tree: 0, transmit: nodes.clone(), receive: nodes.clone() }];
    bridges.identifiers[nodes[1].0 as usize] = bridges.identifiers[nodes[0].0 as usize] + (1 << 20);
    let same = spbm(&graph, &bridges, 0, &services).expect_err("the same source");
    assert!(same.contains("b1 and b2 have the same SPSourceID"), "{same}");
    bridges.identifiers[nodes[1].0 as usize] = 1 << 20;
    assert!(spbm(&graph, &bridges, 0, &services).expect_err("no source").contains("b2 has no SPSourceID"));
    assert!(spbm(&graph, &bridges, 0, &[]).is_ok());
}
