//! The end-to-end probes of E2CM: a source's measurement of its flow's share of all queues on its path.
//!
//! A probe follows the flow's frames, and the destination returns it with the time of its arrival. The bytes that the
//! flow injected between departure and arrival were in flight: the flow's own share of the queues. The source looks
//! them up in the history of its frames, which extends back to the oldest probe in flight. A frame is injected when it
//! starts; the clocks of source and destination agree.
//!
//! A lost probe is forgotten when the first later one returns. The history is limited to [`MOST`] frames: a probe that
//! is in flight for longer is forgotten too.

use crate::feedback::Sample;
use crate::{PathProbe, STAMP};
use std::collections::VecDeque;
use units::{Span, Time};

/// Frames that the history reaches back, at most.
const MOST: usize = 4096;

/// A probe on its way.
#[derive(Clone, Copy, Debug)]
struct OnWay {
    number: u32,
    left: Time,
    /// Bytes that the flow had injected by then.
    injected: u64,
}

units::encoded!(struct OnWay { number, left, injected });

/// The probes of a flow and the bytes injected since the oldest of them left.
#[derive(Clone, Debug)]
pub(crate) struct PathProbes {
    /// Set point of the bytes in flight.
    set_point: u32,
    /// Whether the bytes in flight without any queue are subtracted.
    less_base: bool,
    injected: u64,
    /// Start times of frames, and the bytes injected up to each.
    history: VecDeque<(Time, u64)>,
    on_way: VecDeque<OnWay>,
    number: u32,
    /// Result of the last probe.
    old: Option<u32>,
    /// The least time a probe took.
    base: Option<Span>,
}

units::state!(struct PathProbes { fixed: set_point, less_base; plain: injected, history, on_way, number, old, base; });

impl PathProbes {
    pub(crate) fn new(set_point: u32, less_base: bool) -> PathProbes {
        PathProbes {
            set_point,
            less_base,
            injected: 0,
            history: VecDeque::new(),
            on_way: VecDeque::new(),
            number: 0,
            old: None,
            base: None,
        }
    }

    pub(crate) fn on_sent(&mut self, now: Time, len: u64) {
        self.injected += len;
        if !self.on_way.is_empty() {
            self.history.push_back((now, self.injected));
            while self.history.len() > MOST {
                self.on_way.pop_front();
                self.prune();
            }
        }
    }

    /// The probe that leaves now.
    pub(crate) fn leave(&mut self, now: Time) -> PathProbe {
        self.number = self.number.wrapping_add(1);
        self.on_way.push_back(OnWay { number: self.number, left: now, injected: self.injected });
        PathProbe { number: self.number, value: STAMP, tag: 0 }
    }

    /// Forgets the history before the oldest probe that is on its way.
    fn prune(&mut self) {
        let Some(oldest) = self.on_way.front() else { return self.history.clear() };
        while self.history.front().is_some_and(|&(_, injected)| injected <= oldest.injected) {
            self.history.pop_front();
        }
    }

    /// Returns the bytes injected up to a time that is not before the departure of the probe.
    fn injected_by(&self, probe: &OnWay, at: Time) -> u64 {
        let frames = self.history.partition_point(|&(start, _)| start <= at);
        let injected = frames.checked_sub(1).map_or(0, |last| self.history[last].1);
        injected.max(probe.injected)
    }

    /// A probe returned that was at the destination at that time. Returns the flow's bytes in flight as the sample of a
    /// queue; `None` if the probe was forgotten.
    pub(crate) fn arrived(&mut self, number: u32, at: Time) -> Option<Sample> {
        let place = self.on_way.iter().position(|probe| probe.number == number)?;
        let probe = self.on_way[place];
        let took = at.saturating_since(probe.left);
        let base = self.base.map_or(took, |base| base.min(took));
        self.base = Some(base);
        let from = if self.less_base { probe.left.saturating_add(base) } else { probe.left };
        let found = self.injected_by(&probe, at) - self.injected_by(&probe, from);
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        self.on_way.drain(..=place);
        self.prune();
        let old = self.old.replace(found).unwrap_or(found);
        Some(Sample::of(self.set_point, found, old))
    }

    /// The flow is no longer limited: probes in flight are forgotten.
    pub(crate) fn forget(&mut self) {
        self.on_way.clear();
        self.history.clear();
        self.old = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn micros(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn what_was_injected_between_departure_and_arrival_is_counted() {
        let mut probes = PathProbes::new(15_000, false);
        probes.on_sent(micros(0), 1500);
        let first = probes.leave(micros(0));
        assert_eq!((first.value, first.tag), (STAMP, 0));
        // Frames at 2, 4, ... 20 us; those up to 9 us are four.
        (1..=10).for_each(|n| probes.on_sent(micros(2 * n), 1500));
        let second = probes.leave(micros(20));
        // The first has nothing before it: no growth. 15000 - 6000.
        assert_eq!(probes.arrived(first.number, micros(9)), Some(Sample { offset: 9_000, growth: 0 }));
        assert_eq!(probes.arrived(first.number, micros(9)), None);
        (11..=25).for_each(|n| probes.on_sent(micros(2 * n), 1500));
        // 22, 24, ... 44 us: twelve frames, 18000 bytes, 12000 more than before.
        assert_eq!(probes.arrived(second.number, micros(45)), Some(Sample { offset: -3_000, growth: 12_000 }));
        assert!(probes.history.is_empty());
    }

    #[test]
    fn a_path_without_queues_does_not_count_if_it_is_not_to() {
        let mut probes = PathProbes::new(15_000, true);
        let mut ask = |from: u64, took: u64| {
            let probe = probes.leave(micros(from));
            (1..=20).for_each(|n| probes.on_sent(micros(from + n), 1000));
            probes.arrived(probe.number, micros(from + took)).map(|sample| 15_000 - sample.offset)
        };
        // The first is the shortest yet; then 9 - 4 frames; then a shorter one; then 9 - 3.
        assert_eq!([ask(0, 4), ask(100, 9), ask(200, 3), ask(300, 9)], [Some(0), Some(5_000), Some(0), Some(6_000)]);
    }

    #[test]
    fn lost_probes_are_forgotten_and_the_history_ends() {
        let mut probes = PathProbes::new(15_000, false);
        let lost = probes.leave(micros(0));
        probes.on_sent(micros(1), 1500);
        let later = probes.leave(micros(1));
        assert!(probes.arrived(later.number, micros(2)).is_some());
        assert_eq!(probes.arrived(lost.number, micros(3)), None);
        let old = probes.leave(micros(4));
        (0..MOST as u64).for_each(|n| probes.on_sent(micros(5 + n), 64));
        let new = probes.leave(micros(10_000));
        probes.on_sent(micros(10_001), 64);
        assert_eq!(probes.history.len(), 1);
        assert_eq!(probes.arrived(old.number, micros(10_002)), None);
        assert!(probes.arrived(new.number, micros(10_002)).is_some());
        let gone = probes.leave(micros(10_003));
        probes.forget();
        assert_eq!(probes.arrived(gone.number, micros(10_004)), None);
    }

    proptest! {
        /// The history gives what a list of all frames gives, with several probes on their way.
        #[test]
        fn the_history_is_exact(steps in prop::collection::vec((0..4_u8, 1..1500_u64, 0..8_u64), 1..200)) {
            let mut probes = PathProbes::new(15_000, false);
            let mut all: Vec<(Time, u64)> = Vec::new();
            let mut away: Vec<(PathProbe, Time, usize)> = Vec::new();
            let mut now = Time::ZERO;
            for (kind, len, back) in steps {
                now += Span::from_nanos(100);
                match kind {
                    0 => away.push((probes.leave(now), now, all.len())),
                    1 if !away.is_empty() => {
                        // The oldest or the one after it comes back; it was there some time ago.
                        let (probe, left, before) = away.remove(away.len().min(2) - 1);
                        away.retain(|(other, ..)| other.number > probe.number);
                        let at = left.max(Time::from_picos(now.as_picos().saturating_sub(back * 70_000)));
                        let sum: u64 = all[before..].iter().filter(|(start, _)| *start <= at).map(|(_, len)| len).sum();
                        let found = probes.arrived(probe.number, at).map(|sample| i64::from(15_000 - sample.offset));
                        prop_assert_eq!(found, Some(sum as i64));
                    }
                    _ => {
                        probes.on_sent(now, len);
                        all.push((now, len));
                    }
                }
            }
        }
    }
}
