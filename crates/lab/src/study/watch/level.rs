//! How full queues and buffers are: the fullest of those named at each sample, over a window.

use super::Slot;
use crate::scenario::{Expectation, Metric, Plan, Statistic};
use fabric::record::QueueRow;
use std::collections::BTreeMap;
use units::{Span, Time};

/// See the module.
#[derive(Debug)]
pub(in crate::study) struct Levels {
    slot: Slot,
    statistic: Statistic,
    around: Option<f64>,
    /// Whether what came in is meant, not what waits to go out.
    input: bool,
    /// For every port and class the positions in `levels` of what it is a part of.
    levels_of: BTreeMap<(u32, u8), Vec<usize>>,
    /// By port and class: what was last seen.
    seen: BTreeMap<(u32, u8), u32>,
    levels: Vec<u64>,
    /// Since when the levels are what they are.
    since: Time,
    /// Of the fullest: the sum over the window of level times picoseconds, of its square, the most and the least.
    sum: u128,
    squares: u128,
    most: Option<u64>,
    least: Option<u64>,
    /// What is asked of the levels, if it is no statistic.
    asked: Asked,
}

/// What metrics other than statistics need.
#[derive(Debug)]
enum Asked {
    Nothing,
    /// Whether the fullest has been above a level, and when it first was so no longer.
    Above {
        level: u64,
        been: bool,
        back: Option<Time>,
    },
    /// Its samples, a fixed time apart, and the time of the next.
    Samples {
        apart: Span,
        next: Time,
        values: Vec<f64>,
        frequency: bool,
    },
}

impl Levels {
    pub(super) fn new(plan: &Plan, expectation: &Expectation) -> Levels {
        let input = expectation.metric == Metric::Buffer;
        let mut levels = Levels {
            slot: expectation.window.into(),
            statistic: expectation.statistic,
            around: expectation.around,
            input,
            levels_of: BTreeMap::new(),
            seen: BTreeMap::new(),
            levels: Vec::new(),
            since: Time::ZERO,
            sum: 0,
            squares: 0,
            most: None,
            least: None,
            asked: match expectation.metric {
                Metric::DrainTime => Asked::Above { level: expectation.level.get(), been: false, back: None },
                metric @ (Metric::Swing | Metric::SwingFrequency) => Asked::Samples {
                    apart: plan.probes.sample_every,
                    next: Time::ZERO + expectation.window.from,
                    values: Vec::new(),
                    frequency: metric == Metric::SwingFrequency,
                },
                _ => Asked::Nothing,
            },
        };
        let classes = plan.spec.classes.len() as u8;
        // Every queue stands alone. A buffer is all that a node holds, or all that came in by one port.
        let mut add = |groups: Vec<Vec<(u32, u8)>>| {
            for group in groups {
                let place = levels.levels.len();
                levels.levels.push(0);
                group.into_iter().for_each(|lane| levels.levels_of.entry(lane).or_default().push(place));
            }
        };
        let lanes = |port: u32| (0..classes).map(move |class| (port, class));
        let mut first = 0;
        for (node, ports) in (0..).zip(plan.spec.graph.ports()) {
            let ports = first..first + ports.len() as u32;
            first = ports.end;
            if !expectation.subjects.nodes.contains(&node) {
                continue;
            }
            let all: Vec<(u32, u8)> = ports.flat_map(lanes).collect();
            add(if input { vec![all] } else { all.into_iter().map(|lane| vec![lane]).collect() });
        }
        for &port in &expectation.subjects.ports {
            add(if input { vec![lanes(port).collect()] } else { lanes(port).map(|lane| vec![lane]).collect() });
        }
        levels
    }

    pub(super) fn take(&mut self, rows: &[QueueRow]) {
        for row in rows {
            let lane = (row.queue.port, row.queue.class);
            if !self.levels_of.contains_key(&lane) {
                continue;
            }
            if row.time > self.since {
                self.hold(row.time, false);
                self.since = row.time;
            }
            let now = if self.input { row.queue.input_held } else { row.queue.output_bytes };
            let before = self.seen.insert(lane, now).unwrap_or(0);
            for &place in &self.levels_of[&lane] {
                self.levels[place] = self.levels[place] + u64::from(now) - u64::from(before);
            }
        }
    }

    /// The levels were what they are until then; at the end of the run they are also what they are in that instant.
    fn hold(&mut self, until: Time, last: bool) {
        if self.since > self.slot.until || until < self.slot.from || (until == self.slot.from && !last) {
            return;
        }
        let fullest = self.levels.iter().copied().max().unwrap_or(0);
        let span = self.slot.part(self.since, until).length();
        self.sum += u128::from(fullest) * u128::from(span.as_picos());
        self.squares += u128::from(fullest) * u128::from(fullest) * u128::from(span.as_picos());
        self.most = Some(self.most.map_or(fullest, |most| most.max(fullest)));
        self.least = Some(self.least.map_or(fullest, |least| least.min(fullest)));
        match &mut self.asked {
            Asked::Nothing => {}
            Asked::Above { level, been, back } => {
                let above = fullest > *level;
                if *been && !above && back.is_none() && self.since < self.slot.until {
                    *back = Some(self.since);
                }
                *been |= above && self.since < self.slot.until;
            }
            Asked::Samples { apart, next, values, .. } => {
                while *next < until.min(self.slot.until) && *apart > Span::ZERO {
                    values.push(fullest as f64);
                    *next += *apart;
                }
            }
        }
    }

    pub(super) fn close(mut self, end: Time) -> Option<f64> {
        self.hold(end.max(self.since), true);
        let length = self.slot.part(Time::ZERO, end).length().as_picos();
        match &self.asked {
            _ if length == 0 => return None,
            Asked::Nothing => {}
            Asked::Above { been, back, .. } => {
                let whole = self.slot.part(Time::ZERO, end).until;
                let back = if *been { back.unwrap_or(whole) } else { self.slot.from };
                return Some(back.saturating_since(self.slot.from).as_secs_f64());
            }
            Asked::Samples { apart, values, frequency, .. } => {
                // What never changes swings by nothing, at no frequency.
                let peak = theory::spectrum::peak(values, apart.as_secs_f64());
                return if *frequency {
                    peak.map(|peak| peak.frequency)
                } else {
                    Some(peak.map_or(0.0, |peak| peak.amplitude))
                };
            }
        }
        match self.statistic {
            Statistic::Most | Statistic::Sum => self.most.map(|most| most as f64),
            Statistic::Least => self.least.map(|least| least as f64),
            Statistic::Mean => Some(self.sum as f64 / length as f64),
            Statistic::Deviation | Statistic::Variation => {
                let mean = self.sum as f64 / length as f64;
                let variance = self.squares as f64 / length as f64 - mean * mean;
                self.statistic.spread_around(self.around, mean, variance)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::QueueSample;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// Two levels: ports 1 and 2 together, and port 3.
    fn levels(from: u64, until: u64, statistic: Statistic) -> Levels {
        Levels {
            slot: Slot { from: at(from), until: at(until) },
            statistic,
            around: None,
            input: true,
            levels_of: [((1, 0), vec![0]), ((2, 0), vec![0]), ((3, 0), vec![1])].into(),
            seen: BTreeMap::new(),
            levels: vec![0, 0],
            since: Time::ZERO,
            sum: 0,
            squares: 0,
            most: None,
            least: None,
            asked: Asked::Nothing,
        }
    }

    fn row(micros: u64, port: u32, input_held: u32) -> QueueRow {
        QueueRow { time: at(micros), queue: QueueSample { port, class: 0, output_bytes: 7, input_held } }
    }

    fn measured(from: u64, until: u64, statistic: Statistic, end: u64) -> Option<f64> {
        let rows = [row(10, 1, 100), row(20, 2, 50), row(20, 3, 120), row(20, 9, 999), row(40, 1, 0), row(50, 3, 10)];
        let mut one = levels(from, until, statistic);
        one.take(&rows);
        let mut other = levels(from, until, statistic);
        rows.chunks(1).for_each(|rows| other.take(rows));
        let result = one.close(at(end));
        assert_eq!(result, other.close(at(end)));
        result
    }

    #[test]
    fn the_fullest_is_held_from_sample_to_sample() {
        // 0 to 10 us, 100 to 20, 150 to 40, 120 to 50, then 50.
        assert_eq!(measured(0, 60, Statistic::Most, 60), Some(150.0));
        assert_eq!(measured(0, 60, Statistic::Least, 60), Some(0.0));
        assert_eq!(measured(0, 60, Statistic::Mean, 60), Some((100.0 + 300.0 + 120.0 + 50.0) / 6.0));
        assert_eq!(measured(20, 40, Statistic::Mean, 60), Some(150.0));
        // Half of the time 150, half 120.
        assert_eq!(measured(30, 50, Statistic::Deviation, 60), Some(15.0));
        assert_eq!(measured(30, 50, Statistic::Variation, 60), Some(15.0 / 135.0));
        assert_eq!(measured(35, 45, Statistic::Mean, 60), Some(135.0));
        // Around 100 that is half of the time 50, half 20.
        let mut around = Levels { around: Some(100.0), ..levels(30, 50, Statistic::Deviation) };
        around.take(&[row(10, 1, 150), row(40, 1, 120)]);
        assert_eq!(around.close(at(60)), Some(1450.0_f64.sqrt()));
        assert_eq!(measured(40, 60, Statistic::Most, 60), Some(120.0));
        assert_eq!(measured(45, 55, Statistic::Least, 60), Some(50.0));
        // A sample in the last instant counts, and so does what is seen nowhere but there.
        assert_eq!(measured(10, 20, Statistic::Most, 60), Some(150.0));
        assert_eq!(measured(50, 50, Statistic::Most, 60), None);
    }

    #[test]
    fn a_queue_has_drained_when_it_has_been_above_the_level_and_is_no_longer() {
        let drained = |level: u64, until: u64| {
            let asked = Asked::Above { level, been: false, back: None };
            let mut levels = Levels { asked, ..levels(10, until, Statistic::Most) };
            levels.take(&[row(10, 1, 100), row(20, 2, 50), row(40, 1, 0), row(50, 2, 120), row(52, 2, 10)]);
            levels.close(at(100)).map(|seconds| (seconds * 1e6).round())
        };
        assert_eq!(drained(130, 100), Some(30.0));
        assert_eq!(drained(110, 100), Some(30.0));
        assert_eq!(drained(40, 100), Some(42.0));
        assert_eq!(drained(40, 45), Some(35.0));
        assert_eq!(drained(150, 100), Some(0.0));
        assert_eq!(drained(5, 100), Some(90.0));
    }

    #[test]
    fn a_queue_that_goes_up_and_down_has_a_swing() {
        let swing = |frequency: bool| {
            let (apart, next) = (Span::from_micros(10), Time::ZERO);
            let asked = Asked::Samples { apart, next, values: Vec::new(), frequency };
            let mut levels = Levels { asked, ..levels(0, 10_000, Statistic::Most) };
            // 100 us up, 100 us down: 5 kHz. The first harmonic of a square wave is 4/pi of its half.
            levels.take(&(0..100).map(|n| row(100 * n, 3, 1000 * (n as u32 % 2))).collect::<Vec<_>>());
            levels.close(at(10_000)).unwrap()
        };
        assert!((swing(true) / 5000.0 - 1.0).abs() < 0.01, "{}", swing(true));
        assert!((swing(false) / (4.0 / std::f64::consts::PI * 500.0) - 1.0).abs() < 0.05, "{}", swing(false));
    }

    #[test]
    fn a_run_that_ends_early_ends_the_window() {
        assert_eq!(measured(40, 100, Statistic::Mean, 60), Some(85.0));
        assert_eq!(measured(70, 100, Statistic::Most, 60), None);
    }
}
