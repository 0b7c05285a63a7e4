//! Node-link JSON, as `networkx.node_link_data` writes it: `nodes` with `id`, and `links` or `edges` with `source` and `target`.

use super::super::{NamedText, Work};
use super::{Attributes, Drawn, DrawnLink};
use crate::source::Place;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) fn read(work: &mut Work, file: NamedText<'_>) -> Drawn {
    let source = work.add(file);
    let whole = Place { source, start: 0, end: 0 };
    let mut drawn = Drawn::default();
    let object = match serde_json::from_str::<Value>(file.text) {
        Ok(Value::Object(object)) => object,
        Ok(_) => {
            work.refuse(whole, "this is not an object with nodes and links", "write it with networkx.node_link_data");
            return drawn;
        }
        Err(error) => {
            let before =
                file.text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
            let start = (before + error.column()).min(file.text.len()) as u32;
            let reason = error.to_string();
            let reason = reason.split(" at line ").next().unwrap_or_default();
            let place = Place { source, start, end: start };
            work.refuse(place, format!("this is not JSON: {reason}"), "the file may be truncated; write it again");
            return drawn;
        }
    };
    drawn.directed = object.get("directed").and_then(Value::as_bool).unwrap_or(false);
    let list = |name: &str| object.get(name).and_then(Value::as_array);
    let links = if object.contains_key("links") { "links" } else { "edges" };
    let (Some(nodes), Some(edges)) = (list("nodes"), list(links)) else {
        let missing = if list("nodes").is_none() { "nodes" } else { "links" };
        work.refuse(whole, format!("there is no list `{missing}`"), "write it with networkx.node_link_data");
        return drawn;
    };
    let mut known = BTreeMap::new();
    for (number, node) in nodes.iter().enumerate() {
        let place = nth(source, file.text, "id", number);
        let Some(name) = node.get("id").and_then(text) else {
            work.refuse(
                nth(source, file.text, "nodes", 0),
                format!("node {number} has no `id`"),
                "give every node an id",
            );
            continue;
        };
        let count = drawn.nodes.len();
        let position = drawn.node(&mut known, &name);
        if drawn.nodes.len() == count {
            work.refuse(place, format!("node {name} is there twice"), "keep one of them");
            continue;
        }
        drawn.nodes[position].attributes = node.as_object().map(|node| attributes(node, &["id"])).unwrap_or_default();
    }
    for (number, edge) in edges.iter().enumerate() {
        let place = nth(source, file.text, "source", number);
        let ends = ["source", "target"].map(|key| edge.get(key).and_then(text));
        let [Some(a), Some(b)] = &ends else {
            let message = format!("link {number} has no `source` or no `target`");
            work.refuse(nth(source, file.text, links, 0), message, "give every link both");
            continue;
        };
        let positions = [a, b].map(|name| known.get(name).copied());
        let [Some(from), Some(to)] = positions else {
            let missing = if positions[0].is_none() { a } else { b };
            work.refuse(
                place,
                format!("link {number} names {missing}, which is not among the nodes"),
                "add it to `nodes`",
            );
            continue;
        };
        let attributes =
            edge.as_object().map(|edge| attributes(edge, &["source", "target", "key", "id"])).unwrap_or_default();
        drawn.links.push(DrawnLink { ends: [from, to], attributes, place });
    }
    drawn
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        // Nodes of grids are tuples.
        Value::Array(parts) => Some(parts.iter().map(text).collect::<Option<Vec<_>>>()?.join(",")),
        _ => None,
    }
}

/// Plain fields other than those.
fn attributes(fields: &Map<String, Value>, others: &[&str]) -> Attributes {
    let plain = fields.iter().filter(|(key, _)| !others.contains(&key.as_str()));
    plain.map(|(key, value)| (key.to_ascii_lowercase(), text(value).unwrap_or_default())).collect()
}

/// Where a key is for the n-th time.
fn nth(source: u32, text: &str, key: &str, number: usize) -> Place {
    let quoted = format!("\"{key}\"");
    match text.match_indices(&quoted).nth(number) {
        Some((start, _)) => Place { source, start: start as u32, end: (start + quoted.len()) as u32 },
        None => Place { source, start: 0, end: 0 },
    }
}
