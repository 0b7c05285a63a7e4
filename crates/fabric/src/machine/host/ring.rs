//! Which flow sends next: the ring of a class holds the flows that may send, and each has its turn.

use crate::machine::frame::{Frame, NIL, TELEMETRY};
use crate::machine::host::flow::Flow;
use crate::machine::network::{Ctx, Network};
use crate::machine::port::{CREDITS, MULTIHOMED, TIMED};
use crate::observe::probe::{Probe, SourceState};
use congestion::ReactionPoint;
use transport::Next;
use units::{Bytes, Time};

impl<P: Probe> Network<P> {
    /// The wire of a host's port is free, or may be: the next frame starts.
    ///
    /// This is the short path: one class ready, no credits, one link. What else there is to do is done by
    /// [`Network::transmit_by_class`], which could do this too.
    #[inline(never)]
    pub(crate) fn transmit_from_host(&mut self, now: Time, p: u32, host: u32, ctx: &mut Ctx) {
        if self.ports[p as usize].flags & TIMED != 0 {
            self.run_due_timers(now, host, ctx);
        }
        let port = &mut self.ports[p as usize];
        let classes = port.waiting & !port.blocked;
        if !(port.control.is_empty() && classes.is_power_of_two()) {
            return self.transmit_by_class(now, p, ctx);
        }
        port.moved |= classes;
        let class = classes.trailing_zeros() as u8;
        let lane = &mut self.lanes[p as usize * self.classes + usize::from(class)];
        let place = lane.queue.head;
        let place = if place == NIL {
            let tail = lane.ready;
            self.take_turn(now, p, host, tail, ctx)
        } else {
            let frame = &self.pool[place];
            lane.queue.head = frame.next;
            lane.bytes -= u32::from(frame.len);
            if frame.next == NIL && lane.ready == NIL {
                port.waiting &= !classes;
            }
            place
        };
        self.start_from_host(now, p, place, ctx);
    }

    /// The next frame of a class from a host: what waits in its queue, then its flows in turn.
    #[inline]
    pub(crate) fn take_from_host(&mut self, now: Time, p: u32, host: u32, class: u8, ctx: &mut Ctx) -> Option<u32> {
        let lane = self.lane(p, class);
        let tail = self.lanes[lane].ready;
        if !self.lanes[lane].queue.is_empty() {
            return self.take_from_queue(p, class);
        }
        if self.ports[p as usize].flags & CREDITS != 0 {
            let len = self.next_flow_len(tail) as u16;
            if !self.spend(p, class, len) {
                return None;
            }
        }
        Some(self.take_turn(now, p, host, tail, ctx))
    }

    /// The next frame of the flow whose turn it is: the one after `tail`, the last of its ring.
    #[inline(always)]
    fn take_turn(&mut self, now: Time, p: u32, host: u32, tail: u32, ctx: &mut Ctx) -> u32 {
        let slot = self.flows[tail as usize].next_ready;
        let flow = &mut self.flows[slot as usize];
        if !(flow.plain && flow.greedy) {
            return self.take_from_flow(now, p, host, slot, ctx);
        }
        let (smallest, spray, destination) = (self.plan.smallest_frame, self.plan.spray, flow.destination);
        let frame = match destination {
            NIL => flow.make(now, smallest, spray, self.plan.flows[flow.number as usize].hosts()),
            _ => flow.make(now, smallest, spray, &[]),
        };
        self.totals.made(frame.len);
        // Its turn is over: it becomes the last of the ring.
        let class = usize::from(flow.class);
        let over = flow.remaining == 0;
        self.lanes[p as usize * self.classes + class].ready = slot;
        if over {
            self.end_plain_flow(now, p, host, slot, frame.len, ctx);
        }
        self.pool.put(frame)
    }

    /// A flow without limits has made its last frame, of that length.
    #[inline(never)]
    fn end_plain_flow(&mut self, now: Time, p: u32, host: u32, slot: u32, len: u16, ctx: &mut Ctx) {
        let number = self.flows[slot as usize].number;
        self.leave_ring(p, slot);
        if self.probe.wants_causes() {
            self.note_source(now, slot);
        }
        if self.waiting.is_some() {
            self.last_frame_starts(now, p, number, len, ctx);
        }
        self.give_up_if_done(host, slot);
    }

    /// The next frame of a flow that is paced, limited or acknowledged.
    fn take_from_flow(&mut self, now: Time, p: u32, host: u32, slot: u32, ctx: &mut Ctx) -> u32 {
        let flow = &mut self.flows[slot as usize];
        let next = flow.next();
        let again = matches!(next, Next::Again { .. });
        let place = if let Next::Again { number, .. } = next {
            let frame = flow.make_again(now, number, self.plan.smallest_frame, self.plan.spray);
            self.totals.retransmitted(frame.len);
            self.pool.put(frame)
        } else if flow.greedy {
            let hosts = if flow.destination == NIL { self.plan.flows[flow.number as usize].hosts() } else { &[] };
            let frame = flow.make(now, self.plan.smallest_frame, self.plan.spray, hosts);
            self.totals.made(frame.len);
            self.pool.put(frame)
        } else {
            flow.backlogged -= 1;
            let place = flow.backlog.pop(&self.pool).expect("a flow in the ring has something to send");
            self.refill_backlog(slot);
            place
        };
        if self.ports[p as usize].flags & MULTIHOMED != 0 {
            self.pool[place].dst = self.address_by(p, self.pool[place].dst);
        }
        let flow = &mut self.flows[slot as usize];
        let frame = &mut self.pool[place];
        let (len, tag) = (frame.len, flow.tag_len());
        let size = Bytes::new(u64::from(len + tag)) + self.plan.overhead;
        // What was thrown away before it was sent leaves no gap in the numbers.
        let last = frame.is_last();
        frame.set_seq(flow.number_next(now, next, len, last));
        frame.tag = flow.reaction.tag();
        frame.len = len + tag;
        if flow.chooses_entropy {
            frame.entropy = flow.next_entropy(frame.entropy);
        }
        self.totals.control_bytes += u64::from(tag);
        if flow.added != 0 {
            frame.tag = TELEMETRY;
            self.telemetry.begin(place);
        }
        let allowance = flow.on_sent(now, len, size, flow.acknowledged, again);
        if flow.reliable.is_some() {
            let announced = flow.announcement();
            if announced != 0 {
                self.pool[place].tag = announced;
            }
            self.arm_retransmission(now, host, slot, ctx);
        }
        if last && self.waiting.is_some() {
            let number = self.flows[slot as usize].number;
            self.last_frame_starts(now, p, number, len + tag, ctx);
        }
        let flow = &mut self.flows[slot as usize];
        let more = flow.may_send_within(now, allowance);
        let stalled = std::mem::take(&mut flow.stalled);
        let (class, sprays, probes, all_made) = (flow.class, flow.sprays, flow.probes, flow.remaining == 0);
        let lane = self.lane(p, class);
        self.lanes[lane].ready = slot;
        if !more {
            self.leave_ring(p, slot);
            self.arm_limiter(now, host, slot, ctx);
        }
        if sprays {
            self.take_turns(now, p, slot, ctx);
        }
        self.arm_deadline(now, host, slot, ctx);
        if probes {
            self.send_probe(now, slot, ctx);
        }
        if self.probe.wants_causes() {
            if again {
                let (port, number) = (self.ports[p as usize].global, self.flows[slot as usize].number);
                self.probe.on_source(now, port, number, SourceState::Resend);
            }
            self.note_source(now, slot);
        }
        if stalled {
            self.make_paced(now, host, slot, ctx);
        }
        if all_made {
            self.give_up_if_done(host, slot);
        }
        place
    }

    /// Length of the frame the first flow of a ring would send.
    pub(crate) fn next_flow_len(&self, tail: u32) -> u32 {
        self.next_len_of(self.flows[tail as usize].next_ready)
    }

    /// Length of the frame that a flow would send next.
    pub(crate) fn next_len_of(&self, slot: u32) -> u32 {
        let flow = &self.flows[slot as usize];
        let len = match flow.next() {
            Next::Again { number, .. } => flow.len_again(number, self.plan.smallest_frame),
            _ if flow.greedy => flow.next_len(self.plan.smallest_frame),
            _ => self.pool[flow.backlog.head].len,
        };
        u32::from(len + flow.tag_len())
    }

    /// Puts a flow into its class's ring and wakes the wire.
    ///
    /// It goes before the flow that sent last, if that one is in the ring: so no flow sends twice in a row while another
    /// may send. A greedy flow without limits comes here when it starts or turns on, and goes to the end of the ring.
    pub(crate) fn join_ring(&mut self, p: u32, slot: u32, ctx: &mut Ctx) {
        let flow = &self.flows[slot as usize];
        let (class, starts) = (flow.class, flow.plain && flow.greedy);
        let lane = self.lane(p, class);
        let tail = self.lanes[lane].ready;
        let last = self.last_sender(p, slot);
        // A flow that sent last may wait at another port by now.
        let here = |flow: &Flow| flow.in_ring && flow.port == p;
        let (before, after) = if !starts && last != NIL && self.flows.get(last).is_some_and(here) {
            (self.flows[last as usize].previous_ready, last)
        } else {
            self.lanes[lane].ready = slot;
            if tail == NIL { (slot, slot) } else { (tail, self.flows[tail as usize].next_ready) }
        };
        let flow = &mut self.flows[slot as usize];
        (flow.previous_ready, flow.next_ready, flow.in_ring) = (before, after, true);
        flow.begin_wait();
        if before != slot {
            self.flows[before as usize].next_ready = slot;
            self.flows[after as usize].previous_ready = slot;
        }
        self.ports[p as usize].waiting |= 1 << class;
        self.kick(p, ctx);
    }

    /// The flows that wait at a port of a host, in turn.
    pub(crate) fn ring(&self, p: u32, class: u8) -> impl Iterator<Item = u32> {
        let tail = self.lanes[self.lane(p, class)].ready;
        let after = |slot: u32| self.flows[slot as usize].next_ready;
        let first = (tail != NIL).then(|| after(tail));
        std::iter::successors(first, move |&slot| (slot != tail).then(|| after(slot)))
    }

    /// Takes a flow out of its ring.
    pub(crate) fn leave_ring(&mut self, p: u32, slot: u32) {
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
        let flow = &self.flows[slot as usize];
        let (class, host) = (flow.class, flow.host);
        let tail = self.lanes[self.lane(p, class)].ready;
        let number = usize::from(self.ports[p as usize].number);
        let last = &mut self.hosts[host as usize].last_sender[number][usize::from(class)];
        let tail_flow = if tail == slot { Some(flow) } else { self.flows.get(tail) };
        if tail_flow.is_some_and(Flow::has_had_turn) {
            *last = tail;
        }
        *last
    }

    /// Brings a flow's place in the ring in line with what it may do.
    pub(crate) fn settle_flow(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let flow = &mut self.flows[slot as usize];
        let p = flow.port;
        flow.repace(now);
        match (flow.may_send(now), flow.in_ring) {
            (true, false) if flow.sprays => {
                let p = self.sprayed_port(slot, None, ctx);
                self.flows[slot as usize].port = p;
                self.join_ring(p, slot, ctx);
            }
            (true, false) => self.join_ring(p, slot, ctx),
            (false, true) => self.leave_ring(p, slot),
            _ => {}
        }
        self.arm_limiter(now, host, slot, ctx);
        if self.flows[slot as usize].probes {
            self.send_probe(now, slot, ctx);
        }
        self.arm_deadline(now, host, slot, ctx);
        if self.probe.wants_causes() {
            self.note_source(now, slot);
        }
    }

    /// Tells the probe what a flow does at its source.
    #[inline(never)]
    pub(crate) fn note_source(&mut self, now: Time, slot: u32) {
        let flow = &self.flows[slot as usize];
        let (port, state) = (self.ports[flow.port as usize].global, flow.state(now));
        self.probe.on_source(now, port, flow.number, state);
    }

    /// Puts a frame that the host itself makes into its queue.
    pub(crate) fn send_by_host(&mut self, mut p: u32, mut frame: Frame, ctx: &mut Ctx) {
        if self.ports[p as usize].flags & MULTIHOMED != 0 {
            p = self.reply_port(p, frame.dst);
            frame.dst = self.address_by(p, frame.dst);
        }
        if self.plan.telemetry {
            self.enlarge_by_telemetry(&mut frame);
        }
        let place = self.pool.put(frame);
        if self.plan.telemetry {
            self.return_stamps(place);
        }
        self.queue_at_host(p, place, ctx);
    }

    /// Puts a frame into the queue of a host's port.
    pub(crate) fn queue_at_host(&mut self, p: u32, place: u32, ctx: &mut Ctx) {
        let (class, len) = (self.pool[place].class, self.pool[place].len);
        let lane = self.lane(p, class);
        self.lanes[lane].bytes += u32::from(len);
        self.lanes[lane].queue.push(&mut self.pool, place);
        self.ports[p as usize].waiting |= 1 << class;
        self.kick(p, ctx);
    }
}
