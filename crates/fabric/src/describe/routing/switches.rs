//! Switches and the cables between them, as every algorithm here wants them: by row, with failed cables left out.

use super::columns::Columns;
use super::{Groups, NO_ROW, Routes};
use crate::describe::graph::{Graph, Role};
use std::collections::BTreeMap;

/// Not reached by a search.
pub(super) const FAR: u32 = u32::MAX;

/// One end of a cable between two switches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trunk {
    /// Own port.
    pub(super) port: u16,
    /// Row of the peer.
    pub(super) row: u32,
    /// Position of the cable in [`Graph::cables`].
    pub(super) cable: u32,
}

/// See the module.
pub(super) struct Switches {
    starts: Vec<usize>,
    ends: Vec<Trunk>,
    /// Of each host the row of its first switch and the port there; `None` if all its cables are down or lead to no
    /// switch. After the hosts, the same of ports that have addresses of their own.
    pub(super) homes: Vec<Option<(u32, u16)>>,
    /// Of each host with several cables all of these; empty for the others.
    pub(super) several: Vec<Vec<(u32, u16)>>,
    /// Rows with hosts, ascending.
    pub(super) edges: Vec<u32>,
}

impl Switches {
    /// `routes` are those of the graph, whatever they say.
    pub(super) fn of(graph: &Graph, routes: &Routes, down: &[u32]) -> Switches {
        let mut is_down = vec![false; graph.cables.len()];
        for &cable in down {
            if let Some(mark) = is_down.get_mut(cable as usize) {
                *mark = true;
            }
        }
        let mut switches =
            Switches { starts: vec![0], ends: Vec::new(), homes: Vec::new(), several: Vec::new(), edges: Vec::new() };
        for (node, ends) in graph.nodes.iter().zip(graph.ports()) {
            let up = ends.iter().zip(0_u16..).filter(|(end, _)| !is_down[end.cable as usize]);
            let row_of = |node: crate::describe::graph::NodeId| routes.rows[node.0 as usize];
            if node.role == Role::Host {
                let home = up.map(|(end, _)| (row_of(end.peer), end.peer_port));
                let all: Vec<(u32, u16)> = home.filter(|(row, _)| *row != NO_ROW).collect();
                switches.homes.push(all.first().copied());
                switches.several.push(if ends.len() > 1 { all } else { Vec::new() });
            } else {
                switches.ends.extend(up.filter_map(|(end, port)| {
                    let row = row_of(end.peer);
                    (row != NO_ROW).then_some(Trunk { port, row, cable: end.cable })
                }));
                switches.starts.push(switches.ends.len());
            }
        }
        // The addresses of ports come after all hosts.
        let ports = graph.addressed_ports().into_iter();
        switches.homes.extend(
            ports.zip(&routes.ports).map(|((_, end), &(_, row, port))| {
                (!is_down[end.cable as usize] && row != NO_ROW).then_some((row, port))
            }),
        );
        switches.several.resize(switches.homes.len(), Vec::new());
        switches.edges = switches.homes.iter().flatten().map(|(row, _)| *row).collect();
        switches.edges.extend(switches.several.iter().flatten().map(|(row, _)| *row));
        switches.edges.sort_unstable();
        switches.edges.dedup();
        switches
    }

    /// How many switches there are.
    pub(super) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of a host's switches, ascending.
    pub(super) fn rows_of(&self, host: usize) -> Vec<u32> {
        let mut rows: Vec<u32> = self.several[host].iter().chain(&self.homes[host]).map(|&(row, _)| row).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// How many ends of trunks there are: channels, numbered row by row in port order.
    pub(super) fn channels(&self) -> usize {
        self.ends.len()
    }

    /// The trunks of a switch in port order.
    pub(super) fn trunks(&self, row: u32) -> &[Trunk] {
        &self.ends[self.starts[row as usize]..self.starts[row as usize + 1]]
    }

    /// The channel that leaves a switch by that port.
    pub(super) fn channel(&self, row: u32, port: u16) -> Option<u32> {
        let place = self.trunks(row).binary_search_by_key(&port, |trunk| trunk.port).ok()?;
        Some((self.starts[row as usize] + place) as u32)
    }

    /// The row a channel leads to.
    pub(super) fn far(&self, channel: u32) -> u32 {
        self.ends[channel as usize].row
    }

    /// Hops from every row to the nearest of these.
    pub(super) fn distances(&self, from: &[u32]) -> Vec<u32> {
        let mut distance = vec![FAR; self.rows()];
        from.iter().for_each(|&row| distance[row as usize] = 0);
        let mut queue = from.to_vec();
        let mut head = 0;
        while let Some(&row) = queue.get(head) {
            head += 1;
            for trunk in self.trunks(row) {
                if distance[trunk.row as usize] == FAR {
                    distance[trunk.row as usize] = distance[row as usize] + 1;
                    queue.push(trunk.row);
                }
            }
        }
        distance
    }

    /// Sets the ports of every host at its own switch.
    pub(super) fn last_hops(&self, routes: &mut Routes) {
        for (host, home) in self.homes.iter().enumerate() {
            if let Some((row, port)) = home.filter(|_| self.several[host].is_empty()) {
                let row = row as usize;
                routes.entries.set_last(row, host, intern(&mut routes.groups[row], &[port]));
            }
            // A host on several switches has a column of its own.
            for &(row, _) in &self.several[host] {
                let here = |home: &&(u32, u16)| home.0 == row;
                let ports: Vec<u16> = self.several[host].iter().filter(here).map(|&(_, port)| port).collect();
                let group = intern(&mut routes.groups[row as usize], &ports);
                routes.entries.set(row as usize, host, group);
            }
        }
    }

    /// Fills tables from lists toward each edge switch, given by (position among the edges, row), and the last hops.
    pub(super) fn fill(&self, routes: &mut Routes, mut toward: impl FnMut(usize, u32, &mut Vec<u16>)) {
        let mut ports = Vec::new();
        let rows = self.rows();
        let mut entries = vec![0; rows * self.edges.len()];
        for row in 0..rows {
            for column in 0..self.edges.len() {
                ports.clear();
                toward(column, row as u32, &mut ports);
                entries[column * rows + row] = intern(&mut routes.groups[row], &ports);
            }
        }
        self.set_columns(routes, &entries, &BTreeMap::new());
    }

    /// Sets tables from the group numbers toward each edge switch, `rows` for each, and the last hops. `several` has the
    /// column of hosts on several switches, if that is not the one of their first.
    pub(super) fn set_columns(&self, routes: &mut Routes, entries: &[u16], several: &BTreeMap<usize, usize>) {
        let of_edge = |home: Option<(u32, u16)>| home.and_then(|(row, _)| self.edges.binary_search(&row).ok());
        let column = |(host, &home): (usize, &Option<(u32, u16)>)| several.get(&host).copied().or(of_edge(home));
        let column_of: Vec<Option<usize>> = self.homes.iter().enumerate().map(column).collect();
        routes.entries = Columns::shared(self.rows(), &column_of, entries);
        self.last_hops(routes);
    }
}

/// The number of a list of ports.
pub(super) fn intern(groups: &mut Groups, ports: &[u16]) -> u16 {
    // Toward every other edge switch there is one list, and one to each port; MAX_PORTS bounds both.
    groups.intern(ports).expect("fewer lists than ports and edge switches")
}
