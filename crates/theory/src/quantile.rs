//! Quantiles of samples.

use std::ops::Range;

/// Returns the quantile of the values at a fraction between zero and one, interpolated linearly between the two nearest
/// ones. NaN is skipped. Returns `None` if there are no values.
///
/// ```
/// # use tailback_theory as theory;
/// assert_eq!(theory::quantile::quantile(&[4.0, 1.0, 2.0], 0.5), Some(2.0));
/// assert_eq!(theory::quantile::quantile(&[1.0, 3.0], 0.75), Some(2.5));
/// ```
#[must_use]
pub fn quantile(values: &[f64], fraction: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    quantile_of_sorted(&sorted, fraction)
}

/// Returns the same of values that ascend and contain no NaN.
#[must_use]
pub fn quantile_of_sorted(sorted: &[f64], fraction: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = fraction.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(below + (above - below) * (place - place.floor()))
}

/// Divides values that ascend into bins of about as many each, at most as many as asked for. Equal values are in one bin,
/// no bin is empty.
///
/// ```
/// # use tailback_theory as theory;
/// assert_eq!(theory::quantile::equal_bins(&[1, 2, 2, 2, 5, 7], 3), [0..4, 4..6]);
/// ```
#[must_use]
pub fn equal_bins<T: PartialEq>(sorted: &[T], bins: usize) -> Vec<Range<usize>> {
    let count = sorted.len();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut first = 0;
    for number in 1..=bins {
        // A bin ends where the value changes, at or after its share of the values.
        let mut end = (count * number).div_ceil(bins).max(first);
        while end > first && end < count && sorted[end] == sorted[end - 1] {
            end += 1;
        }
        if end > first {
            found.push(first..end);
        }
        first = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_the_ends() {
        let values = [5.0, f64::NAN, 1.0, 9.0];
        assert_eq!([0.0, 0.5, 1.0, 7.0].map(|part| quantile(&values, part)), [1.0, 5.0, 9.0, 9.0].map(Some));
        assert_eq!(quantile(&[f64::NAN], 0.5), None);
    }

    #[test]
    fn bins_hold_each_value_once_and_equal_ones_together() {
        let mut values: Vec<u32> = (0..95).map(|value| value % 7).collect();
        values.sort_unstable();
        let bins = equal_bins(&values, 10);
        assert_eq!((bins[0].start, bins[bins.len() - 1].end), (0, 95));
        assert!(bins.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(bins.windows(2).all(|pair| values[pair[0].end - 1] < values[pair[1].start]));
        assert_eq!(equal_bins(&(0..1000).collect::<Vec<_>>(), 10).last(), Some(&(900..1000)));
        assert!(equal_bins::<u32>(&[], 10).is_empty());
    }
}
