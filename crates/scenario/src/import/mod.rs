//! Files of other simulators and of switches, converted to scenarios.
//!
//! A conversion reads texts and returns texts: a scenario, the CSV file of its flows, and a note for every part of the
//! input that has no counterpart. It accesses no file. A mistake is reported with file, line and remedy, and nothing is
//! returned.

pub mod chakra;
pub mod drawing;
pub mod goal;
pub mod hpcc;
pub mod htsim;
pub mod infiniband;
mod operations;
pub mod sonic;
mod wiring;
mod words;
mod write;

pub(crate) use write::quoted;

use crate::problem::{Errors, Problem};
use crate::source::{Place, SourceKind, Sources};

/// A text and the name of its file.
#[derive(Clone, Copy, Debug)]
pub struct NamedText<'a> {
    /// Path, as the user gave it.
    pub name: &'a str,
    /// Whole text.
    pub text: &'a str,
}

/// A converted scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The scenario, as TOML.
    pub scenario: String,
    /// The file of flows that it names, as CSV; empty if it names none.
    pub flows: String,
    /// What has no exact counterpart.
    pub notes: Vec<Note>,
    /// Number of hosts, switches and flows.
    pub counts: [usize; 3],
}

/// A part of the input without an exact counterpart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Key or part of the input.
    pub key: String,
    /// What it means for the result.
    pub meaning: String,
}

/// Maximum number of problems that are reported.
const MOST_PROBLEMS: usize = 20;

/// A conversion under way: its texts, problems and notes.
#[derive(Debug, Default)]
struct Work {
    sources: Sources,
    problems: Vec<Problem>,
    notes: Vec<Note>,
}

impl Work {
    fn add(&mut self, text: NamedText<'_>) -> u32 {
        self.sources.add(text.name.to_owned(), SourceKind::Data, text.text.to_owned())
    }

    fn refuse(&mut self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem::new(place, message, help));
    }

    /// Whether so much is wrong that the rest need not be read.
    fn is_hopeless(&self) -> bool {
        self.problems.len() >= MOST_PROBLEMS
    }

    fn note(&mut self, key: &str, meaning: impl Into<String>) {
        self.notes.push(Note { key: key.to_owned(), meaning: meaning.into() });
    }

    /// The errors, if there are any.
    fn checked(&mut self) -> Result<(), Errors> {
        if self.problems.is_empty() {
            return Ok(());
        }
        Err(Errors::new(std::mem::take(&mut self.sources), std::mem::take(&mut self.problems)))
    }
}
