//! Numbered alarms behind a timing wheel.
//!
//! Everything that can happen later is an alarm with a number that is fixed when the network is built. Alarms fire
//! in the order (time, number); the caller numbers them phase by phase, so the number carries the phase. An alarm is
//! pending at most once; moving or disarming it unlinks it on the spot, so there are no tombstones to skip.
//!
//! The alarms of the present instant are a set of numbers. The wheel has 4096 buckets under a two-level bitmap. What
//! is left of the bucket that is being emptied lies sorted in `due`; later buckets are unsorted linked lists through
//! the slots; what lies beyond the horizon waits in a 4-ary heap.
//! Where an alarm lies follows from its time alone, so no tag has to be kept true.

use crate::heap::IndexedHeap;
use crate::set::NumberSet;
use units::{Span, Time};

const WORDS: usize = 64;
const BUCKETS: usize = WORDS * 64;
const NIL: u32 = u32::MAX;
const NEVER: u64 = u64::MAX;

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
    /// The time of everything in `instant`.
    now: u64,
    instant: NumberSet,
    /// Absolute number of the bucket that lies in `due`.
    current: u64,
    /// Keys (picoseconds into the bucket << 32 | number), latest first; all later than `now`.
    due: Vec<u64>,
    far: IndexedHeap,
    /// Time of the first entry of `far`, or [`NEVER`].
    far_first: u64,
    fired: u64,
    /// The time of the last alarm fired.
    last: u64,
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
            instant: NumberSet::new(count),
            current: 0,
            due: Vec::with_capacity(64),
            far: IndexedHeap::new(0),
            far_first: NEVER,
            fired: 0,
            last: 0,
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
        Time::from_picos(self.last)
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
            self.instant.insert(number);
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
        let number = match self.instant.pop_first() {
            Some(number) => number,
            None => self.move_on(limit.as_picos())?,
        };
        self.slots[number as usize].time = NEVER;
        self.fired += 1;
        self.last = self.now;
        Some((Time::from_picos(self.now), number))
    }

    /// The time of the first pending alarm.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        if !self.instant.is_empty() {
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
            self.instant.insert(number);
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

    /// Fills the empty instant with the alarms of the next one before `limit`, and takes out the first. One that is
    /// alone, as most are where links differ or queues vary, never enters the set.
    #[inline(never)]
    fn move_on(&mut self, limit: u64) -> Option<u32> {
        loop {
            if let Some(&key) = self.due.last() {
                let time = self.time_of(key);
                if time >= limit {
                    return None;
                }
                self.now = time;
                self.due.pop();
                // Of equal times the least number comes last.
                while let Some(&other) = self.due.last()
                    && other >> 32 == key >> 32
                {
                    self.due.pop();
                    self.instant.insert(other as u32);
                }
                return Some(key as u32);
            }
            if !self.advance(limit) {
                return None;
            }
            if self.due.is_empty() {
                return self.instant.pop_first();
            }
        }
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
        if time == self.now {
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

    /// Empties a bucket that has become the current one: into the instant if it is one instant, as it often is, else
    /// into `due`, unsorted.
    fn empty(&mut self, place: usize, limit: u64) {
        let head = self.heads[place];
        if head == NIL {
            return;
        }
        self.heads[place] = NIL;
        self.vacate(place);
        let time = self.slots[head as usize].time;
        // What comes from beyond the horizon may be of the same bucket, and earlier: then all goes through `due`.
        let mut alike = time < limit && self.far_first >> self.shift != self.current;
        let mut number = head;
        while alike && number != NIL {
            let slot = &self.slots[number as usize];
            alike = slot.time == time;
            number = slot.next;
        }
        let mut number = head;
        if alike && self.slots[head as usize].next != NIL {
            self.now = time;
            while number != NIL {
                self.instant.insert(number);
                number = self.slots[number as usize].next;
            }
            return;
        }
        while number != NIL {
            let slot = self.slots[number as usize];
            let key = self.key(number, slot.time);
            self.due.push(key);
            number = slot.next;
        }
    }

    /// Moves on to the next bucket that holds anything and begins before `limit`.
    fn advance(&mut self, limit: u64) -> bool {
        let mut bucket = if self.far_first == NEVER { NEVER } else { self.far_first >> self.shift };
        if let Some(near) = self.next_occupied() {
            bucket = bucket.min(near);
        }
        if bucket == NEVER || bucket << self.shift >= limit {
            return false;
        }
        self.current = bucket;
        self.empty(bucket as usize % BUCKETS, limit);
        while self.far_first != NEVER && (self.far_first >> self.shift) - bucket < BUCKETS as u64 {
            let (time, number) = self.far.pop().expect("far_first is the time of the first entry");
            self.far_first = self.far.peek().map_or(NEVER, |(time, _)| time.as_picos());
            if time.as_picos() >> self.shift == bucket {
                let key = self.key(number, time.as_picos());
                self.due.push(key);
            } else {
                self.link(number, time.as_picos() >> self.shift);
            }
        }
        self.due.sort_unstable_by(|a, b| b.cmp(a));
        true
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

    proptest! {
        /// Against an ordered set: arming, moving, disarming, popping, over spans within and far beyond the horizon.
        #[test]
        fn behaves_like_an_ordered_set(
            shift in 0u32..6,
            operations in prop::collection::vec((0u8..6, 0u32..40, 0u64..40, 0u32..16), 1..600),
        ) {
            let mut alarms = Alarms::new(40, Wheel { shift });
            let mut model: BTreeSet<(u64, u32)> = BTreeSet::new();
            let mut now = 0;
            for (what, number, delay, scale) in operations {
                let time = now + (delay << scale);
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
