//! `plot`, `diff` and `csv`: recorded runs looked at again.

use super::arguments::Csv;
use super::console;
use super::exit::Exit;
use super::result_arguments::{Diff, Plot};
use render::plot::{PlotOptions, write_plots};
use results::{CSV_FOLDER, PLOTS_FOLDER, Results, ResultsError, differences, export_csv};
use std::path::{Path, PathBuf};
use units::Span;

/// Opens a result, and says so if it is too old to be verified.
fn open(path: &Path) -> Result<Results, ResultsError> {
    let results = Results::open(path)?;
    if !results.manifest.has_hashes() {
        console::unverified(&path.display().to_string());
    }
    Ok(results)
}

/// Writes all pictures of a result into a directory.
pub fn draw(results: &Path, out: &Path, overwrite: bool) -> Result<(), ResultsError> {
    let results = open(results)?;
    let options = PlotOptions { window: window_of(&results), overwrite, ..PlotOptions::default() };
    write_plots(&results, out, &options).map(|_| ())
}

/// The window over which the plan of a result averages throughput.
fn window_of(results: &Results) -> Option<Span> {
    results.manifest.plan.value("probes.throughput_window")?.parse().ok()
}

/// Writes all tables of a result as CSV into a directory.
pub fn write_csv(results: &Path, out: &Path, overwrite: bool) -> Result<(), ResultsError> {
    export_csv(&open(results)?, out, overwrite).map(|_| ())
}

/// Ends with success or says what is wrong.
fn ending(result: Result<(), ResultsError>, what: &str, out: &Path) -> Exit {
    match result {
        Ok(()) => {
            console::note(&format!("{what} in {}", out.display()));
            Exit::Success
        }
        Err(error) => {
            console::error(&error.to_string());
            Exit::refusal(&error)
        }
    }
}

/// Where views of a result go, and whether they may: into a folder of it unless a place was named.
fn place(results: &Path, given: Option<&Path>, folder: &str) -> (PathBuf, Result<(), ResultsError>) {
    match given {
        Some(out) => (out.to_owned(), Ok(())),
        None => {
            let path = results.join(folder);
            let sound = files::no_links(results, folder);
            (path.clone(), sound.map_err(|source| ResultsError::Io { doing: "write to", path, source }))
        }
    }
}

/// `tailback plot`
pub fn plot(arguments: &Plot) -> Exit {
    let (out, sound) = place(&arguments.results, arguments.out.as_deref(), PLOTS_FOLDER);
    ending(sound.and_then(|()| draw(&arguments.results, &out, arguments.overwrite)), "pictures", &out)
}

/// `tailback csv`
pub fn csv(arguments: &Csv) -> Exit {
    let (out, sound) = place(&arguments.results, arguments.out.as_deref(), CSV_FOLDER);
    ending(sound.and_then(|()| write_csv(&arguments.results, &out, arguments.overwrite)), "tables", &out)
}

/// `tailback diff`
pub fn diff(arguments: &Diff) -> Exit {
    let compare = || -> Result<Exit, ResultsError> {
        let found = differences(&open(&arguments.a)?, &open(&arguments.b)?)?;
        console::print(&found.to_string());
        Ok(if found.is_empty() { Exit::Success } else { Exit::Disagreement })
    };
    compare().unwrap_or_else(|error| {
        console::error(&error.to_string());
        Exit::refusal(&error)
    })
}
