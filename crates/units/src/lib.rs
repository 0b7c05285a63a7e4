//! Quantities and chance: what every other crate measures with.
//!
//! [`Time`] and [`Span`] are integer picoseconds, [`Rate`] is integer bits per second, [`Bytes`] counts octets; each is
//! read from and printed as text with its unit, exactly. [`Wire`] turns bytes into time without ever losing a fraction
//! of a picosecond. [`Stream`] is a random stream that belongs to one entity and one purpose, [`EmpiricalCdf`] a
//! measured distribution to draw from, and [`math`] has the few functions that a standard library does not compute to
//! the same bits everywhere. Nothing here depends on another crate, the clock or the system.

mod bytes;
mod empirical;
pub mod math;
mod parse;
mod parse_error;
mod print;
mod random;
mod rate;
mod sample;
mod time;
mod trig;
mod wire;

pub use bytes::Bytes;
pub use empirical::{CdfError, EmpiricalCdf};
pub use parse_error::{ParseError, Quantity};
pub use random::Stream;
pub use rate::Rate;
pub use time::{Span, Time};
pub use wire::Wire;
