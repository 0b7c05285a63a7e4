//! Comparison of several runs with an expectation.
//!
//! A paper's number is one run; ours are a distribution. An equality agrees if the expected value lies between the 10th
//! and the 90th percentile of our runs, or if our median lies within the stated tolerance of it. Runs that ended before
//! the measured event have only a lower bound: a percentile counts only if it was measured. An inequality is a trend:
//! it agrees if at least nine of ten runs meet it, disagrees if at most one of ten does, and is undetermined otherwise.
//! If more than one run in ten has no value, for example because a flow did not complete, the verdict is undetermined:
//! the runs with a value may be the exception.

use super::undetermined::Votes;
use crate::measure::measures::{Measures, measured};
use crate::measure::statistics::{Summary, summarise};
use scenario::{Comparison, Expectation, Expected, Plan, VARIANT};

/// The verdict of several runs on an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The number is met.
    Agrees,
    /// The number is not met.
    Disagrees,
    /// The trend is met.
    TrendAgrees,
    /// The runs differ, or nothing was measured.
    Undetermined,
    /// Nothing was expected; the value is only reported.
    Measured,
}

impl Verdict {
    /// Returns the name of the verdict.
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

    /// Returns the verdict of that name.
    #[must_use]
    pub fn named(word: &str) -> Option<Verdict> {
        use Verdict::{Agrees, Disagrees, Measured, TrendAgrees, Undetermined};
        [Agrees, Disagrees, TrendAgrees, Undetermined, Measured].into_iter().find(|verdict| verdict.word() == word)
    }

    /// Returns the verdict on a property that `kept` of `runs` runs have: nearly all, hardly any, or neither.
    #[must_use]
    pub fn of_share(kept: usize, runs: usize) -> Verdict {
        match kept as f64 / runs as f64 {
            share if share >= 0.9 => Verdict::TrendAgrees,
            share if share <= 0.1 => Verdict::Disagrees,
            _ => Verdict::Undetermined,
        }
    }

    /// Returns whether two verdicts are equivalent; an agreeing number is equivalent to an agreeing trend.
    #[must_use]
    pub fn like(self, other: Verdict) -> bool {
        let class = |verdict| match verdict {
            Verdict::TrendAgrees => Verdict::Agrees,
            other => other,
        };
        class(self) == class(other)
    }
}

/// An expectation and its verdict.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The expectation.
    pub expectation: Expectation,
    /// Measured values over the runs; `None` for an outcome, or if nothing was measured.
    pub summary: Option<Summary>,
    /// Outcomes of the runs.
    pub outcomes: Vec<String>,
    /// Counts of the runs.
    pub votes: Votes,
    /// The verdict.
    pub verdict: Verdict,
}

/// Returns whether enough runs have a value: nine of ten.
pub(super) fn nearly_all(measured: usize, runs: usize) -> bool {
    measured * 10 >= runs * 9
}

/// Judges one expectation by runs.
#[must_use]
pub fn judge(expectation: &Expectation, runs: &[Measures]) -> Judgement {
    let outcomes = runs.iter().map(|measures| measures.outcome.to_owned()).collect();
    let values: Vec<f64> = runs.iter().filter_map(|measures| measured(expectation, measures)).collect();
    judge_values(expectation, &values, outcomes)
}

/// Judges a single run by all that its scenario expects. Expectations of other cells of a grid are measured and not judged.
#[must_use]
pub fn judge_run(plan: &Plan, measures: &Measures) -> Vec<Judgement> {
    let cell: Vec<(String, String)> =
        plan.figure.variant.iter().map(|name| (VARIANT.to_owned(), name.clone())).collect();
    let mut expectations = plan.expectations.clone();
    for (expectation, within) in expectations.iter_mut().zip(&plan.figure.judged_in) {
        if !within.holds(&cell) {
            expectation.expected = None;
        }
    }
    expectations.iter().map(|expectation| judge(expectation, std::slice::from_ref(measures))).collect()
}

/// Judges one expectation by the measured values and outcomes of runs.
#[must_use]
pub fn judge_values(expectation: &Expectation, values: &[f64], outcomes: Vec<String>) -> Judgement {
    let summary = summarise(values);
    let Expectation { comparison, tolerance, .. } = *expectation;
    let votes = match &expectation.expected {
        Some(Expected::Outcome(expected)) => {
            let kept = outcomes.iter().filter(|outcome| *outcome == expected).count();
            Votes { kept, measured: outcomes.len(), censored: 0, runs: outcomes.len() }
        }
        expected => {
            let number = expected.as_ref().and_then(Expected::as_number).unwrap_or(f64::NAN);
            let kept = values.iter().filter(|&&value| comparison.holds(value, number, tolerance)).count();
            let censored = values.iter().filter(|&&value| expectation.outlasts(value)).count();
            Votes { kept, measured: values.len(), censored, runs: outcomes.len() }
        }
    };
    let verdict = match (&expectation.expected, summary) {
        (None, _) => Verdict::Measured,
        (Some(Expected::Outcome(_)), _) => match votes.kept {
            0 => Verdict::Disagrees,
            all if all == votes.runs => Verdict::Agrees,
            _ => Verdict::Undetermined,
        },
        (Some(_), _) if !nearly_all(votes.measured, votes.runs) => Verdict::Undetermined,
        (Some(_), None) => Verdict::Undetermined,
        (Some(_), Some(_)) if comparison != Comparison::Equal => Verdict::of_share(votes.kept, votes.measured),
        (Some(expected), Some(summary)) => {
            expected.as_number().map_or(Verdict::Undetermined, |number| equality(expectation, values, &summary, number))
        }
    };
    Judgement { expectation: expectation.clone(), summary, outcomes, votes, verdict }
}

/// Returns whether the runs agree with an expected number.
fn equality(expectation: &Expectation, values: &[f64], summary: &Summary, expected: f64) -> Verdict {
    let near = expectation.comparison.holds(summary.median, expected, expectation.tolerance);
    if expectation.outlasts(summary.median) {
        // It takes longer than that; whether it would take that long nobody has seen.
        return if near || expected > summary.median { Verdict::Undetermined } else { Verdict::Disagrees };
    }
    // Interpolated between two runs, a percentile is measured if the later one is.
    let upper = ninetieth(values).filter(|&value| !expectation.outlasts(value));
    let within = values.len() > 1 && upper.is_some() && (summary.p10..=summary.p90).contains(&expected);
    if within || near { Verdict::Agrees } else { Verdict::Disagrees }
}

/// Returns the larger of the two values between which the 90th percentile lies.
fn ninetieth(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get((0.9 * sorted.len().checked_sub(1)? as f64).ceil() as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Metric, Statistic, Subjects, Window};
    use units::{Rate, Span};

    fn expectation(comparison: Comparison, gigabits: u64) -> Expectation {
        Expectation {
            name: "f1".into(),
            number: 0,
            metric: Metric::Throughput,
            subjects: Subjects { flows: vec![0], ..Subjects::default() },
            window: Window { from: Span::ZERO, until: Span::from_millis(1) },
            statistic: Statistic::Mean,
            across: scenario::Across::Most,
            around: None,
            comparison,
            expected: Some(Expected::Rate(Rate::from_gigabits(gigabits))),
            tolerance: 0.05,
            quiet: Span::ZERO,
            within: 0.0,
            level: units::Bytes::ZERO,
            source: None,
            statement: None,
            stated_at: String::new(),
        }
    }

    fn runs(gigabits: &[f64]) -> Vec<Measures> {
        let run = |&rate: &f64| Measures {
            flows: crate::measure::flow_measures::MeasuredFlows::default(),
            unstarted: crate::measure::waiting::Unstarted::default(),
            collectives: Vec::new(),
            requests: Vec::new(),
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
    fn runs_that_never_settle_do_not_make_a_number_agree() {
        // Settling within 100 ms, seen from the last quarter on.
        let settles = Expectation {
            metric: Metric::SettlingTime,
            window: Window { from: Span::from_millis(50), until: Span::from_millis(150) },
            expected: Some(Expected::Time(Span::from_millis(30))),
            tolerance: 0.25,
            ..expectation(Comparison::Equal, 2)
        };
        let judged = |millis: &[f64]| {
            let values: Vec<f64> = millis.iter().map(|millis| millis / 1e3).collect();
            judge_values(&settles, &values, vec!["finished".into(); values.len()])
        };
        // 30 ms lies between the percentiles only because two runs never settle.
        let early = [25.0, 28.0, 38.0, 38.5, 39.0, 39.0, 40.0, 41.0];
        assert_eq!(judged(&[&early[..], &[99.9, 100.0]].concat()).verdict, Verdict::Disagrees);
        // Between percentiles that were measured it agrees, and one such run in twenty does not hurt.
        let wide = [20.0, 25.0, 38.0, 38.5, 39.0, 39.0, 40.0, 41.0, 60.0, 70.0];
        assert_eq!(judged(&wide).verdict, Verdict::Agrees);
        assert_eq!(judged(&[&wide[..], &wide[..9], &[100.0]].concat()).verdict, Verdict::Agrees);
        // A median that was not measured is later than 30 ms, and not known to be 90 ms.
        let never = [80.0, 90.0, 100.0];
        assert_eq!(judged(&never).verdict, Verdict::Disagrees);
        assert_eq!(judged(&never).votes.censored, 3);
        let later = Expectation { expected: Some(Expected::Time(Span::from_millis(92))), ..settles.clone() };
        let values = never.map(|millis| millis / 1e3);
        assert_eq!(judge_values(&later, &values, vec!["finished".into(); 3]).verdict, Verdict::Undetermined);
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
