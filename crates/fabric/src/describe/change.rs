//! Changes to a network that runs: which parts of its description may become others.
//!
//! Thresholds of buffers, parameters of congestion control and of loss recovery, rates of paced sources, and failures of
//! links that are to come. Everything else determines the shape of the state, or what has happened.

use crate::describe::spec::{
    AdapterSpec, Buffer, ClassBuffer, CongestionPointSpec, NetworkSpec, RouteChange, SwitchSpec,
};
use crate::describe::workload::{FlowProfile, FlowSpec, Pattern};
use congestion::{Point, Reaction, ReactionPoint};
use std::collections::BTreeSet;
use std::mem::discriminant;
use std::sync::Arc;
use units::Time;

impl NetworkSpec {
    /// Returns the part that a running network cannot change, if it is not the same in `new`. The network has reached `now`.
    #[must_use]
    pub fn unchangeable(&self, new: &NetworkSpec, now: Time) -> Option<&'static str> {
        let NetworkSpec {
            graph,
            routes,
            route_changes,
            multipath,
            classes,
            switches,
            adapters,
            kind_of,
            ports,
            overhead,
            smallest_frame,
            frame_time,
            flows,
            path_numbers,
            dependencies,
            faults,
            end: _,
            seed,
        } = self;
        let fixed = [
            (*graph != new.graph, "nodes or links"),
            (*routes != new.routes, "routes"),
            (*multipath != new.multipath, "the choice among paths"),
            (*classes != new.classes, "classes"),
            (*kind_of != new.kind_of, "types of switches and adapters"),
            (*ports != new.ports, "settings of single ports"),
            ((*overhead, *smallest_frame, *frame_time) != (new.overhead, new.smallest_frame, new.frame_time), "frames"),
            (*path_numbers != new.path_numbers, "paths of flows"),
            (*dependencies != new.dependencies, "dependencies of flows"),
            (*seed != new.seed, "the seed"),
        ];
        if let Some((_, what)) = fixed.into_iter().find(|(differs, _)| *differs) {
            return Some(what);
        }
        let past = |spec: &NetworkSpec| -> BTreeSet<(Time, u32, bool)> {
            let events = spec
                .faults
                .iter()
                .flat_map(|fault| [Some((fault.down, fault.cable, false)), fault.up.map(|up| (up, fault.cable, true))]);
            events.flatten().filter(|&(at, ..)| at <= now).collect()
        };
        if *faults != new.faults && past(self) != past(new) {
            return Some("failures of links that have happened");
        }
        let begun = |spec: &NetworkSpec| spec.route_changes.iter().filter(|change| first(change) <= now).count();
        let (old_begun, new_begun) = (begun(self), begun(new));
        if old_begun != new_begun || route_changes[..old_begun] != new.route_changes[..new_begun] {
            return Some("changes of routes that have begun");
        }
        let both = switches.iter().zip(&new.switches);
        if switches.len() != new.switches.len() || !both.into_iter().all(|(old, new)| switch_may(old, new)) {
            return Some("queueing, buffers or flow control of a switch beyond thresholds and parameters");
        }
        let both = adapters.iter().zip(&new.adapters);
        if adapters.len() != new.adapters.len() || !both.into_iter().all(|(old, new)| adapter_may(old, new)) {
            return Some("adapters beyond thresholds");
        }
        if flows.len() != new.flows.len() {
            return Some("the number of flows");
        }
        let mut known = BTreeSet::new();
        flows.iter().zip(&new.flows).find_map(|(old, new)| flow_differs(old, new, &mut known))
    }
}

/// When a change of routes holds at the first switch.
fn first(change: &RouteChange) -> Time {
    change.switches.iter().map(|&(_, at)| at).min().unwrap_or(change.at)
}

fn buffers_may(old: &[ClassBuffer], new: &[ClassBuffer]) -> bool {
    // The room itself stays.
    let same = |(old, new): (&ClassBuffer, &ClassBuffer)| (old.capacity, old.frames) == (new.capacity, new.frames);
    old.len() == new.len() && old.iter().zip(new).all(same)
}

fn switch_may(old: &SwitchSpec, new: &SwitchSpec) -> bool {
    let buffers = match (&old.buffer, &new.buffer) {
        (Buffer::Static(old), Buffer::Static(new)) => buffers_may(old, new),
        (Buffer::Shared { total, classes, .. }, Buffer::Shared { total: new_total, classes: new, .. }) => {
            total == new_total && buffers_may(classes, new)
        }
        _ => false,
    };
    let points = match (&old.congestion_point, &new.congestion_point) {
        (Some(old), Some(new)) => {
            let same = CongestionPointSpec { point: new.point.clone(), ..old.clone() } == *new;
            same && match (&old.point, &new.point) {
                (Some(old), Some(new)) => point_may(old, new),
                (old, new) => old.is_none() && new.is_none(),
            }
        }
        (old, new) => old.is_none() && new.is_none(),
    };
    let rest = SwitchSpec { buffer: new.buffer.clone(), congestion_point: new.congestion_point.clone(), ..old.clone() };
    buffers && points && rest == *new
}

fn point_may(old: &Point, new: &Point) -> bool {
    match (old, new) {
        (Point::Custom(_), _) => false,
        (Point::ByClass(old), Point::ByClass(new)) => {
            let (old, new) = (old.parts(), new.parts());
            let same = |((classes, old), (others, new)): (&(u8, Point), &(u8, Point))| {
                classes == others && point_may(old, new)
            };
            old.len() == new.len() && old.iter().zip(new).all(same)
        }
        _ => discriminant(old) == discriminant(new),
    }
}

fn adapter_may(old: &AdapterSpec, new: &AdapterSpec) -> bool {
    buffers_may(&old.buffer, &new.buffer) && AdapterSpec { buffer: new.buffer.clone(), ..old.clone() } == *new
}

/// `known` are pairs of profiles that were compared.
fn flow_differs(
    old: &FlowSpec,
    new: &FlowSpec,
    known: &mut BTreeSet<(*const FlowProfile, *const FlowProfile)>,
) -> Option<&'static str> {
    let ends = |flow: &FlowSpec| (flow.source, flow.class, flow.tree, flow.start, flow.size);
    if ends(old) != ends(new) || old.destination != new.destination {
        return Some("ends, starts or sizes of flows");
    }
    let pair = (Arc::as_ptr(&old.profile), Arc::as_ptr(&new.profile));
    if pair.0 == pair.1 || !known.insert(pair) {
        return None;
    }
    if old.hosts() != new.hosts() {
        return Some("ends, starts or sizes of flows");
    }
    let same_pattern = match (&old.pattern, &new.pattern) {
        (Pattern::Paced { gaps, backlog, .. }, Pattern::Paced { gaps: new_gaps, backlog: new_backlog, .. }) => {
            gaps == new_gaps && backlog == new_backlog
        }
        (old, new) => old == new,
    };
    if !same_pattern {
        return Some("how a workload makes frames, beyond its rate");
    }
    let rest = |flow: &FlowProfile| {
        let notify = flow.notify.map(|how| (how.size, how.class));
        let replies = (flow.acknowledge, notify, flow.pull, flow.path_probe, flow.telemetry);
        ((flow.stop, flow.frame, flow.headers, flow.activity), replies, (flow.requeue_oracle, flow.via))
    };
    if rest(old) != rest(new) {
        return Some("frames, activity, acknowledgements or paths of a workload");
    }
    let kinds = |flow: &FlowProfile| {
        let recovery = flow.recovery.as_ref();
        recovery.map(|it| (it.sender.as_ref().map(discriminant), discriminant(&it.receiver)))
    };
    if kinds(old) != kinds(new) {
        return Some("the loss recovery of a workload");
    }
    let selection = |flow: &FlowProfile| flow.path_selection.as_ref().map(|selection| discriminant(&**selection));
    if selection(old) != selection(new) {
        return Some("the path selection of a workload");
    }
    reaction_differs(&old.reaction, &new.reaction)
}

fn reaction_differs(old: &Reaction, new: &Reaction) -> Option<&'static str> {
    // What the network does for a protocol follows from these.
    let needs = |it: &Reaction| {
        let wishes =
            (it.wants_telemetry(), it.wants_notifications(), it.heeds_acknowledgements(), it.wants_host_delay());
        (wishes, it.pulling().is_some(), it.path_probes(), (it.tags(), it.tag_size(), it.shares_feedback()))
    };
    let same = discriminant(old) == discriminant(new) && needs(old) == needs(new);
    (!same || matches!(old, Reaction::Custom(_))).then_some("the protocol of a workload, beyond its parameters")
}
