//! `check` and `explain`: what can be known before running.

use crate::program::{SOUND, Scratch};

#[test]
fn explain_says_where_every_value_came_from() {
    let scratch = Scratch::new("explain");
    scratch.file("small.toml", SOUND);
    scratch.run(&["explain", "small.toml", "--set", "run.duration=2ms"]).ends(0).matches("explain");
}

#[test]
fn a_sound_scenario_passes() {
    let scratch = Scratch::new("check-sound");
    scratch.file("small.toml", SOUND).run(&["check", "small.toml"]).ends(0).matches("check-sound");
}

#[test]
fn too_little_headroom_is_an_error() {
    let scratch = Scratch::new("check-headroom");
    scratch.file("a.toml", SOUND.replace("60KB", "98KB"));
    scratch.run(&["check", "a.toml"]).ends(2).matches("check-headroom");
    let findings = scratch.run(&["check", "a.toml", "--json"]).ends(2).json();
    let worst = &findings[0];
    assert_eq!(worst["severity"], "error");
    assert!(worst["remedy"].as_str().expect("a remedy").contains("capacity"), "{findings:#}");
}

#[test]
fn the_remedy_for_too_little_headroom_helps() {
    let scratch = Scratch::new("check-remedy");
    scratch.file("a.toml", SOUND.replace("60KB", "98KB"));
    let findings = scratch.run(&["check", "a.toml", "--json"]).ends(2).json();
    let remedy = findings[0]["remedy"].as_str().expect("a remedy").to_owned();
    for key in ["xoff", "capacity"] {
        let size = remedy.split_once(&format!("{key} = \"")).and_then(|(_, rest)| rest.split('"').next());
        let change = format!("switches[0].buffers[0].{key}={}", size.expect(&remedy));
        scratch.run(&["check", "a.toml", "--set", &change]).ends(0);
        scratch.run(&["run", "a.toml", "--no-record", "--set", &change]).ends(0);
    }
}

#[test]
fn a_ring_that_can_deadlock_is_a_warning() {
    let scratch = Scratch::new("check-ring");
    scratch.scenario("ring-deadlock.toml").run(&["check", "ring-deadlock.toml"]).ends(0).matches("check-ring");
}

#[test]
fn what_a_routing_makes_of_a_network_is_told() {
    let scratch = Scratch::new("routes");
    scratch.scenario("ring-routing.toml");
    scratch.run(&["routes", "ring-routing.toml", "--set", "network.routing=lash"]).ends(0).matches("routes-lash");
    scratch.run(&["check", "ring-routing.toml", "--set", "network.routing=lash"]).ends(0).matches("check-lash");
    let summary = scratch.run(&["routes", "ring-routing.toml", "--json"]).ends(0).json();
    assert_eq!((&summary["can_deadlock"], &summary["lanes"]), (&true.into(), &1.into()));
    let tree = ["routes", "ring-routing.toml", "--format", "fdbs", "--tree", "3"];
    scratch.run(&tree).ends(2).matches("routes-no-tree");
    let spb = scratch.run(&[&tree[..], &["--set", "network.routing=spb"]].concat()).ends(0);
    assert!(spb.out.starts_with("osm_ucast_mgr_dump_ucast_routes: Switch 0x0200000000000200"), "{}", spb.out);
}

#[test]
fn lanes_that_keep_nothing_apart_are_a_warning() {
    let scratch = Scratch::new("check-lanes-pause");
    scratch.scenario("ring-routing.toml");
    let set = ["--set", "network.routing=lash", "--set", "switches[0].flow_control=pause"];
    let said = scratch.run(&[&["check", "ring-routing.toml"], &set[..]].concat()).ends(0);
    assert!(
        said.out.contains("virtual lanes do not prevent deadlock with PAUSE") && said.out.contains("can deadlock"),
        "{}",
        said.out
    );
    scratch.run(&[&["run", "ring-routing.toml", "--no-record"], &set[..]].concat()).ends(4);
}

#[test]
fn a_receiver_that_cannot_be_reached_is_found() {
    let scratch = Scratch::new("check-unreachable");
    let routes = "routing = \"explicit\"\nroutes = [{ at = \"sw0\", to = \"h0\", via = \"h0\" }]\n[[switches]]";
    scratch.file("a.toml", SOUND.replace("[[switches]]", routes));
    scratch.run(&["check", "a.toml"]).ends(2).matches("check-unreachable");
}

#[test]
fn more_than_the_network_takes_is_found() {
    let scratch = Scratch::new("check-overload");
    scratch.file("a.toml", SOUND.replace("\"greedy\"", "\"paced\"\nrate = \"8Gb/s\""));
    scratch.run(&["check", "a.toml"]).ends(0).matches("check-overload");
}

#[test]
fn a_fabric_is_configured_at_its_core() {
    let scratch = Scratch::new("dcbx");
    scratch.scenario("dcbx.toml").run(&["dcbx", "dcbx.toml"]).ends(0).matches("dcbx");
    let state = scratch.run(&["dcbx", "dcbx.toml", "--json"]).ends(0).json();
    assert_eq!((&state["settled"], state["ports"].as_array().map(Vec::len)), (&true.into(), Some(24)));
    // Storage is lossless in the run because the spines say so, and has its share.
    scratch.run(&["run", "dcbx.toml", "--no-record"]).ends(0);
    // A host that insists is named; in a run it does not obey the pauses of its leaf, and that is the end.
    let text = std::fs::read_to_string(scratch.path("dcbx.toml")).expect("it is there");
    scratch.file("b.toml", text.replace("apply = true", "apply = false") + "[[dcb]]\nmatch = \"h1\"\n");
    scratch.run(&["dcbx", "b.toml"]).ends(6).matches("dcbx-mismatch");
    scratch.run(&["check", "b.toml"]).ends(0).matches("check-dcbx");
    let applied = ["--set", "dcbx.apply=true"];
    scratch.run(&[&["check", "b.toml"], &applied[..]].concat()).ends(2).matches("check-dcbx-applied");
    let lost = scratch.run(&[&["run", "b.toml", "--no-record"], &applied[..]].concat()).ends(3);
    assert!(lost.out.contains("cause: PFC for class 1 is off at h1, so it ignored XOFF"), "{}", lost.out);
    assert!(lost.out.contains("DCBX, pfc-differs: h1->leaf0: this end enables PFC for no priority"), "{}", lost.out);
    // What comes of a cable that fails and of a core that is configured anew.
    let later = "[[faults]]\nbetween = [\"leaf0\", \"spine0\"]\ndown = \"1ms\"\nup = \"200s\"\n\
                 [[dcb]]\nmatch = \"spine*\"\nat = \"400s\"\npfc = [1, 2]\n\
                 ets = [{ priorities = [0], share = 50 }, { priorities = [1, 2], share = 50 }]\n";
    scratch.file("c.toml", text + later);
    scratch.run(&["dcbx", "c.toml"]).ends(0).matches("dcbx-later");
    let told = scratch.run(&["check", "c.toml"]).ends(0);
    assert!(told.out.contains("the run keeps the settings it started with"), "{}", told.out);
    scratch.scenario("leaf-spine.toml").run(&["dcbx", "leaf-spine.toml"]).ends(2).matches("dcbx-none");
    let absent = scratch.run(&["dcbx", "--interface", "no-such-interface"]).ends(2);
    assert!(absent.err.contains("there is no Ethernet interface 'no-such-interface'"), "{}", absent.err);
}

#[test]
fn routes_of_bridges_are_printed_as_databases() {
    let scratch = Scratch::new("routes-spb");
    scratch.scenario("spb-seven.toml");
    scratch.run(&["routes", "spb-seven.toml", "--format", "spbm"]).ends(0).matches("routes-spbm");
    scratch.run(&["routes", "spb-seven.toml", "--format", "spbv"]).ends(0).matches("routes-spbv");
    let second = scratch.run(&["routes", "spb-seven.toml", "--format", "spbm", "--tree", "1"]).ends(2);
    assert!(second.err.contains("there is no tree 1; there are 1"), "{}", second.err);
    let other = scratch.scenario("leaf-spine.toml").run(&["routes", "leaf-spine.toml", "--format", "spbv"]).ends(2);
    assert!(other.err.contains("set network.routing=spb"), "{}", other.err);
}

#[test]
fn spb_says_what_bridges_found_and_when() {
    let scratch = Scratch::new("spb");
    scratch.scenario("reconvergence.toml").run(&["spb", "reconvergence.toml"]).ends(0).matches("spb");
    let found = scratch.run(&["spb", "reconvergence.toml", "--json"]).ends(0).json();
    assert_eq!((found["trunks"].as_u64(), found["steps"].as_array().map(Vec::len)), (Some(16), Some(2)), "{found}");
    assert_eq!(found["steps"][1]["down"][0], "leaf0-spine1");
    assert_eq!(found["steps"][1]["adjacencies"].as_array().map(Vec::len), Some(15));
}

#[test]
fn a_bridge_on_a_real_interface_says_what_it_cannot_be() {
    let scratch = Scratch::new("spb-interface");
    let wrong = |arguments: &[&str], words: &str| {
        let said = scratch.run(&[&["spb"], arguments].concat()).ends(2);
        assert!(said.err.contains(words), "{}", said.err);
    };
    wrong(&[], "<FILE>");
    wrong(&["--interface", "no-such-interface"], "there is no Ethernet interface 'no-such-interface'");
    wrong(&["--interface", "lo", "--interface", "lo"], "the interface 'lo' is named twice");
    wrong(&["--interface", "lo", "--ipv4", "192.0.2.1", "--ipv4", "192.0.2.2"], "more addresses than interfaces");
    wrong(&["--interface", "lo", "--ipv4", "192.0.2"], "invalid value '192.0.2'");
    wrong(&["--interface", "lo", "--system", "0200.0000.01"], "give 6 octets as 12 hexadecimal digits");
    wrong(&["--interface", "lo", "--system", "0200.0000.000g"], "give 6 octets as 12 hexadecimal digits");
    wrong(&["--interface", "lo", "--area", "49"], "give 3 octets as 6 hexadecimal digits");
    wrong(&["any.toml", "--interface", "lo"], "cannot be used with");
    wrong(&["any.toml", "--metric", "5"], "cannot be used with");
}

/// Where raw sockets are forbidden it says so, and what it would take.
#[test]
#[cfg(target_os = "linux")]
fn forbidden_raw_sockets_are_told_as_such() {
    // Even root is made to lack the capability.
    let program = env!("CARGO_BIN_EXE_tailback");
    let said = std::process::Command::new("setpriv")
        .args(["--bounding-set=-net_raw", "--inh-caps=-net_raw", program, "spb", "--interface", "lo", "--seconds", "1"])
        .output();
    let said = said.ok().filter(|said| !String::from_utf8_lossy(&said.stderr).contains("setpriv:"));
    let said = match said {
        Some(said) => crate::program::Said::new(&said),
        // Nobody can take the capability away; an ordinary user has none.
        None => Scratch::new("spb-forbidden").run(&["spb", "--interface", "lo", "--seconds", "1"]),
    };
    if said.code == Some(0) {
        println!("SKIPPED: raw sockets are allowed here and cannot be forbidden");
        return;
    }
    assert_eq!(
        said.ends(1).err,
        "error: lo: Operation not permitted (os error 1)\nrun it as root, or with CAP_NET_RAW\n"
    );
}

#[test]
fn files_of_other_simulators_become_scenarios() {
    let scratch = Scratch::new("import");
    let topology = "4 1 3\n3\n0 3 25Gbps 1us 0\n1 3 25000000000.0 0.001ms 0\n2 3 25Gbps 1us 0\n";
    let flows = "2\n0 2 3 100 100000 2\n1 2 3 100 100000 2.00001\nsrc dst\n";
    let config = "CC_MODE 8\nEWMA_GAIN 0.0625\nDCTCP_RATE_AI 615Mb/s\nL2_ACK_INTERVAL 1\nVAR_WIN 1\nRATE_BOUND 0\n\
                  KMAX_MAP 1 25000000000 75\nKMIN_MAP 1 25000000000 75\nPMAX_MAP 1 25000000000 1.0\nODD 3\n";
    scratch.file("topology.txt", topology).file("flow.txt", flows).file("config.txt", config);
    let import = ["import", "hpcc", "topology.txt", "flow.txt", "--config", "config.txt", "-o", "net.toml"];
    let said = scratch.run(&import).ends(0);
    assert!(
        said.err.contains("RATE_BOUND") && said.err.contains("ODD") && said.err.contains("2 flows"),
        "{}",
        said.err
    );
    let run = scratch.run(&["run", "net.toml", "--no-record", "--json"]).ends(0).json();
    let workload = &run["workloads"][0];
    assert_eq!((&workload["completed"], &workload["finite"]), (&2.into(), &2.into()));
    let slowdown = workload["slowdown"]["mean"].as_f64().expect("a slowdown");
    // Each flow has half of the link most of the time, but not all.
    assert!((1.3..2.1).contains(&slowdown), "{slowdown}");
    let [here, there] = ["mean_completion_seconds", "mean_source_completion_seconds"].map(|key| workload[key].as_f64());
    assert!(there > here, "the last acknowledgement is later than the last byte: {here:?} {there:?}");
    let summary = scratch.run(&["run", "net.toml", "--no-record"]).ends(0);
    assert!(summary.out.contains("\nslowdown ") && summary.out.contains("p99.9"), "{}", summary.out);
    // What exists is not replaced, and after a mistake nothing is written.
    assert!(scratch.run(&import).ends(2).err.contains("already exists"));
    scratch.run(&[&import[..], &["--overwrite"]].concat()).ends(0);
    scratch.file("config.txt", config.replace("CC_MODE 8", "CC_MODE 10"));
    let said = scratch.run(&[&import[..7], &["other.toml"]].concat()).ends(2);
    assert!(said.err.contains("HPCC-PINT") && said.err.contains("config.txt:1"), "{}", said.err);
    assert!(scratch.names(".").iter().all(|name| !name.starts_with("other")));
    assert!(scratch.run(&[&import[..7], &["net.json"]].concat()).ends(2).err.contains(".toml"));
    assert!(scratch.run(&["import", "hpcc", "gone.txt", "flow.txt", "-o", "x.toml"]).ends(2).err.contains("gone.txt"));
    let matrix = "Nodes 16\nConnections 1\n0->13 id 1 start 0 size 20000\n";
    scratch.file("a.cm", matrix).run(&["import", "htsim", "a.cm", "--output", "b.toml"]).ends(0);
    let run = scratch.run(&["run", "b.toml", "--no-record", "--json"]).ends(0).json();
    assert_eq!(run["workloads"][0]["completed"], 1);
}

#[test]
fn import_turns_schedules_and_traces_into_scenarios() {
    let scratch = Scratch::new("schedules");
    let schedule = "num_ranks 2\nrank 0 {\na: send 3000b to 1\nb: recv 500b from 1\n}\nrank 1 {\na: recv 3000b from 0\nb: calc \
                    2000\nc: send 500b to 0\nb requires a\nc requires b\n}\n";
    scratch.file("a.goal", schedule).run(&["import", "goal", "a.goal", "--out", "goal.toml"]).ends(0);
    let run = scratch.run(&["run", "goal.toml", "--no-record", "--json"]).ends(0).json();
    assert_eq!((&run["outcome"], &run["workloads"][0]["completed"]), (&"finished".into(), &2.into()));
    scratch.file("b.goal", schedule.replace("c requires b", "c requires d"));
    let said = scratch.run(&["import", "goal", "b.goal", "-o", "other.toml"]).ends(2);
    assert!(said.err.contains("b.goal:11") && said.err.contains("no operation with this label"), "{}", said.err);
    // A trace of one node: an all-reduce of 3000 B.
    let attribute = |name: &[u8; 9], value: &[u8]| {
        let content = [&[0x0a, 9][..], name, &[0x48], value].concat();
        [&[0x52, content.len() as u8], &content[..]].concat()
    };
    let (kind, size) = (attribute(b"comm_type", &[0]), attribute(b"comm_size", &[0xb8, 0x17]));
    let node = [&[0x08, 1, 0x18, 7][..], &kind, &size].concat();
    let trace = [&[0, node.len() as u8][..], &node].concat();
    let files = ["t.0.et", "t.1.et", "t.2.et"];
    files.iter().for_each(|name| {
        scratch.file(name, &trace);
    });
    let import = ["import", "chakra", files[2], files[0], files[1], "-o", "chakra.toml"];
    let said = scratch.run(&import).ends(0);
    assert!(said.err.contains("algorithm ring"), "{}", said.err);
    let run = scratch.run(&["run", "chakra.toml", "--no-record", "--json"]).ends(0).json();
    assert_eq!((&run["outcome"], &run["workloads"][0]["completed"]), (&"finished".into(), &12.into()));
    let said = scratch.run(&["import", "chakra", files[0], files[2], "-o", "other.toml"]).ends(2);
    assert!(said.err.contains("t.2.et is not the trace of the next rank"), "{}", said.err);
    let said = scratch
        .file(files[1], &trace[..9])
        .run(&["import", "chakra", files[0], files[1], files[2], "-o", "other.toml"])
        .ends(2);
    assert!(said.err.contains("t.1.et:2") && said.err.contains("ends within a message"), "{}", said.err);
    assert!(scratch.names(".").iter().all(|name| !name.starts_with("other")));
}
