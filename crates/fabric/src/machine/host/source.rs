//! Sources: flows start, turn on and off, stop, make frames at their own pace, and queue again what was dropped.

use crate::describe::workload::{Activity, Gaps, Overflow, Pattern};
use crate::machine::host::flow::{ACTIVITY, Flow, LOST, SOURCE};
use crate::machine::network::{Ctx, Device, Network};
use crate::observe::probe::{DropCause, Probe};
use congestion::ReactionPoint;
use units::{Span, Time};

impl<P: Probe> Network<P> {
    /// Flows whose start has come.
    pub(crate) fn on_workload(&mut self, now: Time, node: u32, ctx: &mut Ctx) {
        let Device::Host(host) = self.nodes[node as usize].device else { return };
        loop {
            let state = &self.hosts[host as usize];
            if state.started == state.scheduled {
                return;
            }
            let slot = state.first_flow + state.started;
            let start = self.plan.flows[self.number_of(slot) as usize].start;
            if start > now {
                ctx.alarms.arm(self.numbers.workload + node, start);
                return;
            }
            self.hosts[host as usize].started += 1;
            self.make_flow(host, slot);
            self.switch_flow(now, host, slot, ctx);
            self.give_up_if_done(host, slot);
        }
    }

    /// A source starts, turns on or off, or stops for good.
    pub(crate) fn switch_flow(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let flow = &mut self.flows[slot as usize];
        flow.interrupt_deferred();
        let spec = &self.plan.flows[flow.number as usize];
        let (stop, activity) = (spec.stop, spec.activity);
        if stop.is_some_and(|stop| stop <= now) {
            (flow.on, flow.stopped) = (false, true);
            flow.reaction.on_activity(now, false);
            self.clear_backlog(now, slot);
            self.disarm_flow_timer(host, slot, SOURCE, ctx);
            return self.settle_flow(now, host, slot, ctx);
        }
        flow.on = !flow.on;
        flow.reaction.on_activity(now, flow.on);
        let turned_on = flow.on;
        // A source that has nothing left to make need not wake again, unless some of it may come back.
        let wakes = flow.remaining > 0 || spec.requeue_oracle.is_some();
        let phase = flow.phase(spec).filter(|_| wakes).map(|span| now.saturating_add(span));
        let first_gap = if turned_on && !flow.greedy { Some(flow.gap(spec, self.plan.overhead)) } else { None };
        // The first frame comes after a part of a gap, so that equal sources are not in step; an exponential gap has
        // no memory and is taken whole.
        let memoryless = matches!(spec.pattern, Pattern::Paced { gaps: Gaps::Exponential, .. });
        let phase_in = first_gap.map(|gap| match memoryless {
            true => gap,
            false => Span::from_picos(flow.stream.below(gap.as_picos().max(1))),
        });
        if let Some(next) = phase.into_iter().chain(stop).min() {
            self.arm_flow_timer(host, slot, ACTIVITY, next, ctx);
        }
        if let Some(part) = phase_in {
            self.arm_flow_timer(host, slot, SOURCE, now.saturating_add(part), ctx);
        }
        if !turned_on {
            self.disarm_flow_timer(host, slot, SOURCE, ctx);
            if matches!(activity, Activity::OnOff { discard: true, .. }) {
                self.clear_backlog(now, slot);
            }
        }
        self.settle_flow(now, host, slot, ctx);
        self.request_to_send(now, host, slot, ctx);
    }

    fn clear_backlog(&mut self, now: Time, slot: u32) {
        let p = self.flows[slot as usize].port;
        while let Some(place) = self.flows[slot as usize].backlog.pop(&self.pool) {
            self.lose(now, p, place, DropCause::AtSource);
            self.refill_backlog(slot);
        }
        self.flows[slot as usize].backlogged = 0;
        self.flows[slot as usize].stalled = false;
    }

    /// Makes a deferred frame again when none is left before it.
    pub(crate) fn refill_backlog(&mut self, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        if flow.deferred.is_none() || !flow.backlog.is_empty() {
            return;
        }
        let spec = &self.plan.flows[flow.number as usize];
        let frame = flow.make_deferred(self.plan.smallest_frame, self.plan.spray, spec, self.plan.overhead);
        if let Some(frame) = frame {
            let place = self.pool.put(frame);
            flow.backlog.push(&mut self.pool, place);
        }
    }

    /// A paced source makes a frame.
    pub(crate) fn make_paced(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let flow: &mut Flow = &mut self.flows[slot as usize];
        let p = flow.port;
        let spec = &self.plan.flows[flow.number as usize];
        let Pattern::Paced { backlog, .. } = spec.pattern else { return };
        if !flow.on || flow.remaining == 0 {
            return;
        }
        let full = backlog.filter(|limit| flow.backlogged >= limit.frames);
        if full.is_some_and(|limit| limit.overflow == Overflow::Stall) {
            flow.stalled = true;
            return;
        }
        // A backlog with a limit is bounded as it is.
        let before = (backlog.is_none() && flow.defers()).then(|| flow.before());
        let frame = flow.make(now, self.plan.smallest_frame, self.plan.spray, spec.hosts());
        self.totals.made(frame.len);
        let gap = flow.gap(spec, self.plan.overhead);
        if let Some(before) = before {
            flow.backlogged += 1;
            flow.defer(now, before, now + gap);
        } else {
            let place = self.pool.put(frame);
            if full.is_some() {
                self.lose(now, p, place, DropCause::AtSource);
            } else {
                flow.backlogged += 1;
                flow.backlog.push(&mut self.pool, place);
            }
        }
        self.arm_flow_timer(host, slot, SOURCE, now + gap, ctx);
        self.settle_flow(now, host, slot, ctx);
        self.request_to_send(now, host, slot, ctx);
    }

    /// A frame of a flow of this shard was dropped; its source will know.
    pub(crate) fn hear_of_loss(&mut self, flow: u32, len: u16, at: Time, ctx: &mut Ctx) {
        let slot = self.slot_of(flow);
        let lost = &mut self.flows[slot as usize].lost;
        let place = lost.partition_point(|&(other, _)| other <= at);
        lost.insert(place, (at, len));
        let (first, host) = (lost[0].0, self.flows[slot as usize].host);
        self.arm_flow_timer(host, slot, LOST, first, ctx);
    }

    /// The source knows of frames that were dropped, and has as much more to send.
    pub(crate) fn queue_lost(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let flow = &mut self.flows[slot as usize];
        flow.interrupt_deferred();
        let idle = flow.remaining == 0;
        while let Some(&(at, len)) = flow.lost.front() {
            if at > now {
                self.arm_flow_timer(host, slot, LOST, at, ctx);
                break;
            }
            flow.lost.pop_front();
            if flow.remaining != u64::MAX {
                flow.remaining += u64::from(len);
            }
        }
        let flow = &mut self.flows[slot as usize];
        if idle && !flow.greedy && flow.on {
            let gap = flow.gap(&self.plan.flows[flow.number as usize], self.plan.overhead);
            self.arm_flow_timer(host, slot, SOURCE, now + gap, ctx);
        }
        self.settle_flow(now, host, slot, ctx);
    }
}
