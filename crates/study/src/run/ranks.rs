//! A run on several ranks: what all of them do, and the part of those that write no results.
//!
//! Every rank has loaded the same plan. The first rank runs it with [`execute_among`](super::execute_among()), the others
//! with [`assist`]; both take the same steps in the same order, and each step is one of all ranks.

use super::execute::{Options, StudyError, cores, recorder_spec};
use super::volume::ROWS_HELD;
use crate::measure::measures::{boundaries, instants};
use crate::measure::watch::Needs;
use engine::{Encode, Ranks, reduce};
use fabric::record::{Recorder, RecorderSpec, Rows, Selection, drain_among, drain_before_among, finish_among};
use fabric::{BuildOptions, Partition, Progress, RankOf, RunLimits, Simulation, Sizing};
use scenario::{Metric, Plan};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use units::{Span, Time};

/// Does one rank's part of a run whose results the first rank takes. `progress` is called once when the part is built and
/// at every inspection.
///
/// # Errors
/// Returns an error if any rank cannot begin.
pub fn assist(
    ranks: &mut dyn Ranks,
    plan: &Plan,
    options: &Options<'_>,
    mut progress: impl FnMut(Progress),
) -> Result<(), StudyError> {
    let built = build_part(ranks, plan, options, &watched(plan, options));
    progress(Progress { now: Time::ZERO, inspection: true, events: 0, hops: 0 });
    let (mut simulation, threads) = agree(ranks, built)?;
    let windows = boundaries(plan);
    let report = simulation.run_among(
        ranks,
        &limits(plan, options, threads),
        &instants(plan),
        |seen, probes, ranks| {
            rows(ranks, seen, probes);
            progress(seen);
            ControlFlow::Continue(())
        },
        |mark, ranks| {
            if windows.binary_search(&mark.now).is_ok() {
                wires(ranks, plan, mark.probes, mark.now);
            }
        },
    );
    let _none = simulation.flows_among(ranks);
    let mut probes: Vec<&mut Recorder> = simulation.probes_mut().collect();
    wires(ranks, plan, &probes, report.now);
    finish_among(ranks, &mut probes, report.now);
    Ok(())
}

/// Returns what this rank is ready to run with if all ranks are ready.
pub(super) fn agree<T>(ranks: &mut dyn Ranks, ready: Result<T, StudyError>) -> Result<T, StudyError> {
    let own = ready.as_ref().err().map(ToString::to_string);
    let all = ranks.share(own.to_bytes());
    let ready = ready?;
    match all
        .iter()
        .map(|bytes| Option::<String>::from_bytes(bytes))
        .enumerate()
        .find_map(|(rank, it)| Some((rank, it?)))
    {
        Some((rank, reason)) => Err(StudyError::Rank { rank, reason }),
        None => Ok(ready),
    }
}

/// Returns the recorder configuration of a run.
pub(super) fn watched(plan: &Plan, options: &Options<'_>) -> RecorderSpec {
    let mut watch = if options.record.is_some() { recorder_spec(plan) } else { Needs::of(plan).alone(plan) };
    if let Some(capture) = options.capture {
        watch.frames = Selection::only(capture.links.iter().map(|link| link.port));
    }
    watch
}

/// Builds the part of the network that is on this rank. Returns it with the number of threads that run it.
pub(super) fn build_part(
    ranks: &dyn Ranks,
    plan: &Plan,
    options: &Options<'_>,
    watch: &RecorderSpec,
) -> Result<(Simulation<Recorder>, usize), StudyError> {
    let rank = RankOf { rank: ranks.rank(), count: ranks.count() };
    let Sizing { shards, threads } = Sizing::among(&plan.spec, rank.count, options.threads.min(cores()));
    let build = BuildOptions { partition: Partition::Natural, shards, shuffle: None };
    let recorder = |_| Recorder::new(watch.clone()).holding(ROWS_HELD / build.shards.max(1));
    let part = Simulation::build_part(&plan.spec, &build, rank, recorder).map_err(StudyError::Build)?;
    Ok((part, threads))
}

/// Returns the limits of a run.
pub(super) fn limits<'a>(plan: &Plan, options: &Options<'a>, threads: usize) -> RunLimits<'a> {
    RunLimits {
        threads,
        events: plan.run.max_events,
        inspect_every: plan.run.inspect_every,
        interrupt: Some(options.interrupt),
        ..RunLimits::until(Time::ZERO + plan.run.duration)
    }
}

/// Takes out what all ranks have recorded; the first one gets it.
pub(super) fn rows(ranks: &mut dyn Ranks, seen: Progress, probes: &mut [&mut Recorder]) -> Rows {
    if seen.inspection { drain_among(ranks, probes) } else { drain_before_among(ranks, probes, seen.now) }
}

/// Returns how long the wires of ports named in expectations were in use, and how long they were idle for lack of credits;
/// nothing on all ranks but the first.
pub(super) fn wires(
    ranks: &mut dyn Ranks,
    plan: &Plan,
    probes: &[&mut Recorder],
    now: Time,
) -> BTreeMap<u32, (Span, Span)> {
    let about = plan.expectations.iter().filter(|one| matches!(one.metric, Metric::Utilisation | Metric::Starved));
    let ports = about.flat_map(|expectation| expectation.subjects.ports.iter().copied());
    let sum = |of: fn(&Recorder, u32, Time) -> Span, port: u32| {
        probes.iter().fold(Span::ZERO, |sum, probe| sum + of(probe, port, now))
    };
    let own: BTreeMap<u32, (Span, Span)> =
        ports.map(|port| (port, (sum(Recorder::busy, port), sum(Recorder::starved, port)))).collect();
    // All ranks are asked about the same ports.
    let own: Vec<(u32, (Span, Span))> = own.into_iter().collect();
    let all = reduce(ranks, own, |all, more| {
        for ((_, sum), (_, more)) in all.iter_mut().zip(more) {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
    });
    all.unwrap_or_default().into_iter().collect()
}
