//! Division of many runs into parts for batch systems: each task executes one part, and the last one collects the
//! results.

use std::fmt;
use std::str::FromStr;

/// A part of a set of runs: every `of`-th run, starting with this number. The parts are disjoint and cover all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    number: usize,
    of: usize,
}

impl Part {
    /// Creates part `number` of `of`, counted from 1; `None` if there is no such part.
    #[must_use]
    pub fn new(number: usize, of: usize) -> Option<Part> {
        (1..=of).contains(&number).then_some(Part { number, of })
    }

    /// Returns its number, counted from 1.
    #[must_use]
    pub const fn number(self) -> usize {
        self.number
    }

    /// Returns the number of parts.
    #[must_use]
    pub const fn of(self) -> usize {
        self.of
    }

    /// Returns whether the run with that index, counted from 0, belongs to this part.
    #[must_use]
    pub const fn holds(self, place: usize) -> bool {
        place % self.of == self.number - 1
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Part, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let part = parts.and_then(|(number, of)| Part::new(number, of));
        part.ok_or_else(|| format!("'{text}' is not a part: write I/N with I from 1 to N, such as 3/8"))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "part {} of {}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_all_runs_and_none_twice() {
        for of in 1..6 {
            for place in 0..20 {
                let holding = (1..=of).filter(|&number| Part::new(number, of).expect("a part").holds(place));
                assert_eq!(holding.count(), 1);
            }
        }
    }

    #[test]
    fn a_part_is_written_as_a_fraction() {
        assert_eq!("3/8".parse(), Ok(Part { number: 3, of: 8 }));
        for text in ["0/8", "9/8", "3", "3/", "/8", "a/b", "-1/2", "1/0"] {
            assert!(text.parse::<Part>().expect_err(text).contains("I/N"));
        }
    }
}
