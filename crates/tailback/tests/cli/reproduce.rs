//! `reproduce`: the list, the verdicts, and the near miss.

use crate::program::{SOUND, Scratch};

/// A paper with a figure that agrees and one that cannot be read.
fn papers(scratch: &Scratch) {
    let states = "\n[[expectations]]\nname = \"each sender\"\nmetric = \"throughput\"\nof = \"w\"\nvalue = \"4.9Gb/s\"\n\
        tolerance = 0.1\nsource = \"section 2, second sentence\"\n";
    let figure = SOUND.replace("\"small\"", "\"two share one\"").replace("topology", "overhead = \"20B\"\ntopology");
    scratch.file("papers/incast-2024/paper.toml", "title = \"On incast\"\n");
    scratch.file("papers/incast-2024/fig1.toml", figure + states);
    scratch.file("papers/incast-2024/fig2.toml", "schema_version = 1\nnme = \"x\"\n");
    scratch.file("papers/incast-2024/base.toml", SOUND);
}

#[test]
fn without_a_figure_it_lists_them() {
    let scratch = Scratch::new("reproduce-list");
    papers(&scratch);
    scratch.run(&["reproduce"]).ends(0).matches("reproduce-list");
    let list = scratch.run(&["reproduce", "--json"]).ends(0).json();
    assert_eq!(list[0]["figure"], "incast-2024/fig1");
    assert_eq!(list[0]["numbers"], 1);
}

#[test]
fn an_unknown_figure_is_met_with_the_near_miss() {
    let scratch = Scratch::new("reproduce-unknown");
    papers(&scratch);
    scratch.run(&["reproduce", "incats-2024/fig1"]).ends(2).matches("reproduce-unknown");
    for (wrong, meant) in
        [("incast", Some("incast-2024?")), ("incast-2024/fg2", Some("incast-2024/fig2?")), ("foo", None)]
    {
        let said = scratch.run(&["reproduce", wrong]).ends(2);
        let guess = said.err.split_once("did you mean ").and_then(|(_, rest)| rest.split_once(' ')).map(|it| it.0);
        assert_eq!(guess, meant, "{}", said.err);
    }
    std::fs::create_dir(scratch.path("none")).expect("there is room");
    scratch.run(&["reproduce", "incast-2024", "--papers", "none"]).ends(2).matches("reproduce-no-papers");
}

#[test]
fn a_figure_is_run_judged_and_drawn() {
    let scratch = Scratch::new("reproduce-one");
    papers(&scratch);
    scratch.run(&["reproduce", "incast-2024/fig1", "--replications", "3"]).ends(0).matches("reproduce-agrees");
    assert!(scratch.names("results/papers/incast-2024/fig1/plots").contains(&"throughput.svg".into()));
    // A part of a figure is the figure.
    scratch.run(&["reproduce", "incast-2024/fig1b", "--replications", "3"]).ends(0);
    let told = scratch.run(&["reproduce", "incast-2024/fig1", "--json"]).ends(0).json();
    assert_eq!(told[0]["numbers"][0]["verdict"], "agrees");
    assert_eq!(told[0]["numbers"][0]["source"], "section 2, second sentence");
}

#[test]
fn the_same_figure_has_the_same_verdicts_wherever_it_is_written() {
    let scratch = Scratch::new("reproduce-twice");
    papers(&scratch);
    let verdicts = ["one", "two/deep"].map(|out| {
        scratch.run(&["reproduce", "incast-2024/fig1", "--quick", "--out", out]).ends(0);
        std::fs::read(scratch.path(out).join("incast-2024/fig1-quick/verdicts.json")).expect("it is there")
    });
    assert!(verdicts[0] == verdicts[1], "{}", String::from_utf8_lossy(&verdicts[0]));
}

#[test]
fn disagreement_is_told_apart_from_failure() {
    let scratch = Scratch::new("reproduce-disagrees");
    papers(&scratch);
    let slow = ["--set", "network.link.rate=1Gb/s"];
    let said = scratch.run(&[&["reproduce", "incast-2024/fig1", "--json"], &slow[..]].concat()).ends(6);
    assert_eq!(said.json()[0]["numbers"][0]["verdict"], "disagrees");
    scratch.run(&["reproduce", "incast-2024/fig2"]).ends(2).matches("reproduce-broken");
}

/// The numbers of papers that are tight and untuned hold in the short form too; every figure can be read.
#[test]
fn tight_numbers_of_papers_hold() {
    let scratch = Scratch::new("reproduce-papers");
    let papers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers");
    let list = scratch.run(&["reproduce", "--papers", papers, "--json"]).ends(0).json();
    let figures = list.as_array().expect("a list");
    assert!(figures.iter().all(|figure| figure["numbers"].is_u64()), "{figures:?}");
    for figure in ["infiniband-ecn-2002/fig2", "infiniband-ecn-2002/fig3a"] {
        let told = scratch.run(&["reproduce", figure, "--papers", papers, "--quick", "--json"]).ends(0).json();
        let numbers = told[0]["numbers"].as_array().expect("numbers");
        assert!(numbers.len() >= 3);
    }
}
