//! Configurations of SONiC switches: config_db.json of one or many, as one scenario.
//!
//! A [`Fabric`] is what the configurations say, with references resolved and cables joined at both ends; it is the subject
//! of checks. [`import`] makes a scenario of it: a class per traffic class in use, a shared memory per switch, and the
//! headroom, marking and scheduling of every port. What is not understood is reported with its table and key.

mod buffers;
mod cables;
mod database;
pub(crate) mod devices;
mod qos;
mod switch;
pub(super) mod text;

use super::{Imported, NamedText, Note, Work};
use crate::problem::Errors;
use database::Database;
use std::collections::BTreeSet;
pub use switch::{
    FRAMING, Maps, NUMBERS, Neighbour, Pool, Port, Profile, Scheduler, Switch, Threshold, Watchdog, Wred,
};
use units::Rate;

/// Files of a switch.
#[derive(Clone, Copy, Debug)]
pub struct SwitchFiles<'a> {
    /// Its configuration.
    pub configuration: NamedText<'a>,
    /// Its LLDP table, if given.
    pub lldp: Option<NamedText<'a>>,
    /// Its name, if the configuration states none.
    pub name: &'a str,
}

/// What the configurations of some switches say.
#[derive(Clone, Debug, PartialEq)]
pub struct Fabric {
    /// The switches, in the order of their files.
    pub switches: Vec<Switch>,
    /// Names of hosts: neighbours without a configuration.
    pub hosts: Vec<String>,
    /// The cables.
    pub cables: Vec<Cable>,
    /// What is not understood or not modelled.
    pub notes: Vec<Note>,
}

/// A cable.
#[derive(Clone, Debug, PartialEq)]
pub struct Cable {
    /// One end.
    pub a: End,
    /// The other end, unless it is a host.
    pub b: Option<End>,
    /// The host at the other end; empty if it is a switch.
    pub host: String,
    /// Rate.
    pub rate: Rate,
    /// Length in metres.
    pub metres: u64,
}

/// An end of a cable: positions in [`Fabric::switches`] and [`Switch::ports`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    /// The switch.
    pub switch: usize,
    /// Its port.
    pub port: usize,
}

impl Cable {
    /// The ends at switches.
    pub fn ends(&self) -> impl Iterator<Item = End> + Clone + use<> {
        [Some(self.a), self.b].into_iter().flatten()
    }

    /// The other end of a cable between switches.
    #[must_use]
    pub fn far(&self, end: End) -> Option<End> {
        self.b.map(|b| if end == self.a { b } else { self.a })
    }
}

impl Fabric {
    /// The switch and the port of an end.
    ///
    /// # Panics
    /// Panics if the end is that of another fabric.
    #[must_use]
    pub fn at(&self, end: End) -> (&Switch, &Port) {
        let switch = &self.switches[end.switch];
        (switch, &switch.ports[end.port])
    }

    /// The node at the other end of a cable.
    #[must_use]
    pub fn neighbour<'a>(&'a self, cable: &'a Cable, end: End) -> &'a str {
        cable.far(end).map_or(cable.host.as_str(), |far| self.switches[far.switch].name.as_str())
    }

    /// Traffic classes in use at a port that has a cable, in ascending order.
    #[must_use]
    pub fn classes(&self) -> Vec<u8> {
        let mut used = BTreeSet::new();
        for (_, port) in self.cables.iter().flat_map(Cable::ends).map(|end| self.at(end)) {
            used.extend(port.maps.dscp_to_tc.iter().flatten().copied());
            used.extend((0..NUMBERS as u8).filter(|tc| port.is_lossless(*tc)));
        }
        if used.is_empty() {
            used.insert(0);
        }
        used.into_iter().collect()
    }

    /// Whether a traffic class is lossless at any port that has a cable.
    #[must_use]
    pub fn is_lossless(&self, tc: u8) -> bool {
        self.cables.iter().flat_map(Cable::ends).any(|end| self.at(end).1.is_lossless(tc))
    }
}

/// Reads the configurations.
///
/// # Errors
/// Returns all mistakes and contradictions, each with its file, line, table and key.
pub fn read(files: &[SwitchFiles<'_>]) -> Result<Fabric, Errors> {
    let mut work = Work::default();
    let mut switches: Vec<Switch> = Vec::new();
    let mut ignored = BTreeSet::new();
    for files in files {
        let Some(database) = Database::read(&mut work, files.configuration) else { continue };
        let lldp = match files.lldp {
            Some(file) => match Database::read(&mut work, file) {
                Some(lldp) => Some(lldp),
                None => continue,
            },
            None => None,
        };
        let Some(mut switch) = switch::read(&mut work, &database, files.configuration, files.name) else { continue };
        cables::neighbours(&mut work, &database, lldp.as_ref(), &mut switch);
        if let Some(other) = switches.iter().find(|other| other.name == switch.name) {
            let message = format!("{} and {} are both named {}", other.file, switch.file, switch.name);
            let place = database.place("DEVICE_METADATA", "localhost", "hostname");
            work.refuse(place, message, "give each switch its own hostname");
            continue;
        }
        let mut strange = Vec::new();
        database.report_rest(&mut ignored, &mut strange);
        for (key, meaning) in strange {
            work.note(&format!("{} {key}", switch.name), meaning);
        }
        switches.push(switch);
    }
    work.checked()?;
    cables::rename(&mut work, &mut switches);
    switches.extend(cables::unconfigured(&mut work, &switches));
    let (mut cables, mut hosts) = cables::join(&mut work, &switches);
    work.checked()?;
    cables = cables::in_port_order(cables);
    if switches.iter().all(|switch| switch.ports.iter().all(|port| port.neighbour.is_none())) {
        (cables, hosts) = cables::hosts_everywhere(&switches);
        work.note("DEVICE_NEIGHBOR", "no port has a neighbour: every enabled port gets a host");
    }
    if !ignored.is_empty() {
        let names: Vec<String> = ignored.into_iter().map(|name| database::short(&name)).collect();
        work.note("ignored tables", names.join(", "));
    }
    note_rest(&mut work, &switches, &cables);
    // What concerns several switches alike is said once.
    let mut notes: Vec<Note> = Vec::new();
    for note in std::mem::take(&mut work.notes) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(Fabric { switches, hosts, cables, notes })
}

/// Notes on neighbours, ports and lengths that the files leave open.
fn note_rest(work: &mut Work, switches: &[Switch], cables: &[Cable]) {
    let mut open = BTreeSet::new();
    let mut unknown = 0;
    for cable in cables {
        let (switch, port) = (&switches[cable.a.switch], &switches[cable.a.switch].ports[cable.a.port]);
        let far = cable.b.map(|end| &switches[end.switch].ports[end.port]);
        unknown += usize::from(port.metres.is_none() && far.is_none_or(|far| far.metres.is_none()));
        let role = switch.neighbour_roles.get(&cable.host).map_or("", String::as_str);
        if cables::forwards(role) {
            open.insert(cable.host.as_str());
        }
        if let Some(far) = far.filter(|far| far.mtu != port.mtu) {
            let other = &switches[cable.b.map_or(0, |end| end.switch)].name;
            let meaning = format!(
                "`mtu` is {}, but {} at the other end, {other} {}: larger packets are dropped there",
                port.mtu, far.mtu, far.name
            );
            work.note(&format!("{} PORT|{}", switch.name, port.name), meaning);
        }
    }
    if !open.is_empty() {
        let names: Vec<&str> = open.into_iter().collect();
        work.note(
            "DEVICE_NEIGHBOR_METADATA",
            format!(
                "switches without a configuration and with one link become hosts, which stand for all behind them: {}",
                names.join(", ")
            ),
        );
    }
    if unknown > 0 {
        let meaning = format!("{unknown} cables without a length: 5 m to hosts, 40 m between switches");
        work.note("CABLE_LENGTH", meaning);
    }
    let ends: BTreeSet<End> = cables.iter().flat_map(Cable::ends).collect();
    for (number, switch) in switches.iter().enumerate() {
        let free = (0..switch.ports.len()).filter(|&port| !ends.contains(&End { switch: number, port }));
        let up = free.filter(|&port| switch.ports[port].is_up).count();
        if up > 0 {
            work.note(&format!("{} PORT", switch.name), format!("{up} enabled ports without a neighbour are left out"));
        }
    }
    let watchdogs = || switches.iter().flat_map(|switch| &switch.ports).filter_map(|port| port.watchdog.as_ref());
    if watchdogs().any(|watchdog| watchdog.action == "alert") {
        work.note("PFC_WD", "a watchdog that only alerts changes no traffic and is left out");
    }
    if watchdogs().any(|watchdog| watchdog.restoration.is_none()) {
        work.note("PFC_WD", "without `restoration_time` a queue is never restored; here after an hour");
    }
}

/// Converts configurations to a scenario of that name, with an incast as its traffic.
///
/// # Errors
/// Returns all mistakes in the files, with file, line, table and key.
pub fn import(files: &[SwitchFiles<'_>], name: &str) -> Result<Imported, Errors> {
    Ok(scenario(read(files)?, name))
}

/// The scenario of a fabric, with an incast as its traffic.
#[must_use]
pub fn scenario(fabric: Fabric, name: &str) -> Imported {
    let mut notes = fabric.notes.clone();
    let (scenario, flows) = text::write(&fabric, name, &mut notes);
    Imported { scenario, flows: String::new(), notes, counts: [fabric.hosts.len(), fabric.switches.len(), flows] }
}

#[cfg(test)]
mod forms;
#[cfg(test)]
mod tests;
