//! Adapters: many flows on one cable, and a receiver that may be slower than the cable.

pub(crate) mod flow;

use crate::describe::spec::MAX_CLASSES;
use crate::describe::workload::{Activity, Destination, Gaps, Overflow, Pattern};
use crate::machine::frame::{Frame, Kind, LAST, List, MARKED, NIL};
use crate::machine::host::flow::{ACTIVITY, DEADLINE, Flow, LIMITER, LOST, SOURCE, TIMERS};
use crate::machine::network::{Ctx, Device, Network};
use crate::machine::port::{CREDITS, Port};
use crate::observe::probe::{DropCause, Probe, QueueSample};
use congestion::{Feedback, ReactionPoint, STAMP};
use engine::IndexedHeap;
use units::{Bytes, Rate, Span, Time, Wire};

/// See the module.
#[derive(Debug)]
pub(crate) struct Host {
    /// Number among the hosts of the network.
    pub(crate) number: u32,
    pub(crate) port: u32,
    /// Its flows, as positions in [`Network::flows`]; those that have not started come last, the next one first.
    pub(crate) first_flow: u32,
    pub(crate) flows: u32,
    /// How many of them have started.
    pub(crate) started: u32,
    /// Timers of its flows, numbered from its first flow.
    pub(crate) timers: IndexedHeap,
    /// Of each class the flow that sent last, as a position in [`Network::flows`], or [`NIL`]; see
    /// [`Network::last_sender`].
    pub(crate) last_sender: [u32; MAX_CLASSES],
    /// Frames that have arrived and are not yet consumed; present if it can be slower than the cable.
    pub(crate) service: Option<Box<Service>>,
}

/// A receiver of limited speed.
#[derive(Debug)]
pub(crate) struct Service {
    /// `None` consumes at once, a rate of zero not at all.
    pub(crate) rate: Option<Rate>,
    clock: Option<Wire>,
    pub(crate) queue: List,
    /// The frame that is being consumed.
    pub(crate) current: u32,
}

impl Service {
    pub(crate) fn new(rate: Option<Rate>) -> Service {
        Service { rate, clock: clock(rate), queue: List::EMPTY, current: NIL }
    }
}

fn clock(rate: Option<Rate>) -> Option<Wire> {
    rate.filter(|&rate| rate > Rate::ZERO).map(Wire::new)
}

impl<P: Probe> Network<P> {
    // ---- sending ----

    /// The next frame of a class from a host: what waits in its queue, then its flows in turn.
    #[inline]
    pub(crate) fn take_from_host(&mut self, now: Time, p: u32, host: u32, class: u8, ctx: &mut Ctx) -> Option<u32> {
        let lane = self.lane(p, class);
        let smallest = self.plan.smallest_frame;
        let tail = self.lanes[lane].ready;
        if !self.lanes[lane].queue.is_empty() {
            return self.take_from_queue(p, class);
        }
        let slot = self.flows[tail as usize].next_ready;
        if self.ports[p as usize].flags & CREDITS != 0 {
            let len = self.next_flow_len(tail) as u16;
            if !self.spend(p, class, len) {
                return None;
            }
        }
        let flow = &mut self.flows[slot as usize];
        let spec = &self.plan.flows[flow.number as usize];
        if flow.plain && flow.greedy {
            let frame = flow.make(now, smallest, self.plan.spray, spec);
            self.totals.made(frame.len);
            // Its turn is over: it becomes the last of the ring.
            self.lanes[lane].ready = slot;
            if flow.remaining == 0 {
                self.leave_ring(p, slot);
            }
            return Some(self.pool.put(frame));
        }
        Some(self.take_from_flow(now, p, host, slot, ctx))
    }

    /// The next frame of a flow that is paced, limited or acknowledged.
    fn take_from_flow(&mut self, now: Time, p: u32, host: u32, slot: u32, ctx: &mut Ctx) -> u32 {
        let flow = &mut self.flows[slot as usize];
        let spec = &self.plan.flows[flow.number as usize];
        let place = if flow.greedy {
            let frame = flow.make(now, self.plan.smallest_frame, self.plan.spray, spec);
            self.totals.made(frame.len);
            self.pool.put(frame)
        } else {
            flow.backlogged -= 1;
            flow.backlog.pop(&self.pool).expect("a flow in the ring has something to send")
        };
        let (len, tag) = (self.pool[place].len, flow.tag_len());
        let size = Bytes::new(u64::from(len + tag)) + self.plan.overhead;
        // What was thrown away before it was sent leaves no gap in the numbers.
        self.pool[place].seq = flow.sent;
        self.pool[place].tag = flow.reaction.tag();
        self.pool[place].len = len + tag;
        self.totals.control_bytes += u64::from(tag);
        flow.on_sent(now, len, size, spec.acknowledge.is_some());
        let more = flow.may_send(now);
        let stalled = std::mem::take(&mut flow.stalled);
        let lane = self.lane(p, self.flows[slot as usize].class);
        self.lanes[lane].ready = slot;
        if !more {
            self.leave_ring(p, slot);
            self.arm_limiter(now, host, slot, ctx);
        }
        self.arm_deadline(now, host, slot, ctx);
        self.send_probe(now, host, slot, ctx);
        if stalled {
            self.make_paced(now, host, slot, ctx);
        }
        place
    }

    /// Length of the frame the first flow of a ring would send.
    pub(crate) fn next_flow_len(&self, tail: u32) -> u32 {
        let flow = &self.flows[self.flows[tail as usize].next_ready as usize];
        let len = if flow.greedy { flow.next_len(self.plan.smallest_frame) } else { self.pool[flow.backlog.head].len };
        u32::from(len + flow.tag_len())
    }

    /// What of a frame is its flow's: all of it but a tag.
    #[inline]
    pub(crate) fn payload(&self, frame: &Frame) -> u16 {
        match (frame.tag, frame.kind) {
            (1.., Kind::Data) => frame.len - self.plan.flows[frame.flow as usize].reaction.tag_size().get() as u16,
            _ => frame.len,
        }
    }

    /// Puts a flow into its class's ring and wakes the wire.
    ///
    /// It goes before the flow that sent last, if that one is in the ring: so no flow sends twice in a row while another
    /// may send. A greedy flow without limits comes here when it starts or turns on, and goes to the end of the ring.
    fn join_ring(&mut self, p: u32, slot: u32, ctx: &mut Ctx) {
        let flow = &self.flows[slot as usize];
        let (class, starts) = (flow.class, flow.plain && flow.greedy);
        let lane = self.lane(p, class);
        let tail = self.lanes[lane].ready;
        let last = self.last_sender(p, slot);
        let (before, after) = if !starts && last != NIL && self.flows[last as usize].in_ring {
            (self.flows[last as usize].previous_ready, last)
        } else {
            self.lanes[lane].ready = slot;
            if tail == NIL { (slot, slot) } else { (tail, self.flows[tail as usize].next_ready) }
        };
        let flow = &mut self.flows[slot as usize];
        (flow.previous_ready, flow.next_ready, flow.in_ring) = (before, after, true);
        flow.begin_wait();
        self.flows[before as usize].next_ready = slot;
        self.flows[after as usize].previous_ready = slot;
        self.ports[p as usize].waiting |= 1 << class;
        self.kick(p, ctx);
    }

    /// Takes a flow out of its ring.
    fn leave_ring(&mut self, p: u32, slot: u32) {
        self.last_sender(p, slot);
        let flow = &mut self.flows[slot as usize];
        flow.in_ring = false;
        let (before, after, class) = (flow.previous_ready, flow.next_ready, flow.class);
        let lane = self.lane(p, class);
        if after == slot {
            self.lanes[lane].ready = NIL;
            if self.lanes[lane].queue.is_empty() {
                self.ports[p as usize].waiting &= !(1 << class);
            }
            return;
        }
        self.flows[before as usize].next_ready = after;
        self.flows[after as usize].previous_ready = before;
        if self.lanes[lane].ready == slot {
            self.lanes[lane].ready = before;
            self.flows[before as usize].begin_wait();
        }
    }

    /// The flow that sent last of a flow's class, or [`NIL`]; noted, since the ring is about to change. The short path
    /// notes nothing: a flow that has sent is the tail of the ring, and its number of turns says so.
    fn last_sender(&mut self, p: u32, slot: u32) -> u32 {
        let Flow { class, host, .. } = self.flows[slot as usize];
        let tail = self.lanes[self.lane(p, class)].ready;
        let last = &mut self.hosts[host as usize].last_sender[usize::from(class)];
        if tail != NIL && self.flows[tail as usize].has_had_turn() {
            *last = tail;
        }
        *last
    }

    /// Brings a flow's place in the ring in line with what it may do.
    fn settle_flow(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let p = self.hosts[host as usize].port;
        let flow = &mut self.flows[slot as usize];
        flow.repace(now);
        match (flow.may_send(now), flow.in_ring) {
            (true, false) => self.join_ring(p, slot, ctx),
            (false, true) => self.leave_ring(p, slot),
            _ => {}
        }
        self.arm_limiter(now, host, slot, ctx);
        self.send_probe(now, host, slot, ctx);
        self.arm_deadline(now, host, slot, ctx);
    }

    /// Sends the probe that a flow's reaction point wants to send, if it does.
    fn send_probe(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
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
    fn answer(&mut self, now: Time, p: u32, probe: &Frame, ctx: &mut Ctx) {
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
    fn answered(&mut self, now: Time, frame: &Frame, ctx: &mut Ctx) {
        let slot = self.flow_slot[frame.flow as usize];
        if slot != NIL {
            let feedback = Feedback::Probe { number: frame.seq, value: frame.born.as_picos() };
            self.feed_back(now, slot, &feedback, ctx);
        }
    }

    /// Puts a frame that the host itself makes into its queue.
    fn send_by_host(&mut self, p: u32, frame: Frame, ctx: &mut Ctx) {
        let lane = self.lane(p, frame.class);
        self.lanes[lane].bytes += u32::from(frame.len);
        let place = self.pool.put(frame);
        self.lanes[lane].queue.push(&mut self.pool, place);
        self.ports[p as usize].waiting |= 1 << frame.class;
        self.kick(p, ctx);
    }

    // ---- timers of flows ----

    fn arm_flow_timer(&mut self, host: u32, slot: u32, which: u32, at: Time, ctx: &mut Ctx) {
        let state = &mut self.hosts[host as usize];
        state.timers.arm((slot - state.first_flow) * TIMERS + which, at);
        self.arm_host_timer(host, ctx);
    }

    fn disarm_flow_timer(&mut self, host: u32, slot: u32, which: u32, ctx: &mut Ctx) {
        let state = &mut self.hosts[host as usize];
        if state.timers.disarm((slot - state.first_flow) * TIMERS + which) {
            self.arm_host_timer(host, ctx);
        }
    }

    fn arm_host_timer(&mut self, host: u32, ctx: &mut Ctx) {
        let state = &self.hosts[host as usize];
        let alarm = self.numbers.flow + self.ports[state.port as usize].node;
        match state.timers.peek() {
            Some((at, _)) => ctx.alarms.arm(alarm, at),
            None => ctx.alarms.disarm(alarm),
        }
    }

    fn arm_limiter(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let not_before = self.flows[slot as usize].not_before;
        if not_before > now {
            self.arm_flow_timer(host, slot, LIMITER, not_before, ctx);
        }
    }

    fn arm_deadline(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let flow = &self.flows[slot as usize];
        // A flow that has sent all it had has no use for a rate; if some of it comes back, so does the deadline.
        let done = flow.remaining == 0 && flow.backlog.is_empty();
        match flow.reaction.deadline().filter(|_| !done) {
            Some(at) => self.arm_flow_timer(host, slot, DEADLINE, at.max(now), ctx),
            None => self.disarm_flow_timer(host, slot, DEADLINE, ctx),
        }
    }

    /// A host's wire is about to choose: flows that may send from this very instant on are in the ring before it does.
    #[inline(never)]
    pub(crate) fn run_due_timers(&mut self, now: Time, p: u32, ctx: &mut Ctx) {
        let Port { node, device: Device::Host(host), .. } = self.ports[p as usize] else { return };
        if self.hosts[host as usize].timers.peek().is_some_and(|(at, _)| at <= now) {
            self.on_flow_timers(now, node, ctx);
        }
    }

    /// Timers of a host's flows that are due.
    pub(crate) fn on_flow_timers(&mut self, now: Time, node: u32, ctx: &mut Ctx) {
        let host = match self.nodes[node as usize].device {
            Device::Host(host) => host,
            Device::Switch(switch) => return self.on_monitor(now, switch, ctx),
        };
        while let Some((at, number)) = self.hosts[host as usize].timers.peek() {
            if at > now {
                break;
            }
            self.hosts[host as usize].timers.pop();
            let slot = self.hosts[host as usize].first_flow + number / TIMERS;
            match number % TIMERS {
                SOURCE => self.make_paced(now, host, slot, ctx),
                DEADLINE => {
                    self.flows[slot as usize].reaction.on_deadline(now);
                    self.settle_flow(now, host, slot, ctx);
                }
                ACTIVITY => self.switch_flow(now, host, slot, ctx),
                LOST => self.queue_lost(now, host, slot, ctx),
                _ => self.settle_flow(now, host, slot, ctx),
            }
        }
        self.arm_host_timer(host, ctx);
    }

    /// A frame of a flow of this shard was dropped; its source will know.
    pub(crate) fn hear_of_loss(&mut self, flow: u32, len: u16, at: Time, ctx: &mut Ctx) {
        let slot = self.flow_slot[flow as usize];
        let lost = &mut self.flows[slot as usize].lost;
        let place = lost.partition_point(|&(other, _)| other <= at);
        lost.insert(place, (at, len));
        let (first, host) = (lost[0].0, self.flows[slot as usize].host);
        self.arm_flow_timer(host, slot, LOST, first, ctx);
    }

    /// The source knows of frames that were dropped, and has as much more to send.
    fn queue_lost(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let flow = &mut self.flows[slot as usize];
        let idle = flow.remaining == 0;
        while let Some(&(at, len)) = flow.lost.front() {
            if at > now {
                self.arm_flow_timer(host, slot, LOST, at, ctx);
                break;
            }
            flow.lost.pop_front();
            if flow.remaining != u64::MAX {
                flow.remaining += u64::from(len);
            }
        }
        let flow = &mut self.flows[slot as usize];
        if idle && !flow.greedy && flow.on {
            let gap = flow.gap(&self.plan.flows[flow.number as usize], self.plan.overhead);
            self.arm_flow_timer(host, slot, SOURCE, now + gap, ctx);
        }
        self.settle_flow(now, host, slot, ctx);
    }

    /// Flows whose start has come.
    pub(crate) fn on_workload(&mut self, now: Time, node: u32, ctx: &mut Ctx) {
        let Device::Host(host) = self.nodes[node as usize].device else { return };
        loop {
            let state = &mut self.hosts[host as usize];
            if state.started == state.flows {
                return;
            }
            let slot = state.first_flow + state.started;
            let start = self.plan.flows[self.flows[slot as usize].number as usize].start;
            if start > now {
                ctx.alarms.arm(self.numbers.workload + node, start);
                return;
            }
            state.started += 1;
            self.switch_flow(now, host, slot, ctx);
        }
    }

    /// A source starts, turns on or off, or stops for good.
    fn switch_flow(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let flow = &mut self.flows[slot as usize];
        let spec = &self.plan.flows[flow.number as usize];
        let (stop, activity) = (spec.stop, spec.activity);
        if stop.is_some_and(|stop| stop <= now) {
            (flow.on, flow.stopped) = (false, true);
            flow.reaction.on_activity(now, false);
            self.clear_backlog(now, host, slot);
            self.disarm_flow_timer(host, slot, SOURCE, ctx);
            return self.settle_flow(now, host, slot, ctx);
        }
        flow.on = !flow.on;
        flow.reaction.on_activity(now, flow.on);
        let turned_on = flow.on;
        // A source that has nothing left to make need not wake again, unless some of it may come back.
        let wakes = flow.remaining > 0 || spec.requeue.is_some();
        let phase = flow.phase(spec).filter(|_| wakes).map(|span| now.saturating_add(span));
        let first_gap = if turned_on && !flow.greedy { Some(flow.gap(spec, self.plan.overhead)) } else { None };
        // The first frame comes after a part of a gap, so that equal sources are not in step; an exponential gap has
        // no memory and is taken whole.
        let memoryless = matches!(spec.pattern, Pattern::Paced { gaps: Gaps::Exponential, .. });
        let phase_in = first_gap.map(|gap| match memoryless {
            true => gap,
            false => Span::from_picos(flow.stream.below(gap.as_picos().max(1))),
        });
        if let Some(next) = phase.into_iter().chain(stop).min() {
            self.arm_flow_timer(host, slot, ACTIVITY, next, ctx);
        }
        if let Some(part) = phase_in {
            self.arm_flow_timer(host, slot, SOURCE, now.saturating_add(part), ctx);
        }
        if !turned_on {
            self.disarm_flow_timer(host, slot, SOURCE, ctx);
            if matches!(activity, Activity::OnOff { discard: true, .. }) {
                self.clear_backlog(now, host, slot);
            }
        }
        self.settle_flow(now, host, slot, ctx);
    }

    fn clear_backlog(&mut self, now: Time, host: u32, slot: u32) {
        let p = self.hosts[host as usize].port;
        while let Some(place) = self.flows[slot as usize].backlog.pop(&self.pool) {
            self.lose(now, p, place, DropCause::AtSource);
        }
        self.flows[slot as usize].backlogged = 0;
        self.flows[slot as usize].stalled = false;
    }

    /// A paced source makes a frame.
    fn make_paced(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let p = self.hosts[host as usize].port;
        let flow: &mut Flow = &mut self.flows[slot as usize];
        let spec = &self.plan.flows[flow.number as usize];
        let Pattern::Paced { backlog, .. } = spec.pattern else { return };
        if !flow.on || flow.remaining == 0 {
            return;
        }
        let full = backlog.filter(|limit| flow.backlogged >= limit.frames);
        if full.is_some_and(|limit| limit.overflow == Overflow::Stall) {
            flow.stalled = true;
            return;
        }
        let frame = flow.make(now, self.plan.smallest_frame, self.plan.spray, spec);
        self.totals.made(frame.len);
        let place = self.pool.put(frame);
        let gap = flow.gap(spec, self.plan.overhead);
        if full.is_some() {
            self.lose(now, p, place, DropCause::AtSource);
        } else {
            flow.backlogged += 1;
            flow.backlog.push(&mut self.pool, place);
        }
        self.arm_flow_timer(host, slot, SOURCE, now + gap, ctx);
        self.settle_flow(now, host, slot, ctx);
    }

    // ---- receiving ----

    /// A frame has arrived at a host.
    #[inline]
    pub(crate) fn host_receives(&mut self, now: Time, p: u32, host: u32, place: u32, ctx: &mut Ctx) {
        if self.hosts[host as usize].service.is_none() {
            return self.consume(now, p, host, place, ctx);
        }
        let (class, len) = (self.pool[place].class, self.pool[place].len);
        if !self.admit(now, p, class, len, place, ctx) {
            return;
        }
        // What is for the adapter itself does not wait for the application.
        if self.pool[place].kind != Kind::Data {
            self.consume(now, p, host, place, ctx);
            self.release(now, p, class, len, ctx);
            return;
        }
        if let Some(service) = &mut self.hosts[host as usize].service {
            service.queue.push(&mut self.pool, place);
        }
        self.kick_crossbar(p, ctx);
    }

    /// A slow receiver has consumed a frame, or may begin to.
    pub(crate) fn on_service(&mut self, now: Time, p: u32, host: u32, ctx: &mut Ctx) {
        let Some(service) = &mut self.hosts[host as usize].service else { return };
        let done = std::mem::replace(&mut service.current, NIL);
        if done != NIL {
            let (class, len) = (self.pool[done].class, self.pool[done].len);
            self.consume(now, p, host, done, ctx);
            self.release(now, p, class, len, ctx);
        }
        loop {
            let Some(service) = &mut self.hosts[host as usize].service else { return };
            if service.rate == Some(Rate::ZERO) {
                return;
            }
            let Some(place) = service.queue.pop(&self.pool) else { return };
            let (class, len) = (self.pool[place].class, self.pool[place].len);
            if let Some(clock) = &mut service.clock {
                service.current = place;
                let end = now + clock.serialise(Bytes::new(u64::from(len)) + self.plan.overhead);
                ctx.alarms.arm(self.numbers.crossbar + p, end);
                return;
            }
            self.consume(now, p, host, place, ctx);
            self.release(now, p, class, len, ctx);
        }
    }

    /// A receiver's speed changes; the frame it is at keeps its old one.
    pub(crate) fn set_service(&mut self, host: u32, rate: Option<Rate>, ctx: &mut Ctx) {
        let p = self.hosts[host as usize].port;
        if let Some(service) = &mut self.hosts[host as usize].service {
            service.rate = rate;
            service.clock = clock(rate);
            self.kick_crossbar(p, ctx);
        }
    }

    /// The host's application takes a frame.
    #[inline]
    fn consume(&mut self, now: Time, p: u32, host: u32, place: u32, ctx: &mut Ctx) {
        let mut frame = self.pool.take(place);
        frame.len = self.payload(&frame);
        match frame.kind {
            Kind::Data => self.deliver(now, p, host, &frame, ctx),
            Kind::Acknowledgement => self.acknowledged(now, &frame, ctx),
            Kind::Notice => self.noticed(now, &frame, ctx),
            Kind::Probe => self.answer(now, p, &frame, ctx),
            Kind::Answer => self.answered(now, &frame, ctx),
            Kind::Pause | Kind::Credit | Kind::Receipt => {}
        }
    }

    #[inline]
    fn deliver(&mut self, now: Time, p: u32, host: u32, frame: &Frame, ctx: &mut Ctx) {
        self.totals.delivered_frames += 1;
        self.totals.delivered_bytes += u64::from(frame.len);
        self.probe.on_deliver(now, self.hosts[host as usize].number, frame);
        let spec = &self.plan.flows[frame.flow as usize];
        let received = &mut self.received[frame.flow as usize];
        received.bytes += u64::from(frame.len);
        received.frames += 1;
        received.marked += u64::from(frame.flags & MARKED != 0);
        received.last = now;
        if let Some(size) = spec.size
            && received.completed.is_none()
            && received.bytes >= size.get()
            && matches!(spec.destination, Destination::Host(_))
        {
            received.completed = Some(now);
            self.probe.on_complete(now, frame.flow);
        }
        if spec.acknowledge.is_some() {
            self.acknowledge(now, p, frame, ctx);
        }
    }

    /// Sends an acknowledgement if one is due.
    fn acknowledge(&mut self, now: Time, p: u32, data: &Frame, ctx: &mut Ctx) {
        let spec = &self.plan.flows[data.flow as usize];
        let Some(how) = spec.acknowledge else { return };
        let frames = &mut self.received[data.flow as usize].unacknowledged;
        *frames += 1;
        if *frames < how.every && data.flags & LAST == 0 && data.flags & MARKED == 0 {
            return;
        }
        *frames = 0;
        let mut frame = Frame::control(Kind::Acknowledgement, how.size.get() as u16, now);
        frame.flow = data.flow;
        frame.dst = spec.source.0;
        frame.seq = data.seq;
        frame.born = data.born;
        frame.entropy = data.entropy;
        frame.class = how.class;
        frame.flags = data.flags & MARKED;
        self.totals.acknowledgements += 1;
        self.totals.control_bytes += how.size.get();
        self.send_by_host(p, frame, ctx);
    }

    /// An acknowledgement has come back to its flow's source.
    fn acknowledged(&mut self, now: Time, frame: &Frame, ctx: &mut Ctx) {
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
    fn noticed(&mut self, now: Time, frame: &Frame, ctx: &mut Ctx) {
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

    // ---- sampling ----

    /// Shows every queue of a node, and every started flow of a host, to the probe.
    pub(crate) fn on_sample(&mut self, now: Time, node: u32, ctx: &mut Ctx) {
        let Some(every) = self.probe.sample_every() else { return };
        ctx.alarms.arm(self.numbers.sample + node, now + every);
        let state = &self.nodes[node as usize];
        for p in state.first_port..state.first_port + u32::from(state.ports) {
            for class in 0..self.classes as u8 {
                let lane = &self.lanes[p as usize * self.classes + class as usize];
                self.probe.on_queue(
                    now,
                    QueueSample {
                        port: self.ports[p as usize].global,
                        class,
                        output_bytes: lane.bytes,
                        input_held: lane.held,
                    },
                );
            }
        }
        if let Device::Switch(switch) = state.device
            && let Some(occupancy) =
                self.switches[switch as usize].monitor.as_ref().and_then(|it| it.occupancy.as_ref())
        {
            for p in state.first_port..state.first_port + u32::from(state.ports) {
                for class in 0..self.classes {
                    let cell = (p - state.first_port) as usize * self.classes + class;
                    let held = occupancy.by_flow(cell);
                    self.probe.on_occupancy(now, self.ports[p as usize].global, class as u8, &held);
                }
            }
        }
        if let Device::Host(host) = state.device
            && self.probe.wants_rates()
        {
            let host = &self.hosts[host as usize];
            for flow in &self.flows[host.first_flow as usize..(host.first_flow + host.started) as usize] {
                let allowance = flow.reaction.allowance();
                let (rate, window) = (allowance.rate.map(Rate::as_bits_per_sec), allowance.window.map(Bytes::get));
                self.probe.on_rate(now, flow.number, rate, window);
            }
        }
    }
}
