//! PFC watchdogs: storms and deadlocks end, and what is dropped for that is counted apart.

use crate::kit::*;
use crate::observed::Observed;
use crate::recovery::{conserved, recovery};
use congestion::parameter::Value;
use fabric::spec::*;
use fabric::topology;
use fabric::workload::{Acknowledge, FlowSpec};
use fabric::{BuildOptions, Frame, Outcome, Partition, Probe, RunLimits, RunSummary, Simulation};
use units::{Bytes, Rate, Span, Time};

fn us(n: u64) -> Span {
    Span::from_micros(n)
}

fn watchdog(detection: Span, restoration: Span, action: WatchdogAction) -> PfcWatchdogSpec {
    PfcWatchdogSpec { detection, restoration, poll: Span::ZERO, action, classes: u8::MAX }
}

/// Three hosts at one switch, two of which send to the third; that one consumes nothing from 100 us on, for a while or for ever,
/// and pauses the switch. The second sender also sends to the first host.
fn stormed(watchdog: Option<PfcWatchdogSpec>, ends: Option<Span>, recovers: bool) -> NetworkSpec {
    let graph = topology::single_switch(3, link(10, Span::from_nanos(500))).unwrap();
    let switch = SwitchSpec { pfc_watchdog: watchdog, ..pfc_switch() };
    let mut spec = network(graph, switch, lossless());
    let mut service_changes = vec![(at(us(100)), Some(Rate::ZERO))];
    service_changes.extend(ends.map(|end| (at(end), Some(Rate::from_gigabits(20)))));
    spec.adapters.push(AdapterSpec {
        flow_control: pfc(),
        buffer: vec![ClassBuffer::lossless(Bytes::new(60_000), Bytes::new(20_000), Bytes::new(10_000))],
        service: Some(Rate::from_gigabits(20)),
        service_changes,
        ..AdapterSpec::default()
    });
    let last = *spec.graph.hosts().last().unwrap();
    spec.kind_of[last.0 as usize] = 1;
    let sized = |from, to, bytes| FlowSpec { size: Some(Bytes::new(bytes)), ..greedy(from, to, 1000) };
    spec.flows = vec![sized(0, 2, 1_000_000), sized(1, 2, 1_000_000), sized(1, 0, 1_000_000)].into();
    if recovers {
        for flow in &mut spec.flows {
            flow.recovery = recovery("go-back-n", &[("timeout", Value::Time(us(300)))]);
            flow.acknowledge = Some(Acknowledge::default());
        }
    }
    spec
}

fn go(spec: &NetworkSpec, until: Span) -> (Simulation, RunSummary) {
    let (simulation, report) = run(spec, until);
    conserved(&report.totals, &simulation.census());
    (simulation, report)
}

#[test]
fn a_storm_stops_all_that_shares_the_buffer_unless_a_watchdog_drops() {
    let (simulation, report) = go(&stormed(None, None, false), Span::from_millis(20));
    assert!(matches!(report.outcome, Outcome::Stalled(_)), "{:?}", report.outcome);
    assert_eq!(report.totals.storms, 0);
    assert_eq!(simulation.flows()[2].completed, None, "the victim waits behind the storm");
    let drop = watchdog(us(500), Span::from_millis(1), WatchdogAction::Drop);
    let (simulation, report) = go(&stormed(Some(drop), None, false), Span::from_millis(20));
    assert_eq!(report.outcome, Outcome::Finished);
    let totals = report.totals;
    assert!(totals.watchdog_frames > 0 && totals.watchdog_bytes == 1000 * totals.watchdog_frames, "{totals:?}");
    assert_eq!((totals.dropped_frames, totals.lost_frames), (0, 0), "watchdogs have counts of their own");
    // The host never stops to pause, so the storm lasts.
    assert_eq!((totals.storms, totals.restored_storms), (1, 0));
    assert!(simulation.flows()[2].completed.is_some(), "the victim goes on");
    assert_eq!(simulation.flows()[0].completed, None);
    assert_eq!(simulation.census().in_switches, 0);
}

/// When frames were dropped, and when data started towards the third host.
#[derive(Default)]
struct Times {
    drops: Vec<Time>,
    starts: Vec<Time>,
}

impl Probe for Times {
    fn on_drop(&mut self, now: Time, _port: u32, _frame: &Frame, cause: fabric::DropCause) {
        assert_eq!(cause, fabric::DropCause::Watchdog);
        self.drops.push(now);
    }
    fn on_transmit(&mut self, now: Time, _port: u32, frame: &Frame, _waited: Span, _busy: Span) {
        if frame.kind == fabric::Kind::Data && frame.dst == 2 {
            self.starts.push(now);
        }
    }
    fn on_pause(&mut self, _now: Time, _port: u32, _classes: u8, _paused: bool) {}
}

#[test]
fn a_queue_storms_after_the_detection_time_and_is_restored_after_the_last_pause() {
    let times = |poll: Span| {
        let ends = Span::from_millis(3);
        let spec = PfcWatchdogSpec { poll, ..watchdog(us(500), us(400), WatchdogAction::Drop) };
        let spec = stormed(Some(spec), Some(ends), true);
        let (mut simulation, report) = run_with(&spec, Span::from_millis(60), |_| Times::default());
        assert_eq!(report.outcome, Outcome::Finished);
        assert_eq!((report.totals.storms, report.totals.restored_storms), (1, 1));
        assert!(simulation.flows().iter().all(|flow| flow.completed.is_some()), "what was dropped was sent again");
        let probe = simulation.probes_mut().next().map(std::mem::take).unwrap();
        let stopped = probe.starts.iter().copied().filter(|start| *start < at(ends)).max().unwrap();
        (stopped, probe.drops[0], *probe.drops.last().unwrap())
    };
    // The host's 20 kB are full some 30 us after it has stopped; its pause takes effect soon after.
    let (_, first, last) = times(Span::ZERO);
    assert!((at(us(600))..at(us(700))).contains(&first), "{first}");
    // The host sends XON when it has consumed half of its 20 kB; 400 us later the queue takes frames again.
    assert!((at(us(3_300))..at(us(3_420))).contains(&last), "{last}");
    // A watchdog that looks every 350 us sees it at the next look.
    let (_, polled, _) = times(us(350));
    assert_eq!(polled, at(us(700)));
}

#[test]
fn a_watchdog_that_forwards_ignores_pauses_and_the_far_end_drops() {
    let forward = watchdog(us(500), Span::from_millis(1), WatchdogAction::Forward);
    let (simulation, report) = go(&stormed(Some(forward), None, false), Span::from_millis(20));
    assert_eq!(report.outcome, Outcome::Finished, "no loss in a lossless class ends the run");
    let totals = report.totals;
    // What the host has room for is not dropped.
    assert!(totals.watchdog_frames > 1000 && totals.dropped_frames == 0, "{totals:?}");
    assert_eq!(totals.storms, 1);
    assert!(simulation.flows()[2].completed.is_some());
    // Room that is missing for other reasons still ends a run.
    let mut tight = stormed(Some(forward), None, false);
    tight.adapters[1].buffer = vec![ClassBuffer::lossless(Bytes::new(21_000), Bytes::new(20_000), Bytes::new(10_000))];
    let (_, report) = go(&tight, Span::from_millis(20));
    assert!(matches!(report.outcome, Outcome::LossInLosslessClass(_)), "{:?}", report.outcome);
}

fn ring(watchdog: Option<PfcWatchdogSpec>) -> NetworkSpec {
    let buffer = ClassBuffer::lossless(Bytes::new(25_000), Bytes::new(20_000), Bytes::new(9_000));
    let mut spec = clockwise_ring(4, Span::from_nanos(500), pfc(), buffer);
    spec.switches[0].pfc_watchdog = watchdog;
    spec.flows.iter_mut().for_each(|flow| flow.size = Some(Bytes::new(2_000_000)));
    spec
}

#[test]
fn a_deadlock_is_broken_and_is_no_verdict_while_a_watchdog_will_break_it() {
    let (_, report) = go(&ring(None), Span::from_millis(40));
    assert!(matches!(report.outcome, Outcome::Deadlock(_)), "{:?}", report.outcome);
    for action in [WatchdogAction::Drop, WatchdogAction::Forward] {
        // Longer than the interval of inspections, so that the circle is looked at.
        let spec = ring(Some(watchdog(us(1_000), us(200), action)));
        let (simulation, report) = go(&spec, Span::from_millis(40));
        assert_eq!(report.outcome, Outcome::Finished, "{action:?}");
        assert!(report.totals.storms > 0, "{:?}", report.totals);
        // All four forward at the same instant, so each has room for what the other sends.
        assert_eq!(report.totals.watchdog_frames > 0, action == WatchdogAction::Drop, "{:?}", report.totals);
        assert_eq!(simulation.census().in_switches, 0, "{action:?}");
        // A run that ends before the detection time has no deadlock either.
        let (_, early) = go(&spec, us(900));
        assert_eq!(early.outcome, Outcome::Finished, "{action:?}");
    }
    // One port of the circle is enough; a port beside it does not help.
    for (port, ends) in [("clockwise", true), ("host", false)] {
        let mut spec = ring(None);
        let node = spec.graph.switches()[0];
        let next = spec.graph.switches()[1];
        let ends_of = spec.graph.ports()[node.0 as usize].clone();
        let number = ends_of.iter().position(|end| (end.peer == next) == ends).unwrap() as u16;
        let drop = watchdog(us(1_000), us(200), WatchdogAction::Drop);
        spec.ports.push(PortSpec { pfc_watchdog: Some(drop), ..PortSpec::plain(node, number) });
        let (_, report) = go(&spec, Span::from_millis(40));
        assert_eq!(matches!(report.outcome, Outcome::Finished), ends, "{port}: {:?}", report.outcome);
    }
}

#[test]
fn dropped_frames_are_sent_again_and_storms_are_the_same_on_any_cut() {
    for action in [WatchdogAction::Drop, WatchdogAction::Forward] {
        let mut spec = ring(Some(watchdog(us(300), us(100), action)));
        for flow in &mut spec.flows {
            flow.recovery = recovery("go-back-n", &[("timeout", Value::Time(us(400)))]);
            flow.acknowledge = Some(Acknowledge::default());
        }
        let (_, one) = go(&spec, Span::from_millis(8));
        let resent = one.totals.retransmitted_frames > 0;
        assert!(one.totals.storms > 1 && resent == (action == WatchdogAction::Drop), "{:?}", one.totals);
        for shards in [2, 4] {
            let options = BuildOptions { partition: Partition::PerNode, shards, shuffle: Some(7) };
            let mut simulation = Simulation::build(&spec, &options).unwrap();
            let limits = RunLimits { threads: shards, ..RunLimits::until(at(Span::from_millis(8))) };
            let several = simulation.run(&limits);
            assert_eq!((several.fingerprint, several.totals), (one.fingerprint, one.totals), "{shards} shards");
            for rank in on_ranks(&spec, shards, &options, &RunLimits { threads: 1, ..limits }) {
                assert_eq!((rank.fingerprint, rank.totals), (one.fingerprint, one.totals), "{shards} ranks");
                assert_eq!(rank.outcome, one.outcome);
            }
        }
    }
}

#[test]
fn a_deadlock_across_ranks_is_left_to_the_watchdog() {
    let spec = ring(Some(watchdog(us(2_000), us(200), WatchdogAction::Drop)));
    let options = BuildOptions { partition: Partition::PerNode, shards: 4, shuffle: None };
    for rank in on_ranks(&spec, 2, &options, &RunLimits::until(at(Span::from_millis(40)))) {
        assert_eq!(rank.outcome, Outcome::Finished);
    }
}

#[test]
fn a_watchdog_that_never_acts_changes_nothing() {
    let quiet = stormed(Some(watchdog(Span::from_millis(30), us(100), WatchdogAction::Drop)), None, false);
    let without = stormed(None, None, false);
    let [quiet, without] = [quiet, without].map(|spec| go(&spec, Span::from_millis(20)).1);
    assert_eq!((quiet.fingerprint, quiet.totals), (without.fingerprint, without.totals));
}

#[test]
fn lossy_classes_have_no_watchdog_and_shared_memory_is_freed() {
    let mut spec = stormed(Some(watchdog(us(300), us(500), WatchdogAction::Drop)), None, false);
    spec.classes = vec![ClassSpec::lossy("bulk"), lossless()];
    let part = ClassBuffer { headroom: Bytes::new(150_000), xon: Bytes::new(2_000), ..ClassBuffer::UNLIMITED };
    let parts = [ClassBuffer { capacity: Bytes::new(0), ..part }; 2];
    spec.switches[0].buffer = Buffer::Shared { total: Bytes::new(200_000), alpha: (1, 1), classes: parts.to_vec() };
    let buffer = spec.adapters[1].buffer[0];
    spec.adapters[1].buffer = vec![ClassBuffer::drop_tail(Bytes::new(60_000)), buffer];
    for (number, flow) in spec.flows.iter_mut().enumerate() {
        flow.class = u8::from(number < 2);
    }
    let mut simulation = Observed::build(&spec, &BuildOptions::default(), |_| Times::default()).unwrap();
    let report = simulation.run(&RunLimits::until(at(Span::from_millis(20))));
    assert_eq!(report.outcome, Outcome::Finished);
    assert!(report.totals.watchdog_frames > 0);
    assert_eq!(simulation.census().in_switches, 0);
    assert!(simulation.flows()[2].completed.is_some());
    // The memory is free again: another storm of the same length would find the same room.
    assert_eq!(report.totals.dropped_frames, 0);
}
