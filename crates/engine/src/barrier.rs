//! A barrier that spins before it yields: windows are often a few microseconds of work.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How long to spin before giving the core away; a machine with fewer cores than threads must not starve.
const SPINS: u32 = 2_000;

/// A number that has a cache line to itself: those who wait for one must not slow those who change the other.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart(AtomicUsize);

/// Lets `parties` threads meet again and again.
#[derive(Debug)]
pub(crate) struct Barrier {
    parties: usize,
    arrived: Apart,
    generation: Apart,
    broken: AtomicBool,
}

impl Barrier {
    pub(crate) fn new(parties: usize) -> Barrier {
        Barrier { parties, arrived: Apart::default(), generation: Apart::default(), broken: AtomicBool::new(false) }
    }

    /// Waits for the others. What each thread wrote before is visible to all after. Panics, rather than waiting
    /// for ever, when one of the others has panicked.
    pub(crate) fn wait(&self) {
        if self.parties == 1 {
            return;
        }
        let generation = self.generation.0.load(Ordering::Acquire);
        if self.arrived.0.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            self.arrived.0.store(0, Ordering::Relaxed);
            self.generation.0.store(generation.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.generation.0.load(Ordering::Acquire) == generation {
            assert!(!self.broken.load(Ordering::Relaxed), "another thread of this run panicked");
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// Breaks the barrier if the thread that holds the returned guard panics.
    pub(crate) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }
}

/// See [`Barrier::guard`].
pub(crate) struct Guard<'a>(&'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}
