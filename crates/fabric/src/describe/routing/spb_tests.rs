//! Bridging by trees, against brute force and against what was worked out by hand.

use super::super::tests::{links, random};
use super::super::{Routing, dependency_cycle};
use super::*;
use crate::describe::graph::{HostId, Role};
use crate::describe::topology::{leaf_spine, mesh, ring};
use proptest::prelude::*;

/// A path as the switches on it.
type Path = Vec<u32>;

/// Every path without a repetition between two switches, with its cost.
fn all_paths(graph: &Graph, costs: &[u32], from: u32, to: u32) -> Vec<(u64, Path)> {
    let ports = graph.ports();
    let mut found = Vec::new();
    let mut todo: Vec<(u64, Path)> = vec![(0, vec![from])];
    while let Some((cost, path)) = todo.pop() {
        let at = *path.last().unwrap();
        if at == to {
            found.push((cost, path));
            continue;
        }
        for end in &ports[at as usize] {
            let next = end.peer.0;
            if graph.nodes[next as usize].role == Role::Switch && !path.contains(&next) {
                let mut longer = path.clone();
                longer.push(next);
                todo.push((cost + u64::from(costs[end.cable as usize]), longer));
            }
        }
    }
    found
}

/// The best of all paths: by cost, hops, and the sorted masked identifiers of all bridges on it.
fn best(graph: &Graph, bridges: &Bridges, mask: u8, from: u32, to: u32) -> Option<Path> {
    let mask = u64::from_be_bytes([mask; 8]);
    let key = |(cost, path): &(u64, Path)| {
        let mut names: Vec<u64> = path.iter().map(|&node| bridges.identifiers[node as usize] ^ mask).collect();
        names.sort_unstable();
        (*cost, path.len(), names)
    };
    all_paths(graph, &bridges.costs, from, to).into_iter().min_by_key(key).map(|(_, path)| path)
}

/// The switches that a frame of one tree passes.
fn walked(graph: &Graph, routes: &Routes, tree: usize, from: u32, to: u32) -> Option<Path> {
    let entropy = super::super::tree_entropy(9, tree, usize::from(routes.trees()));
    let hops = routes.path(graph, HostId(from), HostId(to), entropy).ok()?;
    Some(hops.iter().skip(1).map(|(node, _)| node.0).collect())
}

/// Holds all trees against brute force, in both directions.
fn check(graph: &Graph, bridges: &Bridges) {
    let routes = compute(graph, bridges, 16, &[]);
    let (ports, hosts) = (graph.ports(), graph.hosts());
    let home = |host: u32| ports[hosts[host as usize].0 as usize][0].peer.0;
    for (tree, &mask) in MASKS.iter().enumerate() {
        for from in 0..hosts.len() as u32 {
            for to in (0..hosts.len() as u32).filter(|&to| to != from) {
                let path = walked(graph, &routes, tree, from, to);
                assert_eq!(path, best(graph, bridges, mask, home(from), home(to)), "tree {tree}, {from} to {to}");
                // Symmetric.
                let back = walked(graph, &routes, tree, to, from);
                assert_eq!(back.map(|path| path.into_iter().rev().collect()), path);
            }
        }
        congruent(graph, &routes, tree);
    }
}

/// The tree that multicast frames of a source span, one path to each destination, never joins itself again: each
/// switch on it is reached over one cable. So one tree per source carries unicast and multicast alike.
fn congruent(graph: &Graph, routes: &Routes, tree: usize) {
    let hosts = graph.hosts().len() as u32;
    for from in 0..hosts {
        let mut parent = vec![None; graph.nodes.len()];
        for path in (0..hosts).filter(|&to| to != from).filter_map(|to| walked(graph, routes, tree, from, to)) {
            for pair in path.windows(2) {
                let known = parent[pair[1] as usize].get_or_insert(pair[0]);
                assert_eq!(*known, pair[0]);
            }
        }
    }
}

#[test]
fn the_greater_metric_counts_and_speed_makes_it() {
    assert_eq!(link_cost(10, 20), 20);
    assert_eq!(link_cost(20, 10), 20);
    // IEEE 802.1D-2004, table 17-3.
    let table = [(10, 2_000_000), (100, 200_000), (1_000, 20_000), (10_000, 2_000), (100_000, 200), (1_000_000, 20)];
    for (megabits, cost) in table {
        assert_eq!(path_cost(Rate::from_bits_per_sec(megabits * 1_000_000)), cost);
    }
    assert_eq!(path_cost(Rate::from_gigabits(100_000)), 1);
    assert_eq!(path_cost(Rate::from_bits_per_sec(1_000)), MOST_METRIC);
}

#[test]
fn masks_are_a_group_of_sixteen() {
    let mut sorted = MASKS.to_vec();
    sorted.sort_unstable();
    // Every mask repeats one hexadecimal digit, and each digit is there once.
    assert_eq!(sorted, (0..16).map(|digit| digit * 0x11).collect::<Vec<u8>>());
}

/// Two bridges joined by four paths of two others each, the choice worked out by hand:
/// 1 - {2, 3} - {4, 5} - 6, the middle ones all joined.
#[test]
fn of_four_equal_paths_the_masks_choose_as_worked_out() {
    let mut graph = Graph::default();
    let all: Vec<NodeId> = (1..=6).map(|number| graph.node(format!("b{number}"), Role::Switch, 1)).collect();
    for (a, b) in [(1, 2), (1, 3), (2, 4), (2, 5), (3, 4), (3, 5), (4, 6), (5, 6)] {
        graph.cable(all[a - 1], all[b - 1], links().trunk);
    }
    for end in [0, 5] {
        let host = graph.node(format!("h{end}"), Role::Host, 0);
        graph.cable(host, all[end], links().host);
    }
    let bridges = Bridges::plain(&graph);
    let routes = compute(&graph, &bridges, 16, &[]);
    let path = |tree: usize| -> Vec<u32> {
        walked(&graph, &routes, tree, 0, 1).unwrap().into_iter().map(|node| node + 1).collect()
    };
    // Unmasked: {2,4} is the least. Inverted: {3,5}, whose inverses are the least.
    assert_eq!(path(0), [1, 2, 4, 6]);
    assert_eq!(path(1), [1, 3, 5, 6]);
    // Mask 44 flips bit 2: 2, 3, 4, 5 become 46, 47, 40, 41: 40 and then 46.
    assert_eq!(path(4), [1, 2, 4, 6]);
    // Mask 11 flips bit 0: 13, 12, 15, 14: 12 and 14.
    assert_eq!(path(9), [1, 3, 5, 6]);
    // Mask 22 flips bit 1: 20, 21, 26, 27: 20 and 26.
    assert_eq!(path(8), [1, 2, 4, 6]);
    // Mask 55: 57, 56, 51, 50: 50 and 56.
    assert_eq!(path(11), [1, 3, 5, 6]);
    // Mask 33 flips bits 0 and 1: 31, 30, 37, 36.
    assert_eq!(path(5), [1, 3, 5, 6]);
    check(&graph, &bridges);
}

#[test]
fn cost_goes_before_hops_and_hops_before_names() {
    // A triangle: direct at 10, round at 4 + 4, so round; at 5 + 5 the direct one has fewer hops.
    let mut graph = Graph::default();
    let all: Vec<NodeId> = (0..3).map(|number| graph.node(format!("b{number}"), Role::Switch, 1)).collect();
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        graph.cable(all[a], all[b], links().trunk);
    }
    for end in [0, 1] {
        let host = graph.node(format!("h{end}"), Role::Host, 0);
        graph.cable(host, all[end], links().host);
    }
    for (costs, length) in [(vec![10, 4, 4, 1, 1], 3), (vec![10, 5, 5, 1, 1], 2)] {
        let bridges = Bridges { identifiers: vec![3, 2, 1, 0, 0], costs };
        let routes = compute(&graph, &bridges, 16, &[]);
        assert_eq!(walked(&graph, &routes, 0, 0, 1).unwrap().len(), length);
        check(&graph, &bridges);
    }
}

#[test]
fn every_spine_is_used_by_one_of_the_sixteen() {
    let graph = leaf_spine(3, 8, 1, links()).unwrap();
    let routes = compute(&graph, &Bridges::plain(&graph), 16, &[]);
    let mut spines: Vec<u32> = (0..16).map(|tree| walked(&graph, &routes, tree, 0, 2).unwrap()[1]).collect();
    spines.sort_unstable();
    spines.dedup();
    assert_eq!(spines.len(), 8);
}

#[test]
fn one_tree_of_a_mesh_can_deadlock_and_a_spanning_tree_cannot() {
    let graph = mesh(&[3, 3], 1, links()).unwrap();
    let bridges = Bridges::plain(&graph);
    assert!(dependency_cycle(&graph, &compute(&graph, &bridges, 16, &[])).is_some());
    let circle = ring(5, 1, links()).unwrap();
    assert!(dependency_cycle(&circle, &compute(&circle, &Bridges::plain(&circle), 1, &[])).is_some());
    let root = (0..).map(NodeId).zip(&graph.nodes).find(|(_, node)| node.role == Role::Switch).unwrap().0;
    let tree = Routing::SpanningTrees { roots: vec![root], bridges };
    assert_eq!(dependency_cycle(&graph, &tree.compute(&graph, &[]).unwrap()), None);
}

#[test]
fn a_bridge_keeps_the_port_nearest_to_the_root() {
    // A square: the corner opposite the root has two equal ways and takes the bridge of the lower identifier.
    let graph = ring(4, 1, links()).unwrap();
    let at = |name: &str| graph.find(name).unwrap();
    let mut bridges = Bridges::plain(&graph);
    let through = |bridges: &Bridges| {
        let routing = Routing::SpanningTrees { roots: vec![at("sw0")], bridges: bridges.clone() };
        let routes = routing.compute(&graph, &[]).unwrap();
        routes.path(&graph, HostId(2), HostId(0), 5).unwrap()[2].0
    };
    assert_eq!(through(&bridges), at("sw1"));
    bridges.identifiers[at("sw1").0 as usize] = 99;
    assert_eq!(through(&bridges), at("sw3"));
    // A slow link costs more than the identifier is worth.
    let slow = (0..graph.cables.len())
        .find(|&n| [graph.cables[n].a, graph.cables[n].b].iter().all(|end| [at("sw3"), at("sw0")].contains(end)));
    bridges.costs[slow.unwrap()] *= 2;
    assert_eq!(through(&bridges), at("sw1"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn all_sixteen_agree_with_brute_force(
        graph in random(),
        identifiers in Just((1_u64..=64).collect::<Vec<u64>>()).prop_shuffle(),
        costs in prop::collection::vec(1_u32..4, 32),
    ) {
        // Parallel cables make several paths of the same bridges; they share one.
        let costs = costs[..graph.cables.len()].to_vec();
        let identifiers = identifiers[..graph.nodes.len()].to_vec();
        check(&graph, &Bridges { identifiers, costs });
    }

    #[test]
    fn spanning_trees_join_all_and_never_deadlock(graph in random(), roots in prop::collection::vec(0_u32..6, 1..4)) {
        let roots: Vec<NodeId> = roots.into_iter().map(NodeId).collect();
        let trees = roots.len();
        let routing = Routing::SpanningTrees { roots, bridges: Bridges::plain(&graph) };
        let routes = routing.compute(&graph, &[]).unwrap();
        if trees == 1 {
            prop_assert_eq!(dependency_cycle(&graph, &routes), None);
        }
        let apart = graph.unreachable_pairs(usize::MAX);
        for from in 0..graph.hosts().len() as u32 {
            for to in (0..graph.hosts().len() as u32).filter(|&to| to != from) {
                let far = apart.contains(&(HostId(from.min(to)), HostId(from.max(to))));
                for tree in 0..trees {
                    let path = walked(&graph, &routes, tree, from, to);
                    prop_assert_eq!(path.is_some(), !far);
                    let back = walked(&graph, &routes, tree, to, from);
                    prop_assert_eq!(back.map(|path| path.into_iter().rev().collect()), path);
                }
            }
        }
    }
}
