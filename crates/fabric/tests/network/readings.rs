//! Readings of other simulators: numbers of paths, times in whole nanoseconds, and gaps that a lower rate lengthens.

use crate::kit::*;
use congestion::{Allowance, Feedback, Pacing, Reaction, ReactionPoint};
use fabric::spec::*;
use fabric::topology::{self, Links};
use fabric::workload::{Acknowledge, FlowSpec};
use fabric::{Frame, Probe};
use std::collections::BTreeMap;
use units::{Bytes, FrameTime, Rate, Span, Time};

fn acknowledged(flow: FlowSpec) -> FlowSpec {
    flow.with(|it| it.acknowledge = Some(Acknowledge { size: Bytes::new(64), class: 0, every: 1, delay: None }))
}

/// When frames started, by port and flow.
#[derive(Clone, Default)]
struct Starts(BTreeMap<(u32, u32), Vec<Time>>);

impl Probe for Starts {
    fn on_transmit(&mut self, now: Time, port: u32, frame: &Frame, _waited: Span, _busy: Span) {
        self.0.entry((port, frame.flow)).or_default().push(now);
    }
}

fn starts(spec: &NetworkSpec) -> BTreeMap<(u32, u32), Vec<Time>> {
    let (mut simulation, _) = run_with(spec, Span::from_millis(1), |_| Starts::default());
    let mut all = BTreeMap::new();
    for Starts(starts) in simulation.probes_mut().map(std::mem::take) {
        all.extend(starts);
    }
    all
}

/// The remainder of a number by the choices of each switch is the path, and what is left of it is the way back.
#[test]
fn flows_take_the_paths_of_their_numbers() {
    let graph = topology::leaf_spine(2, 3, 3, Links::same(link(10, Span::from_nanos(500)))).unwrap();
    let rows = fabric::record::port_rows(&graph);
    let leaf_of = |host: &str| rows.iter().find(|row| row.node == host).map(|row| row.peer.clone()).unwrap();
    let uplinks = |leaf: &str| -> Vec<u32> {
        rows.iter().filter(|row| row.node == leaf && !row.peer.starts_with('h')).map(|row| row.port).collect()
    };
    let [near, far] = ["h0", "h3"].map(|host| uplinks(&leaf_of(host)));
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.multipath = Multipath::Numbered;
    let size = Some(Bytes::new(3000));
    spec.flows = (0..3).map(|host| acknowledged(FlowSpec { size, ..greedy(host, host + 3, 1000) })).collect();
    spec.path_numbers = vec![Some(2 + 3), Some(2 + 3 * 2), None];
    let starts = starts(&spec);
    let used = |ports: &[u32], flow: u32| -> Vec<usize> {
        (0..ports.len()).filter(|&port| starts.contains_key(&(ports[port], flow))).collect()
    };
    assert_eq!((used(&near, 0), used(&far, 0)), (vec![2], vec![1]));
    assert_eq!((used(&near, 1), used(&far, 1)), (vec![2], vec![2]));
    // A flow without a number goes by its hash, and keeps its path.
    assert_eq!((used(&near, 2).len(), used(&far, 2).len()), (1, 1));
}

/// 1048 B take 83.84 ns at 100 Gb/s.
#[test]
fn frames_take_whole_nanoseconds_where_asked() {
    for (frame_time, picos) in
        [(FrameTime::Exact, 83_840), (FrameTime::NanosecondsDown, 83_000), (FrameTime::NearestNanosecond, 84_000)]
    {
        let graph = topology::single_switch(2, link(100, Span::from_micros(1))).unwrap();
        let mut spec = network(graph, pfc_switch(), lossless());
        (spec.frame_time, spec.overhead) = (frame_time, Bytes::ZERO);
        spec.flows = vec![FlowSpec { size: Some(Bytes::new(10_480)), ..greedy(0, 1, 1048) }].into();
        for times in starts(&spec).values() {
            assert!(times.windows(2).all(|pair| (pair[1] - pair[0]).as_picos() == picos), "{frame_time:?}: {times:?}");
        }
    }
}

/// A source with one frame under way whose rate falls to a tenth with the first acknowledgement.
#[derive(Clone, Debug)]
struct Falling {
    pacing: Pacing,
    rate: Rate,
}

impl ReactionPoint for Falling {
    fn on_sent(&mut self, _now: Time, _len: Bytes) {}
    fn on_feedback(&mut self, _now: Time, _feedback: &Feedback) {
        self.rate = Rate::from_megabits(100);
    }
    fn on_deadline(&mut self, _now: Time) {}
    fn deadline(&self) -> Option<Time> {
        None
    }
    fn allowance(&self) -> Allowance {
        Allowance { rate: Some(self.rate), window: Some(Bytes::new(1)) }
    }
    fn pacing(&self) -> Pacing {
        self.pacing
    }
}

/// The first frame takes 8 us at 1 Gb/s, and its acknowledgement is back after 21.7: the wait is over. At 100 Mb/s it takes
/// 80 us.
#[test]
fn a_lower_rate_lengthens_a_gap_that_was_over_if_it_is_kept() {
    for (pacing, micros) in [(Pacing::FromStart, 21), (Pacing::Kept, 21), (Pacing::Gap, 80)] {
        let graph = topology::single_switch(2, link(10, Span::from_micros(5))).unwrap();
        let mut spec = network(graph, pfc_switch(), lossless());
        spec.overhead = Bytes::ZERO;
        let size = Some(Bytes::new(2000));
        spec.flows = vec![acknowledged(FlowSpec { size, ..greedy(0, 1, 1000) }).with(|it| {
            it.reaction = Reaction::custom(Falling { pacing, rate: Rate::from_megabits(1000) });
        })]
        .into();
        let starts = starts(&spec);
        let first = starts.values().find(|times| times[0] == Time::ZERO).expect("the port of the source");
        let gap = first[1] - first[0];
        assert_eq!(gap.as_picos() / 1_000_000, micros, "{pacing:?}");
    }
}
