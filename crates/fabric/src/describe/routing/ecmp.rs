//! Which of several equally good ports a flow takes.
//!
//! A flow carries 32 bits of entropy, a switch has a salt, and the two alone decide. So a flow keeps its path, and the
//! choices of consecutive switches are independent: without the salt, all flows that meet at a second-tier switch
//! would have made the same first choice and would make the same second one (polarisation).

use crate::describe::graph::NodeId;

/// The index, below `n`, that a flow of that entropy takes at a switch of that salt; 0 if `n` is 0.
///
/// Two multiplications mix the 32 bits (constants of Wellons' lowbias32), one more scales them to the range: the high
/// bits decide, and no division is needed. A range of n is uneven by less than n parts in 2^32.
#[inline]
#[must_use]
pub const fn pick(entropy: u32, salt: u32, n: usize) -> usize {
    let mut x = entropy ^ salt;
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    ((x as u64 * n as u64) >> 32) as usize
}

/// The salt of a switch.
#[must_use]
pub const fn salt(switch: NodeId) -> u32 {
    (mix(switch.0 as u64) >> 32) as u32
}

/// The entropy of flow number `flow` from `src` to `dst`; another seed deals all flows anew.
#[must_use]
pub const fn flow_entropy(src: u32, dst: u32, flow: u32, seed: u64) -> u32 {
    let pair = (src as u64) << 32 | dst as u64;
    (mix(mix(mix(seed) ^ pair) ^ flow as u64) >> 32) as u32
}

/// The first entropy, at that one or after it, that chooses one of so many trees: what [`pick`] gives without a salt.
///
/// # Panics
/// If there is no such tree.
#[must_use]
pub fn tree_entropy(from: u32, tree: usize, trees: usize) -> u32 {
    assert!(tree < trees, "tree {tree} of {trees}");
    (0..=u32::MAX).map(|step| from.wrapping_add(step)).find(|&entropy| pick(entropy, 0, trees) == tree).unwrap_or(from)
}

/// One step of the SplitMix64 generator: every input bit reaches every output bit.
const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::Routes;
    use super::super::tests::links;
    use super::*;
    use crate::describe::graph::{Graph, HostId};
    use crate::describe::topology::fat_tree;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Pearson's statistic against equal cells.
    fn chi_square(counts: &[u32]) -> f64 {
        let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum()
    }

    proptest! {
        #[test]
        fn a_choice_is_in_range(entropy: u32, salt: u32, n in 1_usize..70_000) {
            prop_assert!(pick(entropy, salt, n) < n);
        }
    }

    #[test]
    fn nothing_to_choose_from_is_no_reason_to_panic() {
        assert_eq!(pick(u32::MAX, 0, 0), 0);
        assert_eq!(pick(u32::MAX, 0, 1), 0);
    }

    #[test]
    fn any_tree_can_be_asked_for() {
        for tree in 0..16 {
            assert_eq!(pick(tree_entropy(u32::MAX - 3, tree, 16), 0, 16), tree);
        }
        assert_eq!(tree_entropy(77, 0, 1), 77);
    }

    #[test]
    fn neighbouring_flows_spread_evenly() {
        for n in [2_usize, 3, 4, 7, 16] {
            let mut counts = vec![0; n];
            for flow in 0..10_000 {
                counts[pick(flow_entropy(1, 2, flow, 0), salt(NodeId(5)), n)] += 1;
            }
            // 15 degrees of freedom exceed 44 once in ten thousand; fewer degrees more rarely.
            assert!(chi_square(&counts) < 44.0, "{n}: {counts:?}");
            // Even raw sequence numbers, without the help of flow_entropy.
            let mut counts = vec![0; n];
            (0..10_000).for_each(|raw| counts[pick(raw, salt(NodeId(5)), n)] += 1);
            assert!(chi_square(&counts) < 44.0, "{n}: {counts:?}");
        }
    }

    #[test]
    fn salts_and_flows_differ() {
        let mut salts: Vec<u32> = (0..10_000).map(|node| salt(NodeId(node))).collect();
        salts.sort_unstable();
        salts.dedup();
        assert!(salts.len() > 9_990);
        let base = flow_entropy(1, 2, 3, 4);
        assert!(
            [flow_entropy(2, 1, 3, 4), flow_entropy(1, 2, 4, 4), flow_entropy(1, 2, 3, 5)].iter().all(|&e| e != base)
        );
    }

    /// How often each (switch, port) upwards is taken from the first hosts to the last pod.
    fn uplinks(graph: &Graph, routes: &Routes, salt: impl Fn(NodeId) -> u32) -> BTreeMap<(u32, u16), u32> {
        let (ports, hosts) = (graph.ports(), graph.hosts());
        let mut taken = BTreeMap::new();
        for source in 0..16_u32 {
            for flow in 0..4_000 {
                let target = HostId(112 + flow % 16);
                let entropy = flow_entropy(source, target.0, flow, 7);
                let mut at = ports[hosts[source as usize].0 as usize][0].peer;
                while graph.nodes[at.0 as usize].layer < 3 {
                    let choice = routes.ports(at, target);
                    let port = choice[pick(entropy, salt(at), choice.len())];
                    *taken.entry((at.0, port)).or_default() += 1;
                    at = ports[at.0 as usize][usize::from(port)].peer;
                }
            }
        }
        taken
    }

    #[test]
    fn both_tiers_of_a_fat_tree_are_loaded_evenly() {
        let graph = fat_tree(8, links()).unwrap();
        let routes = Routes::shortest_paths(&graph);
        let by_tier = |taken: &BTreeMap<(u32, u16), u32>, layer: u16| -> Vec<u32> {
            let on_tier = |node: u32| graph.nodes[node as usize].layer == layer;
            taken.iter().filter(|((node, _), _)| on_tier(*node)).map(|(_, &count)| count).collect()
        };
        let salted = uplinks(&graph, &routes, salt);
        for tier in [1, 2] {
            // Four switches of four uplinks, 4000 flows each on average; all must be in use and even.
            let counts = by_tier(&salted, tier);
            assert_eq!(counts.len(), 16);
            assert!(chi_square(&counts) < 44.0, "tier {tier}: {counts:?}");
        }
        // The test can fail: with one salt for all, the second tier repeats the choice of the first.
        let unsalted = uplinks(&graph, &routes, |_| 0);
        assert_eq!(by_tier(&unsalted, 1).len(), 16);
        assert_eq!(by_tier(&unsalted, 2).len(), 4);
    }
}
