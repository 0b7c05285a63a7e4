//! `report`, and `--report` of the others: what becomes of every kind of results.

use crate::program::{SOUND, Scratch};
use render::report::{Front, Making, Report};

/// Stands for the front-end.
const FRONT: Front<'static> = Front { script: "start()", style: "p{}", module: None, asks: false };

/// What a report of these results is about.
fn page(scratch: &Scratch, results: &str) -> String {
    Report::open(&scratch.path(results), &Making::usual()).expect("there are results").html(FRONT)
}

#[test]
fn a_report_asked_for_is_written() {
    let scratch = Scratch::new("report-asked");
    scratch.file("a.toml", SOUND);
    let said = scratch.run(&["run", "a.toml", "--report", "--out", "r"]);
    let said = said.ends(0);
    assert!(said.err.contains("report in r/report.html"), "{}", said.err);
    scratch.run(&["report", "r", "-o", "b.html"]).ends(0);
    let read = |name: &str| std::fs::read_to_string(scratch.path(name)).expect("it was written");
    assert_eq!(read("r/report.html"), read("b.html"), "the same results give the same report");
    scratch.run(&["run", "a.toml", "--no-record", "--report"]).ends(2);
}

#[test]
fn what_is_no_result_is_refused() {
    let scratch = Scratch::new("report-none");
    scratch.file("empty/other.txt", "x").file("bad/sweep.json", "{").file("bad/table.json", "[]");
    for (results, words) in [("nowhere", "does not exist"), ("empty", "there are no results"), ("bad", "sweep.json")] {
        let error = Report::open(&scratch.path(results), &Making::usual()).expect_err("no results").to_string();
        assert!(error.contains(words), "{results}: {error}");
        scratch.run(&["report", results]).ends(2);
    }
}

#[test]
fn every_kind_of_results_has_a_report() {
    let scratch = Scratch::new("report-kinds");
    let states = "\n[[expectations]]\nname = \"each sender\"\nmetric = \"throughput\"\nof = \"w\"\nvalue = \"4.9Gb/s\"\n\
        tolerance = 0.1\n[[charts]]\ntitle = \"both\"\nkind = \"time\"\npicture = \"throughput\"\nflows = { both = \"w\" }\n";
    let fluid = "[fluid]\nmodel = \"bcn\"\nsources = 50\ncapacity = \"10Gb/s\"\ndelay = \"200us\"\n";
    scratch.file("a.toml", SOUND).file("f.toml", format!("{SOUND}{fluid}"));
    scratch.file("papers/p/paper.toml", "title = \"On <incast>\"\nauthors = [\"A\"]\nyear = 2002\n");
    scratch.file("papers/p/notes.md", "# Notes\n").file("papers/p/fig1.toml", format!("{SOUND}{states}"));
    scratch.run(&["run", "a.toml", "--out", "run"]).ends(0);
    scratch.run(&["compare", "a.toml", "--vary", "network.link.rate=10Gb/s,20Gb/s", "--out", "compared"]).ends(0);
    let sweep = ["sweep", "a.toml", "--axis", "network.link.rate=10Gb/s,20Gb/s", "--out", "swept"];
    scratch.run(&sweep).ends(0);
    let map = ["--map", "sources=5..100", "--map", "delay=150us..260us", "--points", "20", "--trajectory"];
    scratch.run(&[&["stability", "f.toml", "--out", "stable"][..], &map[..]].concat()).ends(0);
    scratch.run(&["reproduce", "p", "--out", "papers-out", "--replications", "1"]).ends(0);
    let with_runs = ["run", "compared", "papers-out/p", "papers-out/p/fig1"];
    for results in with_runs.into_iter().chain(["swept", "stable"]) {
        let page = page(&scratch, results);
        // What is known of a run, its network, its ports, its series; what several share is there once.
        let blocks = page.matches("id=\"block-").count();
        assert_eq!(blocks >= 6, with_runs.contains(&results), "{results}: {blocks}");
        assert!(page.contains("id=\"document\"") && page.contains("start()"), "{results}");
        assert!(!page.contains("<incast>"), "{results}");
    }
    assert!(page(&scratch, "papers-out/p").contains("<title>On &lt;incast&gt;</title>"));
    assert!(page(&scratch, "compared").contains("<title>small: comparison of network.link.rate</title>"));
}

#[test]
fn a_report_keeps_to_its_size_on_any_number_of_threads() {
    let scratch = Scratch::new("report-size");
    let short = ["--set", "run.duration=300us", "--set", "run.warm_up=0s", "--out", "r"];
    scratch.scenario("fat-tree.toml").run(&[&["run", "fat-tree.toml"][..], &short[..]].concat()).ends(0);
    let made = |size: u64, threads: usize| {
        Report::open(&scratch.path("r"), &Making { size, threads, ..Making::usual() }).expect("there are results")
    };
    let whole = made(1 << 30, 1).size();
    let least = made(0, 1).size();
    assert!(least * 3 < whole, "{least} of {whole}");
    for size in [(least + whole) / 4, (least + whole) / 2] {
        let one = made(size, 1);
        assert!(one.size() <= size && one.size() * 4 > size, "{} of {size}", one.size());
        assert_eq!(one.html(FRONT), made(size, 5).html(FRONT));
    }
}
