//! Conversion of `[[workloads]]` to flows.

use super::flow::template;
use super::names::Names;
use super::network::need_of;
use crate::flow_names::FlowNames;
use crate::flow_workloads::FlowWorkloads;
use crate::key::LONGEST;
use crate::plan::{CaptureFormat, CollectivePlan, RequestPlan};
use crate::problem::Problem;
use crate::resolve::{Gathered, Node};
use crate::source::Place;
use crate::{Attachments, Limits, Subject};
use fabric::graph::HostId;
use fabric::workload::{self, Dependencies, Destination, FlowSpec, Pattern};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use units::{Rate, Span, Stream, grouped};

/// All flows, with their names.
#[derive(Default)]
pub(crate) struct Traffic {
    pub(crate) flows: Vec<FlowSpec>,
    pub(crate) dependencies: Dependencies,
    /// By flow, if any has one.
    pub(crate) path_numbers: Vec<Option<u32>>,
    pub(crate) names: FlowNames,
    pub(crate) workload_of: FlowWorkloads,
    pub(crate) workloads: Vec<String>,
    pub(crate) collectives: Vec<CollectivePlan>,
    pub(crate) requests: Vec<RequestPlan>,
    /// By workload.
    pub(crate) captures: Vec<Option<CaptureFormat>>,
}

pub(crate) fn traffic(
    gathered: &mut Gathered<'_>,
    root: &Node,
    subject: &Subject<'_>,
    attachments: &Attachments,
    limits: &Limits,
) -> Option<Traffic> {
    let entries = root.tables("workloads");
    let workloads = workload_names(gathered, entries);
    let format = |entry: &Node| entry.text("capture").and_then(|name| CaptureFormat::named(&name));
    let captures = entries.iter().map(format).collect();
    let mut traffic = Traffic { workloads, captures, ..Traffic::default() };
    let mut good = true;
    for (number, entry) in entries.iter().enumerate() {
        let room = limits.flows.saturating_sub(traffic.flows.len() as u64);
        let name = traffic.workloads[number].clone();
        let seed = seed_of(subject.run.seed, &name);
        let (made, memory) = (traffic.flows.len() as u64, limits.memory);
        let work = Work {
            entry,
            name: name.clone(),
            subject,
            attachments,
            room,
            made,
            memory,
            runs: limits.runs,
            recovers: Cell::new(false),
            seed,
        };
        let Some(mut made) = work.flows(gathered, root) else {
            good = false;
            continue;
        };
        work.spread_rates(&mut made);
        if made.flows.len() as u64 > room {
            good = work.too_many(gathered, made.flows.len() as u64).is_some();
            continue;
        }
        let Made { flows: made, names, dependencies, collective, requests, path_numbers } = made;
        if !path_numbers.is_empty() {
            traffic.path_numbers.resize(traffic.flows.len(), None);
            traffic.path_numbers.extend(path_numbers);
        }
        traffic.collectives.extend(collective.map(|plan| CollectivePlan { workload: number as u32, ..plan }));
        traffic.requests.extend(requests.map(|plan| RequestPlan { workload: number as u32, ..plan }));
        traffic.dependencies.append(&dependencies, traffic.flows.len() as u32);
        if made.len() > MOST_NAMED && names.is_empty() {
            traffic.names.number(&name, made.len());
        } else {
            let mut names = names.into_iter();
            let named = |flow: &FlowSpec| {
                names.next().flatten().unwrap_or_else(|| flow_name(&name, flow, made.len(), subject.hosts))
            };
            traffic.names.list(made.iter().map(named).collect());
        }
        traffic.workload_of.add(number, made.len());
        // Flows are large; those of a single workload are not copied.
        if traffic.flows.is_empty() {
            traffic.flows = made;
        } else {
            traffic.flows.extend(made);
        }
    }
    traffic.names.make_unique();
    good.then_some(traffic)
}

/// Returns the name of every workload: its own, or its kind.
fn workload_names(gathered: &mut Gathered<'_>, entries: &[Node]) -> Vec<String> {
    let mut taken: BTreeMap<String, Place> = BTreeMap::new();
    for entry in entries {
        let Some(name) = entry.text("name") else { continue };
        let place = entry.place_of("name");
        if let Some(first) = taken.insert(name.clone(), place) {
            let problem = Problem::new(place, format!("two workloads are named `{name}`"), "give each its own name");
            gathered.problems.push(problem.and(first, "the first"));
        }
    }
    let used: BTreeSet<String> = taken.into_keys().collect();
    let mut last: BTreeMap<String, u32> = BTreeMap::new();
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.text("name").unwrap_or_else(|| {
            let kind = entry.text("kind").unwrap_or_else(|| "workload".into());
            let count = last.entry(kind.clone()).or_insert(0);
            let name = loop {
                *count += 1;
                let name = if *count == 1 { kind.clone() } else { format!("{kind}-{count}") };
                if !used.contains(&name) {
                    break name;
                }
            };
            gathered.computed(&entry.path, "name", format!("{name:?}"));
            name
        }));
    }
    names
}

/// Returns a seed derived from a workload's name, so that adding a workload does not affect the others.
fn seed_of(seed: u64, workload: &str) -> u64 {
    Stream::new(seed, 0, &format!("workload {workload}")).next_u64()
}

pub(super) fn flow_name(workload: &str, flow: &FlowSpec, flows: usize, hosts: &Names<'_>) -> String {
    match &flow.destination {
        _ if flows == 1 => workload.to_owned(),
        Destination::Host(to) => format!("{workload}/{}-{}", hosts.name(flow.source.0), hosts.name(to.0)),
        Destination::Uniform => format!("{workload}/{}", hosts.name(flow.source.0)),
    }
}

/// A workload under construction.
pub(super) struct Work<'a> {
    pub(super) entry: &'a Node,
    pub(super) name: String,
    pub(super) subject: &'a Subject<'a>,
    pub(super) attachments: &'a Attachments,
    /// Maximum number of flows.
    room: u64,
    /// Number of flows in the preceding workloads.
    pub(super) made: u64,
    /// Maximum memory of all flows in bytes.
    memory: u64,
    /// Whether the flows will run.
    runs: bool,
    /// Whether they recover from losses.
    recovers: Cell<bool>,
    pub(super) seed: u64,
}

/// The flows of a workload.
#[derive(Default)]
pub(super) struct Made {
    pub(super) flows: Vec<FlowSpec>,
    /// What they wait for, numbered from the first.
    pub(super) dependencies: Dependencies,
    /// Names of flows that have one of their own, if any may.
    pub(super) names: Vec<Option<String>>,
    /// The collective operation that they are, if they are.
    pub(super) collective: Option<CollectivePlan>,
    /// Their requests, if they are such.
    pub(super) requests: Option<RequestPlan>,
    /// Numbers of their paths, if any has one.
    pub(super) path_numbers: Vec<Option<u32>>,
}

/// The most flows of a workload that are named after their hosts; more are numbered.
pub(super) const MOST_NAMED: usize = 100_000;

impl Work<'_> {
    fn too_many(&self, gathered: &mut Gathered<'_>, count: u64) -> Option<()> {
        let message = format!(
            "this workload would have about {} flows; at most {} more are possible",
            grouped(count),
            grouped(self.room)
        );
        gathered.refuse(self.entry.place_of("kind"), message, "name fewer hosts, or reduce the arrival rate");
        None
    }

    pub(super) fn fits(&self, gathered: &mut Gathered<'_>, count: u64) -> Option<()> {
        self.fits_with(gathered, count, 0)
    }

    /// Checks the number of flows and of receivers in lists against the limits.
    fn fits_with(&self, gathered: &mut Gathered<'_>, count: u64, receivers: u64) -> Option<()> {
        let (network, flows) = (need_of(self.subject.graph), self.made.saturating_add(count));
        let recovering = if self.recovers.get() { count } else { 0 };
        let need = if self.runs {
            // Flows that arrive over the run are over before its end.
            let arrive =
                self.entry.text("kind").is_some_and(|kind| ["poisson-flows", "request-response"].contains(&&*kind));
            network.and_flows(flows, if arrive { count } else { 0 }, recovering, receivers)
        } else {
            network.and_planned_flows(flows, receivers)
        };
        if let Err((message, help)) = need.within(self.memory) {
            gathered.refuse(self.entry.place_of("kind"), message, help);
            return None;
        }
        if count > self.room { self.too_many(gathered, count) } else { Some(()) }
    }

    pub(super) fn hosts(&self, gathered: &mut Gathered<'_>, key: &str) -> Option<Vec<HostId>> {
        let names = self.entry.names(key)?;
        let chosen = self.subject.hosts.select(gathered, &names, self.entry.place_of(key))?;
        Some(chosen.into_iter().map(HostId).collect())
    }

    fn flows(&self, gathered: &mut Gathered<'_>, root: &Node) -> Option<Made> {
        let entry = self.entry;
        let Some(template) = template(gathered, root, entry, self.subject) else {
            // Its hosts may be wrong as well.
            for key in ["from", "to", "hosts"] {
                self.hosts(gathered, key);
            }
            return None;
        };
        self.recovers.set(template.receiver().is_some());
        let plain = |flows: Vec<FlowSpec>| Some(Made { flows, ..Made::default() });
        match entry.text("kind")?.as_str() {
            "incast" => {
                let (senders, receivers) = (self.hosts(gathered, "from"), self.hosts(gathered, "to"));
                let (senders, receivers) = (senders?, receivers?);
                let [receiver] = receivers[..] else {
                    let message = format!("an incast has one receiver, but `to` names {}", receivers.len());
                    gathered.refuse(entry.place_of("to"), message, "name one host, or write one workload per receiver");
                    return None;
                };
                self.fits(gathered, senders.len() as u64)?;
                plain(workload::incast(&senders, receiver, &template, entry.time("start_jitter")?, self.seed))
            }
            "permutation" => {
                let hosts = self.hosts(gathered, "hosts")?;
                self.several(gathered, &hosts)?;
                self.fits(gathered, hosts.len() as u64)?;
                let mut flows = workload::permutation(&hosts, &template, self.seed);
                self.spread(gathered, &mut flows)?;
                plain(flows)
            }
            "all-to-all" => {
                let hosts = self.hosts(gathered, "hosts")?;
                self.several(gathered, &hosts)?;
                self.fits(gathered, hosts.len() as u64 * (hosts.len() as u64 - 1))?;
                let mut flows = workload::all_to_all(&hosts, &template);
                self.spread(gathered, &mut flows)?;
                plain(flows)
            }
            "uniform-random" => plain(self.uniform(gathered, &template)?),
            "poisson-flows" => plain(self.poisson(gathered, &template)?),
            "request-response" => self.requests(gathered, &template),
            "flows" => self.listed(gathered, root, &template),
            "collective" => self.collective(gathered, &template),
            _ => plain(self.pairs(gathered, &template)?),
        }
    }

    pub(super) fn several(&self, gathered: &mut Gathered<'_>, hosts: &[HostId]) -> Option<()> {
        if hosts.len() < 2 {
            gathered.refuse(self.entry.place_of("hosts"), "a single host has no destination", "name at least two");
            return None;
        }
        Some(())
    }

    fn pairs(&self, gathered: &mut Gathered<'_>, template: &FlowSpec) -> Option<Vec<FlowSpec>> {
        let (from, to) = (self.hosts(gathered, "from"), self.hosts(gathered, "to"));
        let (from, to) = (from?, to?);
        let flow = |(&source, &target): (&HostId, &HostId)| FlowSpec {
            source,
            destination: Destination::Host(target),
            ..template.clone()
        };
        let mut flows: Vec<FlowSpec> = if self.entry.text("pairing")? == "in-order" {
            if from.len() != to.len() {
                let message = format!("{} senders cannot be paired with {} receivers", from.len(), to.len());
                gathered.refuse(self.entry.place_of("pairing"), message, "name as many receivers as senders");
                return None;
            }
            self.fits(gathered, from.len() as u64)?;
            from.iter().zip(&to).filter(|(source, target)| source != target).map(flow).collect()
        } else {
            self.fits(gathered, from.len() as u64 * to.len() as u64)?;
            let pairs = from.iter().flat_map(|source| to.iter().map(move |target| (source, target)));
            pairs.filter(|(source, target)| source != target).map(flow).collect()
        };
        if flows.is_empty() {
            gathered.refuse(self.entry.place_of("to"), "the destination is the source", "name another host");
            return None;
        }
        self.spread(gathered, &mut flows)?;
        Some(flows)
    }

    /// Staggers the starts of flows according to `stagger` and `start_jitter`.
    fn spread(&self, gathered: &mut Gathered<'_>, flows: &mut [FlowSpec]) -> Option<()> {
        let (stagger, jitter) = (self.entry.time("stagger")?, self.entry.time("start_jitter")?);
        let mut stream = Stream::new(self.seed, 0, "start");
        for (number, flow) in (0..).zip(flows.iter_mut()) {
            let wait = stagger.as_picos().saturating_mul(number).min(LONGEST.as_picos());
            flow.start += Span::from_picos(wait) + stream.span_between(Span::ZERO, jitter);
        }
        if let Some(late) = flows.iter().find(|flow| flow.stop.is_some_and(|stop| stop <= flow.start)) {
            let message = format!("the last flow would start at {}, after `stop`", late.start);
            gathered.refuse(self.entry.place_of("stagger"), message, "give a smaller `stagger`, or a later `stop`");
            return None;
        }
        Some(())
    }

    /// Varies the rates of flows according to `rate_spread`.
    fn spread_rates(&self, made: &mut Made) {
        let Some(spread) = self.entry.number("rate_spread").filter(|&spread| spread > 0.0) else { return };
        let mut stream = Stream::new(self.seed, 0, "rate");
        for flow in &mut made.flows {
            if let Pattern::Paced { rate, .. } = &mut flow.pattern {
                let factor = 1.0 + spread * (2.0 * stream.unit_f64() - 1.0);
                *rate = Rate::from_bits_per_sec((rate.as_bits_per_sec() as f64 * factor).max(1.0) as u64);
            }
        }
    }

    fn uniform(&self, gathered: &mut Gathered<'_>, template: &FlowSpec) -> Option<Vec<FlowSpec>> {
        let (from, to) = (self.hosts(gathered, "from"), self.hosts(gathered, "to"));
        let (from, to) = (from?, to?);
        // Every sender keeps a list of its receivers.
        self.fits_with(gathered, from.len() as u64, from.len() as u64 * to.len() as u64)?;
        let mut flows = Vec::new();
        for &source in &from {
            let others: Arc<[HostId]> = to.iter().copied().filter(|&host| host != source).collect();
            if others.is_empty() {
                gathered.refuse(
                    self.entry.place_of("to"),
                    "a sender has no destination but itself",
                    "name other hosts",
                );
                return None;
            }
            flows.push(FlowSpec { source, ..template.clone() }.to_any(others));
        }
        Some(flows)
    }
}
