//! The directory in which a result is put together, beside its place, until it moves there.
//!
//! `OUT.partial-TOKEN-NUMBER` holds a file INCOMPLETE, which its writer keeps locked, and the result itself in `result/`.
//! When that is whole, it is renamed. An old result is exchanged with it in one step and lies in `replaced/` until what its
//! user had put there is moved to the new one, and the rest is removed. Where a file system cannot exchange, it moves there first; a process killed between the two renames
//! leaves it there, and the next writer or reader of `OUT` moves it back.

use super::error::ResultsError;
use super::ours::settle;
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

/// Something unfinished that was found beside the place of a result and is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// Another run writes there now.
    Busy(PathBuf),
    /// Whether one does cannot be known: it was begun on another machine, before the last start of this one, or by an
    /// earlier version.
    Unknown(PathBuf),
    /// A result that was being replaced has files of its user's that could not be moved back.
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

/// See the module. Dropped, it is removed.
pub(super) struct Stage {
    /// Where the result should go.
    out: PathBuf,
    path: PathBuf,
    /// Open, and so locked.
    mark: File,
}

impl Stage {
    /// A new one beside `out`.
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

    /// Where the result is put together.
    pub(super) fn result(&self) -> PathBuf {
        self.path.join(RESULT)
    }

    /// Moves the result to a place where nothing is.
    pub(super) fn place(&self, out: &Path) -> std::io::Result<()> {
        fs::rename(self.result(), out)
    }

    /// Moves the result to a place and what is there to [`Stage::replaced`].
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

    /// The old result, after an exchange.
    pub(super) fn replaced(&self) -> PathBuf {
        self.path.join(REPLACED)
    }

    /// Moves what is its user's from the old result to the new one. Whether it could all be moved.
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

/// Exchanges two directories in one step, where the system can.
#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Moves what is its user's from a replaced result in a stage to `out`. The rest is called `result` then, in one step: a process
/// killed while it removes that leaves nothing that could hold anything of value.
fn settle_in(path: &Path, out: &Path) -> bool {
    let replaced = path.join(REPLACED);
    settle(&replaced, out) && fs::rename(replaced, path.join(RESULT)).is_ok()
}

/// Removes a stage, its mark last: killed on the way, it is still known for what it is. Whether it is gone.
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

/// Removes what killed runs to a place have left, and returns what is kept.
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

/// Moves an old result back that a killed process had moved away and not replaced.
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

/// Unfinished directories of a place.
fn stages(out: &Path) -> Vec<PathBuf> {
    let found = unfinished::found(parent(out), out.file_name());
    let paths = found.into_iter().filter_map(|path| Some(out.with_file_name(path.file_name()?)));
    paths.filter(|path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())).collect()
}
