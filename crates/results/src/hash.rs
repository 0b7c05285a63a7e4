//! Hashes of the files of a result, computed while a file is written and verified before it is read.
//!
//! A hash is `sha256:` followed by the SHA-256 digest as `sha256sum` prints it. It detects changes by a disk, a copy or
//! an editor. It is not a signature: anyone who modifies a file deliberately can also replace the hash.

use files::text::hexadecimal;
use sha2::{Digest, Sha256};
use std::io::{self, Read, Seek, Write};

/// Formats a digest.
fn shown(digest: Sha256) -> String {
    format!("sha256:{}", hexadecimal(&digest.finalize()))
}

/// Returns the hash of a byte slice.
#[must_use]
pub fn hash_of(bytes: &[u8]) -> String {
    shown(Sha256::new_with_prefix(bytes))
}

/// Returns the hash and the length of a whole file, and rewinds the file.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn hash_of_file(file: &mut (impl Read + Seek)) -> io::Result<(String, u64)> {
    file.rewind()?;
    let mut sink = Hashing::new(io::sink());
    let mut buffer = vec![0; 1 << 17];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => sink.write_all(&buffer[..length])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    file.rewind()?;
    Ok((sink.hash(), sink.bytes()))
}

/// Prefix of the line in which a document states its own hash.
const HASH_LINE: &str = "  \"hash\": \"";

/// Adds to pretty-printed JSON a second line with the hash of all other lines.
pub(crate) fn with_hash(text: &str) -> String {
    let hash = format!("{HASH_LINE}{}\",\n", hash_of(text.as_bytes()));
    text.replacen('\n', &format!("\n{hash}"), 1)
}

/// Returns whether the hash stated in a document is correct; `None` if it states none.
pub(crate) fn is_hashed(text: &str) -> Option<bool> {
    let (first, rest) = text.split_once('\n')?;
    let (hash, rest) = rest.strip_prefix(HASH_LINE)?.split_once('\n')?;
    Some(hash.strip_suffix("\",") == Some(&hash_of(format!("{first}\n{rest}").as_bytes())))
}

/// A writer that hashes data on its way to a file, so that the file need not be read again.
#[derive(Debug)]
pub struct Hashing<W> {
    inner: W,
    digest: Sha256,
    bytes: u64,
}

impl<W: Write> Hashing<W> {
    /// Creates a hashing writer around `inner`.
    pub fn new(inner: W) -> Hashing<W> {
        Hashing { inner, digest: Sha256::new(), bytes: 0 }
    }

    /// Returns the underlying writer.
    pub fn inner(&self) -> &W {
        &self.inner
    }

    /// Consumes this writer and returns the underlying one.
    pub fn into_inner(self) -> W {
        self.inner
    }

    /// Returns the number of bytes written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the hash of the bytes written.
    pub fn hash(&self) -> String {
        shown(self.digest.clone())
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of FIPS 180.
    const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_hash_is_the_same_whichever_way_the_bytes_come() {
        assert_eq!(hash_of(b"abc"), ABC);
        let mut file = io::Cursor::new(Vec::new());
        let mut writer = Hashing::new(&mut file);
        writer.write_all(b"a").and_then(|()| writer.write_all(b"bc")).expect("there is room");
        assert_eq!((writer.hash().as_str(), writer.bytes()), (ABC, 3));
        assert_eq!(hash_of_file(&mut file).expect("it can be read"), (ABC.to_owned(), 3));
        assert_eq!(file.position(), 0);
    }
}
