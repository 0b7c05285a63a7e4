//! Numbered alarms behind a timing wheel.
//!
//! Everything that can happen later is an alarm with a number that is fixed when the network is built. Alarms fire
//! in the order (time, number); the caller numbers them phase by phase, so the number carries the phase. An alarm is
//! pending at most once; moving or disarming it unlinks it on the spot, so there are no tombstones to skip.
//!
//! The wheel has 4096 buckets under a two-level bitmap. What is left of the bucket that is being emptied lies sorted in
//! `due`; later buckets are unsorted linked lists through the slots; what lies beyond the horizon waits in a 4-ary heap.
//! The alarms of the present instant lie at the end of `due` if they are few, and are a set of numbers if they are many:
//! a set costs the same for each, however many there are, and a sorted list costs less if there are few.
//! Where an alarm lies follows from its time alone, so no tag has to be kept true.

use crate::heap::IndexedHeap;
use crate::set::NumberSet;
use units::{Encode, Span, State, Time};

const WORDS: usize = 64;
const BUCKETS: usize = WORDS * 64;
const NIL: u32 = u32::MAX;
const NEVER: u64 = u64::MAX;
/// More alarms of one instant than this become a set.
const FEW: usize = 8;

/// The width of a bucket, chosen when the network is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wheel {
    /// Binary logarithm of the bucket's width in picoseconds, at most 32.
    pub shift: u32,
}

impl Wheel {
    /// The finest wheel of which the horizon covers `delay`, so that the heap stays out of the common path.
    #[must_use]
    pub fn covering(delay: Span) -> Wheel {
        let mut shift = 0;
        while shift < 32 && (BUCKETS as u64 - 1) << shift < delay.as_picos() {
            shift += 1;
        }
        Wheel { shift }
    }
}

impl Default for Wheel {
    /// Buckets of 512 ps, a horizon of 2.1 us.
    fn default() -> Wheel {
        Wheel { shift: 9 }
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// When it fires, or [`NEVER`] while it is not pending.
    time: u64,
    next: u32,
    prev: u32,
}

/// The pending alarms of one shard.
#[derive(Clone, Debug)]
pub struct Alarms {
    slots: Vec<Slot>,
    heads: [u32; BUCKETS],
    occupied: [u64; WORDS],
    summary: u64,
    shift: u32,
    /// The present instant: the time of the last alarm fired, and of everything in `instant`.
    now: u64,
    /// `now` in picoseconds into the current bucket, or [`NEVER`] if it is before that bucket.
    offset: u64,
    instant: NumberSet,
    /// The alarms of the present instant are in `instant`, not in `due`.
    many: bool,
    /// Absolute number of the bucket that lies in `due`.
    current: u64,
    /// Keys (picoseconds into the bucket << 32 | number), latest first.
    due: Vec<u64>,
    far: IndexedHeap,
    /// Time of the first entry of `far`, or [`NEVER`].
    far_first: u64,
    fired: u64,
}

impl Alarms {
    /// Alarms numbered `0..count`, none pending, starting at time zero.
    #[must_use]
    pub fn new(count: usize, wheel: Wheel) -> Alarms {
        assert!(wheel.shift <= 32, "a bucket's offset must fit its key");
        Alarms {
            slots: vec![Slot { time: NEVER, next: NIL, prev: NIL }; count],
            heads: [NIL; BUCKETS],
            occupied: [0; WORDS],
            summary: 0,
            shift: wheel.shift,
            now: 0,
            offset: 0,
            instant: NumberSet::new(count),
            many: false,
            current: 0,
            due: Vec::with_capacity(64),
            far: IndexedHeap::new(0),
            far_first: NEVER,
            fired: 0,
        }
    }

    /// How many alarms have fired.
    #[must_use]
    pub fn fired(&self) -> u64 {
        self.fired
    }

    /// The time of the last alarm fired.
    #[must_use]
    pub fn now(&self) -> Time {
        Time::from_picos(self.now)
    }

    /// When an alarm is pending for, if it is.
    #[must_use]
    pub fn pending(&self, number: u32) -> Option<Time> {
        let time = self.slots[number as usize].time;
        (time != NEVER).then(|| Time::from_picos(time))
    }

    /// Whether an alarm is pending.
    #[inline]
    #[must_use]
    pub fn is_pending(&self, number: u32) -> bool {
        self.slots[number as usize].time != NEVER
    }

    /// Arms an alarm, or moves it if it is pending. `time` must not lie before the last alarm fired.
    #[inline(always)]
    pub fn arm(&mut self, number: u32, time: Time) {
        if self.slots[number as usize].time != NEVER {
            self.unlink(number);
        }
        self.insert(number, time.as_picos());
    }

    /// Arms an alarm that is known not to be pending.
    #[inline(always)]
    pub fn arm_idle(&mut self, number: u32, time: Time) {
        debug_assert!(!self.is_pending(number), "an idle alarm is pending");
        self.insert(number, time.as_picos());
    }

    /// Arms an alarm for the present instant, the time of the last alarm fired, unless it is pending already.
    #[inline(always)]
    pub fn arm_now_if_idle(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        if slot.time == NEVER {
            slot.time = self.now;
            self.insert_now(number);
        }
    }

    /// Arms an alarm unless it is pending for an earlier time already.
    #[inline]
    pub fn arm_no_later(&mut self, number: u32, time: Time) {
        if self.slots[number as usize].time > time.as_picos() {
            self.arm(number, time);
        }
    }

    /// Makes an alarm not pending.
    pub fn disarm(&mut self, number: u32) {
        if self.slots[number as usize].time != NEVER {
            self.unlink(number);
        }
    }

    /// Removes and returns the first alarm that fires before `limit`.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Time) -> Option<(Time, u32)> {
        if self.now >= limit.as_picos() {
            return None;
        }
        let number = match self.instant.pop_near() {
            Some(number) => number,
            None => match self.due.pop_if(|key| *key >> 32 == self.offset) {
                Some(key) => key as u32,
                None => self.move_on(limit.as_picos())?,
            },
        };
        self.slots[number as usize].time = NEVER;
        self.fired += 1;
        Some((Time::from_picos(self.now), number))
    }

    /// The time of the first pending alarm.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        if self.many && !self.instant.is_empty() {
            return Some(Time::from_picos(self.now));
        }
        if let Some(&key) = self.due.last() {
            return Some(Time::from_picos(self.time_of(key)));
        }
        let mut first = self.far_first;
        if let Some(bucket) = self.next_occupied() {
            let mut number = self.heads[bucket as usize % BUCKETS];
            while number != NIL {
                let slot = self.slots[number as usize];
                first = first.min(slot.time);
                number = slot.next;
            }
        }
        (first != NEVER).then(|| Time::from_picos(first))
    }

    #[inline(always)]
    fn insert(&mut self, number: u32, time: u64) {
        debug_assert!(time != NEVER, "an alarm at the end of time never fires");
        debug_assert!(time >= self.now && time >> self.shift >= self.current, "an alarm in the past");
        self.slots[number as usize].time = time;
        let bucket = time >> self.shift;
        // One comparison for: after the current bucket and within the horizon.
        if bucket.wrapping_sub(self.current + 1) < BUCKETS as u64 - 1 {
            self.link(number, bucket);
        } else {
            self.insert_near_or_far(number, time);
        }
    }

    #[inline(never)]
    fn insert_near_or_far(&mut self, number: u32, time: u64) {
        if time == self.now {
            self.insert_now(number);
        } else if time >> self.shift == self.current {
            let key = self.key(number, time);
            let place = self.due.partition_point(|&other| other > key);
            self.due.insert(place, key);
        } else {
            self.far.arm(number, Time::from_picos(time));
            self.far_first = self.far_first.min(time);
        }
    }

    #[inline]
    fn time_of(&self, key: u64) -> u64 {
        (self.current << self.shift) + (key >> 32)
    }

    /// Adds an alarm of the present instant.
    #[inline(never)]
    fn insert_now(&mut self, number: u32) {
        if !self.many && self.is_crowded() {
            self.gather();
        }
        if self.many {
            return self.instant.insert(number);
        }
        let key = self.offset << 32 | u64::from(number);
        self.due.push(key);
        // What is due first moves up, one by one: it is little.
        let mut place = self.due.len() - 1;
        while let Some(&before) = self.due.get(place.wrapping_sub(1))
            && before < key
        {
            self.due.swap(place - 1, place);
            place -= 1;
        }
    }

    /// Whether more than a few alarms of the present instant are due.
    #[inline]
    fn is_crowded(&self) -> bool {
        self.due.len() > FEW && self.due[self.due.len() - 1 - FEW] >> 32 == self.offset
    }

    /// Makes a set of the alarms of the present instant that are due.
    #[cold]
    fn gather(&mut self) {
        self.many = true;
        while let Some(key) = self.due.pop_if(|key| *key >> 32 == self.offset) {
            self.instant.insert(key as u32);
        }
    }

    #[inline]
    fn set_now(&mut self, time: u64) {
        self.now = time;
        self.offset = time - (self.current << self.shift);
    }

    /// Removes and returns the first alarm before `limit`: of the rest of the present instant, or of the next one.
    #[inline(never)]
    fn move_on(&mut self, limit: u64) -> Option<u32> {
        if self.many {
            if let Some(number) = self.instant.pop_first() {
                return Some(number);
            }
            self.many = false;
        }
        if self.due.is_empty() {
            if !self.advance(limit) {
                return None;
            }
            if self.many {
                return self.instant.pop_first();
            }
        }
        let &key = self.due.last()?;
        let time = self.time_of(key);
        if time >= limit {
            return None;
        }
        self.set_now(time);
        if self.is_crowded() {
            self.gather();
            return self.instant.pop_first();
        }
        self.due.pop();
        Some(key as u32)
    }

    #[inline]
    fn key(&self, number: u32, time: u64) -> u64 {
        (time - (self.current << self.shift)) << 32 | u64::from(number)
    }

    #[inline(always)]
    fn link(&mut self, number: u32, bucket: u64) {
        let place = bucket as usize % BUCKETS;
        let head = self.heads[place];
        self.heads[place] = number;
        let slot = &mut self.slots[number as usize];
        slot.next = head;
        slot.prev = NIL;
        if head == NIL {
            self.occupied[place / 64] |= 1 << (place % 64);
            self.summary |= 1 << (place / 64);
        } else {
            self.slots[head as usize].prev = number;
        }
    }

    #[inline(never)]
    fn unlink(&mut self, number: u32) {
        let Slot { time, next, prev } = self.slots[number as usize];
        self.slots[number as usize].time = NEVER;
        let bucket = time >> self.shift;
        if time == self.now && self.many {
            self.instant.remove(number);
        } else if bucket == self.current {
            let key = self.key(number, time);
            let place = self.due.partition_point(|&other| other > key);
            debug_assert_eq!(self.due[place], key);
            self.due.remove(place);
        } else if bucket - self.current < BUCKETS as u64 {
            if prev == NIL {
                let place = bucket as usize % BUCKETS;
                self.heads[place] = next;
                if next == NIL {
                    self.vacate(place);
                }
            } else {
                self.slots[prev as usize].next = next;
            }
            if next != NIL {
                self.slots[next as usize].prev = prev;
            }
        } else {
            self.far.disarm(number);
            self.far_first = self.far.peek().map_or(NEVER, |(time, _)| time.as_picos());
        }
    }

    #[inline]
    fn vacate(&mut self, place: usize) {
        self.occupied[place / 64] &= !(1 << (place % 64));
        if self.occupied[place / 64] == 0 {
            self.summary &= !(1 << (place / 64));
        }
    }

    /// Absolute number of the first occupied bucket after the current one.
    #[inline]
    fn next_occupied(&self) -> Option<u64> {
        if self.summary == 0 {
            return None;
        }
        let from = (self.current as usize + 1) % BUCKETS;
        let here = self.occupied[from / 64] & (u64::MAX << (from % 64));
        let place = if here != 0 {
            (from / 64) * 64 + here.trailing_zeros() as usize
        } else {
            // Words after this one in turn; this one comes last, for what lies before `from` in it.
            let turned = self.summary.rotate_right((from / 64 + 1) as u32 % 64);
            let word = (from / 64 + 1 + turned.trailing_zeros() as usize) % WORDS;
            word * 64 + self.occupied[word].trailing_zeros() as usize
        };
        let ahead = (place + BUCKETS - from) % BUCKETS;
        Some(self.current + 1 + ahead as u64)
    }

    /// Moves on to the next bucket that holds anything and begins before `limit`. What it holds is due, or becomes the
    /// instant if it is many alarms of one time, as it often is where all links are alike.
    #[inline(never)]
    fn advance(&mut self, limit: u64) -> bool {
        let mut bucket = if self.far_first == NEVER { NEVER } else { self.far_first >> self.shift };
        if let Some(near) = self.next_occupied() {
            bucket = bucket.min(near);
        }
        if bucket == NEVER || bucket << self.shift >= limit {
            return false;
        }
        (self.current, self.offset) = (bucket, NEVER);
        while self.far_first != NEVER && (self.far_first >> self.shift) - bucket < BUCKETS as u64 {
            let (time, number) = self.far.pop().expect("far_first is the time of the first entry");
            self.far_first = self.far.peek().map_or(NEVER, |(time, _)| time.as_picos());
            self.link(number, time.as_picos() >> self.shift);
        }
        let place = bucket as usize % BUCKETS;
        let head = std::mem::replace(&mut self.heads[place], NIL);
        self.vacate(place);
        let time = self.slots[head as usize].time;
        let (mut number, mut alike) = (head, 0);
        while alike < FEW && number != NIL && self.slots[number as usize].time == time {
            number = self.slots[number as usize].next;
            alike += 1;
        }
        if alike == FEW && number != NIL && time < limit && self.make_instant(head, time) {
            return true;
        }
        number = head;
        while number != NIL {
            let slot = self.slots[number as usize];
            let key = self.key(number, slot.time);
            self.due.push(key);
            number = slot.next;
        }
        self.due.sort_unstable_by(|a, b| b.cmp(a));
        true
    }

    /// Makes the alarms of a list the instant, if all of them have that time. Returns whether they do.
    fn make_instant(&mut self, head: u32, time: u64) -> bool {
        let mut number = head;
        while number != NIL {
            let slot = self.slots[number as usize];
            if slot.time != time {
                while self.instant.pop_first().is_some() {}
                return false;
            }
            self.instant.insert(number);
            number = slot.next;
        }
        self.set_now(time);
        self.many = true;
        true
    }
}

/// The pending alarms with their times. Where an alarm lies follows from that.
impl State for Alarms {
    fn save(&self, out: &mut Vec<u8>) {
        (self.now, self.fired).encode(out);
        let pending = (0_u32..).zip(&self.slots).filter(|(_, slot)| slot.time != NEVER);
        let pending: Vec<(u32, u64)> = pending.map(|(number, slot)| (number, slot.time)).collect();
        pending.encode(out);
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        let (now, fired): (u64, u64) = Encode::decode(input)?;
        let pending: Vec<(u32, u64)> = Encode::decode(input)?;
        *self = Alarms::new(self.slots.len(), Wheel { shift: self.shift });
        (self.current, self.fired) = (now >> self.shift, fired);
        self.set_now(now);
        for (number, time) in pending {
            if time < now || time == NEVER || self.slots.get(number as usize)?.time != NEVER {
                return None;
            }
            self.insert(number, time);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn fires_in_the_order_of_time_and_number() {
        let mut alarms = Alarms::new(4, Wheel { shift: 4 });
        for (number, time) in [(3, 100), (1, 100), (0, 1_000_000), (2, 99)] {
            alarms.arm(number, Time::from_picos(time));
        }
        let mut order = Vec::new();
        while let Some((time, number)) = alarms.pop_before(Time::MAX) {
            order.push((time.as_picos(), number));
        }
        assert_eq!(order, [(99, 2), (100, 1), (100, 3), (1_000_000, 0)]);
        assert_eq!(alarms.fired(), 4);
    }

    #[test]
    fn a_limit_inside_a_bucket_leaves_room_for_what_comes_before() {
        let mut alarms = Alarms::new(2, Wheel { shift: 10 });
        alarms.arm(0, Time::from_picos(900));
        assert_eq!(alarms.pop_before(Time::from_picos(500)), None);
        alarms.arm(1, Time::from_picos(600));
        assert_eq!(alarms.pop_before(Time::MAX), Some((Time::from_picos(600), 1)));
        assert_eq!(alarms.next_time(), Some(Time::from_picos(900)));
    }

    #[test]
    fn a_bucket_that_begins_before_the_limit_keeps_what_fires_after_it() {
        let mut alarms = Alarms::new(2, Wheel { shift: 10 });
        alarms.arm(0, Time::from_picos(5));
        assert_eq!(alarms.pop_before(Time::from_picos(10)), Some((Time::from_picos(5), 0)));
        // As far into its bucket as the last one fired was.
        alarms.arm(1, Time::from_picos(1024 + 5));
        assert_eq!(alarms.pop_before(Time::from_picos(1024 + 3)), None);
        assert_eq!(alarms.pop_before(Time::from_picos(1024 + 4)), None);
        assert_eq!(alarms.pop_before(Time::MAX), Some((Time::from_picos(1024 + 5), 1)));
    }

    proptest! {
        /// Against an ordered set: arming, moving, disarming, popping, over spans within and far beyond the horizon, with
        /// few and with many alarms of one time.
        #[test]
        fn behaves_like_an_ordered_set(
            shift in 0u32..6,
            grid in prop::sample::select(vec![1u64, 3, 1000]),
            operations in prop::collection::vec((0u8..6, 0u32..40, 0u64..40, 0u32..16), 1..600),
        ) {
            let mut alarms = Alarms::new(40, Wheel { shift });
            let mut model: BTreeSet<(u64, u32)> = BTreeSet::new();
            let mut now = 0;
            for (what, number, delay, scale) in operations {
                let time = (now + (delay << scale)).next_multiple_of(grid);
                match what {
                    0..=2 => {
                        model.retain(|&(_, n)| n != number);
                        model.insert((time, number));
                        alarms.arm(number, Time::from_picos(time));
                    }
                    3 => {
                        model.retain(|&(_, n)| n != number);
                        alarms.disarm(number);
                    }
                    _ => {
                        let expected = model.first().copied().filter(|&(t, _)| t < time);
                        let popped = alarms.pop_before(Time::from_picos(time)).map(|(t, n)| (t.as_picos(), n));
                        prop_assert_eq!(popped, expected);
                        // After a pop that found nothing, the caller has reached the limit.
                        now = popped.map_or(time.max(now), |(t, _)| t);
                        popped.map(|entry| model.remove(&entry));
                    }
                }
                prop_assert_eq!(alarms.next_time().map(Time::as_picos), model.first().map(|&(t, _)| t));
                prop_assert_eq!(alarms.is_pending(number), model.iter().any(|&(_, n)| n == number));
            }
        }
    }
}
