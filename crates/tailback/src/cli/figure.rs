//! What is said of a figure: what was measured in its cells, and the verdict on all that the paper states.

use super::console;
use super::count::{self, Count};
use super::exit::{Exit, Unwritten};
use super::run::{ended, found, judgement_json, shown, wanted};
use results::{COMMIT, Kind, VERSION};
use scenario::{Metric, Plan, Shape, Trend, Unit};
use serde_json::{Map, Value, json};
use std::path::Path;
use study::{
    Alternative, CellSummary, Evidence, FigureRuns, FigureStudy, Finding, Line, PointResult, Subject, Summary,
    TrendJudgement, Verdict, statements,
};

/// A figure that has been judged.
pub struct Judged {
    study: FigureStudy,
    /// What was measured, cell by cell.
    pub cells: Vec<CellSummary>,
    findings: Vec<Finding>,
    /// What they are evidence for.
    pub evidence: Vec<Evidence>,
    results: Vec<PointResult>,
    /// All of it for programs.
    pub json: Value,
}

/// A cell in a few words: a variant by its name, a key by the last part of its path.
pub fn short(cell: &[(String, String)]) -> String {
    let one = |(axis, value): &(String, String)| match axis.rsplit('.').next() {
        _ if axis == scenario::VARIANT => value.clone(),
        Some(last) => format!("{last} {value}"),
        None => value.clone(),
    };
    cell.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Judged {
    /// Judges a figure by its runs.
    pub fn new(
        plan: &Plan,
        study: FigureStudy,
        results: Vec<PointResult>,
        seeds: &[u64],
        (paper, figure, out): (&str, &str, &Path),
        short_form: bool,
    ) -> Judged {
        let (cells, findings) = (study.cells(plan, &results), study.judge(plan, &results));
        let numbers = findings.iter().filter(|finding| matches!(finding.subject, Subject::Number { .. }));
        let trends = findings.iter().filter(|finding| matches!(finding.subject, Subject::Trend { .. }));
        let evidence: Vec<Evidence> = findings.iter().map(|finding| evidence(figure, finding)).collect();
        let count = Count::new(&statements(&evidence), short_form);
        let units = plan.expectations.iter().map(|expectation| json!(expectation.unit().word()));
        let units: Map<String, Value> = study::quantity_keys(&plan.expectations).into_iter().zip(units).collect();
        let json = json!({
            "paper": paper,
            "figure": figure,
            "title": plan.name,
            "program": { "version": VERSION, "commit": COMMIT },
            "simulated": plan.run.duration.to_string(),
            "units": units,
            "seeds": seeds,
            "cells": cells.iter().map(|cell| cell_json(plan, cell)).collect::<Vec<_>>(),
            "choices": plan.figure.choices.iter().map(choice_json).collect::<Vec<_>>(),
            "numbers": numbers.map(|finding| finding_json(figure, finding, &study)).collect::<Vec<_>>(),
            "trends": trends.map(|finding| finding_json(figure, finding, &study)).collect::<Vec<_>>(),
            "count": count.json(),
            "results": out,
        });
        Judged { study, cells, findings, evidence, results, json }
    }

    /// Its runs, for what is said of several figures.
    pub fn runs<'a>(&'a self, name: &'a str) -> FigureRuns<'a> {
        FigureRuns { name, study: &self.study, results: &self.results }
    }

    /// The tables for people.
    pub fn text(&self, plan: &Plan, short_form: bool) -> String {
        let mut text = String::new();
        if self.cells.len() > 1 || plan.expectations.iter().any(|expectation| expectation.expected.is_none()) {
            text.push_str(&self.cell_table(plan));
            let cut = |row: &CellSummary| row.quantities.iter().flatten().any(|s| s.interval.is_some_and(|it| it.cut));
            let cut = if self.cells.iter().any(cut) { format!("; {}", console::CUT) } else { String::new() };
            text.push_str(&format!("median ± half the 95 % confidence interval of the mean, over the seeds{cut}\n\n"));
        }
        if !self.findings.is_empty() {
            text.push_str(&self.verdict_table());
            text.push_str(&Count::new(&statements(&self.evidence), short_form).text());
        }
        text
    }

    fn cell_table(&self, plan: &Plan) -> String {
        let axes = self.cells.first().map(|row| row.cell.iter().map(|(axis, _)| axis.as_str())).into_iter().flatten();
        let numbers = || plan.expectations.iter().enumerate().filter(|(_, e)| e.metric != Metric::Outcome);
        let head: Vec<&str> =
            axes.chain(["outcome"]).chain(numbers().map(|(_, expectation)| expectation.name.as_str())).collect();
        let number = |unit: Unit, summary: &Option<Summary>| match summary {
            None => "nothing".into(),
            Some(s) => console::with_interval(s.median, s, |value| shown(unit, value)),
        };
        let row = |row: &CellSummary| {
            let values = row.cell.iter().map(|(_, value)| value.clone()).chain([ended(&row.outcomes)]);
            values.chain(numbers().map(|(place, e)| number(e.unit(), &row.quantities[place]))).collect()
        };
        console::table(&head, &self.cells.iter().map(row).collect::<Vec<_>>())
    }

    fn verdict_table(&self) -> String {
        // Columns that say nothing are left out.
        let (several, open) = (self.cells.len() > 1, !self.study.alternatives.is_empty());
        let pick = |columns: [String; 7]| -> Vec<String> {
            let shown = [true, several, true, true, true, open, true];
            columns.into_iter().zip(shown).filter(|(_, shown)| *shown).map(|(column, _)| column).collect()
        };
        let row = |finding: &Finding| {
            let (place, wanted, found) = match &finding.subject {
                Subject::Number { cell, judgement } => (short(cell), wanted(&judgement.expectation), found(judgement)),
                Subject::Trend { trend, unit, judgement } => {
                    (scope(trend), course(trend), seen(trend, judgement, *unit))
                }
            };
            let source = finding.subject.source().unwrap_or_default().to_owned();
            let (name, choices) = (finding.subject.name().to_owned(), choices_text(finding, &self.study));
            pick([name, place, wanted, found, verdict_text(finding, &self.study), choices, source])
        };
        let head =
            pick(["what", "where", "expected", "measured", "verdict", "choices", "stated in"].map(str::to_owned));
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        console::table(&head, &self.findings.iter().map(row).collect::<Vec<_>>())
    }

    /// How the figure ends the program: a run that lost frames or stood still is no success unless the figure says that
    /// it does.
    pub fn ending(&self) -> Exit {
        if self.findings.iter().any(|finding| finding.verdict == Verdict::Disagrees) {
            return Exit::Disagreement;
        }
        let spoken_of = |row: &&CellSummary| {
            self.findings.iter().any(|finding| match &finding.subject {
                Subject::Number { cell, judgement } => {
                    judgement.expectation.metric == Metric::Outcome && *cell == row.cell
                }
                Subject::Trend { .. } => false,
            })
        };
        let outcomes = || self.cells.iter().filter(|row| !spoken_of(row)).flat_map(|row| row.outcomes.iter());
        match () {
            () if outcomes().any(|outcome| outcome == "loss") => Exit::Loss,
            () if outcomes().any(|outcome| outcome == "deadlock" || outcome == "stalled") => Exit::Deadlock,
            () if outcomes().any(|outcome| outcome == "limit") => Exit::Limit,
            () => Exit::Success,
        }
    }

    /// The figure's row in the summary of its paper: its statements and how many measurements they have.
    pub fn tally(&self, name: &str) -> Vec<String> {
        count::row(name, &statements(&self.evidence))
    }

    /// Writes `verdicts.json`.
    pub fn keep(&self, out: &Path) -> Result<(), Unwritten> {
        let ours = Kind::Json(&["figure", "cells", "numbers", "trends"]);
        Ok(ours.write(&out.join("verdicts.json"), false, format!("{:#}\n", self.json))?)
    }
}

/// The cells a trend is about.
fn scope(trend: &Trend) -> String {
    let limit = |(axis, values): &(String, Vec<String>)| short(&[(axis.clone(), values.join(", "))]);
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
    let Some(line) = judgement.lines.iter().min_by_key(|line| line.kept) else { return "nothing".into() };
    let seeds = format!("kept by {} of {}", judgement.kept, judgement.runs);
    if matches!(trend.shape, Shape::Above | Shape::Below) {
        let all = || judgement.lines.iter().flat_map(|line| line.medians.iter().filter_map(|(_, median)| *median));
        let ends = (all().reduce(f64::min), all().reduce(f64::max));
        return match ends {
            (Some(low), Some(high)) if low < high => {
                format!("{} to {} ({seeds})", shown(unit, low), shown(unit, high))
            }
            (Some(low), _) => format!("{} ({seeds})", shown(unit, low)),
            _ => "nothing".into(),
        };
    }
    let median = |(_, value): &(String, Option<f64>)| value.map_or("nothing".into(), |value| shown(unit, value));
    let medians: Vec<String> = line.medians.iter().map(median).collect();
    let which = match judgement.lines.len() {
        1 => String::new(),
        lines => format!("; {lines} lines, this at {}", short(&line.held)),
    };
    format!("{} ({seeds}{which})", medians.join(", "))
}

fn verdict_text(finding: &Finding, study: &FigureStudy) -> String {
    match finding.doubt(study) {
        None => finding.verdict.word().to_owned(),
        Some(reason) => format!("{} ({reason})", finding.verdict.word()),
    }
}

fn choices_text(finding: &Finding, study: &FigureStudy) -> String {
    let other = |(Alternative { choice, value }, verdict): (&Alternative, Verdict)| {
        format!("{choice} = {value}: {}", verdict.word())
    };
    let flips: Vec<String> = finding.flips(study).map(other).collect();
    if flips.is_empty() { "same under all choices".into() } else { flips.join("; ") }
}

fn cell_json(plan: &Plan, row: &CellSummary) -> Value {
    let values: Map<String, Value> = row.cell.iter().map(|(axis, value)| (axis.clone(), json!(value))).collect();
    let summary = |s: &Summary| {
        let half_width = s.half_width.is_finite().then_some(s.half_width);
        let (low, high) = (s.interval.map(|it| it.low), s.interval.map(|it| it.high));
        json!({
            "runs": s.count, "median": s.median, "mean": s.mean, "half_width_95": half_width, "low_95": low, "high_95": high,
            "p10": s.p10, "p90": s.p90,
        })
    };
    let quantities: Map<String, Value> = study::quantity_keys(&plan.expectations)
        .into_iter()
        .zip(row.quantities.iter().map(|quantity| json!(quantity.as_ref().map(summary))))
        .collect();
    json!({ "values": values, "outcomes": row.outcomes, "quantities": quantities })
}

fn choice_json(choice: &scenario::OpenChoice) -> Value {
    let values: Vec<&str> = choice.options.iter().map(|option| option.label.as_str()).collect();
    let set = choice.options.iter().flat_map(|option| &option.set);
    let mut paths: Vec<&str> = set.filter_map(|text| text.split_once('=').map(|(path, _)| path)).collect();
    paths.dedup();
    json!({ "name": choice.name, "path": paths.join(", "), "values": values, "why": choice.why })
}

/// What a finding is evidence for.
fn evidence(figure: &str, finding: &Finding) -> Evidence {
    let subject = &finding.subject;
    Evidence::new(figure, subject.name(), subject.source(), subject.statement(), finding.verdict)
}

fn finding_json(figure: &str, finding: &Finding, study: &FigureStudy) -> Value {
    let cells = |cell: &[(String, String)]| -> Map<String, Value> {
        cell.iter().map(|(axis, value)| (axis.clone(), json!(value))).collect()
    };
    let mut value = match &finding.subject {
        Subject::Number { cell, judgement } => {
            let mut value = judgement_json(judgement);
            value["cell"] = json!(cells(cell));
            value
        }
        Subject::Trend { trend, judgement, unit } => {
            let line = |line: &Line| {
                let medians: Vec<Value> =
                    line.medians.iter().map(|(at, median)| json!({ "at": at, "median": median })).collect();
                json!({ "cell": cells(&line.held), "kept": line.kept, "medians": medians })
            };
            json!({
                "name": trend.name,
                "unit": unit.word(),
                "shape": trend.shape.word(),
                "value": trend.value.as_ref().map(ToString::to_string),
                "along": trend.along,
                "tolerance": trend.tolerance,
                "where": trend.within.0.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
                "runs": judgement.runs,
                "kept": judgement.kept,
                "lines": judgement.lines.iter().map(line).collect::<Vec<_>>(),
                "source": trend.source,
            })
        }
    };
    let under = study.alternatives.iter().zip(&finding.under).map(|(Alternative { choice, value }, verdict)| {
        json!({ "choice": choice, "value": value, "verdict": verdict.word() })
    });
    let Evidence { statement, own, .. } = evidence(figure, finding);
    value["statement"] = json!(statement);
    value["ours"] = json!(own);
    value["verdict"] = json!(finding.verdict.word());
    value["reason"] = json!(finding.doubt(study));
    value["verdict_as_we_read_it"] = json!(finding.subject.verdict().word());
    value["under_other_choices"] = json!(under.collect::<Vec<_>>());
    value
}
