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
    "A scenario has mistakes. The text shows each with its place and a remedy; `problems` lists them as dictionaries with \
     file, line, column, key, message and help."
);
create_exception!(tailback, ResultsError, TailbackError, "Results cannot be read or written.");

/// Name of a scenario that is a dictionary.
pub const DICTIONARY: &str = "<dictionary>";

/// The exception for the problems of a scenario.
pub fn of_scenario(py: Python<'_>, errors: &Errors) -> PyErr {
    of_scenario_in(py, errors, DICTIONARY)
}

/// The exception for the problems of a scenario; of one in that file, if it was written for a dictionary, by keys.
pub fn of_scenario_in(py: Python<'_>, errors: &Errors, dictionary: &str) -> PyErr {
    let errors = errors.clone().of_values(dictionary, DICTIONARY).overrides_as("set");
    let error = ScenarioError::new_err(errors.render(false));
    let problem = |Complaint { file, key, line, column, message, help, .. }: Complaint| -> PyResult<Py<PyDict>> {
        let problem = PyDict::new(py);
        let has_lines = file != DICTIONARY;
        problem.set_item("file", file)?;
        problem.set_item("key", key)?;
        problem.set_item("line", has_lines.then_some(line))?;
        problem.set_item("column", has_lines.then_some(column))?;
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
    let text = text.replace("add --overwrite", "set overwrite=True").replace("--overwrite", "overwrite=True");
    let text = text
        .replace("with --out", "with out=")
        .replace("--why", "why=True")
        .replace("'tailback reproduce' lists", "tailback.papers() lists");
    let mut words = text.split("--");
    let mut text = words.next().unwrap_or_default().to_owned();
    for word in words {
        let end = word.find(|letter: char| !letter.is_ascii_lowercase() && letter != '-').unwrap_or(word.len());
        let is_option = end > 0 && text.ends_with(|letter: char| !letter.is_alphanumeric() && letter != '-');
        // A command line stays one.
        let is_command = text
            .rsplit_once('`')
            .is_some_and(|(before, quoted)| before.matches('`').count() % 2 == 0 && quoted.starts_with("tailback "));
        if is_option && !is_command {
            text.push_str(&word[..end].replace('-', "_"));
            text.push_str(&word[end..]);
        } else {
            text.push_str("--");
            text.push_str(word);
        }
    }
    text
}

/// Any other error, by its text.
pub fn other(error: impl std::fmt::Display) -> PyErr {
    TailbackError::new_err(in_python(&error.to_string()))
}

/// An error of a result.
pub fn of_results(error: impl std::fmt::Display) -> PyErr {
    ResultsError::new_err(in_python(&error.to_string()))
}
