//! A source and a destination joined by two channels, one for data and one for replies; deterministic by its seed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tailback_transport::units::{Span, Stream, Time};
use tailback_transport::{
    Acknowledger, Arrived, LossSignal, Next, Progress, Receiving, Recovery, Reply, Say, Sender, Sending, Sink,
};

/// What a channel does to what is sent over it.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Time on the way.
    pub delay: Span,
    /// Up to that much more, drawn for each: the cause of reordering.
    pub jitter: Span,
    /// Probability of a loss.
    pub loss: f64,
    /// After a loss, everything sent within this time is lost, too.
    pub burst: Span,
    /// Probability of a second copy.
    pub duplication: f64,
    /// Probability that only the header of a frame arrives.
    pub trimming: f64,
}

impl Channel {
    /// A channel that only delays.
    pub fn of(delay: Span) -> Channel {
        Channel { delay, jitter: Span::ZERO, loss: 0.0, burst: Span::ZERO, duplication: 0.0, trimming: 0.0 }
    }

    /// The times at which copies of something sent at `now` arrive.
    fn carry(&self, now: Time, stream: &mut Stream) -> [Option<Time>; 2] {
        let mut copy = |probability: f64| {
            let jitter = stream.span_between(Span::ZERO, self.jitter);
            stream.bernoulli(probability).then(|| now + self.delay + jitter)
        };
        let first = copy(1.0 - self.loss);
        [first, copy(self.duplication)]
    }
}

/// Limits the frames in flight: fixed, or by congestion control.
pub trait Window {
    /// Frames that may be in flight.
    fn frames(&self) -> u64;
    /// The sender learned something.
    fn on_progress(&mut self, _progress: &Progress, _sender: &Sending) {}
}

/// A fixed window.
pub struct Fixed(pub u64);

impl Window for Fixed {
    fn frames(&self) -> u64 {
        self.0
    }
}

/// The set-up of a run.
pub struct Setup<W> {
    pub recovery: Recovery,
    pub acknowledger: Acknowledger,
    pub data: Channel,
    pub replies: Channel,
    /// Time that a frame occupies the source's link.
    pub frame_time: Span,
    pub window: W,
    /// Frames of the flow.
    pub frames: u64,
    pub seed: u64,
    /// The run is abandoned then.
    pub limit: Time,
}

/// What came out of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How often each frame was delivered.
    pub delivered: Vec<u32>,
    /// When everything was acknowledged; `None` if that did not happen.
    pub finished: Option<Time>,
    /// Transmissions, of which again.
    pub transmissions: u64,
    pub again: u64,
    pub duplicates: u64,
    pub losses_detected: u64,
    pub timeouts: u64,
    pub replies: u64,
}

impl Outcome {
    /// Whether each frame was delivered exactly once and the source knows.
    pub fn is_complete(&self) -> bool {
        self.finished.is_some() && self.delivered.iter().all(|&times| times == 1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Data { number: u64, stamp: Time, trimmed: bool },
    Reply(Reply),
}

/// Events in order of time, and of creation within an instant.
#[derive(Default)]
struct Agenda {
    heap: BinaryHeap<Reverse<(Time, u64, usize)>>,
    created: u64,
    /// Events by their place, and places that are free.
    events: Vec<Event>,
    free: Vec<usize>,
}

impl Agenda {
    fn add(&mut self, time: Time, event: Event) {
        let place = self.free.pop().unwrap_or(self.events.len());
        if place == self.events.len() {
            self.events.push(event);
        }
        self.events[place] = event;
        self.created += 1;
        self.heap.push(Reverse((time, self.created, place)));
    }

    fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((time, ..))| *time)
    }

    fn take(&mut self, now: Time) -> Option<Event> {
        if self.next()? > now {
            return None;
        }
        let Reverse((_, _, place)) = self.heap.pop()?;
        self.free.push(place);
        Some(self.events[place])
    }
}

/// Runs a flow to its end.
pub fn run<W: Window>(setup: &mut Setup<W>) -> Outcome {
    let mut sender = setup.recovery.sender.clone().expect("a recovery that retransmits");
    let receiver: Receiving = setup.recovery.receiver.clone();
    let mut sink = Sink::new(receiver).with_acknowledger(setup.acknowledger.clone());
    let mut outcome = Outcome { delivered: vec![0; setup.frames as usize], ..Outcome::default() };
    let mut agenda = Agenda::default();
    let mut data_stream = Stream::new(setup.seed, 0, "data");
    let mut reply_stream = Stream::new(setup.seed, 0, "replies");
    let (mut now, mut wire_free, mut lost_until) = (Time::ZERO, Time::ZERO, Time::ZERO);
    let count = |outcome: &mut Outcome, progress: &Progress| match progress.loss {
        Some(LossSignal::Detected) => outcome.losses_detected += 1,
        Some(LossSignal::Timeout) => outcome.timeouts += 1,
        None => {}
    };
    while now <= setup.limit {
        // Everything that happens at this instant, before the wire chooses.
        while let Some(event) = agenda.take(now) {
            match event {
                Event::Data { number, stamp, trimmed } => {
                    let last = number + 1 == setup.frames;
                    let frame = Arrived { number, stamp, trimmed, last, ..Arrived::default() };
                    let arrival = sink.on_arrival(now, &frame);
                    outcome.delivered[number as usize] += u32::from(arrival.is_fresh());
                    outcome.duplicates += u64::from(!arrival.is_fresh());
                }
                Event::Reply(reply) => {
                    let progress = sender.on_reply(now, &reply);
                    count(&mut outcome, &progress);
                    setup.window.on_progress(&progress, &sender);
                }
            }
            reply(&mut sink, now, setup, &mut agenda, &mut reply_stream, &mut outcome);
        }
        if sink.deadline().is_some_and(|deadline| deadline <= now) {
            sink.on_deadline(now);
            reply(&mut sink, now, setup, &mut agenda, &mut reply_stream, &mut outcome);
        }
        if sender.deadline().is_some_and(|deadline| deadline <= now) {
            let progress = sender.on_deadline(now);
            count(&mut outcome, &progress);
            setup.window.on_progress(&progress, &sender);
        }
        if sender.acknowledged() == setup.frames {
            outcome.finished = Some(now);
            break;
        }
        let mut blocked = true;
        if wire_free <= now {
            let open = sender.in_flight() < setup.window.frames();
            let chosen = match sender.next(sender.sent() < setup.frames) {
                Next::Nothing => None,
                Next::Fresh => open.then(|| sender.sent()),
                Next::Again { number, windowed } => (open || !windowed).then_some(number),
            };
            if let Some(number) = chosen {
                assert!(number < setup.frames, "a frame that does not exist");
                outcome.again += u64::from(number < sender.sent());
                outcome.transmissions += 1;
                sender.on_sent(now, number);
                wire_free = now + setup.frame_time;
                let copies = setup.data.carry(wire_free, &mut data_stream);
                let copies = if now < lost_until { [None; 2] } else { copies };
                if copies[0].is_none() && now >= lost_until {
                    lost_until = now + setup.data.burst;
                }
                for time in copies.into_iter().flatten() {
                    let trimmed = data_stream.bernoulli(setup.data.trimming);
                    agenda.add(time, Event::Data { number, stamp: now, trimmed });
                }
                blocked = false;
            }
        } else {
            blocked = false;
        }
        let wire = (!blocked).then_some(wire_free);
        let next = [agenda.next(), sender.deadline(), sink.deadline(), wire].into_iter().flatten().min();
        let Some(next) = next else { break };
        assert!(next >= now, "nothing is due in the past");
        now = next;
    }
    outcome
}

fn reply<W>(
    sink: &mut Sink,
    now: Time,
    setup: &Setup<W>,
    agenda: &mut Agenda,
    stream: &mut Stream,
    outcome: &mut Outcome,
) {
    while let Some(say) = sink.next_reply(now) {
        let Say::Reply(reply) = say else { panic!("{say:?}") };
        outcome.replies += 1;
        for time in setup.replies.carry(now, stream).into_iter().flatten() {
            agenda.add(time, Event::Reply(reply));
        }
    }
}
