//! Roots: why a link is blocked.
//!
//! The buffer at the far end of a blocked link holds frames that wait for outputs. An output that is blocked in turn is
//! followed; one that is not is a root, since frames come to it faster than it sends them. Blame is divided by the bytes
//! that wait for each output, and at a root among the flows by the bytes that wait there.

use super::ledger::{NONE, Root, split};
use super::{Causes, TreeRow};

/// All of a blame, in parts of which the smallest that count are [`LEAST`].
const WHOLE: u64 = 1 << 32;
/// Branches of less are left out.
const LEAST: u64 = WHOLE >> 12;
/// Maximum number of blocked links of a chain.
const LONGEST: usize = 64;
/// Maximum number of outputs that a trace visits.
const MOST_STEPS: usize = 4096;
/// Flows of a root that are named; others with fewer bytes are left out.
const MOST_FLOWS: usize = 32;

/// A root of what blocks a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RootAt {
    pub(super) root: Root,
    /// The output that is the root.
    pub(super) port: u32,
    /// The blocked link at whose far end frames wait for that output.
    pub(super) entry: u32,
}

/// The roots of what blocks a port, and their flows, with weights.
#[derive(Clone, Debug, Default)]
pub(super) struct Blame {
    /// Roots and flows with weights; never empty, the largest first.
    pub(super) parts: Vec<((RootAt, u32), u64)>,
    /// The roots alone.
    pub(super) roots: Vec<(RootAt, u64)>,
    /// The ports whose state led to these roots.
    pub(super) visited: Vec<u32>,
}

/// A trace under way.
#[derive(Debug, Default)]
struct Found {
    roots: Vec<(RootAt, u64)>,
    visited: Vec<u32>,
    steps: usize,
    /// The links of each cycle.
    cycles: Vec<Vec<u32>>,
}

impl Found {
    fn add(&mut self, at: RootAt, weight: u64) {
        match self.roots.iter_mut().find(|(known, _)| *known == at) {
            Some((_, sum)) => *sum += weight,
            None => self.roots.push((at, weight)),
        }
    }
}

/// The port that stands for a cycle of links: the first by number.
fn first_of(cycle: &[u32]) -> u32 {
    cycle.iter().copied().min().unwrap_or(NONE)
}

impl Causes {
    /// Follows what blocks a class of a port to its roots. The links of cycles are remembered.
    pub(super) fn trace(&mut self, p: u32, class: u8) -> Blame {
        let mut found = Found::default();
        self.follow(p, class, WHOLE, &mut vec![p], &mut found);
        let Found { roots, mut visited, cycles, .. } = found;
        for cycle in cycles {
            self.cycles.entry(first_of(&cycle)).or_default().extend(cycle);
        }
        let mut parts = Vec::new();
        for &(at, weight) in &roots {
            let flows = match at.root {
                Root::Credits | Root::Resume => Vec::new(),
                _ => self.waiting_for(at.port),
            };
            let all: u64 = flows.iter().map(|flow| flow.1).sum();
            if all == 0 {
                parts.push(((at, NONE), weight.max(1)));
            }
            for (flow, bytes) in flows {
                parts.push(((at, flow), (u128::from(weight) * u128::from(bytes) / u128::from(all)) as u64));
            }
        }
        parts.sort_by_key(|&(part, weight)| (std::cmp::Reverse(weight), part));
        visited.sort_unstable();
        visited.dedup();
        Blame { parts, roots, visited }
    }

    /// The roots of what waits for an output that is not blocked.
    pub(super) fn roots_of_output(&self, output: u32, class: u8) -> Vec<(RootAt, u64)> {
        let mut found = Found::default();
        self.add_output(RootAt { root: Root::Output, port: output, entry: output }, class, WHOLE, &mut found);
        found.roots
    }

    /// A sampling instant: what waits is charged up to now, and every blocked link with frames that wait for it is followed to
    /// its roots again.
    pub(super) fn sample(&mut self) {
        let classes = self.map.classes as u8;
        for p in 0..self.ports.len() as u32 {
            self.settle(p);
            let port = &self.ports[p as usize];
            if port.down || port.paused | port.starved == 0 {
                continue;
            }
            for class in (0..classes).filter(|&class| self.ports[p as usize].is_blocked(class)).collect::<Vec<u8>>() {
                self.retrace(p, class);
                self.note_tree(p, class);
            }
        }
    }

    /// Records the roots of what blocks a class of a port, if frames wait for it.
    fn note_tree(&mut self, p: u32, class: u8) {
        let lane = self.lane(p, class);
        let (until, width) = (self.now, self.width);
        if width == u64::MAX || self.blames[lane].is_none() && self.backlogs[lane].bytes == 0 {
            return;
        }
        let roots = match &self.blames[lane] {
            Some(blame) => blame.roots.clone(),
            None => self.trace(p, class).roots,
        };
        let all: u64 = roots.iter().map(|root| root.1).sum();
        let mut sums: Vec<((Root, u32), u64)> = Vec::new();
        for (at, weight) in roots {
            match sums.iter_mut().find(|(known, _)| *known == (at.root, at.port)) {
                Some((_, sum)) => *sum += weight,
                None => sums.push(((at.root, at.port), weight)),
            }
        }
        for ((root, to), weight) in sums {
            let blocked = (u128::from(width) * u128::from(weight) / u128::from(all.max(1))) as u64;
            self.trees.push(TreeRow { until, width, port: p, class, root, to, blocked });
        }
    }

    fn follow(&self, p: u32, class: u8, weight: u64, chain: &mut Vec<u32>, found: &mut Found) {
        found.visited.push(p);
        found.steps += 1;
        let input = self.map.peer(p);
        let node = self.map.node(input);
        if self.map.is_host(node) {
            let entry = chain.iter().rev().nth(1).copied().unwrap_or(p);
            return found.add(RootAt { root: Root::Receiver, port: p, entry }, weight);
        }
        let held = self.held_at(input, class);
        let all: u64 = held.iter().map(|held| held.1).sum();
        if all == 0 {
            return self.add_empty(p, class, weight, found);
        }
        for (place, &((output, class), bytes)) in held.iter().enumerate() {
            let weight = (u128::from(weight) * u128::from(bytes) / u128::from(all)) as u64;
            if weight < LEAST && place > 0 {
                // The largest come first.
                break;
            }
            let port = &self.ports[output as usize];
            if port.down {
                found.visited.push(output);
                found.add(RootAt { root: Root::Link, port: output, entry: p }, weight);
            } else if !port.is_blocked(class) && !self.is_awaited(output) {
                // It sends what has just come: the buffer is small for the time that its sender takes to hear of room.
                found.visited.push(output);
                self.add_empty(p, class, weight, found);
            } else if !port.is_blocked(class) || found.steps >= MOST_STEPS || chain.len() >= LONGEST {
                found.visited.push(output);
                self.add_output(RootAt { root: Root::Output, port: output, entry: p }, class, weight, found);
            } else if let Some(place) = chain.iter().position(|&port| port == output) {
                let cycle = chain[place..].to_vec();
                found.add(RootAt { root: Root::Cycle, port: first_of(&cycle), entry: p }, weight);
                found.cycles.push(cycle);
            } else {
                chain.push(output);
                self.follow(output, class, weight, chain, found);
                chain.pop();
            }
        }
    }

    /// A port is blocked although nothing is in the way of its frames.
    fn add_empty(&self, p: u32, class: u8, weight: u64, found: &mut Found) {
        let starved = self.ports[p as usize].starved >> class & 1 == 1;
        let root = if starved { Root::Credits } else { Root::Resume };
        found.add(RootAt { root, port: p, entry: p }, weight);
    }

    /// Whether frames wait for an output behind the one on its wire.
    fn is_awaited(&self, output: u32) -> bool {
        (0..self.map.classes as u8).any(|class| self.backlogs[self.lane(output, class)].bytes > 0)
    }

    /// An output that is not blocked: a root, except for the part of its backlog that it could have sent while it was
    /// blocked.
    fn add_output(&self, at: RootAt, class: u8, weight: u64, found: &mut Found) {
        let output = at.port;
        let backlog = &self.backlogs[self.lane(output, class)];
        let missed = self.map.carried(output, backlog.blocked).min(backlog.bytes);
        let inherited = match backlog.roots.is_empty() {
            true => 0,
            false => (u128::from(weight) * u128::from(missed) / u128::from(backlog.bytes.max(1))) as u64,
        };
        split(inherited, &backlog.roots, |inherited, share| {
            let entry = if inherited.port == output { at.entry } else { inherited.entry };
            found.add(RootAt { entry, ..inherited }, share);
        });
        if weight > inherited {
            found.add(at, weight - inherited);
        }
    }

    /// The bytes in an input buffer by output and class, the most first, as far as they count for a class. The frame on
    /// the wire counts until it has left.
    fn held_at(&self, input: u32, class: u8) -> Vec<((u32, u8), u64)> {
        let classes = match self.map.pauses_all(input) {
            true => 0..self.map.classes as u8,
            false => class..class + 1,
        };
        let mut held: Vec<((u32, u8), u64)> = Vec::new();
        let mut add = |key: (u32, u8), bytes: u64| match held.iter_mut().find(|(known, _)| *known == key) {
            Some((_, sum)) => *sum += bytes,
            None => held.push((key, bytes)),
        };
        for class in classes {
            for held in &self.buffers[self.lane(input, class)] {
                add((held.output, class), held.bytes);
            }
        }
        for output in self.map.ports_of(self.map.node(input)) {
            let wire = &self.ports[output as usize].wire;
            if wire.input == input && wire.until > self.now && wire.flow != NONE {
                add((output, class), u64::from(wire.length));
            }
        }
        held.sort_by_key(|&(key, bytes)| (std::cmp::Reverse(bytes), key));
        held
    }

    /// The flow with the most bytes of a class at a switch that wait for an output, if there is one.
    pub(super) fn fullest(&self, output: u32, class: u8) -> u32 {
        let mut flows: Vec<(u32, u64)> = Vec::new();
        for input in self.map.ports_of(self.map.node(output)) {
            for held in self.buffers[self.lane(input, class)].iter().filter(|held| held.output == output) {
                match flows.iter_mut().find(|(flow, _)| *flow == held.flow) {
                    Some((_, bytes)) => *bytes += held.bytes,
                    None => flows.push((held.flow, held.bytes)),
                }
            }
        }
        let most = flows.into_iter().max_by_key(|&(flow, bytes)| (bytes, std::cmp::Reverse(flow)));
        most.map_or(NONE, |(flow, _)| flow)
    }

    /// The bytes that wait at a switch for an output, by flow, the most first.
    fn waiting_for(&self, output: u32) -> Vec<(u32, u64)> {
        let mut flows: Vec<(u32, u64)> = Vec::new();
        for input in self.map.ports_of(self.map.node(output)) {
            for class in 0..self.map.classes as u8 {
                let buffer = &self.buffers[self.lane(input, class)];
                let first = buffer.partition_point(|held| held.output < output);
                let here = buffer[first..].iter().take_while(|held| held.output == output);
                flows.extend(here.map(|held| (held.flow, held.bytes)));
            }
        }
        let wire = &self.ports[output as usize].wire;
        if wire.flow != NONE && (flows.is_empty() || wire.until > self.now) {
            flows.push((wire.flow, u64::from(wire.length)));
        }
        flows.sort_unstable();
        flows.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            kept.1 += if same { later.1 } else { 0 };
            same
        });
        flows.sort_by_key(|&(flow, bytes)| (std::cmp::Reverse(bytes), flow));
        flows.truncate(MOST_FLOWS);
        flows
    }
}
