//! Loading of a scenario: the file, its bases, its overrides, and the files it names.

use super::key::Section;
use super::keys;
use super::overrides;
use super::parquet;
use super::plan::Plan;
use super::problem::{Errors, Problem};
use super::source::{FileReader, Place, SourceKind, Sources};
use super::stage::StageObserver;
use super::tree::{self, Data, Table};
use super::{Attachments, Limits, Recipe, variants};
use files::{self, LARGEST_DATA, LARGEST_SCENARIO};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::EmpiricalCdf;

/// Maximum length of a chain of bases.
const LONGEST_CHAIN: usize = 16;

/// A reader of files on disk; the only part of this crate that accesses the disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl FileReader for Disk {
    fn read(&self, path: &Path) -> Result<String, String> {
        files::read_text(path, LARGEST_SCENARIO).map_err(|error| error.to_string())
    }

    fn read_data(&self, path: &Path) -> Result<String, String> {
        let mut file = files::open(path).map_err(|error| error.to_string())?;
        if parquet::is_parquet(&mut file).map_err(|error| error.to_string())? {
            return parquet::csv(file, LARGEST_DATA);
        }
        files::read_text(path, LARGEST_DATA).map_err(|error| error.to_string())
    }

    fn identity(&self, path: &Path) -> PathBuf {
        path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
    }
}

/// Loads a scenario file named by a user, with overrides of the form `path=value`; `variant=name` selects a variant.
///
/// # Errors
/// Returns all problems found.
pub fn load(path: &Path, overrides: &[String]) -> Result<Plan, Errors> {
    load_observed(path, overrides, Limits::default(), StageObserver::default())
}

/// Loads a scenario file as [`load`] does, and notifies an observer of the stages of setting up the plan and, later, its
/// checks.
///
/// # Errors
/// Returns all problems found.
pub fn load_observed(
    path: &Path,
    overrides: &[String],
    limits: Limits,
    observer: StageObserver,
) -> Result<Plan, Errors> {
    let name = path.to_string_lossy().into_owned();
    let read = files::read_given(path, LARGEST_SCENARIO).map_err(|error| error.to_string());
    let text = read.and_then(|text| {
        // Whoever names a file by mistake does not want its lines on the screen, or in a log.
        if is_toml(&Disk.identity(path)) || tree::is_of(keys::root(), &text) {
            Ok(text)
        } else {
            Err(NO_SCENARIO.into())
        }
    });
    match text {
        Ok(text) => load_text((&name, &text), overrides, &Disk, limits, observer),
        Err(reason) => Err(unread(name, &reason, "give the path of a scenario file")),
    }
}

/// Loads a scenario through a file reader, which applies its own rules. `help` is the remedy if the file is not found.
///
/// # Errors
/// Returns all problems found.
pub fn load_with(name: &str, overrides: &[String], reader: &dyn FileReader, help: &str) -> Result<Plan, Errors> {
    let path = Path::new(name);
    let text = reader.read(path).and_then(|text| match is_file_of(keys::root(), &reader.identity(path), &text) {
        true => Ok(text),
        false => Err(NO_SCENARIO.into()),
    });
    match text {
        Ok(text) => load_str(name, &text, overrides, reader, Limits::default()),
        Err(reason) => Err(unread(name.to_owned(), &reason, help)),
    }
}

/// Returns the error for an unreadable file that no other file names.
#[must_use]
pub fn unread(name: String, reason: &str, help: &str) -> Errors {
    let mut sources = Sources::default();
    let message = format!("cannot read {name}: {reason}");
    let source = sources.add(name, SourceKind::File, String::new());
    Errors::new(sources, vec![Problem::new(Place { source, start: 0, end: 0 }, message, help)])
}

/// Reason for rejecting a text as a scenario, without quoting it.
const NO_SCENARIO: &str = "it is not a scenario: its name does not end in .toml, or most of its keys are unknown";

/// Returns whether a file named by another file may contain keys of that section, so that its lines may be quoted. This
/// depends on its real name after resolving links, and on its keys.
pub(crate) fn is_file_of(section: &Section, identity: &Path, text: &str) -> bool {
    is_toml(identity) && (text.trim().is_empty() || tree::is_of(section, text))
}

fn is_toml(identity: &Path) -> bool {
    identity.extension().is_some_and(|extension| extension == "toml")
}

/// Loads a scenario from text. `name` is used in error messages; other files are resolved relative to it.
///
/// # Errors
/// Returns all problems found.
pub fn load_str(
    name: &str,
    text: &str,
    overrides: &[String],
    reader: &dyn FileReader,
    limits: Limits,
) -> Result<Plan, Errors> {
    load_text((name, text), overrides, reader, limits, StageObserver::default())
}

fn load_text(
    (name, text): (&str, &str),
    overrides: &[String],
    reader: &dyn FileReader,
    limits: Limits,
    observer: StageObserver,
) -> Result<Plan, Errors> {
    let mut loader = Loader { sources: Sources::default(), problems: Vec::new(), reader };
    let mut chain = vec![reader.identity(Path::new(name))];
    let mut tree = loader.file(name.to_owned(), text.to_owned(), &mut chain);
    // Half a scenario would only give rise to complaints about the other half.
    if !loader.problems.is_empty() {
        return Err(Errors::new(loader.sources, loader.problems));
    }
    // A variant is part of the scenario: whatever else is set is set over it.
    let variant = overrides.iter().rev().find_map(|text| variants::chosen(text)).map(str::to_owned);
    if let Some(name) = &variant {
        variants::apply(&mut loader.sources, &mut loader.problems, &mut tree, name);
    }
    for text in overrides.iter().filter(|text| variants::chosen(text).is_none()) {
        overrides::apply(&mut loader.sources, &mut loader.problems, &mut tree, text);
    }
    tree::refuse_controls(&tree, &mut loader.problems);
    let attachments = loader.attachments(&tree);
    let Loader { sources, problems, .. } = loader;
    Arc::new(Recipe { tree, sources, attachments, limits, problems, variant, observer }).plan(None)
}

struct Loader<'a> {
    sources: Sources,
    problems: Vec<Problem>,
    reader: &'a dyn FileReader,
}

impl Loader<'_> {
    /// Reads one file, merges it with its base and applies its changes. `chain` contains the files that led here.
    fn file(&mut self, name: String, text: String, chain: &mut Vec<PathBuf>) -> Table {
        let source = self.sources.add(name, SourceKind::File, text);
        let tree = tree::parse(&self.sources, source, &mut self.problems);
        let changes = tree.get(overrides::CHANGES).map(|entry| entry.item.clone());
        let mut merged = self.merged(tree, chain);
        if let Some(changes) = changes {
            overrides::apply_changes(&mut self.problems, &mut merged, &changes);
        }
        merged
    }

    /// Merges a file with its base.
    fn merged(&mut self, tree: Table, chain: &mut Vec<PathBuf>) -> Table {
        let Some(base) = tree.get("base") else { return tree };
        let (Data::Text(path), place) = (&base.item.data, base.item.place) else { return tree };
        let path = self.sources.folder(place).join(path);
        let identity = self.reader.identity(&path);
        if chain.contains(&identity) {
            let message = "a scenario cannot be based on itself";
            self.problems.push(Problem::new(
                place,
                message,
                "name another file; this one is based on the current file",
            ));
            return tree;
        }
        if chain.len() >= LONGEST_CHAIN {
            let message = format!("more than {LONGEST_CHAIN} bases in a chain");
            self.problems.push(Problem::new(place, message, "base the scenario on fewer files"));
            return tree;
        }
        let text = self.reader.read(&path);
        match text.and_then(|text| match is_file_of(keys::root(), &identity, &text) {
            true => Ok(text),
            false => Err(NO_SCENARIO.into()),
        }) {
            Ok(text) => {
                chain.push(identity);
                let name = path.to_string_lossy().into_owned();
                if self.is_foreign(&name, &text) {
                    return tree;
                }
                let below = self.file(name, text, chain);
                for (path, key) in variants::empty_over(&tree, &below) {
                    let (message, help) = variants::changes_nothing(&path);
                    self.problems.push(Problem::new(key, message, help));
                }
                tree.over(below)
            }
            Err(reason) => {
                let message = format!("cannot read {}: {reason}", path.display());
                self.problems.push(Problem::new(place, message, "check the path; it is relative to this file"));
                tree
            }
        }
    }

    /// Reports a base that is not a scenario, according to its top-level keys or its TOML syntax. Such a file may be
    /// anything, because it was not named by the user: neither its lines nor its keys are quoted.
    fn is_foreign(&mut self, name: &str, text: &str) -> bool {
        let next = self.sources.iter().count() as u32;
        let places = tree::foreign(keys::root(), next, text);
        if places.is_empty() {
            return false;
        }
        self.sources.add(name.to_owned(), SourceKind::Data, text.to_owned());
        for place in places {
            let message = "this line of a base is not TOML, or has an unknown key";
            self.problems.push(Problem::new(place, message, format!("`tailback check {name}` shows the line")));
        }
        true
    }

    /// Reads the files that workloads name.
    fn attachments(&mut self, tree: &Table) -> Attachments {
        let mut attachments = Attachments::default();
        let workloads: Vec<&Table> = match tree.get("workloads").map(|entry| &entry.item.data) {
            Some(Data::Table(table)) => vec![table],
            Some(Data::List(items)) => items.iter().filter_map(|item| as_table(&item.data)).collect(),
            _ => Vec::new(),
        };
        for workload in workloads {
            if let Some((place, path, text)) = self.named_file(workload, "cdf")
                && let Some(cdf) = self.distribution(&path, text)
            {
                attachments.distributions.insert(place, cdf);
            }
            if let Some((place, path, text)) = self.named_file(workload, "file") {
                let source = self.sources.add(path.to_string_lossy().into_owned(), SourceKind::Data, text);
                attachments.flows.insert(place, source);
            }
        }
        attachments
    }

    /// Reads the file that a key of a workload names, if it names one.
    fn named_file(&mut self, workload: &Table, key: &str) -> Option<(Place, PathBuf, String)> {
        let entry = workload.get(key)?;
        let (Data::Text(path), place) = (&entry.item.data, entry.item.place) else { return None };
        let path = self.sources.folder(place).join(path);
        match self.reader.read_data(&path) {
            Ok(text) => Some((place, path, text)),
            Err(reason) => {
                let message = format!("cannot read {}: {reason}", path.display());
                self.problems.push(Problem::new(place, message, "check the path; it is relative to this file"));
                None
            }
        }
    }

    /// Parses lines of `bytes probability`; # begins a comment.
    fn distribution(&mut self, path: &Path, text: String) -> Option<EmpiricalCdf> {
        let mut points = Vec::new();
        let mut places = Vec::new();
        let mut wrong = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let content = line.split('#').next().unwrap_or("").trim_end();
            let place = (at, at + content.len());
            at += line.len();
            if content.trim().is_empty() {
                continue;
            }
            let mut numbers = content.split_whitespace().map(str::parse::<f64>);
            match (numbers.next(), numbers.next(), numbers.next()) {
                (Some(Ok(value)), Some(Ok(probability)), None) => {
                    points.push((value, probability));
                    places.push(place);
                }
                _ => wrong.push(place),
            }
        }
        let source = self.sources.add(path.to_string_lossy().into_owned(), SourceKind::Data, text);
        let place = |(start, end): (usize, usize)| Place { source, start: start as u32, end: end as u32 };
        for at in wrong.iter().take(20) {
            let help = "write bytes and cumulative probability, such as 1500 0.25";
            self.problems.push(Problem::new(place(*at), "this line is not a point of a distribution", help));
        }
        if !wrong.is_empty() {
            return None;
        }
        let range = points.iter().any(|(value, _)| *value > 1e15);
        match EmpiricalCdf::new(&points) {
            Ok(cdf) if !range => Some(cdf),
            Ok(_) => {
                self.problems.push(Problem::new(place((0, 0)), "a flow larger than 1 PB", "give sizes in bytes"));
                None
            }
            Err(error) => {
                let index = error_index(&error).and_then(|index| places.get(index)).or(places.last());
                let (message, help) = mistake(&error);
                self.problems.push(Problem::new(place(index.copied().unwrap_or((0, 0))), message, help));
                None
            }
        }
    }
}

fn error_index(error: &units::CdfError) -> Option<usize> {
    use units::CdfError::{Empty, Incomplete, Probability, ProbabilityFalls, Value, ValueFalls};
    match error {
        Value { index, .. } | Probability { index, .. } | ValueFalls { index, .. } | ProbabilityFalls { index, .. } => {
            Some(*index)
        }
        Empty | Incomplete { .. } => None,
    }
}

/// Describes a problem with the points of a distribution without quoting them: the file may be something else.
fn mistake(error: &units::CdfError) -> (&'static str, &'static str) {
    use units::CdfError::{Empty, Incomplete, Probability, ProbabilityFalls, Value, ValueFalls};
    match error {
        Empty => {
            ("the file has no points of a distribution", "write bytes and cumulative probability, such as 1500 0.25")
        }
        Value { .. } => ("this size is infinite, negative or not a number", "give sizes in bytes"),
        Probability { probability, .. } if *probability > 1.0 => {
            ("this cumulative probability is above 1", "divide percentages by 100")
        }
        Probability { .. } => ("this cumulative probability is below 0 or not a number", "give a number from 0 to 1"),
        ValueFalls { .. } => ("this size is below the one before it", "sort the points by size"),
        ProbabilityFalls { .. } => (
            "this cumulative probability is below the one before it",
            "cumulative probabilities never decrease; add up the probabilities of single sizes first",
        ),
        Incomplete { .. } => {
            ("the last cumulative probability is not 1", "end with the largest size and probability 1")
        }
    }
}

fn as_table(data: &Data) -> Option<&Table> {
    match data {
        Data::Table(table) => Some(table),
        _ => None,
    }
}
