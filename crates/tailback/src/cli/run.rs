//! `run`: one scenario, recorded.

use super::arguments::Run;
use super::capture;
use super::console::{self, RunProgress};
use super::exit::Exit;
use super::{INTERRUPT, deadline, picture, ranks, report, resume};
use engine::Ranks;
use fabric::spec::FlowControl;
use results::{CSV_FOLDER, OutcomeRecord, PLOTS_FOLDER, REPORT_FILE, ResultsError};
use scenario::{Comparison, Expectation, Limits, Metric, Plan};
use serde_json::json;
use std::path::Path;
use study::{
    Draft, Execution, Existing, Judgement, Options, Percentiles, Recording, SizeBin, StudyError, Verdict,
    WorkloadSummary, assist, cores, execute_among, run_record, slowdown_by_size, symbol, usual_place,
};
use units::grouped;

/// Failed cables that a summary names.
const MOST_CABLES: usize = 8;

/// Says why a run could not be made.
pub fn say(error: &StudyError) -> Exit {
    console::error(&error.to_string());
    match error {
        StudyError::Build(_) | StudyError::TooMuch(_) | StudyError::Rank { .. } => Exit::BadInput,
        StudyError::NotRecorded | StudyError::Damaged | StudyError::Contradiction(_) => Exit::BadInput,
        StudyError::Results(error) => Exit::refusal(error),
    }
}

/// Loads the scenario on all ranks, or says everything that is wrong with it.
fn load_everywhere(arguments: &Run, ranks: &mut dyn Ranks) -> Result<Plan, Exit> {
    let mut set = arguments.scenario.set.clone();
    set.extend(arguments.variant.iter().map(|name| format!("variant={name}")));
    let plan = scenario::load_observed(&arguments.scenario.file, &set, Limits::default(), deadline::observer());
    let plan = plan.and_then(|plan| match arguments.seed {
        Some(seed) => plan.with_seed(seed),
        None => Ok(plan),
    });
    let said = match &plan {
        Ok(plan) => Ok(plan.inputs().map(|input| input.sha256).chain(plan.overrides()).collect::<Vec<_>>().join(" ")),
        Err(errors) => {
            console::problems(errors);
            Err(errors.render(false))
        }
    };
    ranks::agree(ranks, &said)?;
    plan.map_err(|_| Exit::BadInput)
}

/// `tailback run`, on this rank.
pub fn run(arguments: &Run, ranks: &mut dyn Ranks) -> Exit {
    // One clock for all ranks.
    if let Err(exit) = deadline::start(arguments.limit.time_limit.filter(|_| ranks.rank() == 0)) {
        return exit;
    }
    if arguments.quiet || ranks.rank() > 0 {
        deadline::keep_quiet();
    }
    let plan = match load_everywhere(arguments, ranks) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    if plan.run.replications > 1 && !arguments.quiet {
        let text = format!(
            "this is one run with seed {}; 'tailback sweep' runs all {} replications",
            plan.run.seed, plan.run.replications
        );
        console::note(&text);
    }
    if let Some(at) = &arguments.save_at {
        return resume::save(arguments, plan, at, ranks);
    }
    let mut plan = plan;
    plan.probes.causes |= arguments.why;
    let record = (!arguments.no_record).then(|| match &arguments.out {
        Some(out) => {
            let existing = if arguments.overwrite { Existing::Replace } else { Existing::Refuse };
            Recording { out: out.clone(), existing }
        }
        None => Recording { out: usual_place(&plan.name), existing: Existing::NextName },
    });
    let capture = match capture::chosen(&plan, &arguments.pcap, None) {
        Ok(capture) => capture,
        Err(exit) => return exit,
    };
    let options = Options {
        threads: arguments.threads.or(plan.run.threads).unwrap_or_else(|| cores().div_ceil(ranks::on_this_machine())),
        interrupt: &INTERRUPT,
        time_up: Some(&deadline::TIME_UP),
        record: record.as_ref(),
        capture: capture.as_ref(),
    };
    if ranks.rank() > 0 {
        return match assist(ranks, &plan, &options, |_| deadline::running()) {
            Ok(()) => Exit::Success,
            Err(error) => say(&error),
        };
    }
    let progress = RunProgress::new(plan.run.duration, arguments.quiet);
    let complete = |draft: &Draft<'_>| {
        progress.end();
        beside_the_tables(arguments, draft.directory)
    };
    let seen = |seen| {
        deadline::running();
        progress.see(seen);
    };
    let execution = execute_among(ranks, &plan, &options, seen, complete);
    progress.end();
    let execution = match execution {
        Ok(execution) => execution,
        Err(error) => return say(&error),
    };
    let judgements = &execution.judgements;
    print(&plan, &execution, arguments.json, arguments.quiet);
    if let Some(out) = &execution.recorded {
        if !arguments.quiet {
            execution.leftovers.iter().for_each(|leftover| console::note(&leftover.to_string()));
            console::note(&format!("results in {}", out.display()));
            execution.captured.iter().for_each(capture::note);
        }
        if let Some(error) = &execution.lacking {
            console::error(&format!("{error}\n  the tables are complete and were kept in {}", out.display()));
            return Exit::refusal(error);
        }
        if arguments.report && !arguments.quiet {
            report::say_where(&out.join(REPORT_FILE));
        }
    }
    ending(&execution, judgements)
}

/// Prints what a run has found.
pub fn print(plan: &Plan, execution: &Execution, as_json: bool, quiet: bool) {
    let judgements = &execution.judgements;
    if as_json {
        console::print(&format!("{:#}\n", json!(run_record(plan, execution, judgements))));
    } else if !quiet {
        console::print(&summary(plan, execution, judgements));
    }
}

/// Writes charts, CSV and the report beside the tables, before the result takes its place.
fn beside_the_tables(arguments: &Run, directory: &Path) -> Result<(), ResultsError> {
    let in_time = || if deadline::is_up() { Err(ResultsError::TimeUp) } else { Ok(()) };
    if arguments.plot {
        in_time()?;
        picture::draw(directory, &directory.join(PLOTS_FOLDER), false)?;
    }
    if arguments.csv {
        in_time()?;
        picture::write_csv(directory, &directory.join(CSV_FOLDER), false)?;
    }
    if arguments.report {
        in_time()?;
        report::into_results(directory, arguments.quiet, arguments.live)?;
    }
    Ok(())
}

/// How a command ends that makes a run and judges nothing but how it ended.
pub fn outcome(execution: &Execution) -> Exit {
    let outcomes = execution.judgements.iter().filter(|it| it.expectation.metric == Metric::Outcome);
    ending(execution, &outcomes.cloned().collect::<Vec<_>>())
}

/// How the program ends: as the run did, unless that was what the scenario expects.
pub fn ending(execution: &Execution, judgements: &[Judgement]) -> Exit {
    let exit = Exit::of(&execution.report.outcome);
    if exit != Exit::Success && !(execution.ended_as_expected() && exit != Exit::Interrupted) {
        return exit;
    }
    if judgements.iter().any(|judgement| judgement.verdict == Verdict::Disagrees) {
        Exit::Disagreement
    } else {
        Exit::Success
    }
}

/// A deadlock with its flows by name.
fn circle(plan: &Plan, deadlock: &fabric::Deadlock) -> String {
    let mut text = "deadlock: each queue waits for the next one, and the last for the first\n".to_owned();
    for fabric::Waiting { node, input, output, class, flows } in &deadlock.cycle {
        let name = |flow: &u32| flow_name(plan, *flow);
        let flows: Vec<_> = flows.iter().map(name).collect();
        let class = plan.spec.classes.get(usize::from(*class)).map_or("?", |class| class.name.as_str());
        let flows = flows.join(", ");
        text.push_str(&format!("  {node}: ingress port {input}, egress port {output}, class {class}, flows {flows}\n"));
    }
    text
}

/// How a run ended; that it finished is not all there is to say if frames were dropped.
fn outcome_words(outcome: &str, totals: &fabric::Totals) -> String {
    let count = |frames: u64, what: &str| {
        let plural = if frames == 1 { "" } else { "s" };
        (frames > 0).then(|| format!("{} frame{plural} {what}", grouped(frames)))
    };
    let again = totals.requeued_frames;
    let dropped = count(totals.dropped_frames, "dropped").map(|text| match again {
        0 => text,
        _ => format!("{text} ({} of them queued again by the oracle)", grouped(again)),
    });
    let storms = totals.storms;
    let watchdog = count(totals.watchdog_frames, "dropped by PFC watchdogs");
    let watchdog = watchdog.or((storms > 0).then(|| "no frames dropped by PFC watchdogs".to_owned())).map(|text| {
        let plural = if storms == 1 { "" } else { "s" };
        format!("{text} ({} storm{plural}, {} restored)", grouped(storms), grouped(totals.restored_storms))
    });
    let on_links = count(totals.lost_frames - totals.pause_lost_frames, "lost on links");
    let without_pause = count(totals.pause_lost_frames, "lost after a lost pause");
    let others = [watchdog, count(totals.trimmed_frames, "trimmed"), on_links, without_pause];
    let losses: Vec<String> = dropped.into_iter().chain(others.into_iter().flatten()).collect();
    if outcome != "finished" || losses.is_empty() {
        return outcome.to_owned();
    }
    console::doubtful(&format!("{outcome}, {}", losses.join(", ")))
}

/// Cables that failed before the run ended, and for how long.
fn failed_cables(plan: &Plan, end: units::Time) -> Option<String> {
    let name = |node: fabric::graph::NodeId| plan.spec.graph.nodes[node.0 as usize].name.as_str();
    let fault = |fault: &fabric::spec::Fault| {
        let cable = &plan.spec.graph.cables[fault.cable as usize];
        let at = |time: units::Time| console::seconds(time.as_secs_f64());
        let until = fault.up.filter(|&up| up < end).map_or("to the end".into(), |up| format!("to {}", at(up)));
        format!("{} - {} from {} {until}", name(cable.a), name(cable.b), at(fault.down))
    };
    let failed: Vec<String> = plan.spec.faults.iter().filter(|fault| fault.down < end).map(fault).collect();
    let more =
        if failed.len() > MOST_CABLES { format!(" and {} more", failed.len() - MOST_CABLES) } else { String::new() };
    (!failed.is_empty()).then(|| format!("failed links: {}{more}", failed[..failed.len().min(MOST_CABLES)].join(", ")))
}

fn flow_name(plan: &Plan, flow: u32) -> String {
    plan.flow_names.get(flow as usize).map_or_else(|| "?".into(), std::borrow::Cow::into_owned)
}

/// Flows that have not started because they wait for others, unless that ended the run.
fn waiting(plan: &Plan, execution: &Execution) -> Option<String> {
    let study::Unstarted { flows, awaited } = &execution.measures.unstarted;
    if flows.is_empty() || matches!(execution.report.outcome, fabric::Outcome::Stalled(_)) {
        return None;
    }
    let names: Vec<String> = awaited.iter().map(|&flow| flow_name(plan, flow)).collect();
    let count = grouped(flows.len() as u64);
    let plural = if flows.len() == 1 { " has" } else { "s have" };
    let awaited = if names.is_empty() { String::new() } else { format!(" for {}", names.join(", ")) };
    Some(console::doubtful(&format!("waiting: {count} flow{plural} not started, waiting{awaited}")))
}

/// A number of things, in the plural if they are several.
fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Frames that were neither dropped nor lost on links and did not arrive all the same, if there are any.
fn other_losses(totals: &fabric::Totals) -> String {
    let part = |number: u64, text: String| if number > 0 { format!(", {text}") } else { String::new() };
    let acknowledgements = match totals.lost_acknowledgements {
        0 => String::new(),
        number => format!(" ({})", counted(number, "acknowledgement")),
    };
    part(totals.pause_lost_frames, format!("{} lost after a lost pause", grouped(totals.pause_lost_frames)))
        + &part(totals.trimmed_frames, format!("{} trimmed", grouped(totals.trimmed_frames)))
        + &part(
            totals.lost_control,
            format!("{} lost{acknowledgements}", counted(totals.lost_control, "control frame")),
        )
}

/// The frames of flow control: of the kinds that the network has, and of any that were sent.
fn signals(plan: &Plan, totals: &fabric::Totals) -> String {
    let controls = plan.spec.switches.iter().map(|switch| switch.flow_control);
    let controls: Vec<FlowControl> = controls.chain(plan.spec.adapters.iter().map(|it| it.flow_control)).collect();
    let pauses = controls.iter().any(|it| matches!(it, FlowControl::Pause(_) | FlowControl::Pfc(_)));
    let credits = controls.iter().any(|it| matches!(it, FlowControl::Credits(_)));
    let part = |shown: bool, number: u64, thing: &str| match shown || number > 0 {
        true => format!(", {}", counted(number, thing)),
        false => String::new(),
    };
    part(pauses, totals.pause_frames, "pause frame") + &part(credits, totals.credit_frames, "credit frame")
}

fn summary(plan: &Plan, execution: &Execution, judgements: &[Judgement]) -> String {
    let report = &execution.report;
    let totals = &report.totals;
    let mut text = format!("{}: {}", plan.name, outcome_words(execution.measures.outcome, totals));
    text.push_str(&match &report.outcome {
        fabric::Outcome::Deadlock(deadlock) => format!("\n{}", circle(plan, deadlock)),
        fabric::Outcome::LossInLosslessClass(loss) => {
            format!("\n{loss}\n{}", study::explain_loss(plan, loss).unwrap_or_default())
        }
        fabric::Outcome::Stalled(stall) => format!("\n{}\n", stall.describe(|flow| flow_name(plan, flow))),
        fabric::Outcome::Livelock(livelock) => format!("\n{livelock}\n"),
        outcome @ fabric::Outcome::LimitReached(_) => format!(": {}\n", OutcomeRecord::from(outcome).text),
        fabric::Outcome::Finished | fabric::Outcome::Interrupted => "\n".into(),
    });
    let speed = totals.hops as f64 / execution.wall.as_secs_f64().max(1e-9) / 1e6;
    text.push_str(&format!(
        "simulated {} in {}: {} hops ({speed:.1} M hops/s), fingerprint {:016x}\n",
        console::seconds(report.now.as_secs_f64()),
        console::seconds(execution.wall.as_secs_f64()),
        grouped(totals.hops),
        report.fingerprint,
    ));
    if totals.retransmitted_frames > 0 || totals.timeouts > 0 {
        let rejected = match totals.rejected_frames {
            0 => String::new(),
            frames => format!("{} of them and ", grouped(frames)),
        };
        text.push_str(&format!(
            "recovery: {} retransmitted, {}, {}; {} arrived out of order; destinations discarded {rejected}{}\n",
            counted(totals.retransmitted_frames, "frame"),
            counted(totals.timeouts, "timeout"),
            counted(totals.negative_acknowledgements, "NAK"),
            counted(totals.out_of_order_frames, "frame"),
            counted(totals.duplicate_frames, "duplicate"),
        ));
    } else if totals.out_of_order_frames > 0 {
        text.push_str(&format!("{} arrived out of order\n", counted(totals.out_of_order_frames, "frame")));
    }
    text.push_str(&format!(
        "delivered {}; {} dropped, {} lost on links{}{}\n\n",
        console::scaled(totals.delivered_bytes as f64, "B", 1000.0),
        counted(totals.dropped_frames, "frame"),
        grouped(totals.lost_frames - totals.pause_lost_frames),
        other_losses(totals),
        signals(plan, totals),
    ));
    if let Some(waiting) = waiting(plan, execution) {
        text.truncate(text.trim_end().len());
        text.push_str(&format!("\n{waiting}\n\n"));
    }
    if let Some(failed) = failed_cables(plan, report.now) {
        text.truncate(text.trim_end().len());
        text.push_str(&format!("\n{failed}\n\n"));
    }
    // What arrives a second time, or is discarded because it is early, is throughput and not goodput.
    let wasteful = totals.duplicate_frames + totals.rejected_frames > 0;
    let rows: Vec<Vec<String>> = execution
        .measures
        .workloads(plan)
        .into_iter()
        .map(|line| {
            let of =
                |pick: fn((f64, f64, f64)) -> f64| line.throughput.map(|t| console::rate(pick(t))).unwrap_or_default();
            let mut done = if line.completed.1 > 0 {
                format!("{}/{}", grouped(line.completed.0 as u64), grouped(line.completed.1 as u64))
            } else {
                String::new()
            };
            if line.never > 0 {
                done.push_str(&format!(" ({} cannot)", line.never));
            }
            if line.waiting > 0 {
                done.push_str(&format!(" ({} waiting)", grouped(line.waiting as u64)));
            }
            let mut row = vec![
                line.name.clone(),
                grouped(line.flows as u64),
                of(|t| t.0),
                of(|t| t.1),
                of(|t| t.2),
                line.fairness.map(|index| format!("{index:.4}")).unwrap_or_default(),
                done,
                line.completion.map(|times| console::seconds(times.mean)).unwrap_or_default(),
            ];
            if wasteful {
                row.insert(3, line.goodput.map(console::rate).unwrap_or_default());
            }
            row
        })
        .collect();
    let mut head = vec!["workload", "flows", "mean rate", "min", "max", "Jain", "completed", "mean time"];
    if wasteful {
        head.insert(3, "goodput");
    }
    text.push_str(&console::table(&head, &rows));
    text.push_str(&percentile_tables(plan, execution));
    text.push_str(&collective_table(plan, execution));
    text.push_str(&request_table(plan, execution));
    if !judgements.is_empty() {
        text.push('\n');
        text.push_str(&judgement_table(judgements));
    }
    text
}

/// Percentiles of completion times and slowdowns of the workloads with several flows that completed; empty if there are
/// none.
fn percentile_tables(plan: &Plan, execution: &Execution) -> String {
    let lines: Vec<WorkloadSummary> = execution.measures.workloads(plan);
    let shown: Vec<&WorkloadSummary> = lines.iter().filter(|line| line.completed.0 > 1).collect();
    let mut text = String::new();
    let mut add = |what: &str, of: &dyn Fn(&WorkloadSummary) -> Option<Percentiles>, show: &dyn Fn(f64) -> String| {
        let row = |line: &&WorkloadSummary| {
            let Percentiles { mean, p50, p95, p99, p999, most } = of(line)?;
            let values = [mean, p50, p95, p99, p999, most].map(show);
            Some([line.name.clone()].into_iter().chain(values).collect())
        };
        let rows: Vec<Vec<String>> = shown.iter().filter_map(row).collect();
        if !rows.is_empty() {
            text.push_str(&format!(
                "\n{}",
                console::table(&[what, "mean", "p50", "p95", "p99", "p99.9", "max"], &rows)
            ));
        }
    };
    let number = |value: f64| format!("{value:.3}");
    add("completion time", &|line| line.completion, &console::seconds);
    add("completion at the source", &|line| line.source_completion, &console::seconds);
    add("slowdown", &|line| line.slowdown, &number);
    let bins = slowdown_by_size(plan, &execution.measures);
    let row = |bin: &SizeBin| {
        let Percentiles { mean, p50, p95, p99, p999, most } = bin.slowdown;
        let size = console::scaled(bin.sizes.1 as f64, "B", 1000.0);
        let head = [format!("up to {size}"), grouped(bin.flows as u64)];
        head.into_iter().chain([mean, p50, p95, p99, p999, most].map(number)).collect()
    };
    let rows: Vec<Vec<String>> = bins.iter().map(row).collect();
    if !rows.is_empty() {
        let head = ["slowdown by size", "flows", "mean", "p50", "p95", "p99", "p99.9", "max"];
        text.push_str(&format!("\n{}", console::table(&head, &rows)));
    }
    text
}

/// Collective operations as nccl-tests prints them; empty if there are none.
fn collective_table(plan: &Plan, execution: &Execution) -> String {
    let rate = |value: Option<f64>| value.map(console::rate).unwrap_or_default();
    let row = |line: study::CollectiveSummary| {
        let last = line.slowest.and_then(|round| round.last);
        vec![
            line.name,
            format!("{} ({})", line.operation, line.algorithm),
            format!("{}/{}", grouped(line.complete as u64), grouped(line.rounds as u64)),
            line.time.map(console::seconds).unwrap_or_default(),
            line.longest.map(console::seconds).unwrap_or_default(),
            rate(line.algorithm_bandwidth),
            rate(line.bus_bandwidth),
            rate(line.bound),
            last.map(|(rank, host)| format!("{rank} ({host})")).unwrap_or_default(),
        ]
    };
    let rows: Vec<Vec<String>> = execution.measures.collective_summaries(plan).into_iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = [
        "collective",
        "operation",
        "completed",
        "mean time",
        "longest",
        "algorithm bandwidth",
        "bus bandwidth",
        "bound",
        "last rank",
    ];
    format!("\n{}", console::table(&head, &rows))
}

/// Requests and their times; empty if there are none.
fn request_table(plan: &Plan, execution: &Execution) -> String {
    let row = |line: study::RequestSummary| {
        let times = line.time.map(|Percentiles { mean, p50, p95, p99, p999, most }| [mean, p50, p95, p99, p999, most]);
        let times = times.map_or_else(Default::default, |times| times.map(console::seconds));
        let answered = format!("{}/{}", grouped(line.answered as u64), grouped(line.requests as u64));
        let per_second = line.per_second.map(|rate| console::scaled(rate, "/s", 1000.0)).unwrap_or_default();
        [line.name, answered, per_second].into_iter().chain(times).collect()
    };
    let rows: Vec<Vec<String>> = execution.measures.request_summaries(plan).into_iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = ["request time", "answered", "rate", "mean", "p50", "p95", "p99", "p99.9", "max"];
    format!("\n{}", console::table(&head, &rows))
}

/// How runs ended, each way once.
pub fn ended(outcomes: &[String]) -> String {
    let mut ways: Vec<&str> = Vec::new();
    for outcome in outcomes {
        if !ways.contains(&outcome.as_str()) {
            ways.push(outcome);
        }
    }
    ways.join(", ")
}

/// What is expected, as a table shows it.
pub fn wanted(expectation: &Expectation) -> String {
    match (&expectation.expected, expectation.comparison) {
        (None, _) => String::new(),
        // An equality needs no sign.
        (Some(expected), Comparison::Equal) => expected.to_string(),
        (Some(expected), other) => format!("{} {expected}", symbol(other)),
    }
}

/// What was measured, as a table shows it: of several runs the median and, in brackets, where most of them lie.
pub fn found(judgement: &Judgement) -> String {
    let shown = |value: f64| judgement.expectation.unit().shown(value);
    match judgement.summary {
        Some(summary) if summary.count > 1 => {
            format!("{} ({} to {})", shown(summary.median), shown(summary.p10), shown(summary.p90))
        }
        Some(summary) => shown(summary.mean),
        None if judgement.expectation.metric == Metric::Outcome => ended(&judgement.outcomes),
        None => "no value".into(),
    }
}

/// Expectations beside what was measured.
pub fn judgement_table(judgements: &[Judgement]) -> String {
    let rows: Vec<Vec<String>> = judgements
        .iter()
        .map(|judgement| {
            let measured = found(judgement);
            let expected = wanted(&judgement.expectation);
            let source = judgement.expectation.source.clone().unwrap_or_default();
            vec![judgement.expectation.name.clone(), expected, measured, judgement.verdict.word().into(), source]
        })
        .collect();
    console::table(&["quantity", "expected", "measured", "verdict", "source"], &rows)
}
