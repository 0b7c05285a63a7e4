//! Shortest paths by hops, all of them.
//!
//! One breadth-first search per switch that has hosts: the hosts of a switch share everything but the last hop. A host
//! on several switches is reached by the nearest of them: one search per set of switches.

use super::switches::{FAR, Switches, intern};
use super::{Groups, Routes};
use crate::describe::graph::Graph;
use std::collections::BTreeMap;

pub(super) fn compute(graph: &Graph, down: &[u32]) -> Routes {
    let mut routes = Routes::empty(graph);
    let switches = Switches::of(graph, &routes, down);
    let mut sets: Vec<Vec<u32>> = switches.edges.iter().map(|&row| vec![row]).collect();
    let mut of_host: BTreeMap<usize, usize> = BTreeMap::new();
    let mut known: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    for (host, homes) in switches.several.iter().enumerate().filter(|(_, homes)| !homes.is_empty()) {
        let mut set: Vec<u32> = homes.iter().map(|&(row, _)| row).collect();
        set.sort_unstable();
        set.dedup();
        let column = *known.entry(set).or_insert_with_key(|set| {
            sets.push(set.clone());
            sets.len() - 1
        });
        of_host.insert(host, column);
    }
    let toward = groups_toward(&switches, &sets, &mut routes.groups);
    switches.set_columns(&mut routes, &toward, &of_host);
    routes
}

/// For each set of edge switches and each row the group that leads to the nearest; 0 at an edge switch itself.
fn groups_toward(switches: &Switches, edges: &[Vec<u32>], groups: &mut [Groups]) -> Vec<u16> {
    let rows = groups.len();
    let mut toward = vec![0_u16; rows * edges.len()];
    let mut distance = vec![FAR; rows];
    let mut queue: Vec<u32> = Vec::with_capacity(rows);
    let mut ports: Vec<u16> = Vec::new();
    for (column, edge) in edges.iter().enumerate() {
        distance.fill(FAR);
        edge.iter().for_each(|&row| distance[row as usize] = 0);
        queue.clear();
        queue.extend(edge);
        let mut head = 0;
        while let Some(&row) = queue.get(head) {
            head += 1;
            let here = distance[row as usize];
            ports.clear();
            for trunk in switches.trunks(row) {
                let there = &mut distance[trunk.row as usize];
                if *there == FAR {
                    *there = here + 1;
                    queue.push(trunk.row);
                } else if *there < here {
                    // Whoever is nearer left the queue before, so its distance is final.
                    ports.push(trunk.port);
                }
            }
            toward[column * rows + row as usize] = intern(&mut groups[row as usize], &ports);
        }
    }
    toward
}

#[cfg(test)]
mod tests {
    use super::super::tests::{joined, links};
    use super::*;
    use crate::describe::graph::{HostId, NodeId, Role};
    use crate::describe::topology::{fat_tree, ring, torus, two_switches};
    use proptest::prelude::*;

    /// Hops between switches by relaxing every cable until nothing changes.
    fn brute_distances(graph: &Graph, down: &[u32], target: NodeId) -> Vec<u32> {
        let mut distance = vec![FAR; graph.nodes.len()];
        distance[target.0 as usize] = 0;
        for _ in 0..graph.nodes.len() {
            for (number, cable) in (0_u32..).zip(&graph.cables) {
                if down.contains(&number) {
                    continue;
                }
                for (a, b) in [(cable.a.0 as usize, cable.b.0 as usize), (cable.b.0 as usize, cable.a.0 as usize)] {
                    let forwards = graph.nodes[b].role == Role::Switch || b == target.0 as usize;
                    if forwards && distance[b] != FAR {
                        distance[a] = distance[a].min(distance[b] + 1);
                    }
                }
            }
        }
        distance
    }

    fn check(graph: &Graph, down: &[u32]) {
        let routes = Routes::without_links(graph, down);
        let ports = graph.ports();
        for (host, node) in (0..).zip(graph.hosts()) {
            let distance = brute_distances(graph, down, node);
            for switch in 0..graph.nodes.len() {
                if graph.nodes[switch].role == Role::Host {
                    continue;
                }
                let expected: Vec<u16> = (0..)
                    .zip(&ports[switch])
                    .filter(|(_, end)| {
                        let peer = distance[end.peer.0 as usize];
                        let forwards = end.peer == node || graph.nodes[end.peer.0 as usize].role == Role::Switch;
                        forwards && !down.contains(&end.cable) && peer != FAR && peer + 1 == distance[switch]
                    })
                    .map(|(port, _)| port)
                    .collect();
                assert_eq!(routes.ports(NodeId(switch as u32), HostId(host)), expected);
            }
        }
    }

    #[test]
    fn a_fat_tree_spreads_upwards_and_has_one_way_down() {
        let graph = fat_tree(4, links()).unwrap();
        let routes = Routes::shortest_paths(&graph);
        let at = |name: &str| graph.find(name).unwrap();
        assert_eq!(routes.ports(at("edge0"), HostId(1)), [1]);
        assert_eq!(routes.ports(at("edge0"), HostId(2)), [2, 3]);
        assert_eq!(routes.ports(at("agg0"), HostId(2)), [1]);
        assert_eq!(routes.ports(at("agg0"), HostId(15)), [2, 3]);
        assert_eq!(routes.ports(at("core3"), HostId(15)), [3]);
        // Two hosts, the other pod-mates, and the empty list.
        assert_eq!(routes.groups(at("edge0")).len(), 4);
    }

    #[test]
    fn parallel_trunks_share_and_survive_each_other() {
        let graph = two_switches(1, 1, 3, links()).unwrap();
        let switch = graph.find("sw0").unwrap();
        assert_eq!(Routes::shortest_paths(&graph).ports(switch, HostId(1)), [1, 2, 3]);
        assert_eq!(Routes::without_links(&graph, &[3, 99]).ports(switch, HostId(1)), [1, 3]);
        assert_eq!(Routes::without_links(&graph, &[2, 3, 4]).ports(switch, HostId(1)), []);
    }

    #[test]
    fn a_host_whose_cable_is_down_is_out_of_reach() {
        let graph = ring(3, 1, links()).unwrap();
        let routes = Routes::without_links(&graph, &[0]);
        let switches = graph.nodes.len() as u32;
        assert!((0..switches).all(|node| routes.ports(NodeId(node), HostId(0)).is_empty()));
        assert_eq!(routes.ports(graph.find("sw0").unwrap(), HostId(1)).len(), 1);
    }

    #[test]
    fn known_topologies_agree_with_relaxation() {
        check(&fat_tree(4, links()).unwrap(), &[]);
        check(&fat_tree(4, links()).unwrap(), &[0, 17, 20, 33]);
        check(&torus(&[3, 4], 1, links()).unwrap(), &[12, 13]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn random_graphs_agree_with_relaxation(
            trunks in prop::collection::vec((0_u32..7, 0_u32..7), 0..16),
            hosts in prop::collection::vec(0_u32..7, 1..8),
            down in prop::collection::vec(0_u32..24, 0..4),
        ) {
            let graph = joined(7, hosts, trunks);
            prop_assert!(graph.validate().is_ok());
            check(&graph, &down);
        }
    }

    #[test]
    fn more_hosts_than_sixteen_bits_can_number_share_two_columns() {
        let graph = two_switches(40_000, 40_000, 2, links()).unwrap();
        assert_eq!(graph.validate(), Ok(()));
        let routes = Routes::shortest_paths(&graph);
        let at = |name: &str| graph.find(name).unwrap();
        assert_eq!(routes.ports(at("sw0"), HostId(79_999)), [40_000, 40_001]);
        assert_eq!(routes.ports(at("sw1"), HostId(79_999)), [39_999]);
        let columns: std::collections::BTreeSet<u32> = (0..80_000).map(|host| routes.column(HostId(host)).0).collect();
        assert_eq!(columns.len(), 2);
    }

    #[test]
    fn two_hosts_on_one_cable_need_no_table() {
        let mut graph = Graph::default();
        let a = graph.node("h0", Role::Host, 0);
        let b = graph.node("h1", Role::Host, 0);
        graph.cable(a, b, links().host);
        assert_eq!(Routes::shortest_paths(&graph), Routes::empty(&graph));
    }
}
