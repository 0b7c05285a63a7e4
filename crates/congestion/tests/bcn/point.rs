//! The congestion point.

use crate::{build_point, choice, of_point};
use congestion::parameter::{Value, Values};
use congestion::point::{Notice, Passage, Request, Surroundings, View, number, tag_of};
use congestion::{CongestionPoint, Point};
use proptest::prelude::*;
use units::{Bytes, Rate, Time};

/// A switch whose outputs all have that queue.
struct Queue(u32);

impl View for Queue {
    fn held(&self, _input: u16, _class: u8) -> u32 {
        0
    }
    fn full(&self, _input: u16, _class: u8) -> u32 {
        u32::MAX
    }
    fn wanted(&self, _input: u16, _class: u8) -> u128 {
        0
    }
    fn waiting_bytes(&self, _output: u16, _class: u8) -> u32 {
        self.0
    }
    fn waiting_frames(&self, _output: u16, _class: u8) -> u32 {
        0
    }
    fn sending(&self, _output: u16, _class: u8) -> bool {
        false
    }
    fn leaving(&self, _input: u16, _class: u8) -> u32 {
        0
    }
    fn ending(&self, _output: u16, _class: u8) -> bool {
        false
    }
    fn blocked(&self, _output: u16, _class: u8) -> bool {
        false
    }
    fn last_blocked(&self, _output: u16, _class: u8) -> Option<Time> {
        None
    }
    fn stopped(&self, _input: u16, _class: u8) -> bool {
        false
    }
}

const FIRST_PORT: u32 = 40;

/// The point in a switch of four ports and two classes.
fn attached(name: &str, values: &Values) -> Point {
    let mut point = build_point(name, values).unwrap();
    point.attach(&Surroundings {
        rates: vec![Rate::from_gigabits(10); 4],
        classes: 2,
        to_host: vec![true; 4],
        largest_frame: vec![1500; 2],
        buffer: vec![150_000; 2],
        held_by_inputs: vec![true; 2],
        seed: 7,
        node: 3,
        first_port: FIRST_PORT,
    });
    point
}

/// A frame of flow 9 for output 2 in class 1.
fn frame(len: u16, tag: u16) -> Passage {
    Passage { now: Time::ZERO, since: Time::ZERO, flow: 9, input: 0, output: 2, class: 1, len, tag }
}

/// The tag of frames whose source is associated with that output and class.
fn own_tag() -> u16 {
    tag_of(number(FIRST_PORT + 2, 1))
}

/// Shows the point a frame that finds a queue, and returns (feedback, offset, growth).
fn see(point: &mut Point, queue: u32, tag: u16) -> Option<(u8, i32, i32)> {
    match point.on_output(&frame(1500, tag), &Queue(queue)) {
        Request::Nothing => None,
        Request::Notify(Notice { flow: 9, feedback, offset, growth, port: 2, class: 1, guidance: None }) => {
            Some((feedback, offset, growth))
        }
        request => panic!("{request:?}"),
    }
}

/// BCN that samples every frame.
fn every_frame() -> Values {
    of_point("bcn").with("probability", Value::Number(1.0))
}

/// What a sequence of queues makes the point say, all frames with a tag or all without.
fn said(values: &Values, queues: &[u32], tag: u16) -> Vec<Option<(u8, i32, i32)>> {
    let mut point = attached("bcn", values);
    queues.iter().map(|queue| see(&mut point, *queue, tag)).collect()
}

/// Feedback in bytes with a weight of 2: -66000, 0, 5000, 2000, 12000, -5000, 1000.
const QUEUES: [u32; 7] = [30_000, 28_000, 25_000, 24_000, 20_000, 23_000, 23_000];

/// Of these queues those above the set point, whoever's frame it is.
const ABOVE: [Option<(u8, i32, i32)>; 7] =
    [Some((0, -6_000, 30_000)), Some((0, -4_000, -2_000)), Some((0, -1_000, -3_000)), None, None, None, None];

#[test]
fn the_queue_selects_and_every_sample_counts_as_the_last() {
    // Section II: below the set point no signal without the tag, not even one that asks for a decrease (23,000 after
    // 20,000); above it any source is notified, of positive feedback too.
    assert_eq!(said(&every_frame(), &QUEUES, 0), ABOVE);
    let mut tagged = ABOVE;
    tagged[4..].copy_from_slice(&[Some((0, 4_000, -4_000)), Some((0, 1_000, 3_000)), Some((0, 1_000, 0))]);
    assert_eq!(said(&every_frame(), &QUEUES, own_tag()), tagged);
    // The tag of another output, of another class, or of another switch is none.
    for other in [number(FIRST_PORT + 1, 1), number(FIRST_PORT + 2, 0), number(2, 1)] {
        assert_eq!(said(&every_frame(), &QUEUES, tag_of(other)), ABOVE);
    }
}

#[test]
fn the_other_readings_of_who_is_told() {
    let feedback = every_frame().with("signals", choice("feedback"));
    let negative = [Some((0, -6_000, 30_000)), None, None, None, None, Some((0, 1_000, 3_000)), None];
    assert_eq!(said(&feedback, &QUEUES, 0), negative);
    let mut all = negative;
    all[2] = Some((0, -1_000, -3_000));
    all[4] = Some((0, 4_000, -4_000));
    all[6] = Some((0, 1_000, 0));
    assert_eq!(said(&feedback, &QUEUES, own_tag()), all);
    let tagged = every_frame().with("signals", choice("tagged"));
    assert_eq!(said(&tagged, &QUEUES, 0), ABOVE);
    let mut all = ABOVE;
    all[3..].copy_from_slice(&[
        Some((0, 0, -1_000)),
        Some((0, 4_000, -4_000)),
        Some((0, 1_000, 3_000)),
        Some((0, 1_000, 0)),
    ]);
    assert_eq!(said(&tagged, &QUEUES, own_tag()), all);
    // Nothing off, nothing moved: it would look like severe congestion.
    assert_eq!(said(&tagged, &[24_000, 24_000], own_tag()), [Some((0, 0, 24_000)), None]);
}

#[test]
fn queues_of_outputs_and_classes_are_apart() {
    let mut point = attached("bcn", &every_frame());
    assert_eq!(see(&mut point, 30_000, 0), Some((0, -6_000, 30_000)));
    let elsewhere = Passage { output: 1, ..frame(1500, 0) };
    let Request::Notify(notice) = point.on_output(&elsewhere, &Queue(26_000)) else { panic!("a notice is due") };
    assert_eq!((notice.port, notice.offset, notice.growth), (1, -2_000, 26_000));
    assert_eq!(see(&mut point, 30_000, 0), Some((0, -6_000, 0)));
}

#[test]
fn severe_congestion_is_off_literal_or_graded() {
    let queues = [102_400, 102_401, 153_600, 153_601];
    let ordinary =
        [Some((0, -78_400, 102_400)), Some((0, -78_401, 1)), Some((0, -129_600, 51_199)), Some((0, -129_601, 1))];
    assert_eq!(said(&every_frame(), &queues, 0), ordinary);
    let severe = Some((1, 0, 0));
    let literal = every_frame().with("severe", choice("literal"));
    assert_eq!(said(&literal, &queues, 0), [ordinary[0], severe, severe, severe]);
    // Feedback of -(1 + 2 w) times the set point.
    let most = Some((0, -24_000, 48_000));
    let graded = every_frame().with("severe", choice("graded"));
    assert_eq!(said(&graded, &queues, 0), [ordinary[0], most, most, severe]);
    // A severe sample is the last sample too.
    assert_eq!(said(&literal, &[110_000, 100_000], 0), [severe, Some((0, -76_000, -10_000))]);
}

#[test]
fn thresholds_out_of_order_are_refused() {
    let size = |bytes: u64| Value::Size(Bytes::new(bytes));
    let low = of_point("ecm").with("severe_at", size(24_000));
    assert_eq!(build_point("ecm", &low).unwrap_err(), "severe_at");
    assert!(build_point("ecm", &low.with("severe", choice("off"))).is_ok());
    let upside_down = of_point("ecm").with("severest_at", size(102_400));
    assert!(build_point("ecm", &upside_down).is_ok());
    assert_eq!(build_point("ecm", &upside_down.with("severe", choice("graded"))).unwrap_err(), "severest_at");
}

#[test]
fn frames_are_sampled_with_their_probability() {
    let mut point = attached("bcn", &of_point("bcn"));
    let samples = |point: &mut Point, count: usize| (0..count).filter(|_| see(point, 30_000, 0).is_some()).count();
    let found = samples(&mut point, 200_000);
    // Four deviations of sqrt(200000 * 0.01 * 0.99).
    assert!(found.abs_diff(2_000) < 178, "{found}");
    // Gaps have no memory: a sample is followed by another at once as often as any frame is sampled.
    let mut previous = false;
    let mut pairs = 0;
    for _ in 0..200_000 {
        let sampled = see(&mut point, 30_000, 0).is_some();
        pairs += usize::from(previous && sampled);
        previous = sampled;
    }
    assert!(pairs.abs_diff(20) < 18, "{pairs}");
    for (probability, all) in [(0.0, 0), (1.0, 1_000)] {
        let mut point = attached("bcn", &every_frame().with("probability", Value::Number(probability)));
        assert_eq!(samples(&mut point, 1_000), all);
    }
}

/// Which of so many frames of that length ECM samples.
fn sampled(values: &Values, len: u16, frames: usize) -> Vec<usize> {
    let mut point = attached("ecm", values);
    let due = |n: &usize| *n > 0 && point.on_output(&frame(len, 0), &Queue(50_000)) != Request::Nothing;
    (0..=frames).filter(due).collect()
}

#[test]
fn ecm_samples_every_so_many_bytes() {
    let steady = of_point("ecm").with("jitter", Value::Number(0.0));
    assert_eq!(sampled(&steady, 1500, 500), [100, 200, 300, 400, 500]);
    let base = |bytes: u64| steady.clone().with("sample_base", Value::Size(Bytes::new(bytes)));
    // What comes too much is not lost: 2, 3, 5 and 6 kB for 1.5, 3, 4.5 and 6.
    assert_eq!(sampled(&base(1_500), 1_000, 6), [2, 3, 5, 6]);
    assert_eq!(sampled(&base(1), 1_000, 4), [1, 2, 3, 4]);
    // With jitter, the mean stays and intervals keep within their spread.
    let due = sampled(&of_point("ecm"), 1500, 100_000);
    assert!(due.len().abs_diff(1_000) < 15, "{}", due.len());
    let gaps: Vec<_> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (84..=116).contains(gap)));
    assert!(gaps.contains(&86) && gaps.contains(&114));
}

proptest! {
    /// Below the set point nothing goes to a frame without the tag, above it something always does, and what is said is
    /// the difference to the set point and to the last sample.
    #[test]
    fn below_the_set_point_signals_need_the_tag(steps in prop::collection::vec((0..60_000_u32, 0..3_u8), 1..200), weight in 0.0..8.0) {
        let mut point = attached("bcn", &every_frame().with("weight", Value::Number(weight)));
        let mut old = 0;
        for (queue, kind) in steps {
            let tag = [0, own_tag(), own_tag() + 1][usize::from(kind)];
            let (offset, growth) = (24_000 - queue as i32, queue as i32 - old);
            old = queue as i32;
            let told = queue > 24_000 || queue < 24_000 && kind == 1;
            prop_assert_eq!(see(&mut point, queue, tag), told.then_some((0, offset, growth)));
        }
    }
}
