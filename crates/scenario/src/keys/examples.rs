//! A short example for each section of the reference page. The test loads every one of them, so that none can go stale.

/// Examples of the sections of a scenario, by path. Each is a part of a scenario, unless it states `schema_version`.
pub(crate) const SCENARIO: &[(&str, &str)] = &[
    (
        "",
        r#"schema_version = 1
name = "two senders"
description = "Two flows share a link."

[network]
topology = "single-switch"
hosts = 3
link = { rate = "10Gb/s", latency = "1us" }

[[switches]]
buffers = { capacity = "100KB" }

[[workloads]]
kind = "greedy"
from = ["h0", "h1"]
to = "h2"

[run]
duration = "2ms"

[sweep]
"workloads[0].frame" = ["500B", "1500B"]"#,
    ),
    (
        "network",
        r#"[network]
topology = "leaf-spine"
leaves = 4
spines = 2
hosts_per_leaf = 4
link = { rate = "25Gb/s", latency = "500ns" }
trunk = { rate = "100Gb/s" }
multipath = "spray""#,
    ),
    (
        "network.link",
        r#"[network.link]
rate = "10Gb/s"
latency = "500ns"
bit_error_rate = 1e-12"#,
    ),
    (
        "network.trunk",
        r#"[network.trunk]
rate = "40Gb/s"
latency = "2us""#,
    ),
    (
        "network.cables",
        r#"[[network.cables]]
between = ["leaf0", "spine*"]
rate = "1Gb/s""#,
    ),
    (
        "network.nodes",
        r#"[network]
link = { rate = "10Gb/s", latency = "500ns" }
nodes = [
    { names = "sw{0..1}", role = "switch" },
    { names = "h{0..3}", role = "host" },
]
links = [
    { between = ["h{0..1}", "sw0"] },
    { between = ["h{2..3}", "sw1"] },
    { between = ["sw0", "sw1"] },
]"#,
    ),
    (
        "network.links",
        r#"[network]
link = { rate = "10Gb/s", latency = "500ns" }
nodes = [
    { names = ["left", "right"], role = "switch" },
    { names = "h{0..3}", role = "host" },
]

[[network.links]]
between = ["h*", "left"]

[[network.links]]
between = ["left", "right"]
count = 2
rate = "40Gb/s""#,
    ),
    (
        "network.bridges",
        r#"[network]
routing = "spb"

[[network.bridges]]
names = "spine*"
address = "02-00-00-00-01-00"
priority = 16384"#,
    ),
    (
        "network.services",
        r#"[network]
routing = "spb"

[[network.services]]
isid = 100
tree = 1
transmit = ["leaf0", "leaf1"]
receive = "leaf*""#,
    ),
    (
        "network.isis",
        r#"[network]
reconverge = "isis"
isis = { detection = "50us", computation = "100us" }

[[faults]]
between = ["leaf0", "spine0"]
down = "500us""#,
    ),
    (
        "network.routes",
        r#"[[network.routes]]
at = "leaf0"
to = "h{4..7}"
via = "spine1""#,
    ),
    (
        "network.reroutes",
        r#"[[network.reroutes]]
at = "500us"
avoid = [["leaf0", "spine0"]]"#,
    ),
    (
        "classes",
        r#"[[classes]]
name = "lan"
lossless = false

[[classes]]
name = "storage""#,
    ),
    (
        "switches",
        r#"[[switches]]
flow_control = "pfc"
buffers = { capacity = "200KB" }

[[switches]] # the last entry that matches applies
match = "spine*"
flow_control = "pfc"
buffer = "shared"
shared_size = "2MB"
alpha = "1/8"
buffers = {}"#,
    ),
    (
        "switches.pause",
        r#"[[switches]]
flow_control = "pfc"
pause = { quanta = 1000, response = "300ns" }
buffers = { capacity = "200KB" }"#,
    ),
    (
        "switches.credits",
        r#"[[switches]]
flow_control = "credits"
credits = { unit = "block", block = "64B", refresh = "50us" }
buffers = { capacity = "16KiB" }

[[adapters]]
flow_control = "credits"
buffers = { capacity = "16KiB" }"#,
    ),
    (
        "switches.buffers",
        r#"[[classes]]
name = "lan"
lossless = false

[[classes]]
name = "storage"

[[switches]]
flow_control = "pfc"

[[switches.buffers]]
classes = "storage"
capacity = "200KB"
xoff = "150KB"
xon = "147KB"

[[switches.buffers]]
classes = "lan"
capacity = "100KB""#,
    ),
    (
        "switches.egress",
        r#"[[classes]]
name = "lan"
lossless = false

[[classes]]
name = "storage"

[[switches]]
buffers = { capacity = "200KB" }
egress = [
    { classes = "lan", share = "60%" },
    { classes = "storage", share = "40%" },
]"#,
    ),
    (
        "switches.vl_arbitration",
        r#"[[classes]]
name = "VL0"

[[classes]]
name = "VL1"

[[switches]]
buffers = { capacity = "200KB" }

[switches.vl_arbitration]
high = [{ class = "VL1", weight = 32 }]
low = [{ class = "VL0", weight = 64 }, { class = "VL1", weight = 64 }]
high_limit = 4"#,
    ),
    (
        "switches.vl_arbitration.high",
        r#"[[classes]]
name = "VL0"

[[switches]]
buffers = { capacity = "200KB" }

[[switches.vl_arbitration.high]]
class = "VL0"
weight = 64"#,
    ),
    (
        "switches.congestion_point",
        r#"[[switches]]
buffers = { capacity = "200KB" }

[switches.congestion_point]
name = "qcn"
set_point = "50KB""#,
    ),
    (
        "adapters",
        r#"[[adapters]] # all hosts: consume frames on arrival

[[adapters]] # h0 is slow and pauses its switch
match = "h0"
flow_control = "pfc"
service = "4Gb/s"
buffers = { capacity = "100KB" }"#,
    ),
    (
        "adapters.service_changes",
        r#"[[adapters]]
flow_control = "pfc"
buffers = { capacity = "100KB" }

[[adapters.service_changes]]
at = "200us"
rate = "1Gb/s"

[[adapters.service_changes]]
at = "600us""#,
    ),
    (
        "adapters.buffers",
        r#"[[adapters]]
flow_control = "pfc"
service = "8Gb/s"

[[adapters.buffers]]
capacity = "100KB"
xoff = "60KB""#,
    ),
    (
        "protocol",
        r#"[protocol]
name = "qcn"
time_reset = "10ms"

# QCN needs a congestion point that samples queues.
[congestion_point]
name = "qcn""#,
    ),
    (
        "congestion_point",
        r#"[congestion_point]
name = "qcn"
set_point = "26KB"

[protocol]
name = "qcn""#,
    ),
    (
        "workloads",
        r#"[[workloads]]
name = "incast"
kind = "incast"
from = "h{4..7}"
to = "h0"
size = "1MB"
start_jitter = "10us"

[[workloads]]
name = "background"
kind = "poisson-flows"
load = 0.3
sizes = "pareto"
flow_size = "100KB"
shape = 1.5"#,
    ),
    (
        "workloads.acknowledge",
        r#"[[workloads]]
kind = "greedy"
from = "h0"
to = "h4"
acknowledge = { every = 2 }
protocol = { name = "none", window = "30KB" }"#,
    ),
    (
        "workloads.probe",
        r#"[[workloads]]
kind = "greedy"
from = "h0"
to = "h4"
probe = { size = "128B" }
protocol = { name = "e2cm" }

[congestion_point]
name = "e2cm""#,
    ),
    (
        "workloads.flows",
        r#"[[workloads]]
kind = "flows"

[[workloads.flows]]
name = "victim"
from = "h0"
to = "h4"

[[workloads.flows]]
from = "h1"
to = "h8"
size = "1MB"
start = "100us"
rate = "2Gb/s""#,
    ),
    (
        "faults",
        r#"[[faults]]
between = ["leaf0", "spine0"]
down = "200us"
up = "600us""#,
    ),
    (
        "dcb",
        r#"[[classes]]
name = "lan"

[[classes]]
name = "storage"

[[dcb]]
match = "spine*"
pfc = [1]
ets = [{ priorities = [0], share = 60 }, { priorities = [1], share = 40 }]
applications = [{ priority = 1, kind = "ether-type", protocol = 35078 }]"#,
    ),
    (
        "dcb.ets",
        r#"[[classes]]
name = "lan"

[[classes]]
name = "control"

[[dcb]]
match = "leaf*"

[[dcb.ets]]
priorities = [0]
share = 100

[[dcb.ets]] # without a share: strict
priorities = [1]"#,
    ),
    (
        "dcb.applications",
        r#"[[dcb]]
match = "leaf*"

[[dcb.applications]]
priority = 0
kind = "udp"
protocol = 4791 # RoCEv2"#,
    ),
    (
        "dcbx",
        r#"[[dcb]]
match = "spine*"
pfc = [0]

[dcbx]
apply = true
spread = "2s"
fast_count = 8"#,
    ),
    (
        "probes",
        r#"[probes]
record = ["flows", "queues", "pauses"]
sample_every = "1us"
throughput_window = "20us"
nodes = "leaf*""#,
    ),
    (
        "fluid",
        r#"[fluid]
model = "bcn"
sources = 50
capacity = "10Gb/s"
delay = "100us""#,
    ),
    (
        "fluid.stated",
        r#"[fluid]
model = "bcn"
sources = 50
capacity = "10Gb/s"
delay = "100us"
stated = { b = 0.1 }"#,
    ),
    (
        "run",
        r#"[run]
duration = "1ms"
warm_up = "200us"
seed = 7
replications = 5"#,
    ),
    (
        "expectations",
        r#"[[expectations]]
metric = "throughput"
of = "incast"
statistic = "sum"
value = "9.87Gb/s"
tolerance = 0.02

[[expectations]]
name = "the largest queue"
metric = "queue"
of = "leaf0->h0"
op = "<"
value = "600KB"

[[expectations]]
metric = "dropped-frames"
value = 0"#,
    ),
    (
        "variants",
        r#"[[variants]]
name = "without congestion control"
set = { "protocol.name" = "none" }

[[variants]]
name = "QCN"
set = { "protocol.name" = "qcn", congestion_point = { name = "qcn" } }"#,
    ),
    (
        "choices",
        r#"[[choices]]
name = "frame size"
path = "workloads[0].frame"
values = ["1500B", "1000B"]
why = "the paper does not state it; 1500 B is usual""#,
    ),
    (
        "choices.options",
        r#"[[choices]]
name = "cables"
why = "the paper does not state their length"

[[choices.options]]
name = "short"
set = { "network.link.latency" = "100ns" }

[[choices.options]]
name = "long"
set = { "network.link.latency" = "1us" }"#,
    ),
    (
        "trends",
        r#"[sweep]
"workloads[0].frame" = ["500B", "1000B", "1500B"]

[[expectations]]
name = "goodput"
metric = "throughput"
of = "incast"
statistic = "sum"

[[trends]]
quantity = "goodput"
shape = "rising"
along = "workloads[0].frame"
source = "larger frames have less overhead""#,
    ),
    (
        "charts",
        r#"[sweep]
"workloads[0].frame" = ["500B", "1000B", "1500B"]

[[expectations]]
name = "goodput"
metric = "throughput"
of = "incast"
statistic = "sum"

[[charts]]
title = "Goodput by frame size"
quantities = "goodput"
along = "workloads[0].frame"
x = "frame size"

[[charts]]
title = "Throughput over time"
kind = "time"
flows = { incast = "incast*" }"#,
    ),
];

/// Examples of the sections of `paper.toml`, by path.
pub(crate) const PAPER: &[(&str, &str)] = &[
    (
        "",
        r#"title = "Congestion control in lossless networks"
authors = ["A. Author", "B. Author"]
year = 2012
publisher = "A conference""#,
    ),
    (
        "missing",
        r#"[[missing]]
name = "Figure 7"
why = "a photograph of the testbed""#,
    ),
    (
        "matrices",
        r#"[[matrices]]
title = "Aggregate throughput"
quantity = "throughput"
figures = ["fig3", "fig4"]"#,
    ),
    (
        "sentences",
        r#"[[sentences]]
says = "QCN reaches at least 90 % of the throughput of the others."
measure = "mean throughput over the figures, divided by the mean of the other variants"
source = "section 5"
of = "qcn"
as = "ratio"
quantity = "throughput"
over = ["bcn", "fecn"]
op = ">="
value = 0.9"#,
    ),
    (
        "sentences.readings",
        r#"[[sentences]]
says = "QCN has short queues."
measure = "mean queue over the figures"
of = "qcn"
quantity = "mean queue"
op = "<"
value = 30000

[[sentences.readings]]
choice = "short"
value = "even the longest queue"
quantity = "longest queue""#,
    ),
    (
        "sentences.criteria",
        r#"[[sentences]]
says = "Overall, QCN performs best."
measure = "mean rank by throughput and queue"
of = "qcn"
as = "place"
over = ["bcn", "fecn"]
op = "<="
value = 1.5

[[sentences.criteria]]
quantity = "throughput"
best = "largest"

[[sentences.criteria]]
quantity = "longest queue"
best = "smallest""#,
    ),
];

#[cfg(test)]
mod tests {
    use super::super::{paper::paper, root};
    use super::*;
    use crate::key::{Kind, Section};
    use crate::paper::read_paper;
    use crate::source::FileReader;
    use crate::{Limits, load_str};
    use std::path::Path;

    /// The rest of the scenario that an example is a part of.
    const REST: &str = r#"
        schema_version = 1
        [[switches]]
        buffers = { capacity = "200KB" }
        [[workloads]]
        name = "incast"
        kind = "incast"
        from = "h{1..3}"
        to = "h0"
        [run]
        duration = "1ms"
    "#;
    const NETWORK: &str = r#"
        [network]
        topology = "leaf-spine"
        link = { rate = "10Gb/s", latency = "500ns" }
    "#;

    /// Holds the file that examples change.
    struct Base(String);

    impl FileReader for Base {
        fn read(&self, _path: &Path) -> Result<String, String> {
            Ok(self.0.clone())
        }
    }

    fn walk(section: &Section, path: &str, see: &mut impl FnMut(&str)) {
        see(path);
        for key in &section.keys {
            if let Kind::Table(inner) | Kind::Tables(inner) = &key.kind {
                let inner_path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
                walk(inner, &inner_path, see);
            }
        }
    }

    #[test]
    fn every_example_of_a_scenario_loads() {
        let mut wrong = Vec::new();
        for (path, example) in SCENARIO {
            let (text, base) = if example.starts_with("schema_version") {
                ((*example).to_owned(), String::new())
            } else {
                let network = if example.contains("nodes = [") { "" } else { NETWORK };
                (format!("schema_version = 1\nbase = \"base.toml\"\n{example}"), format!("{REST}{network}"))
            };
            if let Err(errors) = load_str("example.toml", &text, &[], &Base(base), Limits::default()) {
                wrong.push(format!("the example of [{path}]: {errors}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_example_of_a_paper_loads() {
        for (path, example) in PAPER {
            let text = if path.is_empty() { (*example).to_owned() } else { format!("title = \"A paper\"\n{example}") };
            read_paper("paper.toml".into(), text).unwrap_or_else(|errors| panic!("the example of [{path}]: {errors}"));
        }
    }

    #[test]
    fn every_example_has_its_section() {
        for (section, examples) in [(root(), SCENARIO), (paper(), PAPER)] {
            let mut paths = Vec::new();
            walk(section, "", &mut |path| paths.push(path.to_owned()));
            for (path, _) in examples {
                assert!(paths.iter().any(|known| known == path), "there is no section [{path}]");
            }
        }
    }
}
