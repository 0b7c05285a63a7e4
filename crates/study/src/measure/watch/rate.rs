//! Permitted rates of flows: the mean over a window, or the settling time.

use super::rest::Rest;
use super::{Slot, link_rates};
use fabric::record::RateRow;
use scenario::{Expectation, Metric, Plan};
use std::collections::BTreeMap;
use units::{Span, Time};

/// An accumulator of permitted rates.
#[derive(Debug)]
pub(crate) struct Rates {
    slot: Slot,
    /// The last quarter of the window.
    quarter: Slot,
    /// For settling times: the permitted deviation of a rate, as a fraction of the last mean.
    within: Option<f64>,
    flows: BTreeMap<u32, Flow>,
}

/// Permitted rate of one flow.
#[derive(Clone, Debug, Default)]
struct Flow {
    /// Rate that counts while nothing limits the flow.
    unlimited: u64,
    /// Time and value of the latest sample.
    now: Option<(Time, u64)>,
    /// Time of the first sample.
    first: Time,
    /// Over the window and over its last quarter: sum of rate times picoseconds, and of picoseconds.
    sum: (u128, u64),
    last: (u128, u64),
    /// When the rate was last outside a band.
    rest: Rest,
}

impl Flow {
    /// Accumulates the latest sample, which held until then.
    fn hold(&mut self, until: Time, slot: Slot, quarter: Slot, settling: bool) {
        let Some((since, rate)) = self.now else { return };
        for (slot, (sum, length)) in [(slot, &mut self.sum), (quarter, &mut self.last)] {
            let span = slot.part(since, until).length().as_picos();
            *sum += u128::from(rate) * u128::from(span);
            *length += span;
        }
        let part = slot.part(since, until);
        if !settling || part.length() == Span::ZERO {
            return;
        }
        self.rest.hold(rate, part.until);
    }

    /// Returns the seconds until the rate stayed within that fraction of its last mean.
    fn settled(&self, slot: Slot, within: f64) -> f64 {
        let begin = self.first.max(slot.from);
        let mean = mean(self.last);
        let outside = self.rest.last_outside(mean, within);
        if mean.is_nan() { f64::NAN } else { outside.map_or(0.0, |until| until.saturating_since(begin).as_secs_f64()) }
    }
}

/// Returns the mean; NaN if the interval is empty.
fn mean((sum, length): (u128, u64)) -> f64 {
    if length == 0 { f64::NAN } else { sum as f64 / length as f64 }
}

impl Rates {
    pub(super) fn new(plan: &Plan, expectation: &Expectation) -> Rates {
        let slot = Slot::from(expectation.window);
        let link_rate = link_rates(plan);
        let named = expectation.subjects.flows.iter().chain(expectation.subjects.over.iter().flatten());
        let flow = |&flow: &u32| (flow, Flow { unlimited: link_rate(flow), ..Flow::default() });
        Rates {
            slot,
            quarter: Slot { from: slot.from + Span::from_picos(slot.length().as_picos() / 4 * 3), ..slot },
            within: (expectation.metric == Metric::SettlingTime).then_some(expectation.within),
            flows: named.map(flow).collect(),
        }
    }

    pub(super) fn take(&mut self, rows: &[RateRow]) {
        for row in rows {
            let Some(flow) = self.flows.get_mut(&row.flow) else { continue };
            flow.hold(row.time, self.slot, self.quarter, self.within.is_some());
            if flow.now.is_none() {
                flow.first = row.time;
            }
            flow.now = Some((row.time, row.rate.unwrap_or(flow.unlimited)));
        }
    }

    pub(super) fn close(self, end: Time) -> BTreeMap<u32, f64> {
        let Rates { slot, quarter, within, flows } = self;
        // A window that was not lived through has no last quarter.
        let whole = end >= slot.until;
        let value = |mut flow: Flow| {
            flow.hold(end, slot, quarter, within.is_some());
            match within {
                None => mean(flow.sum),
                Some(within) if whole => flow.settled(slot, within),
                Some(_) => f64::NAN,
            }
        };
        flows.into_iter().map(|(number, flow)| (number, value(flow))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn measured(within: Option<f64>, (from, until): (u64, u64), rows: &[(u64, Option<u64>)], end: u64) -> f64 {
        let slot = Slot { from: at(from), until: at(until) };
        let quarter = Slot { from: at(until - (until - from) / 4), until: at(until) };
        let flows = [(4, Flow { unlimited: 1000, ..Flow::default() })].into();
        let mut rates = Rates { slot, quarter, within, flows };
        for &(micros, rate) in rows {
            let row = |flow| RateRow { time: at(micros), flow, rate, window: None };
            rates.take(&[row(3), row(4)]);
        }
        let values = rates.close(at(end));
        assert_eq!(values.len(), 1);
        values[&4]
    }

    #[test]
    fn a_limit_holds_from_sample_to_sample_and_none_is_the_link() {
        let rows = [(10, None), (20, Some(500)), (40, Some(100))];
        // 10 us of 1000, 20 us of 500, 60 us of 100: before its first sample the flow had not begun.
        assert_eq!(measured(None, (0, 100), &rows, 100), 26_000.0 / 90.0);
        assert_eq!(measured(None, (30, 50), &rows, 100), 300.0);
        assert_eq!(measured(None, (30, 200), &rows, 50), 300.0);
        assert!(measured(None, (0, 5), &rows, 100).is_nan());
        assert!(measured(None, (60, 70), &rows, 50).is_nan());
    }

    #[test]
    fn settled_is_when_it_was_last_outside() {
        let settling = |rows: &[(u64, Option<u64>)]| measured(Some(0.1), (0, 100), rows, 100);
        let micros = |seconds: f64| (seconds * 1e6).round();
        // The last quarter's mean is 100: 200, 50 and 120 are outside, 95 and 105 are not.
        let rows = [(0, None), (10, Some(200)), (20, Some(50)), (30, Some(95)), (40, Some(120)), (50, Some(105))];
        let rest = [(60, Some(95)), (75, Some(100))];
        assert_eq!(micros(settling(&[&rows[..], &rest].concat())), 50.0);
        assert_eq!(micros(settling(&[&rows[..3], &rest].concat())), 60.0);
        assert_eq!(settling(&[(0, Some(95)), (75, Some(100))]), 0.0);
        // Counted from the first sample, if that is later than the window.
        assert_eq!(micros(settling(&[(20, Some(500)), (30, Some(100))])), 10.0);
        // One that swings to the end has the whole window.
        assert_eq!(micros(settling(&[(0, Some(10)), (80, Some(500)), (90, Some(10))])), 100.0);
        assert!(settling(&[]).is_nan());
        assert!(measured(Some(0.1), (0, 100), &[(0, None)], 99).is_nan());
    }

    #[test]
    fn what_is_kept_of_a_swinging_rate_does_not_grow() {
        let slot = Slot { from: at(0), until: at(100_000) };
        let mut flow = Flow::default();
        for micros in 0..100_000 {
            flow.hold(at(micros), slot, slot, true);
            flow.now = Some((at(micros), 1000 + micros * 7919 % 1000));
        }
        assert!(flow.rest.kept() < 100, "{}", flow.rest.kept());
    }
}
