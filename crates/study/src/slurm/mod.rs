//! Studies on a cluster with Slurm: an array job whose tasks execute parts of the runs, and the resubmission of tasks
//! that end before their runs are finished.
//!
//! All state is in two places that other commands see as well: the files of finished runs, and Slurm's queue, where the
//! name of a job identifies its study. So a command can be killed at any time and started again, and several commands
//! can wait for the same study.

mod campaign;
mod commands;
mod error;
mod script;
mod task;

pub use campaign::{Campaign, Cause, Decision, Ending, Submission, usual_tasks};
pub use error::{SlurmError, ending_in_words, jobs_in_words};
pub use task::{Task, in_words};

use crate::grid::Grid;
use campaign::pause;
use files::output::write_file;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use task::{indices, study_name};

/// Number of consecutive failures of `squeue` that are tolerated.
const MOST_FAILURES: u32 = 10;

/// Options of a study on a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmOptions {
    /// Number of tasks; chosen by the number of runs if absent.
    pub tasks: Option<usize>,
    /// Number of concurrent runs in a task.
    pub threads: usize,
    /// Further options of `sbatch`, with or without leading dashes.
    pub options: Vec<String>,
    /// How often a task is submitted again without having finished a run.
    pub repeats: u32,
    /// Whether to return once all tasks are submitted.
    pub detach: bool,
}

/// An event of a study on a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlurmEvent {
    /// Jobs of an earlier or concurrent command are in the queue.
    Found {
        /// Their numbers.
        jobs: Vec<u64>,
    },
    /// A job was submitted.
    Submitted {
        /// Its number.
        job: u64,
        /// Its tasks.
        tasks: Vec<Submission>,
    },
    /// The state at a look at the queue.
    Progress {
        /// Number of finished runs.
        done: usize,
        /// Number of all runs.
        total: usize,
        /// The tasks of the study in the queue.
        queue: Vec<Task>,
    },
    /// The queue cannot be read at the moment; contains the message of `squeue`.
    NoQueue(String),
}

/// How waiting for a study ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlurmEnd {
    /// All runs are finished.
    Finished,
    /// All tasks are submitted: these jobs are in the queue.
    Detached(Vec<u64>),
}

/// A study whose runs are executed on a cluster.
pub struct SlurmStudy {
    /// The program, as the nodes see it.
    program: PathBuf,
    arguments: Vec<OsString>,
    /// Working directory of the tasks.
    directory: PathBuf,
    /// Folder of the script and the logs.
    folder: PathBuf,
    /// The common part of the names of its jobs.
    name: String,
    options: SlurmOptions,
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SlurmError {
    let path = path.to_owned();
    move |source| SlurmError::Io { what, path, source }
}

/// The runs of all grids that are not finished, as far as known.
struct Missing<'a> {
    grids: &'a [&'a Grid],
    /// Grid and index of every unfinished run.
    runs: Vec<(usize, usize)>,
    total: usize,
}

impl<'a> Missing<'a> {
    fn new(grids: &'a [&'a Grid]) -> Missing<'a> {
        let of = |(number, grid): (usize, &&Grid)| (0..grid.total()).map(move |place| (number, place));
        let runs: Vec<(usize, usize)> = grids.iter().enumerate().flat_map(of).collect();
        Missing { total: runs.len(), grids, runs }
    }

    /// Looks at the files of finished runs, and returns the indices of the others.
    fn look(&mut self) -> Vec<usize> {
        self.runs.retain(|&(grid, place)| !self.grids[grid].is_finished(place));
        self.runs.iter().map(|&(_, place)| place).collect()
    }
}

impl SlurmStudy {
    /// Prepares the study whose results are in the directory `out`, which exists. A task runs this program with these
    /// arguments, its number of threads and its part.
    ///
    /// # Errors
    /// Returns an error if an option cannot be given, or if the folder of logs cannot be created.
    pub fn new(arguments: Vec<OsString>, out: &Path, mut options: SlurmOptions) -> Result<SlurmStudy, SlurmError> {
        let checked: Result<Vec<String>, String> = options.options.iter().map(|text| script::option(text)).collect();
        options.options = checked.map_err(SlurmError::Option)?;
        let program = std::env::current_exe().map_err(failed("find", Path::new("this program")))?;
        let directory = std::env::current_dir().map_err(failed("find", Path::new("the current directory")))?;
        files::no_links(out, "slurm").map_err(failed("write to", &out.join("slurm")))?;
        let folder = out.join("slurm");
        fs::create_dir_all(&folder).map_err(failed("create", &folder))?;
        let folder = folder.canonicalize().map_err(failed("find", &folder))?;
        let name = study_name(&folder, &arguments);
        Ok(SlurmStudy { program, arguments, directory, folder, name, options })
    }

    /// Has all unfinished runs executed by tasks, and waits for them.
    ///
    /// # Errors
    /// Returns an error if Slurm is missing, refuses the job or cannot be reached, or if tasks fail repeatedly.
    pub fn run(
        &self,
        grids: &[&Grid],
        interrupt: &AtomicBool,
        mut see: impl FnMut(SlurmEvent),
    ) -> Result<SlurmEnd, SlurmError> {
        #[expect(clippy::disallowed_methods, reason = "how long the queue takes is not part of a result")]
        let start = Instant::now();
        let mut runs = Missing::new(grids);
        let largest = grids.iter().map(|grid| grid.total()).max().unwrap_or(0);
        let tasks = self.options.tasks.unwrap_or_else(|| usual_tasks(largest, self.options.threads)).max(1);
        let mut campaign = Campaign::new(tasks, self.options.repeats);
        let user = commands::user();
        let (mut own, mut known, mut failures) = (Vec::new(), Vec::new(), 0);
        if runs.look().is_empty() {
            return Ok(SlurmEnd::Finished);
        }
        loop {
            // The queue first: a task that ends afterwards is still live in it.
            let lock = self.lock()?;
            let (looked, queue) = (start.elapsed(), self.queue(user.as_deref())?);
            let missing = runs.look();
            let (done, total) = (runs.total - missing.len(), runs.total);
            if missing.is_empty() {
                see(SlurmEvent::Progress { done, total, queue: Vec::new() });
                return Ok(SlurmEnd::Finished);
            }
            let live = |queue: &[Task]| {
                let mut jobs: Vec<u64> = queue.iter().filter(|it| it.is_live()).map(|task| task.job).collect();
                jobs.sort_unstable();
                jobs.dedup();
                jobs
            };
            if interrupt.load(Ordering::Relaxed) {
                let queue = queue.unwrap_or_default();
                return Err(self.interrupted((done, total), &own, live(&queue)));
            }
            match queue {
                Err(said) => {
                    failures += 1;
                    if failures > MOST_FAILURES {
                        return Err(SlurmError::Queue { said, jobs: own });
                    }
                    see(SlurmEvent::NoQueue(said));
                }
                Ok(queue) => {
                    failures = 0;
                    let jobs = live(&queue);
                    let found: Vec<u64> = jobs.iter().copied().filter(|job| !known.contains(job)).collect();
                    known.extend(&found);
                    if !found.is_empty() {
                        see(SlurmEvent::Found { jobs: found });
                    }
                    // If another command is deciding, its jobs are in the queue at the next look.
                    let mut decision = Decision::Wait;
                    if lock.is_some() {
                        decision = campaign.decide(&missing, &queue, looked);
                    }
                    match decision {
                        Decision::Finished | Decision::Wait if self.options.detach && lock.is_some() => {
                            return Ok(SlurmEnd::Detached(jobs));
                        }
                        Decision::Finished | Decision::Wait => see(SlurmEvent::Progress { done, total, queue }),
                        Decision::Submit(chosen) => {
                            let numbers: Vec<usize> = chosen.iter().map(|task| task.number).collect();
                            let job = self.submit(&numbers, tasks)?;
                            campaign.on_submitted(&numbers, job, &missing);
                            own.push(job);
                            known.push(job);
                            see(SlurmEvent::Submitted { job, tasks: chosen });
                            continue;
                        }
                        Decision::GiveUp(tasks) => {
                            let repeats = self.options.repeats;
                            return Err(SlurmError::Failed { tasks, repeats, folder: self.folder.clone() });
                        }
                    }
                }
            }
            drop(lock);
            let next = start.elapsed() + pause(start.elapsed());
            while start.elapsed() < next && !interrupt.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }

    /// Takes the lock under which commands look at the queue and submit tasks; `None` if another command holds it.
    fn lock(&self) -> Result<Option<File>, SlurmError> {
        let path = self.folder.join("lock");
        files::plain(&path).map_err(failed("lock", &path))?;
        let file = File::options().create(true).append(true).open(&path).map_err(failed("lock", &path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            // A file system without locks: at worst, two commands submit the same tasks.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(file)),
        }
    }

    fn queue(&self, user: Option<&str>) -> Result<Result<Vec<Task>, String>, SlurmError> {
        for command in ["sbatch", "squeue", "scancel"] {
            if !commands::is_installed(command) {
                return Err(SlurmError::NoCommand { command });
            }
        }
        commands::queue(&self.name, user)
    }

    /// Submits tasks as an array job and returns its number.
    fn submit(&self, numbers: &[usize], tasks: usize) -> Result<u64, SlurmError> {
        let name = format!("{}-{tasks}", self.name);
        let path = self.folder.join(format!("{name}.sh"));
        let text = script::script(&self.program, &self.arguments, tasks, &self.directory, &path);
        write_file(&path, text).map_err(failed("write", &path))?;
        let mut arguments: Vec<OsString> =
            ["--parsable", "--job-name", &name, "--array", &indices(numbers)].map(OsString::from).into();
        arguments.extend(["--output".into(), script::log_pattern(&self.folder)]);
        arguments.extend(["--chdir".into(), self.directory.clone().into_os_string()]);
        arguments.push(format!("--cpus-per-task={}", self.options.threads.max(1)).into());
        arguments.extend(self.options.options.iter().map(OsString::from));
        arguments.push(path.into_os_string());
        commands::submit(&arguments)
    }

    fn interrupted(&self, (done, total): (usize, usize), own: &[u64], live: Vec<u64>) -> SlurmError {
        let (own, others): (Vec<u64>, Vec<u64>) = live.into_iter().partition(|job| own.contains(job));
        let (cancelled, kept) = if commands::cancel(&own) { (own, Vec::new()) } else { (Vec::new(), own) };
        SlurmError::Interrupted { done, total, cancelled, left: [others, kept].concat() }
    }
}
