//! `run --save-at` and `resume`: a simulation that is stopped, saved and run on.

use super::arguments::{Resume, Run};
use super::console::{self, RunProgress};
use super::exit::Exit;
use super::{INTERRUPT, deadline, run};
use engine::{Panicked, Ranks, contained};
use files::output::is_replaced;
use scenario::Plan;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use study::{Existing, Options, Recording, SavedError, Session, StudyError, cores, finish, slug, usual_place};
use units::{Span, Time};

/// Says why a simulation is not saved or not resumed.
pub fn say(path: &Path, error: &SavedError) -> Exit {
    console::error(&format!("{}: {error}", path.display()));
    match error {
        SavedError::Io { source, .. } => Exit::of_io(source),
        _ => Exit::BadInput,
    }
}

/// Says that the clock or a person ended a run before the instant that was asked for.
pub fn stopped_before(at: Span) -> Exit {
    let what = if deadline::is_up() { "the time limit was reached" } else { "interrupted" };
    console::error(&format!("{what} before {at} of the simulation"));
    deadline::stopped()
}

/// `tailback run FILE --save-at TIME`
pub fn save(arguments: &Run, plan: Plan, at: &str, ranks: &mut dyn Ranks) -> Exit {
    let at = match at.parse::<Span>() {
        Ok(at) if at <= plan.run.duration => at,
        Ok(_) => {
            console::error(&format!("--save-at {at}: the run ends at {}; give an earlier time", plan.run.duration));
            return Exit::BadInput;
        }
        Err(error) => {
            console::error(&format!("--save-at: {error}"));
            return Exit::BadInput;
        }
    };
    if ranks.count() > 1 {
        console::error("--save-at saves a simulation of one process: run it without mpirun");
        return Exit::BadInput;
    }
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.saved", slug(&plan.name))));
    if is_replaced(&out) && !arguments.overwrite {
        console::error(&format!("{} already exists; --overwrite replaces it", out.display()));
        return Exit::BadInput;
    }
    let threads = arguments.threads.or(plan.run.threads).unwrap_or_else(cores);
    let mut session = match Session::start(plan, threads, !arguments.no_record) {
        Ok(session) => session,
        Err(error) => return run::say(&error),
    };
    deadline::running();
    if let Err(error) = session.run_until(Time::ZERO + at, &INTERRUPT) {
        return run::say(&error);
    }
    if INTERRUPT.load(Ordering::Relaxed) {
        return stopped_before(at);
    }
    if let Err(error) = session.save_to(&out) {
        return say(&out, &error);
    }
    if !arguments.quiet {
        let (now, place) = (session.now().saturating_since(Time::ZERO), out.display());
        console::note(&format!("saved at {now} in {place}; 'tailback resume {place}' runs it to the end"));
    }
    Exit::Success
}

/// Does something with a saved simulation. It may be forged: what its shape does not betray is a panic later.
pub fn guarded(file: &Path, work: impl FnOnce() -> Exit) -> Exit {
    contained(work).unwrap_or_else(|Panicked(reason)| say(file, &SavedError::Study(StudyError::Contradiction(reason))))
}

/// `tailback resume`
pub fn resume(arguments: &Resume) -> Exit {
    guarded(&arguments.file, || run_on(arguments))
}

fn run_on(arguments: &Resume) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    if arguments.quiet {
        deadline::keep_quiet();
    }
    let threads = arguments.threads.unwrap_or_else(cores);
    let session = match Session::resume_from(&arguments.file, threads) {
        Ok(session) => session,
        Err(error) => return say(&arguments.file, &error),
    };
    let plan = session.plan().clone();
    let record = (!arguments.no_record && session.records()).then(|| match &arguments.out {
        Some(out) => {
            let existing = if arguments.overwrite { Existing::Replace } else { Existing::Refuse };
            Recording { out: out.clone(), existing }
        }
        None => Recording { out: usual_place(&plan.name), existing: Existing::NextName },
    });
    if arguments.out.is_some() && record.is_none() {
        return run::say(&StudyError::NotRecorded);
    }
    let options = Options {
        threads,
        interrupt: &INTERRUPT,
        time_up: Some(&deadline::TIME_UP),
        record: record.as_ref(),
        capture: None,
    };
    let progress = RunProgress::new(plan.run.duration, arguments.quiet);
    let seen = |seen| {
        deadline::running();
        progress.see(seen);
    };
    let execution = finish(session, &options, seen, |_| {
        progress.end();
        Ok(())
    });
    progress.end();
    let execution = match execution {
        Ok(execution) => execution,
        Err(error) => return run::say(&error),
    };
    run::print(&plan, &execution, arguments.json, arguments.quiet);
    if let Some(out) = execution.recorded.as_ref().filter(|_| !arguments.quiet) {
        console::note(&format!("results in {}", out.display()));
    }
    run::ending(&execution, &execution.judgements)
}
