//! Flows are made when they start, at the source, and when their first frame arrives, at the destination. They are given up
//! when nothing can happen to them any more: results take what is left of them.
//!
//! A flow is given up only where nobody can tell. A frame that comes later finds a source that ignores it, as one that is
//! done does; a destination is made again as it was. Flows that may be changed while they do not send have their state from
//! the beginning to the end: those of hosts with several links, those that share feedback, and those whose destinations
//! have receiving points of their own, at the destination.

use crate::build::column::Column;
use crate::build::path::alone;
use crate::describe::workload::{Destination, FlowSpec};
use crate::machine::frame::NIL;
use crate::machine::host::flow::{Flow, TIMERS};
use crate::machine::network::{Network, Received};
use crate::observe::probe::Probe;
use congestion::{Adapter, ReactionPoint};
use units::{Rate, Span, Time};

/// What the source of a flow knows of its way before it starts. Many flows share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Approach {
    /// The port by which its first frame leaves, as a position in the shard.
    pub(crate) port: u32,
    /// Links to the destination, and the product of the choices on the way.
    pub(crate) hops: u8,
    pub(crate) choices: u32,
    pub(crate) round_trip: Span,
    /// Rate of its link, or of all of them.
    pub(crate) link: Rate,
    /// How long a flow takes alone, without its bytes at that rate; see [`alone`].
    pub(crate) base: Span,
    pub(crate) slowest: Rate,
}

/// What is left of a flow at its source, if it is more than its size tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceRecord {
    pub(crate) made: u64,
    pub(crate) notices: u64,
    pub(crate) retransmitted_frames: u64,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) timeouts: u64,
    /// See [`FlowSummary::acknowledged`](crate::FlowSummary::acknowledged).
    pub(crate) known: Option<Time>,
}

engine::encoded!(struct SourceRecord { made, notices, retransmitted_frames, retransmitted_bytes, timeouts, known });

impl SourceRecord {
    pub(crate) fn of(flow: &Flow) -> SourceRecord {
        let mut record = SourceRecord { made: flow.made, notices: flow.notices, ..SourceRecord::default() };
        if let Some(reliable) = &flow.reliable {
            (record.retransmitted_frames, record.retransmitted_bytes) = (reliable.frames, reliable.bytes);
            (record.timeouts, record.known) = (reliable.timeouts, reliable.known);
        }
        record
    }

    /// Of a flow that has sent all it had, each frame once.
    fn usual(spec: &FlowSpec) -> SourceRecord {
        SourceRecord { made: spec.frames().unwrap_or(0), ..SourceRecord::default() }
    }
}

/// What is left of a flow at its destination, if it is more than its size and its completion tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SinkRecord {
    bytes: u64,
    frames: u64,
    marked: u64,
    out_of_order: u64,
    last: Time,
}

engine::encoded!(struct SinkRecord { bytes, frames, marked, out_of_order, last });

/// What is left of the flows of a shard that were given up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    /// By position in [`Network::flows`]: those that are not as usual.
    sources: std::collections::BTreeMap<u32, SourceRecord>,
    /// By position in [`Network::received`]: how long after its start a flow was complete, in picoseconds from 1; 0 if it was
    /// not given up.
    completed: Column,
    /// Those that are not as usual.
    sinks: std::collections::BTreeMap<u32, SinkRecord>,
}

units::state!(struct Records { plain: sources, sinks; parts: completed; });

impl Records {
    /// For so many destinations.
    pub(crate) fn new(sinks: usize) -> Records {
        Records { completed: Column::zeros(sinks), ..Records::default() }
    }

    /// When a flow with that start, which was given up at its destination, was complete.
    fn completed(&self, position: u32, start: Time) -> Option<Time> {
        Some(after(start, self.completed.get(position as usize).checked_sub(1)?))
    }

    fn complete(&mut self, position: u32, start: Time, completed: Time) {
        self.completed.set(position as usize, completed.saturating_since(start).as_picos() + 1);
    }
}

/// So many picoseconds after a start.
fn after(start: Time, picos: u64) -> Time {
    Time::from_picos(start.as_picos().saturating_add(picos))
}

impl Flow {
    /// A flow that starts by that approach.
    pub(crate) fn on<P: Probe>(
        network: &Network<P>,
        number: u32,
        host: u32,
        approach: &Approach,
        entropy: u32,
    ) -> Flow {
        let (plan, spec) = (&network.plan, &network.plan.flows[number as usize]);
        let adapter = Adapter {
            link: approach.link,
            frame: spec.frame,
            overhead: plan.overhead,
            seed: plan.seed,
            flow: number,
            round_trip: approach.round_trip,
            paths: approach.choices.max(1),
        };
        let mut flow = Flow::new(number, host, spec, entropy, &adapter);
        (flow.hops, flow.frame_time, flow.port) = (approach.hops, plan.frame_time, approach.port);
        flow.alone = alone(plan, spec, approach.base, approach.slowest).unwrap_or_default();
        flow
    }
}

/// Whether a flow is made when it starts, if its host has one link.
pub(crate) fn comes_and_goes(spec: &FlowSpec) -> bool {
    matches!(spec.destination, Destination::Host(_)) && !spec.reaction.shares_feedback()
}

impl<P: Probe> Network<P> {
    /// The number of a flow by its position at its source.
    #[inline]
    pub(crate) fn number_of(&self, slot: u32) -> u32 {
        self.places.sources[self.shard as usize][slot as usize]
    }

    /// The host at which a flow starts.
    pub(crate) fn host_of_flow(&self, slot: u32) -> u32 {
        self.hosts.partition_point(|host| host.first_flow <= slot) as u32 - 1
    }

    /// Whether the source of a flow has begun.
    pub(crate) fn started(&self, host: u32, slot: u32) -> Option<Time> {
        let state = &self.hosts[host as usize];
        let position = slot - state.first_flow;
        match &self.waiting {
            Some(waiting) if position >= state.scheduled => waiting.started(slot),
            _ => (position < state.started).then(|| self.plan.flows[self.number_of(slot) as usize].start),
        }
    }

    /// Whether a flow that does not exist was given up; if not, it has not started.
    pub(crate) fn is_over(&self, slot: u32) -> bool {
        self.started(self.host_of_flow(slot), slot).is_some()
    }

    /// A flow as it is before it starts; `None` if it exists.
    pub(crate) fn unstarted(&self, host: u32, slot: u32) -> Option<Flow> {
        let note = self.flows.note(slot)?;
        let number = self.number_of(slot);
        let approach = &self.approaches[note as usize];
        let mut flow = Flow::on(self, number, host, approach, self.plan.entropy(number));
        flow.approach = note;
        Some(flow)
    }

    /// How long a flow takes alone that does not exist.
    pub(crate) fn alone_of(&self, slot: u32) -> Option<Span> {
        let approach = &self.approaches[self.flows.note(slot)? as usize];
        alone(&self.plan, &self.plan.flows[self.number_of(slot) as usize], approach.base, approach.slowest)
    }

    /// A flow is about to start.
    pub(crate) fn make_flow(&mut self, host: u32, slot: u32) {
        if let Some(flow) = self.unstarted(host, slot) {
            self.flows.wake(slot, flow);
        }
    }

    /// Gives up a flow to which nothing can happen any more at its source.
    #[inline]
    pub(crate) fn give_up_if_done(&mut self, host: u32, slot: u32) {
        if self.flows.get(slot).is_some_and(|flow| flow.remaining == 0 && flow.approach != NIL) {
            self.give_up(host, slot);
        }
    }

    #[inline(never)]
    fn give_up(&mut self, host: u32, slot: u32) {
        let flow = &self.flows[slot as usize];
        let spec = &self.plan.flows[flow.number as usize];
        let state = &self.hosts[host as usize];
        let first = (slot - state.first_flow) * TIMERS;
        let awaits = spec.acknowledge.is_some() && flow.reliable.is_none() && flow.settled != flow.sent;
        // What becomes of the rate of a flow that is done can be recorded.
        let seen = !flow.plain && (self.probe.wants_rates() || self.probe.wants_causes());
        let comes_back = spec.requeue_oracle.is_some() || spec.path_probe.is_some();
        let keeps = flow.in_ring || flow.keeps_gap() || spec.reaction.pulling().is_some();
        let over = flow.is_done() && flow.backlogged == 0 && flow.lost.is_empty();
        if !over || awaits || seen || comes_back || keeps {
            return;
        }
        if (first..first + TIMERS).any(|timer| state.timers.time_of(timer).is_some()) {
            return;
        }
        let record = SourceRecord::of(flow);
        if record != SourceRecord::usual(spec) {
            self.records.sources.insert(slot, record);
        }
        let approach = flow.approach;
        self.flows.retire(slot, approach);
    }

    /// A notice has come to a source that was given up.
    pub(crate) fn record_notice(&mut self, slot: u32) {
        let usual = SourceRecord::usual(&self.plan.flows[self.number_of(slot) as usize]);
        self.records.sources.entry(slot).or_insert(usual).notices += 1;
    }

    /// What a source has done that was given up.
    pub(crate) fn source_record(&self, slot: u32) -> SourceRecord {
        let usual = || SourceRecord::usual(&self.plan.flows[self.number_of(slot) as usize]);
        self.records.sources.get(&slot).copied().unwrap_or_else(usual)
    }

    /// What the destination of a flow has seen that does not exist there; nothing if that is nothing.
    pub(crate) fn sink_record(&self, flow: u32, slot: u32) -> Option<Received> {
        let spec = &self.plan.flows[flow as usize];
        let completed = self.records.completed(slot, spec.start)?;
        let record = self.records.sinks.get(&slot).copied().unwrap_or_else(|| self.usual_sink(spec, completed));
        let SinkRecord { bytes, frames, marked, out_of_order, last } = record;
        let completed = Some(completed);
        Some(Received { bytes, frames, marked, out_of_order, last, completed, ..Received::of(spec) })
    }

    /// When the last frame arrived of flows that were given up.
    pub(crate) fn last_arrival(&self) -> Time {
        let start = |flow: u32| self.plan.flows[flow as usize].start;
        let over =
            self.places.sinks(self.shard).iter().zip(self.records.completed.iter()).filter(|(_, after)| *after > 0);
        let usual = over.map(|(&flow, picos)| after(start(flow), picos - 1)).max().unwrap_or(Time::ZERO);
        self.records.sinks.values().map(|record| record.last).fold(usual, Time::max)
    }

    /// What the destination of a complete flow has seen if nothing is remarkable.
    fn usual_sink(&self, spec: &FlowSpec, completed: Time) -> SinkRecord {
        let bytes = spec.padded_size(self.plan.smallest_frame).unwrap_or(0);
        SinkRecord { bytes, frames: spec.frames().unwrap_or(0), marked: 0, out_of_order: 0, last: completed }
    }

    /// A frame has come for a flow that does not exist at its destination: the first, or one after the last. Returns the place
    /// of its state.
    #[cold]
    pub(crate) fn make_received(&mut self, flow: u32, slot: u32) -> u32 {
        let spec = &self.plan.flows[flow as usize];
        let received = self.sink_record(flow, slot).unwrap_or_else(|| Received::of(spec));
        self.records.completed.set(slot as usize, 0);
        self.records.sinks.remove(&slot);
        self.received.wake(slot, received)
    }

    /// Gives up a flow that is complete at its destination.
    #[inline(never)]
    pub(crate) fn give_up_received(&mut self, flow: u32, slot: u32) {
        let Received { bytes, frames, marked, out_of_order, last, completed, unacknowledged, inbound, .. } =
            &self.received[slot as usize];
        let Some(completed) = completed.filter(|_| *unacknowledged == 0 && inbound.is_none()) else { return };
        let (out_of_order, last) = (*out_of_order, *last);
        let record = SinkRecord { bytes: *bytes, frames: *frames, marked: *marked, out_of_order, last };
        let (spec, start) = (&self.plan.flows[flow as usize], self.plan.flows[flow as usize].start);
        if record != self.usual_sink(spec, completed) {
            self.records.sinks.insert(slot, record);
        }
        self.records.complete(slot, start, completed);
        self.received.retire(slot, 0);
    }
}
