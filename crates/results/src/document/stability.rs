//! `stability.json`: the stability analysis of a scenario's fluid model.

use super::Document;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A stability analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// Name of the scenario.
    pub name: String,
    /// The model: `bcn` or `qcn`.
    pub model: String,
    /// The output of `stability --json`, and the map and the trajectory if requested.
    #[serde(flatten)]
    pub analysis: Map<String, Value>,
}

impl Document for Stability {
    const FORMAT: &'static str = "tailback analysis of stability";
    const VERSION: u64 = 1;
    const FILE: &'static str = "stability.json";
    const KEYS: &'static [&'static str] = &["name", "model"];
}
