//! `compare.json`: one scenario run several ways.

use super::Document;
use serde::{Deserialize, Serialize};

/// What was compared, and what was measured of each workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The name of the scenario.
    pub name: String,
    /// The key that differs.
    pub key: String,
    /// The runs, in the order in which they were asked for.
    pub runs: Vec<ComparedRun>,
    /// A row for each run and workload.
    pub rows: Vec<ComparisonRow>,
}

/// One of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedRun {
    /// The value of the key.
    pub value: String,
    /// The folder of its results, in that of the comparison.
    pub folder: String,
}

/// What was measured of a workload in one of the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// The value of the key.
    pub value: String,
    /// The workload.
    pub workload: String,
    /// How the run ended.
    pub outcome: String,
    /// Throughput of its flows on average, in bits per second.
    pub mean_bits_per_second: Option<f64>,
    /// Throughput of its slowest flow, in bits per second.
    pub least_bits_per_second: Option<f64>,
    /// Jain's index of the throughputs.
    pub jain_index: Option<f64>,
    /// Completion time of its flows on average, in seconds.
    pub mean_completion_seconds: Option<f64>,
    /// PAUSE frames of the whole run.
    pub pause_frames: u64,
    /// Dropped frames of the whole run.
    pub dropped_frames: u64,
    /// The fingerprint of the run, in hexadecimal.
    pub fingerprint: String,
}

impl Document for Comparison {
    const FORMAT: &'static str = "tailback comparison";
    const VERSION: u64 = 1;
    const FILE: &'static str = "compare.json";
    const KEYS: &'static [&'static str] = &["name", "key", "runs", "rows"];
}
