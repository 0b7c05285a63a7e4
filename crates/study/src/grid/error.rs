//! Errors of grids of runs.

use crate::run::execute::StudyError;
use results::remedy;
use scenario::Errors;
use std::path::PathBuf;

/// An error of a sweep.
#[derive(Debug)]
pub enum GridError {
    /// The scenario is invalid for a cell.
    Scenario {
        /// Values of the cell.
        cell: Vec<String>,
        /// The problems found.
        errors: Errors,
    },
    /// The grid has too many cells.
    TooLarge {
        /// Number of cells.
        cells: u64,
        /// The required resources.
        message: String,
        /// The remedy.
        help: String,
    },
    /// A value of an axis has no effect in a cell.
    Axis {
        /// The axis, or the axis with its value.
        axis: String,
    },
    /// A search cannot be made as asked for.
    Search {
        /// What is wrong, and the remedy.
        reason: String,
    },
    /// A run failed.
    Study(StudyError),
    /// The directory contains something else.
    Occupied {
        /// The directory.
        path: PathBuf,
    },
    /// A system call failed.
    Io {
        /// The operation.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The sweep was interrupted; finished runs are kept.
    Interrupted {
        /// Number of finished runs.
        done: usize,
        /// Number of all runs.
        total: usize,
    },
}

impl std::fmt::Display for GridError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GridError::Scenario { cell, errors } => write!(f, "with {}:\n{}", cell.join(", "), errors.render(false)),
            GridError::TooLarge { cells, message, help } => {
                write!(f, "a grid of {} cells: {message}\n  {help}", units::grouped(*cells))
            }
            GridError::Axis { axis } if axis == "run.replications" => {
                write!(f, "run.replications cannot differ between cells\n  give --replications for all of them")
            }
            GridError::Axis { axis } => write!(
                f,
                "{axis} has no effect: another axis sets the same key\n  give each key one axis with all its values"
            ),
            GridError::Search { reason } => f.write_str(reason),
            GridError::Study(error) => error.fmt(f),
            GridError::Occupied { path } => write!(
                f,
                "{} is not a result of this sweep: it is something else, or the scenario, an input or the program has \
                 changed since\n  choose another --out, or remove it",
                path.display()
            ),
            GridError::Io { what, path, source } => {
                write!(f, "cannot {what} {}: {source}\n  {}", path.display(), remedy(source))
            }
            GridError::Interrupted { done, total } => {
                write!(f, "interrupted after {done} of {total} runs\n  run the same command again to continue")
            }
        }
    }
}

impl std::error::Error for GridError {}
