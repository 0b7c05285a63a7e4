//! What must be true of a scenario that was accepted: one result on any number of threads, nothing forgotten, no loss
//! that `check` did not announce, and a result that every reader can read back.

use crate::effort::Effort;
use crate::random::Random;
use crate::scenario::{Files, NAME, SMALL};
use fabric::record::schema;
use fabric::{BuildOptions, Outcome, RunLimits, Simulation, Totals};
use results::{Batch, Results, ResultsError, differences, export_csv};
use scenario::{Plan, Severity, check, explain, load_str};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use study::{Execution, Existing, Options, Recording, Session, StudyError, execute, finish};
use units::{Span, Time};

/// The numbers of threads that are compared.
const THREADS: [usize; 4] = [1, 2, 3, 5];
/// A run goes no further: at the first inspection after it, it ends.
const MOST_EVENTS: u64 = 50_000;
/// A small scenario that takes longer is a finding.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a scenario that was accepted went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Went {
    /// As the word of its outcome says.
    Ran(&'static str),
    /// Its results were refused, in words: there would be too many.
    Refused,
}

/// Puts a plan through everything; the folder is scratch.
///
/// # Errors
/// What is wrong, for people.
pub fn judge(files: &Files, plan: Plan, folder: &Path, random: &mut Random) -> Result<Went, String> {
    let judged = catch_unwind(AssertUnwindSafe(|| judge_unguarded(files, plan, folder, random)));
    judged.unwrap_or_else(|panic| Err(format!("panicked: {}", crate::words_of(&*panic))))
}

fn judge_unguarded(files: &Files, mut plan: Plan, folder: &Path, random: &mut Random) -> Result<Went, String> {
    let findings = check(&plan);
    if explain(&plan).is_empty() {
        return Err("explain has nothing to say".into());
    }
    // As an override, which goes with a saved run.
    let most = plan.run.max_events.unwrap_or(u64::MAX).min(MOST_EVENTS);
    plan = load_str(NAME, files.text(), &[format!("run.max_events={most}")], files, SMALL)
        .map_err(|errors| format!("with a limit of events: {}", errors.render(false)))?;
    let quiet = AtomicBool::new(false);
    let mut first: Option<(Execution, PathBuf)> = None;
    for threads in THREADS {
        let out = folder.join(format!("on-{threads}"));
        let record = Recording { out: out.clone(), existing: Existing::Refuse };
        let options = Options { threads, time_up: None, interrupt: &quiet, record: Some(&record), capture: None };
        let effort = Effort::of_this_thread();
        let give_up = |_| quiet.store(effort.exceeds(PATIENCE), Ordering::Relaxed);
        let execution = match execute(&plan, &options, give_up) {
            Ok(execution) => execution,
            Err(StudyError::TooMuch(why)) if first.is_none() && !why.is_empty() => return Ok(Went::Refused),
            // Events, unlike samples, cannot be counted before; a limit of a few rows is passed before an inspection.
            Err(StudyError::Results(ResultsError::TooMuch { .. })) if first.is_none() => return Ok(Went::Refused),
            Err(error) => return Err(format!("on {threads} threads: {error}")),
        };
        if quiet.load(Ordering::Relaxed) || effort.exceeds(PATIENCE) {
            return Err(format!("took {:.0} s on {threads} threads", execution.wall.as_secs_f64()));
        }
        match &first {
            None => first = Some((execution, out)),
            Some((one, place)) => {
                same(one, &execution).map_err(|what| format!("{what} on 1 and {threads} threads"))?;
                same_files(place, &out).map_err(|what| format!("{what} on 1 and {threads} threads"))?;
                std::fs::remove_dir_all(&out).map_err(|error| error.to_string())?;
            }
        }
    }
    let Some((execution, out)) = first else { return Err("nothing ran".into()) };
    conserved(&plan, &execution)?;
    resumed(&plan, &execution, &out, folder, random)?;
    tables(&plan, &execution, &out)?;
    if let Outcome::LossInLosslessClass(loss) = &execution.report.outcome
        && findings.iter().all(|finding| finding.severity < Severity::Warning)
    {
        return Err(format!("a loss that check did not announce: {loss}"));
    }
    readers(files, &plan, &out, folder, random)?;
    Ok(Went::Ran(execution.measures.outcome))
}

/// A run that is stopped at any instant, saved and resumed is the same run.
fn resumed(plan: &Plan, whole: &Execution, out: &Path, folder: &Path, random: &mut Random) -> Result<(), String> {
    let quiet = AtomicBool::new(false);
    let stop = Span::from_picos(random.below(plan.run.duration.as_picos().max(1)));
    let threads = 1 + random.index(3);
    let mut session = Session::start(plan.clone(), threads, true).map_err(|error| error.to_string())?;
    session.run_until(Time::ZERO + stop, &quiet).map_err(|error| format!("until {stop}: {error}"))?;
    if session.is_over() {
        return Ok(());
    }
    let said = |error: &dyn std::fmt::Display| format!("stopped at {stop}: {error}");
    let saved = session.save().map_err(|error| said(&error))?;
    let session = Session::resume(&saved, threads).map_err(|error| said(&error))?;
    let place = folder.join("resumed");
    let record = Recording { out: place.clone(), existing: Existing::Refuse };
    let options =
        Options { threads: 1 + random.index(3), interrupt: &quiet, record: Some(&record), ..Options::default() };
    let execution = match finish(session, &options, |_| {}, |_| Ok(())) {
        // The run without a stop has ended there.
        Err(StudyError::TooMuch(_)) if matches!(whole.report.outcome, Outcome::LimitReached(_)) => return Ok(()),
        other => other.map_err(|error| said(&error))?,
    };
    same(whole, &execution).map_err(|what| said(&what))?;
    same_files(out, &place).map_err(|what| said(&what))?;
    std::fs::remove_dir_all(&place).map_err(|error| error.to_string())
}

fn same(one: &Execution, other: &Execution) -> Result<(), String> {
    let (a, b) = (&one.report, &other.report);
    if a.fingerprint != b.fingerprint {
        return Err(format!("fingerprints {:016x} and {:016x}", a.fingerprint, b.fingerprint));
    }
    if a.totals != b.totals || a.events != b.events || a.now != b.now {
        return Err(format!("totals differ: {:?} {} and {:?} {}", a.totals, a.events, b.totals, b.events));
    }
    if format!("{:?}", a.outcome) != format!("{:?}", b.outcome) {
        return Err(format!("outcomes {:?} and {:?}", a.outcome, b.outcome));
    }
    Ok(())
}

/// The lines of a manifest or another file of JSON, but for what the clock and the number of threads have to do with:
/// they, and the manifest's hash of itself, differ from run to run.
pub(crate) fn steady(json: &str) -> Vec<&str> {
    let machine = ["\"wall_seconds\"", "\"threads\"", "\"hops_per_second\""];
    let own = |line: &&str| !line.starts_with("  \"hash\": \"") && !machine.iter().any(|word| line.contains(word));
    json.lines().filter(own).collect()
}

/// Whether two results hold the same files, to the byte.
pub fn same_files(a: &Path, b: &Path) -> Result<(), String> {
    let (left, right) = (crate::names(a), crate::names(b));
    if left != right {
        return Err(format!("files {left:?} and {right:?}"));
    }
    for name in left {
        let (left, right) = (a.join(&name), b.join(&name));
        if left.is_dir() {
            same_files(&left, &right)?;
            continue;
        }
        let read = |path: &Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let (left, right) = (read(&left)?, read(&right)?);
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        let equal = if name == "manifest.json" { steady(&text(&left)) == steady(&text(&right)) } else { left == right };
        if !equal {
            return Err(format!("{name} differs"));
        }
    }
    Ok(())
}

/// Made is delivered, dropped, lost, discarded or in the network; and a run without a record is the same run.
fn conserved(plan: &Plan, execution: &Execution) -> Result<(), String> {
    let mut simulation =
        Simulation::build(&plan.spec, &BuildOptions::default()).map_err(|error| format!("{error:?}"))?;
    let limits = RunLimits {
        events: plan.run.max_events,
        inspect_every: plan.run.inspect_every,
        ..RunLimits::until(Time::ZERO + plan.run.duration)
    };
    let report = simulation.run(&limits);
    // Samples are events, and rows are limited: a limit ends a run that is recorded sooner than one that is not.
    let limited = |outcome: &Outcome| matches!(outcome, Outcome::LimitReached(_));
    let whole = !limited(&report.outcome) && !limited(&execution.report.outcome);
    if whole && report.fingerprint != execution.report.fingerprint {
        return Err("recording changes the fingerprint".into());
    }
    let (t, census) = (report.totals, simulation.census());
    let rejected = [t.duplicate_bytes + t.rejected_bytes, t.duplicate_frames + t.rejected_frames];
    let gone = t.dropped_bytes + t.trimmed_bytes + t.lost_bytes + t.discarded_bytes + t.watchdog_bytes;
    let bytes = t.delivered_bytes + rejected[0] + gone + census.bytes;
    if t.made_bytes + t.retransmitted_bytes != bytes || census.places != census.frames + census.control {
        return Err(format!("not conserved: {t:?} {census:?}"));
    }
    let gone = t.dropped_frames + t.trimmed_frames + t.lost_frames + t.discarded_frames + t.watchdog_frames;
    let (frames, made) =
        (t.delivered_frames + rejected[1] + gone + census.frames, t.made_frames + t.retransmitted_frames);
    // What is queued again is made once and may be dropped often.
    if made != frames && made + t.requeued_frames != frames {
        return Err(format!("frames not conserved: {t:?} {census:?}"));
    }
    Ok(())
}

fn sum(batch: &Batch, column: &str) -> u64 {
    batch.integers(column).iter().map(|&number| number as u64).sum()
}

/// The tables say what the totals say.
fn tables(plan: &Plan, execution: &Execution, out: &Path) -> Result<(), String> {
    let results = Results::open(out).map_err(|error| error.to_string())?;
    let read = |table| results.read(table).map_err(|error| error.to_string());
    let t: Totals = execution.report.totals;
    let equal = |what: &str, table: u64, total: u64| match table == total {
        true => Ok(()),
        false => Err(format!("{what}: {table} in the table, {total} in all")),
    };
    for table in results.tables() {
        let rows = results.manifest.tables.iter().find(|it| it.name == table.name).map(|it| it.rows);
        equal(table.name, read(table)?.len() as u64, rows.unwrap_or(0))?;
    }
    let flows = read(&schema::FLOWS)?;
    equal("flows.frames", sum(&flows, "frames"), t.delivered_frames)?;
    equal("flows.bytes", sum(&flows, "bytes"), t.delivered_bytes)?;
    equal("flows.made_frames", sum(&flows, "made_frames"), t.made_frames)?;
    if plan.probes.flows {
        equal("flow_samples.bytes", sum(&read(&schema::FLOW_SAMPLES)?, "bytes"), t.delivered_bytes)?;
    }
    if plan.probes.drops && plan.probes.nodes.iter().all(|&all| all) {
        let drops = read(&schema::DROPS)?;
        let count = |causes: &[&str]| {
            let data = drops.texts("kind").iter().zip(drops.texts("cause"));
            data.filter(|(kind, cause)| *kind == "data" && causes.contains(&cause.as_str())).count() as u64
        };
        equal("drops in switches", count(&["full", "early", "unreachable"]), t.dropped_frames)?;
        equal("drops of watchdogs", count(&["watchdog"]), t.watchdog_frames)?;
        equal("trimmed frames", count(&["trimmed"]), t.trimmed_frames)?;
        equal("losses on cables", count(&["corrupt", "link-down", "pause-lost"]), t.lost_frames)?;
        equal("discarded at the source", count(&["at-source"]), t.discarded_frames)?;
    }
    Ok(())
}

/// Every reader of a result, and every other command's part in the library.
fn readers(files: &Files, plan: &Plan, out: &Path, folder: &Path, random: &mut Random) -> Result<(), String> {
    let results = Results::open(out).map_err(|error| error.to_string())?;
    if !differences(&results, &results).map_err(|error| error.to_string())?.is_empty() {
        return Err("a result differs from itself".into());
    }
    // A new seed of the same plan must load: sweeps depend on it.
    plan.with_seed(plan.run.seed).map_err(|errors| format!("with its own seed: {}", errors.render(false)))?;
    if files.load().is_err() {
        return Err("loading it again is refused".into());
    }
    let _ = study::FigureStudy::new(plan, true);
    if random.percent(25) {
        export_csv(&results, &folder.join("csv"), false).map_err(|error| error.to_string())?;
    }
    if random.percent(6) {
        let plots = render::plot::PlotOptions::default();
        render::plot::write_plots(&results, &folder.join("plots"), &plots).map_err(|error| error.to_string())?;
    }
    if random.percent(6) {
        let making = render::report::Making { size: 1_000_000, threads: 1, progress: &|_, _| {} };
        render::report::Report::open(out, &making).map_err(|error| error.to_string())?;
    }
    control(plan)?;
    if random.percent(25) {
        captured(plan, folder, random)?;
    }
    Ok(())
}

/// DCBX, shortest path bridging, routes for others and the fluid.
fn control(plan: &Plan) -> Result<(), String> {
    let graph = &plan.spec.graph;
    if let Some(dcb) = &plan.dcb {
        let _ = discovery::dcbx::history(graph, dcb, &plan.spec.faults, plan.run.seed);
    }
    let bridges = match &plan.routing {
        Some(fabric::routing::Routing::Spb { bridges, .. }) => bridges.clone(),
        _ => fabric::routing::Bridges::plain(graph),
    };
    let found = discovery::spb::discover(graph, &bridges, &plan.spec.faults, control::isis::Timers::default());
    match found {
        // A host is at one place for bridges.
        Err(_) if graph.multihomed().next().is_some() => {}
        Err(error) => return Err(error.to_string()),
        Ok(found) => {
            if let Some(step) = found.steps.iter().find(|step| !step.settled || !step.wrong.is_empty()) {
                return Err(format!("bridges come to other tables than the graph: {step:?}"));
            }
            let _ = discovery::spb::spbm(graph, &bridges, 0, &plan.services);
            let _ = discovery::spb::spbv(graph, &bridges, 0, &plan.services);
        }
    }
    if let Ok(subnet) = discovery::subnet::Subnet::new(graph, &plan.spec.routes, &plan.subnet, 0) {
        use discovery::subnet::File::{Fdbs, Guid2lid, Ibnetdiscover, Lfts, PathSl, Sl2vl, Subnet};
        for file in [Fdbs, Guid2lid, Ibnetdiscover, Lfts, PathSl, Sl2vl, Subnet] {
            let _ = subnet.file(file);
        }
    }
    if let Some(Ok(fluid)) = &plan.fluid {
        let _ = study::stability::analyse(fluid);
    }
    Ok(())
}

fn captured(plan: &Plan, folder: &Path, random: &mut Random) -> Result<(), String> {
    let graph = &plan.spec.graph;
    let cable = &graph.cables[random.index(graph.cables.len())];
    let name = |node: fabric::graph::NodeId| graph.nodes[node.0 as usize].name.as_str();
    let text = format!("{}->{}", name(cable.a), name(cable.b));
    let links = study::capture::choose(&plan.spec, &[text])?;
    let quiet = AtomicBool::new(false);
    let capture = |threads: usize, file: &str| {
        let file = folder.join(file);
        let capture = study::capture::Capture { links: links.clone(), file: Some(file.clone()) };
        let options = Options { threads, time_up: None, interrupt: &quiet, record: None, capture: Some(&capture) };
        let execution = execute(plan, &options, |_| {}).map_err(|error| error.to_string())?;
        let made = execution.capture_file.ok_or("nothing was captured")?;
        made.commit().map_err(|error| error.to_string())?;
        std::fs::read(&file).map_err(|error| error.to_string())
    };
    match capture(1, "one.pcapng")? == capture(3, "three.pcapng")? {
        true => Ok(()),
        false => Err("captures differ on 1 and 3 threads".into()),
    }
}
