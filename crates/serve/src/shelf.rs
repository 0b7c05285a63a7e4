//! The results of a folder: what there is, and one of them as a report.

use render::report::{MOST_BYTES, Making, Report};
use results::document::{Comparison, Document, Figure, Paper, Stability, Sweep};
use results::{Manifest, hex};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Entries of the list.
const MOST: usize = 2000;

/// Returns the folder of results with a name. A name with slashes, dots or links that lead elsewhere has none.
fn place(folder: &Path, name: &str) -> Option<PathBuf> {
    let own = Path::new(name).file_name().is_some_and(|last| last == name);
    files::inside(folder, name).ok().filter(|path| own && path.is_dir())
}

/// Returns what is in a folder of results: kind, name, outcome and time of each.
pub(crate) fn list(folder: &Path) -> Value {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<Value> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter_map(|name| about(&place(folder, &name)?, &name))
        .collect();
    // The newest first.
    found.sort_by_key(|one| (std::cmp::Reverse(one["seconds"].as_u64()), one["name"].to_string()));
    found.truncate(MOST);
    json!({ "folder": folder.display().to_string(), "results": found })
}

fn about(path: &Path, name: &str) -> Option<Value> {
    let changed = std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let seconds = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|span| span.as_secs());
    let entry = |kind: &str, title: &str| json!({ "name": name, "kind": kind, "title": title, "seconds": seconds });
    if let Ok(manifest) = Manifest::read(path) {
        let mut entry = entry("run", &manifest.name);
        entry["outcome"] = json!(manifest.outcome.kind);
        entry["fingerprint"] = json!(hex(manifest.fingerprint));
        entry["seed"] = json!(manifest.seed);
        entry["set"] = json!(manifest.plan.overrides);
        return Some(entry);
    }
    if let Ok(Some(comparison)) = Comparison::read(path) {
        return Some(entry("comparison", &format!("{}: {}", comparison.name, comparison.key)));
    }
    if let Ok(Some(figure)) = Figure::read(path) {
        return Some(entry("figure", &figure.title));
    }
    if let Ok(Some(sweep)) = Sweep::read(path) {
        return Some(entry("sweep", &sweep.name));
    }
    if let Ok(Some(stability)) = Stability::read(path) {
        return Some(entry("stability", &stability.name));
    }
    let paper = Paper::read(path).ok()??;
    Some(entry("paper", &paper.title))
}

/// Returns the report of the results with a name, or why there is none.
pub(crate) fn open(folder: &Path, name: &str) -> Result<Report, String> {
    let path = place(folder, name).ok_or_else(|| "there are no such results".to_owned())?;
    let making = Making { size: MOST_BYTES, threads: study::cores(), progress: &|_, _| {} };
    Report::open(&path, &making).map_err(|error| error.to_string())
}
