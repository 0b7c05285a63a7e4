//! IS-IS (ISO 10589) as used by shortest path bridging (RFC 6329): point-to-point hellos, level 1 link-state PDUs, and
//! sequence number PDUs, which list the link-state PDUs of a system.
//!
//! | octets | field |
//! |---|---|
//! | 0 | 0x83 |
//! | 1 | length of the fixed part |
//! | 2..4 | version 1, length of identifiers (0 means 6) |
//! | 4 | type: 17 hello, 18 link state, 24 complete and 26 partial sequence numbers |
//! | 5..8 | version 1, reserved, maximum area addresses (0 means 3) |
//! | 8.. | depends on the type, see the structures; then TLVs |
//!
//! A PDU with a wrong fixed part or length is rejected. A malformed TLV is skipped and counted, an unknown one is
//! passed on unchanged: link-state PDUs are flooded unchanged, whatever they contain.

pub mod checksum;
pub mod spb;
pub mod tlv;

use crate::bytes::{array, at_least, be8, be16, be32, from};
use crate::ethernet::{Llc, emit_llc};
use crate::{Address, Error, Writer, fcs};
pub use tlv::{Tlv, Tlvs};

/// Identifier of a system.
pub type SystemId = [u8; 6];
/// Identifier of a system and one of its pseudonodes; the last octet is zero for the system itself.
pub type NodeId = [u8; 7];
/// Identifier of a node and the number of its fragment.
pub type LspId = [u8; 8];

const DISCRIMINATOR: u8 = 0x83;
const VERSION: u8 = 1;
const COMMON: usize = 8;
const HELLO: u8 = 17;
const LINK_STATE: u8 = 18;
const COMPLETE: u8 = 24;
const PARTIAL: u8 = 26;

/// The fixed part of a PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repr {
    /// Hello to the neighbour.
    Hello(Hello),
    /// Links of a node.
    LinkState(LinkState),
    /// All link-state PDUs of the sender in a range.
    Complete(Complete),
    /// Link-state PDUs that the sender acknowledges or requests.
    Partial(Partial),
}

/// A point-to-point hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Levels of the circuit: 1, 2 or both.
    pub levels: u8,
    /// System that sends it.
    pub source: SystemId,
    /// Seconds until the adjacency expires if no other hello arrives.
    pub holding_time: u16,
    /// The sender's number of this circuit.
    pub circuit: u8,
}

/// A level 1 link-state PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// Remaining lifetime in seconds; zero purges the PDU.
    pub lifetime: u16,
    /// Identifier of the PDU.
    pub id: LspId,
    /// Sequence number.
    pub sequence: u32,
    /// Overload: no path should lead through the sender.
    pub overload: bool,
    /// Metrics by which the sender is attached to other areas, 4 bits; only carried along here.
    pub attached: u8,
    /// Level of the sender, 1 to 3.
    pub level: u8,
}

/// Sequence numbers of all link-state PDUs in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complete {
    /// Node that sends it.
    pub source: NodeId,
    /// First identifier of the range.
    pub first: LspId,
    /// Last identifier of the range.
    pub last: LspId,
}

/// Sequence numbers of some link-state PDUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partial {
    /// Node that sends it.
    pub source: NodeId,
}

/// A received PDU: its fixed part, its TLVs, and its octets.
#[derive(Clone, Copy, Debug)]
pub struct Pdu<'a> {
    /// The fixed part.
    pub repr: Repr,
    bytes: &'a [u8],
}

impl<'a> Pdu<'a> {
    /// Parses a PDU after its LLC header. Octets beyond the PDU's own end are ignored.
    pub fn parse(bytes: &'a [u8]) -> Result<Pdu<'a>, Error> {
        let what = "IS-IS";
        at_least(bytes, COMMON, what)?;
        let field = |field, value: u8| Err(Error::Field { what, field, value: u64::from(value) });
        let [discriminator, header, version, id_length, kind, version_again, ..] = array::<8>(bytes, 0);
        if discriminator != DISCRIMINATOR {
            return field("discriminator", discriminator);
        }
        if version != VERSION || version_again != VERSION {
            return field("version", if version == VERSION { version_again } else { version });
        }
        if id_length != 0 && id_length != 6 {
            return field("identifier length", id_length);
        }
        let (fixed, length_at) = match kind & 31 {
            HELLO => (20, 17),
            LINK_STATE => (27, 8),
            COMPLETE => (33, 8),
            PARTIAL => (17, 8),
            other => return field("type", other),
        };
        at_least(bytes, fixed, what)?;
        if usize::from(header) != fixed {
            return field("header length", header);
        }
        let length = usize::from(be16(bytes, length_at));
        let bytes = bytes.get(..length).ok_or(Error::Short { what: "IS-IS PDU", need: length, have: bytes.len() })?;
        at_least(bytes, fixed, "IS-IS PDU length")?;
        let levels = be8(bytes, 8) & 3;
        if kind & 31 == HELLO && levels == 0 {
            return field("circuit type", levels);
        }
        let repr = match kind & 31 {
            HELLO => Repr::Hello(Hello {
                levels,
                source: array(bytes, 9),
                holding_time: be16(bytes, 15),
                circuit: be8(bytes, 19),
            }),
            LINK_STATE => Repr::LinkState(LinkState {
                lifetime: be16(bytes, 10),
                id: array(bytes, 12),
                sequence: be32(bytes, 20),
                overload: be8(bytes, 26) & 4 != 0,
                attached: be8(bytes, 26) >> 3 & 15,
                level: be8(bytes, 26) & 3,
            }),
            COMPLETE => {
                Repr::Complete(Complete { source: array(bytes, 10), first: array(bytes, 17), last: array(bytes, 25) })
            }
            _ => Repr::Partial(Partial { source: array(bytes, 10) }),
        };
        Ok(Pdu { repr, bytes })
    }

    /// Returns the TLVs.
    #[must_use]
    pub fn tlvs(&self) -> Tlvs<'a> {
        Tlvs::new(from(self.bytes, self.repr.header_length()))
    }

    /// Returns the octets of the PDU, to be flooded unchanged.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the checksum in a link-state PDU; zero in others.
    #[must_use]
    pub fn checksum(&self) -> u16 {
        match self.repr {
            Repr::LinkState(_) => be16(self.bytes, checksum::PLACE),
            _ => 0,
        }
    }

    /// Returns whether the checksum of a link-state PDU is correct. A purge (lifetime zero) needs none, and other PDUs
    /// have none.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        match self.repr {
            Repr::LinkState(it) => it.lifetime == 0 || checksum::is_right(self.bytes),
            _ => true,
        }
    }
}

impl Repr {
    /// Returns the length of the fixed part in octets.
    #[must_use]
    pub fn header_length(&self) -> usize {
        match self {
            Repr::Hello(_) => 20,
            Repr::LinkState(_) => 27,
            Repr::Complete(_) => 33,
            Repr::Partial(_) => 17,
        }
    }

    fn kind(&self) -> u8 {
        match self {
            Repr::Hello(_) => HELLO,
            Repr::LinkState(_) => LINK_STATE,
            Repr::Complete(_) => COMPLETE,
            Repr::Partial(_) => PARTIAL,
        }
    }

    /// Writes a PDU after its LLC header; `tlvs` writes the TLVs. Length and checksum are set accordingly.
    pub fn emit(&self, out: &mut Writer, tlvs: impl FnOnce(&mut Writer)) {
        let start = out.position();
        out.bytes(&[DISCRIMINATOR, self.header_length() as u8, VERSION, 0, self.kind(), VERSION, 0, 0]);
        let mut length_at = out.position();
        match self {
            Repr::Hello(it) => {
                out.u8(it.levels & 3);
                out.bytes(&it.source);
                out.u16(it.holding_time);
                length_at = out.position();
                out.u16(0);
                out.u8(it.circuit);
            }
            Repr::LinkState(it) => {
                out.u16(0);
                out.u16(it.lifetime);
                out.bytes(&it.id);
                out.u32(it.sequence);
                out.u16(0);
                out.u8((it.attached & 15) << 3 | u8::from(it.overload) << 2 | it.level & 3);
            }
            Repr::Complete(it) => {
                out.u16(0);
                out.bytes(&it.source);
                out.bytes(&it.first);
                out.bytes(&it.last);
            }
            Repr::Partial(it) => {
                out.u16(0);
                out.bytes(&it.source);
            }
        }
        tlvs(out);
        let length = (out.position() - start) as u16;
        out.patch(length_at, &length.to_be_bytes());
        if matches!(self, Repr::LinkState(_)) {
            let sum = checksum::of(out.written(start));
            out.patch(start + checksum::PLACE, &sum.to_be_bytes());
        }
    }

    /// Writes the whole frame, with its check sequence: hellos to all intermediate systems, other PDUs to those of
    /// level 1.
    pub fn emit_frame(&self, source: Address, out: &mut Writer, tlvs: impl FnOnce(&mut Writer)) {
        let destination = match self {
            Repr::Hello(_) => Address::ALL_INTERMEDIATE_SYSTEMS,
            _ => Address::ALL_L1_SYSTEMS,
        };
        emit_llc(out, destination, source, Llc::ISO, |out| self.emit(out, tlvs));
        fcs::seal(out);
    }
}
