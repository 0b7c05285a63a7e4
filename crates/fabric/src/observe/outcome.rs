//! How a run ended and what it added up to.

use units::{Span, Time, grouped};

/// Sums over a run. Bytes count frames without overhead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Frames of any kind that crossed a cable.
    pub hops: u64,
    /// Data frames made by sources.
    pub made_frames: u64,
    /// Their bytes.
    pub made_bytes: u64,
    /// Data frames that sources retransmitted, each time.
    pub retransmitted_frames: u64,
    /// Their bytes.
    pub retransmitted_bytes: u64,
    /// Data frames consumed by their destination, each once.
    pub delivered_frames: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Data frames that had arrived before; the destination discarded them.
    pub duplicate_frames: u64,
    /// Their bytes.
    pub duplicate_bytes: u64,
    /// Data frames that the destination discarded because an earlier one was missing (go-back-N).
    pub rejected_frames: u64,
    /// Their bytes.
    pub rejected_bytes: u64,
    /// Data frames that arrived out of order, kept or rejected; see [`FlowSummary`](crate::FlowSummary::out_of_order_frames).
    pub out_of_order_frames: u64,
    /// Data frames dropped for want of room or route, or by a congestion point.
    pub dropped_frames: u64,
    /// Their bytes.
    pub dropped_bytes: u64,
    /// Data frames whose payload a switch removed; the headers count as control frames from then on.
    pub trimmed_frames: u64,
    /// The bytes of these frames.
    pub trimmed_bytes: u64,
    /// Headers of such frames that went back to their source, because no queue to their destination had room for them.
    pub returned_frames: u64,
    /// Dropped or trimmed frames that were queued again at their source.
    pub requeued_frames: u64,
    /// Data frames that PFC watchdogs dropped, or that found no room where a watchdog had sent them in spite of a pause.
    pub watchdog_frames: u64,
    /// Their bytes.
    pub watchdog_bytes: u64,
    /// Storms of pauses that PFC watchdogs detected.
    pub storms: u64,
    /// Those of them that ended: the queue was restored.
    pub restored_storms: u64,
    /// Data frames lost by faults of a cable: damaged, under way when it failed, or without room because it lost a pause.
    pub lost_frames: u64,
    /// Their bytes.
    pub lost_bytes: u64,
    /// Those of them that found no room in a lossless class, because their sender did not receive XOFF.
    pub pause_lost_frames: u64,
    /// Data frames their source threw away before sending.
    pub discarded_frames: u64,
    /// Their bytes.
    pub discarded_bytes: u64,
    /// Control frames that did not arrive.
    pub lost_control: u64,
    /// Those of them that were acknowledgements.
    pub lost_acknowledgements: u64,
    /// PAUSE and PFC frames sent.
    pub pause_frames: u64,
    /// Credit frames sent.
    pub credit_frames: u64,
    /// Acknowledgements sent, negative ones included.
    pub acknowledgements: u64,
    /// Those of them that were negative: a frame was missing.
    pub negative_acknowledgements: u64,
    /// Retransmission timers that expired.
    pub timeouts: u64,
    /// Congestion notification packets that destinations have sent.
    pub congestion_notifications: u64,
    /// Pulls that destinations have sent.
    pub pulls: u64,
    /// Congestion marks put on data frames; a frame may be marked by several switches.
    pub marked_frames: u64,
    /// Congestion notices sent.
    pub notices: u64,
    /// Probes that sources have sent.
    pub probes: u64,
    /// Receipts sent from the far to the near side of a fabric.
    pub receipts: u64,
    /// Bytes of all frames that are not data, each counted once, and of tags on data; overhead not counted.
    pub control_bytes: u64,
}

engine::encoded!(struct Totals {
    hops,
    made_frames,
    made_bytes,
    retransmitted_frames,
    retransmitted_bytes,
    delivered_frames,
    delivered_bytes,
    duplicate_frames,
    duplicate_bytes,
    rejected_frames,
    rejected_bytes,
    out_of_order_frames,
    dropped_frames,
    dropped_bytes,
    trimmed_frames,
    trimmed_bytes,
    returned_frames,
    requeued_frames,
    watchdog_frames,
    watchdog_bytes,
    storms,
    restored_storms,
    lost_frames,
    lost_bytes,
    pause_lost_frames,
    discarded_frames,
    discarded_bytes,
    lost_control,
    lost_acknowledgements,
    pause_frames,
    credit_frames,
    acknowledgements,
    negative_acknowledgements,
    timeouts,
    congestion_notifications,
    pulls,
    marked_frames,
    notices,
    probes,
    receipts,
    control_bytes,
});

impl Totals {
    #[inline]
    pub(crate) fn made(&mut self, len: u16) {
        self.made_frames += 1;
        self.made_bytes += u64::from(len);
    }

    pub(crate) fn retransmitted(&mut self, len: u16) {
        self.retransmitted_frames += 1;
        self.retransmitted_bytes += u64::from(len);
    }

    pub(crate) fn add(&mut self, other: &Totals) {
        self.hops += other.hops;
        self.made_frames += other.made_frames;
        self.made_bytes += other.made_bytes;
        self.retransmitted_frames += other.retransmitted_frames;
        self.retransmitted_bytes += other.retransmitted_bytes;
        self.delivered_frames += other.delivered_frames;
        self.delivered_bytes += other.delivered_bytes;
        self.duplicate_frames += other.duplicate_frames;
        self.duplicate_bytes += other.duplicate_bytes;
        self.rejected_frames += other.rejected_frames;
        self.rejected_bytes += other.rejected_bytes;
        self.out_of_order_frames += other.out_of_order_frames;
        self.dropped_frames += other.dropped_frames;
        self.dropped_bytes += other.dropped_bytes;
        self.trimmed_frames += other.trimmed_frames;
        self.trimmed_bytes += other.trimmed_bytes;
        self.returned_frames += other.returned_frames;
        self.requeued_frames += other.requeued_frames;
        self.watchdog_frames += other.watchdog_frames;
        self.watchdog_bytes += other.watchdog_bytes;
        self.storms += other.storms;
        self.restored_storms += other.restored_storms;
        self.lost_frames += other.lost_frames;
        self.lost_bytes += other.lost_bytes;
        self.pause_lost_frames += other.pause_lost_frames;
        self.discarded_frames += other.discarded_frames;
        self.discarded_bytes += other.discarded_bytes;
        self.lost_control += other.lost_control;
        self.lost_acknowledgements += other.lost_acknowledgements;
        self.pause_frames += other.pause_frames;
        self.credit_frames += other.credit_frames;
        self.acknowledgements += other.acknowledgements;
        self.negative_acknowledgements += other.negative_acknowledgements;
        self.timeouts += other.timeouts;
        self.congestion_notifications += other.congestion_notifications;
        self.pulls += other.pulls;
        self.marked_frames += other.marked_frames;
        self.notices += other.notices;
        self.probes += other.probes;
        self.receipts += other.receipts;
        self.control_bytes += other.control_bytes;
    }
}

/// What a shard noted of the first frame it had to drop in a lossless class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When.
    pub at: Time,
    /// Global number of the port by which the frame came.
    pub port: u32,
    /// Its class.
    pub class: u8,
    /// Its flow.
    pub flow: u32,
    /// Its length in bytes.
    pub frame: u32,
    /// Bytes (or credit units) held for that port and class before it came.
    pub held: u32,
    /// Shared buffer: the part of them in headroom.
    pub headroom_held: u32,
    /// What could be held; with a shared buffer the guaranteed part.
    pub capacity: u32,
    /// Where the sender was told to stop.
    pub xoff: u32,
    /// Shared buffer: the headroom there was.
    pub headroom: u32,
    /// Whether the sender had been told to stop.
    pub stopped: bool,
}

engine::encoded!(struct Loss {
    at,
    port,
    class,
    flow,
    frame,
    held,
    headroom_held,
    capacity,
    xoff,
    headroom,
    stopped,
});

/// Which limit a run reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// That many alarms.
    Events(u64),
    /// The caller's clock.
    WallClock,
    /// That many rows recorded.
    Rows(u64),
    /// That many bytes of tables.
    Bytes(u64),
}

engine::encoded!(enum Limit { 0 = Events(events), 1 = WallClock, 2 = Rows(rows), 3 = Bytes(bytes) });

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The time asked for was simulated, or nothing was left to do.
    Finished,
    /// Frames wait for each other in a circle and will for ever.
    Deadlock(crate::observe::watchdog::Deadlock),
    /// The time asked for was simulated; frames of a lossless class wait, nothing will move them, and there is no circle;
    /// or flows wait for others that cannot complete any more.
    Stalled(crate::observe::watchdog::Stall),
    /// The time asked for was simulated; at its end flows only retransmitted, nothing new had arrived for long, and frames of a
    /// lossless class waited behind the retransmissions.
    Livelock(crate::observe::watchdog::Livelock),
    /// A frame of a lossless class was dropped for want of room.
    LossInLosslessClass(LossDetails),
    /// A limit was reached before the time asked for.
    LimitReached(Limit),
    /// The run was told to stop.
    Interrupted,
}

/// A loss with names and the arithmetic of the room that was missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossDetails {
    /// The bare facts.
    pub loss: Loss,
    /// Name of the node that had no room.
    pub node: String,
    /// Number of the port on that node.
    pub port: u16,
    /// Name of the sender at the far end.
    pub sender: String,
    /// Whether the port pauses that class at all: PFC may be off there.
    pub pauses: bool,
    /// Whether the sender would obey: PFC may be off at its end.
    pub obeyed: bool,
    /// Bytes above the threshold that the cable and the frame sizes call for.
    pub needed: u64,
    /// The sum that gives `needed`.
    pub arithmetic: String,
}

engine::encoded!(struct LossDetails { loss, node, port, sender, pauses, obeyed, needed, arithmetic });

impl std::fmt::Display for LossDetails {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Loss { at, class, flow, frame, held, capacity, xoff, headroom, headroom_held, stopped, .. } = self.loss;
        let since = Span::from_picos(at.as_picos());
        let room = if headroom > 0 || headroom_held > 0 { headroom } else { capacity.saturating_sub(xoff) };
        let enough = u64::from(room) >= self.needed;
        let (node, port, sender) = (&self.node, self.port, &self.sender);
        let [frame, held, capacity, xoff, room] = [frame, held, capacity, xoff, room].map(|it| grouped(it.into()));
        writeln!(
            f,
            "at {since}, {node} port {port} had no buffer space for a frame of {frame} B from {sender} (flow {flow}, \
             lossless class {class}) and dropped it"
        )?;
        if !self.pauses {
            let there = if self.obeyed { "on" } else { "also off" };
            writeln!(
                f,
                "  cause: PFC for class {class} is off at {node} port {port}, so it never paused the sender (at {sender} \
                 it is {there})"
            )?;
            return write!(f, "  held {held} B + {frame} B > {capacity} B: without PFC no buffer is large enough");
        }
        if !self.obeyed {
            writeln!(f, "  cause: PFC for class {class} is off at {sender}, so it ignored XOFF")?;
            return write!(f, "  held {held} B + {frame} B > {capacity} B: XOFF was sent at {xoff} B and ignored");
        }
        if headroom > 0 || headroom_held > 0 {
            writeln!(f, "  headroom {room} B, {} B of it in use", grouped(headroom_held.into()))?;
        } else {
            writeln!(f, "  capacity {capacity} B - XOFF {xoff} B = headroom {room} B; held {held} B")?;
        }
        if !stopped {
            writeln!(f, "  XOFF had not been sent: the buffer was full before its XOFF threshold was reached")?;
        } else if enough {
            writeln!(
                f,
                "  this is enough if XOFF arrives in time and is refreshed: the XOFF was lost, or the pause expired"
            )?;
        }
        write!(f, "  headroom needed: {} B\n{}", grouped(self.needed), self.arithmetic)
    }
}
