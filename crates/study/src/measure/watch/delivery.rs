//! Time until flows together reach their fair share: their throughput over a sliding window, by sample.

use super::Slot;
use crate::measure::measures::fair_share;
use fabric::record::FlowSample;
use scenario::{Expectation, FairPhase, Plan};
use std::collections::{BTreeSet, VecDeque};
use units::{Span, Time};

/// An accumulator of the deliveries of flows.
#[derive(Debug)]
pub(crate) struct Deliveries {
    slot: Slot,
    flows: BTreeSet<u32>,
    /// Length of the sliding window.
    length: Span,
    /// Required bytes in the sliding window; `None` if fair shares are undefined.
    enough: Option<f64>,
    /// Bytes delivered at the samples in the sliding window, and their sum.
    lately: VecDeque<(Time, u64)>,
    sum: u64,
    /// When the required bytes were reached.
    reached: Option<Time>,
}

impl Deliveries {
    pub(super) fn new(plan: &Plan, fair: &[FairPhase], expectation: &Expectation) -> Deliveries {
        let slot = Slot::from(expectation.window);
        let length = plan.probes.throughput_window.min(slot.length());
        let total: f64 = expectation.subjects.flows.iter().map(|&flow| fair_share(fair, slot, flow)).sum();
        let enough = total * (1.0 - expectation.within) * length.as_secs_f64() / 8.0;
        Deliveries {
            slot,
            flows: expectation.subjects.flows.iter().copied().collect(),
            length,
            enough: enough.is_finite().then_some(enough),
            lately: VecDeque::new(),
            sum: 0,
            reached: None,
        }
    }

    pub(super) fn take(&mut self, rows: &[FlowSample]) {
        for row in rows {
            if self.reached.is_some() || row.time <= self.slot.from || row.time > self.slot.until {
                continue;
            }
            if self.flows.contains(&row.flow) {
                match self.lately.back_mut() {
                    Some((time, bytes)) if *time == row.time => *bytes += row.bytes,
                    _ => self.lately.push_back((row.time, row.bytes)),
                }
                self.sum += row.bytes;
                while let Some(&(time, bytes)) = self.lately.front()
                    && time + self.length <= row.time
                {
                    self.lately.pop_front();
                    self.sum -= bytes;
                }
                // Bytes only add up within an instant, so it is no sooner than it should be.
                if self.enough.is_some_and(|enough| self.sum as f64 >= enough) {
                    self.reached = Some(row.time);
                }
            }
        }
    }

    /// Returns the time in seconds; `None` if the run ended within the window or fair shares are undefined.
    pub(super) fn close(self, end: Time) -> Option<f64> {
        self.enough?;
        let until = self.reached.or((end >= self.slot.until).then_some(self.slot.until))?;
        Some(until.saturating_since(self.slot.from).as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn sample(micros: u64, flow: u32, bytes: u64) -> FlowSample {
        FlowSample { time: at(micros), flow, interval: Span::from_micros(10), bytes, frames: 1 }
    }

    /// Two flows, 20 us of memory, 100 bytes are enough.
    fn deliveries() -> Deliveries {
        Deliveries {
            slot: Slot { from: at(100), until: at(200) },
            flows: BTreeSet::from([1, 2]),
            length: Span::from_micros(20),
            enough: Some(100.0),
            lately: VecDeque::new(),
            sum: 0,
            reached: None,
        }
    }

    #[test]
    fn what_counts_is_the_sum_of_the_flows_over_the_last_while() {
        let mut some = deliveries();
        // Before the window, of another flow, and 30 us apart: never enough.
        some.take(&[sample(100, 1, 500), sample(110, 3, 500), sample(110, 1, 60), sample(140, 2, 60)]);
        assert_eq!(some.reached, None);
        some.take(&[sample(150, 1, 30), sample(150, 2, 10)]);
        assert_eq!(some.reached, Some(at(150)));
        assert_eq!(some.close(at(200)), Some(50e-6));
    }

    #[test]
    fn what_never_comes_takes_the_whole_window() {
        let mut some = deliveries();
        some.take(&[sample(110, 1, 60), sample(130, 1, 60), sample(210, 1, 500)]);
        assert_eq!(some.close(at(300)), Some(100e-6));
        assert_eq!(deliveries().close(at(150)), None);
        assert_eq!(Deliveries { enough: None, ..deliveries() }.close(at(300)), None);
    }
}
