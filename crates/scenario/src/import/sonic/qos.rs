//! Maps, PFC, scheduling and early detection: PORT_QOS_MAP and what it names, QUEUE, SCHEDULER, WRED_PROFILE, PFC_WD.

use super::super::Work;
use super::database::{Database, Row, short};
use super::switch::{Maps, NUMBERS, Scheduler, Switch, Watchdog, Wred, at_ports};
use std::collections::BTreeMap;
use units::Bytes;

const MAP_FIELDS: &[&str] = &[
    "dot1p_to_tc_map",
    "dscp_to_tc_map",
    "pfc_enable",
    "pfc_to_pg_map",
    "pfc_to_queue_map",
    "pfcwd_sw_enable",
    "scheduler",
    "tc_to_dscp_map",
    "tc_to_pg_map",
    "tc_to_queue_map",
];
/// Colours other than green are for frames that a policer has coloured.
const WRED_FIELDS: &[&str] = &[
    "ecn",
    "green_drop_probability",
    "green_max_threshold",
    "green_min_threshold",
    "red_drop_probability",
    "red_max_threshold",
    "red_min_threshold",
    "wred_green_enable",
    "wred_red_enable",
    "wred_yellow_enable",
    "yellow_drop_probability",
    "yellow_max_threshold",
    "yellow_min_threshold",
];
const SCHEDULER_FIELDS: &[&str] = &["cbs", "cir", "meter_type", "pbs", "pir", "type", "weight"];
/// Tables of maps, by the field of PORT_QOS_MAP that names one of their rows.
const TABLES: [(&str, &str); 5] = [
    ("dscp_to_tc_map", "DSCP_TO_TC_MAP"),
    ("dot1p_to_tc_map", "DOT1P_TO_TC_MAP"),
    ("tc_to_queue_map", "TC_TO_QUEUE_MAP"),
    ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"),
    ("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE"),
];

pub(super) fn read(work: &mut Work, database: &Database<'_>, switch: &mut Switch) {
    let mut maps = BTreeMap::new();
    for (_, table) in TABLES {
        for row in database.rows(work, table) {
            maps.insert((table, row.key.to_owned()), pairs(work, &row));
        }
    }
    // The same table under its name in the database of applications.
    for row in
        database.rows(work, "PFC_PRIORITY_TO_QUEUE_MAP").into_iter().chain(database.rows(work, "PFC_PRIORITY_TO_QUEUE"))
    {
        let pairs = pairs(work, &row);
        maps.entry(("MAP_PFC_PRIORITY_TO_QUEUE", row.key.to_owned())).or_insert(pairs);
    }
    for row in database.rows(work, "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP") {
        if pairs(work, &row).iter().any(|(priority, group)| *priority != usize::from(*group)) {
            work.note(&row.name(), "a priority group is paused by the priorities of its traffic classes here");
        }
    }
    let rows = database.rows(work, "PORT_QOS_MAP");
    // What is set for the whole switch comes first, and ports replace it.
    let (all, some): (Vec<Row<'_>>, Vec<Row<'_>>) = rows.into_iter().partition(|row| row.key == "global");
    for row in all.iter().chain(&some) {
        row.only(MAP_FIELDS);
        port_maps(work, row, &maps, switch);
    }
    let (schedulers, wred) = (schedulers(work, database), wred(work, database));
    queues(work, database, switch, &schedulers, &wred);
    watchdogs(work, database, switch);
}

/// The pairs of a map: numbers of a frame and of what it gets.
fn pairs(work: &mut Work, row: &Row<'_>) -> Vec<(usize, u8)> {
    let mut pairs = Vec::new();
    for (from, to) in row.texts() {
        let from_number = from.trim().parse::<usize>().ok().filter(|from| *from < 64);
        let to_number = to.trim().parse::<u8>().ok().filter(|to| usize::from(*to) < NUMBERS);
        match (from_number, to_number) {
            (Some(from), Some(to)) => pairs.push((from, to)),
            _ => {
                let message = format!("{} maps \"{}\" to \"{}\"", row.name(), short(from), short(&to));
                match (from_number, to.trim().parse::<u8>()) {
                    (Some(_), Ok(8..64)) => {
                        work.note(
                            &row.name(),
                            format!("numbers above 7 have no counterpart: {from} to {to} is left out"),
                        );
                    }
                    _ => {
                        let help = "give whole numbers, and 0 to 7 for what a frame gets";
                        work.refuse(row.place(from), message, help);
                    }
                }
            }
        }
    }
    pairs
}

type NamedMaps = BTreeMap<(&'static str, String), Vec<(usize, u8)>>;

fn port_maps(work: &mut Work, row: &Row<'_>, maps: &NamedMaps, switch: &mut Switch) {
    let mut found = BTreeMap::new();
    for (field, table) in TABLES {
        let Some(name) = row.reference(field) else { continue };
        match maps.get(&(table, name.clone())) {
            Some(pairs) => {
                found.insert(field, pairs);
            }
            None => {
                let message = format!("{} names {} in `{field}`, which is not in {table}", row.name(), short(&name));
                work.refuse(row.place(field), message, "name an existing map, or add it");
            }
        }
    }
    let pfc = row.text("pfc_enable").map(|text| priorities(work, row, "pfc_enable", &text));
    let watched = row.text("pfcwd_sw_enable").map(|text| priorities(work, row, "pfcwd_sw_enable", &text));
    if row.text("scheduler").is_some_and(|name| !name.is_empty()) {
        work.note(&row.name(), "the rate limit of a whole port, `scheduler`, is not modelled");
    }
    let names: Vec<&str> = match row.key {
        "global" => Vec::new(),
        key => key.split(',').map(str::trim).collect(),
    };
    let ports = match row.key {
        "global" => switch.ports.iter_mut().collect(),
        _ => at_ports(work, switch, row, &names),
    };
    for port in ports {
        let Maps { dscp_to_tc, tc_to_queue, tc_to_group, pfc_to_queue } = &mut port.maps;
        for (field, map) in
            [("tc_to_queue_map", tc_to_queue), ("tc_to_pg_map", tc_to_group), ("pfc_to_queue_map", pfc_to_queue)]
        {
            for &(from, to) in found.get(field).into_iter().flat_map(|pairs| pairs.iter()) {
                if let Some(place) = map.get_mut(from) {
                    *place = to;
                }
            }
        }
        if let Some(pairs) = found.get("dscp_to_tc_map") {
            let map = dscp_to_tc.get_or_insert_with(|| vec![0; 64]);
            pairs.iter().for_each(|&(from, to)| map[from] = to);
        } else if let (Some(pairs), None) = (found.get("dot1p_to_tc_map"), &dscp_to_tc) {
            // The classes in use, whatever selects them.
            *dscp_to_tc = Some(pairs.iter().map(|&(_, to)| to).collect());
        }
        if let Some(pfc) = pfc {
            port.pfc = pfc;
        }
        port.watched = watched.or(port.watched);
    }
}

/// The priorities of a list such as `3,4`, as bits.
fn priorities(work: &mut Work, row: &Row<'_>, field: &str, text: &str) -> u8 {
    let mut bits = 0;
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.parse::<u32>().ok().filter(|priority| (*priority as usize) < NUMBERS) {
            Some(priority) => bits |= 1 << priority,
            None => {
                let message = format!("{} has `{field}` = \"{}\"", row.name(), short(text));
                work.refuse(row.place(field), message, "give priorities from 0 to 7, such as \"3,4\"");
                return 0;
            }
        }
    }
    bits
}

/// Schedulers by name; `None` for one that is wrong, which has been said.
fn schedulers(work: &mut Work, database: &Database<'_>) -> BTreeMap<String, Option<Scheduler>> {
    let mut found = BTreeMap::new();
    for row in database.rows(work, "SCHEDULER") {
        found.insert(row.key.to_owned(), None);
        row.only(SCHEDULER_FIELDS);
        for field in ["pir", "cir"] {
            if row.text(field).is_some_and(|limit| limit.trim() != "0") {
                work.note(&row.name(), format!("the rate limit `{field}` is not modelled"));
            }
        }
        let kind = row.text("type").unwrap_or_else(|| "WRR".to_owned());
        let is_limited = ["pir", "cir"].iter().any(|field| row.text(field).is_some_and(|limit| limit.trim() != "0"));
        let weight = match kind.as_str() {
            "STRICT" => None,
            "DWRR" | "WRR" => {
                let weight = if row.text("weight").is_some() { row.number(work, "weight") } else { Some(1) };
                let Some(weight) = weight.and_then(|weight| u64::try_from(weight).ok()) else { continue };
                if !(1..=10_000).contains(&weight) {
                    let message = format!("{} has a weight of {weight}", row.name());
                    work.refuse(row.place("weight"), message, "give 1 to 100");
                    continue;
                }
                Some(weight)
            }
            other => {
                let message = format!("{} has type \"{}\"", row.name(), short(other));
                work.refuse(row.place("type"), message, "give DWRR, WRR or STRICT");
                continue;
            }
        };
        if kind == "WRR" {
            work.note(&row.name(), "WRR counts packets; here weights are of bytes, as with DWRR");
        }
        found.insert(row.key.to_owned(), Some(Scheduler { name: row.key.to_owned(), weight, is_limited }));
    }
    found
}

fn wred(work: &mut Work, database: &Database<'_>) -> BTreeMap<String, Option<Wred>> {
    let mut found = BTreeMap::new();
    for row in database.rows(work, "WRED_PROFILE") {
        row.only(WRED_FIELDS);
        let ecn = row.text("ecn").unwrap_or_else(|| "ecn_none".to_owned());
        let marks = matches!(ecn.as_str(), "ecn_all" | "ecn_green" | "ecn_green_yellow" | "ecn_green_red");
        let on = row.text("wred_green_enable").is_some_and(|on| on.eq_ignore_ascii_case("true"));
        if !marks && !on {
            // Green frames are neither marked nor dropped early.
            found.insert(row.key.to_owned(), None);
            continue;
        }
        // One that is wrong is not one that is missing.
        found.insert(row.key.to_owned(), None);
        let before = work.problems.len();
        let [least, most] = ["green_min_threshold", "green_max_threshold"].map(|field| row.bytes(work, field));
        let probability = match row.text("green_drop_probability") {
            Some(_) => row.number(work, "green_drop_probability"),
            // The default of SAI_WRED_ATTR_GREEN_DROP_PROBABILITY.
            None => Some(100),
        };
        let (Some(least), Some(most), Some(probability)) = (least, most, probability) else {
            if work.problems.len() > before {
                continue;
            }
            // Profiles of other colours alone leave green frames, which are all but those that a policer has coloured.
            if !on && least.is_none() && most.is_none() {
                work.note(&row.name(), "without thresholds of green frames it neither marks nor drops them");
                continue;
            }
            let message = format!("{} has no thresholds of green frames", row.name());
            let help = "add green_min_threshold and green_max_threshold in bytes";
            work.refuse(row.place(""), message, help);
            continue;
        };
        if least > most || !(0..=100).contains(&probability) {
            let message =
                format!("{} has thresholds {least} and {most} and a probability of {probability} %", row.name());
            let help = "green_min_threshold must not exceed green_max_threshold; a probability is 0 to 100";
            work.refuse(row.place("green_min_threshold"), message, help);
            continue;
        }
        let wred = Wred {
            name: row.key.to_owned(),
            least: Bytes::new(least),
            most: Bytes::new(most),
            probability: probability as f64 / 100.0,
            marks,
        };
        found.insert(row.key.to_owned(), Some(wred));
    }
    found
}

fn queues(
    work: &mut Work,
    database: &Database<'_>,
    switch: &mut Switch,
    schedulers: &BTreeMap<String, Option<Scheduler>>,
    wred: &BTreeMap<String, Option<Wred>>,
) {
    for row in database.rows(work, "QUEUE") {
        row.only(&["scheduler", "wred_profile"]);
        let Some((ports, numbers)) = row.ports_and_numbers(work) else { continue };
        let (scheduler, profile) = (row.reference("scheduler"), row.reference("wred_profile"));
        if let Some(name) = scheduler.as_ref().filter(|name| !schedulers.contains_key(*name)) {
            let message = format!("{} names scheduler {}, which is not in SCHEDULER", row.name(), short(name));
            work.refuse(row.place("scheduler"), message, "name an existing scheduler");
        }
        if let Some(name) = profile.as_ref().filter(|name| !wred.contains_key(*name)) {
            let message = format!("{} names {}, which is not in WRED_PROFILE", row.name(), short(name));
            work.refuse(row.place("wred_profile"), message, "name an existing profile");
        }
        for port in at_ports(work, switch, &row, &ports) {
            for number in numbers.iter().map(|&number| usize::from(number)) {
                if let Some(name) = &scheduler {
                    port.schedulers[number] = schedulers.get(name).cloned().flatten();
                }
                if let Some(name) = &profile {
                    port.wred[number] = wred.get(name).cloned().flatten();
                }
            }
        }
    }
}

fn watchdogs(work: &mut Work, database: &Database<'_>, switch: &mut Switch) {
    let (all, some): (Vec<Row<'_>>, Vec<Row<'_>>) =
        database.rows(work, "PFC_WD").into_iter().partition(|row| row.key == "GLOBAL");
    let mut poll = None;
    for row in all {
        row.only(&["BIG_RED_SWITCH", "POLL_INTERVAL"]);
        poll = milliseconds(work, &row, "POLL_INTERVAL");
        if row.text("BIG_RED_SWITCH").is_some_and(|on| on.eq_ignore_ascii_case("enable")) {
            work.note(&row.name(), "BIG_RED_SWITCH, which keeps all lossless queues in a storm, is not modelled");
        }
    }
    for row in some {
        row.only(&["action", "detection_time", "restoration_time", "pfc_stat_history"]);
        let action = row.text("action").unwrap_or_else(|| "drop".to_owned());
        if !matches!(action.as_str(), "drop" | "forward" | "alert") {
            let message = format!("{} has `action` = \"{}\"", row.name(), short(&action));
            work.refuse(row.place("action"), message, "give drop, forward or alert");
            continue;
        }
        if row.text("detection_time").is_none() {
            let message = format!("{} has no `detection_time`", row.name());
            work.refuse(row.place(""), message, "add it in milliseconds, such as \"200\"");
            continue;
        }
        let Some(detection) = milliseconds(work, &row, "detection_time") else { continue };
        let restoration = milliseconds(work, &row, "restoration_time");
        let shortest = detection.min(restoration.unwrap_or(detection));
        if let Some(poll) = poll.filter(|poll| *poll > shortest) {
            let meaning = format!(
                "POLL_INTERVAL of {poll} ms is longer than its times, which SONiC refuses; here it is {shortest} ms"
            );
            work.note(&row.name(), meaning);
        }
        let watchdog = Watchdog { action, detection, restoration, poll };
        let names: Vec<&str> = row.key.split(',').map(str::trim).collect();
        for port in at_ports(work, switch, &row, &names) {
            port.watchdog = Some(watchdog.clone());
        }
    }
}

/// A time in milliseconds, if the row has it. What is none is refused.
fn milliseconds(work: &mut Work, row: &Row<'_>, field: &str) -> Option<u64> {
    let number = row.number(work, field)?;
    let time = u64::try_from(number).ok().filter(|time| (1..=3_600_000).contains(time));
    if time.is_none() {
        let message = format!("{} has `{field}` = {number}, which is not a valid time", row.name());
        work.refuse(row.place(field), message, "give milliseconds, such as \"200\"");
    }
    time
}
