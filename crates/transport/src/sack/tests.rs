//! Tests of the sender.

use super::*;
use crate::{Block, Blocks};
use congestion::parameter::Value;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn sender(changes: &[(&'static str, Value)], frames: u64) -> Sending {
    let values = changes
        .iter()
        .fold(Values::defaults(INFO.parameters), |values, (name, value)| values.with(name, value.clone()));
    let mut sender = build(&values).unwrap().sender.unwrap();
    (0..frames).for_each(|number| sender.on_sent(at(0), number));
    sender
}

fn newreno(frames: u64) -> Sending {
    sender(&[("selective", Value::Flag(false))], frames)
}

/// An acknowledgement with blocks.
fn ack(cumulative: u64, blocks: &[(u64, u64)]) -> Reply {
    let mut all = Blocks::default();
    for &(start, end) in blocks {
        assert!(all.push(Block { start, end }));
    }
    Reply { cumulative, number: cumulative, blocks: all, ..Reply::default() }
}

fn again(number: u64, windowed: bool) -> Next {
    Next::Again { number, windowed }
}

#[test]
fn three_frames_above_a_gap_start_fast_recovery() {
    let mut sender = sender(&[], 10);
    assert_eq!(sender.on_reply(at(1), &ack(0, &[(1, 2)])).loss, None);
    assert_eq!(sender.on_reply(at(1), &ack(0, &[(1, 3)])).loss, None);
    assert_eq!((sender.next(true), sender.in_flight()), (Next::Fresh, 10));
    let progress = sender.on_reply(at(1), &ack(0, &[(1, 4)]));
    assert_eq!((progress.loss, progress.arrived), (Some(LossSignal::Detected), 1));
    // The fast retransmission goes without asking the window; pipe: 4 to 9 and, once sent, 0.
    assert_eq!((sender.next(true), sender.in_flight()), (again(0, false), 6));
    sender.on_sent(at(1), 0);
    assert_eq!((sender.next(true), sender.in_flight()), (Next::Fresh, 7));
    // Frames 5 and 6 are lost as well: the same recovery, and within the window.
    assert_eq!(sender.on_reply(at(2), &ack(0, &[(7, 10), (1, 5)])).loss, None);
    assert_eq!(sender.next(true), again(5, true));
    sender.on_sent(at(2), 5);
    sender.on_sent(at(2), 6);
    assert_eq!(sender.next(true), Next::Fresh);
    // All that was sent before is acknowledged: the recovery is over, and another may begin.
    sender.on_sent(at(2), 10);
    sender.on_reply(at(3), &ack(10, &[]));
    assert_eq!((sender.next(true), sender.in_flight()), (Next::Fresh, 1));
}

#[test]
fn one_acknowledgement_with_enough_blocks_is_enough() {
    let mut sender = sender(&[], 10);
    assert_eq!(sender.on_reply(at(1), &ack(0, &[(1, 2), (3, 4), (5, 6)])).loss, Some(LossSignal::Detected));
    assert_eq!(sender.next(true), again(0, false));
}

#[test]
fn without_fresh_data_overtaken_frames_and_then_the_last_are_sent_again() {
    let mut sender = sender(&[], 10);
    sender.on_reply(at(1), &ack(0, &[(1, 5), (6, 7)]));
    sender.on_sent(at(1), 0);
    // Rule 3: frame 5 is overtaken by one frame only. Rule 4: frame 9 is the last.
    assert_eq!(sender.next(false), again(5, true));
    sender.on_sent(at(1), 5);
    assert_eq!(sender.next(false), again(9, true));
    sender.on_sent(at(1), 9);
    assert_eq!(sender.next(false), Next::Nothing);
}

#[test]
fn after_a_timeout_everything_is_sent_again_and_the_timer_backs_off() {
    let mut sender = sender(&[], 4);
    assert_eq!(sender.deadline(), Some(at(1000)));
    assert_eq!(sender.on_deadline(at(1000)).loss, Some(LossSignal::Timeout));
    assert_eq!((sender.next(true), sender.in_flight(), sender.deadline()), (again(0, true), 0, None));
    sender.on_sent(at(1000), 0);
    assert_eq!((sender.deadline(), sender.in_flight()), (Some(at(3000)), 1));
    // No fast recovery before the timeout's is over (RFC 6675, section 5.1).
    assert_eq!(sender.on_reply(at(1001), &ack(0, &[(1, 4)])).loss, None);
    assert_eq!(sender.next(true), Next::Fresh);
    sender.on_reply(at(1002), &ack(4, &[]));
    assert_eq!((sender.in_flight(), sender.deadline()), (0, None));
}

#[test]
fn newreno_sends_one_frame_again_per_partial_acknowledgement() {
    let mut sender = newreno(10);
    for _ in 0..2 {
        assert_eq!(sender.on_reply(at(1), &ack(0, &[])).loss, None);
    }
    assert_eq!(sender.in_flight(), 10);
    assert_eq!(sender.on_reply(at(1), &ack(0, &[])).loss, Some(LossSignal::Detected));
    assert_eq!(sender.next(true), again(0, false));
    sender.on_sent(at(1), 0);
    // Each duplicate acknowledgement is a frame that has left the network.
    assert_eq!((sender.next(true), sender.in_flight()), (Next::Fresh, 7));
    sender.on_reply(at(1), &ack(0, &[]));
    assert_eq!(sender.in_flight(), 6);
    // Frame 4 is lost, too: a partial acknowledgement.
    assert_eq!(sender.on_reply(at(2), &ack(4, &[])).loss, None);
    assert_eq!(sender.next(true), again(4, false));
    sender.on_sent(at(2), 4);
    // 6 are outstanding; of 4 duplicates 4 are deflated and 1 is added.
    assert_eq!((sender.next(true), sender.in_flight()), (Next::Fresh, 5));
    sender.on_reply(at(3), &ack(10, &[]));
    assert_eq!((sender.next(true), sender.in_flight()), (Next::Fresh, 0));
}

#[test]
fn newreno_begins_no_recovery_for_frames_sent_before_a_timeout() {
    let mut sender = newreno(10);
    sender.on_deadline(at(1000));
    sender.on_sent(at(1000), 0);
    for _ in 0..5 {
        assert_eq!(sender.on_reply(at(1001), &ack(0, &[])).loss, None);
    }
    sender.on_reply(at(1001), &ack(10, &[]));
    (10..14).for_each(|number| sender.on_sent(at(1002), number));
    let losses = (0..3).filter_map(|_| sender.on_reply(at(1003), &ack(10, &[])).loss);
    assert_eq!(losses.collect::<Vec<_>>(), [LossSignal::Detected]);
}

#[test]
fn limited_transmit_takes_two_duplicates_out_of_flight() {
    let mut sender = sender(&[("limited_transmit", Value::Flag(true)), ("threshold", Value::Count(9))], 10);
    for (end, flight) in [(2, 9), (3, 8), (4, 8)] {
        sender.on_reply(at(1), &ack(0, &[(1, end)]));
        assert_eq!(sender.in_flight(), flight);
    }
}

#[test]
fn an_old_acknowledgement_is_no_duplicate() {
    let mut sender = newreno(10);
    sender.on_reply(at(1), &ack(5, &[]));
    for _ in 0..5 {
        assert_eq!(sender.on_reply(at(1), &ack(3, &[])).loss, None);
    }
    assert_eq!(sender.next(true), Next::Fresh);
}

#[test]
fn impossible_timeouts_are_refused() {
    for (name, value) in [("min_timeout", 0), ("initial_timeout", 0), ("max_timeout", 1)] {
        let values = Values::defaults(INFO.parameters).with(name, Value::Time(Span::from_millis(value)));
        assert_eq!(build(&values).unwrap_err().parameter, name);
    }
}

/// Frames that were retransmitted without need cause duplicates, which must not release more of them.
#[test]
fn newreno_does_not_inflate_its_window_after_a_timeout() {
    let mut sender = newreno(10);
    sender.on_deadline(at(1000));
    assert_eq!(sender.in_flight(), 0);
    (0..4).for_each(|number| sender.on_sent(at(1000), number));
    (0..3).for_each(|_| assert_eq!(sender.on_reply(at(1001), &ack(0, &[])).loss, None));
    assert_eq!(sender.in_flight(), 4);
}

#[test]
fn limited_transmit_allows_no_more_frames_than_are_outstanding() {
    let mut sender = sender(&[("selective", Value::Flag(false)), ("limited_transmit", Value::Flag(true))], 1);
    (0..2).for_each(|_| assert_eq!(sender.on_reply(at(1), &ack(0, &[])).loss, None));
    assert_eq!(sender.in_flight(), 0);
}
