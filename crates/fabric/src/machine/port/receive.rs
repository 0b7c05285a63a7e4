//! Taking in: what a node does with a frame that has arrived.

use crate::build::plan::{Rule, WaitingRoom};
use crate::describe::routing::pick;
use crate::machine::frame::{CORRUPT, Frame, Kind, List, NIL};
use crate::machine::network::{Ctx, Device, Message, Network, Node};
use crate::machine::port::DOWN;
use crate::observe::outcome::Loss;
use crate::observe::probe::{DropCause, Probe};
use units::{Span, Time};

impl<P: Probe> Network<P> {
    /// The first frame on the wire to a port has arrived.
    #[inline(always)]
    pub(crate) fn on_arrival(&mut self, now: Time, p: u32, ctx: &mut Ctx) {
        let port = &mut self.ports[p as usize];
        let place = port.arriving.head;
        let frame = &mut self.pool[place];
        let next = frame.next;
        port.arriving.head = next;
        frame.input = port.number;
        frame.at = now;
        let fingerprint = &mut self.fingerprints[port.node as usize];
        fingerprint.fold(now.as_picos() ^ u64::from(frame.len) << 48);
        fingerprint.fold(u64::from(frame.flow) << 32 | u64::from(frame.seq));
        self.totals.hops += 1;
        let (device, class, len) = (port.device, frame.class, frame.len);
        let unusual = frame.epoch != port.epoch || frame.is_link_local() || frame.flags & CORRUPT != 0;
        if next != NIL {
            ctx.alarms.arm_idle(self.numbers.arrival + p, self.pool[next].at);
        }
        if unusual && self.on_unusual(now, p, place, ctx) {
            return;
        }
        match device {
            Device::Switch(switch) => {
                if self.admit(now, p, class, len, place, ctx) {
                    self.switch_receives(now, p, switch, place, ctx);
                }
            }
            Device::Host(host) => self.host_receives(now, p, host, place, ctx),
        }
    }

    /// A frame that is lost, damaged or for this port alone. Returns whether it ends here: a switch that cuts through
    /// has passed the beginning of a damaged frame on before it can know, so it passes on all of it.
    #[inline(never)]
    fn on_unusual(&mut self, now: Time, p: u32, place: u32, ctx: &mut Ctx) -> bool {
        let frame = &self.pool[place];
        if frame.epoch != self.ports[p as usize].epoch {
            self.lose(now, p, place, DropCause::LinkDown);
        } else if frame.is_link_local() {
            self.on_link_local(now, p, place, ctx);
        } else {
            let port = &self.plan.ports[self.ports[p as usize].global as usize];
            if self.plan.ports[port.peer as usize].cuts_through {
                return false;
            }
            let (class, len) = (frame.class, frame.len);
            self.lose(now, p, place, DropCause::Corrupt);
            self.give_back_damaged(now, p, class, len, ctx);
        }
        true
    }

    /// PAUSE, PFC or a credit update: for this port alone.
    fn on_link_local(&mut self, now: Time, p: u32, place: u32, ctx: &mut Ctx) {
        let frame = self.pool.take(place);
        if frame.flags & CORRUPT != 0 {
            self.totals.lost_control += 1;
            return;
        }
        match frame.kind {
            Kind::Pause => {
                let pause = frame.pause();
                let at = self.obeys_at(now, p);
                if at == now {
                    self.obey_pause(now, p, pause, ctx);
                } else {
                    self.push_signal(p, at, crate::machine::port::Signal::Pause(pause), ctx);
                }
            }
            Kind::Credit => self.grant(now, p, frame.dst as u8, frame.born.as_picos(), ctx),
            Kind::Data | Kind::Acknowledgement | Kind::Notice | Kind::Receipt | Kind::Probe | Kind::Answer => {}
        }
    }

    #[inline(always)]
    fn switch_receives(&mut self, now: Time, p: u32, switch: u32, place: u32, ctx: &mut Ctx) {
        if self.switches[switch as usize].latency == Span::ZERO {
            return self.forward(now, switch, place, ctx);
        }
        self.enter_pipeline(now, p, switch, place, ctx);
    }

    fn enter_pipeline(&mut self, now: Time, p: u32, switch: u32, place: u32, ctx: &mut Ctx) {
        let state = &mut self.switches[switch as usize];
        self.pool[place].at = now + state.latency;
        if state.pipeline.is_empty() {
            ctx.alarms.arm(self.numbers.pipeline + self.ports[p as usize].node, self.pool[place].at);
        }
        state.pipeline.push(&mut self.pool, place);
    }

    /// The first frame of a switch's pipeline has come through.
    pub(crate) fn on_pipeline(&mut self, now: Time, node: u32, ctx: &mut Ctx) {
        let Device::Switch(switch) = self.nodes[node as usize].device else { return };
        let pipeline = &mut self.switches[switch as usize].pipeline;
        let Some(place) = pipeline.pop(&self.pool) else { return };
        if !pipeline.is_empty() {
            ctx.alarms.arm(self.numbers.pipeline + node, self.pool[pipeline.head].at);
        }
        self.forward(now, switch, place, ctx);
    }

    /// Finds a frame's output and puts it where it waits.
    #[inline(always)]
    fn forward(&mut self, now: Time, switch: u32, place: u32, ctx: &mut Ctx) {
        let state = &self.switches[switch as usize];
        let frame = &mut self.pool[place];
        let outputs = self.plan.tables[state.tables as usize].outputs(state.row, frame.dst);
        let output = match outputs.len() {
            0 => return self.drop_inside(now, switch, place, DropCause::Unreachable, ctx),
            1 => outputs[0],
            n => outputs[pick(frame.entropy, state.salt, n)],
        };
        frame.output = output;
        frame.at = now;
        frame.next = NIL;
        let size = (frame.class, u32::from(frame.len));
        let out = state.first_port + u32::from(output);
        if !state.plain {
            return self.forward_otherwise(now, switch, out, place, ctx);
        }
        self.wait_at_output(now, switch, out, place, size, ctx);
    }

    /// A frame waits at an input, or somebody watches it wait.
    #[inline(never)]
    fn forward_otherwise(&mut self, now: Time, switch: u32, out: u32, place: u32, ctx: &mut Ctx) {
        if self.pool[place].kind == Kind::Receipt && self.take_receipt(now, switch, place, ctx) {
            return;
        }
        if self.pool[place].kind == Kind::Probe && self.monitor_probe(now, switch, place, ctx) {
            return;
        }
        let state = &self.switches[switch as usize];
        let watched = state.monitor.as_ref().is_some_and(|monitor| !monitor.muted);
        if state.room != WaitingRoom::Output {
            self.wait_at_input(switch, out, place, ctx);
        } else {
            let frame = self.pool[place];
            let size = (self.pool[place].class, u32::from(self.pool[place].len));
            if !self.wait_at_output(now, switch, out, place, size, ctx) {
                if watched {
                    self.monitor_dropped(now, switch, &frame, ctx);
                }
                return;
            }
        }
        if watched {
            self.monitor_arrival(now, switch, place, ctx);
        }
    }

    /// Puts a frame into the queue of its output. Returns whether there was room.
    #[inline(always)]
    fn wait_at_output(
        &mut self,
        now: Time,
        switch: u32,
        out: u32,
        place: u32,
        (class, len): (u8, u32),
        ctx: &mut Ctx,
    ) -> bool {
        let place_of_lane = out as usize * self.classes + class as usize;
        let mut lane = &mut self.lanes[place_of_lane];
        if lane.bytes + len > lane.limit {
            if !self.fits_output(switch, out, class, len) {
                self.drop_inside(now, switch, place, DropCause::Full, ctx);
                return false;
            }
            lane = &mut self.lanes[place_of_lane];
        }
        lane.bytes += len;
        if lane.queue.is_empty() {
            lane.queue.head = place;
            self.ports[out as usize].waiting |= 1 << class;
        } else {
            self.pool[lane.queue.tail].next = place;
        }
        lane.queue.tail = place;
        self.kick(out, ctx);
        true
    }

    /// New tables hold: frames that wait for an output whose cable has failed look for another way.
    pub(crate) fn reroute(&mut self, now: Time, switch: u32, node: u32, ctx: &mut Ctx) {
        let Node { first_port, ports, .. } = self.nodes[node as usize];
        if let Some(monitor) = &mut self.switches[switch as usize].monitor {
            monitor.muted = true;
        }
        for out in first_port..first_port + u32::from(ports) {
            if self.ports[out as usize].flags & DOWN == 0 {
                continue;
            }
            self.reroute_notices(now, switch, out, ctx);
            for class in 0..self.classes as u8 {
                let waiting = match self.switches[switch as usize].room {
                    WaitingRoom::Output => self.clear_output(out, class),
                    // What is behind the crossbar has left its input and stays; what is before it looks again.
                    WaitingRoom::Input | WaitingRoom::Both => self.clear_inputs(switch, out, class, ctx),
                };
                for place in waiting {
                    self.forward(now, switch, place, ctx);
                }
            }
        }
        self.recount(now, switch);
    }

    /// The output the tables give a frame, if they give one.
    pub(crate) fn output_of(&self, switch: u32, place: u32) -> Option<u16> {
        let state = &self.switches[switch as usize];
        let frame = &self.pool[place];
        let outputs = self.plan.tables[state.tables as usize].outputs(state.row, frame.dst);
        match outputs.len() {
            0 => None,
            1 => Some(outputs[0]),
            n => Some(outputs[pick(frame.entropy, state.salt, n)]),
        }
    }

    /// Empties an output queue.
    fn clear_output(&mut self, out: u32, class: u8) -> Vec<u32> {
        let lane = &mut self.lanes[out as usize * self.classes + class as usize];
        let places: Vec<u32> = lane.queue.iter(&self.pool).map(|(place, _)| place).collect();
        lane.queue = List::EMPTY;
        lane.bytes = 0;
        let shared = lane.limit == 0;
        self.ports[out as usize].waiting &= !(1 << class);
        for &place in places.iter().filter(|_| shared) {
            // A lossy class in a shared buffer takes its part again when it finds its new queue.
            self.release_output(out, class, self.pool[place].len);
        }
        places
    }

    /// Whether a lossy frame fits the queue of an output; with a shared buffer it takes its part of that. The frame on the
    /// wire counts until its last bit has left.
    #[inline(never)]
    fn fits_output(&mut self, switch: u32, out: u32, class: u8, len: u32) -> bool {
        let state = &mut self.switches[switch as usize];
        let port = &self.ports[out as usize];
        let guaranteed = self.plan.rules[port.rules as usize][class as usize].capacity;
        let lane = &mut self.lanes[out as usize * self.classes + class as usize];
        let Some(shared) = self.plan.switches[state.kind as usize].shared else {
            let leaving = if port.leaving_class == class { port.leaving_len } else { 0 };
            return u64::from(lane.bytes) + u64::from(leaving) + u64::from(len) <= u64::from(guaranteed);
        };
        let held = &mut lane.held;
        let (before, after) = (held.saturating_sub(guaranteed), (*held + len).saturating_sub(guaranteed));
        let fits = after == 0 || u64::from(after) <= shared.threshold(state.shared_used);
        if fits {
            *held += len;
            state.shared_used += u64::from(after - before);
        }
        fits
    }

    /// A lossy frame has left a shared buffer by that output.
    pub(crate) fn release_output(&mut self, out: u32, class: u8, len: u16) {
        let port = &self.ports[out as usize];
        let Device::Switch(switch) = port.device else { return };
        let guaranteed = self.plan.rules[port.rules as usize][class as usize].capacity;
        let held = &mut self.lanes[out as usize * self.classes + class as usize].held;
        let before = held.saturating_sub(guaranteed);
        *held -= u32::from(len);
        self.switches[switch as usize].shared_used -= u64::from(before - held.saturating_sub(guaranteed));
    }

    /// A switch drops a frame that it has admitted: the room it held is released.
    #[cold]
    fn drop_inside(&mut self, now: Time, switch: u32, place: u32, cause: DropCause, ctx: &mut Ctx) {
        let frame = self.pool[place];
        let input = self.switches[switch as usize].first_port + u32::from(frame.input);
        self.monitor_drop(switch, place);
        self.release(now, input, frame.class, frame.len, ctx);
        if cause == DropCause::Full {
            self.queue_again(now, place, ctx);
        }
        self.lose(now, input, place, cause);
    }

    /// A frame is dropped: its source will hear of it, if its flow sends such frames again.
    #[cold]
    fn queue_again(&mut self, now: Time, place: u32, ctx: &mut Ctx) {
        let Frame { kind, flow, .. } = self.pool[place];
        if kind != Kind::Data {
            return;
        }
        let len = self.payload(&self.pool[place]);
        let Some(after) = self.plan.flows[flow as usize].requeue else { return };
        self.totals.requeued_frames += 1;
        if self.flow_slot[flow as usize] == NIL {
            ctx.send(self.homes[flow as usize], Message::Lost { flow, len, at: now + after });
        } else {
            self.hear_of_loss(flow, len, now + after, ctx);
        }
    }

    /// Counts a frame that came to nothing.
    #[cold]
    pub(crate) fn lose(&mut self, now: Time, p: u32, place: u32, cause: DropCause) {
        let frame = self.pool.take(place);
        if !frame.is_link_local() {
            self.probe.on_drop(now, self.ports[p as usize].global, &frame, cause);
        }
        if frame.kind != Kind::Data {
            self.totals.lost_control += 1;
            return;
        }
        let payload = self.payload(&frame);
        if cause != DropCause::Full || self.plan.flows[frame.flow as usize].requeue.is_none() {
            let gone = &mut self.gone[frame.flow as usize];
            gone.frames += 1;
            gone.bytes += u64::from(payload);
            gone.last = now;
        }
        let (frames, bytes) = match cause {
            DropCause::Full | DropCause::Unreachable => {
                (&mut self.totals.dropped_frames, &mut self.totals.dropped_bytes)
            }
            DropCause::Corrupt | DropCause::LinkDown => (&mut self.totals.lost_frames, &mut self.totals.lost_bytes),
            DropCause::AtSource => (&mut self.totals.discarded_frames, &mut self.totals.discarded_bytes),
        };
        *frames += 1;
        *bytes += u64::from(payload);
    }

    /// There is no room for an arriving frame: in a lossless class that ends the run.
    #[cold]
    pub(crate) fn overflow(&mut self, now: Time, p: u32, place: u32, rule: Rule, ctx: &mut Ctx) {
        let frame: Frame = self.pool[place];
        let global = self.ports[p as usize].global;
        let first = self.loss.is_none_or(|loss| (now, global) < (loss.at, loss.port));
        if rule.lossless && first {
            let lane = self.lanes[self.lane(p, rule.account)];
            self.loss = Some(Loss {
                at: now,
                port: global,
                class: frame.class,
                flow: frame.flow,
                frame: u32::from(frame.len),
                held: lane.held,
                headroom_held: lane.headroom,
                capacity: rule.capacity,
                xoff: rule.xoff,
                headroom: rule.headroom,
                stopped: self.ports[p as usize].stopped >> rule.account & 1 == 1,
            });
        }
        self.queue_again(now, place, ctx);
        self.lose(now, p, place, DropCause::Full);
    }
}
