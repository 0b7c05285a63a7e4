//! Signals that reach a port beside its frames: credits that arrive, and pauses that take effect later.

use crate::machine::network::{Ctx, Network};
use crate::machine::port::Signal;
use crate::observe::probe::Probe;
use units::Time;

impl<P: Probe> Network<P> {
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
}
