//! Comparison of several recorded runs of one scenario.

use crate::run::execute::cores;
use crate::run::execute::{Execution, Existing, Options, Recording, StudyError, execute_with};
use crate::run::names::file_name;
use fabric::Progress;
use results::document::{ComparedRun, Comparison, ComparisonRow, Document};
use results::{Kind, REPORT_FILE, ResultsError};
use scenario::{Errors, Plan, load};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A comparison to be made.
#[derive(Clone, Debug)]
pub struct CompareStudy {
    /// The scenario.
    pub file: PathBuf,
    /// Overrides of all runs.
    pub overrides: Vec<String>,
    /// The key that differs.
    pub key: String,
    /// The values of the key, one for each run.
    pub values: Vec<String>,
}

/// An error of a comparison.
#[derive(Debug)]
pub enum CompareError {
    /// The scenario is invalid with a value.
    Scenario {
        /// The value.
        value: String,
        /// The problems found.
        errors: Errors,
    },
    /// A run failed, or its results could not be written.
    Study(StudyError),
    /// The comparison was interrupted; finished runs are kept.
    Interrupted,
}

impl From<ResultsError> for CompareError {
    fn from(error: ResultsError) -> CompareError {
        CompareError::Study(error.into())
    }
}

/// An event during a comparison.
#[derive(Debug)]
pub enum CompareEvent<'a> {
    /// A run begins.
    Start {
        /// Value of the key.
        value: &'a str,
        /// Plan of the run.
        plan: &'a Plan,
    },
    /// Progress of the current run.
    Progress(Progress),
    /// The current run has ended.
    End(&'a Execution),
}

impl CompareStudy {
    /// Returns the plan for one of the values.
    ///
    /// # Errors
    /// Returns all problems found.
    pub fn plan(&self, value: &str) -> Result<Plan, CompareError> {
        let mut overrides = self.overrides.clone();
        overrides.push(format!("{}={value}", self.key));
        load(&self.file, &overrides).map_err(|errors| CompareError::Scenario { value: value.to_owned(), errors })
    }

    /// Returns the name of the scenario. Loads all plans, so that a misspelt value is found before any run. Plans are
    /// not kept, because together they may not fit in memory.
    ///
    /// # Errors
    /// Returns all problems found in the first invalid plan.
    pub fn name(&self) -> Result<String, CompareError> {
        let mut name = String::new();
        for value in &self.values {
            let plan = self.plan(value)?;
            if name.is_empty() {
                // A plan of a variant is called after it; what is compared is the scenario.
                let variant = plan.figure.variant.as_ref().map(|variant| format!(", {variant}")).unwrap_or_default();
                name = plan.name.strip_suffix(variant.as_str()).unwrap_or(&plan.name).to_owned();
            }
        }
        Ok(name)
    }

    /// Checks that the comparison may be written to a directory.
    ///
    /// # Errors
    /// Returns an error if a comparison exists and `overwrite` is false, or if another file is in the way.
    pub fn may_go_to(out: &Path, overwrite: bool) -> Result<(), ResultsError> {
        Comparison::may_go_to(out)?;
        if out.join(Comparison::FILE).exists() && !overwrite {
            return Err(ResultsError::Exists { path: out.to_owned() });
        }
        for name in ["throughput.svg", "throughput.png"] {
            Kind::Picture.may_go_to(&out.join(name), false)?;
        }
        Ok(())
    }

    /// Runs and records all values, and writes `compare.json`. The document of an older comparison is removed when the
    /// first run replaces one of its runs, so that the directory never has a document of runs that are gone.
    ///
    /// # Errors
    /// Returns the first error; finished runs are kept.
    pub fn run(
        &self,
        name: &str,
        (out, existing): (&Path, Existing),
        threads: Option<usize>,
        interrupt: &AtomicBool,
        mut see: impl FnMut(CompareEvent<'_>) + Send,
    ) -> Result<(Comparison, Vec<(String, PathBuf)>), CompareError> {
        let (mut rows, mut made) = (Vec::new(), Vec::new());
        for (number, value) in self.values.iter().enumerate() {
            let plan = self.plan(value)?;
            let record = Recording { out: out.join(file_name(value, &self.values[..number])), existing };
            let options = Options {
                threads: threads.or(plan.run.threads).unwrap_or_else(cores),
                time_up: None,
                interrupt,
                record: Some(&record),
                capture: None,
            };
            see(CompareEvent::Start { value, plan: &plan });
            let progress = |seen| see(CompareEvent::Progress(seen));
            // The first run that takes the place of an older one ends the older comparison.
            let execution = execute_with(&plan, &options, progress, |_| match existing {
                Existing::Replace if number == 0 => remove_older(out),
                _ => Ok(()),
            });
            let mut execution = execution.map_err(CompareError::Study)?;
            see(CompareEvent::End(&execution));
            if let Some(error) = execution.lacking.take() {
                return Err(error.into());
            }
            if execution.report.outcome == fabric::Outcome::Interrupted {
                return Err(CompareError::Interrupted);
            }
            let totals = &execution.report.totals;
            rows.extend(execution.measures.workloads(&plan).into_iter().map(|line| ComparisonRow {
                value: value.clone(),
                workload: line.name,
                outcome: execution.measures.outcome.to_owned(),
                mean_bits_per_second: line.throughput.map(|(mean, _, _)| mean),
                least_bits_per_second: line.throughput.map(|(_, least, _)| least),
                jain_index: line.fairness,
                mean_completion_seconds: line.completion,
                pause_frames: totals.pause_frames,
                dropped_frames: totals.dropped_frames,
                fingerprint: results::hex(execution.report.fingerprint),
            }));
            made.extend(execution.recorded.map(|recorded| (value.clone(), recorded)));
        }
        let folder = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let run = |(value, path): &(String, PathBuf)| ComparedRun {
            value: value.clone(),
            folder: folder(path).unwrap_or_default(),
        };
        let (name, key, runs) = (name.to_owned(), self.key.clone(), made.iter().map(run).collect());
        let comparison = Comparison { name, key, runs, rows };
        comparison.write(out)?;
        Ok((comparison, made))
    }
}

/// Removes the document, the charts and the report of an older comparison.
fn remove_older(out: &Path) -> Result<(), ResultsError> {
    Comparison::may_go_to(out)?;
    let document = out.join(Comparison::FILE);
    if document.exists() {
        std::fs::remove_file(&document).map_err(|error| ResultsError::io("replace", &document, error))?;
    }
    for name in ["throughput.svg", "throughput.png"] {
        Kind::Picture.remove(&out.join(name));
    }
    Kind::Report.remove(&out.join(REPORT_FILE));
    Ok(())
}
