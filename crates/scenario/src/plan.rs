//! The plan: a scenario with all values determined, and the source of each.

use super::lower::network::need_of_changes;
use super::problem::Errors;
use super::source::{Place, Sources};
use super::{Recipe, expect::Expectation, figure::Figure};
use crate::flow_names::FlowNames;
use crate::flow_workloads::FlowWorkloads;
use crate::fluid::{FluidPlan, NoFluid};
use crate::memory::Need;
use crate::stage::Stage;
use discovery::dcbx::DcbPlan;
use discovery::spb::Service;
use discovery::subnet::Identities;
use fabric::graph::HostId;
use fabric::routing::Routing;
use fabric::spec::NetworkSpec;
use fabric::workload::collective::Collective;
use fabric::workload::{Dependencies, Destination, FlowSpec};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;
use units::{Bytes, Span};

/// Source of a value of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A line of a file.
    File {
        /// Path of the file, as given.
        file: String,
        /// Line number, from one.
        line: usize,
    },
    /// An override, in full.
    Override(String),
    /// A default, with the reason for it.
    Default(&'static str),
}

/// One value of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key, as written in an override.
    pub path: String,
    /// The value with its unit, in the shortest exact form.
    pub value: String,
    /// Source of the value.
    pub source: Source,
}

/// Settings of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// Simulated time.
    pub duration: Span,
    /// Simulated time before averages begin.
    pub warm_up: Span,
    /// Seed of all random streams.
    pub seed: u64,
    /// Number of runs, with seed, seed + 1, and so on.
    pub replications: u32,
    /// Simulated time of the short form of a figure.
    pub quick: Option<Span>,
    /// Simulated time between two inspections of the whole network.
    pub inspect_every: Span,
    /// Maximum number of events, after which the run ends.
    pub max_events: Option<u64>,
    /// Number of threads, if the scenario sets it; results do not depend on it.
    pub threads: Option<usize>,
}

/// Settings of the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeSettings {
    /// Throughput of every flow by window, and completions.
    pub flows: bool,
    /// Bytes and busy time of cables by window.
    pub links: bool,
    /// Samples of queues.
    pub queues: bool,
    /// Samples of the rates and windows permitted by congestion control.
    pub rates: bool,
    /// Starts and ends of pauses.
    pub pauses: bool,
    /// Dropped and lost frames.
    pub drops: bool,
    /// Buffer occupancy by flow, for switches that record it.
    pub occupancy: bool,
    /// Congestion notifications.
    pub notices: bool,
    /// Causes of the time of every flow.
    pub causes: bool,
    /// Sampling interval of queues and rates.
    pub sample_every: Span,
    /// Window over which throughputs are averaged.
    pub throughput_window: Span,
    /// Maximum number of recorded rows.
    pub max_rows: u64,
    /// Maximum size of the recorded tables.
    pub max_size: Bytes,
    /// For every node, whether its links, queues and pauses are recorded.
    pub nodes: Vec<bool>,
}

/// One dimension of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The key, as written in an override.
    pub path: String,
    /// The values, as written in an override.
    pub values: Vec<String>,
    /// Where the scenario states each of them.
    pub(crate) places: Vec<Place>,
}

impl Axis {
    /// Returns the values as written by a user: texts without quotes.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        self.values.iter().map(|value| value.trim_matches('"').to_owned()).collect()
    }
}

/// An input text of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input<'a> {
    /// Path of the file, as given.
    pub file: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Its content.
    pub text: &'a str,
}

/// The format in which captures show the frames of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureFormat {
    /// Ethernet frames with our own header.
    Tailback,
    /// RoCEv2.
    RoceV2,
    /// TCP over IPv4.
    Tcp,
}

impl CaptureFormat {
    /// Returns the format of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<CaptureFormat> {
        match name {
            "tailback" => Some(CaptureFormat::Tailback),
            "rocev2" => Some(CaptureFormat::RoceV2),
            "tcp" => Some(CaptureFormat::Tcp),
            _ => None,
        }
    }
}

/// A workload of a collective operation.
///
/// Its flows are those of the first group, iteration by iteration, then those of the next one.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectivePlan {
    /// Index in `workload_names`.
    pub workload: u32,
    /// Index of its first flow.
    pub first_flow: u32,
    /// Flows of one iteration of one group.
    pub transfers: u32,
    /// The hosts of all ranks, group by group.
    pub hosts: Vec<HostId>,
    /// The operation of each group.
    pub collective: Collective,
}

impl CollectivePlan {
    /// Returns the number of groups.
    #[must_use]
    pub fn groups(&self) -> u32 {
        self.hosts.len() as u32 / self.collective.ranks.max(1)
    }

    /// Returns the flows of an iteration of a group.
    #[must_use]
    pub fn flows(&self, group: u32, iteration: u32) -> Range<usize> {
        let round = group as usize * self.collective.iterations as usize + iteration as usize;
        let first = self.first_flow as usize + round * self.transfers as usize;
        first..first + self.transfers as usize
    }

    /// Returns the rank of a host in its group.
    #[must_use]
    pub fn rank_of(&self, host: HostId) -> Option<u32> {
        let place = self.hosts.iter().position(|&other| other == host)?;
        Some(place as u32 % self.collective.ranks.max(1))
    }
}

/// A workload of requests and responses.
///
/// Its flows are those of the first request, `fan_out` requests and as many responses, then those of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestPlan {
    /// Index in `workload_names`.
    pub workload: u32,
    /// Index of its first flow.
    pub first_flow: u32,
    /// Number of requests of all clients.
    pub requests: u32,
    /// Servers of a request.
    pub fan_out: u32,
}

impl RequestPlan {
    /// Returns the flows of a request to its servers and those of their responses.
    #[must_use]
    pub fn flows(&self, request: u32) -> (Range<usize>, Range<usize>) {
        let first = self.first_flow as usize + request as usize * 2 * self.fan_out as usize;
        let middle = first + self.fan_out as usize;
        (first..middle, middle..middle + self.fan_out as usize)
    }
}

/// A scenario with all values determined.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the scenario.
    pub name: String,
    /// Description; may be empty.
    pub description: String,
    /// The network and its traffic.
    pub spec: NetworkSpec,
    /// Settings of the run.
    pub run: RunSettings,
    /// Settings of the recording.
    pub probes: ProbeSettings,
    /// Name of every flow, in the order of `spec.flows`.
    pub flow_names: FlowNames,
    /// Index in `workload_names` of every flow's workload.
    pub workload_of_flow: FlowWorkloads,
    /// Names of the workloads, in the order of the scenario.
    pub workload_names: Vec<String>,
    /// The workloads that are collective operations.
    pub collectives: Vec<CollectivePlan>,
    /// The workloads of requests and responses.
    pub requests: Vec<RequestPlan>,
    /// The format in which captures show the frames of every workload; `None` for that of the transport it models.
    pub captures: Vec<Option<CaptureFormat>>,
    /// Expectations of the results.
    pub expectations: Vec<Expectation>,
    /// The dimensions of a sweep.
    pub sweep: Vec<Axis>,
    /// Description of the figure.
    pub figure: Figure,
    /// The fluid model, if the scenario has `[fluid]`; [`FluidPlan::of`] derives one otherwise. Packets can be
    /// simulated even if the model is invalid.
    pub fluid: Option<Result<FluidPlan, NoFluid>>,
    /// Data Center Bridging configuration, if the scenario has one.
    pub dcb: Option<DcbPlan>,
    /// How forwarding tables are computed; `None` if the scenario states them.
    pub routing: Option<Routing>,
    /// Services of shortest path bridging.
    pub services: Vec<Service>,
    /// Identifiers of nodes in an InfiniBand subnet, where the scenario states them.
    pub subnet: Identities,
    /// Largest frame of the real network, if the scenario describes one.
    pub largest_frame: Option<Bytes>,
    /// For every class, whether its frames use the lanes of the routing.
    pub layered: Vec<bool>,
    /// All values and their sources.
    pub entries: Vec<Entry>,
    pub(crate) recipe: Arc<Recipe>,
}

impl Plan {
    /// Returns the estimated memory requirements of a run.
    #[must_use]
    pub fn need(&self) -> Need {
        let listed = |flow: &FlowSpec| match &flow.destination {
            Destination::Uniform => flow.hosts.len() as u64,
            Destination::Host(_) => 0,
        };
        let receivers = self.spec.flows.iter().map(listed).sum();
        let network = need_of_changes(&self.spec.graph, self.spec.route_changes.len());
        let recovering = self.spec.flows.iter().filter(|flow| flow.receiver().is_some()).count() as u64;
        // Flows that end and do not start together are seldom active together.
        let apart = |pair: &&[FlowSpec]| pair[1].size.is_some() && pair[0].start != pair[1].start;
        let brief = self.spec.flows.windows(2).filter(apart).count() as u64;
        network.and_flows(self.spec.flows.len() as u64, brief, recovering, receivers)
    }

    /// Notifies the observer of the scenario's stages that a stage begins.
    pub fn notify(&self, stage: Stage) {
        self.recipe.observer.notify(stage);
    }

    /// Returns the plan without its flows, which take the most memory. It cannot be run.
    #[must_use]
    pub fn without_flows(mut self) -> Plan {
        (self.spec.flows, self.flow_names, self.workload_of_flow) = Default::default();
        self.spec.dependencies = Dependencies::default();
        self
    }

    /// Returns the plan of the same scenario with another seed, with new random flows.
    ///
    /// # Errors
    /// Returns an error if the other seed yields more flows than allowed.
    pub fn with_seed(&self, seed: u64) -> Result<Plan, Errors> {
        self.recipe.plan(Some(seed))
    }

    /// Returns the axes of the grid with their values, as written in an override: the variants, or the selected one,
    /// and those of the sweep.
    #[must_use]
    pub fn axes(&self) -> Vec<(String, Vec<String>)> {
        let variants = self.figure.variant.as_ref().map_or(self.figure.variants.clone(), |name| vec![name.clone()]);
        let variants = (!variants.is_empty()).then(|| (super::VARIANT.to_owned(), variants));
        variants.into_iter().chain(self.sweep.iter().map(|axis| (axis.path.clone(), axis.values.clone()))).collect()
    }

    /// Where the scenario's own `[sweep]` states the value of an override, if it does.
    pub(crate) fn place_in_sweep(&self, text: &str) -> Option<Place> {
        let (path, value) = text.split_once('=')?;
        let axis = self.sweep.iter().find(|axis| axis.path == path)?;
        let at = axis.values.iter().position(|known| known == value)?;
        axis.places.get(at).copied()
    }

    /// Returns the input files with their hashes.
    pub fn inputs(&self) -> impl Iterator<Item = Input<'_>> {
        self.sources().iter().filter(|source| source.kind != super::SourceKind::Override).map(|source| Input {
            file: source.name.clone(),
            sha256: source.sha256.clone(),
            text: &source.text,
        })
    }

    /// Returns the overrides that were applied to the files.
    pub fn overrides(&self) -> impl Iterator<Item = String> {
        let given = self.sources().iter().filter(|source| source.kind == super::SourceKind::Override);
        let variant = self.figure.variant.iter().map(|name| format!("{}={name}", super::VARIANT));
        variant.chain(given.map(|source| source.text.clone()))
    }

    /// Returns all input texts.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.recipe.sources
    }
}

/// Describes the plan for humans: every value and its source.
#[must_use]
pub fn explain(plan: &Plan) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "# {}", plan.name);
    if !plan.description.is_empty() {
        let _ = writeln!(text, "# {}", plan.description.replace('\n', "\n# "));
    }
    let graph = &plan.spec.graph;
    let hosts = graph.nodes.iter().filter(|node| node.role == fabric::graph::Role::Host).count();
    let _ = writeln!(
        text,
        "# {hosts} hosts, {} switches, {} links, {} flows",
        graph.nodes.len() - hosts,
        graph.cables.len(),
        plan.spec.flows.len()
    );
    for input in plan.inputs() {
        let _ = writeln!(text, "# {}  sha256 {}", input.file, input.sha256);
    }
    let widths = |width: fn(&Entry) -> usize| plan.entries.iter().map(width).filter(|&w| w <= 48).max().unwrap_or(0);
    let value_width = widths(|entry| entry.value.chars().count());
    let key_width = widths(|entry| split(&entry.path).1.len());
    // A section's keys may stand before and after a section inside it; TOML wants them together.
    let mut sections: Vec<&str> = Vec::new();
    let mut members: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in &plan.entries {
        let (section, _) = split(&entry.path);
        let entries = members.entry(section).or_default();
        if entries.is_empty() {
            sections.push(section);
        }
        entries.push(entry);
    }
    for section in sections {
        if !section.is_empty() {
            let _ = writeln!(text, "\n[{section}]");
        }
        for entry in members.get(section).into_iter().flatten() {
            let source = match &entry.source {
                Source::File { file, line } => format!("{file}:{line}"),
                Source::Override(text) => format!("--set {text}"),
                Source::Default(why) => format!("default; {why}"),
            };
            let key = split(&entry.path).1;
            let _ = writeln!(text, "{key:key_width$} = {:value_width$}  # {source}", entry.value);
        }
    }
    text
}

/// Splits a path into section and key.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}
