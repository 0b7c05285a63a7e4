//! The fluid models there are, behind one face.

use theory::Error;
use theory::fluid::bcn::Regime;
use theory::fluid::{Bcn, Fluid, Qcn, Tunable, linearise};
use theory::stability::DelayedLoop;
use theory::stability::conditions::slack_at_own;

/// A fluid model with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// Backward Congestion Notification.
    Bcn(Bcn),
    /// Quantized Congestion Notification.
    Qcn(Qcn),
}

/// A loop near the equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedLoop {
    /// Which equations hold.
    pub name: &'static str,
    /// The loop.
    pub exact: DelayedLoop,
    /// The paper's pole, in radians per second; BCN only.
    pub pole: Option<f64>,
}

/// What a parameter is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Seconds.
    Time,
    /// Bits per second.
    Rate,
    /// Bytes.
    Size,
    /// Nothing.
    Number,
}

impl Kind {
    /// Of the parameter of that name.
    #[must_use]
    pub fn of(name: &str) -> Kind {
        match name {
            "delay" | "time_reset" => Kind::Time,
            "capacity" | "rate_unit" | "min_rate" | "max_rate" | "ai_rate" => Kind::Rate,
            "set_point" | "frame" | "buffer" | "sample_base" | "byte_reset" => Kind::Size,
            _ => Kind::Number,
        }
    }
}

impl Model {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Model::Bcn(_) => "bcn",
            Model::Qcn(_) => "qcn",
        }
    }

    /// The names of its parameters.
    #[must_use]
    pub fn names(&self) -> &'static [&'static str] {
        match self {
            Model::Bcn(_) => Bcn::NAMES,
            Model::Qcn(_) => Qcn::NAMES,
        }
    }

    /// A parameter, in its base unit.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        match self.clone() {
            Model::Bcn(mut of) => of.parameter(name).map(|value| *value),
            Model::Qcn(mut of) => of.parameter(name).map(|value| *value),
        }
    }

    /// Gives a parameter another value, in its base unit. Whether there is such a parameter.
    pub fn set(&mut self, name: &str, value: f64) -> bool {
        let place = match self {
            Model::Bcn(of) => of.parameter(name),
            Model::Qcn(of) => of.parameter(name),
        };
        place.map(|place| *place = value).is_some()
    }

    /// The delay, in seconds.
    #[must_use]
    pub fn delay(&self) -> f64 {
        match self {
            Model::Bcn(of) => of.delay,
            Model::Qcn(of) => of.delay,
        }
    }

    /// Whether its parameters make sense and it has an equilibrium.
    ///
    /// # Errors
    /// If not.
    pub fn check(&self) -> Result<(), Error> {
        self.equilibrium().map(|_| ())
    }

    /// The queue in bytes and the rate in bits per second at rest.
    ///
    /// # Errors
    /// If there are none.
    pub fn equilibrium(&self) -> Result<(f64, f64), Error> {
        match self {
            Model::Bcn(of) => of.equilibrium().map(|[queue, rate]| (queue, rate)),
            Model::Qcn(of) => of.equilibrium().map(|[queue, rate, _]| (queue, rate)),
        }
    }

    /// The loops near the equilibrium.
    ///
    /// # Errors
    /// If there is no equilibrium.
    pub fn loops(&self) -> Result<Vec<NamedLoop>, Error> {
        match self {
            Model::Bcn(of) => {
                of.validate()?;
                let one = |(name, regime)| {
                    of.delayed_loop(regime).map(|exact| NamedLoop { name, exact, pole: Some(of.pole(regime)) })
                };
                of.near_equilibrium().into_iter().map(one).collect()
            }
            Model::Qcn(of) => {
                let one = |(name, regime)| {
                    Ok(NamedLoop { name, exact: linearise(of, regime)?.characteristic()?, pole: None })
                };
                of.near_equilibrium().into_iter().map(one).collect()
            }
        }
    }

    /// For a map: the least phase margin of any loop, in radians and exactly; and how far theorem 3 is from its edge
    /// with each pole's own `a`, where there is a theorem. Not numbers where there is no equilibrium.
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
            Model::Qcn(_) => {
                let least = |loops: Vec<NamedLoop>| {
                    loops.iter().map(|of| of.exact.phase_margin().0).fold(f64::INFINITY, f64::min)
                };
                self.loops().map_or(none, |loops| (least(loops), f64::NAN))
            }
        }
    }
}
