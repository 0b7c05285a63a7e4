//! One switch, two switches, and switches in a row or a circle.

use super::{Links, Size, Sketch, TopologyError, at_least};
use crate::describe::graph::{Graph, LinkSpec, NodeId};

/// All hosts on one switch `sw0`.
///
/// # Errors
/// No host, or a cable that is unsound.
pub fn single_switch(hosts: u32, link: LinkSpec) -> Result<Graph, TopologyError> {
    const NAME: &str = "single_switch";
    at_least(NAME, "hosts", hosts, 1)?;
    let size = Size { hosts: hosts.into(), switches: 1, trunks: 0 };
    let mut sketch = Sketch::start(NAME, size, Links::same(link))?;
    sketch.switch("sw0".into(), 1, hosts);
    sketch.finish()
}

/// Two switches joined by `trunks` parallel cables: the first `left` hosts on `sw0`, the others on `sw1`.
///
/// # Errors
/// A side without hosts, no trunk, or a cable that is unsound.
pub fn two_switches(left: u32, right: u32, trunks: u32, links: Links) -> Result<Graph, TopologyError> {
    pair("two_switches", left, right, trunks, links)
}

/// Two switches joined by one bottleneck: the first `left` hosts on `sw0`, the others on `sw1`.
///
/// # Errors
/// A side without hosts, or a cable that is unsound.
pub fn dumbbell(left: u32, right: u32, host: LinkSpec, bottleneck: LinkSpec) -> Result<Graph, TopologyError> {
    pair("dumbbell", left, right, 1, Links { host, trunk: bottleneck })
}

fn pair(name: &'static str, left: u32, right: u32, trunks: u32, links: Links) -> Result<Graph, TopologyError> {
    at_least(name, "left", left, 1)?;
    at_least(name, "right", right, 1)?;
    at_least(name, "trunks", trunks, 1)?;
    let size = Size { hosts: u128::from(left) + u128::from(right), switches: 2, trunks: trunks.into() };
    let mut sketch = Sketch::start(name, size, links)?;
    let a = sketch.switch("sw0".into(), 1, left);
    let b = sketch.switch("sw1".into(), 1, right);
    for _ in 0..trunks {
        sketch.trunk(a, b);
    }
    sketch.finish()
}

/// Switches `sw0`, `sw1`, ... in a row, each with its hosts: the parking lot of the congestion control papers.
///
/// # Errors
/// No switch, switches without hosts, or a cable that is unsound.
pub fn chain(switches: u32, hosts_per_switch: u32, links: Links) -> Result<Graph, TopologyError> {
    at_least("chain", "switches", switches, 1)?;
    let (sketch, _) = row("chain", switches, hosts_per_switch, links)?;
    sketch.finish()
}

/// Switches in a circle, each with its hosts: the smallest network whose shortest paths can deadlock.
///
/// # Errors
/// Fewer than three switches, switches without hosts, or a cable that is unsound.
pub fn ring(switches: u32, hosts_per_switch: u32, links: Links) -> Result<Graph, TopologyError> {
    at_least("ring", "switches", switches, 3)?;
    let (mut sketch, row) = row("ring", switches, hosts_per_switch, links)?;
    if let (Some(&first), Some(&last)) = (row.first(), row.last()) {
        sketch.trunk(last, first);
    }
    sketch.finish()
}

fn row(
    name: &'static str,
    switches: u32,
    hosts_per_switch: u32,
    links: Links,
) -> Result<(Sketch, Vec<NodeId>), TopologyError> {
    at_least(name, "hosts_per_switch", hosts_per_switch, 1)?;
    let count = u128::from(switches);
    let size = Size { hosts: count * u128::from(hosts_per_switch), switches: count, trunks: count };
    let mut sketch = Sketch::start(name, size, links)?;
    let mut row: Vec<NodeId> = Vec::new();
    for number in 0..switches {
        let switch = sketch.switch(format!("sw{number}"), 1, hosts_per_switch);
        if let Some(&before) = row.last() {
            sketch.trunk(before, switch);
        }
        row.push(switch);
    }
    Ok((sketch, row))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LINK, census, links};
    use super::*;
    use units::Rate;

    #[test]
    fn one_switch_numbers_its_ports_as_its_hosts() {
        let graph = single_switch(4, LINK).unwrap();
        assert_eq!(census(&graph), (4, 1));
        let switch = graph.find("sw0").unwrap();
        for (port, end) in graph.ports()[switch.0 as usize].iter().enumerate() {
            assert_eq!(graph.nodes[end.peer.0 as usize].name, format!("h{port}"));
        }
    }

    #[test]
    fn only_the_bottleneck_of_a_dumbbell_is_slow() {
        let slow = LinkSpec { rate: Rate::from_gigabits(1), ..LINK };
        let graph = dumbbell(3, 2, LINK, slow).unwrap();
        assert_eq!(census(&graph), (5, 2));
        let slow_ones: Vec<_> = graph.cables.iter().filter(|cable| cable.link == slow).collect();
        assert_eq!(slow_ones.len(), 1);
        assert_eq!((slow_ones[0].a, slow_ones[0].b), (graph.find("sw0").unwrap(), graph.find("sw1").unwrap()));
    }

    #[test]
    fn trunks_are_parallel() {
        let graph = two_switches(1, 1, 3, links()).unwrap();
        assert_eq!(graph.cables.len(), 5);
        assert_eq!(graph.ports()[1].len(), 4);
    }

    #[test]
    fn a_ring_is_a_chain_with_its_ends_joined() {
        let chain = chain(4, 2, links()).unwrap();
        let ring = ring(4, 2, links()).unwrap();
        assert_eq!(census(&ring), (8, 4));
        assert_eq!(ring.nodes, chain.nodes);
        assert_eq!(ring.cables[..chain.cables.len()], chain.cables);
        assert_eq!(ring.cables.len(), chain.cables.len() + 1);
    }

    #[test]
    fn too_little_is_refused() {
        assert!(single_switch(0, LINK).is_err());
        assert!(dumbbell(0, 1, LINK, LINK).is_err());
        assert!(two_switches(1, 1, 0, links()).is_err());
        assert!(chain(1, 0, links()).is_err());
        let error = ring(2, 1, links()).unwrap_err();
        assert_eq!(error, TopologyError::TooSmall { topology: "ring", parameter: "switches", given: 2, least: 3 });
    }
}
