//! Forwarding tables: shortest paths, or none, with the entries of the scenario laid over them.

use super::names::Names;
use super::network::cables_of_pair;
use crate::scenario::resolve::{Gathered, Node};
use fabric::graph::{Graph, HostId, NodeId, PortEnd, Role};
use fabric::routing::Routes;
use fabric::spec::RouteChange;
use units::Time;

struct Tables<'a> {
    graph: &'a Graph,
    ports: Vec<Vec<PortEnd>>,
    switches: Names<'a>,
    /// Node of each switch, in the order of `switches`.
    switch_nodes: Vec<u32>,
    hosts: Names<'a>,
    nodes: Names<'a>,
}

pub(crate) fn routes(gathered: &mut Gathered<'_>, node: &Node, graph: &Graph) -> Option<(Routes, Vec<RouteChange>)> {
    let named = |role: Role| graph.nodes.iter().filter(move |node| node.role == role).map(|node| node.name.as_str());
    let tables = Tables {
        graph,
        ports: graph.ports(),
        switches: Names::new("switch", named(Role::Switch)),
        switch_nodes: (0..)
            .zip(&graph.nodes)
            .filter(|(_, n)| n.role == Role::Switch)
            .map(|(number, _)| number)
            .collect(),
        hosts: Names::new("host", named(Role::Host)),
        nodes: Names::new("node", graph.nodes.iter().map(|node| node.name.as_str())),
    };
    let explicit = node.text("routing").as_deref() == Some("explicit");
    if explicit && !node.given("routes") {
        let help = "add [[network.routes]], or choose routing = \"shortest\"";
        gathered.refuse(node.place_of("routing"), "explicit routing without a single route", help);
    }
    let mut first = if explicit { Routes::empty(graph) } else { Routes::shortest_paths(graph) };
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
        if explicit && entry.has("avoid") {
            let help = "give `routes`, or choose routing = \"shortest\"";
            gathered.refuse(entry.place_of("avoid"), "`avoid` does nothing with explicit routing", help);
            good = false;
        }
        let mut later = if explicit { Routes::empty(graph) } else { Routes::without_links(graph, &down) };
        good &= tables.lay_over(gathered, entry.tables("routes"), &mut later);
        match entry.time("at") {
            Some(at) => changes.push(RouteChange { at: Time::ZERO + at, routes: later }),
            None => good = false,
        }
    }
    good.then_some((first, changes))
}

impl Tables<'_> {
    fn lay_over(&self, gathered: &mut Gathered<'_>, entries: &[Node], routes: &mut Routes) -> bool {
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
                gathered.refuse(entry.place, "a route without a next hop", "add `via` or `ports`");
                return None;
            }
            (Some(_), Some(_)) => {
                gathered.refuse(entry.place_of("ports"), "both `via` and `ports` say where to go", "keep one of them");
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
                let message = format!("`{name}` has no cable to that neighbour");
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
