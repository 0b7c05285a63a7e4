//! The TRILL header (RFC 6325 3): version:2, reserved:2, multi-destination:1, option length:5 (of 4 octets), hops:6,
//! egress, ingress, options, then the inner frame starting with its destination.

use crate::bytes::{at_least, be16, from};
use crate::{Error, Writer};

/// A TRILL header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr<'a> {
    /// Whether the frame has several destinations and follows a tree.
    pub multi_destination: bool,
    /// Remaining hops, 0 to 63.
    pub hops: u8,
    /// Nickname of the egress bridge, or of the tree's root.
    pub egress: u16,
    /// Nickname of the ingress bridge.
    pub ingress: u16,
    options: &'a [[u8; 4]],
}

impl<'a> Repr<'a> {
    /// Length in octets without options.
    pub const LENGTH: usize = 6;

    /// Creates a header without options.
    #[must_use]
    pub fn new(hops: u8, ingress: u16, egress: u16) -> Repr<'a> {
        Repr { multi_destination: false, hops: hops & 63, egress, ingress, options: &[] }
    }

    /// Parses the octets after the type 0x22F3, and returns the header with the inner frame.
    pub fn parse(bytes: &'a [u8]) -> Result<(Repr<'a>, &'a [u8]), Error> {
        at_least(bytes, Repr::LENGTH, "TRILL")?;
        let first = be16(bytes, 0);
        if first >> 14 != 0 {
            return Err(Error::Field { what: "TRILL", field: "version", value: u64::from(first >> 14) });
        }
        let options = 4 * usize::from(first >> 6 & 31);
        at_least(bytes, Repr::LENGTH + options, "TRILL options")?;
        let repr = Repr {
            multi_destination: first >> 11 & 1 == 1,
            hops: (first & 63) as u8,
            egress: be16(bytes, 2),
            ingress: be16(bytes, 4),
            options: bytes.get(Repr::LENGTH..Repr::LENGTH + options).unwrap_or(&[]).as_chunks().0,
        };
        Ok((repr, from(bytes, Repr::LENGTH + options)))
    }

    /// Returns the options, not interpreted.
    #[must_use]
    pub fn options(&self) -> &'a [[u8; 4]] {
        self.options
    }

    /// Writes the header after its type; the inner frame follows.
    pub fn emit(&self, out: &mut Writer) {
        let options = (self.options.len() as u16 & 31) << 6;
        out.u16(u16::from(self.multi_destination) << 11 | options | u16::from(self.hops & 63));
        out.u16(self.egress);
        out.u16(self.ingress);
        out.bytes(self.options.as_flattened());
    }
}
