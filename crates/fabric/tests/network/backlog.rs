//! Backlogs of overloaded sources: counted beyond a few frames, and the same in all that can be observed.

use crate::kit::{at, link, lossless, network, pfc_switch};
use crate::observed::Observed;
use fabric::graph::HostId;
use fabric::topology;
use fabric::workload::{Activity, Backlog, FlowSpec, Gaps, Overflow, Pattern};
use fabric::{BuildOptions, FlowSummary, Frame, Partition, Probe, RunLimits};
use units::{Bytes, Rate, Span, Time};

/// When each frame was delivered, and when it was made.
#[derive(Default)]
struct Delays(Vec<Delay>);

type Delay = (Time, Time, u32);

impl Probe for Delays {
    fn on_deliver(&mut self, now: Time, host: u32, frame: &Frame) {
        self.0.push((now, frame.born(), host));
    }
}

/// Twelve sources of every kind offer ten times what their links carry. With a limit that is never reached, all frames
/// are kept as frames.
fn overloaded(limit: Option<u32>, shards: usize) -> (u64, Vec<FlowSummary>, Vec<Delay>, u64) {
    let graph = topology::single_switch(4, link(10, Span::from_micros(1))).expect("a switch");
    let mut spec = network(graph, pfc_switch(), lossless());
    let backlog = limit.map(|frames| Backlog { frames, overflow: Overflow::Discard });
    let mut gaps = [Gaps::Constant, Gaps::Exponential, Gaps::Jittered(0.5)].into_iter().cycle();
    for number in 0..12 {
        let source = HostId(number % 3);
        let pattern = Pattern::Paced { rate: Rate::from_gigabits(25), gaps: gaps.next().unwrap(), backlog };
        let mut flow = FlowSpec::greedy(source, HostId(3)).with(|it| {
            it.pattern = pattern;
        });
        match number {
            3..=5 => {
                flow = flow.to_any((0..4).map(HostId).filter(|&host| host != source).collect::<Vec<_>>());
            }
            6 => flow.size = Some(Bytes::new(1_000_100)),
            7 => flow.stop = Some(at(Span::from_micros(700))),
            8 | 9 => {
                let (on, off) = (Span::from_micros(90), Span::from_micros(60));
                flow.activity = Activity::OnOff { on, off, random: number == 9, discard: false };
            }
            10 => {
                let (on, off) = (Span::from_micros(150), Span::from_micros(50));
                flow.activity = Activity::OnOff { on, off, random: false, discard: true };
            }
            _ => {}
        }
        spec.flows.push(flow);
    }
    let options = BuildOptions { partition: Partition::Natural, shards, shuffle: None };
    let mut simulation = Observed::build(&spec, &options, |_| Delays::default()).expect("a sound network");
    let limits = RunLimits { threads: shards, ..RunLimits::until(at(Span::from_millis(2))) };
    let report = simulation.run(&limits);
    let census = simulation.census();
    assert_eq!(census.places, census.frames + census.control, "a frame was forgotten");
    let totals = report.totals;
    let gone = totals.delivered_bytes + totals.dropped_bytes + totals.lost_bytes + totals.discarded_bytes;
    assert_eq!(totals.made_bytes, gone + census.bytes, "bytes were lost from sight");
    let flows = simulation.flows();
    let mut delays: Vec<_> = simulation.probes_mut().flat_map(|probe| std::mem::take(&mut probe.0)).collect();
    delays.sort_unstable();
    (report.fingerprint, flows, delays, census.deferred)
}

#[test]
fn a_backlog_that_is_counted_is_the_backlog_that_was_kept() {
    let kept = overloaded(Some(1 << 30), 1);
    assert_eq!(kept.3, 0);
    for shards in [1, 3] {
        let counted = overloaded(None, shards);
        assert_eq!((counted.0, &counted.1), (kept.0, &kept.1), "{shards} shards");
        assert!(counted.2 == kept.2, "frames were made at other times");
        assert!(counted.3 > 10_000, "{} frames are counted", counted.3);
    }
}
