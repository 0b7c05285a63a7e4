//! The output of ibnetdiscover: nodes with their ports, and the port at the other end of each.

use super::super::{NamedText, Work};
use crate::source::Place;
use discovery::subnet::Signalling;
use std::collections::BTreeMap;

/// A node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Identifier, such as `S-0002c902004047f0`.
    pub(super) id: String,
    /// Description.
    pub(super) name: String,
    pub(super) is_switch: bool,
    pub(super) is_router: bool,
    /// Ports, connected or not.
    pub(super) size: u32,
    /// GUID of port 0 of a switch.
    pub(super) port_guid: Option<u64>,
    pub(super) system_guid: Option<u64>,
    pub(super) vendor: Option<u64>,
    pub(super) device: Option<u64>,
    /// Whether port 0 of a switch is a base port, not an enhanced one.
    pub(super) base_port_0: bool,
    /// Local identifier of a switch, and its mask.
    pub(super) lid: Option<u32>,
    pub(super) lmc: u32,
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
    /// Local identifier of this port, and its mask, of adapters.
    pub(super) lid: Option<u32>,
    pub(super) lmc: u32,
    /// GUID of this port, of adapters.
    pub(super) guid: Option<u64>,
    pub(super) link: Signalling,
    pub(super) place: Place,
}

impl Node {
    /// GUID of the device, which is part of its identifier.
    pub(super) fn guid(&self) -> Option<u64> {
        u64::from_str_radix(self.id.split_once('-')?.1, 16).ok()
    }

    /// Whether it is the aggregation node of a switch, at an extra port of it, which computes reductions of SHARP.
    pub(super) fn is_aggregation(&self) -> bool {
        !self.is_switch && self.name.contains("Aggregation Node")
    }
}

/// How messages of ibnetdiscover and its libraries begin, which a file has that both streams were written to.
const MESSAGES: [&str; 5] = ["src/", "ibwarn:", "ibpanic:", "ibdebug:", "ibnetdiscover:"];

/// What stands above a node.
#[derive(Default)]
struct Above {
    port_guid: Option<u64>,
    system_guid: Option<u64>,
    vendor: Option<u64>,
    device: Option<u64>,
}

/// Reads the nodes, in the order of the file.
pub(super) fn read(work: &mut Work, file: NamedText<'_>) -> Vec<Node> {
    let source = work.add(file);
    let mut nodes: Vec<Node> = Vec::new();
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    let mut above = Above::default();
    let mut messages = 0;
    let mut at = 0;
    for line in file.text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') || work.is_hopeless() {
            continue;
        }
        if MESSAGES.iter().any(|start| text.starts_with(start)) {
            messages += 1;
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
            match node(text, kind, std::mem::take(&mut above), place) {
                Some(node) if nodes.iter().any(|other| other.id == node.id) => {
                    work.refuse(place, format!("node {} is there twice", node.id), "give one output of ibnetdiscover");
                }
                Some(node) => nodes.push(node),
                None => {
                    work.refuse(place, "this line does not name a node", "give the output of ibnetdiscover as it is")
                }
            }
        } else if let Some((key, value)) = text.split_once('=') {
            let value = value.split('#').next().unwrap_or_default().trim();
            match key.trim() {
                "vendid" => above.vendor = hexadecimal(value),
                "devid" => above.device = hexadecimal(value),
                "sysimgguid" => above.system_guid = hexadecimal(value),
                // The GUID of port 0 stands in parentheses.
                "switchguid" => above.port_guid = value.split_once('(').and_then(|(_, port)| hexadecimal(port)),
                "caguid" | "rtguid" => {}
                other => *unknown.entry(other.chars().take(40).collect()).or_default() += 1,
            }
        } else if !text.starts_with("Chassis") && !text.starts_with("Non-Chassis") {
            work.refuse(place, "this line is not one of ibnetdiscover", "give the output of ibnetdiscover as it is");
        }
    }
    if messages > 0 {
        let meaning = format!("{messages} lines: the fabric may be more than ibnetdiscover could reach");
        work.note("messages of ibnetdiscover", meaning);
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

/// Gives links whose ends differ the lower rate: one end may have trained again while ibnetdiscover went round. Leaves out
/// cables from a switch to itself, which carry nothing.
pub(super) fn settle(work: &mut Work, nodes: &mut [Node]) {
    let known: BTreeMap<String, usize> = nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
    let (mut loops, mut slower) = (0, Vec::new());
    for at in 0..nodes.len() {
        for number in nodes[at].ports.keys().copied().collect::<Vec<_>>() {
            let Some(port) = nodes[at].ports.get(&number).cloned() else { continue };
            let Some(&peer) = known.get(&port.peer) else { continue };
            let Some(back) = nodes[peer].ports.get(&port.peer_port).cloned() else { continue };
            if (&back.peer, back.peer_port) != (&nodes[at].id, number) {
                continue;
            }
            if peer == at && port.peer_port != number {
                nodes[at].ports.retain(|other, _| ![number, port.peer_port].contains(other));
                loops += 1;
            } else if back.link.rate() < port.link.rate() {
                let (name, other) = (&nodes[at].name, &nodes[peer].name);
                slower.push(format!("{} at port {number} of {name}, {} at {other}", port.link, back.link));
                if let Some(faster) = nodes[at].ports.get_mut(&number) {
                    faster.link = back.link;
                }
            }
        }
    }
    if loops > 0 {
        work.note("links", format!("{loops} from a switch to itself are left out"));
    }
    if let Some(first) = slower.first() {
        let count = slower.len();
        work.note("links", format!("{count} with different speeds at their ends have the lower one: {first}"));
    }
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

/// A number in hexadecimal, with or without `0x`, up to a parenthesis.
fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text.split(['(', ')']).next().unwrap_or_default().trim();
    u64::from_str_radix(digits.trim_start_matches("0x"), 16).ok()
}

fn node(text: &str, kind: &str, above: Above, place: Place) -> Option<Node> {
    let size = text.split_whitespace().nth(1).and_then(|size| size.parse().ok()).unwrap_or(0);
    let (id, rest) = quoted(text)?;
    let comment = rest.split_once('#').map_or("", |(_, comment)| comment);
    let (name, rest) = quoted(comment).unwrap_or((id, ""));
    let name = if name.trim().is_empty() { id } else { name };
    let (id, name) = (id.to_owned(), name.to_owned());
    let Above { port_guid, system_guid, vendor, device } = above;
    Some(Node {
        id,
        name,
        is_switch: kind == "Switch",
        is_router: kind == "Rt",
        size,
        port_guid,
        system_guid,
        vendor,
        device,
        base_port_0: rest.trim_start().starts_with("base port 0"),
        lid: after(rest, "lid"),
        lmc: after(rest, "lmc").unwrap_or(0),
        ports: BTreeMap::new(),
        place,
    })
}

fn port(work: &mut Work, node: &mut Node, text: &str, place: Place) {
    let parts = (|| {
        let (number, rest) = text[1..].split_once(']')?;
        let guid = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(guid, _)| guid);
        let (peer, rest) = quoted(rest)?;
        let (peer_port, rest) = rest.strip_prefix('[')?.split_once(']')?;
        let comment = rest.split_once('#').map_or("", |(_, comment)| comment);
        let guid = guid.and_then(hexadecimal);
        Some((number.trim().parse::<u32>().ok()?, guid, peer, peer_port.trim().parse::<u32>().ok()?, comment))
    })();
    let Some((number, guid, peer, peer_port, comment)) = parts else {
        return work.refuse(place, "this line does not name a link", "give the output of ibnetdiscover as it is");
    };
    // Behind the description, which may contain anything: of adapters the own identifier stands before it.
    let (own, tail) = match comment.split_once('"') {
        Some((own, _)) => (own, quoted(comment).map_or("", |(_, tail)| tail)),
        None => ("", comment),
    };
    let is_link = |word: &&str| word.split_once('x').is_some_and(|(width, _)| width.parse::<u8>().is_ok());
    let help = "take an ibnetdiscover that prints them (infiniband-diags 1.4 or later)";
    let link = match tail.split_whitespace().find(is_link).map(|word| (word, Signalling::parse(word))) {
        Some((_, Some(link))) => link,
        Some((word, None)) => {
            let message = format!("port {number} of {} has \"{word}\", which is not a width and speed", node.name);
            let help = "widths are 1x, 2x, 4x, 8x and 12x, and speeds SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR and XDR";
            return work.refuse(place, message, help);
        }
        None => {
            let message = format!("port {number} of {} has no width and speed, such as 4xHDR", node.name);
            return work.refuse(place, message, help);
        }
    };
    let (peer_lid, lid, lmc) = (after(tail, "lid"), after(own, "lid"), after(own, "lmc").unwrap_or(0));
    let port = Port { peer: peer.to_owned(), peer_port, peer_lid, lid, lmc, guid, link, place };
    if node.ports.insert(number, port).is_some() {
        work.refuse(place, format!("port {number} of {} is there twice", node.name), "keep one line for each port");
    }
}
