//! The examples: those of the crates, which `cargo test` has built, and the project outside of the workspace.

use crate::{oracles, run};
use std::path::{Path, PathBuf};

/// The project that is no member of the workspace, so that it can use nothing but what the crates publish.
const OUTSIDE: &str = "examples/own-protocol/Cargo.toml";

/// Runs all of them; each fails by itself if its result is not as it says.
pub fn check() -> Result<(), String> {
    // With the packages, features and profile of the tests, so that nothing is compiled twice.
    let build = ["build", "--workspace", "--exclude", "tailback-python", "--examples", "--profile", "test", "--locked"];
    run("cargo", &[&build[..], oracles::features()].concat())?;
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    for example in of_crates(Path::new("crates"))? {
        run(&format!("{target}/debug/examples/{example}"), &[])?;
    }
    run("cargo", &["fmt", "--manifest-path", OUTSIDE, "--check"])?;
    run("cargo", &["run", "--quiet", "--locked", "--manifest-path", OUTSIDE, "--target-dir", &target])
}

/// The name of every example.
fn of_crates(folder: &Path) -> Result<Vec<String>, String> {
    let list = |path: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let name = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut found = Vec::new();
    for member in list(folder) {
        let sources =
            list(&member.join("examples")).into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs"));
        found.extend(sources.map(|path| name(&path)));
    }
    found.sort();
    if found.is_empty() { Err(format!("{}: there are no examples", folder.display())) } else { Ok(found) }
}
