//! Scenarios: loaded, checked, explained and run.

use crate::error::{of_scenario, other};
use crate::json;
use crate::result::Result;
use crate::session::Simulation;
use crate::watch::{Told, watched};
use ::scenario::fluid::FluidPlan;
use ::scenario::{Disk, Errors, Limits, Plan};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use study::{Existing, Options, Recording, Session};
use tempfile::TempDir;

/// Name of a scenario that is no file.
const TEXT: &str = "<scenario>";

/// Where a scenario comes from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// A text.
    Text(String),
}

/// A scenario without mistakes.
#[pyclass(frozen, module = "tailback")]
pub struct Scenario {
    origin: Origin,
    overrides: Vec<String>,
    plan: Plan,
}

impl Scenario {
    fn plan_of(origin: &Origin, overrides: &[String]) -> std::result::Result<Plan, Errors> {
        match origin {
            Origin::File(path) => ::scenario::load(path, overrides),
            Origin::Text(text) => ::scenario::load_str(TEXT, text, overrides, &Disk, Limits::default()),
        }
    }

    /// The scenario as a file: its own, or one in a temporary folder, which goes with the second value.
    pub fn file(&self) -> PyResult<(PathBuf, Option<TempDir>)> {
        match &self.origin {
            Origin::File(path) => Ok((path.clone(), None)),
            Origin::Text(text) => {
                let folder = TempDir::new().map_err(other)?;
                let path = folder.path().join("scenario.toml");
                std::fs::write(&path, text).map_err(other)?;
                Ok((path, Some(folder)))
            }
        }
    }

    pub fn overrides(&self) -> &[String] {
        &self.overrides
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

#[pymethods]
impl Scenario {
    /// Loads a scenario file, or a text, with overrides of the form `key=value`.
    #[new]
    #[pyo3(signature = (file=None, text=None, overrides=Vec::new()))]
    fn new(py: Python<'_>, file: Option<PathBuf>, text: Option<String>, overrides: Vec<String>) -> PyResult<Scenario> {
        let origin = match (file, text) {
            (Some(file), None) => Origin::File(file),
            (None, Some(text)) => Origin::Text(text),
            _ => return Err(other("give a file or a text")),
        };
        let plan = py.detach(|| Scenario::plan_of(&origin, &overrides));
        let plan = plan.map_err(|errors| of_scenario(py, &errors))?;
        Ok(Scenario { origin, overrides, plan })
    }

    /// Returns the scenario with more overrides.
    fn changed(&self, py: Python<'_>, overrides: Vec<String>) -> PyResult<Scenario> {
        let all: Vec<String> = self.overrides.iter().cloned().chain(overrides).collect();
        let plan = py.detach(|| Scenario::plan_of(&self.origin, &all)).map_err(|errors| of_scenario(py, &errors))?;
        Ok(Scenario { origin: self.origin.clone(), overrides: all, plan })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.plan.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.plan.description
    }

    fn __repr__(&self) -> String {
        let (hosts, flows) = (self.plan.spec.graph.hosts().len(), self.plan.spec.flows.len());
        format!("<tailback.Scenario {}: {hosts} hosts, {flows} flows>", self.plan.name)
    }

    /// Returns every value of the scenario and its source, as `tailback explain` prints them.
    fn explain(&self) -> String {
        ::scenario::explain(&self.plan)
    }

    /// Returns the findings of the static checks, the most severe first.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let findings = py.detach(|| ::scenario::check(&self.plan));
        let records: Vec<_> = findings.iter().map(study::check_record).collect();
        json::object(py, &serde_json::to_value(records).map_err(other)?)
    }

    /// Returns the paths and their quality, as `tailback routes --json` prints them.
    fn routes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (survey, can_deadlock) = py.detach(|| study::survey_routes(&self.plan));
        let record = study::routes_record(&survey, can_deadlock);
        json::object(py, &serde_json::to_value(record).map_err(other)?)
    }

    /// Runs the scenario. See `tailback.Scenario.run` in the package.
    #[pyo3(signature = (threads=None, out=None, overwrite=false, record=true, progress=None))]
    fn _run(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        out: Option<PathBuf>,
        overwrite: bool,
        record: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Result> {
        let plan = &self.plan;
        let temporary = match (record, &out) {
            (true, None) => Some(TempDir::new().map_err(other)?),
            _ => None,
        };
        let place = out.or_else(|| temporary.as_ref().map(|folder| folder.path().join("result")));
        let existing = if overwrite { Existing::Replace } else { Existing::Refuse };
        let recording = place.filter(|_| record).map(|out| Recording { out, existing });
        let told = Told::default();
        told.total.store(plan.run.duration.as_picos(), Ordering::Relaxed);
        let (execution, raised) = watched(py, progress.as_ref(), &told, || {
            let options = Options {
                threads: threads.or(plan.run.threads).unwrap_or_else(study::cores),
                interrupt: &told.interrupt,
                time_up: None,
                record: recording.as_ref(),
                capture: None,
            };
            study::execute(plan, &options, |seen| {
                let now = seen.now.saturating_since(units::Time::ZERO);
                told.done.store(now.as_picos(), Ordering::Relaxed);
            })
        });
        // An interrupted run ends with what was recorded, and says that it was interrupted.
        if let Some(error) = raised.filter(|error| !error.is_instance_of::<PyKeyboardInterrupt>(py)) {
            return Err(error);
        }
        let execution = execution.map_err(other)?;
        let record = study::run_record(plan, &execution, &execution.judgements);
        let summary = serde_json::to_value(record).map_err(other)?;
        Ok(Result::new(summary, execution.recorded, temporary.map(Arc::new)))
    }

    /// Builds the network for a run in steps.
    #[pyo3(signature = (threads=None))]
    fn start(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<Simulation> {
        let threads = threads.or(self.plan.run.threads).unwrap_or_else(study::cores);
        let session = py.detach(|| Session::start(self.plan.clone(), threads)).map_err(other)?;
        Ok(Simulation::new(session))
    }

    /// Returns what `tailback stability --json` says of the control loop.
    fn stability<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = py.detach(|| -> std::result::Result<serde_json::Value, String> {
            let fluid = self.plan.fluid.clone().unwrap_or_else(|| FluidPlan::of(&self.plan));
            let fluid = fluid.map_err(|error| error.to_string())?;
            let analysis = study::stability::analyse(&fluid).map_err(|error| error.to_string())?;
            let document = analysis.document(&self.plan.name, &fluid, &study::stability::Parts::default());
            serde_json::to_value(document).map_err(|error| error.to_string())
        });
        json::object(py, &found.map_err(other)?)
    }
}

/// Whether a path is a result of Tailback.
pub fn is_result(path: &Path) -> bool {
    path.join("manifest.json").is_file()
}
