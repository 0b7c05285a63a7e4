//! Rules of the house that no compiler checks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Words that stand for something unfinished. Split, so that this file does not find itself.
const UNFINISHED: [&str; 5] = [
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("#[ig", "nore"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];

/// A source file longer than this holds more than one idea.
const LONGEST: usize = 700;

/// Crates that may not depend on anything outside the workspace: their results must not change with an update.
const MODELS: [&str; 9] =
    ["units", "engine", "congestion", "transport", "theory", "fabric", "wire", "control", "discovery"];

/// All crates, in the order of ARCHITECTURE.md: each may depend only on those before it.
const LAYERS: [&str; 18] = [
    "units",
    "congestion",
    "transport",
    "theory",
    "engine",
    "fabric",
    "wire",
    "control",
    "discovery",
    "files",
    "interface",
    "scenario",
    "results",
    "study",
    "render",
    "lab",
    "serve",
    "tailback",
];

/// Looks at every source file.
pub fn check() -> Result<(), String> {
    let mut complaints = Vec::new();
    for root in ["crates", "examples", "xtask", "report/src", "report/tests"] {
        visit(Path::new(root), &mut complaints);
    }
    for model in MODELS {
        let manifest = PathBuf::from(format!("crates/{model}/Cargo.toml"));
        if let Ok(text) = std::fs::read_to_string(&manifest) {
            dependencies(&manifest, &text, &mut complaints);
        }
    }
    for (level, name) in LAYERS.iter().enumerate() {
        let manifest = PathBuf::from(format!("crates/{name}/Cargo.toml"));
        match std::fs::read_to_string(&manifest) {
            Ok(text) => layers(&manifest, &text, level, &mut complaints),
            Err(error) => complaints.push(format!("{}: {error}", manifest.display())),
        }
    }
    match std::fs::read_to_string("ARCHITECTURE.md") {
        Ok(map) => code_map(&map, &mut complaints),
        Err(error) => complaints.push(format!("ARCHITECTURE.md: {error}")),
    }
    guarantees(&mut complaints);
    if complaints.is_empty() {
        return Ok(());
    }
    complaints.iter().for_each(|complaint| eprintln!("{complaint}"));
    Err(format!("{} places are not tidy", complaints.len()))
}

fn visit(path: &Path, complaints: &mut Vec<String>) {
    each_source(path, &mut |path, text| file(path, text, complaints));
}

/// Shows every source file below a folder, with its text.
fn each_source(path: &Path, show: &mut dyn FnMut(&Path, &str)) {
    if path.is_dir() {
        let Ok(entries) = std::fs::read_dir(path) else { return };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths
            .iter()
            .filter(|path| path.file_name().is_none_or(|name| name != "target"))
            .for_each(|path| each_source(path, show));
    } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "ts")
        && let Ok(text) = std::fs::read_to_string(path)
    {
        show(path, &text);
    }
}

/// The page of guarantees whose tables name tests.
const GUARANTEES: &str = "docs/guarantees.md";

/// Every test that the page of guarantees names must exist.
fn guarantees(complaints: &mut Vec<String>) {
    let mut tests = BTreeSet::new();
    each_source(Path::new("crates"), &mut |_, text| {
        for after in text.split("#[test]").skip(1) {
            let name = after.split_once("fn ").and_then(|(_, rest)| rest.split_once('('));
            tests.extend(name.map(|(name, _)| name.to_owned()));
        }
    });
    let page = match std::fs::read_to_string(GUARANTEES) {
        Ok(page) => page,
        Err(error) => return complaints.push(format!("{GUARANTEES}: {error}")),
    };
    for (number, line) in page.lines().enumerate() {
        let cells: Vec<&str> = line.split('|').collect();
        let [_, _, named, ""] = cells[..] else { continue };
        for name in named.split('`').skip(1).step_by(2).filter(|&name| !tests.contains(name)) {
            complaints.push(format!("{GUARANTEES}:{}: there is no test {name}", number + 1));
        }
    }
}

fn file(path: &Path, text: &str, complaints: &mut Vec<String>) {
    let name = path.display();
    let opening = if path.extension().is_some_and(|extension| extension == "ts") { "// " } else { "//!" };
    if !text.starts_with(opening) {
        complaints.push(format!("{name}:1: begins without saying what it is ({opening})"));
    }
    let lines = text.lines().count();
    if lines > LONGEST {
        complaints.push(format!("{name}: {lines} lines; one idea per file, at most {LONGEST}"));
    }
    for (number, line) in text.lines().enumerate() {
        if UNFINISHED.iter().any(|word| line.contains(word)) {
            complaints.push(format!("{name}:{}: unfinished: {}", number + 1, line.trim()));
        }
    }
}

/// The names of a manifest's dependencies.
fn depends_on(text: &str) -> impl Iterator<Item = &str> {
    let section = text.split("[dependencies]").nth(1).unwrap_or("");
    let section = section.split("\n[").next().unwrap_or("");
    section.lines().filter(|line| line.contains('=')).map(|line| line.split(['.', ' ', '=']).next().unwrap_or(""))
}

/// A crate that depends on one of a later layer turns the order of ARCHITECTURE.md around.
fn layers(path: &Path, text: &str, level: usize, complaints: &mut Vec<String>) {
    for name in depends_on(text) {
        if LAYERS.iter().position(|layer| *layer == name).is_some_and(|other| other >= level) {
            complaints.push(format!("{}: '{}' may not depend on '{name}'", path.display(), LAYERS[level]));
        }
    }
}

fn dependencies(path: &Path, text: &str, complaints: &mut Vec<String>) {
    for name in depends_on(text) {
        if !MODELS.contains(&name) {
            complaints.push(format!("{}: a model crate depends on '{name}'", path.display()));
        }
    }
}

/// Compares the code map with the source: every file and folder it names exists, and it names every folder.
fn code_map(map: &str, complaints: &mut Vec<String>) {
    let mut paths = Vec::new();
    for root in ["crates", "python", "report", "xtask"] {
        source_paths(Path::new(root), &mut paths);
    }
    unmapped(map, &paths, complaints);
}

/// The folders, with a slash at the end, and the Rust files below a folder.
fn source_paths(folder: &Path, paths: &mut Vec<String>) {
    paths.push(format!("{}/", folder.display()));
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() && path.file_name().is_none_or(|name| name != "target" && name != "node_modules") {
            source_paths(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path.display().to_string());
        }
    }
}

/// Names in the map are the last parts of paths, without `src`: `port/pause.rs`, `port/`.
fn unmapped(map: &str, paths: &[String], complaints: &mut Vec<String>) {
    let ends_with = |path: &str, name: &str| {
        let path = format!("/{}", path.replace("/src/", "/"));
        path.ends_with(&format!("/{name}"))
    };
    let names: Vec<&str> = map.split('`').skip(1).step_by(2).collect();
    let in_source = |name: &&&str| name.ends_with(".rs") || name.ends_with('/');
    for name in names.iter().filter(in_source).filter(|name| !name.contains(['*', ' '])) {
        if !paths.iter().any(|path| ends_with(path, name)) {
            complaints.push(format!("ARCHITECTURE.md names {name}, which does not exist"));
        }
    }
    for folder in paths.iter().filter(|path| path.ends_with('/')) {
        let below_source = folder.split_once("/src/").is_some_and(|(_, below)| !below.is_empty());
        if below_source && !names.iter().filter(|name| name.ends_with('/')).any(|name| ends_with(folder, name)) {
            complaints.push(format!("{folder}: not in the code map of ARCHITECTURE.md"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(map: &str) -> Vec<String> {
        let paths =
            ["crates/fabric/", "crates/fabric/src/", "crates/fabric/src/port/", "crates/fabric/src/port/pause.rs"];
        let mut complaints = Vec::new();
        unmapped(map, &paths.map(str::to_owned), &mut complaints);
        complaints
    }

    #[test]
    fn the_code_map_names_what_there_is() {
        assert!(complaints("- `port/`: `pause.rs`, `port/pause.rs`, `fabric/port/pause.rs`, `*_point.rs`").is_empty());
        assert_eq!(complaints("`port/`: `halt.rs`"), ["ARCHITECTURE.md names halt.rs, which does not exist"]);
        assert_eq!(complaints("`port/`: `use.rs`"), ["ARCHITECTURE.md names use.rs, which does not exist"]);
        assert_eq!(complaints("`pause.rs`"), ["crates/fabric/src/port/: not in the code map of ARCHITECTURE.md"]);
    }
}
