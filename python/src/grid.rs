//! Many runs: sweeps and comparisons.

use crate::error::{of_results, of_scenario_in, other};
use crate::json;
use crate::list::{self, Axes, List};
use crate::scenario::{Scenario, ScenarioFile};
use crate::table::{Table, field};
use crate::watch::{Told, watched};
use ::scenario::Unit;
use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field};
use pyo3::prelude::*;
use render::figure::{draw_overlay, draw_sweep};
use render::report::{Front, Making, Report};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use study::{CompareError, CompareStudy, GridError, Summary, SweepRow, SweepStudy, SweepTable, Views, axis_to_draw};

/// The exception for a study of a scenario in that file.
pub fn of_grid(py: Python<'_>, error: GridError, file: &ScenarioFile) -> PyErr {
    match error {
        GridError::Scenario { errors, .. } => of_scenario_in(py, &errors, &file.dictionary),
        error => other(error),
    }
}

/// Runs a grid of values times all seeds. Returns one row per cell and metric, and the directory.
#[pyfunction]
#[pyo3(signature = (scenario, axes, threads=None, out=None, progress=None))]
pub fn sweep(
    py: Python<'_>,
    scenario: &Scenario,
    axes: Axes,
    threads: Option<usize>,
    out: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Table, PathBuf)> {
    let (file, axes) = (scenario.file()?, list::axes(axes));
    let given = (file.path.as_path(), scenario.overrides());
    let prepared = py.detach(|| SweepStudy::new(scenario.plan().clone(), given, axes, out.as_deref()));
    let study = prepared.map_err(|error| of_grid(py, error, &file))?;
    let told = Told::default();
    told.total.store(study.grid.total() as u64, Ordering::Relaxed);
    let (table, raised) = watched(py, progress.as_ref(), &told, || {
        let table = study.run(threads.unwrap_or_else(study::cores), &told.interrupt, |done, _| {
            told.done.store(done as u64, Ordering::Relaxed);
        })?;
        if let Some(place) = axis_to_draw(&study.axes) {
            // A chart that cannot be drawn is no reason to lose the table.
            let _ = draw_sweep(&study.axes[place].0, &table.curves(place), &study.out);
        }
        Ok(table)
    });
    match (table, raised) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(of_grid(py, error, &file)),
        (Ok(table), None) => Ok((tidy(&table).map_err(other)?, study.out)),
    }
}

/// The unit of a metric's values.
fn symbol(unit: Unit) -> &'static str {
    match unit {
        Unit::Rate => "b/s",
        Unit::Size => "B",
        Unit::Time => "s",
        Unit::Number | Unit::Count | Unit::Outcome => "",
    }
}

/// One row per cell and metric.
fn tidy(table: &SweepTable) -> std::result::Result<Table, arrow_schema::ArrowError> {
    let rows: Vec<(&SweepRow, usize, Option<Summary>)> = table
        .rows
        .iter()
        .flat_map(|row| row.summaries.iter().enumerate().map(move |(metric, summary)| (row, metric, *summary)))
        .collect();
    let texts = |text: &dyn Fn(&SweepRow, usize) -> String| -> ArrayRef {
        Arc::new(rows.iter().map(|(row, metric, _)| Some(text(row, *metric))).collect::<StringArray>())
    };
    let reals = |value: &dyn Fn(&Summary) -> Option<f64>| -> ArrayRef {
        Arc::new(rows.iter().map(|(_, _, summary)| summary.as_ref().and_then(value)).collect::<Float64Array>())
    };
    let text = |name: &str, meaning: &str| field(name, DataType::Utf8, false, ("", meaning));
    let real = |name: &str, meaning: &str| field(name, DataType::Float64, true, ("see unit", meaning));
    let mut columns: Vec<(Field, ArrayRef)> = Vec::new();
    for (place, axis) in table.axes.iter().enumerate() {
        columns.push((text(axis, "value of this key"), texts(&|row, _| row.values[place].clone())));
    }
    let runs = rows.iter().map(|(row, ..)| row.outcomes.iter().map(|(_, count)| *count as i64).sum::<i64>());
    columns.extend([
        (text("outcome", "outcomes of the runs and their number"), texts(&|row, _| row.outcome())),
        (field("runs", DataType::Int64, false, ("", "number of runs")), Arc::new(runs.collect::<Int64Array>()) as _),
        (text("metric", "name of the metric"), texts(&|_, metric| table.metrics[metric].clone())),
        (text("unit", "unit of the values"), texts(&|_, metric| symbol(table.units[metric]).to_owned())),
        (real("mean", "mean over the seeds"), reals(&|summary| Some(summary.mean))),
        (real("low", "lower end of the 95 % confidence interval"), reals(&|summary| Some(summary.interval?.low))),
        (real("high", "upper end of the 95 % confidence interval"), reals(&|summary| Some(summary.interval?.high))),
    ]);
    Table::new("sweep", "one cell of the grid and one metric", columns)
}

/// Runs a scenario several ways. Returns the comparison as `compare --json` prints it, and the directory.
#[pyfunction]
#[pyo3(signature = (scenario, key, values, threads=None, out=None, overwrite=false, why=false, progress=None))]
#[expect(clippy::too_many_arguments, reason = "all but two are named in Python")]
pub fn compare<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    key: String,
    values: List<String>,
    threads: Option<usize>,
    out: Option<PathBuf>,
    overwrite: bool,
    why: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, PathBuf)> {
    let (file, List(values)) = (scenario.file()?, values);
    if let Some(twice) = study::given_twice(&values) {
        return Err(other(format!("'{twice}' is given twice: name each value once")));
    }
    let (path, overrides) = (file.path.clone(), scenario.overrides().to_vec());
    let study = CompareStudy { file: path, overrides, key, values, option: "values", causes: why };
    let refused = |error: CompareError| match error {
        CompareError::Scenario { errors, .. } => of_scenario_in(py, &errors, &file.dictionary),
        CompareError::Study(error) => other(error),
        CompareError::Interrupted { done, total } => {
            other(format!("interrupted after {done} of {total} runs; the same call continues it"))
        }
    };
    let loaded = py.detach(|| study.load()).map_err(refused)?;
    let writer = study.claim(&loaded, out.as_deref(), overwrite).map_err(of_results)?;
    let told = Told::default();
    told.total.store(study.values.len() as u64, Ordering::Relaxed);
    let (made, raised) = watched(py, progress.as_ref(), &told, || {
        let views = Views {
            charts: |runs: &[(String, PathBuf)], folder: &Path| match study.plan(&study.values[0]) {
                Ok(plan) => draw_overlay(&plan, runs, folder),
                Err(_) => Ok(()),
            },
            report: |_: &Path| Ok(()),
        };
        study.run((&loaded, writer), threads, &told.interrupt, views, |event| {
            use study::CompareEvent::{End, Kept};
            if matches!(event, Kept { .. } | End(_)) {
                told.done.fetch_add(1, Ordering::Relaxed);
            }
        })
    });
    match (made, raised) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(refused(error)),
        (Ok(made), None) => {
            let document = serde_json::json!({ "key": made.comparison.key, "rows": made.comparison.rows });
            Ok((json::object(py, &document)?, made.out))
        }
    }
}

/// Returns the report of a directory of results as an HTML page.
#[pyfunction]
pub fn report_html(py: Python<'_>, directory: PathBuf) -> PyResult<String> {
    py.detach(|| Report::open(&directory, &Making::usual()).map(|report| report.html(Front::report())))
        .map_err(of_results)
}
