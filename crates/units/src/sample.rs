//! Sampling from distributions. Each sampler documents the number of draws that it takes from its stream, because that
//! number determines all later draws of the stream.

use crate::math::{cos, exp, ln, pow};
use crate::{Bytes, Span, Stream};

/// 2^-53: the distance between neighbouring results of [`Stream::unit_f64`].
const UNIT_STEP: f64 = 1.0 / (1_u64 << 53) as f64;

/// The nearest integer to a number that is not negative; the largest one if it is beyond.
pub(crate) fn nearest(value: f64) -> u64 {
    (value + 0.5) as u64
}

impl Stream {
    /// Returns a multiple of 2^-53 from zero up to, not including, one. Takes one draw.
    #[inline]
    pub fn unit_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * UNIT_STEP
    }

    /// A multiple of 2^-53 above zero up to and including one: safe to divide by and to take the logarithm of.
    fn unit_above_zero(&mut self) -> f64 {
        1.0 - self.unit_f64()
    }

    /// Returns an integer below `n`, uniformly distributed. Takes one draw, very rarely more.
    ///
    /// Lemire's method: the high half of a draw times `n`, where draws whose low half would favour some results are
    /// repeated.
    ///
    /// # Panics
    /// Panics if `n` is zero.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "no integer is below zero");
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let unfair = n.wrapping_neg() % n;
            while (product as u64) < unfair {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// Returns an integer from `lowest` to `highest`, both included. Takes one draw, very rarely more.
    ///
    /// # Panics
    /// Panics if `lowest` is above `highest`.
    pub fn between(&mut self, lowest: u64, highest: u64) -> u64 {
        assert!(lowest <= highest, "nothing lies between {lowest} and {highest}");
        match (highest - lowest).checked_add(1) {
            Some(count) => lowest + self.below(count),
            None => self.next_u64(),
        }
    }

    /// Returns a whole number of picoseconds from `shortest` to `longest`, both included. Takes one draw, very rarely
    /// more.
    ///
    /// # Panics
    /// Panics if `shortest` is above `longest`.
    pub fn span_between(&mut self, shortest: Span, longest: Span) -> Span {
        Span::from_picos(self.between(shortest.as_picos(), longest.as_picos()))
    }

    /// Returns true with that probability: never at zero, always at one. Takes one draw at any probability.
    #[inline]
    pub fn bernoulli(&mut self, probability: f64) -> bool {
        self.unit_f64() < probability
    }

    /// Returns an exponentially distributed number with that mean, at most 36.8 times the mean. Takes one draw.
    pub fn exponential_f64(&mut self, mean: f64) -> f64 {
        // Zero minus, not a negation, so that the draw of exactly one gives 0 and not -0.
        mean * (0.0 - ln(self.unit_above_zero()))
    }

    /// Returns an exponentially distributed span with that mean, rounded to the nearest picosecond: the gaps of a
    /// Poisson process. Takes one draw.
    pub fn exponential(&mut self, mean: Span) -> Span {
        Span::from_picos(nearest(self.exponential_f64(mean.as_picos() as f64)))
    }

    /// Returns a number of the standard normal distribution, by the transform of Box and Muller. Takes two draws.
    pub fn normal_f64(&mut self) -> f64 {
        let radius = (2.0 * (0.0 - ln(self.unit_above_zero()))).sqrt();
        radius * cos(2.0 * std::f64::consts::PI * self.unit_f64())
    }

    /// Returns a log-normally distributed span with that mean, rounded to the nearest picosecond. `sigma` is the deviation
    /// of its logarithm: 0 is always the mean, 2 is bursts and long pauses. Takes two draws.
    pub fn log_normal(&mut self, mean: Span, sigma: f64) -> Span {
        let factor = exp(sigma * self.normal_f64() - sigma * sigma / 2.0);
        Span::from_picos(nearest(mean.as_picos() as f64 * factor))
    }

    /// Returns a Pareto distributed number: above `x` with probability `(scale / x)^shape`, never below `scale`. Takes
    /// one draw.
    ///
    /// # Panics
    /// Panics if `shape` or `scale` is not above zero.
    pub fn pareto_f64(&mut self, shape: f64, scale: f64) -> f64 {
        assert!(shape > 0.0 && scale > 0.0, "a Pareto distribution of shape {shape} and scale {scale}");
        scale / pow(self.unit_above_zero(), 1.0 / shape)
    }

    /// Returns a Pareto distributed size with that shape and mean, rounded to the nearest byte. Takes one draw.
    ///
    /// # Panics
    /// Panics if `shape` is not above one, since the mean would be infinite, or if `mean` is zero.
    pub fn pareto(&mut self, shape: f64, mean: Bytes) -> Bytes {
        assert!(shape > 1.0, "a Pareto distribution of shape {shape} has no mean; it needs a shape above one");
        Bytes::new(nearest(self.pareto_f64(shape, mean.get() as f64 * (shape - 1.0) / shape)))
    }

    /// Returns a Pareto distributed size, conditioned on the range from `least` to `most`, rounded to the nearest byte.
    /// Takes one draw.
    ///
    /// # Panics
    /// Panics if `shape` is not above zero, if `least` is zero, or if `least` is above `most`.
    pub fn bounded_pareto(&mut self, shape: f64, least: Bytes, most: Bytes) -> Bytes {
        assert!(shape > 0.0, "a Pareto distribution of shape {shape}");
        assert!(Bytes::ZERO < least && least <= most, "a Pareto distribution from {least} to {most}");
        let (least_f64, most_f64) = (least.get() as f64, most.get() as f64);
        let beyond = pow(least_f64 / most_f64, shape);
        let survival = 1.0 - self.unit_f64() * (1.0 - beyond);
        Bytes::new(nearest(least_f64 / pow(survival, 1.0 / shape))).clamp(least, most)
    }

    /// Returns one of the items, uniformly distributed; `None`, without a draw, if there are none. Draws as
    /// [`Stream::below`] does.
    pub fn choice<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { items.get(self.below(items.len() as u64) as usize) }
    }

    /// Shuffles the items, all orders equally likely. Takes one draw, very rarely more, per item but one.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(purpose: &str) -> Stream {
        Stream::new(2024, 5, purpose)
    }

    /// Mean and variance of that many draws.
    fn moments(draws: usize, mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let values: Vec<f64> = (0..draws).map(|_| draw()).collect();
        let mean = values.iter().sum::<f64>() / draws as f64;
        (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / draws as f64)
    }

    /// The largest distance between the draws' distribution and the wanted one, times the root of their number
    /// (Kolmogorov and Smirnov): above 1.95 once in a thousand times.
    fn kolmogorov(draws: usize, mut draw: impl FnMut() -> f64, cumulative: impl Fn(f64) -> f64) -> f64 {
        let mut values: Vec<f64> = (0..draws).map(|_| draw()).collect();
        values.sort_by(f64::total_cmp);
        let count = draws as f64;
        let gap = |(i, value): (usize, &f64)| {
            let wanted = cumulative(*value);
            (wanted - i as f64 / count).abs().max((wanted - (i + 1) as f64 / count).abs())
        };
        values.iter().enumerate().map(gap).fold(0.0, f64::max) * count.sqrt()
    }

    #[test]
    fn frozen_samples() {
        let mut s = Stream::new(42, 7, "frozen");
        assert_eq!([s.unit_f64(), s.unit_f64()], [0.530788809194303, 0.8162157829374717]);
        assert_eq!([s.below(10), s.below(1_000), s.below(u64::MAX)], [6, 907, 630_758_326_344_463_932]);
        assert_eq!([s.between(5, 8), s.between(0, u64::MAX)], [5, 16_468_424_139_731_896_891]);
        assert_eq!(s.span_between(Span::from_nanos(1), Span::from_nanos(2)), Span::from_picos(1_212));
        assert_eq!([s.bernoulli(0.5), s.bernoulli(0.5), s.bernoulli(0.5)], [true, false, true]);
        assert_eq!([s.exponential_f64(1.0), s.exponential_f64(1.0)], [0.7542330070198989, 0.9685170774333319]);
        assert_eq!(s.exponential(Span::from_micros(10)), Span::from_picos(9_528_518));
        assert_eq!([s.pareto_f64(1.5, 2.0), s.pareto_f64(0.7, 1.0)], [4.635059092375005, 2122.734064666518]);
        assert_eq!(s.pareto(1.2, Bytes::new(100_000)), Bytes::new(61_345));
        assert_eq!(s.bounded_pareto(1.1, Bytes::new(1_000), Bytes::new(10_000_000)), Bytes::new(1_245));
        assert_eq!(s.choice(&['a', 'b', 'c', 'd', 'e']), Some(&'c'));
        let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
        s.shuffle(&mut order);
        assert_eq!(order, [4, 0, 1, 7, 3, 2, 5, 6]);
    }

    #[test]
    fn unit_is_uniform() {
        let mut s = stream("unit");
        let (mean, variance) = moments(200_000, || s.unit_f64());
        assert!((mean - 0.5).abs() < 0.003 && (variance - 1.0 / 12.0).abs() < 0.001, "{mean} {variance}");
        assert!(kolmogorov(50_000, || s.unit_f64(), |x| x) < 1.95);
        assert!((0..100_000).all(|_| (0.0..1.0).contains(&s.unit_f64())));
    }

    #[test]
    fn below_is_fair_even_where_short_cuts_are_not() {
        let mut s = stream("below");
        // Below 3 * 2^62, a remainder would prefer the lower third, and a product without repeats every third integer.
        let draws: Vec<u64> = (0..100_000).map(|_| s.below(3 << 62)).collect();
        let share = |fits: fn(&&u64) -> bool| draws.iter().filter(fits).count() as f64 / 100_000.0;
        let (low, third) = (share(|draw| **draw < 1 << 62), share(|draw| draw.is_multiple_of(3)));
        assert!((low - 1.0 / 3.0).abs() < 0.007 && (third - 1.0 / 3.0).abs() < 0.007, "{low} {third}");
        let mut bins = [0_u32; 7];
        (0..70_000).for_each(|_| bins[s.below(7) as usize] += 1);
        assert!(bins.iter().all(|n| n.abs_diff(10_000) < 460), "{bins:?}");
        assert!((0..1_000).all(|_| s.below(1) == 0));
    }

    #[test]
    fn between_reaches_both_ends() {
        let mut s = stream("between");
        let mut seen = [false; 4];
        (0..200).for_each(|_| seen[s.between(10, 13) as usize - 10] = true);
        assert_eq!(seen, [true; 4]);
        assert_eq!(s.between(9, 9), 9);
    }

    #[test]
    fn bernoulli_keeps_its_promise() {
        let mut s = stream("bernoulli");
        let hits = (0..200_000).filter(|_| s.bernoulli(0.03)).count();
        assert!(hits.abs_diff(6_000) < 390, "{hits}");
        assert!((0..10_000).all(|_| s.bernoulli(1.0) && !s.bernoulli(0.0)));
    }

    #[test]
    fn exponential_has_its_mean_variance_and_shape() {
        let mut s = stream("exponential");
        let (mean, variance) = moments(200_000, || s.exponential_f64(3.0));
        assert!((mean - 3.0).abs() < 0.035 && (variance - 9.0).abs() < 0.3, "{mean} {variance}");
        assert!(kolmogorov(50_000, || s.exponential_f64(2.0), |x| 1.0 - (-x / 2.0).exp()) < 1.95);
        let (mean, _) = moments(200_000, || s.exponential(Span::from_nanos(400)).as_picos() as f64);
        assert!((mean - 400_000.0).abs() < 4_500.0, "{mean}");
        assert_eq!(s.exponential(Span::ZERO), Span::ZERO);
    }

    #[test]
    fn pareto_has_its_mean_and_shape() {
        let mut s = stream("pareto");
        assert!(kolmogorov(50_000, || s.pareto_f64(1.3, 5.0), |x| 1.0 - (5.0 / x).powf(1.3)) < 1.95);
        // Shape 4: the mean is 4/3 of the scale and the variance is finite.
        let (mean, _) = moments(200_000, || s.pareto(4.0, Bytes::new(90_000)).get() as f64);
        assert!((mean - 90_000.0).abs() < 400.0, "{mean}");
    }

    #[test]
    fn bounded_pareto_stays_within_its_bounds_and_keeps_its_shape() {
        let mut s = stream("bounded");
        let (least, most, shape) = (Bytes::new(10_000), Bytes::new(1_000_000), 1.2);
        let tail = |x: f64| (10_000.0 / x).powf(shape);
        let cumulative = |x: f64| (1.0 - tail(x)) / (1.0 - tail(1_000_000.0));
        let draw = || s.bounded_pareto(shape, least, most).get() as f64;
        assert!(kolmogorov(50_000, draw, cumulative) < 1.95);
        assert!((0..10_000).all(|_| (least..=most).contains(&s.bounded_pareto(0.1, least, most))));
        assert_eq!(s.bounded_pareto(1.0, most, most), most);
    }

    #[test]
    fn shuffle_and_choice_are_fair() {
        let mut s = stream("shuffle");
        let mut orders = std::collections::BTreeMap::new();
        for _ in 0..24_000 {
            let mut items = [0, 1, 2, 3];
            s.shuffle(&mut items);
            *orders.entry(items).or_insert(0_u32) += 1;
        }
        assert_eq!(orders.len(), 24);
        assert!(orders.values().all(|n| n.abs_diff(1_000) < 160), "{orders:?}");
        let hits = (0..30_000).filter(|_| s.choice(&[1, 2, 3]) == Some(&2)).count();
        assert!(hits.abs_diff(10_000) < 400, "{hits}");
        assert_eq!(s.choice::<u8>(&[]), None);
    }
}
