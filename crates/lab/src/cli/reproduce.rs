//! `reproduce`: a paper's figures run again, with a verdict on every number the paper states.
//!
//! `papers/PAPER/` holds `paper.toml` (title, authors, year), `notes.md`, and one scenario per figure; what the paper
//! states is that scenario's `[[expectations]]`, each with the place of the sentence. `base*.toml` is what figures share.

use super::arguments::Reproduce;
use super::console::{self, CountProgress};
use super::exit::Exit;
use super::run::{cores, judgement_json, judgement_table, say};
use super::{INTERRUPT, picture};
use lab::scenario::{Metric, Plan, load};
use lab::study::{Judgement, Measures, Options, Recording, Verdict, execute, judge};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A figure of a paper.
struct Figure {
    paper: String,
    name: String,
    file: PathBuf,
}

/// Folders or scenario files of a folder, by name.
fn entries(folder: &Path, want: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, String> {
    let read = std::fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).filter(|path| want(path)).collect();
    paths.sort();
    Ok(paths)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn figures(papers: &Path) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for folder in entries(papers, Path::is_dir)? {
        let paper = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_figure = |path: &Path| {
            let name = stem(path);
            path.extension().is_some_and(|e| e == "toml") && name != "paper" && !name.starts_with("base")
        };
        for file in entries(&folder, is_figure)? {
            figures.push(Figure { paper: paper.clone(), name: stem(&file), file });
        }
    }
    Ok(figures)
}

/// `tailback reproduce`
pub fn reproduce(arguments: &Reproduce) -> Exit {
    let all = match figures(&arguments.papers) {
        Ok(figures) => figures,
        Err(error) => {
            console::error(&format!("{error}; run this where the papers are, or say --papers FOLDER"));
            return Exit::BadInput;
        }
    };
    let Some(what) = &arguments.what else { return list(&all, arguments) };
    let (paper, figure) = match what.split_once('/') {
        Some((paper, figure)) => (paper, Some(figure)),
        None => (what.as_str(), None),
    };
    let chosen: Vec<&Figure> =
        all.iter().filter(|f| f.paper == paper && figure.is_none_or(|name| f.name == name)).collect();
    if chosen.is_empty() {
        let near = all
            .iter()
            .map(|f| format!("{}/{}", f.paper, f.name))
            .max_by(|a, b| strsim::jaro_winkler(a, what).total_cmp(&strsim::jaro_winkler(b, what)));
        let hint = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
        console::error(&format!("there is no {what}\n  {hint}'tailback reproduce' lists what there is"));
        return Exit::BadInput;
    }
    let mut worst = Exit::Success;
    let mut told: Vec<Value> = Vec::new();
    for figure in chosen {
        let exit = match one(figure, arguments, &mut told) {
            Ok(judgements) if judgements.iter().any(|j| j.verdict == Verdict::Disagrees) => Exit::Disagreement,
            Ok(judgements) => unexpected(&judgements),
            Err(exit) => exit,
        };
        if matches!(exit, Exit::Interrupted | Exit::Failure | Exit::BadInput) {
            return exit;
        }
        worst = worst.max(exit);
    }
    if arguments.json {
        console::print(&format!("{:#}\n", json!(told)));
    }
    worst
}

/// How a figure ends the program whose numbers agree: a run that lost frames or stood still is no success unless the
/// figure says that it does.
fn unexpected(judgements: &[Judgement]) -> Exit {
    if judgements.iter().any(|judgement| judgement.expectation.metric == Metric::Outcome) {
        return Exit::Success;
    }
    let outcomes = || judgements.iter().flat_map(|judgement| judgement.outcomes.iter());
    match () {
        () if outcomes().any(|outcome| outcome == "loss") => Exit::Loss,
        () if outcomes().any(|outcome| outcome == "deadlock") => Exit::Deadlock,
        () if outcomes().any(|outcome| outcome == "limit") => Exit::Limit,
        () => Exit::Success,
    }
}

/// The list of papers and figures.
fn list(all: &[Figure], arguments: &Reproduce) -> Exit {
    let mut rows = Vec::new();
    for figure in all {
        let (name, numbers) = match load(&figure.file, &arguments.set) {
            Ok(plan) => (plan.name, plan.expectations.len().to_string()),
            Err(errors) => (format!("{} errors in the file", errors.count()), String::new()),
        };
        rows.push(vec![format!("{}/{}", figure.paper, figure.name), name, numbers]);
    }
    if arguments.json {
        let row =
            |row: &Vec<String>| json!({ "figure": row[0], "title": row[1], "numbers": row[2].parse::<u64>().ok() });
        console::print(&format!("{:#}\n", json!(rows.iter().map(row).collect::<Vec<_>>())));
    } else {
        console::print(&console::table(&["figure", "title", "numbers"], &rows));
    }
    Exit::Success
}

/// One figure: its first seed recorded and drawn, the others measured.
fn one(figure: &Figure, arguments: &Reproduce, told: &mut Vec<Value>) -> Result<Vec<Judgement>, Exit> {
    let mut set = arguments.set.clone();
    set.extend(arguments.replications.map(|count| format!("run.replications={count}")));
    let plan = load(&figure.file, &set).map_err(|errors| console::problems(&errors))?;
    let out = arguments.out.join(&figure.paper).join(&figure.name);
    let seeds: Vec<u64> = (0..u64::from(plan.run.replications.max(1))).map(|n| plan.run.seed.wrapping_add(n)).collect();
    let progress = CountProgress::new(seeds.len(), "runs");
    let runs = all_seeds(&plan, &seeds, &out, arguments.threads.unwrap_or_else(cores), &progress);
    progress.end();
    let runs = runs?;
    let judgements: Vec<Judgement> = plan.expectations.iter().map(|expectation| judge(expectation, &runs)).collect();
    if !arguments.json {
        let heading = format!("{}/{}: {} ({} seeds)\n", figure.paper, figure.name, plan.name, seeds.len());
        console::print(&format!("{heading}{}\n", judgement_table(&judgements)));
    }
    picture::draw(&out, &out.join("plots")).map_err(|error| {
        console::error(&error.to_string());
        Exit::refusal(&error)
    })?;
    console::note(&format!("pictures in {}", out.join("plots").display()));
    told.push(json!({
        "paper": figure.paper,
        "figure": figure.name,
        "title": plan.name,
        "seeds": seeds,
        "numbers": judgements.iter().map(judgement_json).collect::<Vec<_>>(),
        "results": out,
    }));
    Ok(judgements)
}

/// Runs all seeds, one per thread.
fn all_seeds(
    plan: &Plan,
    seeds: &[u64],
    out: &Path,
    threads: usize,
    progress: &CountProgress,
) -> Result<Vec<Measures>, Exit> {
    let record = Recording { out: out.to_owned(), overwrite: true };
    let found: Mutex<Vec<(usize, Measures)>> = Mutex::new(Vec::new());
    let failed: Mutex<Option<Exit>> = Mutex::new(None);
    // Only the first failure is told.
    let fail = |tell: &dyn Fn() -> Exit| {
        if let Ok(mut failed) = failed.lock() {
            failed.get_or_insert_with(tell);
        }
    };
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, seeds.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&seed) = seeds.get(place) else { return };
                    let plan = match plan.with_seed(seed) {
                        Ok(plan) => plan,
                        Err(errors) => return fail(&|| console::problems(&errors)),
                    };
                    let record = (place == 0).then_some(&record);
                    let options = Options { threads: 1, time_limit: None, interrupt: &INTERRUPT, record };
                    match execute(&plan, &options, |_| {}) {
                        Ok(run) => {
                            if let Ok(mut found) = found.lock() {
                                found.push((place, run.measures));
                            }
                            progress.see(done.fetch_add(1, Ordering::Relaxed) + 1, seeds.len());
                        }
                        Err(error) => return fail(&|| say(&error)),
                    }
                    if INTERRUPT.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
    });
    if let Some(exit) = failed.into_inner().unwrap_or_default() {
        return Err(exit);
    }
    if INTERRUPT.load(Ordering::Relaxed) {
        return Err(Exit::Interrupted);
    }
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by_key(|(place, _)| *place);
    Ok(found.into_iter().map(|(_, measures)| measures).collect())
}
