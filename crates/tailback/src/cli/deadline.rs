//! `--time-limit`: the clock on the wall, from the start of a command on; and what an interrupt does before a run begins.
//!
//! Until a run begins nothing is on the disk, so the program simply ends. A run is told to stop, and what it has recorded
//! is kept. While a command sets up it says every few seconds what it does.

use super::exit::Exit;
use super::{INTERRUPT, console};
use scenario::StageObserver;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Set when a run is told to stop because the time is up.
pub static TIME_UP: AtomicBool = AtomicBool::new(false);

static PHASE: Mutex<Phase> = Mutex::new(Phase::Running);

/// What is done in setting up; empty if nobody knows.
static DOING: Mutex<&'static str> = Mutex::new("");

static QUIET: AtomicBool = AtomicBool::new(false);

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It reads, computes and builds; it has written nothing.
    SetUp,
    /// It looks at [`INTERRUPT`] itself.
    Running,
}

fn phase() -> MutexGuard<'static, Phase> {
    PHASE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A command begins that may take long before it runs anything, with as many seconds as it may take.
pub fn start(seconds: Option<f64>) -> Result<(), Exit> {
    let limit = match seconds.map(Duration::try_from_secs_f64) {
        None => None,
        Some(Ok(limit)) => Some(limit),
        Some(Err(_)) => {
            console::error("--time-limit: give a number of seconds, 0 or more");
            return Err(Exit::BadInput);
        }
    };
    *phase() = Phase::SetUp;
    std::thread::spawn(|| show(Instant::now()));
    if limit == Some(Duration::ZERO) {
        end(Duration::ZERO);
    }
    if let Some(limit) = limit {
        std::thread::spawn(move || {
            std::thread::sleep(limit);
            // Held to the end of the program: no run begins meanwhile.
            let phase = phase();
            if *phase == Phase::SetUp {
                end(limit);
            }
            if !INTERRUPT.load(Ordering::Relaxed) {
                TIME_UP.store(true, Ordering::Relaxed);
                INTERRUPT.store(true, Ordering::Relaxed);
            }
        });
    }
    Ok(())
}

/// Says what is being set up, every few seconds until a run begins.
fn show(start: Instant) {
    let mut next = console::LINES_APART;
    loop {
        std::thread::sleep(Duration::from_millis(500));
        // Held while it is said: no run begins meanwhile, and nothing of it is said before.
        let phase = phase();
        if *phase != Phase::SetUp {
            return;
        }
        let what = *DOING.lock().unwrap_or_else(PoisonError::into_inner);
        if start.elapsed() >= next && !what.is_empty() && !QUIET.load(Ordering::Relaxed) {
            console::note(&format!("{what}, {:.0} s so far", start.elapsed().as_secs_f64()));
            next = start.elapsed() + console::LINES_APART;
        }
    }
}

/// Something else is being set up; empty if that is not known.
pub fn doing(what: &'static str) {
    *DOING.lock().unwrap_or_else(PoisonError::into_inner) = what;
}

/// Who is notified of the stages of a scenario, to show them.
pub fn observer() -> StageObserver {
    StageObserver::new(|stage| doing(stage.words()))
}

/// Nothing is said about setting up.
pub fn keep_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// A real agent or bridge has a duration of its own.
pub fn not_live(seconds: Option<f64>) -> Result<(), Exit> {
    if seconds.is_none() {
        return Ok(());
    }
    console::error("--time-limit limits simulations\n  use --seconds with --interface");
    Err(Exit::BadInput)
}

/// Ends the program before it has done anything.
fn end(limit: Duration) -> ! {
    let what = *DOING.lock().unwrap_or_else(PoisonError::into_inner);
    let what = if what.is_empty() { String::new() } else { format!(", while {what}") };
    console::error(&format!(
        "the time limit of {} s was reached before anything was written{what}\n  allow more time, or reduce the network or its \
         workloads",
        limit.as_secs_f64()
    ));
    std::process::exit(i32::from(Exit::Limit.code()))
}

/// A run begins, or what has been found is printed: from now on the program does not end in the middle.
pub fn running() {
    *phase() = Phase::Running;
}

/// Whether the time is up.
pub fn is_up() -> bool {
    TIME_UP.load(Ordering::Relaxed)
}

/// How a command ends that was told to stop: by the clock or by a person.
pub fn stopped() -> Exit {
    if is_up() { Exit::Limit } else { Exit::Interrupted }
}

/// Whether an interrupt may end the program at once.
pub fn is_setting_up() -> bool {
    *phase() == Phase::SetUp
}
