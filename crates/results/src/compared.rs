//! Writing the directory of a comparison: run by run, resumable, and one writer at a time.
//!
//! `compare.partial.json` lists the runs that are planned and those that are finished; `compare.json` appears when all
//! are. A killed comparison is continued by the same command, which keeps the finished runs. The writer holds an
//! operating system lock on `compare.partial.lock` in the directory.
//!
//! If the directory already has a complete comparison, the new one is written to `OUT.partial-comparison` and exchanged
//! with it at the end. Until then the old comparison is unchanged; the user's files in it are moved to the new one.

use super::directory::{ResultWriter, numbered, sync};
use super::document::{ComparedRun, Comparison, ComparisonRow, Document, FinishedRun, UnfinishedComparison};
use super::error::ResultsError;
use super::manifest::{Manifest, hex};
use super::ownership::{is_in_the_way, move_over, others_of_comparison, remove_result, verify};
use super::reader::Results;
use super::replaceable::Kind;
use super::stage::{clean, exchange};
use files::output::unfinished::{self, parent};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// File names of the charts of a comparison.
pub const COMPARISON_CHARTS: [&str; 2] = ["throughput.svg", "throughput.png"];

/// The file that the writer keeps locked.
pub(super) const LOCK: &str = "compare.partial.lock";

/// What is to be compared.
#[derive(Clone, Debug)]
pub struct ComparisonPlan {
    /// Hash of the scenario, its overrides and the compared values.
    pub identity: String,
    /// Identification of the program: runs of another one are repeated.
    pub program: String,
    /// The runs, in the requested order.
    pub runs: Vec<ComparedRun>,
}

/// A writer of a comparison. If it is dropped before [`ComparisonWriter::commit`], the finished runs are kept.
#[derive(Debug)]
pub struct ComparisonWriter {
    /// Final path.
    out: PathBuf,
    /// Path of the runs until the commit: `out`, or next to it if an older comparison is to be replaced.
    folder: PathBuf,
    document: UnfinishedComparison,
    /// Whether folders of planned runs may be replaced.
    replace: bool,
    /// Whether the comparison is complete and in place.
    committed: bool,
    /// Locks on `out` and on `folder`, held for as long as this exists.
    _locks: [File; 2],
}

/// Returns a path next to a directory for an unfinished or a replaced comparison.
fn beside(out: &Path, what: &str) -> PathBuf {
    out.with_file_name(unfinished::name_beside(out, what))
}

fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ResultsError {
    let path = path.to_owned();
    move |source| ResultsError::Io { doing, path, source }
}

/// Locks a directory, which is created if necessary.
fn lock(out: &Path) -> Result<File, ResultsError> {
    let path = out.join(LOCK);
    loop {
        fs::create_dir_all(out).map_err(io("create", out))?;
        match unfinished::lock(&path) {
            Ok(Some(file)) => return Ok(file),
            Ok(None) => return Err(ResultsError::Busy { path: out.to_owned() }),
            // Another writer removed the directory because it had nothing to keep.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !out.exists() => {}
            Err(error) => return Err(ResultsError::io("write", &path, error)),
        }
    }
}

impl ComparisonWriter {
    /// Begins a comparison at `out`, or continues it if the directory contains finished runs of the same comparison.
    ///
    /// # Errors
    /// Returns an error if another process writes there, if the directory contains another comparison or other files in
    /// the way and `overwrite` is false, or if a system call fails.
    pub fn open(out: &Path, overwrite: bool, plan: &ComparisonPlan) -> Result<ComparisonWriter, ResultsError> {
        if out.file_name().is_none() {
            return Err(ResultsError::NotOurs { path: out.to_owned() });
        }
        restore(out);
        let held = lock(out)?;
        let opened = prepare(out, overwrite, plan).and_then(|(folder, document, replace)| {
            // When the two are exchanged, the new directory is still locked.
            let second = if folder == out { held.try_clone().map_err(io("lock", out))? } else { lock(&folder)? };
            Ok((folder, document, replace, second))
        });
        let (folder, document, replace, second) = opened.inspect_err(|_| release(out))?;
        let (out, _locks) = (out.to_owned(), [held, second]);
        let writer = ComparisonWriter { out, folder, document, replace, committed: false, _locks };
        writer.save()?;
        Ok(writer)
    }

    /// Begins a comparison at the first free path of `out`, `out-2`, `out-3`, ..., or continues it where its finished
    /// runs are.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    pub fn open_numbered(out: &Path, plan: &ComparisonPlan) -> Result<ComparisonWriter, ResultsError> {
        fs::create_dir_all(parent(out)).map_err(io("create", parent(out)))?;
        for path in numbered(out) {
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let unfinished = !path.join(Comparison::FILE).exists()
                        && UnfinishedComparison::read(&path)
                            .is_ok_and(|found| found.is_some_and(|found| found.identity == plan.identity));
                    if !unfinished {
                        continue;
                    }
                }
                Err(error) => return Err(ResultsError::io("create", &path, error)),
            }
            match ComparisonWriter::open(&path, false, plan) {
                // Another process was faster.
                Err(ResultsError::Busy { .. } | ResultsError::Exists { .. } | ResultsError::Unfinished { .. }) => {}
                opened => return opened,
            }
        }
        unreachable!("there are more numbers than directories")
    }

    fn save(&self) -> Result<(), ResultsError> {
        self.document.write(&self.folder)
    }

    /// Returns the path of a run's results, and whether an existing result may be replaced.
    #[must_use]
    pub fn place(&self, run: &ComparedRun) -> (PathBuf, bool) {
        (self.folder.join(&run.folder), self.replace)
    }

    /// Returns a run that was finished before, if its files are unchanged.
    #[must_use]
    pub fn finished(&self, run: &ComparedRun) -> Option<&FinishedRun> {
        let found = self.document.finished.iter().find(|found| found.value == run.value)?;
        let path = self.folder.join(&run.folder);
        let results = Results::open(&path).ok()?;
        let whole = verify(&path, &results.manifest).and_then(|()| results.verify());
        (whole.is_ok() && hex(results.manifest.fingerprint) == found.fingerprint).then_some(found)
    }

    /// Returns the number of finished runs.
    #[must_use]
    pub fn count(&self) -> usize {
        self.document.finished.len()
    }

    /// Adds a run whose results are complete.
    ///
    /// # Errors
    /// Returns an error if the list of finished runs cannot be written.
    pub fn add(&mut self, run: FinishedRun) -> Result<(), ResultsError> {
        self.document.finished.retain(|known| known.value != run.value);
        self.document.finished.push(run);
        self.save()
    }

    /// Writes `compare.json` and moves the comparison to its final path. `views` adds charts before, and `derived` a
    /// report after `compare.json` is written; if one fails, the comparison is kept without them, and the error is
    /// returned with the path.
    ///
    /// # Errors
    /// Returns an error if a system call fails, or if a user's file is in the way. The old comparison, if any, is then
    /// unchanged.
    pub fn commit(
        mut self,
        (name, key): (&str, &str),
        views: impl FnOnce(&Path) -> Result<(), ResultsError>,
        derived: impl FnOnce(&Path) -> Result<(), ResultsError>,
    ) -> Result<(Comparison, PathBuf, Option<ResultsError>), ResultsError> {
        let of = |run: &ComparedRun| self.document.finished.iter().find(|found| found.value == run.value);
        let rows: Vec<ComparisonRow> =
            self.document.runs.iter().filter_map(of).flat_map(|found| found.rows.iter().cloned()).collect();
        let comparison =
            Comparison { name: name.to_owned(), key: key.to_owned(), runs: self.document.runs.clone(), rows };
        let mut lacking = views(&self.folder).err();
        comparison.write(&self.folder)?;
        if lacking.is_none() {
            lacking = derived(&self.folder).err();
        }
        let out = if self.folder == self.out { self.out.clone() } else { self.replace_older()? };
        // What stays of these two says nothing about a complete comparison.
        let _ = fs::remove_file(out.join(UnfinishedComparison::FILE));
        let _ = fs::remove_file(out.join(LOCK));
        self.committed = true;
        sync(parent(&out))?;
        Ok((comparison, out, lacking))
    }

    /// Exchanges the comparison with the older one.
    fn replace_older(&self) -> Result<PathBuf, ResultsError> {
        sync(&self.folder)?;
        let failed = |source| ResultsError::io("move the comparison into place at", &self.out, source);
        let theirs = others_of_comparison(&self.out)?;
        // A link to a folder is a file of the user's.
        let is_file =
            |inside: &&PathBuf| fs::symlink_metadata(self.out.join(inside)).is_ok_and(|found| !found.is_dir());
        if let Some(path) = theirs.iter().filter(is_file).find(|inside| is_in_the_way(inside, &self.folder)) {
            for kept in numbered(&self.out).skip(1) {
                match fs::rename(&self.folder, &kept) {
                    Ok(()) => {
                        let _ = fs::remove_file(kept.join(UnfinishedComparison::FILE));
                        let _ = fs::remove_file(kept.join(LOCK));
                        return Err(ResultsError::InTheWay { path: self.out.join(path), kept });
                    }
                    Err(_) if fs::symlink_metadata(&kept).is_ok() => {}
                    Err(error) => return Err(failed(error)),
                }
            }
        }
        if exchange(&self.folder, &self.out).is_err() {
            let replaced = beside(&self.out, "replaced");
            fs::rename(&self.out, &replaced).map_err(failed)?;
            fs::rename(&self.folder, &self.out).or_else(|error| {
                fs::rename(&replaced, &self.out).map_err(failed)?;
                Err(failed(error))
            })?;
        }
        settle(&self.out)?;
        Ok(self.out.clone())
    }
}

impl Drop for ComparisonWriter {
    fn drop(&mut self) {
        if self.committed {
            return;
        }
        // Without a finished run there is nothing to continue.
        if self.document.finished.is_empty() {
            let _ = fs::remove_file(self.folder.join(UnfinishedComparison::FILE));
        }
        release(&self.folder);
        release(&self.out);
    }
}

/// Decides where the runs are written, which of them are finished, and whether existing ones may be replaced. The
/// directory is locked.
fn prepare(
    out: &Path,
    overwrite: bool,
    plan: &ComparisonPlan,
) -> Result<(PathBuf, UnfinishedComparison, bool), ResultsError> {
    Comparison::may_go_to(out)?;
    let older = out.join(Comparison::FILE).exists();
    if older {
        // A process may have been killed when it had just replaced an even older one.
        let _ = fs::remove_file(out.join(UnfinishedComparison::FILE));
        settle(out)?;
    }
    if older && !overwrite {
        return Err(ResultsError::Exists { path: out.to_owned() });
    }
    for name in COMPARISON_CHARTS {
        Kind::Picture.may_go_to(&out.join(name), false)?;
    }
    let folder = if older { beside(out, "comparison") } else { out.to_owned() };
    if older {
        for run in Comparison::read(out)?.iter().flat_map(|older| &older.runs) {
            ResultWriter::check(&inside(out, run)?, true)?;
        }
        fs::create_dir_all(&folder).map_err(io("create", &folder))?;
    }
    let (identity, program, runs) = (plan.identity.clone(), plan.program.clone(), plan.runs.clone());
    let new = UnfinishedComparison { identity, program, runs, finished: Vec::new() };
    match UnfinishedComparison::read(&folder) {
        Ok(Some(found)) if found.identity == plan.identity => {
            // A mixture of runs of two programs would not be a comparison.
            let finished = if found.program == plan.program { found.finished } else { Vec::new() };
            return Ok((folder, UnfinishedComparison { finished, ..new }, true));
        }
        Ok(None) => {}
        Ok(Some(_)) | Err(_) if !overwrite => return Err(ResultsError::Unfinished { path: folder }),
        Ok(Some(other)) => {
            for run in other.runs.iter().filter(|run| !plan.runs.iter().any(|kept| kept.folder == run.folder)) {
                let path = inside(&folder, run)?;
                clean(&path);
                // What is not a result, or not whole, stays.
                let whole = Manifest::read(&path).and_then(|manifest| verify(&path, &manifest));
                let _ = whole.and_then(|()| remove_result(&path));
            }
        }
        // Its list of runs is damaged or edited, and the user gives it up.
        Err(_) => drop(fs::remove_file(folder.join(UnfinishedComparison::FILE))),
    }
    for run in &plan.runs {
        ResultWriter::check(&inside(&folder, run)?, overwrite)?;
    }
    Ok((folder, new, overwrite))
}

/// Removes the lock of a directory, and the directory if it is empty.
fn release(out: &Path) {
    let _ = fs::remove_file(out.join(LOCK));
    let _ = fs::remove_dir(out);
}

/// Returns the path of a run in a comparison. A stranger's document may name any folder.
fn inside(out: &Path, run: &ComparedRun) -> Result<PathBuf, ResultsError> {
    let mut parts = Path::new(&run.folder).components();
    match (parts.next(), parts.next()) {
        (Some(std::path::Component::Normal(_)), None) => Ok(out.join(&run.folder)),
        _ => {
            let reason = format!("it names the folder {:?}, which is not inside it", run.folder);
            Err(ResultsError::NotWhole { path: out.to_owned(), reason })
        }
    }
}

/// Restores an older comparison that a killed process had moved away but not replaced.
fn restore(out: &Path) {
    let replaced = beside(out, "replaced");
    if fs::symlink_metadata(out).is_err() && replaced.join(Comparison::FILE).exists() {
        // If it cannot be moved, the caller finds nothing at `out`.
        let _ = fs::rename(replaced, out);
    }
}

/// Moves the user's files from a replaced comparison to the new one, and removes the rest.
fn settle(out: &Path) -> Result<(), ResultsError> {
    for replaced in ["comparison", "replaced"].map(|what| beside(out, what)) {
        let unfinished = replaced.join(UnfinishedComparison::FILE).exists();
        if unfinished || !replaced.join(Comparison::FILE).exists() {
            continue;
        }
        let theirs = others_of_comparison(&replaced)?;
        if !move_over(&replaced, out, theirs) {
            return Err(ResultsError::NotMoved { path: replaced, out: out.to_owned() });
        }
        // Its document last, so that the next command removes what a killed one has left.
        let runs = Comparison::read(&replaced)?.map(|found| found.runs).unwrap_or_default();
        for run in &runs {
            let path = inside(&replaced, run)?;
            if path.exists() {
                remove_result(&path)?;
            }
        }
        for entry in fs::read_dir(&replaced).map_err(io("read", &replaced))?.flatten() {
            if entry.file_name() != Comparison::FILE {
                let path = entry.path();
                let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
                removed.map_err(io("remove", &path))?;
            }
        }
        fs::remove_dir_all(&replaced).map_err(io("remove", &replaced))?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "compared_tests.rs"]
mod tests;
