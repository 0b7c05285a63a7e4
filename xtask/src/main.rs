//! The project's chores: `cargo xtask help` lists them.

#![allow(clippy::disallowed_macros)] // Chores print.

mod deny;
mod examples;
mod hop;
mod oracles;
mod package;
mod program;
mod python;
mod report;
mod tidy;
mod wasm;
mod workflows;

use std::path::Path;
use std::process::{Command, ExitCode};

const HELP: &str = "\
usage: cargo xtask WHAT

  test            everything CI checks: format, lints, tidiness, tests, documentation
  python          only that pandas, polars and DuckDB read the results; fetches them into target/python
  oracles         only installs the external programs that the tests need: tshark, tcpdump, scapy, ibsim, opensm, ibdmchk,
                  lldpad, isisd, Slurm, Open MPI
  report-ui       only the front-end of reports, built with npm into crates/render/front, which the program embeds
  report          only that reports can be read: opens them in Chromium; fetches what it needs
  wasm            only the simulator for pages, compiled into crates/render/front, which the program embeds
  wasm-speed      how fast the simulator for pages is beside the program, by Node; builds the program as it is installed
  papers          all papers in full: every figure with all its seeds and choices; minutes
  torture         attacks with random scenarios, mutated inputs, kills, corruption and hostile paths:
                  [--minutes N] [--seed S] [--jobs J] [--only KIND]
  deny            only licences, duplicates and sources of dependencies, by deny.toml
  examples        only the examples, the project outside of the workspace included
  package         only that the libraries can be published: their packages are whole and build
  tidy            only the tidiness of the sources
  workflows       only the workflows of the forge, by actionlint
  instructions    instructions per packet-hop, by callgrind, on the k = 8 fat-tree
  size            the size of the program as it is installed, which it builds: [--target TRIPLE]
";

fn main() -> ExitCode {
    let what = std::env::args().nth(1).unwrap_or_default();
    let result = match what.as_str() {
        "test" => test(),
        "python" => python::check(),
        "oracles" => oracles::install(),
        "report-ui" => report::build_or_fail(),
        "report" => report::check(),
        "wasm" => wasm::build(),
        "papers" => program::installed(None).and_then(|program| papers(&program, &[])),
        "wasm-speed" => program::installed(None).and_then(|program| report::speed(&program)),
        "torture" => torture(&std::env::args().skip(2).collect::<Vec<_>>()),
        "deny" => deny::check(),
        "examples" => examples::check(),
        "package" => package::check(package::Build::All),
        "tidy" => tidy::check(),
        "workflows" => workflows::check(),
        "instructions" => hop::report(),
        "size" => program::size(&std::env::args().skip(2).collect::<Vec<_>>()),
        _ => {
            print!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command in the workspace and fails with its name if it fails.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let line = format!("{program} {}", arguments.join(" "));
    eprintln!("> {line}");
    let status = Command::new(program).args(arguments).status().map_err(|error| format!("{line}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{line}: {status}")) }
}

/// Reproduces every paper. Numbers that disagree are findings, written in the papers' notes, and no failure here.
fn papers(program: &Path, how: &[&str]) -> Result<(), String> {
    let mut papers: Vec<String> = std::fs::read_dir("papers")
        .map_err(|error| format!("papers: {error}"))?
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    papers.sort();
    for paper in &mut papers {
        // Eleven networks with nine protocols each take minutes even so.
        if paper == "802-1au-2007" && !how.is_empty() {
            paper.push_str("/baseline");
        }
        let arguments = [&["reproduce", paper.as_str(), "--out", "target/papers"], how].concat();
        eprintln!("> tailback {}", arguments.join(" "));
        let status = Command::new(program).args(&arguments).status();
        let status = status.map_err(|error| format!("{}: {error}", program.display()))?;
        if !matches!(status.code(), Some(0 | 6)) {
            return Err(format!("tailback {}: {status}", arguments.join(" ")));
        }
    }
    Ok(())
}

/// Attacks the program as it is built now, with the attacks that tests make a few of.
fn torture(arguments: &[String]) -> Result<(), String> {
    run("cargo", &["build", "--release", "--locked", "-p", "tailback", "-p", "tailback-torture"])?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run("target/release/torture", &arguments)
}

/// A program that was built without MPI must not run once for each process that mpirun starts.
fn refuses_mpirun(program: &Path) -> Result<(), String> {
    let arguments = ["run", "scenarios/incast.toml", "--out", "target/not-written"];
    eprintln!("> OMPI_COMM_WORLD_SIZE=4 tailback {}", arguments.join(" "));
    let output = Command::new(program).args(arguments).env("OMPI_COMM_WORLD_SIZE", "4").output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    match (output.status.code(), said.contains("built without MPI")) {
        (Some(2), true) => Ok(()),
        _ => Err(format!("a program without MPI does not refuse to be one of 4 processes: {}: {said}", output.status)),
    }
}

/// Does one part of the test command and says how long it took.
#[expect(clippy::disallowed_methods, reason = "it measures wall time")]
fn timed(what: &str, part: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let start = std::time::Instant::now();
    part()?;
    let seconds = start.elapsed().as_secs();
    eprintln!("< {what}: {} min {:02} s", seconds / 60, seconds % 60);
    Ok(())
}

fn test() -> Result<(), String> {
    run("cargo", &["fmt", "--all", "--check"])?;
    tidy::check()?;
    wasm::check()?;
    workflows::check()?;
    deny::check()?;
    // Before anything is compiled: the program embeds it.
    timed("front-end of reports", report::build)?;
    timed("external programs", oracles::install)?;
    // Fetched while others compile.
    let readers = std::thread::spawn(python::prepare);
    // One build for all tests; the programs without MPI, as they are installed, follow for the papers.
    let features = oracles::features();
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked"];
    timed("lints", || run("cargo", &[&clippy[..], features, &["--", "-D", "warnings"]].concat()))?;
    // The Python module is linked by maturin, and tested from Python.
    let all = ["test", "--workspace", "--exclude", "tailback-python", "--locked"];
    timed("build of the tests", || run("cargo", &[&all[..], features, &["--no-run"]].concat()))?;
    timed("tests", || run("cargo", &[&all[..], features].concat()))?;
    timed("examples", examples::check)?;
    timed("packages", || package::check(package::Build::Nothing))?;
    timed("documentation", || {
        run("cargo", &["doc", "--workspace", "--exclude", "tailback-python", "--no-deps", "--locked"])
    })?;
    let mut programs = std::path::PathBuf::new();
    timed("programs", || program::build().map(|folder| programs = folder))?;
    let program = programs.join("tailback");
    timed("papers", || papers(&program, &["--quick"]))?;
    refuses_mpirun(&program)?;
    let _ = readers.join();
    timed("Python", python::check)?;
    timed("reports", report::check)?;
    // The benchmarks must at least run; their figures belong to docs/performance.md.
    run(&programs.join("bench").to_string_lossy(), &["fat-tree", "4", "20", "2"])
}
