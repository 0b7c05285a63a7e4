//! InfiniBand fabrics: the output of ibnetdiscover, forwarding tables of opensm, and its options and partitions where given. The
//! mirror of what `tailback routes` exports.
//!
//! Nodes stay in the order of the file and ports in the order of their numbers. Identifiers, port numbers and speeds are kept
//! in `network.subnet`, so a fabric is exported with those it has.

mod identities;
mod qos;
mod tables;
#[cfg(test)]
mod tests;
mod topology;

use super::wiring::{UniqueNames, Wire, WiredNode, Wiring, named};
use super::write::{file_name, quoted};
use super::{Imported, NamedText, Work};
use crate::problem::Errors;
use qos::{Partition, Qos};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use tables::Table;
use topology::Node;

/// Buffer of a port and lane, where no file says.
const BUFFER: &str = "64KiB";
/// Workloads that partitions give, at most.
const MOST_WORKLOADS: usize = 16;

/// Files of a fabric.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// Output of ibnetdiscover.
    pub topology: NamedText<'a>,
    /// Forwarding tables: opensm-lfts.dump, or the output of dump_lfts.
    pub lfts: Option<NamedText<'a>>,
    /// Options of opensm, of which `qos_*` are read.
    pub qos: Option<NamedText<'a>>,
    /// Partitions of opensm.
    pub partitions: Option<NamedText<'a>>,
}

/// Converts a fabric to a scenario of that name.
///
/// # Errors
/// Returns all mistakes in the files, with file and line.
pub fn import(files: &Files<'_>, name: &str) -> Result<Imported, Errors> {
    let mut work = Work::default();
    let mut nodes = topology::read(&mut work, files.topology);
    work.checked()?;
    topology::settle(&mut work, &mut nodes);
    let mut fabric = Fabric::new(&mut work, nodes);
    work.checked()?;
    let tables = files.lfts.map(|file| tables::read(&mut work, file));
    work.checked()?;
    let routes = tables.map(|tables| fabric.routes(&mut work, &tables));
    let qos = files.qos.map(|file| qos::read(&mut work, file));
    let partitions = files.partitions.map(|file| qos::partitions(&mut work, file)).unwrap_or_default();
    work.checked()?;
    let partitions = fabric.members(&mut work, partitions, qos.as_ref());
    Ok(fabric.scenario(work, files, name, routes, qos.as_ref(), &partitions))
}

/// A fabric: its nodes with adapters split into ports, and its links.
struct Fabric {
    wiring: Wiring,
    /// Position in the wiring of each node and port of the file. A switch is one for all its ports.
    place: BTreeMap<(usize, u32), usize>,
    /// By position: the number of each connected port, in the order of its links.
    numbers: Vec<Vec<u32>>,
    nodes: Vec<Node>,
    /// Positions by local identifier of adapters.
    lids: BTreeMap<u32, usize>,
    /// Positions by GUID of ports of adapters.
    guids: BTreeMap<u64, usize>,
    /// By switch: ports of local identifiers that are no adapter's first one.
    others: BTreeMap<usize, BTreeMap<u32, u16>>,
}

impl Fabric {
    fn new(work: &mut Work, nodes: Vec<Node>) -> Fabric {
        let known: BTreeMap<&str, usize> = nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
        let mut names = UniqueNames::default();
        let (mut wiring, mut place) = (Wiring::default(), BTreeMap::new());
        let (mut split, mut aggregations) = (0, 0);
        for (at, node) in nodes.iter().enumerate() {
            let several = !node.is_switch && node.ports.len() > 1;
            split += usize::from(several);
            let own: Vec<u32> = if node.is_switch { vec![0] } else { node.ports.keys().copied().collect() };
            for number in own {
                let at_switch = node.ports.get(&number).and_then(|port| known.get(port.peer.as_str()));
                let name = match at_switch.filter(|_| node.is_aggregation()) {
                    // All of them have the same description.
                    Some(&switch) => format!("{} aggregation node", nodes[switch].name),
                    None if several => format!("{}.{number}", node.name),
                    None => node.name.clone(),
                };
                if node.is_aggregation() {
                    aggregations += 1;
                    wiring.silent.insert(wiring.nodes.len());
                }
                let ports: Vec<u32> = if node.is_switch { node.ports.keys().copied().collect() } else { vec![number] };
                ports.into_iter().for_each(|port| {
                    place.insert((at, port), wiring.nodes.len());
                });
                wiring.nodes.push(WiredNode { name: names.take(&name), is_host: !node.is_switch });
            }
            if node.ports.is_empty() {
                work.note(&node.name, "has no links and is left out of the traffic");
            }
        }
        if names.changed {
            work.note("names", "descriptions that are there twice, or contain characters of patterns, are changed");
        }
        if split > 0 {
            work.note("adapters", format!("{split} with several ports: each port becomes a host of its own"));
        }
        if aggregations > 0 {
            let meaning =
                format!("{aggregations} of SHARP are hosts without traffic; reductions in switches are not modelled");
            work.note("aggregation nodes", meaning);
        }
        let mut fabric = Fabric { numbers: vec![Vec::new(); wiring.nodes.len()], wiring, place, ..Fabric::empty() };
        let ends = fabric.ends(work, &nodes, &known);
        if work.problems.is_empty() {
            fabric.lay(&nodes, &ends);
        }
        for (at, node) in nodes.iter().enumerate() {
            for (&number, port) in &node.ports {
                if let Some(&peer) = known.get(port.peer.as_str()).filter(|&&peer| !nodes[peer].is_switch)
                    && let (Some(lid), Some(&host)) = (port.peer_lid, fabric.place.get(&(peer, port.peer_port)))
                {
                    fabric.lids.insert(lid, host);
                }
                if let (false, Some(lid), Some(&host)) = (node.is_switch, port.lid, fabric.place.get(&(at, number))) {
                    fabric.lids.insert(lid, host);
                }
                if let (Some(guid), Some(&host)) = (port.guid, fabric.place.get(&(at, number))) {
                    fabric.guids.insert(guid, host);
                }
            }
        }
        fabric.nodes = nodes;
        fabric
    }

    fn empty() -> Fabric {
        let (wiring, place) = (Wiring::default(), BTreeMap::new());
        let (lids, guids, others) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Fabric { wiring, place, numbers: Vec::new(), nodes: Vec::new(), lids, guids, others }
    }

    /// The links, each by its two ends, checked at both.
    fn ends(&self, work: &mut Work, nodes: &[Node], known: &BTreeMap<&str, usize>) -> Vec<[(usize, u32); 2]> {
        let mut links = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            for (&number, port) in &node.ports {
                let Some(&peer) = known.get(port.peer.as_str()) else {
                    let message =
                        format!("port {number} of {} leads to {}, which is not in the file", node.name, port.peer);
                    work.refuse(port.place, message, "give the whole output of ibnetdiscover");
                    continue;
                };
                let back = nodes[peer].ports.get(&port.peer_port);
                let Some(back) = back else {
                    let there = format!("port {} of {}", port.peer_port, nodes[peer].name);
                    let message = format!("port {number} of {} leads to {there}, which has no line", node.name);
                    work.refuse(port.place, message, "give the whole output of ibnetdiscover");
                    continue;
                };
                if (known.get(back.peer.as_str()), back.peer_port) != (Some(&at), number) {
                    let there = format!("port {} of {}", port.peer_port, nodes[peer].name);
                    let message = format!("port {number} of {} leads to {there}, but that leads elsewhere", node.name);
                    work.refuse(port.place, message, "correct one of the two lines");
                } else if (at, number) < (peer, port.peer_port) {
                    links.push([(at, number), (peer, port.peer_port)]);
                } else if (at, number) == (peer, port.peer_port) {
                    work.refuse(
                        port.place,
                        format!("port {number} of {} leads to itself", node.name),
                        "remove the line",
                    );
                }
            }
        }
        links
    }

    /// Puts links into an order in which every switch has its ports in the order of their numbers, as far as there is one.
    fn lay(&mut self, nodes: &[Node], links: &[[(usize, u32); 2]]) {
        let at: BTreeMap<(usize, u32), usize> =
            links.iter().enumerate().flat_map(|(link, ends)| ends.map(|end| (end, link))).collect();
        // The ports of each node that have no link yet, the next one last.
        let mut open: Vec<Vec<u32>> = nodes.iter().map(|node| node.ports.keys().rev().copied().collect()).collect();
        let is_next = |open: &[Vec<u32>], link: usize| {
            links[link].iter().all(|(node, port)| !nodes[*node].is_switch || open[*node].last() == Some(port))
        };
        let mut left: BTreeSet<usize> = (0..links.len()).collect();
        let mut next: BTreeSet<usize> = left.iter().copied().filter(|link| is_next(&open, *link)).collect();
        while let Some(link) = next.pop_first().or_else(|| left.first().copied()) {
            left.remove(&link);
            let ends = links[link];
            for (node, port) in ends {
                open[node].retain(|other| *other != port);
                self.numbers[self.place[&(node, port)]].push(port);
            }
            let follows = ends.iter().filter_map(|(node, _)| Some(at[&(*node, *open[*node].last()?)]));
            next.extend(follows.filter(|link| left.contains(link) && is_next(&open, *link)));
            let rate = nodes[ends[0].0].ports[&ends[0].1].link.rate();
            self.wiring.links.push(Wire { ends: ends.map(|end| self.place[&end]), rate, latency: None });
        }
    }

    /// The entries of `routes`: for each switch, the hosts behind each of its ports.
    fn routes(&mut self, work: &mut Work, tables: &[Table]) -> String {
        let switches: BTreeMap<u64, usize> = self
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.is_switch)
            .filter_map(|(at, node)| Some((node.guid()?, at)))
            .collect();
        let own_lids: BTreeSet<u32> = self.nodes.iter().filter_map(|node| node.lid).collect();
        let mut text = String::from("routes = [\n");
        let mut strange = 0;
        for table in tables {
            let Some(&at) = switches.get(&table.guid) else {
                let message = format!("switch 0x{:016x} is not in the topology", table.guid);
                work.refuse(table.place, message, "give files of the same fabric");
                continue;
            };
            let node = &self.nodes[at];
            let mut by_port: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for (&lid, &(port, place)) in &table.entries {
                let Some(&host) = self.lids.get(&lid) else {
                    strange += usize::from(!own_lids.contains(&lid));
                    self.others.entry(at).or_default().insert(lid, u16::try_from(port).unwrap_or(u16::MAX));
                    continue;
                };
                let numbers = self.place.get(&(at, port)).map(|&place| &self.numbers[place]);
                match numbers.and_then(|numbers| numbers.iter().position(|number| *number == port)) {
                    Some(output) => by_port.entry(output).or_default().push(host),
                    None => {
                        let message = format!("{} forwards to port {port}, which has no link", node.name);
                        work.refuse(place, message, "give files of the same fabric");
                    }
                }
            }
            let name = self.name_of(at);
            for (output, mut hosts) in by_port {
                hosts.sort_unstable();
                let (at, to) = (quoted(name.unwrap_or_default()), named(&self.wiring, &hosts));
                let _ = writeln!(text, "    {{ at = {at}, to = {to}, ports = [{output}] }},");
            }
        }
        let told: Vec<u64> = tables.iter().map(|table| table.guid).collect();
        for (&guid, &at) in switches.iter().filter(|(guid, _)| !told.contains(guid)) {
            let node = &self.nodes[at];
            let message = format!("there is no forwarding table of switch {} (0x{guid:016x})", node.name);
            work.refuse(node.place, message, "give the tables of all switches");
        }
        if strange > 0 {
            let meaning = format!("{strange} entries for identifiers of no port of the topology carry no traffic");
            work.note("lfts", meaning);
        }
        text.push_str("]\n");
        text
    }

    /// The name of a switch in the scenario.
    fn name_of(&self, node: usize) -> Option<&str> {
        let port = self.nodes[node].ports.keys().next()?;
        self.place.get(&(node, *port)).map(|&place| self.wiring.nodes[place].name.as_str())
    }

    /// Partitions with at least two adapters of the fabric: name, lane and members.
    fn members(
        &self,
        work: &mut Work,
        partitions: Vec<Partition>,
        qos: Option<&Qos>,
    ) -> Vec<(String, Option<u8>, Vec<usize>)> {
        let mut found = Vec::new();
        for Partition { name, level, everybody, members } in partitions {
            let absent = members.iter().filter(|guid| !self.guids.contains_key(guid)).count();
            if absent > 0 {
                work.note(&name, format!("{absent} members are not in the topology"));
            }
            let mut hosts: Vec<usize> = match everybody {
                true => self.wiring.senders(),
                false => members.iter().filter_map(|guid| self.guids.get(guid).copied()).collect(),
            };
            hosts.sort_unstable();
            let lane = qos.and_then(|qos| qos.lane_of.get(level).copied().flatten());
            if qos.is_some() && lane.is_none() {
                work.note(&name, format!("service level {level} has no lane: no traffic"));
            } else if hosts.len() > 1 {
                found.push((name, lane, hosts));
            }
        }
        if found.len() > MOST_WORKLOADS {
            work.note("partitions", format!("only the first {MOST_WORKLOADS} get traffic"));
            found.truncate(MOST_WORKLOADS);
        }
        found
    }

    fn scenario(
        self,
        mut work: Work,
        files: &Files<'_>,
        name: &str,
        routes: Option<String>,
        qos: Option<&Qos>,
        partitions: &[(String, Option<u8>, Vec<usize>)],
    ) -> Imported {
        let mut text = String::from("# Imported from files of InfiniBand:\n");
        for file in [Some(files.topology), files.lfts, files.qos, files.partitions].into_iter().flatten() {
            let _ = writeln!(text, "#   {}", file_name(file.name));
        }
        let _ = write!(text, "schema_version = 1\nname = {}\n\n[network]\n", quoted(name));
        text.push_str(&self.wiring.network());
        match &routes {
            Some(routes) => {
                text.push_str("routing = \"explicit\"\n");
                text.push_str(routes);
            }
            None => work.note("lfts", "no forwarding tables are given: shortest paths are computed"),
        }
        match self.identities() {
            Some(identities) => text.push_str(&identities),
            None => work.note("identifiers", "some are missing or there twice: `tailback routes` generates others"),
        }
        for lane in qos.map(|qos| qos.lanes.as_slice()).unwrap_or_default() {
            let _ = write!(text, "\n[[classes]]\nname = \"vl{lane}\"\n");
        }
        let _ = write!(
            text,
            "\n[[switches]]\nqueueing = \"virtual-output\"\nflow_control = \"credits\"\nbuffers = {{ capacity = \"{BUFFER}\" }}\n"
        );
        if let Some(qos) = qos {
            text.push_str(&arbitration(qos));
        }
        work.note("buffers", format!("{BUFFER} per port and lane is assumed (buffers.capacity)"));
        let unknown = self.wiring.without_latency();
        let lengths = "have the latency of 5 m to hosts and of 40 m between switches";
        work.note("links", format!("{unknown} without a length {lengths}"));
        let mut flows = 0;
        if partitions.is_empty() {
            let class = qos.map_or(String::new(), |qos| format!("class = \"vl{}\"\n", qos.lanes[0]));
            let (traffic, count) = self.wiring.incast(&format!("{class}frame = \"4KiB\"\n"));
            text.push_str(&traffic);
            flows = count;
        } else {
            text.push_str("\n# An example for each partition: replace it by the traffic of the network.\n");
            for (name, lane, hosts) in partitions {
                let senders: Vec<usize> = hosts[1..].iter().copied().take(8).collect();
                flows += senders.len();
                let (from, to) = (named(&self.wiring, &senders), quoted(&self.wiring.nodes[hosts[0]].name));
                let class = lane.map_or(String::new(), |lane| format!("class = \"vl{lane}\"\n"));
                let _ = write!(
                    text,
                    "[[workloads]]\nname = {}\nkind = \"incast\"\nfrom = {from}\nto = {to}\nsize = \"1MB\"\n{class}frame = \"4KiB\"\nstart_jitter = \"10us\"\n\n",
                    quoted(name)
                );
            }
            text.push_str("[run]\nduration = \"5ms\"\n");
        }
        let [hosts, switches] = self.wiring.counts();
        Imported { scenario: text, flows: String::new(), notes: work.notes, counts: [hosts, switches, flows] }
    }
}

/// The tables of virtual-lane arbitration.
fn arbitration(qos: &Qos) -> String {
    let entries = |table: &[(u8, u8)]| {
        let used = table.iter().filter(|(lane, weight)| *weight > 0 && qos.lanes.contains(lane));
        let entries: Vec<String> =
            used.map(|(lane, weight)| format!("{{ class = \"vl{lane}\", weight = {weight} }}")).collect();
        entries.join(", ")
    };
    let [high, low] = &qos.tables;
    format!(
        "vl_arbitration = {{ high = [{}], low = [{}], high_limit = {} }}\n",
        entries(high),
        entries(low),
        qos.high_limit
    )
}
