//! Identifiers, port numbers and speeds of a fabric as `network.subnet`, by which it is exported as it was.

use super::super::write::quoted;
use super::Fabric;
use super::topology::{Node, Port};
use crate::lower::subnet::written;
use discovery::subnet::Signalling;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The most ports that a device can have.
const MOST_PORTS: u32 = 254;

impl Fabric {
    /// The key `subnet`; `None` if a node has no identifier of its own, as before a subnet manager has run.
    pub(super) fn identities(&self) -> Option<String> {
        let mut text = String::from("subnet = [\n");
        let mut lids = BTreeSet::new();
        // Hosts and switches are in the order of the file, and the ports of an adapter in that of their numbers.
        let mut place = 0;
        for (at, node) in self.nodes.iter().enumerate() {
            let own: Vec<Option<(u32, &Port)>> = match node.is_switch {
                true => vec![None],
                false => node.ports.iter().map(|(number, port)| Some((*number, port))).collect(),
            };
            for port in own {
                let (lid, lmc) = match port {
                    Some((number, port)) => (port.lid.or_else(|| self.far_lid(at, number)), port.lmc),
                    None => (node.lid, node.lmc),
                };
                let lid = lid.filter(|lid| (1..=0xBFFF).contains(lid) && lmc <= 7)?;
                if !(lid..lid + (1 << lmc)).all(|lid| lids.insert(lid)) {
                    return None;
                }
                text.push_str(&self.identity(at, place, node, port.map(|(_, port)| port), (lid, lmc))?);
                place += 1;
            }
        }
        text.push_str("]\n");
        Some(text)
    }

    /// The local identifier of a port as the other end states it.
    fn far_lid(&self, at: usize, number: u32) -> Option<u32> {
        let place = self.place.get(&(at, number))?;
        self.lids.iter().find(|(_, known)| *known == place).map(|(lid, _)| *lid)
    }

    fn identity(&self, at: usize, place: usize, node: &Node, port: Option<&Port>, lids: (u32, u32)) -> Option<String> {
        let (guid, name) = (node.guid()?, &self.wiring.nodes[place].name);
        let numbers = &self.numbers[place];
        if node.size > MOST_PORTS || numbers.iter().any(|number| !(1..=MOST_PORTS).contains(number)) {
            return None;
        }
        let mut text = format!("    {{ node = {}, guid = \"0x{guid:016x}\"", quoted(name));
        let port_guid = match port {
            Some(port) => port.guid.filter(|port| *port != guid.wrapping_add(1)),
            None => node.port_guid.filter(|port| *port != guid),
        };
        let others = [("port_guid", port_guid), ("system_guid", node.system_guid)];
        for (key, value) in others.into_iter().chain([("vendor", node.vendor), ("device", node.device)]) {
            if let Some(value) = value {
                let _ = write!(text, ", {key} = \"0x{value:x}\"");
            }
        }
        if node.name != *name {
            let _ = write!(text, ", description = {}", quoted(&node.name));
        }
        if node.is_router {
            text.push_str(", router = true");
        }
        if node.base_port_0 {
            text.push_str(", enhanced_port_0 = false");
        }
        let (lid, lmc) = lids;
        let _ = write!(text, ", lid = {lid}");
        if lmc > 0 {
            let _ = write!(text, ", lmc = {lmc}");
        }
        if node.size > 0 && node.size as usize != numbers.len() {
            let _ = write!(text, ", size = {}", node.size);
        }
        if !numbers.iter().copied().eq(1..=numbers.len() as u32) {
            let all: Vec<String> = numbers.iter().map(u32::to_string).collect();
            let _ = write!(text, ", ports = [{}]", all.join(", "));
        }
        let links: Vec<Signalling> = numbers.iter().filter_map(|number| Some(node.ports.get(number)?.link)).collect();
        if links.iter().any(|link| Signalling::nearest(link.rate()) != *link) {
            let alike = links.iter().all(|link| *link == links[0]);
            let shown: Vec<String> =
                links.iter().take(if alike { 1 } else { links.len() }).map(|it| format!("\"{it}\"")).collect();
            let list = if alike { shown.concat() } else { format!("[{}]", shown.join(", ")) };
            let _ = write!(text, ", speeds = {list}");
        }
        if let Some(others) = self.others.get(&at) {
            let _ = write!(text, ", forwarding = {}", quoted(&written(others)));
        }
        text.push_str(" },\n");
        Some(text)
    }
}
