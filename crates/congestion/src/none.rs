//! No congestion control: the flow keeps its fixed allowance and does not react to feedback.
//!
//! The baseline of every comparison: a lossless network with flow control alone.

use crate::parameter::{Parameter, ParameterDefault, ParameterKind};
use crate::{Allowance, Feedback, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Rate, Time};

/// The largest window: 1 PB.
const LARGEST: u64 = 1_000_000_000_000_000;

pub(crate) const INFO: ProtocolInfo = ProtocolInfo {
    name: "none",
    summary: "no congestion control; a fixed rate and window, or neither",
    parameters: &[
        Parameter {
            name: "rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Absent("no rate limit"),
            meaning: "Fixed rate limit.",
        },
        Parameter {
            name: "window",
            kind: ParameterKind::Size(1, LARGEST),
            default: ParameterDefault::Absent("no window"),
            meaning: "Fixed window: bytes in flight; requires acknowledgements.",
        },
    ],
    presets: &[],
    acknowledged: false,
    build: |values| {
        let allowance = Allowance { rate: values.maybe_rate("rate"), window: values.maybe_size("window") };
        Ok(Reaction::None(NoControl { allowance }))
    },
};

/// A reaction point that does not react.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoControl {
    /// The constant allowance of the flow; unlimited by default.
    pub allowance: Allowance,
}

units::state!(struct NoControl { fixed: allowance; });

impl ReactionPoint for NoControl {
    #[inline]
    fn on_sent(&mut self, _now: Time, _len: Bytes) {}

    fn on_feedback(&mut self, _now: Time, _feedback: &Feedback) {}

    fn on_deadline(&mut self, _now: Time) {}

    #[inline]
    fn deadline(&self) -> Option<Time> {
        None
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }

    fn heeds_acknowledgements(&self) -> bool {
        self.allowance.window.is_some()
    }

    fn ceiling(&self) -> Option<Rate> {
        self.allowance.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    #[test]
    fn nothing_that_happens_changes_what_it_may_do() {
        let allowance = Allowance { rate: Some(Rate::from_gigabits(5)), window: Some(Bytes::new(3000)) };
        let mut point = NoControl { allowance };
        let marked = Feedback::Acknowledgement {
            bytes: Bytes::new(1000),
            marked: true,
            round_trip: Span::ZERO,
            path: Default::default(),
        };
        point.on_sent(Time::ZERO, Bytes::new(1000));
        point.on_feedback(Time::from_picos(1), &marked);
        assert_eq!((point.allowance(), point.deadline()), (allowance, None));
    }
}
