//! Up*/down*: no frame goes up after it has gone down (Schroeder et al., Autonet, 1991).
//!
//! Switches are put in an order: by their distance from the roots, then by their number. A cable leads up toward the
//! end that comes first. A circle of channels would have to go up somewhere after going down, so there is none, in one
//! class and with every equal choice left open.
//!
//! Tables know the destination and not where a frame came from. So a switch that can reach it by going down only must
//! do so, even where a way up would be shorter: whoever sent the frame down to it relies on that.

use super::Routes;
use super::switches::{FAR, Switches};
use crate::describe::graph::{Graph, NodeId};

/// The switch from which the farthest is nearest; of several the one nearest to all; of several the first.
#[must_use]
pub fn centre(graph: &Graph) -> Option<NodeId> {
    let routes = Routes::empty(graph);
    let switches = Switches::of(graph, &routes, &[]);
    let rows = 0..switches.rows() as u32;
    let reach = |&row: &u32| {
        let distances = switches.distances(&[row]);
        let far = distances.iter().copied().max().unwrap_or(0);
        (far, distances.iter().map(|&hops| u64::from(hops)).sum::<u64>(), row)
    };
    let best = rows.min_by_key(reach)?;
    routes.rows.iter().position(|&row| row == best).map(|node| NodeId(node as u32))
}

/// `roots` are switches; without one, the first switch is. So is the first switch of each part that no root reaches, as after
/// failures.
pub(super) fn compute(graph: &Graph, roots: &[NodeId], down: &[u32]) -> Routes {
    let mut routes = Routes::empty(graph);
    let switches = Switches::of(graph, &routes, down);
    let rows = switches.rows();
    let mut tops: Vec<u32> = roots.iter().filter_map(|&root| routes.row(root)).map(|row| row as u32).collect();
    if tops.is_empty() && rows > 0 {
        tops.push(0);
    }
    let mut rank = switches.distances(&tops);
    while let Some(first) = rank.iter().position(|&hops| hops == FAR) {
        let part = switches.distances(&[first as u32]);
        rank.iter_mut().zip(part).for_each(|(hops, own)| *hops = own.min(*hops));
    }
    let key = |row: u32| (rank[row as usize], row);
    let mut order: Vec<u32> = (0..rows as u32).collect();
    order.sort_by_key(|&row| key(row));

    // Of each edge switch: hops to it by going down only, and by any legal way.
    let mut below = vec![FAR; rows * switches.edges.len()];
    let mut legal = vec![FAR; rows * switches.edges.len()];
    for (column, &edge) in switches.edges.iter().enumerate() {
        let (below, legal) =
            (&mut below[column * rows..(column + 1) * rows], &mut legal[column * rows..(column + 1) * rows]);
        below[edge as usize] = 0;
        let mut queue = vec![edge];
        let mut head = 0;
        while let Some(&row) = queue.get(head) {
            head += 1;
            for trunk in switches.trunks(row) {
                if key(trunk.row) < key(row) && below[trunk.row as usize] == FAR {
                    below[trunk.row as usize] = below[row as usize] + 1;
                    queue.push(trunk.row);
                }
            }
        }
        // Whoever is above comes first in the order.
        for &row in &order {
            let up = switches.trunks(row).iter().filter(|trunk| key(trunk.row) < key(row));
            let over = up.map(|trunk| legal[trunk.row as usize]).min().unwrap_or(FAR);
            legal[row as usize] = match below[row as usize] {
                FAR => over.saturating_add(1),
                hops => hops,
            };
        }
    }
    switches.fill(&mut routes, |column, row, ports| {
        let at = |table: &[u32], row: u32| table[column * rows + row as usize];
        let mine = at(&below, row);
        for trunk in switches.trunks(row) {
            let rises = key(trunk.row) < key(row);
            let leads = match mine {
                FAR => rises && at(&legal, row) != FAR && at(&legal, trunk.row).saturating_add(1) == at(&legal, row),
                hops => !rises && at(&below, trunk.row).saturating_add(1) == hops,
            };
            if leads {
                ports.push(trunk.port);
            }
        }
    });
    routes
}

#[cfg(test)]
mod tests {
    use super::super::dependency_cycle;
    use super::super::tests::{links, random};
    use super::*;
    use crate::describe::graph::{HostId, Role};
    use crate::describe::topology::{chain, fat_tree, leaf_spine, mesh, ring, torus};
    use proptest::prelude::*;

    #[test]
    fn the_centre_of_a_chain_is_its_middle() {
        let graph = chain(5, 1, links()).unwrap();
        assert_eq!(centre(&graph), graph.find("sw2"));
        assert_eq!(centre(&Graph::default()), None);
    }

    #[test]
    fn a_ring_of_five_loses_one_trunk_and_lives() {
        let graph = ring(5, 1, links()).unwrap();
        let at = |name: &str| graph.find(name).unwrap();
        let routes = compute(&graph, &[at("sw0")], &[]);
        assert_eq!(dependency_cycle(&graph, &routes), None);
        // In the order sw0, sw1, sw4, sw2, sw3 the last is at the bottom: sw1 reaches it by going down, but what goes
        // from sw2 to sw4 would have to rise again there and goes by the root.
        let hops = |from, to| routes.path(&graph, HostId(from), HostId(to), 1).unwrap().len();
        assert_eq!((hops(2, 3), hops(1, 3), hops(2, 4), hops(4, 2)), (3, 4, 5, 5));
    }

    #[test]
    fn trees_keep_all_their_shortest_paths() {
        for graph in [fat_tree(4, links()), leaf_spine(4, 3, 2, links())] {
            let graph = graph.unwrap();
            let top = graph.nodes.iter().map(|node| node.layer).max().unwrap();
            let roots: Vec<NodeId> =
                (0..).map(NodeId).zip(&graph.nodes).filter(|(_, n)| n.layer == top).map(|(id, _)| id).collect();
            assert_eq!(compute(&graph, &roots, &[]), Routes::shortest_paths(&graph));
        }
    }

    fn check(graph: &Graph, root: NodeId) {
        let routes = compute(graph, &[root], &[]);
        assert_eq!(dependency_cycle(graph, &routes), None);
        let apart = graph.unreachable_pairs(usize::MAX);
        for from in 0..graph.hosts().len() as u32 {
            for to in 0..graph.hosts().len() as u32 {
                let (from, to) = (HostId(from), HostId(to));
                let far = apart.contains(&(from.min(to), from.max(to)));
                for entropy in 0..4 {
                    assert_eq!(routes.path(graph, from, to, entropy).is_ok(), !far);
                }
            }
        }
    }

    /// sw3 and sw1 meet at sw4, which comes after both in the order of numbers.
    #[test]
    fn a_part_without_a_root_is_joined() {
        let mut graph = Graph::default();
        let switches: Vec<NodeId> = (0..5).map(|number| graph.node(format!("sw{number}"), Role::Switch, 1)).collect();
        for at in [3, 1] {
            let host = graph.node(format!("h{at}"), Role::Host, 0);
            graph.cable(host, switches[at], links().host);
            graph.cable(switches[at], switches[4], links().trunk);
        }
        check(&graph, switches[2]);
    }

    #[test]
    fn grids_do_not_deadlock_from_any_root() {
        for graph in [mesh(&[3, 3], 1, links()), torus(&[4, 3], 1, links())] {
            let graph = graph.unwrap();
            for (root, node) in (0..).map(NodeId).zip(&graph.nodes) {
                if node.role == Role::Switch {
                    check(&graph, root);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn random_graphs_are_joined_and_free(graph in random(), root in 0_u32..6) {
            check(&graph, NodeId(root));
        }
    }
}
