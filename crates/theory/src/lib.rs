//! Results about networks that need no simulation: headroom, fair shares, fluid models and their stability, the cost of
//! loss.
//!
//! ```
//! use tailback_theory::max_min::{Flow, max_min};
//! use tailback_theory::units::Rate;
//!
//! // Two flows share link "a"; the second also crosses the slower link "b".
//! let links = [("a", Rate::from_gigabits(10)), ("b", Rate::from_gigabits(2))];
//! let flows = [Flow::greedy(vec!["a"]), Flow::greedy(vec!["a", "b"])];
//! let shares = max_min(&links, &flows)?;
//! assert_eq!((shares[0].rate, shares[1].rate), (8e9, 2e9));
//! # Ok::<(), tailback_theory::Error>(())
//! ```
//!
//! - [`headroom`]: the buffer that a lossless class needs above XOFF, term by term.
//! - [`max_min`]: the fair allocation that a congestion control should reach; [`classes`]: the same on links with
//!   several classes; [`fairness`]: the distance from it; [`mod@max_flow`]: the capacity of the smallest cut.
//! - [`mod@fluid`]: congestion controls as differential equations; [`stability`]: whether they converge;
//!   [`mod@spectrum`]: oscillations of sampled signals; [`sampling`]: the flows that a congestion point notifies.
//! - [`arq`]: efficiency of stop-and-wait, go-back-N and selective repeat; [`tcp`]: throughput of additive increase and
//!   multiplicative decrease under loss.
//!
//! Simulated results are compared with these results, so this crate does not depend on the simulator: a mistake in one
//! must not hide the same mistake in the other.

pub mod arq;
pub mod classes;
pub mod error;
pub mod fairness;
pub mod fluid;
pub mod headroom;
pub mod max_flow;
pub mod max_min;
pub mod quantile;
pub mod sampling;
pub mod spectrum;
pub mod stability;
pub mod tcp;

pub use error::Error;
pub use units;
