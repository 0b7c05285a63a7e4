//! Identifiers of a node in a subnet: those of a fabric that was imported, or generated ones.

use super::signalling::Signalling;
use fabric::graph::{Graph, NodeId, PortEnd, Role};
use std::collections::BTreeMap;

/// Locally administered, so that no vendor has it.
const PREFIX: u64 = 0x0200_0000_0000_0000;

/// What a subnet says of a node besides its name and its links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// GUID of the device. Hosts with the same one are ports of one adapter.
    pub guid: u64,
    /// GUID of its port; of a switch, of port 0.
    pub port_guid: u64,
    /// GUID of the system that it is part of.
    pub system_guid: Option<u64>,
    /// Vendor.
    pub vendor: Option<u64>,
    /// Kind of device of that vendor.
    pub device: Option<u64>,
    /// Description, if it is not its name.
    pub description: Option<String>,
    /// Whether a host is a router.
    pub is_router: bool,
    /// Whether port 0 of a switch is an enhanced one.
    pub enhanced: bool,
    /// Local identifier.
    pub lid: u32,
    /// Two to this power is the number of its local identifiers.
    pub lmc: u8,
    /// Ports of the device, connected or not.
    pub size: u16,
    /// Number of the port of each link.
    pub ports: Vec<u16>,
    /// Width and speed of each link; empty if they follow from the rates.
    pub speeds: Vec<Signalling>,
    /// Of a switch: the port of every local identifier that is not the first one of a host.
    pub others: BTreeMap<u32, u16>,
}

/// Identities of the nodes that have one.
pub type Identities = BTreeMap<NodeId, Identity>;

impl Identity {
    /// Returns the generated identity of a node: local identifier n + 1 and, behind a locally administered prefix, the GUID
    /// 256 (n + 1); the port of an adapter has the next GUID, as ibsim assigns them. Port n becomes port n + 1.
    #[must_use]
    pub fn generated(graph: &Graph, node: NodeId, links: usize) -> Identity {
        let is_switch = graph.nodes[node.0 as usize].role == Role::Switch;
        let guid = PREFIX + (u64::from(node.0) + 1) * 0x100;
        let lid = node.0 + 1;
        Identity {
            guid,
            port_guid: guid + u64::from(!is_switch),
            system_guid: Some(guid),
            vendor: Some(0),
            device: Some(0),
            description: None,
            is_router: false,
            enhanced: true,
            lid,
            lmc: 0,
            size: links as u16,
            ports: (1..=links as u16).collect(),
            speeds: Vec::new(),
            others: if is_switch { BTreeMap::from([(lid, 0)]) } else { BTreeMap::new() },
        }
    }

    /// Returns its local identifiers.
    pub fn lids(&self) -> impl Iterator<Item = u32> + use<> {
        self.lid..self.lid + (1 << self.lmc.min(7))
    }
}

/// Returns the identity of every node, the given one or a generated one.
///
/// # Errors
/// Returns an error if two nodes have the same identifier, or if an identity does not fit the links of its node.
pub(super) fn resolve(graph: &Graph, ends: &[Vec<PortEnd>], given: &Identities) -> Result<Vec<Identity>, String> {
    let mut all = Vec::new();
    let mut lids: BTreeMap<u32, &str> = BTreeMap::new();
    let mut ports: BTreeMap<(u64, u16), &str> = BTreeMap::new();
    for ((node, description), ends) in (0..).map(NodeId).zip(&graph.nodes).zip(ends) {
        let name = description.name.as_str();
        let identity = given.get(&node).cloned().unwrap_or_else(|| Identity::generated(graph, node, ends.len()));
        let remedy = "correct [[network.subnet]], or remove it for generated identifiers";
        if identity.ports.len() != ends.len()
            || !matches!(identity.speeds.len(), 0 | 1) && identity.speeds.len() != ends.len()
        {
            let (numbers, links) = (identity.ports.len(), ends.len());
            return Err(format!("{name} has {links} links, but numbers or speeds of {numbers}; {remedy}"));
        }
        for lid in identity.lids() {
            if let Some(other) = lids.insert(lid, name) {
                return Err(format!("{other} and {name} have the same local identifier, {lid}; {remedy}"));
            }
        }
        for &port in &identity.ports {
            if let Some(other) = ports.insert((identity.guid, port), name) {
                let guid = identity.guid;
                return Err(format!(
                    "{other} and {name} have the same GUID and port, 0x{guid:016x} and {port}; {remedy}"
                ));
            }
        }
        all.push(identity);
    }
    Ok(all)
}
