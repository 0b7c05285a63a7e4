//! Ports: what each one does at every instant, and who waits for it meanwhile.
//!
//! The time of those who wait is charged whenever anything about their port changes, and whenever they come or go. So
//! every picosecond of a wait is charged once, and to one thing.

use super::Causes;
use super::ledger::{Cause, Key, NONE, Root, split};
use super::trace::{Blame, RootAt};

/// The frame on a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnWire {
    /// Its flow; [`NONE`] for frames to the neighbour.
    pub(super) flow: u32,
    /// The port by which it came; [`NONE`] at a host.
    pub(super) input: u32,
    pub(super) length: u16,
    /// When its last bit leaves.
    pub(super) until: u64,
}

/// A flow that waits for a port: at its source, or its frames in a switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) flow: u32,
    pub(super) class: u8,
    /// Of frames in a switch: the port by which they came.
    pub(super) input: u32,
    /// Whether it is the flow at its source; otherwise it is its frames in a switch.
    pub(super) at_source: bool,
}

/// The sending half of a port.
#[derive(Debug)]
pub(super) struct Port {
    /// Those who wait are charged up to then.
    pub(super) since: u64,
    pub(super) wire: OnWire,
    pub(super) paused: u8,
    pub(super) starved: u8,
    pub(super) down: bool,
    pub(super) waiters: Vec<Waiter>,
    /// Lanes whose blame depends on the state of this port.
    pub(super) dependents: Vec<u32>,
}

/// What waits for an output in a class. A backlog that came to be while the output was blocked is not the output's own:
/// until it has gone, what the output could have sent meanwhile is charged to the roots of that time.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    pub(super) bytes: u64,
    /// How long it was blocked since there was none.
    pub(super) blocked: u64,
    /// Since when it is blocked, if it is.
    since: Option<u64>,
    /// The roots of the last blocked time.
    pub(super) roots: Vec<(RootAt, u64)>,
}

impl Backlog {
    pub(super) fn shrink(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
        if self.bytes == 0 {
            self.blocked = 0;
            self.roots.clear();
        }
    }
}

impl Default for Port {
    fn default() -> Port {
        let wire = OnWire { flow: NONE, input: NONE, length: 0, until: 0 };
        Port { since: 0, wire, paused: 0, starved: 0, down: false, waiters: Vec::new(), dependents: Vec::new() }
    }
}

impl Port {
    /// Classes that cannot send.
    fn stopped(&self) -> u8 {
        if self.down { u8::MAX } else { self.paused | self.starved }
    }

    /// Whether a class may not send.
    pub(super) fn is_blocked(&self, class: u8) -> bool {
        (self.paused | self.starved) >> class & 1 == 1
    }
}

impl Causes {
    pub(super) fn lane(&self, port: u32, class: u8) -> usize {
        port as usize * self.map.classes + usize::from(class).min(self.map.classes - 1)
    }

    /// Charges those who wait for a port up to now.
    pub(super) fn settle(&mut self, p: u32) {
        let now = self.now;
        let port = &mut self.ports[p as usize];
        let from = std::mem::replace(&mut port.since, now);
        if port.waiters.is_empty() || from >= now {
            return;
        }
        let waiters = std::mem::take(&mut port.waiters);
        for waiter in &waiters {
            if waiter.at_source || self.map.finite[waiter.flow as usize] {
                self.charge_wait(p, from, waiter);
            }
            if !waiter.at_source {
                self.charge_window(p, from, waiter);
            }
        }
        self.ports[p as usize].waiters = waiters;
    }

    /// Charges one of them from an instant up to now, during which nothing about the port has changed but that the frame
    /// on its wire has left.
    pub(super) fn charge_wait(&mut self, p: u32, from: u64, waiter: &Waiter) {
        // While its own frame is on the wire, a flow does not wait; that is charged already.
        let from = self.free(waiter, p).max(from);
        let port = &self.ports[p as usize];
        let wire = port.wire;
        let left = wire.until.clamp(from, self.now.max(from));
        let (sending, idle) = (left - from, self.now.saturating_sub(left));
        let blocked = port.is_blocked(waiter.class);
        match () {
            () if sending == 0 => {}
            // A frame of its own that is no data.
            () if wire.flow == waiter.flow => self.charge(waiter, p, from, Key::own(Cause::Path), sending),
            () if port.down => self.charge(waiter, p, from, Key::at(Cause::Link, p, NONE), sending),
            () if blocked => self.blame(p, waiter, from, sending),
            () if wire.flow == NONE => self.charge(waiter, p, from, Key::at(Cause::Signals, p, NONE), sending),
            () => self.contend(p, waiter, from, sending, wire.flow),
        }
        match () {
            () if idle == 0 => {}
            () if self.ports[p as usize].down => self.charge(waiter, p, left, Key::at(Cause::Link, p, NONE), idle),
            () if blocked => self.blame(p, waiter, left, idle),
            () => self.charge_inside(p, waiter, left, idle),
        }
    }

    /// Charges time in which a frame of another flow is on the wire. A backlog that an output has from the time when it was
    /// blocked is not its own: that part goes to the roots of that time.
    fn contend(&mut self, p: u32, waiter: &Waiter, from: u64, span: u64, by: u32) {
        let backlog = &self.backlogs[self.lane(p, waiter.class)];
        let mut own = span;
        if !backlog.roots.is_empty() {
            let missed = self.map.carried(p, backlog.blocked).min(backlog.bytes);
            let inherited = (u128::from(span) * u128::from(missed) / u128::from(backlog.bytes.max(1))) as u64;
            own -= inherited;
            let roots = backlog.roots.clone();
            split(inherited, &roots, |at, share| {
                let uses = |source: &super::Source| source.ports.contains(&at.port);
                let by = if self.source(by).is_some_and(|source| uses(source)) { by } else { NONE };
                let key = Key { cause: Cause::Blocking(at.root), port: at.port, via: at.entry, by };
                self.charge(waiter, p, from, key, share);
            });
        }
        self.charge(waiter, p, from, Key::at(Cause::Contention, p, by), own);
    }

    /// Charges the time in which a frame could not reach an output that was free.
    fn charge_inside(&mut self, p: u32, waiter: &Waiter, from: u64, span: u64) {
        let crossbar = Key::at(Cause::Crossbar, p, NONE);
        if waiter.input == NONE {
            return self.charge(waiter, p, from, crossbar, span);
        }
        // Its input feeds another output.
        let outputs = self.map.ports_of(self.map.node(p));
        let (ports, now) = (&self.ports, self.now);
        let feeds = |&o: &u32| {
            let wire = &ports[o as usize].wire;
            wire.input == waiter.input && wire.until >= now && wire.flow != NONE
        };
        let ahead = outputs.clone().filter(|&o| o != p).find(feeds);
        // Or the frame in front of it waits for another output.
        let front = || self.fifos[self.lane(waiter.input, waiter.class)].front().map(|front| front.0);
        let Some(other) = ahead.or_else(|| front().filter(|&front| front != p)) else {
            return self.charge(waiter, p, from, crossbar, span);
        };
        let Port { wire, down, .. } = &self.ports[other as usize];
        let head = |root, by| Key { cause: Cause::HeadOfLine(root), port: other, via: p, by };
        if *down {
            self.charge(waiter, p, from, head(Root::Link, NONE), span);
        } else if ahead.is_none() && self.ports[other as usize].is_blocked(waiter.class) {
            let blame = self.trace(other, waiter.class);
            split(span, &blame.parts, |(at, by), share| {
                let key = Key { cause: Cause::HeadOfLine(at.root), port: at.port, via: at.entry, by };
                self.charge(waiter, p, from, key, share);
            });
        } else if wire.until >= self.now && wire.flow != NONE {
            let by = wire.flow;
            self.charge(waiter, p, from, head(Root::Output, by), span);
        } else {
            self.charge(waiter, p, from, crossbar, span);
        }
    }

    /// Charges blocked time to the roots of what blocks a port.
    fn blame(&mut self, p: u32, waiter: &Waiter, from: u64, span: u64) {
        let lane = self.lane(p, waiter.class);
        let blame = self.blames[lane].take().unwrap_or_else(|| Box::new(self.trace(p, waiter.class)));
        split(span, &blame.parts, |(at, by), share| {
            let key = Key { cause: Cause::Blocking(at.root), port: at.port, via: at.entry, by };
            self.charge(waiter, p, from, key, share);
        });
        self.blames[lane] = Some(blame);
    }

    /// Someone begins to wait for a port.
    pub(super) fn join(&mut self, p: u32, waiter: Waiter) {
        self.settle(p);
        self.ports[p as usize].waiters.push(waiter);
        if self.blames[self.lane(p, waiter.class)].is_none() {
            self.retrace(p, waiter.class);
        }
    }

    /// Someone no longer waits for a port.
    pub(super) fn leave(&mut self, p: u32, flow: u32, at_source: bool) {
        self.settle(p);
        let waiters = &mut self.ports[p as usize].waiters;
        if let Some(place) = waiters.iter().position(|waiter| waiter.flow == flow && waiter.at_source == at_source) {
            waiters.remove(place);
        }
    }

    /// Changes the state of a port that flow control and cables determine.
    pub(super) fn change(&mut self, p: u32, how: impl FnOnce(&mut Port)) {
        let dependents = std::mem::take(&mut self.ports[p as usize].dependents);
        let classes = self.map.classes as u32;
        self.settle(p);
        dependents.iter().for_each(|lane| self.settle(lane / classes));
        self.settle_siblings(p);
        let before = self.ports[p as usize].stopped();
        let mut after = Port { dependents: Vec::new(), waiters: Vec::new(), ..self.ports[p as usize] };
        how(&mut after);
        self.note_blocked(p, before, after.stopped());
        let Port { paused, starved, down, .. } = after;
        let port = &mut self.ports[p as usize];
        (port.paused, port.starved, port.down) = (paused, starved, down);
        for class in 0..classes as u8 {
            self.retrace(p, class);
        }
        for lane in dependents {
            self.retrace(lane / classes, (lane % classes) as u8);
        }
    }

    /// Some classes of a port are about to be stopped, or to be stopped no more.
    fn note_blocked(&mut self, p: u32, before: u8, after: u8) {
        for class in (0..self.map.classes as u8).filter(|class| (before ^ after) >> class & 1 == 1) {
            let lane = self.lane(p, class);
            if after >> class & 1 == 1 {
                self.backlogs[lane].since = Some(self.now);
            } else if let Some(since) = self.backlogs[lane].since.take()
                && self.backlogs[lane].bytes > 0
            {
                self.backlogs[lane].blocked += self.now - since;
                self.backlogs[lane].roots = match &self.blames[lane] {
                    _ if self.ports[p as usize].down => vec![(RootAt { root: Root::Link, port: p, entry: p }, 1)],
                    Some(blame) => blame.roots.clone(),
                    None => self.trace(p, class).roots,
                };
            }
        }
    }

    /// Where frames wait at inputs, what one output does concerns those who wait for the others.
    pub(super) fn settle_siblings(&mut self, p: u32) {
        let node = self.map.node(p);
        if self.map.input_queued(node) {
            self.map.ports_of(node).for_each(|port| self.settle(port));
        }
    }

    /// Looks again for the roots of what blocks a class of a port, if that concerns anyone.
    pub(super) fn retrace(&mut self, p: u32, class: u8) {
        let lane = self.lane(p, class);
        let port = &self.ports[p as usize];
        if !port.is_blocked(class) || !port.waiters.iter().any(|waiter| waiter.class == class) {
            self.blames[lane] = None;
            return;
        }
        let blame: Blame = self.trace(p, class);
        for &other in blame.visited.iter().filter(|&&other| other != p) {
            let dependents = &mut self.ports[other as usize].dependents;
            if !dependents.contains(&(lane as u32)) {
                dependents.push(lane as u32);
            }
        }
        self.blames[lane] = Some(Box::new(blame));
    }
}
