//! Occupancy of queues and buffers over a window: by port, or the maximum of the named ones at each sample.

use super::Slot;
use super::distribution::Distribution;
use fabric::record::QueueRow;
use scenario::{Across, Expectation, Metric, Plan, Statistic};
use std::collections::BTreeMap;
use units::{Span, Time};

/// An accumulator of the occupancy of queues and buffers.
#[derive(Debug)]
pub(crate) struct Levels {
    slot: Slot,
    statistic: Statistic,
    around: Option<f64>,
    /// Whether ingress buffers are measured instead of egress queues.
    input: bool,
    /// For every port and class, the indices in `levels` that it contributes to.
    levels_of: BTreeMap<(u32, u8), Vec<usize>>,
    /// By port and class: the last sample.
    seen: BTreeMap<(u32, u8), u32>,
    levels: Vec<u64>,
    /// For every level, the index of its place in `places`; the maximum level counts.
    place_of: Vec<usize>,
    /// Time since which the levels are unchanged.
    since: Time,
    places: Vec<Place>,
    across: Across,
}

/// A measured place: a port, a node's buffer, or all named ones together.
#[derive(Clone, Debug)]
struct Place {
    /// Over the window: the integrals of the level and of its square over picoseconds, the maximum and the minimum.
    sum: u128,
    squares: u128,
    most: Option<u64>,
    least: Option<u64>,
    /// How long each level was held, for a percentile.
    held: Option<Distribution>,
    /// State for metrics other than statistics.
    asked: Asked,
}

/// State that metrics other than statistics need.
#[derive(Clone, Debug)]
enum Asked {
    Nothing,
    /// Whether it has been above a level, and the time since which it no longer is.
    Above {
        level: u64,
        been: bool,
        back: Option<Time>,
    },
    /// Samples at equal intervals, and the time of the next one.
    Samples {
        apart: Span,
        next: Time,
        values: Vec<f64>,
        frequency: bool,
    },
}

/// The value of one place, and the sort key of places: the value or, for a frequency, its strength.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    order: f64,
    number: f64,
}

impl Found {
    fn new(number: f64) -> Found {
        Found { order: number, number }
    }
}

impl Place {
    fn new(asked: Asked, statistic: Statistic) -> Place {
        Place { sum: 0, squares: 0, most: None, least: None, held: Distribution::of(statistic), asked }
    }

    /// Accumulates a level that held from `since` to `until`.
    fn hold(&mut self, level: u64, slot: Slot, since: Time, until: Time) {
        let span = slot.part(since, until).length();
        self.sum += u128::from(level) * u128::from(span.as_picos());
        self.squares += u128::from(level) * u128::from(level) * u128::from(span.as_picos());
        if let Some(held) = &mut self.held {
            held.add(level, span.as_picos());
        }
        self.most = Some(self.most.map_or(level, |most| most.max(level)));
        self.least = Some(self.least.map_or(level, |least| least.min(level)));
        match &mut self.asked {
            Asked::Nothing => {}
            Asked::Above { level: limit, been, back } => {
                let inside = since < slot.until;
                if inside && level > *limit {
                    (*been, *back) = (true, None);
                } else if inside && *been && back.is_none() {
                    *back = Some(since);
                }
            }
            Asked::Samples { apart, next, values, .. } => {
                while *next < until.min(slot.until) && *apart > Span::ZERO {
                    values.push(level as f64);
                    *next += *apart;
                }
            }
        }
    }

    /// Returns the value over the part of the window that the run reached.
    fn close(&self, statistic: Statistic, around: Option<f64>, lived: Slot) -> Option<Found> {
        match &self.asked {
            Asked::Nothing => {}
            Asked::Above { been, back, .. } => {
                let back = if *been { back.unwrap_or(lived.until) } else { lived.from };
                return Some(Found::new(back.saturating_since(lived.from).as_secs_f64()));
            }
            Asked::Samples { apart, values, frequency, .. } => {
                // What never changes swings by nothing, at no frequency.
                let peak = theory::spectrum::peak(values, apart.as_secs_f64());
                let swing = peak.map_or(0.0, |peak| peak.amplitude);
                return match frequency {
                    true => peak.map(|peak| Found { order: swing, number: peak.frequency }),
                    false => Some(Found::new(swing)),
                };
            }
        }
        let length = lived.length().as_picos();
        let number = match statistic {
            Statistic::Most | Statistic::Sum => self.most.map(|most| most as f64),
            Statistic::Least => self.least.map(|least| least as f64),
            Statistic::Mean => Some(self.sum as f64 / length as f64),
            Statistic::Quantile(_) => self.held.as_ref().and_then(Distribution::value),
            Statistic::Deviation | Statistic::Variation => {
                let mean = self.sum as f64 / length as f64;
                let variance = self.squares as f64 / length as f64 - mean * mean;
                statistic.spread_around(around, mean, variance)
            }
        };
        number.map(Found::new)
    }
}

impl Levels {
    pub(super) fn new(plan: &Plan, expectation: &Expectation) -> Levels {
        let input = expectation.metric == Metric::Buffer;
        let asked = match expectation.metric {
            Metric::DrainTime => Asked::Above { level: expectation.level.get(), been: false, back: None },
            metric @ (Metric::Swing | Metric::SwingFrequency) => Asked::Samples {
                apart: plan.probes.sample_every,
                next: Time::ZERO + expectation.window.from,
                values: Vec::new(),
                frequency: metric == Metric::SwingFrequency,
            },
            _ => Asked::Nothing,
        };
        let mut levels = Levels {
            slot: expectation.window.into(),
            statistic: expectation.statistic,
            around: expectation.around,
            input,
            levels_of: BTreeMap::new(),
            seen: BTreeMap::new(),
            levels: Vec::new(),
            place_of: Vec::new(),
            since: Time::ZERO,
            places: Vec::new(),
            across: expectation.across,
        };
        let classes = plan.spec.classes.len() as u8;
        let lanes = |port: u32| (0..classes).map(move |class| (port, class));
        // A port's queues of several classes are one place, where the fullest counts. A buffer is all that a node holds,
        // or all that came in by one port.
        let mut add = |ports: Vec<u32>| {
            let groups: Vec<Vec<(u32, u8)>> = match input {
                true => vec![ports.into_iter().flat_map(lanes).collect()],
                false => ports.into_iter().flat_map(lanes).map(|lane| vec![lane]).collect(),
            };
            if levels.places.is_empty() || levels.across != Across::Fullest {
                levels.places.push(Place::new(asked.clone(), expectation.statistic));
            }
            for group in groups {
                let at = levels.levels.len();
                levels.levels.push(0);
                levels.place_of.push(levels.places.len() - 1);
                group.into_iter().for_each(|lane| levels.levels_of.entry(lane).or_default().push(at));
            }
        };
        let mut first = 0;
        for (node, ports) in (0..).zip(plan.spec.graph.ports()) {
            let ports = first..first + ports.len() as u32;
            first = ports.end;
            if !expectation.subjects.nodes.contains(&node) {
                continue;
            }
            match input {
                true => add(ports.collect()),
                false => ports.for_each(|port| add(vec![port])),
            }
        }
        expectation.subjects.ports.iter().for_each(|&port| add(vec![port]));
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
            for &at in &self.levels_of[&lane] {
                self.levels[at] = self.levels[at] + u64::from(now) - u64::from(before);
            }
        }
    }

    /// Accumulates the current levels until then; at the end of the run, also for that instant.
    fn hold(&mut self, until: Time, last: bool) {
        if self.since > self.slot.until || until < self.slot.from || (until == self.slot.from && !last) {
            return;
        }
        let mut fullest = vec![0; self.places.len()];
        for (&level, &place) in self.levels.iter().zip(&self.place_of) {
            fullest[place] = level.max(fullest[place]);
        }
        for (place, level) in self.places.iter_mut().zip(fullest) {
            place.hold(level, self.slot, self.since, until);
        }
    }

    pub(super) fn close(mut self, end: Time) -> Option<f64> {
        self.hold(end.max(self.since), true);
        let lived = self.slot.part(Time::ZERO, end);
        if lived.length() == Span::ZERO {
            return None;
        }
        let found: Vec<Found> =
            self.places.iter().filter_map(|place| place.close(self.statistic, self.around, lived)).collect();
        let ordered = |a: &&Found, b: &&Found| a.order.total_cmp(&b.order);
        match self.across {
            Across::Most | Across::Fullest => found.iter().max_by(ordered).map(|found| found.number),
            Across::Least => found.iter().min_by(ordered).map(|found| found.number),
            Across::Mean => Statistic::Mean.of(found.iter().map(|found| found.number)),
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

    /// Two levels: ports 1 and 2 together, and port 3. The fullest counts.
    fn levels(from: u64, until: u64, statistic: Statistic) -> Levels {
        Levels {
            slot: Slot { from: at(from), until: at(until) },
            statistic,
            around: None,
            input: true,
            levels_of: [((1, 0), vec![0]), ((2, 0), vec![0]), ((3, 0), vec![1])].into(),
            seen: BTreeMap::new(),
            levels: vec![0, 0],
            place_of: vec![0, 0],
            since: Time::ZERO,
            places: vec![Place::new(Asked::Nothing, Statistic::Mean)],
            across: Across::Fullest,
        }
    }

    fn asking(asked: Asked, levels: Levels) -> Levels {
        Levels { places: vec![Place::new(asked, Statistic::Mean)], ..levels }
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
    fn ports_that_take_turns_are_steady_together_and_swing_each() {
        // One is full while the other is empty: the fullest never changes.
        let rows: Vec<QueueRow> = (0..10)
            .flat_map(|n| [row(10 * n, 1, 100 * (n as u32 % 2)), row(10 * n, 3, 100 - 100 * (n as u32 % 2))])
            .collect();
        let of = |across: Across, statistic: Statistic| {
            let one = levels(0, 100, statistic);
            let places = match across {
                Across::Fullest => one.places.clone(),
                _ => vec![Place::new(Asked::Nothing, Statistic::Mean); 2],
            };
            let place_of = if across == Across::Fullest { vec![0, 0] } else { vec![0, 1] };
            let mut one = Levels { places, place_of, across, ..one };
            one.take(&rows);
            one.close(at(100))
        };
        assert_eq!(of(Across::Fullest, Statistic::Deviation), Some(0.0));
        for across in [Across::Most, Across::Mean, Across::Least] {
            assert_eq!(of(across, Statistic::Deviation), Some(50.0));
        }
        assert_eq!(
            [Across::Fullest, Across::Most].map(|across| of(across, Statistic::Mean)),
            [Some(100.0), Some(50.0)]
        );
        // The most there ever was is the same either way.
        assert_eq!(of(Across::Fullest, Statistic::Most), of(Across::Most, Statistic::Most));
    }

    #[test]
    fn a_queue_has_drained_when_it_was_above_the_level_for_the_last_time() {
        let drained = |level: u64, until: u64| {
            let asked = Asked::Above { level, been: false, back: None };
            let mut levels = asking(asked, levels(10, until, Statistic::Most));
            levels.take(&[row(10, 1, 100), row(20, 2, 50), row(40, 1, 0), row(50, 2, 120), row(52, 2, 10)]);
            levels.close(at(100)).map(|seconds| (seconds * 1e6).round())
        };
        assert_eq!(drained(130, 100), Some(30.0));
        // Above it once more, from 50 to 52 us.
        assert_eq!(drained(110, 100), Some(42.0));
        assert_eq!(drained(40, 100), Some(42.0));
        assert_eq!(drained(40, 45), Some(35.0));
        assert_eq!(drained(150, 100), Some(0.0));
        assert_eq!(drained(5, 100), Some(90.0));
    }

    #[test]
    fn a_drain_time_does_not_depend_on_whether_a_short_excursion_is_seen() {
        // Above 40 for 1 us at 15, which samples each 10 us miss, then from 60 to 80.
        let drained = |rows: &[QueueRow]| {
            let asked = Asked::Above { level: 40, been: false, back: None };
            let mut levels = asking(asked, levels(0, 100, Statistic::Most));
            levels.take(rows);
            levels.close(at(100))
        };
        let late = [row(60, 1, 50), row(80, 1, 0)];
        let all: Vec<QueueRow> = [row(15, 1, 50), row(16, 1, 0)].into_iter().chain(late).collect();
        assert_eq!(drained(&late), Some(80e-6));
        assert_eq!(drained(&all), drained(&late));
    }

    #[test]
    fn a_queue_that_goes_up_and_down_has_a_swing() {
        let swing = |frequency: bool| {
            let (apart, next) = (Span::from_micros(10), Time::ZERO);
            let asked = Asked::Samples { apart, next, values: Vec::new(), frequency };
            let mut levels = asking(asked, levels(0, 10_000, Statistic::Most));
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
