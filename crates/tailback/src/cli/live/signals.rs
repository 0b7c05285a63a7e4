//! Whatever asks a program to end: SIGINT, SIGTERM and SIGHUP.

use crate::cli::exit::Exit;
use crate::cli::{INTERRUPT, console};
use nix::sys::signal::{SigSet, Signal};
use std::sync::atomic::Ordering;

/// From now on the first of these signals sets [`INTERRUPT`], and the second ends the program at once. To be called before
/// any other thread is there, since a thread that does not block a signal dies of it. A SIGHUP that whoever started the
/// program had ignored, as nohup does, stays ignored.
pub fn heed() {
    let mut signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    if !is_ignored(Signal::SIGHUP) {
        signals.add(Signal::SIGHUP);
    }
    // Where it cannot be, a signal ends the program as it ends any other.
    if signals.thread_block().is_err() {
        return;
    }
    std::thread::spawn(move || {
        while signals.wait().is_ok() {
            if INTERRUPT.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
            console::note("\ninterrupted: sending shutdown frames (interrupt again to stop at once)");
        }
    });
}

/// Whether a signal is ignored, as the system says of this process.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or_default();
    u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask >> (signal as i32 - 1) & 1 == 1)
}
