//! LIPD, FIMD and AIMD: the conditions they were designed to meet, for any least rate and factor, and the hybrid of
//! window and rate.

#![allow(missing_docs)]

use proptest::prelude::*;
use tailback_congestion::parameter::{Invalid, Value, Values};
use tailback_congestion::{Adapter, Allowance, Feedback, PROTOCOLS, Reaction, ReactionPoint, ResponseFunction};
use units::{Bytes, Rate, Span, Time};

const FRAME: Bytes = Bytes::new(2068);
/// What rounding may do to a share.
const ROUNDING: f64 = 1e-9;

fn build(name: &str, given: &[(&'static str, Value)]) -> Result<Reaction, Invalid> {
    let info = PROTOCOLS.iter().find(|info| info.name == name).unwrap();
    let known = given.iter().filter(|(name, _)| info.parameters.iter().any(|parameter| parameter.name == *name));
    let values =
        known.fold(Values::defaults(info.parameters), |values, (name, value)| values.with(name, value.clone()));
    (info.build)(&values)
}

fn answer(marked: bool) -> Feedback {
    Feedback::Acknowledgement { bytes: FRAME, marked, round_trip: Span::ZERO, path: Default::default() }
}

fn share(point: &Reaction) -> f64 {
    match point {
        Reaction::RateLaw(point) => point.share(),
        other => panic!("not a rate law: {other:?}"),
    }
}

/// A source on an 8 Gb/s link.
fn source(name: &str, least: Rate, factor: f64, window: u64) -> Reaction {
    let given =
        [("min_rate", Value::Rate(least)), ("factor", Value::Number(factor)), ("window_packets", Value::Count(window))];
    let mut point = build(name, &given).unwrap();
    point.attach(&Adapter::of(Rate::from_gigabits(8), FRAME)).unwrap();
    point
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("lipd"), Just("fimd"), Just("aimd")]
}

fn laws(factor: f64) -> [ResponseFunction; 3] {
    [ResponseFunction::Lipd, ResponseFunction::Fimd { factor }, ResponseFunction::Aimd { factor }]
}

/// The least share from which a decrease is not cut short by the least rate.
fn lowest_uncut(law: ResponseFunction, least: f64) -> f64 {
    match law {
        ResponseFunction::Lipd => 1.0 / (1.0 / least - 1.0),
        ResponseFunction::Fimd { factor } | ResponseFunction::Aimd { factor } => least * factor,
    }
}

/// Packet times from a decrease at `share` until the share is back, with one unmarked answer for each packet, packets
/// being as far apart as the rate of the moment says; and how many of them the last packet took.
fn recovery(law: ResponseFunction, share: f64, least: f64) -> (f64, f64) {
    let mut now = law.decrease(share, least);
    let (mut time, mut last) = (0.0, 0.0);
    while now < share * (1.0 - ROUNDING) {
        last = 1.0 / now;
        time += last;
        now = law.increase(now, least);
    }
    (time, last)
}

/// What the derivation in the documentation says it takes, were packets infinitely small.
fn recovery_by_formula(law: ResponseFunction, share: f64, least: f64) -> f64 {
    match law {
        ResponseFunction::Lipd | ResponseFunction::Fimd { .. } => 1.0 / least,
        ResponseFunction::Aimd { factor } => share / (factor * least * least),
    }
}

proptest! {
    #[test]
    fn rates_stay_between_the_least_and_the_largest(
        name in name(),
        least in 1u64..8_000_000_000,
        factor in 1.001f64..1000.0,
        answers in prop::collection::vec(prop::bool::weighted(0.4), 1..200),
    ) {
        let (least, largest) = (Rate::from_bits_per_sec(least), Rate::from_gigabits(8));
        let mut point = source(name, least, factor, 1);
        prop_assert_eq!(point.allowance().rate, Some(largest), "it starts at full speed");
        for marked in answers {
            let before = point.allowance().rate;
            point.on_feedback(Time::ZERO, &answer(marked));
            let rate = point.allowance().rate;
            prop_assert!(rate >= Some(least) && rate <= Some(largest), "{:?}", rate);
            let (lower, higher) = if marked { (rate, before) } else { (before, rate) };
            prop_assert!(lower <= higher);
        }
    }

    #[test]
    fn an_increase_does_not_undo_more_than_the_decrease(
        interval in 2.0f64..100_000.0,
        factor in 1.001f64..1000.0,
        part in 0.0f64..=1.0,
    ) {
        let least = 1.0 / interval;
        for law in laws(factor) {
            let lowest = lowest_uncut(law, least);
            if lowest <= 1.0 {
                let share = lowest + part * (1.0 - lowest);
                let after = law.increase(law.decrease(share, least), least);
                prop_assert!(after <= share * (1.0 + ROUNDING), "{:?}: {} became {}", law, share, after);
            }
        }
    }

    /// The last packet before the rate is back may bring more than was missing. So times are compared within one packet
    /// interval: the last one of the lower rate.
    #[test]
    fn a_lower_rate_recovers_no_more_slowly(
        interval in 2.0f64..300.0,
        factor in 1.001f64..100.0,
        parts in (0.0f64..=1.0, 0.0f64..=1.0),
    ) {
        let least = 1.0 / interval;
        for law in laws(factor) {
            let lowest = lowest_uncut(law, least);
            if lowest <= 1.0 {
                let share = |part: f64| lowest + part * (1.0 - lowest);
                let (low, last) = recovery(law, share(parts.0.min(parts.1)), least);
                let (high, _) = recovery(law, share(parts.0.max(parts.1)), least);
                prop_assert!(low <= high * (1.0 + ROUNDING) + last, "{:?}: {} and {}", law, low, high);
            }
        }
    }

    /// Again within the last packet interval.
    #[test]
    fn recovery_takes_as_long_as_derived(
        interval in 2.0f64..300.0,
        factor in 1.001f64..100.0,
        part in 0.0f64..=1.0,
    ) {
        let least = 1.0 / interval;
        for law in laws(factor) {
            let lowest = lowest_uncut(law, least);
            if lowest <= 1.0 {
                let share = lowest + part * (1.0 - lowest);
                let (time, last) = recovery(law, share, least);
                let (formula, slack) = (recovery_by_formula(law, share, least), 1e-5 * time);
                prop_assert!(time >= formula - slack, "{:?}: {} for {}", law, time, formula);
                prop_assert!(time <= formula + last + slack, "{:?}: {} for {}", law, time, formula);
            }
        }
    }

    #[test]
    fn from_the_least_rate_it_takes_one_packet_interval(interval in 2.0f64..100_000.0, factor in 1.001f64..1000.0) {
        let least = 1.0 / interval;
        for law in laws(factor) {
            let share = lowest_uncut(law, least);
            if share <= 1.0 {
                let (time, _) = recovery(law, share, least);
                prop_assert!((time - interval).abs() <= interval * ROUNDING, "{:?}: {} for {}", law, time, interval);
            }
        }
    }

    #[test]
    fn window_and_rate_never_limit_together(
        name in name(),
        window in 2u64..300,
        answers in prop::collection::vec(prop::bool::weighted(0.5), 1..200),
    ) {
        let mut hybrid = source(name, Rate::from_megabits(1), 2.0, window);
        let mut paced = source(name, Rate::from_megabits(1), 2.0, 1);
        let largest = Some(Rate::from_gigabits(8));
        for marked in answers {
            hybrid.on_feedback(Time::ZERO, &answer(marked));
            paced.on_feedback(Time::ZERO, &answer(marked));
            let Allowance { rate, window: bytes } = hybrid.allowance();
            let packets = bytes.unwrap().get() / FRAME.get();
            prop_assert_eq!(bytes, Some(FRAME * packets), "whole packets");
            prop_assert!(packets == 1 || rate == largest, "{} packets at {:?}", packets, rate);
            if share(&hybrid) * (window as f64) < 1.0 {
                prop_assert_eq!(hybrid.allowance(), paced.allowance(), "below a packet it is a rate");
            } else {
                prop_assert_eq!((rate, packets), (largest, (share(&hybrid) * window as f64) as u64));
            }
        }
    }

    #[test]
    fn a_window_of_one_packet_is_a_rate(
        name in name(),
        answers in prop::collection::vec(prop::bool::weighted(0.5), 1..100),
    ) {
        let mut point = source(name, Rate::from_megabits(10), 2.0, 1);
        for marked in answers {
            point.on_feedback(Time::ZERO, &answer(marked));
            let Allowance { rate, window } = point.allowance();
            prop_assert_eq!(window, Some(FRAME));
            let expected = share(&point) * 8e9;
            prop_assert!((rate.unwrap().as_bits_per_sec() as f64 - expected).abs() <= 1.0);
        }
    }

    #[test]
    fn a_larger_share_is_never_allowed_less(
        name in name(),
        window in 1u64..300,
        answers in prop::collection::vec(prop::bool::weighted(0.5), 2..200),
    ) {
        let mut point = source(name, Rate::from_megabits(1), 2.0, window);
        let mut seen = Vec::new();
        for marked in answers {
            point.on_feedback(Time::ZERO, &answer(marked));
            let Allowance { rate, window } = point.allowance();
            seen.push((share(&point), rate, window));
        }
        seen.sort_by(|a, b| a.0.total_cmp(&b.0));
        for pair in seen.windows(2) {
            prop_assert!(pair[0].1 <= pair[1].1 && pair[0].2 <= pair[1].2, "{:?}", pair);
        }
    }
}

#[test]
fn rates_in_the_wrong_order_are_refused() {
    for name in ["lipd", "fimd", "aimd"] {
        for (least, largest) in [(8, 8), (9, 8)] {
            let rate = |gigabits| Value::Rate(Rate::from_gigabits(gigabits));
            let refused = build(name, &[("min_rate", rate(least)), ("max_rate", rate(largest))]).unwrap_err();
            assert_eq!(refused.parameter, "min_rate");
            // Only the link tells that the least rate is too large.
            let mut point = build(name, &[("min_rate", rate(least))]).unwrap();
            let refused = point.attach(&Adapter::of(Rate::from_gigabits(largest), FRAME)).unwrap_err();
            assert_eq!(refused.parameter, "min_rate");
            assert!(refused.to_string().contains("`max_rate`"), "{refused}");
        }
    }
}

#[test]
fn without_a_least_rate_it_is_a_256th_of_the_largest() {
    for name in ["lipd", "fimd", "aimd"] {
        let largest = Rate::from_megabits(2_560);
        let mut point = build(name, &[("max_rate", Value::Rate(largest))]).unwrap();
        point.attach(&Adapter::of(Rate::from_gigabits(8), FRAME)).unwrap();
        assert_eq!(point.allowance().rate, Some(largest), "the largest rate, not the link's");
        (0..1000).for_each(|_| point.on_feedback(Time::ZERO, &answer(true)));
        assert_eq!(point.allowance().rate, Some(Rate::from_megabits(10)), "{name}");
    }
}

#[test]
fn only_answers_move_it() {
    for name in ["lipd", "fimd", "aimd"] {
        let mut point = source(name, Rate::from_megabits(10), 2.0, 1);
        point.on_feedback(Time::ZERO, &answer(true));
        let before = point.allowance();
        point.on_sent(Time::ZERO, FRAME);
        point.on_feedback(
            Time::ZERO,
            &Feedback::Notice { feedback: 63, offset: -9, growth: 9, point: 0, guidance: None },
        );
        point.on_deadline(Time::from_picos(5));
        assert_eq!((point.allowance(), point.deadline(), point.shares_feedback()), (before, None, false));
    }
}

/// The steps of LIPD in packet times: a mark adds one, an unmarked answer takes a 256th part away.
#[test]
fn lipd_counts_in_packet_times() {
    let mut point = source("lipd", Rate::from_bits_per_sec(31_250_000), 2.0, 1);
    let gigabits = |point: &Reaction| point.allowance().rate.unwrap().as_bits_per_sec() as f64 / 1e9;
    for packet_times in 2..=10 {
        point.on_feedback(Time::ZERO, &answer(true));
        assert!((gigabits(&point) - 8.0 / f64::from(packet_times)).abs() < 1e-6);
    }
    point.on_feedback(Time::ZERO, &answer(false));
    assert!((gigabits(&point) - 8.0 / (10.0 * 255.0 / 256.0)).abs() < 1e-6);
}
