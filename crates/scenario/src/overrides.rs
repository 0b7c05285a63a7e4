//! Overrides, such as `run.duration=5ms`, and their paths, which sweeps use as well.

use super::key::{Key, Kind, meant};
use super::keys::root;
use super::problem::Problem;
use super::resolve::is_none;
use super::source::{Place, SourceKind, Sources};
use super::tree::{Data, Entry, Item, Table, parse_value};
use super::variants::assignments;

/// A path of keys and indices: `switches[0].buffers[0].xoff`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    /// An index in a list, from 0.
    At(usize),
    /// The table in a list with this `name`.
    Named(String),
    /// Every entry of a list: `[*]`.
    Every,
    /// A new entry at the end of a list, or several: `[+]`.
    More,
}

impl Path {
    /// Parses a path.
    ///
    /// # Errors
    /// Returns a description of the problem.
    pub(crate) fn parse(text: &str) -> Result<Path, String> {
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
            let name = name.trim();
            if name.is_empty() {
                return Err(format!("`{text}` is not a path of keys"));
            }
            steps.push(Step::Key(name.to_owned()));
            while let Some(inner) = rest.strip_prefix('[') {
                let (inside, after) =
                    inner.split_once(']').ok_or_else(|| format!("`{text}` has a [ without a matching ]"))?;
                steps.push(match inside.trim().parse() {
                    Ok(number) => Step::At(number),
                    Err(_) if inside.trim() == "*" => Step::Every,
                    Err(_) if inside.trim() == "+" => Step::More,
                    Err(_) => Step::Named(inside.trim().to_owned()),
                });
                rest = after;
            }
            if !rest.is_empty() {
                return Err(format!("`{text}` has text after a ]"));
            }
        }
        Ok(Path(steps))
    }

    /// Returns the steps of the path.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }
}

/// Returns the possible kinds of the key at the end of a path.
///
/// # Errors
/// Returns the problem and the remedy.
pub(crate) fn kind_at(path: &Path) -> Result<Vec<&'static Kind>, (String, String)> {
    keys_at(path).map(|(_, kinds)| kinds)
}

/// Returns whether the key at the end of a path may be `"none"`. A path leads to a table of a list, or to a key.
pub(crate) fn takes_none(path: &Path) -> bool {
    let key = matches!(path.0.last(), Some(Step::Key(_)));
    key && keys_at(path).is_ok_and(|(keys, _)| keys.iter().any(|key| key.takes_none()))
}

/// Returns the choices that may stand for the table at the end of a path.
pub(crate) fn names_at(path: &Path) -> Option<&'static [(String, String)]> {
    keys_at(path).ok().and_then(|(keys, _)| keys.into_iter().find_map(|key| key.names()))
}

/// Returns the keys that a path of an override may mean: several where a key has readings under different conditions, and
/// none if it leads nowhere.
#[must_use]
pub fn keys_of(path: &str) -> Vec<&'static Key> {
    Path::parse(path).ok().and_then(|path| keys_at(&path).ok()).map(|(keys, _)| keys).unwrap_or_default()
}

type Found = (Vec<&'static Key>, Vec<&'static Kind>);

fn keys_at(path: &Path) -> Result<Found, (String, String)> {
    let mut section = root();
    let mut found: Vec<&'static Key> = Vec::new();
    let mut kinds: Vec<&'static Kind> = Vec::new();
    for step in &path.0 {
        let Step::Key(name) = step else {
            if !matches!(kinds.first(), Some(Kind::Tables(_))) {
                return Err(("a position in a value that is not a list of tables".into(), "remove the []".into()));
            }
            continue;
        };
        if !kinds.is_empty() {
            section = match kinds.iter().find_map(|kind| match kind {
                Kind::Table(inner) | Kind::Tables(inner) => Some(inner),
                _ => None,
            }) {
                Some(inner) => inner,
                None => {
                    return Err((
                        format!("`{name}` follows a key that holds a value, not a section"),
                        "end the path before it".into(),
                    ));
                }
            };
        }
        found = section.keys.iter().filter(|key| key.name == name).collect();
        kinds = found.iter().map(|key| &key.kind).collect();
        if kinds.is_empty() {
            let help = meant(section, name).unwrap_or_else(|| "`tailback reference` lists every key".into());
            return Err((format!("unknown key `{name}`"), help));
        }
    }
    Ok((found, kinds))
}

/// The key of a file's changes to its base.
pub(crate) const CHANGES: &str = "set";

/// Applies the changes of a file to itself and its base.
pub(crate) fn apply_changes(problems: &mut Vec<Problem>, table: &mut Table, changes: &Item) {
    let Data::Table(all) = &changes.data else {
        let message = format!("expected a table, found {}", changes.data.describe());
        problems.push(Problem::new(changes.place, message, "write { \"path\" = value }"));
        return;
    };
    for (path, key, item) in assignments(all) {
        let parsed = Path::parse(&path)
            .map_err(|reason| (reason, "write \"run.duration\" = \"5ms\"".to_owned()))
            .and_then(|path| kind_at(&path).map(|_| path))
            .and_then(|path| set(table, path.steps(), key, item.clone()));
        if let Err((message, help)) = parsed {
            problems.push(Problem::new(key, message, help));
        }
    }
}

/// Adds an override to the texts and applies it to a scenario.
pub(crate) fn apply(sources: &mut Sources, problems: &mut Vec<Problem>, table: &mut Table, text: &str) {
    let source = sources.add("--set".into(), SourceKind::Override, text.to_owned());
    let place = |start: usize, end: usize| Place { source, start: start as u32, end: end as u32 };
    let Some((path_text, value_text)) = text.split_once('=') else {
        problems.push(Problem::new(
            place(0, text.len()),
            "an override without a value",
            "write PATH=VALUE, such as run.duration=5ms",
        ));
        return;
    };
    let key = place(0, path_text.len());
    let parsed = Path::parse(path_text.trim())
        .map_err(|reason| (reason, "write path=value, such as run.duration=5ms".to_owned()))
        .and_then(|path| kind_at(&path).map(|_| path));
    let path = match parsed {
        // Files are merged before overrides apply.
        Ok(Path(steps)) if matches!(&steps[0], Step::Key(name) if name == CHANGES) => {
            let message = format!("`{CHANGES}` has no effect in an override");
            problems.push(Problem::new(key, message, "override the paths themselves"));
            return;
        }
        Ok(path) => path,
        Err((message, help)) => {
            problems.push(Problem::new(key, message, help));
            return;
        }
    };
    let offset = path_text.len() + 1;
    let bare = || Item { data: Data::Text(value_text.trim().to_owned()), place: place(offset, text.len()) };
    let item = parse_value(source, value_text, offset).unwrap_or_else(bare);
    if let Err((message, help)) = set(table, &path.0, key, item) {
        problems.push(Problem::new(key, message, help));
    }
}

/// Sets the value at a path, creating tables on the way.
pub(crate) fn set(table: &mut Table, steps: &[Step], key: Place, item: Item) -> Result<(), (String, String)> {
    let [Step::Key(name), rest @ ..] = steps else {
        return Err(("a path begins with a key".into(), "write run.duration=5ms".into()));
    };
    if rest.is_empty() {
        table.entries.insert(name.clone(), Entry { key, item });
        return Ok(());
    }
    let fresh = || {
        let data = if rest == [Step::More] { Data::List(Vec::new()) } else { Data::Table(Table::default()) };
        Entry { key, item: Item { data, place: key } }
    };
    let entry = table.entries.entry(name.clone()).or_insert_with(fresh);
    // A key inside a table that was removed brings the table back.
    if is_none(&entry.item) {
        *entry = fresh();
    }
    inside(&mut entry.item, name, rest, key, item)
}

fn inside(at: &mut Item, name: &str, steps: &[Step], key: Place, item: Item) -> Result<(), (String, String)> {
    match (&mut at.data, steps) {
        (Data::Table(table), [Step::Key(_), ..]) => set(table, steps, key, item),
        // A single table counts as a list of one.
        (Data::Table(_), [Step::At(0) | Step::Every, rest @ ..]) if !rest.is_empty() => {
            inside(at, name, rest, key, item)
        }
        (Data::Table(table), [Step::Named(wanted), rest @ ..]) if is_named(table, wanted) && !rest.is_empty() => {
            inside(at, name, rest, key, item)
        }
        (Data::List(items), [Step::Key(_), ..]) => match items.as_mut_slice() {
            [only] => inside(only, name, steps, key, item),
            items => {
                let help = format!("give a position: {name}[0] is the first");
                Err((format!("`{name}` is a list of {} entries", items.len()), help))
            }
        },
        (Data::List(items), [Step::At(number), rest @ ..]) => {
            let count = items.len();
            match items.get_mut(*number) {
                Some(found) if rest.is_empty() => *found = item,
                Some(found) => return inside(found, name, rest, key, item),
                None => {
                    let entries = if count == 1 { "entry" } else { "entries" };
                    let help = format!("it has {count} {entries}, numbered from 0");
                    return Err((format!("`{name}` has no entry number {number}"), help));
                }
            }
            Ok(())
        }
        // A single table becomes a list.
        (Data::Table(_), [Step::More]) => {
            let first = at.clone();
            at.data = Data::List(vec![first]);
            inside(at, name, steps, key, item)
        }
        (Data::List(items), [Step::More]) => {
            match item.data {
                Data::List(more) => items.extend(more),
                _ => items.push(item),
            }
            Ok(())
        }
        (Data::List(items), [Step::Every, rest @ ..]) if !rest.is_empty() => {
            if items.is_empty() {
                return Err((format!("`{name}` has no entries"), "add an entry, or leave the path out".into()));
            }
            items.iter_mut().try_for_each(|found| inside(found, name, rest, key, item.clone()))
        }
        (Data::List(items), [Step::Named(wanted), rest @ ..]) if !rest.is_empty() => {
            let named = |item: &&mut Item| matches!(&item.data, Data::Table(table) if is_named(table, wanted));
            match items.iter_mut().find(named) {
                Some(found) => inside(found, name, rest, key, item),
                None => {
                    Err((format!("`{name}` has no entry named `{wanted}`"), "give its position instead: [0]".into()))
                }
            }
        }
        (data, _) => {
            Err((format!("`{name}` is {}", data.describe()), "correct the path: it does not lead to a table".into()))
        }
    }
}

fn is_named(table: &Table, wanted: &str) -> bool {
    matches!(table.get("name").map(|entry| &entry.item.data), Some(Data::Text(name)) if name == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let path = Path::parse("switches[0].buffers[big].xoff").unwrap();
        let key = |name: &str| Step::Key(name.into());
        let steps = [key("switches"), Step::At(0), key("buffers"), Step::Named("big".into()), key("xoff")];
        assert_eq!(path.0, steps);
        assert!(kind_at(&path).is_ok());
        let every = Path::parse("switches[*].buffers[ * ].xoff").unwrap();
        assert_eq!(every.0, [key("switches"), Step::Every, key("buffers"), Step::Every, key("xoff")]);
        for wrong in ["", ".", "a..b", "a[0", "a[0]b", "[0]"] {
            assert!(Path::parse(wrong).is_err(), "{wrong}");
        }
        let wrong = |text: &str| kind_at(&Path::parse(text).unwrap()).unwrap_err().1;
        assert_eq!(wrong("run.durration"), "did you mean `duration`?");
        assert_eq!(wrong("run.checkpoint"), "it was renamed to `inspect_every`");
        assert_eq!(wrong("run.duration.x"), "end the path before it");
        assert_eq!(wrong("run[0].seed"), "remove the []");
    }
}
