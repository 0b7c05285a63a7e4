//! Frames: what every one has, what each kind says ([`content`]), and the pool they live in ([`pool`]).

mod content;
pub(crate) mod extension;
mod pool;
pub(crate) mod telemetry;

pub use content::{Content, Credit, Cumulative, Inquiry, Notice, Pause, Segment};
use engine::Encode;
pub(crate) use pool::{List, NIL, Pool};
use units::Time;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Carries a flow's bytes.
    Data,
    /// Tells a sender what arrived.
    Acknowledgement,
    /// Tells a source of congestion.
    Notice,
    /// Asks about its flow's path.
    Probe,
    /// A probe on its way back.
    Answer,
    /// Tells the near side of a fabric that the far side has a frame of that flow.
    Receipt,
    /// The header of a data frame whose payload a switch has removed: tells its destination what is missing.
    Trimmed,
    /// Tells the source of a flow with recovery which frames have arrived.
    CumulativeAcknowledgement,
    /// The same, and that a frame is missing (NAK).
    NegativeAcknowledgement,
    /// The same, and that only the header of a frame arrived.
    TrimmedAcknowledgement,
    /// Tells a source of marked frames (CNP).
    CongestionNotification,
    /// Permits a source to send.
    Pull,
    /// The header of a data frame on its way back to its source: no queue to its destination had room for it.
    Returned,
    /// PAUSE or PFC: tells the neighbour to stop or go on. From here on, frames are for the neighbour only.
    Pause,
    /// Tells the neighbour of freed room.
    Credit,
}

engine::encoded!(enum Kind {
    0 = Data,
    1 = Acknowledgement,
    2 = Pause,
    3 = Notice,
    4 = Probe,
    5 = Answer,
    6 = Receipt,
    7 = Credit,
    8 = Trimmed,
    9 = CumulativeAcknowledgement,
    10 = NegativeAcknowledgement,
    11 = TrimmedAcknowledgement,
    12 = CongestionNotification,
    13 = Pull,
    14 = Returned,
});

/// The frame was damaged on its way.
pub(crate) const CORRUPT: u8 = 1;
/// The frame carries a congestion mark, or acknowledges one that does.
pub(crate) const MARKED: u8 = 2;
/// The last frame of a finite flow; or, without recovery, an acknowledgement of a flow that is complete.
pub(crate) const LAST: u8 = 4;
/// An acknowledgement of a flow with recovery says more than fits into it: see [`extension`].
pub(crate) const EXTENDED: u8 = LAST;
/// The bits of the flags above count how often the frame was overtaken in its present buffer.
const OVERTAKEN: u8 = 8;
/// No count goes beyond.
pub(crate) const MOST_OVERTAKEN: u8 = u8::MAX / OVERTAKEN;

/// The tag of a data frame with telemetry; see [`telemetry`]. It is the tag of no congestion point in a network whose
/// sources tag frames.
pub(crate) const TELEMETRY: u16 = u16::MAX;

/// A frame on a wire or in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The next frame of the list this one is in.
    pub(crate) next: u32,
    /// Number of the flow it belongs to.
    pub flow: u32,
    /// On a wire: when it arrives. In a queue: when it came.
    pub(crate) at: Time,
    /// What it says; see [`Frame::content`].
    long: u64,
    /// Number of the destination host; 0 if it is for the neighbour.
    pub dst: u32,
    /// What it says, too.
    short: u32,
    /// What its path is chosen by.
    pub entropy: u32,
    /// Bytes, without overhead.
    pub len: u16,
    /// Number of the port by which it entered the switch it is in.
    pub(crate) input: u16,
    /// Number of the port by which it will leave that switch.
    pub(crate) output: u16,
    /// Priority or virtual lane.
    pub class: u8,
    /// What it is for.
    pub kind: Kind,
    pub(crate) flags: u8,
    /// How often the cable had failed when the frame was sent.
    pub(crate) epoch: u8,
    /// The congestion point that its source is associated with, if the protocol tags frames, or that a probe is for; see
    /// [`congestion::point::tag_of`]. Of a notice: the rate it suggests, or 0.
    pub tag: u16,
}

/// A frame elsewhere is in no list yet; everything else goes with it.
impl Encode for Frame {
    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        let Frame { next: _, flow, at, long, dst, short, entropy, len, input, output, class, kind, flags, epoch, tag } =
            self;
        flow.encode(out);
        at.encode(out);
        long.encode(out);
        dst.encode(out);
        short.encode(out);
        entropy.encode(out);
        len.encode(out);
        input.encode(out);
        output.encode(out);
        class.encode(out);
        kind.encode(out);
        flags.encode(out);
        epoch.encode(out);
        tag.encode(out);
    }

    #[inline]
    fn decode(input: &mut &[u8]) -> Option<Frame> {
        Some(Frame {
            next: NIL,
            flow: Encode::decode(input)?,
            at: Encode::decode(input)?,
            long: Encode::decode(input)?,
            dst: Encode::decode(input)?,
            short: Encode::decode(input)?,
            entropy: Encode::decode(input)?,
            len: Encode::decode(input)?,
            input: Encode::decode(input)?,
            output: Encode::decode(input)?,
            class: Encode::decode(input)?,
            kind: Encode::decode(input)?,
            flags: Encode::decode(input)?,
            epoch: Encode::decode(input)?,
            tag: Encode::decode(input)?,
        })
    }
}

impl Frame {
    /// How often it was overtaken in its present buffer.
    pub(crate) fn overtaken(&self) -> u8 {
        self.flags / OVERTAKEN
    }

    /// Another frame goes before it.
    pub(crate) fn overtake(&mut self) {
        if self.overtaken() < MOST_OVERTAKEN {
            self.flags += OVERTAKEN;
        }
    }

    /// It comes into another buffer.
    pub(crate) fn forget_overtaken(&mut self) {
        self.flags %= OVERTAKEN;
    }

    /// A switch removes its payload: what is left continues in another class.
    pub(crate) fn trim(&mut self, class: u8, len: u16) {
        if self.has_telemetry() {
            self.tag = 0;
        }
        (self.kind, self.class, self.len) = (Kind::Trimmed, class, self.len.min(len));
    }

    /// A switch sends a trimmed frame back to its source.
    pub(crate) fn turn_back(&mut self, source: u32) {
        (self.kind, self.dst) = (Kind::Returned, source);
    }

    /// Whether it speaks to the neighbour only and never waits behind data.
    #[inline]
    pub(crate) fn is_link_local(&self) -> bool {
        self.kind as u8 >= Kind::Pause as u8
    }

    /// Whether it carries a congestion mark, or answers a frame that does.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.flags & MARKED != 0
    }

    /// Whether it is data with room for telemetry.
    pub(crate) fn has_telemetry(&self) -> bool {
        self.tag == TELEMETRY && self.kind == Kind::Data
    }

    /// Whether it acknowledges frames of a flow.
    #[must_use]
    pub fn acknowledges(&self) -> bool {
        self.kind == Kind::Acknowledgement || self.is_reply()
    }

    /// Whether it is the last of a finite flow.
    #[must_use]
    pub fn is_last(&self) -> bool {
        matches!(self.kind, Kind::Data | Kind::Trimmed) && self.flags & LAST != 0
    }

    /// Whether it is an acknowledgement of a flow with recovery.
    #[must_use]
    pub fn is_reply(&self) -> bool {
        use Kind::{CumulativeAcknowledgement, NegativeAcknowledgement, TrimmedAcknowledgement};
        matches!(self.kind, CumulativeAcknowledgement | NegativeAcknowledgement | TrimmedAcknowledgement)
    }

    /// Whether it is an acknowledgement with selective blocks, which are not in the frame itself.
    #[must_use]
    pub fn is_selective(&self) -> bool {
        self.is_extended()
    }

    /// Whether a part of what it says is in the shard's [`extension::Extensions`].
    pub(crate) fn is_extended(&self) -> bool {
        self.flags & EXTENDED != 0 && self.is_reply()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_crosses_to_another_process_as_it_is() {
        let time = Time::from_picos;
        let frame = Frame {
            next: NIL,
            flow: 1,
            at: time(2),
            long: u64::MAX - 3,
            dst: 4,
            short: 5,
            entropy: 6,
            len: 7,
            input: 8,
            output: 9,
            class: 10,
            kind: Kind::Credit,
            flags: 11,
            epoch: 12,
            tag: 13,
        };
        let bytes = frame.to_bytes();
        assert_eq!(bytes.len(), size_of::<Frame>() - size_of::<u32>());
        assert_eq!(Frame::from_bytes(&bytes), frame);
        // Its place in a pool stays behind.
        assert_eq!(Frame::from_bytes(&Frame { next: 77, ..frame }.to_bytes()), frame);
    }

    #[test]
    fn a_frame_is_three_quarters_of_a_cache_line() {
        assert_eq!(size_of::<Frame>(), 48);
    }
}
