//! A scenario as a tree of values with positions: parsed from TOML and merged with its base.

use super::key::Section;
use super::problem::Problem;
use super::source::{Place, Sources};
use files::text::is_control;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// A value and its position.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) data: Data,
    pub(crate) place: Place,
}

/// TOML values, without dates.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    Text(String),
    Integer(i128),
    Float(f64),
    Bool(bool),
    List(Vec<Item>),
    Table(Table),
    /// A TOML value that no key takes, or a number out of range; in words.
    Other(&'static str),
}

impl Data {
    /// Returns the kind of value, for error messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Data::Text(_) => "text",
            Data::Integer(_) => "a whole number",
            Data::Float(_) => "a number with decimals",
            Data::Bool(_) => "true or false",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
            Data::Other(name) => name,
        }
    }
}

/// Keys and values, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) entries: BTreeMap<String, Entry>,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Position of the key.
    pub(crate) key: Place,
    pub(crate) item: Item,
}

impl Table {
    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// Merges this table over another: tables are merged by key, all other values are replaced.
    pub(crate) fn over(self, base: Table) -> Table {
        let mut joined = base;
        for (name, entry) in self.entries {
            let below = joined.entries.remove(&name).map(|entry| entry.item.data);
            let data = match (entry.item.data, below) {
                (Data::Table(mine), Some(Data::Table(theirs))) => Data::Table(mine.over(theirs)),
                (mine, _) => mine,
            };
            let item = Item { data, place: entry.item.place };
            joined.entries.insert(name, Entry { key: entry.key, item });
        }
        joined
    }
}

/// Parses a whole text. Returns the valid parts and reports the others.
pub(crate) fn parse(sources: &Sources, source: u32, problems: &mut Vec<Problem>) -> Table {
    let Some(text) = sources.get(source).map(|source| source.text.as_str()) else { return Table::default() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        problems.push(syntax(source, 0, text, &error));
    }
    convert_table(source, 0, table.get_ref())
}

/// Refuses texts and keys with control characters. Texts may contain line breaks and tabs.
pub(crate) fn refuse_controls(table: &Table, problems: &mut Vec<Problem>) {
    for (name, entry) in &table.entries {
        if name.chars().any(is_control) {
            problems.push(controls(entry.key, name));
        }
        refuse_in(&entry.item, problems);
    }
}

fn refuse_in(item: &Item, problems: &mut Vec<Problem>) {
    match &item.data {
        Data::Text(text) if text.chars().any(|letter| is_control(letter) && !matches!(letter, '\n' | '\t')) => {
            problems.push(controls(item.place, text));
        }
        Data::List(items) => items.iter().for_each(|item| refuse_in(item, problems)),
        Data::Table(table) => refuse_controls(table, problems),
        _ => {}
    }
}

fn controls(place: Place, text: &str) -> Problem {
    let found = text.chars().find(|&letter| is_control(letter) && !matches!(letter, '\n' | '\t'));
    let found = found.or_else(|| text.chars().find(|&letter| is_control(letter))).map_or(0, u32::from);
    Problem::new(place, format!("the control character U+{found:04X} is not allowed"), "remove it")
}

/// Returns whether a text has keys of that section: at least one at its top level, and at most as many unknown ones.
pub(crate) fn is_of(section: &Section, text: &str) -> bool {
    let (table, _) = DeTable::parse_recoverable(text);
    let known = |name: &str| section.keys.iter().any(|key| key.name == name);
    let count = table.get_ref().iter().filter(|(name, _)| known(name.get_ref())).count();
    count > 0 && 2 * count >= table.get_ref().len()
}

/// Returns the positions at which a text does not consist of keys of that section: invalid TOML, and unknown top-level
/// keys.
pub(crate) fn foreign(section: &Section, source: u32, text: &str) -> Vec<Place> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let known = |name: &str| section.keys.iter().any(|key| key.name == name);
    let unknown = table.get_ref().iter().filter(|(name, _)| !known(name.get_ref())).map(|(name, _)| name.span());
    let wrong = errors.iter().map(|error| error.span().unwrap_or(text.len()..text.len()));
    unknown.chain(wrong).map(|span| place(source, 0, span)).collect()
}

/// Parses one value in the middle of a text; `None` if it is not a TOML value.
pub(crate) fn parse_value(source: u32, text: &str, offset: usize) -> Option<Item> {
    let value = DeValue::parse(text).ok()?;
    Some(convert(source, offset, value.get_ref(), value.span()))
}

/// The paths of all keys and values of a text, as overrides name them, by where they are.
#[derive(Clone, Debug)]
pub(crate) struct Paths(Vec<(std::ops::Range<usize>, String)>);

impl Paths {
    pub(crate) fn of(text: &str) -> Paths {
        let (table, _) = DeTable::parse_recoverable(text);
        let mut paths = Paths(Vec::new());
        paths.table(table.get_ref(), "");
        // What lies inside comes after what lies around it.
        paths.0.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        paths
    }

    /// Returns the path of the innermost key or value at a byte.
    pub(crate) fn at(&self, at: usize) -> Option<&str> {
        let begun = self.0.partition_point(|(span, _)| span.start <= at);
        self.0[..begun].iter().rev().find(|(span, _)| span.contains(&at)).map(|(_, path)| path.as_str())
    }

    fn table(&mut self, table: &DeTable<'_>, above: &str) {
        for (key, value) in table {
            let path = if above.is_empty() { key.get_ref().to_string() } else { format!("{above}.{}", key.get_ref()) };
            self.0.push((key.span(), path.clone()));
            self.value(value.get_ref(), value.span(), path);
        }
    }

    fn value(&mut self, value: &DeValue<'_>, span: std::ops::Range<usize>, path: String) {
        match value {
            DeValue::Table(table) => self.table(table, &path),
            DeValue::Array(list) => {
                for (number, item) in list.iter().enumerate() {
                    self.value(item.get_ref(), item.span(), format!("{path}[{number}]"));
                }
            }
            _ => {}
        }
        self.0.push((span, path));
    }
}

fn syntax(source: u32, offset: usize, text: &str, error: &toml::de::Error) -> Problem {
    let span = error.span().unwrap_or(text.len()..text.len());
    let help = match error.message() {
        message if message.contains("duplicate key") => "keep one of the two",
        message if message.contains("string values must be quoted") => "put the value in quotes, such as \"10Gb/s\"",
        _ => "write TOML: key = value, with text and quantities in quotes, and each [section] above its keys",
    };
    Problem::new(place(source, offset, span), format!("not TOML: {}", error.message()), help)
}

fn place(source: u32, offset: usize, span: std::ops::Range<usize>) -> Place {
    let small = |at: usize| u32::try_from(offset.saturating_add(at)).unwrap_or(u32::MAX);
    Place { source, start: small(span.start), end: small(span.end) }
}

fn convert_table(source: u32, offset: usize, table: &DeTable<'_>) -> Table {
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        let item = convert(source, offset, value.get_ref(), value.span());
        (name.to_string(), Entry { key: place(source, offset, key.span()), item })
    };
    Table { entries: table.iter().map(entry).collect() }
}

fn convert(source: u32, offset: usize, value: &DeValue<'_>, span: std::ops::Range<usize>) -> Item {
    let data = match value {
        DeValue::String(text) => Data::Text(text.to_string()),
        DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
            .map_or(Data::Other("a number beyond 128 bits"), Data::Integer),
        DeValue::Float(float) => float.as_str().parse().map_or(Data::Other("not a number"), Data::Float),
        DeValue::Boolean(flag) => Data::Bool(*flag),
        DeValue::Datetime(_) => Data::Other("a date"),
        DeValue::Array(list) => {
            Data::List(list.iter().map(|item| convert(source, offset, item.get_ref(), item.span())).collect())
        }
        DeValue::Table(table) => Data::Table(convert_table(source, offset, table)),
    };
    Item { data, place: place(source, offset, span) }
}

#[cfg(test)]
mod tests {
    use super::super::source::SourceKind;
    use super::*;

    fn read(text: &str) -> (Table, Vec<Problem>) {
        let mut sources = Sources::default();
        let source = sources.add("a.toml".into(), SourceKind::File, text.into());
        let mut problems = Vec::new();
        (parse(&sources, source, &mut problems), problems)
    }

    #[test]
    fn values_know_where_they_stand() {
        let text = "[run]\nseed = 7\nlist = [1.5, \"x\"]\n";
        let (table, problems) = read(text);
        assert!(problems.is_empty());
        let Data::Table(run) = &table.get("run").unwrap().item.data else { panic!("a table") };
        let seed = run.get("seed").unwrap();
        assert_eq!(&text[seed.key.start as usize..seed.key.end as usize], "seed");
        assert_eq!(&text[seed.item.place.start as usize..seed.item.place.end as usize], "7");
        assert!(matches!(seed.item.data, Data::Integer(7)));
    }

    #[test]
    fn a_place_has_the_path_of_its_key() {
        let text =
            "name = \"x\"\nnetwork = { link = { rate = 1 } }\nlist = [{ a = 1 }, { b = [7, 8] }]\n[run]\nseed = 7\n";
        for (found, path) in [
            ("name", "name"),
            ("rate", "network.link.rate"),
            ("1 }", "network.link.rate"),
            ("{ rate", "network.link"),
            ("a =", "list[0].a"),
            ("{ b", "list[1]"),
            ("8]", "list[1].b[1]"),
            ("seed", "run.seed"),
        ] {
            let at = text.find(found).unwrap();
            assert_eq!(Paths::of(text).at(at), Some(path), "{found}");
        }
        assert_eq!(Paths::of(text).at(4), None);
        assert_eq!(Paths::of("= =").at(1), None);
    }

    #[test]
    fn every_syntax_error_is_told() {
        let (table, problems) = read("a = 10Gb/s\nb = 2\n[c\nd = = 3\n");
        assert!(problems.len() >= 3, "{problems:?}");
        assert!(table.get("b").is_some());
    }

    #[test]
    fn a_child_wins_over_its_base() {
        let (child, _) = read("a = 1\n[t]\nx = 1\n[[l]]\nn = 1\n");
        let (base, _) = read("a = 2\nb = 3\n[t]\nx = 2\ny = 3\n[[l]]\nn = 2\n[[l]]\nn = 3\n");
        let joined = child.over(base);
        assert!(matches!(joined.get("a").unwrap().item.data, Data::Integer(1)));
        assert!(matches!(joined.get("b").unwrap().item.data, Data::Integer(3)));
        let Data::Table(t) = &joined.get("t").unwrap().item.data else { panic!("a table") };
        assert_eq!(t.entries.len(), 2);
        let Data::List(l) = &joined.get("l").unwrap().item.data else { panic!("a list") };
        assert_eq!(l.len(), 1);
    }
}
