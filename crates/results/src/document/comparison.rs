//! `compare.json` and `compare.partial.json`: a comparison of runs of one scenario, and one that is not complete.

use super::Document;
use serde::{Deserialize, Serialize};

/// A comparison: its runs, and the measurements of each workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the scenario.
    pub name: String,
    /// The key that differs.
    pub key: String,
    /// The runs, in the requested order.
    pub runs: Vec<ComparedRun>,
    /// One row per run and workload.
    pub rows: Vec<ComparisonRow>,
}

/// A compared run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedRun {
    /// Value of the key.
    pub value: String,
    /// Folder of its results, relative to that of the comparison.
    pub folder: String,
}

/// Measurements of a workload in one of the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// Value of the key.
    pub value: String,
    /// Name of the workload.
    pub workload: String,
    /// Outcome of the run.
    pub outcome: String,
    /// Mean throughput of the workload's flows, in bits per second.
    pub mean_bits_per_second: Option<f64>,
    /// Throughput of the slowest flow, in bits per second.
    pub least_bits_per_second: Option<f64>,
    /// Jain's fairness index of the throughputs.
    pub jain_index: Option<f64>,
    /// Mean completion time of the flows, in seconds.
    pub mean_completion_seconds: Option<f64>,
    /// Longest completion time of the flows, in seconds.
    #[serde(default)]
    pub slowest_completion_seconds: Option<f64>,
    /// Number of finite flows that completed.
    #[serde(default)]
    pub completed: usize,
    /// Number of finite flows.
    #[serde(default)]
    pub finite: usize,
    /// Largest mean of an output queue in the whole run after its warm-up, in bytes.
    #[serde(default)]
    pub mean_queue_bytes: Option<f64>,
    /// The link that this queue waits for, such as `sw0->h4`.
    #[serde(default)]
    pub fullest_queue: Option<String>,
    /// Maximum of all output queues in the whole run, in bytes.
    #[serde(default)]
    pub longest_queue_bytes: Option<u64>,
    /// Number of PAUSE frames in the whole run.
    pub pause_frames: u64,
    /// Largest fraction of the time after the warm-up that a port of the network was paused.
    #[serde(default)]
    pub paused: Option<f64>,
    /// Number of dropped frames in the whole run.
    pub dropped_frames: u64,
    /// Number of the workload's flows that are victims, from the causes of the run, if it recorded them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub victims: Option<usize>,
    /// The root to which all flows of the run lost most time, in words. None if causes were not recorded, or no time was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Time that all flows lost to that root, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_seconds: Option<f64>,
    /// Fingerprint of the run, in hexadecimal.
    pub fingerprint: String,
}

impl Document for Comparison {
    const FORMAT: &'static str = "tailback comparison";
    const VERSION: u64 = 1;
    const FILE: &'static str = "compare.json";
    const KEYS: &'static [&'static str] = &["name", "key", "runs", "rows"];
}

/// A comparison some of whose runs are finished.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnfinishedComparison {
    /// Hash of the scenario, its overrides and the compared values, which identifies the comparison.
    pub identity: String,
    /// Identification of the program that made the runs.
    pub program: String,
    /// The runs, in the requested order.
    pub runs: Vec<ComparedRun>,
    /// Those that are finished.
    pub finished: Vec<FinishedRun>,
}

/// A finished run of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishedRun {
    /// Value of the key.
    pub value: String,
    /// Outcome of the run.
    pub outcome: String,
    /// Fingerprint of the run, in hexadecimal.
    pub fingerprint: String,
    /// Measurements of its workloads.
    pub rows: Vec<ComparisonRow>,
}

impl Document for UnfinishedComparison {
    const FORMAT: &'static str = "tailback unfinished comparison";
    const VERSION: u64 = 1;
    const FILE: &'static str = "compare.partial.json";
    const KEYS: &'static [&'static str] = &["identity", "program", "runs", "finished"];
    const ALWAYS_HASHED: bool = true;
}
