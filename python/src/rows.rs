//! Rows of Python values as a table.

use crate::error::other;
use crate::list::List;
use crate::table::{Table, field};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};
use std::sync::Arc;

/// A column: name, unit, meaning and values.
type Column<'py> = (String, String, String, List<Option<Bound<'py, PyAny>>>);

/// Creates a table of values by column: name, unit, meaning and values. A column is of flags, of integers, of numbers, or of
/// text, whichever takes all its values.
#[pyfunction]
pub fn table_of(name: &str, meaning: &str, columns: List<Column<'_>>) -> PyResult<Table> {
    let column = |(name, unit, meaning, values): Column<'_>| {
        let (kind, array) = array(&values.0)?;
        Ok((field(&name, kind, true, (unit.as_str(), meaning.as_str())), array))
    };
    let columns = columns.0.into_iter().map(column).collect::<PyResult<Vec<_>>>()?;
    Table::new(name, meaning, columns).map_err(other)
}

fn array(values: &[Option<Bound<'_, PyAny>>]) -> PyResult<(DataType, ArrayRef)> {
    let all = |is: &dyn Fn(&Bound<'_, PyAny>) -> bool| values.iter().flatten().all(is);
    let is_flag = |value: &Bound<'_, PyAny>| value.is_instance_of::<PyBool>();
    let is_number = |value: &Bound<'_, PyAny>| {
        !is_flag(value) && (value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>())
    };
    if values.iter().flatten().next().is_some() {
        if all(&is_flag) {
            let flags = values.iter().map(|value| value.as_ref().map(|it| it.extract::<bool>()).transpose());
            let flags: BooleanArray = flags.collect::<PyResult<Vec<_>>>()?.into();
            return Ok((DataType::Boolean, Arc::new(flags)));
        }
        if all(&|value| is_number(value) && value.extract::<i64>().is_ok()) {
            let numbers = values.iter().map(|value| value.as_ref().map(|it| it.extract::<i64>()).transpose());
            let numbers: Int64Array = numbers.collect::<PyResult<Vec<_>>>()?.into();
            return Ok((DataType::Int64, Arc::new(numbers)));
        }
        if all(&is_number) {
            let numbers = values.iter().map(|value| value.as_ref().map(|it| it.extract::<f64>()).transpose());
            let numbers: Float64Array = numbers.collect::<PyResult<Vec<_>>>()?.into();
            return Ok((DataType::Float64, Arc::new(numbers)));
        }
    }
    let text = |value: &Bound<'_, PyAny>| -> PyResult<String> { Ok(value.str()?.to_string_lossy().into_owned()) };
    let texts = values.iter().map(|value| value.as_ref().map(text).transpose());
    let texts: StringArray = texts.collect::<PyResult<Vec<_>>>()?.into();
    Ok((DataType::Utf8, Arc::new(texts)))
}
