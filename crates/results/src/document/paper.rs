//! `paper.json` and `summary.json`: a paper, and its statements about several figures.

use super::super::manifest::FileRecord;
use super::{Document, Spread, UnderChoice};
use serde::{Deserialize, Serialize};

/// A paper whose figures were run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paper {
    /// Title of the paper.
    pub title: String,
    /// Authors.
    pub authors: Vec<String>,
    /// Year of publication.
    pub year: Option<u64>,
    /// Publisher.
    pub publisher: Option<String>,
    /// Figures and statements that are not checked.
    pub missing: Vec<MissingPart>,
    /// Counts of the statements; set after all figures were run.
    pub count: Option<Count>,
    /// Notes on the paper, as Markdown.
    pub notes: String,
}

impl Document for Paper {
    const FORMAT: &'static str = "tailback paper";
    const VERSION: u64 = 1;
    const FILE: &'static str = "paper.json";
    const KEYS: &'static [&'static str] = &["title", "authors", "missing", "notes"];
}

/// A part of a paper that is not checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingPart {
    /// Name of the part.
    pub name: String,
    /// Reason for not checking it.
    pub why: String,
}

/// Counts of the statements of a figure or of a paper, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Whether the short form was run.
    pub short_form: bool,
    /// Statements of the paper.
    pub paper: CountPart,
    /// Our own statements.
    pub ours: CountPart,
}

/// Counts of statements and of the measurements they are judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountPart {
    /// The statements.
    pub statements: Counts,
    /// The measurements.
    pub measurements: Counts,
}

/// Counts of verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Numbers and trends that agree.
    pub agree: usize,
    /// Numbers and trends that disagree.
    pub disagree: usize,
    /// All others.
    pub undetermined: usize,
}

/// Statements of a paper about several figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperSummary {
    /// Title of the paper.
    pub title: String,
    /// Whether the short form was run.
    pub short_form: bool,
    /// Tables of variants by figures.
    pub matrices: Vec<MatrixDocument>,
    /// The sentences and their verdicts.
    pub sentences: Vec<SentenceRecord>,
    /// The files beside it; older versions listed none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<FileRecord>>,
}

impl Document for PaperSummary {
    const FORMAT: &'static str = "tailback summary of a paper";
    const VERSION: u64 = 1;
    const FILE: &'static str = "summary.json";
    const KEYS: &'static [&'static str] = &["title", "matrices", "sentences"];
}

/// A table of one quantity: variants by figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatrixDocument {
    /// Title of the table.
    pub title: String,
    /// The quantity.
    pub quantity: String,
    /// Unit of the quantity.
    pub unit: String,
    /// The columns.
    pub figures: Vec<String>,
    /// The rows.
    pub rows: Vec<MatrixRow>,
}

/// A row of a matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatrixRow {
    /// The variant.
    pub variant: String,
    /// Measured values, by figure.
    pub cells: Vec<Option<Spread>>,
}

/// A sentence about several figures and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentenceRecord {
    /// The variant it is about.
    pub of: String,
    /// The sentence.
    pub says: String,
    /// The criterion, in words.
    pub measure: String,
    /// Source of the sentence.
    pub source: Option<String>,
    /// The quantity; empty if there are several criteria.
    pub quantity: String,
    /// The figures it was judged by.
    pub figures: Vec<String>,
    /// Several quantities, if the sentence is about all of them.
    pub criteria: Vec<String>,
    /// The comparison: `=`, `<`, `<=`, `>` or `>=`.
    pub op: String,
    /// The bound.
    pub value: f64,
    /// The upper bound, for a sentence with two bounds.
    pub most: Option<f64>,
    /// Expected value, for humans.
    pub expected_text: String,
    /// Measured value, for humans.
    pub measured_text: String,
    /// Measured values.
    pub measured: Option<Spread>,
    /// The statement that it is evidence for.
    #[serde(default)]
    pub statement: Option<String>,
    /// The verdict.
    pub verdict: String,
    /// Reason for an undetermined verdict; `None` if it is determined.
    pub reason: Option<String>,
    /// The verdict under the default reading.
    pub own_reading: String,
    /// Readings that lead to another verdict.
    pub otherwise: Vec<UnderChoice>,
}
