//! `network.json` in a results directory: the hosts and their positions, the path and fair share of each flow, and the
//! buffer sizes.

use crate::measure::shares::Shares;
use fabric::graph::Role;
use fabric::spec::{Buffer, ClassBuffer, CreditUnit, Fault, FlowControl};
use scenario::{Plan, flow_paths};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum number of flows whose paths are written.
const MOST_FLOWS: usize = 20_000;

/// Returns the contents of `network.json`.
#[must_use]
pub(super) fn network_json(plan: &Plan, shares: &Shares) -> Value {
    let spec = &plan.spec;
    let nodes = &spec.graph.nodes;
    let role = |role: Role| if role == Role::Host { "host" } else { "switch" };
    let told = spec.flows.len() <= MOST_FLOWS;
    let fair = &shares.of_flow;
    let paths = if told { flow_paths(plan) } else { Vec::new() };
    let topology = plan.entries.iter().find(|entry| entry.path == "network.topology");
    let topology = topology.map(|entry| entry.value.trim_matches('"')).filter(|name| *name != "not set");
    json!({
        "schema_version": 1,
        "topology": topology,
        "nodes": {
            "name": nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(),
            "role": nodes.iter().map(|node| role(node.role)).collect::<Vec<_>>(),
            "layer": nodes.iter().map(|node| node.layer).collect::<Vec<_>>(),
        },
        "classes": spec.classes.iter().map(|class| json!({ "name": class.name, "lossless": class.lossless })).collect::<Vec<_>>(),
        "workloads": plan.workload_names,
        "flows": {
            "workload": plan.workload_of_flow,
            "path": paths,
            "stop_ps": spec.flows.iter().map(|flow| flow.stop.map(|stop| stop.as_picos())).collect::<Vec<_>>(),
            "fair_share": fair.iter().map(|share| share.as_ref().map(|share| share.throughput)).collect::<Vec<_>>(),
            "bottleneck": fair.iter().map(|share| share.as_ref().and_then(|share| share.bottleneck.clone())).collect::<Vec<_>>(),
        },
        "buffers": buffers(plan),
        "faults": faults(plan),
        "warm_up_ps": plan.run.warm_up.as_picos(),
        "throughput_window_ps": plan.probes.throughput_window.as_picos(),
    })
}

/// Returns the cables that fail: the port numbers at both ends, and the times of failure and restoration.
fn faults(plan: &Plan) -> Vec<Value> {
    let ports = plan.spec.graph.ports();
    let mut ends: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (port, end) in (0..).zip(ports.iter().flatten()) {
        ends.entry(end.cable).or_default().push(port);
    }
    let fault = |fault: &Fault| json!({ "ports": ends.get(&fault.cable), "down_ps": fault.down.as_picos(), "up_ps": fault.up.map(|up| up.as_picos()) });
    plan.spec.faults.iter().map(fault).collect()
}

/// Returns the buffer kind of every node, and the kinds.
fn buffers(plan: &Plan) -> Value {
    let spec = &plan.spec;
    let kind = |flow_control: &FlowControl, classes: &[ClassBuffer], shared: Option<u64>| {
        let (how, frames) = match flow_control {
            FlowControl::None => ("none", false),
            FlowControl::Pause(_) => ("pause", false),
            FlowControl::Pfc(_) => ("pfc", false),
            FlowControl::Credits(credits) => ("credits", credits.unit == CreditUnit::Frame),
        };
        // Room without end is none to speak of.
        let bounded = |size: u64| (size < ClassBuffer::UNLIMITED.capacity.get()).then_some(size);
        let pausing = matches!(flow_control, FlowControl::Pause(_) | FlowControl::Pfc(_)) && shared.is_none();
        json!({
            "flow_control": how,
            "frames": frames,
            "shared": shared,
            "capacity": classes.iter().map(|class| bounded(class.capacity.get())).collect::<Vec<_>>(),
            "xoff": classes.iter().map(|class| bounded(class.xoff.get()).filter(|_| pausing)).collect::<Vec<_>>(),
        })
    };
    let switches = spec.switches.iter().map(|switch| match &switch.buffer {
        Buffer::Static(classes) => kind(&switch.flow_control, classes, None),
        Buffer::Shared { total, classes, .. } => kind(&switch.flow_control, classes, Some(total.get())),
    });
    let adapters = spec.adapters.iter().map(|adapter| kind(&adapter.flow_control, &adapter.buffer, None));
    json!({
        "kind_of": spec.kind_of,
        "switches": switches.collect::<Vec<_>>(),
        "adapters": adapters.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Limits, NoFiles, load_str};

    #[test]
    fn ways_shares_and_room_are_told() {
        let text = include_str!("../../../../scenarios/victim.toml");
        let plan = load_str("victim.toml", text, &[], &NoFiles, Limits::default()).expect("a scenario");
        let lasting = vec![fabric::FlowSummary::default(); plan.spec.flows.len()];
        let shares = crate::measure::shares::shares_of_run(&plan, &lasting, units::Time::ZERO + plan.run.duration);
        let network = network_json(&plan, &shares);
        assert_eq!(network["topology"], "two-switches");
        let roles = network["nodes"]["role"].as_array().expect("roles");
        assert_eq!((roles.len(), roles.iter().filter(|role| **role == "switch").count()), (9, 2));
        // The victim crosses three cables and would have all of its own.
        let flows = &network["flows"];
        assert_eq!(flows["path"][4].as_array().map(Vec::len), Some(3));
        let share = flows["fair_share"][4].as_f64().expect("a share");
        assert!(share > 9.5e9 && share < 1e10, "{share}");
        assert!(flows["fair_share"][0].as_f64().expect("a share") < 2.6e9);
        assert_eq!(network["buffers"]["switches"][0]["capacity"][0], 150_000);
        assert_eq!(network["buffers"]["switches"][0]["xoff"][0], 100_000);
    }
}
