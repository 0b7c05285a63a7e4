//! The source texts of a scenario: files and overrides, and positions in them.
//!
//! Every value keeps its [`Place`] through base files and overrides, so that an error found late still refers to the
//! text that caused it. This module does not read files; a [`FileReader`] does, and only that of the loader accesses
//! the disk.

use files::text::hexadecimal;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// A range of a source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Index of the text.
    pub(crate) source: u32,
    /// First byte.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
}

/// The kind of a source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A scenario or another file of keys.
    File,
    /// A data file that a scenario names. Its lines are never quoted, because the name may lead to any file.
    Data,
    /// An override `path=value`.
    Override,
}

/// A source text.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// The path as given, or the name of the override.
    pub name: String,
    /// Kind of the text.
    pub kind: SourceKind,
    /// The whole text.
    pub text: String,
    /// SHA-256 of the text, in hexadecimal, as printed by `sha256sum`.
    pub sha256: String,
    /// Offset of each line.
    lines: Vec<u32>,
}

/// All source texts of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: Vec<SourceText>,
}

impl Sources {
    /// Adds a text and returns its index.
    pub(crate) fn add(&mut self, name: String, kind: SourceKind, text: String) -> u32 {
        let sha256 = hexadecimal(&Sha256::digest(text.as_bytes()));
        let breaks = text.bytes().zip(1_u32..).filter(|(octet, _)| *octet == b'\n').map(|(_, next)| next);
        let lines = std::iter::once(0).chain(breaks).collect();
        self.texts.push(SourceText { name, kind, text, sha256, lines });
        (self.texts.len() - 1) as u32
    }

    /// Returns the texts, in the order in which they were read.
    pub fn iter(&self) -> impl Iterator<Item = &SourceText> {
        self.texts.iter()
    }

    /// Returns a text by its index.
    pub(crate) fn get(&self, source: u32) -> Option<&SourceText> {
        self.texts.get(source as usize)
    }

    /// Calls these overrides after the option that gave them.
    pub(crate) fn call(&mut self, overrides: &[String], option: &str) {
        let named = |it: &&mut SourceText| it.kind == SourceKind::Override && overrides.contains(&it.text);
        self.texts.iter_mut().filter(named).for_each(|source| source.name = option.to_owned());
    }

    /// Calls all overrides after an option.
    pub(crate) fn call_all(&mut self, option: &str) {
        let overrides = self.texts.iter_mut().filter(|it| it.kind == SourceKind::Override);
        overrides.for_each(|source| source.name = option.to_owned());
    }

    /// Escapes control characters in the names of the texts.
    pub(crate) fn on_one_line(mut self) -> Sources {
        for source in &mut self.texts {
            source.name = files::text::on_one_line(&source.name).into_owned();
        }
        self
    }

    /// Returns line and column of the first character, both from one.
    #[must_use]
    pub fn position(&self, place: Place) -> (usize, usize) {
        let Some(source) = self.get(place.source) else { return (1, 1) };
        let at = floor_boundary(&source.text, place.start as usize);
        let line = source.lines.partition_point(|&start| start as usize <= at);
        let start = line.checked_sub(1).and_then(|line| source.lines.get(line)).map_or(0, |&start| start as usize);
        (line.max(1), source.text[start..at].chars().count() + 1)
    }

    /// Returns the folder that a path at that position is relative to.
    pub(crate) fn folder(&self, place: Place) -> PathBuf {
        match self.get(place.source) {
            Some(source) if source.kind == SourceKind::File => {
                Path::new(&source.name).parent().map(Path::to_path_buf).unwrap_or_default()
            }
            _ => PathBuf::new(),
        }
    }
}

/// Returns the last character boundary at or before a byte.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A source of files.
pub trait FileReader {
    /// Reads the whole text of a file.
    ///
    /// # Errors
    /// Returns the reason for humans.
    fn read(&self, path: &Path) -> Result<String, String>;

    /// Reads the whole text of a data file, which may be larger than a scenario.
    ///
    /// # Errors
    /// Returns the reason for humans.
    fn read_data(&self, path: &Path) -> Result<String, String> {
        self.read(path)
    }

    /// Returns a name that is equal for two paths only if they refer to the same file.
    fn identity(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }
}

/// A reader without files, for self-contained scenarios.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl FileReader for NoFiles {
    fn read(&self, _path: &Path) -> Result<String, String> {
        Err("other files cannot be read here".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let mut sources = Sources::default();
        let source = sources.add("a.toml".into(), SourceKind::File, "x = 1\n\u{b5}\u{b5} = 2\n".into());
        let at = |start| sources.position(Place { source, start, end: start });
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(4), (1, 5));
        assert_eq!(at(10), (2, 3));
        // Inside a character, past the end, and in a text that does not exist.
        assert_eq!(at(7), (2, 1));
        assert_eq!(at(999), (3, 1));
        assert_eq!(sources.position(Place { source: 9, start: 0, end: 0 }), (1, 1));
    }

    #[test]
    fn the_hash_is_the_one_of_sha256sum() {
        let mut sources = Sources::default();
        sources.add("empty".into(), SourceKind::File, String::new());
        let hash = &sources.iter().next().unwrap().sha256;
        assert_eq!(hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
