//! Every parser on any bytes: what any frame at all is put through, here and by the fuzzer.

use wire::ethernet::{self, Content, Frame, Llc, ether_type};
use wire::isis::tlv::Tlv;
use wire::{Writer, bpdu, cnm, fcs, infiniband, ipv4, isis, lldp, mac_control, roce, spbm, tailback, tcp, trill, vlan};

/// Reads the bytes as everything they could be. Whatever is understood is written again and must read the same.
pub fn survive(bytes: &[u8]) {
    let _ = fcs::check(bytes);
    if let Ok(frame) = Frame::new(bytes) {
        frame_payload(&frame);
    }
    for ether_type in KNOWN {
        payload(ether_type, bytes, 0);
    }
    llc(bytes);
    let _ = infiniband::check(bytes);
    if let Ok((route, body)) = infiniband::LocalRoute::parse(bytes) {
        again(
            bytes.len() + 16,
            |out| route.emit(out),
            |written| {
                // The length speaks of what follows too; only the header is written here.
                assert_eq!(
                    written.get(..4),
                    bytes.get(..4).map(|head| [head[0], head[1] & 0xF3, head[2], head[3]]).as_ref().map(|it| &it[..])
                );
            },
        );
        if let Ok((transport, _)) = infiniband::BaseTransport::parse(body) {
            again(
                32,
                |out| transport.emit(out),
                |written| {
                    assert_eq!(infiniband::BaseTransport::parse(written).map(|it| it.0), Ok(transport));
                },
            );
        }
    }
    if let Ok(credit) = infiniband::FlowControl::parse(bytes) {
        again(16, |out| credit.emit(out), |written| assert_eq!(infiniband::FlowControl::parse(written), Ok(credit)));
    }
    let _ = wire::mcid::Mcid::parse(bytes);
}

const KNOWN: [u16; 10] = [
    ether_type::IPV4,
    ether_type::C_TAG,
    ether_type::S_TAG,
    ether_type::MAC_CONTROL,
    ether_type::LLDP,
    ether_type::I_TAG,
    ether_type::CNM,
    ether_type::CN_TAG,
    ether_type::TRILL,
    ether_type::EXPERIMENTAL,
];

/// Writes into a buffer that is large enough and shows what was written.
fn again(room: usize, emit: impl FnOnce(&mut Writer), look: impl FnOnce(&[u8])) {
    let mut buffer = vec![0; room];
    let mut out = Writer::new(&mut buffer);
    emit(&mut out);
    let length = out.finish().expect("there is room");
    look(&buffer[..length]);
}

fn frame_payload<T: AsRef<[u8]>>(frame: &Frame<T>) {
    let Ok(header) = ethernet::Repr::parse(frame) else { return };
    again(14, |out| header.emit(out), |written| assert_eq!(written, &frame.bytes()[..14]));
    match header.content {
        Content::Type(ether_type) => payload(ether_type, frame.payload(), 0),
        Content::Length(_) => llc(frame.payload()),
    }
}

fn payload(ether_type: u16, bytes: &[u8], depth: usize) {
    if depth > 4 {
        return;
    }
    match ether_type {
        ether_type::C_TAG | ether_type::S_TAG => {
            if let Ok((tag, next, rest)) = vlan::Repr::parse(ether_type, bytes) {
                again(4, |out| tag.emit(next, out), |written| assert_eq!(written, &bytes[..4]));
                payload(next, rest, depth + 1);
            }
        }
        ether_type::CN_TAG => {
            if let Ok((_, next, rest)) = cnm::Tag::parse(bytes) {
                payload(next, rest, depth + 1);
            }
        }
        ether_type::I_TAG => {
            if let Ok((tag, rest)) = spbm::Repr::parse(bytes) {
                again(4, |out| tag.emit(out), |written| assert_eq!(spbm::Repr::parse(written).map(|it| it.0), Ok(tag)));
                if let Ok(frame) = Frame::new(rest) {
                    payload(frame.type_or_length(), frame.payload(), depth + 1);
                }
            }
        }
        ether_type::TRILL => {
            if let Ok((header, rest)) = trill::Repr::parse(bytes) {
                again(
                    200,
                    |out| header.emit(out),
                    |written| {
                        assert_eq!(trill::Repr::parse(written).map(|it| it.0), Ok(header));
                    },
                );
                if let Ok(frame) = Frame::new(rest) {
                    payload(frame.type_or_length(), frame.payload(), depth + 1);
                }
            }
        }
        ether_type::MAC_CONTROL => {
            if let Ok(control) = mac_control::Repr::parse(bytes) {
                again(
                    20,
                    |out| control.emit(out),
                    |written| assert_eq!(mac_control::Repr::parse(written), Ok(control)),
                );
            }
        }
        ether_type::CNM => {
            if let Ok(message) = cnm::Repr::parse(bytes) {
                again(
                    message.length(),
                    |out| message.emit(out),
                    |written| {
                        assert_eq!(cnm::Repr::parse(written), Ok(message));
                    },
                );
            }
        }
        ether_type::LLDP => {
            if let Ok((unit, _)) = lldp::Repr::parse(bytes) {
                again(
                    bytes.len() + 64,
                    |out| unit.emit(out),
                    |written| {
                        assert_eq!(lldp::Repr::parse(written), Ok((unit, lldp::Discarded::default())));
                    },
                );
            }
        }
        ether_type::EXPERIMENTAL => {
            if let Ok(header) = tailback::Repr::parse(bytes) {
                let room = bytes.len() + 300;
                again(room, |out| header.emit(out), |written| assert_eq!(tailback::Repr::parse(written), Ok(header)));
            }
        }
        ether_type::IPV4 => {
            if let Ok((ip, body)) = ipv4::Repr::parse(bytes) {
                let _ = ipv4::Udp::parse(body);
                if let Ok((header, payload)) = tcp::Repr::parse(&ip, body) {
                    again(
                        body.len() + 64,
                        |out| header.emit(&ip, out, |out| out.bytes(payload)),
                        |written| assert_eq!(tcp::Repr::parse(&ip, written), Ok((header, payload))),
                    );
                }
            }
            if let Ok((packet, payload)) = roce::Packet::parse(bytes) {
                again(
                    bytes.len() + 64,
                    |out| packet.emit(payload.len(), out, |out| out.bytes(payload)),
                    |written| assert_eq!(roce::Packet::parse(written), Ok((packet, payload))),
                );
            }
            if let Ok(notification) = roce::Notification::parse(bytes) {
                again(
                    80,
                    |out| notification.emit(out),
                    |written| {
                        assert_eq!(roce::Notification::parse(written), Ok(notification));
                    },
                );
            }
        }
        _ => {}
    }
}

fn llc(bytes: &[u8]) {
    if let Ok((_, body)) = Llc::parse(bytes) {
        pdus(body);
    }
    pdus(bytes);
}

fn pdus(bytes: &[u8]) {
    if let Ok(unit) = bpdu::Repr::parse(bytes) {
        let _ = (unit.configuration(), unit.auxiliary_configuration());
        again(
            bytes.len() + 64,
            |out| unit.emit(out),
            |written| {
                assert_eq!(bpdu::Repr::parse(written), Ok(unit));
            },
        );
    }
    let Ok(pdu) = isis::Pdu::parse(bytes) else { return };
    let _ = pdu.is_intact();
    let mut tlvs = pdu.tlvs();
    let mut seen = Vec::new();
    for tlv in tlvs.by_ref() {
        look_inside(&tlv);
        seen.push(tlv);
    }
    assert!(tlvs.malformed() <= bytes.len());
    let emit = |out: &mut Writer| pdu.repr.emit(out, |out| seen.iter().for_each(|tlv| tlv.emit(out)));
    again(bytes.len() + 64, emit, |written| {
        let pdu_again = isis::Pdu::parse(written).expect("it was written so");
        assert_eq!(pdu_again.repr, pdu.repr);
        assert!(pdu_again.is_intact());
        let mut tlvs = pdu_again.tlvs();
        assert!(tlvs.by_ref().eq(seen.iter().copied()));
        assert_eq!(tlvs.malformed(), 0);
    });
}

fn look_inside(tlv: &Tlv) {
    match tlv {
        Tlv::Areas(areas) => areas.iter().for_each(|area| assert!(!area.is_empty())),
        Tlv::Entries(entries) => entries.iter().for_each(|entry| assert_eq!(entry.encode().len(), 16)),
        Tlv::Neighbours(neighbours) => neighbours.iter().for_each(|it| {
            let _ = it.link_metric();
        }),
        Tlv::PortCapability(it) => it.details().for_each(|detail| again(300, |out| detail.emit(out), |_| {})),
        Tlv::Capability(it) => it.details().for_each(|detail| again(300, |out| detail.emit(out), |_| {})),
        _ => {}
    }
}
