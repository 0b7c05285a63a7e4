//! Random scenarios over the whole format.

mod coverage;
mod draw;
mod generate;
mod hints;
mod tree;
mod world;

pub use coverage::{Coverage, Target, targets};
pub use generate::{Files, NAME, SMALL, Scenario, scenario, unreached};
pub use tree::{Table, Value, quoted};
