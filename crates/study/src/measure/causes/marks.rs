//! Marks and notices: whether they went to the flows that cause the congestion.

use super::ledger::{NONE, Root};
use super::trace::RootAt;
use super::{Causes, FlowCauses};
use scenario::{FairPhase, Plan};
use std::collections::{BTreeMap, BTreeSet};

/// Marks and notices of a flow by the roots of the congestion that they were about.
pub(super) type Signals = BTreeMap<Vec<u32>, u64>;

impl Causes {
    /// The link that a mark or notice is about: that of the output of its congestion point; or, if the point watches an input
    /// buffer, the link by which the frames came. The flow uses either the one or the other.
    pub(super) fn congested(&self, flow: u32, port: u32) -> u32 {
        let upstream = self.map.peer(port);
        let source = self.sources.get(flow as usize).and_then(|source| source.as_ref());
        let at_input = source.is_some_and(|source| !source.ports.contains(&port) && source.ports.contains(&upstream));
        if at_input { upstream } else { port }
    }

    /// A frame of the flow was marked at an output, or its source has got a notice from there: notes the roots of what
    /// makes frames wait for that output now.
    pub(super) fn note_signal(&mut self, flow: u32, port: u32) {
        if !self.warm {
            return;
        }
        let class = self.class_of[flow as usize];
        let state = &self.ports[port as usize];
        let upstream = self.congested(flow, port);
        let roots = if upstream != port {
            // About an input buffer: whatever its frames wait for.
            self.trace(upstream, class).roots
        } else if state.is_blocked(class) {
            self.trace(port, class).roots
        } else if state.wire.until >= self.now {
            // Frames are marked as they start, when the one before has just left.
            self.roots_of_output(port, class)
        } else {
            Vec::new()
        };
        let at_fault = |at: &RootAt| !matches!(at.root, Root::Credits | Root::Resume);
        let ports: BTreeSet<u32> = roots.iter().map(|(at, _)| at).filter(|at| at_fault(at)).map(|at| at.port).collect();
        if let Some(source) = self.source(flow) {
            *source.signals.entry(ports.into_iter().collect()).or_default() += 1;
        }
    }
}

/// Marks and notices of a run against the flows that caused its congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marking {
    /// Marks and notices, and those to a culprit of the congestion that they were about.
    signals: (u64, u64),
    /// Picoseconds of blocked time that are charged to culprits of its root, and to those that got a mark or notice about it.
    charged: (u64, u64),
}

impl Marking {
    /// Judges the marks of a run. A flow is a culprit of a root if the root is the bottleneck of its max-min fair share, and
    /// it offers more; where no bottleneck is known, if it uses the root.
    pub(crate) fn new(plan: &Plan, flows: &[FlowCauses], fair: &[FairPhase]) -> Marking {
        let mut bottlenecks: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for share in fair.iter().flat_map(|phase| &phase.shares) {
            if let Some(name) = &share.bottleneck {
                bottlenecks.entry(name).or_default().insert(share.flow);
            }
        }
        let mut roots: BTreeSet<u32> = flows.iter().flat_map(|flow| flow.signals.keys().flatten().copied()).collect();
        let mut charges: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for (key, time) in flows.iter().flat_map(|flow| flow.ledger.iter()) {
            if key.by != NONE && key.cause.root().is_some() {
                roots.insert(key.port);
                *charges.entry((key.port, key.by)).or_default() += time;
            }
        }
        let names = names(plan, &roots);
        let guilty: BTreeMap<u32, BTreeSet<u32>> = roots
            .iter()
            .map(|&root| {
                let limited = names.get(&root).and_then(|name| bottlenecks.get(name.as_str()));
                let using = || flows.iter().filter(|flow| flow.uses(root)).map(|flow| flow.flow).collect();
                (root, limited.cloned().unwrap_or_else(using))
            })
            .collect();
        let is_guilty = |flow: u32, root: &u32| guilty.get(root).is_some_and(|flows| flows.contains(&flow));
        let mut marking = Marking::default();
        let mut hit: BTreeSet<(u32, u32)> = BTreeSet::new();
        for flow in flows {
            for (roots, &count) in &flow.signals {
                marking.signals.0 += count;
                let right: Vec<u32> = roots.iter().copied().filter(|root| is_guilty(flow.flow, root)).collect();
                marking.signals.1 += if right.is_empty() { 0 } else { count };
                hit.extend(right.into_iter().map(|root| (root, flow.flow)));
            }
        }
        for (&(root, flow), &time) in charges.iter().filter(|((root, flow), _)| is_guilty(*flow, root)) {
            marking.charged.0 += time;
            marking.charged.1 += if hit.contains(&(root, flow)) { time } else { 0 };
        }
        marking
    }

    /// The fraction of marks and notices that went to culprits; `None` if there were none.
    pub(crate) fn precision(&self) -> Option<f64> {
        (self.signals.0 > 0).then(|| self.signals.1 as f64 / self.signals.0 as f64)
    }

    /// The fraction of the blocked time charged to culprits that is charged to those with a mark or notice about their root;
    /// `None` if there is none.
    pub(crate) fn recall(&self) -> Option<f64> {
        (self.charged.0 > 0).then(|| self.charged.1 as f64 / self.charged.0 as f64)
    }
}

/// The links of ports, as fair shares name them.
fn names(plan: &Plan, ports: &BTreeSet<u32>) -> BTreeMap<u32, String> {
    let graph = &plan.spec.graph;
    let mut names = BTreeMap::new();
    let mut number = 0;
    for (node, ends) in graph.nodes.iter().zip(graph.ports()) {
        for end in ends {
            if ports.contains(&number) {
                names.insert(number, format!("{} -> {}", node.name, graph.nodes[end.peer.0 as usize].name));
            }
            number += 1;
        }
    }
    names
}
