//! The time that a frame and its acknowledgement take while nothing else is sent.

use super::graph::{NodeId, Role};
use super::spec::{Forwarding, NetworkSpec};
use super::workload::FlowSpec;
use units::{Bytes, Rate, Span, Wire};

/// Round trips in an unloaded network.
pub struct Trips<'a> {
    spec: &'a NetworkSpec,
    /// By node: the rate of its fastest cable.
    fastest: Vec<Rate>,
}

impl<'a> Trips<'a> {
    /// Prepares a network. Its nodes have types, and its cables ends; [`validate`](crate::validate) checks that.
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

    /// Returns the header delay of a node that takes frames from a cable by their header: a switch that cuts through
    /// forwards no faster than frames arrive.
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

    /// Returns the time that a frame of a flow takes over a cable and through the node behind it, and its acknowledgement,
    /// if any, on the way back.
    #[must_use]
    pub fn hop(&self, flow: &FlowSpec, [from, to]: [NodeId; 2], cable: u32) -> Span {
        let link = &self.spec.graph.cables[cable as usize].link;
        let wire = Wire::new(link.rate);
        // What is taken by its header still has to leave: only the last hop counts in full.
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
