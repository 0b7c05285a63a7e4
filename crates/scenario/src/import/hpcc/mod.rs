//! Files of the public HPCC simulator (ns-3), and of the fork by the authors of PowerTCP: a topology, flows, and a
//! configuration.
//!
//! The scenario has the simulator's world: headers of 48 B and no preamble or gap, acknowledgements in the class of the
//! data, one shared buffer per switch with PFC, marks by thresholds per link rate, and windows of a base round trip.

mod buffers;
mod config;
mod control;
mod flows;
mod paths;
mod topology;

use super::write::{Cable, Drawing, Link, file_name, quoted};
use super::{Imported, NamedText, Work};
use crate::problem::Errors;
use config::Config;
use control::Control;
pub use control::controls;
use flows::Flow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use topology::Topology;
use units::{Bytes, Rate, Span};

/// How to convert.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Name of the scenario.
    pub name: &'a str,
    /// File of the flows, as the scenario names it.
    pub flows_file: &'a str,
    /// Control that replaces that of CC_MODE, one of [`controls`]: the fork selects PowerTCP by an option of its program,
    /// not by its configuration.
    pub control: Option<&'a str>,
}

/// Bytes of headers of a data frame.
const HEADERS: u64 = 48;
/// Bytes of the time stamp of TIMELY.
const STAMP: u64 = 8;
/// Bytes of telemetry in data frames and acknowledgements.
const TELEMETRY: u64 = 42;
/// Rates of links in Gb/s that telemetry of the simulator can state.
const KNOWN_RATES: [u64; 5] = [25, 50, 100, 200, 400];
/// Bytes of an acknowledgement, and of one with telemetry.
const ACKNOWLEDGEMENTS: [u64; 2] = [60, 88];

/// Converts the files.
///
/// # Errors
/// Returns all mistakes in the files, with file and line.
pub fn import(
    topology: NamedText<'_>,
    flows: NamedText<'_>,
    config: Option<NamedText<'_>>,
    options: &Options<'_>,
) -> Result<Imported, Errors> {
    let mut work = Work::default();
    let source = work.add(topology);
    let names = [Some(topology.name), Some(flows.name), config.map(|config| config.name)];
    let read = topology::read(&mut work, source, topology.text);
    let source = work.add(flows);
    let list = read.as_ref().and_then(|topology| flows::read(&mut work, source, flows.text, topology));
    let keys = config.map(|config| {
        let source = work.add(config);
        config::read(&mut work, source, config.text)
    });
    work.checked()?;
    let (Some(topology), Some(flows)) = (read, list) else {
        // What is missing has been reported.
        return Err(Errors::new(work.sources, work.problems));
    };
    let control = Control::read(&mut work, keys.as_ref(), options);
    if keys.is_none() {
        work.note(
            "--config",
            "not given: no congestion control, no ECN, and the simulator's defaults for everything else",
        );
    }
    let empty = Config::default();
    let keys = keys.as_ref().unwrap_or(&empty);
    let scenario = Conversion { topology: &topology, flows: &flows, keys, control, options };
    let (scenario, csv) = scenario.write(&mut work, &names);
    work.checked()?;
    let hosts = topology.hosts().count();
    let counts = [hosts, topology.is_switch.len() - hosts, flows.len()];
    Ok(Imported { scenario, flows: csv, notes: work.notes, counts })
}

struct Conversion<'a> {
    topology: &'a Topology,
    flows: &'a [Flow],
    keys: &'a Config<'a>,
    control: Control,
    options: &'a Options<'a>,
}

impl Conversion<'_> {
    fn write(&self, work: &mut Work, names: &[Option<&str>; 3]) -> (String, String) {
        let payload = self.keys.count(work, "PACKET_PAYLOAD_SIZE", 1000);
        if !(1..=60_000).contains(&payload) {
            let message = format!("a payload of {payload} B");
            work.refuse(self.keys.place("PACKET_PAYLOAD_SIZE"), message, "give 1 to 60000");
            return Default::default();
        }
        let drawing = self.drawing(work, payload);
        let origin = self.flows.iter().map(|flow| flow.start).min().unwrap_or_default();
        let mut text = String::new();
        let files: Vec<String> = names.iter().flatten().map(|name| file_name(name)).collect();
        let _ = writeln!(text, "# Imported from files of the HPCC simulator: {}.", files.join(", "));
        if origin > Span::ZERO {
            let _ = writeln!(text, "# Time 0 is {origin} there: the start of the first flow.");
            let meaning = format!("times count from the start of the first flow, {origin} in the file");
            work.note("start", meaning);
        }
        text.push_str("schema_version = 1\n");
        let _ = writeln!(text, "name = {}", quoted(self.options.name));
        text.push_str("\n[network]\noverhead = \"0B\"       # no preamble and gap\nsmallest_frame = \"1B\"\n");
        let times = if self.topology.is_fork { "nearest-nanosecond" } else { "nanoseconds-down" };
        let _ = writeln!(text, "frame_time = \"{times}\"");
        let fault = self.fault(work, origin);
        if fault.is_some() {
            text.push_str("reconverge = \"0s\"\n");
        }
        // After a failure, the same number would be another path.
        let numbers = if fault.is_none() { paths::numbers(self.topology, self.flows) } else { None };
        if numbers.is_some() {
            text.push_str("multipath = \"path-number\"  # the simulator's choice, in the list of flows\n");
        }
        text.push_str(&drawing.network());
        let classes = self.classes(work, &mut text);
        text.push_str(&buffers::switches(work, self.topology, self.keys, &drawing, classes));
        self.marks(work, &mut text);
        let csv = self.workloads(work, &mut text, payload, origin, numbers.as_deref());
        if let Some(fault) = fault {
            text.push_str(&fault);
        }
        let stop = self.keys.number(work, "SIMULATOR_STOP_TIME", 3.01);
        let stop = super::words::span(stop, 1e12).unwrap_or_default();
        let last = self.flows.iter().map(|flow| flow.start).max().unwrap_or_default();
        if stop <= last {
            let message = format!("the simulation stops at {stop}, and the last flow starts at {last}");
            work.refuse(self.keys.place("SIMULATOR_STOP_TIME"), message, "give a later SIMULATOR_STOP_TIME");
        }
        let _ = writeln!(text, "\n[run]\nduration = \"{}\"", stop.saturating_sub(origin));
        (text, csv)
    }

    /// Nodes and cables.
    fn drawing(&self, work: &mut Work, payload: u64) -> Drawing {
        let of_all = self.keys.number(work, "ERROR_RATE_PER_LINK", 0.0);
        if of_all >= 1.0 {
            let place = self.keys.place("ERROR_RATE_PER_LINK");
            work.refuse(place, "an error rate of 1 and more", "give a probability below 1");
        }
        let mut lossy = false;
        let mut cables = Vec::new();
        for link in &self.topology.links {
            let per_frame = if link.error_rate > 0.0 { link.error_rate } else { of_all };
            lossy |= per_frame > 0.0;
            let bits = ((payload + HEADERS) * 8) as f64;
            let bit_error_rate = 1.0 - (1.0 - per_frame.min(0.999_999)).powf(1.0 / bits);
            let [a, b] = link.ends;
            cables.push(Cable { a, b, link: Link { rate: link.rate, latency: link.delay, bit_error_rate } });
        }
        if lossy {
            let meaning = "a probability per frame there, per bit here: a full data frame is lost as often, shorter frames \
                           less often; the simulator has no timeout, so a flow that loses its last frame never ends there";
            work.note("error rate", meaning);
        }
        Drawing { layers: self.topology.layers(), cables }
    }

    /// A class per priority group of the flows; returns their number.
    fn classes(&self, work: &mut Work, text: &mut String) -> usize {
        let groups: BTreeSet<u8> = self.flows.iter().map(|flow| flow.group).collect();
        for group in &groups {
            let _ = write!(text, "\n[[classes]]\nname = \"pg{group}\"\n");
        }
        if groups.contains(&0) {
            let meaning =
                "flows of group 0 have neither PFC nor ECN and the highest priority there; here they are as others";
            work.note("priority group 0", meaning);
        }
        if self.keys.flag(work, "ACK_HIGH_PRIO", false) {
            let meaning = "1 lets acknowledgements leave an adapter whose data is paused, there; in switches they share the \
                           queue of the data in any case, and here at adapters too";
            work.note("ACK_HIGH_PRIO", meaning);
        }
        if groups.len() > 1 {
            let meaning = "an adapter serves its flows in turn there; here the groups, and the flows of each";
            work.note("priority groups", meaning);
        }
        groups.len()
    }

    /// ECN: thresholds for each rate of a link.
    fn marks(&self, work: &mut Work, text: &mut String) {
        if !self.keys.has("CC_MODE") && self.control == Control::None {
            return;
        }
        if !self.keys.flag(work, "ENABLE_QCN", true) {
            return;
        }
        let [kmin, kmax, pmax] = ["KMIN_MAP", "KMAX_MAP", "PMAX_MAP"].map(|key| self.keys.map(work, key));
        let of_switches = |link: &&topology::Link| link.ends.iter().any(|end| self.topology.is_switch[*end as usize]);
        let rates: BTreeSet<_> = self.topology.links.iter().filter(of_switches).map(|link| link.rate).collect();
        let mut entries = Vec::new();
        for rate in rates {
            let mut value = |key: &str, map: &BTreeMap<Rate, f64>| {
                let found = map.get(&rate).copied();
                if found.is_none() {
                    let message = format!("{key} has no value for links of {rate}");
                    work.refuse(
                        self.keys.place(key),
                        message,
                        format!("add the pair {} and its value", rate.as_bits_per_sec()),
                    );
                }
                found
            };
            let (min, max, most) = (value("KMIN_MAP", &kmin), value("KMAX_MAP", &kmax), value("PMAX_MAP", &pmax));
            if let (Some(min), Some(max), Some(most)) = (min, max, most) {
                // Thousands of bytes.
                let [min, max] = [min, max].map(|length| Bytes::new((length * 1000.0) as u64));
                entries.push(format!("{rate} {min} {max} {most}"));
            }
        }
        // The fork judges frames that join the queue.
        let at = if self.topology.is_fork { "enqueue" } else { "dequeue" };
        let _ = write!(text, "\n[congestion_point]\nname = \"ecn\"\nat = \"{at}\"\n");
        let _ = writeln!(text, "by_rate = \"{}\"", entries.join(", "));
    }

    /// Telemetry in the simulator's format knows some rates only.
    fn note_rates(&self, work: &mut Work) {
        let known = KNOWN_RATES.map(Rate::from_gigabits);
        if let Some(link) = self.topology.links.iter().find(|link| !known.contains(&link.rate)) {
            let meaning = format!(
                "the simulator's telemetry has no code for links of {}, so that its control misreads them; here any rate is \
                 right",
                link.rate
            );
            work.note("link rate", meaning);
        }
    }

    /// Flows as CSV, and the workload that reads them.
    fn workloads(
        &self,
        work: &mut Work,
        text: &mut String,
        payload: u64,
        origin: Span,
        paths: Option<&[u32]>,
    ) -> String {
        let protocol = control::protocol(work, self.keys, self.control);
        let round_trips = self.topology.round_trips(payload);
        let global = self.keys.count(work, "GLOBAL_T", 1) == 1;
        let _ = write!(text, "\n[protocol]\n{}", protocol.text);
        if protocol.needs_round_trip && global {
            let (longest, window) = round_trips.largest();
            let _ = writeln!(text, "base_rtt = \"{longest}\"  # the longest of the network");
            if self.needs_window(longest, window) {
                let window = Bytes::new(window);
                let _ = writeln!(text, "base_window = \"{window}\"  # the largest of the network, for all adapters");
            }
        }
        if protocol.needs_round_trip && !global {
            work.note(
                "GLOBAL_T",
                "0: a flow's base round trip is that of its path by the rules of this program, which count \
                                   headers and acknowledgements too",
            );
        }
        let _ = write!(
            text,
            "\n[recovery]\nname = \"go-back-n\"\nnak_interval = \"500us\"\ntimeout = \"1s\"         # the simulator has none\n"
        );
        if self.keys.flag(work, "L2_BACK_TO_ZERO", false) {
            work.note("L2_BACK_TO_ZERO", "1 has no counterpart: a source goes back to the frame that was lost");
        }
        let interval = self.keys.count(work, "L2_ACK_INTERVAL", 1);
        if interval == 0 {
            let message = "without acknowledgements no flow ever completes";
            work.refuse(self.keys.place("L2_ACK_INTERVAL"), message, "set L2_ACK_INTERVAL 1");
        } else if interval > payload {
            let meaning =
                "the simulator acknowledges every frame beyond the first so many bytes of a flow; here all of them";
            work.note("L2_ACK_INTERVAL", meaning);
        }
        // What telemetry, or the time stamp of TIMELY, adds to data and acknowledgements.
        let (added, acknowledgement) = match self.control {
            Control::Timely => (STAMP, ACKNOWLEDGEMENTS[0] - STAMP),
            control if control.has_telemetry() => (TELEMETRY, ACKNOWLEDGEMENTS[1] - TELEMETRY),
            _ => (0, ACKNOWLEDGEMENTS[0]),
        };
        if self.control.has_telemetry() {
            self.note_rates(work);
        }
        let file = quoted(self.options.flows_file);
        let _ = write!(text, "\n[[workloads]]\nname = \"flows\"\nkind = \"flows\"\nfile = {file}\n");
        let _ = write!(text, "frame = \"{payload}B\"\nheaders = \"{HEADERS}B\"\n");
        let _ = writeln!(text, "acknowledge = {{ size = \"{acknowledgement}B\" }}");
        if added > 0 {
            let hops = if self.control == Control::Timely { 1 } else { 5 };
            let _ = writeln!(text, "telemetry = {{ size = \"{added}B\", hops = {hops} }}");
        }
        let mut csv = String::from("source,destination,class,bytes,start");
        csv.push_str(if paths.is_some() { ",path\n" } else { "\n" });
        for (number, flow) in self.flows.iter().enumerate() {
            let Flow { source, destination, group, bytes, start, .. } = flow;
            let start = start.saturating_sub(origin);
            let _ = write!(csv, "h{source},h{destination},pg{group},{bytes},{start}");
            if let Some(path) = paths.and_then(|paths| paths.get(number)) {
                let _ = write!(csv, ",{path}");
            }
            csv.push('\n');
        }
        csv
    }

    /// Whether the simulator's window, one for all, is not what the link of some host sends in the base round trip. The
    /// fork computes it for each adapter.
    fn needs_window(&self, longest: Span, window: u64) -> bool {
        let of_link = |link: &topology::Link| {
            let bits = u128::from(link.rate.as_bits_per_sec()) * u128::from(longest.as_picos());
            (bits / 8_000_000_000_000) as u64
        };
        let differs = |link: &topology::Link| {
            link.ends.iter().any(|end| !self.topology.is_switch[*end as usize]) && of_link(link).abs_diff(window) > 1
        };
        let one_for_all = matches!(self.control, Control::Dcqcn | Control::Hpcc | Control::Timely | Control::Dctcp);
        one_for_all && !self.topology.is_fork && self.topology.links.iter().any(differs)
    }

    /// The link that fails.
    fn fault(&self, work: &mut Work, origin: Span) -> Option<String> {
        let (after, ends) = self.keys.link_down(work, self.topology.is_switch.len() as u64)?;
        // The simulator counts from there, whenever the flows start.
        let at = Span::from_picos(2_000_000_000_000) + after;
        let [a, b] = ends;
        if !self.topology.links.iter().any(|link| link.ends == [a, b] || link.ends == [b, a]) {
            work.refuse(self.keys.place("LINK_DOWN"), format!("no link between {a} and {b}"), "name two linked nodes");
            return None;
        }
        if at < origin {
            work.refuse(self.keys.place("LINK_DOWN"), "the link fails before the first flow", "give a later time");
            return None;
        }
        let name = |node: u32| format!("{}{node}", if self.topology.is_switch[node as usize] { 's' } else { 'h' });
        work.note("LINK_DOWN", "frames on the link and in its queues are lost there; here those on the link");
        let down = at.saturating_sub(origin);
        Some(format!("\n[[faults]]\nbetween = [\"{}\", \"{}\"]\ndown = \"{down}\"\n", name(a), name(b)))
    }
}

#[cfg(test)]
mod tests;
