//! What a paper says of several figures together, judged seed by seed and under every reading of what is open.

use super::doubt::{Votes, doubt};
use super::figure::{Alternative, FigureStudy};
use super::grid::PointResult;
use super::statistics::{Summary, summarise};
use super::verdict::{Verdict, nearly_all};
use crate::scenario::{Against, FigureNames, Matrix, Sentence, Statistic};
use std::collections::BTreeSet;

/// A figure that has been run.
#[derive(Clone, Copy, Debug)]
pub struct FigureRuns<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its cells and readings.
    pub study: &'a FigureStudy,
    /// What came of them.
    pub results: &'a [PointResult],
}

/// What became of a sentence.
#[derive(Clone, Debug)]
pub struct SentenceFinding {
    /// The figures it was judged by.
    pub figures: Vec<String>,
    /// The number, over the seeds; `None` if there is none.
    pub measured: Option<Summary>,
    /// The verdict under our own reading.
    pub own: Verdict,
    /// What our own runs say of it.
    pub votes: Votes,
    /// The other readings that lead to another verdict, with that verdict.
    pub flips: Vec<(Alternative, Verdict)>,
    /// The verdict.
    pub verdict: Verdict,
}

impl SentenceFinding {
    /// Why nothing is determined; `None` if something is.
    #[must_use]
    pub fn doubt(&self) -> Option<String> {
        let flips: Vec<(&Alternative, Verdict)> = self.flips.iter().map(|(one, verdict)| (one, *verdict)).collect();
        doubt(self.own, self.votes, &flips)
    }
}

/// A table of variants by figures.
#[derive(Clone, Debug)]
pub struct MatrixTable {
    /// Its columns.
    pub figures: Vec<String>,
    /// Its rows: a variant, and what was measured in each figure.
    pub rows: Vec<(String, Vec<Option<Summary>>)>,
}

impl FigureRuns<'_> {
    /// Whether any of its runs measured that.
    fn measures(&self, quantity: &str) -> bool {
        let has = |result: &PointResult| result.samples.iter().any(|sample| sample.values.contains_key(quantity));
        self.study.own().iter().any(|&point| has(&self.results[point]))
    }

    /// The number of a variant with a seed, a mean where a figure has further axes.
    fn number(&self, reading: &[usize], variant: &str, quantity: &str, seed: u64) -> Option<f64> {
        let of_variant = reading.iter().map(|&point| &self.results[point]);
        let mut numbers = Vec::new();
        for result in of_variant.filter(|result| Sentence::is_of(&result.point.cell(), variant)) {
            let sample = result.samples.iter().find(|sample| sample.seed == seed)?;
            numbers.push(*sample.values.get(quantity)?);
        }
        Statistic::Mean.of(numbers)
    }
}

/// The readings that any figure has.
fn readings(figures: &[FigureRuns<'_>]) -> Vec<Alternative> {
    let mut all: Vec<Alternative> = Vec::new();
    for alternative in figures.iter().flat_map(|figure| &figure.study.alternatives) {
        if !all.contains(alternative) {
            all.push(alternative.clone());
        }
    }
    all
}

fn chosen<'a, 'f>(figures: &'f [FigureRuns<'a>], names: &FigureNames, quantity: &str) -> Vec<&'f FigureRuns<'a>> {
    figures.iter().filter(|figure| names.holds(figure.name) && figure.measures(quantity)).collect()
}

/// Judges a sentence by figures that have been run.
#[must_use]
pub fn judge_sentence(sentence: &Sentence, figures: &[FigureRuns<'_>]) -> SentenceFinding {
    let about = chosen(figures, &sentence.figures, &sentence.quantity);
    let seeds: BTreeSet<u64> =
        about.iter().flat_map(|f| f.results.iter().flat_map(|r| r.samples.iter().map(|sample| sample.seed))).collect();
    let under = |alternative: Option<&Alternative>| {
        let number = |seed: u64, variant: &str| {
            let of_figure = |figure: &&FigureRuns<'_>| {
                figure.number(figure.study.under(alternative), variant, &sentence.quantity, seed)
            };
            let numbers: Option<Vec<f64>> = about.iter().map(of_figure).collect();
            sentence.statistic.of(numbers?)
        };
        let compared = |&seed: &u64| {
            let own = number(seed, &sentence.of)?;
            let others: Option<Vec<f64>> =
                sentence.over.iter().filter(|name| **name != sentence.of).map(|name| number(seed, name)).collect();
            let others = others?;
            match sentence.against {
                Against::Nothing => Some(own),
                Against::Ratio => Some(own / Statistic::Mean.of(others)?).filter(|ratio| ratio.is_finite()),
                Against::Difference => Some(own - Statistic::Mean.of(others)?),
                Against::FromTop => Some(1.0 + others.iter().filter(|&&other| other > own).count() as f64),
                Against::FromBottom => Some(1.0 + others.iter().filter(|&&other| other < own).count() as f64),
            }
        };
        let values: Vec<f64> = seeds.iter().filter_map(compared).collect();
        let kept = values.iter().filter(|&&value| sentence.comparison.holds(value, sentence.value, 0.0)).count();
        let verdict = match values.len() {
            0 => Verdict::Undetermined,
            runs if !nearly_all(runs, seeds.len()) => Verdict::Undetermined,
            runs => Verdict::of_share(kept, runs),
        };
        let votes = Votes { kept, measured: values.len(), censored: 0, runs: seeds.len() };
        (summarise(&values), verdict, votes)
    };
    let (measured, own, votes) = under(None);
    let others = readings(figures);
    let flips: Vec<(Alternative, Verdict)> = others
        .into_iter()
        .filter(|alternative| about.iter().any(|figure| figure.study.alternatives.contains(alternative)))
        .map(|alternative| (under(Some(&alternative)).1, alternative))
        .filter(|(verdict, _)| !verdict.like(own))
        .map(|(verdict, alternative)| (alternative, verdict))
        .collect();
    SentenceFinding {
        figures: about.iter().map(|figure| figure.name.to_owned()).collect(),
        measured,
        own,
        votes,
        verdict: if flips.is_empty() { own } else { Verdict::Undetermined },
        flips,
    }
}

/// Fills a table of variants by figures, under our own reading.
#[must_use]
pub fn fill_matrix(matrix: &Matrix, figures: &[FigureRuns<'_>]) -> MatrixTable {
    let about = chosen(figures, &matrix.figures, &matrix.quantity);
    let mut variants: Vec<String> = Vec::new();
    for figure in &about {
        for &point in figure.study.own() {
            let cell = figure.results[point].point.cell();
            let name = cell.into_iter().find(|(axis, _)| axis == crate::scenario::VARIANT).map(|(_, name)| name);
            if let Some(name) = name.filter(|name| !variants.contains(name)) {
                variants.push(name);
            }
        }
    }
    let row = |variant: String| {
        let cell = |figure: &&FigureRuns<'_>| {
            let seeds: BTreeSet<u64> =
                figure.results.iter().flat_map(|result| result.samples.iter().map(|sample| sample.seed)).collect();
            let own = figure.study.own();
            let number = |&seed: &u64| figure.number(own, &variant, &matrix.quantity, seed);
            summarise(&seeds.iter().filter_map(number).collect::<Vec<f64>>())
        };
        let cells = about.iter().map(cell).collect();
        (variant, cells)
    };
    MatrixTable {
        figures: about.iter().map(|figure| figure.name.to_owned()).collect(),
        rows: variants.into_iter().map(row).collect(),
    }
}
