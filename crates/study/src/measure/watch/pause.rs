//! Pauses of senders: their fraction of a window, and the length of phases of pauses.

use super::Slot;
use fabric::record::PauseRow;
use scenario::{Expectation, Metric};
use std::collections::BTreeMap;
use units::{Span, Time};

/// An accumulator of pauses.
#[derive(Debug)]
pub(crate) struct Pauses {
    slot: Slot,
    /// For phases: the interval without a pause that ends a phase.
    quiet: Option<Span>,
    ports: BTreeMap<u32, Port>,
}

/// Pauses of one sender.
#[derive(Clone, Debug, Default)]
struct Port {
    /// By class: total time paused.
    paused: BTreeMap<u8, Span>,
    /// Phases in order, separated by quiet intervals.
    phases: Vec<Slot>,
}

impl Pauses {
    pub(super) fn new(expectation: &Expectation) -> Pauses {
        let ports = expectation.subjects.ports.iter();
        Pauses {
            slot: expectation.window.into(),
            quiet: (expectation.metric == Metric::PausePhase).then_some(expectation.quiet),
            ports: ports.map(|&port| (port, Port::default())).collect(),
        }
    }

    pub(super) fn take(&mut self, rows: &[PauseRow]) {
        for row in rows {
            let Some(port) = self.ports.get_mut(&row.port) else { continue };
            if row.end <= self.slot.from || row.start >= self.slot.until {
                continue;
            }
            let mut part = self.slot.part(row.start, row.end);
            let Some(quiet) = self.quiet else {
                *port.paused.entry(row.class).or_default() += part.length();
                continue;
            };
            // Rows come by their ends. One of another class may have begun long before and joins what lies between.
            while let Some(phase) = port.phases.pop_if(|phase| part.from.saturating_since(phase.until) < quiet) {
                part.from = part.from.min(phase.from);
            }
            port.phases.push(part);
        }
    }

    pub(super) fn close(self, end: Time) -> BTreeMap<u32, f64> {
        let window = self.slot.part(Time::ZERO, end).length();
        let value = |port: &Port| match self.quiet {
            _ if window == Span::ZERO => f64::NAN,
            Some(_) => port.phases.first().map_or(0.0, |phase| phase.length().as_secs_f64()),
            None => {
                let most = port.paused.values().copied().max().unwrap_or_default();
                most.as_picos() as f64 / window.as_picos() as f64
            }
        };
        self.ports.iter().map(|(&number, port)| (number, value(port))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn measured(quiet: Option<u64>, (from, until): (u64, u64), end: u64) -> f64 {
        let slot = Slot { from: at(from), until: at(until) };
        let mut pauses = Pauses { slot, quiet: quiet.map(Span::from_micros), ports: [(1, Port::default())].into() };
        // Class 0 three times, and class 1 from 32 to 50; by their ends.
        for (start, end, class) in [(10, 20, 0), (24, 30, 0), (44, 46, 0), (32, 50, 1), (80, 90, 0)] {
            let row = |port| PauseRow { start: at(start), end: at(end), port, class, cut_off: false };
            pauses.take(&[row(1), row(2)]);
        }
        pauses.close(at(end))[&1]
    }

    #[test]
    fn the_share_is_that_of_the_class_paused_longest() {
        assert_eq!(measured(None, (0, 100), 100), 0.28);
        assert_eq!(measured(None, (30, 60), 100), 0.6);
        assert_eq!(measured(None, (15, 25), 100), 0.6);
        assert_eq!(measured(None, (60, 160), 85 + 15), 0.25);
        assert!(measured(None, (200, 300), 100).is_nan());
    }

    #[test]
    fn a_phase_ends_where_it_is_quiet() {
        let micros = |seconds: f64| (seconds * 1e6).round();
        // Gaps of 4, 2 and 30 us.
        assert_eq!(micros(measured(Some(3), (0, 100), 100)), 10.0);
        assert_eq!(micros(measured(Some(4), (0, 100), 100)), 10.0);
        assert_eq!(micros(measured(Some(5), (0, 100), 100)), 40.0);
        assert_eq!(micros(measured(Some(31), (0, 100), 100)), 80.0);
        assert_eq!(micros(measured(Some(5), (25, 100), 100)), 25.0);
        assert_eq!(measured(Some(5), (51, 79), 100), 0.0);
    }
}
