//! What sources learn from acknowledgements, and flows that recover from losses.

use crate::kit::*;
use crate::observed::Observed;
use crate::path_selection::selection;
use congestion::parameter::{Value, Values};
use congestion::{Allowance, Feedback, NoControl, Reaction, ReactionPoint};
use fabric::graph::LinkSpec;
use fabric::routing::Routes;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::transport::{RECOVERIES, Recovery};
use fabric::workload::{Acknowledge, FlowSpec, Gaps, Notify, Pattern};
use fabric::{BuildOptions, Census, DropCause, FlowSummary, Frame, Outcome, Probe, RunLimits, Totals};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{Bytes, Rate, Span, Time};

/// Checks every acknowledgement of a paced source that offers twice what its rate limit lets through.
#[derive(Clone, Debug)]
struct Watching {
    limit: Rate,
    network: Span,
    seen: u64,
    sent: u64,
}

impl ReactionPoint for Watching {
    fn on_sent(&mut self, _now: Time, len: Bytes) {
        self.sent += len.get();
    }
    fn on_feedback(&mut self, _now: Time, feedback: &Feedback) {
        let Feedback::Acknowledgement { bytes, round_trip, path, .. } = *feedback else { panic!("{feedback:?}") };
        self.seen += bytes.get();
        assert_eq!((path.network_round_trip, path.hops), (self.network, 2));
        assert_eq!((path.acknowledged.get(), path.sent.get()), (self.seen, self.sent));
        // The n-th frame was made after n gaps at twice the rate at which frames leave.
        assert!(round_trip >= self.network);
        assert!(self.seen < 20_000 || round_trip > self.network + Span::from_micros(5), "{round_trip}");
    }
    fn on_deadline(&mut self, _now: Time) {}
    fn deadline(&self) -> Option<Time> {
        None
    }
    fn allowance(&self) -> Allowance {
        Allowance { rate: Some(self.limit), window: None }
    }
}

#[test]
fn the_network_round_trip_is_without_the_wait_at_the_adapter() {
    let graph = topology::single_switch(2, link(10, Span::from_micros(1))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.overhead = Bytes::ZERO;
    // Two links of 1 us each way; 1250 B take 1 us per link and 125 B take 100 ns.
    let network = Span::from_nanos(2 * 2_000 + 2 * 1_100);
    let limit = Rate::from_gigabits(2);
    let reaction = Reaction::custom(Watching { limit, network, seen: 0, sent: 0 });
    spec.flows = vec![FlowSpec { size: Some(Bytes::new(50_000)), ..greedy(0, 1, 1250) }.with(|it| {
        it.pattern = Pattern::Paced { rate: Rate::from_gigabits(4), gaps: Gaps::Constant, backlog: None };
        it.acknowledge = Some(Acknowledge { size: Bytes::new(125), ..Acknowledge::default() });
        it.reaction = reaction;
    })]
    .into();
    let (simulation, report) = run(&spec, Span::from_millis(1));
    assert_eq!(report.totals.acknowledgements, 40);
    assert!(simulation.flows()[0].completed.is_some());
}

/// The recovery of that name with its defaults, but for some parameters.
pub fn recovery(name: &str, changes: &[(&'static str, Value)]) -> Option<Arc<Recovery>> {
    let info = RECOVERIES.iter().find(|info| info.name == name).expect("it is built in");
    let mut values = Values::defaults(info.parameters);
    changes.iter().for_each(|(name, value)| values.set(name, value.clone()));
    Some(Arc::new((info.build)(&values).expect("sound parameters")))
}

fn go_back_n(timeout: Span) -> Option<Arc<Recovery>> {
    recovery("go-back-n", &[("timeout", Value::Time(timeout))])
}

/// A flow of that many bytes in frames of 1000 that is retransmitted until it arrives.
fn reliable(from: u32, to: u32, size: u64, recovery: Option<Arc<Recovery>>) -> FlowSpec {
    let acknowledge = Some(Acknowledge::default());
    FlowSpec { size: Some(Bytes::new(size)), ..greedy(from, to, 1000) }.with(|it| {
        it.acknowledge = acknowledge;
        it.recovery = recovery;
    })
}

/// Counts how often each frame of each flow was delivered.
#[derive(Default)]
pub struct Once(pub BTreeMap<(u32, u32), u32>);

impl Probe for Once {
    fn on_deliver(&mut self, _now: Time, _host: u32, frame: &Frame) {
        *self.0.entry((frame.flow, frame.seq())).or_default() += 1;
    }
}

/// That nothing is made or lost in secret.
pub fn conserved(totals: &Totals, census: &Census) {
    let frames = [totals.delivered_frames, totals.duplicate_frames, totals.rejected_frames, totals.dropped_frames];
    let gone = totals.trimmed_frames + totals.lost_frames + totals.discarded_frames + totals.watchdog_frames;
    let frames = frames.iter().sum::<u64>() + gone + census.frames;
    assert_eq!(totals.made_frames + totals.retransmitted_frames, frames, "{totals:?}");
    let bytes = [totals.delivered_bytes, totals.duplicate_bytes, totals.rejected_bytes, totals.dropped_bytes];
    let gone = totals.trimmed_bytes + totals.lost_bytes + totals.discarded_bytes + totals.watchdog_bytes;
    let bytes = bytes.iter().sum::<u64>() + gone + census.bytes;
    assert_eq!(totals.made_bytes + totals.retransmitted_bytes, bytes, "{totals:?}");
    assert_eq!(census.places, census.frames + census.control, "a frame was forgotten");
    assert_eq!(census.extensions, census.extended, "what an acknowledgement says was forgotten");
}

/// That every byte of every flow arrived, each frame once, and that the sources know.
pub fn all_arrived(spec: &NetworkSpec, simulation: &mut Observed<Once>) {
    let mut delivered: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for probe in simulation.probes_mut() {
        probe.0.iter().for_each(|(&frame, times)| *delivered.entry(frame).or_default() += times);
    }
    assert!(delivered.values().all(|&times| times == 1), "a frame was delivered twice");
    for (number, (flow, summary)) in (0..).zip(spec.flows.iter().zip(simulation.flows())) {
        let (size, frame) = (flow.size.unwrap().get(), flow.frame.get());
        let frames = size.div_ceil(frame);
        let last = (size - (frames - 1) * frame).max(spec.smallest_frame.get());
        assert_eq!(summary.received_bytes, (frames - 1) * frame + last, "flow {number}: {summary:?}");
        assert_eq!((summary.received_frames, summary.made_frames, summary.lost_frames), (frames, frames, 0));
        let numbers = delivered.range((number, 0)..=(number, u32::MAX)).map(|(&(_, number), _)| number);
        assert!(numbers.eq(0..frames as u32), "flow {number}");
        let (completed, known) = (summary.completed.expect("it completes"), summary.acknowledged.expect("it knows"));
        assert!(completed < known, "flow {number}");
    }
}

#[test]
fn a_lossy_class_delivers_everything_once_with_recovery() {
    let graph = topology::two_switches(4, 1, 1, Links::same(link(10, Span::from_micros(1)))).unwrap();
    let mut spec = network(graph, switch(ClassBuffer::drop_tail(Bytes::new(20_000)), FlowControl::None), lossy());
    spec.flows = (0..4).map(|from| reliable(from, 4, 99_950, go_back_n(Span::from_micros(100)))).collect();
    let (mut simulation, report) = run_with(&spec, Span::from_millis(50), |_| Once::default());
    assert_eq!(report.outcome, Outcome::Finished);
    all_arrived(&spec, &mut simulation);
    let totals = report.totals;
    conserved(&totals, &simulation.census());
    assert!(totals.dropped_frames > 100 && totals.retransmitted_frames > totals.dropped_frames, "{totals:?}");
    assert!(totals.negative_acknowledgements > 0 && totals.rejected_frames > 0 && totals.out_of_order_frames > 0);
    // The run ends when the last source knows, not when a timer that is set for nothing would run out.
    let known = simulation.flows().iter().map(|flow| flow.acknowledged).max().unwrap();
    assert_eq!(Some(report.now), known);
    let sum = |part: fn(&FlowSummary) -> u64| simulation.flows().iter().map(part).sum::<u64>();
    assert_eq!(sum(|flow| flow.retransmitted_frames), totals.retransmitted_frames);
    assert_eq!(sum(|flow| flow.retransmitted_bytes), totals.retransmitted_bytes);
    assert_eq!(sum(|flow| flow.duplicate_frames), totals.duplicate_frames);
    assert_eq!(sum(|flow| flow.rejected_frames), totals.rejected_frames);
    assert_eq!(sum(|flow| flow.out_of_order_frames), totals.out_of_order_frames);
    assert_eq!(sum(|flow| flow.negative_acknowledgements), totals.negative_acknowledgements);
    assert_eq!(sum(|flow| flow.timeouts), totals.timeouts);
}

#[test]
fn a_flow_that_loses_its_last_frame_completes_by_its_timer() {
    // The cable fails while the second of two frames is on it.
    let graph = topology::single_switch(2, link(10, Span::from_micros(1))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.overhead = Bytes::ZERO;
    let timeout = Span::from_micros(300);
    spec.flows = vec![reliable(0, 1, 2_000, go_back_n(timeout))].into();
    let (down, up) = (at(Span::from_nanos(2_000)), at(Span::from_nanos(2_500)));
    spec.faults = vec![Fault { cable: 0, down, up: Some(up) }];
    let (mut simulation, report) = run_with(&spec, Span::from_millis(1), |_| Once::default());
    all_arrived(&spec, &mut simulation);
    assert_eq!((report.totals.lost_frames, report.totals.retransmitted_frames, report.totals.timeouts), (1, 1, 1));
    // 800 ns and 1 us for each of two links, and 51.2 ns and 1 us for the acknowledgement of the first; nothing since.
    let first = Span::from_picos(2 * 1_800_000 + 2 * 1_051_200);
    let second = first + timeout + Span::from_nanos(2 * 1_800);
    assert_eq!(simulation.flows()[0].completed, Some(at(second)));
}

#[test]
fn a_cable_that_fails_under_lossless_traffic_loses_nothing_in_the_end() {
    let graph = topology::two_switches(3, 1, 1, Links::same(link(10, Span::from_micros(1)))).unwrap();
    let trunk = graph.cables.iter().position(|cable| {
        [cable.a, cable.b].iter().all(|node| graph.nodes[node.0 as usize].role == fabric::graph::Role::Switch)
    });
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.flows = (0..3).map(|from| reliable(from, 3, 2_000_000, go_back_n(Span::from_micros(500)))).collect();
    let (down, up) = (at(Span::from_millis(1)), at(Span::from_millis(2)));
    spec.faults = vec![Fault { cable: trunk.unwrap() as u32, down, up: Some(up) }];
    let (mut simulation, report) = run_with(&spec, Span::from_millis(100), |_| Once::default());
    assert_eq!(report.outcome, Outcome::Finished);
    all_arrived(&spec, &mut simulation);
    conserved(&report.totals, &simulation.census());
    assert!(report.totals.lost_frames > 0 && report.totals.retransmitted_frames > 0, "{:?}", report.totals);
    // Without recovery they are gone.
    spec.flows.iter_mut().for_each(|flow| flow.recovery = None);
    let (simulation, report) = run(&spec, Span::from_millis(100));
    assert!(report.totals.lost_frames > 0 && simulation.flows().iter().any(|flow| flow.completed.is_none()));
}

/// Counts frames that were lost because a fault kept a pause from their sender.
#[derive(Default)]
struct PausesLost(u64);

impl Probe for PausesLost {
    fn on_drop(&mut self, _now: Time, _port: u32, _frame: &Frame, cause: DropCause) {
        self.0 += u64::from(cause == DropCause::PauseLost);
    }
}

/// Five hosts send to a sixth, one of them with recovery, and the headroom is no more than the formula asks for: a pause that
/// does not arrive overruns it. Returns how many frames were lost by that.
fn lost_in_tight_headroom(change: impl FnOnce(&mut NetworkSpec)) -> u64 {
    let graph = topology::single_switch(6, link(10, Span::from_micros(5))).unwrap();
    let pause = PauseSpec { quanta: 4000, refresh_before: 3000, ..PauseSpec::default() };
    let buffer = ClassBuffer::lossless(Bytes::new(33_400), Bytes::new(20_000), Bytes::new(10_000));
    let mut spec = network(graph, switch(buffer, FlowControl::Pfc(pause)), lossless());
    spec.flows = (1..5).map(|from| greedy(from, 5, 256)).collect();
    spec.flows.push(reliable(0, 5, 300_000, go_back_n(Span::from_micros(500))));
    spec.flows[4].frame = Bytes::new(256);
    change(&mut spec);
    let (mut simulation, report) = run_with(&spec, Span::from_millis(60), |_| PausesLost::default());
    assert_eq!(report.outcome, Outcome::Finished);
    assert!(simulation.flows()[4].acknowledged.is_some(), "{:?}", report.totals);
    conserved(&report.totals, &simulation.census());
    assert_eq!(report.totals.dropped_frames, 0, "they are lost by a fault");
    simulation.probes_mut().map(|probe| probe.0).sum()
}

#[test]
fn a_lost_pause_ends_no_run() {
    assert_eq!(lost_in_tight_headroom(|_| {}), 0);
    // One frame of 64 B in fifty and one of 256 B in twelve are damaged on the cable of host 0.
    assert!(lost_in_tight_headroom(|spec| spec.graph.cables[0].link.bit_error_rate = 4e-5) > 0);
}

#[test]
fn a_link_that_fails_while_it_is_paused_ends_no_run() {
    // Each time it works again, the sender begins before it hears that the buffer is still full.
    let lost = (100..400).step_by(20).map(|micros| {
        let fault = |micros: u64| {
            let (down, up) = (at(Span::from_micros(micros)), Some(at(Span::from_micros(micros + 1))));
            Fault { cable: 0, down, up }
        };
        lost_in_tight_headroom(|spec| spec.faults = (0..4).map(|time| fault(micros + 12 * time)).collect())
    });
    assert!(lost.sum::<u64>() > 0);
}

#[test]
fn a_window_counts_frames_in_flight_and_opens_after_a_loss() {
    // Two frames in flight on a path whose round trip is longer than they take: the rate is two frames per round trip.
    let graph = topology::single_switch(2, link(10, Span::from_micros(10))).unwrap();
    let mut spec = network(graph, switch(ClassBuffer::drop_tail(Bytes::new(100_000)), FlowControl::None), lossy());
    spec.overhead = Bytes::ZERO;
    let window = Allowance { rate: None, window: Some(Bytes::new(2_000)) };
    spec.flows = vec![reliable(0, 1, 200_000, go_back_n(Span::from_micros(200)))].into();
    spec.flows[0].reaction = Reaction::None(NoControl { allowance: window });
    let round_trip = Span::from_picos(4 * 10_000_000 + 2 * 800_000 + 2 * 51_200);
    let (simulation, report) = run(&spec, Span::from_millis(100));
    assert_eq!(report.totals.retransmitted_frames, 0);
    // A hundred pairs; the second of each pair follows the first by its time on the wire.
    assert_eq!(simulation.flows()[0].acknowledged, Some(at(round_trip * 100 + Span::from_nanos(800))));
    // The thirteenth pair leaves after 500.4 us and is on its second cable after 516 us; the timer sends it again.
    spec.faults = vec![Fault { cable: 1, down: at(Span::from_micros(516)), up: Some(at(Span::from_micros(566))) }];
    let (mut simulation, report) = run_with(&spec, Span::from_millis(100), |_| Once::default());
    all_arrived(&spec, &mut simulation);
    let totals = report.totals;
    assert_eq!((totals.lost_frames, totals.timeouts, totals.retransmitted_frames), (2, 1, 2));
}

#[test]
fn acknowledgements_wait_no_longer_than_their_delay() {
    let graph = topology::single_switch(2, link(10, Span::from_micros(1))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    let pattern = Pattern::Paced { rate: Rate::from_megabits(100), gaps: Gaps::Constant, backlog: None };
    // A frame every 80 us and more: the delay of 20 us always comes before the eighth.
    spec.flows = vec![reliable(0, 1, 20_000, None).with(|it| {
        it.pattern = pattern;
    })]
    .into();
    spec.flows[0].acknowledge =
        Some(Acknowledge { every: 8, delay: Some(Span::from_micros(20)), ..Acknowledge::default() });
    let (_, report) = run(&spec, Span::from_millis(10));
    assert_eq!((report.totals.delivered_frames, report.totals.acknowledgements), (20, 20));
    spec.flows[0].acknowledge = Some(Acknowledge { every: 8, delay: None, ..Acknowledge::default() });
    let (_, report) = run(&spec, Span::from_millis(10));
    assert_eq!(report.totals.acknowledgements, 3);
    spec.flows[0].recovery = go_back_n(Span::from_millis(1));
    spec.flows[0].acknowledge =
        Some(Acknowledge { every: 8, delay: Some(Span::from_micros(200)), ..Acknowledge::default() });
    let (simulation, report) = run(&spec, Span::from_millis(10));
    assert_eq!(report.totals.retransmitted_frames, 0);
    assert!((6..=8).contains(&report.totals.acknowledgements), "{:?}", report.totals);
    assert!(simulation.flows()[0].acknowledged.is_some());
}

/// Counts congestion notifications at its source.
#[derive(Clone, Debug)]
struct Notified {
    halved: Rate,
}

impl ReactionPoint for Notified {
    fn on_sent(&mut self, _now: Time, _len: Bytes) {}
    fn on_feedback(&mut self, _now: Time, feedback: &Feedback) {
        assert_eq!(*feedback, Feedback::CongestionNotification);
        self.halved = Rate::from_bits_per_sec(self.halved.as_bits_per_sec() / 2);
    }
    fn on_deadline(&mut self, _now: Time) {}
    fn deadline(&self) -> Option<Time> {
        None
    }
    fn allowance(&self) -> Allowance {
        Allowance { rate: Some(self.halved), window: None }
    }
}

#[test]
fn marked_frames_are_answered_by_notifications_at_an_interval() {
    let graph = topology::single_switch(3, link(10, Span::from_micros(1))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    let info = congestion::POINTS.iter().find(|info| info.name == "infiniband-fecn").expect("it is built in");
    let point = (info.build)(&Values::defaults(info.parameters)).expect("its defaults fit");
    spec.switches[0].congestion_point = Some(CongestionPointSpec::point(point));
    let flow = |from| {
        greedy(from, 2, 1000).with(|it| {
            it.reaction = Reaction::custom(Notified { halved: Rate::from_gigabits(10) });
            it.notify = Some(Notify { size: Bytes::new(64), class: 0, interval: Span::from_micros(50) });
        })
    };
    spec.flows = vec![flow(0), flow(1)].into();
    let (simulation, report) = run(&spec, Span::from_micros(500));
    let flows = simulation.flows();
    let sent: u64 = flows.iter().map(|flow| flow.congestion_notifications).sum();
    assert_eq!((sent, report.totals.acknowledgements), (report.totals.congestion_notifications, 0));
    // Two sources at 10 Gb/s are too many, two at 2.5 Gb/s are not; one notification per 50 us at most.
    assert!((2..=20).contains(&sent) && flows.iter().all(|flow| flow.congestion_notifications <= 10), "{flows:?}");
    let rate = report.totals.delivered_bytes * 8 / 500;
    assert!((500..9_000).contains(&rate), "both slow down: {rate} Mb/s");
}

/// One network of the property below.
#[derive(Clone, Debug)]
struct Case {
    topology: u8,
    class: u8,
    recovery: u8,
    selection: u8,
    spray: bool,
    noise: u8,
    several_links: bool,
    faults: Vec<(u8, u16, u16)>,
    flows: Vec<(u8, u8, u16, u32, u8, u8)>,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let flow = (0u8..16, 0u8..16, 64u16..2000, 1u32..40_000, 0u8..4, 0u8..3);
    let fault = (any::<u8>(), 1u16..80, 1u16..60);
    let shape = (0u8..4, 0u8..3, any::<u8>(), 0u8..6, any::<bool>(), 0u8..3, any::<bool>());
    let lists = (prop::collection::vec(fault, 0..3), prop::collection::vec(flow, 1..8), any::<u64>());
    (shape, lists).prop_map(|((topology, class, recovery, selection, spray, noise, several_links), lists)| Case {
        topology,
        class,
        recovery,
        selection,
        spray,
        noise,
        several_links,
        faults: lists.0,
        flows: lists.1,
        seed: lists.2,
    })
}

fn any_network(case: &Case) -> NetworkSpec {
    let bit_error_rate = [0.0, 1e-6, 2e-5][usize::from(case.noise)];
    let cable = LinkSpec { bit_error_rate, ..link(10, Span::from_nanos(600)) };
    let graph = match case.topology {
        0 => topology::single_switch(4, cable),
        1 => topology::dumbbell(3, 2, cable, LinkSpec { rate: Rate::from_gigabits(4), ..cable }),
        2 => topology::leaf_spine(2, 3, 2, Links::same(cable)),
        _ => topology::chain(3, 2, Links::same(cable)),
    }
    .unwrap();
    let graph = if case.several_links { multihomed(graph, case.seed) } else { graph };
    // Noise takes PAUSE frames too, so noisy lossless networks use credits that come back by signal.
    let (switch, class) = match (case.class, case.noise) {
        (0, _) => (switch(ClassBuffer::drop_tail(Bytes::new(9_000)), FlowControl::None), lossy()),
        (1, 0) => (pfc_switch(), lossless()),
        _ => (switch(ClassBuffer::drop_tail(Bytes::new(30)), slots(Span::from_nanos(40))), lossless()),
    };
    let mut spec = network(graph, switch, class);
    spec.seed = case.seed;
    if case.spray {
        spec.multipath = Multipath::Spray;
    }
    let cables = spec.graph.cables.len();
    for &(cable, down, length) in &case.faults {
        let (cable, down) = ((usize::from(cable) % cables) as u32, at(Span::from_micros(u64::from(down))));
        if spec.faults.iter().all(|fault| fault.cable != cable) {
            spec.faults.push(Fault { cable, down, up: Some(down + Span::from_micros(u64::from(length))) });
        }
    }
    let kinds: Vec<_> = RECOVERIES.iter().map(|info| info.name).filter(|&name| name != "none").collect();
    let kind = kinds[usize::from(case.recovery) % kinds.len()];
    let shortened: &[(&'static str, Value)] = match kind {
        "go-back-n" => &[("timeout", Value::Time(Span::from_micros(150)))],
        _ => &[],
    };
    let hosts = spec.graph.hosts().len() as u8;
    for &(from, to, frame, size, pattern, every) in &case.flows {
        let (from, to) = (from % hosts, to % hosts);
        if from == to {
            continue;
        }
        let mut flow = reliable(u32::from(from), u32::from(to), u64::from(size), recovery(kind, shortened));
        flow.frame = Bytes::new(u64::from(frame));
        flow.path_selection = match case.selection {
            0 => selection("reps", &[]),
            1 => selection("flow-bender", &[("threshold", Value::Number(0.0))]),
            _ => None,
        };
        flow.acknowledge = Some(Acknowledge {
            every: 1 + u32::from(every),
            delay: (every > 0).then_some(Span::from_micros(5)),
            ..Acknowledge::default()
        });
        match pattern {
            0 => {
                let rate = Rate::from_gigabits(3);
                flow.pattern = Pattern::Paced { rate, gaps: Gaps::Exponential, backlog: None };
            }
            1 => {
                let allowance = Allowance { rate: None, window: Some(Bytes::new(12_000)) };
                flow.reaction = Reaction::None(NoControl { allowance });
            }
            2 => {
                let allowance = Allowance { rate: Some(Rate::from_gigabits(2)), window: None };
                flow.reaction = Reaction::None(NoControl { allowance });
            }
            _ => {}
        }
        spec.flows.push(flow);
    }
    if case.several_links {
        leave_somehow(&mut spec);
        // Flows that are not bound learn which ports lead to their destinations, and learn of repairs.
        let mut changes: Vec<(Time, Vec<u32>)> = Vec::new();
        for at in spec.faults.iter().flat_map(|fault| [Some(fault.down), fault.up]).flatten() {
            let down = |fault: &&Fault| fault.down <= at && fault.up.is_none_or(|up| up > at);
            changes
                .push((at + Span::from_micros(20), spec.faults.iter().filter(down).map(|fault| fault.cable).collect()));
        }
        changes.sort();
        changes.dedup();
        let change =
            |(at, down): (Time, Vec<u32>)| RouteChange::everywhere(at, Routes::without_links(&spec.graph, &down));
        spec.route_changes = changes.into_iter().map(change).collect();
    }
    spec
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// On any network, whatever is lost, repeated and reordered, and on any number of threads.
    #[test]
    fn each_byte_of_each_flow_is_delivered_once(case in case()) {
        let spec = any_network(&case);
        let mut first = None;
        for shards in 1..=3 {
            let options = BuildOptions { shards, ..BuildOptions::default() };
            let mut simulation = Observed::build(&spec, &options, |_| Once::default()).expect("a sound network");
            // In the middle of it, and at its end.
            let mut limits = RunLimits { threads: shards, ..RunLimits::until(at(Span::from_micros(60))) };
            let report = simulation.run(&limits);
            conserved(&report.totals, &simulation.census());
            // Timeouts of TCP grow to a minute.
            limits.until = at(Span::from_secs(2000));
            let report = simulation.run(&limits);
            prop_assert_eq!(&report.outcome, &Outcome::Finished);
            conserved(&report.totals, &simulation.census());
            prop_assert_eq!(simulation.census(), Census::default());
            all_arrived(&spec, &mut simulation);
            let seen = (report.fingerprint, report.totals, report.now, simulation.flows());
            prop_assert_eq!(first.get_or_insert_with(|| seen.clone()), &seen, "{} shards", shards);
        }
    }
}
