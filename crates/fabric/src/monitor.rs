//! A switch's congestion point at work: what it is shown, what it is told, and what becomes of its wishes.
//!
//! Only switches that have one pay for it: their ports carry [`WATCHED`] and take the general paths.

use crate::frame::{Frame, Kind, List, MARKED, NIL};
use crate::network::{Ctx, Device, Network};
use crate::plan::{Hold, units};
use crate::port::{NOTICES, WATCHED};
use crate::probe::Probe;
use congestion::point::{Notice, Passage, View, Wish};
use congestion::{CongestionPoint, Point};
use units::Time;

/// The input of a frame that a switch made itself: it holds no room there.
pub(crate) const OWN: u16 = u16::MAX;

/// A switch's congestion point and what is counted for it.
#[derive(Debug)]
pub(crate) struct Monitor {
    pub(crate) point: Point,
    sight: Sight,
    /// Notices that wait for each output; they go before data.
    notices: Vec<List>,
    /// Class and size of a notice.
    notice: (u8, u16),
    /// The point wants to be asked when this instant has settled.
    settle: bool,
}

/// What is counted for a congestion point, by (output, class).
#[derive(Debug)]
struct Sight {
    /// Data frames that wait.
    waiting: Vec<u32>,
    /// Since the last start there was something to send that could not go.
    blocked: Vec<bool>,
    /// When that last ended.
    last_blocked: Vec<Option<Time>>,
}

impl Monitor {
    pub(crate) fn new(point: Point, ports: usize, classes: usize, notice: (u8, u16)) -> Monitor {
        let cells = ports * classes;
        let sight = Sight { waiting: vec![0; cells], blocked: vec![false; cells], last_blocked: vec![None; cells] };
        Monitor { point, sight, notices: vec![List::EMPTY; ports], notice, settle: false }
    }

    /// Notices that wait.
    pub(crate) fn notices(&self) -> impl Iterator<Item = List> {
        self.notices.iter().copied()
    }
}

/// What a congestion point sees.
struct Seen<'a, P> {
    network: &'a Network<P>,
    sight: &'a Sight,
    first_port: u32,
    switch: u32,
    now: Time,
}

impl<P: Probe> Seen<'_, P> {
    fn cell(&self, output: u16, class: u8) -> usize {
        usize::from(output) * self.network.classes + usize::from(class)
    }

    fn port(&self, number: u16) -> u32 {
        self.first_port + u32::from(number)
    }
}

impl<P: Probe> View for Seen<'_, P> {
    fn held(&self, input: u16, class: u8) -> u32 {
        let p = self.port(input);
        self.network.lanes[self.network.lane(p, self.network.rule(p, class).account)].held
    }

    fn full(&self, input: u16, class: u8) -> u32 {
        let rule = self.network.rule(self.port(input), class);
        match rule.hold {
            Hold::Pause { .. } => rule.xoff.saturating_add(1),
            // Full is when the largest frame would not fit.
            Hold::CreditFrame { .. } | Hold::CreditSignal { .. } | Hold::Nothing => {
                let largest = rule.units(self.network.plan.largest_frames[usize::from(class)]);
                (rule.capacity + 1).saturating_sub(largest)
            }
        }
    }

    fn units(&self, input: u16, class: u8, len: u16) -> u32 {
        self.network.rule(self.port(input), class).units(len)
    }

    fn wanted(&self, input: u16, class: u8) -> u128 {
        match &self.network.switches[self.switch as usize].crossbar {
            Some(crossbar) => crossbar.wanted(self.network.classes, usize::from(input), usize::from(class)),
            None => 0,
        }
    }

    fn waiting_bytes(&self, output: u16, class: u8) -> u32 {
        self.network.lanes[self.network.lane(self.port(output), class)].bytes
    }

    fn waiting_frames(&self, output: u16, class: u8) -> u32 {
        self.sight.waiting[self.cell(output, class)]
    }

    fn sending(&self, output: u16, class: u8) -> bool {
        let port = &self.network.ports[self.port(output) as usize];
        port.leaving_len != 0 && port.leaving_class == class
    }

    fn blocked(&self, output: u16, class: u8) -> bool {
        let p = self.port(output);
        let port = &self.network.ports[p as usize];
        if port.credited >> class & 1 == 0 {
            return port.blocked >> class & 1 == 1;
        }
        // Whether or not the wire is busy: too few credits for the largest frame.
        let gate = &self.network.gates[self.network.lane(p, class)];
        let need = units(port.credit_unit, self.network.plan.largest_frames[usize::from(class)]);
        gate.limit < gate.spent + u64::from(need)
    }

    fn last_blocked(&self, output: u16, class: u8) -> Option<Time> {
        match self.blocked(output, class) {
            true => Some(self.now),
            false => self.sight.last_blocked[self.cell(output, class)],
        }
    }

    fn stopped(&self, input: u16, class: u8) -> bool {
        let p = self.port(input);
        self.network.ports[p as usize].stopped >> self.network.rule(p, class).account & 1 == 1
    }
}

impl<P: Probe> Network<P> {
    /// Shows a switch's congestion point something and returns what it says. It is out of the network meanwhile.
    fn consult<R>(
        &mut self,
        now: Time,
        switch: u32,
        ask: impl FnOnce(&mut Point, &mut bool, &Seen<'_, P>) -> R,
    ) -> Option<R> {
        let mut monitor = self.switches[switch as usize].monitor.take()?;
        let first_port = self.switches[switch as usize].first_port;
        let Monitor { point, sight, settle, .. } = &mut *monitor;
        let said = ask(point, settle, &Seen { network: self, sight, first_port, switch, now });
        self.switches[switch as usize].monitor = Some(monitor);
        Some(said)
    }

    /// The cell of an output of a watched switch.
    fn watched_cell(&self, out: u32, class: u8) -> usize {
        usize::from(self.ports[out as usize].number) * self.classes + usize::from(class)
    }

    /// A frame has joined what waits in a watched switch.
    #[inline(never)]
    pub(crate) fn monitor_arrival(&mut self, now: Time, switch: u32, place: u32, ctx: &mut Ctx) {
        let frame = &self.pool[place];
        if frame.kind != Kind::Data {
            return;
        }
        let passage = passage(now, frame);
        let cell = usize::from(frame.output) * self.classes + usize::from(frame.class);
        if let Some(monitor) = &mut self.switches[switch as usize].monitor {
            monitor.sight.waiting[cell] += 1;
        }
        let wish = self.consult(now, switch, |point, settle, seen| {
            let wish = point.on_arrival(&passage, seen);
            *settle |= wish == Wish::Settle;
            wish
        });
        self.grant_wish(now, switch, wish, ctx);
    }

    /// A frame starts by an output of a watched switch.
    #[inline(never)]
    pub(crate) fn monitor_start(&mut self, now: Time, p: u32, place: u32) {
        let Device::Switch(switch) = self.ports[p as usize].device else { return };
        let frame = &self.pool[place];
        if frame.kind != Kind::Data {
            return;
        }
        let passage = passage(now, frame);
        let cell = self.watched_cell(p, frame.class);
        if let Some(monitor) = &mut self.switches[switch as usize].monitor {
            monitor.sight.waiting[cell] -= 1;
            if std::mem::take(&mut monitor.sight.blocked[cell]) {
                monitor.sight.last_blocked[cell] = Some(now);
            }
        }
        let marked = self.consult(now, switch, |point, _, seen| point.on_start(&passage, seen));
        if marked == Some(true) {
            self.pool[place].flags |= MARKED;
            self.totals.marked_frames += 1;
        }
    }

    /// An output of a watched switch has something to send in these classes and could not, or has been let go.
    #[cold]
    pub(crate) fn monitor_blocked(&mut self, now: Time, p: u32, classes: u8, blocked: bool) {
        let Device::Switch(switch) = self.ports[p as usize].device else { return };
        let number = usize::from(self.ports[p as usize].number);
        let Some(monitor) = &mut self.switches[switch as usize].monitor else { return };
        for class in (0..self.classes).filter(|class| classes >> class & 1 == 1) {
            let cell = number * self.classes + class;
            monitor.sight.blocked[cell] = blocked;
            monitor.sight.last_blocked[cell] = Some(now);
        }
    }

    /// What waits in a watched switch has found other outputs: it is counted anew.
    pub(crate) fn recount(&mut self, switch: u32, monitor: &mut Monitor) {
        monitor.sight.waiting.fill(0);
        let state = &self.switches[switch as usize];
        let ports = monitor.notices.len();
        let lanes = state.first_port as usize * self.classes..(state.first_port as usize + ports) * self.classes;
        let queues = self.lanes[lanes].iter().map(|lane| lane.queue);
        let virtual_queues = state.crossbar.iter().flat_map(|crossbar| crossbar.queues());
        let moving = state.crossbar.iter().flat_map(|crossbar| crossbar.moving()).map(|place| &self.pool[place]);
        let waiting = queues.chain(virtual_queues).flat_map(|list| list.iter(&self.pool).map(|(_, frame)| frame));
        for frame in waiting.chain(moving).filter(|frame| frame.kind == Kind::Data) {
            monitor.sight.waiting[usize::from(frame.output) * self.classes + usize::from(frame.class)] += 1;
        }
    }

    /// And its congestion point is told.
    pub(crate) fn monitor_rerouted(&mut self, now: Time, switch: u32) {
        self.consult(now, switch, |point, _, seen| point.on_rerouted(seen));
    }

    /// The instant has settled, or the point's deadline has come.
    pub(crate) fn on_monitor(&mut self, now: Time, switch: u32, ctx: &mut Ctx) {
        let due = |monitor: &Monitor| monitor.point.deadline().is_some_and(|at| at <= now);
        let Some(monitor) = &self.switches[switch as usize].monitor else { return };
        let (settle, due) = (monitor.settle, due(monitor));
        if settle {
            self.consult(now, switch, |point, settle, seen| {
                *settle = false;
                point.on_settled(now, seen);
            });
        }
        let wish = if due { self.consult(now, switch, |point, _, seen| point.on_deadline(now, seen)) } else { None };
        self.grant_wish(now, switch, wish, ctx);
    }

    /// Does what a congestion point wants, and sees to it that it is asked again in time.
    fn grant_wish(&mut self, now: Time, switch: u32, wish: Option<Wish>, ctx: &mut Ctx) {
        if let Some(Wish::Notify(notice)) = wish {
            self.notify(now, switch, notice, ctx);
        }
        let state = &self.switches[switch as usize];
        let Some(monitor) = &state.monitor else { return };
        let alarm = self.numbers.flow + self.ports[state.first_port as usize].node;
        let settle = monitor.settle.then_some(now);
        if let Some(at) = settle.into_iter().chain(monitor.point.deadline()).min() {
            ctx.alarms.arm_no_later(alarm, at.max(now));
        }
    }

    /// Sends a notice to the source of a flow.
    fn notify(&mut self, now: Time, switch: u32, notice: Notice, ctx: &mut Ctx) {
        let state = &self.switches[switch as usize];
        let Some(monitor) = &state.monitor else { return };
        let (class, size) = monitor.notice;
        let spec = &self.plan.flows[notice.flow as usize];
        let mut frame = Frame::control(Kind::Notice, size, now);
        frame.flow = notice.flow;
        frame.dst = spec.source.0;
        frame.entropy = crate::routing::flow_entropy(notice.flow, spec.source.0, notice.flow, self.plan.seed);
        frame.class = class;
        frame.input = OWN;
        let point = self.ports[state.first_port as usize].global + u32::from(notice.port);
        frame.set_notice(notice.feedback, point, notice.class, notice.offset, notice.growth);
        let place = self.pool.put(frame);
        self.totals.notices += 1;
        let Some(output) = self.output_of(switch, place) else {
            return self.lose(now, self.switches[switch as usize].first_port, place, crate::DropCause::Unreachable);
        };
        self.pool[place].output = output;
        let out = self.switches[switch as usize].first_port + u32::from(output);
        if let Some(monitor) = &mut self.switches[switch as usize].monitor {
            monitor.notices[usize::from(output)].push(&mut self.pool, place);
        }
        self.ports[out as usize].flags |= NOTICES;
        self.kick(out, ctx);
    }

    /// The next notice that waits for an output, if it may go.
    #[cold]
    pub(crate) fn take_notice(&mut self, p: u32) -> Option<u32> {
        let Device::Switch(switch) = self.ports[p as usize].device else { return None };
        let output = usize::from(self.ports[p as usize].number);
        let place = self.switches[switch as usize].monitor.as_ref()?.notices[output].head;
        if place == NIL {
            return None;
        }
        let (class, len) = (self.pool[place].class, self.pool[place].len);
        if self.ports[p as usize].blocked >> class & 1 == 1 || !self.spend(p, class, len) {
            return None;
        }
        let monitor = self.switches[switch as usize].monitor.as_mut()?;
        monitor.notices[output].pop(&self.pool);
        if monitor.notices[output].is_empty() {
            self.ports[p as usize].flags &= !NOTICES;
        }
        Some(place)
    }

    /// Whether a port belongs to a switch with a congestion point.
    #[inline]
    pub(crate) fn is_watched(&self, p: u32) -> bool {
        self.ports[p as usize].flags & WATCHED != 0
    }
}

fn passage(now: Time, frame: &Frame) -> Passage {
    let Frame { flow, input, output, class, len, .. } = *frame;
    Passage { now, since: frame.at, flow, input, output, class, len }
}
