//! The network and the plan of a run as documents in its results: positions of nodes, path and fair share of each flow,
//! buffer sizes; every setting with its source.

use crate::measure::shares::Shares;
use fabric::graph::Role;
use fabric::spec::{Buffer, ClassBuffer, CreditUnit, Fault, FlowControl};
use results::document::{
    BufferKind, Network, NetworkBuffers, NetworkClass, NetworkFault, NetworkFlows, NetworkNodes, PlanEntry, PlanRecord,
};
use scenario::{Entry, Plan, Source, flow_paths};
use std::collections::BTreeMap;

/// Maximum number of flows whose paths are written.
const MOST_FLOWS: usize = 20_000;

/// Returns the network of a plan, with the fair shares in its run.
#[must_use]
pub(super) fn network(plan: &Plan, shares: &Shares) -> Network {
    let spec = &plan.spec;
    let nodes = &spec.graph.nodes;
    let role = |role: Role| if role == Role::Host { "host" } else { "switch" };
    let few = spec.flows.len() <= MOST_FLOWS;
    let fair = || (0..spec.flows.len()).map(|flow| shares.of(flow));
    let topology = plan.entries.iter().find(|entry| entry.path == "network.topology");
    let topology = topology.map(|entry| entry.value.trim_matches('"')).filter(|name| *name != "not set");
    Network {
        topology: topology.map(str::to_owned),
        nodes: NetworkNodes {
            name: nodes.iter().map(|node| node.name.clone()).collect(),
            role: nodes.iter().map(|node| role(node.role).to_owned()).collect(),
            layer: nodes.iter().map(|node| node.layer).collect(),
        },
        classes: spec
            .classes
            .iter()
            .map(|class| NetworkClass { name: class.name.clone(), lossless: class.lossless })
            .collect(),
        workloads: plan.workload_names.clone(),
        flows: NetworkFlows {
            workload: plan.workload_of_flow.iter().collect(),
            path: if few { flow_paths(plan) } else { Vec::new() },
            stop_ps: spec.flows.iter().map(|flow| flow.stop.map(units::Time::as_picos)).collect(),
            fair_share: fair().map(|share| share.map(|share| share.throughput)).collect(),
            bottleneck: fair().map(|share| share.and_then(|share| share.bottleneck.clone())).collect(),
        },
        buffers: buffers(plan),
        faults: faults(plan),
        warm_up_ps: plan.run.warm_up.as_picos(),
        throughput_window_ps: plan.probes.throughput_window.as_picos(),
    }
}

/// Returns the plan as a manifest stores it.
pub(super) fn plan_record(plan: &Plan) -> PlanRecord {
    let entry = |Entry { path, value, source }: &Entry| {
        let source = match source {
            Source::File { file, line } => format!("{file}:{line}"),
            Source::Override(text) => format!("--set {text}"),
            Source::Default(why) => format!("default: {why}"),
        };
        PlanEntry { key: path.clone(), value: value.clone(), source }
    };
    PlanRecord {
        description: plan.description.clone(),
        overrides: Some(plan.overrides().collect()),
        entries: plan.entries.iter().map(entry).collect(),
    }
}

/// Returns the links that fail.
fn faults(plan: &Plan) -> Vec<NetworkFault> {
    let ports = plan.spec.graph.ports();
    let mut ends: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (port, end) in (0..).zip(ports.iter().flatten()) {
        ends.entry(end.cable).or_default().push(port);
    }
    let fault = |fault: &Fault| NetworkFault {
        ports: ends.get(&fault.cable).cloned(),
        down_ps: fault.down.as_picos(),
        up_ps: fault.up.map(units::Time::as_picos),
    };
    plan.spec.faults.iter().map(fault).collect()
}

/// Returns the buffer kind of every node, and the kinds.
fn buffers(plan: &Plan) -> NetworkBuffers {
    let spec = &plan.spec;
    let kind = |flow_control: &FlowControl, classes: &[ClassBuffer], shared: Option<u64>| {
        let (how, frames) = match flow_control {
            FlowControl::None => ("none", false),
            FlowControl::Pause(_) => ("pause", false),
            FlowControl::Pfc(_) => ("pfc", false),
            FlowControl::Credits(credits) => ("credits", credits.unit == CreditUnit::Frame),
        };
        let bounded = |size: u64| (size < ClassBuffer::UNLIMITED.capacity.get()).then_some(size);
        let pausing = matches!(flow_control, FlowControl::Pause(_) | FlowControl::Pfc(_)) && shared.is_none();
        BufferKind {
            flow_control: how.to_owned(),
            frames,
            shared,
            capacity: classes.iter().map(|class| bounded(class.capacity.get())).collect(),
            xoff: classes.iter().map(|class| bounded(class.xoff.get()).filter(|_| pausing)).collect(),
        }
    };
    let switches = spec.switches.iter().map(|switch| match &switch.buffer {
        Buffer::Static(classes) => kind(&switch.flow_control, classes, None),
        Buffer::Shared { total, classes, .. } => kind(&switch.flow_control, classes, Some(total.get())),
    });
    let adapters = spec.adapters.iter().map(|adapter| kind(&adapter.flow_control, &adapter.buffer, None));
    NetworkBuffers { kind_of: spec.kind_of.clone(), switches: switches.collect(), adapters: adapters.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::document::Document;
    use scenario::{Limits, NoFiles, load_str};

    #[test]
    fn paths_shares_and_buffers_are_written_and_read() {
        let text = include_str!("../../../../scenarios/victim.toml");
        let plan = load_str("victim.toml", text, &[], &NoFiles, Limits::default()).expect("a scenario");
        let lasting = vec![fabric::FlowSummary::default(); plan.spec.flows.len()].into();
        let shares =
            crate::measure::shares::shares_of_run(&plan, &lasting, units::Time::ZERO + plan.run.duration, || false);
        let network = network(&plan, &shares);
        assert_eq!(network.topology.as_deref(), Some("two-switches"));
        let roles = &network.nodes.role;
        assert_eq!((roles.len(), roles.iter().filter(|role| *role == "switch").count()), (9, 2));
        // The victim crosses three cables and would have all of its own.
        let flows = &network.flows;
        assert_eq!(flows.path[4].as_ref().map(Vec::len), Some(3));
        let share = flows.fair_share.get(4).copied().flatten().expect("a share");
        assert!(share > 9.5e9 && share < 1e10, "{share}");
        assert!(flows.fair_share.get(0).copied().flatten().expect("a share") < 2.6e9);
        let switch = &network.buffers.switches[0];
        assert_eq!((switch.capacity[0], switch.xoff[0]), (Some(150_000), Some(100_000)));
        // The file has its hash on a line of its own, and all else on one; an edited one is refused.
        let (text, path) = (network.to_text(), std::path::Path::new("network.json"));
        assert_eq!(text.lines().count(), 3);
        assert_eq!(Network::from_text(&text, path).expect("as written"), network);
        assert!(Network::from_text(&text.replacen("150000", "160000", 1), path).is_err());
    }
}
