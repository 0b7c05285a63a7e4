//! Amplitude and frequency of oscillations: the spectrum of samples at equal intervals.
//!
//! The estimate is Welch's: the record is divided into segments that overlap by half. From each segment, the linear
//! trend is removed, so that a level or a drift is not an oscillation; Hann's window, `sin^2`, is applied, so that a
//! strong line does not leak into all others; and the squared Fourier transforms of the segments are averaged. The
//! lines are scaled such that they add up to the variance, so that the power around a peak gives an amplitude.
//!
//! Two oscillations closer than the [resolution](Spectrum::resolution), one cycle per segment, are not separated. Zero
//! padding adds lines between those, and a parabola through three logarithms locates a peak between lines, so the
//! frequency of a single oscillation is far more precise than the resolution. The transform has radix two and uses
//! sines that are bit-identical on every machine.

use units::math::{ln, sin_cos};

/// Minimum number of lines per cycle-per-segment, by zero padding.
const FINE: usize = 4;

/// Half the width of the main lobe of Hann's window, in cycles per segment.
const LOBE: f64 = 2.0;

/// Fewer samples in a segment tell nothing.
const LEAST: usize = 8;

/// The distribution of the variance of a record over frequencies.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Distance between two lines, in hertz; the first line is at zero.
    pub spacing: f64,
    /// One cycle per segment, in hertz: closer oscillations are not separated.
    pub resolution: f64,
    /// Variance in each line, in the square of the sampled unit.
    pub lines: Vec<f64>,
}

/// The strongest oscillation of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Frequency in hertz.
    pub frequency: f64,
    /// Amplitude from the mean to the maximum, in the sampled unit: that of a sine with the power around the peak.
    pub amplitude: f64,
    /// Fraction of the variance around the peak: one for a single sine, small for noise.
    pub share: f64,
    /// Resolution in hertz: closer oscillations are not separated.
    pub resolution: f64,
}

/// Returns the strongest oscillation in samples that are `spacing` seconds apart, estimated from three segments of half
/// the record each. Returns `None` if there are too few samples, if they do not vary, or if there is no peak with at
/// least one and a half cycles in a segment.
#[must_use]
pub fn peak(samples: &[f64], spacing: f64) -> Option<Peak> {
    Spectrum::of(samples, spacing, 3)?.peak()
}

impl Spectrum {
    /// Returns the spectrum of samples that are `spacing` seconds apart, averaged over segments that overlap by half.
    /// More segments reduce noise and resolution. Returns `None` if a segment would have fewer than eight samples, or
    /// if a value is not finite.
    #[must_use]
    pub fn of(samples: &[f64], spacing: f64, segments: usize) -> Option<Spectrum> {
        let segments = segments.max(1);
        // Each begins half a segment after the one before.
        let length = samples.len().checked_mul(2)? / (segments + 1);
        if length < LEAST || !spacing.is_finite() || spacing <= 0.0 || samples.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let padded = (FINE * length).next_power_of_two();
        let window: Vec<f64> = (0..length)
            .map(|at| {
                let (sine, _) = sin_cos(std::f64::consts::PI * (at as f64 + 0.5) / length as f64);
                sine * sine
            })
            .collect();
        let weight: f64 = window.iter().map(|w| w * w).sum();
        let turns = Turns::new(padded);
        let mut lines = vec![0.0; padded / 2 + 1];
        let mut work = vec![(0.0, 0.0); padded];
        for segment in 0..segments {
            let from = (samples.len() - length) * segment / (segments - 1).max(1);
            work.fill((0.0, 0.0));
            level(&samples[from..from + length], &window, &mut work);
            turns.transform(&mut work);
            for (place, line) in lines.iter_mut().enumerate() {
                let (re, im) = work[place];
                // All but the first and the last stand for their mirror image too.
                let sides = if place == 0 || place == padded / 2 { 1.0 } else { 2.0 };
                *line += sides * (re * re + im * im) / (padded as f64 * weight * segments as f64);
            }
        }
        let resolution = 1.0 / (length as f64 * spacing);
        Some(Spectrum { spacing: 1.0 / (padded as f64 * spacing), resolution, lines })
    }

    /// Returns the total variance of all lines.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.lines.iter().sum()
    }

    /// Returns the variance per hertz at a line.
    #[must_use]
    pub fn density(&self, line: usize) -> f64 {
        self.lines[line] / self.spacing
    }

    /// Returns the strongest local maximum with at least one and a half cycles in a segment, and the power around it.
    #[must_use]
    pub fn peak(&self) -> Option<Peak> {
        let first = ((1.5 * self.resolution / self.spacing).ceil() as usize).max(1);
        let inner = first..self.lines.len().saturating_sub(1);
        let stands_out = |&at: &usize| self.lines[at] > self.lines[at - 1] && self.lines[at] >= self.lines[at + 1];
        let top = inner.filter(stands_out).max_by(|&a, &b| self.lines[a].total_cmp(&self.lines[b]))?;
        let total = self.total();
        // What rounding leaves of a straight line is no swing.
        if self.lines[top] <= 0.0 || total <= 0.0 {
            return None;
        }
        let [before, here, after] = [top - 1, top, top + 1].map(|at| ln(self.lines[at].max(f64::MIN_POSITIVE)));
        let bend = before - 2.0 * here + after;
        let off = if bend < 0.0 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 };
        let reach = (LOBE * self.resolution / self.spacing).round() as usize;
        // What is stronger than the peak is too slow to count, and no part of it.
        let part = |line: &&f64| **line <= self.lines[top];
        let below = self.lines[..top].iter().rev().take(reach).take_while(part).sum::<f64>();
        let above = self.lines[top..].iter().take(reach + 1).sum::<f64>();
        let power = below + above;
        Some(Peak {
            frequency: (top as f64 + off) * self.spacing,
            amplitude: (2.0 * power).sqrt(),
            share: (power / total).min(1.0),
            resolution: self.resolution,
        })
    }
}

/// Takes the straight line of least squares away and weighs what is left. What rounding leaves of a straight line is
/// nothing.
fn level(samples: &[f64], window: &[f64], into: &mut [(f64, f64)]) {
    let count = samples.len() as f64;
    let middle = 0.5 * (count - 1.0);
    let mean = samples.iter().sum::<f64>() / count;
    let (mut across, mut along) = (0.0, 0.0);
    for (at, value) in samples.iter().enumerate() {
        let x = at as f64 - middle;
        across += x * (value - mean);
        along += x * x;
    }
    let slope = across / along;
    let largest = samples.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let nothing = largest * count * f64::EPSILON;
    for (at, ((value, weight), place)) in samples.iter().zip(window).zip(into).enumerate() {
        let left = value - mean - slope * (at as f64 - middle);
        place.0 = if left.abs() > nothing { left * weight } else { 0.0 };
    }
}

/// Fourier transforms of one length, a power of two.
struct Turns {
    /// Cosine and sine of each part of half a turn.
    parts: Vec<(f64, f64)>,
}

impl Turns {
    fn new(length: usize) -> Turns {
        let part = |at: usize| {
            let (sine, cosine) = sin_cos(2.0 * std::f64::consts::PI * at as f64 / length as f64);
            (cosine, -sine)
        };
        Turns { parts: (0..length / 2).map(part).collect() }
    }

    /// In place; as long as this was made for.
    fn transform(&self, values: &mut [(f64, f64)]) {
        let length = values.len();
        let bits = length.trailing_zeros();
        for at in 0..length {
            let mirrored = at.reverse_bits() >> (usize::BITS - bits);
            if at < mirrored {
                values.swap(at, mirrored);
            }
        }
        let mut half = 1;
        while half < length {
            let stride = length / (2 * half);
            for block in values.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                for (at, (a, b)) in low.iter_mut().zip(high).enumerate() {
                    let (c, s) = self.parts[at * stride];
                    let turned = (b.0 * c - b.1 * s, b.0 * s + b.1 * c);
                    (*a, *b) = ((a.0 + turned.0, a.1 + turned.1), (a.0 - turned.0, a.1 - turned.1));
                }
            }
            half *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Stream;

    fn sine(count: usize, spacing: f64, frequency: f64, amplitude: f64) -> Vec<f64> {
        let turn = 2.0 * std::f64::consts::PI * frequency * spacing;
        (0..count).map(|at| amplitude * (turn * at as f64 + 0.7).sin()).collect()
    }

    #[test]
    fn a_transform_is_the_sum_it_stands_for() {
        let values: Vec<(f64, f64)> = (0..16).map(|at| (f64::from(at * at % 7), f64::from(at % 3))).collect();
        let mut fast = values.clone();
        Turns::new(16).transform(&mut fast);
        for (line, &(re, im)) in fast.iter().enumerate() {
            let mut sum = (0.0, 0.0);
            for (at, &(a, b)) in values.iter().enumerate() {
                let angle = -2.0 * std::f64::consts::PI * (line * at) as f64 / 16.0;
                sum = (sum.0 + a * angle.cos() - b * angle.sin(), sum.1 + a * angle.sin() + b * angle.cos());
            }
            assert!((sum.0 - re).abs() < 1e-12 && (sum.1 - im).abs() < 1e-12, "{line}");
        }
    }

    #[test]
    fn a_sine_is_told_by_frequency_and_amplitude() {
        // 0.1 s in steps of 50 us: segments of 50 ms, 20 Hz apart. Lines lie between, and the peak between those.
        for frequency in [47.3, 209.1, 275.94, 1733.0, 6000.0] {
            let swing = peak(&sine(2000, 50e-6, frequency, 3.0), 50e-6).expect("it swings");
            assert!((swing.resolution - 20.0).abs() < 1e-9);
            assert!((swing.frequency - frequency).abs() < 0.02 * swing.resolution, "{frequency}: {swing:?}");
            assert!((swing.amplitude / 3.0 - 1.0).abs() < 0.01 && swing.share > 0.98, "{frequency}: {swing:?}");
        }
    }

    #[test]
    fn levels_and_drifts_are_no_swing() {
        let swings = sine(2000, 1e-4, 50.0, 1.0);
        let drift: Vec<f64> = swings.iter().enumerate().map(|(at, s)| s + 70.0 + 0.1 * at as f64).collect();
        let swing = peak(&drift, 1e-4).expect("it swings");
        assert!((swing.frequency - 50.0).abs() < 0.5 && (swing.amplitude - 1.0).abs() < 0.02, "{swing:?}");
        assert_eq!(peak(&[24_000.1; 500], 1e-4), None);
        let straight: Vec<f64> = (0..500).map(|at| 3.0 - 0.1 * f64::from(at)).collect();
        assert_eq!(peak(&straight, 1e-4), None);
    }

    #[test]
    fn the_lines_add_up_to_the_variance() {
        let mut noise = Stream::new(7, 0, "noise");
        let samples: Vec<f64> = (0..4096).map(|_| noise.unit_f64() - 0.5).collect();
        let whole = Spectrum::of(&samples, 1e-3, 15).expect("a spectrum");
        assert!((whole.total() * 12.0 - 1.0).abs() < 0.05, "{}", whole.total());
        // Half of it on each side of the middle: the noise is white.
        let low: f64 = whole.lines[..whole.lines.len() / 2].iter().sum();
        assert!((low / whole.total() - 0.5).abs() < 0.05);
        assert!((whole.density(9) - whole.lines[9] / whole.spacing).abs() < 1e-12);
    }

    #[test]
    fn a_sine_in_noise_is_found_and_noise_has_no_share() {
        let mut noise = Stream::new(3, 1, "noise");
        let white: Vec<f64> = (0..4000).map(|_| 6.0 * (noise.unit_f64() - 0.5)).collect();
        let mixed: Vec<f64> = sine(4000, 1e-4, 209.1, 1.0).iter().zip(&white).map(|(a, b)| a + b).collect();
        // Six times its variance is noise.
        let swing = peak(&mixed, 1e-4).expect("it swings");
        assert!((swing.frequency - 209.1).abs() < 0.5 * swing.resolution, "{swing:?}");
        assert!((swing.amplitude - 1.0).abs() < 0.1 && (swing.share - 1.0 / 7.0).abs() < 0.05, "{swing:?}");
        let alone = peak(&white, 1e-4).expect("something is the strongest");
        assert!(alone.share < 0.02, "{alone:?}");
    }

    #[test]
    fn the_stronger_of_two_is_named_and_one_too_slow_is_not() {
        let two: Vec<f64> =
            sine(2000, 1e-4, 100.0, 1.0).iter().zip(sine(2000, 1e-4, 400.0, 2.0)).map(|(a, b)| a + b).collect();
        let swing = peak(&two, 1e-4).expect("it swings");
        assert!((swing.frequency - 400.0).abs() < 0.2 && (swing.amplitude - 2.0).abs() < 0.02, "{swing:?}");
        assert!((swing.share - 0.8).abs() < 0.01);
        // 0.7 times in the whole record.
        let slow = sine(2000, 1e-4, 3.5, 1.0);
        assert!(peak(&slow, 1e-4).is_none_or(|swing| swing.share < 0.05));
    }

    #[test]
    fn too_little_is_nothing() {
        assert_eq!(peak(&[], 1e-4), None);
        assert_eq!(peak(&sine(15, 1e-4, 900.0, 1.0), 1e-4), None);
        assert_eq!(peak(&sine(100, 1e-4, 900.0, 1.0), 0.0), None);
        assert_eq!(peak(&[f64::NAN; 100], 1e-4), None);
        assert!(peak(&sine(100, 1e-4, 900.0, 1.0), 1e-4).is_some());
    }
}
