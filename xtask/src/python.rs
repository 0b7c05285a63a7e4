//! Python: results read with pandas, polars and DuckDB, every value compared with the CSV export; and the package
//! `tailback`, built and tried with the same readers.
//!
//! They live in a virtual environment under the target directory and nowhere else. Without Python there is nothing to
//! try them with; that is said, and on a machine that calls itself CI it is a failure.

use crate::program::target;
use std::path::{Path, PathBuf};
use std::process::Command;

const REQUIREMENTS: &str = "crates/tailback/tests/python/requirements.txt";
const READER: &str = "crates/tailback/tests/python/read_results.py";
/// Flows without end, and flows that complete: cells that may be empty are empty in one and full in the other.
const SCENARIOS: [&str; 2] = ["victim", "incast"];

/// What kept the readers from being tried or satisfied.
enum Trouble {
    /// There is no Python, no pip, or no way to fetch the readers.
    Missing(String),
    /// The results cannot be written or read.
    Wrong(String),
}

/// Fetches what the check needs. What goes wrong, the check says.
pub fn prepare() {
    let _ = environment(&target());
}

/// Records a run and has it read; then builds the package and tries it.
pub fn check() -> Result<(), String> {
    let program = crate::program::build()?.join("tailback");
    let target = target();
    let tried = environment(&target).map_err(Trouble::Missing).and_then(|python| {
        SCENARIOS.into_iter().try_for_each(|scenario| {
            let results = target.join("python-check").join(scenario);
            record(&program, scenario, &results).and_then(|()| read(&python, &results)).map_err(Trouble::Wrong)
        })?;
        package(&python, &program).map_err(Trouble::Wrong)
    });
    match tried {
        Ok(()) => Ok(()),
        Err(Trouble::Wrong(reason)) => Err(reason),
        Err(Trouble::Missing(reason))
            if std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false") =>
        {
            Err(format!("results were not read with pandas, polars and DuckDB: {reason}"))
        }
        Err(Trouble::Missing(reason)) => {
            eprintln!("SKIPPED: results were not read with pandas, polars and DuckDB: {reason}");
            eprintln!(
                "         install Python 3 with venv and pip, and a way to PyPI, to try it; in CI this is a failure"
            );
            Ok(())
        }
    }
}

/// The interpreter of an environment that has the readers; made now if it is not there.
fn environment(target: &Path) -> Result<PathBuf, String> {
    let home = target.join("python");
    let scripts = if cfg!(windows) { "Scripts" } else { "bin" };
    let python = home.join(scripts).join("python");
    // A copy of the installed list is stored beside the environment: only a changed list is installed again.
    let wanted = std::fs::read_to_string(REQUIREMENTS).map_err(|error| format!("{REQUIREMENTS}: {error}"))?;
    let installed = home.join("installed.txt");
    if python.exists() && std::fs::read_to_string(&installed).is_ok_and(|list| list == wanted) {
        return Ok(python);
    }
    let home_text = home.to_string_lossy();
    crate::run("python3", &["-m", "venv", "--clear", &home_text])?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS];
    crate::run(&python.to_string_lossy(), &pip)?;
    std::fs::write(&installed, wanted).map_err(|error| format!("{}: {error}", installed.display()))?;
    Ok(python)
}

/// Runs a scenario into a results directory, with its tables as CSV.
fn record(program: &Path, scenario: &str, results: &Path) -> Result<(), String> {
    let (file, out) = (format!("scenarios/{scenario}.toml"), results.to_string_lossy());
    let tailback = ["run", &file, "--quiet", "--csv", "--overwrite", "--out", &out];
    crate::run(&program.to_string_lossy(), &tailback)
}

/// Builds the package and runs its tests.
fn package(python: &Path, program: &Path) -> Result<(), String> {
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let python = here.join(python);
    // pip calls maturin by its name.
    let own = python.parent().map(Path::to_path_buf).unwrap_or_default();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&others)));
    let path = path.map_err(|error| error.to_string())?;
    let tried = |arguments: &[&str]| {
        eprintln!("> {} {}", python.display(), arguments.join(" "));
        let status = Command::new(&python)
            .args(arguments)
            .env("PATH", &path)
            .env("TAILBACK", here.join(program))
            .status()
            .map_err(|error| format!("{}: {error}", python.display()))?;
        if status.success() { Ok(()) } else { Err(format!("python {}: {status}", arguments.join(" "))) }
    };
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps"];
    tried(&[&pip[..], &["--config-settings=build-args=--locked --profile dev", "./python"]].concat())?;
    tried(&["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "python/tests"])
}

/// Has the results read. The script says what it has compared; its last line is the verdict.
fn read(python: &Path, results: &Path) -> Result<(), String> {
    eprintln!("> {} {READER} {}", python.display(), results.display());
    let output = Command::new(python)
        .arg(READER)
        .args([results, &results.join("csv")])
        .output()
        .map_err(|error| format!("{}: {error}", python.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && said.trim_end().ends_with("all tables agree") {
        eprintln!("pandas, polars and DuckDB read all {} tables", said.lines().count() - 1);
        return Ok(());
    }
    Err(format!("{READER}: {}\n{said}{}", output.status, String::from_utf8_lossy(&output.stderr)))
}
