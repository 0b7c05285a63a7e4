//! TLVs of type:8, length:8, and the TLVs that all of IS-IS uses.

use super::spb::{self, Capability, PortCapability};
use super::{LspId, NodeId, SystemId};
use crate::bytes::{array, at_least, be8, be16, be24, be32, from};
use crate::{Error, Writer};

const AREAS: u8 = 1;
const PADDING: u8 = 8;
const ENTRIES: u8 = 9;
const NEIGHBOURS: u8 = 22;
const PROTOCOLS: u8 = 129;
const IPV4_ADDRESSES: u8 = 132;
const HOST_NAME: u8 = 137;
const PORT_CAPABILITY: u8 = 143;
const CAPABILITY: u8 = 144;
const ADJACENCY: u8 = 240;

/// Network layer protocol identifiers.
pub mod protocol {
    /// Shortest path bridging (RFC 6329).
    pub const SPB: u8 = 0xC1;
    /// IPv4 (RFC 1195).
    pub const IPV4: u8 = 0xCC;
    /// TRILL (RFC 6328).
    pub const TRILL: u8 = 0xC0;
}

/// A TLV or sub-TLV, not interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a> {
    /// Type.
    pub kind: u8,
    /// Value.
    pub body: &'a [u8],
}

/// An iterator over TLVs or sub-TLVs, not interpreted, up to one that would exceed the end.
#[derive(Clone, Debug)]
pub struct Raws<'a> {
    rest: &'a [u8],
    cut_off: bool,
}

impl<'a> Raws<'a> {
    /// Creates an iterator over the TLVs in these octets.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Raws<'a> {
        Raws { rest: bytes, cut_off: false }
    }

    /// Returns whether the last TLV visited exceeds the end.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.cut_off
    }
}

impl<'a> Iterator for Raws<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        let rest = std::mem::take(&mut self.rest);
        let &[kind, length, ref after @ ..] = rest else {
            self.cut_off |= !rest.is_empty();
            return None;
        };
        let Some((body, next)) = after.split_at_checked(usize::from(length)) else {
            self.cut_off = true;
            return None;
        };
        self.rest = next;
        Some(Raw { kind, body })
    }
}

/// A TLV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tlv<'a> {
    /// Areas of the sender.
    Areas(Areas<'a>),
    /// Padding of that many octets.
    Padding(u8),
    /// Entries of sequence number PDUs.
    Entries(Entries<'a>),
    /// Neighbours with wide metrics (RFC 5305).
    Neighbours(Neighbours<'a>),
    /// Network layer protocols, see [`protocol`].
    Protocols(&'a [u8]),
    /// IPv4 addresses of the interface.
    Ipv4Addresses(&'a [[u8; 4]]),
    /// Name of the sender (RFC 5301).
    HostName(&'a [u8]),
    /// Capability of a port, in hellos (RFC 6329).
    PortCapability(PortCapability<'a>),
    /// Capability of a node, in link-state PDUs (RFC 6329).
    Capability(Capability<'a>),
    /// Three-way handshake (RFC 5303).
    Adjacency(Adjacency),
    /// Unknown TLV.
    Unknown(Raw<'a>),
}

impl<'a> Tlv<'a> {
    /// Parses a TLV.
    pub fn parse(raw: Raw<'a>) -> Result<Tlv<'a>, Error> {
        let Raw { kind, body } = raw;
        let chunked = |what| Error::Field { what, field: "length", value: body.len() as u64 };
        Ok(match kind {
            AREAS => Tlv::Areas(Areas::parse(body)?),
            PADDING => Tlv::Padding(body.len() as u8),
            ENTRIES => match body.as_chunks() {
                (entries, []) => Tlv::Entries(Entries(entries)),
                _ => return Err(chunked("LSP entries")),
            },
            NEIGHBOURS => Tlv::Neighbours(Neighbours::parse(body)?),
            PROTOCOLS => Tlv::Protocols(body),
            IPV4_ADDRESSES => match body.as_chunks() {
                (addresses, []) => Tlv::Ipv4Addresses(addresses),
                _ => return Err(chunked("IPv4 addresses")),
            },
            HOST_NAME => Tlv::HostName(body),
            PORT_CAPABILITY => Tlv::PortCapability(PortCapability::parse(body)?),
            CAPABILITY => Tlv::Capability(Capability::parse(body)?),
            ADJACENCY => Tlv::Adjacency(Adjacency::parse(body)?),
            _ => Tlv::Unknown(raw),
        })
    }

    /// Writes the TLV. No variant can hold more than 255 octets.
    pub fn emit(&self, out: &mut Writer) {
        match self {
            Tlv::Areas(areas) => emit(out, AREAS, |out| out.bytes(areas.0)),
            Tlv::Padding(count) => emit(out, PADDING, |out| out.fill(0, usize::from(*count))),
            Tlv::Entries(entries) => emit(out, ENTRIES, |out| out.bytes(entries.0.as_flattened())),
            Tlv::Neighbours(neighbours) => emit(out, NEIGHBOURS, |out| out.bytes(neighbours.0)),
            Tlv::Protocols(protocols) => emit(out, PROTOCOLS, |out| out.bytes(protocols)),
            Tlv::Ipv4Addresses(addresses) => emit(out, IPV4_ADDRESSES, |out| out.bytes(addresses.as_flattened())),
            Tlv::HostName(name) => emit(out, HOST_NAME, |out| out.bytes(name)),
            Tlv::PortCapability(it) => emit(out, PORT_CAPABILITY, |out| it.emit(out)),
            Tlv::Capability(it) => emit(out, CAPABILITY, |out| it.emit(out)),
            Tlv::Adjacency(it) => emit(out, ADJACENCY, |out| it.emit(out)),
            Tlv::Unknown(raw) => emit(out, raw.kind, |out| out.bytes(raw.body)),
        }
    }
}

/// Writes a TLV or sub-TLV; `body` writes its value, at most 255 octets.
pub fn emit(out: &mut Writer, kind: u8, body: impl FnOnce(&mut Writer)) {
    out.u8(kind);
    let start = out.position();
    out.u8(0);
    body(out);
    let length = (out.position() - start - 1).min(255) as u8;
    out.patch(start, &[length]);
}

/// Writes the TLV of neighbours; `body` writes them with [`Neighbour::emit`].
pub fn emit_neighbours(out: &mut Writer, body: impl FnOnce(&mut Writer)) {
    emit(out, NEIGHBOURS, body);
}

/// Writes the TLV of a port's capability; `body` writes its sub-TLVs.
pub fn emit_port_capability(out: &mut Writer, topology: u16, body: impl FnOnce(&mut Writer)) {
    emit(out, PORT_CAPABILITY, |out| {
        out.u16(topology & 0xFFF);
        body(out);
    });
}

/// Writes the TLV of a node's capability; `body` writes its sub-TLVs.
pub fn emit_capability(out: &mut Writer, overload: bool, topology: u16, body: impl FnOnce(&mut Writer)) {
    emit(out, CAPABILITY, |out| {
        out.u16(u16::from(overload) << 15 | topology & 0xFFF);
        body(out);
    });
}

/// An iterator over valid TLVs. Malformed ones are skipped and counted.
#[derive(Clone, Debug)]
pub struct Tlvs<'a> {
    raws: Raws<'a>,
    malformed: usize,
}

impl<'a> Tlvs<'a> {
    /// Creates an iterator over the TLVs in these octets.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Tlvs<'a> {
        Tlvs { raws: Raws::new(bytes), malformed: 0 }
    }

    /// Returns the number of malformed TLVs so far.
    #[must_use]
    pub fn malformed(&self) -> usize {
        self.malformed + usize::from(self.raws.is_cut_off())
    }
}

impl<'a> Iterator for Tlvs<'a> {
    type Item = Tlv<'a>;

    fn next(&mut self) -> Option<Tlv<'a>> {
        loop {
            match Tlv::parse(self.raws.next()?) {
                Ok(tlv) => return Some(tlv),
                Err(_) => self.malformed += 1,
            }
        }
    }
}

/// Area addresses, each preceded by its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Areas<'a>(&'a [u8]);

impl<'a> Areas<'a> {
    /// Parses the value of a TLV: every address is complete and not empty.
    pub fn parse(body: &'a [u8]) -> Result<Areas<'a>, Error> {
        let mut rest = body;
        while let Some(&length) = rest.first() {
            at_least(rest, 1 + usize::from(length), "area address")?;
            if length == 0 {
                return Err(Error::Field { what: "area address", field: "length", value: 0 });
            }
            rest = from(rest, 1 + usize::from(length));
        }
        Ok(Areas(body))
    }

    /// Returns the addresses.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + 'a {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (area, next) = rest.get(1..)?.split_at_checked(usize::from(*rest.first()?))?;
            rest = next;
            Some(area)
        })
    }
}

/// The entry of a link-state PDU in a sequence number PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Remaining lifetime in seconds.
    pub lifetime: u16,
    /// Identifier of the link-state PDU.
    pub id: LspId,
    /// Sequence number.
    pub sequence: u32,
    /// Checksum.
    pub checksum: u16,
}

impl Entry {
    /// Returns the encoding in the TLV.
    #[must_use]
    pub fn encode(&self) -> [u8; 16] {
        let mut octets = [0; 16];
        let mut out = Writer::new(&mut octets);
        out.u16(self.lifetime);
        out.bytes(&self.id);
        out.u32(self.sequence);
        out.u16(self.checksum);
        octets
    }

    fn decode(octets: &[u8; 16]) -> Entry {
        let (lifetime, id) = (be16(octets, 0), array(octets, 2));
        Entry { lifetime, id, sequence: be32(octets, 10), checksum: be16(octets, 14) }
    }
}

/// Entries, borrowed from the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entries<'a>(&'a [[u8; 16]]);

impl<'a> Entries<'a> {
    /// The largest number of entries in a TLV.
    pub const MOST: usize = 255 / 16;

    /// Creates a list of entries encoded by [`Entry::encode`], if they fit into a TLV.
    #[must_use]
    pub fn new(entries: &'a [[u8; 16]]) -> Option<Entries<'a>> {
        (entries.len() <= Entries::MOST).then_some(Entries(entries))
    }

    /// Returns the entries.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + 'a {
        self.0.iter().map(Entry::decode)
    }
}

/// A neighbour with a wide metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour<'a> {
    /// Identifier of the neighbour.
    pub id: NodeId,
    /// Metric, 24 bits. Shortest path bridging has its own, in a sub-TLV.
    pub metric: u32,
    /// Sub-TLVs.
    pub details: &'a [u8],
}

impl<'a> Neighbour<'a> {
    const FIXED: usize = 11;

    /// Returns the first sub-TLV that is a link metric of shortest path bridging.
    #[must_use]
    pub fn link_metric(&self) -> Option<spb::LinkMetric> {
        Raws::new(self.details).find_map(|raw| spb::LinkMetric::parse(raw).ok())
    }

    /// Writes the neighbour; `details` writes its sub-TLVs.
    pub fn emit(out: &mut Writer, id: NodeId, metric: u32, details: impl FnOnce(&mut Writer)) {
        out.bytes(&id);
        out.u24(metric);
        let start = out.position();
        out.u8(0);
        details(out);
        let length = (out.position() - start - 1).min(255) as u8;
        out.patch(start, &[length]);
    }
}

/// Neighbours, borrowed from the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbours<'a>(&'a [u8]);

impl<'a> Neighbours<'a> {
    /// Parses the value of a TLV: every neighbour is complete.
    pub fn parse(body: &'a [u8]) -> Result<Neighbours<'a>, Error> {
        let mut rest = body;
        while !rest.is_empty() {
            at_least(rest, Neighbour::FIXED, "neighbour")?;
            let length = Neighbour::FIXED + usize::from(be8(rest, 10));
            at_least(rest, length, "neighbour")?;
            rest = from(rest, length);
        }
        Ok(Neighbours(body))
    }

    /// Returns the neighbours.
    pub fn iter(&self) -> impl Iterator<Item = Neighbour<'a>> + 'a {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let length = usize::from(*rest.get(10)?);
            let (details, next) = rest.get(Neighbour::FIXED..)?.split_at_checked(length)?;
            let neighbour = Neighbour { id: array(rest, 0), metric: be24(rest, 7), details };
            rest = next;
            Some(neighbour)
        })
    }
}

/// State of an adjacency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Each side receives the other's hellos and knows that its own are received.
    Up,
    /// Hellos of the other side are received.
    Initializing,
    /// No hellos are received.
    Down,
}

/// The three-way handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjacency {
    /// State at the sender.
    pub state: State,
    /// The sender's number of this circuit.
    pub circuit: u32,
    /// Neighbour that the sender receives, and that neighbour's number of the circuit.
    pub neighbour: Option<(SystemId, u32)>,
}

impl Adjacency {
    fn parse(body: &[u8]) -> Result<Adjacency, Error> {
        let what = "three-way adjacency";
        at_least(body, 5, what)?;
        let state = match be8(body, 0) {
            0 => State::Up,
            1 => State::Initializing,
            2 => State::Down,
            value => return Err(Error::Field { what, field: "state", value: u64::from(value) }),
        };
        let neighbour = match body.len() {
            5 => None,
            15 => Some((array(body, 5), be32(body, 11))),
            length => return Err(Error::Field { what, field: "length", value: length as u64 }),
        };
        Ok(Adjacency { state, circuit: be32(body, 1), neighbour })
    }

    fn emit(&self, out: &mut Writer) {
        out.u8(match self.state {
            State::Up => 0,
            State::Initializing => 1,
            State::Down => 2,
        });
        out.u32(self.circuit);
        if let Some((system, circuit)) = self.neighbour {
            out.bytes(&system);
            out.u32(circuit);
        }
    }
}
