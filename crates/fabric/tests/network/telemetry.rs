//! In-band telemetry: what switches write, what comes back to the source, and what it costs.

use crate::kit::*;
use congestion::parameter::Invalid;
use congestion::{Adapter, Allowance, Feedback, Reaction, ReactionPoint, Stamp};
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::{Acknowledge, FlowSpec, TelemetrySpec};
use std::sync::{Arc, Mutex};
use units::{Bytes, Rate, Span, Time};

/// A source without control that keeps what it is told.
#[derive(Clone, Debug)]
struct Listener(Arc<Mutex<Vec<Vec<Stamp>>>>);

impl ReactionPoint for Listener {
    fn attach(&mut self, _adapter: &Adapter) -> Result<(), Invalid> {
        Ok(())
    }
    fn on_sent(&mut self, _now: Time, _len: Bytes) {}
    fn on_feedback(&mut self, _now: Time, _feedback: &Feedback) {}
    fn on_telemetry(&mut self, _now: Time, stamps: &[Stamp]) {
        self.0.lock().unwrap().push(stamps.to_vec());
    }
    fn on_deadline(&mut self, _now: Time) {}
    fn deadline(&self) -> Option<Time> {
        None
    }
    fn allowance(&self) -> Allowance {
        Allowance::default()
    }
}

fn told(flow: FlowSpec, telemetry: TelemetrySpec) -> (FlowSpec, Arc<Mutex<Vec<Vec<Stamp>>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let reaction = Reaction::custom(Listener(Arc::clone(&heard)));
    let acknowledge = Some(Acknowledge { size: Bytes::new(64), class: 0, every: 1, delay: None });
    (
        flow.with(|it| {
            it.reaction = reaction;
            it.acknowledge = acknowledge;
            it.telemetry = Some(telemetry);
        }),
        heard,
    )
}

/// Two switches in a line: hosts 0 and 1 behind the first, 2 and 3 behind the second, all at 10 Gb/s.
fn line() -> NetworkSpec {
    let graph = topology::chain(2, 2, Links::same(link(10, Span::from_micros(1)))).unwrap();
    network(graph, pfc_switch(), lossless())
}

/// A flow alone: two stamps each, empty queues, and counts that grow by a frame with its room and overhead.
#[test]
fn stamps_say_what_every_output_had_sent_and_what_waited() {
    let mut spec = line();
    let (flow, heard) = told(greedy(0, 2, 1000), TelemetrySpec::default());
    spec.flows = vec![FlowSpec { size: Some(Bytes::new(5_000)), ..flow }].into();
    let (_, report) = run(&spec, Span::from_millis(1));
    let heard = heard.lock().unwrap();
    assert_eq!((heard.len(), report.totals.delivered_bytes), (5, 5_000));
    // 42 B in each of five frames and as many acknowledgements of 64 B.
    assert_eq!(report.totals.control_bytes, 5 * 42 + 5 * (64 + 42));
    let wire = Span::from_picos((1000 + 42 + 20) * 800);
    for (frame, stamps) in (0..).zip(heard.iter()) {
        assert_eq!(stamps.len(), 2);
        for (hop, stamp) in (1..).zip(stamps) {
            let at = Time::ZERO + (wire + Span::from_micros(1)) * hop + wire * frame;
            let sent = Bytes::new(frame * 1062);
            assert_eq!(*stamp, Stamp { at, queue: Bytes::ZERO, sent, rate: Rate::from_gigabits(10) }, "frame {frame}");
        }
    }
}

/// Two flows meet: at the shared output, the bytes sent between two stamps fit the time at line rate, and queues grow.
#[test]
fn a_busy_output_sends_at_its_rate_and_its_queue_is_seen() {
    let mut spec = line();
    let (flow, heard) = told(greedy(0, 2, 1000), TelemetrySpec::default());
    spec.flows = vec![flow, greedy(1, 2, 1000)].into();
    run(&spec, Span::from_micros(100));
    let heard = heard.lock().unwrap();
    let first: Vec<Stamp> = heard.iter().map(|stamps| stamps[0]).collect();
    assert!(first.iter().any(|stamp| stamp.queue > Bytes::new(20_000)), "{first:?}");
    for pair in first.windows(2).skip(2) {
        let sent = (pair[1].sent.get() - pair[0].sent.get()) as f64 * 8.0;
        let rate = sent / (pair[1].at - pair[0].at).as_picos() as f64 * 1e12;
        assert!((rate / 10e9 - 1.0).abs() < 1e-6, "{rate}");
    }
}

/// Stamps beyond the room are not written; flows without telemetry and their frames are as they were.
#[test]
fn room_is_limited_and_others_pay_nothing() {
    let mut spec = line();
    let (flow, heard) = told(greedy(0, 2, 1000), TelemetrySpec { size: Bytes::new(10), hops: 1 });
    spec.flows = vec![FlowSpec { size: Some(Bytes::new(1_000)), ..flow }].into();
    run(&spec, Span::from_millis(1));
    assert_eq!(heard.lock().unwrap().iter().map(Vec::len).collect::<Vec<_>>(), [1]);
    spec.flows[0].telemetry = None;
    let (_, report) = run(&spec, Span::from_millis(1));
    assert_eq!((heard.lock().unwrap().len(), report.totals.control_bytes), (1, 64));
}

/// Stamps cross from shard to shard with their frames, in order and unchanged.
#[test]
fn telemetry_is_the_same_on_any_cut() {
    use fabric::{BuildOptions, Partition, RunLimits, Simulation};
    let build = || {
        let graph = topology::leaf_spine(2, 2, 3, Links::same(link(10, Span::from_nanos(700)))).unwrap();
        let mut spec = network(graph, pfc_switch(), lossless());
        spec.multipath = Multipath::Adaptive;
        let (flows, heard): (Vec<_>, Vec<_>) =
            (0..3).map(|host| told(greedy(host, 5 - host / 2, 1000), TelemetrySpec::default())).unzip();
        spec.flows = flows.into();
        (spec, heard)
    };
    let go = |partition: Partition, shards: usize, threads: usize| {
        let (spec, heard) = build();
        let options = BuildOptions { partition, shards, shuffle: None };
        let mut simulation = Simulation::build(&spec, &options).unwrap();
        let report = simulation.run(&RunLimits { threads, ..RunLimits::until(at(Span::from_micros(200))) });
        let heard: Vec<_> = heard.iter().map(|heard| heard.lock().unwrap().clone()).collect();
        (report.fingerprint, report.totals, heard)
    };
    let one = go(Partition::One, 1, 1);
    assert!(one.2.iter().all(|heard| heard.len() > 50 && heard.iter().all(|stamps| stamps.len() == 3)));
    for (shards, threads) in [(2, 2), (3, 3), (8, 2)] {
        assert_eq!(go(Partition::PerNode, shards, threads), one);
    }
    crate::determinism::same_everywhere(&build().0);
}

/// Headers count on wires, not as bytes of the flow, with and without telemetry.
#[test]
fn headers_take_time_and_are_not_delivered() {
    for (telemetry, added) in [(None, 48), (Some(TelemetrySpec::default()), 90)] {
        let mut spec = line();
        let size = Some(Bytes::new(5_500));
        spec.flows = vec![FlowSpec { size, ..greedy(0, 2, 1000) }.with(|it| {
            it.headers = Bytes::new(48);
            it.telemetry = telemetry;
        })]
        .into();
        let (simulation, report) = run(&spec, Span::from_millis(1));
        assert_eq!((report.totals.delivered_bytes, report.totals.delivered_frames), (5_500, 6));
        assert_eq!(report.totals.control_bytes, 6 * added);
        // Five whole frames and a last one of half the size; the last two hops take the last frame only.
        let bytes = 5 * (1000 + added + 20) + 3 * (500 + added + 20);
        // A whole frame before it still occupies the next wire when the last one arrives.
        let wait = 2 * 500;
        let expected = Time::ZERO + Span::from_picos((bytes + wait) * 800) + Span::from_micros(3);
        assert_eq!(simulation.flows()[0].completed, Some(expected), "{telemetry:?}");
    }
    let mut spec = line();
    spec.flows = vec![greedy(0, 2, 1000).with(|it| {
        it.headers = Bytes::new(64_500);
    })]
    .into();
    let wrong = fabric::validate(&spec).iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    assert!(wrong.contains("at most 65000B in all"), "{wrong}");
}
