//! The watchdog's verdicts, compared with the continuation of the run: no frame of a reported deadlock may move again, and
//! a run that is stuck may not be reported as finished.

use crate::kit::*;
use fabric::spec::*;
use fabric::workload::*;
use fabric::{BuildOptions, Outcome, RunLimits, Simulation};
use units::{Bytes, Rate, Span};
fn b(n: u64) -> Bytes {
    Bytes::new(n)
}
fn us(n: u64) -> Span {
    Span::from_micros(n)
}

/// Runs on after the verdict; returns (bytes delivered at the verdict, at the end) if a deadlock was claimed.
fn claim(spec: &NetworkSpec, until: Span) -> Option<(units::Time, u64, u64)> {
    let mut s = Simulation::build(spec, &BuildOptions::default()).unwrap();
    let r = s.run(&RunLimits::until(at(until)));
    let Outcome::Deadlock(d) = r.outcome else { return None };
    let cycle: Vec<u32> = d.cycle.iter().flat_map(|w| w.flows.clone()).collect();
    let bytes = |s: &Simulation| cycle.iter().map(|&f| s.flows()[f as usize].received_bytes).sum::<u64>();
    let limits = RunLimits { inspect_every: Span::from_secs(1), ..RunLimits::until(r.now + Span::from_millis(2)) };
    s.run(&limits);
    let before = bytes(&s);
    // go on regardless: no inspection interferes
    let limits = RunLimits { inspect_every: Span::from_secs(1), ..RunLimits::until(r.now + Span::from_millis(22)) };
    s.run(&limits);
    Some((d.at, before, bytes(&s)))
}

#[test]
fn a_class_that_moves_does_not_hide_one_that_cannot() {
    let buffer = ClassBuffer::lossless(b(100_000), b(20_000), b(10_000));
    let mut spec = clockwise_ring(5, Span::from_nanos(500), pfc(), buffer);
    spec.classes = vec![lossless(); 2];
    spec.switches[0].buffer = Buffer::Static(vec![buffer; 2]);
    for h in 0..5 {
        spec.flows.push(FlowSpec { class: 1, ..greedy(h, (h + 1) % 5, 1000) }.with(|it| {
            it.pattern = Pattern::Paced { rate: Rate::from_megabits(500), gaps: Gaps::Constant, backlog: None };
        }));
    }
    let (_, r) = run(&spec, Span::from_millis(20));
    let Outcome::Deadlock(d) = r.outcome else { panic!("{:?}", r.outcome) };
    assert!(d.at < at(Span::from_millis(5)), "{}", d.at);
}

#[test]
fn long_cables_are_not_deadlocks() {
    let (mut claims, mut false_ones) = (0, vec![]);
    for n in [3, 4, 5] {
        for hops in [2, 3] {
            for (xoff, xon) in [(20_000, 19_000), (200_000, 199_000), (3_000, 2_000)] {
                for latency in [1, 50, 200] {
                    for (seed, rate) in [(1, 0), (2, 3), (3, 4), (4, 5)] {
                        let buffer = ClassBuffer::lossless(b(xoff + 900_000), b(xoff), b(xon));
                        let mut spec = clockwise_ring(n, us(latency), pfc(), buffer);
                        if hops >= n {
                            continue;
                        }
                        spec.seed = seed;
                        spec.flows = (0..n).map(|host| greedy(host, (host + hops) % n, 1000)).collect();
                        if rate > 0 {
                            for f in &mut spec.flows {
                                f.pattern = Pattern::Paced {
                                    rate: Rate::from_gigabits(rate),
                                    gaps: Gaps::Exponential,
                                    backlog: None,
                                };
                            }
                        }
                        if let Some((t, x, y)) = claim(&spec, Span::from_millis(10)) {
                            claims += 1;
                            if x != y {
                                false_ones.push((n, hops, xoff, xon, latency, rate, t, x, y));
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(
        false_ones.is_empty(),
        "{claims} claims, {} false, {:?}",
        false_ones.len(),
        &false_ones[..false_ones.len().min(4)]
    );
}

#[test]
fn room_behind_the_crossbar_is_not_a_deadlock() {
    let (mut claims, mut false_ones) = (0, vec![]);
    for n in [3, 5] {
        for (xoff, xon) in [(5_000, 4_000), (20_000, 10_000), (50_000, 2_000)] {
            for latency in [1, 5, 20] {
                for out in [20_000, 300_000] {
                    for speedup in [(1, 1), (1, 2), (2, 1)] {
                        for rate in [0, 4, 6] {
                            let buffer = ClassBuffer::lossless(b(xoff + 200_000), b(xoff), b(xon));
                            let mut spec = clockwise_ring(n, us(latency), pfc(), buffer);
                            spec.switches[0].queueing = Queueing::Combined { output_buffer: b(out) };
                            spec.switches[0].crossbar = Some(Crossbar { speedup, ..Crossbar::default() });
                            if rate > 0 {
                                for f in &mut spec.flows {
                                    f.pattern = Pattern::Paced {
                                        rate: Rate::from_gigabits(rate),
                                        gaps: Gaps::Exponential,
                                        backlog: None,
                                    };
                                }
                            }
                            if let Some((t, x, y)) = claim(&spec, Span::from_millis(10)) {
                                claims += 1;
                                if x != y {
                                    false_ones.push((n, xoff, xon, latency, out, speedup, rate, t, x, y));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(
        false_ones.is_empty(),
        "{claims} claims, {} false, {:?}",
        false_ones.len(),
        &false_ones[..false_ones.len().min(4)]
    );
}

#[test]
fn small_frames_pass_where_a_large_one_would_not() {
    let control = FlowControl::Credits(CreditSpec {
        unit: CreditUnit::Block(b(64)),
        give_back: CreditReturn::Signal { delay: Span::from_nanos(20) },
    });
    let mut spec = clockwise_ring(3, Span::from_nanos(500), control, ClassBuffer::drop_tail(b(9_024)));
    spec.flows = (0..3)
        .map(|h| {
            (greedy(h, (h + 2) % 3, 256)).with(|it| {
                it.pattern = Pattern::Paced { rate: Rate::from_gigabits(3), gaps: Gaps::Exponential, backlog: None };
            })
        })
        .collect();
    // one large frame, once, at the beginning
    spec.flows.push(FlowSpec { size: Some(b(9000)), ..greedy(0, 1, 9000) });
    let mut hit = None;
    for n in 1..400u64 {
        if let Some(c) = claim(&spec, us(10 * n)) {
            hit = Some(c);
            break;
        }
    }
    if let Some((t, x, y)) = hit {
        assert_eq!(x, y, "claimed at {t}, yet delivered {x} -> {y}");
    }
}

#[test]
fn shared_buffers_open_within_their_guarantee() {
    let (mut claims, mut false_ones) = (0, vec![]);
    for n in [3, 4] {
        for cap in [3_000, 30_000] {
            for total in [10_000, 60_000] {
                for latency in [1, 4] {
                    for rate in [0, 3, 4, 5] {
                        let class = ClassBuffer {
                            capacity: b(cap),
                            xoff: b(0),
                            xon: b(2_000),
                            headroom: b(60_000),
                            ..ClassBuffer::UNLIMITED
                        };
                        let mut spec = clockwise_ring(n, us(latency), pfc(), class);
                        spec.switches[0].buffer =
                            Buffer::Shared { total: b(total), alpha: (1, 2), classes: vec![class] };
                        if rate > 0 {
                            for f in &mut spec.flows {
                                f.pattern = Pattern::Paced {
                                    rate: Rate::from_gigabits(rate),
                                    gaps: Gaps::Exponential,
                                    backlog: None,
                                };
                            }
                        }
                        if let Some((t, x, y)) = claim(&spec, Span::from_millis(10)) {
                            claims += 1;
                            if x != y {
                                false_ones.push((n, cap, total, latency, rate, t, x, y));
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(
        false_ones.is_empty(),
        "{claims} claims, {} false, {:?}",
        false_ones.len(),
        &false_ones[..false_ones.len().min(4)]
    );
}

#[test]
fn per_packet_bypass_runs_out() {
    let mut missed = vec![];
    let mut claimed = 0;
    for bypass in [1u8, 2, 4] {
        for n in [3u32, 4, 5] {
            for light in [1000u64, 3000, 5000, 8000] {
                for seed in 1..4 {
                    let buffer = ClassBuffer::lossless(b(100_000), b(20_000), b(19_000));
                    let mut spec = clockwise_ring(n, Span::from_nanos(500), pfc(), buffer);
                    spec.seed = seed;
                    spec.switches[0].queueing = Queueing::InputFifo { bypass, reading: BypassReading::PerPacket };
                    spec.switches[0].crossbar = Some(Crossbar { read_ports: 0, ..Crossbar::default() });
                    let paced =
                        Pattern::Paced { rate: Rate::from_megabits(light), gaps: Gaps::Exponential, backlog: None };
                    spec.flows = (0..n)
                        .map(|h| {
                            (greedy(h, (h + 2) % n, 1000)).with(|it| {
                                it.pattern = paced;
                            })
                        })
                        .collect();
                    spec.flows.extend((0..n).map(|h| greedy(h, (h + 1) % n, 1000)));
                    let mut s = Simulation::build(&spec, &BuildOptions::default()).unwrap();
                    let r = s.run(&RunLimits::until(at(Span::from_millis(20))));
                    if r.outcome != Outcome::Finished {
                        claimed += 1;
                        continue;
                    }
                    let x = s.totals().delivered_bytes;
                    let r = s.run(&RunLimits::until(at(Span::from_millis(40))));
                    if s.totals().delivered_bytes == x && r.outcome == Outcome::Finished {
                        missed.push((bypass, n, light, seed, x));
                    }
                }
            }
        }
    }
    assert!(missed.is_empty(), "claimed {claimed} missed {} {:?}", missed.len(), &missed[..missed.len().min(4)]);
}

/// A switch that no cable leads to holds nothing, wherever it stands among the nodes: not what the node after it sends.
#[test]
fn a_switch_without_cables_is_empty() {
    let link = link(10, Span::from_nanos(500));
    for last in [false, true] {
        let mut graph = fabric::graph::Graph::default();
        let lonely = |graph: &mut fabric::graph::Graph| graph.node("lonely", fabric::graph::Role::Switch, 1);
        let first = graph.node("h0", fabric::graph::Role::Host, 0);
        if !last {
            lonely(&mut graph);
        }
        let second = graph.node("h1", fabric::graph::Role::Host, 0);
        let switch = graph.node("sw", fabric::graph::Role::Switch, 1);
        graph.cable(first, switch, link);
        graph.cable(second, switch, link);
        if last {
            lonely(&mut graph);
        }
        let mut spec = network(graph, pfc_switch(), lossless());
        // The second host has always something to send, and nobody else has anything.
        spec.flows = vec![greedy(1, 0, 1000)].into();
        let mut s = Simulation::build(&spec, &BuildOptions::default()).unwrap();
        let r = s.run(&RunLimits::until(at(us(300))));
        assert_eq!(r.outcome, Outcome::Finished);
        assert!(s.census().in_switches <= 2, "{:?}", s.census());
    }
}

/// A cable fails and the routes follow: what waits for it goes the other way, and the circle opens.
#[test]
fn a_deadlock_that_a_fault_dissolves_is_none() {
    let buffer = ClassBuffer::lossless(b(100_000), b(20_000), b(10_000));
    let mut spec = clockwise_ring(4, Span::from_nanos(500), pfc(), buffer);
    spec.flows.iter_mut().for_each(|flow| flow.size = Some(b(60_000)));
    let with = |spec: &NetworkSpec, inspect_every: Span| {
        let mut s = Simulation::build(spec, &BuildOptions::default()).unwrap();
        let outcome = s.run(&RunLimits { inspect_every, ..RunLimits::until(at(Span::from_millis(20))) }).outcome;
        (outcome, s.flows().iter().filter(|flow| flow.completed.is_some()).count())
    };
    let (outcome, _) = with(&spec, us(100));
    assert!(matches!(outcome, Outcome::Deadlock(_)), "{outcome:?}");
    let trunk = |cable: &fabric::graph::Cable| !spec.graph.hosts().iter().any(|host| [cable.a, cable.b].contains(host));
    let cable = spec.graph.cables.iter().position(trunk).unwrap() as u32;
    spec.faults = vec![Fault { cable, down: at(Span::from_millis(3)), up: None }];
    let routes = fabric::routing::Routes::without_links(&spec.graph, &[cable]);
    spec.route_changes = vec![RouteChange::everywhere(at(us(3_300)), routes)];
    for inspect_every in [us(100), Span::from_micros(1_700), Span::from_secs(1)] {
        assert_eq!(with(&spec, inspect_every), (Outcome::Finished, 4), "{inspect_every:?}");
    }
    // What would come after the end of the run dissolves nothing, and hides nothing.
    let standstill = |spec: &NetworkSpec| {
        let (outcome, completed) = with(spec, us(100));
        assert!(matches!(outcome, Outcome::Deadlock(_)) && completed < 4, "{outcome:?}");
    };
    let second = at(Span::from_secs(1));
    let late = |spec: &mut NetworkSpec| {
        spec.end = at(Span::from_millis(20));
        spec.faults[0].down = second;
        spec.route_changes[0].at = second;
    };
    let mut after = spec.clone();
    late(&mut after);
    standstill(&after);
    // A cable of a host fails for longer than the run: it is down for good.
    let host = spec.graph.cables.iter().position(|cable| !trunk(cable)).unwrap() as u32;
    after.faults = vec![Fault { cable: host, down: at(Span::from_millis(3)), up: Some(second) }];
    standstill(&after);
}
