//! Virtual lanes that share a link by two tables, under credits, as in InfiniBand.

use crate::kit::*;
use fabric::spec::*;
use fabric::topology;
use fabric::workload::{FlowSpec, Gaps, Pattern};
use fabric::{Frame, Outcome, Probe};
use units::{Bytes, Rate, Span, Time};

/// Class 0 in frames of 256 B (4 blocks) from one host, class 1 in frames of 2048 B (32 blocks) from another, to a
/// third whose room in class 1 is `room` bytes and whose credits come back 1024 ns after a frame has left: 500 ns of
/// cable and 524 ns of signal, as long as 5 frames of class 0 take at 10 Gb/s.
fn two_lanes(egress: Egress, room: u64) -> NetworkSpec {
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let credits = FlowControl::Credits(CreditSpec {
        unit: CreditUnit::Block(Bytes::new(64)),
        give_back: CreditReturn::Signal { delay: Span::from_nanos(524) },
    });
    let ample = ClassBuffer::drop_tail(Bytes::new(65_536));
    let mut spec = network(graph, switch(ample, credits), lossless());
    spec.overhead = Bytes::ZERO;
    spec.classes = vec![lossless(); 2];
    spec.switches[0].buffer = Buffer::Static(vec![ample; 2]);
    spec.switches[0].egress = egress;
    spec.adapters[0].flow_control = credits;
    spec.adapters[0].buffer = vec![ample, ClassBuffer::drop_tail(Bytes::new(room))];
    spec.flows = vec![greedy(0, 2, 256), FlowSpec { class: 1, ..greedy(1, 2, 2048) }].into();
    spec
}

/// What the two lanes carry, in Gb/s.
fn carried(spec: &NetworkSpec) -> [f64; 2] {
    let (simulation, report) = run(spec, Span::from_millis(10));
    assert_eq!(report.outcome, Outcome::Finished);
    let flows = simulation.flows();
    [0, 1].map(|flow: usize| flows[flow].received_bytes as f64 * 8.0 / 0.01 / 1e9)
}

fn close(found: [f64; 2], expected: [f64; 2]) {
    let off = |lane: usize| (found[lane] / expected[lane] - 1.0).abs();
    assert!(off(0) < 0.002 && off(1) < 0.002, "{found:?} against {expected:?}");
}

#[test]
fn lanes_share_a_link_by_weight_under_credits() {
    // A turn of class 0 is 4 frames, 1024 B; one of class 1 is 2, 4096 B: the second is begun with 8 blocks left.
    close(carried(&two_lanes(lanes(&[], &[(0, 16), (1, 40)], 0), 65_536)), [2.0, 8.0]);
    // High and low in turn, a frame each: 256 B and 2048 B.
    let (small, large) = (10.0 / 9.0, 80.0 / 9.0);
    close(carried(&two_lanes(lanes(&[(0, 1)], &[(1, 1)], 0), 65_536)), [small, large]);
    // 4096 B of the high table, 16 frames, for one of the low.
    close(carried(&two_lanes(lanes(&[(0, 1)], &[(1, 1)], 1), 65_536)), [20.0 / 3.0, 10.0 / 3.0]);
}

#[test]
fn a_lane_without_credits_gives_its_turn_away_and_loses_nothing() {
    // Class 1 has credits for one frame. While they come back, class 0 sends 5 frames: a turn of 4, and the first of
    // the next, which it may finish. So 8 frames of 256 B for each of 2048 B.
    close(carried(&two_lanes(lanes(&[], &[(0, 16), (1, 40)], 0), 2048)), [5.0, 5.0]);
    // In the high table class 1 sends as soon as it has credits: 5 x 256 B for each 2048 B.
    let (small, large) = (10.0 * 1280.0 / 3328.0, 10.0 * 2048.0 / 3328.0);
    close(carried(&two_lanes(lanes(&[(1, 1)], &[(0, 1)], 0), 2048)), [small, large]);
}

#[test]
fn without_a_limit_the_low_lane_starves() {
    let [low, high] = carried(&two_lanes(lanes(&[(1, 1)], &[(0, 255)], 255), 65_536));
    assert!(low < 0.01 && high > 9.99, "{low} and {high} Gb/s");
}

/// The tables act in adapters, and wherever frames wait in a switch.
#[test]
fn tables_act_in_adapters_and_in_switches_of_any_kind() {
    let mut spec = two_lanes(Egress::Strict, 65_536);
    spec.adapters[0].egress = lanes(&[], &[(0, 16), (1, 40)], 0);
    spec.flows[1] = FlowSpec { class: 1, ..greedy(0, 2, 2048) };
    close(carried(&spec), [2.0, 8.0]);
    let crossbar = Some(Crossbar::default());
    let reading = BypassReading::Lookahead;
    for queueing in [Queueing::VirtualOutput, Queueing::InputFifo { bypass: 0, reading }] {
        let mut spec = two_lanes(lanes(&[], &[(0, 16), (1, 40)], 0), 65_536);
        (spec.switches[0].queueing, spec.switches[0].crossbar) = (queueing, crossbar);
        close(carried(&spec), [2.0, 8.0]);
    }
    // Without credits, an output queue would send by its short path.
    let mut spec = two_lanes(lanes(&[], &[(0, 16), (1, 40)], 0), 65_536);
    spec.adapters[0] = AdapterSpec::default();
    close(carried(&spec), [2.0, 8.0]);
}

/// The longest wait of a frame of class 0.
#[derive(Default)]
struct Waits(Span);

impl Probe for Waits {
    fn on_transmit(&mut self, _now: Time, _port: u32, frame: &Frame, waited: Span, _busy: Span) {
        if frame.class == 0 {
            self.0 = self.0.max(waited);
        }
    }
}

/// Rare frames of the high table wait for no more than the frame on the wire, even with a limit of one frame: low
/// frames that have gone without a rival count as the low table's chance.
#[test]
fn a_rare_high_frame_waits_for_one_low_frame_at_most() {
    let mut spec = two_lanes(lanes(&[(0, 1)], &[(1, 1)], 0), 65_536);
    spec.adapters[0] = AdapterSpec::default();
    let rare = Pattern::Paced { rate: Rate::from_megabits(50), gaps: Gaps::Jittered(0.5), backlog: None };
    spec.flows[0] = greedy(0, 2, 256).with(|it| {
        it.pattern = rare;
        it.stop = Some(at(Span::from_millis(9)));
    });
    let (mut simulation, _) = run_with(&spec, Span::from_millis(10), |_| Waits::default());
    let worst = simulation.probes_mut().map(|waits| waits.0).max().unwrap();
    // 2048 B at 10 Gb/s take 1638.4 ns.
    assert!((Span::from_nanos(1_400)..Span::from_nanos(1_639)).contains(&worst), "{worst}");
}
