//! Measurements of a run, defined once and used by the summary, expectations, sweeps and papers.

use super::causes::{Cause, FlowCauses, Marking};
use super::collectives::{CollectiveRound, rounds};
use super::flow_measures::{MeasuredFlows, Rates};
use super::percentiles::Percentiles;
use super::recovery::RecoveryCounts;
use super::requests::{RequestTime, requests};
use super::waiting::Unstarted;
use super::watch::{Slot, Watch};
use fabric::{FlowSummaries, FlowSummary, Outcome, RunSummary, Totals};
use scenario::{Expectation, FairPhase, Metric, Plan, Statistic, Window, flow_paths};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use theory::fairness::{distance, jain_index, jain_index_against, jain_index_of_sums};
use units::{Span, Time};

/// Measurements of one run.
#[derive(Clone, Debug)]
pub struct Measures {
    /// Measurements of each flow.
    pub flows: MeasuredFlows,
    /// Flows that waited for others until the end.
    pub unstarted: Unstarted,
    /// Iterations of collective operations.
    pub collectives: Vec<CollectiveRound>,
    /// Requests of workloads of requests and responses.
    pub requests: Vec<RequestTime>,
    /// Value of each expectation of the plan; `None` if there is none, as for an outcome or a flow that never
    /// completed.
    pub values: Vec<Option<f64>>,
    /// Totals of the run.
    pub totals: Totals,
    /// `finished`, `deadlock`, `loss`, `limit` or `interrupted`.
    pub outcome: &'static str,
}

/// Summary of the flows of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadSummary {
    /// Name of the workload.
    pub name: String,
    /// Number of flows.
    pub flows: usize,
    /// Mean, minimum and maximum throughput of a flow, in bits per second.
    pub throughput: Option<(f64, f64, f64)>,
    /// Mean goodput of a flow, in bits per second: what was consumed, each byte once.
    pub goodput: Option<f64>,
    /// Jain's fairness index of the throughputs.
    pub fairness: Option<f64>,
    /// Number of completed finite flows, and number of finite flows.
    pub completed: (usize, usize),
    /// Number of finite flows that can never complete, because a lost frame is not retransmitted.
    pub never: usize,
    /// Number of flows that never started, because they wait for others.
    pub waiting: usize,
    /// What the loss recovery of the flows did.
    pub recovery: RecoveryCounts,
    /// Completion times in seconds.
    pub completion: Option<Percentiles>,
    /// Times in seconds until the source of a flow with recovery knew that it was complete.
    pub source_completion: Option<Percentiles>,
    /// Slowdowns of the flows.
    pub slowdown: Option<Percentiles>,
}

/// Returns the name of an outcome.
#[must_use]
pub fn outcome_word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Finished => "finished",
        Outcome::Deadlock(_) => "deadlock",
        Outcome::Stalled(_) => "stalled",
        Outcome::Livelock(_) => "livelock",
        Outcome::LossInLosslessClass(_) => "loss",
        Outcome::LimitReached(_) => "limit",
        Outcome::Interrupted => "interrupted",
    }
}

/// State of a run at one instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// The instant.
    pub(crate) at: Time,
    /// State of each flow; empty at the start.
    pub(crate) flows: FlowSummaries,
    /// Totals so far.
    pub(crate) totals: Totals,
    /// How long the wires of ports named in expectations were in use, and how long they were idle for lack of credits.
    pub(crate) wires: BTreeMap<u32, (Span, Span)>,
}

units::encoded!(struct Snapshot { at, flows, totals, wires });

impl Snapshot {
    pub(crate) fn flow(&self, flow: usize) -> FlowSummary {
        self.flows.get(flow).unwrap_or_default()
    }
}

/// A run to be measured.
pub(crate) struct Course<'a> {
    pub(crate) plan: &'a Plan,
    /// Summary of the run.
    pub(crate) report: &'a RunSummary,
    /// State at the start: nothing has happened.
    pub(crate) start: Arc<Snapshot>,
    /// States at the instants of [`boundaries`] that the run reached, in order.
    pub(crate) marks: Vec<Arc<Snapshot>>,
    /// State at the end.
    pub(crate) end: Arc<Snapshot>,
    /// State of each stopped flow at its stop.
    pub(crate) stopped: BTreeMap<u32, FlowSummary>,
    /// Fair shares, if an expectation refers to them and they are defined.
    pub(crate) fair: Vec<FairPhase>,
    /// Causes of the time of every flow that has started, in order of flows, if an expectation refers to them.
    pub(crate) causes: &'a [FlowCauses],
}

/// Returns the instants at which windows begin or end, in order, without the start and the end of the run.
pub(crate) fn boundaries(plan: &Plan) -> Vec<Time> {
    let windows = plan.expectations.iter().map(|expectation| expectation.window);
    let all = windows.flat_map(|window| [window.from, window.until]).chain([plan.run.warm_up]);
    let inner: BTreeSet<Span> = all.filter(|&at| at > Span::ZERO && at < plan.run.duration).collect();
    inner.into_iter().map(|at| Time::ZERO + at).collect()
}

/// Returns the instants of [`boundaries`] and those at which flows are stopped; later arrivals do not count in a flow's
/// throughput.
pub(crate) fn instants(plan: &Plan) -> Vec<Time> {
    let end = Time::ZERO + plan.run.duration;
    let stops = plan.spec.flows.iter().filter_map(|flow| flow.stop).filter(|&stop| stop < end);
    let all: BTreeSet<Time> = boundaries(plan).into_iter().chain(stops).collect();
    all.into_iter().collect()
}

impl Course<'_> {
    /// Returns the simulated time reached: the full duration if the run finished, even if nothing happened at the end.
    pub(crate) fn reached(&self) -> Time {
        match self.report.outcome {
            Outcome::Finished | Outcome::Stalled(_) | Outcome::Livelock(_) => Time::ZERO + self.plan.run.duration,
            _ => self.report.now,
        }
    }

    /// Returns the part of a window that the run reached, with the states at its ends; `None` if it is empty.
    fn lived(&self, window: Window) -> Option<(Slot, &Arc<Snapshot>, &Arc<Snapshot>)> {
        let slot = Slot::from(window);
        let at = |instant: Time| match instant {
            Time::ZERO => &self.start,
            // After the last thing that happened, all stays as it is.
            _ => self.marks.iter().find(|mark| mark.at == instant).unwrap_or(&self.end),
        };
        let lived = Slot { until: slot.until.min(self.reached()), ..slot };
        (lived.length() > Span::ZERO).then(|| (lived, at(slot.from), at(slot.until)))
    }

    /// Returns the throughput of a flow in a window in bits per second, without and with preamble and gap. NaN if the
    /// interval is empty. Frames that the destination discarded count until the flow is over.
    fn throughput(&self, window: Window, flow: usize) -> (f64, f64) {
        let Rates { arrived, on_wire, .. } = self.rates(window, flow);
        (arrived, on_wire)
    }

    fn rates(&self, window: Window, flow: usize) -> Rates {
        let Some((slot, before, after)) = self.lived(window) else { return Rates::NONE };
        let (spec, stopped) = (&self.plan.spec.flows[flow], self.stopped.get(&(flow as u32)));
        Rates::new(spec, self.plan.spec.overhead, slot, &before.flow(flow), after.flow(flow), stopped)
    }

    /// Returns the max-min fair share of a flow in a window, while the flow was active. NaN if the interval is empty or
    /// fair shares are undefined.
    fn fair(&self, window: Window, flow: u32) -> f64 {
        let spec = &self.plan.spec.flows[flow as usize];
        let Some((slot, _, _)) = self.lived(window) else { return f64::NAN };
        let over = self.end.flow(flow as usize).ended.into_iter().chain(spec.stop);
        let slot = Slot { from: slot.from.max(spec.start), until: over.fold(slot.until, Time::min) };
        fair_share(&self.fair, slot, flow)
    }

    /// Returns the time of a flow in seconds by its cause. NaN if it has not started.
    fn by_cause(&self, flow: u32, metric: Metric) -> f64 {
        let Ok(place) = self.causes.binary_search_by_key(&flow, |causes| causes.flow) else { return f64::NAN };
        self.causes[place].seconds(|key, on_path| match metric {
            Metric::BlockedTime => key.cause.root().is_some(),
            Metric::VictimTime => key.cause.root().is_some() && !on_path,
            Metric::ContentionTime => key.cause == Cause::Contention,
            Metric::LimitedTime => matches!(key.cause, Cause::Rate | Cause::Window),
            Metric::RepairTime => matches!(key.cause, Cause::Retransmission | Cause::Recovery | Cause::Delivery),
            _ => !matches!(key.cause, Cause::Path | Cause::Application),
        })
    }

    /// Returns the throughputs and the fair shares of flows in bits per second, without inactive flows.
    fn against_fair(&self, window: Window, flows: &[u32]) -> (Vec<f64>, Vec<f64>) {
        let both = |&flow: &u32| (self.throughput(window, flow as usize).0, self.fair(window, flow));
        flows.iter().map(both).filter(|(has, fair)| !has.is_nan() && !fair.is_nan()).unzip()
    }

    /// Returns the value of an expectation. `seen` contains the values accumulated for it during the run.
    fn value(
        &self,
        expectation: &Expectation,
        seen: &BTreeMap<u32, f64>,
        collectives: &[CollectiveRound],
        requests: &[RequestTime],
    ) -> Option<f64> {
        let window = expectation.window;
        let subjects = &expectation.subjects;
        let count = |of: fn(&Totals) -> u64| {
            self.lived(window).map(|(_, before, after)| (of(&after.totals) - of(&before.totals)) as f64)
        };
        // What a flow has more of at the end of the window than at its beginning.
        let flow_count = |flow: usize, of: fn(&FlowSummary) -> u64| {
            let grown = |(_, before, after): (Slot, &Arc<Snapshot>, &Arc<Snapshot>)| {
                (of(&after.flow(flow)) - of(&before.flow(flow))) as f64
            };
            self.lived(window).map_or(f64::NAN, grown)
        };
        let of_flow = |&number: &u32| {
            let flow = number as usize;
            match expectation.metric {
                Metric::Throughput | Metric::Fairness => self.throughput(window, flow).0,
                Metric::RawThroughput => self.throughput(window, flow).1,
                Metric::Goodput => self.rates(window, flow).consumed,
                Metric::RetransmittedFrames => flow_count(flow, |report| report.retransmitted_frames),
                Metric::Timeouts => flow_count(flow, |report| report.timeouts),
                Metric::OutOfOrderFrames => flow_count(flow, |report| report.out_of_order_frames),
                Metric::DuplicateFrames => flow_count(flow, |report| report.duplicate_frames),
                Metric::RejectedFrames => flow_count(flow, |report| report.rejected_frames),
                Metric::Naks => flow_count(flow, |report| report.negative_acknowledgements),
                Metric::FairRate => self.fair(window, number),
                Metric::FairShare => self.throughput(window, flow).0 / self.fair(window, number),
                Metric::Delivered => flow_count(flow, |report| report.received_bytes),
                Metric::MarkedFrames => flow_count(flow, |report| report.marked_frames),
                Metric::MarkedShare => {
                    let marked = flow_count(flow, |report| report.marked_frames);
                    marked / flow_count(flow, |report| report.received_frames)
                }
                Metric::Notices => flow_count(flow, |report| report.notices),
                Metric::CompletionTime => completion(self.plan, &self.end, flow).unwrap_or(f64::NAN),
                Metric::SourceCompletionTime => source_completion(self.plan, &self.end, flow).unwrap_or(f64::NAN),
                Metric::Slowdown => slowdown(self.plan, &self.end, flow).unwrap_or(f64::NAN),
                metric if metric.is_about_causes() => self.by_cause(number, metric),
                Metric::LimitShare => self.throughput(window, flow).1 / seen.get(&number).copied().unwrap_or(f64::NAN),
                _ => seen.get(&number).copied().unwrap_or(f64::NAN),
            }
        };
        match expectation.metric {
            Metric::Throughput
            | Metric::RawThroughput
            | Metric::Goodput
            | Metric::RetransmittedFrames
            | Metric::Timeouts
            | Metric::OutOfOrderFrames
            | Metric::DuplicateFrames
            | Metric::RejectedFrames
            | Metric::Naks
            | Metric::FairRate
            | Metric::FairShare
            | Metric::Delivered
            | Metric::CompletionTime
            | Metric::SourceCompletionTime
            | Metric::Slowdown
            | Metric::LostTime
            | Metric::BlockedTime
            | Metric::VictimTime
            | Metric::ContentionTime
            | Metric::LimitedTime
            | Metric::RepairTime
            | Metric::MarkedFrames
            | Metric::MarkedShare
            | Metric::Notices
            | Metric::RateLimit
            | Metric::LimitShare
            | Metric::Occupancy
            | Metric::SettlingTime => {
                let value = |flows: &[u32]| expectation.statistic.of(flows.iter().map(of_flow));
                match &subjects.over {
                    None => value(&subjects.flows),
                    Some(over) => Some(value(&subjects.flows)? / value(over)?).filter(|ratio| ratio.is_finite()),
                }
            }
            Metric::CompletedShare => {
                let finite = |flow: &&u32| self.plan.spec.flows[**flow as usize].size.is_some();
                let finite: Vec<&u32> = subjects.flows.iter().filter(finite).collect();
                let done = finite.iter().filter(|&&&flow| self.end.flow(flow as usize).completed.is_some()).count();
                Some(done as f64 / finite.len() as f64).filter(|share| share.is_finite())
            }
            Metric::CollectiveTime
            | Metric::AlgorithmBandwidth
            | Metric::BusBandwidth
            | Metric::CollectiveEfficiency => {
                let of_round = |round: &CollectiveRound| {
                    let value = match expectation.metric {
                        Metric::CollectiveTime => round.time().map(Span::as_secs_f64),
                        Metric::AlgorithmBandwidth => round.algorithm_bandwidth(),
                        Metric::BusBandwidth => round.bus_bandwidth(),
                        _ => round.efficiency(),
                    };
                    value.unwrap_or(f64::NAN)
                };
                let first = |round: &CollectiveRound| {
                    self.plan.collectives[round.collective].flows(round.group, round.iteration).start as u32
                };
                let value = |flows: &[u32]| {
                    let chosen = collectives.iter().filter(|round| flows.binary_search(&first(round)).is_ok());
                    expectation.statistic.of(chosen.map(of_round))
                };
                match &subjects.over {
                    None => value(&subjects.flows),
                    Some(over) => Some(value(&subjects.flows)? / value(over)?).filter(|ratio| ratio.is_finite()),
                }
            }
            Metric::RequestTime => {
                let of_request = |request: &RequestTime| request.time().map_or(f64::NAN, Span::as_secs_f64);
                let value = |flows: &[u32]| {
                    let chosen = requests.iter().filter(|request| flows.binary_search(&request.first_flow).is_ok());
                    expectation.statistic.of(chosen.map(of_request))
                };
                match &subjects.over {
                    None => value(&subjects.flows),
                    Some(over) => Some(value(&subjects.flows)? / value(over)?).filter(|ratio| ratio.is_finite()),
                }
            }
            Metric::CompletionVariation => variation_by_size(self.plan, &self.end, &subjects.flows),
            Metric::Fairness => {
                let rates: Vec<f64> = subjects.flows.iter().map(of_flow).filter(|rate| !rate.is_nan()).collect();
                jain_index(&rates)
            }
            Metric::FairTotal => {
                let (has, fair) = self.against_fair(window, &subjects.flows);
                Some(has.iter().sum::<f64>() / fair.iter().sum::<f64>()).filter(|part| part.is_finite())
            }
            Metric::FairUse => {
                let paths = flow_paths(self.plan);
                let crosses = |flow: u32, port: u32| {
                    paths.get(flow as usize).and_then(Option::as_ref).is_some_and(|path| path.contains(&port))
                };
                let used = |&port: &u32| {
                    let flows: Vec<u32> = (0..paths.len() as u32).filter(|&flow| crosses(flow, port)).collect();
                    let (has, fair) = self.against_fair(window, &flows);
                    has.iter().sum::<f64>() / fair.iter().sum::<f64>()
                };
                expectation.statistic.of(subjects.ports.iter().map(used))
            }
            Metric::FairIndex => {
                let (has, fair) = self.against_fair(window, &subjects.flows);
                jain_index_against(&has, &fair)
            }
            Metric::FairDistance => {
                let (has, fair) = self.against_fair(window, &subjects.flows);
                distance(&has, &fair)
            }
            Metric::FirstNotified => {
                let (&first, _) = seen.first_key_value()?;
                let rate = |flow: &u32| self.throughput(window, *flow as usize).1;
                let mean = Statistic::Mean.of(subjects.flows.iter().map(rate))?;
                Some(rate(&first) / mean).filter(|part| part.is_finite())
            }
            Metric::DroppedFrames => count(|totals| totals.dropped_frames),
            Metric::LostFrames => count(|totals| totals.lost_frames),
            Metric::TrimmedFrames => count(|totals| totals.trimmed_frames),
            Metric::LostControlFrames => count(|totals| totals.lost_control),
            Metric::WatchdogFrames => count(|totals| totals.watchdog_frames),
            Metric::Storms => count(|totals| totals.storms),
            Metric::PauseFrames => count(|totals| totals.pause_frames),
            Metric::ControlBytes => count(|totals| totals.control_bytes),
            Metric::Utilisation | Metric::Starved => {
                let (slot, before, after) = self.lived(window)?;
                let so_far = |snapshot: &Snapshot, port: &u32| {
                    let (busy, starved) = snapshot.wires.get(port).copied().unwrap_or_default();
                    if expectation.metric == Metric::Starved { starved } else { busy }
                };
                let share = |port: &u32| {
                    (so_far(after, port) - so_far(before, port)).as_picos() as f64 / slot.length().as_picos() as f64
                };
                expectation.statistic.of(subjects.ports.iter().map(share))
            }
            Metric::Blame => {
                let here = |port: u32, flow: &FlowCauses| {
                    flow.seconds(|key, _| key.cause.root().is_some() && key.port == port)
                };
                let blame = |&port: &u32| self.causes.iter().map(|flow| here(port, flow)).sum::<f64>();
                expectation.statistic.of(subjects.ports.iter().map(blame))
            }
            Metric::MarkPrecision => Marking::new(self.plan, self.causes, &self.fair).precision(),
            Metric::MarkRecall => Marking::new(self.plan, self.causes, &self.fair).recall(),
            Metric::Paused | Metric::PausePhase => expectation.statistic.of(seen.values().copied()),
            Metric::Queue
            | Metric::Delay
            | Metric::Wait
            | Metric::Buffer
            | Metric::DrainTime
            | Metric::Swing
            | Metric::SwingFrequency
            | Metric::TotalRate
            | Metric::BacklogSettling
            | Metric::RecoveryTime => seen.values().copied().next(),
            Metric::Outcome => None,
        }
    }
}

/// Returns the mean fair share of a flow in an interval. NaN if the interval is empty or there are no phases.
pub(crate) fn fair_share(phases: &[FairPhase], slot: Slot, flow: u32) -> f64 {
    if phases.is_empty() || slot.length() == Span::ZERO {
        return f64::NAN;
    }
    let bits = |phase: &FairPhase| {
        let span = slot.part(phase.from, phase.until).length();
        let place = phase.shares.binary_search_by_key(&flow, |share| share.flow);
        place.map_or(0.0, |place| phase.shares[place].throughput) * span.as_secs_f64()
    };
    let before = phases.partition_point(|phase| phase.until <= slot.from);
    let there = phases[before..].iter().take_while(|phase| phase.from < slot.until);
    there.map(bits).sum::<f64>() / slot.length().as_secs_f64()
}

/// Number of bins of flow sizes per factor of two.
const BINS: f64 = 4.0;

/// Returns the coefficient of variation of the completion times of flows of similar size, averaged over bins of a
/// factor of 2^(1/4) and weighted by the number of flows. It does not depend on the distribution of sizes.
fn variation_by_size(plan: &Plan, end: &Snapshot, flows: &[u32]) -> Option<f64> {
    let mut bins: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for &flow in flows {
        let size = plan.spec.flows[flow as usize].size;
        if let (Some(size), Some(time)) = (size, completion(plan, end, flow as usize)) {
            bins.entry(((size.get() as f64).log2() * BINS) as i64).or_default().push(time);
        }
    }
    // One flow alone does not differ from anything.
    bins.retain(|_, times| times.len() > 1);
    let counted: usize = bins.values().map(Vec::len).sum();
    let parts = bins.values().filter_map(|times| {
        Statistic::Variation.of(times.iter().copied()).map(|part| part * times.len() as f64 / counted as f64)
    });
    (counted > 0).then(|| parts.sum())
}

/// Returns the completion time of a finite flow in seconds, from its start to its last byte.
fn completion(plan: &Plan, end: &Snapshot, flow: usize) -> Option<f64> {
    end.flow(flow).completed.map(|at| at.saturating_since(plan.spec.flows[flow].start).as_secs_f64())
}

/// Returns the time in seconds from the start of a finite flow until its source knew that it was complete.
fn source_completion(plan: &Plan, end: &Snapshot, flow: usize) -> Option<f64> {
    end.flow(flow).acknowledged.map(|at| at.saturating_since(plan.spec.flows[flow].start).as_secs_f64())
}

/// Returns the slowdown of a finite flow.
fn slowdown(plan: &Plan, end: &Snapshot, flow: usize) -> Option<f64> {
    end.flow(flow).slowdown(plan.spec.flows[flow].start)
}

impl Measures {
    /// Measures a run from its states at the ends of windows and the values accumulated during the run.
    pub(crate) fn new(course: &Course<'_>, watches: Vec<Watch>) -> Measures {
        let (plan, end) = (course.plan, &course.end);
        let usual = Window { from: plan.run.warm_up, until: plan.run.duration };
        let lived = course.lived(usual).map(|(slot, before, after)| (slot, Arc::clone(before), Arc::clone(after)));
        let collectives = rounds(plan, &end.flows);
        let requests = requests(plan, &end.flows);
        let seen = watches.into_iter().map(|watch| watch.close(course.reached()));
        Measures {
            flows: MeasuredFlows {
                flows: plan.spec.flows.clone(),
                overhead: plan.spec.overhead,
                lived,
                end: Arc::clone(end),
                stopped: course.stopped.clone(),
            },
            unstarted: Unstarted::default(),
            values: plan
                .expectations
                .iter()
                .zip(seen)
                .map(|(one, seen)| course.value(one, &seen, &collectives, &requests))
                .collect(),
            collectives,
            requests,
            totals: course.report.totals,
            outcome: outcome_word(&course.report.outcome),
        }
    }

    /// Returns one summary per workload.
    #[must_use]
    pub fn workloads(&self, plan: &Plan) -> Vec<WorkloadSummary> {
        let mut lines = Vec::new();
        for (workload, name) in (0..).zip(&plan.workload_names) {
            let flows = || plan.workload_of_flow.flows(workload);
            let (mut rates, mut consumed) = (RateSums::default(), RateSums::default());
            let (mut count, mut finite, mut complete, mut never, mut waiting) = (0, 0, 0, 0, 0);
            let mut recovery = RecoveryCounts::default();
            for (flow, measured) in flows().filter_map(|flow| Some((flow, self.flows.get(flow)?))) {
                rates.add(measured.throughput);
                consumed.add(measured.goodput);
                count += 1;
                finite += usize::from(plan.spec.flows[flow].size.is_some());
                complete += usize::from(measured.completion.is_some());
                never += usize::from(measured.never_completes);
                waiting += usize::from(self.unstarted.flows.binary_search(&(flow as u32)).is_ok());
                recovery = recovery + measured.recovery;
            }
            // One list at a time: each takes memory for every flow.
            let percentiles = |of: &dyn Fn(usize) -> Option<f64>| Percentiles::of(flows().filter_map(of).collect());
            lines.push(WorkloadSummary {
                name: name.clone(),
                flows: count,
                throughput: rates.mean().map(|mean| (mean, rates.least, rates.most)),
                goodput: consumed.mean(),
                fairness: jain_index_of_sums(rates.count, rates.sum, rates.squares),
                completed: (complete, finite),
                never,
                recovery,
                waiting,
                completion: percentiles(&|flow| self.flows.completion(flow)),
                source_completion: percentiles(&|flow| self.flows.source_completion(flow)),
                slowdown: percentiles(&|flow| self.flows.slowdown(flow)),
            });
        }
        lines
    }
}

/// Sums over rates, without those that are NaN.
struct RateSums {
    count: usize,
    sum: f64,
    squares: f64,
    least: f64,
    most: f64,
}

impl Default for RateSums {
    fn default() -> RateSums {
        RateSums { count: 0, sum: 0.0, squares: 0.0, least: f64::INFINITY, most: f64::NEG_INFINITY }
    }
}

impl RateSums {
    fn add(&mut self, rate: f64) {
        if rate.is_nan() {
            return;
        }
        self.count += 1;
        self.sum += rate;
        self.squares += rate * rate;
        self.least = self.least.min(rate);
        self.most = self.most.max(rate);
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// Returns the measured value of an expectation; `None` if there is none.
#[must_use]
pub fn measured(expectation: &Expectation, measures: &Measures) -> Option<f64> {
    measures.values.get(expectation.number).copied().flatten()
}
