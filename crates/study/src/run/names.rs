//! File and directory names derived from titles.

use files::text::hexadecimal;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Maximum length of a name that becomes the name of a file or a directory; file systems allow 255 in all.
const LONGEST_SLUG: usize = 120;

/// Converts a name to one that is usable as a directory name.
#[must_use]
pub fn slug(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '_' { c.to_ascii_lowercase() } else { '-' };
    let text: String = name.chars().map(keep).collect();
    match text.trim_matches(['-', '.']) {
        "" => "run".into(),
        // Room for what is put behind it; the hash keeps apart what is cut off.
        long if long.len() > LONGEST_SLUG => {
            let hash = hexadecimal(&Sha256::digest(name.as_bytes())[..4]);
            format!("{}-{hash}", &long[..LONGEST_SLUG - 9])
        }
        text => text.into(),
    }
}

/// Returns a file name for a title that differs from those of the titles before it.
#[must_use]
pub fn file_name(title: &str, before: &[String]) -> String {
    let mut taken: Vec<String> = Vec::new();
    for title in before.iter().map(String::as_str).chain([title]) {
        let name = slug(title);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
        taken.extend(free);
    }
    taken.pop().unwrap_or_default()
}

/// Returns `results/NAME`.
#[must_use]
pub fn usual_place(name: &str) -> PathBuf {
    Path::new("results").join(slug(name))
}
