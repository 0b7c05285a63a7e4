//! Control protocols as pure state machines: who tells whom how a link is to be used.
//!
//! An [`Agent`] is one port's end of LLDP (802.1AB) with DCBX on top (802.1Q clause 38 and annex D): it is handed frames,
//! hands out frames, says when it wants to be asked again, and knows what the port operates on and what does not fit.
//! A [`Bridge`] is the agents of one device, and passes on what one of them learned. [`isis`] is how bridges learn the graph.
//!
//! Nothing here has a clock, a socket or a random number, and nothing schedules: time comes in with every call. What is
//! remembered of a peer has a stated size, whatever the peer sends.

mod advertisement;
mod agent;
mod applications;
mod bridge;
mod converged;
mod finding;
pub mod isis;
mod neighbours;
mod resolve;
mod settings;
mod transmit;

pub use advertisement::Advertisement;
pub use agent::{Agent, Counters, LARGEST_FRAME, Peer};
pub use applications::Applications;
pub use bridge::{Bridge, HOLD_DOWN};
pub use converged::{Converged, ConvergedFeature, Off};
pub use finding::Finding;
pub use resolve::{Chosen, Defence, Operating, Origin};
pub use settings::{ApplicationSettings, EtsSettings, PfcSettings, Settings, TieBreak, Version};
pub use transmit::Timers;
