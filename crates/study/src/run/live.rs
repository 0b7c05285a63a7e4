//! A recorded run in steps, whose tables stay in memory: for pages that draw a run as it is simulated.

use super::ended::{Ended, Kept, known};
use super::execute::{StudyError, manifest, recorder_spec};
use super::network::network;
use super::ranks::wires;
use super::volume::ROWS_HELD;
use crate::judge::documents::judgement_record;
use crate::judge::verdict::judge_run;
use crate::measure::collectives::RankRow;
use crate::measure::measures::{Snapshot, instants};
use crate::measure::requests::RequestRow;
use crate::measure::shares::shares_of_run;
use engine::Alone;
use fabric::record::{DelayRow, Deliveries, FlowRow, QueueLevelRow, Recorder, Rows, WaitBucket, WaitRow};
use fabric::record::{drain, drain_before, finish, flow_rows, port_rows};
use fabric::{BuildOptions, Mark, Outcome, Partition, RunLimits, RunSummary, Simulation, Sizing};
use results::document::{JudgementRecord, Network};
use results::{Batch, Manifest, name_flows};
use scenario::{Plan, Stage};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Duration;
use units::Time;

/// A run that is advanced by its caller, and needs neither a clock nor a disk. It is recorded as `tailback run` records
/// it, and steps change nothing: fingerprint, tables and measurements are those of a run without stops.
pub struct LiveRun {
    plan: Plan,
    simulation: Simulation<Recorder>,
    threads: usize,
    kept: Kept,
    /// Instants at which the network is looked at, and how many have passed.
    instants: Vec<Time>,
    passed: usize,
    /// How it stands after the last step.
    report: RunSummary,
    ended: bool,
}

/// A live run that has ended or was stopped: the documents of its results, and the rows that are known only then.
#[derive(Debug)]
pub struct LiveResult {
    /// Its manifest, without a wall time.
    pub manifest: Manifest,
    /// The network, with the paths and fair shares of flows.
    pub network: Network,
    /// The verdicts on what the scenario expects.
    pub judgements: Vec<JudgementRecord>,
    /// The ports.
    pub ports: Batch,
    /// The flows.
    pub flows: Batch,
    /// Waits by port and class.
    pub waits: Batch,
    /// Distributions of these.
    pub wait_buckets: Batch,
    /// See [`fabric::record::schema::DELAYS`].
    pub delays: Batch,
    /// See [`fabric::record::schema::QUEUE_LEVELS`].
    pub queue_levels: Batch,
    /// See [`fabric::record::schema::COLLECTIVE_RANKS`].
    pub collective_ranks: Batch,
    /// See [`fabric::record::schema::REQUESTS`].
    pub requests: Batch,
    /// Fair shares over time.
    pub fair_shares: Batch,
    /// The last rows of the recording.
    pub rows: Rows,
}

impl LiveRun {
    /// Builds the network of a plan. At most so many threads are used; one is the caller's own.
    ///
    /// # Errors
    /// Returns an error if the network cannot be built. Loading a scenario finds this first.
    pub fn start(plan: Plan, threads: usize) -> Result<LiveRun, StudyError> {
        plan.notify(Stage::Building);
        let watch = recorder_spec(&plan);
        let Sizing { shards, threads } = Sizing::among(&plan.spec, 1, threads.max(1));
        let options = BuildOptions { partition: Partition::Natural, shards, shuffle: None };
        let recorder = |_| Recorder::new(watch.clone()).holding(ROWS_HELD / shards.max(1));
        let mut simulation = Simulation::build_with(&plan.spec, &options, recorder).map_err(StudyError::Build)?;
        let report = simulation.run(&RunLimits { watchdog: false, ..RunLimits::until(Time::ZERO) });
        let (kept, instants) = (Kept::new(&plan, watch.causes), instants(&plan));
        Ok(LiveRun { plan, simulation, threads, kept, instants, passed: 0, report, ended: false })
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How it stands: time, fingerprint and totals so far, and the outcome once it has ended.
    #[must_use]
    pub fn report(&self) -> &RunSummary {
        &self.report
    }

    /// Runs on to about that instant, or to the end of the run, and hands out the rows that are complete by then. Returns
    /// whether the run has ended.
    pub fn advance(&mut self, until: Time, mut take: impl FnMut(&Rows)) -> bool {
        let end = Time::ZERO + self.plan.run.duration;
        let every = self.plan.run.inspect_every;
        // A step that ends at an inspection would leave it out: whether a run ends is decided there and nowhere else.
        let until = match until.as_picos() {
            picos if until < end && picos % every.as_picos() == 0 => Time::from_picos(picos + 1).min(end),
            _ => until.min(end),
        };
        if self.ended || until <= self.report.now && until < end {
            return self.ended;
        }
        let (threads, events) = (self.threads, self.plan.run.max_events);
        let limits =
            RunLimits { threads, events, inspect_every: every, goes_on: until < end, ..RunLimits::until(until) };
        let (plan, kept, passed) = (&self.plan, RefCell::new(&mut self.kept), &mut self.passed);
        let marks = self.instants.get(*passed..).unwrap_or_default();
        self.report = self.simulation.run_among(
            &mut Alone,
            &limits,
            marks,
            |seen, probes, _| {
                let rows = if seen.inspection { drain(probes) } else { drain_before(probes, seen.now) };
                kept.borrow_mut().take(&rows);
                take(&rows);
                ControlFlow::Continue(())
            },
            |mark, ranks| {
                *passed += 1;
                kept.borrow_mut().mark(plan, mark, ranks);
            },
        );
        // What a step that reached its end says of deadlocks and losses is decided at the next inspection.
        self.ended = until == end || self.report.now != until;
        if !self.ended {
            self.pass(until);
        }
        self.ended
    }

    /// Marks before the end of a step that nothing happened after in it: the network is as it was then.
    fn pass(&mut self, until: Time) {
        while let Some(&now) = self.instants.get(self.passed).filter(|&&mark| mark < until) {
            self.passed += 1;
            let (flows, totals) = (self.simulation.flows_among(&mut Alone), self.simulation.totals());
            let mut probes: Vec<&mut Recorder> = self.simulation.probes_mut().collect();
            self.kept.mark(&self.plan, Mark { now, flows, totals, probes: &mut probes }, &mut Alone);
        }
    }

    /// What is known of the run while it goes on: nothing is measured or judged before its end.
    #[must_use]
    pub fn look(&self) -> LiveResult {
        let report = RunSummary { outcome: Outcome::Interrupted, ..self.report.clone() };
        let flows = self.simulation.flows_among(&mut Alone);
        let shares = shares_of_run(&self.plan, &flows, report.now, || false);
        let names = self.plan.flow_names.iter().map(|name| (name, f64::NAN, f64::NAN));
        let nothing = Deliveries::default();
        let rows = name_flows(flow_rows(&self.plan.spec, flows.iter(), &nothing, report.now), names);
        let rows: Vec<FlowRow> = rows.collect();
        LiveResult {
            judgements: Vec::new(),
            network: network(&self.plan, &shares),
            manifest: manifest(&self.plan, &report, self.threads, Duration::ZERO),
            ports: Batch::of(&port_rows(&self.plan.spec.graph)),
            flows: Batch::of(&rows),
            waits: Batch::of::<WaitRow>(&[]),
            wait_buckets: Batch::of::<WaitBucket>(&[]),
            delays: Batch::of::<DelayRow>(&[]),
            queue_levels: Batch::of::<QueueLevelRow>(&[]),
            collective_ranks: Batch::of(&RankRow::all(&self.plan, &flows)),
            requests: Batch::of::<RequestRow<'_>>(&[]),
            fair_shares: Batch::of(&shares.rows),
            rows: Rows::default(),
        }
    }

    /// Ends the run where it stands. One that had not ended by itself is interrupted.
    #[must_use]
    pub fn conclude(mut self) -> LiveResult {
        if !self.ended {
            self.report.outcome = Outcome::Interrupted;
        }
        let report = self.report;
        let flows = self.simulation.flows_among(&mut Alone);
        let mut probes: Vec<&mut Recorder> = self.simulation.probes_mut().collect();
        let wires = wires(&mut Alone, &self.plan, &probes, report.now);
        let ending = finish(&mut probes, report.now);
        drop(self.simulation);
        self.kept.conclude(&ending);
        let end = Snapshot { at: report.now, flows, totals: report.totals, wires };
        let Ended { actual, measures, reached, end, .. } = self.kept.measure(&self.plan, &report, end);
        let plan = actual.as_ref().unwrap_or(&self.plan);
        let shares = shares_of_run(plan, &end.flows, reached, || false);
        let rows = flow_rows(&plan.spec, end.flows.iter(), &ending.deliveries, report.now);
        let rows: Vec<FlowRow> = name_flows(rows, known(plan, &measures)).collect();
        let buckets: Vec<WaitBucket> = ending.waits.iter().flat_map(WaitRow::buckets).collect();
        LiveResult {
            judgements: judge_run(plan, &measures).iter().map(judgement_record).collect(),
            network: network(plan, &shares),
            manifest: manifest(plan, &report, self.threads, Duration::ZERO),
            ports: Batch::of(&port_rows(&plan.spec.graph)),
            flows: Batch::of(&rows),
            waits: Batch::of(&ending.waits),
            wait_buckets: Batch::of(&buckets),
            delays: Batch::of(&ending.delays),
            queue_levels: Batch::of(&ending.levels),
            collective_ranks: Batch::of(&RankRow::all(plan, &end.flows)),
            requests: Batch::of(&RequestRow::all(plan, &measures.requests)),
            fair_shares: Batch::of(&shares.rows),
            rows: ending.rows,
        }
    }
}
