//! Total permitted rate of several flows over time.

use super::distribution::Distribution;
use super::{Slot, link_rates};
use fabric::record::RateRow;
use scenario::{Expectation, Plan, Statistic};
use std::collections::BTreeMap;
use units::Time;

/// An accumulator of a total permitted rate.
#[derive(Debug)]
pub(crate) struct Total {
    slot: Slot,
    statistic: Statistic,
    around: Option<f64>,
    /// By flow: the rate that counts while nothing limits it, and its permitted rate; `None` before its first sample.
    flows: BTreeMap<u32, (u64, Option<u64>)>,
    /// Current total, and the time since which it holds.
    now: u64,
    since: Time,
    /// Over the window: the sum of the total times picoseconds.
    sum: u128,
    /// The same of the squared distance from the first value; the offset avoids cancellation.
    squares: f64,
    first: Option<f64>,
    most: Option<u64>,
    least: Option<u64>,
    /// How long each total was held, for a percentile.
    held: Option<Distribution>,
}

impl Total {
    pub(super) fn new(plan: &Plan, expectation: &Expectation) -> Total {
        let unlimited = link_rates(plan);
        let flow = |&flow: &u32| (flow, (unlimited(flow), None));
        Total {
            slot: expectation.window.into(),
            statistic: expectation.statistic,
            around: expectation.around,
            flows: expectation.subjects.flows.iter().map(flow).collect(),
            now: 0,
            since: Time::ZERO,
            sum: 0,
            squares: 0.0,
            first: None,
            most: None,
            least: None,
            held: Distribution::of(expectation.statistic),
        }
    }

    pub(super) fn take(&mut self, rows: &[RateRow]) {
        for row in rows {
            if !self.flows.contains_key(&row.flow) {
                continue;
            }
            if row.time > self.since {
                self.hold(row.time);
                self.since = row.time;
            }
            let Some((unlimited, limit)) = self.flows.get_mut(&row.flow) else { continue };
            let now = row.rate.unwrap_or(*unlimited);
            self.now = self.now + now - limit.replace(now).unwrap_or(0);
        }
    }

    /// Accumulates the total, which held until then.
    fn hold(&mut self, until: Time) {
        let span = self.slot.part(self.since, until).length().as_picos();
        if span == 0 {
            return;
        }
        self.sum += u128::from(self.now) * u128::from(span);
        let off = self.now as f64 - *self.first.get_or_insert(self.now as f64);
        self.squares += off * off * span as f64;
        if let Some(held) = &mut self.held {
            held.add(self.now, span);
        }
        self.most = Some(self.most.map_or(self.now, |most| most.max(self.now)));
        self.least = Some(self.least.map_or(self.now, |least| least.min(self.now)));
    }

    pub(super) fn close(mut self, end: Time) -> Option<f64> {
        self.hold(end.max(self.since));
        let (length, first) = (self.slot.part(Time::ZERO, end).length().as_picos() as f64, self.first?);
        let mean = self.sum as f64 / length;
        Some(match self.statistic {
            Statistic::Mean | Statistic::Sum => mean,
            Statistic::Most => self.most? as f64,
            Statistic::Least => self.least? as f64,
            Statistic::Quantile(_) => self.held?.value()?,
            Statistic::Deviation | Statistic::Variation => {
                let variance = self.squares / length - (mean - first) * (mean - first);
                return self.statistic.spread_around(self.around, mean, variance);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn measured((from, until): (u64, u64), statistic: Statistic, around: Option<f64>, end: u64) -> Option<f64> {
        let mut total = Total {
            slot: Slot { from: at(from), until: at(until) },
            statistic,
            around,
            flows: [(1, (1000, None)), (2, (1000, None))].into(),
            now: 0,
            since: Time::ZERO,
            sum: 0,
            squares: 0.0,
            first: None,
            most: None,
            least: None,
            held: Distribution::of(statistic),
        };
        let row = |(micros, flow, rate)| RateRow { time: at(micros), flow, rate, window: None };
        // 0 to 10 us, 1000 to 20, 1600 to 40, then 900.
        let rows = [(10, 1, None), (20, 2, Some(600)), (30, 9, Some(77)), (40, 1, Some(300))];
        total.take(&rows.map(row));
        total.close(at(end))
    }

    #[test]
    fn limits_add_up_and_hold_until_the_next_sample() {
        assert_eq!(measured((20, 60), Statistic::Mean, None, 60), Some(1250.0));
        assert_eq!(measured((0, 40), Statistic::Mean, None, 60), Some((10.0 * 1000.0 + 20.0 * 1600.0) / 40.0));
        assert_eq!(measured((20, 60), Statistic::Most, None, 60), Some(1600.0));
        assert_eq!(measured((20, 60), Statistic::Least, None, 60), Some(900.0));
        assert_eq!(measured((20, 60), Statistic::Quantile(500), None, 60), Some(900.0));
        assert_eq!(measured((20, 60), Statistic::Deviation, None, 60), Some(350.0));
        assert_eq!(measured((20, 60), Statistic::Variation, None, 60), Some(350.0 / 1250.0));
        // Half of the time 600 above 1000, half 100 below.
        let around = measured((20, 60), Statistic::Deviation, Some(1000.0), 60).expect("samples");
        assert!((around - (0.5 * (600.0 * 600.0 + 100.0 * 100.0_f64)).sqrt()).abs() < 1e-9, "{around}");
        // A run that ends early ends the window.
        assert_eq!(measured((20, 60), Statistic::Mean, None, 40), Some(1600.0));
        assert_eq!(measured((70, 80), Statistic::Mean, None, 60), None);
    }
}
