//! Stability of a congestion control's queue: by the exact loop with its delay, and by the statements of papers.
//!
//! [`DelayedLoop`] decides without approximation and computes margins; [`roots`] finds the rightmost roots;
//! [`conditions`] has the four conditions of the BCN paper's theorem 3; [`switched`] is its theorem 2, on two
//! alternating loops; [`equilibrium`] is its theorem 1; [`stated`] compares the numbers in a paper with those computed
//! from its parameters.

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
pub use delayed_loop::{Crossover, DelayedLoop, Echo, GainMargin, Margins};
pub use roots::{Mode, Roots, rightmost};
