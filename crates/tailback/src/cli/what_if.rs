//! `what-if`: several futures of one past.

use super::arguments::WhatIf;
use super::console::{self, RunProgress};
use super::exit::Exit;
use super::{INTERRUPT, deadline, resume, run};
use scenario::Limits;
use std::io::Read;
use std::sync::atomic::Ordering;
use study::{ChangeError, Future, Options, Session, WhatIfError, cores, parse_axis, what_if_record};
use units::{Span, Time, grouped};

/// Whether a file begins like a saved simulation; every other file is read as a scenario.
fn is_saved(arguments: &WhatIf) -> bool {
    let mut start = [0; 14];
    // A pipe is not opened: it would wait for a writer, or lose what a scenario is read from.
    let read = files::open(&arguments.file).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && &start == b"tailback saved"
}

/// The run that the futures begin from, before its stop.
fn begin(arguments: &WhatIf, threads: usize) -> Result<Session, Exit> {
    if is_saved(arguments) {
        if !arguments.set.is_empty() {
            console::error("--set changes a scenario; a saved simulation is changed by --vary");
            return Err(Exit::BadInput);
        }
        return Session::resume_from(&arguments.file, threads).map_err(|error| resume::say(&arguments.file, &error));
    }
    let plan = scenario::load_observed(&arguments.file, &arguments.set, Limits::default(), deadline::observer());
    let plan = plan.map_err(|errors| {
        console::problems(&errors);
        Exit::BadInput
    })?;
    Session::start(plan, threads, false).map_err(|error| run::say(&error))
}

/// `tailback what-if`
pub fn what_if(arguments: &WhatIf) -> Exit {
    if is_saved(arguments) { resume::guarded(&arguments.file, || run_all(arguments)) } else { run_all(arguments) }
}

fn run_all(arguments: &WhatIf) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    if arguments.quiet {
        deadline::keep_quiet();
    }
    let axes: Result<Vec<_>, String> = arguments.vary.iter().map(|text| parse_axis(text)).collect();
    let axes = match axes {
        Ok(axes) => axes,
        Err(error) => {
            console::error(&format!("--vary: {error}"));
            return Exit::BadInput;
        }
    };
    let threads = arguments.threads.unwrap_or_else(cores);
    let mut session = match begin(arguments, threads) {
        Ok(session) => session,
        Err(exit) => return exit,
    };
    deadline::running();
    let duration = session.plan().run.duration;
    match arguments.at.as_ref().map(|at| at.parse::<Span>()) {
        Some(Ok(at)) if at < duration => {
            if let Err(error) = session.run_until(Time::ZERO + at, &INTERRUPT) {
                return run::say(&error);
            }
            if INTERRUPT.load(Ordering::Relaxed) {
                return resume::stopped_before(at);
            }
        }
        Some(Ok(at)) => {
            console::error(&format!("--at {at}: the run ends at {duration}; give an earlier time"));
            return Exit::BadInput;
        }
        Some(Err(error)) => {
            console::error(&format!("--at: {error}"));
            return Exit::BadInput;
        }
        None if session.now() == Time::ZERO => {
            console::error("--at is missing: give the time of the change, such as --at 2ms");
            return Exit::BadInput;
        }
        None => {}
    }
    let progress = RunProgress::new(duration, arguments.quiet);
    let options =
        Options { threads, interrupt: &INTERRUPT, time_up: Some(&deadline::TIME_UP), record: None, capture: None };
    let futures = study::what_if(&session, &axes, &options, |_, seen| {
        deadline::running();
        progress.see(seen);
    });
    progress.end();
    let futures = match futures {
        Ok(futures) => futures,
        Err(WhatIfError::Study(error)) => return run::say(&error),
        Err(WhatIfError::Change(ChangeError::Scenario(errors))) => {
            console::problems(&errors);
            return Exit::BadInput;
        }
        Err(error) => {
            console::error(&error.to_string());
            return Exit::BadInput;
        }
    };
    if arguments.json {
        console::print(&format!("{:#}\n", what_if_record(session.now(), &futures)));
    } else if !arguments.quiet {
        console::print(&table(&session, &futures));
    }
    if INTERRUPT.load(Ordering::Relaxed) { deadline::stopped() } else { Exit::Success }
}

/// The futures side by side.
fn table(session: &Session, futures: &[Future]) -> String {
    let at = session.now().saturating_since(Time::ZERO);
    let head = format!("{}: {} futures from {at} on; counters are since then\n\n", session.plan().name, futures.len());
    let row = |future: &Future| {
        let since = future.since();
        let count = |name: &str| grouped(since.get(name).and_then(serde_json::Value::as_u64).unwrap_or(0));
        let delivered = since.get("delivered_bytes").and_then(serde_json::Value::as_u64).unwrap_or(0);
        let workloads = future.execution.measures.workloads(&future.plan);
        let times = workloads.iter().filter_map(|line| Some((line.completion?.mean, line.completed.0)));
        let (sum, flows) = times.fold((0.0, 0), |(sum, all), (mean, flows)| (sum + mean * flows as f64, all + flows));
        let completion = if flows == 0 { String::new() } else { console::seconds(sum / flows as f64) };
        vec![
            future.name(),
            future.execution.measures.outcome.to_owned(),
            console::scaled(delivered as f64, "B", 1000.0),
            count("pause_frames"),
            count("dropped_frames"),
            count("marked_frames"),
            completion,
            format!("{:016x}", future.execution.report.fingerprint),
        ]
    };
    let rows: Vec<Vec<String>> = futures.iter().map(row).collect();
    let columns =
        ["future", "outcome", "delivered", "pause frames", "dropped", "marked", "mean completion", "fingerprint"];
    head + &console::table(&columns, &rows)
}
