//! Filtering databases of shortest path bridging: by address (SPBM) or by VLAN (SPBV), with the groups of a scenario's
//! services (RFC 6329, sections 4 to 6).
//!
//! A bridge's address is the lower 48 bits of its identifier, its SPSourceID the lower 20. Base VLANs begin at 100.
//! With SPBV, every bridge has its own VLAN in every tree: the base VLAN plus the bridge's number, counted from 1. The
//! base VLAN of the next tree follows.

use super::system_id;
use fabric::graph::{Graph, NodeId};
use fabric::routing::{Bridges, Paths};
use std::collections::{BTreeMap, BTreeSet};
use wire::Address;
use wire::spbm::group_address;

/// Base VLAN of the first tree, as in the examples of RFC 6329.
pub const FIRST_VLAN: u16 = 100;
/// The highest VLAN identifier (802.1Q, table 9-2).
const LAST_VLAN: usize = 4094;

/// The identifier of a multicast group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// A service of SPBM, by its I-SID.
    Service(u32),
    /// A group of SPBV, by its address.
    Address(Address),
}

/// A multicast service: its senders and receivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The group.
    pub group: Group,
    /// Index of the tree that carries the service, from 0.
    pub tree: u8,
    /// Bridges that announce the service with the T (transmit) bit.
    pub transmit: Vec<NodeId>,
    /// Bridges that announce the service with the R (receive) bit.
    pub receive: Vec<NodeId>,
}

/// The required ingress of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input {
    /// Any port.
    Any,
    /// The bridge itself, as the root of the tree.
    Own,
    /// This port, numbered from 1.
    Port(u16),
}

/// An entry of a filtering database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Whether the entry is for a group.
    pub group: bool,
    /// Required ingress of a frame.
    pub input: Input,
    /// Destination address; `None` matches all.
    pub address: Option<Address>,
    /// VLAN of the frame.
    pub vlan: u16,
    /// Egress ports, numbered from 1.
    pub outputs: Vec<u16>,
}

/// The filtering databases of all bridges, by bridge. Entries are sorted by kind, VLAN and address.
pub type Databases = BTreeMap<NodeId, Vec<Entry>>;

fn address(identifier: u64) -> Address {
    Address(system_id(identifier))
}

fn ports(outputs: &BTreeSet<u16>) -> Vec<u16> {
    outputs.iter().map(|port| port + 1).collect()
}

fn in_order(mut databases: Databases) -> Databases {
    let key = |entry: &Entry| (entry.group, entry.vlan, entry.address.map(|address| address.0));
    databases.values_mut().for_each(|rows| rows.sort_by_key(key));
    databases
}

/// Returns the SPBM filtering databases of a tree, counted from 0: the addresses of all bridges, and the groups of
/// services.
///
/// # Errors
/// Returns an error if a service needs SPSourceIDs and two bridges have the same one or a bridge has none.
///
/// # Panics
/// If the graph is one that [`Graph::validate`] refuses, or if the tree does not exist.
pub fn spbm(graph: &Graph, bridges: &Bridges, tree: u8, services: &[Service]) -> Result<Databases, String> {
    let identifier = |node: NodeId| bridges.identifiers[node.0 as usize];
    let source = |node: NodeId| identifier(node) as u32 & 0xF_FFFF;
    let all = graph.switches();
    let groups = services.iter().filter_map(|service| match service.group {
        Group::Service(number) if service.tree == tree => Some((number, service)),
        _ => None,
    });
    if groups.clone().next().is_some() {
        unique(graph, &all, source)?;
    }
    let mut databases: Databases = all.iter().map(|&node| (node, Vec::new())).collect();
    let (paths, vlan) = (Paths::of(graph, bridges, tree, &[]), FIRST_VLAN + u16::from(tree));
    for (at, rows) in &mut databases {
        for &to in &all {
            let Some(port) = paths.port(*at, to) else { continue };
            let (address, outputs) = (Some(address(identifier(to))), vec![port + 1]);
            rows.push(Entry { group: false, input: Input::Any, address, vlan, outputs });
        }
    }
    for (number, service) in groups {
        for &from in &service.transmit {
            let address = Some(group_address(source(from), number));
            for (node, branch) in paths.branches(from, &service.receive) {
                if !branch.outputs.is_empty() {
                    let input = branch.input.map_or(Input::Own, |port| Input::Port(port + 1));
                    let outputs = ports(&branch.outputs);
                    databases.entry(node).or_default().push(Entry { group: true, input, address, vlan, outputs });
                }
            }
        }
    }
    Ok(in_order(databases))
}

/// Checks that group addresses distinguish all bridges.
fn unique(graph: &Graph, all: &[NodeId], source: impl Fn(NodeId) -> u32) -> Result<(), String> {
    let name = |node: NodeId| graph.nodes[node.0 as usize].name.as_str();
    let mut known: BTreeMap<u32, NodeId> = BTreeMap::new();
    for &node in all {
        if source(node) == 0 {
            return Err(format!("{} has no SPSourceID: the lower 20 bits of its address are 0", name(node)));
        }
        if let Some(other) = known.insert(source(node), node) {
            let (a, b) = (name(other), name(node));
            return Err(format!("{a} and {b} have the same SPSourceID, the lower 20 bits of their addresses"));
        }
    }
    Ok(())
}

/// Returns the SPBV filtering databases of a tree, counted from 0: the VLANs of all other bridges, with their groups.
/// Frames of a bridge's own VLAN never arrive from elsewhere, so it has no entry.
///
/// # Errors
/// Returns an error if there are not enough VLANs.
///
/// # Panics
/// As [`spbm`].
pub fn spbv(graph: &Graph, bridges: &Bridges, tree: u8, services: &[Service]) -> Result<Databases, String> {
    let all = graph.switches();
    let base = usize::from(FIRST_VLAN) + usize::from(tree) * (all.len() + 1);
    let last = base + all.len();
    if last > LAST_VLAN {
        let count = all.len();
        return Err(format!(
            "tree {tree} of {count} bridges needs VLANs up to {last}, but the highest VLAN is {LAST_VLAN}"
        ));
    }
    let paths = Paths::of(graph, bridges, tree, &[]);
    let mut databases: Databases = all.iter().map(|&node| (node, Vec::new())).collect();
    for (number, &from) in (1..).zip(&all) {
        let vlan = (base + number) as u16;
        let mut rows = |group: bool, address: Option<Address>, receivers: &[NodeId]| {
            for (node, branch) in paths.branches(from, receivers) {
                if let (Some(port), false) = (branch.input, branch.outputs.is_empty()) {
                    let (input, outputs) = (Input::Port(port + 1), ports(&branch.outputs));
                    databases.entry(node).or_default().push(Entry { group, input, address, vlan, outputs });
                }
            }
        };
        rows(false, None, &all);
        for service in services.iter().filter(|it| it.tree == tree && it.transmit.contains(&from)) {
            if let Group::Address(address) = service.group {
                rows(true, Some(address), &service.receive);
            }
        }
    }
    Ok(in_order(databases))
}
