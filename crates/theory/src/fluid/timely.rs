//! Fluid models of TIMELY and of patched TIMELY: equations (20) to (24), (26) and (29) of Zhu, Ghobadi, Misra and Padhye, "ECN or
//! Delay: Lessons Learnt from Analysis of DCQCN and TIMELY" (CoNEXT 2016), section 4.
//!
//! A source updates its rate once per segment, every `tau* = max(segment / R, min_rtt)`, from round-trip times that report
//! the queue of a round trip ago. Between two thresholds TIMELY follows the gradient: the difference of the last two round
//! trips, smoothed. As published it has no fixed point: without a gradient rates still rise. If it is taken not to rise
//! then, every set of rates that fills the link with a queue between the thresholds is a fixed point. Either way shares
//! depend on the past. The patch weighs increase and decrease by the gradient and measures the distance from a reference,
//! which leaves one fixed point, with equal rates.
//!
//! The paper compares `q / C` with the thresholds; here it is the whole round trip, as in packets. The sources are in two
//! halves, which may start at different rates. `docs/theory/timely.md` has the derivation.

use super::retarded::Retarded;
use super::{ABOVE, Tunable, demand};
use crate::Error;
use crate::stability::polynomial::Polynomial;
use crate::stability::{DelayedLoop, Echo};

/// The law between the two thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelyModel {
    /// By the sign of the gradient.
    Gradient,
    /// By a weight that grows with the gradient, and the distance from a reference.
    Patched,
}

/// Parameters, in seconds, bits per second, bytes and plain numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Timely {
    /// The law.
    pub law: TimelyModel,
    /// N: number of sources that share the link.
    pub sources: f64,
    /// C: rate of the link.
    pub capacity: f64,
    /// Round trip without queues.
    pub delay: f64,
    /// Weight of a new difference of round trips.
    pub alpha: f64,
    /// Factor of a decrease.
    pub beta: f64,
    /// Round trip below which rates rise.
    pub t_low: f64,
    /// Round trip above which rates fall.
    pub t_high: f64,
    /// Unit of the gradient, and the least time between two updates.
    pub min_rtt: f64,
    /// Reference of patched TIMELY.
    pub reference_rtt: f64,
    /// Slope of patched TIMELY's weight over the gradient.
    pub slope: f64,
    /// delta: increase per update.
    pub ai_rate: f64,
    /// Bytes per update.
    pub segment: f64,
    /// Maximum queue length.
    pub buffer: f64,
    /// Minimum rate of a source.
    pub min_rate: f64,
    /// Maximum rate of a source.
    pub max_rate: f64,
}

impl Timely {
    /// Returns the parameters of the paper for that law, on 10 Gb/s. The number of sources, the buffer and the limits of
    /// rates are our choice.
    #[must_use]
    pub fn of_the_paper(law: TimelyModel) -> Timely {
        Timely {
            law,
            sources: 10.0,
            capacity: 1e10,
            delay: 4e-6,
            alpha: 0.875,
            beta: if law == TimelyModel::Gradient { 0.8 } else { 0.008 },
            t_low: 50e-6,
            t_high: 500e-6,
            min_rtt: 20e-6,
            reference_rtt: 50e-6,
            slope: 2.0,
            ai_rate: 1e7,
            segment: 16e3,
            buffer: 2e6,
            min_rate: 1e7,
            max_rate: 1e10,
        }
    }

    /// tau*: the time between two updates at a rate.
    fn interval(&self, rate: f64) -> f64 {
        (8.0 * self.segment / rate).max(self.min_rtt)
    }

    fn round_trip(&self, queue: f64) -> f64 {
        8.0 * queue / self.capacity + self.delay
    }

    /// The queue of a round trip, in bytes.
    fn queue(&self, round_trip: f64) -> f64 {
        (round_trip - self.delay) * self.capacity / 8.0
    }

    /// Returns the shortest and the longest queue at which rates can rest, in bytes: equal with the patch.
    ///
    /// # Errors
    /// Fails if a parameter is not valid, or if the fixed point lies beyond a threshold or the buffer.
    pub fn resting_queues(&self) -> Result<(f64, f64), Error> {
        self.validate()?;
        if self.law == TimelyModel::Gradient {
            return Ok((self.queue(self.t_low).max(0.0), self.queue(self.t_high).min(self.buffer)));
        }
        // Half of the increase against half of the decrease: ai = beta R error.
        let error = self.ai_rate * self.sources / (self.beta * self.capacity);
        let round_trip = self.reference_rtt * (1.0 + error);
        let rule = "too low for the round trip at which increases and decreases balance: there is no fixed point";
        demand(round_trip < self.t_high, "t_high", self.t_high, rule)?;
        let queue = self.queue(round_trip);
        demand(queue > 0.0, "delay", self.delay, "it exceeds the round trip at which increases and decreases balance")?;
        demand(queue < self.buffer, "buffer", self.buffer, "too small for the queue of the fixed point")?;
        Ok((queue, queue))
    }

    /// Returns the queue and the rate of patched TIMELY's fixed point; for TIMELY, one of many: equal rates at the shortest
    /// queue.
    ///
    /// # Errors
    /// As [`Timely::resting_queues`].
    pub fn fixed_point(&self) -> Result<(f64, f64), Error> {
        Ok((self.resting_queues()?.0, self.capacity / self.sources))
    }

    /// Returns the loop of patched TIMELY at its fixed point; `None` for TIMELY, which has none to linearise at.
    ///
    /// # Errors
    /// As [`Timely::resting_queues`].
    pub fn exact(&self) -> Result<Option<DelayedLoop>, Error> {
        let (queue, rate) = self.fixed_point()?;
        if self.law == TimelyModel::Gradient {
            return Ok(None);
        }
        let interval = self.interval(rate);
        let smoothing = self.alpha / interval;
        // R' = ((1 - w) ai - w beta R e) / interval at w = 1/2 and beta R e = ai; bytes as bits.
        let by_rate = 0.5 * self.ai_rate / (rate * interval);
        let by_gradient = 2.0 * self.ai_rate * self.slope / interval;
        let by_queue = 0.5 * self.beta * rate / (self.reference_rtt * self.capacity * interval);
        let gradient = self.sources * by_gradient * smoothing / (self.capacity * self.min_rtt);
        let level = self.sources * by_queue;
        let own = Polynomial::new(&[0.0, by_rate * smoothing, by_rate + smoothing, 1.0]);
        let late = Polynomial::new(&[level * smoothing + gradient, level]);
        let echo = Echo { late: Polynomial::new(&[-gradient]), apart: interval };
        DelayedLoop::new(own, late, self.round_trip(queue))?.with_echo(echo).map(Some)
    }

    /// The change of a source's rate and gradient.
    fn reaction(&self, rate: f64, gradient: f64, past: &dyn Fn(f64) -> f64, round_trip_now: f64) -> [f64; 2] {
        let interval = self.interval(rate);
        let late = past(round_trip_now);
        let (seen, before) = (self.round_trip(late), self.round_trip(past(round_trip_now + interval)));
        let change = match self.law {
            _ if seen < self.t_low => self.ai_rate,
            _ if seen > self.t_high => -self.beta * (1.0 - self.t_high / seen) * rate,
            TimelyModel::Gradient if gradient < 0.0 => self.ai_rate,
            TimelyModel::Gradient => -self.beta * gradient * rate,
            TimelyModel::Patched => {
                let weight = (self.slope * gradient + 0.5).clamp(0.0, 1.0);
                let error = (seen - self.reference_rtt) / self.reference_rtt;
                (1.0 - weight) * self.ai_rate - weight * self.beta * rate * error
            }
        };
        let change = change / interval;
        let held = (rate >= self.max_rate && change > 0.0) || (rate <= self.min_rate && change < 0.0);
        let learning = self.alpha / interval * ((seen - before) / self.min_rtt - gradient);
        [if held { 0.0 } else { change }, learning]
    }
}

/// The state is the queue, and rate and gradient of a source of either half.
impl Retarded<5> for Timely {
    fn change(&self, now: &[f64; 5], past: &dyn Fn(f64) -> [f64; 5]) -> [f64; 5] {
        let queue = |ago: f64| past(ago)[0];
        let round_trip = self.round_trip(now[0]);
        let [a, b] = self.reaction(now[1], now[2], &queue, round_trip);
        let [c, d] = self.reaction(now[3], now[4], &queue, round_trip);
        let growth = (0.5 * self.sources * (now[1] + now[3]) - self.capacity) / 8.0;
        let held = (now[0] <= 0.0 && growth < 0.0) || (now[0] >= self.buffer && growth > 0.0);
        [if held { 0.0 } else { growth }, a, b, c, d]
    }

    fn confine(&self, [queue, a, b, c, d]: [f64; 5]) -> [f64; 5] {
        let within = |rate: f64| rate.clamp(self.min_rate, self.max_rate);
        [queue.clamp(0.0, self.buffer), within(a), b, within(c), d]
    }

    fn longest(&self) -> f64 {
        self.round_trip(self.buffer) + self.interval(self.min_rate)
    }
}

impl Timely {
    /// Names of the parameters of TIMELY, without those of the patch.
    pub const GRADIENT_NAMES: &'static [&'static str] = &[
        "sources", "capacity", "delay", "alpha", "beta", "t_low", "t_high", "min_rtt", "ai_rate", "segment", "buffer",
        "min_rate", "max_rate",
    ];
}

impl Tunable for Timely {
    super::parameters! {
        sources,
        capacity,
        delay,
        alpha,
        beta,
        t_low,
        t_high,
        min_rtt,
        reference_rtt,
        slope,
        ai_rate,
        segment,
        buffer,
        min_rate,
        max_rate,
    }

    fn validate(&self) -> Result<(), Error> {
        demand(self.sources > 0.0, "sources", self.sources, ABOVE)?;
        demand(self.capacity > 0.0, "capacity", self.capacity, ABOVE)?;
        demand(self.delay >= 0.0, "delay", self.delay, "a delay is finite and not below zero")?;
        demand(self.alpha > 0.0 && self.alpha <= 1.0, "alpha", self.alpha, "a weight is above 0 and at most 1")?;
        demand(self.beta > 0.0 && self.beta <= 1.0, "beta", self.beta, "a factor is above 0 and at most 1")?;
        demand(self.t_low >= 0.0, "t_low", self.t_low, "a time is finite and not below zero")?;
        demand(self.t_high > self.t_low, "t_high", self.t_high, "it must be above t_low")?;
        let rule = "no queue is short enough for it: it must be above the round trip without queues";
        demand(self.t_high > self.delay, "t_high", self.t_high, rule)?;
        demand(self.min_rtt > 0.0, "min_rtt", self.min_rtt, ABOVE)?;
        demand(self.reference_rtt > 0.0, "reference_rtt", self.reference_rtt, ABOVE)?;
        demand(self.slope > 0.0, "slope", self.slope, ABOVE)?;
        demand(self.ai_rate > 0.0, "ai_rate", self.ai_rate, ABOVE)?;
        demand(self.segment > 0.0, "segment", self.segment, ABOVE)?;
        demand(self.buffer > 0.0, "buffer", self.buffer, ABOVE)?;
        let share = self.capacity / self.sources;
        let rule = "the fair share of the link must lie between min_rate and max_rate";
        demand(self.min_rate > 0.0 && self.min_rate <= share, "min_rate", self.min_rate, rule)?;
        demand(self.max_rate >= share, "max_rate", self.max_rate, rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::retarded::Course;

    fn of(law: TimelyModel, sources: f64) -> Timely {
        Timely { sources, ..Timely::of_the_paper(law) }
    }

    /// Rates of the two halves at the end, and the spread of the queue over the last tenth.
    fn halves(of: &Timely, rates: (f64, f64), until: f64) -> (f64, f64, f64) {
        let mut course = Course::new(of, [0.0, rates.0, 0.0, rates.1, 0.0], 1e-6);
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        course.run(until, 1, |t, state| {
            if t > 0.9 * until {
                (low, high) = (low.min(state[0]), high.max(state[0]));
            }
        });
        let [_, a, _, b, _] = course.state();
        (a, b, high - low)
    }

    #[test]
    fn shares_of_timely_depend_on_the_start_and_those_of_the_patch_do_not() {
        let gradient = of(TimelyModel::Gradient, 2.0);
        let (a, b, _) = halves(&gradient, (5e9, 5e9), 0.05);
        assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
        let (a, b, _) = halves(&gradient, (7e9, 3e9), 0.05);
        assert!(a / b > 1.5, "{a} {b}");
        let (c, d, _) = halves(&gradient, (9e9, 1e9), 0.05);
        assert!(c / d > 1.5 * a / b, "{c} {d}: further apart, as they were");
        let patched = of(TimelyModel::Patched, 2.0);
        let (a, b, swing) = halves(&patched, (7e9, 3e9), 0.2);
        assert!((a / b - 1.0).abs() < 0.1 && swing < 20e3, "{a} {b} {swing}");
    }

    #[test]
    fn rates_of_the_patch_meet_exponentially_at_the_stated_speed() {
        // R1 - R2 falls with e^(-delta (N - 1) / (2 Seg) t) for two flows (section 4.3): by e in 25.6 ms.
        let patched = Timely { min_rtt: 1e-6, slope: 2.0, ..of(TimelyModel::Patched, 2.0) };
        let gap = |until: f64| {
            let (a, b, _) = halves(&patched, (5.5e9, 4.5e9), until);
            a - b
        };
        let ratio = gap(0.0512) / gap(0.0256);
        assert!((ratio * std::f64::consts::E - 1.0).abs() < 0.1, "{ratio}");
    }

    #[test]
    fn the_fixed_point_of_the_patch_and_the_many_of_timely() {
        // q* = q' + N delta q' / (beta C) with q' = C T_low, here less what is on the wire (equation 31).
        let (queue, rate) = of(TimelyModel::Patched, 10.0).fixed_point().expect("one");
        let reference = 1e10 * 50e-6 / 8.0;
        let expected = reference + 10.0 * 1e7 * reference / (0.008 * 1e10) - 1e10 * 4e-6 / 8.0;
        assert!((queue - expected).abs() < 1.0 && rate == 1e9, "{queue} {expected}");
        let still = [queue, rate, 0.0, rate, 0.0];
        let change = of(TimelyModel::Patched, 10.0).change(&still, &|_| still);
        assert!(change[0].abs() < 1.0 && change[1].abs() < 1e-3 * rate, "{change:?}");
        // TIMELY rests at any queue between the thresholds, with any rates that fill the link.
        let gradient = of(TimelyModel::Gradient, 10.0);
        let (low, high) = gradient.resting_queues().expect("many");
        assert!(low < high && gradient.exact().expect("none").is_none());
        for (part, queue) in [(0.3, 0.9 * low + 0.1 * high), (1.0, 0.5 * (low + high)), (1.9, 0.1 * low + 0.9 * high)] {
            let still = [queue, part * 1e9, 0.0, (2.0 - part) * 1e9, 0.0];
            let change = gradient.change(&still, &|_| still);
            assert!(change.iter().all(|change| change.abs() < 1e-3), "{change:?}");
        }
        let beyond = of(TimelyModel::Patched, 100.0).fixed_point().expect_err("beyond t_high");
        assert!(beyond.to_string().contains("t_high"), "{beyond}");
    }

    #[test]
    fn the_published_margins_follow_from_a_slope_of_a_half() {
        // Figure 11 of the paper, from its data: degrees by number of flows, without propagation. They follow with a weight
        // of g/2 + 1/2; the weight that the text states is 2 g + 1/2.
        let published = [
            (2.0, -1.9535),
            (4.0, 5.2484),
            (10.0, 28.529),
            (18.0, 42.921),
            (30.0, 22.013),
            (38.0, 3.2215),
            (40.0, -1.3105),
            (50.0, -22.263),
        ];
        let margin = |sources: f64, slope: f64| {
            // The frame that the paper adds to the delay, 0.8 us, and no propagation; tau* without its minimum.
            let of = Timely { slope, delay: 0.8e-6, min_rtt: 20e-6, ..of(TimelyModel::Patched, sources) };
            of.exact().expect("a fixed point").expect("a loop").phase_margin().0.to_degrees()
        };
        for (sources, degrees) in published {
            assert!((margin(sources, 0.5) - degrees).abs() < 0.2, "{sources}: {} {degrees}", margin(sources, 0.5));
        }
        // As stated, the edge is at about twenty flows; either way many flows are unstable, and the margin has a maximum.
        assert!(margin(10.0, 2.0) > margin(2.0, 2.0) && margin(18.0, 2.0) > 0.0 && margin(22.0, 2.0) < 0.0);
    }

    #[test]
    fn it_settles_where_the_margin_is_positive_and_swings_where_it_is_negative() {
        for (sources, settles) in [(10.0, true), (40.0, false)] {
            let of = of(TimelyModel::Patched, sources);
            let exact = of.exact().expect("a fixed point").expect("a loop");
            assert_eq!(exact.is_stable(), settles, "{sources}");
            let (queue, rate) = of.fixed_point().expect("one");
            let mut course = Course::new(&of, [queue, 1.01 * rate, 0.0, 1.01 * rate, 0.0], 1e-6);
            let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
            course.run(0.1, 1, |t, state| {
                if t > 0.09 {
                    (low, high) = (low.min(state[0]), high.max(state[0]));
                }
            });
            let swing = (high - low) / queue;
            assert!(if settles { swing < 1e-3 } else { swing > 0.1 }, "{sources}: {swing}");
        }
    }

    #[test]
    fn crossovers_of_a_loop_with_an_echo_have_a_gain_of_one_and_its_roots_solve_it() {
        for sources in [2.0, 10.0, 40.0] {
            let of = of(TimelyModel::Patched, sources).exact().expect("a fixed point").expect("a loop");
            let crossovers = of.crossovers();
            assert!(!crossovers.is_empty());
            for crossover in crossovers {
                assert!((of.open_loop(crossover.frequency).abs() - 1.0).abs() < 1e-9);
            }
            let roots = crate::stability::rightmost(&of);
            assert!(
                roots.complete
                    && roots
                        .found
                        .iter()
                        .all(|&root| of.characteristic(root).abs() < 1e-3 * of.own().at_complex(root).abs())
            );
            // Two ways to count: by the crossovers as the delay grows, and around a rectangle.
            let right: usize =
                roots.found.iter().filter(|root| root.re > 0.0).map(|root| if root.im == 0.0 { 1 } else { 2 }).sum();
            assert_eq!(right, of.unstable_roots(), "{sources}");
            let (edge, delay) = (of.critical_delay(), of.delay());
            assert_eq!(delay < edge, of.is_stable(), "{sources}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        for (name, value) in [("beta", 0.0), ("t_high", 1e-6), ("segment", 0.0), ("min_rate", 0.0), ("slope", -1.0)] {
            let wrong = Timely::of_the_paper(TimelyModel::Patched).with(name, value).expect("a parameter");
            let error = wrong.validate().expect_err("wrong");
            assert!(matches!(error, Error::BadParameter { name: about, .. } if about == name), "{name}: {error}");
        }
        assert!(Timely::GRADIENT_NAMES.iter().all(|name| Timely::NAMES.contains(name)));
    }
}
