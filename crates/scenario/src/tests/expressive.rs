//! Tests that a scenario can express everything that a network description can.

use super::super::*;
use fabric::graph::{HostId, Role};
use fabric::spec::{
    Arbitration, Buffer, BypassReading, CreditReturn, CreditUnit, Egress, FlowControl, Forwarding, Multipath, Queueing,
    Share, VlArbitration, VlEntry, Within,
};
use fabric::workload::{Activity, Destination, Gaps, Overflow, Pattern};
use units::{Bytes, Rate, Span, Time};

fn plan(text: &str) -> Plan {
    load_str("a.toml", text, &[], &NoFiles, Limits::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

const NODES: &str = r#"schema_version = 1
[network]
link = { rate = "10Gb/s", latency = "1us" }
overhead = "8B"
smallest_frame = "32B"
multipath = "spray"
[[network.nodes]]
names = ["h{0..3}"]
role = "host"
[[network.nodes]]
names = ["left", "right"]
role = "switch"
layer = 2
[[network.links]]
between = ["h{0..1}", "left"]
[[network.links]]
between = ["h{2..3}", "right"]
rate = "25Gb/s"
[[network.links]]
between = ["left", "right"]
count = 2
latency = "3us"
bit_error_rate = 1e-12
[[network.cables]]
between = ["left", "right"]
which = 1
rate = "1Gb/s"
[[network.routes]]
at = "left"
to = "h2"
ports = [2]
[[network.reroutes]]
at = "50us"
avoid = [["left", "right"]]
[[network.reroutes.routes]]
at = "right"
to = "h0"
via = "left"
[[classes]]
name = "lossy"
lossless = false
[[classes]]
name = "kept"
[[classes]]
name = "acks"
"#;

const REST: &str = r#"
[[faults]]
between = ["left", "right"]
which = 0
down = "10us"
up = "20us"
[run]
duration = "100us"
"#;

#[test]
fn a_network_written_out() {
    let switch = "[[switches]]\nbuffers = { capacity = \"100KB\" }\n";
    let plan = plan(&format!("{NODES}{switch}{REST}"));
    let graph = &plan.spec.graph;
    assert_eq!(graph.nodes.iter().filter(|node| node.role == Role::Host).count(), 4);
    assert_eq!((graph.nodes[4].name.as_str(), graph.nodes[4].layer), ("left", 2));
    assert_eq!(graph.cables.len(), 6);
    assert_eq!(graph.cables[2].link.rate, Rate::from_gigabits(25));
    assert_eq!(graph.cables[4].link.latency, Span::from_micros(3));
    assert_eq!(graph.cables[5].link.rate, Rate::from_gigabits(1));
    assert_eq!(graph.cables[5].link.bit_error_rate, 1e-12);
    assert_eq!((plan.spec.overhead, plan.spec.smallest_frame), (Bytes::new(8), Bytes::new(32)));
    assert_eq!(plan.spec.multipath, Multipath::Spray);
    let left = graph.find("left").unwrap();
    assert_eq!(plan.spec.routes.ports(left, HostId(2)), [2]);
    assert_eq!(plan.spec.routes.ports(left, HostId(3)), [2, 3]);
    let change = &plan.spec.route_changes[0];
    assert_eq!(change.at, Time::ZERO + Span::from_micros(50));
    assert!(change.routes.ports(left, HostId(2)).is_empty());
    assert_eq!(change.routes.ports(graph.find("right").unwrap(), HostId(0)), [2, 3]);
    assert_eq!(plan.spec.faults.len(), 1);
    assert_eq!((plan.spec.faults[0].cable, plan.spec.faults[0].up), (4, Some(Time::ZERO + Span::from_micros(20))));
    assert!(!plan.spec.classes[0].lossless && plan.spec.classes[1].lossless);
}

#[test]
fn every_choice_of_a_switch() {
    let switches = r#"
[[switches]]
match = "left"
queueing = "input-fifo"
bypass = 3
bypass_reading = "per-packet"
arbitration = "arrival-order"
read_ports = 0
forwarding = "cut-through"
header_delay = "100ns"
pipeline = "200ns"
pause = { quanta = 1000, refresh_before = 10, response = "50ns" }
buffers = [{ capacity = "100KB" }, { classes = "kept", capacity = "90KB", xoff = "50KB", xon = "40KB" }]
egress = [{ classes = "acks", share = "strict" }, { classes = "lossy", quantum = "3KB" }, { classes = "kept", within = "priority" }]
[[switches]]
match = "right"
queueing = "combined"
output_buffer = "10KB"
speedup = "3/2"
flow_control = "credits"
credits = { unit = "frame", give_back = "signal", delay = "5ns" }
buffers = { frames = 4, capacity = "50KB" }
[[adapters]]
service = "5Gb/s"
service_changes = [{ at = "1us", rate = "0b/s" }, { at = "2us" }]
flow_control = "pfc"
buffers = { capacity = "80KB" }
egress = [{ classes = ["acks", "kept"], quantum = "9KB" }, { classes = "lossy" }]
"#;
    let plan = plan(&format!("{NODES}{switches}{REST}"));
    let left = &plan.spec.switches[0];
    assert_eq!(left.queueing, Queueing::InputFifo { bypass: 3, reading: BypassReading::PerPacket });
    let crossbar = left.crossbar.unwrap();
    assert_eq!((crossbar.arbitration, crossbar.read_ports), (Arbitration::ArrivalOrder, 0));
    assert_eq!(left.forwarding, Forwarding::CutThrough { header_delay: Span::from_nanos(100) });
    assert_eq!(left.pipeline, Span::from_nanos(200));
    let FlowControl::Pfc(pause) = left.flow_control else { panic!("PFC") };
    assert_eq!((pause.quanta, pause.refresh_before, pause.response), (1000, 10, Span::from_nanos(50)));
    let Buffer::Static(buffers) = &left.buffer else { panic!("static") };
    assert_eq!(
        (buffers[1].capacity, buffers[1].xoff, buffers[1].xon),
        (Bytes::new(90_000), Bytes::new(50_000), Bytes::new(40_000))
    );
    let Egress::Groups(groups) = &left.egress else { panic!("groups") };
    assert_eq!((groups[0].classes, groups[0].share), (4, Share::Strict));
    assert_eq!((groups[1].classes, groups[1].share), (1, Share::Weighted { quantum: Bytes::new(3000) }));
    assert_eq!((groups[1].within, groups[2].within), (Within::Turns, Within::Priority));
    let right = &plan.spec.switches[1];
    assert_eq!(right.queueing, Queueing::Combined { output_buffer: Bytes::new(10_000) });
    assert_eq!(right.crossbar.unwrap().speedup, (3, 2));
    let FlowControl::Credits(credits) = right.flow_control else { panic!("credits") };
    assert_eq!(
        (credits.unit, credits.give_back),
        (CreditUnit::Frame, CreditReturn::Signal { delay: Span::from_nanos(5) })
    );
    let Buffer::Static(buffers) = &right.buffer else { panic!("static") };
    // Slots for classes with credits, bytes for lossy ones.
    assert_eq!((buffers[0].capacity, buffers[1].capacity), (Bytes::new(50_000), Bytes::new(4)));
    let adapter = &plan.spec.adapters[0];
    assert_eq!(adapter.service, Some(Rate::from_gigabits(5)));
    assert_eq!(
        adapter.service_changes,
        [(Time::ZERO + Span::from_micros(1), Some(Rate::ZERO)), (Time::ZERO + Span::from_micros(2), None),]
    );
}

#[test]
fn virtual_lanes_by_table() {
    let entry = |class, weight| VlEntry { class, weight };
    let devices = r#"
[[switches]]
buffers = { capacity = "100KB" }
vl_arbitration = { high = [{ class = "acks", weight = 4 }], low = [{ class = "lossy", weight = 255 }, { class = "kept", weight = 0 }, { class = "kept", weight = 16 }], high_limit = 255 }
[[adapters]]
vl_arbitration = { low = [{ class = "lossy", weight = 1 }, { class = "acks", weight = 2 }, { class = "kept", weight = 3 }] }
"#;
    let plan = plan(&format!("{NODES}{devices}{REST}"));
    let low = vec![entry(0, 255), entry(1, 0), entry(1, 16)];
    let expected = VlArbitration { high: vec![entry(2, 4)], low, high_limit: 255 };
    assert_eq!(plan.spec.switches[0].egress, Egress::Tables(expected));
    let low = vec![entry(0, 1), entry(2, 2), entry(1, 3)];
    assert_eq!(plan.spec.adapters[0].egress, Egress::Tables(VlArbitration { high: vec![], low, high_limit: 0 }));
    let starving: Vec<_> = check(&plan).into_iter().filter(|finding| finding.message.contains("may starve")).collect();
    assert_eq!(starving.len(), 1, "{starving:?}");
    assert_eq!(starving[0].subject, "switches[0].vl_arbitration");
    assert!(starving[0].message.starts_with("lossy, kept may starve"), "{starving:?}");
}

#[test]
fn a_shared_memory_and_credit_frames() {
    let switches = r#"
[[switches]]
buffer = "shared"
shared_size = "1MB"
alpha = "1/4"
buffers = { capacity = "3KB", xon = "2KB", headroom = "40KB" }
[[adapters]]
flow_control = "credits"
credits = { block = "128B", size = "10B", refresh = "2us" }
buffers = { capacity = "80KB" }
"#;
    let plan = plan(&format!("{NODES}{switches}{REST}"));
    let Buffer::Shared { total, alpha, classes } = &plan.spec.switches[0].buffer else { panic!("shared") };
    assert_eq!((*total, *alpha), (Bytes::new(1_000_000), (1, 4)));
    assert_eq!(
        (classes[1].capacity, classes[1].xon, classes[1].headroom),
        (Bytes::new(3000), Bytes::new(2000), Bytes::new(40_000))
    );
    let FlowControl::Credits(credits) = plan.spec.adapters[0].flow_control else { panic!("credits") };
    assert_eq!(credits.unit, CreditUnit::Block(Bytes::new(128)));
    assert_eq!(credits.give_back, CreditReturn::Frame { size: Bytes::new(10), refresh: Some(Span::from_micros(2)) });
}

#[test]
fn every_choice_of_a_flow() {
    let rest = r#"
[[switches]]
buffers = { capacity = "100KB" }
[protocol]
rate = "1Gb/s"
[[workloads]]
name = "bursts"
kind = "on-off"
from = "h0"
to = "h3"
class = "kept"
start = "1us"
stop = "90us"
size = "1MB"
frame = "500B"
rate = "2Gb/s"
gaps = "jittered"
jitter = 0.5
backlog = 7
overflow = "stall"
on = "5us"
off = "6us"
lengths = "exponential"
discard_when_off = true
acknowledge = { size = "70B", class = "acks", every = 2 }
protocol = { window = "9KB" }
[[workloads]]
kind = "uniform-random"
to = ["h0", "h1"]
[[workloads]]
kind = "flows"
flows = [{ name = "a", from = "h0", to = "h1", size = "5KB" }, { from = "h0", to = "h1", rate = "1Gb/s", class = "acks" }]
[[expectations]]
metric = "throughput"
of = ["bursts", "flows"]
statistic = "least"
value = "1Gb/s"
tolerance = 0.1
source = "a guess"
[[expectations]]
metric = "queue"
of = "left"
op = "<="
value = "9KB"
"#;
    let plan = plan(&format!("{NODES}{rest}{REST}"));
    let flow = &plan.spec.flows[0];
    assert_eq!((flow.source, &flow.destination), (HostId(0), &Destination::Host(HostId(3))));
    assert_eq!((flow.class, flow.size, flow.frame), (1, Some(Bytes::new(1_000_000)), Bytes::new(500)));
    let Pattern::Paced { rate, gaps, backlog: Some(backlog) } = flow.pattern else { panic!("paced") };
    assert_eq!((rate, gaps), (Rate::from_gigabits(2), Gaps::Jittered(0.5)));
    assert_eq!((backlog.frames, backlog.overflow), (7, Overflow::Stall));
    let (on, off) = (Span::from_micros(5), Span::from_micros(6));
    assert_eq!(flow.activity, Activity::OnOff { on, off, random: true, discard: true });
    let acknowledge = flow.acknowledge.unwrap();
    assert_eq!((acknowledge.size, acknowledge.class, acknowledge.every), (Bytes::new(70), 2, 2));
    use congestion::ReactionPoint;
    assert_eq!(flow.reaction.allowance().window, Some(Bytes::new(9000)));
    assert_eq!(plan.spec.flows[1].reaction.allowance().rate, Some(Rate::from_gigabits(1)));
    assert_eq!(plan.spec.flows[1].destination, Destination::Uniform);
    assert_eq!(plan.spec.flows[1].hosts(), [HostId(1)]);
    let names: Vec<_> = plan.flow_names.iter().collect();
    assert_eq!(names[1], "uniform-random/h0");
    assert_eq!(names[names.len() - 2..], ["a", "flows/h0-h1"]);
    assert_eq!(plan.spec.flows.last().unwrap().class, 2);
    assert_eq!(plan.workload_names, ["bursts", "uniform-random", "flows"]);
    let first = &plan.expectations[0];
    assert_eq!((first.subjects.flows.len(), first.statistic, first.tolerance), (3, Statistic::Least, 0.1));
    assert_eq!(first.expected, Some(Expected::Rate(Rate::from_gigabits(1))));
    assert_eq!((plan.expectations[1].subjects.nodes.len(), plan.expectations[1].comparison), (1, Comparison::AtMost));
}

#[test]
fn sources_that_learn_their_rate_have_a_fair_share_all_the_same() {
    for law in ["lipd", "fimd", "aimd"] {
        let overrides = [format!("protocol.name={law}")];
        let plan = load(&super::folder().join("infiniband-marking.toml"), &overrides).expect("a scenario");
        let shares = crate::fair_shares(&plan).expect("few flows");
        let victim = plan.flow_names.iter().position(|name| name == "victim").expect("a victim");
        // Ten remote flows have a twentieth of the root link each, and the victim what is left of the trunk.
        assert!((shares[victim].throughput - 4e9).abs() < 1e6, "{law}: {}", shares[victim].throughput);
        assert!((shares[0].throughput - 4e8).abs() < 1e5, "{law}: {}", shares[0].throughput);
    }
}

#[test]
fn a_stated_rate_limit_bounds_a_fair_share() {
    let limits = [
        "protocol = { name = \"none\", rate = \"3Gb/s\" }",
        "protocol = { name = \"qcn\", max_rate = \"3Gb/s\" }",
        "protocol = { name = \"bcn\", max_rate = \"3Gb/s\" }",
        "protocol = { name = \"lipd\", max_rate = \"3Gb/s\" }\nacknowledge = {}",
    ];
    for limit in limits {
        let text = format!(
            "schema_version = 1\n[network]\ntopology = \"single-switch\"\nhosts = 3\noverhead = \"0B\"\n\
             link = {{ rate = \"10Gb/s\", latency = \"1us\" }}\n[[switches]]\nflow_control = \"pfc\"\n\
             buffers = {{ capacity = \"1MB\" }}\n[run]\nduration = \"1ms\"\n\
             [[workloads]]\nkind = \"greedy\"\nfrom = \"h0\"\nto = \"h1\"\n\
             [[workloads]]\nkind = \"greedy\"\nfrom = \"h0\"\nto = \"h2\"\n{limit}\n"
        );
        let plan = plan(&text);
        let steady = crate::fair_shares(&plan).expect("few flows");
        let phases = crate::fair_phases(&plan).expect("few phases");
        for shares in [&steady, &phases[0].shares] {
            let throughputs: Vec<f64> = shares.iter().map(|share| share.throughput).collect();
            assert_eq!(throughputs, [7e9, 3e9], "{limit}");
        }
    }
}

#[test]
fn a_chart_of_buffers_is_about_the_far_end_of_its_links() {
    use crate::ChartKind;
    let chart = |picture: &str| {
        let text = format!(
            "schema_version = 1\n[network]\ntopology = \"single-switch\"\nhosts = 2\n\
             link = {{ rate = \"10Gb/s\", latency = \"1us\" }}\n[[switches]]\nbuffers = {{ capacity = \"100KB\" }}\n\
             [run]\nduration = \"1us\"\n[[charts]]\ntitle = \"t\"\nkind = \"time\"\npicture = \"{picture}\"\n\
             links = {{ in = \"h1->sw0\" }}\n"
        );
        match plan(&text).figure.charts.remove(0).kind {
            ChartKind::Time { links, .. } => links[0].members.clone(),
            ChartKind::Grid { .. } => panic!("over time"),
        }
    };
    let graph = plan("schema_version = 1\n[network]\ntopology = \"single-switch\"\nhosts = 2\nlink = { rate = \"10Gb/s\", latency = \"1us\" }\n[[switches]]\nbuffers = { capacity = \"100KB\" }\n[run]\nduration = \"1us\"\n").spec.graph;
    let rows = fabric::record::port_rows(&graph);
    let port = |node: &str, peer: &str| {
        rows.iter().position(|row| row.node == node && row.peer == peer).expect("a port") as u32
    };
    assert_eq!(chart("queues"), [port("h1", "sw0")]);
    assert_eq!(chart("buffers"), [port("sw0", "h1")]);
}

#[test]
fn every_topology_and_protocol_of_the_catalogues_has_a_scenario() {
    for topology in fabric::topology::TOPOLOGIES {
        let name = topology.name.replace('_', "-");
        let text = format!(
            "schema_version = 1\n[network]\ntopology = \"{name}\"\nlink = {{ rate = \"10Gb/s\", latency = \"1us\" }}\n\
             [[switches]]\nbuffers = {{ capacity = \"100KB\" }}\n[run]\nduration = \"1us\"\n"
        );
        assert!(!plan(&text).spec.graph.nodes.is_empty(), "{name}");
    }
    for protocol in congestion::PROTOCOLS {
        let mut overrides = vec![format!("protocol.name={}", protocol.name)];
        overrides.extend(protocol.acknowledged.then(|| "workloads[0].acknowledge={}".to_owned()));
        load(&super::folder().join("incast.toml"), &overrides).unwrap_or_else(|errors| panic!("{errors}"));
    }
    for point in congestion::POINTS {
        let mut overrides = vec![format!("congestion_point.name={}", point.name)];
        // Points that drop or trim frames need a lossy class and output queues; the headers need a class of their own.
        match point.name {
            "red" | "trim" => overrides.extend([
                "classes=[{ name = \"bulk\", lossless = false }, { name = \"data\" }]".to_owned(),
                "switches[0].queueing=output".into(),
            ]),
            _ => overrides.push("switches[0].queueing=virtual-output".into()),
        }
        load(&super::folder().join("incast.toml"), &overrides).unwrap_or_else(|errors| panic!("{errors}"));
    }
}

#[test]
fn presets_are_defaults_that_keys_which_are_given_replace() {
    let load = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        load(&super::folder().join("bake-off.toml"), &overrides)
    };
    let of = |overrides: &[&str], path: &str| {
        let plan = load(overrides).unwrap_or_else(|errors| panic!("{errors}"));
        let entry = plan.entries.iter().find(|entry| entry.path == path).unwrap();
        (entry.value.clone(), format!("{:?}", entry.source))
    };
    let (path, second) = ("congestion_point.sample_base", "congestion_point.preset=run-2");
    assert_eq!(of(&[], path).0, "\"150KB\"");
    let (value, source) = of(&[second], path);
    assert!(value == "\"75KB\"" && source.contains("preset run-2: samplingInterval 75000"), "{value} {source}");
    let (value, source) = of(&[second, "congestion_point.sample_base=9KB"], path);
    assert!(value == "\"9KB\"" && !source.contains("preset"), "{value} {source}");
    // The same preset means other numbers to other protocols.
    let of_qcn = ["protocol.name=qcn-pr", "protocol.preset=run-2"];
    assert_eq!(of(&of_qcn, "protocol.byte_reset").0, "\"50KB\"");
    // Where there are none, it is refused, and so is one that is not there.
    let wrong = |overrides: &[&str]| load(overrides).map(drop).unwrap_err().to_string();
    assert!(wrong(&["protocol.name=qcn"]).contains("`preset` has no effect with name = \"qcn\""));
    let unknown = wrong(&["protocol.preset=run-3"]);
    assert!(unknown.contains("run-3") && unknown.contains("run-1"), "{unknown}");
}

#[test]
fn ports_of_a_switch_differ() {
    let switches = r#"
[[switches]]
buffer = "shared"
shared_size = "1MB"
alpha = "1/4"
buffers = [
    { capacity = "3KB", xon = "2KB", headroom = "40KB" },
    { classes = "kept", alpha = "1/8", limit = "200KB", xon = "2KB", headroom = "50KB" },
]
[[switches.ports]]
neighbours = "h*"
without_pfc = "kept"
[[switches.ports]]
neighbours = "h1"
buffers = { classes = "kept", headroom = "70KB", xon = "1KB" }
"#;
    let plan = plan(&format!("{NODES}{switches}{REST}"));
    let Buffer::Shared { classes, .. } = &plan.spec.switches[0].buffer else { panic!("shared") };
    let kept = plan.spec.classes.iter().position(|class| class.name == "kept").expect("a class");
    assert_eq!((classes[kept].alpha, classes[kept].limit), (Some((1, 8)), Bytes::new(200_000)));
    assert_eq!((classes[1 - kept].alpha, classes[kept].headroom), (None, Bytes::new(50_000)));
    let ports = plan.spec.graph.ports();
    let peer = |port: &fabric::spec::PortSpec| {
        let end = ports[port.node.0 as usize][usize::from(port.port)];
        plan.spec.graph.nodes[end.peer.0 as usize].name.as_str()
    };
    assert!(plan.spec.ports.iter().all(|port| port.pfc == !(1 << kept)));
    let own: Vec<_> = plan.spec.ports.iter().filter_map(|port| Some((peer(port), port.buffers.as_ref()?))).collect();
    let [("h1", buffers)] = own.as_slice() else { panic!("{own:?}") };
    assert_eq!((buffers[kept].headroom, buffers[kept].alpha), (Bytes::new(70_000), None));
    assert_eq!(buffers[1 - kept], classes[1 - kept]);
}
