//! From a description to shards that can run.

pub(crate) mod column;
mod hosts;
pub mod partition;
pub(crate) mod path;
pub(crate) mod places;
pub(crate) mod plan;
pub(crate) mod planning;
pub mod sizing;
pub(crate) mod sparse;

use crate::build::hosts::rows_of;
use crate::build::partition::{Partition, assign};
use crate::build::places::Places;
use crate::build::plan::{EgressKind, Hold, NetworkPlan, PortPlan, WaitingRoom};
use crate::build::planning::{node_rules, plan, rows};
use crate::build::sparse::Sparse;
use crate::describe::error::{BuildError, BuildErrors};
use crate::describe::graph::{NodeId, PortEnd, Role};
use crate::describe::spec::{CongestionPointSpec, NetworkSpec, Order, SwitchSpec};
use crate::describe::trip::Trips;
use crate::describe::validate::{largest_frame, validate};
use crate::describe::workload::Destination;
use crate::machine::frame::extension::Extensions;
use crate::machine::frame::telemetry::Telemetry;
use crate::machine::frame::{List, NIL, Pool};
use crate::machine::host::lifetime::Records;
use crate::machine::host::live::Live;
use crate::machine::host::waiting::WaitingFlows;
use crate::machine::network::{Action, Device, Network, Node, Numbers, Switch};
use crate::machine::port::arbiter::Arbiter;
use crate::machine::port::egress::Schedule;
use crate::machine::port::pfc_watchdog::PfcWatchdog;
use crate::machine::port::{
    ARBITRATED, CONGESTION_POINT, CREDITS, CUT_THROUGH, Gate, IN_TURN, INPUT_QUEUED, KEEPS, Lane, MARKS, NOISY,
    OUTPUT_QUEUED, Port, STAMPS,
};
use crate::machine::switch::congestion_point::CongestionPointState;
use crate::machine::switch::crossbar::Crossbar;
use crate::machine::switch::occupancy::Occupancy;
use crate::machine::switch::order::Turns;
use crate::machine::switch::paths::PathChoice;
use crate::observe::outcome::Totals;
use crate::observe::probe::Probe;
use congestion::CongestionPoint;
use congestion::point::Surroundings;
use engine::{Shard, Wheel};
use std::collections::VecDeque;
use std::sync::Arc;
use units::{Rate, Span, Stream, Time, Wire};

/// How a network is cut and laid out. None of it changes a result.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// How nodes are dealt out to shards.
    pub partition: Partition,
    /// How many shards to aim for; 0 counts as 1.
    pub shards: usize,
    /// Lays nodes out in a random order drawn from this seed, which changes the order of simultaneous events of
    /// different nodes. For tests that this changes nothing.
    pub shuffle: Option<u64>,
}

/// The part of a run that one process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankOf {
    /// The number of this process.
    pub rank: usize,
    /// How many there are.
    pub count: usize,
}

impl RankOf {
    /// A process that holds everything.
    pub const ALONE: RankOf = RankOf { rank: 0, count: 1 };
}

/// What building yields.
#[derive(Clone)]
pub(crate) struct Built<P: Probe> {
    /// The shards of this rank.
    pub(crate) shards: Vec<Shard<Network<P>>>,
    /// The first shard of each rank, and the number of all shards.
    pub(crate) bounds: Vec<u32>,
    /// The nodes of each shard of this rank, in the order in which they are laid out.
    pub(crate) members: Vec<Vec<u32>>,
    pub(crate) plan: Arc<NetworkPlan>,
    /// Global port -> (shard, port of the shard), where the plan has the port.
    pub(crate) port_at: Sparse<(u32, u32)>,
    pub(crate) lookahead: Span,
}

pub(crate) fn build<P: Probe>(
    spec: &NetworkSpec,
    options: &BuildOptions,
    rank: RankOf,
    mut probe: impl FnMut(usize) -> P,
) -> Result<Built<P>, BuildErrors> {
    let errors = validate(spec);
    if !errors.is_empty() {
        return Err(BuildErrors(errors));
    }
    let refuse = |reason: String| BuildErrors(vec![BuildError::Network { reason }]);
    options.partition.check(&spec.graph).map_err(|error| refuse(error.to_string()))?;
    let plan = Arc::new(plan(spec).map_err(refuse)?);
    let shard_of = assign(&spec.graph, &options.partition, options.shards.max(1));
    let shard_count = shard_of.iter().map(|&shard| shard as usize + 1).max().unwrap_or(1);
    let nodes = spec.graph.nodes.len();
    let mut order: Vec<usize> = (0..nodes).collect();
    if let Some(seed) = options.shuffle {
        Stream::new(seed, 0, "layout").shuffle(&mut order);
    }
    let ends = spec.graph.ports();
    let degrees: Vec<usize> = ends.iter().map(Vec::len).collect();
    let first_global: Vec<u32> = degrees
        .iter()
        .scan(0, |sum, &degree| {
            let first = *sum;
            *sum += degree as u32;
            Some(first)
        })
        .collect();
    // Where everything lies.
    let mut port_at = vec![(0, 0); plan.ports.iter().len()];
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); shard_count];
    let mut port_counts = vec![0u32; shard_count];
    for &node in &order {
        let shard = shard_of[node] as usize;
        members[shard].push(node as u32);
        for number in 0..degrees[node] {
            port_at[first_global[node] as usize + number] = (shard as u32, port_counts[shard]);
            port_counts[shard] += 1;
        }
    }
    let [switch_rows, host_numbers] = [Role::Switch, Role::Host].map(|role| rows(&spec.graph, role));
    let home: Vec<u32> = spec.graph.hosts().iter().map(|host| shard_of[host.0 as usize]).collect();
    let is_host = |node: &&usize| spec.graph.nodes[**node].role == Role::Host;
    let host_order: Vec<u32> = order.iter().filter(is_host).map(|&node| host_numbers[node]).collect();
    let places = Arc::new(Places::new(spec, &home, &host_order, shard_count));
    let mut waiting = WaitingFlows::by_shard(spec, &places, shard_count);
    let layout = Layout {
        spec,
        plan: &plan,
        places: &places,
        first_global: &first_global,
        degrees: &degrees,
        ends: &ends,
        port_at: &port_at,
        neighbours: neighbours(spec, &shard_of, &plan, shard_count),
        switch_rows,
        host_numbers,
        delay: longest_delay(spec),
        trips: Trips::new(spec),
        inbound: inbound(spec, home.len()),
    };
    let bounds = bounds(&port_counts, rank.count);
    let own = bounds[rank.rank] as usize..bounds[rank.rank + 1] as usize;
    let mut shards: Vec<Shard<Network<P>>> = own
        .clone()
        .map(|shard| {
            let mut made = layout.shard(shard, &members[shard], port_counts[shard] as usize, probe(shard));
            made.model.waiting = waiting[shard].take();
            made
        })
        .collect();
    let lookahead = lookahead(spec, &shard_of, &plan);
    let members: Vec<Vec<u32>> = members.drain(own.clone()).collect();
    if rank.count == 1 {
        return Ok(Built { shards, bounds, members, plan, port_at: port_at.into(), lookahead });
    }
    // What belongs to nodes and flows of other ranks was needed to build, and is not kept.
    let own = own.start as u32..own.end as u32;
    let rows = rows_of(&mut shards);
    let is_own = |port: usize| own.contains(&port_at[port].0);
    let near = |port: usize| is_own(port) || is_own(plan.ports[port].peer as usize);
    let cut = Arc::new(plan.part(is_own, |flow| places.is_on(spec, flow, &own), &rows));
    let places = Arc::new(places.part(spec, &own));
    let mut row = 0;
    for Shard { model, .. } in &mut shards {
        (model.plan, model.places) = (Arc::clone(&cut), Arc::clone(&places));
        for switch in &mut model.switches {
            switch.row = row;
            row += 1;
        }
    }
    let port_at = Sparse::from(port_at.clone()).part(near);
    Ok(Built { shards, bounds, members, plan: cut, port_at, lookahead })
}

/// The first shard of each rank, and the number of all: runs of shards with about as many ports each.
fn bounds(ports: &[u32], ranks: usize) -> Vec<u32> {
    let total = ports.iter().map(|&ports| u64::from(ports) + 1).sum::<u64>().max(1);
    let mut bounds = vec![0; ranks + 1];
    let mut before = 0;
    for (shard, &ports) in (1..).zip(ports) {
        // A shard goes where its middle falls.
        let middle = 2 * before + u64::from(ports) + 1;
        before += u64::from(ports) + 1;
        let rank = ((middle * ranks as u64 / (2 * total)) as usize).min(ranks - 1);
        bounds[rank + 1] = shard;
    }
    // A rank without shards begins where the one before it ends.
    for rank in 0..ranks {
        bounds[rank + 1] = bounds[rank + 1].max(bounds[rank]);
    }
    bounds
}

/// Of each host the flows that end there and have a sink of their own.
fn inbound(spec: &NetworkSpec, hosts: usize) -> Vec<Vec<u32>> {
    let mut inbound = vec![Vec::new(); hosts];
    for (number, flow) in (0..).zip(&spec.flows) {
        if let (Destination::Host(host), Some(_)) = (&flow.destination, flow.sink()) {
            inbound[host.0 as usize].push(number);
        }
    }
    inbound
}

/// Of each shard those it sends to, ascending.
fn neighbours(spec: &NetworkSpec, shard_of: &[u32], plan: &NetworkPlan, shards: usize) -> Vec<Vec<u32>> {
    if spec.flows.iter().any(|flow| flow.requeue_oracle.is_some()) {
        // A source is told of a drop wherever that happens.
        let all_but = |own: u32| (0..shards as u32).filter(|&other| other != own).collect();
        return (0..shards as u32).map(all_but).collect();
    }
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); shards];
    for port in plan.ports.iter() {
        let [here, there] = [port.node, plan.ports[port.peer as usize].node].map(|node| shard_of[node as usize]);
        let list = &mut neighbours[here as usize];
        if here != there && list.last() != Some(&there) {
            list.push(there);
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    neighbours
}

/// The longest a frame usually takes from its start on a wire to its arrival: what the wheel should cover.
fn longest_delay(spec: &NetworkSpec) -> Span {
    let largest = (0..spec.classes.len()).map(|class| largest_frame(spec, class)).max().unwrap_or_default();
    let delays = spec.graph.cables.iter().map(|cable| {
        let wire = Wire::new(cable.link.rate);
        cable.link.latency.as_picos().saturating_add(wire.at_most(largest + spec.overhead).as_picos())
    });
    Span::from_picos(delays.max().unwrap_or(0).max(1000))
}

/// The smallest delay of anything that crosses shards.
fn lookahead(spec: &NetworkSpec, shard_of: &[u32], plan: &NetworkPlan) -> Span {
    let crosses =
        |port: &&PortPlan| shard_of[port.node as usize] != shard_of[plan.ports[port.peer as usize].node as usize];
    let mut least = Span::MAX;
    if shard_of.iter().any(|&shard| shard > 0) {
        least = spec.flows.iter().filter_map(|flow| flow.requeue_oracle).min().unwrap_or(Span::MAX);
    }
    for port in plan.ports.iter().filter(crosses) {
        // A frame takes at least the latency; a credit signal its own delay, whatever the cable.
        least = least.min(spec.graph.cables[port.cable as usize].link.latency);
        let node = port.node as usize;
        for rule in &plan.rules[node_rules(spec, node)] {
            if let Hold::CreditSignal { delay } = rule.hold {
                least = least.min(delay);
            }
        }
    }
    least
}

/// What the parts of one shard are laid out from.
struct Layout<'a> {
    spec: &'a NetworkSpec,
    plan: &'a Arc<NetworkPlan>,
    places: &'a Arc<Places>,
    first_global: &'a [u32],
    degrees: &'a [usize],
    ends: &'a [Vec<PortEnd>],
    port_at: &'a [(u32, u32)],
    /// Of each shard those it sends to.
    neighbours: Vec<Vec<u32>>,
    /// Of each node its number among the switches, or the hosts.
    switch_rows: Vec<u32>,
    host_numbers: Vec<u32>,
    /// What the wheel should cover.
    delay: Span,
    /// Round trips without queues.
    trips: Trips<'a>,
    /// By host: flows that end there and have a sink of their own.
    inbound: Vec<Vec<u32>>,
}

impl Layout<'_> {
    fn shard<P: Probe>(&self, shard: usize, members: &[u32], ports: usize, probe: P) -> Shard<Network<P>> {
        let classes = self.spec.classes.len();
        let numbers = Numbers::new(ports, members.len());
        let network = Network {
            plan: Arc::clone(self.plan),
            numbers,
            classes,
            pool: Pool::new(),
            extensions: Extensions::default(),
            telemetry: Telemetry::default(),
            ports: Vec::with_capacity(ports),
            lanes: vec![Lane::EMPTY; ports * classes],
            gates: vec![Gate::OPEN; ports * classes],
            signals: vec![VecDeque::new(); ports],
            noise: vec![None; ports],
            responses: vec![None; ports],
            schedules: vec![None; ports],
            pfc_watchdogs: vec![None; ports],
            arbiters: vec![None; ports],
            nodes: Vec::with_capacity(members.len()),
            fingerprints: vec![engine::Fingerprint::default(); members.len()],
            switches: Vec::new(),
            hosts: Vec::new(),
            flows: Live::default(),
            approaches: Vec::new(),
            waiting: None,
            shard: shard as u32,
            places: Arc::clone(self.places),
            received: self.places.received(self.spec, shard as u32),
            records: Records::new(self.places.sinks(shard as u32).len()),
            gone: std::collections::BTreeMap::new(),
            totals: Totals::default(),
            samples: 0,
            loss: None,
            probe,
        };
        let neighbours = self.neighbours[shard].clone();
        let wheel = Wheel::covering(self.delay);
        let mut shard_state = Shard::new(network, numbers.end as usize, wheel).with_neighbours(neighbours);
        for node in members.iter().map(|&node| node as usize) {
            let network = &mut shard_state.model;
            let first_port = network.ports.len() as u32;
            let device = match self.spec.graph.nodes[node].role {
                Role::Switch => Device::Switch(network.switches.len() as u32),
                Role::Host => Device::Host(network.hosts.len() as u32),
            };
            for number in 0..self.degrees[node] {
                self.port(network, shard as u32, node, device, number);
            }
            match self.spec.graph.nodes[node].role {
                Role::Switch => self.switch(network, node, first_port, self.switch_rows[node]),
                Role::Host => self.host(network, node, first_port),
            }
            network.nodes.push(Node {
                device,
                first_port,
                ports: self.degrees[node] as u16,
                script: self.script(node),
            });
        }
        self.first_alarms(&mut shard_state);
        shard_state
    }

    fn port<P: Probe>(&self, network: &mut Network<P>, shard: u32, node: usize, device: Device, number: usize) {
        let global = self.first_global[node] + number as u32;
        let plan = &self.plan.ports[global as usize];
        let link = &self.spec.graph.cables[plan.cable as usize].link;
        let peer_node = self.plan.ports[plan.peer as usize].node as usize;
        let place = network.ports.len();
        let first_port = (place - number) as u32;
        let mut port = Port::new(link.rate, network.nodes.len() as u32, device, first_port, number as u16, global);
        port.wire = port.wire.rounding(self.spec.frame_time);
        port.flight = link.latency;
        port.rules = plan.rules;
        let (peer_shard, peer) = self.port_at[plan.peer as usize];
        port.peer = peer;
        port.neighbour = self.neighbours[shard as usize].binary_search(&peer_shard).map_or(NIL, |place| place as u32);
        if plan.cuts_through {
            port.flags |= CUT_THROUGH;
        }
        if self.spec.graph.nodes[node].role == Role::Switch {
            port.flags |= match self.plan.switches[self.spec.kind_of[node] as usize].room {
                WaitingRoom::Output => OUTPUT_QUEUED,
                WaitingRoom::Input => INPUT_QUEUED,
                WaitingRoom::Both => 0,
            };
        }
        if link.bit_error_rate > 0.0 {
            port.flags |= NOISY;
            network.noise[place] = Some(Box::new(Stream::new(self.plan.seed, u64::from(global), "bit errors")));
        }
        if self.plan.ports[global as usize].pause_jitter > Span::ZERO {
            let stream = Stream::new(self.plan.seed, u64::from(global), "pause response");
            network.responses[place] = Some(Box::new(stream));
        }
        // Credits: what the far end grants before anything moves, and what this end grants.
        for (class, rule) in self.plan.rules[node_rules(self.spec, peer_node)].iter().enumerate() {
            if matches!(rule.hold, Hold::CreditFrame { .. } | Hold::CreditSignal { .. }) {
                port.flags |= CREDITS;
                port.credited |= 1 << class;
                port.credit_unit = rule.unit;
                network.gates[place * network.classes + class].limit = u64::from(rule.capacity);
            }
        }
        for (class, rule) in self.plan.rules[port.rules as usize].iter().enumerate() {
            if let Hold::CreditFrame { refresh, .. } = rule.hold {
                network.gates[place * network.classes + class].refresh = refresh.map_or(Time::MAX, |r| Time::ZERO + r);
            }
            network.gates[place * network.classes + class].granted = u64::from(rule.capacity);
            let shared = self.plan.shared_rules[port.rules as usize];
            let largest = self.plan.largest_frames[class];
            rule.watch(&mut network.lanes[place * network.classes + class], class, shared, largest);
        }
        if plan.watched != 0 {
            let spec = self.plan.pfc_watchdogs[usize::from(plan.pfc_watchdog)];
            network.pfc_watchdogs[place] = Some(Box::new(PfcWatchdog::new(spec, plan.watched)));
        }
        match plan.egress {
            EgressKind::Strict => {}
            EgressKind::Groups(plan) => {
                let groups = self.plan.egress[plan as usize].weighted.len();
                network.schedules[place] = Some(Box::new(Schedule::new(plan, groups)));
            }
            EgressKind::Tables(plan) => {
                port.flags |= ARBITRATED;
                network.arbiters[place] = Some(Box::new(Arbiter::new(plan, &self.plan.vl[plan as usize])));
            }
        }
        network.ports.push(port);
    }

    fn switch<P: Probe>(&self, network: &mut Network<P>, node: usize, first_port: u32, row: u32) {
        let kind = self.spec.kind_of[node];
        let crossbar = self.spec.switches[kind as usize].crossbar.map(|crossbar| {
            let (numerator, denominator) = crossbar.speedup;
            let ports = &network.ports[first_port as usize..];
            let speed = |port: &Port| {
                let rate = u128::from(port.wire.rate().as_bits_per_sec()) * u128::from(numerator);
                Wire::new(Rate::from_bits_per_sec(((rate / u128::from(denominator)) as u64).max(1)))
            };
            let fifo = self.plan.switches[kind as usize].fifo.is_some();
            Box::new(Crossbar::new(ports.iter().map(speed).collect(), network.classes, fifo))
        });
        let SwitchSpec { congestion_point: watch, order, .. } = &self.spec.switches[kind as usize];
        // Stamps need an account of what was sent.
        let stamps = self.plan.telemetry.then(CongestionPointSpec::default);
        let watch = watch.as_ref().or(stamps.as_ref());
        let mut congestion_point = watch.map(|watch| Box::new(self.congestion_point(network, node, first_port, watch)));
        let room = self.plan.switches[kind as usize].room;
        let lean = |state: &CongestionPointState| {
            let sees_queues_only = state.point.as_ref().is_none_or(|point| point.asked_from(0).is_some());
            sees_queues_only && room == WaitingRoom::Output && !state.keeps_rooms()
        };
        let queues_only = congestion_point.as_deref().is_some_and(lean);
        if let Some(state) = &mut congestion_point {
            state.queues_only = queues_only;
        }
        // At its start only: until then its frames wait as if there were none.
        let unseen = congestion_point.as_ref().is_none_or(|state| queues_only && !state.judges);
        let order = (*order != Order::Arrival)
            .then(|| Box::new(Turns::new(*order, network.ports.len() - first_port as usize, network.classes)));
        if congestion_point.is_some() || order.is_some() {
            let keeps = congestion_point.as_ref().is_some_and(|it| it.keeps_rooms());
            let point = congestion_point.as_ref().and_then(|state| state.point.as_ref());
            let flags = [
                (CONGESTION_POINT, !queues_only),
                (MARKS, queues_only && point.is_some()),
                (STAMPS, self.plan.telemetry),
                (IN_TURN, order.is_some()),
                (KEEPS, keeps),
            ];
            let flags = flags.iter().filter(|(_, set)| *set).fold(0, |flags, (flag, _)| flags | flag);
            for port in &mut network.ports[first_port as usize..] {
                port.flags |= flags;
                port.asked_from = point.and_then(|point| point.asked_from(port.number)).unwrap_or(0);
            }
        }
        let paths = PathChoice::new(self.spec.multipath, self.spec.seed, node as u32);
        network.switches.push(Switch {
            kind,
            room,
            plain: room == WaitingRoom::Output && unseen && order.is_none() && paths.is_none(),
            latency: self.plan.switches[kind as usize].pipeline,
            first_port,
            row,
            tables: 0,
            salt: self.spec.routes.salt(NodeId(node as u32)),
            pipeline: List::EMPTY,
            shared_used: 0,
            crossbar,
            congestion_point,
            paths,
            order,
        });
    }

    fn congestion_point<P: Probe>(
        &self,
        network: &mut Network<P>,
        node: usize,
        first_port: u32,
        watch: &CongestionPointSpec,
    ) -> CongestionPointState {
        let ports = &network.ports[first_port as usize..];
        let to_host = |port: &Port| {
            let peer = self.plan.ports[self.plan.ports[port.global as usize].peer as usize].node;
            self.spec.graph.nodes[peer as usize].role == Role::Host
        };
        let to_host: Vec<bool> = ports.iter().map(to_host).collect();
        let kind = &self.spec.switches[self.spec.kind_of[node] as usize];
        let largest_frame: Vec<u32> = self.plan.largest_frames.iter().map(|&len| u32::from(len)).collect();
        let classes = self.spec.classes.iter();
        let held_by_inputs = classes.map(|class| kind.held_by_inputs(class.lossless)).collect();
        let buffer = (0..).zip(&largest_frame).map(|(class, &len)| kind.input_room(class, len)).collect();
        let surroundings = Surroundings {
            rates: ports.iter().map(|port| port.wire.rate()).collect(),
            to_host: to_host.clone(),
            classes: network.classes,
            buffer,
            held_by_inputs,
            largest_frame,
            seed: self.spec.seed,
            node: node as u32,
            first_port: self.first_global[node],
        };
        let mut point = watch.point.clone();
        if let Some(point) = &mut point {
            point.attach(&surroundings);
        }
        let draws = watch.occupancy || point.as_ref().is_some_and(CongestionPoint::draws);
        let occupancy = draws.then(|| {
            let stream = Stream::new(self.spec.seed, node as u64, "occupancy");
            Occupancy::new(ports.len(), &self.plan.largest_frames, watch.unit.get() as u32, stream)
        });
        let notice = (watch.notice_class, watch.notice_size.get() as u16);
        let sizes = (ports.len(), network.classes, self.spec.flows.len());
        let mut congestion_point = CongestionPointState::new(
            point,
            occupancy,
            if watch.reliable { to_host } else { Vec::new() },
            sizes,
            notice,
        );
        congestion_point.samples_dropped = watch.sample_dropped;
        congestion_point.trimmed = (watch.trim_class, watch.trim_size.get() as u16);
        congestion_point
    }

    fn script(&self, node: usize) -> VecDeque<(Time, Action)> {
        let mut script = Vec::new();
        for fault in &self.spec.faults {
            for number in 0..self.degrees[node] {
                if self.plan.ports[self.first_global[node] as usize + number].cable == fault.cable {
                    let port = number as u16;
                    script.push((fault.down, Action::Cable { port, up: false }));
                    script.extend(fault.up.map(|up| (up, Action::Cable { port, up: true })));
                }
            }
        }
        match self.spec.graph.nodes[node].role {
            Role::Switch => {
                for (tables, change) in (1..).zip(&self.spec.route_changes) {
                    script.extend(change.times(NodeId(node as u32)).map(|at| (at, Action::Routes(tables))));
                }
            }
            Role::Host => {
                for (tables, change) in (1..).zip(&self.spec.route_changes).filter(|_| self.degrees[node] > 1) {
                    for (port, end) in (0..).zip(&self.ends[node]) {
                        script.extend(change.times(end.peer).map(|at| (at, Action::Home { port, tables })));
                    }
                }
                for &(at, rate) in &self.spec.adapters[self.spec.kind_of[node] as usize].service_changes {
                    script.push((at, Action::Service(rate)));
                }
            }
        }
        script.retain(|&(at, _)| at <= self.spec.end);
        script.sort_by_key(|&(at, _)| at);
        script.into()
    }

    fn first_alarms<P: Probe>(&self, shard: &mut Shard<Network<P>>) {
        let (network, alarms) = (&shard.model, &mut shard.context.alarms);
        let numbers = network.numbers;
        for (place, node) in (0..).zip(&network.nodes) {
            if let Some(&(at, _)) = node.script.front() {
                alarms.arm(numbers.script + place, at);
            }
            if let Some(every) = network.probe.sample_every() {
                alarms.arm(numbers.sample + place, Time::ZERO + every);
            }
            if let Device::Host(host) = node.device
                && network.hosts[host as usize].scheduled > 0
            {
                let first = network.number_of(network.hosts[host as usize].first_flow);
                alarms.arm(numbers.workload + place, self.spec.flows[first as usize].start);
            }
        }
        for port in 0..network.ports.len() {
            let gates = &network.gates[port * network.classes..(port + 1) * network.classes];
            if let Some(first) = gates.iter().map(|gate| gate.refresh).min().filter(|&at| at != Time::MAX) {
                alarms.arm(numbers.flow_control + port as u32, first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProbe;
    use crate::describe::graph::{HostId, LinkSpec};
    use crate::describe::spec::{AdapterSpec, ClassBuffer, ClassSpec};
    use crate::describe::topology::{Links, fat_tree};
    use crate::describe::workload::{FlowSpec, permutation};
    use units::Bytes;

    #[test]
    fn a_rank_keeps_what_is_its_own() {
        let graph = fat_tree(8, Links::same(LinkSpec::new(Rate::from_gigabits(10), Span::from_micros(1)))).unwrap();
        let switch =
            SwitchSpec::pfc([ClassBuffer::lossless(Bytes::new(60_000), Bytes::new(20_000), Bytes::new(9_000))]);
        let mut spec = NetworkSpec::uniform(graph, switch, AdapterSpec::default(), ClassSpec::lossless("data"));
        let hosts: Vec<HostId> = (0..spec.graph.hosts().len() as u32).map(HostId).collect();
        spec.flows = permutation(&hosts, &FlowSpec::greedy(HostId(0), HostId(1)), 1).into();
        let options = BuildOptions { shards: 8, ..BuildOptions::default() };
        let kept = |rank: RankOf| {
            let built = build(&spec, &options, rank, |_| NoProbe).unwrap();
            let networks = || built.shards.iter().map(|shard| &shard.model);
            let switches: usize = networks().map(|network| network.switches.len()).sum();
            let tables = built.plan.tables.iter().map(|tables| tables.cells()).sum::<usize>();
            let flows: usize = networks().map(|network| network.flows.len() + network.received.len()).sum();
            // A flow is known where it starts and where it ends.
            assert!(built.plan.flows.iter().len() <= flows);
            let ports: usize = networks().map(|network| network.ports.len()).sum();
            assert!((ports..2 * ports).contains(&built.plan.ports.iter().len()));
            assert_eq!(built.port_at.iter().len(), built.plan.ports.iter().len());
            [switches, tables, flows, ports]
        };
        let whole = kept(RankOf::ALONE);
        let parts: Vec<[usize; 4]> = (0..4).map(|rank| kept(RankOf { rank, count: 4 })).collect();
        for (what, &whole) in whole.iter().enumerate() {
            assert_eq!(parts.iter().map(|part| part[what]).sum::<usize>(), whole, "each thing is on one rank");
            assert!(parts.iter().all(|part| 3 * part[what] < whole), "{what}: {parts:?} of {whole}");
        }
    }

    #[test]
    fn ranks_get_runs_of_shards_of_equal_weight() {
        assert_eq!(bounds(&[8, 8, 8, 8], 2), [0, 2, 4]);
        assert_eq!(bounds(&[8, 8, 8, 8], 4), [0, 1, 2, 3, 4]);
        assert_eq!(bounds(&[50, 10, 10, 10, 10, 10], 2), [0, 1, 6]);
        assert_eq!(bounds(&[9], 1), [0, 1]);
        // More ranks than shards: some have none.
        let few = bounds(&[9, 9], 5);
        assert!(few.is_sorted() && few.len() == 6 && few[5] == 2, "{few:?}");
        assert_eq!(bounds(&[], 2), [0, 0, 0]);
    }
}
