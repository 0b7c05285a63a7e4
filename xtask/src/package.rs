//! The crates that can be published, packaged as `cargo publish` would.
//!
//! A member of the workspace is published unless its manifest has a `publish` line. Cargo checks that the package can be
//! made and builds it from what is in it alone; the fields that a registry shows are checked here, since cargo only warns.
//! Where the registry cannot be reached, cargo works from what it has fetched before.

use crate::tidy::MODELS;
use std::path::Path;

/// What is built from its package.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// Everything: two minutes of processor time, most of it for the dependencies of others.
    All,
    /// The model crates, which depend on nothing outside of the workspace. The others are packaged only.
    Models,
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
    let is_model = |name: &&str| MODELS.iter().any(|model| name.strip_prefix("tailback-") == Some(model));
    match build {
        Build::All => package(names(), &[]),
        Build::Models => {
            package(names().filter(is_model), &[])?;
            package(names(), &["--no-verify"])
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
    let package = manifest.split("\n[").next().unwrap_or_default();
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
