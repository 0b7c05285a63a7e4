//! A campaign of single faults, as `tailback faults` records it.

use super::Document;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A campaign. Its runs are those of a sweep in the same directory, with a variant for each fault.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Faults {
    /// Name of the scenario.
    pub name: String,
    /// Seeds of every fault.
    pub seeds: Vec<u64>,
    /// The network without a fault.
    pub without: FaultEffect,
    /// The faults, the worst first.
    pub faults: Vec<RankedFault>,
}

/// A fault and its effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankedFault {
    /// Name of the fault, which is that of its variant.
    pub name: String,
    /// Kind of the fault.
    pub kind: String,
    /// Its effect.
    #[serde(flatten)]
    pub effect: FaultEffect,
}

/// Means over the seeds of what a fault does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FaultEffect {
    /// Number of runs with each outcome.
    pub outcomes: BTreeMap<String, usize>,
    /// Bytes delivered, as a part of those without a fault.
    pub delivered: Option<f64>,
    /// Part of the finite flows that completed; none if there are no finite flows.
    pub completed: Option<f64>,
    /// Mean completion time, as a multiple of that without a fault; of the workload with the largest. None if fewer flows
    /// complete than without the fault, because the times of the others are not known.
    pub completion: Option<f64>,
    /// 99th percentile of completion times, as a multiple of that without a fault; of the workload with the largest. None as
    /// above.
    pub p99_completion: Option<f64>,
    /// Time that flows lost to roots of blocking that they do not use, in seconds, of all flows together.
    pub victim_seconds: Option<f64>,
    /// Frames dropped because a buffer was full.
    pub dropped_frames: Option<f64>,
    /// Storms that PFC watchdogs detected; none without watchdogs.
    pub storms: Option<f64>,
    /// Frames that PFC watchdogs dropped; none without watchdogs.
    pub watchdog_frames: Option<f64>,
}

impl Document for Faults {
    const FORMAT: &'static str = "tailback faults";
    const VERSION: u64 = 1;
    const FILE: &'static str = "faults.json";
    const KEYS: &'static [&'static str] = &["without", "faults"];
    const ALWAYS_HASHED: bool = true;
}
