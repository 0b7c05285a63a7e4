//! What a paper says of several figures together: matrices, sentences, and figures that are missing.

use crate::program::Scratch;

/// One link, and flows that share it or not; `senders` of them.
fn figure(senders: u32) -> String {
    format!(
        r#"
schema_version = 1
name = "{senders} to one"
[network]
topology = "single-switch"
hosts = 4
link = {{ rate = "10Gb/s", latency = "500ns" }}
[[switches]]
flow_control = "pfc"
buffers = {{ capacity = "200KB" }}
[[workloads]]
name = "w"
kind = "paced"
rate = "1Gb/s"
from = "h{{1..{senders}}}"
to = "h0"
[run]
duration = "2ms"
replications = 2
[[variants]]
name = "slow"
set = {{ "workloads[w].rate" = "1Gb/s" }}
[[variants]]
name = "fast"
set = {{ "workloads[w].rate" = "2Gb/s" }}
[[choices]]
name = "frame"
options = [{{ name = "large", set = {{}} }}, {{ name = "late", set = {{ "workloads[w].start" = "1ms", "workloads[w].frame" = "500B" }} }}]
[[expectations]]
name = "each"
metric = "delivered"
"#
    )
}

const PAPER: &str = r#"
title = "On sharing"
authors = ["A", "B"]
year = 2024
[[missing]]
name = "fig3"
why = "the paper does not show it"
[[matrices]]
title = "What each gets"
quantity = "each"
[[sentences]]
says = "gets more"
measure = "bytes delivered over those of slow, mean of the figures"
of = "fast"
quantity = "each"
as = "ratio"
over = "slow"
op = ">"
value = 1.5
[[sentences]]
says = "comes last"
measure = "rank by bytes delivered"
of = "slow"
quantity = "each"
figures = "fig1"
as = "rank-from-top"
over = ["slow", "fast"]
op = ">="
value = 2
[[sentences]]
says = "gets a lot"
measure = "bytes delivered in 2 ms"
of = "slow"
quantity = "each"
op = ">"
value = 200000
[[sentences]]
says = "gets nothing"
measure = "bytes delivered"
of = "fast"
quantity = "each"
statistic = "most"
op = "<"
value = 1
"#;

fn papers(scratch: &Scratch, paper: &str) {
    scratch.file("papers/sharing-2024/paper.toml", paper);
    scratch.file("papers/sharing-2024/fig1.toml", figure(1));
    scratch.file("papers/sharing-2024/fig2.toml", figure(2));
}

#[test]
fn sentences_are_judged_over_figures_seeds_and_readings() {
    let scratch = Scratch::new("sentences");
    papers(&scratch, PAPER);
    let told = scratch.run(&["reproduce", "sharing-2024", "--json"]).ends(6).json();
    let summary = &told[2];
    let verdicts: Vec<&str> =
        summary["sentences"].as_array().expect("sentences").iter().filter_map(|one| one["verdict"].as_str()).collect();
    // Half the time delivers half of it: whether that is a lot depends on the reading.
    assert_eq!(verdicts, ["trend agrees", "trend agrees", "undetermined", "disagrees"]);
    let otherwise = &summary["sentences"][2]["otherwise"][0];
    assert_eq!((otherwise["choice"].as_str(), otherwise["value"].as_str()), (Some("frame"), Some("late")));
    assert_eq!(summary["sentences"][1]["figures"].as_array().map(Vec::len), Some(1));
    let matrix = &summary["matrices"][0];
    assert_eq!(matrix["figures"].as_array().map(Vec::len), Some(2));
    let [slow, fast] = [0, 1].map(|row| matrix["rows"][row]["cells"][0]["median"].as_f64().expect("a number"));
    assert!((fast / slow - 2.0).abs() < 0.05, "{slow} {fast}");
    let names = scratch.names("results/papers/sharing-2024/summary");
    assert_eq!(names, ["summary.json", "summary.txt", "what-each-gets.csv"]);
    scratch.run(&["reproduce", "sharing-2024", "--choices", "none"]).ends(6).matches("sentences");
}

/// Figures that state the same thing of both variants, in both figures, and by two measures.
const STATED: &str = r#"
value = "1B"
op = ">"
source = "section 1: everybody gets something"
[[expectations]]
name = "losses"
metric = "dropped-frames"
value = 1
statement = "nothing is lost"
source = "section 2: no frame is lost, in our words"
[[trends]]
quantity = "each"
shape = "above"
value = "1B"
source = "section 1: everybody gets something"
"#;

#[test]
fn a_statement_is_counted_once_however_often_it_is_measured() {
    let scratch = Scratch::new("statements");
    let paper = &PAPER[..PAPER.find("[[sentences]]").expect("sentences")];
    let sentence = "[[sentences]]\nsays = \"loses nothing\"\nmeasure = \"frames\"\nstatement = \"nothing is lost\"\n\
        of = \"slow\"\nquantity = \"losses\"\nop = \">\"\nvalue = 0\n";
    papers(&scratch, &format!("{paper}{sentence}"));
    for (name, senders) in [("fig1", 1), ("fig2", 2)] {
        scratch.file(&format!("papers/sharing-2024/{name}.toml"), figure(senders) + STATED);
    }
    let told = scratch.run(&["reproduce", "sharing-2024", "--json"]).ends(6).json();
    let count = &told[3]["count"];
    assert_eq!(count["short_form"], false);
    // Two variants in two figures, and one trend in each; two variants in two figures, and a sentence.
    let [statements, measurements] = ["statements", "measurements"].map(|what| &count["paper"][what]);
    assert_eq!((&statements["agree"], &statements["disagree"]), (&1.into(), &1.into()));
    assert_eq!((&measurements["agree"], &measurements["disagree"]), (&6.into(), &5.into()));
    let kept = std::fs::read_to_string(scratch.path("results/papers/sharing-2024/paper.json")).expect("paper.json");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    assert_eq!(&kept["count"], count);
    // The short form counts too, and says what it is wherever it does.
    scratch.run(&["reproduce", "sharing-2024", "--quick"]).ends(6).matches("statements-quick");
    let told = scratch.run(&["reproduce", "sharing-2024", "--quick", "--json"]).ends(6).json();
    assert_eq!(told[0]["count"]["short_form"], true);
    assert_eq!((&told[2]["short_form"], &told[3]["count"]["short_form"]), (&true.into(), &true.into()));
}

#[test]
fn what_is_missing_is_told_with_its_reason() {
    let scratch = Scratch::new("sentences-missing");
    papers(&scratch, PAPER);
    scratch.run(&["reproduce", "sharing-2024/fig3"]).ends(2).matches("sentences-missing");
    // Whoever writes the figure has it.
    scratch.file("papers/sharing-2024/fig3.toml", figure(3));
    scratch.run(&["reproduce", "sharing-2024/fig3"]).ends(0);
}

#[test]
fn what_no_figure_has_is_found_before_anything_runs() {
    let scratch = Scratch::new("sentences-wrong");
    papers(
        &scratch,
        &PAPER.replace("of = \"fast\"", "of = \"fsat\"").replace("figures = \"fig1\"", "figures = \"fig9\""),
    );
    scratch.run(&["reproduce", "sharing-2024"]).ends(2).matches("sentences-wrong");
    papers(&scratch, &PAPER.replace("op = \">\"", "op = \"~\""));
    scratch.run(&["reproduce", "sharing-2024"]).ends(2).matches("sentences-broken");
}

/// Sentences with two bounds, several criteria, counts, and other readings of what is measured.
const COMBINED: &str = r#"
title = "On sharing"
[[sentences]]
says = "gets about twice as much"
measure = "bytes delivered over those of slow, median of the figures: no less than 1.5 times and no more than 2.5"
of = "fast"
quantity = "each"
statistic = "median"
as = "ratio"
over = "slow"
op = "between"
value = 1.5
most = 2.5
[[sentences]]
says = "gets about as much"
measure = "the same: no less than 0.9 times and no more than 1.1, of which the first alone holds"
of = "fast"
quantity = "each"
as = "ratio"
over = "slow"
op = "between"
value = 0.9
most = 1.1
[[sentences]]
says = "is best by most criteria"
measure = "rank by bytes delivered, twice, and by the time that the wire is busy, the less the better"
of = "fast"
as = "rank"
criteria = [{ quantity = "each", best = "largest" }, { quantity = "least", best = "largest" }, { quantity = "busy", best = "smallest" }]
over = "slow"
op = "<="
value = 1
[[sentences]]
says = "most of them get a lot"
measure = "how many get 300 kB"
of = "both"
as = "count"
quantity = "each"
over = ["slow", "fast"]
threshold = 300000
op = ">="
value = 2
[[sentences]]
says = "late is better"
measure = "how many get more if they start late"
of = "late start"
as = "better-under"
criteria = [{ quantity = "each", best = "largest" }]
choice = "frame"
option = "late"
over = ["slow", "fast"]
op = ">="
value = 1
[[sentences]]
says = "late does not change the order"
measure = "part of the pairs that are not reversed"
of = "late start"
as = "order-kept"
criteria = [{ quantity = "each", best = "largest" }]
choice = "frame"
option = "late"
over = ["slow", "fast"]
op = ">="
value = 1
[[sentences]]
says = "it does not matter how many there are"
measure = "bytes delivered with one sender over those with two, or the time that the wire is busy"
of = "slow"
quantity = "each"
readings = [{ choice = "what counts", value = "the wire", quantity = "busy" }]
figures = "fig1"
over_figures = "fig2"
op = "between"
value = 0.9
most = 1.1
"#;

#[test]
fn sentences_have_two_bounds_several_criteria_and_other_quantities() {
    let scratch = Scratch::new("sentences-combined");
    papers(&scratch, COMBINED);
    let more = "[[expectations]]\nname = \"least\"\nmetric = \"delivered\"\nstatistic = \"least\"\n\
                [[expectations]]\nname = \"busy\"\nmetric = \"utilisation\"\nof = \"sw0->h0\"\n";
    for senders in [1, 2] {
        scratch.file(&format!("papers/sharing-2024/fig{senders}.toml"), figure(senders) + more);
    }
    let told = scratch.run(&["reproduce", "sharing-2024", "--json"]).ends(6).json();
    let sentences = told[2]["sentences"].as_array().expect("sentences");
    let verdicts: Vec<&str> = sentences.iter().filter_map(|one| one["verdict"].as_str()).collect();
    let expected =
        ["trend agrees", "disagrees", "trend agrees", "disagrees", "disagrees", "trend agrees", "undetermined"];
    assert_eq!(verdicts, expected, "{sentences:#?}");
    let texts: Vec<&str> = sentences.iter().filter_map(|one| one["expected_text"].as_str()).collect();
    assert_eq!(texts[0], "1.5 times to 2.5 times");
    assert_eq!((texts[2], texts[3]), ("<= rank 1", ">= 2 of 2"));
    let otherwise = &sentences[6]["otherwise"][0];
    assert_eq!((otherwise["choice"].as_str(), otherwise["value"].as_str()), (Some("what counts"), Some("the wire")));
    // Without the choices nothing is known of another value of one.
    let told = scratch.run(&["reproduce", "sharing-2024", "--json", "--choices", "none"]).ends(6).json();
    assert_eq!(told[2]["sentences"][4]["verdict"], "undetermined");
}
