//! The reference page, made from the table of keys: every key, its kind, default, the default's source and meaning.

use super::key::{Default, Key, Kind, Section};
use super::keys::root;
use super::value::read_default;
use std::fmt::Write;

const OPENING: &str = "# The scenario format

This page is generated from the table that reads scenarios; do not edit it.

A scenario is a TOML file. Quantities are texts with a unit: a time is `\"500ns\"`, `\"20us\"` or `\"1.5ms\"`, a rate
`\"10Gb/s\"`, a size `\"1500B\"`, `\"150KB\"` (1000 bytes each) or `\"32KiB\"` (1024 each); `b` is a bit and `B` a byte.
Nothing is rounded, and a number without a unit is refused. Names may have wildcards: `*` is anything, `?` one
character, `{0..7}` a number from 0 to 7; every number of a range must occur. A name or a title is one line of at most 200
characters; no text may hold control characters or others that a terminal obeys. Where a list of tables is expected, a single table counts as a list of one.

An unknown key is an error, and so is one that would have no effect. `tailback explain FILE` shows every value with the
line, override or default it came from. `--set path=value` overrides a key: `--set run.duration=5ms`,
`--set switches[0].buffers[0].xoff=50KB`, `--set workloads[victim].start=1ms`.

A key whose default is none can be removed: `\"none\"` in place of its value, in a file over its `base`, in a variant, a
choice, a sweep or after `--set`, makes it absent, as in `--set congestion_point=none`. Keys that take a text or a choice are
not removed so.
";

/// The page, in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from(OPENING);
    describe(&mut page, root(), "", "The top of the file", 2);
    describe(&mut page, super::keys::paper::paper(), "", "paper.toml", 2);
    page
}

fn describe(page: &mut String, section: &Section, path: &str, title: &str, depth: usize) {
    let _ = writeln!(page, "\n{} {title}\n\n{}\n", "#".repeat(depth.min(5)), section.about);
    let _ = writeln!(page, "| key | kind | default | meaning |\n|---|---|---|---|");
    for key in &section.keys {
        let meaning = format!("{}{}", key.meaning, condition(key));
        let _ = writeln!(page, "| `{}` | {} | {} | {} |", key.name, key.kind.word(), default(key), escape(&meaning));
    }
    for key in &section.keys {
        if let Kind::Choice(choices) | Kind::Choices(choices) | Kind::TimeOr(choices) | Kind::PercentOr(choices) =
            &key.kind
        {
            let or = match key.kind {
                Kind::TimeOr(_) => "a time, or ",
                Kind::PercentOr(_) => "a whole percentage, such as `\"40%\"`, or ",
                _ => "",
            };
            let _ = writeln!(page, "\n`{}` is {or}one of:\n", key.name);
            for (name, meaning) in choices {
                let _ = writeln!(page, "- `\"{name}\"`: {meaning}");
            }
        }
    }
    for key in &section.keys {
        let inner = join(path, key.name);
        match &key.kind {
            Kind::Table(section) => describe(page, section, &inner, &format!("[{inner}]"), depth + 1),
            Kind::Tables(section) => describe(page, section, &inner, &format!("[[{inner}]]"), depth + 1),
            _ => {}
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn condition(key: &Key) -> String {
    let mut text = String::new();
    for condition in &key.only {
        let values: Vec<String> = condition.values.iter().map(|value| format!("`{value}`")).collect();
        let _ = write!(text, " Only with `{}` = {}.", condition.key, values.join(", "));
    }
    text
}

fn default(key: &Key) -> String {
    escape(&match key.default {
        Default::Required => "required".into(),
        Default::Absent(meaning) => format!("none: {meaning}"),
        Default::Value(text, source) => {
            let value = read_default(&key.kind, text).map_or_else(|| text.to_owned(), |value| value.to_string());
            format!("`{value}`; {source}")
        }
        Default::Computed(rule, source) => format!("{rule}; {source}"),
        Default::Nested(source) => format!("defaults; {source}"),
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
    fn the_page_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenario.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, reference()).expect("docs/scenario.md can be written");
        }
        let page = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(page == reference(), "docs/scenario.md is out of date; run the tests once with UPDATE_DOCS=1");
    }
}
