//! The reaction point of Quantized Congestion Notification (IEEE 802.1Qau-2010, now IEEE 802.1Q-2014 clauses 30 to 33):
//! a rate limiter that is created by a notice, lowers its rate with each notice, and recovers without further feedback.
//!
//! A byte counter and a timer count stages independently from the last notice. In the first stages, the rate halves its
//! distance to the target, the rate before the notices (fast recovery). When one of the two has completed these stages,
//! each further stage also raises the target by a small step (active increase); when both have, the steps grow
//! (hyperactive increase).
//!
//! The draft of 2007 and its variants in the 802.1au bake-off ([`qcn_2007`](crate::qcn_2007)) use the same limiter with
//! another timer: it counts no stages but raises the rate by itself. With probes, a stage of the byte counter probes
//! the congestion point, and the reply raises the rate.
//!
//! Rates are `f64`, in bits per second: half the sum of two whole rates is then exact, and no rounding error
//! accumulates as a rate approaches its target. The rate given to the adapter is rounded down to whole bits per second.

use crate::feedback::jittered;
use crate::guidance::guided;
use crate::increase::Increase;
use crate::parameter::{Invalid, Values};
use crate::point::tag_of;
use crate::{Adapter, Allowance, Feedback, PathProbe, PathProbeClass, Reaction, ReactionPoint};
use units::{Bytes, Rate, Span, Stream, Time};

/// A target of more than this multiple of the rate is stale ...
const STALE: f64 = 10.0;
/// ... and is divided by this.
const CUT: f64 = 8.0;

/// The counter that completed a stage.
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
    /// Rate that the limiter recovers towards.
    target: f64,
    /// Stages since the last notice.
    byte_stage: u32,
    time_stage: u32,
    /// Bytes that may still be sent in this stage of the byte counter.
    left: i64,
    /// The end of this stage of the timer.
    expires: Time,
    /// The congestion point that last sent negative feedback.
    point: u32,
    /// The most that the rate may be.
    most: f64,
}

units::encoded!(struct Limiter { current, target, byte_stage, time_stage, left, expires, point, most });

/// Function of a limiter's timer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// Counts stages of this length, beside those of the byte counter.
    Stages(Span),
    /// Raises the rate and, if `carries_target`, a target that the rate overtakes.
    Raises { increase: Increase, carries_target: bool },
}

/// Increase of the target by a stage beyond fast recovery, in bits per second.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Steps {
    /// `active` while one counter is beyond; `hyperactive` per stage when both are.
    Both { active: f64, hyperactive: f64 },
    /// `active`, multiplied by the number of stages beyond if `hyperactive`.
    Bytes { active: f64, hyperactive: bool },
}

/// Extra fast recovery: half of the distance to the target, at most this many bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Extra {
    Off,
    /// With each period of the clock.
    ByClock(f64),
    /// With each stage.
    ByStage(f64),
}

/// Differences between the limiters of QCN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) clock: Clock,
    pub(crate) steps: Steps,
    pub(crate) extra: Extra,
    /// The byte counter asks the congestion point, whose answer completes the stage.
    pub(crate) asks: bool,
    pub(crate) guidance_weight: f64,
}

/// A reaction point with a rate limiter that is created by a notice.
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

units::state!(struct QcnSource { fixed: how, byte_reset, threshold, gd, min_dec_factor, min_rate, max_rate, jitter, early, halve_from_threshold, clamp, largest, free; plain: stream, limiter, ask, number; });

/// Condition under which a target far above the rate is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clamp {
    Never,
    InByteStage,
    InAnyStage,
}

impl QcnSource {
    /// Builds the reaction point of the standard from its parameters.
    ///
    /// # Errors
    /// Fails if the least rate is not below the largest, or if a timer stage takes no time.
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

    /// Builds a reaction point from the common parameters and the differences of its variant.
    ///
    /// # Errors
    /// Fails if the least rate is not below the largest.
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

    /// Returns the number of stages beyond fast recovery; 0 in fast recovery.
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

    /// Returns the limiter unless it has recovered completely.
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

    fn path_probe(&mut self, _now: Time) -> Option<PathProbe> {
        if !std::mem::take(&mut self.ask) {
            return None;
        }
        let tag = tag_of(self.limiter?.point);
        self.number = self.number.wrapping_add(1);
        (tag != 0).then_some(PathProbe { number: self.number, value: 0, tag })
    }

    fn path_probes(&self) -> Option<PathProbeClass> {
        self.how.asks.then_some(PathProbeClass::Urgent)
    }

    fn tags(&self) -> bool {
        self.how.asks
    }
}

#[cfg(test)]
mod tests;
