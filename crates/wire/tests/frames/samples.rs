//! A frame of every kind we emit, with what other people's dissectors should say of it.

use wire::ethernet::{self, Content, ether_type};
use wire::infiniband::{self, BaseTransport, FlowControl, LocalRoute, opcode};
use wire::isis::spb::{self, Detail, PortDetail};
use wire::isis::tlv::{self, Tlv};
use wire::isis::{self};
use wire::lldp::{Identifier, cee, ieee};
use wire::mcid::{self, Mcid};
use wire::pcapng::Erf;
use wire::{Address, Priority, VlanId, Writer, bpdu, cnm, fcs, lldp, mac_control, roce, spbm, tailback, trill, vlan};

/// Fields of tshark and their values; several values of one field in order, with commas between.
pub type Fields = &'static [(&'static str, &'static str)];

/// A frame and what is to be seen in it.
pub struct Sample {
    /// What it is.
    pub name: &'static str,
    /// Its octets: a frame with its check sequence, or an InfiniBand packet.
    pub bytes: Vec<u8>,
    /// What tshark says.
    pub fields: Fields,
    /// What tcpdump's verbose lines contain.
    pub says: &'static [&'static str],
}

pub const SOURCE: Address = Address([0x02, 0, 0, 0, 0, 0x01]);
pub const PEER: Address = Address([0x02, 0, 0, 0, 0, 0x02]);
const NODE: [u8; 7] = [0x02, 0, 0, 0, 0, 0x01, 0];

pub fn written(emit: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut buffer = vec![0; 2000];
    let mut out = Writer::new(&mut buffer);
    emit(&mut out);
    let length = out.finish().expect("there is room");
    buffer.truncate(length);
    buffer
}

fn priority(value: u8) -> Priority {
    Priority::new(value).expect("valid")
}

fn vid(value: u16) -> VlanId {
    VlanId::new(value).expect("valid")
}

pub fn tagged(out: &mut Writer, kind: vlan::Kind, class: u8, vlan: u16, next: u16) {
    let tag = vlan::Repr { kind, priority: priority(class), drop_eligible: false, vlan: vid(vlan) };
    ethernet::Repr { destination: PEER, source: SOURCE, content: Content::Type(tag.tag_type()) }.emit(out);
    tag.emit(next, out);
}

/// Every kind of Ethernet frame.
pub fn ethernet() -> Vec<Sample> {
    [flow_control(), congestion(), discovery(), link_state(), bridged(), converged()].into_iter().flatten().collect()
}

fn flow_control() -> Vec<Sample> {
    let mut quanta = [None; 8];
    (quanta[3], quanta[5]) = (Some(0xFFFF), Some(0));
    vec![
        Sample {
            name: "pause",
            bytes: written(|out| mac_control::Repr::Pause { quanta: 1234 }.emit_frame(SOURCE, out)),
            fields: &[("macc.opcode", "0x0001"), ("macc.pause_time", "1234")],
            says: &["Opcode Pause, length 50"],
        },
        Sample {
            name: "pfc",
            bytes: written(|out| mac_control::Repr::Pfc { quanta }.emit_frame(SOURCE, out)),
            fields: &[
                ("macc.opcode", "0x0101"),
                ("macc.cbfc.enbv", "0x0028"),
                ("macc.cbfc.enbv.c3", "1"),
                ("macc.cbfc.enbv.c4", "0"),
                ("macc.cbfc.enbv.c5", "1"),
                ("macc.cbfc.pause_time.c3", "65535"),
                ("macc.cbfc.pause_time.c5", "0"),
            ],
            // tcpdump knows no PFC, but prints it: opcode, priorities 3 and 5, and quanta.
            says: &["Opcode Unknown (257)", "0101 0028 0000 0000 0000 ffff 0000 0000"],
        },
    ]
}

fn congestion() -> Vec<Sample> {
    let quote: Vec<u8> = (0..64).collect();
    let message = cnm::Repr {
        feedback: 37,
        point: 0x0200_0000_0001_0305,
        offset: -120,
        growth: 45,
        priority: priority(3),
        destination: Address([0x02, 0, 0, 0, 9, 9]),
        quote: &quote,
    };
    let header = tailback::Repr {
        kind: tailback::Kind::Data,
        marked: true,
        last: false,
        selective: false,
        flow: 7,
        sequence: 99,
        born: 123_456_789,
        tag: 0,
        name: b"f7",
        stamps: None,
    };
    vec![
        Sample {
            name: "cnm",
            bytes: written(|out| {
                tagged(out, vlan::Kind::Customer, 6, 0, ether_type::CN_TAG);
                cnm::Tag { flow: 0xBEEF }.emit(ether_type::CNM, out);
                message.emit(out);
                fcs::seal(out);
            }),
            fields: &[("vlan.priority", "6"), ("vlan.etype", "0x22e9")],
            says: &["ethertype Unknown (0x22e9)"],
        },
        Sample {
            name: "data",
            bytes: written(|out| {
                tagged(out, vlan::Kind::Customer, 3, 0, ether_type::EXPERIMENTAL);
                header.emit_within(300 - 18 - 4, out);
                fcs::seal(out);
            }),
            fields: &[("vlan.priority", "3"), ("vlan.id", "0"), ("vlan.etype", "0x88b5"), ("frame.len", "300")],
            says: &["ethertype Unknown (0x88b5)"],
        },
    ]
}

fn discovery() -> Vec<Sample> {
    let classes = [0, 0, 1, 1, 2, 0, 0, 7].map(Some);
    let share = ieee::Selection::Share;
    let mut table = ieee::EtsTable { classes, shares: [40, 40, 20, 0, 0, 0, 0, 0], ..ieee::EtsTable::default() };
    table.selection[..3].fill(share);
    let applications = [
        ieee::Application { priority: priority(3), selector: 1, protocol: 0x8906 }.encode(),
        ieee::Application { priority: priority(4), selector: 2, protocol: 3260 }.encode(),
    ];
    let unit = lldp::Repr {
        chassis: Identifier::new(Identifier::CHASSIS_ADDRESS, &SOURCE.0).expect("valid"),
        port: Identifier::new(Identifier::PORT_NAME, b"sw0.3").expect("valid"),
        time_to_live: 120,
        ieee: ieee::Ieee {
            configuration: Some(ieee::EtsConfiguration { willing: true, shaper: false, most_classes: 8, table }),
            recommendation: Some(table),
            flow_control: Some(ieee::FlowControl { willing: true, bypass: false, capability: 8, priorities: 0x18 }),
            applications: ieee::Applications::new(&applications),
            congestion: Some(ieee::CongestionNotification { priorities: 0x20, ready: 0x20 }),
        },
        cee: None,
    };
    let feature = cee::Feature { version: 0, highest: 0, enabled: true, willing: true, error: false };
    let uses =
        [cee::Application { protocol: 0x8906, selector: 0, organisation: [0, 0x1B, 0x21], priorities: 8 }.encode()];
    let groups = cee::PriorityGroups {
        groups: [0, 0, 0, 1, 0, 0, 0, 0].map(Some),
        shares: [50, 50, 0, 0, 0, 0, 0, 0],
        classes: 8,
    };
    let old = lldp::Repr {
        ieee: ieee::Ieee::default(),
        cee: Some(cee::Cee {
            control: cee::Control { version: 0, highest: 0, sequence: 5, acknowledged: 4 },
            groups: Some((feature, groups)),
            flow_control: Some((feature, cee::FlowControl { priorities: 8, classes: 8 })),
            applications: cee::Applications::new(&uses).map(|uses| (feature, uses)),
        }),
        ..unit
    };
    vec![
        Sample {
            name: "dcbx",
            bytes: written(|out| unit.emit_frame(SOURCE, out)),
            fields: &[
                ("lldp.time_to_live", "120"),
                ("lldp.ieee.802_1.subtype", "0x09,0x0a,0x0b,0x0c,0x08"),
                ("lldp.dcbx.ieee.willing", "1,1"),
                ("lldp.dcbx.ieee.ets.maxtcs", "0"),
                ("lldp.dcbx.feature.pg.pgid_prio2", "1,1"),
                ("lldp.dcbx.feature.pg.pgid_prio7", "7,7"),
                ("lldp.dcbx.feature.pg.per0", "40,40"),
                ("lldp.dcbx.feature.pg.per2", "20,20"),
                ("lldp.dcbx.ieee.ets.tsa1", "2,2"),
                ("lldp.dcbx.ieee.ets.tsa3", "0,0"),
                ("lldp.dcbx.ieee.pfc.numtcs", "8"),
                ("lldp.dcbx.feature.pfc.prio3", "1"),
                ("lldp.dcbx.feature.pfc.prio5", "0"),
                ("lldp.dcbx.ieee.app.prio", "3,4"),
                ("lldp.ieee.802_1qau.cnpv.prio5", "1"),
                ("lldp.ieee.802_1qau.ready.prio5", "1"),
            ],
            says: &[
                "ETS Configuration Subtype (9)",
                "Willing:1, CBS:",
                "40  40  20  0   0",
                "Willing: 1, MBC: 0, RES: 0, PFC cap:8",
                "Priority: 3, RES: 0, Sel: 1, Protocol ID: 35078",
            ],
        },
        Sample {
            name: "dcbx-cee",
            bytes: written(|out| old.emit_frame(SOURCE, out)),
            fields: &[
                ("lldp.dcbx.control.seq", "5"),
                ("lldp.dcbx.control.ack", "4"),
                ("lldp.dcbx.feature.enabled", "1,1,1"),
                ("lldp.dcbx.feature.willing", "1,1,1"),
                ("lldp.dcbx.feature.error", "0,0,0"),
                ("lldp.dcbx.feature.pg.pgid_prio3", "1"),
                ("lldp.dcbx.feature.pg.per1", "50"),
                ("lldp.dcbx.feature.pg.numtcs", "0x08"),
                ("lldp.dcbx.feature.pfc.prio3", "1"),
                ("lldp.dcbx.feature.app.proto", "0x8906"),
                ("lldp.dcbx.feature.app.prio", "3"),
            ],
            says: &[
                "DCB Capability Exchange Protocol Rev 1.01",
                "Sequence Number: 5",
                "Pg percentage[1]: 50",
                "Priority Bit 3: Enabled",
            ],
        },
    ]
}

fn link_state() -> Vec<Sample> {
    let hello = isis::Hello { levels: 1, source: SOURCE.0, holding_time: 30, circuit: 3 };
    let mut name = [0; 32];
    name[..8].copy_from_slice(b"tailback");
    let mcid = Mcid { name, revision: 1, digest: mcid::digest(|_| 0) };
    let digest = spb::Digest { valid: true, agreement: 1, discarded: 2, digest: [0x5A; 32] };
    let base = [spb::BaseVlan { algorithm: spb::FIRST_ALGORITHM, vlan: vid(100), used: true, spbm: true }.encode()];
    let area = [3, 0x49, 0x00, 0x01];
    let identity = |out: &mut Writer| {
        Tlv::Areas(tlv::Areas::parse(&area).expect("valid")).emit(out);
        Tlv::Protocols(&[tlv::protocol::SPB]).emit(out);
    };
    let adjacency = tlv::Adjacency { state: tlv::State::Up, circuit: 5, neighbour: Some((PEER.0, 6)) };
    let state = isis::LinkState {
        lifetime: 1200,
        id: [0x02, 0, 0, 0, 0, 0x01, 0, 0],
        sequence: 15,
        overload: false,
        attached: 0,
        level: 1,
    };
    let tree = |number: u32| spb::Tree {
        used: number == 0,
        spbm: true,
        automatic: false,
        algorithm: spb::FIRST_ALGORITHM + number,
        base_vlan: vid(100 + number as u16),
        source_vlan: vid(0),
    };
    let trees = [tree(0).encode(), tree(1).encode()];
    let services = [spb::ServiceInstance { transmits: true, receives: true, service: 0x01_0203 }.encode()];
    let groups =
        [spb::GroupAddress { transmits: false, receives: true, address: Address([1, 0, 0x5E, 0, 0, 9]) }.encode()];
    let instance = spb::Instance::new(0x8000, 0x12345).with_trees(&trees).expect("they fit");
    let entry = tlv::Entry { lifetime: 1190, id: state.id, sequence: 15, checksum: 0xABCD }.encode();
    let entries = [entry];
    let list = Tlv::Entries(tlv::Entries::new(&entries).expect("they fit"));
    let complete = isis::Complete { source: NODE, first: [0; 8], last: [0xFF; 8] };
    vec![
        Sample {
            name: "hello",
            bytes: written(|out| {
                isis::Repr::Hello(hello).emit_frame(SOURCE, out, |out| {
                    identity(out);
                    Tlv::Adjacency(adjacency).emit(out);
                    tlv::emit_port_capability(out, 0, |out| {
                        PortDetail::Mcid(mcid, mcid).emit(out);
                        PortDetail::Digest(digest).emit(out);
                        PortDetail::BaseVlans(spb::BaseVlans::new(&base).expect("they fit")).emit(out);
                    });
                });
            }),
            fields: &[
                ("isis.type", "17"),
                ("isis.hello.source_id", "0200.0000.0001"),
                ("isis.hello.holding_timer", "30"),
                ("isis.hello.adjacency_state", "0"),
                ("isis.hello.neighbor_systemid", "0200.0000.0002"),
                ("isis.hello.digest.v", "1"),
                ("isis.hello.digest.a", "1"),
                ("isis.hello.digest.d", "2"),
            ],
            says: &[
                "p2p IIH",
                "NLPID(s): ISIS_SPB (0xc1)",
                "SPB MCID subTLV #4, length: 102",
                "V: 1 A: 1 D: 2",
                "ECT: 0080c201 BVID: 100, U:1 M:1",
            ],
        },
        Sample {
            name: "link-state",
            bytes: written(|out| {
                isis::Repr::LinkState(state).emit_frame(SOURCE, out, |out| {
                    identity(out);
                    tlv::emit_neighbours(out, |out| {
                        let link = spb::LinkMetric { metric: 20_000, ports: 1, port: 4 };
                        tlv::Neighbour::emit(out, [0x02, 0, 0, 0, 0, 0x02, 0], 10, |out| link.emit(out));
                    });
                    tlv::emit_capability(out, false, 0, |out| {
                        Detail::Instance(instance).emit(out);
                        let service = spb::Service::new(SOURCE, vid(100), &services).expect("they fit");
                        Detail::Service(service).emit(out);
                        Detail::Addresses(spb::Addresses::new(1, vid(200), &groups).expect("they fit")).emit(out);
                    });
                });
            }),
            fields: &[
                ("isis.type", "18"),
                ("isis.lsp.sequence_number", "0x0000000f"),
                ("isis.lsp.remaining_life", "1200"),
                ("isis.lsp.checksum.status", "1"),
                ("isis.lsp.overload", "0,0"),
                ("isis.lsp.spb.link_metric", "0x004e20"),
                ("isis.lsp.spb.port_count", "1"),
                ("isis.lsp.spb.port_id", "0x0004"),
                ("isis.lsp.mt_cap_spb_instance.bridge_priority", "0x8000"),
                ("isis.lsp.mt_cap_spb_instance.number_of_trees", "0x0002"),
                ("isis.lsp.mt_cap_spb_instance.vlanid_tuple.ect", "8438273,8438274"),
                ("isis.lsp.mt_cap_spb_instance.vlanid_tuple.basevid", "100,101"),
                ("isis.lsp.mt_cap_spbm_service_identifier.b_mac", "02:00:00:00:00:01"),
                ("isis.lsp.mt_cap_spbm_service_identifier.base_vid", "0x0064"),
                ("isis.lsp.mt_cap_spbm_service_identifier.t", "1"),
                ("isis.lsp.mt_cap_spbm_service_identifier.i_sid", "0x010203"),
                ("isis.lsp.spb.sr_bit", "1"),
                ("isis.lsp.spb.spvid", "0x00c8"),
                ("isis.lsp.spb.mac_address.t", "0"),
                ("isis.lsp.spb.mac_address.r", "1"),
                ("isis.lsp.spb.mac_address", "01:00:5e:00:00:09"),
            ],
            says: &[
                "L1 LSP",
                "(correct)",
                "SPB Instance subTLV #1, length: 35",
                "LM: 20000, P: 1, P-ID: 4",
                "ECT: 0080c202, BVID: 101",
                "ISID: 66051",
            ],
        },
        Sample {
            name: "complete",
            bytes: written(|out| {
                isis::Repr::Complete(complete).emit_frame(SOURCE, out, |out| list.emit(out));
            }),
            fields: &[
                ("isis.type", "24"),
                ("isis.csnp.source_id", "0200.0000.0001"),
                ("isis.csnp.lsp_seq_num", "0x0000000f"),
                ("isis.csnp.lsp_checksum", "0xabcd"),
            ],
            says: &["L1 CSNP", "lsp-id: 0200.0000.0001.00-00, seq: 0x0000000f, lifetime:  1190s, chksum: 0xabcd"],
        },
        Sample {
            name: "partial",
            bytes: written(|out| {
                isis::Repr::Partial(isis::Partial { source: NODE }).emit_frame(SOURCE, out, |out| list.emit(out));
            }),
            fields: &[("isis.type", "26"), ("isis.csnp.lsp_remain_life", "1190")],
            says: &["L1 PSNP", "lifetime:  1190s, chksum: 0xabcd"],
        },
    ]
}

fn bridged() -> Vec<Sample> {
    let customer = |out: &mut Writer| {
        tagged(out, vlan::Kind::Customer, 4, 42, ether_type::EXPERIMENTAL);
        tailback::Repr::default().emit(out);
    };
    let message = bpdu::Message {
        acknowledgement: false,
        agreement: true,
        forwarding: true,
        learning: true,
        role: bpdu::Role::Designated,
        proposal: false,
        change: false,
        root: 0x8000_0200_0000_0001,
        cost: 2000,
        bridge: 0x9000_0200_0000_0002,
        port: 0x8003,
        times: [256, 20 * 256, 2 * 256, 15 * 256],
    };
    let plain = bpdu::Message { agreement: false, forwarding: false, learning: false, ..message };
    vec![
        Sample {
            name: "spbm",
            bytes: written(|out| {
                tagged(out, vlan::Kind::Service, 5, 100, ether_type::I_TAG);
                let tag = spbm::Repr {
                    priority: priority(4),
                    drop_eligible: false,
                    no_customer_addresses: false,
                    service: 0x01_0203,
                };
                tag.emit(out);
                customer(out);
                fcs::seal(out);
            }),
            fields: &[
                ("ieee8021ad.id", "100"),
                ("ieee8021ah.isid", "66051"),
                ("ieee8021ah.priority", "4"),
                ("ieee8021ah.cdst", "02:00:00:00:00:02"),
                ("vlan.id", "42"),
            ],
            says: &["802.1Q-QinQ (0x88a8)", "vlan 100, p 5"],
        },
        Sample {
            name: "trill",
            bytes: written(|out| {
                let content = Content::Type(ether_type::TRILL);
                ethernet::Repr { destination: PEER, source: SOURCE, content }.emit(out);
                trill::Repr::new(17, 0x1234, 0x5678).emit(out);
                customer(out);
                fcs::seal(out);
            }),
            fields: &[
                ("trill.version", "0"),
                ("trill.multi_dst", "0"),
                ("trill.hop_cnt", "17"),
                ("trill.egress_nick", "22136"),
                ("trill.ingress_nick", "4660"),
                ("vlan.id", "42"),
            ],
            says: &["ethertype Unknown (0x22f3)"],
        },
        Sample {
            name: "rapid",
            bytes: written(|out| bpdu::Repr::Rapid(message).emit_frame(Address::BRIDGE_GROUP, SOURCE, out)),
            fields: &[
                ("stp.version", "2"),
                ("stp.type", "0x02"),
                ("stp.flags.agreement", "1"),
                ("stp.root.hw", "02:00:00:00:00:01"),
                ("stp.root.cost", "2000"),
                ("stp.bridge.prio", "36864"),
                ("stp.port", "0x8003"),
                ("stp.hello", "2"),
            ],
            says: &["STP 802.1w, Rapid STP", "root-pathcost 2000, port-role Designated"],
        },
        Sample {
            name: "configuration",
            bytes: written(|out| bpdu::Repr::Configuration(plain).emit_frame(Address::BRIDGE_GROUP, SOURCE, out)),
            fields: &[("stp.version", "0"), ("stp.type", "0x00"), ("stp.max_age", "20")],
            says: &["STP 802.1d, Config", "root-pathcost 2000"],
        },
    ]
}

fn converged() -> Vec<Sample> {
    let cnp = roce::Notification {
        source: [10, 0, 0, 1],
        destination: [10, 0, 0, 2],
        code_point: 48,
        port: 51000,
        queue_pair: 0x01_0203,
        partition: BaseTransport::DEFAULT_PARTITION,
    };
    let mut samples = vec![Sample {
        name: "cnp",
        bytes: written(|out| cnp.emit_frame(PEER, SOURCE, out)),
        fields: &[
            ("ip.checksum.status", "1"),
            ("ip.dsfield.dscp", "48"),
            ("udp.dstport", "4791"),
            ("infiniband.bth.opcode", "129"),
            ("infiniband.bth.destqp", "0x010203"),
            ("infiniband.bth.p_key", "65535"),
        ],
        says: &["10.0.0.1.51000 > 10.0.0.2.4791: [no cksum] UDP, length 32"],
    }];
    samples.extend(crate::connections::samples());
    samples
}

/// Every kind of InfiniBand packet.
pub fn infiniband() -> Vec<(Sample, Erf)> {
    let route = |lane, words| LocalRoute {
        lane,
        service_level: lane,
        next: LocalRoute::LOCAL,
        destination: 7,
        words,
        source: 9,
    };
    let transport = BaseTransport {
        opcode: opcode::SEND_ONLY,
        solicited: false,
        migrated: true,
        pad: 2,
        partition: BaseTransport::DEFAULT_PARTITION,
        forward: true,
        backward: false,
        queue_pair: 0x01_0203,
        acknowledge: true,
        sequence: 77,
    };
    let data = written(|out| {
        route(3, 16).emit(out);
        transport.emit(out);
        tailback::Repr { flow: 7, name: b"f", ..tailback::Repr::default() }.emit_signed_within(38, out);
        infiniband::seal(out);
    });
    let credit = FlowControl { initialize: false, sent: 103, lane: 3, limit: 228 };
    vec![
        (
            Sample {
                name: "packet",
                bytes: data,
                fields: &[
                    ("infiniband.lrh.vl", "0x03"),
                    ("infiniband.lrh.sl", "3"),
                    ("infiniband.lrh.lnh", "0x02"),
                    ("infiniband.lrh.dlid", "7"),
                    ("infiniband.lrh.slid", "9"),
                    ("infiniband.lrh.pktlen", "16"),
                    ("infiniband.bth.opcode", "4"),
                    ("infiniband.bth.padcnt", "2"),
                    ("infiniband.bth.destqp", "0x010203"),
                    ("infiniband.bth.psn", "77"),
                ],
                says: &[],
            },
            Erf::InfiniBand,
        ),
        (
            Sample {
                name: "credit",
                bytes: written(|out| {
                    credit.emit(out);
                    out.pad_to(wire::pcapng::ERF_LINK);
                }),
                fields: &[
                    ("infiniband_link.op", "0"),
                    ("infiniband_link.fctbs", "103"),
                    ("infiniband_link.vl", "3"),
                    ("infiniband_link.fccl", "228"),
                ],
                says: &[],
            },
            Erf::InfiniBandLink,
        ),
    ]
}

/// What tshark says of a sample with our dissector.
pub const DISSECTED: &[(&str, Fields)] = &[
    (
        "cnm",
        &[
            ("cntag.flow", "0xbeef"),
            ("cntag.etype", "0x22e7"),
            ("cnm.version", "0"),
            ("cnm.feedback", "37"),
            ("cnm.cpid", "0x0200000000010305"),
            ("cnm.qoffset", "-120"),
            ("cnm.qdelta", "45"),
            ("cnm.priority", "3"),
            ("cnm.destination", "02:00:00:00:09:09"),
            ("cnm.length", "64"),
        ],
    ),
    (
        "data",
        &[
            ("tailback.kind", "0"),
            ("tailback.marked", "1"),
            ("tailback.flow", "7"),
            ("tailback.sequence", "99"),
            ("tailback.born", "123456789"),
            ("tailback.name", "f7"),
        ],
    ),
];
