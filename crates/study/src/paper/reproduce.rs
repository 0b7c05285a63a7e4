//! Reproduction of a paper's figures, with a verdict on every number and trend that the paper states.
//!
//! `papers/PAPER/` contains `paper.toml` (title, authors, year), `notes.md`, and one scenario per figure. The
//! statements of the paper are the scenario's `[[expectations]]` and `[[trends]]`, each with its source; open questions
//! are its `[[choices]]`. Figures share `base*.toml`.

use super::charts::{grid_charts, time_charts};
use super::figure::FigureStudy;
use super::judged_figure::JudgedFigure;
use crate::grid::GridError;
use crate::grid::points::{Grid, GridPoint, Older};
use crate::run::names::file_name;
use results::document::{Count, FigureRun, MissingPart, Paper as PaperDocument};
use results::{Manifest, PLOTS_FOLDER, ResultsError, hex};
use scenario::{Errors, Paper, Plan, VARIANT, load};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A figure of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaperFigure {
    /// Folder of the paper.
    pub paper: String,
    /// Name of the figure.
    pub name: String,
    /// Scenario of the figure.
    pub file: PathBuf,
}

/// Returns the folders or scenario files in a folder, sorted by name.
fn entries(folder: &Path, want: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, ResultsError> {
    let read = std::fs::read_dir(folder).map_err(|error| ResultsError::io("read", folder, error))?;
    let mut paths: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).filter(|path| want(path)).collect();
    paths.sort();
    Ok(paths)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

impl PaperFigure {
    /// Returns all figures of all papers in a folder.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn all(papers: &Path) -> Result<Vec<PaperFigure>, ResultsError> {
        let mut figures = Vec::new();
        for folder in entries(papers, Path::is_dir)? {
            let paper = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let is_figure = |path: &Path| {
                let name = stem(path);
                path.extension().is_some_and(|extension| extension == "toml")
                    && name != "paper"
                    && name != "base"
                    && !name.starts_with("base-")
            };
            for file in entries(&folder, is_figure)? {
                figures.push(PaperFigure { paper: paper.clone(), name: stem(&file), file });
            }
        }
        Ok(figures)
    }

    /// Returns the directory of its results below `out`. The short form has a separate directory, so that it never
    /// replaces the results of a full run.
    #[must_use]
    pub fn place(&self, out: &Path, short_form: bool) -> PathBuf {
        let place = if short_form { format!("{}-quick", self.name) } else { self.name.clone() };
        out.join(&self.paper).join(place)
    }
}

/// Returns the figure that a name like `fig4b` is a part of.
#[must_use]
pub(crate) fn whole_figure(name: &str) -> Option<&str> {
    let whole = name.strip_suffix(|letter: char| letter.is_ascii_lowercase())?;
    whole.ends_with(|last: char| last.is_ascii_digit()).then_some(whole)
}

/// Returns the document of a paper in `folder`: its description, its parts that no scenario checks, and our notes.
/// `count` are the counts of its statements, if all figures were run.
#[must_use]
pub fn paper_document(about: &Paper, folder: &Path, count: Option<&Count>) -> PaperDocument {
    let missing = about.missing.iter().filter(|(name, _)| !folder.join(format!("{name}.toml")).exists());
    PaperDocument {
        title: about.title.clone(),
        authors: about.authors.clone(),
        year: about.year,
        publisher: about.publisher.clone(),
        missing: missing.map(|(name, why)| MissingPart { name: name.clone(), why: why.clone() }).collect(),
        count: count.copied(),
        notes: files::read_inside(folder, "notes.md").unwrap_or_default(),
    }
}

/// Checks that a folder of results may be written to: no component between `out` and the folder is a link.
///
/// # Errors
/// Returns an error if one is.
pub fn own_folder(out: &Path, folder: &Path) -> Result<(), ResultsError> {
    let inside = folder.strip_prefix(out).unwrap_or(folder);
    files::no_links(out, inside).map_err(|error| ResultsError::io("write to", folder, error))
}

/// Options for running a figure.
#[derive(Clone, Copy, Debug)]
pub struct FigureOptions<'a> {
    /// Overrides of all cells.
    pub overrides: &'a [String],
    /// Whether to run the short form: one seed, one reading, and the duration of the scenario's `run.quick`.
    pub short_form: bool,
    /// Number of seeds of each cell, if it differs from the scenario's.
    pub replications: Option<u32>,
    /// Whether to run the alternatives of open choices as well.
    pub choices: bool,
}

/// A figure that is ready to run.
pub struct FigureRunner {
    /// The figure.
    pub figure: PaperFigure,
    /// Plan of the figure.
    pub plan: Plan,
    /// Runs of the figure.
    pub grid: Grid,
    /// Runs that are recorded.
    pub records: Vec<FigureRecord>,
    /// Directory of the figure.
    pub out: PathBuf,
    study: FigureStudy,
    /// Whether it is the short form.
    pub short_form: bool,
}

/// A recorded run of a figure: the first seed of the first cell of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureRecord {
    /// Index of the cell.
    pub point: usize,
    /// Folder of the variant's plots.
    pub folder: String,
    /// Path of its results.
    pub results: PathBuf,
}

/// An error of running a figure.
#[derive(Debug)]
pub enum FigureError {
    /// The scenario is invalid.
    Scenario(Errors),
    /// The runs failed.
    Grid(GridError),
    /// The results cannot be written.
    Results(ResultsError),
}

impl FigureRunner {
    /// Prepares a figure whose results are written to a directory.
    ///
    /// # Errors
    /// Returns an error if the scenario is invalid, or if the directory contains something else or cannot be created.
    pub fn new(figure: PaperFigure, out: PathBuf, options: &FigureOptions<'_>) -> Result<FigureRunner, FigureError> {
        let mut set = options.overrides.to_vec();
        let replications = if options.short_form { Some(1) } else { options.replications };
        set.extend(replications.map(|count| format!("run.replications={count}")));
        let mut plan = load(&figure.file, &set).map_err(FigureError::Scenario)?;
        if let Some(quick) = plan.run.quick.filter(|_| options.short_form) {
            // First, so that what was asked for wins.
            set.insert(0, format!("run.duration={quick}"));
            plan = load(&figure.file, &set).map_err(FigureError::Scenario)?;
        }
        GridPoint::fit(&plan.axes(), plan.run.replications).map_err(FigureError::Grid)?;
        let study = FigureStudy::new(&plan, options.choices && !options.short_form);
        let plan = plan.without_flows();
        let grid = Grid::new(&figure.file, &set, &plan, study.points.clone(), (&out, Older::Replace));
        let mut grid = grid.map_err(FigureError::Grid)?;
        let records = records(&study, &out);
        for record in &records {
            own_folder(&out, &record.results).map_err(FigureError::Results)?;
            own_folder(&out, &out.join(PLOTS_FOLDER).join(&record.folder)).map_err(FigureError::Results)?;
            grid.record(record.point, record.results.clone());
        }
        Ok(FigureRunner { figure, plan, grid, records, out, study, short_form: options.short_form })
    }

    /// Executes all unfinished runs and judges the figure.
    ///
    /// # Errors
    /// Returns the first error; finished runs are kept.
    pub fn run(
        &self,
        threads: usize,
        interrupt: &AtomicBool,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<JudgedFigure, FigureError> {
        let results = self.grid.run(threads, interrupt, progress).map_err(FigureError::Grid)?;
        let about = (self.figure.paper.as_str(), self.figure.name.as_str());
        let study = self.study.clone();
        let mut judged = JudgedFigure::new(&self.plan, study, results, &self.grid.seeds, about, self.short_form);
        let mut variants = Vec::new();
        let folder = |results: &Path| results.strip_prefix(&self.out).unwrap_or(results).to_string_lossy().into_owned();
        for record in &self.records {
            let plan = self.plan_of(record)?.without_flows();
            let variant = plan.figure.variant.clone().unwrap_or_default();
            let recorded = Manifest::read(&record.results).map_err(FigureError::Results)?;
            let fingerprint = Some(hex(recorded.fingerprint));
            let folder = folder(&record.results);
            judged.document.runs.push(FigureRun { variant: variant.clone(), folder, fingerprint });
            variants.push((variant, plan));
        }
        judged.document.charts = grid_charts(&self.plan, &judged.cells);
        judged.document.charts.extend(time_charts(&variants));
        Ok(judged)
    }

    /// Returns the plan of a recorded run. Its flows and links may differ from those of other variants.
    ///
    /// # Errors
    /// Returns all problems found.
    pub fn plan_of(&self, record: &FigureRecord) -> Result<Plan, FigureError> {
        load(&self.figure.file, &self.grid.overrides_of(record.point)).map_err(FigureError::Scenario)
    }
}

/// Returns the recorded cells: the first of each variant.
fn records(study: &FigureStudy, out: &Path) -> Vec<FigureRecord> {
    let mut seen: Vec<String> = Vec::new();
    let mut records = Vec::new();
    for &point in study.own() {
        let variant = study.points[point].cell().into_iter().find(|(axis, _)| axis == VARIANT).map(|(_, name)| name);
        let variant = variant.unwrap_or_default();
        if !seen.contains(&variant) {
            let folder = if variant.is_empty() { String::new() } else { file_name(&variant, &seen) };
            let results = out.join("run").join(&folder);
            records.push(FigureRecord { point, folder, results });
            seen.push(variant);
        }
    }
    records
}
