//! `verdicts.json`: the measurements of a figure of a paper and the verdicts on it.

use super::{Count, Document, JudgementRecord, SpreadWithInterval};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A figure that was run and judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Folder of the paper.
    pub paper: String,
    /// Name of the figure.
    pub figure: String,
    /// Title of the figure.
    pub title: String,
    /// The program that ran it.
    pub program: Program,
    /// Simulated time of each run, as text with a unit.
    pub simulated: String,
    /// Units of the quantities, by name.
    pub units: BTreeMap<String, String>,
    /// Seeds of every cell.
    pub seeds: Vec<u64>,
    /// Measurements, by cell.
    pub cells: Vec<FigureCell>,
    /// Choices that the paper leaves open.
    pub choices: Vec<Choice>,
    /// Numbers stated in the paper.
    pub numbers: Vec<NumberFinding>,
    /// Trends stated in the paper.
    pub trends: Vec<TrendFinding>,
    /// Counts of the statements, each counted once.
    pub count: Count,
    /// Recorded runs, one for each variant.
    #[serde(default)]
    pub runs: Vec<FigureRun>,
    /// Charts.
    #[serde(default)]
    pub charts: Vec<Chart>,
}

impl Document for Figure {
    const FORMAT: &'static str = "tailback figure";
    const VERSION: u64 = 1;
    const FILE: &'static str = "verdicts.json";
    const KEYS: &'static [&'static str] = &["figure", "cells", "numbers", "trends"];
}

/// The program that wrote a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Version of the program.
    pub version: String,
    /// The commit it was built from, if known.
    pub commit: Option<String>,
}

/// One cell of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureCell {
    /// Values of the axes, by key.
    pub values: BTreeMap<String, String>,
    /// Outcome of each run.
    pub outcomes: Vec<String>,
    /// Measured values, by name.
    pub quantities: BTreeMap<String, Option<SpreadWithInterval>>,
}

/// A choice that the paper leaves open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Name of the choice.
    pub name: String,
    /// The keys that it sets.
    pub path: String,
    /// Possible values; the first is the default.
    pub values: Vec<String>,
    /// Reason for the open choice.
    pub why: Option<String>,
}

/// A number stated in the paper, for one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberFinding {
    /// The cell.
    pub cell: BTreeMap<String, String>,
    /// The judgement under the default reading of the paper; its verdict takes all readings into account.
    #[serde(flatten)]
    pub judgement: JudgementRecord,
    /// Derivation of the verdict.
    #[serde(flatten)]
    pub ruling: Ruling,
}

/// A trend stated in the paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrendFinding {
    /// Name of the trend.
    pub name: String,
    /// Unit of the quantity.
    pub unit: String,
    /// Expected shape, in one word.
    pub shape: String,
    /// The bound of `above` and `below`, with its unit.
    pub value: Option<String>,
    /// The axis.
    pub along: Option<String>,
    /// Changes below this fraction of a line's largest value are ignored.
    pub tolerance: f64,
    /// The cells that the trend applies to, as values of axes.
    #[serde(rename = "where")]
    pub within: BTreeMap<String, Vec<String>>,
    /// Number of runs.
    pub runs: usize,
    /// Number of runs that follow the trend.
    pub kept: usize,
    /// The lines along the axis.
    pub lines: Vec<TrendLine>,
    /// Source of the statement.
    pub source: Option<String>,
    /// The verdict under all readings.
    pub verdict: String,
    /// Derivation of the verdict.
    #[serde(flatten)]
    pub ruling: Ruling,
}

/// One line of a trend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrendLine {
    /// Values of the other axes.
    pub cell: BTreeMap<String, String>,
    /// Number of seeds that follow the trend.
    pub kept: usize,
    /// The median at each value of the axis.
    pub medians: Vec<TrendMedian>,
}

/// A point of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrendMedian {
    /// Value of the axis.
    pub at: String,
    /// The median; `None` if nothing was measured.
    pub median: Option<f64>,
}

/// Derivation of the verdict on a number or trend from all readings of the paper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// The statement that it is evidence for.
    pub statement: String,
    /// Whether the statement is our own, not the paper's.
    #[serde(default)]
    pub ours: bool,
    /// Reason for an undetermined verdict; `None` if it is determined.
    pub reason: Option<String>,
    /// The verdict under the default reading.
    pub verdict_as_we_read_it: String,
    /// The verdict under each other reading.
    pub under_other_choices: Vec<UnderChoice>,
}

/// A verdict under another reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderChoice {
    /// The choice.
    pub choice: String,
    /// The value that replaces the default.
    pub value: String,
    /// The verdict.
    pub verdict: String,
}

/// A recorded run of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FigureRun {
    /// The variant; empty if there are no variants.
    pub variant: String,
    /// Folder of its results, relative to that of the figure.
    pub folder: String,
    /// Fingerprint of the run, in hexadecimal; earlier versions wrote none.
    #[serde(default)]
    pub fingerprint: Option<String>,
}

/// A chart of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Chart {
    /// Quantities of the cells along an axis.
    Grid {
        /// Title of the chart.
        title: String,
        /// Key of the axis.
        along: String,
        /// Label of the x axis.
        x: String,
        /// Title of the legend.
        legend: Option<String>,
        /// Label of the y axis.
        y: String,
        /// `time`, `rate`, `size`, `fraction` or `plain`.
        quantity: String,
        /// Whether bars are drawn instead of lines.
        bars: bool,
        /// The lines.
        lines: Vec<ChartLine>,
    },
    /// Recorded series over time.
    Time {
        /// Title of the chart.
        title: String,
        /// Label of the y axis.
        y: Option<String>,
        /// Kind of plot of a run.
        picture: String,
        /// Sliding window, in picoseconds.
        window_ps: u64,
        /// The series of each variant.
        variants: Vec<ChartVariant>,
    },
}

/// A line of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartLine {
    /// Name of the line.
    pub name: String,
    /// Points of the line.
    pub points: Vec<ChartPoint>,
}

/// A point of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartPoint {
    /// Value of the axis.
    pub at: String,
    /// Mean over the seeds.
    pub value: f64,
    /// 95 % confidence interval of the mean.
    pub interval: Option<(f64, f64)>,
}

/// The series of a variant in a chart over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChartVariant {
    /// The variant.
    pub variant: String,
    /// Groups of flows or links, one line each.
    pub groups: Vec<ChartGroup>,
}

/// Flows or ports that a chart shows as one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChartGroup {
    /// Name of the group.
    pub name: String,
    /// Whether the members are ports instead of flows.
    pub links: bool,
    /// Numbers of the flows or ports in the results.
    pub members: Vec<u32>,
}
