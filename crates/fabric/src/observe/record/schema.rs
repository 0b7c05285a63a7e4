//! The tables a run leaves behind: every column with its unit and meaning, in one place.
//!
//! Files, their headers and metadata, the reference page and the comparison of two runs are all made from [`TABLES`];
//! nothing else knows a column's name. Integers are signed 64-bit, because that is what every reader of tables
//! subtracts without surprises; a value that does not fit is written as the largest that does.

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

const SAMPLED: Column = integer("time", Unit::Picoseconds, "the sampling instant");
const PORT: Column = integer("port", Unit::None, "number of the port, see the table ports");
const FLOW: Column = integer("flow", Unit::None, "number of the flow, see the table flows");
const CLASS: Column = integer("class", Unit::None, "priority or virtual lane");
const INTERVAL: Column =
    integer("interval", Unit::Picoseconds, "length of the time that ends at the sampling instant and is summed here");

/// Every port of the network and what it is plugged into.
pub const PORTS: Table = Table {
    name: "ports",
    meaning: "One row per port. Ports are numbered node by node.",
    order: &[0],
    time: None,
    columns: &[
        integer("port", Unit::None, "number of the port"),
        text("name", "node and number on it, as in sw0:3"),
        text("node", "name of the node it belongs to"),
        integer("number", Unit::None, "its number on that node"),
        integer("peer_port", Unit::None, "number of the port at the far end of the cable"),
        text("peer", "name of the node at the far end"),
        integer("rate", Unit::BitsPerSecond, "speed of the cable in each direction"),
        integer("latency", Unit::Picoseconds, "propagation delay of the cable in one direction"),
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
        maybe(text("destination", "name of the receiving host; empty if each frame draws its own")),
        CLASS,
        integer("start", Unit::Picoseconds, "instant at which it may begin"),
        maybe(integer("stop", Unit::Picoseconds, "instant at which its source stops; empty if none was set")),
        maybe(integer("size", Unit::Bytes, "what it has to send; empty if it has no end")),
        integer("made_frames", Unit::Frames, "frames its source has made"),
        integer("lost_frames", Unit::Frames, "frames of it that were dropped or lost and are not sent again"),
        integer("frames", Unit::Frames, "frames its destination has consumed"),
        integer("bytes", Unit::Bytes, "bytes its destination has consumed"),
        integer("marked_frames", Unit::Frames, "frames its destination has consumed that carried a congestion mark"),
        integer("notices", Unit::None, "congestion notices its source has had"),
        maybe(integer("completed", Unit::Picoseconds, "instant at which the last byte arrived; empty if it did not")),
        maybe(integer("duration", Unit::Picoseconds, "from the start to the arrival of the last byte")),
        maybe(integer(
            "ended",
            Unit::Picoseconds,
            "instant from which on it was no longer under way: it was complete, it was stopped, or the last of its frames had arrived or was lost; empty if it was under way when the run ended",
        )),
        maybe(column(
            "throughput",
            Kind::Real,
            Unit::BitsPerSecond,
            "mean of the bytes consumed from the later of its start and the end of the warm-up to the earliest of its end (complete, or nothing left after a loss), its stop and the end of the run; empty if that is no time",
        )),
        maybe(integer("first_delivery", Unit::Picoseconds, "instant at which the first frame was consumed")),
        maybe(integer("last_delivery", Unit::Picoseconds, "instant at which the latest frame was consumed")),
        maybe(column(
            "mean_delay",
            Kind::Real,
            Unit::Picoseconds,
            "mean time from a frame's making to its consumption",
        )),
        maybe(integer("max_delay", Unit::Picoseconds, "longest time from a frame's making to its consumption")),
    ],
};

/// What flows delivered in each interval.
pub const FLOW_SAMPLES: Table = Table {
    name: "flow_samples",
    meaning: "One row per sampling instant and flow that delivered something since the one before. A missing row means that nothing was delivered.",
    order: &[0, 1],
    time: Some(0),
    columns: &[
        SAMPLED,
        FLOW,
        INTERVAL,
        integer("bytes", Unit::Bytes, "bytes consumed by the destination in the interval"),
        integer("frames", Unit::Frames, "frames consumed by the destination in the interval"),
        column("throughput", Kind::Real, Unit::BitsPerSecond, "those bytes over the interval"),
    ],
};

/// What would have been fair.
pub const FAIR_SHARES: Table = Table {
    name: "fair_shares",
    meaning: "One row per flow at each instant at which its max-min fair share among the flows then under way changed. Computed from the plan and from when flows ended, not measured; no rows if there are too many flows or changes.",
    order: &[0, 1],
    time: Some(0),
    columns: &[
        integer("time", Unit::Picoseconds, "from when on"),
        FLOW,
        integer(
            "share",
            Unit::BitsPerSecond,
            "bits of frames per second, overhead not counted; zero while the flow asks for nothing; the least where links that weigh classes differently leave several divisions fair",
        ),
    ],
};

/// What went over each cable in each interval.
pub const LINKS: Table = Table {
    name: "links",
    meaning: "One row per sampling instant and port that sent something, or wanted to and lacked credits, since the one before. A missing row means neither.",
    order: &[0, 1],
    time: Some(0),
    columns: &[
        SAMPLED,
        integer("port", Unit::None, "number of the sending port, see the table ports"),
        INTERVAL,
        integer(
            "bytes",
            Unit::Bytes,
            "bytes of all frames sent in the interval; one cut by its end counts in proportion",
        ),
        integer("frames", Unit::Frames, "frames of any kind started in the interval"),
        integer(
            "busy",
            Unit::Picoseconds,
            "time in the interval during which the wire was in use, preamble and gap counted",
        ),
        integer("total_bytes", Unit::Bytes, "bytes sent since the start of the run"),
        column("utilisation", Kind::Real, Unit::Fraction, "busy time over the interval"),
        column("throughput", Kind::Real, Unit::BitsPerSecond, "bytes over the interval"),
        integer(
            "starved",
            Unit::Picoseconds,
            "time in the interval during which the wire stood still while frames waited for it that lacked credits",
        ),
    ],
};

/// How long classes lacked credits.
pub const STARVED: Table = Table {
    name: "starved",
    meaning: "One row per sampling instant, port and class whose frames have lacked credits since the one before. A missing row means that they did not.",
    order: &[0, 1, 2],
    time: Some(0),
    columns: &[
        SAMPLED,
        integer("port", Unit::None, "number of the sending port, see the table ports"),
        CLASS,
        INTERVAL,
        integer(
            "starved",
            Unit::Picoseconds,
            "time in the interval during which frames of the class waited and lacked credits, from an instant at which the wire was free to the one at which credits came; the wire may have been in use by other classes",
        ),
    ],
};

/// How full the queues were.
pub const QUEUES: Table = Table {
    name: "queues",
    meaning: "One row per sampling instant and queue that has changed since the one before. A missing row means unchanged; before its first row a queue is empty.",
    order: &[0, 1, 2],
    time: Some(0),
    columns: &[
        SAMPLED,
        PORT,
        CLASS,
        integer("output_bytes", Unit::Bytes, "waiting to leave by this port, the frame on the wire not counted"),
        integer(
            "input_held",
            Unit::Bytes,
            "held that came in by this port, as the rules of the buffer count it; frames where a credit is a frame",
        ),
    ],
};

/// Which flows hold the input buffers.
pub const OCCUPANCY: Table = Table {
    name: "occupancy",
    meaning: "One row per sampling instant, input buffer and flow whose part of it has changed since the one before, at switches that keep account of it. A missing row means unchanged; before its first row a flow holds nothing.",
    order: &[0, 1, 2, 3],
    time: Some(0),
    columns: &[
        SAMPLED,
        PORT,
        CLASS,
        FLOW,
        integer("bytes", Unit::Bytes, "held by frames of the flow that came in by this port, copies kept counted"),
    ],
};

/// What the senders were allowed.
pub const RATES: Table = Table {
    name: "rates",
    meaning: "One row per flow at its first sampling instant after its start, and at each one at which its allowance has changed. A missing row means unchanged.",
    order: &[0, 1],
    time: Some(0),
    columns: &[
        SAMPLED,
        FLOW,
        maybe(integer("rate", Unit::BitsPerSecond, "rate at which it may send; empty if no rate limits it")),
        maybe(integer("window", Unit::Bytes, "bytes it may have on their way; empty if no window limits it")),
    ],
};

/// When senders stood still.
pub const PAUSES: Table = Table {
    name: "pauses",
    meaning: "One row per time during which a port obeyed a pause for a class, in the order in which they ended.",
    order: &[1, 2, 3],
    time: Some(1),
    columns: &[
        integer("start", Unit::Picoseconds, "instant at which the port began to obey"),
        integer("end", Unit::Picoseconds, "instant at which it might send again, or the end of the run"),
        integer("port", Unit::None, "number of the port that had to stop, see the table ports"),
        CLASS,
        column("cut_off", Kind::Flag, Unit::None, "whether the run ended before the pause did"),
    ],
};

/// What congestion points told senders.
pub const NOTICES: Table = Table {
    name: "notices",
    meaning: "One row per congestion notice that reached the source it was for.",
    order: &[0, 1],
    time: Some(0),
    columns: &[
        integer("time", Unit::Picoseconds, "instant at which the source had it"),
        FLOW,
        integer("port", Unit::None, "number of the port whose buffer or queue it is about, see the table ports"),
        CLASS,
        integer("feedback", Unit::None, "quantised feedback, as the frame carries it"),
        column("offset", Kind::Real, Unit::Bytes, "set point less the queue"),
        column("growth", Kind::Real, Unit::Bytes, "how much the queue had grown since the sample before"),
    ],
};

/// Frames that came to nothing.
pub const DROPS: Table = Table {
    name: "drops",
    meaning: "One row per frame that came to nothing, whatever it was for. Lost PAUSE, PFC and credit frames are only counted, in the manifest.",
    order: &[0, 1],
    time: Some(0),
    columns: &[
        integer("time", Unit::Picoseconds, "when"),
        integer("port", Unit::None, "number of the port by which it came, or at whose source it was thrown away"),
        maybe(integer("flow", Unit::None, "number of its flow")),
        CLASS,
        integer("length", Unit::Bytes, "its length"),
        text("kind", "data, acknowledgement, notice, receipt, probe or answer"),
        text("cause", "full, corrupt, link-down, unreachable or at-source"),
    ],
};

/// How long frames waited at each port.
pub const WAITS: Table = Table {
    name: "waits",
    meaning: "One row per port and class that has sent data or acknowledgements: from joining the queue to the start on the wire. Written when the run ends.",
    order: &[0, 1],
    time: None,
    columns: &[
        PORT,
        CLASS,
        integer("frames", Unit::Frames, "how many were sent"),
        column("mean", Kind::Real, Unit::Picoseconds, "mean wait"),
        integer("max", Unit::Picoseconds, "longest wait"),
    ],
};

/// The distribution of those waits.
pub const WAIT_BUCKETS: Table = Table {
    name: "wait_buckets",
    meaning: "The waits of the table waits, counted by powers of two. A missing row means none. Written when the run ends.",
    order: &[0, 1, 2],
    time: None,
    columns: &[
        PORT,
        CLASS,
        integer("at_least", Unit::Picoseconds, "shortest wait counted here"),
        integer("below", Unit::Picoseconds, "first wait no longer counted here"),
        integer("frames", Unit::Frames, "how many waited that long"),
    ],
};

/// All tables.
pub const TABLES: [&Table; 14] = [
    &PORTS,
    &FLOWS,
    &FLOW_SAMPLES,
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
                assert!(column.name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{}", column.name);
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
