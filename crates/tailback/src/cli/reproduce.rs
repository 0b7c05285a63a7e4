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
use super::{INTERRUPT, picture, report, summary, sweep};
use render::charts;
use render::figure::{draw_grid, draw_times, grid_charts};
use results::document::{Count, Document, FigureRun, MissingPart, Paper as PaperDocument, PaperSummary};
use results::{PLOTS_FOLDER, ResultsError, remove_pictures};
use scenario::{ChartKind, Paper, Plan, VARIANT, load, load_paper};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use study::{
    FigureRuns, FigureStudy, Grid, JudgedFigure, Older, Point, SummaryError, SummaryStudy, cores, count_statements,
    file_name, statements,
};

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
            path.extension().is_some_and(|e| e == "toml")
                && name != "paper"
                && name != "base"
                && !name.starts_with("base-")
        };
        for file in entries(&folder, is_figure)? {
            figures.push(Figure { paper: paper.clone(), name: stem(&file), file });
        }
    }
    Ok(figures)
}

/// The figure of which a name like `fig4b` is a part.
fn whole_figure(name: &str) -> Option<&str> {
    let whole = name.strip_suffix(|letter: char| letter.is_ascii_lowercase())?;
    whole.ends_with(|last: char| last.is_ascii_digit()).then_some(whole)
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
    let named = |name: Option<&str>| -> Vec<&Figure> {
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
            console::note(&format!("{} is a part of {whole}, which is run as a whole", figure.unwrap_or_default()));
        }
    }
    if chosen.is_empty() {
        let near = all
            .iter()
            .map(|f| format!("{}/{}", f.paper, f.name))
            .max_by(|a, b| strsim::jaro_winkler(a, what).total_cmp(&strsim::jaro_winkler(b, what)));
        let hint = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
        console::error(&format!("there is no {what}\n  {hint}'tailback reproduce' lists what there is"));
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
    for place in chosen.iter().map(|one| place_of(one, arguments)).chain(places) {
        if let Err(error) = own_folder(&arguments.out, &place) {
            return error.say();
        }
    }
    if let Err(error) = keep_paper(&about, &folder, &arguments.out.join(paper), None) {
        return error.say();
    }
    // Of one figure the report is about that one.
    let reported = match (figure, chosen.as_slice()) {
        (Some(_), [one]) => place_of(one, arguments),
        _ => arguments.out.join(paper),
    };
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
        if let Err(error) = keep_paper(&about, &folder, &place_of(one_figure, arguments), None) {
            return error.say();
        }
        worst = worst.max(figure::ending(&judged));
        all.push((&one_figure.name, judged));
    }
    let runs: Vec<FigureRuns<'_>> = all.iter().map(|(name, judged)| judged.runs(name)).collect();
    let summed_up = whole.map(|whole| whole.judge(&runs, arguments.quick));
    let summed_up = summed_up.map(|it| (summary::text(&it), summary::document(&it), it));
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
        && let Err(error) = keep_paper(&about, &folder, &arguments.out.join(paper), Some(&count))
    {
        return error.say();
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
            console::note(&format!("{paper}: {many} statements are not checked; {} says why", listed.display()));
        }
    }
    report::also(arguments.report, &reported, worst)
}

/// Writes what the paper is and what we noted of it beside its figures, and how many of its statements agree if all
/// figures have been run.
fn keep_paper(about: &Paper, folder: &Path, out: &Path, count: Option<&Count>) -> Result<(), Unwritten> {
    let missing = about.missing.iter().filter(|(name, _)| !folder.join(format!("{name}.toml")).exists());
    let paper = PaperDocument {
        title: about.title.clone(),
        authors: about.authors.clone(),
        year: about.year,
        publisher: about.publisher.clone(),
        missing: missing.map(|(name, why)| MissingPart { name: name.clone(), why: why.clone() }).collect(),
        count: count.copied(),
        notes: files::read_inside(folder, "notes.md").unwrap_or_default(),
    };
    Ok(paper.write(out)?)
}

/// Whether a folder of results may be written to: nothing on the way to it from the directory that was named is a link.
fn own_folder(out: &Path, folder: &Path) -> Result<(), Unwritten> {
    let inside = folder.strip_prefix(out).unwrap_or(folder);
    files::no_links(out, inside).map_err(|error| Unwritten::io("write to", folder, error))
}

/// Where a figure's results go. The short form has a place of its own: it must not replace what took hours.
fn place_of(figure: &Figure, arguments: &Reproduce) -> PathBuf {
    let place = if arguments.quick { format!("{}-quick", figure.name) } else { figure.name.clone() };
    arguments.out.join(&figure.paper).join(place)
}

/// The list of papers and figures.
fn list(all: &[Figure], arguments: &Reproduce) -> Exit {
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

/// One figure: all its cells and seeds under all readings, judged; the first seed of each variant recorded and drawn.
fn one(figure: &Figure, arguments: &Reproduce) -> Result<JudgedFigure, Exit> {
    let bad = |errors| console::problems(&errors);
    let failed = |error: Unwritten| error.say();
    let mut set = arguments.set.clone();
    let replications = if arguments.quick { Some(1) } else { arguments.replications };
    set.extend(replications.map(|count| format!("run.replications={count}")));
    let mut plan = load(&figure.file, &set).map_err(bad)?;
    if let Some(quick) = plan.run.quick.filter(|_| arguments.quick) {
        // First, so that what was asked for wins.
        set.insert(0, format!("run.duration={quick}"));
        plan = load(&figure.file, &set).map_err(bad)?;
    }
    let out = place_of(figure, arguments);
    Point::fit(&plan.axes(), plan.run.replications).map_err(|error| sweep::say(&error))?;
    let study = FigureStudy::new(&plan, arguments.choices == Choices::All && !arguments.quick);
    let plan = plan.without_flows();
    let grid = Grid::new(&figure.file, &set, &plan, study.points.clone(), (&out, Older::Replace));
    let mut grid = grid.map_err(|error| sweep::say(&error))?;
    let records = records(&study, &out);
    for (point, variant, results) in &records {
        own_folder(&out, results).map_err(failed)?;
        own_folder(&out, &out.join(PLOTS_FOLDER).join(variant)).map_err(failed)?;
        grid.record(*point, results.clone());
    }
    let threads = arguments.threads.unwrap_or_else(cores);
    grid.short_of_memory(threads).iter().for_each(|text| console::note(text));
    let at_once = grid.at_once(threads);
    let progress = CountProgress::new(grid.total(), "runs");
    let results = grid.run(threads, &INTERRUPT, |done, total| progress.see(done, total));
    progress.end();
    sweep::repeated(&grid);
    let results = results.map_err(|error| sweep::say(&error))?;
    let title = format!("{}/{}: {}", figure.paper, figure.name, plan.name);
    let mut judged =
        JudgedFigure::new(&plan, study, results, &grid.seeds, (&figure.paper, &figure.name, &out), arguments.quick);
    if !arguments.json {
        let seeds = grid.seeds.len();
        let short = if arguments.quick { ", short form" } else { "" };
        let heading = format!("{title} ({seeds} {}{short})\n", if seeds == 1 { "seed" } else { "seeds" });
        console::print(&format!("{heading}{}\n", figure::text(&judged, &plan)));
    }
    let charts = grid_charts(&plan, &judged.cells);
    // A variant may have other flows and links.
    let own = |point: usize| load(&figure.file, &grid.overrides_of(point)).map_err(bad);
    let named = |plan: Plan| (plan.figure.variant.clone().unwrap_or_default(), plan.without_flows());
    let plans: Vec<(String, Plan)> =
        records.iter().map(|(point, _, _)| own(*point).map(named)).collect::<Result<_, Exit>>()?;
    let folder = |results: &Path| results.strip_prefix(&out).unwrap_or(results).to_string_lossy().into_owned();
    let runs = plans.iter().zip(&records).map(|((variant, _), (_, _, results))| (variant, folder(results)));
    judged.document.runs = runs.map(|(variant, folder)| FigureRun { variant: variant.clone(), folder }).collect();
    judged.document.charts = charts.iter().map(charts::of_grid).chain(charts::over_time(&plans)).collect();
    judged.document.write(&out).map_err(|error| failed(error.into()))?;
    let plots = out.join(PLOTS_FOLDER);
    // What an earlier form of the figure drew is not of this one.
    remove_pictures(&plots);
    let refused = |error: &ResultsError| {
        console::error(&error.to_string());
        Exit::refusal(error)
    };
    // The short form of a figure that says what it draws draws no more than that.
    let times = plan.figure.charts.iter().any(|chart| matches!(chart.kind, ChartKind::Time { .. }));
    let usual = !(arguments.quick && times);
    let next = AtomicUsize::new(0);
    let draw = || -> Result<(), Exit> {
        while let Some((point, variant, results)) = records.get(next.fetch_add(1, Ordering::Relaxed)) {
            let folder = plots.join(variant);
            if usual {
                picture::draw(results, &folder, false).map_err(|error| refused(&error))?;
            }
            for title in draw_times(&own(*point)?, results, &folder).map_err(|error| refused(&error))? {
                console::note(&format!("nothing recorded to draw '{title}' from: look at probes.record"));
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once.clamp(1, records.len().max(1))).map(|_| scope.spawn(draw)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Err(Exit::Failure)))
    })?;
    draw_grid(&charts, &plots).map_err(|error| refused(&error))?;
    console::note(&format!("pictures in {}", plots.display()));
    Ok(judged)
}

/// The cells whose first seed is recorded, the first of each variant: the cell, the folder of the variant's pictures,
/// and where the results go.
fn records(study: &FigureStudy, out: &Path) -> Vec<(usize, String, PathBuf)> {
    let mut seen: Vec<String> = Vec::new();
    let mut records = Vec::new();
    for &point in study.own() {
        let variant = study.points[point].cell().into_iter().find(|(axis, _)| axis == VARIANT).map(|(_, name)| name);
        let variant = variant.unwrap_or_default();
        if !seen.contains(&variant) {
            let folder = if variant.is_empty() { String::new() } else { file_name(&variant, &seen) };
            records.push((point, folder.clone(), out.join("run").join(folder)));
            seen.push(variant);
        }
    }
    records
}
