//! Several futures of one past: a stopped run goes on once as it is, and once with each of some changes.

use crate::grid::GridPoint;
use crate::judge::run_record;
use crate::run::{ChangeError, Execution, Options, Session, StudyError, finish};
use fabric::{Progress, Totals};
use results::totals_map;
use scenario::Plan;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use units::Time;

/// No study has more futures.
const MOST_FUTURES: usize = 1000;

/// One future.
#[derive(Debug)]
pub struct Future {
    /// The changed keys with their values; none for the run as it is.
    pub changes: Vec<(String, String)>,
    /// The plan with the changes.
    pub plan: Arc<Plan>,
    /// The run, from its beginning to its end.
    pub execution: Execution,
    /// Sums up to the stop.
    pub before: Totals,
}

/// Why there are no futures.
#[derive(Debug)]
pub enum WhatIfError {
    /// A change is refused.
    Change(ChangeError),
    /// A run failed.
    Study(StudyError),
    /// There are too many combinations of values.
    TooMany(usize),
}

impl std::fmt::Display for WhatIfError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WhatIfError::Change(error) => error.fmt(f),
            WhatIfError::Study(error) => error.fmt(f),
            WhatIfError::TooMany(number) => {
                write!(f, "{number} combinations of values are too many: the limit is {MOST_FUTURES}; vary fewer keys")
            }
        }
    }
}

impl std::error::Error for WhatIfError {}

impl Future {
    /// Returns its changes as text.
    #[must_use]
    pub fn name(&self) -> String {
        let change = |(key, value): &(String, String)| format!("{key}={}", value.trim_matches('"'));
        match self.changes.is_empty() {
            true => "unchanged".into(),
            false => self.changes.iter().map(change).collect::<Vec<_>>().join(", "),
        }
    }

    /// Returns the sums since the stop, by name.
    #[must_use]
    pub fn since(&self) -> Map<String, Value> {
        let before = totals_map(&self.before);
        let number = |map: &Map<String, Value>, name: &str| map.get(name).and_then(Value::as_u64).unwrap_or(0);
        let after = totals_map(&self.execution.report.totals);
        let names = after.keys().cloned();
        names.map(|name| (name.clone(), number(&after, &name).saturating_sub(number(&before, &name)).into())).collect()
    }
}

/// Runs a stopped run to its end: as it is, and with every combination of the values of the axes. `progress` is called with
/// the number of the future and the progress of its run. All changes are made before the first run begins.
///
/// # Errors
/// Returns an error if a change is refused or a run fails.
pub fn what_if(
    session: &Session,
    axes: &[(String, Vec<String>)],
    options: &Options<'_>,
    mut progress: impl FnMut(usize, Progress),
) -> Result<Vec<Future>, WhatIfError> {
    session.with_copies(|| futures_of(session, axes, options, &mut progress)).map_err(WhatIfError::Study)?
}

fn futures_of(
    session: &Session,
    axes: &[(String, Vec<String>)],
    options: &Options<'_>,
    progress: &mut impl FnMut(usize, Progress),
) -> Result<Vec<Future>, WhatIfError> {
    let many = axes.iter().fold(1_usize, |many, (_, values)| many.saturating_mul(values.len()));
    if many > MOST_FUTURES {
        return Err(WhatIfError::TooMany(many));
    }
    let futures: Vec<GridPoint> =
        GridPoint::all(axes).into_iter().filter(|point| !point.overrides.is_empty()).collect();
    // Each is a copy of the network: there is one at a time, though all changes are tried first.
    let changed = |point: &GridPoint| {
        let mut future = session.clone();
        future.set(&point.overrides).map_err(WhatIfError::Change)?;
        Ok(future)
    };
    futures.iter().try_for_each(|point| changed(point).map(|_| ()))?;
    let before = session.totals();
    let mut run = |number: usize, changes: Vec<(String, String)>, future: Session| {
        let plan = future.shared_plan();
        let execution = finish(future, options, |seen| progress(number, seen), |_| Ok(()));
        Ok(Future { changes, plan, execution: execution.map_err(WhatIfError::Study)?, before })
    };
    let mut ended = vec![run(0, Vec::new(), session.clone())?];
    for (number, point) in futures.iter().enumerate() {
        ended.push(run(number + 1, point.cell(), changed(point)?)?);
    }
    Ok(ended)
}

/// Returns the futures as a document.
#[must_use]
pub fn what_if_record(at: Time, futures: &[Future]) -> Value {
    let future = |future: &Future| {
        let changes: Map<String, Value> =
            future.changes.iter().map(|(key, value)| (key.clone(), value.trim_matches('"').into())).collect();
        let run = run_record(&future.plan, &future.execution, &future.execution.judgements);
        json!({ "changes": changes, "since": future.since(), "run": run })
    };
    json!({ "at": at.as_picos(), "futures": futures.iter().map(future).collect::<Vec<_>>() })
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
        buffers = { capacity = "200KB", xoff = "60KB", xon = "20KB" }
        [[workloads]]
        name = "incast"
        kind = "greedy"
        from = ["h1", "h2", "h3"]
        to = "h0"
        [run]
        duration = "1ms"
    "#;

    #[test]
    fn futures_share_their_past_and_differ_by_their_changes() {
        let plan = load_str("futures", TEXT, &[], &NoFiles, Limits::default()).unwrap();
        let quiet = AtomicBool::new(false);
        let mut whole = Session::start(plan.clone(), 1, false).unwrap();
        whole.run_until(Time::ZERO + Span::from_millis(1), &quiet).unwrap();
        let mut session = Session::start(plan, 1, false).unwrap();
        session.run_until(Time::ZERO + Span::from_micros(500), &quiet).unwrap();
        let axes = vec![("switches[0].buffers[0].xoff".to_owned(), vec!["40KB".to_owned(), "120KB".to_owned()])];
        let futures = what_if(&session, &axes, &Options::default(), |_, _| {}).unwrap();
        let names: Vec<String> = futures.iter().map(Future::name).collect();
        let key = "switches[0].buffers[0].xoff";
        assert_eq!(names, ["unchanged".to_owned(), format!("{key}=40KB"), format!("{key}=120KB")]);
        assert_eq!(futures[0].execution.report.fingerprint, whole.fingerprint());
        let pauses = |future: &Future| future.since()["pause_frames"].as_u64().unwrap();
        assert!(pauses(&futures[1]) > pauses(&futures[0]) && pauses(&futures[0]) > pauses(&futures[2]));
        let record = what_if_record(session.now(), &futures);
        assert_eq!(record["futures"][2]["changes"][key], "120KB");
        assert_eq!(record["at"], 500_000_000);
        let wrong = vec![("network.hosts".to_owned(), vec!["9".to_owned()])];
        let refusal = what_if(&session, &wrong, &Options::default(), |_, _| {}).unwrap_err().to_string();
        assert!(refusal.contains("network.hosts=9 changes nodes or links"), "{refusal}");
    }
}
