//! What a paper says of all its figures together, in words.

use super::console;
use super::run::shown;
use results::document::PaperSummary;
use scenario::{Against, Sentence, Unit};
use std::fmt::Write;
use study::{Counts, MatrixTable, SentenceFinding, Summary as Spread, SummedUp, Verdict, statements, symbol};

/// For people.
pub fn text(summed_up: &SummedUp<'_>) -> String {
    let mut text = String::new();
    for (title, unit, table) in &summed_up.matrices {
        let _ = write!(text, "{title}\n{}\n", matrix_text(table, *unit));
    }
    if !summed_up.sentences.is_empty() {
        let row = |(sentence, unit, finding): &(&Sentence, Unit, SentenceFinding)| {
            vec![
                format!("{}: {}", sentence.of, sentence.says),
                sentence.measure.clone(),
                bounds(sentence, *unit),
                spread(sentence, *unit, finding.measured.as_ref()),
                verdict_text(finding),
            ]
        };
        let rows: Vec<Vec<String>> = summed_up.sentences.iter().map(row).collect();
        let head = ["statement", "measure", "expected", "measured", "verdict"];
        text.push_str(&console::table(&head, &rows));
        let counts = Counts::of(statements(&summed_up.evidence).iter().map(|one| one.verdict));
        let Counts { agree, disagree, undetermined } = counts;
        let short = if summed_up.short_form { " in the short form" } else { "" };
        let _ = writeln!(text, "sentences{short}: {agree} agree, {disagree} disagree, {undetermined} undetermined");
    }
    text
}

/// For programs.
pub fn document(summed_up: &SummedUp<'_>) -> PaperSummary {
    summed_up.document(bounds, spread)
}

/// A number of a sentence, with its unit if it still has one.
fn amount(sentence: &Sentence, unit: Unit, value: f64) -> String {
    match sentence.against {
        Against::Nothing if sentence.over_figures.is_some() => format!("{value:.3} times"),
        Against::Nothing => shown(unit, value),
        Against::Difference if value >= 0.0 => shown(unit, value),
        Against::Difference => format!("-{}", shown(unit, -value)),
        Against::Ratio => format!("{value:.3} times"),
        Against::FromTop | Against::FromBottom | Against::Place => format!("place {value:.0}"),
        Against::Count | Against::BetterUnder => format!("{value:.0} of {}", sentence.over.len()),
        Against::OrderKept => shown(Unit::Number, value),
    }
}

/// What a sentence expects, from one side or from both.
fn bounds(sentence: &Sentence, unit: Unit) -> String {
    let least = bound(sentence, unit, sentence.value);
    match sentence.most {
        None => format!("{} {least}", symbol(sentence.comparison)),
        Some(most) => format!("{least} to {}", bound(sentence, unit, most)),
    }
}

/// A bound of a sentence, without digits that nobody stated.
fn bound(sentence: &Sentence, unit: Unit, value: f64) -> String {
    let text = amount(sentence, unit, value);
    let (number, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
    if !number.contains('.') {
        return text;
    }
    format!("{}{rest}", number.trim_end_matches('0').trim_end_matches('.'))
}

fn spread(sentence: &Sentence, unit: Unit, measured: Option<&Spread>) -> String {
    let Some(measured) = measured else { return "not measured".into() };
    let amount = |value: f64| amount(sentence, unit, value);
    if measured.p10 == measured.p90 {
        return amount(measured.median);
    }
    format!("{} ({} to {})", amount(measured.median), amount(measured.p10), amount(measured.p90))
}

fn verdict_text(finding: &SentenceFinding) -> String {
    let flip = |(alternative, verdict): &(study::Alternative, Verdict)| {
        format!("{} = {}: {}", alternative.choice, alternative.value, verdict.word())
    };
    let reason = finding.doubt().into_iter();
    // What another reading leads to is said beside what ours does.
    let own =
        (!finding.flips.is_empty() && finding.own != Verdict::Undetermined).then(|| finding.own.word().to_owned());
    let more: Vec<String> = reason.chain(own).chain(finding.flips.iter().map(flip)).collect();
    match more.as_slice() {
        [] => finding.verdict.word().to_owned(),
        more => format!("{} ({})", finding.verdict.word(), more.join("; ")),
    }
}

fn matrix_text(table: &MatrixTable, unit: Unit) -> String {
    let head: Vec<&str> = std::iter::once("").chain(table.figures.iter().map(String::as_str)).collect();
    let cell = |cell: &Option<Spread>| cell.as_ref().map_or("-".into(), |cell| shown(unit, cell.median));
    let row = |(name, cells): &(String, Vec<Option<Spread>>)| {
        std::iter::once(name.clone()).chain(cells.iter().map(cell)).collect::<Vec<_>>()
    };
    console::table(&head, &table.rows.iter().map(row).collect::<Vec<_>>())
}
