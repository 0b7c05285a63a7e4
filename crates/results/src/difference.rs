//! Differences between two runs: their outcomes, their totals, and the first differing row of every table.

use super::batch::{Batch, Value};
use super::document::PlanEntry;
use super::error::ResultsError;
use super::manifest::{Manifest, hex};
use super::parquet_file::TableReader;
use super::reader::Results;
use fabric::record::schema::{self, Table, Unit};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use units::Time;

/// Maximum number of differing settings that are listed; of the rest, only the number is reported.
const MOST_SETTINGS: usize = 8;

/// The kind of the first difference between two tables.
#[derive(Clone, Debug, PartialEq)]
pub enum Manner {
    /// A cell differs.
    Cell {
        /// Name of the column.
        column: &'static str,
        /// Value in the first result.
        left: Value,
        /// Value in the second result.
        right: Value,
    },
    /// The row exists only in the first result.
    OnlyLeft,
    /// The row exists only in the second result.
    OnlyRight,
}

/// The first difference between two tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Name of the table.
    pub table: &'static str,
    /// Number of the row, starting at 1. All rows before it are equal.
    pub row: u64,
    /// Simulated time of the row; `None` in a table that is written at the end.
    pub time: Option<Time>,
    /// Key of the row: the columns by which the table is sorted, without the time.
    pub entity: Vec<(&'static str, Value)>,
    /// Names of the ports and flows in the key.
    pub names: BTreeMap<&'static str, String>,
    /// Kind of difference.
    pub manner: Manner,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(time) = self.time {
            write!(f, "at {time}, ")?;
        }
        write!(f, "table {}, row {}", self.table, self.row)?;
        for (name, value) in &self.entity {
            write!(f, ", {name} {value}")?;
            if let Some(called) = self.names.get(name) {
                write!(f, " ({called})")?;
            }
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

/// A value that differs between two manifests.
#[derive(Clone, Debug, PartialEq)]
pub struct Unlike {
    /// Name of the value.
    pub what: String,
    /// Value in the first result; empty if absent.
    pub left: Json,
    /// Value in the second result; empty if absent.
    pub right: Json,
}

impl std::fmt::Display for Unlike {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let show = |value: &Json| match value {
            Json::Null => "nothing".to_owned(),
            Json::String(text) if text.is_empty() => "nothing".to_owned(),
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        write!(f, "{} is {} in the first and {} in the second", self.what, show(&self.left), show(&self.right))
    }
}

/// All differences between two results.
#[derive(Clone, Debug, PartialEq)]
pub struct Differences {
    /// Fingerprints of both results.
    pub fingerprints: (u64, u64),
    /// The first differing row of each table that differs, earliest first; tables without a time come last.
    pub tables: Vec<Difference>,
    /// Outcome and totals that differ.
    pub sums: Vec<Unlike>,
    /// Settings of the plan that differ. They explain differences but do not count as differences of the results.
    pub settings: Vec<Unlike>,
    /// Tables recorded only in the first result, which cannot be compared.
    pub only_left: Vec<String>,
    /// Tables recorded only in the second result.
    pub only_right: Vec<String>,
}

impl Differences {
    /// Returns whether everything that can be compared is equal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fingerprints.0 == self.fingerprints.1 && self.tables.is_empty() && self.sums.is_empty()
    }
}

impl std::fmt::Display for Differences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (one, two) = self.fingerprints;
        if one == two {
            writeln!(f, "both runs have the fingerprint {}", hex(one))?;
        } else {
            writeln!(f, "the fingerprints differ: {} and {}", hex(one), hex(two))?;
        }
        if let Some((first, others)) = self.tables.split_first() {
            writeln!(f, "{first}")?;
            for other in others {
                let time = other.time.map(|time| format!(" at {time}")).unwrap_or_default();
                writeln!(f, "table {} differs from row {} onwards{time}", other.table, other.row)?;
            }
        } else if one != two {
            writeln!(f, "no recorded row differs; record more, or sample more often")?;
        }
        self.sums.iter().try_for_each(|unlike| writeln!(f, "{unlike}"))?;
        for unlike in self.settings.iter().take(MOST_SETTINGS) {
            writeln!(f, "setting {unlike}")?;
        }
        if let more @ 1.. = self.settings.len().saturating_sub(MOST_SETTINGS) {
            writeln!(f, "and {more} more settings differ")?;
        }
        for (names, who) in [(&self.only_left, "first"), (&self.only_right, "second")] {
            if !names.is_empty() {
                writeln!(f, "not compared (only the {who} run recorded it): {}", names.join(", "))?;
            }
        }
        if self.is_empty() {
            writeln!(f, "outcome, totals and all rows that both runs recorded are the same")?;
        }
        Ok(())
    }
}

/// Compares two results: outcome, totals, and every row of every table that both contain. Tables are read one row group
/// at a time. A difference between two samples appears at the later one.
///
/// # Errors
/// Returns an error if a table cannot be read or was modified.
pub fn differences(left: &Results, right: &Results) -> Result<Differences, ResultsError> {
    let only = |these: &Results, those: &Results| -> Vec<String> {
        let names = these.tables().into_iter().filter(|table| !those.has(table)).map(|table| table.name.to_owned());
        names.collect()
    };
    let mut tables = Vec::new();
    for table in left.tables().into_iter().filter(|table| right.has(table)) {
        let (mut one, mut two) = (Cursor::new(left, table)?, Cursor::new(right, table)?);
        // Both files were compared with their hashes just now: if these are equal, so are the files.
        if left.hash(table).is_some_and(|hash| right.hash(table) == Some(hash)) {
            continue;
        }
        if let Some(mut found) = first_unlike(&mut one, &mut two)? {
            found.names = names(if found.manner == Manner::OnlyRight { right } else { left }, &found.entity)?;
            tables.push(found);
        }
    }
    tables.sort_by_key(|found| found.time.map_or(u64::MAX, Time::as_picos));
    Ok(Differences {
        fingerprints: (left.manifest.fingerprint, right.manifest.fingerprint),
        tables,
        sums: unlike(sums(&left.manifest), &sums(&right.manifest)),
        settings: unlike(settings(&left.manifest), &settings(&right.manifest)),
        only_left: only(left, right),
        only_right: only(right, left),
    })
}

/// Returns the outcome and totals of a run. Wall time, threads and program version are not included.
fn sums(manifest: &Manifest) -> BTreeMap<String, Json> {
    let mut sums: BTreeMap<String, Json> =
        manifest.totals.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    sums.insert("outcome".into(), Json::from(manifest.outcome.kind.clone()));
    sums.insert("outcome text".into(), Json::from(manifest.outcome.text.clone()));
    sums.insert("outcome details".into(), manifest.outcome.details.clone());
    sums.insert("simulated_ps".into(), Json::from(manifest.simulated));
    sums.insert("hops".into(), Json::from(manifest.hops));
    sums
}

/// Returns the settings of the plan, by key.
fn settings(manifest: &Manifest) -> BTreeMap<String, Json> {
    let entry = |entry: &PlanEntry| (entry.key.clone(), Json::from(entry.value.clone()));
    let mut settings: BTreeMap<String, Json> = manifest.plan.entries.iter().map(entry).collect();
    settings.insert("run.seed".into(), Json::from(manifest.seed.to_string()));
    settings
}

fn unlike(left: BTreeMap<String, Json>, right: &BTreeMap<String, Json>) -> Vec<Unlike> {
    let value = |values: &BTreeMap<String, Json>, key: &str| values.get(key).cloned().unwrap_or(Json::Null);
    let mut keys: Vec<String> = left.keys().chain(right.keys()).cloned().collect();
    keys.sort();
    keys.dedup();
    let all = keys.into_iter().map(|what| Unlike { left: value(&left, &what), right: value(right, &what), what });
    all.filter(|unlike| unlike.left != unlike.right).collect()
}

/// Returns the names of ports and flows.
fn names(results: &Results, entity: &[(&'static str, Value)]) -> Result<BTreeMap<&'static str, String>, ResultsError> {
    let mut names = BTreeMap::new();
    for (key, value) in entity {
        let table = match *key {
            "port" => &schema::PORTS,
            "flow" => &schema::FLOWS,
            _ => continue,
        };
        let Value::Integer(number) = value else { continue };
        for batch in results.groups(table)?.only(&[key, "name"]) {
            let batch = batch?;
            if let Some(row) = batch.integers(key).iter().position(|found| found == number) {
                names.insert(*key, batch.texts("name")[row].clone());
                break;
            }
        }
    }
    Ok(names)
}

/// A cursor over the rows of a table.
struct Cursor {
    groups: TableReader,
    batch: Batch,
    row: usize,
    /// Rows of the preceding row groups.
    before: u64,
}

impl Cursor {
    fn new(results: &Results, table: &'static Table) -> Result<Cursor, ResultsError> {
        let mut cursor = Cursor { groups: results.groups(table)?, batch: Batch::new(table), row: 0, before: 0 };
        cursor.load()?;
        Ok(cursor)
    }

    fn load(&mut self) -> Result<(), ResultsError> {
        while self.row >= self.batch.len() {
            let Some(batch) = self.groups.next() else { return Ok(()) };
            self.before += self.batch.len() as u64;
            (self.batch, self.row) = (batch?, 0);
        }
        Ok(())
    }

    fn advance(&mut self, rows: usize) -> Result<(), ResultsError> {
        self.row += rows;
        self.load()
    }

    fn has_row(&self) -> bool {
        self.row < self.batch.len()
    }

    fn value(&self, column: usize) -> Value {
        self.batch.value(self.row, column)
    }

    /// Returns the cells by which the table is sorted; they are integers.
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
        let row = self.before + self.row as u64 + 1;
        Difference { table: table.name, row, time, entity, names: BTreeMap::new(), manner }
    }
}

/// Returns whether two cells are equal. NaN equals NaN.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Real(one), Value::Real(two)) => one.to_bits() == two.to_bits(),
        _ => left == right,
    }
}

/// Returns the first row at which two tables differ.
fn first_unlike(left: &mut Cursor, right: &mut Cursor) -> Result<Option<Difference>, ResultsError> {
    let table = left.batch.table;
    debug_assert!(table.time.is_none_or(|time| table.columns[time].unit == Unit::Picoseconds));
    loop {
        match (left.has_row(), right.has_row()) {
            (false, false) => return Ok(None),
            (true, false) => return Ok(Some(left.difference(Manner::OnlyLeft))),
            (false, true) => return Ok(Some(right.difference(Manner::OnlyRight))),
            (true, true) => {}
        }
        // Groups have the same number of rows in all results: most are alike or not as a whole.
        if (left.row, right.row) == (0, 0) && left.batch == right.batch {
            left.advance(left.batch.len())?;
            right.advance(right.batch.len())?;
            continue;
        }
        match left.key().cmp(&right.key()) {
            std::cmp::Ordering::Less => return Ok(Some(left.difference(Manner::OnlyLeft))),
            std::cmp::Ordering::Greater => return Ok(Some(right.difference(Manner::OnlyRight))),
            std::cmp::Ordering::Equal => {}
        }
        for (place, column) in table.columns.iter().enumerate() {
            let (one, two) = (left.value(place), right.value(place));
            if !same(&one, &two) {
                let manner = Manner::Cell { column: column.name, left: one, right: two };
                return Ok(Some(left.difference(manner)));
            }
        }
        left.advance(1)?;
        right.advance(1)?;
    }
}

#[cfg(test)]
mod tests {
    use super::super::directory::ResultWriter;
    use super::super::manifest::tests::sample;
    use super::*;
    use fabric::record::{PauseRow, RateRow, RecorderSpec};
    use std::path::Path;

    fn result(out: &Path, fingerprint: u64, rates: &[(u64, u32, u64)], pauses: &[(u64, u32)]) -> Results {
        let recorder = RecorderSpec { drops: fingerprint != 5, ..RecorderSpec::default() };
        let mut writer = ResultWriter::create(out, false, &recorder).expect("it can be written");
        for &(time, flow, rate) in rates {
            let row = RateRow { time: Time::from_picos(time), flow, rate: Some(rate), window: None };
            writer.write(&[row]).expect("there is room");
        }
        for &(end, port) in pauses {
            let (start, end) = (Time::ZERO, Time::from_picos(end));
            writer.write(&[PauseRow { start, end, port, class: 0, cut_off: false }]).expect("there is room");
        }
        let mut manifest = Manifest { fingerprint: fingerprint.min(4), ..sample() };
        if fingerprint == 6 {
            manifest.totals.insert("notices".into(), Json::from(3));
        }
        writer.commit(manifest).expect("it can be written");
        Results::open(out).expect("it was written")
    }

    #[test]
    fn the_earliest_difference_over_all_tables_comes_first() {
        let scratch = tempfile::tempdir().expect("there is room");
        let one = result(&scratch.path().join("one"), 1, &[(10, 0, 5), (20, 0, 6), (30, 0, 7)], &[(25, 3), (40, 3)]);
        let same = result(&scratch.path().join("same"), 1, &[(10, 0, 5), (20, 0, 6), (30, 0, 7)], &[(25, 3), (40, 3)]);
        let cell = result(&scratch.path().join("cell"), 2, &[(10, 0, 5), (20, 0, 9), (30, 0, 8)], &[(24, 3), (40, 3)]);
        let row = result(&scratch.path().join("row"), 3, &[(10, 0, 5), (20, 0, 6), (30, 0, 7)], &[(24, 3), (40, 3)]);
        let short = result(&scratch.path().join("short"), 4, &[(10, 0, 5), (20, 0, 6)], &[(25, 3), (40, 3)]);
        let of = |left: &Results, right: &Results| differences(left, right).expect("readable");
        assert!(of(&one, &same).is_empty(), "{}", of(&one, &same));
        let told = of(&one, &cell).to_string();
        let expected = "at 20ps, table rates, row 2, flow 0: rate is 6 in the first and 9 in the second\n\
                        table pauses differs from row 1 onwards at 24ps\n";
        assert!(told.ends_with(expected), "{told}");
        let told = of(&one, &row).to_string();
        assert!(
            told.contains("at 24ps, table pauses, row 1, port 3, class 0: only the second has this row\n"),
            "{told}"
        );
        let found = &of(&one, &short).tables[0];
        assert_eq!((found.table, found.row, found.time), ("rates", 3, Some(Time::from_picos(30))));
        assert_eq!(found.manner, Manner::OnlyLeft);
        assert!(of(&one, &short).to_string().contains("0000000000000004"));
    }

    #[test]
    fn equal_fingerprints_hide_no_other_difference() {
        let scratch = tempfile::tempdir().expect("there is room");
        let whole = result(&scratch.path().join("whole"), 4, &[(10, 0, 5)], &[]);
        let fewer = result(&scratch.path().join("fewer"), 5, &[(10, 0, 5)], &[]);
        let sums = result(&scratch.path().join("sums"), 6, &[(10, 0, 5)], &[]);
        let rows = result(&scratch.path().join("rows"), 7, &[(10, 0, 6)], &[]);
        let of = |right: &Results| differences(&whole, right).expect("readable");
        assert!(of(&fewer).is_empty());
        let told = of(&fewer).to_string();
        assert!(told.contains("not compared (only the first run recorded it): drops\n"), "{told}");
        assert!(!of(&sums).is_empty());
        assert!(of(&sums).to_string().contains("notices is 0 in the first and 3 in the second\n"), "{}", of(&sums));
        assert!(!of(&rows).is_empty() && of(&rows).tables.len() == 1);
    }
}
