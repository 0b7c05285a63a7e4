//! Fluid model of DCQCN: equations (3) to (7) of Zhu, Ghobadi, Misra and Padhye, "ECN or Delay: Lessons Learnt from Analysis of
//! DCQCN and TIMELY" (CoNEXT 2016), section 3.
//!
//! `N` equal sources share a link. The queue marks a frame with a probability `p` that grows linearly between two
//! thresholds. A source receives a notification in an interval of length `t` if one of its `t R` frames is marked, with
//! probability `1 - (1 - p)^(t R)`. A notification sets the target rate to the current one and takes the fraction
//! `alpha / 2` of it; `alpha` is the mean of such intervals. Stages of the byte counter and of the timer are runs of frames
//! without a mark, as in [`qcn`](super::qcn).
//!
//! The paper linearises by hand, with series in `p`. Here the slopes are taken numerically, and the fixed point solves
//! equation (12) itself. Beyond `kmax` the probability jumps to one. The loop is that of the ramp, as in the paper: a fixed
//! point beyond `kmax` stands for a queue at `kmax` in packets. `docs/theory/dcqcn.md` has the derivation.

use super::qcn::per_trial;
use super::{ABOVE, Fluid, Tunable, demand};
use crate::Error;
use units::math::{exp, ln};

/// Parameters, in seconds, bits per second, bytes and plain numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Dcqcn {
    /// N: number of sources that share the link.
    pub sources: f64,
    /// C: rate of the link.
    pub capacity: f64,
    /// tau*: time from a change of the queue until a notification of it takes effect.
    pub delay: f64,
    /// Queue length up to which nothing is marked.
    pub kmin: f64,
    /// Queue length at which the probability is `pmax`.
    pub kmax: f64,
    /// Probability of a mark at `kmax`.
    pub pmax: f64,
    /// Weight of a new observation in alpha.
    pub g: f64,
    /// tau: least time between two notifications.
    pub cnp_interval: f64,
    /// tau': period of alpha.
    pub alpha_period: f64,
    /// B: length of a stage of the byte counter; zero for none.
    pub byte_reset: f64,
    /// T: length of a stage of the timer.
    pub time_reset: f64,
    /// F: stages of fast recovery.
    pub threshold: f64,
    /// R_AI: increase of the target rate per stage.
    pub ai_rate: f64,
    /// Frame size.
    pub frame: f64,
    /// Maximum queue length.
    pub buffer: f64,
    /// Minimum rate of a source.
    pub min_rate: f64,
    /// Maximum rate of a source.
    pub max_rate: f64,
}

/// The set of equations that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// At most `kmin`: no frame is marked.
    Unmarked,
    /// The probability grows with the queue.
    Ramp,
    /// Above `kmax`: every frame is marked.
    Marked,
}

/// Stages per frame: of every kind, and of those beyond fast recovery.
struct Stages {
    all: f64,
    beyond: f64,
}

impl Dcqcn {
    /// Returns the default parameters of the paper, with ten sources and a delay of 50 us. The buffer and the limits of
    /// rates are our choice.
    #[must_use]
    pub fn of_the_paper() -> Dcqcn {
        Dcqcn {
            sources: 10.0,
            capacity: 4e10,
            delay: 50e-6,
            kmin: 5e3,
            kmax: 200e3,
            pmax: 0.01,
            g: 1.0 / 256.0,
            cnp_interval: 50e-6,
            alpha_period: 55e-6,
            byte_reset: 10e6,
            time_reset: 55e-6,
            threshold: 5.0,
            ai_rate: 40e6,
            frame: 1000.0,
            buffer: 4e6,
            min_rate: 1e6,
            max_rate: 4e10,
        }
    }

    /// Returns the probability of a mark at a queue, with the ramp continued beyond `kmax`.
    #[must_use]
    pub fn ramp(&self, queue: f64) -> f64 {
        (self.pmax * (queue - self.kmin) / (self.kmax - self.kmin)).clamp(0.0, MOST)
    }

    fn probability(&self, regime: Regime, queue: f64) -> f64 {
        match regime {
            Regime::Unmarked => 0.0,
            Regime::Ramp => self.ramp(queue),
            Regime::Marked => MOST,
        }
    }

    /// The probability of a notification in a time: of a mark among so many frames.
    fn told(&self, p: f64, frames: f64) -> f64 {
        1.0 - exp(frames * ln(1.0 - p))
    }

    fn stages(&self, p: f64, frames: f64) -> Stages {
        let mark = ln(1.0 - p);
        let mut stages = Stages { all: 0.0, beyond: 0.0 };
        for length in [self.byte_reset / self.frame, self.time_reset * frames] {
            if length > 0.0 {
                let rate = per_trial(p, -length * mark, length);
                stages.all += rate;
                stages.beyond += rate * exp(self.threshold * length * mark);
            }
        }
        stages
    }

    /// Frames per second of a rate.
    fn frames(&self, rate: f64) -> f64 {
        rate / (8.0 * self.frame)
    }

    /// The logarithm of decreases over increases at a fair share: it grows with the probability.
    fn excess(&self, p: f64, rate: f64) -> f64 {
        let frames = self.frames(rate);
        let Stages { all, beyond } = self.stages(p, frames);
        let told = self.told(p, self.cnp_interval * frames);
        let alpha = self.told(p, self.alpha_period * frames);
        let interval = self.cnp_interval;
        ln(told * told * alpha) - ln(interval * interval * self.frames(self.ai_rate) * frames) - ln(all) - ln(beyond)
    }

    /// Returns p*: the probability of a mark at which sources of that rate neither rise nor fall, by equation (12).
    /// It grows as the rate falls, so sources that see the same marks have the same rate.
    #[must_use]
    pub fn balance(&self, rate: f64) -> f64 {
        let (mut low, mut high) = (LEAST, MOST);
        for _ in 0..200 {
            let middle = (low * high).sqrt();
            if middle <= low || middle >= high {
                break;
            }
            // Where stages have become too rare to be represented, decreases prevail.
            let excess = self.excess(middle, rate);
            *(if excess < 0.0 { &mut low } else { &mut high }) = middle;
        }
        (low * high).sqrt()
    }

    /// Returns the approximation of p* by the first term of its series, equation (14).
    #[must_use]
    pub fn approximate_balance(&self) -> f64 {
        let (sources, frames) = (self.sources, self.frames(self.capacity));
        let counter = if self.byte_reset > 0.0 { self.frame / self.byte_reset } else { 0.0 };
        let stages = counter + sources / (self.time_reset * frames);
        let cube = self.frames(self.ai_rate) * sources * sources * stages * stages;
        exp(ln(cube / (self.alpha_period * frames * frames)) / 3.0)
    }

    /// The growth of a queue, in bytes per second.
    fn growth(&self, queue: f64, total: f64) -> f64 {
        let growth = (total - self.capacity) / 8.0;
        if (queue <= 0.0 && growth < 0.0) || (queue >= self.buffer && growth > 0.0) { 0.0 } else { growth }
    }

    /// The change of rate, target and alpha of a source, given the probability and its rate a delay ago.
    fn reaction(&self, [rate, target, alpha]: [f64; 3], p: f64, late: f64) -> [f64; 3] {
        let frames = self.frames(late);
        let told = self.told(p, self.cnp_interval * frames) / self.cnp_interval;
        let Stages { all, beyond } = self.stages(p, frames);
        let gap = target - rate;
        let rising = 0.5 * gap * frames * all - 0.5 * rate * alpha * told;
        let aiming = self.ai_rate * frames * beyond - gap * told;
        let observed = self.told(p, self.alpha_period * frames);
        let held = |value: f64, change: f64| {
            (value >= self.max_rate && change > 0.0) || (value <= self.min_rate && change < 0.0)
        };
        [
            if held(rate, rising) { 0.0 } else { rising },
            if held(target, aiming) { 0.0 } else { aiming },
            self.g / self.alpha_period * (observed - alpha),
        ]
    }

    /// Returns target and alpha at the fixed point of a rate and a probability.
    fn at_rest(&self, rate: f64, p: f64) -> (f64, f64) {
        let frames = self.frames(rate);
        let told = self.told(p, self.cnp_interval * frames);
        let gap = self.cnp_interval * self.ai_rate * frames * self.stages(p, frames).beyond / told;
        (rate + gap, self.told(p, self.alpha_period * frames))
    }

    fn within(&self, rate: f64) -> f64 {
        rate.clamp(self.min_rate, self.max_rate)
    }
}

/// The least and the largest probability that is told from none and from certainty.
const LEAST: f64 = 1e-15;
const MOST: f64 = 1.0 - 1e-12;

impl Tunable for Dcqcn {
    super::parameters! {
        sources,
        capacity,
        delay,
        kmin,
        kmax,
        pmax,
        g,
        cnp_interval,
        alpha_period,
        byte_reset,
        time_reset,
        threshold,
        ai_rate,
        frame,
        buffer,
        min_rate,
        max_rate,
    }

    fn validate(&self) -> Result<(), Error> {
        demand(self.sources > 0.0, "sources", self.sources, ABOVE)?;
        demand(self.capacity > 0.0, "capacity", self.capacity, ABOVE)?;
        demand(self.delay >= 0.0, "delay", self.delay, "a delay is finite and not below zero")?;
        demand(self.frame > 0.0, "frame", self.frame, ABOVE)?;
        demand(self.kmin >= 0.0, "kmin", self.kmin, "a queue length is not below zero")?;
        demand(self.kmax > self.kmin, "kmax", self.kmax, "it must be above kmin: a step has no slope")?;
        let part = "a probability is above 0 and at most 1";
        demand(self.pmax > 0.0 && self.pmax <= 1.0, "pmax", self.pmax, part)?;
        demand(self.g > 0.0 && self.g <= 1.0, "g", self.g, "a weight is above 0 and at most 1")?;
        demand(self.cnp_interval > 0.0, "cnp_interval", self.cnp_interval, ABOVE)?;
        demand(self.alpha_period > 0.0, "alpha_period", self.alpha_period, ABOVE)?;
        demand(
            self.byte_reset >= 0.0,
            "byte_reset",
            self.byte_reset,
            "a size is at least zero; 0 removes the counter",
        )?;
        demand(self.time_reset > 0.0, "time_reset", self.time_reset, ABOVE)?;
        demand(self.threshold >= 0.0, "threshold", self.threshold, "a number of stages is not below zero")?;
        demand(self.ai_rate > 0.0, "ai_rate", self.ai_rate, ABOVE)?;
        demand(self.buffer > self.kmin, "buffer", self.buffer, "a buffer must hold more than kmin")?;
        let share = self.capacity / self.sources;
        let rule = "the fair share of the link must lie between min_rate and max_rate";
        demand(self.min_rate >= 0.0 && self.min_rate <= share, "min_rate", self.min_rate, rule)?;
        demand(self.max_rate >= share, "max_rate", self.max_rate, rule)
    }
}

/// The state is queue, rate, target and alpha of every source.
impl Fluid<4> for Dcqcn {
    type Regime = Regime;

    fn delay(&self) -> f64 {
        self.delay
    }

    fn regime(&self, &[queue, ..]: &[f64; 4]) -> Regime {
        match queue {
            _ if queue <= self.kmin => Regime::Unmarked,
            _ if queue > self.kmax => Regime::Marked,
            _ => Regime::Ramp,
        }
    }

    fn change(&self, regime: Regime, now: &[f64; 4], then: &[f64; 4]) -> [f64; 4] {
        let [queue, rate, target, alpha] = *now;
        let p = self.probability(regime, then[0]);
        let [rising, aiming, learning] = self.reaction([rate, target, alpha], p, then[1]);
        [self.growth(queue, self.sources * rate), rising, aiming, learning]
    }

    fn confine(&self, [queue, rate, target, alpha]: [f64; 4]) -> [f64; 4] {
        [queue.clamp(0.0, self.buffer), self.within(rate), self.within(target), alpha.clamp(0.0, 1.0)]
    }

    fn equilibrium(&self) -> Result<[f64; 4], Error> {
        self.validate()?;
        let rate = self.capacity / self.sources;
        let p = self.balance(rate);
        let queue = self.kmin + p / self.pmax * (self.kmax - self.kmin);
        let rule = "too small for the queue at which increases and decreases balance";
        demand(queue < self.buffer || self.kmax < self.buffer, "buffer", self.buffer, rule)?;
        let (target, alpha) = self.at_rest(rate, p);
        Ok([queue, rate, target, alpha])
    }

    fn near_equilibrium(&self) -> Vec<(&'static str, Regime)> {
        vec![("marks", Regime::Ramp)]
    }
}

/// The same sources in two halves, which may start at different rates: the state is the queue, and rate, target and alpha
/// of a source of either half.
#[derive(Clone, Debug, PartialEq)]
pub struct DcqcnHalves(pub Dcqcn);

impl Fluid<7> for DcqcnHalves {
    type Regime = Regime;

    fn delay(&self) -> f64 {
        self.0.delay
    }

    fn regime(&self, then: &[f64; 7]) -> Regime {
        self.0.regime(&[then[0], 0.0, 0.0, 0.0])
    }

    fn change(&self, regime: Regime, now: &[f64; 7], then: &[f64; 7]) -> [f64; 7] {
        let of = &self.0;
        let p = of.probability(regime, then[0]);
        let [a, b, c] = of.reaction([now[1], now[2], now[3]], p, then[1]);
        let [d, e, f] = of.reaction([now[4], now[5], now[6]], p, then[4]);
        [of.growth(now[0], 0.5 * of.sources * (now[1] + now[4])), a, b, c, d, e, f]
    }

    fn confine(&self, [queue, a, b, c, d, e, f]: [f64; 7]) -> [f64; 7] {
        let [queue, a, b, c] = self.0.confine([queue, a, b, c]);
        let [_, d, e, f] = self.0.confine([queue, d, e, f]);
        [queue, a, b, c, d, e, f]
    }

    fn equilibrium(&self) -> Result<[f64; 7], Error> {
        let [queue, a, b, c] = self.0.equilibrium()?;
        Ok([queue, a, b, c, a, b, c])
    }

    fn near_equilibrium(&self) -> Vec<(&'static str, Regime)> {
        self.0.near_equilibrium()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::{Solver, linearise};
    use crate::stability::DelayedLoop;

    fn of(sources: f64, delay: f64) -> Dcqcn {
        Dcqcn { sources, delay, ..Dcqcn::of_the_paper() }
    }

    fn exact(of: &Dcqcn) -> DelayedLoop {
        linearise(of, Regime::Ramp).expect("slopes").characteristic().expect("the delay enters once")
    }

    #[test]
    fn nothing_changes_at_the_fixed_point_and_the_series_is_near_it() {
        for sources in [1.0, 2.0, 10.0, 64.0] {
            for byte_reset in [0.0, 10e6] {
                let of = Dcqcn { byte_reset, ..of(sources, 50e-6) };
                let rest = of.equilibrium().expect("a fixed point");
                let change = of.change(Regime::Ramp, &rest, &rest);
                assert!(change.iter().zip(rest).all(|(change, at)| change.abs() < 1e-6 * at), "{sources}: {change:?}");
                assert!((rest[1] * sources / of.capacity - 1.0).abs() < 1e-12 && rest[2] > rest[1]);
                // The queue of equation (10), and alpha of equation (11).
                let p = of.balance(rest[1]);
                assert!((of.ramp(rest[0]) / p - 1.0).abs() < 1e-9);
                let frames = of.alpha_period * rest[1] / 8e3;
                assert!((rest[3] - (1.0 - (1.0 - p).powf(frames))).abs() < 1e-9);
            }
        }
        // Equation (14) is the first term: it is near where p R tau is small, and too large where it is not.
        let (few, many) = (of(1.0, 0.0), of(64.0, 0.0));
        let ratio = |of: &Dcqcn| of.approximate_balance() / of.balance(of.capacity / of.sources);
        assert!((ratio(&few) - 1.0).abs() < 0.2 && ratio(&many) > 1.4, "{} {}", ratio(&few), ratio(&many));
    }

    #[test]
    fn by_equation_twelve_the_fixed_point_is_unique() {
        let of = of(10.0, 0.0);
        // The left side grows with p from below the right side to above it: one solution.
        let mut last = f64::NEG_INFINITY;
        for step in 0..200 {
            let p = 1e-6 * 10_f64.powf(5.0 * f64::from(step) / 200.0);
            let excess = of.excess(p, 4e9);
            assert!(excess > last, "{p}");
            last = excess;
        }
        assert!(of.excess(1e-6, 4e9) < 0.0 && last > 0.0);
        // And slower sources balance at more marks: with the marks of one queue all rates are equal.
        let balances: Vec<f64> = [5e8, 1e9, 4e9, 2e10].map(|rate| of.balance(rate)).to_vec();
        assert!(balances.windows(2).all(|pair| pair[1] < pair[0]), "{balances:?}");
    }

    #[test]
    fn the_margin_falls_and_rises_again_with_the_number_of_flows() {
        // "Unstable for 10 flows ... stable for 2 and 64 flows" at 85 us; stable for all at 4 us (section 3.2, figure 4).
        let margin = |sources: f64, delay: f64| exact(&of(sources, delay)).phase_margin().0.to_degrees();
        assert!(margin(2.0, 85e-6) > 0.0 && margin(10.0, 85e-6) < 0.0 && margin(64.0, 85e-6) > 0.0);
        for delay in [1e-6, 50e-6, 100e-6] {
            let margins: Vec<f64> = (1..=50).map(|pairs| margin(f64::from(2 * pairs), delay)).collect();
            let least = (0..50).min_by(|&a, &b| margins[a].total_cmp(&margins[b])).expect("some");
            // The paper's curves have their minimum at 10, 10 and 8 flows.
            assert!((2..8).contains(&least), "{delay}: {least}");
            assert!(margins[..=least].windows(2).all(|pair| pair[1] < pair[0]), "{delay}: falls to its minimum");
            assert!(margins[least..].windows(2).all(|pair| pair[1] > pair[0]), "{delay}: and rises from it");
        }
        // Smaller steps and a gentler ramp stabilise (figure 3, b and c).
        let tuned = Dcqcn { ai_rate: 10e6, kmax: 1e6, ..of(10.0, 100e-6) };
        assert!(margin(10.0, 100e-6) < 0.0 && exact(&tuned).is_stable());
    }

    #[test]
    fn it_settles_where_the_margin_is_positive_and_swings_where_it_is_negative() {
        let spread = |sources: f64, delay: f64| {
            let of = of(sources, delay);
            let rest = of.equilibrium().expect("a fixed point");
            let start = [rest[0], 1.02 * rest[1], rest[2], rest[3]];
            let mut solver = Solver::new(&of, |_| start, 5e-6);
            let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
            solver.run(0.2, 1, |t, state| {
                if t > 0.18 {
                    (low, high) = (low.min(state[0]), high.max(state[0]));
                }
            });
            (exact(&of).is_stable(), (high - low) / rest[0], (0.5 * (high + low) / rest[0] - 1.0).abs())
        };
        let (stable, swing, away) = spread(10.0, 4e-6);
        assert!(stable && swing < 1e-3 && away < 1e-3, "{swing} {away}");
        let (stable, swing, _) = spread(10.0, 85e-6);
        assert!(!stable && swing > 0.3, "{swing}");
        // Two sources recover where ten do not.
        let (stable, swing, _) = spread(2.0, 50e-6);
        assert!(stable && swing < 0.01, "{swing}");
    }

    #[test]
    fn halves_that_start_at_different_rates_end_at_the_same() {
        let of = DcqcnHalves(of(2.0, 4e-6));
        let (fast, slow) = (28e9, 12e9);
        let mut solver = Solver::new(&of, |_| [5e3, fast, fast, 1.0, slow, slow, 1.0], 5e-6);
        solver.run(0.1, 1000, |_, _| {});
        let [queue, a, _, _, b, ..] = solver.state();
        let rest = of.equilibrium().expect("a fixed point");
        assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
        assert!((a / rest[1] - 1.0).abs() < 0.01 && (queue / rest[0] - 1.0).abs() < 0.01, "{queue} {rest:?}");
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        assert_eq!(Dcqcn::of_the_paper().validate(), Ok(()));
        for (name, value) in [("delay", -1.0), ("pmax", 0.0), ("kmax", 4e3), ("g", 0.0), ("max_rate", 1.0)] {
            let error = Dcqcn::of_the_paper().with(name, value).expect("a parameter").validate().expect_err("wrong");
            assert!(matches!(error, Error::BadParameter { name: about, .. } if about == name), "{name}: {error}");
        }
        assert!(Dcqcn::NAMES.iter().all(|name| Dcqcn::of_the_paper().with(name, 1.0).is_some()));
    }
}
