//! The loop: frames on cables, agents that want to be asked, and an end.

use super::DcbPlan;
use crate::capture::address;
use crate::post::{PATIENCE, Post};
use control::{Bridge, Finding, LARGEST_FRAME, Operating};
use fabric::graph::{Graph, NodeId, PortEnd, Role};
use std::collections::BTreeSet;
use units::{Span, Stream, Time};

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
    post: Post,
    /// When the last node started.
    started: Time,
    last_change: Time,
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
            post: Post::new(bridges.len()),
            bridges,
            started: starts.iter().copied().max().unwrap_or(Time::ZERO),
            last_change: starts.iter().copied().min().unwrap_or(Time::ZERO),
            starts,
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
            let Some(now) = self.post.next() else {
                self.settled = true;
                return;
            };
            if now > self.last_change.max(self.started) + quiet || now > limit {
                self.settled = now <= limit;
                return;
            }
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

    /// Sends what a node has to say.
    fn speak(&mut self, node: u32, now: Time) {
        let mut buffer = [0; LARGEST_FRAME];
        while let Some((port, length)) = self.bridges[node as usize].poll_transmit(now, &mut buffer) {
            let end = self.ports[node as usize][port];
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
