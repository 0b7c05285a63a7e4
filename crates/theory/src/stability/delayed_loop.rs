//! The exact analysis of a loop with one delay: `P(s) + Q(s) e^(-s tau) = 0`.
//!
//! `1 / P` is the loop's own dynamics, `Q` the delayed feedback. If the degree of `Q` is below that of `P`, the
//! equation has infinitely many roots, but only finitely many to the right of any vertical line, and they move
//! continuously with the delay. They can therefore be counted (Cooke and van den Driessche 1986, Walton and Marshall
//! 1987): without delay by Routh's scheme; with growing delay, a pair of roots can reach the imaginary axis only where
//! `|P(j omega)| = |Q(j omega)|`, which does not depend on the delay, and only at delays with the right phase. The sign
//! of the slope of `|P|^2 - |Q|^2` there tells whether the pair crosses to the right or to the left. The verdict needs
//! no approximation of `e^(-s tau)` and costs few operations.
//!
//! A source that compares two of its measurements, as TIMELY does, also reacts to what it measured a while before: `Q` is
//! then `Q0(s) + Q1(s) e^(-s d)`, with an [`Echo`]. The same argument holds for this `Q`; only the frequencies are found by
//! scanning, and the roots without `tau` are counted by the argument principle.

use super::complex::Complex;
use super::polynomial::Polynomial;
use super::roots::to_the_right;
use crate::Error;
use units::math::sin_cos;

const TURN: f64 = 2.0 * std::f64::consts::PI;

/// A loop with one delay; see the [module documentation](self).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayedLoop {
    own: Polynomial,
    late: Polynomial,
    delay: f64,
    echo: Option<Echo>,
}

/// A second part of the feedback, which comes back later than the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Echo {
    /// `Q1`.
    pub late: Polynomial,
    /// `d`: how much later, in seconds.
    pub apart: f64,
}

/// A frequency at which the open loop has a gain of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossover {
    /// Frequency in radians per second.
    pub frequency: f64,
    /// Phase that a delay may add until roots lie on the imaginary axis, in radians from 0 to a full turn.
    pub room: f64,
    /// Whether roots then cross to the right as the delay grows; otherwise they cross to the left.
    pub outward: bool,
}

/// The change of gain that changes the verdict on a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GainMargin {
    /// The verdict changes at this factor: above one the gain may grow by it, below one the gain must fall to it.
    Factor(f64),
    /// The loop is stable at any larger gain.
    Unlimited,
    /// No margin: the loop is unstable, also at any smaller gain.
    None,
}

impl GainMargin {
    /// Returns the factor, if there is one.
    #[must_use]
    pub fn factor(self) -> Option<f64> {
        match self {
            GainMargin::Factor(factor) => Some(factor),
            GainMargin::Unlimited | GainMargin::None => None,
        }
    }
}

/// Stability margins of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// Whether all roots lie in the left half-plane.
    pub stable: bool,
    /// Number of roots that do not.
    pub unstable_roots: usize,
    /// Crossover with the smallest margin, in radians per second; `None` if there is no crossover.
    pub crossover: Option<f64>,
    /// Phase margin there, in radians; negative if the loop is unstable.
    pub phase: f64,
    /// Gain margin.
    pub gain: GainMargin,
    /// Delay from which the loop is unstable: infinite if there is none, zero if it is unstable without delay.
    pub critical_delay: f64,
}

impl DelayedLoop {
    /// Creates the loop with these polynomials and this delay in seconds.
    ///
    /// # Errors
    /// Fails if the delay is negative, if the degree of `P` is above four, or if the degree of `Q` is not below that of
    /// `P`.
    pub fn new(own: Polynomial, late: Polynomial, delay: f64) -> Result<DelayedLoop, Error> {
        if !delay.is_finite() || delay < 0.0 {
            return Err(Error::BadParameter {
                name: "delay",
                value: delay,
                rule: "a delay is finite and not below zero",
            });
        }
        let (degree, finite) = (own.degree(), own.at(1.0).is_finite() && late.at(1.0).is_finite());
        if degree > 4 || late.degree() >= degree || !finite {
            let rule = "the loop must be finite, of degree 1 to 4, and what comes back late of a lower degree";
            return Err(Error::BadParameter { name: "degree", value: degree as f64, rule });
        }
        Ok(DelayedLoop { own, late, delay, echo: None })
    }

    /// Returns the loop with a second part of the feedback.
    ///
    /// # Errors
    /// Fails if it does not come later, or if its degree is not below that of `P`.
    pub fn with_echo(self, echo: Echo) -> Result<DelayedLoop, Error> {
        DelayedLoop::new(self.own, echo.late, echo.apart)?;
        let rule = "a time between two measurements is above zero";
        crate::fluid::demand(echo.apart > 0.0, "apart", echo.apart, rule)?;
        Ok(DelayedLoop { echo: Some(echo), ..self })
    }

    /// Creates the loop `s^2 + (k s + K) e^(-s tau)`: a double integrator with delayed feedback.
    ///
    /// # Errors
    /// See [`DelayedLoop::new`].
    pub fn double_integrator(k: f64, whole: f64, delay: f64) -> Result<DelayedLoop, Error> {
        DelayedLoop::new(Polynomial::new(&[0.0, 0.0, 1.0]), Polynomial::new(&[whole, k]), delay)
    }

    /// Returns `P`.
    #[must_use]
    pub fn own(&self) -> &Polynomial {
        &self.own
    }

    /// Returns `Q`, or `Q0` of a loop with an echo.
    #[must_use]
    pub fn late(&self) -> &Polynomial {
        &self.late
    }

    /// Returns the second part of the feedback, if there is one.
    #[must_use]
    pub fn echo(&self) -> Option<&Echo> {
        self.echo.as_ref()
    }

    /// Returns `Q`, with its echo, at a complex frequency.
    #[must_use]
    pub fn feedback(&self, s: Complex) -> Complex {
        let first = self.late.at_complex(s);
        self.echo.map_or(first, |echo| first + echo.late.at_complex(s) * s.scaled(-echo.apart).exp())
    }

    /// Returns the delay, in seconds.
    #[must_use]
    pub fn delay(&self) -> f64 {
        self.delay
    }

    /// Returns the loop with another delay.
    #[must_use]
    pub fn with_delay(&self, delay: f64) -> DelayedLoop {
        DelayedLoop { delay, ..*self }
    }

    /// Returns the loop with its gain multiplied by a factor.
    #[must_use]
    pub fn with_gain(&self, factor: f64) -> DelayedLoop {
        let echo = self.echo.map(|echo| Echo { late: echo.late.scaled(factor), ..echo });
        DelayedLoop { late: self.late.scaled(factor), echo, ..*self }
    }

    /// Returns `P(s) + Q(s) e^(-s tau)`.
    #[must_use]
    pub fn characteristic(&self, s: Complex) -> Complex {
        self.own.at_complex(s) + self.feedback(s) * s.scaled(-self.delay).exp()
    }

    /// Returns the open-loop transfer function `Q/P e^(-s tau)` at `s = j omega`.
    #[must_use]
    pub fn open_loop(&self, frequency: f64) -> Complex {
        let s = Complex::new(0.0, frequency);
        let (sine, cosine) = sin_cos(-frequency * self.delay);
        self.feedback(s) / self.own.at_complex(s) * Complex::new(cosine, sine)
    }

    /// Returns the frequencies at which `|P| = |Q|`, in order.
    #[must_use]
    pub fn crossovers(&self) -> Vec<Crossover> {
        let room = |frequency: f64| {
            let s = Complex::new(0.0, frequency);
            // On the axis e^(-j omega tau) = -P/Q, so omega tau is the angle of -Q/P.
            let angle = (-self.feedback(s) * self.own.at_complex(s).conjugate()).argument();
            if angle < 0.0 { angle + TURN } else { angle }
        };
        if let Some(echo) = &self.echo {
            let found = self.scan(echo.apart).into_iter();
            return found.map(|(frequency, outward)| Crossover { frequency, room: room(frequency), outward }).collect();
        }
        let late = self.late.squared_on_the_imaginary_axis().scaled(-1.0);
        let difference = self.own.squared_on_the_imaginary_axis().plus(&late);
        let slope = difference.derivative();
        let one = |square: f64| {
            let frequency = square.sqrt();
            Crossover { frequency, room: room(frequency), outward: slope.at(square) > 0.0 }
        };
        difference.positive_roots().into_iter().map(one).collect()
    }

    /// The frequencies at which `|P| = |Q|` of a loop with an echo, and whether the difference rises there. Steps are a
    /// hundredth of the frequency, and short enough to see every turn of the echo.
    fn scan(&self, apart: f64) -> Vec<(f64, bool)> {
        let excess = |frequency: f64| {
            let s = Complex::new(0.0, frequency);
            self.own.at_complex(s).abs() - self.feedback(s).abs()
        };
        let top = super::roots::farthest(self, 0.0);
        let mut found = Vec::new();
        if !(top > 0.0 && top.is_finite()) || top * apart > 1e5 {
            return found;
        }
        let mut at = top * 1e-7;
        let mut value = excess(at);
        while at < top {
            let next = (at * 1.01).min(at + 0.1 / apart);
            let beyond = excess(next);
            if (value > 0.0) != (beyond > 0.0) {
                let (mut low, mut high) = (at, next);
                for _ in 0..100 {
                    let middle = 0.5 * (low + high);
                    if middle <= low || middle >= high {
                        break;
                    }
                    *(if (excess(middle) > 0.0) == (value > 0.0) { &mut low } else { &mut high }) = middle;
                }
                found.push((0.5 * (low + high), beyond > 0.0));
            }
            (at, value) = (next, beyond);
        }
        found
    }

    /// Returns the number of roots to the right without delay; `None` if one is at zero at any delay.
    fn unstable_without_delay(&self) -> Option<usize> {
        let sum = self.own.plus(&self.late);
        if let Some(echo) = &self.echo {
            let still = sum.coefficient(0) + echo.late.coefficient(0) == 0.0;
            return if still { None } else { to_the_right(&self.with_delay(0.0)) };
        }
        (sum.coefficient(0) != 0.0).then(|| sum.roots_to_the_right())
    }

    /// Returns the number of roots to the right of the imaginary axis, or on it at zero.
    #[must_use]
    pub fn unstable_roots(&self) -> usize {
        self.count(&self.crossovers())
    }

    fn count(&self, crossovers: &[Crossover]) -> usize {
        let Some(start) = self.unstable_without_delay() else { return 1 };
        let mut count = start as f64;
        for crossover in crossovers {
            let beyond = (crossover.frequency * self.delay - crossover.room) / TURN;
            // On the axis itself counts as beyond.
            let pairs = if beyond < 0.0 { 0.0 } else { beyond.floor() + 1.0 };
            count += if crossover.outward { 2.0 * pairs } else { -2.0 * pairs };
        }
        if count > 0.0 { count as usize } else { 0 }
    }

    /// Returns whether all roots lie in the left half-plane.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.unstable_roots() == 0
    }

    /// Returns the phase margin in radians, and its crossover; negative exactly if the loop is unstable. With one
    /// crossover it is the classical phase margin.
    #[must_use]
    pub fn phase_margin(&self) -> (f64, Option<f64>) {
        let crossovers = self.crossovers();
        let stable = self.count(&crossovers) == 0;
        let mut worst: Option<(f64, f64)> = None;
        for crossover in crossovers {
            let spent = crossover.frequency * self.delay;
            let mut left = crossover.room - spent;
            if stable || !crossover.outward {
                // Only the next time that roots come to the axis matters.
                left -= TURN * (left / TURN).floor();
                left = if crossover.outward { left } else { left.min(TURN - left) };
            }
            if worst.is_none_or(|(least, _)| left < least) {
                worst = Some((left, crossover.frequency));
            }
        }
        let none = if stable { TURN / 2.0 } else { -TURN / 2.0 };
        let (left, frequency) = worst.map_or((none, None), |(left, frequency)| (left, Some(frequency)));
        // Unstable for another reason than delay: as far beyond as it would be within.
        let left = if !stable && left > 0.0 { -left } else { left };
        (left, frequency)
    }

    /// Returns the delay from which the loop is unstable.
    #[must_use]
    pub fn critical_delay(&self) -> f64 {
        if self.unstable_without_delay() != Some(0) {
            return 0.0;
        }
        let outward = self.crossovers().into_iter().filter(|crossover| crossover.outward);
        outward.map(|crossover| crossover.room / crossover.frequency).fold(f64::INFINITY, f64::min)
    }

    /// Returns the factor of the gain at which the verdict changes, if there is one.
    #[must_use]
    pub fn gain_margin(&self) -> GainMargin {
        const FURTHEST: f64 = 1e9;
        const STEP: f64 = 1.05;
        let stable = self.is_stable();
        let mut near = 1.0;
        let mut far = 1.0;
        while self.with_gain(far).is_stable() == stable {
            near = far;
            far = if stable { far * STEP } else { far / STEP };
            if far > FURTHEST {
                return GainMargin::Unlimited;
            }
            if far < 1.0 / FURTHEST {
                return GainMargin::None;
            }
        }
        for _ in 0..100 {
            let middle = 0.5 * (near + far);
            if middle == near || middle == far {
                break;
            }
            *(if self.with_gain(middle).is_stable() == stable { &mut near } else { &mut far }) = middle;
        }
        GainMargin::Factor(0.5 * (near + far))
    }

    /// Returns all margins.
    #[must_use]
    pub fn margins(&self) -> Margins {
        let unstable_roots = self.unstable_roots();
        let (phase, crossover) = self.phase_margin();
        let (gain, critical_delay) = (self.gain_margin(), self.critical_delay());
        Margins { stable: unstable_roots == 0, unstable_roots, crossover, phase, gain, critical_delay }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TAU: f64 = 200e-6;
    /// Gi = 4, Ru = 1 Mb/s, w = 2, P = 0.01, frames of 12000 bits, 10 Gb/s: the increase loop of the paper.
    const INCREASE: (f64, f64) = (8e6 / 12e3, 4e4 * 1e10 / 1.44e8);
    /// Gd = 1/128, 50 sources: the decrease loop.
    const DECREASE: (f64, f64) = (2e10 / 128.0 / 50.0 / 12e3, 0.01 * 1e20 / 128.0 / 50.0 / 1.44e8);

    fn double((k, whole): (f64, f64), delay: f64) -> DelayedLoop {
        DelayedLoop::double_integrator(k, whole, delay).expect("a loop")
    }

    fn near(value: f64, expected: f64, digits: f64) -> bool {
        (value - expected).abs() <= 0.5 * digits
    }

    fn factor(margins: &Margins) -> f64 {
        margins.gain.factor().expect("a gain margin")
    }

    #[test]
    fn the_margins_of_the_papers_parameters() {
        let increase = double(INCREASE, TAU).margins();
        assert!(increase.stable && near(increase.phase.to_degrees(), 2.725, 1e-3), "{increase:?}");
        assert!(near(factor(&increase), 3.342, 1e-3), "{increase:?}");
        assert!(near(increase.critical_delay, 227.42e-6, 1e-8), "{increase:?}");
        let decrease = double(DECREASE, TAU).margins();
        assert!(decrease.stable && near(decrease.phase.to_degrees(), 2.124, 1e-3), "{decrease:?}");
        assert!(near(factor(&decrease), 8.555, 1e-3), "{decrease:?}");
        assert!(near(decrease.critical_delay, 235.03e-6, 1e-8), "{decrease:?}");
    }

    #[test]
    fn the_closed_forms_of_the_double_integrator() {
        for (k, whole) in [INCREASE, DECREASE] {
            let of = double((k, whole), TAU);
            let crossover = ((k * k + (k * k * k * k + 4.0 * whole * whole).sqrt()) / 2.0).sqrt();
            let lead = k / whole;
            let phase = units::math::atan(crossover * lead) - crossover * TAU;
            let margins = of.margins();
            assert!((margins.crossover.expect("one") - crossover).abs() < 1e-9 * crossover);
            assert!((margins.phase - phase).abs() < 1e-12);
            assert!((margins.critical_delay - units::math::atan(crossover * lead) / crossover).abs() < 1e-15);
            assert!((of.open_loop(crossover).abs() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn no_gain_is_stable_from_the_lead_on() {
        // T = k/K = 240 us: beyond it the delay takes more than the lead gives at every frequency.
        for gain in [1e-6, 1e-3, 0.1, 1.0, 10.0] {
            assert!(!double(INCREASE, 240e-6).with_gain(gain).is_stable());
            for delay in [241e-6, 300e-6, 2e-3] {
                let of = double(INCREASE, delay).with_gain(gain);
                assert!(!of.is_stable() && of.margins().gain == GainMargin::None, "{gain} {delay}");
            }
        }
        assert!(double(INCREASE, 239e-6).with_gain(1e-3).is_stable());
    }

    #[test]
    fn without_delay_every_gain_is_stable() {
        let margins = double(INCREASE, 0.0).margins();
        assert!(margins.stable && margins.gain == GainMargin::Unlimited && margins.critical_delay > 0.0, "{margins:?}");
    }

    #[test]
    fn a_first_order_loop_turns_at_a_quarter_turn() {
        // s + k e^(-s tau) is stable up to k tau = pi/2, with roots at +-jk there.
        let of = |k: f64| {
            DelayedLoop::new(Polynomial::new(&[0.0, 1.0]), Polynomial::new(&[k]), 1.0).expect("a loop").unstable_roots()
        };
        let quarter = std::f64::consts::FRAC_PI_2;
        assert_eq!((of(quarter - 1e-9), of(quarter + 1e-9)), (0, 2));
        // The next pair comes a whole turn later.
        assert_eq!((of(5.0 * quarter - 1e-9), of(5.0 * quarter + 1e-9)), (2, 4));
        assert_eq!(of(-1.0), 1);
    }

    #[test]
    fn delay_can_stabilise_what_is_unstable_without() {
        // s^2 - 0.1 s + 1 - 0.5 e^(-s tau): unstable, then stable for some delays, then unstable for good.
        let of = |delay: f64| {
            let own = Polynomial::new(&[1.0, -0.1, 1.0]);
            DelayedLoop::new(own, Polynomial::new(&[-0.5]), delay).expect("a loop").unstable_roots()
        };
        assert_eq!((of(0.0), of(1.0), of(4.0)), (2, 0, 2));
        assert!(of(1000.0) > 4);
    }

    #[test]
    fn loops_that_are_none_are_refused() {
        let own = Polynomial::new(&[0.0, 1.0]);
        let error = DelayedLoop::new(own, Polynomial::new(&[1.0]), -1.0).expect_err("a delay below zero");
        assert!(error.to_string().contains("delay"), "{error}");
        assert!(DelayedLoop::new(own, Polynomial::new(&[1.0]), f64::NAN).is_err());
        assert!(DelayedLoop::new(own, Polynomial::new(&[1.0, 1.0]), 1.0).is_err());
        assert!(DelayedLoop::new(Polynomial::new(&[f64::INFINITY, 1.0]), Polynomial::new(&[1.0]), 1.0).is_err());
    }

    proptest! {
        #[test]
        fn the_sign_of_the_phase_margin_is_the_verdict(k in 1.0_f64..1e4, lead in 1e-5_f64..1e-2, delay in 0.0_f64..1e-2) {
            let of = double((k, k / lead), delay);
            let (phase, _) = of.phase_margin();
            prop_assert_eq!(phase > 0.0, of.is_stable());
            prop_assert_eq!(of.is_stable(), delay < of.critical_delay());
        }
    }
}
