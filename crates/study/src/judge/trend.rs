//! Trends of a quantity along an axis of a grid, judged by seed.
//!
//! A trend is tested for each seed separately: the values of one seed in all cells are compared with each other, so
//! that differences between seeds do not hide differences between cells. It is then judged as an inequality: nine of
//! ten seeds must follow it, and nine of ten must have a value in every cell for a verdict.

use super::verdict::{Verdict, nearly_all};
use crate::grid::points::Sample;
use crate::measure::statistics::quantile;
use scenario::{Shape, Trend};

/// A cell and its runs.
#[derive(Clone, Debug)]
pub struct CellRuns<'a> {
    /// The axes and their values.
    pub cell: Vec<(String, String)>,
    /// Runs of the cell, one per seed.
    pub samples: &'a [Sample],
}

/// A quantity along an axis, with the other axes fixed.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The fixed axes and their values.
    pub held: Vec<(String, String)>,
    /// Values of the axis, with the median over the seeds.
    pub medians: Vec<(String, Option<f64>)>,
    /// Number of seeds that follow the trend on this line.
    pub kept: usize,
}

/// The judgement of a trend.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendJudgement {
    /// The tested lines.
    pub lines: Vec<Line>,
    /// Number of seeds that follow the trend on all lines.
    pub kept: usize,
    /// Number of seeds with a value in every cell.
    pub runs: usize,
    /// Number of seeds.
    pub seeds: usize,
    /// The verdict.
    pub verdict: Verdict,
}

/// Returns whether values follow a shape. `bound` is the bound of `above` and `below`. The tolerance is a fraction of
/// the largest magnitude among the values.
#[must_use]
pub fn holds(shape: Shape, values: &[f64], tolerance: f64, bound: f64) -> bool {
    let allowed = tolerance * values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let steps = |up: f64| values.windows(2).all(|pair| up * (pair[1] - pair[0]) > 0.0);
    let whole = match values {
        [first, .., last] => last - first,
        _ => 0.0,
    };
    // The farthest that a value lies the wrong way from any before it.
    let back = |up: f64| {
        let mut best = f64::NEG_INFINITY;
        values.iter().fold(0.0, |worst: f64, value| {
            best = best.max(up * value);
            worst.max(best - up * value)
        })
    };
    match shape {
        Shape::Rising => steps(1.0) && whole > allowed,
        Shape::Falling => steps(-1.0) && -whole > allowed,
        Shape::NotFalling => back(1.0) <= allowed,
        Shape::NotRising => back(-1.0) <= allowed,
        Shape::Flat => back(1.0).max(back(-1.0)) <= allowed,
        Shape::Above => values.iter().all(|&value| value > bound),
        Shape::Below => values.iter().all(|&value| value < bound),
    }
}

/// Judges a trend of the named quantity by the runs of all cells.
#[must_use]
pub fn judge_trend(trend: &Trend, quantity: &str, cells: &[CellRuns<'_>]) -> TrendJudgement {
    let groups = lines(trend, cells);
    let bound = trend.value.as_ref().and_then(scenario::Expected::as_number).unwrap_or(f64::NAN);
    let value = |cell: &CellRuns<'_>, seed: u64| {
        cell.samples.iter().find(|sample| sample.seed == seed).and_then(|sample| sample.values.get(quantity).copied())
    };
    let seeds = groups
        .iter()
        .flat_map(|(_, cells)| cells)
        .next()
        .map_or(Vec::new(), |cell| cell.samples.iter().map(|sample| sample.seed).collect());
    let mut kept_on = vec![0; groups.len()];
    let (all_seeds, mut kept, mut runs) = (seeds.len(), 0, 0);
    for seed in seeds {
        let values: Option<Vec<Vec<f64>>> =
            groups.iter().map(|(_, cells)| cells.iter().map(|cell| value(cell, seed)).collect()).collect();
        let Some(values) = values else { continue };
        runs += 1;
        let mut all = true;
        for (count, values) in kept_on.iter_mut().zip(&values) {
            let holds = holds(trend.shape, values, trend.tolerance, bound);
            *count += usize::from(holds);
            all &= holds;
        }
        kept += usize::from(all);
    }
    let line = |((held, cells), kept): (Held<'_, '_>, usize)| {
        let median = |cell: &&CellRuns<'_>| {
            let values: Vec<f64> = cell.samples.iter().filter_map(|s| s.values.get(quantity).copied()).collect();
            (along(trend, cell), quantile(&values, 0.5))
        };
        Line { held, medians: cells.iter().map(median).collect(), kept }
    };
    let lines = groups.into_iter().zip(kept_on).map(line).collect();
    let determined = runs > 0 && nearly_all(runs, all_seeds);
    let verdict = if determined { Verdict::of_share(kept, runs) } else { Verdict::Undetermined };
    TrendJudgement { lines, kept, runs, seeds: all_seeds, verdict }
}

/// Returns the value of a cell on the axis of a trend.
fn along(trend: &Trend, cell: &CellRuns<'_>) -> String {
    let axis = trend.along.as_deref().unwrap_or_default();
    cell.cell.iter().find(|(name, _)| name == axis).map(|(_, value)| value.clone()).unwrap_or_default()
}

/// The fixed axes with their values, and the cells of the line.
type Held<'c, 's> = (Vec<(String, String)>, Vec<&'c CellRuns<'s>>);

/// Returns the lines of a trend, each in the order of `where`, or of the axis if `where` does not define it.
fn lines<'c, 's>(trend: &Trend, cells: &'c [CellRuns<'s>]) -> Vec<Held<'c, 's>> {
    let mut lines: Vec<Held<'_, '_>> = Vec::new();
    for cell in cells.iter().filter(|cell| trend.within.holds(&cell.cell)) {
        let held: Vec<_> = cell.cell.iter().filter(|(name, _)| Some(name) != trend.along.as_ref()).cloned().collect();
        match lines.iter_mut().find(|(known, _)| *known == held) {
            Some((_, line)) => line.push(cell),
            None => lines.push((held, vec![cell])),
        }
    }
    if let Some(order) = trend.along.as_deref().and_then(|axis| trend.within.of(axis)) {
        for (_, line) in &mut lines {
            line.sort_by_key(|cell| order.iter().position(|value| *value == along(trend, cell)));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Expected, Within};

    fn goes(shape: Shape, values: &[f64]) -> bool {
        holds(shape, values, 0.02, 50.0)
    }

    #[test]
    fn rising_and_falling_go_at_every_step_and_in_all() {
        assert!(goes(Shape::Rising, &[10.0, 11.0, 100.0]) && goes(Shape::Falling, &[100.0, 11.0, 10.0]));
        assert!(!goes(Shape::Rising, &[10.0, 10.0, 100.0]) && !goes(Shape::Rising, &[10.0, 9.9, 100.0]));
        // By one in a hundred in all: not more than the tolerance.
        assert!(!goes(Shape::Rising, &[99.0, 99.5, 100.0]) && !goes(Shape::Falling, &[100.0, 99.5, 99.0]));
        assert!(goes(Shape::Rising, &[97.0, 99.5, 100.0]) && !goes(Shape::Falling, &[97.0, 99.5, 100.0]));
        assert!(goes(Shape::Rising, &[-2.0, -1.0]) && goes(Shape::Rising, &[0.0, 1e-9]));
    }

    #[test]
    fn a_step_the_wrong_way_may_be_small_but_small_ones_add_up() {
        assert!(goes(Shape::NotFalling, &[50.0, 100.0, 99.0, 100.0]) && goes(Shape::NotRising, &[100.0, 99.0, 100.0]));
        assert!(!goes(Shape::NotFalling, &[50.0, 100.0, 97.0]) && !goes(Shape::NotRising, &[97.0, 100.0]));
        assert!(!goes(Shape::NotFalling, &[100.0, 99.0, 98.0, 97.0]));
        assert!(goes(Shape::NotFalling, &[0.0, 0.0]) && goes(Shape::NotRising, &[0.0, 0.0]));
    }

    #[test]
    fn flat_above_and_below() {
        assert!(goes(Shape::Flat, &[99.0, 100.0, 98.5]) && !goes(Shape::Flat, &[97.0, 100.0, 98.5]));
        assert!(goes(Shape::Flat, &[0.0, 0.0]));
        assert!(goes(Shape::Above, &[50.1, 80.0]) && !goes(Shape::Above, &[50.0, 80.0]));
        assert!(goes(Shape::Below, &[49.9, 1.0]) && !goes(Shape::Below, &[50.0, 1.0]));
    }

    #[test]
    fn values_that_are_none_keep_nothing() {
        assert!(!goes(Shape::Rising, &[f64::NAN, 1.0]) && !goes(Shape::Above, &[f64::NAN]));
        assert!(!goes(Shape::Rising, &[1.0]) && !goes(Shape::Rising, &[]));
    }

    fn samples(values: &[f64]) -> Vec<Sample> {
        let sample = |(seed, &value): (u64, &f64)| Sample {
            point: 0,
            seed,
            outcome: "finished".into(),
            fingerprint: 0,
            values: [("q".to_owned(), value)].into_iter().filter(|(_, value)| !value.is_nan()).collect(),
        };
        (1..).zip(values).map(sample).collect()
    }

    fn trend(shape: Shape, within: &[(&str, &[&str])]) -> Trend {
        let own = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect::<Vec<String>>();
        Trend {
            name: "t".into(),
            quantity: 0,
            along: Some("k".into()),
            shape,
            value: Some(Expected::Number(50.0)),
            tolerance: 0.02,
            within: Within(within.iter().map(|(axis, values)| ((*axis).to_owned(), own(values))).collect()),
            source: None,
            statement: None,
        }
    }

    fn cells(samples: &[Vec<Sample>]) -> Vec<CellRuns<'_>> {
        let names = [("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")];
        let cell = |(variant, k): (&str, &str)| {
            vec![("variant".to_owned(), variant.to_owned()), ("k".to_owned(), k.to_owned())]
        };
        names.into_iter().zip(samples).map(|(name, samples)| CellRuns { cell: cell(name), samples }).collect()
    }

    #[test]
    fn a_trend_is_judged_seed_by_seed_and_on_every_line() {
        // The seeds lie far apart, but each of them rises.
        let rises = [samples(&[1.0, 100.0]), samples(&[2.0, 110.0]), samples(&[1.0, 5.0]), samples(&[3.0, 9.0])];
        let judged = judge_trend(&trend(Shape::Rising, &[]), "q", &cells(&rises));
        assert_eq!((judged.lines.len(), judged.kept, judged.runs), (2, 2, 2));
        assert_eq!(judged.verdict, Verdict::TrendAgrees);
        assert_eq!(judged.lines[0].medians, [("1".into(), Some(50.5)), ("2".into(), Some(56.0))]);
        // One line falls in one seed: neither.
        let mixed = [samples(&[1.0, 100.0]), samples(&[2.0, 110.0]), samples(&[1.0, 5.0]), samples(&[3.0, 4.0])];
        let judged = judge_trend(&trend(Shape::Rising, &[]), "q", &cells(&mixed));
        assert_eq!((judged.verdict, judged.lines[0].kept, judged.lines[1].kept), (Verdict::Undetermined, 2, 1));
        let only_a = judge_trend(&trend(Shape::Rising, &[("variant", &["a"])]), "q", &cells(&mixed));
        assert_eq!((only_a.verdict, only_a.lines.len()), (Verdict::TrendAgrees, 1));
        assert_eq!(judge_trend(&trend(Shape::Falling, &[]), "q", &cells(&rises)).verdict, Verdict::Disagrees);
    }

    #[test]
    fn where_gives_the_order_and_what_is_missing_decides_nothing() {
        let rises = [samples(&[1.0]), samples(&[2.0]), samples(&[1.0]), samples(&[3.0])];
        let turned = trend(Shape::Falling, &[("k", &["2", "1"])]);
        assert_eq!(judge_trend(&turned, "q", &cells(&rises)).verdict, Verdict::TrendAgrees);
        let lost = [samples(&[1.0]), samples(&[f64::NAN]), samples(&[1.0]), samples(&[3.0])];
        let judged = judge_trend(&trend(Shape::Rising, &[]), "q", &cells(&lost));
        assert_eq!((judged.verdict, judged.runs), (Verdict::Undetermined, 0));
        // One seed of two has all its values, and rises; the other may be why the first is not enough.
        let half = [samples(&[1.0, 1.0]), samples(&[2.0, f64::NAN]), samples(&[1.0, 1.0]), samples(&[3.0, 2.0])];
        let judged = judge_trend(&trend(Shape::Rising, &[]), "q", &cells(&half));
        assert_eq!((judged.verdict, judged.kept, judged.runs), (Verdict::Undetermined, 1, 1));
        let nowhere = judge_trend(&trend(Shape::Rising, &[("variant", &[])]), "q", &cells(&rises));
        assert_eq!((nowhere.verdict, nowhere.lines.len()), (Verdict::Undetermined, 0));
    }
}
