//! Conservation where kinds meet: PFC, PAUSE, credits, shared buffers and input queues side by side in one network, a lossy class
//! beside a lossless one, links that fail, and routes that change.

use super::*;

/// A switch: its keys, and the buffer of the lossless class. The first stops all classes, which must be lossless then.
const SWITCHES: [(&str, &str); 9] = [
    ("flow_control = \"pause\"", "capacity = \"60KB\"\nxoff = \"30KB\"\nxon = \"27KB\""),
    ("flow_control = \"pfc\"", "capacity = \"60KB\"\nxoff = \"30KB\"\nxon = \"27KB\""),
    ("flow_control = \"credits\"", "capacity = \"20KB\""),
    (
        "flow_control = \"credits\"\nqueueing = \"virtual-output\"\nforwarding = \"cut-through\"\nheader_delay = \"100ns\"",
        "capacity = \"4KiB\"",
    ),
    ("flow_control = \"pfc\"\nbuffer = \"shared\"\nshared_size = \"100KB\"\nalpha = \"1/4\"", ""),
    ("flow_control = \"pfc\"\nqueueing = \"input-fifo\"", "capacity = \"60KB\"\nxoff = \"30KB\"\nxon = \"27KB\""),
    ("flow_control = \"credits\"\nqueueing = \"input-fifo\"", "capacity = \"16KB\""),
    (
        "flow_control = \"pfc\"\nqueueing = \"combined\"\noutput_buffer = \"6KB\"",
        "capacity = \"60KB\"\nxoff = \"30KB\"\nxon = \"27KB\"",
    ),
    (
        "flow_control = \"pfc\"\npipeline = \"700ns\"\norder = \"round-robin\"",
        "capacity = \"80KB\"\nxoff = \"30KB\"\nxon = \"27KB\"",
    ),
];

/// Topologies, their hosts, and their switches.
const TOPOLOGIES: [(&str, u64, &[&str]); 5] = [
    (
        "topology = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 3",
        9,
        &["leaf0", "leaf1", "leaf2", "spine0", "spine1"],
    ),
    ("topology = \"two-switches\"\nleft = 4\nright = 4\ntrunks = 2", 8, &["sw0", "sw1"]),
    ("topology = \"ring\"\nswitches = 4\nhosts_per_switch = 2", 8, &["sw0", "sw1", "sw2", "sw3"]),
    ("topology = \"chain\"\nswitches = 3\nhosts_per_switch = 3", 9, &["sw0", "sw1", "sw2"]),
    (
        "topology = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\nplanes = 2",
        8,
        &["p0-leaf0", "p0-leaf1", "p0-spine0", "p0-spine1", "p1-leaf0", "p1-leaf1", "p1-spine0", "p1-spine1"],
    ),
];

/// A network of which every switch is of another kind.
fn mixed(seed: u64) -> String {
    let mut stream = Stream::new(seed, 0, "mixed causes");
    let mut pick = |below: u64| stream.below(below);
    let (topology, hosts, switches) = TOPOLOGIES[pick(TOPOLOGIES.len() as u64) as usize];
    let path = ["", "multipath = \"spray\""][pick(2) as usize];
    let repair =
        ["", "reconverge = \"20us\"", "local_repair = \"10us\"", "reconverge = \"60us\"\nlocal_repair = \"5us\""];
    let repair = repair[pick(4) as usize];
    let pauses = pick(3) == 0;
    let mut text = format!(
        "schema_version = 1\n[network]\n{topology}\n{path}\n{repair}\nlink = {{ rate = \"10Gb/s\", latency = \"500ns\" }}\n\
         [[classes]]\nname = \"lan\"\nlossless = {pauses}\n[[classes]]\nname = \"storage\"\n\
         [run]\nduration = \"1ms\"\nwarm_up = \"100us\"\nseed = {seed}\n"
    );
    let weighted = pick(2) == 0;
    for switch in switches {
        let first = u64::from(!pauses);
        let (keys, buffer) = SWITCHES[(first + pick(SWITCHES.len() as u64 - first)) as usize];
        let egress = "egress = [{ classes = \"lan\", share = \"40%\" }, { classes = \"storage\", share = \"60%\" }]";
        let egress = if weighted { egress } else { "" };
        let lan = match () {
            () if pauses => buffer,
            () if keys.contains("shared") => "",
            () => "capacity = \"25KB\"",
        };
        text.push_str(&format!(
            "[[switches]]\nmatch = \"{switch}\"\n{keys}\n{egress}\n[[switches.buffers]]\nclasses = \"lan\"\n{lan}\n\
             [[switches.buffers]]\nclasses = \"storage\"\n{buffer}\n"
        ));
    }
    let last = hosts - 1;
    match pick(4) {
        0 => text.push_str(&format!(
            "[[adapters]]\n[[adapters]]\nmatch = \"h{last}\"\nflow_control = \"pfc\"\nservice = \"2Gb/s\"\n\
             buffers = {{ capacity = \"50KB\", xoff = \"20KB\", xon = \"17KB\" }}\n"
        )),
        1 => text.push_str(&format!(
            "[[adapters]]\n[[adapters]]\nmatch = \"h{last}\"\nflow_control = \"credits\"\nservice = \"2Gb/s\"\n\
             buffers = {{ capacity = \"20KB\" }}\n"
        )),
        _ => {}
    }
    for number in 0..pick(3) {
        let (down, length) = (50 + 450 * number + pick(200), 20 + pick(170));
        let last = pick(4) == 0;
        let up = if last { String::new() } else { format!("up = \"{}us\"", down + length) };
        let switch = switches[pick(switches.len() as u64) as usize];
        let (one, other) = match (pick(3), switch.find("leaf")) {
            (0, Some(place)) => (switch.to_owned(), format!("{}spine*", &switch[..place])),
            (0, None) if topology.contains("leaf") => (switch.to_owned(), switch.replace("spine", "leaf")),
            (0, None) => ("sw0".to_owned(), "sw1".to_owned()),
            _ => (format!("h{}", pick(hosts)), "*".to_owned()),
        };
        text.push_str(&format!("[[faults]]\nbetween = [\"{one}\", \"{other}\"]\ndown = \"{down}us\"\n{up}\n"));
        if last {
            break;
        }
    }
    for number in 0..8 + pick(8) {
        let from = pick(hosts);
        let to = [last, (from + 1 + pick(hosts - 2)) % hosts][pick(2) as usize];
        let to = if from == to { (to + 1) % hosts } else { to };
        let storage = pick(2) == 0;
        let (class, lossless) = if storage { ("storage", true) } else { ("lan", pauses) };
        let size = if pick(4) > 0 { format!("size = \"{}B\"", 100 + pick(90_000)) } else { String::new() };
        let source = match pick(3) {
            0 => "kind = \"paced\"\nrate = \"3Gb/s\"\ngaps = \"exponential\"",
            _ => "kind = \"greedy\"",
        };
        let stop = if pick(8) == 0 { "stop = \"700us\"" } else { "" };
        let control = match pick(7) {
            // A window of a lossy class needs a recovery.
            4 if !lossless => "recovery = \"go-back-n\"\nprotocol = { name = \"none\", window = \"16KB\" }",
            0 => "recovery = { name = \"go-back-n\", timeout = \"200us\" }",
            1 => "recovery = { name = \"selective-repeat\" }",
            2 | 3 => {
                "recovery = { name = \"sack\", preset = \"data-centre\" }\nprotocol = { name = \"none\", window = \"16KB\" }"
            }
            4 => "acknowledge = {}\nprotocol = { name = \"none\", window = \"16KB\" }",
            5 => "protocol = { name = \"none\", rate = \"4Gb/s\" }",
            _ => "",
        };
        let start = pick(300);
        text.push_str(&format!(
            "[[workloads]]\nname = \"f{number}\"\n{source}\nfrom = \"h{from}\"\nto = \"h{to}\"\n{size}\n{stop}\n\
             class = \"{class}\"\n{control}\nstart = \"{start}us\"\n"
        ));
    }
    text
}

#[test]
fn causes_add_up_in_networks_that_mix_kinds_and_classes_and_lose_links() {
    let (mut flows, mut complete, mut blocked, mut lost) = (0, 0, 0, 0);
    let (mut failed, mut roots) = (0, std::collections::BTreeSet::new());
    for seed in 0..240 {
        let text = mixed(seed);
        let run = run(plan(&text));
        run.assert_conserved();
        // Frames of another class do not fill the queue that drops one.
        let class = |flow: u32| run.plan.spec.flows[flow as usize].class;
        for (flow, key) in run.causes.iter().flat_map(|flow| flow.ledger.iter().map(|(key, _)| (flow.flow, key))) {
            let by_loss =
                matches!(key.cause, Cause::Recovery | Cause::Delivery) && key.by != super::super::ledger::NONE;
            assert!(!by_loss || class(key.by) == class(flow), "{seed}: {} {key:?}", run.name(flow));
        }
        flows += run.causes.len();
        complete += run.causes.iter().filter(|flow| flow.complete).count();
        let totals = &run.summary.totals;
        lost += u64::from(totals.dropped_frames > 0);
        failed += u64::from(totals.lost_frames > 0);
        let mut found: Vec<Root> =
            run.causes.iter().flat_map(|flow| flow.ledger.iter()).filter_map(|(key, _)| key.cause.root()).collect();
        found.sort_unstable();
        found.dedup();
        blocked += u64::from(!found.is_empty());
        roots.extend(found);
        let mut bare = Simulation::build(&run.plan.spec, &BuildOptions::default()).expect("it was built before");
        let bare = bare.run(&RunLimits::until(Time::ZERO + run.plan.run.duration));
        assert_eq!(bare.fingerprint, run.summary.fingerprint, "{seed}");
        if seed % 12 == 0 {
            for shards in [2, 3] {
                let split = run_on(plan(&text), shards, shards);
                assert_eq!(split.causes, run.causes, "{seed} in {shards} shards");
                assert_eq!(split.trees, run.trees, "{seed} in {shards} shards");
            }
        }
    }
    // Or they would show little.
    assert!(complete > 600 && flows > 2000, "{complete} of {flows} flows are complete");
    assert!(
        blocked > 150 && lost > 100 && failed > 60,
        "{blocked} networks with blocked links, {lost} with drops, {failed} with losses"
    );
    // All but cycles, which the module of known roots has.
    assert!(roots.len() >= 5, "{roots:?}");
}
