//! Files that the program keeps deflated: the front-end of pages and the font of pictures.
//!
//! A file is inflated once, when it is first needed.

use flate2::read::ZlibDecoder;
use std::io::Read;

/// Returns the content of a file of this crate that is kept deflated (zlib), as `&'static [u8]`. The path is relative to
/// the file that names it.
macro_rules! kept {
    ($path:expr) => {{
        static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        BYTES.get_or_init(|| crate::kept::inflated(include_bytes!($path))).as_slice()
    }};
}
pub(crate) use kept;

/// Inflates a file that was deflated when it was put into the repository. A damaged one would be so in every run, and
/// ends early: the tests of those who name it read it to its end.
pub(crate) fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    let _ = ZlibDecoder::new(bytes).read_to_end(&mut content);
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use std::io::Write;

    #[test]
    fn a_kept_file_is_inflated() {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(b"what it was").expect("there is memory");
        assert_eq!(inflated(&encoder.finish().expect("there is memory")), b"what it was");
    }
}
