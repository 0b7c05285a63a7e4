//! `compare`: one scenario run several ways, one table, one picture.

use super::arguments::Compare;
use super::console::{self, RunProgress};
use super::exit::{Exit, Unwritten};
use super::run::say;
use super::{INTERRUPT, deadline, report};
use render::figure::draw_overlay;
use results::document::{Comparison, ComparisonRow};
use serde_json::json;
use std::path::Path;
use study::{
    CompareError, CompareEvent, CompareStudy, Existing, StudyError, claim_place, given_twice, parse_axis, slug,
};

/// Says why a comparison was not made.
fn refused(key: &str, error: CompareError) -> Exit {
    match error {
        CompareError::Scenario { value, errors } => {
            console::note(&format!("with {key}={value}:"));
            console::problems(&errors)
        }
        CompareError::Study(error) => say(&error),
        CompareError::Interrupted => deadline::stopped(),
    }
}

/// `tailback compare`
pub fn compare(arguments: &Compare) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
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
    let study = CompareStudy { file, overrides, key, values };
    let name = match study.name() {
        Ok(name) => name,
        Err(error) => return refused(&study.key, error),
    };
    deadline::running();
    let place = match &arguments.out {
        Some(out) => CompareStudy::may_go_to(out, arguments.overwrite).map(|()| out.clone()),
        None => claim_place(&format!("{}-compared", slug(&name))),
    };
    let out = match place {
        Ok(out) => out,
        Err(error) => return say(&StudyError::Results(error)),
    };
    let existing = if arguments.overwrite { Existing::Replace } else { Existing::Refuse };
    let mut worst = Exit::Success;
    let mut progress: Option<RunProgress> = None;
    let made = study.run(&name, (&out, existing), arguments.threads, &INTERRUPT, |event| match event {
        CompareEvent::Start { value, plan } => {
            console::note(&format!("{} = {value}", study.key));
            progress = Some(RunProgress::new(plan.run.duration, false));
        }
        CompareEvent::Progress(seen) => progress.iter().for_each(|progress| progress.see(seen)),
        CompareEvent::End(execution) => {
            progress.iter().for_each(RunProgress::end);
            execution.leftovers.iter().for_each(|leftover| console::note(&leftover.to_string()));
            worst = worst.max(Exit::of(&execution.report.outcome));
        }
    });
    progress.iter().for_each(RunProgress::end);
    let (comparison, made) = match made {
        Ok(made) => made,
        Err(error) => {
            // A place that was claimed and not used is free again.
            let _ = std::fs::remove_dir(&out);
            return refused(&study.key, error);
        }
    };
    if arguments.json {
        console::print(&format!("{:#}\n", json!({ "key": comparison.key, "rows": comparison.rows })));
    } else {
        console::print(&text(&comparison));
    }
    let drawn = match study.plan(&study.values[0]) {
        Ok(plan) => draw_overlay(&plan, &made, &out),
        Err(error) => return refused(&study.key, error),
    };
    finish(drawn.map_err(Unwritten::from), &out, arguments.report, worst)
}

fn finish(drawn: Result<(), Unwritten>, out: &Path, report: bool, worst: Exit) -> Exit {
    match drawn {
        Ok(()) => console::note(&format!("results and picture in {}", out.display())),
        Err(error) => return error.say(),
    }
    report::also(report, out, worst)
}

fn text(comparison: &Comparison) -> String {
    let row = |row: &ComparisonRow| {
        vec![
            row.value.clone(),
            row.workload.clone(),
            row.outcome.clone(),
            row.mean_bits_per_second.map(console::rate).unwrap_or_default(),
            row.least_bits_per_second.map(console::rate).unwrap_or_default(),
            row.jain_index.map(|index| format!("{index:.4}")).unwrap_or_default(),
            row.mean_completion_seconds.map(console::seconds).unwrap_or_default(),
            row.pause_frames.to_string(),
            row.dropped_frames.to_string(),
        ]
    };
    let head = [
        comparison.key.as_str(),
        "workload",
        "outcome",
        "mean rate",
        "lowest rate",
        "Jain index",
        "mean completion",
        "pause frames",
        "dropped",
    ];
    console::table(&head, &comparison.rows.iter().map(row).collect::<Vec<_>>())
}
