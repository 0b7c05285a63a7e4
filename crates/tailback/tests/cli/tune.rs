//! Searches for thresholds, and campaigns of faults.

use crate::program::Scratch;

const INCAST: &str = r#"schema_version = 1
name = "small"
[network]
topology = "single-switch"
hosts = 4
link = { rate = "10Gb/s", latency = "1us" }
[[switches]]
buffers = { capacity = "400KB", xoff = "200KB", xon = "100KB" }
congestion_point = { name = "ecn", kmin = "5KB", kmax = "200KB", pmax = 0.1 }
[protocol]
name = "dcqcn"
[[workloads]]
name = "incast"
kind = "incast"
from = "h{1..3}"
to = "h0"
size = "100KB"
start_jitter = "5us"
[run]
duration = "1ms"
[[expectations]]
name = "the queue"
metric = "queue"
of = "sw0->h0"
op = "<"
value = "250KB"
"#;

const TUNE: [&str; 8] = [
    "tune",
    "a.toml",
    "--vary",
    "switches[*].congestion_point.kmin=1KB..150KB",
    "--vary",
    "switches[0].buffers[0].xon=20KB..180KB",
    "--minimise",
    "incast: p99 completion time",
];

#[test]
fn a_search_is_repeatable_and_resumes() {
    let scratch = Scratch::new("tune");
    scratch.file("a.toml", INCAST);
    let tune = |out: &str, more: &[&str]| scratch.run(&[&TUNE[..], &["--out", out], more].concat());
    let few = tune("few", &["--candidates", "5"]).ends(0);
    assert!(few.out.contains("given") && few.out.contains("best"), "{}", few.out);
    // The same command with more candidates extends it, and a fresh one with as many is the same.
    let read = |name: &str| std::fs::read_to_string(scratch.path(name)).expect("a file");
    let points = |out: &str| std::fs::read_dir(scratch.path(&format!("{out}/points"))).expect("points").count();
    assert_eq!(points("few"), 15);
    tune("few", &["--candidates", "14"]).ends(0);
    tune("fresh", &["--candidates", "14", "--threads", "1"]).ends(0);
    assert_eq!((points("few"), points("fresh")), (42, 42));
    assert_eq!(read("few/tune.json"), read("fresh/tune.json"));
    assert_eq!(read("few/table.csv"), read("fresh/table.csv"));
    // The best is a scenario, which is no worse than the given one, and configurations.
    scratch.run(&["run", "few/best.toml", "--no-record"]).ends(0);
    scratch.run(&["check", "few/sonic"]);
    let best = read("few/best.toml");
    assert!(
        best.contains("base = \"../a.toml\"") && best.contains("\"switches[*].congestion_point.kmin\" ="),
        "{best}"
    );
    let searched: serde_json::Value = serde_json::from_str(&read("few/tune.json")).expect("JSON");
    let mean =
        |place: usize| searched["candidates"][place]["goals"]["incast: p99 completion time (s)"]["mean"].as_f64();
    assert_eq!(searched["candidates"][0]["is_given"], true);
    assert!(mean(searched["best"].as_u64().expect("a best one") as usize) <= mean(0));
    scratch.run(&["report", "few"]).ends(0);
}

#[test]
fn two_goals_give_a_front_and_conditions_are_kept() {
    let scratch = Scratch::new("tune-front");
    scratch.file("a.toml", INCAST);
    let more = ["--minimise", "pause frames", "--subject-to", "the queue", "--candidates", "8", "--json"];
    let document = scratch.run(&[&TUNE[..], &more, &["--replications", "1"]].concat()).ends(0).json();
    let front = document["front"].as_array().expect("a front");
    assert!(!front.is_empty() && document["goals"].as_array().is_some_and(|goals| goals.len() == 2), "{document}");
    let impossible = ["--subject-to", "the queue < 1KB", "--candidates", "2", "--out", "no", "--replications", "1"];
    let said = scratch.run(&[&TUNE[..], &impossible].concat()).ends(6);
    assert!(said.out.contains("no candidate meets all conditions"), "{}", said.out);
    assert!(!scratch.path("no/best.toml").exists());
}

#[test]
fn a_search_that_cannot_be_made_is_refused() {
    let scratch = Scratch::new("tune-wrong");
    scratch.file("a.toml", INCAST);
    for (arguments, said) in [
        (["--vary", "run.durration=1ms..2ms", "--minimise", "pause frames"], "did you mean `duration`"),
        (["--vary", "run.duration=2ms..1ms", "--minimise", "pause frames"], "the smaller value first"),
        (["--vary", "switches[0].buffers[0].xon=1KB..2KB", "--minimise", "pauses"], "there is no metric 'pauses'"),
        (["--vary", "switches[0].buffers[0].xon=1KB..2KB", "--subject-to", "nothing"], "required"),
    ] {
        let found = scratch.run(&[&["tune", "a.toml"][..], &arguments].concat()).ends(2);
        assert!(found.err.contains(said), "{}", found.err);
    }
    assert!(!scratch.path("results").exists());
}

#[test]
fn every_fault_is_tried_and_the_worst_comes_first() {
    let scratch = Scratch::new("faults");
    scratch.file("a.toml", INCAST);
    let said = scratch.run(&["faults", "a.toml", "--out", "out", "--report"]).ends(0);
    let ranks: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(scratch.path("out/faults.json")).expect("ranks")).expect("JSON");
    let faults = ranks["faults"].as_array().expect("a list");
    // Four links in three ways, a switch, four hosts in two ways.
    assert_eq!(faults.len(), 4 * 3 + 1 + 4 * 2, "{}", said.out);
    let place = |name: &str| faults.iter().position(|fault| fault["name"] == name).unwrap_or_else(|| panic!("{name}"));
    // The receiver's storm stalls all; one of a sender harms nobody.
    assert!(place("host h0 storms PAUSE") < place("host h1 storms PAUSE"), "{}", said.out);
    assert!(place("switch sw0 fails") < place("link h1-sw0 has bit errors").min(place("host h1 receives slowly")));
    assert_eq!(faults[place("host h1 storms PAUSE")]["p99_completion"], 1.0);
    assert_eq!(faults[place("host h0 storms PAUSE")]["outcomes"]["stalled"], 1);
    // Times of the few flows that complete are not those of all.
    let fails = &faults[place("link h1-sw0 fails")];
    assert!(fails["completed"].as_f64() < ranks["without"]["completed"].as_f64(), "{fails}");
    assert!(fails["completion"].is_null() && fails["p99_completion"].is_null(), "{fails}");
    let watched = ["--set", "switches[0].pfc_watchdog={detection_time=\"100us\"}", "--kind", "pause-storm"];
    let text = scratch.run(&[&["faults", "a.toml", "--out", "watched"][..], &watched].concat()).ends(0).out;
    assert!(text.contains("dropped in storms"), "{text}");
    assert!(said.out.contains("completed") && !said.out.contains("dropped in storms"), "{}", said.out);
    // The variants are scenarios of their own; finished runs are kept.
    let variant = ["run", "out/faults.toml", "--variant", "host h0 storms PAUSE", "--no-record"];
    scratch.run(&variant).ends(4);
    scratch.run(&["faults", "a.toml", "--out", "out", "--json"]).ends(0);
    let other = scratch.run(&["faults", "a.toml", "--out", "out", "--kind", "link-fails"]).ends(2);
    assert!(other.err.contains("is not a result of this sweep"), "{}", other.err);
    let none = scratch.run(&["faults", "a.toml", "--out", "none", "--among", "nobody"]).ends(2);
    assert!(none.err.contains("no link and no node has such a fault"), "{}", none.err);
}
