//! The first flow that was notified of congestion.

use fabric::record::NoticeRow;
use scenario::Expectation;
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// An accumulator of the earliest notification.
#[derive(Debug)]
pub(crate) struct Notified {
    flows: BTreeSet<u32>,
    /// The earliest notification, and the first flow that received it.
    first: Option<(Time, u32)>,
}

impl Notified {
    pub(super) fn new(expectation: &Expectation) -> Notified {
        Notified { flows: expectation.subjects.flows.iter().copied().collect(), first: None }
    }

    pub(super) fn take(&mut self, rows: &[NoticeRow]) {
        for row in rows.iter().filter(|row| self.flows.contains(&row.flow)) {
            let this = (row.time, row.flow);
            self.first = Some(self.first.map_or(this, |first| first.min(this)));
        }
    }

    /// Returns the number of the flow as the only key, and the time as its value.
    pub(super) fn close(self) -> BTreeMap<u32, f64> {
        self.first.into_iter().map(|(time, flow)| (flow, time.saturating_since(Time::ZERO).as_secs_f64())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    #[test]
    fn the_earliest_notice_of_those_named_counts() {
        let mut notified = Notified { flows: [3, 4, 5].into(), first: None };
        let row = |micros: u64, flow: u32| NoticeRow {
            time: Time::ZERO + Span::from_micros(micros),
            flow,
            port: 0,
            class: 0,
            feedback: 1,
            offset: 0,
            growth: 0,
        };
        notified.take(&[row(5, 9), row(7, 5)]);
        notified.take(&[row(7, 4), row(8, 3)]);
        assert_eq!(notified.close().into_iter().collect::<Vec<_>>(), [(4, 7e-6)]);
    }
}
