//! Links that fail and work again.

use crate::build::plan::Hold;
use crate::machine::network::{Ctx, Network};
use crate::machine::port::DOWN;
use crate::observe::probe::Probe;
use units::Time;

impl<P: Probe> Network<P> {
    /// The cable of a port fails or works again. Both ends see it at the same instant.
    pub(crate) fn set_cable(&mut self, now: Time, p: u32, up: bool, ctx: &mut Ctx) {
        let port = &mut self.ports[p as usize];
        if self.probe.wants_causes() {
            self.probe.on_cable(now, port.global, up);
        }
        let before = port.blocked;
        if !up {
            // Everything the two ends have told each other is forgotten, at both.
            port.flags |= DOWN;
            port.epoch = port.epoch.wrapping_add(1);
            port.blocked = 0;
            port.credit_due = 0;
            while let Some(place) = self.ports[p as usize].control.pop(&self.pool) {
                self.pool.release(place);
            }
            self.signals[p as usize].clear();
            ctx.alarms.disarm(self.numbers.signal + p);
            for class in 0..self.classes {
                let gate = &mut self.gates[p as usize * self.classes + class];
                (gate.limit, gate.spent, gate.granted) = (0, 0, 0);
            }
            self.probe.on_credits(now, self.ports[p as usize].global, u8::MAX);
            return self.note_pauses(now, p, before, ctx);
        }
        port.flags &= !DOWN;
        let stopped = port.stopped;
        self.note_unheard(p, stopped);
        for class in 0..self.classes as u8 {
            let rule = *self.rule(p, class);
            match rule.hold {
                Hold::Pause { .. } if rule.account == class && stopped >> class & 1 == 1 => {
                    self.send_pause(now, p, rule.hold, true, ctx);
                }
                Hold::CreditFrame { .. } | Hold::CreditSignal { .. } => {
                    let lane = self.lane(p, class);
                    let room = u64::from(rule.capacity - self.lanes[lane].held);
                    self.give_back(now, p, class, room, ctx);
                }
                _ => {}
            }
        }
        self.kick(p, ctx);
    }
}
