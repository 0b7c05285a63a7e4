//! The dominant roots of a loop's characteristic equation: the rightmost ones.
//!
//! Newton's iteration from a grid of starting points finds them; the argument principle proves that none is missing. To
//! the right of the line at `-x`, every root satisfies `|P(s)| <= |Q(s)| e^(x tau)` and therefore lies within a known
//! distance of zero. The winding number of the characteristic function along the boundary of that region is the number
//! of roots in it.

use super::complex::Complex;
use super::delayed_loop::DelayedLoop;
use super::polynomial::Polynomial;

/// The result of a search for roots.
#[derive(Clone, Debug, PartialEq)]
pub struct Roots {
    /// Roots on and above the real axis, rightmost first; the others are their conjugates.
    pub found: Vec<Complex>,
    /// Left boundary of the search.
    pub from: f64,
    /// Number of roots by the argument principle, conjugates included.
    pub counted: usize,
    /// Whether the roots found, with their conjugates, match that number.
    pub complete: bool,
}

/// The transient of a loop, given by its rightmost root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Rightmost root.
    pub root: Complex,
    /// Time until a disturbance falls to 2 %, in seconds; infinite if it does not fall.
    pub settling: f64,
    /// Frequency of oscillation, in hertz; zero if it does not oscillate.
    pub frequency: f64,
}

impl Mode {
    /// Returns the mode of that root.
    #[must_use]
    pub fn of(root: Complex) -> Mode {
        let settling = if root.re < 0.0 { units::math::ln(50.0) / -root.re } else { f64::INFINITY };
        Mode { root, settling, frequency: root.im / (2.0 * std::f64::consts::PI) }
    }
}

impl Roots {
    /// Returns the mode of the rightmost root.
    #[must_use]
    pub fn dominant(&self) -> Option<Mode> {
        self.found.first().copied().map(Mode::of)
    }
}

/// Returns the rightmost roots: at least one, with all that lie as far to the right.
#[must_use]
pub fn rightmost(of: &DelayedLoop) -> Roots {
    let scale = scale(of);
    let mut last = Roots { found: Vec::new(), from: 0.0, counted: 0, complete: false };
    // From the axis on to the left until there are roots; odd factors, so that no edge runs through a root by design.
    // Long delays bring roots near to the axis, about one over the delay from it.
    let longest = longest(of);
    let near = if longest > 0.0 { 1.0 / longest } else { f64::INFINITY };
    let mut left = (0.0631 * scale).min(near);
    for _ in 0..24 {
        let region = Region::right_of(of, -left);
        // There is a root for every turn of the delay: beyond some thousand nobody wants them.
        if !region.top.is_finite() || region.top * longest > 5e3 {
            return Roots { complete: false, ..last };
        }
        let Some(counted) = region.count(of) else {
            left *= 1.0173;
            continue;
        };
        if counted > 0 {
            let found = search(of, &region, counted);
            let total: usize = found.iter().map(|root| if root.im == 0.0 { 1 } else { 2 }).sum();
            last = Roots { found, from: -left, counted, complete: total == counted };
            if last.complete {
                return last;
            }
        }
        left *= 1.618;
    }
    last
}

/// Returns the number of roots to the right of the imaginary axis; `None` if one lies too near to it to be told.
#[must_use]
pub(crate) fn to_the_right(of: &DelayedLoop) -> Option<usize> {
    Region::right_of(of, 0.0).count(of)
}

/// Returns a distance from zero beyond which no root lies that is to the right of `left`.
#[must_use]
pub(crate) fn farthest(of: &DelayedLoop, left: f64) -> f64 {
    Region::right_of(of, left).top
}

/// The longest delay of a loop, that of its echo if there is one.
fn longest(of: &DelayedLoop) -> f64 {
    of.delay() + of.echo().map_or(0.0, |echo| echo.apart)
}

/// A rate typical of the loop, in radians per second.
fn scale(of: &DelayedLoop) -> f64 {
    let crossover = of.crossovers().last().map(|crossover| crossover.frequency);
    let poles = of.own().plus(of.late()).roots();
    let poles = poles.iter().map(|root| root.abs()).filter(|&size| size > 0.0);
    crossover.or_else(|| poles.min_by(f64::total_cmp)).unwrap_or(1.0)
}

/// A rectangle that holds every root to the right of its left edge.
#[derive(Clone, Copy, Debug)]
struct Region {
    left: f64,
    right: f64,
    top: f64,
}

impl Region {
    fn right_of(of: &DelayedLoop, left: f64) -> Region {
        let within = |edge: f64| {
            // |s|^n = |sum of the rest| <= the sum of the sizes: so |s| is at most the positive root of this.
            let degree = of.own().degree();
            let mut bound = [0.0; super::polynomial::ROOM];
            let grown = |time: f64| units::math::exp(-edge * time);
            for (power, entry) in bound.iter_mut().enumerate().take(degree) {
                let echo = of.echo().map_or(0.0, |echo| echo.late.coefficient(power).abs() * grown(longest(of)));
                let late = of.late().coefficient(power).abs() * grown(of.delay());
                *entry = -(of.own().coefficient(power).abs() + late + echo);
            }
            bound[degree] = of.own().coefficient(degree).abs();
            Polynomial::new(&bound).positive_roots().last().copied().unwrap_or(0.0)
        };
        let top = within(left) * 1.01 + left.abs() * 0.01;
        Region { left, right: within(0.0) * 1.01 + left.abs() * 0.01, top }
    }

    fn contains(&self, s: Complex) -> bool {
        s.re > self.left && s.re < self.right && s.im.abs() < self.top
    }

    /// The turns of the characteristic function around the edge; `None` if a root lies too near to it.
    fn count(&self, of: &DelayedLoop) -> Option<usize> {
        let corner = |re: f64, im: f64| Complex::new(re, im);
        // The function takes mirrored values at mirrored places: half of the edge is enough.
        let path = [
            corner(self.right, 0.0),
            corner(self.right, self.top),
            corner(self.left, self.top),
            corner(self.left, 0.0),
        ];
        let mut angle = 0.0;
        for edge in path.windows(2) {
            // A step may turn by the delay alone no more than a quarter of a radian.
            let steps = 48.0 + (edge[1] - edge[0]).abs() * longest(of) * 4.0;
            let steps = if steps > 2e5 { 200_000 } else { steps as u32 };
            let at = |step: u32| edge[0] + (edge[1] - edge[0]).scaled(f64::from(step) / f64::from(steps));
            for step in 0..steps {
                let (from, to) = (at(step), at(step + 1));
                angle += turned(of, (from, of.characteristic(from)), (to, of.characteristic(to)), 40)?;
            }
        }
        let turns = angle / std::f64::consts::PI;
        let whole = (turns + 0.5).floor();
        ((turns - whole).abs() < 0.01 && whole >= 0.0).then_some(whole as usize)
    }
}

/// The angle by which the characteristic function turns along a piece of a line, halved until it is plain.
fn turned(of: &DelayedLoop, from: (Complex, Complex), to: (Complex, Complex), depth: u32) -> Option<f64> {
    let change = (to.1 - from.1).abs();
    if change < 0.5 * from.1.abs() {
        return Some((to.1 * from.1.conjugate().scaled(1.0 / from.1.abs())).argument());
    }
    if depth == 0 {
        return None;
    }
    let middle = (from.0 + to.0).scaled(0.5);
    let middle = (middle, of.characteristic(middle));
    Some(turned(of, from, middle, depth - 1)? + turned(of, middle, to, depth - 1)?)
}

/// More starts than this would take too long; then what was found may not be all.
const MOST_STARTS: i64 = 60_000;

/// Newton's iteration from a grid over the upper half of a region, finer until as many are found as there are.
fn search(of: &DelayedLoop, region: &Region, counted: usize) -> Vec<Complex> {
    let mut found: Vec<Complex> = Vec::new();
    // Along the imaginary axis roots are a turn of the delay apart.
    let rows = (16.0 + region.top * longest(of)).min(4096.0) as i32;
    for fineness in 0..4 {
        let (across, up) = (6 << fineness, rows << fineness);
        if fineness > 0 && i64::from(across) * i64::from(up) > MOST_STARTS {
            break;
        }
        for row in 0..up {
            for column in 0..across {
                let part = |step: i32, of: i32| (f64::from(step) + 0.5) / f64::from(of);
                let re = region.left + (region.right - region.left) * part(column, across);
                let start = Complex::new(re, region.top * part(row, up));
                if let Some(root) = newton(of, start, region.top) {
                    remember(&mut found, root, region);
                }
            }
        }
        let total: usize = found.iter().map(|root| if root.im == 0.0 { 1 } else { 2 }).sum();
        if total >= counted {
            break;
        }
    }
    found.sort_by(|a, b| b.re.total_cmp(&a.re).then(a.im.total_cmp(&b.im)));
    found
}

fn remember(found: &mut Vec<Complex>, root: Complex, region: &Region) {
    let root = if root.im < 0.0 { root.conjugate() } else { root };
    let root = if root.im < 1e-9 * region.top { Complex::new(root.re, 0.0) } else { root };
    let known = found.iter().any(|&other| (other - root).abs() < 1e-6 * region.top);
    if region.contains(root) && !known {
        found.push(root);
    }
}

fn newton(of: &DelayedLoop, start: Complex, size: f64) -> Option<Complex> {
    let (own_slope, late_slope) = (of.own().derivative(), of.late().derivative());
    let mut s = start;
    for _ in 0..60 {
        let back = s.scaled(-of.delay()).exp();
        let mut late = of.late().at_complex(s);
        let mut slope = late_slope.at_complex(s);
        if let Some(echo) = of.echo() {
            let (again, part) = (s.scaled(-echo.apart).exp(), echo.late.at_complex(s));
            late = late + part * again;
            slope = slope + (echo.late.derivative().at_complex(s) - part.scaled(echo.apart)) * again;
        }
        let value = of.own().at_complex(s) + late * back;
        let slope = own_slope.at_complex(s) + (slope - late.scaled(of.delay())) * back;
        let step = value / slope;
        if !(step.re.is_finite() && step.im.is_finite()) {
            return None;
        }
        s = s - step;
        if step.abs() < 1e-14 * (s.abs() + 1e-3 * size) {
            return Some(s);
        }
        if s.abs() > 8.0 * size {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn double(k: f64, whole: f64, delay: f64) -> DelayedLoop {
        DelayedLoop::double_integrator(k, whole, delay).expect("a loop")
    }

    fn is(root: Complex, re: f64, im: f64) -> bool {
        (root.re - re).abs() <= 0.005 && (root.im - im).abs() <= 0.005
    }

    #[test]
    fn the_dominant_roots_of_the_papers_parameters() {
        let increase = rightmost(&double(8e6 / 12e3, 4e4 * 1e10 / 1.44e8, 200e-6));
        assert!(increase.complete && is(increase.found[0], -44.56, 1733.77), "{increase:?}");
        let mode = increase.dominant().expect("a root");
        assert!((mode.settling - 87.8e-3).abs() < 0.1e-3 && (mode.frequency - 275.94).abs() < 0.01, "{mode:?}");
        let decrease = double(2e10 / 128.0 / 50.0 / 12e3, 0.01 * 1e20 / 128.0 / 50.0 / 1.44e8, 200e-6);
        let decrease = rightmost(&decrease);
        assert!(decrease.complete && is(decrease.found[0], -20.21, 1057.58), "{decrease:?}");
    }

    #[test]
    fn without_delay_they_are_those_of_the_polynomial() {
        // s^2 + 2 s + 10 has -1 +- 3j; s^2 + 5 s + 6 has -2 and -3.
        let roots = rightmost(&double(2.0, 10.0, 0.0));
        assert!(roots.complete && (roots.found[0] - Complex::new(-1.0, 3.0)).abs() < 1e-12, "{roots:?}");
        let roots = rightmost(&double(5.0, 6.0, 0.0));
        assert!(roots.complete && (roots.found[0] - Complex::new(-2.0, 0.0)).abs() < 1e-12, "{roots:?}");
    }

    #[test]
    fn a_first_order_loop_by_lamberts_function() {
        // s + k e^(-s): s = W(-k). For k = 1/e both real branches meet at -1; for k = pi/2 s = j pi/2.
        let first = |k: f64| {
            rightmost(&DelayedLoop::new(Polynomial::new(&[0.0, 1.0]), Polynomial::new(&[k]), 1.0).expect("a loop"))
        };
        let roots = first(std::f64::consts::FRAC_PI_2);
        assert!((roots.found[0] - Complex::new(0.0, std::f64::consts::FRAC_PI_2)).abs() < 1e-12, "{roots:?}");
        // W(-0.2) = -0.2591711018...
        let roots = first(0.2);
        assert!(roots.complete && (roots.found[0] - Complex::new(-0.259_171_101_819_073_8, 0.0)).abs() < 1e-12);
    }

    #[test]
    fn absurd_loops_end_soon() {
        for (k, whole, delay) in [(600.0, 3e6, 3600.0), (1e200, 1e300, 1.0), (1e-200, 1e-300, 1.0)] {
            let roots = rightmost(&double(k, whole, delay));
            assert!(!roots.complete || roots.found.len() < 9, "{roots:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn every_root_to_the_right_is_found_and_the_verdicts_agree(
            k in 10.0_f64..5e3, lead in 2e-5_f64..5e-3, delay in 0.0_f64..10e-3
        ) {
            let of = double(k, k / lead, delay);
            let roots = rightmost(&of);
            prop_assert!(roots.complete, "{:?} {:?}", of, roots);
            for &root in &roots.found {
                let size = of.own().at_complex(root).abs();
                prop_assert!(of.characteristic(root).abs() < 1e-9 * size.max(k / lead), "{:?}", roots);
            }
            let right = roots.found.iter().filter(|root| root.re > 0.0);
            let right: usize = right.map(|root| if root.im == 0.0 { 1 } else { 2 }).sum();
            // Two ways to count: along the axis by delays, and around a rectangle.
            prop_assert_eq!(right, of.unstable_roots(), "{:?} {:?}", of, roots);
        }
    }
}
