//! The lab asked as a page asks it.

use super::*;
use std::sync::atomic::AtomicBool;
use study::{Existing, Options, Recording, execute};

const NAMES: [&str; 8] = [
    "victim",
    "incast",
    "ring-deadlock",
    "failing-cable",
    "mixed-recovery",
    "slow-receiver",
    "roce-incast",
    "infiniband-credits",
];

fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect("a scenario")
}

fn given(name: &str, set: &[&str]) -> Given {
    Given { name: format!("{name}.toml"), text: text(name), set: set.iter().map(|&one| one.to_owned()).collect() }
}

/// Runs a scenario in so many steps.
fn run(lab: &mut Lab, given: &Given, steps: u64) -> Answer {
    let started = lab.ask(Request::Start(given.clone())).document;
    let duration = started["duration_ps"].as_u64().unwrap_or_else(|| panic!("{started}"));
    for step in 1..=steps {
        let seen = lab.ask(Request::Advance { until: duration.div_ceil(steps) * step }).document;
        assert!(seen["now_ps"].as_u64().is_some_and(|now| now <= duration), "{seen}");
        if seen["ended"] == true {
            return lab.ask(Request::Finish { wall: 0.5 });
        }
    }
    panic!("the last step is the end of the run");
}

#[test]
fn runs_in_steps_are_those_of_the_command() {
    for name in NAMES {
        let given = given(name, &["run.seed=3"]);
        let plan = load_str(&given.name, &given.text, &given.set, &Within(&BTreeMap::new()), Limits::default());
        let plan = plan.unwrap_or_else(|errors| panic!("{name}: {errors}"));
        let never = AtomicBool::new(false);
        let out = std::env::temp_dir().join(format!("tailback-lab-{}-{name}", std::process::id()));
        let record = Some(&Recording { out: out.clone(), existing: Existing::Replace });
        let options = Options { threads: 2, interrupt: &never, time_up: None, record, capture: None };
        let whole = execute(&plan, &options, |_| {}).expect("it runs");
        let tables = results::Results::open(&out).expect("results").manifest.tables;
        std::fs::remove_dir_all(&out).expect("they are there");
        // Inspections are at multiples of a span: steps that end at them are among these.
        for steps in [1, 7, 100] {
            let answer = run(&mut Lab::default(), &given, steps).document;
            let manifest = &answer["manifest"];
            assert_eq!(manifest["fingerprint"], results::hex(whole.report.fingerprint), "{name} in {steps} steps");
            assert_eq!(manifest["simulated_ps"], whole.report.now.as_picos(), "{name} in {steps} steps");
            assert_eq!(manifest["outcome"]["kind"], whole.measures.outcome, "{name} in {steps} steps");
            let goodput: Vec<Value> = whole.measures.flows.iter().map(|flow| json!(flow.goodput)).collect();
            assert_eq!(answer["flows"]["goodput"], json!(goodput), "{name} in {steps} steps");
            let verdicts: Vec<_> = whole.judgements.iter().map(|it| json!(study::judgement_record(it))).collect();
            // As many rows as the command records.
            for (table, about) in answer["tables"].as_object().expect("tables") {
                let rows = tables.iter().find(|it| it.name == *table).map_or(0, |it| it.rows);
                assert_eq!(about["recorded"], rows, "{table} of {name} in {steps} steps");
            }
            assert_eq!(answer["expectations"], if verdicts.is_empty() { Value::Null } else { json!(verdicts) });
        }
    }
}

#[test]
fn steps_change_no_table() {
    let mut lab = Lab::default();
    let [one, many] = [1, 60].map(|steps| run(&mut lab, &given("victim", &[]), steps));
    assert_eq!(one.document["tables"], many.document["tables"]);
    assert_eq!(one.bytes, many.bytes);
    let rows = |name: &str| one.document["tables"][name]["rows"].as_u64().unwrap_or(0);
    assert!(rows("queues") > 100 && rows("flow_samples") > 100 && rows("pauses") > 10 && rows("links") > 100);
    assert_eq!(one.document["manifest"]["wall_seconds"], 0.5);
}

#[test]
fn a_stopped_run_shows_what_it_has() {
    let mut lab = Lab::default();
    let started = lab.ask(Request::Start(given("victim", &[]))).document;
    let half = started["duration_ps"].as_u64().expect("a duration") / 2;
    let seen = lab.ask(Request::Advance { until: half }).document;
    assert_eq!(seen["ended"], false);
    let stopped = lab.ask(Request::Finish { wall: 0.1 }).document;
    assert_eq!(stopped["manifest"]["outcome"]["kind"], "interrupted");
    assert!(stopped["manifest"]["simulated_ps"].as_u64().is_some_and(|now| now >= half && now <= half + 1));
    assert!(lab.ask(Request::Finish { wall: 0.1 }).document["refused"].is_string());
}

#[test]
fn mistakes_have_their_place() {
    let mut lab = Lab::default();
    let wrong = Given { text: text("victim").replace("capacity =", "capcity ="), ..given("victim", &[]) };
    let told = lab.ask(Request::Check(wrong.clone())).document;
    let all = told["complaints"].as_array().expect("a list");
    let unknown = |it: &&Value| it["message"].as_str().is_some_and(|message| message.contains("capcity"));
    let first = all.iter().find(unknown).unwrap_or_else(|| panic!("{told}"));
    let line = wrong.text.lines().position(|line| line.contains("capcity")).expect("it is there") + 1;
    assert_eq!(first["line"], line);
    assert_eq!(first["width"], "capcity".len());
    assert!(first["help"].as_str().is_some_and(|help| help.contains("capacity")), "{first}");
    let set = lab.ask(Request::Check(given("victim", &["run.seed=3", "switches[0].buffers[0].xoff=200KB"]))).document;
    assert_eq!(set["complaints"][0]["file"], "--set switches[0].buffers[0].xoff=200KB", "{set}");
    assert!(lab.ask(Request::Start(wrong)).document["complaints"][0].is_object());
    assert!(lab.answer(b"{").document["refused"].is_string());
    assert!(lab.answer(br#"{"ask":"nothing"}"#).document["refused"].is_string());
}

#[test]
fn what_needs_more_memory_than_a_page_has_is_refused() {
    let huge = given("victim", &["workloads[0].kind=uniform-random", "network.left=200000"]);
    let told = Lab::default().ask(Request::Check(huge)).document;
    assert!(told["complaints"][0].is_object(), "{told}");
}

#[test]
fn fields_know_their_key() {
    let told = Lab::default().ask(Request::Check(given("victim", &["run.seed=9"]))).document;
    let fields = told["fields"].as_array().expect("fields");
    let find = |path: &str| fields.iter().find(|field| field["path"] == path).unwrap_or_else(|| panic!("{path}"));
    let xoff = find("switches[0].buffers[0].xoff");
    assert_eq!((&xoff["kind"], &xoff["from"]), (&json!("size"), &json!("file")));
    assert!(xoff["line"].is_u64() && xoff["meaning"].as_str().is_some_and(|meaning| meaning.ends_with('.')));
    assert_eq!(find("run.seed")["from"], "set");
    assert_eq!(find("network.topology")["kind"], "choice");
    // Every value but those of lists in lists can be set by its path.
    for field in fields {
        assert!(field["kind"].is_string(), "{field}");
    }
}

#[test]
fn all_keys_are_there_for_completion() {
    let keys = Lab::default().ask(Request::Keys).document;
    let find = |of: &Value, name: &str| -> Value {
        of["keys"].as_array().expect("keys").iter().find(|key| key["name"] == name).expect("a key").clone()
    };
    let switches = find(&keys, "switches");
    assert_eq!(switches["list"], true);
    let control = find(&switches["section"], "flow_control");
    assert!(control["choices"].as_array().is_some_and(|all| all.iter().any(|one| one[0] == "pfc")));
}

#[test]
fn other_files_are_those_that_came_along() {
    let mut lab = Lab::default();
    let files = BTreeMap::from([("scenarios/victim.toml".to_owned(), text("victim"))]);
    lab.ask(Request::Files { files });
    let child = |base: &str| Given {
        name: "scenarios/mine.toml".into(),
        text: format!("schema_version = 1\nbase = \"{base}\"\n"),
        set: Vec::new(),
    };
    assert_eq!(lab.ask(Request::Check(child("../scenarios/victim.toml"))).document["complaints"], json!([]));
    let told = lab.ask(Request::Check(child("other.toml"))).document;
    assert!(told["complaints"][0]["message"].as_str().is_some_and(|it| it.contains("no other files")), "{told}");
}
