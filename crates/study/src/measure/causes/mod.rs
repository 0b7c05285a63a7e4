//! Causes: who made a flow slow, to the last picosecond.
//!
//! One reader takes the events of a run in order of time, whatever shards they come from. It keeps what every port does,
//! who waits for it, and which flows hold which input buffers; so it can say at every instant what a flow waits for. A
//! flow's time is a sequence of intervals, each with one cause: the causes of a flow add up to its time exactly.
//!
//! Blocked time goes to the roots of what blocks the link ([`trace`](self)), as they are when the wait begins. They are
//! looked for again, and the interval is cut, whenever a link of the chain, or one of the roots, is paused or resumed,
//! lacks or gets credits, fails or recovers; and at every sampling instant, since buffers may drain meanwhile.
//!
//! Memory grows with the frames in buffers, the ports, and the flows.

mod chain;
mod flows;
mod ledger;
mod map;
mod marks;
mod ports;
mod rows;
mod stage;
#[cfg(test)]
mod tests;
mod trace;
mod window;

use fabric::record::{Event, FOLLOWED, Happening};
use fabric::spec::NetworkSpec;
use flows::Source;
pub(crate) use ledger::{Cause, Root};
use ledger::{Key, Ledger, NONE};
use map::Map;
pub(crate) use map::followed;
pub(crate) use marks::Marking;
use marks::Signals;
use ports::{Backlog, OnWire, Port};
pub(crate) use rows::{CauseRow, MomentRow, RootRow, TreeRow};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use trace::Blame;
use units::{Span, Time};

/// Frames of a flow in an input buffer that wait for one output.
#[derive(Clone, Copy, Debug)]
struct Held {
    output: u32,
    flow: u32,
    frames: u32,
    bytes: u64,
}

/// The time of a flow that is due to a cause within an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    until: u64,
    width: u64,
    cause: Cause,
    port: u32,
    time: u64,
}

/// The causes of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlowCauses {
    pub(crate) flow: u32,
    /// Its start, or the end of the warm-up if it has no size.
    pub(crate) from: u64,
    /// When it was complete, or was stopped, or the run ended.
    pub(crate) until: u64,
    pub(crate) complete: bool,
    pub(crate) ledger: Ledger,
    /// The same over time, if that is recorded.
    course: Vec<Moment>,
    /// Ports on which its data started.
    pub(crate) ports: Vec<u32>,
    /// Cycles of blocked links of which it uses one, by the port that stands for the cycle.
    cycles: Vec<u32>,
    /// Its marks and notices.
    signals: Signals,
}

impl FlowCauses {
    /// The time of the causes that fit, in seconds. They are told whether they lie on the path of the flow.
    pub(crate) fn seconds(&self, fits: impl Fn(&Key, bool) -> bool) -> f64 {
        let fitting = self.ledger.iter().filter(|(key, _)| fits(key, self.meets(key)));
        fitting.map(|(_, time)| time).sum::<u64>() as f64 / 1e12
    }

    /// Whether a cause lies on the path of the flow: its data uses the port, or a link of the cycle.
    pub(crate) fn meets(&self, key: &Key) -> bool {
        match key.cause.root() {
            Some(Root::Cycle) => self.cycles.contains(&key.port),
            _ => self.uses(key.port),
        }
    }

    /// Whether its data uses a port.
    pub(crate) fn uses(&self, port: u32) -> bool {
        self.ports.binary_search(&port).is_ok()
    }
}

/// What was found out about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) flows: Vec<FlowCauses>,
    pub(crate) trees: Vec<TreeRow>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Causes {
    map: Map,
    /// Roots are looked for again every so often.
    every: u64,
    /// When they are next.
    next: u64,
    /// Length of the intervals over which causes and trees are recorded; without end if they are not.
    width: u64,
    /// Blocked links and their roots, at the end of each interval.
    trees: Vec<TreeRow>,
    warm_up: u64,
    warm: bool,
    /// When flows are stopped, the last first.
    stops: Vec<(u64, u32)>,
    now: u64,
    ports: Vec<Port>,
    /// By port and class: what blocks it.
    blames: Vec<Option<Box<Blame>>>,
    /// The links of every cycle of blocked links so far, by the port that stands for it.
    cycles: BTreeMap<u32, BTreeSet<u32>>,
    /// By output port and class: its backlog.
    backlogs: Vec<Backlog>,
    /// By input port and class, in order of outputs and flows.
    buffers: Vec<Vec<Held>>,
    /// By input port and class: outputs and flows of the frames of an input FIFO.
    fifos: Vec<VecDeque<(u32, u32)>>,
    class_of: Vec<u8>,
    sources: Vec<Option<Box<Source>>>,
    ended: Vec<bool>,
    done: Vec<FlowCauses>,
}

impl Causes {
    /// `every` is the time between two samples. With `over_time`, causes and trees are recorded over time, too.
    pub(crate) fn new(spec: &NetworkSpec, warm_up: Time, every: Span, over_time: bool) -> Causes {
        let every = every.as_picos().max(1);
        let width = if over_time { every } else { u64::MAX };
        let map = Map::new(spec);
        let lanes = map.ports() * map.classes;
        let flows = spec.flows.len();
        let mut stops: Vec<(u64, u32)> =
            (0..).zip(&spec.flows).filter_map(|(number, flow)| Some((flow.stop?.as_picos(), number))).collect();
        stops.sort_unstable_by(|a, b| b.cmp(a));
        Causes {
            width,
            every,
            next: every,
            trees: Vec::new(),
            warm_up: warm_up.as_picos(),
            warm: warm_up == Time::ZERO,
            stops,
            now: 0,
            ports: (0..map.ports()).map(|_| Port::default()).collect(),
            blames: (0..lanes).map(|_| None).collect(),
            cycles: BTreeMap::new(),
            backlogs: (0..lanes).map(|_| Backlog::default()).collect(),
            buffers: vec![Vec::new(); lanes],
            fifos: vec![VecDeque::new(); lanes],
            class_of: spec.flows.iter().map(|flow| flow.class).collect(),
            sources: (0..flows).map(|_| None).collect(),
            ended: vec![false; flows],
            done: Vec::new(),
            map,
        }
    }

    /// Takes the events of all shards since the last time; none of a later call is earlier than one of these.
    pub(crate) fn take(&mut self, events: &[Event]) {
        // Time, node and place in one number, which is faster to sort than three.
        let key = |(place, event): (u32, &Event)| {
            u128::from(event.time.as_picos()) << 64 | u128::from(self.node_of(event)) << 32 | u128::from(place)
        };
        let mut order: Vec<u128> = (0..).zip(events).map(key).collect();
        order.sort_unstable();
        for (place, &number) in order.iter().enumerate() {
            let event = &events[number as u32 as usize];
            let completes = event.what == Happening::Delivered
                && order.get(place + 1).is_some_and(|&next| {
                    let next = &events[next as u32 as usize];
                    next.what == Happening::Completed && next.flow == event.flow
                });
            self.see(event, completes);
        }
    }

    /// The node at which an event happens.
    fn node_of(&self, event: &Event) -> u32 {
        match event.what {
            Happening::Noticed => self.map.source[event.flow as usize],
            _ => self.map.node_of(event.port),
        }
    }

    fn see(&mut self, event: &Event, completes: bool) {
        self.pass(event.time.as_picos());
        self.now = event.time.as_picos();
        let classes = event.class;
        match event.what {
            Happening::Started | Happening::StartedReply => self.on_start(event),
            Happening::StartedControl => self.on_wire(event, NONE, NONE),
            Happening::Joined => {
                self.hold(event);
                self.on_queue(event);
                if self.is_data(event) {
                    self.on_stage_join(event, event.other);
                }
            }
            Happening::Crossed => self.release(event.port, event.other, event),
            Happening::Left => {
                self.release(event.port, event.other, event);
                if event.amount == 1 {
                    self.on_dequeue(event.flow, event.other);
                }
                if self.is_data(event) {
                    self.on_stage_leave(event);
                }
            }
            Happening::Received if self.is_finite(event) => self.on_stage_join(event, event.port),
            Happening::Delivered if self.is_finite(event) => self.on_delivery(event, completes),
            Happening::Discarded if self.is_finite(event) => self.on_delivery(event, false),
            Happening::Dropped => self.on_drop(event),
            // One that was delivered in the event before has ended then.
            Happening::Completed => self.finish_flow(event.flow, Some(None)),
            Happening::Received | Happening::Delivered | Happening::Discarded => {}
            Happening::Paused => self.change(event.port, |port| port.paused |= classes),
            Happening::Resumed => self.change(event.port, |port| port.paused &= !classes),
            Happening::Starved => self.change(event.port, |port| port.starved |= classes),
            Happening::Credits => self.change(event.port, |port| port.starved &= !classes),
            Happening::Down => self.change(event.port, |port| (port.down, port.starved) = (true, 0)),
            Happening::Up => self.change(event.port, |port| port.down = false),
            Happening::Source => self.on_source(event),
            Happening::Marked | Happening::Noticed => {
                self.note_signal(event.flow, event.port);
                let about = self.congested(event.flow, event.port);
                self.on_signal(event.flow, about);
            }
        }
    }

    /// Whether an event is about a flow with a size.
    fn is_finite(&self, event: &Event) -> bool {
        self.map.finite.get(event.flow as usize) == Some(&true)
    }

    /// Whether a frame that comes or goes is data of such a flow.
    fn is_data(&self, event: &Event) -> bool {
        event.amount == 1 && self.is_finite(event)
    }

    /// A frame starts on a wire.
    fn on_start(&mut self, event: &Event) {
        let Event { port, flow, class, .. } = *event;
        if self.ports[port as usize].starved >> class & 1 == 1 {
            self.change(port, |port| port.starved &= !(1 << class));
        }
        let node = self.map.node(port);
        if self.map.is_host(node) {
            if self.map.source.get(flow as usize) == Some(&node) {
                self.note_port(event);
                self.settle(port);
                self.on_source_start(event);
            }
            return self.on_wire(event, flow, NONE);
        }
        self.note_port(event);
        let input = self.map.sibling(port, event.other & !FOLLOWED).unwrap_or(NONE);
        self.on_wire(event, flow, input);
        if input != NONE && !self.map.crosses(node) {
            self.release(input, port, event);
        }
        if event.is_data_start() {
            self.on_dequeue(flow, port);
        }
        if event.is_data_start() && self.is_finite(event) {
            self.on_stage_start(event);
        }
    }

    /// The wire of a port is in use from now on.
    fn on_wire(&mut self, event: &Event, flow: u32, input: u32) {
        self.settle(event.port);
        self.settle_siblings(event.port);
        let Event { amount, length, .. } = *event;
        self.ports[event.port as usize].wire = OnWire { flow, input, length, until: self.now + amount };
    }

    /// Remembers that data of a flow uses a port.
    fn note_port(&mut self, event: &Event) {
        if event.what == Happening::Started
            && let Some(Some(source)) = self.sources.get_mut(event.flow as usize)
            && !source.ports.contains(&event.port)
        {
            source.ports.push(event.port);
        }
    }

    /// A frame waits in an input buffer.
    fn hold(&mut self, event: &Event) {
        let (output, flow, lane) = (event.other, event.flow, self.lane(event.port, event.class));
        let buffer = &mut self.buffers[lane];
        let place = buffer.partition_point(|held| (held.output, held.flow) < (output, flow));
        let bytes = u64::from(event.length);
        match buffer.get_mut(place).filter(|held| (held.output, held.flow) == (output, flow)) {
            Some(held) => (held.frames, held.bytes) = (held.frames + 1, held.bytes + bytes),
            None => buffer.insert(place, Held { output, flow, frames: 1, bytes }),
        }
        let behind = self.lane(output, event.class);
        self.backlogs[behind].bytes += bytes;
        if self.map.is_fifo(self.map.node(output)) {
            self.fifos[lane].push_back((output, flow));
        }
    }

    /// A frame waits there no more.
    fn release(&mut self, input: u32, output: u32, event: &Event) {
        let (flow, lane) = (event.flow, self.lane(input, event.class));
        let buffer = &mut self.buffers[lane];
        let place = buffer.partition_point(|held| (held.output, held.flow) < (output, flow));
        // A switch's own notices did not wait in a buffer.
        let Some(held) = buffer.get_mut(place).filter(|held| (held.output, held.flow) == (output, flow)) else {
            return;
        };
        held.frames -= 1;
        let bytes = u64::from(event.length).min(held.bytes);
        held.bytes -= bytes;
        if held.frames == 0 {
            buffer.remove(place);
        }
        let behind = self.lane(output, event.class);
        self.backlogs[behind].shrink(bytes);
        let fifo = &mut self.fifos[lane];
        if let Some(place) = fifo.iter().position(|&frame| frame == (output, flow)) {
            fifo.remove(place);
        }
    }

    /// Does what is due before an instant: the warm-up ends, flows are stopped, and samples are taken.
    fn pass(&mut self, time: u64) {
        while self.next < time {
            self.pass_within(self.next);
            self.now = self.next;
            self.sample();
            self.next = self.next.saturating_add(self.every);
        }
        self.pass_within(time);
    }

    /// The same between two samples.
    fn pass_within(&mut self, time: u64) {
        if !self.warm && time >= self.warm_up {
            self.stop_before(self.warm_up);
            self.warm = true;
            self.now = self.warm_up;
            self.end_warm_up();
        }
        self.stop_before(time);
    }

    fn stop_before(&mut self, time: u64) {
        while let Some(&(stop, flow)) = self.stops.last().filter(|(stop, _)| *stop < time) {
            self.stops.pop();
            self.now = stop;
            self.stop(flow);
        }
    }

    /// The run has ended. Returns the causes of every flow that has started, in order of flows, and the trees.
    pub(crate) fn close(mut self, end: Time) -> Found {
        let end = self.now.max(end.as_picos());
        self.pass(end);
        self.now = end;
        for flow in 0..self.sources.len() as u32 {
            if self.sources[flow as usize].is_some() {
                self.finish_flow(flow, None);
            }
        }
        self.done.sort_by_key(|done| done.flow);
        for done in &mut self.done {
            let met = self.cycles.iter().filter(|(_, links)| done.ports.iter().any(|port| links.contains(port)));
            done.cycles = met.map(|(&port, _)| port).collect();
        }
        Found { flows: self.done, trees: self.trees }
    }
}
