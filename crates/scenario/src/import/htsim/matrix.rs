//! Connection matrices: `Nodes`, `Connections`, then a line for each flow and each trigger.
//!
//! A trigger starts connections when others end. It becomes a dependency where a host can know of that by itself: where
//! the end is seen at the source of the connection that it starts.

use super::super::Work;
use super::super::words::{Word, Words, number, span};
use super::super::write::Message;
use crate::source::Place;
use std::collections::BTreeMap;
use units::Span;

/// What the file says.
#[derive(Debug)]
pub(super) struct Matrix<'a> {
    pub(super) nodes: u64,
    pub(super) flows: Vec<Flow>,
    triggers: BTreeMap<u64, Trigger>,
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
    /// The trigger that starts it.
    trigger: Option<u64>,
    /// The triggers that it activates when its source, and its destination, has all of it.
    sent: Option<u64>,
    received: Option<u64>,
}

/// When a trigger starts its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trigger {
    /// All of them, at the first activation.
    Once,
    /// All of them, after so many activations.
    Barrier(u64),
    /// One at each activation.
    Often,
}

/// The largest flow: 1 PB.
const LARGEST: u64 = 1_000_000_000_000_000;
/// Maximum number of nodes.
const MOST_NODES: u64 = 1 << 18;

/// Reads the file.
pub(super) fn read<'a>(work: &mut Work, source: u32, text: &'a str, micros: bool) -> Option<Matrix<'a>> {
    let mut words = Words::new(source, text);
    let end = words.end();
    let mut matrix =
        Matrix { nodes: 0, flows: Vec::new(), triggers: BTreeMap::new(), places: Vec::new(), nodes_at: end };
    let mut stated = None;
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
            "trigger" => {
                let (id, trigger) = trigger(work, &mut words, word)?;
                matrix.triggers.insert(id, trigger);
            }
            "failure" => {}
            text if text.contains("->") => {
                if let Some(flow) = flow(work, &mut words, word, micros) {
                    matrix.flows.push(flow);
                    matrix.places.push(word);
                }
            }
            _ => {
                let help = "a line begins with Nodes, Connections, Triggers, trigger, failure or SOURCE->DESTINATION";
                work.refuse(word.place, "not a valid line of a connection matrix", help);
            }
        }
        words.skip_line();
    }
    if matrix.nodes == 0 && work.problems.is_empty() {
        work.refuse(end, "the file does not state the number of nodes", "begin with a line such as Nodes 16");
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

/// A trigger: `id N` and `oneshot`, `multishot` or `barrier` with `count N`.
fn trigger(work: &mut Work, words: &mut Words<'_>, key: Word<'_>) -> Option<(u64, Trigger)> {
    let (mut id, mut kind, mut times) = (None, Trigger::Once, 1);
    while let Some(word) = words.on_line() {
        match word.text {
            "id" => id = Some(count(work, words.on_line(), word, u64::MAX)?),
            "oneshot" => kind = Trigger::Once,
            "multishot" => kind = Trigger::Often,
            "barrier" => kind = Trigger::Barrier(1),
            "count" => times = count(work, words.on_line(), word, u64::MAX)?,
            _ => {
                let help = "the keys are id, oneshot, multishot, barrier and count";
                work.refuse(word.place, "not a key of a trigger", help);
                return None;
            }
        }
    }
    if id.is_none() {
        work.refuse(key.place, "a trigger without an id", "add id and a number");
    }
    Some((id?, if matches!(kind, Trigger::Barrier(_)) { Trigger::Barrier(times) } else { kind }))
}

/// A flow.
fn flow(work: &mut Work, words: &mut Words<'_>, ends: Word<'_>, micros: bool) -> Option<Flow> {
    let both = ends.text.split_once("->").map(|(a, b)| (a.parse::<u64>(), b.parse::<u64>()));
    let Some((Ok(source), Ok(destination))) = both else {
        work.refuse(ends.place, "not a valid connection", "write SOURCE->DESTINATION, such as 0->13");
        return None;
    };
    let (mut id, mut bytes, mut start) = (None, None, None);
    let [mut trigger, mut sent, mut received] = [None; 3];
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
                    work.refuse(value.place, "not a valid start", "write a number that is not negative");
                    return None;
                }
            }
            "size" => bytes = whole,
            "id" => id = whole,
            "trigger" | "send_done_trigger" | "recv_done_trigger" => {
                let number = count(work, Some(value), key, u64::MAX)?;
                match key.text {
                    "trigger" => trigger = Some(number),
                    "send_done_trigger" => sent = Some(number),
                    _ => received = Some(number),
                }
            }
            "prio" => {
                if work.notes.iter().all(|note| note.key != "prio") {
                    work.note("prio", "has no counterpart: all flows have the same class");
                }
            }
            _ => {
                let help = "the keys are id, start, size, prio, trigger, send_done_trigger and recv_done_trigger";
                work.refuse(key.place, "not a key of a connection", help);
                return None;
            }
        }
    }
    if bytes == Some(0) {
        let help = "a connection of size 0 never ends in htsim: give the bytes that it sends at most in the run";
        work.refuse(ends.place, "a connection of size 0", help);
        return None;
    }
    let Some(bytes) = bytes.filter(|bytes| (1..=LARGEST).contains(bytes)) else {
        work.refuse(ends.place, "a connection without a size", "add its size in bytes, such as size 2000000");
        return None;
    };
    let start = match (start, trigger) {
        (Some(start), _) => start,
        (None, Some(_)) => Span::ZERO,
        (None, None) => {
            work.refuse(ends.place, "a connection without a start", "add start and a time");
            return None;
        }
    };
    Some(Flow { source, destination, id, bytes, start, trigger, sent, received })
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

    /// The flows, and what they wait for. Triggers without a counterpart are reported.
    pub(super) fn messages(&self, work: &mut Work) -> Vec<Message> {
        // By trigger: the flows that activate it, and whether their destination does.
        let mut activate: BTreeMap<u64, Vec<(u32, bool)>> = BTreeMap::new();
        for (number, flow) in (0..).zip(&self.flows) {
            for (trigger, received) in [(flow.sent, false), (flow.received, true)] {
                if let Some(trigger) = trigger {
                    activate.entry(trigger).or_default().push((number, received));
                }
            }
        }
        let mut lost: BTreeMap<&str, u64> = BTreeMap::new();
        let mut message = |flow: &Flow| {
            let name = flow.id.map(|id| format!("flow{id}")).unwrap_or_default();
            let mut after = Vec::new();
            match flow.trigger.map(|trigger| self.awaited(flow, trigger, &activate)) {
                None => {}
                Some(Ok(awaited)) => after = awaited.into_iter().map(|other| (other, Span::ZERO)).collect(),
                Some(Err(why)) => *lost.entry(why).or_default() += 1,
            }
            let Flow { source, destination, bytes, start, .. } = *flow;
            Message { source, destination, bytes, start, name, after }
        };
        let messages = self.flows.iter().map(&mut message).collect();
        for (why, flows) in lost {
            work.note("trigger", format!("{flows} flows that wait for a trigger start at time 0: {why}"));
        }
        messages
    }

    /// The flows that a flow waits for by its trigger, or why there is no counterpart.
    fn awaited(
        &self,
        flow: &Flow,
        trigger: u64,
        activate: &BTreeMap<u64, Vec<(u32, bool)>>,
    ) -> Result<Vec<u32>, &'static str> {
        let activate = activate.get(&trigger).map_or(&[][..], Vec::as_slice);
        let kind = self.triggers.get(&trigger).copied().unwrap_or(Trigger::Once);
        match kind {
            _ if activate.is_empty() => return Err("no flow activates it"),
            Trigger::Often if activate.len() > 1 => return Err("a multishot trigger that several flows activate"),
            Trigger::Often => {
                let first = self.flows.iter().find(|other| other.trigger == Some(trigger));
                if first.is_some_and(|first| !std::ptr::eq(first, flow)) {
                    return Err("a multishot trigger with fewer activations than flows");
                }
            }
            Trigger::Once if activate.len() > 1 => return Err("the first of several flows activates it"),
            Trigger::Barrier(times) if times != activate.len() as u64 => {
                return Err("a barrier with another count than flows that activate it");
            }
            Trigger::Once | Trigger::Barrier(_) => {}
        }
        let seen = |&(other, received): &(u32, bool)| {
            let other = &self.flows[other as usize];
            flow.source == if received { other.destination } else { other.source }
        };
        match activate.iter().all(seen) {
            true => Ok(activate.iter().map(|(other, _)| *other).collect()),
            false => Err("another host than its source activates it, without a message"),
        }
    }
}
