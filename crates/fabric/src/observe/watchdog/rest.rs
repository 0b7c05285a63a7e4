//! Classes at rest: nothing that is pending can make a frame of theirs move, see [`moves`](super::moves). So their frames
//! that wait in switches wait for ever; in a lossless class that is a deadlock if they wait in a circle, and else a stall
//! behind a receiver or a cable that will not work again.
//!
//! Every rank looks at its own shards; what they found is put together on the first rank, and its verdict is everybody's.

use super::far::{End, Far};
use super::moves::ALL;
use super::{Buffer, Deadlock, Livelock, Movement, Snapshot, Stall, StallCause, StallRoot, Waiting};
use crate::build::places::Origin;
use crate::build::plan::{NetworkPlan, WaitingRoom};
use crate::build::sparse::Sparse;
use crate::describe::spec::BypassReading;
use crate::machine::frame::Frame;
use crate::machine::network::Network;
use crate::machine::port::DOWN;
use crate::observe::probe::Probe;
use engine::{Encode, Ranks, announce, reduce};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use units::Time;

/// The shards of one rank at one instant.
pub(crate) struct Part<'a, P> {
    pub(crate) plan: &'a NetworkPlan,
    pub(crate) models: &'a [&'a Network<P>],
    /// The first of these shards.
    pub(crate) first: u32,
    /// Where each port of the network is: shard and position.
    pub(crate) port_at: &'a Sparse<(u32, u32)>,
    /// What the far ends on other ranks are like.
    pub(crate) elsewhere: BTreeMap<u32, End>,
    /// Whether nothing is taken to move for now.
    pub(crate) still: Cell<bool>,
}

/// What became of a network at rest.
pub(crate) enum Rest {
    /// Frames wait in a circle.
    Deadlock(Deadlock),
    /// Frames wait without one.
    Stall(Stall),
    /// Frames wait behind copies that bring nothing.
    Livelock(Livelock),
}

engine::encoded!(enum Rest { 0 = Deadlock(deadlock), 1 = Stall(stall), 2 = Livelock(livelock) });

/// An edge of the graph of who waits for whom: the buffer waited for, and the output and class waited at.
pub(super) type Edge = (Buffer, u32, u8);

/// A frame that a switch keeps although it has sent it.
#[derive(Clone, Copy)]
struct KeptCopy {
    /// The buffer.
    buffer: Buffer,
    /// The output it left by, and the node at the far end of that.
    output: u32,
    peer: u32,
    flow: u32,
}

engine::encoded!(struct KeptCopy { buffer, output, peer, flow });

/// Flows that a buffer of a circle names.
const MOST_FLOWS: usize = 8;

/// What waits in switches, and for what: found on each rank, judged for all.
#[derive(Default)]
pub(super) struct Waits {
    edges: BTreeMap<Buffer, Vec<Edge>>,
    /// By flow: the buffers that hold frames of it.
    holders: BTreeMap<u32, BTreeSet<Buffer>>,
    /// Copies kept until the far side of the fabric has the frame.
    copies: Vec<KeptCopy>,
    /// Outputs that will never send, with the node at their far end, and whether their cable has failed.
    dead: BTreeMap<u32, (u32, bool)>,
    /// By input, output and class: a few of the flows.
    flows: BTreeMap<(u32, u32, u8), BTreeSet<u32>>,
    /// Of the ports above, the node and the number on it.
    ports: BTreeMap<u32, (u32, u16)>,
}

/// The entries of a map as a list, which can be encoded.
fn listed<K: Copy, V: Clone>(map: &BTreeMap<K, V>) -> Vec<(K, V)> {
    map.iter().map(|(&key, value)| (key, value.clone())).collect()
}

impl Encode for Waits {
    fn encode(&self, out: &mut Vec<u8>) {
        let Waits { edges, holders, copies, dead, flows, ports } = self;
        let lists = |set: &BTreeSet<u32>| set.iter().copied().collect::<Vec<u32>>();
        listed(edges).encode(out);
        let holders = holders.iter().map(|(&flow, set)| (flow, set.iter().copied().collect::<Vec<Buffer>>()));
        holders.collect::<Vec<_>>().encode(out);
        copies.encode(out);
        listed(dead).encode(out);
        flows.iter().map(|(&place, set)| (place, lists(set))).collect::<Vec<_>>().encode(out);
        listed(ports).encode(out);
    }

    fn decode(input: &mut &[u8]) -> Option<Waits> {
        let edges = Vec::<(Buffer, Vec<Edge>)>::decode(input)?.into_iter().collect();
        let holders = Vec::<(u32, Vec<Buffer>)>::decode(input)?;
        let holders = holders.into_iter().map(|(flow, list)| (flow, list.into_iter().collect())).collect();
        let copies = Vec::decode(input)?;
        let dead = Vec::<(u32, (u32, bool))>::decode(input)?.into_iter().collect();
        let flows = Vec::<((u32, u32, u8), Vec<u32>)>::decode(input)?;
        let flows = flows.into_iter().map(|(place, list)| (place, list.into_iter().collect())).collect();
        let ports = Vec::<(u32, (u32, u16))>::decode(input)?.into_iter().collect();
        Some(Waits { edges, holders, copies, dead, flows, ports })
    }
}

impl Waits {
    /// What another rank found is added. A port is on one rank; a flow may be held on several.
    pub(super) fn add(&mut self, other: Waits) {
        let Waits { edges, holders, copies, dead, flows, ports } = other;
        self.edges.extend(edges);
        for (flow, buffers) in holders {
            self.holders.entry(flow).or_default().extend(buffers);
        }
        self.copies.extend(copies);
        self.dead.extend(dead);
        self.flows.extend(flows);
        self.ports.extend(ports);
    }

    /// What became of a network in which so many frames wait for ever.
    pub(super) fn verdict(mut self, at: Time, frames: u64, name: &impl Fn(u32) -> String) -> Rest {
        for &KeptCopy { buffer, output, flow, .. } in &self.copies {
            for &holder in self.holders.get(&flow).into_iter().flatten().filter(|&&holder| holder != buffer) {
                self.edges.entry(buffer).or_default().push((holder, output, buffer.1));
            }
        }
        for list in self.edges.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        if let Some(cycle) = find_cycle(&self.edges) {
            let cycle = cycle.into_iter().map(|(buffer, edge)| self.waiting(buffer, edge, name)).collect();
            return Rest::Deadlock(Deadlock { at, cycle });
        }
        let roots = self.dead.iter().map(|(port, &(peer, failed))| {
            let (node, output) = self.ports[port];
            let cause = if failed { StallCause::FailedCable } else { StallCause::DeadReceiver };
            StallRoot { node: name(node), output, peer: name(peer), cause }
        });
        // The receipt of a copy whose frame is nowhere is lost, or the frame was.
        let lost = self.copies.iter().filter(|copy| !self.holders.contains_key(&copy.flow));
        let lost: BTreeMap<u32, u32> = lost.map(|copy| (copy.output, copy.peer)).collect();
        let copies = lost.iter().map(|(port, &peer)| {
            let ((node, output), cause) = (self.ports[port], StallCause::LostReceipts);
            StallRoot { node: name(node), output, peer: name(peer), cause }
        });
        Rest::Stall(Stall {
            at,
            frames,
            roots: roots.chain(copies).collect(),
            waiting: 0,
            awaited: Vec::new(),
            futile: 0,
        })
    }

    fn waiting(&self, buffer: Buffer, (_, output, class): Edge, name: &impl Fn(u32) -> String) -> Waiting {
        let ((node, input), (_, number)) = (self.ports[&buffer.0], self.ports[&output]);
        let mut flows = self.flows.get(&(buffer.0, output, class)).cloned().unwrap_or_default();
        flows.extend(self.copies.iter().filter(|copy| copy.buffer == buffer).map(|copy| copy.flow));
        let flows = flows.into_iter().take(MOST_FLOWS).collect();
        Waiting { node: name(node), input, output: number, class, flows }
    }
}

impl<'a, P: Probe> Part<'a, P> {
    /// The far end of a port.
    pub(super) fn far(&self, network: &Network<P>, p: u32) -> Far<'a, P> {
        let peer = self.plan.ports[network.ports[p as usize].global as usize].peer;
        let (shard, port) = self.port_at[peer as usize];
        match self.models.get(shard.wrapping_sub(self.first) as usize) {
            Some(network) => Far::Here { network, port },
            None => Far::Elsewhere(Box::new(self.elsewhere.get(&peer).copied().unwrap_or_default())),
        }
    }

    /// Whether frames wait that can never move again: in a circle, or, of classes at rest, at all. `since` is what happened
    /// since the last inspection. All ranks take part, and have the same answer.
    pub(crate) fn judge(
        &self,
        ranks: &mut dyn Ranks,
        at: Time,
        since: Movement,
        name: &impl Fn(u32) -> String,
    ) -> Option<Rest> {
        let whole = reduce(ranks, Snapshot::new(self), Snapshot::add);
        let circle = announce(ranks, whole.map(|snapshot| snapshot.deadlock(at, name)));
        match circle {
            Some(deadlock) => Some(Rest::Deadlock(deadlock)),
            None if since.stuck & !since.moved != 0 => self.rest(ranks, at, since.moved, name),
            None => None,
        }
    }

    /// What became of classes at rest of which frames wait in lossless buffers of switches, if there are such classes;
    /// those in `moved` are not. In a network at rest, flows may also wait for others.
    fn rest(&self, ranks: &mut dyn Ranks, at: Time, moved: u8, name: &impl Fn(u32) -> String) -> Option<Rest> {
        let held = if moved == 0 { self.held_flows(ranks) } else { 0 };
        if held == 0 && self.lossless_waiting(ranks, ALL & !moved) == 0 {
            return None;
        }
        let restless = self.restless(ranks, moved);
        let frames = self.lossless_waiting(ranks, !restless);
        if frames == 0 && (held == 0 || restless != 0) {
            return None;
        }
        let awaited = if held > 0 { self.awaited(ranks) } else { Vec::new() };
        let whole = reduce(ranks, self.waits(!restless, Time::MAX), Waits::add);
        let verdict = whole.map(|waits| match waits.verdict(at, frames, name) {
            Rest::Stall(stall) => Rest::Stall(Stall { waiting: held, awaited, ..stall }),
            deadlock => deadlock,
        });
        let verdict = announce(ranks, verdict);
        // Frames behind a dead end are a stall of the whole network, or of a part of it while the rest goes on.
        Some(verdict).filter(|verdict| restless == 0 || matches!(verdict, Rest::Deadlock(_)))
    }

    /// Flows that wait for others, on all ranks.
    fn held_flows(&self, ranks: &mut dyn Ranks) -> u64 {
        let waiting = self.models.iter().filter_map(|network| network.waiting.as_ref());
        let own: u64 = waiting.map(|waiting| waiting.held().count() as u64).sum();
        ranks.share(own.to_bytes()).iter().map(|bytes| u64::from_bytes(bytes)).sum()
    }

    /// A few of the flows that others wait for and that do not wait themselves; on the first rank.
    fn awaited(&self, ranks: &mut dyn Ranks) -> Vec<u32> {
        let waiting = || self.models.iter().filter_map(|network| network.waiting.as_ref());
        let own: (Vec<u32>, Vec<u32>) =
            (waiting().flat_map(|it| it.held()).collect(), waiting().flat_map(|it| it.awaited()).collect());
        let both = reduce(ranks, own, |all, mut more| {
            all.0.append(&mut more.0);
            all.1.append(&mut more.1);
        });
        let Some((held, awaited)) = both else { return Vec::new() };
        let held: BTreeSet<u32> = held.into_iter().collect();
        let roots: BTreeSet<u32> = awaited.into_iter().filter(|flow| !held.contains(flow)).collect();
        roots.into_iter().take(MOST_FLOWS).collect()
    }

    /// Frames of those classes that wait in switches and may not be lost, and copies that hold back others, on all ranks.
    fn lossless_waiting(&self, ranks: &mut dyn Ranks, classes: u8) -> u64 {
        let own = |network: &&Network<P>| {
            network.lossless_waiting(classes, Time::MAX) + self.copies_in_the_way(network, classes)
        };
        let frames: u64 = self.models.iter().map(own).sum();
        ranks.share(frames.to_bytes()).iter().map(|bytes| u64::from_bytes(bytes)).sum()
    }

    /// Copies that are kept in buffers of those classes to which somebody has something to send.
    fn copies_in_the_way(&self, network: &Network<P>, classes: u8) -> u64 {
        let in_the_way = |copy: &KeptCopy| {
            let (port, account) = copy.buffer;
            let (_, p) = self.port_at[port as usize];
            let counted = |&class: &u8| network.rule(p, class).account == account && classes >> class & 1 == 1;
            let counted = (0..network.classes as u8).filter(counted).fold(0, |mask, class| mask | 1 << class);
            self.far(network, p).waiting() & counted != 0
        };
        network.kept_copies().iter().filter(|copy| in_the_way(copy)).count() as u64
    }

    /// Who waits for whom on this rank among frames of those classes that came no later than `before`, and the outputs that
    /// will never send.
    pub(super) fn waits(&self, classes: u8, before: Time) -> Waits {
        let mut waits = Waits::default();
        for network in self.models {
            for (switch, state) in (0..).zip(&network.switches) {
                let first = state.first_port;
                network.each_waiting(switch, &mut |frame, reached| {
                    if classes >> frame.class & 1 == 0 || frame.at > before {
                        return;
                    }
                    let [input, output] = [frame.input, frame.output].map(|number| first + u32::from(number));
                    let [input, output] = [input, output].map(|port| &network.ports[port as usize]);
                    let buffer = (input.global, self.plan.rule(input.global, frame.class).account);
                    waits.holders.entry(frame.flow).or_default().insert(buffer);
                    let flows = waits.flows.entry((input.global, output.global, frame.class)).or_default();
                    flows.insert(frame.flow);
                    if flows.len() > MOST_FLOWS {
                        flows.pop_last();
                    }
                    for port in [input, output] {
                        waits.ports.entry(port.global).or_insert_with(|| self.place(port.global));
                    }
                    let peer = self.plan.ports[output.global as usize].peer;
                    let next = &self.plan.ports[peer as usize];
                    let failed = output.flags & DOWN != 0;
                    if failed || next.at_host {
                        waits.dead.insert(output.global, (next.node, failed));
                    } else if reached {
                        let account = self.plan.rule(peer, frame.class).account;
                        waits.edges.entry(buffer).or_default().push(((peer, account), output.global, frame.class));
                    }
                });
            }
            for copy in network.kept_copies() {
                for port in [copy.buffer.0, copy.output] {
                    waits.ports.entry(port).or_insert_with(|| self.place(port));
                }
                waits.copies.push(copy);
            }
        }
        for list in waits.edges.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        waits
    }

    /// The node of a port and its number there.
    fn place(&self, port: u32) -> (u32, u16) {
        let plan = &self.plan.ports[port as usize];
        (plan.node, plan.number)
    }
}

/// A circle in a graph: each buffer with the edge that leads on.
pub(super) fn find_cycle(edges: &BTreeMap<Buffer, Vec<Edge>>) -> Option<Vec<(Buffer, Edge)>> {
    let mut finished: BTreeSet<Buffer> = BTreeSet::new();
    for &start in edges.keys() {
        // The walk: each buffer with the position of its edge that is followed.
        let mut walk: Vec<(Buffer, usize)> = vec![(start, 0)];
        while let Some(&(here, position)) = walk.last() {
            let list = edges.get(&here).filter(|_| !finished.contains(&here));
            let Some(&(to, _, _)) = list.and_then(|list| list.get(position)) else {
                finished.insert(here);
                walk.pop();
                if let Some((_, position)) = walk.last_mut() {
                    *position += 1;
                }
                continue;
            };
            if let Some(first) = walk.iter().position(|&(buffer, _)| buffer == to) {
                let edge = |&(buffer, position): &(Buffer, usize)| (buffer, edges[&buffer][position]);
                return Some(walk[first..].iter().map(edge).collect());
            }
            walk.push((to, 0));
        }
    }
    None
}

impl<P: Probe> Network<P> {
    /// Frames of those classes that wait in switches since `before` or longer and may not be lost.
    pub(super) fn lossless_waiting(&self, classes: u8, before: Time) -> u64 {
        let mut frames = 0;
        for (switch, state) in (0..).zip(&self.switches) {
            let lossless =
                |frame: &Frame| classes >> frame.class & 1 == 1 && self.rule(state.first_port, frame.class).lossless;
            self.each_waiting(switch, &mut |frame, _| frames += u64::from(frame.at <= before && lossless(frame)));
        }
        frames
    }

    /// Shows every frame that came to a switch and waits there, and whether it holds room at its input from which an
    /// output may take it.
    pub(crate) fn each_waiting(&self, switch: u32, show: &mut impl FnMut(&Frame, bool)) {
        let state = &self.switches[switch as usize];
        let kind = &self.plan.switches[state.kind as usize];
        for queue in state.crossbar.iter().flat_map(|crossbar| crossbar.queues()) {
            queue.iter(&self.pool).for_each(|(_, frame)| show(frame, true));
        }
        let ports = self.ports_of(switch);
        for lane in self.lane(ports.start, 0)..self.lane(ports.end, 0) {
            let mut reached = state.room != WaitingRoom::Both;
            for (passed, (_, frame)) in self.lanes[lane].queue.iter(&self.pool).enumerate() {
                show(frame, reached);
                reached &= match kind.fifo {
                    None => true,
                    Some((bypass, BypassReading::Lookahead)) => passed < usize::from(bypass),
                    Some((bypass, BypassReading::PerPacket)) => frame.overtaken() < bypass,
                };
            }
        }
    }

    /// Copies kept until the far side of the fabric has the frame.
    fn kept_copies(&self) -> Vec<KeptCopy> {
        let mut kept = Vec::new();
        for state in &self.switches {
            let Some(congestion_point) = &state.congestion_point else { continue };
            for (flow, class) in congestion_point.copies() {
                let Origin { source, destination: Some(destination), .. } = self.origin(flow) else { continue };
                let port = |host: u32| {
                    let outputs = self.plan.tables[state.tables as usize].outputs(state.row, host);
                    outputs.first().map(|&output| state.first_port + u32::from(output))
                };
                let (Some(input), Some(output)) = (port(source), port(destination)) else { continue };
                let buffer = (self.ports[input as usize].global, self.rule(input, class).account);
                let output = self.ports[output as usize].global;
                let peer = self.plan.ports[self.plan.ports[output as usize].peer as usize].node;
                kept.push(KeptCopy { buffer, output, peer, flow });
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffer, Edge, find_cycle};
    use std::collections::BTreeMap;

    fn graph(edges: &[(u32, u32)]) -> BTreeMap<Buffer, Vec<Edge>> {
        let mut graph: BTreeMap<Buffer, Vec<Edge>> = BTreeMap::new();
        for &(from, to) in edges {
            graph.entry((from, 0)).or_default().push(((to, 0), from, 0));
        }
        graph
    }

    #[test]
    fn a_circle_is_found_behind_a_tail_and_a_dead_end() {
        let cycle = find_cycle(&graph(&[(0, 1), (1, 9), (1, 2), (2, 3), (3, 1)])).unwrap();
        assert_eq!(cycle.iter().map(|((buffer, _), _)| *buffer).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn a_tree_has_none() {
        assert!(find_cycle(&graph(&[(0, 2), (1, 2), (2, 3), (0, 3)])).is_none());
    }
}
