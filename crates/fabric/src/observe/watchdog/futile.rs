//! The end of a run in which nothing goes on but retransmissions that bring nothing.
//!
//! A source whose acknowledgements are stuck, or whose frames are, sends copies for ever: the network is never at rest. At
//! the end of a run such copies are not taken for movement, if every source that could still send has met timeout after
//! timeout without a sign, and nothing new has arrived anywhere meanwhile. Frames of lossless classes that have waited in
//! switches all that time are then a deadlock or a stall, as in a network at rest.
//!
//! A frame that waits only for its turn is neither, however long copies in a higher class have left it none: the next gap
//! between them lets it go. Such a network is in a livelock, unless sources make new frames.

use super::moves::ALL;
use super::rest::{Part, Rest, Waits};
use super::{Livelock, Stall};
use crate::describe::workload::{Activity, Pattern};
use crate::machine::frame::{Content, Frame, NIL};
use crate::machine::host::Host;
use crate::machine::network::Network;
use crate::machine::port::{DOWN, Port};
use crate::observe::probe::Probe;
use engine::{Encode, Ranks, announce, reduce};
use transport::Sender;
use units::{Rate, Time};

/// What the sources and destinations of a rank, or of all, have to say.
#[derive(Clone, Copy, Default)]
struct Standstill {
    /// Some source may send something new, or may come to know something.
    live: bool,
    /// Some source waits only for its turn.
    ready: bool,
    /// Flows that retransmit in vain.
    futile: u64,
    /// Since when they all do, and when the last of their timeouts was.
    since: Time,
    last: Time,
    /// Bytes that wait in switches and at slow receivers, and the rate of the slowest of these that is at work, in bit/s.
    bytes: u64,
    slowest: Option<u64>,
    /// When a frame last arrived that had not arrived before.
    arrived: Time,
}

engine::encoded!(struct Standstill { live, ready, futile, since, last, bytes, slowest, arrived });

impl Standstill {
    fn and(self, other: Standstill) -> Standstill {
        Standstill {
            live: self.live || other.live,
            ready: self.ready || other.ready,
            futile: self.futile + other.futile,
            since: self.since.max(other.since),
            last: self.last.max(other.last),
            bytes: self.bytes + other.bytes,
            slowest: self.slowest.into_iter().chain(other.slowest).min(),
            arrived: self.arrived.max(other.arrived),
        }
    }

    /// How long ago is long enough: a slow receiver may have to consume twice all that waits before something new comes.
    fn drained(&self, now: Time) -> Time {
        let picos = |rate: u64| 2 * u128::from(self.bytes) * 8 * 1_000_000_000_000 / u128::from(rate.max(1));
        let drained = self.slowest.map_or(0, |rate| u64::try_from(picos(rate)).unwrap_or(u64::MAX));
        Time::from_picos(now.as_picos().saturating_sub(drained))
    }
}

impl<P: Probe> Part<'_, P> {
    /// What became of frames that wait in lossless buffers of switches, if nothing goes on but retransmissions in vain. All
    /// ranks take part, and have the same answer.
    pub(crate) fn judge_futile(&self, ranks: &mut dyn Ranks, at: Time, name: &impl Fn(u32) -> String) -> Option<Rest> {
        // Pauses that could run out behind a frame have had the time to.
        self.still.set(true);
        let own = self.models.iter().fold(Standstill::default(), |sum, network| sum.and(self.standstill(network)));
        self.still.set(false);
        let parts = ranks.share(own.to_bytes());
        let all = parts.iter().map(|bytes| Standstill::from_bytes(bytes)).fold(Standstill::default(), Standstill::and);
        let Standstill { live, ready, futile, since, last, arrived, .. } = all;
        let drained = all.drained(at);
        if live || futile == 0 || arrived > since.min(drained) {
            return None;
        }
        // Copies that were sent at the last timeout may be under way.
        let before = last.min(drained);
        self.still.set(true);
        let starved = ready || self.models.iter().any(|network| self.starves(network, before));
        self.still.set(false);
        let fresh = self.models.iter().any(|network| network.has_fresh_frames(since, last));
        let frames: u64 = self.models.iter().map(|network| network.lossless_waiting(ALL, before)).sum();
        let parts = ranks.share(((frames, starved), fresh).to_bytes());
        let parts = parts.iter().map(|bytes| <((u64, bool), bool)>::from_bytes(bytes));
        let add = |all: ((u64, bool), bool), part: ((u64, bool), bool)| {
            ((all.0.0 + part.0.0, all.0.1 || part.0.1), all.1 || part.1)
        };
        let ((frames, starved), fresh) = parts.fold(((0, false), false), add);
        if frames == 0 || starved && fresh {
            return None;
        }
        if starved {
            return Some(Rest::Livelock(Livelock { at, since: arrived, frames, futile }));
        }
        let whole = reduce(ranks, self.waits(ALL, before), Waits::add);
        let verdict = whole.map(|waits| match waits.verdict(at, frames, name) {
            Rest::Stall(stall) => Rest::Stall(Stall { futile, ..stall }),
            deadlock => deadlock,
        });
        Some(announce(ranks, verdict))
    }

    /// What a shard has to say.
    fn standstill(&self, network: &Network<P>) -> Standstill {
        let watched = |port: &Port| port.waiting & port.blocked & self.plan.ports[port.global as usize].watched != 0;
        let live = network.nodes.iter().any(|node| !node.script.is_empty()) || network.ports.iter().any(watched);
        let arrived = network.received.iter().map(|received| received.last).max().unwrap_or_default();
        let arrived = arrived.max(network.last_arrival());
        let mut sum = Standstill { live, arrived, bytes: network.bytes_waiting(), ..Standstill::default() };
        for host in &network.hosts {
            for service in &host.service {
                let waiting = service.queue.iter(&network.pool).map(|(_, frame)| u64::from(frame.len));
                sum.bytes += waiting.sum::<u64>();
                let rate = service.rate.filter(|&rate| rate > Rate::ZERO && service.current != NIL);
                sum.slowest = sum.slowest.into_iter().chain(rate.map(|rate| rate.as_bits_per_sec())).min();
            }
            for position in 0..host.flows {
                if sum.live {
                    return sum;
                }
                match self.in_vain(network, host, position) {
                    Some((since, last)) => {
                        sum.futile += 1;
                        (sum.since, sum.last) = (sum.since.max(since), sum.last.max(last));
                    }
                    None if self.is_ready(network, host, position) => sum.ready = true,
                    None => sum.live |= self.may_send(network, host, position),
                }
            }
        }
        sum
    }

    /// Since when nothing new may have arrived if a flow is to retransmit in vain, and its last timeout, if it may do so: if
    /// it is not done and retransmits what is lost.
    fn in_vain(&self, network: &Network<P>, host: &Host, position: u32) -> Option<(Time, Time)> {
        let flow = network.flows.get(host.first_flow + position)?;
        let reliable = flow.reliable.as_ref().filter(|_| !flow.is_done())?;
        Some((reliable.barren.in_vain_since(reliable.sender.deadline())?, reliable.barren.last))
    }

    /// Whether a flow may send something when it starts, or when one of its timers comes.
    fn may_send(&self, network: &Network<P>, host: &Host, position: u32) -> bool {
        let started = position < host.started || position >= host.scheduled;
        let pending = !started || self.has_timer(host, position);
        pending && self.flow_may_move(network, host, host.first_flow + position, true) != 0
    }

    /// Whether a flow waits for nothing but its turn.
    fn is_ready(&self, network: &Network<P>, host: &Host, position: u32) -> bool {
        let Some(flow) = network.flows.get(host.first_flow + position) else { return false };
        let works = |p: &u32| network.ports[*p as usize].flags & DOWN == 0;
        let free = |p: u32| {
            let waiting = network.ports[p as usize].waiting;
            (waiting & !self.held_for_good(network, p, waiting)) >> flow.class & 1 == 1
        };
        let ports = host.port..host.port + u32::from(host.ports);
        // A flow outside of its ring waits for its window or a timer, whoever else of its class has a turn.
        flow.in_ring && ports.filter(works).any(free)
    }

    /// Whether a frame has waited in a shard since `before` or longer for nothing but its turn.
    fn starves(&self, network: &Network<P>, before: Time) -> bool {
        // Classes of which an output has such a frame to send.
        let mut old = vec![0_u8; network.ports.len()];
        for (switch, state) in (0..).zip(&network.switches) {
            network.each_waiting(switch, &mut |frame, reached| {
                if reached && frame.at <= before {
                    old[(state.first_port + u32::from(frame.output)) as usize] |= 1 << frame.class;
                }
            });
        }
        for p in network.hosts.iter().flat_map(|host| host.port..host.port + u32::from(host.ports)) {
            for class in 0..network.classes as u8 {
                let mut queue = network.lanes[network.lane(p, class)].queue.iter(&network.pool);
                old[p as usize] |= u8::from(queue.any(|(_, frame)| frame.at <= before)) << class;
            }
        }
        (0..).zip(&network.ports).any(|(p, port)| {
            let asked = port.waiting & old[p as usize];
            port.flags & DOWN == 0 && asked & !self.held_for_good(network, p, asked) != 0
        })
    }

    fn has_timer(&self, host: &Host, position: u32) -> bool {
        use crate::machine::host::flow::TIMERS;
        let first = position * TIMERS;
        (first..first + TIMERS).any(|timer| host.timers.time_of(timer).is_some())
    }
}

impl<P: Probe> Network<P> {
    /// Whether the network has new data of flows other than those whose data has not arrived since `since`: it is no copy, a
    /// source has made it after the last timeout, and not because the flow always has something to send.
    fn has_fresh_frames(&self, since: Time, last: Time) -> bool {
        let fresh = |frame: &Frame| {
            // Frames between neighbours belong to no flow.
            let Content::Data(segment) = frame.content() else { return false };
            let spec = &self.plan.flows[frame.flow as usize];
            let lasts = spec.start <= since && spec.pattern == Pattern::Greedy && spec.activity == Activity::Always;
            segment.born > last && spec.recovery.is_none() && !lasts
        };
        let mut found = self.ports.iter().any(|port| port.arriving.iter(&self.pool).any(|(_, frame)| fresh(frame)));
        for (switch, state) in (0..).zip(&self.switches) {
            found |= state.pipeline.iter(&self.pool).any(|(_, frame)| fresh(frame));
            self.each_waiting(switch, &mut |frame, _| found |= fresh(frame));
        }
        found
    }

    /// Bytes that wait in switches.
    fn bytes_waiting(&self) -> u64 {
        let mut bytes = 0;
        for switch in 0..self.switches.len() as u32 {
            self.each_waiting(switch, &mut |frame, _| bytes += u64::from(frame.len));
        }
        bytes
    }
}
