//! What a frame says, typed by its kind.
//!
//! A frame has twelve bytes for it, a long and a short number, so that it stays at three quarters of a cache line. Only
//! this file knows what they stand for.

use super::{EXTENDED, Frame, Kind, NIL};
use congestion::point::Guidance;
use units::{Rate, Span, Time};

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes of a flow.
    Data(Segment),
    /// The frame that is acknowledged.
    Acknowledgement(Segment),
    /// Which classes are to stop or may go on.
    Pause(Pause),
    /// A congestion point's view of its queue.
    Notice(Notice),
    /// A question about a flow's path.
    Probe(Inquiry),
    /// A probe on its way back.
    Answer(Inquiry),
    /// The far side of a fabric has a frame of the flow.
    Receipt,
    /// Room that was freed.
    Credit(Credit),
    /// The frame whose payload a switch has removed.
    Trimmed(Segment),
    /// Frames of a flow with recovery that have arrived.
    CumulativeAcknowledgement(Cumulative),
    /// The same; one is missing.
    NegativeAcknowledgement(Cumulative),
    /// The same; of one only the header arrived.
    TrimmedAcknowledgement(Cumulative),
    /// Marked frames of the flow have arrived.
    CongestionNotification,
    /// Frames that the source may send in all, counted from the start of the flow.
    Pull(u64),
    /// The frame whose header came back.
    Returned(Segment),
}

/// What an acknowledgement of a flow with recovery says. Numbers are modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cumulative {
    /// All frames below this number have arrived.
    pub cumulative: u32,
    /// The frame that caused it.
    pub number: u32,
    /// When that frame was made; zero if it is not in the frame itself, beside selective blocks.
    pub stamp: Time,
}

/// A frame's place in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// When the source made it.
    pub born: Time,
    /// Position in its flow, in frames.
    pub seq: u32,
}

/// What a pause frame says. Of classes that it does not name it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pause {
    /// Classes that are to stop.
    pub held: u8,
    /// Classes that may go on.
    pub released: u8,
    /// For how long to stop, in quanta of 512 bit times.
    pub quanta: u16,
}

engine::encoded!(struct Pause { held, released, quanta });

/// What a notice says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The quantised feedback, 6 bits.
    pub feedback: u8,
    /// Port of the network at which the congestion point is.
    pub port: u32,
    /// Class whose queue it watches.
    pub class: u8,
    /// Bytes in the queue beyond the equilibrium.
    pub offset: i32,
    /// Bytes by which the queue has grown since the last sample.
    pub growth: i32,
    /// The rate it suggests and the most it allows, if it does. Guidance takes room from the two numbers before: 24 bits
    /// are left for each, and more than 8 MB either way are said to be 8 MB.
    pub guidance: Option<Guidance>,
}

/// What a probe carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// Its number, the source's own.
    pub number: u32,
    /// What the source, congestion points and the destination have written into it.
    pub value: u64,
}

/// What a credit frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// The class.
    pub class: u8,
    /// Units ever granted, modulo 2^56.
    pub granted: u64,
}

impl Cumulative {
    /// How far the frame that caused it is from the first that is missing, if it fits beside that.
    pub(crate) fn offset(&self) -> Option<i16> {
        i16::try_from(self.number.wrapping_sub(self.cumulative).cast_signed()).ok()
    }
}

/// Units that a credit frame can name: the class takes the top byte.
const GRANTED: u64 = (1 << 56) - 1;

impl Frame {
    /// What the frame says.
    #[must_use]
    pub fn content(&self) -> Content {
        let segment = Segment { born: Time::from_picos(self.long), seq: self.short };
        let inquiry = Inquiry { number: self.short, value: self.long };
        match self.kind {
            Kind::Data => Content::Data(segment),
            Kind::Acknowledgement => Content::Acknowledgement(segment),
            Kind::Pause => Content::Pause(self.unpack_pause()),
            Kind::Notice => Content::Notice(self.unpack_notice()),
            Kind::Probe => Content::Probe(inquiry),
            Kind::Answer => Content::Answer(inquiry),
            Kind::Receipt => Content::Receipt,
            Kind::Trimmed => Content::Trimmed(segment),
            Kind::Credit => Content::Credit(Credit { class: (self.long >> 56) as u8, granted: self.long & GRANTED }),
            Kind::CumulativeAcknowledgement => Content::CumulativeAcknowledgement(self.unpack_cumulative()),
            Kind::NegativeAcknowledgement => Content::NegativeAcknowledgement(self.unpack_cumulative()),
            Kind::TrimmedAcknowledgement => Content::TrimmedAcknowledgement(self.unpack_cumulative()),
            Kind::CongestionNotification => Content::CongestionNotification,
            Kind::Pull => Content::Pull(self.long),
            Kind::Returned => Content::Returned(segment),
        }
    }

    fn unpack_cumulative(&self) -> Cumulative {
        let number = self.short.wrapping_add_signed(i32::from(self.tag.cast_signed()));
        let stamp = if self.is_extended() { Time::ZERO } else { Time::from_picos(self.long) };
        Cumulative { cumulative: self.short, number, stamp }
    }

    /// Of an acknowledgement that is extended: where the rest of what it says is.
    pub(crate) fn extension(&self) -> u32 {
        self.long as u32
    }

    /// Has an acknowledgement say the rest elsewhere.
    pub(crate) fn extend(&mut self, place: u32) {
        self.long = u64::from(place);
        self.flags |= EXTENDED;
    }

    /// As everybody may see it: without places in lists, which differ with the partitioning.
    pub(crate) fn for_record(mut self) -> Frame {
        self.next = NIL;
        if self.is_extended() {
            self.long = 0;
        }
        if self.has_telemetry() {
            self.tag = 0;
        }
        self
    }

    /// A frame of that length that says so; the caller fills in whose it is and where it goes.
    pub(crate) fn saying(content: Content, len: u16, now: Time) -> Frame {
        let (kind, long, short) = match content {
            Content::Data(segment) => (Kind::Data, segment.born.as_picos(), segment.seq),
            Content::Acknowledgement(segment) => (Kind::Acknowledgement, segment.born.as_picos(), segment.seq),
            Content::Trimmed(segment) => (Kind::Trimmed, segment.born.as_picos(), segment.seq),
            Content::Pause(pause) => (Kind::Pause, now.as_picos(), pack_pause(pause)),
            Content::Notice(notice) => {
                let point = notice.port << 9 | u32::from(notice.class & 7) << 6 | u32::from(notice.feedback & 63);
                (Kind::Notice, pack_notice(&notice), point)
            }
            Content::Probe(inquiry) => (Kind::Probe, inquiry.value, inquiry.number),
            Content::Answer(inquiry) => (Kind::Answer, inquiry.value, inquiry.number),
            Content::Receipt => (Kind::Receipt, now.as_picos(), 0),
            Content::Credit(credit) => (Kind::Credit, u64::from(credit.class) << 56 | credit.granted & GRANTED, 0),
            Content::CumulativeAcknowledgement(said) => {
                (Kind::CumulativeAcknowledgement, said.stamp.as_picos(), said.cumulative)
            }
            Content::NegativeAcknowledgement(said) => {
                (Kind::NegativeAcknowledgement, said.stamp.as_picos(), said.cumulative)
            }
            Content::TrimmedAcknowledgement(said) => {
                (Kind::TrimmedAcknowledgement, said.stamp.as_picos(), said.cumulative)
            }
            Content::CongestionNotification => (Kind::CongestionNotification, now.as_picos(), 0),
            Content::Pull(total) => (Kind::Pull, total, 0),
            Content::Returned(segment) => (Kind::Returned, segment.born.as_picos(), segment.seq),
        };
        let tag = match content {
            Content::Notice(Notice { guidance: Some(guidance), .. }) => packed(guidance.suggested),
            Content::CumulativeAcknowledgement(said)
            | Content::NegativeAcknowledgement(said)
            | Content::TrimmedAcknowledgement(said) => said.offset().unwrap_or(0).cast_unsigned(),
            _ => 0,
        };
        Frame { kind, long, short, tag, ..Frame::data(Segment { born: now, seq: 0 }, len) }
    }

    /// A frame of data that is made now. Every flow makes these: the short way to what [`Frame::saying`] says.
    #[inline]
    pub(crate) fn data(Segment { born, seq }: Segment, len: u16) -> Frame {
        Frame {
            next: NIL,
            flow: u32::MAX,
            at: born,
            long: born.as_picos(),
            dst: 0,
            short: seq,
            entropy: 0,
            len,
            input: 0,
            output: 0,
            class: 0,
            kind: Kind::Data,
            flags: 0,
            epoch: 0,
            tag: 0,
        }
    }

    /// Of data, trimmed or not: when the source made it. Of an acknowledgement: when it made the frame that is acknowledged.
    #[inline]
    #[must_use]
    pub fn born(&self) -> Time {
        Time::from_picos(self.long)
    }

    /// Of an acknowledgement without recovery: how long the data was at its destination's host before.
    pub(crate) fn host_delay(&self) -> Span {
        Span::from_nanos(unpacked_number(self.tag))
    }

    /// Has an acknowledgement without recovery say how long the data was at its destination's host, rounded up.
    pub(crate) fn set_host_delay(&mut self, delay: Span) {
        self.tag = packed_number(delay.as_picos().div_ceil(1000));
    }

    /// Of data, trimmed or not, and acknowledgements: position in the flow, in frames.
    #[inline]
    #[must_use]
    pub fn seq(&self) -> u32 {
        self.short
    }

    /// The two numbers in which a frame says what it does, as captures write them; of credits without the class.
    #[must_use]
    pub fn numbers(&self) -> (u32, u64) {
        (self.short, if self.kind == Kind::Credit { self.long & GRANTED } else { self.long })
    }

    /// The flow and the short number: what a fingerprint takes in of a frame.
    #[inline]
    pub(crate) fn identity(&self) -> u64 {
        u64::from(self.flow) << 32 | u64::from(self.short)
    }

    /// Data is numbered when it is sent, not when it is made.
    pub(crate) fn set_seq(&mut self, seq: u32) {
        self.short = seq;
    }

    /// A congestion point changes what a probe carries.
    pub(crate) fn set_value(&mut self, value: u64) {
        self.long = value;
    }

    /// A credit frame is about to start and says what is true then.
    pub(crate) fn set_granted(&mut self, granted: u64) {
        self.long = self.long & !GRANTED | granted & GRANTED;
    }

    fn unpack_pause(&self) -> Pause {
        let (others, named, quanta) = ((self.short >> 24) as u8, (self.short >> 16) as u8, self.short as u16);
        if quanta == 0 {
            Pause { held: 0, released: named, quanta }
        } else {
            Pause { held: named, released: others, quanta }
        }
    }

    fn unpack_notice(&self) -> Notice {
        let (short, long) = (self.short, self.long);
        let (offset, growth) = match self.tag {
            0 => ((long >> 32) as i32, long as i32),
            _ => ((long as i64 >> 40) as i32, ((long as i64) << 24 >> 40) as i32),
        };
        let [suggested, most] = [self.tag, long as u16].map(unpacked);
        let guidance = (self.tag != 0).then_some(Guidance { suggested, most });
        let (feedback, port, class) = ((short & 63) as u8, short >> 9, (short >> 6 & 7) as u8);
        Notice { feedback, port, class, offset, growth, guidance }
    }

    /// Adds to what a pause frame says. The last word on a class counts.
    pub(crate) fn add_pause(&mut self, classes: u8, quanta: u16) {
        let Pause { mut held, mut released, quanta: before } = self.unpack_pause();
        if quanta == 0 {
            (held, released) = (held & !classes, released | classes);
        } else {
            (held, released) = (held | classes, released & !classes);
        }
        self.short = pack_pause(Pause { held, released, quanta: quanta.max(before) });
    }
}

fn pack_pause(Pause { held, released, quanta }: Pause) -> u32 {
    match held {
        0 => u32::from(released) << 16,
        _ => u32::from(released) << 24 | u32::from(held) << 16 | u32::from(quanta),
    }
}

fn pack_notice(notice: &Notice) -> u64 {
    let [offset, growth] = [notice.offset, notice.growth];
    match notice.guidance {
        None => u64::from(offset as u32) << 32 | u64::from(growth as u32),
        Some(guidance) => {
            let [offset, growth] =
                [offset, growth].map(|bytes| bytes.clamp(-1 << 23, (1 << 23) - 1) as u64 & 0xff_ffff);
            offset << 40 | growth << 16 | u64::from(packed(guidance.most))
        }
    }
}

/// A number in sixteen bits, rounded up: 13 for its digits and 3 for how many zeros follow them. So numbers of three
/// digits are exact, and others to a thousandth.
fn packed_number(number: u64) -> u16 {
    let (mut unit, mut zeros) = (1, 0);
    while zeros < 7 && number.div_ceil(unit) > 8_191 {
        (unit, zeros) = (unit * 10, zeros + 1);
    }
    zeros << 13 | number.div_ceil(unit).min(8_191) as u16
}

fn unpacked_number(packed: u16) -> u64 {
    u64::from(packed & 8_191) * 10_u64.pow(u32::from(packed >> 13))
}

/// A rate in sixteen bits, rounded up to kilobits per second: rates of links are exact. Never 0.
fn packed(rate: Rate) -> u16 {
    packed_number(rate.as_bits_per_sec().div_ceil(1_000).max(1))
}

fn unpacked(packed: u16) -> Rate {
    Rate::from_bits_per_sec(unpacked_number(packed) * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip_of(content: Content) -> Content {
        Frame::saying(content, 64, Time::from_picos(7)).content()
    }

    #[test]
    fn every_content_reads_back_as_it_was() {
        let segment = Segment { born: Time::from_picos(1 << 60), seq: u32::MAX };
        let inquiry = Inquiry { number: u32::MAX, value: u64::MAX };
        let credit = Credit { class: 7, granted: (1 << 56) - 1 };
        let pause = Pause { held: 0b101, released: 0b010, quanta: 300 };
        for content in [
            Content::Data(segment),
            Content::Acknowledgement(segment),
            Content::Trimmed(segment),
            Content::Pause(pause),
            Content::Pause(Pause { held: 0, released: 0b111, quanta: 0 }),
            Content::Probe(inquiry),
            Content::Answer(inquiry),
            Content::Receipt,
            Content::Credit(credit),
            Content::CumulativeAcknowledgement(Cumulative { cumulative: 0, number: u32::MAX, stamp: segment.born }),
            Content::NegativeAcknowledgement(Cumulative { cumulative: u32::MAX, number: 32_766, stamp: segment.born }),
            Content::TrimmedAcknowledgement(Cumulative { cumulative: 7, number: 7, stamp: segment.born }),
            Content::CongestionNotification,
            Content::Pull(u64::MAX),
            Content::Returned(segment),
        ] {
            assert_eq!(round_trip_of(content), content);
        }
        let mut frame = Frame::saying(Content::Credit(credit), 64, Time::ZERO);
        frame.set_granted(12);
        assert_eq!(frame.content(), Content::Credit(Credit { class: 7, granted: 12 }));
    }

    #[test]
    fn a_notice_says_what_was_put_into_it() {
        for (offset, growth) in [(-78_400, 102_400), (24_000, -1), (i32::MIN, i32::MAX), (0, 0)] {
            let plain = Notice { feedback: 33, port: 4_711, class: 5, offset, growth, guidance: None };
            assert_eq!(round_trip_of(Content::Notice(plain)), Content::Notice(plain));
            let guidance = Some(Guidance { suggested: Rate::from_megabits(2_500), most: Rate::from_gigabits(10) });
            let held = |bytes: i32| bytes.clamp(-8_388_608, 8_388_607);
            let guided = Notice { offset: held(offset), growth: held(growth), guidance, ..plain };
            assert_eq!(round_trip_of(Content::Notice(Notice { guidance, ..plain })), Content::Notice(guided));
        }
    }

    #[test]
    fn rates_in_sixteen_bits_are_exact_for_links_and_never_less() {
        let round_trip = |bits: u64| unpacked(packed(Rate::from_bits_per_sec(bits))).as_bits_per_sec();
        for bits in [1_000, 1_000_000, 2_500_000_000, 10_000_000_000, 25_000_000_000, 400_000_000_000] {
            assert_eq!(round_trip(bits), bits);
        }
        // A third of 10 Gb/s has four digits; a ninth of 10 Gb/s too.
        assert_eq!([round_trip(3_333_333_333), round_trip(1_111_111_111)], [3_334_000_000, 1_112_000_000]);
        assert_eq!([round_trip(0), round_trip(1), round_trip(u64::MAX)], [1_000, 1_000, 81_910_000_000_000]);
        for bits in (0..60).map(|n| 1_u64 << n >> 3).filter(|bits| (1_000_000..1 << 46).contains(bits)) {
            let got = round_trip(bits);
            assert!(got >= bits && got - bits <= bits / 819, "{bits}: {got}");
        }
    }

    #[test]
    fn an_acknowledgement_says_how_long_a_slow_host_took() {
        let segment = Segment { born: Time::from_picos(1 << 60), seq: 7 };
        let mut frame = Frame::saying(Content::Acknowledgement(segment), 64, Time::ZERO);
        assert_eq!(frame.host_delay(), Span::ZERO);
        for (delay, said) in
            [(Span::from_picos(1), Span::from_nanos(1)), (Span::from_micros(50), Span::from_micros(50))]
        {
            frame.set_host_delay(delay);
            assert_eq!((frame.host_delay(), frame.content()), (said, Content::Acknowledgement(segment)));
        }
        frame.set_host_delay(Span::MAX);
        assert_eq!(frame.host_delay(), Span::from_millis(81_910));
    }

    #[test]
    fn the_last_word_of_a_pause_frame_counts() {
        let mut frame = Frame::saying(Content::Pause(Pause::default()), 64, Time::ZERO);
        let mut add = |classes, quanta| {
            frame.add_pause(classes, quanta);
            frame.content()
        };
        assert_eq!(add(0b0001, 0), Content::Pause(Pause { held: 0, released: 0b0001, quanta: 0 }));
        assert_eq!(add(0b0110, 300), Content::Pause(Pause { held: 0b0110, released: 0b0001, quanta: 300 }));
        add(0b0011, 300);
        assert_eq!(add(0b0100, 0), Content::Pause(Pause { held: 0b0011, released: 0b0100, quanta: 300 }));
        assert_eq!(add(0b0011, 0), Content::Pause(Pause { held: 0, released: 0b0111, quanta: 0 }));
    }
}
