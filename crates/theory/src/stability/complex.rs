//! Complex numbers, limited to the operations that characteristic equations need.

use std::ops::{Add, Div, Mul, Neg, Sub};
use units::math::{atan2, exp, sin_cos};

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// Creates `re + j im`.
    #[must_use]
    pub const fn new(re: f64, im: f64) -> Complex {
        Complex { re, im }
    }

    /// Returns the complex conjugate.
    #[must_use]
    pub const fn conjugate(self) -> Complex {
        Complex { re: self.re, im: -self.im }
    }

    /// Returns the absolute value.
    #[must_use]
    pub fn abs(self) -> f64 {
        let (a, b) = (self.re.abs(), self.im.abs());
        let (large, small) = if a > b { (a, b) } else { (b, a) };
        if large == 0.0 || !large.is_finite() {
            return large;
        }
        let ratio = small / large;
        large * (1.0 + ratio * ratio).sqrt()
    }

    /// Returns the argument, from -pi to pi.
    #[must_use]
    pub fn argument(self) -> f64 {
        atan2(self.im, self.re)
    }

    /// Returns e to the power of this number.
    #[must_use]
    pub fn exp(self) -> Complex {
        let size = exp(self.re);
        let (sine, cosine) = sin_cos(self.im);
        Complex::new(size * cosine, size * sine)
    }

    /// Returns the number multiplied by a real factor.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Complex {
        Complex::new(self.re * factor, self.im * factor)
    }
}

impl Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Complex {
    type Output = Complex;
    fn sub(self, other: Complex) -> Complex {
        Complex::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        Complex::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }
}

impl Div for Complex {
    type Output = Complex;
    fn div(self, other: Complex) -> Complex {
        // Smith's way, which does not overflow where the quotient does not.
        if other.re.abs() >= other.im.abs() {
            let ratio = other.im / other.re;
            let below = other.re + other.im * ratio;
            Complex::new((self.re + self.im * ratio) / below, (self.im - self.re * ratio) / below)
        } else {
            let ratio = other.re / other.im;
            let below = other.re * ratio + other.im;
            Complex::new((self.re * ratio + self.im) / below, (self.im * ratio - self.re) / below)
        }
    }
}

impl Neg for Complex {
    type Output = Complex;
    fn neg(self) -> Complex {
        Complex::new(-self.re, -self.im)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_worked_out_by_hand() {
        let (a, b) = (Complex::new(1.0, 2.0), Complex::new(3.0, -4.0));
        assert_eq!((a + b, a - b), (Complex::new(4.0, -2.0), Complex::new(-2.0, 6.0)));
        assert_eq!(a * b, Complex::new(11.0, 2.0));
        assert_eq!(a / b, Complex::new(-0.2, 0.4));
        assert_eq!(b / a, Complex::new(-1.0, -2.0));
        assert_eq!((b.abs(), -b, b.conjugate()), (5.0, Complex::new(-3.0, 4.0), Complex::new(3.0, 4.0)));
        assert_eq!(Complex::default().abs(), 0.0);
    }

    #[test]
    fn the_exponential_turns_and_grows() {
        let turned = Complex::new(0.0, std::f64::consts::PI).exp();
        assert!((turned - Complex::new(-1.0, 0.0)).abs() < 1e-15);
        let grown = Complex::new(1.0, 1.0).exp();
        assert!((grown.abs() - std::f64::consts::E).abs() < 1e-15 && (grown.argument() - 1.0).abs() < 1e-15);
    }
}
