//! The programs that checks run.
//!
//! The test command builds everything once, with the models optimised and little else, and uses that build to the end. A
//! release build would take three more minutes, and its link-time optimisation once more for the Python module.

use std::path::PathBuf;

/// Where cargo builds.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

/// Builds the workspace's programs without MPI, as they are installed but for the profile, and returns their folder.
pub fn build() -> Result<PathBuf, String> {
    // With the examples come the features that tests ask of dependencies: nothing but the command is compiled again.
    let arguments = ["build", "--workspace", "--exclude", "tailback-python", "--bins", "--examples", "--locked"];
    crate::run("cargo", &arguments)?;
    Ok(target().join("debug"))
}

/// Builds the program as it is installed, and returns its path.
pub fn installed() -> Result<PathBuf, String> {
    crate::run("cargo", &["build", "--release", "--locked", "-p", "tailback"])?;
    Ok(target().join("release/tailback"))
}
