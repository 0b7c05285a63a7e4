//! Cables: what ports say of their neighbours, joined at both ends.

use super::super::Work;
use super::database::{Database, natural, short};
use super::switch::{NUMBERS, Neighbour, Port, Switch};
use super::{Cable, End};
use crate::problem::Problem;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Length in metres of a cable to a host, and of one between switches, where CABLE_LENGTH gives none: those of a ToR's
/// ports in SONiC (sonic-buildimage, files/build_templates/buffers_config.j2).
const LENGTHS: [u64; 2] = [5, 40];

/// Reads the neighbours of a switch's ports from its configuration and, if given, from its LLDP table.
pub(super) fn neighbours(work: &mut Work, database: &Database<'_>, lldp: Option<&Database<'_>>, switch: &mut Switch) {
    for row in database.rows(work, "DEVICE_NEIGHBOR") {
        row.only(&["name", "port", "local_port", "mgmt_addr", "type", "hwsku", "lo_addr"]);
        let local = row.text("local_port").filter(|port| !port.is_empty()).unwrap_or_else(|| row.key.to_owned());
        // Older releases have a row for each neighbour, not for each port.
        let older = row.text("local_port").is_some_and(|port| !port.is_empty() && port != row.key);
        let name = row.text("name").or_else(|| older.then(|| row.key.to_owned()));
        let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
        let neighbour = Neighbour { name, port: row.text("port").unwrap_or_default(), place: row.place("") };
        match find(&mut switch.ports, &local) {
            Some(port) => set(work, port, neighbour),
            None => {
                work.note(&row.name(), format!("port {} is not in PORT and is left out", short(&local)));
            }
        }
    }
    for database in lldp.into_iter().chain([database]) {
        for (local, name, port) in heard(work, database) {
            let place = database.place(&local, "", "");
            // LLDP also runs at the management port.
            if let Some(known) = find(&mut switch.ports, &local) {
                set(work, known, Neighbour { name, port, place });
            }
        }
    }
}

fn find<'p>(ports: &'p mut [Port], name: &str) -> Option<&'p mut Port> {
    ports.iter_mut().find(|port| port.name == name)
}

/// Sets the neighbour of a port; a second one must be the same.
fn set(work: &mut Work, port: &mut Port, neighbour: Neighbour) {
    if let Some(strange) = neighbour.name.chars().find(|c| c.is_control() || "*?{}\"".contains(*c)) {
        let message = format!("the name of the neighbour at {} contains {strange:?}", port.name);
        work.refuse(neighbour.place, message, "name it by letters and digits");
        return;
    }
    match &mut port.neighbour {
        Some(known) if known.name != neighbour.name => {
            let message = format!("{} leads to {} and to {}", port.name, known.name, neighbour.name);
            let problem = Problem::new(neighbour.place, message, "a port has one cable; correct one of the tables");
            work.problems.push(problem.and(known.place, "the other"));
        }
        Some(known) => {
            if known.port.is_empty() {
                known.port = neighbour.port;
            }
        }
        none => *none = Some(neighbour),
    }
}

/// Local port, name and port of the neighbours in an LLDP table: of the database of applications, or of `lldpctl -f json`.
fn heard(work: &mut Work, database: &Database<'_>) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for row in database.rows(work, "LLDP_ENTRY_TABLE") {
        let (name, port) = (row.text("lldp_rem_sys_name"), row.text("lldp_rem_port_id"));
        found.extend(name.map(|name| (row.key.to_owned(), name, port.unwrap_or_default())));
    }
    for (key, fields) in database.dumped("LLDP_ENTRY_TABLE:") {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let (name, port) = (text("lldp_rem_sys_name"), text("lldp_rem_port_id"));
        found.extend(name.map(|name| (key.to_owned(), name, port.unwrap_or_default())));
    }
    // An object, or a list of objects with one interface each.
    let Some(interfaces) = database.value("lldp").and_then(|lldp| lldp.get("interface")) else { return found };
    let each: Vec<&serde_json::Map<String, Value>> = match interfaces {
        Value::Object(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_object).collect(),
        _ => Vec::new(),
    };
    for (local, interface) in each.into_iter().flatten() {
        let name = interface.get("chassis").and_then(Value::as_object).and_then(|chassis| chassis.keys().next());
        let port = interface.get("port").and_then(|port| port.get("id")).and_then(|id| id.get("value"));
        let port = port.and_then(Value::as_str).unwrap_or_default();
        found.extend(name.map(|name| (local.clone(), name.clone(), port.to_owned())));
    }
    found
}

/// Gives neighbours the names that their own configurations have, where these differ in case or by the domain alone: names of
/// LLDP often have one.
pub(super) fn rename(work: &mut Work, switches: &mut [Switch]) {
    let names: Vec<String> = switches.iter().map(|switch| switch.name.clone()).collect();
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    for neighbour in switches.iter_mut().flat_map(|switch| &mut switch.ports).filter_map(|port| port.neighbour.as_mut())
    {
        if names.contains(&neighbour.name) {
            continue;
        }
        let mut alike = names.iter().filter(|name| is_same_host(name, &neighbour.name));
        if let (Some(name), None) = (alike.next(), alike.next()) {
            renamed.insert(std::mem::replace(&mut neighbour.name, name.clone()), name.clone());
        }
    }
    for (name, own) in renamed {
        work.note("neighbours", format!("{} is taken for {own}, whose configuration is given", short(&name)));
    }
}

/// Whether two names are those of one host: they differ in case, or one of them has a domain and the other has none.
fn is_same_host(one: &str, other: &str) -> bool {
    let first = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    match (one.contains('.'), other.contains('.')) {
        (true, false) => first(one).eq_ignore_ascii_case(other),
        (false, true) => first(other).eq_ignore_ascii_case(one),
        _ => one.eq_ignore_ascii_case(other),
    }
}

/// Joins the ports of all switches. Returns the cables and the names of the hosts: neighbours without a configuration.
pub(super) fn join(work: &mut Work, switches: &[Switch]) -> (Vec<Cable>, Vec<String>) {
    let mut cables = Vec::new();
    let mut hosts = BTreeSet::new();
    let mut taken: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut down: Vec<String> = Vec::new();
    for (here, switch) in switches.iter().enumerate() {
        for (number, port) in switch.ports.iter().enumerate() {
            let Some(neighbour) = &port.neighbour else { continue };
            if taken.contains(&(here, number)) {
                continue;
            }
            if !port.is_up {
                down.push(format!("{} {} to {}", switch.name, port.name, neighbour.name));
                continue;
            }
            let end = End { switch: here, port: number };
            let Some(there) = switches.iter().position(|other| other.name == neighbour.name) else {
                let metres = port.metres.unwrap_or(LENGTHS[0]);
                hosts.insert(neighbour.name.clone());
                cables.push(Cable { a: end, b: None, host: neighbour.name.clone(), rate: port.speed, metres });
                continue;
            };
            let Some(far) = far_port(work, switches, (here, number), (there, neighbour)) else { continue };
            taken.extend([(here, number), (there, far)]);
            let other = &switches[there].ports[far];
            if !other.is_up {
                let ends = format!("{} {} to {} {}", switch.name, port.name, switches[there].name, other.name);
                down.push(format!("{ends}, which is down at that end"));
                continue;
            }
            if other.speed != port.speed {
                let message = format!(
                    "{} {} has {}, but {} {} at the other end has {}",
                    switch.name, port.name, port.speed, switches[there].name, other.name, other.speed
                );
                let problem = Problem::new(port.place, message, "both ends of a cable have the same speed");
                work.problems.push(problem.and(other.place, "the other end"));
                continue;
            }
            let metres = port.metres.max(other.metres).unwrap_or(LENGTHS[1]);
            let far = End { switch: there, port: far };
            cables.push(Cable { a: end, b: Some(far), host: String::new(), rate: port.speed, metres });
        }
    }
    if !down.is_empty() {
        let count = down.len();
        down.truncate(4);
        let others = if count > 4 { format!(" and {} more", count - 4) } else { String::new() };
        let meaning = format!("{count} ports that are down have no link here: {}{others}", down.join("; "));
        work.note("PORT admin_status", meaning);
    }
    let mut hosts: Vec<String> = hosts.into_iter().collect();
    hosts.sort_by_key(|name| natural(name));
    (cables, hosts)
}

/// Whether a kind of neighbour, as DEVICE_NEIGHBOR_METADATA names it, forwards frames: ToRRouter, LeafRouter, SpineRouter,
/// BackEndToRRouter, RegionalHub, SmartSwitch and the like; not Server or SonicHost.
pub(super) fn forwards(role: &str) -> bool {
    ["Router", "Switch", "Hub"].iter().any(|ending| role.ends_with(ending))
}

/// Switches that several ports lead to, but whose configurations are not there. They forward all the same: each gets the
/// ports that its neighbours name, with their maps and PFC, and buffers as if nothing were configured.
pub(super) fn unconfigured(work: &mut Work, switches: &[Switch]) -> Vec<Switch> {
    let mut found: BTreeMap<&str, Switch> = BTreeMap::new();
    for switch in switches {
        for port in switch.ports.iter().filter(|port| port.is_up) {
            let Some(neighbour) = &port.neighbour else { continue };
            let role = switch.neighbour_roles.get(&neighbour.name).map_or("", String::as_str);
            if !forwards(role) || switches.iter().any(|other| other.name == neighbour.name) {
                continue;
            }
            let other = found.entry(&neighbour.name).or_insert_with(|| Switch {
                name: neighbour.name.clone(),
                file: "no configuration".to_owned(),
                role: role.to_owned(),
                ports: Vec::new(),
                pools: BTreeMap::new(),
                profiles: BTreeMap::new(),
                neighbour_roles: BTreeMap::new(),
            });
            let name = match neighbour.port.is_empty() {
                true => format!("to {} {}", switch.name, port.name),
                false => neighbour.port.clone(),
            };
            let back = Neighbour { name: switch.name.clone(), port: port.name.clone(), place: neighbour.place };
            let mirrored = Port { name, alias: String::new(), neighbour: Some(back), ..port.clone() };
            let (groups, queues, wred) =
                ([const { None }; NUMBERS], [const { None }; NUMBERS], [const { None }; NUMBERS]);
            other.ports.push(Port { groups, computed: 0, queues, wred, ..mirrored });
        }
    }
    // With one link it leads nowhere, and a host stands for the network behind it.
    let found: Vec<Switch> = found.into_values().filter(|switch| switch.ports.len() > 1).collect();
    if !found.is_empty() {
        let names: Vec<String> = found.iter().map(|switch| format!("{} ({})", switch.name, switch.role)).collect();
        let meaning = "switches whose configurations are missing forward here with default buffers, and PFC as at their neighbours";
        work.note("DEVICE_NEIGHBOR_METADATA", format!("{meaning}: {}", names.join(", ")));
    }
    found
}

/// The port at the other end of a cable to a switch that is known. What does not agree is refused.
fn far_port(
    work: &mut Work,
    switches: &[Switch],
    (here, number): (usize, usize),
    (there, neighbour): (usize, &Neighbour),
) -> Option<usize> {
    let (switch, port, other) = (&switches[here], &switches[here].ports[number], &switches[there]);
    let is_here = |far: &Port| {
        far.neighbour.as_ref().is_some_and(|back| {
            back.name == switch.name && (back.port == port.name || back.port.is_empty() || is_alias(port, &back.port))
        })
    };
    let named = |far: &&Port| far.name == neighbour.port || is_alias(far, &neighbour.port);
    let far = match neighbour.port.is_empty() {
        true => other.ports.iter().position(is_here),
        false => other.ports.iter().position(|far| named(&far)),
    };
    let Some(far) = far else {
        let message = match neighbour.port.is_empty() {
            true => format!("{} {} leads to {}, but no port of that leads back", switch.name, port.name, other.name),
            false => format!(
                "{} {} leads to port {} of {}, which has no such port",
                switch.name,
                port.name,
                short(&neighbour.port),
                other.name
            ),
        };
        work.refuse(neighbour.place, message, "correct the neighbour of the port");
        return None;
    };
    if (here, number) == (there, far) {
        let message = format!("{} {} leads to itself", switch.name, port.name);
        work.refuse(neighbour.place, message, "correct the neighbour of the port");
        return None;
    }
    let back = &other.ports[far];
    if let Some(claim) = back.neighbour.as_ref().filter(|_| !is_here(back)) {
        let message = format!(
            "{} {} leads to {} {}, but that leads to {} {}",
            switch.name,
            port.name,
            other.name,
            back.name,
            claim.name,
            short(&claim.port)
        );
        let problem = Problem::new(neighbour.place, message, "the two ends of a cable must name each other");
        work.problems.push(problem.and(claim.place, "the other end"));
        return None;
    }
    Some(far)
}

/// Puts cables into an order in which every switch has its ports in their own order, as far as there is one: the n-th port of
/// a switch is then the n-th that has a cable, at both ends.
pub(super) fn in_port_order(cables: Vec<Cable>) -> Vec<Cable> {
    // The ports of each switch that have no place yet, the next one last.
    let mut open: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (number, cable) in cables.iter().enumerate() {
        for end in cable.ends() {
            open.entry(end.switch).or_default().push((end.port, number));
        }
    }
    open.values_mut().for_each(|ports| ports.sort_unstable_by_key(|port| std::cmp::Reverse(*port)));
    let is_next = |open: &BTreeMap<usize, Vec<(usize, usize)>>, number: usize| {
        cables[number].ends().all(|end| open[&end.switch].last().is_some_and(|(port, _)| *port == end.port))
    };
    let mut left: BTreeSet<usize> = (0..cables.len()).collect();
    let mut next: BTreeSet<usize> = left.iter().copied().filter(|number| is_next(&open, *number)).collect();
    let mut order = Vec::with_capacity(cables.len());
    while let Some(number) = next.pop_first().or_else(|| left.first().copied()) {
        left.remove(&number);
        order.push(number);
        for end in cables[number].ends() {
            let ports = open.entry(end.switch).or_default();
            ports.retain(|(_, other)| *other != number);
            let follows = ports.last().map(|(_, other)| *other);
            next.extend(follows.filter(|other| left.contains(other) && is_next(&open, *other)));
        }
    }
    let mut cables: Vec<Option<Cable>> = cables.into_iter().map(Some).collect();
    order.into_iter().filter_map(|number| cables[number].take()).collect()
}

fn is_alias(port: &Port, name: &str) -> bool {
    !port.alias.is_empty() && port.alias == name
}

/// A host for every enabled port, for configurations that name no neighbour.
pub(super) fn hosts_everywhere(switches: &[Switch]) -> (Vec<Cable>, Vec<String>) {
    let (mut cables, mut hosts) = (Vec::new(), Vec::new());
    for (here, switch) in switches.iter().enumerate() {
        for (number, port) in switch.ports.iter().enumerate().filter(|(_, port)| port.is_up) {
            let host = format!("{}-{}", switch.name, port.name);
            hosts.push(host.clone());
            let metres = port.metres.unwrap_or(LENGTHS[0]);
            cables.push(Cable { a: End { switch: here, port: number }, b: None, host, rate: port.speed, metres });
        }
    }
    (cables, hosts)
}
