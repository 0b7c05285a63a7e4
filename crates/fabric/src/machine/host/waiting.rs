//! Flows that wait for other flows: counted down when those are complete at the host, and started after that.
//!
//! All that a flow waits for happens at its own host, so a shard resolves its dependencies alone. Only the end of a flow
//! looks here, and only in a network in which flows wait.

use crate::build::places::Places;
use crate::describe::spec::NetworkSpec;
use crate::describe::workload::{Dependencies, Dependency, Milestone};
use crate::machine::host::flow::ACTIVITY;
use crate::machine::network::{Ctx, Network};
use crate::observe::probe::Probe;
use std::ops::Range;
use units::{Bytes, Span, Time};

/// A flow that waits, or has waited.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    /// Its position in [`Network::flows`].
    slot: u32,
    /// Number in the network.
    flow: u32,
    /// Dependencies that are not met.
    open: u32,
    /// When it may start by those that are.
    from: Time,
    started: Option<Time>,
}

units::state!(struct Waiter { fixed: slot, flow; plain: open, from, started; });

/// What a host sees of a flow.
type Event = (u32, Milestone);

/// That a flow waits for an event, and for some time after it.
#[derive(Clone, Copy, Debug)]
struct Edge {
    /// Position in [`WaitingFlows::waiters`].
    waiter: u32,
    delay: Span,
}

/// The flows of a shard that wait for others.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitingFlows {
    /// Ascending by slot.
    waiters: Vec<Waiter>,
    /// Ascending.
    events: Vec<Event>,
    /// Whether each has happened: a source may send its last frame twice.
    happened: Vec<bool>,
    /// Of each event the end of its part of `edges`, which begins where the one before ends.
    ends: Vec<u32>,
    edges: Vec<Edge>,
}

units::state!(struct WaitingFlows { fixed: events, ends, edges; lists: happened; parts: waiters; });

impl WaitingFlows {
    /// By shard: those of its flows that wait. Nothing if there are none.
    pub(crate) fn by_shard(spec: &NetworkSpec, places: &Places, shards: usize) -> Vec<Option<Box<WaitingFlows>>> {
        // Of each shard its waiting flows, as slot and number, and their edges, with the number of the waiting flow.
        let mut flows: Vec<Vec<(u32, u32)>> = vec![Vec::new(); shards];
        let mut edges: Vec<Vec<(Event, u32, Span)>> = vec![Vec::new(); shards];
        for Dependency { flow, awaited, delay, in_order } in spec.dependencies.iter() {
            let waiting = &spec.flows[flow as usize];
            let (shard, slot) = (places.home(waiting) as usize, places.source[flow as usize]);
            let own = &mut flows[shard];
            if own.last().is_none_or(|&(last, _)| last != slot) {
                own.push((slot, flow));
            }
            edges[shard].extend(awaited.iter().filter_map(|&other| {
                let seen = Dependencies::milestone(waiting, &spec.flows[other as usize], in_order)?;
                Some(((other, seen), slot, delay))
            }));
        }
        let both = flows.into_iter().zip(edges);
        both.map(|(flows, edges)| (!flows.is_empty()).then(|| Box::new(WaitingFlows::new(flows, edges)))).collect()
    }

    /// `flows` are slots and numbers, `edges` events, slots and delays.
    fn new(mut flows: Vec<(u32, u32)>, mut edges: Vec<(Event, u32, Span)>) -> WaitingFlows {
        flows.sort_unstable();
        edges.sort_unstable();
        let waiter = |(slot, flow)| Waiter { slot, flow, open: 0, from: Time::ZERO, started: None };
        let mut all = WaitingFlows { waiters: flows.into_iter().map(waiter).collect(), ..WaitingFlows::default() };
        for (end, (event, slot, delay)) in (1..).zip(edges) {
            if all.events.last() != Some(&event) {
                all.events.push(event);
                all.ends.push(end);
            }
            if let Some(last) = all.ends.last_mut() {
                *last = end;
            }
            let Some(waiter) = all.position(slot) else { continue };
            all.waiters[waiter].open += 1;
            all.edges.push(Edge { waiter: waiter as u32, delay });
        }
        all.happened = vec![false; all.events.len()];
        all
    }

    fn position(&self, slot: u32) -> Option<usize> {
        self.waiters.binary_search_by_key(&slot, |waiter| waiter.slot).ok()
    }

    /// An event happens: the part of `edges` that it concerns, if it is awaited and happens for the first time.
    fn happen(&mut self, event: Event) -> Option<Range<usize>> {
        let place = self.events.binary_search(&event).ok()?;
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        let edges = begin as usize..self.ends[place] as usize;
        (!std::mem::replace(&mut self.happened[place], true)).then_some(edges)
    }

    /// The event of an edge happens at that time. Returns the slot of its flow and the time from which that may start, if
    /// nothing else holds it.
    fn meet(&mut self, edge: usize, at: Time) -> Option<(u32, Time)> {
        let Edge { waiter, delay } = self.edges[edge];
        let waiter = &mut self.waiters[waiter as usize];
        waiter.open -= 1;
        waiter.from = waiter.from.max(at.saturating_add(delay));
        (waiter.open == 0).then_some((waiter.slot, waiter.from))
    }

    /// A flow starts, if it has not yet.
    fn note_start(&mut self, slot: u32, now: Time) {
        if let Some(place) = self.position(slot) {
            self.waiters[place].started.get_or_insert(now);
        }
    }

    /// When the flow of a slot started; `None` if it still waits.
    pub(crate) fn started(&self, slot: u32) -> Option<Time> {
        self.waiters[self.position(slot)?].started
    }

    /// The flows that wait for others to complete.
    pub(crate) fn held(&self) -> impl Iterator<Item = u32> {
        self.waiters.iter().filter(|waiter| waiter.open > 0).map(|waiter| waiter.flow)
    }

    /// The flows that others wait for.
    pub(crate) fn awaited(&self) -> impl Iterator<Item = u32> {
        self.events.iter().zip(&self.happened).filter(|(_, happened)| !**happened).map(|(&(flow, _), _)| flow)
    }
}

impl<P: Probe> Network<P> {
    /// A host sees that a flow is complete: its flows that waited for that may start.
    #[cold]
    pub(crate) fn complete(&mut self, at: Time, flow: u32, seen: Milestone, ctx: &mut Ctx) {
        let Some(edges) = self.waiting.as_mut().and_then(|waiting| waiting.happen((flow, seen))) else { return };
        for edge in edges {
            let Some((slot, from)) = self.waiting.as_mut().and_then(|waiting| waiting.meet(edge, at)) else { continue };
            let (host, start) = (self.host_of_flow(slot), self.plan.flows[self.number_of(slot) as usize].start);
            self.arm_flow_timer(host, slot, ACTIVITY, from.max(start), ctx);
        }
    }

    /// The last frame of a flow starts on the wire of its host.
    #[cold]
    pub(crate) fn last_frame_starts(&mut self, now: Time, p: u32, flow: u32, len: u16, ctx: &mut Ctx) {
        let mut wire = self.ports[p as usize].wire;
        let busy = wire.serialise(Bytes::new(u64::from(len)) + self.plan.overhead);
        self.complete(now + busy, flow, Milestone::Sent, ctx);
    }

    /// An acknowledgement has come back to a flow: it may have been the last. `complete` states whether a flow without
    /// recovery is, which its source may have given up because a later frame was acknowledged before.
    #[cold]
    pub(crate) fn note_acknowledged(&mut self, now: Time, slot: u32, complete: bool, ctx: &mut Ctx) {
        let reliable = self.flows.get(slot).and_then(|flow| flow.reliable.as_ref());
        if reliable.map_or(complete, |reliable| reliable.known.is_some()) {
            self.complete(now, self.number_of(slot), Milestone::Acknowledged, ctx);
        }
    }

    /// The activity of a flow changes: one that waited may start.
    pub(crate) fn on_activity(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        if let Some(waiting) = &mut self.waiting {
            waiting.note_start(slot, now);
        }
        self.make_flow(host, slot);
        self.switch_flow(now, host, slot, ctx);
    }
}
