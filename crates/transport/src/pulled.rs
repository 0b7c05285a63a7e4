//! The source's half of a receiver-driven transport: what it may send is the business of its destination.
//!
//! A flow may send its first window; each further frame needs the permission of a pull. A permission goes to the lowest
//! frame that has to be retransmitted, or else to a fresh one. A frame has to be retransmitted if the destination got only its
//! header, or if nothing is heard of it within a timeout. Frames take different paths, so one that is overtaken is not
//! lost. Only frames in the network run a timer: one that waits for permission does not.
//!
//! A switch may return a header that it has no room for. Its frame is retransmitted, too; with a pull if one is due, without
//! one if no other frame is in the network.
//!
//! What was lost with its header has asked for nothing. So, where the destination permits a frame per arrival, a frame
//! that timed out goes without permission. Where the source announces what it wants, it announces it again, by the header
//! of the frame alone: a request to send. The same follows if nothing is in the network and no pull has come for eight
//! timeouts, as after the loss of the last pull.
//!
//! A source that learns from acknowledgements below which number all frames have arrived, and no more, retransmits those above
//! a gap that time out. Its timeout follows the time to an answer, which includes the wait for the gap.
//!
//! A control with a window uses the same transport without pulls, for frames that take different paths: then every frame
//! may go that its window has room for, those to be retransmitted first.

use crate::bitmap::Bitmap;
use crate::{
    EarlyReply, LossSignal, Meaning, Next, Progress, Receiving, Recovery, ReorderingReceiver, Reply, Sender, Sending,
};
use congestion::parameter::Invalid;
use congestion::{Adapter, Demand, Learns, Pulling};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{Span, Time};

/// Both halves of the transport of a receiver-driven control.
#[must_use]
pub fn pulled(pulling: &Pulling) -> Recovery {
    Recovery {
        sender: Some(Sending::Pulled(Box::new(PulledSender::new(*pulling)))),
        receiver: Receiving::Reordering(ReorderingReceiver::new(EarlyReply::Duplicate)),
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct PulledSender {
    pulling: Pulling,
    /// Frames of the first window, and the most that it announces in advance.
    window: u64,
    /// Frames of the first window that are left.
    unsolicited: u64,
    /// Frames permitted and not sent.
    permitted: u64,
    /// Frames permitted in all.
    total: u64,
    /// All frames below are known to have arrived.
    acknowledged: u64,
    sent: u64,
    /// Frames above `acknowledged` that are known to have arrived, and how many they are.
    arrived: Bitmap,
    above: u64,
    /// Frames to retransmit, and how many of them need no permission.
    again: BTreeSet<u64>,
    urgent: u64,
    /// Frames in the network, and when each started.
    started: BTreeMap<u64, Time>,
    /// The same in order of time. Entries that `started` does not confirm are void; the first one is not.
    order: VecDeque<(Time, u64)>,
    /// Frames that the destination is known to have heard of, whole or by their headers: each is good for a pull.
    replies: u64,
    /// When it last sent or heard anything.
    heard: Time,
    /// Frames that it has announced in all, and whether it has to announce them again.
    announced: u64,
    ask: bool,
    /// When it last asked.
    asked: Time,
    /// Mean time to an answer and its mean deviation, if the timeout follows them.
    mean: Span,
    deviation: Span,
}

units::state!(struct PulledSender { fixed: pulling, window; plain: unsolicited, permitted, total, acknowledged, sent, arrived, above, again, urgent, started, order, replies, heard, announced, ask, asked, mean, deviation; });

/// Timeouts without a pull after which a source with nothing in the network asks again.
const PATIENCE: u64 = 8;

impl PulledSender {
    /// Creates a sender.
    #[must_use]
    pub fn new(pulling: Pulling) -> PulledSender {
        PulledSender {
            pulling,
            window: 0,
            unsolicited: 0,
            permitted: 0,
            total: 0,
            acknowledged: 0,
            sent: 0,
            arrived: Bitmap::default(),
            above: 0,
            again: BTreeSet::new(),
            urgent: 0,
            started: BTreeMap::new(),
            order: VecDeque::new(),
            replies: 0,
            heard: Time::ZERO,
            announced: 0,
            ask: false,
            asked: Time::ZERO,
            mean: pulling.timeout,
            deviation: Span::ZERO,
        }
    }

    /// Frames that it wants to be permitted in all, if it has so many that were never sent.
    fn wanted(&self, fresh: u64) -> u64 {
        let backlog = fresh.saturating_add(self.again.len() as u64).min(self.window);
        (self.total - self.permitted + backlog).saturating_sub(self.unsolicited)
    }

    fn waits(&self) -> bool {
        self.started.is_empty() && !self.again.is_empty() && self.urgent == 0 && !self.may_send()
    }

    fn may_send(&self) -> bool {
        self.pulling.demand == Demand::Nothing || self.unsolicited + self.permitted > 0
    }

    /// An answer for a frame that started at that time.
    fn measure(&mut self, now: Time, started: Time) {
        if self.pulling.learns == Learns::Frames {
            return;
        }
        let sample = now.saturating_since(started);
        let away = if sample > self.mean { sample - self.mean } else { self.mean - sample };
        let part = |span: Span, of: u64| Span::from_picos(span.as_picos() / of);
        self.deviation = self.deviation - part(self.deviation, 4) + part(away, 4);
        self.mean = self.mean - part(self.mean, 8) + part(sample, 8);
    }

    /// Time after which a frame counts as lost.
    fn timeout(&self) -> Span {
        match self.pulling.learns {
            Learns::Frames => self.pulling.timeout,
            Learns::Prefix => self.pulling.timeout.max(self.mean + self.deviation * 4),
        }
    }

    /// A frame has arrived; returns whether that is news.
    fn on_arrived(&mut self, number: u64) -> bool {
        if number < self.acknowledged || number >= self.sent || !self.arrived.insert(number) {
            return false;
        }
        self.above += 1;
        self.forget(number);
        true
    }

    fn on_cumulative(&mut self, now: Time, number: u64) -> u64 {
        let number = number.min(self.sent);
        if number <= self.acknowledged {
            return 0;
        }
        let known = if self.above > 0 { self.arrived.count(self.acknowledged, number) } else { 0 };
        while let Some((first, at)) = self.started.first_key_value().map(|(&first, &at)| (first, at))
            && first < number
        {
            self.started.remove(&first);
            self.measure(now, at);
        }
        while self.again.first().is_some_and(|&first| first < number) {
            self.again.pop_first();
        }
        let news = number - self.acknowledged - known;
        self.above -= known;
        self.acknowledged = number;
        self.arrived.drop_below(number);
        self.urgent = self.urgent.min(self.again.len() as u64);
        news
    }

    fn forget(&mut self, number: u64) {
        self.started.remove(&number);
        if self.again.remove(&number) {
            self.urgent = self.urgent.min(self.again.len() as u64);
        }
    }

    /// The destination may not know of a frame: it has to hear of it again.
    fn repeat(&mut self) {
        match self.pulling.demand {
            Demand::Arrivals => self.urgent += 1,
            Demand::Announced => self.ask = true,
            Demand::Nothing => {}
        }
    }

    /// Restores what `order` promises.
    fn settle(&mut self) {
        while self.order.front().is_some_and(|&(at, number)| self.started.get(&number) != Some(&at)) {
            self.order.pop_front();
        }
    }
}

impl Sender for PulledSender {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        self.window = self.pulling.first_window(adapter);
        self.unsolicited = self.window;
        Ok(())
    }

    fn next(&self, fresh: bool) -> Next {
        match self.again.first() {
            Some(&number) if self.urgent > 0 || self.may_send() => {
                Next::Again { number, windowed: self.pulling.demand == Demand::Nothing }
            }
            None if fresh && self.may_send() => Next::Fresh,
            _ => Next::Nothing,
        }
    }

    fn on_sent(&mut self, now: Time, number: u64) {
        if self.again.remove(&number) && self.urgent > 0 {
            self.urgent -= 1;
        } else if self.permitted > 0 {
            self.permitted -= 1;
        } else {
            self.unsolicited = self.unsolicited.saturating_sub(1);
        }
        self.sent = self.sent.max(number + 1);
        self.started.insert(number, now);
        self.order.push_back((now, number));
        self.heard = now;
    }

    fn announce(&mut self, fresh: u64) -> Option<u64> {
        if self.pulling.demand != Demand::Announced {
            return None;
        }
        self.announced = self.announced.max(self.wanted(fresh));
        Some(self.announced)
    }

    fn request(&mut self, now: Time, fresh: u64) -> Option<u64> {
        if self.pulling.demand != Demand::Announced || self.may_send() {
            return None;
        }
        let number = match self.again.first() {
            Some(&number) => number,
            None if fresh > 0 => self.sent,
            None => return None,
        };
        // One that asks by its timeouts asks once in the time to an answer.
        let soon = self.pulling.learns == Learns::Prefix && self.asked > Time::ZERO;
        if soon && now < self.asked.saturating_add(self.mean) {
            self.ask = false;
            return None;
        }
        let unknown = self.started.is_empty() && self.wanted(fresh) > self.announced;
        if !std::mem::take(&mut self.ask) && !unknown {
            return None;
        }
        self.heard = now;
        self.asked = now;
        Some(number)
    }

    fn on_reply(&mut self, now: Time, reply: &Reply) -> Progress {
        let mut progress = Progress { round_trip: Some(now.saturating_since(reply.stamp)), ..Progress::default() };
        self.heard = now;
        if self.pulling.demand == Demand::Announced {
            self.unsolicited = 0;
        }
        progress.arrived = self.on_cumulative(now, reply.cumulative);
        let selective = self.pulling.learns == Learns::Frames;
        for block in reply.blocks.as_slice().iter().filter(|_| selective) {
            progress.arrived += (block.start..block.end.min(self.sent)).filter(|&n| self.on_arrived(n)).count() as u64;
        }
        match reply.meaning {
            Meaning::Trimmed => {
                let known = reply.number < self.acknowledged || self.arrived.contains(reply.number);
                if !known && let Some(at) = self.started.remove(&reply.number) {
                    self.measure(now, at);
                    self.again.insert(reply.number);
                    progress.loss = Some(LossSignal::Detected);
                }
            }
            Meaning::Acknowledgement | Meaning::Negative => {
                progress.arrived += u64::from(selective && self.on_arrived(reply.number));
            }
        }
        self.replies += progress.arrived + u64::from(progress.loss.is_some());
        self.settle();
        progress
    }

    fn on_grant(&mut self, frames: u64) {
        self.permitted += frames;
        self.total += frames;
    }

    fn on_returned(&mut self, now: Time, number: u64) {
        self.heard = now;
        let known = number < self.acknowledged || self.arrived.contains(number);
        if !known && self.started.remove(&number).is_some() {
            self.again.insert(number);
        }
        self.settle();
        // If no other frame of the flow can cause a pull, this one has to, without one.
        if self.started.is_empty() && self.urgent == 0 && self.replies <= self.total && !self.again.is_empty() {
            self.repeat();
        }
    }

    fn deadline(&self) -> Option<Time> {
        match self.order.front() {
            Some(&(at, _)) => Some(at.saturating_add(self.timeout())),
            None => self.waits().then(|| self.heard.saturating_add(self.pulling.timeout * PATIENCE)),
        }
    }

    fn on_deadline(&mut self, now: Time) -> Progress {
        let timeout = self.timeout();
        while let Some(&(at, number)) = self.order.front().filter(|(at, _)| at.saturating_add(timeout) <= now) {
            self.order.pop_front();
            if self.started.get(&number) == Some(&at) {
                self.started.remove(&number);
                self.again.insert(number);
                self.repeat();
            }
        }
        self.settle();
        if self.waits() && self.heard.saturating_add(self.pulling.timeout * PATIENCE) <= now {
            self.repeat();
            self.heard = now;
        }
        Progress { loss: Some(LossSignal::Timeout), ..Progress::default() }
    }

    fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    fn sent(&self) -> u64 {
        self.sent
    }

    fn in_flight(&self) -> u64 {
        self.started.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use congestion::FirstWindow;
    use units::{Bytes, Rate};

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// A sender whose first window is three frames, all sent.
    fn sender() -> PulledSender {
        first_window(Demand::Arrivals)
    }

    fn first_window(demand: Demand) -> PulledSender {
        let timeout = Span::from_micros(100);
        let (window, learns) = (FirstWindow::Frames(3), Learns::Frames);
        let pulling = Pulling { window, rate: 1.0, frames: 1, timeout, demand, advance: 0, learns };
        let mut sender = PulledSender::new(pulling);
        sender.attach(&Adapter::of(Rate::from_gigabits(100), Bytes::new(9000))).unwrap();
        for number in 0..3 {
            assert_eq!(sender.next(true), Next::Fresh);
            sender.on_sent(at(number), number);
        }
        assert_eq!((sender.next(true), sender.in_flight()), (Next::Nothing, 3));
        sender
    }

    fn trimmed(number: u64) -> Reply {
        Reply { meaning: Meaning::Trimmed, number, ..Reply::default() }
    }

    fn again(number: u64) -> Next {
        Next::Again { number, windowed: false }
    }

    #[test]
    fn a_permission_goes_to_a_trimmed_frame_first_then_to_a_fresh_one() {
        let mut sender = sender();
        assert_eq!(sender.on_reply(at(10), &trimmed(2)).loss, Some(LossSignal::Detected));
        sender.on_reply(at(10), &trimmed(1));
        assert_eq!((sender.next(true), sender.in_flight()), (Next::Nothing, 1));
        sender.on_grant(3);
        for number in [1, 2] {
            assert_eq!(sender.next(true), again(number));
            sender.on_sent(at(11), number);
        }
        assert_eq!(sender.next(true), Next::Fresh);
        sender.on_sent(at(12), 3);
        assert_eq!((sender.next(true), sender.sent(), sender.in_flight()), (Next::Nothing, 4, 4));
    }

    #[test]
    fn a_frame_that_is_overtaken_is_not_lost() {
        let mut sender = sender();
        let reply = Reply { number: 2, ..Reply::default() };
        let progress = sender.on_reply(at(10), &reply);
        assert_eq!((progress.arrived, progress.loss, sender.on_reply(at(10), &reply).arrived), (1, None, 0));
        sender.on_grant(1);
        assert_eq!((sender.next(false), sender.acknowledged()), (Next::Nothing, 0));
        let progress = sender.on_reply(at(11), &Reply { cumulative: 3, number: 0, ..Reply::default() });
        assert_eq!((progress.arrived, sender.acknowledged(), sender.in_flight()), (2, 3, 0));
        assert_eq!(sender.deadline(), None);
    }

    #[test]
    fn what_nothing_is_heard_of_goes_again_without_permission_and_what_waits_for_it_has_no_timer() {
        let mut sender = sender();
        sender.on_reply(at(10), &trimmed(0));
        assert_eq!(sender.deadline(), Some(at(101)));
        sender.on_reply(at(11), &Reply { number: 2, ..Reply::default() });
        assert_eq!(sender.on_deadline(at(101)).loss, Some(LossSignal::Timeout));
        // One of the two may go: the lower.
        assert_eq!((sender.deadline(), sender.next(true)), (None, again(0)));
        sender.on_sent(at(102), 0);
        assert_eq!((sender.next(true), sender.deadline()), (Next::Nothing, Some(at(202))));
        sender.on_grant(1);
        assert_eq!(sender.next(true), again(1));
    }

    #[test]
    fn a_source_that_waits_in_vain_for_a_pull_sends_a_frame_without_one() {
        let mut sender = sender();
        (0..3).for_each(|number| assert!(sender.on_reply(at(10), &trimmed(number)).loss.is_some()));
        assert_eq!((sender.next(true), sender.deadline()), (Next::Nothing, Some(at(810))));
        sender.on_deadline(at(810));
        assert_eq!((sender.next(true), sender.deadline()), (again(0), None));
        sender.on_sent(at(811), 0);
        assert_eq!((sender.next(true), sender.deadline()), (Next::Nothing, Some(at(911))));
    }

    #[test]
    fn what_is_announced_is_what_the_source_has_beyond_its_permission() {
        let mut sender = first_window(Demand::Announced);
        // Nothing is left of the first window; at most as much is announced.
        assert_eq!((sender.announce(0), sender.announce(2), sender.announce(9)), (Some(0), Some(2), Some(3)));
        sender.on_grant(2);
        sender.on_reply(at(10), &trimmed(1));
        assert_eq!(sender.next(true), again(1));
        sender.on_sent(at(10), 1);
        // One of two permissions is used: one frame sent by permission, and three more wanted.
        assert_eq!((sender.announce(9), sender.announce(1), sender.next(true)), (Some(4), Some(4), Next::Fresh));
        assert_eq!((sender.request(at(11), 9), first_window(Demand::Arrivals).announce(9)), (None, None));
    }

    #[test]
    fn a_source_that_learns_no_more_than_a_number_repeats_what_arrived_above_a_gap() {
        let mut sender = first_window(Demand::Announced);
        sender.pulling.learns = Learns::Prefix;
        sender.on_reply(at(10), &trimmed(0));
        assert_eq!(sender.on_reply(at(11), &Reply { number: 2, ..Reply::default() }).arrived, 0);
        // The mean starts at the timeout of 100 us. A sample of 10 us: 100 - 12.5 + 1.25, and a deviation of 90 / 4.
        let mean = Span::from_nanos(88_750);
        assert_eq!((sender.mean, sender.deviation), (mean, Span::from_nanos(22_500)));
        assert_eq!(sender.deadline(), Some(at(1) + mean + Span::from_micros(90)));
        // Frame 1 and, one microsecond later, frame 2, which has arrived.
        sender.on_deadline(at(181));
        assert_eq!((sender.again.len(), sender.in_flight()), (3, 0));
        assert_eq!(sender.request(at(181), 0), Some(0));
        // It asks once in the mean time to an answer.
        sender.ask = true;
        assert_eq!(sender.request(at(200), 0), None);
        sender.ask = true;
        assert_eq!(sender.request(at(270), 0), Some(0));
        assert_eq!(sender.on_reply(at(280), &Reply { cumulative: 3, number: 0, ..Reply::default() }).arrived, 3);
        assert_eq!((sender.again.len(), sender.deadline()), (0, None));
    }

    #[test]
    fn a_source_without_permission_requests_to_send_what_its_destination_cannot_know_of() {
        let mut sender = first_window(Demand::Announced);
        // Frames in the network tell what is wanted.
        assert_eq!((sender.announce(0), sender.request(at(3), 5)), (Some(0), None));
        sender.on_reply(at(10), &Reply { cumulative: 3, number: 2, ..Reply::default() });
        // The source has something new to send: the header of the next frame announces it, once.
        assert_eq!((sender.request(at(20), 5), sender.announce(5)), (Some(3), Some(3)));
        assert_eq!((sender.request(at(21), 5), sender.next(true)), (None, Next::Nothing));
        sender.on_grant(1);
        assert_eq!(sender.next(true), Next::Fresh);
        sender.on_sent(at(30), 3);
        // A frame that is lost with its header.
        assert_eq!(sender.on_deadline(at(130)).loss, Some(LossSignal::Timeout));
        assert_eq!((sender.next(true), sender.request(at(130), 4)), (Next::Nothing, Some(3)));
    }

    #[test]
    fn the_rest_of_a_speculative_window_is_void_after_the_first_reply() {
        let mut sender = first_window(Demand::Announced);
        sender.unsolicited = 2;
        assert_eq!((sender.next(true), sender.announce(9)), (Next::Fresh, Some(1)));
        sender.on_reply(at(10), &Reply { cumulative: 1, number: 0, ..Reply::default() });
        assert_eq!((sender.next(true), sender.announce(9)), (Next::Nothing, Some(3)));
    }

    #[test]
    fn of_frames_that_came_back_one_goes_again_if_no_other_calls_for_it() {
        let mut sender = sender();
        sender.on_returned(at(5), 0);
        sender.on_returned(at(6), 2);
        // Of the third its destination may hear.
        assert_eq!((sender.next(true), sender.in_flight()), (Next::Nothing, 1));
        let mut other = sender.clone();
        sender.on_returned(at(7), 1);
        assert_eq!(sender.next(true), again(0));
        sender.on_sent(at(8), 0);
        assert_eq!((sender.next(true), sender.in_flight()), (Next::Nothing, 1));
        // A header that arrived calls for a pull, which is on its way.
        other.on_reply(at(7), &trimmed(1));
        assert_eq!(other.next(true), Next::Nothing);
        other.on_grant(1);
        assert_eq!(other.next(true), again(0));
        other.on_sent(at(8), 0);
        other.on_returned(at(9), 0);
        assert_eq!(other.next(true), again(0), "its pull is used up");
        // Of one that has arrived nothing is to be retransmitted.
        other.on_reply(at(10), &Reply { number: 2, ..Reply::default() });
        let before = other.clone();
        other.on_returned(at(10), 2);
        assert_eq!(other.again, before.again);
    }

    #[test]
    fn without_pulls_a_window_limits_what_is_fresh_and_what_is_sent_again() {
        let pulling = Pulling { demand: Demand::Nothing, ..sender().pulling };
        let mut sender = PulledSender::new(pulling);
        sender.attach(&Adapter::of(Rate::from_gigabits(100), Bytes::new(9000))).unwrap();
        for number in 0..5 {
            assert_eq!(sender.next(true), Next::Fresh);
            sender.on_sent(at(number), number);
        }
        // Overtaken is not lost, and of a trimmed frame it is known at once.
        sender.on_reply(at(10), &Reply { number: 4, ..Reply::default() });
        assert_eq!(sender.on_reply(at(10), &trimmed(2)).loss, Some(LossSignal::Detected));
        assert_eq!((sender.next(true), sender.in_flight()), (Next::Again { number: 2, windowed: true }, 3));
        sender.on_sent(at(11), 2);
        assert_eq!((sender.next(true), sender.deadline()), (Next::Fresh, Some(at(100))));
        sender.on_deadline(at(101));
        assert_eq!((sender.next(true), sender.in_flight()), (Next::Again { number: 0, windowed: true }, 2));
        assert_eq!((sender.announce(9), sender.request(at(101), 9)), (None, None));
    }

    #[test]
    fn a_late_report_of_a_frame_that_has_arrived_changes_nothing() {
        let mut sender = sender();
        sender.on_reply(at(10), &Reply { cumulative: 1, number: 0, ..Reply::default() });
        sender.on_reply(at(10), &Reply { cumulative: 1, number: 2, ..Reply::default() });
        let before = sender.clone();
        for number in [0, 2, 7] {
            sender.on_reply(at(10), &trimmed(number));
        }
        assert_eq!(sender, before);
    }
}
