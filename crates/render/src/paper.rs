//! The pictures of a paper's figure, written with its document.

use crate::figure::{draw_grid, draw_times};
use crate::plot::{Drawn, PlotOptions, draw_plots};
use results::document::Document;
use results::{Kind, PLOTS_FOLDER, REPORT_FILE, Results, ResultsError, remove_pictures};
use scenario::ChartKind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use study::{FigureError, FigureRunner, JudgedFigure};

/// Draws the recorded runs and the charts of a figure, and writes them with its document. Returns the titles of charts whose
/// tables are not recorded.
///
/// # Errors
/// Returns an error if a result cannot be read or a file not be written; the directory is left as it was if it has a file
/// that may not be replaced.
pub fn write_figure(runner: &FigureRunner, judged: &JudgedFigure, threads: usize) -> Result<Vec<String>, FigureError> {
    let plots = runner.out.join(PLOTS_FOLDER);
    let mut all = Drawn::default();
    let mut empty = Vec::new();
    for (drawn, titles) in draw_runs(runner, threads)? {
        all.append(drawn);
        empty.extend(titles);
    }
    all.append(draw_grid(&judged.document.charts, &plots));
    let write = || -> Result<(), ResultsError> {
        // All names before the first file: a refusal leaves the directory as it was.
        all.check(false)?;
        judged.document.write(&runner.out)?;
        // Reports of an earlier form of the figure are out of date.
        for folder in [Some(runner.out.as_path()), runner.out.parent()].into_iter().flatten() {
            Kind::Report.remove(&folder.join(REPORT_FILE));
        }
        // What an earlier form of the figure drew is not of this one.
        remove_pictures(&plots);
        all.write(false).map(|_| ())
    };
    write().map_err(FigureError::Results)?;
    Ok(empty)
}

/// Draws the recorded runs of a figure, in their order.
fn draw_runs(runner: &FigureRunner, threads: usize) -> Result<Vec<(Drawn, Vec<String>)>, FigureError> {
    let plots = runner.out.join(PLOTS_FOLDER);
    // The short form of a figure that says what it draws draws no more than that.
    let times = runner.plan.figure.charts.iter().any(|chart| matches!(chart.kind, ChartKind::Time { .. }));
    let usual = !(runner.short_form && times);
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, Drawn, Vec<String>)>, FigureError> {
        let mut all = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(record) = runner.records.get(number) else { return Ok(all) };
            let folder = plots.join(&record.folder);
            let usual = usual.then(|| draw_result(&record.results, &folder)).transpose();
            let mut drawn = usual.map_err(FigureError::Results)?.unwrap_or_default();
            let plan = runner.plan_of(record)?;
            let over_time = draw_times(&plan, &record.results, &folder);
            let (over_time, empty) = over_time.map_err(FigureError::Results)?;
            drawn.append(over_time);
            all.push((number, drawn, empty));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let count = runner.grid.at_once(threads).clamp(1, runner.records.len().max(1));
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::new();
        for worker in workers {
            match worker.join() {
                Ok(drawn) => all.extend(drawn?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(all)
    })?;
    all.sort_by_key(|(number, ..)| *number);
    Ok(all.into_iter().map(|(_, drawn, empty)| (drawn, empty)).collect())
}

/// Draws all pictures of a result for a directory, with the window over which its plan averages throughput.
fn draw_result(results: &Path, out: &Path) -> Result<Drawn, ResultsError> {
    let results = Results::open(results)?;
    let window = results.manifest.plan.value("probes.throughput_window").and_then(|window| window.parse().ok());
    draw_plots(&results, out, &PlotOptions { window, ..PlotOptions::default() })
}
