//! Flows that wait for others: when they started, and those that never did.

use fabric::FlowSummaries;
use fabric::workload::Dependencies;
use scenario::Plan;
use std::collections::BTreeSet;
use units::Time;

/// The most awaited flows that are named.
const MOST_NAMED: usize = 8;

/// Flows that had not started at the end of a run because they waited for others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unstarted {
    /// The flows that wait, ascending.
    pub flows: Vec<u32>,
    /// A few of the flows that they wait for in the end, which do not wait themselves.
    pub awaited: Vec<u32>,
}

impl Unstarted {
    /// Returns those of a run.
    pub(crate) fn of(plan: &Plan, flows: &FlowSummaries) -> Unstarted {
        let dependencies = &plan.spec.dependencies;
        let waits = |flow: u32| flows.get(flow as usize).is_some_and(|report| report.started.is_none());
        let mut all: Vec<u32> = dependencies.iter().map(|entry| entry.flow).filter(|&flow| waits(flow)).collect();
        all.dedup();
        let open = |flow: &u32| flows.get(*flow as usize).is_some_and(|report| report.completed.is_none());
        let waiting = |flow: &u32| all.binary_search(flow).is_ok();
        let awaited = all.iter().flat_map(|&flow| dependencies.of(flow)).copied();
        let awaited: BTreeSet<u32> = awaited.filter(|flow| open(flow) && !waiting(flow)).collect();
        Unstarted { awaited: awaited.into_iter().take(MOST_NAMED).collect(), flows: all }
    }
}

/// Returns the plan with the starts that its flows had in a run, as if they had been known before; `None` if no flow waits
/// for others. A flow that never started starts at the end.
pub(crate) fn as_started(plan: &Plan, flows: &FlowSummaries, reached: Time) -> Option<Plan> {
    if plan.spec.dependencies.is_empty() {
        return None;
    }
    let end = reached.max(Time::ZERO + plan.run.duration);
    let mut actual = plan.clone();
    for entry in plan.spec.dependencies.iter() {
        let started = flows.get(entry.flow as usize).and_then(|report| report.started);
        actual.spec.flows[entry.flow as usize].start = started.unwrap_or(end);
    }
    actual.spec.dependencies = Dependencies::default();
    Some(actual)
}
