//! Variants: named sets of changes, applied to a scenario before it is interpreted.

use super::figure::VARIANT;
use super::key::{Kind, NONE, near};
use super::overrides::{Path, kind_at, set, takes_none};
use super::problem::Problem;
use super::source::{Place, SourceKind, Sources};
use super::tree::{Data, Item, Table};

/// Returns the name of the variant that an override selects, if it does: `variant=naive`.
pub(crate) fn chosen(text: &str) -> Option<&str> {
    let (path, name) = text.split_once('=')?;
    (path.trim() == VARIANT).then(|| name.trim().trim_matches('"'))
}

/// Returns the assignments in a set of changes: paths, their positions, and values. If a path is one word that names a
/// section, the keys of its table are set individually, because TOML creates such a table for `run.duration = "1ms"`.
pub(crate) fn assignments(changes: &Table) -> Vec<(String, Place, &Item)> {
    let mut all = Vec::new();
    for (path, entry) in &changes.entries {
        match &entry.item.data {
            Data::Table(inner) if is_section(path) => {
                let each = inner.entries.iter();
                all.extend(each.map(|(name, entry)| (format!("{path}.{name}"), entry.key, &entry.item)));
            }
            _ => all.push((path.clone(), entry.key, &entry.item)),
        }
    }
    all
}

/// Returns the sections, with positions, that a set of changes names without setting a key in them.
pub(crate) fn empty_changes(changes: &Table) -> impl Iterator<Item = (&str, Place)> {
    let empty = |item: &Item| matches!(&item.data, Data::Table(inner) if inner.entries.is_empty());
    let sections = changes.entries.iter().filter(move |(path, entry)| empty(&entry.item) && is_section(path));
    sections.map(|(path, entry)| (path.as_str(), entry.key))
}

/// Returns the paths and positions of empty tables in a file whose base has a table at the same path: merging them
/// changes nothing.
pub(crate) fn empty_over(mine: &Table, base: &Table) -> Vec<(String, Place)> {
    let mut all = Vec::new();
    for (name, entry) in &mine.entries {
        let below = base.get(name).map(|entry| &entry.item.data);
        let (Data::Table(inner), Some(Data::Table(below))) = (&entry.item.data, below) else { continue };
        if inner.entries.is_empty() {
            all.push((name.clone(), entry.key));
        }
        all.extend(empty_over(inner, below).into_iter().map(|(path, key)| (format!("{name}.{path}"), key)));
    }
    all
}

/// Returns message and help for an empty table that changes nothing.
pub(crate) fn changes_nothing(path: &str) -> (String, String) {
    let help = match Path::parse(path).is_ok_and(|path| takes_none(&path)) {
        true => format!("write {path} = \"{NONE}\" to remove the table, or the keys to change"),
        false => "write the keys to change".into(),
    };
    (format!("`{path} = {{}}` changes nothing"), help)
}

/// Returns whether a path is one word that names a section.
fn is_section(path: &str) -> bool {
    let section = |path: &Path| kind_at(path).is_ok_and(|kinds| matches!(kinds[..], [Kind::Table(_)]));
    !path.contains(['.', '[']) && Path::parse(path).is_ok_and(|path| section(&path))
}

fn text<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    match &table.get(key)?.item.data {
        Data::Text(text) => Some(text),
        _ => None,
    }
}

/// Applies the variant that an override selects to a scenario. Invalid paths are reported when the scenario is read,
/// for all variants.
pub(crate) fn apply(sources: &mut Sources, problems: &mut Vec<Problem>, tree: &mut Table, name: &str) {
    let variants: Vec<Table> = match tree.get("variants").map(|entry| &entry.item.data) {
        Some(Data::Table(table)) => vec![table.clone()],
        Some(Data::List(items)) => items
            .iter()
            .filter_map(|item| match &item.data {
                Data::Table(table) => Some(table.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let Some(variant) = variants.iter().find(|variant| text(variant, "name") == Some(name)) else {
        let source = sources.add("--variant".into(), SourceKind::Override, name.to_owned());
        let names: Vec<&str> = variants.iter().filter_map(|variant| text(variant, "name")).collect();
        let help = match near(name, names.iter().copied()) {
            Some(like) => format!("did you mean `{like}`?"),
            None if names.is_empty() => "the scenario has no [[variants]]".into(),
            None => format!("the variants are {}", names.join(", ")),
        };
        let place = Place { source, start: 0, end: name.len() as u32 };
        problems.push(Problem::new(place, format!("there is no variant `{name}`"), help));
        return;
    };
    let Some(Data::Table(changes)) = variant.get("set").map(|entry| &entry.item.data) else { return };
    for (path, key, item) in assignments(changes) {
        let Ok(path) = Path::parse(&path) else { continue };
        if kind_at(&path).is_err() {
            continue;
        }
        if let Err((message, help)) = set(tree, path.steps(), key, item.clone()) {
            problems.push(Problem::new(key, message, help));
        }
    }
}
