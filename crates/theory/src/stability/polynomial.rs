//! Polynomials of small degree with real coefficients.

use super::complex::Complex;

/// Maximum number of coefficients: degrees up to eight.
pub const ROOM: usize = 9;

/// A polynomial; the constant coefficient is first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polynomial {
    coefficients: [f64; ROOM],
}

impl Polynomial {
    /// Creates a polynomial with these coefficients, the constant one first.
    ///
    /// # Panics
    /// Panics if there are more than [`ROOM`].
    #[must_use]
    pub fn new(coefficients: &[f64]) -> Polynomial {
        let mut all = [0.0; ROOM];
        all[..coefficients.len()].copy_from_slice(coefficients);
        Polynomial { coefficients: all }
    }

    /// Returns the coefficient of that power.
    #[must_use]
    pub fn coefficient(&self, power: usize) -> f64 {
        self.coefficients.get(power).copied().unwrap_or(0.0)
    }

    /// Returns the highest power with a coefficient; zero for constants.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.coefficients.iter().rposition(|&coefficient| coefficient != 0.0).unwrap_or(0)
    }

    /// Returns the value at a real number.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.coefficients[..=self.degree()].iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
    }

    /// Returns the value at a complex number.
    #[must_use]
    pub fn at_complex(&self, s: Complex) -> Complex {
        let coefficients = self.coefficients[..=self.degree()].iter().rev();
        coefficients.fold(Complex::default(), |sum, &coefficient| sum * s + Complex::new(coefficient, 0.0))
    }

    /// Returns the derivative.
    #[must_use]
    pub fn derivative(&self) -> Polynomial {
        let mut coefficients = [0.0; ROOM];
        for power in 1..ROOM {
            coefficients[power - 1] = power as f64 * self.coefficients[power];
        }
        Polynomial { coefficients }
    }

    /// Returns the polynomial multiplied by a factor.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Polynomial {
        Polynomial { coefficients: self.coefficients.map(|coefficient| coefficient * factor) }
    }

    /// Returns the sum of two polynomials.
    #[must_use]
    pub fn plus(&self, other: &Polynomial) -> Polynomial {
        let mut coefficients = self.coefficients;
        for (sum, coefficient) in coefficients.iter_mut().zip(other.coefficients) {
            *sum += coefficient;
        }
        Polynomial { coefficients }
    }

    /// Returns the product of two polynomials; its degree must not exceed eight.
    #[must_use]
    pub fn times(&self, other: &Polynomial) -> Polynomial {
        let mut coefficients = [0.0; ROOM];
        for a in 0..=self.degree() {
            for b in 0..=other.degree() {
                if self.coefficients[a] != 0.0 && other.coefficients[b] != 0.0 {
                    coefficients[a + b] += self.coefficients[a] * other.coefficients[b];
                }
            }
        }
        Polynomial { coefficients }
    }

    /// Returns `|p(j omega)|^2` as a polynomial in `omega^2`; for degrees up to four.
    #[must_use]
    pub fn squared_on_the_imaginary_axis(&self) -> Polynomial {
        let c = &self.coefficients;
        let even = Polynomial::new(&[c[0], -c[2], c[4]]);
        let odd = Polynomial::new(&[c[1], -c[3]]);
        even.times(&even).plus(&odd.times(&odd).times(&Polynomial::new(&[0.0, 1.0])))
    }

    /// Returns a bound on the absolute value of all roots (Cauchy).
    #[must_use]
    pub fn root_bound(&self) -> f64 {
        let degree = self.degree();
        let leading = self.coefficients[degree].abs();
        let largest = self.coefficients[..degree].iter().fold(0.0, |most: f64, c| most.max(c.abs() / leading));
        1.0 + largest
    }

    /// Returns the positive roots at which the sign changes, in order.
    #[must_use]
    pub fn positive_roots(&self) -> Vec<f64> {
        let c = &self.coefficients;
        match self.degree() {
            0 => Vec::new(),
            1 => [-c[0] / c[1]].into_iter().filter(|&root| root > 0.0).collect(),
            2 => quadratic_roots(c[2], c[1], c[0]).into_iter().filter(|&root| root > 0.0).collect(),
            _ => {
                // Between two turning points there is at most one root.
                let mut ends = vec![0.0];
                ends.extend(self.derivative().positive_roots());
                ends.push(self.root_bound());
                ends.windows(2).filter_map(|pair| self.root_between(pair[0], pair[1])).collect()
            }
        }
    }

    /// The root between two numbers at which the signs differ.
    fn root_between(&self, from: f64, to: f64) -> Option<f64> {
        let (mut low, mut high) = (from, to);
        let (at_low, at_high) = (self.at(low), self.at(high));
        if at_low == 0.0 || (at_low < 0.0) == (at_high < 0.0) {
            return None;
        }
        // Newton while it stays inside, else halving.
        let slope = self.derivative();
        let mut x = 0.5 * (low + high);
        for _ in 0..200 {
            let value = self.at(x);
            if value == 0.0 {
                return Some(x);
            }
            if (value < 0.0) == (at_low < 0.0) {
                low = x;
            } else {
                high = x;
            }
            let newton = x - value / slope.at(x);
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if next == x || high - low <= 1e-16 * high {
                return Some(next);
            }
            x = next;
        }
        Some(x)
    }

    /// Returns the number of roots with a positive real part (Routh). Of roots on the imaginary axis, some are counted
    /// too: a zero in the scheme is replaced by a small positive number.
    #[must_use]
    pub fn roots_to_the_right(&self) -> usize {
        let degree = self.degree();
        let row = |first: usize| -> [f64; ROOM] {
            let mut row = [0.0; ROOM];
            for (place, entry) in row.iter_mut().enumerate() {
                let down = first + 2 * place;
                *entry = if down <= degree { self.coefficients[degree - down] } else { 0.0 };
            }
            row
        };
        let (mut above, mut here) = (row(0), row(1));
        let mut changes = 0;
        for _ in 0..degree {
            if here[0] == 0.0 {
                here[0] = f64::EPSILON * above[0];
            }
            changes += usize::from((above[0] < 0.0) != (here[0] < 0.0));
            let mut next = [0.0; ROOM];
            for place in 0..ROOM - 1 {
                next[place] = above[place + 1] - above[0] / here[0] * here[place + 1];
            }
            (above, here) = (here, next);
        }
        changes
    }

    /// Returns all roots, by the iteration of Durand and Kerner.
    #[must_use]
    pub fn roots(&self) -> Vec<Complex> {
        let degree = self.degree();
        let mut zeros = self.coefficients.iter().take_while(|&&coefficient| coefficient == 0.0).count();
        zeros = zeros.min(degree);
        let rest = Polynomial::new(&self.coefficients[zeros..=degree]);
        let mut roots = vec![Complex::default(); zeros];
        let size = rest.degree();
        if size == 0 {
            return roots;
        }
        let leading = Complex::new(rest.coefficients[size], 0.0);
        let radius = rest.scaled(1.0 / rest.coefficients[size]).mean_radius();
        let turn = Complex::new(0.4, 0.9);
        let mut found = Vec::with_capacity(size);
        let mut start = Complex::new(radius, 0.0);
        for _ in 0..size {
            start = start * turn;
            found.push(start);
        }
        for _ in 0..500 {
            let mut moved = 0.0_f64;
            for place in 0..size {
                let others = (0..size).filter(|&other| other != place);
                let product = others.fold(leading, |product, other| product * (found[place] - found[other]));
                let step = rest.at_complex(found[place]) / product;
                found[place] = found[place] - step;
                moved = moved.max(step.abs() / (found[place].abs() + 1e-300));
            }
            if moved < 1e-15 {
                break;
            }
        }
        // A real polynomial has real roots and pairs; what is left of an imaginary part is rounding.
        for root in &mut found {
            if root.im.abs() < 1e-12 * root.re.abs() {
                root.im = 0.0;
            }
        }
        roots.extend(found);
        roots.sort_by(|a, b| b.re.total_cmp(&a.re).then(b.im.total_cmp(&a.im)));
        roots
    }

    /// A distance from zero typical of the roots of a polynomial with leading coefficient one.
    fn mean_radius(&self) -> f64 {
        let degree = self.degree();
        let each = |power: usize| units::math::pow(self.coefficients[power].abs(), 1.0 / (degree - power) as f64);
        (0..degree).map(each).fold(0.0, f64::max)
    }
}

/// The real roots of `a x^2 + b x + c`, if there are two.
fn quadratic_roots(a: f64, b: f64, c: f64) -> Vec<f64> {
    let under = b * b - 4.0 * a * c;
    if under.is_nan() || under <= 0.0 {
        return Vec::new();
    }
    // Of the two forms of each root the one that does not subtract neighbours.
    let half = -0.5 * (b + if b < 0.0 { -under.sqrt() } else { under.sqrt() });
    let mut roots = vec![half / a, c / half];
    roots.sort_by(f64::total_cmp);
    roots
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn with_roots(roots: &[f64]) -> Polynomial {
        roots.iter().fold(Polynomial::new(&[1.0]), |product, root| product.times(&Polynomial::new(&[-root, 1.0])))
    }

    #[test]
    fn values_products_and_derivatives() {
        let p = Polynomial::new(&[1.0, 2.0, 3.0]);
        assert_eq!((p.at(2.0), p.degree(), p.derivative().at(2.0)), (17.0, 2, 14.0));
        assert_eq!(p.at_complex(Complex::new(0.0, 1.0)), Complex::new(-2.0, 2.0));
        assert_eq!(with_roots(&[1.0, 2.0]), Polynomial::new(&[2.0, -3.0, 1.0]));
    }

    #[test]
    fn the_size_on_the_imaginary_axis() {
        let p = Polynomial::new(&[5.0, -3.0, 2.0, 4.0, 1.0]);
        let square = p.squared_on_the_imaginary_axis();
        for omega in [0.0, 0.5, 1.0, 3.0] {
            let there = p.at_complex(Complex::new(0.0, omega)).abs();
            assert!((square.at(omega * omega) - there * there).abs() < 1e-9 * there * there);
        }
    }

    #[test]
    fn routh_counts() {
        assert_eq!(Polynomial::new(&[1.0, 1.0, 1.0]).roots_to_the_right(), 0);
        assert_eq!(Polynomial::new(&[1.0, -1.0, 1.0]).roots_to_the_right(), 2);
        assert_eq!(with_roots(&[-1.0, -2.0, 3.0]).roots_to_the_right(), 1);
        // s^3 + s^2 + 2 s + 8, a textbook's: two to the right.
        assert_eq!(Polynomial::new(&[8.0, 2.0, 1.0, 1.0]).roots_to_the_right(), 2);
    }

    #[test]
    fn all_roots_of_a_cubic() {
        let roots = Polynomial::new(&[0.0, 10.0, 2.0, 1.0]).roots();
        assert_eq!(roots[0], Complex::default());
        assert!((roots[1] - Complex::new(-1.0, 3.0)).abs() < 1e-12);
        assert!((roots[2] - Complex::new(-1.0, -3.0)).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn positive_roots_are_found(a in 0.1_f64..1.0, b in 1.5_f64..3.0, c in 4.0_f64..9.0, d in 0.1_f64..9.0) {
            let roots = with_roots(&[a, b, c, -d]).positive_roots();
            prop_assert_eq!(roots.len(), 3);
            for (found, root) in roots.iter().zip([a, b, c]) {
                prop_assert!((found - root).abs() < 1e-9, "{:?}", roots);
            }
            let mut all: Vec<f64> = with_roots(&[a, b, c, -d]).roots().iter().map(|root| root.re).collect();
            all.reverse();
            for (found, root) in all.iter().zip([-d, a, b, c]) {
                prop_assert!((found - root).abs() < 1e-7, "{:?}", all);
            }
        }
    }
}
