//! The watchdog's verdicts against an oracle: the same network run on with the watchdog off.
//!
//! What is called a deadlock must never move again, and a run that is called finished must not stand still with frames
//! of a lossless class in its switches. Random rings and other networks of every queueing, buffer, flow control and
//! bypass, with slow and dead receivers, faults, new routes, and sources whose timers never end.
//!
//! `SEEDS=5000 cargo test -p tailback-fabric --test network oracle` looks longer; `FROM` says where to begin.

use crate::kit::*;
use crate::observed::Observed;
use crate::stress::R;
use congestion::parameter::{Value, Values};
use congestion::{Allowance, NoControl, Reaction};
use fabric::routing::Routes;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::transport::{RECOVERIES, Recovery};
use fabric::workload::*;
use fabric::{BuildOptions, Deadlock, Frame, Outcome, Probe, RunLimits, Simulation};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{Bytes, Rate, Span, Stream, Time};

fn b(n: u64) -> Bytes {
    Bytes::new(n)
}

/// How long a run is watched, and how long it goes on after that.
const WATCHED: Span = Span::from_millis(20);
const AFTER: Span = Span::from_millis(40);

/// Counts frames of data of some flows that start by some outputs, and notes when data was last delivered.
#[derive(Default)]
struct Starts {
    stuck: Vec<(u32, u8, Vec<u32>)>,
    moved: u64,
    delivered: Time,
}

impl Probe for Starts {
    fn on_deliver(&mut self, now: Time, _host: u32, _frame: &Frame) {
        self.delivered = now;
    }

    fn on_transmit(&mut self, _now: Time, port: u32, frame: &Frame, _waited: Span, _busy: Span) {
        if frame.kind != fabric::Kind::Data {
            return;
        }
        let of = |(output, class, flows): &&(u32, u8, Vec<u32>)| {
            *output == port && *class == frame.class && flows.contains(&frame.flow)
        };
        self.moved += u64::from(self.stuck.iter().any(|stuck| of(&stuck)));
    }
}

fn flow_control(r: &mut R) -> FlowControl {
    let quanta = r.of(&[65_535, 4_000, 1_000, 100]);
    let pause = PauseSpec {
        quanta,
        refresh_before: quanta / 2,
        response: Span::from_nanos(r.of(&[0, 800])),
        response_jitter: Span::from_nanos(r.of(&[0, 0, 600])),
        holds: 255,
    };
    let delay = Span::from_nanos(r.of(&[1, 30, 700]));
    let unit = r.of(&[CreditUnit::Frame, CreditUnit::Block(b(64)), CreditUnit::Block(b(1))]);
    let refresh = r.of(&[None, Some(Span::from_micros(30))]);
    let frame = CreditReturn::Frame { size: b(64), refresh };
    match r.n(6) {
        0 | 1 => FlowControl::Pfc(pause),
        2 => FlowControl::Pause(pause),
        3 => FlowControl::Credits(CreditSpec { unit, give_back: frame }),
        _ => FlowControl::Credits(CreditSpec { unit, give_back: CreditReturn::Signal { delay } }),
    }
}

/// A kind of switch for that many classes, whose largest frame is known.
fn kind(r: &mut R, classes: usize, largest: u64, control: FlowControl) -> SwitchSpec {
    let slots = matches!(control, FlowControl::Credits(CreditSpec { unit: CreditUnit::Frame, .. }));
    let credits = matches!(control, FlowControl::Credits(_));
    let xoff = r.of(&[2_000, 12_000, 31_000]);
    let buffer = match (slots, credits) {
        (true, _) => ClassBuffer::drop_tail(b(r.of(&[1, 2, 4, 9]))),
        (false, true) => ClassBuffer::drop_tail(b((largest + r.of(&[64, 1_000, 9_000])).div_ceil(64) * 64)),
        (false, false) => ClassBuffer::lossless(b(xoff + 200_000), b(xoff), b(r.of(&[xoff, xoff - 1_000, xoff / 2]))),
    };
    let crossbar = Crossbar {
        arbitration: r.of(&[Arbitration::ArrivalOrder, Arbitration::RoundRobin, Arbitration::RoundRobinWaiting]),
        read_ports: r.of(&[0, 1, 2]),
        speedup: (1, 1),
    };
    let reading = r.of(&[BypassReading::Lookahead, BypassReading::PerPacket]);
    let (queueing, crossbar) = match r.n(6) {
        0 | 1 => (Queueing::Output, None),
        2 | 3 => (Queueing::InputFifo { bypass: r.of(&[0, 1, 2, 4]), reading }, Some(crossbar)),
        4 => (Queueing::VirtualOutput, Some(crossbar)),
        _ => (
            Queueing::Combined { output_buffer: b(largest + r.of(&[0, 700, 16_000])) },
            Some(Crossbar { speedup: r.of(&[(1, 1), (3, 2), (2, 1)]), ..crossbar }),
        ),
    };
    let shared = queueing == Queueing::Output && !credits && r.p(60);
    let part = ClassBuffer {
        capacity: b(r.of(&[0, 2_000])),
        xoff: b(0),
        xon: b(r.of(&[0, 1_000])),
        headroom: b(200_000),
        ..ClassBuffer::UNLIMITED
    };
    let fabric = r.p(15) && !credits;
    SwitchSpec {
        queueing,
        buffer: match shared {
            true => Buffer::Shared {
                total: b(r.of(&[20_000, 60_000, 200_000])),
                alpha: r.of(&[(1, 2), (1, 1), (4, 1)]),
                classes: vec![part; classes],
            },
            false => Buffer::Static(vec![buffer; classes]),
        },
        flow_control: control,
        crossbar,
        egress: Egress::Strict,
        forwarding: match r.p(20) {
            true => Forwarding::CutThrough { header_delay: Span::from_nanos(60) },
            false => Forwarding::StoreAndForward,
        },
        pipeline: r.of(&[Span::ZERO, Span::ZERO, Span::from_nanos(350)]),
        order: if queueing == Queueing::Output {
            r.of(&[Order::Arrival, Order::RoundRobin, Order::Longest])
        } else {
            Order::Arrival
        },
        pfc_watchdog: None,
        congestion_point: fabric.then(|| CongestionPointSpec {
            reliable: true,
            notice_class: r.n(classes as u64) as u8,
            ..CongestionPointSpec::default()
        }),
    }
}

/// A recovery whose timer expires again and again while its frames are stuck.
fn recovery(r: &mut R) -> Option<Arc<Recovery>> {
    let (name, timeouts) = r.of(&[
        ("go-back-n", &["timeout"][..]),
        ("selective-repeat", &["timeout_low", "timeout_high"]),
        ("sack", &["initial_timeout", "min_timeout"]),
    ]);
    let info = RECOVERIES.iter().find(|info| info.name == name).unwrap();
    let mut values = Values::defaults(info.parameters);
    let timeout = Span::from_micros(r.of(&[200, 3_000]));
    timeouts.iter().for_each(|key| values.set(key, Value::Time(timeout)));
    Some(Arc::new((info.build)(&values).unwrap()))
}

fn network_of(seed: u64) -> NetworkSpec {
    let mut r = R(Stream::new(seed, 0, "oracle"));
    let latency = Span::from_nanos(r.of(&[50, 500, 3_000]));
    let switches = 3 + r.n(4) as u32;
    let control = flow_control(&mut r);
    let several_links = Stream::new(seed, 1, "homing").below(100) < 20;
    let mut ring = topology::ring(switches, 1, Links::same(link(10, latency))).unwrap();
    if several_links {
        ring = topology::host_links(ring, 2).unwrap();
    }
    let mut spec = clockwise(ring, control, ClassBuffer::UNLIMITED);
    if r.p(20) {
        let mut graph = topology::leaf_spine(3, 2, 2, Links::same(link(10, latency))).unwrap();
        if several_links {
            graph = multihomed(graph, seed);
        }
        spec = network(graph, spec.switches[0].clone(), lossless());
        let flowlets = FlowletSpec { gap: Span::from_micros(5), entries: 16, choice: FlowletChoice::Shortest };
        spec.multipath = r.of(&[Multipath::FlowHash, Multipath::Adaptive, Multipath::Flowlet(flowlets)]);
    }
    spec.seed = seed;
    let classes = 1 + r.n(2) as usize;
    spec.classes = vec![lossless(); classes];
    let sizes: [u64; 5] = [256, 1_000, 1_000, 1_500, 4_096];
    let largest = r.of(&[1_000, 1_500, 4_096]);
    spec.switches = vec![kind(&mut r, classes, largest, control)];
    if r.p(40) {
        let service = Some(r.of(&[Rate::from_megabits(500), Rate::from_gigabits(4), Rate::ZERO]));
        let part = ClassBuffer::lossless(b(220_000), b(20_000), b(10_000));
        let service_changes = match r.n(3) {
            0 => vec![(at(Span::from_millis(3)), Some(Rate::from_gigabits(5)))],
            _ => vec![],
        };
        let slow = AdapterSpec {
            flow_control: pfc(),
            buffer: vec![part; classes],
            service,
            service_changes,
            ..AdapterSpec::default()
        };
        spec.adapters.push(slow);
        let hosts: Vec<u32> = spec.graph.hosts().iter().map(|host| host.0).collect();
        for host in hosts {
            spec.kind_of[host as usize] = u32::from(r.p(50));
        }
    }
    let count = spec.graph.hosts().len() as u64;
    spec.flows.clear();
    for _ in 0..2 + r.n(3 * count) {
        let (from, hops) = (r.n(count), 2 + r.n(count - 2));
        let frame = r.of(&sizes).min(largest);
        let mut flow = FlowSpec {
            class: r.n(classes as u64) as u8,
            start: at(Span::from_micros(r.of(&[0, 0, 7, 200, 1_500]))),
            size: Some(b(r.of(&[3_000, 100_000, 300_000]))),
            ..greedy(from as u32, ((from + hops) % count) as u32, frame)
        };
        let rate = Rate::from_megabits(r.of(&[200, 2_000, 6_000]));
        match r.n(6) {
            0 => {
                flow.pattern = Pattern::Paced { rate, gaps: r.of(&[Gaps::Constant, Gaps::Exponential]), backlog: None }
            }
            1 => flow.reaction = Reaction::None(NoControl { allowance: Allowance { rate: Some(rate), window: None } }),
            2 => {
                let allowance = Allowance { rate: None, window: Some(b(3 * frame)) };
                flow.reaction = Reaction::None(NoControl { allowance });
                flow.acknowledge =
                    Some(Acknowledge { size: b(64), class: r.n(classes as u64) as u8, every: 1, delay: None });
            }
            _ => {}
        }
        if r.p(20) {
            flow.recovery = recovery(&mut r);
            flow.acknowledge.get_or_insert(Acknowledge { class: r.n(classes as u64) as u8, ..Acknowledge::default() });
        }
        spec.flows.push(flow);
    }
    if r.p(15) {
        let cable = r.n(spec.graph.cables.len() as u64) as u32;
        let (down, up) = (1 + r.n(4), r.of(&[None, Some(2)]));
        let up = up.map(|up| at(Span::from_millis(down + up)));
        spec.faults.push(Fault { cable, down: at(Span::from_millis(down)), up });
        if r.p(60) {
            let routes = Routes::without_links(&spec.graph, &[cable]);
            spec.route_changes
                .push(RouteChange::everywhere(at(Span::from_millis(down) + Span::from_micros(300)), routes));
        }
    }
    if several_links {
        leave_somehow(&mut spec);
    }
    watch_pauses(&mut spec);
    spec
}

/// Gives some networks PFC watchdogs, at all ports or at some.
fn watch_pauses(spec: &mut NetworkSpec) {
    let mut r = R(Stream::new(spec.seed, 2, "pfc watchdog"));
    let SwitchSpec { queueing, flow_control, congestion_point, .. } = &spec.switches[0];
    let possible = matches!(flow_control, FlowControl::Pfc(_)) && *queueing == Queueing::Output;
    if !possible || congestion_point.is_some() || !r.p(50) {
        return;
    }
    let watchdog = PfcWatchdogSpec {
        detection: Span::from_micros(r.of(&[80, 500, 3_000])),
        restoration: Span::from_micros(r.of(&[100, 2_000])),
        poll: Span::from_micros(r.of(&[0, 0, 70])),
        action: r.of(&[WatchdogAction::Drop, WatchdogAction::Forward]),
        classes: r.of(&[u8::MAX, 1]),
    };
    if r.p(60) {
        spec.switches[0].pfc_watchdog = Some(watchdog);
        return;
    }
    for cable in spec.graph.cables.clone() {
        let (node, port) = (cable.a, 0);
        let known = spec.ports.iter().any(|other| (other.node, other.port) == (node, port));
        if spec.graph.switches().contains(&node) && !known && r.p(30) {
            spec.ports.push(PortSpec { pfc_watchdog: Some(watchdog), ..PortSpec::plain(node, port) });
        }
    }
}

/// The circle as outputs of the network, with class and flows.
fn stuck_at(simulation: &Observed<Starts>, spec: &NetworkSpec, deadlock: &Deadlock) -> Vec<(u32, u8, Vec<u32>)> {
    let ports = 0..simulation.ports() as u32;
    let place = |waiting: &fabric::Waiting| {
        let found = ports.clone().find(|&port| {
            let (node, number) = simulation.port(port);
            spec.graph.nodes[node.0 as usize].name == waiting.node && number == waiting.output
        });
        (found.unwrap(), waiting.class, waiting.flows.clone())
    };
    deadlock.cycle.iter().map(place).collect()
}

/// What is wrong with the verdict on one network, and which verdict it was; `None` if the network is refused.
fn judge(seed: u64) -> Option<(Option<String>, &'static str)> {
    let spec = network_of(seed);
    let mut simulation = Observed::build(&spec, &BuildOptions::default(), |_| Starts::default()).ok()?;
    let report = simulation.run(&RunLimits::until(at(WATCHED)));
    if let Outcome::Deadlock(deadlock) = &report.outcome {
        let stuck = stuck_at(&simulation, &spec, deadlock);
        simulation.probes_mut().for_each(|probe| probe.stuck = stuck.clone());
    }
    // How often the watchdog looks does not change what it comes to see.
    let mut seldom = Simulation::build(&spec, &BuildOptions::default()).ok()?;
    let limits = RunLimits { inspect_every: Span::from_micros(6_700), ..RunLimits::until(at(WATCHED)) };
    let other = seldom.run(&limits).outcome;
    let same = std::mem::discriminant(&other) == std::mem::discriminant(&report.outcome);
    let before = simulation.totals();
    let delivered = simulation.probes_mut().map(|probe| probe.delivered).max().unwrap_or_default();
    let on = RunLimits { watchdog: false, ..RunLimits::until(report.now.max(at(WATCHED)) + AFTER) };
    let after = simulation.run(&on).totals;
    let moved = simulation.probes_mut().map(|probe| probe.moved).sum::<u64>();
    let left = simulation.census().in_switches;
    // Copies that pass through a switch at this instant are not stuck in it.
    let stuck = simulation.census().oldest.is_some_and(|since| since <= report.now.max(at(WATCHED)));
    let later = simulation.run(&RunLimits::until(on.until)).outcome;
    let still = before.delivered_frames == after.delivered_frames;
    let wrong =
        |what: &str| Some(format!("{seed}: {what}; {left} frames in switches, {moved} moved, {:?}", report.outcome));
    if !same {
        return Some((wrong(&format!("with fewer inspections: {other:?}")), "other"));
    }
    Some(match &report.outcome {
        Outcome::Deadlock(_) if moved > 0 => (wrong(&format!("{moved} frames of the circle moved")), "deadlock"),
        Outcome::Deadlock(_) => (None, "deadlock"),
        Outcome::Stalled(_) if !still => (wrong("frames arrived after the stall"), "stalled"),
        Outcome::Stalled(_) => (None, "stalled"),
        // A gap between copies may come and end it; but until now nothing has arrived for long.
        Outcome::Livelock(livelock) if livelock.since < delivered => (wrong("something was delivered"), "livelock"),
        Outcome::Livelock(_) if !stuck && still => (wrong("nothing waits, and nothing arrived"), "livelock"),
        Outcome::Livelock(_) => (None, "livelock"),
        // Copies that a source sends again and again may move for ever; they bring nothing. When nothing new has arrived for
        // long, what is left is stuck, and a run that ends then is not finished.
        Outcome::Finished if stuck && still && later == Outcome::Finished => (wrong("stands still"), "finished"),
        Outcome::Finished => (None, "finished"),
        // Random thresholds may be too tight; that is told as what it is.
        Outcome::LossInLosslessClass(_) => (None, "loss"),
        other => (wrong(&format!("ended as {other:?}")), "other"),
    })
}

/// Judges every second network from `first` on, so that two tests share the work.
fn judge_half(first: u64) {
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default);
    let (from, seeds) = (number("FROM", 0), number("SEEDS", 5000));
    let mut verdicts = BTreeMap::<&str, u64>::new();
    let mut wrong = Vec::new();
    for seed in (from + first..from + seeds).step_by(2) {
        match judge(seed) {
            Some((fault, verdict)) => {
                *verdicts.entry(verdict).or_default() += 1;
                wrong.extend(fault);
            }
            None => *verdicts.entry("refused").or_default() += 1,
        }
    }
    let shown: Vec<&String> = wrong.iter().take(12).collect();
    assert!(wrong.is_empty(), "{} of {seeds} wrong, {verdicts:?}\n{shown:#?}", wrong.len());
    let at_least = |verdict: &str, part: u64| {
        let count = verdicts.get(verdict).copied().unwrap_or(0);
        assert!(2 * count * part >= seeds, "{count} of {} {verdict}: the networks do not try it", seeds / 2);
    };
    at_least("deadlock", 8);
    at_least("finished", 8);
    at_least("stalled", 50);
}

#[test]
fn verdicts_agree_with_what_happens_afterwards() {
    judge_half(0);
}

#[test]
fn verdicts_agree_with_what_happens_afterwards_too() {
    judge_half(1);
}

/// Networks whose verdict was wrong once. Circles of long frames were hidden by short ones that still had credits, or that
/// could not pass them on their way to the same output; copies brought something in the end, after two timeouts in a row that
/// brought nothing; a circle named a flow whose short frame left it; frames that waited for a turn behind copies in a
/// higher class were called stuck, although a gap came after 30 ms in one of two networks, or were forgotten for ever; a class
/// was taken to be at rest although a flow with shorter frames came before the one whose frame lacked credits.
#[test]
fn verdicts_that_were_wrong_once_are_right() {
    let finished = [200_365, 203_969, 3_146].map(|seed| (seed, "finished"));
    let deadlocks = [105_290, 313_906, 2_215, 9_100_056].map(|seed| (seed, "deadlock"));
    let livelocks = [105_992, 7_002_558].map(|seed| (seed, "livelock"));
    for (seed, verdict) in finished.into_iter().chain(deadlocks).chain(livelocks) {
        assert_eq!(judge(seed), Some((None, verdict)), "seed {seed}");
    }
}
