//! Seals: the last bytes of a report or picture state the hash of all bytes before them, so that an edited file is
//! recognised anywhere, without a list beside it.
//!
//! Like the hashes of tables, a seal detects edits and damage. It is not a signature.

use super::hash::{Hashing, hash_of};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The last chunk of a PNG file: no data, its type, and its CRC.
const IEND: &[u8] = b"\0\0\0\0IEND\xae\x42\x60\x82";

/// Type and keyword of the PNG text chunk that holds the hash.
const PNG_SEAL: &[u8] = b"tEXttailback\0";

/// The form of a seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    /// A comment after the root element of an HTML or SVG file.
    Markup,
    /// A text chunk before the last chunk of a PNG file.
    Png,
}

impl Seal {
    /// Returns the bytes at the end of a file whose other bytes have that hash. Their number is always the same.
    fn end(self, hash: &str) -> Vec<u8> {
        match self {
            Seal::Markup => format!("<!-- tailback {hash} -->\n").into_bytes(),
            Seal::Png => {
                let chunk = [PNG_SEAL, hash.as_bytes()].concat();
                let mut check = flate2::Crc::new();
                check.update(&chunk);
                // The length of a chunk does not count its type.
                let length = chunk.len() as u32 - 4;
                [&length.to_be_bytes()[..], &chunk, &check.sum().to_be_bytes()[..], IEND].concat()
            }
        }
    }

    /// Returns whether a file has a seal of this form, and its other bytes are those that were sealed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub(crate) fn is_intact(self, path: &Path) -> io::Result<bool> {
        let file = File::open(path)?;
        let end = self.end(&hash_of(b"")).len() as u64;
        let Some(sealed) = file.metadata()?.len().checked_sub(end) else { return Ok(false) };
        let mut sink = Hashing::new(io::sink());
        io::copy(&mut (&file).take(sealed), &mut sink)?;
        let mut found = Vec::new();
        (&file).take(end + 1).read_to_end(&mut found)?;
        Ok(found == self.end(&sink.hash()))
    }
}

/// Appends the seal to an HTML or SVG file.
#[must_use]
pub fn sealed_markup(mut text: String) -> String {
    let end = Seal::Markup.end(&hash_of(text.as_bytes()));
    text.push_str(&String::from_utf8_lossy(&end));
    text
}

/// Adds the seal to a PNG file. Any other bytes are returned as they are.
#[must_use]
pub fn sealed_png(mut png: Vec<u8>) -> Vec<u8> {
    if png.ends_with(IEND) {
        png.truncate(png.len() - IEND.len());
        let end = Seal::Png.end(&hash_of(&png));
        png.extend(end);
    }
    png
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_breaks_a_seal() {
        let scratch = tempfile::tempdir().expect("there is room");
        let path = scratch.path().join("sealed");
        let markup = sealed_markup("<svg></svg>\n".to_owned()).into_bytes();
        let png = sealed_png([b"\x89PNG...", IEND].concat());
        assert!(png.ends_with(IEND) && markup.starts_with(b"<svg></svg>\n<!-- tailback sha256:"));
        for (seal, sealed) in [(Seal::Markup, markup), (Seal::Png, png)] {
            let intact = |bytes: &[u8]| {
                std::fs::write(&path, bytes).expect("there is room");
                seal.is_intact(&path).expect("it can be read")
            };
            assert!(intact(&sealed));
            for place in 0..sealed.len() {
                let mut edited = sealed.clone();
                edited[place] ^= 1;
                assert!(!intact(&edited), "byte {place}");
                assert!(!intact(&sealed[..place]) && !intact(&sealed[place + 1..]), "{place} bytes");
            }
            assert!(!intact(&[&sealed[..], b"\n"].concat()) && !intact(&[b" ", &sealed[..]].concat()));
        }
    }
}
