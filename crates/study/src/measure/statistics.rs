//! Means, quantiles and confidence intervals of small samples.

pub use theory::quantile::quantile;

/// Statistics over several runs with different seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of runs.
    pub count: usize,
    /// Mean.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval of the mean (Student's t); infinite for a single run.
    pub half_width: f64,
    /// The confidence interval, clipped at the bounds of the quantity; `None` for a single run.
    pub interval: Option<Interval>,
    /// 10th percentile.
    pub p10: f64,
    /// Median.
    pub median: f64,
    /// 90th percentile.
    pub p90: f64,
}

/// A confidence interval of a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Whether it was clipped at a bound of the quantity.
    pub cut: bool,
}

/// Minimum and maximum possible values of a quantity. Its mean also lies between them, so clipping an interval there
/// does not change its coverage.
pub type Bounds = (f64, f64);

/// The 97.5 % quantile of Student's t for 1, 2, ... degrees of freedom.
const T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

fn t_quantile(degrees: usize) -> f64 {
    match degrees {
        0 => f64::INFINITY,
        1..=30 => T[degrees - 1],
        31..=60 => 2.02,
        61..=120 => 1.99,
        _ => 1.96,
    }
}

/// Summarises values of an unbounded quantity; `None` if there are none.
#[must_use]
pub fn summarise(values: &[f64]) -> Option<Summary> {
    summarise_within(values, (f64::NEG_INFINITY, f64::INFINITY))
}

/// Summarises values of a bounded quantity; `None` if there are none.
#[must_use]
pub fn summarise_within(values: &[f64], (least, most): Bounds) -> Option<Summary> {
    let values: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count as f64;
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    let half_width = match count {
        0 => return None,
        1 => f64::INFINITY,
        _ => t_quantile(count - 1) * (squares / (count - 1) as f64 / count as f64).sqrt(),
    };
    let (low, high) = (mean - half_width, mean + half_width);
    // A value that was measured beyond a bound, if only by rounding, stays inside.
    let (least, most) = (least.min(mean), most.max(mean));
    let interval = Interval { low: low.max(least), high: high.min(most), cut: low < least || high > most };
    Some(Summary {
        count,
        mean,
        half_width,
        interval: half_width.is_finite().then_some(interval),
        p10: quantile(&values, 0.1)?,
        median: quantile(&values, 0.5)?,
        p90: quantile(&values, 0.9)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_interval() {
        // Mean 5, variance 10 / 4, t(4) = 2.776: 2.776 x sqrt(2.5 / 5) = 1.963.
        let summary = summarise(&[3.0, 4.0, 5.0, 6.0, 7.0]).unwrap();
        assert_eq!((summary.mean, summary.median), (5.0, 5.0));
        assert!((summary.half_width - 1.963).abs() < 0.001);
        assert!((summary.p10 - 3.4).abs() < 1e-12 && (summary.p90 - 6.6).abs() < 1e-12);
    }

    #[test]
    fn an_interval_keeps_the_bounds_of_its_quantity() {
        // Jain's index of two seeds: 0.546 +- 12.706 x 0.18 is -1.74 to 2.83.
        let summary = summarise_within(&[0.366, 0.726], (0.0, 1.0)).unwrap();
        assert!((summary.half_width - 2.287).abs() < 0.001);
        assert_eq!(summary.interval, Some(Interval { low: 0.0, high: 1.0, cut: true }));
        let rate = summarise_within(&[1.0, 3.0], (0.0, f64::INFINITY)).unwrap().interval.unwrap();
        assert!(rate.low == 0.0 && (rate.high - 14.706).abs() < 1e-9 && rate.cut);
        let narrow = summarise_within(&[0.50, 0.51], (0.0, 1.0)).unwrap();
        let whole =
            Interval { low: narrow.mean - narrow.half_width, high: narrow.mean + narrow.half_width, cut: false };
        assert_eq!(narrow.interval, Some(whole));
        assert_eq!(summarise_within(&[0.5], (0.0, 1.0)).unwrap().interval, None);
    }

    #[test]
    fn few_values_say_so() {
        assert_eq!(summarise(&[]), None);
        assert_eq!(summarise(&[2.0]).unwrap().half_width, f64::INFINITY);
        assert_eq!(quantile(&[1.0, f64::NAN, 3.0], 0.5), Some(2.0));
    }
}
