//! What the limiter does, notice by notice and stage by stage.

use super::*;
use crate::parameter::Value;
use crate::qcn_standard::SOURCE as INFO;
use proptest::prelude::*;

fn values() -> Values {
    Values::defaults(INFO.parameters).with("jitter", Value::Number(0.0))
}

fn choice(name: &str) -> Value {
    Value::Choice(name.to_owned())
}

/// A source at a link of 10 Gb/s.
fn source(values: &Values) -> QcnSource {
    let Reaction::Qcn(mut source) = QcnSource::build(values).unwrap() else { panic!("not a QCN source") };
    source.attach(&Adapter::of(Rate::from_gigabits(10), Bytes::new(1500))).unwrap();
    *source
}

fn notify(source: &mut QcnSource, now: Time, feedback: u8) {
    source.on_feedback(now, &Feedback::Notice { feedback, offset: -1, growth: 0, point: 0, guidance: None });
}

/// Sends until a stage of the byte counter is complete, and returns how many bytes that took.
fn byte_stage(source: &mut QcnSource) -> u64 {
    let stage = |source: &QcnSource| source.limiter.map(|limiter| limiter.byte_stage);
    let before = stage(source);
    let mut bytes = 0;
    while stage(source) == before {
        source.on_sent(Time::ZERO, Bytes::new(500));
        bytes += 500;
    }
    bytes
}

fn time_stage(source: &mut QcnSource) -> Span {
    let now = source.deadline().unwrap();
    source.on_deadline(now);
    source.deadline().unwrap() - now
}

/// Current and target rate in Mb/s.
fn rates(source: &QcnSource) -> (f64, f64) {
    let limiter = source.limiter.unwrap();
    (limiter.current / 1e6, limiter.target / 1e6)
}

/// Puts the limiter where a test wants it, in Mb/s.
fn set(source: &mut QcnSource, current: f64, target: f64) {
    let limiter = source.limiter.as_mut().unwrap();
    (limiter.current, limiter.target) = (current * 1e6, target * 1e6);
}

#[test]
fn only_congestion_makes_a_limiter() {
    let mut source = source(&values());
    for (feedback, offset) in [(0, -1), (5, 0), (5, 100)] {
        source.on_feedback(Time::ZERO, &Feedback::Notice { feedback, offset, growth: 0, point: 0, guidance: None });
        assert_eq!((source.allowance(), source.deadline()), (Allowance::default(), None));
    }
    let (bytes, round_trip) = (Bytes::new(1500), Span::ZERO);
    source.on_feedback(
        Time::ZERO,
        &Feedback::Acknowledgement { bytes, marked: true, round_trip, path: Default::default() },
    );
    assert_eq!(source.allowance(), Allowance::default());
    let now = Time::from_picos(9);
    notify(&mut source, now, 63);
    // 1 - 63/128 of 10 Gb/s.
    assert_eq!(source.allowance().rate, Some(Rate::from_bits_per_sec(5_078_125_000)));
    assert_eq!(source.deadline(), Some(now + Span::from_millis(15)));
    // A limiter that is there does not ask where the queue is; and nothing means nothing.
    for (feedback, rate) in [(0, 5_078_125_000), (32, 3_808_593_750)] {
        source.on_feedback(now, &Feedback::Notice { feedback, offset: 7, growth: 0, point: 0, guidance: None });
        assert_eq!(source.allowance().rate, Some(Rate::from_bits_per_sec(rate)));
    }
}

#[test]
fn a_notice_leaves_at_least_half_and_never_less_than_the_least_rate() {
    let mut steep = source(&values().with("gd", Value::Number(0.03125)));
    notify(&mut steep, Time::ZERO, 8);
    assert_eq!(rates(&steep), (7500.0, 10000.0));
    notify(&mut steep, Time::ZERO, 63);
    assert_eq!(rates(&steep), (3750.0, 10000.0));
    let mut source = source(&values());
    (0..30).for_each(|_| notify(&mut source, Time::ZERO, 63));
    assert_eq!(rates(&source), (5.0, 10000.0));
}

#[test]
fn the_first_notice_after_a_byte_stage_sets_the_target_and_a_train_keeps_it() {
    let mut source = source(&values());
    notify(&mut source, Time::ZERO, 32);
    notify(&mut source, Time::ZERO, 32);
    assert_eq!(rates(&source), (5625.0, 10000.0));
    // A stage of the timer is not one of the byte counter, which goes on counting through the notices.
    source.on_sent(Time::ZERO, Bytes::new(50_000));
    assert_eq!(time_stage(&mut source), Span::from_millis(15));
    assert_eq!(rates(&source), (7812.5, 10000.0));
    notify(&mut source, Time::ZERO, 32);
    assert_eq!(rates(&source), (5859.375, 10000.0));
    assert_eq!(byte_stage(&mut source), 100_500);
    assert_eq!(rates(&source).0, 7929.6875);
    source.on_sent(Time::ZERO, Bytes::new(50_000));
    for current in [5947.265625, 4460.44921875] {
        notify(&mut source, Time::ZERO, 32);
        assert_eq!(rates(&source), (current, 7929.6875));
    }
    // And the first of them started the byte counter anew.
    assert_eq!(byte_stage(&mut source), 150_500);
}

#[test]
fn fast_recovery_halves_the_distance_then_the_target_rises() {
    let mut source = source(&values());
    notify(&mut source, Time::ZERO, 32);
    set(&mut source, 1000.0, 2000.0);
    let mut stages = Vec::new();
    for current in [1500.0, 1750.0, 1875.0, 1937.5, 1968.75] {
        stages.push(byte_stage(&mut source));
        assert_eq!(rates(&source), (current, 2000.0));
    }
    // More than five stages of one counter: 5 Mb/s to the target each.
    for (current, target) in [(1986.875, 2005.0), (1998.4375, 2010.0)] {
        stages.push(byte_stage(&mut source));
        assert_eq!(rates(&source), (current, target));
    }
    // After the fifth a stage is half as long.
    assert_eq!(stages, [150_500, 150_500, 150_500, 150_500, 150_500, 75_500, 75_500]);
    // The timer begins at its own first stage, and has no effect on the byte counter.
    set(&mut source, 1000.0, 2000.0);
    let spans: Vec<_> = (0..5).map(|_| time_stage(&mut source).as_picos() / 100_000_000).collect();
    assert_eq!(spans, [150, 150, 150, 150, 75]);
    let limiter = source.limiter.unwrap();
    assert_eq!((limiter.byte_stage, limiter.time_stage, limiter.target), (7, 5, 2_025e6));
    // Both counters beyond five: 50 Mb/s times the lesser count of stages beyond.
    set(&mut source, 1000.0, 2000.0);
    time_stage(&mut source);
    assert_eq!(rates(&source), (1525.0, 2050.0));
    time_stage(&mut source);
    assert_eq!(rates(&source), (1837.5, 2150.0));
    time_stage(&mut source);
    assert_eq!(rates(&source).1, 2250.0);
    byte_stage(&mut source);
    assert_eq!(rates(&source).1, 2400.0);
}

#[test]
fn the_other_readings_differ_where_they_say() {
    // Active increase with the fifth stage.
    let mut at = source(&values().with("active_from", choice("at")));
    notify(&mut at, Time::ZERO, 32);
    for _ in 0..4 {
        time_stage(&mut at);
    }
    assert_eq!(rates(&at).1, 10000.0);
    time_stage(&mut at);
    assert_eq!(rates(&at).1, 10005.0);
    set(&mut at, 1000.0, 2000.0);
    for _ in 0..4 {
        byte_stage(&mut at);
    }
    assert_eq!(rates(&at).1, 2020.0);
    byte_stage(&mut at);
    assert_eq!(rates(&at).1, 2070.0);
    // Half a byte stage only when the timer is also beyond its fifth.
    let mut late = source(&values().with("halve_byte_counter", choice("hyperactive")));
    notify(&mut late, Time::ZERO, 32);
    set(&mut late, 1000.0, 2000.0);
    let stages: Vec<_> = (0..7).map(|_| byte_stage(&mut late)).collect();
    assert_eq!(stages, [150_500; 7]);
    for _ in 0..6 {
        time_stage(&mut late);
    }
    assert_eq!([byte_stage(&mut late), byte_stage(&mut late)], [150_500, 75_500]);
}

#[test]
fn a_target_far_above_the_rate_is_cut_in_the_first_stage() {
    let start = |clamp: &str, target: f64| {
        let mut source = source(&values().with("target_clamp", choice(clamp)));
        notify(&mut source, Time::ZERO, 32);
        set(&mut source, 500.0, target);
        source
    };
    // 8000 is more than ten times 500: the target becomes 1000, and the rate goes halfway there.
    for clamp in ["any", "byte"] {
        let mut source = start(clamp, 8000.0);
        byte_stage(&mut source);
        assert_eq!(rates(&source), (750.0, 1000.0));
        let mut source = start(clamp, 5000.0);
        byte_stage(&mut source);
        assert_eq!(rates(&source), (2750.0, 5000.0));
    }
    let mut any = start("any", 8000.0);
    time_stage(&mut any);
    assert_eq!(rates(&any), (750.0, 1000.0));
    let mut byte = start("byte", 8000.0);
    time_stage(&mut byte);
    assert_eq!(rates(&byte), (4250.0, 8000.0));
    // The second stage of both is too late.
    for clamp in ["any", "byte"] {
        let mut source = start(clamp, 1000.0);
        byte_stage(&mut source);
        time_stage(&mut source);
        time_stage(&mut source);
        byte_stage(&mut source);
        set(&mut source, 500.0, 8000.0);
        byte_stage(&mut source);
        assert_eq!(rates(&source), (4250.0, 8000.0));
    }
}

#[test]
fn a_limiter_that_is_back_at_the_largest_rate_is_removed() {
    let mut sends = source(&values());
    notify(&mut sends, Time::ZERO, 1);
    set(&mut sends, 9999.0, 10500.0);
    byte_stage(&mut sends);
    // Held at the largest rate until the next frame; the target is not held.
    assert_eq!(rates(&sends), (10000.0, 10500.0));
    assert_eq!(sends.allowance().rate, Some(Rate::from_gigabits(10)));
    sends.on_sent(Time::ZERO, Bytes::new(1500));
    assert_eq!((sends.allowance(), sends.deadline()), (Allowance::default(), None));
    // A new one knows nothing of the old.
    notify(&mut sends, Time::ZERO, 64);
    assert_eq!(rates(&sends), (5000.0, 10000.0));
    // Of a silent flow the timer removes it.
    let mut silent = source(&values());
    notify(&mut silent, Time::ZERO, 63);
    while let Some(now) = silent.deadline() {
        assert!(now < Time::ZERO + Span::from_millis(1000));
        silent.on_deadline(now);
    }
    assert_eq!(silent.allowance(), Allowance::default());
}

#[test]
fn a_largest_rate_below_the_link_holds_without_a_limiter_too() {
    let rate = Rate::from_gigabits(4);
    let mut source = source(&values().with("max_rate", Value::Rate(rate)));
    assert_eq!(source.allowance().rate, Some(rate));
    notify(&mut source, Time::ZERO, 32);
    assert_eq!(rates(&source), (3000.0, 4000.0));
    let wrong = values().with("max_rate", Value::Rate(Rate::from_megabits(5)));
    assert_eq!(QcnSource::build(&wrong).unwrap_err().parameter, "min_rate");
    let mut slow = QcnSource::build(&values()).unwrap();
    assert!(slow.attach(&Adapter::of(Rate::from_megabits(1), Bytes::new(1500))).is_err());
    let wrong = values().with("time_reset", Value::Time(Span::ZERO));
    assert_eq!(QcnSource::build(&wrong).unwrap_err().parameter, "time_reset");
}

#[test]
fn a_stage_longer_than_any_run_does_not_end() {
    let mut source = source(&values().with("time_reset", Value::Time(Span::MAX)));
    notify(&mut source, Time::from_picos(9), 32);
    assert_eq!(source.deadline(), Some(Time::MAX));
}

#[test]
fn stages_vary_by_the_jitter_and_from_flow_to_flow() {
    let values = Values::defaults(INFO.parameters);
    let stages = |flow: u32| -> Vec<u64> {
        let Reaction::Qcn(mut source) = QcnSource::build(&values).unwrap() else { panic!("not a QCN source") };
        let adapter = Adapter { flow, ..Adapter::of(Rate::from_gigabits(10), Bytes::new(1500)) };
        source.attach(&adapter).unwrap();
        let stage = |_| {
            notify(&mut source, Time::ZERO, 32);
            time_stage(&mut source).as_picos()
        };
        (0..1000).map(stage).collect()
    };
    let [one, same, other] = [stages(1), stages(1), stages(2)];
    assert!(one == same && one != other);
    let period = Span::from_millis(15).as_picos() as f64;
    assert!(one.iter().all(|span| (0.85..1.15).contains(&(*span as f64 / period))));
    let mean = one.iter().sum::<u64>() as f64 / 1000.0 / period;
    // The spread of the mean is 0.15 / sqrt(3 * 1000).
    assert!((mean - 1.0).abs() < 4.0 * 0.002_8, "{mean}");
}

proptest! {
    /// Whatever happens, the rate stays between the least and the largest and the target at or above the rate.
    #[test]
    fn rates_stay_within_their_bounds(
        steps in prop::collection::vec((0..4_u8, 0..64_u8, -70_000..70_000_i32), 1..400),
        (at, hyperactive, byte) in (any::<bool>(), any::<bool>(), any::<bool>()),
        (gd, least) in (0.0..0.1, 1..5_000_u64),
    ) {
        let pick = |yes: bool, one: &str, other: &str| choice(if yes { one } else { other });
        let least = Rate::from_megabits(least);
        let values = Values::defaults(INFO.parameters)
            .with("active_from", pick(at, "at", "after"))
            .with("halve_byte_counter", pick(hyperactive, "hyperactive", "from-threshold"))
            .with("target_clamp", pick(byte, "byte", "any"))
            .with("gd", Value::Number(gd))
            .with("min_rate", Value::Rate(least));
        let mut source = source(&values);
        let mut now = Time::ZERO;
        for (kind, feedback, offset) in steps {
            now += Span::from_micros(1);
            match (kind, source.deadline()) {
                (0, _) => source.on_feedback(now, &Feedback::Notice { feedback, offset, growth: 0, point: 0, guidance: None }),
                (1, Some(deadline)) => {
                    now = now.max(deadline);
                    source.on_deadline(now);
                }
                _ => (0..100).for_each(|_| source.on_sent(now, Bytes::new(1500))),
            }
            prop_assert_eq!(source.limiter.is_some(), source.deadline().is_some());
            prop_assert_eq!(source.limiter.is_some(), source.allowance().rate.is_some());
            if let Some(limiter) = source.limiter {
                prop_assert!(limiter.target >= limiter.current);
                prop_assert!(source.allowance().rate.unwrap() >= least);
                prop_assert!(limiter.current <= 1e10);
                prop_assert!(kind != 1 || limiter.expires > now);
            }
        }
    }
}
