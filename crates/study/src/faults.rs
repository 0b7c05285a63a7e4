//! Campaigns of single faults: one run, or several seeds, for each fault that a network may have, ranked by what it does.
//!
//! A campaign is a scenario of its own, `faults.toml`, which is based on the given one and has a variant for each fault,
//! and a sweep over these variants. So each of its runs can be repeated, recorded and explained like any other.

use crate::grid::{Axis, Grid, GridError, SweepRow, SweepStudy, SweepTable};
use crate::measure::flow_measures::FlowMeasures;
use crate::overrides::{last_of_each, toml_value};
use crate::run::execute::{Options, execute};
use crate::run::names::slug;
use fabric::workload::FlowSpec;
use files::output::write_file;
use results::document::{Document, FaultEffect, Faults, RankedFault};
use scenario::{FaultKind, FaultSettings, Pattern, Plan, SingleFault, VARIANT, load, single_faults};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use units::Span;

/// Name of the variant without a fault.
const WITHOUT: &str = "no fault";
/// Name of the expectation that measures victims.
const VICTIMS: &str = "victim time";
/// Name of that which measures how many flows complete, in networks with finite flows.
const COMPLETED: &str = "completed share";
/// Names of those that measure PFC watchdogs, in networks that have some.
const STORMS: &str = "PFC storms";
const WATCHDOG: &str = "frames dropped by PFC watchdogs";
/// The path that adds it to those of the scenario.
const EXPECTATIONS: &str = "expectations[+]";
/// File of the scenario of a campaign.
pub(crate) const SCENARIO: &str = "faults.toml";

/// A campaign that is ready to run.
pub struct FaultStudy {
    name: String,
    faults: Vec<SingleFault>,
    sweep: SweepStudy,
}

impl FaultStudy {
    /// Prepares a campaign in a scenario that was loaded from that file with those overrides. The default directory is
    /// `results/NAME-faults`.
    ///
    /// # Errors
    /// Returns an error if there are no faults, if the scenario is invalid with one, or if the directory contains
    /// something else or cannot be created.
    pub fn new(
        plan: &Plan,
        (file, overrides): (&Path, &[String]),
        faults: Vec<SingleFault>,
        out: Option<&Path>,
    ) -> Result<FaultStudy, GridError> {
        if faults.is_empty() {
            let reason = "no link and no node has such a fault; choose other kinds or other names".into();
            return Err(GridError::Search { reason });
        }
        let usual = || Path::new("results").join(format!("{}-faults", slug(&plan.name)));
        let out = out.map_or_else(usual, Path::to_owned);
        let failed = |what: &'static str, path: &Path| {
            let path = path.to_owned();
            move |source| GridError::Io { what, path, source }
        };
        std::fs::create_dir_all(&out).map_err(failed("create", &out))?;
        let scenario = out.join(SCENARIO);
        let text = scenario_text(plan, (file, overrides), &out, &faults);
        files::plain(&scenario).map_err(failed("write", &scenario))?;
        match files::read_inside(&out, SCENARIO) {
            Ok(known) if known == text => {}
            Ok(_) => return Err(GridError::Occupied { path: out }),
            Err(error) if files::is_missing(&error) => {
                write_file(&scenario, &text).map_err(failed("write", &scenario))?;
            }
            Err(error) => return Err(failed("read", &scenario)(error)),
        }
        let plan_of_all = load(&scenario, &[]).map_err(|errors| GridError::Scenario { cell: Vec::new(), errors })?;
        let names = [WITHOUT.to_owned()].into_iter().chain(faults.iter().map(|fault| fault.name.clone()));
        let axes: Vec<Axis> = vec![(VARIANT.to_owned(), names.collect())];
        let sweep = SweepStudy::new(plan_of_all, (&scenario, &[]), axes, Some(&out))?;
        Ok(FaultStudy { name: plan.name.clone(), faults, sweep })
    }

    /// Returns the runs of the campaign.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.sweep.grid
    }

    /// Returns the directory of the campaign.
    #[must_use]
    pub fn out(&self) -> &PathBuf {
        &self.sweep.out
    }

    /// Executes all unfinished runs and writes the table of the runs and the ranks of the faults.
    ///
    /// # Errors
    /// Returns the first error; finished runs are kept.
    pub fn run(
        &self,
        threads: usize,
        interrupt: &AtomicBool,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Faults, GridError> {
        let results = self.sweep.grid.run(threads, interrupt, progress)?;
        let table = SweepTable::new(&self.sweep.axes, &results);
        let document = self.ranked(&table);
        self.sweep.grid.write_files(&[
            ("table.csv".to_owned(), table.csv()),
            ("table.json".to_owned(), table.json()),
            (Faults::FILE.to_owned(), document.to_text()),
        ])?;
        Ok(document)
    }

    /// The faults by their effects, the worst first.
    fn ranked(&self, table: &SweepTable) -> Faults {
        let row = |name: &str| table.rows.iter().find(|row| row.values.first().is_some_and(|value| value == name));
        let without = row(WITHOUT);
        let effect = |name: &str| match (row(name), without) {
            (Some(row), Some(without)) => effect(table, row, without),
            _ => FaultEffect::default(),
        };
        let ranked = |fault: &SingleFault| RankedFault {
            name: fault.name.clone(),
            kind: fault.kind.word().to_owned(),
            effect: effect(&fault.name),
        };
        let mut faults: Vec<RankedFault> = self.faults.iter().map(ranked).collect();
        faults.sort_by(|a, b| {
            let (a, b) = (badness(&a.effect), badness(&b.effect));
            a.iter()
                .zip(&b)
                .map(|(a, b)| b.total_cmp(a))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        Faults { name: self.name.clone(), seeds: self.sweep.grid.seeds.clone(), without: effect(WITHOUT), faults }
    }
}

/// The faults to try, as asked for; what is not given follows from the network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultWishes {
    /// Names of kinds; none is all kinds.
    pub kinds: Vec<String>,
    /// Names of nodes, with wildcards; none is all nodes.
    pub among: Vec<String>,
    /// Time at which faults begin.
    pub at: Option<String>,
    /// Time at which they end.
    pub until: Option<String>,
    /// Time for which a flapping link is down, and then up.
    pub flap: Option<String>,
    /// Bit error rate of a bad link.
    pub bit_error_rate: Option<f64>,
    /// Service rate of a slow receiver, as a part of its link rate.
    pub slow: Option<f64>,
}

impl FaultWishes {
    /// Returns when the faults begin, and the faults. If times are missing, the network is run once without a fault.
    ///
    /// # Errors
    /// Returns an error if a wish is invalid, or if that run fails.
    pub fn faults(&self, plan: &Plan, interrupt: &AtomicBool) -> Result<(Span, Vec<SingleFault>), GridError> {
        let refused = |reason: String| GridError::Search { reason };
        let time = |name: &str, text: &Option<String>| {
            let parsed = text.as_ref().map(|text| text.parse::<Span>()).transpose();
            parsed.map_err(|error| refused(format!("{name}: {error}")))
        };
        let (at, until, flap) = (time("--at", &self.at)?, time("--until", &self.until)?, time("--flap", &self.flap)?);
        let kind = |name: &String| {
            let unknown = || refused(format!("no kind of fault '{name}'; there are {}", fault_kinds().join(", ")));
            FaultKind::named(name).ok_or_else(unknown)
        };
        let kinds: Vec<FaultKind> = match self.kinds.as_slice() {
            [] => FaultKind::ALL.to_vec(),
            named => named.iter().map(kind).collect::<Result<_, _>>()?,
        };
        let among: Result<Vec<Pattern>, String> = self.among.iter().map(|text| Pattern::parse(text)).collect();
        let among = among.map_err(refused)?;
        // Where both are given, the network need not run first.
        let busy = match (at, flap) {
            (Some(_), Some(_)) => [Span::ZERO, plan.run.duration],
            _ => busy_time(plan, interrupt)?,
        };
        let usual = FaultSettings::of(busy);
        let settings = FaultSettings {
            at: at.unwrap_or(usual.at),
            until,
            flap: flap.unwrap_or(usual.flap),
            bit_error_rate: self.bit_error_rate.unwrap_or(usual.bit_error_rate),
            slow: self.slow.unwrap_or(usual.slow),
        };
        if settings.at >= plan.run.duration {
            let text = format!("faults begin at {}, after the end of the run\n  give an earlier --at", settings.at);
            return Err(refused(text));
        }
        if settings.until.is_some_and(|until| until <= settings.at) {
            let text = format!("faults end before they begin at {}\n  give a later --until", settings.at);
            return Err(refused(text));
        }
        if !(0.0..1.0).contains(&settings.bit_error_rate) || !(0.0..=1.0).contains(&settings.slow) {
            let text = "--bit-error-rate and --slow are parts of one\n  give a number from 0 to 1";
            return Err(refused(text.into()));
        }
        Ok((settings.at, single_faults(plan, &kinds, &among, &settings)))
    }
}

/// Returns the time in which a network without a fault is busy: from the start of its first flow until its last one
/// completes, or to the end of the run if one does not. It runs it once.
///
/// # Errors
/// Returns an error if the run fails.
fn busy_time(plan: &Plan, interrupt: &AtomicBool) -> Result<[Span; 2], GridError> {
    let options = Options { threads: 1, time_up: None, interrupt, record: None, capture: None };
    let run = execute(plan, &options, |_| {}).map_err(GridError::Study)?;
    let end = |(flow, measured): (&FlowSpec, FlowMeasures)| {
        measured.completion.map(|seconds| flow.start.as_picos().saturating_add((seconds * 1e12) as u64))
    };
    let ends: Option<Vec<u64>> = plan.spec.flows.iter().zip(run.measures.flows.iter()).map(end).collect();
    let last = ends.and_then(|ends| ends.into_iter().max()).map(Span::from_picos);
    let last = last.filter(|last| *last < plan.run.duration && *last > Span::ZERO).unwrap_or(plan.run.duration);
    let first = plan.spec.flows.iter().map(|flow| flow.start.as_picos()).min().map_or(Span::ZERO, Span::from_picos);
    Ok([first.min(last), last])
}

/// What makes a fault bad, the gravest first: how runs end, what is not delivered, the slowest flows, victims.
fn badness(effect: &FaultEffect) -> [f64; 5] {
    let runs: usize = effect.outcomes.values().sum();
    let share = |words: &[&str]| {
        let count: usize = words.iter().filter_map(|word| effect.outcomes.get(*word)).sum();
        count as f64 / runs.max(1) as f64
    };
    let lost = effect.delivered.map_or(1.0, |delivered| (1.0 - delivered).max(0.0));
    [
        share(&["deadlock"]),
        share(&["deadlock", "stalled", "livelock", "loss", "limit"]),
        // To a thousandth: retransmissions at the end of a run are no loss.
        (lost * 1000.0).round(),
        effect.p99_completion.unwrap_or(f64::INFINITY),
        effect.victim_seconds.unwrap_or(0.0),
    ]
}

fn effect(table: &SweepTable, row: &SweepRow, without: &SweepRow) -> FaultEffect {
    let mean = |row: &SweepRow, metric: usize| row.summaries[metric].as_ref().map(|summary| summary.mean);
    let of = |row: &SweepRow, name: &str| mean(row, table.metrics.iter().position(|metric| metric == name)?);
    let completed = of(row, COMPLETED);
    // The times of the flows that complete say nothing of those that do not.
    let all_complete = completed.is_none() || completed >= of(without, COMPLETED);
    let named = |name: &str| table.metrics.iter().position(|metric| metric == name);
    let ratio = |metric: usize| {
        let (with, without) = (mean(row, metric)?, mean(without, metric)?);
        (without > 0.0).then_some(with / without)
    };
    let largest = |ending: &str| {
        let metrics = table.metrics.iter().enumerate().filter(|(_, name)| all_complete && name.ends_with(ending));
        metrics.filter_map(|(metric, _)| ratio(metric)).max_by(f64::total_cmp)
    };
    FaultEffect {
        outcomes: row.outcomes.iter().cloned().collect(),
        delivered: named("delivered (B)").and_then(ratio),
        completed,
        completion: largest(": completion time (s)"),
        p99_completion: largest(": p99 completion time (s)"),
        victim_seconds: of(row, VICTIMS),
        dropped_frames: of(row, "dropped frames"),
        storms: of(row, STORMS),
        watchdog_frames: of(row, WATCHDOG),
    }
}

/// The scenario of a campaign: the given one with a variant for each fault.
fn scenario_text(plan: &Plan, (file, overrides): (&Path, &[String]), out: &Path, faults: &[SingleFault]) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut text = format!(
        "# Written by `tailback faults`: a variant for each single fault. To look closer at one:\n\
         #   tailback run {SCENARIO} --variant NAME\n\
         schema_version = 1\nbase = {}\nname = {}\n\n[set]\n",
        quoted(&relative(file, out)),
        quoted(&format!("{}, faults", plan.name)),
    );
    let victims = format!("{{ name = \"{VICTIMS}\", metric = \"victim-time\", of = \"*\", statistic = \"sum\" }}");
    let mut expectations = vec![victims];
    if plan.spec.flows.iter().any(|flow| flow.size.is_some()) {
        expectations.push(format!("{{ name = \"{COMPLETED}\", metric = \"completed-share\", of = \"*\" }}"));
    }
    if has_watchdogs(plan) {
        expectations.push(format!("{{ name = \"{STORMS}\", metric = \"storms\" }}"));
        expectations.push(format!("{{ name = \"{WATCHDOG}\", metric = \"watchdog-frames\" }}"));
    }
    for (path, value) in last_of_each(overrides) {
        match path {
            EXPECTATIONS => expectations.insert(0, value.trim_start_matches('[').trim_end_matches(']').to_owned()),
            _ => text.push_str(&format!("{} = {}\n", quoted(path), toml_value(value))),
        }
    }
    text.push_str(&format!(
        "\"{EXPECTATIONS}\" = [{}]\n\n[[variants]]\nname = \"{WITHOUT}\"\nset = {{}}\n",
        expectations.join(", ")
    ));
    for fault in faults {
        let changes = fault.changes.iter().map(|(path, value)| format!("{} = {value}", quoted(path)));
        let changes: Vec<String> = changes.collect();
        text.push_str(&format!("\n[[variants]]\nname = {}\nset = {{ {} }}\n", quoted(&fault.name), changes.join(", ")));
    }
    text
}

fn has_watchdogs(plan: &Plan) -> bool {
    let at_ports = plan.spec.ports.iter().any(|port| port.pfc_watchdog.is_some());
    at_ports || plan.spec.switches.iter().any(|switch| switch.pfc_watchdog.is_some())
}

/// Returns the kinds of faults by their names.
#[must_use]
pub fn fault_kinds() -> Vec<&'static str> {
    FaultKind::ALL.iter().map(|kind| kind.word()).collect()
}

/// The path of a file as seen from a folder.
pub(crate) fn relative(file: &Path, folder: &Path) -> String {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (file, folder) = (whole(file), whole(folder));
    let common = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    // Two roots have nothing in common.
    if common == 0 {
        return file.to_string_lossy().into_owned();
    }
    let up = folder.components().skip(common).map(|_| "..".into());
    let down = file.components().skip(common).map(|part| part.as_os_str().to_string_lossy());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenario_of_a_campaign_has_the_overrides() {
        let text = "schema_version = 1\n[network]\ntopology = \"single-switch\"\nhosts = 3\n\
            link = { rate = \"10Gb/s\", latency = \"1us\" }\n[[switches]]\nbuffers = { capacity = \"100KB\" }\n\
            [[workloads]]\nkind = \"greedy\"\nfrom = \"h0\"\nto = \"h1\"\n[run]\nduration = \"1ms\"\n";
        let limits = scenario::Limits::default();
        let plan = scenario::load_str("a.toml", text, &[], &scenario::NoFiles, limits).expect("a plan");
        let set = ["run.duration=2ms", "run.duration=3ms", "expectations[+]={ metric = \"drops\" }"];
        let overrides = set.map(str::to_owned);
        let text = scenario_text(&plan, (Path::new("a.toml"), &overrides), Path::new("."), &[]);
        assert!(text.contains("\"run.duration\" = \"3ms\"\n") && !text.contains("2ms"), "{text}");
        assert!(text.contains("\"expectations[+]\" = [{ metric = \"drops\" }, { name = \"victim time\""), "{text}");
        // A greedy flow never completes, and nothing watches for storms.
        assert!(!text.contains("completed-share") && !text.contains("storms"), "{text}");
    }

    #[test]
    fn times_of_the_flows_that_complete_are_not_those_of_all() {
        let metrics = ["incast: completion time (s)", "incast: p99 completion time (s)", "delivered (B)", COMPLETED];
        let row = |values: [f64; 4]| SweepRow {
            values: Vec::new(),
            outcomes: vec![("finished".to_owned(), 1)],
            summaries: values.map(|value| crate::measure::statistics::summarise(&[value])).to_vec(),
        };
        let (whole, half, slow) = (row([2.0, 4.0, 10.0, 1.0]), row([1.0, 1.0, 5.0, 0.5]), row([4.0, 4.0, 10.0, 1.0]));
        let table = SweepTable { metrics: metrics.map(str::to_owned).to_vec(), ..SweepTable::new(&[], &[]) };
        let cut = effect(&table, &half, &whole);
        assert_eq!(
            (cut.completed, cut.delivered, cut.completion, cut.p99_completion),
            (Some(0.5), Some(0.5), None, None)
        );
        let late = effect(&table, &slow, &whole);
        assert_eq!((late.completed, late.completion, late.p99_completion), (Some(1.0), Some(2.0), Some(1.0)));
        assert!(badness(&cut) > badness(&late));
    }

    #[test]
    fn a_deadlock_is_worse_than_a_slow_flow() {
        let effect = |outcome: &str, delivered: f64, p99: Option<f64>| FaultEffect {
            outcomes: [(outcome.to_owned(), 1)].into(),
            delivered: Some(delivered),
            p99_completion: p99,
            ..FaultEffect::default()
        };
        let order = [
            effect("deadlock", 0.9, None),
            effect("stalled", 0.99, Some(1.0)),
            effect("finished", 0.5, Some(1.0)),
            effect("finished", 1.0, Some(7.0)),
            effect("finished", 1.0, Some(1.0)),
        ];
        assert!(order.windows(2).all(|pair| badness(&pair[0]) > badness(&pair[1])));
    }
}
