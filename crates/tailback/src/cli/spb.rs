//! `spb`: what the bridges of a scenario's network find out about each other, and when.

use super::arguments::{Scenario, Spb as Arguments};
use super::check::load_or_say;
use super::console;
use super::deadline;
use super::exit::Exit;
use super::live;
use control::isis::Timers;
use discovery::spb::{Discovery, Step, discover};
use fabric::graph::Graph;
use fabric::routing::{Bridges, Routing};
use scenario::memory::{self, Need};
use serde_json::{Value, json};
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
    let graph = &plan.spec.graph;
    let bridges = match &plan.routing {
        Some(Routing::Spb { bridges, .. }) => bridges.clone(),
        _ => Bridges::plain(graph),
    };
    if let Err((message, help)) = Need::default().and_bridges(graph.switches().len() as u64).within(memory::limit()) {
        console::error(&format!("{}: {message}\n  {help}", file.display()));
        return Exit::BadInput;
    }
    let found = discover(graph, &bridges, &plan.spec.faults, Timers::default());
    deadline::running();
    if arguments.json {
        console::print(&format!("{:#}\n", as_json(graph, &found)));
    } else {
        console::print(&as_text(graph, &found));
    }
    if found.is_sound() { Exit::Success } else { Exit::Disagreement }
}

fn cable(graph: &Graph, number: u32) -> String {
    let cable = &graph.cables[number as usize];
    let name = |node: fabric::graph::NodeId| graph.nodes[node.0 as usize].name.as_str();
    format!("{}-{}", name(cable.a), name(cable.b))
}

fn cables(graph: &Graph, numbers: &[u32]) -> Vec<String> {
    numbers.iter().map(|&number| cable(graph, number)).collect()
}

fn wrong<'a>(graph: &'a Graph, step: &Step) -> Vec<&'a str> {
    step.wrong.iter().map(|node| graph.nodes[node.0 as usize].name.as_str()).collect()
}

fn as_text(graph: &Graph, found: &Discovery) -> String {
    let row = |step: &Step| {
        let when = step.at.map_or("start".to_owned(), |at| at.to_string());
        let down = cables(graph, &step.down).join(", ");
        let tables = match (step.settled, wrong(graph, step)) {
            (false, _) => "did not converge".to_owned(),
            (true, wrong) if wrong.is_empty() => "correct".to_owned(),
            (true, wrong) => format!("wrong at {}", wrong.join(", ")),
        };
        let up = format!("{} of {}", step.adjacencies.len(), found.trunks);
        vec![when, down, up, step.converged.to_string(), grouped(step.frames), tables]
    };
    let rows: Vec<Vec<String>> = found.steps.iter().map(row).collect();
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

fn as_json(graph: &Graph, found: &Discovery) -> Value {
    let step = |step: &Step| {
        json!({
            "at_s": step.at.map(units::Time::as_secs_f64),
            "down": cables(graph, &step.down),
            "settled": step.settled,
            "converged_s": step.converged.as_secs_f64(),
            "frames": step.frames,
            "adjacencies": cables(graph, &step.adjacencies),
            "tables_differ_at": wrong(graph, step),
        })
    };
    let tree = |tree: &discovery::spb::Usage| json!({ "cables": tree.cables, "busiest": tree.busiest });
    json!({
        "trunks": found.trunks,
        "steps": found.steps.iter().map(step).collect::<Vec<_>>(),
        "trees": found.trees.iter().map(tree).collect::<Vec<_>>(),
    })
}
