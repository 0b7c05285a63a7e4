//! The tables a run leaves behind: every column with its unit and meaning, in one place.
//!
//! Files, their headers and metadata, the reference page and the comparison of two runs are all made from [`TABLES`];
//! nothing else knows a column's name. Integers are signed 64-bit, because that is what every reader of tables
//! subtracts without surprises; a value that does not fit is written as the largest that does.

mod ending;

pub use ending::{COLLECTIVE_RANKS, COLLECTIVES, DELAYS, QUEUE_LEVELS, REQUESTS, WAIT_BUCKETS, WAITS};

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Signed 64-bit integer.
    Integer,
    /// 64-bit float.
    Real,
    /// UTF-8.
    Text,
    /// True or false.
    Flag,
}

impl Kind {
    /// Its name in documents and manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Real => "real",
            Kind::Text => "text",
            Kind::Flag => "flag",
        }
    }
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nothing: a name, a number of an entity, a cause.
    None,
    /// Picoseconds; an instant counts from the start of the run.
    Picoseconds,
    /// Bytes, without preamble and gap.
    Bytes,
    /// Bits per second.
    BitsPerSecond,
    /// Frames.
    Frames,
    /// A part of one.
    Fraction,
}

impl Unit {
    /// The unit as it is written behind a number.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::None => "",
            Unit::Picoseconds => "ps",
            Unit::Bytes => "B",
            Unit::BitsPerSecond => "b/s",
            Unit::Frames => "frames",
            Unit::Fraction => "1",
        }
    }
}

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in files.
    pub name: &'static str,
    /// What its cells hold.
    pub kind: Kind,
    /// What its numbers count.
    pub unit: Unit,
    /// Whether a cell may be empty.
    pub nullable: bool,
    /// What it says.
    pub meaning: &'static str,
}

/// One table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name: the file's without the ending.
    pub name: &'static str,
    /// What a row is, and what a missing row means.
    pub meaning: &'static str,
    /// Positions of the columns by which the rows are ordered, the most significant first.
    pub order: &'static [usize],
    /// Position of the column that says when a row came to be, where there is one.
    pub time: Option<usize>,
    /// The columns.
    pub columns: &'static [Column],
}

impl Table {
    /// The position of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

const fn column(name: &'static str, kind: Kind, unit: Unit, meaning: &'static str) -> Column {
    Column { name, kind, unit, nullable: false, meaning }
}

const fn integer(name: &'static str, unit: Unit, meaning: &'static str) -> Column {
    column(name, Kind::Integer, unit, meaning)
}

const fn maybe(column: Column) -> Column {
    Column { nullable: true, ..column }
}

const fn text(name: &'static str, meaning: &'static str) -> Column {
    column(name, Kind::Text, Unit::None, meaning)
}

const SAMPLED: Column = integer("time", Unit::Picoseconds, "sampling time");
const PORT: Column = integer("port", Unit::None, "number of the port (table ports)");
const FLOW: Column = integer("flow", Unit::None, "number of the flow (table flows)");
const CLASS: Column = integer("class", Unit::None, "priority or virtual lane");
const INTERVAL: Column =
    integer("interval", Unit::Picoseconds, "length of the interval that ends at the sampling time");

/// Every port of the network and what it is plugged into.
pub const PORTS: Table = Table {
    name: "ports",
    meaning: "One row per port. Ports are numbered node by node.",
    order: &[0],
    time: None,
    columns: &[
        integer("port", Unit::None, "number of the port"),
        text("name", "node and port number, such as sw0:3"),
        text("node", "name of the node"),
        integer("number", Unit::None, "port number on the node"),
        integer("peer_port", Unit::None, "number of the port at the other end of the link"),
        text("peer", "name of the node at the other end"),
        integer("rate", Unit::BitsPerSecond, "rate of the link in each direction"),
        integer("latency", Unit::Picoseconds, "propagation delay of the link in one direction"),
    ],
};

/// What became of each flow.
pub const FLOWS: Table = Table {
    name: "flows",
    meaning: "One row per flow, written when the run ends.",
    order: &[0],
    time: None,
    columns: &[
        integer("flow", Unit::None, "number of the flow"),
        text("name", "name of the flow"),
        text("source", "name of the sending host"),
        maybe(text("destination", "name of the receiving host; empty if each frame has a random destination")),
        CLASS,
        integer(
            "start",
            Unit::Picoseconds,
            "time at which the flow started; if it has not, the earliest time at which it may",
        ),
        maybe(integer("stop", Unit::Picoseconds, "time at which the source stops; empty if not set")),
        maybe(integer("size", Unit::Bytes, "bytes to send; empty if unlimited")),
        integer("made_frames", Unit::Frames, "frames that the source generated"),
        integer("retransmitted_frames", Unit::Frames, "frames that the source retransmitted, each time"),
        integer("timeouts", Unit::None, "retransmission timers that expired"),
        integer("lost_frames", Unit::Frames, "frames dropped or lost and not retransmitted"),
        integer("frames", Unit::Frames, "frames that the destination consumed, each counted once"),
        integer(
            "bytes",
            Unit::Bytes,
            "bytes of frames that the destination consumed, each frame counted once, with the padding of frames that are \
             shorter than the smallest one of the network",
        ),
        integer("duplicate_frames", Unit::Frames, "frames that had arrived before and were discarded"),
        integer(
            "rejected_frames",
            Unit::Frames,
            "frames that the destination discarded because an earlier one was missing",
        ),
        integer(
            "out_of_order_frames",
            Unit::Frames,
            "frames that arrived out of order: with recovery, before a missing one, kept or rejected; without, after a later one (RFC 4737)",
        ),
        integer(
            "naks",
            Unit::None,
            "negative acknowledgements that the destination sent, those of trimmed frames included",
        ),
        integer("cnps", Unit::None, "congestion notification packets that the destination sent"),
        integer("marked_frames", Unit::Frames, "consumed frames with a congestion mark"),
        integer("notices", Unit::None, "congestion notices that the source received"),
        maybe(integer("completed", Unit::Picoseconds, "time at which the last byte arrived; empty if it did not")),
        maybe(integer(
            "acknowledged",
            Unit::Picoseconds,
            "time at which the source of a flow with recovery knew that the last byte had arrived; empty if it did not",
        )),
        maybe(integer("duration", Unit::Picoseconds, "time from the start to the arrival of the last byte")),
        maybe(integer(
            "source_duration",
            Unit::Picoseconds,
            "time from the start until the source knew that the last byte had arrived; empty as `acknowledged`",
        )),
        maybe(column(
            "slowdown",
            Kind::Real,
            Unit::None,
            "time that the flow took, divided by the time that it takes alone. Without recovery: duration, divided by the \
             duration in an empty network. With recovery: source_duration, divided as in the HPCC simulator by twice the \
             propagation of the path, one frame without headers at each link, and all bytes with headers and overhead at \
             the slowest link. Empty if the flow did not complete",
        )),
        maybe(integer(
            "ended",
            Unit::Picoseconds,
            "time at which the flow ended: complete, stopped, or its last frame arrived or lost; empty if it was \
             active at the end of the run",
        )),
        maybe(column(
            "throughput",
            Kind::Real,
            Unit::BitsPerSecond,
            "mean rate at which bytes arrived at the destination, discarded ones included, from the later of the \
             flow's start and the end of the warm-up to the earliest of its end (complete, or no frames left after a \
             loss), its stop and the end of the run; empty if that interval is empty",
        )),
        maybe(column(
            "goodput",
            Kind::Real,
            Unit::BitsPerSecond,
            "mean rate at which bytes were consumed, each counted once, padding included, over the same interval",
        )),
        maybe(integer("first_delivery", Unit::Picoseconds, "time at which the first frame was consumed")),
        maybe(integer("last_delivery", Unit::Picoseconds, "time at which the last frame was consumed")),
        maybe(column(
            "mean_delay",
            Kind::Real,
            Unit::Picoseconds,
            "mean time from the generation of a frame to its consumption; of a retransmitted frame from its last \
             transmission",
        )),
        maybe(integer(
            "max_delay",
            Unit::Picoseconds,
            "longest time from the generation of a frame to its \
             consumption",
        )),
    ],
};

/// What flows delivered in each interval.
pub const FLOW_SAMPLES: Table = Table {
    name: "flow_samples",
    meaning: "One row per sampling time and flow that delivered anything in the interval. A missing row means that \
         nothing was delivered.",
    order: &[0, 1],
    time: Some(0),
    columns: &[
        SAMPLED,
        FLOW,
        INTERVAL,
        integer("bytes", Unit::Bytes, "bytes that the destination consumed in the interval"),
        integer("frames", Unit::Frames, "frames that the destination consumed in the interval"),
        column("throughput", Kind::Real, Unit::BitsPerSecond, "bytes divided by the interval"),
    ],
};

/// What would have been fair.
pub const FAIR_SHARES: Table = Table {
    name: "fair_shares",
    meaning: "One row per flow and time at which its max-min fair share among the active flows changed. Computed \
         from the plan and the ends of flows, not measured; no rows if there are too many flows or changes.",
    order: &[0, 1],
    time: Some(0),
    columns: &[
        integer("time", Unit::Picoseconds, "time of the change"),
        FLOW,
        integer(
            "share",
            Unit::BitsPerSecond,
            "fair share without frame overhead; zero while the flow demands nothing; the smallest one if several \
             divisions are fair because links weigh classes differently",
        ),
    ],
};

/// What went over each cable in each interval.
pub const LINKS: Table = Table {
    name: "links",
    meaning: "One row per sampling time and port that sent anything, or had frames waiting for credits, in the \
         interval. A missing row means neither.",
    order: &[0, 1],
    time: Some(0),
    columns: &[
        SAMPLED,
        integer("port", Unit::None, "number of the sending port (table ports)"),
        INTERVAL,
        integer(
            "bytes",
            Unit::Bytes,
            "bytes of all frames sent in the interval; a frame at its end counts in proportion",
        ),
        integer("frames", Unit::Frames, "frames of any kind that started in the interval"),
        integer(
            "busy",
            Unit::Picoseconds,
            "time during which the wire was busy in the interval, including preamble and gap",
        ),
        integer("total_bytes", Unit::Bytes, "bytes sent since the start of the run"),
        column("utilisation", Kind::Real, Unit::Fraction, "busy time divided by the interval"),
        column("throughput", Kind::Real, Unit::BitsPerSecond, "bytes divided by the interval"),
        integer(
            "starved",
            Unit::Picoseconds,
            "time in the interval during which the wire was idle while frames waited for credits",
        ),
    ],
};

/// How long classes lacked credits.
pub const STARVED: Table = Table {
    name: "starved",
    meaning: "One row per sampling time, port and class whose frames lacked credits in the interval. A missing row \
         means that they did not.",
    order: &[0, 1, 2],
    time: Some(0),
    columns: &[
        SAMPLED,
        integer("port", Unit::None, "number of the sending port (table ports)"),
        CLASS,
        INTERVAL,
        integer(
            "starved",
            Unit::Picoseconds,
            "time in the interval during which frames of the class lacked credits, from a time at which the wire was \
             free to the arrival of credits; other classes may have used the wire",
        ),
    ],
};

/// How full the queues were.
pub const QUEUES: Table = Table {
    name: "queues",
    meaning: "One row per sampling time and queue that changed since the previous sample. A missing row means no \
         change; before its first row a queue is empty.",
    order: &[0, 1, 2],
    time: Some(0),
    columns: &[
        SAMPLED,
        PORT,
        CLASS,
        integer("output_bytes", Unit::Bytes, "bytes queued for this output port, without the frame on the wire"),
        integer(
            "input_held",
            Unit::Bytes,
            "bytes in the input buffer of this port, as its rules count them; frames if a credit is a frame",
        ),
    ],
};

/// Which flows hold the input buffers.
pub const OCCUPANCY: Table = Table {
    name: "occupancy",
    meaning: "One row per sampling time, input buffer and flow whose part of the buffer changed since the previous \
         sample, at switches that track it. A missing row means no change; before its first row a flow has no bytes \
         there.",
    order: &[0, 1, 2, 3],
    time: Some(0),
    columns: &[
        SAMPLED,
        PORT,
        CLASS,
        FLOW,
        integer(
            "bytes",
            Unit::Bytes,
            "bytes of the flow in the input buffer of this port, including copies kept for \
             reliable delivery",
        ),
    ],
};

/// What the senders were allowed.
pub const RATES: Table = Table {
    name: "rates",
    meaning: "One row per flow at its first sampling time after its start, and at each sampling time at which its \
         allowance changed. A missing row means no change.",
    order: &[0, 1],
    time: Some(0),
    columns: &[
        SAMPLED,
        FLOW,
        maybe(integer("rate", Unit::BitsPerSecond, "rate at which the flow may send; empty without a rate limit")),
        maybe(integer("window", Unit::Bytes, "bytes that the flow may have in flight; empty without a window")),
    ],
};

/// When senders stood still.
pub const PAUSES: Table = Table {
    name: "pauses",
    meaning: "One row per pause of a port and class, in the order of their ends.",
    order: &[1, 2, 3],
    time: Some(1),
    columns: &[
        integer("start", Unit::Picoseconds, "time at which the port stopped"),
        integer("end", Unit::Picoseconds, "time at which it could send again, or the end of the run"),
        integer("port", Unit::None, "number of the paused port (table ports)"),
        CLASS,
        column("cut_off", Kind::Flag, Unit::None, "whether the run ended before the pause"),
    ],
};

/// What congestion points told senders.
pub const NOTICES: Table = Table {
    name: "notices",
    meaning: "One row per congestion notice that reached its source.",
    order: &[0, 1],
    time: Some(0),
    columns: &[
        integer("time", Unit::Picoseconds, "time at which the source received it"),
        FLOW,
        integer("port", Unit::None, "number of the port whose buffer or queue was congested (table ports)"),
        CLASS,
        integer("feedback", Unit::None, "quantised feedback, as in the frame"),
        column("offset", Kind::Real, Unit::Bytes, "set point minus queue"),
        column("growth", Kind::Real, Unit::Bytes, "growth of the queue since the previous sample"),
    ],
};

/// Frames that came to nothing.
pub const DROPS: Table = Table {
    name: "drops",
    meaning: "One row per dropped, trimmed or lost frame. Lost PAUSE, PFC and credit frames are only counted, in the \
         manifest.",
    order: &[0, 1],
    time: Some(0),
    columns: &[
        integer("time", Unit::Picoseconds, "when"),
        integer("port", Unit::None, "number of the port at which it arrived, or of the source that discarded it"),
        maybe(integer("flow", Unit::None, "number of the flow")),
        CLASS,
        integer("length", Unit::Bytes, "length of the frame"),
        text(
            "kind",
            "data, trimmed (a header without its payload), returned (such a header that returns to the source), \
             acknowledgement, nak (negative acknowledgement), trimmed-acknowledgement (negative acknowledgement of a \
             trimmed frame), cnp (congestion notification packet), pull, notice, receipt, probe, answer, pause or \
             credit",
        ),
        text(
            "cause",
            "full; early (a congestion point dropped it before the queue was full); trimmed (a congestion point removed \
             its payload and the header continued); corrupt, link-down, pause-lost (a lossless class was full because its \
             sender did not receive XOFF), watchdog (a PFC watchdog dropped it, or sent it to a full buffer), unreachable or \
             at-source",
        ),
        maybe(integer(
            "output",
            Unit::None,
            "port number, on the node of the port, of the output whose queue dropped or trimmed it; empty if it was lost \
             elsewhere",
        )),
    ],
};

/// Why flows took the time that they took.
pub const CAUSES: Table = Table {
    name: "causes",
    meaning: "One row per flow and cause of its time; the rows of a flow add up to its time exactly. The time of a flow with \
         a size is from its start to its completion; of one without, from the later of its start and the end of the \
         warm-up to its stop or the end of the run. Written when the run ends.",
    order: &[0],
    time: None,
    columns: &[
        FLOW,
        text(
            "cause",
            "path (its frames are sent and propagate), contention (a frame of another flow is on the wire it waits for), \
             blocking (the link it waits for is paused or lacks credits), head-of-line (a frame before it in its switch \
             waits for another output), crossbar (other waits inside a switch), signals (a PAUSE, PFC or credit frame is on \
             the wire), link-down, rate or window (its congestion control), retransmission (a copy is on the wire), \
             recovery (the source waits for acknowledgements or a timeout), application (nothing to send), receiver (its \
             destination consumes slowly) or delivery (all is sent, and frames are missing)",
        ),
        maybe(text(
            "root",
            "root of blocking and head-of-line: output (more is sent to it than its link carries), receiver (a host that \
             consumes slowly), link (failed), cycle (each link waits for the next: a deadlock, if it lasts), credits (the \
             buffer does not cover the return time of credits) or resume (the buffer is empty and the sender has not yet \
             resumed)",
        )),
        maybe(integer("port", Unit::None, "number of the output at which the cause lies; of blocking, the root")),
        maybe(integer(
            "via",
            Unit::None,
            "number of the output at which the flow waited; of blocking, the blocked link at whose far end frames wait for \
             the root",
        )),
        maybe(column(
            "on_path",
            Kind::Flag,
            Unit::None,
            "whether the flow uses the output of column port, or a link of the cycle; a victim loses time to roots that it \
             does not use",
        )),
        maybe(integer(
            "by",
            Unit::None,
            "number of the flow whose frames are the cause; of recovery and delivery, the flow with the most bytes in the \
             queue that dropped the last frame",
        )),
        integer("time", Unit::Picoseconds, "time lost to this cause"),
        column("share", Kind::Real, Unit::Fraction, "time divided by the time of the flow"),
    ],
};

/// Why flows took the time that they took, over time.
pub const CAUSE_SAMPLES: Table = Table {
    name: "cause_samples",
    meaning: "Table causes over time: for every interval the causes of a flow's time, which add up to the part of its time in \
         the interval exactly. Intervals are those of samples, or longer by a power of two: at most 250 fit into a run. A missing \
         row means none. Written when the run ends.",
    order: &[0, 2],
    time: Some(0),
    columns: &[
        integer("time", Unit::Picoseconds, "end of the interval"),
        integer("interval", Unit::Picoseconds, "length of the interval"),
        FLOW,
        text("cause", "as in table causes"),
        maybe(text("root", "as in table causes")),
        maybe(integer("port", Unit::None, "as in table causes")),
        integer("span", Unit::Picoseconds, "time of the flow within the interval that is due to this cause"),
    ],
};

/// Congestion trees.
pub const TREES: Table = Table {
    name: "trees",
    meaning: "Congestion trees: every link that was blocked in a class at the end of an interval, as those of cause_samples, \
         while frames waited for it, and the roots of the blocking at that instant. A missing row means that it was not. Written when the run ends.",
    order: &[0, 2],
    time: Some(0),
    columns: &[
        integer("time", Unit::Picoseconds, "end of the interval"),
        integer("interval", Unit::Picoseconds, "length of the interval"),
        integer("port", Unit::None, "number of the blocked output (table ports)"),
        CLASS,
        text("root", "kind of root, as in table causes"),
        integer("root_port", Unit::None, "number of the output that is the root"),
        integer("blocked", Unit::Picoseconds, "the interval times the part of the blocking that is due to this root"),
    ],
};

/// Roots of blocking.
pub const ROOTS: Table = Table {
    name: "roots",
    meaning: "One row per root of blocking or head-of-line blocking and flow that crosses it. Written when the run ends.",
    order: &[0, 1],
    time: None,
    columns: &[
        integer("port", Unit::None, "number of the output that is the root (table ports)"),
        text("root", "kind of root, as in table causes"),
        maybe(integer("flow", Unit::None, "number of the flow that crosses the root; empty if none is to blame")),
        integer("time", Unit::Picoseconds, "time of all flows charged to this root and flow"),
        integer("victim_time", Unit::Picoseconds, "part of it that flows lost which do not use the port"),
        column(
            "culprit",
            Kind::Flag,
            Unit::None,
            "whether the flow is a culprit: it offers more than its fair share, and is charged with at least half of the \
             mean of the flows of this root",
        ),
    ],
};

/// All tables.
pub const TABLES: [&Table; 23] = [
    &PORTS,
    &FLOWS,
    &FLOW_SAMPLES,
    &COLLECTIVES,
    &COLLECTIVE_RANKS,
    &REQUESTS,
    &FAIR_SHARES,
    &LINKS,
    &STARVED,
    &QUEUES,
    &OCCUPANCY,
    &RATES,
    &PAUSES,
    &NOTICES,
    &DROPS,
    &WAITS,
    &WAIT_BUCKETS,
    &DELAYS,
    &QUEUE_LEVELS,
    &CAUSES,
    &CAUSE_SAMPLES,
    &ROOTS,
    &TREES,
];

/// The table of that name.
#[must_use]
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().copied().find(|table| table.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_words() {
        for (place, table) in TABLES.iter().enumerate() {
            assert!(TABLES[..place].iter().all(|other| other.name != table.name), "{}", table.name);
            for (place, column) in table.columns.iter().enumerate() {
                assert!(table.columns[..place].iter().all(|other| other.name != column.name), "{}", column.name);
                // Percentiles are named by their number: p50, p999.
                let percentile = column.name.strip_prefix('p').is_some_and(|number| number.parse::<u16>().is_ok());
                let words = column.name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
                assert!(words || percentile, "{}", column.name);
                assert!(!column.meaning.is_empty());
            }
            assert!(table.order.iter().all(|&place| place < table.columns.len()));
        }
    }

    #[test]
    fn what_is_ordered_by_time_says_when() {
        for table in TABLES {
            if let Some(time) = table.time {
                assert_eq!(table.order[0], time, "{}", table.name);
                assert_eq!(table.columns[time].unit, Unit::Picoseconds);
            }
        }
    }
}
