//! A flow at its destination, if more is done there than to count frames: what is new, and what its source is told.
//!
//! Which frames are new and what to reply is the business of [`transport::Sink`]; here are its frames and its timer.

use crate::machine::frame::extension::Extension;
use crate::machine::frame::{Content, Cumulative, Frame, LAST, MARKED};
use crate::machine::host::flow::TIMERS;
use crate::machine::host::reliable::announced_by;
use crate::machine::network::{Ctx, Device, Network};
use crate::observe::probe::Probe;
use congestion::ReactionPoint;
use transport::{Arrival, Arrived, Meaning, Reply, Say, Sink, unwrapped};
use units::{Span, Time};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Inbound {
    sink: Sink,
    /// Number of its flow.
    pub(crate) flow: u32,
    /// Position in its host's list of sinks: its timer.
    position: u32,
    /// Its source retransmits what is lost.
    recovers: bool,
    /// Number at its host's puller, if it is pulled.
    pub(crate) pulls: Option<u32>,
    /// Entropy of the latest frame: replies take a path that is chosen likewise.
    entropy: u32,
    /// The port of the host at which it arrived: replies leave by it.
    pub(crate) input: u16,
    /// Frames that had arrived before.
    pub(crate) duplicates: u64,
    pub(crate) duplicate_bytes: u64,
    /// Frames that were discarded because an earlier one was missing.
    pub(crate) rejected: u64,
    pub(crate) rejected_bytes: u64,
    /// Frames that were discarded, for either reason, since one was taken.
    pub(crate) late: u64,
    pub(crate) late_bytes: u64,
    /// Frames that arrived out of order.
    pub(crate) out_of_order: u64,
    /// Negative acknowledgements sent: of gaps, and of frames of which only the header arrived.
    pub(crate) negative: u64,
    /// Congestion notifications sent.
    pub(crate) notifications: u64,
}

units::state!(struct Inbound { fixed: flow, position, recovers, pulls; plain: entropy, input, duplicates, duplicate_bytes, late, late_bytes, rejected, rejected_bytes, out_of_order, negative, notifications; parts: sink; });

impl Inbound {
    pub(crate) fn new(sink: Sink, flow: u32, position: u32, recovers: bool) -> Inbound {
        Inbound {
            sink,
            flow,
            position,
            recovers,
            pulls: None,
            entropy: 0,
            input: 0,
            duplicates: 0,
            duplicate_bytes: 0,
            late: 0,
            late_bytes: 0,
            rejected: 0,
            rejected_bytes: 0,
            out_of_order: 0,
            negative: 0,
            notifications: 0,
        }
    }
}

impl Inbound {
    /// A frame has arrived, or the header of one; it may complete a flow without recovery. Returns what became of it.
    fn see(&mut self, now: Time, frame: &Frame, trimmed: bool, completes: bool) -> Arrival {
        (self.entropy, self.input) = (frame.entropy, frame.input);
        let arrived = Arrived {
            number: unwrapped(frame.seq(), self.sink.expected()),
            stamp: frame.born(),
            at: frame.at,
            marked: frame.flags & MARKED != 0,
            trimmed,
            last: frame.flags & LAST != 0 || completes,
        };
        self.sink.on_arrival(now, &arrived)
    }
}

impl<P: Probe> Network<P> {
    /// A frame of the flow at a place, which has a sink of its own, has arrived.
    pub(crate) fn take_in(&mut self, now: Time, p: u32, host: u32, place: u32, frame: &Frame, ctx: &mut Ctx) {
        let received = self.received.at(place);
        let Some(inbound) = &mut received.inbound else { return };
        let len = u64::from(frame.len);
        let pulls = inbound.pulls.is_some();
        let completes = !inbound.recovers && received.bytes + len >= received.size;
        let arrival = inbound.see(now, frame, false, completes);
        if matches!(arrival, Arrival::OutOfOrder | Arrival::Discarded) {
            inbound.out_of_order += 1;
            self.totals.out_of_order_frames += 1;
        }
        (inbound.late, inbound.late_bytes) = match arrival {
            Arrival::InOrder | Arrival::OutOfOrder => (0, 0),
            _ => (inbound.late + 1, inbound.late_bytes + len),
        };
        match arrival {
            Arrival::InOrder | Arrival::OutOfOrder => {
                self.count_delivery(now, host, place, frame, ctx);
            }
            Arrival::Discarded => {
                (inbound.rejected, inbound.rejected_bytes) = (inbound.rejected + 1, inbound.rejected_bytes + len);
                self.totals.rejected_frames += 1;
                self.totals.rejected_bytes += len;
            }
            // Of a whole frame it is never said that it was trimmed.
            Arrival::Duplicate | Arrival::Trimmed => {
                (inbound.duplicates, inbound.duplicate_bytes) = (inbound.duplicates + 1, inbound.duplicate_bytes + len);
                self.totals.duplicate_frames += 1;
                self.totals.duplicate_bytes += len;
            }
        }
        if self.probe.wants_causes() && !matches!(arrival, Arrival::InOrder | Arrival::OutOfOrder) {
            self.probe.on_discard(now, self.hosts[host as usize].number, frame);
        }
        self.reply(now, p, host, place, ctx);
        if pulls {
            self.call_for_more(now, host, place, frame, false, ctx);
        }
    }

    /// The header of a frame has arrived whose payload a switch removed; that was counted there.
    pub(crate) fn take_in_header(&mut self, now: Time, p: u32, frame: &Frame, ctx: &mut Ctx) {
        let Device::Host(host) = self.ports[p as usize].device else { return };
        let slot = self.places.sink[frame.flow as usize];
        let Some(place) = self.received.place(slot) else { return };
        if let Some(inbound) = &mut self.received.at(place).inbound {
            inbound.see(now, frame, true, false);
            self.reply(now, p, host, place, ctx);
            self.call_for_more(now, host, place, frame, true, ctx);
        }
    }

    /// A frame of a flow that is pulled has arrived, or its header.
    fn call_for_more(&mut self, now: Time, host: u32, place: u32, frame: &Frame, trimmed: bool, ctx: &mut Ctx) {
        let received = self.received.at(place);
        let Some(number) = received.inbound.as_ref().and_then(|inbound| inbound.pulls) else { return };
        let complete = received.completed.is_some();
        let Some(puller) = &mut self.hosts[host as usize].puller else { return };
        if complete {
            puller.on_end(number);
        } else {
            puller.on_arrival(number, trimmed, announced_by(frame.tag, puller.total(number)));
        }
        self.send_pulls(now, host, ctx);
    }

    /// Sends the pulls of a host that are due, and sets its timer for the next.
    pub(crate) fn send_pulls(&mut self, now: Time, host: u32, ctx: &mut Ctx) {
        while let Some(puller) = &mut self.hosts[host as usize].puller {
            let Some((number, total)) = puller.next_pull(now) else { break };
            let state = &self.hosts[host as usize];
            let slot = state.pulled[number as usize];
            let Some(inbound) = &self.received[slot as usize].inbound else { continue };
            let p = state.port + u32::from(inbound.input);
            let spec = &self.plan.flows[inbound.flow as usize];
            let Some(how) = spec.pull else { continue };
            let mut frame = Frame::saying(Content::Pull(total), how.size.get() as u16, now);
            (frame.flow, frame.dst) = (inbound.flow, spec.source.0);
            (frame.entropy, frame.class) = (inbound.entropy, how.class);
            self.totals.pulls += 1;
            self.totals.control_bytes += how.size.get();
            self.send_by_host(p, frame, ctx);
        }
        let state = &self.hosts[host as usize];
        let deadline = state.puller.as_ref().and_then(|puller| puller.deadline()).map(|at| at.max(now));
        let number = state.flows * TIMERS + state.sinks.len() as u32;
        self.arm_lazily(host, number, deadline, ctx);
    }

    /// Sends what the sink at a place wants to say now, and sets its timer.
    fn reply(&mut self, now: Time, p: u32, host: u32, place: u32, ctx: &mut Ctx) {
        loop {
            let received = self.received.at(place);
            let Some(inbound) = &mut received.inbound else { break };
            let Some(say) = inbound.sink.next_reply(now) else { break };
            let complete = !inbound.recovers && received.completed.is_some();
            let (flow, entropy) = (inbound.flow, inbound.entropy);
            let spec = &self.plan.flows[flow as usize];
            let (acknowledge, notify, pull, source) = (spec.acknowledge, spec.notify, spec.pull, spec.source.0);
            let how = acknowledge.map(|how| (how.size, how.class));
            let (how, host_delay) = match &say {
                Say::Reply(reply) => {
                    self.totals.acknowledgements += 1;
                    if reply.meaning != Meaning::Acknowledgement {
                        inbound.negative += 1;
                        self.totals.negative_acknowledgements += 1;
                    }
                    // Few hosts are slow, and few sources want to know.
                    let told = reply.host_delay > Span::ZERO && spec.reaction.wants_host_delay();
                    (how, if told { reply.host_delay } else { Span::ZERO })
                }
                Say::CongestionNotification => {
                    inbound.notifications += 1;
                    self.totals.congestion_notifications += 1;
                    (notify.map(|how| (how.size, how.class)), Span::ZERO)
                }
                Say::Pull { .. } => {
                    self.totals.pulls += 1;
                    (pull.map(|how| (how.size, how.class)).or(how), Span::ZERO)
                }
            };
            let Some((size, class)) = how else { continue };
            let len = size.get() as u16;
            let mut frame = match &say {
                Say::Reply(reply) => self.pack_reply(now, reply, (host_delay, complete), len),
                Say::CongestionNotification => Frame::saying(Content::CongestionNotification, len, now),
                Say::Pull { total } => Frame::saying(Content::Pull(*total), len, now),
            };
            (frame.flow, frame.dst, frame.entropy, frame.class) = (flow, source, entropy, class);
            self.totals.control_bytes += size.get();
            self.send_by_host(p, frame, ctx);
        }
        let Some(inbound) = &self.received.at(place).inbound else { return };
        let deadline = inbound.sink.deadline().map(|at| at.max(now));
        let number = self.hosts[host as usize].flows * TIMERS + inbound.position;
        self.arm_lazily(host, number, deadline, ctx);
    }

    /// The frame that says what a reply does, how long the data waited at this host, and whether a flow without recovery
    /// is complete.
    fn pack_reply(&mut self, now: Time, reply: &Reply, (host_delay, complete): (Span, bool), len: u16) -> Frame {
        let (cumulative, number) = (reply.cumulative as u32, reply.number as u32);
        let said = Cumulative { cumulative, number, stamp: reply.stamp };
        let content = match reply.meaning {
            Meaning::Acknowledgement => Content::CumulativeAcknowledgement(said),
            Meaning::Negative => Content::NegativeAcknowledgement(said),
            Meaning::Trimmed => Content::TrimmedAcknowledgement(said),
        };
        let mut frame = Frame::saying(content, len, now);
        if reply.marked {
            frame.flags |= MARKED;
        }
        let stamp = reply.stamp;
        if said.offset().is_none() || !reply.blocks.is_empty() || host_delay > Span::ZERO || complete {
            let mut extension = Extension { stamp, host_delay, number, complete, ..Extension::default() };
            for (place, block) in extension.blocks.iter_mut().zip(reply.blocks.as_slice()) {
                *place = (block.start as u32, block.end as u32);
                extension.count += 1;
            }
            frame.extend(self.extensions.put(extension));
        }
        frame
    }

    /// The timer of a sink runs out, or was set before it was put off.
    pub(crate) fn on_sink_timer(&mut self, now: Time, host: u32, position: u32, ctx: &mut Ctx) {
        let state = &self.hosts[host as usize];
        let (first, slot) = (state.port, state.sinks[position as usize]);
        let Some(place) = self.received.place(slot) else { return };
        let Some(inbound) = &mut self.received.at(place).inbound else { return };
        let p = first + u32::from(inbound.input);
        if inbound.sink.deadline().is_some_and(|at| at <= now) {
            inbound.sink.on_deadline(now);
        }
        self.reply(now, p, host, place, ctx);
    }
}
