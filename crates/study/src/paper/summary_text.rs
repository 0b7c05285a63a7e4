//! What a paper says of all its figures together, in words.

use super::figure::Alternative;
use super::summary::SummedUp;
use crate::judge::Counts;
use crate::judge::sentence::{MatrixTable, SentenceFinding};
use crate::judge::sentence_text::{expected_text, measured_text};
use crate::judge::statement::statements;
use crate::judge::verdict::Verdict;
use crate::measure::statistics::Summary as Spread;
use files::text::table as aligned;
use scenario::{Sentence, Unit};
use std::fmt::Write;

/// Returns matrices and sentences as tables for readers.
pub(crate) fn text(summed_up: &SummedUp<'_>) -> String {
    let mut text = String::new();
    for (title, unit, table) in &summed_up.matrices {
        let _ = write!(text, "{title}\n{}\n", matrix_text(table, *unit));
    }
    if !summed_up.sentences.is_empty() {
        let row = |(sentence, unit, finding): &(&Sentence, Unit, SentenceFinding)| {
            vec![
                format!("{}: {}", sentence.of, sentence.says),
                sentence.measure.clone(),
                expected_text(sentence, *unit),
                measured_text(sentence, *unit, finding.measured.as_ref()),
                verdict_text(finding),
            ]
        };
        let rows: Vec<Vec<String>> = summed_up.sentences.iter().map(row).collect();
        let head = ["statement", "measure", "expected", "measured", "verdict"];
        text.push_str(&aligned(&head, &rows));
        let counts = Counts::of(statements(&summed_up.evidence).iter().map(|one| one.verdict));
        let Counts { agree, disagree, undetermined } = counts;
        let short = if summed_up.short_form { " in the short form" } else { "" };
        let _ = writeln!(text, "sentences{short}: {agree} agree, {disagree} disagree, {undetermined} undetermined");
    }
    text
}

fn verdict_text(finding: &SentenceFinding) -> String {
    let flip = |(alternative, verdict): &(Alternative, Verdict)| {
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
    let cell = |cell: &Option<Spread>| cell.as_ref().map_or("-".into(), |cell| unit.shown(cell.median));
    let row = |(name, cells): &(String, Vec<Option<Spread>>)| {
        std::iter::once(name.clone()).chain(cells.iter().map(cell)).collect::<Vec<_>>()
    };
    aligned(&head, &table.rows.iter().map(row).collect::<Vec<_>>())
}
