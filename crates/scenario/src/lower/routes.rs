//! Forwarding tables: computed by the routing, at the start and after cable failures, and overridden by the entries of
//! the scenario.

use super::bridges;
use super::names::Names;
use super::network::cables_of_pair;
use crate::resolve::{Gathered, Node};
use crate::source::Place;
use fabric::graph::{Graph, HostId, NodeId, PortEnd, Role};
use fabric::routing::{Bridges, Routes, Routing, centre};
use fabric::spec::RouteChange;
use std::collections::BTreeMap;
use units::{Time, grouped};

/// Maximum number of spanning trees: IEEE 802.1Q has 64 instances beside the common one.
const MOST_TREES: usize = 64;
/// Maximum number of pairs of switch and host for a routing that examines every path: some seconds.
const MOST_PATHS: usize = 1 << 22;

pub(super) struct Tables<'a> {
    graph: &'a Graph,
    ports: Vec<Vec<PortEnd>>,
    switches: Names<'a>,
    /// Node of each switch, in the order of `switches`.
    switch_nodes: Vec<u32>,
    hosts: Names<'a>,
    nodes: Names<'a>,
}

/// Returns how tables are computed; `Some(None)` if the scenario states them.
pub(crate) fn routing(
    gathered: &mut Gathered<'_>,
    node: &Node,
    graph: &Graph,
    metrics: &BTreeMap<u32, (u32, Place)>,
) -> Option<Option<Routing>> {
    let name = node.text("routing")?;
    let weighs = ["spb", "spanning-tree", "multiple-spanning-tree"].contains(&name.as_str());
    if let (false, Some((_, place))) = (weighs, metrics.values().next()) {
        let help = "remove it, or choose routing = \"spb\" or a spanning tree";
        gathered.refuse(*place, format!("`metric` has no effect with routing = \"{name}\", which counts hops"), help);
        return None;
    }
    let hosts = graph.hosts().len();
    let pairs = hosts.saturating_mul(graph.nodes.len() - hosts);
    if ["lash", "dfsssp"].contains(&name.as_str()) && pairs > MOST_PATHS {
        let message =
            format!("{name} computes every path, and there are {} pairs of switch and host", grouped(pairs as u64));
        let help =
            format!("the limit is {}; reduce the network, or choose routing = \"up-down\"", grouped(MOST_PATHS as u64));
        gathered.refuse(node.place_of("routing"), message, help);
        return None;
    }
    let bridges = || {
        let mut bridges = Bridges::plain(graph);
        metrics.iter().for_each(|(&cable, &(metric, _))| bridges.costs[cable as usize] = metric);
        bridges
    };
    Some(Some(match name.as_str() {
        "explicit" => return Some(None),
        "up-down" => Routing::UpDown { roots: roots(gathered, node, graph, |_| centre(graph).into_iter().collect())? },
        "lash" => Routing::Lash,
        "dfsssp" => Routing::Dfsssp,
        "spb" => {
            let mut bridges = bridges();
            bridges::identify(gathered, node, graph, &mut bridges)?;
            Routing::Spb { bridges, trees: node.count("trees")? as u8 }
        }
        "spanning-tree" => {
            let roots = roots(gathered, node, graph, |switches| switches.iter().take(1).copied().collect())?;
            if roots.len() > 1 {
                let help = "name one switch, or choose routing = \"multiple-spanning-tree\"";
                gathered.refuse(node.place_of("roots"), format!("{} roots are given for one tree", roots.len()), help);
                return None;
            }
            Routing::SpanningTrees { roots, bridges: bridges() }
        }
        "multiple-spanning-tree" => {
            let layer = |switch: &NodeId| graph.nodes[switch.0 as usize].layer;
            let roots = roots(gathered, node, graph, |switches| {
                let top = switches.iter().map(layer).max().unwrap_or(0);
                switches.iter().copied().filter(|switch| layer(switch) == top).take(MOST_TREES).collect()
            })?;
            if roots.len() > MOST_TREES {
                let message = format!("{} roots are given; the limit is {MOST_TREES}", roots.len());
                gathered.refuse(node.place_of("roots"), message, "name fewer switches");
                return None;
            }
            Routing::SpanningTrees { roots, bridges: bridges() }
        }
        _ => Routing::Shortest,
    }))
}

/// Returns the switches that `roots` names, or the default ones.
fn roots(
    gathered: &mut Gathered<'_>,
    node: &Node,
    graph: &Graph,
    usual: impl FnOnce(&[NodeId]) -> Vec<NodeId>,
) -> Option<Vec<NodeId>> {
    let switches = graph.switches();
    let name = |switch: &NodeId| graph.nodes[switch.0 as usize].name.as_str();
    if let Some(patterns) = node.names("roots") {
        let names = Names::new("switch", switches.iter().map(name));
        let chosen = names.select(gathered, &patterns, node.place_of("roots"))?;
        return Some(chosen.into_iter().map(|number| switches[number as usize]).collect());
    }
    let taken = usual(&switches);
    gathered.computed(&node.path, "roots", format!("{:?}", taken.iter().map(name).collect::<Vec<_>>()));
    Some(taken)
}

/// Returns the tables at the start, and later ones stated in the scenario.
pub(crate) fn routes(
    gathered: &mut Gathered<'_>,
    node: &Node,
    graph: &Graph,
    routing: Option<&Routing>,
) -> Option<(Routes, Vec<RouteChange>)> {
    let tables = Tables::new(graph);
    if routing.is_none() && !node.given("routes") {
        let help = "add [[network.routes]], or choose routing = \"shortest\"";
        gathered.refuse(node.place_of("routing"), "explicit routing has no routes", help);
    }
    let mut first = compute(gathered, node, graph, routing, &[])?;
    // From one root every switch can be reached; from several perhaps not.
    if matches!(routing, Some(Routing::UpDown { roots }) if roots.len() > 1) {
        let unreached = first.survey(graph).unreached;
        if unreached > 0 {
            let message = format!("{unreached} pairs of hosts have no path that goes up first and then only down");
            gathered.refuse(node.place_of("roots"), message, "name a single root; every switch can be reached from it");
            return None;
        }
    }
    let mut good = tables.lay_over(gathered, node.tables("routes"), &mut first);
    let mut changes = Vec::new();
    for entry in node.tables("reroutes") {
        let mut down = Vec::new();
        for pair in entry.pairs("avoid").unwrap_or_default() {
            match cables_of_pair(gathered, &pair, entry.place_of("avoid"), graph) {
                Some(cables) => down.extend(cables),
                None => good = false,
            }
        }
        if routing.is_none() && entry.has("avoid") {
            let help = "give `routes`, or choose routing = \"shortest\"";
            gathered.refuse(entry.place_of("avoid"), "`avoid` has no effect with explicit routing", help);
            good = false;
        }
        let mut later = compute(gathered, node, graph, routing, &down)?;
        later.take_layers(&first);
        good &= tables.lay_over(gathered, entry.tables("routes"), &mut later);
        match entry.time("at") {
            Some(at) => changes.push(RouteChange::everywhere(Time::ZERO + at, later)),
            None => good = false,
        }
    }
    good.then_some((first, changes))
}

pub(super) fn compute(
    gathered: &mut Gathered<'_>,
    node: &Node,
    graph: &Graph,
    routing: Option<&Routing>,
    down: &[u32],
) -> Option<Routes> {
    let Some(routing) = routing else { return Some(Routes::empty(graph)) };
    match routing.compute(graph, down) {
        Ok(routes) => Some(routes),
        Err(error) => {
            let text = error.to_string();
            let (message, help) = text.split_once("; ").unwrap_or((&text, ""));
            gathered.refuse(node.place_of("routing"), message, help);
            None
        }
    }
}

impl<'a> Tables<'a> {
    pub(super) fn new(graph: &'a Graph) -> Tables<'a> {
        let named =
            |role: Role| graph.nodes.iter().filter(move |node| node.role == role).map(|node| node.name.as_str());
        Tables {
            graph,
            ports: graph.ports(),
            switches: Names::new("switch", named(Role::Switch)),
            switch_nodes: graph.switches().into_iter().map(|switch| switch.0).collect(),
            hosts: Names::new("host", named(Role::Host)),
            nodes: Names::new("node", graph.nodes.iter().map(|node| node.name.as_str())),
        }
    }
}

impl Tables<'_> {
    pub(super) fn lay_over(&self, gathered: &mut Gathered<'_>, entries: &[Node], routes: &mut Routes) -> bool {
        let mut good = true;
        for entry in entries {
            good &= self.entry(gathered, entry, routes).is_some();
        }
        good
    }

    fn entry(&self, gathered: &mut Gathered<'_>, entry: &Node, routes: &mut Routes) -> Option<()> {
        let at = self.switches.select(gathered, &entry.names("at")?, entry.place_of("at"));
        let to = self.hosts.select(gathered, &entry.names("to")?, entry.place_of("to"));
        let (Some(at), Some(to)) = (at, to) else { return None };
        let via = match entry.names("via") {
            Some(names) => Some(self.nodes.select(gathered, &names, entry.place_of("via"))?),
            None => None,
        };
        let ports = entry.counts("ports");
        match (&via, &ports) {
            (None, None) if entry.given("via") || entry.given("ports") => return None,
            (None, None) => {
                gathered.refuse(entry.place, "the route has no next hop", "add `via` or `ports`");
                return None;
            }
            (Some(_), Some(_)) => {
                gathered.refuse(entry.place_of("ports"), "both `via` and `ports` give a next hop", "keep one of them");
                return None;
            }
            _ => {}
        }
        for &switch in &at {
            let node = *self.switch_nodes.get(switch as usize)?;
            let ends = &self.ports[node as usize];
            let chosen: Vec<u16> = match (&via, &ports) {
                (Some(via), _) => {
                    let leads = |(_, end): &(u16, &PortEnd)| via.contains(&end.peer.0);
                    (0_u16..).zip(ends).filter(leads).map(|(port, _)| port).collect()
                }
                (None, Some(ports)) => ports.iter().map(|(port, _)| u16::try_from(*port).unwrap_or(u16::MAX)).collect(),
                (None, None) => Vec::new(),
            };
            let name = &self.graph.nodes[node as usize].name;
            if chosen.is_empty() {
                let near: std::collections::BTreeSet<&str> =
                    ends.iter().map(|end| self.graph.nodes[end.peer.0 as usize].name.as_str()).collect();
                let near: Vec<&str> = near.into_iter().take(12).collect();
                let message = format!("`{name}` has no link to that neighbour");
                gathered.refuse(entry.place_of("via"), message, format!("its neighbours are {}", near.join(", ")));
                return None;
            }
            for &host in &to {
                if let Err(error) = routes.set(NodeId(node), HostId(host), &chosen) {
                    let help = format!("`{name}` has {} ports, numbered from 0", ends.len());
                    gathered.refuse(entry.place_of("ports"), error.to_string(), help);
                    return None;
                }
            }
        }
        Some(())
    }
}
