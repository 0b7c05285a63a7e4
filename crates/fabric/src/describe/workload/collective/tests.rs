//! Every schedule brings all data to where it belongs.

use super::*;
use std::collections::BTreeSet;

fn collective(operation: Operation, algorithm: Algorithm, ranks: u32) -> Collective {
    Collective {
        operation,
        algorithm,
        ranks,
        size: Bytes::new(10_000),
        chunk: None,
        local_ranks: 2,
        weights: Vec::new(),
        iterations: 1,
        compute: Span::ZERO,
    }
}

/// Which ranks have contributed to what a rank knows, if everybody passes on all that it knows when it sends.
fn known(of: &Collective) -> Vec<BTreeSet<u32>> {
    let schedule = of.schedule();
    let mut complete: Vec<BTreeSet<u32>> = Vec::new();
    let mut known: Vec<BTreeSet<u32>> = (0..of.ranks).map(|rank| BTreeSet::from([rank])).collect();
    for (number, transfer) in (0..).zip(schedule.transfers()) {
        // It carries what it waits for, and what its sender has.
        let mut carried = BTreeSet::from([transfer.from]);
        for &other in schedule.dependencies().of(number) {
            assert!(other < number, "none waits for a later one");
            let before = schedule.transfers()[other as usize];
            assert!(before.to == transfer.from || before.from == transfer.from);
            // What arrived, and what the sender had when it sent before.
            carried.extend(&complete[other as usize]);
        }
        known[transfer.to as usize].extend(&carried);
        complete.push(carried);
    }
    known
}

fn every() -> impl Iterator<Item = Collective> {
    let sizes = [2, 3, 4, 6, 8, 13, 16];
    let all = Operation::ALL
        .into_iter()
        .flat_map(|(operation, _)| operation.algorithms().iter().map(move |&algorithm| (operation, algorithm)));
    let of = all.flat_map(move |(operation, algorithm)| sizes.map(|ranks| collective(operation, algorithm, ranks)));
    let chunked = of.flat_map(|one| {
        let several = one.algorithm.pipelines().then(|| Collective { chunk: Some(Bytes::new(300)), ..one.clone() });
        [Some(one), several].into_iter().flatten()
    });
    chunked.filter(|one| one.check().is_ok())
}

#[test]
fn all_data_arrives_and_nothing_else_is_sent() {
    for one in every() {
        let (n, schedule) = (u64::from(one.ranks), one.schedule());
        let sent: u64 = schedule.transfers().iter().map(|transfer| transfer.bytes).sum();
        let size = one.size.get();
        let what = format!("{} {} {n}", one.operation.name(), one.algorithm.name());
        assert!(schedule.transfers().len() as u64 <= one.most_flows(), "{what}");
        // The data that a rank must send at least, times the ranks.
        let expected = (n - 1) * size * if one.operation == Operation::AllReduce { 2 } else { 1 };
        assert_eq!(sent, expected, "{what}");
        let everybody = (0..one.ranks).collect::<BTreeSet<u32>>();
        match one.operation {
            Operation::Broadcast | Operation::Pipeline => {
                assert!(known(&one).iter().all(|known| known.contains(&0)), "{what}");
            }
            _ => assert!(known(&one).iter().all(|known| *known == everybody), "{what}"),
        }
    }
}

#[test]
fn an_iteration_waits_for_the_one_before() {
    let hosts: Vec<HostId> = (0..16).map(HostId).collect();
    let template = FlowSpec::greedy(HostId(0), HostId(1));
    for one in every() {
        let three = Collective { iterations: 3, compute: Span::from_micros(1), ..one.clone() };
        let (flows, dependencies) = three.flows(&hosts, &template);
        let count = flows.len() / 3;
        assert!(dependencies.errors(&flows).is_empty(), "{:?}", one.algorithm);
        for later in count..flows.len() {
            // Along what it waits for, every flow comes to one of the iteration before.
            let mut at = later as u32;
            while at as usize / count == later / count {
                at = *dependencies.of(at).iter().min().expect("it waits for something");
            }
        }
    }
}

#[test]
fn a_ring_has_as_many_steps_as_it_is_known_for() {
    let ring = collective(Operation::AllReduce, Algorithm::Ring, 4).schedule();
    assert_eq!(ring.transfers().len(), 4 * 2 * 3);
    assert!(ring.transfers().iter().all(|transfer| transfer.to == (transfer.from + 1) % 4 && transfer.bytes == 2500));
    // The second step of a rank waits for the first one of the rank before it, and until its own has left.
    assert_eq!(ring.dependencies().of(5), [0, 1]);
    assert_eq!(Operation::AllReduce.bus_factor(4), 1.5);
    assert_eq!(Operation::AllToAll.bus_factor(4), 0.75);
}

#[test]
fn weights_say_who_gets_how_much() {
    let skewed =
        Collective { weights: vec![6.0, 3.0, 1.0, 0.0], ..collective(Operation::AllToAll, Algorithm::Direct, 4) };
    let to = |rank: u32| -> Vec<u64> {
        let schedule = skewed.schedule();
        schedule.transfers().iter().filter(|transfer| transfer.to == rank).map(|transfer| transfer.bytes).collect()
    };
    assert_eq!((to(0), to(1), to(2), to(3)), (vec![6000; 3], vec![3000; 3], vec![1000; 3], vec![]));
    assert!(Collective { weights: vec![1.0; 3], ..skewed.clone() }.check().is_err());
    assert!(Collective { weights: vec![1.0, 0.0, 0.0, 0.0], ..skewed.clone() }.check().is_err());
    assert!(Collective { weights: vec![1.0, f64::NAN, 1.0, 1.0], ..skewed }.check().is_err());
}

#[test]
fn impossible_collectives_are_refused() {
    let refusal = |one: Collective| one.check().err().map(|unsound| unsound.what).unwrap_or_default();
    let ring = collective(Operation::AllReduce, Algorithm::Ring, 4);
    assert_eq!(refusal(ring.clone()), "");
    assert!(refusal(Collective { ranks: 1, ..ring.clone() }).contains("two ranks"));
    assert!(refusal(Collective { size: Bytes::new(3), ..ring.clone() }).contains("less than a byte"));
    assert!(refusal(Collective { operation: Operation::AllToAll, ..ring.clone() }).contains("no algorithm ring"));
    let hierarchical = Collective { algorithm: Algorithm::Hierarchical, ..ring };
    assert!(refusal(Collective { local_ranks: 3, ..hierarchical.clone() }).contains("groups of 3"));
    assert!(refusal(Collective { local_ranks: 4, ..hierarchical }).contains("groups of 4"));
    let halving = collective(Operation::AllGather, Algorithm::HalvingDoubling, 6);
    assert!(refusal(halving).contains("power of two"));
}
