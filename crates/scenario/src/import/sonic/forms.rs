//! Forms that configurations of real switches have: dumps of the database, profiles of some colours, names with a domain.

use super::*;
use crate::{Limits, NoFiles, check, load_str};
use fabric::spec::Buffer;

const LEAF: &str = r#"{"DEVICE_METADATA": {"localhost": {"hostname": "leaf0", "mac": "00:00:00:00:00:01"}},
    "PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "100000"}},
    "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "h0", "port": "eth0"}, "Ethernet4": {"name": "spine0", "port": "Ethernet0"}},
    "PORT_QOS_MAP": {"Ethernet0,Ethernet4": {"pfc_enable": "3,4"}},
    "BUFFER_PORT_INGRESS_PROFILE_LIST": {"Ethernet0": {"profile_list": "a"}}}"#;
const SPINE: &str = r#"{"DEVICE_METADATA": {"localhost": {"hostname": "spine0"}},
    "PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "100000"}},
    "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "leaf0", "port": "Ethernet4"}, "Ethernet4": {"name": "h1", "port": "eth0"}},
    "PORT_QOS_MAP": {"Ethernet0,Ethernet4": {"pfc_enable": "3,4"}},
    "BUFFER_PORT_INGRESS_PROFILE_LIST": {"Ethernet0": {"profile_list": "a"}}}"#;

fn fabric(leaf: &str, spine: &str) -> Fabric {
    let files = [("leaf0.json", leaf), ("spine0.json", spine)].map(|(name, text)| SwitchFiles {
        configuration: NamedText { name, text },
        lldp: None,
        name: "nameless",
    });
    read(&files).unwrap_or_else(|errors| panic!("{errors}"))
}

fn notes(fabric: &Fabric) -> Vec<String> {
    fabric.notes.iter().map(|note| format!("{}: {}", note.key, note.meaning)).collect()
}

/// A configuration as a dump of the database.
fn dump(text: &str, is_typed: bool) -> String {
    let whole: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let mut rows = serde_json::Map::new();
    for (table, all) in whole.as_object().expect("tables") {
        for (key, fields) in all.as_object().expect("rows") {
            let row = match is_typed {
                true => serde_json::json!({ "expireat": 1.5, "ttl": -0.001, "type": "hash", "value": fields }),
                false => fields.clone(),
            };
            rows.insert(format!("{table}|{key}"), row);
        }
    }
    serde_json::Value::Object(rows).to_string()
}

#[test]
fn dumps_of_the_database_are_read() {
    let saved = fabric(LEAF, SPINE);
    for is_typed in [false, true] {
        let dumped = fabric(&dump(LEAF, is_typed), &dump(SPINE, is_typed));
        assert_eq!(scenario(dumped, "fabric").scenario, scenario(saved.clone(), "fabric").scenario);
    }
    // A mistake is at its row.
    let text = dump(&LEAF.replace("\"Ethernet0\": {\"speed\": \"100000\"}", "\"Ethernet0\": {}"), false);
    let file = SwitchFiles { configuration: NamedText { name: "leaf0.json", text: &text }, lldp: None, name: "" };
    let errors = read(&[file]).expect_err("no speed").to_string();
    assert!(errors.contains("PORT|Ethernet0 has no `speed`"), "{errors}");
}

#[test]
fn a_key_that_is_there_twice_with_the_same_value_is_no_mistake() {
    let text = LEAF.replace("\"mac\":", "\"mac\": \"00:00:00:00:00:01\", \"mac\":");
    assert_eq!(fabric(&text, SPINE).cables.len(), 3);
}

#[test]
fn early_detection_of_other_colours_leaves_frames_alone() {
    let wred = r#""QUEUE": {"Ethernet0|1": {"wred_profile": "AZURE_LOSSY"}}, "WRED_PROFILE": {"AZURE_LOSSY": {"ecn": "ecn_all",
        "red_drop_probability": "5", "red_max_threshold": "51000", "red_min_threshold": "50000", "wred_red_enable": "true"}}, "#;
    let text = LEAF.replacen('{', &format!("{{{wred}"), 1);
    let read = fabric(&text, SPINE);
    assert_eq!(read.switches[0].ports[0].wred[1], None);
    let notes = notes(&read);
    assert!(notes.iter().any(|it| it.contains("AZURE_LOSSY: without thresholds of green frames")), "{notes:?}");
    // Half of a pair is a mistake.
    let half = text.replace("\"red_max_threshold\"", "\"green_min_threshold\"");
    let file = SwitchFiles { configuration: NamedText { name: "leaf0.json", text: &half }, lldp: None, name: "" };
    assert!(super::read(&[file]).is_err_and(|errors| errors.to_string().contains("has no thresholds of green frames")));
}

#[test]
fn names_of_neighbours_may_differ_by_case_or_domain() {
    for name in ["SPINE0", "spine0.dc1.example.com"] {
        let read = fabric(&LEAF.replace("spine0", name), SPINE);
        assert_eq!((read.hosts.as_slice(), read.cables.len()), (["h0", "h1"].map(String::from).as_slice(), 3));
        let notes = notes(&read);
        assert!(
            notes.contains(&format!("neighbours: {name} is taken for spine0, whose configuration is given")),
            "{notes:?}"
        );
    }
    // Of two domains, one is that of another switch.
    let other = fabric(
        &LEAF.replace("spine0", "spine0.dc2"),
        &SPINE.replace("\"spine0\"", "\"spine0.dc1\"").replace("leaf0", "x"),
    );
    assert_eq!(other.hosts, ["h0", "h1", "spine0.dc2", "x"]);
}

#[test]
fn ports_keep_their_order_at_both_ends() {
    // The first port of the spine leads to the second leaf.
    let port = |name: &str, ports: &str| {
        format!(r#"{{"DEVICE_METADATA": {{"localhost": {{"hostname": "{name}"}}}}, {ports}}}"#)
    };
    let one = r#""PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "100000"}}, "DEVICE_NEIGHBOR":
        {"Ethernet0": {"name": "z", "port": "FAR"}, "Ethernet4": {"name": "HOST"}}"#;
    let leaf = |name: &str, to: &str| port(name, &one.replace("FAR", to).replace("HOST", &format!("h{name}")));
    let spine = r#""PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "100000"}}, "DEVICE_NEIGHBOR":
        {"Ethernet0": {"name": "b", "port": "Ethernet0"}, "Ethernet4": {"name": "a", "port": "Ethernet0"}}"#;
    let texts = [leaf("a", "Ethernet4"), leaf("b", "Ethernet0"), port("z", spine)];
    let files = [0, 1, 2].map(|at| SwitchFiles {
        configuration: NamedText { name: "x.json", text: &texts[at] },
        lldp: None,
        name: "",
    });
    let fabric = read(&files).unwrap_or_else(|errors| panic!("{errors}"));
    for switch in 0..3 {
        let ports: Vec<usize> =
            fabric.cables.iter().flat_map(Cable::ends).filter(|end| end.switch == switch).map(|end| end.port).collect();
        assert_eq!(ports, [0, 1], "{:?}", fabric.cables);
    }
}

#[test]
fn what_concerns_all_switches_alike_is_said_once() {
    let notes = notes(&fabric(LEAF, SPINE));
    let said = notes.iter().filter(|note| note.starts_with("BUFFER_PORT_INGRESS_PROFILE_LIST")).count();
    assert_eq!(said, 1, "{notes:?}");
}

#[test]
fn computed_headroom_suffices_for_the_frames_that_ports_carry() {
    // No flow uses tc4, and the example's flows go one way; the ports carry large frames of both classes all the same.
    let text = scenario(fabric(LEAF, SPINE), "fabric").scenario;
    let plan =
        load_str("fabric.toml", &text, &[], &NoFiles, Limits::default()).unwrap_or_else(|errors| panic!("{errors}"));
    let Buffer::Shared { classes, .. } = &plan.spec.switches[0].buffer else { panic!("a shared memory") };
    let headroom: Vec<_> = classes.iter().map(|buffer| buffer.headroom).collect();
    assert!(headroom.iter().all(|each| *each == headroom[0]), "{headroom:?}");
    let findings = check(&plan);
    assert!(findings.iter().all(|finding| !finding.message.contains("may lose frames")), "{findings:?}");
}
