//! Which files are ours to replace.
//!
//! Without being told to overwrite, a command replaces a file only if the file is one of the same kind that Tailback wrote:
//! a report, a picture, a table as CSV, a description as JSON. All of these can be made again from results. They are known
//! by how they begin, so that a copy is known wherever it lies and nothing has to be written down.

use super::error::ResultsError;
use files::output::{is_replaced, write_file, write_given};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// A kind of file.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// A report, as HTML.
    Report,
    /// A picture, as SVG or PNG.
    Picture,
    /// A table as CSV, with this first line.
    Csv(&'a str),
    /// A description as JSON: an object with these keys.
    Json(&'a [&'a str]),
}

/// A description that is longer than this is not ours.
const MOST_JSON: u64 = 1 << 28;

/// How reports begin.
pub const REPORT_START: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-";

/// What SVG pictures say in their first element.
pub const SVG_LOOK: &str = "font-family=\"Noto Sans, DejaVu Sans, Helvetica, Arial, sans-serif\" role=\"img\">";

/// What PNG pictures say in a chunk of text.
pub const PNG_SOFTWARE: &[u8] = b"tEXtSoftware\0tailback";

impl Kind<'_> {
    /// How an error calls it.
    fn name(self) -> &'static str {
        match self {
            Kind::Report => "a report",
            Kind::Picture => "a picture",
            Kind::Csv(_) => "a table",
            Kind::Json(_) => "a description of results",
        }
    }

    /// Whether a file is of this kind and ours.
    pub fn wrote(self, path: &Path) -> bool {
        let beginning = |path: &Path| -> Vec<u8> {
            let mut bytes = Vec::new();
            let read = File::open(path).and_then(|file| file.take(1024).read_to_end(&mut bytes));
            if read.is_ok() { bytes } else { Vec::new() }
        };
        let contains = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        match self {
            Kind::Report => beginning(path).starts_with(REPORT_START.as_bytes()),
            Kind::Picture => {
                let is_svg = |bytes: &[u8]| bytes.starts_with(b"<svg ") && contains(bytes, SVG_LOOK.as_bytes());
                let bytes = beginning(path);
                // Pictures of earlier versions said nothing; they come in pairs.
                is_svg(&bytes)
                    || bytes.starts_with(b"\x89PNG")
                        && (contains(&bytes, PNG_SOFTWARE) || is_svg(&beginning(&path.with_extension("svg"))))
            }
            Kind::Csv(first) => {
                let mut line = String::new();
                let read = File::open(path).and_then(|file| BufReader::new(file.take(1 << 20)).read_line(&mut line));
                read.is_ok() && line.trim_end_matches(['\n', '\r']) == first
            }
            Kind::Json(keys) => {
                let file = File::open(path).map(|file| BufReader::new(file.take(MOST_JSON)));
                let value = file.ok().and_then(|file| serde_json::from_reader::<_, Value>(file).ok());
                value.is_some_and(|value| keys.iter().all(|key| value.get(key).is_some()))
            }
        }
    }

    /// Whether a file of this kind may be written there, under a name of ours: if nothing is there, or a file of ours, or a
    /// file that is to be overwritten.
    ///
    /// # Errors
    /// If something else is there.
    pub fn may_go_to(self, path: &Path, overwrite: bool) -> Result<(), ResultsError> {
        files::plain(path).map_err(|source| ResultsError::io("write", path, source))?;
        self.may_go_to_given(path, overwrite)
    }

    /// The same for a path that a person has named: what is no regular file is written to, not replaced.
    ///
    /// # Errors
    /// If something else is there.
    pub fn may_go_to_given(self, path: &Path, overwrite: bool) -> Result<(), ResultsError> {
        if overwrite || !is_replaced(path) || self.wrote(path) {
            return Ok(());
        }
        Err(ResultsError::Foreign { path: path.to_owned(), kind: self.name() })
    }

    /// Writes a file of this kind to a path that a person has named, if it may go there.
    ///
    /// # Errors
    /// If it may not, or the system refuses.
    pub fn write_given(self, path: &Path, overwrite: bool, contents: impl AsRef<[u8]>) -> Result<(), ResultsError> {
        self.may_go_to_given(path, overwrite)?;
        write_given(path, contents).map_err(|source| ResultsError::io("write", path, source))
    }

    /// Writes a file of this kind under a name of ours, if it may go there.
    ///
    /// # Errors
    /// If it may not, or the system refuses.
    pub fn write(self, path: &Path, overwrite: bool, contents: impl AsRef<[u8]>) -> Result<(), ResultsError> {
        self.may_go_to(path, overwrite)?;
        write_file(path, contents).map_err(|source| ResultsError::io("write", path, source))
    }
}

/// Removes the pictures that we drew in a directory and its folders, and folders that are empty then.
pub fn remove_pictures(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| (entry.path(), entry.file_type())).collect();
    // A PNG comes before the SVG that may vouch for it.
    paths.sort_by(|a, b| a.0.cmp(&b.0));
    for (path, kind) in paths {
        let is = |extensions: &[&str]| path.extension().is_some_and(|it| extensions.iter().any(|one| it == *one));
        match kind {
            Ok(kind) if kind.is_dir() => remove_pictures(&path),
            Ok(kind) if kind.is_file() && is(&["svg", "png"]) && Kind::Picture.wrote(&path) => {
                let _ = fs::remove_file(&path);
            }
            _ => {}
        }
    }
    // It stays if anything is left in it.
    let _ = fs::remove_dir(directory);
}
