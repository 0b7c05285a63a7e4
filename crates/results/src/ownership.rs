//! Ownership of the files in a results directory: Tailback's or the user's.
//!
//! Tailback's files are the tables and files listed in the manifest, and files later added by `plot`, `csv` and
//! `report`, which are recognised by their names and contents. All other files are the user's and are kept when a
//! result is replaced. A result with an edited file is not replaced, nor one whose manifest has no hashes.

use super::compared::{COMPARISON_CHARTS, LOCK};
use super::csv::{COLUMNS, header};
use super::document::{Comparison, Document, Exported, UnfinishedComparison};
use super::error::ResultsError;
use super::hash::hash_of_file;
use super::manifest::{FILE, FileRecord, Manifest};
use super::picture::Picture;
use super::replaceable::{Kind, Origin};
use fabric::record::schema;
use files::output::unfinished::is_dead;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

/// File name of the report of a result.
pub const REPORT_FILE: &str = "report.html";
/// File name of the capture of chosen links, for Wireshark.
pub const CAPTURE_FILE: &str = "capture.pcapng";
/// File name of the scenario's expectations and the verdicts on them.
pub const EXPECTATIONS_FILE: &str = "expectations.json";
/// Name of the folder of plots.
pub const PLOTS_FOLDER: &str = "plots";
/// Name of the folder of CSV tables.
pub const CSV_FOLDER: &str = "csv";

/// Returns all files and empty folders below a directory, sorted by path.
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

/// Returns a path as the manifest spells it; `None` if it cannot be one of Tailback's files.
fn listed(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
    parts.map(|parts| parts.join("/"))
}

fn hash(path: &Path) -> io::Result<String> {
    hash_of_file(&mut File::open(path)?).map(|(hash, _)| hash)
}

/// Returns the records of the files of a result, for its manifest.
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

/// Returns whether a file is derived from the tables and can be recreated.
fn is_view(path: &str) -> bool {
    path == REPORT_FILE || path.starts_with("plots/") || path.starts_with("csv/")
}

/// Verifies that a directory is an unmodified result: every table and file listed in the manifest, except derived files
/// that were removed.
///
/// # Errors
/// Returns an error if it is not, or if it cannot be read.
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
                return Err(not(format!("{name} has {bytes} bytes, but its manifest states {}", table.bytes)));
            }
            Some(_) => {}
        }
    }
    // Without a hash nobody knows whether a file is still as it was written.
    if manifest.files.is_none() || !manifest.has_hashes() {
        return Err(not("its manifest has no hashes, so edited files cannot be detected".to_owned()));
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
            // Made again with other options.
            Some(_) if sealed_view(Path::new(path)).is_some_and(|kind| kind.wrote(&file)) => {}
            Some(_) => return Err(not(format!("{path} has been changed"))),
        }
    }
    let plots = || fs::read_dir(directory.join(PLOTS_FOLDER)).into_iter().flatten().flatten();
    let views = plots().map(|entry| Path::new(PLOTS_FOLDER).join(entry.file_name()));
    for inside in std::iter::once(PathBuf::from(REPORT_FILE)).chain(views) {
        let path = directory.join(&inside);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        let in_manifest = manifest.files.iter().flatten().any(|it| Some(&it.path) == listed(&inside).as_ref());
        let edited = |kind: Kind<'_>| kind.origin(&path) == Origin::Edited;
        if is_file && !in_manifest && sealed_view(&inside).is_some_and(edited) {
            return Err(not(format!("{} has been edited, or no hash of it is known", inside.display())));
        }
    }
    let folder = directory.join(CSV_FOLDER);
    let list = Exported::read(&folder).ok().flatten().unwrap_or_default().exported;
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let inside = Path::new(CSV_FOLDER).join(entry.file_name());
        let in_manifest =
            || manifest.files.iter().flatten().any(|record| Some(&record.path) == listed(&inside).as_ref());
        let unchanged = || list.iter().any(|it| entry.file_name() == it.path.as_str() && it.describes(&entry.path()));
        if is_export(directory, &inside) && !in_manifest() && !unchanged() {
            return Err(not(format!("{} has been edited, or no hash of it is known", inside.display())));
        }
    }
    Ok(())
}

/// Returns the kind of a report or plot by its path inside a result; `None` if it has another name.
fn sealed_view(inside: &Path) -> Option<Kind<'static>> {
    if inside == Path::new(REPORT_FILE) {
        return Some(Kind::Report);
    }
    let name = inside.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let ending = inside.extension().and_then(|extension| extension.to_str());
    let is_plot = inside.parent() == Some(Path::new(PLOTS_FOLDER)) && matches!(ending, Some("svg" | "png"));
    // A copy under another name is the user's.
    (is_plot && Picture::named(name).is_some()).then_some(Kind::Picture)
}

/// Returns whether a file has the name and the header line of an exported table.
fn is_export(directory: &Path, inside: &Path) -> bool {
    let name = inside.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    if inside.extension().is_none_or(|extension| extension != "csv")
        || name != "columns" && schema::table(name).is_none()
    {
        return false;
    }
    let first = schema::table(name).map_or_else(|| COLUMNS.to_owned(), header);
    Kind::Csv(&first).wrote(&directory.join(inside))
}

/// Removes files that a document lists and that are unchanged, except those whose paths are in `kept`. Returns the files
/// that were edited, which stay.
#[must_use]
pub fn remove_listed(directory: &Path, files: &[FileRecord], kept: &[FileRecord]) -> Vec<PathBuf> {
    let mut edited = Vec::new();
    for record in files.iter().filter(|record| !kept.iter().any(|kept| kept.path == record.path)) {
        let inside = Path::new(&record.path);
        let path = directory.join(inside);
        let is_inside = inside.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || files::no_links(directory, inside.parent().unwrap_or(Path::new(""))).is_err() {
            continue;
        }
        if record.describes(&path) {
            let _ = fs::remove_file(&path);
        } else if path.exists() {
            edited.push(path);
        }
    }
    edited
}

/// Returns the paths of the user's files inside a result.
pub(super) fn others(directory: &Path, manifest: &Manifest) -> Result<Vec<PathBuf>, ResultsError> {
    let exported = Path::new(CSV_FOLDER).join(Exported::FILE);
    let ours = |inside: &Path| {
        let Some(path) = listed(inside) else { return false };
        let file = directory.join(inside);
        if fs::symlink_metadata(&file).is_ok_and(|found| !found.is_file()) {
            return false;
        }
        let view = || match inside.extension().and_then(|extension| extension.to_str()) {
            _ if sealed_view(inside).is_some_and(|kind| kind.wrote(&file)) => true,
            // An edited table is refused before a result is replaced.
            Some("csv") if inside.parent() == Some(Path::new(CSV_FOLDER)) => is_export(directory, inside),
            _ if inside == exported => Exported::read(&directory.join(CSV_FOLDER)).is_ok_and(|list| list.is_some()),
            _ => false,
        };
        path == FILE
            || is_table(&path, manifest)
            || match &manifest.files {
                Some(files) => files.iter().any(|record| record.path == path && record.describes(&file)),
                // Of an older result only the inputs have hashes.
                None => manifest.inputs.iter().any(|input| {
                    input.copy.as_ref() == Some(&path) && hash(&file).is_ok_and(|hash| hash == input.hash)
                }),
            }
            || view()
            || is_dead(&file)
    };
    let all = walk(directory).map_err(|source| ResultsError::io("read", directory, source))?;
    Ok(all.into_iter().filter(|path| !ours(path)).collect())
}

/// Returns whether a path inside one result conflicts with a file at the same path inside another result.
pub(super) fn is_in_the_way(inside: &Path, result: &Path) -> bool {
    let mut folders = inside.ancestors().skip(1).take_while(|path| *path != Path::new(""));
    let there = |path: &Path| fs::symlink_metadata(result.join(path)).ok();
    folders.any(|path| there(path).is_some_and(|found| !found.is_dir())) || there(inside).is_some()
}

/// Returns the paths of the user's files inside a comparison: in its runs, and beside them.
pub(super) fn others_of_comparison(directory: &Path) -> Result<Vec<PathBuf>, ResultsError> {
    let runs = Comparison::read(directory)?.map(|comparison| comparison.runs).unwrap_or_default();
    let mut found = Vec::new();
    for run in &runs {
        let folder = directory.join(&run.folder);
        if let Ok(manifest) = Manifest::read(&folder) {
            let inside = others(&folder, &manifest)?.into_iter();
            found.extend(inside.map(|inside| Path::new(&run.folder).join(inside)));
        }
    }
    let ours = |inside: &Path| {
        let file = directory.join(inside);
        let name = inside.to_str().unwrap_or_default();
        runs.iter().any(|run| inside.starts_with(&run.folder))
            || [Comparison::FILE, UnfinishedComparison::FILE, LOCK].contains(&name)
            || name == REPORT_FILE && Kind::Report.wrote(&file)
            || COMPARISON_CHARTS.contains(&name) && Kind::Picture.wrote(&file)
            || is_dead(&file)
    };
    let all = walk(directory).map_err(|source| ResultsError::io("read", directory, source))?;
    found.extend(all.into_iter().filter(|path| !ours(path)));
    Ok(found)
}

/// Removes a result, its manifest last. The user's files in it are kept.
///
/// # Errors
/// Returns an error if the directory is not a result, or if a system call fails.
pub fn remove_result(directory: &Path) -> Result<(), ResultsError> {
    let manifest = Manifest::read(directory)?;
    let others = others(directory, &manifest)?;
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ResultsError::Io { doing: "remove", path, source }
    };
    let all = walk(directory).map_err(failed(directory))?;
    for inside in all.iter().filter(|inside| !others.contains(inside) && inside.as_path() != Path::new(FILE)) {
        let path = directory.join(inside);
        fs::remove_file(&path).map_err(failed(&path))?;
        // Folders go when their last file does.
        for folder in inside.ancestors().skip(1).take_while(|folder| *folder != Path::new("")) {
            let _ = fs::remove_dir(directory.join(folder));
        }
    }
    let path = directory.join(FILE);
    fs::remove_file(&path).map_err(failed(&path))?;
    match others.is_empty() {
        true => fs::remove_dir(directory).map_err(failed(directory)),
        false => Ok(()),
    }
}

/// Moves the user's files from a replaced result to the new one. Returns whether all were moved.
pub(super) fn settle(replaced: &Path, out: &Path) -> bool {
    let others = Manifest::read(replaced).and_then(|manifest| others(replaced, &manifest));
    others.is_ok_and(|others| move_over(replaced, out, others))
}

/// Moves files, given by their paths inside, from one directory to another. Returns whether all were moved.
pub(super) fn move_over(replaced: &Path, out: &Path, others: Vec<PathBuf>) -> bool {
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
