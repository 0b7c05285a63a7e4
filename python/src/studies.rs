//! Studies that choose their runs themselves: papers, searches for good values, campaigns of faults.

use crate::error::{of_results, of_scenario, other};
use crate::grid::of_grid;
use crate::json;
use crate::list::List;
use crate::scenario::Scenario;
use crate::watch::{Told, watched};
use ::scenario::load;
use pyo3::prelude::*;
use render::paper::write_figure;
use results::document::Document;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use study::{
    Condition, FaultStudy, FaultWishes, FigureError, FigureOptions, FigureRunner, Goal, GridError, JudgedFigure,
    LEAST_SEEDS, PaperError, PaperFigure, PaperStudy, Search, TuneStudy, Tuned, Vary,
};

/// Progress of a figure: parts of it that are counted.
const PARTS: u64 = 1000;

fn of_paper(py: Python<'_>, error: PaperError) -> PyErr {
    match error {
        PaperError::Scenario(errors)
        | PaperError::Figure(FigureError::Scenario(errors) | FigureError::Grid(GridError::Scenario { errors, .. })) => {
            of_scenario(py, &errors)
        }
        PaperError::Papers(error) => of_results(format!("{error}\n  give papers=, the folder of papers of a clone")),
        PaperError::Figure(FigureError::Results(error)) | PaperError::Results(error) => of_results(error),
        error => other(error),
    }
}

/// Returns the figures of all papers in a folder: paper/figure, title, numbers and trends stated.
#[pyfunction]
pub fn papers<'py>(py: Python<'py>, papers: PathBuf) -> PyResult<Bound<'py, PyAny>> {
    let listed = py.detach(|| -> Result<Value, PaperError> {
        let figures = PaperFigure::all(&papers).map_err(PaperError::Papers)?;
        let row = |figure: &PaperFigure| -> Result<Value, PaperError> {
            let plan = load(&figure.file, &[]).map_err(PaperError::Scenario)?;
            let numbers = plan.expectations.iter().filter(|expectation| expectation.expected.is_some()).count();
            let name = format!("{}/{}", figure.paper, figure.name);
            Ok(json!({ "figure": name, "title": plan.name, "numbers": numbers, "trends": plan.figure.trends.len() }))
        };
        figures.iter().map(row).collect()
    });
    json::object(py, &listed.map_err(|error| of_paper(py, error))?)
}

/// Reproduces a paper, or a figure of it. Returns the documents of the figures, what the paper says of several figures, the
/// counts of its statements, the statements that no figure checks, and the directory.
#[pyfunction]
#[pyo3(signature = (what, papers, out, overrides, quick=false, choices=true, replications=None, threads=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "all but one are named in Python")]
pub fn reproduce<'py>(
    py: Python<'py>,
    what: String,
    papers: PathBuf,
    out: PathBuf,
    overrides: List<String>,
    quick: bool,
    choices: bool,
    replications: Option<u32>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, PathBuf)> {
    let (told, List(overrides)) = (Told::default(), overrides);
    let (made, raised) = watched(py, progress.as_ref(), &told, || -> Result<(Value, PathBuf), PaperError> {
        let study = PaperStudy::choose(&papers, &what)?;
        let place = (out.as_path(), quick);
        let whole = study.prepare(place, &overrides)?;
        study.describe(place, None, None)?;
        told.total.store(study.figures.len() as u64 * PARTS, Ordering::Relaxed);
        let threads = threads.unwrap_or_else(study::cores);
        let options = FigureOptions { overrides: &overrides, short_form: quick, replications, choices };
        let mut judged: Vec<(&str, JudgedFigure)> = Vec::new();
        let mut folders = Vec::new();
        for (number, figure) in study.figures.iter().enumerate() {
            let runner = FigureRunner::new(figure.clone(), figure.place(&out, quick), &options)?;
            let one = runner.run(threads, &told.interrupt, |done, total| {
                let part = (done as u64).saturating_mul(PARTS) / (total as u64).max(1);
                told.done.store(number as u64 * PARTS + part, Ordering::Relaxed);
            })?;
            write_figure(&runner, &one, threads)?;
            study.describe(place, Some(figure), None)?;
            folders.push(runner.out.clone());
            judged.push((&figure.name, one));
        }
        let conclusion = study.conclude(whole.as_ref(), &judged, place)?;
        let figures: Vec<Value> = judged.iter().map(|(_, judged)| judged.document.to_json()).collect();
        let missing: Vec<Value> = study.missing().map(|(name, why)| json!({ "name": name, "why": why })).collect();
        let document = json!({
            "paper": study.paper,
            "figures": figures,
            "folders": folders,
            "summary": conclusion.summary.as_ref().map(|(_, document)| document.to_json()),
            "summary_text": conclusion.summary.as_ref().map(|(summary, _)| summary.text()),
            "count": conclusion.count,
            "missing": if study.figure.is_none() { missing } else { Vec::new() },
        });
        Ok((document, study.place(&out, quick)))
    });
    match (made, raised) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(of_paper(py, error)),
        (Ok((document, place)), None) => Ok((json::object(py, &document)?, place)),
    }
}

/// The usual directory of a study.
fn usual(scenario: &Scenario, study: &str) -> PathBuf {
    Path::new("results").join(format!("{}-{study}", study::slug(&scenario.plan().name)))
}

/// Searches for good values of keys. Returns the document of the search, the best scenario, the folder of its SONiC
/// configurations or the reason that there is none, and the directory.
#[pyfunction]
#[pyo3(signature = (scenario, vary, minimise, maximise, subject_to, candidates, replications=None, threads=None, out=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "all but two are named in Python")]
pub fn tune<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    vary: List<String>,
    minimise: List<String>,
    maximise: List<String>,
    subject_to: List<String>,
    candidates: u32,
    replications: Option<u32>,
    threads: Option<usize>,
    out: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, PathBuf)> {
    if !(1..=100_000).contains(&candidates) {
        return Err(pyo3::exceptions::PyValueError::new_err("candidates must be from 1 to 100000"));
    }
    let plan = scenario.plan();
    let goals = minimise.0.iter().map(|name| (name, false)).chain(maximise.0.iter().map(|name| (name, true)));
    let search = || -> Result<Search, String> {
        Ok(Search {
            keys: vary.0.iter().map(|text| Vary::parse(text)).collect::<Result<_, _>>()?,
            goals: goals.map(|(name, maximise)| Goal::parse(plan, name, maximise)).collect::<Result<_, _>>()?,
            conditions: subject_to.0.iter().map(|text| Condition::parse(plan, text)).collect::<Result<_, _>>()?,
            candidates: candidates as usize,
        })
    };
    let search = search().map_err(other)?;
    let seeds = replications.unwrap_or(plan.run.replications.max(LEAST_SEEDS));
    let scenario = scenario.changed(py, vec![format!("run.replications={seeds}")])?;
    let out = out.unwrap_or_else(|| usual(&scenario, "tune"));
    let file = scenario.file_in(&out)?;
    let given = (file.path.as_path(), scenario.overrides());
    let prepared = py.detach(|| TuneStudy::new(scenario.plan().clone(), given, search, Some(&out)));
    let study = prepared.map_err(|error| of_grid(py, error, &file))?;
    let told = Told::default();
    told.total.store(study.total() as u64, Ordering::Relaxed);
    let (tuned, raised) = watched(py, progress.as_ref(), &told, || {
        study.run(threads.unwrap_or_else(study::cores), &told.interrupt, |done, _| {
            told.done.store(done as u64, Ordering::Relaxed);
        })
    });
    match (tuned, raised) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(of_grid(py, error, &file)),
        (Ok(Tuned { document, best, sonic, notes }), None) => {
            let document = json!({
                "search": document.to_json(),
                "best": best,
                "sonic": sonic.as_ref().ok(),
                "no_sonic": sonic.as_ref().err(),
                "notes": notes,
            });
            Ok((json::object(py, &document)?, out))
        }
    }
}

/// Runs a campaign of single faults. Returns its document and its directory.
#[pyfunction]
#[pyo3(signature = (scenario, kinds, among, at=None, until=None, flap=None, bit_error_rate=None, slow=None, replications=None, threads=None, out=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "all but one are named in Python")]
pub fn faults<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    kinds: List<String>,
    among: List<String>,
    at: Option<String>,
    until: Option<String>,
    flap: Option<String>,
    bit_error_rate: Option<f64>,
    slow: Option<f64>,
    replications: Option<u32>,
    threads: Option<usize>,
    out: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, PathBuf)> {
    let set = replications.map(|count| format!("run.replications={count}"));
    let scenario = scenario.changed(py, set.into_iter().collect())?;
    let out = out.unwrap_or_else(|| usual(&scenario, "faults"));
    let file = scenario.file_in(&out)?;
    let wishes = FaultWishes { kinds: kinds.0, among: among.0, at, until, flap, bit_error_rate, slow };
    let told = Told::default();
    let (made, raised) = watched(py, progress.as_ref(), &told, || {
        let plan = scenario.plan();
        let (at, faults) = wishes.faults(plan, &told.interrupt)?;
        let study = FaultStudy::new(plan, (&file.path, scenario.overrides()), faults, Some(&out))?;
        told.total.store(study.grid().total() as u64, Ordering::Relaxed);
        let document = study.run(threads.unwrap_or_else(study::cores), &told.interrupt, |done, _| {
            told.done.store(done as u64, Ordering::Relaxed);
        })?;
        Ok((document, at))
    });
    match (made, raised) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(of_grid(py, error, &file)),
        (Ok((document, at)), None) => {
            let document = json!({ "campaign": document.to_json(), "at": at.as_picos() });
            Ok((json::object(py, &document)?, out))
        }
    }
}
