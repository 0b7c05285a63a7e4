//! The programs that checks run.
//!
//! The test command builds everything once, with the models optimised and little else, and uses that build to the end. A
//! release build would take three more minutes, and its link-time optimisation once more for the Python module.

use std::path::PathBuf;

/// The installed program is smaller, in bytes (docs/performance.md).
const LIMIT: u64 = 15_000_000;

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

/// Builds the program as it is installed, for this machine or another target, and returns its path. Fails if the program
/// is too large.
pub fn installed(other: Option<&str>) -> Result<PathBuf, String> {
    let mut arguments = vec!["build", "--release", "--locked", "-p", "tailback"];
    arguments.extend(other.into_iter().flat_map(|other| ["--target", other]));
    crate::run("cargo", &arguments)?;
    let path = target().join(other.unwrap_or_default()).join("release/tailback");
    let size = std::fs::metadata(&path).map_err(|error| format!("{}: {error}", path.display()))?.len();
    judged(size)?;
    Ok(path)
}

/// Builds the program as it is installed and prints its size: `arguments` may name another target.
pub fn size(arguments: &[String]) -> Result<(), String> {
    let other = match arguments {
        [] => None,
        [option, target] if option == "--target" => Some(target.as_str()),
        _ => return Err("usage: cargo xtask size [--target TRIPLE]".into()),
    };
    installed(other).map(|_| ())
}

/// Prints the size of the installed program and fails if it is not below the limit.
fn judged(size: u64) -> Result<(), String> {
    println!("the installed program has {size} bytes, limit {LIMIT}");
    match size < LIMIT {
        true => Ok(()),
        false => Err(format!("the installed program has {size} bytes, {} too many", size - LIMIT + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_at_the_limit_is_too_large() {
        assert_eq!(judged(LIMIT - 1), Ok(()));
        assert_eq!(judged(LIMIT), Err("the installed program has 15000000 bytes, 1 too many".into()));
        assert_eq!(judged(22_700_000), Err("the installed program has 22700000 bytes, 7700001 too many".into()));
    }

    #[test]
    fn other_arguments_than_a_target_are_refused_before_anything_is_built() {
        for wrong in [&["--target"][..], &["x86_64-unknown-linux-gnu"], &["--target", "a", "b"]] {
            let wrong: Vec<String> = wrong.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(size(&wrong), Err("usage: cargo xtask size [--target TRIPLE]".into()));
        }
    }
}
