//! Parts of a scenario as TOML that several conversions write.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use units::{Rate, Span};

/// A cable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cable {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) link: Link,
}

/// Properties of a cable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    pub(super) rate: Rate,
    pub(super) latency: Span,
    pub(super) bit_error_rate: f64,
}

/// The nodes and cables of a network. Nodes are numbered; those with a layer are switches.
#[derive(Debug)]
pub(super) struct Drawing {
    /// By node: its layer, 0 for a host.
    pub(super) layers: Vec<u32>,
    pub(super) cables: Vec<Cable>,
}

impl Drawing {
    /// The name of a node.
    pub(super) fn name(&self, node: u32) -> String {
        format!("{}{node}", self.prefix(node))
    }

    fn prefix(&self, node: u32) -> char {
        if self.layers[node as usize] == 0 { 'h' } else { 's' }
    }

    /// Names of several nodes, which are ascending, as a TOML value: ranges of numbers are shortened.
    pub(super) fn names(&self, nodes: &[u32]) -> String {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < nodes.len() {
            let first = nodes[at];
            let mut last = first;
            while at + 1 < nodes.len() && nodes[at + 1] == last + 1 && self.prefix(nodes[at + 1]) == self.prefix(first)
            {
                (at, last) = (at + 1, last + 1);
            }
            at += 1;
            parts.push(match last - first {
                0 => format!("\"{}\"", self.name(first)),
                _ => format!("\"{}{{{first}..{last}}}\"", self.prefix(first)),
            });
        }
        match parts.as_slice() {
            [one] => one.clone(),
            _ => format!("[{}]", parts.join(", ")),
        }
    }

    /// The keys `link`, `nodes` and `links` of `[network]`.
    pub(super) fn network(&self) -> String {
        let mut text = String::new();
        let usual = self.usual();
        let _ = writeln!(text, "link = {{ {} }}", properties(usual, None));
        text.push_str("nodes = [\n");
        let mut by_layer: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (node, &layer) in (0..).zip(&self.layers) {
            by_layer.entry(layer).or_default().push(node);
        }
        for (layer, nodes) in &by_layer {
            let names = self.names(nodes);
            let _ = match layer {
                0 => writeln!(text, "    {{ names = {names}, role = \"host\" }},"),
                _ => writeln!(text, "    {{ names = {names}, role = \"switch\", layer = {layer} }},"),
            };
        }
        text.push_str("]\nlinks = [\n");
        let mut at = 0;
        while at < self.cables.len() {
            let Cable { a, b, link } = self.cables[at];
            // Consecutive hosts with the same cable to the same switch are one line.
            let continues = |ahead: usize, cable: &Cable| {
                *cable == Cable { a: a + ahead as u32, b, link } && self.prefix(cable.a) == self.prefix(a)
            };
            let run = (0..).zip(&self.cables[at..]).take_while(|(ahead, cable)| continues(*ahead, cable)).count();
            let from = match run {
                1 => self.name(a),
                _ => format!("{}{{{a}..{}}}", self.prefix(a), a + run as u32 - 1),
            };
            let other = properties(link, Some(usual));
            let comma = if other.is_empty() { "" } else { ", " };
            let _ = writeln!(text, "    {{ between = [\"{from}\", \"{}\"]{comma}{other} }},", self.name(b));
            at += run;
        }
        text.push_str("]\n");
        text
    }

    /// The properties of the most cables.
    fn usual(&self) -> Link {
        let mut met: Vec<(Link, usize)> = Vec::new();
        for cable in &self.cables {
            match met.iter_mut().find(|(link, _)| *link == cable.link) {
                Some((_, count)) => *count += 1,
                None => met.push((cable.link, 1)),
            }
        }
        let most = met.iter().map(|(_, count)| *count).max();
        let usual = met.iter().find(|(_, count)| Some(*count) == most);
        usual.map_or(Link { rate: Rate::from_gigabits(1), latency: Span::ZERO, bit_error_rate: 0.0 }, |(link, _)| *link)
    }
}

fn properties(link: Link, usual: Option<Link>) -> String {
    let mut parts = Vec::new();
    if usual.is_none_or(|usual| usual.rate != link.rate) {
        parts.push(format!("rate = \"{}\"", link.rate));
    }
    if usual.is_none_or(|usual| usual.latency != link.latency) {
        parts.push(format!("latency = \"{}\"", link.latency));
    }
    if usual.map_or(link.bit_error_rate != 0.0, |usual| usual.bit_error_rate != link.bit_error_rate) {
        parts.push(format!("bit_error_rate = {:e}", link.bit_error_rate));
    }
    parts.join(", ")
}

/// A flow of a list. Sources and destinations are numbers of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) source: u64,
    pub(super) destination: u64,
    pub(super) bytes: u64,
    /// The earliest start.
    pub(super) start: Span,
    /// Empty if it has none.
    pub(super) name: String,
    /// Positions of the flows that it waits for, and the time after each.
    pub(super) after: Vec<(u32, Span)>,
}

/// Flows as a CSV file. Columns that no flow needs are left out.
pub(super) fn csv(messages: &[Message]) -> String {
    let waits = messages.iter().any(|message| !message.after.is_empty());
    let mut csv = String::from("source,destination,bytes,start,name");
    csv.push_str(if waits { ",after,delay\n" } else { "\n" });
    for Message { source, destination, bytes, start, name, after } in messages {
        let _ = write!(csv, "h{source},h{destination},{bytes},{start},{name}");
        if waits {
            let others: Vec<String> = after.iter().map(|(other, _)| (other + 1).to_string()).collect();
            let first = after.first().map_or(Span::ZERO, |(_, delay)| *delay);
            let delays = match after.iter().all(|(_, delay)| *delay == first) {
                true if first == Span::ZERO => String::new(),
                true => first.to_string(),
                false => after.iter().map(|(_, delay)| delay.to_string()).collect::<Vec<_>>().join(";"),
            };
            let _ = write!(csv, ",{},{delays}", others.join(";"));
        }
        csv.push('\n');
    }
    csv
}

/// A text as a TOML string.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The last component of a path, for a comment.
pub(super) fn file_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.chars().filter(|c| !c.is_control()).take(100).collect()
}
