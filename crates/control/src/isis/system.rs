//! A bridge: its ports, its database, and its timers.

use super::circuit::{Adjacency, Circuit, ENTRIES};
use super::database::{Compared, Database, End, LARGEST_PDU, Stored};
use super::settings::{Port, Settings, Timers};
use super::topology::Topology;
use super::write;
use std::collections::BTreeSet;
use units::{Span, Time};
use wire::ethernet::{Frame, LARGEST_LENGTH, Llc};
use wire::isis::tlv::{Entry, State, Tlv};
use wire::isis::{Hello, LinkState, LspId, Pdu, Repr};
use wire::{Address, Writer};

const FIRST: LspId = [0; 8];
const LAST: LspId = [0xFF; 8];
/// Minimum interval between computations of the digest, which reads the whole database: bounds the load by a neighbour.
const DIGEST_APART: Span = Span::from_millis(100);

/// Statistics of a system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Hellos sent.
    pub hellos: u64,
    /// Link-state PDUs sent.
    pub link_states: u64,
    /// Sequence number PDUs sent.
    pub sequence_numbers: u64,
    /// PDUs received and accepted.
    pub received: u64,
    /// Frames other than IS-IS.
    pub foreign: u64,
    /// Frames rejected as a whole: damaged, too long, of an unknown kind, or link-state PDUs with the sequence number
    /// zero, which means none (ISO 10589 7.3.16.1: the first is one).
    pub refused: u64,
    /// The system's own hellos, reflected to it.
    pub reflected: u64,
    /// Hellos from another area, with another mapping of VLANs, without a handshake, or from a system that is not a
    /// bridge at a port without IPv4.
    pub mismatched: u64,
    /// Hellos from a second neighbour at a port or for another system; other PDUs from systems that are not neighbours.
    pub from_others: u64,
    /// Malformed TLVs.
    pub malformed: u64,
    /// Link-state PDUs that did not fit into the database.
    pub no_room: u64,
    /// Adjacencies that expired.
    pub silent: u64,
    /// Link-state PDUs that expired without a refresh.
    pub aged_out: u64,
    /// Versions of the system's own link state.
    pub generated: u64,
}

/// A fragment of the own link state.
#[derive(Clone, Copy, Debug, Default)]
struct Fragment {
    sequence: u32,
    made: Option<Time>,
    wanted: Option<Time>,
}

/// A bridge. Pass every frame to [`System::handle_frame`]. Call [`System::poll_transmit`] at the time of
/// [`System::poll_at`] and after every frame, until it has nothing more to send. Time must not run backwards.
#[derive(Clone, Debug)]
pub struct System {
    settings: Settings,
    timers: Timers,
    circuits: Vec<Circuit>,
    fragments: Vec<Fragment>,
    database: Database,
    /// The digest of the topology, for which version of the database, and when it was computed.
    digest: Option<(u64, Time, [u8; 32])>,
    /// Whether it is shutting down and advertises nothing new.
    leaving: bool,
    counters: Counters,
}

impl System {
    /// Creates a bridge with these ports, each given as a [`Port`] or as an address and a metric. It starts to send at
    /// once. Ports beyond 16384 cannot be advertised and are not used.
    pub fn new(
        now: Time,
        settings: Settings,
        ports: impl IntoIterator<Item = impl Into<Port>>,
        timers: Timers,
    ) -> System {
        let most = 256 * write::PORTS;
        let circuits: Vec<Circuit> = ports.into_iter().take(most).map(|port| Circuit::new(now, port.into())).collect();
        let fragment = Fragment { wanted: Some(now), ..Fragment::default() };
        let fragments = vec![fragment; circuits.len().div_ceil(write::PORTS).max(1)];
        let (database, counters) = (Database::default(), Counters::default());
        let mut system =
            System { settings, timers, circuits, fragments, database, digest: None, leaving: false, counters };
        system.generate(now);
        system
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the statistics.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the adjacency at a port, in any state.
    #[must_use]
    pub fn adjacency(&self, port: usize) -> Option<&Adjacency> {
        self.circuits.get(port)?.adjacency.as_ref()
    }

    /// Returns the graph that the database describes.
    #[must_use]
    pub fn topology(&self) -> Topology {
        Topology::of(&self.database)
    }

    /// Returns the time of the last change of the database's content. A newer version with the same content is no
    /// change.
    #[must_use]
    pub fn changed_at(&self) -> Time {
        self.database.changed_at()
    }

    /// Returns a number that grows whenever a link-state PDU is stored, purged or forgotten. A caller that shows
    /// [`System::entries`] can compare it instead of the entries.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.database.revision()
    }

    /// Returns the link-state PDUs in the database, purged ones included, as entries of sequence number PDUs.
    pub fn entries(&self, now: Time) -> impl Iterator<Item = Entry> + '_ {
        self.database.iter().map(move |(id, stored)| stored.entry(*id, now))
    }

    /// Returns a link-state PDU of the database as received; its remaining lifetime is in [`System::entries`].
    #[must_use]
    pub fn octets(&self, id: &LspId) -> Option<&[u8]> {
        self.database.get(id).map(Stored::octets)
    }

    /// Returns the number of link-state PDUs that the neighbour at a port has yet to receive or acknowledge.
    #[must_use]
    pub fn unacknowledged(&self, port: usize) -> usize {
        self.circuits.get(port).map_or(0, |circuit| circuit.flood.len())
    }

    /// Returns the state held on behalf of others: link-state PDUs, and the number to be sent or answered at all ports.
    #[must_use]
    pub fn remembered(&self) -> (usize, usize) {
        let pending = self.circuits.iter().map(|circuit| circuit.flood.len() + circuit.answers.len()).sum();
        (self.database.len(), pending)
    }

    /// Receives a frame at a port, with or without its check sequence; a frame at a nonexistent port is ignored.
    pub fn handle_frame(&mut self, now: Time, port: usize, bytes: &[u8]) {
        self.handle_timeout(now);
        if !self.circuits.get(port).is_some_and(|circuit| circuit.enabled) {
            return;
        }
        let Ok(frame) = Frame::new(bytes) else {
            self.counters.refused += 1;
            return;
        };
        let groups = [Address::ALL_INTERMEDIATE_SYSTEMS, Address::ALL_L1_SYSTEMS];
        if frame.type_or_length() > LARGEST_LENGTH || !groups.contains(&frame.destination()) {
            self.counters.foreign += 1;
            return;
        }
        let source = frame.source();
        let pdu = Llc::parse(frame.payload()).ok().filter(|(llc, _)| *llc == Llc::ISO && !source.is_group());
        let pdu = pdu.and_then(|(_, rest)| Pdu::parse(rest).ok());
        // Hellos may fill the frame: some are padded to show that the link carries it.
        let fits = |pdu: &Pdu| matches!(pdu.repr, Repr::Hello(_)) || pdu.bytes().len() <= LARGEST_PDU;
        let numbered = |pdu: &Pdu| !matches!(pdu.repr, Repr::LinkState(LinkState { sequence: 0, .. }));
        let Some(pdu) = pdu.filter(|pdu| fits(pdu) && pdu.is_intact() && numbered(pdu)) else {
            self.counters.refused += 1;
            return;
        };
        if let Repr::Hello(hello) = pdu.repr {
            self.on_hello(now, port, source, hello, &pdu);
            return;
        }
        if self.circuits[port].up().is_none_or(|it| it.address != source) {
            self.counters.from_others += 1;
            return;
        }
        self.counters.received += 1;
        match pdu.repr {
            Repr::LinkState(state) => self.on_link_state(now, port, &state, &pdu),
            Repr::Complete(complete) => {
                self.on_sequence_numbers(now, port, &pdu, Some((complete.first, complete.last)))
            }
            Repr::Partial(_) => self.on_sequence_numbers(now, port, &pdu, None),
            Repr::Hello(_) => {}
        }
    }

    /// Advances time: removes expired adjacencies, purges expired link state, and advertises changes.
    pub fn handle_timeout(&mut self, now: Time) {
        for port in 0..self.circuits.len() {
            if self.circuits[port].adjacency.is_some_and(|it| it.until <= now) {
                self.counters.silent += 1;
                self.set_adjacency(now, port, None);
            }
        }
        while let Some(end) = self.database.next_end(now) {
            match end {
                End::Aged(id) => {
                    self.counters.aged_out += 1;
                    self.database.expire(now, &id, &self.timers);
                    self.flood(now, id, None);
                }
                End::Forgotten(id) => self.circuits.iter_mut().for_each(|circuit| circuit.flood.clear(&id)),
            }
        }
        self.generate(now);
    }

    /// The link of a port failed.
    pub fn handle_link_down(&mut self, now: Time, port: usize) {
        if port < self.circuits.len() {
            self.set_adjacency(now, port, None);
            self.circuits[port].enabled = false;
            self.generate(now);
        }
    }

    /// The link of a port works again.
    pub fn handle_link_up(&mut self, now: Time, port: usize) {
        if let Some(circuit) = self.circuits.get_mut(port).filter(|_| !self.leaving) {
            (circuit.enabled, circuit.hello_due) = (true, now);
        }
    }

    /// Shuts down: purges its own link state, then reports all adjacencies as down. After [`System::poll_transmit`] has
    /// returned these frames, the system neither sends nor receives.
    pub fn shut_down(&mut self, now: Time) {
        self.leaving = true;
        for number in 0..self.fragments.len() {
            self.fragments[number].wanted = None;
            let id = self.own_id(number);
            self.database.expire(now, &id, &self.timers);
            self.flood(now, id, None);
        }
        self.circuits.iter_mut().for_each(|circuit| circuit.hello_due = now);
    }

    /// Returns the time of its next call, which may be in the past.
    #[must_use]
    pub fn poll_at(&self) -> Option<Time> {
        let circuits = self.circuits.iter().filter_map(Circuit::due);
        let fragments = self.fragments.iter().filter_map(|fragment| fragment.wanted);
        circuits.chain(fragments).chain(self.database.due()).min()
    }

    /// Writes the next frame to send now, without its check sequence, and returns its port and length.
    pub fn poll_transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<(usize, usize)> {
        self.handle_timeout(now);
        let port = self.circuits.iter().position(|circuit| circuit.due().is_some_and(|due| due <= now))?;
        let mut out = Writer::new(buffer);
        self.speak(now, port, &mut out);
        Some((port, out.finish().ok()?))
    }

    fn speak(&mut self, now: Time, port: usize, out: &mut Writer) {
        // Who leaves says all else before: nobody listens to a stranger.
        let flooding = self.circuits[port].flood.first().is_some_and(|(at, _)| at <= now);
        let farewell = self.leaving && !flooding;
        if self.circuits[port].enabled && self.circuits[port].hello_due <= now && (farewell || !self.leaving) {
            if farewell {
                self.set_adjacency(now, port, None);
            }
            let digest = self.own_digest(now);
            let circuit = &mut self.circuits[port];
            circuit.enabled = !farewell;
            circuit.hello_due = now.saturating_add(self.timers.hello);
            self.counters.hellos += 1;
            write::frame(out, Address::ALL_INTERMEDIATE_SYSTEMS, circuit.port.address, |out| {
                write::hello(out, &self.settings, &self.timers, (port as u32, circuit), digest);
            });
            return;
        }
        let circuit = &mut self.circuits[port];
        let (settings, source) = (&self.settings, circuit.port.address);
        if let Some((_, first)) = circuit.complete.filter(|&(at, _)| at <= now) {
            let mut list: Vec<Entry> =
                self.database.range(first..=LAST).map(|(id, it)| it.entry(*id, now)).take(ENTRIES + 1).collect();
            // Where more follow, this one ends where the next begins.
            let next = (list.len() > ENTRIES).then(|| list.pop()).flatten().map(|entry| entry.id);
            let last = next.map_or(LAST, |id| (u64::from_be_bytes(id) - 1).to_be_bytes());
            circuit.complete = Some(next.map_or((now.saturating_add(self.timers.complete), FIRST), |next| (now, next)));
            self.counters.sequence_numbers += 1;
            write::frame(out, Address::ALL_L1_SYSTEMS, source, |out| {
                write::complete(out, settings, (first, last), &list);
            });
        } else if let Some((_, id)) = circuit.flood.first().filter(|&(at, _)| at <= now) {
            circuit.flood.set(id, now.saturating_add(self.timers.retransmit));
            self.counters.link_states += 1;
            if let Some(stored) = self.database.get(&id) {
                write::frame(out, Address::ALL_L1_SYSTEMS, source, |out| stored.emit(now, out));
            }
        } else {
            let list: Vec<Entry> = std::mem::take(&mut circuit.answers).into_values().collect();
            circuit.answers_due = None;
            self.counters.sequence_numbers += 1;
            write::frame(out, Address::ALL_L1_SYSTEMS, source, |out| write::partial(out, settings, &list));
        }
    }

    /// The digest of the topology, or of one that was true a moment ago.
    fn own_digest(&mut self, now: Time) -> [u8; 32] {
        let version = self.database.version();
        match self.digest {
            Some((of, at, digest)) if of == version || now < at.saturating_add(DIGEST_APART) => digest,
            _ => {
                let digest = self.topology().digest();
                self.digest = Some((version, now, digest));
                digest
            }
        }
    }

    fn on_hello(&mut self, now: Time, port: usize, address: Address, hello: Hello, pdu: &Pdu) {
        if hello.source == self.settings.id {
            self.counters.reflected += 1;
            return;
        }
        let said = write::Said::read(pdu, &self.settings);
        self.counters.malformed += said.malformed;
        let kind = if said.bridge { said.mcid } else { said.ipv4 && self.circuits[port].port.ipv4.is_some() };
        let fits = said.area && kind && hello.levels & 1 == 1;
        let Some(heard) = said.adjacency.filter(|_| fits) else {
            self.counters.mismatched += 1;
            return;
        };
        let known = self.circuits[port].adjacency;
        let to_us = heard.neighbour.is_none_or(|it| it == (self.settings.id, port as u32));
        if !to_us || known.is_some_and(|it| it.neighbour != hello.source) {
            self.counters.from_others += 1;
            return;
        }
        self.counters.received += 1;
        // RFC 5303 3.2. Who does not name us has not heard us, whatever it claims.
        let heard_state = if heard.neighbour.is_some() { heard.state } else { State::Down };
        let state = match (known.map(|it| it.state), heard_state) {
            (_, State::Down) => State::Initializing,
            (_, State::Initializing) => State::Up,
            (None, State::Up) => State::Down,
            (Some(_), State::Up) => State::Up,
        };
        if state == State::Down || hello.holding_time == 0 {
            self.set_adjacency(now, port, None);
        } else {
            let own = self.own_digest(now);
            let since = known.filter(|it| it.state == state).map_or(now, |it| it.since);
            let adjacency = Adjacency {
                neighbour: hello.source,
                address,
                circuit: heard.circuit,
                state,
                until: now.saturating_add(Span::from_secs(1) * u64::from(hello.holding_time)),
                since,
                bridge: said.bridge,
                same_vlans: said.vlans,
                same_view: said.digest == Some(own),
            };
            self.set_adjacency(now, port, Some(adjacency));
        }
        self.generate(now);
    }

    /// Sets or removes an adjacency; sends a hello after a change at once, and updates the link state when it is due.
    fn set_adjacency(&mut self, now: Time, port: usize, adjacency: Option<Adjacency>) {
        let circuit = &mut self.circuits[port];
        let (before, was_up) = (circuit.adjacency.map(|it| it.state), circuit.up().is_some());
        circuit.adjacency = adjacency;
        if before != adjacency.map(|it| it.state) {
            circuit.hello_due = now;
        }
        let is_up = circuit.up().is_some();
        if is_up == was_up {
            return;
        }
        circuit.hush();
        if is_up {
            circuit.complete = Some((now, FIRST));
            for (id, _) in self.database.iter() {
                circuit.flood.set(*id, now);
            }
        }
        self.want(now, port / write::PORTS);
    }

    /// Schedules a new version of a fragment, not before its interval allows.
    fn want(&mut self, now: Time, fragment: usize) {
        let Some(fragment) = self.fragments.get_mut(fragment).filter(|_| !self.leaving) else { return };
        let soonest = fragment.made.map_or(now, |made| made.saturating_add(self.timers.generation).max(now));
        // While its numbers are used up it waits for longer than that.
        let exhausted = fragment.sequence == u32::MAX;
        fragment.wanted = Some(match fragment.wanted {
            Some(wanted) if exhausted => wanted,
            Some(wanted) => wanted.min(soonest),
            None => soonest,
        });
    }

    /// Generates the fragments that are due.
    fn generate(&mut self, now: Time) {
        for number in 0..self.fragments.len() {
            if self.fragments[number].wanted.is_some_and(|wanted| wanted <= now) {
                self.make(now, number);
            }
        }
    }

    fn own_id(&self, fragment: usize) -> LspId {
        let [a, b, c, d, e, f] = self.settings.id;
        [a, b, c, d, e, f, 0, fragment as u8]
    }

    fn make(&mut self, now: Time, number: usize) {
        let id = self.own_id(number);
        let fragment = &mut self.fragments[number];
        // After the wait below everybody has forgotten the last version.
        let sequence = fragment.sequence.checked_add(1).unwrap_or(1);
        if sequence == u32::MAX {
            self.exhaust(now, number);
            return;
        }
        let wanted = Some(now.saturating_add(self.timers.refresh));
        *fragment = Fragment { sequence, made: Some(now), wanted };
        let lifetime = self.timers.lifetime;
        let state = LinkState { lifetime, id, sequence, overload: false, attached: 0, level: 1 };
        let ports = self.circuits.iter().enumerate().skip(number * write::PORTS).take(write::PORTS);
        // Port numbers begin at 1 (802.1Q: zero is no port).
        let neighbours = ports.filter_map(|(port, it)| Some((port as u16 + 1, it.port.metric, it.up()?)));
        let mut buffer = [0; LARGEST_PDU];
        let mut out = Writer::new(&mut buffer);
        write::link_state(&mut out, &self.settings, state, neighbours);
        let written = out.finish().ok().and_then(|length| buffer.get(..length)).and_then(|it| Pdu::parse(it).ok());
        if let Some(pdu) = written {
            self.database.store(now, &state, pdu.checksum(), pdu.bytes(), &self.timers);
            self.counters.generated += 1;
            self.flood(now, id, None);
        }
    }

    /// Sequence numbers are exhausted (ISO 10589 7.3.16.1): purges the last version, and starts again with the first
    /// number after all systems have forgotten it.
    fn exhaust(&mut self, now: Time, number: usize) {
        let id = self.own_id(number);
        let life = Span::from_secs(1) * u64::from(self.timers.lifetime) + self.timers.zero_age;
        let wanted = (!self.leaving).then(|| now.saturating_add(life));
        self.fragments[number] = Fragment { sequence: u32::MAX, made: None, wanted };
        self.database.expire(now, &id, &self.timers);
        self.flood(now, id, None);
    }

    /// One is to be sent at all ports with a neighbour but the one it came from.
    fn flood(&mut self, now: Time, id: LspId, from: Option<usize>) {
        for (port, circuit) in self.circuits.iter_mut().enumerate() {
            if circuit.up().is_some() && from != Some(port) {
                circuit.flood.set(id, now);
                circuit.answers.remove(&id);
                circuit.answers_due = circuit.answers_due.filter(|_| !circuit.answers.is_empty());
            }
        }
    }

    fn acknowledge(&mut self, now: Time, port: usize, entry: Entry) {
        let circuit = &mut self.circuits[port];
        circuit.answer(entry, now.saturating_add(self.timers.acknowledge));
        // A PDU that is full has nothing to wait for.
        if circuit.answers.len() >= ENTRIES {
            circuit.answers_due = Some(now);
        }
    }

    fn on_link_state(&mut self, now: Time, port: usize, state: &LinkState, pdu: &Pdu) {
        let (id, checksum) = (state.id, pdu.checksum());
        let entry = Entry { lifetime: state.lifetime, id, sequence: state.sequence, checksum };
        let mut tlvs = pdu.tlvs();
        tlvs.by_ref().for_each(drop);
        self.counters.malformed += tlvs.malformed() as u64;
        let compared = self.database.get(&id).map(|stored| stored.compare(&entry));
        if id[..6] == self.settings.id && matches!(compared, None | Some(Compared::Newer | Compared::Confused)) {
            self.on_own(now, port, state, entry, pdu);
            return;
        }
        match compared {
            // What is taken back and was never known need not be.
            None if state.lifetime == 0 => self.acknowledge(now, port, entry),
            None if self.database.len() >= self.settings.limit => self.counters.no_room += 1,
            None | Some(Compared::Newer) => {
                self.database.store(now, state, checksum, pdu.bytes(), &self.timers);
                self.flood(now, id, Some(port));
                self.circuits[port].flood.clear(&id);
                self.acknowledge(now, port, entry);
            }
            Some(Compared::Same) => {
                self.circuits[port].flood.clear(&id);
                self.acknowledge(now, port, entry);
            }
            Some(Compared::Older) => self.circuits[port].flood.ask(id, now),
            // ISO 10589 7.3.16.2: nobody knows which is right; its maker will say it anew.
            Some(Compared::Confused) => {
                self.database.expire(now, &id, &self.timers);
                self.flood(now, id, None);
            }
        }
    }

    /// Another system has a newer version of our link state, from before a restart or forged.
    fn on_own(&mut self, now: Time, port: usize, state: &LinkState, entry: Entry, pdu: &Pdu) {
        let [.., pseudonode, number] = state.id;
        let number = usize::from(number);
        match self.fragments.get_mut(number).filter(|_| pseudonode == 0) {
            Some(_) if state.sequence == u32::MAX && state.lifetime != 0 => {
                self.database.store(now, state, entry.checksum, pdu.bytes(), &self.timers);
                self.exhaust(now, number);
            }
            Some(fragment) => {
                // While numbers are used up, everybody is to forget what is there.
                if fragment.sequence != u32::MAX {
                    fragment.sequence = state.sequence.max(fragment.sequence).min(u32::MAX - 1);
                    self.want(now, number);
                }
                self.acknowledge(now, port, entry);
                self.generate(now);
            }
            None if state.lifetime == 0 => self.acknowledge(now, port, entry),
            None if self.database.len() >= self.settings.limit => self.counters.no_room += 1,
            // We have no such fragment: take it back everywhere.
            None => {
                self.database.store(now, state, entry.checksum, pdu.bytes(), &self.timers);
                self.database.expire(now, &state.id, &self.timers);
                self.flood(now, state.id, None);
            }
        }
    }

    /// The neighbour lists its link-state PDUs; in a range, all of them.
    fn on_sequence_numbers(&mut self, now: Time, port: usize, pdu: &Pdu, range: Option<(LspId, LspId)>) {
        let mut listed = BTreeSet::new();
        let mut tlvs = pdu.tlvs();
        for tlv in tlvs.by_ref() {
            let Tlv::Entries(entries) = tlv else { continue };
            for entry in entries.iter() {
                listed.insert(entry.id);
                self.on_entry(now, port, &entry);
            }
        }
        self.counters.malformed += tlvs.malformed() as u64;
        let Some((first, last)) = range else { return };
        let circuit = &mut self.circuits[port];
        for (id, stored) in self.database.range(first..=last) {
            if !stored.is_dead() && !listed.contains(id) {
                circuit.flood.ask(*id, now);
            }
        }
    }

    fn on_entry(&mut self, now: Time, port: usize, entry: &Entry) {
        let circuit = &mut self.circuits[port];
        let Some(stored) = self.database.get(&entry.id) else {
            let real = entry.lifetime != 0 && entry.sequence != 0 && entry.checksum != 0;
            if real && self.database.len() < self.settings.limit {
                circuit.answer(Entry { sequence: 0, ..*entry }, now);
            }
            return;
        };
        match stored.compare(entry) {
            Compared::Same => circuit.flood.clear(&entry.id),
            // Who gets the other's of two that differ takes both back.
            Compared::Older | Compared::Confused => circuit.flood.ask(entry.id, now),
            // By our older version the neighbour sees that we want its own.
            Compared::Newer => {
                circuit.flood.clear(&entry.id);
                circuit.answer(stored.entry(entry.id, now), now);
            }
        }
    }
}
