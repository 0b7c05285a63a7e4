//! FlowBender: a flow keeps its path until too many of its acknowledgements in a round trip are marked.
//!
//! Source: Kabbani, Vamanan, Hasan and Duchene, "FlowBender: Flow-level Adaptive Routing for Improved Latency and
//! Throughput in Datacenter Networks", CoNEXT 2014; the paper itself was not at hand, but public code for ns-3
//! (`tcp-flow-bender.cc`) and a public summary. When more than a fraction T of the acknowledgements of a round trip are
//! marked, in N round trips in a row, or when the retransmission timer expires, the flow takes another entropy.

use crate::path_selection::{Echo, PathSelection, PathSelectionInfo, PathSelector};
use congestion::parameter::{Parameter, ParameterDefault, ParameterKind};
use congestion::{Adapter, LossSignal};
use units::{Bytes, Stream, Time};

const CODE: &str = "public ns-3 code, tcp-flow-bender.cc";

pub(crate) const INFO: PathSelectionInfo = PathSelectionInfo {
    name: "flow-bender",
    summary: "FlowBender: another path after round trips with many marks, and after a timeout",
    parameters: &[
        Parameter {
            name: "threshold",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.05", CODE),
            meaning: "Fraction of marked acknowledgements of a round trip above which it counts as congested: T.",
        },
        Parameter {
            name: "rounds",
            kind: ParameterKind::Count(1, 1000),
            default: ParameterDefault::Value("1", CODE),
            meaning: "Congested round trips in a row after which the flow changes its path: N.",
        },
        Parameter {
            name: "counted",
            kind: ParameterKind::Choice(&[
                ("all", "every one"),
                ("present-path", "those of frames that took the present path"),
            ]),
            default: ParameterDefault::Value("all", CODE),
            meaning: "Acknowledgements that count. In the round trip after a change, the frames that are acknowledged \
                      took the former path; with `all` their marks cause another change.",
        },
    ],
    presets: &[],
    build: |values| {
        let stream = Stream::new(0, 0, "flow-bender");
        Ok(Some(PathSelection::FlowBender(FlowBender {
            threshold: values.number("threshold"),
            rounds: values.count("rounds"),
            own: values.choice("counted") == "present-path",
            entropy: 0,
            stream,
            end: Bytes::ZERO,
            replies: 0,
            marked: 0,
            congested: 0,
        })))
    },
};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowBender {
    threshold: f64,
    rounds: u64,
    /// Only replies to frames with the present entropy count.
    own: bool,
    entropy: u32,
    stream: Stream,
    /// The round trip ends when this has been acknowledged: what had been sent when it began.
    end: Bytes,
    /// Replies of the round trip, and how many of them were marked.
    replies: u64,
    marked: u64,
    /// Congested round trips in a row.
    congested: u64,
}

units::state!(struct FlowBender { fixed: threshold, rounds, own; plain: entropy, stream, end, replies, marked, congested; });

impl FlowBender {
    /// Takes another entropy; what is known was of the former path.
    fn bend(&mut self) {
        let before = self.entropy;
        while self.entropy == before {
            self.entropy = self.stream.next_u64() as u32;
        }
        self.congested = 0;
    }
}

impl PathSelector for FlowBender {
    fn attach(&mut self, adapter: &Adapter, hash: u32) {
        self.stream = Stream::new(adapter.seed, u64::from(adapter.flow), "flow-bender");
        self.entropy = hash;
    }

    fn entropy(&mut self) -> u32 {
        self.entropy
    }

    fn held(&self) -> Option<u32> {
        Some(self.entropy)
    }

    fn on_echo(&mut self, _now: Time, echo: &Echo) {
        if !self.own || echo.entropy == self.entropy {
            self.replies += 1;
            // A trimmed frame met a full queue.
            self.marked += u64::from(echo.marked || echo.trimmed);
        }
        if echo.acknowledged <= self.end {
            return;
        }
        self.end = echo.sent.max(echo.acknowledged);
        let congested = self.marked as f64 > self.threshold * self.replies as f64;
        (self.replies, self.marked) = (0, 0);
        self.congested = if congested { self.congested + 1 } else { 0 };
        if self.congested >= self.rounds {
            self.bend();
        }
    }

    fn on_loss(&mut self, _now: Time, signal: LossSignal) {
        if signal == LossSignal::Timeout {
            self.bend();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_selection::tests::{at, selector};
    use congestion::parameter::Value;

    /// Rounds of 100 replies, of which so many are marked, to frames of that entropy. Returns the entropies after each.
    fn rounds(bender: &mut PathSelection, first: u64, marks: &[u64], entropy: Option<u32>) -> Vec<u32> {
        let round = |(round, &marked): (u64, &u64)| {
            for reply in 1..=100 {
                let acknowledged = Bytes::new(1000 * (100 * round + reply));
                let entropy = entropy.unwrap_or(bender.entropy());
                let sent = acknowledged + Bytes::new(99_000);
                // The round ends with the first reply beyond what had been sent: its mark counts, too.
                bender
                    .on_echo(at(round), &Echo { entropy, marked: reply <= marked, trimmed: false, acknowledged, sent });
            }
            bender.entropy()
        };
        (first..).zip(marks).map(round).collect()
    }

    #[test]
    fn a_flow_keeps_its_path_while_few_replies_are_marked() {
        let mut bender = selector("flow-bender", &[]);
        assert_eq!((bender.entropy(), bender.held()), (7, Some(7)));
        // The first reply ends the round of what was sent before it, which is nothing.
        assert_eq!(rounds(&mut bender, 0, &[0, 5, 5, 5, 0], None), [7; 5]);
    }

    #[test]
    fn more_than_the_fraction_of_a_round_trip_changes_the_path() {
        let mut bender = selector("flow-bender", &[]);
        let after = rounds(&mut bender, 0, &[0, 7, 0, 0, 0], None);
        assert_eq!(after[..2], [7, 7]);
        assert!(after[2] != 7 && after[2..].iter().all(|&entropy| entropy == after[2]), "{after:?}");
    }

    #[test]
    fn several_rounds_in_a_row_are_needed_if_so_many_are_set() {
        let mut bender = selector("flow-bender", &[("rounds", Value::Count(3))]);
        let after = rounds(&mut bender, 0, &[0, 50, 50, 0, 50, 50, 50, 0], None);
        assert_eq!(after[..7], [7; 7]);
        assert_ne!(after[7], 7);
    }

    #[test]
    fn marks_of_the_former_path_count_once_more_unless_told_otherwise() {
        for (counted, changes) in [("all", 2), ("present-path", 1)] {
            let mut bender = selector("flow-bender", &[("counted", Value::Choice(counted.into()))]);
            // Of the frames that are acknowledged, all took the first path.
            let after = rounds(&mut bender, 0, &[0, 50, 50, 0, 0], Some(7));
            let mut seen = after.clone();
            seen.dedup();
            assert_eq!(seen.len() - 1, changes, "{counted}: {after:?}");
        }
    }

    #[test]
    fn a_timeout_changes_the_path_and_a_detected_loss_does_not() {
        let mut bender = selector("flow-bender", &[]);
        bender.on_loss(at(1), LossSignal::Detected);
        assert_eq!(bender.entropy(), 7);
        bender.on_loss(at(2), LossSignal::Timeout);
        let second = bender.entropy();
        assert_ne!(second, 7);
        bender.on_loss(at(3), LossSignal::Timeout);
        assert_ne!(bender.entropy(), second);
    }
}
