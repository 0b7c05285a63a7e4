//! The front-end of reports: built with npm into `crates/render/front`, which the program embeds, and tried in a browser.
//!
//! What was built is in the repository, so that reports work in every clone without Node; a test builds it again and
//! fails if it differs. Without Node or a browser that is skipped and listed; on a machine that calls itself CI it is a
//! failure.

use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "report";
/// Where the built front-end lies.
const FRONT: &str = "crates/render/front";
/// What npm builds there.
const BUILT: [&str; 5] = ["report.js.z", "report.css.z", "lab.js.z", "lab.css.z", "examples.json.z"];
/// The oldest Node that is tried.
const NODE: u32 = 20;
/// What a browser may be called.
const BROWSERS: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/// What kept reports from being built or tried.
enum Trouble {
    /// There is no Node, no npm, no browser, or no way to fetch them.
    Missing(String),
    /// The front-end is wrong.
    Wrong(String),
}

/// Says what is missing; that is a failure only where everything should be there.
fn settle(what: &str, result: Result<(), Trouble>) -> Result<(), String> {
    match result {
        Ok(()) => Ok(()),
        Err(Trouble::Wrong(reason)) => Err(reason),
        Err(Trouble::Missing(reason)) if std::env::var("CI").is_ok_and(|ci| !ci.is_empty() && ci != "false") => {
            Err(format!("{what}: {reason}"))
        }
        Err(Trouble::Missing(reason)) => {
            eprintln!("SKIPPED: {what}: {reason}");
            eprintln!(
                "         install Node {NODE} or later with npm, and Chromium, to try it; in CI this is a failure"
            );
            Ok(())
        }
    }
}

/// Builds the front-end, and fails if that changes what is in the repository.
pub fn build() -> Result<(), String> {
    settle("the front-end of reports was not built", unchanged())
}

fn unchanged() -> Result<(), Trouble> {
    let read = || BUILT.map(|name| std::fs::read(Path::new(FRONT).join(name)).ok());
    let before = read();
    built()?;
    if before == read() {
        return Ok(());
    }
    let reason = "crates/render/front was not what report/src builds; it has been built: commit it";
    Err(Trouble::Wrong(reason.to_owned()))
}

/// Builds the front-end, or says why it cannot be: for those who ask for it and nothing else.
pub fn build_or_fail() -> Result<(), String> {
    built().map_err(|(Trouble::Missing(reason) | Trouble::Wrong(reason))| reason)
}

/// Runs npm in the folder of the front-end.
fn npm(arguments: &[&str], environment: &[(&str, &Path)]) -> Result<(), String> {
    let line = format!("npm {}", arguments.join(" "));
    eprintln!("> {line}   (in {FOLDER})");
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut command = Command::new(npm);
    command.args(arguments).current_dir(FOLDER);
    command.envs(environment.iter().map(|(name, value)| (name, value.as_os_str())));
    let status = command.status().map_err(|error| format!("{line}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{line}: {status}")) }
}

fn built() -> Result<(), Trouble> {
    let missing = |reason: String| Trouble::Missing(reason);
    let said = Command::new("node").arg("--version").output().map_err(|error| missing(format!("node: {error}")))?;
    let version = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    let number = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if number.is_none_or(|number| number < NODE) {
        return Err(missing(format!("node is {version}")));
    }
    // A copy of the installed list is stored beside the packages: only a changed list is installed again.
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let (wanted, mark) =
        (Path::new(FOLDER).join("package-lock.json"), Path::new(FOLDER).join("node_modules/.installed"));
    if read(&wanted).is_none() || read(&wanted) != read(&mark) {
        npm(&["ci", "--no-audit", "--no-fund"], &[]).map_err(Trouble::Missing)?;
        std::fs::copy(&wanted, &mark).map_err(|error| missing(format!("{}: {error}", mark.display())))?;
    }
    npm(&["run", "--silent", "check"], &[]).map_err(Trouble::Wrong)?;
    npm(&["run", "--silent", "build"], &[]).map_err(Trouble::Wrong)
}

/// Scenarios whose speed in a page is compared with that of the program: long enough to be measured.
const MEASURED: [&str; 4] = [
    "scenarios/leaf-spine.toml,network.leaves=10,network.spines=10,network.hosts_per_leaf=10,run.duration=10ms",
    "scenarios/fat-tree.toml,network.k=8",
    "scenarios/victim.toml,run.duration=1s",
    "scenarios/roce-incast.toml,run.duration=40ms",
];

/// Measures how fast the simulator for pages runs in Node beside the program.
pub fn speed(program: &Path) -> Result<(), String> {
    let program = program.to_string_lossy();
    let module = format!("{FRONT}/lab.wasm.z");
    crate::run("node", &[&["report/speed.mjs", &module, &program], &MEASURED[..]].concat())
}

/// Opens reports of all kinds in a browser, moves them, and holds them against their tables.
pub fn check() -> Result<(), String> {
    settle("reports were not opened in a browser", tried())
}

fn tried() -> Result<(), Trouble> {
    built()?;
    let here = std::env::current_dir().map_err(|error| Trouble::Missing(error.to_string()))?;
    let target = here.join(crate::program::target());
    let browser = browser(&target).map_err(Trouble::Missing)?;
    let program = here.join(crate::program::build().map_err(Trouble::Wrong)?);
    let program = program.join(format!("tailback{}", std::env::consts::EXE_SUFFIX));
    let environment: [(&str, &Path); 5] = [
        ("TAILBACK", &program),
        ("CHROMIUM", &browser),
        ("REPORT_OUT", &target.join("report-check")),
        // Where the test of the papers leaves them: what is there is not run again.
        ("REPORT_PAPERS", &target.join("papers")),
        ("REPORT_ROOT", &here),
    ];
    npm(&["run", "--silent", "test"], &environment).map_err(Trouble::Wrong)?;
    eprintln!("screenshots in {}", target.join("report-check/screenshots").display());
    Ok(())
}

/// A browser: the one that is named, one that is installed, or one that can be fetched.
fn browser(target: &Path) -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Ok(named.into());
    }
    if let Some(found) = installed() {
        return Ok(found);
    }
    // On a machine of Debian's kind, such as a container, the system has it; elsewhere it is fetched.
    let _ = crate::oracles::install_packages(&["chromium"]);
    if let Some(found) = installed() {
        return Ok(found);
    }
    let home = target.join("browsers");
    let fetch = ["exec", "--", "playwright-core", "install", "chromium-headless-shell"];
    if fetched(&home).is_none() {
        let _ = npm(&fetch, &[("PLAYWRIGHT_BROWSERS_PATH", &home)]);
    }
    fetched(&home).ok_or_else(|| "there is no Chromium; name one in CHROMIUM".into())
}

fn installed() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// The browser under a folder that was fetched into.
fn fetched(home: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(home).ok()?;
    entries.flatten().map(|entry| entry.path()).find_map(|path| {
        let fits = path.file_stem().is_some_and(|stem| stem == "chrome-headless-shell" || stem == "headless_shell");
        if path.is_dir() { fetched(&path) } else { fits.then_some(path) }
    })
}
