//! `run`: the summary for people and for programs.

use crate::program::{SOUND, Scratch};

#[test]
fn the_summary_of_the_victim_is_as_it_was() {
    let scratch = Scratch::new("victim");
    scratch.scenario("victim.toml");
    scratch.run(&["run", "victim.toml", "--seed", "1", "--out", "r"]).ends(0).matches("run-victim");
}

#[test]
fn the_summary_of_a_deadlock_names_the_circle() {
    let scratch = Scratch::new("ring");
    scratch.scenario("ring-deadlock.toml");
    scratch.run(&["run", "ring-deadlock.toml", "--out", "r"]).ends(0).matches("run-ring-deadlock");
    scratch.scenario("pfc-watchdog.toml");
    scratch.run(&["run", "pfc-watchdog.toml", "--out", "w"]).ends(0).matches("run-pfc-watchdog");
}

#[test]
fn the_summary_as_json_has_all_of_it() {
    let scratch = Scratch::new("json");
    scratch.scenario("victim.toml");
    let summary = scratch.run(&["run", "victim.toml", "--json", "--seed", "3", "--out", "r"]).ends(0).json();
    let keys: Vec<&str> = summary.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected = [
        "collectives",
        "delivered_bytes",
        "dropped_frames",
        "expectations",
        "fingerprint",
        "lost_acknowledgements",
        "lost_control_frames",
        "lost_frames",
        "name",
        "outcome",
        "outcome_details",
        "outcome_text",
        "packet_hops",
        "pause_frames",
        "pause_lost_frames",
        "recovery",
        "requests",
        "restored_storms",
        "results",
        "seed",
        "simulated_seconds",
        "slowdown_by_size",
        "storms",
        "trimmed_frames",
        "wall_seconds",
        "watchdog_frames",
        "workloads",
    ];
    assert_eq!(keys, expected);
    assert_eq!(
        (&summary["name"], &summary["seed"], &summary["outcome"]),
        (&"victim".into(), &3.into(), &"finished".into())
    );
    assert_eq!(summary["results"], "r");
    assert_eq!(summary["expectations"][0]["comparison"], "<");
    assert_eq!(summary["expectations"][1]["comparison"], "=");
    let rate = summary["workloads"][1]["throughput_bits_per_second"]["mean"].as_f64().expect("a rate");
    assert!((1e9..6e9).contains(&rate), "{rate}");
}

#[test]
fn the_summary_as_json_has_the_storms_of_watchdogs() {
    let scratch = Scratch::new("storms");
    scratch.scenario("pfc-watchdog.toml");
    let summary = scratch.run(&["run", "pfc-watchdog.toml", "--json", "--no-record"]).ends(0).json();
    let count = |name: &str| summary[name].as_u64().unwrap();
    assert!(count("storms") > 0 && count("restored_storms") <= count("storms"), "{summary}");
    assert!(count("watchdog_frames") > 0 && count("dropped_frames") == 0, "{summary}");
}

#[test]
fn the_summary_as_json_has_the_counters_of_recovery() {
    let scratch = Scratch::new("recovery");
    scratch.scenario("failing-cable.toml");
    let summary = scratch.run(&["run", "failing-cable.toml", "--json", "--no-record"]).ends(0).json();
    let (whole, workload) = (&summary["recovery"], &summary["workloads"][0]);
    assert_eq!(whole, &workload["recovery"], "there is one workload");
    let count = |name: &str| whole[name].as_u64().unwrap();
    // Every frame that was sent again replaces one that was lost or rejected, or arrives twice.
    let gone = summary["lost_frames"].as_u64().unwrap() + count("rejected_frames") + count("duplicate_frames");
    assert_eq!(count("retransmitted_frames"), gone);
    assert!(count("rejected_frames") > 0 && count("naks") + count("timeouts") > 0, "{whole}");
    assert_eq!(count("out_of_order_frames"), count("rejected_frames"));
    let goodput = workload["goodput_bits_per_second"].as_f64().unwrap();
    assert!(goodput < workload["throughput_bits_per_second"]["mean"].as_f64().unwrap());
    let early = count("rejected_frames");
    let words = format!("{early} frames arrived out of order; destinations discarded {early} of them and ");
    let said = scratch.run(&["run", "failing-cable.toml", "--no-record"]).ends(0);
    assert!(said.out.contains(&words), "{}", said.out);
}

/// Frames overtake each other where switches spray them, with and without a recovery that keeps them.
#[test]
fn the_summary_counts_frames_out_of_order() {
    let scratch = Scratch::new("order");
    scratch.scenario("leaf-spine.toml");
    let sprayed = ["run", "leaf-spine.toml", "--no-record", "--set", "network.multipath=spray"];
    let count = |more: &[&str]| {
        let said = scratch.run(&[&sprayed, more].concat());
        let frames = said.out.split_once(" frames arrived out of order").unwrap_or_else(|| panic!("{}", said.out)).0;
        let frames = frames.rsplit(['\n', ' ']).next().unwrap().replace(',', "");
        let frames: u64 = frames.parse().unwrap();
        let summary = scratch.run(&[&sprayed, more, &["--json"]].concat()).json();
        assert_eq!(summary["recovery"]["out_of_order_frames"], frames);
        assert_eq!(summary["recovery"]["rejected_frames"], 0);
        frames
    };
    assert!(count(&[]) > 0);
    assert!(count(&["--set", "recovery=selective-repeat"]) > 0);
}

#[test]
fn threads_and_recording_do_not_change_the_result() {
    let scratch = Scratch::new("threads");
    scratch.scenario("fat-tree.toml");
    let run = |more: &[&str]| {
        let arguments = ["run", "fat-tree.toml", "--json", "--set", "run.duration=400us"];
        let said = scratch.run(&[&arguments, more].concat());
        assert!(matches!(said.code, Some(0 | 6)), "{}", said.err);
        said.json()["fingerprint"].clone()
    };
    let one = run(&["--no-record"]);
    assert_eq!(one, run(&["--no-record", "--threads", "2"]));
    assert_eq!(one, run(&["--threads", "4", "--out", "r"]));
    assert_ne!(one, run(&["--no-record", "--seed", "99"]));
}

#[test]
fn results_without_a_name_go_to_the_next_free_place() {
    let scratch = Scratch::new("free-place");
    scratch.file("small.toml", SOUND);
    for _ in 0..3 {
        scratch.run(&["run", "small.toml", "--quiet"]).ends(0);
    }
    assert_eq!(scratch.names("results"), ["small", "small-2", "small-3"]);
    scratch.run(&["run", "small.toml", "--quiet", "--no-record"]).ends(0);
    assert_eq!(scratch.names("results").len(), 3);
}

#[test]
fn a_run_may_draw_and_export_at_once() {
    let scratch = Scratch::new("at-once");
    scratch.file("small.toml", SOUND).run(&["run", "small.toml", "--plot", "--csv", "--out", "r"]).ends(0);
    assert!(scratch.names("r/plots").contains(&"throughput.svg".into()));
    assert!(scratch.names("r/csv").contains(&"flows.csv".into()));
    scratch.run(&["run", "small.toml", "--no-record", "--plot"]).ends(2);
}

#[test]
fn run_says_that_it_makes_one_run_of_several() {
    let scratch = Scratch::new("replications");
    scratch.file("small.toml", SOUND);
    let said = scratch.run(&["run", "small.toml", "--no-record", "--set", "run.replications=4"]).ends(0);
    assert!(said.err.contains("tailback sweep"), "{}", said.err);
}

#[test]
fn a_collective_is_reported_with_its_bandwidths_and_its_last_rank() {
    let scratch = Scratch::new("collective");
    scratch.scenario("ring-allreduce.toml");
    let run =
        |threads: &str| scratch.run(&["run", "ring-allreduce.toml", "--json", "--no-record", "--threads", threads]);
    let summary = run("1").ends(0).json();
    assert_eq!(summary["fingerprint"], run("3").ends(0).json()["fingerprint"]);
    let ring = &summary["collectives"][0];
    assert_eq!((&ring["operation"], &ring["completed"]), (&"all-reduce".into(), &3.into()));
    let rate = |key: &str| ring[key].as_f64().expect("a rate");
    let (algorithm, bus) = (rate("algorithm_bandwidth_bits_per_second"), rate("bus_bandwidth_bits_per_second"));
    assert!((bus / algorithm - 30.0 / 16.0).abs() < 1e-9 && bus < rate("bound_bits_per_second"), "{ring}");
    assert!(ring["last_host"].as_str().is_some_and(|host| host.starts_with('h')), "{ring}");
}
