//! A switch's congestion point at work: what it is shown, what it is told, and what becomes of its wishes. Also the
//! account of who holds its buffers, and the copies it keeps until the far side of the fabric has a frame.
//!
//! Only switches that have one pay for it: their ports carry [`WATCHED`] and take the general paths.

use crate::build::plan::{Hold, WaitingRoom, units};
use crate::machine::frame::{Frame, Kind, List, MARKED, NIL};
use crate::machine::network::{Ctx, Device, Network};
use crate::machine::port::{NOTICES, WATCHED};
use crate::machine::switch::occupancy::{Occupancy, Occupant};
use crate::observe::probe::Probe;
use congestion::point::{Drawn, Fate, Notice, Passage, Passing, View, Wish};
use congestion::{CongestionPoint, Point};
use std::collections::VecDeque;
use units::{Span, Time};

/// The input of a frame that a switch made itself: it holds no room there.
pub(crate) const OWN: u16 = u16::MAX;

/// A switch's congestion point and what is counted for it.
#[derive(Debug)]
pub(crate) struct Monitor {
    pub(crate) point: Option<Point>,
    sight: Sight,
    /// Who holds the input buffers, if anybody wants to know.
    pub(crate) occupancy: Option<Occupancy>,
    /// By output: what becomes of the room of the frame on the wire.
    leaving: Vec<Leaving>,
    /// Which ports lead to hosts, if frames are kept until the far side has them; else empty.
    to_host: Vec<bool>,
    /// By flow: copies kept, the oldest first, as (handle, class, length).
    copies: Vec<VecDeque<(u32, u8, u16)>>,
    /// By flow: receipts that were here before the copy, because the far side takes frames by their header.
    early: Vec<u32>,
    /// Notices that wait for each output; they go before data.
    notices: Vec<List>,
    /// Class and size of a notice.
    notice: (u8, u16),
    /// The point wants to be asked when this instant has settled.
    settle: bool,
    /// Frames that find no room are shown to the point as well.
    pub(crate) samples_dropped: bool,
    /// Frames look for their outputs anew: the point is not shown those that come a second time.
    pub(crate) muted: bool,
}

/// What becomes of the room of a frame that is on the wire when it has left.
#[derive(Clone, Copy, Debug, Default)]
struct Leaving {
    /// Its handle, if there is an account of who holds the buffer.
    handle: Option<u32>,
    /// The flow of a frame of which a copy stays.
    kept: Option<u32>,
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
    /// By output: when the frame on the wire has left and its input has the room back, where it does.
    free: Vec<Option<Time>>,
}

impl Monitor {
    /// `to_host` says which ports lead to hosts, if frames are kept until the far side has them, and is empty if not.
    pub(crate) fn new(
        point: Option<Point>,
        occupancy: Option<Occupancy>,
        to_host: Vec<bool>,
        (ports, classes, flows): (usize, usize, usize),
        notice: (u8, u16),
    ) -> Monitor {
        let cells = ports * classes;
        let sight = Sight {
            waiting: vec![0; cells],
            blocked: vec![false; cells],
            last_blocked: vec![None; cells],
            free: vec![None; ports],
        };
        let keeping = if to_host.is_empty() { 0 } else { flows };
        let (copies, early) = (vec![VecDeque::new(); keeping], vec![0; keeping]);
        let (leaving, notices) = (vec![Leaving::default(); ports], vec![List::EMPTY; ports]);
        Monitor {
            point,
            sight,
            occupancy,
            leaving,
            to_host,
            copies,
            early,
            notices,
            notice,
            settle: false,
            samples_dropped: true,
            muted: false,
        }
    }

    /// Whether a copy of a frame is kept here: it came from a host and goes on into the fabric.
    fn keeps(&self, frame: &Frame) -> bool {
        let leads = |port: u16| self.to_host.get(usize::from(port)).copied();
        frame.kind == Kind::Data && leads(frame.input) == Some(true) && leads(frame.output) == Some(false)
    }

    /// Whether this is the far side of the fabric for a frame: it came from inside and goes to a host.
    fn ends(&self, frame: &Frame) -> bool {
        let leads = |port: u16| self.to_host.get(usize::from(port)).copied();
        frame.kind == Kind::Data && leads(frame.input) == Some(false) && leads(frame.output) == Some(true)
    }

    fn deadline(&self) -> Option<Time> {
        self.point.as_ref().and_then(CongestionPoint::deadline)
    }

    /// A frame has left its input's buffer; of a flow in `kept` a copy stays, unless its receipt is here already.
    /// Returns whether it does.
    fn let_go(&mut self, handle: Option<u32>, kept: Option<u32>, class: u8, len: u16) -> bool {
        if let Some(flow) = kept {
            let early = &mut self.early[flow as usize];
            if *early == 0 {
                self.copies[flow as usize].push_back((handle.unwrap_or(NIL), class, len));
                return true;
            }
            *early -= 1;
        }
        if let (Some(handle), Some(occupancy)) = (handle, &mut self.occupancy) {
            occupancy.leave(handle);
        }
        false
    }

    /// Copies that are kept: the flow and the class of each.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (u32, u8)> {
        let of_flow = |(flow, kept): (usize, &VecDeque<(u32, u8, u16)>)| {
            kept.iter().map(move |&(_, class, _)| (flow as u32, class)).collect::<Vec<_>>()
        };
        self.copies.iter().enumerate().flat_map(of_flow)
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

    fn ends(&self, output: u16) -> bool {
        self.sight.free[usize::from(output)] == Some(self.now)
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

    fn leaving(&self, input: u16, class: u8) -> u32 {
        let p = self.port(input);
        let account = self.network.rule(p, class).account;
        let of_output = |output: u16| {
            let port = &self.network.ports[self.port(output) as usize];
            let rule = self.network.rule(p, port.leaving_class);
            let counts = port.leaving_len != 0 && port.leaving_input == input && rule.account == account;
            if counts && self.ends(output) { rule.units(port.leaving_len) } else { 0 }
        };
        (0..self.sight.free.len() as u16).map(of_output).sum()
    }

    fn ending(&self, output: u16, class: u8) -> bool {
        self.sending(output, class) && self.ends(output)
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
        let seen = Seen { network: self, sight, first_port, switch, now };
        let said = point.as_mut().map(|point| ask(point, settle, &seen));
        self.switches[switch as usize].monitor = Some(monitor);
        said
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
        let Frame { flow, dst, input, output, class, len, .. } = *frame;
        let cell = usize::from(output) * self.classes + usize::from(class);
        let state = &mut self.switches[switch as usize];
        let direct = state.room != WaitingRoom::Both;
        let mut ends = false;
        if let Some(monitor) = &mut state.monitor {
            monitor.sight.waiting[cell] += 1;
            if let Some(occupancy) = &mut monitor.occupancy {
                occupancy.enter(usize::from(input) * self.classes + usize::from(class), place, flow, dst, output, len);
            }
            ends = monitor.ends(frame);
        }
        if ends {
            self.send_receipt(now, switch, flow, ctx);
        }
        let wish = self.consult(now, switch, |point, settle, seen| {
            let wish = point.on_arrival(&passage, seen);
            *settle |= wish == Wish::Settle;
            wish
        });
        self.grant_wish(now, switch, wish, ctx);
        if direct {
            self.monitor_output(now, switch, passage, ctx);
        }
    }

    /// A frame has joined the queue of its output.
    fn monitor_output(&mut self, now: Time, switch: u32, passage: Passage, ctx: &mut Ctx) {
        let wish = self.consult(now, switch, |point, settle, seen| {
            let wish = point.on_output(&passage, seen);
            *settle |= wish == Wish::Settle;
            wish
        });
        self.grant_wish(now, switch, wish, ctx);
    }

    /// A probe passes a watched switch. Returns whether it ends there.
    #[cold]
    pub(crate) fn monitor_probe(&mut self, now: Time, switch: u32, place: u32, ctx: &mut Ctx) -> bool {
        let Frame { flow, output, tag, born, input, class, len, .. } = self.pool[place];
        let of_data = self.plan.flows[flow as usize].class;
        let mut passing = Passing { now, flow, output, class: of_data, tag, value: born.as_picos() };
        let fate = self.consult(now, switch, |point, _, seen| point.on_probe(&mut passing, seen));
        self.pool[place].born = Time::from_picos(passing.value);
        let Some(fate @ (Fate::End | Fate::Reply(_))) = fate else { return false };
        let input = self.switches[switch as usize].first_port + u32::from(input);
        self.release(now, input, class, len, ctx);
        self.pool.release(place);
        if let Fate::Reply(notice) = fate {
            self.notify(now, switch, notice, ctx);
        }
        true
    }

    /// A frame found no room in the queue of its output.
    #[cold]
    pub(crate) fn monitor_dropped(&mut self, now: Time, switch: u32, frame: &Frame, ctx: &mut Ctx) {
        let sampled = self.switches[switch as usize].monitor.as_ref().is_some_and(|monitor| monitor.samples_dropped);
        if frame.kind == Kind::Data && sampled {
            self.monitor_output(now, switch, passage(now, frame), ctx);
        }
    }

    /// A frame has come through the crossbar of a watched switch. Returns whether its input keeps its room.
    #[inline(never)]
    pub(crate) fn monitor_crossed(&mut self, now: Time, switch: u32, place: u32, ctx: &mut Ctx) -> bool {
        let frame = &self.pool[place];
        if frame.kind != Kind::Data {
            return false;
        }
        let passage = passage(now, frame);
        let mut kept = false;
        if let Some(monitor) = &mut self.switches[switch as usize].monitor {
            let copied = monitor.keeps(frame).then_some(frame.flow);
            let handle = monitor.occupancy.as_ref().map(|occupancy| occupancy.handle(place));
            kept = monitor.let_go(handle, copied, frame.class, frame.len);
        }
        self.monitor_output(now, switch, passage, ctx);
        kept
    }

    /// A frame starts by an output of a watched switch and has left at `end`.
    #[inline(never)]
    pub(crate) fn monitor_start(&mut self, now: Time, p: u32, place: u32, end: Time) {
        let Device::Switch(switch) = self.ports[p as usize].device else { return };
        let frame = &self.pool[place];
        if frame.kind != Kind::Data {
            return;
        }
        let passage = passage(now, frame);
        let cell = self.watched_cell(p, frame.class);
        let direct = self.switches[switch as usize].room != WaitingRoom::Both;
        if let Some(monitor) = &mut self.switches[switch as usize].monitor {
            monitor.sight.waiting[cell] -= 1;
            if std::mem::take(&mut monitor.sight.blocked[cell]) {
                monitor.sight.last_blocked[cell] = Some(now);
            }
            if direct {
                let handle = monitor.occupancy.as_ref().map(|occupancy| occupancy.handle(place));
                let kept = monitor.keeps(frame).then_some(frame.flow);
                monitor.leaving[usize::from(frame.output)] = Leaving { handle, kept };
                monitor.sight.free[usize::from(frame.output)] = kept.is_none().then_some(end);
            }
        }
        let marked = self.consult(now, switch, |point, _, seen| point.on_start(&passage, seen));
        if marked == Some(true) {
            self.pool[place].flags |= MARKED;
            self.totals.marked_frames += 1;
        }
    }

    /// The frame on the wire of a watched switch has left. Returns whether its input keeps its room.
    #[inline(never)]
    pub(crate) fn monitor_left(&mut self, p: u32, class: u8, len: u16) -> bool {
        let (Device::Switch(switch), number) = (self.ports[p as usize].device, self.ports[p as usize].number) else {
            return false;
        };
        let Some(monitor) = &mut self.switches[switch as usize].monitor else { return false };
        let Leaving { handle, kept } = std::mem::take(&mut monitor.leaving[usize::from(number)]);
        monitor.let_go(handle, kept, class, len)
    }

    /// Tells the near side of the fabric that the far side has a frame.
    fn send_receipt(&mut self, now: Time, switch: u32, flow: u32, ctx: &mut Ctx) {
        let Some(monitor) = &self.switches[switch as usize].monitor else { return };
        let (class, size) = monitor.notice;
        let mut frame = Frame::control(Kind::Receipt, size, now);
        frame.class = class;
        self.totals.receipts += 1;
        self.totals.control_bytes += u64::from(size);
        self.send_to_source(now, switch, flow, frame, ctx);
    }

    /// A receipt has come to the near side of the fabric: the room of the oldest copy of its flow is free. Returns
    /// whether it was for this switch.
    pub(crate) fn take_receipt(&mut self, now: Time, switch: u32, place: u32, ctx: &mut Ctx) -> bool {
        let Some(output) = self.output_of(switch, place) else { return false };
        let Frame { flow, input, class, len, .. } = self.pool[place];
        let state = &mut self.switches[switch as usize];
        let first_port = state.first_port;
        let Some(monitor) = &mut state.monitor else { return false };
        if monitor.to_host.get(usize::from(output)) != Some(&true) {
            return false;
        }
        // The way to the source is the way its frames came.
        if let Some((handle, class, len)) = monitor.copies.get_mut(flow as usize).and_then(VecDeque::pop_front) {
            if let Some(occupancy) = monitor.occupancy.as_mut().filter(|_| handle != NIL) {
                occupancy.leave(handle);
            }
            self.release(now, first_port + u32::from(output), class, len, ctx);
        } else if let Some(early) = monitor.early.get_mut(flow as usize) {
            *early += 1;
        }
        self.release(now, first_port + u32::from(input), class, len, ctx);
        self.pool.release(place);
        true
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

    /// A frame that waited in a watched switch came to nothing.
    #[cold]
    pub(crate) fn monitor_drop(&mut self, switch: u32, place: u32) {
        if let Some(monitor) = &mut self.switches[switch as usize].monitor
            && monitor.muted
            && self.pool[place].kind == Kind::Data
            && let Some(occupancy) = &mut monitor.occupancy
        {
            occupancy.leave(occupancy.handle(place));
        }
    }

    /// What waits in a watched switch has found other outputs: it is counted anew.
    pub(crate) fn recount(&mut self, now: Time, switch: u32) {
        let Some(mut monitor) = self.switches[switch as usize].monitor.take() else { return };
        monitor.muted = false;
        monitor.sight.waiting.fill(0);
        let state = &self.switches[switch as usize];
        let ports = monitor.notices.len();
        let lanes = state.first_port as usize * self.classes..(state.first_port as usize + ports) * self.classes;
        // What is behind a crossbar has left its input; what is on its way through it has not.
        let behind = state.room == WaitingRoom::Both;
        let queues = self.lanes[lanes].iter().map(|lane| (lane.queue, behind));
        let virtual_queues = state.crossbar.iter().flat_map(|crossbar| crossbar.queues()).map(|queue| (queue, false));
        let moving = state.crossbar.iter().flat_map(|crossbar| crossbar.moving()).map(|place| (place, false));
        let lists = queues.chain(virtual_queues);
        let places = lists.flat_map(|(list, left)| list.iter(&self.pool).map(move |(place, _)| (place, left)));
        for (place, left) in places.chain(moving) {
            let frame = &self.pool[place];
            if frame.kind != Kind::Data {
                continue;
            }
            monitor.sight.waiting[usize::from(frame.output) * self.classes + usize::from(frame.class)] += 1;
            if let Some(occupancy) = monitor.occupancy.as_mut().filter(|_| !left) {
                occupancy.redirect(place, frame.output);
            }
        }
        self.switches[switch as usize].monitor = Some(monitor);
        self.consult(now, switch, |point, _, seen| point.on_rerouted(seen));
    }

    /// The instant has settled, or the point's deadline has come.
    pub(crate) fn on_monitor(&mut self, now: Time, switch: u32, ctx: &mut Ctx) {
        let due = |monitor: &Monitor| monitor.deadline().is_some_and(|at| at <= now);
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
        match wish {
            Some(Wish::Notify(notice)) => self.notify(now, switch, notice, ctx),
            Some(Wish::Draw { input, class, count }) => self.draw(now, switch, (input, class), count, ctx),
            Some(Wish::Nothing | Wish::Settle) | None => {}
        }
        let state = &self.switches[switch as usize];
        let Some(monitor) = &state.monitor else { return };
        let alarm = self.numbers.flow + self.ports[state.first_port as usize].node;
        let settle = monitor.settle.then_some(now);
        if let Some(at) = settle.into_iter().chain(monitor.deadline()).min() {
            ctx.alarms.arm_no_later(alarm, at.max(now));
        }
    }

    /// Sends a notice to the source of a flow.
    fn notify(&mut self, now: Time, switch: u32, notice: Notice, ctx: &mut Ctx) {
        let state = &self.switches[switch as usize];
        let Some(monitor) = &state.monitor else { return };
        let (class, size) = monitor.notice;
        let mut frame = Frame::control(Kind::Notice, size, now);
        frame.class = class;
        let point = self.ports[state.first_port as usize].global + u32::from(notice.port);
        frame.set_notice(notice.feedback, point, notice.class, notice.offset, notice.growth);
        if let Some(guidance) = notice.guidance {
            frame.set_guidance(guidance);
        }
        self.totals.notices += 1;
        self.totals.control_bytes += u64::from(size);
        self.send_to_source(now, switch, notice.flow, frame, ctx);
    }

    /// Draws frames from an input's buffer for the congestion point and does what it makes of them.
    fn draw(&mut self, now: Time, switch: u32, (input, class): (u16, u8), count: u8, ctx: &mut Ctx) {
        let cell = usize::from(input) * self.classes + usize::from(class);
        let mut found: [Option<Occupant>; 2] = [None; 2];
        let Some(monitor) = &mut self.switches[switch as usize].monitor else { return };
        if let Some(occupancy) = &mut monitor.occupancy {
            found.iter_mut().take(usize::from(count)).for_each(|slot| *slot = occupancy.draw(cell, class));
        }
        let path = |it: &Occupant| self.path_fill(now, switch, class, it);
        let seen = |it: Occupant| Drawn { flow: it.flow, output: it.output, path: path(&it) };
        // From a buffer that is not empty all draws succeed, from an empty one none.
        let said = match found.map(|it| it.map(seen)) {
            [Some(first), Some(second)] => {
                self.consult(now, switch, |point, _, _| point.on_drawn(now, &[first, second]))
            }
            [Some(only), None] => self.consult(now, switch, |point, _, _| point.on_drawn(now, &[only])),
            [None, _] => None,
        };
        if let Some(Some(notice)) = said {
            self.notify(now, switch, notice, ctx);
        }
    }

    /// How full the first buffer behind a frame's own is, in parts of 65536: that behind the crossbar, or, over a cable
    /// of no length, the one before the next wire. Nothing is known of what is farther away.
    fn path_fill(&self, now: Time, switch: u32, class: u8, occupant: &Occupant) -> u32 {
        let state = &self.switches[switch as usize];
        let out = state.first_port + u32::from(occupant.output);
        if state.room == WaitingRoom::Both {
            return self.fill(switch, out, class, 0);
        }
        let port = &self.ports[out as usize];
        if port.peer_shard != NIL || port.flight != Span::ZERO {
            return 0;
        }
        let Device::Switch(next) = self.ports[port.peer as usize].device else { return 0 };
        let there = &self.switches[next as usize];
        let outputs = self.plan.tables[there.tables as usize].outputs(there.row, occupant.dst);
        let fill = |&output: &u16| {
            let out = there.first_port + u32::from(output);
            self.fill(next, out, class, self.just_come(now, next, out, class))
        };
        outputs.iter().map(fill).min().unwrap_or(0)
    }

    /// Bytes that have come for an output at this very instant. Whether another node's come before or after a look at
    /// them is a matter of how nodes are numbered, so nobody else may count them. What is behind a crossbar came before
    /// anything of this instant, or after.
    fn just_come(&self, now: Time, switch: u32, out: u32, class: u8) -> u32 {
        let state = &self.switches[switch as usize];
        let late = |list: List| {
            let mine = |frame: &Frame| frame.at == now && state.first_port + u32::from(frame.output) == out;
            list.iter(&self.pool).filter(|(_, frame)| mine(frame)).map(|(_, frame)| u32::from(frame.len)).sum::<u32>()
        };
        match &state.crossbar {
            _ if state.room == WaitingRoom::Both => 0,
            None => late(self.lanes[self.lane(out, class)].queue),
            Some(crossbar) => self.waiting_for(crossbar, state.first_port, out, class).map(late).sum(),
        }
    }

    /// How full the queue of an output is, some of it left out, in parts of 65536 of its room, or of an input's room if
    /// it has none of its own.
    fn fill(&self, switch: u32, out: u32, class: u8, without: u32) -> u32 {
        let kind = &self.plan.switches[self.switches[switch as usize].kind as usize];
        let room = match kind.output_buffer {
            0 => self.rule(out, class).capacity,
            room => room,
        };
        let bytes = u64::from(self.lanes[self.lane(out, class)].bytes - without);
        (bytes * 65_536 / u64::from(room.max(1))).min(u64::from(u32::MAX)) as u32
    }

    /// Sends a frame that the switch itself has made to the source of a flow.
    fn send_to_source(&mut self, now: Time, switch: u32, flow: u32, mut frame: Frame, ctx: &mut Ctx) {
        let source = self.plan.flows[flow as usize].source.0;
        frame.flow = flow;
        frame.dst = source;
        frame.entropy = crate::describe::routing::flow_entropy(flow, source, flow, self.plan.seed);
        frame.input = OWN;
        let place = self.pool.put(frame);
        self.queue_notice(now, switch, place, ctx);
    }

    /// New tables hold: notices that wait for an output whose cable has failed look for another way.
    pub(crate) fn reroute_notices(&mut self, now: Time, switch: u32, out: u32, ctx: &mut Ctx) {
        let output = usize::from(self.ports[out as usize].number);
        let Some(monitor) = &mut self.switches[switch as usize].monitor else { return };
        let waiting = std::mem::replace(&mut monitor.notices[output], List::EMPTY);
        self.ports[out as usize].flags &= !NOTICES;
        let places: Vec<u32> = waiting.iter(&self.pool).map(|(place, _)| place).collect();
        places.into_iter().for_each(|place| self.queue_notice(now, switch, place, ctx));
    }

    /// Has a notice or receipt wait for the output that leads to its source.
    fn queue_notice(&mut self, now: Time, switch: u32, place: u32, ctx: &mut Ctx) {
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
    let Frame { flow, input, output, class, len, tag, .. } = *frame;
    Passage { now, since: frame.at, flow, input, output, class, len, tag }
}
