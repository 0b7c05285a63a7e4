//! The output of ibnetdiscover: nodes with their ports, and the port at the other end of each.

use super::super::{NamedText, Work};
use crate::source::Place;
use std::collections::BTreeMap;
use units::Rate;

/// A node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Identifier, such as `S-0002c902004047f0`.
    pub(super) id: String,
    /// Description.
    pub(super) name: String,
    pub(super) is_switch: bool,
    /// Local identifier of a switch.
    pub(super) lid: Option<u32>,
    /// Connected ports by number.
    pub(super) ports: BTreeMap<u32, Port>,
    pub(super) place: Place,
}

/// A connected port.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// Identifier and port at the other end.
    pub(super) peer: String,
    pub(super) peer_port: u32,
    /// Local identifier of the port at the other end.
    pub(super) peer_lid: Option<u32>,
    /// GUID of this port, of adapters.
    pub(super) guid: Option<u64>,
    pub(super) rate: Rate,
    pub(super) place: Place,
}

/// Rates of a lane by the names of speeds, in bits of data per second: what is left of the signalling rate after 8b/10b or 64b/66b
/// coding (InfiniBand Architecture, volume 2; names as ibnetdiscover prints them).
const SPEEDS: [(&str, f64); 9] = [
    ("SDR", 2.0e9),
    ("DDR", 4.0e9),
    ("QDR", 8.0e9),
    ("FDR10", 10.0e9),
    ("FDR", 14.0625e9 * 64.0 / 66.0),
    ("EDR", 25.0e9),
    ("HDR", 50.0e9),
    ("NDR", 100.0e9),
    ("XDR", 200.0e9),
];

/// Keys of a node that say nothing about its links.
const KNOWN: [&str; 6] = ["vendid", "devid", "sysimgguid", "switchguid", "caguid", "rtguid"];

/// Reads the nodes, in the order of the file.
pub(super) fn read(work: &mut Work, file: NamedText<'_>) -> Vec<Node> {
    let source = work.add(file);
    let mut nodes: Vec<Node> = Vec::new();
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    let mut at = 0;
    for line in file.text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') || work.is_hopeless() {
            continue;
        }
        let place = Place { source, start: start as u32, end: (start + line.trim_end().len()) as u32 };
        if text.starts_with('[') {
            match nodes.last_mut() {
                Some(node) => port(work, node, text, place),
                None => {
                    work.refuse(place, "a port stands before the first node", "give the whole output of ibnetdiscover")
                }
            }
        } else if let Some(kind) = ["Switch", "Ca", "Rt"].into_iter().find(|kind| is_kind(text, kind)) {
            match node(text, kind, place) {
                Some(node) if nodes.iter().any(|other| other.id == node.id) => {
                    work.refuse(place, format!("node {} is there twice", node.id), "give one output of ibnetdiscover");
                }
                Some(node) => nodes.push(node),
                None => {
                    work.refuse(place, "this line does not name a node", "give the output of ibnetdiscover as it is")
                }
            }
        } else if let Some((key, _)) = text.split_once('=') {
            if !KNOWN.contains(&key.trim()) {
                *unknown.entry(key.trim().chars().take(40).collect()).or_default() += 1;
            }
        } else if !text.starts_with("Chassis") && !text.starts_with("Non-Chassis") {
            work.refuse(place, "this line is not one of ibnetdiscover", "give the output of ibnetdiscover as it is");
        }
    }
    for (key, count) in unknown {
        work.note(&key, format!("not understood, {count} times"));
    }
    if nodes.is_empty() && work.problems.is_empty() {
        let place = Place { source, start: 0, end: 0 };
        work.refuse(place, "there are no nodes in this file", "give the output of ibnetdiscover");
    }
    nodes
}

fn is_kind(text: &str, kind: &str) -> bool {
    text.strip_prefix(kind).is_some_and(|rest| rest.starts_with([' ', '\t']))
}

/// The text between the first two quotes, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.split_once('"')?.1.split_once('"')
}

/// The number after a word.
fn after(text: &str, word: &str) -> Option<u32> {
    let mut words = text.split_whitespace().skip_while(|it| *it != word);
    words.nth(1)?.parse().ok()
}

fn node(text: &str, kind: &str, place: Place) -> Option<Node> {
    let (id, rest) = quoted(text)?;
    let comment = rest.split_once('#').map_or("", |(_, comment)| comment);
    let (name, rest) = quoted(comment).unwrap_or((id, ""));
    let name = if name.trim().is_empty() { id } else { name };
    let (id, name) = (id.to_owned(), name.to_owned());
    Some(Node { id, name, is_switch: kind == "Switch", lid: after(rest, "lid"), ports: BTreeMap::new(), place })
}

fn port(work: &mut Work, node: &mut Node, text: &str, place: Place) {
    let parts = (|| {
        let (number, rest) = text[1..].split_once(']')?;
        let guid = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(guid, _)| guid);
        let (peer, rest) = quoted(rest)?;
        let (peer_port, rest) = rest.strip_prefix('[')?.split_once(']')?;
        let comment = rest.split_once('#').map_or("", |(_, comment)| comment);
        let guid = guid.and_then(|guid| u64::from_str_radix(guid.trim_start_matches("0x"), 16).ok());
        Some((number.trim().parse::<u32>().ok()?, guid, peer, peer_port.trim().parse::<u32>().ok()?, comment))
    })();
    let Some((number, guid, peer, peer_port, comment)) = parts else {
        return work.refuse(place, "this line does not name a link", "give the output of ibnetdiscover as it is");
    };
    // Behind the description, which may contain anything: of adapters the own identifier stands before it.
    let tail = quoted(comment).map_or(comment, |(_, tail)| tail);
    let Some(rate) = tail.split_whitespace().find_map(rate) else {
        let message = format!("port {number} of {} has no width and speed, such as 4xHDR", node.name);
        return work.refuse(place, message, "take an ibnetdiscover that prints them (infiniband-diags 1.4 or later)");
    };
    let peer_lid = after(tail, "lid");
    let port = Port { peer: peer.to_owned(), peer_port, peer_lid, guid, rate, place };
    if node.ports.insert(number, port).is_some() {
        work.refuse(place, format!("port {number} of {} is there twice", node.name), "keep one line for each port");
    }
}

/// A width and speed such as `4xEDR` as a rate.
fn rate(word: &str) -> Option<Rate> {
    let (width, speed) = word.split_once('x')?;
    let width: u32 = width.parse().ok().filter(|width| (1..=12).contains(width))?;
    let (_, lane) = SPEEDS.iter().find(|(name, _)| *name == speed)?;
    Some(Rate::from_bits_per_sec((f64::from(width) * lane) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_data() {
        let gigabits = |word: &str| rate(word).map(|rate| rate.as_bits_per_sec());
        assert_eq!(gigabits("4xQDR"), Some(32_000_000_000));
        assert_eq!(gigabits("4xFDR"), Some(54_545_454_545));
        assert_eq!(gigabits("2xHDR"), Some(100_000_000_000));
        assert_eq!(gigabits("4xXDR"), Some(800_000_000_000));
        assert!([rate("4x???"), rate("EDR"), rate("0xEDR"), rate("")].iter().all(Option::is_none));
    }
}
