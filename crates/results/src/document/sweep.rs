//! `sweep.json`, `table.json` and `points/*.json`: a grid of runs.

use super::super::manifest::FileRecord;
use super::{Document, SpreadWithInterval};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was swept: the manifest of a sweep's directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sweep {
    /// The name of the scenario.
    pub name: String,
    /// A hash of the scenario, its overrides and the program: the same runs have the same.
    pub identity: String,
    /// The overrides of every cell, in the order of the axes.
    pub points: Vec<Vec<String>>,
    /// The seeds of every cell.
    pub seeds: Vec<u64>,
    /// The units of the scenario's own quantities, by name.
    #[serde(default)]
    pub units: BTreeMap<String, String>,
    /// Whether the tables are listed once all runs are there; earlier versions listed none.
    #[serde(default)]
    pub lists_files: bool,
    /// The tables, once all runs are there.
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
    /// The values of the axes, by their keys.
    pub values: BTreeMap<String, String>,
    /// How its runs ended: how many each way.
    pub outcomes: BTreeMap<String, usize>,
    /// What was measured, over the seeds, by name.
    pub metrics: BTreeMap<String, Option<SpreadWithInterval>>,
}

/// One finished run of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRun {
    /// How it ended.
    pub outcome: String,
    /// Its seed.
    pub seed: u64,
    /// Its fingerprint, in hexadecimal.
    pub fingerprint: String,
    /// All its overrides.
    pub overrides: Vec<String>,
    /// What was measured, by name.
    pub values: BTreeMap<String, f64>,
}

impl Document for SweepRun {
    const FORMAT: &'static str = "tailback run of a sweep";
    const VERSION: u64 = 1;
    /// Each has a name of its own.
    const FILE: &'static str = "";
    const KEYS: &'static [&'static str] = &["outcome", "seed", "fingerprint", "overrides", "values"];
    /// Runs of earlier versions are made again.
    const ALWAYS_HASHED: bool = true;
}
