//! Reading of a directory into the document of a report.

use super::count::{evidence_of, statements_of, told};
use super::fit::{LEAST_BYTES, Making, fit};
use super::front::Front;
use super::page::{Blocks, page};
use super::run::{Sought, Wanted, drawn, recorded};
use results::document::{
    ComparedRun, Comparison, Document, Faults, Figure, Paper, PaperSummary, Stability, Sweep, SweepCell, Tune,
};
use results::{COMMIT, Manifest, Quantity, ResultsError, VERSION, axis_value, deflated, hash_of, hex};
use serde_json::{Value, json};
use std::ops::Range;
use std::path::{Path, PathBuf};
use study::Evidence;

/// An error of a report.
#[derive(Debug)]
pub enum ReportError {
    /// The directory contains nothing to report on.
    Nothing {
        /// The directory.
        path: PathBuf,
    },
    /// A file cannot be read or was modified.
    Results(ResultsError),
}

impl std::fmt::Display for ReportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReportError::Nothing { path } => write!(
                f,
                "there are no results in {}\n  give a directory that run, compare, sweep, reproduce or stability wrote",
                path.display()
            ),
            ReportError::Results(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReportError {}

impl From<ResultsError> for ReportError {
    fn from(error: ResultsError) -> ReportError {
        ReportError::Results(error)
    }
}

/// A report that is ready to be written.
#[derive(Debug)]
pub struct Report {
    title: String,
    unverified: usize,
    pub(super) document: Value,
    blocks: Blocks,
}

fn changed(path: PathBuf, reason: impl Into<String>) -> ReportError {
    ReportError::Results(ResultsError::Changed { path, reason: reason.into() })
}

/// Returns the path of a folder that is named by a file in another folder.
fn named(folder: &Path, name: &str) -> Result<PathBuf, ReportError> {
    files::inside(folder, name).map_err(|error| ResultsError::io("open", &folder.join(name), error).into())
}

/// Returns the folders inside a folder, sorted by name, without links to other places.
fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let here = entries.filter_map(|entry| files::inside(path, entry.file_name()).ok());
    let mut paths: Vec<PathBuf> = here.filter(|path| path.is_dir()).collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Converts a value of an axis: its text, and its number in the base unit if it is numeric.
fn axis_json(text: &str) -> Value {
    let quantity = |quantity: &Quantity| match quantity {
        Quantity::Time => "time",
        Quantity::Rate => "rate",
        Quantity::Size => "size",
        Quantity::Fraction | Quantity::Plain(_) => "plain",
    };
    let number = axis_value(text);
    json!({
        "text": text.trim_matches('"'),
        "number": number.as_ref().map(|(_, number)| number),
        "quantity": number.as_ref().map(|(of, _)| quantity(of)),
    })
}

/// Runs to be added to a report.
#[derive(Default)]
struct Runs {
    found: Vec<Sought>,
    /// Ranges of the runs of each figure.
    figures: Vec<Range<usize>>,
}

impl Runs {
    fn add(&mut self, label: &str, path: PathBuf, wanted: Wanted) -> usize {
        self.found.push(Sought { label: label.to_owned(), path, wanted });
        self.found.len() - 1
    }

    /// Selects the runs that are added with all recorded series, as many as fit: the first of every figure, then the
    /// second, and so on. Small runs use only the space they need.
    fn admit(&mut self, size: u64) -> Result<(), ReportError> {
        let mut room = size / 2;
        let mut open = self.figures.clone();
        while !open.is_empty() {
            let mut more = Vec::new();
            for mut figure in open {
                let Some(at) = figure.next() else { continue };
                let needs = recorded(&self.found[at].path)?.min(LEAST_BYTES);
                if needs <= room {
                    room -= needs;
                    self.found[at].wanted.whole = true;
                    more.push(figure);
                }
            }
            open = more;
        }
        Ok(())
    }
}

impl Report {
    /// Reads the contents of a directory.
    ///
    /// # Errors
    /// Returns an error if there is nothing to report on, or if it cannot be read.
    pub fn open(path: &Path, making: &Making<'_>) -> Result<Report, ReportError> {
        let all = Wanted { whole: true, drops: true, ..Wanted::default() };
        let mut runs = Runs::default();
        let mut document = if path.join("manifest.json").exists() {
            runs.add("", path.to_owned(), all);
            json!({ "kind": "run" })
        } else if let Some(comparison) = Comparison::read(path)? {
            comparison_of(path, &comparison, &mut runs, &all)?
        } else if let Some(figure) = Figure::read(path)? {
            let paper = Paper::read(path)?;
            let (figure, _) = figure_of(path, &figure, "", &mut runs)?;
            runs.admit(making.size)?;
            json!({ "kind": "figure", "paper": paper.map(|it| it.to_json()), "statements": figure["statements"], "figures": [figure] })
        } else if let Some(sweep) = Sweep::read(path)? {
            let table = table_of(path, &sweep)?.ok_or_else(|| ReportError::Nothing { path: path.to_owned() })?;
            let mut document = sweep_of(&sweep, &table);
            // A campaign of faults and a search for values are sweeps with results of their own.
            if let Some(faults) = Faults::read(path)? {
                document["kind"] = json!("faults");
                document["faults"] = faults.to_json();
            } else if let Some(tune) = Tune::read(path)? {
                document["kind"] = json!("tune");
                document["tune"] = tune_of(&tune);
            }
            document
        } else if let Some(stability) = Stability::read(path)? {
            json!({ "kind": "stability", "stability": stability.to_json() })
        } else {
            paper_of(path, making.size, &mut runs)?.ok_or_else(|| match path.exists() {
                true => ReportError::Nothing { path: path.to_owned() },
                false => {
                    let missing = std::io::Error::new(std::io::ErrorKind::NotFound, "it does not exist");
                    ResultsError::io("open", path, missing).into()
                }
            })?
        };
        let mut blocks = Blocks::default();
        let taken = deflated(document.to_string().as_bytes()).len() as u64;
        let (told, unverified) = fit(&runs.found, making, taken, &mut blocks)?;
        let title = title_of(&document, &told, path);
        document["format"] = json!("tailback report");
        document["title"] = json!(title);
        document["program"] = json!({ "version": VERSION, "commit": COMMIT });
        document["runs"] = json!(told);
        Ok(Report { title, document, blocks, unverified })
    }

    /// Returns the size of its data in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.packed().len() as u64 + self.blocks.size()
    }

    /// Returns the number of runs without hashes, whose files cannot be verified.
    #[must_use]
    pub fn unverified(&self) -> usize {
        self.unverified
    }

    fn packed(&self) -> String {
        deflated(self.document.to_string().as_bytes())
    }

    /// Returns the document and its blocks, for a page that is already open.
    #[must_use]
    pub fn data(&self) -> Value {
        json!({ "document": self.document, "blocks": self.blocks.texts() })
    }

    /// Returns the HTML page.
    #[must_use]
    pub fn html(&self, front: Front<'_>) -> String {
        page(&self.title, &self.packed(), &self.blocks, front)
    }
}

fn title_of(document: &Value, runs: &[Value], path: &Path) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let paper = || text(&document["paper"]["title"]);
    let named = match document["kind"].as_str() {
        Some("run") => text(&runs[0]["label"]),
        Some("compare") => text(&document["compare"]["name"]).map(|name| {
            let key = document["compare"]["key"].as_str().unwrap_or_default();
            format!("{name}: comparison of {key}")
        }),
        Some("sweep" | "faults" | "tune") => text(&document["sweep"]["name"]),
        Some("stability") => text(&document["stability"]["name"]),
        Some("figure") => text(&document["figures"][0]["title"]),
        _ => paper(),
    };
    named.unwrap_or_else(|| name_of(path))
}

/// Returns the path of a run that a document names, if it is the run with that fingerprint.
fn run_of(path: &Path, folder: &str, fingerprint: Option<&str>, document: &str) -> Result<PathBuf, ReportError> {
    let results = named(path, folder)?;
    let found = hex(Manifest::read(&results)?.fingerprint);
    match fingerprint {
        Some(stated) if stated != found => {
            Err(changed(results, format!("its fingerprint differs from the one in {document}")))
        }
        _ => Ok(results),
    }
}

fn comparison_of(path: &Path, comparison: &Comparison, runs: &mut Runs, wanted: &Wanted) -> Result<Value, ReportError> {
    for ComparedRun { value, folder } in &comparison.runs {
        // A comparison that was killed while it replaced another leaves runs of both.
        let row = comparison.rows.iter().find(|row| row.value == *value);
        let results = run_of(path, folder, row.map(|row| row.fingerprint.as_str()), Comparison::FILE)?;
        runs.add(value, results, wanted.clone());
    }
    Ok(json!({ "kind": "compare", "compare": comparison.to_json() }))
}

/// Returns the table of a sweep if the sweep is finished, verified where possible.
fn table_of(path: &Path, sweep: &Sweep) -> Result<Option<Vec<SweepCell>>, ReportError> {
    const FILE: &str = "table.json";
    let file = path.join(FILE);
    let text = match files::read_inside(path, FILE) {
        Ok(text) => text,
        Err(error) if files::is_missing(&error) => return Ok(None),
        Err(error) => return Err(ResultsError::io("read", &file, error).into()),
    };
    match sweep.files.iter().find(|listed| listed.path == FILE) {
        Some(listed) if listed.hash != hash_of(text.as_bytes()) => {
            return Err(changed(file, format!("its SHA-256 is not the one in {}", Sweep::FILE)));
        }
        Some(_) => {}
        // Sweeps of before there were hashes list nothing.
        None if sweep.lists_files => {
            return Err(changed(file, "the sweep has not finished since this file was written"));
        }
        None => {}
    }
    serde_json::from_str(&text).map(Some).map_err(|error| changed(file, error.to_string()))
}

fn sweep_of(sweep: &Sweep, table: &[SweepCell]) -> Value {
    // The order of axes and of their values is that of the points.
    let mut axes: Vec<(String, Vec<String>)> = Vec::new();
    for set in sweep.points.iter().flatten() {
        let Some((name, value)) = set.split_once('=') else { continue };
        match axes.iter_mut().find(|(axis, _)| axis == name) {
            Some((_, values)) if values.iter().any(|known| known == value) => {}
            Some((_, values)) => values.push(value.to_owned()),
            None => axes.push((name.to_owned(), vec![value.to_owned()])),
        }
    }
    let axis = |(name, values): &(String, Vec<String>)| {
        json!({
            "name": name,
            "raw": values,
            "values": values.iter().map(|value| axis_json(value)).collect::<Vec<_>>(),
        })
    };
    let sweep = json!({
        "name": sweep.name,
        "seeds": sweep.seeds,
        "units": sweep.units,
        "axes": axes.iter().map(axis).collect::<Vec<_>>(),
        "cells": table,
    });
    json!({ "kind": "sweep", "sweep": sweep })
}

/// Returns a search, with the values of keys as numbers where they are some.
fn tune_of(tune: &Tune) -> Value {
    let mut document = tune.to_json();
    for candidate in document["candidates"].as_array_mut().into_iter().flatten() {
        let axis = |key: &results::document::TunedKey| {
            let text = candidate["values"][&key.path].as_str().unwrap_or_default();
            let mut value = axis_json(text);
            if let Some((Ok(part), Ok(of))) =
                text.split_once('/').map(|(part, of)| (part.parse::<f64>(), of.parse::<f64>()))
            {
                value["number"] = json!(part / of);
                value["quantity"] = json!("plain");
            }
            (key.path.clone(), value)
        };
        let axes: serde_json::Map<String, Value> = tune.keys.iter().map(axis).collect();
        candidate["values"] = Value::Object(axes);
    }
    document
}

/// Returns a figure: its verdicts, and the drawn series of its recorded runs by variant.
fn figure_of(
    path: &Path,
    about: &Figure,
    inside: &str,
    runs: &mut Runs,
) -> Result<(Value, Vec<Evidence>), ReportError> {
    let mut figure = about.to_json();
    for chart in figure["charts"].as_array_mut().into_iter().flatten() {
        for point in chart["lines"].as_array_mut().into_iter().flatten().flat_map(|line| line["points"].as_array_mut())
        {
            point.iter_mut().for_each(|point| point["x"] = axis_json(point["at"].as_str().unwrap_or_default()));
        }
    }
    let first = runs.found.len();
    for (run, told) in about.runs.iter().zip(figure["runs"].as_array_mut().into_iter().flatten()) {
        let label = if run.variant.is_empty() { &about.title } else { &run.variant };
        if path.join(&run.folder).join("manifest.json").exists() {
            let wanted = Wanted { drawn: drawn(&about.charts, &run.variant), ..Wanted::default() };
            let results = run_of(path, &run.folder, run.fingerprint.as_deref(), Figure::FILE)?;
            told["run"] = json!(runs.add(label, results, wanted));
            told["place"] = json!(format!("{inside}{}", run.folder));
        }
    }
    runs.figures.push(first..runs.found.len());
    figure["folder"] = json!(name_of(path));
    let evidence = evidence_of(about);
    figure["statements"] = told(&evidence);
    Ok((figure, evidence))
}

/// Returns all figures of a paper; `None` if there are none.
fn paper_of(path: &Path, size: u64, runs: &mut Runs) -> Result<Option<Value>, ReportError> {
    let (mut figures, mut evidence) = (Vec::new(), Vec::new());
    for folder in folders(path) {
        let Some(about) = Figure::read(&folder)? else { continue };
        let (figure, own) = figure_of(&folder, &about, &format!("{}/", name_of(&folder)), runs)?;
        evidence.push((name_of(&folder), own));
        figures.push(figure);
    }
    runs.admit(size)?;
    let paper = Paper::read(path)?;
    let mut summary = PaperSummary::read_named(path, "summary/summary.json")?;
    if summary.is_none() {
        summary = PaperSummary::read_named(path, "summary-quick/summary.json")?;
    }
    let statements = statements_of(&evidence, summary.as_ref());
    let (paper, summary) = (paper.map(|it| it.to_json()), summary.map(|it| it.to_json()));
    Ok((!figures.is_empty()).then(
        || json!({ "kind": "paper", "paper": paper, "summary": summary, "statements": statements, "figures": figures }),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::document::{TuneCandidate, TunedKey};

    #[test]
    fn axes_of_a_sweep_keep_their_order() {
        let points = [["b=2us", "a=\"x\""], ["b=2us", "a=\"y\""], ["b=10us", "a=\"x\""]];
        let points = points.map(|set| set.map(str::to_owned).to_vec()).to_vec();
        let document = sweep_of(&Sweep { name: "s".into(), seeds: vec![1], points, ..Sweep::default() }, &[]);
        let axes = &document["sweep"]["axes"];
        assert_eq!((axes[0]["name"].as_str(), axes[1]["name"].as_str()), (Some("b"), Some("a")));
        assert_eq!(axes[0]["values"][1], json!({ "text": "10us", "number": 1e-5, "quantity": "time" }));
        assert_eq!(axes[1]["values"][0]["text"], "x");
        assert!(axes[1]["values"][0]["number"].is_null());
    }

    #[test]
    fn a_search_has_the_values_of_its_keys_as_numbers() {
        let keys = vec![TunedKey { path: "a.kmin".into(), from: "20KB".into(), to: "2MB".into(), logarithmic: true }];
        let values = [("a.kmin".to_owned(), "145KB".to_owned())].into();
        let candidates = vec![TuneCandidate { values, sound: true, ..TuneCandidate::default() }];
        let document = tune_of(&Tune { keys, candidates, ..Tune::default() });
        let value = &document["candidates"][0]["values"]["a.kmin"];
        assert_eq!(*value, json!({ "text": "145KB", "number": 145_000.0, "quantity": "size" }));
        let keys = vec![TunedKey { path: "alpha".into(), ..TunedKey::default() }];
        let candidates =
            vec![TuneCandidate { values: [("alpha".to_owned(), "1/8".to_owned())].into(), ..TuneCandidate::default() }];
        let document = tune_of(&Tune { keys, candidates, ..Tune::default() });
        assert_eq!(
            document["candidates"][0]["values"]["alpha"],
            json!({ "text": "1/8", "number": 0.125, "quantity": "plain" })
        );
    }

    #[test]
    fn nothing_is_said_to_be_nothing() {
        let nowhere = std::env::temp_dir().join("tailback-report-nowhere");
        let error = Report::open(&nowhere, &Making::usual()).expect_err("nothing there").to_string();
        assert!(error.contains("it does not exist"), "{error}");
    }
}
