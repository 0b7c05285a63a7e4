//! What results should be: parsed and checked here, judged by whoever has results.

use super::key::Kind;
use super::resolve::{Gathered, Node};
use super::tree::Item;
use super::value::read;
use std::fmt;
use units::{Bytes, Rate, Span};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Bits per second delivered of a flow after the warm-up.
    Throughput,
    /// The same with preamble and gap counted.
    RawThroughput,
    /// Bytes delivered of a flow.
    Delivered,
    /// From a finite flow's start to its last byte.
    CompletionTime,
    /// Jain's index of throughputs.
    Fairness,
    /// Data frames dropped for want of room or route.
    DroppedFrames,
    /// Data frames lost on a cable.
    LostFrames,
    /// PAUSE and PFC frames sent.
    PauseFrames,
    /// Largest bytes waiting for an output.
    Queue,
    /// How the run ended.
    Outcome,
}

/// How several values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The smallest.
    Least,
    /// The largest.
    Most,
    /// The sum.
    Sum,
}

/// How a result is compared with what is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// As much, give or take the tolerance.
    Equal,
    /// Less.
    Below,
    /// At most.
    AtMost,
    /// More.
    Above,
    /// At least.
    AtLeast,
}

impl Comparison {
    /// Whether a measured number is as expected; `tolerance` is a fraction of what is expected.
    #[must_use]
    pub fn holds(self, measured: f64, expected: f64, tolerance: f64) -> bool {
        match self {
            Comparison::Equal => (measured - expected).abs() <= tolerance * expected.abs(),
            Comparison::Below => measured < expected,
            Comparison::AtMost => measured <= expected,
            Comparison::Above => measured > expected,
            Comparison::AtLeast => measured >= expected,
        }
    }
}

/// What is expected, in the metric's unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// A throughput.
    Rate(Rate),
    /// A size.
    Size(Bytes),
    /// A time.
    Time(Span),
    /// A count.
    Count(u64),
    /// A number.
    Number(f64),
    /// A way to end: finished, deadlock, loss, limit or interrupted.
    Outcome(String),
}

impl Expected {
    /// As a number: bits per second, bytes, seconds or itself; `None` for an outcome.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Expected::Rate(rate) => Some(rate.as_bits_per_sec() as f64),
            Expected::Size(size) => Some(size.get() as f64),
            Expected::Time(time) => Some(time.as_secs_f64()),
            Expected::Count(count) => Some(*count as f64),
            Expected::Number(number) => Some(*number),
            Expected::Outcome(_) => None,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Rate(rate) => rate.fmt(f),
            Expected::Size(size) => size.fmt(f),
            Expected::Time(time) => time.fmt(f),
            Expected::Count(count) => count.fmt(f),
            Expected::Number(number) => number.fmt(f),
            Expected::Outcome(outcome) => outcome.fmt(f),
        }
    }
}

/// What a result should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// What it is called.
    pub name: String,
    /// What is measured.
    pub metric: Metric,
    /// The flows it is about, as positions in the plan; empty for metrics of the run or of nodes.
    pub flows: Vec<u32>,
    /// The nodes it is about, as positions in the graph; empty for metrics of the run or of flows.
    pub nodes: Vec<u32>,
    /// How several values become one.
    pub statistic: Statistic,
    /// How to compare.
    pub comparison: Comparison,
    /// With what; a quantity without it is measured and not judged.
    pub expected: Option<Expected>,
    /// Fraction of what is expected by which the result may differ.
    pub tolerance: f64,
    /// Where the number comes from, for people.
    pub source: Option<String>,
    /// Line of the scenario that states it, as `file:line`.
    pub stated_at: String,
}

const OUTCOMES: &[(&str, &str)] = &[
    ("finished", "the time asked for was simulated"),
    ("deadlock", "frames wait for each other in a circle"),
    ("loss", "a frame of a lossless class was dropped"),
    ("limit", "a limit was reached"),
    ("interrupted", "somebody stopped it"),
];

/// What a metric's name stands for, and the kind of value it has.
pub(crate) fn metric(name: &str) -> (Metric, Kind) {
    match name {
        "throughput" => (Metric::Throughput, Kind::Rate(Rate::ZERO, super::key::FASTEST)),
        "raw-throughput" => (Metric::RawThroughput, Kind::Rate(Rate::ZERO, super::key::FASTEST)),
        "delivered" => (Metric::Delivered, Kind::size(0, u64::MAX)),
        "completion-time" => (Metric::CompletionTime, Kind::time()),
        "fairness" => (Metric::Fairness, Kind::Number(0.0, 1.0)),
        "dropped-frames" => (Metric::DroppedFrames, Kind::Count(0, u64::MAX)),
        "lost-frames" => (Metric::LostFrames, Kind::Count(0, u64::MAX)),
        "pause-frames" => (Metric::PauseFrames, Kind::Count(0, u64::MAX)),
        "queue" => (Metric::Queue, Kind::size(0, u64::MAX)),
        _ => (Metric::Outcome, Kind::choice(OUTCOMES)),
    }
}

/// Reads what is expected of a metric of that kind; what is wrong is told.
pub(crate) fn expected(gathered: &mut Gathered<'_>, kind: &Kind, item: &Item) -> Option<Expected> {
    match read(kind, item) {
        Ok(super::value::Value::Rate(rate)) => Some(Expected::Rate(rate)),
        Ok(super::value::Value::Size(size)) => Some(Expected::Size(size)),
        Ok(super::value::Value::Time(time)) => Some(Expected::Time(time)),
        Ok(super::value::Value::Count(count)) => Some(Expected::Count(count)),
        Ok(super::value::Value::Number(number)) => Some(Expected::Number(number)),
        Ok(super::value::Value::Text(outcome)) => Some(Expected::Outcome(outcome)),
        Ok(_) => None,
        Err(problems) => {
            gathered.problems.extend(problems);
            None
        }
    }
}

/// Reads one expectation; `find` turns its names into flows and nodes.
pub(crate) fn expectation(
    gathered: &mut Gathered<'_>,
    node: &Node,
    find: impl FnOnce(&mut Gathered<'_>, Metric) -> Option<(Vec<u32>, Vec<u32>)>,
) -> Option<Expectation> {
    let name = node.text("metric")?;
    let (metric, kind) = metric(&name);
    let comparison = match node.text("op")?.as_str() {
        "<" => Comparison::Below,
        "<=" => Comparison::AtMost,
        ">" => Comparison::Above,
        ">=" => Comparison::AtLeast,
        _ => Comparison::Equal,
    };
    if metric == Metric::Outcome && comparison != Comparison::Equal {
        gathered.refuse(node.place_of("op"), "an outcome is not more or less than another", "leave `op` out");
    }
    let expected = match node.any("value") {
        Some(item) => Some(expected(gathered, &kind, &item)?),
        None => None,
    };
    let (flows, nodes) = find(gathered, metric)?;
    let (line, _) = gathered.sources.position(node.place);
    let file = gathered.sources.get(node.place.source).map(|source| source.name.clone()).unwrap_or_default();
    Some(Expectation {
        name: node.text("name").unwrap_or(name),
        metric,
        flows,
        nodes,
        statistic: match node.text("statistic").as_deref() {
            Some("least") => Statistic::Least,
            Some("most") => Statistic::Most,
            Some("sum") => Statistic::Sum,
            _ => Statistic::Mean,
        },
        comparison,
        expected,
        tolerance: node.number("tolerance").unwrap_or(0.0),
        source: node.text("source"),
        stated_at: format!("{file}:{line}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons() {
        assert!(Comparison::Equal.holds(9.6, 10.0, 0.05) && !Comparison::Equal.holds(9.4, 10.0, 0.05));
        assert!(Comparison::Equal.holds(0.0, 0.0, 0.0));
        assert!(Comparison::Below.holds(1.0, 2.0, 0.0) && !Comparison::Below.holds(2.0, 2.0, 0.0));
        assert!(Comparison::AtMost.holds(2.0, 2.0, 0.0) && Comparison::AtLeast.holds(2.0, 2.0, 0.0));
        assert!(Comparison::Above.holds(3.0, 2.0, 0.0) && !Comparison::Above.holds(f64::NAN, 2.0, 0.0));
    }

    #[test]
    fn every_metric_of_the_table_is_known() {
        let names: Vec<&str> = super::super::keys::METRICS.iter().map(|(name, _)| *name).collect();
        let known = [
            "throughput",
            "raw-throughput",
            "delivered",
            "completion-time",
            "fairness",
            "dropped-frames",
            "lost-frames",
        ];
        assert_eq!(names, [&known[..], &["pause-frames", "queue", "outcome"]].concat());
    }
}
