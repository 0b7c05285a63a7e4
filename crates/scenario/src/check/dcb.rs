//! Checks for mismatches between Data Center Bridging agents.

use super::fair::MOST_FLOWS;
use super::{Findings, Severity, Walker};
use crate::memory::{self, Need};
use crate::plan::Plan;
use discovery::dcbx::{Exchange, exchange, history};
use fabric::graph::NodeId;
use fabric::spec::FlowControl;
use fabric::workload::Destination;
use std::collections::{BTreeMap, BTreeSet};

/// Reports each mismatch once, with an example of its location.
pub(super) fn check(plan: &Plan, findings: &mut Findings) {
    let Some(dcb) = &plan.dcb else { return };
    let graph = &plan.spec.graph;
    // A run that takes its settings from the agents keeps them, whatever happens later.
    let later = dcb.apply && !(plan.spec.faults.is_empty() && dcb.changes.is_empty());
    let events = if later { 2 * plan.spec.faults.len() + dcb.changes.len() } else { 0 };
    let need = Need::default().and_agents(2 * graph.cables.len() as u64, events as u64);
    if let Err((message, help)) = need.within(memory::limit()) {
        findings.add(Severity::Note, "dcb", format!("DCBX is not checked: {message}"), help);
        return;
    }
    let steps = match later {
        true => history(graph, dcb, &plan.spec.faults, plan.run.seed),
        false => vec![exchange(graph, dcb, plan.run.seed)],
    };
    let Some(exchange) = steps.first() else { return };
    if !exchange.settled {
        let message = "the DCBX agents do not converge".to_owned();
        findings.add(Severity::Warning, "dcb", message, "run `tailback dcbx` to see why");
    }
    kept(plan, &steps, findings);
    let mut seen: BTreeMap<String, (String, usize, bool)> = BTreeMap::new();
    for port in exchange.ports() {
        let name = |node: NodeId| graph.nodes[node.0 as usize].name.as_str();
        for finding in &port.mismatches {
            let edge = matches!(finding, control::Mismatch::CongestionEdge { .. });
            let place = || format!("{}->{}", name(port.node), name(port.peer));
            let known = seen.entry(finding.to_string()).or_insert_with(|| (place(), 0, edge));
            known.1 += 1;
        }
    }
    for (message, (place, count, edge)) in seen {
        let severity = if edge { Severity::Note } else { Severity::Warning };
        let message = if count > 1 { format!("{message} (and at {} more ports)", count - 1) } else { message };
        findings.add(
            severity,
            place,
            message,
            "configure both ends the same, or make one of them willing; see `tailback dcbx`",
        );
    }
}

/// Reports settings that agents change during a run, which the run does not follow.
fn kept(plan: &Plan, steps: &[Exchange], findings: &mut Findings) {
    let changes =
        |step: &&Exchange| step.changed > 0 && step.at.is_some_and(|at| at < units::Time::ZERO + plan.run.duration);
    let Some(first) = steps.iter().find(changes) else { return };
    let at = first.at.unwrap_or(units::Time::ZERO);
    let message = format!(
        "at {at} DCBX changes the settings of {} ports, but the run keeps the settings it started with",
        first.changed
    );
    findings.add(Severity::Warning, "dcb", message, "`tailback dcbx` shows what changes and when");
}

/// Reports flows of lossless classes on cables with PFC disabled for the class at one end.
pub(super) fn unprotected(plan: &Plan, walker: &Walker<'_>, findings: &mut Findings) {
    let spec = &plan.spec;
    if spec.ports.is_empty() {
        return;
    }
    let off: BTreeMap<(u32, u16), u8> = spec.ports.iter().map(|port| ((port.node.0, port.port), !port.pfc)).collect();
    let ends = spec.graph.ports();
    let pauses = |node: NodeId| matches!(spec.flow_control(node), FlowControl::Pfc(_));
    let mut told = BTreeSet::new();
    for (number, flow) in spec.flows.iter().enumerate().take(MOST_FLOWS) {
        let Destination::Host(to) = flow.destination else { continue };
        if !spec.classes.get(usize::from(flow.class)).is_some_and(|class| class.lossless) {
            continue;
        }
        for (node, port) in walker.path_of(plan, number, flow, to).unwrap_or_default() {
            let end = ends[node.0 as usize][usize::from(port)];
            let is_off = |at: (u32, u16)| off.get(&at).is_some_and(|off| off >> flow.class & 1 == 1);
            let (there, here) = (is_off((node.0, port)), is_off((end.peer.0, end.peer_port)));
            if !(there || here) || !pauses(end.peer) || !told.insert((end.peer, end.peer_port, flow.class)) {
                continue;
            }
            let (sender, receiver) = (walker.name(node), walker.name(end.peer));
            let why = match (here, there) {
                (true, true) => format!("PFC is off at both ends, so {receiver} never pauses {sender}"),
                (true, false) => format!("PFC is off at {receiver}, so it never pauses {sender}"),
                _ => format!("PFC is off at {sender}, so it ignores the pauses of {receiver}"),
            };
            let class = &spec.classes[usize::from(flow.class)].name;
            let message = format!("may lose frames of class {class}: {why}");
            let remedy = "make that end willing, or configure it like the other end; see `tailback dcbx`";
            findings.add(Severity::Error, format!("{sender} -> {receiver}"), message, remedy);
        }
    }
}
