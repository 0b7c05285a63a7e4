//! Errors of results: the problem, its location, and the remedy.

use parquet::errors::ParquetError;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// An error of writing or reading results.
#[derive(Debug)]
pub enum ResultsError {
    /// A result already exists.
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// The path exists and is not a result; it is never overwritten.
    NotOurs {
        /// The path.
        path: PathBuf,
    },
    /// A manifest exists, but the files that it lists are missing or modified.
    NotWhole {
        /// The directory.
        path: PathBuf,
        /// The problem found.
        reason: String,
    },
    /// A file exists that Tailback did not write and may not replace.
    Foreign {
        /// The file.
        path: PathBuf,
        /// The expected kind of file.
        kind: &'static str,
    },
    /// A file that Tailback wrote was edited since, or is not known to be unchanged.
    Edited {
        /// The file.
        path: PathBuf,
    },
    /// The time limit was reached before additional files were written.
    TimeUp,
    /// A user's file conflicts with a file of the new result.
    InTheWay {
        /// The user's file.
        path: PathBuf,
        /// Path of the new result.
        kept: PathBuf,
    },
    /// A user's files could not be moved out of a replaced result.
    NotMoved {
        /// Path of the files.
        path: PathBuf,
        /// Path of the replaced result.
        out: PathBuf,
    },
    /// Another run has created a result at the path in the meantime.
    Appeared {
        /// The path.
        path: PathBuf,
        /// Path of the complete result of this run.
        kept: PathBuf,
    },
    /// Another process is writing there.
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// The directory contains finished runs of another comparison that is not complete.
    Unfinished {
        /// The directory.
        path: PathBuf,
    },
    /// A system call failed.
    Io {
        /// The operation, such as "write".
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A table could not be written or read.
    Table {
        /// The operation.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A directory does not contain results.
    NotResults {
        /// The directory.
        path: PathBuf,
        /// The problem found.
        reason: String,
    },
    /// A file of a result was modified since it was written.
    Changed {
        /// The file.
        path: PathBuf,
        /// The evidence.
        reason: String,
    },
    /// The results were written by a later version of this program.
    Newer {
        /// The directory.
        path: PathBuf,
        /// Schema version of the results.
        found: u64,
    },
    /// The run recorded more than twice its limit before the next inspection.
    TooMuch {
        /// Path of the recording, which was removed.
        path: PathBuf,
        /// Maximum number of rows.
        max_rows: u64,
        /// Maximum number of bytes.
        max_bytes: u64,
    },
    /// The run did not record the table.
    NoTable {
        /// The results directory.
        path: PathBuf,
        /// Name of the table.
        table: String,
        /// Names of the recorded tables.
        there_are: Vec<String>,
    },
}

impl ResultsError {
    /// Wraps a system error.
    #[must_use]
    pub fn io(doing: &'static str, path: &Path, source: io::Error) -> ResultsError {
        ResultsError::Io { doing, path: path.to_owned(), source }
    }

    /// Wraps an error of the Parquet library. A system error inside it is unwrapped.
    pub(crate) fn parquet(doing: &'static str, path: &Path, error: ParquetError) -> ResultsError {
        let reason = error.to_string();
        if let ParquetError::External(inner) = error
            && let Ok(source) = inner.downcast::<io::Error>()
        {
            return ResultsError::io(doing, path, *source);
        }
        ResultsError::Table { doing, path: path.to_owned(), reason }
    }

    /// Returns whether the disk was full.
    #[must_use]
    pub fn is_full_disk(&self) -> bool {
        matches!(self, ResultsError::Io { source, .. } if full(source))
    }
}

fn full(source: &io::Error) -> bool {
    matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Returns the suggested remedy for a system error.
#[must_use]
pub fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, choose another place with --out, or record less (fewer ports and flows, longer sample intervals)"
        }
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only; choose another place with --out",
        io::ErrorKind::PermissionDenied => {
            "permission is denied there; choose another place with --out, or change the permissions"
        }
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::InvalidFilename => "the name is too long for this file system; give a shorter one with --out",
        io::ErrorKind::FileTooLarge if source.raw_os_error().is_some() => {
            "the system allows no larger file there; raise the limit (ulimit -f), choose another place with --out, or record less"
        }
        io::ErrorKind::FileTooLarge => "it is too large to be a file that tailback wrote; restore it from a copy",
        io::ErrorKind::IsADirectory if !files::is_strange(source) => "name a file, for example one in that directory",
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => {
            "only regular files and directories inside the results are read and written; remove the obstacle, or, if a \
             copy lost files, copy the results again with the targets of links"
        }
        io::ErrorKind::NotADirectory => "a part of the path is a file; name a directory",
        _ => "check the disk and try again",
    }
}

impl fmt::Display for ResultsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists { path } => write!(
                f,
                "{} holds the results of an earlier run\n  choose another place with --out, or add --overwrite to replace them",
                path.display()
            ),
            Self::NotOurs { path } => write!(
                f,
                "{} exists and tailback did not write it, so it is never overwritten\n  choose another place with --out, or move it away",
                path.display()
            ),
            Self::NotWhole { path, reason } => write!(
                f,
                "{} is not a result as tailback wrote it, so it is not overwritten: {reason}\n  choose another place with --out, or move it away",
                path.display()
            ),
            Self::Foreign { path, kind } => write!(
                f,
                "{} exists and is not {kind} that tailback wrote\n  choose another place, move it away, or add --overwrite if the command has it",
                path.display()
            ),
            Self::Edited { path } => write!(
                f,
                "{} was edited since tailback wrote it, or was written by a version that kept no hash of it\n  move it away, choose another place with --out, or add --overwrite if the command has it",
                path.display()
            ),
            Self::TimeUp => {
                f.write_str("the time limit was reached before all additional files were written\n  allow more time, or make them from the results with `tailback csv`, `plot` and `report`")
            }
            Self::InTheWay { path, kept } => write!(
                f,
                "{} was not written by tailback, and the new results have a file of that name, so nothing was replaced\n  the new results are complete and were kept in {}",
                path.display(),
                kept.display()
            ),
            Self::NotMoved { path, out } => write!(
                f,
                "the new results are in {}, but your own files that were there are still in {}\n  move them where you want them",
                out.display(),
                path.display()
            ),
            Self::Appeared { path, kept } => write!(
                f,
                "{} was created by another process during this run\n  the results are complete and were kept in {}; move them where you want them",
                path.display(),
                kept.display()
            ),
            Self::Busy { path } => write!(
                f,
                "another process is writing to {}\n  wait until it has ended, or choose another place with --out",
                path.display()
            ),
            Self::Unfinished { path } => write!(
                f,
                "{} holds runs of another comparison, which is not complete\n  continue it with the command that began it, choose another place with --out, or add --overwrite to discard them",
                path.display()
            ),
            Self::Io { doing, path, source } => {
                write!(f, "cannot {doing} {}: {source}\n  {}", path.display(), remedy(source))
            }
            Self::Table { doing, path, reason } => write!(
                f,
                "cannot {doing} {}: {reason}\n  if the file was changed or partly copied, run the scenario again",
                path.display()
            ),
            Self::NotResults { path, reason } => {
                write!(f, "{} holds no results: {reason}\n  name a directory that `tailback run` wrote", path.display())
            }
            Self::Changed { path, reason } => write!(
                f,
                "{} has changed since the run wrote it: {reason}\n  restore it from a copy, or run the scenario again",
                path.display()
            ),
            Self::Newer { path, found } => write!(
                f,
                "{} was written by a later version of tailback (results version {found}, this one reads {})\n  use that version, or run the scenario again",
                path.display(),
                super::SCHEMA_VERSION
            ),
            Self::TooMuch { path, max_rows, max_bytes } => write!(
                f,
                "{}: this run has recorded more than twice the limit of probes.max_rows ({max_rows}) or \
                 probes.max_size ({max_bytes}B) before an inspection; nothing is kept\n  record less (probes.record, \
                 probes.sample_every, probes.nodes), raise the limit, or shorten run.inspect_every",
                path.display()
            ),
            Self::NoTable { path, table, there_are } => write!(
                f,
                "{} has no table {table}: the run did not record it\n  there are {}; record it in the scenario and run again",
                path.display(),
                there_are.join(", ")
            ),
        }
    }
}

impl std::error::Error for ResultsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_error_inside_parquet_stays_a_system_error() {
        let full = ParquetError::External(Box::new(io::Error::from(io::ErrorKind::StorageFull)));
        let error = ResultsError::parquet("write", Path::new("links.parquet"), full);
        assert!(error.is_full_disk());
        let text = error.to_string();
        assert!(text.contains("links.parquet") && text.contains("free some space"), "{text}");
        let other = ResultsError::parquet("read", Path::new("x"), ParquetError::General("odd".into()));
        assert!(!other.is_full_disk() && other.to_string().contains("odd"));
    }

    #[test]
    fn the_remedy_is_for_the_cause() {
        let limited = ResultsError::io("write", Path::new("r/links.parquet"), io::Error::from_raw_os_error(27));
        assert!(limited.to_string().contains("ulimit -f"), "{limited}");
        let bounded = io::Error::new(io::ErrorKind::FileTooLarge, "it has more than 5 bytes");
        assert!(!remedy(&bounded).contains("ulimit") && !remedy(&bounded).contains("regular"), "{}", remedy(&bounded));
        let folder = tempfile::tempdir().expect("there is room");
        let given = files::output::write_given(folder.path(), "x").expect_err("a directory");
        assert!(remedy(&given).contains("name a file"), "{}", remedy(&given));
        let own = files::output::write_file(folder.path(), "x").expect_err("a directory");
        assert!(remedy(&own).contains("remove the obstacle"), "{}", remedy(&own));
    }

    #[test]
    fn every_error_has_a_second_line_that_says_what_to_do() {
        let path = PathBuf::from("results/incast");
        let errors = [
            ResultsError::Exists { path: path.clone() },
            ResultsError::NotOurs { path: path.clone() },
            ResultsError::Appeared { path: path.clone(), kept: path.clone() },
            ResultsError::NotWhole { path: path.clone(), reason: "rates.parquet is missing".into() },
            ResultsError::Foreign { path: path.clone(), kind: "a report" },
            ResultsError::InTheWay { path: path.clone(), kept: path.clone() },
            ResultsError::NotMoved { path: path.clone(), out: path.clone() },
            ResultsError::Busy { path: path.clone() },
            ResultsError::Edited { path: path.clone() },
            ResultsError::Unfinished { path: path.clone() },
            ResultsError::io("create", &path, io::Error::from(io::ErrorKind::PermissionDenied)),
            ResultsError::NotResults { path: path.clone(), reason: "it has no manifest.json".into() },
            ResultsError::Changed { path: path.clone(), reason: "it is missing".into() },
            ResultsError::Newer { path: path.clone(), found: 99 },
            ResultsError::TooMuch { path: path.clone(), max_rows: 5, max_bytes: 1000 },
            ResultsError::NoTable { path, table: "waits".into(), there_are: vec!["ports".into()] },
        ];
        for error in errors {
            let text = error.to_string();
            assert_eq!(text.lines().count(), 2, "{text}");
            assert!(text.contains("results/incast"), "{text}");
        }
    }
}
