//! Whatever can be said is understood as it was said, and what does not fit is refused.

use proptest::prelude::*;
use wire::isis::spb::{self, Detail, PortDetail};
use wire::isis::tlv::{self, Tlv};
use wire::isis::{self, Pdu};
use wire::lldp::{Discarded, Identifier, cee, ieee};
use wire::mcid::Mcid;
use wire::{
    Address, Error, Priority, VlanId, Writer, bpdu, cnm, infiniband, ipv4, lldp, mac_control, roce, spbm, tailback,
    tcp, trill, vlan,
};

fn written(emit: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut buffer = vec![0; 4096];
    let mut out = Writer::new(&mut buffer);
    emit(&mut out);
    let length = out.finish().expect("there is room");
    buffer.truncate(length);
    buffer
}

fn address() -> impl Strategy<Value = Address> {
    any::<[u8; 6]>().prop_map(Address)
}

fn priority() -> impl Strategy<Value = Priority> {
    (0u8..8).prop_map(Priority::low_bits)
}

fn vlan_id() -> impl Strategy<Value = VlanId> {
    (0u16..4096).prop_map(VlanId::low_bits)
}

fn groups() -> impl Strategy<Value = [Option<u8>; 8]> {
    proptest::array::uniform8(proptest::option::of(0u8..8))
}

fn shares() -> impl Strategy<Value = [u8; 8]> {
    proptest::array::uniform8(0u8..=100)
}

fn ets() -> impl Strategy<Value = ieee::EtsTable> {
    use ieee::Selection::{CreditBased, Share, Strict, Vendor};
    let selection = proptest::array::uniform8(proptest::sample::select(vec![Strict, CreditBased, Share, Vendor]));
    (groups(), shares(), selection).prop_map(|(classes, shares, selection)| ieee::EtsTable {
        classes,
        shares,
        selection,
    })
}

fn feature() -> impl Strategy<Value = cee::Feature> {
    any::<(u8, u8, bool, bool, bool)>().prop_map(|(version, highest, enabled, willing, error)| cee::Feature {
        version,
        highest,
        enabled,
        willing,
        error,
    })
}

fn mcid() -> impl Strategy<Value = Mcid> {
    any::<([u8; 32], u16, [u8; 16])>().prop_map(|(name, revision, digest)| Mcid { name, revision, digest })
}

fn message(rapid: bool) -> impl Strategy<Value = bpdu::Message> {
    let role = proptest::sample::select(vec![
        bpdu::Role::Master,
        bpdu::Role::Alternate,
        bpdu::Role::Root,
        bpdu::Role::Designated,
    ]);
    let flags = any::<[bool; 6]>();
    (flags, role, any::<(u64, u32, u64, u16, [u16; 4])>()).prop_map(move |(flags, role, values)| {
        let (root, cost, bridge, port, times) = values;
        bpdu::Message {
            acknowledgement: flags[0],
            agreement: rapid && flags[1],
            forwarding: rapid && flags[2],
            learning: rapid && flags[3],
            role: if rapid { role } else { bpdu::Role::Designated },
            proposal: rapid && flags[4],
            change: flags[5],
            root,
            cost,
            bridge,
            port,
            times,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tags(priority in priority(), drop_eligible: bool, vlan in vlan_id(), service: bool, next: u16, flow: u16) {
        let kind = if service { vlan::Kind::Service } else { vlan::Kind::Customer };
        let tag = vlan::Repr { kind, priority, drop_eligible, vlan };
        let bytes = written(|out| tag.emit(next, out));
        prop_assert_eq!(vlan::Repr::parse(tag.tag_type(), &bytes), Ok((tag, next, &[][..])));
        let tag = cnm::Tag { flow };
        let bytes = written(|out| tag.emit(next, out));
        prop_assert_eq!(cnm::Tag::parse(&bytes), Ok((tag, next, &[][..])));
    }

    #[test]
    fn backbone_headers(priority in priority(), flags: [bool; 2], service in 0u32..1 << 24, hops in 0u8..64,
        names: (u16, u16), inner in proptest::collection::vec(any::<u8>(), 0..40))
    {
        let tag = spbm::Repr { priority, drop_eligible: flags[0], no_customer_addresses: flags[1], service };
        let bytes = written(|out| { tag.emit(out); out.bytes(&inner) });
        prop_assert_eq!(spbm::Repr::parse(&bytes), Ok((tag, &inner[..])));
        let mut header = trill::Repr::new(hops, names.0, names.1);
        header.multi_destination = flags[0];
        let bytes = written(|out| { header.emit(out); out.bytes(&inner) });
        prop_assert_eq!(trill::Repr::parse(&bytes), Ok((header, &inner[..])));
    }

    #[test]
    fn pauses(quanta: [Option<u16>; 8], all: u16, source in address()) {
        for control in [mac_control::Repr::Pfc { quanta }, mac_control::Repr::Pause { quanta: all }] {
            let frame = written(|out| control.emit_frame(source, out));
            prop_assert_eq!(frame.len(), 64);
            let body = wire::fcs::check(&frame).expect("sealed");
            prop_assert_eq!(mac_control::Repr::parse(&body[14..]), Ok(control));
        }
    }

    #[test]
    fn congestion_messages(feedback in 0u8..64, point: u64, queue: (i16, i16), priority in priority(),
        destination in address(), quote in proptest::collection::vec(any::<u8>(), 0..=64))
    {
        let (offset, growth) = queue;
        let repr = cnm::Repr { feedback, point, offset, growth, priority, destination, quote: &quote };
        let bytes = written(|out| repr.emit(out));
        prop_assert_eq!(bytes.len(), repr.length());
        prop_assert_eq!(cnm::Repr::parse(&bytes), Ok(repr));
    }

    #[test]
    fn discovery(
        names in (1u8.., proptest::collection::vec(any::<u8>(), 1..256), proptest::collection::vec(any::<u8>(), 1..256)),
        time_to_live: u16,
        configuration in proptest::option::of((any::<(bool, bool)>(), 1u8..=8, ets())),
        recommendation in proptest::option::of(ets()),
        pfc in proptest::option::of((any::<(bool, bool, u8)>(), 0u8..16)),
        applications in proptest::option::of(proptest::collection::vec((priority(), 0u8..8, any::<u16>()), 0..=168)),
        congestion: Option<(u8, u8)>,
        control: Option<(u8, u8, u32, u32)>,
        features in (proptest::option::of((feature(), groups(), shares(), any::<u8>())),
            proptest::option::of((feature(), any::<(u8, u8)>())),
            proptest::option::of((feature(), proptest::collection::vec(any::<(u16, u8, [u8; 3], u8)>(), 0..70)))),
    ) {
        let table: Option<Vec<[u8; 3]>> = applications.map(|list| list.into_iter()
            .map(|(priority, selector, protocol)| ieee::Application { priority, selector, protocol }.encode()).collect());
        let (groups, flow_control, uses) = features;
        let uses: Option<(cee::Feature, Vec<[u8; 6]>)> = uses.map(|(feature, list)| (feature, list.into_iter()
            .map(|(protocol, selector, organisation, priorities)|
                cee::Application { protocol, selector, organisation, priorities }.encode()).collect()));
        let unit = lldp::Repr {
            chassis: Identifier::new(names.0, &names.1).expect("valid"),
            port: Identifier::new(names.0, &names.2).expect("valid"),
            time_to_live,
            ieee: ieee::Ieee {
                configuration: configuration.map(|((willing, shaper), most_classes, table)|
                    ieee::EtsConfiguration { willing, shaper, most_classes, table }),
                recommendation,
                flow_control: pfc.map(|((willing, bypass, priorities), capability)|
                    ieee::FlowControl { willing, bypass, capability, priorities }),
                applications: table.as_ref().map(|table| ieee::Applications::new(table).expect("they fit")),
                congestion: congestion.map(|(priorities, ready)| ieee::CongestionNotification { priorities, ready }),
            },
            cee: control.map(|(version, highest, sequence, acknowledged)| cee::Cee {
                control: cee::Control { version, highest, sequence, acknowledged },
                groups: groups.map(|(feature, groups, shares, classes)|
                    (feature, cee::PriorityGroups { groups, shares, classes })),
                flow_control: flow_control.map(|(feature, (priorities, classes))|
                    (feature, cee::FlowControl { priorities, classes })),
                applications: uses.as_ref().map(|(feature, table)|
                    (*feature, cee::Applications::new(table).expect("they fit"))),
            }),
        };
        let bytes = written(|out| unit.emit(out));
        prop_assert_eq!(lldp::Repr::parse(&bytes), Ok((unit, Discarded::default())));
    }

    #[test]
    fn hellos(hello in any::<([u8; 6], u16, u8)>(), adjacency in any::<(u8, u32, Option<([u8; 6], u32)>)>(),
        mcids in (mcid(), mcid()), digest in any::<(bool, u8, u8, [u8; 32])>(),
        base in proptest::collection::vec((any::<u32>(), vlan_id(), any::<bool>(), any::<bool>()), 0..=18))
    {
        let repr = isis::Repr::Hello(isis::Hello { levels: 1, source: hello.0, holding_time: hello.1, circuit: hello.2 });
        let state = [tlv::State::Up, tlv::State::Initializing, tlv::State::Down][usize::from(adjacency.0) % 3];
        let adjacency = tlv::Adjacency { state, circuit: adjacency.1, neighbour: adjacency.2 };
        let (valid, agreement, discarded, digest) = digest;
        let digest = spb::Digest { valid, agreement: agreement & 3, discarded: discarded & 3, digest };
        let base: Vec<spb::BaseVlan> = base.into_iter()
            .map(|(algorithm, vlan, used, spbm)| spb::BaseVlan { algorithm, vlan, used, spbm }).collect();
        let encoded: Vec<[u8; 6]> = base.iter().map(spb::BaseVlan::encode).collect();
        let details = [PortDetail::Mcid(mcids.0, mcids.1), PortDetail::Digest(digest),
            PortDetail::BaseVlans(spb::BaseVlans::new(&encoded).expect("they fit"))];
        let area = [4, 0x49, 0, 0, 1];
        let bytes = written(|out| repr.emit(out, |out| {
            Tlv::Areas(tlv::Areas::parse(&area).expect("valid")).emit(out);
            Tlv::Protocols(&[tlv::protocol::SPB]).emit(out);
            Tlv::Adjacency(adjacency).emit(out);
            tlv::emit_port_capability(out, 0, |out| details.iter().for_each(|detail| detail.emit(out)));
            Tlv::Padding(77).emit(out);
        }));
        let pdu = Pdu::parse(&bytes).expect("sound");
        prop_assert_eq!(pdu.repr, repr);
        let mut tlvs = pdu.tlvs();
        let seen: Vec<Tlv> = tlvs.by_ref().collect();
        prop_assert_eq!(tlvs.malformed(), 0);
        prop_assert_eq!(seen[2], Tlv::Adjacency(adjacency));
        let Tlv::PortCapability(port) = seen[3] else { panic!("{:?}", seen[3]) };
        prop_assert!(port.details().eq(details));
        prop_assert_eq!(seen[4], Tlv::Padding(77));
        let Some(PortDetail::BaseVlans(vlans)) = port.details().nth(2) else { panic!("no VLANs") };
        prop_assert!(vlans.iter().eq(base));
    }

    #[test]
    fn link_states(id: [u8; 8], numbers in any::<(u16, u32, bool)>(), attached in 0u8..16, level in 0u8..4,
        neighbours in proptest::collection::vec((any::<[u8; 7]>(), 0u32..1 << 24, any::<(u8, u16)>()), 0..13),
        instance in (any::<u16>(), 0u32..1 << 20, any::<(u64, u32, bool)>()),
        trees in proptest::collection::vec((any::<[bool; 3]>(), any::<u32>(), vlan_id(), vlan_id()), 0..=16),
        service in (address(), vlan_id(), proptest::collection::vec((any::<[bool; 2]>(), 0u32..1 << 24), 0..60)),
        groups in (0u8..4, vlan_id(), proptest::collection::vec((any::<[bool; 2]>(), address()), 0..35)))
    {
        let (lifetime, sequence, overload) = numbers;
        let repr = isis::Repr::LinkState(isis::LinkState { lifetime, id, sequence, overload, attached, level });
        let trees: Vec<spb::Tree> = trees.into_iter().map(|(flags, algorithm, base_vlan, source_vlan)| spb::Tree {
            used: flags[0], spbm: flags[1], automatic: flags[2], algorithm, base_vlan, source_vlan }).collect();
        let encoded: Vec<[u8; 8]> = trees.iter().map(spb::Tree::encode).collect();
        let mut it = spb::Instance::new(instance.0, instance.1);
        (it.root, it.root_cost, it.automatic) = instance.2;
        let it = it.with_trees(&encoded).expect("they fit");
        let services: Vec<[u8; 4]> = service.2.iter().map(|&(flags, service)|
            spb::ServiceInstance { transmits: flags[0], receives: flags[1], service }.encode()).collect();
        let addresses: Vec<[u8; 7]> = groups.2.iter().map(|&(flags, address)|
            spb::GroupAddress { transmits: flags[0], receives: flags[1], address }.encode()).collect();
        let details = [Detail::Instance(it),
            Detail::Service(spb::Service::new(service.0, service.1, &services).expect("they fit")),
            Detail::Addresses(spb::Addresses::new(groups.0, groups.1, &addresses).expect("they fit"))];
        let bytes = written(|out| repr.emit(out, |out| {
            tlv::emit_neighbours(out, |out| neighbours.iter().for_each(|&(id, metric, (ports, port))| {
                let link = spb::LinkMetric { metric, ports, port };
                tlv::Neighbour::emit(out, id, metric, |out| link.emit(out));
            }));
            details.iter().for_each(|detail| tlv::emit_capability(out, overload, 0, |out| detail.emit(out)));
        }));
        let pdu = Pdu::parse(&bytes).expect("sound");
        prop_assert_eq!(pdu.repr, repr);
        prop_assert!(isis::checksum::is_right(pdu.bytes()));
        let mut tlvs = pdu.tlvs();
        let seen: Vec<Tlv> = tlvs.by_ref().collect();
        prop_assert_eq!((tlvs.malformed(), seen.len()), (0, 4));
        let Tlv::Neighbours(list) = seen[0] else { panic!("{:?}", seen[0]) };
        let read: Vec<_> = list.iter().map(|it| {
            let link = it.link_metric().expect("it is there");
            (it.id, it.metric, (link.ports, link.port))
        }).collect();
        prop_assert_eq!(read, neighbours);
        for (tlv, detail) in seen[1..].iter().zip(details) {
            let Tlv::Capability(capability) = tlv else { panic!("{tlv:?}") };
            prop_assert!(capability.details().eq([detail]) && capability.overload == overload);
        }
        let Detail::Instance(it) = details[0] else { unreachable!() };
        prop_assert!(it.trees().eq(trees));
    }

    #[test]
    fn sequence_numbers(source: [u8; 7], range: ([u8; 8], [u8; 8]),
        entries in proptest::collection::vec(any::<(u16, [u8; 8], u32, u16)>(), 0..=15))
    {
        let entries: Vec<tlv::Entry> = entries.into_iter()
            .map(|(lifetime, id, sequence, checksum)| tlv::Entry { lifetime, id, sequence, checksum }).collect();
        let encoded: Vec<[u8; 16]> = entries.iter().map(tlv::Entry::encode).collect();
        let list = Tlv::Entries(tlv::Entries::new(&encoded).expect("they fit"));
        let complete = isis::Repr::Complete(isis::Complete { source, first: range.0, last: range.1 });
        for repr in [complete, isis::Repr::Partial(isis::Partial { source })] {
            let bytes = written(|out| repr.emit(out, |out| list.emit(out)));
            let pdu = Pdu::parse(&bytes).expect("sound");
            prop_assert_eq!(pdu.repr, repr);
            prop_assert!(pdu.tlvs().eq([list]));
        }
        let Tlv::Entries(list) = list else { unreachable!() };
        prop_assert!(list.iter().eq(entries));
    }

    #[test]
    fn bridge_units(plain in message(false), rapid in message(true), version in 3u8..=4, rest: Vec<u8>) {
        for unit in [bpdu::Repr::TopologyChange, bpdu::Repr::Configuration(plain), bpdu::Repr::Rapid(rapid),
            bpdu::Repr::Multiple(version, rapid, &rest)]
        {
            let bytes = written(|out| unit.emit(out));
            prop_assert_eq!(bpdu::Repr::parse(&bytes), Ok(unit));
        }
    }

    #[test]
    fn infiniband_packets(lane in 0u8..16, service_level in 0u8..16, ends: (u16, u16), opcode: u8, flags: [bool; 5],
        numbers in (any::<u16>(), 0u32..1 << 24, 0u32..1 << 24), payload in proptest::collection::vec(any::<u8>(), 0..64))
    {
        let pad = (payload.len().next_multiple_of(4) - payload.len()) as u8;
        let transport = infiniband::BaseTransport {
            opcode, solicited: flags[0], migrated: flags[1], pad, partition: numbers.0, forward: flags[2],
            backward: flags[3], queue_pair: numbers.1, acknowledge: flags[4], sequence: numbers.2,
        };
        let words = (8 + 12 + payload.len() + usize::from(pad) + 4) / 4;
        let route = infiniband::LocalRoute { lane, service_level, next: infiniband::LocalRoute::LOCAL,
            destination: ends.0, words: words as u16, source: ends.1 };
        let bytes = written(|out| {
            route.emit(out);
            transport.emit(out);
            out.bytes(&payload);
            infiniband::seal(out);
        });
        prop_assert_eq!(bytes.len(), words * 4 + 2);
        prop_assert_eq!(infiniband::check(&bytes), Ok((route, transport, &payload[..])));
        let packet = infiniband::FlowControl { initialize: flags[0], sent: ends.0 & 0xFFF, lane, limit: ends.1 & 0xFFF };
        prop_assert_eq!(infiniband::FlowControl::parse(&written(|out| packet.emit(out))), Ok(packet));
    }

    #[test]
    fn converged_packets(ends: ([u8; 4], [u8; 4]), code_point in 0u8..64, port: u16, queue_pair in 0u32..1 << 24,
        partition: u16, protocol: u8, hops: u8, congestion in 0u8..4, body in proptest::collection::vec(any::<u8>(), 0..50))
    {
        let (source, destination) = ends;
        let cnp = roce::Notification { source, destination, code_point, port, queue_pair, partition };
        let frame = written(|out| cnp.emit_frame(Address([2; 6]), Address([4; 6]), out));
        let packet = wire::fcs::check(&frame).expect("sealed");
        prop_assert_eq!(roce::Notification::parse(&packet[14..]), Ok(cnp));
        let ip = ipv4::Repr { source, destination, code_point, congestion, time_to_live: hops, protocol,
            length: body.len() as u16 };
        let bytes = written(|out| { ip.emit(out); out.bytes(&body) });
        prop_assert_eq!(ipv4::Repr::parse(&bytes), Ok((ip, &body[..])));
    }

    #[test]
    fn connections(ends: ([u8; 4], [u8; 4]), code_point in 0u8..64, congestion in 0u8..4, ports: (u16, u16),
        opcode: u8, flags: [bool; 5], numbers in (any::<u16>(), 0u32..1 << 24, 0u32..1 << 24), syndrome: u8,
        payload in proptest::collection::vec(any::<u8>(), 0..64), segment: (u32, u32, u8, u16),
        blocks in proptest::collection::vec(any::<(u32, u32)>(), 0..=tcp::Blocks::MOST))
    {
        let (source, destination) = ends;
        let pad = (payload.len().next_multiple_of(4) - payload.len()) as u8;
        let transport = infiniband::BaseTransport {
            opcode, solicited: flags[0], migrated: flags[1], pad, partition: numbers.0, forward: flags[2],
            backward: flags[3], queue_pair: numbers.1, acknowledge: flags[4], sequence: numbers.2,
        };
        let acknowledgement = (opcode == infiniband::opcode::ACKNOWLEDGE)
            .then_some(infiniband::AckExtended { syndrome, message: numbers.2 });
        let packet = roce::Packet { source, destination, code_point, congestion, port: ports.0, transport,
            acknowledgement };
        let bytes = written(|out| packet.emit(payload.len(), out, |out| out.bytes(&payload)));
        prop_assert_eq!(bytes.len(), roce::Packet::length(acknowledgement.is_some(), payload.len()));
        prop_assert_eq!(roce::Packet::parse(&bytes), Ok((packet, &payload[..])));
        let mut list = tcp::Blocks::default();
        prop_assert!(blocks.iter().all(|&block| list.push(block)));
        prop_assert!(list.iter().eq(blocks));
        let (sequence, acknowledgement, flags, window) = segment;
        let header = tcp::Repr { source: ports.0, destination: ports.1, sequence, acknowledgement, flags, window,
            blocks: list };
        let ip = ipv4::Repr { source, destination, code_point, congestion, time_to_live: 1, protocol: tcp::PROTOCOL,
            length: (header.length() + payload.len()) as u16 };
        let bytes = written(|out| header.emit(&ip, out, |out| out.bytes(&payload)));
        prop_assert_eq!(tcp::Repr::parse(&ip, &bytes), Ok((header, &payload[..])));
    }

    #[test]
    fn simulated_frames(kind in 0usize..13, flags: [bool; 3], numbers: (u32, u32, u64, u16),
        name in proptest::collection::vec(any::<u8>(), 0..=255), room in 0usize..400)
    {
        use tailback::Kind::{Acknowledgement, Answer, Credit, Data, Notice, Pause, Probe, Receipt};
        use tailback::Kind::{CongestionNotification, CumulativeAcknowledgement, NegativeAcknowledgement, Pull};
        let kind = [Data, Acknowledgement, Probe, Answer, Receipt, Credit, Notice, Pause, CumulativeAcknowledgement,
            NegativeAcknowledgement, tailback::Kind::TrimmedAcknowledgement, CongestionNotification, Pull][kind];
        let (flow, sequence, born, tag) = numbers;
        let [marked, last, selective] = flags;
        let header = tailback::Repr { kind, marked, last, selective, flow, sequence, born, tag, name: &name, stamps: None };
        let bytes = written(|out| header.emit(out));
        prop_assert_eq!(tailback::Repr::parse(&bytes), Ok(header));
        let bytes = written(|out| header.emit_within(room, out));
        prop_assert_eq!(bytes.len(), room);
        if room >= tailback::Repr::LENGTH {
            let fits = room >= tailback::Repr::LENGTH + name.len();
            let name = if fits { &name[..] } else { &[] };
            prop_assert_eq!(tailback::Repr::parse(&bytes), Ok(tailback::Repr { name, ..header }));
        }
    }

    /// A buffer that is too small is never overrun, and what it takes is told.
    #[test]
    fn small_buffers(room in 0usize..64) {
        let mut buffer = vec![0xEE; room];
        let mut out = Writer::new(&mut buffer);
        mac_control::Repr::Pause { quanta: 7 }.emit_frame(Address([2; 6]), &mut out);
        prop_assert_eq!(out.finish(), Err(Error::Room { need: 64, have: room }));
    }
}
