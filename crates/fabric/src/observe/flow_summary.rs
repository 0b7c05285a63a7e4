//! What became of one flow.

use units::{Span, Time};

/// Numbers that a summary consists of.
pub(super) const WORDS: usize = 25;

/// What became of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowSummary {
    /// When its source began: at its start, or when the flows that it waits for were complete. `None` if it has not.
    pub started: Option<Time>,
    /// Frames its source has made.
    pub made_frames: u64,
    /// Bytes its destinations have consumed.
    pub received_bytes: u64,
    /// Frames its destinations have consumed.
    pub received_frames: u64,
    /// Those of them that carried a congestion mark.
    pub marked_frames: u64,
    /// Congestion notices its source has had.
    pub notices: u64,
    /// When the last byte of a finite flow arrived.
    pub completed: Option<Time>,
    /// When its destinations last consumed a frame; zero if they never did.
    pub last_received: Time,
    /// Frames of it that were dropped or lost and are not retransmitted. A finite flow with any never completes.
    pub lost_frames: u64,
    /// Frames that its source retransmitted, each time; not among those made.
    pub retransmitted_frames: u64,
    /// Their bytes.
    pub retransmitted_bytes: u64,
    /// How often its retransmission timer expired.
    pub timeouts: u64,
    /// Negative acknowledgements that its destination has sent.
    pub negative_acknowledgements: u64,
    /// Frames that had arrived before and were discarded.
    pub duplicate_frames: u64,
    /// Their bytes.
    pub duplicate_bytes: u64,
    /// Frames that its destination discarded because an earlier one was missing.
    pub rejected_frames: u64,
    /// Their bytes.
    pub rejected_bytes: u64,
    /// Frames that were discarded, for either reason, after the last one that was consumed.
    pub late_frames: u64,
    /// Their bytes.
    pub late_bytes: u64,
    /// Frames that arrived out of order: with recovery, frames before a missing one, kept or rejected; without, frames after
    /// a later one (RFC 4737). Zero for flows with a random destination per frame.
    pub out_of_order_frames: u64,
    /// Congestion notification packets that its destination has sent.
    pub congestion_notifications: u64,
    /// When the source of a finite flow with recovery knew that all of it had arrived.
    pub acknowledged: Option<Time>,
    /// How long a finite flow to one destination takes alone, by the routes at the start. Without recovery, this is the
    /// time from its start to the arrival of its last byte in an empty network. With recovery, it is the unit of slowdown of
    /// the HPCC simulator: the round trip of a frame's payload on its path without acknowledgement and headers, and all
    /// its bytes with headers and overhead at the slowest link.
    pub alone: Option<Span>,
    /// Whether its slowdown counts until its source knows that it is complete: it has recovery.
    pub until_known: bool,
    /// When a finite flow was over: complete, or, if that cannot be any more, the last of its frames had arrived or was
    /// lost.
    pub ended: Option<Time>,
}

impl FlowSummary {
    /// Frames that arrived, discarded ones included, and their bytes; of a flow that is over, until then.
    #[must_use]
    pub fn arrived(&self) -> (u64, u64) {
        let frames = self.received_frames + self.duplicate_frames + self.rejected_frames;
        let bytes = self.received_bytes + self.duplicate_bytes + self.rejected_bytes;
        if self.ended.is_some() { (frames - self.late_frames, bytes - self.late_bytes) } else { (frames, bytes) }
    }

    /// Returns how much longer a flow that started then took than it takes alone; `None` if it is not complete. It is
    /// complete when its last byte has arrived or, with recovery, when its source knows that.
    #[must_use]
    pub fn slowdown(&self, start: Time) -> Option<f64> {
        let alone = self.alone.filter(|alone| *alone > Span::ZERO)?;
        let end = if self.until_known { self.acknowledged? } else { self.completed? };
        Some(end.saturating_since(start).as_picos() as f64 / alone.as_picos() as f64)
    }

    /// Adds what another part of the network knows of the flow. Nothing is said of lost frames and of the end.
    pub(crate) fn add(&mut self, part: &FlowSummary) {
        let FlowSummary {
            started,
            made_frames,
            received_bytes,
            received_frames,
            marked_frames,
            notices,
            completed,
            last_received,
            lost_frames: _,
            retransmitted_frames,
            retransmitted_bytes,
            timeouts,
            negative_acknowledgements,
            duplicate_frames,
            duplicate_bytes,
            late_frames,
            late_bytes,
            rejected_frames,
            rejected_bytes,
            out_of_order_frames,
            congestion_notifications,
            acknowledged,
            alone,
            until_known,
            ended: _,
        } = part;
        self.started = self.started.or(*started);
        self.made_frames += made_frames;
        self.received_bytes += received_bytes;
        self.received_frames += received_frames;
        self.marked_frames += marked_frames;
        self.notices += notices;
        self.completed = self.completed.or(*completed);
        self.last_received = self.last_received.max(*last_received);
        self.retransmitted_frames += retransmitted_frames;
        self.retransmitted_bytes += retransmitted_bytes;
        self.timeouts += timeouts;
        self.negative_acknowledgements += negative_acknowledgements;
        self.duplicate_frames += duplicate_frames;
        self.duplicate_bytes += duplicate_bytes;
        self.late_frames += late_frames;
        self.late_bytes += late_bytes;
        self.rejected_frames += rejected_frames;
        self.rejected_bytes += rejected_bytes;
        self.out_of_order_frames += out_of_order_frames;
        self.congestion_notifications += congestion_notifications;
        self.acknowledged = self.acknowledged.or(*acknowledged);
        self.alone = self.alone.or(*alone);
        self.until_known |= until_known;
    }

    /// All of it as numbers.
    pub(super) fn words(&self) -> [u64; WORDS] {
        let time = |at: Option<Time>| at.map_or(0, |at| at.as_picos().wrapping_add(1));
        [
            time(self.started),
            self.made_frames,
            self.received_bytes,
            self.received_frames,
            self.marked_frames,
            self.notices,
            time(self.completed),
            self.last_received.as_picos(),
            self.lost_frames,
            self.retransmitted_frames,
            self.retransmitted_bytes,
            self.timeouts,
            self.negative_acknowledgements,
            self.duplicate_frames,
            self.duplicate_bytes,
            self.rejected_frames,
            self.rejected_bytes,
            self.late_frames,
            self.late_bytes,
            self.out_of_order_frames,
            self.congestion_notifications,
            time(self.acknowledged),
            self.alone.map_or(0, |span| span.as_picos().wrapping_add(1)),
            u64::from(self.until_known),
            time(self.ended),
        ]
    }

    /// The summary with those numbers.
    pub(super) fn of_words(words: &[u64; WORDS]) -> FlowSummary {
        let time = |word: u64| word.checked_sub(1).map(Time::from_picos);
        let &[
            started,
            made_frames,
            received_bytes,
            received_frames,
            marked_frames,
            notices,
            completed,
            last_received,
            lost_frames,
            retransmitted_frames,
            retransmitted_bytes,
            timeouts,
            negative_acknowledgements,
            duplicate_frames,
            duplicate_bytes,
            rejected_frames,
            rejected_bytes,
            late_frames,
            late_bytes,
            out_of_order_frames,
            congestion_notifications,
            acknowledged,
            alone,
            until_known,
            ended,
        ] = words;
        FlowSummary {
            started: time(started),
            made_frames,
            received_bytes,
            received_frames,
            marked_frames,
            notices,
            completed: time(completed),
            last_received: Time::from_picos(last_received),
            lost_frames,
            retransmitted_frames,
            retransmitted_bytes,
            timeouts,
            negative_acknowledgements,
            duplicate_frames,
            duplicate_bytes,
            rejected_frames,
            rejected_bytes,
            late_frames,
            late_bytes,
            out_of_order_frames,
            congestion_notifications,
            acknowledged: time(acknowledged),
            alone: alone.checked_sub(1).map(Span::from_picos),
            until_known: until_known != 0,
            ended: time(ended),
        }
    }
}

engine::encoded!(struct FlowSummary { started, made_frames, received_bytes, received_frames, marked_frames, notices, completed, last_received, lost_frames, retransmitted_frames, retransmitted_bytes, timeouts, negative_acknowledgements, duplicate_frames, duplicate_bytes, late_frames, late_bytes, rejected_frames, rejected_bytes, out_of_order_frames, congestion_notifications, acknowledged, alone, until_known, ended });
