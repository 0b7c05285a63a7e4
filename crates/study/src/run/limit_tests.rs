//! Recording limits of runs that are stopped, saved and resumed: they are met where a run without a stop meets them.

use super::execute::{Execution, Existing, Options, Recording, StudyError, execute, finish};
use super::session::Session;
use fabric::record::{Recorder, drain_before};
use fabric::{Limit, Outcome};
use results::Results;
use scenario::{Limits, NoFiles, Plan, load_str};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use units::{Span, Time};

const TEXT: &str = r#"
    schema_version = 1
    [network]
    topology = "single-switch"
    hosts = 4
    link = { rate = "10Gb/s", latency = "500ns" }
    [[switches]]
    flow_control = "pfc"
    buffers = { capacity = "100KB" }
    [[workloads]]
    kind = "greedy"
    from = ["h1", "h2", "h3"]
    to = "h0"
    [probes]
    sample_every = "5ms"
    [run]
    duration = "5ms"
    inspect_every = "1ms"
"#;

fn plan(rows: u64) -> Plan {
    let limit = format!("probes.max_rows={rows}");
    let plan = load_str("limits", TEXT, &[limit], &NoFiles, Limits::default());
    plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// A scratch folder, removed at the end.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn rows(out: &Path) -> u64 {
    Results::open(out).unwrap().manifest.tables.iter().map(|table| table.rows).sum()
}

fn whole(plan: &Plan, out: &Path) -> Execution {
    let record = Recording { out: out.to_owned(), existing: Existing::Replace };
    execute(plan, &Options { record: Some(&record), ..Options::default() }, |_| {}).unwrap()
}

/// Stops, saves and resumes. With `relieved`, full recorders hand over their rows at the stop.
fn resumed(plan: &Plan, stop: Time, relieved: bool, out: &Path) -> Result<Execution, StudyError> {
    let mut session = Session::start(plan.clone(), 1, true).unwrap();
    session.run_until(stop, &AtomicBool::new(false)).unwrap();
    if relieved {
        let mut probes: Vec<&mut Recorder> = session.simulation.probes_mut().collect();
        let rows = drain_before(&mut probes, stop);
        session.past.take(&rows, false);
    }
    let session = Session::resume(&session.save().unwrap(), 1).unwrap();
    let record = Recording { out: out.to_owned(), existing: Existing::Replace };
    finish(session, &Options { record: Some(&record), ..Options::default() }, |_| {}, |_| Ok(()))
}

#[test]
fn a_recording_limit_ends_a_resumed_run_where_it_ends_one_without_a_stop() {
    let place = Place(std::env::temp_dir().join(format!("tailback-limits-{}", std::process::id())));
    let (one, other) = (place.0.join("one"), place.0.join("other"));
    whole(&plan(1_000_000), &one);
    // Passed in the middle of the run by rows of pauses, and known at the next inspection.
    let plan = plan(rows(&one) / 2);
    let straight = whole(&plan, &one);
    let limit = Outcome::LimitReached(Limit::Rows(plan.probes.max_rows));
    let end = straight.report.now.saturating_since(Time::ZERO).as_picos() / 1_000_000;
    assert!(straight.report.outcome == limit && (2000..=4000).contains(&end), "{:?} {end}", straight.report.outcome);
    for (stop, relieved) in [(50, false), (end - 1500, true), (end - 1, false), (end - 1, true)] {
        let resumed = resumed(&plan, at(stop), relieved, &other).unwrap_or_else(|error| panic!("{stop} us: {error}"));
        assert_eq!((&resumed.report.outcome, resumed.report.now), (&limit, at(end)), "{stop} us, {relieved}");
        assert_eq!(resumed.report.fingerprint, straight.report.fingerprint, "{stop} us, {relieved}");
        assert_eq!(rows(&other), rows(&one), "{stop} us, {relieved}");
    }
    for stop in [end + 1, end + 600] {
        let refusal = resumed(&plan, at(stop), false, &other).unwrap_err();
        assert!(matches!(&refusal, StudyError::TooMuch(text) if text.contains("before the stop")), "{refusal}");
    }
}
