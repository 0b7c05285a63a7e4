//! Each frame is delivered exactly once, and the source ends, whatever the channels do.

use crate::harness::{Channel, Fixed, Outcome, Setup, run};
use proptest::prelude::*;
use tailback_transport::congestion::parameter::{Value, Values};
use tailback_transport::units::{Span, Time};
use tailback_transport::{Acknowledger, RECOVERIES, Recovery};

/// TCP without selective acknowledgements.
const NEWRENO: &str = "newreno";

/// A recovery by its name, with its timeouts set for round trips of some ten microseconds.
pub fn named(name: &str) -> Recovery {
    let known = if name == NEWRENO { "sack" } else { name };
    let info = RECOVERIES.iter().find(|info| info.name == known).expect("it is in the catalogue");
    let mut values = Values::defaults(info.parameters);
    if name == NEWRENO {
        values = values.with("selective", Value::Flag(false)).with("limited_transmit", Value::Flag(true));
    }
    let values = match known {
        "go-back-n" => values.with("timeout", Value::Time(Span::from_micros(200))),
        "sack" => values
            .with("min_timeout", Value::Time(Span::from_micros(100)))
            .with("initial_timeout", Value::Time(Span::from_micros(200)))
            .with("max_timeout", Value::Time(Span::from_millis(2))),
        _ => values,
    };
    (info.build)(&values).expect("it is valid")
}

/// All that retransmit.
fn all() -> Vec<&'static str> {
    let retransmits = |name: &&str| named(name).sender.is_some();
    RECOVERIES.iter().map(|info| info.name).chain([NEWRENO]).filter(retransmits).collect()
}

fn setup(name: &str, channel: Channel, window: u64, frames: u64, seed: u64) -> Setup<Fixed> {
    Setup {
        recovery: named(name),
        acknowledger: Acknowledger::every(1),
        data: channel.clone(),
        replies: channel,
        frame_time: Span::from_nanos(100),
        window: Fixed(window),
        frames,
        seed,
        limit: Time::ZERO + Span::from_secs(10),
    }
}

fn check(name: &str, outcome: &Outcome) {
    assert!(outcome.finished.is_some(), "{name} does not end: {outcome:?}");
    assert!(outcome.is_complete(), "{name} delivers a frame never or twice: {outcome:?}");
}

#[test]
fn nothing_is_sent_twice_over_a_channel_without_faults() {
    for name in all() {
        let outcome = run(&mut setup(name, Channel::of(Span::from_micros(3)), 100, 1000, 1));
        check(name, &outcome);
        assert_eq!((outcome.transmissions, outcome.again, outcome.timeouts), (1000, 0, 0), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn each_frame_is_delivered_exactly_once(
        recovery in 0..16_usize,
        loss in prop_oneof![Just(0.0), 0.0..0.02, 0.0..0.5],
        duplication in prop_oneof![Just(0.0), 0.0..0.3],
        trimming in prop_oneof![Just(0.0), 0.0..0.3],
        jitter in prop_oneof![Just(0_u64), 1..20_000_u64],
        window in 1..200_u64,
        frames in 1..400_u64,
        every in 1..5_u32,
        seed: u64,
    ) {
        let name = all()[recovery % all().len()];
        let delay = Span::from_micros(2);
        let channel = Channel { delay, jitter: Span::from_nanos(jitter), loss, duplication, trimming, ..Channel::of(delay) };
        let mut setup = setup(name, channel, window, frames, seed);
        setup.acknowledger = Acknowledger::every(every).within(Span::from_micros(5));
        let outcome = run(&mut setup);
        check(name, &outcome);
        prop_assert_eq!(run(&mut setup), outcome, "the same seed, the same run");
    }
}

#[test]
fn a_channel_that_is_dead_for_a_while_is_waited_out() {
    // Every frame and reply is lost with probability 0.9: long silences, lost replies, lost retransmissions.
    for name in all() {
        let channel = Channel { loss: 0.9, ..Channel::of(Span::from_micros(2)) };
        check(name, &run(&mut setup(name, channel, 16, 20, 5)));
    }
}
