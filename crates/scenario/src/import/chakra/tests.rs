//! Small traces, converted and loaded.

use super::trace::Attribute;
use super::*;
use crate::tests::beside;
use crate::{Limits, Plan, load_str};
use fabric::workload::Destination;
use prost::Message as _;

const MEMORY: i32 = 2;

fn attribute(name: &str, value: i64) -> Attribute {
    Attribute { name: name.into(), int64: Some(value), ..Attribute::default() }
}

fn node(id: u64, kind: i32, micros: u64, after: &[u64], attributes: &[(&str, i64)]) -> Node {
    Node {
        id,
        name: format!("node {id}"),
        kind,
        control: after.to_vec(),
        duration_micros: micros,
        attributes: attributes.iter().map(|(name, value)| attribute(name, *value)).collect(),
        ..Node::default()
    }
}

/// A trace: its first message is about the whole.
fn trace(nodes: &[Node]) -> Vec<u8> {
    // A string in field 1: the version.
    let mut bytes = vec![7, 0x0a, 5, b'0', b'.', b'0', b'.', b'4'];
    nodes.iter().for_each(|node| node.encode_length_delimited(&mut bytes).expect("room"));
    bytes
}

fn with(traces: &[Vec<u8>], groups: Option<&str>, all_reduce: &str) -> Result<Imported, Errors> {
    let names: Vec<String> = (0..traces.len()).map(|rank| format!("t.{rank}.et")).collect();
    let named: Vec<NamedBytes<'_>> =
        traces.iter().zip(&names).map(|(bytes, name)| NamedBytes { name, bytes }).collect();
    let options = Options { name: "small", flows_file: "small.flows.csv", all_reduce, control: None };
    import(&named, groups.map(|text| NamedText { name: "groups.json", text }), None, &options)
}

fn converted(traces: &[Vec<Node>]) -> Result<Imported, Errors> {
    with(&traces.iter().map(|nodes| trace(nodes)).collect::<Vec<_>>(), None, "ring")
}

fn plan(imported: Result<Imported, Errors>) -> (Plan, Vec<String>) {
    let imported = imported.unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let plan = load_str("small.toml", &imported.scenario, &[], &beside(&imported.flows), Limits::default());
    let plan = plan.unwrap_or_else(|errors| panic!("{}\n{}", imported.scenario, errors.render(false)));
    (plan, imported.notes.into_iter().map(|note| note.meaning).collect())
}

/// Of a flow: source, destination, bytes, and what it waits for, with delays in microseconds.
type Row = (u32, u32, u64, Vec<(u32, u64)>);

fn rows(plan: &Plan) -> Vec<Row> {
    let flows = (0..).zip(&plan.spec.flows);
    let rows = flows.map(|(number, flow)| {
        let Destination::Host(to) = flow.destination else { panic!("a host") };
        let waits = plan.spec.dependencies.iter().filter(|entry| entry.flow == number);
        let micros = |span: Span| span.as_picos() / 1_000_000;
        let after = waits.flat_map(|entry| entry.awaited.iter().map(move |other| (*other, micros(entry.delay))));
        (flow.source.0, to.0, flow.size.map_or(0, |size| size.get()), after.collect())
    });
    rows.collect()
}

#[test]
fn messages_wait_for_the_computations_before_them() {
    let send =
        |id, to: i64, after: &[u64]| node(id, SEND, 0, after, &[("comm_dst", to), ("comm_size", 100), ("comm_tag", 1)]);
    let receive = |id, from: i64, after: &[u64]| {
        node(id, RECEIVE, 0, after, &[("comm_src", from), ("comm_size", 100), ("comm_tag", 1)])
    };
    let work = |id, micros, after: &[u64]| node(id, COMPUTE, micros, after, &[("num_ops", 5)]);
    let first = vec![work(1, 30, &[]), send(2, 1, &[1]), node(3, METADATA, 0, &[2], &[])];
    let mut second = vec![receive(10, 0, &[]), work(11, 20, &[10]), work(12, 0, &[11]), send(13, 2, &[12])];
    second[1].control.clear();
    second[1].data = vec![10];
    let third = vec![node(0, MEMORY, 4, &[], &[]), receive(7, 1, &[0])];
    let (plan, notes) = plan(converted(&[first, second, third]));
    assert_eq!(rows(&plan), [(0, 1, 100, vec![]), (1, 2, 100, vec![(0, 20)])]);
    assert_eq!(plan.spec.flows[0].start.as_picos(), 30_000_000);
    let says = |part: &str| notes.iter().any(|note| note.contains(part));
    assert!(says("1 of 3 computations") && says("1 nodes of memory") && says("side by side"), "{notes:?}");
}

#[test]
fn a_collective_is_the_messages_of_its_algorithm() {
    let reduce = |id, after: &[u64]| node(id, COLLECTIVE, 0, after, &[("comm_type", 0), ("comm_size", 3000)]);
    let rank = |micros| {
        vec![node(1, COMPUTE, micros, &[], &[]), reduce(2, &[1]), node(3, COMPUTE, 7, &[2], &[]), reduce(4, &[3])]
    };
    let (plan, notes) = plan(converted(&[rank(10), rank(20), rank(30)]));
    let rows = rows(&plan);
    // Two rings of 2 (N - 1) steps with a third of the data each.
    assert_eq!(rows.len(), 2 * 3 * 4);
    assert!(rows.iter().all(|row| row.2 == 1000 && row.1 == (row.0 + 1) % 3), "{rows:?}");
    let first: Vec<u64> = plan.spec.flows[..3].iter().map(|flow| flow.start.as_picos() / 1_000_000).collect();
    assert_eq!(first, [10, 20, 30]);
    // The second begins at each rank 7 us after the first is complete there.
    for row in &rows[12..15] {
        assert!(!row.3.is_empty() && row.3.iter().all(|(_, delay)| *delay == 7), "{rows:?}");
    }
    assert!(rows[15..18].iter().all(|row| row.3.iter().all(|(_, delay)| *delay == 0)));
    assert!(notes.iter().any(|note| note.contains("algorithm ring")));
    // Another algorithm, and other operations.
    let traces: Vec<Vec<u8>> = (0..3).map(|_| trace(&rank(1))).collect();
    let (tree, _) = self::plan(with(&traces, None, "tree"));
    assert_eq!(tree.spec.flows.len(), 2 * 4);
    let bytes = |kind| {
        let rank = vec![node(1, COLLECTIVE, 0, &[], &[("comm_type", kind), ("comm_size", 3000)])];
        let (plan, _) = self::plan(converted(&[rank.clone(), rank.clone(), rank]));
        self::rows(&plan).iter().map(|row| row.2).sum::<u64>()
    };
    // Everything that is sent: all-reduce, reduce, all-gather, gather, scatter, broadcast, all-to-all, reduce-scatter
    // (also by blocks), and a barrier.
    let all: Vec<u64> = (0..10).map(bytes).collect();
    assert_eq!(all, [12_000, 6000, 18_000, 2000, 2000, 6000, 6000, 6000, 6000, 12]);
}

#[test]
fn groups_are_those_of_the_traces_or_of_a_file() {
    let gather = |group: &str| {
        let mut node = node(1, COLLECTIVE, 0, &[], &[("comm_type", 2), ("comm_size", 8)]);
        let name = Attribute { name: "pg_name".into(), string: Some(group.into()), ..Attribute::default() };
        node.attributes.push(name);
        trace(&[node])
    };
    let traces = [gather("a"), gather("b"), gather("a"), gather("b")];
    let pairs = |groups: Option<&str>| {
        let (plan, _) = plan(with(&traces, groups, "ring"));
        rows(&plan).into_iter().map(|row| (row.0, row.1)).collect::<Vec<_>>()
    };
    assert_eq!(pairs(None), [(0, 2), (2, 0), (1, 3), (3, 1)]);
    assert_eq!(pairs(Some(r#"{"a": [2, 0], "b": [1, 3]}"#))[..2], [(2, 0), (0, 2)]);
    let wrong = |groups: &str| {
        let errors = with(&traces, Some(groups), "ring").expect_err(groups);
        errors.complaints().next().expect("a complaint").message
    };
    assert!(wrong(r#"{"a": [0, 2]}"#).contains("does not have the group"));
    assert!(wrong(r#"{"a": [0, 1], "b": [1, 3]}"#).contains("not a member"));
    assert!(wrong(r#"{"a": [0, 1, 2], "b": [1, 3]}"#).contains("rank 1 has none"));
    assert!(
        wrong(r#"{"a": [0, 9]}"#).contains("not a list of ranks") && wrong("[]").contains("not a valid file of groups")
    );
}

#[test]
fn mistakes_are_reported_by_file_and_message() {
    let good =
        |to: i64| vec![node(1, COMPUTE, 1, &[], &[]), node(2, SEND, 0, &[1], &[("comm_dst", to), ("comm_size", 9)])];
    let other = vec![node(1, RECEIVE, 0, &[], &[("comm_src", 0), ("comm_size", 9)])];
    let complaint = |imported: Result<Imported, Errors>| {
        let errors = imported.expect_err("a mistake");
        let first = errors.complaints().next().expect("a complaint");
        assert!(!first.help.is_empty(), "{first:?}");
        (first.file, first.line, first.message)
    };
    let is = |traces: &[Vec<Node>], file: &str, line: usize, part: &str| {
        let found = complaint(converted(traces));
        assert!(found.0 == file && found.1 == line && found.2.contains(part), "{found:?}");
    };
    plan(converted(&[good(1), other.clone()]));
    is(&[good(2), other.clone()], "t.0.et", 3, "no comm_dst");
    is(&[good(1), vec![node(1, COMPUTE, 1, &[], &[])]], "t.0.et", 3, "no rank receives");
    is(&[good(1), [&other[..], &good(0)[..]].concat()], "t.1.et", 3, "two nodes have the number 1");
    is(
        &[good(1), vec![node(1, RECEIVE, 0, &[5], &[("comm_src", 0), ("comm_size", 9)])]],
        "t.1.et",
        2,
        "waits for node 5",
    );
    is(&[good(1), vec![node(1, 17, 0, &[], &[])]], "t.1.et", 2, "unknown type 17");
    is(&[good(1), vec![node(1, COLLECTIVE, 0, &[], &[("comm_size", 9)])]], "t.1.et", 2, "no comm_type");
    is(&[good(1), vec![node(1, RECEIVE, 0, &[], &[("comm_src", 0)])]], "t.1.et", 2, "no comm_size");
    is(&[good(1), vec![]], "t.1.et", 1, "no nodes");
    let with_reduce = |size| vec![node(1, COLLECTIVE, 0, &[], &[("comm_type", 0), ("comm_size", size)])];
    is(&[with_reduce(9), with_reduce(8)], "t.1.et", 2, "rank 0 has ALL_REDUCE of 9 B");
    // Files that are cut off, or no traces at all.
    let mut bytes = trace(&good(1));
    bytes.pop();
    let found = complaint(with(&[bytes, trace(&other)], None, "ring"));
    assert!(found.0 == "t.0.et" && found.1 == 3 && found.2.contains("ends within a message"), "{found:?}");
    let found = complaint(with(&[vec![0, 3, 1, 2, 3], trace(&other)], None, "ring"));
    assert!(found.2.contains("not a valid node"), "{found:?}");
}
