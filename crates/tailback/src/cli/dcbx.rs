//! `dcbx`: what the agents of a scenario's network come to.

use super::arguments::{Dcbx as Arguments, Scenario};
use super::check::load_or_say;
use super::console;
use super::deadline;
use super::exit::Exit;
use super::live;
use control::{Chosen, Mismatch, Operating, Origin, Settings, Timers};
use discovery::dcbx::{Exchange, Port, is_sound};
use fabric::graph::{Graph, NodeId};
use results::document::DcbxClass;
use scenario::Plan;
use serde_json::json;
use std::path::Path;
use units::grouped;

/// `tailback dcbx`
pub fn dcbx(arguments: &Arguments) -> Exit {
    let started = match arguments.interface {
        None => deadline::start(arguments.limit.time_limit),
        Some(_) => deadline::not_live(arguments.limit.time_limit),
    };
    if let Err(exit) = started {
        return exit;
    }
    let plan = match &arguments.file {
        None => None,
        Some(file) => match load_or_say(&Scenario { file: file.clone(), set: arguments.set.clone() }) {
            Ok(plan) => Some(plan),
            Err(exit) => return exit,
        },
    };
    let given = arguments.file.as_deref().unwrap_or(Path::new(""));
    if let Some(interface) = &arguments.interface {
        return match configured(plan.as_ref(), given, arguments.node.as_deref()) {
            Ok((settings, timers)) => live::agent(interface, settings, timers, arguments.seconds, arguments.json),
            Err(exit) => exit,
        };
    }
    let Some(plan) = plan else { return Exit::BadInput };
    let Some(dcb) = &plan.dcb else { return unconfigured(given) };
    let graph = &plan.spec.graph;
    let steps = match study::dcbx_history(&plan, dcb) {
        Ok(steps) => steps,
        Err((message, help)) => return refuse(given, &message, &help),
    };
    deadline::running();
    if arguments.json {
        console::print(&format!("{:#}\n", json!(study::dcbx_record(graph, &steps))));
    } else {
        let first = steps.first().map(|first| as_text(graph, first)).unwrap_or_default();
        console::print(&format!("{first}{}", later(graph, &steps)));
    }
    if is_sound(&steps) { Exit::Success } else { Exit::Disagreement }
}

/// Says what is wrong with a file, and what to do.
fn refuse(file: &Path, message: &str, help: &str) -> Exit {
    console::error(&format!("{}: {message}\n  {help}", file.display()));
    Exit::BadInput
}

fn unconfigured(file: &Path) -> Exit {
    let help = "add settings for the core switches, such as: [[dcb]] with match = \"spine*\" and pfc = [3]";
    refuse(file, "the scenario has no [[dcb]]: Data Center Bridging is not configured", help)
}

/// What a real agent is configured with: as a node of the scenario, or with nothing.
fn configured(plan: Option<&Plan>, file: &Path, node: Option<&str>) -> Result<(Settings, Timers), Exit> {
    let Some(plan) = plan else { return Ok((Settings::default(), Timers::default())) };
    let Some(dcb) = &plan.dcb else { return Err(unconfigured(file)) };
    let Some(node) = node else {
        console::error("--interface with a scenario needs the name of a node; add --node, such as --node spine0");
        return Err(Exit::BadInput);
    };
    let settings = plan.spec.graph.find(node).and_then(|node| dcb.settings.get(node.0 as usize));
    let Some(settings) = settings else {
        return Err(refuse(file, &format!("there is no node `{node}`"), "name a node of the scenario"));
    };
    Ok((*settings, dcb.timers))
}

fn name(graph: &Graph, node: NodeId) -> &str {
    graph.nodes.get(node.0 as usize).map_or("?", |node| node.name.as_str())
}

fn priorities(mask: u8) -> Vec<u8> {
    (0..8).filter(|priority| mask >> priority & 1 == 1).collect()
}

fn listed(priorities: &[u8]) -> String {
    priorities.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

/// A star marks what a port learned.
fn star<T>(chosen: &Chosen<T>) -> &'static str {
    if chosen.from == Origin::Peer { "*" } else { "" }
}

fn as_text(graph: &Graph, exchange: &Exchange) -> String {
    let rows: Vec<Vec<String>> = exchange.ports().map(|port| row(graph, port)).collect();
    let mut text = console::table(&["port", "pfc", "ets", "applications", "source"], &rows);
    text.push_str("\n* learned from the peer\n");
    let (time, frames) = (exchange.converged, exchange.frames);
    if exchange.settled {
        text.push_str(&format!("converged {time} after the last node started, with {} frames\n", grouped(frames)));
    } else {
        text.push_str("did not converge\n");
    }
    for port in exchange.ports() {
        for mismatch in &port.mismatches {
            let (node, peer) = (name(graph, port.node), name(graph, port.peer));
            text.push_str(&format!("{}: {node}->{peer}: {mismatch}\n", mismatch.name()));
        }
    }
    if exchange.ports().all(|port| port.mismatches.is_empty()) {
        text.push_str("no mismatches\n");
    }
    text
}

/// Ports, and mismatches, told one by one for each event.
const TOLD: usize = 12;

/// What came of links that failed and of settings that changed.
fn later(graph: &Graph, steps: &[Exchange]) -> String {
    let Some(first) = steps.first().filter(|_| steps.len() > 1) else { return String::new() };
    let ports = first.ports().count();
    let row = |step: &Exchange| {
        let when = step.at.map_or(String::new(), |at| at.to_string());
        let what: Vec<String> = step.events.iter().map(|&it| study::dcbx_event(graph, it)).collect();
        let after = format!("{}{}", step.converged, if step.settled { "" } else { "..." });
        let wrong = step.ports().map(|port| port.mismatches.len()).sum::<usize>().to_string();
        let frames = grouped(step.frames);
        vec![when, what.join(", "), format!("{} of {ports}", step.changed), after, frames, wrong]
    };
    let rows: Vec<Vec<String>> = steps.iter().skip(1).map(row).collect();
    let head = ["at", "event", "ports changed", "converged after", "frames", "mismatches"];
    let mut text = format!("\nevents during the run\n{}", console::table(&head, &rows));
    if steps.iter().any(|step| !step.settled) {
        text.push_str("... not yet converged when the next event came, or never converged\n");
    }
    for (before, step) in steps.iter().zip(&steps[1..]) {
        let when = step.at.map_or(String::new(), |at| at.to_string());
        let pairs = before.ports().zip(step.ports());
        let differ = pairs.filter(|(old, new)| columns(&old.operating) != columns(&new.operating));
        let mut lines: Vec<String> = differ
            .map(|(old, new)| {
                let (node, peer) = (name(graph, new.node), name(graph, new.peer));
                let [[pfc, ets, apps], now] = [columns(&old.operating), columns(&new.operating)];
                let parts = [("pfc", pfc, &now[0]), ("ets", ets, &now[1]), ("applications", apps, &now[2])];
                let changed = parts.iter().filter(|(_, old, new)| old != *new);
                let changed = changed.map(|(what, old, new)| format!("{what} {} -> {}", or_none(old), or_none(new)));
                format!("{when}: {node}->{peer}: {}\n", changed.collect::<Vec<_>>().join(", "))
            })
            .collect();
        let more = lines.len().saturating_sub(TOLD);
        lines.truncate(TOLD);
        text.extend(lines);
        if more > 0 {
            text.push_str(&format!("{when}: and {more} more ports; --json has them all\n"));
        }
        let found = step.ports().flat_map(|port| port.mismatches.iter().map(move |mismatch| (port, mismatch)));
        let found: Vec<(&Port, &Mismatch)> = found.collect();
        for (port, mismatch) in found.iter().take(TOLD) {
            let (node, peer) = (name(graph, port.node), name(graph, port.peer));
            text.push_str(&format!("{when}: {}: {node}->{peer}: {mismatch}\n", mismatch.name()));
        }
        let more = found.len().saturating_sub(TOLD);
        if more > 0 {
            text.push_str(&format!("{when}: and {more} more mismatches; --json has them all\n"));
        }
    }
    text
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

fn row(graph: &Graph, port: &Port) -> Vec<String> {
    let [paused, shares, applications] = columns(&port.operating);
    let place = format!("{}->{}", name(graph, port.node), name(graph, port.peer));
    vec![place, paused, shares, applications, if port.source { "yes".into() } else { String::new() }]
}

/// Priorities that are paused, shares and applications in words.
pub(super) fn columns(operating: &Operating) -> [String; 3] {
    let paused = priorities(operating.pfc.value);
    let paused = if paused.is_empty() { "none".to_owned() } else { listed(&paused) };
    let share = |class: &DcbxClass| match class.share {
        Some(share) => format!("{}: {share} %", listed(&class.priorities)),
        None => format!("{}: strict", listed(&class.priorities)),
    };
    let shares: Vec<String> = study::traffic_classes(&operating.ets.value).iter().map(share).collect();
    let application = |entry: wire::lldp::ieee::Application| {
        format!("{}:{:#06x} {}", study::selector_name(entry.selector), entry.protocol, entry.priority.get())
    };
    let applications: Vec<String> = operating.apps.value.iter().map(application).collect();
    [
        format!("{paused}{}", star(&operating.pfc)),
        format!("{}{}", shares.join("; "), star(&operating.ets)),
        format!("{}{}", applications.join(", "), star(&operating.apps)),
    ]
}
