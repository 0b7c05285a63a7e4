//! A buffer that all ports of a switch share: lossless classes are counted at their input, lossy ones at their output.

use crate::build::plan::Rule;
use crate::machine::network::{Ctx, Device, Network};
use crate::observe::probe::Probe;
use units::Time;

impl<P: Probe> Network<P> {
    /// The same with a shared buffer: guaranteed part, then the shared part up to the dynamic threshold, then headroom.
    pub(crate) fn admit_shared(&mut self, now: Time, p: u32, place: u32, rule: Rule, ctx: &mut Ctx) -> bool {
        let Device::Switch(switch) = self.ports[p as usize].device else { return true };
        let state = &mut self.switches[switch as usize];
        let Some(shared) = self.plan.switches[state.kind as usize].shared else { return true };
        let (class, len) = (self.pool[place].class, u32::from(self.pool[place].len));
        let at = p as usize * self.classes + rule.account as usize;
        let lane = &mut self.lanes[at];
        let stopped = self.ports[p as usize].stopped >> rule.account & 1 == 1;
        let before = (lane.held - lane.headroom).saturating_sub(rule.capacity);
        let after = (lane.held - lane.headroom + len).saturating_sub(rule.capacity);
        if !stopped && (after == 0 || u64::from(after) <= shared.threshold(state.shared_used)) {
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

    pub(crate) fn release_shared(&mut self, now: Time, p: u32, class: u8, len: u16, rule: Rule, ctx: &mut Ctx) {
        let Device::Switch(switch) = self.ports[p as usize].device else { return };
        let state = &mut self.switches[switch as usize];
        let Some(shared) = self.plan.switches[state.kind as usize].shared else { return };
        if !rule.counts_input {
            // A lossy class is counted at its output.
            return;
        }
        let len = u32::from(len);
        let lane = &mut self.lanes[p as usize * self.classes + rule.account as usize];
        let spare = len.min(lane.headroom);
        let before = (lane.held - lane.headroom).saturating_sub(rule.capacity);
        lane.headroom -= spare;
        lane.held -= len;
        let after = (lane.held - lane.headroom).saturating_sub(rule.capacity);
        state.shared_used -= u64::from(before - after);
        let quiet = u64::from(after) + u64::from(rule.xon) <= shared.threshold(state.shared_used) || after == 0;
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
}
