//! `--slurm`: shows how a study proceeds on a cluster.

use super::arguments::Slurm;
use super::console::{self, CountProgress};
use super::exit::Exit;
use super::{INTERRUPT, deadline};
use std::ffi::OsString;
use std::path::Path;
use study::Grid;
use study::slurm::{
    SlurmEnd, SlurmError, SlurmEvent, SlurmOptions, SlurmStudy, Submission, ending_in_words, in_words, jobs_in_words,
};

/// An option and its value as one word.
pub fn joined(option: &str, value: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(value);
    word
}

/// Has the runs of grids made on a cluster and waits for them. The words are the arguments of a task, without its part.
/// The exit is that of the command: all is said.
pub fn wait(
    arguments: &Slurm,
    threads: Option<usize>,
    words: Vec<OsString>,
    grids: &[&Grid],
    out: &Path,
) -> Result<(), Exit> {
    let options = SlurmOptions {
        tasks: arguments.slurm_tasks.map(|tasks| tasks as usize),
        threads: threads.unwrap_or(1),
        options: arguments.slurm_option.clone(),
        repeats: arguments.slurm_repeats,
        detach: arguments.slurm_detach,
    };
    let study = SlurmStudy::new(words, out, options).map_err(|error| say(&error))?;
    let total = grids.iter().map(|grid| grid.total()).sum();
    let progress = CountProgress::new(total, "runs");
    let ended = study.run(grids, &INTERRUPT, |event| show(&event, &progress));
    progress.end();
    match ended {
        Ok(SlurmEnd::Finished) => Ok(()),
        Ok(SlurmEnd::Detached(jobs)) => {
            let (jobs, are) = (jobs_in_words(&jobs), if jobs.len() == 1 { "is" } else { "are" });
            console::note(&format!(
                "{jobs} {are} in the queue; the same command without --slurm-detach gathers the results"
            ));
            Err(Exit::Success)
        }
        Err(error) => Err(say(&error)),
    }
}

fn show(event: &SlurmEvent, progress: &CountProgress) {
    match event {
        SlurmEvent::Found { jobs } => {
            let are = if jobs.len() == 1 { "is" } else { "are" };
            progress.note(&format!("{} {are} already in the queue and not submitted again", jobs_in_words(jobs)));
        }
        SlurmEvent::Submitted { job, tasks } => {
            for Submission { after, repeats, .. } in tasks {
                if let Some(after) = after {
                    progress.note(&format!("{}; submitted again (repetition {repeats})", ending_in_words(after)));
                }
            }
            let count = if tasks.len() == 1 { "1 task".to_owned() } else { format!("{} tasks", tasks.len()) };
            progress.note(&format!("submitted job {job}: {count}"));
        }
        SlurmEvent::Progress { done, total, queue } => progress.see_others(*done, *total, &in_words(queue.iter())),
        SlurmEvent::NoQueue(said) => progress.note(&format!("the queue of Slurm cannot be read: {said}; trying again")),
    }
}

/// Says why a study on a cluster did not finish.
fn say(error: &SlurmError) -> Exit {
    if matches!(error, SlurmError::Interrupted { .. }) {
        console::note(&error.to_string());
        return deadline::stopped();
    }
    console::error(&error.to_string());
    match error {
        SlurmError::NoCommand { .. } | SlurmError::Option(_) => Exit::BadInput,
        SlurmError::Io { source, .. } => Exit::of_io(source),
        _ => Exit::Failure,
    }
}
