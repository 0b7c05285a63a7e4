//! Execution of a plan: building, running, measuring and, optionally, recording.

use super::ended::{Ended, Kept, known};
use super::network::{network, plan_record};
use super::ranks::{agree, build_part, limits, rows, watched, wires};
use super::session::{Session, Stopped};
use super::volume::{Volume, judge};
use crate::capture::{Capture, CaptureFile};
use crate::judge::documents::judgement_record;
use crate::judge::verdict::{Judgement, Verdict, judge_run};
use crate::measure::causes::{CauseRow, MomentRow, RootRow, followed};
use crate::measure::collectives::{CollectiveRow, RankRow};
use crate::measure::measures::{Measures, Snapshot, outcome_word};
use crate::measure::requests::RequestRow;
use crate::measure::shares::shares_of_run;
use crate::measure::watch::{Extremes, ExtremesWatch, Needs};
use engine::{Alone, Ranks};
use fabric::record::{Recorder, RecorderSpec, Rows, Selection, finish_among, port_rows};
use fabric::{BuildErrors, Limit, Outcome, Progress, RunSummary, Simulation};
use files::output::OutputFile;
use files::text::for_terminal;
use results::document::{Document, Network};
use results::{CAPTURE_FILE, EXPECTATIONS_FILE, Input, Leftover, Manifest, ResultWriter, ResultsError, write_ending};
use scenario::{Metric, Plan, ProbeSettings, Stage, explain};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use units::Time;

/// Destination of a recorded run.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The results directory.
    pub out: PathBuf,
    /// Action if the directory exists.
    pub existing: Existing,
}

/// Action if the destination of a result exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Refuse to run.
    Refuse,
    /// Replace an older result.
    Replace,
    /// Use the first of NAME-2, NAME-3, ... that is free when the result is complete.
    NextName,
}

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Maximum number of threads. Fewer are used if the machine has fewer cores or the network is too small.
    pub threads: usize,
    /// Set by the caller to stop the run, at any time.
    pub interrupt: &'a AtomicBool,
    /// Set by the caller before `interrupt` if the run stops because its limit of wall time is reached.
    pub time_up: Option<&'a AtomicBool>,
    /// Destination of the recording, if any.
    pub record: Option<&'a Recording>,
    /// Frames to capture, if any.
    pub capture: Option<&'a Capture>,
}

impl Default for Options<'_> {
    /// One thread, nothing recorded or captured, and nothing that interrupts the run.
    fn default() -> Self {
        /// Nobody can set it.
        static NEVER: AtomicBool = AtomicBool::new(false);
        Options { threads: 1, interrupt: &NEVER, time_up: None, record: None, capture: None }
    }
}

/// Returns the number of threads that this machine can run in parallel.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// A recorded run whose tables are complete but not yet at their final path.
#[derive(Debug)]
pub struct Draft<'a> {
    /// Temporary path of the results, which can already be read.
    pub directory: &'a Path,
    /// Measurements of the run.
    pub measures: &'a Measures,
}

/// A completed run.
#[derive(Debug)]
pub struct Execution {
    /// Summary of the run.
    pub report: RunSummary,
    /// Measurements of the run.
    pub measures: Measures,
    /// Its fullest queue and its longest pauses, if it was recorded.
    pub extremes: Extremes,
    /// Verdicts on the expectations of the scenario.
    pub judgements: Vec<Judgement>,
    /// Wall time, including building.
    pub wall: Duration,
    /// Path of the recorded results, if any.
    pub recorded: Option<PathBuf>,
    /// The error that prevented additional files next to the tables, if any.
    pub lacking: Option<ResultsError>,
    /// The capture, if any.
    pub captured: Option<Captured>,
    /// The capture file, if it is not part of the results. The caller decides whether to commit it.
    pub capture_file: Option<OutputFile>,
    /// Unfinished results found next to the destination and kept.
    pub leftovers: Vec<Leftover>,
}

/// A capture that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Path of the file.
    pub file: PathBuf,
    /// Number of captured frames.
    pub frames: u64,
    /// Number of frames that are longer than simulated because the headers of their format need so many octets.
    pub longer: u64,
    /// The longest of these, in octets.
    pub longest: usize,
}

/// An error of running or recording a plan.
#[derive(Debug)]
pub enum StudyError {
    /// The network cannot be built. Loading a scenario finds this first.
    Build(BuildErrors),
    /// The results cannot be written.
    Results(ResultsError),
    /// The run would exceed its recording limit; contains the reason and the remedy.
    TooMuch(String),
    /// A run that was started without recording is to be recorded.
    NotRecorded,
    /// The recorded part of a stopped run cannot be read.
    Damaged,
    /// The state of a run that was saved to a file contradicts itself; contains what was noticed.
    Contradiction(String),
    /// Another rank of the run failed.
    Rank {
        /// Its number.
        rank: usize,
        /// Its error.
        reason: String,
    },
}

impl std::fmt::Display for StudyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StudyError::Build(errors) => errors.fmt(f),
            StudyError::Results(error) => error.fmt(f),
            StudyError::TooMuch(text) => f.write_str(text),
            StudyError::NotRecorded => {
                f.write_str("the run was started without recording; start it with recording to have its tables")
            }
            StudyError::Damaged => f.write_str("the recorded part of the stopped run is damaged"),
            StudyError::Contradiction(reason) => write!(
                f,
                "the state in the saved simulation contradicts itself ({reason}): the file was changed after it was saved, \
                 or this is an error of the program\n  run the scenario again, and report it if that fails, too"
            ),
            StudyError::Rank { rank, reason } => write!(f, "rank {rank}: {reason}"),
        }
    }
}

impl std::error::Error for StudyError {}

impl From<ResultsError> for StudyError {
    fn from(error: ResultsError) -> StudyError {
        StudyError::Results(error)
    }
}

impl Execution {
    /// Whether the run ended as its scenario expects, where it says so.
    #[must_use]
    pub fn ended_as_expected(&self) -> bool {
        let agrees = |it: &Judgement| it.expectation.metric == Metric::Outcome && it.verdict == Verdict::Agrees;
        self.judgements.iter().any(agrees)
    }
}

/// Returns the recorder configuration of a plan.
#[must_use]
pub fn recorder_spec(plan: &Plan) -> RecorderSpec {
    let probes = &plan.probes;
    let ports = plan.spec.graph.ports();
    // What expectations are judged by is recorded whether or not it was asked for.
    let needs = Needs::of(plan);
    let mut chosen = Vec::new();
    let mut first = 0;
    for (node, ports) in ports.iter().enumerate() {
        let all = probes.nodes.get(node).copied().unwrap_or(true);
        chosen.extend((first..first + ports.len() as u32).filter(|port| all || needs.ports.contains(port)));
        first += ports.len() as u32;
    }
    let all = chosen.len() as u32 == first;
    RecorderSpec {
        sample_every: Some(probes.sample_every),
        links: probes.links || needs.links,
        queues: probes.queues || needs.queues,
        occupancy: probes.occupancy || needs.occupancy,
        rates: probes.rates || needs.rates,
        pauses: probes.pauses || needs.pauses,
        drops: probes.drops,
        notices: probes.notices || needs.notices,
        waits: probes.links || needs.waits,
        levels: probes.queues,
        delays_of: Selection::only(needs.delays_of.iter().copied()),
        flow_samples: probes.flows || needs.deliveries,
        deliveries: probes.flows,
        ports: if all { Selection::All } else { Selection::only(chosen) },
        flows: Selection::All,
        frames: Selection::none(),
        causes: probes.causes || needs.causes,
        followed: if probes.causes || needs.causes { followed(&plan.spec) } else { Selection::none() },
    }
}

/// Passes the rows of a run to the results, if recorded.
struct Sink<'a> {
    writer: Option<ResultWriter>,
    capture: Option<CaptureFile<'a>>,
    extremes: Option<ExtremesWatch>,
    failed: Option<ResultsError>,
}

impl Sink<'_> {
    fn capture(&mut self, rows: &Rows) {
        if let Some(capture) = &mut self.capture
            && self.failed.is_none()
        {
            self.failed = capture.take(&rows.frames).err();
        }
    }

    fn watch(&mut self, rows: &Rows) {
        if let Some(extremes) = &mut self.extremes {
            extremes.take(rows);
        }
    }

    /// Returns whether the recording limit is reached.
    fn judge(&mut self, probes: &ProbeSettings) -> ControlFlow<Limit> {
        let judged = self.writer.as_ref().map_or(Ok(ControlFlow::Continue(())), |writer| judge(writer, probes));
        judged.unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            ControlFlow::Break(Limit::WallClock)
        })
    }

    fn take(&mut self, rows: &Rows) {
        self.watch(rows);
        self.capture(rows);
        if let Some(writer) = &mut self.writer
            && self.failed.is_none()
        {
            self.failed = writer.append(rows).err();
        }
    }
}

/// Runs a plan. `progress` is called once when the network is built, before anything is written, and at every
/// inspection.
///
/// # Errors
/// Returns an error if the network cannot be built or its results cannot be written.
pub fn execute(
    plan: &Plan,
    options: &Options<'_>,
    progress: impl FnMut(Progress) + Send,
) -> Result<Execution, StudyError> {
    execute_with(plan, options, progress, |_| Ok(()))
}

/// Runs a plan as [`execute`] does. `complete` adds files next to the tables before the results are moved into place.
/// If it fails, the tables are kept without these files.
///
/// # Errors
/// Returns the errors of [`execute`].
pub fn execute_with(
    plan: &Plan,
    options: &Options<'_>,
    progress: impl FnMut(Progress) + Send,
    complete: impl FnOnce(&Draft<'_>) -> Result<(), ResultsError>,
) -> Result<Execution, StudyError> {
    execute_among(&mut Alone, plan, options, progress, complete)
}

/// Runs a stopped run to its end. The result is that of [`execute_with`] without the stop.
///
/// # Errors
/// Returns the errors of [`execute`], and an error if the run is to be recorded and was not until now.
pub fn finish(
    session: Session,
    options: &Options<'_>,
    progress: impl FnMut(Progress),
    complete: impl FnOnce(&Draft<'_>) -> Result<(), ResultsError>,
) -> Result<Execution, StudyError> {
    if let Some(error) = session.unusable() {
        return Err(error);
    }
    session.origin.clone().contain(|| finish_sound(session, options, progress, complete))?
}

fn finish_sound(
    session: Session,
    options: &Options<'_>,
    mut progress: impl FnMut(Progress),
    complete: impl FnOnce(&Draft<'_>) -> Result<(), ResultsError>,
) -> Result<Execution, StudyError> {
    #[expect(clippy::disallowed_methods, reason = "how long a run takes is not part of its result")]
    let start = Instant::now();
    let plan = session.shared_plan();
    let ready = resume(session, &plan, options, &mut progress)?;
    conclude(&mut Alone, &plan, options, ready, start, progress, complete)
}

/// Runs a plan as [`execute_with`] does, on several ranks. The first one calls this, and has the results of all; the others
/// call [`assist`](super::assist).
///
/// # Errors
/// Returns the errors of [`execute`], and those of other ranks.
pub fn execute_among(
    ranks: &mut dyn Ranks,
    plan: &Plan,
    options: &Options<'_>,
    mut progress: impl FnMut(Progress),
    complete: impl FnOnce(&Draft<'_>) -> Result<(), ResultsError>,
) -> Result<Execution, StudyError> {
    #[expect(clippy::disallowed_methods, reason = "how long a run takes is not part of its result")]
    let start = Instant::now();
    let ready = set_up(ranks, plan, options, &mut progress);
    let ready = agree(ranks, ready)?;
    conclude(ranks, plan, options, ready, start, progress, complete)
}

/// Runs to the end, measures and writes the results.
fn conclude(
    ranks: &mut dyn Ranks,
    plan: &Plan,
    options: &Options<'_>,
    ready: Ready<'_>,
    start: Instant,
    mut progress: impl FnMut(Progress),
    complete: impl FnOnce(&Draft<'_>) -> Result<(), ResultsError>,
) -> Result<Execution, StudyError> {
    let Ready { mut simulation, threads, mut sink, leftovers, mut kept } = ready;
    let marks = kept.instants();
    // Rows and marks are told to it by turns.
    let shared = RefCell::new(&mut kept);
    let mut report = simulation.run_among(
        ranks,
        &limits(plan, options, threads),
        &marks,
        |seen, probes, ranks| {
            let rows = rows(ranks, seen, probes);
            shared.borrow_mut().take(&rows);
            sink.take(&rows);
            progress(seen);
            let wish = sink.judge(&plan.probes);
            match &sink.failed {
                Some(_) => ControlFlow::Break(Limit::WallClock),
                None if seen.inspection => wish,
                None => ControlFlow::Continue(()),
            }
        },
        |mark, ranks| shared.borrow_mut().mark(plan, mark, ranks),
    );
    // The instant at which a clock or a person ends a run is nobody's to repeat; which of the two it was is known here.
    let time_up = || options.time_up.is_some_and(|up| up.load(Ordering::Relaxed));
    if report.outcome == Outcome::Interrupted && time_up() {
        report.outcome = Outcome::LimitReached(Limit::WallClock);
    }
    let flows = simulation.flows_among(ranks);
    let mut probes: Vec<&mut Recorder> = simulation.probes_mut().collect();
    let wires = wires(ranks, plan, &probes, report.now);
    let ending = finish_among(ranks, &mut probes, report.now);
    if matches!(report.outcome, Outcome::Finished | Outcome::Stalled(_)) {
        // Time passes also where nothing is left to happen, whether or not samples are taken meanwhile.
        report.now = Time::ZERO + plan.run.duration;
    }
    kept.conclude(&ending);
    sink.watch(&ending.rows);
    sink.capture(&ending.rows);
    if let Some(error) = sink.failed {
        return Err(error.into());
    }
    // What is measured from here on needs the state of the network no more, and takes as much memory again.
    drop(simulation);
    let end = Snapshot { at: report.now, flows, totals: report.totals, wires };
    let Ended { actual, mut measures, reached, end, causes } = kept.measure(plan, &report, end);
    let plan = actual.as_ref().unwrap_or(plan);
    let extremes = sink.extremes.map(|extremes| extremes.close(reached)).unwrap_or_default();
    let (mut captured, mut capture_file) = (None, None);
    if let Some(capture) = sink.capture {
        captured = Some(Captured {
            file: PathBuf::new(),
            frames: capture.frames,
            longer: capture.longer,
            longest: capture.longest,
        });
        let (path, file) = capture.finish()?;
        match options.capture.is_some_and(|capture| capture.file.is_some()) {
            true => capture_file = Some(file),
            false => file.commit().map_err(|source| ResultsError::Io { doing: "write", path, source })?,
        }
    }
    let mut shares = None;
    if let Some(writer) = &mut sink.writer {
        write_ending(&plan.spec, end.flows.iter(), &ending, report.now, known(plan, &measures), writer)?;
        let found = shares_of_run(plan, &end.flows, reached, time_up);
        writer.write(&found.rows)?;
        if let Some(causes) = &causes {
            let limited = |flow: u32| found.of(flow as usize).map(|share| share.bottleneck.is_some());
            writer.write(&CauseRow::all(&causes.flows))?;
            writer.write(&RootRow::all(&causes.flows, limited))?;
            writer.write(&MomentRow::all(&causes.flows))?;
            writer.write(&causes.trees)?;
        }
        writer.write(&CollectiveRow::all(plan, &measures.collectives))?;
        writer.write(&RankRow::all(plan, &end.flows))?;
        writer.write(&RequestRow::all(plan, &measures.requests))?;
        shares = Some(found);
    }
    // A run that was complete in time, but not its results, has reached its limit, too.
    if report.outcome == Outcome::Finished && time_up() {
        report.outcome = Outcome::LimitReached(Limit::WallClock);
        measures.outcome = outcome_word(&report.outcome);
    }
    let judgements = judge_run(plan, &measures);
    let (mut recorded, mut lacking) = (None, None);
    if let Some(mut writer) = sink.writer {
        for (number, input) in plan.inputs().enumerate() {
            writer.attach(&copy_name(number, &input.file), input.text.as_bytes())?;
        }
        // The name of a file may hold what a terminal obeys.
        writer.attach("plan.toml.txt", for_terminal(&explain(plan)).as_bytes())?;
        writer.attach(Network::FILE, network(plan, &shares.unwrap_or_default()).to_text().as_bytes())?;
        if !judgements.is_empty() {
            let records: Vec<_> = judgements.iter().map(judgement_record).collect();
            let text = format!("{:#}\n", serde_json::to_value(records).unwrap_or_default());
            writer.attach(EXPECTATIONS_FILE, text.as_bytes())?;
        }
        let mut finished = writer.finish(manifest(plan, &report, threads * ranks.count(), start.elapsed()))?;
        lacking = finished.add(|directory| complete(&Draft { directory, measures: &measures })).err();
        recorded = Some(finished.commit()?);
    }
    let captured = captured.zip(options.capture).map(|(captured, capture)| {
        let in_results = || recorded.as_ref().map(|out: &PathBuf| out.join(CAPTURE_FILE));
        Captured { file: capture.file.clone().or_else(in_results).unwrap_or_default(), ..captured }
    });
    Ok(Execution {
        report,
        measures,
        extremes,
        judgements,
        wall: start.elapsed(),
        recorded,
        lacking,
        captured,
        capture_file,
        leftovers,
    })
}

/// A run that can begin.
struct Ready<'a> {
    simulation: Simulation<Recorder>,
    threads: usize,
    sink: Sink<'a>,
    leftovers: Vec<Leftover>,
    kept: Kept,
}

/// Builds the part of the network that is on the first rank, and makes what takes its results.
fn set_up<'a>(
    ranks: &dyn Ranks,
    plan: &'a Plan,
    options: &Options<'a>,
    progress: &mut impl FnMut(Progress),
) -> Result<Ready<'a>, StudyError> {
    let watch = watched(plan, options);
    if options.record.is_some()
        && let Some(text) = Volume::of(plan, &watch).too_much(&plan.probes)
    {
        return Err(StudyError::TooMuch(text));
    }
    if let Some(Recording { out, existing }) = options.record
        && *existing != Existing::NextName
    {
        ResultWriter::check(out, *existing == Existing::Replace)?;
    }
    plan.notify(Stage::Building);
    let (simulation, threads) = build_part(ranks, plan, options, &watch)?;
    let kept = Kept::new(plan, watch.causes);
    let (sink, leftovers) = destination(plan, options, &watch, progress)?;
    Ok(Ready { simulation, threads, sink, leftovers, kept })
}

/// Takes a stopped run to go on with: what was recorded goes where its results go.
fn resume<'a>(
    session: Session,
    plan: &'a Plan,
    options: &Options<'a>,
    progress: &mut impl FnMut(Progress),
) -> Result<Ready<'a>, StudyError> {
    let Stopped { simulation, threads, watch, marks, past, records } = session.take(options.threads);
    if options.record.is_some() && !records {
        return Err(StudyError::NotRecorded);
    }
    if let Some(Recording { out, existing }) = options.record
        && *existing != Existing::NextName
    {
        ResultWriter::check(out, *existing == Existing::Replace)?;
    }
    let mut kept = Kept::new(plan, watch.causes);
    kept.resume(marks);
    let (mut sink, leftovers) = destination(plan, options, &watch, progress)?;
    for rows in past.pieces() {
        let (rows, inspected) = rows.ok_or(StudyError::Damaged)?;
        kept.take(&rows);
        sink.take(&rows);
        // As in a run without a stop, which would have ended there.
        if inspected && sink.judge(&plan.probes).is_break() {
            let text = "the recording limit was reached before the stop: raise probes.max_rows or probes.max_size, or record less";
            return Err(StudyError::TooMuch(text.into()));
        }
    }
    Ok(Ready { simulation, threads, sink, leftovers, kept })
}

/// Creates the files of the results.
fn destination<'a>(
    plan: &'a Plan,
    options: &Options<'a>,
    watch: &RecorderSpec,
    progress: &mut impl FnMut(Progress),
) -> Result<(Sink<'a>, Vec<Leftover>), StudyError> {
    // All that takes long before the run is done: whoever ends the program until now leaves nothing on the disk.
    progress(Progress { now: Time::ZERO, inspection: true, events: 0, hops: 0 });
    let mut writer = match options.record {
        Some(Recording { out, existing: Existing::NextName }) => Some(ResultWriter::create_numbered(out, watch)?),
        Some(Recording { out, existing }) => Some(ResultWriter::create(out, *existing == Existing::Replace, watch)?),
        None => None,
    };
    let leftovers = writer.as_ref().map(|writer| writer.leftovers().to_vec()).unwrap_or_default();
    if let Some(writer) = &mut writer {
        writer.write(&port_rows(&plan.spec.graph))?;
    }
    let place = |capture: &Capture| {
        capture.file.clone().or_else(|| writer.as_ref().map(|writer| writer.partial().join(CAPTURE_FILE)))
    };
    let capture = match options.capture.and_then(|capture| Some((capture, place(capture)?))) {
        Some((capture, path)) => Some(CaptureFile::create(&path, plan, capture)?),
        None => None,
    };
    let extremes = options.record.map(|_| ExtremesWatch::new(plan, watch));
    Ok((Sink { writer, capture, extremes, failed: None }, leftovers))
}

/// Returns the name of the copy of an input file in the results.
fn copy_name(number: usize, path: &str) -> String {
    let plain = |ending: &&str| ending.len() <= 8 && ending.bytes().all(|octet| octet.is_ascii_alphanumeric());
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str()).filter(plain);
    ending.map_or(format!("input-{number}"), |ending| format!("input-{number}.{ending}"))
}

fn kept_input(number: usize, input: &scenario::Input<'_>) -> Input {
    let hash = format!("sha256:{}", input.sha256);
    Input { path: input.file.clone(), hash, copy: Some(copy_name(number, &input.file)) }
}

/// Returns the manifest of a run.
pub(super) fn manifest(plan: &Plan, report: &RunSummary, threads: usize, wall: Duration) -> Manifest {
    Manifest {
        name: plan.name.clone(),
        plan: plan_record(plan),
        seed: plan.run.seed,
        inputs: (0..).zip(plan.inputs()).map(|(number, input)| kept_input(number, &input)).collect(),
        sample_every: Some(plan.probes.sample_every.as_picos()),
        wall_seconds: wall.as_secs_f64(),
        threads,
        ..Manifest::of(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::flow_measures::FlowMeasures;
    use fabric::record::schema;
    use results::Results;
    use scenario::{NoFiles, load_str};

    const SCENARIO: &str = r#"
        schema_version = 1
        name = "test"
        [network]
        topology = "single-switch"
        hosts = 4
        link = { rate = "10Gb/s", latency = "500ns" }
        [[switches]]
        flow_control = "pfc"
        buffers = { capacity = "200KB" }
        [[workloads]]
        name = "many"
        kind = "uniform-random"
        rate = "2Gb/s"
        [[workloads]]
        name = "one"
        kind = "greedy"
        from = "h1"
        to = "h0"
        [run]
        duration = "1ms"
        warm_up = "200us"
    "#;

    fn run(record: Option<&Recording>, threads: usize) -> Execution {
        let plan = load_str("test", SCENARIO, &[], &NoFiles, scenario::Limits::default());
        let plan = plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let interrupt = std::sync::atomic::AtomicBool::new(false);
        execute(&plan, &Options { threads, time_up: None, interrupt: &interrupt, record, capture: None }, |_| {})
            .unwrap()
    }

    #[test]
    fn recording_and_threads_change_no_measurement() {
        let out = std::env::temp_dir().join(format!("tailback-execute-{}", std::process::id()));
        let recorded = run(Some(&Recording { out: out.clone(), existing: Existing::Replace }), 3);
        let bare = run(None, 1);
        assert_eq!(recorded.report.fingerprint, bare.report.fingerprint);
        let throughput = |run: &Execution| run.measures.flows.iter().map(|flow| flow.throughput).collect::<Vec<f64>>();
        assert_eq!(throughput(&recorded), throughput(&bare));
        // Flows to many have no single destination: an empty cell among others that are not.
        let flows = Results::open(&out).unwrap().read(&schema::FLOWS).unwrap();
        let destinations = flows.texts("destination");
        assert_eq!(flows.len(), 5);
        assert!(destinations.iter().any(|name| name == "h0") && destinations.iter().any(String::is_empty));
        std::fs::remove_dir_all(&out).unwrap();
    }

    /// The clock ends a run between two alarms; what is left then is to write its results.
    #[test]
    fn a_run_whose_time_is_up_when_its_last_rows_are_written_has_reached_its_limit() {
        let plan = load_str("test", SCENARIO, &[], &NoFiles, scenario::Limits::default());
        let plan = plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let out = std::env::temp_dir().join(format!("tailback-time-up-{}", std::process::id()));
        let record = Recording { out: out.clone(), existing: Existing::Replace };
        let [interrupt, up] = [(); 2].map(|()| AtomicBool::new(false));
        let options =
            Options { threads: 1, time_up: Some(&up), interrupt: &interrupt, record: Some(&record), capture: None };
        let end = Time::ZERO + plan.run.duration;
        let run = execute(&plan, &options, |seen| up.store(seen.now >= end, Ordering::Relaxed)).unwrap();
        assert_eq!((&run.report.outcome, run.report.now), (&Outcome::LimitReached(Limit::WallClock), end));
        assert_eq!(run.measures.outcome, "limit");
        assert_eq!(Results::open(&out).unwrap().manifest.outcome.kind, "limit");
        std::fs::remove_dir_all(&out).unwrap();
    }

    /// A run without inspections hands over its rows whenever its recorders are full.
    #[test]
    fn rows_are_written_when_recorders_are_full() {
        let often = ["probes.sample_every=100ns", "run.duration=20ms", "run.inspect_every=20ms"].map(str::to_owned);
        let plan = load_str("test", SCENARIO, &often, &NoFiles, scenario::Limits::default());
        let plan = plan.unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let out = std::env::temp_dir().join(format!("tailback-full-{}", std::process::id()));
        let record = Recording { out: out.clone(), existing: Existing::Replace };
        let interrupt = AtomicBool::new(false);
        let options =
            Options { threads: 1, time_up: None, interrupt: &interrupt, record: Some(&record), capture: None };
        let mut between = 0;
        execute(&plan, &options, |seen| between += u64::from(!seen.inspection)).unwrap();
        let rows: u64 = Results::open(&out).unwrap().manifest.tables.iter().map(|table| table.rows).sum();
        let full = rows / super::super::volume::ROWS_HELD as u64;
        assert!(full >= 2 && between >= full, "{rows} rows in {between} pieces");
        std::fs::remove_dir_all(&out).unwrap();
    }

    #[test]
    fn throughput_is_measured_after_the_warm_up() {
        let measures = run(None, 1).measures;
        // The greedy flow gets what the 2 Gb/s of noise from its own host leave of the link.
        let FlowMeasures { throughput: rate, raw_throughput, .. } = measures.flows.get(4).unwrap();
        assert!((raw_throughput / 8e9 - 1.0).abs() < 0.04, "{rate}");
        assert!((raw_throughput / rate - 1520.0 / 1500.0).abs() < 1e-9);
    }
}
