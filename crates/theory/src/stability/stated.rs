//! What a paper states of its loops, held against what follows from its parameters.

use super::conditions::solve_b;
use crate::fluid::bcn::Regime;
use crate::fluid::{Bcn, Tunable};

/// What a paper states; each may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stated {
    /// The pole of the increase loop, in radians per second.
    pub increase_pole: Option<f64>,
    /// The pole of the decrease loop, in radians per second.
    pub decrease_pole: Option<f64>,
    /// The `b` that is said to belong to `a`.
    pub b: Option<f64>,
}

/// A number that a paper states and what it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What is stated.
    pub what: &'static str,
    /// The stated number.
    pub stated: f64,
    /// What follows from the parameters.
    pub follows: f64,
    /// Whether the two are the same, as far as the stated number has digits.
    pub agrees: bool,
    /// Values of single parameters from which the stated number would follow.
    pub would_follow: Vec<(&'static str, f64)>,
}

/// A stated number is rounded or cut: half a percent is given.
const GIVEN: f64 = 0.005;

fn claim(what: &'static str, stated: f64, follows: f64) -> Claim {
    let agrees = (stated - follows).abs() <= GIVEN * follows.abs();
    Claim { what, stated, follows, agrees, would_follow: Vec::new() }
}

fn pole(of: &Bcn, regime: Regime, what: &'static str, stated: f64) -> Claim {
    let mut claim = claim(what, stated, of.pole(regime));
    if claim.agrees {
        return claim;
    }
    // The pole is a product of powers, each one or minus one: so a single parameter can be solved for.
    let ratio = stated / claim.follows;
    for &name in ["sources", "increase_gain", "decrease_gain", "rate_unit", "weight", "capacity", "frame"].iter() {
        let Some(value) = of.clone().parameter(name).map(|value| *value) else { continue };
        for other in [value * ratio, value / ratio] {
            let follows = of.with(name, other).map_or(f64::NAN, |of| of.pole(regime));
            if (follows - stated).abs() <= 1e-9 * stated.abs() {
                claim.would_follow.push((name, other));
                break;
            }
        }
    }
    claim
}

/// Every stated number with what follows instead.
#[must_use]
pub fn claims(of: &Bcn, a: f64, stated: &Stated) -> Vec<Claim> {
    let mut claims = Vec::new();
    if let Some(value) = stated.increase_pole {
        claims.push(pole(of, Regime::Increase, "increase pole (rad/s)", value));
    }
    if let Some(value) = stated.decrease_pole {
        claims.push(pole(of, Regime::Decrease, "decrease pole (rad/s)", value));
    }
    if let (Some(value), Ok(b)) = (stated.b, solve_b(a)) {
        claims.push(claim("b", value, b));
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_numbers() {
        let stated = Stated { increase_pole: Some(666.0), decrease_pole: Some(521.0), b: Some(2.2) };
        let claims = claims(&Bcn::of_the_paper(), 5.0, &stated);
        let agrees: Vec<bool> = claims.iter().map(|claim| claim.agrees).collect();
        assert_eq!(agrees, [true, false, false]);
        let decrease = &claims[1];
        assert!((decrease.follows - 260.417).abs() < 1e-3);
        let value = |wanted: &str| {
            decrease.would_follow.iter().find(|(name, _)| *name == wanted).map(|&(_, value)| value).expect(wanted)
        };
        assert!((value("sources") - 25.0).abs() < 0.01 && (1.0 / value("decrease_gain") - 64.0).abs() < 0.03);
        // The increase gain has no part in it.
        assert!(!decrease.would_follow.iter().any(|(name, _)| *name == "increase_gain"));
        assert!((claims[2].follows - 2.164).abs() < 5e-4);
    }
}
