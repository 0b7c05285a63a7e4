//! Tables by the Arrow PyCapsule interface: pyarrow, pandas, polars and DuckDB take them without a copy.

use crate::error::{of_results, other};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use fabric::record::schema::{Kind, Table as Definition};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use results::{Batch, Cells};
use std::sync::Arc;

/// A table of a result: rows by column, with the unit and the meaning of each column.
#[pyclass(frozen, module = "tailback")]
pub struct Table {
    name: String,
    meaning: String,
    batch: RecordBatch,
}

impl Table {
    /// Creates a table from its columns.
    pub fn new(name: &str, meaning: &str, columns: Vec<(Field, ArrayRef)>) -> std::result::Result<Table, ArrowError> {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let schema = Schema::new_with_metadata(fields, [("name", name), ("meaning", meaning)]);
        let batch = RecordBatch::try_new(Arc::new(schema), arrays)?;
        Ok(Table { name: name.to_owned(), meaning: meaning.to_owned(), batch })
    }

    /// Takes the rows of a recorded table.
    pub fn of(definition: &'static Definition, rows: Batch) -> std::result::Result<Table, ArrowError> {
        let cells = rows.columns.into_iter().zip(rows.present).zip(definition.columns);
        let columns = cells.map(|((cells, present), column)| {
            let present = present.map(NullBuffer::from);
            let array: ArrayRef = match cells {
                Cells::Integer(values) => Arc::new(Int64Array::new(values.into(), present)),
                Cells::Real(values) => Arc::new(Float64Array::new(values.into(), present)),
                Cells::Flag(values) => Arc::new(BooleanArray::new(values.into(), present)),
                Cells::Text(values) => {
                    let is_there = |row: usize| present.as_ref().is_none_or(|present| present.is_valid(row));
                    let cells = values.iter().enumerate().map(|(row, text)| is_there(row).then_some(text.as_str()));
                    Arc::new(cells.collect::<StringArray>())
                }
            };
            let kind = match column.kind {
                Kind::Integer => DataType::Int64,
                Kind::Real => DataType::Float64,
                Kind::Text => DataType::Utf8,
                Kind::Flag => DataType::Boolean,
            };
            (field(column.name, kind, column.nullable, (column.unit.symbol(), column.meaning)), array)
        });
        Table::new(definition.name, definition.meaning, columns.collect())
    }
}

/// A column with its unit and its meaning.
pub fn field(name: &str, kind: DataType, nullable: bool, (unit, meaning): (&str, &str)) -> Field {
    Field::new(name, kind, nullable).with_metadata([("unit", unit), ("meaning", meaning)])
}

#[pymethods]
impl Table {
    /// Name of the table.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// What a row is.
    #[getter]
    fn meaning(&self) -> &str {
        &self.meaning
    }

    /// Name, unit and meaning of every column.
    #[getter]
    fn columns(&self) -> Vec<(String, String, String)> {
        let noted = |field: &Field, key: &str| field.metadata().get(key).cloned().unwrap_or_default();
        let column = |field: &Arc<Field>| (field.name().clone(), noted(field, "unit"), noted(field, "meaning"));
        self.batch.schema().fields().iter().map(column).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let columns: Vec<String> = self.columns().into_iter().map(|(name, ..)| name).collect();
        format!("<tailback.Table {}: {} rows of {}>", self.name, self.batch.num_rows(), columns.join(", "))
    }

    /// The schema, for readers of the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(other)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows, for readers of the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the request; readers convert what they want otherwise.
        drop(requested_schema);
        let schema: SchemaRef = self.batch.schema();
        let rows = RecordBatchIterator::new([Ok(self.batch.clone())], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(rows));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Returns the values of one column as a list.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let Some(array) = self.batch.column_by_name(name) else {
            let names: Vec<String> = self.columns().into_iter().map(|(name, ..)| name).collect();
            let text = format!("table {} has no column {name:?}; it has {}", self.name, names.join(", "));
            return Err(pyo3::exceptions::PyKeyError::new_err(text));
        };
        (0..array.len()).map(|row| cell(py, array, row)).collect()
    }
}

/// One cell as a Python object.
fn cell<'py>(py: Python<'py>, array: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    let any = array.as_any();
    if let Some(values) = any.downcast_ref::<Int64Array>() {
        return Ok(values.value(row).into_pyobject(py)?.into_any());
    }
    if let Some(values) = any.downcast_ref::<Float64Array>() {
        return Ok(values.value(row).into_pyobject(py)?.into_any());
    }
    if let Some(values) = any.downcast_ref::<BooleanArray>() {
        return Ok(values.value(row).into_pyobject(py)?.to_owned().into_any());
    }
    match any.downcast_ref::<StringArray>() {
        Some(values) => Ok(values.value(row).into_pyobject(py)?.into_any()),
        None => Err(of_results("a column of an unknown kind")),
    }
}
