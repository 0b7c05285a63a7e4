//! What was recorded is what is read, on any number of shards.

use crate::network::{How, Scratch, everything, incast, run};
use fabric::record::schema;
use results::{Results, differences};
use units::Span;

#[test]
fn one_shard_and_several_leave_the_same_tables() {
    let scratch = Scratch::new("shards");
    let spec = incast();
    let how = |shards| How { shards, until: Span::from_millis(5), recorder: everything() };
    let one = run(&spec, &how(1), &scratch.path("one")).expect("it can be written");
    let three = run(&spec, &how(3), &scratch.path("three")).expect("it can be written");
    assert_eq!(one.report.fingerprint, three.report.fingerprint);
    assert_eq!(one.flows, three.flows);
    let left = Results::open(&scratch.path("one")).expect("a result");
    let right = Results::open(&scratch.path("three")).expect("a result");
    let found = differences(&left, &right).expect("readable");
    assert!(found.is_empty(), "{found}");
    for table in left.tables() {
        let file = |out: &str| std::fs::read(scratch.path(out).join(format!("{}.parquet", table.name)));
        assert_eq!(file("one").expect("it is there"), file("three").expect("it is there"), "{}", table.name);
    }
    let rows: Vec<(&str, u64)> = left.manifest.tables.iter().map(|t| (t.name.as_str(), t.rows)).collect();
    for (name, count) in rows {
        // Nothing is dropped, PFC needs no credits; only a plan tells what is fair and what is a collective.
        let none = ["drops", "starved", "fair_shares", "collectives", "collective_ranks", "requests"].contains(&name);
        assert_eq!(count == 0, none, "{name} has {count} rows");
    }
}

#[test]
fn tables_agree_with_the_run() {
    let scratch = Scratch::new("agree");
    let out = scratch.path("run");
    let how = How { shards: 2, until: Span::from_millis(5), recorder: everything() };
    let recorded = run(&incast(), &how, &out).expect("it can be written");
    let results = Results::open(&out).expect("a result");
    assert_eq!(results.manifest.fingerprint, recorded.report.fingerprint);
    assert_eq!(results.manifest.outcome.kind, "finished");
    assert_eq!(results.manifest.hops, recorded.report.totals.hops);
    let flows = results.read(&schema::FLOWS).expect("flows");
    assert_eq!(flows.texts("name")[3], "sender 3");
    assert_eq!(flows.texts("destination")[3], "h0");
    let bytes: i64 = flows.integers("bytes").iter().sum();
    assert_eq!(bytes as u64, recorded.report.totals.delivered_bytes);
    let sampled: i64 = results.read(&schema::FLOW_SAMPLES).expect("samples").integers("bytes").iter().sum();
    assert_eq!(sampled, bytes);
    let links = results.read(&schema::LINKS).expect("links");
    assert!(links.reals("utilisation").iter().all(|&part| (0.0..=1.0).contains(&part)));
    assert!(links.reals("throughput").iter().all(|&rate| rate <= 10e9));
    let pauses = results.read(&schema::PAUSES).expect("pauses");
    assert!(!pauses.is_empty());
    assert!(pauses.integers("start").iter().zip(pauses.integers("end")).all(|(start, end)| start < end));
    let waits = results.read(&schema::WAITS).expect("waits");
    let counted: i64 = results.read(&schema::WAIT_BUCKETS).expect("buckets").integers("frames").iter().sum();
    assert_eq!(waits.integers("frames").iter().sum::<i64>(), counted);
    let notices = results.read(&schema::NOTICES).expect("notices");
    let told: i64 = flows.integers("notices").iter().sum();
    assert!(told > 0);
    assert_eq!(notices.len() as i64, told);
    assert!(notices.integers("feedback").iter().all(|feedback| (1..64).contains(feedback)));
}

#[test]
fn two_seeds_differ_from_the_first_sample_that_shows_it() {
    let scratch = Scratch::new("differ");
    let (mut spec, how) = (incast(), How { shards: 1, until: Span::from_millis(1), recorder: everything() });
    run(&spec, &how, &scratch.path("one")).expect("it can be written");
    spec.flows[5].start += Span::from_micros(40);
    run(&spec, &how, &scratch.path("two")).expect("it can be written");
    let left = Results::open(&scratch.path("one")).expect("a result");
    let right = Results::open(&scratch.path("two")).expect("a result");
    let found = differences(&left, &right).expect("readable").tables.into_iter().next().expect("they differ");
    let time = found.time.expect("it shows before the end");
    let flows = left.read(&schema::FLOWS).expect("flows");
    let start = flows.integers("start")[5] as u64;
    assert!(
        time.as_picos() >= start && time.as_picos() <= start + 10_000_000,
        "{found} but flow 5 starts at {start} ps"
    );
}
