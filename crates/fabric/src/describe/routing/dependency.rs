//! Can these routes deadlock? The channel dependency graph of Dally and Seitz (1987), and a cycle in it.
//!
//! A channel is one direction of a cable. Channel l depends on channel o when some frame, sent by a host and forwarded
//! by the tables, arrives by l and leaves by o: under lossless flow control it then holds buffer behind l while it
//! waits for o. Routes without a cycle of such waits cannot deadlock; with one they can.
//!
//! Only channels between switches matter here. A host's own channel waits but nobody waits for it, and a channel to a
//! host is waited for but never waits: neither lies on a cycle.

use std::ops::Range;

use super::Routes;
use crate::describe::graph::{Graph, NodeId};

/// Channels of one lane that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// The lane, see [`Routes::lane`].
    pub lane: u8,
    /// As (switch, output port), each leading to the next.
    pub channels: Vec<(NodeId, u16)>,
}

/// One cycle of channels that wait for each other; `None` if the routes cannot deadlock.
///
/// Exact for the tables given: a dependency counts only if a frame from some host to another can cause it, in the lane
/// of that pair, with every equal-cost choice or every tree open to it. No shorter cycle passes through the first
/// channel of the one returned.
///
/// # Panics
/// If the graph is one that [`Graph::validate`] refuses, or not the one that the routes were made for.
#[must_use]
pub fn dependency_cycle(graph: &Graph, routes: &Routes) -> Option<Circle> {
    let channels = Channels::of(graph, routes);
    (0..routes.lanes).find_map(|lane| {
        let waits = Waits::of(graph, routes, &channels, lane);
        let start = waits.find_cycle(&channels)?;
        let cycle = waits.shortest_cycle(&channels, start);
        Some(Circle { lane, channels: cycle.into_iter().map(|channel| channels.from[channel]).collect() })
    })
}

/// The channels from switch to switch, numbered switch by switch in port order. Switches go by their rows.
struct Channels {
    /// Sending switch and its port.
    from: Vec<(NodeId, u16)>,
    /// Row of the receiving switch.
    to: Vec<usize>,
    /// First channel that leaves each row; one more entry closes the last.
    starts: Vec<usize>,
}

impl Channels {
    fn of(graph: &Graph, routes: &Routes) -> Channels {
        let mut channels = Channels { from: Vec::new(), to: Vec::new(), starts: vec![0] };
        for (node, ends) in (0..).map(NodeId).zip(graph.ports()) {
            if routes.row(node).is_none() {
                continue;
            }
            for (end, port) in ends.iter().zip(0_u16..) {
                if let Some(row) = routes.row(end.peer) {
                    channels.from.push((node, port));
                    channels.to.push(row);
                }
            }
            channels.starts.push(channels.from.len());
        }
        channels
    }

    fn out_of(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }
}

/// What the groups of one switch mean here: groups that differ only in ports to hosts are one class.
struct Classes {
    of_group: Vec<u16>,
    /// Channels of each class, as offsets from the first that leaves the switch.
    offsets: Vec<Vec<usize>>,
    /// The same as bits, so many words for each class.
    masks: Vec<u64>,
    words: usize,
}

impl Classes {
    /// `tree` is the one that frames go by, where there are any.
    fn of(routes: &Routes, channels: &Channels, row: usize, tree: usize) -> Classes {
        let out = &channels.from[channels.out_of(row)];
        // Class 0 goes nowhere; it also serves the entries of a switch whose groups are all empty.
        let (mut of_group, mut offsets) = (Vec::new(), vec![Vec::new()]);
        for ports in routes.groups[row].iter() {
            let ports = match ports.len() {
                // Lists that the scenario replaced may be shorter.
                len if routes.trees > 0 && len == usize::from(routes.trees) => &ports[tree..=tree],
                _ => ports,
            };
            let list: Vec<usize> =
                ports.iter().filter_map(|&port| out.binary_search_by_key(&port, |&(_, p)| p).ok()).collect();
            let class = offsets.iter().position(|known| *known == list).unwrap_or_else(|| {
                offsets.push(list);
                offsets.len() - 1
            });
            of_group.push(class as u16);
        }
        let words = out.len().div_ceil(64);
        let mut masks = vec![0; words * offsets.len()];
        for (class, list) in offsets.iter().enumerate() {
            list.iter().for_each(|offset| masks[class * words + offset / 64] |= 1 << (offset % 64));
        }
        Classes { of_group, offsets, masks, words }
    }

    fn mask(&self, class: usize) -> &[u64] {
        &self.masks[class * self.words..(class + 1) * self.words]
    }
}

/// For each channel those it waits for, as bits over the channels that leave the switch it arrives at.
struct Waits {
    words: Vec<u64>,
    /// Where the words of each channel begin.
    starts: Vec<usize>,
}

impl Waits {
    fn of(graph: &Graph, routes: &Routes, channels: &Channels, lane: u8) -> Waits {
        let mut starts = vec![0];
        for &row in &channels.to {
            starts.push(starts[starts.len() - 1] + channels.out_of(row).len().div_ceil(64));
        }
        let mut waits = Waits { words: vec![0; starts[starts.len() - 1]], starts };
        (0..usize::from(routes.trees.max(1))).for_each(|tree| waits.add_tree(graph, routes, channels, lane, tree));
        waits
    }

    /// Adds what frames of one lane cause in one tree, or by all choices where there are no trees.
    fn add_tree(&mut self, graph: &Graph, routes: &Routes, channels: &Channels, lane: u8, tree: usize) {
        let classes: Vec<Classes> =
            (0..routes.groups.len()).map(|row| Classes::of(routes, channels, row, tree)).collect();
        let ports = graph.ports();
        let home = |host: &NodeId| ports[host.0 as usize].iter().filter_map(|end| routes.row(end.peer)).collect();
        let mut homes: Vec<Vec<usize>> = graph.hosts().iter().map(home).collect();
        homes.iter_mut().for_each(|rows| {
            rows.sort_unstable();
            rows.dedup();
        });
        let mut senders = vec![0_u32; classes.len()];
        homes.iter().flatten().for_each(|&home| senders[home] += 1);
        homes.extend(routes.ports.iter().map(|&(_, row, _)| vec![row as usize]));

        // Hosts of one switch mostly differ in their last hop only, and follow each other: what was done for one holds for
        // the next. Doing it twice does no harm, so no more is kept.
        let (mut alike, mut done) = (None, None);
        for (host, home) in homes.iter().enumerate() {
            let class_of = |row: usize, group: u16| classes[row].of_group.get(usize::from(group)).copied().unwrap_or(0);
            let last = routes.entries.last(host).map(|(row, group)| (row, class_of(row, group)));
            let like = Some((routes.entries.column(host).0, last, home));
            if routes.layers.is_empty() && std::mem::replace(&mut alike, like) == like {
                continue;
            }
            let class_at = |row: usize| class_of(row, routes.entries.get(row, host));
            let column: Vec<u16> = (0..classes.len()).map(class_at).collect();
            // A host sends nothing to itself, so a switch with no other host is no source of its traffic.
            let silent = |row: usize| senders[row] == 1 && home.contains(&row);
            let in_lane = |row: usize| routes.layers.get(row * routes.columns + host).copied().unwrap_or(0) == lane;
            let sends = |&row: &usize| senders[row] > 0 && !silent(row) && in_lane(row);
            let sources: Vec<usize> = (0..classes.len()).filter(sends).collect();
            let key = Some((column, sources));
            if let Some((column, sources)) = key.as_ref().filter(|_| key != done) {
                self.add(channels, &classes, column, sources.clone());
            }
            done = key;
        }
    }

    /// Adds what the traffic toward one host causes as it spreads from its sources by all choices.
    fn add(&mut self, channels: &Channels, classes: &[Classes], column: &[u16], sources: Vec<usize>) {
        let class = |row: usize| usize::from(column[row]);
        let mut met = vec![false; classes.len()];
        sources.iter().for_each(|&row| met[row] = true);
        let mut todo = sources;
        while let Some(row) = todo.pop() {
            for offset in &classes[row].offsets[class(row)] {
                let channel = channels.starts[row] + offset;
                let next = channels.to[channel];
                let words = &mut self.words[self.starts[channel]..];
                for (word, mask) in words.iter_mut().zip(classes[next].mask(class(next))) {
                    *word |= mask;
                }
                if !std::mem::replace(&mut met[next], true) {
                    todo.push(next);
                }
            }
        }
    }

    /// The first channel, at `from` or later, that `channel` waits for.
    fn next(&self, channels: &Channels, channel: usize, from: usize) -> Option<usize> {
        let out = channels.out_of(channels.to[channel]);
        let waits = |output: &usize| {
            let offset = output - out.start;
            self.words[self.starts[channel] + offset / 64] >> (offset % 64) & 1 == 1
        };
        (from.max(out.start)..out.end).find(waits)
    }

    /// Some channel that waits for itself through others: depth first, without recursion.
    fn find_cycle(&self, channels: &Channels) -> Option<usize> {
        let count = channels.from.len();
        let (mut open, mut closed) = (vec![false; count], vec![false; count]);
        for root in 0..count {
            if closed[root] {
                continue;
            }
            // The path in hand, with the place to go on from at each of its channels.
            let mut path = vec![(root, 0)];
            open[root] = true;
            while let Some((channel, from)) = path.last_mut() {
                match self.next(channels, *channel, *from) {
                    Some(next) if open[next] => return Some(next),
                    Some(next) => {
                        *from = next + 1;
                        if !closed[next] {
                            open[next] = true;
                            path.push((next, 0));
                        }
                    }
                    None => {
                        open[*channel] = false;
                        closed[*channel] = true;
                        path.pop();
                    }
                }
            }
        }
        None
    }

    /// The fewest channels from `start` back to it: breadth first.
    fn shortest_cycle(&self, channels: &Channels, start: usize) -> Vec<usize> {
        const UNKNOWN: usize = usize::MAX;
        let mut before = vec![UNKNOWN; channels.from.len()];
        let mut queue = vec![start];
        let mut head = 0;
        while before[start] == UNKNOWN {
            let Some(&channel) = queue.get(head) else { break };
            head += 1;
            let mut from = 0;
            while let Some(next) = self.next(channels, channel, from) {
                from = next + 1;
                if before[next] == UNKNOWN {
                    before[next] = channel;
                    queue.push(next);
                }
            }
        }
        let mut cycle = vec![start];
        let mut at = before[start];
        while at != start && at != UNKNOWN {
            cycle.push(at);
            at = before[at];
        }
        cycle[1..].reverse();
        cycle
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{joined, links};
    use super::*;
    use crate::describe::graph::{HostId, Role};
    use crate::describe::topology::{chain, dragonfly, fat_tree, leaf_spine, mesh, ring, single_switch, torus, tree};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// All dependencies between channels, each channel a (node, port), followed frame by frame from every host.
    fn brute(graph: &Graph, routes: &Routes) -> BTreeSet<((u32, u16), (u32, u16))> {
        let (ports, hosts) = (graph.ports(), graph.hosts());
        let mut pairs = BTreeSet::new();
        for to in 0..hosts.len() {
            for from in (0..hosts.len()).filter(|&from| from != to) {
                let mut met = BTreeSet::new();
                let mut todo = vec![(hosts[from].0, 0_u16)];
                while let Some(channel) = todo.pop() {
                    if !met.insert(channel) {
                        continue;
                    }
                    let at = ports[channel.0 as usize][usize::from(channel.1)].peer;
                    for &port in routes.ports(at, HostId(to as u32)) {
                        pairs.insert((channel, (at.0, port)));
                        todo.push((at.0, port));
                    }
                }
            }
        }
        pairs
    }

    /// Whether peeling off channels that wait for nobody leaves some.
    fn brute_cyclic(mut pairs: BTreeSet<((u32, u16), (u32, u16))>) -> bool {
        loop {
            let waiting: BTreeSet<(u32, u16)> = pairs.iter().map(|pair| pair.0).collect();
            let before = pairs.len();
            pairs.retain(|pair| waiting.contains(&pair.1));
            if pairs.len() == before {
                return before > 0;
            }
        }
    }

    fn check(graph: &Graph, routes: &Routes) -> bool {
        let pairs = brute(graph, routes);
        let cycle = dependency_cycle(graph, routes);
        if let Some(Circle { channels: cycle, .. }) = &cycle {
            let ends = cycle.iter().zip(cycle.iter().cycle().skip(1));
            for (a, b) in ends {
                assert!(pairs.contains(&((a.0.0, a.1), (b.0.0, b.1))), "{cycle:?}");
            }
        }
        assert_eq!(cycle.is_some(), brute_cyclic(pairs));
        cycle.is_some()
    }

    fn cyclic(graph: Result<Graph, crate::describe::topology::TopologyError>) -> bool {
        let graph = graph.unwrap();
        check(&graph, &Routes::shortest_paths(&graph))
    }

    #[test]
    fn trees_of_all_kinds_cannot_deadlock() {
        assert!(!cyclic(fat_tree(4, links())));
        assert!(!cyclic(leaf_spine(4, 3, 2, links())));
        assert!(!cyclic(tree(3, 2, 2, links())));
        assert!(!cyclic(chain(5, 1, links())));
        assert!(!cyclic(mesh(&[5], 1, links())));
    }

    #[test]
    fn rings_deadlock_once_a_path_has_two_hops() {
        // Three switches are one hop apart; of four, opposite ones use both ways round.
        assert!(!cyclic(ring(3, 2, links())));
        for switches in 4..9 {
            assert!(cyclic(ring(switches, 1, links())), "{switches}");
        }
        let graph = ring(5, 1, links()).unwrap();
        let cycle = dependency_cycle(&graph, &Routes::shortest_paths(&graph)).unwrap();
        let mut names: Vec<&str> =
            cycle.channels.iter().map(|(node, _)| graph.nodes[node.0 as usize].name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["sw0", "sw1", "sw2", "sw3", "sw4"]);
    }

    #[test]
    fn grids_and_dragonflies_deadlock_under_free_choice() {
        assert!(cyclic(torus(&[4, 4], 1, links())));
        assert!(cyclic(mesh(&[3, 3], 1, links())));
        assert!(cyclic(dragonfly(9, 4, 2, 2, links())));
    }

    #[test]
    fn traffic_that_nobody_sends_causes_nothing() {
        // A ring whose hosts sit on neighbours only: no frame takes two trunks.
        let mut graph = Graph::default();
        let all: Vec<NodeId> = (0..4).map(|n| graph.node(format!("sw{n}"), Role::Switch, 1)).collect();
        for (n, &switch) in all.iter().take(2).enumerate() {
            let host = graph.node(format!("h{n}"), Role::Host, 0);
            graph.cable(host, switch, links().host);
        }
        for n in 0..4 {
            graph.cable(all[n], all[(n + 1) % 4], links().trunk);
        }
        assert!(!check(&graph, &Routes::shortest_paths(&graph)));
        assert!(!check(&graph, &Routes::empty(&graph)));
    }

    #[test]
    fn the_largest_switch_is_no_exception() {
        let graph = single_switch(65_535, links().host).unwrap();
        let routes = Routes::shortest_paths(&graph);
        let switch = graph.find("sw0").unwrap();
        assert_eq!(routes.ports(switch, HostId(65_534)), [65_534]);
        assert_eq!(dependency_cycle(&graph, &routes), None);
    }

    #[test]
    fn a_fat_tree_with_failed_cables_agrees_with_brute_force() {
        let graph = fat_tree(4, links()).unwrap();
        for cable in 16..48 {
            check(&graph, &Routes::without_links(&graph, &[cable, 16 + (cable * 7) % 32]));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn random_graphs_agree_with_brute_force(
            trunks in prop::collection::vec((0_u32..6, 0_u32..6), 4..12),
            hosts in prop::collection::vec(0_u32..6, 1..7),
            edits in prop::collection::vec((0_u32..6, 0_u32..7, 0_u16..6, 0_u16..6), 0..6),
        ) {
            let graph = joined(6, hosts, trunks);
            let mut routes = Routes::shortest_paths(&graph);
            check(&graph, &routes);
            // Tables that nobody would compute: detours, loops, wrong hosts.
            for (switch, host, a, b) in edits {
                let _ = routes.set(NodeId(switch), HostId(host), &[a, b]);
            }
            check(&graph, &routes);
        }
    }
}
