//! Conversion of a tree to typed values: every key of the table is read or set to its default, and unknown keys are
//! refused.
//!
//! This module knows kinds and conditions, not meanings: for example, it does not check that a stop follows its start.

use super::key::{Default, Key, Kind, NONE, Section, meant};
use super::plan::{Entry, Source};
use super::problem::Problem;
use super::source::{Place, SourceKind, Sources};
use super::tree::{Data, Item, Table};
use super::value::{Value, read, read_default};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Rate, Span};

/// Information collected beside the values.
pub(crate) struct Gathered<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) problems: Vec<Problem>,
    pub(crate) entries: Vec<Entry>,
    /// Entries whose values are computed by a rule, by path.
    pub(crate) by_rule: BTreeMap<String, usize>,
}

impl Gathered<'_> {
    pub(crate) fn refuse(&mut self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem::new(place, message, help));
    }

    /// Sets a value computed by a rule.
    pub(crate) fn computed(&mut self, path: &str, name: &str, value: impl std::fmt::Display) {
        let known = self.by_rule.get(&join(path, name));
        if let Some(entry) = known.and_then(|&number| self.entries.get_mut(number)) {
            entry.value = value.to_string();
        }
    }

    fn source(&self, place: Place) -> Source {
        let (line, _) = self.sources.position(place);
        match self.sources.get(place.source) {
            Some(source) if source.kind == SourceKind::File => Source::File { file: source.name.clone(), line },
            Some(source) => Source::Override(source.text.clone()),
            None => Source::Default("unknown"),
        }
    }
}

/// A section with its values.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Position of its start.
    pub(crate) place: Place,
    /// Its path, as written in overrides.
    pub(crate) path: String,
    values: BTreeMap<&'static str, Found>,
    /// Keys that are given but invalid; the problems have been reported.
    broken: BTreeSet<&'static str>,
    /// Keys that are given as absent.
    none: BTreeSet<&'static str>,
}

#[derive(Clone, Debug)]
struct Found {
    value: Value,
    place: Option<Place>,
}

/// The scope of conditions: the choices made in a section and in the enclosing ones.
pub(crate) struct Scope<'a> {
    chosen: BTreeMap<&'static str, Choice>,
    around: Option<&'a Scope<'a>>,
}

#[derive(Clone, Debug)]
enum Choice {
    Made(String),
    NotMade,
    /// The choice is invalid, so keys that depend on it cannot be checked.
    Broken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Yes,
    No,
    Unknown,
}

impl Scope<'_> {
    pub(crate) fn empty() -> Scope<'static> {
        Scope { chosen: BTreeMap::new(), around: None }
    }

    fn look(&self, key: &str) -> &Choice {
        match (self.chosen.get(key), self.around) {
            (Some(choice), _) => choice,
            (None, Some(around)) => around.look(key),
            (None, None) => &Choice::NotMade,
        }
    }

    fn holds(&self, key: &Key) -> Holds {
        let mut all = Holds::Yes;
        for condition in &key.only {
            match self.look(condition.key) {
                Choice::Made(value) if condition.values.contains(value) => {}
                Choice::Made(_) | Choice::NotMade => return Holds::No,
                Choice::Broken => all = Holds::Unknown,
            }
        }
        all
    }
}

pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Reads one section.
pub(crate) fn section(
    gathered: &mut Gathered<'_>,
    section: &'static Section,
    table: &Table,
    place: Place,
    path: &str,
    around: &Scope<'_>,
) -> Node {
    refuse_unknown(gathered, section, table, path);
    let (broken, none) = (BTreeSet::new(), BTreeSet::new());
    let mut node = Node { place, path: path.to_owned(), values: BTreeMap::new(), broken, none };
    let mut scope = Scope { chosen: BTreeMap::new(), around: Some(around) };
    let mut done = BTreeSet::new();
    for key in &section.keys {
        if !done.insert(key.name) {
            continue;
        }
        let readings = || section.keys.iter().filter(|other| other.name == key.name);
        let given = table.get(key.name);
        let applies = readings().find(|key| scope.holds(key) != Holds::No);
        let (Some(key), given) = (applies, given) else {
            if let Some(given) = given {
                gathered.problems.push(idle(&scope, key, readings(), given.key));
            }
            if key.kind.is_choice() {
                scope.chosen.insert(key.name, Choice::NotMade);
            }
            continue;
        };
        if let Some(given) = given.filter(|given| key.takes_none() && is_none(&given.item)) {
            let (path, source) = (join(path, key.name), gathered.source(given.item.place));
            gathered.entries.push(Entry { path, value: NONE.into(), source });
            node.none.insert(key.name);
            continue;
        }
        let certain = scope.holds(key) == Holds::Yes;
        let found = match given {
            Some(given) => one(gathered, key, &given.item, &join(path, key.name), &scope)
                .map(|value| Found { value, place: Some(given.item.place) }),
            None if !certain => None,
            None => absent(gathered, key, &node, &scope).map(|value| Found { value, place: None }),
        };
        if key.kind.is_choice() {
            let choice = match &found {
                Some(Found { value: Value::Text(name), .. }) => Choice::Made(name.clone()),
                Some(Found { value: Value::Time(time), .. }) => Choice::Made(time.to_string()),
                _ if given.is_some() || !certain || matches!(key.default, Default::Required) => Choice::Broken,
                _ => Choice::NotMade,
            };
            scope.chosen.insert(key.name, choice);
        }
        match found {
            Some(found) => drop(node.values.insert(key.name, found)),
            None if given.is_some() => drop(node.broken.insert(key.name)),
            None => {}
        }
    }
    node
}

/// Returns whether a value is the text that makes a key absent.
pub(crate) fn is_none(item: &Item) -> bool {
    matches!(&item.data, Data::Text(text) if text == NONE)
}

fn refuse_unknown(gathered: &mut Gathered<'_>, section: &Section, table: &Table, path: &str) {
    for (name, entry) in &table.entries {
        if section.keys.iter().any(|key| key.name == name) {
            continue;
        }
        let help = meant(section, name).unwrap_or_else(|| {
            let known: BTreeSet<&str> = section.keys.iter().map(|key| key.name).collect();
            format!("the keys here are {}", known.into_iter().collect::<Vec<_>>().join(", "))
        });
        let shown: String = name.chars().take(60).collect();
        let within = if path.is_empty() { "a scenario".to_owned() } else { format!("`{path}`") };
        gathered.refuse(entry.key, format!("unknown key `{shown}` in {within}"), help);
    }
}

/// Reports a key that has no effect here.
fn idle<'k>(scope: &Scope<'_>, key: &Key, readings: impl Iterator<Item = &'k Key>, place: Place) -> Problem {
    let mut reason = String::new();
    let mut remedies: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for reading in readings {
        for condition in &reading.only {
            let choice = scope.look(condition.key);
            if matches!(choice, Choice::Made(value) if condition.values.contains(value)) {
                continue;
            }
            if reason.is_empty() {
                reason = match choice {
                    Choice::Made(value) => format!("`{}` has no effect with {} = \"{value}\"", key.name, condition.key),
                    _ => format!("`{}` has no effect without `{}`", key.name, condition.key),
                };
            }
            let values = remedies.entry(condition.key).or_default();
            values.extend(
                condition.values.iter().map(String::as_str).filter(|value| !values.contains(value)).collect::<Vec<_>>(),
            );
        }
    }
    let remedy = |(key, values): (&str, Vec<&str>)| {
        let values: Vec<String> = values.into_iter().map(|value| format!("\"{value}\"")).collect();
        match values.len() {
            0..=2 => format!("{key} = {}", values.join(" or ")),
            _ => format!("one of {key} = {}", values.join(", ")),
        }
    };
    let remedies: Vec<String> = remedies.into_iter().map(remedy).collect();
    Problem::new(place, reason, format!("remove it, or choose {}", remedies.join(", ")))
}

/// Reads a given value.
fn one(gathered: &mut Gathered<'_>, key: &'static Key, item: &Item, path: &str, scope: &Scope<'_>) -> Option<Value> {
    match (&key.kind, &item.data) {
        (Kind::Table(inner), Data::Table(table)) => {
            Some(Value::Table(Box::new(section(gathered, inner, table, item.place, path, scope))))
        }
        (Kind::Table(inner), Data::Text(_)) if key.by_name => {
            let name = inner.keys.first().map_or("name", |key| key.name);
            let entry = super::tree::Entry { key: item.place, item: item.clone() };
            let table = Table { entries: [(name.to_owned(), entry)].into() };
            Some(Value::Table(Box::new(section(gathered, inner, &table, item.place, path, scope))))
        }
        (Kind::Table(inner) | Kind::Tables(inner), Data::Text(text)) if inner.has_name() => {
            let message = format!("expected {}, found text", key.kind.describe());
            let table = format!("{{ name = {text:?} }}");
            let list = matches!(key.kind, Kind::Tables(_));
            gathered.refuse(item.place, message, format!("write {}", if list { format!("[{table}]") } else { table }));
            None
        }
        (Kind::Tables(inner), Data::Table(table)) => {
            let path = format!("{path}[0]");
            Some(Value::Tables(vec![section(gathered, inner, table, item.place, &path, scope)]))
        }
        (Kind::Tables(inner), Data::List(items)) => {
            let mut nodes = Vec::new();
            for (number, item) in items.iter().enumerate() {
                let Data::Table(table) = &item.data else {
                    let message = format!("`{path}` takes tables, found {}", item.data.describe());
                    gathered.refuse(item.place, message, "write { key = value, ... }");
                    continue;
                };
                nodes.push(section(gathered, inner, table, item.place, &format!("{path}[{number}]"), scope));
            }
            Some(Value::Tables(nodes))
        }
        (kind, _) => match read(kind, item).and_then(|value| short_name(key, item, value)) {
            Ok(value) => {
                let source = gathered.source(item.place);
                gathered.entries.push(Entry { path: path.to_owned(), value: value.to_string(), source });
                Some(value)
            }
            Err(problems) => {
                gathered.problems.extend(problems);
                None
            }
        },
    }
}

/// Maximum length of a name, which becomes part of file names.
pub(crate) const LONGEST_NAME: usize = 200;

/// Checks that a name or a title is one line of limited length; other texts may be longer.
fn short_name(key: &Key, item: &Item, value: Value) -> Result<Value, Vec<Problem>> {
    let Value::Text(text) = &value else { return Ok(value) };
    if !matches!(key.kind, Kind::Text) || !["name", "title", "x", "y", "legend"].contains(&key.name) {
        return Ok(value);
    }
    let length = text.chars().count();
    let problem = if length > LONGEST_NAME {
        Problem::new(item.place, format!("the name has {length} characters"), format!("use at most {LONGEST_NAME}"))
    } else if text.contains(['\n', '\t']) {
        Problem::new(item.place, "the name contains a line break or a tab", "write it on one line without tabs")
    } else {
        return Ok(value);
    };
    Err(vec![problem])
}

/// Sets the default of a key that is not given.
fn absent(gathered: &mut Gathered<'_>, key: &'static Key, node: &Node, scope: &Scope<'_>) -> Option<Value> {
    let path = join(&node.path, key.name);
    let mut note = |value: String, source: &'static str| {
        gathered.entries.push(Entry { path: path.clone(), value, source: Source::Default(source) });
    };
    match (key.default, &key.kind) {
        (Default::Required, kind) => {
            let within = if node.path.is_empty() { "the scenario".to_owned() } else { format!("`{}`", node.path) };
            let help = match kind {
                Kind::Table(_) => format!("add a section [{path}]: {}", key.meaning),
                Kind::Tables(_) => format!("add [[{}]]: {}", path.replace("[0]", ""), key.meaning),
                _ => format!("add `{} = ...`, {}: {}", key.name, kind.describe(), key.meaning),
            };
            gathered.refuse(node.place, format!("{within} has no `{}`", key.name), help);
            None
        }
        (Default::Absent(meaning), _) => {
            note("not set".into(), meaning);
            None
        }
        (Default::Computed(rule, source), _) => {
            note(rule.into(), source);
            gathered.by_rule.insert(path, gathered.entries.len() - 1);
            None
        }
        (Default::Value(text, source), kind) => {
            let value = read_default(kind, text);
            if let Some(value) = &value {
                note(value.to_string(), source);
            }
            value
        }
        (Default::Nested(_), Kind::Table(inner)) => {
            Some(Value::Table(Box::new(section(gathered, inner, &Table::default(), node.place, &path, scope))))
        }
        (Default::Nested(_), Kind::Tables(inner)) => {
            let path = format!("{path}[0]");
            Some(Value::Tables(vec![section(gathered, inner, &Table::default(), node.place, &path, scope)]))
        }
        (Default::Nested(_), _) => None,
    }
}

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $variant:ident -> $type:ty;)*) => {
        impl Node {
            $($(#[$doc])*
            pub(crate) fn $name(&self, key: &str) -> Option<$type> {
                match self.values.get(key) {
                    Some(Found { value: Value::$variant(value), .. }) => Some(value.clone()),
                    _ => None,
                }
            })*
        }
    };
}

getters! {
    /// A time.
    time: Time -> Span;
    /// A rate.
    rate: Rate -> Rate;
    /// A size.
    size: Size -> Bytes;
    /// A whole number.
    count: Count -> u64;
    /// A number.
    number: Number -> f64;
    /// A fraction.
    ratio: Ratio -> (u32, u32);
    /// True or false.
    flag: Flag -> bool;
    /// A text, a path or a choice.
    text: Text -> String;
    /// Whole numbers with their places.
    counts: Counts -> Vec<(u64, Place)>;
    /// Names with their places.
    names: Names -> Vec<(String, Place)>;
    /// Pairs of names with their places.
    pairs: Pairs -> Vec<[(String, Place); 2]>;
    /// Two times with their places.
    interval: Interval -> [(Span, Place); 2];
    /// Any value.
    any: Any -> Item;
}

impl Node {
    /// Returns a section inside this one.
    pub(crate) fn table(&self, key: &str) -> Option<&Node> {
        match self.values.get(key) {
            Some(Found { value: Value::Table(node), .. }) => Some(node),
            _ => None,
        }
    }

    /// Returns the sections of a list; empty if there is no list.
    pub(crate) fn tables(&self, key: &str) -> &[Node] {
        match self.values.get(key) {
            Some(Found { value: Value::Tables(nodes), .. }) => nodes,
            _ => &[],
        }
    }

    /// Returns the position of a key's value; that of the section if it was not given.
    pub(crate) fn place_of(&self, key: &str) -> Place {
        self.values.get(key).and_then(|found| found.place).unwrap_or(self.place)
    }

    /// Returns whether a key was given or has a default.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Returns whether a key was given as absent: `"none"`.
    pub(crate) fn is_none(&self, key: &str) -> bool {
        self.none.contains(key)
    }

    /// Returns whether a key was given, validly or not.
    pub(crate) fn given(&self, key: &str) -> bool {
        self.broken.contains(key) || self.values.get(key).is_some_and(|found| found.place.is_some())
    }
}
