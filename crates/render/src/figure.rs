//! Charts of sweeps, comparisons and figures.

use crate::plot::{
    Axis, Drawn, GridChart, GridLine, GridPoint, LineChart, LineGroup, PlotOptions, Series, grouped, picture,
};
use fabric::record::{Interval, schema, sliding_window};
use results::document::Chart;
use results::{PLOTS_FOLDER, Picture, Quantity, Results, ResultsError};
use scenario::{ChartKind, ChartWish, Group, Plan};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use study::{Curve, Summary, file_name};
use units::{Span, Time};

/// Pixels per point in PNG files.
pub const SCALE: f64 = 2.0;

/// Returns the quantity of a sweep's metric.
fn quantity(metric: &str) -> Quantity {
    match metric {
        metric if metric.ends_with("(b/s)") => Quantity::Rate,
        metric if metric.ends_with("(s)") => Quantity::Time,
        metric if metric.ends_with("(B)") => Quantity::Size,
        _ => Quantity::Plain(String::new()),
    }
}

fn grid_point(at: String, summary: &Summary) -> GridPoint {
    let interval = summary.interval.map(|interval| (interval.low, interval.high));
    GridPoint { at, value: summary.mean, interval }
}

/// Draws every metric of a sweep along an axis.
///
/// # Errors
/// Returns an error if a file exists that may not be replaced, or if a system call fails.
pub fn draw_sweep(axis: &str, curves: &[Curve], out: &Path) -> Result<(), ResultsError> {
    let mut charts: BTreeMap<&str, GridChart> = BTreeMap::new();
    for curve in curves {
        let chart = charts.entry(&curve.metric).or_insert_with(|| GridChart {
            title: curve.metric.clone(),
            along: axis.to_owned(),
            x: axis.to_owned(),
            legend: None,
            y: Axis::new(curve.metric.split(" (").next().unwrap_or(""), quantity(&curve.metric)),
            bars: false,
            lines: Vec::new(),
        });
        let name = if curve.name.is_empty() { curve.metric.clone() } else { curve.name.clone() };
        let point = |(at, summary): &(String, Summary)| grid_point(at.clone(), summary);
        chart.lines.push(GridLine { name, points: curve.points.iter().map(point).collect() });
    }
    // Two metrics may differ in a character that no file name keeps.
    let mut names: Vec<String> = Vec::new();
    let mut drawn = Drawn::default();
    for (metric, chart) in &charts {
        let title = metric.split(" (").next().unwrap_or(metric).to_owned();
        drawn.add(&chart.chart().draw(), (&out.join(PLOTS_FOLDER), &file_name(&title, &names)), SCALE);
        names.push(title);
    }
    files::no_links(out, PLOTS_FOLDER).map_err(|error| ResultsError::io("write to", out, error))?;
    drawn.write(false).map(|_| ())
}

/// Draws the charts of a figure's grid for a directory; those over time are drawn by [`draw_times`].
#[must_use]
pub fn draw_grid(charts: &[Chart], out: &Path) -> Drawn {
    let mut names: Vec<String> = Vec::new();
    let mut drawn = Drawn::default();
    for chart in charts.iter().filter_map(GridChart::of) {
        drawn.add(&chart.chart().draw(), (out, &file_name(&chart.title, &names)), SCALE);
        names.push(chart.title);
    }
    drawn
}

/// Draws the charts over time that a figure requests, for one recorded run and its plan, for a directory. Returns them
/// and the titles of charts without recorded data.
///
/// # Errors
/// Returns an error if a table cannot be read.
pub fn draw_times(plan: &Plan, results: &Path, out: &Path) -> Result<(Drawn, Vec<String>), ResultsError> {
    let (mut drawn, mut empty) = (Drawn::default(), Vec::new());
    let results = Results::open(results)?;
    // The usual pictures lie in the same folder.
    let mut names: Vec<String> = Picture::ALL.iter().map(|picture| picture.name().to_owned()).collect();
    for ChartWish { title, y, kind, .. } in &plan.figure.charts {
        let ChartKind::Time { picture: name, flows, links, window } = kind else { continue };
        let Some(kind) = Picture::named(name) else { continue };
        let window = window.unwrap_or(plan.probes.throughput_window);
        let options = PlotOptions { window: Some(window), ..PlotOptions::default() };
        let group = |links: bool| {
            move |group: &Group| LineGroup { name: group.name.clone(), links, members: group.members.clone() }
        };
        let groups: Vec<LineGroup> = flows.iter().map(group(false)).chain(links.iter().map(group(true))).collect();
        let chart = if groups.is_empty() {
            picture(&results, kind, &options)
        } else {
            let title = plan.figure.variant.as_ref().map_or(title.clone(), |variant| format!("{title} · {variant}"));
            grouped(&results, kind, (&title, y.as_deref().unwrap_or(name)), &groups, &options)
        };
        match chart? {
            Some(chart) => drawn.add(&chart.draw(), (out, &file_name(title, &names)), SCALE),
            None => empty.push(title.clone()),
        }
        names.push(title.clone());
    }
    Ok((drawn, empty))
}

/// Draws the throughput of every workload over time, one line per variant.
///
/// # Errors
/// Returns an error if a file exists that may not be replaced, or if a system call fails.
pub fn draw_overlay(plan: &Plan, variants: &[(String, PathBuf)], out: &Path) -> Result<(), ResultsError> {
    let axis = Axis::new("time", Quantity::Time);
    let mut chart = LineChart::new(&plan.name, axis, Axis::new("throughput", Quantity::Rate));
    chart.subtitle = format!("sum over each workload, sliding window of {}", plan.probes.throughput_window);
    for (variant, path) in variants {
        let sums = workload_sums(plan, path)?;
        for (workload, intervals) in sums {
            let until = Time::ZERO + plan.run.duration;
            let points = sliding_window(&intervals, plan.probes.throughput_window, until);
            let points = points.into_iter().map(|(at, bytes)| (at.as_secs_f64(), bytes * 8.0)).collect();
            let name = format!("{variant}: {}", plan.workload_names[workload as usize]);
            chart.series.push(Series::straight(&name, points));
        }
    }
    let mut drawn = Drawn::default();
    drawn.add(&chart.draw(), (out, "throughput"), SCALE);
    drawn.write(false).map(|_| ())
}

/// Returns the bytes delivered in each interval, by workload.
fn workload_sums(plan: &Plan, path: &Path) -> Result<BTreeMap<u32, Vec<Interval>>, ResultsError> {
    let results = Results::open(path)?;
    let mut sums: BTreeMap<u32, Vec<Interval>> = BTreeMap::new();
    if !results.has(&schema::FLOW_SAMPLES) {
        return Ok(sums);
    }
    for batch in results.groups(&schema::FLOW_SAMPLES)? {
        let batch = batch?;
        let (times, flows) = (batch.integers("time"), batch.integers("flow"));
        let (lengths, bytes) = (batch.integers("interval"), batch.integers("bytes"));
        for row in 0..batch.len() {
            let Some(workload) = plan.workload_of_flow.get(flows[row] as usize) else { continue };
            let end = Time::from_picos(times[row] as u64);
            let intervals = sums.entry(workload).or_default();
            match intervals.last_mut() {
                Some(last) if last.end == end => last.amount += bytes[row] as u64,
                _ => intervals.push(Interval {
                    end,
                    length: Span::from_picos(lengths[row] as u64),
                    amount: bytes[row] as u64,
                }),
            }
        }
    }
    Ok(sums)
}
