//! The compiled part of the Python package `tailback`. Its public interface is `tailback/__init__.py`.
//!
//! This crate computes nothing: it converts arguments, calls a study of the library, and returns its documents.

#![allow(missing_docs)]

mod error;
mod grid;
mod json;
mod list;
mod reaction;
mod result;
mod rows;
mod scenario;
mod session;
mod studies;
mod table;
mod watch;

use pyo3::prelude::*;

#[pymodule]
fn _tailback(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("TailbackError", py.get_type::<error::TailbackError>())?;
    module.add("ScenarioError", py.get_type::<error::ScenarioError>())?;
    module.add("ResultsError", py.get_type::<error::ResultsError>())?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<result::Result>()?;
    module.add_class::<session::Simulation>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(result::open_result, module)?)?;
    module.add_function(wrap_pyfunction!(result::pictures, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::from_texts, module)?)?;
    module.add_function(wrap_pyfunction!(session::resume, module)?)?;
    module.add_function(wrap_pyfunction!(session::resume_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(grid::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(grid::compare, module)?)?;
    module.add_function(wrap_pyfunction!(grid::report_html, module)?)?;
    module.add_function(wrap_pyfunction!(rows::table_of, module)?)?;
    module.add_function(wrap_pyfunction!(studies::papers, module)?)?;
    module.add_function(wrap_pyfunction!(studies::reproduce, module)?)?;
    module.add_function(wrap_pyfunction!(studies::tune, module)?)?;
    module.add_function(wrap_pyfunction!(studies::faults, module)?)?;
    module.add("FAULTS", study::fault_kinds())
}
