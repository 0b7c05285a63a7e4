//! The event loop of shortest path bridging: frames, timers of bridges, and convergence.

use super::system_id;
use crate::address;
use crate::post::{PATIENCE, Post};
use control::LARGEST_FRAME;
use control::isis::{Settings, System, Timers, Topology};
use fabric::graph::{Graph, NodeId, Role};
use fabric::routing::{Bridges, link_cost};
use std::collections::BTreeSet;
use units::{Span, Time};
use wire::isis::SystemId;
use wire::isis::tlv::State;

/// How a network converged.
pub(super) struct Rest {
    pub(super) converged: Span,
    pub(super) frames: u64,
    pub(super) settled: bool,
}

/// A cable between switches: its index, and the node and circuit at both ends.
struct Trunk {
    cable: u32,
    ends: [(NodeId, u16); 2],
    works: bool,
    /// State of the cable as its ends have detected it.
    seen: bool,
}

/// A change in a switch's view of failed cables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Learned {
    pub(super) at: Time,
    pub(super) switch: NodeId,
    pub(super) down: Vec<u32>,
}

pub(super) struct World<'a> {
    graph: &'a Graph,
    trunks: Vec<Trunk>,
    ids: Vec<SystemId>,
    /// Systems by node; `None` for hosts.
    systems: Vec<Option<System>>,
    /// Trunk and far end for every node and circuit.
    far: Vec<Vec<(usize, usize)>>,
    post: Post,
    quiet: Span,
    /// Time after which a neighbour that falls silent is missed.
    holding: Span,
    pub(super) now: Time,
    /// Time of rest that was left out.
    skipped: Span,
    /// Cables that each node considers down, if recorded.
    believed: Option<Vec<Vec<u32>>>,
    learned: Vec<Learned>,
    since: Time,
    changed: Time,
    sent_until_change: u64,
}

impl<'a> World<'a> {
    pub(super) fn new(graph: &'a Graph, bridges: &Bridges, trunks: &[u32], timers: Timers) -> World<'a> {
        let mut ports = vec![Vec::new(); graph.nodes.len()];
        let mut far = vec![Vec::new(); graph.nodes.len()];
        let mut ends = Vec::new();
        for (number, &cable) in trunks.iter().enumerate() {
            let both = [graph.cables[cable as usize].a, graph.cables[cable as usize].b];
            let ends_of = [0, 1].map(|end| {
                let node = both[end];
                let list = &mut ports[node.0 as usize];
                let circuit = list.len() as u16;
                list.push((address(node, circuit), bridges.costs[cable as usize]));
                far[node.0 as usize].push((number, 1 - end));
                (node, circuit)
            });
            ends.push(Trunk { cable, ends: ends_of, works: true, seen: true });
        }
        let system = |(number, ports): (usize, Vec<_>)| {
            let identifier = bridges.identifiers[number];
            let priority = (identifier >> 48) as u16;
            // Enough for everybody's fragments.
            let limit = graph.nodes.len() + trunks.len();
            // They speak nothing but shortest path bridging, so the area is 0 (RFC 6329, section 9).
            let settings = Settings { priority, limit, area: [0; 3], ..Settings::new(system_id(identifier)) };
            let is_switch = graph.nodes[number].role == Role::Switch;
            is_switch.then(|| System::new(Time::ZERO, settings, ports, timers))
        };
        let systems: Vec<Option<System>> = ports.into_iter().enumerate().map(system).collect();
        let waits = [timers.retransmit, timers.complete, timers.generation, timers.hello, timers.acknowledge];
        let mut world = World {
            graph,
            trunks: ends,
            ids: bridges.identifiers.iter().map(|&identifier| system_id(identifier)).collect(),
            post: Post::new(systems.len()),
            systems,
            far,
            // By then everybody has said again whatever it had to say.
            quiet: waits.into_iter().max().unwrap_or(Span::ZERO) + Span::from_secs(1),
            holding: Span::from_secs(u64::from(timers.holding_time())),
            now: Time::ZERO,
            skipped: Span::ZERO,
            believed: None,
            learned: Vec::new(),
            since: Time::ZERO,
            changed: Time::ZERO,
            sent_until_change: 0,
        };
        (0..world.systems.len() as u32).for_each(|node| world.note_wish(node, Time::ZERO));
        world
    }

    /// Returns the topology learned by every switch.
    pub(super) fn topologies(&self) -> impl Iterator<Item = (NodeId, Topology)> + '_ {
        (0..).map(NodeId).zip(&self.systems).filter_map(|(node, system)| Some((node, system.as_ref()?.topology())))
    }

    /// Returns every cable between switches with the cost that both its ends announce in a topology; `None` if it is
    /// down.
    pub(super) fn costs(&self, topology: &Topology) -> Vec<(u32, Option<u32>)> {
        let said = |[near, far]: [(NodeId, u16); 2]| {
            let id = |(node, _): (NodeId, u16)| self.ids[node.0 as usize];
            let links = topology.node(id(near))?.links.iter();
            links.into_iter().find(|link| (link.to, link.port) == (id(far), near.1 + 1)).map(|link| link.metric)
        };
        let cost = |[a, b]: [(NodeId, u16); 2]| Some(link_cost(said([a, b])?, said([b, a])?));
        self.trunks.iter().map(|trunk| (trunk.cable, cost(trunk.ends))).collect()
    }

    fn down(&self, topology: &Topology) -> Vec<u32> {
        self.costs(topology).into_iter().filter(|(_, cost)| cost.is_none()).map(|(cable, _)| cable).collect()
    }

    /// Starts recording of learned failures and their times.
    pub(super) fn watch(&mut self) {
        let mut believed = vec![Vec::new(); self.systems.len()];
        for (node, topology) in self.topologies() {
            believed[node.0 as usize] = self.down(&topology);
        }
        self.believed = Some(believed);
    }

    /// Returns the changes learned since [`World::watch`], in order of time.
    pub(super) fn into_learned(self) -> Vec<Learned> {
        self.learned
    }

    /// Records a change in a switch's view, if recording is on.
    fn note_belief(&mut self, node: u32) {
        let Some(system) = self.systems[node as usize].as_ref().filter(|it| it.changed_at() == self.now) else {
            return;
        };
        if self.believed.is_none() {
            return;
        }
        let down = self.down(&system.topology());
        let Some(believed) = self.believed.as_mut().map(|all| &mut all[node as usize]) else { return };
        if *believed != down {
            believed.clone_from(&down);
            self.learned.push(Learned { at: self.now + self.skipped, switch: NodeId(node), down });
        }
    }

    /// Returns whether both ends of a cable have an adjacency that is up.
    pub(super) fn is_up(&self, cable: u32) -> bool {
        let up = |(node, circuit): (NodeId, u16)| {
            let system = self.systems[node.0 as usize].as_ref();
            system.and_then(|it| it.adjacency(usize::from(circuit))).is_some_and(|it| it.state == State::Up)
        };
        self.trunks.iter().any(|trunk| trunk.cable == cable && trunk.ends.into_iter().all(up))
    }

    /// Takes these cables down and restores all others. Their ends detect it at once.
    pub(super) fn fail(&mut self, down: &[u32]) {
        self.cut(down);
        self.see();
    }

    /// Takes these cables down and restores all others. Their ends do not detect it yet.
    pub(super) fn cut(&mut self, down: &[u32]) {
        self.since = self.now;
        self.changed = self.now;
        (self.post.sent, self.sent_until_change) = (0, 0);
        for trunk in &mut self.trunks {
            let works = !down.contains(&trunk.cable);
            if std::mem::replace(&mut trunk.works, works) && !works {
                trunk.ends.iter().for_each(|&(node, circuit)| self.post.lose((node.0, circuit)));
            }
        }
    }

    /// Lets the ends of all cables detect whether their cables work.
    pub(super) fn see(&mut self) {
        for number in 0..self.trunks.len() {
            let works = self.trunks[number].works;
            if std::mem::replace(&mut self.trunks[number].seen, works) == works {
                continue;
            }
            for (node, circuit) in self.trunks[number].ends {
                if let Some(system) = &mut self.systems[node.0 as usize] {
                    match works {
                        true => system.handle_link_up(self.now, usize::from(circuit)),
                        false => system.handle_link_down(self.now, usize::from(circuit)),
                    }
                }
                self.note_belief(node.0);
                self.note_wish(node.0, self.now);
            }
        }
    }

    /// Runs until just before `until`, counted with what was left out. Hellos and refreshes change nothing in a network at
    /// rest, and are left out.
    pub(super) fn go_on(&mut self, until: Time) {
        let until = until - self.skipped;
        while let Some(now) = self.post.next().filter(|&now| now < until) {
            let rest = self.changed.max(self.since) + self.quiet + self.holding;
            if now > rest && self.is_whole() {
                self.now = self.now.max(rest);
                self.skipped += until - self.now;
                return;
            }
            self.step(now);
        }
        self.now = until;
    }

    /// Returns whether the ends of every failed cable reach each other. Of what they do not reach, switches forget what they
    /// have learned when its lifetime is over.
    fn is_whole(&self) -> bool {
        let mut group: Vec<u32> = (0..self.systems.len() as u32).collect();
        let root = |group: &mut [u32], (node, _): (NodeId, u16)| {
            let mut at = node.0;
            while group[at as usize] != at {
                group[at as usize] = group[group[at as usize] as usize];
                at = group[at as usize];
            }
            at
        };
        for trunk in self.trunks.iter().filter(|trunk| trunk.works) {
            let [a, b] = trunk.ends.map(|end| root(&mut group, end));
            group[a as usize] = b;
        }
        let mut joined = |ends: [(NodeId, u16); 2]| root(&mut group, ends[0]) == root(&mut group, ends[1]);
        self.trunks.iter().all(|trunk| joined(trunk.ends))
    }

    /// Runs until nothing has changed for longer than a full refresh takes.
    pub(super) fn come_to_rest(&mut self) -> Rest {
        let limit = self.since + PATIENCE;
        let mut settled = true;
        while let Some(now) = self.post.next() {
            if now > self.changed + self.quiet || now > limit {
                settled = now <= limit;
                break;
            }
            self.step(now);
        }
        let converged = self.changed.saturating_since(self.since);
        Rest { converged, frames: self.sent_until_change, settled }
    }

    /// Processes all events of an instant.
    fn step(&mut self, now: Time) {
        let mut touched = BTreeSet::new();
        self.now = now;
        while let Some(flight) = self.post.arrived(now) {
            if let Some(system) = &mut self.systems[flight.node as usize] {
                system.handle_frame(now, usize::from(flight.port), &flight.bytes);
                touched.insert(flight.node);
            }
        }
        while let Some(node) = self.post.due(now) {
            touched.insert(node);
        }
        while let Some(node) = touched.pop_first() {
            self.speak(node);
            self.note_belief(node);
        }
    }

    /// Sends the pending frames of a switch.
    fn speak(&mut self, node: u32) {
        let mut buffer = [0; LARGEST_FRAME];
        let Some(system) = &mut self.systems[node as usize] else { return };
        while let Some((circuit, length)) = system.poll_transmit(self.now, &mut buffer) {
            let (trunk, end) = self.far[node as usize][circuit];
            if !self.trunks[trunk].works {
                continue;
            }
            let link = &self.graph.cables[self.trunks[trunk].cable as usize].link;
            let (peer, far_circuit) = self.trunks[trunk].ends[end];
            self.post.send(self.now, link, (peer.0, far_circuit), &buffer[..length]);
        }
        if system.changed_at() > self.changed {
            self.changed = system.changed_at();
            self.sent_until_change = self.post.sent;
        }
        self.note_wish(node, self.now.saturating_add(Span::from_picos(1)));
    }

    fn note_wish(&mut self, node: u32, soonest: Time) {
        self.post.wish(node, self.systems[node as usize].as_ref().and_then(System::poll_at), soonest);
    }
}
