//! What became of millions of flows takes a few bytes for each.

use crate::kit::*;
use crate::recovery::recovery;
use fabric::engine::Alone;
use fabric::topology::{Links, fat_tree};
use fabric::workload::{Acknowledge, Arrivals, FlowGaps, FlowSize, poisson};
use units::{Bytes, Span};

/// Flows of some frames each, that do no more than they are described to do.
fn flows(reliable: bool) -> (usize, usize) {
    let graph = fat_tree(4, Links::same(link(100, Span::from_micros(1)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    let template = greedy(0, 1, 1000).with(|it| {
        it.acknowledge = reliable.then(Acknowledge::default);
        it.recovery = if reliable { recovery("go-back-n", &[]) } else { None };
    });
    let until = at(Span::from_micros(400));
    let arrivals =
        Arrivals { from: at(Span::ZERO), mean_gap: Span::from_nanos(100), gaps: FlowGaps::Exponential, until };
    let size = FlowSize::Pareto { shape: 1.5, mean: Bytes::new(3000) };
    let all = hosts(&spec);
    spec.flows = poisson(&all, &all, None, arrivals, &size, &template, 5).collect();
    let (simulation, _) = run(&spec, Span::from_millis(2));
    let summaries = simulation.flows_among(&mut Alone);
    assert!(summaries.iter().all(|flow| flow.completed.is_some() && flow.acknowledged.is_some() == reliable));
    (summaries.len(), summaries.memory())
}

#[test]
fn a_flow_that_did_as_described_takes_a_few_bytes() {
    // When it was complete and how long it takes alone; with recovery, also when its source knew.
    for (reliable, each) in [(false, 8), (true, 12)] {
        let (count, bytes) = flows(reliable);
        assert!(count > 3000 && bytes <= each * count, "{count} flows take {bytes} bytes");
    }
}
