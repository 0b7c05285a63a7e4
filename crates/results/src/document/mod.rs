//! Documents: the JSON files of sweeps, comparisons, figures, papers and analyses.
//!
//! Each has one definition, which its writer and its readers share, and states its format, its version and the hash of its
//! own text. A document that was edited or damaged is refused; documents from before there were hashes are read
//! unverified.

mod comparison;
mod figure;
mod judgement;
mod paper;
mod run;
mod stability;
mod sweep;

pub use comparison::{ComparedRun, Comparison, ComparisonRow};
pub use figure::{
    Chart, ChartGroup, ChartLine, ChartPoint, ChartVariant, Choice, Figure, FigureCell, FigureRun, NumberFinding,
    Program, Ruling, TrendFinding, TrendLine, TrendMedian, UnderChoice,
};
pub use judgement::{Judgement, Spread, SpreadWithInterval};
pub use paper::{
    Count, CountPart, Counts, MatrixDocument, MatrixRow, MissingPart, Paper, PaperSummary, SentenceRecord,
};
pub use run::{RunRecord, ThroughputRecord, WorkloadRecord};
pub use stability::Stability;
pub use sweep::{Sweep, SweepCell, SweepRun};

use super::error::ResultsError;
use super::hash::{is_hashed, with_hash};
use super::own::Kind;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;

/// A kind of document.
pub trait Document: Serialize + DeserializeOwned {
    /// What it calls itself.
    const FORMAT: &'static str;
    /// Its version; a reader refuses later ones.
    const VERSION: u64;
    /// Its name in its directory.
    const FILE: &'static str;
    /// Keys by which one of before there were formats is known.
    const KEYS: &'static [&'static str];
    /// Whether one without a hash is refused: there never were any.
    const ALWAYS_HASHED: bool = false;

    /// The document as it lies on the disk.
    #[must_use]
    fn to_text(&self) -> String {
        let mut value = self.to_json();
        value["format"] = json!(Self::FORMAT);
        value["schema_version"] = json!(Self::VERSION);
        with_hash(&(serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"))
    }

    /// The document for programs, as `--json` prints it.
    #[must_use]
    fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Reads the document in a directory, under its usual name; `None` if there is none.
    ///
    /// # Errors
    /// If it was changed or damaged, or is of another kind or a later version.
    fn read(directory: &Path) -> Result<Option<Self>, ResultsError> {
        Self::read_named(directory, Self::FILE)
    }

    /// Reads the document of that name in a directory; `None` if there is none.
    ///
    /// # Errors
    /// If it was changed or damaged, or is of another kind or a later version.
    fn read_named(directory: &Path, name: impl AsRef<Path>) -> Result<Option<Self>, ResultsError> {
        let path = directory.join(name.as_ref());
        match files::read_inside(directory, name) {
            Ok(text) => Self::from_text(&text, &path).map(Some),
            Err(error) if files::is_missing(&error) => Ok(None),
            Err(error) => Err(ResultsError::io("read", &path, error)),
        }
    }

    /// Reads a document; `path` is what errors call it.
    ///
    /// # Errors
    /// As [`Document::read`].
    fn from_text(text: &str, path: &Path) -> Result<Self, ResultsError> {
        let changed = |reason: String| ResultsError::Changed { path: path.to_owned(), reason };
        let hashed = is_hashed(text);
        if hashed == Some(false) {
            return Err(changed("its SHA-256 differs from the one it states: it was damaged or edited".into()));
        }
        let value: Value = serde_json::from_str(text).map_err(|error| changed(format!("it is damaged: {error}")))?;
        match value["format"].as_str() {
            Some(format) if format != Self::FORMAT => {
                return Err(changed(format!("it says that it is a {format}, not a {}", Self::FORMAT)));
            }
            _ if hashed.is_none() && (Self::ALWAYS_HASHED || value["format"].is_string()) => {
                return Err(changed("it does not state its own SHA-256: it was damaged or edited".into()));
            }
            _ => {}
        }
        if let Some(found) = value["schema_version"].as_u64().filter(|found| *found > Self::VERSION) {
            return Err(ResultsError::Newer { path: path.to_owned(), found });
        }
        serde_json::from_value(value).map_err(|error| changed(format!("it is not a {}: {error}", Self::FORMAT)))
    }

    /// Whether one may be written into a directory: before a long run rather than after it.
    ///
    /// # Errors
    /// If a file that is not ours is in the way.
    fn may_go_to(directory: &Path) -> Result<(), ResultsError> {
        Kind::Json(Self::KEYS).may_go_to(&directory.join(Self::FILE), false)
    }

    /// Writes it into a directory, under its usual name.
    ///
    /// # Errors
    /// If a file that is not ours is in the way, or the system refuses.
    fn write(&self, directory: &Path) -> Result<(), ResultsError> {
        std::fs::create_dir_all(directory).map_err(|error| ResultsError::io("create", directory, error))?;
        Kind::Json(Self::KEYS).write(&directory.join(Self::FILE), false, self.to_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison() -> Comparison {
        Comparison {
            name: "victim".into(),
            key: "protocol.name".into(),
            runs: vec![ComparedRun { value: "qcn".into(), folder: "qcn".into() }],
            rows: Vec::new(),
        }
    }

    #[test]
    fn a_document_comes_back_as_it_was() {
        let scratch = tempfile::tempdir().expect("there is room");
        assert_eq!(Comparison::read(scratch.path()).expect("nothing is there"), None);
        comparison().write(scratch.path()).expect("it can be written");
        comparison().write(scratch.path()).expect("ours is replaced");
        assert_eq!(Comparison::read(scratch.path()).expect("it is there"), Some(comparison()));
    }

    #[test]
    fn an_edited_document_is_refused_and_an_old_one_is_not() {
        let path = Path::new("compare.json");
        let text = comparison().to_text();
        let refused = |text: &str| Comparison::from_text(text, path).expect_err("it was changed").to_string();
        assert!(refused(&text.replace("victim", "culprit")).contains("SHA-256"));
        let unhashed: String =
            text.lines().filter(|line| !line.contains("\"hash\"")).map(|l| l.to_owned() + "\n").collect();
        assert!(refused(&unhashed).contains("does not state its own SHA-256"));
        assert!(refused(&with_hash(&unhashed.replace("tailback comparison", "tailback sweep"))).contains("sweep"));
        assert!(refused(&with_hash(&unhashed.replace("\"key\"", "\"kez\""))).contains("not a tailback comparison"));
        assert!(refused(&text[..text.len() / 2]).contains("compare.json"));
        let newer = with_hash(&unhashed.replace("\"schema_version\": 1", "\"schema_version\": 9"));
        assert!(matches!(Comparison::from_text(&newer, path), Err(ResultsError::Newer { found: 9, .. })));
        let old = serde_json::to_string_pretty(&comparison()).expect("JSON");
        assert_eq!(Comparison::from_text(&old, path).expect("of before there were hashes"), comparison());
    }
}
