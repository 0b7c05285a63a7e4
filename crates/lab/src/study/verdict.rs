//! Several runs held against what was expected.
//!
//! A paper's number is one run; ours are a distribution. An equality agrees when the expected value lies between the
//! tenth and the ninetieth percentile of our runs, or when our median lies within the stated tolerance of it. An
//! inequality is a trend: it agrees when at least nine runs of ten keep it, disagrees when at most one in ten does, and is
//! undetermined in between. Where more than one run in ten has no number at all, because a flow did not complete, say,
//! nothing is determined: those that have one may be the exception.

use super::measure::{Measures, measured};
use super::statistics::{Summary, summarise};
use crate::scenario::{Comparison, Expectation, Expected};

/// What several runs say of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The number is met.
    Agrees,
    /// The number is not met.
    Disagrees,
    /// The trend is seen.
    TrendAgrees,
    /// It depends on the run, or nothing was measured.
    Undetermined,
    /// Nothing was expected: it is only shown.
    Measured,
}

impl Verdict {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Disagrees => "disagrees",
            Verdict::TrendAgrees => "trend agrees",
            Verdict::Undetermined => "undetermined",
            Verdict::Measured => "measured",
        }
    }

    /// The verdict on something that a share of the runs keeps: nearly all, hardly any, or neither.
    #[must_use]
    pub fn of_share(kept: usize, runs: usize) -> Verdict {
        match kept as f64 / runs as f64 {
            share if share >= 0.9 => Verdict::TrendAgrees,
            share if share <= 0.1 => Verdict::Disagrees,
            _ => Verdict::Undetermined,
        }
    }

    /// Whether two verdicts come to the same, a number that agrees and a trend that does.
    #[must_use]
    pub fn like(self, other: Verdict) -> bool {
        let class = |verdict| match verdict {
            Verdict::TrendAgrees => Verdict::Agrees,
            other => other,
        };
        class(self) == class(other)
    }
}

/// An expectation and what became of it.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// What was expected.
    pub expectation: Expectation,
    /// What was measured, over the runs; `None` for an outcome or if there was nothing to measure.
    pub summary: Option<Summary>,
    /// How the runs ended.
    pub outcomes: Vec<String>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Whether so many runs of all are enough to speak for them: nine of ten.
pub(super) fn nearly_all(measured: usize, runs: usize) -> bool {
    measured * 10 >= runs * 9
}

/// Judges one expectation by some runs.
#[must_use]
pub fn judge(expectation: &Expectation, runs: &[Measures]) -> Judgement {
    let outcomes = runs.iter().map(|measures| measures.outcome.to_owned()).collect();
    let values: Vec<f64> = runs.iter().filter_map(|measures| measured(expectation, measures)).collect();
    judge_values(expectation, &values, outcomes)
}

/// Judges one expectation by what was measured in some runs and how they ended.
#[must_use]
pub fn judge_values(expectation: &Expectation, values: &[f64], outcomes: Vec<String>) -> Judgement {
    let summary = summarise(values);
    let verdict = match (&expectation.expected, summary) {
        (None, _) => Verdict::Measured,
        (Some(Expected::Outcome(expected)), _) => {
            match outcomes.iter().filter(|outcome| *outcome == expected).count() {
                0 => Verdict::Disagrees,
                all if all == outcomes.len() => Verdict::Agrees,
                _ => Verdict::Undetermined,
            }
        }
        (Some(_), _) if !nearly_all(values.len(), outcomes.len()) => Verdict::Undetermined,
        (Some(expected), Some(summary)) => {
            expected.as_number().map_or(Verdict::Undetermined, |number| verdict(expectation, values, &summary, number))
        }
        (Some(_), None) => Verdict::Undetermined,
    };
    Judgement { expectation: expectation.clone(), summary, outcomes, verdict }
}

fn verdict(expectation: &Expectation, values: &[f64], summary: &Summary, expected: f64) -> Verdict {
    let Expectation { comparison, tolerance, .. } = *expectation;
    if comparison == Comparison::Equal {
        let within = values.len() > 1 && (summary.p10..=summary.p90).contains(&expected);
        return if within || comparison.holds(summary.median, expected, tolerance) {
            Verdict::Agrees
        } else {
            Verdict::Disagrees
        };
    }
    let kept = values.iter().filter(|&&value| comparison.holds(value, expected, tolerance)).count();
    Verdict::of_share(kept, values.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Metric, Statistic, Subjects, Window};
    use units::{Rate, Span};

    fn expectation(comparison: Comparison, gigabits: u64) -> Expectation {
        Expectation {
            name: "f1".into(),
            number: 0,
            metric: Metric::Throughput,
            subjects: Subjects { flows: vec![0], ..Subjects::default() },
            window: Window { from: Span::ZERO, until: Span::from_millis(1) },
            statistic: Statistic::Mean,
            around: None,
            comparison,
            expected: Some(Expected::Rate(Rate::from_gigabits(gigabits))),
            tolerance: 0.05,
            quiet: Span::ZERO,
            within: 0.0,
            level: units::Bytes::ZERO,
            source: None,
            stated_at: String::new(),
        }
    }

    fn runs(gigabits: &[f64]) -> Vec<Measures> {
        let run = |&rate: &f64| Measures {
            throughput: vec![rate * 1e9],
            raw_throughput: vec![rate * 1e9],
            delivered: vec![0],
            completion: vec![None],
            values: vec![Some(rate * 1e9)],
            totals: fabric::Totals::default(),
            outcome: "finished",
        };
        gigabits.iter().map(run).collect()
    }

    #[test]
    fn a_number_agrees_within_the_runs_or_the_tolerance() {
        let equal = expectation(Comparison::Equal, 2);
        assert_eq!(judge(&equal, &runs(&[2.05])).verdict, Verdict::Agrees);
        assert_eq!(judge(&equal, &runs(&[2.2])).verdict, Verdict::Disagrees);
        assert_eq!(judge(&equal, &runs(&[1.0, 1.5, 3.0, 3.5])).verdict, Verdict::Agrees);
        assert_eq!(judge(&equal, &runs(&[2.5, 2.6, 2.7])).verdict, Verdict::Disagrees);
        assert_eq!(judge(&equal, &runs(&[])).verdict, Verdict::Undetermined);
        let nothing = Expectation { expected: None, ..equal };
        assert_eq!(judge(&nothing, &runs(&[2.0])).verdict, Verdict::Measured);
    }

    #[test]
    fn a_trend_needs_nearly_all_runs() {
        let above = expectation(Comparison::Above, 2);
        assert_eq!(judge(&above, &runs(&[2.1, 3.0, 4.0])).verdict, Verdict::TrendAgrees);
        assert_eq!(judge(&above, &runs(&[2.1, 1.0, 4.0])).verdict, Verdict::Undetermined);
        assert_eq!(judge(&above, &runs(&[1.1, 1.0, 1.9])).verdict, Verdict::Disagrees);
    }

    #[test]
    fn a_few_runs_do_not_speak_for_those_without_a_number() {
        let below = expectation(Comparison::Below, 2);
        let outcomes = |runs: usize| vec!["finished".to_owned(); runs];
        assert_eq!(judge_values(&below, &[1e9], outcomes(2)).verdict, Verdict::Undetermined);
        assert_eq!(judge_values(&below, &[1e9; 8], outcomes(10)).verdict, Verdict::Undetermined);
        assert_eq!(judge_values(&below, &[1e9; 9], outcomes(10)).verdict, Verdict::TrendAgrees);
        let equal = expectation(Comparison::Equal, 2);
        assert_eq!(judge_values(&equal, &[2e9], outcomes(3)).verdict, Verdict::Undetermined);
        assert_eq!(judge_values(&equal, &[2e9], outcomes(1)).verdict, Verdict::Agrees);
    }

    #[test]
    fn what_is_not_expected_is_not_judged() {
        let shown = Expectation { expected: None, ..expectation(Comparison::Equal, 2) };
        let judgement = judge(&shown, &runs(&[1.0, 3.0]));
        assert_eq!((judgement.verdict, judgement.summary.map(|s| s.mean)), (Verdict::Measured, Some(2e9)));
        let outcome = Expectation { metric: Metric::Outcome, ..shown };
        assert_eq!(judge(&outcome, &runs(&[1.0])).verdict, Verdict::Measured);
    }
}
