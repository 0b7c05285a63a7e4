//! Stability analysis of a scenario's fluid model: `tailback stability`.
//!
//! A scenario's protocol and network define a fluid model ([`scenario::fluid`]). [`analyse`] collects the results of
//! the crate `theory` for one set of parameters; [`Map`] does so for a grid of two parameters, in parallel and
//! bit-identical on any number of threads; [`Analysis::verdict`] combines all criteria; [`trajectory`] integrates the
//! equations, [`packets()`] runs the scenario, and [`BesideFluid`] compares both. [`Analysis::document`] is the
//! `stability.json` of all of these.

mod beside;
mod criteria;
#[cfg(test)]
mod derive_tests;
mod document;
mod map;
mod packets;
mod shares;

pub use beside::{BesideError, BesideFluid};
pub use criteria::{Criterion, StabilityVerdict};
pub use document::Parts;
pub use map::{Map, MapAxis, MapError};
pub use packets::{Behaviour, Packets, packets, sampling, settled, within};
pub use shares::Shares;

use scenario::fluid::{FluidPlan, Model, NamedLoop};
use theory::Error;
use theory::fluid::bcn::Regime;
use theory::fluid::{Bcn, Course, Fluid, Solver};
use theory::stability::conditions::phase_on_the_edge;
use theory::stability::stated::{Claim, claims};
use theory::stability::switched::{Cycle, by_dominant_roots, critical_delay, measure, measure_sampled, without_delay};
use theory::stability::{Complex, DelayedLoop, Margins, Roots, Theorem3, largest_common, rightmost};

/// Analysis of one loop near the equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopAnalysis {
    /// The equations that apply.
    pub name: &'static str,
    /// The loop.
    pub of: DelayedLoop,
    /// The paper's pole, in radians per second; BCN only.
    pub pole: Option<f64>,
    /// The open-loop poles.
    pub open_poles: Vec<Complex>,
    /// Stability margins.
    pub margins: Margins,
    /// The dominant roots.
    pub roots: Roots,
}

/// Results of the BCN paper, and of the two loops alternating.
#[derive(Clone, Debug, PartialEq)]
pub struct BcnAnalysis {
    /// Theorem 3 with the scenario's `a`.
    pub at_stated: Theorem3,
    /// Theorem 3 with the largest `a` that both poles allow; `None` if it is below one.
    pub at_common: Option<Theorem3>,
    /// Theorem 3 with the largest `a` that each pole allows.
    pub at_own: Theorem3,
    /// Phase margin of the exact loop on the boundary of the theorem, in radians, with the scenario's `a`.
    pub edge_phase: f64,
    /// Theorem 2: the cycle of the two loops without delay.
    pub undelayed: Cycle,
    /// The cycle estimated from the dominant roots of the delayed loops.
    pub estimate: Option<Cycle>,
    /// The measured cycle of the two alternating delayed loops; `None` if they do not oscillate.
    pub measured: Option<Cycle>,
    /// The smallest delay at which the alternating loops do not settle.
    pub in_turn: Option<f64>,
    /// The analysis with the sampling lag.
    pub sampled: SampledAnalysis,
    /// Claims of a paper, and their consequences.
    pub claims: Vec<Claim>,
}

/// Analysis of BCN's loops if growth is measured by samples at random intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledAnalysis {
    /// Mean sampling interval in seconds.
    pub gap: f64,
    /// Margins of the increase and the decrease loop, each alone.
    pub margins: [Margins; 2],
    /// Dominant roots of each loop.
    pub roots: [Roots; 2],
    /// The measured cycle of the alternating loops; `None` if they do not oscillate.
    pub measured: Option<Cycle>,
    /// The smallest delay at which the alternating loops do not settle.
    pub in_turn: Option<f64>,
}

/// The complete analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// Equilibrium queue, in bytes.
    pub queue: f64,
    /// Equilibrium rate of every source, in bits per second.
    pub rate: f64,
    /// Longest queue at which rates rest too, in bytes, if there are many equilibria: with any rates that fill the link.
    pub continuum: Option<f64>,
    /// Probability of a mark at the equilibrium; DCQCN only.
    pub marking: Option<f64>,
    /// What becomes of unequal rates; DCQCN, TIMELY and patched TIMELY.
    pub shares: Option<Shares>,
    /// The loops, each alone.
    pub loops: Vec<LoopAnalysis>,
    /// Results that apply only to BCN.
    pub bcn: Option<BcnAnalysis>,
}

impl Analysis {
    /// Returns whether every loop alone is stable by the exact criterion, without the sampling lag.
    #[must_use]
    pub fn loops_are_stable(&self) -> bool {
        self.loops.iter().all(|of| of.margins.stable)
    }

    /// Returns the time in seconds until a disturbance has decayed to 2 %, and the frequency of its oscillation in
    /// hertz, by the most complete criterion: BCN's alternating loops with the sampling lag, those without it, or the
    /// slowest loop. The time is infinite unless every criterion says stable.
    #[must_use]
    pub fn prediction(&self) -> (f64, f64) {
        let cycle = self.bcn.as_ref().and_then(|bcn| bcn.sampled.measured.or(bcn.measured));
        let (settling, frequency) = match cycle {
            Some(cycle) => (cycle.settling(), cycle.frequency),
            None => {
                let sampled = self.bcn.iter().flat_map(|bcn| &bcn.sampled.roots);
                let modes = self.loops.iter().map(|of| &of.roots).chain(sampled).filter_map(Roots::dominant);
                let slowest = modes.max_by(|a, b| a.settling.total_cmp(&b.settling));
                slowest.map_or((f64::INFINITY, 0.0), |mode| (mode.settling, mode.frequency))
            }
        };
        // If the slowest mode does not swing, the next one does, near the crossover.
        let crossover = self.loops.first().and_then(|of| of.margins.crossover).unwrap_or(0.0);
        let swings = frequency > 0.0 || self.shares.is_none();
        let frequency = if swings { frequency } else { crossover / (2.0 * std::f64::consts::PI) };
        (if self.verdict() == StabilityVerdict::Stable { settling } else { f64::INFINITY }, frequency)
    }
}

/// Analyses a fluid model without integrating it over time.
///
/// # Errors
/// Returns an error if the model has no equilibrium.
pub fn analyse(plan: &FluidPlan) -> Result<Analysis, Error> {
    let (queue, rate) = plan.model.equilibrium()?;
    let mut loops = Vec::new();
    for NamedLoop { name, exact: of, pole } in plan.model.loops()? {
        let (open_poles, margins, roots) = (of.own().roots(), of.margins(), rightmost(&of));
        loops.push(LoopAnalysis { name, of, pole, open_poles, margins, roots });
    }
    let bcn = match &plan.model {
        Model::Bcn(of) => Some(analyse_bcn(plan, of, &loops)?),
        _ => None,
    };
    let marking = match &plan.model {
        Model::Dcqcn(of) => Some(of.balance(rate)),
        _ => None,
    };
    let (continuum, shares) = (plan.model.continuum(), Shares::of(&plan.model));
    Ok(Analysis { queue, rate, continuum, marking, shares, loops, bcn })
}

fn analyse_bcn(plan: &FluidPlan, of: &Bcn, loops: &[LoopAnalysis]) -> Result<BcnAnalysis, Error> {
    let pair = [Regime::Increase, Regime::Decrease].map(|regime| (of.pole(regime), of.stiffness(regime)));
    let common = largest_common(of);
    let estimate = match loops {
        [increase, decrease] => by_dominant_roots([&increase.of, &decrease.of]),
        _ => None,
    };
    let sampled = [of.sampled_loop(Regime::Increase)?, of.sampled_loop(Regime::Decrease)?];
    Ok(BcnAnalysis {
        at_stated: Theorem3::at(of, plan.a)?,
        at_common: if common >= 1.0 { Some(Theorem3::at(of, common)?) } else { None },
        at_own: Theorem3::at_own(of)?,
        edge_phase: phase_on_the_edge(plan.a)?,
        undelayed: without_delay(pair),
        estimate,
        measured: measure(pair, of.delay)?,
        in_turn: critical_delay(of, false),
        sampled: SampledAnalysis {
            gap: of.gap(),
            margins: sampled.map(|of| of.margins()),
            roots: sampled.map(|of| rightmost(&of)),
            measured: measure_sampled(of)?,
            in_turn: critical_delay(of, true),
        },
        claims: claims(of, plan.a, &plan.stated),
    })
}

/// Queue in bytes and rate of a source in bits per second, over time in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    /// Time and queue.
    pub queue: Vec<(f64, f64)>,
    /// Time and rate.
    pub rate: Vec<(f64, f64)>,
}

/// Maximum number of steps; more indicate a mistake in a duration or a delay.
const MOST_STEPS: f64 = 1e7;

/// Integrates the fluid model from the scenario's initial state, and returns about `points` points.
///
/// # Errors
/// Returns an error if the integration would take too many steps, which cannot be longer than the delay.
pub fn trajectory(plan: &FluidPlan, points: f64) -> Result<Trajectory, Error> {
    let delay = plan.model.delay();
    let longest = if delay > 0.0 { delay / 20.0 } else { plan.duration / 1e5 };
    // Few steps would hide what happens within a delay that is most of the duration.
    let longest = longest.min(plan.duration / 5e3);
    let steps = plan.duration / longest;
    if !steps.is_finite() || steps > MOST_STEPS {
        let rule = "so many delays that the trajectory would take more than 10 million steps; shorten it";
        return Err(Error::BadParameter { name: "duration", value: plan.duration, rule });
    }
    let every = ((steps / points) as usize).max(1);
    let mut drawn = Trajectory::default();
    let mut see = |t: f64, queue: f64, rate: f64| {
        drawn.queue.push((t, queue));
        drawn.rate.push((t, rate));
    };
    let (queue, rate) = (plan.start_queue, plan.start_rate);
    match &plan.model {
        Model::Bcn(of) => {
            Solver::new(of, |_| [queue, rate], longest).run(plan.duration, every, |t, s| see(t, s[0], s[1]));
        }
        Model::Qcn(of) => {
            Solver::new(of, |_| [queue, rate, rate], longest).run(plan.duration, every, |t, s| see(t, s[0], s[1]));
        }
        Model::Dcqcn(of) => {
            // The first notification finds alpha at one.
            let start = of.confine([queue, rate, rate, 1.0]);
            Solver::new(of, |_| start, longest).run(plan.duration, every, |t, s| see(t, s[0], s[1]));
        }
        Model::Timely(of) => {
            let start = [queue, rate, 0.0, rate, 0.0];
            Course::new(of, start, longest).run(plan.duration, every, |t, s| see(t, s[0], s[1]));
        }
    }
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use theory::fluid::Qcn;
    use theory::stability::stated::Printed;

    fn plan(model: Model) -> FluidPlan {
        let [increase_pole, decrease_pole, b] = ["666", "521", "2.2"].map(Printed::read);
        let stated = theory::stability::stated::Stated { increase_pole, decrease_pole, b };
        FluidPlan { stated, start_rate: 1e8, ..FluidPlan::new(model) }
    }

    #[test]
    fn the_paper_is_analysed() {
        let analysis = analyse(&plan(Model::Bcn(Bcn::of_the_paper()))).expect("an analysis");
        assert!(analysis.verdict() == StabilityVerdict::Stable && analysis.loops.len() == 2);
        let bcn = analysis.bcn.as_ref().expect("it is BCN");
        assert!(!bcn.at_stated.holds() && bcn.at_own.holds() && bcn.edge_phase < 0.0);
        assert_eq!(bcn.claims.iter().filter(|claim| !claim.agrees).count(), 1);
        let (settling, frequency) = analysis.prediction();
        // With the lag of sampling: 94.6 % of a swing are left after a cycle.
        assert!((settling - 0.3286).abs() < 0.005 && (frequency - 214.1).abs() < 0.5, "{settling} {frequency}");
    }

    #[test]
    fn the_standard_is_analysed() {
        let analysis = analyse(&plan(Model::Qcn(Qcn::of_the_standard()))).expect("an analysis");
        assert!(
            analysis.verdict() == StabilityVerdict::Stable
                && analysis.bcn.is_none()
                && analysis.loops[0].open_poles.len() == 3
        );
    }

    #[test]
    fn trajectories_end_in_time_or_are_refused() {
        for model in [Model::Bcn(Bcn::of_the_paper()), Model::Qcn(Qcn::of_the_standard())] {
            let drawn = trajectory(&plan(model), 4e3).expect("a trajectory");
            assert!(drawn.queue.len() > 2000 && drawn.queue.len() < 9000, "{}", drawn.queue.len());
            assert!((drawn.queue.last().expect("points").0 - 0.05).abs() < 1e-4);
        }
        let slow = Model::Bcn(Bcn { delay: 1e-12, ..Bcn::of_the_paper() });
        assert!(trajectory(&plan(slow), 4e3).expect_err("too many").to_string().contains("10 million"));
    }
}
