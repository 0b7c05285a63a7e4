//! Layered networks: trees, leaf-spine and fat-tree.

use super::{Links, Size, Sketch, TopologyError, at_least};
use crate::describe::graph::{Graph, NodeId};

/// A tree of `depth` layers of switches in which every inner switch has `fanout` children and every leaf has hosts.
///
/// Leaves are `leaf0`, ..., the switches of layer n between are `tier<n>s0`, ..., the top is `root`. A subtree is
/// contiguous in node order and ends with its own root.
///
/// # Errors
/// A depth, fanout or number of hosts of zero, or a cable that is unsound.
pub fn tree(depth: u32, fanout: u32, hosts_per_leaf: u32, links: Links) -> Result<Graph, TopologyError> {
    const NAME: &str = "tree";
    at_least(NAME, "depth", depth, 1)?;
    at_least(NAME, "fanout", fanout, 1)?;
    at_least(NAME, "hosts_per_leaf", hosts_per_leaf, 1)?;
    let leaves = u128::from(fanout).saturating_pow(depth - 1);
    // Switches of a full tree; a fanout of one is a pole.
    let switches = match fanout {
        1 => u128::from(depth),
        _ => (leaves.saturating_mul(fanout.into()) - 1) / (u128::from(fanout) - 1),
    };
    let size = Size { hosts: leaves.saturating_mul(hosts_per_leaf.into()), switches, trunks: switches };
    let mut sketch = Sketch::start(NAME, size, links)?;

    // Finished subtrees that still wait for their parent, one list per layer.
    let mut waiting: Vec<Vec<NodeId>> = vec![Vec::new(); depth as usize + 1];
    let mut named = vec![0_u32; depth as usize + 1];
    for _ in 0..leaves {
        let mut layer = 1;
        let mut children = Vec::new();
        loop {
            let number = named[layer];
            named[layer] += 1;
            let name = match layer {
                1 => format!("leaf{number}"),
                _ if layer == depth as usize => "root".into(),
                _ => format!("tier{layer}s{number}"),
            };
            let hosts = if layer == 1 { hosts_per_leaf } else { 0 };
            let height = u16::try_from(layer).unwrap_or(u16::MAX);
            let switch = sketch.switch(name, height, hosts);
            for child in children {
                sketch.trunk(child, switch);
            }
            waiting[layer].push(switch);
            if waiting[layer].len() < fanout as usize || layer == depth as usize {
                break;
            }
            children = std::mem::take(&mut waiting[layer]);
            layer += 1;
        }
    }
    sketch.finish()
}

/// A two-tier Clos network: every `leaf` is joined to every `spine` by one trunk, hosts hang on the leaves.
///
/// # Errors
/// No leaf, spine or host, or a cable that is unsound.
pub fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32, links: Links) -> Result<Graph, TopologyError> {
    const NAME: &str = "leaf_spine";
    at_least(NAME, "leaves", leaves, 1)?;
    at_least(NAME, "spines", spines, 1)?;
    at_least(NAME, "hosts_per_leaf", hosts_per_leaf, 1)?;
    let size = Size {
        hosts: u128::from(leaves) * u128::from(hosts_per_leaf),
        switches: u128::from(leaves) + u128::from(spines),
        trunks: u128::from(leaves) * u128::from(spines),
    };
    let mut sketch = Sketch::start(NAME, size, links)?;
    let bottom: Vec<NodeId> = (0..leaves).map(|i| sketch.switch(format!("leaf{i}"), 1, hosts_per_leaf)).collect();
    let top: Vec<NodeId> = (0..spines).map(|i| sketch.switch(format!("spine{i}"), 2, 0)).collect();
    for &leaf in &bottom {
        for &spine in &top {
            sketch.trunk(leaf, spine);
        }
    }
    sketch.finish()
}

/// The k-ary fat-tree of Al-Fares, Loukissas and Vahdat (SIGCOMM 2008), of switches with `k` ports each: k pods of k/2
/// `edge` and k/2 `agg` switches, (k/2)^2 `core` switches, k^3/4 hosts. The i-th aggregation switch of every pod is
/// joined to the i-th run of k/2 cores.
///
/// # Errors
/// An odd `k` or one below two, or a cable that is unsound.
pub fn fat_tree(k: u32, links: Links) -> Result<Graph, TopologyError> {
    const NAME: &str = "fat_tree";
    at_least(NAME, "k", k, 2)?;
    if !k.is_multiple_of(2) {
        return Err(TopologyError::OddPorts { given: k });
    }
    let half = k / 2;
    let ports = u128::from(k);
    let hosts = ports * ports * ports / 4;
    let size = Size { hosts, switches: 5 * ports * ports / 4, trunks: 2 * hosts };
    let mut sketch = Sketch::start(NAME, size, links)?;

    let mut upper = Vec::new();
    for pod in 0..k {
        let row = pod * half..(pod + 1) * half;
        let edges: Vec<NodeId> = row.clone().map(|i| sketch.switch(format!("edge{i}"), 1, half)).collect();
        let aggs: Vec<NodeId> = row.map(|i| sketch.switch(format!("agg{i}"), 2, 0)).collect();
        for &edge in &edges {
            for &agg in &aggs {
                sketch.trunk(edge, agg);
            }
        }
        upper.push(aggs);
    }
    let cores: Vec<NodeId> = (0..half * half).map(|i| sketch.switch(format!("core{i}"), 3, 0)).collect();
    for aggs in &upper {
        for (&agg, run) in aggs.iter().zip(cores.chunks(half as usize)) {
            for &core in run {
                sketch.trunk(agg, core);
            }
        }
    }
    sketch.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{census, links};
    use super::*;
    use crate::describe::graph::Role;

    #[test]
    fn a_fat_tree_has_the_published_numbers() {
        for k in [2_usize, 4, 6, 8, 16] {
            let graph = fat_tree(k as u32, links()).unwrap();
            assert_eq!(census(&graph), (k * k * k / 4, 5 * k * k / 4));
            for (node, ports) in graph.nodes.iter().zip(graph.ports()) {
                assert_eq!(ports.len(), if node.role == Role::Host { 1 } else { k }, "{}", node.name);
            }
        }
    }

    #[test]
    fn a_core_meets_every_pod_once_in_order() {
        let graph = fat_tree(4, links()).unwrap();
        let ports = graph.ports();
        let names = |node: &str| -> Vec<String> {
            let node = graph.find(node).unwrap();
            ports[node.0 as usize].iter().map(|end| graph.nodes[end.peer.0 as usize].name.clone()).collect()
        };
        assert_eq!(names("core3"), ["agg1", "agg3", "agg5", "agg7"]);
        assert_eq!(names("agg2"), ["edge2", "edge3", "core0", "core1"]);
        assert_eq!(names("edge2"), ["h4", "h5", "agg2", "agg3"]);
    }

    #[test]
    fn an_odd_fat_tree_is_refused() {
        assert_eq!(fat_tree(5, links()), Err(TopologyError::OddPorts { given: 5 }));
        assert!(fat_tree(0, links()).is_err());
    }

    #[test]
    fn a_tree_counts_as_a_geometric_series() {
        let graph = tree(3, 3, 2, links()).unwrap();
        assert_eq!(census(&graph), (18, 1 + 3 + 9));
        assert_eq!(graph.nodes.last().unwrap().name, "root");
        assert_eq!(graph.nodes.last().unwrap().layer, 3);
        let middle = graph.find("tier2s1").unwrap();
        let peers: Vec<&str> =
            graph.ports()[middle.0 as usize].iter().map(|end| graph.nodes[end.peer.0 as usize].name.as_str()).collect();
        assert_eq!(peers, ["leaf3", "leaf4", "leaf5", "root"]);
    }

    #[test]
    fn degenerate_trees_are_trees() {
        assert_eq!(census(&tree(1, 7, 3, links()).unwrap()), (3, 1));
        assert_eq!(census(&tree(5, 1, 2, links()).unwrap()), (2, 5));
        assert!(tree(0, 2, 2, links()).is_err());
    }

    #[test]
    fn leaves_meet_all_spines() {
        let graph = leaf_spine(4, 3, 2, links()).unwrap();
        assert_eq!(census(&graph), (8, 7));
        let spine = graph.find("spine2").unwrap();
        let ports = graph.ports();
        assert_eq!(ports[spine.0 as usize].len(), 4);
        let leaf = graph.find("leaf1").unwrap();
        assert_eq!(ports[leaf.0 as usize][4].peer, spine);
    }
}
