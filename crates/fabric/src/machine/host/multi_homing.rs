//! Hosts with several links: by which port frames leave.
//!
//! A host knows which of its links have failed, and whether the switch at the other end of a link has a route to a
//! destination. A host with one link has nothing to choose, and none of this.
//!
//! A flow that sprays waits at one port at a time. It goes on to the next one after every frame, prefers one that is idle,
//! and is called by a port that has nothing else to send: so no link of the host is idle while the flow may use it.

use crate::describe::graph::HostId;
use crate::describe::multi_homing::HOST_SALT;
use crate::describe::routing::pick;
use crate::describe::workload::Via;
use crate::machine::frame::{List, NIL};
use crate::machine::network::{Ctx, Device, Network};
use crate::machine::port::DOWN;
use crate::observe::probe::Probe;
use std::ops::Range;
use transport::Next;
use units::Time;

/// What a host with several links knows of the switches at their other ends.
#[derive(Clone, Debug)]
pub(crate) struct Homing {
    /// By port: the row of the switch in the tables, and the tables that hold there.
    pub(crate) switches: Vec<(u32, u32)>,
}

units::state!(struct Homing { lists: switches; });

impl<P: Probe> Network<P> {
    /// The ports of a host.
    fn ports_of_host(&self, host: u32) -> Range<u32> {
        let state = &self.hosts[host as usize];
        state.port..state.port + u32::from(state.ports)
    }

    /// The ports of a host in turn, beginning after one of them and ending with it.
    fn ports_after(&self, host: u32, p: u32) -> impl Iterator<Item = u32> + use<P> {
        let Range { start, end } = self.ports_of_host(host);
        (p + 1..end).chain(start..p + 1)
    }

    /// The address of what leaves by a port of a host for another host, as [`address`](crate::address).
    pub(crate) fn address_by(&self, p: u32, dst: u32) -> u32 {
        let port = &self.ports[p as usize];
        let Device::Host(host) = port.device else { return dst };
        match self.plan.addresses.get(dst as usize) {
            Some(&(first, count)) if count == self.hosts[host as usize].ports => first.0 + u32::from(port.number),
            _ => dst,
        }
    }

    /// The host that has an address.
    fn host_of(&self, address: u32) -> u32 {
        let has = |(first, count): &(HostId, u16)| (first.0..first.0 + u32::from(*count)).contains(&address);
        let host = self.plan.addresses.iter().position(has);
        host.map_or(address, |host| host as u32)
    }

    /// Whether a port of a host works and leads to another host. Of a flow whose every frame has its own destination,
    /// all ports are thought to lead there.
    fn leads_to(&self, p: u32, dst: u32) -> bool {
        let port = &self.ports[p as usize];
        let Device::Host(host) = port.device else { return false };
        let Some(homing) = &self.hosts[host as usize].homing else { return true };
        let (row, tables) = homing.switches[usize::from(port.number)];
        let outputs = || self.plan.tables[tables as usize].outputs(row, self.address_by(p, dst));
        port.flags & DOWN == 0 && (dst == NIL || !outputs().is_empty())
    }

    /// Whether the next frame of a flow could start at a port, if that has nothing else to send.
    fn may_start_at(&self, p: u32, slot: u32) -> bool {
        let flow = &self.flows[slot as usize];
        let affords = || self.has_credits(p, flow.class, self.next_len_of(slot) as u16);
        self.ports[p as usize].blocked >> flow.class & 1 == 0
            && self.leads_to(p, flow.destination)
            && (flow.next() == Next::Nothing || affords())
    }

    /// The port for a flow that hashes: it stays where it is if no port leads to its destination.
    fn hashed_port(&self, host: u32, slot: u32) -> u32 {
        let flow = &self.flows[slot as usize];
        let usable = || self.ports_of_host(host).filter(|&p| self.leads_to(p, flow.destination));
        usable().nth(pick(flow.entropy, HOST_SALT, usable().count())).unwrap_or(flow.port)
    }

    /// The next port for a flow that sprays: an idle one if there is any, otherwise one that may send, or one that leads
    /// to its destination. `busy` is a port that is about to send another frame.
    pub(crate) fn sprayed_port(&self, slot: u32, busy: Option<u32>, ctx: &Ctx) -> u32 {
        let flow = &self.flows[slot as usize];
        let in_turn = || self.ports_after(flow.host, flow.port);
        let idle = |p: &u32| Some(*p) != busy && !ctx.alarms.is_pending(self.numbers.transmit + *p);
        let sends = |p: &u32| self.may_start_at(*p, slot);
        let leads = |p: &u32| self.leads_to(*p, flow.destination);
        let idle_one = in_turn().filter(idle).find(sends);
        idle_one.or_else(|| in_turn().find(sends)).or_else(|| in_turn().find(leads)).unwrap_or(flow.port)
    }

    /// A flow that sprays has sent a frame: the next one leaves by the next port.
    #[cold]
    pub(crate) fn take_turns(&mut self, now: Time, p: u32, slot: u32, ctx: &mut Ctx) {
        let next = self.sprayed_port(slot, Some(p), ctx);
        self.move_flow(now, slot, next, ctx);
    }

    /// A port of a host has nothing to send, or nothing that may start: flows that spray and wait elsewhere come here. One
    /// that waits at a port that is paused comes in any case.
    #[cold]
    pub(crate) fn call_sprayed(&mut self, now: Time, p: u32, ctx: &mut Ctx) {
        let this = &*self;
        let port = &this.ports[p as usize];
        let Device::Host(host) = port.device else { return };
        let spare = port.waiting & !port.blocked == 0;
        let waits = |other: u32| {
            let there = &this.ports[other as usize];
            let classes = if spare { there.waiting } else { there.waiting & there.blocked };
            let classes = (0..this.classes as u8).filter(move |class| classes >> class & 1 == 1);
            classes.flat_map(move |class| this.ring(other, class))
        };
        let comes = |slot: &u32| this.flows[*slot as usize].sprays && this.may_start_at(p, *slot);
        let called = this.ports_after(host, p).filter(|&other| other != p).flat_map(waits).find(comes);
        if let Some(slot) = called {
            self.move_flow(now, slot, p, ctx);
        }
    }

    /// Nothing of what waits at a port may start, for a pause or for want of credits: ports with nothing to send may call
    /// it.
    #[cold]
    pub(crate) fn offer_sprayed(&self, p: u32, ctx: &mut Ctx) {
        let port = &self.ports[p as usize];
        let Device::Host(host) = port.device else { return };
        // Two ports with nothing to send would wake each other for ever.
        if port.waiting == 0 {
            return;
        }
        let idle = |other: &u32| *other != p && self.ports[*other as usize].waiting == 0;
        self.ports_of_host(host).filter(idle).for_each(|other| self.kick(other, ctx));
    }

    fn move_flow(&mut self, now: Time, slot: u32, port: u32, ctx: &mut Ctx) {
        let Some(flow) = self.flows.get_mut(slot).filter(|flow| flow.port != port) else { return };
        let (before, waits) = (flow.port, flow.in_ring);
        if waits {
            self.leave_ring(before, slot);
        }
        self.flows[slot as usize].port = port;
        if waits {
            self.join_ring(port, slot, ctx);
            if self.probe.wants_causes() {
                self.note_source(now, slot);
            }
        }
    }

    /// A link of a host failed or works again, or routes changed: flows that may choose leave by ports that lead to their
    /// destinations, and frames that wait at a failed link take another.
    #[cold]
    pub(crate) fn rehome(&mut self, now: Time, host: u32, ctx: &mut Ctx) {
        if self.hosts[host as usize].homing.is_none() {
            return;
        }
        let (first, count) = (self.hosts[host as usize].first_flow, self.hosts[host as usize].flows);
        for slot in first..first + count {
            let flow = &self.flows[slot as usize];
            let port = match self.plan.flows[flow.number as usize].via {
                Via::Port(_) => continue,
                Via::Hash => self.hashed_port(host, slot),
                Via::Spray if self.leads_to(flow.port, flow.destination) => continue,
                Via::Spray => self.sprayed_port(slot, None, ctx),
            };
            self.move_flow(now, slot, port, ctx);
        }
        for p in self.ports_of_host(host) {
            if self.ports[p as usize].flags & DOWN == 0 {
                continue;
            }
            for class in 0..self.classes as u8 {
                let lane = self.lane(p, class);
                let queue = std::mem::replace(&mut self.lanes[lane].queue, List::EMPTY);
                let waiting: Vec<u32> = queue.iter(&self.pool).map(|(place, _)| place).collect();
                self.lanes[lane].bytes = 0;
                if self.lanes[lane].ready == NIL {
                    self.ports[p as usize].waiting &= !(1 << class);
                }
                for place in waiting {
                    self.pool[place].next = NIL;
                    let dst = self.host_of(self.pool[place].dst);
                    let port = self.reply_port(p, dst);
                    self.pool[place].dst = self.address_by(port, dst);
                    self.queue_at_host(port, place, ctx);
                }
            }
        }
    }

    /// The port by which a host answers what arrived at a port: the same, if it leads back.
    #[cold]
    pub(crate) fn reply_port(&self, p: u32, dst: u32) -> u32 {
        let Device::Host(host) = self.ports[p as usize].device else { return p };
        if self.leads_to(p, dst) {
            return p;
        }
        self.ports_after(host, p).find(|&other| self.leads_to(other, dst)).unwrap_or(p)
    }
}
