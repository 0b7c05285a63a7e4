//! Configurations of SONiC switches: from four files to a check and a run.

use crate::program::Scratch;
use std::path::Path;

/// The four switches of the example.
fn leaf_spine(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sonic");
    for switch in ["leaf0", "leaf1", "spine0", "spine1"] {
        let file = format!("{switch}/config_db.json");
        scratch.file(&format!("fabric/{file}"), std::fs::read(folder.join(&file)).expect("an example"));
    }
    scratch
}

/// Replaces a text in the configuration of a switch.
fn change(scratch: &Scratch, switch: &str, from: &str, to: &str) {
    let name = format!("fabric/{switch}/config_db.json");
    let text = std::fs::read_to_string(scratch.path(&name)).expect("a configuration");
    assert!(text.contains(from), "{from}");
    scratch.file(&name, text.replacen(from, to, 1));
}

#[test]
fn four_configurations_become_a_scenario_that_runs() {
    let scratch = leaf_spine("sonic");
    scratch.run(&["check", "fabric"]).ends(0).matches("sonic-check");
    scratch.run(&["import", "sonic", "fabric", "-o", "fabric.toml"]).ends(0).matches("sonic-import");
    let text = std::fs::read_to_string(scratch.path("fabric.toml")).expect("a scenario");
    assert!(text.contains("between = [\"leaf0\", \"spine0\"]"), "{text}");
    scratch.run(&["run", "fabric.toml", "--no-record"]).ends(0);
    let again = scratch.run(&["import", "sonic", "fabric", "-o", "fabric.toml"]).ends(2);
    assert!(again.err.contains("already exists"), "{}", again.err);
}

/// The three commands of docs/operators.md, with fewer candidates and seeds.
#[test]
fn three_commands_go_from_configurations_to_a_tuned_profile() {
    let scratch = leaf_spine("sonic-tuned");
    scratch.run(&["check", "fabric"]).ends(0);
    scratch.run(&["import", "sonic", "fabric", "-o", "fabric.toml", "--run"]).ends(0);
    assert!(scratch.path("results/fabric/manifest.json").exists());
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operators.md"));
    let page = page.expect("the page");
    let kmin = "switches[*].congestion_points[*].kmin=20KB..2MB";
    let pmax = "switches[*].congestion_points[*].pmax=0.01..1";
    let goal = "incast: p99 completion time";
    assert!([kmin, pmax, goal].iter().all(|part| page.contains(part)), "the page shows other commands");
    let few = ["--candidates", "4", "--replications", "2"];
    let tune = ["tune", "fabric.toml", "--vary", kmin, "--vary", pmax, "--minimise", goal];
    let said = scratch.run(&[&tune[..], &few].concat()).ends(0);
    assert!(said.out.contains("best") && said.out.contains("given"), "{}", said.out);
    // The profile of the best candidate, as a switch takes it, is sound and has its thresholds.
    let best = std::fs::read_to_string(scratch.path("results/fabric-tune/best.toml")).expect("a scenario");
    scratch.run(&["check", "results/fabric-tune/sonic"]).ends(0);
    scratch.run(&["import", "sonic", "results/fabric-tune/sonic", "-o", "again.toml"]).ends(0);
    let value = |key: &str| {
        let line = best.lines().find(|line| line.contains(&format!(".{key}\""))).expect("a tuned key");
        line.split('=').nth(1).expect("a value").trim().to_owned()
    };
    let again = std::fs::read_to_string(scratch.path("again.toml")).expect("a scenario");
    assert!(again.contains(&format!("kmin = {}", value("kmin"))), "{best}\n{again}");
}

#[test]
fn findings_name_switch_port_and_table() {
    let scratch = leaf_spine("sonic-findings");
    change(&scratch, "spine0", "\"xoff\": \"110592\"", "\"xoff\": \"40000\"");
    change(&scratch, "leaf1", "\"pfc_enable\": \"3,4\"", "\"pfc_enable\": \"3\"");
    scratch.run(&["check", "fabric"]).ends(2).matches("sonic-findings");
    let findings = scratch.run(&["check", "fabric", "--json"]).ends(2).json();
    assert_eq!((&findings[0]["kind"], &findings[0]["severity"]), (&"headroom".into(), &"error".into()));
}

#[test]
fn contradictions_leave_nothing() {
    let scratch = leaf_spine("sonic-wrong");
    change(&scratch, "leaf0", "\"speed\": \"400000\"", "\"speed\": \"200000\"");
    change(&scratch, "leaf1", "\"speed\": \"100000\",", "");
    scratch.run(&["import", "sonic", "fabric", "-o", "fabric.toml"]).ends(2).matches("sonic-wrong");
    assert!(!scratch.path("fabric.toml").exists());
    change(&scratch, "leaf1", "\"PORT\": {", "\"PORT\": {{");
    let said = scratch.run(&["check", "fabric"]).ends(2);
    assert!(said.err.contains("this is not JSON"), "{}", said.err);
    let said = scratch.run(&["check", "."]).ends(2);
    assert!(said.err.contains("it is a directory without config_db.json"), "{}", said.err);
}

#[test]
fn an_export_imported_again_is_the_same_scenario() {
    let scratch = leaf_spine("sonic-export");
    scratch.run(&["import", "sonic", "fabric", "-o", "one.toml", "--overwrite"]).ends(0);
    scratch.run(&["export", "sonic", "one.toml", "-o", "again"]).ends(0).matches("sonic-export");
    assert!(scratch.run(&["export", "sonic", "one.toml", "-o", "again"]).ends(2).err.contains("already exists"));
    scratch.run(&["import", "sonic", "again", "-o", "two.toml"]).ends(0);
    let read = |name: &str| {
        let text = std::fs::read_to_string(scratch.path(name)).expect("a scenario");
        let lines = text.lines().map(|line| line.split("  #").next().unwrap_or(line).to_owned());
        lines.filter(|line| !line.starts_with('#') && !line.starts_with("name")).collect::<Vec<_>>()
    };
    assert_eq!(read("one.toml"), read("two.toml"));
    let finished = scratch.run(&["run", "two.toml", "--no-record"]).ends(0).out;
    assert!(finished.contains("0 frames dropped"), "{finished}");
    scratch.scenario("infiniband-credits.toml");
    let said = scratch.run(&["export", "sonic", "infiniband-credits.toml", "-o", "no"]).ends(2);
    assert!(said.err.contains("neither credits nor PAUSE"), "{}", said.err);
    assert!(!scratch.path("no").exists());
}

/// Only the directory is named by a person: what a link in it leads to is not written.
#[test]
#[cfg(unix)]
fn nothing_is_exported_or_imported_through_a_link() {
    let scratch = leaf_spine("sonic-links");
    scratch.run(&["import", "sonic", "fabric", "-o", "one.toml"]).ends(0);
    scratch.file("elsewhere/config_db.json", "mine").file("out/x", "").file("flows", "mine");
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, scratch.path(name)).expect("links can be made");
    let export = ["export", "sonic", "one.toml", "-o", "out", "--overwrite"];
    link("../elsewhere", "out/leaf1");
    assert!(scratch.run(&export).ends(2).err.contains("a symbolic link"));
    std::fs::remove_file(scratch.path("out/leaf1")).expect("it is there");
    std::fs::create_dir(scratch.path("out/leaf1")).expect("there is room");
    link("../../elsewhere/config_db.json", "out/leaf1/config_db.json");
    assert!(scratch.run(&export).ends(2).err.contains("a symbolic link"));
    assert_eq!(scratch.names("out"), ["leaf1", "x"], "nothing was written");
    // The list of flows beside a scenario has a name of our own, too.
    scratch.file("a.goal", "num_ranks 2\nrank 0 {\nl1: send 1024b to 1\n}\nrank 1 {\nl1: recv 1024b from 0\n}\n");
    let import = ["import", "goal", "a.goal", "-o", "two.toml", "--overwrite"];
    for to in ["flows", "nowhere"] {
        link(to, "two.flows.csv");
        assert!(scratch.run(&import).ends(2).err.contains("a symbolic link"));
        std::fs::remove_file(scratch.path("two.flows.csv")).expect("it is there");
    }
    assert!(!scratch.path("two.toml").exists() && !scratch.path("nowhere").exists());
    for kept in ["elsewhere/config_db.json", "flows"] {
        assert_eq!(std::fs::read_to_string(scratch.path(kept)).expect("it is there"), "mine");
    }
    scratch.run(&import).ends(0);
}
