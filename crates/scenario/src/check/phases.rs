//! Fair shares as they change over a run.
//!
//! A phase is an interval of the run in which the same flows are active and every receiver consumes at a constant rate.
//! A flow with a size is active until it completes, which is known only after the run: before it, such a flow counts
//! from its start to its stop.

use super::fair::{FairShare, Ground, asks};
use super::paths::Walker;
use crate::plan::Plan;
use std::ops::ControlFlow;
use units::Time;

/// Maximum number of flows, summed over phases, for which shares are computed.
const MOST_WORK: usize = 20_000_000;

/// The same limit if links distinguish classes, which takes many rounds.
const MOST_CLASSED_WORK: usize = 200_000;

/// Maximum number of phases times flows for which shares are computed.
const MOST_LOOKS: usize = 100_000_000;

/// An interval of the run with constant fair shares.
#[derive(Clone, Debug, PartialEq)]
pub struct FairPhase {
    /// Start.
    pub from: Time,
    /// End.
    pub until: Time,
    /// The shares of the active flows, in the order of the plan.
    pub shares: Vec<FairShare>,
}

/// Returns the max-min fair shares by phase, from the start to the end of the run, as far as the plan determines them:
/// a flow with a size counts from its start to its stop. Returns `None` if there are too many, or if one is ambiguous.
#[must_use]
pub fn fair_phases(plan: &Plan) -> Option<Vec<FairPhase>> {
    closed_phases(plan, |_| None)
}

/// Returns the max-min fair shares by phase of a completed run, in which a flow counts until it ended.
#[must_use]
pub fn fair_phases_of_run(plan: &Plan, ended: impl Fn(usize) -> Option<Time>) -> Option<Vec<FairPhase>> {
    closed_phases(plan, ended)
}

fn closed_phases(plan: &Plan, ended: impl Fn(usize) -> Option<Time>) -> Option<Vec<FairPhase>> {
    let mut phases: Vec<FairPhase> = Vec::new();
    let mut open = false;
    each_fair_phase(plan, ended, (Time::ZERO + plan.run.duration, MOST_WORK), |phase| {
        open |= phase.shares.iter().any(|share| share.throughput < share.most);
        match phases.last_mut() {
            Some(last) if last.shares == phase.shares => last.until = phase.until,
            _ => phases.push(phase),
        }
        ControlFlow::Continue(())
    })?;
    (!open).then_some(phases)
}

/// Calls `each` with every phase of a run that reached `until`, in order. An ambiguous share is given as its minimum
/// and maximum. Returns `None`, before the first call, if there are more than `most` flows, summed over phases, or as
/// soon as a call breaks.
pub fn each_fair_phase(
    plan: &Plan,
    end_of: impl Fn(usize) -> Option<Time>,
    (until, most): (Time, usize),
    mut each: impl FnMut(FairPhase) -> ControlFlow<()>,
) -> Option<()> {
    let ground = Ground::new(plan, &Walker::new(&plan.spec.graph))?;
    let mut changes = ground.changes();
    changes.extend(ground.flows.iter().filter_map(|(number, _)| end_of(*number)));
    changes.retain(|&at| at < until);
    let most = if ground.is_classed() { most.min(MOST_CLASSED_WORK) } else { most };
    if changes.len().saturating_mul(ground.flows.len()) > MOST_LOOKS || work(plan, &ground, &changes, &end_of) > most {
        return None;
    }
    let ends = changes.iter().copied().skip(1).chain([until]);
    for (&from, until) in changes.iter().zip(ends) {
        let shares = ground.shares(from, |number, flow| {
            asks(plan, flow, from).filter(|_| end_of(number).is_none_or(|end| from < end))
        })?;
        if each(FairPhase { from, until, shares }).is_break() {
            return None;
        }
    }
    Some(())
}

/// Returns the number of active flows, summed over phases.
fn work(
    plan: &Plan,
    ground: &Ground<'_>,
    changes: &std::collections::BTreeSet<Time>,
    end_of: impl Fn(usize) -> Option<Time>,
) -> usize {
    let flows = || ground.flows.iter().map(|(number, _)| (*number, &plan.spec.flows[*number]));
    let mut starts: Vec<Time> = flows().map(|(_, flow)| flow.start).collect();
    let mut ends: Vec<Time> =
        flows().filter_map(|(number, flow)| flow.stop.into_iter().chain(end_of(number)).min()).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let passed = |instants: &[Time], at: Time| instants.partition_point(|&instant| instant <= at);
    changes.iter().map(|&at| passed(&starts, at).saturating_sub(passed(&ends, at))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, NoFiles, load_str};
    use units::Span;

    const NETWORK: &str = r#"
        schema_version = 1
        [network]
        topology = "single-switch"
        hosts = 3
        link = { rate = "10Gb/s", latency = "500ns" }
        [[switches]]
        flow_control = "pfc"
        buffers = { capacity = "100KB" }
        [[workloads]]
        name = "short"
        kind = "greedy"
        from = "h0"
        to = "h2"
        size = "100KB"
        [[workloads]]
        name = "late"
        kind = "greedy"
        from = "h1"
        to = "h2"
        start = "500us"
        [run]
        duration = "1ms"
    "#;

    #[test]
    fn a_flow_that_ended_leaves_its_share_to_the_others() {
        let plan = load_str("test", NETWORK, &[], &NoFiles, Limits::default()).expect("a scenario");
        let at = |micros| Time::ZERO + Span::from_micros(micros);
        let told = |phases: Vec<FairPhase>| -> Vec<(Time, Vec<u64>)> {
            let rates = |phase: &FairPhase| phase.shares.iter().map(|share| (share.throughput / 1e8) as u64).collect();
            phases.iter().map(|phase| (phase.from, rates(phase))).collect()
        };
        // Nobody knows beforehand when the first will be done: it counts as if it lasted.
        let before = told(fair_phases(&plan).expect("few flows"));
        assert_eq!(before, [(at(0), vec![98]), (at(500), vec![49, 49])]);
        // It was done before the second began: neither ever had to share.
        let after = told(fair_phases_of_run(&plan, |flow| [Some(at(90)), None][flow]).expect("few flows"));
        assert_eq!(after, [(at(0), vec![98]), (at(90), vec![]), (at(500), vec![98])]);
    }
}
