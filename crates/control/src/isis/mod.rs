//! IS-IS (ISO 10589) for shortest path bridging (RFC 6329): adjacencies and the topology of the network.
//!
//! A [`System`] is one bridge with all its ports. It receives frames, returns frames to send, and states the time of
//! its next call. Neighbours exchange hellos until each knows that its own are received ([`Adjacency`], RFC 5303).
//! Every system describes its neighbours in link-state PDUs, which are flooded from port to port, acknowledged,
//! retransmitted if necessary, and aged out. All databases therefore converge, and [`Topology`] is the graph that they
//! describe. Paths are not computed here.
//!
//! The memory that a peer can occupy is bounded: one neighbour per port, [`Settings::limit`] link-state PDUs of
//! [`LARGEST_PDU`] octets, and for each of these and each port whether it is to be sent or acknowledged.

mod circuit;
mod database;
mod settings;
mod system;
mod topology;
mod write;

pub use circuit::Adjacency;
pub use database::LARGEST_PDU;
pub use settings::{Port, Settings, Timers};
pub use system::{Counters, System};
pub use topology::{Edge, Link, Node, Topology};
