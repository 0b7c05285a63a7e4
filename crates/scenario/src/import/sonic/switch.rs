//! A switch as its configuration describes it: ports, buffers, maps and scheduling, with all references resolved.

use super::super::{NamedText, Work};
use super::database::{Database, Row, short};
use crate::source::Place;
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Rate};

/// Traffic classes, queues, priority groups and PFC priorities of a port.
pub const NUMBERS: usize = 8;

/// A switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Host name.
    pub name: String,
    /// File of its configuration.
    pub file: String,
    /// Role in the fabric, such as `ToRRouter`; empty if the configuration does not say.
    pub role: String,
    /// Ports, in the order of their numbers.
    pub ports: Vec<Port>,
    /// Buffer pools by name.
    pub pools: BTreeMap<String, Pool>,
    /// Buffer profiles by name.
    pub profiles: BTreeMap<String, Profile>,
    /// Kinds of neighbours that have no configuration here, by name.
    pub neighbour_roles: BTreeMap<String, String>,
}

/// A buffer pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Size; `None` if the switch computes it.
    pub size: Option<Bytes>,
    /// Headroom that all ports share, if they do.
    pub headroom: Option<Bytes>,
    /// Whether thresholds of its profiles are static.
    pub is_static: bool,
}

/// A buffer profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Its pool.
    pub pool: String,
    /// Memory reserved for each user of the profile, without headroom.
    pub reserved: Bytes,
    /// The field `size`, which some platforms let include the headroom.
    pub size: Bytes,
    /// Headroom: `xoff`. `None` for a lossy profile.
    pub headroom: Option<Bytes>,
    /// Level at which a paused sender resumes: `xon`.
    pub xon: Option<Bytes>,
    /// Distance below the dynamic threshold at which it resumes: `xon_offset`.
    pub xon_offset: Option<Bytes>,
    /// Share of the pool.
    pub threshold: Threshold,
}

/// The share of a pool that one user of a profile may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// 2 to this power times the free memory.
    Dynamic(i8),
    /// A number of bytes.
    Static(Bytes),
    /// Not given.
    Unknown,
}

/// A port.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Name, such as `Ethernet0`.
    pub name: String,
    /// Alias; empty if there is none.
    pub alias: String,
    /// Rate.
    pub speed: Rate,
    /// Largest packet, without the Ethernet header.
    pub mtu: u64,
    /// Whether it is enabled.
    pub is_up: bool,
    /// Length of its cable in metres.
    pub metres: Option<u64>,
    /// What is at the other end, and its port.
    pub neighbour: Option<Neighbour>,
    /// Priorities with PFC; bit n is priority n.
    pub pfc: u8,
    /// Maps of frames to classes, groups and queues.
    pub maps: Maps,
    /// Profile of each priority group.
    pub groups: [Option<String>; NUMBERS],
    /// Priority groups that have a row, but whose profile the switch makes by itself; bit n is group n.
    pub computed: u8,
    /// Profile of each queue.
    pub queues: [Option<String>; NUMBERS],
    /// Scheduling of each queue.
    pub schedulers: [Option<Scheduler>; NUMBERS],
    /// Early detection of each queue.
    pub wred: [Option<Wred>; NUMBERS],
    /// PFC watchdog, if it is on.
    pub watchdog: Option<Watchdog>,
    /// Priorities that the watchdog watches, if they are not those with PFC; bit n is priority n.
    pub watched: Option<u8>,
    /// Where the configuration has it.
    pub(super) place: Place,
}

/// A neighbour as a port's configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its name.
    pub name: String,
    /// Its port; empty if the configuration does not say.
    pub port: String,
    /// Where the configuration says so.
    pub(super) place: Place,
}

/// Maps of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maps {
    /// Traffic class of each DSCP; `None` if the port does not trust the DSCP.
    pub dscp_to_tc: Option<Vec<u8>>,
    /// Queue of each traffic class.
    pub tc_to_queue: [u8; NUMBERS],
    /// Priority group of each traffic class.
    pub tc_to_group: [u8; NUMBERS],
    /// Queue that a pause of each priority stops.
    pub pfc_to_queue: [u8; NUMBERS],
}

impl Default for Maps {
    fn default() -> Maps {
        let same = [0, 1, 2, 3, 4, 5, 6, 7];
        Maps { dscp_to_tc: None, tc_to_queue: same, tc_to_group: same, pfc_to_queue: same }
    }
}

/// Scheduling of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduler {
    /// Name of its row.
    pub name: String,
    /// Weight; `None` for strict priority.
    pub weight: Option<u64>,
    /// Whether it limits the rate.
    pub is_limited: bool,
}

/// Early detection of a queue, of green frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Wred {
    /// Name of its row.
    pub name: String,
    /// Length up to which nothing happens.
    pub least: Bytes,
    /// Length from which every frame is affected.
    pub most: Bytes,
    /// Probability at that length.
    pub probability: f64,
    /// Whether frames are marked, not dropped.
    pub marks: bool,
}

/// A PFC watchdog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watchdog {
    /// What happens to frames of a queue in a storm: `drop`, `forward` or `alert`.
    pub action: String,
    /// Time in milliseconds after which a paused queue is in a storm.
    pub detection: u64,
    /// Time in milliseconds without pauses after which it is restored; `None` if it never is.
    pub restoration: Option<u64>,
    /// Interval in milliseconds at which it looks; `None` if the configuration does not say.
    pub poll: Option<u64>,
}

impl Port {
    /// Whether PFC is on for a traffic class: for a priority whose pauses stop the queue of the class.
    #[must_use]
    pub fn is_lossless(&self, tc: u8) -> bool {
        let queue = self.maps.tc_to_queue[usize::from(tc)];
        (0..NUMBERS).any(|priority| self.pfc >> priority & 1 == 1 && self.maps.pfc_to_queue[priority] == queue)
    }

    /// Whether the PFC watchdog of the port, if it has one, watches the queue of a traffic class.
    #[must_use]
    pub fn is_watched(&self, tc: u8) -> bool {
        let queue = self.maps.tc_to_queue[usize::from(tc)];
        let watched = self.watched.unwrap_or(self.pfc) & self.pfc;
        (0..NUMBERS).any(|priority| watched >> priority & 1 == 1 && self.maps.pfc_to_queue[priority] == queue)
    }

    /// Name of the buffer profile of the priority group of a traffic class.
    #[must_use]
    pub fn group_profile(&self, tc: u8) -> Option<&str> {
        self.groups[usize::from(self.maps.tc_to_group[usize::from(tc)])].as_deref()
    }

    /// Whether the priority group of a traffic class has a row, but no profile: the switch makes one.
    #[must_use]
    pub fn is_computed(&self, tc: u8) -> bool {
        self.computed >> self.maps.tc_to_group[usize::from(tc)] & 1 == 1
    }

    /// Name of the buffer profile of the queue of a traffic class.
    #[must_use]
    pub fn queue_profile(&self, tc: u8) -> Option<&str> {
        self.queues[usize::from(self.maps.tc_to_queue[usize::from(tc)])].as_deref()
    }

    /// Largest frame: the MTU with the Ethernet header and the check sequence.
    #[must_use]
    pub fn largest_frame(&self) -> Bytes {
        Bytes::new(self.mtu + FRAMING)
    }
}

/// Bytes of an Ethernet header and check sequence.
pub const FRAMING: u64 = 18;
/// SONiC's default MTU (sonic-buildimage, port_config.py and the template of PORT).
const MTU: i64 = 9100;
/// Fields of PORT without an effect on traffic here.
const PORT_FIELDS: &[&str] = &[
    "admin_status",
    "alias",
    "autoneg",
    "adv_speeds",
    "adv_interface_types",
    "asic_port_name",
    "coreId",
    "corePortId",
    "description",
    "dhcp_rate_limit",
    "dom_polling",
    "fec",
    "index",
    "interface_type",
    "lanes",
    "laser_freq",
    "link_training",
    "loopback_mode",
    "media_type",
    "mode",
    "mtu",
    "mux_cable",
    "numVoq",
    "parent_port",
    "pfc_asym",
    "pt_interface_id",
    "role",
    "speed",
    "subport",
    "system_port",
    "tpid",
    "tx_power",
    "unreliable_los",
];

/// Reads a switch; `None` if its file is unusable. `fallback` is its name if the configuration states none.
pub(super) fn read(work: &mut Work, database: &Database<'_>, file: NamedText<'_>, fallback: &str) -> Option<Switch> {
    let local = database.row(work, "DEVICE_METADATA", "localhost");
    let text = |field: &str| local.as_ref().and_then(|row| row.text(field)).filter(|text| !text.is_empty());
    let name = text("hostname").unwrap_or_else(|| fallback.to_owned());
    if let Some(strange) = name.chars().find(|c| c.is_control() || "*?{}\"".contains(*c)) {
        let place = database.place("DEVICE_METADATA", "localhost", "hostname");
        work.refuse(place, format!("the name of the switch contains {strange:?}"), "name it by letters and digits");
        return None;
    }
    let role = text("type").unwrap_or_default();
    let mut switch = Switch {
        name,
        file: file.name.to_owned(),
        role,
        ports: Vec::new(),
        pools: BTreeMap::new(),
        profiles: BTreeMap::new(),
        neighbour_roles: BTreeMap::new(),
    };
    for row in database.rows(work, "DEVICE_NEIGHBOR_METADATA") {
        let role = row.text("type").unwrap_or_default();
        switch.neighbour_roles.insert(row.key.to_owned(), role);
    }
    let mut rows = database.rows(work, "PORT");
    // Recirculation and inband ports connect the switch with itself.
    rows.retain(|row| !matches!(row.text("role").as_deref(), Some("Rec" | "Inb" | "Dpc")));
    for row in rows {
        switch.ports.extend(port(work, row));
    }
    if switch.ports.is_empty() && !work.is_hopeless() && work.problems.is_empty() {
        let help = "give the config_db.json of a switch, which has the table PORT";
        work.refuse(database.place("PORT", "", ""), format!("switch {} has no ports", switch.name), help);
        return None;
    }
    lengths(work, database, &mut switch);
    super::buffers::read(work, database, &mut switch);
    super::qos::read(work, database, &mut switch);
    Some(switch)
}

fn port(work: &mut Work, row: Row<'_>) -> Option<Port> {
    row.only(PORT_FIELDS);
    let speed = match row.text("speed") {
        Some(_) => row.number(work, "speed")?,
        None => {
            let message = format!("{} has no `speed`", row.name());
            work.refuse(row.place(""), message, "add its speed in Mb/s, such as \"100000\"");
            return None;
        }
    };
    let speed = u64::try_from(speed).ok().filter(|speed| (1..=10_000_000).contains(speed));
    let Some(speed) = speed else {
        let message = format!("{} has a `speed` that no port has", row.name());
        work.refuse(row.place("speed"), message, "give it in Mb/s, such as \"100000\"");
        return None;
    };
    let mtu = match row.text("mtu") {
        Some(_) => row.number(work, "mtu")?,
        None => MTU,
    };
    if !(46..=60_000).contains(&mtu) {
        let message = format!("{} has an `mtu` of {mtu}", row.name());
        work.refuse(row.place("mtu"), message, "give 46 to 60000 bytes");
        return None;
    }
    if row.text("pfc_asym").is_some_and(|asymmetric| asymmetric == "on") {
        work.note(&row.name(), "asymmetric PFC is not modelled: the port sends and obeys pauses of the same classes");
    }
    Some(Port {
        name: row.key.to_owned(),
        alias: row.text("alias").unwrap_or_default(),
        speed: Rate::from_bits_per_sec(speed * 1_000_000),
        mtu: mtu as u64,
        is_up: row.text("admin_status").is_none_or(|status| status != "down"),
        metres: None,
        neighbour: None,
        pfc: 0,
        maps: Maps::default(),
        groups: [const { None }; NUMBERS],
        computed: 0,
        queues: [const { None }; NUMBERS],
        schedulers: [const { None }; NUMBERS],
        wred: [const { None }; NUMBERS],
        watchdog: None,
        watched: None,
        place: row.place(""),
    })
}

/// Lengths of cables, of whatever set the switch uses.
fn lengths(work: &mut Work, database: &Database<'_>, switch: &mut Switch) {
    for row in database.rows(work, "CABLE_LENGTH") {
        for (port, text) in row.texts() {
            let metres = text.trim().strip_suffix('m').and_then(|digits| digits.trim().parse::<u64>().ok());
            let Some(metres) = metres.filter(|metres| *metres <= 100_000) else {
                let message =
                    format!("{} has \"{}\" for {port}, which is not a valid length", row.name(), short(&text));
                work.refuse(row.place(port), message, "give metres, such as \"40m\"");
                continue;
            };
            // No length means that SONiC makes no lossless profile; the cable is there all the same.
            if let Some(port) = switch.ports.iter_mut().find(|known| known.name == port) {
                port.metres = Some(metres).filter(|metres| *metres > 0);
            }
        }
    }
}

/// The ports that a row names. One that does not exist is reported: rows outlive a change of the breakout of a port.
pub(super) fn at_ports<'s>(
    work: &mut Work,
    switch: &'s mut Switch,
    row: &Row<'_>,
    names: &[&str],
) -> Vec<&'s mut Port> {
    let known: BTreeSet<&str> = names.iter().copied().collect();
    let missing = known.iter().find(|name| !switch.ports.iter().any(|port| port.name == **name));
    if let Some(missing) = missing {
        work.note(&row.name(), format!("port {} is not in PORT and is left out", short(missing)));
    }
    switch.ports.iter_mut().filter(|port| known.contains(port.name.as_str())).collect()
}
