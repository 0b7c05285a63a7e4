//! What can be watched. A network is generic over its probe, so what is not watched costs nothing.

use crate::machine::frame::{Frame, Notice};
use units::{Span, Time};

/// Why a frame came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// There was no room for it.
    Full,
    /// It was damaged on its way.
    Corrupt,
    /// The cable failed under it.
    LinkDown,
    /// No route leads to its destination.
    Unreachable,
    /// The source threw it away: full backlog, or turned off.
    AtSource,
}

/// What a probe sees at its sampling instants: one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// Global number of the port.
    pub port: u32,
    /// Class.
    pub class: u8,
    /// Bytes waiting for this output, the frame on the wire not counted.
    pub output_bytes: u32,
    /// Bytes (or slots) held that came in by this port.
    pub input_held: u32,
}

/// Watches one shard. Every method does nothing unless it is written.
pub trait Probe: Send {
    /// Whether it holds so much that it should be emptied before the next inspection.
    fn is_full(&self) -> bool {
        false
    }
    /// How often [`Probe::on_queue`] and [`Probe::on_rate`] are called; `None` is never.
    fn sample_every(&self) -> Option<Span> {
        None
    }
    /// Whether [`Probe::on_rate`] is wanted: it costs a look at every flow that has started.
    fn wants_rates(&self) -> bool {
        true
    }
    /// A frame starts on a wire; it has waited that long here and occupies the wire that long.
    #[inline]
    fn on_transmit(&mut self, _now: Time, _port: u32, _frame: &Frame, _waited: Span, _busy: Span) {}
    /// A data frame has reached its destination's application.
    #[inline]
    fn on_deliver(&mut self, _now: Time, _host: u32, _frame: &Frame) {}
    /// The last byte of a finite flow has been received.
    #[inline]
    fn on_complete(&mut self, _now: Time, _flow: u32) {}
    /// A data frame or acknowledgement came to nothing at that port. Link-local frames are only counted.
    #[inline]
    fn on_drop(&mut self, _now: Time, _port: u32, _frame: &Frame, _cause: DropCause) {}
    /// A sender begins or ceases to obey a pause: bit n of `classes` stands for class n.
    #[inline]
    fn on_pause(&mut self, _now: Time, _port: u32, _classes: u8, _paused: bool) {}
    /// Whether [`Probe::on_starve`] is wanted: it costs a look at what waits whenever a wire stands still and, where
    /// there are several classes and credits, whenever a frame starts.
    #[inline]
    fn wants_starving(&self) -> bool {
        false
    }
    /// Frames of these classes, bit n for class n, wait at a port whose wire is free, and lack credits: until credits
    /// of their class come, or one of them starts. `still` says whether the wire stands still for it; otherwise a frame
    /// of another class starts.
    #[inline]
    fn on_starve(&mut self, _now: Time, _port: u32, _classes: u8, _still: bool) {}
    /// Credits of these classes, bit n for class n, have come to a port, or its cable has failed.
    #[inline]
    fn on_credits(&mut self, _now: Time, _port: u32, _classes: u8) {}
    /// A congestion notice has reached the source of its flow.
    #[inline]
    fn on_notice(&mut self, _now: Time, _flow: u32, _notice: &Notice) {}
    /// A sampling instant, once for every queue.
    fn on_queue(&mut self, _now: Time, _sample: QueueSample) {}
    /// A sampling instant, once for every input buffer of which account is kept: the flows in it and their bytes.
    fn on_occupancy(&mut self, _now: Time, _port: u32, _class: u8, _held: &[(u32, u32)]) {}
    /// A sampling instant, once for every flow that has started: its allowed rate in bits per second, if limited,
    /// and its window in bytes, if limited.
    fn on_rate(&mut self, _now: Time, _flow: u32, _rate: Option<u64>, _window: Option<u64>) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {}
