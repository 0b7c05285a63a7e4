//! A run in steps: advanced, looked at, copied.

use super::execute::{StudyError, cores};
use fabric::{BuildOptions, FlowSummary, Partition, RunLimits, RunSummary, Simulation, Sizing, Totals};
use scenario::Plan;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::Time;

/// A run that stops where its caller wants. It is not recorded. A clone goes on by itself from the same instant.
///
/// Steps change nothing: after the last one, the fingerprint is that of a run without stops, on any number of threads.
#[derive(Clone)]
pub struct Session {
    plan: Arc<Plan>,
    simulation: Simulation,
    threads: usize,
    now: Time,
}

impl Session {
    /// Builds the network of a plan. At most so many threads are used.
    ///
    /// # Errors
    /// Returns an error if the network cannot be built. Loading a scenario finds this first.
    pub fn start(plan: Plan, threads: usize) -> Result<Session, StudyError> {
        let Sizing { shards, threads } = Sizing::among(&plan.spec, 1, threads.min(cores()));
        let options = BuildOptions { partition: Partition::Natural, shards, shuffle: None };
        let simulation = Simulation::build(&plan.spec, &options).map_err(StudyError::Build)?;
        Ok(Session { plan: Arc::new(plan), simulation, threads, now: Time::ZERO })
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Runs on until that time, or until the run ends early. A time that has passed changes nothing.
    pub fn run_until(&mut self, until: Time, interrupt: &AtomicBool) -> RunSummary {
        let limits = RunLimits {
            threads: self.threads,
            events: self.plan.run.max_events,
            inspect_every: self.plan.run.inspect_every,
            interrupt: Some(interrupt),
            ..RunLimits::until(until.max(self.now))
        };
        let summary = self.simulation.run(&limits);
        self.now = self.now.max(summary.now);
        summary
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
        let whole = Session::start(plan.clone(), 1).unwrap().run_until(at(400), &never);
        for threads in [1, 2] {
            let mut steps = Session::start(plan.clone(), threads).unwrap();
            for micros in [0, 1, 77, 78, 200] {
                steps.run_until(at(micros), &never);
            }
            assert_eq!(steps.now(), at(200));
            let (mut copy, before) = (steps.clone(), steps.totals());
            let ended = steps.run_until(at(400), &never);
            assert_eq!((ended.fingerprint, ended.totals), (whole.fingerprint, whole.totals));
            // The copy has not moved.
            assert_eq!((copy.now(), copy.totals()), (at(200), before));
            copy.run_until(at(100), &never);
            assert_eq!((copy.now(), copy.totals()), (at(200), before), "time does not go back");
            assert_eq!(copy.run_until(at(400), &never).fingerprint, whole.fingerprint);
            assert_eq!(copy.flows(), steps.flows());
        }
    }
}
