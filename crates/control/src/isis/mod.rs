//! IS-IS (ISO 10589) as bridges of shortest path bridging speak it (RFC 6329): who is my neighbour, who is everybody's.
//!
//! A [`System`] is one bridge with all its ports. It is handed frames, hands out frames, and says when it wants to be
//! asked again. Neighbours greet each other until each knows that it is heard ([`Adjacency`], RFC 5303); every system
//! tells everybody its neighbours in link-state PDUs, flooded from port to port, acknowledged, sent again if need be, and
//! forgotten with age; so every database becomes the same, and [`Topology`] is the graph that it amounts to. What paths
//! follow from the graph is not computed here.
//!
//! What a peer can make a system remember is bounded: one neighbour a port, [`Settings::limit`] link-state PDUs of
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
