//! Tasks in Slurm's queue, and the texts that name them: the name of a job, a line of `squeue`, a list of array indices.

use crate::grid::Part;
use files::text::hexadecimal;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;

/// The format of `squeue` that [`Task::parse`] reads: name, array job, index, state, reason.
pub const FORMAT: &str = "%j|%F|%K|%T|%r";

/// States in which a task will not run again by itself.
const ENDED: [&str; 10] = [
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REVOKED",
    "TIMEOUT",
];

/// A task in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its array job.
    pub job: u64,
    /// The part of the runs that it executes.
    pub part: Part,
    /// Its state, such as `RUNNING`.
    pub state: String,
    /// The reason of its state, such as `Resources`; `None` if there is none.
    pub reason: String,
}

impl Task {
    /// Creates a task from its job, its number and the size of its array; `None` if there is no such task.
    #[must_use]
    pub fn new(job: u64, (number, of): (usize, usize), state: &str, reason: &str) -> Option<Task> {
        Some(Task { job, part: Part::new(number, of)?, state: state.to_owned(), reason: reason.to_owned() })
    }

    /// Reads a line of `squeue` in `FORMAT`; `None` if it is a task of another study.
    #[must_use]
    pub fn parse(line: &str, study: &str) -> Option<Task> {
        let mut columns = line.trim().splitn(5, '|');
        let of = columns.next()?.strip_prefix(study)?.strip_prefix('-')?.parse().ok()?;
        let job = columns.next()?.parse().ok()?;
        let number = columns.next()?.parse().ok()?;
        Task::new(job, (number, of), columns.next()?, columns.next().unwrap_or_default())
    }

    /// Returns whether it is pending or running, or will be.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !ENDED.contains(&self.state.as_str())
    }

    /// Returns whether it ended successfully.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.state == "COMPLETED"
    }
}

/// Returns the name that all jobs of a study have in common: those of the same command for the same directory. The name
/// of a job has the number of tasks at its end, behind a hyphen.
#[must_use]
pub fn study_name(folder: &Path, arguments: &[impl AsRef<std::ffi::OsStr>]) -> String {
    let mut digest = Sha256::new_with_prefix(folder.as_os_str().as_encoded_bytes());
    for word in arguments {
        digest.update([0]);
        digest.update(word.as_ref().as_encoded_bytes());
    }
    format!("tailback-{}", hexadecimal(&digest.finalize()[..6]))
}

/// Returns increasing numbers as the indices of an array, such as `1-3,7`.
#[must_use]
pub fn indices(numbers: &[usize]) -> String {
    let mut text = String::new();
    let mut rest = numbers;
    while let [first, ..] = rest {
        let length = rest.iter().zip(*first..).take_while(|(number, next)| **number == *next).count();
        let comma = if text.is_empty() { "" } else { "," };
        let _ = match length {
            1 => write!(text, "{comma}{first}"),
            _ => write!(text, "{comma}{first}-{}", first + length - 1),
        };
        rest = &rest[length..];
    }
    text
}

/// Returns the live tasks in words, such as `2 tasks running, 14 pending (Resources)`.
#[must_use]
pub fn in_words<'a>(queue: impl Iterator<Item = &'a Task>) -> String {
    let (mut running, mut pending, mut reasons) = (0, 0, Vec::new());
    for task in queue.filter(|task| task.is_live()) {
        if task.state != "PENDING" {
            running += 1;
            continue;
        }
        pending += 1;
        if task.reason != "None" && !reasons.contains(&task.reason) {
            reasons.push(task.reason.clone());
        }
    }
    let tasks = if running == 1 { "task" } else { "tasks" };
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    format!("{running} {tasks} running, {pending} pending{reasons}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_queue_is_a_task_of_its_study() {
        let read = |line: &str| Task::parse(line, "tailback-0a");
        let task = Task::new(17, (3, 16), "PENDING", "Resources");
        assert_eq!(read("tailback-0a-16|17|3|PENDING|Resources\n"), task);
        let reason = read("tailback-0a-16|17|3|PENDING|launch failed|held").map(|task| task.reason);
        assert_eq!(reason.as_deref(), Some("launch failed|held"));
        for other in [
            "tailback-0b-16|17|3|PENDING|None",
            "tailback-0a|17|3|PENDING|None",
            "tailback-0a1-16|17|3|RUNNING|None",
            "tailback-0a-16|17|N/A|RUNNING|None",
            "tailback-0a-16|17|17|RUNNING|None",
            "tailback-0a-16|17|0|RUNNING|None",
            "wrap|17|3|RUNNING|None",
            "",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn states_of_slurm_are_live_or_not() {
        let is_live = |state: &str| Task::new(1, (1, 1), state, "None").is_some_and(|task| task.is_live());
        assert!(["PENDING", "RUNNING", "COMPLETING", "REQUEUED", "SUSPENDED", "CONFIGURING"].into_iter().all(is_live));
        assert!(!ENDED.into_iter().any(is_live));
    }

    #[test]
    fn indices_are_ranges() {
        assert_eq!(indices(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(indices(&[4]), "4");
    }

    #[test]
    fn names_differ_by_directory_and_command() {
        let name = |folder: &str, words: &[&str]| study_name(Path::new(folder), words);
        assert_eq!(name("/a", &["sweep"]), name("/a", &["sweep"]));
        assert_ne!(name("/a", &["sweep"]), name("/b", &["sweep"]));
        assert_ne!(name("/a", &["x", "y"]), name("/a", &["xy"]));
        assert_eq!(name("/a", &["sweep"]).len(), "tailback-".len() + 12);
    }

    #[test]
    fn the_queue_in_words() {
        let task = |state: &str, reason: &str| Task::new(1, (1, 1), state, reason).expect("a task");
        let queue = [
            task("RUNNING", "None"),
            task("PENDING", "Resources"),
            task("PENDING", "Priority"),
            task("PENDING", "None"),
            task("COMPLETED", "None"),
        ];
        assert_eq!(in_words(queue.iter()), "1 task running, 3 pending (Resources, Priority)");
        assert_eq!(in_words([].iter()), "0 tasks running, 0 pending");
    }
}
