//! Tests of error messages: the problem, its position and the remedy, all reported at once.

use super::super::*;
use std::path::{Path, PathBuf};

/// Files in memory.
struct Files(Vec<(&'static str, &'static str)>);

impl FileReader for Files {
    fn read(&self, path: &Path) -> Result<String, String> {
        let found = self.0.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "no such file".into())
    }

    fn identity(&self, path: &Path) -> PathBuf {
        path.components().collect()
    }
}

const SOUND: &str = r#"schema_version = 1
[network]
topology = "single-switch"
hosts = 3
link = { rate = "10Gb/s", latency = "1us" }
[[switches]]
buffers = { capacity = "100KB" }
[[workloads]]
name = "w"
kind = "greedy"
from = "h0"
to = "h2"
[run]
duration = "1ms"
"#;

fn complaints(text: &str, overrides: &[&str]) -> Vec<Complaint> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    match load_str("a.toml", text, &overrides, &NoFiles, Limits::default()) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.complaints().collect(),
    }
}

/// That one change of the sound scenario is refused at that line and column, with these words.
fn refused(from: &str, to: &str, (line, column): (usize, usize), words: &str) {
    assert!(SOUND.contains(from), "{from}");
    let found = complaints(&SOUND.replacen(from, to, 1), &[]);
    let hit = |complaint: &Complaint| {
        (complaint.line, complaint.column) == (line, column)
            && format!("{} / {}", complaint.message, complaint.help).contains(words)
    };
    assert!(found.iter().any(hit), "{to}: {found:#?}");
}

#[test]
fn lossless_and_lossy_classes_do_not_share_a_group() {
    let both = "egress = [{ classes = [\"a\", \"b\"] }]\n[[classes]]\nname = \"a\"\n[[classes]]\nname = \"b\"\nlossless = false\n[[workloads]]";
    refused("[[workloads]]", both, (8, 23), "lossless a and lossy b are in the same group");
    let apart = both.replace("{ classes = [\"a\", \"b\"] }", "{ classes = \"a\" }, { classes = \"b\" }");
    let control = "flow_control = \"pfc\"\nbuffers";
    assert_eq!(complaints(&SOUND.replace("[[workloads]]", &apart).replace("buffers", control), &[]), []);
}

/// A lossy class has no credits, so that slots give it no buffer.
#[test]
fn slots_are_for_lossless_classes() {
    let with = |buffers: &str| {
        format!(
            "flow_control = \"credits\"\ncredits = {{ unit = \"frame\" }}\nbuffers = {buffers}\n\
             [[classes]]\nname = \"a\"\n[[classes]]\nname = \"b\"\nlossless = false"
        )
    };
    let wrong = |buffers: &str, words: &str| {
        let found = complaints(&SOUND.replace("buffers = { capacity = \"100KB\" }", &with(buffers)), &[]);
        let hit = |it: &Complaint| it.line == 9 && format!("{} / {}", it.message, it.help).contains(words);
        assert!(found.len() == 1 && found.iter().all(hit), "{found:?}");
    };
    let none = "class `b` has no buffer: it is lossy and has no credits, so `frames` gives it none / add `capacity`";
    wrong("{ frames = 9 }", none);
    wrong("[{ classes = \"a\", frames = 9 }, { classes = \"b\", frames = 9 }]", none);
    let lossy = "{ classes = \"b\", capacity = \"9KB\"";
    wrong(&format!("[{{ classes = \"a\", frames = 9 }}, {lossy}, frames = 9 }}]"), "lossy classes have no credits");
    for sound in [
        "{ frames = 9, capacity = \"9KB\" }",
        "[{ classes = \"a\", frames = 9 }, { classes = \"b\", capacity = \"9KB\" }]",
    ] {
        let text = SOUND.replace("buffers = { capacity = \"100KB\" }", &with(sound));
        assert_eq!(complaints(&text, &[]), []);
    }
    // At an input a frame needs room for all of it.
    let queued = with("{ frames = 9, capacity = \"900B\" }").replacen('\n', "\nqueueing = \"virtual-output\"\n", 1);
    let found = complaints(
        &SOUND
            .replace("buffers = { capacity = \"100KB\" }", &queued)
            .replace("kind = \"greedy\"", "kind = \"greedy\"\nclass = \"b\""),
        &[],
    );
    assert!(found.iter().any(|it| it.message.contains("a buffer of 900B cannot hold a frame of 1500B")), "{found:?}");
}

/// A receipt that is dropped would leave its copy in a buffer for ever.
#[test]
fn receipts_are_lossless() {
    let classes = "[[classes]]\nname = \"a\"\n[[classes]]\nname = \"b\"\nlossless = false";
    let with = |keys: &str| {
        let switch =
            format!("flow_control = \"pfc\"\nreliable_delivery = true\n{keys}buffers = {{ capacity = \"100KB\" }}");
        SOUND.replace("buffers = { capacity = \"100KB\" }", &format!("{switch}\n{classes}"))
    };
    let found = complaints(&with("notice_class = \"b\"\n"), &[]);
    assert!(found.iter().any(|it| it.message.contains("receipts use class b, which is lossy")), "{found:?}");
    let found = complaints(&with("").replace("kind = \"greedy\"", "kind = \"greedy\"\nclass = \"b\""), &[]);
    assert!(found.iter().any(|it| it.message.contains("keeps a copy of every frame")), "{found:?}");
    // By default they use the last lossless class.
    let plan = load_str("a.toml", &with(""), &[], &NoFiles, Limits::default()).expect("it is sound");
    assert_eq!(plan.spec.switches[0].congestion_point.as_ref().map(|point| point.notice_class), Some(0));
}

#[test]
fn shares_in_percent_make_a_hundred() {
    let with = |groups: &str| {
        format!("egress = [{groups}]\n[[classes]]\nname = \"a\"\n[[classes]]\nname = \"b\"\n[[workloads]]")
    };
    let share = |a: &str, b: &str| with(&format!("{{ classes = \"a\", {a} }}, {{ classes = \"b\", {b} }}"));
    let wrong = |a: &str, b: &str, at: usize, words: &str| refused("[[workloads]]", &share(a, b), (8, at), words);
    wrong("share = \"40%\"", "share = \"50%\"", 10, "the shares add up to 90 % / the shares must add up to 100 %");
    wrong("share = \"40%\"", "quantum = \"3KB\"", 72, "this group has a quantum, but others have a share in percent");
    wrong("share = \"40%\", quantum = \"3KB\"", "share = \"60%\"", 43, "`quantum` has no effect with share = \"40%\"");
    wrong("share = \"0%\"", "share = \"100%\"", 36, "give a whole percentage from 1% to 100%");
    wrong("share = \"strct\"", "share = \"100%\"", 36, "did you mean \"strict\"?");
    let fine = share("share = \"strict\"", "share = \"100%\"");
    assert_eq!(complaints(&SOUND.replace("[[workloads]]", &fine), &[]), []);
}

#[test]
fn of_a_device_that_matches_nothing_only_that_is_told() {
    for (section, more) in [("switches", ""), ("adapters", "service = \"1Gb/s\"\nflow_control = \"pfc\"\n")] {
        let entry = format!("[[{section}]]\nmatch = \"x9\"\n{more}buffers = {{ capacity = \"90KB\" }}\n[[workloads]]");
        let found = complaints(&SOUND.replace("[[workloads]]", &entry), &[]);
        let told: Vec<&str> = found.iter().map(|complaint| complaint.message.as_str()).collect();
        let what = if section == "switches" { "switch" } else { "host" };
        assert_eq!(told, [format!("there is no {what} `x9`")]);
    }
}

#[test]
fn the_sound_scenario_is_sound() {
    assert_eq!(complaints(SOUND, &[]), []);
}

#[test]
fn one_mistake_each() {
    refused("hosts = 3", "hsots = 3", (4, 1), "did you mean `hosts`?");
    refused("[run]\n", "[run]\ncheckpoint = \"1us\"\n", (14, 1), "it was renamed to `inspect_every`");
    refused("[run]\n", "requeue = \"1us\"\n[run]\n", (13, 1), "it was renamed to `requeue_oracle`");
    refused("hosts = 3", "hosts = 0", (4, 9), "give at least 1");
    refused("hosts = 3", "hosts = \"three\"", (4, 9), "expected a whole number, found text");
    refused("hosts = 3", "hosts = 3\nk = 4", (5, 1), "has no effect with topology = \"single-switch\"");
    refused("single-switch", "single_switch", (3, 12), "did you mean \"single-switch\"?");
    refused("10Gb/s", "10ms", (5, 17), "is a time");
    refused("10Gb/s", "10Gb/ss", (5, 17), "is not a unit");
    refused("10Gb/s", "0b/s", (5, 17), "out of range");
    refused("\"1us\"", "1", (5, 37), "unit is missing");
    refused("capacity = \"100KB\"", "capacity = \"1KB\"", (7, 24), "can arrive after XOFF");
    refused("capacity = \"100KB\"", "xoff = \"1KB\"", (7, 11), "has no `capacity`");
    refused("\"100KB\"", "\"100KB\", xoff = \"50KB\", xon = \"60KB\"", (7, 54), "lower xon to 50KB or raise xoff");
    // 11000 B of headroom: 2 x 1520 B, a pause frame, 2 us at 10 Gb/s, and 1499 B.
    refused("\"100KB\"", "\"100KB\", xon = \"99KB\"", (7, 39), "xoff, which is not given and comes to ");
    refused("\"100KB\"", "\"100KB\", xon = \"99KB\"", (7, 39), " or raise capacity to 1");
    refused("\"100KB\"", "\"100KB\", xoff = \"100KB\"", (7, 40), "leaves no headroom");
    refused("[[switches]]", "[[switches]]\nmatch = \"leaf*\"", (7, 9), "matches no switch");
    refused("[[switches]]", "[[switches]]\nqueueing = \"output\"\nspeedup = 2", (8, 1), "has no effect with queueing");
    refused(
        "[[switches]]",
        "[[switches]]\nbuffer = \"shared\"\nshared_size = \"1MB\"\nqueueing = \"combined\"\noutput_buffer = \"9KB\"",
        (7, 10),
        "only with output queueing",
    );
    refused("to = \"h2\"", "to = \"h3\"", (12, 6), "there are h0, h1, h2");
    refused("from = \"h0\"", "from = \"h{0..190}\"", (11, 8), "`h{0..190}` includes host `h3`, which does not exist");
    refused(
        "from = \"h0\"",
        "from = \"h{0..190}\"",
        (11, 8),
        "188 of its 191 names do not exist; there are h0, h1, h2",
    );
    refused("to = \"h2\"", "to = \"h0\"", (12, 6), "the destination is the source");
    refused("to = \"h2\"", "to = \"h2\"\nstart = \"2us\"\nstop = \"1us\"", (14, 8), "stops before it starts");
    refused("to = \"h2\"", "to = \"h2\"\nclass = \"dta\"", (13, 9), "did you mean `data`?");
    refused("kind = \"greedy\"", "kind = \"grredy\"", (10, 8), "did you mean \"greedy\"?");
    refused("kind = \"greedy\"", "kind = \"paced\"", (8, 1), "has no `rate`");
    refused("duration = \"1ms\"", "duration = \"0s\"", (14, 12), "the duration is zero");
    refused("duration = \"1ms\"", "duration = \"1ms\"\nwarm_up = \"1ms\"", (15, 11), "covers the whole run");
    refused("schema_version = 1", "schema_version = 2", (1, 18), "out of range");
    refused("[run]", "[[faults]]\nbetween = [\"h0\", \"h1\"]\ndown = \"1us\"\n[run]", (14, 11), "no link connects");
    refused(
        "[run]",
        "[[network.nodes]]\nnames = \"x\"\nrole = \"host\"\n[run]",
        (13, 1),
        "both `topology` and `nodes` are given",
    );
    refused("[run]", "[sweep]\n\"run.sed\" = [1]\n[run]", (14, 1), "did you mean `seed`?");
    refused(
        "[run]",
        "[[expectations]]\nmetric = \"throughput\"\nof = \"ww\"\nvalue = \"1Gb/s\"\n[run]",
        (15, 6),
        "did you mean `w`?",
    );
    refused("[run]", "[[expectations]]\nmetric = \"throughput\"\nvalue = 5\n[run]", (15, 9), "unit is missing");
    refused("[run]", "[protocol]\nwindow = \"9KB\"\n[run]", (14, 10), "needs acknowledgements");
    refused("[run]", "[[adapters]]\nflow_control = \"pfc\"\n[run]", (14, 16), "never acts");
    refused("[run]", "[[classes]]\nname = \"a\"\n[[classes]]\nname = \"a\"\n[run]", (16, 8), "two classes");
}

/// That an expectation is refused at that line of it (the first is that of its metric) and column, with these words.
fn unmeasured(expectation: &str, (line, column): (usize, usize), words: &str) {
    refused("[run]", &format!("[[expectations]]\n{expectation}\n[run]"), (line + 13, column), words);
}

#[test]
fn mistakes_of_expectations() {
    let between = |window: &str| format!("metric = \"fairness\"\nbetween = {window}");
    unmeasured(&between("[\"0.5ms\", \"1.5ms\"]"), (2, 21), "lengthen run.duration");
    unmeasured(&between("[\"0.5ms\", \"0.2ms\"]"), (2, 21), "write the earlier time first");
    unmeasured(&between("[\"0.5ms\", \"500us\"]"), (2, 21), "write the earlier time first");
    unmeasured(&between("[\"0.5ms\"]"), (2, 11), "a beginning and an end, but this list has 1");
    unmeasured(&between("[\"0.5ms\", 1]"), (2, 21), "unit is missing");
    unmeasured(&between("\"1ms\""), (2, 11), "write a list of two times");
    for metric in ["outcome", "completion-time"] {
        let text = format!("metric = \"{metric}\"\nbetween = [\"0s\", \"1us\"]");
        unmeasured(&text, (2, 1), &format!("`between` has no effect with metric = \"{metric}\""));
    }
    let link = |of: &str| format!("metric = \"utilisation\"\nof = \"{of}\"");
    unmeasured("metric = \"utilisation\"", (0, 1), "has no `of`");
    unmeasured(&link("sw0"), (2, 6), "write sender and receiver, such as \"sw0->h1\"");
    unmeasured(&link("sw0->h9"), (2, 6), "there is no node `h9`");
    unmeasured(&link("h0->h1"), (2, 6), "name two neighbours");
    unmeasured("metric = \"queue\"\nof = \"x->y\"", (2, 6), "there is no node `x`");
    unmeasured("metric = \"queue\"\nstatistic = \"sum\"", (2, 13), "choose one of");
    unmeasured("metric = \"throughput\"\nover = \"ww\"", (2, 8), "did you mean `w`?");
    unmeasured("metric = \"throughput\"\nover = \"w\"\nvalue = \"1Gb/s\"", (3, 9), "write a number");
    unmeasured("metric = \"fairness\"\nover = \"w\"", (2, 1), "has no effect with metric = \"fairness\"");
    unmeasured("metric = \"fairness\"\nop = \"<\"", (2, 6), "add `value = ...`");
    unmeasured("metric = \"fairness\"\ntolerance = 0.1", (2, 13), "add `value = ...`");
    unmeasured("metric = \"paused\"\nof = \"h0->sw0\"\nquiet = \"1ms\"", (3, 1), "choose metric = \"pause-phase\"");
    unmeasured("metric = \"pause-phase\"\nof = \"h0->sw0\"\nquiet = \"0s\"", (3, 9), "above zero");
    unmeasured("metric = \"settling-time\"\nwithin = 2", (2, 10), "out of range");
    unmeasured("metric = \"fairness\"\nvalue = { a = 1 }", (2, 9), "write a number");
    // Where the run itself is wrong, nothing is said of its parts.
    let text = SOUND.replace("\"1ms\"", "\"0s\"") + "[[expectations]]\n" + &between("[\"2ms\", \"3ms\"]");
    assert_eq!(complaints(&text, &[]).len(), 1);
}

#[test]
fn mistakes_in_arbitration_tables() {
    let lanes = |tables: &str, column, words: &str| {
        refused("[[switches]]", &format!("[[switches]]\nvl_arbitration = {tables}"), (7, column), words);
    };
    lanes("{ high_limit = 3 }", 18, "class `data` is in neither table");
    lanes("{ low = [] }", 18, "for example { class = \"data\", weight = 4 } in `low`");
    lanes("{ low = { class = \"data\", weight = 0 } }", 18, "weight 0 in every entry");
    lanes("{ low = { class = \"dta\", weight = 4 } }", 36, "did you mean `data`?");
    lanes("{ low = { class = \"data\", weight = 256 } }", 53, "out of range");
    lanes("{ low = { class = \"data\" } }", 26, "has no `weight`");
    lanes("{ low = { class = \"data\", weight = 4 }, high_limit = 256 }", 71, "out of range");
    lanes("{ low = 4 }", 26, "list of tables");
    lanes("{ lo = [] }", 20, "did you mean `low`?");
    lanes("4", 18, "a table");
    let entries = vec!["{ class = \"data\", weight = 4 }"; 65].join(", ");
    lanes(&format!("{{ low = [{entries}] }}"), 27 + 64 * 32, "has 65 entries; the limit is 64");
    let both = "{ low = { class = \"data\", weight = 4 } }\negress = { classes = \"data\" }";
    lanes(both, 18, "remove one of them");
    let adapter = "[[adapters]]\nvl_arbitration = { high = { class = \"dat\", weight = 4 } }\n[run]";
    refused("[run]", adapter, (14, 37), "did you mean `data`?");
}

#[test]
fn what_the_fabric_refuses_points_at_its_section() {
    let text = SOUND
        .replace("[run]", "[[classes]]\nlossless = false\n[run]")
        .replace("[[switches]]", "[[switches]]\nflow_control = \"pause\"");
    let found = complaints(&text, &[]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].line, 6);
    assert!(found[0].message.contains("PAUSE stops every class"), "{found:#?}");
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = SOUND
        .replace("hosts = 3", "hosts = 3\nlinc = 1")
        .replace("h2", "h9")
        .replace("1ms", "1m")
        .replace("\"100KB\"", "100");
    let lines: Vec<usize> = complaints(&text, &[]).iter().map(|complaint| complaint.line).collect();
    assert_eq!(lines, [5, 8, 13, 15]);
}

#[test]
fn every_syntax_error_is_told_and_nothing_else() {
    let found =
        complaints(&SOUND.replace("\"h0\"", "h0").replace("[run]", "[run").replace("hosts = 3", "hosts = = 3"), &[]);
    assert!(found.len() >= 3, "{found:#?}");
    assert!(found.iter().all(|complaint| complaint.message.starts_with("not TOML")), "{found:#?}");
}

#[test]
fn overrides_change_values_and_their_mistakes_point_at_them() {
    let load = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        load_str("a.toml", SOUND, &overrides, &NoFiles, Limits::default())
    };
    let plan =
        load(&["run.duration=5ms", "workloads[w].frame=\"9000B\"", "switches.pipeline = 300ns", "run.seed=7"]).unwrap();
    assert_eq!(plan.run.duration, units::Span::from_millis(5));
    assert_eq!(plan.spec.flows[0].frame.get(), 9000);
    assert_eq!(plan.spec.switches[0].pipeline, units::Span::from_nanos(300));
    let source = |path: &str| plan.entries.iter().find(|entry| entry.path == path).unwrap().source.clone();
    assert_eq!(source("run.seed"), Source::Override("run.seed=7".into()));
    assert_eq!(source("network.hosts"), Source::File { file: "a.toml".into(), line: 4 });

    let wrong = |text: &str| load(&[text]).unwrap_err().complaints().next().unwrap();
    assert_eq!((wrong("run.duration=5GB").file, wrong("run.duration=5GB").column), ("--set".into(), 14));
    assert_eq!(wrong("run.durashun=5ms").help, "did you mean `duration`?");
    assert!(wrong("switches[3].pipeline=1us").help.contains("it has 1"));
    assert!(wrong("workloads[x].frame=1KB").message.contains("no entry named `x`"));
    assert!(wrong("nonsense").help.contains("PATH=VALUE"));
}

#[test]
fn a_base_is_changed_by_its_child_and_errors_point_into_the_right_file() {
    let load = |name: &str, text: &'static str, files: Vec<(&'static str, &'static str)>| {
        load_str(name, text, &[], &Files(files), Limits::default())
    };
    let child = "schema_version = 1\nbase = \"../base.toml\"\n[network]\nhosts = 5\n[run]\nseed = 3\n";
    let plan = load("set/child.toml", child, vec![("set/../base.toml", SOUND)]).unwrap();
    assert_eq!(plan.spec.graph.hosts().len(), 5);
    assert_eq!((plan.run.seed, plan.run.duration), (3, units::Span::from_millis(1)));
    assert_eq!(plan.inputs().count(), 2);
    let from = plan.entries.iter().find(|entry| entry.path == "run.duration").unwrap();
    assert_eq!(from.source, Source::File { file: "set/../base.toml".into(), line: 14 });

    let wrong = load("c.toml", "base = \"b.toml\"\n[network]\nhosts = 1\n", vec![("b.toml", SOUND)]).unwrap_err();
    let at = wrong.complaints().next().unwrap();
    assert_eq!((at.file.as_str(), at.line), ("b.toml", 12));

    let circle = vec![("a.toml", "base = \"b.toml\"\n"), ("b.toml", "base = \"a.toml\"\n")];
    let errors = load("a.toml", "base = \"b.toml\"\n", circle).unwrap_err().to_string();
    assert!(errors.contains("cannot be based on itself"), "{errors}");
    let errors = load("a.toml", "base = \"b.toml\"\n", vec![]).unwrap_err().to_string();
    assert!(errors.contains("cannot read b.toml: no such file"), "{errors}");
}

#[test]
fn distributions_are_read_beside_the_scenario() {
    let text: &'static str = String::leak(SOUND.replace(
        "kind = \"greedy\"\nfrom = \"h0\"\nto = \"h2\"",
        "kind = \"poisson-flows\"\nload = 0.5\nsizes = \"empirical\"\ncdf = \"web.cdf\"",
    ));
    let load =
        |cdf: &'static str| load_str("in/a.toml", text, &[], &Files(vec![("in/web.cdf", cdf)]), Limits::default());
    let plan = load("# bytes, probability\n1000 0.5\n10000 1 # the rest\n").unwrap();
    assert!(plan.spec.flows.len() > 20, "{}", plan.spec.flows.len());
    assert_eq!(plan.inputs().count(), 2);
    let wrong = |cdf| load(cdf).unwrap_err().complaints().next().unwrap();
    let at = wrong("1000 0.5\nmany 1\n");
    assert_eq!((at.file.as_str(), at.line), ("in/web.cdf", 2));
    assert!(wrong("1000 50\n2000 100\n").help.contains("divide percentages by 100"));
    assert_eq!(wrong("1000 0.5\n500 1\n").line, 2);
}

#[test]
fn flows_are_read_from_a_file_beside_the_scenario() {
    let with = |keys: &str| -> &'static str {
        let flows = format!("kind = \"flows\"\nstart = \"5us\"\n{keys}");
        String::leak(SOUND.replace("kind = \"greedy\"\nfrom = \"h0\"\nto = \"h2\"", &flows))
    };
    let text = with("file = \"list.csv\"");
    let load = |text, csv: &'static str| {
        load_str("in/a.toml", text, &[], &Files(vec![("in/list.csv", csv)]), Limits::default())
    };
    let plan =
        load(text, "# a list\nsource,destination,bytes,start,name\nh0,h1,1000,2us,first\n\"h2\", h0 ,7,,\n").unwrap();
    let flows: Vec<_> =
        plan.spec.flows.iter().map(|flow| (flow.size.unwrap().get(), flow.start.as_picos() / 1_000_000)).collect();
    assert_eq!(flows, [(1000, 2), (7, 5)]);
    assert_eq!(plan.flow_names.get(0).as_deref(), Some("first"));
    assert_eq!(plan.inputs().count(), 2);
    assert!(load(text, "\u{feff}source,destination,bytes\nh0,h1,1000\n").is_ok());
    let wrong = |csv| load(text, csv).unwrap_err().complaints().next().unwrap();
    let cases = [
        ("", 1, "no rows"),
        ("source,destination\n", 1, "no column `bytes`"),
        ("source,destination,bytes,weight\n", 1, "column 4"),
        ("source,source,destination,bytes\n", 1, "two columns"),
        ("source,destination,bytes\n", 1, "no flows"),
        ("source,destination,bytes\nh0,h1,5\nh0,h9,5\n", 3, "names no host"),
        ("source,destination,bytes\nh0,h0,5\n", 2, "is the source"),
        ("source,destination,bytes\nh0,h1,5KB\n", 2, "not a number of bytes"),
        ("source,destination,bytes\nh0,h1\n", 2, "2 cells"),
        ("source,destination,bytes,start\nh0,h1,5,2\n", 2, "not a time"),
        ("source,destination,bytes,class\nh0,h1,5,gold\n", 2, "names no class"),
        ("source,destination,bytes,name\nh0,h1,5,\u{1b}[31mx\n", 2, "control characters"),
    ];
    for (csv, line, part) in cases {
        let at = wrong(csv);
        assert_eq!((at.file.as_str(), at.line), ("in/list.csv", line), "{csv}");
        assert!(at.message.contains(part) && !at.help.is_empty(), "{at:?}");
    }
    let one = |keys: &str| load(with(keys), "").unwrap_err().to_string();
    assert!(one("").contains("without flows"));
    let both = "file = \"list.csv\"\nflows = [{ from = \"h0\", to = \"h1\" }]";
    assert!(one(both).contains("both `flows` and `file`"));
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let errors = load(Path::new("/nowhere/x.toml"), &[]).unwrap_err().to_string();
    assert!(errors.contains("cannot read /nowhere/x.toml"), "{errors}");
}
