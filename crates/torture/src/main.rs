//! `cargo xtask torture`: all kinds of attacks side by side, for as long as one likes.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // It prints, and it has a clock.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use torture::kind::{KINDS, Kind, Setting, Tally, attack};
use torture::program::Program;

const HELP: &str = "\
usage: cargo xtask torture [--minutes N] [--seed S] [--jobs J] [--only KIND] [--attack N]

  --minutes N    how long [default: 10]
  --seed S       names every random choice [default: 1]
  --jobs J       attacks at a time [default: the cores of this machine]
  --only KIND    scenarios, commands, mutations, kills, corruption or places [default: all of them]
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
    until: Instant,
    only_one: bool,
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
        let start = Instant::now();
        let result = attack(kind, &self.setting, number, &mut tally);
        tally.count("milliseconds", start.elapsed().as_millis() as u64);
        if let Err((what, kept)) = result {
            let line = format!(
                "{} {number}: {what}\n  kept in {}\n  repeat: cargo xtask torture --only {} --seed {} --attack {number}",
                kind.name(),
                kept.display(),
                kind.name(),
                self.setting.seed
            );
            eprintln!("FOUND {line}");
            self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(line);
        }
        self.tallies.lock().unwrap_or_else(std::sync::PoisonError::into_inner).entry(kind).or_default().add(&tally);
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
    let shared = Shared {
        setting: Setting { seed: arguments.seed, scratch: scratch.clone(), program: Program(program), project },
        next: kinds.iter().map(|_| AtomicU64::new(first)).collect(),
        spent: kinds.iter().map(|_| AtomicU64::new(0)).collect(),
        kinds,
        tallies: Mutex::default(),
        found: Mutex::default(),
        until: start + Duration::from_secs_f64(60.0 * arguments.minutes.max(0.0)),
        only_one: arguments.attack.is_some(),
    };
    // A panic is caught and reported as what was found; its own words would stand between the others.
    std::panic::set_hook(Box::new(|_| {}));
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
        }
    });
    summary(&shared, start)
}

fn progress(shared: &Shared, start: Instant) {
    let left = shared.until.saturating_duration_since(Instant::now());
    let tallies = shared.tallies.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let count =
        |(kind, tally): (&Kind, &Tally)| format!("{} {}", tally.counts.get("attempts").unwrap_or(&0), kind.name());
    let counts: Vec<String> = tallies.iter().map(count).collect();
    let found = shared.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).len();
    eprintln!(
        "{:.0} s, {:.0} s left: {}; {found} found",
        start.elapsed().as_secs_f64(),
        left.as_secs_f64(),
        counts.join(", ")
    );
}

fn summary(shared: &Shared, start: Instant) -> ExitCode {
    let tallies = shared.tallies.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    println!("seed {}, {:.0} s", shared.setting.seed, start.elapsed().as_secs_f64());
    let mut all = Tally::default();
    for (kind, tally) in tallies.iter() {
        let counts: Vec<String> = tally.counts.iter().map(|(what, number)| format!("{what} {number}")).collect();
        println!("{}: {}", kind.name(), counts.join(", "));
        all.add(tally);
    }
    let (met, targets, missing) = all.coverage.summary();
    if tallies.contains_key(&Kind::Scenarios) || tallies.contains_key(&Kind::Commands) {
        println!("coverage: {met} of {targets} keys and values of choices ran");
        if missing.len() <= 40 && !missing.is_empty() {
            println!("not met: {}", missing.join("; "));
        }
    }
    let found = shared.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if found.is_empty() {
        let _ = std::fs::remove_dir_all(&shared.setting.scratch);
        println!("nothing found");
        return ExitCode::SUCCESS;
    }
    println!("{} found:", found.len());
    found.iter().for_each(|line| println!("{line}"));
    ExitCode::FAILURE
}
