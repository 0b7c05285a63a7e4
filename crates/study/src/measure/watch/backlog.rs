//! Buffer occupancy by flow: the mean of each flow over a window, or the settling time of their sum.

use super::Slot;
use super::rest::Rest;
use fabric::record::OccupancyRow;
use scenario::{Expectation, Metric};
use std::collections::BTreeMap;
use units::{Span, Time};

/// An accumulator of the buffer occupancy of flows.
#[derive(Debug)]
pub(crate) struct Backlogs {
    slot: Slot,
    /// The last quarter of the window.
    quarter: Slot,
    /// For settling: the permitted deviation of the sum, as a fraction of the last mean.
    within: Option<f64>,
    /// By flow, the level it contributes to: its own, or the first.
    levels_of: BTreeMap<u32, u32>,
    levels: BTreeMap<u32, Level>,
    /// By port, class and flow: the last sample.
    held: BTreeMap<(u32, u8, u32), u32>,
    /// Whether any switch records buffer occupancy by flow.
    kept: bool,
}

/// Buffer occupancy of one flow, or of all together.
#[derive(Debug)]
struct Level {
    now: u64,
    since: Time,
    /// Over the window and over its last quarter: bytes times picoseconds.
    sum: u128,
    last: u128,
    rest: Rest,
}

impl Level {
    fn hold(&mut self, until: Time, slot: Slot, quarter: Slot) {
        let part = slot.part(self.since, until);
        let over = |slot: Slot, from: Time| u128::from(slot.part(from, until).length().as_picos());
        self.sum += u128::from(self.now) * over(slot, self.since);
        self.last += u128::from(self.now) * over(quarter, self.since);
        if part.length() > Span::ZERO {
            self.rest.hold(self.now, part.until);
        }
        self.since = until;
    }
}

impl Backlogs {
    pub(super) fn new(expectation: &Expectation) -> Backlogs {
        let slot = Slot::from(expectation.window);
        let together = expectation.metric == Metric::BacklogSettling;
        let named = || expectation.subjects.flows.iter().chain(expectation.subjects.over.iter().flatten());
        let place = |flow: u32| if together { 0 } else { flow };
        let empty = || Level { now: 0, since: Time::ZERO, sum: 0, last: 0, rest: Rest::default() };
        Backlogs {
            slot,
            quarter: Slot { from: slot.from + Span::from_picos(slot.length().as_picos() / 4 * 3), ..slot },
            within: together.then_some(expectation.within),
            levels_of: named().map(|&flow| (flow, place(flow))).collect(),
            levels: named().map(|&flow| (place(flow), empty())).collect(),
            held: BTreeMap::new(),
            kept: false,
        }
    }

    pub(super) fn take(&mut self, rows: &[OccupancyRow]) {
        self.kept |= !rows.is_empty();
        for row in rows {
            let Some(level) = self.levels_of.get(&row.flow).and_then(|place| self.levels.get_mut(place)) else {
                continue;
            };
            level.hold(row.time, self.slot, self.quarter);
            let before = self.held.insert((row.port, row.class, row.flow), row.bytes).unwrap_or(0);
            level.now = level.now + u64::from(row.bytes) - u64::from(before);
        }
    }

    /// Returns the values; empty if no switch records occupancy, or if the run ended within a window for settling.
    pub(super) fn close(self, end: Time) -> BTreeMap<u32, f64> {
        let Backlogs { slot, quarter, within, levels, kept, .. } = self;
        let lived = slot.part(Time::ZERO, end).length();
        if !kept || lived == Span::ZERO || (within.is_some() && end < slot.until) {
            return BTreeMap::new();
        }
        let value = |mut level: Level| {
            level.hold(end.max(level.since), slot, quarter);
            match within {
                None => level.sum as f64 / lived.as_picos() as f64,
                Some(within) => {
                    let mean = level.last as f64 / quarter.length().as_picos() as f64;
                    let outside = level.rest.last_outside(mean, within);
                    outside.map_or(0.0, |until| until.saturating_since(slot.from).as_secs_f64())
                }
            }
        };
        levels.into_iter().map(|(place, level)| (place, value(level))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Across, Comparison, Statistic, Subjects, Window};

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn measured(metric: Metric, rows: &[(u64, u32, u32)], end: u64) -> BTreeMap<u32, f64> {
        let expectation = Expectation {
            name: "f".into(),
            number: 0,
            metric,
            subjects: Subjects { flows: vec![1, 2], ..Subjects::default() },
            window: Window { from: Span::from_micros(20), until: Span::from_micros(120) },
            statistic: Statistic::Mean,
            across: Across::Most,
            around: None,
            comparison: Comparison::Equal,
            expected: None,
            tolerance: 0.0,
            quiet: Span::ZERO,
            within: 0.1,
            level: units::Bytes::ZERO,
            source: None,
            statement: None,
            stated_at: String::new(),
        };
        let mut backlogs = Backlogs::new(&expectation);
        for &(micros, flow, bytes) in rows {
            backlogs.take(&[OccupancyRow { time: at(micros), port: 7, class: 0, flow, bytes }]);
        }
        backlogs.close(at(end))
    }

    #[test]
    fn each_flow_has_the_mean_of_what_it_holds() {
        let rows = [(10, 1, 100), (30, 1, 200), (70, 1, 0), (80, 3, 999)];
        assert_eq!(measured(Metric::Occupancy, &rows, 120), [(1, 90.0), (2, 0.0)].into());
        // A run that ends early ends the window, and where nobody keeps account there is nothing.
        assert_eq!(measured(Metric::Occupancy, &rows[..2], 70)[&1], 180.0);
        assert_eq!(measured(Metric::Occupancy, &[], 120), BTreeMap::new());
    }

    #[test]
    fn together_they_settle_when_the_sum_was_last_outside() {
        // The sum is 100 from 60 us on, whatever each of them does.
        let rows = [(10, 1, 300), (40, 2, 20), (60, 1, 80), (80, 1, 50), (80, 2, 50)];
        let micros = |rows: &[(u64, u32, u32)], end| {
            measured(Metric::BacklogSettling, rows, end).get(&0).map(|seconds| (seconds * 1e6).round())
        };
        assert_eq!(micros(&rows, 120), Some(40.0));
        assert_eq!(micros(&rows, 119), None);
        // One that grows to the end does not settle.
        assert_eq!(micros(&[(10, 1, 100), (110, 1, 900)], 120), Some(100.0));
    }
}
