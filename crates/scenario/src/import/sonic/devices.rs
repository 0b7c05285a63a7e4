//! The switches of a fabric as `[[switches]]`: shared memory, and what their ports have in common and not.

use super::super::Note;
use super::Fabric;
use super::switch::{Port, Profile, Switch, Threshold, Watchdog, Wred};
use super::text::{list, names};
use crate::keys::buffers::LARGEST_BUFFER;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use units::{Bytes, Rate};

/// Memory of a switch whose configuration does not say: as Tomahawk 2 has (42 MB), less reserved parts and headroom.
const MEMORY: Bytes = Bytes::new(32_000_000);
/// The restoration time in milliseconds of a queue that is never restored: an hour, the longest time of a scenario.
const NEVER: u64 = 3_600_000;
/// An alpha that leaves a static threshold alone.
const NO_ALPHA: &str = "1000";

/// Settings of a port as parts of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PortText {
    buffers: String,
    without: String,
    egress: String,
    watchdog: String,
}

/// Switches that are alike, and the settings of their ports by neighbour.
struct Alike {
    switches: Vec<String>,
    head: String,
    usual: PortText,
    ports: BTreeMap<String, PortText>,
}

/// The sections `[[switches]]`.
pub(super) fn switches(fabric: &Fabric, classes: &[u8], notes: &mut Vec<Note>) -> String {
    let mut kinds: Vec<Alike> = Vec::new();
    for (number, switch) in fabric.switches.iter().enumerate() {
        let alike = describe(fabric, number, switch, classes, notes);
        let fits = |kind: &Alike| {
            let agrees = |(name, port): (&String, &PortText)| kind.ports.get(name).is_none_or(|known| known == port);
            (&kind.head, &kind.usual) == (&alike.head, &alike.usual) && alike.ports.iter().all(agrees)
        };
        match kinds.iter().position(fits) {
            Some(place) => {
                kinds[place].switches.extend(alike.switches);
                kinds[place].ports.extend(alike.ports);
            }
            None => kinds.push(alike),
        }
    }
    kinds.iter().map(write).collect()
}

fn write(kind: &Alike) -> String {
    let mut text = format!("\n[[switches]]\nmatch = {}\n{}", names(&kind.switches), kind.head);
    text.push_str(&kind.usual.watchdog);
    text.push_str(&kind.usual.egress);
    text.push_str(&kind.usual.buffers);
    let mut others: Vec<(String, Vec<String>)> = Vec::new();
    for (neighbour, port) in &kind.ports {
        let mut own = String::new();
        let PortText { buffers, egress, watchdog, .. } = &kind.usual;
        for (part, usual) in [(&port.watchdog, watchdog), (&port.egress, egress), (&port.buffers, buffers)] {
            if part != usual {
                own.push_str(part);
            }
        }
        own.push_str(&port.without);
        match others.iter_mut().find(|(known, _)| *known == own) {
            _ if own.is_empty() => {}
            Some((_, nodes)) => nodes.push(neighbour.clone()),
            None => others.push((own, vec![neighbour.clone()])),
        }
    }
    for (own, mut nodes) in others {
        nodes.sort_by_key(|name| super::database::natural(name));
        let _ = write!(text, "\n[[switches.ports]]\nneighbours = {}\n{own}", names(&nodes));
    }
    text
}

fn describe(fabric: &Fabric, number: usize, switch: &Switch, classes: &[u8], notes: &mut Vec<Note>) -> Alike {
    let lossless: Vec<u8> = classes.iter().copied().filter(|tc| fabric.is_lossless(*tc)).collect();
    let pool = pool(switch, &lossless, notes);
    let mut ports: Vec<(String, PortText)> = Vec::new();
    let mut connected: Vec<&Port> = Vec::new();
    for (cable, end) in fabric.cables.iter().flat_map(|cable| cable.ends().map(move |end| (cable, end))) {
        if end.switch != number {
            continue;
        }
        let port = fabric.at(end).1;
        connected.push(port);
        let text = PortText {
            buffers: buffers(switch, port, classes, &lossless, pool),
            without: without(port, &lossless),
            egress: egress(port, classes, &lossless),
            watchdog: watchdog(port, &lossless),
        };
        ports.push((fabric.neighbour(cable, end).to_owned(), text));
    }
    let mut usual = usual(&ports);
    // A watchdog of the switch is one of all its ports.
    if ports.iter().any(|(_, port)| port.watchdog != usual.watchdog) {
        usual.watchdog.clear();
    }
    if lossless.is_empty() && ports.iter().any(|(_, port)| port.buffers != usual.buffers) {
        let meaning = "without PFC all ports have the buffers of most of them";
        note(notes, &format!("{} BUFFER_QUEUE", switch.name), meaning.to_owned());
        ports.iter_mut().for_each(|(_, port)| port.buffers.clone_from(&usual.buffers));
    }
    let mut by_neighbour: BTreeMap<String, PortText> = BTreeMap::new();
    for (neighbour, port) in ports {
        match by_neighbour.get(&neighbour) {
            Some(known) if *known != port => note(
                notes,
                &format!("{} PORT", switch.name),
                format!("ports to {neighbour} differ; here they are as the first"),
            ),
            Some(_) => {}
            None => {
                by_neighbour.insert(neighbour, port);
            }
        }
    }
    let mut head = String::new();
    let control = if lossless.is_empty() { "none" } else { "pfc" };
    let _ = write!(head, "flow_control = \"{control}\"\nbuffer = \"shared\"\nshared_size = \"{pool}\"\n");
    head.push_str(&points(switch, &connected, classes, &lossless, notes));
    queue_order(switch, &connected, classes, notes);
    Alike { switches: vec![switch.name.clone()], head, usual, ports: by_neighbour }
}

/// The settings that most ports have.
fn usual(ports: &[(String, PortText)]) -> PortText {
    let mut counts: Vec<(&PortText, usize)> = Vec::new();
    for (_, port) in ports {
        match counts.iter_mut().find(|(known, _)| (&known.buffers, &known.egress) == (&port.buffers, &port.egress)) {
            Some((_, count)) => *count += 1,
            None => counts.push((port, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max();
    let port = counts.into_iter().find(|(_, count)| Some(*count) == most).map(|(port, _)| port.clone());
    // A switch without cables has buffers all the same.
    port.unwrap_or(PortText { buffers: "buffers = {}\n".into(), ..PortText::default() })
}

/// Size of the memory that ports share: of the pool of the lossless profiles.
fn pool(switch: &Switch, lossless: &[u8], notes: &mut Vec<Note>) -> Bytes {
    let users = switch.ports.iter().flat_map(|port| lossless.iter().filter_map(|tc| port.group_profile(*tc)));
    let of_profile = users.filter_map(|name| switch.profiles.get(name)).map(|profile| profile.pool.as_str()).next();
    let ingress = switch.pools.keys().find(|name| name.starts_with("ingress")).map(String::as_str);
    let name = of_profile.or(ingress).or_else(|| switch.pools.keys().next().map(String::as_str)).unwrap_or_default();
    let size = switch.pools.get(name).and_then(|pool| pool.size).filter(|size| *size > Bytes::ZERO);
    let Some(size) = size else {
        let meaning = format!("the size of the shared memory is not stated; {MEMORY} is assumed (shared_size)");
        note(notes, &format!("{} BUFFER_POOL|{name}", switch.name), meaning);
        return MEMORY;
    };
    if let Some(headroom) = switch.pools.get(name).and_then(|pool| pool.headroom) {
        let meaning = format!("a headroom of {headroom} that ports share: here each port has its own");
        note(notes, &format!("{} BUFFER_POOL|{name}", switch.name), meaning);
    }
    size
}

/// Buffers of a port, one entry for the classes that are alike.
fn buffers(switch: &Switch, port: &Port, classes: &[u8], lossless: &[u8], pool: Bytes) -> String {
    let mut entries: Vec<(String, Vec<u8>)> = Vec::new();
    for &tc in classes {
        let kept = lossless.contains(&tc);
        let name = if kept { port.group_profile(tc) } else { port.queue_profile(tc) };
        let profile = name.and_then(|name| switch.profiles.get(name));
        let entry = match profile {
            Some(profile) => part(profile, kept, port.is_lossless(tc), pool),
            // Headroom is computed.
            None if port.is_lossless(tc) || !kept => String::new(),
            None => ", xon = \"0B\", headroom = \"0B\"".into(),
        };
        let comment = profile.map_or(String::new(), |profile| format!("  # {}", comment(&profile.name)));
        let entry = format!("{entry} }},{comment}");
        match entries.iter_mut().find(|(known, _)| *known == entry) {
            Some((_, alike)) => alike.push(tc),
            None => entries.push((entry, vec![tc])),
        }
    }
    let mut text = String::from("buffers = [\n");
    for (entry, alike) in entries {
        let _ = writeln!(text, "    {{ classes = {}{entry}", class_names(&alike));
    }
    text.push_str("]\n");
    text
}

/// The settings of a profile. `kept`: the class is lossless somewhere; `pauses`: it is at this port.
fn part(profile: &Profile, kept: bool, pauses: bool, pool: Bytes) -> String {
    let mut text = format!(", capacity = \"{}\"", profile.reserved);
    match profile.threshold {
        Threshold::Dynamic(power) => {
            let _ = write!(text, ", alpha = \"{}\"", alpha(power));
        }
        Threshold::Static(limit) => {
            let _ = write!(text, ", alpha = \"{NO_ALPHA}\", limit = \"{}\"", limit.min(pool));
        }
        Threshold::Unknown => {}
    }
    if !kept {
        return text;
    }
    if !pauses {
        text.push_str(", xon = \"0B\", headroom = \"0B\"");
        return text;
    }
    match (profile.xon_offset, profile.xon) {
        (Some(offset), _) => {
            let _ = write!(text, ", xon = \"{offset}\"");
        }
        // At `xon` only: as far below the threshold as the memory is large.
        (None, Some(_)) => {
            let _ = write!(text, ", xon = \"{pool}\"");
        }
        (None, None) => {}
    }
    // XON is sent at or below the larger one of `xon` and the threshold less `xon_offset` (SAI_BUFFER_PROFILE_ATTR_XON_TH).
    if let Some(level) = profile.xon.filter(|level| *level > Bytes::ZERO) {
        let _ = write!(text, ", resume = \"{level}\"");
    }
    let headroom = profile.headroom.unwrap_or_default();
    if profile.size != usual_size(profile.reserved, headroom) {
        let _ = write!(text, ", profile_size = \"{}\"", profile.size);
    }
    if let Some(headroom) = profile.headroom {
        let _ = write!(text, ", headroom = \"{headroom}\"");
    }
    text
}

/// The field `size` of a lossless profile, if nothing else is known: it is read as without headroom if that is larger.
pub(crate) fn usual_size(reserved: Bytes, headroom: Bytes) -> Bytes {
    if reserved >= headroom { reserved + headroom } else { reserved }
}

/// 2 to a power as a ratio.
fn alpha(power: i8) -> String {
    let number = 1_u32 << u32::from(power.unsigned_abs()).min(16);
    if power < 0 { format!("1/{number}") } else { number.to_string() }
}

/// Lossless classes whose PFC is off at a port.
fn without(port: &Port, lossless: &[u8]) -> String {
    let off: Vec<u8> = lossless.iter().copied().filter(|tc| !port.is_lossless(*tc)).collect();
    if off.is_empty() { String::new() } else { format!("without_pfc = {}\n", class_names(&off)) }
}

/// The PFC watchdog of a port.
fn watchdog(port: &Port, lossless: &[u8]) -> String {
    let Some(watchdog) = port.watchdog.as_ref().filter(|watchdog| watchdog.action != "alert") else {
        return String::new();
    };
    let paused: Vec<u8> = lossless.iter().copied().filter(|tc| port.is_lossless(*tc)).collect();
    let watched: Vec<u8> = paused.iter().copied().filter(|tc| port.is_watched(*tc)).collect();
    if watched.is_empty() {
        return String::new();
    }
    let Watchdog { action, detection, restoration, poll } = watchdog;
    let restoration = restoration.unwrap_or(NEVER);
    let mut text =
        format!("detection_time = \"{detection}ms\", restoration_time = \"{restoration}ms\", action = \"{action}\"");
    // SONiC refuses a longer interval.
    if let Some(poll) = poll.map(|poll| poll.min(*detection).min(restoration)) {
        let _ = write!(text, ", poll_interval = \"{poll}ms\"");
    }
    if watched != paused {
        let _ = write!(text, ", classes = {}", class_names(&watched));
    }
    format!("pfc_watchdog = {{ {text} }}\n")
}

/// Scheduling of a port: a group for each queue.
fn egress(port: &Port, classes: &[u8], lossless: &[u8]) -> String {
    let mut groups: BTreeMap<(u8, bool), Vec<u8>> = BTreeMap::new();
    for &tc in classes {
        let queue = port.maps.tc_to_queue[usize::from(tc)];
        groups.entry((queue, lossless.contains(&tc))).or_default().push(tc);
    }
    // Without a scheduler, SAI has weighted round robin and a weight of 1.
    let weight = |queue: u8| match &port.schedulers[usize::from(queue)] {
        Some(scheduler) => scheduler.weight,
        None => Some(1),
    };
    let least = groups.keys().filter_map(|(queue, _)| weight(*queue)).min();
    let Some(least) = least.filter(|_| groups.len() > 1) else { return String::new() };
    // The smallest weight sends a largest frame, with preamble and gap, in each of its turns.
    let unit = (port.largest_frame().get() + 20).div_ceil(least);
    let mut text = String::from("egress = [\n");
    for ((queue, _), alike) in &groups {
        let share = match weight(*queue) {
            Some(weight) => {
                let quantum = Bytes::new((unit * weight).min(1 << 24));
                format!("share = \"weighted\", quantum = \"{quantum}\" }},  # weight {weight}")
            }
            None => "share = \"strict\" },".to_owned(),
        };
        let _ = writeln!(text, "    {{ classes = {}, {share}", class_names(alike));
    }
    text.push_str("]\n");
    text
}

/// Strict priority follows the order of classes.
fn queue_order(switch: &Switch, ports: &[&Port], classes: &[u8], notes: &mut Vec<Note>) {
    let queues =
        |port: &&Port| -> Vec<u8> { classes.iter().map(|tc| port.maps.tc_to_queue[usize::from(*tc)]).collect() };
    if ports.iter().any(|port| !queues(port).is_sorted()) {
        let meaning = "queues are not in the order of traffic classes; strict priority is by class here";
        note(notes, &format!("{} TC_TO_QUEUE_MAP", switch.name), meaning.to_owned());
    }
    let shared = |port: &&&Port| {
        let all = queues(port);
        all.iter().collect::<BTreeSet<_>>().len() < all.len()
    };
    if ports.iter().any(|port| shared(&port)) {
        let meaning = "traffic classes that share a queue take turns here, frame by frame";
        note(notes, &format!("{} TC_TO_QUEUE_MAP", switch.name), meaning.to_owned());
    }
}

/// Thresholds of early detection: lengths in bytes and a probability.
type Ramp = (Bytes, Bytes, f64);

/// The congestion points of a switch: classes with the same thresholds have one.
fn points(switch: &Switch, ports: &[&Port], classes: &[u8], lossless: &[u8], notes: &mut Vec<Note>) -> String {
    let mut points: Vec<(String, Vec<u8>)> = Vec::new();
    for &tc in classes {
        let mut of_rate: BTreeMap<Rate, Vec<Option<&Wred>>> = BTreeMap::new();
        for port in ports {
            let wred = port.wred[usize::from(port.maps.tc_to_queue[usize::from(tc)])].as_ref();
            // Nothing may be dropped in a lossless class.
            let wred = wred.filter(|wred| wred.marks || !lossless.contains(&tc));
            of_rate.entry(port.speed).or_default().push(wred);
        }
        let Some(first) = of_rate.values().flatten().flatten().next() else { continue };
        let name = if first.marks { "ecn" } else { "red" };
        let mut ramps: Vec<(Rate, Ramp)> = Vec::new();
        for (rate, all) in &of_rate {
            if all.iter().any(|wred| *wred != all[0]) {
                let meaning = format!("ports of {rate} have different profiles for queue of tc{tc}; the first applies");
                note(notes, &format!("{} QUEUE", switch.name), meaning);
            }
            let never = (Bytes::new(LARGEST_BUFFER), Bytes::new(LARGEST_BUFFER), 0.0);
            ramps.push((*rate, all[0].map_or(never, |wred| (wred.least, wred.most, wred.probability))));
        }
        let (least, most, probability) = ramps[0].1;
        let mut point = format!("kmin = \"{least}\", kmax = \"{most}\", pmax = {probability}");
        if ramps.iter().any(|(_, ramp)| *ramp != ramps[0].1) {
            let entry =
                |(rate, (least, most, probability)): &(Rate, Ramp)| format!("{rate} {least} {most} {probability}");
            let _ = write!(point, ", by_rate = \"{}\"", ramps.iter().map(entry).collect::<Vec<_>>().join(", "));
        }
        let point = format!("name = \"{name}\", {point} }},  # {}", comment(&first.name));
        match points.iter_mut().find(|(known, _)| *known == point) {
            Some((_, alike)) => alike.push(tc),
            None => points.push((point, vec![tc])),
        }
    }
    if points.is_empty() {
        return String::new();
    }
    let mut text = String::from("congestion_points = [\n");
    for (point, alike) in points {
        let _ = writeln!(text, "    {{ classes = {}, {point}", class_names(&alike));
    }
    text.push_str("]\n");
    text
}

/// Names of classes as a TOML value.
fn class_names(classes: &[u8]) -> String {
    list(&classes.iter().map(|tc| format!("tc{tc}")).collect::<Vec<_>>())
}

/// A name in a comment.
pub(super) fn comment(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(80).collect()
}

fn note(notes: &mut Vec<Note>, key: &str, meaning: String) {
    let note = Note { key: key.to_owned(), meaning };
    if !notes.contains(&note) {
        notes.push(note);
    }
}
