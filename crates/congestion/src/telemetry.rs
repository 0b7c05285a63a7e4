//! In-band telemetry: what a switch writes into a frame that passes it.

use units::{Bytes, Rate, Time};

/// The state of an output queue when a frame left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// When the frame started on the output's link.
    pub at: Time,
    /// Bytes in the queue then, without the frame.
    pub queue: Bytes,
    /// Bytes that the output has sent since the start of the run, frame overhead included, without the frame.
    pub sent: Bytes,
    /// Rate of the output's link.
    pub rate: Rate,
}

units::encoded!(struct Stamp { at, queue, sent, rate });
