//! Quantities and chance: what every other crate measures with.
//!
//! [`Time`] and [`Span`] are integer picoseconds, [`Rate`] is integer bits per second, [`Bytes`] counts octets.
//! [`Wire`] turns bytes into time without ever losing a fraction of a picosecond. [`Stream`] is a random stream
//! that belongs to one entity and one purpose. Nothing here depends on another crate, the clock or the system.

mod bytes;
mod rate;
mod time;
mod wire;

pub use bytes::Bytes;
pub use rate::Rate;
pub use time::{Span, Time};
pub use wire::Wire;
