//! Random networks of everything at once: every kind of switch and flow control, faults, bit errors, slow receivers,
//! new routes. One fingerprint on any cut, nothing forgotten, everything delivered in the end.
//!
//! `SEEDS=1000 cargo test -p tailback-fabric --test network stress` looks longer; `FROM` says where to begin.

use crate::kit::*;
use congestion::{Allowance, NoControl, Reaction};
use fabric::graph::{HostId, Role};
use fabric::routing::Routes;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::*;
use fabric::{BuildOptions, Outcome, Partition, RunLimits, Simulation};
use units::{Bytes, Rate, Span, Stream};
fn b(n: u64) -> Bytes {
    Bytes::new(n)
}
fn us(n: u64) -> Span {
    Span::from_micros(n)
}

pub struct R(pub Stream);
impl R {
    pub fn n(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }
    pub fn p(&mut self, percent: u64) -> bool {
        self.n(100) < percent
    }
    pub fn of<T: Clone>(&mut self, xs: &[T]) -> T {
        xs[self.n(xs.len() as u64) as usize].clone()
    }
}

fn control(r: &mut R, known: bool) -> (FlowControl, bool, bool) {
    // (control, credits, slots)
    let pause = PauseSpec {
        quanta: r.of(&[65535, 400, 2000]),
        refresh_before: r.of(&[100, 300]),
        response: r.of(&[Span::ZERO, us(1)]),
        response_jitter: Span::ZERO,
        holds: 255,
    };
    match r.n(if known { 5 } else { 4 }) {
        0 | 1 => (FlowControl::Pfc(pause), false, false),
        2 => (FlowControl::Pause(pause), false, false),
        3 => (
            FlowControl::Credits(CreditSpec {
                unit: CreditUnit::Block(b(r.of(&[1, 64, 100]))),
                give_back: CreditReturn::Frame { size: b(64), refresh: Some(us(30)) },
            }),
            true,
            false,
        ),
        _ => (slots(Span::from_nanos(r.of(&[1, 30, 700]))), true, true),
    }
}

pub fn spec(seed: u64, signals: bool) -> (NetworkSpec, bool) {
    let mut r = R(Stream::new(seed, 0, "stress"));
    let lat = Span::from_nanos(r.of(&[0, 50, 500, 3000]));
    let rates = [link(10, lat), link(25, lat), link(40, Span::from_nanos(300))];
    let cable = r.of(&rates);
    let mut graph = match r.n(4) {
        0 => topology::single_switch(5, cable),
        1 => topology::dumbbell(3, 3, cable, link(5, lat)),
        2 => topology::chain(3, 2, Links::same(cable)),
        _ => topology::leaf_spine(3, 2, 2, Links::same(cable)),
    }
    .unwrap();
    let several_links = Stream::new(seed, 1, "homing").below(100) < 40;
    if several_links {
        graph = multihomed(graph, seed);
    }
    let mut noisy = false;
    for c in &mut graph.cables {
        if r.p(20) {
            c.link.rate =
                r.of(&[Rate::from_gigabits(10), Rate::from_gigabits(3), Rate::from_bits_per_sec(7_777_777_777)]);
        }
        if r.p(20) {
            c.link.latency = Span::from_nanos(r.of(&[1, 100, 2000]));
        }
    }
    let all_lossless = r.p(60);
    let classes = 1 + r.n(3) as usize;
    let kinds = 1 + r.n(3);
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.seed = seed;
    spec.classes = (0..classes).map(|_| if all_lossless || r.p(60) { lossless() } else { lossy() }).collect();
    spec.overhead = b(r.of(&[0, 20]));
    spec.switches.clear();
    let any_lossy = spec.classes.iter().any(|c| !c.lossless);
    for _ in 0..kinds {
        let (mut fc, mut credits, mut slot) = control(&mut r, signals);
        if any_lossy && matches!(fc, FlowControl::Pause(_)) {
            fc = pfc();
            credits = false;
            slot = false;
        }
        let xoff = r.of(&[3_000, 12_000]);
        let buf = |lossless: bool| {
            if !lossless {
                ClassBuffer::drop_tail(b(20_000))
            } else if slot {
                ClassBuffer::drop_tail(b(6))
            } else if credits {
                ClassBuffer::drop_tail(b(12_800))
            } else {
                ClassBuffer::lossless(b(xoff + 300_000), b(xoff), b(xoff / 2))
            }
        };
        let buffers: Vec<_> = spec.classes.iter().map(|c| buf(c.lossless)).collect();
        let crossbar = Crossbar {
            arbitration: r.of(&[Arbitration::ArrivalOrder, Arbitration::RoundRobin, Arbitration::RoundRobinWaiting]),
            read_ports: r.of(&[0, 1, 2]),
            speedup: (1, 1),
        };
        let (queueing, crossbar) = match r.n(6) {
            0 | 1 => (Queueing::Output, None),
            2 => (Queueing::InputFifo { bypass: r.of(&[0, 1, 4]), reading: BypassReading::Lookahead }, Some(crossbar)),
            3 => (Queueing::InputFifo { bypass: r.of(&[0, 1, 4]), reading: BypassReading::PerPacket }, Some(crossbar)),
            4 => (Queueing::VirtualOutput, Some(crossbar)),
            _ => (
                Queueing::Combined { output_buffer: b(r.of(&[2_000, 9_000])) },
                Some(Crossbar { speedup: r.of(&[(1, 1), (3, 2), (1, 2)]), ..crossbar }),
            ),
        };
        let buffer = if queueing == Queueing::Output && !credits && r.p(40) {
            Buffer::Shared {
                total: b(r.of(&[30_000, 100_000])),
                alpha: r.of(&[(1, 2), (1, 1), (4, 1)]),
                classes: spec
                    .classes
                    .iter()
                    .map(|_| ClassBuffer {
                        capacity: b(2_000),
                        xoff: b(0),
                        xon: b(1_000),
                        headroom: b(300_000),
                        ..ClassBuffer::UNLIMITED
                    })
                    .collect(),
            }
        } else {
            Buffer::Static(buffers)
        };
        let egress = match r.n(100) {
            0..40 => Egress::weighted(&(0..classes).map(|c| b([500, 2500, 5000][c])).collect::<Vec<_>>()),
            40..60 => lanes(&[(classes as u8 - 1, 8)], &[(0, 1), (classes as u8 / 2, 40), (0, 9)], seed as u8),
            _ => Egress::Strict,
        };
        spec.switches.push(SwitchSpec {
            queueing,
            buffer,
            flow_control: fc,
            crossbar,
            egress,
            forwarding: if r.p(30) {
                Forwarding::CutThrough { header_delay: Span::from_nanos(r.of(&[1, 60, 1500])) }
            } else {
                Forwarding::StoreAndForward
            },
            pipeline: r.of(&[Span::ZERO, Span::ZERO, Span::from_nanos(350)]),
            order: Order::Arrival,
            congestion_point: None,
            pfc_watchdog: None,
        });
    }
    // adapters
    let (fc, credits, slot) = control(&mut r, signals);
    let (fc, credits, slot) =
        if any_lossy && matches!(fc, FlowControl::Pause(_)) { (pfc(), false, false) } else { (fc, credits, slot) };
    let used = r.p(50);
    if used {
        spec.adapters.push(AdapterSpec {
            flow_control: fc,
            buffer: spec
                .classes
                .iter()
                .map(|c| {
                    if slot && c.lossless {
                        ClassBuffer::drop_tail(b(6))
                    } else if credits && c.lossless {
                        ClassBuffer::drop_tail(b(12_800))
                    } else {
                        ClassBuffer::lossless(b(300_000), b(6_000), b(3_000))
                    }
                })
                .collect(),
            service: Some(Rate::from_gigabits(2)),
            service_changes: vec![
                (at(us(50)), Some(Rate::ZERO)),
                (at(us(200)), Some(Rate::from_gigabits(6))),
                (at(us(260)), None),
            ],
            egress: Egress::Strict,
        });
    }
    for (n, node) in spec.graph.nodes.clone().iter().enumerate() {
        spec.kind_of[n] = match node.role {
            Role::Switch => r.n(kinds) as u32,
            Role::Host => {
                if used && r.p(40) {
                    1
                } else {
                    0
                }
            }
        };
    }
    let count = spec.graph.hosts().len() as u64;
    for _ in 0..1 + r.n(12) {
        let (from, to) = (r.n(count) as u32, r.n(count) as u32);
        if from == to {
            continue;
        }
        let class = r.n(classes as u64) as u8;
        let mut f = FlowSpec {
            class,
            start: at(us(r.of(&[0, 0, 3, 40]))),
            ..greedy(from, to, r.of(&[64, 100, 1000, 1500, 2000]))
        }
        .with(|it| {
            it.stop = Some(at(us(300)));
        });
        let rate = Rate::from_megabits(r.of(&[300, 3_500, 20_000]));
        let gaps = r.of(&[Gaps::Constant, Gaps::Exponential, Gaps::Jittered(0.5)]);
        match r.n(5) {
            0 => f.size = Some(b(33_333)),
            1 => f.pattern = Pattern::Paced { rate, gaps, backlog: None },
            2 => {
                f.pattern = Pattern::Paced {
                    rate,
                    gaps,
                    backlog: Some(Backlog { frames: 3, overflow: r.of(&[Overflow::Discard, Overflow::Stall]) }),
                }
            }
            3 => f.reaction = Reaction::None(NoControl { allowance: Allowance { rate: Some(rate), window: None } }),
            _ => {}
        }
        if r.p(30) {
            f.activity = Activity::OnOff { on: us(20), off: us(10), random: r.p(50), discard: r.p(50) };
        }
        if r.p(30) {
            f.acknowledge = Some(Acknowledge {
                size: b(64),
                class: r.n(classes as u64) as u8,
                every: 1 + r.n(3) as u32,
                delay: None,
            });
        }
        if r.p(20) {
            let others: Vec<HostId> = (0..count as u32).filter(|&h| h != from).map(HostId).collect();
            f = f.to_any(others);
            f.acknowledge = None;
            f.size = None;
        }
        spec.flows.push(f);
    }
    let mut last_up = 0;
    if r.p(50) {
        for cable in 0..spec.graph.cables.len() as u32 {
            if r.p(15) {
                let d = 20 + r.n(200);
                let u = d + 1 + r.n(150);
                last_up = last_up.max(u);
                spec.faults.push(Fault { cable, down: at(us(d)), up: Some(at(us(u))) });
            }
        }
    }
    if r.p(30) {
        for c in &mut spec.graph.cables {
            if r.p(30) {
                c.link.bit_error_rate = r.of(&[1e-7, 1e-5]);
                noisy = true;
            }
        }
    }
    if r.p(30) {
        let cable = r.n(spec.graph.cables.len() as u64) as u32;
        spec.route_changes = vec![
            RouteChange::everywhere(at(us(r.of(&[60, 120]))), Routes::without_links(&spec.graph, &[cable])),
            RouteChange::everywhere(at(us(180)), Routes::shortest_paths(&spec.graph)),
        ];
    }
    if r.p(20) {
        spec.multipath = Multipath::Spray;
    }
    if several_links {
        leave_somehow(&mut spec);
    }
    (spec, noisy)
}

fn go(
    spec: &NetworkSpec,
    partition: Partition,
    shards: usize,
    shuffle: Option<u64>,
    threads: usize,
) -> (Simulation, fabric::RunSummary) {
    let mut s = Simulation::build(spec, &BuildOptions { partition, shards, shuffle }).unwrap();
    let r = s.run(&RunLimits { threads, ..RunLimits::until(at(us(350))) });
    (s, r)
}

fn stress(signals: bool, base: u64) {
    let seeds = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(25u64);
    let from: u64 = std::env::var("FROM").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let mut bad = vec![];
    let mut built = 0;
    for seed in base + from..base + from + seeds {
        let (spec, _noisy) = spec(seed, signals);
        // A few are refused, for a reason of their own.
        if Simulation::build(&spec, &BuildOptions::default()).is_err() {
            continue;
        }
        let outcome = std::panic::catch_unwind(|| {
            let mut bad = vec![];
            let (mut s, a) = go(&spec, Partition::One, 1, None, 1);
            for (p, n, sh, t) in [
                // Many shards, on one thread or on two.
                (Partition::PerNode, 1, None, 1 + (seed % 2) as usize),
                (Partition::Random { seed }, 3, Some(seed), 2),
                (Partition::One, 1, Some(seed + 1), 1),
            ] {
                let (_, c) = go(&spec, p.clone(), n, sh, t);
                if (a.fingerprint, a.totals, a.events) != (c.fingerprint, c.totals, c.events) {
                    bad.push(format!("{seed}: {p:?} {sh:?} differs {:?} {:?}", a.outcome, c.outcome));
                } else if std::mem::discriminant(&a.outcome) != std::mem::discriminant(&c.outcome) {
                    bad.push(format!("{seed}: {p:?} outcome {:?} {:?}", a.outcome, c.outcome));
                }
            }
            // Many shards on each of a few ranks, and a rank that may have none.
            // They meet in every window, of which short cables make many: a few of the networks are enough.
            let cuts = [(2, Partition::PerNode, 2), (4, Partition::Random { seed }, 1)];
            for (ranks, partition, threads) in cuts.into_iter().filter(|_| seed.is_multiple_of(6)) {
                let options = BuildOptions { partition, shards: 6, shuffle: Some(seed) };
                let limits = RunLimits { threads, ..RunLimits::until(at(us(350))) };
                for c in on_ranks(&spec, ranks, &options, &limits) {
                    if (&a.outcome, a.fingerprint, a.totals, a.events)
                        != (&c.outcome, c.fingerprint, c.totals, c.events)
                    {
                        bad.push(format!("{seed}: {ranks} ranks differ {:?} {:?}", a.outcome, c.outcome));
                    }
                }
            }
            let conserve = |t: fabric::Totals, s: &Simulation| {
                let c = s.census();
                t.made_bytes == t.delivered_bytes + t.discarded_bytes + t.lost_bytes + t.dropped_bytes + c.bytes
                    && c.places == c.frames + c.control
            };
            if !conserve(a.totals, &s) {
                bad.push(format!("{seed}: not conserved {:?} {:?}", a.totals, s.census()));
            }
            if a.outcome != Outcome::Finished {
                bad.push(format!("{seed}: {:?}", a.outcome).chars().take(300).collect());
                return (bad, a.totals);
            }
            let r =
                s.run(&RunLimits { inspect_every: Span::from_secs(1), ..RunLimits::until(at(Span::from_millis(150))) });
            if !conserve(r.totals, &s) {
                bad.push(format!("{seed}: not conserved at the end"));
            }
            let c = s.census();
            if c.frames != 0 || c.control > 200 {
                bad.push(format!(
                    "{seed}: not drained {c:?} {:?} faults {} routes {} tree {:?}",
                    r.outcome,
                    spec.faults.len(),
                    spec.route_changes.len(),
                    s.congestion_tree().len()
                ));
            }
            (bad, a.totals)
        });
        match outcome {
            Ok((b, _)) => {
                bad.extend(b);
                built += 1;
            }
            Err(e) => bad.push(format!(
                "{seed}: panic {:?}",
                e.downcast_ref::<String>().cloned().or(e.downcast_ref::<&str>().map(|s| s.to_string()))
            )),
        }
    }
    assert!(built * 10 >= seeds * 8, "{built} of {seeds} were built: too few");
    assert!(bad.is_empty(), "{}\n{}", bad.len(), bad.iter().take(40).cloned().collect::<Vec<_>>().join("\n"));
}

#[test]
fn s1_with_faults() {
    stress(false, 0);
}
#[test]
fn s2_with_signals() {
    stress(true, 1_000_000);
}
