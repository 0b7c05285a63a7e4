//! Who waits for whom: the tree of congestion, and the circle that never ends.
//!
//! An input buffer is closed while its sender obeys it and nothing is on its way that could change that: the sender is
//! paused and the buffer wants it so, or the sender's next frame has no credits and none are coming. A closed buffer
//! waits for the outputs its frames want; an output waits for the buffer at its far end, if that is closed.
//! Following this from the buffers whose outputs do move, outwards, gives the tree of congestion. What cannot be
//! reached that way can never move again; a circle in it is a deadlock, and neither refreshed pauses nor traffic
//! elsewhere count as progress.

use crate::frame::Frame;
use crate::network::{Device, Network};
use crate::plan::{Hold, Plan, Rule, WaitingRoom};
use crate::port::DOWN;
use crate::probe::Probe;
use crate::spec::BypassReading;
use std::collections::{BTreeMap, BTreeSet};
use units::{Rate, Time};

/// A buffer: global number of the port by which frames enter it, and the class it counts under.
type Buffer = (u32, u8);

/// One buffer of a deadlock, waiting for the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The switch.
    pub node: String,
    /// The port by which the waiting frames came in.
    pub input: u16,
    /// The port by which they want to leave.
    pub output: u16,
    /// Their class.
    pub class: u8,
    /// Flows that have frames here for that output, a few of them.
    pub flows: Vec<u32>,
}

/// A circle of buffers that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// When it was found: at the second checkpoint after it closed, or later if pauses were just being renewed.
    pub at: Time,
    /// Each waits for the next and the last for the first.
    pub cycle: Vec<Waiting>,
}

impl std::fmt::Display for Deadlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "deadlock: each of these waits for the next, and the last for the first")?;
        for waiting in &self.cycle {
            let Waiting { node, input, output, class, flows } = waiting;
            write!(f, "\n  {node}: in by port {input}, out by port {output}, class {class}, flows {flows:?}")?;
        }
        Ok(())
    }
}

/// One link that is held back, in the tree of congestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Global number of the port that must wait.
    pub sender: u32,
    /// Global number of the port that holds it back.
    pub holder: u32,
    /// Class.
    pub class: u8,
    /// 0 next to a root, and one more for each link further away; `None` in or behind a deadlock or a receiver that
    /// does not consume.
    pub depth: Option<u32>,
    /// The outputs (global ports) that the holder's frames wait for, with the bytes for each.
    pub waits_for: Vec<(u32, u64)>,
}

/// What waits in one closed buffer.
#[derive(Default)]
struct Contents {
    /// What waits, oldest first; frames for the same output are counted together where their order does not matter.
    frames: Vec<Group>,
    /// Input FIFO: how far its bypass reaches, and in which reading.
    fifo: Option<(u8, BypassReading)>,
    /// Room that would open the buffer again: at most this may remain.
    opens_at: u32,
    /// A host that consumes nothing.
    dead: bool,
}

/// Frames of one buffer for one output.
struct Group {
    output: u32,
    class: u8,
    units: u32,
    /// A few of the flows.
    flows: Vec<u32>,
}

/// A look at the whole network at one instant.
pub(crate) struct Snapshot<'a> {
    plan: &'a Plan,
    closed: BTreeMap<Buffer, Contents>,
    /// Outputs whose cable has failed for good.
    down: BTreeSet<u32>,
    /// Room behind the crossbar of outputs with closed buffers at their far end, in switches that have some.
    room: BTreeMap<Buffer, u32>,
}

impl<'a> Snapshot<'a> {
    pub(crate) fn new<P: Probe>(plan: &'a Plan, models: &[&Network<P>], port_at: &[(u32, u32)]) -> Snapshot<'a> {
        let mut snapshot = Snapshot { plan, closed: BTreeMap::new(), down: BTreeSet::new(), room: BTreeMap::new() };
        for network in models {
            for node in 0..network.nodes.len() {
                snapshot.look_at(network, node, models, port_at);
            }
        }
        snapshot
    }

    fn look_at<P: Probe>(&mut self, network: &Network<P>, node: usize, models: &[&Network<P>], port_at: &[(u32, u32)]) {
        let state = &network.nodes[node];
        let mut any = false;
        for p in state.first_port..state.first_port + u32::from(state.ports) {
            let port = &network.ports[p as usize];
            if port.flags & DOWN != 0 && state.script.is_empty() {
                self.down.insert(port.global);
            }
            let (shard, far) = port_at[self.plan.ports[port.global as usize].peer as usize];
            let far = Far { network: models[shard as usize], port: far };
            for class in 0..network.classes as u8 {
                let rule = network.rule(p, class);
                if rule.account != class {
                    continue;
                }
                if let Some(opens_at) = closed_until(network, p, class, &far) {
                    any = true;
                    let mut contents = Contents { opens_at, ..Contents::default() };
                    if let Device::Host(host) = state.device {
                        let service = network.hosts[host as usize].service.as_ref();
                        let halted = service.is_some_and(|service| service.rate == Some(Rate::ZERO));
                        contents.dead = halted && state.script.is_empty();
                    }
                    self.closed.insert((port.global, class), contents);
                }
            }
        }
        if let Device::Switch(switch) = state.device
            && any
        {
            self.collect(network, switch, state.first_port, state.ports);
        }
    }

    /// Notes what waits in the closed buffers of a switch.
    fn collect<P: Probe>(&mut self, network: &Network<P>, switch: u32, first: u32, ports: u16) {
        let state = &network.switches[switch as usize];
        let kind = &network.plan.switches[state.kind as usize];
        let base = network.ports[first as usize].global;
        let rules = &network.plan.rules[network.ports[first as usize].rules as usize];
        // The switch's closed buffers by (input, class), taken out while they are filled.
        let mut open: Vec<Option<Contents>> = (0..u32::from(ports))
            .flat_map(|input| (0..network.classes as u8).map(move |class| (base + input, class)))
            .map(|buffer| self.closed.remove(&buffer))
            .collect();
        let mut note = |frame: &Frame| {
            let rule = &rules[frame.class as usize];
            let place = usize::from(frame.input) * network.classes + usize::from(rule.account);
            let Some(contents) = &mut open[place] else { return };
            contents.fifo = kind.fifo;
            let (output, class) = (base + u32::from(frame.output), frame.class);
            let same = |group: &&mut Group| group.output == output && group.class == class;
            let known = if kind.fifo.is_some() { None } else { contents.frames.iter_mut().find(same) };
            match known {
                Some(group) => {
                    group.units += rule.units(frame.len);
                    if group.flows.len() < 8 && !group.flows.contains(&frame.flow) {
                        group.flows.push(frame.flow);
                    }
                }
                None => {
                    let units = rule.units(frame.len);
                    contents.frames.push(Group { output, class, units, flows: vec![frame.flow] });
                }
            }
        };
        if let Some(crossbar) = &state.crossbar {
            crossbar.queues().for_each(|queue| queue.iter(&network.pool).for_each(|(_, frame)| note(frame)));
        }
        for p in first..first + u32::from(ports) {
            for class in 0..network.classes as u8 {
                let lane = &network.lanes[network.lane(p, class)];
                if kind.room == WaitingRoom::Both {
                    let room = kind.output_buffer.saturating_sub(lane.bytes);
                    self.room.insert((network.ports[p as usize].global, class), room);
                } else {
                    lane.queue.iter(&network.pool).for_each(|(_, frame)| note(frame));
                }
            }
        }
        for (place, contents) in open.into_iter().enumerate() {
            let buffer = (base + (place / network.classes) as u32, (place % network.classes) as u8);
            self.closed.extend(contents.map(|contents| (buffer, contents)));
        }
    }

    /// The closed buffer that an output waits for.
    fn blocker(&self, output: u32, class: u8) -> Option<Buffer> {
        let peer = self.plan.ports[output as usize].peer;
        let rules = &self.plan.rules[self.plan.ports[peer as usize].rules as usize];
        let buffer = (peer, rules[class as usize].account);
        self.closed.contains_key(&buffer).then_some(buffer)
    }

    /// Buffers that can open again, with their distance from a root.
    fn depths(&self) -> BTreeMap<Buffer, u32> {
        let mut depths: BTreeMap<Buffer, u32> = BTreeMap::new();
        for round in 0.. {
            let mut opened = Vec::new();
            for (&buffer, contents) in self.closed.iter().filter(|(buffer, _)| !depths.contains_key(buffer)) {
                if self.can_open(contents, &depths) {
                    opened.push(buffer);
                }
            }
            if opened.is_empty() {
                break;
            }
            depths.extend(opened.into_iter().map(|buffer| (buffer, round)));
        }
        depths
    }

    /// Whether enough of a buffer's frames can leave, given which buffers open.
    fn can_open(&self, contents: &Contents, opened: &BTreeMap<Buffer, u32>) -> bool {
        if contents.dead {
            return false;
        }
        let (mut remains, mut stuck, mut passed) = (0u32, 0u32, 0u32);
        for &Group { output, class, units, .. } in &contents.frames {
            let moves = !self.down.contains(&output)
                && self.blocker(output, class).is_none_or(|buffer| opened.contains_key(&buffer));
            let reached = match contents.fifo {
                None => true,
                Some((bypass, BypassReading::Lookahead)) => stuck <= u32::from(bypass),
                // Each that passes a stuck frame uses up one of the times it may be overtaken.
                Some((bypass, BypassReading::PerPacket)) => stuck == 0 || passed < u32::from(bypass),
            };
            if moves && reached {
                passed += u32::from(stuck > 0);
                continue;
            }
            // Some of them still find room behind the crossbar.
            remains += units.saturating_sub(self.room.get(&(output, class)).copied().unwrap_or(0));
            stuck += 1;
        }
        remains <= contents.opens_at
    }

    /// A circle of buffers that can never open.
    pub(crate) fn deadlock(&self, at: Time, name: impl Fn(u32) -> String) -> Option<Deadlock> {
        if self.closed.is_empty() {
            return None;
        }
        let opens = self.depths();
        let stuck = |buffer: &Buffer| self.closed.contains_key(buffer) && !opens.contains_key(buffer);
        // Each stuck buffer points to one stuck buffer it waits for, where there is one; walk until one comes again.
        for &start in self.closed.keys().filter(|buffer| stuck(buffer)) {
            let mut walk: Vec<(Buffer, u32, u8)> = Vec::new();
            let mut here = start;
            loop {
                if let Some(first) = walk.iter().position(|&(buffer, _, _)| buffer == here) {
                    let cycle =
                        walk[first..].iter().map(|&(buffer, output, class)| self.waiting(buffer, output, class, &name));
                    return Some(Deadlock { at, cycle: cycle.collect() });
                }
                let next = self.closed[&here].frames.iter().find_map(|&Group { output, class, .. }| {
                    self.blocker(output, class).filter(&stuck).map(|buffer| (buffer, output, class))
                });
                let Some((buffer, output, class)) = next else { break };
                walk.push((here, output, class));
                here = buffer;
            }
        }
        None
    }

    fn waiting(&self, buffer: Buffer, output: u32, class: u8, name: &impl Fn(u32) -> String) -> Waiting {
        let mine = self.closed[&buffer].frames.iter().filter(|group| (group.output, group.class) == (output, class));
        let mut flows: Vec<u32> = mine.flat_map(|group| group.flows.iter().copied()).collect();
        flows.sort_unstable();
        flows.dedup();
        flows.truncate(8);
        let port = &self.plan.ports[buffer.0 as usize];
        let output = self.plan.ports[output as usize].number;
        Waiting { node: name(port.node), input: port.number, output, class, flows }
    }

    /// The tree of congestion: every link that is held back, the roots' neighbours first.
    pub(crate) fn tree(&self) -> Vec<Held> {
        let depths = self.depths();
        let mut held: Vec<Held> = Vec::new();
        for (&(port, class), contents) in &self.closed {
            let mut waits_for: BTreeMap<u32, u64> = BTreeMap::new();
            for &Group { output, units, .. } in &contents.frames {
                *waits_for.entry(output).or_default() += u64::from(units);
            }
            held.push(Held {
                sender: self.plan.ports[port as usize].peer,
                holder: port,
                class,
                depth: depths.get(&(port, class)).copied(),
                waits_for: waits_for.into_iter().collect(),
            });
        }
        held.sort_by_key(|held| (held.depth.unwrap_or(u32::MAX), held.holder, held.class));
        held
    }
}

impl<P: Probe> Network<P> {
    /// Whether some class of some port has had something to send since the last checkpoint and has sent nothing: only
    /// then can there be a deadlock, and only then is it worth looking for one.
    pub(crate) fn anything_stuck(&mut self) -> bool {
        let mut stuck = false;
        for port in &mut self.ports {
            stuck |= port.waiting & !std::mem::take(&mut port.moved) != 0;
        }
        stuck
    }

    /// Whether something is on its way to a port, or waits to set out from the far end, that could let it go on.
    fn news_for(&self, p: u32, far: &Far<'_, P>) -> bool {
        let port = &self.ports[p as usize];
        let there = &far.network.ports[far.port as usize];
        !there.control.is_empty()
            || !self.signals[p as usize].is_empty()
            || port.arriving.iter(&self.pool).any(|(_, frame)| frame.is_link_local())
    }
}

/// The far end of a port, perhaps in another shard.
struct Far<'a, P> {
    network: &'a Network<P>,
    port: u32,
}

/// If the buffer behind a port holds back the sender at its far end: what may remain in it when it lets go.
fn closed_until<P: Probe>(network: &Network<P>, p: u32, class: u8, far: &Far<'_, P>) -> Option<u32> {
    let rule: &Rule = network.rule(p, class);
    let (sender, port) = (&far.network.ports[far.port as usize], &network.ports[p as usize]);
    let here = Far { network, port: p };
    match rule.hold {
        Hold::Nothing => None,
        Hold::Pause { classes, .. } => {
            let closed = port.stopped >> class & 1 == 1 && sender.blocked & classes != 0;
            if !closed || far.network.news_for(far.port, &here) {
                return None;
            }
            // With a shared buffer the level at which it lets go moves, but it always does within the guaranteed part.
            let shared = network.plan.shared_rules[port.rules as usize];
            Some(if shared { rule.capacity } else { rule.xon })
        }
        Hold::CreditFrame { .. } | Hold::CreditSignal { .. } => {
            if sender.waiting >> class & 1 == 0 || far.network.news_for(far.port, &here) {
                return None;
            }
            let len = far.network.shortest_waiting(far.port, class);
            let need = rule.units(len as u16);
            let gate = &far.network.gates[far.network.lane(far.port, class)];
            let starved = gate.limit < gate.spent + u64::from(need);
            starved.then(|| rule.capacity.saturating_sub(need))
        }
    }
}
