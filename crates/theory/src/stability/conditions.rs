//! Theorem 3 of the BCN paper: four conditions for the stability of its linearised loops.
//!
//! With the pole `p = k` of a loop limited to `1/(a tau)`, `a >= 1`, the paper drops the delay inside the pole (its
//! appendix I), which leaves `k / (T s (s + k)) e^(-s tau)`. Its phase is -180 degrees at `s* = b p`, where
//! `b/a + arctan b = pi/2`; the gain must be below one there, which gives conditions (ii) and (iv). The approximation
//! matters: on the boundary of the conditions, the exact loop `s^2 + (k s + k/T) e^(-s tau)` has the phase margin
//! `(b - sqrt(b^2 + 1)) / a`, which is negative. The theorem's verdict and the exact one can therefore differ. The
//! conditions are not necessary either: with `k tau` between 1 and pi/2 no `a` of at least one is small enough, yet a
//! loop with a long lead is stable.

use crate::Error;
use crate::fluid::Bcn;
use crate::fluid::bcn::Regime;
use units::math::atan;

/// A condition with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Number in the paper.
    pub name: &'static str,
    /// Formula.
    pub formula: &'static str,
    /// Left side.
    pub left: f64,
    /// Right side.
    pub right: f64,
    /// Whether the condition holds.
    pub holds: bool,
}

/// The four conditions for one choice of `a`, or for one per loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Theorem3 {
    /// `a` of the increase loop and of the decrease loop.
    pub a: [f64; 2],
    /// `b` of the increase loop and of the decrease loop.
    pub b: [f64; 2],
    /// Conditions (i) to (iv).
    pub conditions: [Condition; 4],
}

/// Returns the `b` that corresponds to `a`: `b/a + arctan b = pi/2`.
///
/// # Errors
/// Fails if `a` is below one, which the theorem does not allow.
pub fn solve_b(a: f64) -> Result<f64, Error> {
    if a.is_nan() || a < 1.0 {
        return Err(Error::BadParameter { name: "a", value: a, rule: "theorem 3 requires a to be at least 1" });
    }
    if a.is_infinite() {
        return Ok(f64::INFINITY);
    }
    // Increasing and bent down, so Newton's iteration from the left never passes the solution.
    let mut b = 0.0;
    for _ in 0..200 {
        let rest = std::f64::consts::FRAC_PI_2 - b / a - atan(b);
        let next = b + rest / (1.0 / a + 1.0 / (1.0 + b * b));
        if next <= b {
            break;
        }
        b = next;
    }
    Ok(b)
}

/// Returns the phase margin, in radians, of the exact loop whose parameters lie on the boundary of the conditions for
/// `a`: `(b - sqrt(b^2 + 1)) / a`.
///
/// # Errors
/// Fails if `a` is below one.
pub fn phase_on_the_edge(a: f64) -> Result<f64, Error> {
    let b = solve_b(a)?;
    // The same as b - sqrt(b^2 + 1), without subtracting neighbours.
    Ok(-1.0 / ((b + (b * b + 1.0).sqrt()) * a))
}

/// Returns the largest `a` that conditions (i) and (iii) allow: `1 / (k tau)` of the increase and of the decrease loop.
#[must_use]
pub fn own_margins(of: &Bcn) -> [f64; 2] {
    [Regime::Increase, Regime::Decrease].map(|regime| 1.0 / (of.pole(regime) * of.delay))
}

/// Returns the largest `a` that both loops allow.
#[must_use]
pub fn largest_common(of: &Bcn) -> f64 {
    let [increase, decrease] = own_margins(of);
    increase.min(decrease)
}

impl Theorem3 {
    /// Returns the conditions with one `a` for both loops, as in the theorem.
    ///
    /// # Errors
    /// Fails if `a` is below one.
    pub fn at(of: &Bcn, a: f64) -> Result<Theorem3, Error> {
        Theorem3::at_each(of, [a, a])
    }

    /// Returns the conditions with the largest `a` that each pole allows: they hold for some choice of `a` per loop if
    /// and only if they hold for this one, because `b` grows with `a`. If a pole allows none, `a` is one.
    ///
    /// # Errors
    /// None for valid parameters.
    pub fn at_own(of: &Bcn) -> Result<Theorem3, Error> {
        Theorem3::at_each(of, own_margins(of).map(|a| a.max(1.0)))
    }

    /// Returns the conditions with one `a` for the increase loop and one for the decrease loop.
    ///
    /// # Errors
    /// Fails if either is below one.
    pub fn at_each(of: &Bcn, a: [f64; 2]) -> Result<Theorem3, Error> {
        let b = [solve_b(a[0])?, solve_b(a[1])?];
        let bits = 8.0 * of.frame;
        let unit = of.increase_gain * of.rate_unit;
        let (w, p, c, n) = (of.weight, of.probability, of.capacity, of.sources);
        // Without delay the pole is not bound at all.
        let bound = |numerator: f64, a: f64| if of.delay > 0.0 { numerator / (a * of.delay) } else { f64::INFINITY };
        let shape = |b: f64| b * (b * b + 1.0).sqrt();
        let at_most = |name, formula, left: f64, right: f64| {
            // An `a` taken from the pole itself meets the bound exactly; rounding must not break it.
            Condition { name, formula, left, right, holds: left <= right * (1.0 + 1e-12) }
        };
        let above =
            |name, formula, left: f64, right: f64| Condition { name, formula, left, right, holds: left > right };
        Ok(Theorem3 {
            a,
            b,
            conditions: [
                at_most("(i)", "Gi Ru w / S <= 1/(a tau)", unit * w / bits, bound(1.0, a[0])),
                above("(ii)", "Gi Ru w^2 > P C / (b sqrt(b^2 + 1))", unit * w * w, p * c / shape(b[0])),
                at_most("(iii)", "Gd w <= S N / (a C tau)", of.decrease_gain * w, bound(bits * n / c, a[1])),
                above("(iv)", "Gd w^2 > P N / (b sqrt(b^2 + 1))", of.decrease_gain * w * w, p * n / shape(b[1])),
            ],
        })
    }

    /// Returns whether all four conditions hold.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.conditions.iter().all(|condition| condition.holds)
    }

    /// Returns the slack of the tightest condition as a fraction of its larger side; negative if it does not hold.
    #[must_use]
    pub fn slack(&self) -> f64 {
        let [i, ii, iii, iv] = self.conditions;
        least([i.right / i.left, ii.left / ii.right, iii.right / iii.left, iv.left / iv.right])
    }
}

/// Returns the slack of the theorem with the most favourable `a` per loop: conditions (i) and (iii) then only require
/// that this `a` is at least one.
///
/// # Errors
/// None for valid parameters.
pub fn slack_at_own(of: &Bcn) -> Result<f64, Error> {
    let [_, ii, _, iv] = Theorem3::at_own(of)?.conditions;
    let [increase, decrease] = own_margins(of);
    Ok(least([increase, ii.left / ii.right, decrease, iv.left / iv.right]))
}

/// The smallest of some ratios that should be above one, as a distance from it between -1 and 1.
fn least(ratios: [f64; 4]) -> f64 {
    ratios
        .iter()
        .fold(f64::INFINITY, |least: f64, &ratio| least.min(if ratio >= 1.0 { 1.0 - 1.0 / ratio } else { ratio - 1.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::Tunable;
    use crate::stability::switched::measure;
    use crate::stability::{Complex, rightmost};
    use proptest::prelude::*;

    fn holds(theorem: &Theorem3) -> [bool; 4] {
        theorem.conditions.map(|condition| condition.holds)
    }

    #[test]
    fn b_of_the_papers_a_is_not_quite_the_papers() {
        let b = solve_b(5.0).expect("a is above one");
        assert!((b - 2.164).abs() < 5e-4, "{b}");
        assert!((b / 5.0 + b.atan() - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
        let b = solve_b(1.0).expect("a is one");
        assert!((b - 0.860_333_589_019_379_8).abs() < 1e-15, "b tan b = 1 has 0.8603: {b}");
    }

    #[test]
    fn a_below_one_is_refused() {
        for a in [0.99, 0.0, -5.0, f64::NAN] {
            let error = Theorem3::at(&Bcn::of_the_paper(), a).expect_err("too small");
            assert!(error.to_string().contains("a to be at least 1"), "{error}");
        }
    }

    #[test]
    fn the_papers_own_choice_fails_two_conditions() {
        let of = Bcn::of_the_paper();
        let theorem = Theorem3::at(&of, 5.0).expect("a choice");
        assert_eq!(holds(&theorem), [true, false, true, false]);
        let [i, ii, iii, iv] = theorem.conditions;
        assert!((i.left - 666.667).abs() < 1e-3 && (i.right - 1000.0).abs() < 1e-9);
        assert!((ii.left - 1.6e7).abs() < 1.0 && (ii.right - 1.938e7).abs() < 1e4, "{ii:?}");
        assert!((iii.left - 0.015_625).abs() < 1e-12 && (iii.right - 0.06).abs() < 1e-12);
        assert!((iv.left - 0.031_25).abs() < 1e-12 && (iv.right - 0.0969).abs() < 1e-4, "{iv:?}");
        // The printed b = 2.2 does not save it: 2.2 sqrt(2.2^2 + 1) = 5.317, where 6.25 and 16 are wanted.
        let shape = |b: f64| b * (b * b + 1.0).sqrt();
        assert!(1e8 / shape(2.2) > ii.left && 0.5 / shape(2.2) > iv.left);
    }

    #[test]
    fn with_each_poles_own_a_they_hold() {
        let of = Bcn::of_the_paper();
        let [increase, decrease] = own_margins(&of);
        assert!((increase - 7.5).abs() < 1e-9 && (decrease - 19.2).abs() < 1e-9);
        assert_eq!(holds(&Theorem3::at_own(&of).expect("a choice")), [true; 4]);
        // One `a` for both does not do.
        let common = Theorem3::at(&of, largest_common(&of)).expect("a choice");
        assert_eq!(holds(&common), [true, true, true, false]);
        assert!(common.slack() < 0.0);
        // (iv) is the tightest: 0.03125 against 0.02582.
        let slack = slack_at_own(&of).expect("a choice");
        assert!((slack - (1.0 - 0.025_82 / 0.031_25)).abs() < 1e-3, "{slack}");
    }

    #[test]
    fn on_its_edge_the_exact_loop_is_unstable() {
        for a in [1.0, 2.0, 5.0, 7.5, 19.2, 100.0] {
            // k = 1/(a tau) and T = 1 / (k b sqrt(b^2 + 1)): both conditions with the sign of equality.
            let b = solve_b(a).expect("a choice");
            let k = 1.0 / (a * 200e-6);
            let lead = 1.0 / (k * b * (b * b + 1.0).sqrt());
            let of = crate::stability::DelayedLoop::double_integrator(k, k / lead, 200e-6).expect("a loop");
            let (phase, crossover) = of.phase_margin();
            let edge = phase_on_the_edge(a).expect("a choice");
            assert!(edge < 0.0 && (phase - edge).abs() < 1e-12, "{a}: {phase} {edge}");
            assert!((edge - (b - (b * b + 1.0).sqrt()) / a).abs() < 1e-12);
            assert!((crossover.expect("one") / k - (b * b + 1.0).sqrt()).abs() < 1e-12);
            assert!(!of.is_stable());
        }
    }

    #[test]
    fn the_theorem_holds_where_the_exact_loop_is_unstable() {
        // Just inside the edge of the increase loop's conditions at a = 5.
        let b = solve_b(5.0).expect("a choice");
        let of = Bcn { increase_gain: 6.0 * 0.999, ..Bcn::of_the_paper() };
        let probability = 1.01 * 8.0 * of.frame * of.weight * 1000.0 * b * (b * b + 1.0).sqrt() / of.capacity;
        let of = of.with("probability", 0.98 * probability).expect("a parameter");
        let theorem = Theorem3::at(&of, 5.0).expect("a choice");
        assert!(theorem.conditions[0].holds && theorem.conditions[1].holds, "{theorem:?}");
        assert!(!of.delayed_loop(Regime::Increase).expect("a loop").is_stable());
    }

    #[test]
    fn a_loop_that_no_a_admits_is_stable() {
        // Section III.B: "by varying a, one can obtain the complete set of parameters that ensure the stability". Here
        // k tau = 1.2 in both loops, so (i) and (iii) ask for an a of at most 1/1.2, and a is at least 1. The lead of
        // 4.8 ms is 24 delays. Both gains weigh the same, Gi Ru = Gd C/N, so that both systems are one linear loop,
        // there is nothing to switch, and the exact criterion is the whole truth.
        let of =
            Bcn { probability: 5e-4, increase_gain: 36.0, decrease_gain: 36e6 * 50.0 / 1e10, ..Bcn::of_the_paper() };
        assert!(own_margins(&of).iter().all(|a| (a - 1.0 / 1.2).abs() < 1e-12), "{:?}", own_margins(&of));
        for a in (0..4000).map(|step| 1.0 + 0.01 * f64::from(step)) {
            assert!(!Theorem3::at(&of, a).expect("a choice").holds(), "{a}");
        }
        assert!(slack_at_own(&of).expect("a choice") < 0.0);
        // Exactly, by the delays at which roots reach the axis; by the roots, counted by the argument principle; and by
        // integrating the delayed equations.
        for regime in [Regime::Increase, Regime::Decrease] {
            let exact = of.delayed_loop(regime).expect("a loop");
            let margins = exact.margins();
            assert!(margins.stable && margins.phase.to_degrees() > 8.0, "{margins:?}");
            assert!(margins.critical_delay > 1.1 * of.delay, "{margins:?}");
            let roots = rightmost(&exact);
            assert!(roots.complete && roots.found.iter().all(|root| root.re < 0.0), "{roots:?}");
        }
        let pair = [Regime::Increase, Regime::Decrease].map(|regime| (of.pole(regime), of.stiffness(regime)));
        let cycle = measure(pair, of.delay).expect("loops");
        assert!(cycle.is_none_or(|cycle| cycle.is_stable()), "{cycle:?}");
    }

    /// Appendix I's `1 / (s + a e^(-s tau))` and `1 / (s + a)` with `tau = 1`, at `s = j w`.
    fn inner(a: f64, w: f64) -> (Complex, Complex) {
        let (sine, cosine) = units::math::sin_cos(-w);
        let one = Complex::new(1.0, 0.0);
        (one / Complex::new(a * cosine, w + a * sine), one / Complex::new(a, w))
    }

    #[test]
    fn the_simple_pole_of_appendix_i_is_no_close_approximation_at_its_bound() {
        let worst = |a: f64| {
            let ratio = |step: u32| {
                let (exact, simple) = inner(a, 0.001 * f64::from(step));
                exact.abs() / simple.abs()
            };
            (1..6000).map(ratio).fold(1.0, |worst: f64, ratio| worst.max(ratio))
        };
        // The printed magnitude: the root of a^2 + w^2 - 2 a w sin(w tau).
        let (a, w) = (0.7_f64, 1.3_f64);
        let printed = 1.0 / (a * a + w * w - 2.0 * a * w * w.sin()).sqrt();
        assert!((inner(a, w).0.abs() - printed).abs() < 1e-12);
        // "a tau <= 1 is a sufficient condition to closely approximate": at a tau = 1 it is too small by a factor of 3.9
        // near w = 1.3/tau, at the paper's own a = 5 by 23 %.
        assert!((worst(1.0) - 3.875).abs() < 0.01, "{}", worst(1.0));
        assert!((worst(0.2) - 1.231).abs() < 0.005, "{}", worst(0.2));
        // For small a it is too small by a part of a tau.
        assert!((worst(0.01) - 1.0101).abs() < 0.0002, "{}", worst(0.01));
    }

    #[test]
    fn positive_feedback_from_the_beginning() {
        // Appendix I: "when a tau > 1, there is positive feedback from the beginning". In the phase that it prints,
        // (w - a sin w tau) / (a cos w tau) for small w, the sign changes at a tau = 1: the delayed term, which should
        // hold the rate back, leads it from w = 0 on.
        let leads = |a: f64| inner(a, 1e-4).0.argument() > 0.0;
        assert!([0.5, 0.9, 0.999].into_iter().all(|a| !leads(a)) && [1.001, 1.1, 1.5].into_iter().all(leads));
        // The feedback is still a negative one: the inner loop s + a e^(-s tau) is stable up to a tau = pi/2.
        let inner_loop = |a: f64| {
            let own = crate::stability::polynomial::Polynomial::new(&[0.0, 1.0]);
            let late = crate::stability::polynomial::Polynomial::new(&[a]);
            crate::stability::DelayedLoop::new(own, late, 1.0).expect("a loop").is_stable()
        };
        assert!([0.5, 1.0, 1.2, 1.57].into_iter().all(inner_loop) && !inner_loop(1.58));
    }

    #[test]
    fn without_delay_everything_holds() {
        let of = Bcn { delay: 0.0, ..Bcn::of_the_paper() };
        assert!(Theorem3::at_own(&of).expect("a choice").holds());
    }

    proptest! {
        #[test]
        fn b_grows_with_a(a in 1.0_f64..1e6, factor in 1.001_f64..10.0) {
            let (small, large) = (solve_b(a).expect("a choice"), solve_b(a * factor).expect("a choice"));
            prop_assert!(small < large);
            prop_assert!((small / a + small.atan() - std::f64::consts::FRAC_PI_2).abs() < 1e-14);
        }
    }
}
