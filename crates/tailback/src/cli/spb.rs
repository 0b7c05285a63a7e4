//! `spb`: what the bridges of a scenario's network find out about each other, and when.

use super::arguments::{Scenario, Spb as Arguments};
use super::check::load_or_say;
use super::console;
use super::deadline;
use super::exit::Exit;
use super::live;
use discovery::spb::{Discovery, Step};
use results::document::{SpbRecord, SpbStepRecord};
use serde_json::json;
use units::grouped;

/// `tailback spb`
pub fn spb(arguments: &Arguments) -> Exit {
    let Some(file) = &arguments.file else {
        return deadline::not_live(arguments.limit.time_limit).err().unwrap_or_else(|| live::bridge(arguments));
    };
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    let plan = match load_or_say(&Scenario { file: file.clone(), set: arguments.set.clone() }) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let found = match study::spb_discovery(&plan) {
        Ok(found) => found,
        Err((message, help)) => {
            console::error(&format!("{}: {message}\n  {help}", file.display()));
            return Exit::BadInput;
        }
    };
    deadline::running();
    let record = study::spb_record(&plan.spec.graph, &found);
    if arguments.json {
        console::print(&format!("{:#}\n", json!(record)));
    } else {
        console::print(&as_text(&found, &record));
    }
    if found.is_sound() { Exit::Success } else { Exit::Disagreement }
}

/// The discovery as text: times in full, names as the record has them.
fn as_text(found: &Discovery, record: &SpbRecord) -> String {
    let row = |(step, named): (&Step, &SpbStepRecord)| {
        let when = step.at.map_or("start".to_owned(), |at| at.to_string());
        let tables = match (step.settled, &named.tables_differ_at) {
            (false, _) => "did not converge".to_owned(),
            (true, wrong) if wrong.is_empty() => "correct".to_owned(),
            (true, wrong) => format!("wrong at {}", wrong.join(", ")),
        };
        let up = format!("{} of {}", step.adjacencies.len(), found.trunks);
        vec![when, named.down.join(", "), up, step.converged.to_string(), grouped(step.frames), tables]
    };
    let rows: Vec<Vec<String>> = found.steps.iter().zip(&record.steps).map(row).collect();
    let mut text =
        console::table(&["event", "links down", "adjacencies", "converged after", "frames", "tables"], &rows);
    let tree = |(number, tree): (usize, &discovery::spb::Usage)| {
        vec![number.to_string(), tree.cables.to_string(), tree.busiest.to_string()]
    };
    let rows: Vec<Vec<String>> = found.trees.iter().enumerate().map(tree).collect();
    text.push('\n');
    text.push_str(&console::table(&["tree", "links used", "paths on the busiest link direction"], &rows));
    text
}
