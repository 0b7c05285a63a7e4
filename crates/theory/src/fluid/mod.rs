//! Fluid models: rates and queues as smooth quantities that obey differential equations with a delay.
//!
//! A [`Fluid`] model defines the derivative of its state as a function of the current and the delayed state, and which
//! of several sets of equations holds. That suffices to [integrate](mod@integrate) and to [linearise](mod@linear) it,
//! and to examine its [`stability`](crate::stability). A model with several delays, or with delays that depend on the state,
//! is [`Retarded`]. Each protocol has its own file: [`bcn`], [`qcn`], [`dcqcn`] and [`timely`].

pub mod bcn;
pub mod dcqcn;
pub mod integrate;
pub mod linear;
pub mod qcn;
pub mod retarded;
pub mod timely;

pub use bcn::Bcn;
pub use dcqcn::{Dcqcn, DcqcnHalves};
pub use integrate::{Solver, step_within};
pub use linear::{Linear, linearise};
pub use qcn::Qcn;
pub use retarded::{Course, Retarded};
pub use timely::Timely;

use crate::Error;
use std::fmt::Debug;

/// The names of a [`Tunable`] model's parameters and the access to them, from the names of its fields.
macro_rules! parameters {
    ($($field:ident),+ $(,)?) => {
        const NAMES: &'static [&'static str] = &[$(stringify!($field)),+];

        fn parameter(&mut self, name: &str) -> Option<&mut f64> {
            match name {
                $(stringify!($field) => Some(&mut self.$field),)+
                _ => None,
            }
        }
    };
}
use parameters;

/// A model of `N` quantities whose derivatives depend on their current and their delayed values.
pub trait Fluid<const N: usize> {
    /// One of several sets of equations.
    type Regime: Copy + PartialEq + Debug;

    /// Returns the delay, in seconds.
    fn delay(&self) -> f64;

    /// Returns the set of equations that holds, given the delayed state.
    fn regime(&self, then: &[f64; N]) -> Self::Regime;

    /// Returns the derivative of each quantity, per second.
    fn change(&self, regime: Self::Regime, now: &[f64; N], then: &[f64; N]) -> [f64; N];

    /// Returns the nearest admissible state: queues are not negative, rates do not exceed those of their links.
    fn confine(&self, state: [f64; N]) -> [f64; N] {
        state
    }

    /// Returns the equilibrium.
    ///
    /// # Errors
    /// Fails if there is none within the limits of the model.
    fn equilibrium(&self) -> Result<[f64; N], Error>;

    /// Returns the sets of equations that hold near the equilibrium, with their names: each is a separate loop.
    fn near_equilibrium(&self) -> Vec<(&'static str, Self::Regime)>;
}

/// A model whose parameters are named numbers.
pub trait Tunable: Clone {
    /// Names of all parameters.
    const NAMES: &'static [&'static str];

    /// Returns a parameter by name, in seconds, bits per second, bytes or plain numbers.
    fn parameter(&mut self, name: &str) -> Option<&mut f64>;

    /// Checks that every parameter has a valid value.
    ///
    /// # Errors
    /// Returns the first parameter with an invalid value.
    fn validate(&self) -> Result<(), Error>;

    /// Returns the model with another value of a parameter; `None` if there is no such parameter.
    #[must_use]
    fn with(&self, name: &str, value: f64) -> Option<Self> {
        let mut other = self.clone();
        *other.parameter(name)? = value;
        Some(other)
    }
}

/// The common parameters of models of sources that share a link.
pub(crate) struct SharedLink {
    pub(crate) sources: f64,
    pub(crate) capacity: f64,
    pub(crate) delay: f64,
    pub(crate) frame: f64,
    pub(crate) set_point: f64,
    pub(crate) buffer: f64,
    pub(crate) min_dec_factor: f64,
    pub(crate) min_rate: f64,
    pub(crate) max_rate: f64,
}

impl SharedLink {
    /// The first that makes no sense.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        demand(self.sources > 0.0, "sources", self.sources, ABOVE)?;
        demand(self.capacity > 0.0, "capacity", self.capacity, ABOVE)?;
        demand(self.delay >= 0.0, "delay", self.delay, "a delay is finite and not below zero")?;
        demand(self.frame > 0.0, "frame", self.frame, ABOVE)?;
        demand(self.set_point > 0.0, "set_point", self.set_point, ABOVE)?;
        demand(self.buffer > self.set_point, "buffer", self.buffer, "a buffer must hold more than the set point")?;
        let factor = self.min_dec_factor;
        demand((0.0..1.0).contains(&factor), "min_dec_factor", factor, "a factor is from 0 to below 1")?;
        let share = self.capacity / self.sources;
        let rule = "the fair share of the link must lie between min_rate and max_rate";
        demand(self.min_rate >= 0.0 && self.min_rate <= share, "min_rate", self.min_rate, rule)?;
        demand(self.max_rate >= share, "max_rate", self.max_rate, rule)
    }
}

/// The rule of most parameters.
pub(crate) const ABOVE: &str = "it must be finite and above zero";

/// Complains unless a parameter is in order.
pub(crate) fn demand(good: bool, name: &'static str, value: f64, rule: &'static str) -> Result<(), Error> {
    if good && value.is_finite() { Ok(()) } else { Err(Error::BadParameter { name, value, rule }) }
}
