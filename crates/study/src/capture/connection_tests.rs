//! Tests of captured frames over IPv4: RoCEv2 and TCP.

use super::tests::{Packet, captured, plan, scenario};
use std::collections::BTreeSet;
use wire::ethernet::{Content, Frame, ether_type};
use wire::infiniband::{AckExtended, opcode};
use wire::roce::Packet as Roce;
use wire::tcp::{self, flag};
use wire::{fcs, ipv4, vlan};

/// What follows the header of a frame, its priority if it has a VLAN tag, and the type; the check sequence is good.
fn packet(octets: &[u8]) -> (u16, Option<u8>, &[u8]) {
    let frame = Frame::new(fcs::check(octets).expect("the check sequence is good")).expect("whole");
    let Content::Type(kind) = wire::ethernet::Repr::parse(&frame).expect("sound").content else { panic!("no type") };
    let payload = &octets[14..octets.len() - fcs::LENGTH];
    match vlan::Repr::parse(kind, payload) {
        Ok((tag, next, rest)) => (next, Some(tag.priority.get()), rest),
        Err(_) => (kind, None, payload),
    }
}

/// The packets of RoCEv2 on one link, with their length and payload.
fn roce<'a>(names: &[String], packets: &'a [Packet], link: &str) -> Vec<(usize, Roce, &'a [u8])> {
    let on_link = packets.iter().filter(|(interface, ..)| names[*interface as usize] == link);
    on_link
        .filter_map(|(_, _, octets)| match packet(octets) {
            (ether_type::IPV4, _, rest) => {
                let (packet, payload) = Roce::parse(rest).expect("every sum is right");
                Some((octets.len(), packet, payload))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn go_back_n_is_a_reliable_connection_of_rocev2() {
    // Two senders at line rate into a queue of a few frames; see `recovery_is_seen_frame_by_frame`.
    let workload = r#"size = "30KB"
        stagger = "6080ns"
        acknowledge = { size = "66B" }
        recovery = { name = "go-back-n", timeout = "50us" }
        [[classes]]
        name = "lossy"
        lossless = false"#;
    let (names, packets, bytes) = captured(&scenario("buffers = { capacity = \"8KB\" }", workload), "roce", 1);
    let sent = roce(&names, &packets, "h1->sw0");
    let twenty = 20;
    assert!(sent.len() > twenty, "some frames are retransmitted: {}", sent.len());
    for (length, packet, payload) in &sent {
        let number = packet.transport.sequence;
        let code = match number {
            0 => opcode::SEND_FIRST,
            19 => opcode::SEND_LAST,
            _ => opcode::SEND_MIDDLE,
        };
        assert_eq!((*length, packet.transport.opcode, packet.transport.queue_pair), (1500, code, 3));
        assert_eq!((packet.source, packet.destination), ([10, 0, 0, 2], [10, 0, 0, 3]));
        assert_eq!((packet.congestion, packet.code_point, packet.transport.acknowledge), (ipv4::CAPABLE, 0, true));
        assert!(packet.port >= 0xC000 && packet.port == sent[0].1.port, "one path");
        let header = payload.strip_prefix(&wire::tailback::SIGNATURE).expect("the signature");
        let header = wire::tailback::Repr::parse(header).expect("our header");
        assert_eq!((header.flow, header.sequence), (1, number));
    }
    let replies = roce(&names, &packets, "sw0->h1");
    let syndrome = |packet: &Roce| packet.acknowledgement.expect("nothing else comes back").syndrome;
    assert!(replies.iter().all(|(length, packet, _)| {
        *length == 66 && packet.transport.opcode == opcode::ACKNOWLEDGE && packet.congestion == 0
    }));
    let naks: Vec<_> = replies.iter().filter(|it| syndrome(&it.1) == AckExtended::SEQUENCE_ERROR).collect();
    assert!(!naks.is_empty());
    for (_, nak, _) in naks {
        let missing = nak.transport.sequence;
        assert!(sent.iter().filter(|it| it.1.transport.sequence == missing).count() > 1, "{missing} is retransmitted");
    }
    // The last one names the last frame and completes the message.
    let last = replies.last().expect("there are replies").1;
    assert_eq!((last.transport.sequence, last.acknowledgement.map(|it| it.message)), (19, Some(1)));
    assert!(captured(&scenario("buffers = { capacity = \"8KB\" }", workload), "roce", 3).2 == bytes);
}

/// A flow that spreads its frames over its paths, by consecutive entropies, has a port for each of them.
#[test]
fn frames_of_other_paths_have_other_ports() {
    for base in [0, 77, 0x3FE0, 0xDEAD_BEEF, u32::MAX - 20] {
        let ports: BTreeSet<u16> = (0..64).map(|path| super::roce::port(u32::wrapping_add(base, path))).collect();
        assert!(ports.len() == 64 && ports.first() >= Some(&0xC000), "{base}: {ports:?}");
    }
    let workload = r#"size = "30KB"
        recovery = "selective-repeat"
        path_selection = "reps"
        [[classes]]
        name = "lossy"
        lossless = false"#;
    let (names, packets, _) = captured(&scenario("buffers = { capacity = \"200KB\" }", workload), "ports", 1);
    let ports: BTreeSet<u16> = roce(&names, &packets, "h1->sw0").iter().map(|(_, packet, _)| packet.port).collect();
    assert!(ports.len() > 1, "{ports:?}");
}

#[test]
fn marks_are_congestion_experienced_and_notifications_are_cnps() {
    let plan = scenario(
        r#"flow_control = "pfc"
        buffers = { capacity = "400KB", xoff = "200KB", xon = "190KB" }
        congestion_point = { name = "ecn", kmin = "5KB", kmax = "20KB", pmax = 1.0 }"#,
        r#"class = "data"
        protocol = { name = "dcqcn" }
        acknowledge = { size = "70B" }
        notify = { size = "82B", class = "control" }
        [[classes]]
        name = "data"
        [[classes]]
        name = "control""#,
    );
    let (names, packets, _) = captured(&plan, "cnp", 1);
    let (arrived, back) = (roce(&names, &packets, "sw0->h2"), roce(&names, &packets, "h2->sw0"));
    let marked = arrived.iter().filter(|(_, packet, _)| packet.congestion == ipv4::EXPERIENCED).count();
    assert!(marked > 10 && marked < arrived.len(), "{marked} of {}", arrived.len());
    assert!(roce(&names, &packets, "h0->sw0").iter().all(|(_, packet, _)| packet.congestion == ipv4::CAPABLE));
    let notifications: Vec<_> = back.iter().filter(|it| it.1.transport.opcode == opcode::CONGESTION).collect();
    assert!(!notifications.is_empty() && notifications.len() < 20, "{}", notifications.len());
    for (length, packet, _) in notifications {
        assert_eq!((*length, packet.code_point, packet.transport.backward), (82, 1 << 3, true));
    }
    // With several classes every frame has a VLAN tag with its class.
    for (_, _, octets) in &packets {
        if let (ether_type::IPV4, priority, rest) = packet(octets) {
            let (ip, _) = ipv4::Repr::parse(rest).expect("sound");
            assert_eq!(priority, Some(ip.code_point >> 3));
        }
    }
}

/// The segments on one link: their length, the IPv4 header, their header and the length of the payload.
fn segments(names: &[String], packets: &[Packet], link: &str) -> Vec<(usize, ipv4::Repr, tcp::Repr, usize)> {
    let on_link = packets.iter().filter(|(interface, ..)| names[*interface as usize] == link);
    let segment = |octets: &[u8]| {
        let (kind, _, rest) = packet(octets);
        assert_eq!(kind, ether_type::IPV4);
        let (ip, body) = ipv4::Repr::parse(rest).expect("sound");
        let (header, payload) = tcp::Repr::parse(&ip, body).expect("the checksum is good");
        (octets.len(), ip, header, payload.len())
    };
    on_link.map(|(_, _, octets)| segment(octets)).collect()
}

/// Two connections over links that damage some frames.
fn damaged(acknowledge: &str) -> scenario::Plan {
    // Some frames are damaged on the links.
    plan(&format!(
        r#"
        schema_version = 1
        name = "test"
        [network]
        topology = "single-switch"
        hosts = 3
        link = {{ rate = "10Gb/s", latency = "500ns", bit_error_rate = 2e-6 }}
        [[classes]]
        name = "lossy"
        lossless = false
        [[switches]]
        flow_control = "none"
        buffers = {{ capacity = "60KB" }}
        congestion_point = {{ name = "ecn-step", threshold = "12KB" }}
        [[workloads]]
        name = "w"
        kind = "greedy"
        from = ["h0", "h1"]
        to = "h2"
        size = "200KB"
        {acknowledge}
        protocol = {{ name = "dctcp" }}
        recovery = {{ name = "sack", preset = "data-centre" }}
        [run]
        duration = "18ms"
        "#
    ))
}

#[test]
fn sack_is_tcp() {
    let plan = damaged("acknowledge = { size = \"90B\" }");
    let (names, packets, _) = captured(&plan, "tcp", 1);
    let (sent, back) = (segments(&names, &packets, "h0->sw0"), segments(&names, &packets, "sw0->h0"));
    // 1500 octets without Ethernet, IPv4 and TCP.
    let payload = 1500 - 18 - 20 - 20;
    let mut end = 1;
    for (length, ip, header, carried) in &sent {
        assert_eq!((header.acknowledgement, ip.congestion), (1, ipv4::CAPABLE));
        assert_eq!(header.sequence % payload as u32, 1);
        assert_eq!(*length, carried + 58);
        end = end.max(header.sequence + *carried as u32);
    }
    // The last of 134 frames has 500 bytes.
    assert_eq!(end, 1 + 133 * payload as u32 + 500 - 58);
    assert!(back.iter().all(|it| it.2.acknowledgement <= end));
    // Frames are lost; marks are echoed, and the sources confirm some of the echoes.
    let links = |links: [&str; 2]| links.map(|link| segments(&names, &packets, link)).concat();
    let (sent, back) = (links(["h0->sw0", "h1->sw0"]), links(["sw0->h0", "sw0->h1"]));
    let selective: Vec<_> = back.iter().filter(|it| it.2.blocks.iter().count() > 0).collect();
    assert!(!selective.is_empty());
    for (_, _, header, _) in selective {
        for (first, after) in header.blocks.iter() {
            assert!(first > header.acknowledgement && first < after, "{header:?}");
            assert_eq!(first % payload as u32, 1);
        }
    }
    for (length, ip, _, carried) in &back {
        assert_eq!((*length, *carried, ip.congestion), (90, 0, 0));
    }
    let echoes = back.iter().filter(|it| it.2.flags & flag::ECE != 0).count();
    let confirmed = sent.iter().filter(|it| it.2.flags & flag::CWR != 0).count();
    assert!(echoes > 5 && (1..echoes).contains(&confirmed), "{echoes} {confirmed}");
}

/// The comment of each packet of a file, if it has one.
fn comments(bytes: &[u8]) -> Vec<Option<String>> {
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
    let (mut at, mut comments) = (0, Vec::new());
    while at < bytes.len() {
        if number(at) == 6 {
            let (captured, original) = (number(at + 20), number(at + 24));
            assert_eq!(captured, original, "nothing is cut");
            let option = at + 28 + captured.next_multiple_of(4) as usize;
            let end = at + number(at + 4) as usize - 4;
            comments.push((option < end).then(|| {
                let length = usize::from(u16::from_le_bytes([bytes[option + 2], bytes[option + 3]]));
                String::from_utf8_lossy(&bytes[option + 4..option + 4 + length]).into_owned()
            }));
        }
        at += number(at + 4) as usize;
    }
    comments
}

/// With the default sizes an acknowledgement is shorter than its headers: it is whole, and its comment says so.
#[test]
fn frames_shorter_than_their_headers_are_whole() {
    let plan = scenario(
        r#"flow_control = "pfc"
        buffers = { capacity = "400KB", xoff = "200KB", xon = "190KB" }"#,
        "acknowledge = {}\nrecovery = { name = \"selective-repeat\" }",
    );
    let (names, packets, bytes) = captured(&plan, "short", 1);
    let mut longer = 0;
    for ((_, _, octets), comment) in packets.iter().zip(comments(&bytes)) {
        // `roce` verifies every sum.
        assert_eq!(comment.is_some(), octets.len() == 66, "{}", octets.len());
        if let Some(comment) = comment {
            assert!(comment.contains("simulated with 64 octets"), "{comment}");
            longer += 1;
        }
    }
    let replies = [roce(&names, &packets, "h2->sw0"), roce(&names, &packets, "sw0->h0")].concat();
    assert!(replies.iter().all(|it| it.1.transport.opcode == opcode::ACKNOWLEDGE));
    assert_eq!(longer, packets.iter().filter(|it| it.2.len() == 66).count());
    assert!(longer > 30);
}

/// Stamps, marks and trimmed frames with the default sizes, in a network with VLAN tags, whose headers are the longest.
#[test]
fn stamped_marked_and_trimmed_frames_are_whole_packets_of_rocev2() {
    let plan = plan(
        r#"
        schema_version = 1
        name = "test"
        [network]
        topology = "single-switch"
        hosts = 3
        link = { rate = "10Gb/s", latency = "500ns" }
        [[classes]]
        name = "data"
        lossless = false
        [[classes]]
        name = "headers"
        lossless = false
        [[switches]]
        flow_control = "none"
        buffers = { capacity = "60KB" }
        congestion_point = { name = "trim", kmin = "3KB", kmax = "9KB" }
        [[workloads]]
        name = "a flow with a name that would not fit into so short a frame"
        kind = "greedy"
        from = ["h0", "h1"]
        to = "h2"
        class = "data"
        telemetry = {}
        recovery = { name = "go-back-n" }
        [run]
        duration = "100us"
        "#,
    );
    let (names, packets, bytes) = captured(&plan, "stamped", 1);
    let (mut marked, mut trimmed, mut stamped) = (0, 0, 0);
    for (length, packet, payload) in roce(&names, &packets, "sw0->h2") {
        marked += u32::from(packet.congestion == ipv4::EXPERIENCED);
        trimmed += u32::from(payload.is_empty() && length == 66 && packet.code_point == 1 << 3);
    }
    for (length, packet, payload) in roce(&names, &packets, "sw0->h0") {
        assert_eq!(packet.transport.opcode, opcode::ACKNOWLEDGE);
        let header = payload.strip_prefix(&wire::tailback::SIGNATURE).map(wire::tailback::Repr::parse);
        // Of a trimmed frame nothing is stamped, and an acknowledgement of it has room for stamps all the same.
        if let Some(stamps) = header.and_then(|header| header.expect("our header").stamps).filter(|it| !it.is_empty()) {
            let stamp = wire::tailback::Stamp::from_octets(stamps.try_into().expect("one"));
            assert_eq!((stamp.rate, length), (1, 70 + (16 + 21 + 1 + 8_usize).next_multiple_of(4)));
            stamped += 1;
        }
    }
    assert!(marked > 10 && trimmed > 10 && stamped > 10, "{marked} {trimmed} {stamped}");
    assert!(comments(&bytes).iter().flatten().all(|comment| comment.contains("octets")));
}

/// An acknowledgement of TCP has room for all of its selective blocks.
#[test]
fn selective_blocks_make_acknowledgements_longer() {
    let (names, packets, _) = captured(&damaged(""), "blocks-of-tcp", 1);
    let back = [segments(&names, &packets, "sw0->h0"), segments(&names, &packets, "sw0->h1")].concat();
    let mut selective = 0;
    for (length, _, header, _) in &back {
        let blocks = header.blocks.iter().count();
        let options = if blocks > 0 { 4 + 8 * blocks } else { 0 };
        assert_eq!(*length, 64.max(18 + 20 + 20 + options), "{blocks} blocks");
        selective += usize::from(blocks > 0);
    }
    assert!(selective > 0 && selective < back.len(), "{selective} of {}", back.len());
}
