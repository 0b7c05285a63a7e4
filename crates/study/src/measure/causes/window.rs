//! Windows: what a source waits for that has sent all that its window permits.
//!
//! If the window is constant, no congestion control is to blame: the source waits for the acknowledgement of its oldest frame on
//! the way. While that frame waits for an output, the time is charged as its wait; only the rest is due to the window.

use super::Causes;
use super::ledger::{Cause, Key};
use super::ports::Waiter;
use fabric::SourceState;
use fabric::record::Event;

impl Causes {
    /// A frame begins to wait for an output.
    pub(super) fn on_queue(&mut self, event: &Event) {
        let (flow, port) = (event.flow, event.other);
        if event.amount != 1 || self.map.fixed_window.get(flow as usize) != Some(&true) {
            return;
        }
        // Up to now, a wait elsewhere counted.
        self.settle_window(flow);
        let Some(source) = self.source(flow) else { return };
        let place = source.queued.iter().position(|queue| queue.0 == port).unwrap_or_else(|| {
            source.queued.push((port, 0));
            source.queued.len() - 1
        });
        source.queued[place].1 += 1;
        if source.queued[place].1 == 1 && !self.map.finite[flow as usize] {
            self.join(port, Waiter { flow, class: event.class, input: event.port, at_source: false });
        }
    }

    /// A frame waits for an output no more.
    pub(super) fn on_dequeue(&mut self, flow: u32, port: u32) {
        if self.map.fixed_window.get(flow as usize) != Some(&true) {
            return;
        }
        self.settle(port);
        let Some(source) = self.source(flow) else { return };
        let Some(queue) = source.queued.iter_mut().find(|queue| queue.0 == port && queue.1 > 0) else { return };
        queue.1 -= 1;
        if queue.1 == 0 && !self.map.finite[flow as usize] {
            self.leave(port, flow, false);
        }
    }

    /// The output for which the oldest frame of a flow waits, if the flow waits for its window.
    fn window_wait(&mut self, flow: u32) -> Option<u32> {
        let source = self.source(flow)?;
        let waits = source.state == SourceState::Window;
        source.queued.iter().rev().find(|queue| waits && queue.1 > 0).map(|queue| queue.0)
    }

    /// Charges the time in which a flow waits for its window up to now, as far as its frames wait for outputs.
    pub(super) fn settle_window(&mut self, flow: u32) {
        if let Some(port) = self.window_wait(flow) {
            self.settle(port);
        }
    }

    /// Charges a flow that waits for its window while frames of it wait for a port.
    pub(super) fn charge_window(&mut self, p: u32, from: u64, waiter: &Waiter) {
        if self.map.fixed_window.get(waiter.flow as usize) != Some(&true) || self.window_wait(waiter.flow) != Some(p) {
            return;
        }
        let now = self.now;
        let Some(source) = self.source(waiter.flow) else { return };
        let charged = source.since.max(source.own.free());
        let begin = from.max(charged).min(now);
        let window = Key { port: source.signalled, ..Key::own(Cause::Window) };
        source.own.add(charged, window, begin.saturating_sub(charged));
        source.since = now;
        self.charge_wait(p, begin, &Waiter { at_source: true, ..*waiter });
    }

    /// Nobody asks any more what a flow without a size waits for.
    pub(super) fn leave_queues(&mut self, flow: u32) {
        if self.map.finite[flow as usize] {
            return;
        }
        let queued = self.source(flow).map(|source| source.queued.clone()).unwrap_or_default();
        queued.iter().filter(|queue| queue.1 > 0).for_each(|queue| self.leave(queue.0, flow, false));
    }
}
