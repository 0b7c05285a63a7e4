//! Fields that several formats share.

use std::fmt;

/// A MAC address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub [u8; 6]);

impl Address {
    /// Destination of MAC control frames, which cross one link only (802.3 31B.1, 802.1Q D).
    pub const MAC_CONTROL: Address = Address([0x01, 0x80, 0xC2, 0, 0, 0x01]);
    /// The nearest bridge, for LLDP (802.1AB).
    pub const NEAREST_BRIDGE: Address = Address([0x01, 0x80, 0xC2, 0, 0, 0x0E]);
    /// Spanning tree of customer bridges (802.1D, 802.1Q).
    pub const BRIDGE_GROUP: Address = Address([0x01, 0x80, 0xC2, 0, 0, 0x00]);
    /// Spanning tree of provider bridges (802.1Q).
    pub const PROVIDER_BRIDGE_GROUP: Address = Address([0x01, 0x80, 0xC2, 0, 0, 0x08]);
    /// All intermediate systems on a point-to-point link (ISO 9542; RFC 5309 and the captures use it for hellos).
    pub const ALL_INTERMEDIATE_SYSTEMS: Address = Address([0x09, 0x00, 0x2B, 0, 0, 0x05]);
    /// All level 1 intermediate systems (ISO 10589).
    pub const ALL_L1_SYSTEMS: Address = Address([0x01, 0x80, 0xC2, 0, 0, 0x14]);

    /// Returns whether it is a group address.
    #[must_use]
    pub fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// Returns whether it is locally administered.
    #[must_use]
    pub fn is_local(self) -> bool {
        self.0[0] & 2 == 2
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// A priority code point, 0 to 7.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(u8);

impl Priority {
    /// Creates a priority, if the value is in range.
    #[must_use]
    pub const fn new(value: u8) -> Option<Priority> {
        if value < 8 { Some(Priority(value)) } else { None }
    }

    /// Creates a priority from the lower three bits.
    #[must_use]
    pub const fn low_bits(value: u8) -> Priority {
        Priority(value & 7)
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// A VLAN identifier of 12 bits. 0 means that the tag carries only a priority, 4095 is reserved; both may occur in a
/// frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct VlanId(u16);

impl VlanId {
    /// Creates an identifier, if the value is in range.
    #[must_use]
    pub const fn new(value: u16) -> Option<VlanId> {
        if value < 4096 { Some(VlanId(value)) } else { None }
    }

    /// Creates an identifier from the lower twelve bits.
    #[must_use]
    pub const fn low_bits(value: u16) -> VlanId {
        VlanId(value & 0xFFF)
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}
