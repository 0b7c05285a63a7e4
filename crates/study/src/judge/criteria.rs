//! Ranking of variants by several criteria, and comparison of two sets of numbers.
//!
//! Numbers of different quantities cannot be added, and a mean is dominated by the largest of them. Ranks can be
//! averaged: each criterion ranks the variants of every figure, and the ranks are averaged.

use scenario::{Best, Criterion};
use std::cmp::Ordering;

/// Relative difference up to which two numbers count as equal.
const ALIKE: f64 = 0.01;

/// Returns `Less` if the first number is better by a criterion.
fn compare(best: Best, a: f64, b: f64) -> Ordering {
    if (a - b).abs() <= ALIKE * a.abs().max(b.abs()) {
        return Ordering::Equal;
    }
    match best {
        Best::Largest => b.total_cmp(&a),
        Best::Smallest => a.total_cmp(&b),
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the ranks of numbers, 1 for the best; equal numbers share a rank.
fn ranks(best: Best, numbers: &[f64]) -> Vec<f64> {
    let rank = |&own: &f64| {
        let count = |order: Ordering| numbers.iter().filter(|&&other| compare(best, other, own) == order).count();
        // It is equal to itself, too.
        1.0 + count(Ordering::Less) as f64 + (count(Ordering::Equal) as f64 - 1.0) / 2.0
    };
    numbers.iter().map(rank).collect()
}

/// A criterion and its numbers by figure and variant.
pub(super) type Ranked<'a> = (&'a Criterion, Vec<Vec<f64>>);

/// Numbers by criterion, figure and variant.
pub(super) type Numbers<'a> = Vec<Ranked<'a>>;

/// Returns the mean rank of every variant over all figures and criteria; `None` if there are no numbers.
pub(super) fn mean_ranks(numbers: &Numbers<'_>) -> Option<Vec<f64>> {
    let of_criterion = |(criterion, figures): &Ranked<'_>| {
        let ranks: Vec<Vec<f64>> = figures.iter().map(|numbers| ranks(criterion.best, numbers)).collect();
        let variants = ranks.first()?.len();
        (0..variants).map(|variant| mean(&ranks.iter().map(|rank| rank[variant]).collect::<Vec<_>>())).collect()
    };
    let criteria: Option<Vec<Vec<f64>>> = numbers.iter().map(of_criterion).collect();
    let criteria = criteria?;
    let variants = criteria.first()?.len();
    (0..variants).map(|variant| mean(&criteria.iter().map(|means| means[variant]).collect::<Vec<_>>())).collect()
}

/// Returns the number of variants that are better by the second set of numbers than by the first: in more than half of
/// their figures by each criterion, averaged over the criteria. Ties count half.
pub(super) fn better(before: &Numbers<'_>, after: &Numbers<'_>) -> Option<f64> {
    let variants = before.first()?.1.first()?.len();
    let wins = |variant: usize| {
        let of_criterion = |((criterion, before), (_, after)): (&Ranked<'_>, &Ranked<'_>)| {
            let win = |(before, after): (&Vec<f64>, &Vec<f64>)| match compare(
                criterion.best,
                after[variant],
                before[variant],
            ) {
                Ordering::Less => 1.0,
                Ordering::Equal => 0.5,
                Ordering::Greater => 0.0,
            };
            mean(&before.iter().zip(after).map(win).collect::<Vec<_>>())
        };
        mean(&before.iter().zip(after).filter_map(of_criterion).collect::<Vec<_>>())
    };
    let counted: Option<Vec<f64>> = (0..variants).map(wins).collect();
    Some(counted?.into_iter().filter(|&wins| wins > 0.5).count() as f64)
}

/// Returns the fraction of pairs of variants, in all figures and by all criteria, whose order is not reversed by the
/// second set of numbers.
pub(super) fn order_kept(before: &Numbers<'_>, after: &Numbers<'_>) -> Option<f64> {
    let mut kept = Vec::new();
    for ((criterion, before), (_, after)) in before.iter().zip(after) {
        for (before, after) in before.iter().zip(after) {
            for one in 0..before.len() {
                for other in 0..one {
                    let order = |numbers: &[f64]| compare(criterion.best, numbers[one], numbers[other]);
                    let reversed = order(before) != Ordering::Equal && order(before) == order(after).reverse();
                    kept.push(if reversed { 0.0 } else { 1.0 });
                }
            }
        }
    }
    mean(&kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn criterion(best: Best) -> Criterion {
        Criterion { quantity: "any".into(), best }
    }

    #[test]
    fn equal_numbers_share_their_ranks() {
        assert_eq!(ranks(Best::Largest, &[0.99, 0.5, 0.995, 0.2]), [1.5, 3.0, 1.5, 4.0]);
        assert_eq!(ranks(Best::Smallest, &[30.0, 10.0, 20.0]), [3.0, 1.0, 2.0]);
        assert_eq!(ranks(Best::Smallest, &[0.0, 0.0]), [1.5, 1.5]);
    }

    #[test]
    fn who_uses_most_is_not_the_best_if_everything_else_is_bad() {
        // No control at all fills the link and the queue; one figure's time of 80 ms does not outweigh the others.
        let (most, least) = (criterion(Best::Largest), criterion(Best::Smallest));
        let numbers = vec![
            (&most, vec![vec![1.0, 0.95], vec![1.0, 0.98]]),
            (&most, vec![vec![0.6, 0.9], vec![0.5, 0.9]]),
            (&least, vec![vec![300e3, 24e3], vec![300e3, 20e3]]),
            (&least, vec![vec![0.2, 0.001], vec![0.001, 0.08], vec![0.3, 0.002]]),
        ];
        let ranks = mean_ranks(&numbers).unwrap();
        assert!(ranks[1] < ranks[0], "{ranks:?}");
        // (1 + 2 + 2 + 5/3) / 4
        assert!((ranks[0] - 20.0 / 12.0).abs() < 1e-12, "{ranks:?}");
    }

    #[test]
    fn better_counts_variants_and_order_counts_pairs() {
        let (most, least) = (criterion(Best::Largest), criterion(Best::Smallest));
        let before = vec![(&most, vec![vec![0.8, 0.9, 0.7]]), (&least, vec![vec![10.0, 20.0, 30.0]])];
        // The first is better by both, the second by one and worse by the other, the third worse by one alone.
        let after = vec![(&most, vec![vec![0.95, 0.8, 0.7]]), (&least, vec![vec![5.0, 10.0, 40.0]])];
        assert_eq!(better(&before, &after), Some(1.0));
        assert_eq!(better(&before, &before), Some(0.0));
        // Of six pairs one is reversed: the first two, by the first criterion.
        assert!((order_kept(&before, &after).unwrap() - 5.0 / 6.0).abs() < 1e-12);
        assert_eq!(mean_ranks(&Vec::new()), None);
    }
}
