//! Charts of what became of finite flows: how long they took, and how much longer than alone.

use super::axis::Axis;
use super::line_chart::{LineChart, Series};
use super::pictures::{Chart, PlotOptions};
use fabric::record::schema;
use results::{Quantity, Results, ResultsError};
use std::collections::BTreeMap;
use theory::quantile::{equal_bins, quantile_of_sorted};

/// Fewest completed flows of which a distribution says something.
const FEWEST: usize = 3;
/// Bins of flow sizes.
const BINS: usize = 20;

/// Draws the distribution of the completion times of each workload; `None` if hardly any flow completed.
pub(super) fn completion_times(
    results: &Results,
    options: &PlotOptions,
    title: &str,
) -> Result<Option<Chart>, ResultsError> {
    let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for batch in results.groups(&schema::FLOWS)? {
        let batch = batch?;
        let (flows, names, durations) = (batch.integers("flow"), batch.texts("name"), batch.integers("duration"));
        for row in (0..batch.len()).filter(|&row| batch.is_present(row, "duration")) {
            if u32::try_from(flows[row]).is_ok_and(|flow| options.flows.contains(flow)) {
                times.entry(workload(&names[row]).to_owned()).or_default().push(durations[row] as f64 / 1e12);
            }
        }
    }
    times.retain(|_, times| times.len() >= FEWEST);
    let mut ranked: Vec<(String, Vec<f64>)> = times.into_iter().collect();
    ranked.sort_by_key(|(_, times)| std::cmp::Reverse(times.len()));
    let more = ranked.len().saturating_sub(options.most);
    ranked.truncate(options.most);
    if ranked.is_empty() {
        return Ok(None);
    }
    let spread = ranked
        .iter()
        .flat_map(|(_, times)| times)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), &time| (low.min(time), high.max(time)));
    let label = "completion time";
    let x = match spread.1 > 10.0 * spread.0 && spread.0 > 0.0 {
        true => Axis::logarithmic(label, Quantity::Time),
        false => Axis::new(label, Quantity::Time),
    };
    let mut chart = LineChart::new(title, x, Axis::within("flows at most as long", Quantity::Fraction, 0.0, 1.0));
    chart.subtitle = "cumulative distribution by workload".into();
    chart.more = more;
    for (name, mut times) in ranked {
        times.sort_by(f64::total_cmp);
        let count = times.len() as f64;
        let first = (times[0], 0.0);
        let points = times.iter().enumerate().map(|(place, &time)| (time, (place + 1) as f64 / count));
        chart.series.push(Series::steps(&name, [first].into_iter().chain(points).collect()));
    }
    Ok(Some(Chart::Lines(chart)))
}

/// Draws median and 99th percentile of the slowdown by flow size, or the distribution of slowdowns if all completed flows
/// have one size; `None` if hardly any flow completed.
pub(super) fn slowdowns(results: &Results, options: &PlotOptions, title: &str) -> Result<Option<Chart>, ResultsError> {
    let mut flows: Vec<(i64, f64)> = Vec::new();
    for batch in results.groups(&schema::FLOWS)? {
        let batch = batch?;
        let (numbers, sizes, values) = (batch.integers("flow"), batch.integers("size"), batch.reals("slowdown"));
        let complete = |row: &usize| batch.is_present(*row, "slowdown") && batch.is_present(*row, "size");
        for row in (0..batch.len()).filter(complete) {
            if u32::try_from(numbers[row]).is_ok_and(|flow| options.flows.contains(flow)) {
                flows.push((sizes[row], values[row]));
            }
        }
    }
    flows.sort_by(|(a, x), (b, y)| a.cmp(b).then(x.total_cmp(y)));
    let lines = [("99th percentile", 0.99), ("95th percentile", 0.95), ("median", 0.5)];
    let mut series = lines.map(|(name, _)| Series { marked: true, ..Series::straight(name, Vec::new()) });
    let sizes: Vec<i64> = flows.iter().map(|&(size, _)| size).collect();
    for bin in equal_bins(&sizes, BINS) {
        let largest = sizes[bin.end - 1] as f64;
        let mut values: Vec<f64> = flows[bin].iter().map(|&(_, value)| value).collect();
        values.sort_by(f64::total_cmp);
        for (series, (_, part)) in series.iter_mut().zip(lines) {
            series.points.extend(quantile_of_sorted(&values, part).map(|value| (largest, value)));
        }
    }
    if series[0].points.len() < 2 {
        return Ok(distribution(flows.into_iter().map(|(_, slowdown)| slowdown).collect(), title));
    }
    let (x, y) =
        (Axis::logarithmic("flow size", Quantity::Size), Axis::logarithmic("slowdown", Quantity::Plain(String::new())));
    let mut chart = LineChart::new(title, x, y);
    chart.subtitle =
        format!("completion time divided by that of the flow alone; {} flows", units::grouped(flows.len() as u64));
    chart.series = series.to_vec();
    Ok(Some(Chart::Lines(chart)))
}

/// Draws the distribution of slowdowns; `None` if there are hardly any.
fn distribution(mut slowdowns: Vec<f64>, title: &str) -> Option<Chart> {
    if slowdowns.len() < FEWEST {
        return None;
    }
    slowdowns.sort_by(f64::total_cmp);
    let count = slowdowns.len() as f64;
    let (label, quantity) = ("slowdown", Quantity::Plain(String::new()));
    let x = match slowdowns[0] > 0.0 && slowdowns[slowdowns.len() - 1] > 10.0 * slowdowns[0] {
        true => Axis::logarithmic(label, quantity),
        false => Axis::new(label, quantity),
    };
    let mut chart = LineChart::new(title, x, Axis::within("flows at most as slow", Quantity::Fraction, 0.0, 1.0));
    chart.subtitle = "completion time divided by that of the flow alone; all flows have one size".into();
    let first = (slowdowns[0], 0.0);
    let points = slowdowns.iter().enumerate().map(|(place, &slowdown)| (slowdown, (place + 1) as f64 / count));
    chart.series = vec![Series::steps("slowdown", [first].into_iter().chain(points).collect())];
    Some(Chart::Lines(chart))
}

/// The workload of a flow, by its name.
fn workload(name: &str) -> &str {
    name.split_once('/').map_or(name, |(workload, _)| workload)
}
