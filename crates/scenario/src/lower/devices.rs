//! Conversion of `[[classes]]`, `[[switches]]` and `[[adapters]]` to the fabric's kinds.

use super::buffers::{Reach, Rules};
use super::dcb::{MAKE_ALL, quanta};
use super::names::Names;
use crate::problem::Problem;
use crate::resolve::{Gathered, Node};
use crate::value::percent;
use congestion::CongestionPoint;
use fabric::graph::Role;
use fabric::spec::{
    AdapterSpec, Arbitration, Buffer, BypassReading, ClassSpec, CongestionPointSpec, CreditReturn, CreditSpec,
    CreditUnit, Crossbar, Egress, EgressGroup, FlowControl, Forwarding, MAX_CLASSES, MAX_VL_ENTRIES, Order, PauseSpec,
    PfcWatchdogSpec, Queueing, Share, SwitchSpec, VlArbitration, VlEntry, WatchdogAction, Within,
};
use std::collections::BTreeMap;
use units::Time;

/// Kinds of devices, and the kind of every node.
pub(crate) struct Kinds<T> {
    pub(crate) kinds: Vec<T>,
    pub(crate) kind_of: Vec<u32>,
}

/// Reads the classes, and which of them have lanes.
pub(crate) fn classes(gathered: &mut Gathered<'_>, root: &Node) -> Option<(Vec<ClassSpec>, Vec<bool>)> {
    let mut first: BTreeMap<String, super::super::Place> = BTreeMap::new();
    let (mut classes, mut layered) = (Vec::new(), Vec::new());
    let nodes = root.tables("classes");
    for node in nodes {
        let (Some(name), Some(lossless)) = (node.text("name"), node.flag("lossless")) else { continue };
        let place = node.place_of("name");
        if let Some(before) = first.insert(name.clone(), place) {
            let problem = Problem::new(place, format!("two classes are named `{name}`"), "give each its own name");
            gathered.problems.push(problem.and(before, "the first"));
            return None;
        }
        layered.push(node.flag("layered").unwrap_or_else(|| {
            gathered.computed(&node.path, "layered", lossless);
            lossless
        }));
        classes.push(ClassSpec { name, lossless });
    }
    if classes.is_empty() || classes.len() > MAX_CLASSES {
        let message = format!("there are {} classes", classes.len());
        gathered.refuse(root.place_of("classes"), message, format!("give 1 to {MAX_CLASSES} classes"));
        return None;
    }
    (classes.len() == nodes.len()).then_some((classes, layered))
}

/// Returns for every entry the nodes of its kind; the last matching entry claims a node.
fn claim(
    gathered: &mut Gathered<'_>,
    rules: &Rules<'_>,
    entries: &[Node],
    role: Role,
    section: &str,
) -> Option<(Vec<Vec<u32>>, Vec<u32>)> {
    let what = if role == Role::Host { "host" } else { "switch" };
    let mine: Vec<u32> = (0..).zip(&rules.graph.nodes).filter(|(_, node)| node.role == role).map(|(n, _)| n).collect();
    let name = |node: &u32| rules.graph.nodes[*node as usize].name.as_str();
    let names = Names::new(what, mine.iter().map(name));
    let mut kind_of = vec![u32::MAX; rules.graph.nodes.len()];
    let mut good = true;
    for (kind, entry) in (0..).zip(entries) {
        let patterns = entry.names("match").unwrap_or_default();
        if mine.is_empty() && !entry.given("match") {
            continue;
        }
        match names.select(gathered, &patterns, entry.place_of("match")) {
            Some(chosen) => chosen.iter().for_each(|&number| kind_of[mine[number as usize] as usize] = kind),
            None => good = false,
        }
    }
    if !good {
        return None;
    }
    let members: Vec<Vec<u32>> = (0..entries.len() as u32)
        .map(|kind| mine.iter().copied().filter(|&node| kind_of[node as usize] == kind).collect())
        .collect();
    for (entry, members) in entries.iter().zip(&members) {
        if members.is_empty() && !mine.is_empty() {
            let message = format!("this entry applies to no {what}: later entries match all of them");
            gathered.refuse(entry.place_of("match"), message, "put the general entry before the specific ones");
            good = false;
        }
    }
    if let Some(orphan) = mine.iter().find(|&&node| kind_of[node as usize] == u32::MAX) {
        let message = format!("no entry of [[{section}]] matches {what} `{}`", name(orphan));
        let place = entries.last().map_or(super::super::Place { source: 0, start: 0, end: 0 }, |entry| entry.place);
        gathered.refuse(place, message, format!("add a first entry [[{section}]] without `match` for all others"));
        good = false;
    }
    for kind in &mut kind_of {
        *kind = if *kind == u32::MAX { 0 } else { *kind };
    }
    good.then_some((members, kind_of))
}

pub(crate) fn switches(gathered: &mut Gathered<'_>, root: &Node, rules: &mut Rules<'_>) -> Option<Kinds<SwitchSpec>> {
    let entries = root.tables("switches");
    let claimed = claim(gathered, rules, entries, Role::Switch, "switches");
    // The kinds are read even if that failed, to find what else is wrong.
    let members = claimed.as_ref().map(|(members, _)| members.as_slice()).unwrap_or_default();
    // Thresholds depend on what is at the far end too.
    for (entry, members) in entries.iter().zip(members) {
        if let Some(Forwarding::CutThrough { header_delay }) = forwarding(entry) {
            members.iter().for_each(|&node| rules.headers[node as usize] = header_delay);
        }
    }
    let rules = &*rules;
    let mut kinds = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let members = members.get(number).map(Vec::as_slice);
        kinds.extend(switch(gathered, entry, rules, members, root.table("congestion_point")));
    }
    let (_, kind_of) = claimed?;
    (kinds.len() == entries.len()).then_some(Kinds { kinds, kind_of })
}

fn switch(
    gathered: &mut Gathered<'_>,
    node: &Node,
    rules: &Rules<'_>,
    members: Option<&[u32]>,
    point: Option<&Node>,
) -> Option<SwitchSpec> {
    let egress = egress(gathered, node, rules);
    let flow_control = flow_control(gathered, node, rules)?;
    let queueing = match node.text("queueing")?.as_str() {
        "input-fifo" => Queueing::InputFifo {
            bypass: u8::try_from(node.count("bypass")?).unwrap_or(u8::MAX),
            reading: match node.text("bypass_reading")?.as_str() {
                "per-packet" => BypassReading::PerPacket,
                _ => BypassReading::Lookahead,
            },
        },
        "virtual-output" => Queueing::VirtualOutput,
        "combined" => Queueing::Combined { output_buffer: node.size("output_buffer")? },
        _ => Queueing::Output,
    };
    let crossbar = match queueing {
        Queueing::Output => None,
        _ => Some(Crossbar {
            arbitration: match node.text("arbitration")?.as_str() {
                "arrival-order" => Arbitration::ArrivalOrder,
                "round-robin-waiting" => Arbitration::RoundRobinWaiting,
                _ => Arbitration::RoundRobin,
            },
            read_ports: u8::try_from(node.count("read_ports")?).unwrap_or(u8::MAX),
            speedup: node.ratio("speedup").unwrap_or((1, 1)),
        }),
    };
    let shared = node.text("buffer")? == "shared";
    if shared && queueing != Queueing::Output {
        let message = "a shared buffer works only with output queueing";
        let problem =
            Problem::new(node.place_of("buffer"), message, "choose buffer = \"static\" or queueing = \"output\"");
        gathered.problems.push(problem.and(node.place_of("queueing"), "input queueing"));
        return None;
    }
    if shared && matches!(flow_control, FlowControl::Credits(_)) {
        let message = "credits need reserved buffer space, which a shared buffer does not have";
        gathered.refuse(node.place_of("buffer"), message, "choose buffer = \"static\" or flow_control = \"pfc\"");
        return None;
    }
    let buffers = rules.buffers(gathered, node, flow_control, shared, reach(members))?;
    let buffer = if shared {
        Buffer::Shared { total: node.size("shared_size")?, alpha: node.ratio("alpha")?, classes: buffers }
    } else {
        Buffer::Static(buffers)
    };
    let forwarding = forwarding(node)?;
    let pipeline = node.time("pipeline")?;
    let order = match node.text("order").as_deref() {
        Some("round-robin") => Order::RoundRobin,
        Some("longest") => Order::Longest,
        _ => Order::Arrival,
    };
    let congestion_point = congestion_point(gathered, node, rules, point)?;
    let egress = egress?;
    let pfc_watchdog = pfc_watchdog(gathered, node, rules)?;
    if pfc_watchdog.is_some() && queueing != Queueing::Output {
        let message = "a PFC watchdog needs output queueing";
        gathered.refuse(node.place_of("pfc_watchdog"), message, "remove it, or choose queueing = \"output\"");
        return None;
    }
    Some(SwitchSpec {
        queueing,
        buffer,
        flow_control,
        crossbar,
        egress,
        forwarding,
        pipeline,
        order,
        congestion_point,
        pfc_watchdog,
    })
}

/// Reads the PFC watchdog of a switch or of ports: `Some(None)` if there is none.
pub(super) fn pfc_watchdog(
    gathered: &mut Gathered<'_>,
    node: &Node,
    rules: &Rules<'_>,
) -> Option<Option<PfcWatchdogSpec>> {
    let Some(table) = node.table("pfc_watchdog").filter(|_| node.given("pfc_watchdog")) else { return Some(None) };
    let detection = table.time("detection_time")?;
    let restoration = table.time("restoration_time").unwrap_or_else(|| {
        let twice = (detection + detection).min(crate::key::LONGEST);
        gathered.computed(&table.path, "restoration_time", format!("{:?}", twice.to_string()));
        twice
    });
    let poll = table.time("poll_interval")?;
    let zero = [("detection_time", detection), ("restoration_time", restoration)]
        .into_iter()
        .find(|(_, it)| *it == units::Span::ZERO);
    if let Some((key, _)) = zero {
        gathered.refuse(table.place_of(key), format!("`{key}` is zero"), "give a time, such as \"200ms\"");
        return None;
    }
    if poll > detection.min(restoration) {
        let message = format!("`poll_interval` of {poll} exceeds the detection or restoration time");
        gathered.refuse(table.place_of("poll_interval"), message, "lower it, as SONiC demands");
        return None;
    }
    let classes = class_bits(gathered, rules, &table.names("classes")?, table)?;
    let action = match table.text("action")?.as_str() {
        "forward" => WatchdogAction::Forward,
        _ => WatchdogAction::Drop,
    };
    Some(Some(PfcWatchdogSpec { detection, restoration, poll, action, classes }))
}

/// The cables of the devices of a kind, if these are known.
fn reach(members: Option<&[u32]>) -> Reach<'_> {
    members.map_or(Reach::Unknown, Reach::Nodes)
}

fn forwarding(node: &Node) -> Option<Forwarding> {
    Some(match node.text("forwarding")?.as_str() {
        "cut-through" => Forwarding::CutThrough { header_delay: node.time("header_delay")? },
        _ => Forwarding::StoreAndForward,
    })
}

/// Reads the congestion point of a switch with its settings: `Some(None)` if it has none.
fn congestion_point(
    gathered: &mut Gathered<'_>,
    node: &Node,
    rules: &Rules<'_>,
    of_all: Option<&Node>,
) -> Option<Option<CongestionPointSpec>> {
    let last = rules.class_names.len() as u32 - 1;
    let trim_class = match node.text("trim_class") {
        Some(name) => rules.class_names.one(gathered, &name, node.place_of("trim_class"))? as u8,
        None => {
            gathered.computed(&node.path, "trim_class", format!("{:?}", rules.class_names.name(last)));
            last as u8
        }
    };
    let point = super::points::points(gathered, node, rules, of_all, trim_class)?;
    let notifies = point.as_ref().is_some_and(CongestionPoint::notifies);
    if let Some(key) = ["trim_class", "trim_size"].into_iter().find(|key| node.given(key))
        && !point.as_ref().is_some_and(CongestionPoint::trims)
    {
        let message = format!("`{key}` has no effect: this switch trims no frames");
        gathered.refuse(node.place_of(key), message, "remove it, or choose congestion_point = { name = \"trim\" }");
        return None;
    }
    let (occupancy, reliable) = (node.flag("occupancy")?, node.flag("reliable_delivery")?);
    let notice_class = match node.text("notice_class") {
        Some(name) => rules.class_names.one(gathered, &name, node.place_of("notice_class"))?,
        None => {
            // A receipt that is dropped would leave its copy in a buffer for ever.
            let lossless = (0..=last).rev().find(|&class| rules.classes[class as usize].lossless);
            let class = lossless.filter(|_| reliable).unwrap_or(last);
            gathered.computed(&node.path, "notice_class", format!("{:?}", rules.class_names.name(class)));
            class
        }
    };
    if let Some(key) = ["notice_class", "notice_size"].into_iter().find(|key| node.given(key))
        && !notifies
        && !reliable
    {
        let message = format!("`{key}` has no effect: this switch sends no notices and no receipts");
        gathered.refuse(node.place_of(key), message, "remove it, or choose a congestion point that sends notices");
        return None;
    }
    let sample_dropped = node.flag("sample_dropped")?;
    let (unit, notice_size) = (node.size("buffer_unit")?, node.size("notice_size")?);
    let watched = point.is_some() || occupancy || reliable;
    let notice_class = notice_class as u8;
    let spec = CongestionPointSpec {
        point,
        occupancy,
        unit,
        reliable,
        sample_dropped,
        notice_class,
        notice_size,
        trim_class,
        trim_size: node.size("trim_size")?,
    };
    Some(watched.then_some(spec))
}

pub(crate) fn adapters(gathered: &mut Gathered<'_>, root: &Node, rules: &Rules<'_>) -> Option<Kinds<AdapterSpec>> {
    let entries = root.tables("adapters");
    let claimed = claim(gathered, rules, entries, Role::Host, "adapters");
    // The kinds are read even if that failed, to find what else is wrong.
    let members = claimed.as_ref().map(|(members, _)| members.as_slice()).unwrap_or_default();
    let mut kinds = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        kinds.extend(adapter(gathered, entry, rules, members.get(number).map(Vec::as_slice)));
    }
    let (_, kind_of) = claimed?;
    (kinds.len() == entries.len()).then_some(Kinds { kinds, kind_of })
}

fn adapter(
    gathered: &mut Gathered<'_>,
    node: &Node,
    rules: &Rules<'_>,
    members: Option<&[u32]>,
) -> Option<AdapterSpec> {
    let egress = egress(gathered, node, rules);
    let flow_control = flow_control(gathered, node, rules)?;
    let slow = node.given("service") || node.given("service_changes");
    let credits = matches!(flow_control, FlowControl::Credits(_));
    let mut buffer = Vec::new();
    if slow || credits {
        if !node.given("buffers") {
            let help = "add, for example, buffers = { capacity = \"200KB\" }";
            gathered.refuse(node.place, "an adapter with limited `service` needs a receive buffer", help);
            return None;
        }
        buffer = rules.buffers(gathered, node, flow_control, false, reach(members))?;
    } else if node.given("buffers") {
        let help = "remove them, or limit `service`";
        gathered.refuse(
            node.place_of("buffers"),
            "the adapter consumes frames at once, so its buffers have no effect",
            help,
        );
        return None;
    } else if flow_control != FlowControl::None {
        let help = "remove it, or limit `service`";
        gathered.refuse(
            node.place_of("flow_control"),
            "the adapter consumes frames at once, so its flow control never acts",
            help,
        );
        return None;
    }
    let mut service_changes = Vec::new();
    for change in node.tables("service_changes") {
        service_changes.push((Time::ZERO + change.time("at")?, change.rate("rate")));
    }
    Some(AdapterSpec { flow_control, buffer, service: node.rate("service"), service_changes, egress: egress? })
}

fn flow_control(gathered: &mut Gathered<'_>, node: &Node, rules: &Rules<'_>) -> Option<FlowControl> {
    match node.text("flow_control")?.as_str() {
        "pause" => pause(gathered, node.table("pause")?, rules).map(FlowControl::Pause),
        "pfc" => pause(gathered, node.table("pause")?, rules).map(FlowControl::Pfc),
        "credits" => {
            let node = node.table("credits")?;
            let unit = match node.text("unit")?.as_str() {
                "frame" => CreditUnit::Frame,
                _ => CreditUnit::Block(node.size("block")?),
            };
            let give_back = match node.text("give_back")?.as_str() {
                "signal" => CreditReturn::Signal { delay: node.time("delay")? },
                _ => CreditReturn::Frame { size: node.size("size")?, refresh: node.time("refresh") },
            };
            Some(FlowControl::Credits(CreditSpec { unit, give_back }))
        }
        _ => Some(FlowControl::None),
    }
}

fn pause(gathered: &mut Gathered<'_>, node: &Node, rules: &Rules<'_>) -> Option<PauseSpec> {
    let quanta = u16::try_from(node.count("quanta")?).unwrap_or(u16::MAX);
    let refresh_before = match node.count("refresh_before") {
        Some(count) => u16::try_from(count).unwrap_or(u16::MAX),
        None => {
            gathered.computed(&node.path, "refresh_before", quanta / 2);
            quanta / 2
        }
    };
    if refresh_before >= quanta {
        let message =
            format!("a pause of {quanta} quanta cannot be refreshed {refresh_before} quanta before it expires");
        gathered.refuse(node.place_of("refresh_before"), message, "give a value below `quanta`");
        return None;
    }
    let holds = match node.names("holds") {
        Some(names) => class_bits(gathered, rules, &names, node)?,
        None => u8::MAX,
    };
    let (response, response_jitter) = (node.time("response")?, node.time("response_jitter")?);
    Some(PauseSpec { quanta, refresh_before, response, response_jitter, holds })
}

pub(super) fn class_bits(
    gathered: &mut Gathered<'_>,
    rules: &Rules<'_>,
    names: &[(String, super::super::Place)],
    node: &Node,
) -> Option<u8> {
    let classes = rules.class_names.select(gathered, names, node.place)?;
    Some(classes.iter().fold(0, |bits, &class| bits | 1_u8.checked_shl(class).unwrap_or(0)))
}

/// Refuses lossless and lossy classes in one group: a pause of one would give its turns to the other.
fn mixed(gathered: &mut Gathered<'_>, entry: &Node, rules: &Rules<'_>, classes: u8) -> Option<()> {
    let named = |lossless: bool| -> Vec<&str> {
        let members = (0_u32..).zip(rules.classes).filter(|(class, _)| classes >> class & 1 == 1);
        members.filter(|(_, class)| class.lossless == lossless).map(|(_, class)| class.name.as_str()).collect()
    };
    let (kept, dropped) = (named(true), named(false));
    if kept.is_empty() || dropped.is_empty() {
        return Some(());
    }
    let message = format!("lossless {} and lossy {} are in the same group", kept.join(", "), dropped.join(", "));
    let help = "put lossless and lossy classes in separate groups (IEEE 802.1Qaz)";
    gathered.refuse(entry.place_of("classes"), message, help);
    None
}

/// Returns the shares of the groups in percent, if given so. All groups without strict priority then need one, and the
/// shares must add up to 100.
fn percentages(gathered: &mut Gathered<'_>, node: &Node, entries: &[Node]) -> Option<Vec<Option<u8>>> {
    let mut all = Vec::new();
    for entry in entries {
        all.push(percent(&entry.text("share")?));
    }
    if all.iter().all(Option::is_none) {
        return Some(all);
    }
    let weighted = |entry: &&Node| entry.text("share").as_deref() == Some("weighted");
    if let Some(other) = entries.iter().find(weighted) {
        let key = ["share", "quantum"].into_iter().find(|key| other.given(key)).unwrap_or("classes");
        let message = "this group has a quantum, but others have a share in percent";
        let help = "give every group a percentage, or every group a quantum; strict groups have neither";
        gathered.refuse(other.place_of(key), message, help);
        return None;
    }
    let sum: u16 = all.iter().flatten().map(|&share| u16::from(share)).sum();
    if sum != 100 {
        gathered.refuse(node.place_of("egress"), format!("the shares add up to {sum} %"), MAKE_ALL);
        return None;
    }
    Some(all)
}

pub(super) fn egress(gathered: &mut Gathered<'_>, node: &Node, rules: &Rules<'_>) -> Option<Egress> {
    if node.given("vl_arbitration") {
        return vl_arbitration(gathered, node, rules).map(Egress::Tables);
    }
    let entries = node.tables("egress");
    if entries.is_empty() {
        return Some(Egress::Strict);
    }
    let percentages = percentages(gathered, node, entries)?;
    let quanta = quanta(&percentages, rules.largest.iter().copied().max().unwrap_or_default() + rules.overhead);
    let mut groups: Vec<EgressGroup> = Vec::new();
    let mut taken = 0_u8;
    for (entry, quantum) in entries.iter().zip(quanta) {
        let classes = class_bits(gathered, rules, &entry.names("classes")?, entry)?;
        if classes & taken != 0 {
            let class = (classes & taken).trailing_zeros();
            let message = format!("class `{}` is in two egress groups", rules.class_names.name(class));
            gathered.refuse(entry.place_of("classes"), message, "keep it in one");
            return None;
        }
        taken |= classes;
        let share = match (entry.text("share")?.as_str(), quantum) {
            ("strict", _) => Share::Strict,
            (_, Some(quantum)) => Share::Weighted { quantum },
            _ => Share::Weighted { quantum: entry.size("quantum")? },
        };
        let within = match entry.text("within")?.as_str() {
            "priority" => Within::Priority,
            _ => Within::Turns,
        };
        mixed(gathered, entry, rules, classes)?;
        groups.push(EgressGroup { classes, share, within });
    }
    if let Some(class) = (0..rules.class_names.len() as u32).find(|class| taken >> class & 1 == 0) {
        let message = format!("class `{}` is in no egress group", rules.class_names.name(class));
        gathered.refuse(node.place_of("egress"), message, "put every class in one group");
        return None;
    }
    Some(Egress::Groups(groups))
}

fn vl_arbitration(gathered: &mut Gathered<'_>, node: &Node, rules: &Rules<'_>) -> Option<VlArbitration> {
    let place = node.place_of("vl_arbitration");
    if node.given("egress") {
        let message = "`egress` and `vl_arbitration` both choose the next class";
        let problem = Problem::new(place, message, "remove one of them");
        gathered.problems.push(problem.and(node.place_of("egress"), "the other"));
        return None;
    }
    let node = node.table("vl_arbitration")?;
    let (high, low) = (vl_table(gathered, node, "high", rules), vl_table(gathered, node, "low", rules));
    let (high, low) = (high?, low?);
    let entries = || high.iter().chain(&low);
    let mut good = true;
    for class in 0..rules.class_names.len() as u32 {
        let mut mine = entries().filter(|entry| u32::from(entry.class) == class).peekable();
        let name = rules.class_names.name(class);
        if mine.peek().is_none() {
            let message = format!("class `{name}` is in neither table and never sends");
            gathered.refuse(
                place,
                message,
                format!("add it, for example {{ class = \"{name}\", weight = 4 }} in `low`"),
            );
            good = false;
        } else if mine.all(|entry| entry.weight == 0) {
            let message = format!("class `{name}` has weight 0 in every entry and never sends");
            gathered.refuse(place, message, "entries of weight 0 are skipped; give one of them a weight above 0");
            good = false;
        }
    }
    let high_limit = u8::try_from(node.count("high_limit")?).unwrap_or(u8::MAX);
    good.then_some(VlArbitration { high, low, high_limit })
}

fn vl_table(gathered: &mut Gathered<'_>, node: &Node, name: &str, rules: &Rules<'_>) -> Option<Vec<VlEntry>> {
    let nodes = node.tables(name);
    if let Some(beyond) = nodes.get(MAX_VL_ENTRIES) {
        let message = format!("`{name}` has {} entries; the limit is {MAX_VL_ENTRIES}", nodes.len());
        gathered.refuse(beyond.place, message, "remove this entry and those after it");
        return None;
    }
    let mut entries = Vec::new();
    for node in nodes {
        let class = node.text("class").and_then(|name| rules.class_names.one(gathered, &name, node.place_of("class")));
        let (Some(class), Some(weight)) = (class, node.count("weight")) else { continue };
        entries.push(VlEntry {
            class: u8::try_from(class).unwrap_or(u8::MAX),
            weight: u8::try_from(weight).unwrap_or(u8::MAX),
        });
    }
    let readable = node.has(name) == node.given(name);
    (readable && entries.len() == nodes.len()).then_some(entries)
}
