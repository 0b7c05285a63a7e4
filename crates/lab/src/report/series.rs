//! Tables turned from rows in the order of time into series, one after the other, and made no longer than asked.
//!
//! A table within its limit comes out whole. A longer one is joined within bins of time: amounts are added up over the
//! longer interval, so sums stay true; of levels the first, the last and every extreme of a bin stay, so no peak is lost.

use super::pack::Pack;
use crate::results::{Results, ResultsError};
use fabric::record::schema::Table;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How rows of one bin are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// The columns are amounts counted over an interval that ends at the row's time; the first of them is its length.
    Amounts,
    /// The columns are levels that hold until the next row.
    Levels,
    /// Rows are events; their number is kept in a last column.
    Events,
    /// Rows are spans: the time is the end, the first column the start; what they covered is kept in a last column.
    Spans,
}

/// What to read of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) table: &'static Table,
    /// Name of the column of time.
    pub(super) time: &'static str,
    /// Columns that tell series apart.
    pub(super) keys: &'static [&'static str],
    /// Columns of values.
    pub(super) values: &'static [&'static str],
    pub(super) join: Join,
}

/// An empty cell of a column of numbers that are never negative.
const EMPTY: i64 = -1;

type Row = Vec<i64>;

/// The rows of one series: time first, then the values.
#[derive(Debug, Default)]
struct Series {
    done: Vec<Row>,
    /// Rows of the bin that is not over.
    open: Vec<Row>,
}

impl Series {
    fn add(&mut self, row: Row, bin: i64, join: Join) {
        if bin > 0 && self.open.last().is_some_and(|last| (last[0] - 1).div_euclid(bin) != (row[0] - 1).div_euclid(bin))
        {
            self.close(join);
        }
        if bin > 0 { self.open.push(row) } else { self.done.push(extended(row, join)) }
    }

    fn close(&mut self, join: Join) {
        let open = std::mem::take(&mut self.open);
        let (Some(first), Some(last)) = (open.first(), open.last()) else { return };
        match join {
            Join::Amounts => {
                let mut row = last.clone();
                // From the start of the first to the end of the last: what is missing between them is nothing.
                row[1] = last[0] - (first[0] - first[1]);
                for column in 2..row.len() {
                    row[column] = open.iter().map(|row| row[column]).sum();
                }
                self.done.push(row);
            }
            Join::Levels => {
                let mut keep = vec![0, open.len() - 1];
                for column in 1..first.len() {
                    let least = (0..open.len()).min_by_key(|&place| open[place][column]);
                    let most = (0..open.len()).max_by_key(|&place| open[place][column]);
                    keep.extend(least.into_iter().chain(most));
                }
                keep.sort_unstable();
                keep.dedup();
                self.done.extend(keep.into_iter().map(|place| open[place].clone()));
            }
            Join::Events => {
                let mut row = last.clone();
                row.push(open.len() as i64);
                self.done.push(row);
            }
            Join::Spans => {
                let mut row = last.clone();
                row[1] = first[1];
                row.push(open.iter().map(|row| row[0] - row[1]).sum());
                self.done.push(row);
            }
        }
    }
}

/// A row that stands for itself.
fn extended(mut row: Row, join: Join) -> Row {
    match join {
        Join::Amounts | Join::Levels => {}
        Join::Events => row.push(1),
        Join::Spans => row.push(row[0] - row[1]),
    }
    row
}

/// Reads a table into a block: the keys and the number of rows of every series, then time and values of all.
pub(super) fn packed(results: &Results, wish: &Wish, most: u64) -> Result<Option<(Vec<u8>, Value)>, ResultsError> {
    let Some(record) = results.manifest.tables.iter().find(|table| table.name == wish.table.name) else {
        return Ok(None);
    };
    let bin = bin_width(results, record.rows, most);
    let mut all: BTreeMap<Row, Series> = BTreeMap::new();
    for batch in results.groups(wish.table)? {
        let batch = batch?;
        let column = |name: &str| batch.table.column(name).map(|_| batch.integers(name));
        let (Some(times), keys, values): (_, Vec<_>, Vec<_>) = (
            column(wish.time),
            wish.keys.iter().filter_map(|name| column(name)).collect(),
            wish.values.iter().filter_map(|name| column(name).map(|cells| (*name, cells))).collect(),
        ) else {
            continue;
        };
        for row in 0..batch.len() {
            let key: Row = keys.iter().map(|cells| cells[row]).collect();
            let cell = |(name, cells): &(&str, &[i64])| if batch.is_present(row, name) { cells[row] } else { EMPTY };
            let cells = std::iter::once(times[row]).chain(values.iter().map(cell)).collect();
            all.entry(key).or_default().add(cells, bin, wish.join);
        }
    }
    all.values_mut().for_each(|series| series.close(wish.join));
    let mut pack = Pack::default();
    for (place, name) in wish.keys.iter().enumerate() {
        pack.column(name, &all.keys().map(|key| key[place]).collect::<Vec<_>>());
    }
    pack.column("rows", &all.values().map(|series| series.done.len() as i64).collect::<Vec<_>>());
    let last = match wish.join {
        Join::Amounts | Join::Levels => None,
        Join::Events => Some("count"),
        Join::Spans => Some("covered"),
    };
    let mut kept = 0;
    for (place, name) in std::iter::once(&wish.time).chain(wish.values).chain(&last).enumerate() {
        let cells: Vec<i64> = all.values().flat_map(|series| series.done.iter().map(|row| row[place])).collect();
        kept = cells.len();
        pack.column(name, &cells);
    }
    let (bytes, columns) = pack.finish();
    let about =
        json!({ "columns": columns, "series": all.len(), "rows": kept, "recorded": record.rows, "bin_ps": bin });
    Ok(Some((bytes, about)))
}

/// The width of bins in which rows are joined so that about `most` stay; zero if all may stay.
fn bin_width(results: &Results, rows: u64, most: u64) -> i64 {
    if rows <= most.max(1) {
        return 0;
    }
    let sample = results.manifest.sample_every.unwrap_or(1).max(1);
    i64::try_from(rows.div_ceil(most.max(1)).saturating_mul(sample)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(rows: &[&[i64]], bin: i64, join: Join) -> Vec<Row> {
        let mut series = Series::default();
        rows.iter().for_each(|row| series.add(row.to_vec(), bin, join));
        series.close(join);
        series.done
    }

    #[test]
    fn amounts_are_added_over_the_time_they_were_counted_in() {
        // Nothing was sent in the second interval of the first bin.
        let rows: [&[i64]; 4] = [&[10, 10, 5], &[30, 10, 7], &[40, 10, 1], &[50, 10, 2]];
        assert_eq!(joined(&rows, 30, Join::Amounts), [vec![30, 30, 12], vec![50, 20, 3]]);
        assert_eq!(joined(&rows, 0, Join::Amounts).len(), 4);
    }

    #[test]
    fn levels_keep_their_extremes() {
        let rows: Vec<Row> = (1..=100).map(|at| vec![at, if at == 37 { 900 } else { at % 5 }, -(at % 3)]).collect();
        let rows: Vec<&[i64]> = rows.iter().map(Vec::as_slice).collect();
        let kept = joined(&rows, 50, Join::Levels);
        assert!(kept.len() <= 12, "{kept:?}");
        assert!(kept.iter().any(|row| row[0] == 37 && row[1] == 900));
        assert!(kept.first().is_some_and(|row| row[0] == 1) && kept.last().is_some_and(|row| row[0] == 100));
        assert!(kept.windows(2).all(|pair| pair[0][0] < pair[1][0]));
    }

    #[test]
    fn events_are_counted_and_spans_keep_what_they_covered() {
        let events: [&[i64]; 3] = [&[1, 4], &[2, 5], &[90, 6]];
        assert_eq!(joined(&events, 50, Join::Events), [vec![2, 5, 2], vec![90, 6, 1]]);
        let spans: [&[i64]; 2] = [&[10, 4], &[30, 20]];
        assert_eq!(joined(&spans, 50, Join::Spans), [vec![30, 4, 16]]);
        assert_eq!(joined(&spans, 0, Join::Spans), [vec![10, 4, 6], vec![30, 20, 10]]);
    }
}
