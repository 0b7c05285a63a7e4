//! Checks for classes that strict priority may starve, because higher classes offer the whole capacity of an output.

use super::fair::{MOST_FLOWS, demand};
use super::paths::Walker;
use super::scheduler::Outputs;
use super::{Findings, Severity};
use crate::plan::Plan;
use congestion::Reaction;
use fabric::spec::{Egress, MAX_CLASSES, Share, Within};
use fabric::workload::Destination;
use std::collections::BTreeMap;

/// The load of an output.
#[derive(Default)]
struct Output {
    /// Classes with flows.
    used: u8,
    /// For every source, the rate of its cable, and its offered load in each class for the duration of the run.
    sources: BTreeMap<u32, (f64, [f64; MAX_CLASSES])>,
}

pub(super) fn check(plan: &Plan, walker: &Walker<'_>, findings: &mut Findings) {
    if plan.spec.classes.len() < 2 || plan.spec.flows.len() > MOST_FLOWS {
        return;
    }
    let (outputs, choosing) = (outputs(plan, walker), Outputs::new(&plan.spec));
    // By section and class: where first, and in how many places.
    let mut starved: BTreeMap<(String, u8), (String, u32)> = BTreeMap::new();
    for (channel, node, cable) in walker.channels() {
        let Some(output) = outputs.get(&channel) else { continue };
        let port = (channel - walker.channel(node, 0)) as u16;
        let (section, egress) = choosing.at(node, port);
        let capacity = plan.spec.graph.cables[cable.cable as usize].link.rate.as_bits_per_sec() as f64;
        for class in bits(output.used) {
            let first = before(egress, class);
            let offered = |(link, loads): &(f64, [f64; MAX_CLASSES])| {
                bits(first).map(|class| loads[usize::from(class)]).sum::<f64>().min(*link)
            };
            if output.sources.values().map(offered).sum::<f64>() >= capacity * 0.999 {
                let place = || format!("{} -> {}", walker.name(node), walker.name(cable.peer));
                starved.entry((section.clone(), class)).or_insert_with(|| (place(), 0)).1 += 1;
            }
        }
    }
    for ((section, class), (place, count)) in starved {
        let more = if count > 1 { format!(" and at {} more", count - 1) } else { String::new() };
        let name = plan.spec.classes.get(usize::from(class)).map_or("?", |class| class.name.as_str());
        findings.add(
            Severity::Warning,
            format!("{section} class {name}"),
            format!("may starve at {place}{more}: classes of higher priority offer the whole capacity of the link"),
            "share the link by weight (see `egress`)",
        );
    }
}

fn outputs(plan: &Plan, walker: &Walker<'_>) -> BTreeMap<u32, Output> {
    let mut outputs: BTreeMap<u32, Output> = BTreeMap::new();
    for (number, flow) in plan.spec.flows.iter().enumerate() {
        let Destination::Host(to) = flow.destination else { continue };
        let Ok(paths) = walker.paths_of(plan, number, flow, to) else { continue };
        let ports = paths.len().max(1) as f64;
        for hops in paths {
            let cable = hops.first().and_then(|&(node, port)| walker.peer(node, port)).map(|end| end.cable as usize);
            let link = cable.map_or(0.0, |cable| plan.spec.graph.cables[cable].link.rate.as_bits_per_sec() as f64);
            // Whoever reacts makes room, and what is finite ends.
            let lasts = matches!(flow.reaction, Reaction::None(_)) && flow.size.is_none();
            let load = if lasts { demand(plan, flow).map_or(link, |demand| demand / ports) } else { 0.0 };
            // What a host sends is limited by each of its links.
            let source = hops.first().map_or(u32::MAX, |&(node, port)| walker.channel(node, port));
            for (node, port) in hops {
                let output = outputs.entry(walker.channel(node, port)).or_default();
                output.used |= 1 << flow.class;
                output.sources.entry(source).or_insert((link, [0.0; MAX_CLASSES])).1[usize::from(flow.class)] += load;
            }
        }
    }
    outputs
}

fn bits(classes: u8) -> impl Iterator<Item = u8> {
    (0..MAX_CLASSES as u8).filter(move |class| classes >> class & 1 == 1)
}

/// Returns the classes that have priority over a class.
pub(super) fn before(egress: &Egress, class: u8) -> u8 {
    let above = |classes: u8| classes & (u8::MAX << class << 1);
    let groups = match egress {
        Egress::Strict => return above(u8::MAX),
        // What a high table without a limit does is told elsewhere.
        Egress::Tables(_) => return 0,
        Egress::Groups(groups) => groups,
    };
    let Some(own) = groups.iter().find(|group| group.classes >> class & 1 == 1) else { return 0 };
    let strict = groups.iter().filter(|group| group.share == Share::Strict && group.classes != own.classes);
    let first = strict.filter(|group| own.share != Share::Strict || group.classes > own.classes);
    let within = if own.within == Within::Priority && own.share == Share::Strict { above(own.classes) } else { 0 };
    first.fold(within, |classes, group| classes | group.classes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::spec::EgressGroup;
    use units::Bytes;

    #[test]
    fn who_goes_before_whom() {
        assert_eq!((before(&Egress::Strict, 2), before(&Egress::Strict, 7)), (0b1111_1000, 0));
        let weighted = Share::Weighted { quantum: Bytes::new(1520) };
        let groups = Egress::Groups(vec![
            EgressGroup::turns(0b0001_0010, Share::Strict),
            EgressGroup::turns(0b0000_1001, weighted),
            EgressGroup { classes: 0b0110_0000, share: Share::Strict, within: Within::Priority },
            EgressGroup { classes: 0b1000_0100, share: weighted, within: Within::Priority },
        ]);
        assert_eq!(before(&groups, 1), 0b0110_0000, "the group with the higher class goes first, its own takes turns");
        assert_eq!(before(&groups, 0), 0b0111_0010, "all strict ones");
        assert_eq!(before(&groups, 5), 0b0100_0000, "within its group");
        assert_eq!(before(&groups, 2), 0b0111_0010, "its group has a share, whoever has it");
    }
}
