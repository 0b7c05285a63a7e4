//! Lists of arguments.

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// A list or a tuple. Other sequences may claim any length, such as `range(10**12)`, and are not believed: a `Vec` would
/// reserve memory for it, and a process that gets none ends.
pub struct List<T>(pub Vec<T>);

impl<'py, T: FromPyObjectOwned<'py>> FromPyObject<'_, 'py> for List<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<List<T>> {
        if !object.is_instance_of::<PyList>() && !object.is_instance_of::<PyTuple>() {
            return Err(PyTypeError::new_err("expected a list"));
        }
        let items = object.try_iter()?.map(|item| item?.extract::<T>().map_err(Into::into));
        items.collect::<PyResult<Vec<T>>>().map(List)
    }
}

/// Keys with the values of each.
pub type Axes = List<(String, List<String>)>;

/// The same as the library takes it.
pub fn axes(given: Axes) -> Vec<(String, Vec<String>)> {
    given.0.into_iter().map(|(key, values)| (key, values.0)).collect()
}
