//! RoCEv2 (IBTA annex A17): InfiniBand's transport in UDP, and the congestion notification packet.

use crate::bytes::{array, at_least, be8, from};
use crate::ethernet::{self, Content, ether_type};
use crate::fcs::{self, Crc32};
use crate::infiniband::{BaseTransport, INVARIANT, opcode};
use crate::ipv4::{self, UDP, Udp};
use crate::{Address, Error, Writer};

/// UDP destination port.
pub const PORT: u16 = 4791;
/// Octets of IPv4, UDP and base transport header.
const HEADERS: usize = 40;
/// Octets of zeros in a congestion notification packet.
const RESERVED: usize = 16;

/// Returns the invariant CRC of a packet that begins with an IPv4 header without options: fields that routers change
/// count as ones, and eight octets of ones replace the absent route header.
#[must_use]
pub fn invariant(packet: &[u8]) -> u32 {
    let mut headers: [u8; HEADERS] = array(packet, 0);
    // Type of service, time to live and header checksum; UDP checksum; congestion bits.
    for place in [1, 8, 10, 11, 26, 27, 32] {
        headers[place] = 0xFF;
    }
    let mut crc = Crc32::default();
    crc.update(&[0xFF; 8]);
    crc.update(&headers);
    crc.update(from(packet, headers.len()));
    crc.value()
}

/// A congestion notification packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification {
    /// Host that received marked packets.
    pub source: [u8; 4],
    /// Host that must reduce its rate.
    pub destination: [u8; 4],
    /// Code point of the packet, 6 bits.
    pub code_point: u8,
    /// UDP source port.
    pub port: u16,
    /// Queue pair that must reduce its rate, 24 bits.
    pub queue_pair: u32,
    /// Partition key.
    pub partition: u16,
}

impl Notification {
    /// Hops that are left when it starts.
    const TIME_TO_LIVE: u8 = 64;

    /// Parses a packet starting with its IPv4 header, and verifies its invariant CRC.
    pub fn parse(packet: &[u8]) -> Result<Notification, Error> {
        let what = "RoCEv2";
        if be8(packet, 0) & 15 != 5 {
            return Err(Error::Field { what, field: "IPv4 header length", value: u64::from(be8(packet, 0) & 15) });
        }
        let (ip, datagram) = ipv4::Repr::parse(packet)?;
        if ip.protocol != UDP {
            return Err(Error::Field { what, field: "protocol", value: u64::from(ip.protocol) });
        }
        let (udp, body) = Udp::parse(datagram)?;
        if udp.destination != PORT {
            return Err(Error::Field { what, field: "destination port", value: u64::from(udp.destination) });
        }
        let (transport, rest) = BaseTransport::parse(body)?;
        if transport.opcode != opcode::CONGESTION || !transport.backward {
            return Err(Error::Field { what, field: "opcode", value: u64::from(transport.opcode) });
        }
        at_least(rest, RESERVED + INVARIANT, "congestion notification packet")?;
        // Three headers of fixed length stand before what is left.
        let end = HEADERS + rest.len() - INVARIANT;
        let right = invariant(packet.get(..end).unwrap_or(&[]));
        let found = u32::from_le_bytes(array(packet, end));
        if found != right {
            return Err(Error::Checksum { what: "invariant CRC", found, right });
        }
        Ok(Notification {
            source: ip.source,
            destination: ip.destination,
            code_point: ip.code_point,
            port: udp.source,
            queue_pair: transport.queue_pair,
            partition: transport.partition,
        })
    }

    /// Writes the packet from its IPv4 header to its invariant CRC.
    pub fn emit(&self, out: &mut Writer) {
        let start = out.position();
        let body = (BaseTransport::LENGTH + RESERVED + INVARIANT) as u16;
        ipv4::Repr {
            source: self.source,
            destination: self.destination,
            code_point: self.code_point & 63,
            congestion: 0,
            time_to_live: Notification::TIME_TO_LIVE,
            protocol: UDP,
            length: body + Udp::HEADER as u16,
        }
        .emit(out);
        Udp { source: self.port, destination: PORT, length: body }.emit(out);
        BaseTransport {
            opcode: opcode::CONGESTION,
            solicited: false,
            migrated: true,
            pad: 0,
            partition: self.partition,
            forward: false,
            backward: true,
            queue_pair: self.queue_pair & 0xFF_FFFF,
            acknowledge: false,
            sequence: 0,
        }
        .emit(out);
        out.fill(0, RESERVED);
        let crc = invariant(out.written(start));
        out.bytes(&crc.to_le_bytes());
    }

    /// Writes the whole frame, with its check sequence.
    pub fn emit_frame(&self, destination: Address, source: Address, out: &mut Writer) {
        ethernet::Repr { destination, source, content: Content::Type(ether_type::IPV4) }.emit(out);
        self.emit(out);
        fcs::seal(out);
    }
}
