//! Conversion of `[run]`, `[probes]`, `[[faults]]` and `[sweep]`.

use super::names::Names;
use super::network::cables_between;
use crate::key::Kind;
use crate::overrides::{Path, kind_at, names_at, takes_none};
use crate::plan::{Axis, ProbeSettings, RunSettings};
use crate::problem::Problem;
use crate::resolve::{Gathered, Node, is_none, join};
use crate::source::Place;
use crate::tree::{Data, Item, Table};
use crate::value::{read, written};
use fabric::graph::Graph;
use fabric::spec::Fault;
use std::collections::BTreeSet;
use units::{Span, Time, grouped};

/// Maximum number of sampling instants of a run, which limits memory and time.
pub const MOST_SAMPLES: u64 = 10_000_000;

/// Maximum number of inspections of the whole network in a run.
const MOST_INSPECTIONS: u64 = 1_000_000_000;

pub(crate) fn run(gathered: &mut Gathered<'_>, root: &Node, seed: Option<u64>) -> Option<RunSettings> {
    let node = root.table("run")?;
    let duration = node.time("duration")?;
    let warm_up = node.time("warm_up")?;
    let inspect_every = node.time("inspect_every")?;
    let mut good = true;
    if duration == Span::ZERO {
        gathered.refuse(node.place_of("duration"), "the duration is zero", "give a duration above zero");
        good = false;
    } else if warm_up >= duration {
        let message = format!("the warm-up of {warm_up} covers the whole run of {duration}");
        let problem = Problem::new(node.place_of("warm_up"), message, "shorten warm_up, or lengthen duration");
        gathered.problems.push(problem.and(node.place_of("duration"), "the duration"));
        good = false;
    }
    if inspect_every == Span::ZERO {
        gathered.refuse(
            node.place_of("inspect_every"),
            "the interval between inspections is zero",
            "give a time above zero",
        );
        good = false;
    } else if let inspections @ MOST_INSPECTIONS.. = duration.as_picos() / inspect_every.as_picos() {
        let message = format!(
            "an inspection every {inspect_every} in a run of {duration} makes {} inspections",
            grouped(inspections)
        );
        let least = Span::from_picos(duration.as_picos().div_ceil(MOST_INSPECTIONS - 1));
        gathered.refuse(node.place_of("inspect_every"), message, format!("give {least} or more"));
        good = false;
    }
    let quick = node.time("quick");
    if quick.is_some_and(|quick| quick <= warm_up) {
        let problem = Problem::new(node.place_of("quick"), "the short form ends within the warm-up", "lengthen quick");
        gathered.problems.push(problem.and(node.place_of("warm_up"), "the warm-up"));
        good = false;
    }
    good.then_some(())?;
    Some(RunSettings {
        duration,
        warm_up,
        seed: seed.or(node.count("seed"))?,
        replications: u32::try_from(node.count("replications")?).unwrap_or(u32::MAX),
        quick,
        inspect_every,
        max_events: node.count("max_events"),
        threads: node.count("threads").map(|threads| threads as usize),
    })
}

/// Returns placeholder settings for finding further problems if those of the scenario are invalid.
pub(crate) fn some_run() -> RunSettings {
    let duration = Span::from_millis(1);
    let (warm_up, inspect_every) = (Span::ZERO, Span::from_micros(100));
    let (quick, max_events, threads) = (None, None, None);
    RunSettings { duration, warm_up, seed: 1, replications: 1, quick, inspect_every, max_events, threads }
}

pub(crate) fn probes(
    gathered: &mut Gathered<'_>,
    root: &Node,
    graph: &Graph,
    run: &RunSettings,
) -> Option<ProbeSettings> {
    let node = root.table("probes")?;
    let record: BTreeSet<String> = node.names("record")?.into_iter().map(|(name, _)| name).collect();
    let part = |gathered: &mut Gathered<'_>, key: &str, parts: u64| {
        node.time(key).unwrap_or_else(|| {
            let span = Span::from_picos((run.duration.as_picos() / parts).max(1));
            gathered.computed(&node.path, key, format!("\"{span}\""));
            span
        })
    };
    let sample_every = part(gathered, "sample_every", 1000);
    let throughput_window = part(gathered, "throughput_window", 100);
    for (key, span) in [("sample_every", sample_every), ("throughput_window", throughput_window)] {
        if span == Span::ZERO {
            gathered.refuse(node.place_of(key), "the interval is zero", "give a time above zero");
            return None;
        }
    }
    let samples = run.duration.as_picos() / sample_every.as_picos();
    if samples > MOST_SAMPLES {
        let least = Span::from_picos(run.duration.as_picos().div_ceil(MOST_SAMPLES));
        let problem = Problem::new(
            node.place_of("sample_every"),
            format!("a sample every {sample_every} in a run of {} makes {} samples", run.duration, grouped(samples)),
            format!("give {least} or more; the limit is {} samples", grouped(MOST_SAMPLES)),
        );
        gathered.problems.push(problem);
        return None;
    }
    let names = Names::new("node", graph.nodes.iter().map(|node| node.name.as_str()));
    let mut nodes = vec![false; graph.nodes.len()];
    for chosen in names.select(gathered, &node.names("nodes")?, node.place)? {
        nodes[chosen as usize] = true;
    }
    Some(ProbeSettings {
        flows: record.contains("flows"),
        links: record.contains("links"),
        queues: record.contains("queues"),
        rates: record.contains("rates"),
        pauses: record.contains("pauses"),
        drops: record.contains("drops"),
        notices: record.contains("notices"),
        occupancy: record.contains("occupancy"),
        causes: record.contains("causes"),
        sample_every,
        throughput_window,
        max_rows: node.count("max_rows")?,
        max_size: node.size("max_size")?,
        nodes,
    })
}

pub(crate) fn faults(gathered: &mut Gathered<'_>, root: &Node, graph: &Graph) -> Option<Vec<Fault>> {
    let mut faults = Vec::new();
    let mut good = true;
    for node in root.tables("faults") {
        let Some(cables) = cables_between(gathered, node, graph) else {
            good = false;
            continue;
        };
        let Some(down) = node.time("down") else {
            good = false;
            continue;
        };
        let up = node.time("up");
        if up.is_some_and(|up| up <= down) {
            let problem = Problem::new(node.place_of("up"), "the link recovers before it fails", "swap the times");
            gathered.problems.push(problem.and(node.place_of("down"), "it fails"));
            good = false;
        }
        let fault = |cable| Fault { cable, down: Time::ZERO + down, up: up.map(|up| Time::ZERO + up) };
        faults.extend(cables.into_iter().map(fault));
    }
    good.then_some(faults)
}

/// Reads the axes of a sweep. Invalid ones are reported and omitted.
pub(crate) fn sweep(gathered: &mut Gathered<'_>, root: &Node) -> Vec<Axis> {
    let mut axes = Vec::new();
    let Some(item) = root.any("sweep") else { return axes };
    match &item.data {
        Data::Table(table) => axes_of(gathered, table, "", &mut axes),
        data => {
            let message = format!("expected a table, found {}", data.describe());
            gathered.refuse(item.place, message, "write [sweep] and, below it, path = [value, value]");
        }
    }
    axes
}

fn axes_of(gathered: &mut Gathered<'_>, table: &Table, above: &str, axes: &mut Vec<Axis>) {
    for (name, entry) in &table.entries {
        let path = join(above, name);
        match &entry.item.data {
            Data::Table(inner) => axes_of(gathered, inner, &path, axes),
            Data::List(values) if !values.is_empty() => axes.extend(axis(gathered, path, entry.key, values)),
            data => {
                let message = format!("`{path}` takes a list of values, found {}", data.describe());
                gathered.refuse(entry.item.place, message, "write [value, value], at least one");
            }
        }
    }
}

pub(crate) fn axis(gathered: &mut Gathered<'_>, path: String, place: Place, values: &[Item]) -> Option<Axis> {
    let steps = match Path::parse(&path) {
        Ok(steps) => steps,
        Err(reason) => {
            gathered.refuse(place, reason, "write a path such as \"switches[0].buffers[0].xoff\"");
            return None;
        }
    };
    let kinds = match kind_at(&steps) {
        Ok(kinds) => kinds,
        Err((message, help)) => {
            gathered.refuse(place, message, help);
            return None;
        }
    };
    let mut good = true;
    for value in values {
        good &= fits(gathered, &steps, &kinds, value);
    }
    let places = values.iter().map(|value| value.place).collect();
    good.then(|| Axis { path, values: values.iter().map(written).collect(), places })
}

/// Checks that a key takes a value, and reports if not. A key with several readings takes values of any of them. The
/// contents of tables are checked when they are used.
pub(crate) fn fits(gathered: &mut Gathered<'_>, path: &Path, kinds: &[&Kind], value: &Item) -> bool {
    if is_none(value) && takes_none(path) {
        return true;
    }
    if let (Data::Text(text), Some(names)) = (&value.data, names_at(path)) {
        return names.iter().any(|(name, _)| name == text) || {
            let known: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
            gathered.refuse(value.place, format!("unknown value \"{text}\""), format!("use {}", known.join(" or ")));
            false
        };
    }
    let mut wrong = Vec::new();
    let takes = |kind: &&Kind| match (kind, &value.data) {
        (Kind::Table(_) | Kind::Tables(_), Data::Table(_)) | (Kind::Tables(_), Data::List(_)) => true,
        _ => read(kind, value).map_err(|problems| wrong = problems).is_ok(),
    };
    let fits = kinds.iter().any(takes);
    if !fits {
        gathered.problems.extend(wrong);
    }
    fits
}
