//! `report`, what `--report` of other commands does, and `lab`.

use super::console::{self, CountProgress};
use super::exit::Exit;
use super::result_arguments::{Lab, Report as Arguments};
use render::report::{Front, MOST_BYTES, Making, Report, ReportError, lab_page};
use results::{Kind, REPORT_FILE, ResultsError};
use std::path::{Path, PathBuf};
use study::cores;

/// Makes the report of a directory; a live one can run it again.
fn make(results: &Path, size: u64, quiet: bool, live: bool) -> Result<String, ReportError> {
    let progress = (!quiet).then(|| CountProgress::new(100, "parts of the report"));
    let see = |done: usize, total: usize| progress.iter().for_each(|progress| progress.see(done, total));
    let report = Report::open(results, &Making { size, threads: cores(), progress: &see });
    progress.iter().for_each(CountProgress::end);
    let report = report?;
    if report.unverified() > 0 {
        console::unverified(&format!("{}: {} of its runs", results.display(), report.unverified()));
    }
    if live { Ok(report.live(results)?.html(Front::lab())) } else { Ok(report.html(Front::report())) }
}

/// Writes the report of a directory to a file that was named, or into the directory, if it may go there, or says why not.
/// Returns where it is.
fn write(results: &Path, given: Option<&Path>, (size, live): (u64, bool), overwrite: bool) -> Result<PathBuf, Exit> {
    let out = given.map_or_else(|| results.join(REPORT_FILE), Path::to_owned);
    let refused = |error: &ResultsError| {
        console::error(&error.to_string());
        Exit::refusal(error)
    };
    // Before the work, and again after it.
    match given {
        None => Kind::Report.may_go_to(&out, overwrite),
        Some(out) => Kind::Report.may_go_to_given(out, overwrite),
    }
    .map_err(|error| refused(&error))?;
    let html = make(results, size, false, live).map_err(|error| match &error {
        ReportError::Results(error) => refused(error),
        ReportError::Nothing { .. } => {
            console::error(&error.to_string());
            Exit::BadInput
        }
    })?;
    match given {
        None => Kind::Report.write(&out, overwrite, html),
        Some(out) => Kind::Report.write_given(out, overwrite, html),
    }
    .map_err(|error| refused(&error))?;
    Ok(out)
}

/// Writes `report.html` beside the tables of a run that is not yet in its place.
pub fn into_results(directory: &Path, quiet: bool, live: bool) -> Result<(), ResultsError> {
    let html = make(directory, MOST_BYTES, quiet, live).map_err(|error| match error {
        ReportError::Results(error) => error,
        ReportError::Nothing { path } => {
            ResultsError::Table { doing: "read", path, reason: "it contains no results".into() }
        }
    })?;
    Kind::Report.write(&directory.join(REPORT_FILE), false, html)
}

/// Says where a report is.
pub fn say_where(out: &Path) {
    console::note(&format!("report in {}", out.display()));
}

/// Checks, before the work, that `report.html` may be written into a directory of results, if it is wanted.
pub fn may_follow(wanted: bool, results: &Path) -> Result<(), Exit> {
    let out = results.join(REPORT_FILE);
    if !wanted || !out.exists() {
        return Ok(());
    }
    Kind::Report.may_go_to(&out, false).map_err(|error| {
        console::error(&error.to_string());
        Exit::refusal(&error)
    })
}

/// Writes `report.html` into a directory of results, if it is wanted, and ends as given if that went well.
pub fn also(wanted: bool, results: &Path, exit: Exit) -> Exit {
    if !wanted {
        return exit;
    }
    match write(results, None, (MOST_BYTES, false), false) {
        Ok(out) => {
            say_where(&out);
            exit
        }
        Err(failure) => failure,
    }
}

/// `tailback report`
pub fn report(arguments: &Arguments) -> Exit {
    let how = (arguments.size.get(), arguments.live);
    match write(&arguments.results, arguments.out.as_deref(), how, arguments.overwrite) {
        Ok(out) => {
            say_where(&out);
            Exit::Success
        }
        Err(exit) => exit,
    }
}

/// `tailback lab`
pub fn lab(arguments: &Lab) -> Exit {
    match Kind::Report.write_given(&arguments.out, arguments.overwrite, lab_page()) {
        Ok(()) => {
            console::note(&format!("lab in {}; open it in a browser", arguments.out.display()));
            Exit::Success
        }
        Err(error) => {
            console::error(&error.to_string());
            Exit::refusal(&error)
        }
    }
}
