//! Logarithm, exponential, power, sine, cosine and arc tangent from additions, multiplications and divisions alone.
//!
//! IEEE 754 fixes the result of + - * / and of the square root to the last bit; it does not fix `ln`, `exp` or `sin`,
//! and the libraries that provide them differ between systems. A simulation that used them would give different results
//! on different machines. These functions return the same bits everywhere, with an error of a few units in the last
//! place; the tests verify that bound against the system's functions.

pub use crate::trig::{atan, atan2, cos, sin, sin_cos};

/// The leading 32 bits of ln 2: its product with any exponent is exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
/// ln 2 less [`LN_2_HIGH`].
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// 1/3, 1/5, ... 1/27: the series of the area tangent after its first term.
const ODD_RECIPROCALS: [f64; 13] = {
    let mut series = [0.0; 13];
    let mut i = 0;
    while i < 13 {
        series[i] = 1.0 / (2 * i + 3) as f64;
        i += 1;
    }
    series
};

/// 1/2!, 1/3!, ... 1/15!: the series of the exponential after its first two terms.
const FACTORIAL_RECIPROCALS: [f64; 14] = {
    let mut series = [0.0; 14];
    let mut factorial = 1_u64;
    let mut i = 0;
    while i < 14 {
        factorial *= i as u64 + 2;
        series[i] = 1.0 / factorial as f64;
        i += 1;
    }
    series
};

/// The sum of two numbers, and what rounding took from it.
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// The product of two numbers, and what rounding took from it. Both must be below 2^990.
pub(crate) fn two_product(a: f64, b: f64) -> (f64, f64) {
    // Cutting each factor into halves of 26 bits makes the four partial products exact.
    let halves = |x: f64| {
        let scaled = 134_217_729.0 * x;
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    let product = a * b;
    (product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low)
}

/// The polynomial with those coefficients, the constant one first.
pub(crate) fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// 2^exponent for an exponent from -1022 to 1023.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The logarithm of a positive finite number as the sum of two, good to about 60 bits.
fn ln_in_two_parts(x: f64) -> (f64, f64) {
    // x = 2^exponent * mantissa, with the mantissa within a factor of sqrt 2 of one.
    let (x, bias) = if x < f64::MIN_POSITIVE { (x * power_of_two(54), 1023 + 54) } else { (x, 1023) };
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - bias;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // ln m = 2 artanh s with s = (m - 1) / (m + 1). The quotient's own rounding error is recovered in `s_low`.
    let above = mantissa - 1.0;
    let (below, below_low) = two_sum(mantissa, 1.0);
    let s = above / below;
    let (product, product_low) = two_product(s, below);
    let s_low = ((above - product) - product_low - s * below_low) / below;
    let square = s * s;
    let tail = s * (square * polynomial(&ODD_RECIPROCALS, square));
    let exponent = f64::from(exponent);
    let (high, error) = two_sum(exponent * LN_2_HIGH, 2.0 * s);
    two_sum(high, error + (exponent * LN_2_LOW + 2.0 * (s_low + tail)))
}

/// Returns the natural logarithm: minus infinity at zero, not a number below it.
#[must_use]
pub fn ln(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x.is_infinite() { x } else { ln_in_two_parts(x).0 }
}

/// Returns e to the power of `x`.
#[must_use]
pub fn exp(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x > 709.8 {
        return f64::INFINITY;
    }
    if x < -745.2 {
        return 0.0;
    }
    // x = turns * ln 2 + rest, with the rest within half of ln 2 of zero.
    let half = if x < 0.0 { -0.5 } else { 0.5 };
    let turns = (x / std::f64::consts::LN_2 + half) as i32;
    let rest = (x - f64::from(turns) * LN_2_HIGH) - f64::from(turns) * LN_2_LOW;
    let value = 1.0 + (rest + rest * rest * polynomial(&FACTORIAL_RECIPROCALS, rest));
    // In two steps, because 2^1024 and 2^-1075 are not numbers but their products with `value` may be.
    value * power_of_two(turns / 2) * power_of_two(turns - turns / 2)
}

/// Returns `x` to the power of `y` for non-negative `x`; not a number otherwise.
#[must_use]
pub fn pow(x: f64, y: f64) -> f64 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 || x.is_infinite() {
        return if (x == 0.0) == (y > 0.0) { 0.0 } else { f64::INFINITY };
    }
    let (high, low) = ln_in_two_parts(x);
    let rough = y * high;
    if !(-800.0..=800.0).contains(&rough) {
        return if rough > 0.0 { f64::INFINITY } else { 0.0 };
    }
    // An error in the exponent becomes a relative error of the result, so the exponent needs more than 53 bits.
    let (product, product_low) = if y.abs() < 1e290 { two_product(y, high) } else { (rough, 0.0) };
    let value = exp(product);
    if value.is_infinite() { value } else { value + value * (product_low + y * low) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;

    fn close(ours: f64, theirs: f64, tolerance: f64) -> bool {
        ours == theirs || (ours - theirs).abs() <= tolerance * theirs.abs()
    }

    #[test]
    fn ln_agrees_with_the_systems_own() {
        let mut stream = Stream::new(1, 0, "ln");
        for _ in 0..300_000 {
            let any = f64::from_bits(stream.next_u64() >> 1);
            for x in [any, stream.unit_f64(), 0.5 + stream.unit_f64(), 1.0 + stream.unit_f64() * 1e-9] {
                if x.is_finite() && x > 0.0 {
                    assert!(close(ln(x), x.ln(), 4e-16), "ln {x:e}: {:e} and {:e}", ln(x), x.ln());
                }
            }
        }
    }

    #[test]
    fn exp_agrees_with_the_systems_own() {
        let mut stream = Stream::new(1, 0, "exp");
        for _ in 0..300_000 {
            for x in [stream.unit_f64() * 1416.0 - 707.0, stream.unit_f64() - 0.5, stream.unit_f64() * 1e-10] {
                assert!(close(exp(x), x.exp(), 1e-15), "exp {x:e}: {:e} and {:e}", exp(x), x.exp());
            }
        }
    }

    #[test]
    fn pow_agrees_with_the_systems_own() {
        let mut stream = Stream::new(1, 0, "pow");
        for _ in 0..300_000 {
            let any = f64::from_bits(stream.below(2046 << 52) + (1 << 52));
            for (x, y) in [
                (stream.unit_f64(), 1.0 / (0.5 + 2.0 * stream.unit_f64())),
                (any, stream.unit_f64() * 1.9 - 0.95),
                (1.0 + stream.unit_f64() * 1e-3, 1e5 * (stream.unit_f64() - 0.5)),
            ] {
                let theirs = x.powf(y);
                if theirs >= f64::MIN_POSITIVE {
                    assert!(close(pow(x, y), theirs, 2e-15), "{x:e} ^ {y:e}: {:e} and {theirs:e}", pow(x, y));
                }
            }
        }
    }

    #[test]
    fn the_edges_of_the_domain() {
        assert_eq!((ln(1.0), ln(0.0), ln(f64::INFINITY)), (0.0, f64::NEG_INFINITY, f64::INFINITY));
        assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan() && exp(f64::NAN).is_nan() && pow(-2.0, 2.0).is_nan());
        assert!(close(ln(f64::from_bits(1)), f64::from_bits(1).ln(), 4e-16));
        assert_eq!((exp(0.0), exp(710.0), exp(-746.0)), (1.0, f64::INFINITY, 0.0));
        assert_eq!((exp(f64::INFINITY), exp(f64::NEG_INFINITY)), (f64::INFINITY, 0.0));
        assert!(close(exp(709.78), 709.78_f64.exp(), 1e-15) && exp(-745.0) > 0.0);
        assert_eq!((pow(0.0, 2.0), pow(0.0, -2.0), pow(0.0, 0.0)), (0.0, f64::INFINITY, 1.0));
        assert_eq!((pow(f64::INFINITY, 0.5), pow(f64::INFINITY, -0.5)), (f64::INFINITY, 0.0));
        assert_eq!((pow(2.0, 1e300), pow(2.0, -1e300), pow(0.5, f64::INFINITY)), (f64::INFINITY, 0.0, 0.0));
        assert_eq!((pow(2.0, 10.0), pow(10.0, 3.0), pow(4.0, -0.5)), (1024.0, 1000.0, 0.5));
    }

    #[test]
    fn the_bits_are_frozen() {
        assert_eq!(ln(0.1).to_bits(), 0xc002_6bb1_bbb5_5515);
        assert_eq!(ln(1.0e9).to_bits(), 0x4034_b927_f32b_ffb8);
        assert_eq!(exp(1.0).to_bits(), 0x4005_bf0a_8b14_576a);
        assert_eq!(exp(-20.5).to_bits(), 0x3e15_7a3a_feed_00ac);
        assert_eq!(pow(0.3, 0.7).to_bits(), 0x3fdb_8d80_9c61_5f41);
    }
}
