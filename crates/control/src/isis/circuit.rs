//! The state of one port: its adjacency, and the PDUs to send or acknowledge.

use super::Port;
use std::collections::{BTreeMap, BTreeSet};
use units::Time;
use wire::Address;
use wire::isis::tlv::{Entry, State};
use wire::isis::{LspId, SystemId};

/// The most that are acknowledged or asked for by one PDU: six TLVs of fifteen fit.
pub(super) const ENTRIES: usize = 90;

/// The adjacency with the neighbour at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjacency {
    /// Identifier of the neighbour.
    pub neighbour: SystemId,
    /// Source address of its hellos.
    pub address: Address,
    /// The neighbour's number of the circuit.
    pub circuit: u32,
    /// State of the handshake.
    pub state: State,
    /// Time at which the adjacency expires unless another hello arrives.
    pub until: Time,
    /// Time at which it entered this state.
    pub since: Time,
    /// Whether the neighbour uses shortest path bridging; otherwise it is a router that only floods link state.
    pub bridge: bool,
    /// Whether the neighbour has the same algorithms on the same base VLANs.
    pub same_vlans: bool,
    /// Whether the topology digest in its last hello matched ours.
    pub same_view: bool,
}

/// Link-state PDUs to be sent, each when its time has come and again until it is acknowledged.
#[derive(Clone, Debug, Default)]
pub(super) struct Flood {
    times: BTreeMap<LspId, Time>,
    order: BTreeSet<(Time, LspId)>,
}

impl Flood {
    pub(super) fn set(&mut self, id: LspId, at: Time) {
        self.clear(&id);
        self.times.insert(id, at);
        self.order.insert((at, id));
    }

    /// To be sent by then, unless it is under way already and would be sent again.
    pub(super) fn ask(&mut self, id: LspId, at: Time) {
        if !self.times.contains_key(&id) {
            self.set(id, at);
        }
    }

    pub(super) fn clear(&mut self, id: &LspId) {
        if let Some(at) = self.times.remove(id) {
            self.order.remove(&(at, *id));
        }
    }

    pub(super) fn first(&self) -> Option<(Time, LspId)> {
        self.order.first().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.times.len()
    }
}

/// A port.
#[derive(Clone, Debug)]
pub(super) struct Circuit {
    pub(super) port: Port,
    /// The link is there.
    pub(super) enabled: bool,
    pub(super) hello_due: Time,
    pub(super) adjacency: Option<Adjacency>,
    pub(super) flood: Flood,
    /// Entries to acknowledge or request, at most [`ENTRIES`].
    pub(super) answers: BTreeMap<LspId, Entry>,
    pub(super) answers_due: Option<Time>,
    /// Time at which complete sequence numbers are to be sent, and the first identifier.
    pub(super) complete: Option<(Time, LspId)>,
}

impl Circuit {
    pub(super) fn new(now: Time, port: Port) -> Circuit {
        Circuit {
            port,
            enabled: true,
            hello_due: now,
            adjacency: None,
            flood: Flood::default(),
            answers: BTreeMap::new(),
            answers_due: None,
            complete: None,
        }
    }

    /// The neighbour, if each knows that the other hears it.
    pub(super) fn up(&self) -> Option<&Adjacency> {
        self.adjacency.as_ref().filter(|it| it.state == State::Up)
    }

    /// Acknowledges, or asks for, one by that time. What does not fit is left to the peer's patience.
    pub(super) fn answer(&mut self, entry: Entry, at: Time) {
        if self.answers.len() < ENTRIES || self.answers.contains_key(&entry.id) {
            self.answers.insert(entry.id, entry);
            self.answers_due = Some(self.answers_due.map_or(at, |due| due.min(at)));
        }
    }

    /// Cancels everything that is to be sent to the neighbour.
    pub(super) fn hush(&mut self) {
        self.flood = Flood::default();
        self.answers.clear();
        (self.answers_due, self.complete) = (None, None);
    }

    /// Returns the time of the next action.
    pub(super) fn due(&self) -> Option<Time> {
        let hello = self.enabled.then_some(self.hello_due);
        let silent = self.adjacency.map(|it| it.until);
        let flood = self.flood.first().map(|(at, _)| at);
        [hello, silent, flood, self.answers_due, self.complete.map(|it| it.0)].into_iter().flatten().min()
    }
}
