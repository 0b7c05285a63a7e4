//! LLDP with DCBX, and IS-IS for shortest path bridging, as pure state machines.
//!
//! ```
//! use tailback_control::units::Time;
//! use tailback_control::wire::Address;
//! use tailback_control::{Agent, LARGEST_FRAME, Settings, Timers};
//!
//! // A switch that demands PFC for priority 3, and an adapter that accepts what its peer demands.
//! let mut demand = Settings::default();
//! (demand.pfc.willing, demand.pfc.priorities) = (false, 1 << 3);
//! let mut accept = Settings::default();
//! accept.pfc.willing = true;
//! let [ours, theirs] = [1, 2].map(|number| Address([2, 0, 0, 0, 0, number]));
//! let mut switch = Agent::new(Time::ZERO, ours, ours, demand, Timers::default());
//! let mut adapter = Agent::new(Time::ZERO, theirs, theirs, accept, Timers::default());
//!
//! let mut buffer = [0; LARGEST_FRAME];
//! let length = switch.poll_transmit(Time::ZERO, &mut buffer).expect("it advertises at once");
//! adapter.handle_frame(Time::ZERO, &buffer[..length]);
//! assert_eq!(adapter.operating().pfc.value, 1 << 3);
//! ```
//!
//! An [`Agent`] is one port's end of LLDP (802.1AB) with DCBX on top (802.1Q clause 38 and annex D): it receives
//! frames, returns frames to send, states the time of its next call, and reports the operating configuration of the
//! port and any mismatches. A [`Bridge`] holds the agents of one device and propagates the configuration that one of
//! them learned. [`isis`] is the protocol by which bridges learn the topology.
//!
//! This crate uses no clock, socket or random number, and schedules nothing: every call passes the time. The memory
//! used per peer has a stated bound, whatever the peer sends.

mod advertisement;
mod agent;
mod applications;
mod bridge;
mod converged;
pub mod isis;
mod mismatch;
mod neighbours;
mod resolve;
mod settings;
mod transmit;

pub use advertisement::Advertisement;
pub use agent::{Agent, Counters, LARGEST_FRAME, Peer};
pub use applications::Applications;
pub use bridge::{Bridge, HOLD_DOWN};
pub use converged::{Converged, ConvergedFeature, Off};
pub use mismatch::Mismatch;
pub use resolve::{Chosen, Defence, Operating, Origin};
pub use settings::{ApplicationSettings, EtsSettings, PfcSettings, Settings, TieBreak, Version};
pub use transmit::Timers;
pub use {units, wire};
