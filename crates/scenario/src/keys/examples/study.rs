//! Probes, runs, expectations, figures, and the `paper.toml` of a paper.

/// Of scenarios, by path.
pub(super) const SCENARIO: &[(&str, &str)] = &[
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

/// Of `paper.toml`, by path.
pub(super) const PAPER: &[(&str, &str)] = &[
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
as = "rank"
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
