//! An expectation and the verdict on it, as stored in `expectations.json` and `verdicts.json`.

use serde::{Deserialize, Deserializer, Serialize};

/// Reads a number; JSON writes one that is not finite, such as the mean of nothing, as null.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Statistics over several runs with different seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of runs.
    pub runs: usize,
    /// Mean.
    #[serde(deserialize_with = "number")]
    pub mean: f64,
    /// Median.
    #[serde(deserialize_with = "number")]
    pub median: f64,
    /// 10th percentile.
    #[serde(deserialize_with = "number")]
    pub p10: f64,
    /// 90th percentile.
    #[serde(deserialize_with = "number")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_value_that_is_no_number_reads_back() {
        let spread = Spread { runs: 1, mean: f64::NAN, median: f64::INFINITY, p10: 1.0, p90: 2.0 };
        let text = serde_json::to_string(&spread).unwrap();
        let read: Spread = serde_json::from_str(&text).unwrap();
        assert!(read.mean.is_nan() && read.median.is_nan());
        assert_eq!((read.runs, read.p10, read.p90), (1, 1.0, 2.0));
    }
}
