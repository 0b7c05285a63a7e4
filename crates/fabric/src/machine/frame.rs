//! Frames and the pool they live in.
//!
//! A frame keeps its place in the pool from its creation to its end or to the border of its shard; queues and wires
//! are linked lists through the frames, so nothing is allocated or copied per hop.

use congestion::point::Guidance;
use units::{Rate, Time};

/// The end of a list.
pub(crate) const NIL: u32 = u32::MAX;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Carries a flow's bytes.
    Data,
    /// Tells a sender what arrived; `seq` is the position of the acknowledged frame in its flow.
    Acknowledgement,
    /// PAUSE or PFC; see [`Frame::pause`].
    Pause,
    /// Tells a source of congestion; see [`Frame::notice`].
    Notice,
    /// Asks about its flow's path; `born` is what it carries, `seq` its number.
    Probe,
    /// A probe on its way back.
    Answer,
    /// Tells the near side of a fabric that the far side has a frame of that flow.
    Receipt,
    /// Tells a sender of freed room; `dst` is the class, `born` the total ever granted.
    Credit,
}

/// The frame was damaged on its way.
pub(crate) const CORRUPT: u8 = 1;
/// The frame carries a congestion mark, or acknowledges one that does.
pub(crate) const MARKED: u8 = 2;
/// The last frame of a finite flow.
pub(crate) const LAST: u8 = 4;
/// The bits of the flags above count how often the frame was overtaken in its present buffer.
const OVERTAKEN: u8 = 8;
/// No count goes beyond.
pub(crate) const MOST_OVERTAKEN: u8 = u8::MAX / OVERTAKEN;

/// A frame on a wire or in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The next frame of the list this one is in.
    pub(crate) next: u32,
    /// Number of the flow it belongs to.
    pub flow: u32,
    /// On a wire: when it arrives. In a queue: when it came.
    pub(crate) at: Time,
    /// When the source made it.
    pub born: Time,
    /// Number of the destination host.
    pub dst: u32,
    /// Position in its flow, in frames.
    pub seq: u32,
    /// What its path is chosen by.
    pub(crate) entropy: u32,
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

impl Frame {
    /// A control frame of that length; the caller fills in what it says.
    pub(crate) fn control(kind: Kind, len: u16, now: Time) -> Frame {
        Frame {
            next: NIL,
            flow: u32::MAX,
            at: now,
            born: now,
            dst: 0,
            seq: 0,
            entropy: 0,
            len,
            input: 0,
            output: 0,
            class: 0,
            kind,
            flags: 0,
            epoch: 0,
            tag: 0,
        }
    }

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

    /// Whether it speaks to the neighbour only and never waits behind data.
    pub(crate) fn is_link_local(&self) -> bool {
        matches!(self.kind, Kind::Pause | Kind::Credit)
    }

    /// Whether it carries a congestion mark, or answers a frame that does.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.flags & MARKED != 0
    }

    /// Whether it is the last of a finite flow.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.flags & LAST != 0
    }

    /// Of a pause frame: what it says.
    #[must_use]
    pub fn pause(&self) -> Pause {
        let (others, named, quanta) = ((self.seq >> 24) as u8, (self.seq >> 16) as u8, self.seq as u16);
        if quanta == 0 {
            Pause { held: 0, released: named, quanta }
        } else {
            Pause { held: named, released: others, quanta }
        }
    }

    /// Of a notice: (feedback, port of the network, class, offset, growth).
    #[must_use]
    pub fn notice(&self) -> (u8, u32, u8, i32, i32) {
        let (seq, born) = (self.seq, self.born.as_picos());
        let (offset, growth) = match self.tag {
            0 => ((born >> 32) as i32, born as i32),
            _ => ((born as i64 >> 40) as i32, ((born as i64) << 24 >> 40) as i32),
        };
        ((seq & 63) as u8, seq >> 9, (seq >> 6 & 7) as u8, offset, growth)
    }

    /// Of a notice: the rate it suggests and the most it allows, if it does.
    #[must_use]
    pub fn guidance(&self) -> Option<Guidance> {
        let [suggested, most] = [self.tag, self.born.as_picos() as u16].map(unpacked);
        (self.tag != 0).then_some(Guidance { suggested, most })
    }

    /// Adds guidance to a notice. It takes room from what the notice says of the queue: 24 bits are left for each
    /// number, and more than 8 MB either way are said to be 8 MB.
    pub(crate) fn set_guidance(&mut self, guidance: Guidance) {
        let (_, _, _, offset, growth) = self.notice();
        let [offset, growth] = [offset, growth].map(|bytes| bytes.clamp(-1 << 23, (1 << 23) - 1) as u64 & 0xff_ffff);
        self.born = Time::from_picos(offset << 40 | growth << 16 | u64::from(packed(guidance.most)));
        self.tag = packed(guidance.suggested);
    }

    pub(crate) fn set_notice(&mut self, feedback: u8, port: u32, class: u8, offset: i32, growth: i32) {
        self.seq = port << 9 | u32::from(class & 7) << 6 | u32::from(feedback & 63);
        self.born = Time::from_picos(u64::from(offset as u32) << 32 | u64::from(growth as u32));
    }

    /// Adds to what a pause frame says. The last word on a class counts.
    pub(crate) fn add_pause(&mut self, classes: u8, quanta: u16) {
        let Pause { mut held, mut released, quanta: before } = self.pause();
        if quanta == 0 {
            (held, released) = (held & !classes, released | classes);
        } else {
            (held, released) = (held | classes, released & !classes);
        }
        self.seq = match held {
            0 => u32::from(released) << 16,
            _ => u32::from(released) << 24 | u32::from(held) << 16 | u32::from(quanta.max(before)),
        };
    }
}

/// What a pause frame says. Of classes that it does not name it says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Classes that are to stop.
    pub held: u8,
    /// Classes that may go on.
    pub released: u8,
    /// For how long to stop, in quanta of 512 bit times.
    pub quanta: u16,
}

/// A rate in sixteen bits, rounded up: 13 for a number and 3 for how many zeros follow it, beside three that always do.
/// So rates of links are exact, and others to a thousandth. Never 0.
fn packed(rate: Rate) -> u16 {
    let (mut unit, mut zeros) = (1_000, 0);
    while zeros < 7 && rate.as_bits_per_sec().div_ceil(unit) > 8_191 {
        (unit, zeros) = (unit * 10, zeros + 1);
    }
    zeros << 13 | rate.as_bits_per_sec().div_ceil(unit).clamp(1, 8_191) as u16
}

fn unpacked(packed: u16) -> Rate {
    Rate::from_bits_per_sec(u64::from(packed & 8_191) * 10_u64.pow(3 + u32::from(packed >> 13)))
}

/// All frames of a shard.
#[derive(Debug)]
pub(crate) struct Pool {
    frames: Vec<Frame>,
    free: u32,
    /// Frames alive.
    pub(crate) live: u32,
}

impl Pool {
    pub(crate) fn new() -> Pool {
        Pool { frames: Vec::new(), free: NIL, live: 0 }
    }

    #[inline]
    pub(crate) fn put(&mut self, mut frame: Frame) -> u32 {
        frame.next = NIL;
        self.live += 1;
        if self.free != NIL {
            let place = self.free;
            let slot = &mut self.frames[place as usize];
            self.free = slot.next;
            *slot = frame;
            place
        } else {
            self.frames.push(frame);
            (self.frames.len() - 1) as u32
        }
    }

    /// Takes a frame out and gives its place back.
    #[inline]
    pub(crate) fn take(&mut self, place: u32) -> Frame {
        let frame = self[place];
        self.release(place);
        frame
    }

    /// Gives a frame's place back. The last one given back is the first one used again: it is still in the cache.
    #[inline]
    pub(crate) fn release(&mut self, place: u32) {
        self.frames[place as usize].next = self.free;
        self.free = place;
        self.live -= 1;
    }
}

impl std::ops::Index<u32> for Pool {
    type Output = Frame;
    #[inline]
    fn index(&self, place: u32) -> &Frame {
        &self.frames[place as usize]
    }
}

impl std::ops::IndexMut<u32> for Pool {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut Frame {
        &mut self.frames[place as usize]
    }
}

/// A first-in first-out list through the pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) head: u32,
    pub(crate) tail: u32,
}

impl List {
    pub(crate) const EMPTY: List = List { head: NIL, tail: NIL };

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.head == NIL
    }

    #[inline]
    pub(crate) fn push(&mut self, pool: &mut Pool, place: u32) {
        pool[place].next = NIL;
        if self.head == NIL {
            self.head = place;
        } else {
            pool[self.tail].next = place;
        }
        self.tail = place;
    }

    #[inline]
    pub(crate) fn pop(&mut self, pool: &Pool) -> Option<u32> {
        let place = self.head;
        if place == NIL {
            return None;
        }
        self.head = pool[place].next;
        Some(place)
    }

    /// Takes `place` out, which follows `before` (or is the head, if `before` is [`NIL`]).
    pub(crate) fn take(&mut self, pool: &mut Pool, before: u32, place: u32) {
        let next = pool[place].next;
        if before == NIL {
            self.head = next;
        } else {
            pool[before].next = next;
        }
        if next == NIL {
            self.tail = before;
        }
    }

    /// The frames of the list in order.
    pub(crate) fn iter(self, pool: &Pool) -> impl Iterator<Item = (u32, &Frame)> {
        let mut place = self.head;
        std::iter::from_fn(move || {
            let here = (place != NIL).then_some(place)?;
            place = pool[here].next;
            Some((here, &pool[here]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_three_quarters_of_a_cache_line() {
        assert_eq!(size_of::<Frame>(), 48);
    }

    #[test]
    fn a_notice_says_what_was_put_into_it() {
        let mut frame = Frame::control(Kind::Notice, 64, Time::ZERO);
        for (offset, growth) in [(-78_400, 102_400), (24_000, -1), (i32::MIN, i32::MAX), (0, 0)] {
            frame.tag = 0;
            frame.set_notice(33, 4_711, 5, offset, growth);
            assert_eq!((frame.notice(), frame.guidance()), ((33, 4_711, 5, offset, growth), None));
            let guidance = Guidance { suggested: Rate::from_megabits(2_500), most: Rate::from_gigabits(10) };
            frame.set_guidance(guidance);
            let held = |bytes: i32| bytes.clamp(-8_388_608, 8_388_607);
            assert_eq!(frame.notice(), (33, 4_711, 5, held(offset), held(growth)));
            assert_eq!(frame.guidance(), Some(guidance));
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
    fn the_last_word_of_a_pause_frame_counts() {
        let mut frame = Frame::control(Kind::Pause, 64, Time::ZERO);
        frame.add_pause(0b0001, 0);
        assert_eq!(frame.pause(), Pause { held: 0, released: 0b0001, quanta: 0 });
        frame.add_pause(0b0110, 300);
        assert_eq!(frame.pause(), Pause { held: 0b0110, released: 0b0001, quanta: 300 });
        frame.add_pause(0b0011, 300);
        frame.add_pause(0b0100, 0);
        assert_eq!(frame.pause(), Pause { held: 0b0011, released: 0b0100, quanta: 300 });
        frame.add_pause(0b0011, 0);
        assert_eq!(frame.pause(), Pause { held: 0, released: 0b0111, quanta: 0 });
    }

    #[test]
    fn lists_keep_order_and_give_up_any_member() {
        let mut pool = Pool::new();
        let mut list = List::EMPTY;
        let places: Vec<u32> = (0..4).map(|_| pool.put(Frame::control(Kind::Data, 64, Time::ZERO))).collect();
        places.iter().for_each(|&place| list.push(&mut pool, place));
        list.take(&mut pool, places[2], places[3]);
        list.take(&mut pool, NIL, places[0]);
        assert_eq!(list.iter(&pool).map(|(place, _)| place).collect::<Vec<_>>(), [places[1], places[2]]);
        list.push(&mut pool, places[0]);
        assert_eq!(
            [list.pop(&pool), list.pop(&pool), list.pop(&pool), list.pop(&pool)],
            [Some(places[1]), Some(places[2]), Some(places[0]), None]
        );
    }

    #[test]
    fn places_are_used_again_last_out_first_in() {
        let mut pool = Pool::new();
        let first = pool.put(Frame::control(Kind::Data, 64, Time::ZERO));
        let second = pool.put(Frame::control(Kind::Data, 64, Time::ZERO));
        pool.release(first);
        pool.release(second);
        assert_eq!(pool.put(Frame::control(Kind::Data, 64, Time::ZERO)), second);
        assert_eq!(pool.live, 1);
    }
}
