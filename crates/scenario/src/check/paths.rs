//! The paths of flows, as the fabric will choose them, without reading the whole graph for each.

use crate::plan::Plan;
use fabric::address;
use fabric::graph::{Graph, HostId, NodeId, PortEnd, Role};
use fabric::routing::{Routes, pick};
use fabric::spec::Multipath;
use fabric::workload::{Destination, FlowSpec, Via};

/// Maximum number of receivers of one sender that are considered.
const LOOKED_AT: usize = 4096;

/// An indexed graph.
pub(crate) struct Walker<'a> {
    graph: &'a Graph,
    ports: Vec<Vec<PortEnd>>,
    hosts: Vec<NodeId>,
    /// First channel of each node; a channel is an output port, and channels are numbered by node.
    first: Vec<u32>,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(graph: &'a Graph) -> Walker<'a> {
        let ports = graph.ports();
        let mut sum = 0;
        let first = ports
            .iter()
            .map(|ports| {
                let first = sum;
                sum += ports.len() as u32;
                first
            })
            .collect();
        Walker { graph, hosts: graph.hosts(), ports, first }
    }

    pub(crate) fn name(&self, node: NodeId) -> &'a str {
        self.graph.nodes.get(node.0 as usize).map_or("?", |node| node.name.as_str())
    }

    pub(crate) fn host(&self, host: HostId) -> NodeId {
        self.hosts.get(host.0 as usize).copied().unwrap_or(NodeId(u32::MAX))
    }

    /// Returns the channel number of an output port.
    pub(crate) fn channel(&self, node: NodeId, port: u16) -> u32 {
        self.first.get(node.0 as usize).copied().unwrap_or(0) + u32::from(port)
    }

    /// Returns every output port with its number: (channel, node, end of its cable).
    pub(crate) fn channels(&self) -> impl Iterator<Item = (u32, NodeId, &PortEnd)> {
        self.ports.iter().zip(0_u32..).flat_map(move |(ports, node)| {
            let first = self.first[node as usize];
            ports.iter().zip(0_u32..).map(move |(end, port)| (first + port, NodeId(node), end))
        })
    }

    /// Returns the node at the far end of an output port.
    pub(crate) fn peer(&self, node: NodeId, port: u16) -> Option<&PortEnd> {
        self.ports.get(node.0 as usize)?.get(usize::from(port))
    }

    /// Returns the ports of a host.
    pub(crate) fn ends(&self, host: HostId) -> &[PortEnd] {
        self.ports.get(self.host(host).0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the first port of a host that leads to another.
    pub(crate) fn port_toward(&self, routes: &Routes, from: NodeId, to: HostId) -> u16 {
        let ports = self.ports.get(from.0 as usize).map_or(0, Vec::len);
        (0..ports as u16).find(|&port| self.leads(routes, from, port, to)).unwrap_or(0)
    }

    /// Returns whether the switch at a port of a host has a route to another host.
    fn leads(&self, routes: &Routes, from: NodeId, port: u16, to: HostId) -> bool {
        let ends = &self.ports[from.0 as usize];
        !routes.ports(ends[usize::from(port)].peer, address(routes, (port, ends.len()), to)).is_empty()
    }

    /// Returns the hops of a reply to what came these hops: it leaves by the port at which that arrived, or the next
    /// one that leads back.
    pub(crate) fn back(&self, routes: &Routes, hops: &[(NodeId, u16)], to: HostId, entropy: u32) -> Vec<(NodeId, u16)> {
        let Some(&PortEnd { peer, peer_port, .. }) = hops.last().and_then(|&(node, port)| self.peer(node, port)) else {
            return Vec::new();
        };
        let ports = self.ports[peer.0 as usize].len() as u16;
        let mut in_turn = (0..ports).map(|step| (peer_port + step) % ports);
        let port = in_turn.find(|&port| self.leads(routes, peer, port, to)).unwrap_or(peer_port);
        self.leave(routes, (peer, port), to, entropy).unwrap_or_default()
    }

    /// Returns the hops of a flow that leaves its source by that port, equal to [`Routes::path`] for the first.
    pub(crate) fn path_by(
        &self,
        routes: &Routes,
        (from, port): (HostId, u16),
        to: HostId,
        entropy: u32,
    ) -> Result<Vec<(NodeId, u16)>, String> {
        self.leave(routes, (self.host(from), port), to, entropy)
    }

    /// Returns the hops of what leaves a host by a port.
    fn leave(
        &self,
        routes: &Routes,
        (from, port): (NodeId, u16),
        to: HostId,
        entropy: u32,
    ) -> Result<Vec<(NodeId, u16)>, String> {
        let ports = self.ports.get(from.0 as usize).map_or(0, Vec::len);
        self.walk(routes, (from, port), (to, address(routes, (port, ports), to)), entropy)
    }

    /// Returns the hops from a switch to a host.
    pub(super) fn path_from(
        &self,
        routes: &Routes,
        switch: NodeId,
        to: HostId,
        entropy: u32,
    ) -> Result<Vec<(NodeId, u16)>, String> {
        let choice = routes.ports(switch, to);
        match choice.get(pick(entropy, routes.salt(switch), choice.len())) {
            Some(&port) => self.walk(routes, (switch, port), (to, to), entropy),
            None => Err(format!("{} has no route to {}", self.name(switch), self.name(self.host(to)))),
        }
    }

    /// Returns the hops to a host with an address, beginning with this one.
    fn walk(
        &self,
        routes: &Routes,
        (mut at, mut port): (NodeId, u16),
        (to, address): (HostId, HostId),
        entropy: u32,
    ) -> Result<Vec<(NodeId, u16)>, String> {
        let target = self.host(to);
        let mut hops = Vec::with_capacity(8);
        loop {
            let Some(end) = self.peer(at, port) else {
                return Err(format!("{} has no route to {}", self.name(at), self.name(target)));
            };
            hops.push((at, port));
            at = end.peer;
            if at == target {
                return Ok(hops);
            }
            if self.graph.nodes[at.0 as usize].role == Role::Host {
                return Err(format!("frames for {} arrive at host {}", self.name(target), self.name(at)));
            }
            // A path without a repetition is no longer than the nodes there are.
            if hops.len() > self.graph.nodes.len() {
                return Err(format!("frames for {} loop through {}", self.name(target), self.name(at)));
            }
            let choice = routes.ports(at, address);
            match choice.get(pick(entropy, routes.salt(at), choice.len())) {
                Some(&next) => port = next,
                None => return Err(format!("{} has no route to {}", self.name(at), self.name(target))),
            }
        }
    }

    /// Returns the path of a flow of a plan to one of its destinations, by the first of its ports.
    pub(crate) fn path_of(
        &self,
        plan: &Plan,
        number: usize,
        flow: &FlowSpec,
        to: HostId,
    ) -> Result<Vec<(NodeId, u16)>, String> {
        let port = plan.spec.first_port(number as u32, self.ends(flow.source));
        self.path_by(&plan.spec.routes, (flow.source, port), to, plan.spec.entropy(number as u32))
    }

    /// Returns the paths of a flow of a plan to one of its destinations: one for each port by which its frames leave.
    pub(crate) fn paths_of(
        &self,
        plan: &Plan,
        number: usize,
        flow: &FlowSpec,
        to: HostId,
    ) -> Result<Vec<Vec<(NodeId, u16)>>, String> {
        let (routes, entropy) = (&plan.spec.routes, plan.spec.entropy(number as u32));
        let ports = plan.spec.ports_by(routes, number as u32, self.ends(flow.source));
        ports.into_iter().map(|port| self.path_by(routes, (flow.source, port), to, entropy)).collect()
    }

    /// Checks that a flow reaches its destination; the error is the reason.
    pub(crate) fn reaches(&self, plan: &Plan, number: usize, flow: &FlowSpec) -> Result<(), String> {
        let destinations = match &flow.destination {
            Destination::Host(host) => std::slice::from_ref(host),
            Destination::Uniform => &flow.hosts[..flow.hosts.len().min(LOOKED_AT)],
        };
        destinations.iter().try_for_each(|&to| self.paths_of(plan, number, flow, to).map(|_| ()))
    }

    /// Returns whether the frames of a flow leave its source by several ports.
    pub(crate) fn sprays_ports(&self, flow: &FlowSpec) -> bool {
        flow.via == Via::Spray && self.ends(flow.source).len() > 1
    }

    /// Returns whether frames of a flow may take several paths through the switches.
    pub(crate) fn sprays(plan: &Plan) -> bool {
        plan.spec.multipath != Multipath::FlowHash
    }
}

/// Returns for every flow the output ports it crosses, as numbered in results; `None` if its frames take several paths
/// or have none.
#[must_use]
pub fn flow_paths(plan: &Plan) -> Vec<Option<Vec<u32>>> {
    let walker = Walker::new(&plan.spec.graph);
    let path = |(number, flow): (usize, &FlowSpec)| {
        let Destination::Host(to) = flow.destination else { return None };
        let several = Walker::sprays(plan) || walker.sprays_ports(flow) || flow.chooses_paths();
        let hops = walker.path_of(plan, number, flow, to).ok().filter(|_| !several)?;
        Some(hops.into_iter().map(|(node, port)| walker.channel(node, port)).collect())
    };
    plan.spec.flows.iter().enumerate().map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::graph::LinkSpec;
    use fabric::topology::{Links, fat_tree};
    use units::{Rate, Span};

    #[test]
    fn paths_are_those_of_the_fabric() {
        let link = LinkSpec { rate: Rate::from_gigabits(10), latency: Span::from_nanos(500), bit_error_rate: 0.0 };
        let graph = fat_tree(4, Links::same(link)).unwrap();
        let routes = Routes::shortest_paths(&graph);
        let walker = Walker::new(&graph);
        for entropy in 0..200 {
            let (from, to) = (HostId(entropy % 16), HostId((entropy * 7 + 3) % 16));
            if from != to {
                assert_eq!(
                    walker.path_by(&routes, (from, 0), to, entropy).unwrap(),
                    routes.path(&graph, from, to, entropy).unwrap()
                );
            }
        }
        let nowhere = Routes::empty(&graph);
        assert!(walker.path_by(&nowhere, (HostId(0), 0), HostId(1), 1).is_err());
    }
}
