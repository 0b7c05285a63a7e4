//! The plan of a run, as stored in its manifest.

use serde::{Deserialize, Serialize};

/// The scenario with all defaults filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// Description of the scenario; may be empty.
    #[serde(default)]
    pub description: String,
    /// Overrides of the scenario, `path=value`; `None` in results of older versions, which did not store them.
    #[serde(default)]
    pub overrides: Option<Vec<String>>,
    /// All settings.
    #[serde(default)]
    pub entries: Vec<PlanEntry>,
}

/// A setting and its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    /// The key, as written in an override.
    pub key: String,
    /// The value with its unit, in the shortest exact form.
    pub value: String,
    /// Where the value is from: `FILE:LINE`, `--set ...` or `default: REASON`.
    #[serde(default)]
    pub source: String,
}

impl PlanRecord {
    /// Returns the value of a key, without the quotes of a text.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| entry.value.trim_matches('"'))
    }
}
