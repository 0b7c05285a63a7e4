//! `report`, and what `--report` of other commands does.

use super::arguments::Report as Arguments;
use super::console::{self, CountProgress};
use super::exit::Exit;
use super::run::cores;
use lab::report::{Front, MOST_BYTES, Making, Report, ReportError, front};
use std::path::Path;

/// The front-end, or why there is no report.
fn front_or_say() -> Result<Front<'static>, Exit> {
    front().ok_or_else(|| {
        console::error(
            "this tailback was built without the front-end of reports\n  with Node 20 or later: `cargo xtask report-ui`, \
             then build tailback again",
        );
        Exit::Failure
    })
}

/// Whether a report that is asked for can be written: said before a long run rather than after it.
pub fn possible(wanted: bool) -> Result<(), Exit> {
    if wanted { front_or_say().map(|_| ()) } else { Ok(()) }
}

/// Writes the report of a directory to a file.
fn write(results: &Path, out: &Path, size: u64, quiet: bool) -> Result<(), Exit> {
    let front = front_or_say()?;
    let progress = (!quiet).then(|| CountProgress::new(100, "parts of the report"));
    let see = |done: usize, total: usize| progress.iter().for_each(|progress| progress.see(done, total));
    let report = Report::open(results, &Making { size, threads: cores(), progress: &see });
    progress.iter().for_each(CountProgress::end);
    let report = report.map_err(|error| {
        console::error(&error.to_string());
        match &error {
            ReportError::Results(error) => Exit::refusal(error),
            ReportError::Nothing { .. } | ReportError::Damaged { .. } => Exit::Failure,
        }
    })?;
    if report.unverified() > 0 {
        console::unverified(&format!("{}: {} of its runs", results.display(), report.unverified()));
    }
    std::fs::write(out, report.html(front)).map_err(|error| {
        console::error(&format!("cannot write {}: {error}", out.display()));
        Exit::Failure
    })?;
    Ok(())
}

fn say_where(out: &Path) {
    console::note(&format!("report in {}", out.display()));
}

/// Writes `report.html` into a directory of results, if it is wanted, and ends as given if that went well.
pub fn also(wanted: bool, results: &Path, exit: Exit) -> Exit {
    if !wanted {
        return exit;
    }
    let out = results.join("report.html");
    match write(results, &out, MOST_BYTES, false) {
        Ok(()) => {
            say_where(&out);
            exit
        }
        Err(failure) => failure,
    }
}

/// The same without a word.
pub fn also_quietly(wanted: bool, results: &Path, exit: Exit) -> Exit {
    if !wanted {
        return exit;
    }
    write(results, &results.join("report.html"), MOST_BYTES, true).err().unwrap_or(exit)
}

/// `tailback report`
pub fn report(arguments: &Arguments) -> Exit {
    let out = arguments.out.clone().unwrap_or_else(|| arguments.results.join("report.html"));
    match write(&arguments.results, &out, arguments.size.get(), false) {
        Ok(()) => {
            say_where(&out);
            Exit::Success
        }
        Err(exit) => exit,
    }
}
