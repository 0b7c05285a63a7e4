//! Export of a network and its routes as the files of an InfiniBand subnet manager, which opensm, ibsim and ibdmchk
//! read.
//!
//! Hosts become ports of channel adapters; switches remain switches. A fabric that was imported has its own identifiers
//! ([`Identity`]); other networks have generated ones. Lanes are service levels, and each service level maps to the
//! virtual lane of the same number everywhere. A forwarding table has one port per identifier: of several equal ports,
//! the identifier modulo their number selects one; of several trees, the requested one is used.

mod identity;
mod signalling;

pub use identity::{Identities, Identity};
pub use signalling::Signalling;

use fabric::graph::{Graph, HostId, NodeId, PortEnd, Role};
use fabric::routing::Routes;
use std::collections::BTreeMap;
use std::fmt::Write;
use units::Rate;

/// The highest unicast local identifier (InfiniBand Architecture volume 1, section 4.1.3).
const LAST_LID: usize = 0xBFFF;
/// The most ports of a switch.
const MOST_PORTS: usize = 254;

/// A file that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// The network, as ibnetdiscover prints it and ibsim reads it.
    Ibnetdiscover,
    /// The network, as opensm-subnet.lst.
    Subnet,
    /// The forwarding tables, as opensm.fdbs.
    Fdbs,
    /// The forwarding tables, as opensm-lfts.dump.
    Lfts,
    /// The local identifiers, as opensm caches them.
    Guid2lid,
    /// The service level for each adapter and destination.
    PathSl,
    /// The lane of each service level for each switch, input and output.
    Sl2vl,
}

/// A network that can be exported.
#[derive(Debug)]
pub struct Subnet<'a> {
    graph: &'a Graph,
    routes: &'a Routes,
    tree: usize,
    ports: Vec<Vec<PortEnd>>,
    hosts: Vec<NodeId>,
    identities: Vec<Identity>,
}

impl<'a> Subnet<'a> {
    /// Prepares a graph and its routes for export. Nodes without an identity get a generated one.
    ///
    /// # Errors
    /// Returns an error if there are more nodes or ports than an InfiniBand subnet supports, if identities contradict
    /// each other or the links, or if the tree does not exist.
    pub fn new(graph: &'a Graph, routes: &'a Routes, identities: &Identities, tree: u8) -> Result<Subnet<'a>, String> {
        let ports = graph.ports();
        if graph.nodes.len() > LAST_LID {
            return Err(format!(
                "the network has {} nodes, but a subnet has only {LAST_LID} local identifiers",
                graph.nodes.len()
            ));
        }
        if let Some((node, ends)) = graph.nodes.iter().zip(&ports).find(|(_, ends)| ends.len() > MOST_PORTS) {
            return Err(format!(
                "{} has {} ports, but an InfiniBand switch has at most {MOST_PORTS}",
                node.name,
                ends.len()
            ));
        }
        if let Some(host) = graph.multihomed().next() {
            return Err(format!(
                "host {} has several links, each with a local identifier of its own in a subnet, but the routes here lead \
                 to hosts; give every host one link",
                graph.nodes[host.0 as usize].name
            ));
        }
        if tree >= routes.trees().max(1) {
            let trees = routes.trees();
            return Err(match trees {
                0 => format!("there is no tree {tree}: this routing does not use trees; remove --tree"),
                _ => format!("there is no tree {tree}; there are {trees}, numbered from 0"),
            });
        }
        let identities = identity::resolve(graph, &ports, identities)?;
        Ok(Subnet { graph, routes, tree: usize::from(tree), hosts: graph.hosts(), ports, identities })
    }

    /// Returns the rates of links that no InfiniBand link has, each with the nearest width and speed, which is written.
    #[must_use]
    pub fn approximated(&self) -> Vec<(Rate, Signalling)> {
        let mut rates: Vec<Rate> = self.graph.cables.iter().map(|cable| cable.link.rate).collect();
        rates.sort_unstable();
        rates.dedup();
        let nearest = rates.into_iter().map(|rate| (rate, Signalling::nearest(rate)));
        nearest.filter(|(rate, nearest)| nearest.rate() != *rate).collect()
    }

    /// Returns the contents of a file.
    #[must_use]
    pub fn file(&self, file: File) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = match file {
            File::Ibnetdiscover => self.ibnetdiscover(&mut text),
            File::Subnet => self.subnet(&mut text),
            File::Fdbs => self.fdbs(&mut text),
            File::Lfts => self.lfts(&mut text),
            File::Guid2lid => self.guid2lid(&mut text),
            File::PathSl => self.path_sl(&mut text),
            File::Sl2vl => self.sl2vl(&mut text),
        };
        text
    }

    fn identity(&self, node: NodeId) -> &Identity {
        &self.identities[node.0 as usize]
    }

    fn lid(&self, node: NodeId) -> u32 {
        self.identity(node).lid
    }

    fn guid(&self, node: NodeId) -> u64 {
        self.identity(node).guid
    }

    fn port_guid(&self, node: NodeId) -> u64 {
        self.identity(node).port_guid
    }

    /// The number of a port in the subnet.
    fn number(&self, node: NodeId, port: u16) -> u16 {
        self.identity(node).ports[usize::from(port)]
    }

    /// Width and speed of a link: those of the import, unless its rate was changed.
    fn signalling(&self, node: NodeId, port: usize) -> Signalling {
        let rate = self.graph.cables[self.ports[node.0 as usize][port].cable as usize].link.rate;
        let speeds = &self.identity(node).speeds;
        let known = speeds.get(port).or_else(|| speeds.first()).copied();
        known.filter(|known| known.rate() == rate).unwrap_or_else(|| Signalling::nearest(rate))
    }

    /// The ports of a node in the order of their numbers: number, position and far end.
    fn connected(&self, node: NodeId) -> Vec<(u16, usize, PortEnd)> {
        let ends = self.ports[node.0 as usize].iter().enumerate();
        let mut all: Vec<_> = ends.map(|(port, end)| (self.number(node, port as u16), port, *end)).collect();
        all.sort_unstable_by_key(|(number, ..)| *number);
        all
    }

    fn is_switch(&self, node: NodeId) -> bool {
        self.graph.nodes[node.0 as usize].role == Role::Switch
    }

    /// The description of a device.
    fn name(&self, node: NodeId) -> &str {
        let name = &self.graph.nodes[node.0 as usize].name;
        self.identity(node).description.as_ref().unwrap_or(name)
    }

    fn nodes(&self) -> impl Iterator<Item = NodeId> {
        (0..self.graph.nodes.len() as u32).map(NodeId)
    }

    fn switches(&self) -> impl Iterator<Item = NodeId> {
        self.nodes().filter(|&node| self.is_switch(node))
    }

    /// Returns the port of a switch toward a host, numbered as in InfiniBand.
    fn port(&self, switch: NodeId, host: HostId) -> Option<u16> {
        let ports = self.routes.ports(switch, host);
        let node = self.hosts[host.0 as usize];
        let place = match self.routes.trees() {
            0 => self.lid(node) as usize % ports.len().max(1),
            _ => self.tree.min(ports.len().saturating_sub(1)),
        };
        ports.get(place).map(|port| self.number(switch, *port))
    }

    /// The forwarding table of a switch: the port of each local identifier.
    fn table(&self, switch: NodeId) -> BTreeMap<u32, u16> {
        let mut table = self.identity(switch).others.clone();
        for (host, &node) in (0..).map(HostId).zip(&self.hosts) {
            if let Some(port) = self.port(switch, host) {
                table.insert(self.lid(node), port);
            }
        }
        table
    }

    /// The node of each local identifier.
    fn lids(&self) -> BTreeMap<u32, NodeId> {
        self.nodes().flat_map(|node| self.identity(node).lids().map(move |lid| (lid, node))).collect()
    }

    fn ibnetdiscover(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "#\n# Topology file, as ibnetdiscover prints it\n#")?;
        let mut devices: BTreeMap<u64, Vec<NodeId>> = BTreeMap::new();
        self.hosts.iter().for_each(|host| devices.entry(self.guid(*host)).or_default().push(*host));
        for node in self.nodes() {
            // An adapter with several ports is there once, with all of them.
            match devices.get(&self.guid(node)).filter(|_| !self.is_switch(node)) {
                None => self.device(text, &[node])?,
                Some(members) if members[0] == node => self.device(text, members)?,
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The identifier of a device in the output of ibnetdiscover.
    fn id(&self, node: NodeId) -> String {
        let kind = match (self.is_switch(node), self.identity(node).is_router) {
            (true, _) => "S",
            (false, true) => "R",
            (false, false) => "H",
        };
        format!("{kind}-{:016x}", self.guid(node))
    }

    /// A device, which is a switch or the hosts that are its ports.
    fn device(&self, text: &mut String, members: &[NodeId]) -> std::fmt::Result {
        let node = members[0];
        let Identity { guid, port_guid, system_guid, vendor, device, is_router, enhanced, lid, lmc, .. } =
            self.identity(node);
        let (name, id) = (self.name(node), self.id(node));
        let size = members.iter().map(|member| self.identity(*member).size).max().unwrap_or(0);
        writeln!(text)?;
        for (key, value) in [("vendid", vendor), ("devid", device), ("sysimgguid", system_guid)] {
            if let Some(value) = value {
                writeln!(text, "{key}=0x{value:x}")?;
            }
        }
        if self.is_switch(node) {
            let port_0 = if *enhanced { "enhanced" } else { "base" };
            writeln!(text, "switchguid=0x{guid:x}({port_guid:x})")?;
            writeln!(text, "Switch\t{size} \"{id}\"\t\t# \"{name}\" {port_0} port 0 lid {lid} lmc {lmc}")?;
        } else {
            let (key, kind) = if *is_router { ("rtguid", "Rt") } else { ("caguid", "Ca") };
            writeln!(text, "{key}=0x{guid:x}\n{kind}\t{size} \"{id}\"\t\t# \"{name}\"")?;
        }
        let mut ports: Vec<(u16, usize, PortEnd, NodeId)> = Vec::new();
        for &member in members {
            ports.extend(self.connected(member).into_iter().map(|(number, port, end)| (number, port, end, member)));
        }
        ports.sort_unstable_by_key(|(number, ..)| *number);
        for (number, port, end, member) in ports {
            let far = end.peer;
            let (peer, peer_port) = (self.id(far), self.number(far, end.peer_port));
            let far_guid = if self.is_switch(far) { String::new() } else { format!("({:x}) ", self.port_guid(far)) };
            let (name, lid, speed) = (self.name(far), self.lid(far), self.signalling(member, port));
            let tail = format!("\"{name}\" lid {lid} {speed}");
            if self.is_switch(node) {
                writeln!(text, "[{number}]\t\"{peer}\"[{peer_port}]{far_guid}\t\t# {tail}")?;
            } else {
                let Identity { port_guid, lid, lmc, .. } = self.identity(member);
                let own = format!("[{number}]({port_guid:x}) ");
                writeln!(text, "{own}\t\"{peer}\"[{peer_port}]{far_guid}\t\t# lid {lid} lmc {lmc} {tail}")?;
            }
        }
        Ok(())
    }

    fn subnet(&self, text: &mut String) -> std::fmt::Result {
        let end = |node: NodeId, port: u16| {
            let Identity { guid, port_guid, system_guid, vendor, device, lid, size, .. } = self.identity(node);
            let (system, vendor, device) = (system_guid.unwrap_or(0), vendor.unwrap_or(0), device.unwrap_or(0));
            let name = self.name(node);
            let kind = if self.is_switch(node) { "SW" } else { "CA" };
            format!(
                "{{ {kind} Ports:{size:02X} SystemGUID:{system:016X} NodeGUID:{guid:016X} PortGUID:{port_guid:016X} \
                 VenID:{vendor:06X} DevID:{device:04X} Rev:00000000 {{{name}}} LID:{lid:04X} PN:{port:02X} }}"
            )
        };
        for node in self.nodes() {
            for (number, port, far) in self.connected(node) {
                let link = self.signalling(node, port);
                let (near, far) = (end(node, number), end(far.peer, self.number(far.peer, far.peer_port)));
                writeln!(text, "{near} {far} PHY={}x LOG=ACT SPD={}", link.width, link.speed_of_lane())?;
            }
        }
        Ok(())
    }

    fn fdbs(&self, text: &mut String) -> std::fmt::Result {
        let lids = self.lids();
        for switch in self.switches() {
            writeln!(text, "osm_ucast_mgr_dump_ucast_routes: Switch 0x{:016x}", self.guid(switch))?;
            writeln!(text, "LID    : Port : Hops : Optimal")?;
            let table = self.table(switch);
            for lid in lids.keys() {
                match table.get(lid) {
                    Some(port) => writeln!(text, "0x{lid:04X} : {port:03}  : 00   : yes")?,
                    None => writeln!(text, "0x{lid:04X} : UNREACHABLE")?,
                }
            }
        }
        Ok(())
    }

    fn lfts(&self, text: &mut String) -> std::fmt::Result {
        let lids = self.lids();
        let last = lids.keys().next_back().copied().unwrap_or(0);
        for switch in self.switches() {
            let (lid, guid, name) = (self.lid(switch), self.guid(switch), self.name(switch));
            writeln!(text, "Unicast lids [0x0-0x{last:x}] of switch Lid {lid} guid 0x{guid:016x} ('{name}'):")?;
            let table = self.table(switch);
            for (lid, port) in &table {
                let Some(&node) = lids.get(lid) else {
                    writeln!(text, "0x{lid:04x} {port:03} # unknown node and type")?;
                    continue;
                };
                let (guid, name) = (self.port_guid(node), self.name(node));
                let what = match (self.is_switch(node), self.identity(node).is_router) {
                    (true, _) => "Switch",
                    (false, true) => "Router",
                    (false, false) => "Channel Adapter",
                };
                writeln!(text, "0x{lid:04x} {port:03} # {what} portguid 0x{guid:016x}: '{name}'")?;
            }
            writeln!(text, "{} valid lids dumped", table.len())?;
        }
        Ok(())
    }

    fn guid2lid(&self, text: &mut String) -> std::fmt::Result {
        for node in self.nodes() {
            let (guid, lid) = (self.port_guid(node), self.lid(node));
            let last = self.identity(node).lids().last().unwrap_or(lid);
            writeln!(text, "0x{guid:016x} 0x{lid:04x} 0x{last:04x}\n")?;
        }
        Ok(())
    }

    fn path_sl(&self, text: &mut String) -> std::fmt::Result {
        for &from in &self.hosts {
            let Some(home) = self.ports[from.0 as usize].first() else { continue };
            for (to, &node) in (0..).map(HostId).zip(&self.hosts) {
                let lane = self.routes.lane(home.peer, to);
                writeln!(text, "0x{:016x} {} {lane}", self.guid(from), self.lid(node))?;
            }
        }
        Ok(())
    }

    fn sl2vl(&self, text: &mut String) -> std::fmt::Result {
        for switch in self.switches() {
            let ports: Vec<u16> = self.connected(switch).into_iter().map(|(number, ..)| number).collect();
            for (input, output) in ports.iter().flat_map(|input| ports.iter().map(move |output| (input, output))) {
                let guid = self.guid(switch);
                let pairs = (0..8).map(|pair| format!("0x{:x}{:x}", (2 * pair) % 8, (2 * pair + 1) % 8));
                writeln!(text, "0x{guid:016x} {input} {output} {}", pairs.collect::<Vec<_>>().join(" "))?;
            }
        }
        Ok(())
    }
}
