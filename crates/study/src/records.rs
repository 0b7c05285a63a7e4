//! Judgements and summaries as documents hold them.

use super::statistics::Summary;
use super::verdict::Judgement;
use results::document::{self, Spread, SpreadWithInterval};
use scenario::{Comparison, Expectation, Expected, Plan};
use std::collections::BTreeMap;

/// How a comparison is written.
#[must_use]
pub const fn symbol(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::Below => "<",
        Comparison::AtMost => "<=",
        Comparison::Above => ">",
        Comparison::AtLeast => ">=",
    }
}

impl From<&Summary> for Spread {
    fn from(s: &Summary) -> Spread {
        Spread { runs: s.count, mean: s.mean, median: s.median, p10: s.p10, p90: s.p90 }
    }
}

impl From<&Summary> for SpreadWithInterval {
    fn from(s: &Summary) -> SpreadWithInterval {
        SpreadWithInterval {
            spread: s.into(),
            half_width_95: s.half_width.is_finite().then_some(s.half_width),
            low_95: s.interval.map(|interval| interval.low),
            high_95: s.interval.map(|interval| interval.high),
        }
    }
}

/// A judgement as documents hold it.
#[must_use]
pub fn judgement_record(judgement: &Judgement) -> document::Judgement {
    let Expectation { name, expected, comparison, tolerance, source, .. } = &judgement.expectation;
    document::Judgement {
        name: name.clone(),
        comparison: expected.as_ref().map(|_| symbol(*comparison).to_owned()),
        expected: expected.as_ref().map(ToString::to_string),
        expected_value: expected.as_ref().and_then(Expected::as_number),
        tolerance: Some(*tolerance),
        unit: judgement.expectation.unit().word().to_owned(),
        measured: judgement.summary.as_ref().map(Spread::from),
        outcomes: judgement.outcomes.clone(),
        verdict: judgement.verdict.word().to_owned(),
        source: source.clone(),
    }
}

/// The units of a plan's quantities, by name.
pub(crate) fn units_of(plan: &Plan) -> BTreeMap<String, String> {
    let units = plan.expectations.iter().map(|expectation| expectation.unit().word().to_owned());
    super::grid::quantity_keys(&plan.expectations).into_iter().zip(units).collect()
}
