//! Export of a network and its routes as the files of an InfiniBand subnet manager, which opensm, ibsim and ibdmchk
//! read.
//!
//! Hosts become channel adapters with one port; switches remain switches. Node n has local identifier n + 1 and, behind
//! a locally administered prefix, the GUID 256 (n + 1); the port of an adapter has the next GUID, as ibsim assigns
//! them. Port n becomes port n + 1, because port 0 of a switch is its management port. Lanes are service levels, and
//! each service level maps to the virtual lane of the same number everywhere. A forwarding table has one port per
//! identifier: of several equal ports, the identifier modulo their number selects one; of several trees, the requested
//! one is used.

use fabric::graph::{Graph, HostId, NodeId, PortEnd, Role};
use fabric::routing::Routes;
use std::fmt::Write;

/// The highest unicast local identifier (InfiniBand Architecture volume 1, section 4.1.3).
const LAST_LID: usize = 0xBFFF;
/// The most ports of a switch.
const MOST_PORTS: usize = 254;
/// Locally administered, so that no vendor has it.
const PREFIX: u64 = 0x0200_0000_0000_0000;

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
}

impl<'a> Subnet<'a> {
    /// Prepares a graph and its routes for export.
    ///
    /// # Errors
    /// Returns an error if there are more nodes or ports than an InfiniBand subnet supports, or if the tree does not
    /// exist.
    pub fn new(graph: &'a Graph, routes: &'a Routes, tree: u8) -> Result<Subnet<'a>, String> {
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
        Ok(Subnet { graph, routes, tree: usize::from(tree), hosts: graph.hosts(), ports })
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

    fn lid(node: NodeId) -> u32 {
        node.0 + 1
    }

    fn guid(node: NodeId) -> u64 {
        PREFIX + (u64::from(node.0) + 1) * 0x100
    }

    fn port_guid(&self, node: NodeId) -> u64 {
        Self::guid(node) + u64::from(!self.is_switch(node))
    }

    fn is_switch(&self, node: NodeId) -> bool {
        self.graph.nodes[node.0 as usize].role == Role::Switch
    }

    fn name(&self, node: NodeId) -> &str {
        &self.graph.nodes[node.0 as usize].name
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
            0 => Self::lid(node) as usize % ports.len().max(1),
            _ => self.tree.min(ports.len().saturating_sub(1)),
        };
        ports.get(place).map(|port| port + 1)
    }

    fn ibnetdiscover(&self, text: &mut String) -> std::fmt::Result {
        let id = |node: NodeId| format!("{}-{:016x}", if self.is_switch(node) { "S" } else { "H" }, Self::guid(node));
        writeln!(text, "#\n# Topology file, as ibnetdiscover prints it\n#")?;
        for node in self.nodes() {
            let (ends, guid) = (&self.ports[node.0 as usize], Self::guid(node));
            writeln!(text, "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x{guid:x}")?;
            if self.is_switch(node) {
                writeln!(text, "switchguid=0x{guid:x}({guid:x})")?;
                let (name, lid) = (self.name(node), Self::lid(node));
                let (count, id) = (ends.len(), id(node));
                writeln!(text, "Switch\t{count} \"{id}\"\t\t# \"{name}\" enhanced port 0 lid {lid} lmc 0")?;
            } else {
                writeln!(text, "caguid=0x{guid:x}")?;
                writeln!(text, "Ca\t1 \"{}\"\t\t# \"{}\"", id(node), self.name(node))?;
            }
            for (port, end) in (1..).zip(ends) {
                let far = end.peer;
                let own = if self.is_switch(node) { String::new() } else { format!("({:x})", self.port_guid(node)) };
                let far_guid = if self.is_switch(far) { String::new() } else { format!("({:x})", self.port_guid(far)) };
                let (peer, peer_port) = (id(far), end.peer_port + 1);
                let (name, lid) = (self.name(far), Self::lid(far));
                writeln!(text, "[{port}]{own}\t\"{peer}\"[{peer_port}]{far_guid}\t\t# \"{name}\" lid {lid} 4xQDR")?;
            }
        }
        Ok(())
    }

    fn subnet(&self, text: &mut String) -> std::fmt::Result {
        let end = |node: NodeId, port: u16| {
            let (guid, port_guid) = (Self::guid(node), self.port_guid(node));
            let (name, lid) = (self.name(node), Self::lid(node));
            let kind = if self.is_switch(node) { "SW" } else { "CA" };
            let ports = self.ports[node.0 as usize].len();
            format!(
                "{{ {kind} Ports:{ports:02X} SystemGUID:{guid:016X} NodeGUID:{guid:016X} PortGUID:{port_guid:016X} \
                 VenID:000000 DevID:0000 Rev:00000000 {{{name}}} LID:{lid:04X} PN:{port:02X} }}"
            )
        };
        for node in self.nodes() {
            for (port, far) in (1..).zip(&self.ports[node.0 as usize]) {
                writeln!(text, "{} {} PHY=4x LOG=ACT SPD=10", end(node, port), end(far.peer, far.peer_port + 1))?;
            }
        }
        Ok(())
    }

    fn fdbs(&self, text: &mut String) -> std::fmt::Result {
        for switch in self.switches() {
            writeln!(text, "osm_ucast_mgr_dump_ucast_routes: Switch 0x{:016x}", Self::guid(switch))?;
            writeln!(text, "LID    : Port : Hops : Optimal")?;
            for node in self.nodes() {
                let port = match self.hosts.binary_search(&node) {
                    Ok(host) => self.port(switch, HostId(host as u32)),
                    Err(_) => (node == switch).then_some(0),
                };
                match port {
                    Some(port) => writeln!(text, "0x{:04X} : {port:03}  : 00   : yes", Self::lid(node))?,
                    None => writeln!(text, "0x{:04X} : UNREACHABLE", Self::lid(node))?,
                }
            }
        }
        Ok(())
    }

    fn lfts(&self, text: &mut String) -> std::fmt::Result {
        for switch in self.switches() {
            let (last, lid, guid) = (self.graph.nodes.len(), Self::lid(switch), Self::guid(switch));
            let name = self.name(switch);
            writeln!(text, "Unicast lids [0x0-0x{last:x}] of switch Lid {lid} guid 0x{guid:016x} ('{name}'):")?;
            let mut count = 0;
            for node in self.nodes() {
                let (port, what) = match self.hosts.binary_search(&node) {
                    Ok(host) => (self.port(switch, HostId(host as u32)), "Channel Adapter"),
                    Err(_) => ((node == switch).then_some(0), "Switch"),
                };
                if let Some(port) = port {
                    let (lid, guid, name) = (Self::lid(node), self.port_guid(node), self.name(node));
                    writeln!(text, "0x{lid:04x} {port:03} # {what} portguid 0x{guid:016x}: '{name}'")?;
                    count += 1;
                }
            }
            writeln!(text, "{count} valid lids dumped")?;
        }
        Ok(())
    }

    fn guid2lid(&self, text: &mut String) -> std::fmt::Result {
        for node in self.nodes() {
            let (guid, lid) = (self.port_guid(node), Self::lid(node));
            writeln!(text, "0x{guid:016x} 0x{lid:04x} 0x{lid:04x}\n")?;
        }
        Ok(())
    }

    fn path_sl(&self, text: &mut String) -> std::fmt::Result {
        for &from in &self.hosts {
            let Some(home) = self.ports[from.0 as usize].first() else { continue };
            for (to, &node) in (0..).map(HostId).zip(&self.hosts) {
                let lane = self.routes.lane(home.peer, to);
                writeln!(text, "0x{:016x} {} {lane}", Self::guid(from), Self::lid(node))?;
            }
        }
        Ok(())
    }

    fn sl2vl(&self, text: &mut String) -> std::fmt::Result {
        for switch in self.switches() {
            let ports = self.ports[switch.0 as usize].len();
            for (input, output) in (1..=ports).flat_map(|input| (1..=ports).map(move |output| (input, output))) {
                let guid = Self::guid(switch);
                let pairs = (0..8).map(|pair| format!("0x{:x}{:x}", (2 * pair) % 8, (2 * pair + 1) % 8));
                writeln!(text, "0x{guid:016x} {input} {output} {}", pairs.collect::<Vec<_>>().join(" "))?;
            }
        }
        Ok(())
    }
}
