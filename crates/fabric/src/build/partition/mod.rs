//! Which shard of a parallel run simulates which node.
//!
//! A partition changes how fast a run is, never what it computes. One rule binds them all: shards look ahead by the
//! latency of the cables between them, so a cable of latency zero is never cut, whatever was asked for.

mod natural;

use std::fmt;

use crate::describe::graph::{Graph, Role};
use crate::describe::routing::{flow_entropy, pick};
use units::Span;

/// How to share out the nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Partition {
    /// All in one shard.
    One,
    /// Hosts with their switch, even work, few cables between shards.
    #[default]
    Natural,
    /// By lot; slow, and therefore a good test that results do not depend on the partition.
    Random {
        /// Another seed is another lot.
        seed: u64,
    },
    /// Every node on its own, however many shards are wanted.
    PerNode,
    /// The shard of each node, in node order.
    Explicit(Vec<u32>),
}

/// Why a partition does not fit a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionError {
    /// An explicit partition of another number of nodes.
    Length {
        /// Entries given.
        given: usize,
        /// Nodes of the graph.
        nodes: usize,
    },
}

impl fmt::Display for PartitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Length { given, nodes } = self;
        write!(f, "the explicit partition has {given} entries for {nodes} nodes; give each node one, in node order")
    }
}

impl std::error::Error for PartitionError {}

impl Partition {
    /// Whether it can be applied to that graph as it was meant.
    ///
    /// # Errors
    /// An explicit partition of the wrong length.
    pub fn check(&self, graph: &Graph) -> Result<(), PartitionError> {
        match self {
            Self::Explicit(shards) if shards.len() != graph.nodes.len() => {
                Err(PartitionError::Length { given: shards.len(), nodes: graph.nodes.len() })
            }
            _ => Ok(()),
        }
    }
}

/// The shard of each node, numbered without gaps from 0 in the order of first appearance.
///
/// `shards_wanted` is the most that [`Partition::Natural`] and [`Partition::Random`] make; the former makes fewer only
/// if there is less to share out. Nodes joined by cables of latency zero stay together, under an explicit partition in
/// the shard of the first of them. Where an explicit partition is too short, its missing nodes go to shard 0:
/// [`Partition::check`] first.
///
/// # Panics
/// If a cable ends at a node that does not exist, which [`Graph::validate`] refuses.
#[must_use]
pub fn assign(graph: &Graph, partition: &Partition, shards_wanted: usize) -> Vec<u32> {
    let mut clusters = Clusters::new(graph.nodes.len());
    for cable in graph.cables.iter().filter(|cable| cable.link.latency == Span::ZERO) {
        clusters.join(cable.a.0 as usize, cable.b.0 as usize);
    }
    let roots = clusters.roots();
    let shard_of: Vec<u32> = match partition {
        Partition::One => vec![0; roots.len()],
        Partition::PerNode => roots.iter().map(|&root| root as u32).collect(),
        Partition::Random { seed } => {
            let wanted = shards_wanted.clamp(1, 1 << 31);
            roots.iter().map(|&root| pick(flow_entropy(root as u32, 0, 0, *seed), 0, wanted) as u32).collect()
        }
        Partition::Explicit(shards) => roots.iter().map(|&root| shards.get(root).copied().unwrap_or(0)).collect(),
        Partition::Natural => {
            let wanted = shards_wanted.clamp(1, graph.nodes.len().max(1));
            natural::share(graph, &at_home(graph, clusters, wanted).roots(), wanted)
        }
    };
    renumber(shard_of)
}

/// Joins hosts to their switches: to all of them, or to their first ones only if hosts with several links would make
/// clusters larger than a shard.
fn at_home(graph: &Graph, clusters: Clusters, shards: usize) -> Clusters {
    let joined = |first_only: bool| {
        let mut joined = clusters.clone();
        let mut met = vec![false; graph.nodes.len()];
        for cable in &graph.cables {
            let ends = [cable.a.0 as usize, cable.b.0 as usize];
            let hosts = || ends.into_iter().filter(|&end| graph.nodes[end].role == Role::Host);
            let again = hosts().any(|host| std::mem::replace(&mut met[host], true));
            if hosts().next().is_some() && !(again && first_only) {
                joined.join(ends[0], ends[1]);
            }
        }
        joined
    };
    let mut all = joined(false);
    if graph.multihomed().next().is_none() {
        return all;
    }
    let mut sizes = vec![0; graph.nodes.len()];
    all.roots().into_iter().for_each(|root| sizes[root] += 1);
    let too_large = sizes.iter().any(|&size| size > graph.nodes.len().div_ceil(shards));
    if too_large { joined(true) } else { all }
}

/// Numbers from 0 in the order of first appearance.
fn renumber(shards: Vec<u32>) -> Vec<u32> {
    let mut names = std::collections::BTreeMap::new();
    shards
        .into_iter()
        .map(|shard| {
            let next = names.len() as u32;
            *names.entry(shard).or_insert(next)
        })
        .collect()
}

/// Nodes that must stay together: a forest whose roots are the first nodes of their clusters.
#[derive(Clone)]
struct Clusters {
    parent: Vec<usize>,
}

impl Clusters {
    fn new(nodes: usize) -> Clusters {
        Clusters { parent: (0..nodes).collect() }
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }

    /// Of each node the first of its cluster.
    fn roots(&mut self) -> Vec<usize> {
        (0..self.parent.len()).map(|node| self.root(node)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::graph::{LinkSpec, NodeId};
    use crate::describe::topology::{Links, fat_tree, ring};
    use proptest::prelude::*;
    use units::Rate;

    pub(super) fn link(latency: Span) -> LinkSpec {
        LinkSpec { rate: Rate::from_gigabits(10), latency, bit_error_rate: 0.0 }
    }

    pub(super) fn links() -> Links {
        Links::same(link(Span::from_nanos(500)))
    }

    fn all_kinds(seed: u64, explicit: Vec<u32>) -> [Partition; 5] {
        use Partition::*;
        [One, Natural, Random { seed }, PerNode, Explicit(explicit)]
    }

    #[test]
    fn one_is_one_and_per_node_is_each() {
        let graph = fat_tree(4, links()).unwrap();
        assert_eq!(assign(&graph, &Partition::One, 4), vec![0; 36]);
        assert_eq!(assign(&graph, &Partition::PerNode, 1), (0..36).collect::<Vec<u32>>());
        assert_eq!(assign(&graph, &Partition::Natural, 1), vec![0; 36]);
        assert_eq!(assign(&graph, &Partition::Natural, 0), vec![0; 36]);
        assert_eq!(assign(&Graph::default(), &Partition::Natural, 3), Vec::<u32>::new());
    }

    #[test]
    fn lots_differ_by_seed_and_use_every_shard() {
        let graph = fat_tree(8, links()).unwrap();
        let lot = |seed| assign(&graph, &Partition::Random { seed }, 4);
        assert_ne!(lot(1), lot(2));
        assert_eq!(lot(1), lot(1));
        assert!((0..4).all(|shard| lot(1).iter().filter(|&&s| s == shard).count() > 20));
    }

    #[test]
    fn an_explicit_partition_is_kept_but_renumbered() {
        let graph = ring(3, 1, links()).unwrap();
        let explicit = Partition::Explicit(vec![7, 7, 2, 2, 7, 9]);
        assert_eq!(explicit.check(&graph), Ok(()));
        assert_eq!(assign(&graph, &explicit, 1), [0, 0, 1, 1, 0, 2]);
        let short = Partition::Explicit(vec![7]);
        assert_eq!(short.check(&graph), Err(PartitionError::Length { given: 1, nodes: 6 }));
        assert_eq!(assign(&graph, &short, 1), [0, 1, 1, 1, 1, 1]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn every_node_has_a_shard_and_zero_latency_is_never_cut(
            cables in prop::collection::vec((0_u32..20, 0_u32..20, 0_u64..3), 0..40),
            is_host in prop::collection::vec(prop::bool::weighted(0.3), 20),
            explicit in prop::collection::vec(0_u32..100, 0..25),
            wanted in 0_usize..9,
            seed: u64,
        ) {
            let mut graph = Graph::default();
            for (number, &host) in is_host.iter().enumerate() {
                graph.node(format!("n{number}"), if host { Role::Host } else { Role::Switch }, u16::from(!host));
            }
            for &(a, b, latency) in cables.iter().filter(|(a, b, _)| a != b) {
                graph.cable(NodeId(a), NodeId(b), link(Span::from_nanos(latency)));
            }
            for partition in all_kinds(seed, explicit) {
                let shards = assign(&graph, &partition, wanted);
                prop_assert_eq!(shards.len(), 20);
                let most = shards.iter().max().copied().unwrap_or(0);
                prop_assert!((0..=most).all(|shard| shards.contains(&shard)), "{:?}", shards);
                if matches!(partition, Partition::Natural | Partition::Random { .. }) {
                    prop_assert!((most as usize) < wanted.max(1));
                }
                for cable in &graph.cables {
                    let (a, b) = (shards[cable.a.0 as usize], shards[cable.b.0 as usize]);
                    prop_assert!(a == b || cable.link.latency > Span::ZERO, "{:?}", partition);
                }
            }
        }
    }
}
