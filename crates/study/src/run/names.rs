//! File and directory names derived from titles.

use results::ResultsError;
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
            let hash: String = Sha256::digest(name.as_bytes()).iter().take(4).map(|it| format!("{it:02x}")).collect();
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

/// Creates the first directory of `results/NAME`, `results/NAME-2`, ... that does not exist. Safe against concurrent
/// callers.
///
/// # Errors
/// Returns an error if a system call fails.
pub fn claim_place(name: &str) -> Result<PathBuf, ResultsError> {
    let base = usual_place(name);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ResultsError::Io { doing: "create", path, source }
    };
    std::fs::create_dir_all("results").map_err(failed(Path::new("results")))?;
    for number in 1u32.. {
        let path = if number == 1 { base.clone() } else { PathBuf::from(format!("{}-{number}", base.display())) };
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&path)(error)),
        }
    }
    unreachable!("there are more numbers than directories")
}
