//! Small files of the simulator, converted and loaded.

use super::*;
use crate::{FileReader, Limits, Plan, load_str};
use fabric::workload::Destination;
use std::path::Path;
use units::{Rate, Time};

const TOPOLOGY: &str = "\
6 2 5
4 5
0 4 25Gbps 1us 0
1 4 25000000000.0 0.001ms 0
4 5 100Gbps 1us 0
2 5 25Gbps 1us 0
3 5 25Gbps 1us 0
First line: total node #, switch node #, link #
";
const FLOWS: &str = "\
3
0 2 3 100 1500 2
1 2 3 100 2000000 2.000001
3 2 3 100 1 2.5
src0 dst0 3 dst_port0 size0 start_time0
";
const CONFIG: &str = "\
ENABLE_QCN 1
PACKET_PAYLOAD_SIZE 1000 {packet size}
SIMULATOR_STOP_TIME 4.00
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 5Mb/s
RATE_HAI 50Mb/s
MIN_RATE 100Mb/s
DCTCP_RATE_AI 1000Mb/s
L2_ACK_INTERVAL 1
HAS_WIN 0
GLOBAL_T 1
VAR_WIN 0
FAST_REACT 1
U_TARGET 0.95
MI_THRESH 0
INT_MULTI 1
MULTI_RATE 0
LINK_DOWN 0 0 0
KMAX_MAP 2 25000000000 400 100000000000 1600
KMIN_MAP 2 25000000000 100 100000000000 400
PMAX_MAP 2 25000000000 0.2 100000000000 0.25
BUFFER_SIZE 16
QLEN_MON_FILE mix/qlen.txt
";

struct Beside(String);

impl FileReader for Beside {
    fn read(&self, path: &Path) -> Result<String, String> {
        assert_eq!(path, Path::new("there/small.flows.csv"));
        Ok(self.0.clone())
    }
}

fn converted(topology: &str, flows: &str, config: Option<&str>, control: Option<&str>) -> Result<Imported, Errors> {
    let options = Options { name: "small", flows_file: "small.flows.csv", control };
    let [topology, flows] =
        [("topology.txt", topology), ("flow.txt", flows)].map(|(name, text)| NamedText { name, text });
    import(topology, flows, config.map(|text| NamedText { name: "config.txt", text }), &options)
}

fn plan(imported: &Imported) -> Plan {
    let reader = Beside(imported.flows.clone());
    let plan = load_str("there/small.toml", &imported.scenario, &[], &reader, Limits::default());
    plan.unwrap_or_else(|errors| panic!("{}\n{}", imported.scenario, errors.render(false)))
}

fn value<'a>(plan: &'a Plan, path: &str) -> &'a str {
    let entry = plan.entries.iter().find(|entry| entry.path == path);
    entry.map_or_else(|| panic!("no {path}"), |entry| entry.value.as_str())
}

#[test]
fn a_network_with_its_flows_is_that_of_the_files() {
    let imported =
        converted(TOPOLOGY, FLOWS, Some(CONFIG), None).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    assert_eq!(imported.counts, [4, 2, 3]);
    let plan = plan(&imported);
    let graph = &plan.spec.graph;
    assert_eq!((graph.nodes.len(), graph.cables.len()), (6, 5));
    let trunk = graph.cables.iter().find(|cable| cable.link.rate == Rate::from_gigabits(100)).expect("a trunk");
    assert_eq!(trunk.link.latency, Span::from_micros(1));
    let flows = &plan.spec.flows;
    assert_eq!(flows.iter().map(|flow| flow.size.unwrap().get()).collect::<Vec<_>>(), [1500, 2_000_000, 1]);
    // Times count from the start of the first flow.
    let starts = [0, 1, 500_000].map(|micros| Time::ZERO + Span::from_micros(micros));
    assert_eq!(flows.iter().map(|flow| flow.start).collect::<Vec<_>>(), starts);
    assert_eq!(plan.run.duration, Span::from_secs(2));
    assert!(flows.iter().all(|flow| matches!(flow.destination, Destination::Host(host) if host.0 == 2)));
    assert_eq!((flows[0].frame.get(), flows[0].headers.get()), (1000, 48));
    assert_eq!(flows[0].acknowledge.map(|how| how.size.get()), Some(60));
    assert_eq!((plan.spec.overhead.get(), plan.spec.smallest_frame.get()), (0, 1));
    assert_eq!(value(&plan, "protocol.time_reset"), "\"300us\"");
    assert_eq!(value(&plan, "protocol.threshold"), "1");
    assert_eq!(value(&plan, "congestion_point.by_rate"), "\"25Gb/s 100KB 400KB 0.2, 100Gb/s 400KB 1.6MB 0.25\"");
    // 16 MiB, less 4 KiB and three times a microsecond of each port.
    let pool = (16 << 20) - 3 * 4096 - 3 * (2 * 3125 + 12_500);
    assert_eq!(value(&plan, "switches[0].shared_size"), format!("\"{}\"", units::Bytes::new(pool)));
}

#[test]
fn each_control_has_its_parameters_and_its_headers() {
    let with = |mode: &str, control: Option<&str>| {
        let config = CONFIG.replace("CC_MODE 1", &format!("CC_MODE {mode}")).replace("HAS_WIN 0", "HAS_WIN 1");
        let config = config.replace("VAR_WIN 0", "VAR_WIN 1");
        plan(
            &converted(TOPOLOGY, FLOWS, Some(&config), control)
                .unwrap_or_else(|errors| panic!("{}", errors.render(false))),
        )
    };
    for (mode, control, name, added, acknowledgement) in [
        ("1", None, "dcqcn", 48, 60),
        ("3", None, "hpcc", 90, 88),
        ("7", None, "timely", 56, 60),
        ("8", None, "dctcp", 48, 60),
        ("3", Some("powertcp"), "powertcp", 90, 88),
        ("3", Some("theta-powertcp"), "theta-powertcp", 90, 88),
    ] {
        let plan = with(mode, control);
        assert_eq!(value(&plan, "protocol.name"), format!("\"{name}\""));
        let flow = &plan.spec.flows[0];
        let telemetry = flow.telemetry.map_or(0, |telemetry| telemetry.size.get());
        assert_eq!(flow.added().get(), added, "{name}");
        assert_eq!(flow.acknowledge.map(|how| how.size.get() + telemetry), Some(acknowledgement), "{name}");
        assert_eq!(value(&plan, "protocol.window"), "\"variable\"");
        // Three links of 1 us there and back, and 1000 B at 25, 100 and 25 Gb/s.
        assert_eq!(value(&plan, "protocol.base_rtt"), "\"6720ns\"", "{name}");
    }
}

#[test]
fn the_fork_counts_tors_and_has_its_own_buffers() {
    let imported = converted(&TOPOLOGY.replacen("6 2 5", "6 2 2 5", 1), FLOWS, Some(CONFIG), None).expect("a scenario");
    let plan = plan(&imported);
    assert_eq!(plan.spec.graph.cables.len(), 5);
    assert_eq!(value(&plan, "switches[0].buffers[0].xon"), "\"2496B\"");
    assert_eq!(value(&plan, "congestion_point.at"), "\"enqueue\"");
    assert_eq!(plan.spec.frame_time, units::FrameTime::NearestNanosecond);
    assert!(plan.spec.ports.is_empty());
    let pool = (16 << 20) - 8 * 3 * (2 * 3125 + 12_500);
    assert_eq!(value(&plan, "switches[0].shared_size"), format!("\"{}\"", units::Bytes::new(pool)));
}

#[test]
fn a_faster_port_may_use_more_of_the_buffer() {
    let imported = converted(TOPOLOGY, FLOWS, Some(CONFIG), None).expect("a scenario");
    let plan = plan(&imported);
    // Four times as fast as adapters of 25 Gb/s: half of the free buffer instead of an eighth.
    assert_eq!(value(&plan, "switches[0].alpha"), "\"1/8\"");
    assert!(imported.scenario.contains("neighbours = \"s{4..5}\""));
    assert_eq!(value(&plan, "switches[0].ports[0].buffers[0].alpha"), "\"1/2\"");
    // The first host counts. Where all ports are alike, they are as their switch.
    let fast = TOPOLOGY.replace("25Gbps", "100Gbps").replace("25000000000.0", "100Gbps");
    let plan = super::tests::plan(&converted(&fast, FLOWS, Some(CONFIG), None).expect("a scenario"));
    assert_eq!(value(&plan, "switches[0].alpha"), "\"1/8\"");
    assert!(plan.spec.ports.is_empty());
    let slow = fast.replacen("0 4 100Gbps", "0 4 25Gbps", 1);
    let imported = converted(&slow, FLOWS, Some(CONFIG), None).expect("a scenario");
    assert!(imported.scenario.contains("neighbours = [\"h1\", \"s5\"]"), "{}", imported.scenario);
    // All ports of the other switch are as fast.
    let plan = super::tests::plan(&imported);
    assert_eq!(value(&plan, "switches[1].alpha"), "\"1/2\"");
}

#[test]
fn all_adapters_have_the_window_of_the_fastest_pair() {
    let with = |topology: &str| {
        let config = CONFIG.replace("HAS_WIN 0", "HAS_WIN 1").replace("CC_MODE 1", "CC_MODE 3");
        converted(topology, FLOWS, Some(&config), None).expect("a scenario")
    };
    assert!(!with(TOPOLOGY).scenario.contains("base_window"));
    // Hosts 1 and 2 at 100 Gb/s: 6 us and 1000 B on three links of 100 Gb/s, 6.24 us, are 78 kB.
    let mixed = TOPOLOGY.replace("1 4 25000000000.0", "1 4 100Gbps").replace("2 5 25Gbps", "2 5 100Gbps");
    let plan = plan(&with(&mixed));
    assert_eq!(value(&plan, "protocol.base_window"), "\"78KB\"");
    assert_eq!(value(&plan, "protocol.base_rtt"), "\"6720ns\"");
}

#[test]
fn flows_and_their_acknowledgements_take_the_paths_of_the_simulator() {
    let mut topology = String::from("9 5 10\n4 5 6 7 8\n");
    let links = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (4, 7), (4, 8), (5, 6), (5, 7), (5, 8)];
    for (a, b) in links {
        let _ = writeln!(topology, "{a} {b} 25Gbps 1us 0");
    }
    let flows = "5\n0 2 3 100 1000 2\n1 3 3 100 1000 2\n0 2 3 100 1000 2\n2 1 3 7 1000 2\n0 1 3 100 1000 2\n";
    let imported = converted(&topology, flows, Some(CONFIG), None).expect("a scenario");
    let spec = plan(&imported).spec;
    assert!(matches!(spec.multipath, fabric::spec::Multipath::Numbered));
    // By a program of its own, in another language: the output of the first leaf, and three times that of the second.
    assert_eq!(spec.path_numbers, [0, 3, 8, 2, 0].map(Some));
    assert_eq!(spec.frame_time, units::FrameTime::NanosecondsDown);
    // Parallel links, of which the simulator uses one: no numbers.
    let parallel = topology.replacen("9 5 10", "9 5 11", 1) + "4 6 25Gbps 1us 0\n";
    let imported = converted(&parallel, flows, Some(CONFIG), None).expect("a scenario");
    assert!(plan(&imported).spec.path_numbers.is_empty() && !imported.flows.contains("path"));
}

#[test]
fn what_has_no_counterpart_is_reported() {
    let config = format!("{CONFIG}RATE_BOUND 0\nMY_KEY 7\nL2_BACK_TO_ZERO 1\nPAUSE_TIME 5\n");
    let imported = converted(TOPOLOGY, FLOWS, Some(&config), None).expect("a scenario");
    let keys: Vec<&str> = imported.notes.iter().map(|note| note.key.as_str()).collect();
    for key in ["RATE_BOUND", "MY_KEY", "L2_BACK_TO_ZERO", "PAUSE_TIME", "QLEN_MON_FILE", "DCTCP_RATE_AI", "start"] {
        assert!(keys.contains(&key), "{key}: {keys:?}");
    }
    assert!(imported.notes.iter().all(|note| !note.meaning.is_empty()));
    // A comment behind a value is none.
    assert!(!keys.contains(&"PACKET_PAYLOAD_SIZE"));
    let imported = converted(TOPOLOGY, FLOWS, None, None).expect("a scenario");
    assert!(imported.notes.iter().any(|note| note.key == "--config"));
    assert_eq!(value(&plan(&imported), "protocol.name"), "\"none\"");
}

#[test]
fn mistakes_are_reported_with_file_line_and_remedy() {
    let wrong = |topology: &str, flows: &str, config: &str| {
        let errors = converted(topology, flows, Some(config), None).expect_err("a mistake");
        let first = errors.complaints().next().expect("a complaint");
        assert!(!first.help.is_empty(), "{first:?}");
        (first.file, first.line, first.message)
    };
    let topology = |from: &str, to: &str| wrong(&TOPOLOGY.replacen(from, to, 1), FLOWS, CONFIG);
    let is = |found: (String, usize, String), file: &str, line: usize, part: &str| {
        assert!(found.0 == file && found.1 == line && found.2.contains(part), "{found:?}");
    };
    is(topology("6 2 5", "6 2"), "topology.txt", 1, "has 2 numbers");
    is(topology("6 2 5", "6 x 5"), "topology.txt", 1, "not a whole number");
    is(topology("6 2 5", "6 2 6"), "topology.txt", 8, "not a whole number");
    is(topology("4 5\n", "4 9\n"), "topology.txt", 2, "is 9");
    is(topology("25Gbps", "fast"), "topology.txt", 3, "not the rate");
    is(topology("1us", "1parsec"), "topology.txt", 3, "not the delay");
    is(topology("1us 0", "1us 2"), "topology.txt", 3, "not the error rate");
    is(topology("2 5 25Gbps", "0 5 25Gbps"), "topology.txt", 6, "several links");
    let flows = |from: &str, to: &str| wrong(TOPOLOGY, &FLOWS.replacen(from, to, 1), CONFIG);
    is(flows("0 2 3", "0 4 3"), "flow.txt", 2, "is a switch");
    is(flows("0 2 3", "0 0 3"), "flow.txt", 2, "its source");
    is(flows("0 2 3", "0 17 3"), "flow.txt", 2, "is 17");
    is(flows("1500 2", "1500 soon"), "flow.txt", 2, "not the start");
    is(flows("1500 2", "0 2"), "flow.txt", 2, "0 bytes");
    is(wrong(TOPOLOGY, "4\n0 2 3 100 1500 2\n", CONFIG), "flow.txt", 2, "ends after 1 flows");
    let config = |from: &str, to: &str| wrong(TOPOLOGY, FLOWS, &CONFIG.replacen(from, to, 1));
    is(config("CC_MODE 1", "CC_MODE 10"), "config.txt", 4, "HPCC-PINT");
    is(config("CC_MODE 1", "CC_MODE 5"), "config.txt", 4, "not a congestion control");
    is(config("RATE_AI 5Mb/s\n", ""), "config.txt", 28, "needs RATE_AI");
    is(config("RATE_AI 5Mb/s", "RATE_AI quick"), "config.txt", 11, "not a value of RATE_AI");
    is(config("100000000000 1600", "40000000000 1600"), "config.txt", 25, "KMAX_MAP has no value");
    is(config("STOP_TIME 4.00", "STOP_TIME 2.1"), "config.txt", 3, "stops at");
    is(config("BUFFER_SIZE 16", "BUFFER_SIZE 0"), "config.txt", 28, "a buffer of 0");
    is(config("L2_ACK_INTERVAL 1", "L2_ACK_INTERVAL 0"), "config.txt", 15, "no flow ever completes");
    is(config("LINK_DOWN 0 0 0", "LINK_DOWN 10 0 5"), "config.txt", 24, "no link between");
}

#[test]
fn a_number_of_pairs_beyond_all_bounds_is_refused() {
    for number in ["500", "9223372036854775807", "18446744073709551615"] {
        let errors =
            converted(TOPOLOGY, FLOWS, Some(&format!("KMAX_MAP {number} 25000000000 75\n")), None).unwrap_err();
        assert!(errors.render(false).contains("has no number of pairs"), "{}", errors.render(false));
    }
}

#[test]
fn a_link_that_fails_and_frames_that_are_lost_are_part_of_the_scenario() {
    let config = CONFIG.replace("LINK_DOWN 0 0 0", "LINK_DOWN 100 4 5\nERROR_RATE_PER_LINK 0.001");
    let plan = plan(&converted(TOPOLOGY, FLOWS, Some(&config), None).expect("a scenario"));
    assert_eq!(value(&plan, "faults[0].down"), "\"100us\"");
    // A frame of 1048 B is lost with that probability.
    let rate = plan.spec.graph.cables[0].link.bit_error_rate;
    assert!((1.0 - (1.0 - rate).powi(1048 * 8) - 0.001).abs() < 1e-6, "{rate}");
}

#[test]
fn several_priority_groups_are_classes_that_take_turns() {
    let imported = converted(TOPOLOGY, &FLOWS.replacen("0 2 3", "0 2 4", 1), Some(CONFIG), None).expect("a scenario");
    let plan = plan(&imported);
    assert_eq!(plan.spec.classes.iter().map(|class| class.name.as_str()).collect::<Vec<_>>(), ["pg3", "pg4"]);
    assert_eq!(plan.spec.flows.iter().map(|flow| flow.class).collect::<Vec<_>>(), [1, 0, 0]);
}
