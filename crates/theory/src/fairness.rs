//! Fairness of an allocation, and its distance from a target allocation.

/// Returns Jain's index, `(sum x)^2 / (n * sum x^2)`: one if all rates are equal, `1/n` if one flow has everything.
/// Returns `None` if there are no rates or all are zero.
#[must_use]
pub fn jain_index(rates: &[f64]) -> Option<f64> {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    jain_index_of_sums(rates.len(), sum, squares)
}

/// Returns Jain's index of so many rates with that sum and that sum of squares, as [`jain_index`] does.
#[must_use]
pub fn jain_index_of_sums(count: usize, sum: f64, squares: f64) -> Option<f64> {
    (squares > 0.0).then(|| sum * sum / (count as f64 * squares))
}

/// Returns Jain's index of the ratios of rates to fair shares: one if all flows are served in proportion, regardless of
/// their weights and paths. Returns `None` as [`jain_index`] does, or if a fair share is not above zero.
///
/// # Panics
/// Panics if the numbers of fair shares and rates differ.
#[must_use]
pub fn jain_index_against(rates: &[f64], fair: &[f64]) -> Option<f64> {
    assert_eq!(rates.len(), fair.len(), "as many fair shares as rates");
    let normalised: Vec<f64> = rates.iter().zip(fair).map(|(rate, fair)| rate / fair).collect();
    if fair.iter().all(|fair| *fair > 0.0) { jain_index(&normalised) } else { None }
}

/// Returns the relative distance from the target: `sum |x - target| / sum target`. It is zero if both are equal; `None`
/// if the target is zero.
///
/// # Panics
/// Panics if the numbers of targets and rates differ.
#[must_use]
pub fn distance(rates: &[f64], target: &[f64]) -> Option<f64> {
    assert_eq!(rates.len(), target.len(), "as many targets as rates");
    let misplaced = rates.iter().zip(target).fold(0.0, |sum, (rate, target)| sum + (rate - target).abs());
    let total = target.iter().fold(0.0, |sum, target| sum + target);
    (total > 0.0).then(|| misplaced / total)
}

/// Returns the largest `|x - target| / target` of any flow: zero if there are no flows, infinite if a flow with target
/// zero has a rate above zero.
///
/// # Panics
/// Panics if the numbers of targets and rates differ.
#[must_use]
pub fn worst_relative_error(rates: &[f64], target: &[f64]) -> f64 {
    assert_eq!(rates.len(), target.len(), "as many targets as rates");
    rates.iter().zip(target).fold(0.0, |worst, (rate, target)| {
        let error = (rate - target).abs();
        let relative = if error == 0.0 { 0.0 } else { error / target };
        if relative > worst { relative } else { worst }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn jain_from_equal_to_all_for_one() {
        assert_eq!(jain_index(&[3.0; 5]), Some(1.0));
        assert_eq!(jain_index(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain_index(&[1.0, 3.0]), Some(0.8));
        assert_eq!((jain_index(&[]), jain_index(&[0.0, 0.0])), (None, None));
    }

    #[test]
    fn jain_against_unequal_fair_shares() {
        assert_eq!(jain_index_against(&[1.0, 2.0], &[2.0, 4.0]), Some(1.0));
        assert_eq!(jain_index_against(&[2.0, 2.0], &[1.0, 2.0]), Some(0.9));
        assert_eq!(jain_index_against(&[2.0, 0.0], &[2.0, 0.0]), None);
    }

    #[test]
    fn distances() {
        assert_eq!(distance(&[4.0, 6.0], &[5.0, 5.0]), Some(0.2));
        assert_eq!(distance(&[5.0, 5.0], &[5.0, 5.0]), Some(0.0));
        assert_eq!(distance(&[1.0], &[0.0]), None);
        assert_eq!(worst_relative_error(&[4.0, 5.0], &[5.0, 5.0]), 0.2);
        assert_eq!(worst_relative_error(&[0.0], &[0.0]), 0.0);
        assert_eq!(worst_relative_error(&[1.0], &[0.0]), f64::INFINITY);
        assert_eq!(worst_relative_error(&[], &[]), 0.0);
    }

    proptest! {
        #[test]
        fn jain_lies_between_one_over_n_and_one(rates in proptest::collection::vec(0.001_f64..1e6, 1..50)) {
            let index = jain_index(&rates).expect("something to share");
            prop_assert!(index <= 1.0 + 1e-12 && index * rates.len() as f64 >= 1.0 - 1e-12);
        }
    }
}
