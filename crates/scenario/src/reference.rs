//! The reference page, generated from the table of keys: every key with its kind, default, the default's source and
//! meaning.

use super::key::{Default, Key, Kind, Section};
use super::keys::{examples, root};
use super::value::read_default;
use std::fmt::Write;

const OPENING: &str = "# Scenario file reference

This page is generated from the table that the program reads scenarios with; do not edit it. Complete scenarios to copy
are in [recipes.md](recipes.md) and in [scenarios/](../scenarios).

A scenario is a TOML file. Quantities are strings with a unit: a time is `\"500ns\"`, `\"20us\"` or `\"1.5ms\"`; a rate is
`\"10Gb/s\"`; a size is `\"1500B\"`, `\"150KB\"` (1000 bytes each) or `\"32KiB\"` (1024 bytes each). `b` is a bit, `B` a byte.
Values are exact, never rounded; a quantity without a unit is an error. Names accept wildcards: `*` matches any text, `?`
one character, `{0..7}` the numbers 0 to 7, all of which must exist. A name or title is one line of at most 200
characters; control characters are errors. A single table can replace a list of one table.

An unknown key is an error; so is a key without effect. `tailback explain FILE` prints every value with its origin: a line
of a file, an override or a default. `--set PATH=VALUE` overrides a key: `--set run.duration=5ms`,
`--set 'switches[0].buffers[0].xoff=50KB'`, `--set 'workloads[victim].start=1ms'`.

Keys in the tables below have a default, are *required*, or are optional (*none*, with the meaning of their absence). Every
default has a source: a standard, a paper, a product, or *our choice*. The value `\"none\"` removes an optional key that a
`base` file, a variant or another layer has set: `--set congestion_point=none`. Keys that accept text or a list of choices
cannot be removed this way.

Examples are parts of a scenario; the test suite loads each of them.
";

/// Number of keys in a section from which a shared condition has its own table.
const MANY: usize = 5;

/// Returns the page in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = Page { text: String::from(OPENING), known: Vec::new(), examples: examples::SCENARIO };
    page.section(root(), "", "Top level", 2);
    page.examples = examples::PAPER;
    page.section(super::keys::paper::paper(), "", "paper.toml", 2);
    page.text
}

struct Page {
    text: String,
    /// The sections described so far: their keys and titles.
    known: Vec<(String, String)>,
    examples: examples::Examples,
}

impl Page {
    /// Writes a section, or a reference to one with the same keys.
    fn section(&mut self, section: &Section, path: &str, title: &str, depth: usize) {
        let _ = writeln!(self.text, "\n{} {title}\n", "#".repeat(depth.min(5)));
        let mut body = String::new();
        describe(&mut body, section);
        let _ = writeln!(self.text, "{}\n", section.about);
        let example = self.examples.iter().copied().flatten().find(|(place, _)| *place == path);
        let twin = self.known.iter().find(|(known, _)| includes(known, &body));
        if let Some((_, example)) = example.filter(|_| depth <= 3 || twin.is_none_or(|(known, _)| *known != body)) {
            let _ = writeln!(self.text, "```toml\n{example}\n```\n");
        }
        if let Some((_, twin)) = twin {
            let _ = writeln!(self.text, "The keys are those of [{twin}](#{}).", anchor(twin));
            return;
        }
        self.text.push_str(&body);
        self.known.push((body, title.to_owned()));
        for key in &section.keys {
            let inner = join(path, key.name);
            match &key.kind {
                Kind::Table(section) => self.section(section, &inner, &format!("[{inner}]"), depth + 1),
                Kind::Tables(section) => self.section(section, &inner, &format!("[[{inner}]]"), depth + 1),
                _ => {}
            }
        }
    }
}

/// Whether one description has every line of another: the second section has no key that the first one lacks.
fn includes(known: &str, body: &str) -> bool {
    body.lines().all(|line| known.lines().any(|other| other == line))
}

/// Writes the keys of a section: a table, tables for conditions shared by many keys, and the choices.
fn describe(page: &mut String, section: &Section) {
    let mut groups: Vec<(String, Vec<&Key>)> = Vec::new();
    for key in &section.keys {
        let condition = condition(key, section);
        match groups.iter_mut().find(|(known, _)| *known == condition) {
            Some((_, keys)) => keys.push(key),
            None => groups.push((condition, vec![key])),
        }
    }
    groups.retain(|(condition, keys)| !condition.is_empty() && keys.len() >= MANY);
    let apart = |condition: &String| groups.iter().any(|(group, _)| group == condition);
    let all = section.keys.iter().map(|key| (key, condition(key, section)));
    table(page, all.filter(|(_, condition)| !apart(condition)));
    for (condition, keys) in &groups {
        let _ = writeln!(page, "\n{}:\n", condition.trim().trim_end_matches('.'));
        table(page, keys.iter().map(|key| (*key, String::new())));
    }
    choices(page, section);
}

/// Writes a table of keys. Readings of the same key are next to each other, and a meaning that they share is there once.
fn table<'a>(page: &mut String, rows: impl Iterator<Item = (&'a Key, String)>) {
    let mut sorted: Vec<(&Key, String)> = Vec::new();
    for row in rows {
        let end = sorted.iter().rposition(|(key, _)| key.name == row.0.name).map_or(sorted.len(), |last| last + 1);
        sorted.insert(end, row);
    }
    let _ = writeln!(page, "| key | kind | default | meaning |\n|---|---|---|---|");
    let mut last = ("", "");
    for (key, condition) in sorted {
        let meaning = if last == (key.name, key.meaning) { "As above." } else { key.meaning };
        last = (key.name, key.meaning);
        let meaning = escape(&format!("{meaning}{condition}"));
        let _ = writeln!(page, "| `{}` | {} | {} | {meaning} |", key.name, key.word(), default(key));
    }
}

/// Writes the values of each key that is a choice, once if several readings have the same.
fn choices(page: &mut String, section: &Section) {
    for (number, key) in section.keys.iter().enumerate() {
        let Some(choices) = values(key) else { continue };
        let same = |other: &&Key| other.name == key.name;
        let readings: Vec<&Key> = section.keys.iter().filter(same).collect();
        if section.keys[..number].iter().filter(same).any(|other| values(other) == Some(choices)) {
            continue;
        }
        let or = match key.kind {
            Kind::TimeOr(_) => "a time, or ",
            Kind::PercentOr(_) => "a whole percentage, such as `\"40%\"`, or ",
            _ => "",
        };
        let alike = readings.iter().all(|other| values(other) == Some(choices));
        let when = if alike {
            String::new()
        } else {
            condition(key, section).replace(" Only with", " with").replace(" Not with", " not with").replace('.', "")
        };
        let _ = writeln!(page, "\n`{}`{when} is {or}one of:\n", key.name);
        for (name, meaning) in choices {
            let _ = writeln!(page, "- `\"{name}\"`: {meaning}");
        }
    }
}

fn values(key: &Key) -> Option<&Vec<(String, String)>> {
    match &key.kind {
        Kind::Choice(choices) | Kind::Choices(choices) | Kind::TimeOr(choices) | Kind::PercentOr(choices) => {
            Some(choices)
        }
        _ => None,
    }
}

/// Returns the anchor that Markdown gives to a heading.
fn anchor(title: &str) -> String {
    title.to_lowercase().chars().filter(|letter| letter.is_alphanumeric() || "-_ ".contains(*letter)).collect()
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Describes when a key applies or, if shorter, when it does not.
fn condition(key: &Key, section: &Section) -> String {
    let list = |values: Vec<&String>| values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    let (mut only, mut not) = (Vec::new(), Vec::new());
    for condition in &key.only {
        let choices = section.keys.iter().filter(|other| other.name == condition.key && values(other).is_some());
        let always = choices.clone().any(|choice| !matches!(choice.default, Default::Absent(_)));
        let all = choices.filter_map(values).flatten().map(|(name, _)| name);
        let mut others: Vec<&String> = all.filter(|name| !condition.values.contains(name)).collect();
        others.dedup();
        // A key that may also be a time has more values than its choices.
        let listed = |other: &Key| other.name == condition.key && matches!(other.kind, Kind::Choice(_));
        if others.is_empty() && section.keys.iter().any(listed) {
            only.extend((!always).then(|| format!("`{}`", condition.key)));
        } else if always && !others.is_empty() && others.len() < condition.values.len() {
            not.push(format!(" Not with `{}` = {}.", condition.key, list(others)));
        } else {
            only.push(format!("`{}` = {}", condition.key, list(condition.values.iter().collect())));
        }
    }
    let only = if only.is_empty() { String::new() } else { format!(" Only with {}.", only.join(" and ")) };
    only + &not.concat()
}

fn default(key: &Key) -> String {
    escape(&match key.default {
        Default::Required => "required".into(),
        Default::Absent("none") => "none".into(),
        Default::Absent(meaning) => format!("none: {meaning}"),
        Default::Value(text, source) => {
            let value = read_default(&key.kind, text).map_or_else(|| text.to_owned(), |value| value.to_string());
            format!("`{value}`; {source}")
        }
        Default::Computed(rule, source) => format!("{rule}; {source}"),
        Default::Nested(source) => source.into(),
    })
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_section_has_an_example_or_refers_to_one() {
        let page = reference();
        let sections: Vec<&str> = page.split("\n##").skip(1).collect();
        assert!(sections.len() > 50, "{}", sections.len());
        for section in sections {
            let title = section.lines().next().unwrap_or_default();
            assert!(section.contains("```toml") || section.contains("The keys are those of"), "{title}: no example");
        }
    }

    #[test]
    fn the_page_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenario.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, reference()).expect("docs/scenario.md can be written");
        }
        let page = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(page == reference(), "docs/scenario.md is out of date; run the tests once with UPDATE_DOCS=1");
    }
}
