//! Frames dropped for want of room that their sources queue again.

use crate::kit::*;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::{Activity, FlowSpec, Gaps, Pattern};
use fabric::{BuildOptions, Outcome, Partition, RunLimits, Simulation};
use units::{Bytes, Span, Time};

/// Four hosts behind one switch burst to one behind another through a queue of twenty frames.
fn bursts(requeue: Option<Span>) -> NetworkSpec {
    let graph = topology::two_switches(4, 1, 1, Links::same(link(10, Span::from_micros(1)))).unwrap();
    let mut spec = network(graph, switch(ClassBuffer::drop_tail(Bytes::new(20_000)), FlowControl::None), lossy());
    let flow = |from: u32| {
        FlowSpec { size: Some(Bytes::new(100_000)), ..greedy(from, 4, 1000) }.with(|it| {
            it.requeue_oracle = requeue;
        })
    };
    spec.flows = (0..4).map(flow).collect();
    spec
}

#[test]
fn what_is_dropped_is_sent_again_until_it_arrives() {
    let (lost, report) = run(&bursts(None), Span::from_millis(5));
    assert!(report.totals.dropped_frames > 100 && report.totals.requeued_frames == 0);
    assert!(lost.flows().iter().any(|flow| flow.completed.is_none()));
    let (kept, report) = run(&bursts(Some(Span::from_micros(5))), Span::from_millis(5));
    assert_eq!(report.outcome, Outcome::Finished);
    assert_eq!(report.totals.requeued_frames, report.totals.dropped_frames);
    assert!(report.totals.dropped_frames > 100);
    for flow in kept.flows() {
        assert!(flow.completed.is_some());
        assert_eq!(flow.received_bytes, 100_000);
    }
    // Made are those that arrived and those that were dropped.
    assert_eq!(report.totals.made_frames, 400 + report.totals.dropped_frames);
    assert_eq!(kept.census().places, 0);
}

#[test]
fn sources_in_other_shards_hear_of_it_too() {
    let spec = bursts(Some(Span::from_micros(5)));
    let run = |shards: usize, shuffle: Option<u64>| {
        let options = BuildOptions { partition: Partition::Natural, shards, shuffle };
        let mut simulation = Simulation::build(&spec, &options).unwrap();
        let limits = RunLimits { threads: shards, ..RunLimits::until(Time::ZERO + Span::from_millis(3)) };
        let report = simulation.run(&limits);
        (report.fingerprint, report.totals, simulation.flows())
    };
    let one = run(1, None);
    assert!(one.1.requeued_frames > 0);
    assert_eq!(one, run(2, None));
    assert_eq!(one, run(3, Some(4)));
}

#[test]
fn what_comes_back_in_a_silence_goes_in_the_next_burst() {
    // All is sent in the first burst, and its drops are known in the silence after it.
    let mut spec = bursts(Some(Span::from_micros(110)));
    let (on, off) = (Span::from_micros(100), Span::from_micros(100));
    for (flow, discard) in spec.flows.iter_mut().zip([false, true, false, true]) {
        flow.activity = Activity::OnOff { on, off, random: false, discard };
        if flow.source.0 > 1 {
            let rate = units::Rate::from_gigabits(10);
            flow.pattern = Pattern::Paced { rate, gaps: Gaps::Constant, backlog: None };
            flow.activity = Activity::OnOff { on, off, random: false, discard: false };
        }
    }
    let (simulation, report) = run(&spec, Span::from_millis(20));
    assert!(report.totals.requeued_frames > 100);
    assert!(simulation.flows().iter().all(|flow| flow.completed.is_some()), "{:?}", simulation.flows());
}
