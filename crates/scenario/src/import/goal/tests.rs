//! Small schedules, converted and loaded.

use super::*;
use crate::tests::beside;
use crate::{Limits, Plan, load_str};
use fabric::workload::Destination;
use units::Time;

const SCHEDULE: &str = "\
num_ranks 4

rank 0 {
l1: send 1024b to 1 tag 7
l2: calc 100
l3: send 10b to 2
l2 requires l1
l3 requires l2
}
/* the others
   answer */
rank 1 {
l1: recv 1024b from 0 tag 7 // the first
c: calc 50 cpu 1
l2: send 2048b to 3 tag 1 cpu 0 nic 0
c requires l1
l2 requires c
}
rank 2 {
a: recv 10b from 0
}
rank 3 { l9: recv 2048b from -1 tag -1; s: send 1b to 0 tag 9
s irequires l9
}
";

fn converted(schedule: &str) -> Result<Imported, Errors> {
    let options = Options { name: "small", flows_file: "small.flows.csv", control: None };
    import(NamedText { name: "a.goal", text: schedule }, None, &options)
}

fn plan(imported: &Imported) -> Plan {
    let plan = load_str("small.toml", &imported.scenario, &[], &beside(&imported.flows), Limits::default());
    plan.unwrap_or_else(|errors| panic!("{}\n{}", imported.scenario, errors.render(false)))
}

/// Of each flow: source, destination, bytes, earliest start in nanoseconds, and what it waits for, with delays.
type Row = (u32, u32, u64, u64, Vec<(u32, u64)>);

fn rows(plan: &Plan) -> Vec<Row> {
    let nanos = |span: Span| span.as_picos() / 1000;
    let row = |(number, flow): (u32, &fabric::workload::FlowSpec)| {
        let Destination::Host(to) = flow.destination else { panic!("a host") };
        let waits = plan.spec.dependencies.iter().filter(|entry| entry.flow == number);
        let after = waits.flat_map(|entry| entry.awaited.iter().map(move |other| (*other, nanos(entry.delay))));
        let size = flow.size.map_or(0, |size| size.get());
        (flow.source.0, to.0, size, nanos(flow.start.saturating_since(Time::ZERO)), after.collect())
    };
    (0..).zip(&plan.spec.flows).map(row).collect()
}

fn loaded(schedule: &str) -> Vec<Row> {
    rows(&plan(&converted(schedule).unwrap_or_else(|errors| panic!("{}", errors.render(false)))))
}

const ANSWER: &str = "s: send 1b to 0 tag 9\n";
const ALL: &str = "rank 0 {";

#[test]
fn sends_wait_for_what_their_operations_require() {
    let schedule = SCHEDULE.replace(ALL, "rank 0 {\nl0: recv 1b from 3 tag 9\n");
    let imported = converted(&schedule).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    assert_eq!(imported.counts, [16, 20, 4]);
    let plan = plan(&imported);
    assert_eq!(
        rows(&plan),
        [(0, 1, 1024, 0, vec![]), (0, 2, 10, 0, vec![(0, 100)]), (1, 3, 2048, 0, vec![(0, 50)]), (3, 0, 1, 0, vec![]),]
    );
    assert_eq!(plan.flow_names.iter().collect::<Vec<_>>(), ["r0.l1", "r0.l3", "r1.l2", "r3.s"]);
    // A send is complete when its last frame has left.
    assert!(plan.spec.dependencies.iter().all(|entry| entry.in_order));
    let note = |key: &str| imported.notes.iter().any(|note| note.key == key);
    assert!(note("cpu, nic") && note("receive") && note("L, o, g, G, S") && note("--topo"), "{:?}", imported.notes);
}

#[test]
fn several_waits_have_delays_of_their_own() {
    let schedule = "\
num_ranks 2
rank 0 {
first: calc 1000
a: send 100b to 1 tag 1
a requires first
b: recv 100b from 1 tag 2
c: recv 100b from 1 tag 3
slow: calc 70
slow requires b
d: send 100b to 1 tag 4
d requires slow
d requires c
d requires first
e: send 100b to 1 tag 5
e requires d
e requires b
f: send 0b to 0
g: recv 0b from 0
h: send 0b to 1 tag 6
g requires c
h requires g
}
rank 1 {
recv 100b from 0 tag 1
send 100b to 0 tag 2
send 100b to 0 tag 3
recv 100b from 0 tag 4
recv 200b from 0 tag 5
recv 0b from 0 tag 6
}
";
    let imported = converted(schedule).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    assert_eq!(
        rows(&plan(&imported)),
        [
            (0, 1, 100, 1000, vec![]),
            // Not before the computation at the start, whatever arrives.
            (0, 1, 100, 1000, vec![(4, 70), (5, 0)]),
            // What the send before has waited for is left out.
            (0, 1, 100, 0, vec![(1, 0)]),
            (0, 1, 1, 0, vec![(5, 0)]),
            (1, 0, 100, 0, vec![]),
            (1, 0, 100, 0, vec![]),
        ]
    );
    let notes: Vec<&str> = imported.notes.iter().map(|note| note.meaning.as_str()).collect();
    let says = |part: &str| notes.iter().any(|note| note.contains(part));
    assert!(says("1 messages of a rank to itself") && says("1 messages of 0 bytes") && says("different sizes"));
}

#[test]
fn equal_tags_match_in_order_and_any_source_takes_what_is_left() {
    let schedule = "\
num_ranks 3
rank 0 {
any: recv 3b from -1 tag 0
x: send 1b to 1
x requires any
}
rank 1 {
send 5b to 0
a: recv 1b from 0
b: send 7b to 2
b requires a
}
rank 2 {
send 6b to 0 tag 1
recv 7b from 1
}
";
    // The tag tells which of the two it is.
    let rows = loaded(&schedule.replace("recv 3b from -1 tag 0", "recv 3b from -1 tag 0\nrecv 6b from 2 tag 1"));
    assert_eq!(rows[0], (0, 1, 1, 0, vec![(1, 0)]));
    assert_eq!(rows[2], (1, 2, 7, 0, vec![(0, 0)]));
}

#[test]
fn mistakes_are_reported_with_line_and_remedy() {
    let wrong = |from: &str, to: &str| {
        let schedule = SCHEDULE.replace(ANSWER, "\n").replace("s irequires l9\n", "");
        assert!(schedule.contains(from), "{from}");
        let schedule = schedule.replacen(from, to, 1);
        let errors = converted(&schedule).expect_err(to);
        let first = errors.complaints().next().expect("a complaint");
        assert!(!first.help.is_empty() && first.file == "a.goal", "{first:?}");
        (first.line, first.message)
    };
    let is = |found: (usize, String), line: usize, part: &str| {
        assert!(found.0 == line && found.1.contains(part), "{found:?}");
    };
    is(wrong("num_ranks 4", "ranks 4"), 1, "not a valid line of a GOAL schedule");
    is(wrong("num_ranks 4", ""), 3, "not known yet");
    is(wrong("to 1 tag 7", "to 4 tag 7"), 4, "not a rank of the schedule");
    is(wrong("1024b to 1", "1024 to 1"), 4, "does not continue");
    is(wrong("1024b to 1", "1024b from 1"), 4, "does not continue");
    is(wrong("tag 7\n", "tag 7 prio 3\n"), 4, "should end here");
    is(wrong("calc 100", "calc x"), 5, "nanoseconds");
    is(wrong("calc 100", "calc 99999999999999999"), 5, "too long");
    is(wrong("calc 100", "compute 100"), 5, "not a valid operation");
    is(wrong("l2 requires l1", "l2 requires l5"), 7, "no operation with this label");
    is(wrong("l3: send", "l1: send"), 6, "used twice");
    is(wrong("rank 2 {", "rank 2 {\nrecv 1b from 0 tag 3"), 20, "no rank sends");
    is(wrong("from 0 tag 7", "from 0 tag 8"), 4, "no rank receives");
    is(wrong("a: recv 10b from 0\n", ""), 6, "no rank receives");
    is(wrong("l2 requires l1", "l2 requires l3"), 5, "r0.l2 waits for r0.l3 waits for r0.l2");
    is(wrong("rank 2 {", "rank 1 {"), 19, "has operations above");
    is(wrong("tag -1; \n}\n", "tag -1;"), 22, "does not end");
    // Ranks that wait for each other.
    let deadlock = "num_ranks 2\nrank 0 {\na: recv 1b from 1\nb: send 1b to 1\nb requires a\n}\nrank 1 {\na: recv 1b from 0\nb: send \
                    1b to 0\nb requires a\n}\n";
    let errors = converted(deadlock).expect_err("a deadlock");
    let first = errors.complaints().next().expect("a complaint");
    assert!(first.message.contains("r0.a waits for r1.b waits for r1.a waits for r0.b waits for r0.a"), "{first:?}");
}
