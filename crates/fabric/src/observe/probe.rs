//! Observers of a run. A network is generic over its probe, so unobserved events cost nothing.

use crate::machine::frame::{Frame, Notice};
use crate::machine::network::Network;
use congestion::Stamp;
use engine::{Inspection, Ranks, RunPlan, RunReport, Shard};
use std::ops::ControlFlow;
use units::{Span, State, Time};

/// The reason that a frame was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// No room in the buffer.
    Full,
    /// A congestion point dropped it before the queue was full.
    Early,
    /// A congestion point removed its payload; the header continues.
    Trimmed,
    /// Bit error on the link.
    Corrupt,
    /// The link failed during transmission.
    LinkDown,
    /// No room in a buffer of a lossless class, because its sender did not receive XOFF: bit errors destroyed the pause, or
    /// the link failed while the pause was in force.
    PauseLost,
    /// No route to the destination.
    Unreachable,
    /// Dropped by the source: its backlog is full, or it is off.
    AtSource,
    /// Its queue is in a storm of pauses, or it was sent in one to a buffer without room.
    Watchdog,
}

engine::encoded!(enum DropCause {
    0 = Full,
    1 = Early,
    2 = Trimmed,
    3 = Corrupt,
    4 = LinkDown,
    5 = Unreachable,
    6 = AtSource,
    7 = PauseLost,
    8 = Watchdog,
});

impl DropCause {
    /// Whether a switch dropped or trimmed the frame at a buffer or queue. A source that queues dropped frames again does so
    /// for these causes.
    pub(crate) fn is_for_want_of_room(self) -> bool {
        let full = matches!(self, DropCause::Full | DropCause::PauseLost | DropCause::Watchdog);
        full || matches!(self, DropCause::Early | DropCause::Trimmed)
    }
}

/// What a flow does at its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SourceState {
    /// It may send, and waits for its turn on the wire.
    Ready,
    /// Its application has nothing to send, or is off.
    Application,
    /// Its rate limit holds the next frame.
    Rate,
    /// Its window is full, or its destination has not permitted more.
    Window,
    /// It waits for replies or for its timer before it sends more.
    Recovery,
    /// It has sent all of its bytes.
    Sent,
    /// The frame that starts next was sent before. This is no state: the state before still holds.
    Resend,
    /// Its retransmission timer expired. This is no state: it ends the one before.
    Timeout,
}

engine::encoded!(enum SourceState {
    0 = Ready,
    1 = Application,
    2 = Rate,
    3 = Window,
    4 = Recovery,
    5 = Sent,
    6 = Resend,
    7 = Timeout,
});

/// A sample of one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSample {
    /// Global number of the port.
    pub port: u32,
    /// Class.
    pub class: u8,
    /// Bytes that wait for this output, without the frame on the wire.
    pub output_bytes: u32,
    /// Bytes (or slots) held by this port's input.
    pub input_held: u32,
}

engine::encoded!(struct QueueSample { port, class, output_bytes, input_held });

/// Sees a network with probes of this type at every inspection, and may end its run.
#[doc(hidden)]
pub type Supervisor<'a, P> = dyn FnMut(Inspection<'_, '_, Network<P>>) -> ControlFlow<()> + 'a;

/// An observer of one shard. The default of every method does nothing.
pub trait Probe: Send {
    /// Runs the shards of this rank: the one call that leads to the machine. The machine is generic over its probe, and
    /// generic code is compiled in the crate that needs it. The probes of this crate override this with
    /// `machine_of_this_crate`, so their machines are compiled here, with the optimisation of the models.
    #[doc(hidden)]
    fn run_shards(
        ranks: &mut dyn Ranks,
        bounds: &[u32],
        shards: &mut [Shard<Network<Self>>],
        plan: RunPlan<'_>,
        supervisor: &mut Supervisor<'_, Self>,
    ) -> RunReport
    where
        Self: Sized,
    {
        engine::run_among(ranks, bounds, shards, plan, supervisor)
    }

    /// Returns whether it holds so much data that it should be emptied before the next inspection.
    fn is_full(&self) -> bool {
        false
    }
    /// Returns the interval of [`Probe::on_queue`] and [`Probe::on_rate`]; `None` for no calls.
    fn sample_every(&self) -> Option<Span> {
        None
    }
    /// Returns whether it needs [`Probe::on_rate`], which visits every flow that has started.
    fn wants_rates(&self) -> bool {
        true
    }
    /// Returns whether it needs [`Probe::on_attachments`].
    #[inline]
    fn wants_attachments(&self) -> bool {
        false
    }
    /// The frame whose start is told next carries these stamps of telemetry and these selective blocks, which are not in
    /// the frame itself. A block is the first number of frames that have arrived and the first after them, modulo 2^32.
    #[inline]
    fn on_attachments(&mut self, _stamps: &[Stamp], _blocks: &[(u32, u32)]) {}
    /// A frame starts on a wire; it waited here for `waited` and occupies the wire for `busy`.
    #[inline]
    fn on_transmit(&mut self, _now: Time, _port: u32, _frame: &Frame, _waited: Span, _busy: Span) {}
    /// A data frame was delivered to the application of its destination.
    #[inline]
    fn on_deliver(&mut self, _now: Time, _host: u32, _frame: &Frame) {}
    /// The last byte of a finite flow was received.
    #[inline]
    fn on_complete(&mut self, _now: Time, _flow: u32) {}
    /// A data frame or acknowledgement was dropped at that port. Link-local frames are only counted.
    #[inline]
    fn on_drop(&mut self, _now: Time, _port: u32, _frame: &Frame, _cause: DropCause) {}
    /// A sender starts or stops obeying a pause; bit n of `classes` is class n.
    #[inline]
    fn on_pause(&mut self, _now: Time, _port: u32, _classes: u8, _paused: bool) {}
    /// Returns whether it needs [`Probe::on_starve`], which costs a check of the waiting frames whenever a wire becomes
    /// idle and, with several classes and credits, whenever a frame starts.
    #[inline]
    fn wants_starving(&self) -> bool {
        false
    }
    /// Frames of these classes, bit n for class n, wait for credits at a port whose wire is free, until credits of
    /// their class arrive or one of them starts. `still` states whether the wire is idle for that reason; otherwise a
    /// frame of another class starts.
    #[inline]
    fn on_starve(&mut self, _now: Time, _port: u32, _classes: u8, _still: bool) {}
    /// Credits of these classes, bit n for class n, arrived at a port, or its link failed.
    #[inline]
    fn on_credits(&mut self, _now: Time, _port: u32, _classes: u8) {}
    /// A congestion point marked a frame that waits for that port, or starts there.
    #[inline]
    fn on_mark(&mut self, _now: Time, _port: u32, _frame: &Frame) {}
    /// A congestion notice reached the source of its flow.
    #[inline]
    fn on_notice(&mut self, _now: Time, _flow: u32, _notice: &Notice) {}
    /// Returns whether it needs [`Probe::on_join`], [`Probe::on_leave`], [`Probe::on_receive`], [`Probe::on_discard`],
    /// [`Probe::on_source`] and [`Probe::on_cable`].
    #[inline]
    fn wants_causes(&self) -> bool {
        false
    }
    /// A frame that came by port `input` of a switch waits for port `output` of it.
    #[inline]
    fn on_join(&mut self, _now: Time, _input: u32, _output: u32, _frame: &Frame) {}
    /// A frame that waited for an output has left its input buffer without having started on the wire: it crossed to the
    /// queue of the output, or its route changed.
    #[inline]
    fn on_leave(&mut self, _now: Time, _input: u32, _output: u32, _frame: &Frame, _crossed: bool) {}
    /// A data frame has arrived by that port at a host that may be slower than its link.
    #[inline]
    fn on_receive(&mut self, _now: Time, _port: u32, _frame: &Frame) {}
    /// A data frame has arrived at its destination, which does not take it: it came twice, or too early.
    #[inline]
    fn on_discard(&mut self, _now: Time, _host: u32, _frame: &Frame) {}
    /// A flow is in that state at its source; its next frame leaves by that port.
    #[inline]
    fn on_source(&mut self, _now: Time, _port: u32, _flow: u32, _state: SourceState) {}
    /// The link of a port failed or works again.
    #[inline]
    fn on_cable(&mut self, _now: Time, _port: u32, _up: bool) {}
    /// Called at every sampling instant for every queue.
    fn on_queue(&mut self, _now: Time, _sample: QueueSample) {}
    /// Called at every sampling instant for every input buffer with occupancy accounting, with its flows and their
    /// bytes.
    fn on_occupancy(&mut self, _now: Time, _port: u32, _class: u8, _held: &[(u32, u32)]) {}
    /// Called at every sampling instant for every flow that has started, with its allowed rate in bits per second and
    /// its window in bytes; `None` for no limit.
    fn on_rate(&mut self, _now: Time, _flow: u32, _rate: Option<u64>, _window: Option<u64>) {}
}

/// A probe that observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl State for NoProbe {
    fn save(&self, _out: &mut Vec<u8>) {}

    fn load(&mut self, _input: &mut &[u8]) -> Option<()> {
        Some(())
    }
}

/// The body of [`Probe::run_shards`] once more, for a probe that has no parameters: not generic, so it is compiled here.
macro_rules! machine_of_this_crate {
    () => {
        #[inline(never)]
        fn run_shards(
            ranks: &mut dyn engine::Ranks,
            bounds: &[u32],
            shards: &mut [engine::Shard<crate::machine::network::Network<Self>>],
            plan: engine::RunPlan<'_>,
            supervisor: &mut crate::observe::probe::Supervisor<'_, Self>,
        ) -> engine::RunReport {
            engine::run_among(ranks, bounds, shards, plan, supervisor)
        }
    };
}
pub(crate) use machine_of_this_crate;

impl Probe for NoProbe {
    machine_of_this_crate!();
}
