//! What a network's routes, bridges and agents come to, without a run.

mod dcbx;
mod spb;

pub use dcbx::{dcbx_event, dcbx_history, dcbx_record, dcbx_state, selector_name, traffic_classes};
pub use spb::{spb_discovery, spb_record};

use fabric::graph::Graph;
use fabric::routing::{Survey, dependency_cycle};
use results::document::{CheckRecord, RoutesRecord};
use scenario::{Finding, Plan, Severity};

/// Surveys the routes of a plan, and tells whether they can deadlock.
#[must_use]
pub fn survey_routes(plan: &Plan) -> (Survey, bool) {
    let spec = &plan.spec;
    (spec.routes.survey(&spec.graph), dependency_cycle(&spec.graph, &spec.routes).is_some())
}

/// Mean hops of a survey divided by the mean of the shortest paths.
#[must_use]
pub fn mean_stretch(survey: &Survey) -> f64 {
    if survey.shortest > 0.0 { survey.hops / survey.shortest } else { 1.0 }
}

/// A survey as JSON states it.
#[must_use]
pub fn routes_record(survey: &Survey, can_deadlock: bool) -> RoutesRecord {
    RoutesRecord {
        pairs: survey.pairs,
        unreached: survey.unreached,
        trunks: survey.trunks,
        trunks_used: survey.used,
        channels_used: survey.used_channels,
        mean_hops: survey.hops,
        mean_shortest: survey.shortest,
        mean_stretch: mean_stretch(survey),
        worst_stretch: survey.stretch,
        longest: survey.longest,
        pairs_per_channel: survey.load.0,
        most_pairs_per_channel: survey.load.1,
        trees: survey.trees,
        lanes: survey.lanes,
        can_deadlock,
    }
}

/// A finding of `check` as JSON states it.
#[must_use]
pub fn check_record(finding: &Finding) -> CheckRecord {
    CheckRecord {
        severity: severity_name(finding.severity).to_owned(),
        subject: finding.subject.clone(),
        message: finding.message.clone(),
        remedy: finding.remedy.clone(),
    }
}

/// The name of a severity.
#[must_use]
pub fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A link by the names of its ends.
fn link_name(graph: &Graph, number: u32) -> String {
    let cable = &graph.cables[number as usize];
    let name = |node: fabric::graph::NodeId| graph.nodes[node.0 as usize].name.as_str();
    format!("{}-{}", name(cable.a), name(cable.b))
}
