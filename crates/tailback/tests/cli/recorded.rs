//! `plot`, `diff` and `csv`: a recorded run looked at again.

use crate::program::{SOUND, Scratch};

/// Two runs of an incast that draws its jitter from the seed.
fn runs(scratch: &Scratch) {
    scratch.scenario("incast.toml");
    for (seed, out) in [("1", "a"), ("1", "same"), ("2", "other")] {
        scratch.run(&["run", "incast.toml", "--quiet", "--seed", seed, "--out", out]).ends(0);
    }
}

#[test]
fn plot_draws_what_the_papers_draw() {
    let scratch = Scratch::new("plot");
    scratch.scenario("victim.toml").run(&["run", "victim.toml", "--quiet", "--out", "r"]).ends(0);
    let said = scratch.run(&["plot", "r"]).ends(0);
    assert!(said.out.is_empty() && said.err.contains("r/plots"), "{}{}", said.out, said.err);
    for name in ["throughput", "queues", "pauses"] {
        let svg = std::fs::read_to_string(scratch.path(&format!("r/plots/{name}.svg"))).expect("a picture");
        assert!(svg.contains("<svg") && svg.contains("</svg>\n<!-- tailback sha256:"), "{name}");
        let png = std::fs::read(scratch.path(&format!("r/plots/{name}.png"))).expect("a picture");
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 1000, "{name}");
    }
    scratch.run(&["plot", "r", "--out", "elsewhere"]).ends(0);
    assert_eq!(scratch.names("elsewhere"), scratch.names("r/plots"));
}

#[test]
fn diff_of_equal_runs_is_0() {
    let scratch = Scratch::new("diff-equal");
    runs(&scratch);
    let said = scratch.run(&["diff", "a", "same"]).ends(0);
    assert!(said.out.contains("fingerprint") && said.out.contains("are the same"), "{}", said.out);
}

#[test]
fn diff_compares_what_was_recorded_and_says_what_was_not() {
    let scratch = Scratch::new("diff-recorded");
    scratch.scenario("incast.toml");
    let run = |out: &str, set: &str| {
        scratch.run(&["run", "incast.toml", "--quiet", "--set", set, "--out", out]).ends(0);
    };
    run("a", "run.seed=1");
    run("fewer", "probes.record=[\"flows\", \"links\"]");
    run("rarer", "probes.sample_every=30us");
    let said = scratch.run(&["diff", "a", "fewer"]).ends(0);
    assert!(said.out.contains("only the first run recorded it): queues, occupancy, rates"), "{}", said.out);
    // The fingerprint is that of the run, which is the same: what was recorded of it is not.
    let said = scratch.run(&["diff", "a", "rarer"]).ends(6);
    assert!(said.out.contains("both runs have the fingerprint"), "{}", said.out);
    assert!(said.out.lines().nth(1).is_some_and(|line| line.contains(", row ")), "{}", said.out);
    assert!(said.out.contains("setting probes.sample_every is"), "{}", said.out);
}

#[test]
fn a_damaged_table_ends_every_command_that_reads_it_with_2() {
    let scratch = Scratch::new("damaged");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "--quiet", "--out", "r"]).ends(0);
    scratch.run(&["run", "a.toml", "--quiet", "--out", "whole"]).ends(0);
    let path = scratch.path("r/links.parquet");
    let mut octets = std::fs::read(&path).expect("a table");
    let middle = octets.len() / 2;
    octets[middle] ^= 4;
    std::fs::write(&path, octets).expect("there is room");
    for command in [&["csv", "r", "--out", "csv"][..], &["plot", "r", "--out", "plots"], &["diff", "r", "whole"]] {
        let said = scratch.run(command).ends(2);
        assert!(said.err.contains("r/links.parquet has changed since the run wrote it"), "{}", said.err);
    }
    let manifest = std::fs::read_to_string(scratch.path("r/manifest.json")).expect("a manifest");
    scratch.file("r/manifest.json", manifest.replacen("\"made_frames\": ", "\"made_frames\": 1", 1));
    let said = scratch.run(&["csv", "r", "--out", "csv"]).ends(2);
    assert!(said.err.contains("r/manifest.json has changed since the run wrote it"), "{}", said.err);
}

/// Files beside the tables are verified as well: a report says nothing that the run did not write.
#[test]
fn a_damaged_file_beside_the_tables_ends_a_report_with_2() {
    let scratch = Scratch::new("damaged-beside");
    scratch.file("a.toml", SOUND).run(&["run", "a.toml", "--quiet", "--out", "r"]).ends(0);
    let network = std::fs::read_to_string(scratch.path("r/network.json")).expect("a network");
    for damaged in [network.replacen('1', "2", 1), String::from("{"), String::new()] {
        scratch.file("r/network.json", damaged);
        let said = scratch.run(&["report", "r", "-o", "r.html"]).ends(2);
        assert!(said.err.contains("r/network.json has changed since the run wrote it"), "{}", said.err);
        assert!(!scratch.path("r.html").exists());
    }
}

#[test]
fn diff_of_two_seeds_is_6_and_names_table_and_time() {
    let scratch = Scratch::new("diff-differ");
    runs(&scratch);
    let said = scratch.run(&["diff", "a", "other"]).ends(6);
    assert!(said.out.contains("fingerprints differ"), "{}", said.out);
    let second = said.out.lines().nth(1).expect("where they differ");
    let (time, rest) = second.strip_prefix("at ").and_then(|rest| rest.split_once(", table ")).expect(second);
    assert!(time.ends_with('s') && time.starts_with(|c: char| c.is_ascii_digit()), "{time}");
    assert!(rest.starts_with(|c: char| c.is_ascii_lowercase()), "{rest}");
}

#[test]
fn csv_has_every_table_and_its_columns() {
    let scratch = Scratch::new("csv");
    scratch.scenario("victim.toml").run(&["run", "victim.toml", "--quiet", "--out", "r"]).ends(0);
    scratch.run(&["csv", "r"]).ends(0);
    let tables = |ending: &'static str, directory: &str| -> Vec<String> {
        scratch.names(directory).iter().filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect()
    };
    let mut exported = tables(".csv", "r/csv");
    exported.retain(|name| name != "columns");
    assert_eq!(exported, tables(".parquet", "r"));
    let flows = std::fs::read_to_string(scratch.path("r/csv/flows.csv")).expect("a table");
    assert_eq!(flows.lines().count(), 6, "a head and five flows");
}

#[test]
fn what_is_not_a_result_is_said_to_be_none() {
    let scratch = Scratch::new("no-result");
    scratch.file("thesis/chapter1.tex", "precious");
    scratch.run(&["plot", "thesis"]).ends(2).matches("plot-no-result");
    scratch.run(&["csv", "missing"]).ends(2).matches("csv-missing");
    assert_eq!(scratch.names("thesis"), ["chapter1.tex"]);
    scratch.file("later/manifest.json", "{\"format\": \"tailback results\", \"schema_version\": 999}");
    scratch.run(&["diff", "later", "later"]).ends(2);
}

/// A run in which nobody sends has no picture to draw: its folder of pictures is empty, and that is no failure.
#[test]
fn a_run_without_a_picture_is_recorded() {
    let scratch = Scratch::new("no-picture");
    let (before, rest) = SOUND.split_once("[[workloads]]").expect("it has a workload");
    let (_, run) = rest.split_once("[run]").expect("it has a run");
    scratch.file("idle.toml", format!("{before}[probes]\nrecord = [\"drops\"]\n[run]{run}"));
    scratch.run(&["run", "idle.toml", "--out", "out", "--plot", "--quiet"]).ends(0);
    scratch.run(&["run", "idle.toml", "--out", "out", "--plot", "--overwrite", "--quiet"]).ends(0);
}
