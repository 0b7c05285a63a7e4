//! Packets beside the fluid: the same scenario as both, compared over the same interval.

use super::packets::{Behaviour, Packets, packets, sampling, settled, within};
use super::{Analysis, Trajectory, trajectory};
use crate::StudyError;
use fabric::Progress;
use results::document::{
    Both, PacketsBesideFluid, QueueBehaviour, QueueSwing, RateBehaviour, RateSwing, UnequalPrediction,
};
use scenario::Plan;
use scenario::fluid::{FluidPlan, Model};
use std::fmt;
use std::sync::atomic::AtomicBool;
use theory::fluid::Bcn;
use theory::spectrum::Peak;
use theory::stability::switched::{Cycle, critical_delay, measure_sampled};

/// An oscillation with a smaller fraction of the variance is noise.
const DISTINCT: f64 = 0.1;

/// The packet simulation and the fluid of a scenario, and the behaviour of each once it should have settled.
#[derive(Clone, Debug)]
pub struct BesideFluid {
    /// Samples of the packet simulation.
    pub packets: Packets,
    /// The fluid, for as long as the packets.
    pub fluid: Trajectory,
    /// Start and end of the interval that is measured, in seconds.
    pub window: (f64, f64),
    /// The queue of packets and fluid.
    pub queue: [Option<Behaviour>; 2],
    /// The total rate of packets and fluid.
    pub rate: [Option<Behaviour>; 2],
    /// Inequality of the sources, as in [`Packets::inequality`], averaged.
    pub inequality: f64,
    /// BCN's two loops in turn, with that inequality and the lag of sampling: the cycle, and the critical delay.
    pub unequal: Option<(Cycle, Option<f64>)>,
}

/// An error of running packets beside the fluid.
#[derive(Debug)]
pub enum BesideError {
    /// The scenario has no congestion control of the fluid's model.
    NoBottleneck(&'static str),
    /// The packets cannot be run.
    Packets(StudyError),
    /// The fluid cannot be integrated.
    Fluid(theory::Error),
}

impl fmt::Display for BesideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BesideError::NoBottleneck(model) => write!(
                f,
                "the scenario has no protocol and congestion point of the model `{model}` in [fluid], so --packets has nothing to \
                 compare\n  choose a protocol and a congestion point of that model: `tailback protocols` lists them"
            ),
            BesideError::Packets(error) => error.fmt(f),
            BesideError::Fluid(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BesideError {}

impl BesideFluid {
    /// Runs the packets and integrates the equations. `progress` is called at every inspection of the packets.
    ///
    /// # Errors
    /// Returns an error if the scenario has no congestion control of the model, or if either cannot be run.
    pub fn run(
        plan: &Plan,
        fluid: &FluidPlan,
        analysis: &Analysis,
        threads: usize,
        interrupt: &AtomicBool,
        progress: impl FnMut(Progress) + Send,
    ) -> Result<BesideFluid, BesideError> {
        let Some(bottleneck) = &fluid.bottleneck else {
            return Err(BesideError::NoBottleneck(fluid.model.name()));
        };
        let every = sampling(plan, analysis.prediction().1);
        let run = packets(plan, bottleneck, every, threads, interrupt, progress).map_err(BesideError::Packets)?;
        // The fluid is drawn as long as the packets.
        let fluid = FluidPlan { duration: plan.run.duration.as_secs_f64(), ..fluid.clone() };
        let drawn = trajectory(&fluid, fluid.duration / run.spacing).map_err(BesideError::Fluid)?;
        let (window, capacity) = (settled(plan), fluid.model.get("capacity").unwrap_or(f64::NAN));
        let (of_queue, of_rate) = drawn.samples(&fluid);
        let seen =
            |samples: &[f64], spacing: f64, rest: f64| Behaviour::of(within(samples, spacing, window), spacing, rest);
        let spacing = drawn.spacing();
        // Where the fluid's equilibrium and the set point differ, as with QCN, packets are to hold the set point.
        let set_point = fluid.model.get("set_point").unwrap_or(analysis.queue);
        let unequal = within(&run.inequality, run.spacing, window);
        let inequality = unequal.iter().sum::<f64>() / unequal.len() as f64;
        let unequal = match &fluid.model {
            Model::Bcn(of) if inequality.is_finite() => {
                let of = Bcn { decrease_gain: of.decrease_gain * inequality, ..of.clone() };
                measure_sampled(&of).ok().flatten().map(|cycle| (cycle, critical_delay(&of, true)))
            }
            _ => None,
        };
        Ok(BesideFluid {
            inequality,
            unequal,
            queue: [seen(&run.queue, run.spacing, set_point), seen(&of_queue, spacing, set_point)],
            rate: [seen(&run.rate, run.spacing, capacity), seen(&of_rate, spacing, capacity)],
            packets: run,
            fluid: drawn,
            window,
        })
    }

    /// Returns the oscillation of the packets' queue, if it is distinct.
    #[must_use]
    pub fn oscillation(&self) -> Option<Peak> {
        self.queue[0].as_ref().and_then(|seen| seen.peak).filter(|peak| peak.share >= DISTINCT)
    }

    /// Converts the comparison to its document.
    #[must_use]
    pub fn document(&self) -> PacketsBesideFluid {
        let queue = |seen: &Behaviour| QueueBehaviour {
            mean_bytes: seen.mean,
            deviation_bytes: seen.deviation,
            around_rest_bytes: seen.around,
            swing: seen.peak.map(|peak| QueueSwing {
                frequency_hz: peak.frequency,
                resolution_hz: peak.resolution,
                amplitude_bytes: peak.amplitude,
                share: peak.share,
            }),
        };
        let rate = |seen: &Behaviour| RateBehaviour {
            mean_bps: seen.mean,
            deviation_bps: seen.deviation,
            around_rest_bps: seen.around,
            swing: seen.peak.map(|peak| RateSwing {
                frequency_hz: peak.frequency,
                resolution_hz: peak.resolution,
                amplitude_bps: peak.amplitude,
                share: peak.share,
            }),
        };
        let [queues, rates] = [&self.queue, &self.rate].map(|of| of.each_ref().map(Option::as_ref));
        PacketsBesideFluid {
            outcome: self.packets.outcome.to_owned(),
            from_s: self.window.0,
            until_s: self.window.1,
            sample_every_s: self.packets.spacing,
            queue: Both { packets: queues[0].map(queue), fluid: queues[1].map(queue) },
            total_rate: Both { packets: rates[0].map(rate), fluid: rates[1].map(rate) },
            inequality: Some(self.inequality).filter(|it| it.is_finite()),
            predicted_with_inequality: self.unequal.as_ref().map(|(cycle, critical)| UnequalPrediction {
                frequency_hz: cycle.frequency,
                critical_delay_s: *critical,
                stable: cycle.is_stable(),
            }),
        }
    }
}
