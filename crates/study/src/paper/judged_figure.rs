//! A figure that was run and judged, and its document.

use super::figure::{Alternative, CellSummary, FigureFinding, FigureStudy, Subject};
use crate::grid::points::{PointResult, quantity_keys};
use crate::judge::count::count_statements;
use crate::judge::documents::{judgement_record, units_of};
use crate::judge::sentence::FigureRuns;
use crate::judge::statement::{Evidence, statements};
use crate::judge::trend::Line;
use crate::judge::verdict::Verdict;
use results::document::{
    Choice, Figure, FigureCell, JudgementRecord, NumberFinding, Program, Ruling, TrendFinding, TrendLine, TrendMedian,
    UnderChoice,
};
use results::{COMMIT, VERSION};
use scenario::{Metric, OpenChoice, Plan, VARIANT};
use std::collections::BTreeMap;

/// A figure that was judged.
#[derive(Debug)]
pub struct JudgedFigure {
    /// Cells and readings.
    pub study: FigureStudy,
    /// Measurements, by cell.
    pub cells: Vec<CellSummary>,
    /// Findings on the statements of the paper.
    pub findings: Vec<FigureFinding>,
    /// The findings as evidence for statements.
    pub evidence: Vec<Evidence>,
    /// Runs of the figure.
    results: Vec<PointResult>,
    /// The document of the figure; [`super::FigureRunner::run`] adds its recorded runs and its charts.
    pub document: Figure,
}

/// The overall result of a figure's runs, apart from the paper's statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureEnding {
    /// All runs ended as expected.
    Sound,
    /// A number or trend disagrees with the paper.
    Disagrees,
    /// A run lost frames of a lossless class.
    Loss,
    /// A run deadlocked, stalled or ended in a livelock.
    Deadlock,
    /// A run reached a limit.
    Limit,
}

/// Abbreviates a cell: variants by name, keys by the last part of their path.
#[must_use]
pub fn short_cell(cell: &[(String, String)]) -> String {
    let one = |(axis, value): &(String, String)| match axis.rsplit('.').next() {
        _ if axis == VARIANT => value.clone(),
        Some(last) => format!("{last} {value}"),
        None => value.clone(),
    };
    cell.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl JudgedFigure {
    /// Judges a figure by its runs.
    #[must_use]
    pub fn new(
        plan: &Plan,
        study: FigureStudy,
        results: Vec<PointResult>,
        seeds: &[u64],
        (paper, figure): (&str, &str),
        short_form: bool,
    ) -> JudgedFigure {
        let (cells, findings) = (study.cells(plan, &results), study.judge(plan, &results));
        let evidence: Vec<Evidence> = findings.iter().map(|finding| evidence(figure, finding)).collect();
        let document = Figure {
            paper: paper.to_owned(),
            figure: figure.to_owned(),
            title: plan.name.clone(),
            program: Program { version: VERSION.into(), commit: COMMIT.map(str::to_owned) },
            simulated: plan.run.duration.to_string(),
            units: units_of(plan),
            seeds: seeds.to_vec(),
            cells: cells.iter().map(|cell| cell_record(plan, cell)).collect(),
            choices: plan.figure.choices.iter().map(choice_record).collect(),
            numbers: findings.iter().filter_map(|finding| number_record(figure, finding, &study)).collect(),
            trends: findings.iter().filter_map(|finding| trend_record(figure, finding, &study)).collect(),
            count: count_statements(&statements(&evidence), short_form),
            runs: Vec::new(),
            charts: Vec::new(),
        };
        JudgedFigure { study, cells, findings, evidence, results, document }
    }

    /// Returns the runs of the figure, for statements about several figures.
    #[must_use]
    pub fn runs<'a>(&'a self, name: &'a str) -> FigureRuns<'a> {
        FigureRuns { name, study: &self.study, results: &self.results }
    }

    /// Returns the overall result. Runs that lost frames, deadlocked, stalled or ended in a livelock are failures unless the figure expects
    /// it.
    #[must_use]
    pub fn ending(&self) -> FigureEnding {
        if self.findings.iter().any(|finding| finding.verdict == Verdict::Disagrees) {
            return FigureEnding::Disagrees;
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
            () if outcomes().any(|outcome| outcome == "loss") => FigureEnding::Loss,
            () if outcomes().any(|outcome| ["deadlock", "stalled", "livelock"].contains(&outcome.as_str())) => {
                FigureEnding::Deadlock
            }
            () if outcomes().any(|outcome| outcome == "limit") => FigureEnding::Limit,
            () => FigureEnding::Sound,
        }
    }
}

fn map(cell: &[(String, String)]) -> BTreeMap<String, String> {
    cell.iter().cloned().collect()
}

fn cell_record(plan: &Plan, row: &CellSummary) -> FigureCell {
    let quantities = row.quantities.iter().map(|quantity| quantity.as_ref().map(Into::into));
    FigureCell {
        values: map(&row.cell),
        outcomes: row.outcomes.clone(),
        quantities: quantity_keys(&plan.expectations).into_iter().zip(quantities).collect(),
    }
}

fn choice_record(choice: &OpenChoice) -> Choice {
    let set = choice.options.iter().flat_map(|option| &option.set);
    let mut paths: Vec<&str> = set.filter_map(|text| text.split_once('=').map(|(path, _)| path)).collect();
    paths.dedup();
    Choice {
        name: choice.name.clone(),
        path: paths.join(", "),
        values: choice.options.iter().map(|option| option.label.clone()).collect(),
        why: choice.why.clone(),
    }
}

/// Returns a finding as evidence for a statement.
fn evidence(figure: &str, finding: &FigureFinding) -> Evidence {
    let subject = &finding.subject;
    Evidence::new(figure, subject.name(), subject.source(), subject.statement(), finding.verdict)
}

fn ruling(figure: &str, finding: &FigureFinding, study: &FigureStudy) -> Ruling {
    let under = study.alternatives.iter().zip(&finding.under).map(|(Alternative { choice, value }, verdict)| {
        UnderChoice { choice: choice.clone(), value: value.clone(), verdict: verdict.word().to_owned() }
    });
    let Evidence { statement, own, .. } = evidence(figure, finding);
    Ruling {
        statement,
        ours: own,
        reason: finding.doubt(study),
        verdict_as_we_read_it: finding.subject.verdict().word().to_owned(),
        under_other_choices: under.collect(),
    }
}

fn number_record(figure: &str, finding: &FigureFinding, study: &FigureStudy) -> Option<NumberFinding> {
    let Subject::Number { cell, judgement } = &finding.subject else { return None };
    Some(NumberFinding {
        cell: map(cell),
        judgement: JudgementRecord { verdict: finding.verdict.word().to_owned(), ..judgement_record(judgement) },
        ruling: ruling(figure, finding, study),
    })
}

fn trend_record(figure: &str, finding: &FigureFinding, study: &FigureStudy) -> Option<TrendFinding> {
    let Subject::Trend { trend, judgement, unit } = &finding.subject else { return None };
    let line = |line: &Line| {
        let median = |(at, median): &(String, Option<f64>)| TrendMedian { at: at.clone(), median: *median };
        TrendLine { cell: map(&line.held), kept: line.kept, medians: line.medians.iter().map(median).collect() }
    };
    Some(TrendFinding {
        name: trend.name.clone(),
        unit: unit.word().to_owned(),
        shape: trend.shape.word().to_owned(),
        value: trend.value.as_ref().map(ToString::to_string),
        along: trend.along.clone(),
        tolerance: trend.tolerance,
        within: trend.within.0.iter().cloned().collect(),
        runs: judgement.runs,
        kept: judgement.kept,
        lines: judgement.lines.iter().map(line).collect(),
        source: trend.source.clone(),
        verdict: finding.verdict.word().to_owned(),
        ruling: ruling(figure, finding, study),
    })
}
