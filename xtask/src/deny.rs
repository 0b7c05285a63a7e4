//! The tree of dependencies: licences, duplicates and sources as `deny.toml` allows them.
//!
//! Where cargo-deny is installed, it decides, and looks up advisories if their database can be fetched. Elsewhere the
//! same three rules are checked here, by what `cargo tree` and Cargo.lock say; installing cargo-deny compiles some
//! hundred crates and takes minutes. Advisories are then not looked up, which is said.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

const POLICY: &str = "deny.toml";

/// Checks the tree, by cargo-deny if there is one.
pub fn check() -> Result<(), String> {
    if Command::new("cargo")
        .args(["deny", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|it| it.success())
    {
        crate::run("cargo", &["deny", "check", "licenses", "bans", "sources"])?;
        return advisories();
    }
    let read = |path: &str| std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let (policy, lock) = (read(POLICY)?, read("Cargo.lock")?);
    let format = ["--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"];
    let tree =
        [&["tree", "--workspace", "--locked", "--all-features", "--edges", "all", "--target", "all"], &format[..]]
            .concat();
    let output = Command::new("cargo").args(&tree).output().map_err(|error| format!("cargo tree: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let mut complaints = licences(&policy, &String::from_utf8_lossy(&output.stdout));
    complaints.extend(packages(&policy, &lock));
    eprintln!(
        "licences, duplicates and sources are as {POLICY} allows: {}",
        if complaints.is_empty() { "yes" } else { "no" }
    );
    eprintln!("SKIPPED: advisories are looked up by cargo-deny alone; 'cargo install cargo-deny --locked' installs it");
    match complaints.len() {
        0 => Ok(()),
        count => {
            complaints.iter().for_each(|complaint| eprintln!("{complaint}"));
            Err(format!("{count} dependencies are not as {POLICY} allows"))
        }
    }
}

/// Looks up advisories, where their database can be fetched.
fn advisories() -> Result<(), String> {
    let output = Command::new("cargo").args(["deny", "check", "advisories"]).output();
    let output = output.map_err(|error| format!("cargo deny: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    match (output.status.success(), said.contains("failed to fetch")) {
        (true, _) => Ok(()),
        (false, true) => {
            eprintln!("SKIPPED: the database of advisories cannot be fetched");
            Ok(())
        }
        (false, false) => Err(format!("cargo deny check advisories:\n{said}")),
    }
}

/// The strings of a list of the policy.
fn list<'a>(policy: &'a str, section: &str, name: &str) -> Vec<&'a str> {
    let body = policy.split(&format!("[{section}]")).nth(1).unwrap_or("");
    let body = body.split("\n[").next().unwrap_or("");
    let start = format!("\n{name} = [");
    let Some(entries) = body.split(&start).nth(1).and_then(|rest| rest.split(']').next()) else { return Vec::new() };
    entries.split('"').skip(1).step_by(2).collect()
}

/// Packages whose licence none of the allowed ones satisfies.
fn licences(policy: &str, tree: &str) -> Vec<String> {
    let allowed = list(policy, "licenses", "allow");
    let mut seen = BTreeMap::new();
    for (package, licence) in tree.lines().filter_map(|line| line.rsplit_once('|')) {
        seen.entry(package.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).or_insert(licence.trim());
    }
    let wrong = |(package, licence): (String, &str)| {
        (!satisfied(licence, &allowed)).then(|| format!("{package}: its licence '{licence}' is not allowed"))
    };
    seen.into_iter().filter_map(wrong).collect()
}

/// Whether an SPDX expression can be satisfied by licences that are allowed. Older packages write / for OR.
fn satisfied(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (value, rest) = either(&words, allowed);
    value && rest.is_empty()
}

fn either<'a, 'b>(words: &'b [&'a str], allowed: &[&str]) -> (bool, &'b [&'a str]) {
    let (mut value, mut rest) = both(words, allowed);
    while let ["OR", more @ ..] = rest {
        let (other, after) = both(more, allowed);
        (value, rest) = (value | other, after);
    }
    (value, rest)
}

fn both<'a, 'b>(words: &'b [&'a str], allowed: &[&str]) -> (bool, &'b [&'a str]) {
    let (mut value, mut rest) = one(words, allowed);
    while let ["AND", more @ ..] = rest {
        let (other, after) = one(more, allowed);
        (value, rest) = (value & other, after);
    }
    (value, rest)
}

fn one<'a, 'b>(words: &'b [&'a str], allowed: &[&str]) -> (bool, &'b [&'a str]) {
    match words {
        ["(", inner @ ..] => match either(inner, allowed) {
            (value, [")", rest @ ..]) => (value, rest),
            (_, rest) => (false, rest),
        },
        [name, "WITH", exception, rest @ ..] => (allowed.contains(&format!("{name} WITH {exception}").as_str()), rest),
        [name, rest @ ..] => (allowed.contains(name), rest),
        [] => (false, words),
    }
}

/// Packages that are there in two versions, or come from elsewhere than the policy allows.
fn packages(policy: &str, lock: &str) -> Vec<String> {
    let (skipped, registries) = (list(policy, "bans", "skip"), list(policy, "sources", "allow-registry"));
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut complaints = Vec::new();
    for package in lock.split("[[package]]").skip(1) {
        let field = |name: &str| {
            let start = format!("{name} = \"");
            package.lines().find_map(|line| line.strip_prefix(start.as_str())?.strip_suffix('"'))
        };
        let (Some(name), Some(version)) = (field("name"), field("version")) else { continue };
        if let Some(source) = field("source")
            && !source.strip_prefix("registry+").is_some_and(|registry| registries.contains(&registry))
        {
            complaints.push(format!("{name} {version} comes from {source}"));
        }
        if !skipped.contains(&format!("{name}@{version}").as_str()) {
            versions.entry(name).or_default().push(version);
        }
    }
    let twice = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    complaints.extend(twice.map(|(name, versions)| format!("{name} is there as {}", versions.join(" and "))));
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str = "[licenses]\nallow = [\n    \"MIT\",\n    \"Zlib\",\n    \"A WITH b\",\n]\n\n[bans]\nskip = [\"old@1\"]\n[sources]\nallow-registry = [\"here\"]\n";

    #[test]
    fn an_expression_is_satisfied_by_what_is_allowed() {
        let allowed = list(TEST, "licenses", "allow");
        assert_eq!(allowed, ["MIT", "Zlib", "A WITH b"]);
        for (expression, fits) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("GPL-3.0 AND MIT", false),
            ("(GPL-3.0 OR MIT) AND Zlib", true),
            ("A WITH b OR GPL-3.0", true),
            ("A", false),
            ("", false),
            ("(MIT", false),
        ] {
            assert_eq!(satisfied(expression, &allowed), fits, "{expression}");
        }
        let tree = "a v1 (/home)|MIT\nb v2|GPL-3.0\nb v2|GPL-3.0\nc v3|\n";
        assert_eq!(licences(TEST, tree).len(), 2);
    }

    #[test]
    fn duplicates_and_foreign_sources_are_found() {
        let package = |name: &str, version: &str, source: &str| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source}\n")
        };
        let here = "source = \"registry+here\"";
        let sound = package("own", "1", "") + &package("old", "1", here) + &package("old", "2", here);
        assert!(packages(TEST, &sound).is_empty());
        let twice = sound.clone() + &package("new", "1", here) + &package("new", "2", here);
        assert_eq!(packages(TEST, &twice), ["new is there as 1 and 2"]);
        let foreign = sound + &package("git", "1", "source = \"git+https://x\"");
        assert_eq!(packages(TEST, &foreign).len(), 1);
    }
}
