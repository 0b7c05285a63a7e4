//! The staging directory of a result, next to its final path.
//!
//! `OUT.partial-TOKEN-NUMBER` contains a file INCOMPLETE, which the writer keeps locked, and the result itself in
//! `result/`. When the result is complete, it is renamed. An old result is exchanged with it atomically and stays in
//! `replaced/` until the user's files have been moved to the new one; the rest is then removed. On a file system that
//! cannot exchange, the old result is moved to `replaced/` first. If the process is killed between the two renames, the
//! next writer or reader of `OUT` moves the old result back.

use super::error::ResultsError;
use super::ownership::settle;
use files::output::unfinished::{self, Writer, parent};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

pub(super) const MARK: &str = "INCOMPLETE";
const MARK_TEXT: &str = "This run has not ended, or was killed. The result beside this file is not whole.\n\
    Its run holds a lock on this file. A later run to the same place removes the directory if nobody does.\n";

/// The result while it is written.
const RESULT: &str = "result";
/// An old result that is being replaced.
const REPLACED: &str = "replaced";

/// An unfinished result that was found next to the path of a result and kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// Another run is writing to it.
    Busy(PathBuf),
    /// It may have a writer: it was created on another machine, before the last boot of this one, or by an earlier
    /// version.
    Unknown(PathBuf),
    /// A replaced result contains files of the user that could not be moved back.
    Replaced(PathBuf),
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Leftover::Busy(path) => write!(f, "another run is writing to the same place, in {}", path.display()),
            Leftover::Replaced(path) => write!(
                f,
                "{} holds your own files from results that were being replaced\n  move them where you want them",
                path.display()
            ),
            Leftover::Unknown(path) => {
                let quoted = path.display().to_string().replace('\'', "'\\''");
                write!(
                    f,
                    "{} is unfinished, and a run on another machine may still be writing to it\n  if not, remove it: rm -r '{quoted}'",
                    path.display()
                )
            }
        }
    }
}

/// A staging directory, which is removed on drop.
pub(super) struct Stage {
    /// Final path of the result.
    out: PathBuf,
    path: PathBuf,
    /// Kept open, and thereby locked.
    mark: File,
}

impl Stage {
    /// Creates a staging directory next to `out`.
    pub(super) fn create(out: &Path) -> Result<Stage, ResultsError> {
        for path in unfinished::names(out) {
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(source) => return Err(ResultsError::io("create", &path, source)),
            }
            let name = path.join(MARK);
            let failed = |source| ResultsError::io("write", &name, source);
            match unfinished::create_locked(&name) {
                Ok(Some(mark)) => {
                    // From here on it is removed if anything fails.
                    let stage = Stage { out: out.to_owned(), path, mark };
                    let mut mark = &stage.mark;
                    mark.write_all(MARK_TEXT.as_bytes()).and_then(|()| mark.sync_all()).map_err(failed)?;
                    fs::create_dir(stage.result()).map_err(|source| ResultsError::io("create", &stage.path, source))?;
                    return Ok(stage);
                }
                // Somebody who cleans up found it before it was locked.
                Ok(None) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => {
                    let _ = fs::remove_dir(&path);
                    return Err(failed(source));
                }
            }
        }
        unreachable!("there are more numbers than directories")
    }

    /// Returns the path of the result in the staging directory.
    pub(super) fn result(&self) -> PathBuf {
        self.path.join(RESULT)
    }

    /// Moves the result to a free path.
    pub(super) fn place(&self, out: &Path) -> std::io::Result<()> {
        fs::rename(self.result(), out)
    }

    /// Moves the result to a path, and the existing one to [`Stage::replaced`].
    pub(super) fn exchange(&self, out: &Path) -> std::io::Result<()> {
        let replaced = self.replaced();
        // In this order, so that a process killed in between leaves a new result in `replaced` beside the old one.
        fs::rename(self.result(), &replaced)?;
        match exchange(&replaced, out) {
            Ok(()) => Ok(()),
            Err(_) => {
                fs::rename(&replaced, self.result())?;
                fs::rename(out, &replaced)?;
                fs::rename(self.result(), out).or_else(|error| {
                    fs::rename(&replaced, out)?;
                    Err(error)
                })
            }
        }
    }

    /// Returns the path of the old result after an exchange.
    pub(super) fn replaced(&self) -> PathBuf {
        self.path.join(REPLACED)
    }

    /// Moves the user's files from the old result to the new one. Returns whether all were moved.
    pub(super) fn settle(&self) -> bool {
        settle_in(&self.path, &self.out)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What cannot be removed says itself that it is not whole.
        remove(&self.path, &self.out);
    }
}

/// Exchanges two directories atomically, where the system supports it.
#[cfg(target_os = "linux")]
pub(super) fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn exchange(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Moves the user's files from a replaced result in a staging directory to `out`. Then renames the rest to `result`
/// atomically, so that a process killed during the removal leaves nothing of value behind.
fn settle_in(path: &Path, out: &Path) -> bool {
    let replaced = path.join(REPLACED);
    settle(&replaced, out) && fs::rename(replaced, path.join(RESULT)).is_ok()
}

/// Removes a staging directory, its lock file last, so that it stays recognisable if the process is killed. Returns
/// whether it was removed.
fn remove(path: &Path, out: &Path) -> bool {
    // Most often one of them is not there. What is there and stays keeps the directory.
    let _ = fs::remove_dir_all(path.join(RESULT));
    if settle_in(path, out) {
        let _ = fs::remove_dir_all(path.join(RESULT));
    }
    let is_mark = |entry: std::io::Result<fs::DirEntry>| entry.is_ok_and(|entry| entry.file_name() == MARK);
    if fs::read_dir(path).is_ok_and(|mut entries| entries.all(is_mark)) {
        let _ = fs::remove_file(path.join(MARK));
    }
    fs::remove_dir(path).is_ok()
}

/// Removes staging directories of killed runs for a path, and returns those that are kept.
pub(super) fn clean(out: &Path) -> Vec<Leftover> {
    let mut kept = Vec::new();
    for path in stages(out) {
        // A directory that was only just made holds nothing.
        if fs::remove_dir(&path).is_ok() {
            continue;
        }
        match unfinished::writer(&path, &path.join(MARK)) {
            Writer::Gone(_lock) if remove(&path, out) => {}
            Writer::Gone(_) if path.join(REPLACED).exists() => kept.push(Leftover::Replaced(path.join(REPLACED))),
            Writer::Busy => kept.push(Leftover::Busy(path)),
            Writer::Gone(_) | Writer::Unknown => kept.push(Leftover::Unknown(path)),
        }
    }
    kept
}

/// Restores an old result that a killed process had moved away but not replaced.
pub(super) fn restore(out: &Path) {
    if fs::symlink_metadata(out).is_ok() {
        return;
    }
    for path in stages(out) {
        let replaced = path.join(REPLACED);
        if replaced.exists()
            && let Writer::Gone(_lock) = unfinished::writer(&path, &path.join(MARK))
        {
            // If it cannot be moved, the caller finds nothing at `out` and says so.
            let _ = fs::rename(replaced, out);
            return;
        }
    }
}

/// Returns the staging directories for a path.
fn stages(out: &Path) -> Vec<PathBuf> {
    let found = unfinished::found(parent(out), out.file_name());
    let paths = found.into_iter().filter_map(|path| Some(out.with_file_name(path.file_name()?)));
    paths.filter(|path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())).collect()
}
