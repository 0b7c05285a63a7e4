//! Summary of a run, as printed by `run --json`.

use super::JudgementRecord;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Summary of a run. The manifest of its results contains more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Name of the scenario.
    pub name: String,
    /// Seed of the run.
    pub seed: u64,
    /// Outcome, in one word.
    pub outcome: String,
    /// Outcome, in a sentence.
    pub outcome_text: String,
    /// Details of the deadlock, stall, loss or limit that ended the run.
    pub outcome_details: Value,
    /// Simulated time in seconds.
    pub simulated_seconds: f64,
    /// Wall time in seconds.
    pub wall_seconds: f64,
    /// Number of hops: frames that crossed a link, counted once per link.
    pub packet_hops: u64,
    /// Fingerprint, in hexadecimal.
    pub fingerprint: String,
    /// Bytes delivered.
    pub delivered_bytes: u64,
    /// Frames dropped because a buffer was full.
    pub dropped_frames: u64,
    /// Frames lost by faults of links: bit errors, failures and lost pauses.
    pub lost_frames: u64,
    /// Those of them that found no room because a link lost the pause for their sender.
    #[serde(default)]
    pub pause_lost_frames: u64,
    /// Frames whose payload a switch removed.
    #[serde(default)]
    pub trimmed_frames: u64,
    /// Frames that PFC watchdogs dropped, or sent in spite of a pause to a full buffer.
    #[serde(default)]
    pub watchdog_frames: u64,
    /// Storms of pauses that PFC watchdogs detected.
    #[serde(default)]
    pub storms: u64,
    /// Storms that ended, after which the queue was restored.
    #[serde(default)]
    pub restored_storms: u64,
    /// Acknowledgements, headers and other control frames that were dropped or lost.
    #[serde(default)]
    pub lost_control_frames: u64,
    /// Those of them that were acknowledgements.
    #[serde(default)]
    pub lost_acknowledgements: u64,
    /// Number of PAUSE and PFC frames.
    pub pause_frames: u64,
    /// What loss recovery did.
    #[serde(default)]
    pub recovery: RecoveryRecord,
    /// The workloads.
    pub workloads: Vec<WorkloadRecord>,
    /// The workloads that are collective operations.
    pub collectives: Vec<CollectiveRecord>,
    /// The workloads of requests and responses.
    #[serde(default)]
    pub requests: Vec<RequestRecord>,
    /// Slowdowns by flow size, in at most ten bins with about the same number of flows; empty if all sizes are equal.
    #[serde(default)]
    pub slowdown_by_size: Vec<SizeBinRecord>,
    /// The scenario's expectations and their verdicts.
    pub expectations: Vec<JudgementRecord>,
    /// Path of the results directory, if the run was recorded.
    pub results: Option<String>,
}

/// A workload of collective operations. Times and bandwidths are about the iterations that completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectiveRecord {
    /// Name of the workload.
    pub name: String,
    /// Operation, such as all-reduce.
    pub operation: String,
    /// Algorithm, such as ring.
    pub algorithm: String,
    /// Ranks of a group.
    pub ranks: u32,
    /// Data in bytes, as nccl-tests counts it.
    pub size_bytes: u64,
    /// Number of iterations, of all groups together.
    pub iterations: usize,
    /// Number of iterations that completed.
    pub completed: usize,
    /// Mean time of an iteration in seconds.
    pub mean_seconds: Option<f64>,
    /// Longest time of an iteration in seconds.
    pub longest_seconds: Option<f64>,
    /// Mean algorithm bandwidth.
    pub algorithm_bandwidth_bits_per_second: Option<f64>,
    /// Mean bus bandwidth.
    pub bus_bandwidth_bits_per_second: Option<f64>,
    /// Bus bandwidth that the links allow.
    pub bound_bits_per_second: Option<f64>,
    /// Rank at which the last byte of the longest iteration arrived.
    pub last_rank: Option<u32>,
    /// Host of that rank.
    pub last_host: Option<String>,
}

/// A workload of requests and responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// Name of the workload.
    pub name: String,
    /// Number of requests.
    pub requests: usize,
    /// Number of those that were answered.
    pub answered: usize,
    /// Answered requests per second, from the start of the first one to the end of the last answer.
    pub requests_per_second: Option<f64>,
    /// Times from the start of a request to the last byte of its last response, of those that were answered.
    pub request_seconds: Option<PercentilesRecord>,
}

/// A workload of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadRecord {
    /// Name of the workload.
    pub name: String,
    /// Number of flows.
    pub flows: usize,
    /// Throughput of the flows.
    pub throughput_bits_per_second: Option<ThroughputRecord>,
    /// Jain's fairness index of the throughputs.
    pub jain_index: Option<f64>,
    /// Number of finite flows that completed.
    pub completed: usize,
    /// Number of finite flows.
    pub finite: usize,
    /// Number of finite flows that cannot complete, because a lost frame is not retransmitted.
    pub never_complete: usize,
    /// Number of flows that never started, because they wait for others.
    pub waiting: usize,
    /// Mean goodput of the flows in bits per second: each byte counted once.
    #[serde(default)]
    pub goodput_bits_per_second: Option<f64>,
    /// What the loss recovery of its flows did.
    #[serde(default)]
    pub recovery: RecoveryRecord,
    /// Mean completion time in seconds.
    pub mean_completion_seconds: Option<f64>,
    /// Mean time in seconds until the source of a flow knew that it was complete, for flows with recovery.
    #[serde(default)]
    pub mean_source_completion_seconds: Option<f64>,
    /// Completion times in seconds.
    #[serde(default)]
    pub completion_seconds: Option<PercentilesRecord>,
    /// Slowdowns of the completed flows.
    #[serde(default)]
    pub slowdown: Option<PercentilesRecord>,
}

/// Counters of loss recovery; all are zero without one, except frames out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryRecord {
    /// Frames retransmitted, each time.
    pub retransmitted_frames: u64,
    /// Retransmission timers that expired.
    pub timeouts: u64,
    /// Negative acknowledgements.
    pub naks: u64,
    /// Frames that arrived again and were discarded.
    pub duplicate_frames: u64,
    /// Frames that arrived before a missing one and were discarded.
    pub rejected_frames: u64,
    /// Frames that arrived before an earlier one.
    pub out_of_order_frames: u64,
}

/// Completed flows of similar size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeBinRecord {
    /// Size of the smallest of them in bytes.
    pub least_bytes: u64,
    /// Size of the largest of them in bytes.
    pub most_bytes: u64,
    /// Number of flows.
    pub flows: usize,
    /// Their slowdowns.
    pub slowdown: PercentilesRecord,
}

/// Mean and percentiles of several values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PercentilesRecord {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    #[serde(default)]
    pub p999: f64,
    /// Maximum.
    #[serde(default)]
    pub most: f64,
}

/// Throughput of several flows, in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThroughputRecord {
    /// Mean.
    pub mean: f64,
    /// Minimum.
    pub least: f64,
    /// Maximum.
    pub most: f64,
}
