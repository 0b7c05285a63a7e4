//! Writing a results directory: next to its final path during the run, then moved into place atomically.

use super::error::ResultsError;
use super::manifest::{FILE, Manifest};
use super::ownership::{is_in_the_way, others, records, verify};
use super::parquet_file::TableWriter;
use super::stage::{Leftover, Stage, clean, restore};
use fabric::record::schema::TABLES;
use fabric::record::{Ending, RecorderSpec, Row, Rows, WaitBucket};
use files::output::unfinished::parent;
use files::output::write_file;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A writer of a results directory. If it is dropped without [`ResultWriter::commit`], it removes its files.
pub struct ResultWriter {
    out: PathBuf,
    taken: Taken,
    tables: Vec<TableWriter>,
    not_recorded: Vec<String>,
    leftovers: Vec<Leftover>,
    /// Last, so that tables are closed before it is removed.
    stage: Stage,
}

/// Action if the path exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    /// Refuse to run.
    Refuse,
    /// Replace an older result.
    Replace,
    /// Use the next free name.
    Next,
}

/// Returns `out`, `out-2`, `out-3`, ...
pub(super) fn numbered(out: &Path) -> impl Iterator<Item = PathBuf> {
    let name = out.file_name().unwrap_or_default().to_owned();
    let next = move |number: u32| {
        let mut name = name.clone();
        name.push(format!("-{number}"));
        out.with_file_name(name)
    };
    std::iter::once(out.to_owned()).chain((2..).map(next))
}

/// Checks that results may be written to a path.
fn check(out: &Path, overwrite: bool) -> Result<(), ResultsError> {
    let path = out.to_owned();
    match fs::symlink_metadata(out) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(ResultsError::io("look at", out, error)),
        Ok(found) if !found.is_dir() => return Err(ResultsError::NotOurs { path }),
        Ok(_) => {}
    }
    match Manifest::read(out) {
        Ok(manifest) if overwrite => verify(out, &manifest),
        Err(error @ ResultsError::Newer { .. }) if overwrite => Err(error),
        Ok(_) | Err(ResultsError::Newer { .. }) => Err(ResultsError::Exists { path }),
        Err(_) if fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none()) => Ok(()),
        Err(_) => Err(ResultsError::NotOurs { path }),
    }
}

impl ResultWriter {
    /// Checks that a result may be written to `out`. Changes nothing, except that it restores a result moved away by a
    /// killed run.
    ///
    /// # Errors
    /// Returns an error if the path exists and may not be replaced.
    pub fn check(out: &Path, overwrite: bool) -> Result<(), ResultsError> {
        restore(out);
        check(out, overwrite)
    }

    /// Begins a result that will be moved to `out`. Creates parent directories and removes unfinished results of killed
    /// runs for the same path.
    ///
    /// # Errors
    /// Returns an error if the path exists and may not be replaced, or if a system call fails.
    pub fn create(out: &Path, overwrite: bool, recorder: &RecorderSpec) -> Result<ResultWriter, ResultsError> {
        ResultWriter::new(out, if overwrite { Taken::Replace } else { Taken::Refuse }, recorder)
    }

    /// Begins a result that will be moved to `out`, or to the first free path of `out-2`, `out-3`, ... if `out` exists
    /// when the result is committed.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    pub fn create_numbered(out: &Path, recorder: &RecorderSpec) -> Result<ResultWriter, ResultsError> {
        ResultWriter::new(out, Taken::Next, recorder)
    }

    fn new(out: &Path, taken: Taken, recorder: &RecorderSpec) -> Result<ResultWriter, ResultsError> {
        if out.file_name().is_none() {
            return Err(ResultsError::NotOurs { path: out.to_owned() });
        }
        restore(out);
        if taken != Taken::Next {
            check(out, taken == Taken::Replace)?;
        }
        let above = parent(out);
        fs::create_dir_all(above).map_err(|source| ResultsError::io("create", above, source))?;
        let leftovers = clean(out);
        let stage = Stage::create(out)?;
        let (mut tables, mut not_recorded) = (Vec::new(), Vec::new());
        for table in TABLES {
            if recorder.records(table) {
                tables.push(TableWriter::create(&stage.result().join(format!("{}.parquet", table.name)), table)?);
            } else {
                not_recorded.push(table.name.to_owned());
            }
        }
        Ok(ResultWriter { out: out.to_owned(), taken, tables, not_recorded, leftovers, stage })
    }

    /// Returns the unfinished results for the same path that were kept because their runs may still be active.
    #[must_use]
    pub fn leftovers(&self) -> &[Leftover] {
        &self.leftovers
    }

    /// Returns the path of the result until it is committed.
    #[must_use]
    pub fn partial(&self) -> PathBuf {
        self.stage.result()
    }

    /// Returns the number of rows written so far, over all tables.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(TableWriter::rows).sum()
    }

    /// Returns the number of bytes written so far, over all tables, without the last row group of each.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tables.iter().map(TableWriter::bytes).sum()
    }

    /// Writes rows of one table, in its order. Does nothing if the table is not recorded.
    ///
    /// # Errors
    /// Returns an error if a system call fails. The run should then stop.
    pub fn write<R: Row>(&mut self, rows: &[R]) -> Result<(), ResultsError> {
        match self.tables.iter_mut().find(|table| table.table().name == R::TABLE.name) {
            Some(table) => table.append(rows),
            None => Ok(()),
        }
    }

    /// Writes the rows drained at an inspection.
    ///
    /// # Errors
    /// Returns the errors of [`ResultWriter::write`].
    pub fn append(&mut self, rows: &Rows) -> Result<(), ResultsError> {
        self.write(&rows.flow_samples)?;
        self.write(&rows.links)?;
        self.write(&rows.starved)?;
        self.write(&rows.queues)?;
        self.write(&rows.rates)?;
        self.write(&rows.pauses)?;
        self.write(&rows.drops)?;
        self.write(&rows.notices)?;
        self.write(&rows.occupancy)
    }

    /// Writes the rows that are known only at the end of the run. The caller writes the flows, because it knows their
    /// names.
    ///
    /// # Errors
    /// Returns the errors of [`ResultWriter::write`].
    pub fn end(&mut self, ending: &Ending) -> Result<(), ResultsError> {
        self.append(&ending.rows)?;
        self.write(&ending.waits)?;
        for row in &ending.waits {
            let buckets: Vec<WaitBucket> = row.buckets().collect();
            self.write(&buckets)?;
        }
        self.write(&ending.delays)?;
        self.write(&ending.levels)?;
        Ok(())
    }

    /// Adds another file next to the tables, such as a copy of the scenario.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    pub fn attach(&mut self, name: &str, contents: &[u8]) -> Result<(), ResultsError> {
        let path = self.partial().join(name);
        write_file(&path, contents).map_err(|source| ResultsError::io("write", &path, source))
    }

    /// Finishes the tables and writes the manifest. From then on, the result can be read at its temporary path.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    pub fn finish(mut self, mut manifest: Manifest) -> Result<FinishedResult, ResultsError> {
        manifest.tables.clear();
        for table in std::mem::take(&mut self.tables) {
            manifest.tables.push(table.finish()?);
        }
        manifest.not_recorded = std::mem::take(&mut self.not_recorded);
        let ResultWriter { out, taken, stage, .. } = self;
        let finished = FinishedResult { out, taken, manifest, stage };
        finished.write_manifest()?;
        Ok(finished)
    }

    /// Finishes the tables, writes the manifest and moves the directory to its final path, which is returned.
    ///
    /// # Errors
    /// Returns an error if a system call fails, or if another result has appeared at the path. The old result, if any,
    /// is then unchanged.
    pub fn commit(self, manifest: Manifest) -> Result<PathBuf, ResultsError> {
        self.finish(manifest)?.commit()
    }
}

/// A result with complete tables that is not yet at its final path. Files derived from the tables can still be added.
pub struct FinishedResult {
    out: PathBuf,
    taken: Taken,
    manifest: Manifest,
    stage: Stage,
}

impl FinishedResult {
    /// Returns the path of the result until it is committed.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.stage.result()
    }

    /// Runs a function that adds files next to the tables. If it fails, its files are removed and the result is
    /// unchanged.
    ///
    /// # Errors
    /// Returns the errors of the function.
    pub fn add<E>(&mut self, write: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
        let directory = self.directory();
        let names = || fs::read_dir(&directory).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let before: Vec<_> = names().collect();
        let written = write(&directory);
        if written.is_err() {
            for name in names().filter(|name| !before.contains(name)) {
                let path = directory.join(name);
                // What stays will be listed; nothing of it is cut off.
                let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            }
        }
        written
    }

    fn write_manifest(&self) -> Result<(), ResultsError> {
        let path = self.directory().join(FILE);
        write_file(&path, self.manifest.to_text()).map_err(|source| ResultsError::io("write", &path, source))
    }

    /// Lists all files in the manifest and moves the directory to its final path, which is returned.
    ///
    /// # Errors
    /// Returns the errors of [`ResultWriter::commit`].
    pub fn commit(mut self) -> Result<PathBuf, ResultsError> {
        self.manifest.files = Some(records(&self.directory(), &self.manifest)?);
        self.write_manifest()?;
        sync(&self.directory())?;
        let place = self.put_in_place()?;
        sync(parent(&place))?;
        Ok(place)
    }

    /// Returns a user's file in the result to be replaced whose path conflicts with a file of the new result.
    fn in_the_way(&self) -> Result<Option<PathBuf>, ResultsError> {
        let Ok(manifest) = Manifest::read(&self.out) else { return Ok(None) };
        let others = others(&self.out, &manifest)?.into_iter();
        // A link to a folder is a file of the user's.
        let is_folder =
            |inside: &PathBuf| fs::symlink_metadata(self.out.join(inside)).is_ok_and(|found| found.is_dir());
        let mut files = others.filter(|inside| !is_folder(inside));
        Ok(files.find(|inside| is_in_the_way(inside, &self.directory())).map(|inside| self.out.join(inside)))
    }

    /// Renames the result. The rename itself detects an existing directory, because another run may create one at any
    /// moment.
    fn put_in_place(&self) -> Result<PathBuf, ResultsError> {
        let failed = |out: &Path, source| ResultsError::io("move the result into place at", out, source);
        let is_taken = |out: &Path, error: &io::Error| {
            use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
            matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory)
                && fs::symlink_metadata(out).is_ok()
        };
        let mut in_the_way: Option<PathBuf> = None;
        for out in numbered(&self.out) {
            match (self.stage.place(&out), &in_the_way) {
                (Ok(()), None) if out == self.out || self.taken == Taken::Next => return Ok(out),
                (Ok(()), None) => return Err(ResultsError::Appeared { path: self.out.clone(), kept: out }),
                (Ok(()), Some(path)) => return Err(ResultsError::InTheWay { path: path.clone(), kept: out }),
                (Err(error), _) if !is_taken(&out, &error) => return Err(failed(&out, error)),
                (Err(_), _) => {}
            }
            if self.taken == Taken::Replace && out == self.out && check(&out, true).is_ok() {
                in_the_way = self.in_the_way()?;
                if in_the_way.is_none() {
                    self.stage.exchange(&out).map_err(|source| failed(&out, source))?;
                    return match self.stage.settle() {
                        true => Ok(out),
                        false => Err(ResultsError::NotMoved { path: self.stage.replaced(), out }),
                    };
                }
            }
        }
        unreachable!("there are more numbers than directories")
    }
}

/// Flushes the entries of a directory to disk. Does nothing where directories cannot be opened.
pub(super) fn sync(directory: &Path) -> Result<(), ResultsError> {
    match File::open(directory) {
        Ok(file) => file.sync_all().or(Ok(())),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
#[path = "directory_tests.rs"]
pub(super) mod tests;
