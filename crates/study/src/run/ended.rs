//! A run that has ended: its measurements, from what was kept while it ran.

use crate::measure::causes::{Causes, Found};
use crate::measure::flow_measures::FlowMeasures;
use crate::measure::measures::{Course, Measures, Snapshot, boundaries, instants};
use crate::measure::shares::ended;
use crate::measure::waiting::{Unstarted, as_started};
use crate::measure::watch::Watch;
use engine::Ranks;
use fabric::record::{Ending, Recorder, Rows};
use fabric::{FlowSummary, Mark, RunSummary};
use scenario::{FairPhase, Plan, fair_phases, fair_phases_of_run};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{Span, Time};

use super::ranks::wires;

/// Intervals of a run over which causes are recorded: more than a picture of a flow's time can show.
const MOST_INTERVALS: u64 = 250;

/// What is kept of a run while it runs, to be measured at its end.
pub(super) struct Kept {
    /// The accumulators of the plan's expectations.
    watches: Vec<Watch>,
    causes: Option<Box<Causes>>,
    /// Fair shares as the plan has them, if an expectation refers to them.
    fair: Vec<FairPhase>,
    marks: Marks,
}

/// The states of a run at the instants that its measurements refer to.
#[derive(Clone)]
pub(super) struct Marks {
    /// Instants at which windows of expectations begin or end.
    windows: Vec<Time>,
    /// All instants at which the network is looked at.
    instants: Vec<Time>,
    /// How many of these have passed.
    passed: usize,
    shown: Vec<Snapshot>,
    /// Of each flow that stops by its description: its state then.
    stopped: BTreeMap<u32, FlowSummary>,
}

units::state!(struct Marks { fixed: windows, instants; plain: passed, shown, stopped; });

impl Marks {
    pub(super) fn new(plan: &Plan) -> Marks {
        let (windows, instants) = (boundaries(plan), instants(plan));
        Marks { windows, instants, passed: 0, shown: Vec::new(), stopped: BTreeMap::new() }
    }

    /// The instants that are to come.
    pub(super) fn next(&self) -> Vec<Time> {
        self.instants.get(self.passed..).unwrap_or_default().to_vec()
    }

    /// Takes the state of the network at a mark.
    pub(super) fn mark(&mut self, plan: &Plan, mark: Mark<'_, '_, Recorder>, ranks: &mut dyn Ranks) {
        self.passed += 1;
        for (number, spec) in (0..).zip(&plan.spec.flows) {
            if let (true, Some(report)) = (spec.stop == Some(mark.now), mark.flows.get(number as usize)) {
                self.stopped.insert(number, report);
            }
        }
        if self.windows.binary_search(&mark.now).is_ok() {
            let wires = wires(ranks, plan, mark.probes, mark.now);
            self.shown.push(Snapshot { at: mark.now, flows: mark.flows, totals: mark.totals, wires });
        }
    }
}

impl Kept {
    /// Nothing has happened yet.
    pub(super) fn new(plan: &Plan, causes: bool) -> Kept {
        let fair = if is_about_fair_shares(plan) { fair_phases(plan).unwrap_or_default() } else { Vec::new() };
        let watches = plan.expectations.iter().map(|expectation| Watch::new(plan, &fair, expectation)).collect();
        let (warm_up, over_time) = (Time::ZERO + plan.run.warm_up, plan.probes.causes);
        let causes = causes.then(|| Box::new(Causes::new(&plan.spec, warm_up, interval(plan), over_time)));
        Kept { watches, causes, fair, marks: Marks::new(plan) }
    }

    /// Takes rows as they are recorded.
    pub(super) fn take(&mut self, rows: &Rows) {
        self.watches.iter_mut().for_each(|watch| watch.take(rows));
        if let Some(causes) = &mut self.causes {
            causes.take(&rows.events);
        }
    }

    /// Takes what was kept to the end of the run.
    pub(super) fn conclude(&mut self, ending: &Ending) {
        self.watches.iter_mut().for_each(|watch| watch.conclude(ending));
        if let Some(causes) = &mut self.causes {
            causes.take(&ending.rows.events);
        }
    }

    /// Takes the state of the network at a mark.
    pub(super) fn mark(&mut self, plan: &Plan, mark: Mark<'_, '_, Recorder>, ranks: &mut dyn Ranks) {
        self.marks.mark(plan, mark, ranks);
    }

    /// The same run went on from a stop at which these marks had passed.
    pub(super) fn resume(&mut self, marks: Marks) {
        self.marks = marks;
    }

    /// The instants that are to come.
    pub(super) fn instants(&self) -> Vec<Time> {
        self.marks.next()
    }

    /// Measures the run, which ended in that state.
    pub(super) fn measure(self, plan: &Plan, report: &RunSummary, end: Snapshot) -> Ended {
        // From here on the starts of flows that waited are known.
        let unstarted = Unstarted::of(plan, &end.flows);
        let actual = as_started(plan, &end.flows, report.now);
        let plan = actual.as_ref().unwrap_or(plan);
        // How long a flow with a size was under way is known only now.
        let fair = if is_about_fair_shares(plan) && plan.spec.flows.iter().any(|flow| flow.size.is_some()) {
            fair_phases_of_run(plan, |flow| ended(plan, &end.flows, flow)).unwrap_or_default()
        } else {
            self.fair
        };
        let causes = self.causes.map(|causes| causes.close(report.now));
        let known = causes.as_ref().map(|found| found.flows.as_slice()).unwrap_or_default();
        let Marks { shown: marks, stopped, .. } = self.marks;
        let (start, end) = (Arc::default(), Arc::new(end));
        let marks = marks.into_iter().map(Arc::new).collect();
        let course = Course { plan, report, start, marks, end, stopped, fair, causes: known };
        let mut measures = Measures::new(&course, self.watches);
        measures.unstarted = unstarted;
        let (reached, end) = (course.reached(), course.end);
        Ended { actual, measures, reached, end, causes }
    }
}

/// The interval over which causes are recorded: that of samples, or longer by a power of two.
fn interval(plan: &Plan) -> Span {
    let mut interval = plan.probes.sample_every.as_picos().max(1);
    while plan.run.duration.as_picos() / interval > MOST_INTERVALS {
        interval *= 2;
    }
    Span::from_picos(interval)
}

/// A run that has ended, measured.
pub(super) struct Ended {
    /// The plan with the starts of flows that waited for others, if any did.
    pub(super) actual: Option<Plan>,
    pub(super) measures: Measures,
    /// Simulated time reached: the full duration if the run finished.
    pub(super) reached: Time,
    /// The state at the end.
    pub(super) end: Arc<Snapshot>,
    pub(super) causes: Option<Found>,
}

fn is_about_fair_shares(plan: &Plan) -> bool {
    plan.expectations.iter().any(|expectation| expectation.metric.is_about_fair_shares())
}

/// Returns the name, the throughput and the goodput of each flow.
pub(super) fn known<'a>(plan: &'a Plan, measures: &'a Measures) -> impl Iterator<Item = (Cow<'a, str>, f64, f64)> {
    let row = |(name, flow): (Cow<'a, str>, FlowMeasures)| (name, flow.throughput, flow.goodput);
    plan.flow_names.iter().zip(measures.flows.iter()).map(row)
}
