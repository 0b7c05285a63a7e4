//! Fluid model of BCN: equations (1) to (5) of Lu, Pan, Prabhakar, Bergamasco, Alaria and Baldini, "Congestion control
//! in networks with no congestion drops" (Allerton 2006), section III.A.
//!
//! `N` equal sources share one link. The queue grows by the excess of arrivals over departures, `q' = N R - C`. The
//! congestion point samples a frame with probability `P` and sends its source `Fb = -((q - qeq) + w dq) / S` in frames,
//! where `dq` is the growth since the last sample, `S / (C P)` ago on average. A source receives such a message for the
//! fraction `P` of its `R / S` frames per second, after a delay. It adds `Gi Ru Fb` to its rate if `Fb > 0`, or reduces
//! its rate by the fraction `Gd |Fb|` if `Fb < 0`.
//!
//! The paper linearises at once; this model also has the limits. The queue lies between zero and the buffer; at either
//! limit it does not change and so contributes no growth to `Fb`. A rate lies between `min_rate` and `max_rate`, and a
//! message reduces it by at most the fraction `1 - min_dec_factor`. `docs/theory/bcn.md` has the derivation.

use super::{ABOVE, Fluid, SharedLink, Tunable, demand};
use crate::Error;
use crate::stability::DelayedLoop;
use crate::stability::polynomial::Polynomial;

/// Parameters, in seconds, bits per second, bytes and plain numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Bcn {
    /// N: number of sources that share the link.
    pub sources: f64,
    /// C: rate of the link.
    pub capacity: f64,
    /// tau: time from a rate change until a message reports its effect on the queue.
    pub delay: f64,
    /// qeq: set point of the queue.
    pub set_point: f64,
    /// w: weight of the growth.
    pub weight: f64,
    /// P: sampling probability of a frame.
    pub probability: f64,
    /// Lag of the reported growth as a fraction of the mean gap between two samples: 1 if frames are sampled at random,
    /// 1/2 if at equal intervals. The paper's equations omit it.
    pub sampling_lag: f64,
    /// Gi: increase gain of a source.
    pub increase_gain: f64,
    /// Gd: decrease gain of a source.
    pub decrease_gain: f64,
    /// Ru: unit of rate increase.
    pub rate_unit: f64,
    /// S: frame size, the unit of queue length.
    pub frame: f64,
    /// Maximum queue length.
    pub buffer: f64,
    /// Minimum rate of a source.
    pub min_rate: f64,
    /// Maximum rate of a source.
    pub max_rate: f64,
    /// Minimum factor of a single decrease.
    pub min_dec_factor: f64,
}

/// The set of equations that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// `Fb > 0`, equations (1) to (3): rates increase.
    Increase,
    /// `Fb < 0`, equations (4) and (5): rates decrease.
    Decrease,
}

impl Bcn {
    /// Returns the parameters of section III.B of the paper, 50 sources on 10 Gb/s. The values that it omits are our
    /// choice: a buffer of 100 frames, rates from 1 Mb/s to that of the link, and no decrease below a half.
    #[must_use]
    pub fn of_the_paper() -> Bcn {
        Bcn {
            sources: 50.0,
            capacity: 1e10,
            delay: 200e-6,
            set_point: 24_000.0,
            weight: 2.0,
            probability: 0.01,
            sampling_lag: 1.0,
            increase_gain: 4.0,
            decrease_gain: 1.0 / 128.0,
            rate_unit: 1e6,
            frame: 1500.0,
            buffer: 150_000.0,
            min_rate: 1e6,
            max_rate: 1e10,
            min_dec_factor: 0.5,
        }
    }

    /// S in bits.
    fn bits(&self) -> f64 {
        8.0 * self.frame
    }

    /// Returns the mean time between two samples, `S / (C P)`, in seconds.
    #[must_use]
    pub fn gap(&self) -> f64 {
        self.bits() / (self.capacity * self.probability)
    }

    /// Returns T: the lead time of a message due to the growth term, `w S / (C P)`, in seconds.
    #[must_use]
    pub fn lead(&self) -> f64 {
        self.weight * self.bits() / (self.capacity * self.probability)
    }

    /// Returns the paper's pole of a loop, `k`: `Gi Ru w / S` or `Gd w C / (N S)`, in radians per second.
    #[must_use]
    pub fn pole(&self, regime: Regime) -> f64 {
        match regime {
            Regime::Increase => self.increase_gain * self.rate_unit * self.weight / self.bits(),
            Regime::Decrease => self.decrease_gain * self.weight * self.capacity / (self.sources * self.bits()),
        }
    }

    /// Returns the gain from the queue to its second derivative, `K`: the pole over the lead.
    #[must_use]
    pub fn stiffness(&self, regime: Regime) -> f64 {
        self.pole(regime) / self.lead()
    }

    /// Returns equations (6) or (7) with (8) as one loop: `s^2 + (k s + K) e^(-s tau)`.
    ///
    /// # Errors
    /// Fails if the parameters do not form a loop.
    pub fn delayed_loop(&self, regime: Regime) -> Result<DelayedLoop, Error> {
        DelayedLoop::double_integrator(self.pole(regime), self.stiffness(regime), self.delay)
    }

    /// Returns the mean lag of the growth that a message reports, in seconds.
    #[must_use]
    pub fn lag(&self) -> f64 {
        self.sampling_lag * self.gap()
    }

    /// Returns the loop with the lag of sampling, which equations (1) to (5) omit: the reported growth is the change
    /// since the last sample, `q(t) - q(t - h)`, and not `q' h`. With frames sampled at random, the gap `h` is
    /// exponential, and the mean of `e^(-s h)` is `1 / (1 + s h)`; with samples at equal intervals it is about
    /// `(1 - s h/2) / (1 + s h/2)`. With the lag `l` of `h` or `h/2`, the lead is therefore `1 + w s h / (1 + s l)` and
    /// not `1 + w s h`, and the loop is `s^2 (1 + s l) + K (1 + (l + w h) s) e^(-s tau)`.
    ///
    /// # Errors
    /// Fails if the parameters do not form a loop.
    pub fn sampled_loop(&self, regime: Regime) -> Result<DelayedLoop, Error> {
        let (lag, whole) = (self.lag(), self.stiffness(regime));
        let own = Polynomial::new(&[0.0, 0.0, 1.0, lag]);
        let late = Polynomial::new(&[whole, whole * (lag + self.weight * self.gap())]);
        DelayedLoop::new(own, late, self.delay)
    }

    /// The growth of a queue, in bytes per second.
    fn growth(&self, queue: f64, rate: f64) -> f64 {
        let growth = (self.sources * rate - self.capacity) / 8.0;
        if (queue <= 0.0 && growth < 0.0) || (queue >= self.buffer && growth > 0.0) { 0.0 } else { growth }
    }

    /// Returns Fb, in frames.
    #[must_use]
    pub fn feedback(&self, queue: f64, rate: f64) -> f64 {
        -((queue - self.set_point) + self.lead() * self.growth(queue, rate)) / self.frame
    }
}

impl Tunable for Bcn {
    super::parameters! {
        sources,
        capacity,
        delay,
        set_point,
        weight,
        probability,
        sampling_lag,
        increase_gain,
        decrease_gain,
        rate_unit,
        frame,
        buffer,
        min_rate,
        max_rate,
        min_dec_factor,
    }

    fn validate(&self) -> Result<(), Error> {
        let Self { sources, capacity, delay, frame, set_point, buffer, min_dec_factor, min_rate, max_rate, .. } = *self;
        let link =
            SharedLink { sources, capacity, delay, frame, set_point, buffer, min_dec_factor, min_rate, max_rate };
        demand(self.weight > 0.0, "weight", self.weight, ABOVE)?;
        let part = "a probability is above 0 and at most 1";
        demand(self.probability > 0.0 && self.probability <= 1.0, "probability", self.probability, part)?;
        let lag = "growth lags behind by none to all of the gap between two samples: 0 to 1";
        demand((0.0..=1.0).contains(&self.sampling_lag), "sampling_lag", self.sampling_lag, lag)?;
        demand(self.increase_gain > 0.0, "increase_gain", self.increase_gain, ABOVE)?;
        demand(self.decrease_gain > 0.0, "decrease_gain", self.decrease_gain, ABOVE)?;
        demand(self.rate_unit > 0.0, "rate_unit", self.rate_unit, ABOVE)?;
        link.validate()
    }
}

impl Fluid<2> for Bcn {
    type Regime = Regime;

    fn delay(&self) -> f64 {
        self.delay
    }

    fn regime(&self, &[queue, rate]: &[f64; 2]) -> Regime {
        if self.feedback(queue, rate) > 0.0 { Regime::Increase } else { Regime::Decrease }
    }

    fn change(&self, regime: Regime, now: &[f64; 2], then: &[f64; 2]) -> [f64; 2] {
        let [queue, rate] = *now;
        let feedback = self.feedback(then[0], then[1]);
        let messages = then[1] * self.probability / self.bits();
        let change = match regime {
            Regime::Increase => self.increase_gain * self.rate_unit * feedback * messages,
            Regime::Decrease => {
                let part = self.decrease_gain * feedback;
                let most = self.min_dec_factor - 1.0;
                rate * messages * if part < most { most } else { part }
            }
        };
        let held = (rate >= self.max_rate && change > 0.0) || (rate <= self.min_rate && change < 0.0);
        [self.growth(queue, rate), if held { 0.0 } else { change }]
    }

    fn confine(&self, [queue, rate]: [f64; 2]) -> [f64; 2] {
        [queue.clamp(0.0, self.buffer), rate.clamp(self.min_rate, self.max_rate)]
    }

    fn equilibrium(&self) -> Result<[f64; 2], Error> {
        self.validate()?;
        Ok([self.set_point, self.capacity / self.sources])
    }

    fn near_equilibrium(&self) -> Vec<(&'static str, Regime)> {
        vec![("increase", Regime::Increase), ("decrease", Regime::Decrease)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::{Solver, linearise};

    fn paper() -> Bcn {
        Bcn::of_the_paper()
    }

    fn close(value: f64, expected: f64, relative: f64) -> bool {
        (value - expected).abs() <= relative * expected.abs()
    }

    #[test]
    fn the_poles_of_the_paper_and_the_one_that_does_not_follow() {
        assert!(close(paper().pole(Regime::Increase), 666.667, 1e-6));
        assert!(close(paper().pole(Regime::Decrease), 260.417, 1e-5));
        // The stated 521 rad/s are those of half the sources or twice the gain.
        let half = paper().with("sources", 25.0).expect("a parameter");
        let twice = paper().with("decrease_gain", 1.0 / 64.0).expect("a parameter");
        assert!(close(half.pole(Regime::Decrease), 520.833, 1e-5));
        assert!(close(twice.pole(Regime::Decrease), 520.833, 1e-5));
        assert!(close(paper().lead(), 240e-6, 1e-12));
    }

    #[test]
    fn the_sum_of_the_three_terms_is_what_is_computed() {
        // Equations (1) to (3) and (4) to (5) as they are printed, in bits.
        let of = paper();
        let (p, w, s, n, c) = (of.probability, of.weight, 12_000.0, of.sources, of.capacity);
        let (queue, rate, then) = (18_000.0, 2.1e8, [30_000.0, 1.9e8]);
        let common = (8.0 * of.set_point * p / (s * s) + w / s) * then[1]
            - w * n / (c * s) * then[1] * then[1]
            - p / (s * s) * then[1] * 8.0 * then[0];
        let up = of.change(Regime::Increase, &[queue, rate], &then)[1];
        let down = of.change(Regime::Decrease, &[queue, rate], &then)[1];
        assert!(close(up, of.increase_gain * of.rate_unit * common, 1e-12), "{up}");
        assert!(close(down, of.decrease_gain * common * rate, 1e-12), "{down}");
    }

    #[test]
    fn linearised_it_is_equations_six_to_eight() {
        for (name, regime) in paper().near_equilibrium() {
            let by_slopes = linearise(&paper(), regime).and_then(|linear| linear.characteristic()).expect("a loop");
            let by_formula = paper().delayed_loop(regime).expect("a loop");
            for power in 0..3 {
                let (a, b) = (by_slopes.own().coefficient(power), by_formula.own().coefficient(power));
                assert!((a - b).abs() < 1e-6, "{name}: {a} {b}");
                let (a, b) = (by_slopes.late().coefficient(power), by_formula.late().coefficient(power));
                assert!((a - b).abs() <= 1e-7 * b.abs(), "{name}: {a} {b}");
            }
        }
    }

    #[test]
    fn the_lag_of_sampling_takes_most_of_the_margin() {
        let [increase, decrease] =
            [Regime::Increase, Regime::Decrease].map(|regime| paper().sampled_loop(regime).expect("a loop"));
        // At the crossover the phase of 1 + w s h / (1 + s h), by hand for h = 120 us, less omega tau.
        for of in [increase, decrease] {
            let crossover = of.crossovers()[0].frequency;
            let x = crossover * 120e-6;
            let lead = (2.0 * x / (1.0 + x * x)).atan2(1.0 + 2.0 * x * x / (1.0 + x * x));
            assert!((of.phase_margin().0 - (lead - crossover * 200e-6)).abs() < 1e-9);
        }
        // 27 us of delay without it, 1.3 us with it.
        assert!((increase.critical_delay() - 201.293e-6).abs() < 1e-9 && increase.is_stable());
        assert!((decrease.critical_delay() - 224.170e-6).abs() < 1e-9);
        // Samples at equal distances lag by half of that, and cost about half as much.
        let of = |sampling_lag| Bcn { sampling_lag, ..paper() }.sampled_loop(Regime::Increase).expect("a loop");
        let [none, half, all] = [0.0, 0.5, 1.0].map(|lag| of(lag).critical_delay());
        assert!((none - 227.42e-6).abs() < 1e-8 && half > all && half < none, "{none} {half} {all}");
        assert!(((none - half) / (none - all) - 0.5).abs() < 0.1, "{none} {half} {all}");
    }

    #[test]
    fn the_first_delay_worked_out_by_hand() {
        // Ten sources at 0.9 Gb/s on 10 Gb/s, the queue at rest before: for a delay every source sees the same message.
        // growth = -1 Gb/s = -125 MB/s, so Fb = -((12000 - 24000) + 240 us * -125 MB/s) / 1500 = 42000 / 1500 = 28.
        // Each of the 0.9e9 / 12000 * 0.01 = 750 messages a second adds 4 * 28 Mb/s: 84 Gb/s in a second.
        // After 100 us the rate is 0.9 Gb/s + 8.4 Mb/s, and the queue has lost 12500 B, less the
        // 10 * 84e9 / 8 * (100 us)^2 / 2 = 525 B that came more: 25 B are left. After 120 us it is empty.
        let of = Bcn { sources: 10.0, ..paper() };
        assert!(close(of.feedback(12_000.0, 0.9e9), 28.0, 1e-12));
        let mut solver = Solver::new(&of, |_| [12_000.0, 0.9e9], 1e-6);
        let mut seen = Vec::new();
        solver.run(120e-6, 1, |_, &state| seen.push(state));
        assert!(close(seen[50][1], 0.9e9 + 4.2e6, 1e-12), "{:?}", seen[50]);
        assert!(close(seen[50][0], 12_000.0 - 6_250.0 + 131.25, 1e-12), "{:?}", seen[50]);
        assert!(close(seen[100][1], 0.9e9 + 8.4e6, 1e-12) && close(seen[100][0], 25.0, 1e-9), "{:?}", seen[100]);
        assert_eq!(seen[120][0], 0.0);
    }

    #[test]
    fn limits_hold() {
        let of = Bcn { delay: 2e-3, ..paper() };
        let mut solver = Solver::new(&of, |_| [0.0, 1e9], 1e-5);
        let mut extremes = (false, false);
        solver.run(0.2, 1, |_, &[queue, rate]| {
            assert!((0.0..=of.buffer).contains(&queue) && (of.min_rate..=of.max_rate).contains(&rate));
            extremes = (extremes.0 || queue == 0.0, extremes.1 || queue == of.buffer);
        });
        assert_eq!(extremes, (true, true), "ten times the delay it stands fills and empties the buffer");
    }

    #[test]
    fn a_decrease_takes_no_more_than_its_limit() {
        let of = paper();
        let full = of.change(Regime::Decrease, &[1e5, 1e9], &[150_000.0, 1e9])[1];
        // |Fb| = 126000 / 1500 = 84, so Gd |Fb| = 0.65625 is held to 0.5.
        assert!(close(full, -1e9 * 0.5 * 1e9 * 0.01 / 12_000.0, 1e-12), "{full}");
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        assert_eq!(paper().validate(), Ok(()));
        let wrong = [
            ("delay", -1e-6),
            ("probability", 0.0),
            ("probability", 1.5),
            ("probability", f64::NAN),
            ("sampling_lag", 1.5),
            ("sources", 0.0),
            ("min_dec_factor", 1.0),
            ("buffer", 24_000.0),
            ("min_rate", 3e8),
            ("max_rate", 1e8),
            ("weight", 0.0),
        ];
        for (name, value) in wrong {
            let error = paper().with(name, value).expect("a parameter").validate().expect_err("wrong");
            assert!(matches!(error, Error::BadParameter { name: about, .. } if about == name), "{name}: {error}");
        }
        for name in Bcn::NAMES {
            assert!(paper().with(name, 1.0).is_some(), "{name}");
        }
        assert!(paper().with("nonsense", 1.0).is_none());
    }
}
