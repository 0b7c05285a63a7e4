//! `verdicts.json`: a figure of a paper, measured and judged.

use super::{Count, Document, Judgement, SpreadWithInterval};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A figure that was run and judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The folder of the paper.
    pub paper: String,
    /// The name of the figure.
    pub figure: String,
    /// Its title.
    pub title: String,
    /// The program that ran it.
    pub program: Program,
    /// How long each run is, as a person writes it.
    pub simulated: String,
    /// The units of its quantities, by name.
    pub units: BTreeMap<String, String>,
    /// The seeds of every cell.
    pub seeds: Vec<u64>,
    /// What was measured, cell by cell.
    pub cells: Vec<FigureCell>,
    /// What the paper leaves open.
    pub choices: Vec<Choice>,
    /// The numbers that the paper states.
    pub numbers: Vec<NumberFinding>,
    /// The trends that the paper states.
    pub trends: Vec<TrendFinding>,
    /// The statements, counted once each.
    pub count: Count,
    /// Where the results went.
    pub results: String,
    /// The recorded runs, one for each variant.
    #[serde(default)]
    pub runs: Vec<FigureRun>,
    /// The charts.
    #[serde(default)]
    pub charts: Vec<Chart>,
}

impl Document for Figure {
    const FORMAT: &'static str = "tailback figure";
    const VERSION: u64 = 1;
    const FILE: &'static str = "verdicts.json";
    const KEYS: &'static [&'static str] = &["figure", "cells", "numbers", "trends"];
}

/// The program that made something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its version.
    pub version: String,
    /// The commit it was built from, if that is known.
    pub commit: Option<String>,
}

/// One cell of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureCell {
    /// The values of the axes, by their keys.
    pub values: BTreeMap<String, String>,
    /// How its runs ended, one by one.
    pub outcomes: Vec<String>,
    /// What was measured, by name.
    pub quantities: BTreeMap<String, Option<SpreadWithInterval>>,
}

/// Something that the paper leaves open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What it is called.
    pub name: String,
    /// The keys that it sets.
    pub path: String,
    /// What may be chosen; the first is what we take.
    pub values: Vec<String>,
    /// Why it is open.
    pub why: Option<String>,
}

/// A number that the paper states, in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberFinding {
    /// The cell.
    pub cell: BTreeMap<String, String>,
    /// The number, as we read the paper; its verdict is the one under all readings.
    #[serde(flatten)]
    pub judgement: Judgement,
    /// How that verdict came about.
    #[serde(flatten)]
    pub ruling: Ruling,
}

/// A trend that the paper states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrendFinding {
    /// What it is called.
    pub name: String,
    /// The unit of the quantity.
    pub unit: String,
    /// How it should go, in a word.
    pub shape: String,
    /// The bound of above and below, with its unit.
    pub value: Option<String>,
    /// The axis.
    pub along: Option<String>,
    /// Part of the largest value of a line that does not count as a step.
    pub tolerance: f64,
    /// The cells it is about: values of axes.
    #[serde(rename = "where")]
    pub within: BTreeMap<String, Vec<String>>,
    /// How many runs there are.
    pub runs: usize,
    /// How many of them keep it.
    pub kept: usize,
    /// The lines along the axis.
    pub lines: Vec<TrendLine>,
    /// Where it is stated.
    pub source: Option<String>,
    /// The verdict under all readings.
    pub verdict: String,
    /// How it came about.
    #[serde(flatten)]
    pub ruling: Ruling,
}

/// One line of a trend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrendLine {
    /// The values of the other axes.
    pub cell: BTreeMap<String, String>,
    /// How many seeds keep it.
    pub kept: usize,
    /// The median at each value of the axis.
    pub medians: Vec<TrendMedian>,
}

/// A point of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrendMedian {
    /// The value of the axis.
    pub at: String,
    /// The median; none if nothing was measured.
    pub median: Option<f64>,
}

/// What is made of a number or trend, with all readings of the paper in view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// The statement it is evidence for.
    pub statement: String,
    /// Whether that statement is ours, not the paper's.
    #[serde(default)]
    pub ours: bool,
    /// Why nothing is determined; none if something is.
    pub reason: Option<String>,
    /// The verdict under our own reading.
    pub verdict_as_we_read_it: String,
    /// The verdict under each other reading.
    pub under_other_choices: Vec<UnderChoice>,
}

/// A verdict under another reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderChoice {
    /// The choice.
    pub choice: String,
    /// The value that is taken instead of ours.
    pub value: String,
    /// The verdict.
    pub verdict: String,
}

/// A recorded run of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FigureRun {
    /// The variant; empty if there are none.
    pub variant: String,
    /// The folder of its results, in that of the figure.
    pub folder: String,
}

/// A chart of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Chart {
    /// Quantities of the cells along an axis.
    Grid {
        /// Its title.
        title: String,
        /// The key of the axis.
        along: String,
        /// The label of the axis.
        x: String,
        /// What the lines are.
        legend: Option<String>,
        /// The label of the quantity.
        y: String,
        /// time, rate, size, fraction or plain.
        quantity: String,
        /// Bars rather than lines.
        bars: bool,
        /// Its lines.
        lines: Vec<ChartLine>,
    },
    /// Recorded series over time.
    Time {
        /// Its title.
        title: String,
        /// The label of the quantity.
        y: Option<String>,
        /// Which picture of a run it is.
        picture: String,
        /// The sliding window, in picoseconds.
        window_ps: u64,
        /// What each variant shows.
        variants: Vec<ChartVariant>,
    },
}

/// A line of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartLine {
    /// What it is.
    pub name: String,
    /// Its points.
    pub points: Vec<ChartPoint>,
}

/// A point of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartPoint {
    /// The value of the axis.
    pub at: String,
    /// The mean over the seeds.
    pub value: f64,
    /// Its 95 % confidence interval.
    pub interval: Option<(f64, f64)>,
}

/// What a chart over time shows of a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChartVariant {
    /// The variant.
    pub variant: String,
    /// Flows or links that are one line each.
    pub groups: Vec<ChartGroup>,
}

/// Some flows or ports that a chart shows as one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChartGroup {
    /// What it is called.
    pub name: String,
    /// Ports rather than flows.
    pub links: bool,
    /// Flows or ports, as results number them.
    pub members: Vec<u32>,
}
