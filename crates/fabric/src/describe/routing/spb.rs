//! Shortest path bridging: up to sixteen sets of shortest paths, each the same in both directions (IEEE 802.1aq,
//! RFC 6329).
//!
//! A path is judged by its cost, then by its hops, then by the sorted list of the identifiers of the bridges on it, each
//! identifier masked. Of two different lists the one is less that has the smallest identifier the other has not; so what
//! is chosen does not depend on the direction, every part of a chosen path is itself chosen, and one table by
//! destination holds all of them. A multicast tree rooted at a bridge is the union of these paths, so unicast and
//! multicast frames go the same way. The sixteen masks put the bridges in sixteen orders and so choose among equal paths.

use super::Routes;
use super::switches::{Switches, Trunk};
use crate::describe::graph::{Graph, NodeId};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use units::Rate;

/// The masks of the sixteen standard algorithms, `00-80-C2-01` and so on, in order (RFC 6329, section 12): each is
/// applied to every octet of a bridge identifier.
pub const MASKS: [u8; 16] =
    [0x00, 0xFF, 0x88, 0x77, 0x44, 0x33, 0xCC, 0xBB, 0x22, 0x11, 0x66, 0x55, 0xAA, 0x99, 0xDD, 0xEE];

/// What shortest path bridging knows of a network beyond its drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bridges {
    /// Identifier of each node, priority in the upper 16 bits; those of hosts do not matter.
    pub identifiers: Vec<u64>,
    /// Cost of each cable: see [`link_cost`].
    pub costs: Vec<u32>,
}

impl Bridges {
    /// Identifiers as the nodes are numbered, from one, and every cable at the cost of its rate.
    #[must_use]
    pub fn plain(graph: &Graph) -> Bridges {
        Bridges {
            identifiers: (1..=graph.nodes.len() as u64).collect(),
            costs: graph.cables.iter().map(|cable| path_cost(cable.link.rate)).collect(),
        }
    }
}

/// The greatest metric that a link can have and carry traffic: 24 bits say it, and the greatest number of them says that
/// the link must not be used (RFC 6329, section 15.1).
pub const MOST_METRIC: u32 = 0xFF_FFFE;

/// The cost of a link whose ends state these metrics: the greater, so that both ends count alike (RFC 6329, section 11).
#[must_use]
pub fn link_cost(one: u32, other: u32) -> u32 {
    one.max(other)
}

/// The metric of a port of that speed: 20 Tb/s over its rate, at least 1 (IEEE 802.1D-2004, table 17-3: 2000 at
/// 10 Gb/s). The table goes on to 200 000 000; what bridges can tell each other ends at [`MOST_METRIC`], 1.2 Mb/s.
#[must_use]
pub fn path_cost(rate: Rate) -> u32 {
    const TOP: u64 = 20_000_000_000_000;
    (TOP / rate.as_bits_per_sec().max(1)).clamp(1, u64::from(MOST_METRIC)) as u32
}

/// How good a path is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Label {
    cost: u64,
    hops: u32,
    /// Masked identifiers of the bridges on it, ascending, the first left out.
    bridges: Vec<u64>,
}

impl Label {
    /// The same path, one bridge longer.
    fn further(&self, cost: u32, bridge: u64) -> Label {
        let place = self.bridges.partition_point(|&known| known < bridge);
        let mut bridges = Vec::with_capacity(self.bridges.len() + 1);
        bridges.extend_from_slice(&self.bridges[..place]);
        bridges.push(bridge);
        bridges.extend_from_slice(&self.bridges[place..]);
        Label { cost: self.cost + u64::from(cost), hops: self.hops + 1, bridges }
    }
}

/// A label to be looked at, the least first.
#[derive(PartialEq, Eq)]
struct Candidate(Label, u32);

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        (&other.0, other.1).cmp(&(&self.0, self.1))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The identifier of each row as a tree sees it.
pub(super) fn masked(routes: &Routes, bridges: &Bridges, tree: u8) -> Vec<u64> {
    let mask = u64::from_be_bytes([MASKS[usize::from(tree)]; 8]);
    let switches = routes.rows.iter().zip(&bridges.identifiers).filter(|(row, _)| **row != super::NO_ROW);
    switches.map(|(_, identifier)| identifier ^ mask).collect()
}

/// From each row the port of the chosen path to `target`.
pub(super) fn toward(switches: &Switches, costs: &[u32], masked: &[u64], target: u32) -> Vec<Option<u16>> {
    let mut best: Vec<Option<Label>> = vec![None; switches.rows()];
    let mut next: Vec<Option<u16>> = vec![None; switches.rows()];
    let mut done = vec![false; switches.rows()];
    let start = Label { cost: 0, hops: 0, bridges: Vec::new() };
    best[target as usize] = Some(start.clone());
    let mut heap = BinaryHeap::from([Candidate(start, target)]);
    while let Some(Candidate(label, row)) = heap.pop() {
        if std::mem::replace(&mut done[row as usize], true) {
            continue;
        }
        for trunk in switches.trunks(row).iter().filter(|trunk| !done[trunk.row as usize]) {
            let far = trunk.row as usize;
            let label = label.further(costs[trunk.cable as usize], masked[far]);
            if best[far].as_ref().is_none_or(|known| label < *known) {
                next[far] = back(switches, costs, trunk.row, row).map(|trunk| trunk.port);
                best[far] = Some(label.clone());
                heap.push(Candidate(label, trunk.row));
            }
        }
    }
    next
}

/// The cable from one switch to another that is taken of several: the cheapest, and of those the first.
fn back(switches: &Switches, costs: &[u32], from: u32, to: u32) -> Option<Trunk> {
    let between = switches.trunks(from).iter().filter(|trunk| trunk.row == to);
    between.min_by_key(|trunk| (costs[trunk.cable as usize], trunk.cable)).copied()
}

/// The first `trees` of the sixteen; a list of ports has one for each.
pub(super) fn compute(graph: &Graph, bridges: &Bridges, trees: u8, down: &[u32]) -> Routes {
    let mut routes = Routes::empty(graph);
    let switches = Switches::of(graph, &routes, down);
    let trees = usize::from(trees).clamp(1, MASKS.len());
    // For each tree and edge switch the port of every row.
    let mut ports: Vec<Vec<Option<u16>>> = Vec::with_capacity(trees * switches.edges.len());
    for tree in 0..trees as u8 {
        let masked = masked(&routes, bridges, tree);
        ports.extend(switches.edges.iter().map(|&edge| toward(&switches, &bridges.costs, &masked, edge)));
    }
    let edges = switches.edges.len();
    switches.fill(&mut routes, |column, row, list| {
        list.extend((0..trees).filter_map(|tree| ports[tree * edges + column][row as usize]));
    });
    routes.trees = trees as u8;
    routes
}

/// The spanning trees of these roots (IEEE 802.1D and 802.1Q): every bridge keeps the port that is nearest to the root,
/// by cost, then by the identifier of the bridge behind it, then by port. A list of ports has one for each tree.
pub(super) fn spanning_trees(graph: &Graph, bridges: &Bridges, roots: &[NodeId], down: &[u32]) -> Routes {
    let mut routes = Routes::empty(graph);
    let switches = Switches::of(graph, &routes, down);
    // The first mask leaves identifiers as they are.
    let identifiers = masked(&routes, bridges, 0);
    let roots: Vec<u32> = roots.iter().filter_map(|&root| routes.row(root)).map(|row| row as u32).collect();
    let mut ports: Vec<Vec<Option<u16>>> = Vec::new();
    for &root in &roots {
        let branches = branches(&switches, &bridges.costs, &identifiers, root);
        ports.extend(switches.edges.iter().map(|&edge| along(&switches, &branches, edge)));
    }
    let edges = switches.edges.len();
    switches.fill(&mut routes, |column, row, list| {
        list.extend((0..roots.len()).filter_map(|tree| ports[tree * edges + column][row as usize]));
    });
    routes.trees = roots.len() as u8;
    routes
}

/// Of each row the trunk that leads to the root. A part of the network that the root cannot reach has the bridge of
/// the least identifier there for a root of its own.
fn branches(switches: &Switches, costs: &[u32], identifiers: &[u64], root: u32) -> Vec<Option<Trunk>> {
    let rows = switches.rows();
    let mut distance: Vec<Option<u64>> = vec![None; rows];
    let mut branch: Vec<Option<Trunk>> = vec![None; rows];
    let mut by_identifier: Vec<u32> = (0..rows as u32).collect();
    by_identifier.sort_by_key(|&row| identifiers[row as usize]);
    for root in std::iter::once(root).chain(by_identifier) {
        if distance[root as usize].is_some() {
            continue;
        }
        let mut heap = BinaryHeap::from([std::cmp::Reverse((0_u64, root))]);
        distance[root as usize] = Some(0);
        while let Some(std::cmp::Reverse((cost, row))) = heap.pop() {
            if distance[row as usize] != Some(cost) {
                continue;
            }
            for trunk in switches.trunks(row) {
                let through = cost + u64::from(costs[trunk.cable as usize]);
                if distance[trunk.row as usize].is_none_or(|known| through < known) {
                    distance[trunk.row as usize] = Some(through);
                    heap.push(std::cmp::Reverse((through, trunk.row)));
                }
            }
        }
    }
    for row in 0..rows as u32 {
        let here = distance[row as usize];
        let toward = switches.trunks(row).iter().filter(|trunk| {
            let through = distance[trunk.row as usize].map(|cost| cost + u64::from(costs[trunk.cable as usize]));
            here != Some(0) && through == here
        });
        branch[row as usize] = toward.min_by_key(|trunk| (identifiers[trunk.row as usize], trunk.cable)).copied();
    }
    branch
}

/// From each row the port along a tree toward `target`.
fn along(switches: &Switches, branches: &[Option<Trunk>], target: u32) -> Vec<Option<u16>> {
    let mut next: Vec<Option<u16>> = vec![None; switches.rows()];
    let mut met = vec![false; switches.rows()];
    met[target as usize] = true;
    let mut todo = vec![target];
    while let Some(row) = todo.pop() {
        for trunk in switches.trunks(row) {
            let far = trunk.row as usize;
            let same = |branch: Option<Trunk>| branch.is_some_and(|branch| branch.cable == trunk.cable);
            if (same(branches[row as usize]) || same(branches[far])) && !met[far] {
                met[far] = true;
                let own = switches.trunks(trunk.row).iter().find(|own| own.cable == trunk.cable);
                next[far] = own.map(|own| own.port);
                todo.push(trunk.row);
            }
        }
    }
    next
}

#[cfg(test)]
#[path = "spb_tests.rs"]
mod tests;
