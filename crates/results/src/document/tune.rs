//! A search for good values of keys, as `tailback tune` records it.

use super::{Document, SpreadWithInterval};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A search. Its runs are those of a sweep in the same directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tune {
    /// Name of the scenario.
    pub name: String,
    /// The keys that were varied.
    pub keys: Vec<TunedKey>,
    /// The goals.
    pub goals: Vec<TuneGoal>,
    /// The conditions, in words.
    pub conditions: Vec<String>,
    /// Seeds of every candidate.
    pub seeds: Vec<u64>,
    /// The candidates, in the order in which they were tried.
    pub candidates: Vec<TuneCandidate>,
    /// Places of the candidates that no other one surpasses in every goal, by the first goal.
    pub front: Vec<usize>,
    /// Place of the best candidate: with two goals, of the member of the front that is nearest to the best of both.
    pub best: Option<usize>,
}

/// A key that was varied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TunedKey {
    /// Path of the key.
    pub path: String,
    /// Smallest value.
    pub from: String,
    /// Largest value.
    pub to: String,
    /// Whether the range is divided by ratios.
    pub logarithmic: bool,
}

/// A goal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TuneGoal {
    /// Name of the measured value.
    pub name: String,
    /// Its unit: rate, size, time, count or plain.
    pub unit: String,
    /// Whether it is to be large.
    pub maximise: bool,
}

/// A candidate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TuneCandidate {
    /// Values of the keys, by path.
    pub values: BTreeMap<String, String>,
    /// Whether it has the values of the scenario itself.
    pub is_given: bool,
    /// Whether all its runs finished and meet all conditions.
    pub sound: bool,
    /// Why it is invalid, if the scenario is with its values.
    pub invalid: Option<String>,
    /// Number of runs with each outcome.
    pub outcomes: BTreeMap<String, usize>,
    /// Statistics of the goals over the seeds, by name.
    pub goals: BTreeMap<String, Option<SpreadWithInterval>>,
}

impl Document for Tune {
    const FORMAT: &'static str = "tailback tune";
    const VERSION: u64 = 1;
    const FILE: &'static str = "tune.json";
    const KEYS: &'static [&'static str] = &["candidates", "front"];
    const ALWAYS_HASHED: bool = true;
}
