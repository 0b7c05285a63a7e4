//! `plot`, `diff` and `csv`: recorded runs looked at again; and the pictures of sweeps and comparisons.

use super::arguments::{Csv, Diff, Plot};
use super::console;
use super::exit::Exit;
use super::run::slug;
use super::sweep::Curve;
use fabric::record::{Interval, schema, sliding_window};
use lab::plot::{Axis, Canvas, LineChart, PlotOptions, Quantity, Series, to_png, to_svg, write_plots};
use lab::results::{Results, ResultsError, export_csv, fingerprints, first_difference};
use lab::scenario::Plan;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use units::{Bytes, Rate, Span, Time};

/// Draws all pictures of a result into a directory.
pub fn draw(results: &Path, out: &Path) -> Result<(), ResultsError> {
    let results = Results::open(results)?;
    let options = PlotOptions { window: window_of(&results), ..PlotOptions::default() };
    write_plots(&results, out, &options).map(|_| ())
}

/// The window over which the plan of a result averages throughput.
fn window_of(results: &Results) -> Option<Span> {
    let entries = results.manifest.plan["entries"].as_array()?;
    let entry = entries.iter().find(|entry| entry["key"] == "probes.throughput_window")?;
    entry["value"].as_str()?.trim_matches('"').parse().ok()
}

/// Writes all tables of a result as CSV into a directory.
pub fn write_csv(results: &Path, out: &Path) -> Result<(), ResultsError> {
    export_csv(&Results::open(results)?, out).map(|_| ())
}

/// Ends with success or says what is wrong.
fn ending(result: Result<(), ResultsError>, what: &str, out: &Path) -> Exit {
    match result {
        Ok(()) => {
            console::note(&format!("{what} in {}", out.display()));
            Exit::Success
        }
        Err(error) => {
            console::error(&error.to_string());
            Exit::refusal(&error)
        }
    }
}

/// `tailback plot`
pub fn plot(arguments: &Plot) -> Exit {
    let out = arguments.out.clone().unwrap_or_else(|| arguments.results.join("plots"));
    ending(draw(&arguments.results, &out), "pictures", &out)
}

/// `tailback csv`
pub fn csv(arguments: &Csv) -> Exit {
    let out = arguments.out.clone().unwrap_or_else(|| arguments.results.join("csv"));
    ending(write_csv(&arguments.results, &out), "tables", &out)
}

/// `tailback diff`
pub fn diff(arguments: &Diff) -> Exit {
    let compare = || -> Result<Exit, ResultsError> {
        let (a, b) = (Results::open(&arguments.a)?, Results::open(&arguments.b)?);
        console::print(&format!("{}\n", fingerprints(&a, &b)));
        if a.manifest.fingerprint == b.manifest.fingerprint {
            return Ok(Exit::Success);
        }
        match first_difference(&a, &b)? {
            Some(difference) => console::print(&format!("{difference}\n")),
            None => console::print("no recorded row differs: record more, or sample more often\n"),
        }
        Ok(Exit::Disagreement)
    };
    compare().unwrap_or_else(|error| {
        console::error(&error.to_string());
        Exit::refusal(&error)
    })
}

/// Writes a canvas as SVG and PNG.
fn write(canvas: &Canvas, out: &Path, name: &str) -> Result<(), String> {
    let put = |ending: &str, contents: &[u8]| {
        let path: PathBuf = out.join(format!("{name}.{ending}"));
        std::fs::write(&path, contents).map_err(|error| format!("cannot write {}: {error}", path.display()))
    };
    std::fs::create_dir_all(out).map_err(|error| format!("cannot create {}: {error}", out.display()))?;
    put("svg", to_svg(canvas).as_bytes())?;
    to_png(canvas, 2.0).map_or(Ok(()), |png| put("png", &png))
}

/// The quantity that an axis value is written in, and its number.
fn number(text: &str) -> Option<(Quantity, f64)> {
    let text = text.trim_matches('"');
    if let Ok(number) = text.parse::<f64>() {
        return Some((Quantity::Plain(String::new()), number));
    }
    let time = text.parse::<Span>().map(|span| (Quantity::Time, span.as_secs_f64()));
    let rate = || text.parse::<Rate>().map(|rate| (Quantity::Rate, rate.as_bits_per_sec() as f64));
    let size = || text.parse::<Bytes>().map(|size| (Quantity::Size, size.get() as f64));
    time.or_else(|_| rate()).or_else(|_| size()).ok()
}

/// The quantity a metric of a sweep is in.
fn quantity(metric: &str) -> Quantity {
    match metric {
        metric if metric.ends_with("(b/s)") => Quantity::Rate,
        metric if metric.ends_with("(s)") => Quantity::Time,
        metric if metric.ends_with("(B)") => Quantity::Size,
        _ => Quantity::Plain(String::new()),
    }
}

/// Draws every metric of a sweep over its first axis, if that is one of numbers; the interval as thin lines above and
/// below.
pub fn draw_sweep(axes: &[(String, Vec<String>)], curves: &[Curve], out: &Path) -> Result<(), String> {
    let Some((path, values)) = axes.first() else { return Ok(()) };
    let Some((along, _)) = values.first().and_then(|value| number(value)) else { return Ok(()) };
    let mut charts: BTreeMap<&str, LineChart> = BTreeMap::new();
    for curve in curves {
        let chart = charts.entry(&curve.metric).or_insert_with(|| {
            let y = Axis::new(curve.metric.split(" (").next().unwrap_or(""), quantity(&curve.metric));
            let mut chart = LineChart::new(&curve.metric, Axis::new(path, along.clone()), y);
            chart.subtitle = "mean over the seeds; with more than one, the 95 % interval above and below".into();
            chart
        });
        let with = |sign: f64| -> Vec<(f64, f64)> {
            let point = |(x, mean, half): &(String, f64, f64)| Some((number(x)?.1, mean + sign * half));
            curve.points.iter().filter_map(point).collect()
        };
        let name = if curve.name.is_empty() { curve.metric.clone() } else { curve.name.clone() };
        chart.series.push(Series::straight(&name, with(0.0)));
        if curve.points.iter().any(|(_, _, half)| *half > 0.0) {
            chart.series.push(Series::straight(&format!("{name}, low"), with(-1.0)));
            chart.series.push(Series::straight(&format!("{name}, high"), with(1.0)));
        }
    }
    // Two metrics may differ in a character that no file name keeps.
    let mut names: Vec<String> = Vec::new();
    for (metric, chart) in &charts {
        let base = slug(metric.split(" (").next().unwrap_or(metric));
        let taken = names.iter().filter(|name| **name == base).count();
        let name = if taken == 0 { base.clone() } else { format!("{base}-{}", taken + 1) };
        write(&chart.draw(), &out.join("plots"), &name)?;
        names.push(base);
    }
    Ok(())
}

/// Draws the throughput of every workload over time, each variant a line.
pub fn draw_overlay(plan: &Plan, variants: &[(String, PathBuf)], out: &Path) -> Result<(), String> {
    let axis = Axis::new("time", Quantity::Time);
    let mut chart = LineChart::new(&plan.name, axis, Axis::new("throughput", Quantity::Rate));
    chart.subtitle = format!("sum over each workload, sliding window of {}", plan.probes.throughput_window);
    for (variant, path) in variants {
        let sums = workload_sums(plan, path).map_err(|error| error.to_string())?;
        for (workload, intervals) in sums {
            let until = Time::ZERO + plan.run.duration;
            let points = sliding_window(&intervals, plan.probes.throughput_window, until);
            let points = points.into_iter().map(|(at, bytes)| (at.as_secs_f64(), bytes * 8.0)).collect();
            let name = format!("{variant}: {}", plan.workload_names[workload as usize]);
            chart.series.push(Series::straight(&name, points));
        }
    }
    write(&chart.draw(), out, "throughput")
}

/// For every workload the bytes delivered in each interval.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_values_are_numbers_with_or_without_units() {
        assert_eq!(number("4"), Some((Quantity::Plain(String::new()), 4.0)));
        assert_eq!(number("10Gb/s"), Some((Quantity::Rate, 10e9)));
        assert_eq!(number("\"2us\""), Some((Quantity::Time, 2e-6)));
        assert_eq!(number("150KB"), Some((Quantity::Size, 150e3)));
        assert_eq!(number("pfc"), None);
    }
}
