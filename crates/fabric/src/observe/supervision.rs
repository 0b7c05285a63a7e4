//! Supervision as a map over shards and a reduce: what one rank knows of its shards, and how that adds up to the whole.
//!
//! Everything here is called by all ranks of a run at the same place. A run in one process is the same with one rank.

use crate::machine::network::{Gone, Network, Received};
use crate::machine::simulation::FlowSummary;
use crate::observe::outcome::{Loss, Totals};
use crate::observe::probe::Probe;
use crate::observe::watchdog::Movement;
use engine::{Encode, Fingerprint, Ranks, announce, reduce};

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
            movement: Movement {
                stuck: sum.movement.stuck | part.movement.stuck,
                some: sum.movement.some | part.movement.some,
            },
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
    made: u64,
    notices: u64,
    received: Received,
    gone: Gone,
}

engine::encoded!(struct FlowPart { size, made, notices, received, gone });

impl FlowPart {
    fn add(&mut self, other: &FlowPart) {
        let FlowPart { size, made, notices, received, gone } = other;
        self.size = self.size.or(*size);
        self.made += made;
        self.notices += notices;
        self.received.bytes += received.bytes;
        self.received.frames += received.frames;
        self.received.marked += received.marked;
        self.received.completed = self.received.completed.or(received.completed);
        self.received.last = self.received.last.max(received.last);
        self.gone.frames += gone.frames;
        self.gone.bytes += gone.bytes;
        self.gone.last = self.gone.last.max(gone.last);
    }

    fn summary(&self) -> FlowSummary {
        let FlowPart { size, made, notices, received, gone } = self;
        let nothing_left = size.is_some_and(|size| received.bytes + gone.bytes >= size);
        FlowSummary {
            made_frames: *made,
            received_bytes: received.bytes,
            received_frames: received.frames,
            marked_frames: received.marked,
            notices: *notices,
            completed: received.completed,
            last_received: received.last,
            lost_frames: gone.frames,
            ended: received.completed.or(nothing_left.then(|| received.last.max(gone.last))),
        }
    }
}

/// What became of each of so many flows: all of them on the first rank, nothing on the others.
pub(crate) fn flow_summaries<P: Probe>(
    ranks: &mut dyn Ranks,
    models: &[&Network<P>],
    flows: usize,
) -> Vec<FlowSummary> {
    let mut all: Vec<FlowPart> = Vec::new();
    let mut parcel = Vec::new();
    if ranks.rank() == 0 {
        all = vec![FlowPart::default(); flows];
        each_part(models, |flow, part| all[flow as usize].add(&part));
    } else {
        each_part(models, |flow, part| (flow, part).encode(&mut parcel));
    }
    for bytes in ranks.gather(parcel) {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (flow, part) = <(u32, FlowPart)>::decode(&mut rest).expect("a message between ranks is damaged");
            all[flow as usize].add(&part);
        }
    }
    all.iter().map(FlowPart::summary).collect()
}

/// Shows what the shards know of each flow, in pieces.
fn each_part<P: Probe>(models: &[&Network<P>], mut show: impl FnMut(u32, FlowPart)) {
    for model in models {
        for flow in &model.flows {
            let size = model.plan.flows[flow.number as usize].size.map(units::Bytes::get);
            show(flow.number, FlowPart { size, made: flow.made, notices: flow.notices, ..FlowPart::default() });
        }
        for (&flow, &received) in model.places.sinks(model.shard).iter().zip(&model.received) {
            if received.frames > 0 {
                show(flow, FlowPart { received, ..FlowPart::default() });
            }
        }
        for (&flow, &gone) in &model.gone {
            show(flow, FlowPart { gone, ..FlowPart::default() });
        }
    }
}
