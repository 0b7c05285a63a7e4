//! Round-trip times in an unloaded network.

use super::graph::{NodeId, Role};
use super::spec::{Forwarding, NetworkSpec};
use super::workload::FlowSpec;
use units::{Bytes, Rate, Span, Wire};

/// Computes round-trip times in an unloaded network.
pub struct Trips<'a> {
    spec: &'a NetworkSpec,
    /// Rate of the fastest link of each node.
    fastest: Vec<Rate>,
}

impl<'a> Trips<'a> {
    /// Creates the computation for a network that [`validate`](crate::validate) accepts.
    #[must_use]
    pub fn new(spec: &'a NetworkSpec) -> Trips<'a> {
        let mut fastest = vec![Rate::ZERO; spec.graph.nodes.len()];
        for cable in &spec.graph.cables {
            for end in [cable.a, cable.b] {
                let rate = &mut fastest[end.0 as usize];
                *rate = cable.link.rate.max(*rate);
            }
        }
        Trips { spec, fastest }
    }

    /// Returns the header delay if the node is a switch that cuts frames of this link through. It does so only if no link of
    /// the switch is faster, because a frame cannot leave faster than it arrives.
    pub(crate) fn header_delay(&self, node: NodeId, cable: u32) -> Option<Span> {
        let node = node.0 as usize;
        if self.spec.graph.nodes[node].role != Role::Switch {
            return None;
        }
        let Forwarding::CutThrough { header_delay } = self.spec.switches[self.spec.kind_of[node] as usize].forwarding
        else {
            return None;
        };
        (self.spec.graph.cables[cable as usize].link.rate >= self.fastest[node]).then_some(header_delay)
    }

    /// Returns one hop's part of a flow's round-trip time: from one node over a link through the next node and, for the
    /// acknowledgement if there is one, back.
    #[must_use]
    pub fn hop(&self, flow: &FlowSpec, [from, to]: [NodeId; 2], cable: u32) -> Span {
        let link = &self.spec.graph.cables[cable as usize].link;
        let wire = Wire::new(link.rate);
        // A switch that cuts through receives the rest of the frame while it sends: only the last hop takes the full time.
        let taken = |size: Bytes, by: NodeId| {
            let whole = wire.at_most(size + self.spec.overhead);
            self.header_delay(by, cable).map_or(whole, |delay| delay.min(whole))
        };
        let back = flow.acknowledge.map_or(Span::ZERO, |how| taken(how.size, from));
        let behind = to.0 as usize;
        let pipeline = match self.spec.graph.nodes[behind].role {
            Role::Switch => self.spec.switches[self.spec.kind_of[behind] as usize].pipeline,
            Role::Host => Span::ZERO,
        };
        (link.latency + pipeline) * 2 + taken(flow.frame + flow.headers, to) + back
    }
}
