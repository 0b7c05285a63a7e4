//! Flows of one adapter take turns, whatever lets each of them send: nothing, a rate limit, a window or a pace.

use crate::kit::*;
use congestion::{Allowance, NoControl, Reaction};
use fabric::spec::*;
use fabric::topology;
use fabric::workload::{Acknowledge, FlowSpec, Gaps, Pattern};
use fabric::{Frame, Kind, Probe};
use units::{Bytes, Rate, Span, Stream, Time};

/// The data frames that host 0 sends: when each starts, its flow, and how long it has waited.
#[derive(Default)]
struct Starts(Vec<(Time, u32, Span)>);

impl Probe for Starts {
    fn on_transmit(&mut self, now: Time, port: u32, frame: &Frame, waited: Span, _busy: Span) {
        if port == 0 && frame.kind == Kind::Data {
            self.0.push((now, frame.flow, waited));
        }
    }
}

fn limited(rate: Option<Rate>) -> Reaction {
    Reaction::None(NoControl { allowance: Allowance { rate, window: None } })
}

fn starts(spec: &NetworkSpec, until: Span) -> Vec<(Time, u32, Span)> {
    let (mut simulation, _) = run_with(spec, until, |_| Starts::default());
    std::mem::take(&mut simulation.probes_mut().next().unwrap().0)
}

/// One host with these flows to another, on a link of 10 Gb/s.
fn one_host(flows: Vec<FlowSpec>) -> NetworkSpec {
    let graph = topology::single_switch(2, link(10, Span::from_nanos(10))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows = flows.into();
    spec
}

/// How many of the frames are of each flow, as parts of all.
fn parts(starts: &[(Time, u32, Span)], flows: u32) -> Vec<f64> {
    let of = |flow| starts.iter().filter(|start| start.1 == flow).count() as f64 / starts.len() as f64;
    (0..flows).map(of).collect()
}

#[test]
fn a_limited_flow_has_every_turn_that_its_limit_allows() {
    for (megabits, expected) in [(9900, 0.5), (5000, 0.5), (4000, 1.0 / 3.0), (3000, 0.25)] {
        let reaction = limited(Some(Rate::from_megabits(megabits)));
        let spec = one_host(vec![
            greedy(0, 1, 1500),
            greedy(0, 1, 1500).with(|it| {
                it.reaction = reaction;
            }),
        ]);
        let second = parts(&starts(&spec, Span::from_millis(2)), 2)[1];
        assert!((second / expected - 1.0).abs() < 0.005, "limit {megabits} Mb/s: {second} against {expected}");
    }
}

/// Round-robin with pacing in a few lines: the flows that may send stand in a queue; the one that sent last is behind all
/// others. A flow may send again when its last frame, overhead counted, has been paid for at its rate.
fn reference(flows: &[(u64, Option<Rate>)], frames: usize) -> Vec<(Time, u32)> {
    let wire_bits = |flow: usize| (flows[flow].0 + 20) * 8;
    let mut queue: Vec<usize> = Vec::new();
    let mut away: Vec<(u64, usize)> = (0..flows.len()).map(|flow| (0, flow)).collect();
    let (mut now, mut last, mut sent) = (0, usize::MAX, Vec::new());
    while sent.len() < frames {
        let first = away.iter().map(|&(ready, _)| ready).min();
        if queue.is_empty() {
            now = first.unwrap_or(now).max(now);
        }
        away.sort_by_key(|&(ready, flow)| (flow == last, ready, flow));
        queue.extend(away.iter().filter(|&&(ready, _)| ready <= now).map(|&(_, flow)| flow));
        away.retain(|&(ready, _)| ready > now);
        let flow = queue.remove(0);
        sent.push((Time::from_picos(now), flow as u32));
        let paid = flows[flow].1.map_or(0, |rate| {
            (u128::from(wire_bits(flow)) * 1_000_000_000_000 / u128::from(rate.as_bits_per_sec())) as u64
        });
        away.push((now + paid, flow));
        last = flow;
        now += wire_bits(flow) * 100;
    }
    sent
}

#[test]
fn turns_are_those_of_round_robin_with_pacing() {
    let mut random = Stream::new(15, 0, "turns");
    for case in 0..60 {
        let count = 1 + random.below(7) as usize;
        let equal = case % 2 == 0;
        let flows: Vec<(u64, Option<Rate>)> = (0..count)
            .map(|_| {
                let frame = if equal { 1500 } else { 64 + random.below(1437) };
                let rate = match random.below(4) {
                    0 => None,
                    // Divisors of the link's rate: limits that end exactly when frames do.
                    1 => Some(Rate::from_megabits(10_000 / (1 + random.below(8)))),
                    _ => Some(Rate::from_megabits(100 + random.below(12_000))),
                };
                (frame, rate)
            })
            .collect();
        let spec = |&(frame, rate): &(u64, Option<Rate>)| {
            greedy(0, 1, frame).with(|it| {
                it.reaction = limited(rate);
            })
        };
        let found = starts(&one_host(flows.iter().map(spec).collect()), Span::from_micros(300));
        let found: Vec<(Time, u32)> = found.into_iter().map(|(at, flow, _)| (at, flow)).collect();
        assert!(found.len() > 5, "case {case}: {flows:?}");
        assert_eq!(found, reference(&flows, found.len()), "case {case}: {flows:?}");
    }
}

/// A class that has to wait for another does not lose its order: the flow that sent last is still behind.
#[test]
fn the_flow_that_sent_last_stays_behind_while_another_class_sends() {
    let graph = topology::single_switch(2, link(10, Span::from_nanos(10))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.classes = vec![lossless(); 2];
    let Buffer::Static(buffers) = &mut spec.switches[0].buffer else { panic!("a fixed buffer") };
    buffers.push(buffers[0]);
    let egress = Egress::weighted(&[Bytes::new(1520); 2]);
    (spec.adapters[0].egress, spec.switches[0].egress) = (egress.clone(), egress);
    // The limit ends after 3.85 frame times: when the other class sends and the first flow has sent already.
    let reaction = limited(Some(Rate::from_megabits(2600)));
    let other = FlowSpec { class: 1, ..greedy(0, 1, 1500) };
    spec.flows = vec![
        greedy(0, 1, 1500),
        greedy(0, 1, 1500).with(|it| {
            it.reaction = reaction;
        }),
        other,
    ]
    .into();
    let found = parts(&starts(&spec, Span::from_millis(1)), 3);
    for (found, expected) in found.iter().zip([0.25, 0.25, 0.5]) {
        assert!((found / expected - 1.0).abs() < 0.01, "{found} against {expected}");
    }
}

/// An acknowledgement that comes during another flow's frame lets the next turn be the flow's own.
#[test]
fn a_window_that_opens_has_the_next_turn() {
    let allowance = Allowance { rate: None, window: Some(Bytes::new(1500)) };
    let acknowledge = Some(Acknowledge { size: Bytes::new(64), class: 0, every: 1, delay: None });
    let windowed = greedy(0, 2, 1500).with(|it| {
        it.acknowledge = acknowledge;
        it.reaction = Reaction::None(NoControl { allowance });
    });
    let graph = topology::single_switch(3, link(10, Span::from_nanos(10))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows = vec![greedy(0, 1, 1500), windowed].into();
    // A round trip is 2606 ns, 2.14 frame times: every third frame.
    let found = parts(&starts(&spec, Span::from_millis(1)), 2);
    assert!((found[1] * 3.0 - 1.0).abs() < 0.01, "{found:?}");
}

#[test]
fn a_paced_frame_waits_for_the_frame_on_the_wire_only() {
    // Two frames are at least 3.1 us apart, more than two frame times.
    let rate = Rate::from_megabits(3100);
    let pattern = Pattern::Paced { rate, gaps: Gaps::Jittered(0.2), backlog: None };
    let spec = one_host(vec![
        greedy(0, 1, 1500),
        greedy(0, 1, 1500).with(|it| {
            it.pattern = pattern;
        }),
    ]);
    let starts = starts(&spec, Span::from_millis(1));
    let waits: Vec<Span> = starts.iter().filter(|start| start.1 == 1).map(|start| start.2).collect();
    assert!(waits.len() > 200 && waits.iter().all(|&wait| wait <= Span::from_nanos(1216)), "{:?}", waits.iter().max());
}
