//! Shortest path bridging: what bridges learn by IS-IS.

use super::link_name;
use control::isis::Timers;
use discovery::spb::{Discovery, Step, Usage, discover};
use fabric::graph::Graph;
use fabric::routing::{Bridges, Routing};
use results::document::{SpbRecord, SpbStepRecord, SpbTreeRecord};
use scenario::Plan;
use scenario::memory::{self, Need};

/// Runs the bridges of a plan's network through its failures.
///
/// # Errors
/// What is wrong and what to do, if the network is too large for the memory, or has hosts with several links.
pub fn spb_discovery(plan: &Plan) -> Result<Discovery, (String, String)> {
    let graph = &plan.spec.graph;
    let bridges = match &plan.routing {
        Some(Routing::Spb { bridges, .. }) => bridges.clone(),
        _ => Bridges::plain(graph),
    };
    Need::default().and_bridges(graph.switches().len() as u64).within(memory::limit())?;
    let alone = |_| {
        let host = graph.multihomed().next().map_or("", |host| &graph.nodes[host.0 as usize].name);
        let message = format!("host \"{host}\" has several links, which shortest path bridging does not support");
        (message, "give every host one link".to_owned())
    };
    discover(graph, &bridges, &plan.spec.faults, Timers::default()).map_err(alone)
}

/// A discovery as JSON states it.
#[must_use]
pub fn spb_record(graph: &Graph, found: &Discovery) -> SpbRecord {
    let links = |numbers: &[u32]| numbers.iter().map(|&number| link_name(graph, number)).collect();
    let step = |step: &Step| SpbStepRecord {
        at_s: step.at.map(units::Time::as_secs_f64),
        down: links(&step.down),
        settled: step.settled,
        converged_s: step.converged.as_secs_f64(),
        frames: step.frames,
        adjacencies: links(&step.adjacencies),
        tables_differ_at: step.wrong.iter().map(|node| graph.nodes[node.0 as usize].name.clone()).collect(),
    };
    let tree = |tree: &Usage| SpbTreeRecord { cables: tree.cables as u64, busiest: tree.busiest as u64 };
    SpbRecord {
        trunks: found.trunks as u64,
        steps: found.steps.iter().map(step).collect(),
        trees: found.trees.iter().map(tree).collect(),
    }
}
