//! The keys of the format for completion, and the values of a scenario as fields that a page can change.

use scenario::format::{Default, Key, Kind, Section, keys_of, root};
use scenario::{Entry, Source};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The whole format.
pub(crate) fn all() -> Value {
    section(root())
}

fn section(of: &Section) -> Value {
    json!({ "about": of.about, "keys": of.keys.iter().map(key).collect::<Vec<_>>() })
}

fn key(it: &Key) -> Value {
    let mut told = kind(&it.kind);
    told.insert("name".into(), json!(it.name));
    told.insert("meaning".into(), json!(it.meaning));
    let default = match it.default {
        Default::Required => json!({ "required": true }),
        Default::Absent(why) => json!({ "why": why }),
        Default::Value(value, why) => json!({ "value": value, "why": why }),
        Default::Computed(rule, why) => json!({ "why": format!("{rule} ({why})") }),
        Default::Nested(why) => json!({ "why": why }),
    };
    told.insert("default".into(), default);
    let only = it.only.iter().map(|condition| json!({ "key": condition.key, "values": condition.values }));
    told.insert("only".into(), only.collect());
    let (inner, list) = match &it.kind {
        Kind::Table(inner) => (Some(inner), false),
        Kind::Tables(inner) => (Some(inner), true),
        _ => (None, false),
    };
    if let Some(inner) = inner {
        told.insert("section".into(), section(inner));
        told.insert("list".into(), json!(list));
    }
    told.into()
}

/// A kind of values: its name, what it allows in words, its bounds and its choices.
fn kind(it: &Kind) -> Map<String, Value> {
    let choices =
        |names: &[(String, String)]| -> Value { names.iter().map(|(name, about)| json!([name, about])).collect() };
    let bounds = |least: f64, most: f64| json!([least, if most.is_finite() { json!(most) } else { Value::Null }]);
    let mut told = Map::new();
    let mut put = |name: &str, value: Value| told.insert(name.to_owned(), value);
    let name = match it {
        Kind::Time(_) | Kind::TimeOr(_) => "time",
        Kind::Rate(..) => "rate",
        Kind::Size(..) => "size",
        Kind::Count(..) => "count",
        Kind::Number(..) => "number",
        Kind::PercentOr(_) => "percent",
        Kind::Flag => "flag",
        Kind::Choice(_) => "choice",
        Kind::Choices(_) => "choices",
        _ => "text",
    };
    put("kind", json!(name));
    put("allows", json!(it.describe()));
    match it {
        Kind::Time(most) => {
            put("bounds", bounds(0.0, most.as_picos() as f64));
        }
        Kind::Rate(least, most) => {
            put("bounds", bounds(least.as_bits_per_sec() as f64, most.as_bits_per_sec() as f64));
        }
        Kind::Size(least, most) => {
            put("bounds", bounds(least.get() as f64, most.get() as f64));
        }
        Kind::Count(least, most) => {
            put("bounds", bounds(*least as f64, *most as f64));
        }
        Kind::Number(least, most) => {
            put("bounds", bounds(*least, *most));
        }
        Kind::TimeOr(names) | Kind::PercentOr(names) | Kind::Choice(names) | Kind::Choices(names) => {
            put("choices", choices(names));
        }
        _ => {}
    }
    told
}

/// The values of a plan: the key that sets each, and what else it could be.
pub(crate) fn fields(entries: &[Entry], own: &str) -> Vec<Value> {
    let values: BTreeMap<&str, &str> =
        entries.iter().map(|entry| (entry.path.as_str(), entry.value.trim_matches('"'))).collect();
    entries.iter().map(|entry| field(entry, own, &values)).collect()
}

/// Whether the conditions of a key hold at a path. The keys that they name are in its table or in an enclosing one.
fn applies(key: &Key, path: &str, values: &BTreeMap<&str, &str>) -> bool {
    key.only.iter().all(|condition| {
        let mut table = path;
        while let Some((outer, _)) = table.rsplit_once('.') {
            table = outer;
            if let Some(value) = values.get(format!("{table}.{}", condition.key).as_str()) {
                return condition.values.iter().any(|one| one == value);
            }
        }
        true
    })
}

fn field(entry: &Entry, own: &str, values: &BTreeMap<&str, &str>) -> Value {
    let readings = keys_of(&entry.path);
    let key = readings.iter().find(|key| applies(key, &entry.path, values)).or(readings.first());
    let mut told = key.map(|key| kind(&key.kind)).unwrap_or_default();
    told.insert("path".into(), json!(entry.path));
    told.insert("value".into(), json!(entry.value));
    told.insert("meaning".into(), json!(key.map(|key| key.meaning)));
    let (from, line, why) = match &entry.source {
        Source::File { file, line } => ("file", (file == own).then_some(*line), None),
        Source::Override(_) => ("set", None, None),
        Source::Default(why) => ("default", None, Some(*why)),
    };
    told.insert("from".into(), json!(from));
    told.insert("line".into(), json!(line));
    told.insert("why".into(), json!(why));
    told.into()
}
