//! What a source knows of its path when the network is built: links, round trip, choices.

use super::Layout;
use crate::build::plan::NetworkPlan;
use crate::describe::graph::{LinkSpec, NodeId, Role};
use crate::describe::multi_homing::address;
use crate::describe::workload::{Destination, FlowSpec};
use congestion::ReactionPoint;
use units::{Bytes, Rate, Span, Wire};

/// What a source knows of the way to its destination.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    /// Links.
    pub(super) hops: u8,
    /// Of a frame and its acknowledgement while nothing else is sent.
    pub(super) round_trip: Span,
    /// What a flow takes alone, without its bytes at the slowest link.
    pub(super) base: Span,
    /// Rate of the slowest link.
    pub(super) slowest: Rate,
    /// Product of the choices on the way.
    pub(super) choices: u32,
}

/// The largest number of paths that a source counts.
const MOST_PATHS: u32 = 1 << 16;

impl Layout<'_> {
    /// What the source of a flow knows of its path from a host's port by the routes at the start; nothing if they do not
    /// lead there. A flow without acknowledgements learns nothing but how long it takes alone.
    pub(super) fn path(&self, mut port: u32, flow: &FlowSpec) -> Path {
        let Destination::Host(to) = &flow.destination else { return Path::default() };
        if flow.acknowledge.is_none() && flow.size.is_none() {
            return Path::default();
        }
        let first = &self.plan.ports[port as usize];
        let ports = self.degrees[first.node as usize];
        let address = address(&self.spec.routes, (first.number, ports), *to);
        let (mut round_trip, mut choices) = (Span::ZERO, 1_u32);
        let mut alone = Alone::new(flow, self.plan);
        for hops in 1..u8::MAX {
            let plan = &self.plan.ports[port as usize];
            let node = self.plan.ports[plan.peer as usize].node;
            round_trip += self.trips.hop(flow, [NodeId(plan.node), NodeId(node)], plan.cable);
            let link = &self.spec.graph.cables[plan.cable as usize].link;
            alone.cross(link, self.trips.header_delay(NodeId(node), plan.cable));
            let node = node as usize;
            if self.spec.graph.nodes[node].role == Role::Host {
                if self.host_numbers[node] != to.0 {
                    return Path::default();
                }
                let (base, slowest) = (alone.base, alone.slowest.0);
                return match flow.acknowledge {
                    Some(_) => Path { hops, round_trip, base, slowest, choices },
                    None => Path { base, slowest, ..Path::default() },
                };
            }
            alone.pass(self.spec.switches[self.spec.kind_of[node] as usize].pipeline);
            let outputs = self.plan.tables[0].outputs(self.switch_rows[node], address.0);
            let Some(&output) = outputs.first() else { return Path::default() };
            choices = choices.saturating_mul(outputs.len() as u32).min(MOST_PATHS);
            port = self.first_global[node] + u32::from(output);
        }
        Path::default()
    }
}

/// How long a finite flow takes alone on a path with that base and that rate of the slowest link, or at the sum of the rates
/// of several; see [`FlowSummary::alone`](crate::FlowSummary::alone).
pub(crate) fn alone(plan: &NetworkPlan, flow: &FlowSpec, base: Span, rate: Rate) -> Option<Span> {
    let size = flow.size.filter(|_| rate > Rate::ZERO)?;
    Some(base + Alone::new(flow, plan).at_rate(size, rate))
}

/// How long a flow takes alone, hop by hop; see [`FlowSummary::alone`](crate::FlowSummary::alone).
struct Alone<'a> {
    flow: &'a FlowSpec,
    overhead: Bytes,
    smallest: Bytes,
    /// Of the first frame, without what the slowest link takes for it.
    base: Span,
    /// The slowest link, and what the first frame takes there.
    slowest: (Rate, Span),
}

impl<'a> Alone<'a> {
    fn new(flow: &'a FlowSpec, plan: &NetworkPlan) -> Alone<'a> {
        let slowest = (Rate::from_bits_per_sec(u64::MAX), Span::ZERO);
        let smallest = Bytes::new(plan.smallest_frame.into());
        Alone { flow, overhead: plan.overhead, smallest, base: Span::ZERO, slowest }
    }

    /// What surrounds the payload of a frame.
    fn around(&self) -> Bytes {
        self.flow.added().max(self.flow.reaction.tag_size()) + self.overhead
    }

    /// The first frame crosses a link, at whose far end a switch may forward it after its header.
    fn cross(&mut self, link: &LinkSpec, header_delay: Option<Span>) {
        let wire = Wire::new(link.rate);
        if self.flow.is_reliable() {
            self.base += link.latency * 2 + wire.at_most(self.flow.frame);
            self.slowest.0 = self.slowest.0.min(link.rate);
            return;
        }
        let first = self.flow.size.map_or(self.flow.frame, |size| size.min(self.flow.frame)).max(self.smallest);
        let whole = wire.at_most(first + self.around());
        let taken = header_delay.map_or(whole, |delay| delay.min(whole));
        self.base += link.latency;
        // Of equally slow links, the last: only there the whole frame is waited for if switches cut through.
        match link.rate <= self.slowest.0 {
            true => self.base += std::mem::replace(&mut self.slowest, (link.rate, taken)).1,
            false => self.base += taken,
        }
    }

    /// It passes the pipeline of a switch.
    fn pass(&mut self, pipeline: Span) {
        self.base += if self.flow.is_reliable() { pipeline * 2 } else { pipeline };
    }

    /// What all bytes of a flow of that size take at a rate.
    fn at_rate(&self, size: Bytes, rate: Rate) -> Span {
        let frame = self.flow.frame.get().max(1);
        let frames = size.get().div_ceil(frame);
        if self.flow.is_reliable() {
            let around = (self.flow.headers + self.overhead).get();
            return Wire::new(rate).at_most(size + Bytes::new(frames.saturating_mul(around)));
        }
        let before = frames.saturating_sub(1);
        let last = Bytes::new(size.get() - before * frame).max(self.smallest);
        let bytes = Bytes::new(before.saturating_mul(frame)) + last;
        let around = Bytes::new(frames.saturating_mul(self.around().get()));
        Wire::new(rate).at_most(bytes + around)
    }
}
