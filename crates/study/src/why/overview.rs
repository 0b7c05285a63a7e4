//! All of a run at a glance: its roots, its victims, and its worst flows.

use super::{FlowAnswer, Question, Tables, WhyError, is_true, span, why};
use fabric::record::schema;
use results::Results;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Part of all blocked time below which a root is not mentioned.
const LITTLE: f64 = 0.05;
/// Roots that the headline mentions.
const MOST_ROOTS: usize = 3;
/// Flows that it names.
const MOST_NAMES: usize = 6;

/// A root of blocked time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootAnswer {
    /// Kind of the root, as in table causes.
    pub root: String,
    /// Number of its port.
    pub port: u32,
    /// Its link.
    pub link: String,
    /// Time that all flows lost to it, in picoseconds.
    pub picoseconds: u64,
    /// Part of it that flows lost which do not use it.
    pub victim_picoseconds: u64,
    /// Its culprits, the most guilty first.
    pub culprits: Vec<String>,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// Flows that started.
    pub started: usize,
    /// Victims among them.
    pub victims: usize,
    /// The roots, those that cost most time first.
    pub roots: Vec<RootAnswer>,
    /// The flows that lost most, the worst first.
    pub worst: Vec<FlowAnswer>,
}

/// Looks at all of a recorded run, and at the `most` flows that lost most. `None` if its run did not record causes.
///
/// # Errors
/// Returns an error if the results cannot be read.
pub fn overview(results: &Results, most: usize) -> Result<Option<Overview>, WhyError> {
    if !results.has(&schema::CAUSES) {
        return Ok(None);
    }
    let mut worst = why(results, &Question::Worst(usize::MAX))?;
    let (started, victims) = (worst.len(), worst.iter().filter(|answer| answer.is_victim()).count());
    worst.truncate(most);
    let tables = Tables::read(results)?;
    let rows = results.read(&schema::ROOTS)?;
    let mut roots: BTreeMap<(i64, &str), RootAnswer> = BTreeMap::new();
    for row in 0..rows.len() {
        let (port, root) = (rows.integers("port")[row], rows.texts("root")[row].as_str());
        let answer = roots.entry((port, root)).or_insert_with(|| RootAnswer {
            root: root.to_owned(),
            port: port as u32,
            link: tables.link(port),
            picoseconds: 0,
            victim_picoseconds: 0,
            culprits: Vec::new(),
        });
        answer.picoseconds += rows.integers("time")[row] as u64;
        answer.victim_picoseconds += rows.integers("victim_time")[row] as u64;
        // The flows of a cycle wait for each other.
        if is_true(&rows, row, "culprit") && answer.culprits.is_empty() && root != "cycle" {
            let culprits = tables.culprits.get(&(port, root.to_owned())).into_iter().flatten();
            answer.culprits = culprits.map(|&flow| tables.flow(flow)).collect();
        }
    }
    let mut roots: Vec<RootAnswer> = roots.into_values().collect();
    roots.sort_by_key(|root| (Reverse(root.picoseconds), root.port));
    Ok(Some(Overview { started, victims, roots, worst }))
}

impl RootAnswer {
    /// The root in words.
    #[must_use]
    pub fn name(&self) -> String {
        let receiver = self.link.rsplit(" -> ").next().unwrap_or(&self.link);
        match self.root.as_str() {
            "receiver" => format!("the slow receiver {receiver}"),
            "link" => format!("the failed link {}", self.link),
            "cycle" => format!("a cycle of blocked links through {}", self.link),
            "credits" => format!("{}, whose credits do not cover its round trip", self.link),
            "resume" => format!("{}, which was paused and had not resumed", self.link),
            _ => self.link.clone(),
        }
    }

    /// The root as JSON.
    #[must_use]
    pub fn record(&self) -> Value {
        json!({
            "root": self.root,
            "port": self.port,
            "name": self.name(),
            "picoseconds": self.picoseconds,
            "victim_picoseconds": self.victim_picoseconds,
            "culprits": self.culprits,
        })
    }

    fn sentence(&self) -> String {
        let whole = span(self.picoseconds);
        let victims = match self.victim_picoseconds {
            0 => String::new(),
            part if part == self.picoseconds => ", all of it by flows that do not use it".to_owned(),
            part => format!(", {} of it by flows that do not use it", span(part)),
        };
        let shown: Vec<&str> = self.culprits.iter().take(MOST_NAMES).map(String::as_str).collect();
        // Nobody is guilty of a slow receiver or a failure.
        let who = match (self.root.as_str(), self.culprits.len()) {
            ("receiver" | "link", _) => "frames that wait for it:",
            (_, 1) => "culprit:",
            _ => "culprits:",
        };
        let culprits = match (shown.is_empty(), self.culprits.len().saturating_sub(MOST_NAMES)) {
            (true, _) => String::new(),
            (_, 0) => format!("; {who} {}", shown.join(", ")),
            (_, more) => format!("; {who} {} and {more} more", shown.join(", ")),
        };
        format!("Flows lost {whole} to {}{victims}{culprits}.", self.name())
    }
}

impl Overview {
    /// The run in a few sentences: its roots, its victims, and the worst flow.
    #[must_use]
    pub fn headline(&self) -> String {
        let worst = self.worst.first().map(|worst| format!(" The worst flow: {}.", worst.sentence()));
        format!("{}{}", self.summary(), worst.unwrap_or_default())
    }

    /// The roots that cost most, and the number of victims.
    #[must_use]
    pub fn summary(&self) -> String {
        let all: u64 = self.roots.iter().map(|root| root.picoseconds).sum();
        let mentioned = |root: &&RootAnswer| root.picoseconds as f64 >= LITTLE * all as f64;
        let victims = match (self.victims, self.started) {
            (0, _) => "No flow is a victim.".to_owned(),
            (1, started) => format!("1 of {started} flows is a victim."),
            (victims, started) => format!("{victims} of {started} flows are victims."),
        };
        let mut sentences: Vec<String> =
            self.roots.iter().filter(mentioned).take(MOST_ROOTS).map(RootAnswer::sentence).collect();
        if sentences.is_empty() {
            sentences.push("No flow lost time to blocked links.".to_owned());
        }
        sentences.push(victims);
        sentences.join(" ")
    }

    /// All of it as JSON.
    #[must_use]
    pub fn record(&self) -> Value {
        json!({
            "headline": self.headline(),
            "started": self.started,
            "victims": self.victims,
            "roots": self.roots.iter().map(RootAnswer::record).collect::<Vec<Value>>(),
            "flows": self.worst.iter().map(FlowAnswer::record).collect::<Vec<Value>>(),
        })
    }
}
