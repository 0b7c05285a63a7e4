//! Notices that a switch sends to the sources of flows. They wait for their output before data.

use super::OWN;
use crate::build::places::Origin;
use crate::machine::frame::{self, Content, Frame, List, NIL};
use crate::machine::network::{Ctx, Device, Network};
use crate::machine::port::NOTICES;
use crate::observe::probe::Probe;
use congestion::point::Notice;
use units::Time;

impl<P: Probe> Network<P> {
    /// Sends a notice to the source of a flow.
    pub(crate) fn notify(&mut self, now: Time, switch: u32, notice: Notice, ctx: &mut Ctx) {
        let state = &self.switches[switch as usize];
        let Some(congestion_point) = &state.congestion_point else { return };
        let (class, size) = congestion_point.notice;
        let point = self.ports[state.first_port as usize].global + u32::from(notice.port);
        let Notice { flow, feedback, class: of, offset, growth, guidance, .. } = notice;
        let said = frame::Notice { feedback, port: point, class: of, offset, growth, guidance };
        let mut frame = Frame::saying(Content::Notice(said), size, now);
        frame.class = class;
        self.totals.notices += 1;
        self.totals.control_bytes += u64::from(size);
        self.send_to_source(now, switch, flow, frame, ctx);
    }

    /// What is known of a flow that passes a switch with a congestion point.
    pub(crate) fn origin(&self, flow: u32) -> Origin {
        self.places.origin(&self.plan, flow).expect("with congestion points all ranks know of all flows")
    }

    /// Sends a frame that the switch itself has made to the source of a flow.
    pub(crate) fn send_to_source(&mut self, now: Time, switch: u32, flow: u32, mut frame: Frame, ctx: &mut Ctx) {
        let source = self.origin(flow).source;
        frame.flow = flow;
        frame.dst = source;
        frame.entropy = crate::describe::routing::flow_entropy(flow, source, flow, self.plan.seed);
        frame.input = OWN;
        let place = self.pool.put(frame);
        self.queue_notice(now, switch, place, ctx);
    }

    /// New tables hold: notices that wait for an output whose cable has failed look for another way.
    pub(crate) fn reroute_notices(&mut self, now: Time, switch: u32, out: u32, ctx: &mut Ctx) {
        let output = usize::from(self.ports[out as usize].number);
        let Some(congestion_point) = &mut self.switches[switch as usize].congestion_point else { return };
        let waiting = std::mem::replace(&mut congestion_point.notices[output], List::EMPTY);
        self.ports[out as usize].flags &= !NOTICES;
        let places: Vec<u32> = waiting.iter(&self.pool).map(|(place, _)| place).collect();
        places.into_iter().for_each(|place| self.queue_notice(now, switch, place, ctx));
    }

    /// Has a notice or receipt wait for the output that leads to its source.
    fn queue_notice(&mut self, now: Time, switch: u32, place: u32, ctx: &mut Ctx) {
        let Some(output) = self.output_of(switch, place) else {
            return self.lose(now, self.switches[switch as usize].first_port, place, crate::DropCause::Unreachable);
        };
        self.pool[place].output = output;
        let out = self.switches[switch as usize].first_port + u32::from(output);
        if let Some(congestion_point) = &mut self.switches[switch as usize].congestion_point {
            congestion_point.notices[usize::from(output)].push(&mut self.pool, place);
        }
        self.ports[out as usize].flags |= NOTICES;
        self.kick(out, ctx);
    }

    /// The next notice that waits for an output, if it may go.
    #[cold]
    pub(crate) fn take_notice(&mut self, p: u32) -> Option<u32> {
        let Device::Switch(switch) = self.ports[p as usize].device else { return None };
        let output = usize::from(self.ports[p as usize].number);
        let place = self.switches[switch as usize].congestion_point.as_ref()?.notices[output].head;
        if place == NIL {
            return None;
        }
        let (class, len) = (self.pool[place].class, self.pool[place].len);
        if self.ports[p as usize].blocked >> class & 1 == 1 || !self.spend(p, class, len) {
            return None;
        }
        let congestion_point = self.switches[switch as usize].congestion_point.as_mut()?;
        congestion_point.notices[output].pop(&self.pool);
        if congestion_point.notices[output].is_empty() {
            self.ports[p as usize].flags &= !NOTICES;
        }
        Some(place)
    }
}
