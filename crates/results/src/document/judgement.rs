//! An expectation and the verdict on it, as `expectations.json` and `verdicts.json` hold them.

use serde::{Deserialize, Serialize};

/// What several runs with different seeds give.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many runs there are.
    pub runs: usize,
    /// Their mean.
    pub mean: f64,
    /// Half lies below.
    pub median: f64,
    /// A tenth lies below.
    pub p10: f64,
    /// A tenth lies above.
    pub p90: f64,
}

/// The same, with the 95 % confidence interval of the mean; absent for a single run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpreadWithInterval {
    /// The runs.
    #[serde(flatten)]
    pub spread: Spread,
    /// Half its width.
    pub half_width_95: Option<f64>,
    /// Its lower end, cut at the bound of the quantity.
    pub low_95: Option<f64>,
    /// Its upper end, cut at the bound of the quantity.
    pub high_95: Option<f64>,
}

/// An expectation and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// What it is called.
    pub name: String,
    /// `=`, `<`, `<=`, `>` or `>=`; none if nothing is expected.
    pub comparison: Option<String>,
    /// What is expected, with its unit.
    pub expected: Option<String>,
    /// The same as a number in the base unit.
    pub expected_value: Option<f64>,
    /// By what part of it our median may differ.
    pub tolerance: Option<f64>,
    /// The unit of what is measured.
    pub unit: String,
    /// What was measured; none of an outcome, or of nothing.
    pub measured: Option<Spread>,
    /// How the runs ended.
    pub outcomes: Vec<String>,
    /// The verdict.
    pub verdict: String,
    /// Where it is stated.
    pub source: Option<String>,
}
