//! The routings there are, as data: the same one computes the tables of a network and, when cables fail, the next.

use super::error::RouteError;
use super::{Bridges, Routes, shortest, single, spb, updown};
use crate::describe::graph::{Graph, NodeId};

/// How tables are computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routing {
    /// All paths of fewest hops; every switch chooses among its own.
    Shortest,
    /// Up*/down* from these roots; every switch chooses among what is legal.
    UpDown {
        /// Switches at the top; the first switch if there is none.
        roots: Vec<NodeId>,
    },
    /// Layered shortest paths.
    Lash,
    /// Balanced shortest paths, freed of circles by lanes.
    Dfsssp,
    /// Shortest path bridging: the source chooses among trees.
    Spb {
        /// Identifiers and costs.
        bridges: Bridges,
        /// How many of the sixteen algorithms are used.
        trees: u8,
    },
    /// Spanning trees, one per root; the source chooses among them.
    SpanningTrees {
        /// Root of each tree.
        roots: Vec<NodeId>,
        /// Identifiers and costs.
        bridges: Bridges,
    },
}

impl Routing {
    /// The tables that avoid the cables `down`, given by their positions in [`Graph::cables`].
    ///
    /// # Errors
    /// More lanes than there are classes; hosts with several links, except with shortest paths and, if their ports have
    /// addresses, up*/down*.
    ///
    /// # Panics
    /// If the graph is one that [`Graph::validate`] refuses.
    pub fn compute(&self, graph: &Graph, down: &[u32]) -> Result<Routes, RouteError> {
        let supported = match self {
            Routing::Shortest => true,
            Routing::UpDown { .. } => graph.port_addresses,
            _ => false,
        };
        if let Some(host) = graph.multihomed().next().filter(|_| !supported) {
            return Err(RouteError::SeveralLinks { host: graph.nodes[host.0 as usize].name.clone() });
        }
        Ok(match self {
            Routing::Shortest => shortest::compute(graph, down),
            Routing::UpDown { roots } => updown::compute(graph, roots, down),
            Routing::Lash => single::lash(graph, down)?,
            Routing::Dfsssp => single::dfsssp(graph, down)?,
            Routing::Spb { bridges, trees } => spb::compute(graph, bridges, *trees, down),
            Routing::SpanningTrees { roots, bridges } => spb::spanning_trees(graph, bridges, roots, down),
        })
    }
}

impl Routes {
    /// What switches at the ends of failed cables can do by themselves: where a list of equal ports has one that is
    /// down and others that are not, the others. Tables whose ports are trees stay as they are.
    #[must_use]
    pub fn repaired(&self, graph: &Graph, down: &[u32]) -> Routes {
        let mut routes = self.clone();
        if self.trees > 0 {
            return routes;
        }
        let ports = graph.ports();
        for (node, ends) in (0..).map(NodeId).zip(&ports) {
            if !ends.iter().any(|end| down.contains(&end.cable)) {
                continue;
            }
            for host in 0..self.columns as u32 {
                let host = crate::describe::graph::HostId(host);
                let list = self.ports(node, host);
                let up: Vec<u16> =
                    list.iter().copied().filter(|&port| !down.contains(&ends[usize::from(port)].cable)).collect();
                if !up.is_empty() && up.len() < list.len() {
                    routes.set_column(node, host, &up).expect("ports of the same switch");
                }
            }
        }
        routes
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::links;
    use super::*;
    use crate::describe::graph::HostId;
    use crate::describe::topology::leaf_spine;

    #[test]
    fn the_ends_of_a_failed_cable_repair_what_they_can() {
        let graph = leaf_spine(2, 2, 1, links()).unwrap();
        let at = |name: &str| graph.find(name).unwrap();
        let routes = Routes::shortest_paths(&graph);
        let cable = (0..)
            .zip(&graph.cables)
            .find(|(_, cable)| [cable.a, cable.b].contains(&at("leaf0")) && [cable.a, cable.b].contains(&at("spine0")));
        let down = [cable.unwrap().0];
        let repaired = routes.repaired(&graph, &down);
        // The leaf goes by the other spine; the spine has no other way to it, and the far leaf does not know.
        assert_eq!(repaired.ports(at("leaf0"), HostId(1)).len(), 1);
        assert_eq!(repaired.ports(at("spine0"), HostId(0)), routes.ports(at("spine0"), HostId(0)));
        assert_eq!(repaired.ports(at("leaf1"), HostId(0)).len(), 2);
        assert_eq!(routes.difference(&repaired), (1, 1));
        let anew = Routing::Shortest.compute(&graph, &down).unwrap();
        assert_eq!(routes.difference(&anew), (3, 3));
    }
}
