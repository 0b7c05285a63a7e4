//! Writing a results directory: beside its place while the run goes, and into its place whole.
//!
//! `out` is written as `out.partial-PID` with a file INCOMPLETE in it and without a manifest, and renamed in the end.
//! An old result moves to `out.replaced-PID` for the moment between two renames; a process killed in that moment
//! leaves it there, and the next writer or reader of `out` moves it back.

use super::error::ResultsError;
use super::manifest::{FILE, Manifest};
use super::parquet_file::TableWriter;
use fabric::record::schema::TABLES;
use fabric::record::{Ending, RecorderSpec, Row, Rows, WaitBucket};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const MARK: &str = "INCOMPLETE";
const MARK_TEXT: &str = "This run has not ended, or was killed. Its tables are not whole; delete this directory.\n";

/// See the module. Dropped without [`ResultWriter::commit`], it removes what it has written.
pub struct ResultWriter {
    out: PathBuf,
    partial: PathBuf,
    overwrite: bool,
    tables: Vec<TableWriter>,
    not_recorded: Vec<String>,
    leftovers: Vec<PathBuf>,
    keep: bool,
}

/// `out` with something behind its name.
fn beside(out: &Path, suffix: &str) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    out.with_file_name(name)
}

/// Directories beside `out` whose name is that of `out` with `infix` and a process number, and that number.
fn siblings(out: &Path, infix: &str) -> Vec<(PathBuf, u32)> {
    let parent = match out.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let Some(name) = out.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let prefix = format!("{name}{infix}");
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut found: Vec<(PathBuf, u32)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let number = name.to_str()?.strip_prefix(&prefix)?.split('-').next()?.parse().ok()?;
            Some((entry.path(), number))
        })
        .collect();
    found.sort();
    found
}

/// Whether a process is certainly gone.
fn is_gone(process: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{process}")).exists()
}

/// Moves an old result back that a killed process had moved away and not replaced.
pub(super) fn restore(out: &Path) {
    if out.exists() {
        return;
    }
    if let Some((path, _)) = siblings(out, ".replaced-").into_iter().find(|(_, process)| is_gone(*process)) {
        // If it cannot be moved, the caller finds nothing at `out` and says so.
        let _ = fs::rename(path, out);
    }
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
        Ok(_) | Err(ResultsError::Newer { .. }) if overwrite => Ok(()),
        Ok(_) | Err(ResultsError::Newer { .. }) => Err(ResultsError::Exists { path }),
        Err(_) if fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none()) => Ok(()),
        Err(_) => Err(ResultsError::NotOurs { path }),
    }
}

impl ResultWriter {
    /// Starts a result that will be at `out`. Directories above it are made; what killed runs have left for the same
    /// place is removed.
    ///
    /// # Errors
    /// If something is there already that may not be replaced, or the system refuses.
    pub fn create(out: &Path, overwrite: bool, recorder: &RecorderSpec) -> Result<ResultWriter, ResultsError> {
        if out.file_name().is_none() {
            return Err(ResultsError::NotOurs { path: out.to_owned() });
        }
        restore(out);
        check(out, overwrite)?;
        if let Some(parent) = out.parent() {
            fs::create_dir_all(parent).map_err(|source| ResultsError::io("create", parent, source))?;
        }
        let mut leftovers = Vec::new();
        for (path, process) in siblings(out, ".partial-") {
            let removed = is_gone(process) && path.join(MARK).exists() && fs::remove_dir_all(&path).is_ok();
            if !removed {
                leftovers.push(path);
            }
        }
        let partial = new_directory(out)?;
        let mut writer = ResultWriter {
            out: out.to_owned(),
            partial,
            overwrite,
            tables: Vec::new(),
            not_recorded: Vec::new(),
            leftovers,
            keep: false,
        };
        writer.attach(MARK, MARK_TEXT.as_bytes())?;
        for table in TABLES {
            if recorder.records(table) {
                let path = writer.partial.join(format!("{}.parquet", table.name));
                writer.tables.push(TableWriter::create(&path, table)?);
            } else {
                writer.not_recorded.push(table.name.to_owned());
            }
        }
        Ok(writer)
    }

    /// Partial results for the same place that were not removed: of runs that may still be under way.
    #[must_use]
    pub fn leftovers(&self) -> &[PathBuf] {
        &self.leftovers
    }

    /// Where it writes until it is committed.
    #[must_use]
    pub fn partial(&self) -> &Path {
        &self.partial
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

    /// Writes what was drained at a checkpoint.
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
        let path = self.partial.join(name);
        let write = || {
            use std::io::Write;
            let mut file = File::create(&path)?;
            file.write_all(contents)?;
            file.sync_all()
        };
        write().map_err(|source| ResultsError::io("write", &path, source))
    }

    /// Ends the tables, writes the manifest and moves the directory into its place.
    ///
    /// # Errors
    /// If the system refuses, or another result has appeared there. An old result is still there then.
    pub fn commit(mut self, mut manifest: Manifest) -> Result<PathBuf, ResultsError> {
        manifest.tables.clear();
        for table in std::mem::take(&mut self.tables) {
            manifest.tables.push(table.finish()?);
        }
        manifest.not_recorded = std::mem::take(&mut self.not_recorded);
        self.attach(FILE, manifest.to_text().as_bytes())?;
        let mark = self.partial.join(MARK);
        fs::remove_file(&mark).map_err(|source| ResultsError::io("remove", &mark, source))?;
        sync(&self.partial)?;
        self.keep = true;
        self.put_in_place()?;
        sync(self.out.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new(".")))?;
        Ok(self.out.clone())
    }

    fn put_in_place(&self) -> Result<(), ResultsError> {
        let rename = |from: &Path, to: &Path| {
            fs::rename(from, to).map_err(|source| ResultsError::io("move the result into place at", to, source))
        };
        if check(&self.out, self.overwrite).is_err() {
            return Err(ResultsError::Appeared { path: self.out.clone(), kept: self.partial.clone() });
        }
        if !self.out.exists() {
            return rename(&self.partial, &self.out);
        }
        let old = beside(&self.out, &format!(".replaced-{}", std::process::id()));
        rename(&self.out, &old)?;
        if let Err(error) = rename(&self.partial, &self.out) {
            rename(&old, &self.out)?;
            return Err(error);
        }
        fs::remove_dir_all(&old).map_err(|source| ResultsError::io("remove the replaced result", &old, source))
    }
}

/// A new directory beside `out` that nobody else writes to.
fn new_directory(out: &Path) -> Result<PathBuf, ResultsError> {
    let process = std::process::id();
    for attempt in 0u32.. {
        let suffix = if attempt == 0 { format!(".partial-{process}") } else { format!(".partial-{process}-{attempt}") };
        let path = beside(out, &suffix);
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(ResultsError::io("create", &path, source)),
        }
    }
    unreachable!("there are more numbers than directories")
}

/// Waits until the disk knows the names in a directory. Where directories cannot be opened there is nothing to wait for.
fn sync(directory: &Path) -> Result<(), ResultsError> {
    match File::open(directory) {
        Ok(file) => file.sync_all().or(Ok(())),
        Err(_) => Ok(()),
    }
}

impl Drop for ResultWriter {
    fn drop(&mut self) {
        if !self.keep {
            // Files first; what cannot be removed says itself that it is not whole.
            self.tables.clear();
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

#[cfg(test)]
#[path = "directory_tests.rs"]
pub(super) mod tests;
