//! The kinds of plots of a result, and the tables they are drawn from.

use fabric::record::schema::{self, Table};

/// A kind of plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Throughput of flows, over a sliding window.
    Throughput,
    /// Utilisation of cables, over a sliding window.
    Utilisation,
    /// Egress queue lengths in bytes.
    Queues,
    /// Ingress buffer occupancy of each port in bytes.
    Buffers,
    /// Bytes of each flow in the buffers of ports.
    Occupancy,
    /// Sending rates of flows.
    Rates,
    /// Window sizes of flows.
    Windows,
    /// Cumulative congestion notifications of flows.
    Notices,
    /// Times in which ports were paused.
    Pauses,
    /// Distribution of the completion times of flows.
    CompletionTimes,
    /// Slowdowns of flows by their size.
    Slowdowns,
    /// Egress queue lengths of many ports, as colours.
    QueueMap,
    /// When the ranks of collective operations were at work.
    Ranks,
}

impl Picture {
    /// All kinds, in display order.
    pub const ALL: [Picture; 13] = [
        Picture::Throughput,
        Picture::CompletionTimes,
        Picture::Slowdowns,
        Picture::Ranks,
        Picture::Queues,
        Picture::QueueMap,
        Picture::Buffers,
        Picture::Occupancy,
        Picture::Rates,
        Picture::Windows,
        Picture::Notices,
        Picture::Pauses,
        Picture::Utilisation,
    ];

    /// Returns the base name of the plot's files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Picture::Throughput => "throughput",
            Picture::Utilisation => "utilisation",
            Picture::Queues => "queues",
            Picture::Buffers => "buffers",
            Picture::Occupancy => "occupancy",
            Picture::Notices => "notices",
            Picture::Rates => "rates",
            Picture::Windows => "windows",
            Picture::Pauses => "pauses",
            Picture::CompletionTimes => "completion-times",
            Picture::Slowdowns => "slowdowns",
            Picture::QueueMap => "queue-map",
            Picture::Ranks => "ranks",
        }
    }

    /// Returns the kind of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Picture> {
        Picture::ALL.into_iter().find(|picture| picture.name() == name)
    }

    /// Returns the table that the plot is drawn from.
    #[must_use]
    pub const fn table(self) -> &'static Table {
        match self {
            Picture::Throughput => &schema::FLOW_SAMPLES,
            Picture::Utilisation => &schema::LINKS,
            Picture::Queues | Picture::QueueMap | Picture::Buffers => &schema::QUEUES,
            Picture::Ranks => &schema::COLLECTIVE_RANKS,
            Picture::Occupancy => &schema::OCCUPANCY,
            Picture::Rates | Picture::Windows => &schema::RATES,
            Picture::Notices => &schema::NOTICES,
            Picture::Pauses => &schema::PAUSES,
            Picture::CompletionTimes | Picture::Slowdowns => &schema::FLOWS,
        }
    }
}
