//! A flow with loss recovery at its source: frames are made again by their number, and replies and timers tell which.
//!
//! What to retransmit, and when, is the business of [`transport::Sender`]; here are its frames, its timer and what its
//! reaction point learns.

use crate::describe::workload::FlowSpec;
use crate::machine::frame::extension::Extension;
use crate::machine::frame::{Content, Frame, Kind, LAST, MARKED, Segment};
use crate::machine::host::flow::{Flow, RETRANSMISSION, TIMERS};
use crate::machine::network::{Ctx, Network};
use crate::observe::probe::{Probe, SourceState};
use congestion::{Adapter, Demand, Feedback, LossSignal, ReactionPoint};
use transport::{Block, Blocks, Meaning, Next, PathSelector, Progress, Reply, Sender, Sending, unwrapped};
use units::{Bytes, Span, Stream, Time};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Reliable {
    pub(crate) sender: Sending,
    /// Number and length of the last frame of a finite flow, once it has been sent: all others have the flow's size.
    last: Option<(u64, u16)>,
    /// Entropy of frames that are sprayed and retransmitted. Apart from the flow's own stream, which says what a source
    /// makes, whatever is lost.
    stream: Stream,
    /// Frames retransmitted, each time, and their bytes.
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    /// How often its timer expired.
    pub(crate) timeouts: u64,
    /// Its last timeouts, if nothing became known between them.
    pub(crate) barren: Barren,
    /// Its frames announce what it wants to send.
    announces: bool,
    /// When it knew that all of a finite flow has arrived.
    pub(crate) known: Option<Time>,
}

units::state!(struct Reliable { fixed: announces; plain: last, stream, frames, bytes, timeouts, barren, known; parts: sender; });

/// Timeouts in a row between which a source has learned of no arrival and has sent nothing for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Barren {
    timeouts: u32,
    /// When the last of them was, and how long after the one before.
    pub(crate) last: Time,
    gap: Span,
    /// What was acknowledged and what was sent then.
    state: (u64, u64),
}

engine::encoded!(struct Barren { timeouts, last, gap, state });

impl Barren {
    /// So many timeouts show that a source retransmits in vain: each is another chance for a copy to find a gap.
    const MANY: u32 = 8;
    /// So many do if the source backs off.
    const FEW: u32 = 2;

    /// Another timeout, when that was acknowledged and sent.
    fn count(&mut self, now: Time, state: (u64, u64)) {
        let timeouts = if self.state == state { self.timeouts } else { 0 };
        let gap = if timeouts > 0 { now.saturating_since(self.last) } else { Span::ZERO };
        *self = Barren { timeouts: timeouts + 1, last: now, gap, state };
    }

    /// Since when nothing new may have arrived anywhere if the source is to retransmit in vain; `None` if it does not. `next`
    /// is its next timeout.
    pub(crate) fn in_vain_since(&self, next: Option<Time>) -> Option<Time> {
        let backs_off =
            next.is_some_and(|next| next.saturating_since(self.last).as_picos() / 3 > self.gap.as_picos() / 2);
        let gaps = match self.timeouts {
            timeouts if timeouts >= Barren::FEW && backs_off => 1,
            timeouts if timeouts >= Barren::MANY => u64::from(Barren::MANY - 1),
            _ => return None,
        };
        let vain = self.gap.as_picos().saturating_mul(gaps);
        Some(Time::from_picos(self.last.as_picos().saturating_sub(vain)))
    }
}

impl Reliable {
    pub(crate) fn new(spec: &FlowSpec, adapter: &Adapter) -> Option<Reliable> {
        let mut sender = spec.sender()?;
        // What does not fit was refused before.
        let _ = sender.attach(adapter);
        let stream = Stream::new(adapter.seed, u64::from(adapter.flow), "retransmission");
        let announces = spec.reaction.pulling().is_some_and(|pulling| pulling.demand == Demand::Announced);
        let known = None;
        Some(Reliable {
            sender,
            last: None,
            stream,
            frames: 0,
            bytes: 0,
            timeouts: 0,
            barren: Barren::default(),
            announces,
            known,
        })
    }
}

impl Flow {
    /// Whether all that it has sent is known to have arrived, if it cares.
    pub(crate) fn all_acknowledged(&self) -> bool {
        self.reliable.as_ref().is_none_or(|reliable| reliable.sender.acknowledged() == reliable.sender.sent())
    }

    /// The least length of a frame that it could send next, for the first time or again.
    pub(crate) fn least_next(&self, smallest: u16) -> u16 {
        let fresh = self.next_len(smallest);
        let Some(reliable) = &self.reliable else { return fresh };
        let (first, end) = (reliable.sender.acknowledged(), reliable.sender.sent());
        if first == end {
            return fresh;
        }
        // All frames are alike but the last of a finite flow.
        let again = self.len_again(first, smallest).min(self.len_again(end - 1, smallest));
        if self.remaining == 0 { again } else { again.min(fresh) }
    }

    /// Length of a frame that was sent before.
    pub(crate) fn len_again(&self, number: u64, smallest: u16) -> u16 {
        let last = self.reliable.as_ref().and_then(|reliable| reliable.last);
        last.filter(|&(last, _)| last == number).map_or(self.frame, |(_, len)| len).max(smallest)
    }

    /// Makes a frame that was sent before.
    pub(crate) fn make_again(&mut self, now: Time, number: u64, smallest: u16, spray: bool) -> Frame {
        let len = self.len_again(number, smallest);
        let mut frame = Frame::data(Segment { born: now, seq: number as u32 }, len);
        (frame.flow, frame.dst, frame.entropy) = (self.number, self.destination, self.entropy);
        frame.class = self.class;
        if let Some(reliable) = &mut self.reliable {
            if spray {
                frame.entropy = reliable.stream.next_u64() as u32;
            }
            if reliable.last.is_some_and(|(last, _)| last == number) {
                frame.flags = LAST;
            }
            reliable.frames += 1;
            reliable.bytes += u64::from(len);
        }
        frame
    }

    /// The number of the frame that starts now, of which recovery takes note.
    pub(crate) fn number_next(&mut self, now: Time, next: Next, len: u16, last: bool) -> u32 {
        let Some(reliable) = &mut self.reliable else { return self.sent };
        let number = match next {
            Next::Again { number, .. } => number,
            _ => reliable.sender.sent(),
        };
        if last {
            reliable.last = Some((number, len));
        }
        reliable.sender.on_sent(now, number);
        number as u32
    }

    /// Frames that it has made or could make and has never sent.
    fn fresh_frames(&self) -> u64 {
        match self.greedy {
            true if !self.on => 0,
            true => self.remaining.div_ceil(u64::from(self.frame).max(1)),
            false => u64::from(self.backlogged),
        }
    }

    /// What the frame that starts now announces, as its tag; 0 if it announces nothing.
    pub(crate) fn announcement(&mut self) -> u16 {
        if self.reliable.as_ref().is_none_or(|reliable| !reliable.announces) {
            return 0;
        }
        let fresh = self.fresh_frames();
        self.reliable.as_mut().and_then(|reliable| reliable.sender.announce(fresh)).map_or(0, announced_tag)
    }

    /// A reply arrived for a flow with recovery of which so many frames were acknowledged before. Returns what that settles,
    /// in bytes, and what it tells.
    fn on_reply(&mut self, now: Time, reply: &Reply, before: u64) -> (u64, Progress) {
        let Some(reliable) = &mut self.reliable else { return (0, Progress::default()) };
        let progress = reliable.sender.on_reply(now, reply);
        let (after, sent) = (reliable.sender.acknowledged(), reliable.sender.sent());
        // All frames are alike but the last of a finite flow; when all is known to have arrived, so is that.
        let bytes = match after == sent {
            true => self.outstanding,
            false => self.outstanding.min(progress.arrived.saturating_mul(u64::from(self.frame))),
        };
        self.outstanding -= bytes;
        if after > before {
            self.settle((after - before) as u32);
        }
        // Bytes that the source threw away before it sent them never arrive.
        if self.remaining == 0
            && self.is_done()
            && let Some(reliable) = &mut self.reliable
            && sent == self.made
        {
            reliable.known.get_or_insert(now);
        }
        (bytes, progress)
    }
}

/// The tag that announces that a flow wants so many frames in all; never that of telemetry.
fn announced_tag(frames: u64) -> u16 {
    (frames & 0x7fff) as u16 + 1
}

/// The number of frames that a tag announces: the one that is closest to `near`.
pub(super) fn announced_by(tag: u16, near: u64) -> u64 {
    let Some(low) = tag.checked_sub(1) else { return 0 };
    let ahead = u64::from(low).wrapping_sub(near) & 0x7fff;
    if ahead < 0x4000 { near + ahead } else { (near + ahead).saturating_sub(0x8000) }
}

impl<P: Probe> Network<P> {
    /// A statement about arrived frames has come back to its flow's source.
    pub(crate) fn replied(&mut self, now: Time, frame: &Frame, ctx: &mut Ctx) {
        let slot = self.slot_of(frame.flow);
        if let Some(flow) = self.flows.get_mut(slot)
            && !flow.heeds
            && !frame.is_extended()
        {
            let (host, all_made) = (flow.host, flow.remaining == 0);
            flow.acknowledged(frame.seq().wrapping_sub(1));
            if all_made {
                self.give_up_if_done(host, slot);
            }
            return;
        }
        let complete = frame.is_extended() && self.extensions.is_complete(frame.extension());
        let reliable = self.flows.get(slot).and_then(|flow| flow.reliable.as_ref());
        let near = reliable.map_or(0, |reliable| reliable.sender.acknowledged());
        let mut reply = self.unpack_reply(frame, near);
        let Some(flow) = self.flows.get_mut(slot) else {
            if self.waiting.is_some() {
                self.note_acknowledged(now, slot, complete, ctx);
            }
            return;
        };
        let round_trip = now.saturating_since(reply.stamp);
        let start = flow.started(reply.number as u32, reply.stamp);
        let (bytes, path) = if flow.reliable.is_some() {
            // The timer measures from the wire.
            reply.stamp = start;
            let (bytes, progress) = flow.on_reply(now, &reply, near);
            if let Some(signal) = progress.loss {
                self.learn_of_loss(now, slot, signal);
            }
            if reply.meaning == Meaning::Trimmed && progress.loss.is_some() {
                let flow = &mut self.flows[slot as usize];
                let len = flow.len_again(reply.number, 0);
                flow.reaction.on_trimmed(now, Bytes::new(u64::from(len)));
            }
            (bytes, self.flows[slot as usize].path_report(now, start, reply.host_delay))
        } else {
            let bytes = flow.acknowledged(frame.seq().wrapping_sub(1));
            (bytes, flow.path_report(now, start, reply.host_delay))
        };
        let flow = &mut self.flows[slot as usize];
        if flow.chooses_entropy {
            flow.hear_of_path(now, frame.entropy, (reply.marked, reply.meaning == Meaning::Trimmed));
        }
        let feedback = Feedback::Acknowledgement { bytes: Bytes::new(bytes), marked: reply.marked, round_trip, path };
        self.feed_back(now, slot, &feedback, ctx);
        let host = self.flows[slot as usize].host;
        self.arm_retransmission(now, host, slot, ctx);
        self.request_to_send(now, host, slot, ctx);
        if self.waiting.is_some() {
            self.note_acknowledged(now, slot, complete, ctx);
        }
        self.give_up_if_done(host, slot);
    }

    /// Sends the header of a frame alone, if a source without permission has to say that it wants to send.
    pub(crate) fn request_to_send(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let flow = &mut self.flows[slot as usize];
        if flow.reliable.as_ref().is_none_or(|reliable| !reliable.announces) {
            return;
        }
        let fresh = flow.fresh_frames();
        let Some(number) = flow.reliable.as_mut().and_then(|reliable| reliable.sender.request(now, fresh)) else {
            return;
        };
        let Some(how) = self.plan.flows[flow.number as usize].pull else { return };
        let header = Content::Trimmed(Segment { born: now, seq: number as u32 });
        let mut frame = Frame::saying(header, how.size.get() as u16, now);
        (frame.flow, frame.dst, frame.class) = (flow.number, flow.destination, how.class);
        frame.entropy = flow.next_entropy(flow.entropy);
        frame.tag = flow.announcement();
        self.totals.control_bytes += how.size.get();
        let p = flow.port;
        self.send_by_host(p, frame, ctx);
        self.arm_retransmission(now, host, slot, ctx);
    }

    /// What an acknowledgement says. Its entry among the extensions ends.
    fn unpack_reply(&mut self, frame: &Frame, near: u64) -> Reply {
        let meaning = match frame.kind {
            Kind::NegativeAcknowledgement => Meaning::Negative,
            Kind::TrimmedAcknowledgement => Meaning::Trimmed,
            _ => Meaning::Acknowledgement,
        };
        let marked = frame.flags & MARKED != 0;
        let cumulative = unwrapped(frame.seq(), near);
        let mut blocks = Blocks::default();
        if frame.is_extended() {
            let said = self.extensions.take(frame.extension());
            for &(start, end) in &said.blocks[..usize::from(said.count)] {
                let [start, end] = [start, end].map(|number| unwrapped(number, cumulative));
                blocks.push(Block { start, end });
            }
            let number = unwrapped(said.number, cumulative);
            let Extension { stamp, host_delay, .. } = said;
            return Reply { meaning, cumulative, number, stamp, host_delay, marked, blocks };
        }
        let number = cumulative.saturating_add_signed(i64::from(frame.tag.cast_signed()));
        Reply { meaning, cumulative, number, stamp: frame.born(), host_delay: Span::ZERO, marked, blocks }
    }

    /// A destination notifies a source of marked frames.
    pub(crate) fn notified(&mut self, now: Time, flow: u32, ctx: &mut Ctx) {
        let slot = self.slot_of(flow);
        self.feed_back(now, slot, &Feedback::CongestionNotification, ctx);
    }

    /// A destination permits a source to send so many frames in all.
    pub(crate) fn pulled(&mut self, now: Time, flow: u32, total: u64, ctx: &mut Ctx) {
        let slot = self.slot_of(flow);
        let flow = &mut self.flows[slot as usize];
        let more = total.saturating_sub(flow.pulled);
        flow.pulled = flow.pulled.max(total);
        if let Some(reliable) = &mut flow.reliable {
            reliable.sender.on_grant(more);
        }
        let bytes = Bytes::new(more.saturating_mul(u64::from(flow.frame)));
        self.feed_back(now, slot, &Feedback::Grant { bytes }, ctx);
        let host = self.flows[slot as usize].host;
        self.arm_retransmission(now, host, slot, ctx);
    }

    /// A header has come back to its flow's source.
    pub(crate) fn came_back(&mut self, now: Time, flow: u32, seq: u32, ctx: &mut Ctx) {
        let slot = self.slot_of(flow);
        let Some(flow) = self.flows.get_mut(slot) else { return };
        let host = flow.host;
        if let Some(reliable) = &mut flow.reliable {
            let number = unwrapped(seq, reliable.sender.acknowledged());
            reliable.sender.on_returned(now, number);
        }
        self.settle_flow(now, host, slot, ctx);
        self.request_to_send(now, host, slot, ctx);
        self.arm_retransmission(now, host, slot, ctx);
    }

    fn learn_of_loss(&mut self, now: Time, slot: u32, signal: LossSignal) {
        let flow = &mut self.flows[slot as usize];
        if signal == LossSignal::Timeout {
            self.totals.timeouts += 1;
            if let Some(reliable) = &mut flow.reliable {
                reliable.timeouts += 1;
            }
        }
        flow.reaction.on_loss(now, signal);
        if let Some(selection) = &mut flow.selection {
            selection.on_loss(now, signal);
        }
    }

    /// Sets the retransmission timer of a flow.
    pub(crate) fn arm_retransmission(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let Some(reliable) = &self.flows[slot as usize].reliable else { return };
        let deadline = reliable.sender.deadline().map(|at| at.max(now));
        let number = (slot - self.hosts[host as usize].first_flow) * TIMERS + RETRANSMISSION;
        self.arm_lazily(host, number, deadline, ctx);
    }

    /// The retransmission timer of a flow runs out, or was set before it was put off.
    pub(crate) fn on_retransmission_timer(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let Some(reliable) = &mut self.flows[slot as usize].reliable else { return };
        if reliable.sender.deadline().is_some_and(|at| at <= now) {
            let state = (reliable.sender.acknowledged(), reliable.sender.sent());
            reliable.barren.count(now, state);
            let progress = reliable.sender.on_deadline(now);
            if let Some(signal) = progress.loss {
                if signal == LossSignal::Timeout && self.probe.wants_causes() {
                    let flow = &self.flows[slot as usize];
                    let port = self.ports[flow.port as usize].global;
                    self.probe.on_source(now, port, flow.number, SourceState::Timeout);
                }
                self.learn_of_loss(now, slot, signal);
            }
            self.settle_flow(now, host, slot, ctx);
            self.request_to_send(now, host, slot, ctx);
        }
        self.arm_retransmission(now, host, slot, ctx);
    }
}
