//! What is measured in a run, defined once: the summary, expectations, sweeps and papers all use these numbers.

use crate::scenario::{Expectation, Metric, Plan, Statistic};
use fabric::{FlowReport, Outcome, Report, Totals};
use theory::fairness::jain_index;
use units::{Span, Time};

/// Measurements of one run.
#[derive(Clone, Debug)]
pub struct Measures {
    /// Per flow: bits per second delivered, frame bytes without overhead, from the later of its start and the end of
    /// the warm-up to its completion, or, if it was stopped, to its last delivery, or to the end of the run. Not a
    /// number if that is no time.
    pub throughput: Vec<f64>,
    /// The same with preamble and gap counted for every frame: what the flow takes of its link.
    pub raw_throughput: Vec<f64>,
    /// Per flow: bytes delivered in the whole run.
    pub delivered: Vec<u64>,
    /// Per flow: seconds from its start to its last byte, if it is finite and completed.
    pub completion: Vec<Option<f64>>,
    /// Per node: the most bytes seen waiting for one of its outputs at a sampling instant.
    pub queue_peak: Vec<f64>,
    /// Sums of the run.
    pub totals: Totals,
    /// `finished`, `deadlock`, `loss`, `limit` or `interrupted`.
    pub outcome: &'static str,
}

/// The flows of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadSummary {
    /// Its name.
    pub name: String,
    /// How many flows it has.
    pub flows: usize,
    /// Mean, least and most throughput of a flow, in bits per second.
    pub throughput: Option<(f64, f64, f64)>,
    /// Jain's index of their throughputs.
    pub fairness: Option<f64>,
    /// How many of its finite flows completed, of how many.
    pub completed: (usize, usize),
    /// Mean completion time in seconds.
    pub completion: Option<f64>,
}

/// The word for an outcome.
pub(crate) fn outcome_word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Finished => "finished",
        Outcome::Deadlock(_) => "deadlock",
        Outcome::LossInLosslessClass(_) => "loss",
        Outcome::LimitReached(_) => "limit",
        Outcome::Interrupted => "interrupted",
    }
}

impl Measures {
    /// Measures a run from what its flows had received at the end of the warm-up and at the end.
    #[must_use]
    pub fn new(
        plan: &Plan,
        warm: &[FlowReport],
        end: &[FlowReport],
        now: Time,
        queue_peak: Vec<f64>,
        report: &Report,
    ) -> Measures {
        let warm_up = Time::ZERO + plan.run.warm_up;
        let mut throughput = Vec::with_capacity(end.len());
        let mut raw_throughput = Vec::with_capacity(end.len());
        let overhead = plan.spec.overhead.bits() as f64;
        let mut completion = Vec::with_capacity(end.len());
        for (number, (flow, report)) in plan.spec.flows.iter().zip(end).enumerate() {
            let from = flow.start.max(warm_up);
            let stopped = flow.stop.filter(|&stop| stop < now).map(|stop| stop.max(report.last_received));
            let until = report.completed.or(stopped).map_or(now, |until| until.min(now));
            let before = warm.get(number).map_or((0, 0), |report| (report.received_bytes, report.received_frames));
            let span = until.saturating_since(from);
            let bits = (report.received_bytes - before.0) as f64 * 8.0;
            let around = (report.received_frames - before.1) as f64 * overhead;
            let rate = |bits: f64| if span == Span::ZERO { f64::NAN } else { bits / span.as_secs_f64() };
            throughput.push(rate(bits));
            raw_throughput.push(rate(bits + around));
            completion.push(report.completed.map(|at| at.saturating_since(flow.start).as_secs_f64()));
        }
        let delivered = end.iter().map(|report| report.received_bytes).collect();
        let outcome = outcome_word(&report.outcome);
        Measures { throughput, raw_throughput, delivered, completion, queue_peak, totals: report.totals, outcome }
    }

    /// One line per workload.
    #[must_use]
    pub fn workloads(&self, plan: &Plan) -> Vec<WorkloadSummary> {
        let mut lines = Vec::new();
        for (workload, name) in (0..).zip(&plan.workload_names) {
            let flows: Vec<usize> =
                (0..plan.spec.flows.len()).filter(|&flow| plan.workload_of_flow[flow] == workload).collect();
            let rates: Vec<f64> =
                flows.iter().map(|&flow| self.throughput[flow]).filter(|rate| !rate.is_nan()).collect();
            let finite = flows.iter().filter(|&&flow| plan.spec.flows[flow].size.is_some()).count();
            let times: Vec<f64> = flows.iter().filter_map(|&flow| self.completion[flow]).collect();
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
            let most = rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            lines.push(WorkloadSummary {
                name: name.clone(),
                flows: flows.len(),
                throughput: (!rates.is_empty()).then(|| (mean(&rates), least, most)),
                fairness: jain_index(&rates),
                completed: (times.len(), finite),
                completion: (!times.is_empty()).then(|| mean(&times)),
            });
        }
        lines
    }
}

/// The number an expectation speaks of, as measured; `None` if there is none, as for an outcome or a flow that never
/// completed.
#[must_use]
pub fn measured(expectation: &Expectation, measures: &Measures) -> Option<f64> {
    let of_flows = |value: &dyn Fn(usize) -> Option<f64>| -> Vec<f64> {
        expectation.flows.iter().filter_map(|&flow| value(flow as usize)).filter(|value| !value.is_nan()).collect()
    };
    let totals = &measures.totals;
    let values = match expectation.metric {
        Metric::Throughput => of_flows(&|flow| Some(measures.throughput[flow])),
        Metric::RawThroughput => of_flows(&|flow| Some(measures.raw_throughput[flow])),
        Metric::Delivered => of_flows(&|flow| Some(measures.delivered[flow] as f64)),
        Metric::CompletionTime => of_flows(&|flow| measures.completion[flow]),
        Metric::Fairness => return jain_index(&of_flows(&|flow| Some(measures.throughput[flow]))),
        Metric::DroppedFrames => vec![totals.dropped_frames as f64],
        Metric::LostFrames => vec![totals.lost_frames as f64],
        Metric::PauseFrames => vec![totals.pause_frames as f64],
        Metric::Queue => {
            return expectation.nodes.iter().map(|&node| measures.queue_peak[node as usize]).reduce(f64::max);
        }
        Metric::Outcome => return None,
    };
    if values.is_empty() {
        return None;
    }
    Some(match expectation.statistic {
        Statistic::Mean => values.iter().sum::<f64>() / values.len() as f64,
        Statistic::Least => values.iter().copied().fold(f64::INFINITY, f64::min),
        Statistic::Most => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Statistic::Sum => values.iter().sum(),
    })
}
