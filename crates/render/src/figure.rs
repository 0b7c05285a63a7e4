//! Charts of sweeps, comparisons and figures.

use crate::plot::{
    Axis, Canvas, GridChart, GridLine, GridPoint, LineChart, LineGroup, PlotOptions, Series, grouped, picture, to_png,
    to_svg,
};
use fabric::record::{Interval, schema, sliding_window};
use results::{Kind, PLOTS_FOLDER, Picture, Quantity, Results, ResultsError, axis_value};
use scenario::{ChartKind, ChartWish, Group, Metric, Plan, Unit};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use study::{CellSummary, Curve, Summary, file_name, short_cell};
use units::{Span, Time};

/// Writes a canvas as SVG and PNG.
///
/// # Errors
/// Returns an error if a file exists that may not be replaced, or if a system call fails.
pub fn write_canvas(canvas: &Canvas, out: &Path, name: &str) -> Result<(), ResultsError> {
    let put =
        |ending: &str, contents: &[u8]| Kind::Picture.write(&out.join(format!("{name}.{ending}")), false, contents);
    std::fs::create_dir_all(out).map_err(|source| ResultsError::io("create", out, source))?;
    put("svg", to_svg(canvas).as_bytes())?;
    if let Some(png) = to_png(canvas, 2.0) {
        put("png", &png)?;
    }
    Ok(())
}

/// Returns the quantity of a sweep's metric.
fn quantity(metric: &str) -> Quantity {
    match metric {
        metric if metric.ends_with("(b/s)") => Quantity::Rate,
        metric if metric.ends_with("(s)") => Quantity::Time,
        metric if metric.ends_with("(B)") => Quantity::Size,
        _ => Quantity::Plain(String::new()),
    }
}

/// Returns the index of the axis to draw along: the first numeric axis with several values, or else the first axis.
#[must_use]
pub fn along(axes: &[(String, Vec<String>)]) -> Option<usize> {
    let numbers = |(_, values): &(String, Vec<String>)| {
        values.len() > 1 && values.iter().all(|value| axis_value(value).is_some())
    };
    axes.iter().position(numbers).or((!axes.is_empty()).then_some(0))
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
    for (metric, chart) in &charts {
        let title = metric.split(" (").next().unwrap_or(metric).to_owned();
        files::no_links(out, PLOTS_FOLDER).map_err(|error| ResultsError::io("write to", out, error))?;
        write_canvas(&chart.chart().draw(), &out.join(PLOTS_FOLDER), &file_name(&title, &names))?;
        names.push(title);
    }
    Ok(())
}

/// Returns the quantity in which a unit is drawn.
fn drawn_in(unit: Unit) -> Quantity {
    match unit {
        Unit::Rate => Quantity::Rate,
        Unit::Time => Quantity::Time,
        Unit::Size => Quantity::Size,
        Unit::Count | Unit::Number | Unit::Outcome => Quantity::Plain(String::new()),
    }
}

/// Returns the charts that a figure requests for its grid or, if it requests none, one of every quantity along its
/// axis. A figure of one cell has none.
#[must_use]
pub fn grid_charts(plan: &Plan, cells: &[CellSummary]) -> Vec<GridChart> {
    if cells.len() < 2 {
        return Vec::new();
    }
    let wished = plan.figure.charts.iter().filter(|wish| matches!(wish.kind, ChartKind::Grid { .. }));
    let mut wishes: Vec<ChartWish> = wished.cloned().collect();
    if wishes.is_empty() {
        let numbers = plan.expectations.iter().enumerate().filter(|(_, e)| e.metric != Metric::Outcome);
        wishes.extend(numbers.map(|(place, expectation)| {
            let (quantities, along, within) = (vec![place], None, plan.figure.judged_in[place].clone());
            let kind = ChartKind::Grid { bars: false, quantities, along, within };
            ChartWish { title: expectation.name.clone(), y: None, x: None, legend: None, kind }
        }));
    }
    wishes.iter().filter_map(|wish| grid_chart(plan, cells, wish)).collect()
}

/// Draws charts of a grid.
///
/// # Errors
/// Returns an error if a file exists that may not be replaced, or if a system call fails.
pub fn draw_grid(charts: &[GridChart], out: &Path) -> Result<(), ResultsError> {
    let mut names: Vec<String> = Vec::new();
    for chart in charts {
        write_canvas(&chart.chart().draw(), out, &file_name(&chart.title, &names))?;
        names.push(chart.title.clone());
    }
    Ok(())
}

/// Returns one chart of a grid; `None` if none of its quantities was measured.
fn grid_chart(plan: &Plan, cells: &[CellSummary], wish: &ChartWish) -> Option<GridChart> {
    let ChartKind::Grid { bars, quantities, along: axis, within } = &wish.kind else { return None };
    let axes = plan.axes();
    let axis = axis.clone().or_else(|| along(&axes).map(|place| axes[place].0.clone()))?;
    let unit = plan.expectations.get(*quantities.first()?)?.unit();
    let mut lines: Vec<GridLine> = Vec::new();
    for &quantity in quantities {
        let called = &plan.expectations.get(quantity)?.name;
        for row in cells.iter().filter(|row| within.holds(&row.cell)) {
            let Some(summary) = row.quantities.get(quantity).copied().flatten() else { continue };
            let (on, off): (Vec<_>, Vec<_>) = row.cell.iter().cloned().partition(|(name, _)| *name == axis);
            let Some((_, at)) = on.into_iter().next() else { continue };
            // An axis of one value needs no name.
            let varies = |(name, value): &(String, String)| {
                cells
                    .iter()
                    .any(|row| within.holds(&row.cell) && row.cell.iter().any(|(other, v)| other == name && v != value))
            };
            let held: Vec<_> = off.into_iter().filter(varies).collect();
            let name = match (quantities.len(), held.is_empty()) {
                (1, false) => short_cell(&held),
                (_, true) => called.clone(),
                (_, false) => format!("{called}, {}", short_cell(&held)),
            };
            let point = grid_point(at, &summary);
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(point),
                None => lines.push(GridLine { name, points: vec![point] }),
            }
        }
    }
    if let Some(order) = within.of(&axis) {
        for line in &mut lines {
            line.points.sort_by_key(|point| order.iter().position(|value| *value == point.at));
        }
    }
    let label = wish.y.clone().unwrap_or_else(|| plan.expectations[quantities[0]].name.clone());
    let (title, y) = (wish.title.clone(), Axis::new(&label, drawn_in(unit)));
    let (x, legend) = (wish.x.clone().unwrap_or_else(|| axis.clone()), wish.legend.clone());
    (!lines.is_empty()).then_some(GridChart { title, along: axis, x, legend, y, bars: *bars, lines })
}

/// Draws the charts over time that a figure requests, for one recorded run and its plan. Returns the titles of charts
/// without recorded data.
///
/// # Errors
/// Returns an error if a file exists that may not be replaced, or if a system call fails.
pub fn draw_times(plan: &Plan, results: &Path, out: &Path) -> Result<Vec<String>, ResultsError> {
    let mut empty = Vec::new();
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
            Some(chart) => write_canvas(&chart.draw(), out, &file_name(title, &names))?,
            None => empty.push(title.clone()),
        }
        names.push(title.clone());
    }
    Ok(empty)
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
    write_canvas(&chart.draw(), out, "throughput")
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
            let Some(&workload) = plan.workload_of_flow.get(flows[row] as usize) else { continue };
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
