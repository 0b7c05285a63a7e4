//! `sweep`: a grid of values times several seeds.

use super::arguments::Sweep;
use super::check::load_or_say;
use super::console::{self, CountProgress};
use super::exit::{Exit, Unwritten};
use super::{INTERRUPT, deadline, report, slurm};
use render::figure::draw_sweep;
use scenario::Unit;
use std::ffi::OsString;
use std::path::Path;
use study::{Grid, GridError, Part, Summary, SweepRow, SweepStudy, SweepTable, axis_to_draw, cores, parse_axis};

/// Says why a sweep did not finish.
pub fn say(error: &GridError) -> Exit {
    match error {
        GridError::Scenario { cell, errors } => {
            if !cell.is_empty() {
                console::note(&format!("with {}:", cell.join(", ")));
            }
            console::problems(errors)
        }
        GridError::Study(error) => super::run::say(error),
        GridError::Occupied { .. } | GridError::TooLarge { .. } | GridError::Axis { .. } | GridError::Search { .. } => {
            console::error(&error.to_string());
            Exit::BadInput
        }
        GridError::Io { source, .. } => {
            console::error(&error.to_string());
            Exit::of_io(source)
        }
        GridError::Interrupted { .. } => {
            console::note(&error.to_string());
            deadline::stopped()
        }
    }
}

/// `tailback sweep`
pub fn sweep(arguments: &Sweep) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    let mut scenario = arguments.scenario.clone();
    scenario.set.extend(arguments.replications.map(|count| format!("run.replications={count}")));
    let plan = match load_or_say(&scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let given: Result<Vec<_>, String> = arguments.axis.iter().map(|text| parse_axis(text)).collect();
    let axes = match given {
        Ok(axes) => axes,
        Err(text) => {
            console::error(&text);
            return Exit::BadInput;
        }
    };
    deadline::doing("loading all cells of the grid");
    let study = match SweepStudy::new(plan, (&scenario.file, &scenario.set), axes, arguments.out.as_deref()) {
        Ok(study) => study,
        Err(error) => return say(&error),
    };
    deadline::running();
    if let Err(exit) = report::may_follow(arguments.report, &study.out) {
        return exit;
    }
    if arguments.slurm.slurm {
        let words = task_words(arguments, &study.out);
        if let Err(exit) = slurm::wait(&arguments.slurm, arguments.threads, words, &[&study.grid], &study.out) {
            return exit;
        }
    }
    let threads = arguments.threads.unwrap_or_else(cores);
    study.grid.short_of_memory(threads).iter().for_each(|text| console::note(text));
    if let Some(part) = arguments.part {
        return make_part(&study.grid, part, threads, &study.out);
    }
    let progress = CountProgress::new(study.grid.total(), "runs");
    let table = study.run(threads, &INTERRUPT, |done, total| progress.see(done, total));
    progress.end();
    repeated(&study.grid);
    let table = match table {
        Ok(table) => table,
        Err(error) => return say(&error),
    };
    console::print(&if arguments.json { table.json() } else { text(&table) });
    let out = &study.out;
    let drawn = match axis_to_draw(&study.axes) {
        Some(place) => draw_sweep(&study.axes[place].0, &table.curves(place), out),
        None => Ok(()),
    };
    match drawn.map_err(Unwritten::from) {
        Ok(()) => {
            console::note(&format!("table and pictures in {}", out.display()));
            report::also(arguments.report, out, Exit::Success)
        }
        Err(error) => error.say(),
    }
}

/// The arguments of a task that makes a part of a sweep in that directory.
fn task_words(arguments: &Sweep, out: &Path) -> Vec<OsString> {
    let Sweep { scenario, axis, replications, .. } = arguments;
    let mut words: Vec<OsString> = vec!["sweep".into()];
    words.extend(scenario.set.iter().map(|set| format!("--set={set}").into()));
    words.extend(axis.iter().map(|axis| format!("--axis={axis}").into()));
    words.extend(replications.map(|count| format!("--replications={count}").into()));
    words.extend([slurm::joined("--out=", out), "--".into(), scenario.file.as_os_str().to_owned()]);
    words
}

/// Makes a part of a grid's runs.
pub fn make_part(grid: &Grid, part: Part, threads: usize, out: &Path) -> Exit {
    let progress = CountProgress::new(grid.total(), "runs");
    let done = grid.run_part(part, threads, &INTERRUPT, |done, total| progress.see(done, total));
    progress.end();
    repeated(grid);
    match done {
        Ok(done) => {
            let all = grid.total();
            console::note(&format!(
                "{part}: {done} of {all} runs in {}; the same command without --part gathers all parts",
                out.display()
            ));
            Exit::Success
        }
        Err(error) => say(&error),
    }
}

/// Says which finished runs were made again.
pub fn repeated(grid: &Grid) {
    let files = grid.repeated();
    if let Some(first) = files.first() {
        let more = if files.len() > 1 { format!(" and {} more files", files.len() - 1) } else { String::new() };
        console::note(&format!("{}{more} changed or damaged: the runs were repeated", first.display()));
    }
}

fn text(table: &SweepTable) -> String {
    let mut head: Vec<&str> = table.axes.iter().map(String::as_str).collect();
    head.push("outcome");
    // Every number has its own unit.
    let bare = |metric: &'_ String| metric.rsplit_once(" (").map_or(metric.as_str(), |(name, _)| name).to_owned();
    let named = |(metric, unit): (&String, &Unit)| match unit {
        Unit::Rate | Unit::Time | Unit::Size if metric.ends_with(')') => bare(metric),
        _ => metric.clone(),
    };
    let named: Vec<String> = table.metrics.iter().zip(&table.units).map(named).collect();
    head.extend(named.iter().map(String::as_str));
    let cell = |(summary, unit): (&Option<Summary>, &Unit)| {
        let shown = |value: f64| match unit {
            Unit::Count | Unit::Number => number(value),
            unit => unit.shown(value),
        };
        summary.map(|s| console::with_interval(s.mean, &s, shown)).unwrap_or_default()
    };
    let row = |row: &SweepRow| {
        let cells = row.values.iter().cloned().chain([row.outcome()]);
        cells.chain(row.summaries.iter().zip(&table.units).map(cell)).collect()
    };
    let text = console::table(&head, &table.rows.iter().map(row).collect::<Vec<_>>());
    let summaries = table.rows.iter().flat_map(|row| row.summaries.iter().flatten());
    text + &console::interval_note("±: half", "of the mean over the seeds", summaries)
}

/// A number with four significant digits.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-3..1e7).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let digits = if magnitude >= 1000.0 || value.fract() == 0.0 { 0 } else { 4 };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::{Bounds, kind_of, summarise_within};

    #[test]
    fn cells_have_units_and_keep_bounds() {
        let metrics = ["all: fairness", "all: throughput (b/s)", "delivered (B)", "pause frames"].map(str::to_owned);
        let (units, bounds): (Vec<Unit>, Vec<Bounds>) = metrics.iter().map(|name| kind_of(name, &[])).unzip();
        let measured = [[0.366, 0.726], [966.0e6, 966.1e6], [1.0e9, 1.0e9], [11.0, 15.0]];
        let summaries =
            measured.iter().zip(&bounds).map(|(values, &bounds)| summarise_within(values, bounds)).collect();
        let rows = vec![SweepRow { values: vec!["4".into()], outcomes: vec![("finished".into(), 2)], summaries }];
        let text = text(&SweepTable { axes: vec!["network.k".into()], metrics: metrics.to_vec(), units, rows });
        for wanted in
            ["966.05 Mb/s ± 635.30 kb/s", "0.5460 [0, 1]", "1 GB ± 0 B", "13 [0, 38.4120]", "all: throughput  "]
        {
            assert!(text.contains(wanted), "{wanted} in\n{text}");
        }
        assert!(!text.contains("(b/s)") && !text.contains("e8"), "{text}");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            (number(1.5), number(2e9), number(12345.6), number(0.0)),
            ("1.5000".into(), "2.000e9".into(), "12346".into(), "0".into())
        );
    }
}
