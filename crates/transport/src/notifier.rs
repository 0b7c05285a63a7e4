//! Congestion notification packets (CNPs) of RoCEv2: the notification point of DCQCN.

use crate::{Arrived, Receiving, ReceivingPoint, Response, Say};
use units::{Span, Time};

/// A receiving point that answers a marked frame by a CNP, at most one per interval and flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notifier {
    interval: Span,
    /// No other before then.
    not_before: Time,
    due: bool,
}

units::state!(struct Notifier { fixed: interval; plain: not_before, due; });

impl Notifier {
    /// The least time between two CNPs of a flow in DCQCN (Zhu et al., "Congestion control for large-scale RDMA
    /// deployments", SIGCOMM 2015).
    pub const DCQCN: Span = Span::from_micros(50);

    /// Creates a notification point with a least time between CNPs.
    #[must_use]
    pub const fn every(interval: Span) -> Notifier {
        Notifier { interval, not_before: Time::ZERO, due: false }
    }
}

impl ReceivingPoint for Notifier {
    /// A mark counts on any frame that arrives, whatever its flow's recovery does with the frame.
    #[inline]
    fn on_arrival(&mut self, now: Time, frame: &Arrived, _response: Response) {
        if frame.marked && now >= self.not_before {
            self.not_before = now.saturating_add(self.interval);
            self.due = true;
        }
    }

    #[inline]
    fn next_reply(&mut self, _now: Time, _receiver: &Receiving) -> Option<Say> {
        std::mem::take(&mut self.due).then_some(Say::CongestionNotification)
    }

    #[inline]
    fn deadline(&self) -> Option<Time> {
        None
    }

    fn on_deadline(&mut self, _now: Time) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Acknowledger, Sink, Untracked};

    #[test]
    fn at_most_one_per_interval_and_only_for_marked_frames() {
        let receiver = Receiving::Untracked(Untracked::default());
        let mut sink = Sink::new(receiver).with_notifier(Notifier::every(Notifier::DCQCN));
        let mut notified = |micros, number, marked| {
            let now = Time::ZERO + Span::from_micros(micros);
            sink.on_arrival(now, &Arrived { number, marked, ..Arrived::default() });
            let said = sink.next_reply(now);
            assert_eq!(sink.next_reply(now), None);
            said == Some(Say::CongestionNotification)
        };
        let seen = [
            notified(0, 0, false),
            notified(1, 1, true),
            notified(2, 2, true),
            notified(50, 3, true),
            notified(51, 4, true),
            notified(500, 5, false),
            notified(501, 6, true),
        ];
        assert_eq!(seen, [false, true, false, false, true, false, true]);
    }

    #[test]
    fn acknowledgements_and_notifications_are_independent() {
        let receiver = Receiving::Untracked(Untracked::default());
        let mut sink = Sink::new(receiver)
            .with_acknowledger(Acknowledger::every(1))
            .with_notifier(Notifier::every(Notifier::DCQCN));
        sink.on_arrival(Time::ZERO, &Arrived { marked: true, ..Arrived::default() });
        assert!(matches!(sink.next_reply(Time::ZERO), Some(Say::Reply(reply)) if reply.marked));
        assert_eq!(sink.next_reply(Time::ZERO), Some(Say::CongestionNotification));
        assert_eq!(sink.next_reply(Time::ZERO), None);
    }
}
