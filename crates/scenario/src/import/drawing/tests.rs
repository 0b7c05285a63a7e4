//! Drawings in each format, whole and damaged.

use super::*;
use crate::{Limits, NoFiles, Plan, load_str};

const DOT: &str = r#"/* a leaf-spine */
strict graph fabric {
    rankdir = LR; node [shape=box, role=switch]
    edge [speed="400Gb/s", length=40m]
    subgraph cluster_leaves { leaf0; leaf1 }
    spine0 -- { leaf0 leaf1 } [color=red]
    "spine 1":n -- leaf0 [rate="400G"];
    "spine 1" -- leaf1
    node [role=host, vendor=acme] edge [length="5 m" speed=100Gbps]
    // servers
    a -- leaf0; b -- leaf1
    c -- leaf1 [delay=30ns]
}
"#;

const JSON: &str = r#"{"directed": true, "multigraph": false, "graph": {},
 "nodes": [{"id": "s0", "type": "switch"}, {"id": 1, "pos": [0, 1]}, {"id": "h2", "type": "host"}],
 "links": [
  {"source": "s0", "target": 1, "bandwidth": "100 Gbps", "weight": 1},
  {"source": 1, "target": "s0", "bandwidth": "100 Gbps"},
  {"source": "h2", "target": "s0", "latency": "1us"}
 ]}"#;

const CLAB: &str = "name: fabric
topology:
  defaults:
    kind: nokia_srlinux
  nodes:
    spine1: {}
    leaf1: &leaf
      image: ghcr.io/nokia/srlinux
    leaf2: *leaf
    client1: {kind: linux}
    client2:
      kind: linux
  links:
    - endpoints: [\"leaf1:e1-49\", \"spine1:e1-1\"]
      labels: {speed: 400G}
    - endpoints: [\"leaf2:e1-49\", \"spine1:e1-2\"]
      vars: {speed: 400G, delay: 200ns}
    - type: veth
      endpoints:
        - {node: client1, interface: eth1}
        - {node: leaf1, interface: e1-1}
    - endpoints: [\"client2:eth1\", \"leaf2:e1-1\"]
      mtu: 9000
    - endpoints: [\"leaf2:e1-2\", \"host:veth1\"]
";

const FAST: Defaults = Defaults { rate: Some(Rate::from_gigabits(100)), latency: None };

fn read(text: &str, format: Format, defaults: &Defaults) -> (Plan, Vec<String>) {
    let imported = import(NamedText { name: "net", text }, format, defaults, "net");
    let imported = imported.unwrap_or_else(|errors| panic!("{errors}"));
    let text = &imported.scenario;
    let plan = load_str("net.toml", text, &[], &NoFiles, Limits::default());
    let notes = imported.notes.iter().map(|note| format!("{}: {}", note.key, note.meaning)).collect();
    (plan.unwrap_or_else(|errors| panic!("{errors}\n{text}")), notes)
}

fn refused(text: &str, format: Format, defaults: &Defaults) -> Vec<String> {
    let errors = import(NamedText { name: "net", text }, format, defaults, "net").expect_err("a mistake");
    errors.complaints().map(|it| format!("{}:{}: {}", it.file, it.line, it.message)).collect()
}

fn links(plan: &Plan) -> Vec<String> {
    let name = |node: fabric::graph::NodeId| &plan.spec.graph.nodes[node.0 as usize].name;
    let link = |cable: &fabric::graph::Cable| {
        format!("{} {} {} {}", name(cable.a), name(cable.b), cable.link.rate, cable.link.latency)
    };
    plan.spec.graph.cables.iter().map(link).collect()
}

#[test]
fn dot_has_nodes_edges_groups_and_defaults() {
    let (plan, notes) = read(DOT, Format::Dot, &Defaults::default());
    assert_eq!(
        links(&plan),
        [
            "spine0 leaf0 400Gb/s 200ns",
            "spine0 leaf1 400Gb/s 200ns",
            "spine 1 leaf0 400Gb/s 200ns",
            "spine 1 leaf1 400Gb/s 200ns",
            "a leaf0 100Gb/s 25ns",
            "b leaf1 100Gb/s 25ns",
            "c leaf1 100Gb/s 30ns",
        ]
    );
    assert_eq!(plan.spec.graph.hosts().len(), 3);
    assert!(notes.contains(&"attributes: not understood: vendor".to_owned()), "{notes:?}");
}

#[test]
fn json_pairs_directions_and_names_may_be_numbers() {
    let (plan, notes) = read(JSON, Format::NodeLink, &FAST);
    assert_eq!(links(&plan), ["s0 1 100Gb/s 25ns", "h2 s0 100Gb/s 1us"]);
    // Node 1 has one link and no type.
    assert_eq!(plan.spec.graph.hosts().len(), 2);
    for note in ["links: 1 without a speed have 100Gb/s (--rate)", "attributes: not understood: pos, weight"] {
        assert!(notes.iter().any(|it| it == note), "{note}: {notes:?}");
    }
}

#[test]
fn containerlab_has_kinds_anchors_and_both_forms_of_endpoints() {
    let (plan, notes) = read(CLAB, Format::Containerlab, &FAST);
    assert_eq!(
        links(&plan),
        [
            "leaf1 spine1 400Gb/s 200ns",
            "leaf2 spine1 400Gb/s 200ns",
            "client1 leaf1 100Gb/s 25ns",
            "client2 leaf2 100Gb/s 25ns",
        ]
    );
    assert_eq!((plan.spec.graph.hosts().len(), plan.spec.graph.switches().len()), (2, 3));
    assert!(notes.iter().any(|it| it.starts_with("links: 1 lead out of the laboratory")), "{notes:?}");
}

#[test]
fn an_interface_of_containerlab_has_one_link() {
    let text = "name: lab\ntopology:\n  nodes:\n    a: {kind: ceos}\n    b: {kind: ceos}\n  links:\n\
        \x20   - endpoints: [\"a:eth1\", \"b:eth1\"]\n    - endpoints: [\"a:eth1\", \"b:eth2\"]\n";
    let file = NamedText { name: "lab.yml", text };
    let errors = import(file, Format::Containerlab, &FAST, "lab").expect_err("two links");
    assert!(errors.to_string().contains("a:eth1 has two links"), "{errors}");
}

#[test]
fn a_drawing_of_switches_alone_gets_hosts() {
    let (plan, notes) = read("graph { a -- b -- c -- a }", Format::Dot, &FAST);
    assert_eq!((plan.spec.graph.hosts().len(), plan.spec.graph.switches().len()), (3, 3));
    assert!(notes.iter().any(|it| it.starts_with("hosts: no node is a host")), "{notes:?}");
}

#[test]
fn mistakes_have_file_line_and_key() {
    let cases = [
        (
            Format::Dot,
            DOT.replace("speed=\"400Gb/s\", ", ""),
            "net:6: the link between spine0 and leaf0 has no `speed`",
        ),
        (Format::Dot, DOT.replace("100Gbps", "100"), "net:11: the link between a and leaf0 has `speed` = \"100\""),
        (
            Format::Dot,
            DOT.replace("rate=\"400G\"", "rate=\"200G\""),
            "net:7: `speed` and `rate` of the link between spine 1",
        ),
        (Format::Dot, DOT.replace("30ns", "30"), "has `delay` = \"30\""),
        (Format::Dot, DOT[..DOT.len() - 3].to_owned(), "`}` is expected, but the file ends: it may be truncated"),
        (Format::Dot, DOT.replace("30ns]", "\"30ns]"), "this text has no closing quote"),
        (Format::Dot, DOT.replace("a -- leaf0", "a -- b"), "net:11: hosts a and b are connected directly"),
        (Format::Dot, DOT.replace("a -- leaf0", "leaf0 -- leaf0"), "a link leads from leaf0 to itself"),
        (Format::Dot, "nonsense".to_owned(), "net:1: a graph begins with `graph` or `digraph`"),
        (Format::NodeLink, JSON[..JSON.len() / 2].to_owned(), "this is not JSON: EOF"),
        (Format::NodeLink, JSON.replace("\"target\": 1", "\"target\": 9"), "net:4: link 0 names 9, which is not among"),
        (
            Format::NodeLink,
            JSON.replacen("100 Gbps\"}", "50 Gbps\"}", 1),
            "`bandwidth` from 1 to s0 differs from that of the other",
        ),
        (Format::NodeLink, JSON.replace("\"id\": 1", "\"id\": \"s0\""), "node s0 is there twice"),
        (Format::NodeLink, "{\"nodes\": []}".to_owned(), "there is no list `links`"),
        (
            Format::Containerlab,
            CLAB.replace("leaf1:e1-49", "leaf9:e1-49"),
            "net:14: this link names leaf9, which is not in `nodes`",
        ),
        (Format::Containerlab, CLAB.replace("\"leaf1:e1-49\", ", ""), "does not have two `endpoints`"),
        (Format::Containerlab, CLAB.replace("\"spine1:e1-2\"]", "\"spine1:e1-2"), "this is not YAML"),
        (
            Format::Containerlab,
            CLAB.replace("    leaf2: *leaf\n", "    leaf1: *leaf\n"),
            "the key leaf1 is there twice",
        ),
        (Format::Containerlab, "name: x\n".to_owned(), "there is no `topology`"),
    ];
    for (format, text, message) in cases {
        let defaults = if format == Format::Dot { Defaults::default() } else { FAST };
        let complaints = refused(&text, format, &defaults);
        assert!(complaints.iter().any(|it| it.contains(message)), "{message}: {complaints:?}");
    }
    let complaints = refused(CLAB, Format::Containerlab, &Defaults::default());
    assert!(complaints[0].contains("the link between client1 and leaf1 has no `speed`"), "{complaints:?}");
}
