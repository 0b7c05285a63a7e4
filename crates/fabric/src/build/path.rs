//! What a source knows of its path when the network is built: links, round trip, choices.

use super::Layout;
use crate::describe::graph::{NodeId, Role};
use crate::describe::homing::address;
use crate::describe::workload::{Destination, FlowSpec};
use units::{Bytes, Rate, Span, Wire};

/// What a source knows of the way to its destination.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    /// Links.
    pub(super) hops: u8,
    /// Of a frame and its acknowledgement while nothing else is sent.
    pub(super) round_trip: Span,
    /// Twice the propagation, and a frame at each link.
    base: Span,
    /// Rate of the slowest link.
    pub(super) slowest: Rate,
    /// Product of the choices on the way.
    pub(super) choices: u32,
}

/// The largest number of paths that a source counts.
const MOST_PATHS: u32 = 1 << 16;

impl Layout<'_> {
    /// The path of an acknowledged flow from a host's port by the routes at the start; nothing if they do not lead there.
    pub(super) fn path(&self, mut port: u32, flow: &FlowSpec) -> Path {
        let (Some(_), Destination::Host(to)) = (flow.acknowledge, &flow.destination) else { return Path::default() };
        let first = &self.plan.ports[port as usize];
        let ports = self.degrees[first.node as usize];
        let address = address(&self.spec.routes, (first.number, ports), *to);
        let (mut round_trip, mut choices) = (Span::ZERO, 1_u32);
        let (mut base, mut slowest) = (Span::ZERO, Rate::from_bits_per_sec(u64::MAX));
        for hops in 1..u8::MAX {
            let plan = &self.plan.ports[port as usize];
            let node = self.plan.ports[plan.peer as usize].node;
            round_trip += self.trips.hop(flow, [NodeId(plan.node), NodeId(node)], plan.cable);
            let link = &self.spec.graph.cables[plan.cable as usize].link;
            base += link.latency * 2 + Wire::new(link.rate).at_most(flow.frame);
            slowest = slowest.min(link.rate);
            let node = node as usize;
            if self.spec.graph.nodes[node].role == Role::Host {
                let path = Path { hops, round_trip, base, slowest, choices };
                return if self.host_numbers[node] == to.0 { path } else { Path::default() };
            }
            base += self.spec.switches[self.spec.kind_of[node] as usize].pipeline * 2;
            let outputs = self.plan.tables[0].outputs(self.switch_rows[node], address.0);
            let Some(&output) = outputs.first() else { return Path::default() };
            choices = choices.saturating_mul(outputs.len() as u32).min(MOST_PATHS);
            port = self.first_global[node] + u32::from(output);
        }
        Path::default()
    }

    /// How long a finite flow takes alone on a path, or at the sum of the rates of several; see
    /// [`FlowSummary::alone`](crate::FlowSummary::alone).
    pub(super) fn alone(&self, flow: &FlowSpec, path: &Path, rate: Rate) -> Option<Span> {
        let size = flow.size.filter(|_| path.hops > 0)?;
        let frames = size.get().div_ceil(flow.frame.get().max(1));
        let around = (flow.headers + self.spec.overhead).get();
        Some(path.base + Wire::new(rate).at_most(size + Bytes::new(frames.saturating_mul(around))))
    }
}
