//! `compare`: one scenario run several ways, one table, one picture.

use super::arguments::Compare;
use super::console::{self, RunProgress};
use super::exit::{Exit, Unwritten};
use super::run::{claim_place, file_name, say, slug};
use super::{INTERRUPT, picture, report, sweep};
use results::{Kind, ResultsError};
use scenario::{Plan, load};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use study::{Existing, Options, Recording, StudyError, cores, execute};

/// What was compared, in its directory.
const FILE: &str = "compare.json";
const COMPARISON: Kind<'static> = Kind::Json(&["name", "key", "runs", "rows"]);

/// Whether a comparison may go to a directory: said before a long run rather than after it.
fn mine(out: &Path, overwrite: bool) -> Result<PathBuf, ResultsError> {
    COMPARISON.may_go_to(&out.join(FILE), false)?;
    if out.join(FILE).exists() && !overwrite {
        return Err(ResultsError::Exists { path: out.to_owned() });
    }
    for name in ["throughput.svg", "throughput.png"] {
        Kind::Picture.may_go_to(&out.join(name), false)?;
    }
    Ok(out.to_owned())
}

/// `tailback compare`
pub fn compare(arguments: &Compare) -> Exit {
    let (path, values) = match &arguments.vary {
        None => ("protocol.name".to_owned(), arguments.protocols.clone()),
        Some(text) => match sweep::axis(text) {
            Ok(axis) => axis,
            Err(text) => {
                console::error(&text);
                return Exit::BadInput;
            }
        },
    };
    if let Some(twice) = sweep::twice(&values) {
        console::error(&format!("'{twice}' is given twice: name each protocol once"));
        return Exit::BadInput;
    }
    let plan_with = |value: &str| -> Result<Plan, Exit> {
        let mut scenario = arguments.scenario.clone();
        scenario.set.push(format!("{path}={value}"));
        load(&scenario.file, &scenario.set).map_err(|errors| {
            console::note(&format!("with {path}={value}:"));
            console::problems(&errors)
        })
    };
    // All of them are loaded before any is run: a misspelt one should not cost the others' time. None is kept until it is
    // run: together they may not fit into memory.
    let mut first = None;
    for value in &values {
        match plan_with(value) {
            Ok(plan) => first = first.or_else(|| Some(plan.without_flows())),
            Err(exit) => return exit,
        }
    }
    let Some(first) = first else { return Exit::BadInput };
    // A plan of a variant is called after it; what is compared is the scenario.
    let variant = first.figure.variant.as_ref().map(|variant| format!(", {variant}")).unwrap_or_default();
    let title = first.name.strip_suffix(variant.as_str()).unwrap_or(&first.name);
    let name = format!("{}-compared", slug(title));
    let out = match arguments.out.clone().map_or_else(|| claim_place(&name), |out| mine(&out, arguments.overwrite)) {
        Ok(out) => out,
        Err(error) => return say(&StudyError::Results(error)),
    };
    let mut rows = Vec::new();
    let mut lines: Vec<Value> = Vec::new();
    let mut made: Vec<(String, PathBuf)> = Vec::new();
    let mut worst = Exit::Success;
    for (number, value) in values.iter().enumerate() {
        let plan = match plan_with(value) {
            Ok(plan) => plan,
            Err(exit) => {
                let _ = std::fs::remove_dir(&out);
                return exit;
            }
        };
        let existing = if arguments.overwrite { Existing::Replace } else { Existing::Refuse };
        let record = Recording { out: out.join(file_name(value, &values[..number])), existing };
        let options = Options {
            threads: arguments.threads.or(plan.run.threads).unwrap_or_else(cores),
            time_up: None,
            interrupt: &INTERRUPT,
            record: Some(&record),
            capture: None,
        };
        console::note(&format!("{path} = {value}"));
        let progress = RunProgress::new(plan.run.duration, false);
        let execution = execute(&plan, &options, |seen| progress.see(seen));
        progress.end();
        let execution = match execution {
            Ok(execution) => execution,
            Err(error) => {
                // A place that was claimed and not used is free again.
                let _ = std::fs::remove_dir(&out);
                return say(&error);
            }
        };
        execution.leftovers.iter().for_each(|leftover| console::note(&leftover.to_string()));
        worst = worst.max(Exit::of(&execution.report.outcome));
        if worst == Exit::Interrupted {
            return worst;
        }
        let totals = &execution.report.totals;
        for line in execution.measures.workloads(&plan) {
            rows.push(vec![
                value.clone(),
                line.name.clone(),
                execution.measures.outcome.into(),
                line.throughput.map(|t| console::rate(t.0)).unwrap_or_default(),
                line.throughput.map(|t| console::rate(t.1)).unwrap_or_default(),
                line.fairness.map(|index| format!("{index:.4}")).unwrap_or_default(),
                line.completion.map(console::seconds).unwrap_or_default(),
                totals.pause_frames.to_string(),
                totals.dropped_frames.to_string(),
            ]);
            lines.push(json!({
                "value": value,
                "workload": line.name,
                "outcome": execution.measures.outcome,
                "mean_bits_per_second": line.throughput.map(|t| t.0),
                "least_bits_per_second": line.throughput.map(|t| t.1),
                "jain_index": line.fairness,
                "mean_completion_seconds": line.completion,
                "pause_frames": totals.pause_frames,
                "dropped_frames": totals.dropped_frames,
                "fingerprint": format!("{:016x}", execution.report.fingerprint),
            }));
        }
        made.extend(execution.recorded.map(|recorded| (value.clone(), recorded)));
    }
    if let Err(error) = keep(&out, title, &path, &made, &lines) {
        return error.say();
    }
    if arguments.json {
        console::print(&format!("{:#}\n", json!({ "key": path, "rows": lines })));
    } else {
        let head = [
            path.as_str(),
            "workload",
            "outcome",
            "mean rate",
            "least",
            "Jain",
            "mean time",
            "pause frames",
            "dropped",
        ];
        console::print(&console::table(&head, &rows));
    }
    let drawn = match plan_with(&values[0]) {
        Ok(plan) => picture::draw_overlay(&plan, &made, &out),
        Err(exit) => return exit,
    };
    match drawn {
        Ok(()) => console::note(&format!("results and picture in {}", out.display())),
        Err(error) => return error.say(),
    }
    report::also(arguments.report, &out, worst)
}

/// Writes what was compared, beside the runs.
fn keep(out: &Path, name: &str, key: &str, made: &[(String, PathBuf)], rows: &[Value]) -> Result<(), Unwritten> {
    let run = |(value, path): &(String, PathBuf)| json!({ "value": value, "folder": path.file_name().map(|name| name.to_string_lossy()) });
    let runs: Vec<Value> = made.iter().map(run).collect();
    let text = format!("{:#}\n", json!({ "name": name, "key": key, "runs": runs, "rows": rows }));
    Ok(COMPARISON.write(&out.join(FILE), false, text)?)
}
