//! The reaction point of Quantized Congestion Notification (IEEE 802.1Qau-2010, now IEEE 802.1Q-2014 clauses 30 to 33):
//! a rate limiter that a notice makes, that falls with each notice, and that finds its way back alone.
//!
//! A byte counter and a timer count stages from the last notice on, each by itself. In the first stages the rate halves
//! its distance to the target, the rate before the notices (fast recovery). When one of the two is through with these,
//! each stage also raises the target by a little (active increase), when both are, by ever more (hyperactive increase).
//!
//! Rates are f64, in bits per second: half the sum of two whole rates is then exact, and nothing is lost to rounding
//! when a rate closes in on its target. What the adapter is told is rounded down to whole bits per second.

use crate::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Values};
use crate::qcn_point::jittered;
use crate::{Adapter, Allowance, Feedback, ProtocolInfo, Reaction, ReactionPoint};
use units::{Bytes, Rate, Span, Stream, Time};

/// A target so many times the rate is too old to be trusted ...
const STALE: f64 = 10.0;
/// ... and is divided by this.
const CUT: f64 = 8.0;

pub(crate) const INFO: ProtocolInfo = ProtocolInfo {
    name: "qcn",
    summary: "QCN (802.1Qau): notices lower the rate; a byte counter and a timer bring it back",
    parameters: &[
        Parameter {
            name: "time_reset",
            kind: ParameterKind::Time,
            default: ParameterDefault::Value("15ms", "IEEE 802.1Q-2014, rpgTimeReset; papers before it have 10 ms"),
            meaning: "A stage of the timer.",
        },
        Parameter {
            name: "byte_reset",
            kind: ParameterKind::Size(1, 1 << 31),
            default: ParameterDefault::Value("150000B", "IEEE 802.1Q-2014, rpgByteReset"),
            meaning: "A stage of the byte counter.",
        },
        Parameter {
            name: "threshold",
            kind: ParameterKind::Count(1, 1000),
            default: ParameterDefault::Value("5", "IEEE 802.1Q-2014, rpgThreshold"),
            meaning: "Stages of fast recovery.",
        },
        Parameter {
            name: "ai_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("5Mb/s", "IEEE 802.1Q-2014, rpgAiRate"),
            meaning: "What a stage of active increase adds to the target.",
        },
        Parameter {
            name: "hai_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value("50Mb/s", "IEEE 802.1Q-2014, rpgHaiRate"),
            meaning: "What the first stage of hyperactive increase adds to the target; the second adds twice that, and so on.",
        },
        Parameter {
            name: "gd",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.0078125", "IEEE 802.1Q-2014, rpgGd: 2 to the power of -7"),
            meaning: "What a step of the feedback, of which there are 63, takes from the rate as a part of it.",
        },
        Parameter {
            name: "min_dec_factor",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.5", "IEEE 802.1Q-2014, rpgMinDecFac: 50 %"),
            meaning: "What a single notice leaves of the rate, at least.",
        },
        Parameter {
            name: "min_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Value(
                "5Mb/s",
                "IEEE 802.1Q-2014, rpgMinRate; published pseudo-code has 10 Mb/s",
            ),
            meaning: "The rate below which it never falls.",
        },
        Parameter {
            name: "max_rate",
            kind: ParameterKind::Rate,
            default: ParameterDefault::Absent("the rate of the source's link (IEEE 802.1Q-2014, rpgMaxRate)"),
            meaning: "The rate at which a limiter starts and at which it is removed. If it is below that of the link, it also holds where there is no limiter.",
        },
        Parameter {
            name: "jitter",
            kind: ParameterKind::Number(0.0, 1.0),
            default: ParameterDefault::Value("0.15", "our reading of IEEE 802.1Qau-2010: 15 % either way"),
            meaning: "Each stage of the timer and of the byte counter is longer or shorter by up to this part of it; the first after a notice is not.",
        },
        Parameter {
            name: "active_from",
            kind: ParameterKind::Choice(&[
                ("after", "with the stage after the last of fast recovery"),
                ("at", "with the last stage of fast recovery"),
            ]),
            default: ParameterDefault::Value("after", "our reading of IEEE 802.1Qau-2010, after published pseudo-code"),
            meaning: "When active and hyperactive increase begin.",
        },
        Parameter {
            name: "halve_byte_counter",
            kind: ParameterKind::Choice(&[
                ("from-threshold", "from the end of its own fast recovery on, as those of the timer"),
                ("hyperactive", "in hyperactive increase only"),
            ]),
            default: ParameterDefault::Value(
                "from-threshold",
                "our reading of IEEE 802.1Qau-2010, after published pseudo-code",
            ),
            meaning: "When the stages of the byte counter become half as long.",
        },
        Parameter {
            name: "target_clamp",
            kind: ParameterKind::Choice(&[
                ("any", "in any stage while the byte counter or the timer is at its first"),
                ("byte", "only in the first stage of the byte counter"),
            ]),
            default: ParameterDefault::Value("any", "our reading of IEEE 802.1Qau-2010, after published pseudo-code"),
            meaning: "When a target of more than ten times the rate is divided by eight instead of raised.",
        },
    ],
    acknowledged: false,
    build: QcnSource::build,
};

/// What completed a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Bytes,
    Time,
}

/// A rate limiter.
#[derive(Clone, Copy, Debug)]
struct Limiter {
    /// Bits per second that may be sent.
    current: f64,
    /// Where that is going.
    target: f64,
    /// Stages since the last notice.
    byte_stage: u32,
    time_stage: u32,
    /// Bytes that may still be sent in this stage of the byte counter.
    left: i64,
    /// The end of this stage of the timer.
    expires: Time,
}

/// A reaction point with a rate limiter, if a notice has made one.
#[derive(Clone, Debug)]
pub struct QcnSource {
    time_reset: Span,
    byte_reset: u64,
    threshold: u32,
    ai_rate: f64,
    hai_rate: f64,
    gd: f64,
    min_dec_factor: f64,
    min_rate: Rate,
    max_rate: Option<Rate>,
    jitter: f64,
    /// Stages by which active increase begins before the end of fast recovery.
    early: u32,
    halve_from_threshold: bool,
    clamp_in_any_stage: bool,
    /// The largest rate in bits per second.
    largest: f64,
    /// The rate without a limiter.
    free: Option<Rate>,
    stream: Stream,
    limiter: Option<Limiter>,
}

impl QcnSource {
    /// From its parameters.
    ///
    /// # Errors
    /// If the least rate is not below the largest, or a stage of the timer takes no time.
    pub fn build(values: &Values) -> Result<Reaction, Invalid> {
        let (min_rate, max_rate) = (values.rate("min_rate"), values.maybe_rate("max_rate"));
        if let Some(max_rate) = max_rate {
            ordered(min_rate, max_rate)?;
        }
        let time_reset = values.time("time_reset");
        if time_reset == Span::ZERO {
            return Err(Invalid::new("time_reset", "a timer without a period", "give a time above zero"));
        }
        let bits = |name: &str| values.rate(name).as_bits_per_sec() as f64;
        Ok(Reaction::Qcn(Box::new(QcnSource {
            time_reset,
            byte_reset: values.size("byte_reset").get(),
            threshold: values.count("threshold") as u32,
            ai_rate: bits("ai_rate"),
            hai_rate: bits("hai_rate"),
            gd: values.number("gd"),
            min_dec_factor: values.number("min_dec_factor"),
            min_rate,
            max_rate,
            jitter: values.number("jitter"),
            early: u32::from(values.choice("active_from") == "at"),
            halve_from_threshold: values.choice("halve_byte_counter") == "from-threshold",
            clamp_in_any_stage: values.choice("target_clamp") == "any",
            largest: 0.0,
            free: None,
            // Until it is told which flow it belongs to.
            stream: Stream::new(0, 0, "qcn source"),
            limiter: None,
        })))
    }

    /// How far a counter is into active increase; 0 in fast recovery.
    fn beyond(&self, stage: u32) -> u32 {
        (stage + self.early).saturating_sub(self.threshold)
    }

    /// A stage is complete.
    fn increase(&self, limiter: &mut Limiter, completed: Stage) {
        let (bytes, time) = (self.beyond(limiter.byte_stage), self.beyond(limiter.time_stage));
        let step = match (bytes.min(time), bytes.max(time)) {
            (0, 0) => 0.0,
            (0, _) => self.ai_rate,
            (stages, _) => self.hai_rate * f64::from(stages),
        };
        let first = match self.clamp_in_any_stage {
            true => limiter.byte_stage == 1 || limiter.time_stage == 1,
            false => limiter.byte_stage == 1 && completed == Stage::Bytes,
        };
        if first && limiter.target > STALE * limiter.current {
            limiter.target /= CUT;
        } else {
            limiter.target += step;
        }
        limiter.current = ((limiter.current + limiter.target) / 2.0).min(self.largest);
    }

    /// What of a limiter is left when it has come all the way back.
    fn unless_recovered(&self, limiter: Limiter) -> Option<Limiter> {
        (limiter.current < self.largest).then_some(limiter)
    }
}

pub(crate) fn ordered(least: Rate, largest: Rate) -> Result<(), Invalid> {
    if least < largest {
        return Ok(());
    }
    let message = format!("the least rate, {least}, is not below the largest, {largest}");
    Err(Invalid::new("min_rate", message, "give a smaller one, or raise `max_rate`"))
}

impl ReactionPoint for QcnSource {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        let largest = self.max_rate.unwrap_or(adapter.link);
        ordered(self.min_rate, largest)?;
        self.largest = largest.as_bits_per_sec() as f64;
        self.free = (largest < adapter.link).then_some(largest);
        self.stream = Stream::new(adapter.seed, u64::from(adapter.flow), "qcn source");
        Ok(())
    }

    #[inline]
    fn on_sent(&mut self, _now: Time, len: Bytes) {
        let Some(limiter) = self.limiter else { return };
        self.limiter = self.unless_recovered(limiter);
        let Some(mut limiter) = self.limiter else { return };
        limiter.left -= len.get() as i64;
        if limiter.left < 0 {
            limiter.byte_stage += 1;
            let half = match self.halve_from_threshold {
                true => limiter.byte_stage >= self.threshold,
                false => self.beyond(limiter.byte_stage.min(limiter.time_stage)) > 0,
            };
            let mean = self.byte_reset as f64 * if half { 0.5 } else { 1.0 };
            limiter.left = jittered(&mut self.stream, mean, self.jitter) as i64;
            self.increase(&mut limiter, Stage::Bytes);
        }
        self.limiter = Some(limiter);
    }

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let Feedback::Notice { feedback, offset, .. } = *feedback else { return };
        if feedback == 0 || (self.limiter.is_none() && offset >= 0) {
            return;
        }
        let new = Limiter {
            current: self.largest,
            target: self.largest,
            byte_stage: 0,
            time_stage: 0,
            left: self.byte_reset as i64,
            expires: now,
        };
        let mut limiter = self.limiter.unwrap_or(new);
        if limiter.byte_stage != 0 {
            // The first notice after a stage of the byte counter: what was reached is the new target.
            limiter.target = limiter.current;
            limiter.left = self.byte_reset as i64;
        }
        (limiter.byte_stage, limiter.time_stage) = (0, 0);
        let factor = (1.0 - f64::from(feedback) * self.gd).max(self.min_dec_factor);
        limiter.current = (limiter.current * factor).max(self.min_rate.as_bits_per_sec() as f64);
        limiter.expires = now.saturating_add(self.time_reset);
        self.limiter = Some(limiter);
    }

    fn on_deadline(&mut self, now: Time) {
        let Some(mut limiter) = self.limiter else { return };
        limiter.time_stage += 1;
        self.increase(&mut limiter, Stage::Time);
        let half = limiter.time_stage >= self.threshold;
        let mean = self.time_reset.as_picos() as f64 * if half { 0.5 } else { 1.0 };
        let span = jittered(&mut self.stream, mean, self.jitter) as u64;
        limiter.expires = now.saturating_add(Span::from_picos(span.max(1)));
        // A silent flow sends nothing at which its limiter could be removed.
        self.limiter = self.unless_recovered(limiter);
    }

    #[inline]
    fn deadline(&self) -> Option<Time> {
        self.limiter.map(|limiter| limiter.expires)
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        let limited = self.limiter.map(|limiter| Rate::from_bits_per_sec(limiter.current as u64));
        Allowance { rate: limited.or(self.free), window: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Value;
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
        source.on_feedback(now, &Feedback::Notice { feedback, offset: -1, growth: 0, point: 0 });
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
            source.on_feedback(Time::ZERO, &Feedback::Notice { feedback, offset, growth: 0, point: 0 });
            assert_eq!((source.allowance(), source.deadline()), (Allowance::default(), None));
        }
        let (bytes, round_trip) = (Bytes::new(1500), Span::ZERO);
        source.on_feedback(Time::ZERO, &Feedback::Acknowledgement { bytes, marked: true, round_trip });
        assert_eq!(source.allowance(), Allowance::default());
        let now = Time::from_picos(9);
        notify(&mut source, now, 63);
        // 1 - 63/128 of 10 Gb/s.
        assert_eq!(source.allowance().rate, Some(Rate::from_bits_per_sec(5_078_125_000)));
        assert_eq!(source.deadline(), Some(now + Span::from_millis(15)));
        // A limiter that is there does not ask where the queue is; and nothing means nothing.
        for (feedback, rate) in [(0, 5_078_125_000), (32, 3_808_593_750)] {
            source.on_feedback(now, &Feedback::Notice { feedback, offset: 7, growth: 0, point: 0 });
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
                    (0, _) => source.on_feedback(now, &Feedback::Notice { feedback, offset, growth: 0, point: 0 }),
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
}
