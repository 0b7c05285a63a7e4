//! Where two runs begin to differ.

use super::batch::{Batch, Value};
use super::error::ResultsError;
use super::manifest::hex;
use super::parquet_file::TableReader;
use super::reader::Results;
use fabric::record::schema::{Table, Unit};
use units::Time;

/// How two results differ at the first place at which they do.
#[derive(Clone, Debug, PartialEq)]
pub enum Manner {
    /// A cell.
    Cell {
        /// Name of the column.
        column: &'static str,
        /// In the first result.
        left: Value,
        /// In the second.
        right: Value,
    },
    /// The first result has this row and the second has none like it.
    OnlyLeft,
    /// The second result has this row and the first has none like it.
    OnlyRight,
}

/// The first difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Name of the table.
    pub table: &'static str,
    /// When, in simulated time; `None` in a table that is written at the end.
    pub time: Option<Time>,
    /// What the row is about: the columns by which the table is ordered, without the time.
    pub entity: Vec<(&'static str, Value)>,
    /// How.
    pub manner: Manner,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(time) = self.time {
            write!(f, "at {time}, ")?;
        }
        write!(f, "table {}", self.table)?;
        for (name, value) in &self.entity {
            write!(f, ", {name} {value}")?;
        }
        match &self.manner {
            Manner::Cell { column, left, right } => {
                let show = |value: &Value| if *value == Value::Null { "nothing".to_owned() } else { value.to_string() };
                write!(f, ": {column} is {} in the first and {} in the second", show(left), show(right))
            }
            Manner::OnlyLeft => write!(f, ": only the first has this row"),
            Manner::OnlyRight => write!(f, ": only the second has this row"),
        }
    }
}

/// Compares two results. Equal fingerprints prove equal runs, so then only what was recorded can differ, which is not
/// compared; [`rows_differ`] compares it all the same.
///
/// # Errors
/// If a table cannot be read.
pub fn first_difference(left: &Results, right: &Results) -> Result<Option<Difference>, ResultsError> {
    if left.manifest.fingerprint == right.manifest.fingerprint {
        return Ok(None);
    }
    rows_differ(left, right)
}

/// The earliest row, over all tables that both have, in which two results differ. Rows without a time come last. What
/// happened between two samples shows at the later one.
///
/// # Errors
/// If a table cannot be read.
pub fn rows_differ(left: &Results, right: &Results) -> Result<Option<Difference>, ResultsError> {
    let mut first: Option<Difference> = None;
    for table in left.tables().into_iter().filter(|table| right.has(table)) {
        // A later row than the first difference so far need not be looked at.
        let before = first.as_ref().and_then(|found| found.time);
        if let Some(found) = compare(Cursor::new(left, table)?, Cursor::new(right, table)?, before)? {
            let earlier = match (&first, found.time) {
                (None, _) => true,
                (Some(first), Some(time)) => first.time.is_none_or(|least| time < least),
                (Some(_), None) => false,
            };
            if earlier {
                first = Some(found);
            }
        }
    }
    Ok(first)
}

/// A sentence on two manifests.
#[must_use]
pub fn fingerprints(left: &Results, right: &Results) -> String {
    let (one, two) = (left.manifest.fingerprint, right.manifest.fingerprint);
    if one == two {
        format!("both runs have the fingerprint {}", hex(one))
    } else {
        format!("the fingerprints differ: {} and {}", hex(one), hex(two))
    }
}

/// The rows of a table one after the other.
struct Cursor {
    groups: TableReader,
    batch: Batch,
    row: usize,
}

impl Cursor {
    fn new(results: &Results, table: &'static Table) -> Result<Cursor, ResultsError> {
        let mut cursor = Cursor { groups: results.groups(table)?, batch: Batch::new(table), row: 0 };
        cursor.load()?;
        Ok(cursor)
    }

    fn load(&mut self) -> Result<(), ResultsError> {
        while self.row >= self.batch.len() {
            let Some(batch) = self.groups.next() else { return Ok(()) };
            (self.batch, self.row) = (batch?, 0);
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<(), ResultsError> {
        self.row += 1;
        self.load()
    }

    fn has_row(&self) -> bool {
        self.row < self.batch.len()
    }

    fn value(&self, column: usize) -> Value {
        self.batch.value(self.row, column)
    }

    /// The cells by which the table is ordered; they are integers.
    fn key(&self) -> Vec<i64> {
        let integer = |&column: &usize| match self.value(column) {
            Value::Integer(value) => value,
            _ => i64::MIN,
        };
        self.batch.table.order.iter().map(integer).collect()
    }

    fn difference(&self, manner: Manner) -> Difference {
        let table = self.batch.table;
        let time = table.time.and_then(|column| match self.value(column) {
            Value::Integer(picos) => u64::try_from(picos).ok().map(Time::from_picos),
            _ => None,
        });
        let entity = table.order.iter().filter(|&&column| Some(column) != table.time);
        let entity = entity.map(|&column| (table.columns[column].name, self.value(column))).collect();
        Difference { table: table.name, time, entity, manner }
    }
}

fn compare(mut left: Cursor, mut right: Cursor, before: Option<Time>) -> Result<Option<Difference>, ResultsError> {
    let table = left.batch.table;
    let columns: Vec<usize> = (0..table.columns.len()).collect();
    debug_assert!(table.time.is_none_or(|time| table.columns[time].unit == Unit::Picoseconds));
    loop {
        match (left.has_row(), right.has_row()) {
            (false, false) => return Ok(None),
            (true, false) => return Ok(Some(left.difference(Manner::OnlyLeft))),
            (false, true) => return Ok(Some(right.difference(Manner::OnlyRight))),
            (true, true) => {}
        }
        let (one, two) = (left.key(), right.key());
        if table.time.is_some() && before.is_some_and(|before| one[0].min(two[0]) > before.as_picos() as i64) {
            return Ok(None);
        }
        match one.cmp(&two) {
            std::cmp::Ordering::Less => return Ok(Some(left.difference(Manner::OnlyLeft))),
            std::cmp::Ordering::Greater => return Ok(Some(right.difference(Manner::OnlyRight))),
            std::cmp::Ordering::Equal => {}
        }
        if let Some(&column) = columns.iter().find(|&&column| left.value(column) != right.value(column)) {
            let (one, two) = (left.value(column), right.value(column));
            let manner = Manner::Cell { column: table.columns[column].name, left: one, right: two };
            return Ok(Some(left.difference(manner)));
        }
        left.advance()?;
        right.advance()?;
    }
}

#[cfg(test)]
mod tests {
    use super::super::directory::{ResultWriter, tests::scratch};
    use super::super::manifest::tests::sample;
    use super::*;
    use fabric::record::{PauseRow, RateRow, RecorderSpec};
    use std::path::Path;

    fn result(out: &Path, fingerprint: u64, rates: &[(u64, u32, u64)], pauses: &[(u64, u32)]) -> Results {
        let mut writer = ResultWriter::create(out, false, &RecorderSpec::default()).expect("it can be written");
        for &(time, flow, rate) in rates {
            let row = RateRow { time: Time::from_picos(time), flow, rate: Some(rate), window: None };
            writer.write(&[row]).expect("there is room");
        }
        for &(end, port) in pauses {
            let (start, end) = (Time::ZERO, Time::from_picos(end));
            writer.write(&[PauseRow { start, end, port, class: 0, cut_off: false }]).expect("there is room");
        }
        writer.commit(super::super::Manifest { fingerprint, ..sample() }).expect("it can be written");
        Results::open(out).expect("it was written")
    }

    #[test]
    fn the_earliest_difference_over_all_tables_wins() {
        let scratch = scratch("difference");
        let one = result(&scratch.path("one"), 1, &[(10, 0, 5), (20, 0, 6), (30, 0, 7)], &[(25, 3), (40, 3)]);
        let same = result(&scratch.path("same"), 1, &[(10, 0, 5)], &[]);
        let cell = result(&scratch.path("cell"), 2, &[(10, 0, 5), (20, 0, 9), (30, 0, 8)], &[(24, 3), (40, 3)]);
        let row = result(&scratch.path("row"), 3, &[(10, 0, 5), (20, 0, 6), (30, 0, 7)], &[(24, 3), (40, 3)]);
        let short = result(&scratch.path("short"), 4, &[(10, 0, 5), (20, 0, 6)], &[(25, 3), (40, 3)]);
        assert_eq!(first_difference(&one, &same).expect("readable"), None);
        assert!(rows_differ(&one, &same).expect("readable").is_some());
        let found = first_difference(&one, &cell).expect("readable").expect("they differ");
        assert_eq!(found.to_string(), "at 20ps, table rates, flow 0: rate is 6 in the first and 9 in the second");
        let found = first_difference(&one, &row).expect("readable").expect("they differ");
        assert_eq!(found.to_string(), "at 24ps, table pauses, port 3, class 0: only the second has this row");
        let found = first_difference(&one, &short).expect("readable").expect("they differ");
        assert_eq!((found.table, found.time), ("rates", Some(Time::from_picos(30))));
        assert_eq!(found.manner, Manner::OnlyLeft);
        assert!(fingerprints(&one, &short).contains("0000000000000004"));
    }
}
