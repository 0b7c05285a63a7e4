//! Classes, switches and adapters.

/// By path.
pub(super) const SCENARIO: &[(&str, &str)] = &[
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
        "switches.pfc_watchdog",
        r#"[[switches]]
flow_control = "pfc"
buffers = { capacity = "200KB" }
pfc_watchdog = { detection_time = "200ms", restoration_time = "400ms", action = "drop" }"#,
    ),
    (
        "switches.ports",
        r#"[[switches]]
flow_control = "pfc"
buffer = "shared"
shared_size = "2MB"
buffers = { headroom = "20KB" }

[[switches.ports]] # longer cables need more headroom
neighbours = "h1"
buffers = { headroom = "100KB" }"#,
    ),
    (
        "switches.ports.buffers",
        r#"[[switches]]
flow_control = "pfc"
buffers = { capacity = "200KB" }

[[switches.ports]]
neighbours = "h0"

[[switches.ports.buffers]]
capacity = "400KB"
xoff = "300KB"
xon = "290KB""#,
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
];
