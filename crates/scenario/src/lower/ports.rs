//! Conversion of `[[switches.ports]]`: ports that differ from their switch.

use super::buffers::Rules;
use super::devices::{Kinds, class_bits, egress, pfc_watchdog};
use super::names::Names;
use crate::resolve::{Gathered, Node};
use fabric::graph::NodeId;
use fabric::spec::{Buffer, PortSpec, Queueing, SwitchSpec};
use std::collections::BTreeMap;

/// Returns the ports that differ from their switch. Of several entries that match a port, the last one applies to each of
/// its keys.
pub(super) fn ports(
    gathered: &mut Gathered<'_>,
    root: &Node,
    rules: &Rules<'_>,
    switches: &Kinds<SwitchSpec>,
) -> Option<Vec<PortSpec>> {
    let entries = root.tables("switches");
    if entries.iter().all(|entry| entry.tables("ports").is_empty()) {
        return Some(Vec::new());
    }
    let ends = rules.graph.ports();
    let names = Names::new("node", rules.graph.nodes.iter().map(|node| node.name.as_str()));
    let mut found: BTreeMap<(u32, u16), PortSpec> = BTreeMap::new();
    let mut good = true;
    for (kind, device) in (0..).zip(entries) {
        let switch = &switches.kinds[kind as usize];
        let (Buffer::Static(of_switch) | Buffer::Shared { classes: of_switch, .. }) = &switch.buffer;
        for entry in device.tables("ports") {
            let patterns = entry.names("neighbours").unwrap_or_default();
            let Some(neighbours) = names.select(gathered, &patterns, entry.place_of("neighbours")) else {
                good = false;
                continue;
            };
            let mut mine = Vec::new();
            for &node in rules.graph.switches().iter().filter(|node| switches.kind_of[node.0 as usize] == kind) {
                let of_node = (0..).zip(&ends[node.0 as usize]);
                let chosen = of_node.filter(|(_, end)| neighbours.contains(&end.peer.0));
                mine.extend(chosen.map(|(port, end)| ((node.0, port), end.cable)));
            }
            if mine.is_empty() {
                let message = "no switch of this entry has a link to these neighbours";
                gathered.refuse(entry.place_of("neighbours"), message, "name nodes at the other end of its links");
                good = false;
                continue;
            }
            let at: Vec<(u32, u32)> = mine.iter().map(|((node, _), cable)| (*node, *cable)).collect();
            let off = match entry.names("without_pfc") {
                Some(names) => class_bits(gathered, rules, &names, entry),
                None => Some(0),
            };
            let buffers = match entry.given("buffers") {
                true => rules.port_buffers(gathered, (device, entry), switch.flow_control, of_switch, &at).map(Some),
                false => Some(None),
            };
            let egress = match entry.given("egress") {
                true => egress(gathered, entry, rules).map(Some),
                false => Some(None),
            };
            let watchdog = pfc_watchdog(gathered, entry, rules);
            if switch.queueing != Queueing::Output && entry.given("pfc_watchdog") {
                let message = "a PFC watchdog needs output queueing";
                gathered.refuse(entry.place_of("pfc_watchdog"), message, "remove it, or choose queueing = \"output\"");
                good = false;
                continue;
            }
            let (Some(off), Some(buffers), Some(egress), Some(watchdog)) = (off, buffers, egress, watchdog) else {
                good = false;
                continue;
            };
            for ((node, port), _) in mine {
                let plain = PortSpec::plain(NodeId(node), port);
                let spec = found.entry((node, port)).or_insert(plain);
                if entry.given("without_pfc") {
                    spec.pfc = !off;
                }
                spec.egress = egress.clone().or(spec.egress.take());
                spec.buffers = buffers.clone().or(spec.buffers.take());
                spec.pfc_watchdog = watchdog.or(spec.pfc_watchdog);
            }
        }
    }
    good.then(|| found.into_values().collect())
}

/// Adds the ports whose settings DCBX has negotiated.
pub(super) fn merged(
    gathered: &mut Gathered<'_>,
    root: &Node,
    own: Vec<PortSpec>,
    negotiated: Vec<PortSpec>,
) -> Option<Vec<PortSpec>> {
    if own.iter().any(|port| port.pfc != u8::MAX || port.egress.is_some()) {
        let of_ports = root.tables("switches").iter().flat_map(|entry| entry.tables("ports"));
        let given = of_ports.flat_map(|entry| ["without_pfc", "egress"].map(|key| (entry, key)));
        if let Some((entry, key)) = given.into_iter().find(|(entry, key)| entry.given(key)) {
            let message = format!("`{key}` conflicts with the settings that DCBX applies");
            gathered.refuse(entry.place_of(key), message, format!("remove `{key}`, or set dcbx.apply = false"));
        }
        return None;
    }
    let mut all: BTreeMap<(NodeId, u16), PortSpec> =
        negotiated.into_iter().map(|port| ((port.node, port.port), port)).collect();
    for port in own {
        let (buffers, watchdog) = (port.buffers.clone(), port.pfc_watchdog);
        let entry = all.entry((port.node, port.port)).or_insert(port);
        (entry.buffers, entry.pfc_watchdog) = (buffers, watchdog);
    }
    Some(all.into_values().collect())
}
