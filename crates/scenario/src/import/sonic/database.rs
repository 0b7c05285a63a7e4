//! A configuration database as SONiC saves it: JSON with a table per kind of object, a row per object and a field per
//! setting. Numbers may be strings. A dump of the database, as `sonic-db-dump -n CONFIG_DB` prints it, has no tables, but
//! rows named `TABLE|KEY`. What is read is remembered, so that the rest can be reported.

use super::super::{NamedText, Work};
use crate::problem::Problem;
use crate::source::Place;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// A database and what was read of it.
pub(super) struct Database<'a> {
    source: u32,
    text: &'a str,
    tables: Map<String, Value>,
    /// Whether the file names rows `TABLE|KEY`.
    is_dump: bool,
    /// Tables that were read.
    tables_read: RefCell<BTreeSet<String>>,
    /// By table and field: the first row with a field that is not understood, and the number of such rows.
    strange: RefCell<BTreeMap<(String, String), (String, usize)>>,
}

/// A row of a table.
#[derive(Clone, Copy)]
pub(super) struct Row<'d> {
    database: &'d Database<'d>,
    table: &'d str,
    pub(super) key: &'d str,
    fields: &'d Map<String, Value>,
}

impl<'a> Database<'a> {
    /// Reads a file; `None` if it is not JSON or not an object, which is reported.
    pub(super) fn read(work: &mut Work, file: NamedText<'a>) -> Option<Database<'a>> {
        let source = work.add(file);
        let parsed = serde_json::from_str::<Value>(file.text);
        if parsed.is_ok()
            && let Some((key, [first, second])) = repeated_key(file.text)
        {
            let place = |at: usize| Place { source, start: at as u32, end: (at + key.len() + 2) as u32 };
            let message = format!("the key \"{}\" is there twice in one object", short(&key));
            let problem = Problem::new(place(second), message, "keep one of the two; SONiC keeps only the last");
            work.problems.push(problem.and(place(first), "the first"));
            return None;
        }
        let tables = match parsed {
            Ok(Value::Object(tables)) => tables,
            Ok(_) => {
                let place = Place { source, start: 0, end: 0 };
                work.refuse(place, "this is not an object of tables", "give a config_db.json as SONiC saves it");
                return None;
            }
            Err(error) => {
                let start = offset(file.text, error.line(), error.column());
                let reason = error.to_string();
                let reason = reason.split(" at line ").next().unwrap_or_default();
                let help = "the file may be incomplete; save the configuration again";
                work.refuse(Place { source, start, end: start }, format!("this is not JSON: {reason}"), help);
                return None;
            }
        };
        let (tables, is_dump) = in_tables(tables);
        let (tables_read, strange) = (RefCell::default(), RefCell::default());
        Some(Database { source, text: file.text, tables, is_dump, tables_read, strange })
    }

    /// The rows of a table, by their keys in the order of the numbers in them. A row that is no object is reported.
    pub(super) fn rows<'d>(&'d self, work: &mut Work, table: &'d str) -> Vec<Row<'d>> {
        self.tables_read.borrow_mut().insert(table.to_owned());
        let Some(value) = self.tables.get(table) else { return Vec::new() };
        let Some(rows) = value.as_object() else {
            work.refuse(self.place(table, "", ""), format!("{table} is not a table"), "save the configuration again");
            return Vec::new();
        };
        let mut found = Vec::new();
        for (key, fields) in rows {
            match fields.as_object() {
                Some(fields) => found.push(Row { database: self, table, key, fields }),
                None => {
                    let message = format!("{table}|{key} is not a row of fields");
                    work.refuse(self.place(table, key, ""), message, "save the configuration again");
                }
            }
        }
        found.sort_by_key(|row| natural(row.key));
        found
    }

    /// One row of a table.
    pub(super) fn row<'d>(&'d self, work: &mut Work, table: &'d str, key: &str) -> Option<Row<'d>> {
        self.rows(work, table).into_iter().find(|row| row.key == key)
    }

    /// What is under a name at the top, of whatever form.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        let value = self.tables.get(name)?;
        self.tables_read.borrow_mut().insert(name.to_owned());
        Some(value)
    }

    /// Other entries at the top: keys of a dump such as `LLDP_ENTRY_TABLE:Ethernet0`, with their fields.
    pub(super) fn dumped<'d>(&'d self, prefix: &str) -> Vec<(&'d str, &'d Map<String, Value>)> {
        let mut found = Vec::new();
        for (name, value) in &self.tables {
            let Some(key) = name.strip_prefix(prefix).filter(|key| !key.is_empty()) else { continue };
            let fields = value.get("value").unwrap_or(value);
            if let Some(fields) = fields.as_object() {
                self.tables_read.borrow_mut().insert(name.clone());
                found.push((key, fields));
            }
        }
        found
    }

    /// A part of the text, found by its names.
    pub(super) fn place(&self, table: &str, key: &str, field: &str) -> Place {
        let mut start = 0;
        let mut end = 0;
        let row = format!("{table}|{key}");
        let names = if self.is_dump { ["", &row, field] } else { [table, key, field] };
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            let quoted = serde_json::to_string(name).unwrap_or_default();
            let Some(at) = self.text[end..].find(&quoted) else { break };
            start = end + at;
            end = start + quoted.len();
        }
        Place { source: self.source, start: start as u32, end: end as u32 }
    }

    /// Reports what was not read: tables once, fields with a table and a key.
    pub(super) fn report_rest(&self, ignored: &mut BTreeSet<String>, notes: &mut Vec<(String, String)>) {
        for ((table, field), (key, rows)) in &*self.strange.borrow() {
            let others = match rows {
                1 => String::new(),
                rows => format!(" and {} more", rows - 1),
            };
            notes.push((format!("{table}|{key}{others}"), format!("field `{field}` is not understood")));
        }
        let read = self.tables_read.borrow();
        ignored.extend(self.tables.keys().filter(|table| !read.contains(*table)).cloned());
    }
}

impl<'d> Row<'d> {
    /// Its table and key, as SONiC names a row.
    pub(super) fn name(&self) -> String {
        format!("{}|{}", self.table, self.key)
    }

    pub(super) fn place(&self, field: &str) -> Place {
        self.database.place(self.table, self.key, field)
    }

    /// Remembers all fields but these, to report them.
    pub(super) fn only(&self, known: &[&str]) {
        for field in self.fields.keys().filter(|field| !known.contains(&field.as_str())) {
            let mut strange = self.database.strange.borrow_mut();
            let entry = strange.entry((self.table.to_owned(), field.clone()));
            entry.or_insert_with(|| (self.key.to_owned(), 0)).1 += 1;
        }
    }

    /// All fields with their texts.
    pub(super) fn texts(&self) -> Vec<(&'d str, String)> {
        let mut all: Vec<(&str, String)> =
            self.fields.iter().filter_map(|(name, value)| Some((name.as_str(), text_of(value)?))).collect();
        all.sort_by_key(|(name, _)| natural(name));
        all
    }

    /// The text of a field; numbers are texts as well, and so is a list.
    pub(super) fn text(&self, field: &str) -> Option<String> {
        text_of(self.fields.get(field)?)
    }

    /// A whole number, which may be negative. What is none is refused.
    pub(super) fn number(&self, work: &mut Work, field: &str) -> Option<i64> {
        let text = self.text(field)?;
        let number = text.trim().parse().ok();
        if number.is_none() {
            let message = format!("{} has `{field}` = \"{}\", which is not a whole number", self.name(), short(&text));
            work.refuse(self.place(field), message, "correct it in the configuration");
        }
        number
    }

    /// A number of bytes that a buffer can have.
    pub(super) fn bytes(&self, work: &mut Work, field: &str) -> Option<u64> {
        let number = self.number(work, field)?;
        let bytes = u64::try_from(number).ok().filter(|bytes| *bytes <= crate::keys::buffers::LARGEST_BUFFER);
        if bytes.is_none() {
            let message = format!("{} has `{field}` = {number}, which is not a valid buffer size", self.name());
            work.refuse(self.place(field), message, "give 0 to 2 GB");
        }
        bytes
    }

    /// A reference to a row of another table: `[TABLE|NAME]`, as older releases write it, or the name alone.
    pub(super) fn reference(&self, field: &str) -> Option<String> {
        let text = self.text(field)?;
        let text = text.trim();
        let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        let name = inner.rsplit('|').next().unwrap_or(inner).trim();
        (!name.is_empty() && name != "NULL").then(|| name.to_owned())
    }

    /// The ports and numbers of a key such as `Ethernet0,Ethernet4|3-4`. In a chassis, `line-card|asic|Ethernet0|3-4` names the
    /// switch too, and rows of others have no ports here. A key of another form is refused.
    pub(super) fn ports_and_numbers(&self, work: &mut Work) -> Option<(Vec<&'d str>, Vec<u8>)> {
        let mut parts = self.key.split('|');
        if self.key.matches('|').count() == 3 {
            let (own, _asic) = (parts.next().unwrap_or_default(), parts.next());
            let local = self.database.row(work, "DEVICE_METADATA", "localhost");
            if local.and_then(|row| row.text("hostname")).is_some_and(|name| !name.eq_ignore_ascii_case(own)) {
                return Some((Vec::new(), Vec::new()));
            }
        }
        let (ports, numbers) = (parts.next().unwrap_or_default(), parts.next().and_then(range));
        match numbers.filter(|_| parts.next().is_none()) {
            Some(mut numbers) => {
                let above: Vec<String> = numbers.iter().filter(|it| **it > 7).map(u8::to_string).collect();
                if !above.is_empty() {
                    let meaning = format!("numbers above 7 have no counterpart and are left out: {}", above.join(", "));
                    work.note(&self.name(), meaning);
                }
                numbers.retain(|number| *number < 8);
                Some((ports.split(',').map(str::trim).collect(), numbers))
            }
            None => {
                let message = format!("{} does not name ports and numbers", self.name());
                work.refuse(self.place(""), message, "write a key such as \"Ethernet0|3-4\"");
                None
            }
        }
    }
}

/// Rows named `TABLE|KEY` in their tables, and whether there were any. Their fields may be in `value`, beside the type of
/// the row; a row without fields has one named `NULL`.
fn in_tables(mut tables: Map<String, Value>) -> (Map<String, Value>, bool) {
    let rows: Vec<String> = tables.keys().filter(|name| name.contains('|')).cloned().collect();
    for name in &rows {
        let (Some(row), Some((table, key))) = (tables.remove(name), name.split_once('|')) else { continue };
        let mut fields = match row {
            Value::Object(mut row) if row.contains_key("type") && row.get("value").is_some_and(Value::is_object) => {
                row.remove("value").unwrap_or_default()
            }
            other => other,
        };
        if let Some(fields) = fields.as_object_mut() {
            fields.remove("NULL");
        }
        if let Some(known) = tables.entry(table).or_insert_with(|| Map::new().into()).as_object_mut() {
            known.insert(key.to_owned(), fields);
        }
    }
    (tables, !rows.is_empty())
}

/// The value of a key that stands at an offset of a valid JSON text.
fn value_at(text: &str, key: usize, length: usize) -> Option<Value> {
    let rest = text.get(key + length + 2..)?.trim_start().strip_prefix(':')?;
    serde_json::Deserializer::from_str(rest).into_iter().next()?.ok()
}

/// The first key that an object of a valid JSON text has twice with different values, and where both stand.
fn repeated_key(text: &str) -> Option<(String, [usize; 2])> {
    let bytes = text.as_bytes();
    // For each open object its keys, for each open list nothing.
    let mut open: Vec<Option<BTreeMap<&str, usize>>> = Vec::new();
    let (mut at, mut is_key) = (0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'{' => {
                open.push(Some(BTreeMap::new()));
                is_key = true;
            }
            b'[' => open.push(None),
            b'}' | b']' => drop(open.pop()),
            b',' => is_key = matches!(open.last(), Some(Some(_))),
            b'"' => {
                let start = at + 1;
                at = start;
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if let (true, Some(Some(keys))) = (is_key, open.last_mut()) {
                    let key = text.get(start..at).unwrap_or_default();
                    if let Some(first) = keys.insert(key, start - 1) {
                        let [one, other] = [first, start - 1].map(|at| value_at(text, at, key.len()));
                        if one != other || one.is_none() {
                            return Some((key.to_owned(), [first, start - 1]));
                        }
                    }
                }
                is_key = false;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Numbers in a range or a list: `3`, `3-4`, `0,2`.
fn range(text: &str) -> Option<Vec<u8>> {
    let digit = |text: &str| text.trim().parse::<u8>().ok().filter(|number| *number < 64);
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (digit(first)?, digit(last)?),
            None => (digit(part)?, digit(part)?),
        };
        if first > last {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Array(items) => Some(items.iter().filter_map(text_of).collect::<Vec<_>>().join(",")),
        Value::Null | Value::Object(_) => None,
    }
}

/// A text in a message.
pub(super) fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

/// A key by which names are in the order of their numbers: Ethernet4 before Ethernet12.
pub(super) fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(letters);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(digits);
        parts.push((word.to_owned(), number.parse().unwrap_or(u64::MAX)));
        rest = after;
    }
    parts
}

/// The offset of a line and column, both from one.
fn offset(text: &str, line: usize, column: usize) -> u32 {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (start + column.saturating_sub(1)).min(text.len()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_lists_of_ports_and_ranges_of_numbers() {
        assert_eq!(range("3"), Some(vec![3]));
        assert_eq!(range("3-4"), Some(vec![3, 4]));
        assert_eq!(range("0,2, 5-6"), Some(vec![0, 2, 5, 6]));
        assert_eq!(range("8-9"), Some(vec![8, 9]));
        assert_eq!([range("64"), range("4-3"), range(""), range("a"), range("-1")], [const { None }; 5]);
    }

    #[test]
    fn repeated_keys_are_found_where_they_are() {
        assert_eq!(repeated_key(r#"{"a": {"b": [{"a": "a,\"a\""}, {"a": 1}]}, "c": "a", "b": "b"}"#), None);
        assert_eq!(repeated_key(r#"{"a": 1, "b": {"c": [1, "c"], "c": 2}}"#), Some(("c".into(), [15, 30])));
        // The same twice contradicts nothing.
        assert_eq!(repeated_key(r#"{"a": {"b": {}, "b": {}}, "c": 1, "c" : 1}"#), None);
        assert_eq!(repeated_key(r#"{"a": {"b": 1}, "a": {"b": 1}, "a": {"b": 2}}"#), Some(("a".into(), [16, 31])));
    }

    #[test]
    fn a_dump_of_the_database_has_the_rows_of_a_saved_one() {
        let mut work = Work::default();
        let text = r#"{
            "PORT|Ethernet0": {"speed": "x"},
            "BUFFER_PG|Ethernet0|3-4": {"ttl": -1, "type": "hash", "value": {"profile": "NULL", "NULL": "NULL"}}
        }"#;
        let database = Database::read(&mut work, NamedText { name: "a.json", text }).expect("a database");
        let row = database.row(&mut work, "PORT", "Ethernet0").expect("a row");
        assert_eq!(row.number(&mut work, "speed"), None);
        let place = work.problems[0].place;
        assert_eq!(&text[place.start as usize..place.end as usize], "\"speed\"");
        let row = database.row(&mut work, "BUFFER_PG", "Ethernet0|3-4").expect("a row");
        assert_eq!(row.texts(), [("profile", "NULL".to_owned())]);
    }

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        let mut names = ["Ethernet12", "Ethernet4", "Ethernet0", "etp2b", "etp2a", "99999999999999999999999"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["99999999999999999999999", "Ethernet0", "Ethernet4", "Ethernet12", "etp2a", "etp2b"]);
    }

    #[test]
    fn places_are_those_of_table_key_and_field() {
        let mut work = Work::default();
        let text = r#"{"PORT": {"Ethernet0": {"speed": "x"}}}"#;
        let database = Database::read(&mut work, NamedText { name: "a.json", text }).expect("a database");
        let row = database.row(&mut work, "PORT", "Ethernet0").expect("a row");
        assert_eq!(row.number(&mut work, "speed"), None);
        let place = work.problems[0].place;
        assert_eq!(&text[place.start as usize..place.end as usize], "\"speed\"");
        assert!(work.problems[0].message.contains("PORT|Ethernet0 has `speed` = \"x\""));
    }

    #[test]
    fn a_truncated_file_is_refused_at_its_end() {
        let mut work = Work::default();
        let text = "{\"PORT\": {\n  \"Ethernet0\": {";
        assert!(Database::read(&mut work, NamedText { name: "a.json", text }).is_none());
        assert_eq!(work.problems[0].place.start as usize, text.len() - 1);
        assert!(work.problems[0].message.starts_with("this is not JSON: EOF"), "{}", work.problems[0].message);
    }
}
