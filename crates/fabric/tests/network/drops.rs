//! Lossy output queues: what fits, and what theory says is lost.

use crate::kit::*;
use fabric::spec::*;
use fabric::topology;
use fabric::workload::{FlowSpec, Gaps, Pattern};
use units::{Bytes, Rate, Span};

/// Frames that arrive within one frame time fill the buffer alike, at one instant or one after the other: the frame on
/// the wire is in it until its last bit has left.
#[test]
fn frames_at_one_instant_and_frames_one_after_the_other_find_the_same_room() {
    for (gap, capacity, fit) in [(0, 5000, 5), (50, 5000, 5), (0, 5999, 5), (50, 5999, 5), (50, 1000, 1), (0, 999, 0)] {
        let graph = topology::single_switch(11, link(10, Span::from_nanos(10))).unwrap();
        let buffer = ClassBuffer::drop_tail(Bytes::new(capacity));
        let mut spec = network(graph, switch(buffer, FlowControl::None), lossy());
        let flow = |from: u32| FlowSpec {
            size: Some(Bytes::new(1000)),
            start: at(Span::from_nanos(gap * u64::from(from))),
            ..greedy(from, 0, 1000)
        };
        spec.flows = (1..11).map(flow).collect();
        let totals = run(&spec, Span::from_micros(100)).0.totals();
        assert_eq!(
            (totals.delivered_frames, totals.dropped_frames),
            (fit, 10 - fit),
            "{gap} ns apart, {capacity} B of room"
        );
    }
}

/// A limit in frames is one more limit: the frame on the wire counts, in static and in shared buffers.
#[test]
fn a_queue_is_limited_in_frames_too() {
    for (gap, frames, fit) in [(0, 4, 4), (50, 4, 4), (50, 1, 1), (0, 9, 5)] {
        let graph = topology::single_switch(11, link(10, Span::from_nanos(10))).unwrap();
        let buffer = ClassBuffer { frames, ..ClassBuffer::drop_tail(Bytes::new(5000)) };
        let mut spec = network(graph, switch(buffer, FlowControl::None), lossy());
        let flow = |from: u32| FlowSpec {
            size: Some(Bytes::new(1000)),
            start: at(Span::from_nanos(gap * u64::from(from))),
            ..greedy(from, 0, 1000)
        };
        spec.flows = (1..11).map(flow).collect();
        let shared = Buffer::Shared { total: Bytes::new(100_000), alpha: (1, 1), classes: vec![buffer] };
        for (buffer, fit) in [(spec.switches[0].buffer.clone(), fit), (shared, u64::from(frames))] {
            spec.switches[0].buffer = buffer;
            let totals = run(&spec, Span::from_micros(100)).0.totals();
            assert_eq!((totals.delivered_frames, totals.dropped_frames), (fit, 10 - fit), "{frames} frames");
        }
    }
}

/// The part of Poisson arrivals that a queue with constant service loses if `places` of them fit, that in service counted:
/// M/D/1/K by the chain of what departures leave behind (Gross and Harris, Fundamentals of Queueing Theory).
fn lost_by_m_d_1_k(load: f64, places: usize) -> f64 {
    let mut arrivals = vec![(-load).exp()];
    for count in 1..=places {
        arrivals.push(arrivals[count - 1] * load / count as f64);
    }
    let mut left = vec![1.0];
    for k in 0..places - 1 {
        let into: f64 = (1..=k).map(|j| left[j] * arrivals[k - j + 1]).sum();
        left.push((left[k] - left[0] * arrivals[k] - into) / arrivals[0]);
    }
    let empty = 1.0 / left.iter().sum::<f64>();
    1.0 - 1.0 / (empty + load)
}

#[test]
fn the_formula_of_m_d_1_k_meets_known_values() {
    // One place: Erlang's formula. Without load nothing is lost, with much of it all beyond one service.
    assert!((lost_by_m_d_1_k(0.8, 1) - 0.8 / 1.8).abs() < 1e-12);
    // Two places: 1 - 1 / (e^-r + r).
    assert!((lost_by_m_d_1_k(0.5, 2) - (1.0 - 1.0 / ((-0.5f64).exp() + 0.5))).abs() < 1e-12);
    assert!((lost_by_m_d_1_k(4.0, 30) - 0.75).abs() < 1e-6 && lost_by_m_d_1_k(0.3, 12) < 1e-7);
}

/// A queue of K frames loses what M/D/1/K loses, and not what a queue with another place would.
#[test]
fn losses_of_poisson_arrivals_are_those_of_m_d_1_k() {
    let cases = [(0.5, 1), (0.5, 2), (0.8, 1), (0.8, 3), (0.95, 2), (0.95, 5), (1.2, 4)];
    for ((load, places), seed) in cases.into_iter().zip(21..) {
        // The source's own cable is ten thousand times faster, so that it spaces nothing.
        let mut graph = topology::single_switch(2, link(10, Span::from_nanos(100))).unwrap();
        graph.cables[0].link.rate = Rate::from_gigabits(100_000);
        let buffer = ClassBuffer::drop_tail(Bytes::new(1000 * places as u64));
        let mut spec = network(graph, switch(buffer, FlowControl::None), lossy());
        spec.overhead = Bytes::ZERO;
        spec.seed = seed;
        let rate = Rate::from_bits_per_sec((10e9 * load) as u64);
        let pattern = Pattern::Paced { rate, gaps: Gaps::Exponential, backlog: None };
        spec.flows = vec![greedy(0, 1, 1000).with(|it| {
            it.pattern = pattern;
        })]
        .into();
        let totals = run(&spec, Span::from_millis(100)).0.totals();
        let lost = totals.dropped_frames as f64 / totals.made_frames as f64;
        let (expected, another) = (lost_by_m_d_1_k(load, places), lost_by_m_d_1_k(load, places + 1));
        assert!((lost / expected - 1.0).abs() < 0.04, "load {load}, {places} places: {lost} against {expected}");
        assert!((lost / another - 1.0).abs() > 0.06, "load {load}, {places} places: {lost} is that of one more");
    }
}
