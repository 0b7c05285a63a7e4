//! The crates that can be published, packaged as `cargo publish` would.
//!
//! A member of the workspace is published unless its manifest has a `publish` line. Cargo checks that the package can be
//! made and builds it from what is in it alone; the fields that a registry shows are checked here, since cargo only warns.
//! Where the registry cannot be reached, cargo works from what it has fetched before.

use std::path::{Path, PathBuf};

/// What is built from its package.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// Everything: two minutes of processor time, most of it for the dependencies of others.
    All,
    /// Nothing: cargo checks manifests, dependencies and files.
    Nothing,
}

/// Fields of a manifest that the page of a crate is made of.
const FIELDS: [&str; 5] = ["description", "documentation", "readme", "keywords", "categories"];

/// Packages every crate that can be published.
pub fn check(build: Build) -> Result<(), String> {
    let crates = published(Path::new("crates"))?;
    let complaints: Vec<String> = crates.iter().flat_map(|(name, manifest)| complaints(name, manifest)).collect();
    if !complaints.is_empty() {
        complaints.iter().for_each(|complaint| eprintln!("{complaint}"));
        return Err(format!("{} manifests cannot be published", complaints.len()));
    }
    let names = || crates.iter().map(|(name, _)| name.as_str());
    match build {
        Build::All => {
            forget(&names().collect::<Vec<_>>());
            let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
            // Built afresh: cargo takes what it has built of a package with that name and version for the same.
            let target = target.join("packages");
            let _ = std::fs::remove_dir_all(&target);
            package(names(), &["--target-dir", &target.to_string_lossy()])
        }
        Build::Nothing => package(names(), &["--no-verify"]),
    }
}

/// Removes packages of ours that cargo has unpacked before. It keeps them by name and version, and would build a crate
/// against its neighbours as they were then.
fn forget(names: &[&str]) {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let Some(home) = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"))) else { return };
    for kept in ["src", "cache"] {
        // A registry in a folder has no host: its name here begins with a hyphen.
        let registries = std::fs::read_dir(home.join("registry").join(kept)).into_iter().flatten().flatten();
        for registry in registries.filter(|entry| entry.file_name().to_string_lossy().starts_with('-')) {
            for package in std::fs::read_dir(registry.path()).into_iter().flatten().flatten() {
                let file = package.file_name().to_string_lossy().into_owned();
                let version =
                    |name: &&str| file.strip_prefix(name).and_then(|rest| rest.strip_prefix('-')).map(str::to_owned);
                if names.iter().filter_map(version).any(|rest| rest.starts_with(|first: char| first.is_ascii_digit())) {
                    let path = package.path();
                    let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
                }
            }
        }
    }
}

fn package<'a>(names: impl Iterator<Item = &'a str>, how: &[&'a str]) -> Result<(), String> {
    let mut arguments = [&["package", "--locked", "--allow-dirty", "--quiet"], how].concat();
    names.for_each(|name| arguments.extend(["--package", name]));
    crate::run("cargo", &arguments).or_else(|reason| {
        eprintln!("{reason}; trying without the registry");
        arguments.push("--offline");
        crate::run("cargo", &arguments)
    })
}

/// Names and manifests of the crates that are published.
fn published(folder: &Path) -> Result<Vec<(String, String)>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut crates = Vec::new();
    for entry in entries.flatten() {
        let Ok(manifest) = std::fs::read_to_string(entry.path().join("Cargo.toml")) else { continue };
        let name = value(&manifest, "name").unwrap_or_default().to_owned();
        if field(&manifest, "publish").is_none() {
            crates.push((name, manifest));
        }
    }
    crates.sort();
    if crates.is_empty() { Err(format!("{}: no crate is published", folder.display())) } else { Ok(crates) }
}

/// A line of the section `[package]` that sets this field, itself or from the workspace.
fn field<'a>(manifest: &'a str, name: &str) -> Option<&'a str> {
    let package = manifest.split("[package]\n").nth(1)?.split("\n[").next().unwrap_or_default();
    package.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '.', '='])))
}

fn value<'a>(manifest: &'a str, name: &str) -> Option<&'a str> {
    field(manifest, name)?.split('"').nth(1)
}

/// Everything that keeps a crate from being published under its own name.
fn complaints(name: &str, manifest: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if !name.starts_with("tailback") {
        wrong.push(format!("{name}: a published crate is called tailback-..."));
    }
    for missing in FIELDS.iter().filter(|missing| field(manifest, missing).is_none()) {
        wrong.push(format!("{name}: its manifest has no {missing}"));
    }
    let library = manifest.split("\n[lib]\n").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap_or_default();
    if library.lines().any(|line| line.starts_with("name") && !line.contains("\"tailback")) {
        wrong.push(format!("{name}: its library takes the name of another crate; remove [lib] name"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "[package]\nname = \"tailback-a\"\ndescription = \"d\"\ndocumentation = \"d\"\n\
        readme.workspace = true\nkeywords = []\ncategories = []\n\n[dependencies]\nb = \"1\"\n";

    #[test]
    fn a_manifest_is_whole_or_says_what_is_missing() {
        assert!(complaints("tailback-a", WHOLE).is_empty());
        assert_eq!(complaints("a", WHOLE).len(), 1);
        let bare = WHOLE.replace("keywords = []\n", "");
        assert_eq!(complaints("tailback-a", &bare), ["tailback-a: its manifest has no keywords"]);
        let named = WHOLE.replace("\n[dependencies]", "\n[lib]\nname = \"a\"\n\n[dependencies]");
        assert!(complaints("tailback-a", &named)[0].contains("remove [lib] name"));
    }

    #[test]
    fn a_manifest_with_a_publish_line_is_left_out() {
        assert_eq!(field(WHOLE, "publish"), None);
        assert!(field(&WHOLE.replace("keywords", "publish.workspace = true\nkeywords"), "publish").is_some());
        assert_eq!(value(WHOLE, "name"), Some("tailback-a"));
    }
}
