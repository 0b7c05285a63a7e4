//! Files and results from strangers: nothing hangs, nothing is read that should not be, nothing of it is shown.

use crate::program::{SOUND, Said, Scratch};
use render::report::{Making, Report};
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
    // The files of other systems, and simulations that were saved.
    scratch.file("a.txt", "").file("a.et", "");
    let out = ["-o", "out.toml"];
    for file in ["pipe.toml", "/dev/zero"] {
        for arguments in [
            &["hpcc", file, "a.txt"][..],
            &["hpcc", "a.txt", file],
            &["htsim", file],
            &["goal", file],
            &["sonic", file],
            &["infiniband", file],
            &["infiniband", "a.txt", "--lfts", file],
            &["dot", file],
            &["json", file],
            &["containerlab", file],
        ] {
            soon(&scratch, &[&["import"], arguments, &out].concat()).ends(2);
        }
        soon(&scratch, &["resume", file]).ends(2);
        soon(&scratch, &["what-if", file, "--at", "1us", "--vary", "run.seed=1"]).ends(2);
        soon(&scratch, &["tune", file, "--vary", "run.seed=1..2", "--minimise", "drops"]).ends(2);
        soon(&scratch, &["faults", file]).ends(2);
        soon(&scratch, &["why", file]).ends(2);
        soon(&scratch, &["export", "sonic", file, "-o", "out"]).ends(2);
    }
    pipe(&scratch, "a.0.et");
    soon(&scratch, &["import", "chakra", "a.0.et", "-o", "out.toml"]).ends(2);
    assert!(!scratch.path("out.toml").exists() && !scratch.path("out").exists());
    // A manifest, a table, and the files of a sweep.
    scratch.file("a.toml", SOUND).file("r/x", "").file("s/x", "");
    pipe(&scratch, "r/manifest.json");
    pipe(&scratch, "s/sweep.json");
    for command in ["plot", "csv", "report"] {
        assert_ne!(soon(&scratch, &[command, "r"]).code, Some(0));
    }
    soon(&scratch, &["run", "a.toml", "--out", "r", "--overwrite"]).ends(2);
    soon(&scratch, &["sweep", "a.toml", "--axis", "run.seed=1,2", "--out", "s"]).ends(2);
    soon(&scratch, &["run", "a.toml", "-q", "--out", "t"]).ends(0);
    std::fs::remove_file(scratch.path("t/links.parquet")).expect("it was recorded");
    pipe(&scratch, "t/links.parquet");
    let said = soon(&scratch, &["csv", "t"]).ends(2);
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
    // Nor of a base with some keys of a scenario, or one that is not TOML: not even the names of its keys.
    for text in
        ["name = \"db\"\npassword = \"SECRET\"\n", "name = \"db\"\npassword SECRET\n", "name = \"db\"\nrun = SECRET\n"]
    {
        scratch.file("partly.toml", text).file("base.toml", "base = \"partly.toml\"\n");
        let said = soon(&scratch, &["check", "base.toml"]).ends(2);
        assert!(said.err.contains("--> partly.toml:2"), "{}", said.err);
        assert!(!said.err.contains("password") && !said.err.contains("run ="), "{}", said.err);
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

/// The document of a figure with these runs, of before documents had hashes.
fn figure(runs: &str) -> String {
    let none = "{\"agree\": 0, \"disagree\": 0, \"undetermined\": 0}";
    let part = format!("{{\"statements\": {none}, \"measurements\": {none}}}");
    format!(
        "{{\"paper\": \"p\", \"figure\": \"f\", \"title\": \"x\", \"program\": {{\"version\": \"0\", \"commit\": null}}, \
         \"simulated\": \"1ms\", \"units\": {{}}, \"seeds\": [1], \"cells\": [], \"choices\": [], \"numbers\": [], \
         \"trends\": [], \"count\": {{\"short_form\": false, \"paper\": {part}, \"ours\": {part}}}, \"results\": \"\", \
         \"runs\": [{runs}]}}"
    )
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
        assert!(equal || said.err.contains("it points outside r"), "{arguments:?}: {}", said.err);
    }
    assert!(report("r").expect_err("a link").to_string().contains("points outside"));
    // A comparison, a figure and a paper whose runs are elsewhere.
    scratch.run(&["run", "a.toml", "-q", "--out", "sound"]).ends(0);
    for folder in ["../sound", scratch.path("sound").to_str().expect("a path"), "inner"] {
        let run = format!(
            "{{\"name\": \"x\", \"key\": \"k\", \"runs\": [{{\"value\": \"v\", \"folder\": \"{folder}\"}}], \"rows\": []}}"
        );
        scratch.file("c/compare.json", run);
        link(&scratch, "../sound", "c/inner");
        assert!(report("c").expect_err(folder).to_string().contains("points outside"), "{folder}");
        let run = figure(&format!("{{\"variant\": \"v\", \"folder\": \"{folder}\"}}"));
        scratch.file("f/verdicts.json", run);
        link(&scratch, "../sound", "f/inner");
        assert!(report("f").expect_err(folder).to_string().contains("points outside"), "{folder}");
    }
    link(&scratch, "../sound/manifest.json", "c/manifest.json");
    assert!(soon(&scratch, &["csv", "c"]).ends(2).err.contains("points outside"));
    scratch.file("p/x", "");
    link(&scratch, "../f", "p/fig1");
    assert!(report("p").is_err(), "a paper whose figures are all elsewhere has none");
    // What stands beside a figure's folder is not read.
    scratch.file("g/fig/verdicts.json", figure("")).file("g/paper.json", "no JSON");
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

/// What a terminal would obey: its title set, the screen cleared, text turned round, a line forged.
const ESCAPES: [&str; 4] = ["\\u001b]0;x\\u0007", "\\u009b2J", "\\u202e", "\\n"];

#[test]
fn names_do_not_speak_to_the_terminal() {
    let scratch = Scratch::new("hostile-escapes");
    let harmless = |said: &Said| {
        let obeyed = |letter: char| files::text::is_control(letter) && letter != '\n';
        assert!(!said.out.contains(obeyed) && !said.err.contains(obeyed), "{:?}{:?}", said.out, said.err);
    };
    for escape in ESCAPES {
        let named = |from: &str| SOUND.replace(&format!("\"{from}\""), &format!("\"{from}{escape}\""));
        for from in ["small", "w"] {
            let said = scratch.file("a.toml", named(from)).run(&["run", "a.toml", "--no-record"]).ends(2);
            assert!(said.err.contains("--> a.toml:"), "{}", said.err);
            harmless(&said);
        }
    }
    scratch.file("a.toml", SOUND.replace("name = \"w\"", "name = \"w\"\n\"\\u001b[2J\" = 1"));
    harmless(&scratch.run(&["check", "a.toml"]).ends(2));
    // A file's own name, and what a stranger's manifest says.
    scratch.file("\u{1b}[2J\u{9b}.toml", "x = 1\n");
    harmless(&scratch.run(&["check", "\u{1b}[2J\u{9b}.toml"]).ends(2));
    let name = "a\u{1b}\nb.toml";
    let said = scratch.file(name, SOUND.replace("name = \"small\"\n", "")).run(&["run", name, "--no-record"]).ends(0);
    harmless(&said);
    assert!(said.out.starts_with("a\\u001b\\u000ab: finished"), "{}", said.out);
    // Nor do the files that are written, which somebody will look at.
    let written = |file: &str| {
        let text = std::fs::read_to_string(scratch.path(file)).expect("it was written");
        assert!(!text.contains(|letter: char| files::text::is_control(letter) && letter != '\n'), "{file}: {text:?}");
        text
    };
    let name = "ev\u{1b}]0;x\u{7}il.toml";
    scratch.file(name, SOUND.replace("name = \"small\"\n", "").replace("\"1ms\"", "\"10us\""));
    scratch.run(&["run", name, "-q", "--out", "ev"]).ends(0);
    assert!(written("ev/plan.toml.txt").contains("ev\\u001b]0;x\\u0007il"));
    let sweep = ["sweep", name, "--axis", "run.seed=1", "--out", "s"];
    scratch.run(&sweep).ends(0);
    for point in scratch.names("s/points") {
        let file = format!("s/points/{point}");
        scratch.file(&file, written(&file).replace("\"outcome\": \"", "\"outcome\": \"\\u001b[31m"));
    }
    // An edited run is made again.
    scratch.run(&sweep).ends(0);
    assert!(!written("s/table.csv").contains("[31m"));
    scratch.file("b.toml", SOUND).run(&["run", "b.toml", "-q", "--out", "r"]).ends(0);
    let manifest = without_hashes(&scratch, "r");
    let wrong = manifest
        .replace("\"b.toml\"", "\"\\u001b[2J\\nb.toml\"")
        .replace("\"copy\": \"input-0.toml\"", "\"copy\": null");
    scratch.file("r/manifest.json", wrong);
    let said = scratch.run(&["pcap", "r", "sw0->h2"]).ends(2);
    harmless(&said);
    assert!(said.err.contains("\\u001b[2J\\u000ab.toml"), "{}", said.err);
}

#[test]
fn names_are_bounded_and_make_sound_file_names() {
    let scratch = Scratch::new("hostile-names");
    for (from, to) in [("small", "s".repeat(300)), ("w", "w".repeat(300))] {
        let text = SOUND.replace(&format!("\"{from}\""), &format!("\"{to}\""));
        let said = scratch.file("a.toml", text).run(&["run", "a.toml"]).ends(2);
        assert!(said.err.contains("use at most 200") && said.err.contains("--> a.toml:"), "{}", said.err);
    }
    // As long as it may be, and with variants that differ in what no file name keeps.
    let text = SOUND.replace("small", &"µ/../s".repeat(33)).replace("\"1ms\"", "\"100us\"");
    scratch.file("a.toml", &text).run(&["run", "a.toml", "-q"]).ends(0);
    assert_eq!(scratch.names("results").len(), 1);
    let vary = "workloads[0].name=a/b,a b,a-b-2,a.b";
    scratch.run(&["compare", "a.toml", "--vary", vary, "--out", "c"]).ends(0);
    let folders: Vec<String> = scratch.names("c").into_iter().filter(|name| name.starts_with('a')).collect();
    assert_eq!(folders, ["a-b", "a-b-2", "a-b-2-2", "a.b"]);
    let long = format!("network.hosts=3,{:0>300}", 4);
    scratch.run(&["compare", "a.toml", "--vary", &long, "--out", "d"]);
    scratch.run(&["run", "a.toml", "--out", &"o".repeat(300)]).ends(2);
}

#[test]
fn no_cell_of_csv_is_a_formula() {
    let scratch = Scratch::new("hostile-csv");
    let formula = "=cmd|' /C calc'!A0";
    scratch.file("a.toml", SOUND.replace("\"w\"", &format!("\"{formula}\"")).replace("\"1ms\"", "\"100us\""));
    scratch.run(&["run", "a.toml", "-q", "--out", "r", "--csv"]).ends(0);
    let axis = "workloads[0].name=@SUM(1),=1+1";
    scratch.run(&["sweep", "a.toml", "--axis", axis, "--out", "s"]).ends(0);
    let tables = scratch.names("r/csv").into_iter().map(|name| format!("r/csv/{name}"));
    for name in tables.chain(["s/table.csv".to_owned()]) {
        let text = std::fs::read_to_string(scratch.path(&name)).expect("a table");
        for cell in text.lines().flat_map(|line| line.split(',')) {
            let bare = cell.trim_start_matches('"');
            let formula = bare.starts_with(['=', '+', '-', '@']) && bare.parse::<f64>().is_err();
            assert!(!formula, "{name}: {cell}");
        }
    }
    let flows = std::fs::read_to_string(scratch.path("r/csv/flows.csv")).expect("a table");
    assert!(flows.contains(&format!("'{formula}")), "{flows}");
}

/// What would not fit into memory is refused with an estimate, before it is made.
#[test]
fn what_is_too_large_is_refused_at_once() {
    let scratch = Scratch::new("hostile-memory");
    let run = |arguments: &[&str], memory: Option<&str>| {
        let mut command = scratch.command(arguments);
        if let Some(memory) = memory {
            command.env("TAILBACK_MEMORY", memory);
        }
        Said::new(&command.output().expect("the program starts"))
    };
    let refused = |arguments: &[&str], memory: Option<&str>, part: &str| {
        let said = run(arguments, memory).ends(2);
        assert!(said.err.contains(" of memory") && said.err.contains(part), "{}", said.err);
        assert!(said.err.contains("TAILBACK_MEMORY="), "{}", said.err);
    };
    scratch.file("a.toml", SOUND);
    let axis = |key: &str| format!("{key}={}", (1..=30).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let axes: Vec<String> = (0..8).map(|n| axis(&format!("workloads[w].x{n}"))).collect();
    let mut grid = vec!["sweep", "a.toml", "--out", "s"];
    axes.iter().for_each(|axis| grid.extend(["--axis", axis.as_str()]));
    refused(&grid, None, "a grid of 656,100,000,000 cells");
    refused(&["sweep", "a.toml", "--axis", "run.seed=1,2", "--replications", "1000000"], Some("1GB"), "runs");
    let all = SOUND
        .replace("kind = \"greedy\"", "kind = \"all-to-all\"")
        .replace("from = [\"h0\", \"h1\"]\nto = \"h2\"\n", "");
    scratch.file("all.toml", all.replace("hosts = 3", "hosts = 3162"));
    refused(&["run", "all.toml"], None, "9,995,082 flows");
    refused(&["run", "all.toml"], Some("8GB"), "9,995,082 flows");
    // What is not run has no state.
    for command in ["check", "explain"] {
        refused(&[command, "all.toml"], Some("500MB"), "9,995,082 flows");
    }
    let ring = SOUND.replace("single-switch", "ring").replace("hosts = 3", "switches = 300\nhosts_per_switch = 1");
    scratch.file("ring.toml", ring);
    refused(&["check", "ring.toml"], Some("900KB"), "forwarding entries");
    refused(&["spb", "ring.toml"], Some("20MB"), "pairs of bridges");
    refused(&["spb", "ring.toml"], Some("20MB"), "ring.toml: ");
    let ring = std::fs::read_to_string(scratch.path("ring.toml")).expect("it is there");
    let agents = |more: &str| format!("{ring}[[dcb]]\nmatch = \"sw*\"\npfc = [0]\n{more}");
    scratch.file("dcb.toml", agents("")).file("applied.toml", agents("[dcbx]\napply = true\n"));
    refused(&["dcbx", "dcb.toml"], Some("4MB"), "dcb.toml: this needs about 7 MB of memory, 7 MB of it for 1200 ports");
    refused(&["check", "applied.toml"], Some("4MB"), "ports with DCBX agents");
    run(&["check", "ring.toml"], Some("20MB")).ends(0);
    run(&["check", "a.toml"], Some("much")).ends(2);
    assert_eq!(scratch.names(""), ["a.toml", "all.toml", "applied.toml", "dcb.toml", "ring.toml"], "nothing was made");
    // Of several, as many at once as fit; the results are the same.
    let all = all.replace("hosts = 3", "hosts = 20").replace("\"1ms\"", "\"10us\"");
    scratch.file("all.toml", all);
    let sweep = ["sweep", "all.toml", "--axis", "run.seed=1,2,3", "--threads", "3", "--json", "--out"];
    let enough = run(&[&sweep[..], &["s"]].concat(), None).ends(0);
    let few = run(&[&sweep[..], &["t"]].concat(), Some("800KB")).ends(0);
    assert!(
        few.err.contains("2 instead of 3 runs at once: one needs about 366560 B of memory")
            && !enough.err.contains("instead"),
        "{}",
        few.err
    );
    assert_eq!(few.out, enough.out);
    run(&[&sweep[..], &["u"]].concat(), Some("300KB")).ends(2);
    run(&["compare", "all.toml", "--vary", "run.seed=1,2,3", "--out", "c"], Some("600KB")).ends(0);
}

/// Plans are made one after the other: many of them need no more memory than one.
#[test]
#[cfg(target_os = "linux")]
fn a_comparison_of_many_holds_one_plan_at_a_time() {
    let scratch = Scratch::new("hostile-many");
    let all = SOUND
        .replace("kind = \"greedy\"", "kind = \"all-to-all\"")
        .replace("from = [\"h0\", \"h1\"]\nto = \"h2\"\n", "");
    scratch.file("all.toml", all.replace("hosts = 3", "hosts = 200"));
    // The last is wrong, so that nothing is run.
    let vary = format!("run.seed={},x", (1..=30).map(|seed| seed.to_string()).collect::<Vec<_>>().join(","));
    let mut command = Command::new("sh");
    let line = "ulimit -v 350000; exec \"$0\" compare all.toml --vary \"$1\"";
    command.args(["-c", line, env!("CARGO_BIN_EXE_tailback"), &vary]).current_dir(scratch.path(""));
    let said = Said::new(&command.output().expect("there is a shell")).ends(2);
    assert!(said.err.contains("with run.seed=x"), "{}", said.err);
}

#[test]
fn every_variant_can_be_named() {
    let scratch = Scratch::new("hostile-variants");
    for name in [" a", "a ", "'\"a\"'", ""] {
        let name = if name.starts_with('\'') { name.to_owned() } else { format!("\"{name}\"") };
        let text = format!("{SOUND}[[variants]]\nname = {name}\nset = {{ \"run.seed\" = 2 }}\n");
        let said = scratch.file("a.toml", text).run(&["check", "a.toml"]).ends(2);
        assert!(said.err.contains("--> a.toml:18:8"), "{}", said.err);
    }
}

/// Whoever made a directory of results must not choose which file of its next user is replaced.
#[test]
#[cfg(unix)]
fn nothing_is_written_through_the_links_and_pipes_of_strangers() {
    let scratch = Scratch::new("hostile-writing");
    scratch.file("a.toml", SOUND).file("papers/p/fig1.toml", SOUND).file("precious", "mine").file("other/x", "");
    scratch.file("papers/p/paper.toml", "title = \"P\"\nauthors = \"A\"\nyear = 2020\npublisher = \"X\"\n");
    let sweep = ["sweep", "a.toml", "--axis", "run.seed=1,2", "--out", "sw"];
    let reproduce = ["reproduce", "p", "--papers", "papers", "--out", "rp"];
    soon(&scratch, &sweep).ends(0);
    soon(&scratch, &reproduce).ends(0);
    soon(&scratch, &["run", "a.toml", "-q", "--out", "r"]).ends(0);
    let point = |folder: &str| {
        let entry = std::fs::read_dir(scratch.path(folder)).expect("points").flatten().next().expect("a point");
        format!("{folder}/{}", entry.file_name().to_string_lossy())
    };
    let (of_sweep, of_figure) = (point("sw/points"), point("rp/p/fig1/points"));
    let attacked = |command: &[&str], place: &str| {
        let (path, aside) = (scratch.path(place), scratch.path("aside"));
        let there = std::fs::rename(&path, &aside).is_ok();
        for kind in ["link", "dangling", "folder", "pipe"] {
            match kind {
                "link" => link(&scratch, scratch.path("precious").to_str().expect("a path"), place),
                "dangling" => link(&scratch, scratch.path("new").to_str().expect("a path"), place),
                "folder" => link(&scratch, scratch.path("other").to_str().expect("a path"), place),
                _ => pipe(&scratch, place),
            }
            let said = soon(&scratch, command);
            assert_eq!(said.code, Some(2), "{command:?}, {place} as {kind}: {}", said.err);
            assert!(said.err.contains(place) && said.err.contains("remove"), "{place} as {kind}: {}", said.err);
            std::fs::remove_file(&path).expect("it is still there");
        }
        assert_eq!(std::fs::read_to_string(scratch.path("precious")).expect("it is there"), "mine", "{place}");
        assert!(!scratch.path("new").exists(), "{place}");
        assert_eq!(std::fs::read_dir(scratch.path("other")).expect("it is there").count(), 1, "{place}");
        if there {
            std::fs::rename(&aside, &path).expect("it goes back");
        }
    };
    for place in ["sw/table.csv", "sw/table.json", "sw/sweep.json", "sw/points", "sw/plots", &of_sweep] {
        attacked(&sweep, place);
    }
    for place in ["verdicts.json", "paper.json", "points", "plots", "run"] {
        attacked(&reproduce, &format!("rp/p/fig1/{place}"));
    }
    for place in ["rp/p/paper.json", "rp/p/fig1", "rp/p", &of_figure] {
        attacked(&reproduce, place);
    }
    for place in ["csv", "csv/flows.csv", "csv/columns.csv"] {
        soon(&scratch, &["csv", "r"]).ends(0);
        attacked(&["csv", "r", "--overwrite"], &format!("r/{place}"));
    }
    for place in ["plots", "plots/throughput.svg", "plots/throughput.png"] {
        soon(&scratch, &["plot", "r"]).ends(0);
        attacked(&["plot", "r", "--overwrite"], &format!("r/{place}"));
    }
    attacked(&["report", "r", "--overwrite"], "r/report.html");
    // What a person names may be a link.
    link(&scratch, "precious", "mine.html");
    soon(&scratch, &["report", "r", "-o", "mine.html", "--overwrite"]).ends(0);
    assert_ne!(std::fs::read_to_string(scratch.path("precious")).expect("it is there"), "mine");
    for command in [&sweep[..], &reproduce, &["csv", "r"], &["plot", "r"]] {
        soon(&scratch, command).ends(0);
    }
}

/// A picture or table that its user has copied beside ours begins as ours does.
#[test]
fn copies_of_views_outlive_a_result() {
    let scratch = Scratch::new("hostile-copies");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "-q", "--out", "r"]).ends(0);
    scratch.run(&["plot", "r"]).ends(0);
    scratch.run(&["csv", "r"]).ends(0);
    let copies = ["plots/before-change.svg", "plots/before-change.png", "csv/before.csv"];
    for (from, to) in ["plots/throughput.svg", "plots/throughput.png", "csv/columns.csv"].iter().zip(copies) {
        std::fs::copy(scratch.path("r").join(from), scratch.path("r").join(to)).expect("there is room");
    }
    scratch.run(&["run", "a.toml", "-q", "--out", "r", "--overwrite"]).ends(0);
    copies.iter().for_each(|name| assert!(scratch.path("r").join(name).exists(), "{name}"));
    assert!(!scratch.path("r/plots/throughput.svg").exists() && !scratch.path("r/csv/columns.csv").exists());
}
