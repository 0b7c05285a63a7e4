//! Control protocols of a whole network, before and beside its packets.
//!
//! The crate `control` contains the state machines of one device. Here every device of a graph has one, and real frames
//! travel over the cables between them in simulated time: [`dcbx`] negotiates the settings of both ends of each cable,
//! [`spb`] lets bridges discover the network and its failures, and [`subnet`] writes routes as the files of an
//! InfiniBand subnet manager. This crate neither reads scenarios nor simulates packets.

mod address;
pub mod dcbx;
mod post;
pub mod spb;
pub mod subnet;

pub use address::address;
