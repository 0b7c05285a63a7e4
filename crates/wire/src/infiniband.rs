//! InfiniBand (IBTA volume 1, chapters 7 and 9): local route header, base transport header with its congestion bits,
//! the extended header of an acknowledgement, the two CRCs of a packet, and the flow control packet that carries credits.
//!
//! | octets | local route header |
//! |---|---|
//! | 0 | virtual lane:4, version:4 |
//! | 1 | service level:4, reserved:2, next header:2 |
//! | 2..4 | destination |
//! | 4..6 | reserved:5, length:11 in words of 4 octets, from here to the invariant CRC |
//! | 6..8 | source |
//!
//! | octets | base transport header |
//! |---|---|
//! | 0 | opcode |
//! | 1 | solicited:1, migration:1, pad:2, version:4 |
//! | 2..4 | partition |
//! | 4 | FECN:1, BECN:1, reserved:6 |
//! | 5..8 | destination queue pair |
//! | 8..12 | acknowledge:1, reserved:7, sequence number:24 |

use crate::bytes::{array, at_least, be8, be16, be24, be32, from};
use crate::fcs::Crc32;
use crate::{Error, Writer};

/// Octets per word, the unit of lengths.
pub const WORD: usize = 4;
/// Length of the invariant CRC in octets.
pub const INVARIANT: usize = 4;
/// Length of the variant CRC in octets.
pub const VARIANT: usize = 2;
/// The largest value of a length field, in words.
pub const MOST_WORDS: u16 = 0x7FF;

/// Opcodes of the base transport header.
pub mod opcode {
    /// Reliable connection, first packet of a message.
    pub const SEND_FIRST: u8 = 0x00;
    /// Reliable connection, neither the first nor the last packet of a message.
    pub const SEND_MIDDLE: u8 = 0x01;
    /// Reliable connection, last packet of a message.
    pub const SEND_LAST: u8 = 0x02;
    /// Reliable connection, last packet of a message, with four octets of immediate data before its payload.
    pub const SEND_LAST_IMMEDIATE: u8 = 0x03;
    /// Reliable connection, single-packet message, with immediate data.
    pub const SEND_ONLY_IMMEDIATE: u8 = 0x05;
    /// Reliable connection, single-packet message.
    pub const SEND_ONLY: u8 = 0x04;
    /// Unreliable connection, single-packet message.
    pub const UNRELIABLE_SEND_ONLY: u8 = 0x24;
    /// Reliable connection, acknowledgement.
    pub const ACKNOWLEDGE: u8 = 0x11;
    /// Unreliable datagram, single-packet message.
    pub const DATAGRAM: u8 = 0x64;
    /// Congestion notification packet.
    pub const CONGESTION: u8 = 0x81;
}

/// A local route header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalRoute {
    /// Virtual lane, 0 to 15.
    pub lane: u8,
    /// Service level, 0 to 15.
    pub service_level: u8,
    /// Next header: 2 is a base transport header, 3 a global route header before it, 0 and 1 are raw.
    pub next: u8,
    /// Local identifier of the destination.
    pub destination: u16,
    /// Words from the first octet of this header to the invariant CRC, inclusive.
    pub words: u16,
    /// Local identifier of the source.
    pub source: u16,
}

impl LocalRoute {
    /// Length in octets.
    pub const LENGTH: usize = 8;
    /// Value of `next` for a base transport header.
    pub const LOCAL: u8 = 2;

    /// Parses a header, and returns it with the octets after it up to the invariant CRC, inclusive.
    pub fn parse(bytes: &[u8]) -> Result<(LocalRoute, &[u8]), Error> {
        let what = "local route header";
        at_least(bytes, LocalRoute::LENGTH, what)?;
        if be8(bytes, 0) & 15 != 0 {
            return Err(Error::Field { what, field: "version", value: u64::from(be8(bytes, 0) & 15) });
        }
        let header = LocalRoute {
            lane: be8(bytes, 0) >> 4,
            service_level: be8(bytes, 1) >> 4,
            next: be8(bytes, 1) & 3,
            destination: be16(bytes, 2),
            words: be16(bytes, 4) & MOST_WORDS,
            source: be16(bytes, 6),
        };
        let end = usize::from(header.words) * WORD;
        if end < LocalRoute::LENGTH {
            return Err(Error::Field { what, field: "length", value: u64::from(header.words) });
        }
        let body = bytes.get(LocalRoute::LENGTH..end).ok_or(Error::Short { what, need: end, have: bytes.len() })?;
        Ok((header, body))
    }

    /// Writes the header.
    pub fn emit(&self, out: &mut Writer) {
        out.bytes(&[self.lane << 4, self.service_level << 4 | self.next & 3]);
        out.u16(self.destination);
        out.u16(self.words & MOST_WORDS);
        out.u16(self.source);
    }
}

/// A base transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseTransport {
    /// Kind of the packet; see [`opcode`].
    pub opcode: u8,
    /// Solicited event: the receiver's software is notified.
    pub solicited: bool,
    /// Migration state.
    pub migrated: bool,
    /// Octets that pad the payload to a word, 0 to 3.
    pub pad: u8,
    /// Partition key.
    pub partition: u16,
    /// Forward notification (FECN): the packet encountered congestion.
    pub forward: bool,
    /// Backward notification (BECN): a packet in the other direction encountered congestion.
    pub backward: bool,
    /// Destination queue pair, 24 bits.
    pub queue_pair: u32,
    /// Whether an acknowledgement is requested.
    pub acknowledge: bool,
    /// Packet sequence number, 24 bits.
    pub sequence: u32,
}

impl BaseTransport {
    /// Length in octets.
    pub const LENGTH: usize = 12;
    /// The default partition, of which every port is a member.
    pub const DEFAULT_PARTITION: u16 = 0xFFFF;

    /// Parses a header, and returns it with the octets after it.
    pub fn parse(bytes: &[u8]) -> Result<(BaseTransport, &[u8]), Error> {
        let what = "base transport header";
        at_least(bytes, BaseTransport::LENGTH, what)?;
        let (second, marks) = (be8(bytes, 1), be8(bytes, 4));
        if second & 15 != 0 {
            return Err(Error::Field { what, field: "version", value: u64::from(second & 15) });
        }
        let header = BaseTransport {
            opcode: be8(bytes, 0),
            solicited: second & 0x80 != 0,
            migrated: second & 0x40 != 0,
            pad: second >> 4 & 3,
            partition: be16(bytes, 2),
            forward: marks & 0x80 != 0,
            backward: marks & 0x40 != 0,
            queue_pair: be24(bytes, 5),
            acknowledge: be8(bytes, 8) & 0x80 != 0,
            sequence: be24(bytes, 9),
        };
        Ok((header, from(bytes, BaseTransport::LENGTH)))
    }

    /// Writes the header.
    pub fn emit(&self, out: &mut Writer) {
        let flags = u8::from(self.solicited) << 7 | u8::from(self.migrated) << 6 | (self.pad & 3) << 4;
        out.bytes(&[self.opcode, flags]);
        out.u16(self.partition);
        out.u8(u8::from(self.forward) << 7 | u8::from(self.backward) << 6);
        out.u24(self.queue_pair);
        out.u8(u8::from(self.acknowledge) << 7);
        out.u24(self.sequence);
    }
}

/// The extended header of an acknowledgement (AETH, IBTA 9.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckExtended {
    /// Kind of the acknowledgement, with its credits or code; see the constants.
    pub syndrome: u8,
    /// Number of messages completed, 24 bits.
    pub message: u32,
}

impl AckExtended {
    /// Length in octets.
    pub const LENGTH: usize = 4;
    /// Acknowledgement without end-to-end credits.
    pub const ACKNOWLEDGED: u8 = 0x1F;
    /// Negative acknowledgement: packet sequence error (IBTA 9.7.5.2.8).
    pub const SEQUENCE_ERROR: u8 = 0x60;

    /// Parses a header, and returns it with the octets after it.
    pub fn parse(bytes: &[u8]) -> Result<(AckExtended, &[u8]), Error> {
        at_least(bytes, AckExtended::LENGTH, "extended header of an acknowledgement")?;
        let header = AckExtended { syndrome: be8(bytes, 0), message: be24(bytes, 1) };
        Ok((header, from(bytes, AckExtended::LENGTH)))
    }

    /// Writes the header.
    pub fn emit(&self, out: &mut Writer) {
        out.u8(self.syndrome);
        out.u24(self.message);
    }
}

/// Returns the invariant CRC of a local packet, from its route header to its payload: fields that switches change count
/// as ones.
#[must_use]
pub fn invariant(packet: &[u8]) -> u32 {
    let (mut route, mut transport) = (array::<8>(packet, 0), array::<12>(packet, 8));
    route[0] |= 0xF0;
    transport[4] = 0xFF;
    let mut crc = Crc32::default();
    crc.update(&route);
    crc.update(&transport);
    crc.update(from(packet, LocalRoute::LENGTH + BaseTransport::LENGTH));
    crc.value()
}

/// Returns the variant CRC: polynomial 0x100B, bits reflected, initial value and final XOR all ones. In a packet it
/// covers everything up to and including the invariant CRC; in a flow control packet, the four octets before it.
#[must_use]
pub fn variant(bytes: &[u8]) -> u16 {
    let mut crc = u16::MAX;
    for &octet in bytes {
        crc ^= u16::from(octet);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xD008 } else { crc >> 1 };
        }
    }
    !crc
}

/// Completes a packet that begins at the writer's start: pads its payload to a word and adds both CRCs.
pub fn seal(out: &mut Writer) {
    out.pad_to(out.position().next_multiple_of(WORD));
    let crc = invariant(out.written(0));
    out.bytes(&crc.to_le_bytes());
    let crc = variant(out.written(0));
    out.bytes(&crc.to_le_bytes());
}

/// Verifies both CRCs of a packet, and returns its headers and its payload without padding.
pub fn check(packet: &[u8]) -> Result<(LocalRoute, BaseTransport, &[u8]), Error> {
    let short = Error::Short { what: "InfiniBand packet", need: VARIANT, have: packet.len() };
    let (covered, last) = packet.split_last_chunk::<VARIANT>().ok_or(short)?;
    let (found, right) = (u16::from_le_bytes(*last), variant(covered));
    if found != right {
        return Err(Error::Checksum { what: "variant CRC", found: found.into(), right: right.into() });
    }
    let (route, body) = LocalRoute::parse(covered)?;
    if route.next != LocalRoute::LOCAL {
        return Err(Error::Field { what: "local route header", field: "next header", value: u64::from(route.next) });
    }
    let short = Error::Short { what: "invariant CRC", need: INVARIANT, have: body.len() };
    let (body, last) = body.split_last_chunk::<INVARIANT>().ok_or(short)?;
    let (found, right) =
        (u32::from_le_bytes(*last), invariant(covered.get(..LocalRoute::LENGTH + body.len()).unwrap_or(&[])));
    if found != right {
        return Err(Error::Checksum { what: "invariant CRC", found, right });
    }
    let (transport, payload) = BaseTransport::parse(body)?;
    let length = payload.len().saturating_sub(usize::from(transport.pad));
    Ok((route, transport, payload.get(..length).unwrap_or(&[])))
}

/// A flow control packet (IBTA 7.9.4): operand:4, total blocks sent:12, lane:4, credit limit:12, and its CRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    /// Link initialisation: the receiver adopts the total.
    pub initialize: bool,
    /// Blocks of 64 octets sent since the link came up, modulo 4096.
    pub sent: u16,
    /// Virtual lane, 0 to 15.
    pub lane: u8,
    /// Total number of blocks that the other side may have sent, modulo 4096.
    pub limit: u16,
}

impl FlowControl {
    /// Length in octets.
    pub const LENGTH: usize = 6;
    /// Octets per block.
    pub const BLOCK: u64 = 64;

    /// Parses a packet.
    pub fn parse(bytes: &[u8]) -> Result<FlowControl, Error> {
        let what = "flow control packet";
        at_least(bytes, FlowControl::LENGTH, what)?;
        let (found, right) = (u16::from_le_bytes(array(bytes, 4)), variant(bytes.get(..4).unwrap_or(&[])));
        if found != right {
            return Err(Error::Checksum { what, found: found.into(), right: right.into() });
        }
        let word = be32(bytes, 0);
        let initialize = match word >> 28 {
            0 => false,
            1 => true,
            value => return Err(Error::Field { what, field: "operand", value: value.into() }),
        };
        let (sent, limit) = ((word >> 16 & 0xFFF) as u16, (word & 0xFFF) as u16);
        Ok(FlowControl { initialize, sent, lane: (word >> 12 & 15) as u8, limit })
    }

    /// Writes the packet with its CRC.
    pub fn emit(&self, out: &mut Writer) {
        let start = out.position();
        out.u16(u16::from(self.initialize) << 12 | self.sent & 0xFFF);
        out.u16(u16::from(self.lane) << 12 | self.limit & 0xFFF);
        let crc = variant(out.written(start));
        out.bytes(&crc.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sample packet of IBTA volume 1, 7.8.1, with its invariant CRC.
    #[rustfmt::skip]
    const SAMPLE: [u8; 56] = [
        0x70, 0x12, 0x37, 0x5C, 0x00, 0x0E, 0x17, 0xD2, 0x0A, 0x20, 0x24, 0x87, 0x00, 0x87, 0xB1, 0xB3, 0x00, 0x0D,
        0xEC, 0x2A, 0x01, 0x71, 0x0A, 0x1C, 0x01, 0x5D, 0x40, 0x02, 0x38, 0xF2, 0x7A, 0x05, 0x00, 0x00, 0x00, 0x0E,
        0xBB, 0x88, 0x4D, 0x85, 0xFD, 0x5C, 0xFB, 0xA4, 0x72, 0x8B, 0xC0, 0x69, 0x0E, 0xD4, 0x00, 0x00,
        0x96, 0x25, 0xB7, 0x5A,
    ];

    #[test]
    fn the_sample_packet_of_the_standard() {
        assert_eq!(invariant(&SAMPLE[..52]).to_le_bytes(), SAMPLE[52..]);
        let (route, body) = LocalRoute::parse(&SAMPLE).expect("whole");
        assert_eq!((route.lane, route.service_level, route.next), (7, 1, LocalRoute::LOCAL));
        assert_eq!((route.destination, route.source, route.words), (0x375C, 0x17D2, 14));
        let (transport, _) = BaseTransport::parse(body).expect("whole");
        assert_eq!((transport.opcode, transport.pad, transport.queue_pair), (0x0A, 2, 0x87_B1B3));
        assert_eq!((transport.partition, transport.sequence), (0x2487, 0x0D_EC2A));
    }

    /// Entries of the table that Mellanox's packet generator (OpenIB's first stack) computes the variant CRC with; that of
    /// Endace's capture library is the same.
    #[test]
    fn the_variant_crc_is_that_of_others() {
        let table = |index: u8| !variant(&[index ^ 0xFF]) ^ 0x00FF;
        assert_eq!([0, 1, 2, 16, 128, 255].map(table), [0x0000, 0x1BA1, 0x3742, 0x1A01, 0xD008, 0x0960]);
    }

    #[test]
    fn sealed_packets_check_and_damaged_ones_do_not() {
        let mut buffer = [0; 58];
        let mut out = Writer::new(&mut buffer);
        out.bytes(&SAMPLE[..50]);
        seal(&mut out);
        assert_eq!(out.finish(), Ok(58));
        assert_eq!(buffer[..56], SAMPLE);
        assert_eq!(check(&buffer).map(|it| it.2.len()), Ok(30));
        // A switch may change the lane and mark the packet, and then computes the variant CRC anew.
        (buffer[0], buffer[12]) = (0x30, 0x80);
        let crc = variant(&buffer[..56]);
        buffer[56..].copy_from_slice(&crc.to_le_bytes());
        assert!(check(&buffer).is_ok_and(|it| it.1.forward && it.0.lane == 3));
        buffer[40] ^= 1;
        assert!(check(&buffer).is_err());
    }

    #[test]
    fn credits_round_trip() {
        let packet = FlowControl { initialize: false, sent: 0xABC, lane: 5, limit: 0x123 };
        let mut buffer = [0; FlowControl::LENGTH];
        packet.emit(&mut Writer::new(&mut buffer));
        assert_eq!(FlowControl::parse(&buffer), Ok(packet));
        assert_eq!(buffer[..4], [0x0A, 0xBC, 0x51, 0x23]);
    }
}
