//! The expected and the measured value of a sentence as text.

use super::documents::symbol;
use crate::measure::statistics::Summary;
use scenario::{Against, Sentence, Unit};

/// Formats a number of a sentence, with its unit if it still has one.
fn amount(sentence: &Sentence, unit: Unit, value: f64) -> String {
    match sentence.against {
        Against::Nothing if sentence.over_figures.is_some() => format!("{value:.3} times"),
        Against::Nothing => unit.shown(value),
        Against::Difference if value >= 0.0 => unit.shown(value),
        Against::Difference => format!("-{}", unit.shown(-value)),
        Against::Ratio => format!("{value:.3} times"),
        Against::FromTop | Against::FromBottom | Against::Rank => format!("rank {value:.0}"),
        Against::Count | Against::BetterUnder => format!("{value:.0} of {}", sentence.over.len()),
        Against::OrderKept => Unit::Number.shown(value),
    }
}

/// Returns the expected value of a sentence: one bound, or a range.
#[must_use]
pub fn expected_text(sentence: &Sentence, unit: Unit) -> String {
    let least = bound(sentence, unit, sentence.value);
    match sentence.most {
        None => format!("{} {least}", symbol(sentence.comparison)),
        Some(most) => format!("{least} to {}", bound(sentence, unit, most)),
    }
}

/// Formats a bound without digits that nobody stated.
fn bound(sentence: &Sentence, unit: Unit, value: f64) -> String {
    let text = amount(sentence, unit, value);
    let (number, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
    if !number.contains('.') {
        return text;
    }
    format!("{}{rest}", number.trim_end_matches('0').trim_end_matches('.'))
}

/// Returns the measured value of a sentence: the median, and the 10th and 90th percentiles where they differ.
#[must_use]
pub fn measured_text(sentence: &Sentence, unit: Unit, measured: Option<&Summary>) -> String {
    let Some(measured) = measured else { return "not measured".into() };
    let amount = |value: f64| amount(sentence, unit, value);
    if measured.p10 == measured.p90 {
        return amount(measured.median);
    }
    format!("{} ({} to {})", amount(measured.median), amount(measured.p10), amount(measured.p90))
}
