//! Tests of changes: removal of a key, and refusal of changes without effect.

use super::super::*;

const WATCHED: &str = r#"schema_version = 1
[network]
topology = "single-switch"
hosts = 3
link = { rate = "10Gb/s", latency = "1us" }
[[classes]]
name = "a"
[[classes]]
name = "b"
[[switches]]
buffers = { capacity = "100KB" }
egress = [{ classes = "a", share = "40%" }, { classes = "b", share = "60%" }]
[congestion_point]
name = "qcn"
[[workloads]]
name = "w"
kind = "greedy"
from = "h0"
to = "h2"
[run]
duration = "1ms"
quick = "500us"
[[variants]]
name = "watched"
set = {}
[[variants]]
name = "not watched"
set = { congestion_point = "none", "run.quick" = "none" }
"#;

fn load_with(text: &str, overrides: &[&str]) -> Result<Plan, Vec<String>> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    load_str("a.toml", text, &overrides, &NoFiles, Limits::default()).map_err(told)
}

fn told(errors: Errors) -> Vec<String> {
    errors.complaints().map(|it| format!("{}:{}: {} / {}", it.file, it.line, it.message, it.help)).collect()
}

fn plan(text: &str, overrides: &[&str]) -> Plan {
    load_with(text, overrides).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// Whether the switch has a congestion point, whether there is a short form, and how many groups share a link.
fn has(plan: &Plan) -> (bool, bool, usize) {
    let switch = &plan.spec.switches[0];
    let groups = match &switch.egress {
        fabric::spec::Egress::Groups(groups) => groups.len(),
        _ => 0,
    };
    (switch.congestion_point.as_ref().is_some_and(|watch| watch.point.is_some()), plan.run.quick.is_some(), groups)
}

#[test]
fn a_table_and_a_key_can_be_removed_wherever_values_are_set() {
    assert_eq!(has(&plan(WATCHED, &["variant=watched"])), (true, true, 2));
    let removed = plan(WATCHED, &["variant=not watched"]);
    assert_eq!(has(&removed), (false, false, 2));
    let entry = |path: &str| removed.entries.iter().find(|entry| entry.path == path).map(|entry| entry.value.clone());
    assert_eq!((entry("congestion_point"), entry("run.quick")), (Some("none".into()), Some("none".into())));
    assert_eq!(has(&plan(WATCHED, &["congestion_point=none", "switches[0].egress=none"])), (false, true, 0));
    // A switch can be without what all others have.
    assert_eq!(has(&plan(WATCHED, &["switches[0].congestion_point=none"])), (false, true, 2));
    // A key inside a table brings the table back.
    assert_eq!(has(&plan(WATCHED, &["variant=not watched", "congestion_point.name=qcn"])), (true, false, 2));
    // A choice may be one of them, and so may a value of a sweep.
    let open = "[[choices]]\nname = \"marks\"\npath = \"congestion_point\"\nvalues = [\"none\", { name = \"qcn\" }]\n";
    assert_eq!(plan(&format!("{WATCHED}{open}"), &[]).figure.choices[0].options[0].set, ["congestion_point=\"none\""]);
    let swept = plan(&format!("{WATCHED}[sweep]\n\"run.quick\" = [\"none\", \"600us\"]\n"), &[]);
    assert_eq!(swept.axes()[1].1, ["\"none\"", "\"600us\""]);
}

#[test]
fn the_flows_of_a_permutation_start_apart() {
    let text = WATCHED.replace("kind = \"greedy\"\nfrom = \"h0\"\nto = \"h2\"", "kind = \"permutation\"");
    let starts = |overrides: &[&str]| -> Vec<u64> {
        let plan = plan(&text, overrides);
        plan.spec.flows.iter().map(|flow| flow.start.saturating_since(units::Time::ZERO).as_picos()).collect()
    };
    assert_eq!(starts(&[]), [0, 0, 0]);
    assert_eq!(starts(&["workloads[w].stagger=1us"]), [0, 1_000_000, 2_000_000]);
    let drawn = starts(&["workloads[w].start_jitter=1216ns"]);
    assert!(drawn.iter().all(|start| (1..=1_216_000).contains(start)) && drawn[0] != drawn[1], "{drawn:?}");
}

/// A file over a base.
fn load_over(base: &str, changes: &str) -> Result<Plan, Vec<String>> {
    struct Base<'a>(&'a str);
    impl FileReader for Base<'_> {
        fn read(&self, _: &std::path::Path) -> Result<String, String> {
            Ok(self.0.to_owned())
        }
        fn identity(&self, path: &std::path::Path) -> std::path::PathBuf {
            path.to_path_buf()
        }
    }
    let child = format!("schema_version = 1\nbase = \"b.toml\"\n{changes}");
    load_str("a.toml", &child, &[], &Base(base), Limits::default()).map_err(told)
}

#[test]
fn a_file_removes_what_its_base_has() {
    let plan = load_over(WATCHED, "congestion_point = \"none\"\n");
    assert_eq!(has(&plan.unwrap_or_else(|errors| panic!("{errors:#?}"))), (false, true, 2));
}

#[test]
fn an_empty_section_over_a_base_is_refused() {
    let refused = |changes: &str| load_over(WATCHED, changes).err().unwrap_or_default();
    let words = "`congestion_point = {}` changes nothing / write congestion_point = \"none\" to remove the table, or the keys to change";
    assert_eq!(refused("[congestion_point]\n"), [format!("a.toml:3: {words}")]);
    assert_eq!(refused("congestion_point = {}\n"), [format!("a.toml:3: {words}")]);
    // Tables inside of sections are laid over those of the base, too.
    let nested = refused("[run]\n[network]\nlink = {}\n");
    let both = ["a.toml:3: `run = {}`", "a.toml:5: `network.link = {}`"];
    assert_eq!(nested, both.map(|table| format!("{table} changes nothing / write the keys to change")));
    // Where the base has none, a table of defaults is a change.
    assert!(load_over(WATCHED, "[sweep]\n").is_ok());
}

#[test]
fn a_change_that_changes_nothing_is_refused() {
    let empty = WATCHED.replace("congestion_point = \"none\"", "congestion_point = {}");
    let words = "`congestion_point = {}` changes nothing / write congestion_point = \"none\" to remove the table, or the keys to change";
    let told = load_with(&empty, &[]).err().unwrap_or_default();
    assert_eq!(told, [format!("a.toml:28: {words}")]);
    // The same and no more if the variant is chosen.
    assert_eq!(load_with(&empty, &["variant=not watched"]).err().unwrap_or_default(), told);
    let told = load_with(&WATCHED.replace("set = {}", "set = { run = {} }"), &[]).err().unwrap_or_default();
    assert_eq!(told, ["a.toml:25: `run = {}` changes nothing / write the keys to change"]);
    // A table of defaults is a change where there was none.
    assert!(
        load_with(WATCHED, &["workloads[0].acknowledge={}"]).is_ok_and(|it| it.spec.flows[0].acknowledge.is_some())
    );
    // What must be given cannot be removed, and what takes a text takes this one.
    assert!(load_with(WATCHED, &["run.duration=none"]).is_err());
    assert!(load_with(WATCHED, &["workloads[w].name=none"]).is_ok());
}

#[test]
fn shares_in_percent_are_quanta_of_whole_frames() {
    use fabric::spec::{Egress, Share};
    let Egress::Groups(groups) = plan(WATCHED, &[]).spec.switches[0].egress.clone() else { panic!("groups") };
    let quanta: Vec<u64> = groups
        .iter()
        .map(|group| match group.share {
            Share::Weighted { quantum } => quantum.get(),
            Share::Strict => 0,
        })
        .collect();
    // The smaller share has a turn of a frame of 1500 B and its overhead, and a table of DCBX gives the same.
    assert_eq!(quanta, [1520, 2280]);
    let entries = plan(WATCHED, &[]).entries;
    let value = |path: &str| entries.iter().find(|entry| entry.path == path).map(|entry| entry.value.as_str());
    assert_eq!(value("switches[0].egress[1].share"), Some("\"60%\""));
    // What it prints can be read again.
    assert!(load_with(&WATCHED.replace("60%", "60 %"), &[]).is_ok());
    assert!(load_with(WATCHED, &["switches[0].egress[0].share=\"30%\"", "switches[0].egress[1].share=70%"]).is_ok());
}
