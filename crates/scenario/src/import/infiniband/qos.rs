//! Quality of service of opensm (`qos_*` of opensm.conf) and its partitions (partitions.conf).

use super::super::{NamedText, Work};
use crate::source::Place;
use std::collections::{BTreeMap, BTreeSet};

/// Service levels.
const LEVELS: usize = 16;
/// The most classes of a scenario.
const MOST_LANES: usize = fabric::spec::MAX_CLASSES;

/// Lanes and their arbitration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Qos {
    /// Lane of each service level; `None` if its frames are dropped, or its lane has no weight.
    pub(super) lane_of: Vec<Option<u8>>,
    /// Lanes in use, ascending.
    pub(super) lanes: Vec<u8>,
    /// Lanes and weights of the high and the low table.
    pub(super) tables: [Vec<(u8, u8)>; 2],
    pub(super) high_limit: u8,
}

/// Flags of a multicast group in a partition.
const GROUP_FLAGS: [&str; 7] = ["sl", "Q_Key", "rate", "mtu", "scope", "TClass", "FlowLabel"];

/// A partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    pub(super) name: String,
    pub(super) level: usize,
    /// Whether all adapters are members.
    pub(super) everybody: bool,
    /// GUIDs of ports of members.
    pub(super) members: BTreeSet<u64>,
}

/// Reads the options `qos_*` of a file of options of opensm.
pub(super) fn read(work: &mut Work, file: NamedText<'_>) -> Qos {
    let source = work.add(file);
    let mut tables: [Option<Vec<(u8, u8)>>; 2] = [None, None];
    let (mut levels, mut high_limit, mut most, mut is_on) = (None, None, 15, None);
    let (mut others, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    for (text, place) in lines(source, file.text) {
        let (key, value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let value = value.trim();
        // Options with this value are not set, whichever they are.
        if value == "(null)" {
            continue;
        }
        let done = match key {
            "qos" => {
                is_on = Some(value.eq_ignore_ascii_case("true"));
                true
            }
            // -1 and 0 stand for the default.
            "qos_high_limit" => value.parse::<i32>().map(|limit| high_limit = u8::try_from(limit).ok()).is_ok(),
            "qos_max_vls" => value.parse::<u8>().map(|count| most = if count == 0 { 15 } else { count }).is_ok(),
            "qos_vlarb_high" => weights(value).map(|table| tables[0] = Some(table)).is_some(),
            "qos_vlarb_low" => weights(value).map(|table| tables[1] = Some(table)).is_some(),
            "qos_sl2vl" => sl2vl(value).map(|list| levels = Some(list)).is_some(),
            "qos_policy_file" => true,
            _ => {
                let list = if is_of_some_ports(key) { &mut others } else { &mut unknown };
                list.insert(key.chars().take(40).collect::<String>());
                true
            }
        };
        if !done {
            let help = "see opensm(8): weights are VL:WEIGHT, qos_sl2vl is a list of up to 16 lanes";
            work.refuse(place, format!("`{key}` has a value that is not understood"), help);
        }
    }
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.into_iter().collect();
        work.note(&names.join(", "), "keys without a meaning for lanes, or unknown, are ignored");
    }
    if !is_on.unwrap_or(levels.is_some() || tables.iter().any(Option::is_some)) {
        work.note("qos", "quality of service is off: one lane");
        return Qos { lane_of: vec![Some(0); LEVELS], lanes: vec![0], tables: [vec![], vec![(0, 1)]], high_limit: 0 };
    }
    if !others.is_empty() {
        let names: Vec<String> = others.into_iter().collect();
        work.note(&names.join(", "), "options of some kinds of ports are not modelled: all ports are as the others");
    }
    // The defaults of opensm: opensm(8), QoS.
    let [high, low] = tables;
    let all = |weight: u8| (0..15).map(|lane| (lane, weight)).collect::<Vec<_>>();
    let tables = [high.unwrap_or_else(|| vec![(0, 4)]), low.unwrap_or_else(|| all(4))];
    let levels = levels.unwrap_or_else(|| (0..15).chain([7]).collect());
    let weighty: BTreeSet<u8> =
        tables.iter().flatten().filter(|(_, weight)| *weight > 0).map(|(lane, _)| *lane).collect();
    // A port with fewer lanes gets their lower bits (sl2vl_update_table of opensm); lane 15 drops.
    let lanes_of = |mask: u8| -> Vec<Option<u8>> {
        let lane = |level: usize| levels.get(level).copied().filter(|lane| *lane != 15).map(|lane| lane & mask);
        (0..LEVELS).map(|level| lane(level).filter(|lane| weighty.contains(lane))).collect()
    };
    let used = |lane_of: &[Option<u8>]| lane_of.iter().flatten().copied().collect::<BTreeSet<u8>>();
    let mut lane_of = lanes_of(if most < 15 { (1 << most.ilog2()) - 1 } else { 15 });
    if used(&lane_of).len() > MOST_LANES {
        lane_of = lanes_of(MOST_LANES as u8 - 1);
        let meaning =
            format!("ports have {MOST_LANES} lanes here; opensm gives such ports lane 0 for lane 8, and so on");
        work.note("qos_sl2vl", meaning);
    }
    let lanes = used(&lane_of);
    if lanes.is_empty() || lanes.len() > MOST_LANES {
        let place = Place { source, start: 0, end: 0 };
        let message = format!("service levels lead to {} lanes with weight", lanes.len());
        work.refuse(place, message, format!("give `qos_sl2vl` with 1 to {MOST_LANES} different lanes"));
    }
    Qos { lane_of, lanes: lanes.into_iter().collect(), tables, high_limit: high_limit.unwrap_or(0) }
}

/// Whether an option is that of one kind of ports: adapters, port 0 of switches, other ports of switches, routers.
fn is_of_some_ports(key: &str) -> bool {
    let rest = ["qos_ca_", "qos_sw0_", "qos_swe_", "qos_rtr_"].iter().find_map(|kind| key.strip_prefix(kind));
    rest.is_some_and(|rest| ["max_vls", "high_limit", "vlarb_high", "vlarb_low", "sl2vl"].contains(&rest))
}

fn weights(text: &str) -> Option<Vec<(u8, u8)>> {
    let entry = |part: &str| {
        let (lane, weight) = part.trim().split_once(':')?;
        Some((lane.trim().parse::<u8>().ok().filter(|lane| *lane < 15)?, weight.trim().parse::<u8>().ok()?))
    };
    text.split(',').map(entry).collect::<Option<Vec<_>>>().filter(|table| table.len() <= 64)
}

fn sl2vl(text: &str) -> Option<Vec<u8>> {
    let lanes: Option<Vec<u8>> = text.split(',').map(|lane| lane.trim().parse::<u8>().ok()).collect();
    lanes.filter(|lanes| lanes.len() <= LEVELS && lanes.iter().all(|lane| *lane < 16))
}

/// Lines that are not empty, without comments, and their places.
fn lines(source: u32, text: &str) -> impl Iterator<Item = (&str, Place)> {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        let content = line.split('#').next().unwrap_or_default().trim();
        let place = Place { source, start: start as u32, end: (start + line.trim_end().len()) as u32 };
        (!content.is_empty()).then_some((content, place))
    })
}

/// Reads partitions.
pub(super) fn partitions(work: &mut Work, file: NamedText<'_>) -> Vec<Partition> {
    let source = work.add(file);
    let mut found = Vec::new();
    let (mut text, mut first) = (String::new(), None);
    let mut other_flags: BTreeMap<String, usize> = BTreeMap::new();
    for (line, place) in lines(source, file.text) {
        let place = *first.get_or_insert(place);
        text.push_str(line);
        text.push('\n');
        while let Some((definition, rest)) = text.split_once(';') {
            match partition(definition, &mut other_flags) {
                Some(partition) => add(&mut found, partition),
                None => {
                    let help = "a partition is NAME=PKEY, FLAGS : MEMBERS ; as opensm(8) describes it";
                    work.refuse(place, "this partition is not understood", help);
                }
            }
            text = rest.trim().to_owned();
            first = None;
        }
    }
    if let Some(place) = first.filter(|_| !text.is_empty()) {
        work.refuse(place, "this partition has no end: `;` is missing", "give the whole file");
    }
    let known = ["ipoib", "defmember", "indx0", "rate", "mtu", "scope", "ipoib_bc_flags", "mgroup"];
    for (flag, _) in other_flags.iter().filter(|(flag, _)| !known.contains(&flag.as_str())) {
        work.note(flag, "a flag of a partition that is not understood");
    }
    found
}

/// Adds a partition; one that is defined in several parts has the members of all.
fn add(found: &mut Vec<Partition>, partition: Partition) {
    match found.iter_mut().find(|known| known.name == partition.name) {
        Some(known) => {
            known.everybody |= partition.everybody;
            known.members.extend(partition.members);
        }
        None => found.push(partition),
    }
}

fn partition(text: &str, flags: &mut BTreeMap<String, usize>) -> Option<Partition> {
    let (head, members) = text.split_once(':')?;
    let mut parts = head.split(',').map(str::trim);
    let name = parts.next()?.split('=').next()?.trim().to_owned();
    let mut level = 0;
    for part in parts.filter(|part| !part.is_empty()) {
        let (flag, value) = part.split_once('=').unwrap_or((part, ""));
        match flag.trim() {
            "sl" => level = value.trim().parse().ok().filter(|level| *level < LEVELS)?,
            other => *flags.entry(other.to_owned()).or_default() += 1,
        }
    }
    let mut partition = Partition { name, level, everybody: false, members: BTreeSet::new() };
    // Multicast groups stand before the members, each on a line with its flags.
    let mut of_group = false;
    for member in members.split([',', '\n']).map(str::trim).filter(|member| !member.is_empty()) {
        let name = member.split('=').next()?.trim();
        of_group = name == "mgid" || of_group && GROUP_FLAGS.iter().any(|flag| flag.eq_ignore_ascii_case(name));
        match name {
            _ if of_group => {}
            "ALL" | "ALL_CAS" => partition.everybody = true,
            "SELF" | "ALL_SWITCHES" | "ALL_VCAS" | "ALL_ROUTERS" => {}
            guid => {
                partition.members.insert(u64::from_str_radix(guid.strip_prefix("0x")?, 16).ok()?);
            }
        }
    }
    Some(partition)
}
