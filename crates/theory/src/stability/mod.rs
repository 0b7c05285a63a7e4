//! Whether a congestion control holds its queue: by the exact loop with its delay, and by what papers say of it.
//!
//! [`DelayedLoop`] decides without approximation and gives margins; [`roots`] finds the roots that are left;
//! [`conditions`] are the four of the BCN paper's theorem 3; [`switched`] is its theorem 2, two loops that take turns;
//! [`equilibrium`] is its theorem 1; [`stated`] compares a paper's own numbers with what follows from its parameters.

pub mod complex;
pub mod conditions;
pub mod delayed_loop;
pub mod equilibrium;
pub mod polynomial;
pub mod roots;
pub mod stated;
pub mod switched;

pub use complex::Complex;
pub use conditions::{Condition, Theorem3, largest_common, own_margins};
pub use delayed_loop::{Crossover, DelayedLoop, GainMargin, Margins};
pub use roots::{Mode, Roots, rightmost};
