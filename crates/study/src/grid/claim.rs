//! The directory of a grid: which grid it belongs to, and the tables of a sweep in it.

use super::error::GridError;
use super::points::{Grid, Older, REPLICATIONS, io, program};
use crate::faults::SCENARIO;
use crate::judge::documents::units_of;
use files::output::unfinished::remove_dead_files;
use files::output::{write_file, write_new};
use files::text::hexadecimal;
use results::document::{Document, Sweep};
use results::{FileRecord, ResultsError, remove_listed};
use scenario::Plan;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// File names of the tables of a sweep.
const TABLES: [&str; 2] = ["table.csv", "table.json"];

/// Returns whether a directory contains more than the remains of a sweep that was killed while it claimed the
/// directory.
fn holds_something(out: &Path) -> bool {
    let ours = |name: &str| {
        name == "points"
            || name == SCENARIO
            || name.starts_with("sweep.json.partial-")
            || name.starts_with("sweep.partial-")
    };
    let Ok(entries) = fs::read_dir(out) else { return out.exists() };
    entries.flatten().any(|entry| {
        !ours(&entry.file_name().to_string_lossy())
            || fs::read_dir(entry.path()).is_ok_and(|mut points| points.next().is_some())
    })
}

/// Returns whether a text describes a sweep.
fn is_sweep(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|it| it["identity"].is_string() && it["points"].is_array())
}

/// Removes the finished runs of an earlier sweep, but no other files.
fn remove_points(points: &Path) {
    let Ok(entries) = fs::read_dir(points) else { return };
    let is_point = |name: &str| {
        let (key, seed) = name.strip_suffix(".json").and_then(|name| name.split_once('-')).unwrap_or_default();
        let all = |text: &str, is: fn(&u8) -> bool| !text.is_empty() && text.bytes().all(|byte| is(&byte));
        key.len() == 16 && all(key, u8::is_ascii_hexdigit) && all(seed, u8::is_ascii_digit)
    };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_point)) {
        // One that stays is not of this sweep: its name would be another.
        let _ = fs::remove_file(entry.path());
    }
}

impl Grid {
    /// Claims the directory for this sweep, or finds that it already belongs to it.
    pub(super) fn claim(&self, plan: &Plan, older: Older) -> Result<String, GridError> {
        let mut digest = Sha256::new();
        for input in plan.inputs() {
            digest.update(input.sha256.as_bytes());
        }
        digest.update(results::VERSION.as_bytes());
        // More seeds make a larger sweep, not another one.
        let same_for_all = self.overrides.iter().filter(|text| !text.starts_with(REPLICATIONS));
        let cells = self.points.iter().filter(|_| older == Older::Keep).flat_map(|point| &point.overrides);
        for text in same_for_all.chain(cells) {
            digest.update(text.as_bytes());
            digest.update([0]);
        }
        match older {
            Older::Keep => {}
            Older::Replace => digest.update(program()),
            Older::Extend => digest.update("extended"),
        }
        let identity = hexadecimal(&digest.finalize());
        let file = self.out.join("sweep.json");
        let same = |text: &str| Sweep::from_text(text, &file).is_ok_and(|sweep| sweep.identity == identity);
        files::plain(&file).map_err(io("read", &file))?;
        let mut fresh = false;
        match files::read_inside(&self.out, "sweep.json") {
            // Written again below if there are more seeds now.
            Ok(text) if same(&text) => {}
            Ok(text) if older == Older::Replace && is_sweep(&text) => remove_points(&self.out.join("points")),
            Ok(_) => return Err(GridError::Occupied { path: self.out.clone() }),
            Err(error) if !files::is_missing(&error) => return Err(io("read", &file)(error)),
            Err(_) if holds_something(&self.out) => {
                return Err(GridError::Occupied { path: self.out.clone() });
            }
            Err(_) => fresh = true,
        }
        let points = self.out.join("points");
        files::no_links(&self.out, "points").map_err(io("write to", &points))?;
        for name in ["sweep.json"].into_iter().chain(TABLES) {
            let path = self.out.join(name);
            files::plain(&path).map_err(io("write", &path))?;
        }
        fs::create_dir_all(&points).map_err(io("create", &points))?;
        remove_dead_files(&points, None);
        let cells: Vec<Vec<String>> =
            self.points.iter().map(|point| point.overrides.iter().chain(&point.beneath).cloned().collect()).collect();
        let about = Sweep {
            name: plan.name.clone(),
            identity: identity.clone(),
            points: cells,
            seeds: self.seeds.clone(),
            units: units_of(plan),
            lists_files: true,
            files: Vec::new(),
        };
        let found = if fresh { None } else { Sweep::read(&self.out).ok().flatten() };
        if let Some(found) = found.filter(|found| found.identity == identity) {
            let files = found.files.clone();
            let edited = |record: &&FileRecord| {
                let path = self.out.join(&record.path);
                path.exists() && !files.iter().any(|it| it.path == record.path && it.describes(&path))
            };
            if let Some(record) = files.iter().find(edited) {
                let path = self.out.join(&record.path);
                return Err(GridError::Study(ResultsError::Edited { path }.into()));
            }
            // The tables of a finished sweep stay listed while its directory is claimed again.
            if (Sweep { files: Vec::new(), ..found }) == about {
                return Ok(identity);
            }
            // They are those of fewer seeds.
            drop(remove_listed(&self.out, &files, &[]));
        }
        let claimed = if fresh { write_new(&file, about.to_text()) } else { write_file(&file, about.to_text()) };
        match claimed {
            // Another command was faster. It may make the same sweep.
            Err(error) if fresh && error.kind() == std::io::ErrorKind::AlreadyExists => {
                let other = files::read_inside(&self.out, "sweep.json").map_err(io("read", &file))?;
                if !same(&other) {
                    return Err(GridError::Occupied { path: self.out.clone() });
                }
            }
            claimed => claimed.map_err(io("write", &file))?,
        }
        // Runs of another sweep must not be taken for runs of this one.
        Ok(identity)
    }

    /// Writes the tables of the sweep.
    pub(super) fn write_tables(&self, texts: [String; 2]) -> Result<(), GridError> {
        let tables: Vec<(String, String)> = TABLES.iter().map(|name| (*name).to_owned()).zip(texts).collect();
        self.write_files(&tables)
    }

    /// Writes files of the sweep, given as paths in its directory and texts, and lists them with their hashes in
    /// `sweep.json`, so that readers can verify them and edited ones are not replaced.
    pub(crate) fn write_files(&self, files: &[(String, String)]) -> Result<(), GridError> {
        let refused = |error: ResultsError| GridError::Study(error.into());
        let file = self.out.join(Sweep::FILE);
        let about = Sweep::read(&self.out).map_err(refused)?;
        let Some(mut about) = about.filter(|about| about.identity == self.identity) else {
            return Err(GridError::Occupied { path: self.out.clone() });
        };
        let known = std::mem::take(&mut about.files);
        let new: Vec<FileRecord> = files.iter().map(|(name, text)| FileRecord::new(name, text.as_bytes())).collect();
        let ours = |record: &FileRecord, path: &Path| {
            known.iter().chain([record]).any(|it| it.path == record.path && it.describes(path))
        };
        for record in &new {
            let path = self.out.join(&record.path);
            let folder = Path::new(&record.path).parent().unwrap_or(Path::new(""));
            files::no_links(&self.out, folder).map_err(io("write to", &self.out.join(folder)))?;
            files::plain(&path).map_err(io("write", &path))?;
            if path.exists() && !ours(record, &path) {
                return Err(refused(ResultsError::Edited { path }));
            }
        }
        // Whenever the process is killed, every file is listed as it is.
        about.files = new.iter().cloned().chain(known).collect();
        write_file(&file, about.to_text()).map_err(io("write", &file))?;
        for (name, text) in files {
            let path = self.out.join(name);
            let folder = path.parent().unwrap_or(&self.out);
            fs::create_dir_all(folder).map_err(io("create", folder))?;
            write_file(&path, text).map_err(|error| refused(ResultsError::io("write", &path, error)))?;
        }
        about.files = new;
        write_file(&file, about.to_text()).map_err(io("write", &file))
    }
}
