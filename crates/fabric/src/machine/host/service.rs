//! A receiver that may be slower than its cable.

use crate::machine::frame::{Kind, List, NIL};
use crate::machine::network::{Ctx, Network};
use crate::observe::probe::Probe;
use units::{Bytes, Rate, Time, Wire};

/// A receiver of limited speed.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    /// `None` consumes at once, a rate of zero not at all.
    pub(crate) rate: Option<Rate>,
    clock: Option<Wire>,
    pub(crate) queue: List,
    /// The frame that is being consumed.
    pub(crate) current: u32,
}

units::state!(struct Service { plain: rate, clock, queue, current; });

impl Service {
    pub(crate) fn new(rate: Option<Rate>) -> Service {
        Service { rate, clock: clock(rate), queue: List::EMPTY, current: NIL }
    }
}

fn clock(rate: Option<Rate>) -> Option<Wire> {
    rate.filter(|&rate| rate > Rate::ZERO).map(Wire::new)
}

impl<P: Probe> Network<P> {
    /// A frame has arrived at a host.
    #[inline]
    pub(crate) fn host_receives(&mut self, now: Time, p: u32, host: u32, place: u32, ctx: &mut Ctx) {
        if self.hosts[host as usize].service.is_empty() {
            return self.consume(now, p, host, place, ctx);
        }
        self.queue_for_service(now, p, host, place, ctx);
    }

    /// A frame has arrived at a host that may be slower than its cable.
    #[inline(never)]
    fn queue_for_service(&mut self, now: Time, p: u32, host: u32, place: u32, ctx: &mut Ctx) {
        let (class, len) = (self.pool[place].class, self.pool[place].len);
        if !self.admit(now, p, class, len, place, ctx) {
            return;
        }
        // What is for the adapter itself does not wait for the application.
        if self.pool[place].kind != Kind::Data {
            self.consume(now, p, host, place, ctx);
            self.release(now, p, class, len, ctx);
            return;
        }
        if self.probe.wants_causes() {
            self.probe.on_receive(now, self.ports[p as usize].global, &self.pool[place]);
        }
        let number = usize::from(self.ports[p as usize].number);
        self.hosts[host as usize].service[number].queue.push(&mut self.pool, place);
        self.kick_stage(p, ctx);
    }

    /// A slow receiver has consumed a frame, or may begin to.
    pub(crate) fn on_receive_service(&mut self, now: Time, p: u32, host: u32, ctx: &mut Ctx) {
        let number = usize::from(self.ports[p as usize].number);
        let Some(service) = self.hosts[host as usize].service.get_mut(number) else { return };
        let done = std::mem::replace(&mut service.current, NIL);
        if done != NIL {
            let (class, len) = (self.pool[done].class, self.pool[done].len);
            self.consume(now, p, host, done, ctx);
            self.release(now, p, class, len, ctx);
        }
        loop {
            let Some(service) = self.hosts[host as usize].service.get_mut(number) else { return };
            if service.rate == Some(Rate::ZERO) {
                return;
            }
            let Some(place) = service.queue.pop(&self.pool) else { return };
            let (class, len) = (self.pool[place].class, self.pool[place].len);
            if let Some(clock) = &mut service.clock {
                service.current = place;
                let end = now + clock.serialise(Bytes::new(u64::from(len)) + self.plan.overhead);
                ctx.alarms.arm(self.numbers.stage + p, end);
                return;
            }
            self.consume(now, p, host, place, ctx);
            self.release(now, p, class, len, ctx);
        }
    }

    /// A receiver's speed changes; the frame it is at keeps its old one.
    pub(crate) fn set_service(&mut self, host: u32, rate: Option<Rate>, ctx: &mut Ctx) {
        let first = self.hosts[host as usize].port;
        for number in 0..self.hosts[host as usize].service.len() {
            let service = &mut self.hosts[host as usize].service[number];
            service.rate = rate;
            service.clock = clock(rate);
            self.kick_stage(first + number as u32, ctx);
        }
    }
}
