//! Checks of the offered load against capacity, and notes on fair shares.

use super::fair::{FairShare, MOST_FLOWS, demand, expansion, is_untold, lasting_shares, steady_shares};
use super::paths::Walker;
use super::{Findings, Severity};
use crate::plan::Plan;
use fabric::workload::Destination;
use std::collections::BTreeMap;
use units::{Time, grouped};

/// Maximum number of overloaded links that are listed individually.
const TOLD: usize = 5;

/// Remedy for an overloaded link.
const REMEDY: &str = "reduce the load, or expect the queue to grow until flow or congestion control slows the senders";

pub(super) fn check(plan: &Plan, walker: &Walker<'_>, findings: &mut Findings) {
    overload(plan, walker, findings);
    let Some(shares) = steady_shares(plan, walker) else {
        if plan.spec.flows.len() > MOST_FLOWS {
            let message = format!(
                "fair shares are not computed: {} flows, the limit is {}",
                grouped(plan.spec.flows.len() as u64),
                grouped(MOST_FLOWS as u64)
            );
            findings.add(Severity::Note, "workloads", message, "");
        } else if is_untold(plan, walker) {
            let message = "fair shares are not computed: with two arbitration tables and a limit they depend on the arrival order";
            findings.add(Severity::Note, "workloads", message.into(), "");
        }
        return;
    };
    let sized = plan.spec.flows.iter().filter(|flow| flow.size.is_some()).count();
    let (shares, when) = if sized == 0 {
        (shares, "")
    } else if plan.spec.dependencies.is_empty() && meet(plan, &shares) {
        (shares, " while all flows are active")
    } else {
        // How long they last is a result of the run, and so is what they leave to the others.
        let message =
            format!("{} flows are finite; their fair shares are computed after the run", grouped(sized as u64));
        findings.add(Severity::Note, "workloads", message, "");
        (lasting_shares(plan, walker).unwrap_or_default(), " (finite flows excluded)")
    };
    let mut by_workload: BTreeMap<u32, Vec<&FairShare>> = BTreeMap::new();
    for share in &shares {
        by_workload.entry(plan.workload_of_flow.get(share.flow as usize).unwrap_or(0)).or_default().push(share);
    }
    for (workload, shares) in by_workload {
        let name = plan.workload_names.get(workload as usize).map_or("?", String::as_str);
        let least = shares.iter().map(|share| share.throughput).fold(f64::INFINITY, f64::min);
        let most = shares.iter().map(|share| share.most).fold(0.0, f64::max);
        let open = shares.iter().any(|share| share.most > share.throughput);
        let worst = shares.iter().min_by(|a, b| a.throughput.total_cmp(&b.throughput));
        let bottleneck = worst.and_then(|share| share.bottleneck.as_ref());
        let because = bottleneck.map_or("equals its demand".into(), |link| format!("bottleneck: {link}"));
        let amount = if most - least < 1.0 { show(least) } else { format!("{} to {}", show(least), show(most)) };
        let whose = if shares.len() == 1 { String::new() } else { format!(" for each of {} flows", shares.len()) };
        // Two links may weigh two classes the other way round.
        let because =
            if open { "links weigh its class differently; any split in this range is fair".into() } else { because };
        let message = format!("fair share: {amount}{whose}{when} ({because})");
        findings.add(Severity::Note, format!("workload {name}"), message, "");
    }
}

/// Returns whether all flows are active at some time, given their shares at that time: none is stopped or completed
/// before the last one starts.
fn meet(plan: &Plan, shares: &[FairShare]) -> bool {
    let flows = || shares.iter().map(|share| (share, &plan.spec.flows[share.flow as usize]));
    let last = flows().map(|(_, flow)| flow.start).max().unwrap_or_default().as_secs_f64();
    flows().all(|(share, flow)| {
        let done = flow.size.map(|size| flow.start.as_secs_f64() + size.bits() as f64 / share.most.max(1.0));
        done.into_iter().chain(flow.stop.map(Time::as_secs_f64)).all(|end| end > last)
    })
}

/// Reports links whose capacity is less than the offered load of flows with a rate or a size.
fn overload(plan: &Plan, walker: &Walker<'_>, findings: &mut Findings) {
    let end = Time::ZERO + plan.run.duration;
    let mut offered = vec![0.0; walker.channels().count()];
    for (number, flow) in plan.spec.flows.iter().enumerate() {
        let Destination::Host(to) = flow.destination else { continue };
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
        let Some(load) = load else { continue };
        let Ok(paths) = walker.paths_of(plan, number, flow, to) else { continue };
        let load = load / paths.len().max(1) as f64;
        for mut hops in paths {
            if Walker::sprays(plan) && hops.len() > 2 {
                hops = vec![hops[0], hops[hops.len() - 1]];
            }
            for (node, port) in hops {
                offered[walker.channel(node, port) as usize] += load;
            }
        }
    }
    let mut over: Vec<(f64, String, f64, f64)> = Vec::new();
    for (channel, node, cable) in walker.channels() {
        let load = offered[channel as usize];
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
        let message =
            format!("offered load {} exceeds the capacity {} ({:.0} %)", show(*load), show(*capacity), ratio * 100.0);
        findings.add(Severity::Warning, format!("link {link}"), message, REMEDY);
    }
    if over.len() > TOLD {
        let message = format!("{} more links are overloaded", over.len() - TOLD);
        findings.add(Severity::Warning, "links", message, "");
    }
}

/// Formats a rate for humans.
pub(super) fn show(rate: f64) -> String {
    let (unit, factor) = match rate {
        rate if rate >= 1e9 => ("Gb/s", 1e9),
        rate if rate >= 1e6 => ("Mb/s", 1e6),
        rate if rate >= 1e3 => ("kb/s", 1e3),
        _ => ("b/s", 1.0),
    };
    let text = format!("{:.2}", rate / factor);
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}
