//! Receiving: what a port does with a frame that has arrived.

use crate::machine::frame::{CORRUPT, Content, Credit, NIL};
use crate::machine::network::{Ctx, Device, Network};
use crate::machine::port::Signal;
use crate::observe::probe::{DropCause, Probe};
use units::Time;

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
        fingerprint.fold(frame.identity());
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
        match frame.content() {
            Content::Pause(pause) => {
                let at = self.obeys_at(now, p);
                if at == now {
                    self.obey_pause(now, p, pause, ctx);
                } else {
                    self.push_signal(p, at, Signal::Pause(pause), ctx);
                }
            }
            Content::Credit(Credit { class, granted }) => self.grant(now, p, class, granted, ctx),
            _ => {}
        }
    }
}
