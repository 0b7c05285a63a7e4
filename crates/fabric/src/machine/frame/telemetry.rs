//! In-band telemetry: the stamps that frames carry.
//!
//! Few frames have any, so they are not in the frames: a table of the shard has a list for every place of the pool that
//! such a frame has ever had. A list is cleared when a frame with telemetry takes the place; other frames never look at
//! it. When a frame crosses to another shard, its stamps cross with it.

use super::Frame;
use crate::machine::network::Network;
use crate::observe::probe::Probe;
use congestion::{ReactionPoint, Stamp};
use units::{Bytes, Rate, Time};

/// A stamp in a form that can be sent to another process: time and queue, bytes sent and rate.
pub(crate) type Hop = ((Time, Bytes), (Bytes, Rate));

/// Returns the form of a stamp that can be sent.
pub(crate) fn hop(&Stamp { at, queue, sent, rate }: &Stamp) -> Hop {
    ((at, queue), (sent, rate))
}

/// Returns the stamp of that form.
pub(crate) fn stamp(((at, queue), (sent, rate)): Hop) -> Stamp {
    Stamp { at, queue, sent, rate }
}

/// The stamps of a shard's frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct Telemetry {
    /// By place in the pool.
    of_frames: Vec<Vec<Stamp>>,
    /// By flow that ends in the shard: the stamps of the latest frame.
    latest: Vec<Vec<Stamp>>,
}

engine::encoded!(struct Telemetry { of_frames, latest });

fn slot(lists: &mut Vec<Vec<Stamp>>, place: u32) -> &mut Vec<Stamp> {
    if lists.len() <= place as usize {
        lists.resize_with(place as usize + 1, Vec::new);
    }
    &mut lists[place as usize]
}

impl Telemetry {
    /// A frame with telemetry starts its way at that place.
    pub(crate) fn begin(&mut self, place: u32) {
        slot(&mut self.of_frames, place).clear();
    }

    /// A switch stamps a frame, if there is room.
    pub(crate) fn stamp(&mut self, place: u32, stamp: Stamp, most: u8) {
        let stamps = slot(&mut self.of_frames, place);
        if stamps.len() < usize::from(most) {
            stamps.push(stamp);
        }
    }

    /// The stamps of the frame at that place.
    pub(crate) fn of(&self, place: u32) -> &[Stamp] {
        self.of_frames.get(place as usize).map_or(&[], Vec::as_slice)
    }

    /// A frame from another shard has that place.
    pub(crate) fn put(&mut self, place: u32, hops: &[Hop]) {
        let stamps = slot(&mut self.of_frames, place);
        stamps.clear();
        stamps.extend(hops.iter().copied().map(stamp));
    }
}

impl<P: Probe> Network<P> {
    /// Whether there are stamps for a frame: it is data with telemetry, or acknowledges such data.
    pub(crate) fn is_stamped(&self, frame: &Frame) -> bool {
        let returns = || frame.acknowledges() && self.places.telemetry(&self.plan, frame.flow).is_some();
        frame.has_telemetry() || returns()
    }

    /// A frame starts on a wire: shows the probe its stamps and its selective blocks, which are not in the frame.
    #[cold]
    pub(crate) fn show_attachments(&mut self, place: u32) {
        let frame = &self.pool[place];
        let stamped = self.plan.telemetry && self.is_stamped(frame);
        let stamps = if stamped { self.telemetry.of(place) } else { &[] };
        let blocks = if frame.is_extended() { self.extensions.blocks(frame.extension()) } else { &[] };
        self.probe.on_attachments(stamps, blocks);
    }

    /// The stamps of a frame that leaves the shard; `None` if it is not to have any.
    #[cold]
    pub(crate) fn take_stamps(&mut self, place: u32, frame: &Frame) -> Option<Vec<Hop>> {
        self.is_stamped(frame).then(|| self.telemetry.of(place).iter().map(hop).collect())
    }

    /// A host makes an acknowledgement: it returns the stamps of the latest frame, which make it longer.
    pub(crate) fn enlarge_by_telemetry(&mut self, frame: &mut Frame) {
        if let Some(telemetry) = self.plan.flows[frame.flow as usize].telemetry.filter(|_| frame.acknowledges()) {
            frame.len += telemetry.size.get() as u16;
            self.totals.control_bytes += telemetry.size.get();
        }
    }

    /// That acknowledgement has a place.
    pub(crate) fn return_stamps(&mut self, place: u32) {
        if self.is_stamped(&self.pool[place]) {
            let of_flow = self.places.sink[self.pool[place].flow as usize];
            let Telemetry { of_frames, latest } = &mut self.telemetry;
            slot(of_frames, place).clone_from(slot(latest, of_flow));
        }
    }

    /// A frame reaches the host that consumes it: stamps of data wait for the next acknowledgement, returned ones are for
    /// the reaction point of the flow.
    #[inline(never)]
    pub(crate) fn consume_stamps(&mut self, now: Time, place: u32) {
        let frame = self.pool[place];
        if frame.has_telemetry() {
            let of_flow = self.places.sink[frame.flow as usize];
            let Telemetry { of_frames, latest } = &mut self.telemetry;
            std::mem::swap(slot(latest, of_flow), slot(of_frames, place));
        } else if self.is_stamped(&frame) {
            let of_flow = self.slot_of(frame.flow);
            if let Some(flow) = self.flows.get_mut(of_flow) {
                flow.reaction.on_telemetry(now, self.telemetry.of(place));
            }
        }
    }
}
