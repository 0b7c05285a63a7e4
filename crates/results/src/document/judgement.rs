//! An expectation and the verdict on it, as stored in `expectations.json` and `verdicts.json`.

use serde::{Deserialize, Serialize};

/// Statistics over several runs with different seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of runs.
    pub runs: usize,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// 10th percentile.
    pub p10: f64,
    /// 90th percentile.
    pub p90: f64,
}

/// Statistics with the 95 % confidence interval of the mean, which is absent for a single run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpreadWithInterval {
    /// The statistics.
    #[serde(flatten)]
    pub spread: Spread,
    /// Half the width of the interval.
    pub half_width_95: Option<f64>,
    /// Lower end of the interval, clipped at the bound of the quantity.
    pub low_95: Option<f64>,
    /// Upper end of the interval, clipped at the bound of the quantity.
    pub high_95: Option<f64>,
}

/// An expectation and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgementRecord {
    /// Name of the expectation.
    pub name: String,
    /// `=`, `<`, `<=`, `>` or `>=`; `None` if nothing is expected.
    pub comparison: Option<String>,
    /// Expected value, with its unit.
    pub expected: Option<String>,
    /// Expected value in the base unit.
    pub expected_value: Option<f64>,
    /// Relative tolerance of the median.
    pub tolerance: Option<f64>,
    /// Unit of the measured quantity.
    pub unit: String,
    /// Measured values; `None` for an outcome, or if nothing was measured.
    pub measured: Option<Spread>,
    /// Outcomes of the runs.
    pub outcomes: Vec<String>,
    /// The verdict.
    pub verdict: String,
    /// Source of the expectation.
    pub source: Option<String>,
}
