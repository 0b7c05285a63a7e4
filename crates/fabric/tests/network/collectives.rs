//! Collective operations on whole networks, against what can be computed by hand.

use crate::determinism::same_everywhere;
use crate::kit::*;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::FlowSpec;
use fabric::workload::collective::{Algorithm, Collective, Operation};
use fabric::{Outcome, Simulation};
use units::{Bytes, Span, Time};

fn collective(operation: Operation, algorithm: Algorithm, ranks: u32, size: u64) -> Collective {
    Collective {
        operation,
        algorithm,
        ranks,
        size: Bytes::new(size),
        chunk: None,
        local_ranks: 2,
        weights: Vec::new(),
        iterations: 1,
        compute: Span::ZERO,
    }
}

fn put(spec: &mut NetworkSpec, collective: &Collective, template: &FlowSpec) {
    let hosts = hosts(spec);
    let (flows, dependencies) = collective.flows(&hosts, template);
    (spec.flows, spec.dependencies) = (flows.into(), dependencies);
}

fn last(simulation: &Simulation) -> Time {
    simulation.flows().iter().map(|flow| flow.completed.expect("all arrives")).max().unwrap()
}

/// 2(N - 1) steps, each of which takes a block of size/N with 20 B of overhead per frame on the sender's link, the last
/// frame again on the switch's, and the latency of both.
#[test]
fn a_ring_all_reduce_takes_its_steps_to_the_picosecond() {
    for ranks in [2, 3, 8] {
        let latency = Span::from_nanos(600);
        let graph = topology::single_switch(ranks, link(10, latency)).unwrap();
        let mut spec = network(graph, pfc_switch(), lossless());
        let block = 20_000;
        let size = block * u64::from(ranks);
        put(&mut spec, &collective(Operation::AllReduce, Algorithm::Ring, ranks, size), &greedy(0, 1, 1000));
        let (simulation, report) = run(&spec, Span::from_millis(10));
        assert_eq!(report.outcome, Outcome::Finished);
        // 0.8 ns per byte at 10 Gb/s.
        let wire = |bytes: u64| Span::from_picos(800 * bytes);
        let step = wire(block / 1000 * 1020) + wire(1020) + latency * 2;
        let steps = 2 * (u64::from(ranks) - 1);
        assert_eq!(last(&simulation), at(step * steps), "{ranks} ranks");
        // Acknowledgements do not delay a step: it waits for its data, and until its link is free.
        let acknowledged = greedy(0, 1, 1000).with(|it| {
            it.acknowledge = Some(Default::default());
        });
        let ring = Collective { iterations: 2, ..collective(Operation::AllReduce, Algorithm::Ring, ranks, size) };
        put(&mut spec, &ring, &acknowledged);
        let (simulation, _) = run(&spec, Span::from_millis(20));
        let first = spec.flows.len() / 2;
        let ends = simulation.flows()[..first].iter().filter_map(|flow| flow.completed).max().unwrap();
        // Its link also carries the acknowledgements of what it receives: a frame each, and some on the way.
        let most = wire(84) * (22 * steps);
        assert!((at(step * steps)..=at(step * steps) + most).contains(&ends), "{ranks} ranks: {ends}");
    }
}

#[test]
fn chunks_hide_the_latency_of_steps() {
    let graph = topology::single_switch(8, link(10, Span::from_micros(5))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    let ring = collective(Operation::AllReduce, Algorithm::Ring, 8, 800_000);
    put(&mut spec, &ring, &greedy(0, 1, 1000));
    let whole = last(&run(&spec, Span::from_millis(10)).0);
    put(&mut spec, &Collective { chunk: Some(Bytes::new(10_000)), ..ring }, &greedy(0, 1, 1000));
    let chunked = last(&run(&spec, Span::from_millis(10)).0);
    // 14 steps of 100 kB take 1142 us on the wire; 14 round trips of 10 us more without chunks, two of them with.
    let wire = Span::from_picos(14 * 100 * 1020 * 800);
    assert!(
        whole > at(wire + Span::from_micros(140)) && chunked < at(wire + Span::from_micros(30)),
        "{whole} {chunked}"
    );
}

/// On a non-blocking fat-tree with spraying, everybody sends at nearly the rate of its link.
#[test]
fn an_all_to_all_with_spraying_comes_close_to_the_bound() {
    let graph = topology::fat_tree(4, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.multipath = Multipath::Spray;
    let size = 1_600_000;
    put(&mut spec, &collective(Operation::AllToAll, Algorithm::Direct, 16, size), &greedy(0, 1, 1000));
    let (simulation, report) = run(&spec, Span::from_millis(10));
    assert_eq!(report.outcome, Outcome::Finished);
    let bound = Span::from_picos(size / 16 * 15 / 1000 * 1020 * 800);
    let efficiency = bound.as_secs_f64() / last(&simulation).as_secs_f64();
    assert!((0.9..1.0).contains(&efficiency), "{efficiency}");
}

#[test]
fn a_collective_is_the_same_everywhere() {
    let graph = topology::fat_tree(4, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    let tree = Collective {
        chunk: Some(Bytes::new(5000)),
        iterations: 3,
        compute: Span::from_micros(2),
        ..collective(Operation::AllReduce, Algorithm::DoubleBinaryTree, 16, 20_000)
    };
    put(&mut spec, &tree, &greedy(0, 1, 1000));
    same_everywhere(&spec);
    let (simulation, _) = run(&spec, Span::from_millis(1));
    let ends = |range: std::ops::Range<usize>| simulation.flows()[range].iter().filter_map(|flow| flow.completed).max();
    let third = spec.flows.len() / 3;
    assert!(ends(0..third).is_some() && ends(0..third) < ends(third..2 * third));
}
