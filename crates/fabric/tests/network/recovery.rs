//! What sources learn from acknowledgements, and flows that recover from losses.

use crate::kit::*;
use congestion::{Allowance, Feedback, Reaction, ReactionPoint};
use fabric::topology;
use fabric::workload::{Acknowledge, FlowSpec, Gaps, Pattern};
use units::{Bytes, Rate, Span, Time};

/// Checks every acknowledgement of a paced source that offers twice what its rate limit lets through.
#[derive(Clone, Debug)]
struct Watching {
    limit: Rate,
    network: Span,
    seen: u64,
    sent: u64,
}

impl ReactionPoint for Watching {
    fn on_sent(&mut self, _now: Time, len: Bytes) {
        self.sent += len.get();
    }
    fn on_feedback(&mut self, _now: Time, feedback: &Feedback) {
        let Feedback::Acknowledgement { bytes, round_trip, path, .. } = *feedback else { panic!("{feedback:?}") };
        self.seen += bytes.get();
        assert_eq!((path.network_round_trip, path.hops), (self.network, 2));
        assert_eq!((path.acknowledged.get(), path.sent.get()), (self.seen, self.sent));
        // The n-th frame was made after n gaps at twice the rate at which frames leave.
        assert!(round_trip >= self.network);
        assert!(self.seen < 20_000 || round_trip > self.network + Span::from_micros(5), "{round_trip}");
    }
    fn on_deadline(&mut self, _now: Time) {}
    fn deadline(&self) -> Option<Time> {
        None
    }
    fn allowance(&self) -> Allowance {
        Allowance { rate: Some(self.limit), window: None }
    }
}

#[test]
fn the_network_round_trip_is_without_the_wait_at_the_adapter() {
    let graph = topology::single_switch(2, link(10, Span::from_micros(1))).unwrap();
    let mut spec = network(graph, pfc_switch(), lossless());
    spec.overhead = Bytes::ZERO;
    // Two links of 1 us each way; 1250 B take 1 us per link and 125 B take 100 ns.
    let network = Span::from_nanos(2 * 2_000 + 2 * 1_100);
    let limit = Rate::from_gigabits(2);
    let reaction = Reaction::custom(Watching { limit, network, seen: 0, sent: 0 });
    spec.flows = vec![FlowSpec {
        pattern: Pattern::Paced { rate: Rate::from_gigabits(4), gaps: Gaps::Constant, backlog: None },
        size: Some(Bytes::new(50_000)),
        acknowledge: Some(Acknowledge { size: Bytes::new(125), ..Acknowledge::default() }),
        reaction,
        ..greedy(0, 1, 1250)
    }];
    let (simulation, report) = run(&spec, Span::from_millis(1));
    assert_eq!(report.totals.acknowledgements, 40);
    assert!(simulation.flows()[0].completed.is_some());
}
