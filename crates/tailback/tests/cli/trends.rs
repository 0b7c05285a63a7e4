//! `reproduce` of a figure with cells: variants, axes, trends, open choices, charts; and a scenario's variants elsewhere.

use crate::program::{SOUND, Scratch};

/// Two hosts send to a third, over links of two speeds, in long and in short frames.
const FIGURE: &str = r#"
[sweep]
"network.link.rate" = ["10Gb/s", "20Gb/s"]

[[variants]]
name = "long frames"
set = { "workloads[w].frame" = "1500B" }

[[variants]]
name = "short frames"
set = { "workloads[w].frame" = "500B", "switches[0].buffers" = { capacity = "200KB", xoff = "60KB", xon = "57KB" }, run.seed = 7 }

[[expectations]]
name = "each sender"
metric = "throughput"
of = "w"

[[expectations]]
name = "long on slow links"
metric = "throughput"
of = "w"
value = "4.92Gb/s"
tolerance = 0.01
where = { variant = "long frames", "network.link.rate" = ["10Gb/s"] }
source = "section 2"

[[expectations]]
name = "drops"
metric = "dropped-frames"
value = 0

[[trends]]
name = "faster links carry more"
quantity = "each sender"
along = "network.link.rate"
shape = "rising"
source = "section 3, first sentence"

[[trends]]
name = "short frames carry less"
quantity = "each sender"
along = "variant"
shape = "falling"
tolerance = 0.01

[[trends]]
name = "the frame does not matter"
quantity = "each sender"
along = "variant"
shape = "flat"
where = { "network.link.rate" = "10Gb/s" }

[[trends]]
name = "never more than half"
quantity = "each sender"
shape = "below"
value = "5Gb/s"
where = { "network.link.rate" = "10Gb/s" }
"#;

const CHOICES: &str = r#"
[[choices]]
name = "overhead"
path = "network.overhead"
values = ["20B", "200B"]
why = "the paper does not say what is around a frame"

[[choices]]
name = "latency"
path = "network.link.latency"
values = ["1us", "1.5us"]
where = { variant = ["long frames"] }
"#;

fn figure(more: &str) -> String {
    SOUND.replace("\"small\"", "\"two share one\"") + FIGURE + more
}

#[test]
fn cells_are_judged_with_their_trends() {
    let scratch = Scratch::new("trends");
    scratch
        .file("papers/p/fig1.toml", figure("").replace("duration = \"1ms\"", "duration = \"1ms\"\nreplications = 2"));
    scratch.run(&["reproduce"]).ends(0).matches("trends-list");
    scratch.run(&["reproduce", "p/fig1"]).ends(6).matches("trends-fig1");
    let out = "results/papers/p/fig1";
    let told = std::fs::read_to_string(scratch.path(&format!("{out}/verdicts.json"))).expect("verdicts");
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    let verdicts = |what: &str| -> Vec<String> {
        let all = told[what].as_array().expect("a list").iter();
        all.map(|finding| finding["verdict"].as_str().expect("a word").to_owned()).collect()
    };
    assert_eq!(verdicts("numbers"), ["agrees"; 5], "one in one cell, drops in all four");
    assert_eq!(verdicts("trends"), ["trend agrees", "trend agrees", "disagrees", "trend agrees"]);
    assert_eq!(told["cells"].as_array().map(Vec::len), Some(4));
    assert_eq!(told["trends"][0]["lines"].as_array().map(Vec::len), Some(2), "a line per variant");
    assert_eq!(scratch.names(&format!("{out}/run")), ["long-frames", "short-frames"]);
    assert!(scratch.names(&format!("{out}/plots/short-frames")).contains(&"throughput.svg".into()));
    // Given again, nothing is run again.
    let points = scratch.names(&format!("{out}/points"));
    let written = || {
        std::fs::metadata(scratch.path(&format!("{out}/points/{}", points[0]))).expect("it is there").modified().ok()
    };
    let before = written();
    scratch.run(&["reproduce", "p/fig1"]).ends(6);
    assert_eq!((points.len(), written()), (8, before));
}

#[test]
fn a_verdict_that_depends_on_a_choice_is_none() {
    let scratch = Scratch::new("choices");
    scratch.file("papers/p/fig1.toml", figure(CHOICES));
    scratch.run(&["reproduce", "p"]).ends(6).matches("trends-choices");
    let json = scratch.run(&["reproduce", "p", "--json"]).ends(6).json();
    let number = &json[0]["numbers"][0];
    assert_eq!((&number["verdict"], &number["verdict_as_we_read_it"]), (&"undetermined".into(), &"agrees".into()));
    assert_eq!(number["under_other_choices"][0]["verdict"], "disagrees");
    assert_eq!(number["under_other_choices"][1]["verdict"], "agrees");
    // Four cells, four with another overhead, two with another latency.
    assert_eq!(scratch.names("results/papers/p/fig1/points").len(), 10);
    let json = scratch.run(&["reproduce", "p", "--json", "--choices", "none"]).ends(6).json();
    assert_eq!(json[0]["numbers"][0]["verdict"], "agrees");
}

const CHARTS: &str = r#"
[[charts]]
title = "Rate of each sender"
quantities = ["each sender", "long on slow links"]
y = "throughput"

[[charts]]
title = "By frame"
kind = "bars"
quantities = "each sender"
along = "variant"

[[charts]]
title = "Who gets what"
kind = "time"
flows = { both = "w", "the first" = "w/h0-*" }
links = { "to the receiver" = "sw0->h2" }
window = "100us"

[[charts]]
title = "Waiting"
kind = "time"
picture = "queues"
links = { all = "sw0->*" }
"#;

#[test]
fn a_figure_says_what_is_drawn() {
    let scratch = Scratch::new("charts");
    scratch.file("papers/p/plain.toml", figure("")).file("papers/p/drawn.toml", figure(CHARTS));
    scratch.run(&["reproduce", "p"]).ends(6);
    let plots = |figure: &str| scratch.names(&format!("results/papers/p/{figure}/plots"));
    let svg = |name: &str| {
        let path = scratch.path(&format!("results/papers/p/drawn/plots/{name}.svg"));
        std::fs::read_to_string(path).expect("a picture")
    };
    assert!(
        ["drops.svg", "each-sender.png", "each-sender.svg"].iter().all(|&name| plots("plain").contains(&name.into()))
    );
    let drawn = [
        "by-frame.png",
        "by-frame.svg",
        "long-frames",
        "rate-of-each-sender.png",
        "rate-of-each-sender.svg",
        "short-frames",
    ];
    assert_eq!(plots("drawn"), drawn);
    for text in
        ["each sender, long frames", "each sender, short frames", "throughput (Gb/s)", "network.link.rate (Gb/s)"]
    {
        assert!(svg("rate-of-each-sender").contains(text), "{text}");
    }
    for text in ["rate 10Gb/s", "rate 20Gb/s", ">long frames<", ">variant<"] {
        assert!(svg("by-frame").contains(text), "{text}");
    }
    for text in ["both", "the first", "to the receiver", "sliding window of 100 µs", "Who gets what · short frames"] {
        assert!(svg("short-frames/who-gets-what").contains(text), "{text}");
    }
    assert!(svg("long-frames/waiting").contains("queues (KB)"));
}

#[test]
fn the_short_form_is_one_seed_of_the_quick_time() {
    let scratch = Scratch::new("quick");
    let quick =
        figure(CHOICES).replace("duration = \"1ms\"", "duration = \"1ms\"\nquick = \"200us\"\nreplications = 5");
    scratch.file("papers/p/fig1.toml", quick);
    let json = scratch.run(&["reproduce", "p", "--quick", "--json"]).ends(6).json();
    assert_eq!((&json[0]["simulated"], json[0]["seeds"].as_array().map(Vec::len)), (&"200us".into(), Some(1)));
    assert_eq!(scratch.names("results/papers/p/fig1-quick/points").len(), 4);
    scratch.run(&["reproduce", "p", "--quick", "--replications", "3"]).ends(2);
}

#[test]
fn variants_are_run_and_swept() {
    let scratch = Scratch::new("variants");
    scratch.file("a.toml", figure(""));
    let run = |more: &[&str]| scratch.run(&[&["run", "a.toml", "--no-record", "--json"], more].concat()).ends(0).json();
    assert_eq!(run(&[])["name"], "two share one");
    let short = run(&["--variant", "short frames"]);
    assert_eq!((&short["name"], &short["seed"]), (&"two share one, short frames".into(), &7.into()));
    // What is given beside it wins.
    assert_eq!(run(&["--variant", "short frames", "--set", "run.seed=3"])["seed"], 3);
    scratch.run(&["run", "a.toml", "--variant", "shrot frames"]).ends(2).matches("variant-misspelt");
    scratch.file("b.toml", SOUND).run(&["run", "b.toml", "--variant", "x"]).ends(2).matches("variant-none");
    let cells = scratch.run(&["sweep", "a.toml", "--json", "--out", "s"]).ends(0).json();
    assert_eq!(cells.as_array().map(Vec::len), Some(4));
    let axis = ["--axis", "network.link.latency=1us,2us,3us"];
    let cells = scratch.run(&[&["sweep", "a.toml", "--json", "--out", "t"], &axis[..]].concat()).ends(0).json();
    assert_eq!(cells.as_array().map(Vec::len), Some(6), "the variants stay");
    let axis = [&axis[..], &["--axis", "variant=short frames"]].concat();
    let cells = scratch.run(&[&["sweep", "a.toml", "--json", "--out", "u"], &axis[..]].concat()).ends(0).json();
    assert_eq!(cells.as_array().map(Vec::len), Some(3));
}

#[test]
fn bad_names_are_told_where_they_stand() {
    let scratch = Scratch::new("trends-bad");
    let wrong = r#"
[[variants]]
name = "a"
set = { "workloads[w].fram" = "1500B", "run.duration" = "1Gb/s" }

[[variants]]
name = "a"
set = { "run.duration" = "1ms" }

[[expectations]]
name = "each sender"
metric = "throughput"
where = { varient = "a" }

[[trends]]
quantity = "each sendr"
along = "variant"
shape = "rising"

[[trends]]
quantity = "each sender"
along = "varaint"
shape = "raising"

[[trends]]
quantity = "each sender"
shape = "falling"
where = { variant = "b" }

[[trends]]
quantity = "each sender"
shape = "below"
value = "5KB"

[[trends]]
quantity = "each sender"
shape = "below"

[[choices]]
name = "c"
path = "network.overhed"
values = ["20B", "0B"]

[[choices]]
name = "d"
path = "network.overhead"
values = ["20B"]

[[charts]]
title = "t"
quantities = ["every sender"]

[[charts]]
title = "u"
kind = "time"
flows = { senders = "v" }
links = { up = "h0->sw9" }
quantities = ["each sender"]
"#;
    scratch.file("a.toml", format!("{SOUND}{wrong}"));
    scratch.run(&["check", "a.toml"]).ends(2).matches("trends-bad-names");
    // What only shows when a variant is made is shown where the variant says it.
    let late = "\n[[variants]]\nname = \"a\"\nset = { \"workloads[w].to\" = \"h9\" }\n[[expectations]]\nmetric = \"throughput\"\n";
    scratch.file("papers/p/fig1.toml", format!("{SOUND}{late}"));
    scratch.run(&["reproduce", "p"]).ends(2).matches("trends-bad-variant");
}
