//! A key that is varied, and the values between which it is.

use scenario::{Plan, Quantity};

/// Ratio of the ends from which a range is divided by ratios instead of differences.
const DECADE: f64 = 10.0;

/// A key and its range.
#[derive(Clone, Debug, PartialEq)]
pub struct Vary {
    /// Path of the key, as in overrides.
    pub path: String,
    quantity: Quantity,
    from: f64,
    to: f64,
}

impl Vary {
    /// Parses `PATH=FROM..TO`.
    ///
    /// # Errors
    /// Returns what is wrong and the remedy.
    pub fn parse(text: &str) -> Result<Vary, String> {
        let form =
            || format!("'{text}' is not of the form PATH=FROM..TO, such as switches[*].buffers[0].xoff=50KB..500KB");
        let (path, range) = text.split_once('=').ok_or_else(form)?;
        let (from, to) = range.split_once("..").ok_or_else(form)?;
        let path = path.trim().to_owned();
        let quantity = Quantity::at(&path)?;
        let value = |text: &str| quantity.parse(text).map_err(|reason| format!("{path}: {reason}"));
        let (from, to) = (value(from)?, value(to)?);
        if from >= to {
            return Err(format!("{path}: the range begins at or after its end; write the smaller value first"));
        }
        Ok(Vary { path, quantity, from, to })
    }

    /// Returns whether the range is divided by ratios: it spans a decade or more.
    #[must_use]
    pub fn is_logarithmic(&self) -> bool {
        self.from > 0.0 && self.to / self.from >= DECADE
    }

    /// Returns the ends of the range, as written in a scenario.
    #[must_use]
    pub fn ends(&self) -> [String; 2] {
        [self.from, self.to].map(|value| self.quantity.written(value))
    }

    /// Returns the value at a position from 0 to 1, rounded to three significant digits but inside the range, as written
    /// in a scenario.
    #[must_use]
    pub fn at(&self, position: f64) -> String {
        let value = match self.is_logarithmic() {
            true => self.from * (self.to / self.from).powf(position),
            false => self.from + (self.to - self.from) * position,
        };
        self.quantity.written(rounded(value).clamp(self.from, self.to))
    }

    /// Returns the position of a value of the range, `None` outside of it.
    #[must_use]
    pub fn position(&self, text: &str) -> Option<f64> {
        let value = self.quantity.parse(text.trim_matches('"')).ok()?;
        let position = match self.is_logarithmic() {
            true => (value / self.from).ln() / (self.to / self.from).ln(),
            false => (value - self.from) / (self.to - self.from),
        };
        (0.0..=1.0).contains(&position).then_some(position)
    }

    /// Returns the value that a scenario has; `None` if it has several, or none.
    #[must_use]
    pub fn own(&self, plan: &Plan) -> Option<String> {
        let mut found = plan.entries.iter().filter(|entry| same_path(&self.path, &entry.path));
        let first = found.next()?;
        let value = first.value.trim_matches('"').to_owned();
        (self.quantity.parse(&value).is_ok() && found.all(|entry| entry.value == first.value)).then_some(value)
    }
}

/// Rounds to three significant digits.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    // Through its decimal form, so that 0.3 stays 0.3.
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// A key of a path, and its position in a list.
type Part = (String, Option<String>);

/// Whether a path, in which `[*]` is any position and a list of one needs none, leads to an entry of a plan.
fn same_path(given: &str, entry: &str) -> bool {
    let parts = |path: &str| -> Vec<Part> {
        let part = |part: &str| match part.split_once('[') {
            Some((name, at)) => (name.trim().to_owned(), Some(at.trim_end_matches(']').trim().to_owned())),
            None => (part.trim().to_owned(), None),
        };
        path.split('.').map(part).collect()
    };
    let (given, entry) = (parts(given), parts(entry));
    let same = |((name, at), (other, position)): (&Part, &Part)| {
        let is_first = |at: &Option<String>| at.as_deref().is_none_or(|at| at == "0");
        name == other && (at.as_deref() == Some("*") || at == position || is_first(at) && is_first(position))
    };
    given.len() == entry.len() && given.iter().zip(&entry).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_over_decades_are_divided_by_ratios() {
        let wide = Vary::parse("switches[*].buffers[0].xoff=10KB..1MB").unwrap();
        assert!(wide.is_logarithmic());
        assert_eq!([wide.at(0.0), wide.at(0.5), wide.at(1.0)], ["10KB", "100KB", "1MB"]);
        assert_eq!(wide.position("\"100KB\"").map(|at| (at * 1e6).round()), Some(5e5));
        assert_eq!(wide.position("9KB"), None);
        let alpha = Vary::parse("switches[*].buffers[0].alpha=1/8..8").unwrap();
        assert_eq!([0.0, 0.3, 0.5, 1.0].map(|at| alpha.at(at)), ["1/8", "1/2", "1", "8"]);
        assert_eq!((alpha.position("1/8"), alpha.position("16")), (Some(0.0), None));
        let narrow = Vary::parse("network.link.latency = 1us .. 3us").unwrap();
        assert!(!narrow.is_logarithmic());
        assert_eq!((narrow.at(0.25), narrow.ends()), ("1.5us".into(), ["1us".to_owned(), "3us".to_owned()]));
    }

    #[test]
    fn mistakes_are_told_with_a_remedy() {
        for (text, said) in [
            ("run.duration", "PATH=FROM..TO"),
            ("run.duration=1ms", "PATH=FROM..TO"),
            ("run.duration=2ms..1ms", "the smaller value first"),
            ("run.duration=1KB..2KB", "is a size"),
            ("run.durration=1ms..2ms", "did you mean"),
            ("run=1..2", "is a table"),
        ] {
            let found = Vary::parse(text).unwrap_err();
            assert!(found.contains(said), "{text}: {found}");
        }
    }

    #[test]
    fn a_path_finds_the_entries_of_a_plan() {
        assert!(same_path("switches[*].congestion_points[0].kmin", "switches[1].congestion_points[0].kmin"));
        assert!(same_path("switches.buffers[0].xoff", "switches[0].buffers[0].xoff"));
        assert!(!same_path("switches[0].buffers[0].xoff", "switches[1].buffers[0].xoff"));
        assert!(!same_path("run.seed", "run.duration"));
    }
}
