//! Changes to a stopped run: its scenario is interpreted again with other values, and the run goes on with them.

use super::execute::StudyError;
use super::saved::{SavedError, load_inputs};
use super::session::{Session, watch_of};
use crate::measure::measures::outcome_word;
use fabric::Outcome;
use scenario::{Errors, Plan};
use std::sync::Arc;
use units::Time;

/// Why a run is not changed.
#[derive(Debug)]
pub enum ChangeError {
    /// The scenario with the new values is refused.
    Scenario(Errors),
    /// A running simulation cannot change this.
    Refused {
        /// The changes, as given.
        changes: String,
        /// The part that would change.
        part: String,
    },
    /// The network with the new values cannot be built.
    Study(StudyError),
    /// The run cannot go on, and so not with other values; contains the reason.
    Over(String),
}

impl std::fmt::Display for ChangeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ChangeError::Scenario(errors) => f.write_str(&errors.render(false)),
            ChangeError::Refused { changes, part } => write!(
                f,
                "{changes} changes {part}, which cannot change during a run; thresholds of buffers, parameters of \
                 protocols, rates of paced workloads and future link failures can; start another run instead"
            ),
            ChangeError::Study(error) => error.fmt(f),
            ChangeError::Over(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for ChangeError {}

/// Returns the part of a plan, beside its network, that differs in another.
fn differs(old: &Plan, new: &Plan) -> Option<&'static str> {
    let probes = format!("{:?}", old.probes) != format!("{:?}", new.probes);
    let expectations = format!("{:?}", old.expectations) != format!("{:?}", new.expectations);
    let parts = [
        (old.run != new.run, "the settings of the run"),
        (probes, "the recording"),
        (expectations, "expectations"),
        (old.workload_names != new.workload_names || old.workload_of_flow != new.workload_of_flow, "workloads"),
        (old.name != new.name, "the name"),
    ];
    parts.into_iter().find(|(differs, _)| *differs).map(|(_, part)| part)
}

/// The key of a change.
fn key(change: &str) -> &str {
    change.split('=').next().unwrap_or_default().trim()
}

/// Whether a key selects a mechanism: two of them may share the type of their state.
fn selects(key: &str) -> bool {
    ["name", "kind", "preset", "variant", "base"].contains(&key.rsplit('.').next().unwrap_or_default())
}

impl Session {
    /// Changes values of a stopped run, as overrides of the form `key=value`. Whatever has happened stays; the new values
    /// hold from the present instant on. If this fails, nothing has changed.
    ///
    /// # Errors
    /// Returns an error if the scenario with the new values is refused, or if they change more than thresholds of buffers,
    /// parameters of protocols, rates of paced workloads and failures of links that are to come.
    pub fn set(&mut self, changes: &[String]) -> Result<(), ChangeError> {
        self.guarded(|session| session.change(changes)).unwrap_or_else(|error| Err(ChangeError::Study(error)))
    }

    fn change(&mut self, changes: &[String]) -> Result<(), ChangeError> {
        if let Some(ended) = &self.ended {
            let reason = match ended.outcome {
                Outcome::Interrupted => {
                    "the run was interrupted between two instants; run it on to an instant".to_owned()
                }
                _ => format!("the run is {}; nothing can change any more", outcome_word(&ended.outcome)),
            };
            return Err(ChangeError::Over(reason));
        }
        let refused = |part: &str| ChangeError::Refused { changes: changes.join(", "), part: part.to_owned() };
        if changes.iter().any(|change| selects(key(change))) {
            return Err(refused("the choice of a mechanism"));
        }
        if changes.iter().any(|change| key(change) == "run.seed") {
            return Err(refused("the seed"));
        }
        let inputs: Vec<(String, String)> =
            self.plan.inputs().map(|input| (input.file.clone(), input.text.to_owned())).collect();
        let overrides: Vec<String> = self.plan.overrides().chain(changes.iter().cloned()).collect();
        let plan = load_inputs(&inputs, &overrides, self.plan.run.seed).map_err(|error| match error {
            SavedError::Scenario(errors) => ChangeError::Scenario(errors),
            other => ChangeError::Over(other.to_string()),
        })?;
        let part = self.plan.spec.unchangeable(&plan.spec, self.now).or_else(|| differs(&self.plan, &plan));
        if let Some(part) = part {
            return Err(refused(part));
        }
        if self.now == Time::ZERO && self.simulation.totals().made_frames == 0 {
            // Nothing has happened: a script may begin now.
            let shards = self.simulation.shards();
            let partition = fabric::Partition::Explicit(self.simulation.partition());
            let watch = watch_of(&plan, self.records);
            self.simulation = super::session::build(&plan, &watch, partition, shards).map_err(ChangeError::Study)?;
        } else {
            let changed = self.simulation.changed(&plan.spec);
            let changed = changed.map_err(|errors| ChangeError::Study(StudyError::Build(errors)))?;
            self.simulation = changed.ok_or_else(|| refused("the state that is kept"))?;
        }
        self.plan = Arc::new(plan);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Limits, NoFiles, load_str};
    use std::sync::atomic::AtomicBool;
    use units::Span;

    const TEXT: &str = r#"
        schema_version = 1
        [network]
        topology = "single-switch"
        hosts = 5
        link = { rate = "10Gb/s", latency = "500ns" }
        [[switches]]
        flow_control = "pfc"
        buffers = { capacity = "200KB", xoff = "60KB", xon = "50KB" }
        [congestion_point]
        name = "ecn"
        kmin = "20KB"
        kmax = "100KB"
        pmax = 0.1
        [protocol]
        name = "dcqcn"
        [[workloads]]
        name = "incast"
        kind = "greedy"
        from = ["h1", "h2", "h3"]
        to = "h0"
        [[workloads]]
        name = "paced"
        kind = "paced"
        from = "h4"
        to = "h1"
        rate = "1Gb/s"
        [run]
        duration = "2ms"
    "#;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn start(changes: &[&str]) -> Session {
        let overrides: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
        let plan = load_str("change", TEXT, &overrides, &NoFiles, Limits::default());
        Session::start(plan.unwrap_or_else(|errors| panic!("{}", errors.render(false))), 1, false).unwrap()
    }

    fn run(session: &mut Session, micros: u64) {
        session.run_until(at(micros), &AtomicBool::new(false)).unwrap();
    }

    /// Makes one change, or two: no value has a blank and a key.
    fn set(session: &mut Session, change: &str) -> Result<(), ChangeError> {
        let parts = change.split(" switches").enumerate();
        let parts = parts.map(|(number, part)| if number == 0 { part.to_owned() } else { format!("switches{part}") });
        session.set(&parts.collect::<Vec<_>>())
    }

    #[test]
    fn the_same_value_changes_nothing_and_a_change_at_the_start_is_another_scenario() {
        let mut plain = start(&[]);
        let mut same = start(&[]);
        run(&mut plain, 1000);
        run(&mut same, 333);
        set(&mut same, "switches[0].buffers[0].xoff=60KB").unwrap();
        run(&mut same, 1000);
        assert_eq!(same.fingerprint(), plain.fingerprint());
        let changes = ["switches[0].buffers[0].xon=3KB", "switches[0].buffers[0].xoff=5KB"];
        let (mut early, mut other) = (start(&[]), start(&changes));
        set(&mut early, &changes.join(" ")).unwrap();
        run(&mut early, 1000);
        run(&mut other, 1000);
        assert_eq!(early.fingerprint(), other.fingerprint());
        assert_ne!(early.fingerprint(), plain.fingerprint());
    }

    #[test]
    fn thresholds_parameters_and_rates_change_the_future_and_not_the_past() {
        for change in [
            "congestion_point.kmin=90KB",
            "switches[0].buffers[0].xon=3KB switches[0].buffers[0].xoff=5KB",
            "protocol.g=0.5",
            "workloads[1].rate=3Gb/s",
            "protocol.ai_rate=400Mb/s",
        ] {
            let mut session = start(&[]);
            run(&mut session, 10);
            let (before, mut plain) = (session.totals(), session.clone());
            set(&mut session, change).unwrap_or_else(|error| panic!("{change}: {error}"));
            assert_eq!((session.totals(), session.now()), (before, at(10)), "{change}");
            run(&mut session, 2000);
            run(&mut plain, 2000);
            assert_ne!(session.fingerprint(), plain.fingerprint(), "{change}");
            // A changed run is saved and resumed like any other.
            let mut half = start(&[]);
            run(&mut half, 10);
            set(&mut half, change).unwrap();
            run(&mut half, 900);
            let mut resumed = Session::resume(&half.save().unwrap(), 1).unwrap();
            run(&mut resumed, 2000);
            assert_eq!(resumed.fingerprint(), session.fingerprint(), "{change}");
        }
    }

    #[test]
    fn a_rate_that_is_raised_is_the_rate_from_then_on() {
        let mut session = start(&[]);
        run(&mut session, 500);
        let before = session.flows()[3].made_frames;
        set(&mut session, "workloads[1].rate=4Gb/s").unwrap();
        run(&mut session, 1000);
        let after = session.flows()[3].made_frames - before;
        assert!((3.8..4.2).contains(&(after as f64 / before as f64)), "{before} then {after}");
    }

    #[test]
    fn a_link_fails_when_it_is_told_to() {
        let mut session = start(&[]);
        run(&mut session, 500);
        let fault = r#"faults=[{between=["h1","sw0"], down="600us", up="700us"}]"#;
        set(&mut session, fault).unwrap_or_else(|error| panic!("{error}"));
        let received = |session: &Session| session.flows()[0].received_bytes;
        let mut bytes = vec![received(&session)];
        for micros in [602, 700, 1000] {
            run(&mut session, micros);
            bytes.push(received(&session));
        }
        // What was beyond the link when it failed arrives.
        assert!(bytes[1] > bytes[0] && bytes[2] - bytes[1] < 60_000 && bytes[3] > bytes[2], "{bytes:?}");
        let mut plain = start(&[]);
        run(&mut plain, 1000);
        assert!(received(&plain) > bytes[3], "{bytes:?}");
        // What has happened cannot be taken back.
        let refusal = set(&mut session, "faults=[]").unwrap_err().to_string();
        assert!(refusal.contains("failures of links that have happened"), "{refusal}");
    }

    #[test]
    fn everything_else_is_refused_with_its_reason_and_changes_nothing() {
        let refusals = [
            ("network.hosts=6", "nodes or links"),
            ("network.link.rate=20Gb/s", "nodes or links"),
            ("switches[0].buffers[0].capacity=300KB", "beyond thresholds"),
            ("run.duration=3ms", "settings of the run"),
            ("run.seed=9", "the seed"),
            ("workloads[0].to=h4", "ends, starts or sizes of flows"),
            ("protocol.name=hpcc", "the choice of a mechanism"),
            ("protocol.unheard_of=1", "unheard_of"),
            ("switches[0].buffers[0].xoff=500KB", "xoff"),
        ];
        for (change, reason) in refusals {
            let mut session = start(&[]);
            run(&mut session, 300);
            let refusal = set(&mut session, change).unwrap_err().to_string();
            assert!(refusal.contains(reason), "{change}: {refusal}");
            let mut plain = start(&[]);
            run(&mut plain, 600);
            run(&mut session, 600);
            assert_eq!(session.fingerprint(), plain.fingerprint(), "{change}");
        }
    }
}
