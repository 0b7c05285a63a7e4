//! One port's agent: LLDP below, DCBX above.

use crate::converged::Own;
use crate::neighbours::{Identity, Others};
use crate::resolve::{self, Operating};
use crate::settings::{Settings, Version};
use crate::transmit::{Timers, Transmit, What};
use crate::{Advertisement, Finding, finding};
use units::{Span, Time};
use wire::ethernet::{self, Content, Frame, ether_type};
use wire::lldp::{self, Identifier, Ieee};
use wire::{Address, Writer, fcs};

/// No frame of an agent is longer, its check sequence not counted.
pub const LARGEST_FRAME: usize = 1514;

/// The peer that is known.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    address: Address,
    identity: Identity,
    said: Advertisement,
    until: Time,
}

impl Peer {
    /// The address its last frame came from.
    #[must_use]
    pub fn address(&self) -> Address {
        self.address
    }

    /// What it last said.
    #[must_use]
    pub fn said(&self) -> &Advertisement {
        &self.said
    }

    /// When it will have been silent for too long.
    #[must_use]
    pub fn until(&self) -> Time {
        self.until
    }
}

/// What has come and gone (802.1AB 10.5.2 calls most of them statistics).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data units sent (statsFramesOutTotal).
    pub sent: u64,
    /// Data units received and taken in; with those refused and reflected, statsFramesInTotal.
    pub received: u64,
    /// Frames that are not LLDP to the nearest bridge.
    pub foreign: u64,
    /// Frames refused whole (statsFramesDiscardedTotal): too short, or with a chassis, port or time to live that is
    /// missing, out of place, of a wrong length or there twice.
    pub refused: u64,
    /// Frames with something wrong, refused or not (statsFramesInErrorsTotal).
    pub in_error: u64,
    /// Our own frames, come back.
    pub reflected: u64,
    /// TLVs that are not as their standard says (statsTLVsDiscardedTotal).
    pub malformed: u64,
    /// TLVs that nobody here knows (statsTLVsUnrecognizedTotal).
    pub unknown: u64,
    /// TLVs of which there was one before.
    pub repeated: u64,
    /// Data units from somebody else than the known peer.
    pub from_others: u64,
    /// Peers that were silent for too long (statsAgeoutsTotal).
    pub aged_out: u64,
    /// Data units for which the buffer had no room.
    pub no_room: u64,
}

/// One port's agent.
///
/// Give it every frame with [`Agent::handle_frame`], ask [`Agent::poll_transmit`] whenever [`Agent::poll_at`] has come
/// and after every frame until it has nothing more to send. Time must not run backwards.
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
    /// What it says in CEE's DCBX, while it speaks that.
    converged: Option<Own>,
    transmit: Transmit,
    counters: Counters,
    changed: Time,
}

impl Agent {
    /// An agent of the device `chassis` at a port with that address, which begins to send at once.
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

    /// What the port operates on.
    #[must_use]
    pub fn operating(&self) -> &Operating {
        &self.operating
    }

    /// When that last changed.
    #[must_use]
    pub fn changed_at(&self) -> Time {
        self.changed
    }

    /// What was configured.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The port's address.
    #[must_use]
    pub fn address(&self) -> Address {
        self.address
    }

    /// What the port says of itself; in CEE's DCBX it says what it wants instead.
    #[must_use]
    pub fn advertised(&self) -> &Advertisement {
        &self.said
    }

    /// The peer, if one is known, whether or not it is followed.
    #[must_use]
    pub fn peer(&self) -> Option<&Peer> {
        self.peer.as_ref()
    }

    /// How many others there are at least beside the known peer.
    #[must_use]
    pub fn others(&self) -> usize {
        self.others.count()
    }

    /// What has come and gone.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What does not fit.
    pub fn findings(&self) -> impl Iterator<Item = Finding> + '_ {
        let crowded = self.others.count() > 0;
        finding::findings(&self.settings, self.address, &self.operating, self.followed(), crowded)
    }

    /// Takes in a frame, with or without its check sequence.
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

    /// Time has passed: forgets who has been silent for too long.
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

    /// The link has failed: nothing is sent, and everybody is forgotten, as lldpad's DCBX does. A caller that leaves it
    /// out, as 802.1AB's receive machine would, believes what was heard for its time to live.
    pub fn handle_link_down(&mut self, now: Time) {
        self.transmit.unlink();
        self.forget_all(now);
    }

    /// The link works again, perhaps to somebody else: the agent starts anew (rxInitializeLLDP, txInitializeLLDP of
    /// 802.1AB 9.2) and speaks at once.
    pub fn handle_link_up(&mut self, now: Time) {
        self.forget_all(now);
        self.transmit.link(now);
    }

    fn forget_all(&mut self, now: Time) {
        (self.peer, self.others) = (None, Others::default());
        self.settle(now);
    }

    /// Somebody configured the port anew.
    pub fn configure(&mut self, now: Time, settings: Settings) {
        self.settings = settings;
        self.settle(now);
    }

    /// The agent will say that it leaves, and then be silent.
    pub fn shut_down(&mut self) {
        self.transmit.leave();
    }

    /// The agent speaks again, but not before its delay after a shutdown.
    pub fn start(&mut self, now: Time) {
        self.transmit.start(now, &self.timers);
    }

    /// When it wants to be asked again; it may be in the past.
    #[must_use]
    pub fn poll_at(&self) -> Option<Time> {
        let ageing = self.peer.map(|peer| peer.until);
        [self.transmit.due(), ageing, self.others.due()].into_iter().flatten().min()
    }

    /// Writes the frame that is to be sent now, without its check sequence, and returns its length.
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

    /// The peer that is followed: the known one while there is nobody else.
    pub(crate) fn followed(&self) -> Option<&Peer> {
        self.peer.as_ref().filter(|_| self.others.count() == 0)
    }

    fn own_identity(&self) -> Option<Identity> {
        let (chassis, port) = identifiers(&self.chassis, &self.address)?;
        Some(Identity::new(&chassis, &port))
    }

    /// Works out again what the port operates on and says; tells it if that has changed.
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
