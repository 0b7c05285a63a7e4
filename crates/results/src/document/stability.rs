//! `stability.json`: the fluid model of a scenario, analysed.

use super::Document;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An analysis of stability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// The name of the scenario.
    pub name: String,
    /// The model: `bcn` or `qcn`.
    pub model: String,
    /// All that `stability --json` prints, and the map and the trajectory if they were asked for.
    #[serde(flatten)]
    pub analysis: Map<String, Value>,
}

impl Document for Stability {
    const FORMAT: &'static str = "tailback analysis of stability";
    const VERSION: u64 = 1;
    const FILE: &'static str = "stability.json";
    const KEYS: &'static [&'static str] = &["name", "model"];
}
