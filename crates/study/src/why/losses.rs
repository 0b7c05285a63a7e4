//! Where frames were lost, from the table drops.

use fabric::record::schema;
use results::{Batch, Results, ResultsError};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Rows of the table drops that are read; a longer table is left out.
const MOST_ROWS: u64 = 2_000_000;

/// Returns by flow where most of its data frames were lost, and why.
pub(super) fn places(results: &Results, ports: &Batch) -> Result<BTreeMap<u32, String>, ResultsError> {
    let name = schema::DROPS.name;
    let recorded = results.manifest.tables.iter().find(|table| table.name == name);
    if recorded.is_none_or(|table| table.rows > MOST_ROWS) {
        return Ok(BTreeMap::new());
    }
    let drops = results.read(&schema::DROPS)?;
    let mut counts: BTreeMap<u32, BTreeMap<(String, &str), u64>> = BTreeMap::new();
    for row in (0..drops.len()).filter(|&row| drops.is_present(row, "flow") && drops.texts("kind")[row] == "data") {
        let port = drops.integers("port")[row];
        let output = drops.is_present(row, "output").then(|| drops.integers("output")[row]);
        let Some(place) = place(ports, port, output) else { continue };
        let flow = drops.integers("flow")[row] as u32;
        *counts.entry(flow).or_default().entry((place, drops.texts("cause")[row].as_str())).or_default() += 1;
    }
    let told = |(flow, places): (u32, BTreeMap<(String, &str), u64>)| {
        let alone = places.len() == 1;
        let ((place, cause), _) = places.into_iter().min_by_key(|(_, count)| Reverse(*count))?;
        let most = if alone { "" } else { "most of them " };
        Some((flow, format!("{most}{}", words(cause, &place))))
    };
    Ok(counts.into_iter().filter_map(told).collect())
}

/// The link of an output on the node of a port; without an output, the link by which frames come to the port.
fn place(ports: &Batch, port: i64, output: Option<i64>) -> Option<String> {
    let row = usize::try_from(port).ok().filter(|&row| row < ports.len())?;
    let (node, peer) = (&ports.texts("node")[row], &ports.texts("peer")[row]);
    let name = |from: &str, to: &str| files::text::on_one_line(&format!("{from} -> {to}")).into_owned();
    let Some(output) = output else { return Some(name(peer, node)) };
    let first = port - ports.integers("number")[row];
    let output = usize::try_from(first + output).ok().filter(|&output| output < ports.len())?;
    Some(name(&ports.texts("node")[output], &ports.texts("peer")[output]))
}

fn words(cause: &str, place: &str) -> String {
    match cause {
        "full" => format!("at {place}, whose queue was full"),
        "early" => format!("at {place}, by its congestion point"),
        "trimmed" => format!("at {place}, trimmed by its congestion point"),
        "corrupt" => format!("on {place}, corrupted"),
        "link-down" => format!("on {place}, which failed"),
        "pause-lost" => format!("at {place}: an XOFF was lost"),
        "watchdog" => format!("at {place}, by a PFC watchdog"),
        "unreachable" => format!("at {place}: no route"),
        other => format!("at {place} ({other})"),
    }
}
