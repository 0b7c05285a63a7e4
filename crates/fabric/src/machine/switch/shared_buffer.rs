//! A memory that all ports of a switch share. A lossless class takes its part at the input by which a frame came, a lossy
//! one at the output for which it waits; so each is limited where it can be stopped or dropped.

use crate::build::plan::Rule;
use crate::machine::network::{Ctx, Device, Network};
use crate::observe::probe::Probe;
use units::Time;

impl<P: Probe> Network<P> {
    /// Counts an arriving frame against its input: guaranteed part, then the shared part up to the dynamic threshold,
    /// then headroom. Returns false, and the frame is gone, if there is no room. A lossy class has room here: it is its
    /// output that may have none.
    pub(crate) fn admit_shared(&mut self, now: Time, p: u32, place: u32, rule: Rule, ctx: &mut Ctx) -> bool {
        let Device::Switch(switch) = self.ports[p as usize].device else { return true };
        let state = &mut self.switches[switch as usize];
        let Some(shared) = self.plan.switches[state.kind as usize].shared else { return true };
        let (class, len) = (self.pool[place].class, u32::from(self.pool[place].len));
        let at = p as usize * self.classes + rule.account as usize;
        let lane = &mut self.lanes[at];
        if !rule.counts_input {
            lane.held += len;
            return true;
        }
        let stopped = self.ports[p as usize].stopped >> rule.account & 1 == 1;
        let before = (lane.held - lane.headroom).saturating_sub(rule.capacity);
        let after = (lane.held - lane.headroom + len).saturating_sub(rule.capacity);
        if !stopped && (after == 0 || u64::from(after) <= rule.threshold(shared, state.shared_used)) {
            state.shared_used += u64::from(after - before);
        } else if lane.headroom + len <= rule.headroom {
            lane.headroom += len;
        } else {
            self.overflow(now, p, place, rule, ctx);
            return false;
        }
        self.lanes[at].held += len;
        if !stopped && self.lanes[at].headroom > 0 {
            self.stop(now, p, class, ctx);
        }
        true
    }

    /// A frame that came by input `p` has left the node.
    pub(crate) fn release_shared(&mut self, now: Time, p: u32, class: u8, len: u16, rule: Rule, ctx: &mut Ctx) {
        let Device::Switch(switch) = self.ports[p as usize].device else { return };
        let state = &mut self.switches[switch as usize];
        let Some(shared) = self.plan.switches[state.kind as usize].shared else { return };
        let len = u32::from(len);
        let lane = &mut self.lanes[p as usize * self.classes + rule.account as usize];
        if !rule.counts_input {
            lane.held -= len;
            return;
        }
        let spare = len.min(lane.headroom);
        let before = (lane.held - lane.headroom).saturating_sub(rule.capacity);
        lane.headroom -= spare;
        lane.held -= len;
        let after = (lane.held - lane.headroom).saturating_sub(rule.capacity);
        state.shared_used -= u64::from(before - after);
        let below = u64::from(after) + u64::from(rule.xon) <= rule.threshold(shared, state.shared_used);
        let quiet = below || after == 0 || lane.held <= rule.resume;
        if self.ports[p as usize].stopped >> rule.account & 1 == 1 && lane.headroom == 0 && quiet {
            self.go(now, p, class, ctx);
        }
    }

    /// Whether a lossy frame fits the queue of an output; with a shared buffer it takes its part of that. The frame on the
    /// wire counts until its last bit has left.
    #[inline(never)]
    pub(crate) fn fits_output(&mut self, switch: u32, out: u32, class: u8, len: u32) -> bool {
        let state = &mut self.switches[switch as usize];
        let port = &self.ports[out as usize];
        let rule = &self.plan.rules[port.rules as usize][class as usize];
        let guaranteed = rule.capacity;
        let lane = &self.lanes[out as usize * self.classes + class as usize];
        let occupied = lane.bytes + port.leaving_of(class);
        if rule.frames != u32::MAX {
            let limit = (rule.frames as usize).saturating_sub(usize::from(port.leaving_of(class) > 0));
            if lane.queue.iter(&self.pool).take(limit).count() >= limit {
                return false;
            }
        }
        let Some(shared) = self.plan.switches[state.kind as usize].shared else {
            return u64::from(occupied) + u64::from(len) <= u64::from(guaranteed);
        };
        let (before, after) = (occupied.saturating_sub(guaranteed), (occupied + len).saturating_sub(guaranteed));
        let fits = after == 0 || u64::from(after) <= rule.threshold(shared, state.shared_used);
        if fits {
            state.shared_used += u64::from(after - before);
        }
        fits
    }

    /// A lossy frame has left a shared buffer by that output, and is counted there no more.
    pub(crate) fn release_output(&mut self, out: u32, class: u8, len: u16) {
        let port = &self.ports[out as usize];
        let Device::Switch(switch) = port.device else { return };
        let guaranteed = self.plan.rules[port.rules as usize][class as usize].capacity;
        let after = self.lanes[out as usize * self.classes + class as usize].bytes + port.leaving_of(class);
        let before = after + u32::from(len);
        let freed = before.saturating_sub(guaranteed) - after.saturating_sub(guaranteed);
        self.switches[switch as usize].shared_used -= u64::from(freed);
    }
}
