//! Exit codes: 0, 1, 2, 3, 4, 5, 6 and 130, each on its occasion.

use crate::program::{SOUND, Said, Scratch, wait_until};
use std::process::Command;

#[test]
fn success_is_0() {
    let scratch = Scratch::new("exit-0");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "--no-record"]).ends(0);
    scratch.run(&["--version"]).ends(0);
}

#[test]
#[cfg(target_os = "linux")]
fn what_the_system_refuses_is_1() {
    let scratch = Scratch::new("exit-1");
    scratch.file("a.toml", SOUND);
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let said = scratch.command(&["run", "a.toml", "--no-record"]).stdout(full).output().expect("the program starts");
    Said::new(&said).ends(1);
}

/// A limit on the whole command, whatever it does: finished runs are kept, and the same command goes on.
#[test]
fn every_long_command_has_a_time_limit() {
    let scratch = Scratch::new("exit-time-limits");
    scratch.file("a.toml", SOUND).scenario("bcn-stability.toml").scenario("dcbx.toml");
    scratch.file("papers/p/fig.toml", SOUND).file("a.gv", "graph { a -- s; b -- s }");
    scratch.run(&["run", "a.toml", "--save-at", "10us", "-o", "a.saved"]).ends(0);
    let vary = ["--vary", "run.seed=1,2"];
    for command in [
        &["dcbx", "dcbx.toml"][..],
        &["spb", "dcbx.toml"],
        &["stability", "bcn-stability.toml"],
        &["sweep", "a.toml", "--axis", "run.seed=1"],
        &["compare", "a.toml", vary[0], vary[1]],
        &["explain", "a.toml"],
        &["reproduce", "p"],
        &["run", "a.toml", "--save-at", "10us", "-o", "b.saved"],
        &["resume", "a.saved"],
        &["what-if", "a.saved", "--vary", "switches[0].buffers[0].xon=20KB"],
        &["tune", "a.toml", "--vary", "switches[0].buffers[0].xon=20KB..40KB", "--maximise", "w: throughput"],
        &["faults", "a.toml"],
        &["why", "a.toml"],
        &["pcap", "a.toml", "sw0->h2"],
        &["import", "dot", "a.gv", "--rate", "10Gb/s", "-o", "imported.toml"],
        &["export", "sonic", "a.toml", "-o", "configurations"],
    ] {
        scratch.run(&[command, &["--time-limit", "0"]].concat()).ends(5);
        scratch.run(&[command, &["--time-limit", "-1"]].concat()).ends(2);
    }
    scratch.run(&["dcbx", "--interface", "lo", "--time-limit", "1"]).ends(2);
    assert_eq!(
        scratch.names(""),
        ["a.gv", "a.saved", "a.toml", "bcn-stability.toml", "dcbx.toml", "papers"],
        "nothing was made"
    );
    // One cell is short and kept, the other has no end.
    let long =
        ["--axis", "run.duration=1ms,3000s", "--set", "probes.record=flows", "--set", "probes.sample_every=10ms"];
    let sweep = [&["sweep", "a.toml", "--out", "s", "--threads", "1", "--time-limit", "1"][..], &long[..]].concat();
    let said = scratch.run(&sweep).ends(5);
    assert!(said.err.contains("after 1 of 2 runs"), "{}", said.err);
    let compare = ["compare", "a.toml", "--out", "c", "--vary", "run.duration=1ms,3000s", "--time-limit", "1"];
    scratch.run(&[&compare[..], &long[2..]].concat()).ends(5);
    assert!(scratch.path("c/1ms/manifest.json").exists());
}

/// Samples are no events: a limit ends a run at the same instant whether it is recorded or not.
#[test]
fn a_limit_of_events_does_not_count_samples() {
    let scratch = Scratch::new("exit-events");
    scratch.file("a.toml", SOUND);
    let set = ["--set", "probes.sample_every=100ns", "--set", "run.inspect_every=5us"];
    for most in ["500", "1000", "2000"] {
        let limit = format!("run.max_events={most}");
        let command = [&["run", "a.toml", "--json", "-q", "--set", &limit][..], &set[..]].concat();
        let bare = scratch.run(&[&command[..], &["--no-record"]].concat()).ends(5).json();
        let recorded = scratch.run(&[&command[..], &["--out", most]].concat()).ends(5).json();
        for key in ["simulated_seconds", "fingerprint", "outcome_text"] {
            assert_eq!(bare[key], recorded[key], "{key}");
        }
    }
}

/// Whatever another command, or other files, would mend is 2, for every command alike.
#[test]
fn what_another_command_mends_is_2() {
    let scratch = Scratch::new("exit-table");
    scratch.file("a.toml", SOUND).file("plain", "mine").file("folder/mine", "").file("bad.toml", "= 1");
    scratch.run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    // What reads results: nothing there, a file, a directory that holds none.
    for place in ["missing", "plain", "folder"] {
        for command in [&["diff", place, "r"][..], &["diff", "r", place], &["csv", place], &["plot", place]] {
            scratch.run(command).ends(2);
        }
        scratch.run(&["report", place]).ends(2);
    }
    scratch.run(&["pcap", "missing", "sw0->h2"]).ends(2);
    scratch.run(&["pcap", "folder", "sw0->h2"]).ends(2);
    // What reads a scenario.
    for scenario in ["missing", "bad.toml", "folder"] {
        for command in ["run", "check", "explain", "routes", "dcbx", "spb", "sweep", "stability"] {
            scratch.run(&[command, scenario]).ends(2);
        }
        scratch.run(&["compare", scenario, "--vary", "run.seed=1,2"]).ends(2);
    }
    // Places that are taken, that lie in a file, and names that no file can have.
    let long = "x".repeat(300);
    for out in ["r", "plain", "folder", "plain/r", &long] {
        scratch.run(&["run", "a.toml", "-q", "--out", out]).ends(2);
    }
    for out in ["plain", "plain/c", &long] {
        scratch.run(&["csv", "r", "--out", out]).ends(2);
        scratch.run(&["plot", "r", "--out", out]).ends(2);
        scratch.run(&["sweep", "a.toml", "--axis", "run.seed=1", "--out", out]).ends(2);
        scratch.run(&["compare", "a.toml", "--vary", "run.seed=1,2", "--out", out]).ends(2);
    }
    for file in ["plain", "plain/x", "folder", "missing/x", &long] {
        scratch.run(&["report", "r", "-o", file]).ends(2);
        scratch.run(&["pcap", "a.toml", "sw0->h2", "-q", "-o", file]).ends(2);
        scratch.run(&["init", file]).ends(2);
    }
    assert_eq!(scratch.names(""), ["a.toml", "bad.toml", "folder", "plain", "r"], "nothing was made");
    assert_eq!(scratch.names("folder"), ["mine"]);
}

#[test]
fn bad_input_is_2() {
    let scratch = Scratch::new("exit-2");
    for arguments in [
        &[][..],
        &["rnu"],
        &["run"],
        &["run", "missing.toml"],
        &["run", "missing.toml", "--threads", "many"],
        &["plot", "missing"],
        &["csv", "missing"],
        &["diff", "missing", "missing"],
        &["reproduce", "--papers", "missing"],
        &["compare", "missing.toml"],
    ] {
        let said = scratch.run(arguments).ends(2);
        assert!(said.out.is_empty() && !said.err.is_empty(), "{arguments:?}");
    }
}

#[test]
fn loss_in_a_lossless_class_is_3() {
    let scratch = Scratch::new("exit-3");
    scratch.file("a.toml", SOUND.replace("60KB", "98KB"));
    scratch.run(&["run", "a.toml", "--out", "r"]).ends(3).matches("run-loss");
    let expected = "\n[[expectations]]\nmetric = \"outcome\"\nvalue = \"loss\"\n";
    scratch.file("b.toml", SOUND.replace("60KB", "98KB") + expected);
    scratch.run(&["run", "b.toml", "--no-record"]).ends(0);
}

#[test]
fn a_deadlock_that_nobody_expects_is_4() {
    let scratch = Scratch::new("exit-4");
    scratch.scenario("ring-deadlock.toml");
    let text = std::fs::read_to_string(scratch.path("ring-deadlock.toml")).expect("a copy");
    let (text, _) = text.split_once("[[expectations]]").expect("it expects the deadlock");
    scratch.file("ring.toml", text).run(&["run", "ring.toml", "--no-record"]).ends(4);
    scratch.run(&["run", "ring-deadlock.toml", "--no-record"]).ends(0);
    // A capture of the run ends as the run does.
    for (file, code) in [("ring.toml", 4), ("ring-deadlock.toml", 0)] {
        scratch.run(&["pcap", file, "h0->*", "-o", &format!("{file}.pcapng")]).ends(code);
        assert!(scratch.path(&format!("{file}.pcapng")).exists(), "{file}");
    }
}

/// Shared buffers open at their dynamic threshold, not only within the guaranteed part, which is empty here.
#[test]
fn a_shared_buffer_that_opens_again_is_no_deadlock() {
    let scratch = Scratch::new("exit-shared");
    let switches = "switches=[{buffer=\"shared\",shared_size=\"200KB\",alpha=\"1\",buffers={capacity=\"0B\"}}]";
    let adapters = "adapters=[{flow_control=\"pfc\",service=\"500Mb/s\",buffers={capacity=\"20KB\"}}]";
    let near = "name=\"near\",kind=\"greedy\",to=[\"h1\",\"h2\",\"h3\",\"h0\"],size=\"300KB\"";
    let far = "name=\"far\",kind=\"paced\",rate=\"200Mb/s\",to=[\"h2\",\"h3\",\"h0\",\"h1\"],size=\"30KB\"";
    let from = "pairing=\"in-order\",from=[\"h0\",\"h1\",\"h2\",\"h3\"]";
    let workloads = format!("workloads=[{{{near},{from}}},{{{far},{from}}}]");
    scratch.scenario("ring-deadlock.toml");
    for inspect_every in ["run.inspect_every=100us", "run.inspect_every=1s"] {
        let set = [switches, adapters, &workloads, inspect_every].map(|change| ["--set", change]).concat();
        // The scenario expects a deadlock.
        let run = ["run", "ring-deadlock.toml", "--no-record", "--json"];
        let said = scratch.run(&[&run[..], &set].concat()).ends(6).json();
        assert_eq!((&said["outcome"], &said["delivered_bytes"]), (&"finished".into(), &1_320_000.into()), "{said}");
    }
}

/// Room behind a crossbar that is smaller than a frame lets none go.
#[test]
fn a_ring_with_buffers_on_both_sides_of_its_crossbars_deadlocks() {
    let scratch = Scratch::new("exit-combined");
    let changes = [
        "switches[0].queueing=combined",
        "switches[0].output_buffer=16KB",
        "switches[0].buffers={capacity=\"50KB\",xoff=\"31KB\"}",
        "workloads[0].to=[\"h3\",\"h0\",\"h1\",\"h2\"]",
    ];
    let set = changes.map(|change| ["--set", change]).concat();
    scratch.scenario("ring-deadlock.toml");
    scratch.run(&[&["run", "ring-deadlock.toml", "--no-record"], &set[..]].concat()).ends(0);
}

#[test]
fn a_limit_is_5() {
    let scratch = Scratch::new("exit-5");
    scratch.file("a.toml", SOUND);
    // Before anything is run, and at any instant of a run: long before its first inspection, on any number of threads.
    scratch.run(&["run", "a.toml", "--out", "none", "--time-limit", "0"]).ends(5).matches("run-time-limit");
    let long = ["--set", "run.duration=3000s", "--set", "run.inspect_every=3000s", "--set", "probes.sample_every=10ms"];
    for threads in ["1", "2"] {
        let limit = ["run", "a.toml", "--out", "time", "--overwrite", "--time-limit", "0.4", "--threads", threads];
        let said = scratch.run(&[&limit[..], &long].concat()).ends(5);
        assert!(said.out.starts_with("small: limit: the wall-clock limit (--time-limit)\n"), "{}", said.out);
    }
    // Set-up and checks of a network that takes longer.
    let ring = SOUND.replace("single-switch", "ring").replace("hosts = 3", "switches = 1500\nhosts_per_switch = 1");
    scratch.file("ring.toml", ring);
    for command in ["run", "check", "routes"] {
        let said = scratch.run(&[command, "ring.toml", "--time-limit", "0.01"]).ends(5);
        assert!(said.out.is_empty() && said.err.contains("before anything was written"), "{}{}", said.out, said.err);
    }
    assert_eq!(scratch.names(""), ["a.toml", "ring.toml", "time"], "what ended in its set-up left nothing");
    scratch.run(&["run", "a.toml", "--out", "events", "--set", "run.max_events=100"]).ends(5).matches("run-max-events");
    assert!(scratch.path("time/manifest.json").exists(), "what was recorded until then is kept");
}

#[test]
fn what_is_not_as_expected_is_6() {
    let scratch = Scratch::new("exit-6");
    scratch.scenario("victim.toml");
    let change = "expectations[0].value=1Gb/s";
    scratch.run(&["run", "victim.toml", "--out", "r", "--set", change]).ends(6).matches("run-not-as-expected");
}

#[test]
fn an_interrupted_run_is_130_and_leaves_a_whole_result() {
    let scratch = Scratch::new("exit-130");
    scratch.file("a.toml", SOUND);
    let change =
        ["--set", "run.duration=3000s", "--set", "probes.record=[\"flows\"]", "--set", "probes.sample_every=1ms"];
    let child = scratch.start(&[&["run", "a.toml", "--out", "r", "--json"], &change[..]].concat());
    wait_until("the run has begun", || scratch.unfinished("r").is_some_and(|it| it.join("ports.parquet").exists()));
    // The handler is in place long before the first table.
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is everywhere");
    assert!(sent.success());
    let said = Said::new(&child.wait_with_output().expect("it ends")).ends(130);
    assert_eq!(said.json()["outcome"], "interrupted");
    assert!(said.err.contains("interrupted"), "{}", said.err);
    assert_eq!(scratch.names(""), ["a.toml", "r"]);
    let manifest = std::fs::read_to_string(scratch.path("r/manifest.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(manifest["outcome"]["kind"], "interrupted");
    scratch.run(&["csv", "r"]).ends(0);
    scratch.run(&["plot", "r"]).ends(0);
}

#[test]
fn a_run_that_would_record_too_much_says_so_before_it_starts() {
    let scratch = Scratch::new("too-much");
    scratch.file("a.toml", SOUND);
    let said = scratch.run(&["run", "a.toml", "--out", "r", "--set", "probes.max_rows=5000"]).ends(2);
    assert!(said.err.contains("this run would record up to") && said.err.contains("1000 samples"), "{}", said.err);
    let said = scratch.run(&["run", "a.toml", "--out", "r", "--set", "probes.max_size=50KB"]).ends(2);
    assert!(said.err.contains("probes.max_size allows 50KB") && said.err.contains("--no-record"), "{}", said.err);
    assert_eq!(scratch.names(""), ["a.toml"]);
    // What is not recorded has no limit.
    scratch.run(&["run", "a.toml", "--no-record", "-q", "--set", "probes.max_rows=5000"]).ends(0);
    for every in ["1ps", "99ps"] {
        let said =
            scratch.run(&["run", "a.toml", "--out", "r", "--set", &format!("probes.sample_every={every}")]).ends(2);
        assert!(said.err.contains("samples") && said.err.contains("give 100ps or more"), "{}", said.err);
    }
    let said = scratch.run(&["run", "a.toml", "--out", "r", "--set", "run.inspect_every=1ps"]).ends(2);
    assert!(said.err.contains("1,000,000,000 inspections"), "{}", said.err);
}

#[test]
fn a_run_that_comes_to_record_too_much_ends_at_an_inspection() {
    let scratch = Scratch::new("too-many-rows");
    scratch.file(
        "a.toml",
        SOUND
            .replace("flow_control = \"pfc\"", "flow_control = \"none\"")
            .replace(", xoff = \"60KB\", xon = \"57KB\"", "")
            .replace("[[switches]]", "[[classes]]\nname = \"data\"\nlossless = false\n[[switches]]"),
    );
    let run = |out: &str, rows: &str, threads: &str| {
        let rows = format!("probes.max_rows={rows}");
        let inspection = if out == "none" { "run.inspect_every=900us" } else { "run.inspect_every=100us" };
        let set = ["--set", "probes.record=[\"drops\"]", "--set", &rows, "--set", inspection];
        scratch.run(&[&["run", "a.toml", "-q", "--out", out, "--threads", threads][..], &set].concat())
    };
    run("whole", "100000", "1").ends(0);
    run("one", "300", "1").ends(5);
    run("three", "300", "3").ends(5);
    let said = scratch.run(&["diff", "one", "three"]).ends(0);
    assert!(said.out.contains("are the same"), "{}", said.out);
    let said = scratch.run(&["diff", "whole", "one"]).ends(6);
    assert!(said.out.contains("in the first and more than 300 rows recorded (probes.max_rows)"), "{}", said.out);
    // Between two inspections it comes to more than twice as much: no result would say so.
    let said = run("none", "100", "1").ends(5);
    assert!(said.err.contains("nothing is kept"), "{}", said.err);
    assert!(!scratch.path("none").exists());
}
