//! Cables that fail, come back and damage frames; routes that change.

use crate::kit::*;
use fabric::Outcome;
use fabric::routing::Routes;
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::FlowSpec;
use units::{Bytes, Span};

#[test]
fn a_cable_that_fails_loses_what_is_on_it_and_comes_back() {
    for control in [pfc(), slots(Span::from_nanos(20))] {
        let graph = topology::single_switch(2, link(10, Span::from_micros(2))).unwrap();
        let buffer = match control {
            FlowControl::Credits(_) => ClassBuffer::drop_tail(Bytes::new(40)),
            _ => ClassBuffer::lossless(Bytes::new(200_000), Bytes::new(50_000), Bytes::new(40_000)),
        };
        let mut spec = network(graph, switch(buffer, control), lossless());
        spec.flows = vec![greedy(0, 1, 1000)];
        // The cable of host 0 is the first.
        let (down, up) = (at(Span::from_micros(1_000)), at(Span::from_micros(2_000)));
        spec.faults = vec![Fault { cable: 0, down, up: Some(up) }];
        let (simulation, report) = run(&spec, Span::from_micros(3_000));
        assert_eq!(report.outcome, Outcome::Finished, "{control:?}");
        // 2 us of cable and a frame in transmission, at 816 ns a frame.
        assert!((2..=4).contains(&report.totals.lost_frames), "{control:?}: {:?}", report.totals);
        let carried = simulation.totals().delivered_bytes as f64 * 8.0 * 1.02 / 10e9;
        assert!((carried - 0.002).abs() < 0.00003, "{control:?}: two of three milliseconds, got {carried}");
    }
}

#[test]
fn traffic_waits_at_a_failed_cable_and_goes_round_it_when_routes_change() {
    let graph = topology::leaf_spine(2, 2, 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let trunk = |spine: &str| {
        let ends = |cable: &fabric::graph::Cable| [cable.a, cable.b].map(|n| graph.nodes[n.0 as usize].name.clone());
        let leaf0 = |names: &[String; 2]| names.iter().any(|n| n == "leaf0") && names.iter().any(|n| n == spine);
        graph.cables.iter().position(|cable| leaf0(&ends(cable))).unwrap() as u32
    };
    let mut spec = network(graph.clone(), pfc_switch(), lossless());
    let (left, right) =
        (Routes::without_links(&graph, &[trunk("spine1")]), Routes::without_links(&graph, &[trunk("spine0")]));
    spec.routes = left;
    spec.flows = vec![greedy(0, 1, 1000)];
    spec.faults = vec![Fault { cable: trunk("spine0"), down: at(Span::from_millis(1)), up: None }];
    let (stuck, report) = run(&spec, Span::from_millis(3));
    assert_eq!(report.outcome, Outcome::Finished, "a failed cable is not a deadlock");
    let carried = |bytes: u64| bytes as f64 * 8.0 * 1.02 / 10e9;
    assert!(carried(stuck.totals().delivered_bytes) < 0.00101);
    spec.route_changes = vec![RouteChange { at: at(Span::from_millis(2)), routes: right }];
    let (round, _) = run(&spec, Span::from_millis(3));
    // What had been queued for the failed cable stays there, and keeps its buffer; the rest goes on after 2 ms.
    let share = carried(round.totals().delivered_bytes);
    assert!(share > 0.0019 && share < 0.00201, "{share}");
}

#[test]
fn bit_errors_lose_the_expected_share() {
    let mut graph = topology::single_switch(2, link(10, Span::from_nanos(500))).unwrap();
    graph.cables[1].link.bit_error_rate = 1e-6;
    let mut spec = network(graph, switch(ClassBuffer::UNLIMITED, FlowControl::None), lossy());
    spec.flows = vec![greedy(0, 1, 1250)];
    let (simulation, report) = run(&spec, Span::from_millis(100));
    let lost = report.totals.lost_frames as f64 / simulation.flows()[0].made_frames as f64;
    // 10000 bits a frame: 1 - (1 - 1e-6)^10000 = 0.00995; about 98000 frames, deviation 0.0003.
    assert!((lost - 0.00995).abs() < 0.0012, "{lost}");
}

#[test]
fn an_unreachable_destination_is_dropped_and_counted() {
    let graph = topology::chain(2, 1, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    let far = spec.graph.find("sw1").unwrap();
    spec.routes.set(far, fabric::graph::HostId(1), &[]).unwrap();
    spec.flows = vec![FlowSpec { size: Some(Bytes::new(100_000)), ..greedy(0, 1, 1000) }];
    let (simulation, report) = run(&spec, Span::from_millis(1));
    assert_eq!(report.totals.dropped_frames, 100);
    assert_eq!(simulation.census().frames, 0);
}
