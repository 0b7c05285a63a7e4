//! How long something has taken, by the processor time that it used.
//!
//! On a loaded machine the wall clock measures the others: a process that gets a tenth of a core does not hang. Only
//! something that neither works nor ends is judged by the wall clock, after ten times its limit.

use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

/// How much longer something may wait than it may work.
const WAITING: u32 = 10;

/// The unit of processor times in `/proc`: USER_HZ, 100 per second for every program (proc_pid_stat(5), time(7)).
const TICK: Duration = Duration::from_millis(10);

/// The time that a process or a thread has taken since this was made.
#[derive(Clone, Debug)]
pub struct Effort {
    start: Instant,
    /// The file that has its processor time, and that time at the start; `None` where there is no such file.
    counted: Option<(PathBuf, Duration)>,
}

impl Effort {
    fn counted_in(file: PathBuf) -> Effort {
        let counted = processor_time(&file).map(|used| (file, used));
        Effort { start: Instant::now(), counted }
    }

    /// Of the thread that calls this.
    #[must_use]
    pub fn of_this_thread() -> Effort {
        let thread = std::fs::read_link("/proc/thread-self").unwrap_or_default();
        Effort::counted_in(PathBuf::from("/proc").join(thread).join("stat"))
    }

    /// Of a process that was just started, all its threads included.
    #[must_use]
    pub fn of(child: &Child) -> Effort {
        Effort::counted_in(PathBuf::from(format!("/proc/{}/stat", child.id())))
    }

    /// Wall-clock time.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Whether it has worked for longer than the limit, or waited for ten times as long. Where processor times are unknown,
    /// waiting counts as working.
    #[must_use]
    pub fn exceeds(&self, limit: Duration) -> bool {
        let used =
            self.counted.as_ref().map(|(file, before)| processor_time(file).map(|now| now.saturating_sub(*before)));
        let worked = match used {
            // An end is not an excess, and whoever waits for it notices it.
            Some(used) => used.unwrap_or_default(),
            None => self.elapsed(),
        };
        worked > limit || self.elapsed() > limit * WAITING
    }
}

/// User and system time, those of children that have ended included.
fn processor_time(file: &std::path::Path) -> Option<Duration> {
    let text = std::fs::read_to_string(file).ok()?;
    // The second field is a name in parentheses, which may contain anything.
    let (_, fields) = text.rsplit_once(')')?;
    let ticks: Vec<u32> = fields.split_whitespace().skip(11).take(4).map_while(|field| field.parse().ok()).collect();
    (ticks.len() == 4).then(|| TICK * ticks.iter().sum())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::program::Program;
    use std::os::unix::fs::PermissionsExt;

    /// Whether a script is taken for one that hangs, with a limit of 300 ms.
    fn hangs(name: &str, script: &str) -> bool {
        let folder =
            crate::Scratch::new(&std::env::temp_dir(), &format!("tailback-effort-{}-{name}", std::process::id()));
        let path = folder.path().join("program");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = Program { path, until: None };
        program.run(folder.path(), &[], Duration::from_millis(300)).unwrap().slow
    }

    #[test]
    fn work_without_end_hangs_and_waiting_only_if_it_is_long() {
        assert!(hangs("works", "while :; do :; done"));
        assert!(hangs("waits", "exec sleep 1000"));
        // A process that a loaded machine leaves no processor looks like this one.
        assert!(!hangs("waits-a-little", "exec sleep 1"));
    }

    #[test]
    fn a_thread_is_judged_by_its_own_work() {
        let effort = Effort::of_this_thread();
        std::thread::sleep(Duration::from_millis(60));
        assert!(!effort.exceeds(Duration::from_millis(30)));
        while !effort.exceeds(Duration::from_millis(30)) {
            std::hint::black_box(0);
        }
    }
}
