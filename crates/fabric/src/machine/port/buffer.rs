//! Input buffers: accounting per input and class, and the XOFF and XON thresholds.

use crate::build::plan::{Hold, Rule};
use crate::machine::network::{Ctx, Network};
use crate::observe::probe::Probe;
use units::Time;

impl<P: Probe> Network<P> {
    #[inline]
    pub(crate) fn rule(&self, p: u32, class: u8) -> &Rule {
        &self.plan.rules[self.ports[p as usize].rules as usize][class as usize]
    }

    /// Counts an arriving frame against its input; tells the sender to stop when that is due. Returns false, and the
    /// frame is gone, if there is no room.
    #[inline]
    pub(crate) fn admit(&mut self, now: Time, p: u32, class: u8, len: u16, place: u32, ctx: &mut Ctx) -> bool {
        let lane = &mut self.lanes[p as usize * self.classes + class as usize];
        let held = lane.held.wrapping_add(u32::from(len));
        if held > lane.alert {
            return self.admit_by_rule(now, p, place, ctx);
        }
        lane.held = held;
        true
    }

    /// The full rules for an arriving frame.
    #[inline(never)]
    fn admit_by_rule(&mut self, now: Time, p: u32, place: u32, ctx: &mut Ctx) -> bool {
        let (class, len) = (self.pool[place].class, self.pool[place].len);
        let rule = *self.rule(p, class);
        if self.plan.shared_rules[self.ports[p as usize].rules as usize] {
            return self.admit_shared(now, p, place, rule, ctx);
        }
        if !rule.counts_input {
            return true;
        }
        let lane = p as usize * self.classes + rule.account as usize;
        let held = self.lanes[lane].held + rule.units(len);
        if held > rule.capacity {
            self.overflow(now, p, place, rule, ctx);
            return false;
        }
        self.lanes[lane].held = held;
        if held > rule.xoff && self.ports[p as usize].stopped >> rule.account & 1 == 0 {
            self.stop(now, p, class, ctx);
        }
        true
    }

    /// A frame that came by input `p` has left the node.
    #[inline]
    pub(crate) fn release(&mut self, now: Time, p: u32, class: u8, len: u16, ctx: &mut Ctx) {
        let lane = &mut self.lanes[p as usize * self.classes + class as usize];
        if lane.calm == u32::MAX {
            return self.release_by_rule(now, p, class, len, ctx);
        }
        lane.held = lane.held.wrapping_sub(u32::from(len));
        if lane.held < lane.calm {
            self.go(now, p, class, ctx);
        }
    }

    /// The full rules for a frame that has left.
    #[inline(never)]
    fn release_by_rule(&mut self, now: Time, p: u32, class: u8, len: u16, ctx: &mut Ctx) {
        let rule = *self.rule(p, class);
        if self.plan.shared_rules[self.ports[p as usize].rules as usize] {
            return self.release_shared(now, p, class, len, rule, ctx);
        }
        if !rule.counts_input {
            return;
        }
        let units = rule.units(len);
        let lane = self.lane(p, rule.account);
        self.lanes[lane].held -= units;
        match rule.hold {
            Hold::Pause { .. } => {
                let stopped = self.ports[p as usize].stopped >> rule.account & 1 == 1;
                if stopped && self.lanes[lane].held <= rule.xon {
                    self.go(now, p, class, ctx);
                }
            }
            Hold::Nothing => {}
            Hold::CreditFrame { .. } | Hold::CreditSignal { .. } => {
                self.give_back(now, p, class, u64::from(units), ctx)
            }
        }
    }
}
