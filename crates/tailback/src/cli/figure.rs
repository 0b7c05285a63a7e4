//! What is said of a figure: what was measured in its cells, and the verdict on all that the paper states.

use super::console;
use super::count;
use super::exit::Exit;
use super::run::{ended, found, wanted};
use scenario::{Metric, Plan, Shape, Trend, Unit};
use study::{
    Alternative, CellSummary, FigureEnding, FigureFinding, FigureStudy, JudgedFigure, Subject, Summary, TrendJudgement,
    Verdict, short_cell,
};

/// How a figure ends the program.
pub fn ending(judged: &JudgedFigure) -> Exit {
    match judged.ending() {
        FigureEnding::Sound => Exit::Success,
        FigureEnding::Disagrees => Exit::Disagreement,
        FigureEnding::Loss => Exit::Loss,
        FigureEnding::Deadlock => Exit::Deadlock,
        FigureEnding::Limit => Exit::Limit,
    }
}

/// The tables for people.
pub fn text(judged: &JudgedFigure, plan: &Plan) -> String {
    let mut text = String::new();
    if judged.cells.len() > 1 || plan.expectations.iter().any(|expectation| expectation.expected.is_none()) {
        text.push_str(&cell_table(judged, plan));
        let summaries = judged.cells.iter().flat_map(|row| row.quantities.iter().flatten());
        text.push_str(&console::interval_note("median ± half", "of the mean, over the seeds", summaries));
        text.push('\n');
    }
    if !judged.findings.is_empty() {
        text.push_str(&verdict_table(judged));
        text.push_str(&count::text(&judged.document.count));
    }
    text
}

fn cell_table(judged: &JudgedFigure, plan: &Plan) -> String {
    let axes = judged.cells.first().map(|row| row.cell.iter().map(|(axis, _)| axis.as_str())).into_iter().flatten();
    let numbers = || plan.expectations.iter().enumerate().filter(|(_, e)| e.metric != Metric::Outcome);
    let head: Vec<&str> =
        axes.chain(["outcome"]).chain(numbers().map(|(_, expectation)| expectation.name.as_str())).collect();
    let number = |unit: Unit, summary: &Option<Summary>| match summary {
        None => "not measured".into(),
        Some(s) => console::with_interval(s.median, s, |value| unit.shown(value)),
    };
    let row = |row: &CellSummary| {
        let values = row.cell.iter().map(|(_, value)| value.clone()).chain([ended(&row.outcomes)]);
        values.chain(numbers().map(|(place, e)| number(e.unit(), &row.quantities[place]))).collect()
    };
    console::table(&head, &judged.cells.iter().map(row).collect::<Vec<_>>())
}

fn verdict_table(judged: &JudgedFigure) -> String {
    // Columns that say nothing are left out.
    let (several, open) = (judged.cells.len() > 1, !judged.study.alternatives.is_empty());
    let pick = |columns: [String; 7]| -> Vec<String> {
        let shown = [true, several, true, true, true, open, true];
        columns.into_iter().zip(shown).filter(|(_, shown)| *shown).map(|(column, _)| column).collect()
    };
    let row = |finding: &FigureFinding| {
        let (place, wanted, found) = match &finding.subject {
            Subject::Number { cell, judgement } => (short_cell(cell), wanted(&judgement.expectation), found(judgement)),
            Subject::Trend { trend, unit, judgement } => (scope(trend), course(trend), seen(trend, judgement, *unit)),
        };
        let source = finding.subject.source().unwrap_or_default().to_owned();
        let (name, choices) = (finding.subject.name().to_owned(), choices_text(finding, &judged.study));
        pick([name, place, wanted, found, verdict_text(finding, &judged.study), choices, source])
    };
    let head =
        pick(["quantity", "conditions", "expected", "measured", "verdict", "choices", "source"].map(str::to_owned));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    console::table(&head, &judged.findings.iter().map(row).collect::<Vec<_>>())
}

/// The cells a trend is about.
fn scope(trend: &Trend) -> String {
    let limit = |(axis, values): &(String, Vec<String>)| short_cell(&[(axis.clone(), values.join(", "))]);
    trend.within.0.iter().map(limit).collect::<Vec<_>>().join("; ")
}

/// How a trend should go.
fn course(trend: &Trend) -> String {
    let value = trend.value.as_ref().map(|value| format!(" {value}")).unwrap_or_default();
    let along = trend.along.as_ref().map(|axis| format!(" along {}", axis.rsplit('.').next().unwrap_or(axis)));
    format!("{}{value}{}", trend.shape.word(), along.unwrap_or_default())
}

/// How it went: the medians of the line on which the fewest seeds keep it; of a bound, between which medians all lie.
fn seen(trend: &Trend, judgement: &TrendJudgement, unit: Unit) -> String {
    let Some(line) = judgement.lines.iter().min_by_key(|line| line.kept) else { return "not measured".into() };
    let seeds = format!("holds in {} of {} seeds", judgement.kept, judgement.runs);
    if matches!(trend.shape, Shape::Above | Shape::Below) {
        let all = || judgement.lines.iter().flat_map(|line| line.medians.iter().filter_map(|(_, median)| *median));
        let ends = (all().reduce(f64::min), all().reduce(f64::max));
        return match ends {
            (Some(low), Some(high)) if low < high => {
                format!("{} to {} ({seeds})", unit.shown(low), unit.shown(high))
            }
            (Some(low), _) => format!("{} ({seeds})", unit.shown(low)),
            _ => "not measured".into(),
        };
    }
    let median = |(_, value): &(String, Option<f64>)| value.map_or("not measured".into(), |value| unit.shown(value));
    let medians: Vec<String> = line.medians.iter().map(median).collect();
    let which = match judgement.lines.len() {
        1 => String::new(),
        lines => format!("; worst of {lines} lines: {}", short_cell(&line.held)),
    };
    format!("{} ({seeds}{which})", medians.join(", "))
}

fn verdict_text(finding: &FigureFinding, study: &FigureStudy) -> String {
    match finding.doubt(study) {
        None => finding.verdict.word().to_owned(),
        Some(reason) => format!("{} ({reason})", finding.verdict.word()),
    }
}

fn choices_text(finding: &FigureFinding, study: &FigureStudy) -> String {
    let other = |(Alternative { choice, value }, verdict): (&Alternative, Verdict)| {
        format!("{choice} = {value}: {}", verdict.word())
    };
    let flips: Vec<String> = finding.flips(study).map(other).collect();
    if flips.is_empty() { "same under all choices".into() } else { flips.join("; ") }
}
