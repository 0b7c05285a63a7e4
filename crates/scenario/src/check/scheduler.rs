//! Conversion of the egress scheduling of a plan to the shares of `theory::classes`.
//!
//! The lanes of a class count as one class here, because they belong to the routing. Classes that are served in turn by
//! frame share in proportion to their frame lengths.

use crate::plan::Plan;
use fabric::graph::{NodeId, Role};
use fabric::spec::{Egress, EgressGroup, NetworkSpec, PortSpec, Share, VlArbitration, VlEntry, Within};
use std::collections::BTreeMap;
use theory::classes::{Group, Scheduler};

/// Bytes per unit of weight in virtual-lane arbitration.
const BLOCK: f64 = 64.0;

/// Egress scheduling of outputs: that of their kind, except for ports that differ.
pub(super) struct Outputs<'a> {
    spec: &'a NetworkSpec,
    apart: BTreeMap<(u32, u16), &'a Egress>,
}

impl<'a> Outputs<'a> {
    pub(super) fn new(spec: &'a NetworkSpec) -> Outputs<'a> {
        let own = |port: &'a PortSpec| Some(((port.node.0, port.port), port.egress.as_ref()?));
        Outputs { spec, apart: spec.ports.iter().filter_map(own).collect() }
    }

    /// Returns the scheduling of an output, and the section of its kind.
    pub(super) fn at(&self, node: NodeId, port: u16) -> (String, &'a Egress) {
        let kind = self.spec.kind_of[node.0 as usize] as usize;
        let (section, of_kind) = match self.spec.graph.nodes[node.0 as usize].role {
            Role::Switch => (format!("switches[{kind}]"), &self.spec.switches[kind].egress),
            Role::Host => (format!("adapters[{kind}]"), &self.spec.adapters[kind].egress),
        };
        (section, self.apart.get(&(node.0, port)).copied().unwrap_or(of_kind))
    }
}

/// Schedulers of the outputs, in shares.
pub(super) struct Schedulers<'a> {
    outputs: Outputs<'a>,
    /// For every class, the first lane of the class that it is a lane of.
    base: Vec<u8>,
    /// Mean frame length of each class, without and with overhead.
    frames: Vec<(f64, f64)>,
}

impl<'a> Schedulers<'a> {
    pub(super) fn new(plan: &'a Plan) -> Schedulers<'a> {
        let spec = &plan.spec;
        let lanes = usize::from(spec.routes.lanes()).max(1);
        let mut base: Vec<u8> = Vec::new();
        while base.len() < spec.classes.len() {
            let first = base.len();
            let count = if plan.layered.get(first).copied().unwrap_or(false) { lanes } else { 1 };
            base.extend(std::iter::repeat_n(first as u8, count.min(spec.classes.len() - first)));
        }
        let overhead = spec.overhead.get() as f64;
        let mut sums = vec![(0.0, 0.0); spec.classes.len()];
        for flow in &spec.flows {
            let place = base.get(usize::from(flow.class)).copied().map_or(0, usize::from);
            if let Some(sum) = sums.get_mut(place) {
                *sum = (sum.0 + flow.frame.max(spec.smallest_frame).get() as f64, sum.1 + 1.0);
            }
        }
        let mean = |&(sum, count): &(f64, f64)| if count > 0.0 { sum / count } else { 1500.0 };
        let frames = sums.iter().map(mean).map(|frame| (frame, frame + overhead)).collect();
        Schedulers { outputs: Outputs::new(spec), base, frames }
    }

    /// Returns the class that a flow's class is a lane of.
    pub(super) fn class(&self, class: u8) -> u8 {
        self.base.get(usize::from(class)).copied().unwrap_or(class)
    }

    /// Returns the scheduler of an output; `None` if it cannot be expressed in shares.
    pub(super) fn of(&self, node: NodeId, port: u16) -> Option<Scheduler> {
        match self.outputs.at(node, port).1 {
            Egress::Strict => {
                let mut classes = self.base.clone();
                classes.dedup();
                Some(Scheduler::strict(classes.into_iter().rev()))
            }
            Egress::Groups(groups) => Some(self.groups(groups)),
            Egress::Tables(tables) => self.tables(tables),
        }
    }

    fn members(&self, classes: u8) -> Vec<(u8, f64)> {
        let mut members: Vec<u8> = (0..self.base.len() as u8)
            .filter(|class| classes >> class & 1 == 1)
            .map(|class| self.class(class))
            .collect();
        members.dedup();
        // The highest first, for groups that go in order.
        members.iter().rev().map(|&class| (class, self.frames[usize::from(class)].1)).collect()
    }

    fn groups(&self, groups: &[EgressGroup]) -> Scheduler {
        let group = |group: &EgressGroup, weight: f64| Group {
            weight,
            classes: self.members(group.classes),
            ordered: group.within == Within::Priority,
        };
        let mut strict: Vec<&EgressGroup> = groups.iter().filter(|group| group.share == Share::Strict).collect();
        strict.sort_by_key(|group| group.classes.leading_zeros());
        let weighted = groups.iter().filter_map(|it| match it.share {
            Share::Weighted { quantum } => Some(group(it, quantum.get() as f64)),
            Share::Strict => None,
        });
        let tiers = strict.into_iter().map(|it| vec![group(it, 1.0)]);
        Scheduler { tiers: tiers.chain([weighted.collect()]).collect() }
    }

    /// Returns two tiers if the first table has no limit and no class is in both tables; otherwise the shares depend on
    /// the arrival times.
    fn tables(&self, tables: &VlArbitration) -> Option<Scheduler> {
        let weighty = |entries: &[VlEntry]| entries.iter().copied().filter(|it| it.weight > 0).collect::<Vec<_>>();
        let (high, low) = (weighty(&tables.high), weighty(&tables.low));
        let in_both =
            high.iter().any(|entry| low.iter().any(|other| self.class(other.class) == self.class(entry.class)));
        if in_both || !(high.is_empty() || low.is_empty() || tables.high_limit == u8::MAX) {
            return None;
        }
        let tier = |entries: Vec<VlEntry>| {
            let mut weights: BTreeMap<u8, f64> = BTreeMap::new();
            for entry in entries {
                // A frame may begin while any weight is left, and is sent whole.
                let (frame, on_wire) = self.frames[usize::from(self.class(entry.class))];
                let frames = (f64::from(entry.weight) / (frame / BLOCK).ceil()).ceil();
                *weights.entry(self.class(entry.class)).or_insert(0.0) += frames * on_wire;
            }
            let group = |(class, weight)| Group { weight, classes: vec![(class, 1.0)], ordered: false };
            weights.into_iter().map(group).collect()
        };
        Some(Scheduler { tiers: vec![tier(high), tier(low)] })
    }
}
