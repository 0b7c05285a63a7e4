//! Tests across the module.

mod any_text;
mod changes;
mod expressive;
mod lossless;
mod mistakes;
mod reconvergence;
mod routing;
mod samples;

use std::path::{Path, PathBuf};

pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// The sample scenarios, in order.
pub(super) fn samples() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the scenarios folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}
