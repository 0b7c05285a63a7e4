//! The JSON Schema of scenarios, generated from the table of keys, for completion and checks in editors.

use super::key::{Default, Key, Kind, NONE, Section};
use super::keys::root;
use super::value::read_default;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const TIME: &str = r"^\s*[0-9][0-9_]*(\.[0-9_]+)?\s*(ps|ns|us|µs|μs|ms|s|min|h)\s*$";
const RATE: &str = r"^\s*[0-9][0-9_]*(\.[0-9_]+)?\s*([kKMGT]|[kKMGT]i)?(b|bit|B)(/s|ps)\s*$";
const PERCENT: &str = r"^\s*([1-9][0-9]?|100)\s*%\s*$";
const SIZE: &str = r"^\s*[0-9][0-9_]*(\.[0-9_]+)?\s*([kKMGT]|[kKMGT]i)?B\s*$";

/// Returns the schema, draft 2020-12.
#[must_use]
pub fn schema() -> Value {
    let mut definitions = Map::new();
    let mut schema = section(root(), "", &mut definitions);
    if let Some(object) = schema.as_object_mut() {
        object.insert("$defs".into(), Value::Object(definitions));
        object.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".into(), json!("Tailback scenario"));
    }
    schema
}

/// Returns the object of a section; sections that are used alone or in lists are defined once, under their paths.
fn section(section: &Section, path: &str, definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut done = BTreeSet::new();
    for key in &section.keys {
        if !done.insert(key.name) {
            continue;
        }
        let readings: Vec<&Key> = section.keys.iter().filter(|other| other.name == key.name).collect();
        let inner = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
        properties.insert(key.name.into(), property(&readings, &inner, definitions));
        // A base file may supply what is required, so only what has no condition and no base can be demanded.
        if key.name == "schema_version" {
            required.push(json!(key.name));
        }
    }
    let mut object = json!({
        "type": "object",
        "description": section.about,
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        object["required"] = Value::Array(required);
    }
    object
}

fn property(readings: &[&Key], path: &str, definitions: &mut Map<String, Value>) -> Value {
    let mut shapes: Vec<Value> = Vec::new();
    for key in readings {
        let shape = shape(&key.kind, path, definitions);
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    if let Some(names) = readings.iter().find_map(|key| key.names()) {
        shapes.push(json!({ "enum": names.iter().map(|(name, _)| json!(name)).collect::<Vec<_>>() }));
    }
    if readings.iter().any(|key| key.takes_none()) {
        shapes.push(json!({ "const": NONE }));
    }
    let mut property = match shapes.len() {
        1 => shapes.remove(0),
        _ => json!({ "anyOf": shapes }),
    };
    let Some(key) = readings.first() else { return property };
    let mut words = key.meaning.to_owned();
    for reading in readings {
        for condition in &reading.only {
            let note = format!(" Only with {} = {}.", condition.key, condition.values.join(" or "));
            if !words.contains(&note) {
                words.push_str(&note);
            }
        }
    }
    if let Some(object) = property.as_object_mut() {
        object.insert("description".into(), json!(words));
        if let (1, Default::Value(text, _)) = (readings.len(), key.default)
            && let Some(value) = read_default(&key.kind, text)
            && let Ok(value) = serde_json::from_str::<Value>(&value.to_string())
        {
            object.insert("default".into(), value);
        }
    }
    property
}

fn shape(kind: &Kind, path: &str, definitions: &mut Map<String, Value>) -> Value {
    let name = json!({ "type": "string", "minLength": 1, "maxLength": 200 });
    let names = |choices: &[(String, String)]| -> Vec<Value> { choices.iter().map(|(name, _)| json!(name)).collect() };
    match kind {
        Kind::Time(_) => json!({ "type": "string", "pattern": TIME, "examples": ["500ns", "1.5ms"] }),
        Kind::TimeOr(choices) => json!({ "anyOf": [
            { "type": "string", "pattern": TIME, "examples": ["500us"] },
            { "enum": names(choices) },
        ] }),
        Kind::PercentOr(choices) => json!({ "anyOf": [
            { "type": "string", "pattern": PERCENT, "examples": ["40%"] },
            { "enum": names(choices) },
        ] }),
        Kind::Rate(..) => json!({ "type": "string", "pattern": RATE, "examples": ["10Gb/s", "100Gb/s"] }),
        Kind::Size(..) => json!({ "type": "string", "pattern": SIZE, "examples": ["1500B", "150KB"] }),
        Kind::Count(least, most) if least == most => json!({ "const": least }),
        Kind::Count(least, u64::MAX) => json!({ "type": "integer", "minimum": least }),
        Kind::Count(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Number(least, most) if most.is_infinite() => json!({ "type": "number", "minimum": least }),
        Kind::Number(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
        Kind::Ratio => json!({ "anyOf": [
            { "type": "integer", "minimum": 1 },
            { "type": "string", "pattern": r"^\s*[0-9]+\s*(/\s*[0-9]+\s*)?$" },
        ] }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text | Kind::File => json!({ "type": "string", "minLength": 1 }),
        Kind::Choice(choices) => json!({ "enum": names(choices) }),
        Kind::Choices(choices) => {
            let one = json!({ "enum": names(choices) });
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Kind::Names => json!({ "anyOf": [name, { "type": "array", "items": name, "minItems": 1 }] }),
        Kind::Counts(least, most) => {
            json!({ "type": "array", "items": { "type": "integer", "minimum": least, "maximum": most } })
        }
        Kind::Pair => json!({ "type": "array", "items": name, "minItems": 2, "maxItems": 2 }),
        Kind::Pairs => {
            let pair = json!({ "type": "array", "items": name, "minItems": 2, "maxItems": 2 });
            json!({ "type": "array", "items": pair })
        }
        Kind::Interval => {
            let time = json!({ "type": "string", "pattern": TIME });
            json!({ "type": "array", "items": time, "minItems": 2, "maxItems": 2 })
        }
        Kind::Table(inner) => section(inner, path, definitions),
        Kind::Tables(inner) => {
            let object = section(inner, path, definitions);
            definitions.insert(path.to_owned(), object);
            let one = json!({ "$ref": format!("#/$defs/{path}") });
            json!({ "anyOf": [{ "type": "array", "items": one }, one] })
        }
        Kind::Any => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_every_key() {
        let schema = schema();
        assert_eq!(schema["properties"]["run"]["properties"]["seed"]["default"], json!(1));
        let link = &schema["properties"]["network"]["properties"]["link"]["properties"]["rate"];
        assert_eq!(link["pattern"], json!(RATE));
        assert_eq!(schema["properties"]["switches"]["anyOf"][1]["$ref"], json!("#/$defs/switches"));
        let switch = &schema["$defs"]["switches"];
        assert_eq!(switch["properties"]["flow_control"]["default"], json!("pfc"));
        assert_eq!(switch["additionalProperties"], json!(false));
        let point = &schema["properties"]["congestion_point"]["anyOf"];
        assert_eq!((&point[0]["type"], &point[1]["const"]), (&json!("object"), &json!("none")));
        for key in &root().keys {
            assert!(schema["properties"][key.name].is_object(), "{}", key.name);
        }
    }
}
