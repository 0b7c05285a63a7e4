//! The JSON files of sweeps, comparisons, figures, papers and analyses.
//!
//! Each document has one definition, shared by its writer and readers, and states its format, its version and its own
//! hash. Modified or damaged documents are refused; older documents without hashes are read unverified.

mod comparison;
mod discovered;
mod exported;
mod faults;
mod figure;
mod judgement;
mod network;
mod paper;
mod plan;
mod run;
mod runs;
mod stability;
mod sweep;
mod tune;

pub use comparison::{ComparedRun, Comparison, ComparisonRow, FinishedRun, UnfinishedComparison};
pub use discovered::{
    CheckRecord, ConfigurationRecord, DcbxApplication, DcbxApplications, DcbxClass, DcbxEts, DcbxFinding, DcbxPfc,
    DcbxPortRecord, DcbxRecord, DcbxState, DcbxStepRecord, RoutesRecord, SpbRecord, SpbStepRecord, SpbTreeRecord,
};
pub use exported::Exported;
pub use faults::{FaultEffect, Faults, RankedFault};
pub use figure::{
    Chart, ChartGroup, ChartLine, ChartPoint, ChartVariant, Choice, Figure, FigureCell, FigureRun, NumberFinding,
    Program, Ruling, TrendFinding, TrendLine, TrendMedian, UnderChoice,
};
pub use judgement::{JudgementRecord, Spread, SpreadWithInterval};
pub use network::{BufferKind, Network, NetworkBuffers, NetworkClass, NetworkFault, NetworkFlows, NetworkNodes};
pub use paper::{
    Count, CountPart, Counts, MatrixDocument, MatrixRow, MissingPart, Paper, PaperSummary, SentenceRecord,
};
pub use plan::{PlanEntry, PlanRecord};
pub use run::{
    CollectiveRecord, PercentilesRecord, RecoveryRecord, RequestRecord, RunRecord, SizeBinRecord, ThroughputRecord,
    WorkloadRecord,
};
pub use runs::Runs;
pub use stability::{
    Both, ConditionRecord, Contour, CycleRecord, Equilibrium, MapAxisRecord, PacketsBesideFluid, QueueBehaviour,
    QueueSwing, RateBehaviour, RateSwing, SampledLoops, SharesRecord, Stability, StabilityLoop, StabilityMap,
    StatedNumber, Theorem2, Theorem3, Theorem3At, TrajectoryRecord, UnequalPrediction,
};
pub use sweep::{Sweep, SweepCell, SweepRun};
pub use tune::{Tune, TuneCandidate, TuneGoal, TunedKey};

use super::error::ResultsError;
use super::hash::{is_hashed, with_hash};
use super::replaceable::Kind;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;

/// A kind of document.
pub trait Document: Serialize + DeserializeOwned {
    /// Name of the format.
    const FORMAT: &'static str;
    /// Version of the format; readers refuse later versions.
    const VERSION: u64;
    /// Default file name.
    const FILE: &'static str;
    /// Keys that identify older documents, which state no format.
    const KEYS: &'static [&'static str];
    /// Whether documents without a hash are refused, because no version ever wrote them.
    const ALWAYS_HASHED: bool = false;
    /// Whether all but the hash is on one line, because of long lists of numbers.
    const COMPACT: bool = false;

    /// Returns the contents of the file.
    #[must_use]
    fn to_text(&self) -> String {
        with_hash(&(self.unhashed() + "\n"))
    }

    /// Returns the contents of the file without its hash and the end of its last line.
    #[must_use]
    fn unhashed(&self) -> String {
        unhashed(self)
    }

    /// Converts the document to JSON, as printed by `--json`.
    #[must_use]
    fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Reads the document from a directory under its default name. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the document was modified or damaged, or if it has another format or a later version.
    fn read(directory: &Path) -> Result<Option<Self>, ResultsError> {
        Self::read_named(directory, Self::FILE)
    }

    /// Reads the document from a directory under the given name. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the document was modified or damaged, or if it has another format or a later version.
    fn read_named(directory: &Path, name: impl AsRef<Path>) -> Result<Option<Self>, ResultsError> {
        let path = directory.join(name.as_ref());
        match files::read_inside(directory, name) {
            Ok(text) => Self::from_text(&text, &path).map(Some),
            Err(error) if files::is_missing(&error) => Ok(None),
            Err(error) => Err(ResultsError::io("read", &path, error)),
        }
    }

    /// Parses a document. `path` is used in error messages.
    ///
    /// # Errors
    /// Returns the errors of [`Document::read`].
    fn from_text(text: &str, path: &Path) -> Result<Self, ResultsError> {
        let changed = |reason: String| ResultsError::Changed { path: path.to_owned(), reason };
        let hashed = is_hashed(text);
        if hashed == Some(false) {
            return Err(changed("its SHA-256 differs from the one it states: it was damaged or edited".into()));
        }
        let value: Value = serde_json::from_str(text).map_err(|error| changed(format!("it is damaged: {error}")))?;
        match value["format"].as_str() {
            Some(format) if format != Self::FORMAT => {
                return Err(changed(format!("its format is {format}, not {}", Self::FORMAT)));
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

    /// Checks that the document may be written into a directory. Intended to be called before a long run.
    ///
    /// # Errors
    /// Returns an error if a file exists that may not be replaced.
    fn may_go_to(directory: &Path) -> Result<(), ResultsError> {
        Kind::Json(Self::KEYS).may_go_to(&directory.join(Self::FILE), false)
    }

    /// Writes the document into a directory under its default name.
    ///
    /// # Errors
    /// Returns an error if a file exists that may not be replaced, or if a system call fails.
    fn write(&self, directory: &Path) -> Result<(), ResultsError> {
        std::fs::create_dir_all(directory).map_err(|error| ResultsError::io("create", directory, error))?;
        Kind::Json(Self::KEYS).write(&directory.join(Self::FILE), false, self.to_text())
    }
}

/// Returns the contents of a document's file by way of a tree of values.
fn unhashed<D: Document>(document: &D) -> String {
    let mut value = document.to_json();
    value["format"] = json!(D::FORMAT);
    value["schema_version"] = json!(D::VERSION);
    match D::COMPACT {
        // The hash gets a line of its own.
        true => value.to_string().replacen('{', "{\n", 1),
        false => serde_json::to_string_pretty(&value).unwrap_or_default(),
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
