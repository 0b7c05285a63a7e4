//! Tests of the generated octets.

use super::*;
use crate::{Options, execute};
use scenario::{Limits, NoFiles, Plan, load_str};
use std::collections::BTreeMap;
use std::path::PathBuf;
use wire::ethernet::{Content, Frame as EthernetFrame, ether_type};
use wire::{cnm, fcs, infiniband, mac_control, vlan};

pub(super) fn plan(text: &str) -> Plan {
    let plan = load_str("test", text, &[], &NoFiles, Limits::default());
    plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

pub(super) fn scenario(switches: &str, workload: &str) -> Plan {
    plan(&format!(
        r#"
        schema_version = 1
        name = "test"
        [network]
        topology = "single-switch"
        hosts = 3
        link = {{ rate = "10Gb/s", latency = "500ns" }}
        [[switches]]
        {switches}
        [[workloads]]
        name = "w"
        kind = "greedy"
        from = ["h0", "h1"]
        to = "h2"
        {workload}
        [run]
        duration = "300us"
        "#
    ))
}

/// Interface, time in picoseconds, octets.
pub(super) type Packet = (u32, u64, Vec<u8>);

/// A capture of all links: their names, its packets, and the file.
pub(super) fn captured(plan: &Plan, name: &str, threads: usize) -> (Vec<String>, Vec<Packet>, Vec<u8>) {
    let file = std::env::temp_dir().join(format!("tailback-capture-{name}-{threads}-{}", std::process::id()));
    let links = choose(&plan.spec, &["*->*".to_owned()]).expect("there are links");
    let names = links.iter().map(|link| link.name.clone()).collect();
    let capture = Capture { links, file: Some(PathBuf::from(&file)) };
    let interrupt = std::sync::atomic::AtomicBool::new(false);
    let options = Options { threads, time_up: None, interrupt: &interrupt, record: None, capture: Some(&capture) };
    let execution = execute(plan, &options, |_| {}).expect("it runs");
    assert!(!file.exists(), "whether it is kept is its caller's to say");
    execution.capture_file.expect("it is no part of results").commit().expect("there is room");
    let bytes = std::fs::read(&file).expect("it was written");
    std::fs::remove_file(&file).expect("it can be removed");
    let packets = packets(&bytes);
    let told = execution.captured.expect("it was asked for");
    assert_eq!(told.frames, packets.len() as u64);
    assert!(execution.report.totals.hops > 0 && packets.len() as u64 >= execution.report.totals.hops);
    (names, packets, bytes)
}

fn packets(bytes: &[u8]) -> Vec<Packet> {
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
    let (mut at, mut packets) = (0, Vec::new());
    while at < bytes.len() {
        if number(at) == 6 {
            let time = u64::from(number(at + 12)) << 32 | u64::from(number(at + 16));
            packets.push((number(at + 8), time, bytes[at + 28..at + 28 + number(at + 20) as usize].to_vec()));
        }
        at += number(at + 4) as usize;
    }
    packets
}

/// Kind by type of what follows the VLAN tag, with the checks of every frame.
fn payload(octets: &[u8]) -> (u16, Vec<u8>) {
    let body = fcs::check(octets).expect("the check sequence is good");
    let frame = EthernetFrame::new(body).expect("whole");
    let header = wire::ethernet::Repr::parse(&frame).expect("sound");
    assert!(header.source.is_local() && !header.source.is_group());
    let Content::Type(kind) = header.content else { panic!("no type") };
    if kind == ether_type::MAC_CONTROL {
        return (kind, frame.payload().to_vec());
    }
    let (_, next, rest) = vlan::Repr::parse(kind, frame.payload()).expect("a tag");
    match next {
        ether_type::CN_TAG => {
            let (_, next, rest) = cnm::Tag::parse(rest).expect("a tag");
            (next, rest.to_vec())
        }
        next => (next, rest.to_vec()),
    }
}

#[test]
fn pfc_and_data_are_frames_of_their_simulated_size() {
    let plan = scenario(
        r#"flow_control = "pfc"
        buffers = { capacity = "60KB", xoff = "20KB", xon = "15KB" }"#,
        "",
    );
    let (names, packets, bytes) = captured(&plan, "pfc", 1);
    assert_eq!(names, ["h0->sw0", "h1->sw0", "h2->sw0", "sw0->h0", "sw0->h1", "sw0->h2"]);
    let (mut data, mut stops, mut goes) = (0, 0, 0);
    for (interface, _, octets) in &packets {
        match payload(octets) {
            (ether_type::MAC_CONTROL, body) => {
                assert_eq!(octets.len(), 64);
                let Ok(mac_control::Repr::Pfc { quanta }) = mac_control::Repr::parse(&body) else { panic!("no PFC") };
                assert!(names[*interface as usize] != "sw0->h2" && quanta[1..] == [None; 7]);
                *(if quanta[0] == Some(0) { &mut goes } else { &mut stops }) += 1;
            }
            (ether_type::EXPERIMENTAL, body) => {
                let header = wire::tailback::Repr::parse(&body).expect("our header");
                assert_eq!(
                    (octets.len(), header.name),
                    (1500, plan.flow_names.get(header.flow as usize).expect("a flow").as_bytes())
                );
                data += 1;
            }
            (kind, _) => panic!("{kind:#x}"),
        }
    }
    assert!(data > 400 && stops > 5 && goes > 5, "{data} {stops} {goes}");
    assert!(packets.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    // Not a bit depends on the threads.
    assert!(captured(&plan, "pfc", 3).2 == bytes);
}

#[test]
fn pause_of_the_whole_link_is_its_own_frame() {
    let plan = scenario(
        r#"flow_control = "pause"
        buffers = { capacity = "60KB", xoff = "20KB", xon = "15KB" }"#,
        "",
    );
    let (_, packets, _) = captured(&plan, "pause", 1);
    let controls: Vec<_> =
        packets.iter().map(|it| payload(&it.2)).filter(|it| it.0 == ether_type::MAC_CONTROL).collect();
    assert!(controls.len() > 10);
    let pause = |it: &(u16, Vec<u8>)| matches!(mac_control::Repr::parse(&it.1), Ok(mac_control::Repr::Pause { .. }));
    assert!(controls.iter().all(pause));
}

#[test]
fn notices_are_congestion_notification_messages() {
    let plan = scenario(
        r#"flow_control = "pfc"
        buffers = { capacity = "300KB", xoff = "200KB", xon = "190KB" }
        congestion_point = { name = "qcn" }"#,
        r#"protocol = { name = "qcn" }"#,
    );
    let (names, packets, _) = captured(&plan, "qcn", 1);
    let mut seen = 0;
    for (interface, _, octets) in &packets {
        if let (ether_type::CNM, body) = payload(octets) {
            let message = cnm::Repr::parse(&body).expect("sound");
            // From the port to h2, about class 0, towards a source.
            assert!(names[*interface as usize] != "sw0->h2");
            assert_eq!(message.point, 0x0200_0003_0002_0000);
            assert!(message.feedback > 0 && message.offset < 0 || message.growth > 0);
            assert_eq!(message.destination, address(NodeId(2), 0));
            seen += 1;
        }
    }
    assert!(seen > 3, "{seen}");
}

/// Frames with telemetry are longer by its room; a switch stamps data, and acknowledgements return the stamps.
#[test]
fn stamped_trimmed_and_marked_frames_are_shown() {
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
        congestion_point = { name = "trim" }
        [[workloads]]
        name = "w"
        kind = "greedy"
        from = ["h0", "h1"]
        to = "h2"
        class = "data"
        acknowledge = {}
        telemetry = {}
        [run]
        duration = "100us"
        "#,
    );
    let (names, packets, _) = captured(&plan, "stamps", 1);
    let (mut stamped, mut returned, mut trimmed) = (0, 0, 0);
    for (interface, time, octets) in &packets {
        let (kind, body) = payload(octets);
        assert_eq!(kind, ether_type::EXPERIMENTAL);
        let header = wire::tailback::Repr::parse(&body).expect("sound");
        let stamps: Vec<_> = header.stamps.unwrap_or_default().chunks_exact(8).collect();
        let first = stamps.first().map(|octets| wire::tailback::Stamp::from_octets((*octets).try_into().unwrap()));
        match (header.kind, names[*interface as usize].as_str()) {
            (wire::tailback::Kind::Data, "sw0->h2") => {
                let stamp = first.expect("a stamp");
                assert_eq!((octets.len(), stamps.len(), header.tag), (1500 + 42, 1, 0));
                // 10 Gb/s, and the time at which it starts.
                assert_eq!((stamp.rate, u64::from(stamp.time)), (1, time / 1000));
                stamped += 1;
            }
            (wire::tailback::Kind::Data, _) => assert_eq!(header.stamps, Some(&[][..]), "room, and nothing in it"),
            (wire::tailback::Kind::Acknowledgement, _) => {
                assert_eq!((octets.len(), first.map(|stamp| stamp.rate)), (64 + 42, Some(1)));
                returned += 1;
            }
            (wire::tailback::Kind::Trimmed, "sw0->h2") => {
                assert_eq!((octets.len(), header.stamps), (64, None));
                trimmed += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(stamped > 30 && returned > 30 && trimmed > 30, "{stamped} {returned} {trimmed}");
}

#[test]
fn links_with_credits_speak_infiniband() {
    let plan = scenario(
        r#"flow_control = "credits"
        buffers = { capacity = "20KB" }"#,
        "",
    );
    let (_, packets, _) = captured(&plan, "credits", 1);
    let (mut data, mut credits) = (0, 0);
    for (_, _, octets) in &packets {
        let (header, packet) = octets.split_at(wire::pcapng::ERF_HEADER);
        match header[8] {
            21 => {
                let (route, transport, payload) = infiniband::check(packet).expect("both checks are good");
                assert_eq!((route.destination, transport.opcode), (3, infiniband::opcode::SEND_ONLY));
                let header = payload.strip_prefix(&wire::tailback::SIGNATURE).expect("the signature");
                assert!(wire::tailback::Repr::parse(header).is_ok());
                // 1500 is no length of a packet; 1498 is the next below.
                assert_eq!(packet.len(), 1498);
                data += 1;
            }
            25 => {
                let credit = infiniband::FlowControl::parse(packet).expect("sound");
                assert!(credit.lane == 0 && packet.len() == wire::pcapng::ERF_LINK);
                credits += 1;
            }
            kind => panic!("{kind}"),
        }
    }
    assert!(data > 300 && credits > 100, "{data} {credits}");
}

/// A lane's flow control packets by the arithmetic of IBTA 7.9.4, in blocks of 64 octets modulo 4096: what a port says it
/// has sent, what it grants, and that no limit is more than 2048 blocks beyond what the far end has sent.
#[test]
fn credit_limits_are_blocks_of_64_octets() {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/infiniband-credits.toml"));
    let plan = scenario::load(&file, &["run.duration=600us".into(), "run.warm_up=0s".into()]).expect("sound");
    let (names, packets, _) = captured(&plan, "blocks", 1);
    let reverse = |name: &str| name.split_once("->").map(|(from, to)| format!("{to}->{from}")).expect("two ends");
    // By direction and lane.
    let mut sent: BTreeMap<(String, u8), u64> = BTreeMap::new();
    let mut limits: BTreeMap<(String, u8), Vec<u64>> = BTreeMap::new();
    for (interface, _, octets) in &packets {
        let name = &names[*interface as usize];
        let (header, packet) = octets.split_at(wire::pcapng::ERF_HEADER);
        if header[8] == 21 {
            let (route, ..) = infiniband::check(packet).expect("both checks are good");
            // The packet is cut to a length that InfiniBand has; what was simulated is a multiple of 64.
            *sent.entry((name.clone(), route.lane)).or_default() += (packet.len() as u64).div_ceil(64);
            continue;
        }
        let credit = infiniband::FlowControl::parse(packet).expect("sound");
        let mine = sent.get(&(name.clone(), credit.lane)).copied().unwrap_or(0);
        assert_eq!(u64::from(credit.sent), mine % 4096, "{name}");
        let theirs = sent.get(&(reverse(name), credit.lane)).copied().unwrap_or(0);
        let room = (u64::from(credit.limit) + 4096 - theirs % 4096) % 4096;
        // A buffer of 4 KiB has 64 blocks.
        assert!(room <= 64, "{name}: a limit of {} for a sender that has sent {theirs}", credit.limit);
        limits.entry((name.clone(), credit.lane)).or_default().push(credit.limit.into());
    }
    // Frames of 2 KiB: 32 blocks each, beyond the 64 that are free at first.
    let storage = &limits[&("sw0->h0".to_owned(), 1)];
    assert_eq!(storage[..3], [96, 128, 160]);
    assert!(storage.windows(2).all(|pair| pair[1] == (pair[0] + 32) % 4096));
    assert!(storage.len() > 128, "the count goes round: {}", storage.len());
    let messages = &limits[&("sw0->h1".to_owned(), 0)];
    assert!(messages[0] == 68 && messages.windows(2).all(|pair| (pair[1] + 4096 - pair[0]) % 4 == 0));
}

/// Marks go forward on data and backward on acknowledgements.
#[test]
fn marks_are_fecn_and_becn() {
    let plan = scenario(
        r#"flow_control = "credits"
        buffers = { capacity = "100KB" }
        congestion_point = { name = "infiniband-fecn" }"#,
        r#"acknowledge = {}
        protocol = { name = "infiniband-cc" }"#,
    );
    let (_, packets, _) = captured(&plan, "becn", 1);
    let (mut forward, mut backward) = (0, 0);
    for (_, _, octets) in packets.iter().filter(|it| it.2[8] == 21) {
        let (_, transport, _) = infiniband::check(&octets[wire::pcapng::ERF_HEADER..]).expect("both checks are good");
        match transport.opcode {
            infiniband::opcode::SEND_ONLY => assert!(!transport.backward),
            infiniband::opcode::ACKNOWLEDGE => assert!(!transport.forward),
            opcode => panic!("{opcode:#x}"),
        }
        (forward, backward) = (forward + u32::from(transport.forward), backward + u32::from(transport.backward));
    }
    // A marked frame crosses one link with its mark, its acknowledgement two.
    assert!(forward > 5 && backward > forward, "{forward} {backward}");
}

/// Retransmissions, acknowledgements and NAKs are in a capture with the numbers they carry.
#[test]
fn recovery_is_seen_frame_by_frame() {
    // Two senders at line rate into a queue of a few frames, in a class that drops what does not fit. The first one
    // started five frames earlier and wins every tie; when it has sent all, frames of the second arrive after a gap.
    let switches = "buffers = { capacity = \"8KB\" }";
    let workload = r#"size = "30KB"
        stagger = "6080ns"
        capture = "tailback"
        recovery = { name = "go-back-n", timeout = "50us" }
        [[classes]]
        name = "lossy"
        lossless = false"#;
    let (names, packets, _) = captured(&scenario(switches, workload), "recovery", 1);
    let headers: Vec<(&str, Vec<u8>)> = packets
        .iter()
        .map(|(interface, _, octets)| (names[*interface as usize].as_str(), payload(octets)))
        .filter(|(_, (kind, _))| *kind == ether_type::EXPERIMENTAL)
        .map(|(name, (_, body))| (name, body))
        .collect();
    let seen = |link: &str, flow: u32, kind: tailback::Kind| -> Vec<tailback::Repr<'_>> {
        let parsed = headers.iter().filter(|(name, _)| *name == link);
        let parsed = parsed.map(|(_, body)| tailback::Repr::parse(body).expect("our header"));
        parsed.filter(|header| header.kind == kind && header.flow == flow).collect()
    };
    let sent = seen("h1->sw0", 1, tailback::Kind::Data);
    assert!(sent.len() > 20, "some of the twenty frames are retransmitted: {}", sent.len());
    assert!((0..20).all(|number| sent.iter().any(|header| header.sequence == number)));
    assert!(sent.iter().all(|header| header.last == (header.sequence == 19)), "also when it is retransmitted");
    // The numbers go back where a NAK, or the timer, says so.
    let naks = seen("sw0->h1", 1, tailback::Kind::NegativeAcknowledgement);
    assert!(!naks.is_empty());
    for nak in &naks {
        assert!(nak.tag.cast_signed() > 0, "a later frame has arrived");
        assert!(sent.iter().filter(|header| header.sequence == nak.sequence).count() > 1);
    }
    let acknowledged = seen("sw0->h1", 1, tailback::Kind::CumulativeAcknowledgement);
    assert!(acknowledged.windows(2).all(|pair| pair[0].sequence <= pair[1].sequence));
    assert_eq!(acknowledged.last().map(|header| (header.sequence, header.tag.cast_signed())), Some((20, -1)));
}

#[test]
fn links_are_named_by_their_ends() {
    let plan = scenario("flow_control = \"credits\"\nbuffers = { capacity = \"20KB\" }", "");
    let chosen = |text: &str| choose(&plan.spec, &[text.to_owned()]);
    let names = |text: &str| chosen(text).map(|links| links.into_iter().map(|link| link.name).collect::<Vec<_>>());
    assert_eq!(names("sw0->h{0..1}"), Ok(vec!["sw0->h0".into(), "sw0->h1".into()]));
    assert_eq!(names("h?->*").map(|it| it.len()), Ok(3));
    assert!(names("sw0").is_err_and(|reason| reason.contains("such as 'sw0->h1'")));
    assert!(names("h0->h1").is_err_and(|reason| reason.contains("there is no link") && reason.contains("sw0->h")));
    assert!(names("h{5..1}->*").is_err());
}

/// A local identifier has 16 bits, of which hosts have three quarters; more hosts would share identifiers.
#[test]
fn captures_of_more_hosts_than_identifiers_are_refused() {
    let large = |switch: &str, hosts: usize| {
        let mut spec = scenario(switch, "").spec;
        let host = spec.graph.nodes[spec.graph.hosts()[0].0 as usize].clone();
        let missing = hosts - spec.graph.hosts().len();
        spec.graph.nodes.extend(std::iter::repeat_n(host, missing));
        choose(&spec, &["sw0->h1".to_owned()])
    };
    let credits = "flow_control = \"credits\"\nbuffers = { capacity = \"20KB\" }";
    let refused = large(credits, 49_152).expect_err("there are too many hosts");
    assert!(refused.contains("49,151") && refused.contains("49,152"), "{refused}");
    assert!(large(credits, 49_151).is_ok());
    assert!(large("buffers = { capacity = \"200KB\" }", 49_152).is_ok());
}
