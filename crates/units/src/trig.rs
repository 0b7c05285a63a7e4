//! Sine, cosine and arc tangent from additions, multiplications and divisions alone: see [`math`](crate::math).

use crate::math::{polynomial, two_product, two_sum};

/// A quarter turn in three parts: together good to 160 bits.
const QUARTER: [f64; 3] = [
    f64::from_bits(0x3ff9_21fb_5444_2d18),
    f64::from_bits(0x3c91_a626_3314_5c07),
    f64::from_bits(0xb91f_1976_b7ed_8fbc),
];

/// The arc tangents of 0, 1/8, ... 8/8, each in two parts.
const ATAN_OF_EIGHTHS: [(f64, f64); 9] = [
    (0.0, 0.0),
    (f64::from_bits(0x3fbf_d5ba_9aac_2f6e), f64::from_bits(0xbc4c_d376_8676_0c17)),
    (f64::from_bits(0x3fcf_5b75_f92c_80dd), f64::from_bits(0x3c68_ab6e_3cf7_afbd)),
    (f64::from_bits(0x3fd6_f619_41e4_def1), f64::from_bits(0xbc7c_63aa_e6f6_e918)),
    (f64::from_bits(0x3fdd_ac67_0561_bb4f), f64::from_bits(0x3c7a_2b7f_222f_65e2)),
    (f64::from_bits(0x3fe1_e00b_abde_feb4), f64::from_bits(0xbc59_28df_287a_668f)),
    (f64::from_bits(0x3fe4_978f_a326_9ee1), f64::from_bits(0x3c72_419a_87f2_a458)),
    (f64::from_bits(0x3fe7_00a7_c578_4634), f64::from_bits(0xbc78_c34d_25aa_def6)),
    (f64::from_bits(0x3fe9_21fb_5444_2d18), f64::from_bits(0x3c81_a626_3314_5c07)),
];

/// -1/3, 1/5, -1/7, ... 1/17: the series of the arc tangent after its first term.
const ATAN_SERIES: [f64; 8] = {
    let mut series = [0.0; 8];
    let mut i = 0;
    while i < 8 {
        let sign = if i % 2 == 0 { -1.0 } else { 1.0 };
        series[i] = sign / (2 * i + 3) as f64;
        i += 1;
    }
    series
};

/// Terms of the sine or cosine: the reciprocal of every second factorial, signs alternating, from `first!` on.
const fn alternating(first: u64) -> [f64; 8] {
    let mut series = [0.0; 8];
    let (mut factorial, mut upto, mut i) = (1_u64, 1, 0);
    while i < 8 {
        while upto < first + 2 * i {
            upto += 1;
            factorial *= upto;
        }
        let sign = if i % 2 == 0 { -1.0 } else { 1.0 };
        series[i as usize] = sign / factorial as f64;
        i += 1;
    }
    series
}

/// -1/3!, 1/5!, ... 1/17!: the sine after its first term.
const SINE: [f64; 8] = alternating(3);
/// 1/4!, -1/6!, ... -1/18!, with the opposite sign: the cosine after its first two terms.
const COSINE: [f64; 8] = alternating(4);

/// Beyond, neighbouring numbers are a quarter of one apart or more, and an angle says nothing any more.
const LARGEST: f64 = 1_125_899_906_842_624.0;

/// The angle less whole quarter turns, in two parts, and how many were taken, modulo four.
fn reduce(x: f64) -> (f64, f64, i64) {
    let half = if x < 0.0 { -0.5 } else { 0.5 };
    let turns = (x / QUARTER[0] + half) as i64;
    if turns == 0 {
        return (x, 0.0, 0);
    }
    let count = turns as f64;
    let (first, first_low) = two_product(count, QUARTER[0]);
    let (second, second_low) = two_product(count, QUARTER[1]);
    // The first difference is exact or nearly so; what is lost in any of them is carried along.
    let (sum, a) = two_sum(x, -first);
    let (sum, b) = two_sum(sum, -first_low);
    let (sum, c) = two_sum(sum, -second);
    let (high, low) = two_sum(sum, a + b + c - second_low - count * QUARTER[2]);
    (high, low, turns.rem_euclid(4))
}

/// Sine and cosine of an angle within an eighth of a turn, given in two parts.
fn near_zero(x: f64, low: f64) -> (f64, f64) {
    let square = x * x;
    let sine = x + (low + x * (square * polynomial(&SINE, square)) - 0.5 * square * low);
    let half = 0.5 * square;
    let main = 1.0 - half;
    // What rounding took from 1 - x^2/2 goes to the small terms.
    let rest = ((1.0 - main) - half) - square * square * polynomial(&COSINE, square) - x * low;
    (sine, main + rest)
}

/// Returns sine and cosine of an angle in radians; not numbers if it is infinite or beyond 2^50.
#[must_use]
pub fn sin_cos(x: f64) -> (f64, f64) {
    if !x.is_finite() || x.abs() > LARGEST {
        return (f64::NAN, f64::NAN);
    }
    let (high, low, quarter) = reduce(x);
    let (sine, cosine) = near_zero(high, low);
    match quarter {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// Returns the sine of an angle in radians; see [`sin_cos`].
#[must_use]
pub fn sin(x: f64) -> f64 {
    sin_cos(x).0
}

/// Returns the cosine of an angle in radians; see [`sin_cos`].
#[must_use]
pub fn cos(x: f64) -> f64 {
    sin_cos(x).1
}

/// The arc tangent of `y / x` for `0 <= y <= x` and `x > 0`, in two parts.
fn first_octant(y: f64, x: f64) -> (f64, f64) {
    // atan(y/x) = atan(k/8) + atan(t) with t = (y - x k/8) / (x + y k/8), where k makes t small.
    let k = (8.0 * (y / x) + 0.5) as usize;
    let eighths = k as f64 * 0.125;
    let (known, known_low) = ATAN_OF_EIGHTHS[k.min(8)];
    let (product, product_low) = two_product(x, eighths);
    let above = (y - product) - product_low;
    let t = above / (x + y * eighths);
    let square = t * t;
    let tail = t * (square * polynomial(&ATAN_SERIES, square));
    let (sum, error) = two_sum(known, t);
    (sum, error + (known_low + tail))
}

/// Returns the angle of the point (x, y), from -pi to pi; `atan2(0, x)` is zero for non-negative `x`.
#[must_use]
pub fn atan2(y: f64, x: f64) -> f64 {
    if y.is_nan() || x.is_nan() {
        return f64::NAN;
    }
    let (across, up) = (x.abs(), y.abs());
    let (across, up) = match (across.is_infinite(), up.is_infinite()) {
        (true, true) => (1.0, 1.0),
        (true, false) => (1.0, 0.0),
        (false, true) => (0.0, 1.0),
        (false, false) => (across, up),
    };
    // Far from overflow and from the smallest numbers; the quotient stays as it is.
    let large = if across > up { across } else { up };
    let (across, up) = if large > 1e150 {
        (across * 1e-160, up * 1e-160)
    } else if large < 1e-150 {
        (across * 1e160, up * 1e160)
    } else {
        (across, up)
    };
    let angle = if up == 0.0 {
        (0.0, 0.0)
    } else if up <= across {
        first_octant(up, across)
    } else {
        let (high, low) = first_octant(across, up);
        let (sum, error) = two_sum(QUARTER[0], -high);
        (sum, error + (QUARTER[1] - low))
    };
    let (high, low) = if x < 0.0 || (x == 0.0 && x.is_sign_negative() && y == 0.0) {
        let (sum, error) = two_sum(2.0 * QUARTER[0], -angle.0);
        (sum, error + (2.0 * QUARTER[1] - angle.1))
    } else {
        angle
    };
    let angle = high + low;
    if y.is_sign_negative() { -angle } else { angle }
}

/// Returns the arc tangent, from -pi/2 to pi/2.
#[must_use]
pub fn atan(x: f64) -> f64 {
    atan2(x, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;
    use std::f64::consts::PI;

    /// Within about one and a half units in the last place.
    fn close(ours: f64, theirs: f64) -> bool {
        ours == theirs || (ours - theirs).abs() <= 3.5e-16 * theirs.abs()
    }

    #[test]
    fn sine_and_cosine_agree_with_the_systems_own() {
        let mut stream = Stream::new(1, 0, "sin");
        for _ in 0..300_000 {
            let unit = stream.unit_f64();
            for x in [unit * 2.0 - 1.0, unit * 200.0 - 100.0, unit * 1e6, unit * 1e-9, unit * 1e15 - 5e14] {
                let (sine, cosine) = sin_cos(x);
                assert!(close(sine, x.sin()), "sin {x:e}: {sine:e} and {:e}", x.sin());
                assert!(close(cosine, x.cos()), "cos {x:e}: {cosine:e} and {:e}", x.cos());
            }
        }
        // Where the angle is nearly a multiple of a quarter turn.
        for quarters in 1..100_000 {
            let x = f64::from(quarters) * (PI / 2.0);
            assert!(close(sin(x), x.sin()) && close(cos(x), x.cos()), "{quarters} quarter turns");
        }
    }

    #[test]
    fn arc_tangents_agree_with_the_systems_own() {
        let mut stream = Stream::new(1, 0, "atan");
        for _ in 0..300_000 {
            let any = f64::from_bits(stream.next_u64());
            let other = f64::from_bits(stream.next_u64());
            let unit = stream.unit_f64();
            for (y, x) in [(unit, 1.0), (unit * 20.0 - 10.0, 1.0), (any, 1.0), (any, other), (unit, -unit * 0.9)] {
                // Angles below the smallest normal number lose bits, in any library.
                if !any.is_nan() && !other.is_nan() && y.atan2(x).abs() > 1e-300 {
                    assert!(close(atan2(y, x), y.atan2(x)), "atan2 {y:e} {x:e}: {} {}", atan2(y, x), y.atan2(x));
                }
            }
        }
    }

    #[test]
    fn the_edges_of_the_domain() {
        assert_eq!((sin(0.0), cos(0.0), atan(0.0), atan2(0.0, 0.0)), (0.0, 1.0, 0.0, 0.0));
        assert!(
            sin(f64::INFINITY).is_nan() && cos(f64::NAN).is_nan() && sin(1e300).is_nan() && atan(f64::NAN).is_nan()
        );
        assert_eq!((atan(f64::INFINITY), atan(f64::NEG_INFINITY)), (PI / 2.0, -PI / 2.0));
        assert_eq!((atan2(0.0, -1.0), atan2(-0.0, -1.0), atan2(0.0, -0.0)), (PI, -PI, PI));
        assert_eq!((atan2(1.0, 0.0), atan2(-1.0, 0.0), atan2(1.0, 1.0)), (PI / 2.0, -PI / 2.0, PI / 4.0));
        let infinite = f64::INFINITY;
        assert_eq!((atan2(infinite, infinite), atan2(1.0, infinite)), (PI / 4.0, 0.0));
        assert_eq!((atan2(infinite, -infinite), atan2(1.0, -infinite)), (3.0 * PI / 4.0, PI));
    }

    #[test]
    fn the_bits_are_frozen() {
        assert_eq!(sin(1.0).to_bits(), 0x3fea_ed54_8f09_0cee);
        assert_eq!(sin(0.1).to_bits(), 0x3fb9_8eae_cb8b_cb2c);
        assert_eq!(cos(100.0).to_bits(), 0x3feb_981d_bf66_5fdf);
        assert_eq!(atan(2.0).to_bits(), 0x3ff1_b6e1_92eb_be44);
        assert_eq!(atan2(-3.0, -0.7).to_bits(), 0xbffc_ccea_6ece_2727);
    }
}
