//! Sweeps: a grid of values times several seeds, and the table of its results.

use super::error::GridError;
use super::points::{Grid, GridPoint, Older, PointResult, kind_of};
use crate::measure::statistics::{Bounds, Summary, summarise_within};
use crate::run::names::slug;
use files::text::csv_cell;
use results::document::SweepCell;
use scenario::{Plan, Unit, VARIANT};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// An axis: a key and its values.
pub type Axis = (String, Vec<String>);

/// Parses `PATH=A,B,C`. Values with commas are possible only in the scenario's own `[sweep]`.
///
/// # Errors
/// Returns a description of the problem.
pub fn parse_axis(text: &str) -> Result<Axis, String> {
    let (path, values) = text.split_once('=').ok_or(format!("'{text}' is not of the form PATH=A,B,..."))?;
    let values: Vec<String> =
        values.split(',').map(|value| value.trim().to_owned()).filter(|v| !v.is_empty()).collect();
    if path.trim().is_empty() || values.is_empty() {
        return Err(format!("'{text}' has no key or no values: write PATH=A,B,..."));
    }
    if let Some(twice) = given_twice(&values) {
        return Err(format!("'{twice}' is given twice for {}: name each value once", path.trim()));
    }
    Ok((path.trim().to_owned(), values))
}

/// Returns the first value that is given twice.
#[must_use]
pub fn given_twice(values: &[String]) -> Option<&str> {
    (1..values.len()).find(|&at| values[..at].contains(&values[at])).map(|at| values[at].as_str())
}

/// A sweep that is ready to run.
pub struct SweepStudy {
    /// Axes of the sweep.
    pub axes: Vec<Axis>,
    /// Runs of the sweep.
    pub grid: Grid,
    /// Directory of the sweep.
    pub out: PathBuf,
}

impl SweepStudy {
    /// Prepares the sweep of a scenario that was loaded from that file with those overrides. Given axes replace those
    /// of the scenario's `[sweep]`; its variants are kept unless they are given as well. The default directory is
    /// `results/NAME-sweep`.
    ///
    /// # Errors
    /// Returns an error if the scenario is invalid for a cell, or if the directory contains something else or cannot be
    /// created.
    pub fn new(
        plan: Plan,
        (file, overrides): (&Path, &[String]),
        given: Vec<Axis>,
        out: Option<&Path>,
    ) -> Result<SweepStudy, GridError> {
        let own = plan.axes().into_iter().filter(|(path, _)| {
            given.is_empty() || path == VARIANT && !given.iter().any(|(given, _)| given == VARIANT)
        });
        let axes: Vec<Axis> = own.collect::<Vec<_>>().into_iter().chain(given).collect();
        GridPoint::fit(&axes, plan.run.replications)?;
        let usual = || Path::new("results").join(format!("{}-sweep", slug(&plan.name)));
        let out = out.map_or_else(usual, Path::to_owned);
        let plan = plan.without_flows();
        let grid = Grid::new(file, overrides, &plan, GridPoint::all(&axes), (&out, Older::Keep))?;
        Ok(SweepStudy { axes, grid, out })
    }

    /// Executes all unfinished runs and writes the table as JSON and CSV.
    ///
    /// # Errors
    /// Returns the first error; finished runs are kept.
    pub fn run(
        &self,
        threads: usize,
        interrupt: &AtomicBool,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<SweepTable, GridError> {
        let results = self.grid.run(threads, interrupt, progress)?;
        let table = SweepTable::new(&self.axes, &results);
        self.grid.write_tables([table.csv(), table.json()])?;
        Ok(table)
    }
}

/// The results of a sweep, by cell.
#[derive(Clone, Debug)]
pub struct SweepTable {
    /// Keys of the axes.
    pub axes: Vec<String>,
    /// Names of the metrics.
    pub metrics: Vec<String>,
    /// Units of the metrics.
    pub units: Vec<Unit>,
    /// The cells.
    pub rows: Vec<SweepRow>,
}

/// One cell.
#[derive(Clone, Debug)]
pub struct SweepRow {
    /// Value of every axis.
    pub values: Vec<String>,
    /// Number of runs with each outcome.
    pub outcomes: Vec<(String, usize)>,
    /// Statistics of every metric.
    pub summaries: Vec<Option<Summary>>,
}

/// One metric along an axis, for one combination of the other axes.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Name of the metric.
    pub metric: String,
    /// Values of the other axes; empty if there are none.
    pub name: String,
    /// Value of the axis and measured statistics, in the order of the axis.
    pub points: Vec<(String, Summary)>,
}

impl SweepRow {
    /// Returns the outcomes of its runs, in words.
    #[must_use]
    pub fn outcome(&self) -> String {
        let each = |(outcome, count): &(String, usize)| format!("{outcome} {count}");
        self.outcomes.iter().map(each).collect::<Vec<_>>().join(", ")
    }
}

impl SweepTable {
    /// Creates the table from the results of a grid.
    #[must_use]
    pub fn new(axes: &[Axis], results: &[PointResult]) -> SweepTable {
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
            SweepRow {
                values: result.point.overrides.iter().map(value).collect(),
                outcomes,
                summaries: metrics.iter().zip(&bounds).map(summary).collect(),
            }
        };
        let rows = results.iter().map(row).collect();
        SweepTable { axes: axes.iter().map(|(path, _)| path.clone()).collect(), metrics, units, rows }
    }

    /// Converts the cells to their documents.
    #[must_use]
    pub fn cells(&self) -> Vec<SweepCell> {
        let row = |row: &SweepRow| SweepCell {
            values: self.axes.iter().cloned().zip(row.values.iter().cloned()).collect(),
            outcomes: row.outcomes.iter().cloned().collect(),
            metrics: self
                .metrics
                .iter()
                .cloned()
                .zip(row.summaries.iter().map(|s| s.as_ref().map(Into::into)))
                .collect(),
        };
        self.rows.iter().map(row).collect()
    }

    /// Returns the contents of `table.json`.
    #[must_use]
    pub fn json(&self) -> String {
        format!("{:#}\n", serde_json::to_value(self.cells()).unwrap_or_default())
    }

    /// Returns the contents of `table.csv`.
    #[must_use]
    pub fn csv(&self) -> String {
        let quote = |text: &str| csv_cell(text).into_owned();
        let mut head: Vec<String> = self.axes.iter().map(|name| quote(name)).collect();
        head.push("outcome".into());
        for metric in &self.metrics {
            head.push(quote(metric));
            head.extend(["half width", "low", "high"].map(|what| quote(&format!("{metric} {what} 95 %"))));
        }
        let mut text = head.join(",") + "\n";
        for row in &self.rows {
            let mut cells: Vec<String> = row.values.iter().map(|value| quote(value)).collect();
            cells.push(quote(&row.outcome()));
            for summary in &row.summaries {
                cells.push(summary.map(|s| s.mean.to_string()).unwrap_or_default());
                let interval = summary.and_then(|s| s.interval.map(|it| [s.half_width, it.low, it.high]));
                cells.extend(interval.map_or([const { String::new() }; 3], |ends| ends.map(|end| end.to_string())));
            }
            text.push_str(&(cells.join(",") + "\n"));
        }
        text
    }

    /// Returns the curves of every metric along the axis with that index.
    #[must_use]
    pub fn curves(&self, along: usize) -> Vec<Curve> {
        let mut curves: Vec<Curve> = Vec::new();
        for (place, metric) in self.metrics.iter().enumerate() {
            for row in &self.rows {
                let (Some(summary), Some(first)) = (row.summaries[place], row.values.get(along)) else { continue };
                let others = row.values.iter().enumerate().filter(|(number, _)| *number != along);
                let name = others.map(|(_, value)| value.trim_matches('"')).collect::<Vec<_>>().join(", ");
                let point = (first.trim_matches('"').to_owned(), summary);
                match curves.iter_mut().find(|curve| curve.metric == *metric && curve.name == name) {
                    Some(curve) => curve.points.push(point),
                    None => curves.push(Curve { metric: metric.clone(), name, points: vec![point] }),
                }
            }
        }
        curves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_a_path_and_values() {
        assert_eq!(parse_axis("network.k=4, 8"), Ok(("network.k".into(), vec!["4".into(), "8".into()])));
        assert_eq!(parse_axis("variant=a, b,a"), Err("'a' is given twice for variant: name each value once".into()));
        assert!(parse_axis("network.k").is_err() && parse_axis("=4").is_err() && parse_axis("a=").is_err());
    }
}
