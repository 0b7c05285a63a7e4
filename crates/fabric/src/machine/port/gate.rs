//! Holding back and letting go: buffers that fill, pause frames, credits, and cables that fail.

use crate::build::plan::{Hold, Rule, units};
use crate::machine::frame::{Frame, Kind, Pause};
use crate::machine::network::{Ctx, Device, Message, Network};
use crate::machine::port::{DOWN, Signal};
use crate::observe::probe::Probe;
use units::{Rate, Span, Time};

/// Octets of a PAUSE or PFC frame: the smallest Ethernet frame (802.3 31B, 802.1Qbb).
pub(crate) const PAUSE_FRAME: u16 = 64;

/// The duration of so many quanta of 512 bit times.
pub(crate) fn quanta(count: u16, rate: Rate) -> Span {
    let bits = u128::from(count) * 512;
    // A picosecond at least: a timer of no time would fire for ever.
    Span::from_picos(((bits * 1_000_000_000_000 / u128::from(rate.as_bits_per_sec())) as u64).max(1))
}

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
        if !rule.counts_input {
            return true;
        }
        if self.plan.shared_rules[self.ports[p as usize].rules as usize] {
            return self.admit_shared(now, p, place, rule, ctx);
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

    /// The same with a shared buffer: guaranteed part, then the shared part up to the dynamic threshold, then headroom.
    fn admit_shared(&mut self, now: Time, p: u32, place: u32, rule: Rule, ctx: &mut Ctx) -> bool {
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

    fn release_shared(&mut self, now: Time, p: u32, class: u8, len: u16, rule: Rule, ctx: &mut Ctx) {
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

    /// Tells the sender at the far end to stop.
    fn stop(&mut self, now: Time, p: u32, class: u8, ctx: &mut Ctx) {
        let rule = *self.rule(p, class);
        let (account, hold) = (rule.account, rule.hold);
        let Hold::Pause { refresh_after, .. } = hold else { return };
        let port = &mut self.ports[p as usize];
        port.stopped |= 1 << account;
        let refresh = quanta(refresh_after, port.wire.rate());
        let lane = self.lane(p, account);
        self.gates[lane].refresh = now + refresh;
        if self.lanes[lane].calm != u32::MAX {
            (self.lanes[lane].alert, self.lanes[lane].calm) = (rule.capacity, rule.xon + 1);
        }
        ctx.alarms.arm_no_later(self.numbers.timer + p, now + refresh);
        self.send_pause(now, p, hold, true, ctx);
    }

    /// Tells it to go on.
    fn go(&mut self, now: Time, p: u32, class: u8, ctx: &mut Ctx) {
        let rule = *self.rule(p, class);
        let (account, hold) = (rule.account, rule.hold);
        self.ports[p as usize].stopped &= !(1 << account);
        let lane = self.lane(p, account);
        self.gates[lane].refresh = Time::MAX;
        if self.lanes[lane].calm != u32::MAX {
            (self.lanes[lane].alert, self.lanes[lane].calm) = (rule.xoff.min(rule.capacity), 0);
        }
        self.send_pause(now, p, hold, false, ctx);
    }

    /// A frame that waits already says this too: each names the classes that have news when it starts. So a stop waits
    /// behind one frame of data and no pause frame but its own, as the headroom has it.
    fn send_pause(&mut self, now: Time, p: u32, hold: Hold, stop: bool, ctx: &mut Ctx) {
        let Hold::Pause { classes, quanta, .. } = hold else { return };
        let quanta = if stop { quanta } else { 0 };
        let control = self.ports[p as usize].control;
        let waiting = control.iter(&self.pool).find(|(_, frame)| frame.kind == Kind::Pause).map(|(place, _)| place);
        if let Some(place) = waiting {
            return self.pool[place].add_pause(classes, quanta);
        }
        let mut frame = Frame::control(Kind::Pause, PAUSE_FRAME, now);
        frame.add_pause(classes, quanta);
        self.totals.pause_frames += 1;
        self.totals.control_bytes += u64::from(PAUSE_FRAME);
        self.send_control(p, frame, ctx);
    }

    fn send_control(&mut self, p: u32, frame: Frame, ctx: &mut Ctx) {
        if self.ports[p as usize].flags & DOWN != 0 {
            // Nobody is there to hear it; what holds when the cable works again is said then.
            return;
        }
        let place = self.pool.put(frame);
        self.ports[p as usize].control.push(&mut self.pool, place);
        self.kick(p, ctx);
    }

    /// A control frame is about to start: a credit frame says what is true now.
    pub(crate) fn fill_control(&mut self, p: u32, place: u32) {
        if self.pool[place].kind == Kind::Credit {
            let class = self.pool[place].dst as u8;
            self.ports[p as usize].credit_due &= !(1 << class);
            self.pool[place].born = Time::from_picos(self.gates[self.lane(p, class)].granted);
        }
    }

    /// When a port obeys a pause frame that arrives now: not before the one that came before it.
    pub(crate) fn obeys_at(&mut self, now: Time, p: u32) -> Time {
        let (least, jitter) = self.plan.pause_response(self.ports[p as usize].global);
        let more = match &mut self.responses[p as usize] {
            Some(stream) => Span::from_picos(stream.below(jitter.as_picos() + 1)),
            None => Span::ZERO,
        };
        let before = self.signals[p as usize].back().map_or(Time::ZERO, |(at, _)| *at);
        (now + least + more).max(before)
    }

    /// Obeys a pause frame from the far end.
    pub(crate) fn obey_pause(&mut self, now: Time, p: u32, pause: Pause, ctx: &mut Ctx) {
        let obeyed = self.plan.obeys(self.ports[p as usize].global) & ((1u16 << self.classes) - 1) as u8;
        let held = pause.held & obeyed;
        let port = &mut self.ports[p as usize];
        let before = port.blocked;
        port.blocked = port.blocked & !pause.released | held;
        if held != 0 {
            let until = now + quanta(pause.quanta, port.wire.rate());
            for class in (0..self.classes).filter(|class| held >> class & 1 == 1) {
                self.gates[p as usize * self.classes + class].paused_until = until;
            }
            ctx.alarms.arm_no_later(self.numbers.timer + p, until);
        }
        self.note_pauses(now, p, before, ctx);
    }

    /// Tells the probe what changed in the classes a port may not send, and makes it send what it now may.
    fn note_pauses(&mut self, now: Time, p: u32, before: u8, ctx: &mut Ctx) {
        let port = &self.ports[p as usize];
        let (held, freed) = (port.blocked & !before, before & !port.blocked);
        if held != 0 {
            self.probe.on_pause(now, port.global, held, true);
        }
        if freed != 0 {
            self.probe.on_pause(now, port.global, freed, false);
            let waiting = freed & port.waiting;
            if waiting != 0 && self.is_watched(p) {
                self.monitor_blocked(now, p, waiting, false);
            }
            self.kick(p, ctx);
        }
    }

    /// Pauses that run out, and requests that must be made again.
    pub(crate) fn on_timer(&mut self, now: Time, p: u32, ctx: &mut Ctx) {
        let before = self.ports[p as usize].blocked;
        let mut next = Time::MAX;
        for class in 0..self.classes {
            let lane = p as usize * self.classes + class;
            let bit = 1u8 << class;
            if self.ports[p as usize].blocked & bit != 0 {
                if self.gates[lane].paused_until <= now {
                    self.ports[p as usize].blocked &= !bit;
                } else {
                    next = next.min(self.gates[lane].paused_until);
                }
            }
            if self.gates[lane].refresh <= now {
                self.refresh(now, p, class as u8, ctx);
            }
            next = next.min(self.gates[lane].refresh);
        }
        if next != Time::MAX {
            ctx.alarms.arm_no_later(self.numbers.timer + p, next);
        }
        self.note_pauses(now, p, before, ctx);
    }

    fn refresh(&mut self, now: Time, p: u32, class: u8, ctx: &mut Ctx) {
        let hold = self.rule(p, class).hold;
        let lane = self.lane(p, class);
        match hold {
            Hold::Pause { refresh_after, .. } => {
                self.gates[lane].refresh = now + quanta(refresh_after, self.ports[p as usize].wire.rate());
                self.send_pause(now, p, hold, true, ctx);
            }
            Hold::CreditFrame { refresh: Some(refresh), .. } => {
                self.gates[lane].refresh = now + refresh;
                self.give_back(now, p, class, 0, ctx);
            }
            _ => self.gates[lane].refresh = Time::MAX,
        }
    }

    /// A frame was damaged on its way: it used credits of its sender's, and takes no room here.
    pub(crate) fn give_back_damaged(&mut self, now: Time, p: u32, class: u8, len: u16, ctx: &mut Ctx) {
        let rule = self.rule(p, class);
        if matches!(rule.hold, Hold::CreditFrame { .. } | Hold::CreditSignal { .. }) {
            let units = u64::from(rule.units(len));
            self.give_back(now, p, class, units, ctx);
        }
    }

    /// Grants the far end so many more units.
    fn give_back(&mut self, now: Time, p: u32, class: u8, units: u64, ctx: &mut Ctx) {
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
                    let mut frame = Frame::control(Kind::Credit, size, now);
                    frame.dst = u32::from(class);
                    self.totals.credit_frames += 1;
                    self.totals.control_bytes += u64::from(size);
                    self.send_control(p, frame, ctx);
                }
            }
            Hold::CreditSignal { delay } => {
                let (peer, shard, epoch, at) = (port.peer, port.peer_shard, port.epoch, now + delay);
                if shard == crate::machine::frame::NIL {
                    self.push_signal(peer, at, Signal::Credit { class, granted, epoch }, ctx);
                } else {
                    ctx.send(shard, Message::Credit { port: peer, class, granted, epoch, at });
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

    /// Something will reach a port beside its frames. Each port has one kind of signal, so times never go back.
    pub(crate) fn push_signal(&mut self, p: u32, at: Time, signal: Signal, ctx: &mut Ctx) {
        let signals = &mut self.signals[p as usize];
        if signals.is_empty() {
            ctx.alarms.arm(self.numbers.signal + p, at);
        }
        signals.push_back((at, signal));
    }

    /// The first signal of a port has come.
    pub(crate) fn on_signal(&mut self, now: Time, p: u32, ctx: &mut Ctx) {
        let Some((_, signal)) = self.signals[p as usize].pop_front() else { return };
        if let Some(&(at, _)) = self.signals[p as usize].front() {
            ctx.alarms.arm(self.numbers.signal + p, at);
        }
        match signal {
            Signal::Credit { class, granted, epoch } => {
                if epoch == self.ports[p as usize].epoch {
                    self.grant(now, p, class, granted, ctx);
                }
            }
            Signal::Pause(pause) => self.obey_pause(now, p, pause, ctx),
        }
    }

    /// The cable of a port fails or works again. Both ends see it at the same instant.
    pub(crate) fn set_cable(&mut self, now: Time, p: u32, up: bool, ctx: &mut Ctx) {
        let port = &mut self.ports[p as usize];
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
