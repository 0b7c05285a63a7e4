//! A run in short, as `run --json` prints it.

use super::Judgement;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A run in short. The manifest of its results has more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The name of the scenario.
    pub name: String,
    /// Its seed.
    pub seed: u64,
    /// How it ended, in a word.
    pub outcome: String,
    /// How it ended, in a sentence.
    pub outcome_text: String,
    /// The deadlock, stall, loss or limit that ended it.
    pub outcome_details: Value,
    /// Simulated time, in seconds.
    pub simulated_seconds: f64,
    /// Time on the clock, in seconds.
    pub wall_seconds: f64,
    /// Frames that crossed a link, each counted once per link.
    pub packet_hops: u64,
    /// The fingerprint, in hexadecimal.
    pub fingerprint: String,
    /// Bytes delivered.
    pub delivered_bytes: u64,
    /// Frames dropped for want of room.
    pub dropped_frames: u64,
    /// Frames lost on failing links.
    pub lost_frames: u64,
    /// PAUSE and PFC frames.
    pub pause_frames: u64,
    /// The workloads.
    pub workloads: Vec<WorkloadRecord>,
    /// What the scenario expects, and the verdicts.
    pub expectations: Vec<Judgement>,
    /// The results directory, if the run was recorded.
    pub results: Option<String>,
}

/// A workload of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadRecord {
    /// Its name.
    pub name: String,
    /// How many flows it has.
    pub flows: usize,
    /// Throughput of its flows.
    pub throughput_bits_per_second: Option<ThroughputRecord>,
    /// Jain's index of the throughputs.
    pub jain_index: Option<f64>,
    /// How many of its finite flows completed.
    pub completed: usize,
    /// How many of its flows are finite.
    pub finite: usize,
    /// How many of these cannot complete: a frame of theirs was lost and is not sent again.
    pub never_complete: usize,
    /// Mean completion time, in seconds.
    pub mean_completion_seconds: Option<f64>,
}

/// Throughput of several flows, in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThroughputRecord {
    /// On average.
    pub mean: f64,
    /// Of the slowest.
    pub least: f64,
    /// Of the fastest.
    pub most: f64,
}
