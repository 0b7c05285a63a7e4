//! Stages of a flow: its source, and the outputs and receivers at which its frames wait.
//!
//! Each stage knows the causes of all time from the start of the flow up to now along the chain of waits that led to its
//! present state. While frames of the flow follow each other at a stage without a pause, what the stage does is the chain.
//! When a frame comes to a stage at which there is none of its flow, the chain is that of the stage before up to the start
//! of this frame there, and its way. So the chain that ends with the completion of the flow is its critical path: an
//! earlier wait of frames before the last one counts, and the last one's wait behind them does not count twice.

use super::ledger::{Cause, Key, Ledger, NONE};
use std::collections::VecDeque;

/// The time of a flow up to now along one chain of waits.
#[derive(Debug, Default)]
struct Period {
    ledger: Ledger,
    /// What was added since the start of the oldest frame on its way from here: from when, why, and how long.
    journal: VecDeque<(u64, Key, u64)>,
    /// Frames on their way that started in this period.
    flights: VecDeque<u64>,
}

impl Period {
    fn add(&mut self, from: u64, key: Key, span: u64) {
        self.ledger.add(key, span);
        if !self.flights.is_empty() && span > 0 {
            self.journal.push_back((from, key, span));
        }
    }

    /// The ledger as it was at an instant after the start of the oldest frame on its way.
    fn at(&self, time: u64, into: &mut Ledger) {
        into.clone_from(&self.ledger);
        for &(from, key, span) in self.journal.iter().rev() {
            let beyond = (from + span).saturating_sub(time).min(span);
            into.take_back(key, beyond);
        }
    }

    /// The oldest frame on its way has arrived, or is lost.
    fn forget_flight(&mut self) {
        self.flights.pop_front();
        match self.flights.front() {
            None => self.journal.clear(),
            Some(&oldest) => {
                while self.journal.front().is_some_and(|&(from, _, span)| from + span <= oldest) {
                    self.journal.pop_front();
                }
            }
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Stage {
    /// The output; or, of a slow receiver, the port by which frames arrive.
    pub(super) port: u32,
    /// Frames that wait.
    pub(super) waiting: u32,
    /// Its frames are on the wire until then, and charged up to then.
    pub(super) free: u64,
    /// What its frame on the wire is charged to.
    pub(super) sends: Cause,
    period: Period,
    /// Earlier ones, of which frames are on their way.
    past: VecDeque<Period>,
}

impl Stage {
    pub(super) fn new(port: u32) -> Stage {
        let (period, past) = Default::default();
        Stage { port, waiting: 0, free: 0, sends: Cause::Path, period, past }
    }

    /// Charges time that begins at `from`.
    pub(super) fn add(&mut self, from: u64, key: Key, span: u64) {
        self.period.add(from, key, span);
    }

    /// Whether frames of the flow follow each other here: one waits or is on the wire.
    pub(super) fn is_occupied(&self, now: u64) -> bool {
        self.waiting > 0 || self.free >= now && self.free > 0
    }

    /// A frame starts on the wire for `busy`; `tells` states whether its arrival will be known.
    pub(super) fn start(&mut self, now: u64, busy: u64, cause: Cause, tells: bool) {
        if tells {
            self.period.flights.push_back(now);
        }
        let (from, until) = (self.free.max(now), now + busy);
        self.sends = cause;
        self.period.add(from, Key::own(cause), until.saturating_sub(from));
        self.free = self.free.max(until);
    }

    /// The oldest frame on its way from here has arrived. Puts the chain up to now, with its way, into a ledger, if one is
    /// given.
    pub(super) fn arrive(&mut self, now: u64, into: Option<&mut Ledger>) {
        let period = self.past.front_mut().unwrap_or(&mut self.period);
        if let Some(into) = into {
            let start = period.flights.front().copied();
            match start {
                Some(start) => {
                    period.at(start, into);
                    into.add(Key::own(Cause::Path), now.saturating_sub(start));
                }
                // Nothing is known of it: all that is known is the whole.
                None => {
                    into.clone_from(&period.ledger);
                    let ahead = self.free.saturating_sub(now);
                    into.take_back(Key::own(self.sends), ahead);
                }
            }
        }
        period.forget_flight();
        if period.flights.is_empty() && !self.past.is_empty() {
            self.past.pop_front();
        }
    }

    /// A frame has come to a stage at which there was none of its flow.
    pub(super) fn begin(&mut self, ledger: Ledger) {
        let before = std::mem::replace(&mut self.period, Period { ledger, ..Period::default() });
        if !before.flights.is_empty() {
            self.past.push_back(before);
        }
    }

    /// When the oldest frame on its way started.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.past.front().unwrap_or(&self.period).flights.front().copied()
    }

    /// The chain so far does not count any more.
    pub(super) fn restart(&mut self, now: u64) {
        self.period.ledger.clear();
        self.period.journal.clear();
        let rest = self.free.saturating_sub(now);
        self.period.ledger.add(Key::own(self.sends), rest);
    }

    /// The chain up to now of a stage that is charged up to now or to the end of the frame on the wire.
    pub(super) fn chain(&self, now: u64) -> Ledger {
        let mut ledger = self.period.ledger.clone();
        ledger.take_back(Key::own(self.sends), self.free.saturating_sub(now));
        ledger
    }

    /// The chain up to now, which is charged up to now or to the end of the frame on the wire.
    pub(super) fn close(&mut self, now: u64) -> Ledger {
        let mut ledger = std::mem::take(&mut self.period.ledger);
        ledger.take_back(Key::own(self.sends), self.free.saturating_sub(now));
        ledger
    }
}

/// The cause of time in the buffer of a slow receiver.
pub(super) const fn received(port: u32) -> Key {
    Key::at(Cause::Receiver, port, NONE)
}
