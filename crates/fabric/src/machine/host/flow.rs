//! A flow at its source: what it has to send, and whether it may.

use crate::describe::graph::HostId;
use crate::describe::workload::{Activity, Destination, FlowSpec, Gaps, Pattern};
use crate::machine::frame::{Frame, LAST, List, NIL, Segment};
use crate::machine::host::deferred::Deferred;
use crate::machine::host::reliable::Reliable;
use crate::observe::probe::SourceState;
use congestion::{Adapter, Allowance, HALTED, Pacing, PathReport, Reaction, ReactionPoint};
use engine::Encode;
use std::collections::VecDeque;
use transport::{Echo, Next, PathSelection, PathSelector, Sender};
use units::{Bytes, FrameTime, Rate, Span, Stream, Time, Wire};

/// The timers a flow may have, as numbers in its host's heap.
pub(crate) const TIMERS: u32 = 6;
/// The rate limiter lets the next frame go.
pub(crate) const LIMITER: u32 = 0;
/// The source makes the next frame.
pub(crate) const SOURCE: u32 = 1;
/// The reaction point wants to be asked.
pub(crate) const DEADLINE: u32 = 2;
/// The source turns on or off, or stops.
pub(crate) const ACTIVITY: u32 = 3;
/// The source learns of a frame that was dropped.
pub(crate) const LOST: u32 = 4;
/// The retransmission timer of a flow with recovery.
pub(crate) const RETRANSMISSION: u32 = 5;

/// How long so many bits take at a rate.
fn span_of(bits: u64, rate: Rate) -> Span {
    let span = u128::from(bits) * 1_000_000_000_000 / u128::from(rate.as_bits_per_sec().max(1));
    Span::from_picos(u64::try_from(span).unwrap_or(u64::MAX / 2))
}

/// When the frames that are not settled started, in order.
#[derive(Clone, Debug, Default)]
struct Starts(VecDeque<Time>);

impl Encode for Starts {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }

    fn decode(input: &mut &[u8]) -> Option<Starts> {
        Encode::decode(input).map(Starts)
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    /// Number of its [`Approach`](super::lifetime::Approach) in the shard, to which it goes back when it is over; [`NIL`] if it has
    /// its state to the end.
    pub(crate) approach: u32,
    /// Number in the network.
    pub(crate) number: u32,
    /// Position of its host in the shard.
    pub(crate) host: u32,
    /// The port by which its next frame leaves, as a position in the shard.
    pub(crate) port: u32,
    /// Its frames leave by the ports of its host in turn.
    pub(crate) sprays: bool,
    /// Its reaction point may send probes.
    pub(crate) probes: bool,
    /// The timer of its reaction point is set.
    pub(crate) timed: bool,
    /// Its neighbours in the ring of those that may send.
    pub(crate) previous_ready: u32,
    pub(crate) next_ready: u32,
    pub(crate) in_ring: bool,
    /// Turns it had had when it began to wait in the ring; see [`Flow::has_had_turn`].
    turns_before: u32,
    /// Between start and stop, and not in a silence.
    pub(crate) on: bool,
    pub(crate) stopped: bool,
    pub(crate) class: u8,
    /// Bytes still to be made into frames; `u64::MAX` is without end.
    pub(crate) remaining: u64,
    /// Frames made.
    pub(crate) made: u64,
    /// Frames sent, where sending is more than making.
    pub(crate) sent: u32,
    /// Frames waiting at the adapter (paced sources only).
    pub(crate) backlog: List,
    pub(crate) backlogged: u32,
    /// Frames behind those, counted and not kept.
    pub(crate) deferred: Option<Box<Deferred>>,
    /// A paced source waits for room.
    pub(crate) stalled: bool,
    /// Frames sent that are covered by an acknowledgement, or were before one that is: their bytes are not on their way
    /// any more, whether they arrived or were lost. Lost acknowledgements are made good by later ones.
    pub(crate) settled: u32,
    /// Bytes sent and not settled.
    pub(crate) outstanding: u64,
    /// Bytes sent, each counted once; of flows on the general path.
    pub(crate) sent_bytes: u64,
    /// Where frames may start later than they are made: acknowledged flows with a backlog.
    starts: Option<Box<Starts>>,
    /// Links to its destination by the routes at the start of the run; 0 if it is not acknowledged or has several.
    pub(crate) hops: u8,
    /// The rate limiter holds the next frame until then.
    pub(crate) not_before: Time,
    /// When the last frame started, its bits on the wire, and the rate that `not_before` follows from.
    last_start: Time,
    last_bits: u64,
    paced_at: Option<Rate>,
    /// A rate that falls holds a frame again whose wait was over: see [`Pacing::Gap`].
    keeps_gap: bool,
    /// How the times of frames at its rate are rounded.
    pub(crate) frame_time: FrameTime,
    pub(crate) entropy: u32,
    pub(crate) destination: u32,
    pub(crate) frame: u16,
    pub(crate) greedy: bool,
    /// Its frames are limited by a rate or window, acknowledged, or otherwise not simply sent.
    pub(crate) plain: bool,
    pub(crate) reaction: Reaction,
    /// Its frames are acknowledged.
    pub(crate) acknowledged: bool,
    /// An acknowledgement can change what it may send.
    pub(crate) heeds: bool,
    /// Its frames may have other entropies than its own.
    pub(crate) chooses_entropy: bool,
    /// What a tag adds to a frame.
    tag_size: u16,
    /// What headers and telemetry add to a frame.
    pub(crate) added: u16,
    pub(crate) pace: Option<Wire>,
    pub(crate) stream: Stream,
    /// Congestion notices it has had.
    pub(crate) notices: u64,
    /// How long it takes alone, if it is finite; else zero.
    pub(crate) alone: Span,
    /// Loss recovery, if it has one.
    pub(crate) reliable: Option<Box<Reliable>>,
    /// How it chooses among equal paths, if it does; goes before the choice of its reaction point.
    pub(crate) selection: Option<Box<PathSelection>>,
    /// Frames that its destination has permitted by pulls.
    pub(crate) pulled: u64,
    /// Frames that were dropped and will be queued again: when the source knows, and their bytes, in order of time.
    pub(crate) lost: VecDeque<(Time, u16)>,
}

units::state!(struct Flow { fixed: approach, number, host, sprays, probes, class, hops, keeps_gap, frame_time, entropy, destination, frame, greedy, plain, acknowledged, heeds, chooses_entropy, tag_size, added, alone; plain: port, timed, previous_ready, next_ready, in_ring, turns_before, on, stopped, remaining, made, sent, backlog, backlogged, deferred, stalled, settled, outstanding, sent_bytes, starts, not_before, last_start, last_bits, paced_at, stream, notices, pulled, lost; parts: reaction, pace, reliable, selection; });

impl Flow {
    pub(crate) fn new(number: u32, host: u32, spec: &FlowSpec, entropy: u32, adapter: &Adapter) -> Flow {
        let (greedy, pace) = match spec.pattern {
            Pattern::Greedy => (true, None),
            Pattern::Paced { rate, .. } => (false, Some(Wire::new(rate))),
        };
        let destination = match &spec.destination {
            Destination::Host(host) => host.0,
            Destination::Uniform => NIL,
        };
        let mut reaction = spec.reaction.clone();
        // What does not fit was refused before.
        let _ = reaction.attach(adapter);
        let reliable = Reliable::new(spec, adapter).map(Box::new);
        let mut selection = spec.path_selection.as_ref().map(|selection| Box::new(PathSelection::clone(selection)));
        if let Some(selection) = &mut selection {
            selection.attach(adapter, entropy);
        }
        let unlimited = reaction.allowance() == Allowance::default() && reaction.deadline().is_none();
        Flow {
            approach: NIL,
            number,
            host,
            port: 0,
            sprays: false,
            probes: spec.path_probe.is_some(),
            timed: false,
            previous_ready: NIL,
            next_ready: NIL,
            in_ring: false,
            turns_before: 0,
            on: false,
            stopped: false,
            class: spec.class,
            remaining: spec.size.map_or(u64::MAX, Bytes::get),
            made: 0,
            sent: 0,
            backlog: List::EMPTY,
            backlogged: 0,
            deferred: None,
            stalled: false,
            settled: 0,
            outstanding: 0,
            sent_bytes: 0,
            starts: (!greedy && spec.acknowledge.is_some()).then(Box::default),
            hops: 0,
            not_before: Time::ZERO,
            last_start: Time::ZERO,
            last_bits: 0,
            paced_at: None,
            keeps_gap: reaction.pacing() == Pacing::Gap,
            frame_time: FrameTime::Exact,
            entropy,
            destination,
            frame: spec.frame.get() as u16,
            greedy,
            plain: unlimited
                && matches!(spec.reaction, Reaction::None(_))
                && spec.added() == Bytes::ZERO
                && spec.acknowledge.is_none()
                && spec.recovery.is_none()
                && spec.reaction.pulling().is_none(),
            acknowledged: spec.acknowledge.is_some(),
            heeds: reaction.heeds_acknowledgements() || reliable.is_some() || selection.is_some(),
            chooses_entropy: spec.chooses_paths(),
            tag_size: reaction.tag_size().get() as u16,
            added: spec.added().get() as u16,
            reaction,
            pace,
            stream: Stream::new(adapter.seed, u64::from(number), "flow"),
            notices: 0,
            alone: Span::ZERO,
            reliable,
            selection,
            pulled: 0,
            lost: VecDeque::new(),
        }
    }

    /// What a tag, headers and telemetry add to the frame that it would send now.
    #[inline]
    pub(crate) fn tag_len(&self) -> u16 {
        let tag = if self.tag_size != 0 && self.reaction.tag() != 0 { self.tag_size } else { 0 };
        tag + self.added
    }

    /// Length of the next frame it would make.
    pub(crate) fn next_len(&self, smallest: u16) -> u16 {
        (self.remaining.min(u64::from(self.frame)) as u16).max(smallest)
    }

    /// Makes the next frame, for one of these hosts if its flow has not one destination. There must be bytes left.
    #[inline]
    pub(crate) fn make(&mut self, now: Time, smallest: u16, spray: bool, hosts: &[HostId]) -> Frame {
        let len = self.next_len(smallest);
        let mut flags = 0;
        if self.remaining != u64::MAX {
            self.remaining = self.remaining.saturating_sub(u64::from(self.frame));
            if self.remaining == 0 {
                flags = LAST;
            }
        }
        let dst = match self.destination {
            NIL => hosts[self.stream.below(hosts.len() as u64) as usize].0,
            host => host,
        };
        let entropy = if spray { self.stream.next_u64() as u32 } else { self.entropy };
        let seq = self.made as u32;
        self.made += 1;
        let mut frame = Frame::data(Segment { born: now, seq }, len);
        (frame.flow, frame.dst, frame.entropy) = (self.number, dst, entropy);
        (frame.class, frame.flags) = (self.class, flags);
        frame
    }

    /// How often it has been its turn, modulo 2^32.
    fn turns(&self) -> u32 {
        if self.plain && self.greedy { self.made as u32 } else { self.sent }
    }

    /// It takes a place in the ring without having sent.
    pub(crate) fn begin_wait(&mut self) {
        self.turns_before = self.turns();
    }

    /// Whether it has sent since it began to wait.
    pub(crate) fn has_had_turn(&self) -> bool {
        self.turns() != self.turns_before
    }

    /// Whether there is data that it has not sent yet.
    #[inline]
    fn has_fresh(&self) -> bool {
        if self.greedy { self.on && self.remaining > 0 } else { !self.backlog.is_empty() }
    }

    /// What it would send next, whether or not it may.
    #[inline]
    pub(crate) fn next(&self) -> Next {
        let fresh = self.has_fresh();
        match &self.reliable {
            Some(reliable) => reliable.sender.next(fresh),
            None if fresh => Next::Fresh,
            None => Next::Nothing,
        }
    }

    /// Whether it has something to send and nothing of its own holds it.
    pub(crate) fn may_send(&self, now: Time) -> bool {
        self.not_before <= now && self.may_start(|| self.reaction.allowance())
    }

    /// Likewise, if its reaction point is known to allow that.
    #[inline]
    pub(crate) fn may_send_within(&self, now: Time, allowance: Allowance) -> bool {
        self.not_before <= now && self.may_start(|| allowance)
    }

    #[inline(always)]
    fn may_start(&self, allowance: impl FnOnce() -> Allowance) -> bool {
        match self.next() {
            Next::Nothing => false,
            Next::Fresh => self.fits(true, allowance()),
            Next::Again { windowed, .. } => self.fits(windowed, allowance()),
        }
    }

    /// Whether the rate is more than a stop, and the window, if it applies, has room for another frame. One frame may
    /// always go when nothing is on its way.
    #[inline]
    fn fits(&self, windowed: bool, allowance: Allowance) -> bool {
        match allowance.window {
            _ if allowance.rate == Some(HALTED) => false,
            Some(window) if windowed => {
                let in_flight = match &self.reliable {
                    Some(reliable) => reliable.sender.in_flight() * u64::from(self.frame),
                    None => self.outstanding,
                };
                in_flight == 0 || in_flight + u64::from(self.frame) <= window.get()
            }
            _ => true,
        }
    }

    /// What it does now that it is in its ring or not.
    pub(crate) fn state(&self, now: Time) -> SourceState {
        if self.in_ring {
            return SourceState::Ready;
        }
        let fresh = self.has_fresh();
        match self.next() {
            Next::Nothing if fresh && self.reaction.pulling().is_some() => SourceState::Window,
            Next::Nothing if fresh || !self.all_acknowledged() => SourceState::Recovery,
            Next::Nothing if !self.lost.is_empty() => SourceState::Recovery,
            Next::Nothing if self.remaining == 0 && self.backlog.is_empty() => SourceState::Sent,
            Next::Nothing => SourceState::Application,
            Next::Fresh | Next::Again { .. } => {
                let halted = self.reaction.allowance().rate == Some(HALTED);
                if self.not_before > now || halted { SourceState::Rate } else { SourceState::Window }
            }
        }
    }

    /// Whether it has nothing left to send and all of it is known to have arrived, or is no concern of its.
    pub(crate) fn is_done(&self) -> bool {
        self.remaining == 0 && self.backlog.is_empty() && self.all_acknowledged()
    }

    /// When the frame of that position started on the wire, if it was made at `born` and is acknowledged for the first
    /// time now.
    pub(crate) fn started(&self, seq: u32, born: Time) -> Time {
        let position = seq.wrapping_sub(self.settled) as usize;
        let start = self.starts.as_ref().and_then(|starts| starts.0.get(position));
        start.map_or(born, |&start| start.max(born))
    }

    /// What it knows of its path and its progress, now that a frame that started at `start` is acknowledged,
    /// after `host_delay` at its destination.
    pub(crate) fn path_report(&self, now: Time, start: Time, host_delay: Span) -> PathReport {
        PathReport {
            network_round_trip: now.saturating_since(start),
            host_delay,
            hops: self.hops,
            acknowledged: Bytes::new(self.sent_bytes - self.outstanding),
            sent: Bytes::new(self.sent_bytes),
        }
    }

    /// That many more frames are settled.
    pub(crate) fn settle(&mut self, frames: u32) {
        self.settled = self.settled.wrapping_add(frames);
        if let Some(starts) = &mut self.starts {
            starts.0.drain(..(frames as usize).min(starts.0.len()));
        }
    }

    /// The frame of that position in the flow is acknowledged. Returns how many bytes that settles.
    pub(crate) fn acknowledged(&mut self, seq: u32) -> u64 {
        let frames = seq.wrapping_add(1).wrapping_sub(self.settled);
        if frames > u32::MAX / 2 {
            // An older one that was overtaken.
            return 0;
        }
        self.settle(frames);
        // All frames are alike but the last of a finite flow; when all is settled, so is that.
        let last = self.settled == self.sent;
        let bytes =
            if last { self.outstanding } else { self.outstanding.min(u64::from(frames) * u64::from(self.frame)) };
        self.outstanding -= bytes;
        bytes
    }

    /// A frame of that length (overhead counted in `size`) starts now, for the first time or again. Returns what its
    /// reaction point allows from now on.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, len: u16, size: Bytes, acknowledged: bool, again: bool) -> Allowance {
        self.sent = self.sent.wrapping_add(1);
        self.reaction.on_sent(now, Bytes::new(u64::from(len)));
        if !again {
            self.sent_bytes += u64::from(len);
        }
        if acknowledged && !again {
            self.outstanding += u64::from(len);
            if let Some(starts) = &mut self.starts {
                starts.0.push_back(now);
            }
        }
        let allowance = self.reaction.allowance();
        self.paced_at = allowance.rate;
        if let Some(rate) = self.paced_at {
            (self.last_start, self.last_bits) = (now, size.bits());
            self.not_before = now.saturating_add(self.wait_at(rate));
        } else if self.keeps_gap {
            (self.last_start, self.last_bits) = (now, size.bits());
        }
        allowance
    }

    /// The entropy of the next frame, if the source chooses one for each; `usual` is what it has if nothing else decides.
    pub(crate) fn next_entropy(&mut self, usual: u32) -> u32 {
        match &mut self.selection {
            Some(selection) => selection.entropy(),
            None => self.reaction.entropy().unwrap_or(usual),
        }
    }

    /// The entropy that its frames have at present; its own if they differ.
    pub(crate) fn present_entropy(&self) -> u32 {
        self.selection.as_ref().and_then(|selection| selection.held()).unwrap_or(self.entropy)
    }

    /// Its path selection hears of a reply to a frame of that entropy, which was marked or only a header.
    pub(crate) fn hear_of_path(&mut self, now: Time, entropy: u32, (marked, trimmed): (bool, bool)) {
        let (sent, acknowledged) = (Bytes::new(self.sent_bytes), Bytes::new(self.sent_bytes - self.outstanding));
        if let Some(selection) = &mut self.selection {
            selection.on_echo(now, &Echo { entropy, marked, trimmed, acknowledged, sent });
        }
    }

    /// How long the frame that started last takes at a rate.
    fn wait_at(&self, rate: Rate) -> Span {
        self.frame_time.rounded(span_of(self.last_bits, rate))
    }

    /// Brings a wait that has begun in line with the rate that holds now.
    pub(crate) fn repace(&mut self, now: Time) {
        if self.not_before <= now && !self.keeps_gap {
            return;
        }
        let rate = self.reaction.allowance().rate;
        if rate == self.paced_at {
            return;
        }
        self.not_before = match (self.reaction.pacing(), self.paced_at, rate) {
            (Pacing::Kept, ..) => self.not_before,
            (_, _, None) => now,
            (Pacing::Remaining, Some(before), Some(rate)) => {
                let left = u128::from((self.not_before - now).as_picos()) * u128::from(before.as_bits_per_sec());
                let left = left / u128::from(rate.as_bits_per_sec().max(1));
                now.saturating_add(Span::from_picos(u64::try_from(left).unwrap_or(u64::MAX / 2)))
            }
            (_, _, Some(rate)) => self.last_start.saturating_add(self.wait_at(rate)),
        };
        self.paced_at = rate;
    }

    /// Whether a frame whose wait was over may have to wait again.
    pub(crate) fn keeps_gap(&self) -> bool {
        self.keeps_gap
    }

    /// The time until a paced source makes its next frame.
    pub(crate) fn gap(&mut self, spec: &FlowSpec, overhead: Bytes) -> Span {
        let (Pattern::Paced { gaps, .. }, Some(pace)) = (spec.pattern, &mut self.pace) else { return Span::ZERO };
        let mean = pace.serialise(spec.frame + overhead);
        match gaps {
            Gaps::Constant => mean,
            Gaps::Exponential => self.stream.exponential(mean),
            Gaps::Jittered(fraction) => {
                let factor = 1.0 + fraction * (2.0 * self.stream.unit_f64() - 1.0);
                Span::from_picos((mean.as_picos() as f64 * factor) as u64)
            }
        }
    }

    /// The length of the burst or silence that begins now, if it ends.
    pub(crate) fn phase(&mut self, spec: &FlowSpec) -> Option<Span> {
        let Activity::OnOff { on, off, random, .. } = spec.activity else { return None };
        let mean = if self.on { on } else { off };
        Some(if random { self.stream.exponential(mean) } else { mean })
    }
}
