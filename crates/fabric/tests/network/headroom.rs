//! PFC headroom: what 802.1Qbb's formula asks for is enough in every phase, and a frame less is not.

use crate::kit::*;
use fabric::graph::HostId;
use fabric::spec::*;
use fabric::topology;
use fabric::workload::FlowSpec;
use fabric::{Outcome, RunSummary};
use theory::headroom::{HeadroomSpec, headroom};
use units::{Bytes, Rate, Span};

const FRAME: u64 = 1518;
const XOFF: u64 = 20 * FRAME;

/// Host 0 sends into a switch whose output to host 1 does not move, while host 2 keeps the wire back to host 0 busy.
/// The phase is that of host 2's frames.
fn fill(latency: Span, response: Span, room_above: u64, phase: Span) -> RunSummary {
    fill_with(Forwarding::StoreAndForward, FRAME, latency, response, room_above, phase)
}

/// The same with frames of that length into a switch of that kind.
fn fill_with(kind: Forwarding, frame: u64, latency: Span, response: Span, room_above: u64, phase: Span) -> RunSummary {
    let graph = topology::single_switch(3, link(10, latency)).unwrap();
    let buffer = ClassBuffer::lossless(Bytes::new(XOFF + room_above), Bytes::new(XOFF), Bytes::new(XOFF / 2));
    let control = FlowControl::Pfc(PauseSpec { response, ..PauseSpec::default() });
    let mut spec = network(graph, SwitchSpec { forwarding: kind, ..switch(buffer, control) }, lossless());
    let stuck = AdapterSpec {
        flow_control: pfc(),
        buffer: vec![ClassBuffer::lossless(Bytes::new(200_000), Bytes::new(100), Bytes::new(50))],
        service: Some(Rate::ZERO),
        ..AdapterSpec::default()
    };
    spec.adapters.push(stuck);
    spec.kind_of[1] = 1;
    spec.flows = vec![
        FlowSpec { start: at(Span::from_micros(100) + phase), ..greedy(0, 1, frame) },
        FlowSpec { destination: fabric::workload::Destination::Host(HostId(0)), ..greedy(2, 0, FRAME) },
    ]
    .into();
    run(&spec, Span::from_micros(400)).1
}

#[test]
fn the_formula_is_enough_in_every_phase_and_a_frame_less_is_not() {
    for (latency, response) in [
        (Span::from_nanos(500), Span::ZERO),
        (Span::from_micros(7), Span::ZERO),
        (Span::from_nanos(500), Span::from_micros(2)),
    ] {
        let rate = Rate::from_gigabits(10);
        let frame = Bytes::new(FRAME);
        let needed = headroom(&HeadroomSpec::simulated(rate, latency, response, frame, frame)).above_threshold().get();
        let mut worst = false;
        for step in 0..40 {
            let phase = Span::from_picos(800 * (FRAME + 20) * step / 40);
            assert_eq!(fill(latency, response, needed, phase).outcome, Outcome::Finished, "phase {step}");
            let report = fill(latency, response, needed - FRAME, phase);
            if let Outcome::LossInLosslessClass(loss) = report.outcome {
                worst = true;
                assert_eq!(loss.needed, needed, "the report names the room that was missing");
                assert!(loss.loss.stopped && loss.to_string().contains("headroom"), "{loss}");
            }
        }
        assert!(worst, "no phase dropped with a frame less: the formula is not tight at {latency}");
    }
}

/// A switch that cuts through counts a short frame when it has waited for a header, however long that takes: frames that
/// have begun meanwhile are on their way too.
#[test]
fn a_header_delay_takes_room() {
    let (rate, latency, header_delay) = (Rate::from_gigabits(10), Span::from_nanos(500), Span::from_micros(1));
    let kind = Forwarding::CutThrough { header_delay };
    let spec = HeadroomSpec::simulated(rate, latency, Span::ZERO, Bytes::new(FRAME), Bytes::new(200));
    let [without, with] = [Span::ZERO, header_delay]
        .map(|header_delay| headroom(&HeadroomSpec { header_delay, ..spec }).above_threshold().get());
    let mut lost = false;
    for step in 0..40 {
        let phase = Span::from_picos(800 * (FRAME + 20) * step / 40);
        let outcome = |room| fill_with(kind, 200, latency, Span::ZERO, room, phase).outcome;
        assert_eq!(outcome(with), Outcome::Finished, "phase {step}");
        lost |= matches!(outcome(without), Outcome::LossInLosslessClass(loss) if loss.to_string().contains("10,000 (headers"));
    }
    assert!(lost, "no phase needs it");
}

/// As [`fill`], but host 0 also sends seven other classes, to hosts that stand still until `release`. When they go on,
/// the switch tells host 0 so of all seven at about the time when the eighth class crosses XOFF.
fn fill_among_others(latency: Span, room_above: u64, release: Span, start: Span) -> RunSummary {
    let graph = topology::single_switch(10, link(10, latency)).unwrap();
    let room = |xoff: u64, above: u64| {
        ClassBuffer::lossless(Bytes::new(xoff + above), Bytes::new(xoff), Bytes::new(xoff - 2 * FRAME))
    };
    let mut buffers = vec![room(4 * FRAME, 10 * FRAME); 7];
    buffers.push(room(XOFF, room_above));
    let mut spec = network(graph, switch(buffers[0], pfc()), lossless());
    spec.classes = vec![lossless(); 8];
    spec.switches[0].buffer = Buffer::Static(buffers);
    let adapter = |changes| AdapterSpec {
        flow_control: pfc(),
        buffer: vec![ClassBuffer::lossless(Bytes::new(20_000), Bytes::new(100), Bytes::new(50)); 8],
        service: Some(Rate::ZERO),
        service_changes: changes,
        ..AdapterSpec::default()
    };
    spec.adapters.push(adapter(vec![(at(release), Some(Rate::from_gigabits(10)))]));
    spec.adapters.push(adapter(Vec::new()));
    spec.kind_of[1..8].fill(1);
    spec.kind_of[8] = 2;
    spec.flows = (0..7).map(|class| FlowSpec { class, ..greedy(0, u32::from(class) + 1, FRAME) }).collect();
    spec.flows.push(FlowSpec { class: 7, start: at(start), ..greedy(0, 8, FRAME) });
    spec.flows.push(FlowSpec { class: 7, ..greedy(9, 0, FRAME) });
    run(&spec, Span::from_micros(150)).1
}

/// News of other classes takes no time from a class that has to stop: it goes in the same frame.
#[test]
fn the_formula_is_enough_among_eight_classes() {
    // A cable with which one pause frame more before this one lets one data frame more arrive than there is room for.
    let latency = Span::from_nanos(552);
    let (rate, frame) = (Rate::from_gigabits(10), Bytes::new(FRAME));
    let needed = headroom(&HeadroomSpec::simulated(rate, latency, Span::ZERO, frame, frame)).above_threshold().get();
    for phase in 0..10 {
        let release = Span::from_nanos(100_000 + 123 * phase);
        for step in 0..200 {
            let start = release - Span::from_nanos(24_000) + Span::from_nanos(60) * step;
            let report = fill_among_others(latency, needed, release, start);
            assert_eq!(report.outcome, Outcome::Finished, "phase {phase}, step {step}");
        }
    }
}

/// A pause frame that is lost is made good by the refresh, if the headroom covers the wait.
#[test]
fn lost_pause_frames_are_survived_by_refresh() {
    let mut graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    // About one 64-byte frame in fifty is hit on the cable of host 0, and one data frame in four, both ways.
    graph.cables[0].link.bit_error_rate = 4e-5;
    let pause = PauseSpec { quanta: 400, refresh_before: 300, ..PauseSpec::default() };
    let buffer = ClassBuffer::lossless(Bytes::new(400_000), Bytes::new(20_000), Bytes::new(10_000));
    let mut spec = network(graph, switch(buffer, FlowControl::Pfc(pause)), lossless());
    spec.flows = vec![greedy(0, 1, 1000), greedy(2, 1, 1000)].into();
    let (simulation, report) = run(&spec, Span::from_millis(20));
    assert_eq!(report.outcome, Outcome::Finished);
    assert!(report.totals.lost_control > 5, "{:?}", report.totals);
    assert!(simulation.flows()[1].received_bytes > 10_000_000);
}
