//! Results that are known from theory, with networks that must meet them.

use crate::kit::*;
use congestion::{Allowance, NoControl, Reaction};
use fabric::graph::HostId;
use fabric::spec::*;
use fabric::topology;
use fabric::workload::{self, Acknowledge, Arrivals, FlowGaps, FlowSize, FlowSpec, Gaps, Pattern};
use fabric::{Frame, Outcome, Probe};
use units::{Bytes, Rate, Span, Time};

/// Waiting times of data frames before one port.
struct Waits {
    port: u32,
    waits: Vec<f64>,
}

impl Probe for Waits {
    fn on_transmit(&mut self, _now: Time, port: u32, _frame: &Frame, waited: Span, _busy: Span) {
        if port == self.port {
            self.waits.push(waited.as_picos() as f64);
        }
    }
}

/// M/D/1: Poisson arrivals of equal frames at one output wait rho / 2(1 - rho) services on average.
#[test]
fn mean_wait_of_poisson_arrivals_is_that_of_m_d_1() {
    for (load, seed) in [(0.5, 11), (0.8, 12), (0.9, 13)] {
        // The source's own cable is ten thousand times faster, so that it spaces nothing.
        let mut graph = topology::single_switch(2, link(10, Span::from_nanos(100))).unwrap();
        graph.cables[0].link.rate = Rate::from_gigabits(100_000);
        let mut spec = network(graph, switch(ClassBuffer::UNLIMITED, FlowControl::None), lossy());
        spec.overhead = Bytes::ZERO;
        spec.seed = seed;
        let rate = Rate::from_bits_per_sec((10e9 * load) as u64);
        let pattern = Pattern::Paced { rate, gaps: Gaps::Exponential, backlog: None };
        spec.flows = vec![greedy(0, 1, 1000).with(|it| {
            it.pattern = pattern;
        })]
        .into();
        // Switch ports follow the two hosts' ports: the output to host 1 is global port 3.
        let (mut simulation, _) = run_with(&spec, Span::from_millis(1200), |_| Waits { port: 3, waits: Vec::new() });
        let waits = std::mem::take(&mut simulation.probes_mut().next().unwrap().waits);
        assert!(waits.len() > 700_000);
        // Batch means, so that the correlation of successive waits is accounted for; 99 % interval, t(39) = 2.71.
        let batches: Vec<f64> = waits[20_000..]
            .chunks_exact((waits.len() - 20_000) / 40)
            .map(|batch| batch.iter().sum::<f64>() / batch.len() as f64)
            .collect();
        let mean = batches.iter().sum::<f64>() / batches.len() as f64;
        let variance = batches.iter().map(|b| (b - mean) * (b - mean)).sum::<f64>() / (batches.len() - 1) as f64;
        let half = 2.71 * (variance / batches.len() as f64).sqrt();
        let theory = 800_000.0 * load / (2.0 * (1.0 - load));
        assert!((mean - theory).abs() < half, "load {load}: {mean} against {theory} +- {half}");
        assert!(half < 0.12 * theory, "load {load}: an interval of {half} around {theory} decides nothing");
    }
}

/// The flows of a host take turns frame by frame, which is processor sharing. In an M/G/1 queue, a flow then takes
/// 1 / (1 - load) times as long as alone, whatever its size and the distribution of sizes (Sakata, Noguchi and Oizumi, 1971).
#[test]
fn flows_that_take_turns_have_the_slowdown_of_m_g_1_processor_sharing() {
    let (load, sizes) = (0.5, [20, 60, 240]);
    // The host's own link is the bottleneck: behind it nothing waits.
    let mut graph = topology::single_switch(2, link(10, Span::from_nanos(1))).unwrap();
    graph.cables[1].link.rate = Rate::from_gigabits(100_000);
    let mut spec = network(graph, switch(ClassBuffer::UNLIMITED, FlowControl::None), lossy());
    spec.overhead = Bytes::ZERO;
    // 20, 60 and 240 frames of 800 ns with probabilities 0.6, 0.3 and 0.1: 54 on average.
    let frame = Span::from_nanos(800);
    let mean_gap = frame * 54 * 2;
    let until = Time::ZERO + mean_gap * 10_000;
    let arrivals = Arrivals { from: Time::ZERO, mean_gap, gaps: FlowGaps::Exponential, until };
    let any = FlowSize::Fixed(Bytes::new(1));
    let template = greedy(0, 1, 1000);
    spec.flows = workload::poisson(&[HostId(0)], &[HostId(1)], None, arrivals, &any, &template, 21).collect();
    let mut draws = units::Stream::new(21, 0, "sizes");
    for flow in &mut spec.flows {
        let frames = match draws.below(10) {
            0..6 => sizes[0],
            6..9 => sizes[1],
            _ => sizes[2],
        };
        flow.size = Some(Bytes::new(1000 * frames));
    }
    let (simulation, _) = run(&spec, mean_gap * 11_000);
    let theory = 1.0 / (1.0 - load);
    let slowdowns = sizes.map(|frames| {
        let of_size = spec.flows.iter().zip(simulation.flows());
        let times = of_size.filter(|(flow, _)| flow.size == Some(Bytes::new(1000 * frames))).map(|(flow, seen)| {
            let time = seen.completed.expect("a complete flow").saturating_since(flow.start);
            time.as_picos() as f64 / (frame * frames).as_picos() as f64
        });
        let times: Vec<f64> = times.collect();
        times.iter().sum::<f64>() / times.len() as f64
    });
    for (frames, slowdown) in sizes.into_iter().zip(slowdowns) {
        // Some 1000 busy periods: a deviation of 2.5 %. A new flow also waits for the frame on the wire.
        let off = (slowdown - theory).abs() / theory;
        assert!(off < 0.08, "flows of {frames} frames: {slowdown}, in theory {theory}; all: {slowdowns:?}");
    }
}

/// With c credits of a frame each, a loop carries min(1, c x frame time / round trip).
#[test]
fn a_credit_loop_carries_credits_over_round_trip() {
    let (frame, latency, delay) = (1000u64, Span::from_micros(1), Span::from_nanos(700));
    let serial = Span::from_nanos(80);
    for credits in [1u64, 2, 5, 10, 20, 22, 23, 40] {
        let graph = topology::single_switch(2, link(100, latency)).unwrap();
        let buffer = ClassBuffer::drop_tail(Bytes::new(10_000));
        let mut spec = network(graph, switch(buffer, slots(Span::from_nanos(1))), lossless());
        spec.overhead = Bytes::ZERO;
        spec.adapters[0].flow_control = slots(delay);
        spec.adapters[0].buffer = vec![ClassBuffer::drop_tail(Bytes::new(credits))];
        spec.flows = vec![greedy(0, 1, frame)].into();
        let time = Span::from_millis(4);
        let (simulation, report) = run(&spec, time);
        assert_eq!(report.outcome, Outcome::Finished);
        // From the start of a frame to its credit's return: on the wire, along the cable, and the signal back.
        let round_trip = (serial + latency + delay).as_picos() as f64;
        let share = (credits as f64 * serial.as_picos() as f64 / round_trip).min(1.0);
        let carried = simulation.flows()[0].received_bytes as f64 * 8.0 / time.as_secs_f64() / 100e9;
        assert!((carried / share - 1.0).abs() < 0.002, "{credits} credits: {carried} against {share}");
    }
}

/// The same when a credit comes back as a frame that waits for the wire, occupies it and arrives later.
#[test]
fn credits_that_are_frames_take_their_time() {
    let latency = Span::from_micros(1);
    let credits = 4;
    let control = FlowControl::Credits(CreditSpec {
        unit: CreditUnit::Block(Bytes::new(64)),
        give_back: CreditReturn::Frame { size: Bytes::new(64), refresh: None },
    });
    let graph = topology::single_switch(2, link(100, latency)).unwrap();
    let mut spec = network(graph, switch(ClassBuffer::drop_tail(Bytes::new(640_000)), control), lossless());
    spec.overhead = Bytes::ZERO;
    spec.adapters[0].flow_control = control;
    // A frame of 1000 B takes 16 blocks of 64 B.
    spec.adapters[0].buffer = vec![ClassBuffer::drop_tail(Bytes::new(credits * 1024))];
    spec.flows = vec![greedy(0, 1, 1000)].into();
    let time = Span::from_millis(4);
    let (simulation, report) = run(&spec, time);
    assert!(report.totals.credit_frames > 1000);
    let round_trip = 80_000.0 + 1_000_000.0 + 5_120.0 + 1_000_000.0;
    let share = credits as f64 * 80_000.0 / round_trip;
    let carried = simulation.flows()[0].received_bytes as f64 * 8.0 / time.as_secs_f64() / 100e9;
    assert!((carried / share - 1.0).abs() < 0.002, "{carried} against {share}");
}

/// N saturated inputs, frames to outputs drawn uniformly: the share of its capacity that a switch carries.
fn saturation(ports: u32, queueing: Queueing, arbitration: Arbitration, speedup: (u32, u32)) -> f64 {
    let graph = topology::single_switch(2 * ports, link(10, Span::from_nanos(10))).unwrap();
    let mut spec =
        network(graph, switch(ClassBuffer::drop_tail(Bytes::new(400)), slots(Span::from_nanos(1))), lossless());
    spec.overhead = Bytes::ZERO;
    spec.switches[0].queueing = queueing;
    spec.switches[0].crossbar = Some(Crossbar { arbitration, read_ports: 1, speedup });
    let sinks: Vec<HostId> = (ports..2 * ports).map(HostId).collect();
    let flow = |source| greedy(source, ports, 1000).to_any(sinks.clone());
    spec.flows = (0..ports).map(flow).collect();
    let time = Span::from_millis(60);
    let (simulation, report) = run(&spec, time);
    assert_eq!(report.outcome, Outcome::Finished);
    simulation.totals().delivered_bytes as f64 * 8.0 / (time.as_secs_f64() * 10e9 * f64::from(ports))
}

/// Karol, Hluchyj and Morgan (1987): head-of-line blocking limits a FIFO switch to this.
#[test]
fn input_fifos_saturate_as_karol_computed() {
    let fifo = Queueing::InputFifo { bypass: 0, reading: BypassReading::Lookahead };
    for (ports, expected) in [(2, 0.75), (4, 0.6553), (8, 0.6184)] {
        let measured = saturation(ports, fifo, Arbitration::ArrivalOrder, (1, 1));
        assert!((measured - expected).abs() < 0.005, "N = {ports}: {measured} against {expected}");
    }
}

/// Without head-of-line blocking nearly everything gets through.
#[test]
fn virtual_output_queues_carry_nearly_all() {
    let measured = saturation(8, Queueing::VirtualOutput, Arbitration::RoundRobin, (1, 1));
    assert!(measured > 0.97, "{measured}");
    let combined = Queueing::Combined { output_buffer: Bytes::new(50_000) };
    let measured = saturation(8, combined, Arbitration::RoundRobin, (2, 1));
    assert!(measured > 0.98, "{measured}");
}

/// A bypass lets frames past a blocked head, and the further it reaches the more gets through.
#[test]
fn a_bypass_relieves_head_of_line_blocking() {
    for reading in [BypassReading::Lookahead, BypassReading::PerPacket] {
        let at = |bypass| saturation(4, Queueing::InputFifo { bypass, reading }, Arbitration::ArrivalOrder, (1, 1));
        let (none, some, more) = (at(0), at(1), at(8));
        assert!(none + 0.02 < some && some + 0.02 < more, "{reading:?}: {none} {some} {more}");
    }
}

fn first_delivery(forwarding: Forwarding, pipeline: Span, overhead: u64) -> Time {
    let graph = topology::two_switches(1, 1, 1, topology::Links::same(link(10, Span::from_nanos(300)))).unwrap();
    let mut spec = network(graph, switch(ClassBuffer::UNLIMITED, FlowControl::None), lossy());
    spec.overhead = Bytes::new(overhead);
    spec.switches[0].forwarding = forwarding;
    spec.switches[0].pipeline = pipeline;
    spec.flows = vec![FlowSpec { size: Some(Bytes::new(1000)), ..greedy(0, 1, 1000) }].into();
    let (simulation, _) = run(&spec, Span::from_millis(1));
    simulation.flows()[0].completed.expect("one frame arrives")
}

/// The time a frame takes through two switches, to the picosecond.
#[test]
fn latency_is_exact() {
    let wire = |bytes: u64| Span::from_picos(800 * bytes);
    let stored = first_delivery(Forwarding::StoreAndForward, Span::ZERO, 20);
    assert_eq!(stored, at(wire(1020) * 3 + Span::from_nanos(900)));
    let delayed = first_delivery(Forwarding::StoreAndForward, Span::from_micros(1), 0);
    assert_eq!(delayed, at(wire(1000) * 3 + Span::from_nanos(900) + Span::from_micros(2)));
    let cut = first_delivery(Forwarding::CutThrough { header_delay: Span::from_nanos(40) }, Span::ZERO, 0);
    assert_eq!(cut, at(wire(1000) + Span::from_nanos(900) + Span::from_nanos(80)));
}

/// A window of w bytes carries w per round trip, a rate limit its rate.
#[test]
fn windows_and_rates_hold() {
    let graph = topology::single_switch(2, link(10, Span::from_micros(5))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.overhead = Bytes::ZERO;
    let acknowledge = Some(Acknowledge { size: Bytes::new(100), class: 0, every: 1, delay: None });
    let window = Allowance { rate: None, window: Some(Bytes::new(3000)) };
    spec.flows = vec![greedy(0, 1, 1000).with(|it| {
        it.acknowledge = acknowledge;
        it.reaction = Reaction::None(NoControl { allowance: window });
    })]
    .into();
    let time = Span::from_millis(50);
    // Data: 800 ns on each of two wires; acknowledgement: 80 ns each; four times 5 us of cable.
    let round_trip = 2.0 * 0.8e-6 + 2.0 * 0.08e-6 + 20e-6;
    let carried = run(&spec, time).0.flows()[0].received_bytes as f64 / time.as_secs_f64();
    assert!((carried / (3000.0 / round_trip) - 1.0).abs() < 0.002, "{carried}");

    let limit = Allowance { rate: Some(Rate::from_megabits(1234)), window: None };
    spec.flows = vec![greedy(0, 1, 1000).with(|it| {
        it.reaction = Reaction::None(NoControl { allowance: limit });
    })]
    .into();
    let carried = run(&spec, time).0.flows()[0].received_bytes as f64 * 8.0 / time.as_secs_f64();
    assert!((carried / 1.234e9 - 1.0).abs() < 0.001, "{carried}");
}

/// A receiver of limited speed is obeyed: by PAUSE, by PFC and by withheld credits.
#[test]
fn a_slow_receiver_sets_the_pace() {
    let buffer = ClassBuffer::lossless(Bytes::new(60_000), Bytes::new(20_000), Bytes::new(10_000));
    let controls = [pfc(), FlowControl::Pause(PauseSpec::default()), slots(Span::from_nanos(50))];
    for control in controls {
        let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
        let mut spec = network(graph, pfc_switch(), lossless());
        let room =
            if matches!(control, FlowControl::Credits(_)) { ClassBuffer::drop_tail(Bytes::new(30)) } else { buffer };
        let slow = AdapterSpec {
            flow_control: control,
            buffer: vec![room],
            service: Some(Rate::from_gigabits(2)),
            service_changes: vec![(at(Span::from_millis(10)), Some(Rate::from_gigabits(5)))],
            ..AdapterSpec::default()
        };
        spec.adapters.push(slow);
        spec.kind_of[0] = 1;
        spec.flows = vec![greedy(1, 0, 1000), greedy(2, 0, 1000)].into();
        let (simulation, report) = run(&spec, Span::from_millis(20));
        assert_eq!(report.outcome, Outcome::Finished, "{control:?}");
        let carried = simulation.totals().delivered_bytes as f64 * 1.02 * 8.0;
        let expected = 0.01 * 2e9 + 0.01 * 5e9;
        assert!((carried / expected - 1.0).abs() < 0.005, "{control:?}: {carried} against {expected}");
        let (a, b) = (simulation.flows()[0].received_bytes as f64, simulation.flows()[1].received_bytes as f64);
        assert!((a / b - 1.0).abs() < 0.05, "{control:?}: {a} and {b} should be alike");
    }
}

#[test]
fn what_is_for_an_adapter_does_not_wait_for_its_application() {
    let buffer = ClassBuffer::lossless(Bytes::new(60_000), Bytes::new(20_000), Bytes::new(10_000));
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    // It consumes nothing, ever: five frames lie in its buffer, too few to pause anybody.
    let stopped =
        AdapterSpec { flow_control: pfc(), buffer: vec![buffer], service: Some(Rate::ZERO), ..AdapterSpec::default() };
    spec.adapters.push(stopped);
    spec.kind_of[0] = 1;
    let acknowledge = Some(Acknowledge { size: Bytes::new(64), class: 0, every: 1, delay: None });
    let reaction = Reaction::None(NoControl { allowance: Allowance { rate: None, window: Some(Bytes::new(20_000)) } });
    let arriving = FlowSpec { size: Some(Bytes::new(5_000)), ..greedy(1, 0, 1000) };
    let leaving = FlowSpec { start: at(Span::from_micros(100)), ..greedy(0, 2, 1000) }.with(|it| {
        it.acknowledge = acknowledge;
        it.reaction = reaction;
    });
    spec.flows = vec![arriving, leaving].into();
    let (simulation, report) = run(&spec, Span::from_millis(1));
    assert_eq!(report.outcome, Outcome::Finished);
    assert_eq!(simulation.flows()[0].received_bytes, 0);
    // The window is more than what fits the path, so the sender goes on at the rate of its link.
    let carried = simulation.flows()[1].received_bytes as f64 * 1.02 * 8.0 / 0.9e-3;
    assert!((carried / 10e9 - 1.0).abs() < 0.02, "{carried}");
}

#[test]
fn an_adapter_may_pause_its_switch_where_frames_are_dropped() {
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let dropping = switch(ClassBuffer::drop_tail(Bytes::new(60_000)), FlowControl::None);
    let mut spec = network(graph, dropping, lossy());
    let slow = AdapterSpec {
        flow_control: FlowControl::Pause(PauseSpec::default()),
        buffer: vec![ClassBuffer::lossless(Bytes::new(60_000), Bytes::new(15_000), Bytes::new(7_500))],
        service: Some(Rate::from_gigabits(2)),
        ..AdapterSpec::default()
    };
    spec.adapters.push(slow);
    spec.kind_of[0] = 1;
    spec.flows = vec![greedy(1, 0, 1000)].into();
    let (simulation, report) = run(&spec, Span::from_millis(10));
    let totals = simulation.totals();
    // The switch drops what it may not send on; the receiver, which said stop in time, drops nothing and is never idle.
    assert_eq!(report.outcome, Outcome::Finished);
    assert!(totals.pause_frames > 100 && totals.dropped_frames > 1000, "{totals:?}");
    let carried = totals.delivered_bytes as f64 * 1.02 * 8.0 / 10e-3;
    assert!((carried / 2e9 - 1.0).abs() < 0.005, "{carried}");
}

/// A flow that is alone takes as long as it takes alone, by store-and-forward and by cut-through, over links of one rate
/// or of several.
#[test]
fn the_slowdown_of_a_lone_flow_is_one() {
    for (trunk, header, size, frame) in [
        (10, None, 1, 1000),
        (10, None, 123_456, 1000),
        (40, None, 50_000, 1500),
        (5, None, 64_000, 1000),
        (10, Some(50), 9_100, 1000),
    ] {
        let links =
            topology::Links { trunk: link(trunk, Span::from_nanos(700)), host: link(10, Span::from_nanos(300)) };
        let graph = topology::leaf_spine(2, 1, 2, links).unwrap();
        let mut kind = switch(ClassBuffer::UNLIMITED, FlowControl::None);
        kind.pipeline = Span::from_nanos(130);
        if let Some(delay) = header {
            kind.forwarding = Forwarding::CutThrough { header_delay: Span::from_nanos(delay) };
        }
        let mut spec = network(graph, kind, lossy());
        spec.flows = vec![FlowSpec { size: Some(Bytes::new(size)), ..greedy(0, 3, frame) }].into();
        let (simulation, _) = run(&spec, Span::from_millis(2));
        let slowdown = simulation.flows()[0].slowdown(Time::ZERO).unwrap();
        assert!((slowdown - 1.0).abs() < 1e-6, "{size} bytes, trunks of {trunk} Gb/s, {header:?}: {slowdown}");
    }
}
