//! A figure of a paper: its cells, run under the default and other readings of the paper, and the verdicts on its
//! statements.

use crate::grid::points::{GridPoint, PointResult, quantity_keys};
use crate::judge::trend::{CellRuns, TrendJudgement, judge_trend};
use crate::judge::undetermined::{Votes, doubt};
use crate::judge::verdict::{Judgement, Verdict, judge_values};
use crate::measure::statistics::{Summary, summarise_within};
use scenario::{OpenChoice, Plan, Trend, Unit};

/// A value of an open choice other than the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Name of the choice.
    pub choice: String,
    /// The value, as written by a user.
    pub value: String,
}

/// The runs of a figure.
#[derive(Clone, Debug)]
pub struct FigureStudy {
    /// All cells under all readings, each once. The cells of the default reading come first, in the order of the axes.
    pub points: Vec<GridPoint>,
    /// The other readings.
    pub alternatives: Vec<Alternative>,
    /// The point of every cell, for the default reading and then for each alternative.
    layout: Vec<Vec<usize>>,
}

/// A statement of the paper and its judgement.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A number in one cell.
    Number {
        /// The cell.
        cell: Vec<(String, String)>,
        /// The judgement of our runs.
        judgement: Box<Judgement>,
    },
    /// A trend over several cells.
    Trend {
        /// The trend stated in the paper.
        trend: Trend,
        /// Unit of the quantity.
        unit: Unit,
        /// The judgement of our runs.
        judgement: TrendJudgement,
    },
}

/// A verdict under all readings.
#[derive(Clone, Debug)]
pub struct FigureFinding {
    /// The statement of the paper, judged under the default reading.
    pub subject: Subject,
    /// The verdict under each alternative.
    pub under: Vec<Verdict>,
    /// The verdict: undetermined if another reading leads to another one.
    pub verdict: Verdict,
}

impl FigureFinding {
    fn new(subject: Subject, under: Vec<Verdict>) -> FigureFinding {
        let own = subject.verdict();
        let steady = under.iter().all(|other| own.like(*other));
        FigureFinding { subject, under, verdict: if steady { own } else { Verdict::Undetermined } }
    }

    /// Returns the alternatives that lead to another verdict, with that verdict.
    pub fn flips<'a>(&'a self, study: &'a FigureStudy) -> impl Iterator<Item = (&'a Alternative, Verdict)> {
        let own = self.subject.verdict();
        study.alternatives.iter().zip(self.under.iter().copied()).filter(move |(_, verdict)| !own.like(*verdict))
    }

    /// Returns the reason for an undetermined verdict; `None` if it is determined.
    #[must_use]
    pub fn doubt(&self, study: &FigureStudy) -> Option<String> {
        doubt(self.subject.verdict(), self.subject.votes(), &self.flips(study).collect::<Vec<_>>())
    }
}

impl Subject {
    /// Returns the verdict under the default reading.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            Subject::Number { judgement, .. } => judgement.verdict,
            Subject::Trend { judgement, .. } => judgement.verdict,
        }
    }

    /// Returns the counts of the runs under the default reading.
    #[must_use]
    pub fn votes(&self) -> Votes {
        match self {
            Subject::Number { judgement, .. } => judgement.votes,
            Subject::Trend { judgement: TrendJudgement { kept, runs, seeds, .. }, .. } => {
                Votes { kept: *kept, measured: *runs, censored: 0, runs: *seeds }
            }
        }
    }

    /// Returns the name of the number or trend.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Subject::Number { judgement, .. } => &judgement.expectation.name,
            Subject::Trend { trend, .. } => &trend.name,
        }
    }

    /// Returns the source in the paper.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        match self {
            Subject::Number { judgement, .. } => judgement.expectation.source.as_deref(),
            Subject::Trend { trend, .. } => trend.source.as_deref(),
        }
    }

    /// Returns the statement that it is evidence for, if it has a name.
    #[must_use]
    pub fn statement(&self) -> Option<&str> {
        match self {
            Subject::Number { judgement, .. } => judgement.expectation.statement.as_deref(),
            Subject::Trend { trend, .. } => trend.statement.as_deref(),
        }
    }
}

/// One row of the table of cells.
#[derive(Clone, Debug)]
pub struct CellSummary {
    /// The axes and their values.
    pub cell: Vec<(String, String)>,
    /// Outcomes of the runs.
    pub outcomes: Vec<String>,
    /// Measured values for every expectation; `None` if nothing was measured.
    pub quantities: Vec<Option<Summary>>,
}

impl FigureStudy {
    /// Creates the cells of a plan, with or without alternatives for open choices.
    #[must_use]
    pub fn new(plan: &Plan, with_choices: bool) -> FigureStudy {
        let cells = GridPoint::all(&plan.axes());
        let choices = &plan.figure.choices;
        let mut alternatives = Vec::new();
        let mut readings = vec![vec![0; choices.len()]];
        for (number, choice) in choices.iter().enumerate().filter(|_| with_choices) {
            for (value, option) in choice.options.iter().enumerate().skip(1) {
                let mut reading = vec![0; choices.len()];
                reading[number] = value;
                readings.push(reading);
                alternatives.push(Alternative { choice: choice.name.clone(), value: option.label.clone() });
            }
        }
        let mut points: Vec<GridPoint> = Vec::new();
        let mut layout = Vec::new();
        for reading in &readings {
            let mut place = |cell: &GridPoint| {
                let point = GridPoint { beneath: chosen(choices, reading, cell), ..cell.clone() };
                points.iter().position(|known| *known == point).unwrap_or_else(|| {
                    points.push(point);
                    points.len() - 1
                })
            };
            layout.push(cells.iter().map(&mut place).collect());
        }
        FigureStudy { points, alternatives, layout }
    }

    /// Returns the points of the default reading, one per cell.
    #[must_use]
    pub fn own(&self) -> &[usize] {
        self.layout.first().map_or(&[], Vec::as_slice)
    }

    /// Returns the points of one reading, one per cell; those of the default reading if the figure does not have that
    /// alternative.
    #[must_use]
    pub fn under(&self, alternative: Option<&Alternative>) -> &[usize] {
        let place = alternative.and_then(|one| self.alternatives.iter().position(|known| known == one));
        self.layout.get(place.map_or(0, |place| place + 1)).map_or(&[], Vec::as_slice)
    }

    /// Returns the measurements of every cell under the default reading.
    #[must_use]
    pub fn cells(&self, plan: &Plan, results: &[PointResult]) -> Vec<CellSummary> {
        let keys = quantity_keys(&plan.expectations);
        let row = |&point: &usize| {
            let result = &results[point];
            let values = |key: &String| values_of(result, key);
            CellSummary {
                cell: result.point.cell(),
                outcomes: result.samples.iter().map(|sample| sample.outcome.clone()).collect(),
                quantities: keys
                    .iter()
                    .zip(&plan.expectations)
                    .map(|(key, expectation)| summarise_within(&values(key), expectation.bounds()))
                    .collect(),
            }
        };
        self.own().iter().map(row).collect()
    }

    /// Judges all statements about the figure: every number in every cell it is stated for, and every trend.
    #[must_use]
    pub fn judge(&self, plan: &Plan, results: &[PointResult]) -> Vec<FigureFinding> {
        let keys = quantity_keys(&plan.expectations);
        let mut findings = Vec::new();
        for (number, key) in keys.iter().enumerate() {
            let within = plan.figure.judged_in.get(number);
            for place in 0..self.own().len() {
                let cell = results[self.own()[place]].point.cell();
                let judge = |reading: &Vec<usize>| {
                    let result = &results[reading[place]];
                    let outcomes = result.samples.iter().map(|sample| sample.outcome.clone()).collect();
                    let expectation = result.expectations.get(number)?;
                    Some(judge_values(expectation, &values_of(result, key), outcomes))
                };
                let judged: Option<Vec<Judgement>> = self.layout.iter().map(judge).collect();
                let Some(mut judged) = judged.filter(|_| within.is_none_or(|within| within.holds(&cell))) else {
                    continue;
                };
                let under = judged.split_off(1).iter().map(|judgement| judgement.verdict).collect();
                let own = judged.pop().filter(|judgement| judgement.verdict != Verdict::Measured);
                findings.extend(own.map(|judgement| {
                    FigureFinding::new(Subject::Number { cell, judgement: Box::new(judgement) }, under)
                }));
            }
        }
        for trend in &plan.figure.trends {
            let judge = |reading: &Vec<usize>| {
                let runs =
                    |&point: &usize| CellRuns { cell: results[point].point.cell(), samples: &results[point].samples };
                let cells: Vec<CellRuns<'_>> = reading.iter().map(runs).collect();
                judge_trend(trend, &keys[trend.quantity], &cells)
            };
            let mut judged: Vec<TrendJudgement> = self.layout.iter().map(judge).collect();
            let under = judged.split_off(1).iter().map(|judgement| judgement.verdict).collect();
            let unit = plan.expectations[trend.quantity].unit();
            let own = judged.pop().map(|judgement| Subject::Trend { trend: trend.clone(), unit, judgement });
            findings.extend(own.map(|subject| FigureFinding::new(subject, under)));
        }
        findings
    }
}

/// Returns the overrides that apply a reading to a cell.
fn chosen(choices: &[OpenChoice], reading: &[usize], cell: &GridPoint) -> Vec<String> {
    let cell = cell.cell();
    let each = choices.iter().zip(reading).filter(|(choice, _)| choice.within.holds(&cell));
    each.flat_map(|(choice, &value)| choice.options[value].set.iter().cloned()).collect()
}

fn values_of(result: &PointResult, key: &str) -> Vec<f64> {
    result.samples.iter().filter_map(|sample| sample.values.get(key).copied()).collect()
}
