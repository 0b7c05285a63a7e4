//! The control protocols of a whole network, before and beside its packets.
//!
//! The crate `control` has the state machines of one device. Here every device of a graph has one, and real frames travel
//! over the cables between them in simulated time: [`dcbx`] settles what both ends of each cable agree on, [`spb`] lets
//! bridges learn the network and its failures, and [`subnet`] writes routes as the files of an InfiniBand subnet manager.
//! Nothing here reads a scenario or runs a packet.

mod address;
pub mod dcbx;
mod post;
pub mod spb;
pub mod subnet;

pub use address::address;
