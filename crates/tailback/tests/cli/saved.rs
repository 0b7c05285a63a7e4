//! Simulations that are stopped, saved and resumed, and their futures.

use crate::program::{SOUND, Scratch};

fn fingerprint(manifest: &str) -> &str {
    let line = manifest.lines().find(|line| line.contains("\"fingerprint\"")).expect("it has one");
    line.trim()
}

#[test]
fn a_resumed_run_records_what_a_run_without_a_stop_does() {
    let scratch = Scratch::new("resume");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-o", "whole"]).ends(0);
    scratch.run(&["run", "a.toml", "--save-at", "33us", "-o", "a.saved"]).ends(0);
    scratch.run(&["resume", "a.saved", "-o", "resumed", "--threads", "2"]).ends(0);
    let manifest = |name: &str| std::fs::read_to_string(scratch.path(name).join("manifest.json")).unwrap();
    assert_eq!(fingerprint(&manifest("resumed")), fingerprint(&manifest("whole")));
    let said = scratch.run(&["diff", "whole", "resumed"]).ends(0);
    assert!(said.out.contains("equal") || said.out.contains("same") || said.err.contains("same"), "{}", said.out);
    // Nothing was recorded: nothing can be.
    scratch.run(&["run", "a.toml", "--save-at", "33us", "--no-record"]).ends(0);
    scratch.run(&["resume", "small.saved"]).ends(0);
    scratch.run(&["resume", "small.saved", "-o", "never"]).ends(2);
}

#[test]
fn wrong_times_and_files_are_refused() {
    let scratch = Scratch::new("resume-refusals");
    scratch.file("a.toml", SOUND);
    let said = scratch.run(&["run", "a.toml", "--save-at", "33"]).ends(2);
    assert!(said.err.contains("unit"), "{}", said.err);
    let said = scratch.run(&["run", "a.toml", "--save-at", "10s"]).ends(2);
    assert!(said.err.contains("the run ends at"), "{}", said.err);
    let said = scratch.run(&["resume", "a.toml"]).ends(2);
    assert!(said.err.contains("not a saved simulation"), "{}", said.err);
    scratch.run(&["resume", "missing.saved"]).ends(2);
    scratch.run(&["run", "a.toml", "--save-at", "33us", "-o", "a.saved"]).ends(0);
    let path = scratch.path("a.saved");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let said = scratch.run(&["resume", "a.saved"]).ends(2);
    assert!(said.err.contains("damaged"), "{}", said.err);
}

#[test]
fn futures_are_compared() {
    let scratch = Scratch::new("what-if");
    scratch.file("a.toml", SOUND);
    let vary = "switches[0].buffers[0].xon=20KB,40KB";
    let said = scratch.run(&["what-if", "a.toml", "--at", "33us", "--vary", vary, "--json"]).ends(0);
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(document["futures"].as_array().map(Vec::len), Some(3));
    assert_eq!(document["futures"][0]["changes"].as_object().map(|it| it.len()), Some(0));
    scratch.run(&["run", "a.toml", "--save-at", "33us", "-o", "a.saved"]).ends(0);
    let saved = scratch.run(&["what-if", "a.saved", "--vary", vary]).ends(0);
    assert!(saved.out.contains("unchanged") && saved.out.contains("xon=40KB"), "{}", saved.out);
    let said = scratch.run(&["what-if", "a.toml", "--at", "33us", "--vary", "network.hosts=7"]).ends(2);
    assert!(said.err.contains("changes nodes or links"), "{}", said.err);
    let said = scratch.run(&["what-if", "a.toml", "--vary", vary]).ends(2);
    assert!(said.err.contains("--at is missing"), "{}", said.err);
}

#[test]
fn saving_replaces_no_file_unless_told_to() {
    let scratch = Scratch::new("save-over");
    scratch.file("a.toml", SOUND).file("a.saved", "mine").file("small.saved", "mine");
    for out in [&["-o", "a.saved"][..], &[]] {
        let save = [&["run", "a.toml", "--save-at", "33us"], out].concat();
        let said = scratch.run(&save).ends(2);
        assert!(said.err.contains("already exists"), "{}", said.err);
        let file = out.last().copied().unwrap_or("small.saved");
        assert_eq!(std::fs::read_to_string(scratch.path(file)).unwrap(), "mine");
        scratch.run(&[&save[..], &["--overwrite"]].concat()).ends(0);
        scratch.run(&["resume", file, "--no-record"]).ends(0);
    }
}

/// The time is up before the stop, after it, and in a future.
#[test]
fn stopped_runs_and_futures_have_a_time_limit() {
    let scratch = Scratch::new("saved-time");
    scratch.file("long.toml", SOUND.replace("1ms", "3000s"));
    let limit = ["--time-limit", "0.5"];
    let vary = ["--vary", "switches[0].buffers[0].xon=20KB"];
    let save = ["run", "long.toml", "--no-record", "--save-at"];
    scratch.run(&[&save[..], &["2900s"], &limit].concat()).ends(5);
    assert!(!scratch.path("small.saved").exists());
    scratch.run(&[&save[..], &["1ms"]].concat()).ends(0);
    for what_if in [&["long.toml", "--at", "2900s"][..], &["long.toml", "--at", "1ms"], &["small.saved"]] {
        scratch.run(&[&["what-if"], what_if, &vary, &limit].concat()).ends(5);
    }
    scratch.run(&[&["resume", "small.saved", "--no-record"], &limit[..]].concat()).ends(5);
}

/// A file is looked at before it is read, and one that does not fit into memory is not read.
#[test]
fn no_large_file_is_read_for_a_saved_simulation() {
    let scratch = Scratch::new("saved-large");
    scratch.file("a.toml", SOUND);
    scratch.run(&["run", "a.toml", "--save-at", "33us", "-o", "a.saved"]).ends(0);
    for (start, words) in
        [(&b""[..], "not a saved simulation"), (b"tailback saved simulation\n", "the limit of memory")]
    {
        scratch.file("large", start);
        let file = std::fs::File::options().append(true).open(scratch.path("large")).unwrap();
        file.set_len(100 << 30).unwrap();
        let said = scratch.run(&["resume", "large"]).ends(2);
        assert!(said.err.contains(words), "{}", said.err);
    }
}
