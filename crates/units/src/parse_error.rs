//! Errors of parsing a quantity, with suggested corrections.

use std::fmt;

/// The kind of quantity that was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A [`Time`](crate::Time) or a [`Span`](crate::Span), in whole picoseconds.
    Time,
    /// A [`Rate`](crate::Rate), in whole bits per second.
    Rate,
    /// A number of [`Bytes`](crate::Bytes).
    Size,
}

/// The reason that a text is not a quantity. Its display states the error and the correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// The text is empty.
    Empty {
        /// Expected quantity.
        expected: Quantity,
    },
    /// The number is negative.
    Negative {
        /// The text as given.
        text: String,
        /// Expected quantity.
        expected: Quantity,
    },
    /// The text does not begin with a plain decimal number.
    BadNumber {
        /// The text as given.
        text: String,
        /// Expected quantity.
        expected: Quantity,
        /// Violated rule.
        reason: &'static str,
    },
    /// The text is a number without a unit.
    MissingUnit {
        /// The text as given.
        text: String,
        /// Expected quantity.
        expected: Quantity,
    },
    /// The unit is unknown.
    UnknownUnit {
        /// The text as given.
        text: String,
        /// Its unit.
        unit: String,
        /// Expected quantity.
        expected: Quantity,
    },
    /// The unit is of another quantity.
    WrongUnit {
        /// The text as given.
        text: String,
        /// Its unit.
        unit: String,
        /// Quantity of that unit, with its article: "a time".
        measures: &'static str,
        /// Expected quantity.
        expected: Quantity,
    },
    /// The value lies between two representable values.
    NotWhole {
        /// The text as given.
        text: String,
        /// Expected quantity.
        expected: Quantity,
    },
    /// The value does not fit 64 bits.
    TooLarge {
        /// The text as given.
        text: String,
        /// Expected quantity.
        expected: Quantity,
    },
}

impl Quantity {
    const fn name(self) -> &'static str {
        match self {
            Quantity::Time => "a time",
            Quantity::Rate => "a rate",
            Quantity::Size => "a size",
        }
    }

    /// The base unit, of which every value is a whole number.
    const fn base(self) -> &'static str {
        match self {
            Quantity::Time => "picoseconds",
            Quantity::Rate => "bits per second",
            Quantity::Size => "bytes",
        }
    }

    /// The unit to suggest first.
    const fn usual_unit(self) -> &'static str {
        match self {
            Quantity::Time => "us",
            Quantity::Rate => "Gb/s",
            Quantity::Size => "KB",
        }
    }

    const fn examples(self) -> &'static str {
        match self {
            Quantity::Time => "500ns or 1.5ms",
            Quantity::Rate => "10Gb/s or 1.25GB/s",
            Quantity::Size => "1500B, 150KB or 32KiB",
        }
    }

    const fn largest(self) -> &'static str {
        match self {
            Quantity::Time => "18446744s (213 days)",
            Quantity::Rate => "18446744Tb/s",
            Quantity::Size => "18446744TB",
        }
    }

    /// Units to choose a suggestion from, the usual ones first.
    const fn units(self) -> &'static [&'static str] {
        match self {
            Quantity::Time => &["ps", "ns", "us", "ms", "s", "min", "h"],
            Quantity::Rate => &[
                "b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "Kib/s", "Mib/s",
                "Gib/s", "Tib/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s",
            ],
            Quantity::Size => &["B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"],
        }
    }

    /// The units nearest to a misspelt one: those that differ in case only, else those one or two letters away,
    /// else the usual ones.
    fn near(self, unit: &str) -> Vec<&'static str> {
        let wanted = unit.to_lowercase();
        let mut ranked: Vec<(usize, &str)> =
            self.units().iter().map(|known| (distance(&wanted, &known.to_lowercase()), *known)).collect();
        ranked.sort_by_key(|(distance, _)| *distance);
        let best = ranked[0].0;
        let tolerance = if unit.chars().count() > 2 { 2 } else { 1 };
        if best > tolerance {
            return self.units().iter().take(5).copied().collect();
        }
        ranked.into_iter().take_while(|(distance, _)| *distance == best).map(|(_, known)| known).take(5).collect()
    }
}

/// Fewest insertions, deletions and replacements of a character that turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::Empty { expected } => {
                write!(f, "nothing is written here; {} was expected, such as {}", expected.name(), expected.examples())
            }
            ParseError::Negative { text, expected } => {
                write!(f, "`{text}` is negative, and {} counts {} from zero up", expected.name(), expected.base())
            }
            ParseError::BadNumber { text, expected, reason } => {
                write!(f, "`{text}` is not {}: {reason}; write it like {}", expected.name(), expected.examples())
            }
            ParseError::MissingUnit { text, expected } => {
                let (text, unit) = (text.trim(), expected.usual_unit());
                write!(f, "`{text}` has no unit, and {} needs one: `{text}{unit}`, for example", expected.name())
            }
            ParseError::UnknownUnit { text, unit, expected } => {
                let near = expected.near(unit).join(", ");
                write!(f, "`{unit}` in `{text}` is not a unit; for {}, did you mean {near}?", expected.name())
            }
            ParseError::WrongUnit { text, unit, measures, expected } => {
                write!(f, "`{text}` is {measures}, because `{unit}` measures {measures}; ")?;
                write!(f, "{} was expected, such as {}", expected.name(), expected.examples())?;
                match expected {
                    Quantity::Size if unit.ends_with('b') => f.write_str(" (b is a bit, B is a byte)"),
                    Quantity::Rate if unit.ends_with(['b', 'B']) => write!(f, " (did you mean `{unit}/s`?)"),
                    _ => Ok(()),
                }
            }
            ParseError::NotWhole { text, expected } => {
                let (name, base) = (expected.name(), expected.base());
                write!(f, "`{text}` is not a whole number of {base}, and {name} is never rounded; write fewer decimals")
            }
            ParseError::TooLarge { text, expected } => {
                write!(f, "`{text}` is too large: {} is at most {}", expected.name(), expected.largest())
            }
        }
    }
}

impl std::error::Error for ParseError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, Rate, Span};

    fn rate(text: &str) -> String {
        text.parse::<Rate>().expect_err(text).to_string()
    }

    fn span(text: &str) -> String {
        text.parse::<Span>().expect_err(text).to_string()
    }

    fn size(text: &str) -> String {
        text.parse::<Bytes>().expect_err(text).to_string()
    }

    #[test]
    fn messages_say_what_is_wrong_and_what_to_write() {
        assert_eq!(rate(""), "nothing is written here; a rate was expected, such as 10Gb/s or 1.25GB/s");
        assert_eq!(rate("10"), "`10` has no unit, and a rate needs one: `10Gb/s`, for example");
        assert_eq!(span("-5ns"), "`-5ns` is negative, and a time counts picoseconds from zero up");
        assert_eq!(
            span("1e3ns"),
            "`1e3ns` is not a time: exponents are not accepted; choose a larger or smaller unit; \
             write it like 500ns or 1.5ms"
        );
        assert_eq!(
            size("1.5B"),
            "`1.5B` is not a whole number of bytes, and a size is never rounded; write fewer decimals"
        );
        assert_eq!(span("6000h"), "`6000h` is too large: a time is at most 18446744s (213 days)");
    }

    #[test]
    fn a_wrong_kind_is_named() {
        assert_eq!(
            rate("10ms"),
            "`10ms` is a time, because `ms` measures a time; a rate was expected, such as 10Gb/s or 1.25GB/s"
        );
        assert!(rate("10Gb").ends_with("(did you mean `Gb/s`?)"), "{}", rate("10Gb"));
        assert!(size("10Kb").ends_with("(b is a bit, B is a byte)"), "{}", size("10Kb"));
        assert!(size("1Gb/s").starts_with("`1Gb/s` is a rate"), "{}", size("1Gb/s"));
    }

    #[test]
    fn near_units_are_suggested() {
        assert_eq!(rate("10mb/s"), "`mb/s` in `10mb/s` is not a unit; for a rate, did you mean Mb/s, MB/s?");
        assert_eq!(Quantity::Time.near("nsec"), ["ns"]);
        assert_eq!(Quantity::Time.near("usec"), ["us"]);
        assert_eq!(Quantity::Size.near("kib"), ["KiB"]);
        assert_eq!(Quantity::Size.near("bytes"), ["B", "KB", "MB", "GB", "TB"]);
        assert_eq!(Quantity::Rate.near("Gb/sec"), ["Gb/s", "GB/s"]);
    }

    #[test]
    fn distances() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ms", "ms"), 0);
    }
}
