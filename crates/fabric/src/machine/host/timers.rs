//! The timers of a host's flows: one alarm per host, for the earliest of them.

use crate::machine::host::flow::LIMITER;
use crate::machine::host::flow::{ACTIVITY, DEADLINE, LOST, RETRANSMISSION, SOURCE, TIMERS};
use crate::machine::network::{Ctx, Network};
use crate::observe::probe::Probe;
use congestion::ReactionPoint;
use units::Time;

impl<P: Probe> Network<P> {
    pub(crate) fn arm_flow_timer(&mut self, host: u32, slot: u32, which: u32, at: Time, ctx: &mut Ctx) {
        let state = &mut self.hosts[host as usize];
        let number = (slot - state.first_flow) * TIMERS + which;
        if state.timers.time_of(number) == Some(at) {
            return;
        }
        state.timers.arm(number, at);
        self.arm_host_timer(host, ctx);
    }

    pub(crate) fn disarm_flow_timer(&mut self, host: u32, slot: u32, which: u32, ctx: &mut Ctx) {
        let state = &mut self.hosts[host as usize];
        if state.timers.disarm((slot - state.first_flow) * TIMERS + which) {
            self.arm_host_timer(host, ctx);
        }
    }

    /// Has the heap of a host call at `deadline`. A timer that is set and not later is left as it is: when it runs out,
    /// it is set again. So a deadline that moves with every frame costs nothing.
    pub(crate) fn arm_lazily(&mut self, host: u32, number: u32, deadline: Option<Time>, ctx: &mut Ctx) {
        let state = &mut self.hosts[host as usize];
        match (deadline, state.timers.time_of(number)) {
            (None, None) => return,
            (Some(at), Some(set)) if set <= at => return,
            (Some(at), _) => state.timers.arm(number, at),
            (None, Some(_)) => {
                state.timers.disarm(number);
            }
        }
        self.arm_host_timer(host, ctx);
    }

    fn arm_host_timer(&mut self, host: u32, ctx: &mut Ctx) {
        let state = &self.hosts[host as usize];
        let alarm = self.numbers.node_timer + self.ports[state.port as usize].node;
        match state.timers.peek() {
            Some((at, _)) if ctx.alarms.pending(alarm) == Some(at) => {}
            Some((at, _)) => ctx.alarms.arm(alarm, at),
            None => ctx.alarms.disarm(alarm),
        }
    }

    pub(crate) fn arm_limiter(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let not_before = self.flows[slot as usize].not_before;
        if not_before > now {
            self.arm_flow_timer(host, slot, LIMITER, not_before, ctx);
        }
    }

    pub(crate) fn arm_deadline(&mut self, now: Time, host: u32, slot: u32, ctx: &mut Ctx) {
        let flow = &mut self.flows[slot as usize];
        // A flow that has sent all it had has no use for a rate; if some of it comes back, so does the deadline.
        let deadline = flow.reaction.deadline().filter(|_| !flow.is_done());
        if deadline.is_none() && !flow.timed {
            return;
        }
        flow.timed = deadline.is_some();
        match deadline {
            Some(at) => self.arm_flow_timer(host, slot, DEADLINE, at.max(now), ctx),
            None => self.disarm_flow_timer(host, slot, DEADLINE, ctx),
        }
    }

    /// A host's wire is about to choose: flows that may send from this very instant on are in the ring before it does.
    #[inline]
    pub(crate) fn run_due_timers(&mut self, now: Time, host: u32, ctx: &mut Ctx) {
        if self.hosts[host as usize].timers.peek().is_some_and(|(at, _)| at <= now) {
            self.on_flow_timers(now, host, ctx);
        }
    }

    /// Timers of a host's flows that are due.
    pub(crate) fn on_flow_timers(&mut self, now: Time, host: u32, ctx: &mut Ctx) {
        while let Some((at, number)) = self.hosts[host as usize].timers.peek() {
            if at > now {
                break;
            }
            let state = &mut self.hosts[host as usize];
            state.timers.pop();
            if number >= state.flows * TIMERS {
                let position = number - state.flows * TIMERS;
                match (position as usize) < state.sinks.len() {
                    true => self.on_sink_timer(now, host, position, ctx),
                    false => self.send_pulls(now, host, ctx),
                }
                continue;
            }
            let slot = state.first_flow + number / TIMERS;
            match number % TIMERS {
                RETRANSMISSION => self.on_retransmission_timer(now, host, slot, ctx),
                SOURCE => self.make_paced(now, host, slot, ctx),
                DEADLINE => {
                    self.flows[slot as usize].timed = false;
                    self.flows[slot as usize].reaction.on_deadline(now);
                    self.settle_flow(now, host, slot, ctx);
                }
                ACTIVITY => self.on_activity(now, host, slot, ctx),
                LOST => self.queue_lost(now, host, slot, ctx),
                _ => self.settle_flow(now, host, slot, ctx),
            }
            self.give_up_if_done(host, slot);
        }
        self.arm_host_timer(host, ctx);
    }
}
