//! The fluid model of a scenario.
//!
//! [`derive()`] derives the model from a scenario's own protocol and network; `[fluid]` overrides its parameters.

mod bottleneck;
mod derive;
mod model;

pub use bottleneck::{Bottleneck, source_rates};
pub(crate) use derive::whence;
pub use derive::{Derived, NoFluid, Origin, derive};
pub use model::{Kind, Model, NamedLoop};

use theory::stability::stated::Stated;

/// The fluid model of a scenario with its initial state.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidPlan {
    /// The equations with their parameters.
    pub model: Model,
    /// The `a` of theorem 3; BCN only.
    pub a: f64,
    /// Values stated in a paper; BCN only.
    pub stated: Stated,
    /// Initial rate of every source, in bits per second.
    pub start_rate: f64,
    /// Initial queue, in bytes.
    pub start_queue: f64,
    /// Length of a trajectory, in seconds.
    pub duration: f64,
    /// Source of each parameter.
    pub origins: Vec<Origin>,
    /// Behaviour of the scenario's packets that the equations do not model.
    pub left_out: Vec<String>,
    /// The bottleneck of the scenario's packets that has this loop, if any.
    pub bottleneck: Option<Bottleneck>,
}

impl FluidPlan {
    /// Creates the plan of a model without packets: the paper's `a`, half the fair rate, and an empty queue.
    #[must_use]
    pub fn new(model: Model) -> FluidPlan {
        let start_rate = model.equilibrium().map_or(0.0, |(_, rate)| 0.5 * rate);
        let (origins, left_out, bottleneck) = (Vec::new(), Vec::new(), None);
        let (a, stated, start_queue, duration) = (5.0, Stated::default(), 0.0, 0.05);
        FluidPlan { model, a, stated, start_rate, start_queue, duration, origins, left_out, bottleneck }
    }
}
