//! The Ethernet header (802.3 3.1): a type, or a length followed by the LLC header (802.2).
//!
//! | octets | field |
//! |---|---|
//! | 0..6 | destination |
//! | 6..12 | source |
//! | 12..14 | type of the payload if 1536 or more, its length if 1500 or less |

use crate::bytes::{array, be8, be16, from};
use crate::view::view;
use crate::{Address, Error, Writer};

/// Types that follow an Ethernet header or a tag.
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// Customer VLAN tag (802.1Q).
    pub const C_TAG: u16 = 0x8100;
    /// Service VLAN tag, backbone VLAN tag (802.1Q).
    pub const S_TAG: u16 = 0x88A8;
    /// MAC control: PAUSE and PFC.
    pub const MAC_CONTROL: u16 = 0x8808;
    /// LLDP.
    pub const LLDP: u16 = 0x88CC;
    /// Backbone service instance tag (802.1Q, SPBM).
    pub const I_TAG: u16 = 0x88E7;
    /// Congestion notification message (802.1Q 33).
    pub const CNM: u16 = 0x22E7;
    /// Congestion notification tag (802.1Q 33).
    pub const CN_TAG: u16 = 0x22E9;
    /// TRILL data (RFC 6325).
    pub const TRILL: u16 = 0x22F3;
    /// Local experimental type 1 (802): frames that exist only in a simulation.
    pub const EXPERIMENTAL: u16 = 0x88B5;
}

/// The largest length; values between it and [`FIRST_TYPE`] are neither length nor type.
pub const LARGEST_LENGTH: u16 = 1500;
/// The smallest type.
pub const FIRST_TYPE: u16 = 1536;

view! {
    /// A frame without its preamble; only the caller knows whether the check sequence is included.
    Frame, "Ethernet", 14
}

impl<T: AsRef<[u8]>> Frame<T> {
    /// Returns the destination.
    pub fn destination(&self) -> Address {
        Address(array(self.bytes(), 0))
    }

    /// Returns the source.
    pub fn source(&self) -> Address {
        Address(array(self.bytes(), 6))
    }

    /// Returns the type or length field.
    pub fn type_or_length(&self) -> u16 {
        be16(self.bytes(), 12)
    }

    /// Returns the payload; with a length, only that many octets (the rest is padding).
    pub fn payload(&self) -> &[u8] {
        let rest = from(self.bytes(), Self::HEADER);
        match self.type_or_length() {
            length @ ..=LARGEST_LENGTH => rest.get(..usize::from(length)).unwrap_or(rest),
            _ => rest,
        }
    }
}

/// The last field of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Type of the payload.
    Type(u16),
    /// Length of the payload, which starts with an LLC header.
    Length(u16),
}

/// An Ethernet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Destination.
    pub destination: Address,
    /// Source.
    pub source: Address,
    /// Type or length.
    pub content: Content,
}

impl Repr {
    /// Parses a header. A length must not exceed the frame.
    pub fn parse<T: AsRef<[u8]>>(frame: &Frame<T>) -> Result<Repr, Error> {
        let content = match frame.type_or_length() {
            length @ ..=LARGEST_LENGTH => {
                crate::bytes::at_least(from(frame.bytes(), Frame::<T>::HEADER), usize::from(length), "802.3 length")?;
                Content::Length(length)
            }
            value @ ..FIRST_TYPE => {
                return Err(Error::Field { what: "Ethernet", field: "type", value: u64::from(value) });
            }
            ether_type => Content::Type(ether_type),
        };
        Ok(Repr { destination: frame.destination(), source: frame.source(), content })
    }

    /// Writes the header. The caller ensures that a length is correct, as [`emit_llc`] does.
    pub fn emit(&self, out: &mut Writer) {
        out.bytes(&self.destination.0);
        out.bytes(&self.source.0);
        out.u16(match self.content {
            Content::Type(value) | Content::Length(value) => value,
        });
    }
}

/// An LLC header of an unnumbered frame (802.2): both access points, and the control octet 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Llc {
    /// Destination and source service access point.
    pub access_point: u8,
}

impl Llc {
    /// ISO network layer protocols: IS-IS.
    pub const ISO: Llc = Llc { access_point: 0xFE };
    /// Bridge protocol data units.
    pub const BRIDGE: Llc = Llc { access_point: 0x42 };
    const UNNUMBERED_INFORMATION: u8 = 3;

    /// Parses the header, and returns it with the octets after it.
    pub fn parse(bytes: &[u8]) -> Result<(Llc, &[u8]), Error> {
        crate::bytes::at_least(bytes, 3, "LLC")?;
        let (destination, source, control) = (be8(bytes, 0), be8(bytes, 1), be8(bytes, 2));
        if source != destination {
            return Err(Error::Field { what: "LLC", field: "source access point", value: u64::from(source) });
        }
        if control != Llc::UNNUMBERED_INFORMATION {
            return Err(Error::Field { what: "LLC", field: "control", value: u64::from(control) });
        }
        Ok((Llc { access_point: destination }, from(bytes, 3)))
    }

    /// Writes the header.
    pub fn emit(&self, out: &mut Writer) {
        out.bytes(&[self.access_point, self.access_point, Llc::UNNUMBERED_INFORMATION]);
    }
}

/// Writes a frame with a length and an LLC header; `body` writes the payload, and the length is set accordingly.
pub fn emit_llc(out: &mut Writer, destination: Address, source: Address, llc: Llc, body: impl FnOnce(&mut Writer)) {
    Repr { destination, source, content: Content::Length(0) }.emit(out);
    let start = out.position();
    llc.emit(out);
    body(out);
    let length = (out.position() - start) as u16;
    out.patch(start - 2, &length.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_ends_the_payload_before_the_padding() {
        let mut buffer = [0; 64];
        let mut out = Writer::new(&mut buffer);
        emit_llc(&mut out, Address::BRIDGE_GROUP, Address([2; 6]), Llc::BRIDGE, |out| out.bytes(&[7; 5]));
        crate::fcs::seal(&mut out);
        let frame = Frame::new(&buffer[..]).expect("whole");
        assert_eq!(Repr::parse(&frame).map(|it| it.content), Ok(Content::Length(8)));
        assert_eq!(Llc::parse(frame.payload()), Ok((Llc::BRIDGE, &[7u8; 5][..])));
    }

    #[test]
    fn between_length_and_type_there_is_nothing() {
        let mut bytes = [0u8; 14];
        bytes[12..].copy_from_slice(&1501u16.to_be_bytes());
        let error = Repr::parse(&Frame::new(bytes).expect("whole")).expect_err("neither");
        assert_eq!(error.to_string(), "Ethernet: type cannot be 1501 (0x5dd)");
        assert!(Frame::new([0u8; 13]).is_err());
    }
}
