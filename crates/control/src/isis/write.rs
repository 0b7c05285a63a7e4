//! Emission of a system's own PDUs.

use super::Settings;
use super::circuit::{Adjacency, Circuit, ENTRIES};
use super::settings::{TREES, Timers};
use wire::ethernet::{Llc, emit_llc};
use wire::isis::spb::{self, BaseVlan, BaseVlans, Detail, Instance, LinkMetric, PortDetail, Tree};
use wire::isis::tlv::{self, Areas, Entries, Entry, Neighbour, State, Tlv, protocol};
use wire::isis::{Complete, Hello, LinkState, LspId, NodeId, Partial, Pdu, Repr};
use wire::{Address, VlanId, Writer, fcs};

/// Ports whose neighbours one fragment names: with everything else they fit in a PDU.
pub(super) const PORTS: usize = 64;
/// Neighbours with a metric of shortest path bridging that fit in a TLV.
const NEIGHBOURS: usize = 13;

/// A frame that holds a PDU.
pub(super) fn frame(out: &mut Writer, destination: Address, source: Address, pdu: impl FnOnce(&mut Writer)) {
    emit_llc(out, destination, source, Llc::ISO, pdu);
    out.pad_to(fcs::MINIMUM);
}

fn identity(out: &mut Writer, settings: &Settings, protocols: &[u8]) {
    let [a, b, c] = settings.area;
    if let Ok(areas) = Areas::parse(&[3, a, b, c]) {
        Tlv::Areas(areas).emit(out);
    }
    Tlv::Protocols(protocols).emit(out);
}

/// Writes the hello of a port.
pub(super) fn hello(
    out: &mut Writer,
    settings: &Settings,
    timers: &Timers,
    (port, circuit): (u32, &Circuit),
    digest: [u8; 32],
) {
    // Who takes its leave is to be forgotten soon.
    let holding_time = if circuit.enabled { timers.holding_time() } else { 1 };
    let hello = Hello { levels: 1, source: settings.id, holding_time, circuit: port as u8 };
    let neighbour = circuit.adjacency.map(|it| (it.neighbour, it.circuit));
    let state = circuit.adjacency.map_or(State::Down, |it| it.state);
    let vlan = |(algorithm, vlan)| BaseVlan { algorithm, vlan, used: true, spbm: true }.encode();
    let vlans = settings.trees().map(vlan);
    Repr::Hello(hello).emit(out, |out| {
        match circuit.port.ipv4 {
            None => identity(out, settings, &[protocol::SPB]),
            Some(address) => {
                identity(out, settings, &[protocol::SPB, protocol::IPV4]);
                Tlv::Ipv4Addresses(&[address]).emit(out);
            }
        }
        Tlv::Adjacency(tlv::Adjacency { state, circuit: port, neighbour }).emit(out);
        tlv::emit_port_capability(out, 0, |out| {
            PortDetail::Mcid(settings.mcid, settings.mcid).emit(out);
            PortDetail::Digest(spb::Digest { valid: true, agreement: 0, discarded: 0, digest }).emit(out);
            if let Some(vlans) = BaseVlans::new(&vlans) {
                PortDetail::BaseVlans(vlans).emit(out);
            }
        });
    });
}

/// The contents of a hello.
#[derive(Default)]
pub(super) struct Said {
    pub(super) area: bool,
    pub(super) bridge: bool,
    pub(super) ipv4: bool,
    pub(super) mcid: bool,
    pub(super) vlans: bool,
    pub(super) digest: Option<[u8; 32]>,
    pub(super) adjacency: Option<tlv::Adjacency>,
    pub(super) malformed: u64,
}

impl Said {
    pub(super) fn read(pdu: &Pdu, settings: &Settings) -> Said {
        let mut said = Said::default();
        let mut tlvs = pdu.tlvs();
        for tlv in tlvs.by_ref() {
            match tlv {
                Tlv::Areas(areas) => said.area |= areas.iter().any(|area| area == settings.area),
                Tlv::Protocols(protocols) => {
                    said.bridge |= protocols.contains(&protocol::SPB);
                    said.ipv4 |= protocols.contains(&protocol::IPV4);
                }
                Tlv::Adjacency(adjacency) if said.adjacency.is_none() => said.adjacency = Some(adjacency),
                Tlv::PortCapability(capability) => {
                    let mut details = capability.details();
                    for detail in details.by_ref() {
                        match detail {
                            // While tables are changed, the one in use or the next may be what both have.
                            PortDetail::Mcid(mcid, auxiliary) => {
                                said.mcid |= mcid == settings.mcid || auxiliary == settings.mcid;
                            }
                            PortDetail::Digest(it) => said.digest = it.valid.then_some(it.digest),
                            PortDetail::BaseVlans(vlans) => {
                                // In any order (RFC 6329, section 14.1).
                                let mut theirs: Vec<_> = vlans.iter().map(|it| (it.algorithm, it.vlan)).collect();
                                theirs.sort_unstable_by_key(|it| it.0);
                                said.vlans = theirs == settings.trees();
                            }
                            PortDetail::Unknown(_) => {}
                        }
                    }
                    said.malformed += details.malformed() as u64;
                }
                _ => {}
            }
        }
        said.malformed += tlvs.malformed() as u64;
        said
    }
}

/// Writes a fragment of a system's own link state: the neighbours at its ports and, in the first fragment, the bridge.
pub(super) fn link_state<'a>(
    out: &mut Writer,
    settings: &Settings,
    state: LinkState,
    neighbours: impl Iterator<Item = (u16, u32, &'a Adjacency)>,
) {
    let [.., fragment] = state.id;
    let tree = |(algorithm, base_vlan)| {
        let source_vlan = VlanId::low_bits(0);
        Tree { used: true, spbm: true, automatic: false, algorithm, base_vlan, source_vlan }.encode()
    };
    let trees: [[u8; 8]; TREES as usize] = settings.trees().map(tree);
    let [.., x, y, z] = settings.id;
    let instance = Instance::new(settings.priority, u32::from_be_bytes([0, x, y, z])).with_trees(&trees);
    let mut neighbours = neighbours.peekable();
    Repr::LinkState(state).emit(out, |out| {
        if fragment == 0 {
            identity(out, settings, &[protocol::SPB]);
            tlv::emit_capability(out, false, 0, |out| instance.iter().for_each(|it| Detail::Instance(*it).emit(out)));
        }
        while neighbours.peek().is_some() {
            tlv::emit_neighbours(out, |out| {
                for (port, metric, adjacency) in neighbours.by_ref().take(NEIGHBOURS) {
                    let [a, b, c, d, e, f] = adjacency.neighbour;
                    // The greatest metric of 24 bits would say that nobody may use the link (RFC 6329, section 15.1).
                    let metric = metric.min(0xFF_FFFE);
                    let link = LinkMetric { metric, ports: 1, port };
                    Neighbour::emit(out, [a, b, c, d, e, f, 0], metric, |out| {
                        if adjacency.bridge {
                            link.emit(out);
                        }
                    });
                }
            });
        }
    });
}

fn node(settings: &Settings) -> NodeId {
    let [a, b, c, d, e, f] = settings.id;
    [a, b, c, d, e, f, 0]
}

fn entries(out: &mut Writer, entries: &[Entry]) {
    let encoded: Vec<[u8; 16]> = entries.iter().take(ENTRIES).map(Entry::encode).collect();
    encoded.chunks(Entries::MOST).filter_map(Entries::new).for_each(|chunk| Tlv::Entries(chunk).emit(out));
}

/// All that a system has in a range.
pub(super) fn complete(out: &mut Writer, settings: &Settings, (first, last): (LspId, LspId), list: &[Entry]) {
    Repr::Complete(Complete { source: node(settings), first, last }).emit(out, |out| entries(out, list));
}

/// Writes acknowledgements and requests of a system.
pub(super) fn partial(out: &mut Writer, settings: &Settings, list: &[Entry]) {
    Repr::Partial(Partial { source: node(settings) }).emit(out, |out| entries(out, list));
}
