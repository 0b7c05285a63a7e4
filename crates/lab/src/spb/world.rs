//! The loop: frames on cables, bridges that want to be asked, and rest.

use super::system_id;
use crate::capture::address;
use control::LARGEST_FRAME;
use control::isis::{Settings, System, Timers, Topology};
use fabric::graph::{Graph, NodeId, Role};
use fabric::routing::Bridges;
use std::collections::BTreeSet;
use units::{Bytes, Span, Time, Wire};
use wire::isis::tlv::State;

/// Preamble, check sequence and gap of a frame (802.3).
const OVERHEAD: u64 = 24;
/// What has not come to rest by then never will.
const PATIENCE: Span = Span::from_secs(3600);

/// How a network came to rest.
pub(super) struct Rest {
    pub(super) converged: Span,
    pub(super) frames: u64,
    pub(super) settled: bool,
}

/// A cable between switches: its position, and node and circuit at both ends.
struct Trunk {
    cable: u32,
    ends: [(NodeId, u16); 2],
    works: bool,
}

/// A frame on its way.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    at: Time,
    /// Frames of one instant keep their order.
    number: u64,
    trunk: usize,
    end: usize,
    bytes: Vec<u8>,
}

pub(super) struct World<'a> {
    graph: &'a Graph,
    trunks: Vec<Trunk>,
    /// By node; hosts have none.
    systems: Vec<Option<System>>,
    /// For every node and circuit the trunk and the far end.
    far: Vec<Vec<(usize, usize)>>,
    under_way: BTreeSet<Flight>,
    wishes: BTreeSet<(Time, u32)>,
    wish_of: Vec<Option<Time>>,
    quiet: Span,
    now: Time,
    since: Time,
    changed: Time,
    sent: u64,
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
            ends.push(Trunk { cable, ends: ends_of, works: true });
        }
        let system = |(number, ports): (usize, Vec<_>)| {
            let identifier = bridges.identifiers[number];
            let priority = (identifier >> 48) as u16;
            // Enough for everybody's fragments.
            let limit = graph.nodes.len() + trunks.len();
            let settings = Settings { priority, limit, ..Settings::new(system_id(identifier)) };
            let is_switch = graph.nodes[number].role == Role::Switch;
            is_switch.then(|| System::new(Time::ZERO, settings, ports, timers))
        };
        let systems: Vec<Option<System>> = ports.into_iter().enumerate().map(system).collect();
        let waits = [timers.retransmit, timers.complete, timers.generation, timers.hello, timers.acknowledge];
        let mut world = World {
            graph,
            trunks: ends,
            wish_of: vec![None; systems.len()],
            systems,
            far,
            under_way: BTreeSet::new(),
            wishes: BTreeSet::new(),
            // By then everybody has said again whatever it had to say.
            quiet: waits.into_iter().max().unwrap_or(Span::ZERO) + Span::from_secs(1),
            now: Time::ZERO,
            since: Time::ZERO,
            changed: Time::ZERO,
            sent: 0,
            sent_until_change: 0,
        };
        (0..world.systems.len() as u32).for_each(|node| world.note_wish(node, Time::ZERO));
        world
    }

    /// What every switch has learned.
    pub(super) fn topologies(&self) -> impl Iterator<Item = (NodeId, Topology)> + '_ {
        (0..).map(NodeId).zip(&self.systems).filter_map(|(node, system)| Some((node, system.as_ref()?.topology())))
    }

    /// The cables between switches, with node and circuit of both ends.
    pub(super) fn trunks(&self) -> impl Iterator<Item = (u32, [(NodeId, u16); 2])> + '_ {
        self.trunks.iter().map(|trunk| (trunk.cable, trunk.ends))
    }

    /// Whether both ends of a cable know that they are heard.
    pub(super) fn is_up(&self, cable: u32) -> bool {
        let up = |(node, circuit): (NodeId, u16)| {
            let system = self.systems[node.0 as usize].as_ref();
            system.and_then(|it| it.adjacency(usize::from(circuit))).is_some_and(|it| it.state == State::Up)
        };
        self.trunks.iter().any(|trunk| trunk.cable == cable && trunk.ends.into_iter().all(up))
    }

    /// From now on these cables are down and all others work; their ends see it at once.
    pub(super) fn fail(&mut self, down: &[u32]) {
        self.since = self.now;
        self.changed = self.now;
        (self.sent, self.sent_until_change) = (0, 0);
        for number in 0..self.trunks.len() {
            let works = !down.contains(&self.trunks[number].cable);
            if works == self.trunks[number].works {
                continue;
            }
            self.trunks[number].works = works;
            self.under_way.retain(|flight| works || flight.trunk != number);
            for (node, circuit) in self.trunks[number].ends {
                if let Some(system) = &mut self.systems[node.0 as usize] {
                    match works {
                        true => system.handle_link_up(self.now, usize::from(circuit)),
                        false => system.handle_link_down(self.now, usize::from(circuit)),
                    }
                }
                self.note_wish(node.0, self.now);
            }
        }
    }

    /// Goes on until nothing has changed for longer than everybody needs to say everything again.
    pub(super) fn come_to_rest(&mut self) -> Rest {
        let mut touched = BTreeSet::new();
        let limit = self.since + PATIENCE;
        let mut settled = true;
        loop {
            let arrival = self.under_way.first().map(|flight| flight.at);
            let wish = self.wishes.first().map(|&(at, _)| at);
            let Some(now) = arrival.into_iter().chain(wish).min() else { break };
            if now > self.changed + self.quiet || now > limit {
                settled = now <= limit;
                break;
            }
            self.now = now;
            while let Some(flight) = self.under_way.pop_first() {
                if flight.at > now {
                    self.under_way.insert(flight);
                    break;
                }
                let (node, circuit) = self.trunks[flight.trunk].ends[flight.end];
                if let Some(system) = &mut self.systems[node.0 as usize] {
                    system.handle_frame(now, usize::from(circuit), &flight.bytes);
                    touched.insert(node.0);
                }
            }
            while let Some(&(_, node)) = self.wishes.first().filter(|&&(at, _)| at <= now) {
                self.wishes.pop_first();
                self.wish_of[node as usize] = None;
                touched.insert(node);
            }
            while let Some(node) = touched.pop_first() {
                self.speak(node);
            }
        }
        let converged = self.changed.saturating_since(self.since);
        Rest { converged, frames: self.sent_until_change, settled }
    }

    /// Sends what a switch has to say.
    fn speak(&mut self, node: u32) {
        let mut buffer = [0; LARGEST_FRAME];
        let Some(system) = &mut self.systems[node as usize] else { return };
        while let Some((circuit, length)) = system.poll_transmit(self.now, &mut buffer) {
            let (trunk, end) = self.far[node as usize][circuit];
            if !self.trunks[trunk].works {
                continue;
            }
            let link = &self.graph.cables[self.trunks[trunk].cable as usize].link;
            let on_wire = Wire::new(link.rate).serialise(Bytes::new(length as u64 + OVERHEAD));
            self.sent += 1;
            let (number, bytes) = (self.sent, buffer[..length].to_vec());
            self.under_way.insert(Flight { at: self.now + on_wire + link.latency, number, trunk, end, bytes });
        }
        if system.changed_at() > self.changed {
            self.changed = system.changed_at();
            self.sent_until_change = self.sent;
        }
        // Not before the next instant, so that time goes on whatever a bridge wishes.
        self.note_wish(node, self.now.saturating_add(Span::from_picos(1)));
    }

    fn note_wish(&mut self, node: u32, soonest: Time) {
        if let Some(at) = self.wish_of[node as usize].take() {
            self.wishes.remove(&(at, node));
        }
        if let Some(at) = self.systems[node as usize].as_ref().and_then(System::poll_at) {
            let at = at.max(soonest);
            self.wish_of[node as usize] = Some(at);
            self.wishes.insert((at, node));
        }
    }
}
