//! Classes that share a link: strictly, by weight, by group; and pauses that stop one class and not another.

use crate::kit::*;
use fabric::Outcome;
use fabric::graph::HostId;
use fabric::spec::*;
use fabric::topology;
use fabric::workload::FlowSpec;
use units::{Bytes, Rate, Span};

/// Three hosts send one class each to a fourth over one output; the bytes each class got.
fn shares(egress: Egress, control: FlowControl, active: &[u8]) -> Vec<f64> {
    let graph = topology::single_switch(4, link(10, Span::from_nanos(500))).unwrap();
    let buffer = ClassBuffer::lossless(Bytes::new(200_000), Bytes::new(50_000), Bytes::new(40_000));
    let mut spec = network(graph, switch(buffer, control), lossless());
    spec.classes = vec![lossless(); 3];
    spec.switches[0].buffer = Buffer::Static(vec![buffer; 3]);
    spec.switches[0].egress = egress;
    let flow = |&class: &u8| FlowSpec { class, ..greedy(u32::from(class) + 1, 0, [1500, 64, 9000][class as usize]) };
    spec.flows = active.iter().map(flow).collect();
    let (simulation, report) = run(&spec, Span::from_millis(20));
    assert_eq!(report.outcome, Outcome::Finished);
    // On the wire, overhead counted.
    let wire = |flow: fabric::FlowSummary| flow.received_bytes as f64 + 20.0 * flow.received_frames as f64;
    let bytes: Vec<f64> = simulation.flows().into_iter().map(wire).collect();
    let total: f64 = bytes.iter().sum();
    bytes.iter().map(|bytes| bytes / total).collect()
}

#[test]
fn weights_divide_a_link_within_one_percent() {
    let quanta = [Bytes::new(8_000), Bytes::new(8_000), Bytes::new(4_000)];
    let measured = shares(Egress::weighted(&quanta), pfc(), &[0, 1, 2]);
    for (measured, expected) in measured.iter().zip([0.4, 0.4, 0.2]) {
        assert!((measured - expected).abs() < 0.01, "{measured} against {expected}");
    }
    // An idle share is given away in proportion.
    let measured = shares(Egress::weighted(&quanta), pfc(), &[0, 2]);
    assert!((measured[0] - 2.0 / 3.0).abs() < 0.01, "{measured:?}");
}

#[test]
fn strict_priority_starves_and_groups_cure_it() {
    let measured = shares(Egress::Strict, pfc(), &[0, 1, 2]);
    assert!(measured[2] > 0.99 && measured[0] < 0.01, "{measured:?}");
    let groups = Egress::Groups(vec![
        EgressGroup::turns(0b001, Share::Weighted { quantum: Bytes::new(6_000) }),
        EgressGroup::turns(0b110, Share::Weighted { quantum: Bytes::new(6_000) }),
    ]);
    let measured = shares(groups, pfc(), &[0, 1, 2]);
    assert!((measured[0] - 0.5).abs() < 0.01, "{measured:?}");
    // The classes of a group take turns, frame by frame: 9020 bytes for every 84.
    // (but for the beginning, when small frames arrive and large ones do not yet).
    assert!((measured[2] / measured[1] / (9020.0 / 84.0) - 1.0).abs() < 0.1, "{measured:?}");
}

/// PFC stops the class whose receiver is slow and lets the other pass; PAUSE stops both.
#[test]
fn pfc_spares_the_other_class_and_pause_does_not() {
    let with = |control: fn(PauseSpec) -> FlowControl| {
        let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
        let buffer = ClassBuffer::lossless(Bytes::new(200_000), Bytes::new(50_000), Bytes::new(40_000));
        let mut spec = network(graph, switch(buffer, control(PauseSpec::default())), lossless());
        spec.classes = vec![lossless(); 2];
        spec.switches[0].buffer = Buffer::Static(vec![buffer; 2]);
        let slow = AdapterSpec {
            flow_control: control(PauseSpec::default()),
            buffer: vec![buffer; 2],
            service: Some(Rate::from_gigabits(1)),
            ..AdapterSpec::default()
        };
        spec.adapters.push(slow);
        spec.kind_of[1] = 1;
        spec.adapters[0].egress = Egress::weighted(&[Bytes::new(2_000), Bytes::new(2_000)]);
        // From one host in equal turns: class 0 to the slow receiver, class 1 to a fast one.
        spec.flows = vec![greedy(0, 1, 1000), FlowSpec { class: 1, ..greedy(0, 2, 1000) }].into();
        let (simulation, report) = run(&spec, Span::from_millis(20));
        assert_eq!(report.outcome, Outcome::Finished);
        simulation.flows()[1].received_bytes as f64 * 8.0 * 1.02 / 0.02 / 1e9
    };
    let (pfc, pause) = (with(FlowControl::Pfc), with(FlowControl::Pause));
    assert!(pfc > 8.5, "the other class has what the slow one leaves: {pfc} Gb/s");
    // The turns are equal, so whenever PAUSE lets one go the other gets no more: both at the slow one's pace.
    assert!((pause - 1.0).abs() < 0.2, "{pause} Gb/s");
}

/// A shared memory gives a lone queue more than its part and keeps its promise to the others.
#[test]
fn a_shared_buffer_is_shared_and_lossless() {
    let graph = topology::single_switch(9, link(10, Span::from_micros(1))).unwrap();
    let class = ClassBuffer {
        capacity: Bytes::new(3_000),
        xoff: Bytes::ZERO,
        xon: Bytes::new(2_000),
        headroom: Bytes::new(20_000),
        ..ClassBuffer::UNLIMITED
    };
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.switches[0].buffer = Buffer::Shared { total: Bytes::new(300_000), alpha: (1, 2), classes: vec![class] };
    spec.flows = (1..9).map(|host| greedy(host, 0, 1500)).collect();
    let (simulation, report) = run(&spec, Span::from_millis(20));
    assert_eq!(report.outcome, Outcome::Finished);
    assert!(report.totals.pause_frames > 100);
    let goodput = simulation.totals().delivered_bytes as f64 * 8.0 * (1520.0 / 1500.0) / 0.02;
    assert!(goodput > 9.9e9, "{goodput}");
    // Without headroom the same network loses frames, and says so.
    let bare = ClassBuffer { headroom: Bytes::new(1_000), ..class };
    spec.switches[0].buffer = Buffer::Shared { total: Bytes::new(300_000), alpha: (1, 2), classes: vec![bare] };
    assert!(matches!(run(&spec, Span::from_millis(20)).1.outcome, Outcome::LossInLosslessClass(_)));
}

/// Drop-tail drops, counts what it drops, and a lossy class beside a lossless one does not end the run.
#[test]
fn lossy_classes_drop_and_lossless_ones_beside_them_do_not() {
    let graph = topology::single_switch(5, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.classes = vec![lossy(), lossless()];
    let keep = ClassBuffer::lossless(Bytes::new(200_000), Bytes::new(50_000), Bytes::new(40_000));
    spec.switches[0].buffer = Buffer::Static(vec![ClassBuffer::drop_tail(Bytes::new(30_000)), keep]);
    spec.switches[0].egress = Egress::weighted(&[Bytes::new(3_000), Bytes::new(3_000)]);
    spec.flows = (1..5).map(|host| FlowSpec { class: (host % 2) as u8, ..greedy(host, 0, 1000) }).collect();
    let (simulation, report) = run(&spec, Span::from_millis(10));
    assert_eq!(report.outcome, Outcome::Finished);
    assert!(report.totals.dropped_frames > 1_000, "{:?}", report.totals);
    // The two lossless flows made no more than what was delivered and what fits in buffers.
    for flow in [0, 2] {
        let flow = simulation.flows()[flow];
        assert!(flow.made_frames * 1000 - flow.received_bytes < 210_000);
    }
}

/// Per-packet spraying uses all paths of one flow; a flow hash uses one.
#[test]
fn spraying_spreads_one_flow_over_all_paths() {
    let mut graph = topology::leaf_spine(2, 4, 1, topology::Links::same(link(10, Span::from_nanos(500)))).unwrap();
    // The hosts' own cables are fast enough for all four spines.
    for cable in &mut graph.cables {
        let host = [cable.a, cable.b].iter().any(|end| graph.nodes[end.0 as usize].name.starts_with('h'));
        if host {
            cable.link.rate = Rate::from_gigabits(40);
        }
    }
    let carried = |multipath| {
        let mut spec = network(graph.clone(), pfc_switch(), lossless());
        spec.multipath = multipath;
        spec.flows =
            vec![FlowSpec { destination: fabric::workload::Destination::Host(HostId(1)), ..greedy(0, 1, 1000) }].into();
        let (simulation, _) = run(&spec, Span::from_millis(5));
        simulation.totals().delivered_bytes as f64 * 8.0 * 1.02 / 0.005 / 1e9
    };
    assert!((carried(Multipath::FlowHash) - 10.0).abs() < 0.2);
    assert!(carried(Multipath::Spray) > 30.0);
}
