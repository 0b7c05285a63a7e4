//! Frames in flight and timers of nodes, for control protocols that run before packets do.

use fabric::graph::LinkSpec;
use std::collections::BTreeSet;
use units::{Bytes, Span, Time, Wire};

/// Preamble, check sequence and gap of a frame (802.3).
const OVERHEAD: u64 = 24;
/// Time limit for convergence. A network that has not converged by then is considered unstable.
pub(crate) const PATIENCE: Span = Span::from_secs(3600);

/// A frame in flight.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Flight {
    at: Time,
    pub(crate) node: u32,
    pub(crate) port: u16,
    /// Frames of one instant at one port keep their order.
    number: u64,
    pub(crate) bytes: Vec<u8>,
}

/// All frames in flight and all pending timers.
pub(crate) struct Post {
    under_way: BTreeSet<Flight>,
    wishes: BTreeSet<(Time, u32)>,
    wish_of: Vec<Option<Time>>,
    /// Frames sent.
    pub(crate) sent: u64,
}

impl Post {
    pub(crate) fn new(nodes: usize) -> Post {
        Post { under_way: BTreeSet::new(), wishes: BTreeSet::new(), wish_of: vec![None; nodes], sent: 0 }
    }

    /// Returns the time of the next arrival or timer.
    pub(crate) fn next(&self) -> Option<Time> {
        let arrival = self.under_way.first().map(|flight| flight.at);
        arrival.into_iter().chain(self.wishes.first().map(|&(at, _)| at)).min()
    }

    /// Removes and returns a frame that has arrived by `now`.
    pub(crate) fn arrived(&mut self, now: Time) -> Option<Flight> {
        if self.under_way.first()?.at <= now { self.under_way.pop_first() } else { None }
    }

    /// Removes and returns a node whose timer has expired by `now`.
    pub(crate) fn due(&mut self, now: Time) -> Option<u32> {
        let &(_, node) = self.wishes.first().filter(|&&(at, _)| at <= now)?;
        self.wishes.pop_first();
        self.wish_of[node as usize] = None;
        Some(node)
    }

    /// Sends a frame to the port at the far end of a link.
    pub(crate) fn send(&mut self, now: Time, link: &LinkSpec, (node, port): (u32, u16), bytes: &[u8]) {
        let on_wire = Wire::new(link.rate).serialise(Bytes::new(bytes.len() as u64 + OVERHEAD));
        self.sent += 1;
        let (at, number) = (now + on_wire + link.latency, self.sent);
        self.under_way.insert(Flight { at, node, port, number, bytes: bytes.to_vec() });
    }

    /// Drops all frames in flight to a port.
    pub(crate) fn lose(&mut self, (node, port): (u32, u16)) {
        self.under_way.retain(|flight| (flight.node, flight.port) != (node, port));
    }

    /// Sets or clears the timer of a node, replacing the previous one. The timer expires no earlier than `soonest`, so
    /// that time always advances.
    pub(crate) fn wish(&mut self, node: u32, at: Option<Time>, soonest: Time) {
        if let Some(old) = self.wish_of[node as usize].take() {
            self.wishes.remove(&(old, node));
        }
        if let Some(at) = at.map(|at| at.max(soonest)) {
            self.wish_of[node as usize] = Some(at);
            self.wishes.insert((at, node));
        }
    }
}
