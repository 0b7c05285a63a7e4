//! What a search minimises, and what it must keep: goals and conditions on the values that sweeps measure.

use crate::grid::{PointResult, kind_of, quantity_keys, value_names};
use crate::measure::statistics::{Summary, summarise};
use scenario::{Comparison, Expectation, Plan, Quantity, Unit, near_name};

/// A measured value that is to be small, or large.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Name of the value, as in the table of a sweep.
    pub name: String,
    /// Unit of the value.
    pub unit: Unit,
    /// Whether it is to be large.
    pub maximise: bool,
}

/// A condition that the runs of a candidate must meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Name of the value, as in the table of a sweep.
    pub name: String,
    /// The condition in words.
    pub text: String,
    comparison: Comparison,
    expected: f64,
    tolerance: f64,
}

/// How a candidate stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// All runs finished and meet all conditions: means of the goals, smaller ones better.
    Sound(Vec<f64>),
    /// A run did not finish, or a condition is not met: by how much, relative to the bounds.
    Violates(f64),
    /// The scenario is invalid with its values.
    Invalid,
}

/// The comparisons of conditions, the longer ones first.
const COMPARISONS: [(&str, Comparison); 5] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Below),
    (">", Comparison::Above),
    ("=", Comparison::Equal),
];

/// Violation by a run without a value, or by one that did not finish.
const MISSING: f64 = 10.0;

/// Finds the name of a measured value, with or without its unit.
fn found(plan: &Plan, wanted: &str) -> Result<String, String> {
    let names = value_names(plan);
    let bare = |name: &str| name.rsplit_once(" (").map_or(name, |(bare, _)| bare).to_owned();
    let wanted = wanted.trim();
    if let Some(name) = names.iter().find(|name| *name == wanted || bare(name) == wanted) {
        return Ok(name.clone());
    }
    let like = names.iter().map(|name| bare(name)).collect::<Vec<_>>();
    let help = match near_name(wanted, like.iter().map(String::as_str)) {
        Some(like) => format!("did you mean '{like}'?"),
        None => {
            format!("the metrics are {}", like.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", "))
        }
    };
    Err(format!("there is no metric '{wanted}'; {help}"))
}

impl Goal {
    /// Finds a goal by the name of a measured value.
    ///
    /// # Errors
    /// Returns what is wrong and the remedy.
    pub fn parse(plan: &Plan, text: &str, maximise: bool) -> Result<Goal, String> {
        let name = found(plan, text)?;
        let (unit, _) = kind_of(&name, &plan.expectations);
        if unit == Unit::Outcome {
            return Err(format!("'{name}' is an outcome, not a number; make it a condition"));
        }
        Ok(Goal { name, unit, maximise })
    }

    /// Returns its statistics over the runs of a candidate.
    #[must_use]
    pub fn summary(&self, result: &PointResult) -> Option<Summary> {
        let values: Vec<f64> =
            result.samples.iter().filter_map(|sample| sample.values.get(&self.name).copied()).collect();
        summarise(&values)
    }
}

impl Condition {
    /// Parses `NAME <= VALUE`, or the name of an expectation of the scenario.
    ///
    /// # Errors
    /// Returns what is wrong and the remedy.
    pub fn parse(plan: &Plan, text: &str) -> Result<Condition, String> {
        let named = quantity_keys(&plan.expectations).into_iter().zip(&plan.expectations);
        if let Some((name, expectation)) = named.into_iter().find(|(name, _)| name == text.trim()) {
            return Condition::of(name, expectation);
        }
        let split = COMPARISONS.iter().filter_map(|(sign, comparison)| {
            let (name, value) = text.split_once(sign)?;
            Some((name.len(), *comparison, name, value))
        });
        // The first sign counts; at the same place, the longer one.
        let Some((_, comparison, name, value)) = split.min_by_key(|(at, ..)| *at) else {
            return Err(format!(
                "'{text}' is neither an expectation of the scenario nor of the form NAME <= VALUE, such as \
                 'dropped frames = 0'"
            ));
        };
        let name = found(plan, name)?;
        let (unit, _) = kind_of(&name, &plan.expectations);
        let Some(quantity) = Quantity::of(unit) else {
            return Err(format!("'{name}' is an outcome; runs that do not finish never count"));
        };
        let expected = quantity.parse(value).map_err(|reason| format!("{text}: {reason}"))?;
        // Measured times are in seconds.
        let expected = if quantity == Quantity::Time { expected / 1e12 } else { expected };
        Ok(Condition { name, text: text.trim().to_owned(), comparison, expected, tolerance: 0.0 })
    }

    fn of(name: String, expectation: &Expectation) -> Result<Condition, String> {
        let Some(expected) = &expectation.expected else {
            return Err(format!("the expectation '{name}' has no value; give it one, or write '{name} <= VALUE'"));
        };
        let Some(number) = expected.as_number() else {
            return Err(format!("the expectation '{name}' is an outcome; runs that do not finish never count"));
        };
        let Expectation { comparison, tolerance, .. } = *expectation;
        let sign = COMPARISONS.iter().find(|(_, known)| *known == comparison).map_or("=", |(sign, _)| sign);
        let text = format!("{name} {sign} {expected}");
        Ok(Condition { name, text, comparison, expected: number, tolerance })
    }

    /// Returns by how much a value violates the condition, relative to its bound; 0 if it meets it.
    fn violation(&self, value: Option<f64>) -> f64 {
        let Some(value) = value else { return MISSING };
        if self.comparison.holds(value, self.expected, self.tolerance) {
            return 0.0;
        }
        let scale = if self.expected == 0.0 { 1.0 } else { self.expected.abs() };
        // A value at a bound that it must not reach violates it, too.
        ((value - self.expected).abs() / scale).max(f64::EPSILON)
    }
}

/// Returns how a candidate stands with its runs. Every run must finish and meet every condition.
#[must_use]
pub fn standing(goals: &[Goal], conditions: &[Condition], result: &PointResult) -> Standing {
    let mut violation = 0.0;
    for sample in &result.samples {
        violation += if sample.outcome == "finished" { 0.0 } else { MISSING };
        let of = |condition: &Condition| condition.violation(sample.values.get(&condition.name).copied());
        violation += conditions.iter().map(of).sum::<f64>();
        violation += goals.iter().filter(|goal| !sample.values.contains_key(&goal.name)).count() as f64 * MISSING;
    }
    let means: Option<Vec<f64>> = goals
        .iter()
        .map(|goal| goal.summary(result).map(|summary| if goal.maximise { -summary.mean } else { summary.mean }))
        .collect();
    match means {
        Some(means) if violation == 0.0 => Standing::Sound(means),
        _ => Standing::Violates(violation / result.samples.len().max(1) as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{GridPoint, Sample};
    use scenario::{Limits, NoFiles, load_str};

    fn plan() -> Plan {
        let text = r#"
            schema_version = 1
            [network]
            topology = "single-switch"
            hosts = 3
            link = { rate = "10Gb/s", latency = "500ns" }
            [[switches]]
            buffers = { capacity = "200KB" }
            [[workloads]]
            name = "incast"
            kind = "greedy"
            from = ["h1", "h2"]
            to = "h0"
            [run]
            duration = "100us"
            [[expectations]]
            name = "the queue"
            metric = "queue"
            of = "sw0->h0"
            op = "<"
            value = "100KB"
        "#;
        load_str("a.toml", text, &[], &NoFiles, Limits::default()).unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn runs(values: &[(&str, f64)], outcomes: &[&str]) -> PointResult {
        let sample = |outcome: &&str| Sample {
            point: 0,
            seed: 1,
            outcome: (*outcome).to_owned(),
            fingerprint: 0,
            values: values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        };
        PointResult {
            point: GridPoint::default(),
            expectations: Vec::new(),
            samples: outcomes.iter().map(sample).collect(),
        }
    }

    #[test]
    fn goals_and_conditions_are_found_by_name() {
        let plan = plan();
        let goal = Goal::parse(&plan, "incast: throughput", true).unwrap();
        assert_eq!((goal.name.as_str(), goal.unit), ("incast: throughput (b/s)", Unit::Rate));
        assert!(Goal::parse(&plan, "incast: troughput", false).unwrap_err().contains("did you mean"));
        let condition = Condition::parse(&plan, "the queue").unwrap();
        assert_eq!((condition.text.as_str(), condition.expected), ("the queue < 100KB", 1e5));
        let condition = Condition::parse(&plan, "incast: completion time <= 1.5ms").unwrap();
        assert_eq!((condition.comparison, condition.expected), (Comparison::AtMost, 1.5e-3));
        assert!(Condition::parse(&plan, "incast: completion time <= 1.5KB").unwrap_err().contains("is a size"));
        assert!(Condition::parse(&plan, "something").unwrap_err().contains("NAME <= VALUE"));
    }

    #[test]
    fn every_run_must_finish_and_meet_every_condition() {
        let plan = plan();
        let goals = [Goal::parse(&plan, "pause frames", false).unwrap()];
        let conditions = [Condition::parse(&plan, "dropped frames = 0").unwrap()];
        let stands = |values: &[(&str, f64)], outcomes: &[&str]| standing(&goals, &conditions, &runs(values, outcomes));
        let sound = [("pause frames", 7.0), ("dropped frames", 0.0)];
        assert_eq!(stands(&sound, &["finished", "finished"]), Standing::Sound(vec![7.0]));
        assert_eq!(stands(&sound, &["finished", "deadlock"]), Standing::Violates(5.0));
        assert_eq!(stands(&[("pause frames", 7.0), ("dropped frames", 2.0)], &["finished"]), Standing::Violates(2.0));
        assert_eq!(stands(&[("dropped frames", 0.0)], &["finished"]), Standing::Violates(10.0));
    }
}
