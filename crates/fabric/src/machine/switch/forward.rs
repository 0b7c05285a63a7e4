//! Forwarding: a frame finds its output and waits for it, also when routes change.

use crate::build::plan::WaitingRoom;
use crate::describe::routing::pick;
use crate::machine::frame::{Kind, List, NIL};
use crate::machine::network::{Ctx, Device, Network, Node};
use crate::machine::port::DOWN;
use crate::machine::port::pfc_watchdog::STORMED;
use crate::observe::probe::{DropCause, Probe};
use units::{Span, Time};

impl<P: Probe> Network<P> {
    #[inline(always)]
    pub(crate) fn switch_receives(&mut self, now: Time, p: u32, switch: u32, place: u32, ctx: &mut Ctx) {
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
    pub(crate) fn forward(&mut self, now: Time, switch: u32, place: u32, ctx: &mut Ctx) {
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
    fn forward_otherwise(&mut self, now: Time, switch: u32, mut out: u32, place: u32, ctx: &mut Ctx) {
        if self.switches[switch as usize].paths.is_some() {
            out = self.choose_output(now, switch, place);
        }
        if self.pool[place].kind == Kind::Receipt && self.take_receipt(now, switch, place, ctx) {
            return;
        }
        if self.pool[place].kind == Kind::Probe && self.show_probe(now, switch, place, ctx) {
            return;
        }
        let state = &self.switches[switch as usize];
        let watch = state.congestion_point.as_ref().filter(|congestion_point| !congestion_point.muted);
        let watched = watch.is_some_and(|watch| !watch.queues_only);
        // Behind a crossbar, a frame joins its queue later.
        let judged = watch.is_some_and(|watch| watch.judges) && state.room != WaitingRoom::Both;
        if judged && self.pool[place].kind == Kind::Data && !self.judge(now, switch, out, place, ctx) {
            return;
        }
        let state = &self.switches[switch as usize];
        if state.room != WaitingRoom::Output {
            self.wait_at_input(switch, out, place, ctx);
            if self.probe.wants_causes() {
                self.note_join(now, out, place);
            }
        } else {
            let frame = &self.pool[place];
            let size = (frame.class, u32::from(frame.len));
            let shown = watched.then_some(*frame);
            if !self.wait_at_output(now, switch, out, place, size, ctx) {
                if let Some(frame) = shown {
                    self.show_dropped(now, switch, &frame, ctx);
                }
                return;
            }
        }
        if watched && self.pool[place].kind == Kind::Data {
            self.show_arrival(now, switch, place, ctx);
        }
    }

    /// Puts a frame into the queue of its output. Returns whether there was room.
    #[inline(always)]
    pub(crate) fn wait_at_output(
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
            if lane.limit == STORMED && self.drops_in_storm(out, class) {
                self.drop_inside(now, switch, place, DropCause::Watchdog, ctx);
                return false;
            }
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
        if self.probe.wants_causes() {
            self.note_join(now, out, place);
        }
        self.kick(out, ctx);
        true
    }

    /// New tables hold: frames that wait for an output whose cable has failed look for another way.
    pub(crate) fn reroute(&mut self, now: Time, switch: u32, node: u32, ctx: &mut Ctx) {
        let Node { first_port, ports, .. } = self.nodes[node as usize];
        if let Some(congestion_point) = &mut self.switches[switch as usize].congestion_point {
            congestion_point.muted = true;
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
                    WaitingRoom::Input | WaitingRoom::Both => self.clear_inputs(now, switch, out, class, ctx),
                };
                for place in waiting {
                    if self.probe.wants_causes() {
                        self.note_leave(now, out, place, false);
                    }
                    self.forward(now, switch, place, ctx);
                }
            }
        }
        self.recount(now, switch);
    }

    /// Tells the probe that a frame waits for an output.
    #[inline(never)]
    pub(crate) fn note_join(&mut self, now: Time, out: u32, place: u32) {
        let (input, output) = self.ends_inside(out, place);
        self.probe.on_join(now, input, output, &self.pool[place]);
    }

    /// Tells the probe that a frame has left its input buffer, and not by the wire of that output.
    #[inline(never)]
    pub(crate) fn note_leave(&mut self, now: Time, out: u32, place: u32, crossed: bool) {
        let (input, output) = self.ends_inside(out, place);
        self.probe.on_leave(now, input, output, &self.pool[place], crossed);
    }

    /// The ports of the network by which a frame came to a switch and for which it waits there.
    fn ends_inside(&self, out: u32, place: u32) -> (u32, u32) {
        let port = &self.ports[out as usize];
        let input = port.first_port + u32::from(self.pool[place].input);
        (self.ports[input as usize].global, port.global)
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
    pub(crate) fn clear_output(&mut self, out: u32, class: u8) -> Vec<u32> {
        let lane = &mut self.lanes[out as usize * self.classes + class as usize];
        let places: Vec<u32> = lane.queue.iter(&self.pool).map(|(place, _)| place).collect();
        lane.queue = List::EMPTY;
        let shared = lane.limit == 0;
        self.ports[out as usize].waiting &= !(1 << class);
        for &place in &places {
            let len = self.pool[place].len;
            self.lanes[out as usize * self.classes + class as usize].bytes -= u32::from(len);
            if shared {
                // A lossy class takes its part again when it finds its new queue.
                self.release_output(out, class, len);
            }
        }
        places
    }
}
