//! Recognition of files that Tailback may replace.
//!
//! Unless told to overwrite, a command replaces a file only if Tailback wrote it, nobody changed it, and it is of the same
//! kind: a report, a plot, a CSV table or a JSON description. All of these can be recreated from results. They are
//! recognised by their first bytes. Whether they were changed is known from their own hash: the seal of a report or plot,
//! the hash in a JSON description. CSV tables have none; `exported.json` beside them lists theirs.

use super::error::ResultsError;
use super::hash::is_hashed;
use super::seal::Seal;
use files::output::{is_replaced, write_file, write_given};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// A kind of file.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// An HTML report.
    Report,
    /// A plot as SVG or PNG.
    Picture,
    /// A CSV table with this header line.
    Csv(&'a str),
    /// A JSON description: an object with these keys.
    Json(&'a [&'a str]),
}

/// Who wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Tailback, and it was not changed.
    Tailback,
    /// Tailback, but it was changed since, or is of a version that kept no hash of it.
    Edited,
    /// Someone else.
    Other,
}

/// Maximum size of a JSON description in bytes; larger files are not recognised.
const MOST_JSON: u64 = 1 << 28;

/// First bytes of reports.
pub const REPORT_START: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-";

/// Attribute in the first element of SVG plots.
pub const SVG_LOOK: &str = "font-family=\"Noto Sans, DejaVu Sans, Helvetica, Arial, sans-serif\" role=\"img\">";

/// Text chunk of PNG plots.
pub const PNG_SOFTWARE: &[u8] = b"tEXtSoftware\0tailback";

impl Kind<'_> {
    /// Returns the name used in error messages.
    fn name(self) -> &'static str {
        match self {
            Kind::Report => "a report",
            Kind::Picture => "a picture",
            Kind::Csv(_) => "a table",
            Kind::Json(_) => "a description of results",
        }
    }

    /// Returns whether Tailback wrote a file, it is of this kind, and it was not changed.
    #[must_use]
    pub fn wrote(self, path: &Path) -> bool {
        self.origin(path) == Origin::Tailback
    }

    /// Returns who wrote a file. One that cannot be read is not ours.
    #[must_use]
    pub fn origin(self, path: &Path) -> Origin {
        let beginning = || -> Vec<u8> {
            let mut bytes = Vec::new();
            let read = File::open(path).and_then(|file| file.take(1024).read_to_end(&mut bytes));
            if read.is_ok() { bytes } else { Vec::new() }
        };
        let contains = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        let sealed = |seal: Seal| if seal.is_intact(path).unwrap_or(false) { Origin::Tailback } else { Origin::Edited };
        match self {
            Kind::Report if beginning().starts_with(REPORT_START.as_bytes()) => sealed(Seal::Markup),
            Kind::Picture => match beginning() {
                bytes if bytes.starts_with(b"<svg ") && contains(&bytes, SVG_LOOK.as_bytes()) => sealed(Seal::Markup),
                bytes if bytes.starts_with(b"\x89PNG") && contains(&bytes, PNG_SOFTWARE) => sealed(Seal::Png),
                _ => Origin::Other,
            },
            Kind::Csv(first) => {
                let mut line = String::new();
                let read = File::open(path).and_then(|file| BufReader::new(file.take(1 << 20)).read_line(&mut line));
                let ours = read.is_ok() && line.trim_end_matches(['\n', '\r']) == first;
                if ours { Origin::Tailback } else { Origin::Other }
            }
            Kind::Json(keys) => {
                let mut text = String::new();
                let read = File::open(path).and_then(|file| file.take(MOST_JSON).read_to_string(&mut text));
                let value = read.ok().and_then(|_| serde_json::from_str::<Value>(&text).ok());
                match value.filter(|value| keys.iter().all(|key| value.get(key).is_some())) {
                    None => Origin::Other,
                    // Documents of earlier versions stated neither a format nor a hash.
                    Some(value) if is_hashed(&text).unwrap_or(!value["format"].is_string()) => Origin::Tailback,
                    Some(_) => Origin::Edited,
                }
            }
            Kind::Report => Origin::Other,
        }
    }

    /// Removes a file of this kind if Tailback wrote it and it was not changed; any other file stays.
    pub fn remove(self, path: &Path) {
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) && self.wrote(path) {
            let _ = fs::remove_file(path);
        }
    }

    /// Checks that a file of this kind may be written to a path chosen by Tailback: nothing is there, or a replaceable
    /// file, or `overwrite` is true.
    ///
    /// # Errors
    /// Returns an error if another file is there.
    pub fn may_go_to(self, path: &Path, overwrite: bool) -> Result<(), ResultsError> {
        files::plain(path).map_err(|source| ResultsError::io("write", path, source))?;
        self.may_go_to_given(path, overwrite)
    }

    /// Checks that a file of this kind may be written to a path named by a user. Anything but a regular file is written
    /// to, not replaced.
    ///
    /// # Errors
    /// Returns an error if another file is there.
    pub fn may_go_to_given(self, path: &Path, overwrite: bool) -> Result<(), ResultsError> {
        if overwrite || !is_replaced(path) {
            return Ok(());
        }
        match self.origin(path) {
            Origin::Tailback => Ok(()),
            Origin::Edited => Err(ResultsError::Edited { path: path.to_owned() }),
            Origin::Other => Err(ResultsError::Foreign { path: path.to_owned(), kind: self.name() }),
        }
    }

    /// Writes a file of this kind to a path named by a user.
    ///
    /// # Errors
    /// Returns an error if the file may not be replaced, or if a system call fails.
    pub fn write_given(self, path: &Path, overwrite: bool, contents: impl AsRef<[u8]>) -> Result<(), ResultsError> {
        self.may_go_to_given(path, overwrite)?;
        write_given(path, contents).map_err(|source| ResultsError::io("write", path, source))
    }

    /// Writes a file of this kind to a path chosen by Tailback.
    ///
    /// # Errors
    /// Returns an error if the file may not be replaced, or if a system call fails.
    pub fn write(self, path: &Path, overwrite: bool, contents: impl AsRef<[u8]>) -> Result<(), ResultsError> {
        self.may_go_to(path, overwrite)?;
        write_file(path, contents).map_err(|source| ResultsError::io("write", path, source))
    }
}

/// Removes the unchanged plots written by Tailback from a directory and its folders, and folders that are then empty.
pub fn remove_pictures(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for (path, kind) in entries.flatten().map(|entry| (entry.path(), entry.file_type())) {
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
