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
use super::{INTERRUPT, deadline, picture, report, slurm, summary, sweep};
use render::figure::{draw_grid, draw_times};
use render::plot::Drawn;
use results::document::{Document, PaperSummary};
use results::{Kind, PLOTS_FOLDER, REPORT_FILE, ResultsError, remove_pictures};
use scenario::{ChartKind, Paper, load, load_paper, near_name};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use study::{
    FigureError, FigureOptions, FigureRunner, FigureRuns, Grid, JudgedFigure, PaperFigure, SummaryError, SummaryStudy,
    cores, count_statements, own_folder, paper_document, statements, whole_figure,
};

/// Says why a figure was not run.
fn refused(error: FigureError) -> Exit {
    match error {
        FigureError::Scenario(errors) => console::problems(&errors),
        FigureError::Grid(error) => sweep::say(&error),
        FigureError::Results(error) => Unwritten::from(error).say(),
    }
}

/// `tailback reproduce`
pub fn reproduce(arguments: &Reproduce) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    let all = match PaperFigure::all(&arguments.papers) {
        Ok(figures) => figures,
        Err(error) => {
            console::error(&format!("{error}\n  run this where the papers are, or give --papers FOLDER"));
            return Exit::BadInput;
        }
    };
    let Some(what) = &arguments.what else {
        if arguments.slurm.slurm {
            console::error("--slurm needs something to run\n  give PAPER or PAPER/FIGURE");
            return Exit::BadInput;
        }
        return list(&all, arguments);
    };
    let (paper, figure) = match what.split_once('/') {
        Some((paper, figure)) => (paper, Some(figure)),
        None => (what.as_str(), None),
    };
    let named = |name: Option<&str>| -> Vec<&PaperFigure> {
        all.iter().filter(|f| f.paper == paper && name.is_none_or(|name| f.name == name)).collect()
    };
    let folder = arguments.papers.join(paper);
    // A folder that is none is told of below; without a paper.toml nothing is said of the whole.
    let file = folder.join("paper.toml");
    let about = if file.exists() { load_paper(&file) } else { Ok(Paper::default()) };
    let about = match about {
        Ok(about) => about,
        Err(errors) => return console::problems(&errors),
    };
    let mut chosen = named(figure);
    if let Some((name, why)) = about.missing.iter().find(|(name, _)| chosen.is_empty() && Some(name.as_str()) == figure)
    {
        console::error(&format!("{paper}/{name} cannot be run: {why}"));
        return Exit::BadInput;
    }
    if let Some(whole) = figure.and_then(whole_figure).filter(|_| chosen.is_empty()) {
        chosen = named(Some(whole));
        if !chosen.is_empty() {
            console::note(&format!("{} is part of {whole}; the whole of it is run", figure.unwrap_or_default()));
        }
    }
    if chosen.is_empty() {
        let hint = meant(&all, (paper, figure)).map(|near| format!("did you mean {near}? ")).unwrap_or_default();
        console::error(&format!("there is no {what}\n  {hint}'tailback reproduce' lists all figures"));
        return Exit::BadInput;
    }
    let files: Vec<(&str, &Path)> = chosen.iter().map(|figure| (figure.name.as_str(), figure.file.as_path())).collect();
    let whole = if figure.is_none() { SummaryStudy::new(&about, &files, &arguments.set) } else { Ok(None) };
    let whole = match whole {
        Ok(whole) => whole,
        Err(SummaryError::Scenario(errors)) => return console::problems(&errors),
        Err(SummaryError::Wrong(wrong)) => {
            wrong.iter().for_each(|message| console::error(message));
            return Exit::BadInput;
        }
    };
    // Before the work rather than after it.
    let places = ["summary", "summary-quick"].map(|name| arguments.out.join(paper).join(name));
    for place in chosen.iter().map(|one| one.place(&arguments.out, arguments.quick)).chain(places) {
        if let Err(error) = own_folder(&arguments.out, &place) {
            return Unwritten::from(error).say();
        }
    }
    if let Some(part) = arguments.part {
        for one in chosen {
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
    if let Err(error) = paper_document(&about, &folder, None).write(&arguments.out.join(paper)) {
        return Unwritten::from(error).say();
    }
    // Of one figure the report is about that one.
    let reported = match (figure, chosen.as_slice()) {
        (Some(_), [one]) => one.place(&arguments.out, arguments.quick),
        _ => arguments.out.join(paper),
    };
    if let Err(exit) = report::may_follow(arguments.report, &reported) {
        return exit;
    }
    if arguments.slurm.slurm
        && let Err(exit) = on_cluster(&chosen, arguments, &reported)
    {
        return exit;
    }
    let mut worst = Exit::Success;
    let mut all: Vec<(&str, JudgedFigure)> = Vec::new();
    for (number, one_figure) in chosen.iter().enumerate() {
        if chosen.len() > 1 {
            console::note(&format!("{}, {} of {}", one_figure.name, number + 1, chosen.len()));
        }
        let judged = match one(one_figure, arguments) {
            Ok(judged) => judged,
            Err(exit) => return exit,
        };
        // Beside the figure as well: its report reads nothing outside its own folder.
        if let Err(error) =
            paper_document(&about, &folder, None).write(&one_figure.place(&arguments.out, arguments.quick))
        {
            return Unwritten::from(error).say();
        }
        worst = worst.max(figure::ending(&judged));
        all.push((&one_figure.name, judged));
    }
    let runs: Vec<FigureRuns<'_>> = all.iter().map(|(name, judged)| judged.runs(name)).collect();
    let summed_up = whole.map(|whole| whole.judge(&runs, arguments.quick));
    let summed_up = summed_up.map(|it| (summary::text(&it), it.document(), it));
    if let Some((text, document, summed_up)) = &summed_up {
        worst = worst.max(if summed_up.disagrees() { Exit::Disagreement } else { Exit::Success });
        let place = if arguments.quick { "summary-quick" } else { "summary" };
        if let Err(error) = summed_up.write(&arguments.out.join(paper).join(place), document, text) {
            return Unwritten::from(error).say();
        }
    }
    let evidence = all.iter().flat_map(|(_, judged)| &judged.evidence);
    let evidence = evidence.chain(summed_up.iter().flat_map(|(_, _, summary)| &summary.evidence));
    let count = count_statements(&statements(evidence), arguments.quick);
    if figure.is_none()
        && let Err(error) = paper_document(&about, &folder, Some(&count)).write(&arguments.out.join(paper))
    {
        return Unwritten::from(error).say();
    }
    if arguments.json {
        let figures = all.iter().map(|(_, judged)| judged.document.to_json());
        let whole = figure.is_none().then(|| json!({ "paper": paper, "count": count }));
        let summaries = summed_up.iter().map(|(_, document, _)| PaperSummary::to_json(document));
        let told: Vec<Value> = figures.chain(summaries).chain(whole).collect();
        console::print(&format!("{:#}\n", json!(told)));
    } else if figure.is_none() {
        let rows: Vec<Vec<String>> =
            all.iter().map(|(name, judged)| count::row(name, &judged.document.count)).collect();
        let table = console::table(&["figure", "agree", "disagree", "undetermined", "measurements"], &rows);
        let short = if arguments.quick { ", short form" } else { "" };
        console::print(&format!("{paper}, statements of all figures{short}\n{table}"));
        if let Some((text, ..)) = &summed_up {
            console::print(&format!("\n{text}"));
        }
        // A statement that several figures measure is in the row of each, and once here.
        console::print(&format!("\n{}", count::text(&count)));
    }
    let missing = || about.missing.iter().filter(|(name, _)| !files.iter().any(|(file, _)| file == name));
    match missing().count() {
        _ if figure.is_some() => {}
        few @ 0..=5 => {
            for (name, why) in missing().take(few) {
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

/// The paper or figure that an unknown name probably means.
fn meant(all: &[PaperFigure], (paper, figure): (&str, Option<&str>)) -> Option<String> {
    let papers: BTreeSet<&str> = all.iter().map(|known| known.paper.as_str()).collect();
    let paper = if papers.contains(paper) { Some(paper) } else { near_name(paper, papers.into_iter()) }?;
    let Some(figure) = figure else { return Some(paper.to_owned()) };
    let figures = all.iter().filter(|known| known.paper == paper).map(|known| known.name.as_str());
    near_name(figure, figures).map(|figure| format!("{paper}/{figure}"))
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
fn on_cluster(figures: &[&PaperFigure], arguments: &Reproduce, out: &Path) -> Result<(), Exit> {
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
    let unwritten = |error: ResultsError| Unwritten::from(error).say();
    let plots = out.join(PLOTS_FOLDER);
    let mut all = Drawn::default();
    draw(&runner, arguments, threads)?.into_iter().for_each(|drawn| all.append(drawn));
    all.append(draw_grid(&judged.document.charts, &plots));
    // All names before the first file: a refusal leaves the directory as it was.
    all.check(false).map_err(unwritten)?;
    judged.document.write(out).map_err(unwritten)?;
    // Reports of an earlier form of the figure are out of date.
    for folder in [Some(out.as_path()), out.parent()].into_iter().flatten() {
        Kind::Report.remove(&folder.join(REPORT_FILE));
    }
    // What an earlier form of the figure drew is not of this one.
    remove_pictures(&plots);
    all.write(false).map_err(unwritten)?;
    console::note(&format!("pictures in {}", plots.display()));
    Ok(judged)
}

/// Draws the recorded runs of a figure, in their order.
fn draw(runner: &FigureRunner, arguments: &Reproduce, threads: usize) -> Result<Vec<Drawn>, Exit> {
    let unwritten = |error: ResultsError| Unwritten::from(error).say();
    let plots = runner.out.join(PLOTS_FOLDER);
    // The short form of a figure that says what it draws draws no more than that.
    let times = runner.plan.figure.charts.iter().any(|chart| matches!(chart.kind, ChartKind::Time { .. }));
    let usual = !(arguments.quick && times);
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, Drawn)>, Exit> {
        let mut all = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(record) = runner.records.get(number) else { return Ok(all) };
            let folder = plots.join(&record.folder);
            let usual = usual.then(|| picture::drawn(&record.results, &folder)).transpose();
            let mut drawn = usual.map_err(unwritten)?.unwrap_or_default();
            let plan = runner.plan_of(record).map_err(refused)?;
            let (over_time, empty) = draw_times(&plan, &record.results, &folder).map_err(unwritten)?;
            for title in empty {
                console::note(&format!("'{title}' is not drawn: its table is not recorded; add it to probes.record"));
            }
            drawn.append(over_time);
            all.push((number, drawn));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let count = runner.grid.at_once(threads).clamp(1, runner.records.len().max(1));
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().unwrap_or(Err(Exit::Failure))?);
        }
        Ok(all)
    })?;
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, drawn)| drawn).collect())
}
