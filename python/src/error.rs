//! Exceptions: the texts of the command, with what a program needs to find the place.

use ::scenario::{Complaint, Errors};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(tailback, TailbackError, PyException, "Any error of Tailback.");
create_exception!(
    tailback,
    ScenarioError,
    TailbackError,
    "A scenario has mistakes. The text shows each with its line and a remedy; `problems` lists them as dictionaries with \
     file, line, column, message and help."
);
create_exception!(tailback, ResultsError, TailbackError, "Results cannot be read or written.");

/// The exception for the problems of a scenario.
pub fn of_scenario(py: Python<'_>, errors: &Errors) -> PyErr {
    let error = ScenarioError::new_err(errors.render(false));
    let problem = |Complaint { file, line, column, message, help, .. }: Complaint| -> PyResult<Py<PyDict>> {
        let problem = PyDict::new(py);
        problem.set_item("file", file)?;
        problem.set_item("line", line)?;
        problem.set_item("column", column)?;
        problem.set_item("message", message)?;
        problem.set_item("help", help)?;
        Ok(problem.unbind())
    };
    let problems: PyResult<Vec<Py<PyDict>>> = errors.complaints().map(problem).collect();
    match problems.and_then(|problems| error.value(py).setattr("problems", problems)) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// A text of the command in the words of the package: options are arguments here.
fn in_python(text: &str) -> String {
    let words =
        [("add --overwrite", "set overwrite=True"), ("--overwrite", "overwrite=True"), ("with --out", "with out=")];
    words.iter().fold(text.to_owned(), |text, (option, argument)| text.replace(option, argument))
}

/// Any other error, by its text.
pub fn other(error: impl std::fmt::Display) -> PyErr {
    TailbackError::new_err(in_python(&error.to_string()))
}

/// An error of a result.
pub fn of_results(error: impl std::fmt::Display) -> PyErr {
    ResultsError::new_err(in_python(&error.to_string()))
}
