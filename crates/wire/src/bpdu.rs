//! Bridge protocol data units (802.1Q 14): configuration, rapid, and the fixed part of multiple and shortest path
//! spanning tree. The extensions of the latter two are kept as raw octets; only their configuration identifiers are
//! parsed.
//!
//! | octets after LLC | field |
//! |---|---|
//! | 0..2 | protocol 0 |
//! | 2 | version: 0 spanning tree, 2 rapid, 3 multiple, 4 shortest path |
//! | 3 | type: 0 configuration, 0x80 topology change, 2 the others |
//! | 4 | flags: acknowledgement 0x80, agreement 0x40, forwarding 0x20, learning 0x10, role 0x0C, proposal 2, change 1 |
//! | 5..13, 13..17 | root, cost to it |
//! | 17..25, 25..27 | bridge, port |
//! | 27..35 | message age, maximum age, hello time, forward delay, in units of 1/256 s |
//! | 35 | length of version 1: 0 |
//! | 36..38, 38.. | length of version 3, and that many octets |

use crate::bytes::{array, at_least, be8, be16, be32, be64, from};
use crate::ethernet::{Llc, emit_llc};
use crate::mcid::Mcid;
use crate::{Address, Error, Writer, fcs};

const CONFIGURATION: u8 = 0;
const TOPOLOGY_CHANGE: u8 = 0x80;
const RAPID: u8 = 2;
const FIXED: usize = 35;

/// The role of the sending port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Unknown, or master port of the common tree.
    Master,
    /// Alternate or backup port.
    Alternate,
    /// Root port.
    Root,
    /// Designated port.
    #[default]
    Designated,
}

/// The fields of a configuration or rapid BPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Topology change acknowledgement (spanning tree only).
    pub acknowledgement: bool,
    /// Agreement.
    pub agreement: bool,
    /// Port is forwarding.
    pub forwarding: bool,
    /// Port is learning.
    pub learning: bool,
    /// Port role.
    pub role: Role,
    /// Proposal.
    pub proposal: bool,
    /// Topology change.
    pub change: bool,
    /// Root identifier: priority and address.
    pub root: u64,
    /// Root path cost.
    pub cost: u32,
    /// Bridge identifier of the sender.
    pub bridge: u64,
    /// Port identifier of the sender.
    pub port: u16,
    /// Ages and times in units of 1/256 s: message age, maximum age, hello time, forward delay.
    pub times: [u16; 4],
}

/// A bridge protocol data unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repr<'a> {
    /// Topology change notification of spanning tree.
    TopologyChange,
    /// Spanning tree (802.1D): no roles, no agreement.
    Configuration(Message),
    /// Rapid spanning tree.
    Rapid(Message),
    /// Multiple or shortest path spanning tree: version, message, and the octets after the length of version 1.
    Multiple(u8, Message, &'a [u8]),
}

impl<'a> Repr<'a> {
    /// Parses a data unit after its LLC header. An unknown version is parsed as the highest known one (802.1Q 14.4).
    pub fn parse(bytes: &'a [u8]) -> Result<Repr<'a>, Error> {
        let what = "BPDU";
        at_least(bytes, 4, what)?;
        let (protocol, version, kind) = (be16(bytes, 0), be8(bytes, 2), be8(bytes, 3));
        if protocol != 0 {
            return Err(Error::Field { what, field: "protocol", value: u64::from(protocol) });
        }
        match kind {
            TOPOLOGY_CHANGE => return Ok(Repr::TopologyChange),
            CONFIGURATION | RAPID => at_least(bytes, FIXED, what)?,
            _ => return Err(Error::Field { what, field: "type", value: u64::from(kind) }),
        }
        let flags = be8(bytes, 4);
        let bit = |mask| flags & mask != 0;
        let rapid = kind == RAPID;
        let message = Message {
            acknowledgement: bit(0x80),
            agreement: rapid && bit(0x40),
            forwarding: rapid && bit(0x20),
            learning: rapid && bit(0x10),
            role: match flags >> 2 & 3 {
                _ if !rapid => Role::Designated,
                0 => Role::Master,
                1 => Role::Alternate,
                2 => Role::Root,
                _ => Role::Designated,
            },
            proposal: rapid && bit(2),
            change: bit(1),
            root: be64(bytes, 5),
            cost: be32(bytes, 13),
            bridge: be64(bytes, 17),
            port: be16(bytes, 25),
            times: std::array::from_fn(|n| be16(bytes, 27 + 2 * n)),
        };
        Ok(match (kind, version) {
            (CONFIGURATION, _) => Repr::Configuration(message),
            (_, ..3) => Repr::Rapid(message),
            _ => Repr::Multiple(version, message, from(bytes, FIXED + 1)),
        })
    }

    /// Returns the sender's mapping of VLANs to trees; multiple and shortest path spanning tree only.
    #[must_use]
    pub fn configuration(&self) -> Option<Mcid> {
        match self {
            Repr::Multiple(_, _, rest) if usize::from(be16(rest, 0)) >= Mcid::LENGTH => Mcid::parse(from(rest, 2)).ok(),
            _ => None,
        }
    }

    /// Returns the sender's next or previous mapping of VLANs to trees; shortest path spanning tree only.
    #[must_use]
    pub fn auxiliary_configuration(&self) -> Option<Mcid> {
        let Repr::Multiple(4.., _, rest) = self else { return None };
        let version_4 = 2 + usize::from(be16(rest, 0));
        (usize::from(be16(rest, version_4)) >= Mcid::LENGTH).then(|| Mcid::parse(from(rest, version_4 + 2)).ok())?
    }

    /// Writes the data unit after its LLC header.
    pub fn emit(&self, out: &mut Writer) {
        let (version, kind, message) = match self {
            Repr::TopologyChange => return out.bytes(&[0, 0, 0, TOPOLOGY_CHANGE]),
            Repr::Configuration(message) => (0, CONFIGURATION, message),
            Repr::Rapid(message) => (2, RAPID, message),
            Repr::Multiple(version, message, _) => (*version, RAPID, message),
        };
        out.u16(0);
        out.bytes(&[version, kind]);
        let role = match message.role {
            Role::Master => 0,
            Role::Alternate => 1,
            Role::Root => 2,
            Role::Designated => 3,
        };
        let states = u8::from(message.agreement) << 6
            | u8::from(message.forwarding) << 5
            | u8::from(message.learning) << 4
            | role << 2
            | u8::from(message.proposal) << 1;
        let rapid = if kind == RAPID { states } else { 0 };
        out.u8(rapid | u8::from(message.acknowledgement) << 7 | u8::from(message.change));
        out.u64(message.root);
        out.u32(message.cost);
        out.u64(message.bridge);
        out.u16(message.port);
        message.times.iter().for_each(|&time| out.u16(time));
        if kind == RAPID {
            out.u8(0);
        }
        if let Repr::Multiple(_, _, rest) = self {
            out.bytes(rest);
        }
    }

    /// Writes the whole frame, with its check sequence.
    pub fn emit_frame(&self, destination: Address, source: Address, out: &mut Writer) {
        emit_llc(out, destination, source, Llc::BRIDGE, |out| self.emit(out));
        fcs::seal(out);
    }
}

/// Returns the address in a bridge identifier.
#[must_use]
pub fn address_of(bridge: u64) -> Address {
    Address(array(&bridge.to_be_bytes(), 2))
}
