//! `paper.json` and `summary.json`: a paper, and what it says of its figures together.

use super::{Document, Spread, UnderChoice};
use serde::{Deserialize, Serialize};

/// A paper whose figures were run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paper {
    /// Its title.
    pub title: String,
    /// Who wrote it.
    pub authors: Vec<String>,
    /// When.
    pub year: Option<u64>,
    /// Where it appeared.
    pub publisher: Option<String>,
    /// Figures and statements that are not checked.
    pub missing: Vec<MissingPart>,
    /// Its statements, counted, once all figures were run.
    pub count: Option<Count>,
    /// Our notes on it, as Markdown.
    pub notes: String,
}

impl Document for Paper {
    const FORMAT: &'static str = "tailback paper";
    const VERSION: u64 = 1;
    const FILE: &'static str = "paper.json";
    const KEYS: &'static [&'static str] = &["title", "authors", "missing", "notes"];
}

/// Something of a paper that is not checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingPart {
    /// What.
    pub name: String,
    /// Why not.
    pub why: String,
}

/// Statements of a figure or of a paper, counted once each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Whether the short form was run.
    pub short_form: bool,
    /// Those of the paper.
    pub paper: CountPart,
    /// Those of our own.
    pub ours: CountPart,
}

/// Some statements and the measurements they are judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountPart {
    /// The statements.
    pub statements: Counts,
    /// Their measurements.
    pub measurements: Counts,
}

/// How many of some verdicts there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Numbers that agree and trends that do.
    pub agree: usize,
    /// Those that disagree.
    pub disagree: usize,
    /// All others.
    pub undetermined: usize,
}

/// What a paper says of its figures together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperSummary {
    /// The title of the paper.
    pub title: String,
    /// Whether the short form was run.
    pub short_form: bool,
    /// Tables of variants by figures.
    pub matrices: Vec<MatrixDocument>,
    /// Its sentences, judged.
    pub sentences: Vec<SentenceRecord>,
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
    /// Its title.
    pub title: String,
    /// The quantity.
    pub quantity: String,
    /// Its unit.
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
    /// What was measured in each figure.
    pub cells: Vec<Option<Spread>>,
}

/// A sentence about several figures, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentenceRecord {
    /// The variant it is about.
    pub of: String,
    /// The sentence.
    pub says: String,
    /// How it is judged, in words.
    pub measure: String,
    /// Where it stands.
    pub source: Option<String>,
    /// The quantity; empty where several criteria say what is measured.
    pub quantity: String,
    /// The figures it was judged by.
    pub figures: Vec<String>,
    /// Several quantities, where the sentence is about all of them.
    pub criteria: Vec<String>,
    /// How it is compared: `=`, `<`, `<=`, `>` or `>=`.
    pub op: String,
    /// With what.
    pub value: f64,
    /// And with what from above, for a sentence with two bounds.
    pub most: Option<f64>,
    /// What is expected, for people.
    pub expected_text: String,
    /// What was measured, for people.
    pub measured_text: String,
    /// What was measured.
    pub measured: Option<Spread>,
    /// The statement it is evidence for.
    #[serde(default)]
    pub statement: Option<String>,
    /// The verdict.
    pub verdict: String,
    /// Why nothing is determined; none if something is.
    pub reason: Option<String>,
    /// The verdict under our own reading.
    pub own_reading: String,
    /// The readings that lead to another verdict.
    pub otherwise: Vec<UnderChoice>,
}
