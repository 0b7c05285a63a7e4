//! RoCEv2 (IBTA annex A17): InfiniBand's transport in UDP. A [`Packet`] has any opcode; a [`Notification`] is the
//! congestion notification packet.

use crate::bytes::{array, at_least, be8, from};
use crate::ethernet::{self, Content, ether_type};
use crate::fcs::{self, Crc32};
use crate::infiniband::{AckExtended, BaseTransport, INVARIANT, WORD, opcode};
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

/// Hops that are left when a packet starts.
const TIME_TO_LIVE: u8 = 64;

/// A packet: everything before its payload. Extended headers other than that of an acknowledgement are part of the
/// payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Sending host.
    pub source: [u8; 4],
    /// Receiving host.
    pub destination: [u8; 4],
    /// Differentiated services code point, 6 bits.
    pub code_point: u8,
    /// Explicit congestion notification, 2 bits.
    pub congestion: u8,
    /// UDP source port.
    pub port: u16,
    /// Base transport header; `pad` must be right for the payload.
    pub transport: BaseTransport,
    /// Extended header; present if and only if the opcode is that of an acknowledgement.
    pub acknowledgement: Option<AckExtended>,
}

impl Packet {
    /// Returns the length of a packet in octets, from its IPv4 header to its invariant CRC: a multiple of four.
    #[must_use]
    pub const fn length(acknowledges: bool, payload: usize) -> usize {
        let extended = if acknowledges { AckExtended::LENGTH } else { 0 };
        HEADERS + extended + payload.next_multiple_of(WORD) + INVARIANT
    }

    /// Parses a packet starting with its IPv4 header, verifies its invariant CRC, and returns it with its payload.
    pub fn parse(packet: &[u8]) -> Result<(Packet, &[u8]), Error> {
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
        at_least(rest, INVARIANT, what)?;
        // Three headers of fixed length stand before what is left.
        let end = HEADERS + rest.len() - INVARIANT;
        let right = invariant(packet.get(..end).unwrap_or(&[]));
        let found = u32::from_le_bytes(array(packet, end));
        if found != right {
            return Err(Error::Checksum { what: "invariant CRC", found, right });
        }
        let mut payload = rest.get(..rest.len() - INVARIANT).unwrap_or(&[]);
        let mut acknowledgement = None;
        if transport.opcode == opcode::ACKNOWLEDGE {
            let (header, after) = AckExtended::parse(payload)?;
            (acknowledgement, payload) = (Some(header), after);
        }
        let pad = usize::from(transport.pad);
        if pad > payload.len() || payload.len() % WORD != 0 {
            return Err(Error::Field { what, field: "payload length", value: payload.len() as u64 });
        }
        let packet = Packet {
            source: ip.source,
            destination: ip.destination,
            code_point: ip.code_point,
            congestion: ip.congestion,
            port: udp.source,
            transport,
            acknowledgement,
        };
        Ok((packet, payload.get(..payload.len() - pad).unwrap_or(&[])))
    }

    /// Writes the packet from its IPv4 header to its invariant CRC, around the `length` octets that `payload` writes.
    pub fn emit(&self, length: usize, out: &mut Writer, payload: impl FnOnce(&mut Writer)) {
        let start = out.position();
        let datagram = Packet::length(self.acknowledgement.is_some(), length) - ipv4::HEADER;
        ipv4::Repr {
            source: self.source,
            destination: self.destination,
            code_point: self.code_point & 63,
            congestion: self.congestion,
            time_to_live: TIME_TO_LIVE,
            protocol: UDP,
            length: datagram as u16,
        }
        .emit(out);
        Udp { source: self.port, destination: PORT, length: (datagram - Udp::HEADER) as u16 }.emit(out);
        let padded = length.next_multiple_of(WORD);
        BaseTransport { pad: (padded - length) as u8, ..self.transport }.emit(out);
        if let Some(header) = self.acknowledgement {
            header.emit(out);
        }
        let before = out.position();
        payload(out);
        out.pad_to(before + padded);
        let crc = invariant(out.written(start));
        out.bytes(&crc.to_le_bytes());
    }
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
    /// Length in octets, from the IPv4 header to the invariant CRC.
    pub const LENGTH: usize = Packet::length(false, RESERVED);

    /// Parses a packet starting with its IPv4 header, and verifies its invariant CRC.
    pub fn parse(packet: &[u8]) -> Result<Notification, Error> {
        let (Packet { source, destination, code_point, port, transport, .. }, payload) = Packet::parse(packet)?;
        if transport.opcode != opcode::CONGESTION || !transport.backward {
            return Err(Error::Field { what: "RoCEv2", field: "opcode", value: u64::from(transport.opcode) });
        }
        at_least(payload, RESERVED, "congestion notification packet")?;
        let BaseTransport { queue_pair, partition, .. } = transport;
        Ok(Notification { source, destination, code_point, port, queue_pair, partition })
    }

    /// Writes the packet from its IPv4 header to its invariant CRC.
    pub fn emit(&self, out: &mut Writer) {
        let transport = BaseTransport {
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
        };
        let &Notification { source, destination, code_point, port, .. } = self;
        let packet = Packet { source, destination, code_point, congestion: 0, port, transport, acknowledgement: None };
        packet.emit(RESERVED, out, |out| out.fill(0, RESERVED));
    }

    /// Writes the whole frame, with its check sequence.
    pub fn emit_frame(&self, destination: Address, source: Address, out: &mut Writer) {
        ethernet::Repr { destination, source, content: Content::Type(ether_type::IPV4) }.emit(out);
        self.emit(out);
        fcs::seal(out);
    }
}
