//! Formatting of quantities: the shortest exact form that parses to the same value.
//!
//! Among the units that do not exceed the value, the one with the shortest form is used. Of equally short forms, a
//! whole number is preferred to a fraction (1500 bytes are `1500B`, not `1.5KB`), then a larger unit to a smaller one.
//! Values are never rounded.

use crate::{Bytes, Rate, Span, Time};
use std::fmt;

/// A unit's name and how many base units it holds. Factors have no prime factors but 2 and 5, so that every multiple of
/// the base unit has a finite decimal form.
type Unit = (&'static str, u64);

/// From the largest to the smallest.
const TIME: &[Unit] = &[("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)];

/// From the largest to the smallest.
const RATE: &[Unit] =
    &[("Tb/s", 1_000_000_000_000), ("Gb/s", 1_000_000_000), ("Mb/s", 1_000_000), ("kb/s", 1_000), ("b/s", 1)];

/// From the largest to the smallest, first the decimal ones.
const SIZE: &[Unit] = &[
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
];

/// The value in that unit, with as many decimals as it takes.
fn exact(value: u64, (name, factor): Unit) -> String {
    let mut text = (value / factor).to_string();
    let factor = u128::from(factor);
    let mut rest = u128::from(value) % factor;
    if rest != 0 {
        text.push('.');
    }
    while rest != 0 {
        rest *= 10;
        text.push(char::from(b'0' + (rest / factor) as u8));
        rest %= factor;
    }
    text.push_str(name);
    text
}

/// The shortest form, or `zero` for a value that no unit fits into.
fn shortest(value: u64, units: &[Unit], zero: &str) -> String {
    let fitting = units.iter().filter(|(_, factor)| *factor <= value).map(|unit| exact(value, *unit));
    fitting.min_by_key(|text| (text.len(), text.contains('.'))).unwrap_or_else(|| zero.to_owned())
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&shortest(self.as_picos(), TIME, "0s"))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&shortest(self.as_picos(), TIME, "0s"))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&shortest(self.as_bits_per_sec(), RATE, "0b/s"))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&shortest(self.get(), SIZE, "0B"))
    }
}

/// A count for people: five digits and more in groups of three, `14,530` but `1500`.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_five_digits_are_grouped() {
        let shown = [0, 1_500, 9_999, 14_530, 100_000, 1_234_567, u64::MAX].map(grouped);
        let expected = ["0", "1500", "9999", "14,530", "100,000", "1,234,567", "18,446,744,073,709,551,615"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn times() {
        assert_eq!(Span::ZERO.to_string(), "0s");
        assert_eq!(Span::from_picos(51_200).to_string(), "51.2ns");
        assert_eq!(Span::from_nanos(500).to_string(), "500ns");
        assert_eq!(Span::from_micros(1_500).to_string(), "1.5ms");
        assert_eq!(Span::from_secs(86_400).to_string(), "86400s");
        assert_eq!(Time::from_picos(1).to_string(), "1ps");
        assert_eq!(Time::MAX.to_string(), "18446744073709551615ps");
    }

    #[test]
    fn rates() {
        assert_eq!(Rate::ZERO.to_string(), "0b/s");
        assert_eq!(Rate::from_gigabits(10).to_string(), "10Gb/s");
        assert_eq!(Rate::from_megabits(2_500).to_string(), "2.5Gb/s");
        assert_eq!(Rate::from_megabits(500).to_string(), "500Mb/s");
        assert_eq!(Rate::from_bits_per_sec(10_312_500_000).to_string(), "10.3125Gb/s");
    }

    #[test]
    fn sizes() {
        assert_eq!(Bytes::ZERO.to_string(), "0B");
        assert_eq!(Bytes::new(1_500).to_string(), "1500B");
        assert_eq!(Bytes::new(1_518).to_string(), "1518B");
        assert_eq!(Bytes::new(9_000).to_string(), "9KB");
        assert_eq!(Bytes::new(150_000).to_string(), "150KB");
        assert_eq!(Bytes::new(32_768).to_string(), "32KiB");
        assert_eq!(Bytes::new(3 << 19).to_string(), "1.5MiB");
        assert_eq!(Bytes::new(1 << 40).to_string(), "1TiB");
    }

    #[test]
    fn width_and_alignment_are_respected() {
        assert_eq!(format!("[{:>8}]", Bytes::new(64)), "[     64B]");
        assert_eq!(format!("[{:<6}]", Span::from_nanos(7)), "[7ns   ]");
    }
}
