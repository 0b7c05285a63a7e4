//! PAUSE and PFC: stopping the far end, and obeying it.

use crate::build::plan::Hold;
use crate::machine::frame::{Content, Frame, Kind, Pause};
use crate::machine::network::{Ctx, Network};
use crate::machine::port::DOWN;
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
    /// Sends XOFF: the peer must pause.
    pub(crate) fn stop(&mut self, now: Time, p: u32, class: u8, ctx: &mut Ctx) {
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
        ctx.alarms.arm_no_later(self.numbers.flow_control + p, now + refresh);
        self.send_pause(now, p, hold, true, ctx);
    }

    /// Sends XON: the peer may resume.
    pub(crate) fn go(&mut self, now: Time, p: u32, class: u8, ctx: &mut Ctx) {
        let rule = *self.rule(p, class);
        let (account, hold) = (rule.account, rule.hold);
        self.ports[p as usize].stopped &= !(1 << account);
        let lane = self.lane(p, account);
        (self.gates[lane].refresh, self.gates[lane].unheard) = (Time::MAX, false);
        if self.lanes[lane].calm != u32::MAX {
            (self.lanes[lane].alert, self.lanes[lane].calm) = (rule.xoff.min(rule.capacity), 0);
        }
        self.send_pause(now, p, hold, false, ctx);
    }

    /// A frame that waits already says this too: each names the classes that have news when it starts. So a stop waits
    /// behind one frame of data and no pause frame but its own, as the headroom has it.
    pub(crate) fn send_pause(&mut self, now: Time, p: u32, hold: Hold, stop: bool, ctx: &mut Ctx) {
        let Hold::Pause { classes, quanta, .. } = hold else { return };
        let quanta = if stop { quanta } else { 0 };
        let control = self.ports[p as usize].control;
        let waiting = control.iter(&self.pool).find(|(_, frame)| frame.kind == Kind::Pause).map(|(place, _)| place);
        if let Some(place) = waiting {
            return self.pool[place].add_pause(classes, quanta);
        }
        let mut frame = Frame::saying(Content::Pause(Pause::default()), PAUSE_FRAME, now);
        frame.add_pause(classes, quanta);
        self.totals.pause_frames += 1;
        self.totals.control_bytes += u64::from(PAUSE_FRAME);
        self.send_control(p, frame, ctx);
    }

    /// A fault keeps the pauses in force of those classes from the far end of a port. It goes on sending, and what then
    /// finds no room is lost by that fault.
    #[cold]
    pub(crate) fn note_unheard(&mut self, p: u32, held: u8) {
        for account in 0..self.classes as u8 {
            let Hold::Pause { classes, .. } = self.rule(p, account).hold else { continue };
            if self.ports[p as usize].stopped >> account & 1 == 1 && classes & held != 0 {
                let lane = self.lane(p, account);
                self.gates[lane].unheard = true;
            }
        }
    }

    pub(crate) fn send_control(&mut self, p: u32, frame: Frame, ctx: &mut Ctx) {
        if self.ports[p as usize].flags & DOWN != 0 {
            // Nobody is there to hear it; what holds when the cable works again is said then.
            return;
        }
        let place = self.pool.put(frame);
        self.ports[p as usize].control.push(&mut self.pool, place);
        self.kick(p, ctx);
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
        let mut held = pause.held & obeyed;
        let port = &mut self.ports[p as usize];
        let until = now + quanta(pause.quanta, port.wire.rate());
        if let Some(watchdog) = &mut self.pfc_watchdogs[p as usize] {
            let (ignored, over) = watchdog.on_pause(now, (held, until), pause.released);
            held &= !ignored;
            if let Some(over) = over {
                ctx.alarms.arm_no_later(self.numbers.flow_control + p, over);
            }
        }
        let before = port.blocked;
        port.blocked = port.blocked & !pause.released | held;
        if held != 0 {
            for class in (0..self.classes).filter(|class| held >> class & 1 == 1) {
                self.gates[p as usize * self.classes + class].paused_until = until;
            }
            ctx.alarms.arm_no_later(self.numbers.flow_control + p, until);
            let fresh = held & !before;
            let watchdog = self.pfc_watchdogs[p as usize].as_mut();
            if let Some(due) = watchdog.and_then(|watchdog| watchdog.on_paused(now, fresh)) {
                ctx.alarms.arm_no_later(self.numbers.flow_control + p, due);
            }
        }
        self.note_pauses(now, p, before, ctx);
    }

    /// Tells the probe what changed in the classes a port may not send, and makes it send what it now may.
    pub(crate) fn note_pauses(&mut self, now: Time, p: u32, before: u8, ctx: &mut Ctx) {
        let port = &self.ports[p as usize];
        let (held, freed) = (port.blocked & !before, before & !port.blocked);
        if held != 0 {
            self.probe.on_pause(now, port.global, held, true);
        }
        if freed != 0 {
            self.probe.on_pause(now, port.global, freed, false);
            let waiting = freed & port.waiting;
            if waiting != 0 && self.has_congestion_point(p) {
                self.show_blocked(now, p, waiting, false);
            }
            self.kick(p, ctx);
        }
    }

    /// Pauses that run out, and requests that must be made again.
    pub(crate) fn on_flow_control(&mut self, now: Time, p: u32, ctx: &mut Ctx) {
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
        if self.pfc_watchdogs[p as usize].is_some() {
            next = next.min(self.on_pfc_watchdog(now, p, ctx));
        }
        if next != Time::MAX {
            ctx.alarms.arm_no_later(self.numbers.flow_control + p, next);
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
}
