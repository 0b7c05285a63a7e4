//! Packets of a reliable connection over RoCEv2, and segments of TCP, with what other people's dissectors should say of
//! them.

use crate::samples::{PEER, SOURCE, Sample, tagged, written};
use wire::ethernet::{self, Content, ether_type};
use wire::infiniband::{AckExtended, BaseTransport, opcode};
use wire::{fcs, ipv4, roce, tailback, tcp, vlan};

/// A packet of each kind.
pub fn samples() -> Vec<Sample> {
    let transport = BaseTransport {
        opcode: opcode::SEND_FIRST,
        solicited: false,
        migrated: true,
        pad: 0,
        partition: BaseTransport::DEFAULT_PARTITION,
        forward: false,
        backward: false,
        queue_pair: 9,
        acknowledge: true,
        sequence: 5,
    };
    let packet = roce::Packet {
        source: [10, 0, 0, 1],
        destination: [10, 0, 0, 2],
        code_point: 24,
        congestion: ipv4::EXPERIENCED,
        port: 0xC123,
        transport,
        acknowledgement: None,
    };
    let negative = roce::Packet {
        congestion: 0,
        transport: BaseTransport { opcode: opcode::ACKNOWLEDGE, acknowledge: false, ..transport },
        acknowledgement: Some(AckExtended { syndrome: AckExtended::SEQUENCE_ERROR, message: 3 }),
        ..packet
    };
    let header = tailback::Repr { flow: 7, name: b"f", ..tailback::Repr::default() };
    let ip = |length: usize, congestion| ipv4::Repr {
        source: [10, 0, 0, 1],
        destination: [10, 0, 0, 2],
        code_point: 8,
        congestion,
        time_to_live: 64,
        protocol: tcp::PROTOCOL,
        length: length as u16,
    };
    let mut blocks = tcp::Blocks::default();
    blocks.push((2001, 3001));
    blocks.push((4001, 6001));
    let data = tcp::Repr {
        source: 50_000,
        destination: 50_001,
        sequence: 1,
        acknowledgement: 1,
        flags: tcp::flag::ACK | tcp::flag::CWR,
        window: u16::MAX,
        blocks: tcp::Blocks::default(),
    };
    let acknowledgement = tcp::Repr {
        source: 50_001,
        destination: 50_000,
        acknowledgement: 101,
        flags: tcp::flag::ACK | tcp::flag::ECE,
        blocks,
        ..data
    };
    vec![
        Sample {
            name: "roce",
            bytes: written(|out| {
                tagged(out, vlan::Kind::Customer, 3, 0, ether_type::IPV4);
                packet.emit(99, out, |out| header.emit_signed_within(99, out));
                out.fill(0, 2);
                fcs::seal(out);
            }),
            fields: &[
                ("vlan.priority", "3"),
                ("ip.checksum.status", "1"),
                ("ip.dsfield.dscp", "24"),
                ("ip.dsfield.ecn", "3"),
                ("udp.srcport", "49443"),
                ("infiniband.bth.opcode", "0"),
                ("infiniband.bth.psn", "5"),
                ("infiniband.bth.a", "1"),
                ("infiniband.bth.padcnt", "1"),
            ],
            says: &["tos 0x63,CE", "49443 > 10.0.0.2.4791: [no cksum] UDP, length 116"],
        },
        Sample {
            name: "roce-nak",
            bytes: written(|out| {
                ethernet::Repr { destination: PEER, source: SOURCE, content: Content::Type(ether_type::IPV4) }
                    .emit(out);
                negative.emit(0, out, |_| {});
                fcs::seal(out);
            }),
            fields: &[
                ("infiniband.bth.opcode", "17"),
                ("infiniband.aeth.syndrome.opcode", "3"),
                ("infiniband.aeth.syndrome.error_code", "0"),
                ("infiniband.aeth.msn", "3"),
                ("frame.len", "66"),
            ],
            says: &["UDP, length 20"],
        },
        Sample {
            name: "tcp",
            bytes: written(|out| {
                ethernet::Repr { destination: PEER, source: SOURCE, content: Content::Type(ether_type::IPV4) }
                    .emit(out);
                let ip = ip(data.length() + 100, ipv4::CAPABLE);
                ip.emit(out);
                data.emit(&ip, out, |out| header.emit_signed_within(100, out));
                fcs::seal(out);
            }),
            fields: &[
                ("ip.dsfield.ecn", "2"),
                ("tcp.checksum.status", "1"),
                ("tcp.seq_raw", "1"),
                ("tcp.len", "100"),
                ("tcp.flags", "0x0090"),
            ],
            says: &["Flags [.W]", "(correct)", "length 100"],
        },
        Sample {
            name: "tcp-sack",
            bytes: written(|out| {
                ethernet::Repr { destination: SOURCE, source: PEER, content: Content::Type(ether_type::IPV4) }
                    .emit(out);
                let back = ip(acknowledgement.length(), 0);
                let ip = ipv4::Repr { source: back.destination, destination: back.source, ..back };
                ip.emit(out);
                acknowledgement.emit(&ip, out, |_| {});
                fcs::seal(out);
            }),
            fields: &[
                ("tcp.checksum.status", "1"),
                ("tcp.ack_raw", "101"),
                ("tcp.flags.ece", "1"),
                ("tcp.options.sack.count", "2"),
                ("tcp.options.sack_le", "2001,4001"),
                ("tcp.options.sack_re", "3001,6001"),
            ],
            says: &["Flags [.E]", "(correct)", "sack 2 "],
        },
    ]
}
