//! Bridges of shortest path bridging: their identifiers and services.

use super::names::Names;
use crate::resolve::{Gathered, Node};
use discovery::spb::{Group, Service};
use fabric::graph::{Graph, NodeId};
use fabric::routing::Bridges;
use std::collections::BTreeMap;
use wire::Address;
use wire::spbm::CONTROL_SERVICE;

const ADDRESS: u64 = (1 << 48) - 1;

fn named(graph: &Graph) -> (Vec<NodeId>, Names<'_>) {
    let switches = graph.switches();
    let names = Names::new("switch", switches.iter().map(|node| graph.nodes[node.0 as usize].name.as_str()));
    (switches, names)
}

/// Parses an address: six octets in hexadecimal, separated by `-` or `:`.
fn address(gathered: &mut Gathered<'_>, node: &Node, key: &str) -> Option<Address> {
    let text = node.text(key)?;
    let octets: Option<Vec<u8>> = text
        .split(['-', ':'])
        .map(|octet| {
            let plain = octet.len() == 2 && octet.chars().all(|digit| digit.is_ascii_hexdigit());
            u8::from_str_radix(octet, 16).ok().filter(|_| plain)
        })
        .collect();
    let address = octets.and_then(|octets| <[u8; 6]>::try_from(octets).ok()).map(Address);
    if address.is_none() {
        let message = format!("`{text}` is not an address");
        gathered.refuse(node.place_of(key), message, "write six octets, such as \"02-00-00-00-00-01\"");
    }
    address
}

/// Sets the addresses and priorities of bridges stated in the scenario.
pub(crate) fn identify(gathered: &mut Gathered<'_>, node: &Node, graph: &Graph, bridges: &mut Bridges) -> Option<()> {
    let (switches, names) = named(graph);
    for entry in node.tables("bridges") {
        let chosen = names.select(gathered, &entry.names("names")?, entry.place_of("names"))?;
        let first = match entry.has("address") {
            true => Some(address(gathered, entry, "address")?),
            false => None,
        };
        if let Some(group) = first.filter(|first| first.is_group()) {
            let message = format!("{group} is a group address, not the address of a bridge");
            gathered.refuse(entry.place_of("address"), message, "make its first octet even");
            return None;
        }
        let first = first.map(|Address([a, b, c, d, e, f])| u64::from_be_bytes([0, 0, a, b, c, d, e, f]));
        for (number, &place) in (0..).zip(&chosen) {
            let identifier = &mut bridges.identifiers[switches[place as usize].0 as usize];
            if let Some(first) = first {
                *identifier = *identifier & !ADDRESS | (first + number) & ADDRESS;
            }
            if let Some(priority) = entry.count("priority") {
                *identifier = *identifier & ADDRESS | priority << 48;
            }
        }
    }
    let mut known: BTreeMap<u64, NodeId> = BTreeMap::new();
    for &switch in &switches {
        let address = bridges.identifiers[switch.0 as usize] & ADDRESS;
        if let Some(other) = known.insert(address, switch) {
            let name = |node: NodeId| graph.nodes[node.0 as usize].name.as_str();
            let message = format!("{} and {} have the same address", name(other), name(switch));
            let help = "give each bridge its own address; several names of one entry are numbered from it";
            gathered.refuse(node.place_of("bridges"), message, help);
            return None;
        }
    }
    Some(())
}

/// Reads the services of a scenario.
pub(crate) fn services(gathered: &mut Gathered<'_>, node: &Node, graph: &Graph) -> Option<Vec<Service>> {
    let (switches, names) = named(graph);
    let mut services = Vec::new();
    for entry in node.tables("services") {
        let group = match (entry.count("isid"), entry.has("group")) {
            (Some(_), true) | (None, false) => {
                let help = "keep `isid` for a service of SPBM, or `group` for a group of SPBV";
                gathered.refuse(entry.place, "a service needs either an `isid` or a `group`", help);
                return None;
            }
            (Some(service), false) if service == u64::from(CONTROL_SERVICE) => {
                let help = "choose another number (RFC 6329 section 4.4)";
                gathered.refuse(entry.place_of("isid"), "service 4095 is reserved for the bridges", help);
                return None;
            }
            (Some(service), false) => Group::Service(service as u32),
            (None, true) => {
                let address = address(gathered, entry, "group")?;
                if !address.is_group() {
                    let message = format!("{address} is not a group address");
                    gathered.refuse(entry.place_of("group"), message, "make its first octet odd");
                    return None;
                }
                Group::Address(address)
            }
        };
        let (tree, trees) = (entry.count("tree")? as u8, node.count("trees")? as u8);
        if tree >= trees {
            let message = format!("there is no tree {tree}; there are {trees}");
            gathered.refuse(
                entry.place_of("tree"),
                message,
                "trees are numbered from 0; choose another, or raise network.trees",
            );
            return None;
        }
        let mut bridges = |key: &str| {
            let chosen = names.select(gathered, &entry.names(key)?, entry.place_of(key))?;
            Some(chosen.into_iter().map(|place| switches[place as usize]).collect::<Vec<NodeId>>())
        };
        let transmit = bridges("transmit")?;
        let receive = match entry.given("receive") {
            true => bridges("receive")?,
            false => transmit.clone(),
        };
        services.push(Service { group, tree, transmit, receive });
    }
    Some(services)
}
