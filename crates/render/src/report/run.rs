//! A recorded run in a report: small tables as they are, and tables that grow with time as series.

use super::series::{Join, Wish};
use fabric::record::schema;
use results::document::{Chart, ChartGroup, JudgementRecord, Network};
use results::{Batch, Cells, EXPECTATIONS_FILE, Results, ResultsError};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use study::why::WhyError;

/// Flows whose causes a report lists: those that lost most.
const MOST_FLOWS: usize = 400;

/// The series of a run that a report needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// Series drawn in the charts of a figure, which are stored separately.
    pub(super) drawn: Vec<Wish>,
    /// Whether to include everything that can be explored.
    pub(super) whole: bool,
    /// Whether to include dropped frames, which may outnumber all other rows.
    pub(super) drops: bool,
}

/// A run to be added to a report.
#[derive(Clone, Debug)]
pub(super) struct Sought {
    pub(super) label: String,
    pub(super) path: PathBuf,
    pub(super) wanted: Wanted,
}

impl Sought {
    /// Returns by table the series that are drawn and those that can be explored.
    pub(super) fn wishes(&self) -> Vec<(Option<Wish>, Option<Wish>)> {
        let all = series().into_iter().map(|wish| {
            let drawn = self.wanted.drawn.iter().find(|drawn| drawn.table.name == wish.table.name).cloned();
            let drop = wish.table.name == schema::DROPS.name;
            (drawn, (self.wanted.whole && (!drop || self.wanted.drops)).then_some(wish))
        });
        all.filter(|(drawn, whole)| drawn.is_some() || whole.is_some()).collect()
    }
}

/// Returns the tables that grow with simulated time, and their displayed columns.
pub(super) fn series() -> Vec<Wish> {
    let wish = |table, time, keys, values: &[&'static str], join| Wish {
        table,
        time,
        keys,
        values: values.to_vec(),
        join,
        members: None,
    };
    vec![
        wish(&schema::FLOW_SAMPLES, "time", &["flow"], &["interval", "bytes"], Join::Amounts),
        wish(&schema::LINKS, "time", &["port"], &["interval", "bytes", "busy", "starved"], Join::Amounts),
        wish(&schema::STARVED, "time", &["port", "class"], &["interval", "starved"], Join::Amounts),
        wish(&schema::FAIR_SHARES, "time", &["flow"], &["share"], Join::Levels),
        wish(&schema::QUEUES, "time", &["port", "class"], &["output_bytes", "input_held"], Join::Levels),
        wish(&schema::OCCUPANCY, "time", &["port", "class", "flow"], &["bytes"], Join::Levels),
        wish(&schema::RATES, "time", &["flow"], &["rate", "window"], Join::Levels),
        wish(&schema::PAUSES, "end", &["port", "class"], &["start"], Join::Spans),
        wish(&schema::NOTICES, "time", &["flow"], &[], Join::Events),
        wish(&schema::TREES, "time", &["port", "class", "root", "root_port"], &["interval", "blocked"], Join::Amounts),
        wish(&schema::CAUSE_SAMPLES, "time", &["flow", "cause", "root", "port"], &["interval", "span"], Join::Amounts),
        wish(&schema::DROPS, "time", &["port"], &[], Join::Events),
    ]
}

/// Returns the source of a chart over time: the table, its columns, and the index of the key that selects the members.
fn picture(of: &str, links: bool) -> Option<(&'static str, &'static [&'static str], usize)> {
    Some(match (of, links) {
        ("throughput", false) => ("flow_samples", &["interval", "bytes"], 0),
        ("throughput", true) => ("links", &["interval", "bytes"], 0),
        ("utilisation", true) => ("links", &["interval", "busy"], 0),
        ("queues", true) => ("queues", &["output_bytes"], 0),
        ("buffers", true) => ("queues", &["input_held"], 0),
        ("occupancy", false) => ("occupancy", &["bytes"], 2),
        ("rates", false) => ("rates", &["rate"], 0),
        ("windows", false) => ("rates", &["window"], 0),
        ("notices", false) => ("notices", &[], 0),
        ("pauses", _) => ("pauses", &["start"], 0),
        _ => return None,
    })
}

/// Returns the series that the charts of a figure draw for one of its variants.
pub(super) fn drawn(charts: &[Chart], variant: &str) -> Vec<Wish> {
    let mut wishes: Vec<Wish> = Vec::new();
    for chart in charts {
        let Chart::Time { picture: of, variants, .. } = chart else { continue };
        let own = variants.iter().find(|own| own.variant == variant).or(variants.first());
        let groups = own.map(|own| own.groups.as_slice()).unwrap_or_default();
        let sides = if groups.is_empty() || of == "pauses" {
            vec![(matches!(of.as_str(), "queues" | "buffers" | "utilisation"), None)]
        } else {
            let numbers = |group: &ChartGroup| group.members.iter().map(|&member| i64::from(member)).collect();
            let side = |group: &ChartGroup| (group.links, Some(numbers(group)));
            groups.iter().map(side).collect::<Vec<(bool, Option<Vec<i64>>)>>()
        };
        for (links, members) in sides {
            let Some((table, values, place)) = picture(of, links) else { continue };
            let Some(known) = series().into_iter().find(|wish| wish.table.name == table) else { continue };
            let entry = match wishes.iter_mut().position(|wish| wish.table.name == table) {
                Some(at) => &mut wishes[at],
                None => {
                    wishes.push(Wish { values: Vec::new(), members: Some((place, Vec::new())), ..known.clone() });
                    let last = wishes.len() - 1;
                    &mut wishes[last]
                }
            };
            // In the order of the table, whichever chart came first.
            let keep = |name: &&str| values.contains(name) || entry.values.contains(name);
            entry.values = known.values.iter().copied().filter(keep).collect();
            match (&mut entry.members, members) {
                (Some((_, all)), Some(more)) => all.extend(more),
                (all, None) => *all = None,
                (None, Some(_)) => {}
            }
        }
    }
    for (_, numbers) in wishes.iter_mut().filter_map(|wish| wish.members.as_mut()) {
        numbers.sort_unstable();
        numbers.dedup();
    }
    wishes
}

/// Returns the recorded size of a run's series in bytes, without drops, which no figure shows.
pub(super) fn recorded(path: &Path) -> Result<u64, ResultsError> {
    let shown = series();
    let counts = |name: &str| name != schema::DROPS.name && shown.iter().any(|wish| wish.table.name == name);
    let results = Results::open(path)?;
    Ok(results.manifest.tables.iter().filter(|table| counts(&table.name)).map(|table| table.bytes).sum())
}

/// Converts a table to JSON columns; an empty cell is null.
pub(super) fn columns(batch: &Batch) -> Value {
    let mut columns = Map::new();
    for (place, column) in batch.table.columns.iter().enumerate() {
        let present = |row: usize| batch.present[place].as_ref().is_none_or(|present| present[row]);
        let cells: Vec<Value> = match &batch.columns[place] {
            Cells::Integer(cells) => cells.iter().map(|&cell| json!(cell)).collect(),
            Cells::Real(cells) => cells.iter().map(|&cell| json!(cell)).collect(),
            Cells::Text(cells) => cells.iter().map(|cell| json!(cell)).collect(),
            Cells::Flag(cells) => cells.iter().map(|&cell| json!(cell)).collect(),
        };
        let cells = cells.into_iter().enumerate().map(|(row, cell)| if present(row) { cell } else { Value::Null });
        columns.insert(column.name.to_owned(), cells.collect());
    }
    columns.into()
}

/// Information about a run other than its series.
#[derive(Debug)]
pub(super) struct About {
    /// Information specific to this run.
    pub(super) own: Value,
    /// Nodes, buffers, paths and fair shares; null in older results, which did not record them.
    pub(super) network: Value,
    /// Ports, which are mostly equal for all variants of a figure.
    pub(super) ports: Value,
}

/// Reads the small tables of a run. Without `with_plan`, only the network is kept of the plan, for its drawing.
pub(super) fn about(results: &Results, with_plan: bool) -> Result<About, ResultsError> {
    let small =
        |table| if results.has(table) { results.read(table).map(|batch| columns(&batch)) } else { Ok(json!({})) };
    let mut manifest = results.manifest.to_json();
    // Other files are no part of a report, which may be one of them.
    manifest.as_object_mut().and_then(|manifest| manifest.remove("files"));
    let entries = manifest.pointer_mut("/plan/entries").and_then(Value::as_array_mut);
    if let Some(entries) = entries.filter(|_| !with_plan) {
        entries.retain(|entry| entry["key"].as_str().is_some_and(|key| key.starts_with("network.")));
    }
    let own = json!({
        "manifest": manifest,
        "expectations": expectations(results)?,
        "flows": small(&schema::FLOWS)?,
        "waits": small(&schema::WAITS)?,
        "wait_buckets": small(&schema::WAIT_BUCKETS)?,
        "delays": small(&schema::DELAYS)?,
        "queue_levels": small(&schema::QUEUE_LEVELS)?,
        "collective_ranks": small(&schema::COLLECTIVE_RANKS)?,
        "requests": small(&schema::REQUESTS)?,
        "why": overview(results)?,
    });
    // Results of before there was such a file have none: then the drawing does with what the ports tell.
    Ok(About { own, network: json!(results.document::<Network>()?), ports: small(&schema::PORTS)? })
}

/// The causes of the run's delays; null if they were not recorded.
fn overview(results: &Results) -> Result<Option<Value>, ResultsError> {
    match study::why::overview(results, MOST_FLOWS) {
        Ok(overview) => Ok(overview.as_ref().map(study::why::Overview::record)),
        Err(WhyError::Results(error)) => Err(error),
        // There is always an answer to the question for the worst.
        Err(WhyError::Nothing(_)) => Ok(None),
    }
}

/// The verdicts on what the scenario expects.
fn expectations(results: &Results) -> Result<Option<Vec<JudgementRecord>>, ResultsError> {
    let Some(value) = results.beside(EXPECTATIONS_FILE)? else { return Ok(None) };
    let path = results.directory().join(EXPECTATIONS_FILE);
    let judgements = serde_json::from_value(value);
    judgements.map(Some).map_err(|error| ResultsError::Changed { path, reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::document::ChartVariant;

    #[test]
    fn what_charts_draw_is_read_and_nothing_else() {
        let group = |links: bool, members: &[u32]| ChartGroup { name: "g".into(), links, members: members.to_vec() };
        let chart = |picture: &str, groups: Vec<ChartGroup>| {
            let variants = vec![ChartVariant { variant: "a".into(), groups }];
            Chart::Time { title: String::new(), y: None, picture: picture.to_owned(), window_ps: 1, variants }
        };
        let charts = [
            chart("queues", vec![group(true, &[9, 4])]),
            chart("utilisation", vec![group(true, &[4])]),
            chart("throughput", vec![group(true, &[7]), group(false, &[1, 2])]),
            chart("windows", vec![]),
        ];
        // Whatever the figure does not know is drawn like its first variant.
        for variant in ["a", "b"] {
            let told: Vec<_> =
                drawn(&charts, variant).into_iter().map(|wish| (wish.table.name, wish.values, wish.members)).collect();
            let expected = vec![
                ("queues", vec!["output_bytes"], Some((0, vec![4, 9]))),
                ("links", vec!["interval", "bytes", "busy"], Some((0, vec![4, 7]))),
                ("flow_samples", vec!["interval", "bytes"], Some((0, vec![1, 2]))),
                ("rates", vec!["window"], None),
            ];
            assert_eq!(told, expected);
        }
    }
}
