//! How long a level was held, for percentiles over time in bounded memory.

use hdrhistogram::Histogram;
use scenario::Statistic;

/// Significant decimal digits of a level: a percentile is at most 0.1 % too large.
const DIGITS: u8 = 3;

/// The durations of levels.
#[derive(Clone, Debug)]
pub(super) struct Distribution {
    durations: Histogram<u64>,
    fraction: f64,
    /// The largest level; the histogram knows it only within its error.
    most: u64,
}

impl Distribution {
    /// An empty one, if the statistic is a percentile.
    pub(super) fn of(statistic: Statistic) -> Option<Distribution> {
        let Statistic::Quantile(thousandths) = statistic else { return None };
        let durations = Histogram::new(DIGITS).ok()?;
        Some(Distribution { durations, fraction: f64::from(thousandths) / 1000.0, most: 0 })
    }

    /// Adds a level that was held for so many picoseconds.
    pub(super) fn add(&mut self, level: u64, picos: u64) {
        if picos > 0 {
            self.most = self.most.max(level);
            // It resizes itself, so every level has a place.
            let _ = self.durations.record_n(level, picos);
        }
    }

    /// Returns the percentile; `None` if no level was held. It is not above the largest level.
    pub(super) fn value(&self) -> Option<f64> {
        if self.durations.is_empty() {
            return None;
        }
        Some(self.durations.value_at_quantile(self.fraction).min(self.most) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percentile(thousandths: u16, levels: &[(u64, u64)]) -> Option<f64> {
        let mut some = Distribution::of(Statistic::Quantile(thousandths)).unwrap();
        levels.iter().for_each(|&(level, picos)| some.add(level, picos));
        some.value()
    }

    #[test]
    fn a_level_counts_by_its_duration_and_within_its_error() {
        let levels = [(0, 900_000_000), (123_456_789, 95_000_000), (2_000_000_000, 5_000_000)];
        assert_eq!(percentile(500, &levels), Some(0.0));
        let high = percentile(990, &levels).unwrap();
        assert!((123_456_789.0..=123_456_789.0 * 1.001).contains(&high), "{high}");
        assert_eq!(percentile(999, &levels), Some(2_000_000_000.0));
        assert_eq!(percentile(999, &[(1_000_003, 1)]), Some(1_000_003.0));
        assert_eq!(percentile(500, &[]), None);
        assert!(Distribution::of(Statistic::Mean).is_none());
    }
}
