//! Values that have an order and a unit: what a search may vary, and how they are written.

use super::key::Kind;
use super::metric::Unit;
use super::overrides::{Path, kind_at};
use units::{Bytes, Rate, Span};

/// The kind of a value that has an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A time, in picoseconds.
    Time,
    /// A rate, in bits per second.
    Rate,
    /// A size, in bytes.
    Size,
    /// A whole number.
    Count,
    /// A number.
    Number,
    /// A power of two: the alpha of a shared buffer, of which switches have no others.
    PowerOfTwo,
}

impl Quantity {
    /// Returns the kind of the values of the key at the end of a path, such as `switches[*].buffers[0].xoff`.
    ///
    /// # Errors
    /// Returns what is wrong and the remedy: there is no such key, or its values have no order.
    pub fn at(path: &str) -> Result<Quantity, String> {
        let explained = |(message, help): (String, String)| format!("{path}: {message}; {help}");
        let parsed = Path::parse(path.trim())?;
        let kinds = kind_at(&parsed).map_err(explained)?;
        let of = |kind: &&Kind| match kind {
            Kind::Time(_) | Kind::TimeOr(_) => Some(Quantity::Time),
            Kind::Rate(..) => Some(Quantity::Rate),
            Kind::Size(..) => Some(Quantity::Size),
            Kind::Count(..) => Some(Quantity::Count),
            Kind::Number(..) => Some(Quantity::Number),
            Kind::Ratio if path.trim().ends_with("alpha") => Some(Quantity::PowerOfTwo),
            _ => None,
        };
        kinds.iter().find_map(of).ok_or_else(|| {
            let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
            format!("{path} is a {}; give a key whose values are times, rates, sizes or numbers", words.join(" or "))
        })
    }

    /// Parses a value.
    ///
    /// # Errors
    /// Returns what is wrong and the remedy.
    pub fn parse(self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        let number = || text.parse::<f64>().ok().filter(|number| number.is_finite());
        let said = |error: units::ParseError| error.to_string();
        match self {
            Quantity::Time => text.parse::<Span>().map(|time| time.as_picos() as f64).map_err(said),
            Quantity::Rate => text.parse::<Rate>().map(|rate| rate.as_bits_per_sec() as f64).map_err(said),
            Quantity::Size => text.parse::<Bytes>().map(|size| size.get() as f64).map_err(said),
            Quantity::Count => number()
                .filter(|number| number.fract() == 0.0 && (0.0..9e15).contains(number))
                .ok_or_else(|| format!("'{text}' is not a whole number")),
            Quantity::Number => number().ok_or_else(|| format!("'{text}' is not a number")),
            Quantity::PowerOfTwo => {
                let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
                let part = |text: &str| text.trim().parse::<u32>().ok().filter(|part| (1..=1_000_000).contains(part));
                match (part(numerator), part(denominator)) {
                    (Some(numerator), Some(denominator)) => Ok(f64::from(numerator) / f64::from(denominator)),
                    _ => Err(format!("'{text}' is not a ratio such as 1/8 or 2")),
                }
            }
        }
    }

    /// Writes a value as in a scenario, without quotes. Values other than numbers are rounded to whole units, or to powers of
    /// two.
    #[must_use]
    pub fn written(self, value: f64) -> String {
        let whole = value.round().max(0.0) as u64;
        match self {
            Quantity::Time => Span::from_picos(whole).to_string(),
            Quantity::Rate => Rate::from_bits_per_sec(whole).to_string(),
            Quantity::Size => Bytes::new(whole).to_string(),
            Quantity::Count => whole.to_string(),
            Quantity::Number => format!("{value:?}"),
            Quantity::PowerOfTwo => match value.log2().round().clamp(-19.0, 19.0) as i32 {
                power @ 0.. => (1_u32 << power).to_string(),
                power => format!("1/{}", 1_u32 << -power),
            },
        }
    }

    /// Returns the kind of measured values in a unit; `None` for outcomes.
    #[must_use]
    pub fn of(unit: Unit) -> Option<Quantity> {
        match unit {
            Unit::Time => Some(Quantity::Time),
            Unit::Rate => Some(Quantity::Rate),
            Unit::Size => Some(Quantity::Size),
            Unit::Count | Unit::Number => Some(Quantity::Number),
            Unit::Outcome => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_from_paths_and_values_survive_being_written() {
        for (path, kind, text) in [
            ("switches[*].buffers[0].xoff", Quantity::Size, "412KB"),
            ("run.duration", Quantity::Time, "1.5ms"),
            ("network.link.rate", Quantity::Rate, "2.5Gb/s"),
            ("run.seed", Quantity::Count, "7"),
            ("network.link.bit_error_rate", Quantity::Number, "1e-9"),
            ("switches[*].buffers[1].alpha", Quantity::PowerOfTwo, "1/8"),
            ("switches[*].ports[0].buffers[*].alpha", Quantity::PowerOfTwo, "4"),
        ] {
            assert_eq!(Quantity::at(path), Ok(kind), "{path}");
            let value = kind.parse(text).unwrap();
            assert_eq!(kind.written(value), text);
        }
        assert_eq!(
            ["1/3", "3", "1"].map(|it| Quantity::PowerOfTwo.written(Quantity::PowerOfTwo.parse(it).unwrap())),
            ["1/4", "4", "1"]
        );
        assert!(Quantity::PowerOfTwo.parse("1/0").is_err() && Quantity::PowerOfTwo.parse("0.5").is_err());
        assert!(Quantity::at("run.durration").unwrap_err().contains("did you mean `duration`"));
        assert!(Quantity::at("switches[0].flow_control").unwrap_err().contains("is a choice"));
        assert!(Quantity::Size.parse("10Gb/s").is_err() && Quantity::Count.parse("1.5").is_err());
    }
}
