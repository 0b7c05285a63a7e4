//! Conversion of judgements and summaries to documents.

use super::verdict::Judgement;
use crate::measure::collectives::CollectiveSummary;
use crate::measure::measures::WorkloadSummary;
use crate::measure::percentiles::{Percentiles, SizeBin, slowdown_by_size};
use crate::measure::recovery::RecoveryCounts;
use crate::measure::requests::RequestSummary;
use crate::measure::statistics::Summary;
use crate::run::execute::Execution;
use results::OutcomeRecord;
use results::document::{
    self, CollectiveRecord, PercentilesRecord, RecoveryRecord, RequestRecord, RunRecord, SizeBinRecord, Spread,
    SpreadWithInterval, ThroughputRecord, WorkloadRecord,
};
use scenario::{Comparison, Expectation, Expected, Plan};
use std::collections::BTreeMap;

/// Returns the symbol of a comparison.
#[must_use]
pub const fn symbol(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::Below => "<",
        Comparison::AtMost => "<=",
        Comparison::Above => ">",
        Comparison::AtLeast => ">=",
    }
}

impl From<&Summary> for Spread {
    fn from(s: &Summary) -> Spread {
        Spread { runs: s.count, mean: s.mean, median: s.median, p10: s.p10, p90: s.p90 }
    }
}

impl From<&Summary> for SpreadWithInterval {
    fn from(s: &Summary) -> SpreadWithInterval {
        SpreadWithInterval {
            spread: s.into(),
            half_width_95: s.half_width.is_finite().then_some(s.half_width),
            low_95: s.interval.map(|interval| interval.low),
            high_95: s.interval.map(|interval| interval.high),
        }
    }
}

/// Converts a judgement to its document.
#[must_use]
pub fn judgement_record(judgement: &Judgement) -> document::JudgementRecord {
    let Expectation { name, expected, comparison, tolerance, source, .. } = &judgement.expectation;
    document::JudgementRecord {
        name: name.clone(),
        comparison: expected.as_ref().map(|_| symbol(*comparison).to_owned()),
        expected: expected.as_ref().map(ToString::to_string),
        expected_value: expected.as_ref().and_then(Expected::as_number),
        tolerance: Some(*tolerance),
        unit: judgement.expectation.unit().word().to_owned(),
        measured: judgement.summary.as_ref().map(Spread::from),
        outcomes: judgement.outcomes.clone(),
        verdict: judgement.verdict.word().to_owned(),
        source: source.clone(),
    }
}

fn percentiles(Percentiles { mean, p50, p95, p99, p999, most }: Percentiles) -> PercentilesRecord {
    PercentilesRecord { mean, p50, p95, p99, p999, most }
}

fn size_bin(SizeBin { sizes: (least_bytes, most_bytes), flows, slowdown }: SizeBin) -> SizeBinRecord {
    SizeBinRecord { least_bytes, most_bytes, flows, slowdown: percentiles(slowdown) }
}

fn recovery(counts: RecoveryCounts) -> RecoveryRecord {
    RecoveryRecord {
        retransmitted_frames: counts.retransmitted,
        timeouts: counts.timeouts,
        naks: counts.naks,
        duplicate_frames: counts.duplicates,
        rejected_frames: counts.rejected,
        out_of_order_frames: counts.out_of_order,
    }
}

/// Returns the summary of a run.
#[must_use]
pub fn run_record(plan: &Plan, execution: &Execution, judgements: &[Judgement]) -> RunRecord {
    let report = &execution.report;
    let outcome = OutcomeRecord::from(&report.outcome);
    let workload = |line: WorkloadSummary| WorkloadRecord {
        name: line.name,
        flows: line.flows,
        throughput_bits_per_second: line.throughput.map(|(mean, least, most)| ThroughputRecord { mean, least, most }),
        jain_index: line.fairness,
        completed: line.completed.0,
        finite: line.completed.1,
        never_complete: line.never,
        waiting: line.waiting,
        goodput_bits_per_second: line.goodput,
        recovery: recovery(line.recovery),
        mean_completion_seconds: line.completion.map(|times| times.mean),
        mean_source_completion_seconds: line.source_completion.map(|times| times.mean),
        completion_seconds: line.completion.map(percentiles),
        slowdown: line.slowdown.map(percentiles),
    };
    let collective = |line: CollectiveSummary| {
        let (last_rank, last_host) = line.slowest.and_then(|round| round.last).unzip();
        CollectiveRecord {
            name: line.name,
            operation: line.operation.into(),
            algorithm: line.algorithm.into(),
            ranks: line.ranks,
            size_bytes: line.size,
            iterations: line.rounds,
            completed: line.complete,
            mean_seconds: line.time,
            longest_seconds: line.longest,
            algorithm_bandwidth_bits_per_second: line.algorithm_bandwidth,
            bus_bandwidth_bits_per_second: line.bus_bandwidth,
            bound_bits_per_second: line.bound,
            last_rank,
            last_host,
        }
    };
    let request = |line: RequestSummary| RequestRecord {
        name: line.name,
        requests: line.requests,
        answered: line.answered,
        requests_per_second: line.per_second,
        request_seconds: line.time.map(percentiles),
    };
    RunRecord {
        name: plan.name.clone(),
        seed: plan.run.seed,
        outcome: outcome.kind,
        outcome_text: outcome.text,
        outcome_details: outcome.details,
        simulated_seconds: report.now.as_secs_f64(),
        wall_seconds: execution.wall.as_secs_f64(),
        packet_hops: report.totals.hops,
        fingerprint: results::hex(report.fingerprint),
        delivered_bytes: report.totals.delivered_bytes,
        dropped_frames: report.totals.dropped_frames,
        lost_frames: report.totals.lost_frames,
        pause_lost_frames: report.totals.pause_lost_frames,
        trimmed_frames: report.totals.trimmed_frames,
        watchdog_frames: report.totals.watchdog_frames,
        storms: report.totals.storms,
        restored_storms: report.totals.restored_storms,
        lost_control_frames: report.totals.lost_control,
        lost_acknowledgements: report.totals.lost_acknowledgements,
        pause_frames: report.totals.pause_frames,
        recovery: recovery(RecoveryCounts::from(&report.totals)),
        workloads: execution.measures.workloads(plan).into_iter().map(workload).collect(),
        collectives: execution.measures.collective_summaries(plan).into_iter().map(collective).collect(),
        requests: execution.measures.request_summaries(plan).into_iter().map(request).collect(),
        slowdown_by_size: slowdown_by_size(plan, &execution.measures).into_iter().map(size_bin).collect(),
        expectations: judgements.iter().map(judgement_record).collect(),
        results: execution.recorded.as_ref().map(|out| out.to_string_lossy().into_owned()),
    }
}

/// Returns the units of a plan's quantities, by name.
pub(crate) fn units_of(plan: &Plan) -> BTreeMap<String, String> {
    let units = plan.expectations.iter().map(|expectation| expectation.unit().word().to_owned());
    crate::grid::points::quantity_keys(&plan.expectations).into_iter().zip(units).collect()
}
