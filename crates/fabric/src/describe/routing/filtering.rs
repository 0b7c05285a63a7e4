//! Who forwards what in one tree of shortest path bridging: the next hop between any two bridges, and the part of a
//! source's tree that leads to the receivers of a group (RFC 6329, sections 4 to 6). What addresses and VLANs stand for
//! them is not known here.

use super::Routes;
use super::spb::{Bridges, masked, toward};
use super::switches::Switches;
use crate::describe::graph::{Graph, NodeId, PortEnd};
use std::collections::{BTreeMap, BTreeSet};

/// The paths of one tree between all bridges, whether or not they have hosts.
#[derive(Clone, Debug)]
pub struct Paths {
    routes: Routes,
    rows: usize,
    /// By target, then by the row that sends.
    next: Vec<Option<u16>>,
    ports: Vec<Vec<PortEnd>>,
}

/// A bridge's part in carrying a source's frames to a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// The port toward the source, the only one at which its frames may come; `None` at the source.
    pub input: Option<u16>,
    /// Where they go, ascending.
    pub outputs: BTreeSet<u16>,
}

impl Paths {
    /// The paths of a tree, counted from 0, that avoid the cables `down`.
    ///
    /// # Panics
    /// If the graph is one that [`Graph::validate`] refuses, or there is no such tree.
    #[must_use]
    pub fn of(graph: &Graph, bridges: &Bridges, tree: u8, down: &[u32]) -> Paths {
        let routes = Routes::empty(graph);
        let switches = Switches::of(graph, &routes, down);
        let masked = masked(&routes, bridges, tree);
        let rows = switches.rows();
        let next = (0..rows as u32).flat_map(|target| toward(&switches, &bridges.costs, &masked, target)).collect();
        Paths { routes, rows, next, ports: graph.ports() }
    }

    /// The port of a bridge toward another; `None` if it is the same one, or there is no way, or one is no bridge.
    #[must_use]
    pub fn port(&self, at: NodeId, to: NodeId) -> Option<u16> {
        let (at, to) = (self.routes.row(at)?, self.routes.row(to)?);
        self.next[to * self.rows + at]
    }

    /// Who carries the frames of a source to these receivers, by bridge; who only receives has no outputs.
    #[must_use]
    pub fn branches(&self, source: NodeId, receivers: &[NodeId]) -> BTreeMap<NodeId, Branch> {
        let mut branches: BTreeMap<NodeId, Branch> = BTreeMap::new();
        for &receiver in receivers {
            let mut at = source;
            while let Some(port) = self.port(at, receiver) {
                branches.entry(at).or_default().outputs.insert(port);
                let end = self.ports[at.0 as usize][usize::from(port)];
                at = end.peer;
                branches.entry(at).or_default().input = Some(end.peer_port);
            }
        }
        branches
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{links, random};
    use super::*;
    use crate::describe::graph::Role;
    use proptest::prelude::*;

    #[test]
    fn frames_of_a_source_come_where_it_is_reached() {
        let mut graph = Graph::default();
        let all: Vec<NodeId> = (0..4).map(|number| graph.node(format!("b{number}"), Role::Switch, 1)).collect();
        for (a, b) in [(0, 1), (1, 2), (1, 3)] {
            graph.cable(all[a], all[b], links().trunk);
        }
        let paths = Paths::of(&graph, &Bridges::plain(&graph), 0, &[]);
        let branches = paths.branches(all[0], &[all[2], all[3], all[0]]);
        assert_eq!(branches[&all[0]], Branch { input: None, outputs: [0].into() });
        assert_eq!(branches[&all[1]], Branch { input: Some(0), outputs: [1, 2].into() });
        assert_eq!(branches[&all[3]], Branch { input: Some(0), outputs: [].into() });
        assert_eq!(paths.branches(all[2], &[all[2]]).len(), 0);
        assert_eq!(paths.port(all[0], all[0]), None);
        // Who cannot be reached is left out.
        let cut = Paths::of(&graph, &Bridges::plain(&graph), 0, &[1]);
        assert_eq!(cut.branches(all[0], &[all[2], all[3]])[&all[1]].outputs, [2].into());
    }

    proptest! {
        /// Congruent: the port at which a source's frames come is the one by which it is reached.
        #[test]
        fn what_comes_from_a_source_comes_by_the_way_to_it(graph in random(), tree in 0_u8..16) {
            let paths = Paths::of(&graph, &Bridges::plain(&graph), tree, &[]);
            let all = graph.switches();
            for &source in &all {
                for (at, branch) in paths.branches(source, &all) {
                    prop_assert_eq!(branch.input, paths.port(at, source));
                }
            }
        }
    }
}
