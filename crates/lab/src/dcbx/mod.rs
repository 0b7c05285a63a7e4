//! Agents of Data Center Bridging at every port of a network, before anything else moves.
//!
//! LLDP works in seconds and data in nanoseconds, so the exchange has a loop of its own: real frames, the cables'
//! latencies and rates, simulated time, until nothing changes any more.

mod exchange;
#[cfg(test)]
mod tests;

pub use exchange::{Exchange, Port, exchange};

use control::{Settings, Timers};
use units::Span;

/// What is configured at the nodes of a network, and how their agents speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DcbPlan {
    /// Settings by node.
    pub settings: Vec<Settings>,
    /// Timers of all agents.
    pub timers: Timers,
    /// Nodes start at random within that time.
    pub spread: Span,
    /// A run takes its classes and shares from the exchange.
    pub apply: bool,
}
