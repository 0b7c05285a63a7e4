//! What comes back to a source: acknowledgements, notices of congestion and answers to probes, for its reaction point.

use super::Host;
use crate::machine::frame::{Content, Frame, Inquiry, LAST, MARKED, NIL, Notice, Segment};
use crate::machine::network::{Ctx, Network};
use crate::observe::probe::Probe;
use congestion::ReactionPoint;
use congestion::{Feedback, STAMP};
use units::{Bytes, Time};

impl<P: Probe> Network<P> {
    /// Position in [`Network::flows`] of a flow whose source is in this shard.
    #[inline]
    pub(crate) fn slot_of(&self, flow: u32) -> u32 {
        debug_assert_eq!(
            self.places.home(&self.plan.flows[flow as usize]),
            self.shard,
            "what goes back to a source goes to its shard"
        );
        self.places.source[flow as usize]
    }

    /// An acknowledgement has come back to its flow's source.
    pub(crate) fn acknowledged(&mut self, now: Time, frame: &Frame, Segment { born, seq }: Segment, ctx: &mut Ctx) {
        let slot = self.slot_of(frame.flow);
        let complete = frame.flags & LAST != 0;
        let Some(flow) = self.flows.get_mut(slot) else {
            if self.waiting.is_some() {
                self.note_acknowledged(now, slot, complete, ctx);
            }
            return;
        };
        let (host, all_made) = (flow.host, flow.remaining == 0);
        if !flow.heeds {
            flow.acknowledged(seq);
            if self.waiting.is_some() {
                self.note_acknowledged(now, slot, complete, ctx);
            }
            if all_made {
                self.give_up_if_done(host, slot);
            }
            return;
        }
        let start = flow.started(seq, born);
        let bytes = Bytes::new(flow.acknowledged(seq));
        let path = flow.path_report(now, start, frame.host_delay());
        let marked = frame.flags & MARKED != 0;
        if flow.chooses_entropy {
            flow.hear_of_path(now, frame.entropy, (marked, false));
        }
        let feedback = Feedback::Acknowledgement { bytes, marked, round_trip: now - born, path };
        self.feed_back(now, slot, &feedback, ctx);
        if self.waiting.is_some() {
            self.note_acknowledged(now, slot, complete, ctx);
        }
        self.give_up_if_done(host, slot);
    }

    /// A notice of congestion has come to its flow's source.
    pub(crate) fn noticed(&mut self, now: Time, flow: u32, notice: Notice, ctx: &mut Ctx) {
        let slot = self.slot_of(flow);
        let Notice { feedback, port, class, offset, growth, guidance } = notice;
        self.probe.on_notice(now, flow, &notice);
        match self.flows.get_mut(slot) {
            Some(flow) => flow.notices += 1,
            None => return self.record_notice(slot),
        }
        let point = congestion::point::number(port, class);
        let feedback = Feedback::Notice { feedback, offset, growth, point, guidance };
        self.feed_back(now, slot, &feedback, ctx);
    }

    /// Gives a flow's reaction point what came back, and marks to those that share them.
    pub(crate) fn feed_back(&mut self, now: Time, slot: u32, feedback: &Feedback, ctx: &mut Ctx) {
        let Some(flow) = self.flows.get_mut(slot) else { return };
        flow.reaction.on_feedback(now, feedback);
        let (host, class) = (flow.host, flow.class);
        self.settle_flow(now, host, slot, ctx);
        if !matches!(feedback, Feedback::Acknowledgement { marked: true, .. }) {
            return;
        }
        let reaction = &self.flows[slot as usize].reaction;
        if !reaction.shares_feedback() {
            return;
        }
        let kind = std::mem::discriminant(reaction);
        let Host { first_flow, flows, .. } = self.hosts[host as usize];
        for other in (first_flow..first_flow + flows).filter(|&other| other != slot) {
            let Some(flow) = self.flows.get_mut(other) else { continue };
            let joined = flow.class == class
                && std::mem::discriminant(&flow.reaction) == kind
                && flow.reaction.shares_feedback();
            if joined {
                flow.reaction.on_feedback(now, feedback);
                self.settle_flow(now, host, other, ctx);
            }
        }
    }

    /// Sends the probe that a flow's reaction point wants to send, if it does.
    pub(crate) fn send_probe(&mut self, now: Time, slot: u32, ctx: &mut Ctx) {
        let flow = &mut self.flows[slot as usize];
        let Some(how) = self.plan.flows[flow.number as usize].path_probe.filter(|_| flow.destination != NIL) else {
            return;
        };
        let Some(probe) = flow.reaction.path_probe(now) else { return };
        let inquiry = Inquiry { number: probe.number, value: probe.value };
        let mut frame = Frame::saying(Content::Probe(inquiry), how.size.get() as u16, now);
        (frame.flow, frame.dst) = (flow.number, flow.destination);
        (frame.entropy, frame.class, frame.tag) = (flow.present_entropy(), how.class, probe.tag);
        self.totals.probes += 1;
        self.totals.control_bytes += how.size.get();
        let p = flow.port;
        self.send_by_host(p, frame, ctx);
    }

    /// Sends a probe back to the source of its flow. A probe for a congestion point that is not on its path is discarded.
    pub(crate) fn answer(&mut self, now: Time, p: u32, probe: &Frame, inquiry: Inquiry, ctx: &mut Ctx) {
        let spec = &self.plan.flows[probe.flow as usize];
        let Some(how) = spec.path_probe.filter(|_| probe.tag == 0) else { return };
        let value = if inquiry.value == STAMP { now.as_picos() } else { inquiry.value };
        let said = Content::Answer(Inquiry { value, ..inquiry });
        let mut frame = Frame::saying(said, how.size.get() as u16, now);
        (frame.flow, frame.dst) = (probe.flow, spec.source.0);
        (frame.entropy, frame.class) = (probe.entropy, how.answer_class);
        self.totals.control_bytes += how.size.get();
        self.send_by_host(p, frame, ctx);
    }

    /// An answer has come back to its flow's source.
    pub(crate) fn answered(&mut self, now: Time, flow: u32, Inquiry { number, value }: Inquiry, ctx: &mut Ctx) {
        let slot = self.slot_of(flow);
        self.feed_back(now, slot, &Feedback::PathProbe { number, value }, ctx);
    }
}
