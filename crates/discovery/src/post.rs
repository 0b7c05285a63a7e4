//! Frames on cables, and nodes that want to be asked at a time: what agents and bridges speak over before packets run.

use fabric::graph::LinkSpec;
use std::collections::BTreeSet;
use units::{Bytes, Span, Time, Wire};

/// Preamble, check sequence and gap of a frame (802.3).
const OVERHEAD: u64 = 24;
/// What has not come to rest by then never will.
pub(crate) const PATIENCE: Span = Span::from_secs(3600);

/// A frame on its way.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Flight {
    at: Time,
    pub(crate) node: u32,
    pub(crate) port: u16,
    /// Frames of one instant at one port keep their order.
    number: u64,
    pub(crate) bytes: Vec<u8>,
}

/// All that is on its way, and all that is wished for.
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

    /// When something is next to be done.
    pub(crate) fn next(&self) -> Option<Time> {
        let arrival = self.under_way.first().map(|flight| flight.at);
        arrival.into_iter().chain(self.wishes.first().map(|&(at, _)| at)).min()
    }

    /// A frame that has arrived by then.
    pub(crate) fn arrived(&mut self, now: Time) -> Option<Flight> {
        if self.under_way.first()?.at <= now { self.under_way.pop_first() } else { None }
    }

    /// A node that wanted to be asked by then.
    pub(crate) fn due(&mut self, now: Time) -> Option<u32> {
        let &(_, node) = self.wishes.first().filter(|&&(at, _)| at <= now)?;
        self.wishes.pop_first();
        self.wish_of[node as usize] = None;
        Some(node)
    }

    /// Sends a frame over a cable to a port at its far end.
    pub(crate) fn send(&mut self, now: Time, link: &LinkSpec, (node, port): (u32, u16), bytes: &[u8]) {
        let on_wire = Wire::new(link.rate).serialise(Bytes::new(bytes.len() as u64 + OVERHEAD));
        self.sent += 1;
        let (at, number) = (now + on_wire + link.latency, self.sent);
        self.under_way.insert(Flight { at, node, port, number, bytes: bytes.to_vec() });
    }

    /// What is on its way to a port never arrives.
    pub(crate) fn lose(&mut self, (node, port): (u32, u16)) {
        self.under_way.retain(|flight| (flight.node, flight.port) != (node, port));
    }

    /// When a node wants to be asked, in place of what it wanted before; not before `soonest`, so that time goes on
    /// whatever it wishes.
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
