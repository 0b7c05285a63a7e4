//! `cargo xtask torture`: all kinds of attacks side by side, for as long as one likes.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // It prints, and it has a clock.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use torture::effort::Effort;
use torture::kind::{KINDS, Kind, Setting, Tally, attack};
use torture::program::Program;

/// How long attacks within this process may go on after the limit; the program's own processes are ended at the limit.
const GRACE: Duration = Duration::from_secs(10);
/// An attack within this process that is cut off after so long is a finding; the slowest sound ones take half.
const HANGS: Duration = Duration::from_secs(120);
/// An attack that takes longer is named in the progress.
const LONG: Duration = Duration::from_secs(20);

const HELP: &str = "\
usage: cargo xtask torture [--minutes N] [--seed S] [--jobs J] [--only KIND] [--attack N]

  --minutes N    how long [default: 10]; attacks that are not done 10 s after that are cut off
  --seed S       names every random choice [default: 1]
  --jobs J       attacks at a time [default: the cores of this machine]
  --only KIND    scenarios, commands, mutations, kills, corruption, places, saved or served [default: all]
  --attack N     only the attack of that number, as a finding says it
  coverage       instead of attacks, the keys that no random scenario has in it
  --from N       the number of the first attack of each kind [default: 0]
";

struct Arguments {
    minutes: f64,
    seed: u64,
    jobs: usize,
    only: Option<Kind>,
    attack: Option<u64>,
    from: u64,
    program: PathBuf,
}

fn arguments() -> Result<Arguments, String> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let program = PathBuf::from(std::env::var_os("TAILBACK").unwrap_or_else(|| "target/release/tailback".into()));
    let mut found = Arguments { minutes: 10.0, seed: 1, jobs: cores, only: None, attack: None, from: 0, program };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} takes a value\n\n{HELP}"))?;
        let wrong = |_| format!("{word} {value}: give a number\n\n{HELP}");
        let wrong_number = |_| format!("{word} {value}: give a whole number\n\n{HELP}");
        match word.as_str() {
            "--minutes" => found.minutes = value.parse().map_err(wrong)?,
            "--seed" => found.seed = value.parse().map_err(wrong_number)?,
            "--jobs" => found.jobs = value.parse::<usize>().map_err(wrong_number)?.max(1),
            "--attack" => found.attack = Some(value.parse().map_err(wrong_number)?),
            "--from" => found.from = value.parse().map_err(wrong_number)?,
            "--only" => {
                let kind = KINDS.into_iter().find(|kind| kind.name() == value);
                found.only = Some(kind.ok_or_else(|| format!("there is no kind {value}\n\n{HELP}"))?);
            }
            _ => return Err(format!("there is no {word}\n\n{HELP}")),
        }
    }
    Ok(found)
}

/// What all jobs share.
struct Shared {
    setting: Setting,
    kinds: Vec<Kind>,
    /// The next attack of each kind.
    next: Vec<AtomicU64>,
    /// Seconds spent on each kind, in microseconds: the kind that has had least is next.
    spent: Vec<AtomicU64>,
    tallies: Mutex<BTreeMap<Kind, Tally>>,
    found: Mutex<Vec<String>>,
    /// The longest attack of each kind: its time and number.
    longest: Mutex<BTreeMap<Kind, (Duration, u64)>>,
    /// Attacks under way, and the time that each has taken.
    under_way: Mutex<BTreeMap<(Kind, u64), Effort>>,
    until: Instant,
    only_one: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Shared {
    fn work(&self) {
        while Instant::now() < self.until {
            let least = (0..self.kinds.len()).min_by_key(|&it| self.spent[it].load(Ordering::Relaxed)).unwrap_or(0);
            let number = self.next[least].fetch_add(1, Ordering::Relaxed);
            // Counted before it is done, so that another job takes another kind.
            self.spent[least].fetch_add(1_000, Ordering::Relaxed);
            let start = Instant::now();
            self.one(self.kinds[least], number);
            self.spent[least].fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
            if self.only_one {
                return;
            }
        }
    }

    fn one(&self, kind: Kind, number: u64) {
        let mut tally = Tally::default();
        let effort = Effort::of_this_thread();
        locked(&self.under_way).insert((kind, number), effort.clone());
        let result = attack(kind, &self.setting, number, &mut tally);
        locked(&self.under_way).remove(&(kind, number));
        let took = effort.elapsed();
        tally.count("milliseconds", took.as_millis() as u64);
        locked(&self.longest)
            .entry(kind)
            .and_modify(|most| *most = (took, number).max(*most))
            .or_insert((took, number));
        if let Err((what, kept)) = result {
            self.report(kind, number, &format!("{what}\n  kept in {}", kept.display()));
        }
        locked(&self.tallies).entry(kind).or_default().add(&tally);
    }

    fn report(&self, kind: Kind, number: u64, what: &str) {
        let (name, seed) = (kind.name(), self.setting.seed);
        let line = format!(
            "{name} {number}: {what}\n  repeat: cargo xtask torture --only {name} --seed {seed} --attack {number}"
        );
        eprintln!("FOUND {line}");
        locked(&self.found).push(line);
    }

    /// Gives up attacks that are still under way.
    fn cut_off(&self) {
        for ((kind, number), effort) in std::mem::take(&mut *locked(&self.under_way)) {
            let mut tally = Tally::default();
            tally.count("attempts", 1);
            if !effort.exceeds(HANGS) {
                tally.count("cut off", 1);
            } else {
                tally.count("FOUND", 1);
                self.report(kind, number, &format!("still runs after {:.0} s", effort.elapsed().as_secs_f64()));
            }
            locked(&self.tallies).entry(kind).or_default().add(&tally);
        }
    }
}

/// Says which keys no random scenario has in it.
fn coverage(seed: u64) -> ExitCode {
    let unreached = torture::scenario::unreached(seed, 200);
    unreached.iter().for_each(|(name, last)| println!("{name}\n    {last}"));
    println!("{} of {} keys and values are in no scenario", unreached.len(), torture::scenario::targets().len());
    if unreached.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("coverage") {
        return coverage(7);
    }
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::from(2);
        }
    };
    let program = match arguments.program.canonicalize() {
        Ok(program) => program,
        Err(error) => {
            eprintln!("{}: {error}; 'cargo build --release -p tailback' makes it", arguments.program.display());
            return ExitCode::from(2);
        }
    };
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let scratch = base.join(format!("tailback-torture-{}", std::process::id()));
    let project = std::env::current_dir().unwrap_or_default();
    let kinds = arguments.only.map_or(KINDS.to_vec(), |kind| vec![kind]);
    let first = arguments.attack.unwrap_or(arguments.from);
    let start = Instant::now();
    let limit = Duration::try_from_secs_f64(60.0 * arguments.minutes.clamp(0.0, 1e6)).unwrap_or_default();
    let until = start + limit;
    let program = Program { path: program, until: Some(until) };
    let shared = Shared {
        setting: Setting { seed: arguments.seed, scratch, program, project },
        next: kinds.iter().map(|_| AtomicU64::new(first)).collect(),
        spent: kinds.iter().map(|_| AtomicU64::new(0)).collect(),
        kinds,
        tallies: Mutex::default(),
        found: Mutex::default(),
        longest: Mutex::default(),
        under_way: Mutex::default(),
        until,
        only_one: arguments.attack.is_some(),
    };
    torture::note_panics();
    let jobs = if shared.only_one { 1 } else { arguments.jobs };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(|| shared.work())).collect();
        let mut told = Instant::now();
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(200));
            if told.elapsed() > Duration::from_secs(20) {
                told = Instant::now();
                progress(&shared, start);
            }
            if Instant::now() > until + GRACE {
                shared.cut_off();
                // Threads cannot be ended; the process can.
                std::process::exit(i32::from(!summary(&shared, start)));
            }
        }
    });
    if summary(&shared, start) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn progress(shared: &Shared, start: Instant) {
    let left = shared.until.saturating_duration_since(Instant::now());
    let tallies = locked(&shared.tallies);
    let count =
        |(kind, tally): (&Kind, &Tally)| format!("{} {}", tally.counts.get("attempts").unwrap_or(&0), kind.name());
    let counts: Vec<String> = tallies.iter().map(count).collect();
    let found = locked(&shared.found).len();
    eprintln!(
        "{:.0} s, {:.0} s left: {}; {found} found",
        start.elapsed().as_secs_f64(),
        left.as_secs_f64(),
        counts.join(", ")
    );
    for ((kind, number), effort) in locked(&shared.under_way).iter().filter(|(_, effort)| effort.elapsed() > LONG) {
        eprintln!("  {} {number} has taken {:.0} s", kind.name(), effort.elapsed().as_secs_f64());
    }
}

/// Prints the counts and what was found; returns whether that is nothing.
fn summary(shared: &Shared, start: Instant) -> bool {
    let tallies = locked(&shared.tallies);
    println!("seed {}, {:.0} s", shared.setting.seed, start.elapsed().as_secs_f64());
    let mut all = Tally::default();
    for (kind, tally) in tallies.iter() {
        let counts: Vec<String> = tally.counts.iter().map(|(what, number)| format!("{what} {number}")).collect();
        let longest = locked(&shared.longest)
            .get(kind)
            .map(|(took, number)| format!("; longest {number}: {:.1} s", took.as_secs_f64()));
        println!("{}: {}{}", kind.name(), counts.join(", "), longest.unwrap_or_default());
        all.add(tally);
    }
    let (met, targets, missing) = all.coverage.summary();
    if tallies.contains_key(&Kind::Scenarios) || tallies.contains_key(&Kind::Commands) {
        println!("coverage: {met} of {targets} keys and values of choices ran");
        if missing.len() <= 40 && !missing.is_empty() {
            println!("not met: {}", missing.join("; "));
        }
    }
    let found = locked(&shared.found);
    if found.is_empty() {
        let _ = std::fs::remove_dir_all(&shared.setting.scratch);
        println!("nothing found");
        return true;
    }
    println!("{} found:", found.len());
    found.iter().for_each(|line| println!("{line}"));
    false
}
