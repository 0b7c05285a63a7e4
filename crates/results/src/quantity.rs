//! Physical quantities, parsed from their units and displayed in a suitable one.

use units::{Bytes, Rate, Span};

/// The quantity of an axis. Values are in the base unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// Seconds.
    Time,
    /// Bits per second.
    Rate,
    /// Bytes.
    Size,
    /// A fraction of one, displayed in percent.
    Fraction,
    /// Any other quantity, in this unit, which may be empty.
    Plain(String),
}

impl Quantity {
    /// Returns the name in documents.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Quantity::Time => "time",
            Quantity::Rate => "rate",
            Quantity::Size => "size",
            Quantity::Fraction => "fraction",
            Quantity::Plain(_) => "plain",
        }
    }

    /// Returns the quantity with that name in documents; unknown names are plain numbers.
    #[must_use]
    pub fn named(word: &str) -> Quantity {
        match word {
            "time" => Quantity::Time,
            "rate" => Quantity::Rate,
            "size" => Quantity::Size,
            "fraction" => Quantity::Fraction,
            _ => Quantity::Plain(String::new()),
        }
    }

    /// Returns a unit suitable for values up to `most`, and its size in base units.
    #[must_use]
    pub fn unit(&self, most: f64) -> (String, f64) {
        let ladder: &[(&str, f64)] = match self {
            Quantity::Time => &[("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9), ("ps", 1e-12)],
            Quantity::Rate => &[("Tb/s", 1e12), ("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3), ("b/s", 1.0)],
            Quantity::Size => &[("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)],
            Quantity::Fraction => return ("%".into(), 0.01),
            Quantity::Plain(unit) => return (unit.clone(), 1.0),
        };
        // Up to two digits before the point read well: 0.9 of the larger unit rather than 900 of the smaller.
        let fits = ladder.iter().find(|(_, factor)| most >= *factor * 0.9995);
        let (name, factor) = fits.or(ladder.last()).copied().unwrap_or(("", 1.0));
        (name.to_owned(), factor)
    }
}

/// Parses the value of an axis into its quantity and number; `None` if it is not a number.
#[must_use]
pub fn axis_value(text: &str) -> Option<(Quantity, f64)> {
    let text = text.trim_matches('"');
    if let Ok(number) = text.parse::<f64>() {
        return Some((Quantity::Plain(String::new()), number)).filter(|_| number.is_finite());
    }
    let time = text.parse::<Span>().map(|span| (Quantity::Time, span.as_secs_f64()));
    let rate = || text.parse::<Rate>().map(|rate| (Quantity::Rate, rate.as_bits_per_sec() as f64));
    let size = || text.parse::<Bytes>().map(|size| (Quantity::Size, size.get() as f64));
    time.or_else(|_| rate()).or_else(|_| size()).ok()
}
