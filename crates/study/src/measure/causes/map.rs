//! The network as causes need it: which port belongs to which node, and what its frames wait for.

use congestion::Reaction;
use fabric::graph::Role;
use fabric::record::{HOST, Selection};
use fabric::spec::{FlowControl, Multipath, NetworkSpec, Order, Queueing};
use fabric::workload::{FlowSpec, Via};

/// Constant facts about the network and its flows.
#[derive(Debug)]
pub(crate) struct Map {
    pub(crate) classes: usize,
    node: Vec<u32>,
    peer: Vec<u32>,
    rate: Vec<u64>,
    first: Vec<u32>,
    is_host: Vec<bool>,
    /// By node: one pause stops all classes.
    pauses_all: Vec<bool>,
    queueing: Vec<Option<Queueing>>,
    /// By node: a host that may be slower than its links.
    serves: Vec<bool>,
    hosts: Vec<u32>,
    /// By flow: the node of its source.
    pub(crate) source: Vec<u32>,
    /// By flow: whether it has a size.
    pub(crate) finite: Vec<bool>,
    /// By flow: whether it has a window that never changes.
    pub(crate) fixed_window: Vec<bool>,
}

impl Map {
    pub(crate) fn new(spec: &NetworkSpec) -> Map {
        let ends = spec.graph.ports();
        let mut first = Vec::with_capacity(ends.len() + 1);
        let mut count = 0;
        for node in &ends {
            first.push(count);
            count += node.len() as u32;
        }
        first.push(count);
        let numbered = || (0u32..).zip(&ends);
        let node = numbered().flat_map(|(node, ends)| ends.iter().map(move |_| node)).collect();
        let peer = ends.iter().flatten().map(|end| first[end.peer.0 as usize] + u32::from(end.peer_port)).collect();
        let rate = |end: &fabric::graph::PortEnd| spec.graph.cables[end.cable as usize].link.rate.as_bits_per_sec();
        let rate = ends.iter().flatten().map(rate).collect();
        let roles: Vec<Role> = spec.graph.nodes.iter().map(|node| node.role).collect();
        let queueing =
            |(role, &kind): (&Role, &u32)| (*role == Role::Switch).then(|| spec.switches[kind as usize].queueing);
        let serves = |(role, &kind): (&Role, &u32)| {
            let slow = |adapter: &fabric::spec::AdapterSpec| {
                let credits = matches!(adapter.flow_control, FlowControl::Credits(_));
                adapter.service.is_some() || !adapter.service_changes.is_empty() || credits
            };
            *role == Role::Host && slow(&spec.adapters[kind as usize])
        };
        let hosts: Vec<u32> = spec.graph.hosts().iter().map(|host| host.0).collect();
        let pauses = |node: u32| matches!(spec.flow_control(fabric::graph::NodeId(node)), FlowControl::Pause(_));
        Map {
            classes: spec.classes.len().max(1),
            node,
            peer,
            rate,
            is_host: roles.iter().map(|role| *role == Role::Host).collect(),
            pauses_all: (0..roles.len() as u32).map(pauses).collect(),
            queueing: roles.iter().zip(&spec.kind_of).map(queueing).collect(),
            serves: roles.iter().zip(&spec.kind_of).map(serves).collect(),
            source: spec.flows.iter().map(|flow| hosts[flow.source.0 as usize]).collect(),
            finite: spec.flows.iter().map(|flow| flow.size.is_some()).collect(),
            fixed_window: spec.flows.iter().map(fixed_window).collect(),
            hosts,
            first,
        }
    }

    pub(crate) fn ports(&self) -> usize {
        self.node.len()
    }

    /// The node of an event's port, which may stand for a host.
    pub(crate) fn node_of(&self, port: u32) -> u32 {
        if port & HOST != 0 { self.hosts[(port & !HOST) as usize] } else { self.node[port as usize] }
    }

    pub(crate) fn node(&self, port: u32) -> u32 {
        self.node[port as usize]
    }

    pub(crate) fn peer(&self, port: u32) -> u32 {
        self.peer[port as usize]
    }

    /// The bytes that the link of a port carries in so many picoseconds.
    pub(crate) fn carried(&self, port: u32, span: u64) -> u64 {
        (u128::from(self.rate[port as usize]) * u128::from(span) / 8_000_000_000_000) as u64
    }

    pub(crate) fn is_host(&self, node: u32) -> bool {
        self.is_host[node as usize]
    }

    pub(crate) fn ports_of(&self, node: u32) -> std::ops::Range<u32> {
        self.first[node as usize]..self.first[node as usize + 1]
    }

    /// The port of that number on the node of a port.
    pub(crate) fn sibling(&self, port: u32, number: u32) -> Option<u32> {
        let ports = self.ports_of(self.node(port));
        Some(ports.start + number).filter(|port| ports.contains(port))
    }

    /// Whether every frame that arrives by that port leaves an event there.
    pub(crate) fn tells_arrivals(&self, port: u32) -> bool {
        let node = self.node(port) as usize;
        !self.is_host[node] || self.serves[node]
    }

    /// Whether one pause of the node of that port stops all classes of its neighbour.
    pub(crate) fn pauses_all(&self, port: u32) -> bool {
        self.pauses_all[self.node(port) as usize]
    }

    /// Whether frames wait at the inputs of a node.
    pub(crate) fn input_queued(&self, node: u32) -> bool {
        !matches!(self.queueing[node as usize], None | Some(Queueing::Output))
    }

    /// Whether the frames of an input wait in one queue.
    pub(crate) fn is_fifo(&self, node: u32) -> bool {
        matches!(self.queueing[node as usize], Some(Queueing::InputFifo { .. }))
    }

    /// Whether frames leave their input before they start on the wire.
    pub(crate) fn crosses(&self, node: u32) -> bool {
        matches!(self.queueing[node as usize], Some(Queueing::Combined { .. }))
    }
}

/// Whether a flow has a window that no congestion control changes.
fn fixed_window(flow: &FlowSpec) -> bool {
    matches!(&flow.reaction, Reaction::None(control) if control.allowance.window.is_some())
}

/// Returns the flows of which any data frame may be the one that completes them. All others complete with their last
/// frame, because their frames neither overtake each other nor are retransmitted.
pub(crate) fn followed(spec: &NetworkSpec) -> Selection {
    let in_order = spec.multipath == Multipath::FlowHash
        && spec.route_changes.is_empty()
        && spec.faults.is_empty()
        && spec.switches.iter().all(|switch| switch.order == Order::Arrival);
    let any = |flow: &FlowSpec| {
        let one_path = flow.via != Via::Spray && !flow.chooses_paths();
        let simple = one_path && !flow.is_reliable() && flow.requeue_oracle.is_none();
        flow.size.is_some() && !(in_order && simple)
    };
    Selection::only((0..).zip(&spec.flows).filter(|(_, flow)| any(flow)).map(|(number, _)| number))
}
