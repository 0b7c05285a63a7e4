//! Laws that hold for every control of today: rates stay within bounds under any feedback, an idle path is used in full,
//! and equal flows have equal shares where the papers say so.
//!
//! Shares are measured on the smallest network there is: sources, one queue and one link, in steps of a frame time.

use crate::parameter::{Value, Values};
use crate::{Adapter, Feedback, LossSignal, PROTOCOLS, PathReport, ProtocolInfo, Reaction, ReactionPoint, Stamp};
use proptest::prelude::*;
use std::collections::VecDeque;
use units::{Bytes, Rate, Span, Stream, Time};

const CONTROLS: [&str; 11] = [
    "dcqcn",
    "dctcp",
    "newreno",
    "cubic",
    "timely",
    "patched-timely",
    "swift",
    "hpcc",
    "powertcp",
    "theta-powertcp",
    "nscc",
];
const LINK: Rate = Rate::from_gigabits(10);
const FRAME: Bytes = Bytes::new(1000);
/// A frame of 1000 B at 10 Gb/s.
const STEP: Span = Span::from_nanos(800);
/// Ten frames of the link.
const SHORT: Span = Span::from_micros(8);
/// Fifty: windows of two flows in whole frames then differ little.
const LONG: Span = Span::from_micros(40);

fn info(name: &str) -> &'static ProtocolInfo {
    PROTOCOLS.iter().find(|info| info.name == name).unwrap()
}

fn built(name: &str, set: &[(&'static str, Value)], flow: u32) -> Reaction {
    built_for(name, set, flow, SHORT)
}

fn built_for(name: &str, set: &[(&'static str, Value)], flow: u32, round_trip: Span) -> Reaction {
    let mut values = Values::defaults(info(name).parameters);
    set.iter().for_each(|(name, value)| values.set(name, value.clone()));
    let mut reaction = (info(name).build)(&values).unwrap();
    let adapter = Adapter { flow, round_trip, ..Adapter::of(LINK, FRAME) };
    reaction.attach(&adapter).unwrap();
    reaction
}

/// Bits per second that a source may send, by its rate and by its window.
fn rate(reaction: &Reaction, round_trip: f64) -> f64 {
    let allowance = reaction.allowance();
    let link = LINK.as_bits_per_sec() as f64;
    let paced = allowance.rate.map_or(link, |rate| rate.as_bits_per_sec() as f64);
    allowance.window.map_or(paced, |window| paced.min(window.bits() as f64 / round_trip)).min(link)
}

#[derive(Clone, Debug)]
enum Event {
    Acknowledgement { marked: bool, micros: u64, queue: u64, bytes: u64 },
    Notification,
    Loss,
    Timeout,
    Trimmed,
    Wait(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let acknowledgement = (any::<bool>(), 1_u64..3000, 0_u64..2_000_000, 0_u64..20_000)
        .prop_map(|(marked, micros, queue, bytes)| Event::Acknowledgement { marked, micros, queue, bytes });
    let other = prop_oneof![
        Just(Event::Notification),
        Just(Event::Loss),
        Just(Event::Timeout),
        Just(Event::Trimmed),
        (1_u64..5000).prop_map(Event::Wait)
    ];
    prop_oneof![4 => acknowledgement, 1 => other]
}

/// Gives a source everything that its deadlines ask for until that time.
fn until(reaction: &mut Reaction, now: Time) {
    while let Some(due) = reaction.deadline().filter(|due| *due <= now) {
        reaction.on_deadline(due);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn rates_stay_within_bounds_under_any_feedback(events in prop::collection::vec(event(), 1..300), which in 0..CONTROLS.len()) {
        let name = CONTROLS[which];
        let floor = Values::defaults(info(name).parameters).maybe_rate("min_rate");
        let mut reaction = built(name, &[], 0);
        let (mut now, mut acknowledged, mut sent) = (Time::ZERO + Span::from_micros(1), 0, 0);
        for event in events {
            now += Span::from_micros(3);
            until(&mut reaction, now);
            reaction.on_sent(now, FRAME);
            sent += 1000;
            match event {
                Event::Acknowledgement { marked, micros, queue, bytes } => {
                    acknowledged = (acknowledged + bytes).min(sent);
                    let stamp = Stamp { at: now, queue: Bytes::new(queue), sent: Bytes::new(sent), rate: LINK };
                    reaction.on_telemetry(now, &[stamp]);
                    let path = PathReport {
                        network_round_trip: Span::from_micros(micros),
                        host_delay: Span::from_micros(micros / 3),
                        hops: 2,
                        acknowledged: Bytes::new(acknowledged),
                        sent: Bytes::new(sent),
                    };
                    let round_trip = Span::from_micros(micros + 5);
                    let feedback = Feedback::Acknowledgement { bytes: Bytes::new(bytes), marked, round_trip, path };
                    reaction.on_feedback(now, &feedback);
                }
                Event::Notification => reaction.on_feedback(now, &Feedback::CongestionNotification),
                Event::Loss => reaction.on_loss(now, LossSignal::Detected),
                Event::Timeout => reaction.on_loss(now, LossSignal::Timeout),
                Event::Trimmed => reaction.on_trimmed(now, FRAME),
                Event::Wait(micros) => now += Span::from_micros(micros),
            }
            let allowance = reaction.allowance();
            if let Some(rate) = allowance.rate {
                prop_assert!(rate <= LINK, "{name}: {rate}");
                // To the bit below: rates are whole.
                let least = floor.map_or(1, |floor| floor.as_bits_per_sec() - 1);
                prop_assert!(rate.as_bits_per_sec() >= least, "{name}: {rate}");
            }
            prop_assert!(allowance.window.is_none_or(|window| window > Bytes::ZERO), "{name}: {allowance:?}");
        }
    }
}

/// A frame in the queue: its source, and when it was sent.
struct Waiting {
    source: usize,
    since: u64,
}

/// What an acknowledgement brings back, and when.
struct Reply {
    at: u64,
    source: usize,
    since: u64,
    marked: bool,
    stamp: Stamp,
}

/// The probability of a mark at a queue of so many frames.
type Marks = fn(f64) -> f64;

const NONE: Marks = |_| 0.0;
/// From 5 to 200 frames up to a twentieth.
const RAMP: Marks = |length| (0.05 * (length - 5.0) / 195.0).clamp(0.0, 1.0);
const STEP_MARKS: Marks = |length| if length > 20.0 { 1.0 } else { 0.0 };

/// Sources that share one link: the mean rate of each, over the last quarter of so many milliseconds.
fn shares(sources: &mut [Reaction], millis: u64, round_trip: Span, marks: Marks) -> Vec<f64> {
    let steps = millis * 1_000_000 / 800;
    let trip = round_trip.as_picos() / STEP.as_picos();
    let count = sources.len();
    let (mut queue, mut replies) = (VecDeque::<Waiting>::new(), VecDeque::<Reply>::new());
    let (mut credit, mut sent, mut acknowledged, mut delivered) =
        (vec![0.0; count], vec![0_u64; count], vec![0_u64; count], vec![0_u64; count]);
    let (mut noticed, mut left) = (vec![0_u64; count], 0_u64);
    let mut stream = Stream::new(1, 0, "marks");
    for step in 0..steps {
        let now = Time::ZERO + Span::from_picos(step * STEP.as_picos());
        while replies.front().is_some_and(|reply| reply.at <= step) {
            let reply = replies.pop_front().unwrap();
            let source = &mut sources[reply.source];
            acknowledged[reply.source] += 1000;
            let measured = Span::from_picos((step - reply.since) * STEP.as_picos());
            let path = PathReport {
                network_round_trip: measured,
                host_delay: Span::ZERO,
                hops: 2,
                acknowledged: Bytes::new(acknowledged[reply.source]),
                sent: Bytes::new(sent[reply.source]),
            };
            source.on_telemetry(now, &[reply.stamp]);
            let feedback = Feedback::Acknowledgement { bytes: FRAME, marked: reply.marked, round_trip: measured, path };
            source.on_feedback(now, &feedback);
            // At most one notification per 50 us.
            if reply.marked && source.wants_notifications() && step >= noticed[reply.source] {
                noticed[reply.source] = step + 63;
                source.on_feedback(now, &Feedback::CongestionNotification);
            }
        }
        // The first to send is another one each time.
        for turn in 0..count {
            let at = (turn + step as usize) % count;
            let source = &mut sources[at];
            until(source, now);
            let allowance = source.allowance();
            let link = LINK.as_bits_per_sec() as f64;
            credit[at] += allowance.rate.map_or(1.0, |rate| rate.as_bits_per_sec() as f64 / link);
            let flight = sent[at] - acknowledged[at];
            // A window of one frame is always granted.
            let open = allowance.window.is_none_or(|window| flight == 0 || flight + 1000 <= window.get());
            if credit[at] >= 1.0 && open {
                credit[at] -= 1.0;
                sent[at] += 1000;
                source.on_sent(now, FRAME);
                queue.push_back(Waiting { source: at, since: step });
            }
            credit[at] = credit[at].min(1.0);
        }
        if let Some(frame) = queue.pop_front() {
            left += 1000;
            let length = queue.len() as f64;
            let marked = stream.unit_f64() < marks(length);
            let stamp =
                Stamp { at: now, queue: Bytes::new(1000 * queue.len() as u64), sent: Bytes::new(left), rate: LINK };
            replies.push_back(Reply { at: step + trip, source: frame.source, since: frame.since, marked, stamp });
            if step >= steps / 4 * 3 {
                delivered[frame.source] += 1;
            }
        }
    }
    delivered.iter().map(|&frames| frames as f64 / (steps / 4) as f64).collect()
}

#[test]
fn an_idle_path_is_used_in_full() {
    for name in CONTROLS {
        let used = shares(&mut [built(name, &[], 0)], 40, SHORT, NONE)[0];
        // HPCC and PowerTCP aim at 95 %, in whole frames of a short round trip.
        assert!(used > 0.9, "{name}: {used}");
    }
    // Also after a time of congestion, which left DCQCN a low rate.
    let mut source = built("dcqcn", &[], 0);
    for notice in 0..100 {
        let now = Time::ZERO + Span::from_micros(50 * notice);
        until(&mut source, now);
        source.on_feedback(now, &Feedback::CongestionNotification);
    }
    assert!(rate(&source, 8e-6) < 1e8);
    until(&mut source, Time::ZERO + Span::from_millis(60));
    assert_eq!(rate(&source, 8e-6), 1e10);
}

#[test]
fn equal_flows_have_equal_shares_where_the_papers_say_so() {
    for (name, round_trip, marks) in [
        ("dcqcn", SHORT, RAMP),
        ("dctcp", SHORT, STEP_MARKS),
        ("hpcc", LONG, NONE),
        ("powertcp", LONG, NONE),
        ("swift", SHORT, NONE),
        ("patched-timely", SHORT, NONE),
        ("nscc", LONG, STEP_MARKS),
    ] {
        let mut sources = [0, 1].map(|flow| built_for(name, &[], flow, round_trip));
        // The second one begins with the smallest window, if it has one.
        for _ in 0..20 {
            sources[1].on_loss(Time::ZERO, LossSignal::Timeout);
        }
        let shares = shares(&mut sources, 240, round_trip, marks);
        let (less, more) = (shares[0].min(shares[1]), shares[0].max(shares[1]));
        assert!(more / less < 1.25, "{name}: {shares:?}");
        assert!(more + less > 0.85, "{name}: {shares:?}");
    }
}

/// Additive increase makes shares equal: on a path of ten frames it takes a quarter of a frame per round trip.
#[test]
fn hpcc_is_fair_on_short_paths_if_its_increase_is_a_good_part_of_a_frame() {
    let ratio = |megabits: u64| {
        let set = [("ai_rate", Value::Rate(Rate::from_megabits(megabits)))];
        let shares = shares(&mut [0, 1].map(|flow| built("hpcc", &set, flow)), 60, SHORT, NONE);
        shares[0].max(shares[1]) / shares[0].min(shares[1])
    };
    let (small, large) = (ratio(50), ratio(250));
    assert!(large < 1.05, "{large}");
    assert!(small > 1.2, "the increase of the simulator, {small}");
}

#[test]
fn shares_of_timely_are_those_of_the_start_and_the_patch_makes_them_equal() {
    let ratio = |name: &str, millis: u64| {
        let start = |gigabits: u64| [("start_rate", Value::Rate(Rate::from_gigabits(gigabits)))];
        let mut sources = [built(name, &start(7), 0), built(name, &start(3), 1)];
        let shares = shares(&mut sources, millis, SHORT, NONE);
        shares[0] / shares[1]
    };
    let (timely, patched) = (ratio("timely", 160), ratio("patched-timely", 160));
    assert!(timely > 1.4, "{timely}");
    assert!((0.85..1.15).contains(&patched), "{patched}");
}
