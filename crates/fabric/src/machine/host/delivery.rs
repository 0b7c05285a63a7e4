//! What a host does with a frame that it consumes: count, complete, acknowledge.

use crate::describe::workload::Milestone;
use crate::machine::frame::{Content, Frame, Kind, LAST, MARKED, Segment};
use crate::machine::network::{Ctx, Network};
use crate::observe::probe::Probe;
use congestion::ReactionPoint;
use units::Time;

impl<P: Probe> Network<P> {
    /// The host's application takes a frame.
    #[inline]
    pub(crate) fn consume(&mut self, now: Time, p: u32, host: u32, place: u32, ctx: &mut Ctx) {
        if self.plan.telemetry {
            self.consume_stamps(now, place);
        }
        let mut frame = self.pool.take(place);
        frame.len = self.payload(&frame);
        if frame.kind == Kind::Data {
            return self.deliver(now, p, host, &frame, ctx);
        }
        self.consume_control(now, p, &frame, ctx);
    }

    /// The adapter takes a frame that is for itself.
    #[inline(never)]
    fn consume_control(&mut self, now: Time, p: u32, frame: &Frame, ctx: &mut Ctx) {
        match frame.content() {
            Content::Acknowledgement(segment) => self.acknowledged(now, frame, segment, ctx),
            Content::Notice(notice) => self.noticed(now, frame.flow, notice, ctx),
            Content::Probe(inquiry) => self.answer(now, p, frame, inquiry, ctx),
            Content::Answer(inquiry) => self.answered(now, frame.flow, inquiry, ctx),
            Content::Trimmed(_) => self.take_in_header(now, p, frame, ctx),
            Content::CumulativeAcknowledgement(_)
            | Content::NegativeAcknowledgement(_)
            | Content::TrimmedAcknowledgement(_) => self.replied(now, frame, ctx),
            Content::CongestionNotification => self.notified(now, frame.flow, ctx),
            Content::Pull(total) => self.pulled(now, frame.flow, total, ctx),
            Content::Returned(segment) => self.came_back(now, frame.flow, segment.seq, ctx),
            Content::Data(_) | Content::Pause(_) | Content::Credit(_) | Content::Receipt => {}
        }
    }

    #[inline]
    fn deliver(&mut self, now: Time, p: u32, host: u32, frame: &Frame, ctx: &mut Ctx) {
        let slot = self.places.sink[frame.flow as usize];
        let place = match self.received.place(slot) {
            Some(place) => place,
            None => self.make_received(frame.flow, slot),
        };
        let received = self.received.at(place);
        if received.inbound.is_some() {
            return self.take_in(now, p, host, place, frame, ctx);
        }
        if received.is_late(frame.seq()) {
            self.totals.out_of_order_frames += 1;
        }
        if self.count_delivery(now, host, place, frame, ctx) {
            self.follow_up(now, p, slot, frame, ctx);
        }
    }

    /// A frame was delivered that is acknowledged, or that is the last of its flow.
    #[inline(never)]
    fn follow_up(&mut self, now: Time, p: u32, slot: u32, frame: &Frame, ctx: &mut Ctx) {
        if self.received[slot as usize].acknowledged {
            self.acknowledge(now, p, slot, frame, ctx);
        }
        self.give_up_received(frame.flow, slot);
    }

    /// Counts a frame that is delivered to the flow at that place. Returns whether it is acknowledged here, or its flow is
    /// complete.
    #[inline(always)]
    pub(crate) fn count_delivery(&mut self, now: Time, host: u32, place: u32, frame: &Frame, ctx: &mut Ctx) -> bool {
        self.totals.delivered_frames += 1;
        self.totals.delivered_bytes += u64::from(frame.len);
        self.probe.on_deliver(now, self.hosts[host as usize].number, frame);
        let received = self.received.at(place);
        received.bytes += u64::from(frame.len);
        received.frames += 1;
        received.marked += u64::from(frame.flags & MARKED != 0);
        received.last = now;
        let complete = received.bytes >= received.size;
        let follows = complete || received.acknowledged;
        if complete && received.completed.is_none() {
            received.completed = Some(now);
            self.probe.on_complete(now, frame.flow);
            if self.waiting.is_some() {
                self.complete(now, frame.flow, Milestone::Delivered, ctx);
            }
        }
        follows
    }

    /// What of a frame is its flow's: all of it but a tag, headers and telemetry.
    #[inline]
    pub(crate) fn payload(&self, frame: &Frame) -> u16 {
        match (frame.tag, frame.kind) {
            (1.., Kind::Data) => {
                frame.len - self.places.origin(&self.plan, frame.flow).map_or(0, |origin| origin.tag_size)
            }
            _ => frame.len,
        }
    }

    /// Sends an acknowledgement if one is due.
    fn acknowledge(&mut self, now: Time, p: u32, slot: u32, data: &Frame, ctx: &mut Ctx) {
        let spec = &self.plan.flows[data.flow as usize];
        let Some(how) = spec.acknowledge else { return };
        let received = &mut self.received[slot as usize];
        received.unacknowledged += 1;
        let complete = received.completed.is_some();
        if received.unacknowledged < how.every && data.flags & (LAST | MARKED) == 0 && !complete {
            return;
        }
        received.unacknowledged = 0;
        let said = Segment { born: data.born(), seq: data.seq() };
        let mut frame = Frame::saying(Content::Acknowledgement(said), how.size.get() as u16, now);
        frame.flow = data.flow;
        frame.dst = spec.source.0;
        frame.entropy = data.entropy;
        frame.class = how.class;
        // Of an acknowledgement, the flag says that no byte is missing.
        frame.flags = data.flags & MARKED | if complete { LAST } else { 0 };
        if data.at < now && spec.reaction.wants_host_delay() {
            frame.set_host_delay(now - data.at);
        }
        self.totals.acknowledgements += 1;
        self.totals.control_bytes += how.size.get();
        self.send_by_host(p, frame, ctx);
    }
}
