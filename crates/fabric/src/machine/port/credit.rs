//! Credits: granting room to the far end, and spending what it has granted.

use crate::build::plan::{Hold, units};
use crate::machine::frame::{Content, Credit, Frame};
use crate::machine::network::{Ctx, Message, Network};
use crate::machine::port::{DOWN, Signal};
use crate::observe::probe::Probe;
use units::Time;

impl<P: Probe> Network<P> {
    /// A frame was damaged on its way: it used credits of its sender's, and takes no room here.
    pub(crate) fn give_back_damaged(&mut self, now: Time, p: u32, class: u8, len: u16, ctx: &mut Ctx) {
        let rule = self.rule(p, class);
        if matches!(rule.hold, Hold::CreditFrame { .. } | Hold::CreditSignal { .. }) {
            let units = u64::from(rule.units(len));
            self.give_back(now, p, class, units, ctx);
        }
    }

    /// Grants the far end so many more units.
    pub(crate) fn give_back(&mut self, now: Time, p: u32, class: u8, units: u64, ctx: &mut Ctx) {
        if self.ports[p as usize].flags & DOWN != 0 {
            // Both ends start anew when the cable works again.
            return;
        }
        let lane = self.lane(p, class);
        self.gates[lane].granted += units;
        let granted = self.gates[lane].granted;
        let port = &mut self.ports[p as usize];
        match self.plan.rules[port.rules as usize][class as usize].hold {
            Hold::CreditFrame { size, .. } => {
                if port.credit_due >> class & 1 == 0 {
                    port.credit_due |= 1 << class;
                    let frame = Frame::saying(Content::Credit(Credit { class, granted }), size, now);
                    self.totals.credit_frames += 1;
                    self.totals.control_bytes += u64::from(size);
                    self.send_control(p, frame, ctx);
                }
            }
            Hold::CreditSignal { delay } => {
                let (peer, neighbour, epoch, at) = (port.peer, port.neighbour, port.epoch, now + delay);
                if neighbour == crate::machine::frame::NIL {
                    self.push_signal(peer, at, Signal::Credit { class, granted, epoch }, ctx);
                } else {
                    ctx.send(neighbour, at, Message::Credit { port: peer, class, granted, epoch, at });
                }
            }
            Hold::Nothing | Hold::Pause { .. } => {}
        }
    }

    /// The far end has granted that many units in total.
    pub(crate) fn grant(&mut self, now: Time, p: u32, class: u8, granted: u64, ctx: &mut Ctx) {
        let lane = self.lane(p, class);
        let gate = &mut self.gates[lane];
        if granted > gate.limit {
            gate.limit = granted;
            self.probe.on_credits(now, self.ports[p as usize].global, 1 << class);
            self.kick(p, ctx);
        }
    }

    /// Uses credits for a frame, if there are enough. A class that the far end does not hold needs none.
    #[inline]
    pub(crate) fn spend(&mut self, p: u32, class: u8, len: u16) -> bool {
        let port = &self.ports[p as usize];
        if port.credited >> class & 1 == 0 {
            return true;
        }
        let need = u64::from(units(port.credit_unit, len));
        let lane = self.lane(p, class);
        let gate = &mut self.gates[lane];
        let enough = gate.limit >= gate.spent + need;
        if enough {
            gate.spent += need;
        }
        enough
    }

    /// Those of `classes` that have a frame which could start now: an input is free to give it, and it has the credits
    /// it needs.
    pub(crate) fn affordable(&self, p: u32, classes: u8) -> u8 {
        let port = &self.ports[p as usize];
        let affordable = |class: &u8| {
            let gate = &self.gates[self.lane(p, *class)];
            let len = self.head_len(p, *class) as u16;
            let need = u64::from(units(port.credit_unit, len));
            len > 0 && (port.credited >> class & 1 == 0 || gate.limit >= gate.spent + need)
        };
        let asked = (0..self.classes as u8).filter(|class| classes >> class & 1 == 1);
        asked.filter(affordable).fold(0, |mask, class| mask | 1 << class)
    }

    /// Whether a port has the credits for a frame, where it needs any.
    pub(crate) fn has_credits(&self, p: u32, class: u8, len: u16) -> bool {
        let (port, gate) = (&self.ports[p as usize], &self.gates[self.lane(p, class)]);
        port.credited >> class & 1 == 0 || gate.limit >= gate.spent + u64::from(units(port.credit_unit, len))
    }

    /// A control frame is about to start: a credit frame says what is true now.
    pub(crate) fn fill_control(&mut self, p: u32, place: u32) {
        if let Content::Credit(Credit { class, .. }) = self.pool[place].content() {
            self.ports[p as usize].credit_due &= !(1 << class);
            let granted = self.gates[self.lane(p, class)].granted;
            self.pool[place].set_granted(granted);
        }
    }
}
