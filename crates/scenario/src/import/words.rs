//! Texts of words and numbers separated by white space, with the place of each.

use crate::source::Place;
use units::{Rate, Span};

/// A word and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) place: Place,
}

/// The words of a text.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    source: u32,
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(source: u32, text: &'a str) -> Words<'a> {
        Words { source, text, at: 0 }
    }

    /// The end of the text.
    pub(super) fn end(&self) -> Place {
        let end = self.text.trim_end().len() as u32;
        Place { source: self.source, start: end, end }
    }

    /// The next word of this line; `None` at its end.
    pub(super) fn on_line(&mut self) -> Option<Word<'a>> {
        let rest = &self.text[self.at..];
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        let start = line.find(|c: char| !c.is_whitespace())?;
        let length = line[start..].find(char::is_whitespace).unwrap_or(line.len() - start);
        let start = self.at + start;
        self.at = start + length;
        let place = Place { source: self.source, start: start as u32, end: self.at as u32 };
        Some(Word { text: &self.text[start..self.at], place })
    }

    /// Goes to the next line; false at the end of the text. Returns what was left of this one.
    pub(super) fn skip_line(&mut self) -> (&'a str, bool) {
        let rest = &self.text[self.at..];
        match rest.find('\n') {
            Some(end) => {
                self.at += end + 1;
                (rest[..end].trim(), true)
            }
            None => {
                self.at = self.text.len();
                (rest.trim(), false)
            }
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    /// The next word, on any line.
    fn next(&mut self) -> Option<Word<'a>> {
        loop {
            if let Some(word) = self.on_line() {
                return Some(word);
            }
            if !self.skip_line().1 {
                return None;
            }
        }
    }
}

/// Reads a finite number that is not negative.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

/// Reads a rate as ns-3 writes it: bits per second without a unit, or with one such as Gbps, Mb/s or GB/s.
pub(super) fn rate(text: &str) -> Option<Rate> {
    let bits = match text.find(|c: char| !(c.is_ascii_digit() || c == '.')) {
        None => number(text)?,
        Some(0) => return None,
        Some(_) => return text.parse::<Rate>().ok().filter(|rate| *rate > Rate::ZERO),
    };
    (1.0..1e18).contains(&bits).then(|| Rate::from_bits_per_sec(bits as u64))
}

/// Reads a time as ns-3 writes it: seconds without a unit, or with one.
pub(super) fn time(text: &str) -> Option<Span> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let picos = match &text[digits.len()..] {
        "" | "s" => 1e12,
        "ms" => 1e9,
        "us" => 1e6,
        "ns" => 1e3,
        "ps" => 1.0,
        "fs" => 1e-3,
        "min" => 60e12,
        "h" => 3600e12,
        _ => return None,
    };
    span(number(digits)?, picos)
}

/// So many units of so many picoseconds.
pub(super) fn span(count: f64, picos: f64) -> Option<Span> {
    let picos = (count * picos).round();
    (picos < 1e18).then(|| Span::from_picos(picos as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_places_and_lines_end() {
        let mut words = Words::new(3, "ab  c\n\n d\te \nf");
        let mut seen = Vec::new();
        while let Some(word) = words.on_line() {
            seen.push((word.text, word.place.start));
        }
        assert_eq!(seen, [("ab", 0), ("c", 4)]);
        assert_eq!(words.next().map(|word| (word.text, word.place.start, word.place.end)), Some(("d", 8, 9)));
        assert_eq!(words.skip_line(), ("e", true));
        assert_eq!(words.next().map(|word| word.text), Some("f"));
        assert!(words.next().is_none() && words.on_line().is_none());
    }

    #[test]
    fn rates_and_times_are_those_of_ns_3() {
        let gigabits = |text: &str| rate(text).map(|rate| rate.as_bits_per_sec());
        assert_eq!(gigabits("100000000000.0"), Some(100_000_000_000));
        assert_eq!(gigabits("100Gbps"), Some(100_000_000_000));
        assert_eq!(gigabits("12.5GB/s"), Some(100_000_000_000));
        assert_eq!(gigabits("1000Mb/s"), Some(1_000_000_000));
        assert!([rate("0"), rate("fast"), rate("-1Gbps"), rate("1Gb")].iter().all(Option::is_none));
        assert_eq!(time("0.001ms"), Some(Span::from_micros(1)));
        assert_eq!(time("1us"), Some(Span::from_micros(1)));
        assert_eq!(time("0.000001"), Some(Span::from_micros(1)));
        assert_eq!(time("2e-6s"), Some(Span::from_micros(2)));
        assert!([time("1parsec"), time("us"), time("-1us"), time("nan")].iter().all(Option::is_none));
    }
}
