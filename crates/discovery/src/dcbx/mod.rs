//! Agents of Data Center Bridging at every port of a network, before anything else moves.
//!
//! LLDP works in seconds and data in nanoseconds, so the exchange has a loop of its own: real frames, the cables'
//! latencies and rates, simulated time, until nothing changes any more.

mod exchange;

pub use exchange::{Event, Exchange, Port, exchange, history};

use control::{Settings, Timers};
use fabric::graph::NodeId;
use units::{Span, Time};

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
    /// What a node is configured with later, by the time of the run.
    pub changes: Vec<(Time, NodeId, Settings)>,
    /// What an agent does when its link fails.
    pub link_down: LinkDown,
}

/// What an agent does with what it heard when its link fails. When the link is up again, it starts anew in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkDown {
    /// Forgets it, as lldpad's DCBX does.
    #[default]
    Forget,
    /// Believes it for its time to live, as 802.1AB's receive machine does.
    Keep,
}
