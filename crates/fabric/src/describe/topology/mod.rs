//! Topologies: pure functions from a few numbers to a [`Graph`].
//!
//! Nodes come in an order that can be cut into shards: the hosts of a switch directly before the switch, the switches
//! of a pod, subtree or group together, what joins them last. Switches number their ports from the hosts upwards.
//! Hosts are `h0`, `h1`, ... in node order, so the name of a host is also its [`HostId`](crate::describe::graph::HostId).
//!
//! Nothing here knows rates or delays of its own: the caller hands in every [`LinkSpec`]. A graph that is none of
//! these is drawn with [`Graph::node`] and [`Graph::cable`] and checked with [`Graph::validate`].

mod catalogue;
mod dragonfly;
mod error;
mod grid;
mod line;
mod multi_homing;
mod tree;

pub use catalogue::{LinkInfo, ParameterInfo, TOPOLOGIES, TopologyInfo};
pub use dragonfly::{dragonfly, dragonfly_is_balanced};
pub use error::TopologyError;
pub use grid::{mesh, torus};
pub use line::{chain, dumbbell, ring, single_switch, two_switches};
pub use multi_homing::{host_links, planes, rails};
pub use tree::{fat_tree, leaf_spine, tree};

use crate::describe::graph::{Graph, LinkSpec, MAX_HOSTS, NodeId, Role};

/// The most switches a topology may have.
pub const MAX_SWITCHES: usize = 1 << 17;

/// The most cables a topology may have.
pub const MAX_CABLES: usize = 1 << 22;

/// The two kinds of cable of most topologies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Links {
    /// Between a host and its switch.
    pub host: LinkSpec,
    /// Between two switches.
    pub trunk: LinkSpec,
}

impl Links {
    /// The same cable everywhere.
    #[must_use]
    pub const fn same(link: LinkSpec) -> Links {
        Links { host: link, trunk: link }
    }
}

/// A graph in the making; it numbers the hosts.
struct Sketch {
    graph: Graph,
    hosts: u32,
    links: Links,
}

impl Sketch {
    /// Starts drawing, unless the result would be too large to hold.
    fn start(topology: &'static str, size: Size, links: Links) -> Result<Sketch, TopologyError> {
        let limits = [
            ("hosts", size.hosts, MAX_HOSTS),
            ("switches", size.switches, MAX_SWITCHES),
            ("cables", size.trunks.saturating_add(size.hosts), MAX_CABLES),
        ];
        for (what, count, limit) in limits {
            if count > limit as u128 {
                return Err(TopologyError::TooLarge { topology, what, count, limit });
            }
        }
        Ok(Sketch { graph: Graph::default(), hosts: 0, links })
    }

    /// Adds hosts and then the switch they hang on.
    fn switch(&mut self, name: String, layer: u16, hosts: u32) -> NodeId {
        let mut below = Vec::new();
        for _ in 0..hosts {
            below.push(self.graph.node(format!("h{}", self.hosts), Role::Host, 0));
            self.hosts += 1;
        }
        let switch = self.graph.node(name, Role::Switch, layer);
        for host in below {
            self.graph.cable(host, switch, self.links.host);
        }
        switch
    }

    /// Joins two switches.
    fn trunk(&mut self, a: NodeId, b: NodeId) {
        self.graph.cable(a, b, self.links.trunk);
    }

    /// The graph, if its cables are sound and its switches have port numbers enough.
    fn finish(self) -> Result<Graph, TopologyError> {
        self.graph.validate().map_err(TopologyError::Graph)?;
        Ok(self.graph)
    }
}

/// How much a topology would draw; wide enough for whatever a user writes.
struct Size {
    hosts: u128,
    switches: u128,
    trunks: u128,
}

/// Refuses a parameter below its least sensible value.
fn at_least(topology: &'static str, parameter: &'static str, given: u32, least: u32) -> Result<(), TopologyError> {
    if given < least { Err(TopologyError::TooSmall { topology, parameter, given, least }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Rate, Span};

    pub(super) const LINK: LinkSpec =
        LinkSpec { rate: Rate::from_gigabits(10), latency: Span::from_nanos(500), bit_error_rate: 0.0 };

    pub(super) fn links() -> Links {
        Links::same(LINK)
    }

    /// Number of hosts and of switches.
    pub(super) fn census(graph: &Graph) -> (usize, usize) {
        let hosts = graph.hosts().len();
        (hosts, graph.nodes.len() - hosts)
    }

    #[test]
    fn hosts_are_named_after_their_numbers_and_precede_their_switch() {
        for graph in [fat_tree(4, links()), dragonfly(9, 4, 2, 2, links()), tree(3, 2, 2, links())] {
            let graph = graph.unwrap();
            let ports = graph.ports();
            for (number, host) in graph.hosts().into_iter().enumerate() {
                assert_eq!(graph.nodes[host.0 as usize].name, format!("h{number}"));
                let switch = ports[host.0 as usize][0].peer;
                assert!(switch.0 > host.0 && switch.0 - host.0 <= 2);
            }
        }
    }

    #[test]
    fn every_topology_is_connected() {
        let graphs = [
            single_switch(3, LINK),
            two_switches(2, 3, 4, links()),
            dumbbell(2, 3, LINK, LINK),
            chain(4, 2, links()),
            ring(5, 1, links()),
            tree(3, 3, 2, links()),
            leaf_spine(4, 2, 3, links()),
            fat_tree(6, links()),
            torus(&[3, 4, 2], 1, links()),
            mesh(&[3, 1, 5], 2, links()),
            dragonfly(5, 2, 1, 2, links()),
        ];
        for graph in graphs {
            assert_eq!(graph.unwrap().unreachable_pairs(1), vec![]);
        }
    }

    #[test]
    fn an_unsound_cable_is_refused_with_its_place() {
        let broken = LinkSpec { rate: Rate::ZERO, ..LINK };
        let error = dumbbell(1, 1, LINK, broken).unwrap_err();
        assert!(error.to_string().contains("\"sw0\" and \"sw1\" has rate zero"), "{error}");
    }

    #[test]
    fn absurd_sizes_are_refused_before_they_are_drawn() {
        let huge = u32::MAX;
        for graph in [
            single_switch(huge, LINK),
            two_switches(1, 1, huge, links()),
            chain(huge, huge, links()),
            ring(huge, 1, links()),
            tree(huge, huge, huge, links()),
            tree(huge, 1, 1, links()),
            leaf_spine(60_000, 60_000, 1, links()),
            fat_tree(huge - 1, links()),
            torus(&[huge; 9], huge, links()),
            dragonfly(huge, huge, huge, 1, links()),
        ] {
            assert!(matches!(graph, Err(TopologyError::TooLarge { .. })), "{graph:?}");
        }
    }
}
