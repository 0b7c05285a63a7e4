//! A common interface to all fluid models.

use theory::Error;
use theory::fluid::bcn::Regime;
use theory::fluid::timely::TimelyModel;
use theory::fluid::{Bcn, Dcqcn, Fluid, Qcn, Timely, Tunable, linearise};
use theory::stability::DelayedLoop;
use theory::stability::conditions::slack_at_own;

/// A fluid model with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// Backward Congestion Notification.
    Bcn(Bcn),
    /// Quantized Congestion Notification.
    Qcn(Qcn),
    /// Data Center QCN.
    Dcqcn(Dcqcn),
    /// TIMELY, also with its patch.
    Timely(Timely),
}

/// Calls a method of whichever model it is.
macro_rules! each {
    ($model:expr, $of:ident => $value:expr) => {
        match $model {
            Model::Bcn($of) => $value,
            Model::Qcn($of) => $value,
            Model::Dcqcn($of) => $value,
            Model::Timely($of) => $value,
        }
    };
}

/// A loop near the equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedLoop {
    /// The equations that apply.
    pub name: &'static str,
    /// The loop.
    pub exact: DelayedLoop,
    /// The paper's pole, in radians per second; BCN only.
    pub pole: Option<f64>,
}

/// The unit of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Seconds.
    Time,
    /// Bits per second.
    Rate,
    /// Bytes.
    Size,
    /// Dimensionless.
    Number,
}

impl Kind {
    /// Returns the unit of the named parameter.
    #[must_use]
    pub fn of(name: &str) -> Kind {
        match name {
            "delay" | "time_reset" | "cnp_interval" | "alpha_period" | "t_low" | "t_high" | "min_rtt"
            | "reference_rtt" => Kind::Time,
            "capacity" | "rate_unit" | "min_rate" | "max_rate" | "ai_rate" => Kind::Rate,
            "set_point" | "frame" | "buffer" | "sample_base" | "byte_reset" | "kmin" | "kmax" | "segment" => Kind::Size,
            _ => Kind::Number,
        }
    }
}

impl Model {
    /// Returns the model of that name with the values of its paper.
    #[must_use]
    pub fn of_the_paper(name: &str) -> Option<Model> {
        Some(match name {
            "bcn" => Model::Bcn(Bcn::of_the_paper()),
            "qcn" => Model::Qcn(Qcn::of_the_standard()),
            "dcqcn" => Model::Dcqcn(Dcqcn::of_the_paper()),
            "timely" => Model::Timely(Timely::of_the_paper(TimelyModel::Gradient)),
            "patched-timely" => Model::Timely(Timely::of_the_paper(TimelyModel::Patched)),
            _ => return None,
        })
    }

    /// Returns the name of the model.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Model::Bcn(_) => "bcn",
            Model::Qcn(_) => "qcn",
            Model::Dcqcn(_) => "dcqcn",
            Model::Timely(of) if of.law == TimelyModel::Gradient => "timely",
            Model::Timely(_) => "patched-timely",
        }
    }

    /// Returns the names of its parameters.
    #[must_use]
    pub fn names(&self) -> &'static [&'static str] {
        match self {
            Model::Bcn(_) => Bcn::NAMES,
            Model::Qcn(_) => Qcn::NAMES,
            Model::Dcqcn(_) => Dcqcn::NAMES,
            Model::Timely(of) if of.law == TimelyModel::Gradient => Timely::GRADIENT_NAMES,
            Model::Timely(_) => Timely::NAMES,
        }
    }

    /// Returns a parameter in its base unit.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        let known = self.names().contains(&name);
        known.then(|| each!(&mut self.clone(), of => of.parameter(name).map(|value| *value)))?
    }

    /// Sets a parameter in its base unit. Returns whether the parameter exists.
    pub fn set(&mut self, name: &str, value: f64) -> bool {
        let known = self.names().contains(&name);
        known && each!(self, of => of.parameter(name).map(|place| *place = value)).is_some()
    }

    /// Returns the delay in seconds.
    #[must_use]
    pub fn delay(&self) -> f64 {
        each!(self, of => of.delay)
    }

    /// Checks that the parameters are valid and that an equilibrium exists.
    ///
    /// # Errors
    /// Returns an error if not.
    pub fn check(&self) -> Result<(), Error> {
        self.equilibrium().map(|_| ())
    }

    /// Returns the equilibrium queue in bytes and rate in bits per second.
    ///
    /// # Errors
    /// Returns an error if there is no equilibrium.
    pub fn equilibrium(&self) -> Result<(f64, f64), Error> {
        match self {
            Model::Bcn(of) => of.equilibrium().map(|[queue, rate]| (queue, rate)),
            Model::Qcn(of) => of.equilibrium().map(|[queue, rate, _]| (queue, rate)),
            Model::Dcqcn(of) => of.equilibrium().map(|[queue, rate, ..]| (queue, rate)),
            Model::Timely(of) => of.fixed_point(),
        }
    }

    /// Returns the longest queue at which rates rest too, in bytes, if the equilibrium is one of many.
    #[must_use]
    pub fn continuum(&self) -> Option<f64> {
        match self {
            Model::Timely(of) if of.law == TimelyModel::Gradient => {
                of.resting_queues().ok().map(|(_, longest)| longest)
            }
            _ => None,
        }
    }

    /// Returns the loops near the equilibrium.
    ///
    /// # Errors
    /// Returns an error if there is no equilibrium.
    pub fn loops(&self) -> Result<Vec<NamedLoop>, Error> {
        match self {
            Model::Bcn(of) => {
                of.validate()?;
                let one = |(name, regime)| {
                    of.delayed_loop(regime).map(|exact| NamedLoop { name, exact, pole: Some(of.pole(regime)) })
                };
                of.near_equilibrium().into_iter().map(one).collect()
            }
            Model::Qcn(of) => linearised(of),
            Model::Dcqcn(of) => linearised(of),
            Model::Timely(of) => {
                Ok(of.exact()?.map(|exact| NamedLoop { name: "round trips", exact, pole: None }).into_iter().collect())
            }
        }
    }

    /// Returns, for a map, the exact minimum phase margin of all loops in radians, and the slack of theorem 3 with each
    /// pole's own `a`, if the theorem applies. NaN if there is no equilibrium.
    #[must_use]
    pub fn standing(&self) -> (f64, f64) {
        let none = (f64::NAN, f64::NAN);
        match self {
            Model::Bcn(of) => {
                if of.validate().is_err() {
                    return none;
                }
                let of_loop = |regime| of.delayed_loop(regime).map_or(f64::NAN, |exact| exact.phase_margin().0);
                let margin = of_loop(Regime::Increase).min(of_loop(Regime::Decrease));
                (margin, slack_at_own(of).unwrap_or(f64::NAN))
            }
            _ => {
                let margins = |loops: Vec<NamedLoop>| loops.into_iter().map(|of| of.exact.phase_margin().0);
                let least = |loops| margins(loops).reduce(f64::min).unwrap_or(f64::NAN);
                self.loops().map_or(none, |loops| (least(loops), f64::NAN))
            }
        }
    }
}

/// The loops of a model whose delay enters each only once, by numerical slopes.
fn linearised<M: Fluid<N>, const N: usize>(of: &M) -> Result<Vec<NamedLoop>, Error> {
    let one = |(name, regime)| Ok(NamedLoop { name, exact: linearise(of, regime)?.characteristic()?, pole: None });
    of.near_equilibrium().into_iter().map(one).collect()
}
