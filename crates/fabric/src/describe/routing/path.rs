//! The path of one flow through the tables, hop by hop.

use super::{RouteError, Routes, pick};
use crate::describe::graph::{Graph, HostId, NodeId, PortEnd, Role};

impl Routes {
    /// The hops of a flow of that entropy that leaves its source by its first port: the output port at the source and at
    /// every switch on the way. A host is at home without a hop.
    ///
    /// Each call reads the whole graph; it is meant for questions, not for every frame.
    ///
    /// # Errors
    /// A host that does not exist, or a path that ends, loops or arrives elsewhere.
    pub fn path(
        &self,
        graph: &Graph,
        from: HostId,
        to: HostId,
        entropy: u32,
    ) -> Result<Vec<(NodeId, u16)>, RouteError> {
        let hosts = graph.hosts();
        let find = |host: HostId| {
            hosts.get(host.0 as usize).copied().ok_or(RouteError::NoSuchHost { host, hosts: hosts.len() })
        };
        let (source, target) = (find(from)?, find(to)?);
        let name = |node: NodeId| graph.nodes[node.0 as usize].name.clone();
        if source == target {
            return Ok(Vec::new());
        }

        let ports = graph.ports();
        let peer = |node: NodeId, port: u16| -> Option<&PortEnd> { ports[node.0 as usize].get(usize::from(port)) };
        let mut hops = Vec::new();
        // A flow chooses the same at the same switch, so a switch met twice is met for ever.
        let mut met = vec![false; graph.nodes.len()];
        let (mut at, mut port) = (source, 0);
        loop {
            let Some(end) = peer(at, port) else {
                return Err(RouteError::NoRoute { at: name(at), to: name(target) });
            };
            hops.push((at, port));
            at = end.peer;
            if at == target {
                return Ok(hops);
            }
            if graph.nodes[at.0 as usize].role == Role::Host {
                return Err(RouteError::WrongHost { at: name(at), to: name(target) });
            }
            if std::mem::replace(&mut met[at.0 as usize], true) {
                return Err(RouteError::Loop { at: name(at), to: name(target) });
            }
            let choice = self.ports(at, to);
            if choice.is_empty() {
                return Err(RouteError::NoRoute { at: name(at), to: name(target) });
            }
            port = choice[pick(entropy, self.salt(at), choice.len())];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::links;
    use super::*;
    use crate::describe::topology::{chain, fat_tree};
    use std::collections::BTreeSet;

    #[test]
    fn paths_of_a_fat_tree_have_the_length_of_their_distance() {
        let graph = fat_tree(4, links()).unwrap();
        let routes = Routes::shortest_paths(&graph);
        let hops = |from, to| routes.path(&graph, HostId(from), HostId(to), 99).unwrap().len();
        assert_eq!([hops(0, 0), hops(0, 1), hops(0, 2), hops(0, 15)], [0, 2, 4, 6]);
    }

    #[test]
    fn entropy_finds_every_core() {
        let graph = fat_tree(4, links()).unwrap();
        let routes = Routes::shortest_paths(&graph);
        let tops: BTreeSet<u32> = (0..64)
            .map(|entropy| routes.path(&graph, HostId(0), HostId(15), entropy).unwrap())
            .map(|path| path[3].0.0)
            .collect();
        assert_eq!(tops.len(), 4);
    }

    #[test]
    fn a_path_that_fails_says_where() {
        let graph = chain(3, 1, links()).unwrap();
        let at = |name: &str| graph.find(name).unwrap();
        let mut routes = Routes::shortest_paths(&graph);
        let path = |routes: &Routes| routes.path(&graph, HostId(0), HostId(2), 1);
        // Ports of sw1: its host, sw0, sw2.
        assert_eq!(path(&routes).unwrap(), [(at("h0"), 0), (at("sw0"), 1), (at("sw1"), 2), (at("sw2"), 0)]);
        routes.set(at("sw1"), HostId(2), &[1]).unwrap();
        assert_eq!(path(&routes), Err(RouteError::Loop { at: "sw0".into(), to: "h2".into() }));
        routes.set(at("sw1"), HostId(2), &[0]).unwrap();
        assert_eq!(path(&routes), Err(RouteError::WrongHost { at: "h1".into(), to: "h2".into() }));
        routes.set(at("sw1"), HostId(2), &[]).unwrap();
        assert_eq!(path(&routes), Err(RouteError::NoRoute { at: "sw1".into(), to: "h2".into() }));
        let missing = routes.path(&graph, HostId(0), HostId(3), 1);
        assert_eq!(missing, Err(RouteError::NoSuchHost { host: HostId(3), hosts: 3 }));
    }
}
