//! Captures of simulated links as files for Wireshark.
//!
//! A simulated frame has a length, a class and a purpose, but no octets. This module generates the octets: PAUSE and
//! PFC frames, congestion notification messages, InfiniBand credits, and RoCEv2 and TCP for the flows that model them,
//! follow the standards; all other frames carry our own header with the simulator's information. docs/wire/captures.md documents the source of each field.

mod ethernet;
mod file;
mod format;
mod infiniband;
mod links;
mod roce;
mod tcp;

pub use file::CaptureFile;
pub use links::{Direction, choose};

use discovery::address;
use fabric::graph::{Graph, HostId, LinkSpec, NodeId};
use fabric::record::FrameRow;
use fabric::spec::{FlowControl, NetworkSpec};
use fabric::workload::{Destination, FlowSpec};
use fabric::{Frame, Kind};
use scenario::{CaptureFormat, FlowNames, Plan};
use std::borrow::Cow;
use std::collections::BTreeMap;
use wire::{Address, tailback};

/// The link layer of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Ethernet frames.
    Ethernet,
    /// InfiniBand packets: one end of the link grants credits.
    InfiniBand,
}

/// Links to capture, and the destination.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The directions of links to capture.
    pub links: Vec<Direction>,
    /// The file; `None` selects [`results::CAPTURE_FILE`] in the results.
    pub file: Option<std::path::PathBuf>,
}

/// Generates the octets of simulated frames.
struct Synthesizer<'a> {
    spec: &'a NetworkSpec,
    flow_names: &'a FlowNames,
    hosts: Vec<NodeId>,
    /// By port: its node, its number there, and the medium of its link.
    ports: Vec<(NodeId, u16, Medium)>,
    /// By port: the node at the far end.
    peers: Vec<NodeId>,
    /// By port and class: blocks sent, in the credit unit of the far end.
    sent: Vec<u64>,
    /// Octets of the telemetry of the frame that is being written; `None` if it has no room for any.
    stamps: Option<Vec<u8>>,
    /// By flow: the format of its frames.
    formats: Vec<CaptureFormat>,
    /// Whether frames over IPv4 carry a VLAN tag: there are several classes.
    tags: bool,
    /// By port: its link.
    links: Vec<LinkSpec>,
    /// By TCP flow: confirmed echoes of marks.
    reduced: BTreeMap<u32, tcp::Reduced>,
}

/// Returns the flow control of a node.
fn flow_control(spec: &NetworkSpec, node: NodeId) -> FlowControl {
    let kind = spec.kind_of.get(node.0 as usize).copied().unwrap_or(0) as usize;
    let role = spec.graph.nodes.get(node.0 as usize).map(|node| node.role);
    let control = match role {
        Some(fabric::graph::Role::Switch) => spec.switches.get(kind).map(|switch| switch.flow_control),
        _ => spec.adapters.get(kind).map(|adapter| adapter.flow_control),
    };
    control.unwrap_or(FlowControl::None)
}

fn medium(spec: &NetworkSpec, here: NodeId, there: NodeId) -> Medium {
    let credits = |node| matches!(flow_control(spec, node), FlowControl::Credits(_));
    if credits(here) || credits(there) { Medium::InfiniBand } else { Medium::Ethernet }
}

/// Returns every port of a graph: its node, its number there, and the node at the far end.
fn ports(graph: &Graph) -> impl Iterator<Item = (NodeId, u16, NodeId)> {
    (0..).zip(graph.ports()).flat_map(|(node, ends)| {
        (0u16..).zip(ends).map(move |(number, end)| (NodeId(node), number, end.peer)).collect::<Vec<_>>()
    })
}

impl<'a> Synthesizer<'a> {
    fn new(plan: &'a Plan) -> Synthesizer<'a> {
        let (spec, flow_names) = (&plan.spec, &plan.flow_names);
        let peers = ports(&spec.graph).map(|(_, _, peer)| peer).collect();
        let ports: Vec<_> =
            ports(&spec.graph).map(|(node, number, peer)| (node, number, medium(spec, node, peer))).collect();
        let sent = vec![0; ports.len() * fabric::spec::MAX_CLASSES];
        let format = |(flow, workload): (&FlowSpec, u32)| {
            let stated = plan.captures.get(workload as usize).copied().flatten();
            stated.unwrap_or_else(|| format::usual(flow))
        };
        let ends = spec.graph.ports().into_iter().flatten();
        Synthesizer {
            spec,
            flow_names,
            hosts: spec.graph.hosts(),
            ports,
            peers,
            sent,
            stamps: None,
            formats: spec.flows.iter().zip(plan.workload_of_flow.iter()).map(format).collect(),
            tags: spec.classes.len() > 1,
            links: ends.map(|end| spec.graph.cables[end.cable as usize].link).collect(),
            reduced: BTreeMap::new(),
        }
    }

    /// Writes the octets of a frame; `None` if its port is none of the network's.
    fn write(&mut self, row: &FrameRow, octets: &mut Vec<u8>) -> Option<Written> {
        let &(_, _, medium) = self.ports.get(row.port as usize)?;
        let room = self.spec.flows.get(row.frame.flow as usize).is_some_and(|flow| flow.telemetry.is_some());
        let stamp = |stamp: &congestion::Stamp| {
            let (rate, picos) = (stamp.rate.as_bits_per_sec(), stamp.at.as_picos());
            tailback::Stamp::of(rate, picos, stamp.sent.get(), stamp.queue.get()).octets()
        };
        let room = room && (row.frame.kind == Kind::Data || row.frame.acknowledges());
        self.stamps = room.then(|| row.stamps.iter().flat_map(stamp).collect());
        octets.clear();
        let simulated = usize::from(row.frame.len);
        octets.resize(simulated + MOST_HEADERS + self.stamps.as_ref().map_or(0, Vec::len), 0);
        let (length, record) = match medium {
            Medium::Ethernet => (self.ethernet(row, octets)?, Record::Ethernet),
            Medium::InfiniBand => self.infiniband(row, octets)?,
        };
        octets.truncate(length);
        // Zeros follow a credit, whatever its length.
        let longer = length > simulated && record != Record::InfiniBand(wire::pcapng::Erf::InfiniBandLink);
        Some(Written { record, longer })
    }

    /// Returns whether the frame that is being written has stamps.
    fn is_stamped(&self) -> bool {
        self.stamps.as_ref().is_some_and(|stamps| !stamps.is_empty())
    }

    /// Returns the address of a port: a locally administered prefix, the node's number and the port's number.
    fn address(&self, port: u32) -> Address {
        self.ports.get(port as usize).map_or(NOBODY, |&(node, number, _)| address(node, number))
    }

    fn host_address(&self, host: u32) -> Address {
        self.hosts.get(host as usize).map_or(NOBODY, |&node| address(node, 0))
    }

    /// Returns the host that a frame is for; its ports are not distinguished.
    fn receiver(&self, frame: &Frame) -> u32 {
        self.spec.routes.host_of(HostId(frame.dst)).0
    }

    /// Returns the host that sent a frame of a flow, if known.
    fn sender(&self, frame: &Frame) -> Option<u32> {
        let flow = self.spec.flows.get(frame.flow as usize)?;
        match frame.kind {
            Kind::Data | Kind::Trimmed | Kind::Probe | Kind::Returned => Some(flow.source.0),
            // What comes back comes from the destination, if there is only one.
            Kind::Acknowledgement
            | Kind::Answer
            | Kind::CumulativeAcknowledgement
            | Kind::NegativeAcknowledgement
            | Kind::TrimmedAcknowledgement
            | Kind::CongestionNotification
            | Kind::Pull => match flow.destination {
                Destination::Host(host) => Some(host.0),
                Destination::Uniform => None,
            },
            Kind::Pause | Kind::Credit | Kind::Notice | Kind::Receipt => None,
        }
    }

    /// Returns the destination of a flow's data, if it is unique.
    fn destination(&self, flow: u32) -> Option<u32> {
        match self.spec.flows.get(flow as usize)?.destination {
            Destination::Host(host) => Some(host.0),
            Destination::Uniform => None,
        }
    }

    /// Returns the name of a frame's flow.
    fn flow_name(&self, frame: &Frame) -> Cow<'a, str> {
        self.flow_names.get(frame.flow as usize).unwrap_or_default()
    }

    /// Returns our own header of a frame of the flow with that name.
    fn header<'n>(&'n self, frame: &Frame, name: &'n str) -> tailback::Repr<'n> {
        let (sequence, born) = frame.numbers();
        tailback::Repr {
            kind: match frame.kind {
                Kind::Data => tailback::Kind::Data,
                Kind::Acknowledgement => tailback::Kind::Acknowledgement,
                Kind::Probe => tailback::Kind::Probe,
                Kind::Answer => tailback::Kind::Answer,
                Kind::Receipt => tailback::Kind::Receipt,
                Kind::Credit => tailback::Kind::Credit,
                Kind::Notice => tailback::Kind::Notice,
                Kind::Pause => tailback::Kind::Pause,
                Kind::Trimmed => tailback::Kind::Trimmed,
                Kind::CumulativeAcknowledgement => tailback::Kind::CumulativeAcknowledgement,
                Kind::NegativeAcknowledgement => tailback::Kind::NegativeAcknowledgement,
                Kind::TrimmedAcknowledgement => tailback::Kind::TrimmedAcknowledgement,
                Kind::CongestionNotification => tailback::Kind::CongestionNotification,
                Kind::Pull => tailback::Kind::Pull,
                Kind::Returned => tailback::Kind::Returned,
            },
            marked: frame.is_marked(),
            last: frame.is_last(),
            selective: frame.is_selective(),
            flow: frame.flow,
            sequence,
            born,
            tag: frame.tag,
            name: name.as_bytes(),
            stamps: self.stamps.as_deref(),
        }
    }
}

/// The octets of a frame were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    record: Record,
    /// The simulated frame is shorter than the headers of its format.
    longer: bool,
}

/// More than the octets of all headers of any format, with selective blocks, our own header and check sequences, and
/// than what stands behind a credit.
const MOST_HEADERS: usize = 512;

/// Type of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Record {
    Ethernet,
    InfiniBand(wire::pcapng::Erf),
}

/// Placeholder for an unknown address: the sender of an acknowledgement, if each frame draws its own destination.
const NOBODY: Address = Address([0x02, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);

#[cfg(test)]
mod connection_tests;
#[cfg(test)]
mod tests;
