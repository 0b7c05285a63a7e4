//! Flows that wait for other flows.

use crate::determinism::same_everywhere;
use crate::kit::*;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::transport::RECOVERIES;
use fabric::workload::{Acknowledge, Backlog, FlowSpec, Gaps, Notify, Overflow, Pattern};
use fabric::{BuildOptions, Outcome, Simulation};
use std::sync::Arc;
use units::{Bytes, Rate, Span, Time};

fn sized(from: u32, to: u32, bytes: u64) -> FlowSpec {
    FlowSpec { size: Some(Bytes::new(bytes)), ..greedy(from, to, 1000) }
}

fn go_back_n(flow: FlowSpec) -> FlowSpec {
    let info = RECOVERIES.iter().find(|info| info.name == "go-back-n").expect("it is built in");
    let values = congestion::parameter::Values::defaults(info.parameters);
    let recovery = Some(Arc::new((info.build)(&values).expect("sound parameters")));
    flow.with(|it| {
        it.acknowledge = Some(Acknowledge::default());
        it.recovery = recovery;
    })
}

fn one_switch(hosts: u32) -> NetworkSpec {
    network(topology::single_switch(hosts, link(10, Span::from_nanos(500))).unwrap(), pfc_switch(), lossless())
}

/// A frame of 1000 B with 20 B of overhead takes 816 ns on a wire of 10 Gb/s.
const FRAME: Span = Span::from_nanos(816);

#[test]
fn a_flow_starts_when_what_it_waits_for_is_complete_at_its_source() {
    let mut spec = one_switch(10);
    let acknowledged = sized(5, 6, 3000).with(|it| {
        it.acknowledge = Some(Acknowledge::default());
    });
    let paced = Pattern::Paced { rate: Rate::from_gigabits(1), gaps: Gaps::Constant, backlog: None };
    spec.flows = vec![
        sized(0, 1, 5000),
        sized(1, 2, 1000),
        sized(0, 2, 1000),
        acknowledged,
        sized(5, 7, 1000),
        go_back_n(sized(2, 8, 4000)),
        sized(2, 9, 1000),
        sized(3, 4, 3000).with(|it| {
            it.pattern = paced;
        }),
        sized(3, 4, 1000),
        FlowSpec { start: at(Span::from_micros(50)), ..sized(1, 0, 1000) },
    ]
    .into();
    let delay = Span::from_micros(3);
    spec.dependencies.add(1, &[0], delay);
    spec.dependencies.add(2, &[0], Span::ZERO);
    spec.dependencies.add(4, &[3], Span::ZERO);
    spec.dependencies.add(6, &[5], delay);
    spec.dependencies.add(8, &[7], Span::ZERO);
    spec.dependencies.add(9, &[0, 1], Span::ZERO);
    let (simulation, report) = run(&spec, Span::from_millis(1));
    assert_eq!(report.outcome, Outcome::Finished);
    let flows = simulation.flows();
    assert!(flows.iter().all(|flow| flow.completed.is_some()));
    let started = |flow: usize| flows[flow].started.unwrap();
    // Its last byte arrives after five frames on the first link and one on the second.
    assert_eq!(flows[0].completed, Some(at(FRAME * 6 + Span::from_micros(1))));
    assert_eq!(started(1), flows[0].completed.unwrap() + delay);
    assert_eq!(flows[1].completed, Some(started(1) + FRAME * 2 + Span::from_micros(1)));
    // Its last frame has left its source.
    assert_eq!(started(2), at(FRAME * 5));
    // Three frames there, one more on the second link, and an acknowledgement of 84 B on two links back.
    let acknowledgement = Span::from_picos(84 * 800);
    assert_eq!(started(4), at(FRAME * 4 + acknowledgement * 2 + Span::from_micros(2)));
    assert_eq!(started(6), flows[5].acknowledged.unwrap() + delay);
    // A paced source has left its last frame when that frame has, not when it was made.
    assert_eq!(started(8), flows[7].completed.unwrap() - FRAME - Span::from_micros(1));
    assert_eq!(started(9), at(Span::from_micros(50)), "its own start is the earliest");
}

#[test]
fn order_does_not_wait_for_acknowledgements() {
    let mut spec = one_switch(3);
    let acknowledged = sized(0, 1, 3000).with(|it| {
        it.acknowledge = Some(Acknowledge::default());
    });
    spec.flows = vec![acknowledged, sized(0, 2, 1000), sized(0, 2, 1000)].into();
    spec.dependencies.add_in_order(1, &[0]);
    // Several entries with delays of their own: the latest counts.
    spec.dependencies.add(2, &[1], Span::from_micros(9));
    spec.dependencies.add_in_order(2, &[0]);
    let flows = run(&spec, Span::from_millis(1)).0.flows();
    assert_eq!(flows[1].started, Some(at(FRAME * 3)));
    assert_eq!(flows[2].started, Some(at(FRAME * 4 + Span::from_micros(9))));
}

/// Messages that go around among all hosts, with and without acknowledgements, some of them side by side.
pub fn relay() -> NetworkSpec {
    let graph = topology::fat_tree(4, Links::same(link(10, Span::from_nanos(700)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    let hosts = 16;
    for round in 0..6 {
        for host in 0..hosts {
            let flow = sized(host, (host + 5 + round) % hosts, 3000 + 500 * u64::from(host % 3));
            spec.flows.push(if host % 4 == 1 { go_back_n(flow) } else { flow });
        }
    }
    let number = |round: u32, host: u32| round * hosts + host % hosts;
    for round in 1..6 {
        for host in 0..hosts {
            let incoming = number(round - 1, host + 2 * hosts - 5 - (round - 1));
            spec.dependencies.add(number(round, host), &[incoming], Span::from_nanos(u64::from(host) * 30));
            spec.dependencies.add_in_order(number(round, host), &[number(round - 1, host)]);
        }
    }
    spec
}

#[test]
fn waiting_flows_are_the_same_everywhere() {
    let spec = relay();
    same_everywhere(&spec);
    let (simulation, report) = run(&spec, Span::from_micros(600));
    assert_eq!(report.outcome, Outcome::Finished);
    assert!(simulation.flows().iter().all(|flow| flow.completed.is_some()));
}

#[test]
fn flows_that_wait_for_a_flow_that_cannot_complete_are_a_stall() {
    let mut spec = one_switch(4);
    spec.classes = vec![lossy()];
    spec.switches[0] = switch(ClassBuffer::drop_tail(Bytes::new(4000)), FlowControl::None);
    // Two senders overload one receiver, which drops.
    spec.flows =
        vec![sized(0, 3, 40_000), sized(1, 3, 40_000), sized(3, 2, 1000), sized(2, 1, 1000), sized(3, 1, 1000)].into();
    spec.dependencies.add(2, &[0, 1], Span::ZERO);
    spec.dependencies.add(3, &[2], Span::ZERO);
    let (simulation, report) = run(&spec, Span::from_millis(1));
    let Outcome::Stalled(stall) = report.outcome else { panic!("{:?}", report.outcome) };
    let lost: Vec<u32> = (0..2).filter(|&flow| simulation.flows()[flow as usize].lost_frames > 0).collect();
    assert!(!lost.is_empty());
    assert_eq!((stall.frames, stall.waiting, &stall.awaited), (0, 2, &lost));
    let started: Vec<bool> = simulation.flows().iter().map(|flow| flow.started.is_some()).collect();
    assert_eq!(started, [true, true, false, false, true]);
    assert!(stall.to_string().contains("2 flows never started, waiting for flow"), "{stall}");
    // While anything moves they may be said to wait: this one goes on for ever.
    spec.flows.push(greedy(2, 0, 1000));
    assert_eq!(run(&spec, Span::from_millis(1)).1.outcome, Outcome::Finished);
    // What is only late is no stall.
    let mut late = one_switch(2);
    late.flows =
        vec![FlowSpec { start: Time::ZERO + Span::from_millis(2), ..sized(0, 1, 1000) }, sized(1, 0, 1000)].into();
    late.dependencies.add(1, &[0], Span::ZERO);
    assert_eq!(run(&late, Span::from_millis(1)).1.outcome, Outcome::Finished);
}

#[test]
fn impossible_dependencies_are_refused() {
    let refusal = |flow: u32, after: &[u32], delay: Span| {
        let mut spec = one_switch(4);
        spec.flows = vec![sized(0, 1, 1000), sized(1, 2, 1000), greedy(2, 0, 1000), sized(2, 3, 1000)].into();
        spec.dependencies.add(flow, after, delay);
        let error = Simulation::build(&spec, &BuildOptions::default()).err();
        error.map(|errors| errors.to_string()).unwrap_or_default()
    };
    assert_eq!(refusal(1, &[0], Span::ZERO), "");
    let text = refusal(3, &[0], Span::ZERO);
    assert!(text.starts_with("flow 3: it waits for flow 0, which neither starts nor ends at its source; "), "{text}");
    assert!(refusal(0, &[2], Span::ZERO).contains("never completes; give that flow a size"));
    assert!(refusal(1, &[1], Span::ZERO).contains("flow 1 waits for flow 1"));
    assert!(refusal(1, &[7], Span::ZERO).contains("does not exist"));
    assert!(refusal(1, &[0], Span::MAX).contains("longer than any run"));
}

/// A flow that loses a frame and has no recovery never completes, whatever comes back to its source; nor does one whose
/// source throws frames away.
#[test]
fn a_flow_that_cannot_complete_is_not_complete_at_its_source_either() {
    let mut spec = one_switch(3);
    let acknowledge = Some(Acknowledge::default());
    let (rate, start) = (Rate::from_gigabits(20), at(Span::from_micros(500)));
    let backlog = Some(Backlog { frames: 2, overflow: Overflow::Discard });
    spec.flows = vec![
        sized(0, 1, 50_000).with(|it| it.acknowledge = acknowledge),
        sized(0, 2, 1000),
        FlowSpec { start, ..go_back_n(sized(0, 2, 50_000)) }
            .with(|it| it.pattern = Pattern::Paced { rate, gaps: Gaps::Constant, backlog }),
        sized(0, 1, 1000),
        FlowSpec { start, ..sized(0, 1, 1000) },
    ]
    .into();
    spec.dependencies.add(1, &[0], Span::ZERO);
    spec.dependencies.add(3, &[2], Span::ZERO);
    // One frame of the first flow is lost: the link to its destination fails for less than a frame.
    let down = at(Span::from_micros(20));
    spec.faults.push(Fault { cable: 1, down, up: Some(down + Span::from_nanos(100)) });
    // Also if the destination does more than to acknowledge each frame at once.
    let delayed = Acknowledge { every: 4, delay: Some(Span::from_micros(5)), ..Acknowledge::default() };
    for (how, notify) in
        [(delayed, None), (Acknowledge::default(), Some(Notify::default())), (delayed, Some(Notify::default()))]
    {
        let mut spec = spec.clone();
        (spec.flows[0].acknowledge, spec.flows[0].notify) = (Some(how), notify);
        let (simulation, report) = run(&spec, Span::from_millis(2));
        let flows = simulation.flows();
        assert_eq!((flows[0].lost_frames, flows[0].received_frames, flows[1].started), (1, 49, None), "{how:?}");
        assert!(matches!(report.outcome, Outcome::Stalled(_)), "{:?}", report.outcome);
        spec.faults.clear();
        let flows = run(&spec, Span::from_millis(2)).0.flows();
        assert!(
            flows[1].started > flows[0].completed && flows[1].completed.is_some(),
            "{how:?} {notify:?}: {:?}",
            flows[1]
        );
    }
    let (simulation, report) = run(&spec, Span::from_millis(2));
    let flows = simulation.flows();
    assert_eq!((flows[0].lost_frames, flows[0].received_frames), (1, 49), "{:?}", flows[0]);
    assert!(flows[2].lost_frames > 10 && flows[2].timeouts == 0, "{:?}", flows[2]);
    for flow in [0, 2] {
        let summary = &flows[flow];
        assert_eq!(
            (summary.completed, summary.acknowledged, summary.slowdown(Time::ZERO)),
            (None, None, None),
            "{flow}"
        );
    }
    assert_eq!((flows[1].started, flows[3].started), (None, None));
    assert!(flows[4].completed.is_some());
    assert!(matches!(report.outcome, Outcome::Stalled(_)), "{:?}", report.outcome);
    // Without the fault, the first completes.
    spec.faults.clear();
    let (simulation, _) = run(&spec, Span::from_millis(2));
    assert!(simulation.flows()[1].started.is_some());
}

/// Sprayed frames overtake each other: the acknowledgement of the last frame may come before those of others, and the one
/// that says that the flow is complete after its source has nothing more to do.
#[test]
fn a_flow_is_complete_at_its_source_when_the_last_missing_frame_is_acknowledged() {
    let links = Links::same(link(10, Span::from_nanos(500)));
    let delayed = Acknowledge { every: 4, delay: Some(Span::from_micros(5)), ..Acknowledge::default() };
    let mut overtaken = 0;
    for seed in 1..40 {
        for acknowledge in [Acknowledge::default(), delayed] {
            let graph = topology::leaf_spine(2, 4, 4, links).unwrap();
            let mut spec = network(graph, pfc_switch(), lossless());
            (spec.multipath, spec.seed) = (Multipath::Spray, seed);
            let across = |from: u32| sized(from, from + 4, 40_000).with(|it| it.acknowledge = Some(acknowledge));
            spec.flows = (0..4).map(across).chain((0..4).map(|from| sized(from, from + 4, 1000))).collect();
            (0..4).for_each(|flow| spec.dependencies.add(flow + 4, &[flow], Span::ZERO));
            let (mut simulation, report) = run_with(&spec, Span::from_millis(2), |_| Deliveries::default());
            assert_eq!(report.outcome, Outcome::Finished, "seed {seed}, {acknowledge:?}");
            overtaken += simulation.probes_mut().map(|probe| probe.out_of_order).sum::<u64>();
            let flows = simulation.flows();
            for flow in 0..4 {
                assert!(flows[flow + 4].started > flows[flow].completed, "seed {seed}, {acknowledge:?}: {flow}");
            }
        }
    }
    assert!(overtaken > 100, "{overtaken}");
}
