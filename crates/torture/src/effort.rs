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
    /// Where its processor time is, and that time at the start; `None` where there is no such file.
    counted: Option<(Counter, Duration)>,
}

impl Effort {
    fn counted_in(counter: Counter) -> Effort {
        let counted = counter.read().map(|used| (counter, used));
        Effort { start: Instant::now(), counted }
    }

    /// Of the thread that calls this, without processes that it starts.
    #[must_use]
    pub fn of_this_thread() -> Effort {
        let thread = std::fs::read_link("/proc/thread-self").unwrap_or_default();
        // The times of children in this file are those of the children of all threads.
        Effort::counted_in(Counter { file: PathBuf::from("/proc").join(thread).join("stat"), with_children: false })
    }

    /// Of a process that was just started, all its threads and the processes that it has waited for included.
    #[must_use]
    pub fn of(child: &Child) -> Effort {
        Effort::counted_in(Counter { file: PathBuf::from(format!("/proc/{}/stat", child.id())), with_children: true })
    }

    /// Processor time used; `None` where it is unknown, zero after the end.
    fn used(&self) -> Option<Duration> {
        let (counter, before) = self.counted.as_ref()?;
        Some(counter.read().map(|now| now.saturating_sub(*before)).unwrap_or_default())
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
        // An end is not an excess, and whoever waits for it notices it.
        self.used().unwrap_or_else(|| self.elapsed()) > limit || self.elapsed() > limit * WAITING
    }
}

/// A file of processor times.
#[derive(Clone, Debug)]
struct Counter {
    file: PathBuf,
    /// Whether to add the times of children that have ended and were waited for.
    with_children: bool,
}

impl Counter {
    /// User and system time.
    fn read(&self) -> Option<Duration> {
        let text = std::fs::read_to_string(&self.file).ok()?;
        // The second field is a name in parentheses, which may contain anything.
        let (_, fields) = text.rsplit_once(')')?;
        let ticks: Vec<u32> =
            fields.split_whitespace().skip(11).take(4).map_while(|field| field.parse().ok()).collect();
        let [user, system, children @ ..] = &ticks[..] else { return None };
        let children: u32 = children.iter().filter(|_| self.with_children).sum();
        Some(TICK * (user + system + children))
    }
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

    #[test]
    fn processes_of_other_threads_are_no_work_of_this_one() {
        let effort = Effort::of_this_thread();
        let busy = "n=0; while [ $n -lt 200000 ]; do n=$((n + 1)); done";
        let started = || std::process::Command::new("sh").args(["-c", busy]).spawn().unwrap();
        let ended = std::thread::spawn(move || started().wait().unwrap()).join().unwrap();
        assert!(ended.success());
        let all = Counter { with_children: true, ..effort.counted.clone().unwrap().0 };
        assert!(all.read().unwrap() >= effort.used().unwrap() + 5 * TICK, "the process has worked");
        assert!(effort.used().unwrap() <= 2 * TICK, "and this thread has not: {:?}", effort.used());
    }
}
