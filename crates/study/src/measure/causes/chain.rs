//! Chains: the time of a flow by cause, in intervals of time.
//!
//! A chain covers the time from the start of its flow without a gap. It is copied whenever a frame comes to a stage at which
//! there is none of its flow, so all but the last interval is shared between copies.

use super::ledger::{Key, Ledger};
use std::sync::Arc;

/// Intervals of a chain before its intervals become twice as long.
const MOST_INTERVALS: u32 = 512;

/// An interval that is over, and those before it.
#[derive(Debug)]
struct Interval {
    start: u64,
    ledger: Ledger,
    before: Option<Arc<Interval>>,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The last interval, from `start` to `end`.
    ledger: Ledger,
    start: u64,
    end: u64,
    /// Intervals end at multiples of it.
    width: u64,
    /// Number of intervals of this width, and of those before.
    intervals: u32,
    before: Option<Arc<Interval>>,
}

impl Chain {
    /// A chain that begins now, in intervals that end at multiples of `width`.
    pub(super) fn new(now: u64, width: u64) -> Chain {
        let width = width.max(1);
        Chain { ledger: Ledger::default(), start: now, end: after(now, width), width, intervals: 1, before: None }
    }

    /// Adds time that begins at `from`. Time of several causes that begins at the same instant must not extend beyond the
    /// interval.
    pub(super) fn add(&mut self, mut from: u64, key: Key, mut span: u64) {
        while span > 0 {
            if from >= self.end {
                self.advance(from);
            }
            let part = span.min(self.end - from);
            self.ledger.add(key, part);
            (from, span) = (from + part, span - part);
        }
    }

    /// Begins the interval of an instant.
    fn advance(&mut self, now: u64) {
        if self.intervals >= MOST_INTERVALS {
            (self.width, self.intervals) = (self.width.saturating_mul(2), MOST_INTERVALS / 2);
        }
        let ledger = std::mem::take(&mut self.ledger);
        let before = self.before.take();
        self.before = Some(Arc::new(Interval { start: self.start, ledger, before }));
        self.start = now;
        self.end = after(now, self.width);
        self.intervals += 1;
    }

    /// Takes back the time after an instant. `added` are the last additions, in any order, all of those among them that
    /// extend beyond the instant.
    pub(super) fn cut(&mut self, time: u64, added: impl Iterator<Item = (u64, Key, u64)>) {
        let mut end = u64::MAX;
        while self.start >= time
            && let Some(interval) = self.before.take()
        {
            end = self.start;
            self.ledger.clone_from(&interval.ledger);
            (self.start, self.end) = (interval.start, after(interval.start, self.width).min(end));
            self.intervals = self.intervals.saturating_sub(1);
            self.before.clone_from(&interval.before);
        }
        for (from, key, span) in added {
            let beyond = (from + span).min(end).saturating_sub(time.max(from));
            self.ledger.take_back(key, beyond);
        }
    }

    /// The sums, and every interval from the first on: its start and its causes.
    pub(super) fn finish(self) -> (Ledger, Vec<(u64, Ledger)>, u64) {
        let width = self.width;
        let mut intervals = vec![(self.start, self.ledger)];
        let mut before = self.before;
        while let Some(interval) = before {
            intervals.push((interval.start, interval.ledger.clone()));
            before = interval.before.clone();
        }
        intervals.reverse();
        let mut sums = Ledger::default();
        intervals.iter().flat_map(|(_, ledger)| ledger.iter()).for_each(|(key, span)| sums.add(key, span));
        (sums, intervals, width)
    }
}

/// The first multiple of `width` after an instant.
fn after(now: u64, width: u64) -> u64 {
    (now / width).saturating_add(1).saturating_mul(width)
}

#[cfg(test)]
mod tests {
    use super::super::ledger::Cause;
    use super::*;

    const PATH: Key = Key::own(Cause::Path);
    const RATE: Key = Key::own(Cause::Rate);

    fn parts(chain: Chain) -> Vec<(u64, Vec<(Key, u64)>)> {
        let (sums, intervals, _) = chain.finish();
        let all: u64 = intervals.iter().map(|(_, ledger)| ledger.total()).sum();
        assert_eq!(sums.total(), all);
        intervals.into_iter().map(|(start, ledger)| (start, ledger.iter().collect())).collect()
    }

    #[test]
    fn time_is_divided_at_the_ends_of_intervals_and_copies_share_what_is_over() {
        let mut chain = Chain::new(15, 10);
        chain.add(15, PATH, 20);
        let mut copy = chain.clone();
        copy.add(35, RATE, 10);
        chain.add(35, PATH, 1);
        assert_eq!(parts(chain), [(15, vec![(PATH, 5)]), (20, vec![(PATH, 10)]), (30, vec![(PATH, 6)])]);
        let expected =
            [(15, vec![(PATH, 5)]), (20, vec![(PATH, 10)]), (30, vec![(PATH, 5), (RATE, 5)]), (40, vec![(RATE, 5)])];
        assert_eq!(parts(copy), expected);
    }

    #[test]
    fn a_chain_is_cut_at_any_instant() {
        for cut in 15..=60 {
            let mut chain = Chain::new(15, 10);
            chain.add(15, RATE, 7);
            let added = [(22, PATH, 18), (40, RATE, 20)];
            added.iter().for_each(|&(from, key, span)| chain.add(from, key, span));
            chain.cut(cut.max(22), added.into_iter());
            // It goes on from there.
            chain.add(cut.max(22), PATH, 100);
            let all = parts(chain);
            let total: u64 = all.iter().flat_map(|(_, causes)| causes).map(|(_, span)| span).sum();
            assert_eq!(total, cut.max(22) - 15 + 100, "{cut}: {all:?}");
            let whole = |pair: &[(u64, Vec<(Key, u64)>)]| {
                pair[0].1.iter().map(|(_, span)| span).sum::<u64>() == pair[1].0 - pair[0].0
            };
            assert!(all.windows(2).all(whole), "{cut}: {all:?}");
        }
    }

    #[test]
    fn the_intervals_of_a_long_flow_are_few() {
        let mut chain = Chain::new(0, 10);
        (0..100_000).for_each(|number| chain.add(number * 10, PATH, 10));
        let (sums, intervals, width) = chain.finish();
        assert_eq!(sums.total(), 1_000_000);
        assert!(intervals.len() < 4000, "{}", intervals.len());
        // Each lies within one multiple of the last width.
        for pair in intervals.windows(2) {
            assert!(pair[0].0 / width == (pair[1].0 - 1) / width, "{} {}", pair[0].0, pair[1].0);
        }
    }
}
