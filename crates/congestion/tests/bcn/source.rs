//! The reaction point.

use crate::{build_source, choice, of_source};
use congestion::parameter::{Value, Values};
use congestion::point::tag_of;
use congestion::{Adapter, Allowance, Feedback, HALTED, Reaction, ReactionPoint};
use proptest::prelude::*;
use units::{Bytes, Rate, Span, Time};

const LINK: Rate = Rate::from_gigabits(10);

fn attached(name: &str, values: &Values, flow: u32) -> Reaction {
    let mut source = build_source(name, values).unwrap();
    source.attach(&Adapter { flow, ..Adapter::of(LINK, Bytes::new(1500)) }).unwrap();
    source
}

fn source(name: &str, values: &Values) -> Reaction {
    attached(name, values, 0)
}

fn rate(megabits: u64) -> Value {
    Value::Rate(Rate::from_megabits(megabits))
}

/// A notice that arrives.
fn notify(source: &mut Reaction, now: Time, point: u32, offset: i32, growth: i32) {
    source.on_feedback(now, &Feedback::Notice { feedback: 0, offset, growth, point, guidance: None });
}

/// Feedback of so many units, packets or pages, from an unchanging queue.
fn units(source: &mut Reaction, point: u32, size: i32, units: i32) {
    notify(source, Time::ZERO, point, units * size, 0);
}

fn severe(source: &mut Reaction, now: Time, point: u32) {
    source.on_feedback(now, &Feedback::Notice { feedback: 1, offset: 0, growth: 0, point, guidance: None });
}

fn allowed(source: &Reaction) -> Option<u64> {
    source.allowance().rate.map(Rate::as_bits_per_sec)
}

#[test]
fn negative_feedback_makes_a_limiter_associates_and_decreases() {
    let mut bcn = source("bcn", &of_source("bcn"));
    assert!(bcn.tags());
    // Nothing positive makes a limiter, and no acknowledgement does.
    units(&mut bcn, 5, 1500, 3);
    units(&mut bcn, 5, 1500, 0);
    let (bytes, round_trip) = (Bytes::new(1500), Span::ZERO);
    bcn.on_feedback(
        Time::ZERO,
        &Feedback::Acknowledgement { bytes, marked: true, round_trip, path: Default::default() },
    );
    assert_eq!((bcn.allowance(), bcn.deadline(), bcn.tag()), (Allowance::default(), None, 0));
    // 1 - 16/128 of 10 Gb/s, then 1 - (1 + 2 * 2)/128 of that.
    units(&mut bcn, 5, 1500, -16);
    assert_eq!((allowed(&bcn), bcn.tag()), (Some(8_750_000_000), tag_of(5)));
    notify(&mut bcn, Time::ZERO, 5, -1_500, 3_000);
    assert_eq!(allowed(&bcn), Some(8_408_203_125));
    // A queue above its set point that falls fast: positive feedback. 4 * (-1 + 2 * 2) Mb/s.
    notify(&mut bcn, Time::ZERO, 5, -1_500, -3_000);
    assert_eq!(allowed(&bcn), Some(8_420_203_125));
    // Parts of a packet count: 4 * 0.5 Mb/s.
    notify(&mut bcn, Time::ZERO, 5, 750, 0);
    assert_eq!(allowed(&bcn), Some(8_422_203_125));
    // Not below half at once.
    units(&mut bcn, 5, 1500, -100);
    assert_eq!(allowed(&bcn), Some(4_211_101_562));
    units(&mut bcn, 5, 1500, -1_000);
    assert_eq!(allowed(&bcn), Some(2_105_550_781));
    // And never below the least rate.
    (0..30).for_each(|_| units(&mut bcn, 5, 1500, -1_000));
    assert_eq!(allowed(&bcn), Some(1_000_000));
    // Without a clock there is nothing to wait for.
    assert_eq!(bcn.deadline(), None);
}

#[test]
fn only_the_point_that_last_asked_for_a_decrease_increases() {
    let mut bcn = source("bcn", &of_source("bcn"));
    units(&mut bcn, 5, 1500, -64);
    units(&mut bcn, 6, 1500, 10);
    assert_eq!((allowed(&bcn), bcn.tag()), (Some(5_000_000_000), tag_of(5)));
    units(&mut bcn, 5, 1500, 10);
    assert_eq!(allowed(&bcn), Some(5_040_000_000));
    units(&mut bcn, 6, 1500, -64);
    assert_eq!((allowed(&bcn), bcn.tag()), (Some(2_520_000_000), tag_of(6)));
    units(&mut bcn, 5, 1500, 10);
    assert_eq!(allowed(&bcn), Some(2_520_000_000));
    units(&mut bcn, 6, 1500, 10);
    assert_eq!(allowed(&bcn), Some(2_560_000_000));
}

#[test]
fn a_queue_above_its_set_point_associates_where_that_is_the_rule() {
    // Above the set point by a page, falling by a page: feedback of -1 + 2.
    let falling = |source: &mut Reaction| notify(source, Time::ZERO, 8, -64, -64);
    let mut ecm = source("ecm", &of_source("ecm"));
    falling(&mut ecm);
    assert_eq!((allowed(&ecm), ecm.tag()), (None, 0));
    units(&mut ecm, 7, 64, -1_875);
    falling(&mut ecm);
    // Associated, and so increased: by 0.53333 Mb/s.
    assert_eq!((allowed(&ecm), ecm.tag()), (Some(5_000_470_830), tag_of(8)));
    let mut ecm = source("ecm", &of_source("ecm").with("associated_by", choice("feedback")));
    units(&mut ecm, 7, 64, -1_875);
    falling(&mut ecm);
    assert_eq!((allowed(&ecm), ecm.tag()), (Some(4_999_937_500), tag_of(7)));
    // Below the set point and rising fast: a decrease, and by that rule an association, by the other none.
    for (rule, tag) in [("feedback", tag_of(8)), ("queue", tag_of(7))] {
        let mut ecm = source("ecm", &of_source("ecm").with("associated_by", choice(rule)));
        units(&mut ecm, 7, 64, -1);
        notify(&mut ecm, Time::ZERO, 8, 64, 64);
        assert_eq!(ecm.tag(), tag);
        assert!(allowed(&ecm) < Some(9_997_333_300));
    }
}

#[test]
fn the_numbers_of_ecm_fit_each_other() {
    let values = of_source("ecm");
    let (most, unit) = (values.number("most_feedback"), values.size("unit").get());
    let set_point = crate::of_point("ecm").size("set_point").get() / unit;
    assert_eq!((most, set_point), ((1.0 + 2.0 * values.number("weight")) * set_point as f64, 375));
    assert!((values.number("gd") * most - 0.5).abs() < 1e-5);
    let step = values.number("gi") * most * values.rate("ru").as_bits_per_sec() as f64;
    assert!((step / (LINK.as_bits_per_sec() as f64 / 10.0) - 1.0).abs() < 1e-5);
    // And that is what a source does, however far the queue is off.
    for pages in [1_875, 2_000, 100_000] {
        let mut ecm = source("ecm", &values);
        units(&mut ecm, 7, 64, -pages);
        assert_eq!(allowed(&ecm), Some(4_999_937_500));
        units(&mut ecm, 7, 64, pages);
        assert_eq!(allowed(&ecm), Some(5_999_931_250));
    }
}

#[test]
fn a_limiter_back_at_the_largest_rate_is_removed_with_its_association() {
    let mut bcn = source("bcn", &of_source("bcn"));
    units(&mut bcn, 5, 1500, -1);
    assert_eq!(allowed(&bcn), Some(9_921_875_000));
    units(&mut bcn, 5, 1500, 19);
    assert_eq!(allowed(&bcn), Some(9_997_875_000));
    units(&mut bcn, 5, 1500, 1);
    assert_eq!((bcn.allowance(), bcn.tag(), bcn.deadline()), (Allowance::default(), 0, None));
    // Drift does the same.
    let mut ecm = source("ecm", &of_source("ecm"));
    units(&mut ecm, 5, 64, -1);
    assert_eq!(allowed(&ecm), Some(9_997_333_300));
    let mut periods = 0;
    while let Some(now) = ecm.deadline() {
        ecm.on_deadline(now);
        periods += 1;
        assert_eq!(now, Time::ZERO + Span::from_millis(periods));
    }
    assert_eq!((periods, ecm.allowance(), ecm.tag()), (3, Allowance::default(), 0));
    // A largest rate below that of the link holds without a limiter too.
    let mut slow = source("bcn", &of_source("bcn").with("max_rate", rate(4_000)));
    assert_eq!(allowed(&slow), Some(4_000_000_000));
    units(&mut slow, 5, 1500, -64);
    assert_eq!(allowed(&slow), Some(2_000_000_000));
    units(&mut slow, 5, 1500, 500);
    assert_eq!((allowed(&slow), slow.tag()), (Some(4_000_000_000), 0));
}

#[test]
fn a_start_rate_is_a_limiter_without_association() {
    let mut bcn = source("bcn", &of_source("bcn").with("start_rate", rate(100)));
    assert_eq!((allowed(&bcn), bcn.tag(), bcn.deadline()), (Some(100_000_000), 0, None));
    units(&mut bcn, 5, 1500, 10);
    assert_eq!((allowed(&bcn), bcn.tag()), (Some(100_000_000), 0));
    units(&mut bcn, 5, 1500, -32);
    assert_eq!((allowed(&bcn), bcn.tag()), (Some(75_000_000), tag_of(5)));
    let all = source("bcn", &of_source("bcn").with("start_rate", rate(10_000)));
    assert_eq!(all.allowance(), Allowance::default());
}

/// The rate after a second of a source that starts at a rate, in Mb/s, with so many negative notices each 10 ms.
fn after_a_second(values: &Values, start: u64, notices: u64) -> f64 {
    let mut bcn = source("bcn", &values.clone().with("start_rate", rate(start)).with("gd", Value::Number(0.0)));
    let second = Time::ZERO + Span::from_secs(1);
    bcn.on_sent(Time::ZERO, Bytes::new(1500));
    let mut next = Time::ZERO + Span::from_millis(5);
    while next <= second {
        while bcn.deadline().is_some_and(|now| now <= next) {
            bcn.on_deadline(bcn.deadline().unwrap());
        }
        (0..notices).for_each(|_| notify(&mut bcn, next, 5, -1, 0));
        next += Span::from_millis(10);
    }
    while bcn.deadline().is_some_and(|now| now <= second) {
        bcn.on_deadline(bcn.deadline().unwrap());
    }
    allowed(&bcn).unwrap() as f64 / 1e6
}

fn close(found: f64, wanted: f64) {
    assert!((found / wanted - 1.0).abs() < 1e-8, "{found} {wanted}");
}

#[test]
fn each_reading_of_self_increase_over_a_second() {
    let with = |law: &str| of_source("bcn").with("self_increase", choice(law));
    let every = |values: Values, millis: u64| values.with("si_period", Value::Time(Span::from_millis(millis)));
    // SI-0.
    close(after_a_second(&of_source("bcn"), 1_000, 1), 1_000.0);
    // SI-1, whatever is noticed and however long the period.
    for notices in [0, 3] {
        close(after_a_second(&with("additive"), 1_000, notices), 1_010.0);
        close(after_a_second(&with("additive").with("si_rate", rate(500)), 1_000, notices), 1_500.0);
        close(after_a_second(&every(with("additive"), 100), 1_000, notices), 1_010.0);
    }
    // SI-2: ten times, whatever the period; or two, ten times; or two, five times; or less and less.
    let factor = |is: &str, millis: u64| every(with("multiplicative").with("si_factor_is", choice(is)), millis);
    close(after_a_second(&with("multiplicative"), 500, 0), 5_000.0);
    close(after_a_second(&factor("compound", 50), 500, 2), 5_000.0);
    close(after_a_second(&factor("linear", 100), 5, 0), 5.0 * 1_024.0);
    close(after_a_second(&factor("literal", 200), 100, 0), 3_200.0);
    close(after_a_second(&factor("literal", 1), 100, 0), 1.0);
    // SI-3: a hundred periods of 10 ms, 5 Mb/s each, divided by the notices; without notices nothing, or as with one.
    for (notices, rate) in [(0, 1_000.0), (1, 1_500.0), (2, 1_250.0), (5, 1_100.0)] {
        close(after_a_second(&with("by-notices"), 1_000, notices), rate);
    }
    let one = with("by-notices").with("si_unnoticed", choice("one"));
    close(after_a_second(&one, 1_000, 0), 1_500.0);
    close(after_a_second(&one.clone().with("si_rate", rate(100)), 1_000, 2), 1_050.0);
}

#[test]
fn ecm_drifts_by_a_gigabit_in_a_second() {
    let mut ecm = source("ecm", &of_source("ecm"));
    let start = Time::ZERO + Span::from_micros(7);
    notify(&mut ecm, start, 5, -64 * 1_875, 0);
    while ecm.deadline().unwrap() <= start + Span::from_secs(1) {
        ecm.on_deadline(ecm.deadline().unwrap());
    }
    assert_eq!(allowed(&ecm), Some(5_999_937_500));
}

#[test]
fn the_clock_starts_with_the_first_frame_or_with_the_limiter() {
    let values = of_source("bcn").with("self_increase", choice("additive"));
    let at = |micros: u64| Time::ZERO + Span::from_micros(micros);
    let mut bcn = source("bcn", &values.clone().with("start_rate", rate(100)));
    assert_eq!(bcn.deadline(), None);
    for micros in [300, 400] {
        bcn.on_sent(at(micros), Bytes::new(1500));
        assert_eq!(bcn.deadline(), Some(at(1_300)));
    }
    bcn.on_deadline(at(1_300));
    assert_eq!((bcn.deadline(), allowed(&bcn)), (Some(at(2_300)), Some(100_010_000)));
    // Notices do not put it back.
    let mut bcn = source("bcn", &values);
    bcn.on_sent(at(1), Bytes::new(1500));
    assert_eq!(bcn.deadline(), None);
    for micros in [300, 400] {
        notify(&mut bcn, at(micros), 5, -1_500, 0);
        assert_eq!(bcn.deadline(), Some(at(1_300)));
    }
}

#[test]
fn severe_congestion_stops_the_flow_which_goes_on_with_the_least_rate() {
    for name in ["bcn", "ecm"] {
        let mut it = source(name, &of_source(name));
        severe(&mut it, Time::ZERO, 5);
        assert_eq!((it.allowance().rate, it.tag()), (Some(HALTED), tag_of(5)));
        // While it is stopped, nothing changes its rate, but it may be associated anew.
        notify(&mut it, Time::ZERO, 5, 15_000, 0);
        notify(&mut it, Time::ZERO, 6, -15_000, 0);
        assert_eq!((it.allowance().rate, it.tag()), (Some(HALTED), tag_of(6)));
        let end = it.deadline().unwrap();
        assert!(end > Time::ZERO && end <= Time::ZERO + Span::from_micros(10));
        it.on_deadline(end);
        assert_eq!((it.allowance().rate, it.tag()), (Some(Rate::from_megabits(1)), tag_of(6)));
    }
    // The clock goes on meanwhile, and has no effect.
    let long = Value::Time(Span::from_secs(1));
    let mut ecm = source("ecm", &of_source("ecm").with("stop_first", long.clone()).with("stop_most", long));
    severe(&mut ecm, Time::ZERO, 5);
    let mut last = Time::ZERO;
    while ecm.allowance().rate == Some(HALTED) {
        last = ecm.deadline().unwrap();
        ecm.on_deadline(last);
    }
    assert!(last > Time::ZERO + Span::from_millis(1) && !last.as_picos().is_multiple_of(1_000_000_000));
    assert_eq!(allowed(&ecm), Some(1_000_000));
    ecm.on_deadline(ecm.deadline().unwrap());
    assert_eq!(allowed(&ecm), Some(2_000_000));
}

/// How long the n-th stop in a row is, for many flows.
fn stops(n: usize, flows: u32) -> Vec<f64> {
    let stop = |flow: u32| {
        let mut bcn = attached("bcn", &of_source("bcn"), flow);
        let mut now = Time::ZERO;
        for _ in 0..n {
            severe(&mut bcn, now, 5);
            now = bcn.deadline().unwrap();
            bcn.on_deadline(now);
        }
        severe(&mut bcn, now, 5);
        (bcn.deadline().unwrap() - now).as_secs_f64()
    };
    (0..flows).map(stop).collect()
}

#[test]
fn stops_in_a_row_double_up_to_a_limit() {
    for (n, micros) in [10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1000.0, 1000.0, 1000.0].into_iter().enumerate() {
        let (longest, found) = (micros * 1e-6, stops(n, 400));
        assert!(found.iter().all(|stop| *stop > 0.0 && *stop <= longest));
        let mean = found.iter().sum::<f64>() / 400.0 / longest;
        // Four deviations of 1 / sqrt(12 * 400).
        assert!((mean - 0.5).abs() < 0.058, "{n}: {mean}");
    }
    // Any other notice between makes the next the first again; the end of a stop is no notice, and need not come.
    let first = |between: &dyn Fn(&mut Reaction)| {
        let longest = |flow: u32| {
            let mut bcn = attached("bcn", &of_source("bcn"), flow);
            (0..9).for_each(|_| severe(&mut bcn, Time::ZERO, 5));
            between(&mut bcn);
            severe(&mut bcn, Time::ZERO, 5);
            bcn.deadline().unwrap() - Time::ZERO
        };
        (0..50).map(longest).max().unwrap()
    };
    assert!(first(&|bcn| units(bcn, 5, 1500, -1)) <= Span::from_micros(10));
    assert!(first(&|bcn| units(bcn, 5, 1500, 1)) <= Span::from_micros(10));
    assert!(first(&|_| {}) > Span::from_micros(800));
}

#[test]
fn a_new_limiter_may_start_at_the_rate_offered() {
    let values = of_source("bcn").with("new_limiter", choice("offered"));
    let at = |micros: u64| Time::ZERO + Span::from_micros(micros);
    // 1500 bytes each 10 us: 1.2 Gb/s, so 1.05 Gb/s after 1 - 16/128.
    let mut bcn = source("bcn", &values);
    for n in 0..250 {
        bcn.on_sent(at(10 * n), Bytes::new(1500));
    }
    notify(&mut bcn, at(2_495), 5, -24_000, 0);
    assert_eq!(allowed(&bcn), Some(1_050_000_000));
    // Nothing is known of a flow that has hardly begun; one that has fallen silent has offered less.
    let mut bcn = source("bcn", &values);
    bcn.on_sent(at(0), Bytes::new(1500));
    notify(&mut bcn, at(1), 5, -24_000, 0);
    assert_eq!(allowed(&bcn), Some(8_750_000_000));
    let mut bcn = source("bcn", &values);
    (0..100).for_each(|_| bcn.on_sent(at(0), Bytes::new(1500)));
    notify(&mut bcn, at(12_000), 5, -24_000, 0);
    assert_eq!(allowed(&bcn), Some(87_500_000));
}

#[test]
fn what_does_not_fit_is_refused() {
    let time = |micros: u64| Value::Time(Span::from_micros(micros));
    for (name, key, value, blamed) in [
        ("bcn", "max_rate", rate(1), "min_rate"),
        ("bcn", "start_rate", Value::Rate(Rate::from_bits_per_sec(999_999)), "start_rate"),
        ("bcn", "stop_first", time(0), "stop_first"),
        ("bcn", "stop_first", time(1_001), "stop_most"),
        ("bcn", "offered_over", time(0), "offered_over"),
        ("ecm", "drift_period", time(0), "drift_period"),
    ] {
        assert_eq!(build_source(name, &of_source(name).with(key, value)).unwrap_err(), blamed);
    }
    let still = of_source("bcn").with("self_increase", choice("additive")).with("si_period", time(0));
    assert_eq!(build_source("bcn", &still).unwrap_err(), "si_period");
    let above = of_source("bcn").with("max_rate", rate(50)).with("start_rate", rate(51));
    assert_eq!(build_source("bcn", &above).unwrap_err(), "start_rate");
    let mut slow = build_source("ecm", &of_source("ecm")).unwrap();
    assert!(slow.attach(&Adapter::of(Rate::from_megabits(1), Bytes::new(1500))).is_err());
}

proptest! {
    /// Whatever happens, a flow is free, stopped, or between the least and the largest rate; and tagged only while it
    /// has a limiter.
    #[test]
    fn rates_stay_within_their_bounds(
        steps in prop::collection::vec((0..5_u8, -200_000..200_000_i32, -200_000..200_000_i32, 0..3_u32), 1..300),
        ecm in any::<bool>(),
        (law, is, factor) in (0..4_usize, 0..3_usize, 0.0..100.0),
        (least, start) in (1..500_u64, 500..10_000_u64),
        offered in any::<bool>(),
    ) {
        let name = if ecm { "ecm" } else { "bcn" };
        let mut values = of_source(name)
            .with("min_rate", rate(least))
            .with("start_rate", rate(start))
            .with("new_limiter", choice(if offered { "offered" } else { "max-rate" }));
        if !ecm {
            values.set("self_increase", choice(["none", "additive", "multiplicative", "by-notices"][law]));
            values.set("si_factor_is", choice(["compound", "linear", "literal"][is]));
            values.set("si_factor", Value::Number(factor));
        }
        let mut it = source(name, &values);
        let mut now = Time::ZERO;
        for (kind, offset, growth, point) in steps {
            now += Span::from_micros(20);
            let before = it.tag();
            match (kind, it.deadline()) {
                (0 | 1, _) => notify(&mut it, now, point, offset, growth),
                (2, _) => severe(&mut it, now, point),
                (3, Some(deadline)) => {
                    now = now.max(deadline);
                    it.on_deadline(now);
                }
                _ => it.on_sent(now, Bytes::new(1500)),
            }
            let bounds = Rate::from_megabits(least)..LINK;
            match it.allowance() {
                Allowance { rate: None, window } => prop_assert_eq!((window, it.tag(), it.deadline()), (None, 0, None)),
                Allowance { rate: Some(rate), .. } => prop_assert!(rate == HALTED || bounds.contains(&rate), "{}", rate),
            }
            // Only notices change the association, but for the end of the limiter.
            prop_assert!(kind < 3 || it.tag() == before || it.tag() == 0);
            prop_assert!(kind != 3 || it.deadline().is_none_or(|next| next > now));
        }
    }
}
