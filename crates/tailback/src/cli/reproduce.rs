//! `reproduce`: a paper's figures run again, with a verdict on every number and every trend the paper states.
//!
//! `papers/PAPER/` holds `paper.toml` (title, authors, year), `notes.md`, and one scenario per figure; what the paper
//! states is that scenario's `[[expectations]]` and `[[trends]]`, each with the place of the sentence, and what it leaves
//! open its `[[choices]]`. `base*.toml` is what figures share.

use super::arguments::{Choices, Reproduce};
use super::console::{self, CountProgress};
use super::count;
use super::exit::{Exit, Unwritten};
use super::figure;
use super::{INTERRUPT, deadline, report, slurm, sweep};
use render::paper::write_figure;
use results::PLOTS_FOLDER;
use results::document::{Document, PaperSummary};
use scenario::load;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;
use study::{
    Conclusion, FigureError, FigureOptions, FigureRunner, Grid, JudgedFigure, PaperError, PaperFigure, PaperStudy,
    cores,
};

/// Says why a figure was not run.
fn refused(error: FigureError) -> Exit {
    match error {
        FigureError::Scenario(errors) => console::problems(&errors),
        FigureError::Grid(error) => sweep::say(&error),
        FigureError::Results(error) => Unwritten::from(error).say(),
    }
}

/// Says why a paper was not reproduced.
fn say(error: PaperError) -> Exit {
    match error {
        PaperError::Scenario(errors) => console::problems(&errors),
        PaperError::Figure(error) => refused(error),
        PaperError::Results(error) => Unwritten::from(error).say(),
        PaperError::Wrong(wrong) => {
            wrong.iter().for_each(|message| console::error(message));
            Exit::BadInput
        }
        error => {
            console::error(&error.to_string());
            Exit::BadInput
        }
    }
}

/// `tailback reproduce`
pub fn reproduce(arguments: &Reproduce) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    let Some(what) = &arguments.what else {
        if arguments.slurm.slurm {
            console::error("--slurm needs something to run\n  give PAPER or PAPER/FIGURE");
            return Exit::BadInput;
        }
        return match PaperFigure::all(&arguments.papers).map_err(PaperError::Papers) {
            Ok(figures) => list(&figures, arguments),
            Err(error) => say(error),
        };
    };
    let study = match PaperStudy::choose(&arguments.papers, what) {
        Ok(study) => study,
        Err(error) => return say(error),
    };
    let (paper, out) = (study.paper.as_str(), (arguments.out.as_path(), arguments.quick));
    if let (Some(whole), Some(figure)) = (&study.part_of, &study.figure) {
        console::note(&format!("{figure} is part of {whole}; the whole of it is run"));
    }
    let whole = match study.prepare(out, &arguments.set) {
        Ok(whole) => whole,
        Err(error) => return say(error),
    };
    if let Some(part) = arguments.part {
        for one in &study.figures {
            let exit = prepared(one, arguments).map_or_else(std::convert::identity, |runner| {
                let threads = arguments.threads.unwrap_or_else(cores);
                sweep::make_part(&runner.grid, part, threads, &runner.out)
            });
            if exit != Exit::Success {
                return exit;
            }
        }
        return Exit::Success;
    }
    if let Err(error) = study.describe(out, None, None) {
        return Unwritten::from(error).say();
    }
    let reported = study.place(out.0, out.1);
    if let Err(exit) = report::may_follow(arguments.report, &reported) {
        return exit;
    }
    if arguments.slurm.slurm
        && let Err(exit) = on_cluster(&study.figures, arguments, &reported)
    {
        return exit;
    }
    let mut worst = Exit::Success;
    let mut all: Vec<(&str, JudgedFigure)> = Vec::new();
    for (number, one_figure) in study.figures.iter().enumerate() {
        if study.figures.len() > 1 {
            console::note(&format!("{}, {} of {}", one_figure.name, number + 1, study.figures.len()));
        }
        let judged = match one(one_figure, arguments) {
            Ok(judged) => judged,
            Err(exit) => return exit,
        };
        if let Err(error) = study.describe(out, Some(one_figure), None) {
            return Unwritten::from(error).say();
        }
        worst = worst.max(figure::ending(&judged));
        all.push((&one_figure.name, judged));
    }
    let Conclusion { summary, count } = match study.conclude(whole.as_ref(), &all, out) {
        Ok(conclusion) => conclusion,
        Err(error) => return Unwritten::from(error).say(),
    };
    if summary.as_ref().is_some_and(|(summary, _)| summary.disagrees()) {
        worst = worst.max(Exit::Disagreement);
    }
    let is_whole = study.figure.is_none();
    if arguments.json {
        let figures = all.iter().map(|(_, judged)| judged.document.to_json());
        let whole = is_whole.then(|| json!({ "paper": paper, "count": count }));
        let summaries = summary.iter().map(|(_, document)| PaperSummary::to_json(document));
        let told: Vec<Value> = figures.chain(summaries).chain(whole).collect();
        console::print(&format!("{:#}\n", json!(told)));
    } else if is_whole {
        let rows: Vec<Vec<String>> =
            all.iter().map(|(name, judged)| count::row(name, &judged.document.count)).collect();
        let table = console::table(&["figure", "agree", "disagree", "undetermined", "measurements"], &rows);
        let short = if arguments.quick { ", short form" } else { "" };
        console::print(&format!("{paper}, statements of all figures{short}\n{table}"));
        if let Some((summary, _)) = &summary {
            console::print(&format!("\n{}", summary.text()));
        }
        // A statement that several figures measure is in the row of each, and once here.
        console::print(&format!("\n{}", count::text(&count)));
    }
    match study.missing().count() {
        _ if !is_whole => {}
        few @ 0..=5 => {
            for (name, why) in study.missing().take(few) {
                console::note(&format!("{paper}, not checked: {name}: {why}"));
            }
        }
        many => {
            let listed = arguments.out.join(paper).join("paper.json");
            console::note(&format!(
                "{paper}: {many} statements are not checked; {} gives the reasons",
                listed.display()
            ));
        }
    }
    report::also(arguments.report, &reported, worst)
}

/// The list of papers and figures.
fn list(all: &[PaperFigure], arguments: &Reproduce) -> Exit {
    let mut rows = Vec::new();
    for figure in all {
        let (name, stated) = match load(&figure.file, &arguments.set) {
            Ok(plan) => {
                let numbers = plan.expectations.iter().filter(|expectation| expectation.expected.is_some()).count();
                (plan.name, [numbers.to_string(), plan.figure.trends.len().to_string()])
            }
            Err(errors) => (format!("{} errors in the file", errors.count()), Default::default()),
        };
        let [numbers, trends] = stated;
        rows.push(vec![format!("{}/{}", figure.paper, figure.name), name, numbers, trends]);
    }
    if arguments.json {
        let count = |text: &String| text.parse::<u64>().ok();
        let row = |row: &Vec<String>| json!({ "figure": row[0], "title": row[1], "numbers": count(&row[2]), "trends": count(&row[3]) });
        console::print(&format!("{:#}\n", json!(rows.iter().map(row).collect::<Vec<_>>())));
    } else {
        console::print(&console::table(&["figure", "title", "numbers", "trends"], &rows));
    }
    Exit::Success
}

/// A figure, ready to run.
fn prepared(figure: &PaperFigure, arguments: &Reproduce) -> Result<FigureRunner, Exit> {
    // From here on it writes; an interrupt is looked at between runs.
    deadline::running();
    let out = figure.place(&arguments.out, arguments.quick);
    let options = FigureOptions {
        overrides: &arguments.set,
        short_form: arguments.quick,
        replications: arguments.replications,
        choices: arguments.choices == Choices::All,
    };
    FigureRunner::new(figure.clone(), out, &options).map_err(refused)
}

/// Has the runs of all figures made on a cluster.
fn on_cluster(figures: &[PaperFigure], arguments: &Reproduce, out: &Path) -> Result<(), Exit> {
    let runners: Result<Vec<FigureRunner>, Exit> = figures.iter().map(|figure| prepared(figure, arguments)).collect();
    let runners = runners?;
    let grids: Vec<&Grid> = runners.iter().map(|runner| &runner.grid).collect();
    slurm::wait(&arguments.slurm, arguments.threads, task_words(arguments), &grids, out)
}

/// The arguments of a task that makes a part of the figures' runs.
fn task_words(arguments: &Reproduce) -> Vec<OsString> {
    let Reproduce { what, papers, out, replications, choices, quick, set, .. } = arguments;
    let mut words: Vec<OsString> = vec!["reproduce".into()];
    words.extend([slurm::joined("--papers=", papers), slurm::joined("--out=", out)]);
    words.extend(replications.map(|count| format!("--replications={count}").into()));
    words.extend(quick.then(|| "--quick".into()));
    words.extend((*choices == Choices::None).then(|| "--choices=none".into()));
    words.extend(set.iter().map(|set| format!("--set={set}").into()));
    words.push("--".into());
    words.extend(what.iter().map(OsString::from));
    words
}

/// One figure: all its cells and seeds under all readings, judged; the first seed of each variant recorded and drawn.
fn one(figure: &PaperFigure, arguments: &Reproduce) -> Result<JudgedFigure, Exit> {
    let runner = prepared(figure, arguments)?;
    let (grid, out) = (&runner.grid, &runner.out);
    let threads = arguments.threads.unwrap_or_else(cores);
    grid.short_of_memory(threads).iter().for_each(|text| console::note(text));
    let progress = CountProgress::new(grid.total(), "runs");
    let judged = runner.run(threads, &INTERRUPT, |done, total| progress.see(done, total));
    progress.end();
    sweep::repeated(grid);
    let judged = judged.map_err(refused)?;
    if !arguments.json {
        let seeds = grid.seeds.len();
        let short = if arguments.quick { ", short form" } else { "" };
        let title = format!("{}/{}: {}", figure.paper, figure.name, runner.plan.name);
        let heading = format!("{title} ({seeds} {}{short})\n", if seeds == 1 { "seed" } else { "seeds" });
        console::print(&format!("{heading}{}\n", figure::text(&judged, &runner.plan)));
    }
    for title in write_figure(&runner, &judged, threads).map_err(refused)? {
        console::note(&format!("'{title}' is not drawn: its table is not recorded; add it to probes.record"));
    }
    console::note(&format!("pictures in {}", out.join(PLOTS_FOLDER).display()));
    Ok(judged)
}
