//! InfiniBand's forward congestion notification, judged by what it sees of one lane.

use crate::model::{point, text};
use congestion::parameter::Value;
use congestion::point::{Passage, Request, Surroundings, View};
use congestion::{CongestionPoint, Point};
use units::{Rate, Span, Time};

const BUFFER: u32 = 16_000;
const LARGEST: u32 = 1000;

/// A lane whose state the test sets.
#[derive(Clone, Copy, Debug, Default)]
struct LaneState {
    bytes: u32,
    last_blocked: Option<Time>,
}

impl View for LaneState {
    fn held(&self, _: u16, _: u8) -> u32 {
        self.bytes
    }
    fn full(&self, _: u16, _: u8) -> u32 {
        BUFFER
    }
    fn wanted(&self, _: u16, _: u8) -> u128 {
        0
    }
    fn waiting_bytes(&self, _: u16, _: u8) -> u32 {
        self.bytes
    }
    fn waiting_frames(&self, _: u16, _: u8) -> u32 {
        self.bytes / LARGEST
    }
    fn sending(&self, _: u16, _: u8) -> bool {
        false
    }
    fn leaving(&self, _: u16, _: u8) -> u32 {
        0
    }
    fn ending(&self, _: u16, _: u8) -> bool {
        false
    }
    fn blocked(&self, _: u16, _: u8) -> bool {
        self.last_blocked.is_some()
    }
    fn last_blocked(&self, _: u16, _: u8) -> Option<Time> {
        self.last_blocked
    }
    fn stopped(&self, _: u16, _: u8) -> bool {
        false
    }
}

/// Port 0 leads to a host, port 1 to a switch; two lanes each. Every packet is marked, unless a marking rate is given.
fn fecn(given: &[(&'static str, Value)]) -> Point {
    attached(given, |_| {})
}

/// The same in other surroundings.
fn attached(given: &[(&'static str, Value)], other: impl FnOnce(&mut Surroundings)) -> Point {
    let given: Vec<_> = [("marking_rate", Value::Count(0))].into_iter().chain(given.iter().cloned()).collect();
    let mut point = point("infiniband-fecn", &given);
    let mut surroundings = Surroundings {
        rates: vec![Rate::from_gigabits(8); 2],
        classes: 2,
        to_host: vec![true, false],
        largest_frame: vec![LARGEST; 2],
        buffer: vec![BUFFER, BUFFER / 2],
        held_by_inputs: vec![true, true],
        seed: 1,
        node: 0,
        first_port: 0,
    };
    other(&mut surroundings);
    point.attach(&surroundings);
    point
}

const NOW: Time = Time::from_picos(1_000_000);

fn frame(output: u16, class: u8, len: u16) -> Passage {
    Passage { now: NOW, since: NOW, flow: 0, input: 1 - output, output, class, len, tag: 0 }
}

/// A frame comes when so much waits, and one starts then.
fn marks(point: &mut Point, output: u16, class: u8, lane: LaneState) -> bool {
    let frame = frame(output, class, 1000);
    assert_eq!(point.on_arrival(&frame, &lane), Request::Nothing);
    point.on_start(&frame, &lane)
}

fn queue(bytes: u32) -> LaneState {
    LaneState { bytes, last_blocked: None }
}

/// That a lane marks above a queue, and not at it.
fn begins_above(point: &mut Point, (output, class): (u16, u8), above: u32, last_blocked: Option<Time>) {
    assert!(!marks(point, output, class, LaneState { bytes: above, last_blocked }), "{above}");
    assert!(marks(point, output, class, LaneState { bytes: above + 1, last_blocked }), "{above}");
}

#[test]
fn a_root_has_more_waiting_than_one_input_can_hold() {
    for threshold in 1..=15 {
        for (class, buffer) in [(0, BUFFER), (1, BUFFER / 2)] {
            let given = [("threshold", Value::Count(u64::from(threshold)))];
            begins_above(&mut fecn(&given), (0, class), buffer + buffer * (15 - threshold) / 16, None);
            begins_above(&mut fecn(&given), (0, class), buffer * (16 - threshold) / 16, Some(NOW));
        }
    }
}

#[test]
fn where_one_input_can_be_a_root_a_part_of_its_buffer_is_enough() {
    let part = BUFFER / 16;
    // Behind a crossbar, or lossy.
    let mut behind = attached(&[], |surroundings| surroundings.held_by_inputs[0] = false);
    begins_above(&mut behind, (0, 0), part, None);
    begins_above(&mut behind, (0, 1), BUFFER / 2, None);
    // The other port is faster; for itself it is not.
    let mut slow = attached(&[], |surroundings| surroundings.rates[1] = Rate::from_gigabits(16));
    begins_above(&mut slow, (0, 0), part, None);
    begins_above(&mut slow, (1, 0), BUFFER, None);
}

#[test]
fn threshold_zero_is_off() {
    for given in [vec![], vec![("queue", Value::Size(units::Bytes::new(1)))]] {
        let given: Vec<_> = given.into_iter().chain([("threshold", Value::Count(0))]).collect();
        assert!(!marks(&mut fecn(&given), 0, 0, queue(u32::MAX)));
        assert!(!marks(&mut fecn(&given), 0, 0, LaneState { bytes: u32::MAX, last_blocked: Some(NOW) }));
    }
}

#[test]
fn a_queue_in_bytes_overrides_the_threshold() {
    let mut point = fecn(&[("queue", Value::Size(units::Bytes::new(4321)))]);
    for class in 0..2 {
        assert!(!marks(&mut point, 0, class, queue(4321)));
        assert!(marks(&mut point, 0, class, queue(4322)));
    }
}

#[test]
fn congestion_ends_below_the_threshold_by_the_hysteresis() {
    // Without one given: more than the largest frame.
    let cases = [(None, LARGEST + 1), (Some(0), 0), (Some(2500), 2500), (Some(1 << 30), 8000)];
    for (given, hysteresis) in cases {
        let mut values = vec![("queue", Value::Size(units::Bytes::new(8000)))];
        values.extend(given.map(|bytes| ("hysteresis", Value::Size(units::Bytes::new(bytes)))));
        let end = 8000 - hysteresis;
        let mut point = fecn(&values);
        assert!(marks(&mut point, 0, 0, queue(8001)));
        if hysteresis > 0 {
            assert!(marks(&mut point, 0, 0, queue(end + 1)), "still within: {given:?}");
        }
        assert!(!marks(&mut point, 0, 0, queue(end)), "ended: {given:?}");
        assert!(!marks(&mut point, 0, 0, queue(8000)), "and has to begin anew: {given:?}");
        // A start alone ends it too.
        assert!(marks(&mut point, 0, 0, queue(8001)));
        assert!(!point.on_start(&frame(0, 0, 1000), &queue(end)), "{given:?}");
        assert!(!point.on_start(&frame(0, 0, 1000), &queue(8001)), "only an arrival begins it");
    }
}

#[test]
fn roots_mark_and_victims_where_they_may() {
    let blocked = LaneState { bytes: BUFFER + 1, last_blocked: Some(NOW) };
    for (victims, at_host, at_switch) in [("hosts", true, false), ("all", true, true), ("none", false, false)] {
        let mut point = fecn(&[("victims", text(victims))]);
        for (output, expected) in [(0, at_host), (1, at_switch)] {
            assert!(marks(&mut point, output, 0, queue(BUFFER + 1)), "a root marks anywhere");
            assert_eq!(marks(&mut point, output, 0, blocked), expected, "{victims}, output {output}");
        }
    }
}

#[test]
fn having_been_blocked_recently_is_being_blocked() {
    let ago = |nanos: u64| LaneState {
        bytes: BUFFER + 1,
        last_blocked: Some(Time::from_picos(NOW.as_picos() - nanos * 1000)),
    };
    let mut at_once = fecn(&[]);
    assert!(!marks(&mut at_once, 1, 0, ago(0)));
    assert!(marks(&mut at_once, 1, 0, ago(1)));
    let mut later = fecn(&[("recent", Value::Time(Span::from_nanos(100)))]);
    assert!(!marks(&mut later, 1, 0, ago(100)));
    assert!(marks(&mut later, 1, 0, ago(101)));
}

#[test]
fn lanes_are_judged_apart() {
    let mut point = fecn(&[]);
    assert!(marks(&mut point, 0, 0, queue(BUFFER + 1)));
    for (output, class) in [(0, 1), (1, 0), (1, 1)] {
        assert!(!point.on_start(&frame(output, class, 1000), &queue(BUFFER + 1)));
    }
}

#[test]
fn the_marking_rate_is_the_packets_between_two_marks() {
    for between in [0, 1, 3, 10] {
        let mut point = fecn(&[("marking_rate", Value::Count(between))]);
        let marked: Vec<u64> = (0..40).filter(|_| marks(&mut point, 0, 0, queue(BUFFER + 1))).collect();
        let expected: Vec<u64> = (0..40).filter(|n| n % (between + 1) == between).collect();
        assert_eq!(marked, expected);
    }
}

#[test]
fn small_packets_are_neither_marked_nor_counted() {
    let mut point = fecn(&[("packet_size", Value::Count(4)), ("marking_rate", Value::Count(1))]);
    point.on_arrival(&frame(0, 0, 1000), &queue(BUFFER + 1));
    let starts = [(255, false), (256, false), (64, false), (255, false), (256, true), (1000, false), (1000, true)];
    for (len, expected) in starts {
        assert_eq!(point.on_start(&frame(0, 0, len), &queue(BUFFER + 1)), expected, "{len} B");
    }
}
