//! Supervision as a map over shards and a reduce: what one rank knows of its shards, and how that adds up to the whole.
//!
//! Everything here is called by all ranks of a run at the same place. A run in one process is the same with one rank.

use crate::describe::workload::FlowList;
use crate::machine::host::lifetime::SourceRecord;
use crate::machine::network::{Gone, Network, Received};
use crate::observe::flow_summaries::FlowSummaries;
use crate::observe::flow_summary::FlowSummary;
use crate::observe::outcome::{Loss, Totals};
use crate::observe::probe::Probe;
use crate::observe::watchdog::Movement;
use engine::{Encode, Fingerprint, Ranks, announce, reduce};
use std::collections::BTreeMap;
use units::Time;

/// What an inspection sees of a rank, or of all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Alarms fired, without samples.
    pub(crate) events: u64,
    /// Frames that crossed a cable.
    pub(crate) hops: u64,
    /// The earliest loss in a lossless class.
    pub(crate) lost: Option<Loss>,
    pub(crate) movement: Movement,
}

engine::encoded!(struct Seen { events, hops, lost, movement });

impl Seen {
    /// Of some shards, in which so many alarms have fired. Nothing is said of movement.
    pub(crate) fn of<P: Probe>(models: &[&Network<P>], fired: u64) -> Seen {
        Seen {
            events: fired - models.iter().map(|model| model.samples).sum::<u64>(),
            hops: models.iter().map(|model| model.totals.hops).sum(),
            lost: earliest_loss(models.iter().copied()),
            movement: Movement::default(),
        }
    }

    /// Of all ranks.
    pub(crate) fn everywhere(self, ranks: &mut dyn Ranks) -> Seen {
        let parts = ranks.share(self.to_bytes());
        parts.iter().map(|bytes| Seen::from_bytes(bytes)).fold(Seen::default(), |sum, part| Seen {
            events: sum.events + part.events,
            hops: sum.hops + part.hops,
            lost: sum.lost.into_iter().chain(part.lost).min_by_key(|loss| (loss.at, loss.port)),
            movement: sum.movement.and(part.movement),
        })
    }
}

/// The first loss in the order (time, port).
pub(crate) fn earliest_loss<'a, P: Probe + 'a>(models: impl Iterator<Item = &'a Network<P>>) -> Option<Loss> {
    models.filter_map(|model| model.loss).min_by_key(|loss| (loss.at, loss.port))
}

/// The sums of all ranks.
pub(crate) fn totals<'a, P: Probe + 'a>(ranks: &mut dyn Ranks, models: impl Iterator<Item = &'a Network<P>>) -> Totals {
    let mut own = Totals::default();
    models.for_each(|model| own.add(&model.totals));
    let mut sum = Totals::default();
    ranks.share(own.to_bytes()).iter().for_each(|bytes| sum.add(&Totals::from_bytes(bytes)));
    sum
}

/// The samples that all ranks have taken: alarms that are no events.
pub(crate) fn samples<'a, P: Probe + 'a>(ranks: &mut dyn Ranks, models: impl Iterator<Item = &'a Network<P>>) -> u64 {
    let own: u64 = models.map(|model| model.samples).sum();
    ranks.share(own.to_bytes()).iter().map(|bytes| u64::from_bytes(bytes)).sum()
}

/// The fingerprint of a network: those of its nodes in node order. `members` are the nodes of each shard.
pub(crate) fn fingerprint<'a, P: Probe + 'a>(
    ranks: &mut dyn Ranks,
    models: impl Iterator<Item = &'a Network<P>>,
    members: &[Vec<u32>],
) -> u64 {
    let values = models.zip(members).flat_map(|(model, members)| {
        members.iter().zip(&model.fingerprints).map(|(&node, fingerprint)| (node, fingerprint.value()))
    });
    let all = reduce(ranks, values.collect::<Vec<(u32, u64)>>(), |all, mut more| all.append(&mut more));
    let combined = all.map(|mut all| {
        all.sort_unstable_by_key(|&(node, _)| node);
        let mut combined = Fingerprint::default();
        all.iter().for_each(|&(_, value)| combined.fold(value));
        combined.value()
    });
    announce(ranks, combined)
}

/// What became of each flow: all of them on the first rank, nothing on the others.
pub(crate) fn flow_summaries<P: Probe>(
    ranks: &mut dyn Ranks,
    models: &[&Network<P>],
    flows: &FlowList,
) -> FlowSummaries {
    let smallest = models.first().map_or(0, |model| model.plan.smallest_frame);
    let own: Vec<(u32, Gone)> =
        models.iter().flat_map(|model| &model.gone).map(|(&flow, &gone)| (flow, gone)).collect();
    let gone = reduce(ranks, own, |all, mut more| all.append(&mut more));
    let mut parts =
        FlowParts { summaries: FlowSummaries::unknown(flows.clone(), smallest), flows, gone: BTreeMap::new() };
    gone.into_iter().flatten().for_each(|(flow, gone)| parts.lose(flow, &gone));
    // With its source first, a flow that did as described never differs from it.
    parts.add(ranks, |show| models.iter().for_each(|model| each_source(model, show)));
    parts.add(ranks, |show| models.iter().for_each(|model| each_sink(model, show)));
    parts.summaries
}

/// What is known of all flows so far, from some of the shards.
struct FlowParts<'a> {
    summaries: FlowSummaries,
    flows: &'a FlowList,
    /// What was lost of some flows.
    gone: BTreeMap<u32, Gone>,
}

impl FlowParts<'_> {
    /// Frames of a flow were lost somewhere.
    fn lose(&mut self, flow: u32, gone: &Gone) {
        let all = self.gone.entry(flow).or_default();
        all.frames += gone.frames;
        all.bytes += gone.bytes;
        all.last = all.last.max(gone.last);
    }

    /// Adds the parts that the shards of all ranks show.
    fn add(&mut self, ranks: &mut dyn Ranks, each: impl Fn(&mut dyn FnMut(u32, FlowSummary))) {
        let mut parcel = Vec::new();
        if ranks.rank() == 0 {
            each(&mut |flow, part| self.add_part(flow, &part));
        } else {
            each(&mut |flow, part| (flow, part).encode(&mut parcel));
        }
        for bytes in ranks.gather(parcel) {
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (flow, part) = Encode::decode(&mut rest).expect("a message between ranks is damaged");
                self.add_part(flow, &part);
            }
        }
    }

    fn add_part(&mut self, flow: u32, part: &FlowSummary) {
        let Some(mut sum) = self.summaries.get(flow as usize) else { return };
        sum.add(part);
        let size = self.flows.get(flow as usize).and_then(|spec| spec.size).map_or(u64::MAX, units::Bytes::get);
        let gone = self.gone.get(&flow).copied().unwrap_or_default();
        let nothing_left = sum.received_bytes + gone.bytes >= size;
        sum.lost_frames = gone.frames;
        sum.ended = sum.completed.or(nothing_left.then(|| sum.last_received.max(gone.last)));
        self.summaries.set(flow as usize, &sum);
    }
}

/// Shows what the sources in a shard know of their flows.
fn each_source<P: Probe>(model: &Network<P>, show: &mut dyn FnMut(u32, FlowSummary)) {
    for (host, state) in (0..).zip(&model.hosts) {
        for slot in state.first_flow..state.first_flow + state.flows {
            let number = model.number_of(slot);
            show(number, at_source(model, number, slot, model.started(host, slot)));
        }
    }
}

/// What the source of a flow knows of it.
fn at_source<P: Probe>(model: &Network<P>, number: u32, slot: u32, started: Option<Time>) -> FlowSummary {
    let (alone, record) = match model.flows.get(slot) {
        Some(flow) => (Some(flow.alone), SourceRecord::of(flow)),
        None if started.is_some() => (model.alone_of(slot), model.source_record(slot)),
        None => (model.alone_of(slot), SourceRecord::default()),
    };
    FlowSummary {
        started,
        made_frames: record.made,
        notices: record.notices,
        retransmitted_frames: record.retransmitted_frames,
        retransmitted_bytes: record.retransmitted_bytes,
        timeouts: record.timeouts,
        acknowledged: record.known,
        until_known: model.plan.flows[number as usize].is_reliable(),
        alone: alone.filter(|alone| *alone > units::Span::ZERO),
        ..FlowSummary::default()
    }
}

/// Shows what the destinations in a shard have seen.
fn each_sink<P: Probe>(model: &Network<P>, show: &mut dyn FnMut(u32, FlowSummary)) {
    for (slot, &flow) in (0..).zip(model.places.sinks(model.shard)) {
        let over = model.sink_record(flow, slot);
        let received = model.received.get(slot).or(over.as_ref());
        if let Some(received) = received.filter(|it| it.frames > 0 || it.inbound.is_some()) {
            show(flow, at_sink(received));
        }
    }
}

/// What the destination of a flow has seen of it.
fn at_sink(received: &Received) -> FlowSummary {
    let mut summary = FlowSummary {
        received_bytes: received.bytes,
        received_frames: received.frames,
        marked_frames: received.marked,
        completed: received.completed,
        last_received: received.last,
        out_of_order_frames: received.out_of_order,
        ..FlowSummary::default()
    };
    if let Some(inbound) = &received.inbound {
        summary.negative_acknowledgements = inbound.negative;
        (summary.duplicate_frames, summary.duplicate_bytes) = (inbound.duplicates, inbound.duplicate_bytes);
        (summary.late_frames, summary.late_bytes) = (inbound.late, inbound.late_bytes);
        (summary.rejected_frames, summary.rejected_bytes) = (inbound.rejected, inbound.rejected_bytes);
        summary.out_of_order_frames = inbound.out_of_order;
        summary.congestion_notifications = inbound.notifications;
    }
    summary
}
