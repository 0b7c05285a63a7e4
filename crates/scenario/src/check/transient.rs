//! Checks for forwarding loops while switches have inconsistent tables.

use super::deadlock::chain;
use super::paths::Walker;
use super::{Findings, Severity, holds_back};
use crate::plan::Plan;
use fabric::graph::{HostId, NodeId, PortEnd};
use fabric::routing::Routes;
use units::Time;

/// Maximum number of entries, in all tables at all instants, for which loops are searched.
const MOST_ENTRIES: usize = 40_000_000;
/// Maximum number of intervals with a loop that are reported.
const TOLD: usize = 4;

/// Checks the tables at every instant at which one of them changes.
pub(super) fn check(plan: &Plan, walker: &Walker<'_>, findings: &mut Findings) {
    let spec = &plan.spec;
    if spec.route_changes.iter().all(|change| change.switches.is_empty()) {
        return;
    }
    let switches = spec.graph.switches();
    let mut installs: Vec<(Time, usize, NodeId)> = Vec::new();
    for (number, change) in spec.route_changes.iter().enumerate() {
        installs.extend(switches.iter().flat_map(|&node| change.times(node).map(move |at| (at, number, node))));
    }
    installs.sort_unstable();
    let instants = installs.chunk_by(|a, b| a.0 == b.0).count();
    let trees = usize::from(spec.routes.trees()).max(1);
    if instants * switches.len() * spec.routes.hosts() * trees > MOST_ENTRIES {
        return;
    }
    let ports = spec.graph.ports();
    let mut tables = Mixture { held: vec![&spec.routes; spec.graph.nodes.len()], ports: &ports, switches: &switches };
    let mut open: Option<(Time, String)> = None;
    let mut told = Vec::new();
    for at_once in installs.chunk_by(|a, b| a.0 == b.0) {
        for &(_, number, node) in at_once {
            tables.held[node.0 as usize] = &spec.route_changes[number].routes;
        }
        let at = at_once[0].0;
        let circle = tables.circle().map(|circle| {
            let names: Vec<&str> = circle.iter().map(|&node| walker.name(node)).collect();
            chain(&names)
        });
        open = match (open.take(), circle) {
            (None, Some(circle)) => Some((at, circle)),
            (Some((since, circle)), None) => {
                told.push((format!("from {since} to {at}"), circle));
                None
            }
            (open, _) => open,
        };
    }
    told.extend(open.map(|(since, circle)| (format!("from {since} on"), circle)));
    let (severity, danger) = match holds_back(plan) {
        true => (Severity::Warning, "; lossless frames may deadlock there"),
        false => (Severity::Note, ""),
    };
    for (when, circle) in told.into_iter().take(TOLD) {
        let message = format!("{when}, while switches have different tables, frames can loop: {circle}{danger}");
        findings.add(severity, "network.reconverge", message, "");
    }
}

/// Every switch with its own tables.
struct Mixture<'a> {
    held: Vec<&'a Routes>,
    ports: &'a [Vec<PortEnd>],
    switches: &'a [NodeId],
}

impl Mixture<'_> {
    /// Returns the ports of a switch to a host: those of one tree, or all that it chooses among.
    fn ports(&self, at: NodeId, host: HostId, tree: Option<usize>) -> &[u16] {
        let list = self.held[at.0 as usize].ports(at, host);
        match tree {
            // The last hop is the same for all trees and stands once.
            Some(tree) => list.get(tree..=tree).unwrap_or(&list[..list.len().min(1)]),
            None => list,
        }
    }

    /// Returns a forwarding loop for some host; its first switch is repeated at the end.
    fn circle(&self) -> Option<Vec<NodeId>> {
        let first = self.held.first()?;
        let trees: Vec<Option<usize>> = match first.trees() {
            0 => vec![None],
            trees => (0..usize::from(trees)).map(Some).collect(),
        };
        let hosts = (0..first.hosts() as u32).map(HostId);
        hosts.flat_map(|host| trees.iter().map(move |&tree| (host, tree))).find_map(|(host, tree)| {
            let mut done = vec![false; self.held.len()];
            self.switches.iter().find_map(|&start| self.search(start, host, tree, &mut done))
        })
    }

    /// Searches depth-first from a switch; a switch that is visited again closes a loop.
    fn search(&self, start: NodeId, host: HostId, tree: Option<usize>, done: &mut [bool]) -> Option<Vec<NodeId>> {
        let mut way: Vec<(NodeId, usize)> = vec![(start, 0)];
        while let Some((at, tried)) = way.last_mut() {
            let (at, number) = (*at, *tried);
            *tried += 1;
            let next = match self.ports(at, host, tree).get(number) {
                Some(&port) if !done[at.0 as usize] => self.ports[at.0 as usize][usize::from(port)].peer,
                _ => {
                    done[at.0 as usize] = true;
                    way.pop();
                    continue;
                }
            };
            if let Some(place) = way.iter().position(|&(node, _)| node == next) {
                let circle = way[place..].iter().map(|&(node, _)| node);
                return Some(circle.chain([next]).collect());
            }
            // A host forwards nothing.
            if !done[next.0 as usize] && !self.held[next.0 as usize].table(next).is_empty() {
                way.push((next, 0));
            }
        }
        None
    }
}
