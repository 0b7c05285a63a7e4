//! Scenarios: loaded, checked, explained and run.

use crate::error::{DICTIONARY, of_scenario, other};
use crate::json;
use crate::list::List;
use crate::reaction;
use crate::result::Result;
use crate::session::Simulation;
use crate::watch::{Told, watched};
use ::scenario::fluid::FluidPlan;
use ::scenario::{Disk, Errors, FileReader, Limits, Plan};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use study::{Execution, Existing, Options, Recording, Session, StudyError};
use tempfile::TempDir;
use units::Span;

/// Name of a scenario that is no file.
const TEXT: &str = "<scenario>";

/// Where a scenario comes from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// A text, or what was written for a dictionary.
    Text { name: &'static str, text: String },
    /// The texts of its files, the scenario first: one that was pickled.
    Texts(Vec<(String, String)>),
}

/// The files of a scenario that was pickled.
struct Texts<'a>(&'a [(String, String)]);

impl FileReader for Texts<'_> {
    fn read(&self, path: &Path) -> std::result::Result<String, String> {
        let found = self.0.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| text.clone()).ok_or_else(|| "it is not among the files of the pickled scenario".into())
    }
}

/// A scenario as a file. A temporary folder goes with this value.
pub struct ScenarioFile {
    pub path: PathBuf,
    /// Name of the text that was written for a dictionary: this file, if it was.
    pub dictionary: String,
    _folder: Option<TempDir>,
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
            Origin::Text { name, text } => ::scenario::load_str(name, text, overrides, &Disk, Limits::default()),
            Origin::Texts(texts) => {
                let (name, text) = texts.first().map_or((TEXT, ""), |(name, text)| (name, text));
                ::scenario::load_str(name, text, overrides, &Texts(texts), Limits::default())
            }
        }
    }

    /// The scenario as a file.
    pub fn file(&self) -> PyResult<ScenarioFile> {
        if let Origin::File(path) = &self.origin {
            return Ok(ScenarioFile { path: path.clone(), dictionary: DICTIONARY.to_owned(), _folder: None });
        }
        let folder = TempDir::new().map_err(other)?;
        let path = folder.path().join("scenario.toml");
        std::fs::write(&path, self.text()?.1).map_err(other)?;
        Ok(self.written(path, Some(folder)))
    }

    /// The scenario as a file that stays: its own, or one beside a directory of results whose files are based on it.
    pub fn file_in(&self, out: &Path) -> PyResult<ScenarioFile> {
        if let Origin::File(_) = &self.origin {
            return self.file();
        }
        let (_, text) = self.text()?;
        let mut path = out.as_os_str().to_owned();
        path.push(".toml");
        let path = PathBuf::from(path);
        let folder = out.parent().unwrap_or(out);
        std::fs::create_dir_all(folder)
            .map_err(|error| other(format!("cannot create {}: {error}", folder.display())))?;
        let mut new = std::fs::OpenOptions::new();
        match new.write(true).create_new(true).open(&path).and_then(|mut file| file.write_all(text.as_bytes())) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let known = files::read_text(&path, text.len() as u64).unwrap_or_default();
                if known != *text {
                    return Err(other(format!("{} is another scenario\n  give another out=", path.display())));
                }
            }
            Err(error) => return Err(other(format!("cannot write {}: {error}", path.display()))),
        }
        Ok(self.written(path, None))
    }

    fn written(&self, path: PathBuf, folder: Option<TempDir>) -> ScenarioFile {
        let is_dictionary = self.text().is_ok_and(|(name, _)| name == DICTIONARY);
        let written = path.to_string_lossy().into_owned();
        let dictionary = if is_dictionary { written } else { DICTIONARY.to_owned() };
        ScenarioFile { path, dictionary, _folder: folder }
    }

    /// Name and text of a scenario that is one text.
    fn text(&self) -> PyResult<(&str, &String)> {
        match &self.origin {
            Origin::Text { name, text } => Ok((name, text)),
            Origin::Texts(texts) if texts.len() == 1 => Ok((&texts[0].0, &texts[0].1)),
            Origin::Texts(_) | Origin::File(_) => {
                let text = "studies of many runs read the files of a scenario, and one that was pickled has none: load it \
                            from its path";
                Err(other(text))
            }
        }
    }

    /// Returns the scenario with more overrides.
    pub fn changed(&self, py: Python<'_>, overrides: Vec<String>) -> PyResult<Scenario> {
        let all: Vec<String> = self.overrides.iter().cloned().chain(overrides).collect();
        let plan = py.detach(|| Scenario::plan_of(&self.origin, &all)).map_err(|errors| of_scenario(py, &errors))?;
        Ok(Scenario { origin: self.origin.clone(), overrides: all, plan })
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
    /// Loads a scenario file, a text, or the text of a dictionary, with overrides of the form `key=value`.
    #[new]
    #[pyo3(signature = (file=None, text=None, dictionary=None, overrides=List(Vec::new())))]
    fn new(
        py: Python<'_>,
        file: Option<PathBuf>,
        text: Option<String>,
        dictionary: Option<String>,
        overrides: List<String>,
    ) -> PyResult<Scenario> {
        let List(overrides) = overrides;
        let origin = match (file, text, dictionary) {
            (Some(file), None, None) => Origin::File(file),
            (None, Some(text), None) => Origin::Text { name: TEXT, text },
            (None, None, Some(text)) => Origin::Text { name: DICTIONARY, text },
            _ => return Err(other("give a file, a text or a dictionary")),
        };
        let plan = py.detach(|| Scenario::plan_of(&origin, &overrides));
        let plan = plan.map_err(|errors| of_scenario(py, &errors))?;
        Ok(Scenario { origin, overrides, plan })
    }

    /// Returns the scenario with more overrides.
    #[pyo3(name = "changed")]
    fn changed_in_python(&self, py: Python<'_>, overrides: List<String>) -> PyResult<Scenario> {
        self.changed(py, overrides.0)
    }

    /// The texts of its files and its overrides, for pickling.
    fn _texts(&self) -> (Vec<(String, String)>, Vec<String>) {
        let inputs = self.plan.inputs().map(|input| (input.file.clone(), input.text.to_owned())).collect();
        (inputs, self.plan.overrides().collect())
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
    #[pyo3(signature = (threads=None, out=None, overwrite=false, record=true, why=false, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "all are named in Python")]
    fn _run(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        out: Option<PathBuf>,
        overwrite: bool,
        record: bool,
        why: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Result> {
        finished(py, self.plan.run.duration, Told::default(), (out, overwrite, record), progress, |options, see| {
            let mut plan = self.plan.clone();
            plan.probes.causes |= why;
            let options = Options { threads: threads.or(plan.run.threads).unwrap_or_else(study::cores), ..*options };
            let execution = study::execute(&plan, &options, see)?;
            Ok((plan, execution))
        })
    }

    /// Builds the network for a run in steps.
    #[pyo3(signature = (threads=None, record=false, reaction=None))]
    fn start(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        record: bool,
        reaction: Option<Py<PyAny>>,
    ) -> PyResult<Simulation> {
        if let Some(make) = reaction {
            // One thread: the interpreter's lock admits no more.
            let mut plan = self.plan.clone();
            let trouble = reaction::replace(&mut plan.spec, make);
            let session = py.detach(|| Session::start(plan, 1, record)).map_err(other)?;
            return match trouble.error(py) {
                Some(error) => Err(error),
                None => Ok(Simulation::with_python(session, trouble)),
            };
        }
        let threads = threads.or(self.plan.run.threads).unwrap_or_else(study::cores);
        let session = py.detach(|| Session::start(self.plan.clone(), threads, record)).map_err(other)?;
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

/// A scenario that was pickled.
#[pyfunction]
pub fn from_texts(py: Python<'_>, texts: List<(String, String)>, overrides: List<String>) -> PyResult<Scenario> {
    let (origin, List(overrides)) = (Origin::Texts(texts.0), overrides);
    let plan = py.detach(|| Scenario::plan_of(&origin, &overrides)).map_err(|errors| of_scenario(py, &errors))?;
    Ok(Scenario { origin, overrides, plan })
}

/// Runs something to its end, watched by Python, and returns its result. Without a place, tables are in a temporary
/// directory that goes with the result.
pub fn finished(
    py: Python<'_>,
    duration: Span,
    told: Told,
    (out, overwrite, record): (Option<PathBuf>, bool, bool),
    progress: Option<Py<PyAny>>,
    run: impl FnOnce(
        &Options<'_>,
        &mut (dyn FnMut(fabric::Progress) + Send),
    ) -> std::result::Result<(Plan, Execution), StudyError>
    + Send,
) -> PyResult<Result> {
    let temporary = match (record, &out) {
        (true, None) => Some(TempDir::new().map_err(other)?),
        _ => None,
    };
    let place = out.or_else(|| temporary.as_ref().map(|folder| folder.path().join("result")));
    let existing = if overwrite { Existing::Replace } else { Existing::Refuse };
    let recording = place.filter(|_| record).map(|out| Recording { out, existing });
    told.total.store(duration.as_picos(), Ordering::Relaxed);
    let (execution, raised) = watched(py, progress.as_ref(), &told, || {
        let options = Options { interrupt: &told.interrupt, record: recording.as_ref(), ..Options::default() };
        run(&options, &mut |seen| {
            told.done.store(seen.now.saturating_since(units::Time::ZERO).as_picos(), Ordering::Relaxed);
        })
    });
    // An interrupted run ends with what was recorded, and says that it was interrupted.
    if let Some(error) = raised.filter(|error| !error.is_instance_of::<PyKeyboardInterrupt>(py)) {
        return Err(error);
    }
    let (plan, execution) = execution.map_err(other)?;
    let record = study::run_record(&plan, &execution, &execution.judgements);
    let summary = serde_json::to_value(record).map_err(other)?;
    Ok(Result::new(summary, execution.recorded, temporary.map(Arc::new)))
}

/// Whether a path is a result of Tailback.
pub fn is_result(path: &Path) -> bool {
    path.join("manifest.json").is_file()
}
