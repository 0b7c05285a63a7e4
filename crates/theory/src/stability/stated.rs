//! Comparison of the numbers that a paper states for its loops with those computed from its parameters.
//!
//! A printed number has the precision of its digits. It agrees with an exact one that rounds or truncates to it at the
//! last of these digits: 2.2 agrees with 2.164, and 666 with 666.67.

use super::conditions::solve_b;
use crate::fluid::bcn::Regime;
use crate::fluid::{Bcn, Tunable};

/// A number as printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// Value.
    pub value: f64,
    /// Value of one unit in the last digit.
    pub last: f64,
}

impl Printed {
    /// Parses `666`, `2.20` or `1.5e3`; a trailing zero of a fraction is significant. Returns `None` if the text is not
    /// a number.
    #[must_use]
    pub fn read(text: &str) -> Option<Printed> {
        let text: String = text.trim().chars().filter(|&letter| letter != '_').collect();
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite())?;
        let (digits, power) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i64);
        let last = format!("1e{}", power.parse::<i64>().ok()? - decimals).parse().ok()?;
        Some(Printed { value, last })
    }

    /// Returns whether an exact number is printed this way, rounded or truncated.
    #[must_use]
    pub fn prints(&self, exact: f64) -> bool {
        let beyond = if self.value < 0.0 { self.value - exact } else { exact - self.value } / self.last;
        (-0.5 - 1e-9..1.0 - 1e-9).contains(&beyond)
    }
}

/// The numbers that a paper states; each is optional.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stated {
    /// Pole of the increase loop, in radians per second.
    pub increase_pole: Option<Printed>,
    /// Pole of the decrease loop, in radians per second.
    pub decrease_pole: Option<Printed>,
    /// The `b` stated for `a`.
    pub b: Option<Printed>,
}

/// A number stated by a paper, and its computed value.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Name of the number.
    pub what: &'static str,
    /// Stated number.
    pub stated: f64,
    /// Number computed from the parameters.
    pub follows: f64,
    /// Whether the two agree at the digits of the stated number, rounded or truncated.
    pub agrees: bool,
    /// Values of single parameters that would yield the stated number.
    pub would_follow: Vec<(&'static str, f64)>,
}

fn claim(what: &'static str, stated: Printed, follows: f64) -> Claim {
    Claim { what, stated: stated.value, follows, agrees: stated.prints(follows), would_follow: Vec::new() }
}

fn pole(of: &Bcn, regime: Regime, what: &'static str, printed: Printed) -> Claim {
    let (mut claim, stated) = (claim(what, printed, of.pole(regime)), printed.value);
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

/// Compares every stated number with its computed value.
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
        let [increase_pole, decrease_pole, b] = ["666", "521", "2.2"].map(Printed::read);
        let stated = Stated { increase_pole, decrease_pole, b };
        let claims = claims(&Bcn::of_the_paper(), 5.0, &stated);
        let agrees: Vec<bool> = claims.iter().map(|claim| claim.agrees).collect();
        assert_eq!(agrees, [true, false, true], "2.164 rounds to 2.2");
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

    #[test]
    fn a_number_has_the_digits_it_is_printed_with() {
        let prints = |text: &str, exact: f64| Printed::read(text).expect(text).prints(exact);
        // Rounded to the nearest.
        assert!(prints("2.2", 2.164) && prints("2.2", 2.15) && prints("667", 666.667) && prints("-2.2", -2.164));
        // Cut.
        assert!(prints("666", 666.667) && prints("2.1", 2.164) && prints("666", 666.999));
        // Neither.
        assert!(!prints("2.2", 2.149) && !prints("2.2", 2.3) && !prints("521", 260.4) && !prints("666", 667.0));
        // A zero at the end is a digit, and a power of ten moves all of them.
        assert!(
            !prints("2.20", 2.164) && prints("2.16", 2.164) && prints("6.7e2", 666.667) && !prints("6.70e2", 666.667)
        );
        assert!(prints("1_000", 1000.4) && Printed::read("many").is_none() && Printed::read("1e400").is_none());
    }
}
