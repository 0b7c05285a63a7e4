//! Who waits for whom: the tree of congestion, and the circle that never ends.
//!
//! An input buffer is closed while its sender obeys it and nothing is on its way that could change that: the sender is
//! paused and the buffer wants it so, or the sender's next frame has no credits and none are coming. A closed buffer
//! waits for the outputs its frames want; an output waits for the buffer at its far end, if that is closed. A buffer may
//! be closed to long frames alone.
//! Following this from the buffers whose outputs do move, outwards, gives the tree of congestion, see [`opening`]. What
//! cannot be reached that way can never move again; a circle in it is a deadlock, and neither refreshed pauses nor
//! traffic elsewhere count as progress.
//!
//! This look errs on one side only: whatever might let a frame go counts as letting it go, so nothing that it calls a
//! deadlock moves again. What it therefore misses is found when a class comes to rest: see [`rest`]. Other classes may
//! go on for ever, as when a source sends copies because its acknowledgements are stuck.

pub(crate) mod far;
mod futile;
mod moves;
mod opening;
pub(crate) mod rest;

use crate::build::plan::{Hold, NetworkPlan, Rule, WaitingRoom};
use crate::machine::frame::Frame;
use crate::machine::network::{Device, Network};
use crate::machine::port::pause::{PAUSE_FRAME, quanta};
use crate::machine::port::{DOWN, Port};
use crate::observe::probe::Probe;
use engine::Encode;
use far::Far;
use opening::{Contents, Group, Opening};
use rest::{Edge, Part, find_cycle};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Rate, Span, Time, Wire};

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

engine::encoded!(struct Waiting { node, input, output, class, flows });

/// Buffers of a circle that a text names.
const MOST_SHOWN: usize = 40;

/// A circle of buffers that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// When it was found: at the second inspection after it closed, or later if pauses were just being renewed.
    pub at: Time,
    /// Each waits for the next and the last for the first.
    pub cycle: Vec<Waiting>,
}

engine::encoded!(struct Deadlock { at, cycle });

impl std::fmt::Display for Deadlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "deadlock: each queue waits for the next one, and the last for the first")?;
        // Of a long circle the beginning and the end are shown.
        let left_out = match self.cycle.len() {
            length if length > MOST_SHOWN => MOST_SHOWN / 2..length - MOST_SHOWN / 2,
            _ => 0..0,
        };
        for (position, waiting) in self.cycle.iter().enumerate() {
            if left_out.contains(&position) {
                if position == left_out.start {
                    write!(f, "\n  ({} more)", units::grouped(left_out.len() as u64))?;
                }
                continue;
            }
            let Waiting { node, input, output, class, flows } = waiting;
            write!(f, "\n  {node}: ingress port {input}, egress port {output}, class {class}, flows {flows:?}")?;
        }
        Ok(())
    }
}

/// Why frames of a lossless class wait for ever although they do not wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StallCause {
    /// The host consumes nothing any more.
    DeadReceiver,
    /// The cable of the port has failed for good.
    FailedCable,
    /// Copies of frames that left by the port are kept, but the frames or their receipts were lost.
    LostReceipts,
}

engine::encoded!(enum StallCause { 0 = DeadReceiver, 1 = FailedCable, 2 = LostReceipts });

/// An output that will never send again, with frames that wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StallRoot {
    /// The switch.
    pub node: String,
    /// The output.
    pub output: u16,
    /// The node at the far end.
    pub peer: String,
    /// Why.
    pub cause: StallCause,
}

engine::encoded!(struct StallRoot { node, output, peer, cause });

/// A network at rest, but for retransmissions in vain, that still holds frames of a lossless class, without a circle, or in
/// which flows wait for flows that cannot complete any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When it was found: at the end of the run.
    pub at: Time,
    /// Frames of lossless classes that wait in switches.
    pub frames: u64,
    /// What they wait for in the end.
    pub roots: Vec<StallRoot>,
    /// Flows that wait for others and never start.
    pub waiting: u64,
    /// The flows that they wait for in the end, and that do not wait themselves; a few of them.
    pub awaited: Vec<u32>,
    /// Flows that retransmit again and again, and nothing new arrives.
    pub futile: u64,
}

engine::encoded!(struct Stall { at, frames, roots, waiting, awaited, futile });

impl std::fmt::Display for Stall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.write(f, |flow| format!("flow {flow}"))
    }
}

impl Stall {
    /// Describes it, with flows named by `name`.
    pub fn describe(&self, name: impl Fn(u32) -> String) -> String {
        let mut text = String::new();
        // Writing to a text cannot fail.
        let _ = self.write(&mut text, name);
        text
    }

    fn write(&self, f: &mut impl std::fmt::Write, name: impl Fn(u32) -> String) -> std::fmt::Result {
        match self.frames {
            0 => write!(f, "stalled: flows wait for others that cannot complete")?,
            frames => write!(f, "stalled: {} lossless frames are stuck in switches", units::grouped(frames))?,
        }
        for StallRoot { node, output, peer, cause } in &self.roots {
            let cause = match cause {
                StallCause::DeadReceiver => "the receiver consumes no frames",
                StallCause::FailedCable => "the link has failed and no route changes",
                StallCause::LostReceipts => "copies of frames are kept whose receipts were lost",
            };
            write!(f, "\n  {node} port {output} to {peer}: {cause}")?;
        }
        if self.futile > 0 {
            let (futile, plural) = (units::grouped(self.futile), if self.futile == 1 { "s" } else { "" });
            let flows = if self.futile == 1 { "flow" } else { "flows" };
            write!(f, "\n  {futile} {flows} only retransmit{plural}, and nothing new arrives")?;
        }
        if self.waiting > 0 {
            let names: Vec<String> = self.awaited.iter().map(|&flow| name(flow)).collect();
            let (waiting, plural) = (units::grouped(self.waiting), if self.waiting == 1 { "" } else { "s" });
            write!(f, "\n  {waiting} flow{plural} never started, waiting for {}", names.join(", "))?;
        }
        Ok(())
    }
}

/// A network that is busy and achieves nothing: flows only retransmit, and lossless frames wait behind their copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Livelock {
    /// When it was found: at the end of the run.
    pub at: Time,
    /// When a frame last arrived that had not arrived before.
    pub since: Time,
    /// Frames of lossless classes that have waited in switches for long.
    pub frames: u64,
    /// Flows that retransmit again and again.
    pub futile: u64,
}

engine::encoded!(struct Livelock { at, since, frames, futile });

impl std::fmt::Display for Livelock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [frames, futile] = [self.frames, self.futile].map(units::grouped);
        let since = Span::from_picos(self.since.as_picos());
        let (flows, plural) = if self.futile == 1 { ("flow", "s") } else { ("flows", "") };
        write!(f, "livelock: {frames} lossless frames wait in switches while retransmissions keep links busy")?;
        write!(f, "\n  {futile} {flows} only retransmit{plural}, and nothing new has arrived since {since}")
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

/// What happened between two inspections.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Movement {
    /// Classes of which some port had something to send and sent nothing: only in them can there be a deadlock, and
    /// only then is it worth looking for one.
    pub(crate) stuck: u8,
    /// Classes of which some port sent something: no such class can have been at rest.
    pub(crate) moved: u8,
}

engine::encoded!(struct Movement { stuck, moved });

impl Movement {
    /// Nothing is known: any class may be stuck.
    pub(crate) const UNKNOWN: Movement = Movement { stuck: u8::MAX, moved: 0 };

    /// What happened here or there.
    pub(crate) fn and(self, other: Movement) -> Movement {
        Movement { stuck: self.stuck | other.stuck, moved: self.moved | other.moved }
    }
}

/// A look at the network, or at the part of it that is on one rank, at one instant.
#[derive(Default)]
pub(crate) struct Snapshot {
    closed: BTreeMap<Buffer, Contents>,
    /// Outputs whose cable has failed for good.
    down: BTreeSet<u32>,
    /// Room behind the crossbar of outputs with closed buffers at their far end, in switches that have some.
    room: BTreeMap<Buffer, u32>,
}

impl Encode for Snapshot {
    fn encode(&self, out: &mut Vec<u8>) {
        let Snapshot { closed, down, room } = self;
        (closed.len() as u64).encode(out);
        closed.iter().for_each(|(buffer, contents)| {
            buffer.encode(out);
            contents.encode(out);
        });
        down.iter().copied().collect::<Vec<u32>>().encode(out);
        room.iter().map(|(&output, &room)| (output, room)).collect::<Vec<_>>().encode(out);
    }

    fn decode(input: &mut &[u8]) -> Option<Snapshot> {
        let closed = Vec::<(Buffer, Contents)>::decode(input)?.into_iter().collect();
        let down = Vec::<u32>::decode(input)?.into_iter().collect();
        Some(Snapshot { closed, down, room: Vec::decode(input)?.into_iter().collect() })
    }
}

impl Snapshot {
    /// Looks at the shards of one rank.
    pub(crate) fn new<P: Probe>(part: &Part<'_, P>) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for network in part.models {
            for node in 0..network.nodes.len() {
                snapshot.look_at(network, node, part);
            }
        }
        snapshot
    }

    /// The look at another part is added.
    pub(crate) fn add(&mut self, other: Snapshot) {
        let Snapshot { closed, down, room } = other;
        self.closed.extend(closed);
        self.down.extend(down);
        self.room.extend(room);
    }

    fn look_at<P: Probe>(&mut self, network: &Network<P>, node: usize, part: &Part<'_, P>) {
        let state = &network.nodes[node];
        let mut any = false;
        for p in state.first_port..state.first_port + u32::from(state.ports) {
            let port = &network.ports[p as usize];
            if port.flags & DOWN != 0 && state.script.is_empty() {
                self.down.insert(port.global);
            }
            let (plan, far) = (&part.plan.ports[port.global as usize], part.far(network, p));
            for class in 0..network.classes as u8 {
                let rule = network.rule(p, class);
                if rule.account != class {
                    continue;
                }
                if let Some(opening) = closed_until(network, p, class, &far, plan.peer) {
                    any = true;
                    let changing = !state.script.is_empty();
                    let held = network.lanes[network.lane(p, class)].held + network.on_the_way(p, class);
                    let mut contents = Contents {
                        frames: Vec::new(),
                        fifo: None,
                        held,
                        opening,
                        dead: false,
                        changing,
                        watched: part.plan.ports[plan.peer as usize].watched >> class & 1 == 1,
                        node: plan.node,
                        input: plan.number,
                        sender: plan.peer,
                    };
                    if let Device::Host(host) = state.device {
                        let service = network.hosts[host as usize].service.get(usize::from(plan.number));
                        let halted = service.is_some_and(|service| service.rate == Some(Rate::ZERO));
                        contents.dead = halted && !changing;
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
        let direct = kind.room == WaitingRoom::Input;
        let mut note = |frame: &Frame| {
            let rule = &rules[frame.class as usize];
            let (units, bytes) = (rule.units(frame.len), u32::from(frame.len));
            let place = usize::from(frame.input) * network.classes + usize::from(rule.account);
            let Some(contents) = &mut open[place] else { return };
            contents.fifo = kind.fifo;
            let (output, class) = (base + u32::from(frame.output), frame.class);
            let same = |group: &&mut Group| group.output == output && group.class == class;
            let known = if kind.fifo.is_some() { None } else { contents.frames.iter_mut().find(same) };
            match known {
                Some(group) => {
                    group.units += units;
                    (group.shortest, group.most) = (group.shortest.min(bytes), group.most.max(units));
                    if group.flows.len() < 8 && !group.flows.contains(&frame.flow) {
                        group.flows.push(frame.flow);
                    }
                }
                None => {
                    let peer = network.plan.ports[output as usize].peer;
                    let next = network.plan.rule(peer, class);
                    contents.frames.push(Group {
                        output,
                        number: frame.output,
                        next: (peer, next.account),
                        class,
                        units,
                        need: if direct { next.units(frame.len) } else { 0 },
                        first: bytes,
                        shortest: bytes,
                        most: units,
                        overtaken: frame.overtaken(),
                        flows: vec![frame.flow],
                    });
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

    /// A circle of buffers that wait for each other's frames, of which none can ever leave.
    pub(crate) fn deadlock(&self, at: Time, name: impl Fn(u32) -> String) -> Option<Deadlock> {
        if self.closed.is_empty() {
            return None;
        }
        let opened = self.depths(true);
        let stays = |group: &&Group| !self.down.contains(&group.output) && !self.can_leave(group, &opened);
        let mut edges: BTreeMap<Buffer, Vec<Edge>> = BTreeMap::new();
        // A circle through a buffer whose sender has a watchdog does not last.
        let lasts = |contents: &Contents| !contents.changing && !contents.watched;
        for (&buffer, contents) in self.closed.iter().filter(|(_, contents)| lasts(contents)) {
            let list = contents.frames.iter().filter(stays).map(|group| (group.next, group.output, group.class));
            let mut list: Vec<Edge> = list.collect();
            list.dedup();
            if !list.is_empty() {
                edges.insert(buffer, list);
            }
        }
        let cycle = find_cycle(&edges)?;
        Some(Deadlock {
            at,
            cycle: cycle.into_iter().map(|(buffer, edge)| self.waiting(buffer, edge, stays, &name)).collect(),
        })
    }

    /// Describes a buffer of a circle by those of its frames that stay.
    fn waiting(
        &self,
        buffer: Buffer,
        (_, output, class): Edge,
        stays: impl Fn(&&Group) -> bool,
        name: &impl Fn(u32) -> String,
    ) -> Waiting {
        let Contents { frames, node, input, .. } = &self.closed[&buffer];
        let here = |group: &&Group| (group.output, group.class) == (output, class) && stays(group);
        let mine = || frames.iter().filter(here);
        let number = mine().next().map_or(0, |group| group.number);
        let mut flows: Vec<u32> = mine().flat_map(|group| group.flows.iter().copied()).collect();
        flows.sort_unstable();
        flows.dedup();
        flows.truncate(8);
        Waiting { node: name(*node), input: *input, output: number, class, flows }
    }

    /// The tree of congestion: every link that is held back, the roots' neighbours first.
    pub(crate) fn tree(&self) -> Vec<Held> {
        let depths = self.depths(false);
        let mut held: Vec<Held> = Vec::new();
        for (&(port, class), contents) in self.closed.iter().filter(|(_, contents)| !contents.opening.is_ajar()) {
            let mut waits_for: BTreeMap<u32, u64> = BTreeMap::new();
            for &Group { output, units, .. } in &contents.frames {
                *waits_for.entry(output).or_default() += u64::from(units);
            }
            held.push(Held {
                sender: contents.sender,
                holder: port,
                class,
                depth: depths.get(&(port, class)).map(|opened| opened.depth),
                waits_for: waits_for.into_iter().collect(),
            });
        }
        held.sort_by_key(|held| (held.depth.unwrap_or(u32::MAX), held.holder, held.class));
        held
    }
}

impl<P: Probe> Network<P> {
    /// What has moved since the last inspection.
    pub(crate) fn anything_stuck(&mut self) -> Movement {
        let mut movement = Movement::default();
        for port in &mut self.ports {
            let moved = std::mem::take(&mut port.moved);
            movement.moved |= moved;
            movement.stuck |= port.waiting & !moved;
        }
        movement
    }

    /// Units of the frames on their way to a port that will count under a class.
    fn on_the_way(&self, p: u32, account: u8) -> u32 {
        let arriving = self.ports[p as usize].arriving;
        let frames = arriving.iter(&self.pool).map(|(_, frame)| frame).filter(|frame| !frame.is_link_local());
        let rule = |frame: &Frame| *self.rule(p, frame.class);
        frames.filter(|frame| rule(frame).account == account).map(|frame| rule(frame).units(frame.len)).sum()
    }

    /// The least length of a frame that a port could send next in a class, whichever it will be.
    fn least_waiting(&self, p: u32, class: u8) -> u32 {
        match self.ports[p as usize].device {
            Device::Switch(switch) if self.switches[switch as usize].order.is_some() => {
                // Frames for one destination keep their order.
                let (queue, mut met) = (self.lanes[self.lane(p, class)].queue, BTreeSet::new());
                let first = queue.iter(&self.pool).filter(|(_, frame)| met.insert(frame.dst));
                first.map(|(_, frame)| u32::from(frame.len)).min().unwrap_or(0)
            }
            _ => self.shortest_first(p, class),
        }
    }
}

/// If the buffer behind a port holds back the sender at its far end: what lets it go.
fn closed_until<P: Probe>(network: &Network<P>, p: u32, class: u8, far: &Far<'_, P>, sender: u32) -> Option<Opening> {
    let rule: &Rule = network.rule(p, class);
    let port = &network.ports[p as usize];
    let here = Far::Here { network, port: p };
    match rule.hold {
        Hold::Nothing => None,
        Hold::Pause { classes, .. } => {
            let closed = port.stopped >> class & 1 == 1 && far.blocked() & classes != 0;
            if !closed
                || !renews_in_time(&network.plan, port, rule, sender, false)
                || far.news_from(&here) & classes != 0
            {
                return None;
            }
            let shared = match port.device {
                Device::Switch(switch) => network.plan.switches[network.switches[switch as usize].kind as usize].shared,
                Device::Host(_) => None,
            };
            let Some(shared) = shared.filter(|_| network.plan.shared_rules[port.rules as usize]) else {
                return Some(Opening::AtMost(rule.xon));
            };
            let lane = &network.lanes[network.lane(p, class)];
            let outside = lane.held - lane.headroom;
            let Rule { capacity: guaranteed, xon: below, resume, alpha, limit, .. } = *rule;
            Some(Opening::Shared { outside, guaranteed, below, resume, shared, alpha, limit })
        }
        Hold::CreditFrame { .. } | Hold::CreditSignal { .. } => {
            if far.waiting() >> class & 1 == 0 || far.news_from(&here) >> class & 1 == 1 {
                return None;
            }
            let least = rule.units(far.least_waiting(class) as u16);
            let lacks = |units: u32| far.limit(class) < far.spent(class) + u64::from(units);
            // Frames that wait at a host are not distinguished by length.
            let most = rule.units(network.plan.largest_frames[usize::from(class)]);
            let partly = matches!(port.device, Device::Switch(_)) && lacks(most);
            let opening = Opening::Credits { capacity: rule.capacity, least, ajar: !lacks(least) };
            (lacks(least) || partly).then_some(opening)
        }
    }
}

/// Whether a pause reaches the sender again before it runs out: else frames slip through between two of them. Both ends of
/// a cable have one rate; `port` is the one at this end that renews or obeys, and `sender` the number of the one that obeys.
/// A pause and the next one take the same time on the cable and to be obeyed; what differs is the jitter, and the frame that
/// either may have to wait for, unless nothing moves.
fn renews_in_time(plan: &NetworkPlan, port: &Port, rule: &Rule, sender: u32, still: bool) -> bool {
    let Hold::Pause { quanta: pause, refresh_after, .. } = rule.hold else { return true };
    let largest = if still { 0 } else { plan.largest_frames.iter().copied().max().unwrap_or(0) };
    let before = Bytes::new(u64::from(largest) + u64::from(PAUSE_FRAME)) + plan.overhead * 2;
    let wait = Wire::new(port.wire.rate()).serialise(before);
    let (_, jitter) = plan.pause_response(sender);
    quanta(refresh_after, port.wire.rate()) + wait + jitter < quanta(pause, port.wire.rate())
}
