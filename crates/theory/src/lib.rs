//! What can be computed about a network without simulating it.
//!
//! [`headroom`] is the buffer a lossless class needs after it has said stop, term by term; [`max_min`] is the
//! allocation that a congestion control ought to reach, [`classes`] the same where links tell classes apart; [`fairness`] says how far from it one is; [`mod@fluid`] describes
//! congestion controls by differential equations, and [`stability`] says whether they come to rest; [`mod@spectrum`] says
//! how samples of anything swing. They are the yardsticks of the simulator, so nothing here may depend on it: a mistake
//! in one must not hide the same mistake in the other.

pub mod classes;
pub mod error;
pub mod fairness;
pub mod fluid;
pub mod headroom;
pub mod max_min;
pub mod sampling;
pub mod spectrum;
pub mod stability;

pub use error::Error;
