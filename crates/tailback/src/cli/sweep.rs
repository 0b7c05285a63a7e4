//! `sweep`: a grid of values times several seeds.

use super::arguments::Sweep;
use super::check::load_or_say;
use super::console::{self, CountProgress};
use super::exit::{Exit, Unwritten};
use super::run::{shown, slug};
use super::{INTERRUPT, picture, report};
use files::output::write_file;
use files::text::csv_cell;
use render::plot::GridPoint;
use scenario::{Unit, VARIANT};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use study::{Bounds, Grid, GridError, Older, Point, PointResult, Summary, cores, kind_of, summarise_within};

/// Splits `PATH=A,B,C`. A value that holds a comma cannot be written this way; the scenario's own [sweep] can hold it.
pub fn axis(text: &str) -> Result<(String, Vec<String>), String> {
    let (path, values) = text.split_once('=').ok_or(format!("'{text}' is not of the form PATH=A,B,..."))?;
    let values: Vec<String> =
        values.split(',').map(|value| value.trim().to_owned()).filter(|v| !v.is_empty()).collect();
    if path.trim().is_empty() || values.is_empty() {
        return Err(format!("'{text}' names no key or no values: write PATH=A,B,..."));
    }
    if let Some(twice) = twice(&values) {
        return Err(format!("'{twice}' is given twice for {}: name each value once", path.trim()));
    }
    Ok((path.trim().to_owned(), values))
}

/// A value that is there already when it comes.
pub fn twice(values: &[String]) -> Option<&str> {
    (1..values.len()).find(|&at| values[..at].contains(&values[at])).map(|at| values[at].as_str())
}

/// Says why a sweep did not finish.
pub fn say(error: &GridError) -> Exit {
    match error {
        GridError::Scenario { cell, errors } => {
            if !cell.is_empty() {
                console::note(&format!("with {}:", cell.join(", ")));
            }
            console::problems(errors)
        }
        GridError::Study(error) => super::run::say(error),
        GridError::Occupied { .. } | GridError::TooLarge { .. } => {
            console::error(&error.to_string());
            Exit::BadInput
        }
        GridError::Io { source, .. } => {
            console::error(&error.to_string());
            if files::is_strange(source) { Exit::BadInput } else { Exit::Failure }
        }
        GridError::Interrupted { .. } => {
            console::note(&error.to_string());
            Exit::Interrupted
        }
    }
}

/// `tailback sweep`
pub fn sweep(arguments: &Sweep) -> Exit {
    let mut scenario = arguments.scenario.clone();
    scenario.set.extend(arguments.replications.map(|count| format!("run.replications={count}")));
    let plan = match load_or_say(&scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let given: Result<Vec<_>, String> = arguments.axis.iter().map(|text| axis(text)).collect();
    let mut axes = match given {
        Ok(axes) => axes,
        Err(text) => {
            console::error(&text);
            return Exit::BadInput;
        }
    };
    // What is given replaces the axes of [sweep]; the variants stay, unless they are given too.
    let own = plan.axes().into_iter().filter(|(path, _)| {
        arguments.axis.is_empty() || path == VARIANT && !axes.iter().any(|(given, _)| given == VARIANT)
    });
    axes = own.collect::<Vec<_>>().into_iter().chain(axes).collect();
    if let Err(error) = Point::fit(&axes, plan.run.replications) {
        return say(&error);
    }
    let out = arguments.out.clone().unwrap_or_else(|| Path::new("results").join(format!("{}-sweep", slug(&plan.name))));
    let plan = plan.without_flows();
    let grid = match Grid::new(&scenario.file, &scenario.set, &plan, Point::all(&axes), (&out, Older::Keep)) {
        Ok(grid) => grid,
        Err(error) => return say(&error),
    };
    let threads = arguments.threads.unwrap_or_else(cores);
    grid.short_of_memory(threads).iter().for_each(|text| console::note(text));
    let progress = CountProgress::new(grid.total(), "runs");
    let results = grid.run(threads, &INTERRUPT, |done, total| progress.see(done, total));
    progress.end();
    let results = match results {
        Ok(results) => results,
        Err(error) => return say(&error),
    };
    let table = Table::new(&axes, &results);
    if arguments.json {
        console::print(&format!("{:#}\n", table.json()));
    } else {
        console::print(&table.text());
    }
    let drawn = || match picture::along(&axes) {
        Some(place) => picture::draw_sweep(&axes[place].0, &table.curves(place), &out),
        None => Ok(()),
    };
    match table.keep(&out).and_then(|()| drawn()) {
        Ok(()) => {
            console::note(&format!("table and pictures in {}", out.display()));
            report::also(arguments.report, &out, Exit::Success)
        }
        Err(error) => error.say(),
    }
}

/// The results of a sweep, cell by cell.
struct Table {
    axes: Vec<String>,
    metrics: Vec<String>,
    /// What each metric is given in.
    units: Vec<Unit>,
    rows: Vec<Row>,
}

struct Row {
    values: Vec<String>,
    outcomes: Vec<(String, usize)>,
    summaries: Vec<Option<Summary>>,
}

/// One metric along an axis, for each combination of the others.
pub struct Curve {
    /// The metric.
    pub metric: String,
    /// The values of the other axes, or nothing.
    pub name: String,
    /// Its points, in the order of the axis.
    pub points: Vec<GridPoint>,
}

impl Table {
    fn new(axes: &[(String, Vec<String>)], results: &[PointResult]) -> Table {
        let names: BTreeSet<&String> =
            results.iter().flat_map(|r| r.samples.iter().flat_map(|sample| sample.values.keys())).collect();
        let metrics: Vec<String> = names.into_iter().cloned().collect();
        let expected = results.first().map_or(&[][..], |result| &result.expectations);
        let (units, bounds): (Vec<Unit>, Vec<Bounds>) = metrics.iter().map(|name| kind_of(name, expected)).unzip();
        let row = |result: &PointResult| {
            let value = |text: &String| text.split_once('=').map_or(text.clone(), |(_, value)| value.to_owned());
            let mut outcomes: Vec<(String, usize)> = Vec::new();
            for sample in &result.samples {
                match outcomes.iter_mut().find(|(outcome, _)| *outcome == sample.outcome) {
                    Some((_, count)) => *count += 1,
                    None => outcomes.push((sample.outcome.clone(), 1)),
                }
            }
            let summary = |(metric, bounds): (&String, &Bounds)| {
                let values: Vec<f64> = result.samples.iter().filter_map(|s| s.values.get(metric).copied()).collect();
                summarise_within(&values, *bounds)
            };
            Row {
                values: result.point.overrides.iter().map(value).collect(),
                outcomes,
                summaries: metrics.iter().zip(&bounds).map(summary).collect(),
            }
        };
        let rows = results.iter().map(row).collect();
        Table { axes: axes.iter().map(|(path, _)| path.clone()).collect(), metrics, units, rows }
    }

    fn outcome(row: &Row) -> String {
        let each = |(outcome, count): &(String, usize)| format!("{outcome} {count}");
        row.outcomes.iter().map(each).collect::<Vec<_>>().join(", ")
    }

    fn text(&self) -> String {
        let mut head: Vec<&str> = self.axes.iter().map(String::as_str).collect();
        head.push("outcome");
        // Every number has its own unit.
        let bare = |metric: &'_ String| metric.rsplit_once(" (").map_or(metric.as_str(), |(name, _)| name).to_owned();
        let named = |(metric, unit): (&String, &Unit)| match unit {
            Unit::Rate | Unit::Time | Unit::Size if metric.ends_with(')') => bare(metric),
            _ => metric.clone(),
        };
        let named: Vec<String> = self.metrics.iter().zip(&self.units).map(named).collect();
        head.extend(named.iter().map(String::as_str));
        let cell = |(summary, unit): (&Option<Summary>, &Unit)| {
            let shown = |value: f64| match unit {
                Unit::Count | Unit::Number => number(value),
                unit => shown(*unit, value),
            };
            summary.map(|s| console::with_interval(s.mean, &s, shown)).unwrap_or_default()
        };
        let row = |row: &Row| {
            let cells = row.values.iter().cloned().chain([Table::outcome(row)]);
            cells.chain(row.summaries.iter().zip(&self.units).map(cell)).collect()
        };
        let text = console::table(&head, &self.rows.iter().map(row).collect::<Vec<_>>());
        let is_cut = |s: &Summary| s.interval.is_some_and(|interval| interval.cut);
        let cut = self.rows.iter().any(|row| row.summaries.iter().flatten().any(is_cut));
        let cut = if cut { format!("; {}", console::CUT) } else { String::new() };
        format!("{text}± is half the 95 % confidence interval of the mean over the seeds{cut}\n")
    }

    fn json(&self) -> Value {
        let summary = |s: &Option<Summary>| {
            s.map(|s| {
                let half_width = s.half_width.is_finite().then_some(s.half_width);
                let (low, high) = (s.interval.map(|it| it.low), s.interval.map(|it| it.high));
                json!({
                    "runs": s.count, "mean": s.mean, "half_width_95": half_width, "low_95": low, "high_95": high,
                    "p10": s.p10, "median": s.median, "p90": s.p90,
                })
            })
        };
        let row = |row: &Row| {
            let values: serde_json::Map<String, Value> =
                self.axes.iter().cloned().zip(row.values.iter().map(|value| json!(value))).collect();
            let metrics: serde_json::Map<String, Value> =
                self.metrics.iter().cloned().zip(row.summaries.iter().map(|s| json!(summary(s)))).collect();
            let outcomes: serde_json::Map<String, Value> =
                row.outcomes.iter().map(|(outcome, count)| (outcome.clone(), json!(count))).collect();
            json!({ "values": values, "outcomes": outcomes, "metrics": metrics })
        };
        json!(self.rows.iter().map(row).collect::<Vec<_>>())
    }

    /// Writes the table beside the points, as JSON and CSV.
    fn keep(&self, out: &Path) -> Result<(), Unwritten> {
        let quote = |text: &str| csv_cell(text).into_owned();
        let mut csv: Vec<String> = self.axes.iter().map(|name| quote(name)).collect();
        csv.push("outcome".into());
        for metric in &self.metrics {
            csv.push(quote(metric));
            csv.extend(["half width", "low", "high"].map(|what| quote(&format!("{metric} {what} 95 %"))));
        }
        let mut text = csv.join(",") + "\n";
        for row in &self.rows {
            let mut cells: Vec<String> = row.values.iter().map(|value| quote(value)).collect();
            cells.push(quote(&Table::outcome(row)));
            for summary in &row.summaries {
                cells.push(summary.map(|s| s.mean.to_string()).unwrap_or_default());
                let interval = summary.and_then(|s| s.interval.map(|it| [s.half_width, it.low, it.high]));
                cells.extend(interval.map_or([const { String::new() }; 3], |ends| ends.map(|end| end.to_string())));
            }
            text.push_str(&(cells.join(",") + "\n"));
        }
        let write = |name: &str, text: &str| {
            let path: PathBuf = out.join(name);
            write_file(&path, text).map_err(|error| Unwritten::io("write", &path, error))
        };
        write("table.csv", &text)?;
        write("table.json", &format!("{:#}\n", self.json()))
    }

    /// What can be drawn over the axis of that number.
    fn curves(&self, along: usize) -> Vec<Curve> {
        let mut curves: Vec<Curve> = Vec::new();
        for (place, metric) in self.metrics.iter().enumerate() {
            for row in &self.rows {
                let (Some(summary), Some(first)) = (row.summaries[place], row.values.get(along)) else { continue };
                let others = row.values.iter().enumerate().filter(|(number, _)| *number != along);
                let name = others.map(|(_, value)| value.trim_matches('"')).collect::<Vec<_>>().join(", ");
                let at = first.trim_matches('"').to_owned();
                let interval = summary.interval.map(|interval| (interval.low, interval.high));
                let point = GridPoint { at, value: summary.mean, interval };
                match curves.iter_mut().find(|curve| curve.metric == *metric && curve.name == name) {
                    Some(curve) => curve.points.push(point),
                    None => curves.push(Curve { metric: metric.clone(), name, points: vec![point] }),
                }
            }
        }
        curves
    }
}

/// A number with four significant digits.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-3..1e7).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let digits = if magnitude >= 1000.0 || value.fract() == 0.0 { 0 } else { 4 };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_a_path_and_values() {
        assert_eq!(axis("network.k=4, 8"), Ok(("network.k".into(), vec!["4".into(), "8".into()])));
        assert_eq!(axis("variant=a, b,a"), Err("'a' is given twice for variant: name each value once".into()));
        assert!(axis("network.k").is_err() && axis("=4").is_err() && axis("a=").is_err());
    }

    #[test]
    fn cells_have_units_and_keep_bounds() {
        let metrics = ["all: fairness", "all: throughput (b/s)", "delivered (B)", "pause frames"].map(str::to_owned);
        let (units, bounds): (Vec<Unit>, Vec<Bounds>) = metrics.iter().map(|name| kind_of(name, &[])).unzip();
        let measured = [[0.366, 0.726], [966.0e6, 966.1e6], [1.0e9, 1.0e9], [11.0, 15.0]];
        let summaries =
            measured.iter().zip(&bounds).map(|(values, &bounds)| summarise_within(values, bounds)).collect();
        let rows = vec![Row { values: vec!["4".into()], outcomes: vec![("finished".into(), 2)], summaries }];
        let text = Table { axes: vec!["network.k".into()], metrics: metrics.to_vec(), units, rows }.text();
        for wanted in
            ["966.05 Mb/s ± 635.30 kb/s", "0.5460 [0, 1]", "1 GB ± 0 B", "13 [0, 38.4120]", "all: throughput  "]
        {
            assert!(text.contains(wanted), "{wanted} in\n{text}");
        }
        assert!(!text.contains("(b/s)") && !text.contains("e8"), "{text}");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            (number(1.5), number(2e9), number(12345.6), number(0.0)),
            ("1.5000".into(), "2.000e9".into(), "12346".into(), "0".into())
        );
    }
}
