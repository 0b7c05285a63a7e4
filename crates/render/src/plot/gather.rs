//! Conversion of tables to lines in bounded memory: one pass selects the entities to draw, another collects their
//! values.

use super::thin::Thinner;
use fabric::record::schema::{self, Table};
use fabric::record::{Interval, Selection, sliding_window};
use results::{Results, ResultsError};
use std::collections::BTreeMap;
use units::{Span, Time};

/// Number of columns of a thinned line: more than the pixels of any plot.
pub(super) const COLUMNS: usize = 4000;

/// The displayed part of the time axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) from: Time,
    pub(super) to: Time,
    /// The sampling interval.
    pub(super) sample: Span,
}

impl View {
    pub(super) fn seconds(&self) -> (f64, f64) {
        (self.from.as_secs_f64(), self.to.as_secs_f64())
    }

    fn length(&self) -> u64 {
        self.to.saturating_since(self.from).as_picos()
    }
}

pub(super) fn seconds(picos: i64) -> f64 {
    picos as f64 / 1e12
}

/// Key of an entity of a table: the integers in one or two of its columns.
pub(super) type Entity = (i64, i64);

/// The entities of a table: the key columns and the selected keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entities<'a> {
    pub(super) table: &'static Table,
    pub(super) number: &'static str,
    pub(super) class: Option<&'static str>,
    pub(super) wanted: &'a Selection,
}

impl Entities<'_> {
    /// Calls `take` with entity, instant and the value of `column` for every row of a selected entity, skipping empty
    /// cells.
    pub(super) fn visit(
        &self,
        results: &Results,
        column: &str,
        mut take: impl FnMut(Entity, i64, i64),
    ) -> Result<(), ResultsError> {
        let time = self.table.time.map_or("", |place| self.table.columns[place].name);
        for batch in results.groups(self.table)? {
            let batch = batch?;
            let (times, numbers, values) = (batch.integers(time), batch.integers(self.number), batch.integers(column));
            let classes = self.class.map(|class| batch.integers(class));
            for row in 0..batch.len() {
                let wanted = u32::try_from(numbers[row]).is_ok_and(|number| self.wanted.contains(number));
                if wanted && batch.is_present(row, column) {
                    take((numbers[row], classes.map_or(0, |classes| classes[row])), times[row], values[row]);
                }
            }
        }
        Ok(())
    }

    /// Returns the entities with the largest weights by `weigh`, in descending order, and the number of omitted ones.
    pub(super) fn foremost(
        &self,
        results: &Results,
        column: &str,
        most: usize,
        weigh: impl Fn(i64, i64) -> i64,
    ) -> Result<(Vec<Entity>, usize), ResultsError> {
        let mut weights: BTreeMap<Entity, i64> = BTreeMap::new();
        self.visit(results, column, |entity, _, value| {
            let weight = weights.entry(entity).or_insert(0);
            *weight = weigh(*weight, value);
        })?;
        let mut ranked: Vec<(Entity, i64)> = weights.into_iter().filter(|(_, weight)| *weight > 0).collect();
        // The sort is stable and the map was in order, so equals stay in the order of their numbers.
        ranked.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
        let left_out = ranked.len().saturating_sub(most);
        ranked.truncate(most);
        let mut chosen: Vec<Entity> = ranked.into_iter().map(|(entity, _)| entity).collect();
        chosen.sort_unstable();
        Ok((chosen, left_out))
    }

    /// Returns the values of entities over time, each held until the next; `before` holds until the first.
    pub(super) fn levels(
        &self,
        results: &Results,
        column: &str,
        (chosen, view): (&[Entity], View),
        before: Option<f64>,
    ) -> Result<Vec<Vec<(f64, f64)>>, ResultsError> {
        let (from, to) = view.seconds();
        let mut lines: Vec<Thinner> = chosen.iter().map(|_| Thinner::new(from, to, COLUMNS)).collect();
        if let Some(before) = before {
            lines.iter_mut().for_each(|line| line.push((0.0, before)));
        }
        self.visit(results, column, |entity, time, value| {
            if let Ok(place) = chosen.binary_search(&entity) {
                lines[place].push((seconds(time), value as f64));
            }
        })?;
        let ended = lines.into_iter().map(|mut line| {
            if let Some((_, held)) = line.last() {
                line.push((to, held));
            }
            line.finish()
        });
        Ok(ended.collect())
    }

    /// Returns values counted over intervals as a mean per second over a sliding window, by entity.
    pub(super) fn windowed(
        &self,
        results: &Results,
        column: &str,
        (chosen, view): (&[Entity], View),
        window: Span,
    ) -> Result<Vec<Vec<(f64, f64)>>, ResultsError> {
        let mut bins: Vec<Bins> = chosen.iter().map(|_| Bins::new(view)).collect();
        self.visit(results, column, |entity, time, value| {
            if let Ok(place) = chosen.binary_search(&entity) {
                bins[place].add(time, value);
            }
        })?;
        Ok(bins.into_iter().map(|bins| bins.line(window, view.to)).collect())
    }
}

impl Entities<'_> {
    /// Returns the sums of groups of entities over time; nothing before the first row of a group, unless `before` is
    /// given.
    pub(super) fn level_sums(
        &self,
        results: &Results,
        column: &str,
        (groups, view): (&[&[u32]], View),
        before: Option<f64>,
    ) -> Result<Vec<Vec<(f64, f64)>>, ResultsError> {
        let (from, to) = view.seconds();
        let mut lines: Vec<Sum> = groups.iter().map(|_| Sum::new(Thinner::new(from, to, COLUMNS))).collect();
        if let Some(before) = before {
            lines.iter_mut().for_each(|line| line.line.push((0.0, before)));
        }
        self.visit(results, column, |entity, time, value| {
            for (line, group) in lines.iter_mut().zip(groups) {
                if u32::try_from(entity.0).is_ok_and(|number| group.binary_search(&number).is_ok()) {
                    line.set(entity, seconds(time), value as f64);
                }
            }
        })?;
        Ok(lines.into_iter().map(|line| line.finish(to)).collect())
    }

    /// Returns the cumulative number of rows of groups of entities.
    pub(super) fn count_sums(
        &self,
        results: &Results,
        column: &str,
        (groups, view): (&[&[u32]], View),
    ) -> Result<Vec<Vec<(f64, f64)>>, ResultsError> {
        let (from, to) = view.seconds();
        let mut lines: Vec<(f64, Thinner)> = groups.iter().map(|_| (0.0, Thinner::new(from, to, COLUMNS))).collect();
        lines.iter_mut().for_each(|(_, line)| line.push((0.0, 0.0)));
        self.visit(results, column, |entity, time, _| {
            for ((count, line), group) in lines.iter_mut().zip(groups) {
                if u32::try_from(entity.0).is_ok_and(|number| group.binary_search(&number).is_ok()) {
                    *count += 1.0;
                    line.push((seconds(time), *count));
                }
            }
        })?;
        let ended = lines.into_iter().map(|(count, mut line)| {
            line.push((to, count));
            line.finish()
        });
        Ok(ended.collect())
    }

    /// Returns the sums of groups of entities, counted over intervals, as a mean per second over a sliding window.
    pub(super) fn windowed_sums(
        &self,
        results: &Results,
        column: &str,
        (groups, view): (&[&[u32]], View),
        window: Span,
    ) -> Result<Vec<Vec<(f64, f64)>>, ResultsError> {
        let mut bins: Vec<Bins> = groups.iter().map(|_| Bins::new(view)).collect();
        self.visit(results, column, |entity, time, value| {
            for (bins, group) in bins.iter_mut().zip(groups) {
                if u32::try_from(entity.0).is_ok_and(|number| group.binary_search(&number).is_ok()) {
                    bins.add(time, value);
                }
            }
        })?;
        Ok(bins.into_iter().map(|bins| bins.line(window, view.to)).collect())
    }
}

/// The sum of values that change one at a time.
struct Sum {
    values: BTreeMap<Entity, f64>,
    total: f64,
    /// The current instant.
    at: Option<f64>,
    line: Thinner,
}

impl Sum {
    fn new(line: Thinner) -> Sum {
        Sum { values: BTreeMap::new(), total: 0.0, at: None, line }
    }

    fn set(&mut self, entity: Entity, at: f64, value: f64) {
        if let Some(before) = self.at.filter(|before| *before != at) {
            self.line.push((before, self.total));
        }
        self.at = Some(at);
        self.total += value - self.values.insert(entity, value).unwrap_or(0.0);
    }

    fn finish(mut self, to: f64) -> Vec<(f64, f64)> {
        if let Some(at) = self.at {
            self.line.push((at, self.total));
            self.line.push((to, self.total));
        } else if let Some((_, held)) = self.line.last() {
            self.line.push((to, held));
        }
        self.line.finish()
    }
}

/// Intervals, merged so that their number is at most a few times [`COLUMNS`].
struct Bins {
    width: u64,
    intervals: Vec<Interval>,
}

impl Bins {
    fn new(view: View) -> Bins {
        let sample = view.sample.as_picos().max(1);
        // Whole samples, so that no interval is cut.
        let width = (view.length() / (COLUMNS as u64 * 4)).div_ceil(sample).max(1) * sample;
        Bins { width, intervals: Vec::new() }
    }

    fn add(&mut self, time: i64, value: i64) {
        let (time, amount) = (u64::try_from(time).unwrap_or(0), u64::try_from(value).unwrap_or(0));
        let end = Time::from_picos(time.div_ceil(self.width) * self.width);
        match self.intervals.last_mut() {
            Some(last) if last.end == end => last.amount += amount,
            _ => self.intervals.push(Interval { end, length: Span::from_picos(self.width), amount }),
        }
    }

    /// Returns the mean per second over a sliding window.
    fn line(&self, window: Span, until: Time) -> Vec<(f64, f64)> {
        let points = sliding_window(&self.intervals, window, until);
        points.into_iter().map(|(at, rate)| (at.as_secs_f64(), rate)).collect()
    }
}

/// Time covered by bands, stored as one band at the beginning of each narrow column, so that its size is bounded by the
/// width of the plot.
pub(super) struct Coverage {
    view: View,
    columns: Vec<f64>,
    /// Total covered time in picoseconds.
    pub(super) total: u64,
}

impl Coverage {
    pub(super) fn new(view: View) -> Coverage {
        Coverage { view, columns: vec![0.0; COLUMNS], total: 0 }
    }

    pub(super) fn add(&mut self, start: i64, end: i64) {
        let (from, to) = self.view.seconds();
        let width = (to - from) / COLUMNS as f64;
        let (first, last) = (seconds(start).max(from), seconds(end).min(to));
        if last <= first || width <= 0.0 {
            return;
        }
        self.total += ((last - first) * 1e12) as u64;
        let column = |at: f64| (((at - from) / width) as usize).min(COLUMNS - 1);
        for place in column(first)..=column(last) {
            let left = from + place as f64 * width;
            self.columns[place] += (last.min(left + width) - first.max(left)).max(0.0);
        }
    }

    pub(super) fn spans(&self) -> Vec<(f64, f64)> {
        let (from, to) = self.view.seconds();
        let width = (to - from) / COLUMNS as f64;
        let mut spans: Vec<(f64, f64)> = Vec::new();
        for (place, &covered) in self.columns.iter().enumerate().filter(|(_, covered)| **covered > 0.0) {
            let left = from + place as f64 * width;
            match spans.last_mut() {
                Some(last) if last.1 >= left - width * 1e-6 => last.1 = left + covered,
                _ => spans.push((left, left + covered)),
            }
        }
        spans
    }
}

/// Returns the display names of ports: "sw0:3 to h2".
pub(super) fn port_names(results: &Results) -> Result<Vec<String>, ResultsError> {
    let ports = results.read(&schema::PORTS)?;
    Ok(ports.texts("name").iter().zip(ports.texts("peer")).map(|(name, peer)| format!("{name} to {peer}")).collect())
}

/// Returns the display names of flows.
pub(super) fn flow_names(results: &Results) -> Result<Vec<String>, ResultsError> {
    Ok(results.read(&schema::FLOWS)?.texts("name").to_vec())
}

/// Rounds a span down to 1, 2 or 5 times a power of ten picoseconds.
pub(super) fn round_span(span: Span) -> Span {
    let mut power = 1u64;
    while power <= span.as_picos() / 10 {
        power *= 10;
    }
    let leading = [5, 2, 1].into_iter().find(|leading| leading * power <= span.as_picos()).unwrap_or(1);
    Span::from_picos(leading * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(micros: u64) -> View {
        View { from: Time::ZERO, to: Time::ZERO + Span::from_micros(micros), sample: Span::from_micros(1) }
    }

    #[test]
    fn spans_are_rounded_to_one_two_or_five() {
        let round = |nanos| round_span(Span::from_nanos(nanos)).to_string();
        assert_eq!([round(1), round(3), round(49), round(50), round(999)], ["1ns", "2ns", "20ns", "50ns", "500ns"]);
        assert_eq!(round_span(Span::ZERO), Span::from_picos(1));
    }

    #[test]
    fn bins_keep_sums_and_stay_few() {
        let mut bins = Bins::new(view(1_000_000));
        (1..=1_000_000i64).for_each(|sample| bins.add(sample * 1_000_000, 3));
        assert!(bins.intervals.len() <= COLUMNS * 4 + 1, "{}", bins.intervals.len());
        assert_eq!(bins.intervals.iter().map(|bin| bin.amount).sum::<u64>(), 3_000_000);
        let mut few = Bins::new(view(10));
        (1..=10).for_each(|sample| few.add(sample * 1_000_000, sample));
        assert_eq!(few.intervals.len(), 10);
        assert_eq!(few.intervals[9].length, Span::from_micros(1));
    }

    #[test]
    fn a_sum_changes_once_at_an_instant() {
        let mut sum = Sum::new(Thinner::new(0.0, 10.0, 100));
        for (entity, at, value) in [(0, 1.0, 5.0), (1, 1.0, 7.0), (0, 4.0, 1.0), (1, 6.0, 0.0)] {
            sum.set((entity, 0), at, value);
        }
        assert_eq!(sum.finish(10.0), [(1.0, 12.0), (4.0, 8.0), (6.0, 1.0), (10.0, 1.0)]);
    }

    #[test]
    fn coverage_keeps_what_it_covers() {
        let mut coverage = Coverage::new(view(4000));
        coverage.add(1_000_000_000, 2_000_000_000);
        coverage.add(3_000_100_000, 3_000_200_000);
        coverage.add(-5, 0);
        let spans = coverage.spans();
        assert_eq!(spans.len(), 2, "{spans:?}");
        let sum: f64 = spans.iter().map(|(from, to)| to - from).sum();
        assert!((sum - 1.0001e-3).abs() < 1e-9, "{sum}");
        assert!((coverage.total as f64 - 1_000_100_000.0).abs() < 10.0);
    }
}
