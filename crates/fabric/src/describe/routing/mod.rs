//! Forwarding: for every switch and every destination host, the ports that lead there.
//!
//! A switch has few distinct sets of ports and many hosts, so [`Routes`] keeps one 16-bit group number per (switch, host),
//! those of hosts that are reached alike once, and the port lists once per switch. Which port of a list a frame takes is the business of [`pick`].
//!
//! Routes forward by destination alone: no source routes, no input port. What a source adds is in the frame: which of
//! several trees it goes by, and the lane it goes in. Hosts never forward.

mod algorithm;
mod columns;
mod dependency;
mod ecmp;
mod error;
mod filtering;
mod groups;
mod layers;
mod path;
mod shortest;
mod single;
mod spb;
mod survey;
mod switches;
mod updown;

pub use algorithm::Routing;
pub use dependency::{Circle, dependency_cycle};
pub use ecmp::{flow_entropy, pick, salt, tree_entropy};
pub use error::RouteError;
pub use filtering::{Branch, Paths};
pub use groups::Groups;
pub use layers::Waits;
pub use spb::{Bridges, MASKS, MOST_METRIC, link_cost, path_cost};
pub use survey::Survey;
pub use updown::centre;

use crate::describe::graph::{Graph, HostId, NodeId, PortEnd, Role};
use columns::Columns;

/// The most lanes a routing may use: there are no more priorities, and InfiniBand has no more data lanes in common use.
pub const MAX_LANES: usize = crate::describe::spec::MAX_CLASSES;

/// Row of a node that forwards nothing.
const NO_ROW: u32 = u32::MAX;

/// What a node that is no switch has.
const NO_GROUPS: &Groups = &Groups::new(0);

/// Forwarding tables of all switches of a graph.
#[derive(Clone, Debug)]
pub struct Routes {
    /// Node to its row, [`NO_ROW`] for a host.
    rows: Vec<u32>,
    hosts: usize,
    /// Destinations: hosts, and after these the ports that have addresses of their own.
    columns: usize,
    /// Of each of these ports the host, the row of the switch it is connected to, and the port there.
    ports: Vec<(HostId, u32, u16)>,
    /// The group number of each (row, destination).
    entries: Columns,
    /// Port lists of each row.
    groups: Vec<Groups>,
    /// How many trees a source may choose among; a list then has a port for each, in order. 0 where every switch
    /// chooses by itself.
    trees: u8,
    /// The lane of each (switch of the source, host), as `entries`; empty where there is one lane.
    layers: Vec<u8>,
    lanes: u8,
}

impl Routes {
    /// Tables without a single route, for a control plane to fill in.
    ///
    /// # Panics
    /// If the graph is one that [`Graph::validate`] refuses.
    #[must_use]
    pub fn empty(graph: &Graph) -> Routes {
        let ports = graph.ports();
        let (mut rows, mut groups) = (Vec::with_capacity(graph.nodes.len()), Vec::new());
        for (node, ends) in graph.nodes.iter().zip(&ports) {
            if node.role == Role::Switch {
                rows.push(u32::try_from(groups.len()).expect("fewer than 2^32 nodes"));
                groups.push(Groups::new(u16::try_from(ends.len()).expect("at most MAX_PORTS ports")));
            } else {
                rows.push(NO_ROW);
            }
        }
        let hosts = rows.len() - groups.len();
        let port = |(host, end): (HostId, PortEnd)| (host, rows[end.peer.0 as usize], end.peer_port);
        let ports: Vec<(HostId, u32, u16)> = graph.addressed_ports().into_iter().map(port).collect();
        let columns = hosts + ports.len();
        let entries = Columns::empty(groups.len(), columns);
        Routes { rows, hosts, columns, ports, entries, groups, trees: 0, layers: Vec::new(), lanes: 1 }
    }

    /// All paths of fewest hops, the ports of a list in ascending order.
    ///
    /// # Panics
    /// If the graph is one that [`Graph::validate`] refuses.
    #[must_use]
    pub fn shortest_paths(graph: &Graph) -> Routes {
        shortest::compute(graph, &[])
    }

    /// All paths of fewest hops that avoid the cables `down`, given by their positions in [`Graph::cables`].
    ///
    /// # Panics
    /// If the graph is one that [`Graph::validate`] refuses.
    #[must_use]
    pub fn without_links(graph: &Graph, down: &[u32]) -> Routes {
        shortest::compute(graph, down)
    }

    /// Explicit tables: ports for each (switch, host) named, nothing for the others. A later entry replaces an earlier.
    ///
    /// # Errors
    /// As [`Routes::set`], at the first wrong entry.
    ///
    /// # Panics
    /// If the graph is one that [`Graph::validate`] refuses.
    pub fn from_tables<P: AsRef<[u16]>>(
        graph: &Graph,
        tables: impl IntoIterator<Item = (NodeId, HostId, P)>,
    ) -> Result<Routes, RouteError> {
        let mut routes = Routes::empty(graph);
        for (switch, host, ports) in tables {
            routes.set(switch, host, ports.as_ref())?;
        }
        Ok(routes)
    }

    /// Sends what goes to `host` out of `ports` at `switch`; no ports drop the route. Order and repetition do not
    /// matter.
    ///
    /// # Errors
    /// A node that is no switch, a host or a port that does not exist. Nothing changes then.
    pub fn set(&mut self, switch: NodeId, host: HostId, ports: &[u16]) -> Result<(), RouteError> {
        if host.0 as usize >= self.hosts {
            return Err(RouteError::NoSuchHost { host, hosts: self.hosts });
        }
        self.set_column(switch, host, ports)?;
        // The addresses of its ports are reached alike, but for the last hop.
        for (number, (of, row, last)) in (self.hosts as u32..).zip(self.ports.clone()) {
            let here = of == host && self.row(switch) == Some(row as usize) && !ports.is_empty();
            if of == host {
                self.set_column(switch, HostId(number), if here { std::slice::from_ref(&last) } else { ports })?;
            }
        }
        Ok(())
    }

    /// Likewise for one destination: a host, or the address of a port.
    fn set_column(&mut self, switch: NodeId, host: HostId, ports: &[u16]) -> Result<(), RouteError> {
        let row = self.row(switch).ok_or(RouteError::NotASwitch { node: switch })?;
        let column = host.0 as usize;
        let count = self.groups[row].port_count();
        if let Some(&port) = ports.iter().find(|&&port| port >= count) {
            return Err(RouteError::NoSuchPort { switch, port, ports: count });
        }
        let mut ports = ports.to_vec();
        ports.sort_unstable();
        ports.dedup();
        // Clear the entry first: a full table of groups reuses those without an entry, and this may free one.
        self.entries.set(row, column, 0);
        let group = match self.groups[row].intern(&ports) {
            Some(group) => group,
            None => {
                let groups = &mut self.groups[row];
                self.entries.renumber(row, |numbers| groups.compact(numbers));
                groups.intern(&ports).ok_or(RouteError::TooManyGroups { switch })?
            }
        };
        self.entries.set(row, column, group);
        Ok(())
    }

    /// The address of a port of a host: the host itself, if its ports have no addresses or there is no such port.
    #[must_use]
    pub fn address(&self, host: HostId, port: u16) -> HostId {
        let (first, count) = self.addresses(host);
        if port < count { HostId(first.0 + u32::from(port)) } else { host }
    }

    /// The first address of the ports of a host, and how many there are: none, if they have no addresses.
    pub(crate) fn addresses(&self, host: HostId) -> (HostId, u16) {
        // They are in the order of hosts.
        let first = self.ports.partition_point(|(of, ..)| of.0 < host.0);
        let count = self.ports[first..].iter().take_while(|(of, ..)| *of == host).count();
        (HostId((self.hosts + first) as u32), count as u16)
    }

    /// The host that has an address: a host itself, or the address of a port.
    #[must_use]
    pub fn host_of(&self, address: HostId) -> HostId {
        let port = (address.0 as usize).checked_sub(self.hosts).and_then(|place| self.ports.get(place));
        port.map_or(address, |(host, ..)| *host)
    }

    /// The ports at `switch` that lead to `host`, or to the address of a port, ascending or one for each tree; empty if there is no way, or no such switch or host.
    #[inline]
    #[must_use]
    pub fn ports(&self, switch: NodeId, host: HostId) -> &[u16] {
        match self.row(switch).filter(|_| (host.0 as usize) < self.columns) {
            Some(row) => self.groups[row].ports(self.entries.get(row, host.0 as usize)),
            None => &[],
        }
    }

    /// For each host its group number at `switch`; empty for a node that is no switch.
    #[must_use]
    pub fn table(&self, switch: NodeId) -> Vec<u16> {
        let row = self.row(switch).into_iter();
        row.flat_map(|row| (0..self.hosts).map(move |host| self.entries.get(row, host))).collect()
    }

    /// Whether the routes are those of a graph with these switches, and so many hosts and ports with addresses.
    pub(crate) fn fits(&self, mut switches: impl Iterator<Item = NodeId>, hosts: usize, ports: usize) -> bool {
        (self.hosts, self.ports.len()) == (hosts, ports) && switches.all(|switch| self.row(switch).is_some())
    }

    /// The column of a host, and the group numbers at all rows but perhaps that of its own switch. Hosts of one column
    /// share them.
    pub(crate) fn column(&self, host: HostId) -> (u32, &[u16]) {
        self.entries.column(host.0 as usize)
    }

    /// The group number of a host at a row: the switches in graph order.
    pub(crate) fn group(&self, row: usize, host: HostId) -> u16 {
        self.entries.get(row, host.0 as usize)
    }

    /// The port lists that the numbers of [`Routes::table`] stand for.
    #[inline]
    #[must_use]
    pub fn groups(&self, switch: NodeId) -> &Groups {
        self.row(switch).map_or(NO_GROUPS, |row| &self.groups[row])
    }

    /// Number of hosts: the length of every table.
    #[must_use]
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// How many trees a source may choose among; 0 where every switch chooses by itself among equal ports.
    #[must_use]
    pub fn trees(&self) -> u8 {
        self.trees
    }

    /// What a switch mixes into its choice among ports: nothing where the choice is the source's and must be the same
    /// at every switch.
    #[must_use]
    pub fn salt(&self, switch: NodeId) -> u32 {
        if self.trees > 0 { 0 } else { salt(switch) }
    }

    /// How many lanes keep these routes free of circles.
    #[must_use]
    pub fn lanes(&self) -> u8 {
        self.lanes
    }

    /// The lane of what a host on `switch` sends to `host`.
    #[must_use]
    pub fn lane(&self, switch: NodeId, host: HostId) -> u8 {
        let entry = self.row(switch).map(|row| row * self.columns + host.0 as usize);
        entry.and_then(|entry| self.layers.get(entry)).copied().unwrap_or(0)
    }

    fn set_layers(&mut self, layers: Vec<u8>, lanes: u8) {
        (self.layers, self.lanes) = (if lanes > 1 { layers } else { Vec::new() }, lanes);
    }

    /// The same tables with all in one lane.
    pub fn forget_layers(&mut self) {
        self.set_layers(Vec::new(), 1);
    }

    /// The same tables with the lanes of others of the same graph: sources that keep their lanes when tables change.
    pub fn take_layers(&mut self, other: &Routes) {
        self.set_layers(other.layers.clone(), other.lanes);
    }

    fn row(&self, switch: NodeId) -> Option<usize> {
        self.rows.get(switch.0 as usize).filter(|&&row| row != NO_ROW).map(|&row| row as usize)
    }
}

/// Equal when every switch has the same ports for every host, however its groups are numbered.
impl PartialEq for Routes {
    fn eq(&self, other: &Routes) -> bool {
        self.rows == other.rows
            && self.hosts == other.hosts
            && self.ports == other.ports
            && (self.trees, self.lanes, &self.layers) == (other.trees, other.lanes, &other.layers)
            && self.groups.iter().zip(&other.groups).enumerate().all(|(row, (mine, theirs))| {
                let mut pairs = (0..self.columns).map(|to| (self.entries.get(row, to), other.entries.get(row, to)));
                mine.port_count() == theirs.port_count() && pairs.all(|(a, b)| mine.ports(a) == theirs.ports(b))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::graph::LinkSpec;
    use crate::describe::topology::{Links, chain, single_switch};
    use proptest::prelude::*;
    use units::{Rate, Span};

    /// Six switches, some hosts, some trunks, perhaps parallel, perhaps not all joined.
    pub(super) fn random() -> impl Strategy<Value = Graph> {
        let trunks = prop::collection::vec((0_u32..6, 0_u32..6), 4..14);
        (trunks, prop::collection::vec(0_u32..6, 1..7)).prop_map(|(trunks, hosts)| joined(6, hosts, trunks))
    }

    /// Switches, hosts on some of them, and trunks between two, those from one to itself left out.
    pub(super) fn joined(switches: u32, hosts: Vec<u32>, trunks: Vec<(u32, u32)>) -> Graph {
        let mut graph = Graph::default();
        for number in 0..switches {
            graph.node(format!("sw{number}"), Role::Switch, 1);
        }
        for (number, home) in hosts.into_iter().enumerate() {
            let host = graph.node(format!("h{number}"), Role::Host, 0);
            graph.cable(host, NodeId(home), links().host);
        }
        for (a, b) in trunks.into_iter().filter(|(a, b)| a != b) {
            graph.cable(NodeId(a), NodeId(b), links().trunk);
        }
        graph
    }

    pub(super) fn links() -> Links {
        Links::same(LinkSpec { rate: Rate::from_gigabits(10), latency: Span::from_nanos(500), bit_error_rate: 0.0 })
    }

    #[test]
    fn an_explicit_table_says_what_it_was_told() {
        let graph = chain(2, 1, links()).unwrap();
        let (a, b) = (graph.find("sw0").unwrap(), graph.find("sw1").unwrap());
        let tables =
            [(a, HostId(0), [0]), (a, HostId(1), [1]), (b, HostId(0), [1]), (b, HostId(1), [1]), (b, HostId(1), [0])];
        let routes = Routes::from_tables(&graph, tables).unwrap();
        assert_eq!(routes, Routes::shortest_paths(&graph));
        assert_ne!(routes, Routes::empty(&graph));
    }

    #[test]
    fn an_entry_can_be_set_and_dropped() {
        let graph = single_switch(4, links().host).unwrap();
        let switch = graph.find("sw0").unwrap();
        let mut routes = Routes::empty(&graph);
        routes.set(switch, HostId(2), &[3, 1, 3]).unwrap();
        assert_eq!(routes.ports(switch, HostId(2)), [1, 3]);
        assert_eq!(routes.table(switch), [0, 0, 1, 0]);
        routes.set(switch, HostId(2), &[]).unwrap();
        assert_eq!(routes.ports(switch, HostId(2)), []);
    }

    #[test]
    fn wrong_entries_are_refused_and_change_nothing() {
        let graph = single_switch(2, links().host).unwrap();
        let switch = graph.find("sw0").unwrap();
        let mut routes = Routes::shortest_paths(&graph);
        let before = routes.clone();
        let host = graph.find("h0").unwrap();
        assert_eq!(routes.set(host, HostId(0), &[0]), Err(RouteError::NotASwitch { node: host }));
        assert_eq!(routes.set(NodeId(99), HostId(0), &[0]), Err(RouteError::NotASwitch { node: NodeId(99) }));
        assert_eq!(routes.set(switch, HostId(2), &[0]), Err(RouteError::NoSuchHost { host: HostId(2), hosts: 2 }));
        assert_eq!(routes.set(switch, HostId(0), &[2]), Err(RouteError::NoSuchPort { switch, port: 2, ports: 2 }));
        assert_eq!(routes, before);
    }

    #[test]
    fn who_is_no_switch_has_no_routes() {
        let graph = single_switch(2, links().host).unwrap();
        let routes = Routes::shortest_paths(&graph);
        for node in [graph.find("h0").unwrap(), NodeId(99)] {
            assert!(routes.table(node).is_empty());
            assert_eq!(routes.groups(node).len(), 0);
            assert_eq!(routes.ports(node, HostId(1)), []);
        }
        assert_eq!(routes.ports(graph.find("sw0").unwrap(), HostId(7)), []);
    }
}
