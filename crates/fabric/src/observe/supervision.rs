//! Supervision as a map over shards and a reduce: what one rank knows of its shards, and how that adds up to the whole.
//!
//! Everything here is called by all ranks of a run at the same place. A run in one process is the same with one rank.

use crate::machine::host::lifetime::SourceRecord;
use crate::machine::network::{Gone, Network, Received};
use crate::machine::simulation::FlowSummary;
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

/// What some shards know of a flow: its source, some of its destinations, or where frames of it were lost.
#[derive(Clone, Copy, Debug, Default)]
struct FlowPart {
    size: Option<u64>,
    gone: Gone,
    /// Nothing is said of lost frames and of the end.
    summary: FlowSummary,
}

engine::encoded!(struct FlowPart { size, gone, summary });

/// What all shards know of all flows. There may be millions, so that what most do not need is kept apart.
struct FlowParts {
    /// Sums of their parts.
    summaries: Vec<FlowSummary>,
    /// Sizes of finite flows; [`u64::MAX`] if they have none.
    sizes: Vec<u64>,
    /// Those with lost frames.
    gone: BTreeMap<u32, Gone>,
}

impl FlowPart {
    /// At the source.
    fn of_source<P: Probe>(model: &Network<P>, number: u32, slot: u32, started: Option<Time>) -> FlowPart {
        let spec = &model.plan.flows[number as usize];
        let (alone, record) = match model.flows.get(slot) {
            Some(flow) => (Some(flow.alone), SourceRecord::of(flow)),
            None if started.is_some() => (model.alone_of(slot), model.source_record(slot)),
            None => (model.alone_of(slot), SourceRecord::default()),
        };
        let summary = FlowSummary {
            started,
            made_frames: record.made,
            notices: record.notices,
            retransmitted_frames: record.retransmitted_frames,
            retransmitted_bytes: record.retransmitted_bytes,
            timeouts: record.timeouts,
            acknowledged: record.known,
            until_known: spec.is_reliable(),
            alone: alone.filter(|alone| *alone > units::Span::ZERO),
            ..FlowSummary::default()
        };
        FlowPart { size: spec.size.map(units::Bytes::get), summary, ..FlowPart::default() }
    }

    /// At a destination.
    fn of_sink(received: &Received) -> FlowPart {
        let mut summary = FlowSummary {
            received_bytes: received.bytes,
            received_frames: received.frames,
            marked_frames: received.marked,
            completed: received.completed,
            last_received: received.last,
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
        FlowPart { summary, ..FlowPart::default() }
    }
}

impl FlowParts {
    fn new(flows: usize) -> FlowParts {
        FlowParts {
            summaries: vec![FlowSummary::default(); flows],
            sizes: vec![u64::MAX; flows],
            gone: BTreeMap::new(),
        }
    }

    fn add(&mut self, flow: u32, FlowPart { size, gone, summary: other }: &FlowPart) {
        if let Some(size) = size {
            self.sizes[flow as usize] = *size;
        }
        if gone.frames > 0 {
            let all = self.gone.entry(flow).or_default();
            all.frames += gone.frames;
            all.bytes += gone.bytes;
            all.last = all.last.max(gone.last);
        }
        let FlowSummary {
            started,
            made_frames,
            received_bytes,
            received_frames,
            marked_frames,
            notices,
            completed,
            last_received,
            lost_frames: _,
            retransmitted_frames,
            retransmitted_bytes,
            timeouts,
            negative_acknowledgements,
            duplicate_frames,
            duplicate_bytes,
            late_frames,
            late_bytes,
            rejected_frames,
            rejected_bytes,
            out_of_order_frames,
            congestion_notifications,
            acknowledged,
            alone,
            until_known,
            ended: _,
        } = other;
        let sum = &mut self.summaries[flow as usize];
        sum.started = sum.started.or(*started);
        sum.made_frames += made_frames;
        sum.received_bytes += received_bytes;
        sum.received_frames += received_frames;
        sum.marked_frames += marked_frames;
        sum.notices += notices;
        sum.completed = sum.completed.or(*completed);
        sum.last_received = sum.last_received.max(*last_received);
        sum.retransmitted_frames += retransmitted_frames;
        sum.retransmitted_bytes += retransmitted_bytes;
        sum.timeouts += timeouts;
        sum.negative_acknowledgements += negative_acknowledgements;
        sum.duplicate_frames += duplicate_frames;
        sum.duplicate_bytes += duplicate_bytes;
        sum.late_frames += late_frames;
        sum.late_bytes += late_bytes;
        sum.rejected_frames += rejected_frames;
        sum.rejected_bytes += rejected_bytes;
        sum.out_of_order_frames += out_of_order_frames;
        sum.congestion_notifications += congestion_notifications;
        sum.acknowledged = sum.acknowledged.or(*acknowledged);
        sum.alone = sum.alone.or(*alone);
        sum.until_known |= until_known;
    }

    /// The whole, when all parts are added.
    fn finish(mut self) -> Vec<FlowSummary> {
        for ((flow, summary), &size) in (0..).zip(&mut self.summaries).zip(&self.sizes) {
            let gone = self.gone.get(&flow).copied().unwrap_or_default();
            let nothing_left = summary.received_bytes + gone.bytes >= size;
            summary.lost_frames = gone.frames;
            summary.ended = summary.completed.or(nothing_left.then(|| summary.last_received.max(gone.last)));
        }
        self.summaries
    }
}

/// What became of each of so many flows: all of them on the first rank, nothing on the others.
pub(crate) fn flow_summaries<P: Probe>(
    ranks: &mut dyn Ranks,
    models: &[&Network<P>],
    flows: usize,
) -> Vec<FlowSummary> {
    let first = ranks.rank() == 0;
    let mut all = FlowParts::new(if first { flows } else { 0 });
    let mut parcel = Vec::new();
    if first {
        each_part(models, |flow, part| all.add(flow, &part));
    } else {
        each_part(models, |flow, part| (flow, part).encode(&mut parcel));
    }
    for bytes in ranks.gather(parcel) {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (flow, part) = <(u32, FlowPart)>::decode(&mut rest).expect("a message between ranks is damaged");
            all.add(flow, &part);
        }
    }
    all.finish()
}

/// Shows what the shards know of each flow, in pieces.
fn each_part<P: Probe>(models: &[&Network<P>], mut show: impl FnMut(u32, FlowPart)) {
    for model in models {
        for (host, state) in (0..).zip(&model.hosts) {
            for slot in state.first_flow..state.first_flow + state.flows {
                let number = model.number_of(slot);
                show(number, FlowPart::of_source(model, number, slot, model.started(host, slot)));
            }
        }
        for (slot, &flow) in (0..).zip(model.places.sinks(model.shard)) {
            let over = model.sink_record(flow, slot);
            let received = model.received.get(slot).or(over.as_ref());
            if let Some(received) = received.filter(|it| it.frames > 0 || it.inbound.is_some()) {
                show(flow, FlowPart::of_sink(received));
            }
        }
        for (&flow, &gone) in &model.gone {
            show(flow, FlowPart { gone, ..FlowPart::default() });
        }
    }
}
