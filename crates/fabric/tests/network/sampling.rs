//! Whom a congestion point at an input tells, against equations (2) to (5) of Neeser et al. 2012.
//!
//! The sources do not listen, so that rates and shares of the buffer stay what they are. Flow 0 has an output of its own,
//! flows 1 and 2 share theirs with a greedy flow of another host each, and want more than they get.

use crate::kit::*;
use congestion::Point;
use congestion::parameter::{Value, Values};
use fabric::spec::*;
use fabric::workload::{Backlog, Gaps, Overflow, Pattern};
use fabric::{Frame, Notice, Outcome, Probe};
use theory::sampling::{confidence, reflection, shares};
use units::{Bytes, Rate, Span, Time};

const FLOWS: usize = 3;
/// Five standard deviations: by chance once in two million.
const SURE: f64 = 5.0;

/// Counts notices, and adds up the parts that flows have of the buffer and of what comes.
#[derive(Default)]
struct Watcher {
    notices: [u64; FLOWS],
    parts: [f64; FLOWS],
    seen: u64,
    arrived: [u64; FLOWS],
    /// Host 0's port, and the one of the switch that it is plugged into.
    ports: (u32, u32),
}

impl Probe for Watcher {
    fn sample_every(&self) -> Option<Span> {
        Some(Span::from_nanos(1_700))
    }

    fn on_transmit(&mut self, _now: Time, port: u32, frame: &Frame, _waited: Span, _busy: Span) {
        if port == self.ports.0 && frame.kind == fabric::Kind::Data {
            self.arrived[frame.flow as usize] += u64::from(frame.len);
        }
    }

    fn on_notice(&mut self, _now: Time, flow: u32, _notice: &Notice) {
        if let Some(count) = self.notices.get_mut(flow as usize) {
            *count += 1;
        }
    }

    fn on_occupancy(&mut self, now: Time, port: u32, _class: u8, held: &[(u32, u32)]) {
        let total: u32 = held.iter().map(|it| it.1).sum();
        if port == self.ports.1 && total > 0 && now > Time::ZERO + Span::from_millis(1) {
            self.seen += 1;
            for &(flow, bytes) in held {
                self.parts[flow as usize] += f64::from(bytes) / f64::from(total);
            }
        }
    }
}

fn point(culprit: &str) -> Point {
    let info = congestion::POINTS.iter().find(|info| info.name == "qcn").unwrap();
    let set = [
        ("placed", Value::Choice("inputs".into())),
        ("culprit", Value::Choice(culprit.into())),
        // The analysis takes the interval as constant.
        ("sampling", Value::Choice("constant".into())),
        ("sample_base", Value::Size(Bytes::new(30_000))),
        // So low that the buffer is always congested: the factor of equations (3) and (5) is 1.
        ("set_point", Value::Size(Bytes::new(2_000))),
        ("weight", Value::Number(0.0)),
    ];
    let mut values = Values::defaults(info.parameters);
    set.iter().for_each(|(name, value)| values.set(name, value.clone()));
    (info.build)(&values).unwrap()
}

fn watch(culprit: &str) -> Watcher {
    let graph = fabric::topology::single_switch(6, link(10, Span::from_nanos(50))).unwrap();
    let switch = SwitchSpec {
        queueing: Queueing::Combined { output_buffer: Bytes::new(15_000) },
        crossbar: Some(Crossbar { speedup: (2, 1), ..Crossbar::default() }),
        congestion_point: Some(CongestionPointSpec { occupancy: true, ..CongestionPointSpec::point(point(culprit)) }),
        ..switch(ClassBuffer::lossless(Bytes::new(150_000), Bytes::new(80_000), Bytes::new(70_000)), pfc())
    };
    let mut spec = network(graph, switch, lossless());
    let paced = |to: u32, megabits: u64, frame: u64| {
        greedy(0, to, frame).with(|it| {
            it.pattern = Pattern::Paced {
                rate: Rate::from_megabits(megabits),
                gaps: Gaps::Exponential,
                backlog: Some(Backlog { frames: 16, overflow: Overflow::Stall }),
            };
        })
    };
    spec.flows =
        vec![paced(3, 2_500, 900), paced(4, 4_500, 1500), paced(5, 2_500, 600), greedy(1, 4, 1500), greedy(2, 5, 1500)]
            .into();
    let ends = spec.graph.ports();
    let first = |node: usize| ends[..node].iter().map(Vec::len).sum::<usize>() as u32;
    let host = spec.graph.hosts()[0].0 as usize;
    let end = &ends[host][0];
    let ports = (first(host), first(end.peer.0 as usize) + u32::from(end.peer_port));
    let (mut simulation, report) = run_with(&spec, Span::from_millis(200), |_| Watcher { ports, ..Watcher::default() });
    assert_eq!(report.outcome, Outcome::Finished);
    std::mem::take(simulation.probes_mut().next().unwrap())
}

fn agree(what: &str, notices: [u64; FLOWS], expected: &[f64], slack: f64) {
    let draws: u64 = notices.iter().sum();
    assert!(draws > 3_000, "{what}: {notices:?}");
    for (flow, (&hits, &share)) in notices.iter().zip(expected).enumerate() {
        let (low, high) = confidence(hits, draws, SURE).unwrap();
        let probability = reflection(share, 1.0);
        assert!(
            (low - slack..=high + slack).contains(&probability),
            "{what}, flow {flow}: {probability:.4} is not within {low:.4} to {high:.4}"
        );
    }
}

#[test]
fn arrival_sampling_tells_flows_by_their_part_of_what_comes() {
    let seen = watch("arrival");
    let rates = seen.arrived.map(|bytes| bytes as f64);
    agree("arrival", seen.notices, &shares(&rates).unwrap(), 0.0);
}

#[test]
fn occupancy_sampling_tells_flows_by_their_part_of_the_buffer() {
    let seen = watch("occupancy");
    let parts: Vec<f64> = seen.parts.iter().map(|part| part / seen.seen as f64).collect();
    // What is sampled is a moment of arrival, what is averaged all time: one frame of 80 KB makes the difference.
    agree("occupancy", seen.notices, &parts, 0.02);
    // And that is not the part of what comes.
    let rates = shares(&seen.arrived.map(|bytes| bytes as f64)).unwrap();
    let (low, high) = confidence(seen.notices[0], seen.notices.iter().sum(), SURE).unwrap();
    assert!(!(low..=high).contains(&rates[0]), "{:?} and {rates:?}", seen.notices);
}
