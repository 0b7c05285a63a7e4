//! Judgement of a paper's statements about several figures, by seed and under every reading of open choices.

use super::criteria::{Numbers, better, mean_ranks, order_kept};
use super::undetermined::{Votes, doubt};
use super::verdict::{Verdict, nearly_all};
use crate::grid::points::PointResult;
use crate::measure::statistics::{Summary, summarise};
use crate::paper::figure::{Alternative, FigureStudy};
use scenario::{Against, FigureNames, Matrix, OtherQuantity, Sentence, Statistic};
use std::collections::BTreeSet;

/// A figure that was run.
#[derive(Clone, Copy, Debug)]
pub struct FigureRuns<'a> {
    /// Name of the figure.
    pub name: &'a str,
    /// Cells and readings.
    pub study: &'a FigureStudy,
    /// Results of the cells.
    pub results: &'a [PointResult],
}

/// The judgement of a sentence.
#[derive(Clone, Debug)]
pub struct SentenceFinding {
    /// The figures it was judged by.
    pub figures: Vec<String>,
    /// The measured value over the seeds; `None` if there is none.
    pub measured: Option<Summary>,
    /// The verdict under the default reading.
    pub own: Verdict,
    /// Counts of the runs under the default reading.
    pub votes: Votes,
    /// The other readings that lead to another verdict, with that verdict.
    pub flips: Vec<(Alternative, Verdict)>,
    /// The verdict.
    pub verdict: Verdict,
}

impl SentenceFinding {
    /// Returns the reason for an undetermined verdict; `None` if it is determined.
    #[must_use]
    pub fn doubt(&self) -> Option<String> {
        let flips: Vec<(&Alternative, Verdict)> = self.flips.iter().map(|(one, verdict)| (one, *verdict)).collect();
        doubt(self.own, self.votes, &flips)
    }
}

/// A table of variants by figures.
#[derive(Clone, Debug)]
pub struct MatrixTable {
    /// The columns.
    pub figures: Vec<String>,
    /// The rows: a variant, and its measured values by figure.
    pub rows: Vec<(String, Vec<Option<Summary>>)>,
}

impl FigureRuns<'_> {
    /// Returns whether any of its runs measured the quantity.
    fn measures(&self, quantity: &str) -> bool {
        let has = |result: &PointResult| result.samples.iter().any(|sample| sample.values.contains_key(quantity));
        self.study.own().iter().any(|&point| has(&self.results[point]))
    }

    /// Returns the value of a variant with a seed, averaged over any further axes of the figure.
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

/// Returns the readings of all figures.
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

/// A sentence and the figures that it is judged by.
struct Case<'s, 'a, 'f> {
    sentence: &'s Sentence,
    figures: &'f [FigureRuns<'a>],
    seed: u64,
    /// The alternative of an open choice, if it is not the default.
    alternative: Option<&'s Alternative>,
    /// Another quantity, if it is not the sentence's own.
    reading: Option<&'s OtherQuantity>,
}

impl Case<'_, '_, '_> {
    /// Returns the value of a variant, aggregated over figures.
    fn of_figures(&self, names: &FigureNames, variant: &str) -> Option<f64> {
        let own = &self.sentence.quantity;
        let of_figure = |figure: &&FigureRuns<'_>| {
            let other = self.reading.map(|reading| &reading.quantity).filter(|quantity| figure.measures(quantity));
            figure.number(figure.study.under(self.alternative), variant, other.unwrap_or(own), self.seed)
        };
        let numbers: Option<Vec<f64>> = chosen(self.figures, names, own).iter().map(of_figure).collect();
        self.sentence.statistic.of(numbers?)
    }

    fn number(&self, variant: &str) -> Option<f64> {
        let own = self.of_figures(&self.sentence.figures, variant)?;
        match &self.sentence.over_figures {
            None => Some(own),
            Some(over) => Some(own / self.of_figures(over, variant)?).filter(|ratio| ratio.is_finite()),
        }
    }

    /// Returns the values of variants by criterion and figure.
    fn by_criteria(&self, variants: &[&str], alternative: Option<&Alternative>) -> Option<Numbers<'_>> {
        let mut numbers = Vec::new();
        for criterion in &self.sentence.criteria {
            let about = chosen(self.figures, &self.sentence.figures, &criterion.quantity);
            let of_figure = |figure: &&FigureRuns<'_>| {
                let of = |variant: &&str| {
                    figure.number(figure.study.under(alternative), variant, &criterion.quantity, self.seed)
                };
                variants.iter().map(of).collect()
            };
            let figures: Option<Vec<Vec<f64>>> = about.iter().map(of_figure).collect();
            numbers.push((criterion, figures?));
        }
        // What no figure measures has no ranks.
        numbers.retain(|(_, figures)| !figures.is_empty());
        Some(numbers)
    }

    /// Returns the values of all other variants under the default reading, and under the compared alternative.
    fn both_ways(&self) -> Option<(Numbers<'_>, Numbers<'_>)> {
        let (choice, value) = self.sentence.under.clone()?;
        let other = Alternative { choice, value };
        // Without that value there is nothing to compare; with another choice, the two were never changed at once.
        let known = self.figures.iter().any(|figure| figure.study.alternatives.contains(&other));
        let variants: Vec<&str> = self.sentence.over.iter().map(String::as_str).collect();
        if !known || self.alternative.is_some() {
            return None;
        }
        Some((self.by_criteria(&variants, None)?, self.by_criteria(&variants, Some(&other))?))
    }

    /// Returns the value that is compared.
    fn compared(&self) -> Option<f64> {
        let sentence = self.sentence;
        let others = || sentence.over.iter().map(String::as_str).filter(|name| *name != sentence.of);
        let numbers = || -> Option<Vec<f64>> { others().map(|name| self.number(name)).collect() };
        let rank = |ahead: fn(f64, f64) -> bool| -> Option<f64> {
            let own = self.number(&sentence.of)?;
            Some(1.0 + numbers()?.into_iter().filter(|&other| ahead(other, own)).count() as f64)
        };
        match sentence.against {
            Against::Nothing => self.number(&sentence.of),
            Against::Ratio => {
                let ratio = self.number(&sentence.of)? / Statistic::Mean.of(numbers()?)?;
                Some(ratio).filter(|ratio| ratio.is_finite())
            }
            Against::Difference => Some(self.number(&sentence.of)? - Statistic::Mean.of(numbers()?)?),
            Against::FromTop => rank(|other, own| other > own),
            Against::FromBottom => rank(|other, own| other < own),
            Against::Count => {
                Some(numbers()?.into_iter().filter(|&number| number >= sentence.threshold).count() as f64)
            }
            Against::Rank => {
                let variants: Vec<&str> = std::iter::once(sentence.of.as_str()).chain(others()).collect();
                let ranks = mean_ranks(&self.by_criteria(&variants, self.alternative)?)?;
                Some(1.0 + ranks[1..].iter().filter(|&&other| other < ranks[0]).count() as f64)
            }
            Against::BetterUnder => self.both_ways().and_then(|(before, after)| better(&before, &after)),
            Against::OrderKept => self.both_ways().and_then(|(before, after)| order_kept(&before, &after)),
        }
    }
}

/// Judges a sentence by figures that were run.
#[must_use]
pub fn judge_sentence(sentence: &Sentence, figures: &[FigureRuns<'_>]) -> SentenceFinding {
    let is_about = |figure: &&FigureRuns<'_>| {
        let named = sentence.figures.holds(figure.name)
            || sentence.over_figures.as_ref().is_some_and(|names| names.holds(figure.name));
        named && sentence.quantities().any(|quantity| figure.measures(quantity))
    };
    let about: Vec<&FigureRuns<'_>> = figures.iter().filter(is_about).collect();
    let seeds: BTreeSet<u64> =
        about.iter().flat_map(|f| f.results.iter().flat_map(|r| r.samples.iter().map(|sample| sample.seed))).collect();
    let under = |alternative: Option<&Alternative>, reading: Option<&OtherQuantity>| {
        let compared = |&seed: &u64| Case { sentence, figures, seed, alternative, reading }.compared();
        let values: Vec<f64> = seeds.iter().filter_map(compared).collect();
        let kept = values.iter().filter(|&&value| sentence.holds(value)).count();
        let verdict = match values.len() {
            0 => Verdict::Undetermined,
            runs if !nearly_all(runs, seeds.len()) => Verdict::Undetermined,
            runs => Verdict::of_share(kept, runs),
        };
        let votes = Votes { kept, measured: values.len(), censored: 0, runs: seeds.len() };
        (summarise(&values), verdict, votes)
    };
    let (measured, own, votes) = under(None, None);
    // Whether another value of a choice changes anything cannot be asked of a third one: two are never changed at once.
    let others = if sentence.under.is_some() { Vec::new() } else { readings(figures) };
    let of_choices = others
        .into_iter()
        .filter(|alternative| about.iter().any(|figure| figure.study.alternatives.contains(alternative)))
        .map(|alternative| (under(Some(&alternative), None).1, alternative));
    let of_quantities =
        sentence.readings.iter().filter(|reading| about.iter().any(|figure| figure.measures(&reading.quantity))).map(
            |reading| {
                let alternative = Alternative { choice: reading.choice.clone(), value: reading.value.clone() };
                (under(None, Some(reading)).1, alternative)
            },
        );
    let flips: Vec<(Alternative, Verdict)> = of_choices
        .chain(of_quantities)
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

/// Fills a table of variants by figures, under the default reading.
#[must_use]
pub fn fill_matrix(matrix: &Matrix, figures: &[FigureRuns<'_>]) -> MatrixTable {
    let about = chosen(figures, &matrix.figures, &matrix.quantity);
    let mut variants: Vec<String> = Vec::new();
    for figure in &about {
        for &point in figure.study.own() {
            let cell = figure.results[point].point.cell();
            let name = cell.into_iter().find(|(axis, _)| axis == scenario::VARIANT).map(|(_, name)| name);
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
