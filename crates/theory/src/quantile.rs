//! Quantiles of samples.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_the_ends() {
        let values = [5.0, f64::NAN, 1.0, 9.0];
        assert_eq!([0.0, 0.5, 1.0, 7.0].map(|part| quantile(&values, part)), [1.0, 5.0, 9.0, 9.0].map(Some));
        assert_eq!(quantile(&[f64::NAN], 0.5), None);
    }
}
