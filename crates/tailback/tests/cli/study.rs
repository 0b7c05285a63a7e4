//! `sweep` and `compare`: many runs, one table, and nothing done twice.

use crate::program::{SOUND, Scratch, wait_until};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Two by two cells and two seeds.
const GRID: [&str; 6] = [
    "--axis",
    "switches[0].buffers[0].xoff=60KB,70KB",
    "--axis",
    "workloads[w].frame=1500B,500B",
    "--replications",
    "2",
];

fn sweep(scratch: &Scratch, more: &[&str]) -> crate::program::Said {
    scratch.run(&[&["sweep", "a.toml"], &GRID[..], more].concat())
}

/// The finished runs of a sweep and when each was written.
fn finished(scratch: &Scratch, out: &str) -> BTreeMap<String, SystemTime> {
    let names = scratch.names(&format!("{out}/points")).into_iter().filter(|name| name.ends_with(".json"));
    let written = |name: &String| {
        let file = std::fs::metadata(scratch.path(&format!("{out}/points/{name}"))).expect("it is there");
        file.modified().expect("the system knows")
    };
    names.map(|name| (name.clone(), written(&name))).collect()
}

#[test]
fn a_small_grid_is_as_it_was() {
    let scratch = Scratch::new("sweep");
    scratch.file("a.toml", SOUND);
    sweep(&scratch, &["--out", "s"]).ends(0).matches("sweep");
    for name in ["sweep.json", "table.csv", "table.json"] {
        assert!(scratch.path("s").join(name).exists(), "{name}");
    }
    assert!(scratch.names("s/plots").iter().any(|name| name.ends_with(".svg")));
    let csv = std::fs::read_to_string(scratch.path("s/table.csv")).expect("a table");
    assert_eq!(csv.lines().count(), 5, "a head and four cells");
    // One seed has no interval to explain.
    let said = scratch.run(&["sweep", "a.toml", "--axis", "run.duration=1ms,2ms", "--out", "one"]).ends(0);
    assert!(!said.out.contains('±'), "{}", said.out);
}

#[test]
fn a_sweep_that_is_done_is_not_done_again() {
    let scratch = Scratch::new("sweep-again");
    scratch.file("a.toml", SOUND);
    let first = sweep(&scratch, &["--out", "s", "--json"]).ends(0).json();
    assert_eq!(first.as_array().map(Vec::len), Some(4));
    for cell in first.as_array().expect("cells") {
        assert_eq!(cell["outcomes"]["finished"], 2);
        assert_eq!(cell["metrics"]["w: throughput (b/s)"]["runs"], 2);
        assert_eq!(cell["values"].as_object().map(serde_json::Map::len), Some(2));
    }
    let before = finished(&scratch, "s");
    assert_eq!(before.len(), 8);
    assert_eq!(sweep(&scratch, &["--out", "s", "--json"]).ends(0).json(), first);
    assert_eq!(finished(&scratch, "s"), before);
    // More seeds are added to those that are there.
    sweep(&scratch, &["--out", "s", "--set", "run.replications=9"]).ends(0);
    let arguments = [&["sweep", "a.toml", "--out", "s"], &GRID[..4], &["--replications", "3"]].concat();
    scratch.run(&arguments).ends(0);
    let after = finished(&scratch, "s");
    assert_eq!(after.len(), 12);
    assert!(before.iter().all(|(name, written)| after.get(name) == Some(written)));
    let said = std::fs::read_to_string(scratch.path("s/sweep.json")).expect("it is there");
    let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(said["seeds"], serde_json::json!([1, 2, 3]));
}

#[test]
fn a_killed_sweep_goes_on_where_it_stopped() {
    let scratch = Scratch::new("sweep-killed");
    scratch.file("a.toml", SOUND.replace("1ms", "100ms"));
    let mut child = scratch.start(&[&["sweep", "a.toml", "--out", "s", "--threads", "1"], &GRID[..]].concat());
    wait_until("two runs are done", || finished(&scratch, "s").len() >= 2);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let before = finished(&scratch, "s");
    assert!(before.len() < 8, "it was killed on its way");
    let said = sweep(&scratch, &["--out", "s", "--json"]).ends(0);
    let after = finished(&scratch, "s");
    assert_eq!(after.len(), 8);
    assert!(before.iter().all(|(name, written)| after.get(name) == Some(written)), "nothing finished is done again");
    let fresh = sweep(&scratch, &["--out", "fresh", "--json"]).ends(0);
    assert_eq!(said.json(), fresh.json(), "as if it had not been killed");
}

/// Every file of a directory and its folders, by its path.
fn tree(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(directory).expect("it is there").flatten() {
        let (path, name) = (entry.path(), PathBuf::from(entry.file_name()));
        match path.is_dir() {
            true => files.extend(tree(&path).into_iter().map(|(inside, bytes)| (name.join(inside), bytes))),
            false => drop(files.insert(name, std::fs::read(&path).expect("it can be read"))),
        }
    }
    files
}

#[test]
fn a_sweep_gives_the_same_bytes_however_often_it_is_killed_or_repeated() {
    let scratch = Scratch::new("sweep-bytes");
    // Sixteen thirds and sevenths: numbers that need all their digits.
    scratch.file("a.toml", SOUND.replace("1ms", "1700us").replace("10Gb/s", "9700003333b/s"));
    let frames = "workloads[w].frame=1500B,1401B,1307B,1201B,1103B,1009B,907B,800B";
    let arguments = |out| ["sweep", "a.toml", "--axis", frames, "--replications", "2", "--threads", "2", "--out", out];
    let mut kills = 0;
    for delay in [1, 40, 7, 23, 90, 55, 14, 70] {
        let mut child = scratch.start(&arguments("killed"));
        std::thread::sleep(Duration::from_millis(delay));
        kills += i32::from(child.try_wait().expect("it was started").is_none());
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
    }
    assert!(kills > 0, "it takes longer than a millisecond");
    scratch.run(&arguments("killed")).ends(0);
    scratch.run(&arguments("fresh")).ends(0);
    let fresh = tree(&scratch.path("fresh"));
    assert!(fresh.len() > 16, "{:?}", fresh.keys());
    assert!(tree(&scratch.path("killed")) == fresh, "{:?}", tree(&scratch.path("killed")).keys());
    scratch.run(&arguments("fresh")).ends(0);
    assert!(tree(&scratch.path("fresh")) == fresh, "numbers that are read back are the same");
}

#[test]
fn a_sweep_keeps_off_what_is_not_its_own() {
    let scratch = Scratch::new("sweep-other");
    scratch.file("a.toml", SOUND).file("thesis/chapter1.tex", "precious");
    sweep(&scratch, &["--out", "thesis"]).ends(2).matches("sweep-occupied");
    assert_eq!(scratch.names("thesis"), ["chapter1.tex"]);
    sweep(&scratch, &["--out", "s"]).ends(0);
    scratch.file("a.toml", SOUND.replace("1us", "2us"));
    sweep(&scratch, &["--out", "s"]).ends(2);
}

#[test]
fn a_misspelt_axis_costs_nothing() {
    let scratch = Scratch::new("sweep-misspelt");
    scratch.file("a.toml", SOUND);
    let axis = ["--axis", "switches[0].buffers[0].xoff=60KB,70KX"];
    scratch.run(&[&["sweep", "a.toml", "--out", "s"], &axis[..]].concat()).ends(2).matches("sweep-misspelt");
    assert_eq!(scratch.names(""), ["a.toml"], "the place is still free");
    scratch.run(&["sweep", "a.toml", "--axis", "xoff"]).ends(2);
    sweep(&scratch, &["--out", "s"]).ends(0);
}

#[test]
fn a_sweep_killed_while_it_claimed_its_place_is_not_in_the_way() {
    let scratch = Scratch::new("sweep-claim");
    scratch.file("a.toml", SOUND).file("s/sweep.partial-4194999", "{");
    std::fs::create_dir(scratch.path("s/points")).expect("there is room");
    sweep(&scratch, &["--out", "s"]).ends(0);
}

#[test]
fn compare_puts_two_values_side_by_side() {
    let scratch = Scratch::new("compare");
    scratch.file("a.toml", SOUND);
    let vary = ["compare", "a.toml", "--vary", "workloads[w].frame=1500B,500B", "--out", "c"];
    scratch.run(&vary).ends(0).matches("compare");
    assert_eq!(scratch.names("c"), ["1500b", "500b", "compare.json", "throughput.png", "throughput.svg"]);
    scratch.run(&vary).ends(2);
    let table = scratch.run(&[&vary[..], &["--overwrite", "--json"]].concat()).ends(0).json();
    assert_eq!(table["key"], "workloads[w].frame");
    let rate = |row: usize| table["rows"][row]["mean_bits_per_second"].as_f64().expect("a rate");
    assert!(rate(0) > rate(1), "longer frames have less overhead: {table:#}");
}

/// The files of a comparison, apart from those that say how long its runs took.
fn compared(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let timed = |path: &Path| ["manifest.json", "report.html"].iter().any(|name| path.ends_with(name));
    tree(directory).into_iter().filter(|(path, _)| !timed(path)).collect()
}

#[test]
fn a_killed_comparison_goes_on_where_it_stopped() {
    let scratch = Scratch::new("compare-killed");
    scratch.file("a.toml", SOUND);
    let durations = "run.duration=1ms,1001us,100ms";
    let compare = |out| ["compare", "a.toml", "--vary", durations, "--out", out, "--report"];
    let mut child = scratch.start(&compare("c"));
    wait_until("a run is done", || scratch.path("c/1001us/manifest.json").exists());
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(!scratch.path("c/compare.json").exists(), "it was killed on its way");
    let written = || std::fs::metadata(scratch.path("c/1ms/manifest.json")).expect("it is there").modified().ok();
    let before = written();
    // Another comparison does not mix with it.
    let said = scratch.run(&["compare", "a.toml", "--vary", "run.duration=1ms,2ms", "--out", "c"]).ends(2);
    assert!(said.err.contains("not complete"), "{}", said.err);
    let said = scratch.run(&compare("c")).ends(0);
    assert!(said.err.contains("run.duration = 1ms: finished before, kept"), "{}", said.err);
    assert_eq!(written(), before, "nothing finished is done again");
    let fresh = scratch.run(&compare("fresh")).ends(0);
    assert_eq!(said.out, fresh.out);
    let (one, other) = (compared(&scratch.path("c")), compared(&scratch.path("fresh")));
    assert!(one == other, "{:?} {:?}", one.keys(), other.keys());
    assert_eq!(scratch.names("c"), scratch.names("fresh"));
    assert_eq!(scratch.names(""), ["a.toml", "c", "fresh"]);
}

#[test]
fn of_two_comparisons_at_once_one_is_refused_and_the_older_stays() {
    let scratch = Scratch::new("compare-twice");
    scratch.file("a.toml", SOUND);
    scratch.run(&["compare", "a.toml", "--vary", "run.duration=1ms,2ms", "--out", "c"]).ends(0);
    scratch.file("c/notes.txt", "precious");
    let older = tree(&scratch.path("c"));
    let long = ["--set", "probes.record=flows", "--set", "probes.sample_every=10ms"];
    let endless = ["compare", "a.toml", "--vary", "run.duration=3ms,3000s", "--out", "c", "--overwrite"];
    let mut child = scratch.start(&[&endless[..], &long[..]].concat());
    wait_until("its first run is done", || scratch.path("c.partial-comparison/3ms/manifest.json").exists());
    let overwrite = ["compare", "a.toml", "--vary", "run.duration=4ms,2ms", "--out", "c", "--overwrite"];
    let said = scratch.run(&overwrite).ends(2);
    assert!(said.err.contains("another process is writing to c"), "{}", said.err);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let left: BTreeMap<_, _> =
        tree(&scratch.path("c")).into_iter().filter(|(path, _)| !path.ends_with("compare.partial.lock")).collect();
    assert!(left == older, "{:?}", left.keys());
    scratch.run(&overwrite).ends(0);
    assert_eq!(
        scratch.names("c"),
        ["2ms", "4ms", "compare.json", "notes.txt", "throughput.png", "throughput.svg"],
        "what the older one listed is gone, and nothing else"
    );
    assert_eq!(scratch.names(""), ["a.toml", "c"]);
}

#[test]
fn compared_variants_are_in_a_folder_called_after_the_scenario() {
    let scratch = Scratch::new("compare-variants");
    let variants = "[[variants]]\nname = \"long frames\"\nset = { \"workloads[0].frame\" = \"1500B\" }\n[[variants]]\nname = \"short\"\nset = { \"workloads[0].frame\" = \"500B\" }\n";
    scratch.file("a.toml", format!("{}{variants}", SOUND.replace("name = \"small\"", "name = \"Frames\"")));
    scratch.run(&["compare", "a.toml", "--vary", "variant=long frames,short"]).ends(0);
    let said = scratch.run(&["compare", "a.toml", "--vary", "variant=short,short"]).ends(2);
    assert!(said.err.contains("'short' is given twice for variant"), "{}", said.err);
    assert_eq!(scratch.names("results"), ["frames-compared"]);
    assert_eq!(scratch.names("results/frames-compared")[..2], ["compare.json", "long-frames"]);
    let said = std::fs::read_to_string(scratch.path("results/frames-compared/compare.json")).expect("it is there");
    assert!(said.contains("\"name\": \"Frames\""), "{said}");
}

#[test]
fn compare_loads_all_before_it_runs_any() {
    let scratch = Scratch::new("compare-wrong");
    scratch.file("a.toml", SOUND);
    scratch.run(&["compare", "a.toml", "--protocols", "none,nine"]).ends(2).matches("compare-wrong");
    scratch.run(&["compare", "a.toml"]).ends(2).matches("compare-nothing");
    let said = scratch.run(&["compare", "a.toml", "--vary", "run.duration=1ms,2xs"]).ends(2);
    assert!(said.err.contains("--> --vary:1:14") && !said.err.contains("--set"), "{}", said.err);
    assert_eq!(scratch.names(""), ["a.toml"]);
}

/// A value of the scenario's own `[sweep]` is wrong where the scenario states it; one of `--axis` under that name.
#[test]
fn a_wrong_value_of_an_axis_is_shown_where_it_is_stated() {
    let scratch = Scratch::new("sweep-places");
    let sweep = "[sweep]\n\"run.warm_up\" = [\"0s\", \"9s\"]\n";
    scratch.file("a.toml", format!("{SOUND}{sweep}"));
    let said = scratch.run(&["sweep", "a.toml", "--out", "s"]).ends(2);
    assert!(said.err.contains("--> a.toml:18:24"), "{}", said.err);
    let said = scratch.run(&["sweep", "a.toml", "--axis", "run.warm_up=0s,9s", "--out", "s"]).ends(2);
    assert!(said.err.contains("--> a.toml:18:24") || said.err.contains("--> --axis:1:13"), "{}", said.err);
    let said = scratch.run(&["sweep", "a.toml", "--axis", "run.warm_up=8s", "--out", "s"]).ends(2);
    assert!(said.err.contains("--> --axis:1:13"), "{}", said.err);
}
