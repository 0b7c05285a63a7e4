//! Checks for possible deadlocks of routes, the flows involved, and the cost of the routing.
//!
//! The dependency graph consists of channels: one direction of a cable, in one class. It is built first for all pairs
//! of hosts, in the lanes of the routing, and then for the flows of the scenario, in their classes.

use super::paths::Walker;
use super::{Findings, Severity, holds_back};
use crate::plan::Plan;
use fabric::graph::{HostId, NodeId};
use fabric::routing::{Circle, Routes, Waits, dependency_cycle, flow_entropy};
use fabric::spec::FlowControl;
use fabric::workload::{Destination, FlowSpec};
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// Maximum number of paths for which flows are followed individually.
const MOST_PATHS: usize = 200_000;
/// Maximum total number of hops for which flows are followed individually, because each hop is stored.
const MOST_HOPS: usize = 10_000_000;
/// Maximum number of entries in all tables for which the routing is surveyed.
const MOST_ENTRIES: usize = 4_000_000;
/// Maximum number of flows of a cycle that are named.
const TOLD: usize = 6;
/// Number of switches that are named at the beginning and at the end of a long cycle.
const FIRST: usize = 8;
const LAST: usize = 3;

pub(super) fn check(plan: &Plan, walker: &Walker<'_>, findings: &mut Findings) {
    let spec = &plan.spec;
    survey(plan, findings);
    changes(plan, findings);
    if !holds_back(plan) {
        return;
    }
    let tables = std::iter::once((Time::ZERO, &spec.routes));
    let later = spec.route_changes.iter().map(|change| (change.at, &change.routes));
    for (at, routes) in tables.chain(later) {
        let general = dependency_cycle(&spec.graph, &judged(plan, routes));
        let own = Flows { plan, walker, routes }.circle();
        let since = if at == Time::ZERO { String::new() } else { format!(" from {at} on") };
        let (circle, who) = match (own, general) {
            (Ok(Some((circle, flows))), _) => (circle, format!(" (cycle closed by {flows})")),
            (Ok(None), Some(circle)) => (
                channels(plan, walker, &circle),
                " (no flows of this scenario close the cycle, but others could)".into(),
            ),
            (Err(TooMany), Some(circle)) => (channels(plan, walker, &circle), String::new()),
            (_, None) => continue,
        };
        findings.add(
            Severity::Warning,
            "network.routes",
            format!("lossless traffic can deadlock{since}: buffer dependency cycle {circle}{who}"),
            "choose routing = \"up-down\", \"lash\" or \"dfsssp\", or change the routes so that they form no cycle",
        );
    }
}

/// Returns whether a switch counts all classes of a port together, so that lanes do not separate them.
fn counts_together(plan: &Plan) -> bool {
    plan.spec.switches.iter().any(|switch| matches!(switch.flow_control, FlowControl::Pause(_)))
}

/// Returns the routes with the lanes that the network actually separates.
fn judged(plan: &Plan, routes: &Routes) -> Routes {
    let mut judged = routes.clone();
    // A lossless class outside the lanes carries all pairs together.
    let outside = plan.spec.classes.iter().zip(&plan.layered).any(|(class, layered)| class.lossless && !layered);
    if counts_together(plan) || outside {
        judged.forget_layers();
    }
    judged
}

/// Describes a cycle by its switches.
fn channels(plan: &Plan, walker: &Walker<'_>, circle: &Circle) -> String {
    let lane = if plan.spec.routes.lanes() > 1 { format!(" in lane {}", circle.lane) } else { String::new() };
    named(walker, &circle.channels) + &lane
}

fn named(walker: &Walker<'_>, circle: &[(NodeId, u16)]) -> String {
    let mut nodes: Vec<&str> = circle.iter().map(|&(node, _)| walker.name(node)).collect();
    let last = circle.last().and_then(|&(node, port)| walker.peer(node, port));
    nodes.extend(last.map(|end| walker.name(end.peer)));
    chain(&nodes)
}

/// Names the nodes of a path or cycle in turn; of a long one the first and the last.
pub(super) fn chain(nodes: &[&str]) -> String {
    match nodes.len().checked_sub(FIRST + LAST) {
        // A number instead of a single name would save nothing.
        None | Some(0 | 1) => nodes.join(" -> "),
        Some(between) => {
            let (first, last) = (&nodes[..FIRST], &nodes[FIRST + between..]);
            format!("{} -> ({} more) -> {}", first.join(" -> "), units::grouped(between as u64), last.join(" -> "))
        }
    }
}

/// There are too many paths to follow, or frames may take any of several.
struct TooMany;

struct Flows<'a> {
    plan: &'a Plan,
    walker: &'a Walker<'a>,
    routes: &'a Routes,
}

impl Flows<'_> {
    /// Returns a cycle formed by the flows of the scenario, and the names of the flows.
    fn circle(&self) -> Result<Option<(String, String)>, TooMany> {
        let plan = self.plan;
        let chooses = |flow: &FlowSpec| flow.chooses_paths();
        if Walker::sprays(plan) || plan.spec.flows.len() > MOST_PATHS || plan.spec.flows.iter().any(chooses) {
            return Err(TooMany);
        }
        let together = counts_together(plan);
        let mut by_class: BTreeMap<u8, Waits> = BTreeMap::new();
        let (mut paths, mut followed) = (0, 0);
        let mut ports: BTreeMap<u32, (NodeId, u16)> = BTreeMap::new();
        for (number, flow) in (0_u32..).zip(&plan.spec.flows) {
            let to: &[HostId] = match &flow.destination {
                Destination::Host(host) => std::slice::from_ref(host),
                Destination::Uniform => &flow.hosts,
            };
            paths += to.len();
            if paths > MOST_PATHS {
                return Err(TooMany);
            }
            let entropy = plan.spec.entropy(number);
            for &to in to {
                let mut paths: Vec<(u8, Vec<(NodeId, u16)>)> = Vec::new();
                for port in plan.spec.ports_by(self.routes, number, self.walker.ends(flow.source)) {
                    // A path that does not arrive is told elsewhere.
                    let hops = self.walker.path_by(self.routes, (flow.source, port), to, entropy).unwrap_or_default();
                    let back = self.walker.back(self.routes, &hops, flow.source, entropy);
                    paths.extend(flow.acknowledge.map(|acknowledge| (acknowledge.class, back.clone())));
                    if let Some(probe) = flow.path_probe {
                        paths.extend([(probe.class, hops.clone()), (probe.answer_class, back)]);
                    }
                    paths.extend(self.notices(number, flow.source, &hops));
                    paths.push((flow.class, hops));
                }
                for (class, hops) in paths {
                    if !plan.spec.classes.get(usize::from(class)).is_some_and(|class| class.lossless) {
                        continue;
                    }
                    followed += hops.len();
                    if followed > MOST_HOPS {
                        return Err(TooMany);
                    }
                    let channels: Vec<u32> = hops.iter().map(|&(node, port)| self.walker.channel(node, port)).collect();
                    ports.extend(channels.iter().copied().zip(hops.iter().copied()));
                    by_class.entry(if together { 0 } else { class }).or_default().add(number, &channels);
                }
            }
        }
        for (class, waits) in by_class {
            let Some(circle) = waits.circle() else { continue };
            let hops: Vec<(NodeId, u16)> = circle.iter().map(|(channel, _)| ports[channel]).collect();
            let flows: BTreeSet<u32> = circle.iter().filter_map(|&edge| waits.paths(edge).first()).copied().collect();
            let names: Vec<_> =
                flows.iter().take(TOLD).filter_map(|&flow| plan.flow_names.get(flow as usize)).collect();
            let more = flows.len().saturating_sub(TOLD);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let single = plan.spec.classes.len() == 1 || together;
            let class = &plan.spec.classes[usize::from(class)].name;
            let place = if single { String::new() } else { format!(" in class {class}") };
            return Ok(Some((named(self.walker, &hops) + &place, format!("flows {}{more}", names.join(", ")))));
        }
        Ok(None)
    }
}

impl Flows<'_> {
    /// Returns the paths of notifications and receipts from the switches on a flow's path to its source, each with its
    /// class.
    fn notices(&self, flow: u32, source: HostId, hops: &[(NodeId, u16)]) -> Vec<(u8, Vec<(NodeId, u16)>)> {
        let spec = &self.plan.spec;
        let entropy = flow_entropy(flow, source.0, flow, spec.seed);
        let watched = hops.iter().skip(1).filter_map(|&(switch, _)| {
            let kind = *spec.kind_of.get(switch.0 as usize)?;
            let watch = spec.switches.get(kind as usize)?.congestion_point.as_ref().filter(|watch| watch.tells())?;
            let way = self.walker.path_from(self.routes, switch, source, entropy).ok()?;
            Some((watch.notice_class, way))
        });
        watched.collect()
    }
}

/// Reports the number of used links, path lengths and lanes.
fn survey(plan: &Plan, findings: &mut Findings) {
    let spec = &plan.spec;
    let switches = spec.graph.nodes.len() - spec.routes.hosts();
    if switches * spec.routes.hosts() > MOST_ENTRIES {
        return;
    }
    let survey = spec.routes.survey(&spec.graph);
    if survey.trunks == 0 || survey.pairs == 0 {
        return;
    }
    let number = |value: f64| ((value * 100.0).round() / 100.0).to_string();
    let hops = number(survey.hops);
    let plural = if hops == "1" { "hop" } else { "hops" };
    let lengths = if survey.stretch <= 1.0 {
        format!("all paths are shortest; {hops} {plural} between switches on average")
    } else {
        let mean = if survey.shortest > 0.0 { survey.hops / survey.shortest } else { 1.0 };
        format!(
            "paths have {hops} {plural} between switches on average, {} times the shortest, and {} times at worst",
            number(mean),
            number(survey.stretch)
        )
    };
    let mut message = format!("{} of {} links between switches are in use; {lengths}", survey.used, survey.trunks);
    if survey.trees > 0 {
        message.push_str(&format!("; trees: {}", survey.trees));
    }
    if survey.lanes > 1 {
        message.push_str(&format!("; virtual lanes: {}", survey.lanes));
    }
    if counts_together(plan) && survey.lanes > 1 {
        findings.add(
            Severity::Warning,
            "network.routing",
            "virtual lanes do not prevent deadlock with PAUSE, which stops all classes of a link together".into(),
            "use flow_control = \"pfc\" or \"credits\"",
        );
    }
    findings.add(Severity::Note, "network.routing", message, "");
}

/// Reports how much of the tables changes after a fault.
fn changes(plan: &Plan, findings: &mut Findings) {
    if plan.spec.routes.lanes() > 1 && !plan.spec.route_changes.is_empty() {
        let message =
            "sources keep their initial virtual lanes when the tables change, so dependency cycles may form afterwards";
        findings.add(Severity::Note, "network.routing", message.into(), "");
    }
    let mut before = &plan.spec.routes;
    let mut changes: Vec<_> = plan.spec.route_changes.iter().collect();
    changes.sort_by_key(|change| change.at);
    for change in changes.into_iter().take(16) {
        let (switches, entries) = before.difference(&change.routes);
        let all = plan.spec.graph.nodes.len() - change.routes.hosts();
        let when = match change.last() {
            last if last == change.at => format!("at {last}"),
            last => format!("from {} to {last}, as each learns of the change,", change.at),
        };
        let entries_of = all * change.routes.hosts();
        let message =
            format!("{when} {switches} of {all} switches change {entries} of {entries_of} forwarding entries");
        findings.add(Severity::Note, "network.routes", message, "");
        before = &change.routes;
    }
}

#[cfg(test)]
mod tests {
    use super::chain;

    #[test]
    fn long_cycles_are_shortened() {
        let names: Vec<String> = (0..5000).map(|number| format!("sw{number}")).collect();
        let nodes: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(chain(&nodes[..3]), "sw0 -> sw1 -> sw2");
        assert!(chain(&nodes[..12]).ends_with("sw7 -> sw8 -> sw9 -> sw10 -> sw11"));
        let long = chain(&nodes);
        assert!(long.ends_with("sw7 -> (4989 more) -> sw4997 -> sw4998 -> sw4999"), "{long}");
        assert!(long.len() < 120, "{long}");
    }
}
