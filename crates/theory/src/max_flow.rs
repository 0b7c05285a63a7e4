//! The most that can go from some nodes of a network to others at once, over any number of paths: the capacity of the
//! smallest cut between them (Ford and Fulkerson, 1956), by the algorithm of Dinic (1970).

use std::collections::VecDeque;

/// A link between two nodes, with the capacity that it has in each direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// One end.
    pub a: u32,
    /// The other end.
    pub b: u32,
    /// Capacity in any unit.
    pub capacity: u64,
}

/// One direction of a link: where it leads, and how much room is left. The other direction is its neighbour in the list.
#[derive(Clone, Copy, Debug)]
struct Arc {
    to: u32,
    room: u64,
}

/// The arcs of a network, and those that leave each node.
struct Arcs {
    all: Vec<Arc>,
    from: Vec<Vec<u32>>,
}

impl Arcs {
    fn join(&mut self, a: u32, b: u32, there: u64, back: u64) {
        for (from, to, room) in [(a, b, there), (b, a, back)] {
            self.from[from as usize].push(self.all.len() as u32);
            self.all.push(Arc { to, room });
        }
    }

    /// By node: how many arcs with room it is away from the first; nothing if the second is out of reach.
    fn levels(&self, first: u32, last: u32) -> Option<Vec<u32>> {
        let mut levels = vec![u32::MAX; self.from.len()];
        levels[first as usize] = 0;
        let mut next = VecDeque::from([first]);
        while let Some(node) = next.pop_front() {
            for &arc in &self.from[node as usize] {
                let Arc { to, room } = self.all[arc as usize];
                if room > 0 && levels[to as usize] == u32::MAX {
                    levels[to as usize] = levels[node as usize] + 1;
                    next.push_back(to);
                }
            }
        }
        (levels[last as usize] != u32::MAX).then_some(levels)
    }

    /// Fills shortest paths until none is left. Returns how much that is.
    fn fill(&mut self, first: u32, last: u32, levels: &[u32]) -> u64 {
        // Of each node the arcs that have not been tried.
        let mut tried = vec![0_usize; self.from.len()];
        let mut sum = 0_u64;
        let mut path: Vec<u32> = Vec::new();
        loop {
            let node = path.last().map_or(first, |&arc| self.all[arc as usize].to);
            if node == last {
                let most = path.iter().map(|&arc| self.all[arc as usize].room).min().unwrap_or(0);
                for &arc in &path {
                    self.all[arc as usize].room -= most;
                    self.all[(arc ^ 1) as usize].room = self.all[(arc ^ 1) as usize].room.saturating_add(most);
                }
                sum = sum.saturating_add(most);
                // Back to where the first arc is full.
                let full = path.iter().position(|&arc| self.all[arc as usize].room == 0).unwrap_or(0);
                path.truncate(full);
                continue;
            }
            let arcs = &self.from[node as usize];
            let leads = |arc: u32| {
                let Arc { to, room } = self.all[arc as usize];
                room > 0 && levels[to as usize] == levels[node as usize] + 1
            };
            match arcs[tried[node as usize]..].iter().position(|&arc| leads(arc)) {
                Some(ahead) => {
                    tried[node as usize] += ahead;
                    path.push(arcs[tried[node as usize]]);
                }
                None => {
                    tried[node as usize] = arcs.len();
                    let Some(arc) = path.pop() else { return sum };
                    // What led here leads nowhere.
                    let from = self.all[(arc ^ 1) as usize].to;
                    tried[from as usize] += 1;
                }
            }
        }
    }
}

/// Returns the most that can go from the nodes in `sources` to those in `sinks` at once. Nodes are numbered from 0 and are
/// `nodes` in all.
///
/// ```
/// use tailback_theory::max_flow::{Link, max_flow};
///
/// // Two leaves and two spines: 10 + 10 between the leaves.
/// let link = |a, b| Link { a, b, capacity: 10 };
/// let links = [link(0, 2), link(0, 3), link(1, 2), link(1, 3)];
/// assert_eq!(max_flow(4, &links, &[0], &[1]), 20);
/// ```
///
/// # Panics
/// Panics if a node is not below `nodes`.
#[must_use]
pub fn max_flow(nodes: u32, links: &[Link], sources: &[u32], sinks: &[u32]) -> u64 {
    let (first, last) = (nodes, nodes + 1);
    let mut arcs = Arcs { all: Vec::new(), from: vec![Vec::new(); nodes as usize + 2] };
    links.iter().for_each(|link| arcs.join(link.a, link.b, link.capacity, link.capacity));
    let unlimited = u64::MAX / 4;
    sources.iter().for_each(|&node| arcs.join(first, node, unlimited, 0));
    sinks.iter().for_each(|&node| arcs.join(node, last, unlimited, 0));
    let mut sum = 0_u64;
    while let Some(levels) = arcs.levels(first, last) {
        sum = sum.saturating_add(arcs.fill(first, last, &levels));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_cut_is_the_limit() {
        let link = |a, b, capacity| Link { a, b, capacity };
        // A narrow place behind wide links, and a detour around it.
        let links = [link(0, 1, 100), link(1, 2, 3), link(2, 3, 100), link(1, 4, 2), link(4, 3, 50)];
        assert_eq!(max_flow(5, &links, &[0], &[3]), 5);
        // Paths that must be taken back: the classic diamond with a bridge.
        let links = [link(0, 1, 10), link(0, 2, 10), link(1, 2, 1), link(1, 3, 8), link(2, 3, 10)];
        assert_eq!(max_flow(4, &links, &[0], &[3]), 18);
        assert_eq!(max_flow(4, &links[..2], &[0], &[3]), 0);
        // Several sources and sinks: every link of a ring of six between halves.
        let ring: Vec<Link> = (0..6).map(|node| link(node, (node + 1) % 6, 7)).collect();
        assert_eq!(max_flow(6, &ring, &[0, 1, 2], &[3, 4, 5]), 14);
    }

    #[test]
    fn a_fat_tree_has_full_bisection() {
        // k = 4: pods of 2 edge and 2 aggregation switches, 4 cores.
        let mut links = Vec::new();
        for pod in 0..4 {
            for (edge, aggregation) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                links.push(Link { a: pod * 4 + edge, b: pod * 4 + 2 + aggregation, capacity: 1 });
            }
            for (aggregation, core) in [(0, 0), (0, 1), (1, 2), (1, 3)] {
                links.push(Link { a: pod * 4 + 2 + aggregation, b: 16 + core, capacity: 1 });
            }
        }
        assert_eq!(max_flow(20, &links, &[0, 1, 4, 5], &[8, 9, 12, 13]), 8);
    }
}
