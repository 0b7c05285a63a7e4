//! Rows as columns, in memory.

use fabric::record::schema::{Kind, Table};
use fabric::record::{Cell, Row};

/// The cells of one column; an empty cell is a default value here and `false` in [`Batch::present`].
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

    /// Puts a cell last; an empty one leaves a default value. A cell of another kind is a mistake in this program.
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

/// One cell taken out of a batch.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Empty.
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
    /// As in CSV, without quotes: an empty cell is nothing at all.
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

/// Rows of one table as columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The table.
    pub table: &'static Table,
    /// One per column of the table.
    pub columns: Vec<Cells>,
    /// For each column that may have empty cells which ones are not.
    pub present: Vec<Option<Vec<bool>>>,
}

impl Batch {
    /// No rows.
    #[must_use]
    pub fn new(table: &'static Table) -> Batch {
        Batch {
            table,
            columns: table.columns.iter().map(|column| Cells::new(column.kind)).collect(),
            present: table.columns.iter().map(|column| column.nullable.then(Vec::new)).collect(),
        }
    }

    /// How many rows there are. A column that was not read has no cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.iter().map(Cells::len).max().unwrap_or(0)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts the rows of another batch of the same table last.
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

    /// Takes out all rows, keeping the memory.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Cells::clear);
        self.present.iter_mut().flatten().for_each(Vec::clear);
    }

    /// Puts a row last. The row must be of this table.
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

    /// One cell.
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

    /// A column of integers by name. Empty cells are zero. Nothing for a column of another kind.
    #[must_use]
    pub fn integers(&self, name: &str) -> &[i64] {
        match self.table.column(name).map(|place| &self.columns[place]) {
            Some(Cells::Integer(values)) => values,
            _ => &[],
        }
    }

    /// A column of reals by name. Empty cells are zero. Nothing for a column of another kind.
    #[must_use]
    pub fn reals(&self, name: &str) -> &[f64] {
        match self.table.column(name).map(|place| &self.columns[place]) {
            Some(Cells::Real(values)) => values,
            _ => &[],
        }
    }

    /// A column of text by name. Empty cells are empty text. Nothing for a column of another kind.
    #[must_use]
    pub fn texts(&self, name: &str) -> &[String] {
        match self.table.column(name).map(|place| &self.columns[place]) {
            Some(Cells::Text(values)) => values,
            _ => &[],
        }
    }

    /// Whether a cell of that column is not empty.
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
