//! Parsing of quantities: a decimal number and a unit, `"10Gb/s"`, `"150KB"`, `"1.5ms"`.
//!
//! Parsing is exact. A decimal fraction is never converted to a float; a text that is not a whole number of
//! picoseconds, bits per second or bytes is rejected, not rounded. `b` is a bit and `B` a byte, `K` is 1000 and `Ki` is
//! 1024, `m` is milli and `M` is mega: nothing is guessed from the size of the number. A number without a unit is
//! ambiguous and rejected.

use crate::{Bytes, ParseError, Quantity, Rate, Span, Time};
use std::str::FromStr;

/// The quantity that a unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dimension {
    /// Picoseconds.
    Time,
    /// Bits per second.
    Rate,
    /// Bytes.
    Size,
    /// Bits: recognised so that `10Gb` gets a better answer than "unknown unit", but never accepted.
    BitCount,
}

impl Dimension {
    /// The dimension with its article, as an error message names it.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Dimension::Time => "a time",
            Dimension::Rate => "a rate",
            Dimension::Size => "a size",
            Dimension::BitCount => "a number of bits",
        }
    }

    const fn of(quantity: Quantity) -> Dimension {
        match quantity {
            Quantity::Time => Dimension::Time,
            Quantity::Rate => Dimension::Rate,
            Quantity::Size => Dimension::Size,
        }
    }
}

/// Returns the quantity of the unit called `name` and its size in base units (ps, b/s, B or b).
fn unit(name: &str) -> Option<(Dimension, u64)> {
    let picos = match name {
        "ps" => 1,
        "ns" => 1_000,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000_000,
        "ms" => 1_000_000_000,
        "s" => 1_000_000_000_000,
        "min" => 60_000_000_000_000,
        "h" => 3_600_000_000_000_000,
        _ => return data_unit(name),
    };
    Some((Dimension::Time, picos))
}

/// Prefix, bit or byte, and optionally "per second".
fn data_unit(name: &str) -> Option<(Dimension, u64)> {
    let (amount, per_second) = match name.strip_suffix("/s").or_else(|| name.strip_suffix("ps")) {
        Some(amount) => (amount, true),
        None => (name, false),
    };
    let (prefix, bits) = if let Some(prefix) = amount.strip_suffix('B') {
        (prefix, 8)
    } else {
        (amount.strip_suffix('b').or_else(|| amount.strip_suffix("bit"))?, 1)
    };
    let factor = match prefix {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        "Ki" | "ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        _ => return None,
    };
    Some(match (per_second, bits) {
        (true, bits) => (Dimension::Rate, factor * bits),
        (false, 8) => (Dimension::Size, factor),
        (false, _) => (Dimension::BitCount, factor),
    })
}

/// A non-negative decimal number, its parts still digits.
struct Decimal<'a> {
    whole: &'a str,
    /// Digits after the point, without the zeros at the end.
    fraction: &'a str,
}

/// Cuts a text into its number and the name of its unit.
fn split(text: &str, expected: Quantity) -> Result<(Decimal<'_>, &str), ParseError> {
    let refuse = |reason| Err(ParseError::BadNumber { text: text.to_owned(), expected, reason });
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(ParseError::Empty { expected });
    }
    if trimmed.starts_with(['-', '\u{2212}']) {
        return Err(ParseError::Negative { text: text.to_owned(), expected });
    }
    let end = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
    let (number, rest) = trimmed.split_at(end);
    let name = rest.trim_start();
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return refuse("it must begin with a digit");
    }
    if name.starts_with(',') {
        return refuse("the decimal sign is a point, and digits are grouped with underscores");
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return refuse("digits are grouped with underscores, not with spaces");
    }
    if name.starts_with(['e', 'E']) && name[1..].starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') {
        return refuse("exponents are not accepted; choose a larger or smaller unit");
    }
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    for part in [whole, fraction] {
        if part.contains('.') {
            return refuse("it has more than one decimal point");
        }
        if !(part.starts_with(|c: char| c.is_ascii_digit()) && part.ends_with(|c: char| c.is_ascii_digit())) {
            return refuse("a point or an underscore must stand between two digits");
        }
    }
    Ok((Decimal { whole, fraction: fraction.trim_end_matches(['0', '_']) }, name))
}

/// The value of digits that may be grouped with underscores, and how many digits there are.
fn digits(text: &str) -> Option<(u128, u32)> {
    text.bytes().filter(|byte| *byte != b'_').try_fold((0_u128, 0), |(value, count), byte| {
        let value = value.checked_mul(10)?.checked_add(u128::from(byte - b'0'))?;
        Some((value, count + 1))
    })
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Reads a quantity in its base unit.
fn parse(text: &str, expected: Quantity) -> Result<u64, ParseError> {
    let (number, name) = split(text, expected)?;
    let own = || text.to_owned();
    if name.is_empty() {
        return Err(ParseError::MissingUnit { text: own(), expected });
    }
    let (dimension, scale) =
        unit(name).ok_or_else(|| ParseError::UnknownUnit { text: own(), unit: name.to_owned(), expected })?;
    if dimension != Dimension::of(expected) {
        return Err(ParseError::WrongUnit {
            text: own(),
            unit: name.to_owned(),
            measures: dimension.describe(),
            expected,
        });
    }
    let scale = u128::from(scale);
    let too_large = || ParseError::TooLarge { text: own(), expected };
    let whole = digits(number.whole).and_then(|(whole, _)| whole.checked_mul(scale)).ok_or_else(too_large)?;
    let too_fine = || ParseError::BadNumber { text: own(), expected, reason: "it has too many decimal places" };
    let (fraction, places) = digits(number.fraction).ok_or_else(too_fine)?;
    // The fraction is `fraction / 10^places` units. Cancelling first keeps every product below `scale`.
    let divisor = 10_u128.checked_pow(places).ok_or_else(too_fine)?;
    let common = greatest_common_divisor(divisor, scale);
    let divisor = divisor / common;
    if fraction % divisor != 0 {
        return Err(ParseError::NotWhole { text: own(), expected });
    }
    let fraction = fraction / divisor * (scale / common);
    whole.checked_add(fraction).and_then(|value| u64::try_from(value).ok()).ok_or_else(too_large)
}

impl FromStr for Span {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Span, ParseError> {
        parse(text, Quantity::Time).map(Span::from_picos)
    }
}

impl FromStr for Time {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Time, ParseError> {
        parse(text, Quantity::Time).map(Time::from_picos)
    }
}

impl FromStr for Rate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Rate, ParseError> {
        parse(text, Quantity::Rate).map(Rate::from_bits_per_sec)
    }
}

impl FromStr for Bytes {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Bytes, ParseError> {
        parse(text, Quantity::Size).map(Bytes::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span(text: &str) -> u64 {
        text.parse::<Span>().expect(text).as_picos()
    }

    fn rate(text: &str) -> u64 {
        text.parse::<Rate>().expect(text).as_bits_per_sec()
    }

    fn bytes(text: &str) -> u64 {
        text.parse::<Bytes>().expect(text).get()
    }

    #[test]
    fn times() {
        assert_eq!(span("3ps"), 3);
        assert_eq!(span("500ns"), 500_000);
        assert_eq!(span("20us"), 20_000_000);
        assert_eq!(span("20\u{b5}s"), span("20\u{3bc}s"));
        assert_eq!(span("1.5ms"), 1_500_000_000);
        assert_eq!(span("2s"), 2_000_000_000_000);
        assert_eq!(span("1min"), 60_000_000_000_000);
        assert_eq!(span("0.5h"), 1_800_000_000_000_000);
        assert_eq!("51.2ns".parse::<Time>(), Ok(Time::from_picos(51_200)));
    }

    #[test]
    fn rates_tell_bits_from_bytes_and_decimal_from_binary() {
        assert_eq!(rate("10Gb/s"), 10_000_000_000);
        assert_eq!(rate("2.5Gb/s"), 2_500_000_000);
        assert_eq!(rate("1GB/s"), 8_000_000_000);
        assert_eq!(rate("100Mb/s"), 100_000_000);
        assert_eq!(rate("5kb/s"), rate("5Kb/s"));
        assert_eq!(rate("40Gbps"), rate("40Gbit/s"));
        assert_eq!(rate("1Gib/s"), 1 << 30);
        assert_eq!(rate("1GiB/s"), 1 << 33);
        assert_eq!(rate("0.125B/s"), 1);
        assert_eq!(rate("9600bps"), 9600);
    }

    #[test]
    fn sizes() {
        assert_eq!(bytes("64B"), 64);
        assert_eq!(bytes("150KB"), 150_000);
        assert_eq!(bytes("150kB"), 150_000);
        assert_eq!(bytes("32KiB"), 32_768);
        assert_eq!(bytes("1MB"), 1_000_000);
        assert_eq!(bytes("2MiB"), 2_097_152);
        assert_eq!(bytes("1.5KiB"), 1_536);
    }

    #[test]
    fn spaces_and_underscores() {
        assert_eq!(span(" 1_000 ns "), 1_000_000);
        assert_eq!(bytes("1_0.5_0KB"), 10_500);
        assert_eq!(bytes("0.0000000000000000000000000000000000000000000000KB"), 0);
    }

    #[test]
    fn the_largest_values_are_read_and_the_next_are_refused() {
        assert_eq!(span("18446744073709551615ps"), u64::MAX);
        assert_eq!(bytes("18446744.073709551615TB"), u64::MAX);
        for text in ["18446744073709551616ps", "18446744.073709551616s", "9999999999999999999999999999999999999999s"] {
            assert!(matches!(text.parse::<Span>(), Err(ParseError::TooLarge { .. })), "{text}");
        }
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        assert!(matches!("0.5ps".parse::<Span>(), Err(ParseError::NotWhole { .. })));
        assert!(matches!("1.0001ns".parse::<Span>(), Err(ParseError::NotWhole { .. })));
        assert!(matches!("0.1KiB".parse::<Bytes>(), Err(ParseError::NotWhole { .. })));
        assert_eq!(bytes("1.0B"), 1);
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        for text in
            ["ns", ".5ms", "5.ms", "1.2.3ms", "1,5ms", "1 000ns", "1e3ns", "_1ns", "1_ns", "1._5ms", "+1ns", "NaN"]
        {
            assert!(matches!(text.parse::<Span>(), Err(ParseError::BadNumber { .. })), "{text}");
        }
        assert!(matches!(" ".parse::<Span>(), Err(ParseError::Empty { .. })));
        assert!(matches!("-1ns".parse::<Span>(), Err(ParseError::Negative { .. })));
        assert!(matches!("10".parse::<Rate>(), Err(ParseError::MissingUnit { .. })));
        assert!(matches!("10mb/s".parse::<Rate>(), Err(ParseError::UnknownUnit { .. })));
        assert!(matches!("10ms".parse::<Rate>(), Err(ParseError::WrongUnit { .. })));
        assert!(matches!("10Gb".parse::<Bytes>(), Err(ParseError::WrongUnit { .. })));
    }

    proptest! {
        #[test]
        fn printing_and_reading_are_inverse(value: u64, shift in 0_u32..64, tens in 0_u32..19) {
            let (small, power) = (value >> shift, 10_u64.pow(tens));
            for value in [small, small / power * power, small << shift] {
                let (span, rate, size) = (Span::from_picos(value), Rate::from_bits_per_sec(value), Bytes::new(value));
                prop_assert_eq!(span.to_string().parse(), Ok(span));
                prop_assert_eq!(span.to_string().parse(), Ok(Time::from_picos(value)));
                prop_assert_eq!(rate.to_string().parse(), Ok(rate));
                prop_assert_eq!(size.to_string().parse(), Ok(size));
            }
        }

        #[test]
        fn no_text_makes_reading_panic(text in "[-+]?[0-9._ ]{0,45}[a-zA-Z/\u{b5},]{0,6}|\\PC{0,12}") {
            if let Ok(span) = text.parse::<Span>() {
                prop_assert_eq!(span.to_string().parse(), Ok(span));
            }
            for error in [text.parse::<Rate>().err(), text.parse::<Bytes>().err()].into_iter().flatten() {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}
