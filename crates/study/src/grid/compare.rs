//! Comparison of several recorded runs of one scenario.

use super::points::program;
use crate::run::execute::cores;
use crate::run::execute::{Execution, Existing, Options, Recording, StudyError, execute};
use crate::run::names::{file_name, usual_place};
use crate::why::{Overview, RootAnswer, WhyError, overview};
use fabric::Progress;
use fabric::graph::Graph;
use files::text::hexadecimal;
use results::document::{ComparedRun, Comparison, ComparisonRow, FinishedRun};
use results::{ComparisonPlan, ComparisonWriter, Results, ResultsError, remove_result};
use scenario::{Errors, Plan, load};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// The option that gave them, for error messages.
    pub option: &'static str,
    /// Whether all runs record causes, from which their roots and victims then come.
    pub causes: bool,
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
    Interrupted {
        /// Number of finished runs.
        done: usize,
        /// Number of all runs.
        total: usize,
    },
}

impl From<ResultsError> for CompareError {
    fn from(error: ResultsError) -> CompareError {
        CompareError::Study(error.into())
    }
}

/// A comparison whose values were all loaded, so that a misspelt one is found before any run.
#[derive(Clone, Debug)]
pub struct LoadedComparison {
    /// Name of the scenario.
    pub name: String,
    plan: ComparisonPlan,
}

/// A complete comparison.
#[derive(Debug)]
pub struct Compared {
    /// Its document.
    pub comparison: Comparison,
    /// Its directory.
    pub out: PathBuf,
    /// Outcomes of the runs.
    pub outcomes: Vec<String>,
    /// The error that prevented charts or a report, if any.
    pub lacking: Option<ResultsError>,
}

/// Functions that add files to a complete comparison before it is in its place.
pub struct Views<C, R> {
    /// Draws charts of the runs, given by value and path, into a directory.
    pub charts: C,
    /// Writes a report of the comparison in a directory.
    pub report: R,
}

/// An event during a comparison.
#[derive(Debug)]
pub enum CompareEvent<'a> {
    /// A run was finished by an earlier command and is kept.
    Kept {
        /// Value of the key.
        value: &'a str,
    },
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
        let own = format!("{}={value}", self.key);
        overrides.push(own.clone());
        let mut plan = load(&self.file, &overrides).map_err(|errors| CompareError::Scenario {
            value: value.to_owned(),
            errors: errors.given_by(&[own], self.option),
        })?;
        plan.probes.causes |= self.causes;
        Ok(plan)
    }

    /// Loads all plans. They are not kept, because together they may not fit in memory.
    ///
    /// # Errors
    /// Returns all problems found in the first invalid plan.
    pub fn load(&self) -> Result<LoadedComparison, CompareError> {
        let mut name = String::new();
        let mut digest = Sha256::new_with_prefix(results::VERSION);
        if self.causes {
            digest.update("causes");
        }
        for value in &self.values {
            let plan = self.plan(value)?;
            plan.inputs().for_each(|input| digest.update(input.sha256.as_bytes()));
            for text in plan.overrides() {
                digest.update(text.as_bytes());
                digest.update([0]);
            }
            if name.is_empty() {
                // A plan of a variant is called after it; what is compared is the scenario.
                let variant = plan.figure.variant.as_ref().map(|variant| format!(", {variant}")).unwrap_or_default();
                name = plan.name.strip_suffix(variant.as_str()).unwrap_or(&plan.name).to_owned();
            }
        }
        let run = |(number, value): (usize, &String)| ComparedRun {
            value: value.clone(),
            folder: file_name(value, &self.values[..number]),
        };
        let runs = self.values.iter().enumerate().map(run).collect();
        let plan = ComparisonPlan { identity: hexadecimal(&digest.finalize()), program: program(), runs };
        Ok(LoadedComparison { name, plan })
    }

    /// Claims the directory of the comparison, by default the first free one of `results/NAME-compared`,
    /// `results/NAME-compared-2`, ... A directory with finished runs of the same comparison is continued.
    ///
    /// # Errors
    /// Returns an error if another comparison exists and `overwrite` is false, if another process writes there, or if
    /// another file is in the way.
    pub fn claim(
        &self,
        loaded: &LoadedComparison,
        out: Option<&Path>,
        overwrite: bool,
    ) -> Result<ComparisonWriter, ResultsError> {
        match out {
            Some(out) => ComparisonWriter::open(out, overwrite, &loaded.plan),
            None => ComparisonWriter::open_numbered(&usual_place(&format!("{}-compared", loaded.name)), &loaded.plan),
        }
    }

    /// Runs and records all values that are not finished, adds charts and a report, and writes `compare.json`.
    ///
    /// # Errors
    /// Returns the first error; finished runs are kept.
    pub fn run(
        &self,
        (loaded, mut writer): (&LoadedComparison, ComparisonWriter),
        threads: Option<usize>,
        interrupt: &AtomicBool,
        views: Views<
            impl FnOnce(&[(String, PathBuf)], &Path) -> Result<(), ResultsError>,
            impl FnOnce(&Path) -> Result<(), ResultsError>,
        >,
        mut see: impl FnMut(CompareEvent<'_>) + Send,
    ) -> Result<Compared, CompareError> {
        let (mut outcomes, mut made) = (Vec::new(), Vec::new());
        let total = self.values.len();
        let stopped = |writer: &ComparisonWriter| CompareError::Interrupted { done: writer.count(), total };
        for run in &loaded.plan.runs {
            let value = run.value.as_str();
            let (out, replace) = writer.place(run);
            made.push((value.to_owned(), out.clone()));
            if let Some(finished) = writer.finished(run) {
                see(CompareEvent::Kept { value });
                outcomes.push(finished.outcome.clone());
                continue;
            }
            if interrupt.load(Ordering::Relaxed) {
                return Err(stopped(&writer));
            }
            let plan = self.plan(value)?;
            let existing = if replace { Existing::Replace } else { Existing::Refuse };
            let record = Recording { out, existing };
            let options = Options {
                threads: threads.or(plan.run.threads).unwrap_or_else(cores),
                time_up: None,
                interrupt,
                record: Some(&record),
                capture: None,
            };
            see(CompareEvent::Start { value, plan: &plan });
            let execution = execute(&plan, &options, |seen| see(CompareEvent::Progress(seen)));
            let execution = execution.map_err(CompareError::Study)?;
            see(CompareEvent::End(&execution));
            if execution.report.outcome == fabric::Outcome::Interrupted {
                if let Some(recorded) = &execution.recorded {
                    remove_result(recorded)?;
                }
                return Err(stopped(&writer));
            }
            let finished = finished(value, &plan, &execution)?;
            outcomes.push(finished.outcome.clone());
            writer.add(finished)?;
        }
        if interrupt.load(Ordering::Relaxed) {
            return Err(stopped(&writer));
        }
        let charts = |folder: &Path| (views.charts)(&made, folder);
        let (comparison, out, lacking) = writer.commit((&loaded.name, &self.key), charts, views.report)?;
        Ok(Compared { comparison, out, outcomes, lacking })
    }
}

/// Returns the name of the link that a port sends on, as scenarios spell it.
fn link_name(graph: &Graph, port: u32) -> Option<String> {
    let ports = graph.ports();
    let mut all = ports.iter().enumerate().flat_map(|(node, ends)| ends.iter().map(move |end| (node, end)));
    let (node, end) = all.nth(port as usize)?;
    Some(format!("{}->{}", graph.nodes[node].name, graph.nodes[end.peer.0 as usize].name))
}

/// Returns the causes of a recorded run, if it recorded them.
fn causes(execution: &Execution) -> Result<Option<Overview>, ResultsError> {
    let Some(recorded) = &execution.recorded else { return Ok(None) };
    match overview(&Results::open(recorded)?, usize::MAX) {
        Ok(overview) => Ok(overview),
        Err(WhyError::Results(error)) => Err(error),
        // There is always an answer to the question for the worst.
        Err(WhyError::Nothing(_)) => Ok(None),
    }
}

/// Returns the measurements of a run.
fn finished(value: &str, plan: &Plan, execution: &Execution) -> Result<FinishedRun, ResultsError> {
    let causes = causes(execution)?;
    let root = causes.as_ref().and_then(|causes| causes.roots.first());
    let victims = |workload: u32| {
        let flows = causes.as_ref()?.worst.iter().filter(|answer| answer.is_victim());
        Some(flows.filter(|answer| plan.workload_of_flow.get(answer.number as usize) == Some(workload)).count())
    };
    let (totals, extremes) = (&execution.report.totals, &execution.extremes);
    let fullest = extremes.fullest_port.and_then(|port| link_name(&plan.spec.graph, port));
    let (outcome, fingerprint) = (execution.measures.outcome.to_owned(), results::hex(execution.report.fingerprint));
    let rows = (0..).zip(execution.measures.workloads(plan)).map(|(workload, line)| ComparisonRow {
        value: value.to_owned(),
        workload: line.name,
        outcome: outcome.clone(),
        mean_bits_per_second: line.throughput.map(|(mean, _, _)| mean),
        least_bits_per_second: line.throughput.map(|(_, least, _)| least),
        jain_index: line.fairness,
        mean_completion_seconds: line.completion.map(|times| times.mean),
        slowest_completion_seconds: line.completion.map(|times| times.most),
        completed: line.completed.0,
        finite: line.completed.1,
        mean_queue_bytes: extremes.mean_queue,
        fullest_queue: fullest.clone(),
        longest_queue_bytes: extremes.longest_queue,
        paused: extremes.paused,
        pause_frames: totals.pause_frames,
        dropped_frames: totals.dropped_frames,
        victims: victims(workload),
        root: root.map(RootAnswer::name),
        root_seconds: root.map(|root| root.picoseconds as f64 / 1e12),
        fingerprint: fingerprint.clone(),
    });
    let rows = rows.collect();
    Ok(FinishedRun { value: value.to_owned(), outcome, fingerprint, rows })
}
