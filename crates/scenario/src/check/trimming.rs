//! Checks for headers of trimmed frames that may take the whole capacity of an output.
//!
//! If the class of the headers has strict priority, and headers alone can fill a link, no data crosses it for as long as
//! sources send: each retransmission is trimmed again. NDP (Handley et al., SIGCOMM 2017) therefore serves ten headers for each
//! full packet.

use super::fair::{MOST_FLOWS, demand};
use super::load::show;
use super::paths::Walker;
use super::scheduler::Outputs;
use super::strict::before;
use super::{Finding, Findings, Severity};
use crate::plan::Plan;
use congestion::{CongestionPoint, Reaction};
use fabric::graph::Role;
use fabric::spec::CongestionPointSpec;
use fabric::workload::{Destination, FlowSpec};
use std::collections::BTreeMap;
use units::Bytes;

/// Headers for each full packet in the schedule of NDP's switches.
const HEADERS: u64 = 10;

/// The headers that may come to an output for one class of data.
struct Load {
    /// For every source, the rate of its link and its load, in bits per second of whole frames.
    sources: BTreeMap<u32, (f64, f64)>,
    /// The shortest of the frames, overhead counted: its header takes the largest part of it.
    frame: Bytes,
}

pub(super) fn check(plan: &Plan, walker: &Walker<'_>, findings: &mut Findings) {
    let trims = plan.spec.switches.iter().any(|kind| kind.congestion_point.as_ref().is_some_and(|it| it.trims()));
    if !trims || plan.spec.flows.len() > MOST_FLOWS {
        return;
    }
    let (loads, choosing) = (loads(plan, walker), Outputs::new(&plan.spec));
    // By section and class: the first place, and the number of places.
    let mut starved: BTreeMap<(String, u8), (Finding, String, u32)> = BTreeMap::new();
    for (channel, node, cable) in walker.channels() {
        let Some(point) = trimming_at(plan, node) else { continue };
        let port = (channel - walker.channel(node, 0)) as u16;
        let (section, egress) = choosing.at(node, port);
        let capacity = plan.spec.graph.cables[cable.cable as usize].link.rate.as_bits_per_sec() as f64;
        for (&(_, class), load) in loads.range((channel, 0)..=(channel, u8::MAX)) {
            let first = before(egress, class) >> point.trim_class & 1 == 1;
            let offered: f64 = load.sources.values().map(|&(link, load)| load.min(link)).sum();
            let (header, frame) = ((point.trim_size + plan.spec.overhead).get(), load.frame.get());
            let headers = offered * header as f64 / frame as f64;
            if !first || !trims_class(point, class) || headers < capacity * 0.999 {
                continue;
            }
            let place = format!("{} -> {}", walker.name(node), walker.name(cable.peer));
            let names = [class, point.trim_class].map(|class| plan.spec.classes[usize::from(class)].name.as_str());
            let finding = starvation(&section, names, &place, [frame, header]);
            let calculation = format!(
                "{} sources offer {}; headers of {header} B for frames of {frame} B, overhead counted, are up \
                 to {}, and the link carries {}",
                load.sources.len(),
                show(offered),
                show(headers),
                show(capacity)
            );
            starved.entry((section.clone(), class)).or_insert((finding, calculation, 0)).2 += 1;
        }
    }
    for (mut finding, calculation, places) in starved.into_values() {
        if places > 1 {
            finding.message.push_str(&format!(", and at {} more", places - 1));
        }
        findings.add_computed(finding, calculation);
    }
}

fn starvation(section: &str, [data, headers]: [&str; 2], place: &str, [frame, header]: [u64; 2]) -> Finding {
    Finding {
        severity: Severity::Warning,
        subject: format!("{section} class {data}"),
        message: format!(
            "may starve for ever at {place}: headers of trimmed frames, in class {headers}, have strict priority and can \
             fill the link"
        ),
        remedy: format!(
            "serve ten headers for each frame, as NDP does (SIGCOMM 2017): egress = [{{ classes = [\"{data}\"], quantum = \
             \"{frame}B\" }}, {{ classes = [\"{headers}\"], quantum = \"{}B\" }}]; or choose a congestion control that reacts \
             to trimmed frames",
            HEADERS * header
        ),
    }
}

/// The congestion point of a switch, if it trims frames.
fn trimming_at(plan: &Plan, node: fabric::graph::NodeId) -> Option<&CongestionPointSpec> {
    let switch = plan.spec.graph.nodes[node.0 as usize].role == Role::Switch;
    let kind = switch.then(|| &plan.spec.switches[plan.spec.kind_of[node.0 as usize] as usize])?;
    kind.congestion_point.as_ref().filter(|point| point.trims())
}

fn trims_class(point: &CongestionPointSpec, class: u8) -> bool {
    point.point.as_ref().is_some_and(|it| it.discards() >> class & 1 == 1) && class != point.trim_class
}

/// Whether a flow sends on whatever is trimmed: it does not react, and it does not end unless its frames arrive.
fn persists(flow: &FlowSpec) -> bool {
    matches!(flow.reaction, Reaction::None(_)) && (flow.size.is_none() || flow.is_reliable())
}

/// By output and class: the frames that flows without a reaction may send there.
fn loads(plan: &Plan, walker: &Walker<'_>) -> BTreeMap<(u32, u8), Load> {
    let mut loads: BTreeMap<(u32, u8), Load> = BTreeMap::new();
    for (number, flow) in plan.spec.flows.iter().enumerate().filter(|(_, flow)| persists(flow)) {
        let Destination::Host(to) = flow.destination else { continue };
        let Ok(paths) = walker.paths_of(plan, number, flow, to) else { continue };
        let ports = paths.len().max(1) as f64;
        let frame = flow.frame.max(plan.spec.smallest_frame) + plan.spec.overhead;
        for hops in paths {
            let cable = hops.first().and_then(|&(node, port)| walker.peer(node, port)).map(|end| end.cable as usize);
            let link = cable.map_or(0.0, |cable| plan.spec.graph.cables[cable].link.rate.as_bits_per_sec() as f64);
            let source = hops.first().map_or(u32::MAX, |&(node, port)| walker.channel(node, port));
            let offered = demand(plan, flow).map_or(link, |demand| demand / ports);
            for (node, port) in hops {
                let load = loads
                    .entry((walker.channel(node, port), flow.class))
                    .or_insert_with(|| Load { sources: BTreeMap::new(), frame });
                load.frame = load.frame.min(frame);
                load.sources.entry(source).or_insert((link, 0.0)).1 += offered;
            }
        }
    }
    loads
}
