//! Hashes of the files of a result: they are computed as a file is written and compared before it is read.
//!
//! SHA-256 by the name that `sha256sum` prints, led by `sha256:`. A hash finds what a disk, a copy or an editor has
//! changed. It is no signature: whoever changes a file on purpose can change the hash as well.

use sha2::{Digest, Sha256};
use std::io::{self, Read, Seek, Write};

/// As hashes are written down.
fn shown(digest: Sha256) -> String {
    digest.finalize().iter().fold(String::from("sha256:"), |text, octet| text + &format!("{octet:02x}"))
}

/// The hash of bytes.
#[must_use]
pub fn hash_of(bytes: &[u8]) -> String {
    shown(Sha256::new_with_prefix(bytes))
}

/// The hash of a file from its start, and its length. The file is at its start again afterwards.
///
/// # Errors
/// If it cannot be read.
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

/// What the line of a document that states its own hash begins with.
const HASH_LINE: &str = "  \"hash\": \"";

/// Pretty JSON with a second line that states the hash of all the others.
pub(crate) fn with_hash(text: &str) -> String {
    let hash = format!("{HASH_LINE}{}\",\n", hash_of(text.as_bytes()));
    text.replacen('\n', &format!("\n{hash}"), 1)
}

/// Whether a document has the hash that it states; nothing if it states none.
pub(crate) fn is_hashed(text: &str) -> Option<bool> {
    let (first, rest) = text.split_once('\n')?;
    let (hash, rest) = rest.strip_prefix(HASH_LINE)?.split_once('\n')?;
    Some(hash.strip_suffix("\",") == Some(&hash_of(format!("{first}\n{rest}").as_bytes())))
}

/// Hashes what passes through on its way to a file, so that the file need not be read again.
#[derive(Debug)]
pub struct Hashing<W> {
    inner: W,
    digest: Sha256,
    bytes: u64,
}

impl<W: Write> Hashing<W> {
    /// Nothing has passed yet.
    pub fn new(inner: W) -> Hashing<W> {
        Hashing { inner, digest: Sha256::new(), bytes: 0 }
    }

    /// The file.
    pub fn inner(&self) -> &W {
        &self.inner
    }

    /// How much has passed.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The hash of what has passed.
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
