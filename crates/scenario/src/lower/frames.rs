//! The largest frames in each direction of a cable.
//!
//! What a host sends and receives follows from its flows. Between switches any frame of the network may pass.

use super::largest_frames;
use congestion::ReactionPoint;
use fabric::graph::{Graph, NodeId, Role};
use fabric::workload::{Destination, FlowSpec};
use units::Bytes;

/// The least that may be in the way of a pause frame: a notice or another control frame.
const CONTROL: Bytes = Bytes::new(64);

/// The largest frames of each class, over all links and at the links of hosts.
pub(crate) struct LargestFrames {
    /// By class, over all links.
    pub(crate) of_all: Vec<Bytes>,
    /// By node and class, for hosts: what they send and what they receive.
    sent: Vec<Vec<Bytes>>,
    received: Vec<Vec<Bytes>>,
}

impl LargestFrames {
    pub(crate) fn new(graph: &Graph, flows: &[FlowSpec], classes: usize) -> LargestFrames {
        let of_all = largest_frames(flows, classes);
        let hosts = graph.hosts();
        let mut frames = LargestFrames {
            of_all,
            sent: vec![vec![Bytes::ZERO; classes]; graph.nodes.len()],
            received: vec![vec![Bytes::ZERO; classes]; graph.nodes.len()],
        };
        // A source without a fixed destination reaches every host.
        let mut everywhere = false;
        for flow in flows {
            let Some(&source) = hosts.get(flow.source.0 as usize) else { continue };
            let destination = match flow.destination {
                Destination::Host(host) => hosts.get(host.0 as usize).copied(),
                Destination::Uniform => None,
            };
            let Some(destination) = destination else {
                everywhere = true;
                continue;
            };
            let telemetry = flow.telemetry.map_or(Bytes::ZERO, |telemetry| telemetry.size);
            frames.see(source, destination, flow.class, flow.frame + flow.reaction.tag_size() + flow.added());
            let mut back = |class, size| frames.see(destination, source, class, size);
            if let Some(acknowledge) = flow.acknowledge {
                back(acknowledge.class, acknowledge.size + telemetry);
            }
            if let Some(notify) = flow.notify {
                back(notify.class, notify.size);
            }
            if let Some(pull) = flow.pull {
                back(pull.class, pull.size);
            }
            if let Some(probe) = flow.path_probe {
                back(probe.answer_class, probe.size);
                frames.see(source, destination, probe.class, probe.size);
            }
        }
        if everywhere {
            frames.sent = vec![frames.of_all.clone(); graph.nodes.len()];
            frames.received.clone_from(&frames.sent);
        }
        frames
    }

    /// Counts frames of a class on all links.
    pub(crate) fn everywhere(&mut self, class: u8, size: Bytes) {
        for table in self.sent.iter_mut().chain(&mut self.received).chain([&mut self.of_all]) {
            if let Some(known) = table.get_mut(usize::from(class)) {
                *known = size.max(*known);
            }
        }
    }

    fn see(&mut self, from: NodeId, to: NodeId, class: u8, size: Bytes) {
        for (table, node) in [(&mut self.sent, from), (&mut self.received, to)] {
            if let Some(known) = table[node.0 as usize].get_mut(usize::from(class)) {
                *known = size.max(*known);
            }
        }
    }

    /// The largest frame of each class that a node may receive from a neighbour; zero if none comes.
    pub(crate) fn arriving(&self, graph: &Graph, at: NodeId, from: NodeId) -> &[Bytes] {
        let is_host = |node: NodeId| graph.nodes[node.0 as usize].role == Role::Host;
        match (is_host(from), is_host(at)) {
            (true, _) => &self.sent[from.0 as usize],
            (_, true) => &self.received[at.0 as usize],
            (false, false) => &self.of_all,
        }
    }

    /// The largest frame that may be in the way of a pause from a node to a neighbour.
    pub(crate) fn in_the_way(&self, graph: &Graph, at: NodeId, to: NodeId) -> Bytes {
        let is_host = |node: NodeId| graph.nodes[node.0 as usize].role == Role::Host;
        let known = match (is_host(at), is_host(to)) {
            (true, _) => &self.sent[at.0 as usize],
            (_, true) => &self.received[to.0 as usize],
            (false, false) => &self.of_all,
        };
        let all = self.of_all.iter().copied().max().unwrap_or_default();
        known.iter().copied().max().unwrap_or_default().max(CONTROL).min(all.max(CONTROL))
    }
}
