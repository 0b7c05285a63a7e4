//! Go-back-N as the reliable connections of InfiniBand and RoCEv2 do it.
//!
//! The receiver takes frames in order only. An early one is discarded and answered by one NAK (sequence error) per
//! expected number; a duplicate is acknowledged again. The sender goes back to the first unacknowledged frame on a NAK
//! and when no acknowledgement advanced for a timeout, and sends everything from there on again.
//!
//! Left out: the retry counter that breaks a connection, RNR NAKs (a receiver here always has a buffer), responses of
//! RDMA reads.

use crate::{Arrival, LossSignal, Meaning, Next, Progress, Receiver, Receiving, Recovery, RecoveryInfo, Reply};
use crate::{Response, Sender, Sending};
use congestion::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset};
use units::{Span, Time};

pub(crate) const INFO: RecoveryInfo = RecoveryInfo {
    name: "go-back-n",
    summary: "Go-back-N with NAK and timeout: reliable connections of InfiniBand and RoCEv2",
    parameters: &[
        Parameter {
            name: "timeout",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value(
                "1.048576ms",
                "our choice of the exponent: InfiniBand's Local ACK Timeout is 4.096 us x 2^n; this is n = 8",
            ),
            meaning: "Time without progress after which the source goes back to the first unacknowledged frame.",
        },
        Parameter {
            name: "nak_interval",
            kind: ParameterKind::Time,
            default: ParameterDefault::Absent("one NAK per expected frame, as InfiniBand's responders send them"),
            meaning: "Time after which early frames cause another NAK for the same expected frame.",
        },
    ],
    presets: &[Preset {
        name: "perftest",
        meaning: "The timeout of the benchmarks of linux-rdma/perftest.",
        values: &[("timeout", "67.108864ms", "its option --qp-timeout: 4.096 us x 2^14")],
    }],
    build: |values| {
        let timeout = values.time("timeout");
        if timeout == Span::ZERO {
            return Err(Invalid::new("timeout", "the timeout is zero", "give one longer than a round trip"));
        }
        let nak_interval = values.maybe_time("nak_interval").unwrap_or(Span::MAX);
        Ok(Recovery {
            sender: Some(Sending::GoBackN(GoBackNSender::new(timeout))),
            receiver: Receiving::GoBackN(GoBackNReceiver::new(nak_interval)),
        })
    },
};

/// The source's half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoBackNSender {
    timeout: Span,
    /// All frames below are known to have arrived.
    acknowledged: u64,
    /// The frame to send next.
    next: u64,
    /// Frames sent at least once.
    sent: u64,
    /// When the timer expires. It runs while frames are in flight.
    deadline: Option<Time>,
}

units::state!(struct GoBackNSender { fixed: timeout; plain: acknowledged, next, sent, deadline; });

impl GoBackNSender {
    /// Creates a sender with a timeout.
    #[must_use]
    pub const fn new(timeout: Span) -> GoBackNSender {
        GoBackNSender { timeout, acknowledged: 0, next: 0, sent: 0, deadline: None }
    }
}

impl Sender for GoBackNSender {
    #[inline]
    fn next(&self, fresh: bool) -> Next {
        match (self.next < self.sent, fresh) {
            (true, _) => Next::Again { number: self.next, windowed: true },
            (false, true) => Next::Fresh,
            (false, false) => Next::Nothing,
        }
    }

    #[inline]
    fn on_sent(&mut self, now: Time, number: u64) {
        debug_assert_eq!(number, self.next, "frames go in order");
        self.next = number + 1;
        self.sent = self.sent.max(self.next);
        self.deadline.get_or_insert(now.saturating_add(self.timeout));
    }

    #[inline]
    fn on_reply(&mut self, now: Time, reply: &Reply) -> Progress {
        let mut progress = Progress { round_trip: Some(now.saturating_since(reply.stamp)), ..Progress::default() };
        if reply.cumulative > self.acknowledged {
            progress.arrived = reply.cumulative - self.acknowledged;
            self.acknowledged = reply.cumulative;
            self.next = self.next.max(self.acknowledged);
            self.deadline = (self.next > self.acknowledged).then(|| now.saturating_add(self.timeout));
        }
        // One that is older than the progress made since is stale. If nothing was sent since the last, the sender is
        // there already.
        let wanted = reply.meaning != Meaning::Acknowledgement && reply.cumulative == self.acknowledged;
        if wanted && self.next > self.acknowledged {
            self.next = self.acknowledged;
            self.deadline = None;
            progress.loss = Some(LossSignal::Detected);
        }
        progress
    }

    #[inline]
    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn on_deadline(&mut self, _now: Time) -> Progress {
        self.next = self.acknowledged;
        self.deadline = None;
        Progress { loss: Some(LossSignal::Timeout), ..Progress::default() }
    }

    #[inline]
    fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    #[inline]
    fn sent(&self) -> u64 {
        self.sent
    }

    /// After going back, what was sent before counts as lost.
    #[inline]
    fn in_flight(&self) -> u64 {
        self.next - self.acknowledged
    }
}

/// The destination's half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoBackNReceiver {
    nak_interval: Span,
    expected: u64,
    /// When the next NAK for the expected frame may be sent; `None`: at once.
    not_before: Option<Time>,
}

units::state!(struct GoBackNReceiver { fixed: nak_interval; plain: expected, not_before; });

impl GoBackNReceiver {
    /// Creates a receiver that repeats a NAK at that interval; [`Span::MAX`] is never.
    #[must_use]
    pub const fn new(nak_interval: Span) -> GoBackNReceiver {
        GoBackNReceiver { nak_interval, expected: 0, not_before: None }
    }

    fn missing(&mut self, now: Time) -> Response {
        if self.not_before.is_some_and(|time| now < time) {
            return Response::Silent;
        }
        self.not_before = Some(now.saturating_add(self.nak_interval));
        Response::Negative
    }
}

impl Receiver for GoBackNReceiver {
    #[inline]
    fn on_arrival(&mut self, now: Time, number: u64) -> (Arrival, Response) {
        if number == self.expected {
            self.expected += 1;
            self.not_before = None;
            return (Arrival::InOrder, Response::Delayed);
        }
        if number < self.expected {
            return (Arrival::Duplicate, Response::AtOnce);
        }
        (Arrival::Discarded, self.missing(now))
    }

    fn on_trimmed(&mut self, now: Time, number: u64) -> Response {
        if number < self.expected { Response::AtOnce } else { self.missing(now) }
    }

    #[inline]
    fn expected(&self) -> u64 {
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn reply(meaning: Meaning, cumulative: u64) -> Reply {
        Reply { meaning, cumulative, ..Reply::default() }
    }

    #[test]
    fn a_nak_goes_back_once_and_stale_replies_change_nothing() {
        let mut sender = GoBackNSender::new(Span::from_micros(100));
        (0..5).for_each(|n| sender.on_sent(at(n), n));
        assert_eq!((sender.deadline(), sender.in_flight()), (Some(at(100)), 5));
        let progress = sender.on_reply(at(10), &reply(Meaning::Negative, 2));
        assert_eq!((progress.arrived, progress.loss), (2, Some(LossSignal::Detected)));
        assert_eq!(sender.next(true), Next::Again { number: 2, windowed: true });
        assert_eq!(sender.deadline(), None);
        // The same NAK again, and an older acknowledgement.
        assert_eq!(sender.on_reply(at(11), &reply(Meaning::Negative, 2)).loss, None);
        assert_eq!(sender.on_reply(at(11), &reply(Meaning::Acknowledgement, 1)).arrived, 0);
        sender.on_sent(at(12), 2);
        assert_eq!((sender.deadline(), sender.in_flight()), (Some(at(112)), 1));
        // An acknowledgement beyond: the frames had arrived after all.
        sender.on_reply(at(13), &reply(Meaning::Acknowledgement, 5));
        assert_eq!((sender.next(true), sender.next(false), sender.deadline()), (Next::Fresh, Next::Nothing, None));
    }

    #[test]
    fn the_timer_restarts_with_progress_and_goes_back_without() {
        let mut sender = GoBackNSender::new(Span::from_micros(100));
        (0..3).for_each(|n| sender.on_sent(at(n), n));
        sender.on_reply(at(50), &reply(Meaning::Acknowledgement, 1));
        assert_eq!(sender.deadline(), Some(at(150)));
        sender.on_reply(at(60), &reply(Meaning::Acknowledgement, 1));
        assert_eq!(sender.deadline(), Some(at(150)));
        assert_eq!(sender.on_deadline(at(150)).loss, Some(LossSignal::Timeout));
        assert_eq!((sender.next(false), sender.in_flight()), (Next::Again { number: 1, windowed: true }, 0));
    }

    #[test]
    fn a_receiver_takes_frames_in_order_and_sends_one_nak_per_gap() {
        let mut receiver = GoBackNReceiver::new(Span::MAX);
        let mut arrive = |time, number| receiver.on_arrival(at(time), number);
        assert_eq!(arrive(0, 0), (Arrival::InOrder, Response::Delayed));
        assert_eq!(arrive(1, 2), (Arrival::Discarded, Response::Negative));
        assert_eq!(arrive(2, 3), (Arrival::Discarded, Response::Silent));
        assert_eq!(arrive(3, 0), (Arrival::Duplicate, Response::AtOnce));
        assert_eq!(arrive(4, 1), (Arrival::InOrder, Response::Delayed));
        assert_eq!(arrive(5, 3), (Arrival::Discarded, Response::Negative));
        assert_eq!(receiver.expected(), 2);
    }

    #[test]
    fn naks_are_repeated_if_an_interval_is_given() {
        let mut receiver = GoBackNReceiver::new(Span::from_micros(10));
        let mut arrive = |time, number| receiver.on_arrival(at(time), number).1;
        assert_eq!(arrive(0, 1), Response::Negative);
        assert_eq!(arrive(9, 2), Response::Silent);
        assert_eq!(arrive(10, 3), Response::Negative);
    }
}
