//! The kinds of pictures that a result may hold, and the tables they are drawn from.

use fabric::record::schema::{self, Table};

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// What flows deliver, over a sliding window.
    Throughput,
    /// How busy cables are, over a sliding window.
    Utilisation,
    /// Bytes waiting for outputs.
    Queues,
    /// Bytes held that came in by each port.
    Buffers,
    /// Bytes that flows hold in the buffers of ports.
    Occupancy,
    /// The rates flows may send at.
    Rates,
    /// The windows of flows.
    Windows,
    /// Congestion notices that flows have had so far.
    Notices,
    /// When ports had to stand still.
    Pauses,
}

impl Picture {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [Picture; 9] = [
        Picture::Throughput,
        Picture::Queues,
        Picture::Buffers,
        Picture::Occupancy,
        Picture::Rates,
        Picture::Windows,
        Picture::Notices,
        Picture::Pauses,
        Picture::Utilisation,
    ];

    /// The name of its files.
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
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Picture> {
        Picture::ALL.into_iter().find(|picture| picture.name() == name)
    }

    /// The table it is drawn from.
    #[must_use]
    pub const fn table(self) -> &'static Table {
        match self {
            Picture::Throughput => &schema::FLOW_SAMPLES,
            Picture::Utilisation => &schema::LINKS,
            Picture::Queues | Picture::Buffers => &schema::QUEUES,
            Picture::Occupancy => &schema::OCCUPANCY,
            Picture::Rates | Picture::Windows => &schema::RATES,
            Picture::Notices => &schema::NOTICES,
            Picture::Pauses => &schema::PAUSES,
        }
    }
}
