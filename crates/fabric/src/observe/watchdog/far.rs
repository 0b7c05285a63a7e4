//! The far end of a port, which may be in another process.
//!
//! Whether a buffer is closed depends on both ends of its cable. Where the far end is on another rank, its rank describes
//! it: [`End`] has all that the watchdog asks of a port from outside.

use crate::build::plan::NetworkPlan;
use crate::describe::spec::MAX_CLASSES;
use crate::machine::frame::{Content, Credit};
use crate::machine::network::Network;
use crate::machine::port::Signal;
use crate::observe::probe::Probe;
use engine::{Encode, Ranks};
use std::collections::BTreeMap;

/// What the far end of a cable must know of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    /// Classes with frames to send.
    waiting: u8,
    /// Classes that a pause holds back.
    blocked: u8,
    /// Classes that it has told the far end to stop.
    stopped: u8,
    /// Classes that something on its way to it could let go on.
    hears: u8,
    offers: Offers,
    /// By class: what it has been granted, what it has spent, and the least length of a frame that it could send next.
    limit: [u64; MAX_CLASSES],
    spent: [u64; MAX_CLASSES],
    least: [u32; MAX_CLASSES],
}

engine::encoded!(struct End { waiting, blocked, stopped, hears, offers, limit, spent, least });

/// What the link-local frames that wait at a port will say at its far end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offers {
    /// By class: the credits granted.
    granted: [u64; MAX_CLASSES],
    /// Classes that may go on.
    released: u8,
}

engine::encoded!(struct Offers { granted, released });

/// A port and what is asked of it, on this rank or as its own rank describes it.
pub(super) enum Far<'a, P> {
    Here { network: &'a Network<P>, port: u32 },
    Elsewhere(Box<End>),
}

impl<P: Probe> Far<'_, P> {
    pub(super) fn waiting(&self) -> u8 {
        match self {
            Far::Here { network, port } => network.ports[*port as usize].waiting,
            Far::Elsewhere(end) => end.waiting,
        }
    }

    pub(super) fn blocked(&self) -> u8 {
        match self {
            Far::Here { network, port } => network.ports[*port as usize].blocked,
            Far::Elsewhere(end) => end.blocked,
        }
    }

    pub(super) fn stopped(&self) -> u8 {
        match self {
            Far::Here { network, port } => network.ports[*port as usize].stopped,
            Far::Elsewhere(end) => end.stopped,
        }
    }

    /// What it has been granted in a class.
    pub(super) fn limit(&self, class: u8) -> u64 {
        match self {
            Far::Here { network, port } => network.gates[network.lane(*port, class)].limit,
            Far::Elsewhere(end) => end.limit[usize::from(class)],
        }
    }

    /// What it has spent of that.
    pub(super) fn spent(&self, class: u8) -> u64 {
        match self {
            Far::Here { network, port } => network.gates[network.lane(*port, class)].spent,
            Far::Elsewhere(end) => end.spent[usize::from(class)],
        }
    }

    /// The least length of a frame that it could send next in a class, whichever it will be.
    pub(super) fn least_waiting(&self, class: u8) -> u32 {
        match self {
            Far::Here { network, port } => network.least_waiting(*port, class),
            Far::Elsewhere(end) => end.least[usize::from(class)],
        }
    }

    fn hears(&self) -> u8 {
        match self {
            Far::Here { network, port } => network.hears(*port),
            Far::Elsewhere(end) => end.hears,
        }
    }

    fn offers(&self) -> Offers {
        match self {
            Far::Here { network, port } => network.offers(*port),
            Far::Elsewhere(end) => end.offers,
        }
    }

    /// Classes of the port that something on its way to it, or waiting to set out from its far end, could let go on. A
    /// pause that is renewed, and credits that are granted once more, are no news.
    pub(super) fn news_from(&self, far: &Far<'_, P>) -> u8 {
        let Offers { granted, released } = far.offers();
        let more = |&(class, granted): &(u8, u64)| granted > 0 && granted > self.limit(class);
        let granted = (0..).zip(granted).filter(more).fold(0, |classes, (class, _)| classes | 1 << class);
        released & self.blocked() | granted | self.hears()
    }
}

impl<P: Probe> Network<P> {
    /// Classes that something on its way to a port could let go on.
    fn hears(&self, p: u32) -> u8 {
        let port = &self.ports[p as usize];
        let more = |class: u8, granted: u64| u8::from(granted > self.gates[self.lane(p, class)].limit) << class;
        let signals = self.signals[p as usize].iter().fold(0, |classes, &(_, signal)| match signal {
            Signal::Credit { class, granted, epoch } if epoch == port.epoch => classes | more(class, granted),
            Signal::Credit { .. } => classes,
            Signal::Pause(pause) => classes | pause.released & port.blocked,
        });
        port.arriving.iter(&self.pool).fold(signals, |classes, (_, frame)| match frame.content() {
            Content::Credit(Credit { class, granted }) => classes | more(class, granted),
            Content::Pause(pause) => classes | pause.released & port.blocked,
            _ => classes,
        })
    }

    /// What waits at a port to be said at its far end. A credit frame says what is true when it starts.
    fn offers(&self, p: u32) -> Offers {
        let mut offers = Offers::default();
        for (_, frame) in self.ports[p as usize].control.iter(&self.pool) {
            match frame.content() {
                Content::Credit(Credit { class, .. }) => {
                    offers.granted[usize::from(class)] = self.gates[self.lane(p, class)].granted;
                }
                Content::Pause(pause) => offers.released |= pause.released,
                _ => {}
            }
        }
        offers
    }

    /// Describes a port for the other end of its cable.
    fn end(&self, p: u32) -> End {
        let port = &self.ports[p as usize];
        let mut end = End {
            waiting: port.waiting,
            blocked: port.blocked,
            stopped: port.stopped,
            hears: self.hears(p),
            offers: self.offers(p),
            ..End::default()
        };
        for class in 0..self.classes as u8 {
            let (gate, place) = (&self.gates[self.lane(p, class)], usize::from(class));
            (end.limit[place], end.spent[place]) = (gate.limit, gate.spent);
            if port.waiting >> class & 1 == 1 {
                end.least[place] = self.least_waiting(p, class);
            }
        }
        end
    }
}

/// The far ends of cables that lead to other ranks, by their port. Ports that are not named hold nobody back and
/// are not held back. All ranks take part.
pub(crate) fn ends_elsewhere<P: Probe>(
    ranks: &mut dyn Ranks,
    plan: &NetworkPlan,
    models: &[&Network<P>],
    rank_of: impl Fn(u32) -> usize,
) -> BTreeMap<u32, End> {
    if ranks.count() == 1 {
        return BTreeMap::new();
    }
    let own = ranks.rank();
    let mut lists: Vec<Vec<(u32, End)>> = vec![Vec::new(); ranks.count()];
    for network in models {
        for (p, port) in (0..).zip(&network.ports) {
            // Most ports hold nobody back and are not held back.
            if port.waiting | port.blocked | port.stopped == 0 && port.control.is_empty() {
                continue;
            }
            let there = rank_of(plan.ports[port.global as usize].peer);
            if there != own {
                lists[there].push((port.global, network.end(p)));
            }
        }
    }
    let mut parcels: Vec<Vec<u8>> = lists.iter().map(Encode::to_bytes).collect();
    ranks.exchange(&mut [0; engine::NUMBERS], &mut parcels);
    parcels.iter().flat_map(|bytes| Vec::<(u32, End)>::from_bytes(bytes)).collect()
}
