//! Acknowledgements and NAKs: which arrivals cause one, and how long one may wait for further arrivals.

use crate::{Arrived, Meaning, Receiver, Receiving, ReceivingPoint, Reply, Response, Say};
use units::{Span, Time};

/// A receiving point that acknowledges frames: every so many, after a delay, and at once on a mark, the last frame, a
/// duplicate or a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledger {
    /// Frames per acknowledgement.
    every: u32,
    /// Longest time that a frame waits for its acknowledgement; `None`: without limit.
    delay: Option<Span>,
    /// Frames since the last reply.
    waiting: u32,
    /// Whether one of them was marked.
    marked: bool,
    /// What is due now.
    due: Option<Meaning>,
    /// The latest frame: its reply carries its number and time stamp.
    number: u64,
    stamp: Time,
    at: Time,
    deadline: Option<Time>,
}

units::state!(struct Acknowledger { fixed: every, delay; plain: waiting, marked, due, number, stamp, at, deadline; });

impl Acknowledger {
    /// Acknowledges every `every` frames; 0 counts as 1.
    #[must_use]
    pub const fn every(every: u32) -> Acknowledger {
        Acknowledger {
            every,
            delay: None,
            waiting: 0,
            marked: false,
            due: None,
            number: 0,
            stamp: Time::ZERO,
            at: Time::ZERO,
            deadline: None,
        }
    }

    /// Limits the time that a frame waits for its acknowledgement.
    #[must_use]
    pub const fn within(mut self, delay: Span) -> Acknowledger {
        self.delay = Some(delay);
        self
    }
}

impl ReceivingPoint for Acknowledger {
    #[inline]
    fn on_arrival(&mut self, now: Time, frame: &Arrived, response: Response) {
        let meaning = match response {
            Response::Silent => return,
            Response::Negative if frame.trimmed => Some(Meaning::Trimmed),
            Response::Negative => Some(Meaning::Negative),
            Response::AtOnce => Some(Meaning::Acknowledgement),
            Response::Delayed => {
                let full = self.waiting + 1 >= self.every || frame.marked || frame.last;
                full.then_some(Meaning::Acknowledgement)
            }
        };
        self.waiting += 1;
        self.marked |= frame.marked;
        (self.number, self.stamp, self.at) = (frame.number, frame.stamp, frame.at);
        if meaning.is_some() {
            self.due = meaning;
        } else if let (None, Some(delay)) = (self.deadline, self.delay) {
            self.deadline = Some(now.saturating_add(delay));
        }
    }

    #[inline]
    fn next_reply(&mut self, now: Time, receiver: &Receiving) -> Option<Say> {
        let meaning = self.due.take()?;
        let reply = Reply {
            meaning,
            cumulative: receiver.expected(),
            number: self.number,
            stamp: self.stamp,
            host_delay: now.saturating_since(self.at),
            marked: std::mem::take(&mut self.marked),
            blocks: receiver.blocks(),
        };
        self.waiting = 0;
        self.deadline = None;
        Some(Say::Reply(reply))
    }

    #[inline]
    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn on_deadline(&mut self, _now: Time) {
        self.deadline = None;
        self.due = Some(Meaning::Acknowledgement);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GoBackNReceiver, Sink};

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn sink(acknowledger: Acknowledger) -> Sink {
        Sink::new(Receiving::GoBackN(GoBackNReceiver::new(Span::MAX))).with_acknowledger(acknowledger)
    }

    /// Lets a frame arrive; returns the meaning and the cumulative number of the reply.
    fn arrive(sink: &mut Sink, time: u64, frame: Arrived) -> Option<(Meaning, u64)> {
        sink.on_arrival(at(time), &frame);
        let said = sink.next_reply(at(time));
        assert_eq!(sink.next_reply(at(time)), None);
        said.map(|say| match say {
            Say::Reply(reply) => (reply.meaning, reply.cumulative),
            other => panic!("{other:?}"),
        })
    }

    fn frame(number: u64) -> Arrived {
        Arrived { number, ..Arrived::default() }
    }

    #[test]
    fn every_few_frames_and_at_once_on_a_mark_the_last_or_a_duplicate() {
        let mut sink = sink(Acknowledger::every(3));
        let acknowledged = |number| Some((Meaning::Acknowledgement, number));
        assert_eq!(arrive(&mut sink, 0, frame(0)), None);
        assert_eq!(arrive(&mut sink, 0, frame(1)), None);
        assert_eq!(arrive(&mut sink, 0, frame(2)), acknowledged(3));
        assert_eq!(arrive(&mut sink, 0, Arrived { marked: true, ..frame(3) }), acknowledged(4));
        assert_eq!(arrive(&mut sink, 0, frame(4)), None);
        assert_eq!(arrive(&mut sink, 0, Arrived { last: true, ..frame(5) }), acknowledged(6));
        assert_eq!(arrive(&mut sink, 0, frame(5)), acknowledged(6));
    }

    #[test]
    fn a_gap_is_answered_by_a_nak_at_once() {
        let mut sink = sink(Acknowledger::every(10));
        assert_eq!(arrive(&mut sink, 0, frame(0)), None);
        assert_eq!(arrive(&mut sink, 0, frame(2)), Some((Meaning::Negative, 1)));
        assert_eq!(arrive(&mut sink, 0, frame(3)), None);
        let trimmed = Arrived { trimmed: true, ..frame(1) };
        assert_eq!(arrive(&mut sink, 0, trimmed), None);
    }

    #[test]
    fn a_trimmed_frame_is_reported_and_not_delivered() {
        let mut sink = sink(Acknowledger::every(10));
        let trimmed = Arrived { trimmed: true, ..frame(0) };
        assert_eq!(arrive(&mut sink, 0, trimmed), Some((Meaning::Trimmed, 0)));
        assert_eq!(arrive(&mut sink, 0, frame(0)), None);
        // The header of a copy tells nothing of a loss: what it belongs to has arrived.
        assert_eq!(arrive(&mut sink, 0, trimmed), Some((Meaning::Acknowledgement, 1)));
    }

    #[test]
    fn an_acknowledgement_waits_no_longer_than_the_delay() {
        let mut sink = sink(Acknowledger::every(4).within(Span::from_micros(7)));
        assert_eq!(arrive(&mut sink, 0, frame(0)), None);
        assert_eq!(arrive(&mut sink, 5, Arrived { at: at(4), ..frame(1) }), None);
        assert_eq!(sink.deadline(), Some(at(7)));
        sink.on_deadline(at(7));
        let Some(Say::Reply(reply)) = sink.next_reply(at(7)) else { panic!("it is due") };
        assert_eq!((reply.cumulative, reply.number, sink.deadline()), (2, 1, None));
        assert_eq!(reply.host_delay, Span::from_micros(3));
        // An acknowledgement in time stops the timer.
        assert_eq!(arrive(&mut sink, 8, frame(2)), None);
        assert_eq!(arrive(&mut sink, 9, Arrived { last: true, ..frame(3) }), Some((Meaning::Acknowledgement, 4)));
        assert_eq!(sink.deadline(), None);
    }

    #[test]
    fn a_mark_is_echoed_once() {
        let mut sink = sink(Acknowledger::every(1));
        let mut marked = |number, marked| {
            sink.on_arrival(at(0), &Arrived { marked, ..frame(number) });
            matches!(sink.next_reply(at(0)), Some(Say::Reply(Reply { marked: true, .. })))
        };
        assert_eq!([marked(0, false), marked(1, true), marked(2, false)], [false, true, false]);
    }
}
