//! Events: everything that decides how long a frame waits and why, in the order in which it happens.
//!
//! Events go into no table. Causes of delay cross shards, so shards do not look for them: they keep what happened, and
//! one reader of the events of all shards draws the conclusions. The events of a node are kept by one shard in their
//! order, which is the same for every partitioning; the order of nodes within an instant is up to the reader.

use super::Recorder;
use crate::machine::frame::{Frame, Kind};
use crate::observe::probe::SourceState;
use units::{Span, Time};

/// The bit that makes the number of a host of [`Event::port`].
pub const HOST: u32 = 1 << 31;
/// The bit of [`Event::other`] that says that the frame is followed: it may be the one that completes its flow.
pub const FOLLOWED: u32 = 1 << 31;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Happening {
    /// A data frame starts on the wire of `port`: `other` is the number on its switch of the port by which it came, `amount`
    /// the time for which it occupies the wire.
    Started,
    /// The same for an acknowledgement, a notice or another frame that is not data.
    StartedReply,
    /// The same for a frame that is for the neighbour only.
    StartedControl,
    /// A frame that came by `port` waits for the port `other`; `amount` is 1 if it is data.
    Joined,
    /// A frame that came by `port` has come through the crossbar to the queue of the port `other`.
    Crossed,
    /// A frame that came by `port` no longer waits for the port `other`: its route changed. `amount` is 1 if it is data.
    Left,
    /// A data frame has arrived by `port` at a host that may be slower than its link.
    Received,
    /// A data frame was delivered to the host `port`, with [`HOST`] set. If the host is never slower than its links, only
    /// frames that are followed are kept.
    Delivered,
    /// The flow is complete; at the host `port`, with [`HOST`] set.
    Completed,
    /// A data frame was dropped, trimmed or lost at `port`: `other` is the number on its switch of the output whose queue
    /// had no place for it; none of that number if it was lost on its way.
    Dropped,
    /// A data frame that is followed was discarded at the host `port`, with [`HOST`] set.
    Discarded,
    /// The classes of `class`, bit n for class n, are paused at the sender `port`.
    Paused,
    /// They are paused no more.
    Resumed,
    /// Frames of these classes wait for credits at `port`.
    Starved,
    /// Credits of these classes arrived at `port`.
    Credits,
    /// The link of `port` failed.
    Down,
    /// It works again.
    Up,
    /// The flow is in the state of number `class` ([`SourceState`]) at its source; its next frame leaves by `port`.
    Source,
    /// A data frame of the flow was marked at the output `port`.
    Marked,
    /// A notice from the output `port` has come to the source of the flow. It happens at the source.
    Noticed,
}

engine::encoded!(enum Happening {
    0 = Started,
    1 = StartedReply,
    2 = StartedControl,
    3 = Joined,
    4 = Crossed,
    5 = Left,
    6 = Received,
    7 = Delivered,
    8 = Completed,
    9 = Dropped,
    10 = Discarded,
    11 = Paused,
    12 = Resumed,
    13 = Starved,
    14 = Credits,
    15 = Down,
    16 = Up,
    17 = Source,
    18 = Marked,
    19 = Noticed,
});

/// One event. What a field means is said by `what`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it happened.
    pub time: Time,
    /// A span or an instant in picoseconds.
    pub amount: u64,
    /// A port of the network.
    pub port: u32,
    /// The flow, if it is about one.
    pub flow: u32,
    /// Another port; and [`FOLLOWED`], if a frame starts, is delivered, dropped or discarded.
    pub other: u32,
    /// Length of the frame.
    pub length: u16,
    /// Class of the frame; or several classes, or a state.
    pub class: u8,
    /// What happened.
    pub what: Happening,
}

engine::encoded!(struct Event { time, amount, port, flow, other, length, class, what });

impl Event {
    /// Whether a data frame starts on a wire.
    #[must_use]
    pub fn is_data_start(&self) -> bool {
        self.what == Happening::Started
    }

    /// The state of a [`Happening::Source`].
    #[must_use]
    pub fn state(&self) -> SourceState {
        use SourceState::{Application, Rate, Ready, Recovery, Resend, Sent, Timeout, Window};
        let states = [Ready, Application, Rate, Window, Recovery, Sent, Resend, Timeout];
        states.into_iter().find(|&state| state as u8 == self.class).unwrap_or(Application)
    }
}

impl Recorder {
    fn keep(&mut self, now: Time, what: Happening, port: u32, frame: &Frame, other: u32, amount: u64) {
        self.latest = now;
        let Frame { flow, len: length, class, .. } = *frame;
        self.rows.events.push(Event { time: now, amount, port, flow, other, length, class, what });
    }

    /// The mark of a frame that may complete its flow.
    #[inline]
    fn followed(&self, frame: &Frame) -> u32 {
        let followed = frame.kind == Kind::Data && (frame.is_last() || self.spec.followed.contains(frame.flow));
        if followed { FOLLOWED } else { 0 }
    }

    /// A frame starts on a wire, and somebody wants more than its bytes.
    #[inline(never)]
    pub(super) fn keep_start(&mut self, now: Time, port: u32, frame: &Frame, busy: Span) {
        if self.spec.frames.contains(port) {
            self.latest = now;
            let (stamps, blocks) = std::mem::take(&mut self.attachments);
            let frame = frame.for_record();
            self.rows.frames.push(super::FrameRow { time: now, port, frame, stamps, blocks });
        }
        if self.spec.causes {
            let what = match frame.kind {
                Kind::Data => Happening::Started,
                Kind::Pause | Kind::Credit => Happening::StartedControl,
                _ => Happening::StartedReply,
            };
            let other = u32::from(frame.input) | self.followed(frame);
            self.keep(now, what, port, frame, other, busy.as_picos());
        }
    }

    /// A frame has come to a place where it waits, or has left it.
    pub(super) fn keep_place(&mut self, now: Time, what: Happening, port: u32, other: u32, frame: &Frame) {
        self.receives |= what == Happening::Received;
        self.keep(now, what, port, frame, other, u64::from(frame.kind == Kind::Data));
    }

    /// A frame was delivered.
    pub(super) fn keep_delivery(&mut self, now: Time, host: u32, frame: &Frame) {
        self.delivered_to = host;
        let followed = self.followed(frame);
        if followed != 0 || self.receives {
            self.keep(now, Happening::Delivered, HOST | host, frame, followed, 0);
        }
    }

    /// The frame that was delivered last completes its flow.
    pub(super) fn keep_completion(&mut self, now: Time, flow: u32) {
        let (port, what) = (HOST | self.delivered_to, Happening::Completed);
        self.rows.events.push(Event { time: now, amount: 0, port, flow, other: 0, length: 0, class: 0, what });
    }

    /// A data frame was dropped or lost, or its destination does not take it.
    pub(super) fn keep_drop(&mut self, now: Time, what: Happening, port: u32, frame: &Frame, output: Option<u16>) {
        let followed = self.followed(frame);
        if frame.kind == Kind::Data && (what == Happening::Dropped || followed != 0 || self.receives) {
            let output = output.map_or(!FOLLOWED, u32::from);
            self.keep(now, what, port, frame, output | followed, 0);
        }
    }

    /// A congestion point at a port has told a flow, or will.
    pub(super) fn keep_signal(&mut self, now: Time, what: Happening, port: u32, flow: u32) {
        if !self.spec.causes {
            return;
        }
        self.latest = now;
        self.rows.events.push(Event { time: now, amount: 0, port, flow, other: 0, length: 0, class: 0, what });
    }

    /// Something about a port or some of its classes has changed.
    pub(super) fn keep_change(&mut self, now: Time, what: Happening, port: u32, classes: u8) {
        self.latest = now;
        let (amount, flow, other, length) = (0, u32::MAX, 0, 0);
        self.rows.events.push(Event { time: now, amount, port, flow, other, length, class: classes, what });
    }

    /// A flow is in that state at its source. Only changes are kept.
    pub(super) fn keep_source(&mut self, now: Time, port: u32, flow: u32, state: SourceState) {
        if !matches!(state, SourceState::Resend | SourceState::Timeout) {
            let known: &mut Option<(SourceState, u32)> = self.sources.entry(flow as usize);
            if known.replace((state, port)) == Some((state, port)) {
                return;
            }
        }
        self.latest = now;
        let (amount, other, length, what) = (0, 0, 0, Happening::Source);
        self.rows.events.push(Event { time: now, amount, port, flow, other, length, class: state as u8, what });
    }
}
