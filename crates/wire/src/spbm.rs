//! The service instance tag of backbone bridging (802.1Q 9.7), after the backbone VLAN tag: PCP:3, DEI:1, NCA:1,
//! reserved:3, I-SID:24, then the customer's frame starting with its destination. Also the group address of a service
//! (RFC 6329, figure 1): source\[19:16\]:4, type:2, local:1, group:1, source\[15:0\], I-SID:24.

use crate::bytes::{at_least, be32, from};
use crate::{Address, Error, Priority, Writer};

/// The service that is reserved for bridges (RFC 6329, section 4.4).
pub const CONTROL_SERVICE: u32 = 0xFFF;

/// Returns the group address of a service for frames from the bridge with that SPSourceID (20 bits): local, of type 0.
#[must_use]
pub fn group_address(source: u32, service: u32) -> Address {
    let [_, high, b, c] = source.to_be_bytes();
    let [_, d, e, f] = service.to_be_bytes();
    Address([(high & 0xF) << 4 | 0b11, b, c, d, e, f])
}

/// A service instance tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Priority of the customer's frame.
    pub priority: Priority,
    /// Drop eligible.
    pub drop_eligible: bool,
    /// No customer addresses: the inner frame is the provider's own.
    pub no_customer_addresses: bool,
    /// Service, 24 bits.
    pub service: u32,
}

impl Repr {
    /// Length in octets after the type 0x88E7.
    pub const LENGTH: usize = 4;

    /// Parses the octets after the type 0x88E7, and returns the tag with the customer's frame.
    pub fn parse(bytes: &[u8]) -> Result<(Repr, &[u8]), Error> {
        at_least(bytes, Repr::LENGTH, "I-TAG")?;
        let tag = be32(bytes, 0);
        let repr = Repr {
            priority: Priority::low_bits((tag >> 29) as u8),
            drop_eligible: tag >> 28 & 1 == 1,
            no_customer_addresses: tag >> 27 & 1 == 1,
            service: tag & 0xFF_FFFF,
        };
        Ok((repr, from(bytes, Repr::LENGTH)))
    }

    /// Writes the tag after its type; the customer's frame follows.
    pub fn emit(&self, out: &mut Writer) {
        let flags = u32::from(self.drop_eligible) << 28 | u32::from(self.no_customer_addresses) << 27;
        out.u32(u32::from(self.priority.get()) << 29 | flags | self.service & 0xFF_FFFF);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_address_is_local_and_holds_source_and_service() {
        // RFC 6329, figure 3.
        assert_eq!(group_address(0x7_0001, 1), Address([0x73, 0, 1, 0, 0, 1]));
        let all = group_address(0xFFFF_FFFF, 0xFFFF_FFFF);
        assert_eq!(all, Address([0xF3, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]));
        assert!(all.is_group() && all.is_local());
    }
}
