//! Pools, profiles and their users: BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG and BUFFER_QUEUE.

use super::super::Work;
use super::database::{Database, Row, short};
use super::switch::{Pool, Profile, Switch, Threshold, at_ports};
use std::collections::{BTreeMap, BTreeSet};
use units::Bytes;

const POOL_FIELDS: &[&str] = &["mode", "percentage", "size", "type", "xoff"];
const PROFILE_FIELDS: &[&str] =
    &["dynamic_th", "headroom_type", "packet_discard_action", "pool", "size", "static_th", "xoff", "xon", "xon_offset"];

pub(super) fn read(work: &mut Work, database: &Database<'_>, switch: &mut Switch) {
    for row in database.rows(work, "BUFFER_POOL") {
        row.only(POOL_FIELDS);
        // Memory outside of the chip may be larger than what is counted here.
        let size = row.number(work, "size").and_then(|size| u64::try_from(size).ok());
        let size = size.map(|size| Bytes::new(size.min(crate::keys::buffers::LARGEST_BUFFER)));
        let headroom = row.number(work, "xoff").and_then(|headroom| u64::try_from(headroom).ok());
        let headroom = headroom.filter(|headroom| *headroom > 0).map(Bytes::new);
        let is_static = row.text("mode").is_some_and(|mode| mode == "static");
        switch.pools.insert(row.key.to_owned(), Pool { size, headroom, is_static });
    }
    let mut wrong = BTreeSet::new();
    for row in database.rows(work, "BUFFER_PROFILE") {
        row.only(PROFILE_FIELDS);
        match profile(work, &row, switch) {
            Some(profile) => drop(switch.profiles.insert(row.key.to_owned(), profile)),
            // Its users are not to blame.
            None => drop(wrong.insert(row.key.to_owned())),
        }
    }
    for table in ["BUFFER_PG", "BUFFER_QUEUE"] {
        let mut known = BTreeMap::new();
        for row in database.rows(work, table) {
            row.only(&["profile"]);
            if !row.reference("profile").is_some_and(|name| wrong.contains(&name)) {
                users(work, &row, table == "BUFFER_PG", switch, &mut known);
            }
        }
    }
    for table in ["BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"] {
        if !database.rows(work, table).is_empty() {
            work.note(table, "limits of a whole port are not modelled: queues and priority groups have limits");
        }
    }
    let default = database.row(work, "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE");
    let alpha = default.and_then(|row| {
        row.only(&["default_dynamic_th", "over_subscribe_ratio"]);
        row.number(work, "default_dynamic_th")
    });
    if let Some(alpha) = alpha {
        // The switch computes such profiles by itself; here headroom is computed.
        let threshold = Threshold::Dynamic(i8::try_from(alpha).unwrap_or(0));
        for profile in switch.profiles.values_mut().filter(|profile| profile.threshold == Threshold::Unknown) {
            profile.threshold = threshold;
        }
    }
}

fn profile(work: &mut Work, row: &Row<'_>, switch: &Switch) -> Option<Profile> {
    let pool = row.reference("pool").unwrap_or_default();
    if !pool.is_empty() && !switch.pools.contains_key(&pool) {
        let message = format!("{} names pool {}, which is not in BUFFER_POOL", row.name(), short(&pool));
        work.refuse(row.place("pool"), message, "name an existing pool");
        return None;
    }
    let wrong = work.problems.len();
    let size = row.bytes(work, "size").unwrap_or(0);
    let headroom = row.bytes(work, "xoff").filter(|xoff| *xoff > 0);
    let [xon, xon_offset] = ["xon", "xon_offset"].map(|field| row.bytes(work, field).map(Bytes::new));
    let threshold = match (row.text("dynamic_th").is_some(), row.text("static_th").is_some()) {
        (true, _) => {
            let power = row.number(work, "dynamic_th")?;
            let Some(power) = i8::try_from(power).ok().filter(|power| (-16..=16).contains(power)) else {
                let message = format!("{} has `dynamic_th` = {power}", row.name());
                work.refuse(row.place("dynamic_th"), message, "give a power of two from -16 to 16");
                return None;
            };
            Threshold::Dynamic(power)
        }
        (false, true) => {
            // Some platforms state a size beyond the memory, for no limit.
            let bytes = row.number(work, "static_th")?.max(0) as u64;
            Threshold::Static(Bytes::new(bytes.min(crate::keys::buffers::LARGEST_BUFFER)))
        }
        (false, false) => Threshold::Unknown,
    };
    if work.problems.len() > wrong {
        return None;
    }
    // `size` contains `xoff` where it is larger (Spectrum: xon + xoff; Trident 2: xoff and a cell or more).
    let reserved = headroom.map_or(size, |headroom| size.checked_sub(headroom).unwrap_or(size));
    Some(Profile {
        name: row.key.to_owned(),
        pool,
        reserved: Bytes::new(reserved),
        size: Bytes::new(size),
        headroom: headroom.map(Bytes::new),
        xon,
        xon_offset,
        threshold,
    })
}

/// By port and number: the row that gave it a profile, and that profile.
type Users = BTreeMap<(String, u8), (String, Option<String>)>;

/// Priority groups or queues that use a profile. Two rows must not give one of them different profiles.
fn users(work: &mut Work, row: &Row<'_>, is_group: bool, switch: &mut Switch, known: &mut Users) {
    let Some((ports, numbers)) = row.ports_and_numbers(work) else { return };
    let mut profile = row.reference("profile");
    if let Some(name) = profile.as_ref().filter(|name| !switch.profiles.contains_key(*name)) {
        // The switch makes such a profile of a speed and a length by itself.
        if name.starts_with("pg_lossless_") {
            let meaning = format!("profile {} is not in BUFFER_PROFILE: headroom is computed", short(name));
            work.note(&row.name(), meaning);
            profile = None;
        }
    }
    if let Some(name) = profile.as_ref().filter(|name| !switch.profiles.contains_key(*name)) {
        let message = format!("{} names profile {}, which is not in BUFFER_PROFILE", row.name(), short(name));
        work.refuse(row.place("profile"), message, "name an existing profile, or add it");
        return;
    }
    let mut contradictions = Vec::new();
    for port in at_ports(work, switch, row, &ports) {
        for &number in numbers.iter().filter(|_| is_group && profile.is_none()) {
            port.computed |= 1 << number;
        }
        let users = if is_group { &mut port.groups } else { &mut port.queues };
        for &number in &numbers {
            users[usize::from(number)].clone_from(&profile);
            let own = (row.name(), profile.clone());
            if let Some((other, before)) = known.insert((port.name.clone(), number), own)
                && before != profile
            {
                contradictions.push(format!(
                    "{other} and {} give {} {number} different profiles",
                    row.name(),
                    port.name
                ));
            }
        }
    }
    if let Some(message) = contradictions.into_iter().next() {
        work.refuse(row.place(""), message, "keep one of the two rows");
    }
}
