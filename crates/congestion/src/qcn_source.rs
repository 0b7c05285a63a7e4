//! The reaction point of Quantized Congestion Notification (IEEE 802.1Qau-2010, now IEEE 802.1Q-2014 clauses 30 to 33):
//! a rate limiter that a notice makes, that falls with each notice, and that finds its way back alone.
//!
//! A byte counter and a timer count stages from the last notice on, each by itself. In the first stages the rate halves
//! its distance to the target, the rate before the notices (fast recovery). When one of the two is through with these,
//! each stage also raises the target by a little (active increase), when both are, by ever more (hyperactive increase).
//!
//! The draft of 2007 and what the 802.1au bake-off made of it ([`qcn_2007`](crate::qcn_2007)) are the same limiter with
//! another clock: it has no stages of time, but raises the rate a little by itself. With probes, a stage of the byte
//! counter asks the congestion point, and the answer raises the rate.
//!
//! Rates are f64, in bits per second: half the sum of two whole rates is then exact, and nothing is lost to rounding
//! when a rate closes in on its target. What the adapter is told is rounded down to whole bits per second.

use crate::feedback::jittered;
use crate::guidance::guided;
use crate::increase::Increase;
use crate::parameter::{Invalid, Values};
use crate::point::tag_of;
use crate::{Adapter, Allowance, Feedback, Lane, Probe, Reaction, ReactionPoint};
use units::{Bytes, Rate, Span, Stream, Time};

/// A target so many times the rate is too old to be trusted ...
const STALE: f64 = 10.0;
/// ... and is divided by this.
const CUT: f64 = 8.0;

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
    /// The congestion point that last asked for less.
    point: u32,
    /// The most that the rate may be.
    most: f64,
}

/// What the clock of a limiter does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// It counts stages of this length, beside those of the byte counter.
    Stages(Span),
    /// It raises the rate, and a target that the rate leaves behind with it or not.
    Raises { increase: Increase, carries_target: bool },
}

/// What a stage beyond fast recovery adds to the target, in bits per second.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Steps {
    /// So much while one counter is beyond, and of that so much a stage when both are.
    Both { active: f64, hyperactive: f64 },
    /// So much; times the number of stages beyond if it is hyperactive.
    Bytes { active: f64, hyperactive: bool },
}

/// Extra fast recovery: half of what is missing to the target, at most so many bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Extra {
    Off,
    /// With each period of the clock.
    ByClock(f64),
    /// With each stage.
    ByStage(f64),
}

/// What tells the limiters of QCN apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) clock: Clock,
    pub(crate) steps: Steps,
    pub(crate) extra: Extra,
    /// The byte counter asks the congestion point, whose answer completes the stage.
    pub(crate) asks: bool,
    pub(crate) guidance_weight: f64,
}

/// A reaction point with a rate limiter, if a notice has made one.
#[derive(Clone, Debug)]
pub struct QcnSource {
    how: How,
    byte_reset: u64,
    threshold: u32,
    gd: f64,
    min_dec_factor: f64,
    min_rate: Rate,
    max_rate: Option<Rate>,
    jitter: f64,
    /// Stages by which active increase begins before the end of fast recovery.
    early: u32,
    halve_from_threshold: bool,
    clamp: Clamp,
    /// The largest rate in bits per second.
    largest: f64,
    /// The rate without a limiter.
    free: Option<Rate>,
    stream: Stream,
    limiter: Option<Limiter>,
    /// A probe is due.
    ask: bool,
    number: u32,
}

/// When a target far above the rate is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clamp {
    Never,
    InByteStage,
    InAnyStage,
}

impl QcnSource {
    /// From the parameters of the standard.
    ///
    /// # Errors
    /// If the least rate is not below the largest, or a stage of the timer takes no time.
    pub fn build(values: &Values) -> Result<Reaction, Invalid> {
        let time_reset = values.time("time_reset");
        if time_reset == Span::ZERO {
            return Err(Invalid::new("time_reset", "a timer without a period", "give a time above zero"));
        }
        let bits = |name: &str| values.rate(name).as_bits_per_sec() as f64;
        let steps = Steps::Both { active: bits("ai_rate"), hyperactive: bits("hai_rate") };
        let clock = Clock::Stages(time_reset);
        QcnSource::with(values, How { clock, steps, extra: Extra::Off, asks: false, guidance_weight: 0.0 })
    }

    /// From the parameters that all have, and what tells them apart.
    ///
    /// # Errors
    /// If the least rate is not below the largest.
    pub(crate) fn with(values: &Values, how: How) -> Result<Reaction, Invalid> {
        let (min_rate, max_rate) = (values.rate("min_rate"), values.maybe_rate("max_rate"));
        if let Some(max_rate) = max_rate {
            ordered(min_rate, max_rate)?;
        }
        Ok(Reaction::Qcn(Box::new(QcnSource {
            how,
            byte_reset: values.size("byte_reset").get(),
            threshold: values.count("threshold") as u32,
            gd: values.number("gd"),
            min_dec_factor: values.number("min_dec_factor"),
            min_rate,
            max_rate,
            jitter: values.number("jitter"),
            early: u32::from(values.choice("active_from") == "at"),
            halve_from_threshold: values.choice("halve_byte_counter") == "from-threshold",
            clamp: match values.choice("target_clamp").as_str() {
                "any" => Clamp::InAnyStage,
                "byte" => Clamp::InByteStage,
                _ => Clamp::Never,
            },
            largest: 0.0,
            free: None,
            // Until it is told which flow it belongs to.
            stream: Stream::new(0, 0, "qcn source"),
            limiter: None,
            ask: false,
            number: 0,
        })))
    }

    /// How far a counter is into active increase; 0 in fast recovery.
    fn beyond(&self, stage: u32) -> u32 {
        (stage + self.early).saturating_sub(self.threshold)
    }

    /// A stage is complete.
    fn increase(&self, limiter: &mut Limiter, completed: Stage) {
        let (bytes, time) = (self.beyond(limiter.byte_stage), self.beyond(limiter.time_stage));
        let step = match (self.how.steps, bytes.min(time), bytes.max(time)) {
            (_, 0, 0) => 0.0,
            (Steps::Both { active, .. }, 0, _) => active,
            (Steps::Both { hyperactive, .. }, stages, _) => hyperactive * f64::from(stages),
            (Steps::Bytes { active, hyperactive: false }, ..) => active,
            (Steps::Bytes { active, hyperactive: true }, _, stages) => active * f64::from(stages),
        };
        let first = match self.clamp {
            Clamp::InAnyStage => limiter.byte_stage == 1 || limiter.time_stage == 1,
            Clamp::InByteStage => limiter.byte_stage == 1 && completed == Stage::Bytes,
            Clamp::Never => false,
        };
        if first && limiter.target > STALE * limiter.current {
            limiter.target /= CUT;
        } else {
            limiter.target += step;
        }
        limiter.current = ((limiter.current + limiter.target) / 2.0).min(limiter.most);
        if let Extra::ByStage(most) = self.how.extra {
            self.recover_more(limiter, most);
        }
    }

    /// Extra fast recovery.
    fn recover_more(&self, limiter: &mut Limiter, most: f64) {
        if limiter.byte_stage < self.threshold && limiter.current < limiter.target {
            let step = ((limiter.target - limiter.current) / 2.0).min(most);
            limiter.current = (limiter.current + step).min(limiter.most);
        }
    }

    /// A period of a clock that raises the rate.
    fn raise(&self, limiter: &mut Limiter, increase: Increase, carries_target: bool) {
        limiter.current = increase.law.after(limiter.current, 0, limiter.most).min(limiter.most);
        if let Extra::ByClock(most) = self.how.extra {
            self.recover_more(limiter, most);
        }
        if carries_target {
            // A rate above its target would fall with the next stage.
            limiter.target = limiter.target.max(limiter.current);
        }
    }

    fn least(&self) -> f64 {
        self.min_rate.as_bits_per_sec() as f64
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
            let stage = limiter.byte_stage + u32::from(!self.how.asks);
            let half = match self.halve_from_threshold {
                true => stage >= self.threshold,
                false => self.beyond(stage.min(limiter.time_stage)) > 0,
            };
            let mean = self.byte_reset as f64 * if half { 0.5 } else { 1.0 };
            limiter.left = jittered(&mut self.stream, mean, self.jitter) as i64;
            if self.how.asks {
                self.ask = true;
            } else {
                limiter.byte_stage = stage;
                self.increase(&mut limiter, Stage::Bytes);
            }
        }
        self.limiter = Some(limiter);
    }

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let Feedback::Notice { feedback, offset, point, guidance, .. } = *feedback else { return };
        let mut limiter = match self.limiter {
            Some(limiter) => limiter,
            None if feedback == 0 || offset >= 0 => return,
            None => Limiter {
                current: self.largest,
                target: self.largest,
                byte_stage: 0,
                time_stage: 0,
                left: self.byte_reset as i64,
                expires: match self.how.clock {
                    Clock::Stages(_) => now,
                    Clock::Raises { increase, .. } => now.saturating_add(increase.period),
                },
                point,
                most: self.largest,
            },
        };
        if feedback == 0 {
            // The answer to a probe, if it is of the point that was asked: the stage is complete.
            if !self.how.asks || limiter.point != point {
                return;
            }
            limiter.byte_stage += 1;
            self.increase(&mut limiter, Stage::Bytes);
        } else {
            if limiter.byte_stage != 0 {
                // The first notice after a stage of the byte counter: what was reached is the new target.
                limiter.target = limiter.current;
                limiter.left = self.byte_reset as i64;
            }
            (limiter.byte_stage, limiter.time_stage) = (0, 0);
            let factor = (1.0 - f64::from(feedback) * self.gd).max(self.min_dec_factor);
            limiter.current = (limiter.current * factor).max(self.least());
            limiter.point = point;
            if let Clock::Stages(time_reset) = self.how.clock {
                limiter.expires = now.saturating_add(time_reset);
            }
        }
        if let Some(guidance) = guidance {
            limiter.most = (guidance.most.as_bits_per_sec() as f64).clamp(self.least(), self.largest);
            let rate = guided(limiter.current, self.how.guidance_weight, guidance);
            limiter.current = rate.clamp(self.least(), limiter.most);
            limiter.target = limiter.target.max(limiter.current);
        }
        self.limiter = Some(limiter);
    }

    fn on_deadline(&mut self, now: Time) {
        let Some(mut limiter) = self.limiter else { return };
        match self.how.clock {
            Clock::Stages(time_reset) => {
                limiter.time_stage += 1;
                self.increase(&mut limiter, Stage::Time);
                let half = limiter.time_stage >= self.threshold;
                let mean = time_reset.as_picos() as f64 * if half { 0.5 } else { 1.0 };
                let span = jittered(&mut self.stream, mean, self.jitter) as u64;
                limiter.expires = now.saturating_add(Span::from_picos(span.max(1)));
            }
            Clock::Raises { increase, carries_target } => {
                self.raise(&mut limiter, increase, carries_target);
                limiter.expires = now.saturating_add(increase.period);
            }
        }
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

    fn ceiling(&self) -> Option<Rate> {
        self.max_rate
    }

    fn probe(&mut self, _now: Time) -> Option<Probe> {
        if !std::mem::take(&mut self.ask) {
            return None;
        }
        let tag = tag_of(self.limiter?.point);
        self.number = self.number.wrapping_add(1);
        (tag != 0).then_some(Probe { number: self.number, value: 0, tag })
    }

    fn probes(&self) -> Option<Lane> {
        self.how.asks.then_some(Lane::Urgent)
    }

    fn tags(&self) -> bool {
        self.how.asks
    }
}

#[cfg(test)]
mod tests {
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
        source.on_feedback(Time::ZERO, &Feedback::Acknowledgement { bytes, marked: true, round_trip });
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
}
