//! Writing a results directory: beside its place while the run goes, and into its place whole.

use super::error::ResultsError;
use super::manifest::{FILE, Manifest};
use super::ours::{is_in_the_way, others, records, verify};
use super::parquet_file::TableWriter;
use super::stage::{Leftover, Stage, clean, restore};
use fabric::record::schema::TABLES;
use fabric::record::{Ending, RecorderSpec, Row, Rows, WaitBucket};
use files::output::unfinished::parent;
use files::output::write_file;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// See the module. Dropped without [`ResultWriter::commit`], it removes what it has written.
pub struct ResultWriter {
    out: PathBuf,
    taken: Taken,
    tables: Vec<TableWriter>,
    not_recorded: Vec<String>,
    leftovers: Vec<Leftover>,
    /// Last, so that tables are closed before it is removed.
    stage: Stage,
}

/// What to do where something is already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    /// Refuse to run.
    Refuse,
    /// Replace an older result.
    Replace,
    /// Take the next free name.
    Next,
}

/// `out`, then `out-2`, `out-3`, ...
fn numbered(out: &Path) -> impl Iterator<Item = PathBuf> {
    let name = out.file_name().unwrap_or_default().to_owned();
    let next = move |number: u32| {
        let mut name = name.clone();
        name.push(format!("-{number}"));
        out.with_file_name(name)
    };
    std::iter::once(out.to_owned()).chain((2..).map(next))
}

/// Whether results may go there.
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
    /// Whether a result may go there, without touching anything but what a killed run has moved away.
    ///
    /// # Errors
    /// If something is there already that may not be replaced.
    pub fn check(out: &Path, overwrite: bool) -> Result<(), ResultsError> {
        restore(out);
        check(out, overwrite)
    }

    /// Starts a result that will be at `out`. Directories above it are made; what killed runs have left for the same
    /// place is removed.
    ///
    /// # Errors
    /// If something is there already that may not be replaced, or the system refuses.
    pub fn create(out: &Path, overwrite: bool, recorder: &RecorderSpec) -> Result<ResultWriter, ResultsError> {
        ResultWriter::new(out, if overwrite { Taken::Replace } else { Taken::Refuse }, recorder)
    }

    /// The same; if something is there when the result is committed, it goes to the first of `out-2`, `out-3`, ... that is
    /// free.
    ///
    /// # Errors
    /// If the system refuses.
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

    /// Unfinished results for the same place that were not removed: of runs that may still be under way.
    #[must_use]
    pub fn leftovers(&self) -> &[Leftover] {
        &self.leftovers
    }

    /// Where the result is until it is committed.
    #[must_use]
    pub fn partial(&self) -> PathBuf {
        self.stage.result()
    }

    /// Rows taken so far, of all tables.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(TableWriter::rows).sum()
    }

    /// Bytes written so far, of all tables; the last row group of each is not written yet.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tables.iter().map(TableWriter::bytes).sum()
    }

    /// Writes rows of one table, in its order; nothing if the table is not recorded.
    ///
    /// # Errors
    /// If the system refuses. The run may as well end then.
    pub fn write<R: Row>(&mut self, rows: &[R]) -> Result<(), ResultsError> {
        match self.tables.iter_mut().find(|table| table.table().name == R::TABLE.name) {
            Some(table) => table.append(rows),
            None => Ok(()),
        }
    }

    /// Writes what was drained at an inspection.
    ///
    /// # Errors
    /// As [`ResultWriter::write`].
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

    /// Writes what is left when the run has ended. The flows are the caller's to write: it knows their names.
    ///
    /// # Errors
    /// As [`ResultWriter::write`].
    pub fn end(&mut self, ending: &Ending) -> Result<(), ResultsError> {
        self.append(&ending.rows)?;
        self.write(&ending.waits)?;
        for row in &ending.waits {
            let buckets: Vec<WaitBucket> = row.buckets().collect();
            self.write(&buckets)?;
        }
        Ok(())
    }

    /// Puts another file beside the tables, such as the scenario as it was.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn attach(&mut self, name: &str, contents: &[u8]) -> Result<(), ResultsError> {
        let path = self.partial().join(name);
        write_file(&path, contents).map_err(|source| ResultsError::io("write", &path, source))
    }

    /// Ends the tables and writes the manifest: from now on the result can be read where it is.
    ///
    /// # Errors
    /// If the system refuses.
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

    /// Ends the tables, writes the manifest and moves the directory into its place, which it returns.
    ///
    /// # Errors
    /// If the system refuses, or another result has appeared there. An old result is still there then.
    pub fn commit(self, manifest: Manifest) -> Result<PathBuf, ResultsError> {
        self.finish(manifest)?.commit()
    }
}

/// A result with all its tables, not yet in its place: what is made from the tables can be put beside them.
pub struct FinishedResult {
    out: PathBuf,
    taken: Taken,
    manifest: Manifest,
    stage: Stage,
}

impl FinishedResult {
    /// Where it is until it is committed.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.stage.result()
    }

    /// Runs what puts files beside the tables. If it fails, what it has written is removed, and the result is as it was.
    ///
    /// # Errors
    /// As given.
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

    /// Lists all files in the manifest and moves the directory into its place, which it returns.
    ///
    /// # Errors
    /// As [`ResultWriter::commit`].
    pub fn commit(mut self) -> Result<PathBuf, ResultsError> {
        self.manifest.files = Some(records(&self.directory(), &self.manifest)?);
        self.write_manifest()?;
        sync(&self.directory())?;
        let place = self.put_in_place()?;
        sync(parent(&place))?;
        Ok(place)
    }

    /// A file of the user's in the result that is to be replaced where the new one has a file too.
    fn in_the_way(&self) -> Result<Option<PathBuf>, ResultsError> {
        let Ok(manifest) = Manifest::read(&self.out) else { return Ok(None) };
        let others = others(&self.out, &manifest)?.into_iter();
        let is_folder = |inside: &PathBuf| self.out.join(inside).is_dir();
        let mut files = others.filter(|inside| !is_folder(inside));
        Ok(files.find(|inside| is_in_the_way(inside, &self.directory())).map(|inside| self.out.join(inside)))
    }

    /// Renames the result. That something is there already is left to the rename to find out: another run may put it there at
    /// any moment.
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

/// Waits until the disk knows the names in a directory. Where directories cannot be opened there is nothing to wait for.
fn sync(directory: &Path) -> Result<(), ResultsError> {
    match File::open(directory) {
        Ok(file) => file.sync_all().or(Ok(())),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
#[path = "directory_tests.rs"]
pub(super) mod tests;
