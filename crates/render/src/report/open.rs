//! What a directory holds, as the document of a report.

use super::count::{evidence_of, statements_of, told};
use super::fit::{LEAST_BYTES, Making, fit};
use super::pack::deflated;
use super::page::{Blocks, Front, page};
use super::run::{Sought, Wanted, drawn, recorded};
use results::{COMMIT, Quantity, ResultsError, VERSION, axis_value};
use serde_json::{Value, json};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Why there is no report.
#[derive(Debug)]
pub enum ReportError {
    /// The directory holds nothing to report on.
    Nothing {
        /// The directory.
        path: PathBuf,
    },
    /// A file of it cannot be read.
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A recorded run cannot be read.
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
            ReportError::Damaged { path, reason } => {
                write!(f, "cannot read {}: {reason}\n  make the results again", path.display())
            }
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
    /// Deflated.
    document: String,
    blocks: Blocks,
}

/// A file of JSON in a folder, if it is there.
fn read(folder: &Path, name: &str) -> Result<Option<Value>, ReportError> {
    let damaged = |reason: String| ReportError::Damaged { path: folder.join(name), reason };
    match files::read_inside(folder, name) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| damaged(error.to_string())),
        Err(error) if files::is_missing(&error) => Ok(None),
        Err(error) => Err(damaged(error.to_string())),
    }
}

/// A folder in a folder that a file of it names.
fn named(folder: &Path, name: &str) -> Result<PathBuf, ReportError> {
    files::inside(folder, name)
        .map_err(|error| ReportError::Damaged { path: folder.join(name), reason: error.to_string() })
}

/// Folders inside a folder, by name; none that lies elsewhere.
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

/// A value of an axis: its text, and its number in the base unit if it is one.
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

/// Runs to be put into a report.
#[derive(Default)]
struct Runs {
    found: Vec<Sought>,
    /// Where those of each figure are.
    figures: Vec<Range<usize>>,
}

impl Runs {
    fn add(&mut self, label: &str, path: PathBuf, wanted: Wanted) -> usize {
        self.found.push(Sought { label: label.to_owned(), path, wanted });
        self.found.len() - 1
    }

    /// Gives all that is recorded to as many runs as there is room for: to the first of every figure, then to the second,
    /// and so on. What is small takes no more room than it needs.
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
    /// Reads what there is, as it is told to.
    ///
    /// # Errors
    /// If there is nothing, or it cannot be read.
    pub fn open(path: &Path, making: &Making<'_>) -> Result<Report, ReportError> {
        let all = Wanted { whole: true, drops: true, ..Wanted::default() };
        let mut runs = Runs::default();
        let mut document = if path.join("manifest.json").exists() {
            runs.add("", path.to_owned(), all);
            json!({ "kind": "run" })
        } else if let Some(comparison) = read(path, "compare.json")? {
            comparison_of(path, comparison, &mut runs, &all)?
        } else if path.join("verdicts.json").exists() {
            let paper = read(path, "paper.json")?;
            let figure = figure_of(path, "", &mut runs)?;
            runs.admit(making.size)?;
            json!({ "kind": "figure", "paper": paper, "statements": figure["statements"], "figures": [figure] })
        } else if let Some(sweep) = read(path, "sweep.json")? {
            let table = read(path, "table.json")?;
            sweep_of(&sweep, table.ok_or_else(|| ReportError::Nothing { path: path.to_owned() })?)
        } else if let Some(stability) = read(path, "stability.json")? {
            json!({ "kind": "stability", "stability": stability })
        } else {
            paper_of(path, making.size, &mut runs)?.ok_or_else(|| match path.exists() {
                true => ReportError::Nothing { path: path.to_owned() },
                false => ReportError::Damaged { path: path.to_owned(), reason: "it is not there".into() },
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
        Ok(Report { title, document: deflated(document.to_string().as_bytes()), blocks, unverified })
    }

    /// Bytes of its data.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.document.len() as u64 + self.blocks.size()
    }

    /// Runs of before there were hashes in results: whether their files are as they were written cannot be told.
    #[must_use]
    pub fn unverified(&self) -> usize {
        self.unverified
    }

    /// The page.
    #[must_use]
    pub fn html(&self, front: Front<'_>) -> String {
        page(&self.title, &self.document, &self.blocks, front)
    }
}

fn title_of(document: &Value, runs: &[Value], path: &Path) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let paper = || text(&document["paper"]["title"]);
    let named = match document["kind"].as_str() {
        Some("run") => text(&runs[0]["label"]),
        Some("compare") => text(&document["compare"]["name"]).map(|name| {
            let key = document["compare"]["key"].as_str().unwrap_or_default();
            format!("{name}: {key} compared")
        }),
        Some("sweep") => text(&document["sweep"]["name"]),
        Some("stability") => text(&document["stability"]["name"]),
        Some("figure") => text(&document["figures"][0]["title"]),
        _ => paper(),
    };
    named.unwrap_or_else(|| name_of(path))
}

fn comparison_of(path: &Path, comparison: Value, runs: &mut Runs, wanted: &Wanted) -> Result<Value, ReportError> {
    for run in comparison["runs"].as_array().into_iter().flatten() {
        if let (Some(value), Some(folder)) = (run["value"].as_str(), run["folder"].as_str()) {
            runs.add(value, named(path, folder)?, wanted.clone());
        }
    }
    Ok(json!({ "kind": "compare", "compare": comparison }))
}

fn sweep_of(sweep: &Value, table: Value) -> Value {
    // The order of axes and of their values is that of the points.
    let mut axes: Vec<(String, Vec<String>)> = Vec::new();
    for set in sweep["points"].as_array().into_iter().flatten().filter_map(Value::as_array).flatten() {
        let Some((name, value)) = set.as_str().and_then(|text| text.split_once('=')) else { continue };
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
        "name": sweep["name"],
        "seeds": sweep["seeds"],
        "units": sweep["units"],
        "axes": axes.iter().map(axis).collect::<Vec<_>>(),
        "cells": table,
    });
    json!({ "kind": "sweep", "sweep": sweep })
}

/// A figure: its verdicts, and its recorded runs by variant, of each what it draws.
fn figure_of(path: &Path, inside: &str, runs: &mut Runs) -> Result<Value, ReportError> {
    let mut figure = read(path, "verdicts.json")?.unwrap_or_default();
    for chart in figure["charts"].as_array_mut().into_iter().flatten() {
        for point in chart["lines"].as_array_mut().into_iter().flatten().flat_map(|line| line["points"].as_array_mut())
        {
            point.iter_mut().for_each(|point| point["x"] = axis_json(point["at"].as_str().unwrap_or_default()));
        }
    }
    let title = figure["title"].as_str().unwrap_or_default().to_owned();
    let variants =
        figure["runs"].as_array().into_iter().flatten().map(|run| run["variant"].as_str().unwrap_or_default());
    let mut draws: Vec<_> = variants.map(|variant| drawn(&figure, variant)).collect();
    let first = runs.found.len();
    for (place, run) in figure["runs"].as_array_mut().into_iter().flatten().enumerate() {
        let variant = run["variant"].as_str().unwrap_or_default();
        let label = if variant.is_empty() { title.clone() } else { variant.to_owned() };
        let folder = run["folder"].as_str().unwrap_or("run").to_owned();
        if path.join(&folder).join("manifest.json").exists() {
            let wanted = Wanted { drawn: std::mem::take(&mut draws[place]), ..Wanted::default() };
            run["run"] = json!(runs.add(&label, named(path, &folder)?, wanted));
            run["place"] = json!(format!("{inside}{folder}"));
        }
    }
    runs.figures.push(first..runs.found.len());
    figure["folder"] = json!(name_of(path));
    figure["statements"] = told(&evidence_of(&figure));
    Ok(figure)
}

/// All figures of a paper; nothing if there is none.
fn paper_of(path: &Path, size: u64, runs: &mut Runs) -> Result<Option<Value>, ReportError> {
    let found: Vec<PathBuf> =
        folders(path).into_iter().filter(|folder| folder.join("verdicts.json").exists()).collect();
    let mut figures = Vec::new();
    for folder in &found {
        figures.push(figure_of(folder, &format!("{}/", name_of(folder)), runs)?);
    }
    runs.admit(size)?;
    let paper = read(path, "paper.json")?;
    let mut summary = read(path, "summary/summary.json")?;
    if summary.is_none() {
        summary = read(path, "summary-quick/summary.json")?;
    }
    let statements = statements_of(&figures, summary.as_ref());
    Ok((!figures.is_empty()).then(
        || json!({ "kind": "paper", "paper": paper, "summary": summary, "statements": statements, "figures": figures }),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_a_sweep_keep_their_order() {
        let sweep = json!({ "name": "s", "seeds": [1], "points": [["b=2us", "a=\"x\""], ["b=2us", "a=\"y\""], ["b=10us", "a=\"x\""]] });
        let document = sweep_of(&sweep, json!([]));
        let axes = &document["sweep"]["axes"];
        assert_eq!((axes[0]["name"].as_str(), axes[1]["name"].as_str()), (Some("b"), Some("a")));
        assert_eq!(axes[0]["values"][1], json!({ "text": "10us", "number": 1e-5, "quantity": "time" }));
        assert_eq!(axes[1]["values"][0]["text"], "x");
        assert!(axes[1]["values"][0]["number"].is_null());
    }

    #[test]
    fn nothing_is_said_to_be_nothing() {
        let nowhere = std::env::temp_dir().join("tailback-report-nowhere");
        let error = Report::open(&nowhere, &Making::usual()).expect_err("nothing there").to_string();
        assert!(error.contains("it is not there"), "{error}");
    }
}
