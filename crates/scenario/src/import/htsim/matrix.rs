//! Connection matrices: `Nodes`, `Connections`, then a line for each flow and each trigger.

use super::super::Work;
use super::super::words::{Word, Words, number, span};
use crate::source::Place;
use units::Span;

/// What the file says.
#[derive(Debug)]
pub(super) struct Matrix<'a> {
    pub(super) nodes: u64,
    pub(super) flows: Vec<Flow>,
    places: Vec<Word<'a>>,
    nodes_at: Place,
}

/// A flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) source: u64,
    pub(super) destination: u64,
    pub(super) id: Option<u64>,
    pub(super) bytes: u64,
    pub(super) start: Span,
}

/// The largest flow: 1 PB.
const LARGEST: u64 = 1_000_000_000_000_000;
/// Maximum number of nodes.
const MOST_NODES: u64 = 1 << 18;

/// Reads the file.
pub(super) fn read<'a>(work: &mut Work, source: u32, text: &'a str, micros: bool) -> Option<Matrix<'a>> {
    let mut words = Words::new(source, text);
    let end = words.end();
    let mut matrix = Matrix { nodes: 0, flows: Vec::new(), places: Vec::new(), nodes_at: end };
    let (mut stated, mut triggered, mut triggers) = (None, 0_u64, 0_u64);
    while let Some(word) = words.next() {
        if work.is_hopeless() {
            return None;
        }
        match word.text {
            text if text.starts_with('#') => {}
            "Nodes" => {
                matrix.nodes = count(work, words.on_line(), word, MOST_NODES)?;
                matrix.nodes_at = word.place;
            }
            "Connections" => stated = Some((count(work, words.on_line(), word, 10_000_001)?, word.place)),
            "Triggers" => {}
            "Failures" => {
                if count(work, words.on_line(), word, 1_000_000)? > 0 {
                    work.note("Failures", "has no counterpart: links do not fail; add [[faults]]");
                }
            }
            "trigger" => triggers += 1,
            "failure" => {}
            text if text.contains("->") => {
                if let Some((flow, waits)) = flow(work, &mut words, word, micros) {
                    triggered += u64::from(waits);
                    matrix.flows.push(flow);
                    matrix.places.push(word);
                }
            }
            _ => {
                let help = "a line begins with Nodes, Connections, Triggers, trigger, failure or SOURCE->DESTINATION";
                work.refuse(word.place, "this is no line of a connection matrix", help);
            }
        }
        words.skip_line();
    }
    if matrix.nodes == 0 && work.problems.is_empty() {
        work.refuse(end, "the file does not say how many nodes there are", "begin with a line such as Nodes 16");
        return None;
    }
    if matrix.flows.is_empty() && work.problems.is_empty() {
        work.refuse(end, "the file has no connections", "add a line such as 0->1 id 1 start 0 size 2000000");
        return None;
    }
    let found = matrix.flows.len() as u64;
    if let Some((stated, place)) = stated.filter(|(stated, _)| *stated != found && work.problems.is_empty()) {
        let help = "correct the number, or the list of connections";
        work.refuse(place, format!("Connections is {stated}, but the file has {found}"), help);
    }
    if triggers > 0 || triggered > 0 {
        let meaning = format!(
            "flows that start when others end have no counterpart: {triggered} of them start at time 0, {triggers} \
             definitions of triggers are ignored"
        );
        work.note("trigger", meaning);
    }
    Some(matrix)
}

/// The number behind a key.
fn count(work: &mut Work, word: Option<Word<'_>>, key: Word<'_>, below: u64) -> Option<u64> {
    let value = word.and_then(|word| word.text.parse::<u64>().ok()).filter(|value| *value < below);
    if value.is_none() {
        let place = word.map_or(key.place, |word| word.place);
        work.refuse(place, format!("{} needs a number", key.text), format!("write a whole number below {below}"));
    }
    value
}

/// A flow, and whether it waits for a trigger.
fn flow(work: &mut Work, words: &mut Words<'_>, ends: Word<'_>, micros: bool) -> Option<(Flow, bool)> {
    let both = ends.text.split_once("->").map(|(a, b)| (a.parse::<u64>(), b.parse::<u64>()));
    let Some((Ok(source), Ok(destination))) = both else {
        work.refuse(ends.place, "this is no connection", "write SOURCE->DESTINATION, such as 0->13");
        return None;
    };
    let (mut id, mut bytes, mut start, mut trigger) = (None, None, None, false);
    while let Some(key) = words.on_line() {
        let value = words.on_line();
        let Some(value) = value else {
            if key.text == "addon" {
                continue;
            }
            work.refuse(key.place, "a key without a value", "write id, start, size, trigger or prio and its value");
            return None;
        };
        let whole = value.text.parse::<u64>().ok();
        match key.text {
            "start" => {
                let unit = if micros { 1e6 } else { 1.0 };
                start = number(value.text).and_then(|number| span(number, unit));
                if start.is_none() {
                    work.refuse(value.place, "this is no start", "write a number that is not negative");
                    return None;
                }
            }
            "size" => bytes = whole,
            "id" => id = whole,
            "trigger" => trigger = true,
            "send_done_trigger" | "recv_done_trigger" => {}
            "prio" => {
                if work.notes.iter().all(|note| note.key != "prio") {
                    work.note("prio", "has no counterpart: all flows have the same class");
                }
            }
            _ => {
                let help = "the keys are id, start, size, prio, trigger, send_done_trigger and recv_done_trigger";
                work.refuse(key.place, "this is no key of a connection", help);
                return None;
            }
        }
    }
    let Some(bytes) = bytes.filter(|bytes| (1..=LARGEST).contains(bytes)) else {
        work.refuse(ends.place, "a connection without a size", "add its size in bytes, such as size 2000000");
        return None;
    };
    let start = match (start, trigger) {
        (Some(start), _) => start,
        (None, true) => Span::ZERO,
        (None, false) => {
            work.refuse(ends.place, "a connection without a start", "add start and a time");
            return None;
        }
    };
    Some((Flow { source, destination, id, bytes, start }, trigger))
}

impl Matrix<'_> {
    /// Checks the flows against the number of hosts.
    pub(super) fn check(&self, work: &mut Work, nodes: u64) {
        if self.nodes > nodes {
            let message = format!("{} nodes, but the topology has {nodes}", self.nodes);
            work.refuse(self.nodes_at, message, "use the topology that the file was made for");
        }
        for (flow, word) in self.flows.iter().zip(&self.places) {
            if work.is_hopeless() {
                return;
            }
            if flow.source >= self.nodes.min(nodes) || flow.destination >= self.nodes.min(nodes) {
                let message = format!("a connection of a node beyond the {} of the file", self.nodes);
                work.refuse(word.place, message, "nodes are numbered from 0");
            } else if flow.source == flow.destination {
                work.refuse(word.place, "the destination of the connection is its source", "name another node");
            }
        }
    }
}
