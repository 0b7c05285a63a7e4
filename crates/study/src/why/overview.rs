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
/// Outputs with contention that it mentions.
const MOST_OUTPUTS: usize = 2;
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

/// An output at which flows waited for frames of other flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentionAnswer {
    /// Its link.
    pub link: String,
    /// Time that all flows waited there, in picoseconds.
    pub picoseconds: u64,
    /// The flows that they waited for, the longest first.
    pub flows: Vec<String>,
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
    /// Outputs at which flows waited for frames of others, those with the longest waits first.
    pub contention: Vec<ContentionAnswer>,
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
    let contention = contention(&tables);
    Ok(Some(Overview { started, victims, roots, contention, worst }))
}

/// The outputs at which flows waited for others.
fn contention(tables: &Tables) -> Vec<ContentionAnswer> {
    let causes = &tables.causes;
    let (times, by) = (causes.integers("time"), causes.integers("by"));
    let mut places: BTreeMap<i64, BTreeMap<i64, u64>> = BTreeMap::new();
    for row in (0..causes.len()).filter(|&row| causes.texts("cause")[row] == "contention") {
        let flow = if causes.is_present(row, "by") { by[row] } else { -1 };
        *places.entry(causes.integers("port")[row]).or_default().entry(flow).or_default() += times[row] as u64;
    }
    let answer = |(port, flows): (i64, BTreeMap<i64, u64>)| {
        let picoseconds = flows.values().sum();
        let mut ranked: Vec<(i64, u64)> = flows.into_iter().filter(|&(flow, _)| flow >= 0).collect();
        ranked.sort_by_key(|&(flow, time)| (Reverse(time), flow));
        let flows = ranked.into_iter().map(|(flow, _)| tables.flow(flow as u32)).collect();
        ContentionAnswer { link: tables.link(port), picoseconds, flows }
    };
    let mut answers: Vec<ContentionAnswer> = places.into_iter().map(answer).collect();
    answers.sort_by_key(|answer| Reverse(answer.picoseconds));
    answers
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

impl ContentionAnswer {
    fn sentence(&self) -> String {
        let shown = self.flows.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<&str>>().join(", ");
        let names = match (self.flows.len(), self.flows.len().saturating_sub(MOST_NAMES)) {
            (0, _) => String::new(),
            (_, 0) => format!(": {shown}"),
            (_, more) => format!(": {shown} and {more} more"),
        };
        format!("Flows waited {} for others at {}{names}.", span(self.picoseconds), self.link)
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
        let blocked: u64 = self.roots.iter().map(|root| root.picoseconds).sum();
        let waited: u64 = self.contention.iter().map(|answer| answer.picoseconds).sum();
        let is_much = |time: u64| time as f64 >= LITTLE * (blocked + waited) as f64;
        let mentioned = |root: &&RootAnswer| is_much(root.picoseconds);
        let victims = match (self.victims, self.started) {
            (0, _) => "No flow is a victim.".to_owned(),
            (1, started) => format!("1 of {started} flows is a victim."),
            (victims, started) => format!("{victims} of {started} flows are victims."),
        };
        let mut sentences: Vec<String> =
            self.roots.iter().filter(mentioned).take(MOST_ROOTS).map(RootAnswer::sentence).collect();
        if blocked == 0 {
            sentences.push("No flow lost time to blocked links.".to_owned());
        }
        let contended = self.contention.iter().filter(|answer| is_much(answer.picoseconds)).take(MOST_OUTPUTS);
        sentences.extend(contended.map(ContentionAnswer::sentence));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn root(kind: &str, picoseconds: u64, victim_picoseconds: u64) -> RootAnswer {
        RootAnswer {
            root: kind.into(),
            port: 3,
            link: "sw1 -> h6".into(),
            picoseconds,
            victim_picoseconds,
            culprits: vec!["a".into(), "b".into()],
        }
    }

    /// A run without blocked links, in which one output is the only place to look at; and one with both.
    #[test]
    fn the_summary_names_the_outputs_at_which_flows_lose_time() {
        let place = |link: &str, picoseconds, flows: &[&str]| ContentionAnswer {
            link: link.into(),
            picoseconds,
            flows: flows.iter().map(|&name| name.to_owned()).collect(),
        };
        let contention = vec![place("sw0 -> sw1", 9_000_000_000, &["a", "b"]), place("sw0 -> h1", 1_000_000, &["c"])];
        let mut overview = Overview { started: 4, victims: 0, roots: Vec::new(), contention, worst: Vec::new() };
        let text = "No flow lost time to blocked links. Flows waited 9.00 ms for others at sw0 -> sw1: a, b. No flow is a victim.";
        assert_eq!(overview.summary(), text);
        overview.roots =
            vec![root("output", 40_000_000_000, 10_000_000_000), root("receiver", 3_000_000_000, 3_000_000_000)];
        overview.victims = 1;
        let text = "Flows lost 40.00 ms to sw1 -> h6, 10.00 ms of it by flows that do not use it; culprits: a, b. Flows lost \
                    3.00 ms to the slow receiver h6, all of it by flows that do not use it; frames that wait for it: a, b. Flows \
                    waited 9.00 ms for others at sw0 -> sw1: a, b. 1 of 4 flows is a victim.";
        assert_eq!(overview.summary(), text);
        assert_eq!(overview.headline(), text);
    }
}
