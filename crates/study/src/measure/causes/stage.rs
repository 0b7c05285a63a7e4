//! Stages of a flow: its source, and the outputs and receivers at which its frames wait.
//!
//! Each stage knows the causes of all time from the start of the flow up to now along the chain of waits that led to its
//! present state. While frames of the flow follow each other at a stage without a pause, what the stage does is the chain.
//! When a frame comes to a stage at which there is none of its flow, the chain is that of the stage before up to the start
//! of this frame there, and its way. So the chain that ends with the completion of the flow is its critical path: an
//! earlier wait of frames before the last one counts, and the last one's wait behind them does not count twice.

use super::chain::Chain;
use super::ledger::{Cause, Key, NONE};
use std::collections::VecDeque;

/// A frame on its way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    start: u64,
    /// For how long it is on the wire, and the cause of that.
    busy: u64,
    cause: Cause,
}

/// The time of a flow up to now along one chain of waits.
#[derive(Debug)]
struct Period {
    chain: Chain,
    /// What was added since the start of the oldest frame on its way from here, or since `mark`, and all of it that lies ahead:
    /// from when, why, and how long.
    journal: VecDeque<(u64, Key, u64)>,
    /// Frames on their way that started in this period.
    flights: VecDeque<Flight>,
    /// Since when the cause of a wait may turn out to be another.
    mark: Option<u64>,
}

impl Period {
    fn new(chain: Chain) -> Period {
        Period { chain, journal: VecDeque::new(), flights: VecDeque::new(), mark: None }
    }

    fn add(&mut self, from: u64, key: Key, span: u64) {
        self.chain.add(from, key, span);
        if (!self.flights.is_empty() || self.mark.is_some()) && span > 0 {
            self.journal.push_back((from, key, span));
        }
    }

    /// The chain as it was at an instant after the start of the oldest frame on its way.
    fn at(&self, time: u64) -> Chain {
        let mut chain = self.chain.clone();
        chain.cut(time, self.journal.iter().rev().take_while(|(from, _, span)| from + span > time).copied());
        chain
    }

    /// Adds the time of a frame on a wire that starts now.
    fn add_ahead(&mut self, now: u64, from: u64, key: Key, span: u64) {
        self.shorten(now);
        self.chain.add(from, key, span);
        self.journal.push_back((from, key, span));
    }

    /// The oldest frame on its way has arrived, or is lost.
    fn forget_flight(&mut self, now: u64) {
        self.flights.pop_front();
        self.shorten(now);
    }

    /// Forgets the part of the journal that nobody will ask for. A frame may start while another is on the wire of another
    /// link of its host, even if that one has begun to arrive at a switch that cuts through: what lies ahead is kept.
    fn shorten(&mut self, now: u64) {
        let oldest = self.flights.front().map(|flight| flight.start).into_iter().chain(self.mark).fold(now, u64::min);
        while self.journal.front().is_some_and(|&(from, _, span)| from + span <= oldest) {
            self.journal.pop_front();
        }
    }

    /// Charges the time since the mark that had one cause to another.
    fn recharge(&mut self, cause: Cause, key: Key) {
        let Some(mark) = self.mark else { return };
        let first = self.journal.partition_point(|&(from, _, span)| from + span <= mark);
        self.chain.cut(mark, self.journal.range(first..).rev().copied());
        for (from, of, span) in self.journal.range_mut(first..) {
            if of.cause == cause {
                *of = key;
            }
            self.chain.add(*from, *of, *span);
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Stage {
    /// The output; or, of a slow receiver, the port by which frames arrive.
    pub(super) port: u32,
    /// Frames that wait, and the cause of their time on the wire: it is that of retransmissions, if they were sent before.
    waiting: VecDeque<Cause>,
    /// What is charged of its frames on the wire: until when, and to what, in order of time. It is charged up to the last.
    /// A host with several links may send several frames at once.
    wires: VecDeque<(u64, Cause)>,
    period: Period,
    /// Earlier ones, of which frames are on their way.
    past: VecDeque<Period>,
}

impl Stage {
    /// A stage at which a chain is.
    pub(super) fn new(port: u32, chain: Chain) -> Stage {
        Stage {
            port,
            waiting: VecDeque::new(),
            wires: VecDeque::new(),
            period: Period::new(chain),
            past: VecDeque::new(),
        }
    }

    /// Its frames are on the wire until then, and charged up to then.
    pub(super) fn free(&self) -> u64 {
        self.wires.back().map_or(0, |&(until, _)| until)
    }

    /// Frames begin to wait at a receiver, which has no wire, or are charged up to now there.
    pub(super) fn wait_from(&mut self, now: u64) {
        self.wires.clear();
        self.wires.push_back((now, Cause::Receiver));
    }

    /// Charges time that begins at `from`.
    pub(super) fn add(&mut self, from: u64, key: Key, span: u64) {
        self.period.add(from, key, span);
    }

    /// Whether frames of the flow follow each other here: one waits or is on the wire.
    pub(super) fn is_occupied(&self, now: u64) -> bool {
        self.waits() || self.wires.back().is_some_and(|&(until, _)| until >= now)
    }

    /// Whether frames wait.
    pub(super) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A frame begins to wait.
    pub(super) fn join(&mut self, cause: Cause) {
        self.waiting.push_back(cause);
    }

    /// The first frame no longer waits. Returns the cause of its time on the wire, if there is one.
    pub(super) fn leave(&mut self) -> Option<Cause> {
        self.waiting.pop_front()
    }

    /// From now on the cause of waits may turn out to be another.
    pub(super) fn mark(&mut self, now: u64) {
        self.period.mark = Some(now.max(self.free()));
    }

    /// It is known.
    pub(super) fn unmark(&mut self, now: u64) {
        if self.period.mark.take().is_some() {
            self.period.shorten(now);
        }
    }

    /// Charges the time since the mark that had one cause to another.
    pub(super) fn recharge(&mut self, cause: Cause, key: Key) {
        self.period.recharge(cause, key);
    }

    /// A frame starts on the wire for `busy`; `tells` states whether its arrival will be known.
    pub(super) fn start(&mut self, now: u64, busy: u64, cause: Cause, tells: bool) {
        if tells {
            self.period.flights.push_back(Flight { start: now, busy, cause });
        }
        let (from, until) = (self.free().max(now), now + busy);
        while self.wires.front().is_some_and(|&(until, _)| until <= now) {
            self.wires.pop_front();
        }
        if until > from {
            self.period.add_ahead(now, from, Key::own(cause), until - from);
            self.wires.push_back((until, cause));
        }
    }

    /// What is charged beyond now: from when, why, and how long.
    fn ahead(&self, now: u64) -> impl Iterator<Item = (u64, Key, u64)> + '_ {
        let mut from = now;
        self.wires.iter().filter(move |&&(until, _)| until > now).map(move |&(until, cause)| {
            let begin = std::mem::replace(&mut from, until);
            (begin, Key::own(cause), until - begin)
        })
    }

    /// The oldest frame on its way from here has arrived. Returns the chain up to now, with its way, if it is `wanted`, and
    /// the cause of its time on a wire.
    pub(super) fn arrive(&mut self, now: u64, wanted: bool) -> (Option<Chain>, Cause) {
        let oldest = self.past.front().unwrap_or(&self.period).flights.front().copied();
        debug_assert!(oldest.is_some() || !wanted, "a frame arrives at {now} that did not start at {}", self.port);
        let period = self.past.front_mut().unwrap_or(&mut self.period);
        let chain = oldest.filter(|_| wanted).map(|Flight { start, busy, cause }| {
            let mut chain = period.at(start);
            let way = now.saturating_sub(start);
            let wire = busy.min(way);
            chain.add(start, Key::own(cause), wire);
            chain.add(start + wire, Key::own(Cause::Path), way - wire);
            chain
        });
        period.forget_flight(now);
        if period.flights.is_empty() && !self.past.is_empty() {
            self.past.pop_front();
        }
        (chain, oldest.map_or(Cause::Path, |flight| flight.cause))
    }

    /// A frame has come to a stage at which there was none of its flow.
    pub(super) fn begin(&mut self, chain: Chain) {
        let before = std::mem::replace(&mut self.period, Period::new(chain));
        if !before.flights.is_empty() {
            self.past.push_back(before);
        }
    }

    /// When the oldest frame on its way started.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.past.front().unwrap_or(&self.period).flights.front().map(|flight| flight.start)
    }

    /// The chain so far does not count any more: an empty one begins now.
    pub(super) fn restart(&mut self, now: u64, mut chain: Chain) {
        self.period.journal.clear();
        if self.period.mark.is_some() {
            self.mark(now);
        }
        self.ahead(now).for_each(|(from, key, span)| chain.add(from, key, span));
        self.period.chain = chain;
    }

    /// The chain up to now of a stage that is charged up to now or to the end of the frame on the wire.
    pub(super) fn chain(&self, now: u64) -> Chain {
        let mut chain = self.period.chain.clone();
        chain.cut(now, self.ahead(now));
        chain
    }
}

/// The cause of time in the buffer of a slow receiver.
pub(super) const fn received(port: u32) -> Key {
    Key::at(Cause::Receiver, port, NONE)
}
