//! Disks that refuse, results that are there already, and the plug pulled out: clear errors, nothing lost.

use crate::program::{SOUND, Said, Scratch, wait_until};
use std::path::Path;
use std::process::Command;

/// A run that lasts until it is killed.
const ENDLESS: [&str; 4] = ["--set", "run.duration=3000s", "--set", "probes.sample_every=1ms"];

fn fingerprint(scratch: &Scratch, out: &str) -> String {
    let text = std::fs::read_to_string(scratch.path(out).join("manifest.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    manifest["fingerprint"].as_str().expect("a fingerprint").to_owned()
}

#[test]
fn a_result_that_is_there_stays() {
    let scratch = Scratch::new("exists");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    let before = fingerprint(&scratch, "r");
    let other = ["run", "a.toml", "--out", "r", "--set", "workloads[w].frame=700B"];
    scratch.run(&other).ends(2).matches("run-exists");
    assert_eq!(fingerprint(&scratch, "r"), before);
    scratch.run(&[&other[..], &["--overwrite"]].concat()).ends(0);
    assert_ne!(fingerprint(&scratch, "r"), before);
    assert_eq!(scratch.names(""), ["a.toml", "r"]);
}

#[test]
fn what_is_no_result_stays_even_with_overwrite() {
    let scratch = Scratch::new("thesis");
    scratch.file("a.toml", SOUND).file("thesis/chapter1.tex", "precious");
    scratch.run(&["run", "a.toml", "--out", "thesis", "--overwrite"]).ends(2).matches("run-not-ours");
    scratch.run(&["run", "a.toml", "--out", "a.toml", "--overwrite"]).ends(2);
    assert_eq!(scratch.names(""), ["a.toml", "thesis"]);
    assert_eq!(scratch.names("thesis"), ["chapter1.tex"]);
}

#[test]
fn a_place_that_cannot_be_written_to_is_named() {
    let scratch = Scratch::new("refused");
    scratch.file("a.toml", SOUND).file("plain", "");
    scratch.run(&["run", "a.toml", "--out", "plain/r"]).ends(2).matches("run-file-as-parent");
    if Path::new("/proc/self").exists() {
        let said = scratch.run(&["run", "a.toml", "--out", "/proc/r"]).ends(2);
        assert!(said.err.contains("cannot create /proc/r.partial-"), "{}", said.err);
    }
}

#[test]
#[cfg(unix)]
fn a_directory_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("read-only");
    scratch.file("a.toml", SOUND).file("locked/old", "");
    let mode = |bits| std::fs::set_permissions(scratch.path("locked"), std::fs::Permissions::from_mode(bits));
    mode(0o555).expect("it is ours");
    let for_all = std::fs::write(scratch.path("locked/probe"), "").is_ok();
    let said = scratch.run(&["run", "a.toml", "--out", "locked/r"]);
    mode(0o755).expect("it is ours");
    if for_all {
        println!("this user may write anywhere: the permission was not tried");
        said.ends(0);
    } else {
        assert!(said.ends(1).err.contains("choose another place with --out"));
        assert_eq!(scratch.names("locked"), ["old"]);
    }
}

/// A limit on the size of files stands in for a disk that fills up: writing fails half way in both.
#[test]
#[cfg(unix)]
fn a_disk_that_fills_up_leaves_the_old_result_and_nothing_else() {
    let scratch = Scratch::new("full");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    let before = fingerprint(&scratch, "r");
    let short_of_room = |arguments: &str| {
        let line = format!("trap '' XFSZ; ulimit -f 16; exec \"$0\" run a.toml {arguments}");
        let mut command = Command::new("sh");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_tailback")]).current_dir(scratch.path(""));
        Said::new(&command.output().expect("there is a shell"))
    };
    for arguments in ["--set run.duration=5ms --out r --overwrite", "--set run.duration=5ms --out fresh"] {
        let said = short_of_room(arguments).ends(1);
        assert!(said.err.starts_with("error: cannot write "), "{}", said.err);
        assert_eq!(said.err.lines().count(), 2, "what, and what to do: {}", said.err);
    }
    assert_eq!(fingerprint(&scratch, "r"), before);
    assert_eq!(scratch.names(""), ["a.toml", "r"]);
}

#[test]
fn a_killed_run_leaves_no_result() {
    let scratch = Scratch::new("killed");
    scratch.file("a.toml", SOUND);
    let mut child = scratch.start(&[&["run", "a.toml", "--out", "r"], &ENDLESS[..]].concat());
    wait_until("the run has begun", || scratch.unfinished("r").is_some_and(|it| it.join("ports.parquet").exists()));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(!scratch.path("r").exists());
    scratch.run(&["plot", "r"]).ends(2);
    scratch.run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    assert_eq!(scratch.names(""), ["a.toml", "r"], "the next run cleans up");
}

#[test]
fn a_run_under_way_is_left_alone_and_both_results_are_kept() {
    let scratch = Scratch::new("under-way");
    scratch.file("a.toml", SOUND);
    let mut child = scratch.start(&[&["run", "a.toml", "--out", "r"], &ENDLESS[..]].concat());
    wait_until("the run has begun", || scratch.unfinished("r").is_some_and(|it| it.join("ports.parquet").exists()));
    let before = scratch.unfinished("r");
    let said = scratch.run(&["run", "a.toml", "--out", "r"]);
    let still_there = before.is_some_and(|it| it.join("ports.parquet").exists());
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let said = said.ends(0);
    assert!(said.err.contains("another run is writing to the same place, in r.partial-"), "{}", said.err);
    assert!(still_there, "it still has its tables");
    scratch.run(&["run", "a.toml", "-q", "--out", "r", "--overwrite"]).ends(0);
    assert_eq!(scratch.names(""), ["a.toml", "r"]);
    // Without --out each takes a name that is free when it is done.
    let two = [scratch.start(&["run", "a.toml", "--json"]), scratch.start(&["run", "a.toml", "--json"])];
    let mut places = two.map(|child| {
        let said = Said::new(&child.wait_with_output().expect("it ends")).ends(0);
        said.json()["results"].as_str().expect("a place").to_owned()
    });
    places.sort();
    assert_eq!(places, ["results/small", "results/small-2"]);
    assert_eq!(scratch.names("results"), ["small", "small-2"]);
}

#[test]
fn a_run_killed_while_it_would_replace_another_leaves_the_old_one() {
    let scratch = Scratch::new("killed-overwrite");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    let before = fingerprint(&scratch, "r");
    let mut child = scratch.start(&[&["run", "a.toml", "--out", "r", "--overwrite"], &ENDLESS[..]].concat());
    wait_until("the run has begun", || scratch.unfinished("r").is_some_and(|it| it.join("ports.parquet").exists()));
    assert_eq!(fingerprint(&scratch, "r"), before, "it stays until the new one is whole");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(fingerprint(&scratch, "r"), before);
    scratch.run(&["csv", "r"]).ends(0);
}
