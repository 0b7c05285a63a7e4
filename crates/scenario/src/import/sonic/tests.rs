//! Configurations of a leaf-spine of four switches, whole and damaged.

use super::*;
use crate::{Limits, NoFiles, Plan, check, load_str};
use fabric::spec::{Buffer, Egress, Share};
use units::{Bytes, Span};

const FILES: [(&str, &str); 4] = [
    ("leaf0", include_str!("../../../../../examples/sonic/leaf0/config_db.json")),
    ("leaf1", include_str!("../../../../../examples/sonic/leaf1/config_db.json")),
    ("spine0", include_str!("../../../../../examples/sonic/spine0/config_db.json")),
    ("spine1", include_str!("../../../../../examples/sonic/spine1/config_db.json")),
];

/// Reads the four files after a change to their texts.
fn changed(change: impl Fn(&str, &str) -> String) -> Result<Fabric, Errors> {
    let texts: Vec<(String, String)> =
        FILES.iter().map(|(name, text)| (format!("{name}/config_db.json"), change(name, text))).collect();
    let files: Vec<SwitchFiles<'_>> = texts
        .iter()
        .map(|(name, text)| SwitchFiles { configuration: NamedText { name, text }, lldp: None, name: "nameless" })
        .collect();
    read(&files)
}

fn whole() -> Fabric {
    changed(|_, text| text.to_owned()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn plan(fabric: Fabric) -> Plan {
    let imported = scenario(fabric, "fabric");
    let text = &imported.scenario;
    load_str("fabric.toml", text, &[], &NoFiles, Limits::default()).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// All complaints about the files after a change.
fn refused(change: impl Fn(&str, &str) -> String) -> Vec<String> {
    let errors = changed(change).expect_err("a mistake");
    errors.complaints().map(|it| format!("{}:{}: {}", it.file, it.line, it.message)).collect()
}

fn in_leaf0(from: &'static str, to: &'static str) -> impl Fn(&str, &str) -> String {
    move |name, text| {
        let replaced = if name == "leaf0" { text.replacen(from, to, 1) } else { text.to_owned() };
        assert!(name != "leaf0" || replaced != text, "nothing to change");
        replaced
    }
}

#[test]
fn a_leaf_spine_becomes_a_scenario() {
    let fabric = whole();
    assert_eq!((fabric.switches.len(), fabric.hosts.len(), fabric.cables.len()), (4, 8, 12));
    assert_eq!(fabric.classes(), [0, 1, 3, 4, 5, 6]);
    let plan = plan(fabric);
    let spec = &plan.spec;
    let lossless: Vec<bool> = spec.classes.iter().map(|class| class.lossless).collect();
    assert_eq!(lossless, [false, false, true, true, false, false]);
    // Leaves are alike, and so are spines.
    assert_eq!(spec.switches.len(), 2);
    let Buffer::Shared { total, classes, .. } = &spec.switches[0].buffer else { panic!("shared") };
    assert_eq!(*total, Bytes::new(33_554_432));
    let kept = classes[2];
    assert_eq!((kept.capacity, kept.xon, kept.headroom), (Bytes::new(1248), Bytes::new(10_192), Bytes::new(56_320)));
    assert_eq!((kept.alpha, classes[0].alpha, classes[0].capacity), (Some((1, 4)), Some((1, 1)), Bytes::new(1664)));
    // Ports to spines have faster and longer cables, and more headroom.
    let own: Vec<_> = spec.ports.iter().filter_map(|port| port.buffers.as_ref()).collect();
    assert_eq!(own.len(), 4);
    assert!(own.iter().all(|buffers| buffers[2].headroom == Bytes::new(110_592)));
    let trunk = spec.graph.cables.iter().find(|cable| cable.link.rate == Rate::from_gigabits(400)).expect("a trunk");
    assert_eq!(trunk.link.latency, Span::from_nanos(200));
    let Egress::Groups(groups) = &spec.switches[0].egress else { panic!("groups") };
    let quanta: Vec<Option<u64>> = groups
        .iter()
        .map(|group| match group.share {
            Share::Weighted { quantum } => Some(quantum.get()),
            Share::Strict => None,
        })
        .collect();
    // A largest frame of 9138 B on the wire for the smallest weight of 14: 653 B for each unit.
    assert_eq!(quanta, [Some(9142), Some(9142), Some(9795), Some(9795), Some(9142), None]);
    assert!(check(&plan).iter().all(|finding| finding.severity < crate::Severity::Error), "{:?}", check(&plan));
}

#[test]
fn what_is_not_understood_is_reported() {
    let fabric = changed(in_leaf0("\"fec\": \"rs\"", "\"flux\": \"9\"")).expect("readable");
    let notes: Vec<String> = fabric.notes.iter().map(|note| format!("{}: {}", note.key, note.meaning)).collect();
    assert!(notes.contains(&"leaf0 PORT|Ethernet0: field `flux` is not understood".into()), "{notes:?}");
    assert!(notes.contains(&"ignored tables: BGP_NEIGHBOR, SYSLOG_SERVER".into()), "{notes:?}");
}

#[test]
fn references_of_older_releases_mean_the_same() {
    let old = |_: &str, text: &str| {
        let text = text.replace(
            "\"profile\": \"ingress_lossy_profile\"",
            "\"profile\": \"[BUFFER_PROFILE|ingress_lossy_profile]\"",
        );
        let text = text.replace("\"pool\": \"egress_lossy_pool\"", "\"pool\": \"[BUFFER_POOL|egress_lossy_pool]\"");
        text.replace("\"dscp_to_tc_map\": \"AZURE\"", "\"dscp_to_tc_map\": \"[DSCP_TO_TC_MAP|AZURE]\"")
    };
    let fabric = changed(old).expect("readable");
    assert_eq!(scenario(fabric, "a").scenario, scenario(whole(), "a").scenario);
}

#[test]
fn numbers_may_be_numbers() {
    let fabric = changed(|_, text| text.replace("\"100000\"", "100000").replace("\"-2\"", "-2")).expect("readable");
    assert_eq!(scenario(fabric, "a").scenario, scenario(whole(), "a").scenario);
}

#[test]
fn contradictions_are_refused_with_file_and_key() {
    let cases: [(&str, &str, &str); 9] = [
        (
            "\"speed\": \"400000\"",
            "\"speed\": \"200000\"",
            "leaf0 Ethernet64 has 200Gb/s, but spine0 Ethernet0 at the other end has 400Gb/s",
        ),
        ("\"speed\": \"100000\",", "", "PORT|Ethernet0 has no `speed`"),
        (
            "\"port\": \"Ethernet0\"",
            "\"port\": \"Ethernet8\"",
            "leaf0 Ethernet64 leads to spine0 Ethernet8, but that leads to leaf1 Ethernet64",
        ),
        (
            "\"port\": \"Ethernet0\"",
            "\"port\": \"Ethernet99\"",
            "leaf0 Ethernet64 leads to port Ethernet99 of spine0, which has no such port",
        ),
        ("\"hostname\": \"leaf0\"", "\"hostname\": \"leaf1\"", "are both named leaf1"),
        (
            "\"profile\": \"ingress_lossy_profile\"",
            "\"profile\": \"gone\"",
            "BUFFER_PG|Ethernet0|0 names profile gone, which is not in BUFFER_PROFILE",
        ),
        (
            "\"dynamic_th\": \"-2\"",
            "\"dynamic_th\": \"x\"",
            "BUFFER_PROFILE|pg_lossless_100000_5m_profile has `dynamic_th` = \"x\", which is not a whole number",
        ),
        ("\"Ethernet0|0\"", "\"Ethernet0|x\"", "BUFFER_PG|Ethernet0|x does not name ports and numbers"),
        ("\"pfc_enable\": \"3,4\"", "\"pfc_enable\": \"3,9\"", "has `pfc_enable` = \"3,9\""),
    ];
    for (from, to, message) in cases {
        let complaints = refused(in_leaf0(from, to));
        assert!(complaints.iter().any(|it| it.contains(message)), "{message}: {complaints:?}");
        assert!(complaints.iter().all(|it| it.contains("/config_db.json:")), "{complaints:?}");
    }
}

fn notes(fabric: &Fabric) -> Vec<String> {
    fabric.notes.iter().map(|note| format!("{}: {}", note.key, note.meaning)).collect()
}

#[test]
fn a_port_that_is_down_has_no_link() {
    // At leaf0 that to spine0, and at spine1 that to leaf1.
    let down = |name: &str, text: &str| {
        let port = match name {
            "leaf0" => "\"Ethernet64\": {\n            \"admin_status\": ",
            "spine1" => "\"Ethernet8\": {\n            \"admin_status\": ",
            _ => return text.to_owned(),
        };
        let changed = text.replacen(&format!("{port}\"up\""), &format!("{port}\"down\""), 1);
        assert_ne!(changed, text);
        changed
    };
    let fabric = changed(down).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(fabric.cables.len(), 10);
    let notes = notes(&fabric);
    let note = notes.iter().find(|note| note.starts_with("PORT admin_status: ")).expect("a note");
    assert!(note.contains("leaf0 Ethernet64 to spine0") && note.contains("spine1 Ethernet8"), "{note}");
    assert_eq!(plan(fabric).spec.graph.cables.len(), 10);
}

#[test]
fn switches_without_a_configuration_forward_if_they_connect_others() {
    let texts: Vec<(&str, &str)> = FILES[..2].to_vec();
    let files: Vec<SwitchFiles<'_>> = texts
        .iter()
        .map(|(name, text)| SwitchFiles { configuration: NamedText { name, text }, lldp: None, name })
        .collect();
    let fabric = read(&files).unwrap_or_else(|errors| panic!("{errors}"));
    let names: Vec<&str> = fabric.switches.iter().map(|switch| switch.name.as_str()).collect();
    assert_eq!((names, fabric.hosts.len()), (vec!["leaf0", "leaf1", "spine0", "spine1"], 8));
    let notes = notes(&fabric);
    assert!(
        notes.iter().any(|note| note.contains("are missing forward here") && note.contains("spine1 (")),
        "{notes:?}"
    );
    // A server of either name would be a host.
    let servers: Vec<String> = texts.iter().map(|(_, text)| text.replace("\"LeafRouter\"", "\"Server\"")).collect();
    let files: Vec<SwitchFiles<'_>> = servers
        .iter()
        .map(|text| SwitchFiles { configuration: NamedText { name: "a.json", text }, lldp: None, name: "a" })
        .collect();
    assert_eq!(read(&files).unwrap_or_else(|errors| panic!("{errors}")).hosts.len(), 10);
    let plan = plan(fabric);
    assert_eq!(plan.spec.graph.switches().len(), 4);
    assert!(check(&plan).iter().all(|finding| finding.severity < crate::Severity::Error), "{:?}", check(&plan));
}

#[test]
fn one_mistake_is_one_error() {
    for (from, to) in [
        ("\"xoff\": \"56320\"", "\"xoff\": \"much\""),
        ("\"weight\": \"14\"", "\"weight\": \"heavy\""),
        ("\"green_min_threshold\": \"250000\"", "\"green_min_threshold\": \"low\""),
    ] {
        let complaints = refused(in_leaf0(from, to));
        assert_eq!(complaints.len(), 1, "{complaints:?}");
    }
}

#[test]
fn rows_and_keys_that_contradict_each_other_are_refused() {
    let twice = |name: &str, text: &str| match name {
        "leaf0" => text.replacen(
            "\"BUFFER_PG\": {",
            "\"BUFFER_PG\": {\n\"Ethernet0,Ethernet4|2-3\": {\"profile\": \"ingress_lossy_profile\"},",
            1,
        ),
        _ => text.to_owned(),
    };
    let complaints = refused(twice);
    assert!(complaints.iter().any(|it| it.contains("give Ethernet0 3 different profiles")), "{complaints:?}");
    let complaints = refused(in_leaf0("\"hostname\": \"leaf0\"", "\"hostname\": \"leaf0\", \"hostname\": \"leaf9\""));
    assert!(complaints.iter().any(|it| it.contains("the key \"hostname\" is there twice")), "{complaints:?}");
    let fabric = changed(in_leaf0("\"mtu\": \"9100\"", "\"mtu\": \"1500\"")).expect("readable");
    let to_host = notes(&fabric);
    assert!(!to_host.iter().any(|note| note.contains("`mtu` is")), "{to_host:?}");
    let all = |name: &str, text: &str| match name {
        "leaf0" => text.replace("\"mtu\": \"9100\"", "\"mtu\": \"1500\""),
        _ => text.to_owned(),
    };
    let notes = notes(&changed(all).expect("readable"));
    let note = "leaf0 PORT|Ethernet64: `mtu` is 1500, but 9100 at the other end, spine0 Ethernet0";
    assert!(notes.iter().any(|it| it.starts_with(note)), "{notes:?}");
}

#[test]
fn numbers_above_seven_are_left_out() {
    let more = |name: &str, text: &str| match name {
        "leaf0" => text
            .replacen("\"QUEUE\": {", "\"QUEUE\": {\n\"Ethernet0|8-9\": {\"scheduler\": \"gone\"},", 1)
            .replacen(
                "\"BUFFER_QUEUE\": {",
                "\"BUFFER_QUEUE\": {\n\"Ethernet0|8\": {\"profile\": \"egress_lossy_profile\"},",
                1,
            )
            .replace("\"scheduler\": \"gone\"", "\"scheduler\": \"scheduler.0\""),
        _ => text.to_owned(),
    };
    let fabric = changed(more).unwrap_or_else(|errors| panic!("{errors}"));
    let all = notes(&fabric);
    assert!(
        all.contains(&"QUEUE|Ethernet0|8-9: numbers above 7 have no counterpart and are left out: 8, 9".into()),
        "{all:?}"
    );
    assert_eq!(scenario(fabric, "a").scenario, scenario(whole(), "a").scenario);
}

#[test]
fn an_interval_longer_than_the_times_is_reported() {
    let fabric = changed(in_leaf0("\"POLL_INTERVAL\": \"200\"", "\"POLL_INTERVAL\": \"400\"")).expect("readable");
    let all = notes(&fabric);
    assert!(all.iter().any(|note| note.starts_with("PFC_WD|Ethernet0: POLL_INTERVAL of 400 ms is longer")), "{all:?}");
    assert!(!notes(&whole()).iter().any(|note| note.contains("POLL_INTERVAL")));
}

#[test]
fn an_import_warns_as_its_configurations_do() {
    let small = |_: &str, text: &str| text.replace("\"xoff\": \"110592\"", "\"xoff\": \"80000\"");
    let plan = plan(changed(small).expect("readable"));
    let all = check(&plan);
    let warned = all.iter().filter(|finding| finding.severity == crate::Severity::Warning);
    let warned: Vec<&str> = warned.map(|finding| finding.subject.as_str()).collect();
    // Both lossless classes, with traffic or without, at leaves and at spines.
    for subject in ["switches[0] class tc3", "switches[0] class tc4", "switches[1] class tc3", "switches[1] class tc4"]
    {
        assert!(warned.contains(&subject), "{subject}: {all:?}");
    }
}

#[test]
fn buffer_profiles_come_back_as_they_were() {
    let profile = |text: &str, field: &str| {
        let all: serde_json::Value = serde_json::from_str(text).expect("JSON");
        all["BUFFER_PROFILE"]["pg_lossless_100000_5m_profile"][field].clone()
    };
    // As of Tomahawk, Spectrum and Trident 2: size without and with headroom, with and without an offset.
    for (size, xon, offset) in
        [("1248", "2288", Some("2288")), ("76288", "19968", None), ("57568", "18432", Some("2496"))]
    {
        let other = move |_: &str, text: &str| {
            let mut all: serde_json::Value = serde_json::from_str(text).expect("JSON");
            if let Some(row) = all["BUFFER_PROFILE"].get_mut("pg_lossless_100000_5m_profile") {
                row["size"] = size.into();
                row["xon"] = xon.into();
                match offset {
                    Some(offset) => row["xon_offset"] = offset.into(),
                    None => drop(row.as_object_mut().expect("a row").remove("xon_offset")),
                }
            }
            all.to_string()
        };
        let plan = plan(changed(other).unwrap_or_else(|errors| panic!("{errors}")));
        let Buffer::Shared { classes, .. } = &plan.spec.switches[0].buffer else { panic!("shared") };
        assert_eq!(classes[2].resume.get().to_string(), xon);
        let exported = crate::export::sonic::export(&plan).expect("an export");
        let leaf = &exported.switches[0].1;
        assert_eq!((profile(leaf, "size"), profile(leaf, "xon")), (size.into(), xon.into()), "{leaf}");
        assert_eq!(profile(leaf, "xon_offset").as_str(), offset);
        assert_eq!(again(&plan).spec.switches, plan.spec.switches);
    }
}

#[test]
fn thresholds_by_rate_are_profiles_of_ports() {
    let text = scenario(whole(), "a").scenario;
    let of = |change: &str| {
        let text = text.replacen("name = \"ecn\"", &format!("name = \"ecn\", {change}"), 4);
        let plan =
            load_str("a.toml", &text, &[], &NoFiles, Limits::default()).unwrap_or_else(|errors| panic!("{errors}"));
        let leaf = crate::export::sonic::export(&plan).expect("an export").switches[0].1.clone();
        let all: serde_json::Value = serde_json::from_str(&leaf).expect("JSON");
        let least = |port: &str| {
            let name = all["QUEUE"][port]["wred_profile"].as_str().expect("a profile").to_owned();
            all["WRED_PROFILE"][&name]["green_min_threshold"].as_str().expect("a threshold").to_owned()
        };
        // To a server at 100 Gb/s, and to a spine at 400 Gb/s.
        [least("Ethernet0|3"), least("Ethernet16|3")]
    };
    assert_eq!(of("reference_rate = \"100Gb/s\""), ["250000", "1000000"]);
    assert_eq!(of("by_rate = \"400Gb/s 300KB 2097152B 0.05\""), ["250000", "300000"]);
}

#[test]
fn fixed_buffers_have_a_memory_of_their_sum() {
    let text = "schema_version = 1\n[network]\ntopology = \"single-switch\"\nhosts = 3\nlink = { rate = \"10Gb/s\", latency = \"5ns\" }\n\
        [[switches]]\nflow_control = \"pfc\"\nbuffers = { capacity = \"300KB\" }\n[[workloads]]\nkind = \"incast\"\nfrom = [\"h1\", \"h2\"]\n\
        to = \"h0\"\nsize = \"1MB\"\n[run]\nduration = \"1ms\"\n";
    let plan = load_str("a.toml", text, &[], &NoFiles, Limits::default()).unwrap_or_else(|errors| panic!("{errors}"));
    let text = crate::export::sonic::export(&plan).expect("an export").switches[0].1.clone();
    let all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(all["BUFFER_POOL"]["ingress_lossless_pool"]["size"], "900000");
}

#[test]
fn truncated_files_are_refused() {
    let half = |name: &str, text: &str| text[..if name == "leaf0" { text.len() / 2 } else { text.len() }].to_owned();
    let complaints = refused(half);
    assert!(complaints[0].contains("this is not JSON: EOF"), "{complaints:?}");
}

#[test]
fn a_switch_alone_has_hosts_at_all_its_neighbours() {
    let files =
        SwitchFiles { configuration: NamedText { name: "leaf0.json", text: FILES[0].1 }, lldp: None, name: "x" };
    let fabric = read(&[files]).expect("readable");
    assert_eq!((fabric.switches.len(), fabric.hosts.len()), (1, 6));
    assert!(
        fabric.notes.iter().any(|note| {
            note.meaning.starts_with("switches without a configuration and with one link become hosts")
                && note.meaning.ends_with(": spine0, spine1")
        }),
        "{:?}",
        fabric.notes
    );
    assert_eq!(plan(fabric).spec.graph.nodes.len(), 7);
}

#[test]
fn ports_alone_are_enough() {
    let text = r#"{"PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": 100000, "admin_status": "up"},
        "Ethernet8": {"speed": "100000", "admin_status": "down"}}}"#;
    let files = SwitchFiles { configuration: NamedText { name: "a.json", text }, lldp: None, name: "switch" };
    let fabric = read(&[files]).expect("readable");
    assert_eq!(fabric.hosts, ["switch-Ethernet0", "switch-Ethernet4"]);
    let plan = plan(fabric);
    assert_eq!((plan.spec.classes.len(), plan.spec.classes[0].lossless), (1, false));
}

/// Ports of 1 Mb/s are as slow as the least rate of DCQCN.
#[test]
fn the_slowest_ports_load() {
    let slow = |_: &str, text: &str| text.replace("\"speed\": \"100000\"", "\"speed\": \"1\"");
    let fabric = changed(slow).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(fabric.cables.iter().any(|cable| !cable.host.is_empty() && cable.rate == units::Rate::from_megabits(1)));
    let imported = scenario(fabric.clone(), "fabric");
    assert!(imported.notes.iter().any(|note| note.key == "dcqcn"), "{:?}", imported.notes);
    assert_eq!(plan(fabric).spec.flows.len(), imported.counts[2]);
}

#[test]
fn lldp_tables_name_neighbours() {
    let port = r#"{"PORT": {"Ethernet0": {"speed": "100000", "alias": "etp1"}}, "DEVICE_METADATA": {"localhost": {"hostname": "NAME"}}}"#;
    let (a, b) = (port.replace("NAME", "a"), port.replace("NAME", "b"));
    let dump = r#"{"LLDP_ENTRY_TABLE:Ethernet0": {"type": "hash", "value": {"lldp_rem_sys_name": "b", "lldp_rem_port_id": "etp1"}},
        "LLDP_ENTRY_TABLE:eth0": {"value": {"lldp_rem_sys_name": "mgmt"}}}"#;
    let control = r#"{"lldp": {"interface": [{"Ethernet0": {"chassis": {"a": {"id": {"value": "aa"}}}, "port": {"id": {"type": "ifname", "value": "Ethernet0"}}}}]}}"#;
    let files = |heard: &'static str| SwitchFiles {
        configuration: NamedText { name: "b.json", text: &b },
        lldp: Some(NamedText { name: "b.lldp.json", text: heard }),
        name: "",
    };
    let first = SwitchFiles {
        configuration: NamedText { name: "a.json", text: &a },
        lldp: Some(NamedText { name: "a.lldp.json", text: dump }),
        name: "",
    };
    let fabric = read(&[first, files(control)]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!((fabric.cables.len(), fabric.hosts.len()), (1, 0));
    let contradiction = read(&[first, files(r#"{"LLDP_ENTRY_TABLE": {"Ethernet0": {"lldp_rem_sys_name": "c"}}}"#)]);
    assert!(contradiction.is_err_and(|errors| errors.to_string().contains("but that leads to c")));
}

#[test]
fn no_damage_makes_it_panic() {
    // Every digit, quote and bracket of a file in turn.
    let text = FILES[2].1;
    for (at, byte) in
        text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit() || b"\"{}|-".contains(byte)).step_by(17)
    {
        for other in ["", "9", "|", "-", "x"] {
            let damaged = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            let files =
                SwitchFiles { configuration: NamedText { name: "a.json", text: &damaged }, lldp: None, name: "x" };
            if let Ok(fabric) = read(&[files]) {
                let imported = scenario(fabric, "a");
                let loaded = load_str("a.toml", &imported.scenario, &[], &NoFiles, Limits::default());
                assert!(
                    loaded.is_ok(),
                    "{} instead of {byte}: {}",
                    other,
                    loaded.err().map(|it| it.to_string()).unwrap_or_default()
                );
            }
        }
    }
}

/// Exports a plan and imports it again.
fn again(plan: &Plan) -> Plan {
    let exported = crate::export::sonic::export(plan).unwrap_or_else(|reason| panic!("{reason}"));
    assert_eq!(exported.notes, []);
    let files: Vec<SwitchFiles<'_>> = exported
        .switches
        .iter()
        .map(|(name, text)| SwitchFiles { configuration: NamedText { name, text }, lldp: None, name })
        .collect();
    let fabric = read(&files).unwrap_or_else(|errors| panic!("{errors}"));
    self::plan(fabric)
}

#[test]
fn an_export_imported_again_is_the_same_network() {
    let one_end = in_leaf0("\"pfc_enable\": \"3,4\"", "\"pfc_enable\": \"3\"");
    let static_share = in_leaf0("\"dynamic_th\": \"-2\"", "\"static_th\": \"2000000\"");
    let large = in_leaf0("\"size\": \"1248\"", "\"size\": \"75776\"");
    let fabrics = [Ok(whole()), changed(one_end), changed(static_share), changed(large)];
    for fabric in fabrics {
        let first = plan(fabric.unwrap_or_else(|errors| panic!("{errors}")));
        let second = again(&first);
        let (one, two) = (&first.spec, &second.spec);
        assert_eq!((&one.graph.nodes, &one.graph.cables), (&two.graph.nodes, &two.graph.cables));
        assert_eq!((&one.classes, &one.kind_of), (&two.classes, &two.kind_of));
        assert_eq!(one.switches, two.switches);
        assert_eq!(one.ports, two.ports);
    }
}

#[test]
fn what_no_switch_can_have_is_not_exported() {
    let text = include_str!("../../../../../scenarios/infiniband-credits.toml");
    let plan = load_str("a.toml", text, &[], &NoFiles, Limits::default()).expect("a plan");
    assert!(crate::export::sonic::export(&plan).is_err_and(|reason| reason.contains("flow_control = \"pfc\"")));
}

#[test]
fn rows_of_ports_that_are_gone_are_left_out() {
    let fabric = changed(in_leaf0("\"Ethernet0|0\"", "\"Ethernet0,Ethernet99|0\"")).expect("readable");
    let note = fabric.notes.iter().find(|note| note.key == "BUFFER_PG|Ethernet0,Ethernet99|0").expect("a note");
    assert_eq!(note.meaning, "port Ethernet99 is not in PORT and is left out");
    assert_eq!(scenario(fabric, "a").scenario, scenario(whole(), "a").scenario);
}

#[test]
fn a_watchdog_is_imported_and_an_export_has_it() {
    let plan_of =
        |change: fn(&str) -> String| plan(changed(|_, text| change(text)).unwrap_or_else(|errors| panic!("{errors}")));
    let plan = plan_of(str::to_owned);
    let watchdog = plan.spec.switches[0].pfc_watchdog.expect("all ports of the leaves have it");
    assert_eq!((watchdog.detection, watchdog.restoration), (Span::from_millis(200), Span::from_millis(200)));
    assert_eq!((watchdog.poll, watchdog.action), (Span::from_millis(200), fabric::spec::WatchdogAction::Drop));
    let exported = crate::export::sonic::export(&plan).expect("an export");
    for (name, text) in &exported.switches {
        assert!(text.contains("\"PFC_WD\"") && text.contains("\"POLL_INTERVAL\": \"200\""), "{name}: {text}");
        assert!(text.contains("\"pfcwd_sw_enable\": \"3,4\""), "{name}: {text}");
    }
    // One class of two is watched, frames are forwarded, and a time is missing.
    let other = plan_of(|text| {
        let text = text.replace("\"action\": \"drop\"", "\"action\": \"forward\"");
        let text = text.replace("\"pfcwd_sw_enable\": \"3,4\"", "\"pfcwd_sw_enable\": \"4\"");
        assert!(text.contains("\"pfcwd_sw_enable\": \"4\""));
        text
    });
    let watchdog = other.spec.switches[0].pfc_watchdog.expect("a watchdog");
    let watched = other.spec.classes.iter().position(|class| class.name == "tc4").expect("a class");
    assert_eq!((watchdog.classes, watchdog.action), (1 << watched, fabric::spec::WatchdogAction::Forward));
    let text = &crate::export::sonic::export(&other).expect("an export").switches[0].1;
    assert!(text.contains("\"pfcwd_sw_enable\": \"4\""), "{text}");
    let silent = plan_of(|text| text.replace("\"action\": \"drop\"", "\"action\": \"alert\""));
    assert_eq!(silent.spec.switches[0].pfc_watchdog, None);
    for (from, to, message) in [
        ("\"detection_time\": \"200\",", "", "PFC_WD|Ethernet0 has no `detection_time`"),
        ("\"detection_time\": \"200\"", "\"detection_time\": \"0\"", "PFC_WD|Ethernet0 has `detection_time` = 0"),
        ("\"action\": \"drop\"", "\"action\": \"explode\"", "PFC_WD|Ethernet0 has `action` = \"explode\""),
    ] {
        let complaints = refused(in_leaf0(from, to));
        assert!(complaints.iter().any(|it| it.contains(message)), "{message}: {complaints:?}");
    }
}

#[test]
fn one_port_with_a_watchdog_is_that_port_alone() {
    let only = |name: &str, text: &str| match name {
        "leaf0" => text.replacen("\"PFC_WD\"", "\"IGNORED\"", 1).replacen(
            "\"PORT\": {",
            "\"PFC_WD\": {\"Ethernet0\": {\"detection_time\": 300}}, \"PORT\": {",
            1,
        ),
        _ => text.replacen("\"PFC_WD\"", "\"IGNORED\"", 1),
    };
    let fabric = changed(only).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(
        fabric.notes.iter().any(|note| note.meaning.starts_with("without `restoration_time`")),
        "{:?}",
        fabric.notes
    );
    let plan = plan(fabric);
    assert!(plan.spec.switches.iter().all(|switch| switch.pfc_watchdog.is_none()));
    let own: Vec<_> = plan.spec.ports.iter().filter_map(|port| port.pfc_watchdog).collect();
    assert_eq!(own.len(), 1);
    assert_eq!((own[0].detection, own[0].poll), (Span::from_millis(300), Span::ZERO));
}

#[test]
fn forms_of_real_configurations_are_read() {
    // A line card of a chassis, memory outside of the chip, neighbours by name as of 2017, names that are no tables.
    let text = r#"{"platform": "x86_64-a_chassis", "DEVICE_METADATA": {"localhost": {"hostname": "dut-lc3", "deployment_id": null}},
        "PORT": {"Ethernet0": {"speed": "400000", "alias": "Ethernet1/1"}, "Ethernet8": {"speed": "400000"}},
        "DEVICE_NEIGHBOR": {"ARISTA01T1": {"local_port": "Ethernet0", "port": "Ethernet1", "lo_addr": null, "type": "LeafRouter"},
            "ARISTA02T1": {"local_port": "Ethernet8", "port": "Ethernet1"}},
        "BUFFER_POOL": {"ingress_lossless_pool": {"size": "25766440000", "type": "both", "mode": "dynamic", "xoff": "5301600256"}},
        "BUFFER_PROFILE": {"egress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "-6"}},
        "BUFFER_QUEUE": {"dut-lc3|Asic0|Ethernet0|0-2": {"profile": "egress_lossy_profile"},
            "dut-lc4|Asic0|Ethernet0|0-2": {"profile": "egress_lossy_profile"}},
        "SCHEDULER": {"scheduler.1": {"type": "DWRR", "weight": "15"}},
        "QUEUE": {"dut-lc3|Asic0|Ethernet8|3": {"scheduler": "scheduler.1"}}}"#;
    let files = SwitchFiles { configuration: NamedText { name: "lc3.json", text }, lldp: None, name: "x" };
    let fabric = read(&[files]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(fabric.hosts, ["ARISTA01T1", "ARISTA02T1"]);
    let ports = &fabric.switches[0].ports;
    assert_eq!(ports[0].queues[2].as_deref(), Some("egress_lossy_profile"));
    assert_eq!(ports[1].schedulers[3].as_ref().and_then(|it| it.weight), Some(15));
    plan(fabric);
}
