//! Conversion of tables from rows in order of time to series of limited length.
//!
//! A table within its limit is unchanged. Longer tables are merged within bins of time: amounts are added over the
//! longer interval, which preserves sums; of levels, the first, the last and every extreme of a bin are kept, which
//! preserves peaks. Bins are only ever doubled, so repeated merging gives the same result as merging once.

use fabric::record::schema::Table;
use results::{Batch, Cells, Pack, Results, ResultsError, deflated};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How the rows of one bin are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// The columns are amounts counted over an interval that ends at the row's time; the first column is the interval's
    /// length.
    Amounts,
    /// The columns are levels that hold until the next row.
    Levels,
    /// Rows are events; an additional last column contains their number.
    Events,
    /// Rows are spans: the time is the end, the first column the start; an additional last column contains the covered
    /// time.
    Spans,
}

/// A selection from a table.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) table: &'static Table,
    /// Name of the time column.
    pub(super) time: &'static str,
    /// Columns that distinguish series, at most four. Texts are numbered in the order in which they first appear.
    pub(super) keys: &'static [&'static str],
    /// Columns of values.
    pub(super) values: Vec<&'static str>,
    pub(super) join: Join,
    /// Selected series: those whose key at an index is among these numbers; all if absent.
    pub(super) members: Option<(usize, Vec<i64>)>,
}

impl Wish {
    /// Returns the name of the table.
    pub(super) fn table(&self) -> &'static str {
        self.table.name
    }

    /// Returns the required columns.
    pub(super) fn columns(&self) -> Vec<&'static str> {
        std::iter::once(self.time).chain(self.keys.iter().copied()).chain(self.values.iter().copied()).collect()
    }
}

/// Represents an empty cell in a column of non-negative numbers.
const EMPTY: i64 = -1;

type Key = [i64; 4];

/// Returns the bin of an instant. An interval that ends at the edge of a bin belongs to it.
fn bin_of(time: i64, bin: i64) -> i64 {
    (time - 1).div_euclid(bin)
}

/// The rows of one series, in sequence: the time first, then the values.
#[derive(Clone, Debug, Default)]
struct Series {
    cells: Vec<i64>,
    /// Index of the first row of the open bin.
    open: usize,
}

impl Series {
    /// Appends a row, merged with the open bin.
    fn add(&mut self, row: &[i64], (bin, end): (i64, i64), join: Join) {
        let width = row.len();
        let same = bin > 0 && self.cells.get(self.open).is_some_and(|&first| bin_of(first, bin) == bin_of(row[0], bin));
        if !same {
            self.close(width, join);
        }
        if same && join != Join::Levels {
            let last = &mut self.cells[self.open..];
            match join {
                Join::Amounts => (2..width).for_each(|column| last[column] += row[column]),
                Join::Events => {
                    let count = last[width - 1];
                    last.copy_from_slice(row);
                    last[width - 1] += count;
                }
                Join::Levels | Join::Spans => {
                    last[0] = row[0];
                    last[width - 1] += row[width - 1];
                }
            }
        } else {
            self.cells.extend_from_slice(row);
            // What is missing in a bin is nothing, so amounts are of all of it: those of several series end together, and
            // can be added up.
            if bin > 0 && join == Join::Amounts {
                let place = bin_of(row[0], bin);
                self.cells[self.open] = (place + 1).saturating_mul(bin).min(end.max(row[0]));
                self.cells[self.open + 1] = self.cells[self.open] - place * bin;
            }
        }
    }

    /// Closes the open bin.
    fn close(&mut self, width: usize, join: Join) {
        let open = &self.cells[self.open..];
        let rows = open.len() / width;
        if join == Join::Levels && rows > 2 {
            let mut keep = vec![0, rows - 1];
            for column in 1..width {
                let value = |row: &usize| open[row * width + column];
                keep.extend((0..rows).min_by_key(value).into_iter().chain((0..rows).max_by_key(value)));
            }
            keep.sort_unstable();
            keep.dedup();
            for (to, row) in keep.iter().enumerate() {
                let from = self.open + row * width;
                self.cells.copy_within(from..from + width, self.open + to * width);
            }
            self.cells.truncate(self.open + keep.len() * width);
        }
        self.open = self.cells.len();
    }
}

/// A table by series, in memory.
#[derive(Clone, Debug)]
pub(super) struct Gathered {
    wish: Wish,
    /// Number of recorded rows of the table.
    recorded: u64,
    /// Width of the bins in which rows are merged; zero if no rows are.
    bin: i64,
    sample: i64,
    end: i64,
    places: BTreeMap<Key, usize>,
    /// By key: the texts that its numbers stand for.
    texts: BTreeMap<&'static str, Vec<String>>,
    keys: Vec<Key>,
    series: Vec<Series>,
    /// The series that last followed each series: the rows of one instant mostly come in the same order.
    follows: Vec<usize>,
    last: usize,
    rows: usize,
}

/// A deflated block of integer columns, and its description.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    pub(super) name: &'static str,
    pub(super) text: String,
    pub(super) about: Value,
}

impl Gathered {
    pub(super) fn new(wish: Wish, recorded: u64, sample: i64, end: i64) -> Gathered {
        Gathered {
            wish,
            recorded,
            bin: 0,
            sample: sample.max(1),
            end,
            places: BTreeMap::new(),
            texts: BTreeMap::new(),
            keys: Vec::new(),
            series: Vec::new(),
            follows: Vec::new(),
            last: 0,
            rows: 0,
        }
    }

    fn width(&self) -> usize {
        1 + self.wish.values.len() + usize::from(matches!(self.wish.join, Join::Events | Join::Spans))
    }

    fn place(&mut self, key: Key) -> usize {
        let guess = self.follows.get(self.last).copied().unwrap_or(0);
        let place = if self.keys.get(guess) == Some(&key) {
            guess
        } else {
            let next = self.keys.len();
            let place = *self.places.entry(key).or_insert(next);
            if place == next {
                self.keys.push(key);
                self.series.push(Series::default());
                self.follows.push(0);
            }
            self.follows[self.last] = place;
            place
        };
        self.last = place;
        place
    }

    fn add(&mut self, key: Key, row: &[i64]) {
        let place = self.place(key);
        let series = &mut self.series[place];
        let before = series.cells.len();
        series.add(row, (self.bin, self.end), self.wish.join);
        self.rows = self.rows + series.cells.len() / row.len() - before / row.len();
    }

    /// The cells of a key as numbers; an empty one is negative.
    fn numbers(&mut self, batch: &Batch, name: &'static str) -> Vec<i64> {
        let place = batch.table.column(name);
        let present = place.and_then(|place| batch.present[place].as_deref());
        let is_here = |row: usize| present.is_none_or(|present| present[row]);
        let is_text = place.is_some_and(|place| matches!(batch.columns[place], Cells::Text(_)));
        if !is_text {
            let cells = batch.integers(name).iter().enumerate();
            return cells.map(|(row, &cell)| if is_here(row) { cell } else { EMPTY }).collect();
        }
        let known = self.texts.entry(name).or_default();
        let number = |(row, text): (usize, &String)| {
            if !is_here(row) {
                return EMPTY;
            }
            let place = known.iter().position(|known| known == text).unwrap_or_else(|| {
                known.push(text.clone());
                known.len() - 1
            });
            place as i64
        };
        batch.texts(name).iter().enumerate().map(number).collect()
    }

    /// Takes rows of its table, in order of time, and keeps about `most` at the most.
    pub(super) fn take(&mut self, batch: &Batch, most: usize) {
        let Wish { time, keys, values, join, members, .. } = self.wish.clone();
        let times = batch.integers(time);
        let keys: Vec<Vec<i64>> = keys.iter().map(|name| self.numbers(batch, name)).collect();
        let present = |name: &str| batch.table.column(name).and_then(|place| batch.present[place].as_deref());
        let values: Vec<(&[i64], Option<&[bool]>)> =
            values.iter().map(|name| (batch.integers(name), present(name))).collect();
        let members = members.as_ref().map(|(place, numbers)| (&keys[*place], numbers));
        let mut row = vec![0; self.width()];
        for place in 0..batch.len() {
            if members.is_some_and(|(key, numbers)| numbers.binary_search(&key[place]).is_err()) {
                continue;
            }
            let mut key = [0; 4];
            key.iter_mut().zip(&keys).for_each(|(key, cells)| *key = cells[place]);
            row[0] = times[place];
            for (cell, (cells, present)) in row[1..].iter_mut().zip(&values) {
                *cell = if present.is_none_or(|present| present[place]) { cells[place] } else { EMPTY };
            }
            if let Some(last) = row.last_mut().filter(|_| join == Join::Events) {
                *last = 1;
            } else if join == Join::Spans {
                row[2] = row[0] - row[1];
            }
            self.add(key, &row);
        }
        while self.rows > most && self.can_be_shorter() {
            self.shorten();
        }
    }

    /// Returns whether bins can be wider.
    fn can_be_shorter(&self) -> bool {
        self.bin < self.end && self.rows > self.keys.len()
    }

    /// Merges over twice the time.
    fn shorten(&mut self) {
        self.bin = if self.bin == 0 { self.sample * 2 } else { self.bin.saturating_mul(2) };
        let (width, bin, end, join) = (self.width(), self.bin, self.end, self.wish.join);
        self.rows = 0;
        for series in &mut self.series {
            let old = std::mem::take(series);
            old.cells.chunks_exact(width).for_each(|row| series.add(row, (bin, end), join));
            series.close(width, join);
            // The last bin may not be over.
            let last = |cells: &[i64]| cells.len().checked_sub(width).map(|at| bin_of(cells[at], bin));
            let newest = last(&series.cells);
            while series.open >= width && newest == last(&series.cells[..series.open]) {
                series.open -= width;
            }
            self.rows += series.cells.len() / width;
        }
    }

    pub(super) fn close(&mut self) {
        let (width, join) = (self.width(), self.wish.join);
        self.series.iter_mut().for_each(|series| series.close(width, join));
        self.rows = self.series.iter().map(|series| series.cells.len()).sum::<usize>() / width;
    }

    /// Merges until a quarter of the rows is removed, if possible. Returns whether any rows were removed.
    pub(super) fn shorten_well(&mut self) -> bool {
        let before = self.rows;
        while self.can_be_shorter() && self.rows * 4 > before * 3 {
            self.shorten();
            self.close();
        }
        self.rows < before
    }

    /// Returns the name of the table.
    pub(super) fn name(&self) -> &'static str {
        self.wish.table.name
    }

    /// Packs and deflates it.
    pub(super) fn packed(&self) -> Packed {
        let (bytes, about) = self.columns();
        Packed { name: self.name(), text: deflated(&bytes), about }
    }

    /// Counts rows that were recorded.
    pub(super) fn count(&mut self, rows: usize) {
        self.recorded += rows as u64;
    }

    /// Packs the keys and the number of rows of every series, then time and values of all, and describes the columns.
    pub(super) fn columns(&self) -> (Vec<u8>, Value) {
        let (wish, width) = (&self.wish, self.width());
        let mut pack = Pack::default();
        let order: Vec<usize> = self.places.values().copied().collect();
        for (place, name) in wish.keys.iter().enumerate() {
            pack.column(name, &order.iter().map(|&series| self.keys[series][place]).collect::<Vec<_>>());
        }
        let cells = |series: &usize| &self.series[*series].cells;
        let counts = order.iter().map(|series| (cells(series).len() / width) as i64);
        pack.column("rows", &counts.collect::<Vec<_>>());
        let last = match wish.join {
            Join::Amounts | Join::Levels => None,
            Join::Events => Some("count"),
            Join::Spans => Some("covered"),
        };
        let names = std::iter::once(wish.time).chain(wish.values.iter().copied()).chain(last);
        let mut column = Vec::with_capacity(self.rows);
        for (place, name) in names.enumerate() {
            column.clear();
            order.iter().for_each(|series| column.extend(cells(series).iter().skip(place).step_by(width).copied()));
            pack.column(name, &column);
        }
        let (bytes, columns) = pack.finish();
        let about = json!({
            "columns": columns,
            "texts": self.texts,
            "series": order.len(),
            "rows": self.rows,
            "recorded": self.recorded,
            "bin_ps": self.bin,
        });
        (bytes, about)
    }
}

/// Reads a table once for several selections, each with its maximum number of rows in memory.
pub(super) fn gather(results: &Results, wishes: &[(Wish, usize)]) -> Result<Vec<Gathered>, ResultsError> {
    let Some((first, _)) = wishes.first() else { return Ok(Vec::new()) };
    let recorded = results.manifest.tables.iter().find(|table| table.name == first.table.name);
    let Some(record) = recorded else { return Ok(Vec::new()) };
    let picos = |span: u64| i64::try_from(span).unwrap_or(i64::MAX);
    let sample = picos(results.manifest.sample_every.unwrap_or(1));
    let end = picos(results.manifest.simulated);
    let new = |(wish, _): &(Wish, usize)| Gathered::new(wish.clone(), record.rows, sample, end);
    let mut all: Vec<Gathered> = wishes.iter().map(new).collect();
    let columns: Vec<&str> = wishes.iter().flat_map(|(wish, _)| wish.columns()).collect();
    for batch in results.groups(first.table)?.only(&columns) {
        let batch = batch?;
        all.iter_mut().zip(wishes).for_each(|(gathered, (_, most))| gathered.take(&batch, *most));
    }
    all.iter_mut().for_each(Gathered::close);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::record::schema;

    fn gathered(rows: &[&[i64]], join: Join) -> Gathered {
        let values = vec!["x"; rows[0].len() - 1 - usize::from(matches!(join, Join::Events | Join::Spans))];
        let wish = Wish { table: &schema::LINKS, time: "time", keys: &["port"], values, join, members: None };
        let mut made = Gathered::new(wish, rows.len() as u64, 5, 1000);
        rows.iter().for_each(|row| made.add([7, 0, 0, 0], row));
        made
    }

    fn joined(rows: &[&[i64]], bin: i64, join: Join) -> Vec<Vec<i64>> {
        let mut made = gathered(rows, join);
        while made.bin < bin {
            made.shorten();
        }
        made.close();
        made.series[0].cells.chunks_exact(made.width()).map(<[i64]>::to_vec).collect()
    }

    #[test]
    fn amounts_are_added_over_the_time_they_were_counted_in() {
        // Nothing was sent in the second interval of the first bin.
        let rows: [&[i64]; 4] = [&[10, 10, 5], &[30, 10, 7], &[40, 10, 1], &[50, 10, 2]];
        assert_eq!(joined(&rows, 40, Join::Amounts), [vec![40, 40, 13], vec![80, 40, 2]]);
        assert_eq!(joined(&rows, 0, Join::Amounts).len(), 4);
        // Nothing is counted after the end of the run.
        assert_eq!(joined(&[&[990, 10, 4], &[1000, 10, 4]], 160, Join::Amounts), [vec![1000, 40, 8]]);
    }

    #[test]
    fn levels_keep_their_extremes() {
        let rows: Vec<Vec<i64>> =
            (1..=100).map(|at| vec![at, if at == 37 { 900 } else { at % 5 }, -(at % 3)]).collect();
        let rows: Vec<&[i64]> = rows.iter().map(Vec::as_slice).collect();
        let kept = joined(&rows, 40, Join::Levels);
        assert!(kept.len() <= 18, "{kept:?}");
        assert!(kept.iter().any(|row| row[0] == 37 && row[1] == 900));
        assert!(kept.first().is_some_and(|row| row[0] == 1) && kept.last().is_some_and(|row| row[0] == 100));
        assert!(kept.windows(2).all(|pair| pair[0][0] < pair[1][0]));
    }

    #[test]
    fn events_are_counted_and_spans_keep_what_they_covered() {
        let events: [&[i64]; 3] = [&[1, 4, 1], &[2, 5, 1], &[90, 6, 1]];
        assert_eq!(joined(&events, 80, Join::Events), [vec![2, 5, 2], vec![90, 6, 1]]);
        let spans: [&[i64]; 2] = [&[10, 4, 6], &[30, 20, 10]];
        assert_eq!(joined(&spans, 80, Join::Spans), [vec![30, 4, 16]]);
        assert_eq!(joined(&spans, 0, Join::Spans), [vec![10, 4, 6], vec![30, 20, 10]]);
    }

    #[test]
    fn joined_on_the_way_is_joined_as_at_the_end() {
        let rows: Vec<Vec<i64>> = (1..=200).map(|at| vec![at * 5, 5, at * 7919 % 101, at * 31 % 17]).collect();
        let rows: Vec<&[i64]> = rows.iter().map(Vec::as_slice).collect();
        for join in [Join::Amounts, Join::Levels, Join::Events, Join::Spans] {
            let mut early = gathered(&rows[..1], join);
            for (number, row) in rows.iter().enumerate().skip(1) {
                early.add([7, 0, 0, 0], row);
                if [13, 14, 77, 150].contains(&number) {
                    early.shorten();
                }
            }
            early.close();
            assert_eq!(early.bin, 80);
            assert_eq!(early.series[0].cells, joined(&rows, 80, join).concat(), "{join:?}");
            assert_eq!(early.rows, early.series[0].cells.len() / early.width());
        }
    }
}
