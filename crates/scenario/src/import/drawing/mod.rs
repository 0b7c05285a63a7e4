//! Drawings of networks as scenarios: Graphviz DOT, node-link JSON of networkx, and topologies of containerlab.
//!
//! A drawing has nodes and links with attributes. Rates, delays and lengths are read with their units; a number without one is
//! refused, because every tool means another. Attributes that are not understood are reported.

mod containerlab;
mod dot;
mod node_link;
#[cfg(test)]
mod tests;
mod yaml;

use super::wiring::{PICOS_PER_METRE, UniqueNames, Wire, WiredNode, Wiring};
use super::write::{file_name, quoted};
use super::{Imported, NamedText, Work, words};
use crate::problem::Errors;
use crate::source::Place;
use std::collections::{BTreeMap, BTreeSet};
use units::{Rate, Span};

/// Memory of a switch, which no drawing states: as in the import of SONiC.
const MEMORY: &str = "32MB";

/// A format of drawings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The language of Graphviz.
    Dot,
    /// JSON with nodes and links, as networkx writes it.
    NodeLink,
    /// A topology of containerlab.
    Containerlab,
}

/// Values for links that state none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Rate; `None` to refuse links without one.
    pub rate: Option<Rate>,
    /// Latency; `None` for that of 5 m to hosts and of 40 m between switches.
    pub latency: Option<Span>,
}

type Attributes = BTreeMap<String, String>;

/// A node as it is drawn.
#[derive(Clone, Debug)]
struct DrawnNode {
    name: String,
    attributes: Attributes,
    /// What the format says that it is, if it does.
    is_host: Option<bool>,
}

/// A link as it is drawn, by the positions of its nodes.
#[derive(Clone, Debug)]
struct DrawnLink {
    ends: [usize; 2],
    attributes: Attributes,
    place: Place,
}

/// A drawing.
#[derive(Clone, Debug, Default)]
struct Drawn {
    nodes: Vec<DrawnNode>,
    links: Vec<DrawnLink>,
    /// Whether a link in each direction is one link.
    directed: bool,
}

impl Drawn {
    /// The position of a node, which is added if it is new.
    fn node(&mut self, known: &mut BTreeMap<String, usize>, name: &str) -> usize {
        *known.entry(name.to_owned()).or_insert_with(|| {
            self.nodes.push(DrawnNode { name: name.to_owned(), attributes: Attributes::new(), is_host: None });
            self.nodes.len() - 1
        })
    }
}

const RATES: [&str; 5] = ["speed", "bandwidth", "rate", "capacity", "bw"];
const DELAYS: [&str; 2] = ["delay", "latency"];
const LENGTHS: [&str; 2] = ["length", "distance"];
const ROLES: [&str; 4] = ["role", "type", "kind", "device_type"];
const HOSTS: [&str; 8] = ["host", "server", "client", "compute", "endpoint", "gpu", "storage", "nic"];
const SWITCHES: [&str; 9] = ["switch", "router", "leaf", "spine", "tor", "bridge", "core", "aggregation", "edge"];

/// Converts a drawing to a scenario of that name, with an incast as its traffic.
///
/// # Errors
/// Returns all mistakes in the file, with its lines.
pub fn import(file: NamedText<'_>, format: Format, defaults: &Defaults, name: &str) -> Result<Imported, Errors> {
    let mut work = Work::default();
    let drawn = match format {
        Format::Dot => dot::read(&mut work, file),
        Format::NodeLink => node_link::read(&mut work, file),
        Format::Containerlab => containerlab::read(&mut work, file),
    };
    work.checked()?;
    let wiring = wire(&mut work, drawn, defaults);
    work.checked()?;
    let mut text =
        format!("# Imported from {}\nschema_version = 1\nname = {}\n\n[network]\n", file_name(file.name), quoted(name));
    text.push_str(&wiring.network());
    text.push_str(&format!(
        "\n[[switches]]\nflow_control = \"pfc\"\nbuffer = \"shared\"\nshared_size = \"{MEMORY}\"\nbuffers = {{}}\n"
    ));
    work.note("switches", format!("PFC and a shared memory of {MEMORY} are assumed (shared_size)"));
    let (traffic, flows) = wiring.incast("");
    text.push_str(&traffic);
    let [hosts, switches] = wiring.counts();
    Ok(Imported { scenario: text, flows: String::new(), notes: work.notes, counts: [hosts, switches, flows] })
}

/// Nodes with roles and links with rates.
fn wire(work: &mut Work, drawn: Drawn, defaults: &Defaults) -> Wiring {
    let links = if drawn.directed { paired(work, drawn.links, &drawn.nodes) } else { drawn.links };
    let mut degree = vec![0usize; drawn.nodes.len()];
    links.iter().flat_map(|link| link.ends).for_each(|end| degree[end] += 1);
    let mut names = UniqueNames::default();
    let mut wiring = Wiring::default();
    let mut strange: BTreeSet<String> = BTreeSet::new();
    for (node, degree) in drawn.nodes.iter().zip(&degree) {
        let is_host = node.is_host.or_else(|| role(&node.attributes)).unwrap_or(*degree <= 1);
        wiring.nodes.push(WiredNode { name: names.take(&node.name), is_host });
        strange.extend(node.attributes.keys().filter(|key| !ROLES.contains(&key.as_str())).cloned());
    }
    if names.changed {
        work.note("names", "names that are there twice, or contain characters of patterns, are changed");
    }
    let mut assumed = 0;
    for DrawnLink { ends, attributes, place } in links {
        let [a, b] = ends.map(|end| drawn.nodes[end].name.clone());
        if ends[0] == ends[1] {
            work.refuse(place, format!("a link leads from {a} to itself"), "remove it");
            continue;
        }
        if ends.iter().all(|&end| wiring.nodes[end].is_host) {
            let help = "put a switch between them, or give one of them role = \"switch\"";
            work.refuse(place, format!("hosts {a} and {b} are connected directly"), help);
            continue;
        }
        let read = [rate(work, &attributes, place, [&a, &b]).map(|rate| {
            assumed += usize::from(rate.is_none());
            rate.or(defaults.rate)
        })];
        let latency = latency(work, &attributes, place, [&a, &b]);
        let known = |key: &&String| ![&RATES[..], &DELAYS, &LENGTHS].iter().any(|keys| keys.contains(&key.as_str()));
        strange.extend(attributes.keys().filter(known).cloned());
        let (Ok(rate), Ok(latency)) = (read[0], latency) else { continue };
        let Some(rate) = rate else {
            let help = "give it `speed`, such as 100Gb/s, or all links without one a rate by --rate";
            work.refuse(place, format!("the link between {a} and {b} has no `speed`"), help);
            continue;
        };
        wiring.links.push(Wire { ends, rate, latency: latency.or(defaults.latency) });
    }
    if let Some(rate) = defaults.rate.filter(|_| assumed > 0) {
        work.note("links", format!("{assumed} without a speed have {rate} (--rate)"));
    }
    let unknown = wiring.without_latency();
    if unknown > 0 {
        let lengths = "have the latency of 5 m to hosts and of 40 m between switches (--latency)";
        work.note("links", format!("{unknown} without a delay or length {lengths}"));
    }
    if !strange.is_empty() {
        let names: Vec<String> = strange.into_iter().take(30).collect();
        work.note("attributes", format!("not understood: {}", names.join(", ")));
    }
    if wiring.counts()[0] == 0 && work.problems.is_empty() {
        add_hosts(work, &mut wiring, &mut names);
    }
    wiring
}

/// A host at every switch of a drawing without hosts.
fn add_hosts(work: &mut Work, wiring: &mut Wiring, names: &mut UniqueNames) {
    let fastest = wiring.links.iter().map(|link| link.rate).max().unwrap_or(Rate::from_gigabits(100));
    for switch in 0..wiring.nodes.len() {
        let name = names.take(&format!("{}-host", wiring.nodes[switch].name));
        wiring.nodes.push(WiredNode { name, is_host: true });
        let ends = [wiring.nodes.len() - 1, switch];
        wiring.links.push(Wire { ends, rate: fastest, latency: None });
    }
    work.note("hosts", format!("no node is a host: every switch gets one, with a link of {fastest}"));
}

/// The links of a directed graph: one for each pair of opposite edges, and one for an edge without an opposite.
fn paired(work: &mut Work, edges: Vec<DrawnLink>, nodes: &[DrawnNode]) -> Vec<DrawnLink> {
    let mut links: Vec<DrawnLink> = Vec::new();
    // Positions of links that have no opposite edge yet, by their ends.
    let mut open: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
    for edge in edges {
        let [a, b] = edge.ends;
        let opposite =
            open.get_mut(&[b, a]).filter(|_| a != b).and_then(|list| (!list.is_empty()).then(|| list.remove(0)));
        let Some(place) = opposite else {
            open.entry(edge.ends).or_default().push(links.len());
            links.push(edge);
            continue;
        };
        let differs = |key: &&&str| {
            let values = [&links[place].attributes, &edge.attributes].map(|attributes| attributes.get(**key));
            matches!(values, [Some(one), Some(other)] if one != other)
        };
        if let Some(key) = RATES.iter().chain(&DELAYS).chain(&LENGTHS).find(differs) {
            let [a, b] = [a, b].map(|end| &nodes[end].name);
            let message = format!("`{key}` from {a} to {b} differs from that of the other direction");
            work.refuse(edge.place, message, "give both directions the same: links are symmetric here");
        }
        for (key, value) in edge.attributes {
            links[place].attributes.entry(key).or_insert(value);
        }
    }
    links
}

fn role(attributes: &Attributes) -> Option<bool> {
    ROLES.iter().find_map(|key| {
        let value = attributes.get(*key)?.to_ascii_lowercase();
        let is = |words: &[&str]| words.iter().any(|word| value == *word || value == format!("{word}s"));
        if is(&HOSTS) { Some(true) } else { is(&SWITCHES).then_some(false) }
    })
}

/// The value of one of several attributes, if they agree; `Err` if not, or if it cannot be read, which is reported.
fn one<T: PartialEq + Copy>(
    work: &mut Work,
    attributes: &Attributes,
    place: Place,
    [a, b]: [&str; 2],
    keys: &[&str],
    read: impl Fn(&str) -> Option<T>,
    example: &str,
) -> Result<Option<T>, ()> {
    let mut found = None;
    for key in keys {
        let Some(text) = attributes.get(*key).filter(|text| !text.trim().is_empty()) else { continue };
        let Some(value) = read(text.trim()) else {
            let shown: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
            let message = format!("the link between {a} and {b} has `{key}` = \"{shown}\"");
            work.refuse(place, message, format!("give a number with its unit, such as {example}"));
            return Err(());
        };
        match found {
            Some((first, known)) if known != value => {
                let message = format!("`{first}` and `{key}` of the link between {a} and {b} contradict each other");
                work.refuse(place, message, "keep one of them");
                return Err(());
            }
            _ => found = Some((*key, value)),
        }
    }
    Ok(found.map(|(_, value)| value))
}

fn rate(work: &mut Work, attributes: &Attributes, place: Place, ends: [&str; 2]) -> Result<Option<Rate>, ()> {
    one(work, attributes, place, ends, &RATES, read_rate, "100Gb/s")
}

/// Rates as drawings write them: `100Gb/s`, `100 Gbps`, `100G`, `100GbE`.
fn read_rate(text: &str) -> Option<Rate> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '/');
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "g" | "gb" | "gbe" | "gbps" | "gbit" | "gbit/s" | "gb/s" | "gige" => "Gb/s",
        "m" | "mb" | "mbps" | "mbit" | "mbit/s" | "mb/s" => "Mb/s",
        "t" | "tb" | "tbe" | "tbps" | "tbit/s" | "tb/s" => "Tb/s",
        _ => return None,
    };
    format!("{digits}{unit}").parse::<Rate>().ok().filter(|rate| *rate > Rate::ZERO)
}

fn latency(work: &mut Work, attributes: &Attributes, place: Place, ends: [&str; 2]) -> Result<Option<Span>, ()> {
    let with_unit = |text: &str| words::time(text).filter(|_| text.ends_with(|c: char| c.is_ascii_alphabetic()));
    let delay = one(work, attributes, place, ends, &DELAYS, with_unit, "500ns")?;
    let length = one(work, attributes, place, ends, &LENGTHS, read_length, "40m")?;
    Ok(delay.or(length))
}

/// A length as the latency of a fibre.
fn read_length(text: &str) -> Option<Span> {
    let text = text.trim();
    let (digits, metres) = match text.strip_suffix("km") {
        Some(digits) => (digits, 1_000.0),
        None => (text.strip_suffix('m')?, 1.0),
    };
    words::span(words::number(digits.trim())?, metres * PICOS_PER_METRE)
}
