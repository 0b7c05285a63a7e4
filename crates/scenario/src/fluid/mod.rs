//! The fluid model of a scenario.
//!
//! [`derive()`] finds the model that a scenario's own protocol and network make; `[fluid]` overrides its parameters.

mod bottleneck;
mod derive;
mod model;

pub use bottleneck::{Bottleneck, source_rates};
pub(crate) use derive::whence;
pub use derive::{Derived, NoFluid, Origin, derive};
pub use model::{Kind, Model, NamedLoop};

use theory::stability::stated::Stated;

/// The fluid of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidPlan {
    /// The equations with their parameters.
    pub model: Model,
    /// The `a` of theorem 3; BCN only.
    pub a: f64,
    /// What a paper states; BCN only.
    pub stated: Stated,
    /// The rate of every source at first, in bits per second.
    pub start_rate: f64,
    /// The queue at first, in bytes.
    pub start_queue: f64,
    /// How long a trajectory is, in seconds.
    pub duration: f64,
    /// Where each parameter comes from.
    pub origins: Vec<Origin>,
    /// What the packets of the scenario do and the equations do not.
    pub left_out: Vec<String>,
    /// Where the packets of the scenario have this loop, if they do.
    pub bottleneck: Option<Bottleneck>,
}

impl FluidPlan {
    /// A model alone, which no packets have: the paper's `a`, and a start at half of what is fair with an empty queue.
    #[must_use]
    pub fn new(model: Model) -> FluidPlan {
        let start_rate = model.equilibrium().map_or(0.0, |(_, rate)| 0.5 * rate);
        let (origins, left_out, bottleneck) = (Vec::new(), Vec::new(), None);
        let (a, stated, start_queue, duration) = (5.0, Stated::default(), 0.0, 0.05);
        FluidPlan { model, a, stated, start_rate, start_queue, duration, origins, left_out, bottleneck }
    }
}
