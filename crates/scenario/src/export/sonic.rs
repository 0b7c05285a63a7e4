//! The switches of a plan as configurations of SONiC: the mirror of [`import::sonic`](crate::import::sonic).
//!
//! Port n of a switch is `Ethernet4n`, a class is a traffic class with the queue, priority group and priority of the same
//! number, and groups of classes share the queue of the first. Cables, buffers, marking, scheduling and PFC, imported again,
//! give the same network.

use crate::import::Note;
use crate::import::sonic::FRAMING;
use crate::import::sonic::devices::usual_size;
use crate::pattern::Pattern;
use crate::plan::Plan;
use fabric::graph::{NodeId, PortEnd, Role};
use fabric::spec::{
    Buffer, ClassBuffer, Egress, EgressGroup, FlowControl, PfcWatchdogSpec, PortSpec, Share, SwitchSpec,
    WatchdogAction, Within,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use units::{Bytes, Rate, Span};

/// Propagation in fibre, in picoseconds per metre.
const PICOS_PER_METRE: u64 = 5_000;
const PICOS_PER_MILLISECOND: u64 = 1_000_000_000;
/// The MTU of ports if the plan has no traffic, as SONiC has it.
const MTU: u64 = 9_100;
/// The alpha by which an import keeps a static threshold.
const STATIC_ALPHA: (u32, u32) = (1_000, 1);
/// The largest weight of a scheduler in SONiC's model (sonic-scheduler.yang).
const MOST_WEIGHT: u64 = 100;

/// Configurations of the switches of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Name and config_db.json of each switch.
    pub switches: Vec<(String, String)>,
    /// What has no exact counterpart.
    pub notes: Vec<Note>,
}

/// Converts the switches of a plan.
///
/// # Errors
/// Returns what no configuration can express, and the remedy.
pub fn export(plan: &Plan) -> Result<Exported, String> {
    let (ends, sizes) = (plan.spec.graph.ports(), sizes(plan));
    let mut work = Export { plan, numbers: numbers(plan), ends, sizes, notes: Vec::new() };
    for (kind, switch) in plan.spec.switches.iter().enumerate() {
        if matches!(switch.flow_control, FlowControl::Pause(_) | FlowControl::Credits(_)) {
            let remedy = "choose flow_control = \"pfc\" or \"none\"";
            return Err(format!("switches[{kind}]: SONiC has neither credits nor PAUSE of whole links; {remedy}"));
        }
    }
    let mut switches = Vec::new();
    for node in plan.spec.graph.switches() {
        let name = plan.spec.graph.nodes[node.0 as usize].name.clone();
        let tables = work.switch(node)?;
        switches.push((name, format!("{:#}\n", Value::Object(tables))));
    }
    Ok(Exported { switches, notes: work.notes })
}

/// The keys `profile_size` of a scenario.
fn sizes(plan: &Plan) -> BTreeMap<(Bytes, Bytes), Bytes> {
    let size = |text: &str| text.trim_matches('"').parse::<Bytes>().ok();
    let mut found = BTreeMap::new();
    for entry in &plan.entries {
        let Some(prefix) = entry.path.strip_suffix(".profile_size") else { continue };
        let beside = |key: &str| {
            let path = format!("{prefix}.{key}");
            plan.entries.iter().find(|entry| entry.path == path).and_then(|entry| size(&entry.value))
        };
        if let (Some(own), Some(capacity), Some(headroom)) =
            (size(&entry.value), beside("capacity"), beside("headroom"))
        {
            found.insert((capacity, headroom), own);
        }
    }
    found
}

/// The traffic class of each class: the number in names such as `tc3`, else the position.
fn numbers(plan: &Plan) -> Vec<u8> {
    let named = |name: &str| name.strip_prefix("tc")?.parse::<u8>().ok().filter(|number| *number < 8);
    let names: Option<Vec<u8>> = plan.spec.classes.iter().map(|class| named(&class.name)).collect();
    names.filter(|numbers| numbers.is_sorted()).unwrap_or_else(|| (0..plan.spec.classes.len() as u8).collect())
}

struct Export<'a> {
    plan: &'a Plan,
    /// Traffic class of each class.
    numbers: Vec<u8>,
    ends: Vec<Vec<PortEnd>>,
    /// Field `size` of profiles by their reserved part and headroom, where the scenario states it.
    sizes: BTreeMap<(Bytes, Bytes), Bytes>,
    notes: Vec<Note>,
}

/// Rows of a table.
type Rows = Map<String, Value>;

impl Export<'_> {
    fn note(&mut self, key: &str, meaning: &str) {
        let note = Note { key: key.to_owned(), meaning: meaning.to_owned() };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn switch(&mut self, node: NodeId) -> Result<Rows, String> {
        let plan = self.plan;
        let graph = &plan.spec.graph;
        let name = &graph.nodes[node.0 as usize].name;
        let kind = plan.spec.kind_of[node.0 as usize] as usize;
        let switch = &plan.spec.switches[kind];
        let mut tables: BTreeMap<&str, Rows> = BTreeMap::new();
        let mut put = |table: &'static str, key: String, row: Value| {
            tables.entry(table).or_default().insert(key, row);
        };
        put("DEVICE_METADATA", "localhost".into(), json!({ "hostname": name }));
        let mut lengths = Rows::new();
        let mut profiles: BTreeMap<String, Value> = BTreeMap::new();
        let mut wred_profiles = Rows::new();
        let total = self.pools(node, switch, &mut put);
        for (number, end) in self.ends[node.0 as usize].clone().into_iter().enumerate() {
            let port = port_name(number);
            let link = graph.cables[end.cable as usize].link;
            let speed = megabits(link.rate).ok_or_else(|| {
                format!("{name}: the rate {} of a link is not a whole number of Mb/s; give it another rate", link.rate)
            })?;
            let metres = link.latency.as_picos().div_ceil(PICOS_PER_METRE);
            if !link.latency.as_picos().is_multiple_of(PICOS_PER_METRE) {
                self.note("CABLE_LENGTH", "latencies are no whole metres of 5 ns; the next whole metre is written");
            }
            let alias = format!("etp{}", number + 1);
            let row = json!({ "admin_status": "up", "alias": alias, "mtu": self.mtu().to_string(), "speed": speed });
            put("PORT", port.clone(), row);
            lengths.insert(port.clone(), json!(format!("{metres}m")));
            let peer = &graph.nodes[end.peer.0 as usize];
            let far = match peer.role {
                Role::Switch => port_name(usize::from(end.peer_port)),
                Role::Host => format!("eth{}", end.peer_port),
            };
            put("DEVICE_NEIGHBOR", port.clone(), json!({ "name": peer.name, "port": far }));
            let own = plan.spec.ports.iter().find(|own| own.node == node && usize::from(own.port) == number);
            let link = format!("{speed}_{metres}m");
            self.port(switch, own, (&port, &link), total, &mut profiles, &mut put);
            let wred = self.wred(kind, switch, graph.cables[end.cable as usize].link.rate);
            wred_profiles.extend(wred.values().cloned());
            self.queues(switch, own, &port, &wred, &mut put);
            self.watchdog(switch, own, &port, &mut put);
        }
        put("CABLE_LENGTH", "AZURE".into(), Value::Object(lengths));
        self.maps(switch, &mut put);
        let mut whole: Rows = tables.into_iter().map(|(table, rows)| (table.to_owned(), Value::Object(rows))).collect();
        if !profiles.is_empty() {
            whole.insert("BUFFER_PROFILE".into(), Value::Object(profiles.into_iter().collect()));
        }
        if !wred_profiles.is_empty() {
            whole.insert("WRED_PROFILE".into(), Value::Object(wred_profiles));
        }
        Ok(whole)
    }

    /// The MTU of the largest frame that the network carries.
    fn mtu(&self) -> u64 {
        let frames = crate::lower::largest_frames(&self.plan.spec.flows, self.plan.spec.classes.len());
        let largest = frames.into_iter().chain(self.plan.largest_frame).max().unwrap_or_default().get();
        largest.checked_sub(FRAMING).filter(|mtu| *mtu >= 46).unwrap_or(MTU)
    }

    /// The pools of a switch; returns the size of its shared memory.
    fn pools(&mut self, node: NodeId, switch: &SwitchSpec, put: &mut impl FnMut(&'static str, String, Value)) -> Bytes {
        let total = match &switch.buffer {
            Buffer::Shared { total, .. } => *total,
            Buffer::Static(usual) => {
                self.note("BUFFER_PROFILE", "fixed buffers become reserved memory and headroom of each port");
                // The memory of all ports and classes together.
                let ports = self.ends[node.0 as usize].len();
                let own = |number: usize| {
                    let ports = self.plan.spec.ports.iter();
                    let mut own = ports.filter(|own| own.node == node && usize::from(own.port) == number);
                    own.find_map(|own| own.buffers.as_ref()).unwrap_or(usual)
                };
                let sum = (0..ports).flat_map(own).map(|buffer| buffer.capacity.get()).sum::<u64>();
                Bytes::new(sum.clamp(1, crate::keys::buffers::LARGEST_BUFFER))
            }
        };
        let row = |kind: &str, mode: &str| json!({ "mode": mode, "size": total.get().to_string(), "type": kind });
        put("BUFFER_POOL", "ingress_lossless_pool".into(), row("ingress", "dynamic"));
        put("BUFFER_POOL", "egress_lossless_pool".into(), row("egress", "static"));
        put("BUFFER_POOL", "egress_lossy_pool".into(), row("egress", "dynamic"));
        total
    }

    /// Buffers and PFC of a port.
    fn port(
        &mut self,
        switch: &SwitchSpec,
        own: Option<&PortSpec>,
        (port, link): (&str, &str),
        total: Bytes,
        profiles: &mut BTreeMap<String, Value>,
        put: &mut impl FnMut(&'static str, String, Value),
    ) {
        let plan = self.plan;
        let (of_kind, shared) = match &switch.buffer {
            Buffer::Static(classes) => (classes, None),
            Buffer::Shared { classes, alpha, .. } => (classes, Some(*alpha)),
        };
        let buffers = own.and_then(|own| own.buffers.as_ref()).unwrap_or(of_kind);
        let has_pfc = matches!(switch.flow_control, FlowControl::Pfc(_));
        let pfc = own.map_or(u8::MAX, |own| own.pfc);
        let mut on = Vec::new();
        for (class, spec) in plan.spec.classes.iter().enumerate() {
            let tc = self.numbers[class];
            let pauses = has_pfc && spec.lossless && pfc >> class & 1 == 1;
            if pauses {
                on.push(tc.to_string());
            }
            let row = self.profile(&buffers[class], shared, (spec.lossless, pauses), total);
            let stem = match (spec.lossless, pauses) {
                (true, true) => format!("pg_lossless_{link}"),
                (true, false) => "ingress_lossy".to_owned(),
                (false, _) => "egress_lossy".to_owned(),
            };
            let name = named(profiles, &stem, tc, row);
            let table = if spec.lossless { "BUFFER_PG" } else { "BUFFER_QUEUE" };
            put(table, format!("{port}|{tc}"), json!({ "profile": name }));
            if spec.lossless {
                let row = json!({ "pool": "egress_lossless_pool", "size": "0", "static_th": total.get().to_string() });
                let name = named(profiles, "egress_lossless", tc, row);
                put("BUFFER_QUEUE", format!("{port}|{tc}"), json!({ "profile": name }));
            }
        }
        let mut maps = json!({
            "dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE", "tc_to_pg_map": "AZURE", "pfc_to_queue_map": "AZURE",
            "pfc_enable": on.join(","),
        });
        if let Some(watchdog) = pfc_watchdog(switch, own) {
            let classes = (0..self.numbers.len()).filter(|class| watchdog.classes >> class & 1 == 1);
            let watched: Vec<String> = classes.map(|class| self.numbers[class].to_string()).collect();
            let watched: Vec<&str> = on.iter().filter(|tc| watched.contains(tc)).map(String::as_str).collect();
            // Without the field SONiC watches nothing.
            maps["pfcwd_sw_enable"] = json!(watched.join(","));
        }
        put("PORT_QOS_MAP", port.to_owned(), maps);
    }

    /// A buffer as a profile.
    fn profile(
        &mut self,
        buffer: &ClassBuffer,
        shared: Option<(u32, u32)>,
        (lossless, pauses): (bool, bool),
        total: Bytes,
    ) -> Value {
        let pool = if lossless { "ingress_lossless_pool" } else { "egress_lossy_pool" };
        let mut row = Rows::new();
        row.insert("pool".into(), json!(pool));
        let mut set = |field: &str, value: String| {
            row.insert(field.to_owned(), json!(value));
        };
        // A fixed buffer is reserved up to XOFF, and the rest is headroom.
        let (reserved, headroom, level, offset) = match shared {
            Some(_) => (buffer.capacity, buffer.headroom, buffer.resume, buffer.xon),
            None if pauses => {
                let less = |a: Bytes, b: Bytes| Bytes::new(a.get().saturating_sub(b.get()));
                (buffer.xoff, less(buffer.capacity, buffer.xoff), buffer.xon, less(buffer.xoff, buffer.xon))
            }
            None => (buffer.capacity, Bytes::ZERO, Bytes::ZERO, Bytes::ZERO),
        };
        let known = self.sizes.get(&(reserved, headroom)).copied();
        let size = match pauses {
            true => known.unwrap_or_else(|| usual_size(reserved, headroom)),
            false => reserved,
        };
        set("size", size.get().to_string());
        if pauses {
            set("xoff", headroom.get().to_string());
            set("xon", level.get().to_string());
            // As far below the threshold as the memory is large: it resumes at `xon` only.
            if shared.is_none() || offset < total {
                set("xon_offset", offset.get().to_string());
            }
        }
        match (shared, buffer.alpha) {
            (None, _) => set("static_th", "0".into()),
            (Some(_), Some(STATIC_ALPHA)) => set("static_th", buffer.limit.min(total).get().to_string()),
            (Some(of_switch), own) => {
                let (numerator, denominator) = own.unwrap_or(of_switch);
                let exact = f64::from(numerator) / f64::from(denominator.max(1));
                let power = exact.log2().round().clamp(-16.0, 16.0);
                set("dynamic_th", format!("{power:.0}"));
                if power.exp2() != exact {
                    self.note("dynamic_th", "an alpha that is not a power of two is rounded to the nearest");
                }
                if buffer.limit < ClassBuffer::UNLIMITED.limit {
                    self.note("limit", "a static limit beside a dynamic threshold has no counterpart");
                }
            }
        }
        Value::Object(row)
    }

    /// Early detection of the classes of a kind of switch at ports of a rate: by class, the name and the row of its profile.
    fn wred(&mut self, kind: usize, switch: &SwitchSpec, rate: Rate) -> BTreeMap<usize, (String, Value)> {
        let mut found = BTreeMap::new();
        if switch.congestion_point.as_ref().is_none_or(|point| point.point.is_none()) {
            return found;
        }
        let plan = self.plan;
        let value = |path: &str| {
            let entry = plan.entries.iter().find(|entry| entry.path == path)?;
            serde_json::from_str::<Value>(&entry.value).ok().or_else(|| Some(json!(entry.value)))
        };
        let several = (0..8).map(|number| format!("switches[{kind}].congestion_points[{number}]"));
        let own = [format!("switches[{kind}].congestion_point"), "congestion_point".to_owned()];
        let mut prefixes: Vec<String> = several.filter(|prefix| value(&format!("{prefix}.name")).is_some()).collect();
        if prefixes.is_empty() {
            prefixes.extend(own.into_iter().find(|prefix| value(&format!("{prefix}.name")).is_some()));
        }
        for prefix in prefixes {
            let text = |key: &str| value(&format!("{prefix}.{key}"));
            let name = text("name").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
            let size = |key: &str| text(key)?.as_str()?.parse::<Bytes>().ok();
            let (Some(least), Some(most)) = (size("kmin"), size("kmax")) else {
                self.note(&prefix, "this congestion point has no counterpart in WRED_PROFILE");
                continue;
            };
            if !matches!(name.as_str(), "ecn" | "red") {
                self.note(&prefix, "this congestion point has no counterpart in WRED_PROFILE");
                continue;
            }
            let probability = text("pmax").and_then(|pmax| pmax.as_f64()).unwrap_or(1.0);
            let words = |key: &str| text(key).and_then(|value| value.as_str().map(str::to_owned));
            let (by_rate, reference) = (words("by_rate"), words("reference_rate").and_then(|rate| rate.parse().ok()));
            let ramp = Ramp { least, most, probability };
            let (own, of_rate) = ramp.at(rate, by_rate.as_deref().unwrap_or_default(), reference);
            let Ramp { least, most, probability } = own;
            if probability == 0.0 && least.get() == crate::keys::buffers::LARGEST_BUFFER {
                // Ports of this rate have no profile.
                continue;
            }
            let probability = probability * 100.0;
            if probability.fract().abs() > 1e-9 {
                self.note("green_drop_probability", "a probability is rounded to a whole percentage");
            }
            let patterns: Vec<String> = match text("classes") {
                Some(Value::String(one)) => vec![one],
                Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                _ => vec!["*".to_owned()],
            };
            let patterns: Vec<Pattern> = patterns.iter().filter_map(|text| Pattern::parse(text).ok()).collect();
            let (least, most) = (least.get().to_string(), most.get().to_string());
            let percent = format!("{probability:.0}");
            let ecn = if name == "ecn" { "ecn_all" } else { "ecn_none" };
            let row = json!({
                "ecn": ecn, "wred_green_enable": "true", "wred_yellow_enable": "true", "wred_red_enable": "true",
                "green_min_threshold": least, "green_max_threshold": most, "green_drop_probability": percent,
                "yellow_min_threshold": least, "yellow_max_threshold": most, "yellow_drop_probability": percent,
                "red_min_threshold": least, "red_max_threshold": most, "red_drop_probability": percent,
            });
            let classes = plan.spec.classes.iter().enumerate();
            for (class, _) in classes.filter(|(_, class)| patterns.iter().any(|pattern| pattern.matches(&class.name))) {
                let known =
                    found.values().find(|(_, known): &&(String, Value)| *known == row).map(|(label, _)| label.clone());
                let kind = if name == "ecn" { "ECN" } else { "WRED" };
                let rate = match of_rate {
                    true => format!("_{}", rate.as_bits_per_sec() / 1_000_000),
                    false => String::new(),
                };
                let label = known.unwrap_or_else(|| format!("{kind}_TC{}{rate}", self.numbers[class]));
                found.insert(class, (label, row.clone()));
            }
        }
        found
    }

    /// Scheduling and early detection of the queues of a port.
    fn queues(
        &mut self,
        switch: &SwitchSpec,
        own: Option<&PortSpec>,
        port: &str,
        wred: &BTreeMap<usize, (String, Value)>,
        put: &mut impl FnMut(&'static str, String, Value),
    ) {
        let egress = own.and_then(|own| own.egress.as_ref()).unwrap_or(&switch.egress);
        let weights = self.weights(egress);
        for (class, weight) in weights.into_iter().enumerate() {
            let (scheduler, row) = match weight {
                Some(weight) => {
                    (format!("scheduler.dwrr{weight}"), json!({ "type": "DWRR", "weight": weight.to_string() }))
                }
                None => ("scheduler.strict".to_owned(), json!({ "type": "STRICT" })),
            };
            put("SCHEDULER", scheduler.clone(), row);
            let mut row = json!({ "scheduler": scheduler });
            if let Some((name, _)) = wred.get(&class) {
                row["wred_profile"] = json!(name);
            }
            let queue = self.queue(egress, class);
            put("QUEUE", format!("{port}|{queue}"), row);
        }
    }

    /// The PFC watchdog of a port.
    fn watchdog(
        &mut self,
        switch: &SwitchSpec,
        own: Option<&PortSpec>,
        port: &str,
        put: &mut impl FnMut(&'static str, String, Value),
    ) {
        let Some(watchdog) = pfc_watchdog(switch, own) else { return };
        let PfcWatchdogSpec { detection, restoration, poll, action, .. } = watchdog;
        let mut milliseconds = |time: Span| {
            if !time.as_picos().is_multiple_of(PICOS_PER_MILLISECOND) {
                self.note("PFC_WD", "times are no whole milliseconds; the next whole millisecond is written");
            }
            time.as_picos().div_ceil(PICOS_PER_MILLISECOND).to_string()
        };
        let row = json!({
            "action": if action == WatchdogAction::Drop { "drop" } else { "forward" },
            "detection_time": milliseconds(detection),
            "restoration_time": milliseconds(restoration),
        });
        put("PFC_WD", port.to_owned(), row);
        if poll > Span::ZERO {
            put("PFC_WD", "GLOBAL".into(), json!({ "POLL_INTERVAL": milliseconds(poll) }));
        }
    }

    /// The weight of each class; `None` for strict priority.
    fn weights(&mut self, egress: &Egress) -> Vec<Option<u64>> {
        let count = self.plan.spec.classes.len();
        let groups = match egress {
            Egress::Strict => return vec![None; count],
            Egress::Groups(groups) => groups,
            Egress::Tables(_) => {
                self.note("SCHEDULER", "virtual-lane arbitration has no counterpart; all classes get the same weight");
                return vec![Some(1); count];
            }
        };
        if groups.iter().any(|group| group.within == Within::Priority && group.classes.count_ones() > 1) {
            self.note("SCHEDULER", "priorities within a group have no counterpart; its classes share a queue");
        }
        let quantum = |group: &EgressGroup| match group.share {
            Share::Weighted { quantum } => Some(quantum.get()),
            Share::Strict => None,
        };
        let unit = groups.iter().filter_map(quantum).fold(0, gcd).max(1);
        let most = groups.iter().filter_map(quantum).max().unwrap_or(1) / unit;
        if most > MOST_WEIGHT {
            self.note("SCHEDULER", "weights are rounded to whole numbers from 1 to 100");
        }
        let scale = |weight: u64| if most > MOST_WEIGHT { (weight * MOST_WEIGHT / most).max(1) } else { weight };
        let group_of = |class: usize| groups.iter().find(|group| group.classes >> class & 1 == 1);
        (0..count).map(|class| group_of(class).and_then(quantum).map(|quantum| scale(quantum / unit))).collect()
    }

    /// The queue of a class: that of the first class of its group.
    fn queue(&self, egress: &Egress, class: usize) -> u8 {
        let first = match egress {
            Egress::Groups(groups) => groups.iter().find(|group| group.classes >> class & 1 == 1),
            Egress::Strict | Egress::Tables(_) => None,
        };
        self.numbers[first.map_or(class, |group| group.classes.trailing_zeros() as usize)]
    }

    /// Maps of frames to classes, queues and groups.
    fn maps(&self, switch: &SwitchSpec, put: &mut impl FnMut(&'static str, String, Value)) {
        let usual = self.numbers.first().copied().unwrap_or(0);
        let dscp = |dscp: usize| {
            let class = self.numbers.iter().find(|tc| usize::from(**tc) * 8 == dscp);
            (dscp.to_string(), json!(class.unwrap_or(&usual).to_string()))
        };
        put("DSCP_TO_TC_MAP", "AZURE".into(), Value::Object((0..64).map(dscp).collect()));
        let queues: Rows = self
            .numbers
            .iter()
            .enumerate()
            .map(|(class, tc)| (tc.to_string(), json!(self.queue(&switch.egress, class).to_string())))
            .collect();
        let same: Rows = self.numbers.iter().map(|tc| (tc.to_string(), json!(tc.to_string()))).collect();
        put("TC_TO_QUEUE_MAP", "AZURE".into(), Value::Object(queues.clone()));
        put("MAP_PFC_PRIORITY_TO_QUEUE", "AZURE".into(), Value::Object(queues));
        put("TC_TO_PRIORITY_GROUP_MAP", "AZURE".into(), Value::Object(same));
    }
}

/// Thresholds of early detection.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ramp {
    least: Bytes,
    most: Bytes,
    probability: f64,
}

impl Ramp {
    /// The thresholds of ports of a rate, and whether they are those of that rate alone: an entry of `by_rate`, or in
    /// proportion to a reference.
    fn at(self, rate: Rate, by_rate: &str, reference: Option<Rate>) -> (Ramp, bool) {
        for entry in by_rate.split(',') {
            let words: Vec<&str> = entry.split_whitespace().collect();
            if let [of, least, most, probability] = words[..]
                && of.parse() == Ok(rate)
                && let (Ok(least), Ok(most), Ok(probability)) = (least.parse(), most.parse(), probability.parse())
            {
                return (Ramp { least, most, probability }, true);
            }
        }
        let scaled = |size: Bytes, of: Rate| {
            let bits = u128::from(size.get()) * u128::from(rate.as_bits_per_sec());
            Bytes::new((bits / u128::from(of.as_bits_per_sec().max(1))) as u64)
        };
        match reference {
            Some(of) => (Ramp { least: scaled(self.least, of), most: scaled(self.most, of), ..self }, true),
            None => (self, !by_rate.is_empty()),
        }
    }
}

/// The PFC watchdog of a port: its own, or that of its switch.
fn pfc_watchdog(switch: &SwitchSpec, own: Option<&PortSpec>) -> Option<PfcWatchdogSpec> {
    own.and_then(|own| own.pfc_watchdog).or(switch.pfc_watchdog)
}

/// The name of a profile: that of the same row, or a new one.
fn named(profiles: &mut BTreeMap<String, Value>, stem: &str, tc: u8, row: Value) -> String {
    for name in [format!("{stem}_profile"), format!("{stem}_tc{tc}_profile")] {
        if *profiles.entry(name.clone()).or_insert_with(|| row.clone()) == row {
            return name;
        }
    }
    let mut number = 2;
    loop {
        let name = format!("{stem}_tc{tc}_{number}_profile");
        if *profiles.entry(name.clone()).or_insert_with(|| row.clone()) == row {
            return name;
        }
        number += 1;
    }
}

fn port_name(number: usize) -> String {
    format!("Ethernet{}", 4 * number)
}

fn megabits(rate: Rate) -> Option<String> {
    let bits = rate.as_bits_per_sec();
    (bits.is_multiple_of(1_000_000) && bits > 0).then(|| (bits / 1_000_000).to_string())
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
