//! Frames of others. Every expected value below is what tshark 4.0 shows of the capture.

use crate::kit::frames;
use wire::ethernet::{self, Content, Frame, Llc, ether_type};
use wire::isis::spb::{Detail, PortDetail};
use wire::isis::tlv::{State, Tlv, protocol};
use wire::isis::{Pdu, Repr};
use wire::lldp::ieee::{Application, Selection};
use wire::lldp::{self, Discarded, Identifier};
use wire::{Address, Priority, bpdu};

/// The payloads of a capture's frames that are of a type, with the frames' sources.
fn of_type(name: &str, wanted: u16) -> Vec<(Address, Vec<u8>)> {
    let content = |frame: &Vec<u8>| {
        let frame = Frame::new(frame).expect("whole");
        let header = ethernet::Repr::parse(&frame).expect("sound");
        (header.content == Content::Type(wanted)).then(|| (header.source, frame.payload().to_vec()))
    };
    frames(name).iter().filter_map(content).collect()
}

fn of_llc(name: &str, wanted: Llc) -> Vec<(ethernet::Repr, Vec<u8>)> {
    let content = |frame: &Vec<u8>| {
        let frame = Frame::new(frame).expect("whole");
        let header = ethernet::Repr::parse(&frame).expect("sound");
        let (llc, body) = Llc::parse(frame.payload()).ok()?;
        (llc == wanted).then(|| (header, body.to_vec()))
    };
    frames(name).iter().filter_map(content).collect()
}

#[test]
fn a_switch_says_ets_with_priorities_in_no_class() {
    let units = of_type("dcb_ets.pcap", ether_type::LLDP);
    assert_eq!(units.len(), 31);
    let (unit, discarded) = lldp::Repr::parse(&units[0].1).expect("sound");
    assert_eq!(unit.chassis, Identifier::new(4, &[0x08, 0x00, 0x27, 0x0D, 0xF1, 0x3C]).expect("valid"));
    assert_eq!((unit.port.subtype(), unit.time_to_live), (3, 120));
    let configuration = unit.ieee.configuration.expect("it is there");
    assert_eq!((configuration.willing, configuration.shaper, configuration.most_classes), (false, false, 8));
    let (one, four) = (Some(1), Some(4));
    assert_eq!(configuration.table.classes, [None, four, one, one, None, four, one, four]);
    assert_eq!(configuration.table.shares, [0, 50, 0, 0, 50, 0, 0, 0]);
    let (strict, share) = (Selection::Strict, Selection::Share);
    assert_eq!(configuration.table.selection, [strict, share, strict, strict, share, strict, strict, strict]);
    assert_eq!(unit.ieee.recommendation, Some(configuration.table));
    // Port VLAN, protocol VLAN, VLAN name and protocol identity are of no concern here.
    assert_eq!(discarded, Discarded { malformed: 0, unknown: 4, repeated: 0 });
}

#[test]
fn a_switch_says_pfc() {
    let units = of_type("dcb_pfc.pcap", ether_type::LLDP);
    assert_eq!(units.len(), 4);
    for (source, bytes) in units {
        let (unit, discarded) = lldp::Repr::parse(&bytes).expect("sound");
        assert_eq!(unit.chassis.value(), source.0);
        let pfc = unit.ieee.flow_control.expect("it is there");
        assert_eq!((pfc.willing, pfc.bypass, pfc.capability, pfc.priorities), (false, false, 4, 0b0011_0100));
        assert_eq!((discarded.malformed, discarded.unknown), (0, 4));
    }
}

#[test]
fn a_switch_says_congestion_notification_and_no_applications() {
    let units = of_type("dcb_qcn.pcap", ether_type::LLDP);
    let (first, _) = lldp::Repr::parse(&units[0].1).expect("sound");
    assert_eq!((first.ieee.congestion, first.ieee.applications.map(|it| it.iter().count())), (None, Some(0)));
    let (other, _) = lldp::Repr::parse(&units[2].1).expect("sound");
    assert_eq!(other.ieee.congestion.map(|it| (it.priorities, it.ready)), Some((1 << 5, 0)));
}

#[test]
fn lldpad_negotiates() {
    let units = of_type("lldpad_dcbx.pcap", ether_type::LLDP);
    assert_eq!(units.len(), 13);
    let (b, discarded) = lldp::Repr::parse(&units[0].1).expect("sound");
    assert_eq!(discarded, Discarded::default());
    assert_eq!(b.chassis.value(), [2, 0, 0, 0, 0x0B, 1]);
    let configuration = b.ieee.configuration.expect("it is there");
    assert!(configuration.willing && configuration.table.classes == [Some(0); 8]);
    let pfc = b.ieee.flow_control.expect("it is there");
    assert_eq!((pfc.willing, pfc.capability, pfc.priorities), (true, 8, 0b0001_1000));
    let fcoe = Application { priority: Priority::low_bits(3), selector: 1, protocol: 0x8906 };
    assert!(b.ieee.applications.expect("it is there").iter().eq([fcoe]));
    let (a, _) = lldp::Repr::parse(&units[1].1).expect("sound");
    let configuration = a.ieee.configuration.expect("it is there");
    assert!(!configuration.willing);
    assert_eq!(configuration.table.classes.map(|class| class.unwrap_or(9)), [0, 0, 1, 1, 2, 0, 0, 0]);
    assert_eq!(configuration.table.shares, [60, 40, 0, 0, 0, 0, 0, 0]);
}

/// What lldpad sent is what we would send.
#[test]
fn lldpads_frames_are_ours_octet_for_octet() {
    for (_, bytes) in of_type("lldpad_dcbx.pcap", ether_type::LLDP) {
        let (unit, _) = lldp::Repr::parse(&bytes).expect("sound");
        let mut buffer = [0; 200];
        let mut out = wire::Writer::new(&mut buffer);
        unit.emit(&mut out);
        let length = out.finish().expect("room");
        assert_eq!(buffer[..length], bytes[..length]);
        assert!(bytes[length..].iter().all(|&octet| octet == 0));
    }
}

#[test]
fn bridges_greet_each_other() {
    let pdus = of_llc("spb.pcap", Llc::ISO);
    assert_eq!(pdus.len(), 53);
    assert_eq!(pdus[0].0.destination, Address::ALL_INTERMEDIATE_SYSTEMS);
    let pdu = Pdu::parse(&pdus[0].1).expect("sound");
    let Repr::Hello(hello) = pdu.repr else { panic!("{:?}", pdu.repr) };
    assert_eq!((hello.levels, hello.source, hello.holding_time, hello.circuit), (1, [0x88; 6], 30, 3));
    let mut tlvs = pdu.tlvs();
    let mut padding = 0;
    let mut seen = Vec::new();
    for tlv in tlvs.by_ref() {
        match tlv {
            Tlv::Adjacency(it) => {
                assert_eq!((it.state, it.circuit, it.neighbour), (State::Up, 5, Some(([0x22; 6], 4))));
                seen.push("adjacency");
            }
            Tlv::Protocols(protocols) => assert_eq!(protocols, [protocol::SPB]),
            Tlv::Areas(areas) => assert!(areas.iter().eq([&[0u8; 13][..]])),
            Tlv::Padding(count) => padding += usize::from(count),
            Tlv::PortCapability(port) => {
                assert_eq!(port.topology, 0);
                let mut details = port.details();
                let Some(PortDetail::Mcid(mcid, auxiliary)) = details.next() else { panic!("no MCID") };
                assert_eq!(&mcid.name[..22], b"IEEE802.1 SPB Default\0");
                assert_eq!((mcid.revision, auxiliary), (0, mcid));
                let Some(PortDetail::Digest(digest)) = details.next() else { panic!("no digest") };
                assert_eq!((digest.valid, digest.agreement, digest.discarded), (false, 0, 0));
                assert_eq!(digest.digest[..4], [0x00, 0x20, 0x00, 0x18]);
                assert_eq!((details.next(), details.malformed()), (None, 0));
                seen.push("capability");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((tlvs.malformed(), padding, seen), (0, 5 * 255 + 6, vec!["adjacency", "capability"]));
}

#[test]
fn bridges_tell_of_their_links() {
    let pdus = of_llc("spb.pcap", Llc::ISO);
    let pdu = Pdu::parse(&pdus[4].1).expect("sound");
    assert_eq!(pdus[4].0.destination, Address::ALL_L1_SYSTEMS);
    let Repr::LinkState(state) = pdu.repr else { panic!("{:?}", pdu.repr) };
    assert_eq!((state.lifetime, state.sequence, state.overload, state.level), (1200, 15, true, 1));
    assert_eq!(state.id, [0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0, 0]);
    assert_eq!((pdu.checksum(), pdu.is_intact(), pdu.bytes().len()), (0xA241, true, 149));
    let mut links = Vec::new();
    let mut instances = 0;
    for tlv in pdu.tlvs() {
        match tlv {
            Tlv::Neighbours(neighbours) => links.extend(neighbours.iter().map(|it| {
                let link = it.link_metric().expect("it is there");
                (it.id[0], it.metric, link.metric, link.ports, link.port)
            })),
            Tlv::Capability(capability) => {
                assert!(capability.overload);
                for detail in capability.details() {
                    let Detail::Instance(it) = detail else { panic!("{detail:?}") };
                    assert_eq!((it.root, it.root_cost, it.priority, it.source), (0, 0, 4096, 2222));
                    assert_eq!((it.automatic, it.trees().count()), (false, 0));
                    instances += 1;
                }
            }
            _ => {}
        }
    }
    let link = |system, port| (system, 10, 20_000, 2, port);
    assert_eq!((links, instances), (vec![link(0x11, 3), link(0x33, 5), link(0x55, 6), link(0x88, 4)], 1));
}

#[test]
fn bridges_acknowledge() {
    let pdus = of_llc("spb.pcap", Llc::ISO);
    let pdu = Pdu::parse(&pdus[5].1).expect("sound");
    let Repr::Partial(partial) = pdu.repr else { panic!("{:?}", pdu.repr) };
    assert_eq!(partial.source, [0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0]);
    let entries: Vec<_> = pdu
        .tlvs()
        .flat_map(|tlv| match tlv {
            Tlv::Entries(entries) => entries.iter().collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].lifetime, entries[0].sequence, entries[0].checksum), (1200, 15, 0xA241));
}

#[test]
fn every_pdu_of_the_bridges_makes_sense() {
    let mut kinds = [0; 4];
    for (_, bytes) in of_llc("spb.pcap", Llc::ISO) {
        let pdu = Pdu::parse(&bytes).expect("sound");
        let mut tlvs = pdu.tlvs();
        assert!(tlvs.by_ref().all(|tlv| !matches!(tlv, Tlv::Unknown(_))));
        assert!(tlvs.malformed() == 0 && pdu.is_intact());
        kinds[match pdu.repr {
            Repr::Hello(_) => 0,
            Repr::LinkState(_) => 1,
            Repr::Complete(_) => 2,
            Repr::Partial(_) => 3,
        }] += 1;
    }
    assert_eq!(kinds, [49, 2, 0, 2]);
}

#[test]
fn isisd_is_understood() {
    for (_, bytes) in of_llc("frr_isis_hello.pcap", Llc::ISO) {
        let pdu = Pdu::parse(&bytes).expect("sound");
        let Repr::Hello(hello) = pdu.repr else { panic!("{:?}", pdu.repr) };
        assert_eq!((hello.source, hello.holding_time), ([0x44, 0x55, 0x66, 0x77, 0x00, 0x0B], 10));
        let tlvs: Vec<Tlv> = pdu.tlvs().take(4).collect();
        let [Tlv::Protocols([0xCC]), Tlv::Areas(areas), Tlv::Adjacency(adjacency), Tlv::Ipv4Addresses([[10, 9, 0, 2]])] =
            tlvs[..]
        else {
            panic!("{tlvs:?}")
        };
        assert!(areas.iter().eq([&[0x49, 0x00, 0x01][..]]));
        assert_eq!((adjacency.state, adjacency.circuit, adjacency.neighbour), (State::Down, 0, None));
    }
}

#[test]
fn a_bridge_of_version_4_speaks() {
    let units = of_llc("spb_bpduv4.pcap", Llc::BRIDGE);
    assert_eq!(units.len(), 25);
    assert_eq!(units[0].0.destination, Address::PROVIDER_BRIDGE_GROUP);
    let unit = bpdu::Repr::parse(&units[0].1).expect("sound");
    let bpdu::Repr::Multiple(4, message, _) = unit else { panic!("{unit:?}") };
    assert_eq!((message.root >> 48, bpdu::address_of(message.root).to_string()), (32768, "52:54:00:45:5f:15".into()));
    assert_eq!((message.bridge, message.cost, message.port), (message.root, 0, 0x8003));
    assert!(message.forwarding && message.learning && !message.proposal && message.role == bpdu::Role::Designated);
    assert_eq!(message.times.map(|time| time / 256), [0, 20, 2, 15]);
    let name = b"IEEE802.1 SPB Default";
    let (mcid, auxiliary) = (unit.configuration().expect("there"), unit.auxiliary_configuration().expect("there"));
    assert_eq!((&mcid.name[..21], mcid.digest[..4].to_vec()), (&name[..], vec![0x67, 0xD7, 0x68, 0xDF]));
    assert_eq!((&auxiliary.name[..21], auxiliary.digest[..4].to_vec()), (&name[..], vec![0xC8, 0xBD, 0x94, 0x6A]));
}
