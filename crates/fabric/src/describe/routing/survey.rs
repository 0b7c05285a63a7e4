//! What a routing makes of a network: links used, length of paths, lanes.

use super::Routes;
use super::switches::{FAR, Switches};
use crate::describe::graph::{Graph, HostId};

/// What tables amount to, over all pairs of hosts on different switches, with every choice that is left open equally
/// likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Survey {
    /// Ordered pairs of hosts on different switches that cables join.
    pub pairs: u64,
    /// Those of them that the tables do not lead from one to the other.
    pub unreached: u64,
    /// Cables between switches.
    pub trunks: u32,
    /// Those of them that some pair uses, in either direction.
    pub used: u32,
    /// Directions of such cables that some pair uses.
    pub used_channels: u32,
    /// Mean number of trunks on a path.
    pub hops: f64,
    /// The same for shortest paths.
    pub shortest: f64,
    /// The most trunks on a path.
    pub longest: u32,
    /// The most that a path is longer than the shortest, as a ratio.
    pub stretch: f64,
    /// Mean number of pairs over a channel, of those in use, and the most.
    pub load: (f64, f64),
    /// Lanes.
    pub lanes: u8,
    /// Trees that a source may choose among; 0 where switches choose.
    pub trees: u8,
}

/// The mean and the greatest number of trunks from every row to a host; `None` where a choice does not arrive.
type Lengths = Vec<Option<(f64, u32)>>;

impl Routes {
    /// See [`Survey`].
    ///
    /// # Panics
    /// If the graph is not the one that the routes were made for.
    #[must_use]
    pub fn survey(&self, graph: &Graph) -> Survey {
        let switches = Switches::of(graph, self, &[]);
        let rows = switches.rows();
        let mut senders = vec![0_u64; rows];
        for host in 0..self.hosts {
            switches.rows_of(host).into_iter().for_each(|home| senders[home as usize] += 1);
        }
        let mut survey = Survey {
            pairs: 0,
            unreached: 0,
            trunks: (switches.channels() / 2) as u32,
            used: 0,
            used_channels: 0,
            hops: 0.0,
            shortest: 0.0,
            longest: 0,
            stretch: 1.0,
            load: (0.0, 0.0),
            lanes: self.lanes(),
            trees: self.trees,
        };
        let mut carried = vec![0.0_f64; switches.channels()];
        let mut reached = 0_u64;
        let mut distances = std::collections::BTreeMap::new();
        // A host whose ports have addresses is reached by these.
        let is_whole = |host: &usize| *host >= self.hosts || self.addresses(HostId(*host as u32)).1 == 0;
        for host in (0..self.columns).filter(is_whole) {
            let homes = switches.rows_of(host);
            if homes.is_empty() {
                continue;
            }
            let distance: &Vec<u32> = distances.entry(homes.clone()).or_insert_with(|| switches.distances(&homes));
            let away = |row: &&u32| !homes.contains(row) && distance[**row as usize] != FAR;
            for tree in 0..usize::from(self.trees.max(1)) {
                let weight = 1.0 / f64::from(self.trees.max(1));
                let choices = self.choices(&switches, host, tree, &homes);
                let Some(order) = order(&switches, &choices, &homes) else { continue };
                let lengths = lengths(&switches, &choices, &order, &homes);
                let mut passing = vec![0.0; rows];
                for &row in switches.edges.iter().filter(away) {
                    if let Some((mean, most)) = lengths[row as usize] {
                        let count = senders[row as usize] as f64 * weight;
                        survey.hops += mean * count;
                        survey.shortest += f64::from(distance[row as usize]) * count;
                        survey.longest = survey.longest.max(most);
                        survey.stretch = survey.stretch.max(f64::from(most) / f64::from(distance[row as usize]));
                        passing[row as usize] += count;
                    }
                }
                // The farthest come first.
                for &row in order.iter().rev() {
                    let list = &choices[row as usize];
                    let share = passing[row as usize] / list.len().max(1) as f64;
                    if share > 0.0 {
                        for &channel in list {
                            carried[channel as usize] += share;
                            passing[switches.far(channel) as usize] += share;
                        }
                    }
                }
                if tree == 0 {
                    for &row in switches.edges.iter().filter(away) {
                        survey.pairs += senders[row as usize];
                        let arrives = lengths[row as usize].is_some();
                        reached += if arrives { senders[row as usize] } else { 0 };
                    }
                }
            }
        }
        survey.unreached = survey.pairs - reached;
        let total = (reached as f64).max(1.0);
        (survey.hops, survey.shortest) = (survey.hops / total, survey.shortest / total);
        let mut cables = vec![false; graph.cables.len()];
        for row in 0..rows as u32 {
            for trunk in switches.trunks(row) {
                let channel = switches.channel(row, trunk.port);
                let load = channel.map_or(0.0, |channel| carried[channel as usize]);
                if load > 0.0 {
                    cables[trunk.cable as usize] = true;
                    survey.used_channels += 1;
                    survey.load = (survey.load.0 + load, survey.load.1.max(load));
                }
            }
        }
        survey.load.0 /= f64::from(survey.used_channels.max(1));
        survey.used = cables.iter().filter(|&&used| used).count() as u32;
        survey
    }

    /// The channels a frame for a host may take at each row, in one of the trees where there are any.
    fn choices(&self, switches: &Switches, host: usize, tree: usize, homes: &[u32]) -> Vec<Vec<u32>> {
        (0..switches.rows() as u32)
            .map(|row| {
                if homes.contains(&row) {
                    return Vec::new();
                }
                let ports = self.groups[row as usize].ports(self.entries.get(row as usize, host));
                let ports = if self.trees > 0 { ports.get(tree..=tree).unwrap_or(&[]) } else { ports };
                ports.iter().filter_map(|&port| switches.channel(row, port)).collect()
            })
            .collect()
    }

    /// How many switches, and how many entries of their tables, differ from those of other routes of the same graph.
    #[must_use]
    pub fn difference(&self, other: &Routes) -> (usize, usize) {
        let mut changed = (0, 0);
        for (row, (mine, theirs)) in self.groups.iter().zip(&other.groups).enumerate() {
            let hosts = 0..self.columns.min(other.columns);
            let pairs = hosts.map(|host| (self.entries.get(row, host), other.entries.get(row, host)));
            let differ = pairs.filter(|&(a, b)| mine.ports(a) != theirs.ports(b)).count();
            changed = (changed.0 + usize::from(differ > 0), changed.1 + differ);
        }
        changed
    }
}

/// The rows that are led to one of `homes`, each after all it may lead to; `None` if a choice leads in a circle.
fn order(switches: &Switches, choices: &[Vec<u32>], homes: &[u32]) -> Option<Vec<u32>> {
    // How many of a row's choices have not been placed yet.
    let mut left: Vec<usize> = choices.iter().map(Vec::len).collect();
    let mut sources: Vec<Vec<u32>> = vec![Vec::new(); choices.len()];
    for (row, list) in (0_u32..).zip(choices) {
        list.iter().for_each(|&channel| sources[switches.far(channel) as usize].push(row));
    }
    let mut order = homes.to_vec();
    let mut head = 0;
    while let Some(&row) = order.get(head) {
        head += 1;
        for &source in &sources[row as usize] {
            left[source as usize] -= 1;
            if left[source as usize] == 0 {
                order.push(source);
            }
        }
    }
    (order.len() <= choices.len()).then_some(order)
}

fn lengths(switches: &Switches, choices: &[Vec<u32>], order: &[u32], homes: &[u32]) -> Lengths {
    let mut lengths: Lengths = vec![None; choices.len()];
    for &row in order {
        if homes.contains(&row) {
            lengths[row as usize] = Some((0.0, 0));
            continue;
        }
        let ways = choices[row as usize].iter().map(|&channel| lengths[switches.far(channel) as usize]);
        let ways: Option<Vec<(f64, u32)>> = ways.collect();
        lengths[row as usize] = ways.filter(|ways| !ways.is_empty()).map(|ways| {
            let mean = ways.iter().map(|way| way.0).sum::<f64>() / ways.len() as f64;
            (mean + 1.0, ways.iter().map(|way| way.1).max().unwrap_or(0) + 1)
        });
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::super::tests::links;
    use super::super::{Bridges, Routing};
    use super::*;
    use crate::describe::graph::NodeId;
    use crate::describe::topology::{leaf_spine, ring};

    #[test]
    fn a_leaf_and_spine_by_every_routing() {
        let graph = leaf_spine(4, 3, 2, links()).unwrap();
        let bridges = Bridges::plain(&graph);
        let spines: Vec<NodeId> = (0..3).map(|n| graph.find(&format!("spine{n}")).unwrap()).collect();
        let survey = |routing: &Routing| routing.compute(&graph, &[]).unwrap().survey(&graph);
        let all = survey(&Routing::Shortest);
        assert_eq!((all.pairs, all.unreached, all.trunks, all.used, all.used_channels), (48, 0, 12, 12, 24));
        assert_eq!((all.hops, all.shortest, all.longest, all.stretch), (2.0, 2.0, 2, 1.0));
        // 48 pairs of two trunks each over 24 channels.
        assert_eq!(all.load, (4.0, 4.0));
        let tree = survey(&Routing::SpanningTrees { roots: vec![spines[1]], bridges: bridges.clone() });
        assert_eq!((tree.used, tree.hops, tree.load), (4, 2.0, (12.0, 12.0)));
        let trees = survey(&Routing::SpanningTrees { roots: spines, bridges: bridges.clone() });
        assert_eq!((trees.used, trees.trees, trees.load), (12, 3, (4.0, 4.0)));
        let roots = vec![graph.find("leaf0").unwrap()];
        let leaf = survey(&Routing::SpanningTrees { roots, bridges: bridges.clone() });
        // Below the root all other leaves hang on the first spine; nobody is behind the other two.
        assert_eq!((leaf.used, leaf.hops), (4, 2.0));
        let spb = survey(&Routing::Spb { bridges, trees: 16 });
        assert_eq!((spb.used, spb.hops, spb.trees), (12, 2.0, 16));
    }

    #[test]
    fn a_ring_as_a_tree_is_longer() {
        let graph = ring(6, 1, links()).unwrap();
        let routing =
            Routing::SpanningTrees { roots: vec![graph.find("sw0").unwrap()], bridges: Bridges::plain(&graph) };
        let survey = routing.compute(&graph, &[]).unwrap().survey(&graph);
        // Neighbours across the blocked trunk are five hops apart; the ring is a chain of six: mean 35/15.
        assert_eq!((survey.used, survey.trunks, survey.longest, survey.stretch), (5, 6, 5, 5.0));
        assert!((survey.hops - 35.0 / 15.0).abs() < 1e-12 && (survey.shortest - 1.8).abs() < 1e-12);
    }

    #[test]
    fn what_leads_nowhere_is_counted() {
        let graph = ring(3, 1, links()).unwrap();
        let survey = Routes::empty(&graph).survey(&graph);
        assert_eq!((survey.pairs, survey.unreached, survey.used), (6, 6, 0));
    }
}
