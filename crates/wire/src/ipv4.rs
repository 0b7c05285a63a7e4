//! IPv4 (RFC 791) and UDP (RFC 768), limited to the needs of RoCEv2 and TCP: no fragments are written, options are
//! skipped.

use crate::bytes::{array, at_least, be8, be16, from};
use crate::{Error, Writer};

/// Protocol number of UDP.
pub const UDP: u8 = 17;
/// Length of a header without options in octets.
pub const HEADER: usize = 20;
/// Explicit congestion notification: the transport understands marks, ECT(0) (RFC 3168).
pub const CAPABLE: u8 = 2;
/// Explicit congestion notification: congestion experienced, CE.
pub const EXPERIENCED: u8 = 3;

/// Sum of ones' complement over pairs of octets (RFC 1071).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum(u64);

impl Sum {
    /// Adds octets; those of an odd number are the last.
    pub(crate) fn add(self, bytes: &[u8]) -> Sum {
        let (pairs, last) = bytes.as_chunks::<2>();
        let odd = last.first().map_or(0, |&octet| u64::from(octet) << 8);
        Sum(pairs.iter().fold(self.0 + odd, |sum, &pair| sum + u64::from(u16::from_be_bytes(pair))))
    }

    /// Returns the checksum: the complement of the sum; zero for octets that contain theirs.
    pub(crate) fn checksum(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xFFFF {
            sum = (sum >> 16) + (sum & 0xFFFF);
        }
        !(sum as u16)
    }
}

fn checksum(bytes: &[u8]) -> u16 {
    Sum::default().add(bytes).checksum()
}

/// An IPv4 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source.
    pub source: [u8; 4],
    /// Destination.
    pub destination: [u8; 4],
    /// Differentiated services code point, 6 bits.
    pub code_point: u8,
    /// Explicit congestion notification, 2 bits: see [`CAPABLE`] and [`EXPERIENCED`].
    pub congestion: u8,
    /// Time to live in hops.
    pub time_to_live: u8,
    /// Protocol of the payload.
    pub protocol: u8,
    /// Length of the payload in octets.
    pub length: u16,
}

impl Repr {
    /// Parses a header, and returns it with the payload up to the end of the packet.
    pub fn parse(bytes: &[u8]) -> Result<(Repr, &[u8]), Error> {
        let what = "IPv4";
        at_least(bytes, HEADER, what)?;
        let (first, header) = (be8(bytes, 0), usize::from(be8(bytes, 0) & 15) * 4);
        if first >> 4 != 4 || header < HEADER {
            return Err(Error::Field { what, field: "version and header length", value: u64::from(first) });
        }
        at_least(bytes, header, what)?;
        let total = usize::from(be16(bytes, 2));
        if total < header {
            return Err(Error::Field { what, field: "total length", value: total as u64 });
        }
        let body = bytes.get(header..total).ok_or(Error::Short { what, need: total, have: bytes.len() })?;
        let right = checksum(bytes.get(..header).unwrap_or(&[]));
        if right != 0 {
            let found = u32::from(be16(bytes, 10));
            return Err(Error::Checksum { what, found, right: u32::from(right) });
        }
        // A fragment has neither a UDP header of its own nor an end.
        if be16(bytes, 6) & 0x3FFF != 0 {
            return Err(Error::Field { what, field: "fragment", value: u64::from(be16(bytes, 6)) });
        }
        let repr = Repr {
            source: array(bytes, 12),
            destination: array(bytes, 16),
            code_point: be8(bytes, 1) >> 2,
            congestion: be8(bytes, 1) & 3,
            time_to_live: be8(bytes, 8),
            protocol: be8(bytes, 9),
            length: body.len() as u16,
        };
        Ok((repr, body))
    }

    /// Writes the header, with fragmentation disallowed.
    pub fn emit(&self, out: &mut Writer) {
        let start = out.position();
        out.bytes(&[0x45, self.code_point << 2 | self.congestion & 3]);
        out.u16(self.length.saturating_add(HEADER as u16));
        out.u16(0);
        out.u16(0x4000);
        out.bytes(&[self.time_to_live, self.protocol, 0, 0]);
        out.bytes(&self.source);
        out.bytes(&self.destination);
        let sum = checksum(out.written(start));
        out.patch(start + 10, &sum.to_be_bytes());
    }
}

/// A UDP header, without a checksum: RoCEv2 has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Length of the payload in octets.
    pub length: u16,
}

impl Udp {
    /// Length of a header in octets.
    pub const HEADER: usize = 8;

    /// Parses a header, and returns it with the payload up to the end of the datagram.
    pub fn parse(bytes: &[u8]) -> Result<(Udp, &[u8]), Error> {
        at_least(bytes, Udp::HEADER, "UDP")?;
        let length = usize::from(be16(bytes, 4));
        if length < Udp::HEADER {
            return Err(Error::Field { what: "UDP", field: "length", value: length as u64 });
        }
        let short = Error::Short { what: "UDP", need: length, have: bytes.len() };
        let body = from(bytes.get(..length).ok_or(short)?, Udp::HEADER);
        let udp = Udp { source: be16(bytes, 0), destination: be16(bytes, 2), length: body.len() as u16 };
        Ok((udp, body))
    }

    /// Writes the header with a checksum of zero, which means none.
    pub fn emit(&self, out: &mut Writer) {
        out.u16(self.source);
        out.u16(self.destination);
        out.u16(self.length.saturating_add(Udp::HEADER as u16));
        out.u16(0);
    }
}
