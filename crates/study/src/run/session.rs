//! A run in steps: advanced, looked at, copied.

use super::ended::Marks;
use super::execute::{StudyError, cores, recorder_spec};
use super::ranks::rows;
use super::volume::{ROWS_HELD, Volume};
use crate::measure::watch::Needs;
use engine::{Alone, Encode, Panicked, contained};
use fabric::record::{Recorder, RecorderSpec, Rows};
use fabric::{BuildOptions, FlowSummary, Limit, Outcome, Partition, RunLimits, RunSummary, Simulation, Sizing, Totals};
use scenario::memory::{VARIABLE, shown};
use scenario::{Limits, Plan};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::Time;

/// Part of the memory limit that the rows of a stopped run may take: a saved run is a copy of them.
const PART_FOR_ROWS: u64 = 8;

/// A run that stops where its caller wants. A clone goes on by itself from the same instant.
///
/// Steps change nothing: after the last one, the fingerprint is that of a run without stops, on any number of threads, and
/// [`finish`](super::finish) gives the results of such a run.
#[derive(Clone)]
pub struct Session {
    pub(super) plan: Arc<Plan>,
    pub(super) simulation: Simulation<Recorder>,
    pub(super) threads: usize,
    /// What is recorded: all tables, or what expectations need.
    pub(super) watch: RecorderSpec,
    /// Whether these are all tables.
    pub(super) records: bool,
    pub(super) marks: Marks,
    pub(super) past: Past,
    pub(super) now: Time,
    /// How the last step ended, if the run is over or was interrupted.
    pub(super) ended: Option<RunSummary>,
    pub(super) origin: Origin,
    /// Bytes of rows that it keeps in memory.
    pub(super) room: u64,
}

/// Where the state of a session comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// From its own run.
    Run,
    /// From a file, which may be forged: nothing but its shape was checked.
    File,
    /// From a file whose state contradicted itself as it went on; contains what was noticed.
    Contradiction(String),
}

/// Rows that a stopped run has recorded.
#[derive(Clone, Default)]
pub(super) struct Past {
    /// Of each piece, whether an inspection followed before the next one: only there limits of recording are judged.
    inspected: Vec<bool>,
    bytes: Vec<u8>,
}

engine::encoded!(struct Past { inspected, bytes });

impl Past {
    pub(super) fn take(&mut self, rows: &Rows, inspection: bool) {
        if *rows != Rows::default() {
            self.inspected.push(inspection);
            rows.encode(&mut self.bytes);
        } else if let Some(last) = self.inspected.last_mut() {
            *last |= inspection;
        }
    }

    /// The rows as they came, and whether an inspection followed; `None` in the place of one that is damaged.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Option<(Rows, bool)>> {
        let mut input = &self.bytes[..];
        self.inspected.iter().map(move |&inspected| Some((Rows::decode(&mut input)?, inspected)))
    }
}

/// The parts of a session, to be run to the end.
pub(super) struct Stopped {
    pub(super) simulation: Simulation<Recorder>,
    pub(super) threads: usize,
    pub(super) watch: RecorderSpec,
    pub(super) marks: Marks,
    pub(super) past: Past,
    pub(super) records: bool,
}

/// Returns what a session records.
pub(super) fn watch_of(plan: &Plan, records: bool) -> RecorderSpec {
    if records { recorder_spec(plan) } else { Needs::of(plan).alone(plan) }
}

/// Builds the network of a plan with its recorders.
pub(super) fn build(
    plan: &Plan,
    watch: &RecorderSpec,
    partition: Partition,
    shards: usize,
) -> Result<Simulation<Recorder>, StudyError> {
    let options = BuildOptions { partition, shards, shuffle: None };
    let recorder = |_| Recorder::new(watch.clone()).holding(ROWS_HELD / shards.max(1));
    Simulation::build_with(&plan.spec, &options, recorder).map_err(StudyError::Build)
}

impl Origin {
    /// Does something with such a state.
    pub(super) fn contain<T>(&self, work: impl FnOnce() -> T) -> Result<T, StudyError> {
        match self {
            Origin::Run => Ok(work()),
            _ => contained(work).map_err(|Panicked(reason)| StudyError::Contradiction(reason)),
        }
    }
}

impl Session {
    /// Builds the network of a plan. At most so many threads are used. If it records, [`finish`](super::finish) writes its
    /// tables.
    ///
    /// # Errors
    /// Returns an error if the network cannot be built, which loading a scenario finds first, or if the run would exceed
    /// its recording limit.
    pub fn start(plan: Plan, threads: usize, records: bool) -> Result<Session, StudyError> {
        let watch = watch_of(&plan, records);
        if records && let Some(text) = Volume::of(&plan, &watch).too_much(&plan.probes) {
            return Err(StudyError::TooMuch(text));
        }
        let Sizing { shards, threads } = Sizing::among(&plan.spec, 1, threads.min(cores()));
        let simulation = build(&plan, &watch, Partition::Natural, shards)?;
        Ok(Session::start_from(Arc::new(plan), simulation, threads, watch, records))
    }

    /// A session with a network that was built, as if it had not run.
    pub(super) fn start_from(
        plan: Arc<Plan>,
        simulation: Simulation<Recorder>,
        threads: usize,
        watch: RecorderSpec,
        records: bool,
    ) -> Session {
        let (marks, past, now) = (Marks::new(&plan), Past::default(), simulation.now());
        let threads = threads.min(cores()).min(simulation.shards()).max(1);
        let (origin, room) = (Origin::Run, Limits::default().memory / PART_FOR_ROWS);
        Session { plan, simulation, threads, watch, records, marks, past, now, ended: None, origin, room }
    }

    /// Returns why the session cannot go on, if so.
    pub(super) fn unusable(&self) -> Option<StudyError> {
        let room = shown(self.room);
        match &self.origin {
            Origin::Contradiction(reason) => Some(StudyError::Contradiction(reason.clone())),
            _ if self.past.bytes.len() as u64 > self.room => Some(StudyError::TooMuch(format!(
                "the rows recorded before the stop take more than {room} of memory, where they are kept until the run goes \
                 on\n  stop earlier, sample less often (probes.sample_every), record less (probes.record, probes.nodes), do \
                 not record (--no-record), or raise the limit of memory ({VARIABLE}), an eighth of which is for these rows"
            ))),
            _ => None,
        }
    }

    /// Does something with copies of the session. If its state comes from a file, a panic is an error.
    pub(crate) fn with_copies<T>(&self, work: impl FnOnce() -> T) -> Result<T, StudyError> {
        self.unusable().map_or_else(|| self.origin.contain(work), Err)
    }

    /// Does something with the state. If it comes from a file, a panic is an error, and the session cannot go on.
    pub(super) fn guarded<T>(&mut self, work: impl FnOnce(&mut Session) -> T) -> Result<T, StudyError> {
        if let Some(error) = self.unusable() {
            return Err(error);
        }
        let done = self.origin.clone().contain(|| work(&mut *self));
        if let Err(StudyError::Contradiction(reason)) = &done {
            self.origin = Origin::Contradiction(reason.clone());
        }
        done
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn shared_plan(&self) -> Arc<Plan> {
        Arc::clone(&self.plan)
    }

    /// Whether its tables are recorded.
    #[must_use]
    pub fn records(&self) -> bool {
        self.records
    }

    /// Its parts, to be run on so many threads.
    pub(super) fn take(self, threads: usize) -> Stopped {
        let Session { simulation, watch, marks, past, records, .. } = self;
        let threads = threads.min(cores()).min(simulation.shards()).max(1);
        Stopped { simulation, threads, watch, marks, past, records }
    }

    /// Runs on until that time, or until the run ends early. A time that has passed changes nothing, nor does a step of a
    /// run that is over.
    ///
    /// # Errors
    /// Returns an error if the rows recorded so far take more memory than is left for them, or if the state comes from a
    /// file and contradicts itself. The session cannot go on then.
    pub fn run_until(&mut self, until: Time, interrupt: &AtomicBool) -> Result<RunSummary, StudyError> {
        let summary = self.guarded(|session| session.step(until, interrupt))?;
        self.unusable().map_or(Ok(summary), Err)
    }

    fn step(&mut self, until: Time, interrupt: &AtomicBool) -> RunSummary {
        if let Some(summary) = self.ended.as_ref().filter(|_| self.is_over()) {
            return summary.clone();
        }
        let limits = RunLimits {
            threads: self.threads,
            events: self.plan.run.max_events,
            inspect_every: self.plan.run.inspect_every,
            interrupt: Some(interrupt),
            ..RunLimits::until(until.max(self.now))
        };
        let (plan, past, instants, room) = (&self.plan, &mut self.past, self.marks.next(), self.room);
        let marks = RefCell::new(&mut self.marks);
        let summary = self.simulation.run_among(
            &mut Alone,
            &limits,
            &instants,
            |seen, probes, ranks| {
                past.take(&rows(ranks, seen, probes), seen.inspection);
                match past.bytes.len() as u64 > room {
                    true => ControlFlow::Break(Limit::Bytes(room)),
                    false => ControlFlow::Continue(()),
                }
            },
            |mark, ranks| marks.borrow_mut().mark(plan, mark, ranks),
        );
        self.now = self.now.max(summary.now);
        let ended = self.simulation.is_over() || summary.outcome == Outcome::Interrupted;
        self.ended = ended.then(|| summary.clone());
        summary
    }

    /// Whether the run has ended before its last instant: by a deadlock, a loss or a limit.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.simulation.is_over()
    }

    /// The simulated time reached.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The fingerprint of what has happened so far.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.simulation.fingerprint()
    }

    /// The sums so far.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.simulation.totals()
    }

    /// What has become of each flow so far.
    #[must_use]
    pub fn flows(&self) -> Vec<FlowSummary> {
        self.simulation.flows()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Limits, NoFiles, load_str};
    use units::Span;

    const TEXT: &str = r#"
        schema_version = 1
        [network]
        topology = "leaf-spine"
        leaves = 2
        spines = 2
        hosts_per_leaf = 3
        link = { rate = "10Gb/s", latency = "500ns" }
        [[switches]]
        flow_control = "pfc"
        buffers = { capacity = "150KB" }
        [protocol]
        name = "dcqcn"
        [[workloads]]
        kind = "poisson-flows"
        load = 0.6
        flow_size = "20KB"
        [run]
        duration = "400us"
    "#;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn steps_and_copies_end_like_a_run_without_them() {
        let plan = load_str("steps", TEXT, &[], &NoFiles, Limits::default()).unwrap();
        let never = AtomicBool::new(false);
        let whole = Session::start(plan.clone(), 1, false).unwrap().run_until(at(400), &never).unwrap();
        for threads in [1, 2] {
            let mut steps = Session::start(plan.clone(), threads, false).unwrap();
            for micros in [0, 1, 77, 78, 200] {
                steps.run_until(at(micros), &never).unwrap();
            }
            assert_eq!(steps.now(), at(200));
            let (mut copy, before) = (steps.clone(), steps.totals());
            let ended = steps.run_until(at(400), &never).unwrap();
            assert_eq!((ended.fingerprint, ended.totals), (whole.fingerprint, whole.totals));
            // The copy has not moved.
            assert_eq!((copy.now(), copy.totals()), (at(200), before));
            copy.run_until(at(100), &never).unwrap();
            assert_eq!((copy.now(), copy.totals()), (at(200), before), "time does not go back");
            assert_eq!(copy.run_until(at(400), &never).unwrap().fingerprint, whole.fingerprint);
            assert_eq!(copy.flows(), steps.flows());
        }
    }

    #[test]
    fn rows_of_a_stopped_run_take_no_more_memory_than_their_room() {
        let never = AtomicBool::new(false);
        let often = ["probes.sample_every=100ns".to_owned()];
        let plan = load_str("steps", TEXT, &often, &NoFiles, Limits::default()).unwrap();
        let held = |session: &Session| session.past.bytes.len() as u64;
        let mut whole = Session::start(plan.clone(), 1, true).unwrap();
        whole.run_until(at(400), &never).unwrap();
        let mut bounded = Session { room: held(&whole) / 3, ..Session::start(plan.clone(), 2, true).unwrap() };
        let refusal = bounded.run_until(at(400), &never).unwrap_err();
        assert!(matches!(&refusal, StudyError::TooMuch(text) if text.contains("probes.sample_every")), "{refusal}");
        assert!(bounded.now() < at(400) && held(&bounded) < held(&whole) * 2 / 3, "{}", held(&bounded));
        // It stays refused, whatever is asked of it.
        assert!(bounded.run_until(at(400), &never).is_err() && bounded.save().is_err());
        let mut recorded_less = Session { room: held(&whole) / 3, ..Session::start(plan, 1, false).unwrap() };
        assert_eq!(recorded_less.run_until(at(400), &never).unwrap().fingerprint, whole.fingerprint());
    }
}
