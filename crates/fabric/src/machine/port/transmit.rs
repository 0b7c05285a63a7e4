//! Sending: what a port does when its wire is free.

use crate::machine::frame::{CORRUPT, Content, Frame, Kind, NIL};
use crate::machine::network::{Ctx, Device, Message, Network};
use crate::machine::port::{
    ARBITRATED, CONGESTION_POINT, CREDITS, CUT_THROUGH, DOWN, IN_TURN, INPUT_QUEUED, KEEPS, MARKS, NOISY, NOTICES,
    OUTPUT_QUEUED, Port, SPRAYED, STAMPS, TIMED,
};
use crate::observe::probe::Probe;
use units::{Bytes, Span, Time};

impl<P: Probe> Network<P> {
    /// The wire of a port is free, or may be: what has left is released, and the next frame starts.
    ///
    /// This is the short path: an output queue with one class ready, nothing to tell anybody. Whatever else there is
    /// to do is done by [`Network::transmit_otherwise`], which could do this too.
    #[inline(always)]
    pub(crate) fn on_transmit(&mut self, now: Time, p: u32, ctx: &mut Ctx) {
        let mut port = &mut self.ports[p as usize];
        let len = port.leaving_len;
        if len != 0 {
            port.leaving_len = 0;
            let input = port.first_port + u32::from(port.leaving_input);
            let lane = &mut self.lanes[input as usize * self.classes + usize::from(port.leaving_class)];
            if lane.calm == 0 && port.flags & (INPUT_QUEUED | KEEPS) == 0 {
                lane.held = lane.held.wrapping_sub(u32::from(len));
            } else {
                let class = port.leaving_class;
                self.release_sent(now, p, input, class, len, ctx);
                port = &mut self.ports[p as usize];
            }
        }
        let classes = port.waiting & !port.blocked;
        let usual = port.flags & (OUTPUT_QUEUED | CREDITS | DOWN | IN_TURN | NOTICES | ARBITRATED) == OUTPUT_QUEUED;
        if !(usual && port.control.is_empty() && classes.is_power_of_two()) {
            if classes != 0 || !port.control.is_empty() || port.flags & NOTICES != 0 {
                self.transmit_otherwise(now, p, ctx);
            }
            return;
        }
        let class = classes.trailing_zeros() as usize;
        let lane = &mut self.lanes[p as usize * self.classes + class];
        let place = lane.queue.head;
        let frame = &mut self.pool[place];
        lane.queue.head = frame.next;
        lane.bytes -= u32::from(frame.len);
        let behind = lane.bytes;
        if frame.next == NIL {
            port.waiting &= !classes;
        }
        leaves(port, frame);
        port.moved |= classes;
        let busy = port.wire.serialise(Bytes::new(u64::from(frame.len)) + self.plan.overhead);
        let end = now + busy;
        // A point sees data only, and is asked about long queues only if it decides by their length alone. Telemetry counts
        // all that is sent.
        let asked =
            |port: &Port| frame.kind == Kind::Data && (port.flags & CONGESTION_POINT != 0 || behind >= port.asked_from);
        if port.flags & (CONGESTION_POINT | STAMPS | MARKS) != 0 && (port.flags & STAMPS != 0 || asked(port)) {
            self.show_start(now, p, place, end);
        }
        ctx.alarms.arm_idle(self.numbers.transmit + p, end);
        self.launch(now, p, place, busy, ctx);
    }

    /// The general case of sending.
    #[inline(never)]
    fn transmit_otherwise(&mut self, now: Time, p: u32, ctx: &mut Ctx) {
        let Port { flags, device, .. } = self.ports[p as usize];
        if let Device::Host(host) = device {
            if flags & !(TIMED | CUT_THROUGH | NOISY) == 0 {
                return self.transmit_from_host(now, p, host, ctx);
            }
            if flags & DOWN != 0 {
                return;
            }
            if flags & TIMED != 0 {
                self.run_due_timers(now, host, ctx);
            }
            if flags & SPRAYED != 0 && self.ports[p as usize].control.is_empty() {
                self.call_sprayed(now, p, ctx);
            }
        } else if flags & DOWN != 0 {
            return;
        }
        self.transmit_by_class(now, p, ctx);
    }

    /// What of the neighbour's or of a class's may start, when all that is due at this instant has happened.
    pub(crate) fn transmit_by_class(&mut self, now: Time, p: u32, ctx: &mut Ctx) {
        let flags = self.ports[p as usize].flags;
        let port = &self.ports[p as usize];
        let mut classes = port.waiting & !port.blocked;
        if !port.control.is_empty() {
            return self.send_link_local(now, p, ctx);
        }
        if port.flags & NOTICES != 0
            && let Some(place) = self.take_notice(p)
        {
            return self.start(now, p, place, ctx);
        }
        let port = &self.ports[p as usize];
        if port.flags & (CREDITS | INPUT_QUEUED | ARBITRATED) != 0 {
            if port.flags & ARBITRATED != 0 {
                return self.transmit_by_tables(now, p, classes, ctx);
            }
            if self.schedules[p as usize].is_some() {
                // A class that cannot send must not spend its turn.
                classes = self.affordable(p, classes);
            }
        }
        while classes != 0 {
            let class = self.choose_class(p, classes);
            if let Some(place) = self.take(now, p, class, ctx) {
                self.ports[p as usize].moved |= 1 << class;
                self.note_passed_over(now, p, class);
                return self.start(now, p, place, ctx);
            }
            classes &= !(1 << class);
        }
        self.note_short_of_credits(now, p);
        if flags & SPRAYED != 0 {
            self.offer_sprayed(p, ctx);
        }
    }

    /// A frame of a class starts: tells which other classes have frames that wait for credits.
    #[inline]
    pub(crate) fn note_passed_over(&mut self, now: Time, p: u32, class: u8) {
        if !self.probe.wants_starving() {
            return;
        }
        let port = &self.ports[p as usize];
        if port.waiting & port.credited & !(1 << class) == 0 {
            return;
        }
        let global = port.global;
        let short = self.short_of_credits(p) & !(1 << class);
        if short != 0 {
            self.probe.on_starve(now, global, short, false);
        }
    }

    /// Nothing of what waits could start: tells whom it concerns which classes lack credits.
    #[inline]
    pub(crate) fn note_short_of_credits(&mut self, now: Time, p: u32) {
        let (watched, starving) = (self.has_congestion_point(p), self.probe.wants_starving());
        if !(watched || starving) {
            return;
        }
        let short = self.short_of_credits(p);
        if short == 0 {
            return;
        }
        if watched {
            self.show_blocked(now, p, short, true);
        }
        if starving {
            self.probe.on_starve(now, self.ports[p as usize].global, short, true);
        }
    }

    /// The classes whose frames wait for credits.
    #[cold]
    fn short_of_credits(&self, p: u32) -> u8 {
        let port = &self.ports[p as usize];
        let mut short = 0;
        for class in (0..self.classes as u8).filter(|class| (port.waiting & port.credited) >> class & 1 == 1) {
            let gate = &self.gates[self.lane(p, class)];
            let need = u64::from(crate::build::plan::units(port.credit_unit, self.shortest_waiting(p, class) as u16));
            if gate.limit < gate.spent + need {
                short |= 1 << class;
            }
        }
        short
    }

    #[inline(never)]
    fn send_link_local(&mut self, now: Time, p: u32, ctx: &mut Ctx) {
        if let Some(place) = self.ports[p as usize].control.pop(&self.pool) {
            self.fill_control(p, place);
            self.start(now, p, place, ctx);
        }
    }

    /// The frame that was on the wire has left the node, and there is more to it than counting.
    #[inline(never)]
    fn release_sent(&mut self, now: Time, p: u32, input: u32, class: u8, len: u16, ctx: &mut Ctx) {
        if !(self.has_congestion_point(p) && self.show_left(p, class, len)) {
            self.release(now, input, class, len, ctx);
        }
        if self.lanes[p as usize * self.classes + class as usize].limit == 0 {
            self.release_output(p, class, len);
        }
        let port = &self.ports[p as usize];
        if port.flags & INPUT_QUEUED != 0
            && let Device::Switch(switch) = port.device
        {
            self.input_done(switch, input, ctx);
        }
    }

    /// The next frame of a class for this port, if it can start now.
    pub(crate) fn take(&mut self, now: Time, p: u32, class: u8, ctx: &mut Ctx) -> Option<u32> {
        let port = &self.ports[p as usize];
        let switch = match port.device {
            Device::Host(host) => return self.take_from_host(now, p, host, class, ctx),
            Device::Switch(switch) => switch,
        };
        if port.flags & INPUT_QUEUED != 0 {
            return self.take_from_inputs(p, switch, class, ctx);
        }
        let head = match &self.switches[switch as usize].order {
            Some(_) => self.take_in_order(p, switch, class)?,
            None => self.take_from_queue(p, class)?,
        };
        let port = &mut self.ports[p as usize];
        if port.flags & OUTPUT_QUEUED != 0 {
            leaves(port, &self.pool[head]);
        } else {
            // Room behind the crossbar.
            self.kick_stage(p, ctx);
        }
        Some(head)
    }

    /// The first frame of a port's own queue, which is not empty, if it has the credits it needs.
    pub(crate) fn take_from_queue(&mut self, p: u32, class: u8) -> Option<u32> {
        let lane = self.lane(p, class);
        let head = self.lanes[lane].queue.head;
        let len = self.pool[head].len;
        if !self.spend(p, class, len) {
            return None;
        }
        let lane = &mut self.lanes[lane];
        lane.queue.head = self.pool[head].next;
        lane.bytes -= u32::from(len);
        if lane.queue.is_empty() && lane.ready == NIL {
            self.ports[p as usize].waiting &= !(1 << class);
        }
        Some(head)
    }

    /// Occupies the wire with a frame.
    pub(crate) fn start(&mut self, now: Time, p: u32, place: u32, ctx: &mut Ctx) {
        let size = Bytes::new(u64::from(self.pool[place].len)) + self.plan.overhead;
        let busy = self.ports[p as usize].wire.serialise(size);
        if self.ports[p as usize].flags & (CONGESTION_POINT | MARKS | STAMPS) != 0 {
            self.show_start(now, p, place, now + busy);
        }
        // Taking the frame may have kicked this very port; that is answered by its end of transmission.
        ctx.alarms.arm(self.numbers.transmit + p, now + busy);
        self.launch(now, p, place, busy, ctx);
    }

    /// Occupies the wire of a host with a frame.
    #[inline(always)]
    pub(crate) fn start_from_host(&mut self, now: Time, p: u32, place: u32, ctx: &mut Ctx) {
        let size = Bytes::new(u64::from(self.pool[place].len)) + self.plan.overhead;
        let busy = self.ports[p as usize].wire.serialise(size);
        // Taking the frame may have kicked this very port; that is answered by its end of transmission.
        ctx.alarms.arm(self.numbers.transmit + p, now + busy);
        self.launch(now, p, place, busy, ctx);
    }

    /// Sends a frame along the cable.
    #[inline(always)]
    fn launch(&mut self, now: Time, p: u32, place: u32, busy: Span, ctx: &mut Ctx) {
        if self.probe.wants_attachments() {
            self.show_attachments(place);
        }
        let port = &self.ports[p as usize];
        let frame = &mut self.pool[place];
        let end = now + busy;
        self.probe.on_transmit(now, port.global, frame, now.saturating_since(frame.at), busy);
        frame.at = end + port.flight;
        frame.epoch = port.epoch;
        frame.next = NIL;
        let (peer, neighbour) = (port.peer, port.neighbour);
        if port.flags & (CUT_THROUGH | NOISY) != 0 {
            self.start_otherwise(now, p, place, end);
        }
        if neighbour == NIL {
            return self.put_on_wire(peer, place, ctx);
        }
        self.leave_shard(neighbour, peer, place, ctx);
    }

    /// A frame is on its way to a port of another shard.
    #[inline(never)]
    fn leave_shard(&mut self, neighbour: u32, port: u32, place: u32, ctx: &mut Ctx) {
        let frame = self.pool.take(place);
        let extension = frame.is_extended().then(|| Box::new(self.extensions.take(frame.extension())));
        let stamps = if self.plan.telemetry { self.take_stamps(place, &frame) } else { None };
        let message = match (stamps, extension) {
            (None, None) => Message::Frame { port, frame },
            (None, Some(extension)) => Message::Extended { port, frame, extension },
            (Some(stamps), extension) => Message::Stamped { port, frame, stamps, extension },
        };
        ctx.send(neighbour, frame.at, message);
    }

    /// A frame starts on a cable that damages some, or in a storm of pauses, or towards a node that takes it by its header.
    #[inline(never)]
    fn start_otherwise(&mut self, now: Time, p: u32, place: u32, end: Time) {
        let port = &self.ports[p as usize];
        if port.flags & CUT_THROUGH != 0 {
            let header = now + self.plan.header_delay(port.global);
            // A link-local frame is understood when it is whole; what follows on the wire still arrives later.
            let whole = self.pool[place].is_link_local();
            self.pool[place].at = if whole { end.max(header) } else { header } + port.flight;
        }
        if port.flags & NOISY != 0 {
            self.note_sent_in_storm(p, place);
            if self.damaged(p, frame_bits(&self.pool[place])) {
                self.pool[place].flags |= CORRUPT;
                if let Content::Pause(pause) = self.pool[place].content() {
                    self.note_unheard(p, pause.held);
                }
            }
        }
    }

    /// A frame, the end of its list, is on its way to a port of this shard.
    #[inline(always)]
    pub(crate) fn put_on_wire(&mut self, to: u32, place: u32, ctx: &mut Ctx) {
        let arriving = &mut self.ports[to as usize].arriving;
        if arriving.is_empty() {
            arriving.head = place;
            ctx.alarms.arm_idle(self.numbers.arrival + to, self.pool[place].at);
        } else {
            self.pool[arriving.tail].next = place;
        }
        arriving.tail = place;
    }

    /// A frame from another shard is on its way to a port of this one.
    pub(crate) fn accept(&mut self, to: u32, frame: Frame, ctx: &mut Ctx) {
        let place = self.pool.put(frame);
        self.put_on_wire(to, place, ctx);
    }

    /// Whether one of so many bits is hit on the wire of that port.
    #[cold]
    fn damaged(&mut self, p: u32, bits: u64) -> bool {
        let port = &self.ports[p as usize];
        let intact = 1.0 - self.plan.bit_error_rate(port.global);
        // (1 - rate)^bits by squaring: multiplication only, so the same bits everywhere.
        let (mut probability, mut power, mut left) = (1.0, intact, bits);
        while left > 0 {
            if left & 1 == 1 {
                probability *= power;
            }
            power *= power;
            left >>= 1;
        }
        match &mut self.noise[p as usize] {
            Some(stream) => stream.unit_f64() >= probability,
            None => false,
        }
    }
}

/// Notes what is to be released when the frame that starts now has left.
#[inline]
pub(crate) fn leaves(port: &mut Port, frame: &Frame) {
    port.leaving_len = frame.len;
    port.leaving_input = frame.input;
    port.leaving_class = frame.class;
}

fn frame_bits(frame: &Frame) -> u64 {
    u64::from(frame.len) * 8
}
