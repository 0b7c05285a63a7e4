//! A fabric as the text of a scenario.

use super::super::Note;
use super::super::write::quoted;
use super::devices::{comment, switches};
use super::switch::Port;
use super::{Cable, End, Fabric};
use congestion::parameter::Values;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use units::{Rate, Span};

/// Propagation in fibre: 5 ns per metre, as in the headroom of IEEE 802.1Qbb.
const PICOS_PER_METRE: u64 = 5_000;
/// Senders of the incast, at most.
const SENDERS: usize = 8;

/// Writes a scenario; returns it and the number of its flows.
pub(super) fn write(fabric: &Fabric, name: &str, notes: &mut Vec<Note>) -> (String, usize) {
    let classes = fabric.classes();
    let mut text = String::from("# Imported from configurations of SONiC:\n");
    for switch in &fabric.switches {
        let _ = writeln!(text, "#   {}: {}", comment(&switch.name), comment(&switch.file));
    }
    let _ = write!(text, "schema_version = 1\nname = {}\n\n[network]\n", quoted(name));
    network(fabric, &mut text);
    for &tc in &classes {
        let kept = fabric.is_lossless(tc);
        let _ = write!(text, "\n[[classes]]\nname = \"tc{tc}\"{}\nlossless = {kept}\n", described(fabric, tc));
    }
    text.push_str(&switches(fabric, &classes, notes));
    let flows = traffic(fabric, &classes, &mut text, notes);
    (text, flows)
}

/// Nodes and links.
fn network(fabric: &Fabric, text: &mut String) {
    let usual = usual(&fabric.cables);
    let _ = writeln!(text, "link = {{ {} }}", properties(usual));
    text.push_str("nodes = [\n");
    if !fabric.hosts.is_empty() {
        let _ = writeln!(text, "    {{ names = {}, role = \"host\" }},", names(&fabric.hosts));
    }
    for (layer, members) in layers(fabric) {
        let _ = writeln!(text, "    {{ names = {}, role = \"switch\", layer = {layer} }},", names(&members));
    }
    text.push_str("]\nlinks = [\n");
    for cable in &fabric.cables {
        let (switch, port) = fabric.at(cable.a);
        let mut ports = port.name.clone();
        if let Some(far) = cable.b {
            let _ = write!(ports, " to {}", fabric.at(far).1.name);
        }
        let own = (cable.rate, cable.metres);
        let other = if own == usual { String::new() } else { format!(", {}", properties(own)) };
        let ends = format!("{}, {}", quoted(&switch.name), quoted(fabric.neighbour(cable, cable.a)));
        let comment = format!("{}, {} m", comment(&ports), cable.metres);
        let _ = writeln!(text, "    {{ between = [{ends}]{other} }},  # {comment}");
    }
    text.push_str("]\n");
    let ports = fabric.cables.iter().flat_map(Cable::ends).map(|end| fabric.at(end).1);
    if let Some(largest) = ports.map(Port::largest_frame).max() {
        let _ = writeln!(text, "largest_frame = \"{largest}\"  # the largest MTU, with header and check sequence");
    }
}

fn properties((rate, metres): (Rate, u64)) -> String {
    let latency = Span::from_picos(metres * PICOS_PER_METRE);
    format!("rate = \"{rate}\", latency = \"{latency}\"")
}

/// Rate and length of the most cables.
fn usual(cables: &[Cable]) -> (Rate, u64) {
    let mut counts: BTreeMap<(Rate, u64), usize> = BTreeMap::new();
    for cable in cables {
        *counts.entry((cable.rate, cable.metres)).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map_or((Rate::from_gigabits(100), 5), |(link, _)| link)
}

/// Switches by their distance from hosts.
fn layers(fabric: &Fabric) -> BTreeMap<u32, Vec<String>> {
    let mut layer: Vec<Option<u32>> = vec![None; fabric.switches.len()];
    for cable in fabric.cables.iter().filter(|cable| cable.b.is_none()) {
        layer[cable.a.switch] = Some(1);
    }
    loop {
        let mut next = layer.clone();
        for (End { switch: a, .. }, b) in fabric.cables.iter().filter_map(|cable| Some((cable.a, cable.b?))) {
            for (from, to) in [(a, b.switch), (b.switch, a)] {
                if let (Some(near), None) = (layer[from], layer[to]) {
                    next[to] = Some(next[to].map_or(near + 1, |known| known.min(near + 1)));
                }
            }
        }
        if next == layer {
            break;
        }
        layer = next;
    }
    let mut members: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (switch, layer) in fabric.switches.iter().zip(layer) {
        members.entry(layer.unwrap_or(1)).or_default().push(switch.name.clone());
    }
    members
}

/// DSCPs, queue and priority group of a class as a comment, where all ports agree.
fn described(fabric: &Fabric, tc: u8) -> String {
    let ports: Vec<&Port> = fabric.cables.iter().flat_map(Cable::ends).map(|end| fabric.at(end).1).collect();
    let Some(first) = ports.first() else { return String::new() };
    let place = usize::from(tc);
    let (queue, group) = (first.maps.tc_to_queue[place], first.maps.tc_to_group[place]);
    let same = ports.iter().all(|port| port.maps == first.maps);
    let dscps: Vec<String> = match &first.maps.dscp_to_tc {
        Some(map) if map.len() == 64 => (0..64).filter(|dscp| map[*dscp] == tc).map(|dscp| dscp.to_string()).collect(),
        _ => Vec::new(),
    };
    match same {
        false => String::new(),
        true if dscps.is_empty() || dscps.len() > 12 => format!("  # queue {queue}, priority group {group}"),
        true => format!("  # DSCP {}; queue {queue}, priority group {group}", dscps.join(", ")),
    }
}

/// The least rate of DCQCN: a source at a link that is no faster has nothing to reduce.
fn least_rate() -> Rate {
    let dcqcn = congestion::PROTOCOLS.iter().find(|protocol| protocol.name == "dcqcn");
    dcqcn.map_or(Rate::from_megabits(1), |protocol| Values::defaults(protocol.parameters).rate("min_rate"))
}

/// An incast to the first host, in the first lossless class; returns the number of its flows.
fn traffic(fabric: &Fabric, classes: &[u8], text: &mut String, notes: &mut Vec<Note>) -> usize {
    let home = |host: &str| fabric.cables.iter().find(|cable| cable.host == host).map(|cable| cable.a.switch);
    let Some((receiver, others)) = fabric.hosts.split_first().filter(|(_, others)| !others.is_empty()) else {
        text.push_str("\n[run]\nduration = \"1ms\"\n");
        return 0;
    };
    let far: Vec<String> = others.iter().filter(|host| home(host) != home(receiver)).cloned().collect();
    let mut senders = if far.is_empty() { others.to_vec() } else { far };
    senders.truncate(SENDERS);
    let tc = classes.iter().copied().find(|tc| fabric.is_lossless(*tc)).unwrap_or(classes[0]);
    let ports: Vec<&Port> = fabric.cables.iter().flat_map(Cable::ends).map(|end| fabric.at(end).1).collect();
    let frame = ports.iter().map(|port| port.largest_frame()).min().unwrap_or_default();
    let marks = |port: &&Port| {
        let queue = usize::from(port.maps.tc_to_queue[usize::from(tc)]);
        port.wred[queue].as_ref().is_some_and(|wred| wred.marks)
    };
    let slow = fabric.cables.iter().any(|cable| senders.contains(&cable.host) && cable.rate <= least_rate());
    if ports.iter().any(marks) && slow {
        let meaning = format!(
            "links of {} are no faster than its least rate: the example has no congestion control",
            least_rate()
        );
        notes.push(Note { key: "dcqcn".into(), meaning });
    } else if ports.iter().any(marks) {
        text.push_str("\n[protocol]\nname = \"dcqcn\"\n");
    }
    text.push_str("\n[recovery]\nname = \"go-back-n\"\n");
    text.push_str("\n# An example: replace it by the traffic of the network.\n[[workloads]]\nname = \"incast\"\nkind = \"incast\"\n");
    let _ = write!(text, "from = {}\nto = {}\nclass = \"tc{tc}\"\n", names(&senders), quoted(receiver));
    let _ = write!(text, "size = \"1MB\"\nframe = \"{frame}\"  # the smallest MTU, with header and check sequence\n");
    text.push_str("start_jitter = \"10us\"\n\n[run]\nduration = \"5ms\"\n");
    senders.len()
}

/// Names as a TOML value; consecutive numbers are a range.
pub(in crate::import) fn names(all: &[String]) -> String {
    let split = |name: &str| {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, number) = name.split_at(name.len() - digits);
        let plain = !number.is_empty() && number.len() < 9 && (number == "0" || !number.starts_with('0'));
        plain.then(|| (stem.to_owned(), number.parse::<u64>().unwrap_or(0)))
    };
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let mut run = 1;
        if let Some((stem, first)) = split(&all[at]) {
            while all.get(at + run).and_then(|name| split(name)) == Some((stem.clone(), first + run as u64)) {
                run += 1;
            }
            if run > 2 {
                parts.push(format!("{stem}{{{first}..{}}}", first + run as u64 - 1));
            }
        }
        if run < 3 {
            run = 1;
            parts.push(all[at].clone());
        }
        at += run;
    }
    list(&parts)
}

/// Texts as a TOML value: one, or a list.
pub(in crate::import) fn list(all: &[String]) -> String {
    let quoted: Vec<String> = all.iter().map(|text| quoted(text)).collect();
    match quoted.as_slice() {
        [one] => one.clone(),
        _ => format!("[{}]", quoted.join(", ")),
    }
}
