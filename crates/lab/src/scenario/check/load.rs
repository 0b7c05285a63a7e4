//! Offered load against capacity, and the shares that a fair network would give.

use super::paths::Walker;
use super::{Findings, Severity};
use crate::scenario::plan::Plan;
use congestion::ReactionPoint;
use fabric::workload::{Activity, Destination, FlowSpec, Pattern};
use std::collections::BTreeMap;
use theory::max_min::{Flow, Limit, max_min};
use units::{Bytes, Rate, Time};

/// Beyond so many flows the fair shares are not computed.
const MOST_FLOWS: usize = 50_000;

/// Overloaded links told one by one.
const TOLD: usize = 5;

/// What a flow would get of a network that is fair to all.
#[derive(Clone, Debug, PartialEq)]
pub struct FairShare {
    /// Position of the flow in the plan.
    pub flow: u32,
    /// Bits per second of frames, overhead not counted.
    pub throughput: f64,
    /// The link that stops it from getting more, as `from -> to`; `None` if it has all that it offers.
    pub bottleneck: Option<String>,
}

/// Bytes on the wire for one byte of a flow's frames.
fn expansion(plan: &Plan, flow: &FlowSpec) -> f64 {
    let frame = flow.frame.max(Bytes::new(1)).get();
    (frame.max(plan.spec.smallest_frame.get()) + plan.spec.overhead.get()) as f64 / frame as f64
}

/// What a flow offers on the wire while it lasts; `None` is as much as there is.
fn demand(plan: &Plan, flow: &FlowSpec) -> Option<f64> {
    let while_on = match flow.pattern {
        Pattern::Greedy => None,
        Pattern::Paced { rate, .. } => Some(rate.as_bits_per_sec() as f64),
    };
    let limit = flow.reaction.allowance().rate.map(|rate| rate.as_bits_per_sec() as f64);
    let lower = match (while_on, limit) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    match flow.activity {
        Activity::Always => lower,
        Activity::OnOff { on, off, .. } => {
            let part = on.as_secs_f64() / (on.as_secs_f64() + off.as_secs_f64());
            let full = lower.unwrap_or_else(|| plan_rate(plan, flow));
            Some(full * part)
        }
    }
}

/// The rate of the sender's cable.
fn plan_rate(plan: &Plan, flow: &FlowSpec) -> f64 {
    let host = plan.spec.graph.hosts().get(flow.source.0 as usize).copied();
    let cables = plan.spec.graph.cables.iter();
    let mine = cables.filter(|cable| Some(cable.a) == host || Some(cable.b) == host);
    mine.map(|cable| cable.link.rate.as_bits_per_sec() as f64).fold(0.0, f64::max)
}

/// The max-min fair shares of all flows with one destination, as if all were there at once.
///
/// With frames sprayed over many paths only the hosts' own links count. `None` if there are too many flows.
#[must_use]
pub fn fair_shares(plan: &Plan) -> Option<Vec<FairShare>> {
    shares(plan, &Walker::new(&plan.spec.graph))
}

fn shares(plan: &Plan, walker: &Walker<'_>) -> Option<Vec<FairShare>> {
    let spec = &plan.spec;
    if spec.flows.is_empty() || spec.flows.len() > MOST_FLOWS {
        return None;
    }
    let mut numbers = Vec::new();
    let mut flows = Vec::new();
    for (number, flow) in spec.flows.iter().enumerate() {
        let Destination::Host(to) = flow.destination else { continue };
        let hops = walker.path_of(plan, number, flow, to).ok()?;
        let mut links: Vec<u32> = hops.iter().map(|&(node, port)| walker.channel(node, port)).collect();
        if Walker::sprays(plan) && links.len() > 2 {
            links = vec![links[0], links[links.len() - 1]];
        }
        let demand = demand(plan, flow).map(|demand| Rate::from_bits_per_sec(demand as u64));
        numbers.push(number);
        flows.push(Flow { links, demand, weight: 1.0 });
    }
    let mut names: BTreeMap<u32, String> = BTreeMap::new();
    let mut capacities = Vec::new();
    for (channel, node, end) in walker.channels() {
        capacities.push((channel, spec.graph.cables[end.cable as usize].link.rate));
        names.insert(channel, format!("{} -> {}", walker.name(node), walker.name(end.peer)));
    }
    let shares = max_min(&capacities, &flows).ok()?;
    let share = |(number, share): (usize, theory::max_min::Share<u32>)| FairShare {
        flow: number as u32,
        throughput: share.rate / expansion(plan, &spec.flows[number]),
        bottleneck: match share.limit {
            Limit::Link(link) => names.get(&link).cloned(),
            Limit::Demand => None,
        },
    };
    Some(numbers.into_iter().zip(shares).map(share).collect())
}

pub(super) fn check(plan: &Plan, walker: &Walker<'_>, findings: &mut Findings) {
    overload(plan, walker, findings);
    let Some(shares) = shares(plan, walker) else {
        if plan.spec.flows.len() > MOST_FLOWS {
            let message = format!("{} flows: fair shares are computed up to {MOST_FLOWS}", plan.spec.flows.len());
            findings.add(Severity::Note, "workloads", message, "");
        }
        return;
    };
    let mut by_workload: BTreeMap<u32, Vec<&FairShare>> = BTreeMap::new();
    for share in &shares {
        // Finite flows that come and go have no steady share.
        let flow = &plan.spec.flows[share.flow as usize];
        if flow.size.is_none() || shares.len() <= 1000 {
            by_workload.entry(plan.workload_of_flow[share.flow as usize]).or_default().push(share);
        }
    }
    for (workload, shares) in by_workload {
        let name = plan.workload_names.get(workload as usize).map_or("?", String::as_str);
        let rates = || shares.iter().map(|share| share.throughput);
        let (least, most) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
        let worst = shares.iter().min_by(|a, b| a.throughput.total_cmp(&b.throughput));
        let bottleneck = worst.and_then(|share| share.bottleneck.as_ref());
        let because = bottleneck.map_or("it gets all it offers".into(), |link| format!("limited by {link}"));
        let amount = if most - least < 1.0 { show(least) } else { format!("{} to {}", show(least), show(most)) };
        let whose = if shares.len() == 1 {
            "its fair share".into()
        } else {
            format!("fair share of each of its {} flows", shares.len())
        };
        let message = format!("{whose}, if all last: {amount}; {because}");
        findings.add(Severity::Note, format!("workload {name}"), message, "");
    }
}

/// Links that are offered more than they carry by flows that do not hold back.
fn overload(plan: &Plan, walker: &Walker<'_>, findings: &mut Findings) {
    let end = Time::ZERO + plan.run.duration;
    let mut offered: BTreeMap<u32, f64> = BTreeMap::new();
    let mut greedy: BTreeMap<u32, u64> = BTreeMap::new();
    for (number, flow) in plan.spec.flows.iter().enumerate() {
        let Destination::Host(to) = flow.destination else { continue };
        let Ok(mut hops) = walker.path_of(plan, number, flow, to) else { continue };
        if Walker::sprays(plan) && hops.len() > 2 {
            hops = vec![hops[0], hops[hops.len() - 1]];
        }
        // What is finite offers its size over the time that is left to it, at most its demand.
        let seconds = end.saturating_since(flow.start).as_secs_f64();
        let by_size = flow
            .size
            .filter(|_| seconds > 0.0)
            .map(|size| size.bits() as f64 * expansion(plan, flow) / plan.run.duration.as_secs_f64());
        let load = match (demand(plan, flow), by_size) {
            (Some(demand), Some(size)) => Some(demand.min(size)),
            (demand, size) => demand.or(size),
        };
        for (node, port) in hops {
            match load {
                Some(load) => *offered.entry(walker.channel(node, port)).or_insert(0.0) += load,
                None => *greedy.entry(walker.channel(node, port)).or_insert(0) += 1,
            }
        }
    }
    let mut over: Vec<(f64, String, f64, f64)> = Vec::new();
    for (channel, node, cable) in walker.channels() {
        let Some(&load) = offered.get(&channel) else { continue };
        let capacity = plan.spec.graph.cables[cable.cable as usize].link.rate.as_bits_per_sec() as f64;
        if load > capacity * 1.001 {
            over.push((
                load / capacity,
                format!("{} -> {}", walker.name(node), walker.name(cable.peer)),
                load,
                capacity,
            ));
        }
    }
    over.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (ratio, link, load, capacity) in over.iter().take(TOLD) {
        let message = format!("offered {} of {}: {:.0} %", show(*load), show(*capacity), ratio * 100.0);
        findings.add(Severity::Warning, format!("link {link}"), message, "its queue grows as long as this lasts");
    }
    if over.len() > TOLD {
        let message = format!("{} more links are offered more than they carry", over.len() - TOLD);
        findings.add(Severity::Warning, "links", message, "");
    }
}

/// A rate for people.
fn show(rate: f64) -> String {
    let (unit, factor) = match rate {
        rate if rate >= 1e9 => ("Gb/s", 1e9),
        rate if rate >= 1e6 => ("Mb/s", 1e6),
        rate if rate >= 1e3 => ("kb/s", 1e3),
        _ => ("b/s", 1.0),
    };
    let text = format!("{:.2}", rate / factor);
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}
