//! Sending: what a port does when its wire is free.

use crate::frame::{CORRUPT, Frame, Kind, LAST, NIL};
use crate::network::{Ctx, Device, Message, Network};
use crate::plan::WaitingRoom;
use crate::port::{CREDITS, CUT_THROUGH, DOWN, NOISY, Port};
use crate::probe::Probe;
use units::{Bytes, Time};

impl<P: Probe> Network<P> {
    /// The wire of a port is free, or may be: what has left is released, and the next frame starts.
    #[inline]
    pub(crate) fn on_transmit(&mut self, now: Time, p: u32, ctx: &mut Ctx) {
        self.release_sent(now, p, ctx);
        let port = &mut self.ports[p as usize];
        if port.flags & DOWN != 0 {
            return;
        }
        if let Some(place) = port.control.pop(&self.pool) {
            self.fill_control(p, place);
            return self.start(now, p, place, ctx);
        }
        let mut classes = port.waiting & !port.blocked;
        if port.flags & CREDITS != 0 && self.schedules[p as usize].is_some() {
            // A class without credit must not spend its turn.
            classes = self.affordable(p, classes);
        }
        while classes != 0 {
            let class = self.choose_class(p, classes);
            if let Some(place) = self.take(now, p, class, ctx) {
                return self.start(now, p, place, ctx);
            }
            classes &= !(1 << class);
        }
    }

    /// The frame that was on the wire has left the node: the room it held is free.
    #[inline]
    fn release_sent(&mut self, now: Time, p: u32, ctx: &mut Ctx) {
        let port = &mut self.ports[p as usize];
        let len = port.leaving_len;
        if len == 0 {
            return;
        }
        port.leaving_len = 0;
        let (input, class, node) = (port.leaving_input, port.leaving_class, port.node);
        let input = self.nodes[node as usize].first_port + u32::from(input);
        self.release(now, input, class, len, ctx);
        if let Device::Switch(switch) = self.nodes[node as usize].device
            && self.switches[switch as usize].crossbar.is_some()
        {
            self.input_done(now, switch, input, ctx);
        }
    }

    /// The next frame of a class for this output, if it can start now.
    #[inline]
    fn take(&mut self, now: Time, p: u32, class: u8, ctx: &mut Ctx) -> Option<u32> {
        let node = self.ports[p as usize].node as usize;
        match self.nodes[node].device {
            Device::Host(host) => self.take_from_host(now, p, host, class, ctx),
            Device::Switch(switch) => {
                let room = self.plan.switches[self.switches[switch as usize].kind as usize].room;
                if room == WaitingRoom::Input {
                    return self.take_from_inputs(now, p, switch, class, ctx);
                }
                let lane = self.lane(p, class);
                let head = self.lanes[lane].queue.head;
                let len = self.pool[head].len;
                if self.ports[p as usize].flags & CREDITS != 0 && !self.spend(p, class, len) {
                    return None;
                }
                let lane = &mut self.lanes[lane];
                lane.queue.head = self.pool[head].next;
                lane.bytes -= u32::from(len);
                let emptied = lane.queue.head == NIL;
                let port = &mut self.ports[p as usize];
                if emptied {
                    port.waiting &= !(1 << class);
                }
                if room == WaitingRoom::Output {
                    leaves(port, &self.pool[head]);
                } else {
                    self.kick_crossbar(now, p, ctx);
                }
                Some(head)
            }
        }
    }

    /// Puts a frame on the wire.
    #[inline]
    fn start(&mut self, now: Time, p: u32, place: u32, ctx: &mut Ctx) {
        let port = &mut self.ports[p as usize];
        let frame = &mut self.pool[place];
        let busy = port.wire.serialise(Bytes::new(u64::from(frame.len)) + self.plan.overhead);
        let end = now + busy;
        ctx.alarms.arm(self.numbers.transmit + p, end);
        self.probe.on_transmit(now, port.global, frame, now.saturating_since(frame.at), busy);
        frame.at = if port.flags & CUT_THROUGH == 0 {
            end + port.flight
        } else if frame.is_link_local() {
            // Understood when it is whole; what follows on the wire still arrives later.
            end.max(now + self.plan.header_delay(port.global)) + port.flight
        } else {
            now + self.plan.header_delay(port.global) + port.flight
        };
        frame.epoch = port.epoch;
        if port.flags & NOISY != 0 && self.damaged(p, frame_bits(&self.pool[place])) {
            self.pool[place].flags |= CORRUPT;
        }
        let port = &self.ports[p as usize];
        let (peer, shard) = (port.peer, port.peer_shard);
        if shard == NIL {
            self.put_on_wire(peer, place, ctx);
        } else {
            let frame = self.pool[place];
            self.pool.release(place);
            ctx.send(shard, Message::Frame { port: peer, frame });
        }
    }

    /// A frame is on its way to a port of this shard.
    #[inline]
    fn put_on_wire(&mut self, to: u32, place: u32, ctx: &mut Ctx) {
        let arriving = &mut self.ports[to as usize].arriving;
        if arriving.is_empty() {
            ctx.alarms.arm(self.numbers.arrival + to, self.pool[place].at);
        }
        arriving.push(&mut self.pool, place);
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

    /// Frees a frame's place; `LAST` and marks go with it.
    pub(crate) fn discard(&mut self, place: u32) -> Frame {
        let frame = self.pool[place];
        debug_assert!(frame.flags & LAST == 0 || frame.kind == Kind::Data || frame.kind == Kind::Acknowledgement);
        self.pool.release(place);
        frame
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
