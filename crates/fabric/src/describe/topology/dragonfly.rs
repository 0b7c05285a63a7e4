//! The dragonfly: groups of fully joined routers, and every pair of groups joined.

use super::{Links, Size, Sketch, TopologyError, at_least};
use crate::describe::graph::{Graph, NodeId};

/// A dragonfly as in Kim, Dally, Scott and Abts (ISCA 2008), in their letters: `groups` groups (g) of
/// `routers_per_group` routers (a), each with `hosts_per_router` hosts (p) and `global_links` cables to other groups
/// (h). Router r of group g is `g<g>r<r>`.
///
/// Within a group every router is joined to every other. Each pair of groups shares equally many global links,
/// a h / (g - 1); a group's global links, counted router by router, visit the other groups in ascending order.
///
/// # Errors
/// A parameter of zero, global links that cannot be shared evenly among the other groups, or an unsound cable.
pub fn dragonfly(
    groups: u32,
    routers_per_group: u32,
    hosts_per_router: u32,
    global_links: u32,
    links: Links,
) -> Result<Graph, TopologyError> {
    const NAME: &str = "dragonfly";
    at_least(NAME, "groups", groups, 2)?;
    at_least(NAME, "routers_per_group", routers_per_group, 1)?;
    at_least(NAME, "hosts_per_router", hosts_per_router, 1)?;
    at_least(NAME, "global_links", global_links, 1)?;
    let (g, a) = (u128::from(groups), u128::from(routers_per_group));
    let per_group = u64::from(routers_per_group) * u64::from(global_links);
    let local = a * (a - 1) / 2;
    let size = Size {
        hosts: (g * a).saturating_mul(hosts_per_router.into()),
        switches: g * a,
        trunks: g.saturating_mul(local + u128::from(per_group) / 2),
    };
    let mut sketch = Sketch::start(NAME, size, links)?;
    let others = u64::from(groups) - 1;
    if !per_group.is_multiple_of(others) {
        return Err(TopologyError::UnevenGlobalLinks { groups, global_links: per_group });
    }

    let mut routers: Vec<Vec<NodeId>> = Vec::new();
    for group in 0..groups {
        let members: Vec<NodeId> =
            (0..routers_per_group).map(|r| sketch.switch(format!("g{group}r{r}"), 1, hosts_per_router)).collect();
        for (i, &router) in members.iter().enumerate() {
            for &other in &members[i + 1..] {
                sketch.trunk(router, other);
            }
        }
        routers.push(members);
    }
    // The n-th global link of a group leaves from router n / h. Round after round they visit all other groups.
    let owner = |members: &[NodeId], link: u64| members[(link / u64::from(global_links)) as usize];
    for round in 0..per_group / others {
        for low in 0..routers.len() {
            for high in low + 1..routers.len() {
                let from = owner(&routers[low], round * others + high as u64 - 1);
                let to = owner(&routers[high], round * others + low as u64);
                sketch.trunk(from, to);
            }
        }
    }
    sketch.finish()
}

/// Whether a dragonfly's channels are loaded evenly under uniform traffic: a = 2 p = 2 h in the letters of the paper.
#[must_use]
pub fn dragonfly_is_balanced(routers_per_group: u32, hosts_per_router: u32, global_links: u32) -> bool {
    let half = |n: u32| 2 * u64::from(n) == u64::from(routers_per_group);
    half(hosts_per_router) && half(global_links)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{census, links};
    use super::*;
    use std::collections::BTreeMap;

    /// How many cables each pair of groups shares, and global links per router.
    fn global(graph: &Graph) -> (BTreeMap<(u32, u32), u32>, BTreeMap<u32, u32>) {
        let group = |node: NodeId| -> Option<u32> {
            graph.nodes[node.0 as usize].name.strip_prefix('g')?.split_once('r').map(|(g, _)| g.parse().unwrap())
        };
        let (mut pairs, mut routers) = (BTreeMap::new(), BTreeMap::new());
        for cable in &graph.cables {
            if let (Some(a), Some(b)) = (group(cable.a), group(cable.b))
                && a != b
            {
                *pairs.entry((a.min(b), a.max(b))).or_default() += 1;
                *routers.entry(cable.a.0).or_default() += 1;
                *routers.entry(cable.b.0).or_default() += 1;
            }
        }
        (pairs, routers)
    }

    #[test]
    fn the_example_of_the_paper_has_72_hosts_in_9_groups() {
        let graph = dragonfly(9, 4, 2, 2, links()).unwrap();
        assert_eq!(census(&graph), (72, 36));
        let (pairs, routers) = global(&graph);
        assert_eq!(pairs.len(), 36);
        assert!(pairs.values().all(|&cables| cables == 1));
        assert_eq!(routers.len(), 36);
        assert!(routers.values().all(|&cables| cables == 2));
        assert!(dragonfly_is_balanced(4, 2, 2));
        assert!(!dragonfly_is_balanced(4, 2, 1));
    }

    #[test]
    fn fewer_groups_share_more_cables_each() {
        let graph = dragonfly(5, 4, 1, 2, links()).unwrap();
        let (pairs, routers) = global(&graph);
        assert_eq!(pairs.len(), 10);
        assert!(pairs.values().all(|&cables| cables == 2));
        assert!(routers.values().all(|&cables| cables == 2));
        assert_eq!(graph.cables.len(), 20 + 5 * 6 + 20);
    }

    #[test]
    fn uneven_global_links_are_refused() {
        let uneven = Err(TopologyError::UnevenGlobalLinks { groups: 6, global_links: 8 });
        assert_eq!(dragonfly(6, 4, 2, 2, links()), uneven);
        assert!(dragonfly(10, 4, 2, 2, links()).is_err());
        assert!(dragonfly(1, 4, 2, 2, links()).is_err());
    }
}
