//! A flow at its destination: a receiver and the receiving points that reply for it.

use crate::custom::CustomReceivingPoint;
use crate::{Acknowledger, Arrival, Arrived, Notifier, Receiver, Receiving, Response, Say};
use units::Time;

/// States what a destination sends to the source of a flow, and when it wants to be called.
pub trait ReceivingPoint {
    /// A frame arrived; `response` is the reply that the flow's receiver wants.
    fn on_arrival(&mut self, now: Time, frame: &Arrived, response: Response);
    /// Returns what to send now, if anything. Called after every arrival and deadline until it returns `None`.
    fn next_reply(&mut self, now: Time, receiver: &Receiving) -> Option<Say>;
    /// Returns the time at which it requests a call of [`on_deadline`](Self::on_deadline), if any.
    fn deadline(&self) -> Option<Time>;
    /// The time stated by [`deadline`](Self::deadline) was reached.
    fn on_deadline(&mut self, now: Time);
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Sink {
    receiver: Receiving,
    acknowledger: Option<Acknowledger>,
    notifier: Option<Notifier>,
    other: Option<Box<dyn CustomReceivingPoint>>,
}

units::state!(struct Sink { parts: receiver, acknowledger, notifier, other; });

impl Sink {
    /// Returns whether a part of it is of another crate.
    #[must_use]
    pub fn is_custom(&self) -> bool {
        self.other.is_some()
    }

    /// Creates a sink that never replies.
    #[must_use]
    pub const fn new(receiver: Receiving) -> Sink {
        Sink { receiver, acknowledger: None, notifier: None, other: None }
    }

    /// Acknowledges frames.
    #[must_use]
    pub fn with_acknowledger(mut self, acknowledger: Acknowledger) -> Sink {
        self.acknowledger = Some(acknowledger);
        self
    }

    /// Answers marked frames by congestion notification packets.
    #[must_use]
    pub fn with_notifier(mut self, notifier: Notifier) -> Sink {
        self.notifier = Some(notifier);
        self
    }

    /// Adds a receiving point that is not built in.
    #[must_use]
    pub fn with_point(mut self, point: impl CustomReceivingPoint + 'static) -> Sink {
        self.other = Some(Box::new(point));
        self
    }

    /// A frame arrived; returns what became of it. Ask [`next_reply`](Self::next_reply) afterwards.
    #[inline]
    pub fn on_arrival(&mut self, now: Time, frame: &Arrived) -> Arrival {
        let (arrival, response) = match frame.trimmed {
            false => self.receiver.on_arrival(now, frame.number),
            true => (Arrival::Trimmed, self.receiver.on_trimmed(now, frame.number)),
        };
        if let Some(acknowledger) = &mut self.acknowledger {
            acknowledger.on_arrival(now, frame, response);
        }
        if let Some(notifier) = &mut self.notifier {
            notifier.on_arrival(now, frame, response);
        }
        if let Some(other) = &mut self.other {
            other.on_arrival(now, frame, response);
        }
        arrival
    }

    /// Returns what to send to the source now, if anything. Call it until it returns `None`.
    #[inline]
    pub fn next_reply(&mut self, now: Time) -> Option<Say> {
        if let Some(say) = self.acknowledger.as_mut().and_then(|point| point.next_reply(now, &self.receiver)) {
            return Some(say);
        }
        if let Some(say) = self.notifier.as_mut().and_then(|point| point.next_reply(now, &self.receiver)) {
            return Some(say);
        }
        self.other.as_mut().and_then(|point| point.next_reply(now, &self.receiver))
    }

    /// Returns the time at which it requests a call of [`on_deadline`](Self::on_deadline), if any.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let acknowledger = self.acknowledger.as_ref().and_then(ReceivingPoint::deadline);
        let other = self.other.as_ref().and_then(|point| point.deadline());
        acknowledger.into_iter().chain(other).min()
    }

    /// The time stated by [`deadline`](Self::deadline) was reached. Ask [`next_reply`](Self::next_reply) afterwards.
    pub fn on_deadline(&mut self, now: Time) {
        if let Some(point) = self.acknowledger.as_mut().filter(|point| point.deadline().is_some_and(|at| at <= now)) {
            point.on_deadline(now);
        }
        if let Some(point) = self.other.as_mut().filter(|point| point.deadline().is_some_and(|at| at <= now)) {
            point.on_deadline(now);
        }
    }

    /// Returns the number below which all frames have arrived.
    #[inline]
    #[must_use]
    pub fn expected(&self) -> u64 {
        self.receiver.expected()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Untracked;
    use units::Span;

    /// Permits a frame for every arrival, a microsecond later.
    #[derive(Clone, Debug, Default)]
    struct Permit {
        arrived: u64,
        said: u64,
        due: bool,
        at: Option<Time>,
    }

    impl ReceivingPoint for Permit {
        fn on_arrival(&mut self, now: Time, _frame: &Arrived, _response: Response) {
            self.arrived += 1;
            self.at = Some(now + Span::from_micros(1));
        }
        fn next_reply(&mut self, _now: Time, _receiver: &Receiving) -> Option<Say> {
            if !std::mem::take(&mut self.due) || self.said == self.arrived {
                return None;
            }
            self.said = self.arrived;
            Some(Say::Pull { total: self.said })
        }
        fn deadline(&self) -> Option<Time> {
            self.at
        }
        fn on_deadline(&mut self, _now: Time) {
            (self.at, self.due) = (None, true);
        }
    }

    #[test]
    fn a_point_of_another_crate_replies_beside_acknowledgements() {
        let receiver = Receiving::Untracked(Untracked::default());
        let mut sink = Sink::new(receiver).with_acknowledger(Acknowledger::every(1)).with_point(Permit::default());
        let mut copy = sink.clone();
        assert_eq!(sink.on_arrival(Time::ZERO, &Arrived::default()), Arrival::InOrder);
        assert!(matches!(sink.next_reply(Time::ZERO), Some(Say::Reply(_))));
        assert_eq!(sink.next_reply(Time::ZERO), None);
        let later = Time::ZERO + Span::from_micros(1);
        assert_eq!(sink.deadline(), Some(later));
        sink.on_deadline(later);
        assert_eq!(sink.next_reply(later), Some(Say::Pull { total: 1 }));
        assert_eq!((sink.next_reply(later), sink.deadline(), sink.expected()), (None, None, 1));
        assert_eq!((copy.next_reply(later), copy.expected()), (None, 0));
    }
}
