//! Theorem 2 of the BCN paper: two alternating loops.
//!
//! The increase loop holds while `Fb > 0`, the decrease loop while `Fb < 0`. Both change the rate in proportion to the
//! same `Fb`, so they alternate at the maxima and minima of the rate. Without delay, a loop with the poles `-x +- jy`
//! takes the rate from one extremum to the next in half a period `pi / y` and shrinks the oscillation by
//! `e^(-pi x / y)`; a loop with two real poles converges without another switch. Two stable loops therefore form a
//! stable system, and a cycle of the system is half a period of each.
//!
//! With delay, the proof does not strictly hold, since a loop then starts from a whole history and not from an
//! extremum. The same rule with the rightmost roots is a good estimate where those dominate; [`measure`] integrates the
//! two alternating delayed loops and so gives the actual result.

use super::complex::Complex;
use super::delayed_loop::DelayedLoop;
use super::roots::rightmost;
use crate::Error;
use crate::fluid::bcn::Regime;
use crate::fluid::{Bcn, Fluid, Solver};
use units::math::{exp, ln};

/// The transient of the alternating loops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// Factor by which an oscillation shrinks in a cycle; zero if there is no oscillation.
    pub contraction: f64,
    /// Decay rate, per second; negative if the oscillation grows.
    pub decay: f64,
    /// Frequency of oscillation, in hertz; zero if there is none.
    pub frequency: f64,
}

impl Cycle {
    /// Returns whether the oscillation decays.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.decay > 0.0
    }

    /// Returns the time until a disturbance falls to 2 %, in seconds; infinite if it does not fall.
    #[must_use]
    pub fn settling(&self) -> f64 {
        if self.decay > 0.0 { ln(50.0) / self.decay } else { f64::INFINITY }
    }
}

/// Returns the cycle of two loops from the dominant root of each.
#[must_use]
pub fn by_roots(roots: [Complex; 2]) -> Cycle {
    let pi = std::f64::consts::PI;
    if let Some(real) = roots.iter().find(|root| root.im == 0.0) {
        // Whoever has real poles brings it to rest, or away, alone.
        return Cycle { contraction: 0.0, decay: -real.re, frequency: 0.0 };
    }
    let time = roots.iter().fold(0.0, |sum, root| sum + pi / root.im.abs());
    let growth = roots.iter().fold(0.0, |sum, root| sum + pi * root.re / root.im.abs());
    Cycle { contraction: exp(growth), decay: -growth / time, frequency: 1.0 / time }
}

/// Returns the cycle of the theorem, for `s^2 + k s + K` and `s^2 + k' s + K'`, each given as `(k, K)`.
#[must_use]
pub fn without_delay(loops: [(f64, f64); 2]) -> Cycle {
    by_roots(loops.map(|(k, whole)| {
        let under = 0.25 * k * k - whole;
        match under >= 0.0 {
            true => Complex::new(-0.5 * k + under.sqrt(), 0.0),
            false => Complex::new(-0.5 * k, (-under).sqrt()),
        }
    }))
}

/// Returns the estimate with delay, from the rightmost roots of each loop. Returns `None` if no root of a loop is
/// found.
#[must_use]
pub fn by_dominant_roots(loops: [&DelayedLoop; 2]) -> Option<Cycle> {
    let [a, b] = loops.map(|of| rightmost(of).dominant().map(|mode| mode.root));
    Some(by_roots([a?, b?]))
}

/// Two double integrators that alternate by the sign of their common feedback: `v' = u`, `u' = -(k u + K v)`, delayed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Turns {
    loops: [(f64, f64); 2],
    delay: f64,
}

impl Fluid<2> for Turns {
    type Regime = usize;

    fn delay(&self) -> f64 {
        self.delay
    }

    fn regime(&self, then: &[f64; 2]) -> usize {
        let (k, whole) = self.loops[0];
        usize::from(k * then[1] + whole * then[0] > 0.0)
    }

    fn change(&self, regime: usize, now: &[f64; 2], then: &[f64; 2]) -> [f64; 2] {
        let (k, whole) = self.loops[regime];
        [now[1], -(k * then[1] + whole * then[0])]
    }

    fn equilibrium(&self) -> Result<[f64; 2], Error> {
        Ok([0.0, 0.0])
    }

    fn near_equilibrium(&self) -> Vec<(&'static str, usize)> {
        vec![("first", 0), ("second", 1)]
    }
}

/// The same where growth is told by two samples some time apart, see [`Bcn::sampled_loop`]: `v' = u`, `f` follows `v`
/// within the lag, and what is fed back is `v + w h/l (v - f)`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SampledTurns {
    wholes: [f64; 2],
    /// The weight of growth times the gap over the lag.
    weight: f64,
    lag: f64,
    delay: f64,
}

impl Fluid<3> for SampledTurns {
    type Regime = usize;

    fn delay(&self) -> f64 {
        self.delay
    }

    fn regime(&self, then: &[f64; 3]) -> usize {
        usize::from(then[0] + self.weight * (then[0] - then[2]) > 0.0)
    }

    fn change(&self, regime: usize, now: &[f64; 3], then: &[f64; 3]) -> [f64; 3] {
        let back = then[0] + self.weight * (then[0] - then[2]);
        [now[1], -self.wholes[regime] * back, (now[0] - now[2]) / self.lag]
    }

    fn equilibrium(&self) -> Result<[f64; 3], Error> {
        Ok([0.0; 3])
    }

    fn near_equilibrium(&self) -> Vec<(&'static str, usize)> {
        vec![("first", 0), ("second", 1)]
    }
}

/// Returns the crossover of the fastest of some loops; `None` if it is out of range, or so fast that the delay exceeds
/// the time of many cycles.
fn fastest(loops: &[DelayedLoop]) -> Option<f64> {
    let frequencies = loops.iter().flat_map(DelayedLoop::crossovers).map(|crossover| crossover.frequency);
    let fastest = frequencies.fold(0.0, f64::max);
    let sense = |of: &DelayedLoop| of.delay() * fastest <= 1e3;
    Some(fastest).filter(|fastest| fastest.is_finite() && *fastest > 0.0 && loops.iter().all(sense))
}

/// The delay of loops that fast; one that turns the phase by less than a thousandth would only make the steps short.
fn told(delay: f64, fastest: f64) -> f64 {
    if delay * fastest < 1e-3 { 0.0 } else { delay }
}

/// Measures the cycle of a model whose first two quantities are an oscillating one and its slope, over the last two
/// thirds of some dozen cycles. Returns `None` if there is no oscillation.
fn swing<M: Fluid<N>, const N: usize>(of: &M, start: [f64; N], fastest: f64) -> Option<Cycle> {
    const CYCLES: usize = 48;
    // A hundred steps per period of the faster loop.
    let mut solver = Solver::new(of, |_| start, 0.06 / fastest);
    let mut peaks: Vec<(f64, f64)> = Vec::new();
    let mut before = solver.state();
    // Slower than a tenth of the crossover is no swing of this loop.
    let last = 10.0 * CYCLES as f64 * 6.3 / fastest;
    while peaks.len() < CYCLES && solver.time() < last {
        let start = solver.time();
        solver.advance();
        let state = solver.state();
        if before[1] > 0.0 && state[1] <= 0.0 {
            let part = before[1] / (before[1] - state[1]);
            // The parabola through the two slopes.
            let top = before[0] + 0.5 * part * part * solver.step() * (before[1] - state[1]);
            peaks.push((start + part * solver.step(), top));
            if !(1e-200..1e200).contains(&top) {
                break;
            }
        }
        before = state;
    }
    let from = peaks.len() / 3;
    let (&(t0, first), &(t1, end)) = (peaks.get(from)?, peaks.last()?);
    if t1 <= t0 || first <= 0.0 || end <= 0.0 {
        return None;
    }
    let cycles = (peaks.len() - 1 - from) as f64;
    let growth = ln(end / first) / cycles;
    let frequency = cycles / (t1 - t0);
    Some(Cycle { contraction: exp(growth), decay: -growth * frequency, frequency })
}

/// Measures the cycle of two delayed loops `s^2 + (k s + K) e^(-s tau)` with the same delay and the same `k/K`, by
/// integration. Returns `None` if there is no oscillation.
///
/// # Errors
/// Fails if the parameters do not form a loop.
pub fn measure(loops: [(f64, f64); 2], delay: f64) -> Result<Option<Cycle>, Error> {
    let [(k, whole), (other_k, other_whole)] = loops;
    let each = [
        DelayedLoop::double_integrator(k, whole, delay)?,
        DelayedLoop::double_integrator(other_k, other_whole, delay)?,
    ];
    let Some(fastest) = fastest(&each) else { return Ok(None) };
    Ok(swing(&Turns { loops, delay: told(delay, fastest) }, [1.0, 0.0], fastest))
}

/// Measures the cycle of BCN's two alternating loops with the lag of sampling. Returns `None` if there is no
/// oscillation.
///
/// # Errors
/// Fails if the parameters do not form a loop.
pub fn measure_sampled(of: &Bcn) -> Result<Option<Cycle>, Error> {
    let both = [Regime::Increase, Regime::Decrease];
    let each = [of.sampled_loop(both[0])?, of.sampled_loop(both[1])?];
    let Some(fastest) = fastest(&each) else { return Ok(None) };
    // Samples that close together are a steady stream.
    if of.lag() * fastest < 1e-3 {
        return measure(both.map(|regime| (of.pole(regime), of.stiffness(regime))), of.delay);
    }
    let wholes = both.map(|regime| of.stiffness(regime));
    let (weight, lag) = (of.weight / of.sampling_lag, of.lag());
    let turns = SampledTurns { wholes, weight, lag, delay: told(of.delay, fastest) };
    Ok(swing(&turns, [1.0, 0.0, 1.0], fastest))
}

/// Returns the delay from which BCN's two alternating loops do not converge, to a thousandth, with or without the lag
/// of sampling. Returns `None` if they do not converge without delay, or still converge at four times the lead.
#[must_use]
pub fn critical_delay(of: &Bcn, sampled: bool) -> Option<f64> {
    let settles = |delay: f64| {
        let of = Bcn { delay, ..of.clone() };
        let cycle = if sampled {
            measure_sampled(&of)
        } else {
            measure([Regime::Increase, Regime::Decrease].map(|regime| (of.pole(regime), of.stiffness(regime))), delay)
        };
        // What does not swing comes to rest.
        cycle.ok().map(|cycle| cycle.is_none_or(|cycle| cycle.is_stable()))
    };
    let (mut low, mut high) = (0.0, 4.0 * of.lead());
    if !settles(low)? || settles(high)? {
        return None;
    }
    while high - low > 5e-4 * high {
        let middle = 0.5 * (low + high);
        *(if settles(middle)? { &mut low } else { &mut high }) = middle;
    }
    Some(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(of: &Bcn) -> [(f64, f64); 2] {
        [Regime::Increase, Regime::Decrease].map(|regime| (of.pole(regime), of.stiffness(regime)))
    }

    #[test]
    fn one_half_period_of_each_by_hand() {
        // s^2 + 2 s + 10: -1 +- 3j; s^2 + 2 s + 5: -1 +- 2j. Half periods of pi/3 and pi/2.
        let cycle = without_delay([(2.0, 10.0), (2.0, 5.0)]);
        let pi = std::f64::consts::PI;
        assert!((cycle.frequency - 1.0 / (pi / 3.0 + pi / 2.0)).abs() < 1e-12);
        assert!((cycle.contraction - (-pi / 3.0 - pi / 2.0).exp()).abs() < 1e-12);
        assert!((cycle.decay - 1.0).abs() < 1e-12);
        // Real poles: -2 and -3.
        let cycle = without_delay([(5.0, 6.0), (2.0, 5.0)]);
        assert!(cycle.frequency == 0.0 && (cycle.decay - 2.0).abs() < 1e-12);
    }

    #[test]
    fn without_delay_the_theorem_is_what_happens() {
        let pair = [(200.0_f64, 1e6), (100.0, 0.5e6)];
        // The same k/K in both, as in BCN: 200 us.
        assert!((pair[0].0 / pair[0].1 - pair[1].0 / pair[1].1).abs() < 1e-12);
        let (theorem, measured) = (without_delay(pair), measure(pair, 0.0).expect("loops").expect("it swings"));
        assert!((theorem.frequency / measured.frequency - 1.0).abs() < 1e-3, "{theorem:?} {measured:?}");
        assert!((theorem.contraction / measured.contraction - 1.0).abs() < 5e-3, "{theorem:?} {measured:?}");
    }

    #[test]
    fn the_papers_parameters_take_turns_and_come_to_rest() {
        let of = Bcn::of_the_paper();
        let exact = [Regime::Increase, Regime::Decrease].map(|regime| of.delayed_loop(regime).expect("a loop"));
        let estimate = by_dominant_roots([&exact[0], &exact[1]]).expect("roots");
        let measured = measure(loops(&of), of.delay).expect("loops").expect("it swings");
        assert!(estimate.is_stable() && measured.is_stable());
        assert!((estimate.frequency / measured.frequency - 1.0).abs() < 0.05, "{estimate:?} {measured:?}");
        // 1733.77 and 1057.58 rad/s: half a period of each makes 209.1 Hz.
        assert!((estimate.frequency - 209.08).abs() < 0.05, "{estimate:?}");
    }

    #[test]
    fn a_single_loop_is_measured_as_its_roots_say() {
        let of = Bcn::of_the_paper();
        let increase = loops(&of)[0];
        let measured = measure([increase, increase], of.delay).expect("loops").expect("it swings");
        assert!((measured.decay - 44.56).abs() < 0.1 && (measured.frequency - 275.94).abs() < 0.05, "{measured:?}");
    }

    #[test]
    fn an_unstable_loop_can_be_held_by_a_stable_one() {
        let standing = |sources: f64| {
            let of = Bcn { sources, ..Bcn::of_the_paper() };
            let alone = of.delayed_loop(Regime::Decrease).expect("a loop").is_stable();
            (alone, measure(loops(&of), of.delay).expect("loops").expect("it swings").is_stable())
        };
        assert_eq!([3.0, 5.0, 6.0].map(standing), [(false, false), (false, true), (true, true)]);
    }

    #[test]
    fn samples_apart_cost_delay_in_turn_as_alone() {
        // The single loops lose 25 and 29 us of what they stand, and with them the whole.
        let at = |delay: f64| {
            let of = Bcn { delay, ..Bcn::of_the_paper() };
            measure_sampled(&of).expect("loops").expect("it swings")
        };
        let (near, far) = (at(195e-6), at(215e-6));
        assert!(near.is_stable() && !far.is_stable(), "{near:?} {far:?}");
        assert!((critical_delay(&Bcn::of_the_paper(), true).expect("an edge") - 211.2e-6).abs() < 0.1e-6);
        assert!((critical_delay(&Bcn::of_the_paper(), false).expect("an edge") - 230.5e-6).abs() < 0.1e-6);
        // Of single loops in turn with themselves the roots tell the same.
        let of = Bcn { delay: 150e-6, decrease_gain: 4e6 * 50.0 / 1e10, ..Bcn::of_the_paper() };
        let exact = of.sampled_loop(Regime::Increase).expect("a loop");
        let mode = rightmost(&exact).dominant().expect("a root");
        let cycle = measure_sampled(&of).expect("loops").expect("it swings");
        assert!((cycle.frequency / mode.frequency - 1.0).abs() < 1e-3, "{cycle:?} {mode:?}");
        assert!((cycle.decay + mode.root.re).abs() < 0.5, "{cycle:?} {mode:?}");
    }

    #[test]
    fn two_stable_loops_are_stable_in_turn_with_delay_too() {
        // Theorem 2's proof leaves out the delay. On a grid of pairs that are stable alone, up to a hundredth below
        // their critical delay, the statement holds.
        let lead = 240e-6;
        for first in [60.0, 300.0, 1500.0, 6000.0] {
            for ratio in [0.02, 0.2, 0.6] {
                let pair = [first, ratio * first].map(|k| (k, k / lead));
                let stands = pair
                    .map(|(k, whole)| DelayedLoop::double_integrator(k, whole, 0.0).expect("a loop").critical_delay());
                for part in [0.3, 0.9, 0.99] {
                    let cycle = measure(pair, part * stands[0].min(stands[1])).expect("loops");
                    assert!(cycle.is_none_or(|cycle| cycle.is_stable()), "{pair:?} {part}: {cycle:?}");
                }
            }
        }
    }

    #[test]
    fn real_poles_bring_it_to_rest_after_one_change_or_two() {
        // The proof of theorem 2: "if at least one system has two real poles ..., switching can happen at most once, and
        // the system with two real poles will bring" it to rest. After an impulse that starts in that system there are
        // two changes: the other system comes between. It comes to rest all the same.
        let changes = |pair: [(f64, f64); 2], slope: f64| {
            let of = Turns { loops: pair, delay: 0.0 };
            let mut solver = Solver::new(&of, |_| [0.0, slope], 1e-6);
            let (mut regimes, mut state) = (vec![of.regime(&[0.0, slope])], [0.0, slope]);
            // Nearer than this to rest there is nothing but rounding.
            while solver.time() < 0.05 && (state[1].abs() > 1e-9 || state[0].abs() > 1e-12) {
                solver.advance();
                state = solver.state();
                regimes.push(of.regime(&state));
            }
            assert!(state[1].abs() <= 1e-9, "{state:?}");
            regimes.dedup();
            regimes.len() - 1
        };
        // -500 +- 866j, and -1268 and -4732.
        let (complex, real) = ((1000.0, 1e6), (6000.0, 6e6));
        assert_eq!((changes([complex, real], 1.0), changes([complex, real], -1.0)), (2, 1));
        assert_eq!((changes([real, complex], 1.0), changes([real, complex], -1.0)), (1, 2));
    }

    #[test]
    fn samples_close_together_cost_nothing() {
        let (increase_gain, decrease_gain) = (0.004, 1.0 / 128e3);
        let of = Bcn { probability: 1.0, weight: 200.0, increase_gain, decrease_gain, ..Bcn::of_the_paper() };
        let sampled = measure_sampled(&of).expect("loops");
        assert_eq!(sampled, measure(loops(&of), of.delay).expect("loops"));
    }

    #[test]
    fn absurd_loops_are_not_measured() {
        for (pair, delay) in [((1e-200, 1e-300), 1e-4), ((1e200, 1e300), 1e-4), ((600.0, 3e6), 3600.0)] {
            assert_eq!(measure([pair, pair], delay), Ok(None), "{pair:?}");
        }
    }

    #[test]
    fn a_delay_beyond_both_grows() {
        let of = Bcn { delay: 238e-6, ..Bcn::of_the_paper() };
        let measured = measure(loops(&of), of.delay).expect("loops").expect("it swings");
        assert!(!measured.is_stable() && measured.settling().is_infinite(), "{measured:?}");
    }
}
