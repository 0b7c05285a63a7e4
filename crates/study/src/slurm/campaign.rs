//! Decisions about the tasks of a study: which to submit, which to submit again, when to wait and when to give up.
//!
//! Nothing here reads a clock, a file or a queue: a [`Campaign`] is notified of the unfinished runs and of the tasks in
//! the queue, and answers with a [`Decision`]. It keeps no state that another command does not see, too: several
//! commands that watch the same queue come to the same decisions.

use super::task::Task;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long results of a completed task may take to appear: clients of a network file system cache directories.
const APPEARANCE: Duration = Duration::from_secs(90);

/// How long a task that is in no state may be missing from the queue.
const ABSENCE: Duration = Duration::from_secs(10);

/// The next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// All runs are finished.
    Finished,
    /// Tasks are pending or running.
    Wait,
    /// Tasks are to be submitted.
    Submit(Vec<Submission>),
    /// No task is left that could finish the missing runs.
    GiveUp(Vec<Ending>),
}

/// A task to submit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Number of the task, counted from 1.
    pub number: usize,
    /// How the task ended before, if it is submitted again.
    pub after: Option<Ending>,
    /// Number of submissions since the task last finished a run, not counting the first.
    pub repeats: u32,
}

/// How a task with unfinished runs ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Its array job.
    pub job: u64,
    /// Its number in the array, counted from 1.
    pub number: usize,
    /// What is known about it.
    pub cause: Cause,
}

/// Why a task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It ended in a state of Slurm, such as `TIMEOUT`, for a reason of Slurm, such as `NonZeroExitCode` or `None`.
    State(String, String),
    /// It completed, but its results did not appear.
    NoResults,
    /// Slurm no longer knows it.
    Unknown,
}

/// The latest submission of a task.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    job: u64,
    /// Number of unfinished runs of the task when it was submitted.
    missing: usize,
    repeats: u32,
    /// When the task was first found to have ended.
    ended: Option<Duration>,
}

/// The tasks of a study: task I of N executes part I/N of the runs.
#[derive(Clone, Debug)]
pub struct Campaign {
    tasks: usize,
    most_repeats: u32,
    attempts: BTreeMap<usize, Attempt>,
    /// Tasks that had ended before the first decision: job and number.
    earlier: Option<BTreeSet<(u64, usize)>>,
}

impl Campaign {
    /// Divides runs into tasks. A task that ends with unfinished runs is submitted again, at most `most_repeats` times
    /// without having finished a run.
    #[must_use]
    pub fn new(tasks: usize, most_repeats: u32) -> Campaign {
        Campaign { tasks: tasks.max(1), most_repeats, attempts: BTreeMap::new(), earlier: None }
    }

    /// Decides what to do, given the indices of all unfinished runs, the tasks in the queue, and the time since the
    /// first decision. Indices of several grids may be equal.
    pub fn decide(&mut self, missing: &[usize], queue: &[Task], now: Duration) -> Decision {
        if missing.is_empty() {
            return Decision::Finished;
        }
        let live: Vec<&Task> = queue.iter().filter(|task| task.is_live()).collect();
        let ended = || queue.iter().filter(|task| !task.is_live());
        let earlier =
            self.earlier.get_or_insert_with(|| ended().map(|task| (task.job, task.part.number())).collect()).clone();
        let tasks = self.tasks;
        let (mut submit, mut failed, mut waiting) = (Vec::new(), Vec::new(), false);
        for (number, (missing, uncovered)) in self.unfinished(missing, &live) {
            let own = |task: &&Task| task.part.number() == number && task.part.of() == tasks;
            // Another command may have submitted it.
            if let Some(job) = live.iter().copied().filter(own).map(|task| task.job).max() {
                self.submitted(number, job, missing);
            }
            let Some(attempt) = self.attempts.get_mut(&number) else {
                if uncovered == 0 {
                    waiting = true;
                } else {
                    submit.push(Submission { number, after: None, repeats: 0 });
                }
                continue;
            };
            if uncovered == 0 {
                attempt.ended = None;
                waiting = true;
                continue;
            }
            let since = now.saturating_sub(*attempt.ended.get_or_insert(now));
            let last = ended().filter(own).filter(|task| task.job >= attempt.job).max_by_key(|task| task.job);
            let last = last.filter(|task| !earlier.contains(&(task.job, number)));
            let cause = match last {
                Some(task) if task.is_completed() && since < APPEARANCE => None,
                Some(task) if task.is_completed() => Some(Cause::NoResults),
                Some(task) => Some(Cause::State(task.state.clone(), task.reason.clone())),
                None if since < ABSENCE => None,
                None => Some(Cause::Unknown),
            };
            let Some(cause) = cause else {
                waiting = true;
                continue;
            };
            let repeats = if missing < attempt.missing { 1 } else { attempt.repeats + 1 };
            // On storage that is not shared no repetition helps.
            let hopeless = cause == Cause::NoResults && missing == attempt.missing;
            let ending = Ending { job: last.map_or(attempt.job, |task| task.job), number, cause };
            if repeats > self.most_repeats || hopeless {
                failed.push(ending);
            } else {
                submit.push(Submission { number, after: Some(ending), repeats });
            }
        }
        match (submit.is_empty(), waiting) {
            (false, _) => Decision::Submit(submit),
            (true, true) => Decision::Wait,
            (true, false) => Decision::GiveUp(failed),
        }
    }

    /// Records that tasks were submitted as an array job, given the indices of all unfinished runs.
    pub fn on_submitted(&mut self, numbers: &[usize], job: u64, missing: &[usize]) {
        self.earlier.get_or_insert_default();
        let counts = self.unfinished(missing, &[]);
        for number in numbers {
            self.submitted(*number, job, counts.get(number).map_or(0, |count| count.0));
        }
    }

    fn submitted(&mut self, number: usize, job: u64, missing: usize) {
        let repeats = match self.attempts.get(&number) {
            None => 0,
            Some(before) if before.job >= job => return,
            Some(before) if missing < before.missing => 1,
            Some(before) => before.repeats + 1,
        };
        self.attempts.insert(number, Attempt { job, missing, repeats, ended: None });
    }

    /// Returns, for each task with unfinished runs, the number of them, and of those that no live task will execute.
    fn unfinished(&self, missing: &[usize], live: &[&Task]) -> BTreeMap<usize, (usize, usize)> {
        let parts: BTreeSet<(usize, usize)> = live.iter().map(|task| (task.part.of(), task.part.number())).collect();
        let sizes: BTreeSet<usize> = parts.iter().map(|&(of, _)| of).collect();
        let mut counts = BTreeMap::new();
        for &place in missing {
            let count: &mut (usize, usize) = counts.entry(place % self.tasks + 1).or_default();
            count.0 += 1;
            count.1 += usize::from(!sizes.iter().any(|&of| parts.contains(&(of, place % of + 1))));
        }
        counts
    }
}

/// Returns how long to wait before the next look at the queue: the longer a study takes, the less often.
#[must_use]
pub fn pause(elapsed: Duration) -> Duration {
    (elapsed / 10).clamp(Duration::from_millis(500), Duration::from_secs(15))
}

/// Returns the number of tasks for the largest grid's number of runs, if the user does not choose one. Slurm's default
/// limit of an array is 1000 tasks, and each task has to load the whole study.
#[must_use]
pub fn usual_tasks(runs: usize, threads: usize) -> usize {
    runs.div_ceil(threads.max(1)).clamp(1, 256)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::ZERO;

    fn task(job: u64, number: usize, of: usize, state: &str) -> Task {
        Task::new(job, (number, of), state, "None").expect("a task")
    }

    fn numbers(decision: Decision) -> Vec<usize> {
        match decision {
            Decision::Submit(tasks) => tasks.iter().map(|task| task.number).collect(),
            other => panic!("{other:?}"),
        }
    }

    /// Only tasks with unfinished runs are submitted, each once; several grids share the tasks.
    #[test]
    fn unfinished_runs_are_submitted_once() {
        let mut campaign = Campaign::new(4, 3);
        assert_eq!(campaign.decide(&[], &[], START), Decision::Finished);
        let missing = [0, 2, 6, 8, 2];
        assert_eq!(numbers(campaign.decide(&missing, &[], START)), [1, 3]);
        campaign.on_submitted(&[1, 3], 10, &missing);
        let queue = [task(10, 1, 4, "RUNNING"), task(10, 3, 4, "PENDING")];
        assert_eq!(campaign.decide(&missing, &queue, START), Decision::Wait);
        // Even if the queue does not show them for a moment.
        assert_eq!(campaign.decide(&missing, &[], START), Decision::Wait);
    }

    /// A task that ends with unfinished runs is submitted again, a bounded number of times.
    #[test]
    fn a_killed_task_is_submitted_again() {
        let mut campaign = Campaign::new(2, 2);
        campaign.on_submitted(&[1, 2], 10, &[0, 1, 2, 3]);
        for repeats in 1..=2 {
            let job = 9 + u64::from(repeats);
            let queue = [task(job, 1, 2, "TIMEOUT"), task(10, 2, 2, "RUNNING")];
            let cause = Cause::State("TIMEOUT".into(), "None".into());
            let after = Some(Ending { job, number: 1, cause });
            let again = Submission { number: 1, after, repeats };
            assert_eq!(campaign.decide(&[0, 1, 2, 3], &queue, START), Decision::Submit(vec![again]));
            campaign.on_submitted(&[1], job + 1, &[0, 1, 2, 3]);
        }
        // The others are waited for.
        let mut queue = [task(12, 1, 2, "FAILED"), task(10, 2, 2, "RUNNING")];
        assert_eq!(campaign.decide(&[0, 1, 2], &queue, START), Decision::Wait);
        queue[1].state = "COMPLETED".into();
        let Decision::GiveUp(failed) = campaign.decide(&[0, 2], &queue, START) else { panic!("it is hopeless") };
        assert_eq!(failed.iter().map(|ending| (ending.job, ending.number)).collect::<Vec<_>>(), [(12, 1)]);
    }

    /// A task that finishes some of its runs before each time limit is never given up.
    #[test]
    fn progress_starts_the_count_again() {
        let mut campaign = Campaign::new(1, 1);
        let runs: Vec<usize> = (0..5).collect();
        campaign.on_submitted(&[1], 10, &runs);
        for done in 1..5 {
            let job = 9 + done as u64;
            let decision = campaign.decide(&runs[done..], &[task(job, 1, 1, "TIMEOUT")], START);
            assert_eq!(numbers(decision), [1]);
            campaign.on_submitted(&[1], job + 1, &runs[done..]);
        }
        // Since the last finished run it was submitted once.
        assert!(matches!(campaign.decide(&[4], &[task(14, 1, 1, "TIMEOUT")], START), Decision::GiveUp(_)));
    }

    /// Jobs of an earlier command count as submitted, even if their arrays have another size; tasks that had ended do
    /// not.
    #[test]
    fn jobs_of_other_commands_are_waited_for() {
        let mut campaign = Campaign::new(4, 3);
        let queue = [task(7, 1, 2, "RUNNING"), task(7, 2, 2, "CANCELLED"), task(8, 2, 4, "FAILED")];
        // Part 1 of 2 covers parts 1 and 3 of 4.
        assert_eq!(numbers(campaign.decide(&[0, 1, 2, 3], &queue, START)), [2, 4]);
        campaign.on_submitted(&[2, 4], 9, &[0, 1, 2, 3]);
        let queue = [task(9, 2, 4, "RUNNING"), task(9, 4, 4, "RUNNING"), task(7, 1, 2, "FAILED")];
        assert_eq!(numbers(campaign.decide(&[0, 1, 2, 3], &queue, START)), [1, 3]);
        // Another command was faster.
        let others = [task(10, 1, 4, "RUNNING"), task(10, 3, 4, "RUNNING")];
        let queue = [&queue[..], &others[..]].concat();
        assert_eq!(campaign.decide(&[0, 1, 2, 3], &queue, START), Decision::Wait);
        let queue = [task(10, 1, 4, "FAILED"), task(10, 3, 4, "RUNNING"), task(9, 2, 4, "RUNNING")];
        let Decision::Submit(again) = campaign.decide(&[0, 1, 2], &queue, START) else { panic!("task 1 has ended") };
        assert_eq!((again[0].number, again[0].repeats), (1, 1));
    }

    /// Results may appear late; if they never do, submitting again does not help.
    #[test]
    fn results_that_do_not_appear_end_the_study() {
        let mut campaign = Campaign::new(1, 3);
        campaign.on_submitted(&[1], 10, &[0, 1]);
        let queue = [task(10, 1, 1, "COMPLETED")];
        assert_eq!(campaign.decide(&[0, 1], &queue, START), Decision::Wait);
        assert_eq!(campaign.decide(&[0, 1], &queue, APPEARANCE / 2), Decision::Wait);
        let ending = Ending { job: 10, number: 1, cause: Cause::NoResults };
        assert_eq!(campaign.decide(&[0, 1], &queue, APPEARANCE), Decision::GiveUp(vec![ending]));
    }

    /// A task that Slurm has forgotten is submitted again, but not at once.
    #[test]
    fn a_forgotten_task_is_submitted_again() {
        let mut campaign = Campaign::new(1, 3);
        campaign.on_submitted(&[1], 10, &[0]);
        assert_eq!(campaign.decide(&[0], &[], START), Decision::Wait);
        let Decision::Submit(again) = campaign.decide(&[0], &[], ABSENCE) else { panic!("it is gone") };
        assert_eq!(again[0].after, Some(Ending { job: 10, number: 1, cause: Cause::Unknown }));
    }

    #[test]
    fn looks_become_rarer() {
        assert_eq!(pause(START), Duration::from_millis(500));
        assert_eq!(pause(Duration::from_secs(60)), Duration::from_secs(6));
        assert_eq!(pause(Duration::from_secs(86_400)), Duration::from_secs(15));
        assert_eq!([usual_tasks(40, 1), usual_tasks(40, 16), usual_tasks(0, 1), usual_tasks(9999, 1)], [40, 3, 1, 256]);
    }
}
