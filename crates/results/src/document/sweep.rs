//! `sweep.json`, `table.json` and `points/*.json`: a grid of runs.

use super::super::manifest::FileRecord;
use super::{Document, SpreadWithInterval};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The manifest of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sweep {
    /// Name of the scenario.
    pub name: String,
    /// Hash of the scenario, its overrides and the program, which identifies the set of runs.
    pub identity: String,
    /// Overrides of every cell, in the order of the axes.
    pub points: Vec<Vec<String>>,
    /// Seeds of every cell.
    pub seeds: Vec<u64>,
    /// Units of the scenario's own quantities, by name.
    #[serde(default)]
    pub units: BTreeMap<String, String>,
    /// Whether the tables are listed after all runs have finished; older versions listed none.
    #[serde(default)]
    pub lists_files: bool,
    /// The tables; set after all runs have finished.
    #[serde(default)]
    pub files: Vec<FileRecord>,
}

impl Document for Sweep {
    const FORMAT: &'static str = "tailback sweep";
    const VERSION: u64 = 1;
    const FILE: &'static str = "sweep.json";
    const KEYS: &'static [&'static str] = &["identity", "points"];
}

/// One cell of a sweep's table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepCell {
    /// Values of the axes, by key.
    pub values: BTreeMap<String, String>,
    /// Number of runs with each outcome.
    pub outcomes: BTreeMap<String, usize>,
    /// Statistics of the measured values over the seeds, by name.
    pub metrics: BTreeMap<String, Option<SpreadWithInterval>>,
}

/// One finished run of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRun {
    /// Identity of its sweep.
    #[serde(default)]
    pub sweep: String,
    /// Outcome of the run.
    pub outcome: String,
    /// Seed of the run.
    pub seed: u64,
    /// Fingerprint, in hexadecimal.
    pub fingerprint: String,
    /// All overrides of the run.
    pub overrides: Vec<String>,
    /// Measured values, by name.
    pub values: BTreeMap<String, f64>,
}

impl Document for SweepRun {
    const FORMAT: &'static str = "tailback run of a sweep";
    const VERSION: u64 = 1;
    /// Each run has its own file name.
    const FILE: &'static str = "";
    const KEYS: &'static [&'static str] = &["outcome", "seed", "fingerprint", "overrides", "values"];
    /// Runs of earlier versions are repeated.
    const ALWAYS_HASHED: bool = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Without the feature `float_roundtrip` of serde_json, 329 of these come back with another last digit.
    #[test]
    fn numbers_come_back_to_the_last_digit() {
        let mut random = 1u64;
        let mut draw = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 11) as f64 / 3.0 * 10f64.powi((random % 40) as i32 - 30)
        };
        let values = (0..2000).map(|number| (format!("v{number}"), draw())).collect();
        let run = SweepRun {
            sweep: "s".into(),
            outcome: "finished".into(),
            seed: 1,
            fingerprint: "0".into(),
            overrides: Vec::new(),
            values,
        };
        let text = run.to_text();
        let read = SweepRun::from_text(&text, Path::new("point.json")).expect("it was just written");
        assert!(read == run, "a number has another last digit");
        assert_eq!(read.to_text(), text);
    }
}
