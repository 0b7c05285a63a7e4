//! Data Center Bridging: what agents agree on by DCBX.

use super::link_name;
use control::{Defence, Mismatch, Operating, Origin};
use discovery::dcbx::{DcbPlan, Event, Exchange, Port, history};
use fabric::graph::{Graph, NodeId};
use results::document::{
    DcbxApplication, DcbxApplications, DcbxClass, DcbxEts, DcbxFinding, DcbxPfc, DcbxPortRecord, DcbxRecord, DcbxState,
    DcbxStepRecord,
};
use scenario::Plan;
use scenario::memory::{self, Need};
use wire::lldp::ieee::{Application, EtsTable, Selection};

/// Runs the agents of a plan's network from their start through its events.
///
/// # Errors
/// What is wrong and what to do, if the network is too large for the memory.
pub fn dcbx_history(plan: &Plan, dcb: &DcbPlan) -> Result<Vec<Exchange>, (String, String)> {
    let graph = &plan.spec.graph;
    let events = 2 * plan.spec.faults.len() + dcb.changes.len();
    Need::default().and_agents(2 * graph.cables.len() as u64, events as u64).within(memory::limit())?;
    Ok(history(graph, dcb, &plan.spec.faults, plan.run.seed))
}

/// A history as JSON states it.
#[must_use]
pub fn dcbx_record(graph: &Graph, steps: &[Exchange]) -> DcbxRecord {
    let step = |step: &Exchange| DcbxStepRecord {
        at_s: step.at.map(units::Time::as_secs_f64),
        events: step.events.iter().map(|&event| dcbx_event(graph, event)).collect(),
        settled: step.settled,
        converged_s: step.converged.as_secs_f64(),
        last_change_s: step.last_change.as_secs_f64(),
        frames: step.frames,
        ports_changed: step.changed as u64,
        ports: step.ports().map(|port| port_record(graph, port)).collect(),
    };
    DcbxRecord { first: steps.first().map(step), later: steps.iter().skip(1).map(step).collect() }
}

/// What an event is, in words.
#[must_use]
pub fn dcbx_event(graph: &Graph, event: Event) -> String {
    match event {
        Event::Down(number) => format!("{} down", link_name(graph, number)),
        Event::Up(number) => format!("{} up", link_name(graph, number)),
        Event::Configured(node) => format!("{} configured", name(graph, node)),
    }
}

fn name(graph: &Graph, node: NodeId) -> &str {
    graph.nodes.get(node.0 as usize).map_or("?", |node| node.name.as_str())
}

fn port_record(graph: &Graph, port: &Port) -> DcbxPortRecord {
    DcbxPortRecord {
        node: name(graph, port.node).to_owned(),
        peer: name(graph, port.peer).to_owned(),
        source: port.source,
        state: dcbx_state(&port.operating, &port.mismatches),
    }
}

/// What a port operates on and what does not fit, as JSON states it.
#[must_use]
pub fn dcbx_state(operating: &Operating, mismatches: &[Mismatch]) -> DcbxState {
    let from = |origin| if origin == Origin::Peer { "peer" } else { "local" }.to_owned();
    let application = |entry: Application| DcbxApplication {
        kind: selector_name(entry.selector).to_owned(),
        protocol: entry.protocol,
        priority: entry.priority.get(),
    };
    let defence = |defence: &Defence| match defence {
        Defence::Disabled => "disabled".to_owned(),
        Defence::Edge => "edge".to_owned(),
        Defence::Interior => "interior".to_owned(),
        Defence::InteriorReady => "interior-ready".to_owned(),
    };
    let finding = |mismatch: &Mismatch| DcbxFinding { name: mismatch.name().to_owned(), message: mismatch.to_string() };
    DcbxState {
        pfc: DcbxPfc {
            priorities: (0..8).filter(|priority| operating.pfc.value >> priority & 1 == 1).collect(),
            from: from(operating.pfc.from),
        },
        ets: DcbxEts { classes: traffic_classes(&operating.ets.value), from: from(operating.ets.from) },
        applications: DcbxApplications {
            table: operating.apps.value.iter().map(application).collect(),
            from: from(operating.apps.from),
        },
        congestion_notification: operating.cn.iter().map(defence).collect(),
        findings: mismatches.iter().map(finding).collect(),
    }
}

/// Traffic classes that have priorities.
#[must_use]
pub fn traffic_classes(table: &EtsTable) -> Vec<DcbxClass> {
    let priorities = |class: u8| (0..8u8).filter(|&at| table.classes[usize::from(at)] == Some(class)).collect();
    let share = |class: u8| {
        let at = usize::from(class);
        (table.selection[at] == Selection::Share).then_some(table.shares[at])
    };
    let class = |class: u8| DcbxClass { class, priorities: priorities(class), share: share(class) };
    (0..8).map(class).filter(|class| !class.priorities.is_empty()).collect()
}

/// The name of an application selector.
#[must_use]
pub fn selector_name(selector: u8) -> &'static str {
    match selector {
        1 => "ether-type",
        2 => "tcp",
        3 => "udp",
        4 => "port",
        5 => "dscp",
        _ => "reserved",
    }
}
