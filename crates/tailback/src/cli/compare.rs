//! `compare`: one scenario run several ways, one table, one picture.

use super::arguments::Compare;
use super::console::{self, RunProgress};
use super::exit::{Exit, Unwritten};
use super::run::say;
use super::{INTERRUPT, deadline, report};
use render::figure::draw_overlay;
use results::REPORT_FILE;
use results::document::{Comparison, ComparisonRow};
use serde_json::json;
use std::path::{Path, PathBuf};
use study::{CompareError, CompareEvent, CompareStudy, StudyError, Views, given_twice, parse_axis};

/// Says why a comparison was not made.
fn refused(key: &str, error: CompareError) -> Exit {
    match error {
        CompareError::Scenario { value, errors } => {
            console::note(&format!("with {key}={value}:"));
            console::problems(&errors)
        }
        CompareError::Study(error) => say(&error),
        CompareError::Interrupted { done, total } => {
            console::note(&format!(
                "interrupted after {done} of {total} runs\n  run the same command again to continue"
            ));
            deadline::stopped()
        }
    }
}

/// `tailback compare`
pub fn compare(arguments: &Compare) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    let option = if arguments.vary.is_some() { "--vary" } else { "--protocols" };
    let (key, values) = match &arguments.vary {
        None => ("protocol.name".to_owned(), arguments.protocols.clone()),
        Some(text) => match parse_axis(text) {
            Ok(axis) => axis,
            Err(text) => {
                console::error(&text);
                return Exit::BadInput;
            }
        },
    };
    if let Some(twice) = given_twice(&values) {
        console::error(&format!("'{twice}' is given twice: name each protocol once"));
        return Exit::BadInput;
    }
    let (file, overrides) = (arguments.scenario.file.clone(), arguments.scenario.set.clone());
    let study = CompareStudy { file, overrides, key, values, option, causes: arguments.why };
    let loaded = match study.load() {
        Ok(loaded) => loaded,
        Err(error) => return refused(&study.key, error),
    };
    deadline::running();
    if let Some(Err(exit)) = arguments.out.as_deref().map(|out| report::may_follow(arguments.report, out)) {
        return exit;
    }
    let writer = match study.claim(&loaded, arguments.out.as_deref(), arguments.overwrite) {
        Ok(writer) => writer,
        Err(error) => return say(&StudyError::Results(error)),
    };
    let mut progress: Option<RunProgress> = None;
    let seen = |event: CompareEvent<'_>| match event {
        CompareEvent::Kept { value } => console::note(&format!("{} = {value}: finished before, kept", study.key)),
        CompareEvent::Start { value, plan } => {
            console::note(&format!("{} = {value}", study.key));
            progress = Some(RunProgress::new(plan.run.duration, false));
        }
        CompareEvent::Progress(seen) => progress.iter().for_each(|progress| progress.see(seen)),
        CompareEvent::End(execution) => {
            progress.iter().for_each(RunProgress::end);
            execution.leftovers.iter().for_each(|leftover| console::note(&leftover.to_string()));
        }
    };
    let views = Views {
        charts: |runs: &[(String, PathBuf)], folder: &Path| match study.plan(&study.values[0]) {
            Ok(plan) => draw_overlay(&plan, runs, folder),
            // It was loaded before; whoever changes it meanwhile gets no chart.
            Err(_) => Ok(()),
        },
        report: |folder: &Path| if arguments.report { report::into_results(folder, false, false) } else { Ok(()) },
    };
    let made = study.run((&loaded, writer), arguments.threads, &INTERRUPT, views, seen);
    progress.iter().for_each(RunProgress::end);
    let made = match made {
        Ok(made) => made,
        Err(error) => return refused(&study.key, error),
    };
    let comparison = &made.comparison;
    if arguments.json {
        console::print(&format!("{:#}\n", json!({ "key": comparison.key, "rows": comparison.rows })));
    } else {
        console::print(&text(comparison));
    }
    if let Some(error) = made.lacking {
        return Unwritten::from(error).say();
    }
    console::note(&format!("results and picture in {}", made.out.display()));
    if arguments.report {
        report::say_where(&made.out.join(REPORT_FILE));
    }
    made.outcomes.iter().map(|outcome| Exit::of_word(outcome)).max().unwrap_or(Exit::Success)
}

fn text(comparison: &Comparison) -> String {
    let size = |bytes: f64| console::scaled(bytes, "B", 1000.0);
    let with_causes = comparison.rows.iter().any(|row| row.victims.is_some());
    let row = |row: &ComparisonRow| {
        let mut cells = vec![
            row.value.clone(),
            row.workload.clone(),
            row.outcome.clone(),
            row.mean_bits_per_second.map(console::rate).unwrap_or_default(),
            row.least_bits_per_second.map(console::rate).unwrap_or_default(),
            row.jain_index.map(|index| format!("{index:.4}")).unwrap_or_default(),
            row.mean_completion_seconds.map(console::seconds).unwrap_or_default(),
            row.mean_queue_bytes.map(size).unwrap_or_default(),
            row.longest_queue_bytes.map(|bytes| size(bytes as f64)).unwrap_or_default(),
            row.pause_frames.to_string(),
            row.dropped_frames.to_string(),
        ];
        if with_causes {
            cells.push(row.victims.map(|victims| victims.to_string()).unwrap_or_default());
            let time = row.root_seconds.map(console::seconds).unwrap_or_default();
            cells.push(row.root.as_ref().map(|root| format!("{root} ({time})")).unwrap_or_default());
        }
        cells
    };
    let mut head = vec![
        comparison.key.as_str(),
        "workload",
        "outcome",
        "mean rate",
        "lowest rate",
        "Jain index",
        "mean completion",
        "mean queue",
        "longest queue",
        "pause frames",
        "dropped",
    ];
    if with_causes {
        head.extend(["victims", "worst root"]);
    }
    console::table(&head, &comparison.rows.iter().map(row).collect::<Vec<_>>())
}
