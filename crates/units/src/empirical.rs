//! Distributions defined by points of their cumulative distribution, the usual form of published flow sizes.

use crate::sample::nearest;
use crate::{Bytes, Stream};
use std::fmt;

/// A distribution whose cumulative probability is piecewise linear through given points.
///
/// A first point with a probability above zero, and two points with the same value, place that probability mass on
/// exactly that value; two points with the same probability exclude the values between them.
#[derive(Clone, Debug, PartialEq)]
pub struct EmpiricalCdf {
    values: Vec<f64>,
    cumulative: Vec<f64>,
}

/// The reason that points do not define a distribution. Its display names the point and the correction.
#[derive(Clone, Debug, PartialEq)]
pub enum CdfError {
    /// No points.
    Empty,
    /// A value is negative, infinite or not a number.
    Value {
        /// Index of the point, from zero.
        index: usize,
        /// Value of the point.
        value: f64,
    },
    /// A probability is outside the range from zero to one.
    Probability {
        /// Index of the point, from zero.
        index: usize,
        /// Probability of the point.
        probability: f64,
    },
    /// A value is below the one before it.
    ValueFalls {
        /// Index of the point, from zero.
        index: usize,
        /// Value of the point.
        value: f64,
        /// Value of the point before it.
        before: f64,
    },
    /// A probability is below the one before it.
    ProbabilityFalls {
        /// Index of the point, from zero.
        index: usize,
        /// Probability of the point.
        probability: f64,
        /// Probability of the point before it.
        before: f64,
    },
    /// The last probability is not one.
    Incomplete {
        /// Last probability.
        last: f64,
    },
}

impl fmt::Display for CdfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CdfError::Empty => f.write_str("a distribution needs at least one point (value, cumulative probability)"),
            CdfError::Value { index, value } => {
                write!(f, "point {index} has the value {value}; values must be finite and not negative")
            }
            CdfError::Probability { index, probability } => {
                write!(f, "point {index} has the cumulative probability {probability}, which is not from 0 to 1")?;
                if *probability > 1.0 { f.write_str("; divide percentages by 100") } else { Ok(()) }
            }
            CdfError::ValueFalls { index, value, before } => {
                write!(f, "point {index} has the value {value} after {before}; sort the points by value")
            }
            CdfError::ProbabilityFalls { index, probability, before } => {
                write!(f, "point {index} has the cumulative probability {probability} after {before}; ")?;
                f.write_str("cumulative probabilities never fall: add up the probabilities of single values first")
            }
            CdfError::Incomplete { last } => {
                write!(f, "the last cumulative probability is {last}; it must be 1, at the largest value there is")
            }
        }
    }
}

impl std::error::Error for CdfError {}

impl EmpiricalCdf {
    /// Creates the distribution through points of (value, cumulative probability).
    ///
    /// # Errors
    /// Fails if there is no point, if a value or probability decreases or is out of range, or if the last probability
    /// is not one.
    pub fn new(points: &[(f64, f64)]) -> Result<EmpiricalCdf, CdfError> {
        let mut last = None;
        for (index, &(value, probability)) in points.iter().enumerate() {
            if !(value.is_finite() && value >= 0.0) {
                return Err(CdfError::Value { index, value });
            }
            if !(0.0..=1.0).contains(&probability) {
                return Err(CdfError::Probability { index, probability });
            }
            let (value_before, before) = last.unwrap_or((0.0, 0.0));
            if value < value_before {
                return Err(CdfError::ValueFalls { index, value, before: value_before });
            }
            if probability < before {
                return Err(CdfError::ProbabilityFalls { index, probability, before });
            }
            last = Some((value, probability));
        }
        let (_, last) = last.ok_or(CdfError::Empty)?;
        if last != 1.0 {
            return Err(CdfError::Incomplete { last });
        }
        let (values, cumulative) = points.iter().copied().unzip();
        Ok(EmpiricalCdf { values, cumulative })
    }

    /// Returns the inverse of the cumulative distribution: the value below which a draw lies with that probability.
    ///
    /// The probability is clamped to the range from zero to one.
    #[must_use]
    pub fn quantile(&self, probability: f64) -> f64 {
        let next = self.cumulative.partition_point(|cumulative| *cumulative <= probability);
        if next == 0 {
            return self.values[0];
        }
        if next == self.values.len() {
            return self.values[next - 1];
        }
        let (from, to) = (self.values[next - 1], self.values[next]);
        let (low, high) = (self.cumulative[next - 1], self.cumulative[next]);
        from + (to - from) * ((probability - low) / (high - low))
    }

    /// Returns the mean of the distribution.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let at_first = self.values[0] * self.cumulative[0];
        let pieces = self.values.windows(2).zip(self.cumulative.windows(2));
        pieces.fold(at_first, |sum, (value, cumulative)| {
            sum + (value[0] + value[1]) * 0.5 * (cumulative[1] - cumulative[0])
        })
    }

    /// Returns the smallest and the largest value.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        (self.values[0], self.values[self.values.len() - 1])
    }

    /// Draws a value from the distribution. Takes one draw.
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        self.quantile(stream.unit_f64())
    }

    /// Draws a size from the distribution, rounded to the nearest byte, at least one. Takes one draw.
    pub fn sample_bytes(&self, stream: &mut Stream) -> Bytes {
        Bytes::new(nearest(self.sample(stream)).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(points: &[(f64, f64)]) -> EmpiricalCdf {
        EmpiricalCdf::new(points).expect("valid points")
    }

    #[test]
    fn straight_lines_between_points() {
        let cdf = made(&[(0.0, 0.0), (10.0, 0.5), (110.0, 1.0)]);
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(|p| cdf.quantile(p)), [0.0, 5.0, 10.0, 60.0, 110.0]);
        assert_eq!(cdf.mean(), 5.0 * 0.5 + 60.0 * 0.5);
        assert_eq!(cdf.range(), (0.0, 110.0));
        assert_eq!([cdf.quantile(-1.0), cdf.quantile(2.0)], [0.0, 110.0]);
    }

    #[test]
    fn atoms_and_gaps() {
        let cdf = made(&[(3.0, 0.25), (5.0, 0.25), (5.0, 0.5), (7.0, 1.0)]);
        assert_eq!([0.0, 0.2, 0.3, 0.49, 0.75].map(|p| cdf.quantile(p)), [3.0, 3.0, 5.0, 5.0, 6.0]);
        assert_eq!(cdf.mean(), 0.75 + 1.25 + 3.0);
        assert_eq!(made(&[(42.0, 1.0)]).quantile(0.3), 42.0);
        assert_eq!(made(&[(42.0, 1.0)]).mean(), 42.0);
    }

    #[test]
    fn what_is_not_a_distribution_is_refused_with_the_remedy() {
        let message = |points: &[(f64, f64)]| EmpiricalCdf::new(points).expect_err("invalid").to_string();
        assert!(message(&[]).contains("at least one point"));
        assert!(message(&[(1.0, 0.0), (2.0, 50.0)]).contains("divide percentages by 100"));
        assert!(message(&[(1.0, 0.0), (2.0, 0.9)]).contains("last cumulative probability is 0.9"));
        assert!(message(&[(2.0, 0.0), (1.0, 1.0)]).contains("point 1 has the value 1 after 2"));
        assert!(message(&[(1.0, 0.5), (2.0, 0.2)]).contains("never fall"));
        assert!(message(&[(-1.0, 0.5)]).contains("not negative"));
        assert!(message(&[(f64::NAN, 0.5)]).contains("finite"));
        assert!(message(&[(1.0, f64::NAN)]).contains("not from 0 to 1"));
    }

    #[test]
    fn samples_follow_the_distribution() {
        let cdf = made(&[(1_000.0, 0.0), (10_000.0, 0.6), (1_000_000.0, 0.95), (30_000_000.0, 1.0)]);
        let mut stream = Stream::new(8, 1, "sizes");
        let draws: Vec<f64> = (0..200_000).map(|_| cdf.sample(&mut stream)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!((mean / cdf.mean() - 1.0).abs() < 0.04, "{mean} {}", cdf.mean());
        let small = draws.iter().filter(|size| **size < 10_000.0).count() as f64 / draws.len() as f64;
        assert!((small - 0.6).abs() < 0.005, "{small}");
    }

    #[test]
    fn frozen_samples() {
        let cdf = made(&[(1_000.0, 0.0), (10_000.0, 0.6), (1_000_000.0, 1.0)]);
        let mut stream = Stream::new(8, 1, "frozen");
        let sizes: [u64; 4] = std::array::from_fn(|_| cdf.sample_bytes(&mut stream).get());
        assert_eq!(sizes, [7_700, 406_220, 7_844, 9_852]);
        assert_eq!(made(&[(0.0, 1.0)]).sample_bytes(&mut stream), Bytes::new(1));
    }
}
