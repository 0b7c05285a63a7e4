//! Explanation of a loss in a lossless class: the DCBX settings at both ends of a cable.

use discovery::dcbx::{Port, exchange};
use fabric::LossDetails;
use scenario::Plan;

/// Explains how DCBX contributed to a loss, if the run took its settings from the exchange and PFC is off at an end of
/// the cable.
#[must_use]
pub fn explain_loss(plan: &Plan, loss: &LossDetails) -> Option<String> {
    let dcb = plan.dcb.as_ref().filter(|dcb| dcb.apply && !(loss.pauses && loss.obeyed))?;
    let graph = &plan.spec.graph;
    let exchange = exchange(graph, dcb, plan.run.seed);
    let name = |node: fabric::graph::NodeId| graph.nodes[node.0 as usize].name.as_str();
    let mine = |port: &Port| name(port.node) == loss.node && port.number == loss.port;
    let ends = exchange.cables.iter().find(|ends| ends.iter().any(mine))?;
    let mut told = ends.iter().filter_map(|port| Some((port, port.mismatches.iter().find(is_pfc)?)));
    // Both ends say the same, each from its side: one is enough.
    if let Some((port, mismatch)) = told.next() {
        let (node, peer) = (name(port.node), name(port.peer));
        return Some(format!("  DCBX, {}: {node}->{peer}: {mismatch}\n", mismatch.name()));
    }
    let (node, peer) = (name(ends[0].node), name(ends[0].peer));
    Some(format!("  DCBX: {node} and {peer} agreed not to pause this class, which other ports do pause\n"))
}

fn is_pfc(mismatch: &&control::Mismatch) -> bool {
    mismatch.name().starts_with("pfc-")
}
