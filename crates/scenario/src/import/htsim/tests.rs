//! Small files of htsim, converted and loaded.

use super::*;
use crate::{Limits, Plan, load_str};
use fabric::graph::Role;
use units::{Rate, Time};

const MATRIX: &str = "\
Nodes 16
Connections 3
Triggers 1
0->13 id 1 start 0 size 2000000
13->0 id 2 start 1000000 size 1000 send_done_trigger 1
4->5 id 3 trigger 1 size 5000
trigger id 1 oneshot
";
const TOPOLOGY: &str = "\
# a tiny leaf-spine
Nodes 32
Tiers 2
Podsize 32

Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 50
Oversubscribed 4

Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 2000
";
const THREE_TIERS: &str = "\
Nodes 16
Tiers 3
Podsize 4
Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Queue_Down 100
Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Bundle 1
Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
";

fn converted(matrix: &str, topology: Option<&str>, micros: bool) -> Result<Imported, Errors> {
    with_control(matrix, topology, micros, None)
}

fn with_control(matrix: &str, topology: Option<&str>, micros: bool, control: Option<&str>) -> Result<Imported, Errors> {
    with_options(matrix, topology, micros, control, None)
}

fn with_options(
    matrix: &str,
    topology: Option<&str>,
    micros: bool,
    control: Option<&str>,
    options: Option<&str>,
) -> Result<Imported, Errors> {
    let options = Options { name: "small", flows_file: "small.flows.csv", micros, control, options };
    let matrix = NamedText { name: "a.cm", text: matrix };
    import(matrix, topology.map(|text| NamedText { name: "a.topo", text }), &options)
}

fn plan(imported: &Imported) -> Plan {
    let reader = crate::tests::beside(&imported.flows);
    let plan = load_str("small.toml", &imported.scenario, &[], &reader, Limits::default());
    plan.unwrap_or_else(|errors| panic!("{}\n{}", imported.scenario, errors.render(false)))
}

fn micros(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

#[test]
fn flows_are_those_of_the_matrix_and_triggers_are_reported() {
    let imported = converted(MATRIX, None, false).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    assert_eq!(imported.counts, [16, 20, 3]);
    let plan = plan(&imported);
    let starts: Vec<Time> = plan.spec.flows.iter().map(|flow| flow.start).collect();
    assert_eq!(starts, [micros(0), micros(1), micros(0)]);
    assert_eq!(plan.flow_names.iter().collect::<Vec<_>>(), ["flow1", "flow2", "flow3"]);
    let note = |key: &str| imported.notes.iter().find(|note| note.key == key).map(|note| note.meaning.as_str());
    assert!(note("trigger").is_some_and(|meaning| meaning.starts_with("1 flows") && meaning.contains("another host")));
    assert!(note("start").is_some_and(|meaning| meaning.contains("picoseconds")));
    assert!(note("--topo").is_some_and(|meaning| meaning.contains("4 ports per switch")));
    // Older files have microseconds.
    let plan =
        self::plan(&converted("Nodes 16\nConnections 1\n0->13 start 2.5 size 7\n", None, true).expect("a scenario"));
    assert_eq!(plan.spec.flows[0].start, Time::ZERO + Span::from_nanos(2500));
}

#[test]
fn triggers_that_a_source_can_see_are_dependencies() {
    let matrix = "\
Nodes 16
Connections 5
Triggers 3
0->1 id 1 start 0 size 1000 recv_done_trigger 1
2->1 id 2 start 0 size 1000 recv_done_trigger 1
1->3 id 3 trigger 1 size 1000 send_done_trigger 2
1->4 id 4 trigger 2 size 1000 send_done_trigger 3
1->5 id 5 trigger 3 size 1000
trigger id 1 barrier count 2
trigger id 2 oneshot
trigger id 3 multishot
";
    let imported = converted(matrix, None, false).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    assert!(imported.notes.iter().all(|note| note.key != "trigger"), "{:?}", imported.notes);
    let dependencies = plan(&imported).spec.dependencies;
    let all: Vec<(u32, Vec<u32>)> = dependencies.iter().map(|entry| (entry.flow, entry.awaited.to_vec())).collect();
    assert_eq!(all, [(2, vec![0, 1]), (3, vec![2]), (4, vec![3])]);
    // What is not known before the run is reported.
    let why = |from: &str, to: &str| {
        let imported = converted(&matrix.replacen(from, to, 1), None, false);
        let imported = imported.unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let note = imported.notes.iter().find(|note| note.key == "trigger").map(|note| note.meaning.clone());
        note.unwrap_or_default()
    };
    assert!(why("barrier count 2", "oneshot").contains("the first of several"));
    assert!(why("count 2", "count 3").contains("another count"));
    assert!(why(" send_done_trigger 3", "").contains("no flow activates it"));
}

#[test]
fn topologies_have_the_tiers_of_the_file() {
    let imported = converted(MATRIX, Some(TOPOLOGY), false).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let spec = plan(&imported).spec;
    // Four ToRs with eight hosts each, and two spines.
    assert_eq!(imported.counts, [32, 6, 3]);
    assert_eq!(spec.graph.cables.len(), 32 + 4 * 2);
    let trunks = spec.graph.cables.iter().filter(|cable| cable.link.latency == Span::from_micros(2)).count();
    assert_eq!(trunks, 8);
    let imported =
        converted(MATRIX, Some(THREE_TIERS), false).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let spec = plan(&imported).spec;
    assert_eq!(imported.counts, [16, 20, 3]);
    assert_eq!(spec.graph.cables.len(), 16 * 3);
    assert!(spec.graph.cables.iter().all(|cable| cable.link.rate == Rate::from_gigabits(100)));
    assert_eq!(spec.graph.nodes.iter().filter(|node| node.role == Role::Switch).count(), 20);
    assert!(imported.notes.iter().any(|note| note.key == "Queue_Up, Queue_Down"));
}

#[test]
fn a_control_brings_the_defaults_of_its_program() {
    for control in controls() {
        for topology in [None, Some(TOPOLOGY), Some(THREE_TIERS)] {
            let imported = with_control(MATRIX, topology, false, Some(control))
                .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
            let plan = plan(&imported);
            let spec = &plan.spec;
            let flow = &spec.flows[0];
            // What is on the wire of a full packet, and of all of a flow of 2 MB.
            let packet = (flow.frame + flow.added()).get();
            let packets = flow.size.unwrap().get().div_ceil(flow.frame.get());
            let wire = flow.size.unwrap().get() + packets * flow.added().get();
            let (expected, payload) = if matches!(control, "ndp" | "hpcc") { (9064, 9000) } else { (4150, 4086) };
            assert_eq!((packet, packets), (expected, 2_000_000_u64.div_ceil(payload)), "{control}");
            // NDP and HPCC send full packets only.
            let sent = if payload == 9000 { packets * 9000 } else { 2_000_000 };
            assert_eq!(wire, sent + packets * 64, "{control}");
            assert_eq!(spec.classes.len(), if control == "hpcc" { 1 } else { 2 });
            assert_eq!(spec.classes[0].lossless, control == "hpcc");
            // Acknowledgements of HPCC wait in the queues of the data.
            assert_eq!(flow.acknowledge.unwrap().class, u8::from(control != "hpcc"));
            let note = imported.notes.iter().find(|note| note.key == "congestion control").unwrap();
            assert!(note.meaning.contains("htsim_"), "{}", note.meaning);
        }
    }
    let queue = |control, topology| {
        let imported = with_control(MATRIX, topology, false, Some(control)).unwrap_or_else(|_| panic!("{control}"));
        imported.scenario.lines().find(|line| line.contains("trim\"")).unwrap().to_owned()
    };
    assert!(queue("ndp", None).contains("frames = 13 "));
    assert!(queue("eqds", None).contains("frames = 34, victim = \"arriving\""));
    // Three tiers: 12 us, and six times 4150 B and 64 B at 100 Gb/s: 14.02 us are 43 packets.
    assert!(queue("nscc", None).contains("frames = 42, victim = \"arriving\", kmin = \"37350B\", kmax = \"145250B\""));
    // Two tiers with 1 and 2 us, switches of 50 ns: 2 x 6.1 us, and four times 4214 B.
    assert!(queue("rccc", Some(TOPOLOGY)).contains("frames = 40,"), "{}", queue("rccc", Some(TOPOLOGY)));
}

#[test]
fn options_of_a_program_replace_its_defaults() {
    let with = |control, options| {
        with_options(MATRIX, None, false, Some(control), Some(options))
            .unwrap_or_else(|errors| panic!("{}", errors.render(false)))
    };
    let has =
        |imported: &Imported, part: &str| assert!(imported.scenario.contains(part), "{part}\n{}", imported.scenario);
    let ndp = with("ndp", "-nodes 16 -cwnd 30 -q 20 -mtu 4000 -strat ecmp_host -paths 128 -end 1500 -log sink");
    // 80 kB hold 19 packets of 4064 B, of which one is on the wire.
    for part in ["first_window = 30", "frames = 18", "frame = \"4000B\"", "paths = 128", "\"flow-hash\"", "\"1.5ms\""] {
        has(&ndp, part);
    }
    let spec = plan(&ndp).spec;
    assert_eq!(spec.flows[2].size.unwrap().get(), 8000, "two full packets for 5000 B");
    let eqds =
        with("eqds", "-cwnd 20 -q 70 -linkspeed 400000 -hop_latency 0.5 -switch_latency 0.1 -tiers 2 -ecn_thresh 0.2");
    // 50 us and six times 70 packets of 4150 B at 400 Gb/s.
    for part in
        ["first_window = 20", "frames = 69", "timeout = \"84860ns\"", "rate = \"400Gb/s\"", "pipeline = \"100ns\""]
    {
        has(&eqds, part);
    }
    // 18 hosts are the smallest leaf-spine network of 2 tiers for 16: six ToRs and three spines.
    assert_eq!(eqds.counts, [18, 9, 3]);
    assert_eq!(plan(&eqds).spec.graph.cables.len(), 18 + 6 * 3);
    assert!(eqds.notes.iter().any(|note| note.key == "-ecn_thresh"));
    let hpcc = with("hpcc", "-strat ecmp_host -mtu 4500 -pfc_thresholds 20 30");
    for part in ["ai_rate = \"3Gb/s\"", "xoff = \"135000B\", xon = \"90000B\"", "frame = \"4500B\""] {
        has(&hpcc, part);
    }
    plan(&hpcc);
    let noted = |control, options, key: &str| {
        let imported = with(control, options);
        assert!(imported.notes.iter().any(|note| note.key == key), "{control} {options}");
    };
    for (control, options, key) in [
        ("hpcc", "-cwnd 3", "-cwnd"),
        ("hpcc", "-q 30", "-q"),
        ("eqds", "-paths 4", "-paths"),
        ("eqds", "-strat perm", "-strat"),
        ("ndp", "-pfc_thresholds 3 5", "-pfc_thresholds"),
        ("ndp", "-strat ecmp_ar", "-strat"),
    ] {
        noted(control, options, key);
    }
    let wrong = |control, options: &str| {
        let errors = with_options(MATRIX, None, false, Some(control), Some(options)).expect_err("a mistake");
        let first = errors.complaints().next().expect("a complaint");
        assert!(first.file == "--options" && !first.help.is_empty(), "{first:?}");
        first.message
    };
    for (options, part) in [
        ("-cwnd", "-cwnd needs a whole number"),
        ("-cwnd many", "-cwnd needs a whole number"),
        ("-nodes 128", "-nodes is 128, but the connection matrix has 16"),
        ("-mtu 64", "packets of 64 B and less"),
        ("-linkspeed 0", "links without speed"),
        ("-hop_latency -1", "-hop_latency needs a time"),
        ("-tiers 4", "4 tiers"),
        ("-pfc_thresholds 15 12", "thresholds 15 and 12"),
        ("-strat", "-strat without a value"),
        ("-window 3", "not an option of htsim"),
    ] {
        assert!(wrong("ndp", options).contains(part), "{options}: {}", wrong("ndp", options));
    }
    assert!(wrong("hpcc", "-strat perm").contains("does not run with this strategy"));
}

#[test]
fn mistakes_are_reported_with_file_line_and_remedy() {
    let wrong = |matrix: &str, topology: Option<&str>| {
        let errors = converted(matrix, topology, false).expect_err("a mistake");
        let first = errors.complaints().next().expect("a complaint");
        assert!(!first.help.is_empty(), "{first:?}");
        (first.file, first.line, first.message)
    };
    let is = |found: (String, usize, String), file: &str, line: usize, part: &str| {
        assert!(found.0 == file && found.1 == line && found.2.contains(part), "{found:?}");
    };
    let matrix = |from: &str, to: &str| wrong(&MATRIX.replacen(from, to, 1), None);
    is(matrix("Nodes 16", "Nodes many"), "a.cm", 1, "needs a number");
    is(matrix("Nodes 16\n", ""), "a.cm", 6, "the number of nodes");
    is(matrix("Connections 3", "Connections 4"), "a.cm", 2, "but the file has 3");
    is(matrix("0->13", "0->16"), "a.cm", 4, "beyond the 16");
    is(matrix("0->13", "0->0"), "a.cm", 4, "is its source");
    is(matrix("0->13", "0->x"), "a.cm", 4, "not a valid connection");
    is(matrix("start 0", "begin 0"), "a.cm", 4, "not a key");
    is(matrix("start 0", "start soon"), "a.cm", 4, "not a valid start");
    is(matrix("start 0 ", ""), "a.cm", 4, "without a start");
    is(matrix("size 2000000", "size big"), "a.cm", 4, "without a size");
    is(matrix("size 2000000", "size 0"), "a.cm", 4, "of size 0");
    is(matrix("trigger id 1", "hello id 1"), "a.cm", 7, "not a valid line");
    is(matrix("trigger id 1 oneshot", "trigger id 1 twice"), "a.cm", 7, "not a key of a trigger");
    is(matrix("trigger id 1 oneshot", "trigger oneshot"), "a.cm", 7, "without an id");
    let topology = |from: &str, to: &str| wrong(MATRIX, Some(&TOPOLOGY.replacen(from, to, 1)));
    is(topology("Podsize 32\n", ""), "a.topo", 16, "no Podsize");
    is(topology("Tiers 2", "Tiers 1"), "a.topo", 17, "1 tiers");
    is(topology("Podsize 32", "Podsize 5"), "a.topo", 6, "pods of 5");
    is(topology("Radix_Down 8\n", ""), "a.topo", 6, "no radix_down");
    is(topology("Radix_Down 4", "Radix_Down 5"), "a.topo", 6, "links of ToRs");
    is(topology("Nodes 32", "Nodes 8").clone(), "a.topo", 6, "pods of 32");
    is(topology("Oversubscribed 4", "Oversubscribed 262144"), "a.topo", 12, "below 262144");
    // The fastest links and the greatest oversubscription exceed 64 bits.
    let fast = TOPOLOGY.replace("Gbps 100", "Gbps 1000000").replace("Oversubscribed 4", "Oversubscribed 262143");
    is(wrong(MATRIX, Some(&fast)), "a.topo", 6, "links of ToRs");
}
