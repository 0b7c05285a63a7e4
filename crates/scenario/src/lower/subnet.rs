//! Conversion of `[[network.subnet]]` to identities of nodes.

use super::names::Names;
use crate::resolve::{Gathered, Node};
use discovery::subnet::{Identities, Identity, Signalling};
use fabric::graph::{Graph, NodeId, Role};
use std::collections::BTreeMap;

/// The highest unicast local identifier.
const LAST_LID: u32 = 0xBFFF;

/// Reads the identities of a scenario.
pub(crate) fn identities(gathered: &mut Gathered<'_>, node: &Node, graph: &Graph) -> Option<Identities> {
    let mut identities = Identities::new();
    if node.tables("subnet").is_empty() {
        return Some(identities);
    }
    let names = Names::new("node", graph.nodes.iter().map(|node| node.name.as_str()));
    let mut links = vec![0_usize; graph.nodes.len()];
    for end in graph.cables.iter().flat_map(|cable| [cable.a, cable.b]) {
        links[end.0 as usize] += 1;
    }
    let mut good = true;
    for entry in node.tables("subnet") {
        let Some(chosen) = names.select(gathered, &entry.names("node")?, entry.place_of("node")) else {
            good = false;
            continue;
        };
        let [one] = chosen[..] else {
            let message = format!("{} nodes have the same identifiers", chosen.len());
            gathered.refuse(entry.place_of("node"), message, "name one node, and add an entry for each other");
            good = false;
            continue;
        };
        let id = NodeId(one);
        match identity(gathered, entry, graph, id, links[one as usize]) {
            Some(identity) => {
                if identities.insert(id, identity).is_some() {
                    let name = &graph.nodes[one as usize].name;
                    gathered.refuse(
                        entry.place,
                        format!("`{name}` has identifiers twice"),
                        "remove one of the entries",
                    );
                    good = false;
                }
            }
            None => good = false,
        }
    }
    good.then_some(identities)
}

fn identity(gathered: &mut Gathered<'_>, entry: &Node, graph: &Graph, id: NodeId, links: usize) -> Option<Identity> {
    let is_switch = graph.nodes[id.0 as usize].role == Role::Switch;
    let guid = hexadecimal(gathered, entry, "guid")?;
    let mut optional = |key: &str| match entry.has(key) {
        true => hexadecimal(gathered, entry, key).map(Some),
        false => Some(None),
    };
    let (port_guid, system_guid) = (optional("port_guid")?, optional("system_guid")?);
    let (vendor, device) = (optional("vendor")?, optional("device")?);
    let ports = match entry.counts("ports") {
        Some(ports) => ports.iter().map(|(port, _)| *port as u16).collect(),
        None => (1..=links as u16).collect(),
    };
    let ports: Vec<u16> = ports;
    let mut speeds = Vec::new();
    for (word, _) in entry.names("speeds").unwrap_or_default() {
        let Some(speed) = Signalling::parse(&word) else {
            let help = "give a width of 1x, 2x, 4x, 8x or 12x and a speed from SDR to XDR, such as \"4xHDR\"";
            gathered.refuse(entry.place_of("speeds"), format!("`{word}` is not a width and speed"), help);
            return None;
        };
        speeds.push(speed);
    }
    for (key, count, fits) in [
        ("ports", ports.len(), ports.len() == links),
        ("speeds", speeds.len(), speeds.len() <= 1 || speeds.len() == links),
    ] {
        if !fits {
            let message = format!("`{key}` has {count} values, but the node has {links} links");
            gathered.refuse(entry.place_of(key), message, "give one for each link");
            return None;
        }
    }
    let lid = entry.count("lid")? as u32;
    let others = match entry.text("forwarding") {
        Some(text) => match forwarding(&text) {
            Some(others) => others,
            None => {
                let help = "write ports and identifiers such as \"35: 2 7-9; 36: 3\"";
                gathered.refuse(entry.place_of("forwarding"), "these are no forwarding entries", help);
                return None;
            }
        },
        None if is_switch => BTreeMap::from([(lid, 0)]),
        None => BTreeMap::new(),
    };
    Some(Identity {
        guid,
        port_guid: port_guid.unwrap_or(guid.wrapping_add(u64::from(!is_switch))),
        system_guid,
        vendor,
        device,
        description: entry.text("description"),
        is_router: entry.flag("router")? && !is_switch,
        enhanced: entry.flag("enhanced_port_0")?,
        lid,
        lmc: entry.count("lmc")? as u8,
        size: entry.count("size").unwrap_or(links as u64) as u16,
        ports,
        speeds,
        others,
    })
}

fn hexadecimal(gathered: &mut Gathered<'_>, entry: &Node, key: &str) -> Option<u64> {
    let text = entry.text(key)?;
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() <= 16 && !digits.starts_with('+'));
    let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    if number.is_none() {
        let message = format!("`{text}` is not a hexadecimal number");
        gathered.refuse(entry.place_of(key), message, "write it such as \"0x0002c90300a1b2c0\"");
    }
    number
}

/// Reads `35: 2 7-9; 36: 3`.
fn forwarding(text: &str) -> Option<BTreeMap<u32, u16>> {
    let mut entries = BTreeMap::new();
    for part in text.split(';').filter(|part| !part.trim().is_empty()) {
        let (port, lids) = part.split_once(':')?;
        let port: u16 = port.trim().parse().ok().filter(|port| *port <= 255)?;
        for lid in lids.split_whitespace() {
            let (first, last) = lid.split_once('-').unwrap_or((lid, lid));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            if first > last || last > LAST_LID {
                return None;
            }
            entries.extend((first..=last).map(|lid| (lid, port)));
        }
    }
    Some(entries)
}

/// Writes forwarding entries as [`forwarding`] reads them.
pub(crate) fn written(entries: &BTreeMap<u32, u16>) -> String {
    let mut by_port: BTreeMap<u16, Vec<(u32, u32)>> = BTreeMap::new();
    for (&lid, &port) in entries {
        let ranges = by_port.entry(port).or_default();
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == lid => *last = lid,
            _ => ranges.push((lid, lid)),
        }
    }
    let range = |&(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let part = |(port, ranges): (&u16, &Vec<(u32, u32)>)| {
        format!("{port}: {}", ranges.iter().map(range).collect::<Vec<_>>().join(" "))
    };
    by_port.iter().map(part).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwarding_entries_are_ranges_of_identifiers() {
        let entries = BTreeMap::from([(1, 0), (2, 35), (7, 35), (8, 35), (9, 35), (3, 36)]);
        assert_eq!(written(&entries), "0: 1; 35: 2 7-9; 36: 3");
        assert_eq!(forwarding(&written(&entries)), Some(entries));
        assert_eq!(forwarding(""), Some(BTreeMap::new()));
        assert!(["1", "a: 2", "1: 5-3", "1: 50000", "256: 1"].iter().all(|text| forwarding(text).is_none()));
    }
}
