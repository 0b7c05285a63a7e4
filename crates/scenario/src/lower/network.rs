//! Conversion of `[network]` to a graph with its routes.

use super::bridges;
use super::names::Names;
use super::routes;
use super::subnet;
use crate::Limits;
use crate::memory::Need;
use crate::pattern::Pattern;
use crate::problem::Problem;
use crate::resolve::{Gathered, Node};
use crate::source::Place;
use discovery::spb::Service;
use discovery::subnet::Identities;
use fabric::graph::{Graph, LinkSpec, MAX_HOST_PORTS, NodeId, Role};
use fabric::routing::{Routes, Routing, link_cost};
use fabric::spec::{FlowletChoice, FlowletSpec, Multipath, RouteChange};
use fabric::topology::{self, Links, TopologyError};
use std::collections::BTreeMap;
use units::{Bytes, FrameTime, grouped};

/// A graph, its routes and its framing.
pub(crate) struct Network {
    pub(crate) graph: Graph,
    pub(crate) routes: Routes,
    pub(crate) route_changes: Vec<RouteChange>,
    /// How tables are computed; `None` if the scenario states them.
    pub(crate) routing: Option<Routing>,
    /// Services of its bridges.
    pub(crate) services: Vec<Service>,
    /// Identifiers in an InfiniBand subnet.
    pub(crate) subnet: Identities,
    pub(crate) multipath: Multipath,
    /// Largest frame of the real network.
    pub(crate) largest_frame: Option<Bytes>,
    pub(crate) overhead: Bytes,
    pub(crate) smallest_frame: Bytes,
    pub(crate) frame_time: FrameTime,
}

pub(crate) fn network(gathered: &mut Gathered<'_>, root: &Node, limits: &Limits) -> Option<Network> {
    let node = root.table("network")?;
    let mut graph = draw(gathered, node, limits)?;
    fits(gathered, node, &graph, limits)?;
    if let Some(addresses) = node.text("addresses") {
        graph.port_addresses = addresses == "port";
    }
    let metrics = change_cables(gathered, node, &mut graph)?;
    if let Err(error) = graph.validate() {
        gathered.refuse(node.place, error.to_string(), "");
        return None;
    }
    let routing = routes::routing(gathered, node, &graph, &metrics)?;
    let (routes, route_changes) = routes::routes(gathered, node, &graph, routing.as_ref())?;
    Some(Network {
        routes,
        route_changes,
        services: bridges::services(gathered, node, &graph)?,
        subnet: subnet::identities(gathered, node, &graph)?,
        graph,
        routing,
        multipath: match node.text("multipath").as_deref() {
            Some("spray") => Multipath::Spray,
            Some("adaptive") => Multipath::Adaptive,
            Some("path-number") => Multipath::Numbered,
            Some("flowlet") => Multipath::Flowlet(FlowletSpec {
                gap: node.time("flowlet_gap")?,
                entries: u32::try_from(node.count("flowlet_entries")?).unwrap_or(u32::MAX),
                choice: match node.text("flowlet_choice")?.as_str() {
                    "shortest" => FlowletChoice::Shortest,
                    _ => FlowletChoice::Random,
                },
            }),
            _ => Multipath::FlowHash,
        },
        largest_frame: node.size("largest_frame"),
        overhead: node.size("overhead")?,
        smallest_frame: node.size("smallest_frame")?,
        frame_time: match node.text("frame_time")?.as_str() {
            "nanoseconds-down" => FrameTime::NanosecondsDown,
            "nearest-nanosecond" => FrameTime::NearestNanosecond,
            _ => FrameTime::Exact,
        },
    })
}

/// Returns the memory requirements of a network.
pub(crate) fn need_of(graph: &Graph) -> Need {
    Need::network(graph.nodes.len() as u64, graph.cables.len() as u64, entries_of(graph))
}

/// Returns the number of entries in its tables.
fn entries_of(graph: &Graph) -> u64 {
    let hosts = graph.nodes.iter().filter(|node| node.role == Role::Host).count() as u64;
    hosts.saturating_mul(graph.nodes.len() as u64 - hosts)
}

/// Refuses a network that exceeds a limit, before anything else is computed from it.
fn fits(gathered: &mut Gathered<'_>, node: &Node, graph: &Graph, limits: &Limits) -> Option<()> {
    let sizes = [
        ("nodes", graph.nodes.len() as u64, limits.nodes),
        ("links", graph.cables.len() as u64, limits.cables),
        ("routes", entries_of(graph), limits.routes),
    ];
    let mut fits = true;
    for (what, count, limit) in sizes.into_iter().filter(|(_, count, limit)| count > limit) {
        gathered.refuse(node.place_of("topology"), too_large(what, count, limit), "reduce its parameters");
        fits = false;
    }
    if fits && let Err((message, help)) = need_of(graph).within(limits.memory) {
        gathered.refuse(node.place_of("topology"), message, help);
        fits = false;
    }
    fits.then_some(())
}

fn too_large(what: &str, count: u64, limit: u64) -> String {
    format!("the network would have {} {what}; the limit is {}", grouped(count), grouped(limit))
}

/// Returns its memory requirements with further tables for every change of the state of a cable.
pub(crate) fn need_of_changes(graph: &Graph, changes: usize) -> Need {
    need_of(graph).and_tables(entries_of(graph), changes as u64)
}

fn draw(gathered: &mut Gathered<'_>, node: &Node, limits: &Limits) -> Option<Graph> {
    let link = node.table("link").and_then(|link| {
        Some(LinkSpec {
            rate: link.rate("rate")?,
            latency: link.time("latency")?,
            bit_error_rate: link.number("bit_error_rate")?,
        })
    });
    match (node.text("topology"), node.given("nodes")) {
        (Some(name), true) => {
            let problem = Problem::new(
                node.place_of("nodes"),
                "both `topology` and `nodes` are given",
                "keep one of the two: `topology` with its parameters, or `nodes` and `links`",
            );
            let label = format!("the topology \"{name}\" creates its own nodes");
            gathered.problems.push(problem.and(node.place_of("topology"), label));
            None
        }
        (Some(_), false) if node.given("links") => {
            let help =
                "to change a link of the topology, use `cables`; to define your own network, list `nodes` and `links`";
            gathered.refuse(node.place_of("links"), "both `topology` and `links` are given", help);
            None
        }
        (Some(name), false) => {
            let link = link?;
            let trunk = node.table("trunk").map_or(link, |trunk| changed(link, trunk));
            named(gathered, node, &name, Links { host: link, trunk })
        }
        (None, true) => written_out(gathered, node, link?, limits),
        (None, false) if node.given("topology") => None,
        (None, false) => {
            let help = "name a topology, such as topology = \"single-switch\", or list [[network.nodes]] and [[network.links]]";
            gathered.refuse(node.place, "the network has neither a topology nor nodes", help);
            None
        }
    }
}

/// Returns a cable with the changes of a section.
fn changed(link: LinkSpec, node: &Node) -> LinkSpec {
    LinkSpec {
        rate: node.rate("rate").unwrap_or(link.rate),
        latency: node.time("latency").unwrap_or(link.latency),
        bit_error_rate: node.number("bit_error_rate").unwrap_or(link.bit_error_rate),
    }
}

fn named(gathered: &mut Gathered<'_>, node: &Node, name: &str, links: Links) -> Option<Graph> {
    let number = |key: &str| node.count(key).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let dims = || -> Option<Vec<u32>> {
        Some(node.counts("dims")?.iter().map(|(count, _)| u32::try_from(*count).unwrap_or(u32::MAX)).collect())
    };
    let drawn = match name {
        "single-switch" => topology::single_switch(number("hosts")?, links.host),
        "dumbbell" => topology::dumbbell(number("left")?, number("right")?, links.host, links.trunk),
        "two-switches" => topology::two_switches(number("left")?, number("right")?, number("trunks")?, links),
        "chain" => topology::chain(number("switches")?, number("hosts_per_switch")?, links),
        "ring" => topology::ring(number("switches")?, number("hosts_per_switch")?, links),
        "tree" => topology::tree(number("depth")?, number("fanout")?, number("hosts_per_leaf")?, links),
        "leaf-spine" => topology::leaf_spine(number("leaves")?, number("spines")?, number("hosts_per_leaf")?, links),
        "fat-tree" => topology::fat_tree(number("k")?, links),
        "torus" => topology::torus(&dims()?, number("hosts_per_switch")?, links),
        "mesh" => topology::mesh(&dims()?, number("hosts_per_switch")?, links),
        "dragonfly" => topology::dragonfly(
            number("groups")?,
            number("routers_per_group")?,
            number("hosts_per_router")?,
            number("global_links")?,
            links,
        ),
        other => {
            gathered.refuse(node.place_of("topology"), format!("the topology \"{other}\" is not supported"), "");
            return None;
        }
    };
    let drawn = match number("rails") {
        Some(rails) => drawn.and_then(|graph| topology::rails(&graph, rails)),
        None => drawn,
    };
    let drawn = match number("planes") {
        Some(planes) => drawn.and_then(|graph| topology::planes(&graph, planes)),
        None => drawn,
    };
    let drawn = match number("host_links") {
        Some(links) => drawn.and_then(|graph| topology::host_links(graph, links)),
        None => drawn,
    };
    match drawn {
        Ok(graph) => Some(graph),
        Err(error) => {
            let key = match &error {
                TopologyError::TooSmall { parameter, .. } => parameter,
                TopologyError::OddPorts { .. } => "k",
                TopologyError::NoDimensions { .. } => "dims",
                TopologyError::UnevenGlobalLinks { .. } => "groups",
                TopologyError::UnevenRails { .. } => "rails",
                TopologyError::TooLarge { .. } | TopologyError::Graph(_) => "topology",
            };
            let text = error.to_string();
            let (message, help) = text.split_once("; ").unwrap_or((&text, ""));
            gathered.refuse(node.place_of(key), message, help);
            None
        }
    }
}

fn written_out(gathered: &mut Gathered<'_>, node: &Node, link: LinkSpec, limits: &Limits) -> Option<Graph> {
    let mut graph = Graph::default();
    let mut places: BTreeMap<String, Place> = BTreeMap::new();
    let mut good = true;
    for entry in node.tables("nodes") {
        let (Some(patterns), Some(role)) = (entry.names("names"), entry.text("role")) else {
            good = false;
            continue;
        };
        let role = if role == "host" { Role::Host } else { Role::Switch };
        let layer = entry.count("layer").unwrap_or(u64::from(role == Role::Switch));
        if !entry.has("layer") {
            gathered.computed(&entry.path, "layer", layer);
        }
        for (text, place) in &patterns {
            let names = match Pattern::parse(text).and_then(|pattern| pattern.expand()) {
                Ok(names) => names,
                Err(reason) => {
                    gathered.refuse(*place, reason, "");
                    good = false;
                    continue;
                }
            };
            let count = (graph.nodes.len() + names.len()) as u64;
            if count > limits.nodes {
                gathered.refuse(*place, too_large("nodes", count, limits.nodes), "name fewer nodes");
                return None;
            }
            for name in names {
                if let Some(first) = places.get(&name) {
                    let problem = Problem::new(*place, format!("two nodes are named `{name}`"), "rename one of them");
                    gathered.problems.push(problem.and(*first, "the first"));
                    good = false;
                } else {
                    places.insert(name.clone(), *place);
                    graph.node(name, role, u16::try_from(layer).unwrap_or(u16::MAX));
                }
            }
        }
    }
    if !good {
        return None;
    }
    let nodes = graph.nodes.clone();
    let names = Names::new("node", nodes.iter().map(|node| node.name.as_str()));
    for entry in node.tables("links") {
        good &= join(gathered, entry, &names, link, &mut graph).is_some();
    }
    if !good {
        return None;
    }
    let mut cables = vec![0_usize; nodes.len()];
    for cable in &graph.cables {
        cables[cable.a.0 as usize] += 1;
        cables[cable.b.0 as usize] += 1;
    }
    for (node, &count) in nodes.iter().zip(&cables) {
        if node.role == Role::Host && !(1..=MAX_HOST_PORTS).contains(&count) {
            let place = places.get(&node.name).copied().unwrap_or(Place { source: 0, start: 0, end: 0 });
            let message = format!("host `{}` has {count} links; a host has 1 to {MAX_HOST_PORTS}", node.name);
            gathered.refuse(place, message, "connect it to a switch, or make it a switch if it forwards");
            good = false;
        }
    }
    good.then_some(graph)
}

/// Adds a cable for every pair that an entry selects.
fn join(gathered: &mut Gathered<'_>, entry: &Node, names: &Names<'_>, link: LinkSpec, graph: &mut Graph) -> Option<()> {
    let pairs = entry.pairs("between")?;
    let [a, b] = pairs.first()?;
    let ends =
        (names.select(gathered, std::slice::from_ref(a), a.1), names.select(gathered, std::slice::from_ref(b), b.1));
    let (Some(left), Some(right)) = ends else { return None };
    let link = changed(link, entry);
    let count = entry.count("count")?;
    let most = topology::MAX_CABLES as u128;
    if left.len() as u128 * right.len() as u128 * u128::from(count) + graph.cables.len() as u128 > most {
        gathered.refuse(entry.place_of("between"), "too many links", format!("the limit is {most}"));
        return None;
    }
    if left == right && left.len() == 1 {
        gathered.refuse(b.1, format!("a link connects `{}` to itself", names.name(left[0])), "name another node");
        return None;
    }
    let both: std::collections::BTreeSet<u32> = left.iter().copied().filter(|end| right.contains(end)).collect();
    for &from in &left {
        for &to in &right {
            // Where both patterns match both nodes the pair is met twice and joined once.
            if from == to || (from > to && both.contains(&from) && both.contains(&to)) {
                continue;
            }
            for _ in 0..count {
                graph.cable(NodeId(from), NodeId(to), link);
            }
        }
    }
    Some(())
}

/// Changes cables, and returns the metrics that differ from those of their rates, each with its position.
fn change_cables(gathered: &mut Gathered<'_>, node: &Node, graph: &mut Graph) -> Option<BTreeMap<u32, (u32, Place)>> {
    let mut good = true;
    let mut metrics = BTreeMap::new();
    for entry in node.tables("cables") {
        let Some(cables) = cables_between(gathered, entry, graph) else {
            good = false;
            continue;
        };
        let metric =
            entry.counts("metric").map(|ends| ends.iter().map(|(metric, _)| *metric as u32).collect::<Vec<_>>());
        let metric = match metric.as_deref() {
            None => None,
            Some([both]) => Some(*both),
            Some([one, other]) => Some(link_cost(*one, *other)),
            Some(more) => {
                let message = format!("{} metrics are given, but a link has two ends", more.len());
                gathered.refuse(entry.place_of("metric"), message, "give one metric, or one for each end");
                good = false;
                None
            }
        };
        for cable in cables {
            let link = &mut graph.cables[cable as usize].link;
            *link = changed(*link, entry);
            if let Some(metric) = metric {
                metrics.insert(cable, (metric, entry.place_of("metric")));
            }
        }
    }
    good.then_some(metrics)
}

/// Returns the cables that `between` and `which` of a section select.
pub(crate) fn cables_between(gathered: &mut Gathered<'_>, entry: &Node, graph: &Graph) -> Option<Vec<u32>> {
    let pairs = entry.pairs("between")?;
    let found = cables_of_pair(gathered, pairs.first()?, entry.place_of("between"), graph)?;
    let Some(which) = entry.count("which") else { return Some(found) };
    // Parallel cables are numbered among those of the same two nodes.
    let mut met: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut chosen = Vec::new();
    for cable in found {
        let ends = &graph.cables[cable as usize];
        let number = met.entry((ends.a.0.min(ends.b.0), ends.a.0.max(ends.b.0))).or_insert(0);
        if *number == which {
            chosen.push(cable);
        }
        *number += 1;
    }
    if chosen.is_empty() {
        let most = met.values().max().copied().unwrap_or(0);
        let message = format!("there is no link {which} between them");
        gathered.refuse(entry.place_of("which"), message, format!("there are {most}, numbered from 0"));
        return None;
    }
    Some(chosen)
}

/// Returns all cables between two patterns.
pub(crate) fn cables_of_pair(
    gathered: &mut Gathered<'_>,
    pair: &[(String, Place); 2],
    place: Place,
    graph: &Graph,
) -> Option<Vec<u32>> {
    let names = Names::new("node", graph.nodes.iter().map(|node| node.name.as_str()));
    let [a, b] = pair;
    let ends =
        (names.select(gathered, std::slice::from_ref(a), a.1), names.select(gathered, std::slice::from_ref(b), b.1));
    let (Some(left), Some(right)) = ends else { return None };
    let mut sides = vec![(false, false); graph.nodes.len()];
    left.iter().for_each(|&node| sides[node as usize].0 = true);
    right.iter().for_each(|&node| sides[node as usize].1 = true);
    let joins = |from: NodeId, to: NodeId| sides[from.0 as usize].0 && sides[to.0 as usize].1;
    let matching = (0..).zip(&graph.cables).filter(|(_, cable)| joins(cable.a, cable.b) || joins(cable.b, cable.a));
    let found: Vec<u32> = matching.map(|(number, _)| number).collect();
    if found.is_empty() {
        gathered.refuse(place, format!("no link connects `{}` and `{}`", a.0, b.0), "name two neighbours");
        return None;
    }
    Some(found)
}
