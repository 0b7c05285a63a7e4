//! The VLAN tag (802.1Q 9): 0x8100 (customer) or 0x88A8 (service), then PCP:3, DEI:1, VID:12.

use crate::bytes::{at_least, be16, from};
use crate::ethernet::ether_type;
use crate::{Error, Priority, VlanId, Writer};

/// Length in octets, from the tag's own type to the next type.
pub const LENGTH: usize = 4;

/// The kind of a tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// C-TAG, 0x8100.
    #[default]
    Customer,
    /// S-TAG or B-TAG, 0x88A8.
    Service,
}

/// A VLAN tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repr {
    /// Customer or service tag.
    pub kind: Kind,
    /// Priority code point.
    pub priority: Priority,
    /// Drop eligible.
    pub drop_eligible: bool,
    /// VLAN identifier.
    pub vlan: VlanId,
}

impl Repr {
    /// Parses a tag after its type, and returns it with the next type and the octets after that.
    pub fn parse(tag_type: u16, after: &[u8]) -> Result<(Repr, u16, &[u8]), Error> {
        let kind = match tag_type {
            ether_type::C_TAG => Kind::Customer,
            ether_type::S_TAG => Kind::Service,
            other => return Err(Error::Field { what: "VLAN tag", field: "type", value: u64::from(other) }),
        };
        at_least(after, LENGTH, "VLAN tag")?;
        let information = be16(after, 0);
        let tag = Repr {
            kind,
            priority: Priority::low_bits((information >> 13) as u8),
            drop_eligible: information >> 12 & 1 == 1,
            vlan: VlanId::low_bits(information),
        };
        Ok((tag, be16(after, 2), from(after, LENGTH)))
    }

    /// Returns the type before the tag.
    #[must_use]
    pub fn tag_type(&self) -> u16 {
        match self.kind {
            Kind::Customer => ether_type::C_TAG,
            Kind::Service => ether_type::S_TAG,
        }
    }

    /// Writes the tag after its own type, followed by the next type.
    pub fn emit(&self, next: u16, out: &mut Writer) {
        let priority = u16::from(self.priority.get()) << 13;
        out.u16(priority | u16::from(self.drop_eligible) << 12 | self.vlan.get());
        out.u16(next);
    }
}
