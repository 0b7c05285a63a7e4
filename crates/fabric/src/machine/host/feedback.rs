//! What comes back to a source: acknowledgements, notices of congestion and answers to probes, for its reaction point.

use super::Host;
use crate::machine::frame::{Frame, Kind, MARKED, NIL};
use crate::machine::network::{Ctx, Network};
use crate::observe::probe::Probe;
use congestion::ReactionPoint;
use congestion::{Feedback, STAMP};
use units::{Bytes, Time};

impl<P: Probe> Network<P> {
    /// An acknowledgement has come back to its flow's source.
    pub(crate) fn acknowledged(&mut self, now: Time, frame: &Frame, ctx: &mut Ctx) {
        let slot = self.flow_slot[frame.flow as usize];
        if slot == NIL {
            return;
        }
        let flow = &mut self.flows[slot as usize];
        let feedback = Feedback::Acknowledgement {
            bytes: Bytes::new(flow.acknowledged(frame.seq)),
            marked: frame.flags & MARKED != 0,
            round_trip: now - frame.born,
        };
        self.feed_back(now, slot, &feedback, ctx);
    }

    /// A notice of congestion has come to its flow's source.
    pub(crate) fn noticed(&mut self, now: Time, frame: &Frame, ctx: &mut Ctx) {
        let slot = self.flow_slot[frame.flow as usize];
        if slot == NIL {
            return;
        }
        let (feedback, port, class, offset, growth) = frame.notice();
        self.probe.on_notice(now, frame);
        self.flows[slot as usize].notices += 1;
        let (point, guidance) = (congestion::point::number(port, class), frame.guidance());
        let feedback = Feedback::Notice { feedback, offset, growth, point, guidance };
        self.feed_back(now, slot, &feedback, ctx);
    }

    /// Gives a flow's reaction point what came back, and marks to those that share them.
    fn feed_back(&mut self, now: Time, slot: u32, feedback: &Feedback, ctx: &mut Ctx) {
        let flow = &mut self.flows[slot as usize];
        flow.reaction.on_feedback(now, feedback);
        let (host, class, kind) = (flow.host, flow.class, std::mem::discriminant(&flow.reaction));
        let shared =
            flow.reaction.shares_feedback() && matches!(feedback, Feedback::Acknowledgement { marked: true, .. });
        self.settle_flow(now, host, slot, ctx);
        if !shared {
            return;
        }
        let Host { first_flow, flows, .. } = self.hosts[host as usize];
        for other in (first_flow..first_flow + flows).filter(|&other| other != slot) {
            let flow = &mut self.flows[other as usize];
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
    pub(crate) fn send_probe(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let flow = &mut self.flows[slot as usize];
        let Some(how) = self.plan.flows[flow.number as usize].probe.filter(|_| flow.destination != NIL) else { return };
        let Some(probe) = flow.reaction.probe(now) else { return };
        let mut frame = Frame::control(Kind::Probe, how.size.get() as u16, Time::from_picos(probe.value));
        (frame.at, frame.flow, frame.dst, frame.seq) = (now, flow.number, flow.destination, probe.number);
        (frame.entropy, frame.class, frame.tag) = (flow.entropy, how.class, probe.tag);
        self.totals.probes += 1;
        self.totals.control_bytes += how.size.get();
        self.send_by_host(self.hosts[host as usize].port, frame, ctx);
    }

    /// Sends a probe back to the source of its flow. A probe for a congestion point that is not on its path is discarded.
    pub(crate) fn answer(&mut self, now: Time, p: u32, probe: &Frame, ctx: &mut Ctx) {
        let spec = &self.plan.flows[probe.flow as usize];
        let Some(how) = spec.probe.filter(|_| probe.tag == 0) else { return };
        let value = if probe.born.as_picos() == STAMP { now } else { probe.born };
        let mut frame = Frame::control(Kind::Answer, how.size.get() as u16, value);
        (frame.at, frame.flow, frame.dst, frame.seq) = (now, probe.flow, spec.source.0, probe.seq);
        (frame.entropy, frame.class) = (probe.entropy, how.answer_class);
        self.totals.control_bytes += how.size.get();
        self.send_by_host(p, frame, ctx);
    }

    /// An answer has come back to its flow's source.
    pub(crate) fn answered(&mut self, now: Time, frame: &Frame, ctx: &mut Ctx) {
        let slot = self.flow_slot[frame.flow as usize];
        if slot != NIL {
            let feedback = Feedback::Probe { number: frame.seq, value: frame.born.as_picos() };
            self.feed_back(now, slot, &feedback, ctx);
        }
    }
}
