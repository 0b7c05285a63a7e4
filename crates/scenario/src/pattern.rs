//! Names with wildcards: `*` is any sequence of characters, `?` is one, `{0..7}` is a number from 0 to 7.

use std::collections::BTreeSet;

/// A parsed pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    AnyRun,
    AnyOne,
    Number(u64, u64),
}

impl Piece {
    fn range(&self) -> Option<(u64, u64)> {
        match self {
            Piece::Number(low, high) => Some((*low, *high)),
            _ => None,
        }
    }
}

/// Names covered by a pattern's ranges that do not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The first missing name, with wildcards unchanged.
    pub first: String,
    /// Number of missing names.
    pub missing: u128,
    /// Number of all names.
    pub all: u128,
}

/// Maximum number of names that a pattern may expand to.
pub(crate) const MOST_NAMES: u64 = 1 << 20;

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// Returns a description of an invalid range.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            match first {
                '*' | '?' => {
                    pieces.push(if first == '*' { Piece::AnyRun } else { Piece::AnyOne });
                    rest = &rest[1..];
                }
                '{' => {
                    let (range, after) = rest[1..].split_once('}').ok_or("a { without a matching }; write {0..7}")?;
                    let bounds = range.split_once("..").and_then(|(low, high)| {
                        Some((low.trim().parse().ok()?, high.trim().parse().ok()?)).filter(|(low, high)| low <= high)
                    });
                    let (low, high) = bounds.ok_or_else(|| format!("{{{range}}} is not a range; write {{0..7}}"))?;
                    pieces.push(Piece::Number(low, high));
                    rest = after;
                }
                _ => {
                    let end = rest.find(['*', '?', '{']).unwrap_or(rest.len());
                    pieces.push(Piece::Literal(rest[..end].to_owned()));
                    rest = &rest[end..];
                }
            }
        }
        Ok(Pattern(pieces))
    }

    /// Returns the name if the pattern matches exactly one.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Literal(name)] => Some(name),
            _ => None,
        }
    }

    /// Returns whether the pattern matches a name.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        // The places in the name that the pieces so far can have led to.
        let mut at = vec![0];
        for piece in &self.0 {
            let mut next: Vec<usize> = Vec::new();
            for &start in &at {
                let rest = &name[start..];
                match piece {
                    Piece::Literal(text) if rest.starts_with(text.as_str()) => next.push(start + text.len()),
                    Piece::Literal(_) => {}
                    Piece::AnyOne => next.extend(rest.chars().next().map(|first| start + first.len_utf8())),
                    // From the earliest place on, all later ones are open.
                    Piece::AnyRun if start == at[0] => {
                        next.extend((start..=name.len()).filter(|&end| name.is_char_boundary(end)));
                    }
                    Piece::AnyRun => {}
                    Piece::Number(low, high) => {
                        let digits = rest.bytes().take_while(u8::is_ascii_digit).count().min(20);
                        let fits = |&end: &usize| {
                            let text = &rest[..end];
                            let plain = end == 1 || !text.starts_with('0');
                            plain && text.parse::<u64>().is_ok_and(|number| (*low..=*high).contains(&number))
                        };
                        next.extend((1..=digits).filter(fits).map(|end| start + end));
                    }
                }
            }
            next.sort_unstable();
            next.dedup();
            if next.is_empty() {
                return false;
            }
            at = next;
        }
        at.last() == Some(&name.len())
    }

    /// Returns the numbers that its ranges have in a name, for every possible match.
    fn numbers(&self, name: &str) -> BTreeSet<Vec<u64>> {
        let mut at = BTreeSet::from([(0, Vec::new())]);
        for piece in &self.0 {
            let mut next: BTreeSet<(usize, Vec<u64>)> = BTreeSet::new();
            for (start, numbers) in at {
                let rest = &name[start..];
                match piece {
                    Piece::Literal(text) if rest.starts_with(text.as_str()) => {
                        next.insert((start + text.len(), numbers));
                    }
                    Piece::Literal(_) => {}
                    Piece::AnyOne => next.extend(rest.chars().next().map(|c| (start + c.len_utf8(), numbers))),
                    Piece::AnyRun => {
                        let ends = (start..=name.len()).filter(|&end| name.is_char_boundary(end));
                        next.extend(ends.map(|end| (end, numbers.clone())));
                    }
                    Piece::Number(low, high) => {
                        let digits = rest.bytes().take_while(u8::is_ascii_digit).count().min(20);
                        for end in (1..=digits).filter(|&end| end == 1 || !rest.starts_with('0')) {
                            let number = rest[..end].parse::<u64>().ok().filter(|n| (*low..=*high).contains(n));
                            next.extend(number.map(|n| (start + end, [numbers.as_slice(), &[n]].concat())));
                        }
                    }
                }
            }
            at = next;
        }
        at.into_iter().filter(|(end, _)| *end == name.len()).map(|(_, numbers)| numbers).collect()
    }

    /// Checks that each combination of the numbers of its ranges matches one of these names. Returns the first
    /// combination without a match, and the numbers of missing and of all combinations.
    pub fn unmatched<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<Unmatched> {
        let ranges: Vec<(u64, u64)> = self.0.iter().filter_map(Piece::range).collect();
        if ranges.is_empty() {
            return None;
        }
        let size = |&(low, high): &(u64, u64)| u128::from(high - low) + 1;
        let all = ranges.iter().map(size).fold(1_u128, u128::saturating_mul);
        let met: BTreeSet<Vec<u64>> = names.flat_map(|name| self.numbers(name)).collect();
        let missing = all - met.len() as u128;
        let mut numbers: Vec<u64> = ranges.iter().map(|(low, _)| *low).collect();
        // No longer than there are combinations that match.
        while missing > 0 && met.contains(&numbers) {
            let turning = (0..ranges.len()).rev().find(|&place| numbers[place] < ranges[place].1)?;
            numbers[turning] += 1;
            (turning + 1..ranges.len()).for_each(|place| numbers[place] = ranges[place].0);
        }
        (missing > 0).then(|| Unmatched { first: self.with(&numbers), missing, all })
    }

    /// Returns the pattern with numbers in place of its ranges.
    fn with(&self, numbers: &[u64]) -> String {
        let mut numbers = numbers.iter();
        let write = |piece: &Piece| match piece {
            Piece::Literal(text) => text.clone(),
            Piece::AnyRun => "*".into(),
            Piece::AnyOne => "?".into(),
            Piece::Number(..) => numbers.next().map(u64::to_string).unwrap_or_default(),
        };
        self.0.iter().map(write).collect()
    }

    /// Returns the names that a pattern without `*` and `?` expands to, in order.
    ///
    /// # Errors
    /// Returns a description of the problem: a wildcard, or too many names.
    pub(crate) fn expand(&self) -> Result<Vec<String>, String> {
        let mut names = vec![String::new()];
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => names.iter_mut().for_each(|name| name.push_str(text)),
                Piece::Number(low, high) => {
                    let count = (high - low).saturating_add(1).saturating_mul(names.len() as u64);
                    if count > MOST_NAMES {
                        return Err(format!("{count} names; the limit is {MOST_NAMES}"));
                    }
                    names = names.iter().flat_map(|name| (*low..=*high).map(move |n| format!("{name}{n}"))).collect();
                }
                Piece::AnyRun | Piece::AnyOne => {
                    return Err("a new node needs a name without wildcards; {0..7} makes eight nodes".into());
                }
            }
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, name: &str) -> bool {
        Pattern::parse(pattern).unwrap().matches(name)
    }

    #[test]
    fn wildcards_and_ranges() {
        assert!(matches("*", "h0") && matches("h*", "h") && matches("*e*e*", "edge-le"));
        assert!(matches("h?", "h1") && !matches("h?", "h10") && !matches("h?", "h"));
        assert!(matches("h{0..7}", "h7") && !matches("h{0..7}", "h8") && !matches("h{0..7}", "h07"));
        assert!(matches("g{0..3}r{1..2}", "g3r2") && matches("{10..20}*", "123") && !matches("a", "b"));
        assert!(matches("?\u{b5}*", "\u{b5}\u{b5}\u{b5}"));
    }

    #[test]
    fn ranges_make_names() {
        let names = |text: &str| Pattern::parse(text).unwrap().expand();
        assert_eq!(names("g{0..1}r{8..9}").unwrap(), ["g0r8", "g0r9", "g1r8", "g1r9"]);
        assert_eq!(names("sw").unwrap(), ["sw"]);
        assert!(names("h*").is_err() && names("h{0..18446744073709551615}").is_err());
        assert!(Pattern::parse("h{3..1}").is_err() && Pattern::parse("h{").is_err() && Pattern::parse("{x}").is_err());
    }

    #[test]
    fn every_number_of_a_range_must_match_a_name() {
        let hosts: Vec<String> = (0..32).map(|number| format!("h{number}")).collect();
        let of = |pattern: &str| {
            let pattern = Pattern::parse(pattern).unwrap();
            pattern.unmatched(hosts.iter().map(String::as_str)).map(|it| (it.first, it.missing, it.all))
        };
        assert_eq!(of("h{8..190}"), Some(("h32".into(), 159, 183)));
        assert_eq!(of("h{0..18446744073709551615}"), Some(("h32".into(), (1 << 64) - 32, 1 << 64)));
        assert_eq!(
            (of("h{8..31}"), of("h*"), of("h{0..9}*"), of("{1..2}*")),
            (None, None, None, Some(("1*".into(), 2, 2)))
        );
        assert_eq!(of("h{1..3}{1..2}"), Some(("h32".into(), 1, 6)));
        assert_eq!(of("h{2..4}{0..1}*"), Some(("h40*".into(), 2, 6)));
    }

    proptest! {
        #[test]
        fn nothing_panics(pattern in "[*?{}.0-9ah\u{b5}]{0,12}", name in "[0-9ah\u{b5}]{0,12}") {
            if let Ok(pattern) = Pattern::parse(&pattern) {
                let reads = pattern.matches(&name);
                prop_assert_eq!(reads, !pattern.numbers(&name).is_empty());
                let _ = pattern.unmatched(std::iter::once(name.as_str()));
                let few = pattern.expand().unwrap_or_default();
                for name in few.iter().take(20) {
                    prop_assert!(pattern.matches(name), "{:?} {}", pattern, name);
                }
            }
        }
    }
}
