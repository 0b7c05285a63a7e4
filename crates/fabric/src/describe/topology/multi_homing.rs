//! Hosts with several cables: planes and rails made from a topology in which every host has one.

use super::{MAX_CABLES, MAX_SWITCHES, TopologyError};
use crate::describe::graph::{Cable, Graph, NodeId, Role};

/// Refuses a multiple of so many that exceeds the limit.
fn limited(
    topology: &'static str,
    what: &'static str,
    count: usize,
    times: u32,
    limit: usize,
) -> Result<(), TopologyError> {
    let count = count as u128 * u128::from(times);
    if count > limit as u128 { Err(TopologyError::TooLarge { topology, what, count, limit }) } else { Ok(()) }
}

/// The same network several times with the same hosts: port n of every host is in plane n. Switches are named `p0-leaf0`,
/// `p1-leaf0`, and so on.
///
/// # Errors
/// No plane, or more than a host has ports for.
pub fn planes(graph: &Graph, planes: u32) -> Result<Graph, TopologyError> {
    super::at_least("planes", "planes", planes, 1)?;
    limited("planes", "switches", graph.switches().len(), planes, MAX_SWITCHES)?;
    limited("planes", "cables", graph.cables.len(), planes, MAX_CABLES)?;
    let mut made = Graph { port_addresses: graph.port_addresses, ..Graph::default() };
    // A host stands before the first switch behind it, as in the plane it is taken from.
    let mut copies: Vec<Vec<NodeId>> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let copies_of = match node.role {
            Role::Host => vec![made.node(&node.name, node.role, node.layer); planes as usize],
            Role::Switch => {
                let name = |plane: u32| format!("p{plane}-{}", node.name);
                (0..planes).map(|plane| made.node(name(plane), node.role, node.layer)).collect()
            }
        };
        copies.push(copies_of);
    }
    let in_plane = |end: NodeId, plane: u32| copies[end.0 as usize][plane as usize];
    for (plane, cable) in (0..planes).flat_map(|plane| graph.cables.iter().map(move |cable| (plane, cable))) {
        made.cable(in_plane(cable.a, plane), in_plane(cable.b, plane), cable.link);
    }
    made.validate().map_err(TopologyError::Graph)?;
    Ok(made)
}

/// A rail-optimised network: the switches with hosts form groups of `rails`, in order; the n-th hosts of the switches of
/// a group become one host, whose port i is on the i-th of them. Every port has an address of its own.
///
/// # Errors
/// Switches with hosts that cannot be grouped, or groups whose switches have different numbers of hosts.
pub fn rails(graph: &Graph, rails: u32) -> Result<Graph, TopologyError> {
    super::at_least("rails", "rails", rails, 1)?;
    let ports = graph.ports();
    let hosts_of = |switch: usize| -> Vec<u32> {
        let peers = ports[switch].iter().map(|end| end.peer.0);
        peers.filter(|&peer| graph.nodes[peer as usize].role == Role::Host).collect()
    };
    let switches = (0..graph.nodes.len()).filter(|&node| graph.nodes[node].role == Role::Switch);
    let edges: Vec<Vec<u32>> = switches.map(hosts_of).filter(|hosts| !hosts.is_empty()).collect();
    let uneven = || TopologyError::UnevenRails { rails, switches: edges.len() };
    if !edges.len().is_multiple_of(rails as usize) {
        return Err(uneven());
    }
    // The host that each host becomes a port of.
    let mut becomes: Vec<u32> = (0..graph.nodes.len() as u32).collect();
    for group in edges.chunks_exact(rails as usize) {
        for rail in group {
            if rail.len() != group[0].len() {
                return Err(uneven());
            }
            group[0].iter().zip(rail).for_each(|(&first, &host)| becomes[host as usize] = first);
        }
    }
    let mut made = Graph { port_addresses: true, ..Graph::default() };
    let (mut hosts, mut place) = (0, Vec::with_capacity(becomes.len()));
    for (number, node) in (0_u32..).zip(&graph.nodes) {
        place.push(match (node.role, becomes[number as usize]) {
            (Role::Host, first) if first != number => place[first as usize],
            (Role::Host, _) => {
                hosts += 1;
                made.node(format!("h{}", hosts - 1), node.role, node.layer)
            }
            (Role::Switch, _) => made.node(&node.name, node.role, node.layer),
        });
    }
    for cable in &graph.cables {
        made.cable(place[cable.a.0 as usize], place[cable.b.0 as usize], cable.link);
    }
    made.validate().map_err(TopologyError::Graph)?;
    Ok(made)
}

/// The same network with that many parallel cables between a host and each of its switches: consecutive ports.
///
/// # Errors
/// No cable, or more than a host has ports for.
pub fn host_links(mut graph: Graph, links: u32) -> Result<Graph, TopologyError> {
    super::at_least("host_links", "host_links", links, 1)?;
    limited("host_links", "cables", graph.cables.len(), links, MAX_CABLES)?;
    let is_host = |node: NodeId| graph.nodes[node.0 as usize].role == Role::Host;
    let copies = |cable: &Cable| if is_host(cable.a) || is_host(cable.b) { links as usize } else { 1 };
    let cables = graph.cables.iter().flat_map(|cable| std::iter::repeat_n(cable.clone(), copies(cable)));
    graph.cables = cables.collect();
    graph.validate().map_err(TopologyError::Graph)?;
    Ok(graph)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::graph::{HostId, LinkSpec};
    use crate::describe::routing::Routes;
    use crate::describe::topology::{Links, fat_tree, leaf_spine};
    use units::{Rate, Span};

    fn links() -> Links {
        Links::same(LinkSpec::new(Rate::from_gigabits(100), Span::from_nanos(500)))
    }

    #[test]
    fn planes_have_the_hosts_in_common() {
        let graph = planes(&leaf_spine(2, 2, 3, links()).unwrap(), 2).unwrap();
        assert_eq!((graph.hosts().len(), graph.switches().len(), graph.cables.len()), (6, 8, 20));
        let ports = graph.ports();
        let peers = |name: &str| -> Vec<&str> {
            let ends = ports[graph.find(name).unwrap().0 as usize].iter();
            ends.map(|end| graph.nodes[end.peer.0 as usize].name.as_str()).collect()
        };
        assert_eq!(peers("h4"), ["p0-leaf1", "p1-leaf1"]);
        // A plane leads to every host by its own links.
        let routes = Routes::shortest_paths(&graph);
        for plane in ["p0", "p1"] {
            let at = |name: &str| graph.find(&format!("{plane}-{name}")).unwrap();
            assert_eq!(routes.ports(at("leaf1"), HostId(4)), [1]);
            assert_eq!(routes.ports(at("leaf0"), HostId(4)).len(), 2);
        }
    }

    #[test]
    fn rails_join_the_hosts_of_a_group_of_leaves() {
        let graph = rails(&leaf_spine(4, 2, 3, links()).unwrap(), 2).unwrap();
        assert_eq!((graph.hosts().len(), graph.switches().len()), (6, 6));
        let ports = graph.ports();
        let h4 = &ports[graph.find("h4").unwrap().0 as usize];
        let names: Vec<&str> = h4.iter().map(|end| graph.nodes[end.peer.0 as usize].name.as_str()).collect();
        assert_eq!(names, ["leaf2", "leaf3"], "the second host of the second group");
        // From another group, the spines lead to both rails; each leaf of the rails has its own link.
        let routes = Routes::shortest_paths(&graph);
        let ways = |name: &str| routes.ports(graph.find(name).unwrap(), HostId(4)).len();
        assert_eq!([ways("leaf0"), ways("spine0"), ways("leaf2"), ways("leaf3")], [2, 2, 1, 1]);
        assert!(rails(&leaf_spine(3, 2, 1, links()).unwrap(), 2).is_err());
        assert_eq!(rails(&fat_tree(4, links()).unwrap(), 2).unwrap().hosts().len(), 8);
    }

    #[test]
    fn parallel_links_are_consecutive_ports() {
        let graph = host_links(planes(&leaf_spine(2, 1, 1, links()).unwrap(), 2).unwrap(), 2).unwrap();
        let ports = graph.ports();
        let ends = &ports[graph.find("h1").unwrap().0 as usize];
        let names: Vec<&str> = ends.iter().map(|end| graph.nodes[end.peer.0 as usize].name.as_str()).collect();
        assert_eq!(names, ["p0-leaf1", "p0-leaf1", "p1-leaf1", "p1-leaf1"]);
        // The last switch has both, and the trunks are as they were.
        let routes = Routes::shortest_paths(&graph);
        let ways = |name: &str| routes.ports(graph.find(name).unwrap(), HostId(1)).len();
        assert_eq!([ways("p0-leaf1"), ways("p0-spine0"), ways("p0-leaf0")], [2, 1, 1]);
        assert!(host_links(leaf_spine(2, 1, 1, links()).unwrap(), 65).is_err());
    }
}
