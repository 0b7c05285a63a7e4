//! Naive, input-triggered and input-output-triggered marking, step by step.

use crate::model::{Model, Room, Watched, point, text};
use congestion::parameter::Value;
use units::{Span, Time};

const POLICIES: [&str; 3] = ["naive", "input-triggered", "input-output-triggered"];

/// Starts these frames one after the other and returns which of them were marked.
fn passed(switch: &mut Watched, frames: &[u32]) -> Vec<u32> {
    frames.iter().copied().filter(|&frame| switch.pass(frame)).collect()
}

#[test]
fn naive_marks_what_waited_in_the_buffer_that_filled() {
    let mut switch = Watched::slots("naive", 3, &[]);
    let elsewhere = switch.arrive(1, 0);
    let first = switch.arrive(0, 0);
    // It is being sent when the buffer fills: too late for it.
    assert!(!switch.start(first));
    let (second, third) = (switch.arrive(0, 1), switch.arrive(0, 0));
    switch.finish(0);
    let later = switch.arrive(1, 0);
    assert_eq!(passed(&mut switch, &[elsewhere, third, later, second]), [third, second]);
}

#[test]
fn input_triggered_marks_the_next_of_every_output_the_buffer_wants() {
    let mut switch = Watched::slots("input-triggered", 3, &[]);
    let others = [switch.arrive(1, 0), switch.arrive(2, 0), switch.arrive(3, 2)];
    let filling = [switch.arrive(0, 0), switch.arrive(0, 1), switch.arrive(0, 1)];
    // Three marks for output 0, whichever buffers the frames are in and whichever go first: one that came after the
    // event takes one of them.
    let late = switch.arrive(1, 0);
    assert_eq!(passed(&mut switch, &[late, others[0], filling[0], others[1]]), [late, others[0], filling[0]]);
    // Two for output 1; none for output 2, for which the full buffer had nothing.
    assert_eq!(passed(&mut switch, &[filling[2], others[2], filling[1]]), [filling[2], filling[1]]);
}

#[test]
fn a_full_buffer_counts_for_all_outputs_it_has_frames_for() {
    let mut switch = Watched::slots("input-triggered", 2, &[]);
    let frames = [switch.arrive(2, 0), switch.arrive(2, 2)];
    assert_eq!(passed(&mut switch, &frames), frames);
}

#[test]
fn another_trigger_sets_the_count_and_does_not_add() {
    let mut switch = Watched::slots("input-triggered", 2, &[]);
    let frames = [switch.arrive(0, 0), switch.arrive(0, 0), switch.arrive(1, 0), switch.arrive(1, 0)];
    // Two were owed, now four are: not six.
    assert_eq!(passed(&mut switch, &frames), frames);
    let (next, more) = (switch.arrive(2, 0), switch.arrive(3, 0));
    assert_eq!(passed(&mut switch, &[next, more]), []);
    // A count that has not run out is set, down as well as up.
    let many = [switch.arrive(0, 0), switch.arrive(0, 0)];
    assert_eq!(passed(&mut switch, &many[..1]), many[..1]);
    let again = switch.arrive(0, 0);
    assert_eq!(passed(&mut switch, &[many[1], again]), [many[1], again]);
}

#[test]
fn the_output_threshold_is_exceeded_and_counts_the_wire() {
    for (threshold, expected) in [(2, 2), (3, 0)] {
        let mut switch = Watched::slots("input-output-triggered", 9, &[("threshold", Value::Count(threshold))]);
        let first = switch.arrive(0, 0);
        assert!(!switch.start(first));
        // Three in the switch with the one on the wire: more than two, not more than three. Two of them wait.
        let rest = [switch.arrive(1, 0), switch.arrive(2, 0)];
        switch.finish(0);
        let later = switch.arrive(3, 1);
        assert_eq!(passed(&mut switch, &[rest[0], rest[1], later]), rest[..expected]);
    }
}

#[test]
fn the_output_threshold_is_per_output_and_class() {
    let model = Model::new(4, 2, Room::Slots(9));
    let mut switch = Watched::new(model, point("input-output-triggered", &[("threshold", Value::Count(2))]));
    for (input, output, class) in [(0, 0, 0), (1, 0, 0), (2, 0, 1), (3, 0, 1), (0, 1, 0), (1, 1, 1)] {
        assert!(!switch.arrive_as(input, output, class, 100).1);
        switch.settle();
    }
    assert!(switch.arrive_as(3, 0, 1, 100).1);
}

/// A frame that starts the instant it comes is not marked, unless it is judged before it can.
#[test]
fn judging_at_arrival_marks_frames_that_cut_through() {
    for name in POLICIES {
        for (trigger, expected) in [("settled", false), ("arrival", true)] {
            let mut switch = Watched::slots(name, 1, &[("trigger", text(trigger))]);
            let (frame, asks) = switch.arrive_as(0, 0, 0, 100);
            assert_eq!(asks, !expected, "{name}");
            assert_eq!(switch.start(frame), expected, "{name}, {trigger}");
            switch.settle();
        }
    }
}

/// And it is not counted: the marks go to those that waited.
#[test]
fn judging_late_leaves_out_what_has_started() {
    for (trigger, expected) in [("settled", 1), ("arrival", 2)] {
        let mut switch = Watched::slots("input-triggered", 2, &[("trigger", text(trigger))]);
        let waiting = switch.arrive(0, 0);
        let (through, _) = switch.arrive_as(0, 0, 0, 100);
        let early = switch.start(through);
        switch.settle();
        switch.finish(0);
        let more = [waiting, switch.arrive(1, 0)];
        assert_eq!(usize::from(early) + passed(&mut switch, &more).len(), expected, "{trigger}");
    }
}

#[test]
fn blocked_outputs_are_left_out_if_asked() {
    for name in POLICIES {
        for (skip, expected) in [(false, 2), (true, 1)] {
            let mut switch = Watched::slots(name, 2, &[("skip_blocked", Value::Flag(skip))]);
            switch.model.blocked.insert((1, 0), None);
            let frames = [switch.arrive(0, 1), switch.arrive(0, 0)];
            switch.model.blocked.insert((1, 0), Some(switch.model.now));
            let marked = passed(&mut switch, &frames);
            assert_eq!(marked, frames[2 - expected..], "{name}, {skip}");
        }
    }
}

#[test]
fn what_an_earlier_event_marked_stays_marked_when_its_output_is_blocked() {
    let mut switch = Watched::slots("naive", 2, &[("skip_blocked", Value::Flag(true))]);
    let (kept, gone) = (switch.arrive(0, 1), switch.arrive(0, 0));
    assert!(switch.pass(gone));
    switch.model.blocked.insert((1, 0), None);
    let last = switch.arrive(0, 0);
    switch.model.blocked.insert((1, 0), Some(switch.model.now));
    assert_eq!(passed(&mut switch, &[kept, last]), [kept, last]);
}

#[test]
fn links_that_were_blocked_recently_do_not_mark() {
    for name in POLICIES {
        let recently = Value::Time(Span::from_nanos(5));
        let mut switch = Watched::slots(name, 2, &[("recently_blocked", recently)]);
        let frames = [switch.arrive(0, 0), switch.arrive(0, 0), switch.arrive(1, 1), switch.arrive(1, 0)];
        let now = switch.model.now;
        switch.model.blocked.insert((0, 0), Some(now));
        // The other output was never blocked.
        assert!(switch.pass(frames[2]), "{name}");
        switch.model.now = now + Span::from_nanos(5);
        assert!(!switch.pass(frames[0]), "{name}");
        switch.model.now = now + Span::from_nanos(6);
        assert!(switch.pass(frames[1]), "{name}");
    }
}

#[test]
fn a_buffer_may_count_as_full_before_it_is() {
    // Half of five slots is two whole ones; a part of one slot is one.
    for (slots, full_at, level) in [(5, 0.5, 2), (5, 1.0, 5), (5, 0.99, 4), (3, 0.01, 1)] {
        let mut switch = Watched::slots("naive", slots, &[("full_at", Value::Number(full_at))]);
        for count in 1..=slots {
            // Each frame that finds the level reached makes an event.
            let (_, asks) = switch.arrive_as(0, 0, 0, 100);
            assert_eq!(asks, count >= level, "{slots} slots, {full_at}, frame {count}");
            switch.settle();
        }
    }
}

#[test]
fn bytes_are_full_when_the_largest_frame_would_not_fit() {
    let mut switch = Watched::new(Model::new(2, 1, Room::Bytes(300, 100)), point("naive", &[]));
    // 201 bytes leave 99.
    for (len, event) in [(100, false), (100, false), (50, true), (50, true)] {
        assert_eq!(switch.arrive_as(0, 0, 0, len).1, event);
        switch.settle();
    }
}

#[test]
fn events_of_one_instant_are_all_judged() {
    let mut switch = Watched::slots("input-triggered", 1, &[]);
    let frames: Vec<u32> = (0..4).map(|input| switch.arrive_as(input, input % 2, 0, 100).0).collect();
    switch.settle();
    assert_eq!(passed(&mut switch, &frames), frames);
    assert_eq!(switch.model.now, Time::from_picos(5000));
}

#[test]
fn a_tail_that_leaves_at_that_instant_is_held_or_freed() {
    for (policy, tail, full) in [
        ("naive", "held", true),
        ("naive", "freed", false),
        ("input-triggered", "held", true),
        ("input-triggered", "freed", false),
    ] {
        let mut switch = Watched::slots(policy, 3, &[("tail", text(tail))]);
        let first = switch.arrive(0, 0);
        assert!(!switch.start(first));
        let second = switch.arrive(0, 0);
        switch.model.ending.insert(0);
        // The third slot, while the first frame's last bit leaves.
        let third = switch.arrive(0, 0);
        switch.finish(0);
        switch.model.ending.clear();
        let marked = if full { vec![second, third] } else { Vec::new() };
        assert_eq!(passed(&mut switch, &[second, third]), marked, "{policy}, {tail}");
    }
}

#[test]
fn a_tail_that_leaves_at_that_instant_counts_for_the_output_or_does_not() {
    for (tail, exceeded) in [("held", true), ("freed", false)] {
        let given = [("tail", text(tail)), ("threshold", Value::Count(2))];
        let mut switch = Watched::slots("input-output-triggered", 8, &given);
        let first = switch.arrive(0, 0);
        assert!(!switch.start(first));
        let second = switch.arrive(1, 0);
        switch.model.ending.insert(0);
        let third = switch.arrive(2, 0);
        switch.finish(0);
        switch.model.ending.clear();
        let marked = if exceeded { vec![second, third] } else { Vec::new() };
        assert_eq!(passed(&mut switch, &[second, third]), marked, "{tail}");
    }
}
