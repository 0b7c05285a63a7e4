//! One fingerprint, whatever the threads, the partitioning and the order of what happens at once.

use crate::kit::*;
use fabric::graph::HostId;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::{self, Activity, Arrivals, FlowGaps, FlowSize, FlowSpec, Gaps, Pattern};
use fabric::{BuildOptions, Partition, RunLimits, RunSummary, Simulation};
use std::ops::ControlFlow;
use units::{Bytes, Rate, Span};

pub fn incast() -> NetworkSpec {
    let graph = topology::single_switch(17, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows = workload::incast(&hosts(&spec), HostId(0), &greedy(1, 0, 1500), Span::from_micros(3), 5).into();
    spec
}

pub fn fat_tree() -> NetworkSpec {
    let graph = topology::fat_tree(4, Links::same(link(100, Span::from_micros(1)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows = workload::permutation(&hosts(&spec), &greedy(0, 1, 1000), 3).into();
    let arrivals = Arrivals {
        from: at(Span::ZERO),
        mean_gap: Span::from_micros(5),
        gaps: FlowGaps::Exponential,
        until: at(Span::from_millis(1)),
    };
    let size = FlowSize::Pareto { shape: 1.5, mean: Bytes::new(20_000) };
    let all = hosts(&spec);
    let template = greedy(0, 1, 1000);
    spec.flows.extend(workload::poisson(&all, &all, None, arrivals, &size, &template, 9));
    spec
}

pub fn ring() -> NetworkSpec {
    let graph = topology::ring(5, 2, Links::same(link(10, Span::from_nanos(700)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows =
        workload::all_to_all(&hosts(&spec), &FlowSpec { size: Some(Bytes::new(40_000)), ..greedy(0, 1, 1000) }).into();
    spec
}

/// PFC, PAUSE and both kinds of credits, output queues and input queues, two classes, in one network, with random
/// sources, failing cables and bit errors.
pub fn mixed() -> NetworkSpec {
    let mut graph = topology::leaf_spine(4, 3, 3, Links::same(link(10, Span::from_nanos(800)))).unwrap();
    graph.cables[3].link.bit_error_rate = 1e-6;
    let lossless_buffer = ClassBuffer::lossless(Bytes::new(200_000), Bytes::new(50_000), Bytes::new(40_000));
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.classes = vec![lossless(), lossless()];
    let base = SwitchSpec {
        buffer: Buffer::Static(vec![lossless_buffer; 2]),
        egress: Egress::weighted(&[Bytes::new(3000), Bytes::new(6000)]),
        ..pfc_switch()
    };
    let credit_frames = FlowControl::Credits(CreditSpec {
        unit: CreditUnit::Block(Bytes::new(64)),
        give_back: CreditReturn::Frame { size: Bytes::new(64), refresh: Some(Span::from_micros(50)) },
    });
    let crossbar = |arbitration| Some(Crossbar { arbitration, read_ports: 1, speedup: (1, 1) });
    let slot_buffer = Buffer::Static(vec![ClassBuffer::drop_tail(Bytes::new(24)); 2]);
    spec.switches = vec![
        base.clone(),
        SwitchSpec {
            flow_control: FlowControl::Pause(PauseSpec::default()),
            pipeline: Span::from_nanos(300),
            ..base.clone()
        },
        SwitchSpec {
            flow_control: credit_frames,
            queueing: Queueing::VirtualOutput,
            crossbar: crossbar(Arbitration::RoundRobin),
            forwarding: Forwarding::CutThrough { header_delay: Span::from_nanos(40) },
            ..base.clone()
        },
        SwitchSpec {
            flow_control: slots(Span::from_nanos(30)),
            queueing: Queueing::InputFifo { bypass: 4, reading: BypassReading::Lookahead },
            crossbar: crossbar(Arbitration::ArrivalOrder),
            buffer: slot_buffer,
            ..base.clone()
        },
        SwitchSpec {
            queueing: Queueing::Combined { output_buffer: Bytes::new(40_000) },
            crossbar: Some(Crossbar { arbitration: Arbitration::RoundRobinWaiting, read_ports: 1, speedup: (3, 2) }),
            ..base
        },
    ];
    let switches = (0..).zip(&spec.graph.nodes).filter(|(_, node)| node.role == fabric::graph::Role::Switch);
    for (place, (node, _)) in switches.enumerate().collect::<Vec<_>>() {
        spec.kind_of[node] = place as u32 % 5;
    }
    let all = hosts(&spec);
    let paced = Pattern::Paced { rate: Rate::from_gigabits(2), gaps: Gaps::Jittered(0.5), backlog: None };
    let activity =
        Activity::OnOff { on: Span::from_micros(40), off: Span::from_micros(60), random: true, discard: true };
    spec.flows = workload::permutation(&all, &greedy(0, 1, 1500), 4).into();
    let template = FlowSpec { class: 1, ..greedy(0, 1, 700) }.with(|it| {
        it.pattern = paced;
        it.activity = activity;
    });
    spec.flows.extend(workload::permutation(&all, &template, 8));
    spec.flows.extend(workload::uniform_frames(&all, Rate::from_megabits(500), Gaps::Exponential, &greedy(0, 1, 300)));
    spec.faults = vec![Fault { cable: 5, down: at(Span::from_micros(200)), up: Some(at(Span::from_micros(400))) }];
    spec
}

/// Virtual lanes by table in every kind of switch and in adapters, under every flow control.
pub fn arbitrated() -> NetworkSpec {
    let mut spec = mixed();
    spec.classes = vec![lossless(); 3];
    let tables = |limit| lanes(&[(2, 30), (1, 8)], &[(0, 40), (1, 20), (0, 3)], limit);
    for (switch, limit) in spec.switches.iter_mut().zip([0, 1, 3, 255, 0]) {
        switch.egress = tables(limit);
        let Buffer::Static(buffers) = &mut switch.buffer else { continue };
        buffers.push(buffers[0]);
    }
    spec.adapters[0].egress = tables(1);
    let all = hosts(&spec);
    let urgent = FlowSpec { class: 2, ..greedy(0, 1, 250) };
    spec.flows.extend(workload::uniform_frames(&all, Rate::from_megabits(900), Gaps::Exponential, &urgent));
    spec
}

fn fingerprint(
    spec: &NetworkSpec,
    threads: usize,
    partition: Partition,
    shards: usize,
    shuffle: Option<u64>,
) -> RunSummary {
    let options = BuildOptions { partition, shards, shuffle };
    let mut simulation = Simulation::build(spec, &options).unwrap();
    let limits = RunLimits { threads, ..RunLimits::until(at(Span::from_micros(600))) };
    simulation.run(&limits)
}

pub fn same_everywhere(spec: &NetworkSpec) {
    let expected = fingerprint(spec, 1, Partition::One, 1, None);
    assert!(expected.totals.hops > 1_500, "too little happens: {:?}", expected.totals);
    let check = |report: RunSummary, what: &str| {
        assert_eq!(report.fingerprint, expected.fingerprint, "{what}");
        assert_eq!(report.totals, expected.totals, "{what}");
        assert_eq!((&report.outcome, report.now, report.events), (&expected.outcome, expected.now, expected.events));
    };
    for threads in [1, 2, 3, 8] {
        for partition in [Partition::One, Partition::Natural, Partition::Random { seed: 17 }, Partition::PerNode] {
            let what = format!("{threads} threads, {partition:?}");
            check(fingerprint(spec, threads, partition, threads.max(2), None), &what);
        }
    }
    // Many shards for each thread, cut as they are in earnest.
    check(fingerprint(spec, 2, Partition::Natural, 16, None), "2 threads, 16 shards");
    for seed in 1..4 {
        let what = format!("layout shuffled with seed {seed}");
        check(fingerprint(spec, 1, Partition::One, 1, Some(seed)), &what);
        check(fingerprint(spec, 2, Partition::Random { seed }, 3, Some(seed)), &what);
    }
}

#[test]
fn incast_is_the_same_everywhere() {
    same_everywhere(&incast());
}

#[test]
fn pauses_obeyed_after_a_drawn_time_are_the_same_everywhere() {
    let mut spec = incast();
    let pause = PauseSpec { response_jitter: Span::from_nanos(500), ..PauseSpec::default() };
    spec.switches[0].flow_control = FlowControl::Pfc(pause);
    let prints = [&incast(), &spec].map(|spec| fingerprint(spec, 1, Partition::One, 1, None).fingerprint);
    assert_ne!(prints[0], prints[1], "the time is drawn");
    same_everywhere(&spec);
}

#[test]
fn a_fat_tree_is_the_same_everywhere() {
    same_everywhere(&fat_tree());
}

#[test]
fn a_ring_is_the_same_everywhere() {
    same_everywhere(&ring());
}

#[test]
fn mixed_flow_control_is_the_same_everywhere() {
    same_everywhere(&mixed());
}

#[test]
fn virtual_lanes_by_table_are_the_same_everywhere() {
    same_everywhere(&arbitrated());
}

#[test]
fn credits_on_their_way_when_a_cable_fails_are_the_same_everywhere() {
    let graph = topology::two_switches(3, 3, 1, Links::same(link(10, Span::from_nanos(900)))).unwrap();
    let trunk = graph.cables.iter().position(|cable| {
        [cable.a, cable.b].iter().all(|end| graph.nodes[end.0 as usize].role == fabric::graph::Role::Switch)
    });
    let slots_of_a_switch = switch(ClassBuffer::drop_tail(Bytes::new(20)), slots(Span::from_nanos(700)));
    let mut spec = network(graph, slots_of_a_switch, lossless());
    spec.flows = (0..3).map(|from| greedy(from, from + 3, 500)).collect();
    let fault = |n: u64| Fault {
        cable: trunk.unwrap() as u32,
        down: at(Span::from_nanos(10_000 + 7_130 * n)),
        up: Some(at(Span::from_nanos(12_000 + 7_130 * n))),
    };
    spec.faults = (0..40).map(fault).collect();
    same_everywhere(&spec);
}

#[test]
fn another_seed_is_another_run() {
    let mut spec = mixed();
    let first = fingerprint(&spec, 1, Partition::One, 1, None).fingerprint;
    spec.seed += 1;
    assert_ne!(first, fingerprint(&spec, 1, Partition::One, 1, None).fingerprint);
}

/// A loss ends the run at the same instant with the same report on any partitioning.
#[test]
fn a_loss_is_the_same_everywhere() {
    let mut spec = incast();
    let thin = ClassBuffer::lossless(Bytes::new(11_000), Bytes::new(10_000), Bytes::new(5_000));
    spec.switches[0].buffer = Buffer::Static(vec![thin]);
    let expected = fingerprint(&spec, 1, Partition::One, 1, None);
    assert!(matches!(expected.outcome, fabric::Outcome::LossInLosslessClass(_)), "{:?}", expected.outcome);
    for (threads, partition) in [(2, Partition::PerNode), (3, Partition::Random { seed: 2 })] {
        let report = fingerprint(&spec, threads, partition, 4, None);
        assert_eq!((report.outcome, report.fingerprint), (expected.outcome.clone(), expected.fingerprint));
    }
}

/// Frozen: a change here needs its line under "Changed results" in CHANGELOG.md.
#[test]
fn fingerprints_are_those_on_record() {
    let table = [
        ("incast", incast(), 0x2006_52d5_9027_5c59_u64),
        ("fat-tree", fat_tree(), 0x2c0b_981f_3ef5_836c),
        ("ring", ring(), 0xd291_2d0f_89d7_be47),
        ("mixed", mixed(), 0x370d_5c2e_33b2_1527),
        ("arbitrated", arbitrated(), 0x61c5_16f3_0d4a_64ca),
    ];
    let found: Vec<String> = table
        .iter()
        .map(|(name, spec, _)| format!("{name} {:#018x}", fingerprint(spec, 1, Partition::One, 1, None).fingerprint))
        .collect();
    let expected: Vec<String> = table.iter().map(|(name, _, value)| format!("{name} {value:#018x}")).collect();
    assert_eq!(found, expected);
}

/// A run that is stopped and taken up again is the run that was not.
#[test]
fn a_run_in_pieces_is_the_same_run() {
    for spec in [mixed(), fat_tree()] {
        let whole = fingerprint(&spec, 1, Partition::One, 1, None);
        for partition in [Partition::One, Partition::PerNode] {
            let mut simulation =
                Simulation::build(&spec, &BuildOptions { partition, shards: 2, shuffle: None }).unwrap();
            let mut looks = Vec::new();
            for micros in [1, 130, 250, 251, 600] {
                let limits = RunLimits::until(at(Span::from_micros(micros)));
                let report = simulation.run_supervised(&limits, |progress, _| {
                    looks.push(progress.now);
                    ControlFlow::Continue(())
                });
                assert_eq!(report.now, limits.until);
            }
            assert_eq!(simulation.fingerprint(), whole.fingerprint);
            // Inspections stay on their grid, each seen once.
            assert!(looks.len() >= 5);
            assert_eq!(looks, (1..=looks.len() as u64).map(|n| at(Span::from_micros(100) * n)).collect::<Vec<_>>());
        }
    }
}
