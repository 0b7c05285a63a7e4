//! Hosts of a shard: their flows, what ends at them, and their ports.

use super::Layout;
use crate::describe::graph::PortEnd;
use crate::describe::spec::MAX_CLASSES;
use crate::describe::workload::{FlowProfile, Via};
use crate::machine::frame::NIL;
use crate::machine::host::Host;
use crate::machine::host::flow::Flow;
use crate::machine::host::lifetime::{Approach, comes_and_goes};
use crate::machine::host::multi_homing::Homing;
use crate::machine::host::receiving::Inbound;
use crate::machine::host::service::Service;
use crate::machine::network::Network;
use crate::machine::port::{MULTIHOMED, NOTICES, SPRAYED, TIMED};
use crate::observe::probe::Probe;
use congestion::{Demand, ReactionPoint};
use engine::Shard;
use std::collections::BTreeMap;
use std::sync::Arc;
use transport::Puller;
use units::Rate;

impl Layout<'_> {
    pub(super) fn host<P: Probe>(&self, network: &mut Network<P>, node: usize, first: u32) {
        let (number, degree) = (self.host_numbers[node], self.degrees[node]);
        let place = network.hosts.len() as u32;
        let ports = first..first + degree as u32;
        let rates =
            network.ports[first as usize..ports.end as usize].iter().map(|port| port.wire.rate().as_bits_per_sec());
        let all = Rate::from_bits_per_sec(rates.sum());
        let first_flow = network.flows.len() as u32;
        let mut scheduled = 0;
        let mut profiles: Vec<(Arc<FlowProfile>, bool)> = Vec::new();
        let sources = &self.places.sources[network.shard as usize][first_flow as usize..];
        let mut approaches: BTreeMap<Approach, u32> = BTreeMap::new();
        let mut any_sprays = false;
        for &flow in &sources[..self.places.per_host[number as usize] as usize] {
            let spec = &self.spec.flows[flow as usize];
            let port = first + u32::from(self.spec.first_port(flow, &self.ends[node]));
            let sprays = degree > 1 && spec.via == Via::Spray;
            any_sprays |= sprays;
            let path = self.path(network.ports[port as usize].global, spec);
            let rate = |port: u32| self.path(network.ports[port as usize].global, spec).slowest.as_bits_per_sec();
            let slowest = match sprays && path.slowest > Rate::ZERO {
                true => Rate::from_bits_per_sec(ports.clone().map(rate).sum()),
                false => path.slowest,
            };
            let approach = Approach {
                port,
                hops: path.hops,
                choices: path.choices,
                round_trip: path.round_trip,
                link: if sprays { all } else { network.ports[port as usize].wire.rate() },
                base: path.base,
                slowest,
            };
            // Flows that wait come last.
            let waits = self.spec.dependencies.waits(flow);
            scheduled += u32::from(!waits);
            let numbered = self.spec.path_numbers.get(flow as usize).is_some_and(Option::is_some);
            // Most are made when they start. All of a profile need timers, or none does.
            let dormant = degree == 1 && comes_and_goes(spec) && !numbered;
            let seen =
                profiles.iter().rev().take(8).find(|(of, _)| Arc::ptr_eq(of, &spec.profile)).map(|&(_, timed)| timed);
            let timed = match seen.filter(|_| dormant) {
                Some(timed) => timed,
                None => {
                    let mut flow = Flow::on(network, flow, place, &approach, self.spec.entropy(flow));
                    flow.sprays = sprays;
                    // The short path knows neither turns of ports nor addresses of ports.
                    flow.plain &= !sprays && (degree == 1 || self.plan.addresses.is_empty());
                    let timed = !(flow.plain && flow.greedy);
                    if dormant {
                        profiles.push((Arc::clone(&spec.profile), timed));
                    } else {
                        network.flows.push(flow);
                    }
                    timed
                }
            };
            if dormant {
                let next = network.approaches.len() as u32;
                let number = *approaches.entry(approach).or_insert(next);
                if number == next {
                    network.approaches.push(approach);
                }
                network.flows.push_away(number);
            }
            if waits || timed {
                ports.clone().for_each(|port| network.ports[port as usize].flags |= TIMED);
            }
        }
        let inbound = &self.inbound[number as usize];
        let mut sinks = Vec::with_capacity(inbound.len());
        let mut puller: Option<Box<Puller>> = None;
        let mut pulled = Vec::new();
        for (position, &flow) in (0..).zip(inbound) {
            let (spec, slot) = (&self.spec.flows[flow as usize], self.places.sink[flow as usize]);
            let mut inbound = spec.sink().map(|sink| Box::new(Inbound::new(sink, flow, position, spec.is_reliable())));
            let pulling = spec.reaction.pulling().filter(|pulling| pulling.demand != Demand::Nothing);
            if let (Some(inbound), Some(pulling)) = (&mut inbound, pulling) {
                // What is pulled may arrive by all links.
                let puller = puller.get_or_insert_with(|| Box::new(Puller::new(all)));
                inbound.pulls = Some(puller.join(&pulling, spec.frame + spec.added() + self.spec.overhead));
                pulled.push(slot);
            }
            network.received[slot as usize].inbound = inbound;
            ports.clone().for_each(|port| network.ports[port as usize].flags |= TIMED);
            sinks.push(slot);
        }
        let kind = &self.plan.adapters[self.spec.kind_of[node] as usize];
        let served = if kind.served { degree } else { 0 };
        let flags = if degree > 1 { MULTIHOMED } else { 0 } | if any_sprays { SPRAYED | NOTICES } else { 0 };
        ports.clone().for_each(|port| network.ports[port as usize].flags |= flags);
        network.hosts.push(Host {
            number,
            port: first,
            ports: degree as u16,
            homing: (degree > 1).then(|| Box::new(self.homing(node))),
            first_flow,
            flows: network.flows.len() as u32 - first_flow,
            scheduled,
            started: 0,
            timers: engine::IndexedHeap::new(0),
            sinks,
            puller,
            pulled,
            last_sender: vec![[NIL; MAX_CLASSES]; degree].into(),
            service: vec![Service::new(kind.service); served].into(),
        });
    }

    /// What a host with several links knows at the start.
    fn homing(&self, node: usize) -> Homing {
        let home = |end: &PortEnd| (self.switch_rows[end.peer.0 as usize], 0);
        Homing { switches: self.ends[node].iter().map(home).collect() }
    }
}

/// The rows of the tables that some shards need, those of their own switches first. Hosts with several links look into
/// the tables of the switches at their other ends, and are told the positions of these.
pub(super) fn rows_of<P: Probe>(shards: &mut [Shard<Network<P>>]) -> Vec<u32> {
    let switches = shards.iter().flat_map(|shard| &shard.model.switches);
    let mut rows: Vec<u32> = switches.map(|switch| switch.row).collect();
    let mut places: BTreeMap<u32, u32> = rows.iter().copied().zip(0..).collect();
    let hosts = shards.iter_mut().flat_map(|shard| &mut shard.model.hosts);
    for (row, _) in hosts.filter_map(|host| host.homing.as_mut()).flat_map(|homing| &mut homing.switches) {
        let place = *places.entry(*row).or_insert_with(|| {
            rows.push(*row);
            rows.len() as u32 - 1
        });
        *row = place;
    }
    rows
}
