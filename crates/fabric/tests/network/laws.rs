//! What holds on any network: nothing is made or lost in secret, lossless is lossless, nobody overtakes, pauses end.

use crate::kit::*;
use crate::observed::Observed;
use fabric::graph::Graph;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::{Acknowledge, Activity, Backlog, FlowSpec, Gaps, Overflow, Pattern};
use fabric::{BuildOptions, Outcome, Probe, RunLimits};
use proptest::prelude::*;
use theory::headroom::{HeadroomSpec, headroom};
use units::{Bytes, Rate, Span, Time};

#[derive(Clone, Debug)]
struct Case {
    topology: u8,
    queueing: u8,
    control: u8,
    cut_through: bool,
    pipeline: bool,
    classes: usize,
    weighted: bool,
    latency: u64,
    flows: Vec<(u32, u32, u8, u8, u16)>,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let flow = (0u32..64, 0u32..64, 0u8..8, 0u8..6, 64u16..2000);
    let shape = (0u8..5, 0u8..5, 0u8..4, any::<bool>(), any::<bool>());
    let rest = (1usize..4, any::<bool>(), 0u64..3, prop::collection::vec(flow, 1..12), any::<u64>());
    (shape, rest).prop_map(|(shape, rest)| Case {
        topology: shape.0,
        queueing: shape.1,
        control: shape.2,
        cut_through: shape.3,
        pipeline: shape.4,
        classes: rest.0,
        weighted: rest.1,
        latency: [50, 500, 5_000][rest.2 as usize],
        flows: rest.3,
        seed: rest.4,
    })
}

fn graph(case: &Case) -> Graph {
    let cable = link(10, Span::from_nanos(case.latency));
    match case.topology {
        0 => topology::single_switch(5, cable),
        1 => topology::dumbbell(3, 3, cable, link(5, Span::from_nanos(case.latency))),
        2 => topology::chain(3, 2, Links::same(cable)),
        3 => topology::leaf_spine(3, 2, 2, Links::same(cable)),
        _ => topology::fat_tree(2, Links::same(cable)),
    }
    .unwrap()
}

/// The network of a case, with the headroom that the formula asks for.
fn spec(case: &Case) -> NetworkSpec {
    let largest = Bytes::new(2000);
    let latency = Span::from_nanos(case.latency);
    let needed = headroom(&HeadroomSpec::simulated(Rate::from_gigabits(10), latency, Span::ZERO, largest, largest));
    let xoff = Bytes::new(12_000);
    let pause = ClassBuffer::lossless(needed.buffer_for(xoff), xoff, Bytes::new(6_000));
    let (control, buffer) = match case.control {
        0 => (pfc(), pause),
        1 => (FlowControl::Pause(PauseSpec::default()), pause),
        2 => (slots(Span::from_nanos(25)), ClassBuffer::drop_tail(Bytes::new(6))),
        _ => (
            FlowControl::Credits(CreditSpec {
                unit: CreditUnit::Block(Bytes::new(64)),
                give_back: CreditReturn::Frame { size: Bytes::new(64), refresh: None },
            }),
            ClassBuffer::drop_tail(Bytes::new(12_032)),
        ),
    };
    let mut spec = network(graph(case), switch(buffer, control), lossless());
    spec.seed = case.seed;
    spec.classes = vec![lossless(); case.classes];
    let kind = &mut spec.switches[0];
    kind.buffer = Buffer::Static(vec![buffer; case.classes]);
    if case.weighted {
        kind.egress = match case.seed % 2 {
            0 => Egress::weighted(&vec![Bytes::new(2500); case.classes]),
            _ => lanes(&[(0, 9)], &(0..case.classes as u8).map(|class| (class, 20)).collect::<Vec<_>>(), 1),
        };
    }
    kind.pipeline = if case.pipeline { Span::from_nanos(350) } else { Span::ZERO };
    if case.cut_through {
        kind.forwarding = Forwarding::CutThrough { header_delay: Span::from_nanos(60) };
    }
    let crossbar = |arbitration| Some(Crossbar { arbitration, read_ports: 1, speedup: (1, 1) });
    (kind.queueing, kind.crossbar) = match case.queueing {
        0 => (Queueing::Output, None),
        1 => {
            (Queueing::InputFifo { bypass: 0, reading: BypassReading::Lookahead }, crossbar(Arbitration::ArrivalOrder))
        }
        2 => {
            (Queueing::InputFifo { bypass: 3, reading: BypassReading::PerPacket }, crossbar(Arbitration::ArrivalOrder))
        }
        3 => (Queueing::VirtualOutput, crossbar(Arbitration::RoundRobin)),
        _ => (Queueing::Combined { output_buffer: Bytes::new(8_000) }, crossbar(Arbitration::RoundRobinWaiting)),
    };
    let count = spec.graph.hosts().len() as u32;
    for &(from, to, class, pattern, frame) in &case.flows {
        let (source, target) = (from % count, to % count);
        if source == target {
            continue;
        }
        let mut flow =
            FlowSpec { class: class % case.classes as u8, ..greedy(source, target, u64::from(frame)) }.with(|it| {
                it.stop = Some(at(Span::from_micros(150)));
            });
        let rate = Rate::from_megabits(3_500);
        match pattern {
            0 => flow.size = Some(Bytes::new(33_333)),
            1 => flow.pattern = Pattern::Paced { rate, gaps: Gaps::Exponential, backlog: None },
            2 => {
                let backlog = Some(Backlog { frames: 3, overflow: Overflow::Discard });
                flow.pattern = Pattern::Paced { rate, gaps: Gaps::Jittered(0.3), backlog };
            }
            3 => {
                flow.acknowledge = Some(Acknowledge { size: Bytes::new(64), class: flow.class, every: 2, delay: None })
            }
            4 => {
                let (on, off) = (Span::from_micros(20), Span::from_micros(10));
                flow.activity = Activity::OnOff { on, off, random: true, discard: false };
            }
            _ => {}
        }
        spec.flows.push(flow);
    }
    spec
}

/// Checks order of delivery and that a pause is obeyed: a paused class starts no data.
#[derive(Default)]
struct Watch {
    deliveries: Deliveries,
    paused: Vec<u8>,
    disobeyed: u64,
    pauses: u64,
    releases: u64,
}

impl Probe for Watch {
    fn on_deliver(&mut self, now: Time, host: u32, frame: &fabric::Frame) {
        self.deliveries.on_deliver(now, host, frame);
    }

    fn on_transmit(&mut self, _now: Time, port: u32, frame: &fabric::Frame, _waited: Span, _busy: Span) {
        let paused = self.paused.get(port as usize).copied().unwrap_or(0);
        let data = matches!(frame.kind, fabric::Kind::Data | fabric::Kind::Acknowledgement);
        self.disobeyed += u64::from(data && paused >> frame.class & 1 == 1);
    }

    fn on_pause(&mut self, _now: Time, port: u32, classes: u8, paused: bool) {
        if self.paused.len() <= port as usize {
            self.paused.resize(port as usize + 1, 0);
        }
        if paused {
            self.paused[port as usize] |= classes;
            self.pauses += u64::from(classes.count_ones());
        } else {
            self.paused[port as usize] &= !classes;
            self.releases += u64::from(classes.count_ones());
        }
    }
}

proptest! {
    // PROPTEST_CASES asks for more.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(300), ..ProptestConfig::default() })]

    #[test]
    fn on_any_small_network(case in case()) {
        let spec = spec(&case);
        let mut simulation =
            Observed::build(&spec, &BuildOptions::default(), |_| Watch::default()).expect("a sound network");
        // In the middle of it, and after everything has come to rest.
        for until in [Span::from_micros(80), Span::from_millis(200)] {
            let report = simulation.run(&RunLimits::until(at(until)));
            prop_assert_eq!(&report.outcome, &Outcome::Finished, "lossless and without a circle");
            let (totals, census) = (report.totals, simulation.census());
            prop_assert_eq!(totals.dropped_frames, 0);
            prop_assert_eq!(
                totals.made_bytes,
                totals.delivered_bytes + totals.discarded_bytes + totals.lost_bytes + census.bytes
            );
            prop_assert_eq!(
                totals.made_frames,
                totals.delivered_frames + totals.discarded_frames + totals.lost_frames + census.frames
            );
            prop_assert_eq!(census.places, census.frames + census.control, "a frame was forgotten");
            if until > Span::from_millis(1) {
                prop_assert_eq!(census, fabric::Census::default(), "everything arrives in the end");
                prop_assert!(simulation.congestion_tree().is_empty(), "everybody is let go in the end");
            }
        }
        let watch = simulation.probes_mut().next().unwrap();
        prop_assert_eq!(watch.deliveries.out_of_order, 0);
        prop_assert_eq!(watch.disobeyed, 0);
        prop_assert_eq!(watch.pauses, watch.releases);
    }
}
