//! What may still move, class by class.
//!
//! Everything that can happen later is an alarm, and every alarm belongs to something that can be looked at: a frame on
//! a wire or in a pipeline, a wire or a crossbar that is busy, a signal, a pause that runs out, a script, a timer of a
//! flow, a receiver at work. A class of which none of them can start a frame now is at rest, unless another class that
//! moves can wake it: see [`Part::wakened`].
//!
//! A congestion point's own timer does not count: a notice moves no frame of data.

use super::far::Far;
use super::renews_in_time;
use super::rest::Part;
use crate::build::plan::{Hold, WaitingRoom};
use crate::machine::frame::NIL;
use crate::machine::host::Host;
use crate::machine::host::flow::{DEADLINE, TIMERS};
use crate::machine::host::receiving::Inbound;
use crate::machine::network::{Device, Network, Switch};
use crate::machine::port::{DOWN, INPUT_QUEUED, NOTICES};
use crate::observe::probe::Probe;
use engine::{Encode, Ranks};
use std::collections::BTreeMap;
use units::Rate;

/// Any class.
pub(super) const ALL: u8 = u8::MAX;

/// The port by which a host replies when a timer expires, as nothing new has arrived; any, if its link has failed.
fn reply_port<P: Probe>(network: &Network<P>, host: &Host, inbound: &Inbound) -> Option<u32> {
    let p = host.port + u32::from(inbound.input);
    Some(p).filter(|_| network.ports[p as usize].flags & DOWN == 0)
}

/// The ports of a host whose links work.
fn up_ports<P: Probe>(network: &Network<P>, host: &Host) -> impl Iterator<Item = u32> {
    let all = host.port..host.port + u32::from(host.ports);
    all.filter(|&p| network.ports[p as usize].flags & DOWN == 0)
}

impl<P: Probe> Part<'_, P> {
    /// Classes of which a frame may still move, if those in `moved` have. All ranks take part, and have the same answer.
    pub(super) fn restless(&self, ranks: &mut dyn Ranks, moved: u8) -> u8 {
        let mut everywhere =
            |own: u8| ranks.share(own.to_bytes()).iter().fold(0, |all, bytes| all | u8::from_bytes(bytes));
        // While nothing moves, no pause waits behind a frame. If by that nothing can begin to move, nothing ever does.
        self.still.set(true);
        let own = self.models.iter().fold(moved, |classes, network| classes | self.may_move(network));
        let classes = everywhere(own);
        self.still.set(false);
        if classes == 0 {
            return 0;
        }
        let own = self.models.iter().fold(moved, |classes, network| classes | self.may_move(network));
        let mut classes = everywhere(own);
        // What moves may wake another class, and that another: each round adds one, or is the last.
        while classes != ALL {
            let woken = self.models.iter().fold(0, |woken, network| woken | self.wakened(network, classes));
            let more = classes | everywhere(woken);
            if more == classes {
                break;
            }
            classes = more;
        }
        classes
    }

    /// Classes of which something that is pending in a shard can make a frame move.
    fn may_move(&self, network: &Network<P>) -> u8 {
        if network.nodes.iter().any(|node| !node.script.is_empty()) {
            return ALL;
        }
        let pipelines = network.switches.iter().flat_map(|switch| switch.pipeline.iter(&network.pool));
        let mut classes = pipelines.fold(0, |classes, (_, frame)| classes | 1 << frame.class);
        (0..network.ports.len() as u32).for_each(|p| classes |= self.port_may_move(network, p));
        network.hosts.iter().for_each(|host| classes |= self.host_may_move(network, host));
        classes
    }

    fn port_may_move(&self, network: &Network<P>, p: u32) -> u8 {
        let (port, far) = (&network.ports[p as usize], self.far(network, p));
        let arriving = port.arriving.iter(&network.pool).map(|(_, frame)| frame).filter(|frame| !frame.is_link_local());
        let mut classes = arriving.fold(0, |classes, frame| classes | 1 << frame.class);
        if port.leaving_len != 0 {
            classes |= 1 << port.leaving_class;
        }
        classes |= (Far::Here { network, port: p }).news_from(&far);
        if let Device::Switch(switch) = port.device {
            classes |= network.column_may_move(p, switch);
        }
        if port.flags & DOWN == 0 {
            if port.flags & NOTICES != 0 {
                classes |= network.notice_may_go(p);
            }
            classes |= port.waiting & !self.held_for_good(network, p, port.waiting);
        }
        classes
    }

    /// Those of `classes` that a port cannot send and never will, if nothing else changes.
    pub(super) fn held_for_good(&self, network: &Network<P>, p: u32, classes: u8) -> u8 {
        let paused = self.paused_for_good(network, p, classes);
        // A class whose pause will run out counts as free; one that is free may lack credits.
        let free = classes & network.ports[p as usize].waiting & !paused;
        paused | free & !network.affordable(p, free)
    }

    /// Those of `classes` that a pause holds back at a port for ever, if nothing else changes.
    fn paused_for_good(&self, network: &Network<P>, p: u32, classes: u8) -> u8 {
        let (port, far) = (&network.ports[p as usize], self.far(network, p));
        let peer = self.plan.ports[port.global as usize].peer;
        let paused = |class: &u8| {
            let rule = self.plan.rule(peer, *class);
            let stopped = far.stopped() >> rule.account & 1 == 1;
            let renewed = renews_in_time(self.plan, port, rule, port.global, self.still.get());
            let watched = self.plan.ports[port.global as usize].watched >> class & 1 == 1;
            port.blocked >> class & 1 == 1 && stopped && renewed && !watched
        };
        let asked = (0..network.classes as u8).filter(|class| classes >> class & 1 == 1);
        asked.filter(paused).fold(0, |mask, class| mask | 1 << class)
    }

    fn host_may_move(&self, network: &Network<P>, host: &Host) -> u8 {
        let mut classes = 0;
        for service in &host.service {
            if service.current != NIL {
                classes |= 1 << network.pool[service.current].class;
            }
            if service.rate != Some(Rate::ZERO) {
                service.queue.iter(&network.pool).for_each(|(_, frame)| classes |= 1 << frame.class);
            }
        }
        if up_ports(network, host).next().is_none() {
            return classes;
        }
        let pending = |timer: u32| host.timers.time_of(timer).is_some();
        for (position, &slot) in (0..).zip(&host.sinks) {
            let inbound = network.received.get(slot).and_then(|received| received.inbound.as_ref());
            if let Some(inbound) = inbound.filter(|_| pending(host.flows * TIMERS + position)) {
                classes |= self.replies(network, host, inbound.flow, reply_port(network, host, inbound));
            }
        }
        if pending(host.flows * TIMERS + host.sinks.len() as u32) {
            for &slot in &host.pulled {
                let inbound = network.received.get(slot).and_then(|received| received.inbound.as_ref());
                let replies =
                    |inbound: &Inbound| self.replies(network, host, inbound.flow, reply_port(network, host, inbound));
                classes |= inbound.map_or(0, |inbound| replies(inbound));
            }
        }
        for position in 0..host.flows {
            let first = position * TIMERS;
            // A flow that waits for others is woken by one of them, or by a timer.
            let due = (host.started..host.scheduled).contains(&position)
                && classes >> network.plan.flows[network.number_of(host.first_flow + position) as usize].class & 1 == 0;
            if due || (first..first + TIMERS).any(pending) {
                classes |= self.flow_may_move(network, host, host.first_flow + position, pending(first + DEADLINE));
            }
        }
        classes
    }

    /// Classes of what a flow could send when its timers come.
    pub(super) fn flow_may_move(&self, network: &Network<P>, host: &Host, slot: u32, deadline: bool) -> u8 {
        let unstarted;
        let flow = match network.flows.get(slot) {
            Some(flow) => flow,
            None if network.is_over(slot) => return 0,
            None => {
                unstarted = network.unstarted(network.host_of_flow(slot), slot);
                let Some(flow) = &unstarted else { return 0 };
                flow
            }
        };
        let spec = &network.plan.flows[flow.number as usize];
        let probe = spec.path_probe.filter(|_| deadline);
        let only = Some(flow.port).filter(|_| !flow.sprays);
        let probe = probe.map_or(0, |probe| self.may_join(network, host, only, (probe.class, probe.size.get() as u16)));
        let done = flow.is_done() && flow.lost.is_empty();
        // What a source has sent it retransmits also after its stop.
        let over = flow.stopped && flow.all_acknowledged();
        if done || over {
            return probe;
        }
        // A flow that waits for its turn keeps its place; the first one may come to retransmit a shorter frame.
        let first = || network.ring(flow.port, flow.class).next() == Some(slot);
        if flow.in_ring && (flow.reliable.is_none() || !first()) {
            return probe;
        }
        let frame = (flow.class, flow.least_next(network.plan.smallest_frame));
        // A flow without limits starts as the last of those that wait for a turn. Any other may be the first.
        if flow.plain && flow.greedy {
            probe | self.may_join_last(network, host, only, frame)
        } else {
            probe | self.may_join(network, host, only, frame)
        }
    }

    /// Classes of what the destination of a flow could say to its source, by any port or only by that one.
    fn replies(&self, network: &Network<P>, host: &Host, flow: u32, only: Option<u32>) -> u8 {
        let spec = &network.plan.flows[flow as usize];
        let acknowledge = spec.acknowledge.map(|how| (how.class, how.size));
        let notify = spec.notify.map(|how| (how.class, how.size));
        let pull = spec.pull.map(|how| (how.class, how.size));
        let probe = spec.path_probe.map(|how| (how.class, how.size));
        let ways = acknowledge.into_iter().chain(notify).chain(pull).chain(probe);
        ways.fold(0, |all, (class, size)| all | self.may_join(network, host, only, (class, size.get() as u16)))
    }

    /// The class of a frame that a host makes, as a set, if it could go: by one of its ports, or only by that one. It joins
    /// behind what waits in the queue, and that was looked at, but before the flows that wait for a turn.
    fn may_join(&self, network: &Network<P>, host: &Host, only: Option<u32>, frame: (u8, u16)) -> u8 {
        let first = |p: u32| network.lanes[network.lane(p, frame.0)].queue.is_empty();
        self.may_go(network, host, only, frame, first)
    }

    /// The same of a frame that joins behind everything that waits.
    fn may_join_last(&self, network: &Network<P>, host: &Host, only: Option<u32>, frame: (u8, u16)) -> u8 {
        let first = |p: u32| network.ports[p as usize].waiting >> frame.0 & 1 == 0;
        self.may_go(network, host, only, frame, first)
    }

    /// The class of a frame, as a set, if it could go by a port of a host at which it would be the first, or only by that one.
    fn may_go(
        &self,
        network: &Network<P>,
        host: &Host,
        only: Option<u32>,
        (class, len): (u8, u16),
        is_first: impl Fn(u32) -> bool,
    ) -> u8 {
        let goes = |p: u32| {
            is_first(p) && network.has_credits(p, class, len) && self.paused_for_good(network, p, 1 << class) == 0
        };
        let usable = |p: &u32| only.is_none_or(|only| only == *p);
        u8::from(up_ports(network, host).filter(usable).any(goes)) << class
    }

    /// Classes that those which move may wake: classes that share a pause or a buffer, that a switch moves frames or
    /// receipts between, those of a flow, whose source hears of arrivals and whose destination answers them, and those of
    /// flows that wait for others.
    fn wakened(&self, network: &Network<P>, moving: u8) -> u8 {
        if moving == 0 {
            return 0;
        }
        let plan = &network.plan;
        let mixes = |switch: &Switch| {
            // Which frame is next to find room behind a crossbar depends on the turn of all classes.
            switch.room == WaitingRoom::Both
                || switch.congestion_point.as_ref().is_some_and(|point| point.mixes_classes())
        };
        if plan.shared_rules.contains(&true) || network.switches.iter().any(mixes) {
            return ALL;
        }
        let mut woken = 0;
        // The classes of an output have one turn of inputs: those that move may let another frame come first.
        for (p, port) in (0..).zip(&network.ports).filter(|(_, port)| port.flags & INPUT_QUEUED != 0) {
            let asked =
                (0..network.classes as u8).filter(|class| (port.waiting & port.credited & !moving) >> class & 1 == 1);
            let could = |class: &u8| network.has_credits(p, *class, network.least_waiting(p, *class) as u16);
            woken |= asked.filter(could).fold(0, |classes, class| classes | 1 << class);
        }
        for (class, rule) in plan.rules.iter().flat_map(|rules| (0..).zip(rules)) {
            let named = if let Hold::Pause { classes, .. } = rule.hold { classes } else { 0 };
            let together = 1 << class | 1u8 << rule.account | named;
            if together & moving != 0 {
                woken |= together;
            }
        }
        let hosts: BTreeMap<u32, &Host> = network.hosts.iter().map(|host| (host.number, host)).collect();
        for host in hosts.values().filter(|host| up_ports(network, host).next().is_some()) {
            for slot in host.first_flow..host.first_flow + host.flows {
                let spec = &plan.flows[network.number_of(slot) as usize];
                let heard = [spec.acknowledge.map(|how| how.class), spec.notify.map(|how| how.class)];
                let more = [spec.pull.map(|how| how.class), spec.path_probe.map(|how| how.class)];
                let heard = heard.into_iter().chain(more).flatten();
                // Any class may be that of a flow that another waits for.
                let waits = slot >= host.first_flow + host.scheduled
                    && network.waiting.as_ref().is_some_and(|waiting| waiting.started(slot).is_none());
                if waits || heard.fold(0, |classes, class| classes | 1 << class) & moving != 0 {
                    woken |= self.flow_may_move(network, host, slot, true);
                }
            }
        }
        for &flow in network.places.sinks(network.shard) {
            let origin = network.origin(flow);
            let probe = plan.flows[flow as usize].path_probe.map_or(0, |probe| 1 << probe.class);
            if moving & (1 << origin.class | probe) == 0 {
                continue;
            }
            match origin.destination {
                Some(host) => woken |= hosts.get(&host).map_or(0, |host| self.replies(network, host, flow, None)),
                None => hosts.values().for_each(|host| woken |= self.replies(network, host, flow, None)),
            }
        }
        woken
    }
}

impl<P: Probe> Network<P> {
    /// Classes of which a frame is on its way through the crossbar of a switch, or could set out to that output.
    fn column_may_move(&self, p: u32, switch: u32) -> u8 {
        let state = &self.switches[switch as usize];
        let Some(crossbar) = &state.crossbar else { return 0 };
        let kind = &self.plan.switches[state.kind as usize];
        let could = |class: &u8| {
            let len = self.next_input_len(switch, p, *class);
            len > 0 && self.lanes[self.lane(p, *class)].bytes + len <= kind.output_buffer
        };
        let moving = crossbar.moving().fold(0, |classes, place| classes | 1 << self.pool[place].class);
        let both = (0..self.classes as u8).filter(|_| state.room == WaitingRoom::Both);
        both.filter(could).fold(moving, |classes, class| classes | 1 << class)
    }

    /// The class of the next notice or receipt that waits for an output, as a set, if it could go.
    fn notice_may_go(&self, p: u32) -> u8 {
        let port = &self.ports[p as usize];
        let Device::Switch(switch) = port.device else { return 0 };
        let notices =
            self.switches[switch as usize].congestion_point.as_ref().map(|congestion_point| congestion_point.notices());
        let list = notices.and_then(|mut lists| lists.nth(usize::from(port.number)));
        let Some((_, frame)) = list.as_ref().and_then(|list| list.iter(&self.pool).next()) else { return 0 };
        let goes = port.blocked >> frame.class & 1 == 0 && self.has_credits(p, frame.class, frame.len);
        u8::from(goes) << frame.class
    }
}
