//! `stability.json`: the stability analysis of a scenario's fluid model.
//!
//! A number that is infinite or undefined is `None`: an unlimited margin, or the settling time of an unstable loop.

use super::super::manifest::FileRecord;
use super::super::pack::Packed;
use super::Document;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A contour line in the units of a map's axes.
pub type Contour = Vec<(f64, f64)>;

/// A stability analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// Name of the scenario.
    pub name: String,
    /// The model: `bcn`, `qcn`, `dcqcn`, `timely` or `patched-timely`.
    pub model: String,
    /// The pictures beside it, if any; older versions listed none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<FileRecord>>,
    /// Parameters of the model in base units, by name.
    pub parameters: BTreeMap<String, Option<f64>>,
    /// Where each parameter is from, by name.
    #[serde(default)]
    pub origins: BTreeMap<String, String>,
    /// Parts of the scenario that the model leaves out.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// The bottleneck link; `None` if the scenario has only a model.
    pub link: Option<String>,
    /// The equilibrium.
    pub equilibrium: Equilibrium,
    /// What becomes of unequal rates; DCQCN, TIMELY and patched TIMELY.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<SharesRecord>,
    /// The loops, each alone.
    pub loops: Vec<StabilityLoop>,
    /// Whether every criterion says stable.
    pub stable: bool,
    /// `stable`, `unstable` or `in doubt`.
    #[serde(default)]
    pub verdict: String,
    /// The most complete criterion, which decides where criteria differ.
    #[serde(default)]
    pub decided_by: String,
    /// Criteria that say unstable.
    #[serde(default)]
    pub unstable_by: Vec<String>,
    /// Criteria that say stable.
    #[serde(default)]
    pub stable_by: Vec<String>,
    /// Predicted time until a disturbance has decayed to 2 %, in seconds.
    pub settling_s: Option<f64>,
    /// Predicted frequency of the oscillation, in hertz.
    pub frequency_hz: Option<f64>,
    /// BCN: the two loops alternating, as in theorem 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theorem_2: Option<Theorem2>,
    /// BCN: the loops with the lag of sampling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<SampledLoops>,
    /// BCN: the conditions of theorem 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theorem_3: Option<Theorem3>,
    /// BCN: numbers stated by the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<Vec<StatedNumber>>,
    /// The map over two parameters, if one was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<StabilityMap>,
    /// The packet simulation beside the fluid, if it was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketsBesideFluid>,
    /// The fluid model over time, if it was integrated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trajectory: Option<TrajectoryRecord>,
}

impl Document for Stability {
    const FORMAT: &'static str = "tailback analysis of stability";
    const VERSION: u64 = 1;
    const FILE: &'static str = "stability.json";
    const KEYS: &'static [&'static str] = &["name", "model"];
}

impl Stability {
    /// Returns the analysis without the points of the map and of the trajectory, which are long.
    #[must_use]
    pub fn without_points(mut self) -> Stability {
        self.trajectory = None;
        if let Some(map) = &mut self.map {
            (map.margins_millidegrees, map.edge_of_theorem_3) = (None, None);
        }
        self
    }
}

/// The equilibrium of a fluid model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Equilibrium {
    /// Queue in bytes.
    pub queue_bytes: f64,
    /// Rate of each source, in bits per second.
    pub rate_bps: f64,
    /// Longest queue at which rates rest too, in bytes, if there are many equilibria, with any rates that fill the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_queue_bytes: Option<f64>,
    /// Probability of a mark; DCQCN only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking_probability: Option<f64>,
}

/// Rates of a faster and a slower half of the sources, over the fair share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharesRecord {
    /// At the start.
    pub start: [f64; 2],
    /// At the end.
    pub end: [f64; 2],
    /// The time between, in seconds.
    pub after_s: f64,
}

/// One loop near the equilibrium, with its delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StabilityLoop {
    /// Name of the loop.
    pub name: String,
    /// The paper's pole in radians per second; BCN only.
    pub pole: Option<f64>,
    /// Open-loop poles: real and imaginary part.
    pub open_loop_poles: Vec<(f64, f64)>,
    /// Crossover frequency in radians per second.
    pub crossover_rad_s: Option<f64>,
    /// Phase margin in degrees.
    pub phase_margin_deg: Option<f64>,
    /// Gain margin as a factor.
    pub gain_margin: Option<f64>,
    /// `a factor`, `unlimited` or `none`.
    #[serde(default)]
    pub gain_margin_is: String,
    /// Smallest delay at which the loop is unstable, in seconds.
    pub critical_delay_s: Option<f64>,
    /// Number of unstable roots.
    #[serde(default)]
    pub unstable_roots: usize,
    /// Dominant roots: real and imaginary part.
    pub roots: Vec<(f64, f64)>,
    /// Whether no root further to the right was missed.
    #[serde(default)]
    pub roots_complete: bool,
    /// Time until a disturbance has decayed to 2 %, in seconds.
    pub settling_s: Option<f64>,
    /// Frequency of the oscillation, in hertz.
    pub frequency_hz: Option<f64>,
    /// Whether the loop is stable.
    pub stable: bool,
}

/// A cycle of two alternating loops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CycleRecord {
    /// Part of a disturbance that is left after one cycle.
    pub contraction: Option<f64>,
    /// Time until a disturbance has decayed to 2 %, in seconds.
    pub settling_s: Option<f64>,
    /// Frequency in hertz.
    pub frequency_hz: Option<f64>,
    /// Whether the cycle contracts.
    pub stable: bool,
}

/// BCN's loops in turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Theorem2 {
    /// The cycle without delay.
    pub without_delay: CycleRecord,
    /// The cycle estimated from the dominant roots.
    pub by_dominant_roots: Option<CycleRecord>,
    /// The measured cycle.
    pub measured: Option<CycleRecord>,
    /// Smallest delay at which the loops do not settle, in seconds.
    pub critical_delay_s: Option<f64>,
}

/// BCN's increase and decrease loop with the lag of sampling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampledLoops {
    /// Mean sampling interval, in seconds.
    pub gap_s: Option<f64>,
    /// Critical delay of each loop alone, in seconds.
    pub critical_delays_s: [Option<f64>; 2],
    /// Whether each loop alone is stable.
    pub stable: [bool; 2],
    /// Phase margin of each loop, in degrees.
    pub phase_margins_deg: [Option<f64>; 2],
    /// Settling time of each loop, in seconds.
    pub settling_s: [Option<f64>; 2],
    /// Oscillation of each loop, in hertz.
    pub frequency_hz: [Option<f64>; 2],
    /// The measured cycle of the loops in turn.
    pub in_turn: Option<CycleRecord>,
    /// Smallest delay at which the loops in turn do not settle, in seconds.
    pub in_turn_critical_delay_s: Option<f64>,
}

/// Theorem 3 for several choices of its `a`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Theorem3 {
    /// With the scenario's `a`.
    pub at_a: Theorem3At,
    /// With the largest `a` that both poles allow.
    pub at_common_a: Option<Theorem3At>,
    /// With the largest `a` that each pole allows.
    pub at_own_a: Theorem3At,
    /// Phase margin of the exact loop on the boundary of the theorem, in degrees.
    pub exact_phase_margin_on_the_edge_deg: Option<f64>,
}

/// Theorem 3 for one `a` per loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Theorem3At {
    /// `a` of each loop.
    pub a: [Option<f64>; 2],
    /// `b` of each loop.
    pub b: [Option<f64>; 2],
    /// Whether all conditions hold.
    pub holds: bool,
    /// The conditions.
    pub conditions: Vec<ConditionRecord>,
}

/// A condition of theorem 3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConditionRecord {
    /// Name of the condition.
    pub name: String,
    /// The condition as a formula.
    pub formula: String,
    /// Left side.
    pub left: Option<f64>,
    /// Right side.
    pub right: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
}

/// A number stated by a paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatedNumber {
    /// Name of the number.
    pub what: String,
    /// The number as stated.
    pub stated: f64,
    /// The number computed from the parameters.
    pub follows: Option<f64>,
    /// Whether both agree at the digits of the stated number.
    pub agrees: bool,
    /// Values of single parameters that would yield the stated number.
    pub would_follow_from: BTreeMap<String, Option<f64>>,
}

/// A map of stability over two parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StabilityMap {
    /// Horizontal axis.
    pub x: MapAxisRecord,
    /// Vertical axis.
    pub y: MapAxisRecord,
    /// Number of points along each axis.
    pub points: usize,
    /// Fraction of stable points among those with an equilibrium.
    pub stable_part: f64,
    /// Boundary between stable and unstable points.
    pub boundary: Vec<Contour>,
    /// Boundary of theorem 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_of_theorem_3: Option<Vec<Contour>>,
    /// Smallest phase margin at each point in thousandths of a degree, row by row from the bottom; 2147483647 where
    /// there is no equilibrium.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margins_millidegrees: Option<Packed>,
}

/// A parameter of a map and its range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapAxisRecord {
    /// Name of the parameter.
    pub name: String,
    /// Lower end, in the base unit.
    pub from: f64,
    /// Upper end, in the base unit.
    pub to: f64,
}

/// The fluid model over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryRecord {
    /// Time in seconds and queue in bytes.
    pub queue: Vec<(f64, f64)>,
    /// Time in seconds and rate of a source in bits per second.
    pub rate: Vec<(f64, f64)>,
}

/// The packet simulation and the fluid over the same interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PacketsBesideFluid {
    /// Outcome of the packet simulation.
    pub outcome: String,
    /// Start of the interval, in seconds.
    pub from_s: f64,
    /// End of the interval, in seconds.
    pub until_s: f64,
    /// Sampling interval, in seconds.
    pub sample_every_s: f64,
    /// The queue, in bytes.
    pub queue: Both<QueueBehaviour>,
    /// The sum of the permitted rates, in bits per second.
    pub total_rate: Both<RateBehaviour>,
    /// Mean of the squares of the permitted rates over the square of their mean; one if all sources are equal.
    pub inequality: Option<f64>,
    /// BCN: the prediction for sources as unequal as those of the packets.
    pub predicted_with_inequality: Option<UnequalPrediction>,
}

/// A quantity of the packets and of the fluid; `None` if it was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Both<T> {
    /// Of the packets.
    pub packets: Option<T>,
    /// Of the fluid.
    pub fluid: Option<T>,
}

/// Behaviour of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueBehaviour {
    /// Mean.
    pub mean_bytes: f64,
    /// Standard deviation.
    pub deviation_bytes: f64,
    /// Root mean square distance from the set point.
    pub around_rest_bytes: f64,
    /// The strongest oscillation.
    pub swing: Option<QueueSwing>,
}

/// An oscillation of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueSwing {
    /// Frequency in hertz.
    pub frequency_hz: f64,
    /// Resolution of the frequency, in hertz.
    pub resolution_hz: f64,
    /// Amplitude.
    pub amplitude_bytes: f64,
    /// Fraction of the variance.
    pub share: f64,
}

/// Behaviour of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateBehaviour {
    /// Mean.
    pub mean_bps: f64,
    /// Standard deviation.
    pub deviation_bps: f64,
    /// Root mean square distance from the capacity.
    pub around_rest_bps: f64,
    /// The strongest oscillation.
    pub swing: Option<RateSwing>,
}

/// An oscillation of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateSwing {
    /// Frequency in hertz.
    pub frequency_hz: f64,
    /// Resolution of the frequency, in hertz.
    pub resolution_hz: f64,
    /// Amplitude.
    pub amplitude_bps: f64,
    /// Fraction of the variance.
    pub share: f64,
}

/// Prediction for sources as unequal as those of the packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnequalPrediction {
    /// Frequency of the oscillation, in hertz.
    pub frequency_hz: f64,
    /// Smallest delay at which the loops do not settle, in seconds.
    pub critical_delay_s: Option<f64>,
    /// Whether the loops settle.
    pub stable: bool,
}
