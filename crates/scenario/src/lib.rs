//! Scenario files: strict TOML with units, in which every mistake is reported at its position.
//!
//! A scenario passes through four forms. `tree` is the content of the file, merged with its base and its overrides,
//! every value with its position. `resolve` converts it to typed sections according to the table of `keys`. `lower`
//! converts these to a network description, computes defaults by rule and finds contradictions. The [`Plan`] is the
//! result: all values, and the source of each.
//!
//! ```
//! use tailback_scenario::{Limits, NoFiles, Source, load_str};
//!
//! let text = r#"
//!     schema_version = 1
//!     [network]
//!     topology = "single-switch"
//!     hosts = 4
//!     link = { rate = "100Gb/s", latency = "500ns" }
//!     [[switches]]
//!     flow_control = "pfc"
//!     buffers = { capacity = "200KB" }
//!     [[workloads]]
//!     kind = "greedy"
//!     from = "h1"
//!     to = "h0"
//!     [run]
//!     duration = "1ms"
//! "#;
//! let overrides = ["network.hosts=8".to_owned()];
//! let plan = load_str("small.toml", text, &overrides, &NoFiles, Limits::default()).expect("a sound scenario");
//! assert_eq!(plan.spec.graph.nodes.len(), 9);
//! let hosts = plan.entries.iter().find(|entry| entry.path == "network.hosts").expect("every value is listed");
//! assert_eq!(hosts.source, Source::Override("network.hosts=8".into()));
//!
//! // A mistake is reported at its position, with a remedy.
//! let wrong = text.replace("hosts", "hots");
//! let errors = load_str("small.toml", &wrong, &[], &NoFiles, Limits::default()).expect_err("a misspelt key");
//! assert!(errors.render(false).contains("did you mean `hosts`"));
//! ```
//!
//! Only [`load()`] accesses the disk. This crate prints nothing, and no input makes it panic.

mod campaign;
mod check;
mod expect;
pub mod export;
mod figure;
mod flow_names;
mod flow_workloads;
pub mod fluid;
pub mod import;
mod key;
mod keys;
mod load;
mod lower;
pub mod memory;
mod metric;
mod overrides;
mod paper;
mod parameters;
mod parquet;
mod pattern;
mod plan;
mod problem;
mod quantity;
mod reference;
mod resolve;
mod schema;
mod source;
mod stage;
#[cfg(test)]
mod tests;
mod tree;
mod value;
mod variants;

pub use campaign::{FaultKind, FaultSettings, SingleFault, single_faults};
pub use check::{
    FairPhase, FairShare, Finding, Severity, check, check_routes, each_fair_phase, fair_phases, fair_phases_of_run,
    fair_shares, flow_paths,
};
pub use expect::{Across, Comparison, Expectation, Expected, Statistic, Subjects, Window};
pub use figure::{Cell, ChartKind, ChartWish, ChoiceOption, Figure, Group, OpenChoice, Shape, Trend, VARIANT, Within};
pub use flow_names::FlowNames;
pub use flow_workloads::FlowWorkloads;
pub use load::{Disk, load, load_observed, load_str, load_with, unread};
pub use lower::settings::MOST_SAMPLES;
pub use metric::{Metric, Unit};
pub use paper::{Against, Best, Criterion, FigureNames, Matrix, OfFigures, OtherQuantity, Paper, Sentence, load_paper};
pub use plan::{
    Axis, CaptureFormat, CollectivePlan, Entry, Input, Plan, ProbeSettings, RequestPlan, RunSettings, Source, explain,
};
pub use problem::{Complaint, Errors};
pub use quantity::Quantity;
pub use reference::reference;
pub use schema::schema;
pub use source::{FileReader, NoFiles, Place, SourceKind, SourceText, Sources};
pub use stage::{Stage, StageObserver};

/// The format itself: all keys, for programs that write scenarios.
pub mod format {
    pub use super::key::{Condition, Default, Key, Kind, NONE, Section};
    pub use super::keys::paper::paper;
    pub use super::keys::root;
    pub use super::overrides::keys_of;
}

pub(crate) use check::Walker;
pub use key::near as near_name;
pub use pattern::{Pattern, Unmatched};

use fabric::graph::Graph;
use fabric::{BuildError, validate};
use lower::names::Names;
use problem::Problem;
use resolve::{Gathered, Scope};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{Bytes, EmpiricalCdf};

/// Size limits of a scenario. A scenario beyond them probably has a typing mistake and is refused before memory runs
/// out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of nodes.
    pub nodes: u64,
    /// Maximum number of cables.
    pub cables: u64,
    /// Maximum number of entries in all forwarding tables: hosts times switches.
    pub routes: u64,
    /// Maximum number of flows.
    pub flows: u64,
    /// Maximum estimated memory in bytes ([`crate::memory`]).
    pub memory: u64,
    /// Whether the scenario is run, not only examined: its flows then have a state.
    pub runs: bool,
}

impl Default for Limits {
    /// Returns the limits set by number ranges and available memory.
    fn default() -> Limits {
        Limits {
            nodes: 1 << 18,
            cables: 1 << 22,
            routes: 1 << 29,
            flows: 100_000_000,
            memory: crate::memory::limit(),
            runs: true,
        }
    }
}

/// A parsed scenario, from which plans for any seed are made.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) tree: tree::Table,
    pub(crate) sources: Sources,
    pub(crate) attachments: Attachments,
    pub(crate) limits: Limits,
    /// The selected variant.
    pub(crate) variant: Option<String>,
    /// Notified of the stages of setting up.
    pub(crate) observer: StageObserver,
    /// Problems found before interpretation.
    pub(crate) problems: Vec<Problem>,
}

/// Contents of files that a scenario names, by the position that names them.
#[derive(Debug, Default)]
pub(crate) struct Attachments {
    distributions: BTreeMap<Place, EmpiricalCdf>,
    /// Source texts of lists of flows.
    flows: BTreeMap<Place, u32>,
}

impl Attachments {
    /// Returns the distribution named at that position; if there is none, the loader has reported why.
    pub(crate) fn distribution(&self, place: Place) -> Option<EmpiricalCdf> {
        self.distributions.get(&place).cloned()
    }

    /// Returns the number of the source text with the flows named at that position; if there is none, the loader has
    /// reported why.
    pub(crate) fn flows(&self, place: Place) -> Option<u32> {
        self.flows.get(&place).copied()
    }
}

/// The network and the settings that workloads refer to.
pub(crate) struct Subject<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) hosts: &'a Names<'a>,
    pub(crate) classes: &'a Names<'a>,
    pub(crate) run: &'a RunSettings,
    pub(crate) overhead: Bytes,
}

impl Recipe {
    /// Creates the plan, with another seed if one is given.
    pub(crate) fn plan(self: &Arc<Recipe>, seed: Option<u64>) -> Result<Plan, Errors> {
        let mut gathered = Gathered {
            sources: &self.sources,
            problems: self.problems.clone(),
            entries: Vec::new(),
            by_rule: BTreeMap::new(),
        };
        let start = Place { source: 0, start: 0, end: 0 };
        let root = resolve::section(&mut gathered, keys::root(), &self.tree, start, "", &Scope::empty());
        let (plan, origins) = lower::plan(&mut gathered, &root, self, seed, &self.limits);
        if let (Some(plan), true) = (plan, gathered.problems.is_empty()) {
            self.observer.notify(Stage::Validation);
            let errors = validate(&plan.spec);
            if errors.is_empty() {
                return Ok(plan);
            }
            gathered.problems.extend(refusals(&plan, &origins, start, errors));
        }
        if gathered.problems.is_empty() {
            gathered.refuse(
                start,
                "the scenario makes no network",
                "this should have been explained; please report it",
            );
        }
        Err(Errors::new(self.sources.clone(), gathered.problems))
    }
}

/// Converts errors of the fabric to problems at the sections they concern.
fn refusals(plan: &Plan, origins: &lower::Origins, start: Place, errors: Vec<BuildError>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut told: BTreeMap<(u32, String), u32> = BTreeMap::new();
    let at = |places: &[Place], number: usize| places.get(number).copied().unwrap_or(start);
    for error in errors {
        problems.push(match error {
            BuildError::Switch { kind, reason } => Problem::new(at(&origins.switches, kind), reason, ""),
            BuildError::Adapter { kind, reason } => Problem::new(at(&origins.adapters, kind), reason, ""),
            BuildError::Flow { flow, reason } => {
                let workload = plan.workload_of_flow.get(flow).unwrap_or(0);
                let count = told.entry((workload, reason.clone())).or_insert(0);
                *count += 1;
                if *count > 1 {
                    continue;
                }
                let name = plan.flow_names.get(flow).unwrap_or(Cow::Borrowed("?"));
                Problem::new(at(&origins.workloads, workload as usize), format!("flow `{name}`: {reason}"), "")
            }
            BuildError::Graph(error) => Problem::new(start, error.to_string(), ""),
            BuildError::Network { reason } => Problem::new(start, reason, ""),
        });
    }
    problems
}
