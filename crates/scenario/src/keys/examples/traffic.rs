//! Congestion control, workloads, faults and DCBX.

/// By path.
pub(super) const SCENARIO: &[(&str, &str)] = &[
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
        "workloads.telemetry",
        r#"[[workloads]]
kind = "greedy"
from = "h0"
to = "h4"
acknowledge = {}
telemetry = { hops = 5 }"#,
    ),
    (
        "workloads.notify",
        r#"[[workloads]]
kind = "greedy"
from = "h0"
to = "h4"
notify = { interval = "50us" }"#,
    ),
    (
        "workloads.pull",
        r#"[[workloads]]
kind = "greedy"
from = "h0"
to = "h4"
pull = { size = "64B" }
protocol = { name = "ndp" }"#,
    ),
    (
        "recovery",
        r#"[recovery]
name = "go-back-n"
timeout = "2ms""#,
    ),
    (
        "workloads.recovery",
        r#"[[workloads]]
kind = "incast"
from = "h{4..7}"
to = "h0"
size = "100KB"
recovery = { name = "go-back-n", timeout = "500us" }"#,
    ),
    (
        "path_selection",
        r#"[recovery]
name = "selective-repeat"

[path_selection]
name = "reps""#,
    ),
    (
        "workloads.path_selection",
        r#"[[workloads]]
kind = "permutation"
size = "1MB"
recovery = "go-back-n"
path_selection = { name = "flow-bender", threshold = 0.1 }"#,
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
];
