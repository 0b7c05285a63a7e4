//! Static checks of a plan, without simulation.
//!
//! Findings are about a valid plan, not about the file: a file with mistakes has no plan.

mod buffers;
mod dcb;
mod deadlock;
mod fair;
mod load;
mod marking;
mod paths;
mod phases;
mod recovery;
mod scheduler;
mod strict;
mod transient;
mod trimming;

pub use fair::{FairShare, fair_shares};
pub use paths::flow_paths;
pub use phases::{FairPhase, each_fair_phase, fair_phases, fair_phases_of_run};

use super::plan::Plan;
use super::stage::Stage;
use fabric::spec::{Egress, FlowControl, NetworkSpec};
pub(crate) use paths::Walker;
use std::collections::BTreeMap;
use units::Time;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Information.
    Note,
    /// Possibly unintended.
    Warning,
    /// The scenario will violate a guarantee.
    Error,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Severity.
    pub severity: Severity,
    /// Subject: a port, a workload, a class.
    pub subject: String,
    /// The problem; after a line break, the calculation that it follows from.
    pub message: String,
    /// The remedy; may be empty.
    pub remedy: String,
}

/// Findings collected by the checks.
#[derive(Debug, Default)]
struct Findings(Vec<(Finding, Option<String>)>);

impl Findings {
    fn add(&mut self, severity: Severity, subject: impl Into<String>, message: String, remedy: impl Into<String>) {
        self.0.push((Finding { severity, subject: subject.into(), message, remedy: remedy.into() }, None));
    }

    /// Adds a finding that follows from a calculation.
    fn add_computed(&mut self, finding: Finding, calculation: impl std::fmt::Display) {
        self.0.push((finding, Some(calculation.to_string())));
    }

    /// Returns the findings, the most severe first. Each calculation is shown once; later findings refer to the first.
    fn sorted(mut self) -> Vec<Finding> {
        self.0.sort_by_key(|(finding, _)| std::cmp::Reverse(finding.severity));
        let mut shown: BTreeMap<String, String> = BTreeMap::new();
        let mut complete = |(mut finding, calculation): (Finding, Option<String>)| {
            if let Some(calculation) = calculation {
                match shown.get(&calculation) {
                    Some(first) => finding.message.push_str(&format!("\n    same calculation as for {first}")),
                    None => {
                        finding.message.push_str(&format!("\n    {calculation}"));
                        shown.insert(calculation, finding.subject.clone());
                    }
                }
            }
            finding
        };
        self.0.into_iter().map(&mut complete).collect()
    }
}

/// Runs all checks and returns the findings, the most severe first.
#[must_use]
pub fn check(plan: &Plan) -> Vec<Finding> {
    let mut findings = Findings::default();
    plan.notify(Stage::Dependencies);
    let walker = Walker::new(&plan.spec.graph);
    buffers::check(plan, &mut findings);
    marking::check(plan, &mut findings);
    starvation(plan, &mut findings);
    noise(plan, &mut findings);
    dcb::check(plan, &mut findings);
    deadlock::check(plan, &walker, &mut findings);
    transient::check(plan, &walker, &mut findings);
    plan.notify(Stage::Paths);
    let reached = reachable(plan, &walker, &mut findings);
    timing(plan, &mut findings);
    if reached {
        dcb::unprotected(plan, &walker, &mut findings);
        load::check(plan, &walker, &mut findings);
        strict::check(plan, &walker, &mut findings);
        trimming::check(plan, &walker, &mut findings);
        recovery::check(plan, &walker, &mut findings);
    }
    findings.sorted()
}

/// Runs the checks of the routes alone: deadlocks, of all pairs of hosts and of the flows, and changes of the routes.
#[must_use]
pub fn check_routes(plan: &Plan) -> Vec<Finding> {
    let mut findings = Findings::default();
    let walker = Walker::new(&plan.spec.graph);
    deadlock::check(plan, &walker, &mut findings);
    transient::check(plan, &walker, &mut findings);
    findings.sorted()
}

/// Returns whether any switch applies flow control to its senders.
fn holds_back(plan: &Plan) -> bool {
    plan.spec.classes.iter().any(|class| class.lossless)
        && plan.spec.switches.iter().any(|switch| switch.flow_control != FlowControl::None)
}

/// Returns the egress scheduling of every kind of device.
fn outputs(spec: &NetworkSpec) -> impl Iterator<Item = (String, &Egress)> {
    let switches = spec.switches.iter().enumerate().map(|(kind, switch)| (format!("switches[{kind}]"), &switch.egress));
    let adapters =
        spec.adapters.iter().enumerate().map(|(kind, adapter)| (format!("adapters[{kind}]"), &adapter.egress));
    switches.chain(adapters)
}

/// Reports virtual lanes that can send only the remainder of a high-priority table without a limit.
fn starvation(plan: &Plan, findings: &mut Findings) {
    for (device, egress) in outputs(&plan.spec) {
        let Egress::Tables(tables) = egress else { continue };
        let high = || tables.high.iter().filter(|entry| entry.weight > 0);
        if tables.high_limit < u8::MAX || high().next().is_none() {
            continue;
        }
        let classes = (0..).zip(&plan.spec.classes);
        let left: Vec<&str> = classes
            .filter(|(class, _)| high().all(|entry| entry.class != *class))
            .map(|(_, class)| class.name.as_str())
            .collect();
        if !left.is_empty() {
            findings.add(
                Severity::Warning,
                format!("{device}.vl_arbitration"),
                format!("{} may starve: the high table has no limit", left.join(", ")),
                "set high_limit below 255",
            );
        }
    }
}

/// Reports links that damage most frames.
fn noise(plan: &Plan, findings: &mut Findings) {
    let Some(frame) = plan.spec.flows.iter().map(|flow| flow.frame).max() else { return };
    let rate = plan.spec.graph.cables.iter().map(|cable| cable.link.bit_error_rate).fold(0.0, f64::max);
    let whole = (1.0 - rate).powf(frame.bits() as f64);
    if rate > 0.0 && whole < 0.5 {
        let share = if whole < 1e-6 { "no".to_owned() } else { format!("only {:.3} % of", whole * 100.0) };
        findings.add(
            Severity::Warning,
            "network.link.bit_error_rate",
            format!("{share} frames of {frame} arrive whole: (1 - {rate})^{} = {whole:.1e}", frame.bits()),
            "check the unit: the rate is a probability per bit; IEEE 802.3 asks for 1e-12",
        );
    }
}

/// Returns whether every flow reaches its destination, and reports those that do not.
fn reachable(plan: &Plan, walker: &Walker<'_>, findings: &mut Findings) -> bool {
    let mut wrong: BTreeMap<u32, (u64, String)> = BTreeMap::new();
    for (number, flow) in plan.spec.flows.iter().enumerate() {
        if let Err(error) = walker.reaches(plan, number, flow) {
            let workload = plan.workload_of_flow.get(number).unwrap_or(0);
            let entry = wrong.entry(workload).or_insert_with(|| (0, error));
            entry.0 += 1;
        }
    }
    for (workload, (count, error)) in &wrong {
        let name = plan.workload_names.get(*workload as usize).map_or("?", String::as_str);
        let several = if *count > 1 { format!(" ({count} flows in total)") } else { String::new() };
        findings.add(
            Severity::Error,
            format!("workload {name}"),
            format!("a flow cannot reach its destination: {error}{several}"),
            "",
        );
    }
    wrong.is_empty()
}

/// Reports events after the end of the run.
fn timing(plan: &Plan, findings: &mut Findings) {
    let end = Time::ZERO + plan.run.duration;
    let mut late: BTreeMap<u32, u64> = BTreeMap::new();
    for (flow, workload) in plan.spec.flows.iter().zip(plan.workload_of_flow.iter()) {
        if flow.start >= end {
            *late.entry(workload).or_insert(0) += 1;
        }
    }
    for (workload, count) in late {
        let name = plan.workload_names.get(workload as usize).map_or("?", String::as_str);
        let message = format!("{count} flows start after the run ends at {end}");
        findings.add(
            Severity::Warning,
            format!("workload {name}"),
            message,
            "start it earlier, or lengthen run.duration",
        );
    }
    for (number, fault) in plan.spec.faults.iter().enumerate().filter(|(_, fault)| fault.down >= end) {
        let cable = &plan.spec.graph.cables[fault.cable as usize];
        let name = |node: fabric::graph::NodeId| plan.spec.graph.nodes[node.0 as usize].name.as_str();
        let message =
            format!("{} - {} fails at {}, after the run ends at {end}", name(cable.a), name(cable.b), fault.down);
        findings.add(
            Severity::Warning,
            format!("faults[{number}]"),
            message,
            "set an earlier `down`, or lengthen run.duration",
        );
    }
    for change in plan.spec.route_changes.iter().filter(|change| change.last() >= end) {
        let message = format!("the forwarding tables change at {}, after the run ends at {end}", change.last());
        findings.add(Severity::Warning, "network.reroutes", message, "change them earlier, or lengthen run.duration");
    }
    if plan.spec.flows.is_empty() {
        findings.add(Severity::Warning, "workloads", "there is no traffic".into(), "add [[workloads]]");
    }
}
