//! Which files of a results directory Tailback wrote, and which are its user's.
//!
//! Ours are the tables and files that the manifest lists, and what `plot`, `csv` and `report` have put beside them since,
//! which is known by its name and how it begins. Everything else is the user's, and outlives the result.

use super::csv::{COLUMNS, header};
use super::error::ResultsError;
use super::hash::hash_of_file;
use super::manifest::{FILE, FileRecord, Manifest};
use super::own::Kind;
use super::picture::Picture;
use fabric::record::schema;
use files::output::unfinished::is_dead;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The report of a result, in its directory.
pub const REPORT_FILE: &str = "report.html";
/// Frames of chosen links, for Wireshark.
pub const CAPTURE_FILE: &str = "capture.pcapng";
/// The network, for reports.
pub const NETWORK_FILE: &str = "network.json";
/// What a scenario expects of its own run, and whether it came true.
pub const EXPECTATIONS_FILE: &str = "expectations.json";
/// The folder of pictures.
pub const PLOTS_FOLDER: &str = "plots";
/// The folder of tables as CSV.
pub const CSV_FOLDER: &str = "csv";

/// Files beside the tables in results whose manifest does not list them.
const UNLISTED: [&str; 4] = ["plan.toml.txt", NETWORK_FILE, EXPECTATIONS_FILE, CAPTURE_FILE];

/// Everything in a directory and its folders that is no folder, and empty folders, by path.
fn walk(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inside) = open.pop() {
        let mut empty = true;
        for entry in fs::read_dir(directory.join(&inside))? {
            let entry = entry?;
            empty = false;
            let path = inside.join(entry.file_name());
            match entry.file_type()?.is_dir() {
                true => open.push(path),
                false => found.push(path),
            }
        }
        if empty && inside != Path::new("") {
            found.push(inside);
        }
    }
    found.sort();
    Ok(found)
}

/// A path as the manifest writes it; `None` for one that no file of ours has.
fn listed(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
    parts.map(|parts| parts.join("/"))
}

fn hash(path: &Path) -> io::Result<String> {
    hash_of_file(&mut File::open(path)?).map(|(hash, _)| hash)
}

/// The files of a result that is being put together, for its manifest.
pub(super) fn records(directory: &Path, manifest: &Manifest) -> Result<Vec<FileRecord>, ResultsError> {
    let read = || -> io::Result<Vec<FileRecord>> {
        let mut records = Vec::new();
        for inside in walk(directory)? {
            let Some(path) = listed(&inside) else { continue };
            if path != FILE && !is_table(&path, manifest) {
                let file = directory.join(inside);
                let found = fs::metadata(&file)?;
                // Nothing to draw leaves an empty folder of pictures.
                if !found.is_dir() {
                    records.push(FileRecord { path, bytes: found.len(), hash: hash(&file)? });
                }
            }
        }
        Ok(records)
    };
    read().map_err(|source| ResultsError::io("read", directory, source))
}

fn is_table(path: &str, manifest: &Manifest) -> bool {
    path.strip_suffix(".parquet").is_some_and(|name| manifest.tables.iter().any(|table| table.name == name))
}

/// Whether a file was made from the tables and can be again.
fn is_view(path: &str) -> bool {
    path == REPORT_FILE || path.starts_with("plots/") || path.starts_with("csv/")
}

/// Whether a directory is a result as it was written: every table and file that the manifest lists, except views that were
/// removed.
///
/// # Errors
/// If it is not, or cannot be read.
pub(super) fn verify(directory: &Path, manifest: &Manifest) -> Result<(), ResultsError> {
    let not = |reason: String| ResultsError::NotWhole { path: directory.to_owned(), reason };
    let size = |path: &str| {
        let found = fs::symlink_metadata(directory.join(path)).ok().filter(fs::Metadata::is_file);
        found.map(|found| found.len())
    };
    for table in &manifest.tables {
        let name = format!("{}.parquet", table.name);
        match size(&name) {
            None => return Err(not(format!("{name}, which its manifest lists, is missing"))),
            Some(bytes) if bytes != table.bytes => {
                return Err(not(format!("{name} has {bytes} bytes, but its manifest says {}", table.bytes)));
            }
            Some(_) => {}
        }
    }
    for FileRecord { path, bytes, hash: recorded } in manifest.files.iter().flatten() {
        let file = directory.join(path);
        if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(not(format!("its manifest lists {path}, which is not inside it")));
        }
        match size(path) {
            None if is_view(path) => {}
            None => return Err(not(format!("{path}, which its manifest lists, is missing"))),
            Some(found) if found == *bytes && hash(&file).is_ok_and(|hash| hash == *recorded) => {}
            Some(_) => return Err(not(format!("{path} has been changed"))),
        }
    }
    Ok(())
}

/// What in a result is its user's, by path inside it.
pub(super) fn others(directory: &Path, manifest: &Manifest) -> Result<Vec<PathBuf>, ResultsError> {
    let ours = |inside: &Path| {
        let Some(path) = listed(inside) else { return false };
        let file = directory.join(inside);
        if fs::symlink_metadata(&file).is_ok_and(|found| !found.is_file()) {
            return false;
        }
        let name = inside.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let view = || match inside.extension().and_then(|extension| extension.to_str()) {
            _ if path == REPORT_FILE => Kind::Report.wrote(&file),
            // A copy under another name is the user's.
            Some("svg" | "png") if inside.parent() == Some(Path::new(PLOTS_FOLDER)) => {
                Picture::named(name).is_some() && Kind::Picture.wrote(&file)
            }
            Some("csv") if inside.parent() == Some(Path::new(CSV_FOLDER)) => {
                if name != "columns" && schema::table(name).is_none() {
                    return false;
                }
                let first = schema::table(name).map_or_else(|| COLUMNS.to_owned(), header);
                Kind::Csv(&first).wrote(&file)
            }
            _ => false,
        };
        path == FILE
            || is_table(&path, manifest)
            || match &manifest.files {
                Some(files) => files.iter().any(|file| file.path == path),
                None => {
                    UNLISTED.contains(&path.as_str())
                        || manifest.inputs.iter().any(|input| input.copy.as_ref() == Some(&path))
                }
            }
            || view()
            || is_dead(&file)
    };
    let all = walk(directory).map_err(|source| ResultsError::io("read", directory, source))?;
    Ok(all.into_iter().filter(|path| !ours(path)).collect())
}

/// Whether something at a path inside a result could not move to the same path inside another one.
pub(super) fn is_in_the_way(inside: &Path, result: &Path) -> bool {
    let mut folders = inside.ancestors().skip(1).take_while(|path| *path != Path::new(""));
    let there = |path: &Path| fs::symlink_metadata(result.join(path)).ok();
    folders.any(|path| there(path).is_some_and(|found| !found.is_dir())) || there(inside).is_some()
}

/// Moves what is its user's from a result that was replaced to the one in its place. Whether it could all be moved.
pub(super) fn settle(replaced: &Path, out: &Path) -> bool {
    let others = Manifest::read(replaced).and_then(|manifest| others(replaced, &manifest));
    let Ok(others) = others else { return false };
    let mut moved = true;
    for inside in others {
        let (from, to) = (replaced.join(&inside), out.join(&inside));
        let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        if is_folder(&from) && is_folder(&to) {
            continue;
        }
        let folder = to.parent().map_or(Ok(()), fs::create_dir_all);
        moved &= !is_in_the_way(&inside, out) && folder.and_then(|()| fs::rename(&from, &to)).is_ok();
    }
    moved
}
