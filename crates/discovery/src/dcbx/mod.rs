//! Data Center Bridging agents at every port of a network, before any data is sent.
//!
//! LLDP operates in seconds and data in nanoseconds, so the exchange has its own event loop: real frames, the cables'
//! latencies and rates, and simulated time, until the agents converge.

mod exchange;

pub use exchange::{Event, Exchange, Port, exchange, history, is_sound};

use control::{Settings, Timers};
use fabric::graph::NodeId;
use units::{Span, Time};

/// Configuration of the nodes of a network and of their agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DcbPlan {
    /// Settings by node.
    pub settings: Vec<Settings>,
    /// Timers of all agents.
    pub timers: Timers,
    /// Interval within which nodes start at random.
    pub spread: Span,
    /// Whether a run takes its classes and shares from the exchange.
    pub apply: bool,
    /// Later changes of a node's settings, in the time of the run.
    pub changes: Vec<(Time, NodeId, Settings)>,
    /// Reaction of an agent to a link failure.
    pub link_down: LinkDown,
}

/// Treatment of received settings when a link fails. After the link is restored, the agent starts over in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkDown {
    /// Discards them, as lldpad's DCBX does.
    #[default]
    Forget,
    /// Keeps them for their time to live, as the receive machine of 802.1AB does.
    Keep,
}
