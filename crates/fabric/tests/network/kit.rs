//! Networks and probes that the tests share.

use fabric::engine::{InMemory, Ranks, in_memory};
use fabric::graph::{Graph, HostId, LinkSpec, NodeId};
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::FlowSpec;
use fabric::{BuildOptions, Frame, NoProbe, Probe, RankOf, RunLimits, RunSummary, Simulation};
use std::ops::ControlFlow;
use units::{Bytes, Rate, Span, Time};

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
    FlowSpec { frame: Bytes::new(frame), ..FlowSpec::greedy(HostId(from), HostId(to)) }
}

pub fn hosts(spec: &NetworkSpec) -> Vec<HostId> {
    (0..spec.graph.hosts().len() as u32).map(HostId).collect()
}

pub fn at(span: Span) -> Time {
    Time::ZERO + span
}

pub fn run_with<P: Probe>(
    spec: &NetworkSpec,
    until: Span,
    probe: impl FnMut(usize) -> P,
) -> (Simulation<P>, RunSummary) {
    let mut simulation = Simulation::build_with(spec, &BuildOptions::default(), probe).expect("a sound network");
    let report = simulation.run(&RunLimits::until(at(until)));
    (simulation, report)
}

pub fn run(spec: &NetworkSpec, until: Span) -> (Simulation, RunSummary) {
    run_with(spec, until, |_| NoProbe)
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

/// Keeps the delivery time of every frame, and checks that none overtakes another of its flow.
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
        self.next[flow] = frame.seq() + 1;
    }
}

/// A ring whose switches all send clockwise, each host to the one two switches on: a circle of full buffers.
pub fn clockwise_ring(switches: u32, latency: Span, control: FlowControl, buffer: ClassBuffer) -> NetworkSpec {
    let graph = topology::ring(switches, 1, Links::same(link(10, latency))).unwrap();
    let mut spec = network(graph, switch(buffer, control), lossless());
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
