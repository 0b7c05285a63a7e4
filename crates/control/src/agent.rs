//! The agent of one port: LLDP with DCBX on top.

use crate::converged::Own;
use crate::neighbours::{Identity, Others};
use crate::resolve::{self, Operating};
use crate::settings::{Settings, Version};
use crate::transmit::{Timers, Transmit, What};
use crate::{Advertisement, Mismatch, mismatch};
use units::{Span, Time};
use wire::ethernet::{self, Content, Frame, ether_type};
use wire::lldp::{self, Identifier, Ieee};
use wire::{Address, Writer, fcs};

/// The longest frame of an agent, without its check sequence.
pub const LARGEST_FRAME: usize = 1514;

/// The known peer.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    address: Address,
    identity: Identity,
    said: Advertisement,
    until: Time,
}

impl Peer {
    /// Returns the source address of its last frame.
    #[must_use]
    pub fn address(&self) -> Address {
        self.address
    }

    /// Returns its last advertisement.
    #[must_use]
    pub fn said(&self) -> &Advertisement {
        &self.said
    }

    /// Returns the time at which it expires unless another data unit arrives.
    #[must_use]
    pub fn until(&self) -> Time {
        self.until
    }
}

/// Statistics of an agent (mostly those of 802.1AB 10.5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data units sent (statsFramesOutTotal).
    pub sent: u64,
    /// Data units received and accepted; with those refused and reflected, statsFramesInTotal.
    pub received: u64,
    /// Frames other than LLDP to the nearest bridge.
    pub foreign: u64,
    /// Frames rejected as a whole (statsFramesDiscardedTotal): too short, or with a chassis, port or time to live that
    /// is missing, out of place, of a wrong length or repeated.
    pub refused: u64,
    /// Frames with errors, rejected or not (statsFramesInErrorsTotal).
    pub in_error: u64,
    /// The agent's own frames, reflected to it.
    pub reflected: u64,
    /// Malformed TLVs (statsTLVsDiscardedTotal).
    pub malformed: u64,
    /// Unknown TLVs (statsTLVsUnrecognizedTotal).
    pub unknown: u64,
    /// TLVs that repeat an earlier one.
    pub repeated: u64,
    /// Data units from senders other than the known peer.
    pub from_others: u64,
    /// Peers that expired (statsAgeoutsTotal).
    pub aged_out: u64,
    /// Data units that did not fit into the buffer.
    pub no_room: u64,
}

/// The agent of one port.
///
/// Pass every frame to [`Agent::handle_frame`]. Call [`Agent::poll_transmit`] at the time of [`Agent::poll_at`] and
/// after every frame, until it has nothing more to send. Time must not run backwards.
#[derive(Clone, Debug)]
pub struct Agent {
    chassis: Address,
    address: Address,
    timers: Timers,
    settings: Settings,
    peer: Option<Peer>,
    others: Others,
    operating: Operating,
    said: Advertisement,
    /// Own advertisement in CEE's DCBX, while that is in use.
    converged: Option<Own>,
    transmit: Transmit,
    counters: Counters,
    changed: Time,
}

impl Agent {
    /// Creates the agent of the device `chassis` at a port with that address. It starts to send at once.
    #[must_use]
    pub fn new(now: Time, chassis: Address, address: Address, settings: Settings, timers: Timers) -> Agent {
        let operating = resolve::operating(&settings, address, None);
        Agent {
            chassis,
            address,
            timers,
            settings,
            peer: None,
            others: Others::default(),
            operating,
            said: resolve::advertised(&settings, &operating, None),
            converged: (settings.version == Version::Cee).then(|| Own::new(&settings)),
            transmit: Transmit::new(now, &timers),
            counters: Counters::default(),
            changed: now,
        }
    }

    /// Returns the operating configuration of the port.
    #[must_use]
    pub fn operating(&self) -> &Operating {
        &self.operating
    }

    /// Returns the time at which that last changed.
    #[must_use]
    pub fn changed_at(&self) -> Time {
        self.changed
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the address of the port.
    #[must_use]
    pub fn address(&self) -> Address {
        self.address
    }

    /// Returns the port's own advertisement; in CEE's DCBX, the port advertises its desired configuration instead.
    #[must_use]
    pub fn advertised(&self) -> &Advertisement {
        &self.said
    }

    /// Returns the known peer, if any, whether or not the port follows it.
    #[must_use]
    pub fn peer(&self) -> Option<&Peer> {
        self.peer.as_ref()
    }

    /// Returns the minimum number of other neighbours beside the known peer.
    #[must_use]
    pub fn others(&self) -> usize {
        self.others.count()
    }

    /// Returns the statistics.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the configuration mismatches.
    pub fn mismatches(&self) -> impl Iterator<Item = Mismatch> + '_ {
        let crowded = self.others.count() > 0;
        mismatch::mismatches(&self.settings, self.address, &self.operating, self.followed(), crowded)
    }

    /// Receives a frame, with or without its check sequence.
    pub fn handle_frame(&mut self, now: Time, bytes: &[u8]) {
        self.handle_timeout(now);
        let Ok(frame) = Frame::new(bytes) else {
            self.refuse();
            return;
        };
        if frame.type_or_length() != ether_type::LLDP || frame.destination() != Address::NEAREST_BRIDGE {
            self.counters.foreign += 1;
            return;
        }
        let source = frame.source();
        let unit = lldp::Repr::parse(frame.payload()).ok().filter(|_| !source.is_group());
        let Some((unit, discarded)) = unit else {
            self.refuse();
            return;
        };
        self.counters.in_error += u64::from(discarded.malformed > 0);
        self.counters.malformed += u64::from(discarded.malformed);
        self.counters.unknown += u64::from(discarded.unknown);
        self.counters.repeated += u64::from(discarded.repeated);
        let identity = Identity::new(&unit.chassis, &unit.port);
        if self.own_identity() == Some(identity) {
            self.counters.reflected += 1;
            return;
        }
        self.counters.received += 1;
        let until = now.saturating_add(Span::from_secs(1) * u64::from(unit.time_to_live));
        let known = self.peer.is_some_and(|peer| peer.identity == identity);
        match (unit.time_to_live, &mut self.peer) {
            (0, _) if known => self.peer = None,
            (0, _) => self.others.forget(&identity),
            (_, Some(peer)) if known => {
                (peer.address, peer.said, peer.until) = (source, Advertisement::of(&unit), until);
            }
            (_, Some(_)) => {
                self.counters.from_others += 1;
                self.others.hear(&identity, until);
            }
            (_, None) => {
                self.others.forget(&identity);
                self.peer = Some(Peer { address: source, identity, said: Advertisement::of(&unit), until });
                self.transmit.on_neighbour(now, &self.timers);
            }
        }
        self.settle(now);
    }

    fn refuse(&mut self) {
        self.counters.refused += 1;
        self.counters.in_error += 1;
    }

    /// Advances time: removes expired neighbours.
    pub fn handle_timeout(&mut self, now: Time) {
        let silent = self.peer.is_some_and(|peer| peer.until <= now);
        if silent {
            self.peer = None;
            self.counters.aged_out += 1;
        }
        if silent || self.others.due().is_some_and(|due| due <= now) {
            self.others.age(now);
            self.settle(now);
        }
    }

    /// The link failed: the agent stops sending and removes all neighbours, as lldpad's DCBX does. A caller that omits
    /// this call, as 802.1AB's receive machine would, keeps received information for its time to live.
    pub fn handle_link_down(&mut self, now: Time) {
        self.transmit.unlink();
        self.forget_all(now);
    }

    /// The link works again, possibly to another neighbour: the agent restarts (rxInitializeLLDP, txInitializeLLDP of
    /// 802.1AB 9.2) and sends at once.
    pub fn handle_link_up(&mut self, now: Time) {
        self.forget_all(now);
        self.transmit.link(now);
    }

    fn forget_all(&mut self, now: Time) {
        (self.peer, self.others) = (None, Others::default());
        self.settle(now);
    }

    /// Replaces the settings of the port.
    pub fn configure(&mut self, now: Time, settings: Settings) {
        self.settings = settings;
        self.settle(now);
    }

    /// Sends a shutdown, then stops sending.
    pub fn shut_down(&mut self) {
        self.transmit.leave();
    }

    /// Resumes sending, but not before the delay after a shutdown.
    pub fn start(&mut self, now: Time) {
        self.transmit.start(now, &self.timers);
    }

    /// Returns the time of its next call, which may be in the past.
    #[must_use]
    pub fn poll_at(&self) -> Option<Time> {
        let ageing = self.peer.map(|peer| peer.until);
        [self.transmit.due(), ageing, self.others.due()].into_iter().flatten().min()
    }

    /// Writes the frame to send now, without its check sequence, and returns its length.
    pub fn poll_transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<usize> {
        self.handle_timeout(now);
        let what = self.transmit.take(now, &self.timers)?;
        let mut out = Writer::new(buffer);
        let content = Content::Type(ether_type::LLDP);
        ethernet::Repr { destination: Address::NEAREST_BRIDGE, source: self.address, content }.emit(&mut out);
        let (chassis, port) = identifiers(&self.chassis, &self.address)?;
        let nothing = lldp::Repr { chassis, port, time_to_live: 0, ieee: Ieee::default(), cee: None };
        let time_to_live = self.timers.time_to_live();
        match (what, &self.converged) {
            (What::Shutdown, _) => nothing.emit(&mut out),
            (What::Unit, None) => lldp::Repr { time_to_live, ieee: self.said.as_ieee(), ..nothing }.emit(&mut out),
            (What::Unit, Some(own)) => {
                own.emit(|cee| lldp::Repr { time_to_live, cee: Some(cee), ..nothing }.emit(&mut out));
            }
        }
        out.pad_to(fcs::MINIMUM);
        match out.finish() {
            Ok(length) => {
                self.counters.sent += 1;
                Some(length)
            }
            Err(_) => {
                self.counters.no_room += 1;
                None
            }
        }
    }

    /// Returns the peer that the port follows: the known one while there is no other neighbour.
    pub(crate) fn followed(&self) -> Option<&Peer> {
        self.peer.as_ref().filter(|_| self.others.count() == 0)
    }

    fn own_identity(&self) -> Option<Identity> {
        let (chassis, port) = identifiers(&self.chassis, &self.address)?;
        Some(Identity::new(&chassis, &port))
    }

    /// Recomputes the operating configuration and the advertisement; sends the latter if it changed.
    fn settle(&mut self, now: Time) {
        let old = self.converged;
        let peer = self.followed().map(|peer| peer.said);
        let speaks = self.settings.version == Version::Cee || peer.is_some_and(|said| said.converged.is_some());
        self.converged = speaks.then(|| old.unwrap_or_else(|| Own::new(&self.settings)));
        let operating = match &mut self.converged {
            Some(own) => own.settle(&self.settings, peer.as_ref()).unwrap_or(self.operating),
            None => resolve::operating(&self.settings, self.address, self.followed()),
        };
        if operating != self.operating {
            self.operating = operating;
            self.changed = now;
        }
        let said = resolve::advertised(&self.settings, &operating, self.followed());
        if (said, self.converged) != (self.said, old) {
            self.said = said;
            self.transmit.on_change(now);
        }
    }
}

/// Chassis and port by their addresses, as lldpad names them.
fn identifiers<'a>(chassis: &'a Address, port: &'a Address) -> Option<(Identifier<'a>, Identifier<'a>)> {
    let chassis = Identifier::new(Identifier::CHASSIS_ADDRESS, &chassis.0)?;
    Some((chassis, Identifier::new(Identifier::PORT_ADDRESS, &port.0)?))
}
