//! Definition of a key of the scenario format: its kind, its default with the default's source, and its conditions.
//!
//! The keys themselves are in [`keys`](super::keys). The reader, the JSON Schema, the reference page and the
//! explanation of a plan all use that one table, so that they cannot contradict each other.

use units::{Bytes, Rate, Span};

/// A table of the format.
#[derive(Debug)]
pub struct Section {
    /// Purpose of the table.
    pub about: &'static str,
    /// Its keys; a key that others depend on precedes them.
    pub keys: Vec<Key>,
}

impl Section {
    /// Returns whether its first key is a choice called `name`.
    pub(crate) fn has_name(&self) -> bool {
        self.keys.first().is_some_and(|key| key.name == "name" && matches!(key.kind, Kind::Choice(_)))
    }
}

/// One key, or one of several readings of a key that apply under different conditions.
#[derive(Debug)]
pub struct Key {
    /// Name of the key in files.
    pub name: &'static str,
    /// Kind of its values.
    pub kind: Kind,
    /// Value if the key is not given.
    pub default: Default,
    /// Meaning, in one sentence.
    pub meaning: &'static str,
    /// Conditions that must all hold; otherwise the key has no effect and is refused.
    pub only: Vec<Condition>,
    /// Name in older versions of the format; it is refused with a hint to the current name.
    pub former: Option<&'static str>,
    /// Whether the value of the table's first key may stand for the table.
    pub by_name: bool,
}

/// A condition: another key of this table, or of an enclosing one, has one of these values.
#[derive(Debug)]
pub struct Condition {
    /// The other key.
    pub key: &'static str,
    /// The values for which the condition holds.
    pub values: Vec<String>,
}

/// The value of a key that is not given.
#[derive(Clone, Copy, Debug)]
pub enum Default {
    /// The key is required.
    Required,
    /// No value; the text explains the effect.
    Absent(&'static str),
    /// This value, as written in a scenario, and its source.
    Value(&'static str, &'static str),
    /// The result of this rule, and the source of the rule.
    Computed(&'static str, &'static str),
    /// A table or list of tables in which every key has its default.
    Nested(&'static str),
}

/// The kind of a key's values.
#[derive(Debug)]
pub enum Kind {
    /// A duration or an instant up to that maximum.
    Time(Span),
    /// A time, or one of these names with their meanings.
    TimeOr(Vec<(String, String)>),
    /// A whole percentage from 1 to 100, or one of these names with their meanings.
    PercentOr(Vec<(String, String)>),
    /// Bits per second, from the first to the second.
    Rate(Rate, Rate),
    /// Bytes, from the first to the second.
    Size(Bytes, Bytes),
    /// A whole number, from the first to the second.
    Count(u64, u64),
    /// A number, from the first to the second.
    Number(f64, f64),
    /// A fraction of two positive whole numbers: `2` or `"1/8"`.
    Ratio,
    /// True or false.
    Flag,
    /// Text for humans.
    Text,
    /// The path of a file.
    File,
    /// One of these names with their meanings.
    Choice(Vec<(String, String)>),
    /// A list of these names.
    Choices(Vec<(String, String)>),
    /// One or more names, optionally with wildcards.
    Names,
    /// A list of whole numbers, each from the first to the second.
    Counts(u64, u64),
    /// Two names, optionally with wildcards.
    Pair,
    /// A list of pairs of names.
    Pairs,
    /// Two times.
    Interval,
    /// A table.
    Table(Box<Section>),
    /// A list of tables; a single table is a list of one.
    Tables(Box<Section>),
    /// Any value, interpreted by its user.
    Any,
}

/// The text that makes a key absent.
pub const NONE: &str = "none";

/// The longest time in a scenario; it leaves room for additions without overflow.
pub(crate) const LONGEST: Span = Span::from_secs(3600);
/// The lowest rate of a link or source; below it, a pause of 65535 quanta would overflow 64 bits of picoseconds.
pub(crate) const SLOWEST: Rate = Rate::from_bits_per_sec(1_000);
/// The highest rate of a link or source: above 1.6 Tb/s, the highest of IEEE P802.3dj.
pub(crate) const FASTEST: Rate = Rate::from_gigabits(10_000);

impl Kind {
    /// Any time permitted in a scenario.
    pub(crate) const fn time() -> Kind {
        Kind::Time(LONGEST)
    }

    /// Any rate but zero.
    pub(crate) const fn rate() -> Kind {
        Kind::Rate(SLOWEST, FASTEST)
    }

    /// A number of bytes from `least` to `most`.
    pub(crate) const fn size(least: u64, most: u64) -> Kind {
        Kind::Size(Bytes::new(least), Bytes::new(most))
    }

    /// One of these names with their meanings.
    pub(crate) fn choice(names: &[(&str, &str)]) -> Kind {
        Kind::Choice(owned(names))
    }

    /// Any time permitted in a scenario, or one of these names with their meanings.
    pub(crate) fn time_or(names: &[(&str, &str)]) -> Kind {
        Kind::TimeOr(owned(names))
    }

    /// A whole percentage, or one of these names with their meanings.
    pub(crate) fn percent_or(names: &[(&str, &str)]) -> Kind {
        Kind::PercentOr(owned(names))
    }

    /// Returns whether conditions of other keys can refer to its values.
    #[must_use]
    pub fn is_choice(&self) -> bool {
        matches!(self, Kind::Choice(_) | Kind::TimeOr(_) | Kind::PercentOr(_))
    }

    /// A list of these names.
    pub(crate) fn choices(names: &[(&str, &str)]) -> Kind {
        Kind::Choices(owned(names))
    }

    /// Describes the permitted values.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Kind::Time(_) => "a time, such as \"500ns\" or \"1.5ms\"".into(),
            Kind::TimeOr(names) => format!("a time, such as \"500us\", or {}", list(names)),
            Kind::PercentOr(names) => format!("a percentage, such as \"40%\", or {}", list(names)),
            Kind::Rate(..) => "a rate, such as \"10Gb/s\"".into(),
            Kind::Size(..) => "a size, such as \"1500B\" or \"150KB\"".into(),
            Kind::Count(0, u64::MAX) => "a whole number".into(),
            Kind::Count(least, u64::MAX) => format!("a whole number, at least {least}"),
            Kind::Count(least, most) => format!("a whole number from {least} to {most}"),
            Kind::Number(least, most) if most.is_infinite() => format!("a number, at least {least}"),
            Kind::Number(least, most) => format!("a number from {least} to {most}"),
            Kind::Ratio => "a whole number or a fraction in quotes, such as 2 or \"1/8\"".into(),
            Kind::Flag => "true or false".into(),
            Kind::Text => "a text in quotes".into(),
            Kind::File => "the path of a file, in quotes".into(),
            Kind::Choice(names) => format!("one of {}", list(names)),
            Kind::Choices(names) => format!("a list of {}", list(names)),
            Kind::Names => {
                "a name or a list of names; * matches anything, ? one character, {0..7} the numbers from 0 to 7".into()
            }
            Kind::Counts(..) => "a list of whole numbers, such as [4, 4]".into(),
            Kind::Pair => "a list of two names, such as [\"sw0\", \"sw1\"]".into(),
            Kind::Pairs => "a list of pairs of names, such as [[\"sw0\", \"sw1\"]]".into(),
            Kind::Interval => "a list of two times, such as [\"2ms\", \"5ms\"]".into(),
            Kind::Table(_) => "a table".into(),
            Kind::Tables(_) => "a list of tables".into(),
            Kind::Any => "a value".into(),
        }
    }

    /// Returns the kind with its article, for error messages.
    pub(crate) fn expected(&self) -> String {
        match self.word() {
            word @ ("true or false" | "names" | "two names" | "two times") => word.to_owned(),
            word => format!("a {word}"),
        }
    }

    /// Returns the kind in one or two words, for the reference page.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Kind::Time(_) => "time",
            Kind::TimeOr(_) => "time or choice",
            Kind::PercentOr(_) => "percentage or choice",
            Kind::Rate(..) => "rate",
            Kind::Size(..) => "size",
            Kind::Count(..) => "whole number",
            Kind::Number(..) => "number",
            Kind::Ratio => "ratio",
            Kind::Flag => "true or false",
            Kind::Text => "text",
            Kind::File => "file",
            Kind::Choice(_) => "choice",
            Kind::Choices(_) => "list of choices",
            Kind::Names => "names",
            Kind::Counts(..) => "list of whole numbers",
            Kind::Pair => "two names",
            Kind::Pairs => "list of pairs of names",
            Kind::Interval => "two times",
            Kind::Table(_) => "table",
            Kind::Tables(_) => "list of tables",
            Kind::Any => "value",
        }
    }
}

fn owned(names: &[(&str, &str)]) -> Vec<(String, String)> {
    names.iter().map(|(name, meaning)| ((*name).to_owned(), (*meaning).to_owned())).collect()
}

fn list(names: &[(String, String)]) -> String {
    names.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// Creates a key without conditions.
pub(crate) fn key(name: &'static str, kind: Kind, default: Default, meaning: &'static str) -> Key {
    Key { name, kind, default, meaning, only: Vec::new(), former: None, by_name: false }
}

impl Key {
    /// Returns whether `"none"` is permitted: the key has no default and takes no other text. The key is then absent,
    /// as if no file had given it.
    #[must_use]
    pub fn takes_none(&self) -> bool {
        let takes_text = matches!(
            self.kind,
            Kind::Choice(_)
                | Kind::Choices(_)
                | Kind::TimeOr(_)
                | Kind::PercentOr(_)
                | Kind::Names
                | Kind::Text
                | Kind::File
                | Kind::Any
        );
        matches!(self.default, Default::Absent(_)) && !takes_text && !self.by_name
    }

    /// Permits the value of the table's first key, a choice, instead of the table.
    pub(crate) fn by_name(mut self) -> Key {
        self.by_name = true;
        self
    }

    /// Returns the kind in a few words, for the reference page.
    pub(crate) fn word(&self) -> &'static str {
        if self.by_name { "table or choice" } else { self.kind.word() }
    }

    /// Returns the choices that may stand for the table.
    pub(crate) fn names(&self) -> Option<&[(String, String)]> {
        match &self.kind {
            Kind::Table(section) if self.by_name => match &section.keys.first()?.kind {
                Kind::Choice(names) => Some(names),
                _ => None,
            },
            _ => None,
        }
    }

    /// Adds a name from older versions of the format.
    pub(crate) fn formerly(mut self, name: &'static str) -> Key {
        self.former = Some(name);
        self
    }

    /// Adds the condition that another key has one of these values.
    pub(crate) fn only(mut self, key: &'static str, values: &[&str]) -> Key {
        self.only.push(Condition { key, values: values.iter().map(|&value| value.to_owned()).collect() });
        self
    }
}

/// Returns the key of a section that an unknown name probably means: one that formerly had this name, or one with a
/// similar name.
pub(crate) fn meant(section: &Section, wrong: &str) -> Option<String> {
    let renamed = section.keys.iter().find(|key| key.former == Some(wrong));
    let like = || near(wrong, section.keys.iter().map(|key| key.name)).map(|like| format!("did you mean `{like}`?"));
    renamed.map(|key| format!("it was renamed to `{}`", key.name)).or_else(like)
}

/// Returns the most similar name, if any is similar.
pub fn near<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace(['_', ' '], "-");
    let wrong = plain(wrong);
    let distance = |name: &str| strsim::damerau_levenshtein(&wrong, &plain(name));
    // Long wrong names are not worth the quadratic comparison.
    if wrong.len() > 64 {
        return None;
    }
    let begins = |name: &str| wrong.len() >= 3 && (plain(name).starts_with(&wrong) || wrong.starts_with(&plain(name)));
    let (_, distance, name) = names.map(|name| (!begins(name), distance(name), name)).min()?;
    (begins(name) || distance <= 1 + wrong.len() / 4).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_found_and_far_ones_are_not() {
        let names = ["threshold", "latency", "fat-tree", "xon"];
        let find = |wrong| near(wrong, names.into_iter());
        assert_eq!(find("thresold"), Some("threshold"));
        assert_eq!(find("fat_tree"), Some("fat-tree"));
        assert_eq!(find("lat"), Some("latency"));
        assert_eq!(find("xno"), Some("xon"));
        assert_eq!(find("banana"), None);
        assert_eq!(find(&"x".repeat(100_000)), None);
    }
}
