//! Tables that are written when a run ends, other than that of its flows: collective operations, requests, and
//! distributions.

use super::{CLASS, Kind, PORT, Table, Unit, column, integer, maybe, text};

/// Collective operations.
pub const COLLECTIVES: Table = Table {
    name: "collectives",
    meaning: "One row per iteration and group of a workload of kind `collective`, written when the run ends.",
    order: &[0, 1, 2],
    time: None,
    columns: &[
        integer("collective", Unit::None, "number of the workload among those of this kind"),
        integer("group", Unit::None, "number of the group"),
        integer("iteration", Unit::None, "number of the iteration"),
        text("workload", "name of the workload"),
        text("operation", "operation, such as all-reduce"),
        text("algorithm", "algorithm, such as ring"),
        integer("ranks", Unit::None, "ranks of the group"),
        integer("size", Unit::Bytes, "data, as nccl-tests counts it"),
        maybe(integer("start", Unit::Picoseconds, "time at which the first transfer started; empty if none has")),
        maybe(integer("end", Unit::Picoseconds, "time at which the last byte arrived; empty if some have not")),
        maybe(integer("duration", Unit::Picoseconds, "time from start to end")),
        maybe(column("algorithm_bandwidth", Kind::Real, Unit::BitsPerSecond, "size divided by duration")),
        maybe(column(
            "bus_bandwidth",
            Kind::Real,
            Unit::BitsPerSecond,
            "algorithm_bandwidth times the factor of the operation, with n ranks: all-reduce 2(n-1)/n; all-gather, \
             reduce-scatter and all-to-all (n-1)/n; broadcast and pipeline 1 (nccl-tests, PERFORMANCE.md)",
        )),
        maybe(column(
            "bound",
            Kind::Real,
            Unit::BitsPerSecond,
            "bus bandwidth that the links allow: those of the busiest host, or between the busiest switch with hosts and \
             other switches, with frame overhead and without latency",
        )),
        maybe(integer("last_rank", Unit::None, "rank at which the last byte arrived")),
        maybe(text("last_host", "host of that rank")),
    ],
};

/// What each rank did in iterations of collective operations.
pub const COLLECTIVE_RANKS: Table = Table {
    name: "collective_ranks",
    meaning: "One row per iteration, group and rank of a workload of kind `collective`, written when the run ends.",
    order: &[0, 1, 2, 3],
    time: None,
    columns: &[
        integer("collective", Unit::None, "number of the workload among those of this kind"),
        integer("group", Unit::None, "number of the group"),
        integer("iteration", Unit::None, "number of the iteration"),
        integer("rank", Unit::None, "rank in the group"),
        text("host", "name of its host"),
        maybe(integer(
            "start",
            Unit::Picoseconds,
            "time at which the first of its transfers started; empty if none has",
        )),
        maybe(integer(
            "end",
            Unit::Picoseconds,
            "time at which the last byte from it or for it arrived; empty if some have not",
        )),
    ],
};

/// Requests and their responses.
pub const REQUESTS: Table = Table {
    name: "requests",
    meaning: "One row per request of a workload of kind `request-response`, written when the run ends.",
    order: &[0, 1],
    time: None,
    columns: &[
        integer("requests", Unit::None, "number of the workload among those of this kind"),
        integer("request", Unit::None, "number of the request, client by client"),
        text("workload", "name of the workload"),
        text("client", "name of the client"),
        integer("servers", Unit::None, "servers to which it went"),
        integer("first_flow", Unit::None, "number of its first flow (table flows); the responses follow"),
        maybe(integer("start", Unit::Picoseconds, "time at which the client sent it; empty if it has not")),
        maybe(integer("end", Unit::Picoseconds, "time at which the last byte of its last response arrived")),
        maybe(integer("duration", Unit::Picoseconds, "time from start to end")),
    ],
};

/// How long frames waited at each port.
pub const WAITS: Table = Table {
    name: "waits",
    meaning: "One row per port and class that sent data or acknowledgements: time from joining the queue to the \
         start on the wire. Written when the run ends.",
    order: &[0, 1],
    time: None,
    columns: &[
        PORT,
        CLASS,
        integer("frames", Unit::Frames, "number of frames sent"),
        column("mean", Kind::Real, Unit::Picoseconds, "mean wait"),
        integer("max", Unit::Picoseconds, "longest wait"),
        integer("p50", Unit::Picoseconds, "median; as all percentiles here at most 1/128 too large, and not above max"),
        integer("p95", Unit::Picoseconds, "95th percentile"),
        integer("p99", Unit::Picoseconds, "99th percentile"),
        integer("p999", Unit::Picoseconds, "99.9th percentile"),
    ],
};

/// How long frames took.
pub const DELAYS: Table = Table {
    name: "delays",
    meaning: "One row per class with data frames: time from the generation of a frame to its consumption, of a retransmitted \
         frame from its last transmission. Written when the run ends.",
    order: &[0],
    time: None,
    columns: &[
        CLASS,
        integer("frames", Unit::Frames, "number of frames consumed, each counted once"),
        column("mean", Kind::Real, Unit::Picoseconds, "mean delay"),
        integer("max", Unit::Picoseconds, "longest delay"),
        integer("p50", Unit::Picoseconds, "median; as all percentiles here at most 1/128 too large, and not above max"),
        integer("p95", Unit::Picoseconds, "95th percentile"),
        integer("p99", Unit::Picoseconds, "99th percentile"),
        integer("p999", Unit::Picoseconds, "99.9th percentile"),
    ],
};

/// How long queues were.
pub const QUEUE_LEVELS: Table = Table {
    name: "queue_levels",
    meaning: "One row per port and class whose output queue was not empty at every sampling time: its length over all \
         sampling times, without the frame on the wire. A missing row means that it was always empty. Written when the run \
         ends.",
    order: &[0, 1],
    time: None,
    columns: &[
        PORT,
        CLASS,
        integer("samples", Unit::None, "number of sampling times"),
        column("mean", Kind::Real, Unit::Bytes, "mean length"),
        integer("max", Unit::Bytes, "longest one"),
        integer("p50", Unit::Bytes, "median; as all percentiles here at most 1/128 too large, and not above max"),
        integer("p95", Unit::Bytes, "95th percentile"),
        integer("p99", Unit::Bytes, "99th percentile"),
        integer("p999", Unit::Bytes, "99.9th percentile"),
    ],
};

/// The distribution of those waits.
pub const WAIT_BUCKETS: Table = Table {
    name: "wait_buckets",
    meaning: "Histogram of the waits of table waits, by powers of two. A missing row means none. Written when the \
         run ends.",
    order: &[0, 1, 2],
    time: None,
    columns: &[
        PORT,
        CLASS,
        integer("at_least", Unit::Picoseconds, "lower bound of the bin, inclusive"),
        integer("below", Unit::Picoseconds, "upper bound of the bin, exclusive"),
        integer("frames", Unit::Frames, "frames in the bin"),
    ],
};
