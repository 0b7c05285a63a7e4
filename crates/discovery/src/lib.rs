//! Control protocols of a whole network, before and beside its packets.
//!
//! The crate `control` contains the state machines of one device. Here every device of a graph has one, and real frames
//! travel over the cables between them in simulated time: [`dcbx`] negotiates the settings of both ends of each cable,
//! [`spb`] lets bridges discover the network and its failures, and [`subnet`] writes routes as the files of an
//! InfiniBand subnet manager. This crate neither reads scenarios nor simulates packets.
//!
//! ```
//! use tailback_discovery::control::isis::Timers;
//! use tailback_discovery::fabric::graph::LinkSpec;
//! use tailback_discovery::fabric::routing::Bridges;
//! use tailback_discovery::fabric::topology::{self, Links};
//! use tailback_discovery::fabric::units::{Rate, Span};
//! use tailback_discovery::spb::discover;
//!
//! // Two bridges with two links between them find each other by IS-IS, and agree on the tables of the whole network.
//! let link = LinkSpec::new(Rate::from_gigabits(10), Span::from_micros(1));
//! let graph = topology::two_switches(1, 1, 2, Links::same(link))?;
//! let found = discover(&graph, &Bridges::plain(&graph), &[], Timers::default())?;
//! assert!(found.is_sound());
//! assert_eq!((found.trunks, found.steps[0].adjacencies.len()), (2, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
pub mod dcbx;
mod post;
pub mod spb;
pub mod subnet;

pub use address::address;
pub use {control, fabric};
