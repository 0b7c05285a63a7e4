//! No recovery: nothing is retransmitted, and a destination takes every frame that arrives.

use crate::{Arrival, Receiver, Receiving, Recovery, RecoveryInfo, Response};
use units::Time;

pub(crate) const INFO: RecoveryInfo = RecoveryInfo {
    name: "none",
    summary: "No recovery: a lost frame is never retransmitted",
    parameters: &[],
    presets: &[],
    build: |_| Ok(Recovery { sender: None, receiver: Receiving::Untracked(Untracked::default()) }),
};

/// A receiver that takes every frame and only counts. Without retransmission there are no duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Untracked {
    /// One more than the largest number that arrived.
    next: u64,
}

units::state!(struct Untracked { plain: next; });

impl Receiver for Untracked {
    /// A frame is out of order if a later one arrived before it (RFC 4737, section 3.3); a gap is only a loss.
    #[inline]
    fn on_arrival(&mut self, _now: Time, number: u64) -> (Arrival, Response) {
        if number < self.next {
            return (Arrival::OutOfOrder, Response::Delayed);
        }
        self.next = number + 1;
        (Arrival::InOrder, Response::Delayed)
    }

    fn on_trimmed(&mut self, _now: Time, _number: u64) -> Response {
        Response::Silent
    }

    /// What was lost will never arrive, so it counts as settled.
    #[inline]
    fn expected(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_is_taken_and_late_ones_are_out_of_order() {
        let mut receiver = Untracked::default();
        let mut arrive = |number| receiver.on_arrival(Time::ZERO, number).0;
        assert_eq!([0, 2, 3, 1, 4].map(&mut arrive), {
            use Arrival::{InOrder, OutOfOrder};
            [InOrder, InOrder, InOrder, OutOfOrder, InOrder]
        });
        assert_eq!(receiver.expected(), 5);
        assert_eq!(receiver.on_trimmed(Time::ZERO, 7), Response::Silent);
    }
}
