//! The top of a scenario and its network.

/// By path.
pub(super) const SCENARIO: &[(&str, &str)] = &[
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
        "network.subnet",
        r#"[[network.subnet]]
node = "leaf0"
guid = "0x0002c90300a1b2c0"
lid = 3
size = 40
ports = [1, 2, 3, 4, 39, 40]
speeds = "4xHDR"
forwarding = "0: 3; 39: 1-2""#,
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
];
