//! Any octets as a history of a bridge: frames of a neighbour and of strangers, time and links in any order. Also the fuzz
//! target `isis`.

use control::LARGEST_FRAME;
use control::isis::{Port, Settings, System, Timers};
use std::sync::OnceLock;
use units::{Span, Time};
use wire::Address;
use wire::ethernet::{Frame, Llc};
use wire::isis::tlv::State;
use wire::isis::{Pdu, Repr, SystemId, checksum};

const OWN: SystemId = [2, 0, 0, 0, 0, 1];
const PEER: SystemId = [2, 0, 0, 0, 0, 2];
const PEERS_PORT: Address = Address([2, 0, 0, 0, 2, 0]);
const LIMIT: usize = 12;
const PORTS: usize = 2;
/// Type and length of the fixed part.
const KINDS: [(u8, usize); 4] = [(17, 20), (18, 27), (24, 33), (26, 17)];

/// A frame of the neighbour's with a sound header, right lengths and checksum; all else is as the octets have it.
fn from_neighbour(which: u8, octets: &[u8]) -> Vec<u8> {
    let (kind, header) = KINDS[usize::from(which & 3)];
    let mut pdu = vec![0x83, header as u8, 1, 0, kind, 1, 0, 0];
    pdu.extend(octets);
    pdu.resize(pdu.len().max(header), 0);
    let length = (pdu.len() as u16).to_be_bytes();
    let place = if kind == 17 { 17 } else { 8 };
    pdu[place..place + 2].copy_from_slice(&length);
    match kind {
        17 => {
            pdu[8] |= 1;
            pdu[9..15].copy_from_slice(&PEER);
        }
        18 => {
            // Every second one claims to be ours, and numbers are near enough to each other to be compared.
            if which & 4 != 0 {
                pdu[12..18].copy_from_slice(&OWN);
            }
            pdu[20..23].fill(if which & 8 != 0 { 0xFF } else { 0 });
            pdu[24..26].fill(0);
            let sum = checksum::of(&pdu).to_be_bytes();
            pdu[24..26].copy_from_slice(&sum);
        }
        _ => {}
    }
    framed(PEERS_PORT, &pdu)
}

fn framed(source: Address, pdu: &[u8]) -> Vec<u8> {
    let mut bytes = [Address::ALL_INTERMEDIATE_SYSTEMS.0, source.0].concat();
    bytes.extend((pdu.len() as u16 + 3).to_be_bytes());
    bytes.extend([0xFE, 0xFE, 3]);
    bytes.extend(pdu);
    bytes
}

/// Whatever is sent can be read, whole and without complaint.
fn judge(frame: &[u8]) {
    let frame = Frame::new(frame).expect("a frame");
    let (llc, rest) = Llc::parse(frame.payload()).expect("LLC");
    let pdu = Pdu::parse(rest).expect("a PDU");
    assert!(llc == Llc::ISO);
    if let Repr::LinkState(state) = pdu.repr {
        assert!(checksum::is_right(pdu.bytes()), "even of what is taken back");
        assert!(state.id[..6] != OWN || state.lifetime == 0 || pdu.tlvs().count() > 0 || state.id[7] != 0);
    } else {
        let mut tlvs = pdu.tlvs();
        tlvs.by_ref().for_each(drop);
        assert_eq!(tlvs.malformed(), 0, "what we say is sound");
    }
}

/// The bridge and a neighbour that it knows, at the first of two ports; the second has IPv4.
fn acquainted(timers: Timers) -> (System, System, Time) {
    let port = |number: u8, ipv4| Port { address: Address([2, 0, 0, 0, 1, number]), metric: 5, ipv4 };
    let settings = Settings { limit: LIMIT, ..Settings::new(OWN) };
    let mut bridge = System::new(Time::ZERO, settings, [port(0, None), port(1, Some([192, 0, 2, 1]))], timers);
    let mut peer = System::new(Time::ZERO, Settings::new(PEER), [(PEERS_PORT, 5)], timers);
    let mut buffer = [0; LARGEST_FRAME];
    let mut now = Time::ZERO;
    for _ in 0..8 {
        now = now.saturating_add(Span::from_millis(300));
        while let Some((port, length)) = bridge.poll_transmit(now, &mut buffer) {
            if port == 0 {
                peer.handle_frame(now, 0, &buffer[..length]);
            }
        }
        hear(&mut bridge, &mut peer, now);
    }
    assert!(bridge.adjacency(0).is_some_and(|it| it.state == State::Up));
    (bridge, peer, now)
}

/// Whatever the neighbour has to say.
fn hear(bridge: &mut System, peer: &mut System, now: Time) {
    let mut buffer = [0; LARGEST_FRAME];
    while let Some((_, length)) = peer.poll_transmit(now, &mut buffer) {
        bridge.handle_frame(now, 0, &buffer[..length]);
    }
}

/// Lives through a history, and checks what must hold at every moment of it.
pub fn survive(mut history: &[u8]) {
    // Every history begins alike, so that is done once.
    static BEGINNING: OnceLock<(System, System, Time)> = OnceLock::new();
    let timers = Timers { lifetime: 60, refresh: Span::from_secs(40), ..Timers::default() };
    let (mut bridge, mut peer, mut now) = BEGINNING.get_or_init(|| acquainted(timers)).clone();
    let mut buffer = [0; LARGEST_FRAME];
    while let [what, count, rest @ ..] = history {
        let (octets, after) = rest.split_at(rest.len().min(usize::from(*count)));
        history = after;
        let port = usize::from(what >> 3 & 1);
        match what & 7 {
            0 => bridge.handle_frame(now, port, octets),
            1 => bridge.handle_frame(now, port, &framed(Address([2, 0, 0, 0, 9, *what]), octets)),
            2..=4 => bridge.handle_frame(now, 0, &from_neighbour(what >> 4, octets)),
            5 => now = now.saturating_add(Span::from_millis(100) * u64::from(*count)),
            6 if *what == 0xFE => bridge.shut_down(now),
            6 if *what >= 0xE0 => bridge.handle_link_down(now, port),
            _ => {
                bridge.handle_link_up(now, port);
                hear(&mut bridge, &mut peer, now);
            }
        }
        let mut sent = 0;
        while let Some((port, length)) = bridge.poll_transmit(now, &mut buffer) {
            judge(&buffer[..length]);
            sent += 1;
            if port == 0 {
                peer.handle_frame(now, 0, &buffer[..length]);
            }
        }
        assert!(sent <= PORTS * (LIMIT + 4), "{sent} frames at once");
        let (stored, pending) = bridge.remembered();
        assert!(stored <= LIMIT, "{stored} link-state PDUs");
        assert!(pending <= PORTS * (LIMIT + 90), "{pending} to be sent or answered");
        assert!(bridge.poll_at().is_none_or(|at| at > now), "whatever was due was done");
        assert!((0..PORTS).all(|port| bridge.adjacency(port).is_none_or(|it| it.until > now)));
        assert!(bridge.topology().edges().count() <= LIMIT * 1492 / 11);
        assert!(bridge.entries(now).all(|it| bridge.octets(&it.id).is_some_and(|octets| octets.len() <= 1492)));
    }
}
