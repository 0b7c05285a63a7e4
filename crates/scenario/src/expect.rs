//! Expectations of results: parsed and checked here, judged by the crate that has the results.

use super::key::Kind;
use super::metric::{METRICS, Metric, Subject, Unit};
use super::plan::RunSettings;
use super::problem::Problem;
use super::resolve::{Gathered, Node};
use super::tree::{Data, Item};
use super::value::{Value, read};
use std::fmt;
use theory::quantile::quantile;
use units::{Bytes, Rate, Span};

/// Aggregation of several values to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The minimum.
    Least,
    /// The maximum.
    Most,
    /// The sum.
    Sum,
    /// The standard deviation.
    Deviation,
    /// The coefficient of variation: the standard deviation divided by the mean.
    Variation,
    /// The quantile at so many thousandths.
    Quantile(u16),
}

/// Quantiles by name, with their thousandths.
pub(crate) const QUANTILES: [(&str, u16, &str); 5] = [
    ("p50", 500, "median"),
    ("p90", 900, "90th percentile"),
    ("p95", 950, "95th percentile"),
    ("p99", 990, "99th percentile"),
    ("p99.9", 999, "99.9th percentile"),
];

impl Statistic {
    /// Returns the standard deviation or the coefficient of variation of values with that mean and variance.
    pub(crate) fn spread(self, mean: f64, variance: f64) -> Option<f64> {
        let deviation = variance.max(0.0).sqrt();
        match self {
            Statistic::Variation => Some(deviation / mean).filter(|part| part.is_finite()),
            _ => Some(deviation),
        }
    }

    /// Returns the deviation around a stated value instead of the mean, if one is given; it then includes the distance
    /// of the mean from that value.
    #[must_use]
    pub fn spread_around(self, around: Option<f64>, mean: f64, variance: f64) -> Option<f64> {
        match around {
            None => self.spread(mean, variance),
            Some(value) => self.spread(value, variance.max(0.0) + (mean - value) * (mean - value)),
        }
    }

    /// Aggregates values; `None` if there are none. NaN is skipped.
    #[must_use]
    pub fn of(self, values: impl IntoIterator<Item = f64>) -> Option<f64> {
        let values: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
        match self {
            _ if values.is_empty() => None,
            Statistic::Mean => Some(values.iter().sum::<f64>() / values.len() as f64),
            Statistic::Least => values.into_iter().reduce(f64::min),
            Statistic::Most => values.into_iter().reduce(f64::max),
            Statistic::Sum => Some(values.iter().sum()),
            Statistic::Quantile(thousandths) => quantile(&values, f64::from(thousandths) / 1000.0),
            Statistic::Deviation | Statistic::Variation => {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
                self.spread(mean, squares / values.len() as f64)
            }
        }
    }
}

/// Aggregation of several ports or nodes that are each measured over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// The maximum of their values.
    Most,
    /// The mean of their values.
    Mean,
    /// The minimum of their values.
    Least,
    /// The fullest of them at each sample, as if they were one.
    Fullest,
}

/// Comparison of a result with its expected value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal within the tolerance.
    Equal,
    /// Less than.
    Below,
    /// At most.
    AtMost,
    /// Greater than.
    Above,
    /// At least.
    AtLeast,
}

impl Comparison {
    /// Returns whether a measured value meets the expectation; `tolerance` is a fraction of the expected value.
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

/// An expected value, in the metric's unit.
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
    /// An outcome: finished, deadlock, stalled, livelock, loss, limit or interrupted.
    Outcome(String),
}

impl Expected {
    /// Returns the value in bits per second, bytes, seconds or as a plain number; `None` for an outcome.
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

/// An interval of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Start, relative to the start of the run.
    pub from: Span,
    /// End, relative to the start of the run.
    pub until: Span,
}

/// The subjects of an expectation. The metric determines which lists are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subjects {
    /// Flows, as indices in the plan.
    pub flows: Vec<u32>,
    /// Flows with which the first ones are compared; `None` if the value itself is used.
    pub over: Option<Vec<u32>>,
    /// Nodes, as indices in the graph.
    pub nodes: Vec<u32>,
    /// Global port numbers: the sender of a direction of a link or, for a buffer, the receiver.
    pub ports: Vec<u32>,
}

/// A metric and its expected value.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Name of the expectation.
    pub name: String,
    /// Index in the plan.
    pub number: usize,
    /// The metric.
    pub metric: Metric,
    /// The subjects.
    pub subjects: Subjects,
    /// The measured interval.
    pub window: Window,
    /// Aggregation of several values.
    pub statistic: Statistic,
    /// Aggregation of several ports or nodes that are measured over time.
    pub across: Across,
    /// The value around which a deviation is measured, in the metric's base unit; `None` for the mean.
    pub around: Option<f64>,
    /// The comparison.
    pub comparison: Comparison,
    /// The expected value; without one, the metric is measured but not judged.
    pub expected: Option<Expected>,
    /// Tolerance, as a fraction of the expected value.
    pub tolerance: f64,
    /// For pause phases: the interval without a pause that ends a phase.
    pub quiet: Span,
    /// For settling times: the band in which a rate must stay, as a fraction of its last mean. For recovery times: the
    /// fraction of the fair share that may be missing.
    pub within: f64,
    /// For drain times: the level.
    pub level: Bytes,
    /// Source of the expected value, for humans.
    pub source: Option<String>,
    /// The statement that it is evidence for; by default its source.
    pub statement: Option<String>,
    /// Its position in the scenario, as `file:line`.
    pub stated_at: String,
}

impl Expectation {
    /// Returns the unit of the measured value.
    #[must_use]
    pub fn unit(&self) -> Unit {
        let plain = self.subjects.over.is_some() || self.statistic == Statistic::Variation;
        if plain { Unit::Number } else { self.metric.unit() }
    }

    /// Returns whether a measured time is only a lower bound, because the window ended first. A rate that is still
    /// outside its band in the last quarter of the window, which defines the band, has not settled; an event that
    /// takes the whole window did not complete in it.
    #[must_use]
    pub fn outlasts(&self, measured: f64) -> bool {
        if self.unit() != Unit::Time {
            return false;
        }
        let window = (self.window.until - self.window.from).as_secs_f64();
        match self.metric {
            Metric::SettlingTime | Metric::BacklogSettling => measured > window * 0.75,
            Metric::RecoveryTime | Metric::DrainTime => measured >= window * (1.0 - 1e-9),
            Metric::PausePhase => measured > window - self.quiet.as_secs_f64(),
            _ => false,
        }
    }

    /// Returns the minimum and maximum possible values. Measured values are not negative; fractions and indices are at
    /// most one. Jain's index of known flows is at least one divided by their number. A time within a window is at most
    /// the length of the window.
    #[must_use]
    pub fn bounds(&self) -> (f64, f64) {
        let of_parts = !matches!(self.statistic, Statistic::Sum | Statistic::Deviation | Statistic::Variation);
        let plain = of_parts && self.subjects.over.is_none() && self.metric.ends_at_one();
        let within = of_parts && self.unit() == Unit::Time && self.metric.is_within_window();
        let most = match (plain, within) {
            (true, _) => 1.0,
            (false, true) => (self.window.until - self.window.from).as_secs_f64(),
            (false, false) => f64::INFINITY,
        };
        let index = plain && matches!(self.metric, Metric::Fairness | Metric::FairIndex);
        match self.subjects.flows.len() {
            flows @ 1.. if index => (1.0 / flows as f64, most),
            _ => (0.0, most),
        }
    }
}

const OUTCOMES: &[(&str, &str)] = &[
    ("finished", "the run reached its end"),
    ("deadlock", "frames wait for each other in a cycle"),
    ("stalled", "frames of a lossless class are stuck behind a dead receiver or a failed link"),
    ("livelock", "flows only retransmit, and frames of a lossless class wait behind the retransmissions"),
    ("loss", "a frame of a lossless class was dropped"),
    ("limit", "a limit was reached"),
    ("interrupted", "the run was interrupted"),
];

/// Reads one expectation; `find` resolves its names to flows, nodes and ports.
pub(crate) fn expectation(
    gathered: &mut Gathered<'_>,
    node: &Node,
    number: usize,
    run: Option<&RunSettings>,
    find: impl FnOnce(&mut Gathered<'_>, Subject, Metric) -> Option<Subjects>,
) -> Option<Expectation> {
    let name = node.text("metric")?;
    let info = METRICS.iter().find(|info| info.name == name)?;
    let metric = info.metric;
    let comparison = match node.text("op")?.as_str() {
        "<" => Comparison::Below,
        "<=" => Comparison::AtMost,
        ">" => Comparison::Above,
        ">=" => Comparison::AtLeast,
        _ => Comparison::Equal,
    };
    if metric == Metric::Outcome && comparison != Comparison::Equal {
        gathered.refuse(node.place_of("op"), "outcomes have no order", "remove `op`");
    }
    let good = stated(gathered, node, metric);
    let window = window(gathered, node, metric, run);
    let subjects = find(gathered, info.subject, metric);
    let quiet = node.time("quiet").unwrap_or_default();
    if metric == Metric::PausePhase && node.given("quiet") && quiet == Span::ZERO {
        gathered.refuse(node.place_of("quiet"), "`quiet` is zero", "give a time above zero");
    }
    let (line, _) = gathered.sources.position(node.place);
    let file = gathered.sources.get(node.place.source).map(|source| source.name.clone()).unwrap_or_default();
    Some(Expectation {
        name: node.text("name").unwrap_or(name),
        number,
        metric,
        subjects: subjects?,
        window: window?,
        statistic: match node.text("statistic").as_deref() {
            Some("least") => Statistic::Least,
            Some("most") => Statistic::Most,
            Some("sum") => Statistic::Sum,
            Some("deviation") => Statistic::Deviation,
            Some("variation") => Statistic::Variation,
            name => QUANTILES
                .iter()
                .find(|(known, _, _)| name == Some(known))
                .map_or(Statistic::Mean, |&(_, thousandths, _)| Statistic::Quantile(thousandths)),
        },
        across: match node.text("across").as_deref() {
            Some("mean") => Across::Mean,
            Some("least") => Across::Least,
            Some("fullest") => Across::Fullest,
            _ => Across::Most,
        },
        around: node
            .size("around")
            .map(|size| size.get() as f64)
            .or_else(|| node.rate("around").map(|rate| rate.as_bits_per_sec() as f64)),
        comparison,
        expected: good?,
        tolerance: node.number("tolerance").unwrap_or(0.0),
        quiet,
        within: node.number("within").unwrap_or(0.0),
        level: node.size("level").unwrap_or_default(),
        source: node.text("source"),
        statement: node.text("statement"),
        stated_at: format!("{file}:{line}"),
    })
}

/// Reads the expected value: `Some(None)` if there is none, `None` if it is invalid.
fn stated(gathered: &mut Gathered<'_>, node: &Node, metric: Metric) -> Option<Option<Expected>> {
    let Some(item) = node.any("value") else {
        for key in ["op", "tolerance"] {
            if node.given(key) {
                let message = format!("`{key}` has no effect without `value`");
                gathered.refuse(node.place_of(key), message, "remove it, or add `value = ...`");
            }
        }
        return Some(None);
    };
    let plain = node.has("over") || node.text("statistic").as_deref() == Some("variation");
    expected(gathered, &kind(metric, plain), &item).map(Some)
}

/// Returns the kind of a metric's values; a ratio is a plain number.
pub(crate) fn kind(metric: Metric, ratio: bool) -> Kind {
    match (metric.unit(), ratio) {
        (_, true) => Kind::Number(0.0, f64::INFINITY),
        (Unit::Rate, _) => Kind::Rate(Rate::ZERO, super::key::FASTEST),
        (Unit::Size, _) => Kind::size(0, u64::MAX),
        (Unit::Time, _) => Kind::time(),
        (Unit::Count, _) => Kind::Count(0, u64::MAX),
        // A deviation may be larger than its mean.
        (Unit::Number, _) => Kind::Number(0.0, if metric.ends_at_one() { 1.0 } else { f64::INFINITY }),
        (Unit::Outcome, _) => Kind::choice(OUTCOMES),
    }
}

/// Reads the expected value of a metric of that kind and reports problems.
pub(crate) fn expected(gathered: &mut Gathered<'_>, kind: &Kind, item: &Item) -> Option<Expected> {
    if matches!(item.data, Data::Table(_)) {
        let message = format!("expected {}, found a table", kind.expected());
        gathered.refuse(item.place, message, format!("write {}", kind.describe()));
        return None;
    }
    match read(kind, item) {
        Ok(Value::Rate(rate)) => Some(Expected::Rate(rate)),
        Ok(Value::Size(size)) => Some(Expected::Size(size)),
        Ok(Value::Time(time)) => Some(Expected::Time(time)),
        Ok(Value::Count(count)) => Some(Expected::Count(count)),
        Ok(Value::Number(number)) => Some(Expected::Number(number)),
        Ok(Value::Text(outcome)) => Some(Expected::Outcome(outcome)),
        Ok(_) => None,
        Err(problems) => {
            gathered.problems.extend(problems);
            None
        }
    }
}

/// Returns the measured interval: `between`, or the default of the metric.
fn window(gathered: &mut Gathered<'_>, node: &Node, metric: Metric, run: Option<&RunSettings>) -> Option<Window> {
    // Without the run nothing can be said of its parts.
    let run = run?;
    let Some([(from, begins), (until, ends)]) = node.interval("between") else {
        let from = if metric.of_whole_run() { Span::ZERO } else { run.warm_up };
        return (!node.given("between")).then_some(Window { from, until: run.duration });
    };
    // The short form of a figure cuts what it does not reach.
    let short = run.quick == Some(run.duration);
    let (from, until) = if short { (from.min(run.duration), until.min(run.duration)) } else { (from, until) };
    if short && from == until {
        return Some(Window { from, until });
    }
    if until > run.duration {
        let message = format!("the window ends at {until}, after the end of the run at {}", run.duration);
        gathered.refuse(ends, message, "end it within the run, or lengthen run.duration");
        return None;
    }
    if from >= until {
        let message = format!("the window begins at {from} but ends at {until}");
        let problem = Problem::new(ends, message, "write the earlier time first");
        gathered.problems.push(problem.and(begins, "it begins"));
        return None;
    }
    Some(Window { from, until })
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
    fn deviations_may_exceed_their_mean_and_shares_do_not_exceed_one() {
        assert!(matches!(kind(Metric::CompletionVariation, false), Kind::Number(0.0, f64::INFINITY)));
        assert!(matches!(kind(Metric::Fairness, false), Kind::Number(0.0, 1.0)));
    }

    #[test]
    fn statistics() {
        let of = |statistic: Statistic| statistic.of([1.0, f64::NAN, 4.0]);
        assert_eq!([Statistic::Mean, Statistic::Least].map(of), [Some(2.5), Some(1.0)]);
        assert_eq!([Statistic::Most, Statistic::Sum].map(of), [Some(4.0), Some(5.0)]);
        assert_eq!(Statistic::Sum.of([f64::NAN]), None);
    }
}
