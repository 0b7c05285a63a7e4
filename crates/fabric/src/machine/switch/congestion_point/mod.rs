//! A switch's congestion point at work: what it is shown, what it is told, and what becomes of its wishes. Also the
//! account of who holds its buffers, and the copies it keeps until the far side of the fabric has a frame.
//!
//! Only switches that have one pay for it: their ports carry [`CONGESTION_POINT`].

mod look_ahead;
mod notices;
mod receipts;
mod treatment;
mod view;

use self::view::{Seen, Sight};
use crate::build::plan::WaitingRoom;
use crate::machine::frame::{Content, Frame, Inquiry, Kind, List};
use crate::machine::network::{Ctx, Device, Network};
use crate::machine::port::{CONGESTION_POINT, MARKS, STAMPS};
use crate::machine::switch::occupancy::{Occupancy, Occupant};
use crate::observe::probe::Probe;
use congestion::point::{Drawn, Fate, Passage, Passing, Request};
use congestion::{CongestionPoint, Point};
use std::collections::VecDeque;
use units::Time;

/// The input of a frame that a switch made itself: it holds no room there.
pub(crate) const OWN: u16 = u16::MAX;

/// A switch's congestion point and what is counted for it.
#[derive(Clone, Debug)]
pub(crate) struct CongestionPointState {
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
    /// The point decides about frames before they join a queue.
    pub(crate) judges: bool,
    /// Class and size of a trimmed frame.
    pub(crate) trimmed: (u8, u16),
    /// The point sees queues only, or there is none: it is asked about frames that are queued or start, and nothing is
    /// counted for it.
    pub(crate) queues_only: bool,
    /// Frames look for their outputs anew: the point is not shown those that come a second time.
    pub(crate) muted: bool,
}

units::state!(struct CongestionPointState { fixed: to_host, notice, samples_dropped, judges, trimmed, queues_only; plain: settle, muted; lists: leaving, copies, early, notices; parts: point, sight, occupancy; });

/// What becomes of the room of a frame that is on the wire when it has left.
#[derive(Clone, Copy, Debug, Default)]
struct Leaving {
    /// Its handle, if there is an account of who holds the buffer.
    handle: Option<u32>,
    /// The flow of a frame of which a copy stays.
    kept: Option<u32>,
}

engine::encoded!(struct Leaving { handle, kept });

impl CongestionPointState {
    /// Whether frames of one class can make those of another move: a receipt frees a copy, a trimmed frame changes its
    /// class.
    pub(crate) fn mixes_classes(&self) -> bool {
        !self.to_host.is_empty() || self.judges
    }

    /// `to_host` says which ports lead to hosts, if frames are kept until the far side has them, and is empty if not.
    pub(crate) fn new(
        point: Option<Point>,
        occupancy: Option<Occupancy>,
        to_host: Vec<bool>,
        (ports, classes, flows): (usize, usize, usize),
        notice: (u8, u16),
    ) -> CongestionPointState {
        let cells = ports * classes;
        let sight = Sight {
            waiting: vec![0; cells],
            blocked: vec![false; cells],
            last_blocked: vec![None; cells],
            free: vec![None; ports],
            sent: vec![0; ports],
        };
        let keeping = if to_host.is_empty() { 0 } else { flows };
        let (copies, early) = (vec![VecDeque::new(); keeping], vec![0; keeping]);
        let judges = point.as_ref().is_some_and(CongestionPoint::judges);
        let (leaving, notices) = (vec![Leaving::default(); ports], vec![List::EMPTY; ports]);
        CongestionPointState {
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
            judges,
            trimmed: (0, 0),
            queues_only: false,
            muted: false,
        }
    }

    /// Whether the room of a frame that has left is more than released.
    pub(crate) fn keeps_rooms(&self) -> bool {
        self.occupancy.is_some() || !self.to_host.is_empty()
    }

    #[inline]
    fn deadline(&self) -> Option<Time> {
        self.point.as_ref().and_then(CongestionPoint::deadline)
    }

    /// Notices that wait.
    pub(crate) fn notices(&self) -> impl Iterator<Item = List> {
        self.notices.iter().copied()
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
        let mut congestion_point = self.switches[switch as usize].congestion_point.take()?;
        let first_port = self.switches[switch as usize].first_port;
        let CongestionPointState { point, sight, settle, .. } = &mut *congestion_point;
        let seen = Seen { network: self, sight, first_port, switch, now };
        let said = point.as_mut().map(|point| ask(point, settle, &seen));
        self.switches[switch as usize].congestion_point = Some(congestion_point);
        said
    }

    /// The cell of an output of a watched switch.
    fn output_cell(&self, out: u32, class: u8) -> usize {
        usize::from(self.ports[out as usize].number) * self.classes + usize::from(class)
    }

    /// A data frame has joined what waits in a watched switch.
    #[inline(never)]
    pub(crate) fn show_arrival(&mut self, now: Time, switch: u32, place: u32, ctx: &mut Ctx) {
        let frame = &self.pool[place];
        let passage = passage(now, frame);
        let Frame { flow, dst, input, output, class, len, .. } = *frame;
        let cell = usize::from(output) * self.classes + usize::from(class);
        let state = &mut self.switches[switch as usize];
        let direct = state.room != WaitingRoom::Both;
        let mut ends = false;
        if let Some(congestion_point) = &mut state.congestion_point {
            congestion_point.sight.waiting[cell] += 1;
            if let Some(occupancy) = &mut congestion_point.occupancy {
                occupancy.enter(usize::from(input) * self.classes + usize::from(class), place, flow, dst, output, len);
            }
            ends = congestion_point.ends(frame);
        }
        if ends {
            self.send_receipt(now, switch, flow, ctx);
        }
        // A point seldom wants anything, and is then asked about the output in one go.
        let said = self.consult(now, switch, |point, settle, seen| {
            let request = point.on_arrival(&passage, seen);
            *settle |= request == Request::Settle;
            if !direct || !matches!(request, Request::Nothing | Request::Settle) {
                return (request, None);
            }
            let of_output = point.on_output(&passage, seen);
            *settle |= of_output == Request::Settle;
            (request, Some(of_output))
        });
        let Some((request, of_output)) = said else { return };
        match of_output {
            Some(of_output) => self.grant_request(now, switch, Some(of_output), ctx),
            None => {
                self.grant_request(now, switch, Some(request), ctx);
                if direct {
                    self.show_output(now, switch, passage, ctx);
                }
            }
        }
    }

    /// A frame has joined the queue of its output.
    fn show_output(&mut self, now: Time, switch: u32, passage: Passage, ctx: &mut Ctx) {
        let request = self.consult(now, switch, |point, settle, seen| {
            let request = point.on_output(&passage, seen);
            *settle |= request == Request::Settle;
            request
        });
        self.grant_request(now, switch, request, ctx);
    }

    /// A probe passes a watched switch. Returns whether it ends there.
    #[cold]
    pub(crate) fn show_probe(&mut self, now: Time, switch: u32, place: u32, ctx: &mut Ctx) -> bool {
        let Frame { flow, output, tag, input, class, len, .. } = self.pool[place];
        let Content::Probe(Inquiry { value, .. }) = self.pool[place].content() else { return false };
        let of_data = self.origin(flow).class;
        let mut passing = Passing { now, flow, output, class: of_data, tag, value };
        let fate = self.consult(now, switch, |point, _, seen| point.on_path_probe(&mut passing, seen));
        self.pool[place].set_value(passing.value);
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
    pub(crate) fn show_dropped(&mut self, now: Time, switch: u32, frame: &Frame, ctx: &mut Ctx) {
        let sampled = self.switches[switch as usize]
            .congestion_point
            .as_ref()
            .is_some_and(|congestion_point| congestion_point.samples_dropped);
        if frame.kind == Kind::Data && sampled {
            self.show_output(now, switch, passage(now, frame), ctx);
        }
    }

    /// A frame has come through the crossbar of a watched switch. Returns whether its input keeps its room.
    #[inline(never)]
    pub(crate) fn show_crossed(&mut self, now: Time, switch: u32, place: u32, ctx: &mut Ctx) -> bool {
        let frame = &self.pool[place];
        if frame.kind != Kind::Data {
            return false;
        }
        let passage = passage(now, frame);
        if self.switches[switch as usize].congestion_point.as_ref().is_some_and(|it| it.judges) {
            self.judge_crossed(now, switch, place, &passage);
        }
        let frame = &self.pool[place];
        let mut kept = false;
        if let Some(congestion_point) = &mut self.switches[switch as usize].congestion_point {
            let copied = congestion_point.keeps(frame).then_some(frame.flow);
            let handle = congestion_point.occupancy.as_ref().map(|occupancy| occupancy.handle(place));
            kept = congestion_point.let_go(handle, copied, frame.class, frame.len);
        }
        self.show_output(now, switch, passage, ctx);
        kept
    }

    /// A frame starts by an output of a watched switch and has left at `end`.
    #[inline(never)]
    pub(crate) fn show_start(&mut self, now: Time, p: u32, place: u32, end: Time) {
        let (port, frame) = (&self.ports[p as usize], &self.pool[place]);
        let Device::Switch(switch) = port.device else { return };
        let (flags, asked_from, data) = (port.flags, port.asked_from, frame.kind == Kind::Data);
        if flags & STAMPS != 0 {
            self.stamp(now, p, switch, place);
        }
        let frame = &self.pool[place];
        if !data {
            return;
        }
        if flags & CONGESTION_POINT == 0 {
            if flags & MARKS != 0 && self.lanes[self.lane(p, frame.class)].bytes >= asked_from {
                self.ask_at_start(now, p, switch, place, &passage(now, frame));
            }
            return;
        }
        let passage = passage(now, frame);
        let cell = self.output_cell(p, frame.class);
        let direct = self.switches[switch as usize].room != WaitingRoom::Both;
        if let Some(congestion_point) = &mut self.switches[switch as usize].congestion_point {
            congestion_point.sight.waiting[cell] -= 1;
            if std::mem::take(&mut congestion_point.sight.blocked[cell]) {
                congestion_point.sight.last_blocked[cell] = Some(now);
            }
            if direct {
                let handle = congestion_point.occupancy.as_ref().map(|occupancy| occupancy.handle(place));
                let kept = congestion_point.keeps(frame).then_some(frame.flow);
                congestion_point.leaving[usize::from(frame.output)] = Leaving { handle, kept };
                congestion_point.sight.free[usize::from(frame.output)] = kept.is_none().then_some(end);
            }
        }
        self.ask_at_start(now, p, switch, place, &passage);
    }

    /// Asks a congestion point whether to mark a frame that starts.
    fn ask_at_start(&mut self, now: Time, p: u32, switch: u32, place: u32, passage: &Passage) {
        let marked = self.consult(now, switch, |point, _, seen| point.on_start(passage, seen));
        if marked == Some(true) {
            self.mark(now, p, place);
        }
    }

    /// The frame on the wire of a watched switch has left. Returns whether its input keeps its room.
    #[inline(never)]
    pub(crate) fn show_left(&mut self, p: u32, class: u8, len: u16) -> bool {
        let (Device::Switch(switch), number) = (self.ports[p as usize].device, self.ports[p as usize].number) else {
            return false;
        };
        let Some(congestion_point) = &mut self.switches[switch as usize].congestion_point else { return false };
        let Leaving { handle, kept } = std::mem::take(&mut congestion_point.leaving[usize::from(number)]);
        congestion_point.let_go(handle, kept, class, len)
    }

    /// An output of a watched switch has something to send in these classes and could not, or has been let go.
    #[cold]
    pub(crate) fn show_blocked(&mut self, now: Time, p: u32, classes: u8, blocked: bool) {
        let Device::Switch(switch) = self.ports[p as usize].device else { return };
        let number = usize::from(self.ports[p as usize].number);
        let Some(congestion_point) = &mut self.switches[switch as usize].congestion_point else { return };
        for class in (0..self.classes).filter(|class| classes >> class & 1 == 1) {
            let cell = number * self.classes + class;
            congestion_point.sight.blocked[cell] = blocked;
            congestion_point.sight.last_blocked[cell] = Some(now);
        }
    }

    /// A frame that waited in a watched switch came to nothing.
    #[cold]
    pub(crate) fn forget_dropped(&mut self, switch: u32, place: u32) {
        if let Some(congestion_point) = &mut self.switches[switch as usize].congestion_point
            && congestion_point.muted
            && self.pool[place].kind == Kind::Data
            && let Some(occupancy) = &mut congestion_point.occupancy
        {
            occupancy.leave(occupancy.handle(place));
        }
    }

    /// What waits in a watched switch has found other outputs: it is counted anew.
    pub(crate) fn recount(&mut self, now: Time, switch: u32) {
        let Some(mut congestion_point) = self.switches[switch as usize].congestion_point.take() else { return };
        congestion_point.muted = false;
        congestion_point.sight.waiting.fill(0);
        let state = &self.switches[switch as usize];
        let ports = congestion_point.notices.len();
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
            congestion_point.sight.waiting[usize::from(frame.output) * self.classes + usize::from(frame.class)] += 1;
            if let Some(occupancy) = congestion_point.occupancy.as_mut().filter(|_| !left) {
                occupancy.redirect(place, frame.output);
            }
        }
        self.switches[switch as usize].congestion_point = Some(congestion_point);
        self.consult(now, switch, |point, _, seen| point.on_rerouted(seen));
    }

    /// The instant has settled, or the point's deadline has come.
    pub(crate) fn on_congestion_point(&mut self, now: Time, switch: u32, ctx: &mut Ctx) {
        let due = |congestion_point: &CongestionPointState| congestion_point.deadline().is_some_and(|at| at <= now);
        let Some(congestion_point) = &self.switches[switch as usize].congestion_point else { return };
        let (settle, due) = (congestion_point.settle, due(congestion_point));
        if settle {
            self.consult(now, switch, |point, settle, seen| {
                *settle = false;
                point.on_settled(now, seen);
            });
        }
        let request = if due { self.consult(now, switch, |point, _, seen| point.on_deadline(now, seen)) } else { None };
        self.grant_request(now, switch, request, ctx);
    }

    /// Does what a congestion point wants, and sees to it that it is asked again in time.
    fn grant_request(&mut self, now: Time, switch: u32, request: Option<Request>, ctx: &mut Ctx) {
        match request {
            Some(Request::Notify(notice)) => self.notify(now, switch, notice, ctx),
            Some(Request::Draw { input, class, count }) => self.draw(now, switch, (input, class), count, ctx),
            Some(Request::Nothing | Request::Settle) | None => {}
        }
        let state = &self.switches[switch as usize];
        let Some(congestion_point) = &state.congestion_point else { return };
        let alarm = self.numbers.node_timer + self.ports[state.first_port as usize].node;
        if congestion_point.settle {
            ctx.alarms.arm_no_later(alarm, now);
        } else if let Some(at) = congestion_point.deadline() {
            ctx.alarms.arm_no_later(alarm, at.max(now));
        }
    }

    /// Draws frames from an input's buffer for the congestion point and does what it makes of them.
    fn draw(&mut self, now: Time, switch: u32, (input, class): (u16, u8), count: u8, ctx: &mut Ctx) {
        let cell = usize::from(input) * self.classes + usize::from(class);
        let mut found: [Option<Occupant>; 2] = [None; 2];
        let Some(congestion_point) = &mut self.switches[switch as usize].congestion_point else { return };
        if let Some(occupancy) = &mut congestion_point.occupancy {
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

    /// Whether a port belongs to a switch with a congestion point.
    #[inline]
    pub(crate) fn has_congestion_point(&self, p: u32) -> bool {
        self.ports[p as usize].flags & CONGESTION_POINT != 0
    }
}

fn passage(now: Time, frame: &Frame) -> Passage {
    let Frame { flow, input, output, class, len, tag, .. } = *frame;
    let tag = if frame.has_telemetry() { 0 } else { tag };
    Passage { now, since: frame.at, flow, input, output, class, len, tag }
}
