//! Names with wildcards: `*` is any run of characters, `?` is one, `{0..7}` is a number from 0 to 7.

/// A pattern in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    AnyRun,
    AnyOne,
    Number(u64, u64),
}

/// The most names a pattern may be expanded to.
pub(crate) const MOST_NAMES: u64 = 1 << 20;

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// A range that is none, in words.
    pub(crate) fn parse(text: &str) -> Result<Pattern, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            match first {
                '*' | '?' => {
                    pieces.push(if first == '*' { Piece::AnyRun } else { Piece::AnyOne });
                    rest = &rest[1..];
                }
                '{' => {
                    let (range, after) = rest[1..].split_once('}').ok_or("a { without its }; write {0..7}")?;
                    let bounds = range.split_once("..").and_then(|(low, high)| {
                        Some((low.trim().parse().ok()?, high.trim().parse().ok()?)).filter(|(low, high)| low <= high)
                    });
                    let (low, high) = bounds.ok_or_else(|| format!("{{{range}}} is no range; write {{0..7}}"))?;
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

    /// Whether it stands for one name only, and which.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Literal(name)] => Some(name),
            _ => None,
        }
    }

    /// Whether a name is one of those it stands for.
    pub(crate) fn matches(&self, name: &str) -> bool {
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

    /// The names a pattern without `*` and `?` stands for, in order.
    ///
    /// # Errors
    /// A wildcard, or too many names, in words.
    pub(crate) fn expand(&self) -> Result<Vec<String>, String> {
        let mut names = vec![String::new()];
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => names.iter_mut().for_each(|name| name.push_str(text)),
                Piece::Number(low, high) => {
                    let count = (high - low).saturating_add(1).saturating_mul(names.len() as u64);
                    if count > MOST_NAMES {
                        return Err(format!("{count} names; at most {MOST_NAMES}"));
                    }
                    names = names.iter().flat_map(|name| (*low..=*high).map(move |n| format!("{name}{n}"))).collect();
                }
                Piece::AnyRun | Piece::AnyOne => {
                    return Err("a new node needs a name, not a wildcard; {0..7} makes eight nodes".into());
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

    proptest! {
        #[test]
        fn nothing_panics(pattern in "[*?{}.0-9ah\u{b5}]{0,12}", name in "[0-9ah\u{b5}]{0,12}") {
            if let Ok(pattern) = Pattern::parse(&pattern) {
                let _ = pattern.matches(&name);
                let few = pattern.expand().unwrap_or_default();
                for name in few.iter().take(20) {
                    prop_assert!(pattern.matches(name), "{:?} {}", pattern, name);
                }
            }
        }
    }
}
