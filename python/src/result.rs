//! Results of runs: summaries, tables, pictures and reports.

use crate::error::{of_results, other};
use crate::json;
use crate::scenario::is_result;
use crate::table::Table;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use render::plot::{PlotOptions, picture, to_png, to_svg};
use render::report::{Front, Making, Report};
use results::{Picture, Results};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use study::why::{FlowAnswer, Question, WhyError};
use tempfile::TempDir;

/// The result of a run.
#[pyclass(frozen, module = "tailback")]
pub struct Result {
    summary: Value,
    directory: Option<PathBuf>,
    /// Where the result is, if nobody said where it should be. It is removed with the last result that uses it.
    temporary: Option<Arc<TempDir>>,
}

impl Result {
    pub fn new(summary: Value, directory: Option<PathBuf>, temporary: Option<Arc<TempDir>>) -> Result {
        Result { summary, directory, temporary }
    }

    fn recorded(&self) -> PyResult<Results> {
        match &self.directory {
            Some(directory) => Results::open(directory).map_err(of_results),
            None => Err(of_results("this run was not recorded: run the scenario with record=True")),
        }
    }
}

#[pymethods]
impl Result {
    /// The summary, as `tailback run --json` prints it.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::object(py, &self.summary)
    }

    /// How the run ended: "finished", "deadlock", "interrupted" and so on.
    #[getter]
    fn outcome(&self) -> &str {
        self.summary["outcome"].as_str().unwrap_or_default()
    }

    /// The fingerprint of the run: equal for equal runs, on any number of threads.
    #[getter]
    fn fingerprint(&self) -> &str {
        self.summary["fingerprint"].as_str().unwrap_or_default()
    }

    /// The directory of the result; `None` if the run was not recorded.
    #[getter]
    fn directory(&self) -> Option<PathBuf> {
        self.directory.clone()
    }

    /// Whether the directory goes with this object.
    #[getter]
    fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    fn __repr__(&self) -> String {
        let name = self.summary["name"].as_str().unwrap_or_default();
        format!("<tailback.Result {name}: {}, fingerprint {}>", self.outcome(), self.fingerprint())
    }

    fn _table_names(&self) -> PyResult<Vec<&'static str>> {
        Ok(self.recorded()?.tables().into_iter().map(|table| table.name).collect())
    }

    fn _table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let results = self.recorded()?;
        let tables = results.tables();
        let Some(&definition) = tables.iter().find(|table| table.name == name) else {
            let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
            return Err(PyKeyError::new_err(format!("no table {name:?}; the result has {}", names.join(", "))));
        };
        let rows = py.detach(|| results.read(definition)).map_err(of_results)?;
        Table::of(definition, rows).map_err(other)
    }

    /// Draws one of the pictures as SVG and PNG; `None` if there is nothing to draw.
    #[pyo3(signature = (kind, most=10, scale=2.0))]
    fn _plot(&self, py: Python<'_>, kind: &str, most: usize, scale: f64) -> PyResult<Option<(String, Vec<u8>)>> {
        let Some(picture_kind) = Picture::named(kind) else {
            let text = format!("no picture {kind:?}; there are {}", pictures().join(", "));
            return Err(PyValueError::new_err(text));
        };
        if !(scale > 0.0 && scale <= 10.0) {
            return Err(PyValueError::new_err("scale must be above 0 and at most 10"));
        }
        let results = self.recorded()?;
        let options = PlotOptions { most: most.clamp(1, 1000), scale, ..PlotOptions::default() };
        py.detach(|| -> std::result::Result<_, results::ResultsError> {
            let chart = picture(&results, picture_kind, &options)?;
            Ok(chart.map(|chart| {
                let canvas = chart.draw();
                (to_svg(&canvas), to_png(&canvas, scale).unwrap_or_default())
            }))
        })
        .map_err(of_results)
    }

    /// Returns why flows took their time: those of a name, those that lost time to a link, or the worst.
    #[pyo3(signature = (flow=None, link=None, worst=10))]
    fn _why<'py>(
        &self,
        py: Python<'py>,
        flow: Option<String>,
        link: Option<String>,
        worst: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let question = match (flow, link) {
            (Some(_), Some(_)) => return Err(PyValueError::new_err("give a flow or a link, not both")),
            (Some(flow), None) => Question::Flow(flow),
            (None, Some(link)) => Question::Link(link),
            (None, None) => Question::Worst(worst),
        };
        let results = self.recorded()?;
        let answers = py.detach(|| study::why::why(&results, &question)).map_err(|error| match error {
            WhyError::Results(error) => of_results(error),
            WhyError::Nothing(text) => other(text),
        })?;
        json::object(py, &Value::Array(answers.iter().map(FlowAnswer::record).collect()))
    }

    /// Returns the differences from another result as text; `None` if there are none.
    fn _diff(&self, py: Python<'_>, other: &Result) -> PyResult<Option<String>> {
        let (one, another) = (self.recorded()?, other.recorded()?);
        let found = py.detach(|| results::differences(&one, &another)).map_err(of_results)?;
        Ok((!found.is_empty()).then(|| found.to_string()))
    }

    /// Returns the report as an HTML page.
    fn _report(&self, py: Python<'_>) -> PyResult<String> {
        let results = self.recorded()?;
        let made = py
            .detach(|| Report::open(results.directory(), &Making::usual()).map(|report| report.html(Front::report())));
        made.map_err(of_results)
    }
}

/// Opens a recorded result.
#[pyfunction]
pub fn open_result(py: Python<'_>, directory: PathBuf) -> PyResult<Result> {
    if !is_result(&directory) {
        return Err(of_results(format!("{}: this is not the result of a run", directory.display())));
    }
    let results = py.detach(|| Results::open(&directory)).map_err(of_results)?;
    let manifest = &results.manifest;
    let summary = json!({
        "name": manifest.name,
        "outcome": manifest.outcome.kind,
        "fingerprint": results::hex(manifest.fingerprint),
        "manifest": manifest.to_json(),
    });
    Ok(Result::new(summary, Some(directory), None))
}

/// Returns the names of the pictures.
#[pyfunction]
pub fn pictures() -> Vec<&'static str> {
    Picture::ALL.iter().map(|kind| kind.name()).collect()
}
