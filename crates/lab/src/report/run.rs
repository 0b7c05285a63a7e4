//! One recorded run as a report holds it.

use super::page::Blocks;
use super::series::{Join, Wish, packed};
use crate::results::{Batch, Cells, Results, ResultsError};
use crate::study::NETWORK_FILE;
use fabric::record::schema;
use serde_json::{Map, Value, json};

/// What a scenario expects and what came of it, in a results directory.
pub const EXPECTATIONS_FILE: &str = "expectations.json";

/// What grows with simulated time, and what of it is shown.
const SERIES: [Wish; 8] = [
    Wish {
        table: &schema::FLOW_SAMPLES,
        time: "time",
        keys: &["flow"],
        values: &["interval", "bytes"],
        join: Join::Amounts,
    },
    Wish {
        table: &schema::LINKS,
        time: "time",
        keys: &["port"],
        values: &["interval", "bytes", "busy", "starved"],
        join: Join::Amounts,
    },
    Wish {
        table: &schema::QUEUES,
        time: "time",
        keys: &["port", "class"],
        values: &["output_bytes", "input_held"],
        join: Join::Levels,
    },
    Wish {
        table: &schema::OCCUPANCY,
        time: "time",
        keys: &["port", "class", "flow"],
        values: &["bytes"],
        join: Join::Levels,
    },
    Wish { table: &schema::RATES, time: "time", keys: &["flow"], values: &["rate", "window"], join: Join::Levels },
    Wish { table: &schema::PAUSES, time: "end", keys: &["port", "class"], values: &["start"], join: Join::Spans },
    Wish {
        table: &schema::NOTICES,
        time: "time",
        keys: &["flow", "port", "class"],
        values: &["feedback"],
        join: Join::Events,
    },
    Wish { table: &schema::DROPS, time: "time", keys: &["port", "class"], values: &["length"], join: Join::Events },
];

/// A table as columns of JSON; an empty cell is null.
fn columns(batch: &Batch) -> Value {
    let mut columns = Map::new();
    for (place, column) in batch.table.columns.iter().enumerate() {
        let present = |row: usize| batch.present[place].as_ref().is_none_or(|present| present[row]);
        let cells: Vec<Value> = match &batch.columns[place] {
            Cells::Integer(cells) => cells.iter().map(|&cell| json!(cell)).collect(),
            Cells::Real(cells) => cells.iter().map(|&cell| json!(cell)).collect(),
            Cells::Text(cells) => cells.iter().map(|cell| json!(cell)).collect(),
            Cells::Flag(cells) => cells.iter().map(|&cell| json!(cell)).collect(),
        };
        let cells = cells.into_iter().enumerate().map(|(row, cell)| if present(row) { cell } else { Value::Null });
        columns.insert(column.name.to_owned(), cells.collect());
    }
    columns.into()
}

/// The run, with its series in blocks of their own; no table keeps more than about `most` rows.
pub(super) fn run(results: &Results, label: &str, most: u64, blocks: &mut Blocks) -> Result<Value, ResultsError> {
    let small =
        |table| if results.has(table) { results.read(table).map(|batch| columns(&batch)) } else { Ok(json!({})) };
    let mut tables = Map::new();
    for wish in &SERIES {
        if let Some((bytes, mut about)) = packed(results, wish, most)? {
            about["block"] = json!(blocks.add(&bytes));
            tables.insert(wish.table.name.to_owned(), about);
        }
    }
    // Results of before these files were written have none: then the drawing does with what the ports tell.
    let beside = |name: &str| -> Option<Value> {
        serde_json::from_str(&std::fs::read_to_string(results.directory().join(name)).ok()?).ok()
    };
    Ok(json!({
        "label": label,
        "manifest": results.manifest.to_json(),
        "network": beside(NETWORK_FILE),
        "expectations": beside(EXPECTATIONS_FILE),
        "ports": small(&schema::PORTS)?,
        "flows": small(&schema::FLOWS)?,
        "waits": small(&schema::WAITS)?,
        "wait_buckets": small(&schema::WAIT_BUCKETS)?,
        "tables": tables,
    }))
}
