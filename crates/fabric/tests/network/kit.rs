//! Networks and probes that the tests share.

use crate::observed::Observed;
use fabric::engine::{InMemory, Ranks, in_memory};
use fabric::graph::{Graph, HostId, LinkSpec, NodeId};
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::{FlowSpec, Via};
use fabric::{BuildOptions, Frame, NoProbe, Probe, RankOf, RunLimits, RunSummary, Simulation};
use std::ops::ControlFlow;
use units::{Bytes, Rate, Span, Stream, Time};

pub fn link(gigabits: u64, latency: Span) -> LinkSpec {
    LinkSpec { rate: Rate::from_gigabits(gigabits), latency, bit_error_rate: 0.0 }
}

pub fn lossless() -> ClassSpec {
    ClassSpec { name: "lossless".into(), lossless: true }
}

pub fn lossy() -> ClassSpec {
    ClassSpec { name: "lossy".into(), lossless: false }
}

pub fn pfc() -> FlowControl {
    FlowControl::Pfc(PauseSpec::default())
}

/// Credits of one frame each, back by a signal after that delay.
pub fn slots(delay: Span) -> FlowControl {
    FlowControl::Credits(CreditSpec { unit: CreditUnit::Frame, give_back: CreditReturn::Signal { delay } })
}

/// Virtual-lane arbitration by these tables of classes and weights.
pub fn lanes(high: &[(u8, u8)], low: &[(u8, u8)], high_limit: u8) -> Egress {
    let table = |entries: &[(u8, u8)]| entries.iter().map(|&(class, weight)| VlEntry { class, weight }).collect();
    Egress::Tables(VlArbitration { high: table(high), low: table(low), high_limit })
}

/// An output-queued, storing switch for one class.
pub fn switch(buffer: ClassBuffer, flow_control: FlowControl) -> SwitchSpec {
    SwitchSpec {
        queueing: Queueing::Output,
        buffer: Buffer::Static(vec![buffer]),
        flow_control,
        crossbar: None,
        egress: Egress::Strict,
        forwarding: Forwarding::StoreAndForward,
        pipeline: Span::ZERO,
        order: Order::Arrival,
        congestion_point: None,
        pfc_watchdog: None,
    }
}

/// PFC at 50 kB with 150 kB for what is still on its way.
pub fn pfc_switch() -> SwitchSpec {
    switch(ClassBuffer::lossless(Bytes::new(200_000), Bytes::new(50_000), Bytes::new(40_000)), pfc())
}

pub fn network(graph: Graph, switch: SwitchSpec, class: ClassSpec) -> NetworkSpec {
    NetworkSpec::uniform(graph, switch, AdapterSpec::default(), class)
}

pub fn greedy(from: u32, to: u32, frame: u64) -> FlowSpec {
    FlowSpec::greedy(HostId(from), HostId(to)).with(|it| {
        it.frame = Bytes::new(frame);
    })
}

pub fn hosts(spec: &NetworkSpec) -> Vec<HostId> {
    (0..spec.graph.hosts().len() as u32).map(HostId).collect()
}

pub fn at(span: Span) -> Time {
    Time::ZERO + span
}

pub fn run_with<P: Probe + 'static>(
    spec: &NetworkSpec,
    until: Span,
    probe: impl FnMut(usize) -> P,
) -> (Observed<P>, RunSummary) {
    let mut simulation = Observed::build(spec, &BuildOptions::default(), probe).expect("a sound network");
    let report = simulation.run(&RunLimits::until(at(until)));
    (simulation, report)
}

pub fn run(spec: &NetworkSpec, until: Span) -> (Simulation, RunSummary) {
    let mut simulation = Simulation::build(spec, &BuildOptions::default()).expect("a sound network");
    let report = simulation.run(&RunLimits::until(at(until)));
    (simulation, report)
}

/// Runs a network on so many ranks, which are threads, and returns what each of them says of the run.
pub fn on_ranks(spec: &NetworkSpec, ranks: usize, options: &BuildOptions, limits: &RunLimits<'_>) -> Vec<RunSummary> {
    let part = |mut ranks: InMemory| {
        let rank = RankOf { rank: ranks.rank(), count: ranks.count() };
        let mut part = Simulation::build_part(spec, options, rank, |_| NoProbe).expect("a sound network");
        part.run_among(&mut ranks, limits, &[], |_, _, _| ControlFlow::Continue(()), |_, _| {})
    };
    std::thread::scope(|scope| {
        let ranks: Vec<_> = in_memory(ranks).into_iter().map(|rank| scope.spawn(|| part(rank))).collect();
        ranks.into_iter().map(|rank| rank.join().expect("no rank panics")).collect()
    })
}

/// Keeps the delivery time of every frame, and counts those that arrive after a later one of their flow.
#[derive(Default)]
pub struct Deliveries {
    pub times: Vec<(Time, u32, u32)>,
    pub out_of_order: u64,
    next: Vec<u32>,
}

impl Probe for Deliveries {
    fn on_deliver(&mut self, now: Time, _host: u32, frame: &Frame) {
        self.times.push((now, frame.flow, frame.seq()));
        let flow = frame.flow as usize;
        if self.next.len() <= flow {
            self.next.resize(flow + 1, 0);
        }
        self.out_of_order += u64::from(frame.seq() < self.next[flow]);
        self.next[flow] = self.next[flow].max(frame.seq() + 1);
    }
}

/// The same network with hosts that have several links: planes, rails, parallel links, or some more to any switch.
pub fn multihomed(graph: Graph, seed: u64) -> Graph {
    let mut stream = Stream::new(seed, 0, "homing");
    let made = match stream.below(5) {
        0 => topology::planes(&graph, 2),
        1 => topology::host_links(graph.clone(), 2),
        2 => topology::rails(&graph, 2),
        _ => {
            let mut graph = graph.clone();
            let (hosts, switches) = (graph.hosts(), graph.switches());
            for host in hosts {
                let link = graph.cables[0].link;
                for _ in 0..stream.below(3) {
                    let rate = [link.rate, Rate::from_gigabits(3)][stream.below(2) as usize];
                    let switch = switches[stream.below(switches.len() as u64) as usize];
                    graph.cable(host, switch, LinkSpec { rate, ..link });
                }
            }
            Ok(graph)
        }
    };
    // Not every network has rails.
    made.unwrap_or(graph)
}

/// Binds each flow to a port of its host, or lets it hash or spray.
pub fn leave_somehow(spec: &mut NetworkSpec) {
    let (ends, hosts) = (spec.graph.ports(), spec.graph.hosts());
    let mut stream = Stream::new(spec.seed, 0, "via");
    for flow in &mut spec.flows {
        let ports = ends[hosts[flow.source.0 as usize].0 as usize].len() as u64;
        flow.via = match stream.below(4) {
            0 => Via::Port(stream.below(ports) as u16),
            1 => Via::Hash,
            _ => Via::Spray,
        };
    }
}

/// A ring whose switches all send clockwise, each host to the one two switches on: a circle of full buffers.
pub fn clockwise_ring(switches: u32, latency: Span, control: FlowControl, buffer: ClassBuffer) -> NetworkSpec {
    clockwise(topology::ring(switches, 1, Links::same(link(10, latency))).unwrap(), control, buffer)
}

/// The same on a ring with one host per switch.
pub fn clockwise(ring: Graph, control: FlowControl, buffer: ClassBuffer) -> NetworkSpec {
    let switches = ring.switches().len() as u32;
    let mut spec = network(ring, switch(buffer, control), lossless());
    let ends = spec.graph.ports();
    let hosts = spec.graph.hosts();
    let switch_of: Vec<NodeId> = hosts.iter().map(|host| ends[host.0 as usize][0].peer).collect();
    for (place, &here) in switch_of.iter().enumerate() {
        let next = switch_of[(place + 1) % switch_of.len()];
        let clockwise = ends[here.0 as usize].iter().position(|end| end.peer == next).unwrap() as u16;
        for target in 0..switches {
            if target as usize != place {
                spec.routes.set(here, HostId(target), &[clockwise]).unwrap();
            }
        }
    }
    spec.flows = (0..switches).map(|host| greedy(host, (host + 2) % switches, 1000)).collect();
    spec
}
