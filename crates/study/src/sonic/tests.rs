//! Findings about a leaf-spine of four switches, sound and with one mistake each.

use super::*;
use scenario::import::NamedText;

const NAMES: [&str; 4] = ["leaf0", "leaf1", "spine0", "spine1"];

/// The issues after a change of the configurations, and their texts.
fn issues(change: impl Fn(&str, String) -> String) -> Vec<Issue> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sonic");
    let text = |name: &str| std::fs::read_to_string(folder.join(name).join("config_db.json")).expect("a fixture");
    let texts: Vec<(&str, String)> = NAMES.iter().map(|name| (*name, change(name, text(name)))).collect();
    let files: Vec<SwitchFiles<'_>> = texts
        .iter()
        .map(|(name, text)| SwitchFiles { configuration: NamedText { name, text }, lldp: None, name })
        .collect();
    audit(&read(&files).unwrap_or_else(|errors| panic!("{errors}")))
}

fn severe(issues: &[Issue]) -> Vec<(Severity, &'static str, String)> {
    let serious = issues.iter().map(|issue| (issue.kind(), issue.finding()));
    let serious = serious.filter(|(_, finding)| finding.severity > Severity::Note);
    serious
        .map(|(kind, finding)| (finding.severity, kind, format!("{}: {}", finding.subject, finding.message)))
        .collect()
}

fn with(name: &'static str, from: &'static str, to: &'static str) -> Vec<Issue> {
    issues(move |switch, text| {
        let changed = if switch == name { text.replace(from, to) } else { text.clone() };
        assert!(switch != name || changed != text, "nothing to change");
        changed
    })
}

#[test]
fn sound_configurations_have_notes_only() {
    let all = issues(|_, text| text);
    assert_eq!(severe(&all), []);
    let headroom: Vec<&Issue> = all.iter().filter(|issue| issue.kind() == "headroom").collect();
    // Two kinds of port per leaf and one per spine, each for both classes.
    assert_eq!(headroom.len(), 6);
    let What::Headroom { have, exact, hardware, .. } = &headroom[0].what else { panic!("headroom") };
    // 100 Gb/s over 5 m, frames of 9118 B: two frames, a pause of 84 B and 625 B on the cable, and an overshoot; hardware
    // may take 394 quanta of 64 B to respond.
    assert_eq!((have.get(), exact.get()), (56_320, 2 * 9_138 + 84 + 625 + 9_117));
    assert_eq!(hardware.get(), exact.get() + 394 * 64);
    let words: Vec<String> = headroom.iter().map(|issue| issue.finding().message).collect();
    // The driver would reserve 55,900 B at 100 Gb/s over 5 m, and 179,600 B at 400 Gb/s over 40 m.
    assert!(!words[0].contains("mlx5"), "{words:?}");
    assert!(
        words.iter().any(|text| text.contains("400Gb/s") && text.contains("mlx5 would reserve 179600B")),
        "{words:?}"
    );
    assert_eq!(headroom[0].classes, [3, 4]);
}

#[test]
fn each_mistake_is_found() {
    let found = |issues: &[Issue], severity, kind: &str, words: &str| {
        let all = severe(issues);
        assert!(
            all.iter().any(|(s, k, text)| *s == severity && *k == kind && text.contains(words)),
            "{words}: {all:?}"
        );
    };
    let small = with("spine0", "\"xoff\": \"110592\"", "\"xoff\": \"40000\"");
    found(&small, Severity::Error, "headroom", "spine0 Ethernet0, Ethernet8 tc3, tc4: loses frames: 40KB of headroom");
    let tight = with("spine0", "\"xoff\": \"110592\"", "\"xoff\": \"80000\"");
    found(&tight, Severity::Warning, "headroom", "may lose frames: 80KB of headroom");
    let one_end = with("leaf0", "\"pfc_enable\": \"3,4\"", "\"pfc_enable\": \"3\"");
    found(
        &one_end,
        Severity::Error,
        "lossless-at-one-end",
        "spine1 Ethernet0 tc4: lossless here, but not at the other end, leaf0 Ethernet72",
    );
    found(&one_end, Severity::Warning, "unused-headroom", "leaf0 Ethernet0");
    let late = with("leaf1", "\"green_min_threshold\": \"250000\"", "\"green_min_threshold\": \"2000000\"");
    assert_eq!(severe(&late), []);
    let later =
        issues(
            |name, text| {
                if name == "leaf1" { text.replace("250000", "9000000").replace("2097152", "9000000") } else { text }
            },
        );
    found(&later, Severity::Warning, "marks-after-pause", "marks begin at 9MB, but an input is paused at 6712134B");
    let map = with("spine1", "\"3\": \"3\"", "\"3\": \"4\"");
    found(
        &map,
        Severity::Warning,
        "map-differs",
        "DSCP_TO_TC_MAP differs from that of most ports: 3 is mapped to 4 here, and to 3 elsewhere",
    );
    found(&map, Severity::Error, "pause-stops-wrong-queue", "");
    let starved = with("leaf0", "\"weight\": \"14\"", "\"weight\": \"1\"");
    found(
        &starved,
        Severity::Warning,
        "small-share",
        "leaf0 Ethernet0, Ethernet4, Ethernet8, Ethernet12 and 2 more tc0, tc1, tc5: may starve: its weight is 3.0 %",
    );
    let drops = with("leaf0", "\"ecn\": \"ecn_all\"", "\"ecn\": \"ecn_none\"");
    found(&drops, Severity::Error, "early-drops", "AZURE_LOSSLESS");
    let length = with("leaf0", "\"Ethernet64\": \"40m\"", "\"Ethernet64\": \"100m\"");
    found(
        &length,
        Severity::Warning,
        "cable-lengths",
        "leaf0 Ethernet64: the cable has 100 m here and 40 m at spine0 Ethernet0",
    );
    found(
        &length,
        Severity::Warning,
        "profile-of-another-port",
        "is for 400Gb/s and 40 m; the port has 400Gb/s and 100 m",
    );
    let mtu = with("leaf0", "\"mtu\": \"9100\"", "\"mtu\": \"1500\"");
    found(&mtu, Severity::Warning, "mtus", "leaf0 Ethernet64: the MTU is 1500 here and 9100 at spine0 Ethernet0");
    let lossy =
        with("leaf0", "\"profile\": \"pg_lossless_100000_5m_profile\"", "\"profile\": \"ingress_lossy_profile\"");
    found(&lossy, Severity::Error, "no-headroom", "leaf0 Ethernet0");
    let limit = with("leaf0", "\"static_th\": \"50331648\"", "\"static_th\": \"1000000\"");
    found(&limit, Severity::Warning, "queue-limit", "limited to 1MB");
    let strict = with("leaf0", "\"type\": \"DWRR\",\n            \"weight\": \"15\"", "\"type\": \"STRICT\"");
    found(&strict, Severity::Warning, "strict-lossless", "leaf0");
}

#[test]
fn headroom_that_no_profile_states_is_named() {
    let said = |issues: &[Issue]| -> Vec<(Severity, String)> {
        let of_kind = issues.iter().filter(|issue| issue.kind() == "no-profile").map(Issue::finding);
        of_kind.map(|finding| (finding.severity, format!("{}: {}", finding.subject, finding.message))).collect()
    };
    // The row of one port is gone; then those of all ports at all switches, as SONiC's templates leave it.
    let one = said(&with(
        "leaf0",
        "\"Ethernet4|3-4\": {\n            \"profile\": \"pg_lossless_100000_5m_profile\"\n        },\n        \"Ethernet8|0\"",
        "\"Ethernet8|0\"",
    ));
    assert_eq!(one.len(), 1, "{one:?}");
    assert_eq!(one[0].0, Severity::Warning);
    assert!(
        one[0].1.starts_with("leaf0 Ethernet4 tc3, tc4: may lose frames: PFC is on, but BUFFER_PG has no profile"),
        "{one:?}"
    );
    let none = issues(|_, text| {
        let mut whole: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        whole["BUFFER_PG"].as_object_mut().expect("rows").retain(|key, _| key.ends_with("|0"));
        whole.to_string()
    });
    let all = said(&none);
    // Two kinds of ports of the leaves, and one of the spines.
    assert_eq!(all.len(), 6, "{all:?}");
    assert!(
        all.iter().all(|(severity, text)| *severity == Severity::Note && text.contains("the switch computes it")),
        "{all:?}"
    );
    let need = "up to 53318B needed at 100Gb/s over 5 m, and 28102B without any delay";
    assert!(all.iter().any(|(_, text)| text.starts_with("leaf0 Ethernet0") && text.contains(need)), "{all:?}");
    // The dynamic model: a row without a profile.
    let dynamic = issues(|_, text| text.replace("\"pg_lossless_100000_5m_profile\"\n        }", "\"NULL\"\n        }"));
    let computed = said(&dynamic);
    assert!(!computed.is_empty() && computed.iter().all(|(severity, _)| *severity == Severity::Note), "{computed:?}");
}

#[test]
fn strict_priority_starves_unless_it_is_limited() {
    let of = |issues: &[Issue]| issues.iter().filter(|issue| issue.kind() == "strict-priority").count();
    assert_eq!(of(&issues(|_, text| text)), 4);
    assert_eq!(of(&with("leaf0", "\"type\": \"STRICT\"", "\"type\": \"STRICT\", \"pir\": \"1250000000\"")), 3);
}

#[test]
fn a_port_is_named_once() {
    let length = with("leaf0", "\"Ethernet64\": \"40m\"", "\"Ethernet64\": \"100m\"");
    let named = length.iter().find(|issue| issue.kind() == "profile-of-another-port").expect("an issue");
    assert_eq!(named.ports, ["Ethernet64"]);
}

#[test]
fn names_of_files_name_switches() {
    let of = |name: &str| of_switch(Path::new(name));
    assert_eq!(
        ["leaf0.json", "leaf0_config_db.json", "config_db_leaf0.json", "leaf0.lldp.json", "leaf0_lldp.json"].map(of),
        ["leaf0"; 5]
    );
    assert_eq!(["config_db.json", "lldp.json"].map(of), ["switch"; 2]);
}
