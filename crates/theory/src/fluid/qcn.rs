//! Fluid model of QCN: three quantities per source and queue, with averages over sampling, quantisation and the stages
//! of the reaction point.
//!
//! The form follows Alizadeh, Atikoglu, Kabbani, Lakshmikantha, Pan, Prabhakar and Seaman, "Data center transport
//! mechanisms" (Allerton 2008), for the algorithm of IEEE 802.1Qau; `docs/theory/qcn.md` has a new derivation of the
//! averages. In short, for a source with current rate `R` and target rate `T`:
//!
//! - Congestion `(q - qeq) + w dq` corresponds to `x = 63 congestion / ((2 w + 1) qeq)` quanta. Queues change by whole
//!   frames, about a quantum, so a sample is `x` plus noise: logistic, of scale `n`. Rounded down and not below zero,
//!   its mean is `phi`, the sum over k from 1 to 63 of `1 / (1 + e^((k - x)/n))` quanta; the first term is the
//!   probability of at least one quantum, that is, of a message. Every eight quanta add one sample in the same time.
//! - A message sets `T` to `R` and reduces `R` by the fraction `Gd phi`.
//! - Between messages, every `n` consecutive frames without one are a stage of the byte counter. If the fraction `p` of
//!   the frames causes a message, stages complete at `p / ((1 - p)^-n - 1)` per frame. Stages of the timer complete at
//!   `l / (e^(l t) - 1)` per second, with `l` messages per second. Either closes half of the gap between `R` and `T`.
//! - Five consecutive stages without a message raise `T` by `ai_rate`: the same formulas with five times the length.

use super::{ABOVE, Fluid, SharedLink, Tunable, demand};
use crate::Error;
use units::math::{exp, ln};

/// Parameters, in seconds, bits per second, bytes and plain numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Qcn {
    /// Number of sources that share the link.
    pub sources: f64,
    /// Rate of the link.
    pub capacity: f64,
    /// Time from a rate change until a message reports its effect on the queue.
    pub delay: f64,
    /// Set point of the queue.
    pub set_point: f64,
    /// Weight of the growth.
    pub weight: f64,
    /// Bytes between two samples of an uncongested queue.
    pub sample_base: f64,
    /// Fraction by which a source reduces its rate per quantum.
    pub gd: f64,
    /// Bytes per stage of the byte counter.
    pub byte_reset: f64,
    /// Length of a timer stage; zero for no timer.
    pub time_reset: f64,
    /// Number of stages of fast recovery.
    pub threshold: f64,
    /// Increase of the target rate per stage after fast recovery.
    pub ai_rate: f64,
    /// Frame size.
    pub frame: f64,
    /// Maximum queue length.
    pub buffer: f64,
    /// Minimum rate of a source.
    pub min_rate: f64,
    /// Maximum rate of a source.
    pub max_rate: f64,
    /// Minimum factor of a single decrease.
    pub min_dec_factor: f64,
    /// Scale of the random part of a queue sample, in quanta.
    pub noise: f64,
}

/// Presence of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// The congestion point sends feedback.
    Messages,
    /// No feedback: sources recover and probe for bandwidth by themselves.
    Silence,
}

/// Quanta of six bits.
const MOST: f64 = 63.0;

/// Distance in scales of the noise beyond which a level is certainly exceeded or never: e^-37 is below a rounding
/// error.
const FAR: f64 = 37.0;

impl Qcn {
    /// Returns the values of IEEE 802.1Qau, for 50 sources on 10 Gb/s and 50 us, without a timer.
    #[must_use]
    pub fn of_the_standard() -> Qcn {
        Qcn {
            sources: 50.0,
            capacity: 1e10,
            delay: 50e-6,
            set_point: 26_000.0,
            weight: 2.0,
            sample_base: 150_000.0,
            gd: 1.0 / 128.0,
            byte_reset: 150_000.0,
            time_reset: 0.0,
            threshold: 5.0,
            ai_rate: 5e6,
            frame: 1500.0,
            buffer: 300_000.0,
            min_rate: 5e6,
            max_rate: 1e10,
            min_dec_factor: 0.5,
            noise: 0.5,
        }
    }

    fn growth(&self, queue: f64, rate: f64) -> f64 {
        let growth = (self.sources * rate - self.capacity) / 8.0;
        if (queue <= 0.0 && growth < 0.0) || (queue >= self.buffer && growth > 0.0) { 0.0 } else { growth }
    }

    /// Returns the congestion in quanta, before rounding.
    #[must_use]
    pub fn quanta(&self, queue: f64, rate: f64) -> f64 {
        let between = 8.0 * self.sample_base / self.capacity;
        let congestion = (queue - self.set_point) + self.weight * between * self.growth(queue, rate);
        let quanta = MOST * congestion / ((2.0 * self.weight + 1.0) * self.set_point);
        if quanta > MOST { MOST } else { quanta }
    }

    /// Returns the probability that a sample with that mean is at least `level` quanta.
    fn at_least(&self, quanta: f64, level: f64) -> f64 {
        1.0 / (1.0 + exp((level - quanta) / self.noise))
    }

    /// Returns the mean feedback: the sum over all levels of the probability to reach them.
    #[must_use]
    pub fn feedback(&self, quanta: f64) -> f64 {
        // What is sure, to the last bit, and from there on one factor more for each level.
        let sure = (quanta - FAR * self.noise).floor().clamp(0.0, MOST);
        let (mut sum, mut level) = (sure, sure + 1.0);
        let mut odds = exp((level - quanta) / self.noise);
        let factor = exp(1.0 / self.noise);
        while level <= MOST && level - quanta < FAR * self.noise {
            sum += 1.0 / (1.0 + odds);
            odds *= factor;
            level += 1.0;
        }
        sum
    }

    /// The part of the frames that are sampled: with every eight quanta once more.
    fn sampled(&self, quanta: f64) -> f64 {
        let mut times = 1.0;
        let mut level = 8.0;
        while level < MOST && level - quanta < FAR * self.noise {
            times += self.at_least(quanta, level);
            level += 8.0;
        }
        let part = self.frame / self.sample_base * times;
        if part > 1.0 { 1.0 } else { part }
    }

    /// The part of a source's frames that make a message.
    fn told(&self, quanta: f64) -> f64 {
        self.sampled(quanta) * self.at_least(quanta, 1.0)
    }

    /// Returns the rate of runs of that many stages without a message, per second, for a rate and the fraction of
    /// frames with a message.
    fn stages(&self, rate: f64, told: f64, stages: f64) -> f64 {
        let frames = rate / (8.0 * self.frame);
        let length = stages * self.byte_reset / self.frame;
        let by_bytes = frames * per_trial(told, if told < 1.0 { -length * ln(1.0 - told) } else { 1e9 }, length);
        let messages = frames * told;
        let by_time = if self.time_reset > 0.0 {
            let length = stages * self.time_reset;
            per_trial(messages, messages * length, length)
        } else {
            0.0
        };
        by_bytes + by_time
    }

    /// The quanta at which the decreases of a source at that rate make up for its increases.
    fn balance(&self, rate: f64) -> Option<f64> {
        let frames = rate / (8.0 * self.frame);
        // The logarithm of decreases over increases: it grows with the quanta, and far below one nearly as a line.
        let excess = |quanta: f64| {
            let told = self.told(quanta);
            let gap = self.ai_rate * self.stages(rate, told, self.threshold) / (frames * told);
            let increase = 0.5 * gap * self.stages(rate, told, 1.0);
            ln(rate * frames * self.part(quanta) / increase)
        };
        let (mut low, mut high) = (self.silent(), MOST);
        let (mut at_low, mut at_high) = (excess(low), excess(high));
        if at_high < 0.0 || at_low > 0.0 {
            return None;
        }
        // The false position; an end that stays counts half the next time (Illinois), and now and then the middle.
        let mut stayed = 0;
        for round in 1..200 {
            let guess =
                if round % 4 == 0 { 0.5 * (low + high) } else { high - at_high * (high - low) / (at_high - at_low) };
            let guess = if guess > low && guess < high { guess } else { 0.5 * (low + high) };
            if high - low <= 1e-14 * (1.0 + high.abs()) || guess <= low || guess >= high {
                break;
            }
            let value = excess(guess);
            if value.abs() < 1e-13 {
                return Some(guess);
            }
            if value < 0.0 {
                (low, at_low) = (guess, value);
                at_high *= if stayed == 1 { 0.5 } else { 1.0 };
                stayed = 1;
            } else {
                (high, at_high) = (guess, value);
                at_low *= if stayed == -1 { 0.5 } else { 1.0 };
                stayed = -1;
            }
        }
        Some(0.5 * (low + high))
    }

    /// The part of its rate that a frame costs its source on average.
    fn part(&self, quanta: f64) -> f64 {
        let (part, most) = (self.gd * self.feedback(quanta), 1.0 - self.min_dec_factor);
        self.sampled(quanta) * if part > most { most } else { part }
    }

    /// The quanta below which one sample in e^30 makes a message: none, for a fluid.
    fn silent(&self) -> f64 {
        1.0 - 30.0 * self.noise
    }
}

/// `rate / (e^exponent - 1)`, and its limit `1 / length` where both are nothing.
pub(crate) fn per_trial(rate: f64, exponent: f64, length: f64) -> f64 {
    if exponent < 1e-4 {
        // e^x - 1 = x (1 + x/2 + x^2/6 + ...); rate / exponent is 1 / length to first order.
        let ratio = if rate > 0.0 { rate / exponent } else { 1.0 / length };
        return ratio / (1.0 + exponent * (0.5 + exponent / 6.0));
    }
    rate / (exp(exponent) - 1.0)
}

impl Tunable for Qcn {
    super::parameters! {
        sources,
        capacity,
        delay,
        set_point,
        weight,
        sample_base,
        gd,
        byte_reset,
        time_reset,
        threshold,
        ai_rate,
        frame,
        buffer,
        min_rate,
        max_rate,
        min_dec_factor,
        noise,
    }

    fn validate(&self) -> Result<(), Error> {
        let Self { sources, capacity, delay, frame, set_point, buffer, min_dec_factor, min_rate, max_rate, .. } = *self;
        let link =
            SharedLink { sources, capacity, delay, frame, set_point, buffer, min_dec_factor, min_rate, max_rate };
        demand(self.weight >= 0.0, "weight", self.weight, "it must be finite and not below zero")?;
        let rule = "a frame must not be longer than the bytes between two samples";
        demand(self.sample_base >= self.frame, "sample_base", self.sample_base, rule)?;
        demand(self.gd > 0.0, "gd", self.gd, ABOVE)?;
        demand(self.byte_reset > 0.0, "byte_reset", self.byte_reset, ABOVE)?;
        demand(self.time_reset >= 0.0, "time_reset", self.time_reset, "a time is finite and not below zero")?;
        demand(self.threshold >= 1.0, "threshold", self.threshold, "there must be at least one stage")?;
        demand(self.ai_rate > 0.0, "ai_rate", self.ai_rate, ABOVE)?;
        demand(self.noise > 0.0, "noise", self.noise, ABOVE)?;
        link.validate()
    }
}

impl Fluid<3> for Qcn {
    type Regime = Regime;

    fn delay(&self) -> f64 {
        self.delay
    }

    fn regime(&self, &[queue, rate, _]: &[f64; 3]) -> Regime {
        if self.quanta(queue, rate) > self.silent() { Regime::Messages } else { Regime::Silence }
    }

    fn change(&self, regime: Regime, now: &[f64; 3], then: &[f64; 3]) -> [f64; 3] {
        let [queue, rate, target] = *now;
        let quanta = self.quanta(then[0], then[1]);
        let (told, cost) = match regime {
            Regime::Messages => (self.told(quanta), self.part(quanta)),
            Regime::Silence => (0.0, 0.0),
        };
        // What comes now answers frames that passed the queue a delay ago.
        let late_frames = then[1] / (8.0 * self.frame);
        let gap = target - rate;
        let rising = 0.5 * gap * self.stages(rate, told, 1.0) - rate * cost * late_frames;
        let aiming = self.ai_rate * self.stages(rate, told, self.threshold) - gap * told * late_frames;
        let held = |value: f64, change: f64| {
            (value >= self.max_rate && change > 0.0) || (value <= self.min_rate && change < 0.0)
        };
        let rising = if held(rate, rising) { 0.0 } else { rising };
        let aiming = if held(target, aiming) { 0.0 } else { aiming };
        [self.growth(queue, rate), rising, aiming]
    }

    fn confine(&self, [queue, rate, target]: [f64; 3]) -> [f64; 3] {
        let within = |rate: f64| rate.clamp(self.min_rate, self.max_rate);
        [queue.clamp(0.0, self.buffer), within(rate), within(target)]
    }

    fn equilibrium(&self) -> Result<[f64; 3], Error> {
        self.validate()?;
        let rate = self.capacity / self.sources;
        let rule = "so large that the largest feedback does not make up for it: there is no equilibrium";
        let too_fast = Error::BadParameter { name: "ai_rate", value: self.ai_rate, rule };
        let quanta = self.balance(rate).ok_or(too_fast)?;
        let told = self.told(quanta);
        let gap = self.ai_rate * self.stages(rate, told, self.threshold) * 8.0 * self.frame / (rate * told);
        let queue = self.set_point + quanta * (2.0 * self.weight + 1.0) * self.set_point / MOST;
        let rule = "too small for the queue at which increases and decreases balance";
        demand(queue < self.buffer, "buffer", self.buffer, rule)?;
        Ok([queue, rate, rate + gap])
    }

    fn near_equilibrium(&self) -> Vec<(&'static str, Regime)> {
        vec![("messages", Regime::Messages)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::{Solver, linearise};

    fn standard() -> Qcn {
        Qcn::of_the_standard()
    }

    #[test]
    fn runs_without_a_message_by_simulation_of_the_counter() {
        // Frames with a message for the part p of them: how often are n in a row without one?
        let mut stream = units::Stream::new(1, 0, "stages");
        let (told, length) = (0.01, 100);
        let (mut run, mut runs, frames) = (0, 0_u32, 2_000_000_u32);
        for _ in 0..frames {
            run = if stream.unit_f64() < told { 0 } else { run + 1 };
            if run == length {
                (run, runs) = (0, runs + 1);
            }
        }
        let of = standard();
        let expected = of.stages(8.0 * of.frame, told, 1.0);
        let measured = f64::from(runs) / f64::from(frames);
        assert!((measured / expected - 1.0).abs() < 0.03, "{measured} {expected}");
        // p / ((1 - p)^-100 - 1) = 0.01 / 1.7320
        assert!((expected - 0.005_774).abs() < 1e-6);
        assert!((of.stages(8.0 * of.frame, 0.0, 1.0) - 0.01).abs() < 1e-12);
        assert!((of.stages(8.0 * of.frame, 1e-9, 1.0) / 0.01 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn stages_of_the_timer() {
        let of = Qcn { time_reset: 10e-3, ..standard() };
        // No messages: one stage every 10 ms beside those of the byte counter.
        let without = standard().stages(2e8, 0.0, 1.0);
        assert!((of.stages(2e8, 0.0, 1.0) - without - 100.0).abs() < 1e-9);
        // 2e8 / 12000 frames, a hundredth with a message: 166.67 a second, e^1.6667 - 1 = 4.2945.
        let with = of.stages(2e8, 0.01, 1.0) - standard().stages(2e8, 0.01, 1.0);
        assert!((with - 166.667 / 4.294_5).abs() < 1e-2, "{with}");
    }

    #[test]
    fn what_is_fed_back_on_average_by_drawing_samples() {
        // x and logistic noise, rounded down: mean quanta, and how often there is at least one.
        let of = standard();
        let mut stream = units::Stream::new(1, 0, "quanta");
        for x in [-1.0, 0.3, 1.0, 2.7, 10.3] {
            let (draws, mut sum, mut told) = (400_000, 0.0, 0.0);
            for _ in 0..draws {
                let u = stream.unit_f64();
                let seen = (x + of.noise * (u / (1.0 - u)).ln()).floor();
                if seen >= 1.0 {
                    (sum, told) = (sum + seen, told + 1.0);
                }
            }
            let (mean, part) = (sum / f64::from(draws), told / f64::from(draws));
            assert!((of.feedback(x) - mean).abs() < 0.01, "{x}: {} {mean}", of.feedback(x));
            assert!((of.at_least(x, 1.0) - part).abs() < 0.005, "{x}: {part}");
        }
        // A quantum is 5 * 26000 / 63 = 2063.49 bytes.
        assert!((of.quanta(26_000.0 + 3.0 * 2_063.492, 2e8) - 3.0).abs() < 1e-5);
        assert_eq!(of.quanta(3e5, 1e10), 63.0);
    }

    #[test]
    fn samples_come_sooner_by_the_table() {
        let of = standard();
        // Between the steps the table has 150000, 75000, 50000, ... bytes.
        for (quanta, times) in [(4.0, 1.0), (12.0, 2.0), (20.0, 3.0), (60.0, 8.0)] {
            assert!((of.sampled(quanta) / 0.01 - times).abs() < 1e-3, "{quanta}: {}", of.sampled(quanta));
        }
    }

    #[test]
    fn nothing_changes_at_the_equilibrium() {
        for sources in [2.0, 10.0, 50.0, 400.0] {
            for time_reset in [0.0, 15e-3] {
                let of = Qcn { sources, time_reset, ..standard() };
                let rest = of.equilibrium().expect("an equilibrium");
                let change = of.change(of.regime(&rest), &rest, &rest);
                assert!(change[0].abs() < 1e-3, "{change:?}");
                assert!(change[1].abs() < 1e-6 * rest[1] && change[2].abs() < 1e-6 * rest[1], "{sources}: {change:?}");
                assert!(rest[2] > rest[1], "{rest:?}");
            }
        }
    }

    #[test]
    fn it_settles_where_the_loop_is_stable_and_swings_where_it_is_not() {
        let spread = |delay: f64| {
            let of = Qcn { delay, ..standard() };
            let rest = of.equilibrium().expect("an equilibrium");
            let linear = linearise(&of, Regime::Messages).expect("slopes").characteristic().expect("a loop");
            let mut solver = Solver::new(&of, |_| [rest[0], rest[1] * 1.001, rest[2]], 1e-5);
            let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
            solver.run(1.0, 1, |t, state| {
                if t > 0.8 {
                    (low, high) = (low.min(state[0]), high.max(state[0]));
                }
            });
            (linear.is_stable(), high - low)
        };
        let critical = {
            let linear = linearise(&standard(), Regime::Messages).expect("slopes");
            linear.characteristic().expect("a loop").critical_delay()
        };
        assert!(critical > 50e-6 && critical < 10e-3, "{critical}");
        let (stable, small) = spread(0.8 * critical);
        let (unstable, large) = spread(1.25 * critical);
        assert!(stable && !unstable && large > 100.0 * small, "{critical}: {small} {large}");
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        assert_eq!(standard().validate(), Ok(()));
        for (name, value) in [("delay", -1.0), ("gd", 0.0), ("threshold", 0.0), ("buffer", 1.0), ("noise", 0.0)] {
            let error = standard().with(name, value).expect("a parameter").validate().expect_err("wrong");
            assert!(matches!(error, Error::BadParameter { name: about, .. } if about == name), "{name}: {error}");
        }
        for name in Qcn::NAMES {
            assert!(standard().with(name, 1.0).is_some(), "{name}");
        }
        let small = Qcn { buffer: 26_100.0, ..standard() };
        assert!(small.equilibrium().expect_err("no room").to_string().contains("buffer"));
    }
}
