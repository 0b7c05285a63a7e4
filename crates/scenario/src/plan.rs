//! The plan: a scenario with everything decided, and where each decision came from.

use super::lower::network::need_of_changes;
use super::problem::Errors;
use super::source::Sources;
use super::{Recipe, expect::Expectation, figure::Figure};
use crate::fluid::{FluidPlan, NoFluid};
use crate::memory::Need;
use discovery::dcbx::DcbPlan;
use discovery::spb::Service;
use fabric::routing::Routing;
use fabric::spec::NetworkSpec;
use fabric::workload::{Destination, FlowSpec};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use units::{Bytes, Span};

/// Where a value of the plan came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A line of a file.
    File {
        /// Its path, as given.
        file: String,
        /// The line, from one.
        line: usize,
    },
    /// An override, whole.
    Override(String),
    /// Nobody said it; this is why it is what it is.
    Default(&'static str),
}

/// One value of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key, as an override would name it.
    pub path: String,
    /// Its value with its unit, in the shortest exact form.
    pub value: String,
    /// Where it came from.
    pub source: Source,
}

/// How long to run, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// Simulated time.
    pub duration: Span,
    /// Simulated time before averages begin.
    pub warm_up: Span,
    /// Names every random stream.
    pub seed: u64,
    /// How many runs, with seed, seed + 1, and so on.
    pub replications: u32,
    /// Simulated time of the short form of a figure.
    pub quick: Option<Span>,
    /// Simulated time between two inspections of the whole network.
    pub inspect_every: Span,
    /// Ends the run after so many events.
    pub max_events: Option<u64>,
    /// Threads, if the scenario says; results do not depend on it.
    pub threads: Option<usize>,
}

/// What to record, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeSettings {
    /// Throughput of every flow by windows, and completions.
    pub flows: bool,
    /// Bytes and busy time of cables by windows.
    pub links: bool,
    /// Samples of queues.
    pub queues: bool,
    /// Samples of what congestion control allows.
    pub rates: bool,
    /// Beginnings and ends of pauses.
    pub pauses: bool,
    /// Frames that came to nothing.
    pub drops: bool,
    /// Which flows hold the buffers of switches that keep account of it.
    pub occupancy: bool,
    /// Congestion notices.
    pub notices: bool,
    /// Between two samples of queues and rates.
    pub sample_every: Span,
    /// Over which throughputs are averaged.
    pub throughput_window: Span,
    /// Rows that may be recorded.
    pub max_rows: u64,
    /// Size of the tables that may be recorded.
    pub max_size: Bytes,
    /// For every node whether its links, queues and pauses are recorded.
    pub nodes: Vec<bool>,
}

/// One dimension of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The key, as an override names it.
    pub path: String,
    /// The values it takes in turn, as an override writes them.
    pub values: Vec<String>,
}

impl Axis {
    /// The values as a person writes them: texts without their quotes.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        self.values.iter().map(|value| value.trim_matches('"').to_owned()).collect()
    }
}

/// A text the plan was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input<'a> {
    /// Path of the file as given.
    pub file: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Its content.
    pub text: &'a str,
}

/// A scenario with everything decided.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the scenario is called.
    pub name: String,
    /// What it shows; may be empty.
    pub description: String,
    /// The network and its traffic.
    pub spec: NetworkSpec,
    /// How long to run, and how often.
    pub run: RunSettings,
    /// What to record.
    pub probes: ProbeSettings,
    /// A name for every flow, in the order of `spec.flows`.
    pub flow_names: Vec<String>,
    /// For every flow its workload: a position in `workload_names`.
    pub workload_of_flow: Vec<u32>,
    /// The workloads, in the order of the scenario.
    pub workload_names: Vec<String>,
    /// What the results should be.
    pub expectations: Vec<Expectation>,
    /// The dimensions of a sweep.
    pub sweep: Vec<Axis>,
    /// What it says of the figure it is.
    pub figure: Figure,
    /// The scenario as a fluid, if it says so; [`FluidPlan::of`] finds what it does not say. Packets run whether or not it
    /// makes one.
    pub fluid: Option<Result<FluidPlan, NoFluid>>,
    /// Data Center Bridging as its nodes are configured, if it says so.
    pub dcb: Option<DcbPlan>,
    /// How its tables are computed; `None` where it writes them out.
    pub routing: Option<Routing>,
    /// Groups of bridges, of shortest path bridging.
    pub services: Vec<Service>,
    /// For every class whether its frames go in the lanes of the routing.
    pub layered: Vec<bool>,
    /// Every value and where it came from.
    pub entries: Vec<Entry>,
    pub(crate) recipe: Arc<Recipe>,
}

impl Plan {
    /// What a run of it needs, by an estimate.
    #[must_use]
    pub fn need(&self) -> Need {
        let listed = |flow: &FlowSpec| match &flow.destination {
            Destination::Uniform(others) => others.len() as u64,
            Destination::Host(_) => 0,
        };
        let receivers = self.spec.flows.iter().map(listed).sum();
        let network = need_of_changes(&self.spec.graph, self.spec.route_changes.len());
        network.and_flows(self.spec.flows.len() as u64, receivers)
    }

    /// What it says, without the flows it has been made into: they take the most memory. It cannot be run.
    #[must_use]
    pub fn without_flows(mut self) -> Plan {
        (self.spec.flows, self.flow_names, self.workload_of_flow) = (Vec::new(), Vec::new(), Vec::new());
        self
    }

    /// The same scenario with another seed: its random flows are drawn anew.
    ///
    /// # Errors
    /// If the other seed draws more flows than are allowed.
    pub fn with_seed(&self, seed: u64) -> Result<Plan, Errors> {
        self.recipe.plan(Some(seed))
    }

    /// The axes of its grid with their values, as an override writes them: the variants, or the one that was chosen, and
    /// those of the sweep.
    #[must_use]
    pub fn axes(&self) -> Vec<(String, Vec<String>)> {
        let variants = self.figure.variant.as_ref().map_or(self.figure.variants.clone(), |name| vec![name.clone()]);
        let variants = (!variants.is_empty()).then(|| (super::VARIANT.to_owned(), variants));
        variants.into_iter().chain(self.sweep.iter().map(|axis| (axis.path.clone(), axis.values.clone()))).collect()
    }

    /// The files it was made from, with their hashes.
    pub fn inputs(&self) -> impl Iterator<Item = Input<'_>> {
        self.sources().iter().filter(|source| source.kind != super::SourceKind::Override).map(|source| Input {
            file: source.name.clone(),
            sha256: source.sha256.clone(),
            text: &source.text,
        })
    }

    /// What was given beside its files, as overrides that would give it again.
    pub fn overrides(&self) -> impl Iterator<Item = String> {
        let given = self.sources().iter().filter(|source| source.kind == super::SourceKind::Override);
        let variant = self.figure.variant.iter().map(|name| format!("{}={name}", super::VARIANT));
        variant.chain(given.map(|source| source.text.clone()))
    }

    /// All texts it was made from.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.recipe.sources
    }
}

/// The plan for people: every value, and where it came from.
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
        "# {hosts} hosts, {} switches, {} cables, {} flows",
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

/// The section and the key of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}
