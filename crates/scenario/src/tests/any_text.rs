//! Tests that no text makes loading, building, checking or explaining panic: sample files with random damage.

use super::super::*;
use super::samples;
use fabric::RunLimits;
use proptest::prelude::*;
use units::{Span, Time};

/// Small enough that a wild number costs no time.
const SMALL: Limits =
    Limits { nodes: 3000, cables: 10_000, routes: 400_000, flows: 5_000, memory: 1 << 30, runs: true };

/// One piece of damage.
#[derive(Clone, Debug)]
enum Damage {
    /// A run of characters goes.
    Cut(usize, usize),
    /// Something comes in.
    Insert(usize, String),
    /// A line goes.
    DropLine(usize),
    /// A line comes twice.
    RepeatLine(usize),
    /// Two lines change places.
    SwapLines(usize, usize),
    /// A number becomes another.
    Number(usize, u64),
    /// A value of one line goes to another.
    MoveValue(usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let words = prop_oneof![
        "\\PC{0,4}",
        "[\\[\\]{}=\",.0-9a-z#*\n]{1,6}",
        prop::sample::select(vec![
            "\"0s\"",
            "\"0B\"",
            "0",
            "-1",
            "1e300",
            "nan",
            "[]",
            "{}",
            "true",
            "\"*\"",
            "\"h{0..99999999}\"",
            "[[switches]]",
            "\"1h\"",
            "\"1000Tb/s\"",
            "\"1kb/s\"",
            "\"2GB\"",
            "\"65000B\"",
            "\"1ps\"",
            "9999999999",
            "base = \"x.toml\"\n",
            "[[adapters]]\n",
            "\u{0}",
            "\r",
            "\u{feff}",
            "\"shared\"",
            "\"credits\"",
            "\"pause\"",
            "\"cut-through\"",
            "\"combined\"",
            "\"spray\"",
            "[sweep]\n",
            "[[faults]]\n",
            "0.5",
        ])
        .prop_map(str::to_owned),
    ];
    let at = 0_usize..4000;
    prop_oneof![
        (at.clone(), 1_usize..12).prop_map(|(at, length)| Damage::Cut(at, length)),
        (at.clone(), words).prop_map(|(at, text)| Damage::Insert(at, text)),
        at.clone().prop_map(Damage::DropLine),
        at.clone().prop_map(Damage::RepeatLine),
        (at.clone(), at.clone()).prop_map(|(a, b)| Damage::SwapLines(a, b)),
        (at.clone(), prop_oneof![0_u64..20, any::<u64>()]).prop_map(|(at, number)| Damage::Number(at, number)),
        (at.clone(), at).prop_map(|(a, b)| Damage::MoveValue(a, b)),
    ]
}

fn apply(text: &str, damage: &Damage) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let count = lines.len().max(1);
    let boundary = |at: usize| source::floor_boundary(text, at % (text.len() + 1));
    match damage {
        Damage::Cut(at, length) => {
            let (from, to) = (boundary(*at), source::floor_boundary(text, at % (text.len() + 1) + length));
            return format!("{}{}", &text[..from], &text[to.max(from)..]);
        }
        Damage::Insert(at, inserted) => {
            let at = boundary(*at);
            return format!("{}{inserted}{}", &text[..at], &text[at..]);
        }
        Damage::Number(at, number) => {
            let digits: Vec<usize> =
                text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
            let Some(&at) = digits.get(at % digits.len().max(1)) else { return text.to_owned() };
            let end = text[at..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |length| at + length);
            return format!("{}{number}{}", &text[..at], &text[end..]);
        }
        _ if lines.is_empty() => {}
        Damage::DropLine(at) => drop(lines.remove(at % count)),
        Damage::RepeatLine(at) => lines.insert(at % count, lines[at % count]),
        Damage::SwapLines(a, b) => lines.swap(a % count, b % count),
        Damage::MoveValue(a, b) => {
            let (a, b) = (a % count, b % count);
            if let (Some((_, value)), Some((key, _))) = (lines[a].split_once('='), lines[b].split_once('=')) {
                let moved = format!("{key}={value}");
                let whole =
                    |(number, line): (usize, &&str)| if number == b { moved.clone() } else { (*line).to_owned() };
                return lines.iter().enumerate().map(whole).collect();
            }
        }
    }
    lines.concat()
}

fn survive(text: &str, overrides: &[String]) {
    match load_str("any.toml", text, overrides, &NoFiles, SMALL) {
        Ok(plan) => {
            let _ = check(&plan);
            assert!(!explain(&plan).is_empty());
            run_briefly(&plan);
        }
        Err(errors) => {
            assert!(errors.count() > 0);
            assert!(!errors.render(true).is_empty());
            assert!(errors.complaints().all(|complaint| complaint.line > 0 && !complaint.message.is_empty()));
        }
    }
}

fn run_briefly(plan: &Plan) {
    let mut simulation =
        fabric::Simulation::build(&plan.spec, &fabric::BuildOptions::default()).expect("it was built before");
    let mut limits = RunLimits::until(Time::ZERO + Span::from_micros(10));
    limits.inspect_every = Span::from_micros(1);
    limits.events = Some(20_000);
    simulation.run(&limits);
}

/// An override that is sound by itself, though not with every sample.
fn choice() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "switches.flow_control=pause", "switches.flow_control=credits", "switches={ buffers = { capacity = \"9KB\" } }",
        "switches={ queueing = \"input-fifo\", bypass = 2, buffers = { capacity = \"50KB\" } }",
        "switches={ queueing = \"input-fifo\", bypass = 3, bypass_reading = \"per-packet\", buffers = { capacity = \"50KB\" } }",
        "switches={ queueing = \"virtual-output\", arbitration = \"round-robin-waiting\", buffers = { capacity = \"50KB\" } }",
        "switches={ queueing = \"combined\", output_buffer = \"20KB\", speedup = \"3/2\", buffers = { capacity = \"50KB\" } }",
        "switches={ buffer = \"shared\", shared_size = \"100KB\", alpha = 2, buffers = {} }",
        "switches={ flow_control = \"pause\", pause = { quanta = 9, refresh_before = 8 }, buffers = { capacity = \"50KB\" } }",
        "switches={ flow_control = \"none\", buffers = { capacity = \"50KB\" } }", "classes={ lossless = false }",
        "switches={ flow_control = \"credits\", credits = { unit = \"frame\" }, buffers = { frames = 2 } }",
        "switches={ flow_control = \"credits\", credits = { give_back = \"signal\", delay = \"5ns\" }, buffers = { capacity = \"4KB\" } }",
        "switches={ flow_control = \"credits\", credits = { refresh = \"100ns\" }, queueing = \"virtual-output\", buffers = { capacity = \"4KB\" } }",
        "switches={ forwarding = \"cut-through\", header_delay = \"20ns\", pipeline = \"50ns\", buffers = { capacity = \"50KB\" } }",
        "switches={ forwarding = \"cut-through\", header_delay = \"0s\", queueing = \"virtual-output\", read_ports = 0, buffers = { capacity = \"50KB\" } }",
        "adapters={ flow_control = \"pfc\", service = \"1Gb/s\", buffers = { capacity = \"50KB\" } }",
        "adapters={ flow_control = \"credits\", buffers = { capacity = \"4KB\" } }",
        "adapters={ flow_control = \"pause\", service_changes = { at = \"2us\", rate = \"0b/s\" }, buffers = { capacity = \"50KB\" } }",
        "network.multipath=spray", "network.link.latency=0s", "network.link.latency=1ps", "network.link.rate=1kb/s",
        "network.link.rate=1Tb/s", "network.link.bit_error_rate=0.001", "network.overhead=0B", "network.smallest_frame=9000B",
        "network.cables={ between = [\"h0\", \"*\"], rate = \"1Gb/s\" }",
        "faults={ between = [\"h1\", \"*\"], down = \"1us\", up = \"2us\" }", "faults={ between = [\"*\", \"*\"], down = \"3us\" }",
        "network.reroutes={ at = \"2us\", avoid = [[\"h1\", \"*\"]] }", "protocol={ rate = \"1Mb/s\" }",
        "protocol={ window = \"3KB\" }", "workloads[0].acknowledge={}", "workloads[0].acknowledge={ every = 7, size = \"9KB\" }",
        "workloads[0].frame=1B", "workloads[0].frame=65000B", "workloads[0].size=1B", "workloads[0].start=9us",
        "workloads[0].stop=1us", "workloads={ kind = \"uniform-random\", rate = \"1Gb/s\", gaps = \"exponential\" }",
        "workloads={ kind = \"all-to-all\", on = \"1us\", off = \"1ps\", lengths = \"exponential\", discard_when_off = true }",
        "workloads={ kind = \"all-to-all\", rate = \"9Gb/s\", gaps = \"jittered\", jitter = 1, backlog = 0, overflow = \"stall\" }",
        "workloads={ kind = \"permutation\", rate = \"1Tb/s\", backlog = 1, size = \"9KB\" }",
        "workloads={ kind = \"poisson-flows\", mean_gap = \"100ns\", sizes = \"pareto\", shape = 1.01, flow_size = \"1B\" }",
        "workloads={ kind = \"on-off\", from = \"*\", to = \"h0\", on = \"1ps\", off = \"1us\", protocol = { rate = \"1kb/s\" } }",
        "run.inspect_every=1ps", "run.duration=1ps", "run.seed=0", "probes.record=[\"flows\"]", "probes.sample_every=1ps",
    ])
    .prop_map(str::to_owned)
}

/// A figure with all that a figure may have.
const FIGURE: &str = r#"schema_version = 1
[network]
topology = "single-switch"
hosts = 3
link = { rate = "10Gb/s", latency = "1us" }
[[switches]]
buffers = { capacity = "100KB" }
[[workloads]]
name = "w"
kind = "greedy"
from = ["h0", "h1"]
to = "h2"
[run]
duration = "1ms"
quick = "100us"
[sweep]
"network.link.rate" = ["10Gb/s", "20Gb/s"]
[[variants]]
name = "a"
set = { "workloads[w].frame" = "1500B", run.seed = 2 }
[[variants]]
name = "b"
set = { "switches[0].buffers" = { capacity = "200KB" } }
[[expectations]]
name = "q"
metric = "throughput"
where = { variant = "a" }
[[trends]]
quantity = "q"
along = "variant"
shape = "flat"
where = { "network.link.rate" = ["20Gb/s", "10Gb/s"] }
[[trends]]
quantity = "q"
shape = "above"
value = "1Gb/s"
[[choices]]
name = "c"
path = "network.overhead"
values = ["20B", "0B"]
[[charts]]
title = "t"
quantities = "q"
[[charts]]
title = "u"
kind = "time"
flows = { all = "w" }
links = { up = "h0->sw0" }
window = "10us"
"#;

// PROPTEST_CASES asks for more than the usual 256.
proptest! {

    #[test]
    fn damaged_samples_do_no_harm(sample in 0_usize..64, damages in prop::collection::vec(damage(), 1..8)) {
        let samples = samples();
        let mut text = std::fs::read_to_string(&samples[sample % samples.len()]).expect("a sample");
        for damage in &damages {
            text = apply(&text, damage);
        }
        survive(&text, &[]);
    }

    #[test]
    fn damaged_figures_do_no_harm(damages in prop::collection::vec(damage(), 0..6), variant in "a|b|\"a\"|x?|\\PC{0,3}") {
        let text = damages.iter().fold(FIGURE.to_owned(), |text, damage| apply(&text, damage));
        survive(&text, &[]);
        survive(&text, &[format!("variant={variant}")]);
    }

    #[test]
    fn odd_overrides_do_no_harm(
        path in prop::sample::select(vec![
            "run.duration", "network.k", "network.topology", "switches[0].buffers[0].capacity", "switches", "workloads[0]",
            "switches.flow_control", "network.link.latency", "network.link.rate", "classes", "workloads.load", "a[", "",
            "probes.record", "expectations[1].value", "network.overhead", "workloads[mix].frame", "sweep", "base",
        ]),
        value in "\\PC{0,8}|[0-9]{1,20}(ns|us|B|Gb/s)?|\\[\\]|\\{\\}",
    ) {
        let text = std::fs::read_to_string(super::folder().join("fat-tree.toml")).expect("a sample");
        survive(&text, &[format!("{path}={value}"), value]);
    }

    #[test]
    fn any_choice_of_sound_values_does_no_harm(sample in 0_usize..64, choices in prop::collection::vec(choice(), 1..7)) {
        let samples = samples();
        let text = std::fs::read_to_string(&samples[sample % samples.len()]).expect("a sample");
        survive(&text, &choices);
    }

    #[test]
    fn any_text_does_no_harm(text in "\\PC{0,80}|([a-z_]{1,9} ?= ?[\"0-9\\[{a-z]{0,9}\n|\\[\\[?[a-z.]{1,9}\\]\\]?\n){0,12}") {
        survive(&text, &[]);
    }
}

#[test]
fn absurd_sizes_are_refused_in_words() {
    let start = "schema_version = 1\n[run]\nduration = \"1s\"\n[[switches]]\nbuffers = { capacity = \"1MB\" }\n[network]\nlink = { rate = \"10Gb/s\", latency = \"1us\" }\n";
    for (network, words) in [
        ("topology = \"fat-tree\"\nk = 62\n", "routes"),
        ("topology = \"torus\"\ndims = [1000, 1000, 1000]\n", "1000000000 hosts"),
        ("topology = \"single-switch\"\nhosts = 1000\n[[workloads]]\nkind = \"all-to-all\"\n", "999,000 flows"),
        (
            "topology = \"single-switch\"\nhosts = 4\n[[workloads]]\nkind = \"poisson-flows\"\nmean_gap = \"1ns\"\nflow_size = \"1KB\"\n",
            "1,000,000,000 flows",
        ),
        ("[[network.nodes]]\nnames = \"h{0..99999999}\"\nrole = \"host\"\n", "100000000 names"),
    ] {
        let limits = Limits { flows: 100_000, routes: 1 << 24, ..Limits::default() };
        let errors = load_str("big.toml", &format!("{start}{network}"), &[], &NoFiles, limits).expect_err("too large");
        assert!(errors.to_string().contains(words), "{errors}");
    }
}

/// A network that is too large is refused before patterns are compared with all its names: nothing else is said of it.
#[test]
fn a_network_that_is_too_large_is_refused_before_anything_is_looked_for_in_it() {
    let cables = "[[network.cables]]\nbetween = [\"a*\", \"b*\"]\nlatency = \"1us\"\n";
    let links = "[[network.links]]\nbetween = [\"a*\", \"b*\"]\n";
    for network in [
        format!(
            "topology = \"single-switch\"\nhosts = 5000\nlink = {{ rate = \"1Gb/s\", latency = \"1us\" }}\n{cables}"
        ),
        format!(
            "link = {{ rate = \"1Gb/s\", latency = \"1us\" }}\n[[network.nodes]]\nnames = \"h{{0..2000}}\"\nrole = \"host\"\n\
             [[network.nodes]]\nnames = \"i{{0..2000}}\"\nrole = \"host\"\n{links}"
        ),
    ] {
        let text = format!("schema_version = 1\nrun = {{ duration = \"1us\" }}\n[network]\n{network}");
        let errors = load_str("big.toml", &text, &[], &NoFiles, SMALL).expect_err("too large");
        let text = errors.to_string();
        assert!(text.contains("nodes; the limit is 3000") && !text.contains("a*"), "{text}");
    }
}
