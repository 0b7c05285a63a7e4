//! Grids of any number of dimensions: meshes, and tori that wrap around.

use super::{Links, Size, Sketch, TopologyError, at_least};
use crate::describe::graph::{Graph, NodeId};

/// A grid of switches `sw0`, `sw1`, ... that ends at its borders; `dims` are the switches along each dimension.
///
/// Switches are numbered with the last dimension fastest. A dimension of one switch adds no cable.
///
/// # Errors
/// No dimension, an empty one, switches without hosts, or a cable that is unsound.
pub fn mesh(dims: &[u32], hosts_per_switch: u32, links: Links) -> Result<Graph, TopologyError> {
    grid("mesh", dims, hosts_per_switch, links, false)
}

/// A grid that wraps around: every row, in every dimension, is a ring.
///
/// A ring of two switches has one cable, not two parallel ones; a dimension of one adds none.
///
/// # Errors
/// No dimension, an empty one, switches without hosts, or a cable that is unsound.
pub fn torus(dims: &[u32], hosts_per_switch: u32, links: Links) -> Result<Graph, TopologyError> {
    grid("torus", dims, hosts_per_switch, links, true)
}

fn grid(
    name: &'static str,
    dims: &[u32],
    hosts_per_switch: u32,
    links: Links,
    wrap: bool,
) -> Result<Graph, TopologyError> {
    if dims.is_empty() {
        return Err(TopologyError::NoDimensions { topology: name });
    }
    for &length in dims {
        at_least(name, "dims", length, 1)?;
    }
    at_least(name, "hosts_per_switch", hosts_per_switch, 1)?;
    let switches = dims.iter().fold(1_u128, |product, &length| product.saturating_mul(length.into()));
    let wide = dims.iter().filter(|&&length| length > 1).count() as u128;
    let size = Size {
        hosts: switches.saturating_mul(hosts_per_switch.into()),
        switches,
        trunks: switches.saturating_mul(wide),
    };
    let mut sketch = Sketch::start(name, size, links)?;
    let all: Vec<NodeId> =
        (0..switches).map(|number| sketch.switch(format!("sw{number}"), 1, hosts_per_switch)).collect();

    for number in 0..all.len() {
        // Distance in switch numbers between neighbours along the dimension in hand.
        let mut stride = 1;
        for &length in dims.iter().rev() {
            let length = length as usize;
            let place = number / stride % length;
            if place + 1 < length {
                sketch.trunk(all[number], all[number + stride]);
            } else if wrap && length > 2 {
                sketch.trunk(all[number], all[number - place * stride]);
            }
            stride *= length;
        }
    }
    sketch.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{census, links};
    use super::*;
    use std::collections::BTreeSet;

    /// Pairs of switch numbers that share a cable.
    fn trunks(graph: &Graph) -> BTreeSet<(u32, u32)> {
        let number = |node: NodeId| graph.nodes[node.0 as usize].name.strip_prefix("sw").map(|n| n.parse().unwrap());
        let pairs = graph.cables.iter().filter_map(|cable| Some((number(cable.a)?, number(cable.b)?)));
        pairs.map(|(a, b): (u32, u32)| (a.min(b), a.max(b))).collect()
    }

    #[test]
    fn a_mesh_of_two_by_three_worked_by_hand() {
        let graph = mesh(&[2, 3], 1, links()).unwrap();
        assert_eq!(census(&graph), (6, 6));
        let expected = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)];
        assert_eq!(trunks(&graph), expected.into_iter().collect());
    }

    #[test]
    fn a_torus_adds_the_wraps_but_never_doubles_a_cable() {
        let graph = torus(&[2, 3], 1, links()).unwrap();
        let expected = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (0, 3), (1, 4), (2, 5)];
        assert_eq!(trunks(&graph), expected.into_iter().collect());
        assert_eq!(graph.cables.len(), 6 + expected.len());
    }

    #[test]
    fn every_switch_of_a_torus_has_two_neighbours_per_dimension() {
        let graph = torus(&[3, 4, 5], 2, links()).unwrap();
        assert_eq!(census(&graph), (120, 60));
        for (node, ports) in graph.nodes.iter().zip(graph.ports()) {
            if node.layer == 1 {
                assert_eq!(ports.len(), 2 + 6);
            }
        }
    }

    #[test]
    fn one_dimension_is_a_ring_or_a_chain() {
        let ring = super::super::ring(5, 1, links()).unwrap();
        assert_eq!(trunks(&torus(&[5], 1, links()).unwrap()), trunks(&ring));
        let chain = super::super::chain(5, 1, links()).unwrap();
        assert_eq!(trunks(&mesh(&[1, 5, 1], 1, links()).unwrap()), trunks(&chain));
    }

    #[test]
    fn empty_grids_are_refused() {
        assert_eq!(mesh(&[], 1, links()), Err(TopologyError::NoDimensions { topology: "mesh" }));
        assert!(torus(&[3, 0], 1, links()).is_err());
        assert!(torus(&[3], 0, links()).is_err());
    }
}
