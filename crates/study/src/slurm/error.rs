//! Errors of a study on a cluster.

use super::campaign::{Cause, Ending};
use super::script::log_name;
use files::text::for_terminal;
use results::remedy;
use std::fmt;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Number of failed tasks that an error describes.
const DESCRIBED: usize = 5;

/// An error of a study on a cluster. Finished runs are kept.
#[derive(Debug)]
pub enum SlurmError {
    /// A command of Slurm is not installed.
    NoCommand {
        /// The command.
        command: &'static str,
    },
    /// An option for `sbatch` cannot be given; contains the reason.
    Option(String),
    /// `sbatch` refused the array job.
    Refused {
        /// Its message.
        said: String,
    },
    /// The queue cannot be read.
    Queue {
        /// The message of `squeue`.
        said: String,
        /// The jobs that were submitted.
        jobs: Vec<u64>,
    },
    /// Tasks ended with unfinished runs, and are not submitted again.
    Failed {
        /// The tasks.
        tasks: Vec<Ending>,
        /// Maximum number of repetitions of a task.
        repeats: u32,
        /// Folder of the logs.
        folder: PathBuf,
    },
    /// A system call failed.
    Io {
        /// The operation.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The command was interrupted.
    Interrupted {
        /// Number of finished runs.
        done: usize,
        /// Number of all runs.
        total: usize,
        /// Jobs of this command, which were cancelled.
        cancelled: Vec<u64>,
        /// Jobs in the queue that could not be cancelled, or that another command submitted.
        left: Vec<u64>,
    },
}

/// Returns job numbers in words, such as `job 17` or `jobs 17 and 18`.
#[must_use]
pub fn jobs_in_words(jobs: &[u64]) -> String {
    match jobs {
        [] => "no job".to_owned(),
        [one] => format!("job {one}"),
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(u64::to_string).collect();
            format!("jobs {} and {last}", most.join(", "))
        }
    }
}

/// Returns how a task ended, in words.
#[must_use]
pub fn ending_in_words(ending: &Ending) -> String {
    let Ending { job, number, cause } = ending;
    let cause = match cause {
        Cause::State(state, reason) if reason == "None" || reason.is_empty() => state.clone(),
        Cause::State(state, reason) => format!("{state} ({reason})"),
        Cause::NoResults => "COMPLETED, but its results did not appear".to_owned(),
        Cause::Unknown => "no longer known to Slurm".to_owned(),
    };
    format!("task {number} of job {job}: {cause}")
}

/// Returns the last lines of a log, if there are any.
fn end_of_log(path: &Path) -> Option<String> {
    let mut file = files::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(4096))).ok()?;
    let mut octets = Vec::new();
    file.take(4096).read_to_end(&mut octets).ok()?;
    let text = String::from_utf8_lossy(&octets);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(3)..].iter().map(|line| format!("\n      {}", for_terminal(line)));
    (!lines.is_empty()).then(|| last.collect())
}

/// Returns a remedy for the way a task ended.
fn remedy_of(ending: &Ending, has_log: bool) -> Option<&'static str> {
    let state = match &ending.cause {
        Cause::NoResults => {
            return Some("is the results directory on storage that this machine shares with the nodes?");
        }
        Cause::Unknown => return None,
        Cause::State(state, _) => state.as_str(),
    };
    match state {
        "TIMEOUT" => Some("allow more time, such as --slurm-option time=04:00:00, or use more tasks (--slurm-tasks)"),
        "OUT_OF_MEMORY" => Some("request more memory, such as --slurm-option mem=8G"),
        "FAILED" if !has_log => Some("there is no log: is the results directory visible on the nodes?"),
        _ => None,
    }
}

impl fmt::Display for SlurmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SlurmError::NoCommand { command } => write!(
                f,
                "{command} is not on the PATH: --slurm needs the commands of Slurm\n  run this on a machine that submits \
                 jobs, such as a login node, or run it without --slurm"
            ),
            SlurmError::Option(reason) => write!(f, "--slurm-option: {reason}"),
            SlurmError::Refused { said } => write!(
                f,
                "Slurm refused the job: {}\n  change its options with --slurm-option, or the number of tasks with \
                 --slurm-tasks",
                for_terminal(said)
            ),
            SlurmError::Queue { said, jobs } => {
                write!(f, "the queue of Slurm cannot be read: {}\n  ", for_terminal(said))?;
                match jobs.as_slice() {
                    [] => write!(f, "run the same command again later to continue"),
                    jobs => {
                        write!(f, "{} may still run; run the same command again later to continue", jobs_in_words(jobs))
                    }
                }
            }
            SlurmError::Failed { tasks, repeats, folder } => {
                let one = tasks.len() == 1;
                let what = if one { "1 task".to_owned() } else { format!("{} tasks", tasks.len()) };
                write!(f, "{what} did not finish")?;
                if tasks.iter().any(|ending| ending.cause != Cause::NoResults) {
                    write!(f, " ({repeats} {} without a finished run)", plural(*repeats))?;
                }
                for ending in tasks.iter().take(DESCRIBED) {
                    let log = folder.join(log_name(ending.job, ending.number));
                    let end = end_of_log(&log);
                    write!(f, "\n  {}; log: {}", ending_in_words(ending), log.display())?;
                    write!(f, "{}", end.as_deref().unwrap_or_default())?;
                    if let Some(remedy) = remedy_of(ending, log.exists()) {
                        write!(f, "\n    {remedy}")?;
                    }
                }
                if tasks.len() > DESCRIBED {
                    write!(f, "\n  and {} more", tasks.len() - DESCRIBED)?;
                }
                write!(f, "\n  finished runs are kept; run the same command again to continue")
            }
            SlurmError::Io { what, path, source } => {
                write!(f, "cannot {what} {}: {source}\n  {}", path.display(), remedy(source))
            }
            SlurmError::Interrupted { done, total, cancelled, left } => {
                write!(f, "interrupted after {done} of {total} runs")?;
                if !cancelled.is_empty() {
                    let were = if cancelled.len() == 1 { "was" } else { "were" };
                    write!(f, "; {} {were} cancelled", jobs_in_words(cancelled))?;
                }
                if !left.is_empty() {
                    let ids: Vec<String> = left.iter().map(u64::to_string).collect();
                    let goes = if left.len() == 1 { "goes" } else { "go" };
                    write!(f, "; {} {goes} on ('scancel {}' to cancel)", jobs_in_words(left), ids.join(" "))?;
                }
                write!(f, "\n  finished runs are kept; run the same command again to continue")
            }
        }
    }
}

fn plural(repeats: u32) -> &'static str {
    if repeats == 1 { "repetition" } else { "repetitions" }
}

impl std::error::Error for SlurmError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_tasks_are_described_with_their_logs() {
        let folder = std::env::temp_dir().join(format!("tailback-slurm-error-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is room");
        std::fs::write(folder.join("17_3.log"), "first\nsecond\n\nthird\nslurmstepd: time limit\n")
            .expect("there is room");
        let state = |job, number, state: &str, reason: &str| Ending {
            job,
            number,
            cause: Cause::State(state.into(), reason.into()),
        };
        let tasks = vec![state(17, 3, "TIMEOUT", "TimeLimit"), state(17, 4, "FAILED", "None")];
        let text = SlurmError::Failed { tasks, repeats: 3, folder: folder.clone() }.to_string();
        std::fs::remove_dir_all(&folder).expect("it is ours");
        assert!(text.starts_with("2 tasks did not finish (3 repetitions without a finished run)\n"), "{text}");
        for wanted in [
            "task 3 of job 17: TIMEOUT (TimeLimit); log: ",
            "17_3.log\n      second\n      third\n      slurmstepd: time limit\n    allow more time",
            "task 4 of job 17: FAILED; log: ",
            "there is no log",
            "run the same command again",
        ] {
            assert!(text.contains(wanted), "{wanted} in\n{text}");
        }
    }

    #[test]
    fn an_interrupted_study_says_what_becomes_of_its_jobs() {
        let text = |cancelled: &[u64], left: &[u64]| {
            let (cancelled, left) = (cancelled.to_vec(), left.to_vec());
            SlurmError::Interrupted { done: 3, total: 9, cancelled, left }.to_string()
        };
        assert!(text(&[17], &[]).starts_with("interrupted after 3 of 9 runs; job 17 was cancelled\n"));
        assert!(text(&[], &[15, 16]).contains("; jobs 15 and 16 go on ('scancel 15 16' to cancel)\n"));
        assert!(text(&[], &[]).starts_with("interrupted after 3 of 9 runs\n"));
    }
}
