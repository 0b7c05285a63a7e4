//! Files and results from strangers: nothing hangs, nothing is read that should not be, nothing of it is shown.

use crate::program::{SOUND, Said, Scratch};
use lab::report::{Making, Report};
use std::process::Command;
use std::time::Duration;

/// What must not come out.
const SECRET: &str = "root:$6$SECRET:19000:0:99999:7:::";

/// Runs the program, which must end soon.
#[track_caller]
fn soon(scratch: &Scratch, arguments: &[&str]) -> Said {
    let mut child = scratch.start(arguments);
    let ended = (0..4000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        child.try_wait().expect("it was started").is_some()
    });
    if !ended {
        child.kill().expect("it runs");
    }
    assert!(ended, "{arguments:?} hangs");
    let said = Said::new(&child.wait_with_output().expect("it has ended"));
    assert!(!said.out.contains("SECRET") && !said.err.contains("SECRET"), "{arguments:?}: {}{}", said.out, said.err);
    said
}

fn pipe(scratch: &Scratch, name: &str) {
    let made = Command::new("mkfifo").arg(scratch.path(name)).status().expect("there is a mkfifo");
    assert!(made.success());
}

fn link(scratch: &Scratch, to: &str, name: &str) {
    let _ = std::fs::remove_file(scratch.path(name));
    std::os::unix::fs::symlink(to, scratch.path(name)).expect("links can be made");
}

/// The manifest of results as a version without hashes wrote it: anybody can write such a one.
fn without_hashes(scratch: &Scratch, results: &str) -> String {
    let text = std::fs::read_to_string(scratch.path(results).join("manifest.json")).expect("a manifest");
    let mut manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    manifest.as_object_mut().expect("an object").remove("hash");
    for table in manifest["tables"].as_array_mut().expect("tables") {
        table.as_object_mut().expect("an object").remove("hash");
    }
    format!("{manifest:#}\n")
}

#[test]
#[cfg(unix)]
fn pipes_and_devices_are_refused_wherever_a_file_is_named() {
    let scratch = Scratch::new("hostile-pipes");
    pipe(&scratch, "pipe.toml");
    let empirical = SOUND.replace("kind = \"greedy\"", "kind = \"poisson-flows\"\nload = 0.5\nsizes = \"empirical\"");
    for (file, what) in [("pipe.toml", "a pipe"), ("/dev/zero", "a device"), (".", "a directory")] {
        let said = soon(&scratch, &["check", file]).ends(2);
        assert!(said.err.contains(what), "{}", said.err);
        scratch.file("base.toml", format!("base = \"{file}\"\n"));
        scratch.file("cdf.toml", empirical.replace("to = \"h2\"", &format!("to = \"h2\"\ncdf = \"{file}\"")));
        for scenario in ["base.toml", "cdf.toml"] {
            let said = soon(&scratch, &["check", scenario]).ends(2);
            assert!(said.err.contains(what) && said.err.contains(&format!("{scenario}:")), "{}", said.err);
        }
    }
    // A manifest, a table, and the files of a sweep.
    scratch.file("a.toml", SOUND).file("r/x", "").file("s/x", "");
    pipe(&scratch, "r/manifest.json");
    pipe(&scratch, "s/sweep.json");
    for command in ["plot", "csv", "report"] {
        assert_ne!(soon(&scratch, &[command, "r"]).code, Some(0));
    }
    soon(&scratch, &["run", "a.toml", "--out", "r", "--overwrite"]).ends(2);
    soon(&scratch, &["sweep", "a.toml", "--axis", "run.seed=1,2", "--out", "s"]).ends(1);
    soon(&scratch, &["run", "a.toml", "-q", "--out", "t"]).ends(0);
    std::fs::remove_file(scratch.path("t/links.parquet")).expect("it was recorded");
    pipe(&scratch, "t/links.parquet");
    let said = soon(&scratch, &["csv", "t"]).ends(1);
    assert!(said.err.contains("a pipe"), "{}", said.err);
}

/// What the shell has opened for the program is no stranger's.
#[test]
#[cfg(target_os = "linux")]
fn a_scenario_may_come_from_standard_input() {
    let scratch = Scratch::new("hostile-stdin");
    scratch.file("a.toml", SOUND);
    let mut command = Command::new("sh");
    command.args(["-c", "cat a.toml | \"$0\" check /dev/stdin", env!("CARGO_BIN_EXE_tailback")]);
    Said::new(&command.current_dir(scratch.path("")).output().expect("there is a shell")).ends(0);
}

#[test]
#[cfg(unix)]
fn only_lines_of_scenarios_are_quoted() {
    let scratch = Scratch::new("hostile-quotes");
    scratch.file("secrets", format!("{SECRET}\ndaemon:*:1:0:::\n"));
    scratch.file("credentials.toml", "[registry]\ntoken = \"SECRET\"\n[registries.mine]\ntoken = \"SECRET\"\n");
    scratch.file("numbers", "1 0.5\n2 SECRET\n").file("figures", "31415926 27182818\n");
    link(&scratch, "secrets", "link.toml");
    let empirical = SOUND.replace("kind = \"greedy\"", "kind = \"poisson-flows\"\nload = 0.5\nsizes = \"empirical\"");
    for file in ["secrets", "credentials.toml", "link.toml", "numbers", "figures"] {
        scratch.file("base.toml", format!("base = \"{file}\"\n"));
        scratch.file("cdf.toml", empirical.replace("to = \"h2\"", &format!("to = \"h2\"\ncdf = \"{file}\"")));
        let said = soon(&scratch, &["run", "base.toml"]).ends(2);
        assert!(said.err.contains("it is not a scenario") && said.err.contains("base.toml:1:8"), "{}", said.err);
        let said = soon(&scratch, &["run", "cdf.toml"]).ends(2);
        assert!(said.err.contains(&format!("--> {file}:")), "{}", said.err);
        assert!(!said.err.contains("31415926") && !said.err.contains("27182818"), "{}", said.err);
        assert!(!said.err.contains("registr") && !said.err.contains("daemon"), "{}", said.err);
    }
    // Nor of a file that a person has named by mistake.
    soon(&scratch, &["run", "secrets"]).ends(2);
    soon(&scratch, &["run", "link.toml"]).ends(2);
    // Nor where it stands for a paper.
    scratch.file("papers/p/fig1.toml", SOUND);
    link(&scratch, "../../secrets", "papers/p/paper.toml");
    soon(&scratch, &["reproduce", "p", "--papers", "papers"]).ends(2);
    // The lines of a base that is a scenario are.
    scratch.file("sound.toml", SOUND.replace("duration", "duratoin")).file("d.toml", "base = \"sound.toml\"\n");
    assert!(soon(&scratch, &["run", "d.toml"]).ends(2).err.contains("duratoin"));
}

#[test]
#[cfg(unix)]
fn results_of_strangers_lead_nowhere_else() {
    let scratch = Scratch::new("hostile-results");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    let report = |results: &str| Report::open(&scratch.path(results), &Making::usual()).map(|_| ());
    report("r").expect("it is sound");
    // A table that is a link out of the directory.
    let table = std::fs::read(scratch.path("r/flows.parquet")).expect("it was recorded");
    scratch.file("elsewhere.parquet", table);
    link(&scratch, "../elsewhere.parquet", "r/flows.parquet");
    for arguments in [&["csv", "r"][..], &["plot", "r"], &["diff", "r", "r"]] {
        let said = soon(&scratch, arguments);
        let equal = arguments[0] == "diff" && said.code == Some(0);
        assert!(equal || said.err.contains("it leads out of r"), "{arguments:?}: {}", said.err);
    }
    assert!(report("r").expect_err("a link").to_string().contains("leads out of"));
    // A comparison, a figure and a paper whose runs are elsewhere.
    scratch.run(&["run", "a.toml", "-q", "--out", "sound"]).ends(0);
    for folder in ["../sound", scratch.path("sound").to_str().expect("a path"), "inner"] {
        let run =
            format!("{{\"name\": \"x\", \"key\": \"k\", \"runs\": [{{\"value\": \"v\", \"folder\": \"{folder}\"}}]}}");
        scratch.file("c/compare.json", run);
        link(&scratch, "../sound", "c/inner");
        assert!(report("c").expect_err(folder).to_string().contains("leads out of"), "{folder}");
        let run = format!("{{\"title\": \"x\", \"runs\": [{{\"variant\": \"v\", \"folder\": \"{folder}\"}}]}}");
        scratch.file("f/verdicts.json", run);
        link(&scratch, "../sound", "f/inner");
        assert!(report("f").expect_err(folder).to_string().contains("leads out of"), "{folder}");
    }
    link(&scratch, "../sound/manifest.json", "c/manifest.json");
    assert!(soon(&scratch, &["csv", "c"]).ends(1).err.contains("leads out of"));
    scratch.file("p/x", "");
    link(&scratch, "../f", "p/fig1");
    assert!(report("p").is_err(), "a paper whose figures are all elsewhere has none");
    // What stands beside a figure's folder is not read.
    scratch.file("g/fig/verdicts.json", "{\"title\": \"x\", \"runs\": []}").file("g/paper.json", "no JSON");
    report("g/fig").expect("its own folder is sound");
}

/// A results directory keeps copies of its inputs; what a manifest names elsewhere is read if that is asked for.
#[test]
#[cfg(unix)]
fn a_manifest_makes_nobody_read_its_inputs() {
    let scratch = Scratch::new("hostile-inputs");
    scratch.file("base.toml", SOUND).file("a.toml", "base = \"base.toml\"\nname = \"over\"\n");
    scratch.run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    assert_eq!(std::fs::read_to_string(scratch.path("r/input-1.toml")).expect("a copy"), SOUND);
    std::fs::remove_file(scratch.path("base.toml")).expect("it is there");
    soon(&scratch, &["pcap", "r", "sw0->h2", "-q", "-o", "x.pcapng"]).ends(0);
    let manifest = without_hashes(&scratch, "r");
    let pcap = ["pcap", "r", "sw0->h2", "-o", "y.pcapng"];
    scratch.file("secrets", SECRET);
    for copy in ["../secrets", scratch.path("secrets").to_str().expect("a path"), "nothing"] {
        scratch.file("r/manifest.json", manifest.replace("input-0.toml", copy));
        soon(&scratch, &pcap).ends(2);
    }
    // As older versions wrote it.
    let older = manifest.replace("\"copy\": \"input-0.toml\"", "\"copy\": null");
    scratch.file("r/manifest.json", older.replace("\"copy\": \"input-1.toml\"", "\"copy\": null"));
    let said = soon(&scratch, &pcap).ends(2);
    assert!(said.err.contains("--inputs"), "{}", said.err);
    scratch.file("base.toml", SOUND);
    soon(&scratch, &[&pcap[..], &["--inputs"]].concat()).ends(0);
    scratch.file("r/manifest.json", older.replace("\"path\": \"a.toml\"", "\"path\": \"secrets\""));
    soon(&scratch, &[&pcap[..], &["--inputs", "--overwrite"]].concat()).ends(2);
}
