//! Bridge protocol data units (802.1Q 14): configuration, rapid, and the fixed part of multiple and shortest path
//! spanning tree. What the latter two add is given as it stands, and only its configuration identifier is read.
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
//! | 36..38, 38.. | length of version 3, and so much of it |

use crate::bytes::{array, at_least, be8, be16, be32, be64, from};
use crate::ethernet::{Llc, emit_llc};
use crate::mcid::Mcid;
use crate::{Address, Error, Writer, fcs};

const CONFIGURATION: u8 = 0;
const TOPOLOGY_CHANGE: u8 = 0x80;
const RAPID: u8 = 2;
const FIXED: usize = 35;

/// The role of the port that sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Not known, or that of the common tree's master port.
    Master,
    /// Alternate or backup.
    Alternate,
    /// Towards the root.
    Root,
    /// For its link.
    #[default]
    Designated,
}

/// What a configuration or rapid data unit says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Topology change acknowledged (of spanning tree only).
    pub acknowledgement: bool,
    /// Agreement.
    pub agreement: bool,
    /// The port forwards.
    pub forwarding: bool,
    /// The port learns.
    pub learning: bool,
    /// The port's role.
    pub role: Role,
    /// Proposal.
    pub proposal: bool,
    /// The topology has changed.
    pub change: bool,
    /// Identifier of the root: priority and address.
    pub root: u64,
    /// Cost to it.
    pub cost: u32,
    /// Identifier of the sender.
    pub bridge: u64,
    /// The sender's port.
    pub port: u16,
    /// Ages and times in units of 1/256 s: message age, maximum age, hello time, forward delay.
    pub times: [u16; 4],
}

/// A data unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repr<'a> {
    /// Spanning tree: the topology has changed.
    TopologyChange,
    /// Spanning tree (802.1D): no roles, no agreement.
    Configuration(Message),
    /// Rapid spanning tree.
    Rapid(Message),
    /// Multiple or shortest path spanning tree: version, message, and what follows the length of version 1.
    Multiple(u8, Message, &'a [u8]),
}

impl<'a> Repr<'a> {
    /// Reads a data unit from behind its LLC header. Of a version it does not know it takes what the last known one has
    /// (802.1Q 14.4).
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

    /// Of multiple and shortest path spanning tree: how the sender maps VLANs to trees.
    #[must_use]
    pub fn configuration(&self) -> Option<Mcid> {
        match self {
            Repr::Multiple(_, _, rest) if usize::from(be16(rest, 0)) >= Mcid::LENGTH => Mcid::parse(from(rest, 2)).ok(),
            _ => None,
        }
    }

    /// Of shortest path spanning tree: how the sender will map VLANs to trees, or did.
    #[must_use]
    pub fn auxiliary_configuration(&self) -> Option<Mcid> {
        let Repr::Multiple(4.., _, rest) = self else { return None };
        let version_4 = 2 + usize::from(be16(rest, 0));
        (usize::from(be16(rest, version_4)) >= Mcid::LENGTH).then(|| Mcid::parse(from(rest, version_4 + 2)).ok())?
    }

    /// Writes the data unit behind its LLC header.
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

/// The address in a bridge identifier.
#[must_use]
pub fn address_of(bridge: u64) -> Address {
    Address(array(&bridge.to_be_bytes(), 2))
}
