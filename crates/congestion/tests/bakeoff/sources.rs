//! The reaction points.

use crate::{choice, guide, near, notify, of_source, rate, source, time};
use congestion::parameter::{Value, Values};
use congestion::point::tag_of;
use congestion::{Allowance, Feedback, PathProbe, PathProbeClass, Reaction, ReactionPoint, STAMP};
use units::{Bytes, Rate, Span, Time};

/// A protocol of the QCN family without jitter and without extra fast recovery.
fn plain(name: &str) -> Values {
    of_source(name).with("jitter", Value::Number(0.0)).with("extra_fast_recovery", choice("off"))
}

/// Sends so many bytes at time zero, and returns the probes that are asked for.
fn send(source: &mut Reaction, bytes: u64) -> Vec<PathProbe> {
    let mut probes = Vec::new();
    for _ in 0..bytes / 500 {
        source.on_sent(Time::ZERO, Bytes::new(500));
        probes.extend(source.path_probe(Time::ZERO));
    }
    probes
}

/// Lets the next deadline come.
fn tick(source: &mut Reaction) -> Time {
    let now = source.deadline().unwrap();
    source.on_deadline(now);
    now
}

/// A queue above its set point, with so much quantised feedback.
fn congested(feedback: u8) -> (u8, i32, i32) {
    (feedback, -1, 0)
}

#[test]
fn qcn_of_2007_counts_bytes_and_drifts() {
    let mut source = source("qcn-2007", &plain("qcn-2007"));
    assert_eq!((source.allowance(), source.path_probes(), source.tags()), (Allowance::default(), None, false));
    // 10000 (1 - 32/128); more than 150000 bytes then halve the distance to 10000.
    notify(&mut source, Time::ZERO, 4, congested(32));
    assert!(near(rate(&source), 7_500.0));
    assert!(send(&mut source, 150_000).is_empty());
    assert!(near(rate(&source), 7_500.0));
    send(&mut source, 500);
    assert!(near(rate(&source), 8_750.0));
    // A notice does not put the clock back: 200 us after the first one 8750 (1 - 63/128) = 4443.359375 drifts to
    // 1.0005 times that, 4445.5810546875.
    notify(&mut source, time(150), 4, congested(63));
    assert_eq!(tick(&mut source), time(200));
    assert!(near(rate(&source), 4_445.581_054), "{}", rate(&source));
    assert_eq!(tick(&mut source), time(400));
    // An answer means nothing to it.
    let before = rate(&source);
    notify(&mut source, time(401), 4, (0, 1_000, 0));
    assert_eq!(rate(&source), before);
}

#[test]
fn beyond_fast_recovery_a_stage_adds_ever_more() {
    let targets = |hyperactive: bool| {
        let mut source = source("qcn-2007", &plain("qcn-2007").with("hyperactive", Value::Flag(hyperactive)));
        notify(&mut source, Time::ZERO, 4, congested(63));
        // One stage, then a second notice: the target is 7539.0625, the rate 3828.430176 of it.
        send(&mut source, 150_500);
        notify(&mut source, Time::ZERO, 4, congested(63));
        let (mut current, mut found) = (7_539.062_5 * 65.0 / 128.0, Vec::new());
        assert!(near(rate(&source), current));
        for stage in 1..=8 {
            send(&mut source, if stage <= 5 { 150_500 } else { 75_500 });
            // The rate went halfway to the target: twice the new rate less the old.
            let target = 2.0 * rate(&source) - current;
            current = rate(&source);
            found.push((target * 1e2).round() / 1e2);
        }
        found
    };
    let rounded = |targets: [f64; 8]| targets.map(|target| (target * 1e2).round() / 1e2).to_vec();
    let fast = 7_539.062_5;
    // 12, 24 and 36 Mb/s, or 12 each time.
    assert_eq!(targets(true), rounded([fast, fast, fast, fast, fast, fast + 12.0, fast + 36.0, fast + 72.0]));
    assert_eq!(targets(false), rounded([fast, fast, fast, fast, fast, fast + 12.0, fast + 24.0, fast + 36.0]));
}

#[test]
fn extra_fast_recovery_adds_half_of_what_is_missing_at_most_a_megabit() {
    let after_tick = |extra: &str, feedback: u8, max: u64| {
        let values = plain("qcn-2007").with("extra_fast_recovery", choice(extra));
        let mut source = source("qcn-2007", &values.with("efr_max", Value::Rate(Rate::from_megabits(max))));
        notify(&mut source, Time::ZERO, 4, congested(feedback));
        tick(&mut source);
        rate(&source)
    };
    // 7500 * 1.0005, and 1 Mb/s more; or half of the 2496.25 that are missing.
    assert!(near(after_tick("off", 32, 1), 7_503.75));
    assert!(near(after_tick("stage", 32, 1), 7_503.75));
    assert!(near(after_tick("clock", 32, 1), 7_504.75));
    assert!(near(after_tick("clock", 32, 5_000), 8_751.875));
    // With a stage: (7500 + 10000) / 2 and 1.
    let values = plain("qcn-2007").with("extra_fast_recovery", choice("stage"));
    let mut by_stage = source("qcn-2007", &values);
    notify(&mut by_stage, Time::ZERO, 4, congested(32));
    send(&mut by_stage, 150_500);
    assert!(near(rate(&by_stage), 8_751.0));
}

#[test]
fn drift_carries_the_target_with_it_and_removes_the_limiter_in_the_end() {
    let mut source = source("qcn-2007", &plain("qcn-2007").with("drift_factor", Value::Number(2.0)));
    notify(&mut source, Time::ZERO, 4, congested(63));
    send(&mut source, 150_500);
    notify(&mut source, Time::ZERO, 4, congested(63));
    // 3828.430176 doubled is above the target of 7539.0625; the next stage does not lower it.
    tick(&mut source);
    let drifted = rate(&source);
    assert!(near(drifted, 7_656.860_351), "{drifted}");
    send(&mut source, 150_500);
    assert!(near(rate(&source), drifted));
    tick(&mut source);
    assert_eq!((source.allowance(), source.deadline()), (Allowance::default(), None));
}

#[test]
fn qcn_p_asks_the_point_that_slowed_it_down_and_only_its_answer_raises_the_rate() {
    let mut source = source("qcn-p", &plain("qcn-p"));
    assert_eq!((source.path_probes(), source.tags(), source.tag()), (Some(PathProbeClass::Urgent), true, 0));
    assert!(send(&mut source, 1_000_000).is_empty());
    notify(&mut source, Time::ZERO, 4, congested(32));
    notify(&mut source, Time::ZERO, 9, congested(32));
    // 5625. Every 100000 bytes a probe, and nothing happens without an answer.
    let probes = send(&mut source, 300_000);
    assert_eq!(probes.iter().map(|probe| probe.tag).collect::<Vec<_>>(), [tag_of(9); 2]);
    assert_ne!(probes[0].number, probes[1].number);
    notify(&mut source, Time::ZERO, 4, (0, 5_000, 0));
    assert!(near(rate(&source), 5_625.0));
    notify(&mut source, Time::ZERO, 9, (0, 5_000, 0));
    assert!(near(rate(&source), 7_812.5));
    // 1 Mb/s every 200 us.
    tick(&mut source);
    assert!(near(rate(&source), 7_813.5));
    // An answer that comes after the limiter has gone means nothing.
    while source.deadline().is_some() {
        tick(&mut source);
    }
    notify(&mut source, Time::ZERO, 9, (0, 5_000, 0));
    assert_eq!(source.allowance(), Allowance::default());
}

#[test]
fn qcn_pr_follows_the_rates_of_the_switch() {
    let mut source = source("qcn-pr", &plain("qcn-pr"));
    // 7500 - .002 * (7500 - 2500), then a thousandth of the way to 10000.
    guide(&mut source, 9, congested(32), [2_500, 10_000]);
    assert!(near(rate(&source), 7_490.0));
    tick(&mut source);
    assert!(near(rate(&source), 7_492.51));
    // The switch allows 4000 from now on.
    guide(&mut source, 9, (0, 5_000, 0), [2_000, 4_000]);
    assert!(near(rate(&source), 4_000.0));
    tick(&mut source);
    assert!(near(rate(&source), 4_000.0));
}

/// Feedback of -1875 pages, the most: 1 - .00026667 * 1875 of 10 Gb/s are left.
const HALVES: (u8, i32, i32) = (0, -24_000, 48_000);
const HALF: f64 = 10_000.0 * (1.0 - 0.00026667 * 1875.0);

/// Sends frames of 1500 bytes, one a microsecond, the first at `from`, and returns the probes with their times.
fn stream(source: &mut Reaction, from: u64, frames: u64) -> Vec<(Time, PathProbe)> {
    let one = |n: u64| {
        source.on_sent(time(from + n), Bytes::new(1500));
        source.path_probe(time(from + n)).map(|probe| (time(from + n), probe))
    };
    (0..frames).filter_map(one).collect()
}

#[test]
fn e2cm_steers_what_it_has_on_its_way() {
    let mut source = source("e2cm", &of_source("e2cm"));
    assert_eq!(
        (source.path_probes(), source.tags(), source.tag_size()),
        (Some(PathProbeClass::WithData), false, Bytes::ZERO)
    );
    assert!(stream(&mut source, 0, 500).is_empty());
    notify(&mut source, Time::ZERO, 4, HALVES);
    assert!((rate(&source) - HALF).abs() < 1e-5 && source.tag() == 0);
    // 100 frames are 150000 bytes: the first probe leaves with the hundredth, at 1099 us, the second at 1199 us.
    let probes = stream(&mut source, 1_000, 210);
    assert_eq!(probes.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [time(1_099), time(1_199)]);
    assert!(probes.iter().all(|(_, probe)| (probe.value, probe.tag) == (STAMP, 0)));
    let answer = |source: &mut Reaction, place: usize, at: u64| {
        let value = time(at).as_picos();
        source.on_feedback(time(5_000), &Feedback::PathProbe { number: probes[place].1.number, value });
        rate(source)
    };
    // At the destination 4 us later, four frames: (15000 - 6000) / 64 = 140.625 pages of .53333 Mb/s each.
    let first = HALF + 0.53333 * 140.625;
    assert!((answer(&mut source, 0, 1_103) - first).abs() < 1e-5);
    // The second was on its way for 9 us, 13500 bytes: (1500 - 2 * 7500) / 64 = -210.9375 pages.
    let second = first * (1.0 - 0.00026667 * 210.9375);
    assert!((answer(&mut source, 1, 1_208) - second).abs() < 1e-5);
    // It is known no more.
    assert_eq!(answer(&mut source, 1, 1_208), rate(&source));
}

#[test]
fn probes_of_e2cm_may_be_allowed_to_raise_only() {
    let mut source = source("e2cm", &of_source("e2cm").with("probe_feedback", choice("positive")));
    notify(&mut source, Time::ZERO, 4, HALVES);
    let probes = stream(&mut source, 0, 220);
    let mut answer = |place: usize, at: u64| {
        source.on_feedback(
            time(400),
            &Feedback::PathProbe { number: probes[place].1.number, value: time(at).as_picos() },
        );
        rate(&source)
    };
    // 20 frames are 30000 bytes, too many: nothing. Then 5, fewer than before: (7500 + 2 * 22500) / 64 = 820.3125.
    assert!((answer(0, 119) - HALF).abs() < 1e-5);
    assert!((answer(1, 204) - HALF - 0.53333 * 820.3125).abs() < 1e-5);
}

#[test]
fn e2cm_p_asks_the_point_every_100000_bytes() {
    let mut source = source("e2cm-p", &of_source("e2cm-p"));
    assert_eq!((source.path_probes(), source.tags(), source.tag()), (Some(PathProbeClass::Urgent), true, 0));
    notify(&mut source, Time::ZERO, 4, HALVES);
    // 67, 134 and 200 frames: what is too much counts for the next.
    let probes = stream(&mut source, 1, 200);
    assert_eq!(probes.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [time(67), time(134), time(200)]);
    assert!(probes.iter().all(|(_, probe)| probe.tag == tag_of(4)));
    // 12800 bytes below the set point: 200 pages of .53333 Mb/s. Of another point they mean nothing.
    notify(&mut source, Time::ZERO, 5, (0, 12_800, 0));
    assert!((rate(&source) - HALF).abs() < 1e-5);
    notify(&mut source, Time::ZERO, 4, (0, 12_800, 0));
    assert!((rate(&source) - HALF - 106.666).abs() < 1e-5);
}

#[test]
fn e2cm_pr_goes_a_fiftieth_of_the_way_to_what_is_suggested() {
    let mut source = source("e2cm-pr", &of_source("e2cm-pr"));
    guide(&mut source, 4, HALVES, [2_500, 10_000]);
    let first = HALF + 0.02 * (2_500.0 - HALF);
    assert!((rate(&source) - first).abs() < 1e-5, "{}", rate(&source));
    guide(&mut source, 4, (0, 12_800, 0), [2_500, 10_000]);
    let raised = first + 106.666;
    assert!((rate(&source) - raised - 0.02 * (2_500.0 - raised)).abs() < 1e-5);
    guide(&mut source, 4, (0, 12_800, 0), [2_500, 3_000]);
    assert!((rate(&source) - 3_000.0).abs() < 1e-5);
    // The drift of ECM, 1 Mb/s every millisecond, does not go beyond what is allowed.
    tick(&mut source);
    assert!((rate(&source) - 3_000.0).abs() < 1e-5);
    // Other points' answers guide nobody.
    guide(&mut source, 5, (0, 12_800, 0), [9_000, 10_000]);
    assert!((rate(&source) - 3_000.0).abs() < 1e-5);
}

#[test]
fn a_flow_that_is_stopped_is_not_raised_by_answers() {
    let mut source = source("e2cm-p", &of_source("e2cm-p"));
    notify(&mut source, Time::ZERO, 4, (1, 0, 0));
    let halted = source.allowance();
    notify(&mut source, Time::ZERO, 4, (0, 12_800, 0));
    assert_eq!(source.allowance(), halted);
    let until = tick(&mut source);
    assert!(until <= Time::ZERO + Span::from_micros(10));
    assert!(near(rate(&source), 1.0));
}

#[test]
fn tags_cost_what_they_are_said_to_cost() {
    let size = |name: &str| source(name, &of_source(name)).tag_size().get();
    assert_eq!(["ecm", "bcn", "e2cm", "qcn"].map(size), [16, 0, 0, 0]);
    let free = of_source("ecm").with("tag_size", Value::Size(Bytes::ZERO));
    assert_eq!(source("ecm", &free).tag_size(), Bytes::ZERO);
}
