//! The loop: frames on cables, agents that want to be asked, and an end.

use super::DcbPlan;
use crate::capture::address;
use control::{Bridge, Finding, LARGEST_FRAME, Operating};
use fabric::graph::{Graph, NodeId, PortEnd, Role};
use std::collections::BTreeSet;
use units::{Bytes, Span, Stream, Time, Wire};

/// Preamble, check sequence and gap of a frame (802.3).
const OVERHEAD: u64 = 24;
/// An exchange that has not settled by then never will.
const PATIENCE: Span = Span::from_secs(3600);

/// One end of a cable after the exchange.
#[derive(Clone, Debug)]
pub struct Port {
    /// Its node.
    pub node: NodeId,
    /// The node at the far end.
    pub peer: NodeId,
    /// What it operates on.
    pub operating: Operating,
    /// What does not fit.
    pub findings: Vec<Finding>,
    /// Its node learns from the far end and passes it on.
    pub source: bool,
}

/// What agents came to.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Both ends of every cable, cable by cable.
    pub cables: Vec<[Port; 2]>,
    /// From the start of the last node to the last change; none if nothing changed after it.
    pub converged: Span,
    /// From the start of the first node to the last change.
    pub last_change: Span,
    /// Whether it came to rest.
    pub settled: bool,
    /// Frames sent up to the last change.
    pub frames: u64,
}

impl Exchange {
    /// All ends with the node and the peer.
    pub fn ports(&self) -> impl Iterator<Item = &Port> {
        self.cables.iter().flatten()
    }
}

/// A frame on its way.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    at: Time,
    node: u32,
    port: u16,
    /// Frames of one instant at one port keep their order.
    number: u64,
    bytes: Vec<u8>,
}

/// Lets the agents speak until nothing has changed for longer than everybody needs to say everything again.
#[must_use]
pub fn exchange(graph: &Graph, plan: &DcbPlan, seed: u64) -> Exchange {
    let mut world = World::new(graph, plan, seed);
    world.run(plan.timers.interval + Span::from_secs(1));
    world.outcome()
}

struct World<'a> {
    graph: &'a Graph,
    ports: Vec<Vec<PortEnd>>,
    bridges: Vec<Bridge>,
    starts: Vec<Time>,
    under_way: BTreeSet<Flight>,
    /// When each node wants to be asked.
    wishes: BTreeSet<(Time, u32)>,
    wish_of: Vec<Option<Time>>,
    /// When the last node started.
    started: Time,
    last_change: Time,
    sent: u64,
    sent_until_change: u64,
    settled: bool,
}

impl<'a> World<'a> {
    fn new(graph: &'a Graph, plan: &DcbPlan, seed: u64) -> World<'a> {
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
            ports,
            wish_of: vec![None; bridges.len()],
            bridges,
            started: starts.iter().copied().max().unwrap_or(Time::ZERO),
            last_change: starts.iter().copied().min().unwrap_or(Time::ZERO),
            starts,
            under_way: BTreeSet::new(),
            wishes: BTreeSet::new(),
            sent: 0,
            sent_until_change: 0,
            settled: false,
        };
        (0..world.bridges.len() as u32).for_each(|node| world.note_wish(node, Time::ZERO));
        world
    }

    fn run(&mut self, quiet: Span) {
        let mut touched = BTreeSet::new();
        let limit = self.started + PATIENCE;
        loop {
            let arrival = self.under_way.first().map(|flight| flight.at);
            let wish = self.wishes.first().map(|&(at, _)| at);
            let Some(now) = arrival.into_iter().chain(wish).min() else {
                self.settled = true;
                return;
            };
            if now > self.last_change.max(self.started) + quiet || now > limit {
                self.settled = now <= limit;
                return;
            }
            while let Some(flight) = self.under_way.pop_first() {
                if flight.at > now {
                    self.under_way.insert(flight);
                    break;
                }
                // Before its node has started, a port hears nothing.
                if self.starts[flight.node as usize] <= now {
                    self.bridges[flight.node as usize].handle_frame(now, usize::from(flight.port), &flight.bytes);
                    touched.insert(flight.node);
                }
            }
            while let Some(&(_, node)) = self.wishes.first().filter(|&&(at, _)| at <= now) {
                self.wishes.pop_first();
                self.wish_of[node as usize] = None;
                touched.insert(node);
            }
            while let Some(node) = touched.pop_first() {
                self.speak(node, now);
            }
        }
    }

    /// Sends what a node has to say.
    fn speak(&mut self, node: u32, now: Time) {
        let mut buffer = [0; LARGEST_FRAME];
        while let Some((port, length)) = self.bridges[node as usize].poll_transmit(now, &mut buffer) {
            let end = self.ports[node as usize][port];
            let link = &self.graph.cables[end.cable as usize].link;
            let on_wire = Wire::new(link.rate).serialise(Bytes::new(length as u64 + OVERHEAD));
            self.sent += 1;
            self.under_way.insert(Flight {
                at: now + on_wire + link.latency,
                node: end.peer.0,
                port: end.peer_port,
                number: self.sent,
                bytes: buffer[..length].to_vec(),
            });
        }
        // An agent's own start is no change.
        let changed = self.bridges[node as usize].agents().iter().map(control::Agent::changed_at).max();
        if changed.is_some_and(|changed| changed > self.last_change && changed > self.starts[node as usize]) {
            self.last_change = now;
            self.sent_until_change = self.sent;
        }
        // Not before the next instant, so that time goes on whatever an agent wishes.
        self.note_wish(node, now.saturating_add(Span::from_picos(1)));
    }

    fn note_wish(&mut self, node: u32, soonest: Time) {
        if let Some(at) = self.wish_of[node as usize].take() {
            self.wishes.remove(&(at, node));
        }
        if let Some(at) = self.bridges[node as usize].poll_at() {
            let at = at.max(soonest);
            self.wish_of[node as usize] = Some(at);
            self.wishes.insert((at, node));
        }
    }

    fn outcome(self) -> Exchange {
        let mut next = vec![0; self.bridges.len()];
        let mut port = |node: NodeId, peer: NodeId| {
            let at = node.0 as usize;
            let number = next[at];
            next[at] += 1;
            let (bridge, agent) = (&self.bridges[at], &self.bridges[at].agents()[number]);
            let source = bridge.source() == Some(number);
            Port { node, peer, operating: *agent.operating(), findings: agent.findings().collect(), source }
        };
        let cables = self.graph.cables.iter().map(|cable| [port(cable.a, cable.b), port(cable.b, cable.a)]).collect();
        let first = self.starts.iter().copied().min().unwrap_or(Time::ZERO);
        Exchange {
            cables,
            converged: self.last_change.saturating_since(self.started),
            last_change: self.last_change.saturating_since(first),
            settled: self.settled,
            frames: self.sent_until_change,
        }
    }
}
