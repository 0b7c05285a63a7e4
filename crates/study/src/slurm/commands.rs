//! Calls of Slurm's commands: `sbatch`, `squeue` and `scancel`.

use super::error::SlurmError;
use super::task::{FORMAT, Task};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Returns what a command said on standard error, without the prefixes that Slurm puts before each line.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let bare = |line: &str| {
        let line = line.trim();
        let line = ["sbatch: ", "squeue: ", "scancel: "].iter().find_map(|it| line.strip_prefix(it)).unwrap_or(line);
        ["error: ", "fatal: "].iter().find_map(|it| line.strip_prefix(it)).unwrap_or(line).to_owned()
    };
    let lines: Vec<String> = text.lines().map(bare).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { output.status.to_string() } else { lines.join("; ") }
}

fn call(name: &'static str, arguments: &[impl AsRef<OsStr>]) -> Result<Output, SlurmError> {
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::null());
    // A user's filters and formats must not hide or reorder anything.
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("SQUEUE_") {
            command.env_remove(variable);
        }
    }
    command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => SlurmError::NoCommand { command: name },
        _ => SlurmError::Io { what: "run", path: name.into(), source: error },
    })
}

/// Submits an array job and returns its number.
pub fn submit(arguments: &[impl AsRef<OsStr>]) -> Result<u64, SlurmError> {
    let output = call("sbatch", arguments)?;
    if !output.status.success() {
        return Err(SlurmError::Refused { said: said(&output) });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    // The number, or the number and the cluster; scripts of a site may have said something before.
    let job = text.lines().rev().find_map(|line| line.split(';').next()?.trim().parse().ok());
    job.ok_or_else(|| SlurmError::Refused { said: format!("sbatch printed no job number: {}", text.trim()) })
}

/// Returns the tasks of a study in the queue of the user with that number, including those that ended lately; or the
/// message of `squeue`.
pub fn queue(study: &str, user: Option<&str>) -> Result<Result<Vec<Task>, String>, SlurmError> {
    let mut arguments = vec!["--noheader", "--array", "--states=all", "--format", FORMAT];
    arguments.extend(user.iter().flat_map(|user| ["--user", user]));
    let output = call("squeue", &arguments)?;
    if !output.status.success() {
        return Ok(Err(said(&output)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(Ok(text.lines().filter_map(|line| Task::parse(line, study)).collect()))
}

/// Cancels jobs and returns whether that succeeded.
pub fn cancel(jobs: &[u64]) -> bool {
    let jobs: Vec<String> = jobs.iter().map(u64::to_string).collect();
    jobs.is_empty() || call("scancel", &jobs).is_ok_and(|output| output.status.success())
}

/// Returns the number of the user who runs this program.
pub fn user() -> Option<String> {
    let output = Command::new("id").arg("-u").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())).then_some(text)
}

/// Returns whether a command is on the path.
pub fn is_installed(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| Path::new(&folder).join(name).is_file())
}
