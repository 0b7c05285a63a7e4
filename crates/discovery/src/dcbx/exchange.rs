//! The event loop of DCBX: frames, timers of agents, link failures, changes of settings, and convergence.

use super::{DcbPlan, LinkDown};
use crate::address;
use crate::post::{PATIENCE, Post};
use control::{Bridge, LARGEST_FRAME, Mismatch, Operating, Settings};
use fabric::graph::{Graph, NodeId, PortEnd, Role};
use fabric::spec::Fault;
use std::collections::{BTreeMap, BTreeSet};
use units::{Span, Stream, Time};

/// One end of a cable after the exchange.
#[derive(Clone, Debug)]
pub struct Port {
    /// The node.
    pub node: NodeId,
    /// The port's number on its node.
    pub number: u16,
    /// The node at the far end.
    pub peer: NodeId,
    /// Operational settings.
    pub operating: Operating,
    /// Mismatches found.
    pub mismatches: Vec<Mismatch>,
    /// Whether the node learns its settings from the far end and propagates them.
    pub source: bool,
}

/// An event that agents react to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A cable failed, given by its index.
    Down(u32),
    /// A cable was restored, given by its index.
    Up(u32),
    /// A node was reconfigured.
    Configured(NodeId),
}

/// The result of an exchange between agents.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// When the exchange began in simulated time; `None` before the run.
    pub at: Option<Time>,
    /// Events that caused it.
    pub events: Vec<Event>,
    /// Both ends of every cable, by cable.
    pub cables: Vec<[Port; 2]>,
    /// Time from the start of the last node, or from the event, to the last change; zero if nothing changed after it.
    pub converged: Span,
    /// Time from the start of the first node, or from the event, to the last change.
    pub last_change: Span,
    /// Whether the agents converged before the next event.
    pub settled: bool,
    /// Frames sent up to the last change.
    pub frames: u64,
    /// Ports whose operational settings changed, even if only temporarily; zero for the start.
    pub changed: usize,
}

impl Exchange {
    /// Returns the ports at both ends of all cables.
    pub fn ports(&self) -> impl Iterator<Item = &Port> {
        self.cables.iter().flatten()
    }

    /// Returns whether the agents converged without a mismatch at any port.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.settled && self.ports().all(|port| port.mismatches.is_empty())
    }
}

/// Returns whether a [`history`] is sound: every exchange in it that could run to its end. One that the next event cut
/// short is not judged.
#[must_use]
pub fn is_sound(history: &[Exchange]) -> bool {
    let judged = |(number, step): &(usize, &Exchange)| step.settled || *number == 0 || number + 1 == history.len();
    history.iter().enumerate().filter(judged).all(|(_, step)| step.is_sound())
}

/// Runs the agents until nothing has changed for longer than a full refresh takes.
#[must_use]
pub fn exchange(graph: &Graph, plan: &DcbPlan, seed: u64) -> Exchange {
    World::new(graph, plan, seed).start().1
}

/// Runs the agents as [`exchange`] does, then through all link failures and changes of settings. The run, in whose time
/// these are given, begins after the agents have converged.
#[must_use]
pub fn history(graph: &Graph, plan: &DcbPlan, faults: &[Fault], seed: u64) -> Vec<Exchange> {
    let (mut world, first) = World::new(graph, plan, seed).start();
    let settled = first.settled;
    let mut all = vec![first];
    let mut events: BTreeMap<Time, Vec<(Event, Option<Settings>)>> = BTreeMap::new();
    for fault in faults {
        events.entry(fault.down).or_default().push((Event::Down(fault.cable), None));
        fault.up.into_iter().for_each(|up| events.entry(up).or_default().push((Event::Up(fault.cable), None)));
    }
    for (at, node, settings) in &plan.changes {
        events.entry(*at).or_default().push((Event::Configured(*node), Some(*settings)));
    }
    if !settled {
        return all;
    }
    let began = world.now;
    let times: Vec<Time> = events.keys().copied().collect();
    for (number, (at, events)) in events.into_iter().enumerate() {
        let until = times.get(number + 1).map(|next| began + (*next - Time::ZERO));
        all.push(world.step(at, began + (at - Time::ZERO), &events, until));
    }
    all
}

struct World<'a> {
    graph: &'a Graph,
    plan: &'a DcbPlan,
    ports: Vec<Vec<PortEnd>>,
    bridges: Vec<Bridge>,
    starts: Vec<Time>,
    post: Post,
    /// Failed cables.
    down: BTreeSet<u32>,
    now: Time,
    /// Start of the measurement: the start of the last node, or an event.
    since: Time,
    last_change: Time,
    sent_until_change: u64,
}

impl<'a> World<'a> {
    fn new(graph: &'a Graph, plan: &'a DcbPlan, seed: u64) -> World<'a> {
        let ports = graph.ports();
        let (mut bridges, mut starts) = (Vec::new(), Vec::new());
        for (number, ports) in (0..).zip(&ports) {
            let delay = Stream::new(seed, u64::from(number), "dcbx").between(0, plan.spread.as_picos());
            let start = Time::from_picos(delay);
            let chassis = address(NodeId(number), u16::MAX);
            let settings = plan.settings.get(number as usize).copied().unwrap_or_default();
            // A switch does not learn from hosts.
            let role = |node: NodeId| graph.nodes[node.0 as usize].role;
            let learns = |end: &PortEnd| role(NodeId(number)) == Role::Host || role(end.peer) == Role::Switch;
            let ends = (0..).zip(ports).map(|(port, end)| (address(NodeId(number), port), learns(end)));
            bridges.push(Bridge::new(start, chassis, ends, settings, plan.timers));
            starts.push(start);
        }
        let mut world = World {
            graph,
            plan,
            ports,
            post: Post::new(bridges.len()),
            bridges,
            down: BTreeSet::new(),
            now: Time::ZERO,
            since: starts.iter().copied().max().unwrap_or(Time::ZERO),
            last_change: starts.iter().copied().min().unwrap_or(Time::ZERO),
            starts,
            sent_until_change: 0,
        };
        (0..world.bridges.len() as u32).for_each(|node| world.note_wish(node, Time::ZERO));
        world
    }

    /// Runs the agents from the start of all nodes until they converge.
    fn start(mut self) -> (World<'a>, Exchange) {
        let settled = self.run(self.plan.timers.interval + Span::from_secs(1), None);
        let first = self.starts.iter().copied().min().unwrap_or(Time::ZERO);
        let outcome = self.outcome(None, Vec::new(), first, settled, 0);
        (self, outcome)
    }

    /// Applies the events of one instant and runs the agents until the next events.
    fn step(&mut self, at: Time, now: Time, events: &[(Event, Option<Settings>)], until: Option<Time>) -> Exchange {
        (self.now, self.since, self.last_change) = (now, now, now);
        (self.post.sent, self.sent_until_change) = (0, 0);
        for (event, settings) in events {
            self.happen(*event, *settings);
        }
        // Whoever was not told of a failure believes what it heard for its time to live.
        let longest = self.plan.timers.interval.max(Span::from_secs(1) * u64::from(self.plan.timers.time_to_live()));
        let settled = self.run(longest + Span::from_secs(1), until);
        let agents = self.bridges.iter().flat_map(Bridge::agents);
        let changed = agents.filter(|agent| agent.changed_at() >= now).count();
        self.outcome(Some(at), events.iter().map(|(event, _)| *event).collect(), now, settled, changed)
    }

    fn happen(&mut self, event: Event, settings: Option<Settings>) {
        let now = self.now;
        match event {
            Event::Configured(node) => {
                if let Some(settings) = settings {
                    self.bridges[node.0 as usize].configure(now, settings);
                }
                self.speak(node.0, now);
            }
            Event::Down(cable) | Event::Up(cable) => {
                let up = matches!(event, Event::Up(_));
                if up {
                    self.down.remove(&cable);
                } else {
                    self.down.insert(cable);
                }
                for node in [self.graph.cables[cable as usize].a, self.graph.cables[cable as usize].b] {
                    let port = self.ports[node.0 as usize].iter().position(|end| end.cable == cable).unwrap_or(0);
                    let bridge = &mut self.bridges[node.0 as usize];
                    if up {
                        bridge.handle_link_up(now, port);
                    } else {
                        self.post.lose((node.0, port as u16));
                        if self.plan.link_down == LinkDown::Forget {
                            bridge.handle_link_down(now, port);
                        }
                    }
                    self.speak(node.0, now);
                }
            }
        }
    }

    /// Runs until nothing has changed for `quiet`, and then to `until` if given. Returns whether the agents converged.
    fn run(&mut self, quiet: Span, until: Option<Time>) -> bool {
        let mut touched = BTreeSet::new();
        let limit = self.since + PATIENCE;
        loop {
            let (next, rest) = (self.post.next(), self.last_change.max(self.since) + quiet);
            let at_rest = next.is_none_or(|now| now > rest);
            let goes_on = |now: &Time| until.map_or(!at_rest && *now <= limit, |until| *now < until);
            let Some(now) = next.filter(goes_on) else {
                self.now = until.unwrap_or(rest);
                return until.map_or(at_rest, |until| until > rest);
            };
            self.now = now;
            while let Some(flight) = self.post.arrived(now) {
                // Before its node has started, a port hears nothing.
                if self.starts[flight.node as usize] <= now {
                    self.bridges[flight.node as usize].handle_frame(now, usize::from(flight.port), &flight.bytes);
                    touched.insert(flight.node);
                }
            }
            while let Some(node) = self.post.due(now) {
                touched.insert(node);
            }
            while let Some(node) = touched.pop_first() {
                self.speak(node, now);
            }
        }
    }

    /// Sends the pending frames of a node.
    fn speak(&mut self, node: u32, now: Time) {
        let mut buffer = [0; LARGEST_FRAME];
        while let Some((port, length)) = self.bridges[node as usize].poll_transmit(now, &mut buffer) {
            let end = self.ports[node as usize][port];
            if self.down.contains(&end.cable) {
                continue;
            }
            let link = &self.graph.cables[end.cable as usize].link;
            self.post.send(now, link, (end.peer.0, end.peer_port), &buffer[..length]);
        }
        // An agent's own start is no change.
        let changed = self.bridges[node as usize].agents().iter().map(control::Agent::changed_at).max();
        if changed.is_some_and(|changed| changed > self.last_change && changed > self.starts[node as usize]) {
            self.last_change = now;
            self.sent_until_change = self.post.sent;
        }
        self.note_wish(node, now.saturating_add(Span::from_picos(1)));
    }

    fn note_wish(&mut self, node: u32, soonest: Time) {
        self.post.wish(node, self.bridges[node as usize].poll_at(), soonest);
    }

    fn outcome(&self, at: Option<Time>, events: Vec<Event>, began: Time, settled: bool, changed: usize) -> Exchange {
        let mut next = vec![0; self.bridges.len()];
        let mut port = |node: NodeId, peer: NodeId| {
            let place = node.0 as usize;
            let number = next[place];
            next[place] += 1;
            let (bridge, agent) = (&self.bridges[place], &self.bridges[place].agents()[number]);
            let source = bridge.source() == Some(number);
            let (operating, mismatches) = (*agent.operating(), agent.mismatches().collect());
            Port { node, number: number as u16, peer, operating, mismatches, source }
        };
        let cables = self.graph.cables.iter().map(|cable| [port(cable.a, cable.b), port(cable.b, cable.a)]).collect();
        Exchange {
            at,
            events,
            cables,
            converged: self.last_change.saturating_since(self.since),
            last_change: self.last_change.saturating_since(began),
            settled,
            frames: self.sent_until_change,
            changed,
        }
    }
}
