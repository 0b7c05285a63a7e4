//! What `routes`, `spb`, `dcbx` and `check` state about a network, as JSON.

use serde::{Deserialize, Serialize};

/// A survey of a network's routes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutesRecord {
    /// Ordered pairs of hosts on different switches.
    pub pairs: u64,
    /// Pairs without a path.
    pub unreached: u64,
    /// Links between switches.
    pub trunks: u32,
    /// Links between switches that some pair uses.
    pub trunks_used: u32,
    /// Directions of these links, per lane, that some pair uses.
    pub channels_used: u32,
    /// Hops between switches, averaged over pairs.
    pub mean_hops: f64,
    /// Hops between switches on shortest paths, averaged over pairs.
    pub mean_shortest: f64,
    /// Mean hops divided by the mean of the shortest paths.
    pub mean_stretch: f64,
    /// The largest ratio of a path to the shortest one.
    pub worst_stretch: f64,
    /// Hops between switches on the longest path.
    pub longest: u32,
    /// Pairs per channel, averaged over channels.
    pub pairs_per_channel: f64,
    /// Pairs on the busiest channel.
    pub most_pairs_per_channel: f64,
    /// Trees of a routing that has several.
    pub trees: u8,
    /// Lanes that the routing uses against deadlock.
    pub lanes: u8,
    /// Whether channels depend on each other in a cycle.
    pub can_deadlock: bool,
}

/// What the bridges of a network learn by IS-IS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpbRecord {
    /// Links between switches.
    pub trunks: u64,
    /// The start, and each time at which links fail or recover.
    pub steps: Vec<SpbStepRecord>,
    /// The trees that are built in the end.
    pub trees: Vec<SpbTreeRecord>,
}

/// What bridges learn after the start or after an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpbStepRecord {
    /// When, in seconds; absent for the start.
    pub at_s: Option<f64>,
    /// Links that are down, named by their ends.
    pub down: Vec<String>,
    /// Whether the bridges came to rest.
    pub settled: bool,
    /// Time until the last change of a table, in seconds.
    pub converged_s: f64,
    /// IS-IS frames sent.
    pub frames: u64,
    /// Adjacencies that are up, named by their ends.
    pub adjacencies: Vec<String>,
    /// Bridges whose tables differ from those computed from the whole network.
    pub tables_differ_at: Vec<String>,
}

/// How much of a network a tree uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpbTreeRecord {
    /// Links that the tree uses.
    pub cables: u64,
    /// Paths on the busiest direction of a link.
    pub busiest: u64,
}

/// What the DCBX agents of a network agree on at the start, and after each event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DcbxRecord {
    /// The start.
    #[serde(flatten)]
    pub first: Option<DcbxStepRecord>,
    /// What follows each event of the run.
    pub later: Vec<DcbxStepRecord>,
}

/// What agents agree on after the start or after an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DcbxStepRecord {
    /// When, in seconds; absent for the start.
    pub at_s: Option<f64>,
    /// What happened, in words.
    pub events: Vec<String>,
    /// Whether the agents came to rest.
    pub settled: bool,
    /// Time until the last change of a port's settings, in seconds.
    pub converged_s: f64,
    /// Time of the last change, in seconds since the step began.
    pub last_change_s: f64,
    /// LLDP frames sent.
    pub frames: u64,
    /// Ports that operate differently than before.
    pub ports_changed: u64,
    /// Every port.
    pub ports: Vec<DcbxPortRecord>,
}

/// What a port operates on, in a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DcbxPortRecord {
    /// Node of the port.
    pub node: String,
    /// Node at the other end.
    pub peer: String,
    /// Whether the node takes its settings from this port.
    pub source: bool,
    /// The settings.
    #[serde(flatten)]
    pub state: DcbxState,
}

/// Settings that a port operates on, and what does not fit its peer's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DcbxState {
    /// Priority-based flow control.
    pub pfc: DcbxPfc,
    /// Enhanced transmission selection.
    pub ets: DcbxEts,
    /// Application priorities.
    pub applications: DcbxApplications,
    /// Defence mode of congestion notification, per priority.
    pub congestion_notification: Vec<String>,
    /// Mismatches with the peer.
    pub findings: Vec<DcbxFinding>,
}

/// Priorities that PFC pauses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DcbxPfc {
    /// The priorities.
    pub priorities: Vec<u8>,
    /// Whose setting it is: `peer` or `local`.
    pub from: String,
}

/// Traffic classes and their shares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DcbxEts {
    /// Classes that have priorities.
    pub classes: Vec<DcbxClass>,
    /// Whose setting it is: `peer` or `local`.
    pub from: String,
}

/// A traffic class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DcbxClass {
    /// Number of the class.
    pub class: u8,
    /// Its priorities.
    pub priorities: Vec<u8>,
    /// Its share of the link in percent; absent for strict priority.
    pub share: Option<u8>,
}

/// The application priority table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DcbxApplications {
    /// The entries.
    pub table: Vec<DcbxApplication>,
    /// Whose setting it is: `peer` or `local`.
    pub from: String,
}

/// The priority of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DcbxApplication {
    /// What identifies it: `ether-type`, `tcp`, `udp`, `port` or `dscp`.
    pub kind: String,
    /// The number that identifies it.
    pub protocol: u16,
    /// Its priority.
    pub priority: u8,
}

/// A mismatch between a port and its peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DcbxFinding {
    /// Name of the mismatch.
    pub name: String,
    /// What is wrong, in words.
    pub message: String,
}

/// What `check` found in a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRecord {
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// The part of the scenario concerned.
    #[serde(rename = "where")]
    pub subject: String,
    /// What was found.
    pub message: String,
    /// What to do about it; empty if nothing is to be done.
    pub remedy: String,
}

/// What `check` found in configurations of switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigurationRecord {
    /// Kind of the finding.
    pub kind: String,
    /// The finding.
    #[serde(flatten)]
    pub finding: CheckRecord,
}
