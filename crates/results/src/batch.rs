//! Rows in memory, stored by column.

use fabric::record::schema::{Kind, Table};
use fabric::record::{Cell, Row, Rows};

/// The cells of one column. An empty cell has a default value here and is `false` in [`Batch::present`].
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// See [`Kind::Integer`].
    Integer(Vec<i64>),
    /// See [`Kind::Real`].
    Real(Vec<f64>),
    /// See [`Kind::Text`].
    Text(Vec<String>),
    /// See [`Kind::Flag`].
    Flag(Vec<bool>),
}

impl Cells {
    fn new(kind: Kind) -> Cells {
        match kind {
            Kind::Integer => Cells::Integer(Vec::new()),
            Kind::Real => Cells::Real(Vec::new()),
            Kind::Text => Cells::Text(Vec::new()),
            Kind::Flag => Cells::Flag(Vec::new()),
        }
    }

    fn clear(&mut self) {
        match self {
            Cells::Integer(values) => values.clear(),
            Cells::Real(values) => values.clear(),
            Cells::Text(values) => values.clear(),
            Cells::Flag(values) => values.clear(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Cells::Integer(values) => values.len(),
            Cells::Real(values) => values.len(),
            Cells::Text(values) => values.len(),
            Cells::Flag(values) => values.len(),
        }
    }

    /// Appends a cell. An empty cell is stored as a default value. Cells of another kind are a programming error.
    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Cells::Integer(values), Cell::Integer(value)) => values.push(value),
            (Cells::Real(values), Cell::Real(value)) => values.push(value),
            (Cells::Text(values), Cell::Text(value)) => values.push(value.to_owned()),
            (Cells::Flag(values), Cell::Flag(value)) => values.push(value),
            (Cells::Integer(values), Cell::Null) => values.push(0),
            (Cells::Real(values), Cell::Null) => values.push(0.0),
            (Cells::Text(values), Cell::Null) => values.push(String::new()),
            (Cells::Flag(values), Cell::Null) => values.push(false),
            (cells, cell) => unreachable!("{cell:?} in a column of {cells:?}"),
        }
    }
}

/// The value of one cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An empty cell.
    Null,
    /// See [`Kind::Integer`].
    Integer(i64),
    /// See [`Kind::Real`].
    Real(f64),
    /// See [`Kind::Text`].
    Text(String),
    /// See [`Kind::Flag`].
    Flag(bool),
}

impl std::fmt::Display for Value {
    /// Formats the value as in CSV, without quotes. An empty cell is the empty string.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Null => Ok(()),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Real(value) => write!(f, "{value}"),
            Value::Text(value) => f.write_str(&files::text::on_one_line(value)),
            Value::Flag(value) => write!(f, "{value}"),
        }
    }
}

/// Rows of one table, stored by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The table.
    pub table: &'static Table,
    /// Cells of each column of the table.
    pub columns: Vec<Cells>,
    /// For each column that may have empty cells, whether each cell is present.
    pub present: Vec<Option<Vec<bool>>>,
}

impl Batch {
    /// Creates an empty batch.
    #[must_use]
    pub fn new(table: &'static Table) -> Batch {
        Batch {
            table,
            columns: table.columns.iter().map(|column| Cells::new(column.kind)).collect(),
            present: table.columns.iter().map(|column| column.nullable.then(Vec::new)).collect(),
        }
    }

    /// Creates a batch of these rows.
    #[must_use]
    pub fn of<R: Row>(rows: &[R]) -> Batch {
        let mut batch = Batch::new(R::TABLE);
        rows.iter().for_each(|row| batch.push(row));
        batch
    }

    /// Creates a batch of every table that is recorded while a run proceeds.
    #[must_use]
    pub fn all(rows: &Rows) -> [Batch; 9] {
        [
            Batch::of(&rows.flow_samples),
            Batch::of(&rows.links),
            Batch::of(&rows.starved),
            Batch::of(&rows.queues),
            Batch::of(&rows.rates),
            Batch::of(&rows.pauses),
            Batch::of(&rows.drops),
            Batch::of(&rows.notices),
            Batch::of(&rows.occupancy),
        ]
    }

    /// Returns the number of rows. A column that was not read has no cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.iter().map(Cells::len).max().unwrap_or(0)
    }

    /// Returns whether the batch has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the rows of another batch of the same table.
    pub fn append(&mut self, mut other: Batch) {
        for (cells, more) in self.columns.iter_mut().zip(&mut other.columns) {
            match (cells, more) {
                (Cells::Integer(values), Cells::Integer(more)) => values.append(more),
                (Cells::Real(values), Cells::Real(more)) => values.append(more),
                (Cells::Text(values), Cells::Text(more)) => values.append(more),
                (Cells::Flag(values), Cells::Flag(more)) => values.append(more),
                (cells, more) => unreachable!("{more:?} in a column of {cells:?}"),
            }
        }
        for (present, more) in self.present.iter_mut().flatten().zip(other.present.iter_mut().flatten()) {
            present.append(more);
        }
    }

    /// Removes all rows, keeping the allocated memory.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Cells::clear);
        self.present.iter_mut().flatten().for_each(Vec::clear);
    }

    /// Appends a row, which must belong to this table.
    pub fn push<R: Row>(&mut self, row: &R) {
        debug_assert_eq!(R::TABLE.name, self.table.name);
        let mut place = 0;
        row.cells(&mut |cell| {
            if let Some(present) = &mut self.present[place] {
                present.push(cell != Cell::Null);
            }
            self.columns[place].push(cell);
            place += 1;
        });
    }

    /// Returns the value of a cell.
    #[must_use]
    pub fn value(&self, row: usize, column: usize) -> Value {
        if self.present[column].as_ref().is_some_and(|present| !present[row]) {
            return Value::Null;
        }
        match &self.columns[column] {
            Cells::Integer(values) => Value::Integer(values[row]),
            Cells::Real(values) => Value::Real(values[row]),
            Cells::Text(values) => Value::Text(values[row].clone()),
            Cells::Flag(values) => Value::Flag(values[row]),
        }
    }

    /// Returns an integer column by name. Empty cells are zero. The slice is empty if the column has another kind.
    #[must_use]
    pub fn integers(&self, name: &str) -> &[i64] {
        match self.table.column(name).map(|place| &self.columns[place]) {
            Some(Cells::Integer(values)) => values,
            _ => &[],
        }
    }

    /// Returns a real column by name. Empty cells are zero. The slice is empty if the column has another kind.
    #[must_use]
    pub fn reals(&self, name: &str) -> &[f64] {
        match self.table.column(name).map(|place| &self.columns[place]) {
            Some(Cells::Real(values)) => values,
            _ => &[],
        }
    }

    /// Returns a text column by name. Empty cells are empty strings. The slice is empty if the column has another kind.
    #[must_use]
    pub fn texts(&self, name: &str) -> &[String] {
        match self.table.column(name).map(|place| &self.columns[place]) {
            Some(Cells::Text(values)) => values,
            _ => &[],
        }
    }

    /// Returns whether a cell of the named column is present.
    #[must_use]
    pub fn is_present(&self, row: usize, name: &str) -> bool {
        let column = self.table.column(name).and_then(|place| self.present[place].as_ref());
        column.is_none_or(|present| present[row])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::record::RateRow;
    use units::Time;

    #[test]
    fn empty_cells_are_remembered() {
        let mut batch = Batch::new(RateRow::TABLE);
        batch.push(&RateRow { time: Time::from_picos(7), flow: 3, rate: None, window: Some(9) });
        batch.push(&RateRow { time: Time::from_picos(8), flow: 3, rate: Some(5), window: None });
        assert_eq!(batch.len(), 2);
        assert_eq!(batch.value(0, 2), Value::Null);
        assert_eq!(batch.value(1, 2), Value::Integer(5));
        assert_eq!(batch.integers("time"), [7, 8]);
        assert!(!batch.is_present(0, "rate") && batch.is_present(0, "window") && batch.is_present(0, "flow"));
        assert!(batch.reals("time").is_empty() && batch.texts("nonsense").is_empty());
        batch.clear();
        assert!(batch.is_empty());
    }
}
