//! One shortest path to each destination, its lane chosen so that nobody waits in a circle: LASH and DFSSSP.

use super::error::RouteError;
use super::switches::{FAR, Switches, intern};
use super::{Routes, layers};
use crate::describe::graph::Graph;

/// Layered shortest path routing (Skeie, Lysne and Theiss, 2002): a shortest path per pair of switches, each put into
/// the first layer where it closes no circle. Of several next switches a path takes one by the number of the
/// destination's switch, which spreads destinations over them.
pub(super) fn lash(graph: &Graph, down: &[u32]) -> Result<Routes, RouteError> {
    let mut routes = Routes::empty(graph);
    let switches = Switches::of(graph, &routes, down);
    let distances: Vec<Vec<u32>> = switches.edges.iter().map(|&edge| switches.distances(&[edge])).collect();
    switches.fill(&mut routes, |column, row, ports| {
        let distance = &distances[column];
        let here = distance[row as usize];
        if here != FAR {
            let nearer = switches.trunks(row).iter().filter(|trunk| distance[trunk.row as usize] < here);
            ports.extend(nearer.map(|trunk| trunk.port));
        }
        if !ports.is_empty() {
            let chosen = ports[switches.edges[column] as usize % ports.len()];
            ports.clear();
            ports.push(chosen);
        }
    });
    layers::first_fit(&mut routes, &switches)?;
    Ok(routes)
}

/// Deadlock-free single-source shortest path routing (Domke, Hoefler and Nagel, 2011): destinations one by one, each
/// by the shortest paths that the fewest paths so far have used; then circles are broken lane by lane.
pub(super) fn dfsssp(graph: &Graph, down: &[u32]) -> Result<Routes, RouteError> {
    let mut routes = Routes::empty(graph);
    let switches = Switches::of(graph, &routes, down);
    let rows = switches.rows();
    let mut senders = vec![0_u64; rows];
    switches.homes.iter().flatten().for_each(|&(home, _)| senders[home as usize] += 1);
    // Paths over each channel so far.
    let mut used = vec![0_u64; switches.channels()];
    let mut distances = std::collections::BTreeMap::new();
    for host in 0..routes.columns {
        let Some((home, _)) = switches.homes[host] else { continue };
        let distance = distances.entry(home).or_insert_with(|| switches.distances(&[home]));
        let mut order: Vec<u32> = (0..rows as u32).filter(|&row| distance[row as usize] != FAR).collect();
        order.sort_by_key(|&row| distance[row as usize]);
        let mut cost = vec![0_u64; rows];
        let mut chosen: Vec<Option<(u32, u16)>> = vec![None; rows];
        for &row in order.iter().filter(|&&row| row != home) {
            let nearer =
                switches.trunks(row).iter().filter(|trunk| distance[trunk.row as usize] < distance[row as usize]);
            let weighed = nearer.filter_map(|trunk| {
                let channel = switches.channel(row, trunk.port)?;
                Some((used[channel as usize] + cost[trunk.row as usize], trunk.port, channel))
            });
            if let Some((sum, port, channel)) = weighed.min() {
                cost[row as usize] = sum;
                chosen[row as usize] = Some((channel, port));
                let group = intern(&mut routes.groups[row as usize], &[port]);
                routes.entries.set(row as usize, host, group);
            }
        }
        // What passes a switch is its own senders and all that passes through it.
        let mut passing = senders.clone();
        for &row in order.iter().rev() {
            if let Some((channel, _)) = chosen[row as usize] {
                used[channel as usize] += passing[row as usize];
                passing[switches.far(channel) as usize] += passing[row as usize];
            }
        }
    }
    switches.last_hops(&mut routes);
    layers::break_circles(&mut routes, &switches)?;
    Ok(routes)
}

#[cfg(test)]
mod tests {
    use super::super::dependency_cycle;
    use super::super::tests::{links, random};
    use super::*;
    use crate::describe::graph::HostId;
    use crate::describe::topology::{dragonfly, fat_tree, leaf_spine, mesh, ring, torus};
    use proptest::prelude::*;

    /// Both, held to what they promise: shortest paths, and no circle in any lane.
    fn check(graph: &Graph) -> [u8; 2] {
        let shortest = Routes::shortest_paths(graph);
        [lash(graph, &[]), dfsssp(graph, &[])].map(|routes| {
            let routes = routes.unwrap();
            assert_eq!(dependency_cycle(graph, &routes), None);
            for from in 0..graph.hosts().len() as u32 {
                for to in 0..graph.hosts().len() as u32 {
                    let hops = |routes: &Routes| routes.path(graph, HostId(from), HostId(to), 1).map(|path| path.len());
                    assert_eq!(hops(&routes).ok(), hops(&shortest).ok());
                }
            }
            routes.lanes()
        })
    }

    #[test]
    fn trees_need_one_lane_and_rings_two() {
        assert_eq!(check(&fat_tree(4, links()).unwrap()), [1, 1]);
        assert_eq!(check(&leaf_spine(4, 2, 2, links()).unwrap()), [1, 1]);
        for switches in 5..9 {
            assert_eq!(check(&ring(switches, 2, links()).unwrap()), [2, 2], "{switches}");
        }
    }

    #[test]
    fn grids_need_a_few() {
        let few = |graph: Graph| check(&graph).into_iter().all(|lanes| (1..=4).contains(&lanes));
        assert!(few(torus(&[4, 4], 1, links()).unwrap()));
        assert!(few(mesh(&[4, 4], 1, links()).unwrap()));
        assert!(few(dragonfly(5, 2, 1, 2, links()).unwrap()));
    }

    #[test]
    fn without_its_lanes_the_circle_is_back() {
        let graph = ring(5, 1, links()).unwrap();
        let mut routes = lash(&graph, &[]).unwrap();
        routes.forget_layers();
        assert!(dependency_cycle(&graph, &routes).is_some());
    }

    #[test]
    fn dfsssp_spreads_over_equal_paths() {
        let graph = leaf_spine(2, 4, 4, links()).unwrap();
        let routes = dfsssp(&graph, &[]).unwrap();
        let leaf = graph.find("leaf0").unwrap();
        let mut ports: Vec<u16> = (4..8).map(|host| routes.ports(leaf, HostId(host))[0]).collect();
        ports.sort_unstable();
        assert_eq!(ports, [4, 5, 6, 7]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn random_graphs_are_free(graph in random()) {
            check(&graph);
        }
    }
}
