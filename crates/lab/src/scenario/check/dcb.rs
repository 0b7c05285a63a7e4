//! What the agents of Data Center Bridging would not agree on.

use super::{Findings, Severity};
use crate::dcbx::exchange;
use crate::scenario::plan::Plan;
use std::collections::BTreeMap;

/// Adds each mismatch once, with an example of where.
pub(super) fn check(plan: &Plan, findings: &mut Findings) {
    let Some(dcb) = &plan.dcb else { return };
    let graph = &plan.spec.graph;
    let exchange = exchange(graph, dcb, plan.run.seed);
    if !exchange.settled {
        let message = "the agents never come to rest".to_owned();
        findings.add(Severity::Warning, "dcb", message, "see `tailback dcbx`");
    }
    let mut seen: BTreeMap<String, (String, usize, bool)> = BTreeMap::new();
    for port in exchange.ports() {
        let name = |node: fabric::graph::NodeId| graph.nodes[node.0 as usize].name.as_str();
        for finding in &port.findings {
            let edge = matches!(finding, control::Finding::CongestionEdge { .. });
            let place = || format!("{}->{}", name(port.node), name(port.peer));
            let known = seen.entry(finding.to_string()).or_insert_with(|| (place(), 0, edge));
            known.1 += 1;
        }
    }
    for (message, (place, count, edge)) in seen {
        let severity = if edge { Severity::Note } else { Severity::Warning };
        let message = if count > 1 { format!("{message} (and at {} more ports)", count - 1) } else { message };
        findings.add(severity, place, message, "configure both ends alike, or make one willing; see `tailback dcbx`");
    }
}
