//! Build script: passes the git commit to the crate if it is built in a checkout.

// A build script speaks to cargo by printing.
#![allow(clippy::disallowed_macros)]

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let Some(git) = git_directory() else { return };
    let head = git.join("HEAD");
    println!("cargo::rerun-if-changed={}", head.display());
    let Ok(text) = fs::read_to_string(&head) else { return };
    let commit = match text.trim().strip_prefix("ref: ") {
        Some(name) => resolve(&common(&git), name),
        None => Some(text.trim().to_owned()),
    };
    if let Some(commit) = commit.filter(|commit| commit.len() >= 40 && commit.chars().all(|c| c.is_ascii_hexdigit())) {
        println!("cargo::rustc-env=TAILBACK_COMMIT={commit}");
    }
}

/// Returns the git directory of the checkout that contains this crate. In a linked worktree, `.git` is a file that
/// names it.
fn git_directory() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(&git).ok()?;
    Some(root.join(text.trim().strip_prefix("gitdir: ")?))
}

/// Returns the directory of the branches, which worktrees share.
fn common(git: &Path) -> PathBuf {
    match fs::read_to_string(git.join("commondir")) {
        Ok(text) => git.join(text.trim()),
        Err(_) => git.to_owned(),
    }
}

/// Returns the commit of a branch, from its own file or from the packed refs.
fn resolve(git: &Path, name: &str) -> Option<String> {
    let file = git.join(name);
    println!("cargo::rerun-if-changed={}", file.display());
    if let Ok(text) = fs::read_to_string(&file) {
        return Some(text.trim().to_owned());
    }
    let packed = fs::read_to_string(git.join("packed-refs")).ok()?;
    let line = packed.lines().find(|line| line.split(' ').nth(1) == Some(name))?;
    Some(line.split(' ').next()?.to_owned())
}
