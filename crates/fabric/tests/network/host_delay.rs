//! The time that frames spend at their destination, as sources learn of it: not the time that they wait at the source.

use crate::kit::*;
use crate::recovery::recovery;
use congestion::parameter::Values;
use congestion::{Adapter, Allowance, Feedback, PROTOCOLS, Reaction, ReactionPoint};
use fabric::graph::HostId;
use fabric::spec::*;
use fabric::topology;
use fabric::workload::{Acknowledge, Backlog, FlowSpec, Gaps, Overflow, Pattern};
use std::sync::{Arc, Mutex};
use transport::Recovery;
use units::{Bytes, Rate, Span, Time};

/// A source without control that keeps what it is told.
#[derive(Clone, Debug, Default)]
struct Listener {
    heard: Arc<Mutex<Vec<Span>>>,
    wants: bool,
}

impl ReactionPoint for Listener {
    fn attach(&mut self, _adapter: &Adapter) -> Result<(), congestion::parameter::Invalid> {
        Ok(())
    }
    fn on_sent(&mut self, _now: Time, _len: Bytes) {}
    fn on_feedback(&mut self, _now: Time, feedback: &Feedback) {
        if let Feedback::Acknowledgement { path, .. } = feedback {
            self.heard.lock().unwrap().push(path.host_delay);
        }
    }
    fn on_deadline(&mut self, _now: Time) {}
    fn deadline(&self) -> Option<Time> {
        None
    }
    fn allowance(&self) -> Allowance {
        Allowance::default()
    }
    fn wants_host_delay(&self) -> bool {
        self.wants
    }
}

fn go_back_n() -> Option<Arc<Recovery>> {
    recovery("go-back-n", &[])
}

/// What a source hears of five frames for a host whose application takes 2 Gb/s of a link of 10 Gb/s.
fn heard(wants: bool, recovery: Option<Arc<Recovery>>) -> Vec<Span> {
    let graph = topology::single_switch(2, link(10, Span::from_nanos(500))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.adapters.push(AdapterSpec {
        flow_control: pfc(),
        buffer: vec![ClassBuffer::lossless(Bytes::new(60_000), Bytes::new(20_000), Bytes::new(10_000))],
        service: Some(Rate::from_gigabits(2)),
        ..AdapterSpec::default()
    });
    spec.kind_of[0] = 1;
    let listener = Listener { wants, ..Listener::default() };
    let heard = Arc::clone(&listener.heard);
    let reaction = Reaction::custom(listener);
    let acknowledge = Some(Acknowledge::default());
    spec.flows = vec![FlowSpec { size: Some(Bytes::new(5_000)), ..greedy(1, 0, 1000) }.with(|it| {
        it.acknowledge = acknowledge;
        it.reaction = reaction;
        it.recovery = recovery;
    })]
    .into();
    run(&spec, Span::from_millis(1));
    let heard = heard.lock().unwrap();
    heard.clone()
}

#[test]
fn an_acknowledgement_reports_the_time_at_a_slow_host() {
    // 1020 B: one frame every 816 ns, consumed in 4080 ns.
    let expected: Vec<Span> = (0..5).map(|n| Span::from_nanos((n + 1) * 4080 - n * 816)).collect();
    let rounded: Vec<Span> = expected.iter().map(|span| Span::from_nanos(rounded(span.as_picos() / 1000))).collect();
    assert_eq!(heard(true, None), rounded);
    assert_eq!(heard(true, go_back_n()), expected);
    for recovery in [None, go_back_n()] {
        assert_eq!(heard(false, recovery), [Span::ZERO; 5], "nobody asked");
    }
}

/// To thousandths, upwards, as acknowledgements without recovery have it.
fn rounded(nanos: u64) -> u64 {
    if nanos > 8191 { nanos.div_ceil(10) * 10 } else { nanos }
}

#[test]
fn a_source_that_waits_for_its_own_window_is_no_slow_host() {
    let graph = topology::single_switch(5, link(10, Span::from_nanos(500))).unwrap();
    let class = ClassBuffer::drop_tail(Bytes::new(300_000));
    let mut spec = network(graph, switch(class, FlowControl::None), lossy());
    let info = PROTOCOLS.iter().find(|info| info.name == "swift").unwrap();
    let reaction = (info.build)(&Values::defaults(info.parameters)).unwrap();
    let backlog = Some(Backlog { frames: 10, overflow: Overflow::Discard });
    let pattern = Pattern::Paced { rate: Rate::from_megabits(9_900), gaps: Gaps::Jittered(0.1), backlog };
    let flow = |from| {
        FlowSpec::greedy(HostId(from), HostId(4)).with(|it| {
            it.pattern = pattern;
            it.acknowledge = Some(Acknowledge::default());
            it.recovery = go_back_n();
            it.reaction = reaction.clone();
        })
    };
    spec.flows = (0..4).map(flow).collect();
    let (simulation, _) = run(&spec, Span::from_millis(20));
    let rates: Vec<f64> =
        simulation.flows().iter().map(|flow| flow.received_bytes as f64 * 8.0 / 20e-3 / 1e9).collect();
    assert!(rates.iter().all(|rate| (1.8..3.2).contains(rate)), "{rates:?}");
    assert!(rates.iter().sum::<f64>() > 9.5, "{rates:?}");
}
