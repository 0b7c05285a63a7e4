//! Named nodes and links, as inventories and drawings have them, as the network of a scenario.

use super::sonic::text::{list, names};
use super::write::quoted;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use units::{Rate, Span};

/// Latency of a link to a host whose length is not known: 5 m at 5 ns per metre, as in the import of SONiC.
pub(super) const TO_HOST: Span = Span::from_nanos(25);
/// Latency of a link between switches whose length is not known: 40 m.
pub(super) const BETWEEN_SWITCHES: Span = Span::from_nanos(200);
/// Propagation in fibre, in picoseconds per metre.
pub(super) const PICOS_PER_METRE: f64 = 5_000.0;
/// Senders of the incast, at most.
const SENDERS: usize = 8;

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WiredNode {
    pub(super) name: String,
    pub(super) is_host: bool,
}

/// A link between two nodes, by their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wire {
    pub(super) ends: [usize; 2],
    pub(super) rate: Rate,
    /// `None` if it is not known.
    pub(super) latency: Option<Span>,
}

/// Nodes and links, in the order of the file. Link n of a node is its port n.
#[derive(Clone, Debug, Default)]
pub(super) struct Wiring {
    pub(super) nodes: Vec<WiredNode>,
    pub(super) links: Vec<Wire>,
    /// Hosts that send and receive nothing in the example.
    pub(super) silent: BTreeSet<usize>,
}

impl Wiring {
    /// Hosts with traffic.
    pub(super) fn senders(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|node| self.nodes[*node].is_host && !self.silent.contains(node)).collect()
    }

    /// The latency of a link.
    fn latency(&self, link: &Wire) -> Span {
        let to_host = link.ends.iter().any(|&end| self.nodes[end].is_host);
        link.latency.unwrap_or(if to_host { TO_HOST } else { BETWEEN_SWITCHES })
    }

    /// Number of links whose latency is not known.
    pub(super) fn without_latency(&self) -> usize {
        self.links.iter().filter(|link| link.latency.is_none()).count()
    }

    /// Number of hosts and switches.
    pub(super) fn counts(&self) -> [usize; 2] {
        let hosts = self.nodes.iter().filter(|node| node.is_host).count();
        [hosts, self.nodes.len() - hosts]
    }

    /// Distance of each switch from the nearest host; hosts have 0.
    fn layers(&self) -> Vec<u32> {
        let mut layers: Vec<Option<u32>> = self.nodes.iter().map(|node| node.is_host.then_some(0)).collect();
        loop {
            let mut next = layers.clone();
            for Wire { ends: [a, b], .. } in &self.links {
                for (from, to) in [(*a, *b), (*b, *a)] {
                    if let (Some(near), None) = (layers[from], layers[to]) {
                        next[to] = Some(next[to].map_or(near + 1, |known| known.min(near + 1)));
                    }
                }
            }
            if next == layers {
                return layers.into_iter().map(|layer| layer.unwrap_or(1)).collect();
            }
            layers = next;
        }
    }

    /// The keys `link`, `nodes` and `links` of `[network]`.
    pub(super) fn network(&self) -> String {
        let mut counts: BTreeMap<(Rate, Span), usize> = BTreeMap::new();
        for link in &self.links {
            *counts.entry((link.rate, self.latency(link))).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        let usual = most.map_or((Rate::from_gigabits(100), TO_HOST), |(link, _)| link);
        let properties = |(rate, latency): (Rate, Span)| format!("rate = \"{rate}\", latency = \"{latency}\"");
        let mut text = format!("link = {{ {} }}\nnodes = [\n", properties(usual));
        let layers = self.layers();
        let mut at = 0;
        while at < self.nodes.len() {
            let alike =
                |place: &usize| self.nodes[*place].is_host == self.nodes[at].is_host && layers[*place] == layers[at];
            let run = (at..self.nodes.len()).take_while(alike).count();
            let members: Vec<String> = self.nodes[at..at + run].iter().map(|node| node.name.clone()).collect();
            let _ = match self.nodes[at].is_host {
                true => writeln!(text, "    {{ names = {}, role = \"host\" }},", names(&members)),
                false => {
                    let layer = layers[at];
                    writeln!(text, "    {{ names = {}, role = \"switch\", layer = {layer} }},", names(&members))
                }
            };
            at += run;
        }
        text.push_str("]\nlinks = [\n");
        for link in &self.links {
            let own = (link.rate, self.latency(link));
            let other = if own == usual { String::new() } else { format!(", {}", properties(own)) };
            let [a, b] = link.ends.map(|end| quoted(&self.nodes[end].name));
            let _ = writeln!(text, "    {{ between = [{a}, {b}]{other} }},");
        }
        text.push_str("]\n");
        text
    }

    /// An incast to the first host as an example, with further keys of the workload; returns it and the number of its flows.
    pub(super) fn incast(&self, further: &str) -> (String, usize) {
        let hosts = self.senders();
        let Some((&receiver, others)) = hosts.split_first().filter(|(_, others)| !others.is_empty()) else {
            return ("\n[run]\nduration = \"1ms\"\n".to_owned(), 0);
        };
        let home = |host: usize| {
            let link = self.links.iter().find(|link| link.ends.contains(&host));
            link.map(|link| link.ends.iter().sum::<usize>() - host)
        };
        let far: Vec<usize> = others.iter().copied().filter(|&host| home(host) != home(receiver)).collect();
        let senders = if far.is_empty() { others.to_vec() } else { far };
        let senders: Vec<String> = senders.iter().take(SENDERS).map(|&host| self.nodes[host].name.clone()).collect();
        let (from, to) = (names(&senders), quoted(&self.nodes[receiver].name));
        let text = format!(
            "\n# An example: replace it by the traffic of the network.\n[[workloads]]\nname = \"incast\"\nkind = \"incast\"\n\
             from = {from}\nto = {to}\nsize = \"1MB\"\n{further}start_jitter = \"10us\"\n\n[run]\nduration = \"5ms\"\n"
        );
        (text, senders.len())
    }
}

/// Names that a scenario can have: characters of patterns are replaced, and each is there once.
#[derive(Debug, Default)]
pub(super) struct UniqueNames {
    taken: BTreeSet<String>,
    /// Whether any name was changed.
    pub(super) changed: bool,
}

impl UniqueNames {
    /// The name for a node of that name.
    pub(super) fn take(&mut self, name: &str) -> String {
        let clean = |c: char| if c.is_control() || "*?{}[]\"\\".contains(c) { '-' } else { c };
        let plain: String = name.trim().chars().take(100).map(clean).collect();
        let plain = if plain.is_empty() { "node".to_owned() } else { plain };
        let mut free = plain.clone();
        let mut number = 2;
        while !self.taken.insert(free.clone()) {
            free = format!("{plain}-{number}");
            number += 1;
        }
        self.changed |= free != name;
        free
    }
}

/// Nodes as a TOML value, in that order.
pub(super) fn named(wiring: &Wiring, nodes: &[usize]) -> String {
    let all: Vec<String> = nodes.iter().map(|&node| wiring.nodes[node].name.clone()).collect();
    if all.len() < 3 { list(&all) } else { names(&all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_no_patterns() {
        let mut names = UniqueNames::default();
        assert_eq!(["a", "b*", "a", " "].map(|name| names.take(name)), ["a", "b-", "a-2", "node"]);
        assert!(names.changed);
    }

    #[test]
    fn layers_are_distances_from_hosts() {
        let node = |name: &str, is_host| WiredNode { name: name.into(), is_host };
        let link = |a, b| Wire { ends: [a, b], rate: Rate::from_gigabits(100), latency: None };
        let nodes = vec![node("spine", false), node("leaf", false), node("h", true)];
        let wiring = Wiring { nodes, links: vec![link(0, 1), link(1, 2)], ..Wiring::default() };
        assert_eq!(wiring.layers(), [2, 1, 0]);
        assert!(wiring.network().contains("{ between = [\"spine\", \"leaf\"]"), "{}", wiring.network());
        assert_eq!(wiring.incast("").1, 0, "one host has nobody to send to");
    }
}
